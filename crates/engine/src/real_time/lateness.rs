//! How late things happened: a histogram of times from a nanosecond to some seconds.

use base::Span;

/// Bins for each doubling: a quantile is at most a sixteenth too high.
const PER_OCTAVE: u64 = 16;
const BINS: usize = 38 * PER_OCTAVE as usize;

/// Times by which something came after it was due.
#[derive(Clone, Debug)]
pub struct Lateness {
    bins: Vec<u64>,
    count: u64,
    /// In nanoseconds.
    sum: u64,
    max: Span,
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness { bins: vec![0; BINS], count: 0, sum: 0, max: Span::ZERO }
    }
}

fn bin(ns: u64) -> usize {
    if ns < PER_OCTAVE {
        return ns as usize;
    }
    let octave = u64::from(ns.ilog2() - PER_OCTAVE.ilog2());
    let place = (octave + 1) * PER_OCTAVE + (ns >> octave) - PER_OCTAVE;
    (place as usize).min(BINS - 1)
}

/// The longest time of a bin.
fn upper(bin: usize) -> u64 {
    let bin = bin as u64;
    if bin < PER_OCTAVE {
        return bin;
    }
    let octave = bin / PER_OCTAVE - 1;
    ((bin % PER_OCTAVE + PER_OCTAVE + 1) << octave) - 1
}

impl Lateness {
    /// One more.
    #[inline]
    pub fn record(&mut self, late: Span) {
        let ns = (late.0.max(0) / 1000) as u64;
        self.bins[bin(ns)] += 1;
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

    /// The longest.
    pub fn max(&self) -> Span {
        self.max
    }

    /// The time that a share `q` of all stayed below; nothing if there was none.
    pub fn quantile(&self, q: f64) -> Option<Span> {
        let rank = libm::ceil(q.clamp(0.0, 1.0) * self.count as f64).max(1.0) as u64;
        let mut below = 0;
        let found = self.bins.iter().position(|n| {
            below += n;
            below >= rank
        })?;
        Some(Span::from_ns(upper(found) as i64).min(self.max))
    }

    /// The bins that have counted something, in order: the longest time of each, and how many.
    pub fn bins(&self) -> impl Iterator<Item = (Span, u64)> {
        let bins = self.bins.iter().enumerate().filter(|(_, count)| **count > 0);
        bins.map(|(bin, count)| (Span::from_ns(upper(bin) as i64).min(self.max), *count))
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Lateness::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_what_they_say() {
        for ns in (0..5_000).chain((1..37).map(|shift| (1u64 << shift) + 7)) {
            let bin = bin(ns);
            assert!(ns <= upper(bin) && (bin == 0 || ns > upper(bin - 1)), "{ns} in {bin}");
        }
    }

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
