//! Delay and jitter of packets: exact mean, least and greatest; quantiles from a histogram.

use base::Span;
use hdrhistogram::Histogram;

/// Significant decimal digits of the histograms: quantiles are within one part in a hundred.
pub const DIGITS: u8 = 2;

/// Statistics over delays. Sums are exact; times are in picoseconds.
#[derive(Clone, Debug)]
pub struct DelayStats {
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
    /// Sum of |delay - delay of the packet before it|, and how many there were.
    variation: (u128, u64),
    last: Option<u64>,
    histogram: Option<Box<Histogram<u32>>>,
}

impl DelayStats {
    /// Empty statistics, with a histogram (in ns) or without.
    pub fn new(with_histogram: bool) -> DelayStats {
        let histogram = if with_histogram { new_histogram() } else { None };
        DelayStats { count: 0, sum: 0, min: u64::MAX, max: 0, variation: (0, 0), last: None, histogram }
    }

    /// Takes note of a delay; a negative one (clocks that differ) counts as zero.
    #[inline]
    pub fn record(&mut self, delay: Span) {
        let ps = delay.0.max(0) as u64;
        self.count += 1;
        self.sum += u128::from(ps);
        self.min = self.min.min(ps);
        self.max = self.max.max(ps);
        if let Some(last) = self.last.replace(ps) {
            self.variation.0 += u128::from(ps.abs_diff(last));
            self.variation.1 += 1;
        }
        if let Some(histogram) = &mut self.histogram {
            // A histogram that resizes itself takes any value.
            let _ = histogram.record(ps / 1_000);
        }
    }

    /// Adds what `other` has seen. The step from one to the other is no variation.
    pub fn merge(&mut self, other: &DelayStats) {
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.variation.0 += other.variation.0;
        self.variation.1 += other.variation.1;
        if let (Some(a), Some(b)) = (&mut self.histogram, &other.histogram) {
            // Histograms that resize themselves take any other.
            let _ = a.add(&**b);
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        let mut histogram = self.histogram.take();
        if let Some(h) = &mut histogram {
            h.reset();
        }
        *self = DelayStats { histogram, ..DelayStats::new(false) };
    }

    /// How many delays there were.
    pub fn count(&self) -> u64 {
        self.count
    }
    /// Mean in seconds.
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64 / 1e12)
    }
    /// Least, in seconds.
    pub fn min_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.min as f64 / 1e12)
    }
    /// Greatest, in seconds.
    pub fn max_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.max as f64 / 1e12)
    }
    /// Mean magnitude of the delay variation between consecutive packets (RFC 3393), in seconds.
    pub fn jitter_s(&self) -> Option<f64> {
        (self.variation.1 > 0).then(|| self.variation.0 as f64 / self.variation.1 as f64 / 1e12)
    }
    /// The delay that a fraction `q` of the packets does not exceed, in seconds, within one part in a hundred.
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        let histogram = self.histogram.as_ref().filter(|h| !h.is_empty())?;
        let exact = (self.min as f64 / 1e12, self.max as f64 / 1e12);
        Some((histogram.value_at_quantile(q) as f64 / 1e9).clamp(exact.0, exact.1))
    }
}

fn new_histogram() -> Option<Box<Histogram<u32>>> {
    let mut histogram = Histogram::new(DIGITS).ok()?;
    histogram.auto(true);
    Some(Box::new(histogram))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_exact_and_quantiles_close() {
        let mut stats = DelayStats::new(true);
        (1..=1000).for_each(|us| stats.record(Span::from_us(us)));
        assert_eq!(stats.mean_s(), Some(500.5e-6));
        assert_eq!((stats.min_s(), stats.max_s()), (Some(1e-6), Some(1e-3)));
        assert_eq!(stats.jitter_s(), Some(1e-6));
        let median = stats.quantile_s(0.5).expect("a median");
        assert!((median / 500e-6 - 1.0).abs() < 0.01);
        let mut both = stats.clone();
        both.merge(&stats);
        assert_eq!((both.count(), both.mean_s()), (2000, Some(500.5e-6)));
        both.clear();
        assert_eq!((both.count(), both.mean_s(), both.quantile_s(0.5)), (0, None, None));
    }
}
