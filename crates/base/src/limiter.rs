//! How often a node may do what others make it do (RFC 1812, 4.3.2.8): a token bucket.

use crate::{Span, Time};

/// A token bucket, kept as the time at which it is full again.
#[derive(Clone, Copy, Debug)]
pub struct Limiter {
    interval: Span,
    depth: Span,
    full: Time,
}

impl Limiter {
    /// So many each second in the long run, and as many as `burst` at once.
    pub const fn new(per_s: u32, burst: u32) -> Limiter {
        let per_s = if per_s == 0 { 1 } else { per_s as i64 };
        let interval = 1_000_000_000_000 / per_s;
        Limiter { interval: Span(interval), depth: Span(interval * burst as i64), full: Time::ZERO }
    }

    /// Takes a token, if there is one.
    pub fn take(&mut self, now: Time) -> bool {
        let full = self.full.max(now) + self.interval;
        let within = full <= now + self.depth;
        if within {
            self.full = full;
        }
        within
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_and_then_the_rate() {
        let mut limiter = Limiter::new(1000, 5);
        let taken =
            |limiter: &mut Limiter, at: u64, n: usize| (0..n).filter(|_| limiter.take(Time(at))).count();
        assert_eq!(taken(&mut limiter, 0, 9), 5);
        // Three milliseconds later, three more.
        assert_eq!(taken(&mut limiter, 3_000_000_000, 9), 3);
        assert_eq!(taken(&mut limiter, 1_000_000_000_000, 9), 5);
    }
}
