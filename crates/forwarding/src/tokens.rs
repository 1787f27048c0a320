//! The tokens of a bucket, to the last fraction of a bit. Meters and token-bucket filters count with them.
//!
//! A token is 10^-12 bit: a rate of `r` bit/s brings `r` of them in a picosecond, a byte costs 8 x 10^12. All sums
//! are of whole numbers and nothing is divided to make them, so that a bucket is exact at every packet, however long
//! it runs. Tokens come as a fluid.
//!
//! There is no clock here, since its users differ in how they keep one: a meter (RFC 2697, RFC 2698) fills all its
//! buckets at every packet, and what finds no room in one may go into the next; a filter asks for a time to come, and
//! keeps one for each bucket ([`crate::queue::bucket`]). The buckets of HTB are of another kind: they count time, and
//! may be in debt.

use base::Rate;
use base::time::PS_PER_S;

/// Tokens of a byte.
const BYTE: u128 = 8 * PS_PER_S as u128;

/// Tokens, as many as there is room for at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tokens {
    level: u128,
    size: u128,
    /// Tokens that come in a picosecond.
    rate: u64,
}

impl Tokens {
    /// A full bucket of so many bytes.
    pub(crate) fn full(rate: Rate, bytes: u64) -> Tokens {
        let size = u128::from(bytes) * BYTE;
        Tokens { level: size, size, rate: rate.0 }
    }

    /// Adds tokens and returns those that find no room.
    #[inline]
    pub(crate) fn add(&mut self, tokens: u128) -> u128 {
        let room = self.size - self.level;
        self.level += tokens.min(room);
        tokens.saturating_sub(room)
    }

    /// Adds what comes in `span` picoseconds and returns what finds no room.
    #[inline]
    pub(crate) fn fill(&mut self, span: u64) -> u128 {
        self.add(u128::from(self.rate) * u128::from(span))
    }

    /// Are there enough for as many bytes?
    #[inline]
    pub(crate) fn hold(&self, bytes: u32) -> bool {
        self.level >= u128::from(bytes) * BYTE
    }

    /// Takes out what as many bytes cost; ask [`Tokens::hold`] before.
    #[inline]
    pub(crate) fn take(&mut self, bytes: u32) {
        self.level = self.level.saturating_sub(u128::from(bytes) * BYTE);
    }

    /// Picoseconds until there are enough for as many bytes; nothing if there never are.
    #[inline]
    pub(crate) fn wait(&self, bytes: u32) -> Option<u64> {
        let cost = u128::from(bytes) * BYTE;
        let missing = cost.saturating_sub(self.level);
        if missing == 0 {
            return Some(0);
        }
        if cost > self.size || self.rate == 0 {
            return None;
        }
        Some(u64::try_from(missing.div_ceil(u128::from(self.rate))).unwrap_or(u64::MAX))
    }

    /// What there is, in bytes.
    pub(crate) fn bytes(&self) -> f64 {
        self.level as f64 / BYTE as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_no_room_is_told_to_the_token() {
        let mut tokens = Tokens::full(Rate(3), 1);
        assert_eq!(tokens.fill(7), 21);
        tokens.take(1);
        assert_eq!((tokens.hold(1), tokens.wait(1)), (false, Some(8_000_000_000_000u64.div_ceil(3))));
        assert_eq!(tokens.fill(2_666_666_666_667), 1);
        assert_eq!((tokens.hold(1), tokens.wait(1), tokens.wait(2)), (true, Some(0), None));
    }
}
