//! How long bytes take at a rate.

use base::Rate;
use base::time::PS_PER_S;

/// Picoseconds of a byte at 1 bit/s.
const BYTE: u64 = 8 * PS_PER_S;

/// The price of a byte in picoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    rate: u64,
    /// Picoseconds of a byte, if that is a whole number; else zero.
    whole: u64,
}

impl Cost {
    /// At a rate above zero.
    pub fn new(rate: Rate) -> Cost {
        let rate = rate.0.max(1);
        Cost { rate, whole: if BYTE.is_multiple_of(rate) { BYTE / rate } else { 0 } }
    }

    /// Rate by which costs are computed, in bits per second.
    pub fn rate(&self) -> Rate {
        Rate(self.rate)
    }

    /// How long `bytes` take, rounded up to a picosecond.
    #[inline]
    pub fn of(&self, bytes: u32) -> i64 {
        let total = match self.whole {
            0 => self.divided(bytes),
            whole => u64::from(bytes).saturating_mul(whole),
        };
        i64::try_from(total).unwrap_or(i64::MAX)
    }

    /// The same if a byte takes no whole number of picoseconds.
    fn divided(&self, bytes: u32) -> u64 {
        let bytes = u64::from(bytes);
        match bytes.checked_mul(BYTE) {
            Some(total) => total.div_ceil(self.rate),
            None => saturate((u128::from(bytes) * u128::from(BYTE)).div_ceil(u128::from(self.rate))),
        }
    }

    /// The same of as many bytes as a bucket may have, in picoseconds.
    pub fn of_many(&self, bytes: u64) -> i64 {
        let total = (u128::from(bytes) * u128::from(BYTE)).div_ceil(u128::from(self.rate));
        i64::try_from(saturate(total)).unwrap_or(i64::MAX)
    }
}

fn saturate(total: u128) -> u64 {
    u64::try_from(total).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact_or_rounded_up() {
        assert_eq!(Cost::new(Rate::from_mbps(8)).of(1500), 1_500_000_000);
        assert_eq!(Cost::new(Rate(3)).of(1), 2_666_666_666_667);
        assert_eq!(Cost::new(Rate(77)).of(9_000_000), 935_064_935_064_935_065);
        assert_eq!(Cost::new(Rate(1)).of(u32::MAX), i64::MAX);
        assert_eq!(Cost::new(Rate(3)).of_many(1), 2_666_666_666_667);
    }
}
