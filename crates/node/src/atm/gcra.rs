//! The generic cell rate algorithm: is a cell early, measured by a rate and a tolerance?
//!
//! Its text (Recommendation I.371 and the traffic management specification of the ATM Forum) was not at hand. It is
//! written here as virtual scheduling, and the tests hold it against its other form, the leaky bucket.

use super::config::Traffic;
use base::{Serialiser, Span, Time};
use wire::atm::CELL_LEN;

/// What cells of a channel are measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gcra {
    /// From one cell to the next at the agreed rate.
    increment: Span,
    /// How much earlier a cell may come.
    limit: Span,
    /// When the next cell is expected (the theoretical arrival time).
    expected: Time,
}

impl Gcra {
    /// One that has seen no cell: `increment` from cell to cell, `limit` of tolerance.
    pub fn new(increment: Span, limit: Span) -> Gcra {
        Gcra { increment, limit, expected: Time::ZERO }
    }

    /// That of a channel or a path whose cells are measured, by its peak rate and its tolerance.
    pub fn of(traffic: &Traffic) -> Option<Gcra> {
        let (peak, tolerance) = traffic.peak.zip(traffic.tolerance)?;
        Some(Gcra::new(Serialiser::new(peak, 0).span(CELL_LEN as u32), tolerance))
    }

    /// Forgets the cells that it has seen.
    pub fn restart(&mut self) {
        self.expected = Time::ZERO;
    }

    /// A cell comes at `now`. Does it conform? One that does not changes nothing.
    pub fn conforms(&mut self, now: Time) -> bool {
        if self.expected > now + self.limit {
            return false;
        }
        self.expected = self.expected.max(now) + self.increment;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same as a bucket that leaks one unit for each unit of time, and holds `limit` before a cell adds
    /// `increment`.
    struct Bucket {
        increment: u64,
        limit: u64,
        content: u64,
        last: u64,
    }

    impl Bucket {
        fn conforms(&mut self, now: u64) -> bool {
            let left = self.content.saturating_sub(now - self.last);
            if left > self.limit {
                return false;
            }
            (self.content, self.last) = (left + self.increment, now);
            true
        }
    }

    /// Which of the cells at these times conform.
    fn run(increment: i64, limit: i64, times: &[u64]) -> Vec<bool> {
        let mut gcra = Gcra::new(Span(increment), Span(limit));
        times.iter().map(|&at| gcra.conforms(Time(at))).collect()
    }

    #[test]
    fn cells_may_come_as_early_as_the_tolerance_says() {
        // An interval of 10, and tolerances of 0, 4 and 15: the earliest times at which six cells conform in a row.
        assert_eq!(run(10, 0, &[0, 10, 20, 29, 30, 39, 40]), [true, true, true, false, true, false, true]);
        assert_eq!(run(10, 4, &[0, 6, 16, 25, 26, 36]), [true, true, true, false, true, true]);
        // Back to back cells of 1: with a tolerance of 15 two conform, since the third would be 18 early.
        assert_eq!(run(10, 15, &[0, 1, 2, 5, 15]), [true, true, false, true, true]);
    }

    #[test]
    fn a_burst_at_line_rate_is_as_long_as_theory_says() {
        // 1 + floor(limit / (increment - cell time)) cells of a cell time each.
        for (increment, limit, cell, most) in
            [(10, 18, 1, 3), (10, 17, 1, 2), (100, 990, 1, 11), (4, 9, 2, 5)]
        {
            let times: Vec<u64> = (0..100).map(|n| n * cell).collect();
            let passed = run(increment, limit, &times).iter().take_while(|passed| **passed).count();
            assert_eq!(passed, most, "{increment} {limit} {cell}");
        }
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        #[test]
        fn virtual_scheduling_and_the_leaky_bucket_agree(
            increment in 1u64..50,
            limit in 0u64..200,
            gaps in proptest::collection::vec(0u64..60, 1..200),
        ) {
            let mut bucket = Bucket { increment, limit, content: 0, last: 0 };
            let mut gcra = Gcra::new(Span(increment as i64), Span(limit as i64));
            let mut now = 0;
            for gap in gaps {
                now += gap;
                prop_assert_eq!(gcra.conforms(Time(now)), bucket.conforms(now));
            }
        }
    }
}
