//! How late things happened: a histogram of times from a nanosecond to some seconds.

use base::{Histogram, Span};

/// What is later than this many nanoseconds (37 minutes) counts as so late.
const LONGEST_NS: u64 = (1 << 41) - 1;

/// Times by which something came after it was due.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    /// Of nanoseconds; a quantile is at most a sixteenth too high.
    histogram: Histogram<u64, 16>,
    count: u64,
    /// The sum of all in nanoseconds; it stays at its largest value instead of overflowing.
    sum: u64,
    max: Span,
}

impl Lateness {
    /// Counts one more; what came early counts as in time.
    #[inline]
    pub fn record(&mut self, late: Span) {
        let ns = (late.0.max(0) / 1000) as u64;
        self.histogram.record(ns.min(LONGEST_NS));
        self.count += 1;
        self.sum = self.sum.saturating_add(ns);
        self.max = self.max.max(late);
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean; nothing if there was none.
    pub fn mean(&self) -> Option<Span> {
        Some(Span::from_ns((self.sum.checked_div(self.count)?) as i64))
    }

    /// The longest of all; zero if there was none.
    pub fn max(&self) -> Span {
        self.max
    }

    /// The time that a share `q` of all stayed below; nothing if there was none.
    pub fn quantile(&self, q: f64) -> Option<Span> {
        Some(self.up_to(self.histogram.quantile(q)?))
    }

    /// The longest time of a bin: none was longer than the longest.
    fn up_to(&self, ns: u64) -> Span {
        Span::from_ns(ns as i64).min(self.max)
    }

    /// The bins that have counted something, in order: the longest time of each, and how many.
    pub fn bins(&self) -> impl Iterator<Item = (Span, u64)> {
        self.histogram.bins().map(|(ns, count)| (self.up_to(ns), count))
    }

    /// Forgets all that was recorded.
    pub fn clear(&mut self) {
        let mut histogram = core::mem::take(&mut self.histogram);
        histogram.clear();
        *self = Lateness { histogram, ..Lateness::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_close_from_above() {
        let mut late = Lateness::default();
        assert_eq!(late.quantile(0.5), None);
        (1..=1000).for_each(|us| late.record(Span::from_us(us)));
        let us = |q| late.quantile(q).map_or(0.0, |span| span.0 as f64 / 1e6);
        assert!(
            (500.0..535.0).contains(&us(0.5)) && (990.0..1_000.1).contains(&us(0.99)),
            "{} {}",
            us(0.5),
            us(0.99)
        );
        assert_eq!((late.max(), late.count()), (Span::from_us(1000), 1000));
        assert_eq!(late.mean(), Some(Span::from_ns(500_500)));
        assert_eq!(late.bins().map(|bin| bin.1).sum::<u64>(), 1000);
        assert!(late.bins().is_sorted() && late.bins().last().map(|bin| bin.0) == Some(late.max()));
    }
}
