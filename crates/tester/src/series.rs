//! Delay over time: packets, mean, least, greatest and quantiles in bins of equal length.

use crate::delay::DelayStats;
use base::{Span, Time};

/// One bin of a series; delays in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Start of the bin.
    pub start: Time,
    /// Packets that arrived in it.
    pub packets: u64,
    /// Mean delay of the packets, in seconds.
    pub mean_s: f64,
    /// Least delay, in seconds.
    pub min_s: f64,
    /// Median delay, within one part in a hundred.
    pub p50_s: f64,
    /// Delay that 99 % of the packets do not exceed, within one part in a hundred.
    pub p99_s: f64,
    /// Greatest delay, in seconds.
    pub max_s: f64,
}

/// A series of bins by time of arrival; bins in which nothing arrived are left out.
#[derive(Debug)]
pub struct Series {
    width: u64,
    bins: Vec<Bin>,
    current: u64,
    end: u64,
    stats: DelayStats,
}

impl Series {
    /// A series with bins of this width (at least a picosecond).
    pub fn new(width: Span) -> Series {
        let width = width.0.max(1) as u64;
        Series { width, bins: Vec::new(), current: 0, end: width, stats: DelayStats::new() }
    }

    /// How wide its bins are.
    pub fn width(&self) -> Span {
        Span(self.width as i64)
    }

    /// Takes note of an arrival; `now` never goes back.
    #[inline]
    pub fn record(&mut self, now: Time, delay: Span) {
        if now.0 >= self.end {
            self.close();
            self.current = now.0 / self.width;
            self.end = (self.current + 1).saturating_mul(self.width);
        }
        self.stats.record(delay);
    }

    fn summary(&self) -> Option<Bin> {
        let s = &self.stats;
        Some(Bin {
            start: Time(self.current * self.width),
            packets: s.count(),
            mean_s: s.mean_s()?,
            min_s: s.min_s()?,
            p50_s: s.quantile_s(0.5)?,
            p99_s: s.quantile_s(0.99)?,
            max_s: s.max_s()?,
        })
    }

    #[cold]
    fn close(&mut self) {
        self.bins.extend(self.summary());
        self.stats.clear();
    }

    /// All bins, the one that is still open included.
    pub fn bins(&self) -> impl Iterator<Item = Bin> {
        self.bins.iter().copied().chain(self.summary())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_go_by_arrival() {
        let mut series = Series::new(Span::from_us(10));
        for (at, delay) in [(1, 4), (9, 6), (25, 8)] {
            series.record(Time(at * 1_000_000), Span::from_us(delay));
        }
        let bins: Vec<_> = series.bins().map(|b| (b.start.0 / 1_000_000, b.packets, b.mean_s)).collect();
        assert_eq!(bins, [(0, 2, 5e-6), (20, 1, 8e-6)]);
    }
}
