//! Frames that end before they have reached whom they are for: counted by whose they are, why, and when.
//!
//! Every place where frames can end has a [`LossBook`]: a port, a link, a queue, a sink. Whatever discards a frame
//! hands it over there, with the reason. Only then are its bytes read, so that a frame that goes on pays nothing. Whose
//! a frame is, the book asks a [`Recognise`], which whoever measures provides. Without one, nothing is kept.

use crate::device::DropReason;
use crate::frame::Frame;
use crate::label::{Dscp, TrafficClass};
use crate::time::{Span, Time};
use core::fmt;
use std::collections::BTreeMap;
use std::sync::Arc;

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

/// Tells test packets from other frames.
pub trait Recognise: Send + Sync {
    /// Whose frame it is that begins with these bytes, from the destination address on; nothing if it is no test
    /// packet.
    fn recognise(&self, header: &[u8]) -> Option<TestPacket>;
}

/// How losses are kept.
#[derive(Clone)]
pub struct Keeping {
    recognise: Arc<dyn Recognise>,
    bin: Span,
}

impl Keeping {
    /// Keeps losses of the frames that `recognise` knows, in bins of `bin`, at least a picosecond long.
    pub fn new(recognise: Arc<dyn Recognise>, bin: Span) -> Keeping {
        Keeping { recognise, bin: Span(bin.0.max(1)) }
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

#[derive(Clone, Debug)]
struct Kept {
    keeping: Keeping,
    losses: BTreeMap<Loss, u64>,
    /// Frames made in the network, by flow.
    copies: BTreeMap<u32, u64>,
}

/// What was lost at one place, and what was made there. Keeps nothing until it is told how.
#[derive(Clone, Debug, Default)]
pub struct LossBook(Option<Box<Kept>>);

impl LossBook {
    /// A book that keeps losses.
    pub fn new(keeping: Keeping) -> LossBook {
        LossBook(Some(Box::new(Kept { keeping, losses: BTreeMap::new(), copies: BTreeMap::new() })))
    }

    /// A frame ended at `at`.
    #[cold]
    pub fn lost(&mut self, at: Time, frame: &Frame, reason: DropReason) {
        if let Some(kept) = &mut self.0
            && let Some(packet) = kept.keeping.recognise.recognise(frame.header())
        {
            kept.lose(at, packet, reason);
        }
    }

    /// So many frames more than before are as this one.
    #[cold]
    pub fn copied(&mut self, frame: &Frame, copies: u64) {
        if let Some(kept) = &mut self.0
            && let Some(packet) = kept.keeping.recognise.recognise(frame.header())
        {
            *kept.copies.entry(packet.flow).or_default() += copies;
        }
    }

    /// Bits of a frame were inverted at `at`. If that made it a frame of another flow, or of none, the one is lost and
    /// the other was made here.
    #[cold]
    pub fn altered(&mut self, at: Time, before: &Frame, after: &Frame) {
        let Some(kept) = &mut self.0 else { return };
        let of = |frame: &Frame| kept.keeping.recognise.recognise(frame.header());
        let (before, after) = (of(before), of(after));
        if before.map(|packet| packet.flow) == after.map(|packet| packet.flow) {
            return;
        }
        if let Some(packet) = before {
            kept.lose(at, packet, DropReason::LinkCorruption);
        }
        if let Some(packet) = after {
            *kept.copies.entry(packet.flow).or_default() += 1;
        }
    }

    /// What was lost, and how many frames.
    pub fn losses(&self) -> impl Iterator<Item = (Loss, u64)> {
        self.0.iter().flat_map(|kept| kept.losses.iter()).map(|(loss, count)| (*loss, *count))
    }

    /// Frames made here, by flow.
    pub fn copies(&self) -> impl Iterator<Item = (u32, u64)> {
        self.0.iter().flat_map(|kept| kept.copies.iter()).map(|(flow, count)| (*flow, *count))
    }
}

impl Kept {
    fn lose(&mut self, at: Time, packet: TestPacket, reason: DropReason) {
        let bin = self.keeping.bin.0 as u64;
        let start = Time(at.0 / bin * bin);
        *self.losses.entry(Loss { start, packet, reason }).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first byte is the flow; zero is of none.
    struct FirstByte;

    impl Recognise for FirstByte {
        fn recognise(&self, header: &[u8]) -> Option<TestPacket> {
            let flow = u32::from(*header.first()?);
            (flow > 0).then_some(TestPacket { flow, dscp: Dscp::EF, class: None })
        }
    }

    fn book() -> LossBook {
        LossBook::new(Keeping::new(Arc::new(FirstByte), Span(10)))
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
        ] {
            book.lost(Time(at), &of(flow), reason);
        }
        let rows: Vec<_> = book.losses().map(|(l, n)| (l.start.0, l.packet.flow, l.reason, n)).collect();
        let full = DropReason::BufferFull;
        assert_eq!(rows, [(0, 1, full, 2), (10, 1, full, 1), (10, 2, DropReason::LinkDown, 1)]);
        let mut silent = LossBook::default();
        silent.lost(Time(3), &of(1), full);
        assert_eq!(silent.losses().count(), 0);
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
