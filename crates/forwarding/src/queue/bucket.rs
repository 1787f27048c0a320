//! A token bucket that never rounds, with a clock: it can be asked for any time from the last packet on.

use crate::tokens::Tokens;
use base::{Rate, Time};

/// A token bucket.
///
/// Linux's tbf keeps tokens as time, in nanoseconds, and rounds what a packet costs. Here every sum is exact: a token
/// is a picosecond's share of a bit (10^-12 bit). Over any interval of `t` picoseconds a bucket of rate `r` lets pass
/// at most `burst + r t` bits, to the bit.
#[derive(Clone, Debug)]
pub struct Bucket {
    tokens: Tokens,
    at: Time,
}

impl Bucket {
    /// A full bucket at time zero.
    pub fn new(rate: Rate, bytes: u64) -> Bucket {
        Bucket { tokens: Tokens::full(rate, bytes), at: Time::ZERO }
    }

    #[inline]
    fn tokens_at(&self, now: Time) -> Tokens {
        let mut tokens = self.tokens;
        tokens.fill(now.0.saturating_sub(self.at.0));
        tokens
    }

    /// Does it hold enough for as many bytes?
    #[inline]
    pub fn conforms(&self, now: Time, bytes: u32) -> bool {
        self.tokens_at(now).hold(bytes)
    }

    /// The first time, `now` or later, at which it holds enough for as many bytes; [`Time::MAX`] if it never does.
    #[inline]
    pub fn ready_at(&self, now: Time, bytes: u32) -> Time {
        self.tokens_at(now).wait(bytes).map_or(Time::MAX, |wait| Time(wait.saturating_add(now.0)))
    }

    /// Takes out what as many bytes cost; ask [`Bucket::conforms`] before.
    #[inline]
    pub fn take(&mut self, now: Time, bytes: u32) {
        self.tokens = self.tokens_at(now);
        self.tokens.take(bytes);
        self.at = self.at.max(now);
    }

    /// What it holds, in bytes.
    pub fn bytes_at(&self, now: Time) -> f64 {
        self.tokens_at(now).bytes()
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
