//! Delay of packets and its variation: exact mean, least and greatest; quantiles from a histogram.

use base::{Histogram, Span};

/// Statistics over delays. Sums are exact; times are in picoseconds.
#[derive(Clone, Debug)]
pub struct DelayStats {
    count: u64,
    sum: u128,
    /// The sum of the squares, modulo 2^128.
    squares: u128,
    min: u64,
    max: u64,
    /// Sum of |delay - delay of the packet before it in its stream|.
    variation: u128,
    /// How many such differences there were.
    varied: u64,
    /// The number that follows that of the packet that arrived last, and that packet's delay.
    last: (u64, u64),
    histogram: Histogram,
}

impl Default for DelayStats {
    fn default() -> Self {
        DelayStats::new()
    }
}

impl DelayStats {
    /// Statistics of no delays yet.
    pub fn new() -> DelayStats {
        let histogram = Histogram::default();
        DelayStats {
            count: 0,
            sum: 0,
            squares: 0,
            min: u64::MAX,
            max: 0,
            variation: 0,
            varied: 0,
            last: (u64::MAX, 0),
            histogram,
        }
    }

    /// Takes note of a delay; a negative one (clocks that differ) counts as zero.
    #[inline]
    pub fn record(&mut self, delay: Span) {
        let ps = delay.0.max(0) as u64;
        self.count += 1;
        self.sum += u128::from(ps);
        self.squares = self.squares.wrapping_add(u128::from(ps) * u128::from(ps));
        self.min = self.min.min(ps);
        self.max = self.max.max(ps);
        self.histogram.record(ps);
    }

    /// Takes note of the delay of a stream's packet with this number. It varies from that of the packet before, if
    /// that one arrived just before: a pair with a packet that was lost has no variation (RFC 3393, 4.6).
    #[inline]
    pub fn record_next(&mut self, number: u64, delay: Span) {
        self.record(delay);
        let ps = delay.0.max(0) as u64;
        let (next, before) = core::mem::replace(&mut self.last, (number.saturating_add(1), ps));
        if number == next {
            self.variation += u128::from(ps.abs_diff(before));
            self.varied += 1;
        }
    }

    /// Adds what `other` has seen. The step from one to the other is no variation.
    pub fn merge(&mut self, other: &DelayStats) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares = self.squares.wrapping_add(other.squares);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.variation += other.variation;
        self.varied += other.varied;
        self.histogram.add(&other.histogram);
    }

    /// Forgets all delays, and keeps the memory of the histogram.
    pub fn clear(&mut self) {
        let mut histogram = core::mem::take(&mut self.histogram);
        histogram.clear();
        *self = DelayStats { histogram, ..DelayStats::new() };
    }

    /// How many delays there were.
    pub fn count(&self) -> u64 {
        self.count
    }
    /// Mean delay in seconds; nothing if there are no delays.
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64 / 1e12)
    }
    /// Standard deviation of the delays as a sample, in seconds. Nothing if there are fewer than two, or they are
    /// beyond all reason.
    pub fn sd_s(&self) -> Option<f64> {
        let most = u128::from(self.max) * u128::from(self.max);
        if self.count < 2 || most.checked_mul(u128::from(self.count)).is_none() {
            return None;
        }
        // The sum of the squares less the square of the sum by the count, without a number that is too great.
        let count = u128::from(self.count);
        let (whole, rest) = (self.sum / count, self.sum % count);
        let deviation = self.squares.saturating_sub(whole * self.sum).saturating_sub(rest * self.sum / count);
        Some(libm::sqrt(deviation as f64 / (self.count - 1) as f64) / 1e12)
    }
    /// Least delay in seconds; nothing if there are no delays.
    pub fn min_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.min as f64 / 1e12)
    }
    /// Greatest delay in seconds; nothing if there are no delays.
    pub fn max_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.max as f64 / 1e12)
    }
    /// Mean magnitude of the delay variation between consecutive packets (IPDV, RFC 3393), in seconds.
    pub fn ipdv_mean_s(&self) -> Option<f64> {
        (self.varied > 0).then(|| self.variation as f64 / self.varied as f64 / 1e12)
    }
    /// The delay that a fraction `q` of the packets does not exceed, in seconds, within one part in a hundred.
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        let quantile = self.histogram.quantile(q)?.clamp(self.min, self.max);
        Some(quantile as f64 / 1e12)
    }
    /// The same where the packets are so many that order statistics bound the quantile on both sides with 95 %
    /// confidence: of the greatest of n values, a share of q^n lies below it. Of 99.9 % that takes 3,688 packets.
    pub fn bounded_quantile_s(&self, q: f64) -> Option<f64> {
        let below = libm::pow(q, self.count as f64);
        if below <= 0.025 { self.quantile_s(q) } else { None }
    }
    /// The histogram: the greatest delay of each bin, in seconds, and how many fell into it; bins are narrower than one
    /// part in a hundred.
    pub fn bins(&self) -> impl Iterator<Item = (f64, u32)> {
        self.histogram.bins().map(|(ps, count)| (ps.min(self.max) as f64 / 1e12, count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_exact_and_quantiles_close() {
        let mut stats = DelayStats::new();
        (1..=1000).for_each(|us| stats.record_next(us as u64, Span::from_us(us)));
        assert_eq!(stats.mean_s(), Some(500.5e-6));
        assert_eq!((stats.min_s(), stats.max_s()), (Some(1e-6), Some(1e-3)));
        assert_eq!(stats.ipdv_mean_s(), Some(1e-6));
        // The variance of 1 to n is n (n + 1) / 12.
        let sd = stats.sd_s().expect("a deviation");
        assert!((sd / (1000.0f64 * 1001.0 / 12.0).sqrt() / 1e-6 - 1.0).abs() < 1e-12, "{sd}");
        let median = stats.quantile_s(0.5).expect("a median");
        assert!((median / 500e-6 - 1.0).abs() < 0.01);
        stats.last = (2_001, 0);
        stats.record_next(2_002, Span::from_us(500));
        assert_eq!((stats.ipdv_mean_s(), stats.count()), (Some(1e-6), 1001), "number 2,001 did not arrive");
        let mut both = stats.clone();
        both.merge(&stats);
        assert_eq!((both.count(), both.mean_s()), (2002, stats.mean_s()));
        both.clear();
        assert_eq!((both.count(), both.mean_s(), both.quantile_s(0.5)), (0, None, None));
    }
}
