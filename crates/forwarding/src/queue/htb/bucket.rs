//! The two token buckets of a class, and what they let it do.
//!
//! They are not those of tbf and of the meters (`crate::tokens`), which count bits and never let more pass than they
//! hold. These count time, as Linux's do: a packet is paid for after it was sent, so that tokens may be negative, and
//! nothing is remembered for longer than a minute.

use super::super::cost::Cost;
use base::Rate;

/// The longest time that is remembered, in tokens and in debt: a minute, as in Linux.
const MEMORY: i64 = 60_000_000_000_000;

/// What a class may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It has used up its ceiling.
    CantSend,
    /// It has used up its rate: only at the expense of a class that it is in.
    MayBorrow,
    /// It has tokens of its own rate and sends without borrowing.
    CanSend,
}

/// A bucket whose tokens are picoseconds: of the time that bytes take at its rate.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: i64,
    depth: i64,
    cost: Cost,
}

impl Bucket {
    fn new(rate: Rate, burst: u64) -> Bucket {
        let cost = Cost::new(rate);
        let depth = cost.of_many(burst).min(MEMORY);
        Bucket { tokens: depth, depth, cost }
    }

    #[inline]
    fn charge(&mut self, elapsed: i64, bytes: u32) {
        let tokens = self.tokens.saturating_add(elapsed).min(self.depth);
        self.tokens = tokens.saturating_sub(self.cost.of(bytes)).max(1 - MEMORY);
    }
}

/// A bucket of the rate and one of the ceiling.
///
/// A class sends as long as tokens are not negative and pays afterwards: over any time `t` it sends at most
/// `burst + rate t` and one packet. What a packet costs is rounded up to a picosecond, so that this is never exceeded.
#[derive(Clone, Copy, Debug)]
pub struct Buckets {
    rate: Bucket,
    ceil: Bucket,
    checked: u64,
}

impl Buckets {
    /// Full ones: (rate, burst in bytes) and (ceiling, its burst).
    pub fn new((rate, burst): (Rate, u64), (ceil, cburst): (Rate, u64)) -> Buckets {
        Buckets { rate: Bucket::new(rate, burst), ceil: Bucket::new(ceil, cburst), checked: 0 }
    }

    /// Fills both buckets to their depth at `now`.
    pub fn reset(&mut self, now: u64) {
        (self.rate.tokens, self.ceil.tokens, self.checked) = (self.rate.depth, self.ceil.depth, now);
    }

    #[inline]
    fn elapsed(&self, now: u64) -> i64 {
        i64::try_from(now.saturating_sub(self.checked)).unwrap_or(MEMORY).min(MEMORY)
    }

    /// What the class may do at `now`, and if that is not everything, at which time it may do more.
    #[inline]
    pub fn mode(&self, now: u64) -> (Mode, u64) {
        let elapsed = self.elapsed(now);
        let ceil = self.ceil.tokens.saturating_add(elapsed);
        if ceil < 0 {
            return (Mode::CantSend, now.saturating_add_signed(-ceil));
        }
        let rate = self.rate.tokens.saturating_add(elapsed);
        if rate < 0 {
            return (Mode::MayBorrow, now.saturating_add_signed(-rate));
        }
        (Mode::CanSend, u64::MAX)
    }

    /// A packet is sent. At the expense of a class further out (`lent`) it counts for the ceiling only.
    #[inline]
    pub fn charge(&mut self, now: u64, bytes: u32, lent: bool) {
        let elapsed = self.elapsed(now);
        if lent {
            self.rate.tokens = self.rate.tokens.saturating_add(elapsed).min(self.rate.depth);
        } else {
            self.rate.charge(elapsed, bytes);
        }
        self.ceil.charge(elapsed, bytes);
        self.checked = now;
    }

    /// The class's rate and its ceiling, in bits per second.
    pub fn rates(&self) -> (Rate, Rate) {
        (self.rate.cost.rate(), self.ceil.cost.rate())
    }

    /// Seconds that the buckets hold at `now`.
    pub fn seconds(&self, now: u64) -> (f64, f64) {
        let elapsed = self.elapsed(now);
        let of = |bucket: &Bucket| bucket.tokens.saturating_add(elapsed).min(bucket.depth) as f64 / 1e12;
        (of(&self.rate), of(&self.ceil))
    }
}
