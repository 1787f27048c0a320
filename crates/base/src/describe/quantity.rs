//! Times, rates and sizes as people write them: `50 us`, `1 Gbit/s`, `64 kB`, or plain numbers in seconds, bits per
//! second and bytes.
//!
//! Arithmetic is exact: a text or a number becomes a fraction, and only the result is rounded (to the nearest, ties to
//! even) to whole picoseconds, bits per second or bytes.
//!
//! Units of Linux's tc are taken where they mean the same, in upper or lower case as tc takes them: `10mbit`, `1500b`,
//! `5msec`. Where they mean something else (`mbps` is bytes per second to tc, `10k` is 10,240 bytes) they are refused
//! with what to write instead.

use super::problem::{malformed, wrong_type};
use super::{Describe, Schema, Schemas, Value, near};
use crate::diagnostic::Diagnostic;
use crate::time::{PS_PER_S, Rate, Span, Time};

/// A number of bytes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
pub struct Size(pub u64);

/// What fits a description: 2^63 - 1 picoseconds are 106 days.
const LIMIT: u128 = 1 << 63;
/// More digits than this, before or behind the point, are no figure that anybody means.
const DIGITS_MAX: usize = 60;

crate::problems! {
    /// What can be wrong with a quantity.
    pub enum QuantityProblem {
        /// A text that does not begin with a number.
        NoNumber { value: String, example: String } is WrongType, "no-quantity", "{value}: a number and a unit are needed, such as '{example}'";
        /// A unit that is none of this kind of quantity.
        UnknownUnit { value: String, unit: String, hint: String } is UnknownName, "unknown-unit", "{value}: unknown unit '{unit}'{hint}";
        /// A unit that means one thing to some and another thing to others.
        AmbiguousUnit { value: String, unit: String, why: String } is WrongType, "ambiguous-unit", "{value}: '{unit}' {why}";
        /// A quantity below nothing.
        Negative { value: String } is OutOfRange, "negative", "{value}: it cannot be negative";
        /// A quantity beyond what the engine can count.
        TooLarge { value: String } is OutOfRange, "too-large", "{value}: it is too large";
        /// Infinity, or not a number.
        NotFinite { value: String } is OutOfRange, "not-finite", "{value}: a finite number is needed";
    }
}

/// A kind of quantity.
#[derive(Debug)]
pub struct Kind {
    /// `time`, `rate` or `size`.
    pub name: &'static str,
    /// Unit of plain numbers.
    pub unit: &'static str,
    /// Units with their numerator and denominator in whole [`Kind::per_unit`]s of the base unit.
    units: &'static [(&'static str, u64, u64)],
    /// Units that only tc has, in lower case.
    tc: fn(&str) -> Option<(u64, u64)>,
    /// A value to write, shown in errors.
    example: &'static str,
    /// How many of what is counted make the base unit: picoseconds of a second.
    per_unit: u64,
    /// Why a unit is refused though some know it.
    refused: fn(&str, &str) -> Option<String>,
}

const K: u64 = 1_000;
const M: u64 = K * K;
const G: u64 = K * M;
const T: u64 = K * G;

/// Times, counted in picoseconds.
pub static TIME: Kind = Kind {
    name: "time",
    unit: "s",
    units: &[
        ("ps", 1, T),
        ("ns", 1, G),
        ("us", 1, M),
        ("\u{b5}s", 1, M),
        ("\u{3bc}s", 1, M),
        ("ms", 1, K),
        ("s", 1, 1),
        ("min", 60, 1),
        ("h", 3600, 1),
    ],
    tc: |unit| match unit {
        "s" | "sec" | "secs" => Some((1, 1)),
        "ms" | "msec" | "msecs" => Some((1, K)),
        "us" | "usec" | "usecs" => Some((1, M)),
        "ns" | "nsec" | "nsecs" => Some((1, G)),
        _ => None,
    },
    example: "10 ms",
    per_unit: PS_PER_S,
    refused: |_, _| None,
};

/// Rates, counted in bits per second.
pub static RATE: Kind = Kind {
    name: "rate",
    unit: "bit/s",
    units: &[
        ("bit/s", 1, 1),
        ("kbit/s", K, 1),
        ("Mbit/s", M, 1),
        ("Gbit/s", G, 1),
        ("Tbit/s", T, 1),
        ("Kibit/s", 1 << 10, 1),
        ("Mibit/s", 1 << 20, 1),
        ("Gibit/s", 1 << 30, 1),
        ("Tibit/s", 1 << 40, 1),
        ("cells/s", 424, 1),
    ],
    tc: |unit| {
        let name = unit.strip_suffix("/s").unwrap_or(unit);
        RATE.units
            .iter()
            .find(|known| known.0.to_lowercase().strip_suffix("/s") == Some(name))
            .map(|u| (u.1, u.2))
    },
    example: "1 Gbit/s",
    per_unit: 1,
    refused: refused_rate,
};

/// Sizes, counted in bytes.
pub static SIZE: Kind = Kind {
    name: "size",
    unit: "B",
    units: &[
        ("B", 1, 1),
        ("byte", 1, 1),
        ("bytes", 1, 1),
        ("kB", K, 1),
        ("MB", M, 1),
        ("GB", G, 1),
        ("KiB", 1 << 10, 1),
        ("MiB", 1 << 20, 1),
        ("GiB", 1 << 30, 1),
    ],
    tc: |unit| match unit {
        "b" => Some((1, 1)),
        "kib" => Some((1 << 10, 1)),
        "mib" => Some((1 << 20, 1)),
        "gib" => Some((1 << 30, 1)),
        _ => None,
    },
    example: "512 B",
    per_unit: 1,
    refused: refused_size,
};

/// Of `mbps` and the like: bits to most people, bytes to tc.
fn refused_rate(number: &str, unit: &str) -> Option<String> {
    let low = unit.to_lowercase();
    let prefix = low.strip_suffix("bps")?;
    let prefix = match prefix {
        "" => "",
        "k" => "k",
        "m" => "M",
        "g" => "G",
        "t" => "T",
        "ki" => "Ki",
        "mi" => "Mi",
        "gi" => "Gi",
        "ti" => "Ti",
        _ => return None,
    };
    let eightfold =
        Number::parse(number).and_then(|n| n.shown_times(8)).unwrap_or_else(|| format!("8*{number}"));
    Some(format!(
        "is bytes per second to tc: write '{number} {prefix}bit/s' for bits, '{eightfold} {prefix}bit/s' for bytes"
    ))
}

/// Of `k` and `kb`, where tc counts 1024 and others 1000; and of bits.
fn refused_size(number: &str, unit: &str) -> Option<String> {
    let low = unit.to_lowercase();
    let bits = low.strip_suffix("bits").or(low.strip_suffix("bit"));
    if bits.is_some_and(|prefix| ["", "k", "m", "g", "t", "ki", "mi", "gi", "ti"].contains(&prefix)) {
        return Some("is bits: a size is in bytes, such as '1500 B' or '10 kB'".into());
    }
    let (decimal, binary) = match low.strip_suffix('b').unwrap_or(&low) {
        "k" => ("kB", "KiB"),
        "m" => ("MB", "MiB"),
        "g" => ("GB", "GiB"),
        _ => return None,
    };
    Some(format!(
        "is a power of 1024 to tc and of 1000 elsewhere: write '{number} {binary}' or '{number} {decimal}'"
    ))
}

/// A decimal number: `digits * 10^exponent`.
struct Number {
    is_negative: bool,
    digits: u128,
    exponent: i32,
}

impl Number {
    /// Reads `-1_000.5e3`; nothing if it is no number or has more digits than any figure.
    fn parse(text: &str) -> Option<Number> {
        let text: String = text.chars().filter(|c| *c != '_').collect();
        let (is_negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(&text)),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let fraction = fraction.trim_end_matches('0');
        let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if (whole.is_empty() && mantissa.len() < 2) || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        if whole.len() + fraction.len() > DIGITS_MAX || exponent.unsigned_abs() > 400 {
            return Some(Number { is_negative, digits: u128::MAX, exponent: 0 });
        }
        let mut digits: u128 = 0;
        for digit in whole.bytes().chain(fraction.bytes()) {
            digits = digits
                .checked_mul(10)
                .and_then(|d| d.checked_add(u128::from(digit - b'0')))
                .unwrap_or(u128::MAX);
        }
        Some(Number { is_negative, digits, exponent: exponent - fraction.len() as i32 })
    }

    /// The number times a small factor, without an exponent and without zeros at its end.
    fn shown_times(&self, factor: u128) -> Option<String> {
        let digits = self.digits.checked_mul(factor)?;
        let sign = if self.is_negative { "-" } else { "" };
        if self.exponent >= 0 {
            return Some(format!("{sign}{}", digits.checked_mul(10u128.checked_pow(self.exponent as u32)?)?));
        }
        let places = self.exponent.unsigned_abs() as usize;
        let padded = format!("{digits:0>width$}", width = places + 1);
        let (whole, fraction) = padded.split_at(padded.len() - places);
        let fraction = fraction.trim_end_matches('0');
        Some(if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") })
    }

    /// The number times a fraction, rounded to the nearest whole number; nothing where that is beyond [`LIMIT`].
    fn times(&self, numerator: u128, denominator: u128) -> Option<u64> {
        let (mut up, mut down) = (self.digits.checked_mul(numerator)?, denominator);
        match u32::try_from(self.exponent) {
            Ok(exponent) if self.digits != 0 => up = up.checked_mul(10u128.checked_pow(exponent)?)?,
            Ok(_) => {}
            Err(_) => {
                let mut left = self.exponent.unsigned_abs();
                while left > 0 && up % 10 == 0 && up != 0 {
                    (up, left) = (up / 10, left - 1);
                }
                match 10u128.checked_pow(left).and_then(|power| down.checked_mul(power)) {
                    Some(product) => down = product,
                    None => return Some(0),
                }
            }
        }
        let (quotient, rest) = (up / down, up % down);
        let half = rest.cmp(&(down - rest));
        let rounds_up = half.is_gt() || (half.is_eq() && quotient % 2 == 1);
        let rounded = quotient + u128::from(rounds_up);
        (rounded < LIMIT).then_some(rounded as u64)
    }
}

/// The quantity that was written, counted in what its kind counts.
pub fn read(value: &Value, kind: &Kind) -> Result<u64, Diagnostic> {
    let shown = value.shown();
    let (number, factor) = match value {
        Value::Int(value) => (value.to_string(), (1, 1)),
        Value::Float(value) if !value.is_finite() => {
            return Err(QuantityProblem::NotFinite { value: shown }.into());
        }
        // The shortest decimal that stands for the same float is what was meant.
        Value::Float(value) => (format!("{value:e}"), (1, 1)),
        Value::Text(text) => {
            let (number, unit) = split(text);
            if number.is_empty() {
                return Err(QuantityProblem::NoNumber { value: shown, example: kind.example.into() }.into());
            }
            (number.to_string(), if unit.is_empty() { (1, 1) } else { factor(kind, number, unit, &shown)? })
        }
        _ => return Err(wrong_type(value, format!("a number or a text such as '{}'", kind.example))),
    };
    let Some(number) = Number::parse(&number) else { return Err(malformed(value, "a number")) };
    if number.is_negative && number.digits != 0 {
        return Err(QuantityProblem::Negative { value: shown }.into());
    }
    let numerator = u128::from(factor.0) * u128::from(kind.per_unit);
    let common = gcd(numerator, u128::from(factor.1));
    let counted = number.times(numerator / common, u128::from(factor.1) / common);
    counted.ok_or_else(|| QuantityProblem::TooLarge { value: shown }.into())
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The number at the beginning of a text, and the unit behind it.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let bytes = text.as_bytes();
    let digit_at = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    if !(digit_at(end) || bytes.get(end) == Some(&b'.') && digit_at(end + 1)) {
        return ("", text);
    }
    while bytes.get(end).is_some_and(|b| b.is_ascii_digit() || matches!(b, b'_' | b'.' | b',')) {
        end += 1;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if digit_at(end + 1 + sign) {
            end += 1 + sign;
            while digit_at(end) {
                end += 1;
            }
        }
    }
    (&text[..end], text[end..].trim_start())
}

fn factor(kind: &Kind, number: &str, unit: &str, shown: &str) -> Result<(u64, u64), Diagnostic> {
    let exact = kind.units.iter().find(|known| known.0 == unit).map(|known| (known.1, known.2));
    if let Some(found) = exact.or_else(|| (kind.tc)(&unit.to_lowercase())) {
        return Ok(found);
    }
    let (value, unit) = (shown.to_string(), unit.to_string());
    Err(match (kind.refused)(number, &unit) {
        Some(why) => QuantityProblem::AmbiguousUnit { value, unit, why }.into(),
        None => {
            let names = kind.units.iter().map(|known| known.0).filter(|name| name.is_ascii());
            let names: Vec<&str> = names.collect();
            let hint = match near(&unit, &names) {
                hint if hint.is_empty() => format!(" (one of {})", names.join(", ")),
                hint => hint,
            };
            QuantityProblem::UnknownUnit { value, unit, hint }.into()
        }
    })
}

/// A count with the largest unit in which it is whole: `50 us`.
fn write(count: u64, kind: &Kind) -> Value {
    let whole = |unit: &&(&'static str, u64, u64)| {
        let up = u128::from(count) * u128::from(unit.2);
        let down = u128::from(unit.1) * u128::from(kind.per_unit);
        unit.0.is_ascii() && up.is_multiple_of(down) && up > 0
    };
    let value = |unit: &(&'static str, u64, u64)| {
        u128::from(count) * u128::from(unit.2) / (u128::from(unit.1) * u128::from(kind.per_unit))
    };
    let is_decimal = |unit: &&(&'static str, u64, u64)| {
        !unit.0.starts_with("byte") && unit.0.as_bytes().get(1) != Some(&b'i') || unit.0 == "bit/s"
    };
    let decimal = kind.units.iter().filter(is_decimal);
    match decimal.filter(whole).min_by_key(|unit| value(unit)) {
        Some(unit) => format!("{} {}", value(unit), unit.0).into(),
        None => count.into(),
    }
}

macro_rules! quantity {
    ($name:ident, $kind:ident, $example:literal) => {
        impl Describe for $name {
            fn read(value: &Value) -> Result<$name, Diagnostic> {
                read(value, &$kind).map(|count| $name(count as _))
            }
            fn write(&self) -> Value {
                write(self.0 as u64, &$kind)
            }
            fn schema(_: &mut Schemas) -> Schema {
                Schema::Quantity { kind: $kind.name, unit: $kind.unit }
            }
            fn example() -> Option<&'static str> {
                Some($example)
            }
        }
    };
}
quantity!(Span, TIME, "50 us");
quantity!(Time, TIME, "1 s");
quantity!(Rate, RATE, "1 Gbit/s");
quantity!(Size, SIZE, "1500 B");

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn time(value: impl Into<Value>) -> Result<i64, String> {
        Span::read(&value.into()).map(|span| span.0).map_err(|error| error.to_string())
    }
    fn rate(value: impl Into<Value>) -> Result<u64, String> {
        Rate::read(&value.into()).map(|rate| rate.0).map_err(|error| error.to_string())
    }
    fn size(value: impl Into<Value>) -> Result<u64, String> {
        Size::read(&value.into()).map(|size| size.0).map_err(|error| error.to_string())
    }

    #[test]
    fn quantities_are_exact() {
        assert_eq!(time("0.1 us"), Ok(100_000));
        assert_eq!(time("50us"), Ok(50_000_000));
        assert_eq!(time("50 \u{3bc}s"), Ok(50_000_000));
        assert_eq!(time(0.1), Ok(100_000_000_000));
        assert_eq!(time(3u32), Ok(3_000_000_000_000));
        assert_eq!(time("1e-12 s"), Ok(1));
        assert_eq!(time("0.5 ps"), Ok(0));
        assert_eq!(time("1.5 ps"), Ok(2));
        assert_eq!(time("1 h"), Ok(3_600_000_000_000_000));
        assert_eq!(rate("2.8 Mbit/s"), Ok(2_800_000));
        assert_eq!(rate("10mbit"), Ok(10_000_000));
        assert_eq!(rate("1e9"), Ok(1_000_000_000));
        assert_eq!(rate(1e9), Ok(1_000_000_000));
        assert_eq!(size("64 kB"), Ok(64_000));
        assert_eq!(size("1_500b"), Ok(1500));
        assert_eq!(time(1e-320), Ok(0));
    }

    #[test]
    fn what_is_wrong_is_said_with_what_would_be_right() {
        for (found, said) in [
            (time("soon"), "'soon': a number and a unit are needed, such as '10 ms'"),
            (time("5 mins"), "'5 mins': unknown unit 'mins' (did you mean 'min'?)"),
            (time("-1 s"), "'-1 s': it cannot be negative"),
            (time(1e300), "it is too large"),
            (time(f64::NAN), "NaN: a finite number is needed"),
            (time(true), "true: it should be a number or a text such as '10 ms'"),
            (
                rate("1.5 mbps").map(|r| r as i64),
                "'1.5 mbps': 'mbps' is bytes per second to tc: write '1.5 Mbit/s' for bits, '12 Mbit/s' for bytes",
            ),
            (
                size("10k").map(|r| r as i64),
                "'10k': 'k' is a power of 1024 to tc and of 1000 elsewhere: write '10 KiB' or '10 kB'",
            ),
            (
                size("10 kbit").map(|r| r as i64),
                "'10 kbit': 'kbit' is bits: a size is in bytes, such as '1500 B' or '10 kB'",
            ),
        ] {
            let error = found.expect_err(said);
            assert!(error.ends_with(said), "{error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_the_same(count in 0u64..(1 << 62)) {
            prop_assert_eq!(Span::read(&Span(count as i64).write()).expect("written"), Span(count as i64));
            prop_assert_eq!(Rate::read(&Rate(count).write()).expect("written"), Rate(count));
            prop_assert_eq!(Size::read(&Size(count).write()).expect("written"), Size(count));
        }

        #[test]
        fn no_text_is_too_odd(text in "\\PC{0,40}") {
            let value = Value::from(text);
            let _ = (Span::read(&value), Rate::read(&value), Size::read(&value));
        }
    }
}
