//! Delay of a flow over time: packets, mean, least and greatest in bins of equal length, without a histogram for each.

use base::{Span, Time};

/// One bin of a course. Packets are counted by their time of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CourseBin {
    /// Start of the bin.
    pub start: Time,
    /// Packets that arrived in it.
    pub packets: u64,
    /// The sum of their delays in picoseconds.
    pub sum_ps: i128,
    /// Least delay of these packets.
    pub min: Span,
    /// Greatest delay of these packets.
    pub max: Span,
}

impl CourseBin {
    /// Mean delay in seconds.
    pub fn mean_s(&self) -> f64 {
        self.sum_ps as f64 / self.packets as f64 / 1e12
    }
}

/// A series of bins by time of arrival; bins in which nothing arrived are left out.
#[derive(Clone, Debug)]
pub struct Course {
    width: u64,
    end: u64,
    bins: Vec<CourseBin>,
}

impl Course {
    /// A course with bins of this width (at least a picosecond).
    pub fn new(width: Span) -> Course {
        Course { width: width.0.max(1) as u64, end: 0, bins: Vec::new() }
    }

    /// Takes note of an arrival; `now` never goes back.
    #[inline]
    pub fn record(&mut self, now: Time, delay: Span) {
        if now.0 >= self.end {
            let place = now.0 / self.width;
            self.end = (place + 1).saturating_mul(self.width);
            let start = Time(place * self.width);
            self.bins.push(CourseBin { start, packets: 0, sum_ps: 0, min: delay, max: delay });
        }
        let Some(bin) = self.bins.last_mut() else { return };
        bin.packets += 1;
        bin.sum_ps += i128::from(delay.0);
        bin.min = bin.min.min(delay);
        bin.max = bin.max.max(delay);
    }

    /// All bins, the one that is still open included.
    pub fn bins(&self) -> &[CourseBin] {
        &self.bins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_go_by_arrival() {
        let mut course = Course::new(Span::from_us(10));
        for (at, delay) in [(1, 4), (9, 6), (25, 8)] {
            course.record(Time(at * 1_000_000), Span::from_us(delay));
        }
        let us = |delay| Span::from_us(delay);
        let found: Vec<_> = course.bins().iter().map(|b| (b.start.0, b.packets, b.min, b.max)).collect();
        assert_eq!(found, [(0, 2, us(4), us(6)), (20_000_000, 1, us(8), us(8))]);
        assert_eq!(course.bins()[0].mean_s(), 5e-6);
    }
}
