//! Frames that end before they have reached whom they are for: counted by whose they are, why, and when.
//!
//! Every place where frames can end has a [`LossBook`]: a port, a link, a queue, a sink. Whatever discards a frame
//! hands it over there, with the reason. Only then are its bytes read, so that a frame that goes on pays nothing. Whose
//! a frame is, the book asks a [`Recognise`], which whoever measures provides. Without one, nothing is kept.

use crate::device::DropReason;
use crate::frame::Frame;
use crate::label::{Dscp, TrafficClass};
use crate::runs::{Run, Runs};
use crate::time::{Span, Time};
use core::fmt;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};

/// Whose a frame is, and the class that it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TestPacket {
    /// Number of the flow that sends it.
    pub flow: u32,
    /// Code point of its IP header.
    pub dscp: Dscp,
    /// TC of its outermost label; absent without label.
    pub class: Option<TrafficClass>,
}

/// A test packet, and which of its flow it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recognised {
    /// Flow and class of the packet.
    pub packet: TestPacket,
    /// Its number: packets that the flow sends one after the other have numbers that follow each other.
    pub number: u64,
}

/// Tells test packets from other frames.
pub trait Recognise: Send + Sync {
    /// Whose frame it is that begins with these bytes, from the destination address on; nothing if it is no test
    /// packet.
    fn recognise(&self, header: &[u8]) -> Option<Recognised>;
}

/// Moments at which something was done to what runs. Losses before one and losses after it stay apart, so that it can
/// be said what an action cost.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    times: Arc<RwLock<Vec<Time>>>,
    /// Are there any? Mostly there are none, and then no lost packet has to wait for a lock.
    any: Arc<AtomicBool>,
}

impl Marks {
    /// Something is done at `at`, which may be later than now.
    pub fn add(&self, at: Time) {
        if let Ok(mut marks) = self.times.write() {
            self.any.store(true, Ordering::Release);
            let place = marks.partition_point(|mark| *mark < at);
            if marks.get(place) != Some(&at) {
                marks.insert(place, at);
            }
        }
    }

    /// Marks from before a time are of no use any more.
    pub fn forget_before(&self, time: Time) {
        if let Ok(mut marks) = self.times.write() {
            marks.retain(|mark| *mark >= time);
            self.any.store(!marks.is_empty(), Ordering::Release);
        }
    }

    /// Is a mark after `from`, and not after `to`?
    pub fn between(&self, from: Time, to: Time) -> bool {
        if !self.any.load(Ordering::Acquire) {
            return false;
        }
        self.times.read().is_ok_and(|marks| {
            let place = marks.partition_point(|mark| *mark <= from);
            marks.get(place).is_some_and(|mark| *mark <= to)
        })
    }
}

/// Losses that follow each other closely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// When the first packet was lost.
    pub first: Time,
    /// When the last one was.
    pub last: Time,
    /// How many were.
    pub packets: u64,
}

/// Losses of a bin of time, as stretches with pauses between them.
#[derive(Clone, Debug, Default)]
pub struct Stretches(Vec<Stretch>);

/// A bin has so many stretches at most, but for those that a mark begins: then pauses are joined over.
const STRETCHES_MAX: usize = 16;
/// A pause is at least this part of a bin.
const PAUSE: u64 = 100;

impl Stretches {
    /// A packet was lost at `at`, in a bin of this width.
    pub fn add(&mut self, at: Time, bin: Span, marks: &Marks) {
        let room = self.0.len() < STRETCHES_MAX;
        match self.0.last_mut() {
            Some(known) if at <= known.last => {
                known.first = known.first.min(at);
                known.packets += 1;
            }
            Some(known)
                if (!room || at.0 - known.last.0 <= bin.0 as u64 / PAUSE)
                    && !marks.between(known.last, at) =>
            {
                known.last = at;
                known.packets += 1;
            }
            _ => self.0.push(Stretch { first: at, last: at, packets: 1 }),
        }
    }

    /// All of them together.
    pub fn packets(&self) -> u64 {
        self.0.iter().map(|stretch| stretch.packets).sum()
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = Stretch> {
        self.0.iter().copied()
    }
}

/// How losses are kept.
#[derive(Clone)]
pub struct Keeping {
    recognise: Arc<dyn Recognise>,
    bin: Span,
    marks: Marks,
    /// Set when one of the books that keep so has anything: then it is worth while to look into them.
    is_any: Arc<AtomicBool>,
}

impl Keeping {
    /// Keeps losses of the frames that `recognise` knows, in bins of `bin`, at least a picosecond long; those before
    /// and after one of the `marks` apart.
    pub fn new(recognise: Arc<dyn Recognise>, bin: Span, marks: Marks) -> Keeping {
        Keeping { recognise, bin: Span(bin.0.max(1)), marks, is_any: Arc::default() }
    }

    /// Has a book that keeps so anything in it?
    pub fn is_any(&self) -> bool {
        self.is_any.load(Ordering::Relaxed)
    }

    fn note(&self) {
        self.is_any.store(true, Ordering::Relaxed);
    }
}

impl fmt::Debug for Keeping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keeping({:?})", self.bin)
    }
}

/// Frames that were lost in a bin of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loss {
    /// When the bin begins.
    pub start: Time,
    /// Whose frames they were.
    pub packet: TestPacket,
    /// Why they were lost.
    pub reason: DropReason,
}

/// Losses that more of their like may follow soon.
type Recent = [Option<(Loss, Stretches)>; 8];
/// Runs of flows that may go on soon.
type RecentRuns = [Option<(u32, Runs)>; 8];

#[derive(Clone, Debug)]
struct Kept {
    keeping: Keeping,
    losses: BTreeMap<Loss, Stretches>,
    /// By flow, its last loss: not among `losses` meanwhile. Where a flow loses one packet, it soon loses more.
    recent: Recent,
    /// Packets of each flow that were lost one after the other.
    runs: BTreeMap<u32, Runs>,
    /// Those of the flows that lost something last: not among `runs` meanwhile.
    recent_runs: RecentRuns,
    /// When the bin began in which the last frame was lost.
    start: Time,
    /// Frames made in the network, by flow.
    copies: BTreeMap<u32, u64>,
    /// Copies that were left since another is taken, by flow.
    unselected: BTreeMap<u32, u64>,
}

/// What was lost at one place, and what was made there. Keeps nothing until it is told how.
#[derive(Clone, Debug, Default)]
pub struct LossBook(Option<Box<Kept>>);

impl LossBook {
    /// A book that keeps losses.
    pub fn new(keeping: Keeping) -> LossBook {
        LossBook(Some(Box::new(Kept {
            keeping,
            losses: BTreeMap::new(),
            recent: Recent::default(),
            runs: BTreeMap::new(),
            recent_runs: RecentRuns::default(),
            start: Time::ZERO,
            copies: BTreeMap::new(),
            unselected: BTreeMap::new(),
        })))
    }

    /// A frame ended at `at`. A copy that a selector left is not lost: it is counted, no more.
    #[cold]
    pub fn lost(&mut self, at: Time, frame: &Frame, reason: DropReason) {
        if let Some(kept) = &mut self.0
            && let Some(of) = kept.keeping.recognise.recognise(frame.header())
        {
            match reason {
                DropReason::Unselected => {
                    *kept.unselected.entry(of.packet.flow).or_default() += 1;
                    kept.keeping.note();
                }
                _ => kept.lose(at, of, reason),
            }
        }
    }

    /// So many frames more than before are as this one.
    #[cold]
    pub fn copied(&mut self, frame: &Frame, copies: u64) {
        if let Some(kept) = &mut self.0
            && let Some(of) = kept.keeping.recognise.recognise(frame.header())
        {
            *kept.copies.entry(of.packet.flow).or_default() += copies;
            kept.keeping.note();
        }
    }

    /// Bits of a frame were inverted at `at`. If that made it a frame of another flow, or of none, the one is lost and
    /// the other was made here.
    #[cold]
    pub fn altered(&mut self, at: Time, before: &Frame, after: &Frame) {
        let Some(kept) = &mut self.0 else { return };
        let of = |frame: &Frame| kept.keeping.recognise.recognise(frame.header());
        let (before, after) = (of(before), of(after));
        if before.map(|of| of.packet.flow) == after.map(|of| of.packet.flow) {
            return;
        }
        if let Some(of) = before {
            kept.lose(at, of, DropReason::LinkCorruption);
        }
        if let Some(of) = after {
            *kept.copies.entry(of.packet.flow).or_default() += 1;
            kept.keeping.note();
        }
    }

    /// What was lost, and how many frames.
    pub fn losses(&self) -> impl Iterator<Item = (Loss, u64)> {
        self.all().into_iter().map(|(loss, lost)| (*loss, lost.packets()))
    }

    /// When packets of each flow were lost.
    pub fn times(&self) -> impl Iterator<Item = (u32, Stretch)> {
        self.all().into_iter().flat_map(|(loss, lost)| lost.iter().map(|stretch| (loss.packet.flow, stretch)))
    }

    /// Runs of each flow's packets that were lost here, after each mark the longest.
    pub fn runs(&self) -> impl Iterator<Item = (u32, Run)> {
        let kept = self.0.iter();
        let all = kept.flat_map(|kept| {
            let recent = kept.recent_runs.iter().flatten().map(|(flow, runs)| (flow, runs));
            kept.runs.iter().chain(recent)
        });
        all.flat_map(|(flow, runs)| runs.iter().map(|run| (*flow, run)))
    }

    /// All losses, in order.
    fn all(&self) -> BTreeMap<&Loss, &Stretches> {
        let kept = self.0.as_ref();
        let recent = kept.iter().flat_map(|kept| kept.recent.iter().flatten());
        kept.iter().flat_map(|kept| &kept.losses).chain(recent.map(|(loss, lost)| (loss, lost))).collect()
    }

    /// Frames made here, by flow.
    pub fn copies(&self) -> impl Iterator<Item = (u32, u64)> {
        self.0.iter().flat_map(|kept| kept.copies.iter()).map(|(flow, count)| (*flow, *count))
    }

    /// Copies that were left here, by flow.
    pub fn unselected(&self) -> impl Iterator<Item = (u32, u64)> {
        self.0.iter().flat_map(|kept| kept.unselected.iter()).map(|(flow, count)| (*flow, *count))
    }
}

impl Kept {
    fn lose(&mut self, at: Time, of: Recognised, reason: DropReason) {
        self.keeping.note();
        let Recognised { packet, number } = of;
        let bin = self.keeping.bin.0 as u64;
        if at < self.start || at.0 - self.start.0 >= bin {
            self.start = Time(at.0 / bin * bin);
        }
        let loss = Loss { start: self.start, packet, reason };
        let slot = &mut self.recent[packet.flow as usize % 8];
        if slot.as_ref().is_none_or(|(known, _)| *known != loss) {
            let lost = self.losses.remove(&loss).unwrap_or_default();
            self.losses.extend(slot.replace((loss, lost)));
        }
        if let Some((_, lost)) = slot {
            lost.add(at, self.keeping.bin, &self.keeping.marks);
        }
        let slot = &mut self.recent_runs[packet.flow as usize % 8];
        if slot.as_ref().is_none_or(|(flow, _)| *flow != packet.flow) {
            let runs = self.runs.remove(&packet.flow).unwrap_or_default();
            self.runs.extend(slot.replace((packet.flow, runs)));
        }
        if let Some((_, runs)) = slot {
            runs.add(at, number, &self.keeping.marks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first byte is the flow, the second the packet's number; flow zero is of none.
    struct FirstByte;

    impl Recognise for FirstByte {
        fn recognise(&self, header: &[u8]) -> Option<Recognised> {
            let flow = u32::from(*header.first()?);
            let packet = TestPacket { flow, dscp: Dscp::EF, class: None };
            (flow > 0).then_some(Recognised { packet, number: u64::from(header[1]) })
        }
    }

    fn book() -> LossBook {
        marked(10, &Marks::default())
    }

    fn marked(bin: i64, marks: &Marks) -> LossBook {
        LossBook::new(Keeping::new(Arc::new(FirstByte), Span(bin), marks.clone()))
    }

    fn of(flow: u8) -> Frame {
        Frame::from_bytes(&[flow, 0, 0])
    }

    #[test]
    fn losses_are_counted_by_flow_reason_and_bin() {
        let mut book = book();
        for (at, flow, reason) in [
            (3, 1, DropReason::BufferFull),
            (9, 1, DropReason::BufferFull),
            (10, 1, DropReason::BufferFull),
            (11, 2, DropReason::LinkDown),
            (11, 0, DropReason::LinkDown),
            (12, 10, DropReason::LinkDown),
            (13, 2, DropReason::LinkDown),
            (9, 1, DropReason::BufferFull),
        ] {
            book.lost(Time(at), &of(flow), reason);
        }
        let rows: Vec<_> = book.losses().map(|(l, n)| (l.start.0, l.packet.flow, l.reason, n)).collect();
        let full = DropReason::BufferFull;
        let down = DropReason::LinkDown;
        assert_eq!(rows, [(0, 1, full, 3), (10, 1, full, 1), (10, 2, down, 2), (10, 10, down, 1)]);
        book.lost(Time(14), &of(2), DropReason::Unselected);
        assert_eq!(book.unselected().collect::<Vec<_>>(), [(2, 1)]);
        assert_eq!(book.losses().count(), 4, "nothing is lost by that");
        let mut silent = LossBook::default();
        silent.lost(Time(3), &of(1), full);
        assert_eq!(silent.losses().count(), 0);
    }

    #[test]
    fn stretches_end_at_pauses_and_at_marks() {
        let marks = Marks::default();
        let mut book = marked(1_000, &marks);
        marks.add(Time(505));
        for at in [100, 105, 115, 126, 500, 504, 505, 506, 1_200] {
            book.lost(Time(at), &of(1), DropReason::LinkDown);
        }
        let times: Vec<_> = book.times().map(|(_, s)| (s.first.0, s.last.0, s.packets)).collect();
        assert_eq!(times, [(100, 115, 3), (126, 126, 1), (500, 504, 2), (505, 506, 2), (1_200, 1_200, 1)]);
        assert_eq!(book.losses().map(|(_, count)| count).collect::<Vec<_>>(), [8, 1]);
    }

    #[test]
    fn pauses_are_joined_over_where_there_are_too_many_of_them() {
        let marks = Marks::default();
        let mut book = marked(1_000, &marks);
        marks.add(Time(900));
        (0..50).for_each(|place| book.lost(Time(place * 20), &of(1), DropReason::BufferFull));
        let times: Vec<_> = book.times().map(|(_, s)| (s.first.0, s.last.0, s.packets)).collect();
        assert_eq!(times.len(), STRETCHES_MAX + 1);
        assert_eq!(times[STRETCHES_MAX - 1..], [(300, 880, 30), (900, 980, 5)]);
    }

    #[test]
    fn runs_are_kept_by_flow_also_where_flows_lose_in_turn() {
        let mut book = book();
        for number in 0..3 {
            for flow in [1, 9, 2] {
                let frame = Frame::from_bytes(&[flow, number * if flow == 2 { 2 } else { 1 }, 0]);
                book.lost(Time(u64::from(number) * 10), &frame, DropReason::LinkDown);
            }
        }
        let mut runs: Vec<_> = book.runs().map(|(flow, run)| (flow, run.last.0, run.packets)).collect();
        runs.sort_unstable();
        assert_eq!(runs, [(1, 20, 3), (2, 0, 1), (2, 20, 1), (9, 20, 3)]);
    }

    #[test]
    fn a_frame_that_becomes_anothers_is_lost_to_the_one_and_made_for_the_other() {
        let mut book = book();
        book.copied(&of(3), 2);
        book.altered(Time(1), &of(1), &of(1));
        book.altered(Time(2), &of(1), &of(2));
        book.altered(Time(3), &of(0), &of(2));
        book.altered(Time(4), &of(1), &of(0));
        assert_eq!(book.copies().collect::<Vec<_>>(), [(2, 2), (3, 2)]);
        let corrupted = DropReason::LinkCorruption;
        let rows: Vec<_> = book.losses().map(|(l, n)| (l.packet.flow, l.reason, n)).collect();
        assert_eq!(rows, [(1, corrupted, 2)]);
    }
}
