//! How values that JSON has no word for are written: bytes as hex, floats that are not finite, names that are not text.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::fmt::Write as _;

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a String does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(text.get(i..i + 2)?, 16).ok()).collect()
}

/// Bytes as a string of hex digits.
pub(crate) mod hex {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(bytes: &impl AsRef<[u8]>, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&to_hex(bytes.as_ref()))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: TryFrom<Vec<u8>>>(d: D) -> Result<T, D::Error> {
        let text = String::deserialize(d)?;
        let bytes = from_hex(&text).ok_or_else(|| D::Error::custom(format!("'{text}' is not hex")))?;
        T::try_from(bytes).map_err(|_| D::Error::custom(format!("'{text}' has the wrong number of bytes")))
    }
}

/// A single-precision float: a number, or `"inf"`, `"-inf"`, `"nan:7fc00000"` with the exact bits.
pub(crate) mod float {
    use super::*;

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Value {
        Number(f64),
        Text(String),
    }

    pub(crate) fn serialize<S: Serializer>(value: &f32, s: S) -> Result<S::Ok, S::Error> {
        if value.is_finite() {
            s.serialize_f32(*value)
        } else if value.is_infinite() {
            s.serialize_str(if *value > 0.0 { "inf" } else { "-inf" })
        } else {
            s.collect_str(&format_args!("nan:{:08x}", value.to_bits()))
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<f32, D::Error> {
        let text = match Value::deserialize(d)? {
            Value::Number(number) => return Ok(number as f32),
            Value::Text(text) => text,
        };
        let bits = text.strip_prefix("nan:").and_then(|bits| u32::from_str_radix(bits, 16).ok());
        match (text.as_str(), bits.map(f32::from_bits)) {
            ("inf", _) => Ok(f32::INFINITY),
            ("-inf", _) => Ok(f32::NEG_INFINITY),
            (_, Some(nan)) if nan.is_nan() => Ok(nan),
            _ => Err(D::Error::custom(format!("'{text}' is not a number, inf, -inf or nan:BITS"))),
        }
    }
}

/// As [`float`], for a value that may be absent.
pub(crate) mod maybe_float {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Wrapped(#[serde(with = "super::float")] f32);

    pub(crate) fn serialize<S: Serializer>(value: &Option<f32>, s: S) -> Result<S::Ok, S::Error> {
        value.map(Wrapped).serialize(s)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<f32>, D::Error> {
        Ok(Option::<Wrapped>::deserialize(d)?.map(|wrapped| wrapped.0))
    }
}

/// A display string: text where the bytes are UTF-8, else `{"hex": "..."}`.
pub(crate) mod name {
    use super::*;

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Value {
        Text(String),
        Bytes {
            #[serde(with = "super::hex")]
            hex: Vec<u8>,
        },
    }

    pub(crate) fn serialize<S: Serializer>(bytes: &[u8], s: S) -> Result<S::Ok, S::Error> {
        match core::str::from_utf8(bytes) {
            Ok(text) => s.serialize_str(text),
            Err(_) => Value::Bytes { hex: bytes.to_vec() }.serialize(s),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<u8>, D::Error> {
        Ok(match Value::deserialize(d)? {
            Value::Text(text) => text.into_bytes(),
            Value::Bytes { hex } => hex,
        })
    }
}
