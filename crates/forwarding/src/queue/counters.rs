//! What every queue counts, and what must always be true of that.

use super::{Backlog, Loss, Packet};
use base::device::{DropCounters, DropReason};
use base::{Span, Time};
use std::sync::Arc;

/// Packets in, out, dropped and waiting, and for how long.
///
/// Whoever owns one calls [`QueueCounters::enter`] for every packet that it is given, then [`QueueCounters::leave`] or
/// [`QueueCounters::lose`] once for each.
#[derive(Clone, Debug, Default)]
pub struct QueueCounters {
    /// Packets given, and the bytes that they count for.
    pub given: Backlog,
    /// Packets that left by being sent.
    pub sent: Backlog,
    /// Packets dropped, at once or out of the queue.
    pub dropped: Backlog,
    /// The same by reason.
    pub drops: DropCounters,
    /// Packets marked instead of dropped (ECN).
    pub marked: u64,
    /// How often the queue would have sent but was held back by its rate.
    pub overlimits: u64,
    /// What waits now.
    pub backlog: Backlog,
    /// The most bytes that ever waited.
    pub backlog_bytes_max: u64,
    /// The most packets that ever waited.
    pub backlog_packets_max: u64,
    /// The integral of waiting packets over time, in picoseconds, up to `changed`.
    area: u128,
    /// How long packets waited that are not waiting any more, all together.
    waited: u128,
    /// Sum of the times at which the waiting packets came, to know how long they have waited.
    entered: u128,
    changed: Time,
    /// Shared with reports as long as these are looked at.
    series: Option<Arc<Series>>,
}

impl QueueCounters {
    #[inline]
    fn advance(&mut self, now: Time) {
        self.area += u128::from(self.backlog.packets) * u128::from(now.0.saturating_sub(self.changed.0));
        if let Some(series) = &mut self.series {
            Arc::make_mut(series).advance(self.changed, now, self.backlog.bytes);
        }
        self.changed = now;
    }

    /// A packet that counts for `len` bytes is given at `now`; it waits until it leaves or is lost.
    #[inline]
    pub fn enter(&mut self, now: Time, len: u32) {
        self.admit(now, len);
        self.note_backlog(now);
    }

    /// The same for one that may be lost at once: the greatest backlogs are noted by [`QueueCounters::note_backlog`],
    /// when that is known.
    #[inline]
    pub(super) fn admit(&mut self, now: Time, len: u32) {
        self.advance(now);
        let bytes = u64::from(len);
        self.given.packets += 1;
        self.given.bytes += bytes;
        self.backlog.packets += 1;
        self.backlog.bytes += bytes;
        self.entered += u128::from(now.0);
    }

    /// Notes the backlog if it is the greatest so far.
    #[inline]
    pub(super) fn note_backlog(&mut self, now: Time) {
        self.backlog_bytes_max = self.backlog_bytes_max.max(self.backlog.bytes);
        self.backlog_packets_max = self.backlog_packets_max.max(self.backlog.packets);
        if let Some(series) = &mut self.series {
            Arc::make_mut(series).note(now, self.backlog.bytes);
        }
    }

    /// A packet that was given at `entered` is not accepted, and never waits.
    #[inline]
    pub fn refuse(&mut self, len: u32, reason: DropReason) {
        self.given.packets += 1;
        self.given.bytes += u64::from(len);
        self.count_drop(len, reason);
    }

    /// A waiting packet is sent.
    #[inline]
    pub fn leave(&mut self, now: Time, packet: &Packet) {
        self.remove(now, packet.len, packet.entered);
        self.sent.packets += 1;
        self.sent.bytes += u64::from(packet.len);
    }

    /// A waiting packet is dropped.
    pub fn lose(&mut self, now: Time, packet: &Packet, reason: DropReason) {
        self.remove(now, packet.len, packet.entered);
        self.count_drop(packet.len, reason);
    }

    /// A packet that waited is dropped by a queue below.
    pub(super) fn lose_below(&mut self, now: Time, loss: &Loss) {
        self.remove(now, loss.len, loss.entered);
        self.count_drop(loss.len, loss.reason);
    }

    #[inline]
    fn count_drop(&mut self, len: u32, reason: DropReason) {
        self.dropped.packets += 1;
        self.dropped.bytes += u64::from(len);
        self.drops.count(reason);
    }

    #[inline]
    fn remove(&mut self, now: Time, len: u32, entered: Time) {
        self.advance(now);
        self.backlog.packets = self.backlog.packets.saturating_sub(1);
        self.backlog.bytes = self.backlog.bytes.saturating_sub(u64::from(len));
        self.entered = self.entered.saturating_sub(u128::from(entered.0));
        self.waited += u128::from(now.0.saturating_sub(entered.0));
    }

    /// Keeps a series of the backlog.
    pub fn watch(&mut self, bin: Span) {
        self.series = Some(Arc::new(Series::new(bin)));
    }

    /// The series up to `now`, if one is kept.
    pub fn series(&self, now: Time) -> Vec<Bin> {
        let Some(series) = &self.series else { return Vec::new() };
        let mut series = Series::clone(series);
        series.advance(self.changed, now, self.backlog.bytes);
        series.bins
    }

    /// Mean number of waiting packets over the time up to `now`.
    pub fn mean_packets(&self, now: Time) -> f64 {
        if now.0 == 0 { 0.0 } else { self.area_at(now) as f64 / now.0 as f64 }
    }

    /// Mean time that packets waited which are not waiting any more, in seconds.
    pub fn mean_wait_s(&self) -> Option<f64> {
        let gone = self.given.packets - self.backlog.packets;
        (gone > 0).then(|| self.waited as f64 / gone as f64 / 1e12)
    }

    fn area_at(&self, now: Time) -> u128 {
        self.area + u128::from(self.backlog.packets) * u128::from(now.0.saturating_sub(self.changed.0))
    }

    /// Is what was given what was sent, dropped or waits?
    pub fn balanced(&self) -> bool {
        let [given, sent, dropped, waits] = [self.given, self.sent, self.dropped, self.backlog];
        given.packets == sent.packets + dropped.packets + waits.packets
            && given.bytes == sent.bytes + dropped.bytes + waits.bytes
    }

    /// Little's law, which holds of every queue at any time to the picosecond: the integral of the number of packets
    /// is the sum of the times that each of them has been there.
    pub fn obeys_little(&self, now: Time) -> bool {
        let waiting = u128::from(self.backlog.packets) * u128::from(now.0);
        self.area_at(now) + self.entered == self.waited + waiting
    }
}

/// One interval of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    /// The integral of waiting bytes over the bin, in picoseconds.
    pub area: u128,
    /// The most bytes that waited.
    pub max: u64,
}

/// Bins of a series at most, 128 MiB of them. What comes later is not kept.
pub const BINS_MAX: u64 = 1 << 22;

/// Waiting bytes over time, in bins of equal width from time zero on.
#[derive(Clone, Debug)]
struct Series {
    bin: u64,
    bins: Vec<Bin>,
}

impl Series {
    fn new(bin: Span) -> Series {
        Series { bin: bin.0.max(1) as u64, bins: Vec::new() }
    }

    fn at(&mut self, index: u64) -> Option<&mut Bin> {
        let place = index as usize;
        if self.bins.len() <= place && index < BINS_MAX {
            self.bins.resize(place + 1, Bin::default());
        }
        self.bins.get_mut(place)
    }

    /// `bytes` have waited from `from` to `to`.
    fn advance(&mut self, from: Time, to: Time, bytes: u64) {
        let (mut at, width) = (from.0, self.bin);
        while at < to.0 {
            let end = (at / width + 1).saturating_mul(width).min(to.0);
            let Some(bin) = self.at(at / width) else { return };
            bin.area += u128::from(bytes) * u128::from(end - at);
            bin.max = bin.max.max(bytes);
            at = end;
        }
    }

    fn note(&mut self, now: Time, bytes: u64) {
        if let Some(bin) = self.at(now.0 / self.bin) {
            bin.max = bin.max.max(bytes);
        }
    }
}

/// A queue or class as a report shows it.
#[derive(Clone, Debug)]
pub struct QueueRow {
    /// Its place in the tree: `root`, `root/gold` and so on.
    pub path: String,
    /// The path of the class that it is in, where that is another than the path says: classes of CBQ and HTB go by
    /// their names alone.
    pub parent: Option<String>,
    /// The discipline, or `class` for a class that only groups others.
    pub discipline: &'static str,
    /// Counted since the tree was built.
    pub counters: QueueCounters,
    /// What only this discipline knows, such as `average_bytes` of RED or `borrowed` of CBQ, by name.
    pub extra: Vec<(&'static str, f64)>,
}

impl QueueRow {
    /// A queue at `path`.
    pub(super) fn new(
        path: impl Into<String>,
        discipline: &'static str,
        counters: QueueCounters,
    ) -> QueueRow {
        QueueRow { path: path.into(), parent: None, discipline, counters, extra: Vec::new() }
    }

    /// The same with what only this discipline knows.
    pub(super) fn with(self, extra: Vec<(&'static str, f64)>) -> QueueRow {
        QueueRow { extra, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Frame;

    fn packet(len: u32, entered: u64) -> Packet {
        Packet { frame: Frame::from_bytes(&[0; 60]), len, entered: Time(entered) }
    }

    #[test]
    fn little_holds_at_any_time() {
        let mut counters = QueueCounters::default();
        counters.watch(Span(10));
        counters.enter(Time(3), 100);
        counters.enter(Time(5), 50);
        assert!(counters.obeys_little(Time(9)) && counters.balanced());
        counters.leave(Time(12), &packet(100, 3));
        counters.lose(Time(20), &packet(50, 5), DropReason::Sojourn);
        counters.refuse(10, DropReason::BufferFull);
        assert!(counters.obeys_little(Time(20)) && counters.obeys_little(Time(99)) && counters.balanced());
        assert_eq!((counters.backlog_bytes_max, counters.drops.total()), (150, 2));
        let series = counters.series(Time(25));
        assert_eq!(series.iter().map(|bin| bin.max).collect::<Vec<_>>(), [150, 150, 0]);
        assert_eq!(series.iter().map(|bin| bin.area).sum::<u128>(), 100 * 9 + 50 * 15);
    }

    #[test]
    fn a_series_has_an_end() {
        let mut counters = QueueCounters::default();
        counters.watch(Span(1));
        counters.enter(Time(BINS_MAX - 2), 100);
        counters.leave(Time(u64::MAX - 1), &packet(100, BINS_MAX - 2));
        let series = counters.series(Time(u64::MAX));
        assert_eq!((series.len() as u64, series.iter().map(|bin| bin.area).sum::<u128>()), (BINS_MAX, 200));
    }
}
