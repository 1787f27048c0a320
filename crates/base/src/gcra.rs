//! Whether a cell comes too early for its contract: the generic cell rate algorithm (GCRA) of ATM, in its two
//! forms, which agree on every cell.

use crate::{Span, Time};

/// GCRA by virtual scheduling: it keeps when the next cell is due. It polices, and says until when a shaper waits.
///
/// ```
/// use twinplane_base::{Span, Time, gcra::Gcra};
/// let mut gcra = Gcra::new(Span::from_us(10), Span::from_us(4));
/// let us = |us: u64| Time(us * 1_000_000);
/// assert!(gcra.take(us(0)));
/// // Due at 10 us; 4 us of tolerance allow it from 6 us on.
/// assert!(!gcra.take(us(5)));
/// assert!(gcra.take(us(6)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gcra {
    /// Between two cells at the rate of the contract.
    increment: Span,
    /// How much earlier than due a cell may come (CDVT).
    tolerance: Span,
    /// The theoretical arrival time: when the next cell is due.
    due: Time,
}

impl Gcra {
    /// For a cell each `increment`, and as much as `tolerance` earlier.
    pub const fn new(increment: Span, tolerance: Span) -> Gcra {
        Gcra { increment, tolerance, due: Time::ZERO }
    }

    /// The first moment at which a cell conforms: a shaper sends its next one then, if not later.
    pub fn earliest(&self) -> Time {
        Time(self.due.0.saturating_sub(self.tolerance.0.unsigned_abs()))
    }

    /// Does a cell that comes `now` conform? One that does not leaves the next one's time as it is.
    pub fn take(&mut self, now: Time) -> bool {
        let conforms = now >= self.earliest();
        if conforms {
            self.due = self.due.max(now) + self.increment;
        }
        conforms
    }
}

/// GCRA as a leaky bucket that runs out continuously. It is there to be compared with [`Gcra`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeakyBucket {
    increment: Span,
    limit: Span,
    /// What the bucket held when the last conforming cell had been poured in, as the time to run out.
    level: Span,
    last: Time,
}

impl LeakyBucket {
    /// Each cell fills in `increment`; it conforms if no more than `limit` is there before.
    pub const fn new(increment: Span, limit: Span) -> LeakyBucket {
        LeakyBucket { increment, limit, level: Span(0), last: Time::ZERO }
    }

    /// Does a cell that comes `now` conform? Cells come in the order of time.
    pub fn take(&mut self, now: Time) -> bool {
        let since = i64::try_from(now.0.saturating_sub(self.last.0)).unwrap_or(i64::MAX);
        let level = self.level.0.saturating_sub(since).max(0);
        let conforms = level <= self.limit.0;
        if conforms {
            self.level = Span(level.saturating_add(self.increment.0));
            self.last = now;
        }
        conforms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn as_many_cells_at_once_as_the_tolerance_allows() {
        // Back to back each 3 us, at a contract of 10 us with 20 us of tolerance:
        // 1 + floor(tolerance / (increment - spacing)) = 1 + floor(20 / 7) = 3 cells conform.
        let mut gcra = Gcra::new(Span::from_us(10), Span::from_us(20));
        let conform: Vec<_> = (0..5).map(|n| gcra.take(Time(n * 3_000_000))).collect();
        assert_eq!(conform, [true, true, true, false, true]);
    }

    #[test]
    fn a_shaper_without_tolerance_sends_at_the_rate() {
        let mut gcra = Gcra::new(Span::from_us(10), Span(0));
        for n in 0..10 {
            assert_eq!(gcra.earliest(), Time(n * 10_000_000));
            assert!(gcra.take(gcra.earliest()));
        }
    }

    proptest! {
        #[test]
        fn both_forms_agree(
            increment in 1i64..100, tolerance in 0i64..300,
            gaps in proptest::collection::vec(0u64..150, 1..200),
        ) {
            let mut scheduling = Gcra::new(Span(increment), Span(tolerance));
            let mut bucket = LeakyBucket::new(Span(increment), Span(tolerance));
            let mut now = Time::ZERO;
            for gap in gaps {
                now = Time(now.0 + gap);
                prop_assert_eq!(scheduling.take(now), bucket.take(now));
            }
        }
    }
}
