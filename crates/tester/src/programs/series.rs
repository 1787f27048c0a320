//! What happens at an end of a connection over time.

use super::Snapshot;
use base::{Span, Time};

/// Of so many bins two and two are put together, so that they become fewer and wider.
const BOUND: usize = 2_048;

/// A stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpBin {
    /// When it begins.
    pub start: Time,
    /// Segments sent, those sent again included.
    pub segments: u64,
    /// Segments sent again.
    pub retransmitted: u64,
    /// Bytes that the other end has acknowledged.
    pub acknowledged: u64,
    /// The window that the other end gave last, in bytes.
    pub window: u32,
    /// The most bytes that were in flight.
    pub in_flight: u32,
    /// Smoothed round-trip time at the end of the bin; none before the first sample.
    pub round_trip: Option<Span>,
}

impl TcpBin {
    fn add(&mut self, later: &TcpBin) {
        self.segments += later.segments;
        self.retransmitted += later.retransmitted;
        self.acknowledged += later.acknowledged;
        self.window = later.window;
        self.in_flight = self.in_flight.max(later.in_flight);
        self.round_trip = later.round_trip.or(self.round_trip);
    }
}

/// Bins in which something happened, in order.
#[derive(Clone, Debug)]
pub struct TcpSeries {
    width: u64,
    bins: Vec<TcpBin>,
}

impl TcpSeries {
    /// Bins of this width, a picosecond at least.
    pub fn new(width: Span) -> TcpSeries {
        TcpSeries { width: width.0.max(1) as u64, bins: Vec::new() }
    }

    /// The bins so far.
    pub fn bins(&self) -> &[TcpBin] {
        &self.bins
    }

    /// A connection was `before`, and is `after`.
    pub(super) fn note(&mut self, now: Time, before: &Snapshot, after: &Snapshot) {
        let start = Time(now.0 / self.width * self.width);
        let trips = after.measured.round_trips;
        let bin = TcpBin {
            start,
            segments: after.counters.segments_sent - before.counters.segments_sent,
            retransmitted: after.counters.retransmitted - before.counters.retransmitted,
            acknowledged: after.measured.acknowledged - before.measured.acknowledged,
            window: after.measured.window,
            in_flight: after.measured.in_flight,
            round_trip: (trips.count > 0).then_some(trips.smoothed),
        };
        match self.bins.last_mut().filter(|last| last.start == start) {
            Some(last) => last.add(&bin),
            None => self.bins.push(bin),
        }
        if self.bins.len() > BOUND {
            self.widen();
        }
    }

    fn widen(&mut self) {
        self.width = self.width.saturating_mul(2);
        let mut wide: Vec<TcpBin> = Vec::with_capacity(BOUND);
        for bin in &self.bins {
            let start = Time(bin.start.0 / self.width * self.width);
            match wide.last_mut().filter(|last| last.start == start) {
                Some(last) => last.add(bin),
                None => wide.push(TcpBin { start, ..*bin }),
            }
        }
        self.bins = wide;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_become_wider_and_lose_nothing() {
        let mut series = TcpSeries::new(Span(10));
        let mut before = Snapshot::default();
        for turn in 0..10_000_u64 {
            let mut after = before;
            after.counters.segments_sent += 1;
            after.measured.acknowledged += 7;
            after.measured.in_flight = turn as u32;
            series.note(Time(turn * 10), &before, &after);
            before = after;
        }
        let bins = series.bins();
        assert!(bins.len() <= BOUND && bins.is_sorted_by(|a, b| a.start < b.start));
        assert_eq!(bins.iter().map(|bin| bin.segments).sum::<u64>(), 10_000);
        assert_eq!(bins.iter().map(|bin| bin.acknowledged).sum::<u64>(), 70_000);
        assert_eq!(bins.iter().map(|bin| bin.in_flight).max(), Some(9_999));
    }
}
