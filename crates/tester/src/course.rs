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

    /// The same with the packets of another.
    pub fn add(&mut self, other: &CourseBin) {
        self.packets += other.packets;
        self.sum_ps += other.sum_ps;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

/// A series of bins by time of arrival; bins in which nothing arrived are left out.
#[derive(Clone, Debug)]
pub struct Course {
    width: u64,
    end: u64,
    /// Of so many bins two and two are put together, so that they become fewer and wider.
    most: usize,
    bins: Vec<CourseBin>,
}

/// A course that may not grow without limit has so many bins at most.
const BOUND: usize = 512;

impl Course {
    /// A course with bins of this width (at least a picosecond).
    pub fn new(width: Span) -> Course {
        Course { width: width.0.max(1) as u64, end: 0, most: usize::MAX, bins: Vec::new() }
    }

    /// The same with bins that become wider when there are too many of them.
    pub fn bounded(width: Span) -> Course {
        Course { most: BOUND, ..Course::new(width) }
    }

    /// How wide bins are now.
    pub fn width(&self) -> Span {
        Span(self.width as i64)
    }

    /// Takes note of an arrival; `now` never goes back.
    #[inline]
    pub fn record(&mut self, now: Time, delay: Span) {
        if now.0 >= self.end {
            self.begin(now, delay);
        }
        let Some(bin) = self.bins.last_mut() else { return };
        bin.packets += 1;
        bin.sum_ps += i128::from(delay.0);
        bin.min = bin.min.min(delay);
        bin.max = bin.max.max(delay);
    }

    /// The next bin, for an arrival with this delay.
    fn begin(&mut self, now: Time, delay: Span) {
        if self.bins.len() >= self.most {
            self.width *= 2;
            self.bins = merged(&self.bins, Span(self.width as i64));
        }
        let start = Time(now.0 / self.width * self.width);
        self.end = start.0.saturating_add(self.width);
        if self.bins.last().is_none_or(|last| last.start != start) {
            self.bins.push(CourseBin { start, packets: 0, sum_ps: 0, min: delay, max: delay });
        }
    }

    /// All bins, the one that is still open included.
    pub fn bins(&self) -> &[CourseBin] {
        &self.bins
    }
}

/// Bins in order of time as wider ones.
pub fn merged<'a>(bins: impl IntoIterator<Item = &'a CourseBin>, width: Span) -> Vec<CourseBin> {
    let width = width.0.max(1) as u64;
    let mut found: Vec<CourseBin> = Vec::new();
    for bin in bins {
        let start = Time(bin.start.0 / width * width);
        match found.last_mut() {
            Some(last) if last.start == start => last.add(bin),
            _ => found.push(CourseBin { start, ..*bin }),
        }
    }
    found
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

    #[test]
    fn bins_that_are_too_many_become_wider() {
        let mut course = Course::bounded(Span(10));
        let last = 3 * BOUND as u64;
        (0..last).for_each(|at| course.record(Time(at * 10), Span(at as i64)));
        assert_eq!(course.width(), Span(40));
        assert_eq!(course.bins().len(), 3 * BOUND / 4);
        assert!(course.bins().iter().all(|bin| bin.packets == 4 && bin.max.0 - bin.min.0 == 3));
        let starts: Vec<_> = course.bins().iter().take(3).map(|bin| bin.start.0).collect();
        assert_eq!(starts, [0, 40, 80]);
    }
}
