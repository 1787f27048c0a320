//! Time in picoseconds, rates in bits per second, and serialisation that never drifts.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};
use serde::{Deserialize, Serialize};

/// Picoseconds in a second.
pub const PS_PER_S: u64 = 1_000_000_000_000;

/// Picoseconds since the start of the run. The calendar epoch is kept beside a run, not in it.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(pub u64);

/// A signed difference of two [`Time`]s, in picoseconds.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Span(pub i64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than anything that happens.
    pub const MAX: Time = Time(u64::MAX);

    /// Whole nanoseconds since the start, rounded down (the resolution of a pcapng file).
    pub const fn as_nanos(self) -> u64 {
        self.0 / 1_000
    }

    /// Seconds since the start, for display.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// `self + span` that stays within the range of [`Time`].
    pub const fn saturating_add(self, span: Span) -> Time {
        Time(self.0.saturating_add_signed(span.0))
    }

    /// The first of several times, as devices look for what is due next; [`Time::MAX`] is as good as none.
    #[inline]
    pub fn earliest<const N: usize>(times: [Option<Time>; N]) -> Option<Time> {
        let first = times.iter().fold(Time::MAX, |first, time| first.min(time.unwrap_or(Time::MAX)));
        (first != Time::MAX).then_some(first)
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);

    /// A span of whole picoseconds.
    pub const fn from_ps(ps: i64) -> Span {
        Span(ps)
    }
    /// A span of whole nanoseconds.
    pub const fn from_ns(ns: i64) -> Span {
        Span(ns * 1_000)
    }
    /// A span of whole microseconds.
    pub const fn from_us(us: i64) -> Span {
        Span(us * 1_000_000)
    }
    /// A span of whole milliseconds.
    pub const fn from_ms(ms: i64) -> Span {
        Span(ms * 1_000_000_000)
    }
    /// A span of whole seconds.
    pub const fn from_secs(s: i64) -> Span {
        Span(s * PS_PER_S as i64)
    }
    /// Seconds, rounded to the nearest picosecond (saturating).
    pub fn from_secs_f64(s: f64) -> Span {
        Span(libm::round(s * PS_PER_S as f64) as i64)
    }
    /// Seconds, for display and arithmetic on results.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }
    /// The span times a factor, rounded to the nearest picosecond.
    pub fn mul_f64(self, factor: f64) -> Span {
        Span(libm::round(self.0 as f64 * factor) as i64)
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        self.saturating_add(span)
    }
}
impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}
impl Sub<Span> for Time {
    type Output = Time;
    fn sub(self, span: Span) -> Time {
        Time(self.0.saturating_add_signed(span.0.saturating_neg()))
    }
}
impl Sub for Time {
    type Output = Span;
    fn sub(self, other: Time) -> Span {
        Span(self.0.wrapping_sub(other.0) as i64)
    }
}
impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}
impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}
impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:012}s", self.0 / PS_PER_S, self.0 % PS_PER_S)
    }
}
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ps", self.0)
    }
}

/// Rate in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rate(pub u64);

impl Rate {
    /// Whole megabits per second.
    pub const fn from_mbps(mbps: u64) -> Rate {
        Rate(mbps * 1_000_000)
    }
    /// Whole gigabits per second.
    pub const fn from_gbps(gbps: u64) -> Rate {
        Rate(gbps * 1_000_000_000)
    }
    /// Bytes per second, the unit of IntServ token buckets (RFC 2210), rounded to the nearest float.
    pub fn as_bytes_per_s(self) -> f32 {
        (self.0 as f64 / 8.0) as f32
    }
    /// The rate that an IntServ token bucket states in bytes per second (RFC 2210); negative and not-a-number are zero.
    pub fn from_bytes_per_s(bytes_per_s: f32) -> Rate {
        Rate(libm::round(f64::from(bytes_per_s) * 8.0) as u64)
    }
}

/// Turns bytes into time at a rate and a clock offset, exactly: what does not divide is carried to the next call.
///
/// The sum of all spans returned never differs from the true sum by a picosecond or more.
#[derive(Clone, Debug)]
pub struct Serialiser {
    /// Picoseconds per byte when that is a whole number, else zero.
    whole: u64,
    numerator: u128,
    denominator: u128,
    carry: u128,
    /// Bytes, quotient and remainder of the last division: of a gap (up to 32 bytes), and of a frame, which alternate.
    divided: [(u32, u64, u128); 2],
}

impl Serialiser {
    /// A serialiser at `rate`, on a clock that runs `offset_ppb` parts in 10^9 fast (slow if negative).
    ///
    /// A rate of zero serialises in no time: an infinitely fast port.
    pub fn new(rate: Rate, offset_ppb: i64) -> Serialiser {
        let numerator = 8 * u128::from(PS_PER_S) * 1_000_000_000;
        let scale = (1_000_000_000 + offset_ppb.max(-999_999_999)) as u128;
        let denominator = (u128::from(rate.0) * scale).max(1);
        let numerator = if rate.0 == 0 { 0 } else { numerator };
        let whole = if numerator % denominator == 0 { (numerator / denominator) as u64 } else { 0 };
        Serialiser { whole, numerator, denominator, carry: 0, divided: [(0, 0, 0); 2] }
    }

    /// The time that `bytes` take, and carries the remainder.
    #[inline]
    pub fn advance(&mut self, bytes: u32) -> Span {
        if self.whole != 0 {
            return Span((self.whole * u64::from(bytes)) as i64);
        }
        let slot = &mut self.divided[usize::from(bytes > 32)];
        if slot.0 != bytes {
            let total = self.numerator * u128::from(bytes);
            *slot = (bytes, (total / self.denominator) as u64, total % self.denominator);
        }
        let (_, mut quotient, remainder) = *slot;
        self.carry += remainder;
        if self.carry >= self.denominator {
            self.carry -= self.denominator;
            quotient += 1;
        }
        Span(quotient as i64)
    }

    /// Picoseconds per byte, if that is a whole number: then nothing is ever carried. A port that sends in no time has
    /// zero.
    #[inline]
    pub fn per_byte(&self) -> Option<u64> {
        if self.whole == 0 && self.numerator != 0 { None } else { Some(self.whole) }
    }

    /// Forgets the remainder: a port that stood idle starts afresh.
    #[inline]
    pub fn restart(&mut self) {
        self.carry = 0;
    }

    /// The time that `bytes` take from a standing start, rounded down; carries nothing.
    pub fn span(&self, bytes: u32) -> Span {
        if self.whole != 0 {
            return Span((self.whole * u64::from(bytes)) as i64);
        }
        Span((self.numerator * u128::from(bytes) / self.denominator) as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn gigabit_byte_is_eight_nanoseconds() {
        let mut s = Serialiser::new(Rate::from_gbps(1), 0);
        assert_eq!(s.advance(1), Span::from_ns(8));
        assert_eq!(s.advance(84), Span::from_ns(672));
    }

    #[test]
    fn a_fast_clock_is_faster() {
        // 100 ppm fast over 10^6 bytes at 1 Gbit/s: 8 ms / 1.0001.
        let mut s = Serialiser::new(Rate::from_gbps(1), 100_000);
        assert_eq!(s.advance(1_000_000), Span(7_999_200_079));
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        #[test]
        fn nothing_drifts(rate in 1u64..400_000_000_000, ppb in -200_000i64..200_000, sizes in proptest::collection::vec(1u32..10_000, 1..50)) {
            let mut s = Serialiser::new(Rate(rate), ppb);
            let total: u128 = sizes.iter().map(|&b| s.advance(b).0 as u128).sum();
            let bytes: u32 = sizes.iter().sum();
            let exact = s.numerator * u128::from(bytes) / s.denominator;
            prop_assert_eq!(total, exact);
        }
    }
}
