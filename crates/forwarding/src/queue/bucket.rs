//! A token bucket that never rounds.

use base::time::PS_PER_S;
use base::{Rate, Time};

/// Tokens of one bit.
const BIT: u128 = PS_PER_S as u128;
/// Tokens of one byte.
const BYTE: u128 = 8 * BIT;

/// A token bucket.
///
/// Linux's tbf keeps tokens as time, in nanoseconds, and rounds what a packet costs. Here a token is a picosecond's share of a
/// bit (10^-12 bit): then a rate of `r` bit/s brings `r` tokens in a picosecond, a byte costs 8 x 10^12 of them, and every
/// sum is exact. Over any interval of `t` picoseconds a bucket lets pass at most `burst + r t` bits, to the bit.
#[derive(Clone, Debug)]
pub struct Bucket {
    /// Tokens per picosecond.
    rate: u128,
    capacity: u128,
    tokens: u128,
    at: Time,
}

impl Bucket {
    /// A full bucket at time zero.
    pub fn new(rate: Rate, bytes: u64) -> Bucket {
        let capacity = u128::from(bytes) * BYTE;
        Bucket { rate: u128::from(rate.0), capacity, tokens: capacity, at: Time::ZERO }
    }

    #[inline]
    fn tokens_at(&self, now: Time) -> u128 {
        let gain = self.rate * u128::from(now.0.saturating_sub(self.at.0));
        self.tokens.saturating_add(gain).min(self.capacity)
    }

    /// Does it hold enough for as many bytes?
    #[inline]
    pub fn conforms(&self, now: Time, bytes: u32) -> bool {
        self.tokens_at(now) >= u128::from(bytes) * BYTE
    }

    /// The first time, `now` or later, at which it holds enough for as many bytes; [`Time::MAX`] if it never does.
    #[inline]
    pub fn ready_at(&self, now: Time, bytes: u32) -> Time {
        let (cost, tokens) = (u128::from(bytes) * BYTE, self.tokens_at(now));
        if tokens >= cost {
            return now;
        }
        if cost > self.capacity || self.rate == 0 {
            return Time::MAX;
        }
        let wait = (cost - tokens).div_ceil(self.rate);
        Time(u64::try_from(wait).unwrap_or(u64::MAX).saturating_add(now.0))
    }

    /// Takes out what as many bytes cost; ask [`Bucket::conforms`] before.
    #[inline]
    pub fn take(&mut self, now: Time, bytes: u32) {
        let tokens = self.tokens_at(now);
        self.tokens = tokens.saturating_sub(u128::from(bytes) * BYTE);
        self.at = self.at.max(now);
    }

    /// What it holds, in bytes.
    pub fn bytes_at(&self, now: Time) -> f64 {
        self.tokens_at(now) as f64 / BYTE as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_of_a_picosecond_is_not_lost() {
        // 3 Tbit/s: a byte takes 8/3 ps.
        let mut bucket = Bucket::new(Rate(3_000_000_000_000), 2);
        let mut now = Time::ZERO;
        bucket.take(now, 2);
        for expected in [3, 6, 8, 11, 14, 16] {
            now = bucket.ready_at(now, 1);
            assert_eq!(now, Time(expected));
            assert!(bucket.conforms(now, 1) && !bucket.conforms(Time(now.0 - 1), 1));
            bucket.take(now, 1);
        }
    }

    #[test]
    fn more_than_the_bucket_never_conforms() {
        let bucket = Bucket::new(Rate(1), 100);
        assert_eq!((bucket.ready_at(Time(5), 100), bucket.ready_at(Time(5), 101)), (Time(5), Time::MAX));
        assert!((bucket.bytes_at(Time(5)) - 100.0).abs() < 1e-9);
    }
}
