//! Queue disciplines at an egress port, in front of the wire.
//!
//! Which frame leaves next is decided when the port is free, so that such a port has events of its own: a frame that
//! was handed over early is offered to the tree when it is ready, the port becomes free and asks the tree, and a tree
//! that holds everything back is asked again at the time that it named. At one time the port asks first, then frames
//! are offered, one by one in the order in which they were handed over; and after each of them a port that is free
//! asks again, since it may be one that can leave at once.
//!
//! Only these events and what the sending device hands over touch a tree. So nobody can tell when they are done, as
//! long as they are done in order and before somebody needs to know: [`Egress::catch_up`] is called before a frame is
//! handed over, and before the far end needs the next frame.
//!
//! A super-frame, which a kernel left to be cut, is cut before it is queued: what waits, takes turns and is dropped
//! are packets, as they would be at a port of that rate.

use crate::offload::real_frames;
use base::device::{DropCounters, DropReason};
use base::frame::Framing;
use base::losses::Keeping;
use base::{Frame, LossBook, Time};
use forwarding::queue::{Take, Tree};
use std::collections::VecDeque;

/// The latest time at which anything can be due.
const LATEST: Time = Time(u64::MAX - 1);

/// The queue disciplines of an egress port, with the frames on their way into them.
#[derive(Debug)]
pub struct Egress {
    tree: Tree,
    /// Frames handed over that are not ready yet, and when they are.
    pending: VecDeque<(Time, Frame)>,
    /// When the port asks the tree next, unless something is offered before.
    ask: Time,
    /// When the port has sent all that it took, and can take the next frame.
    free: Time,
    /// Frames handed over, and their bytes on the wire.
    handed: (u64, u64),
    /// Frames given to the wire, and their bytes on the wire.
    taken: (u64, u64),
    /// Bytes of frames that are not ready yet.
    pending_bytes: u64,
    waiting_bytes_max: u64,
    /// Frames that were dropped before they were ready, and their bytes.
    cleared: (DropCounters, u64),
    /// How long frames are on the wire; here they are still as in a node.
    framing: Framing,
    /// Is that as long as Ethernet has them? Asked of each frame three times.
    plain: bool,
    /// Whose frames these were.
    losses: LossBook,
}

impl Egress {
    /// At a port that is free at `free`.
    pub fn new(tree: Tree, free: Time) -> Egress {
        Egress {
            tree,
            pending: VecDeque::new(),
            ask: Time::MAX,
            free,
            handed: (0, 0),
            taken: (0, 0),
            pending_bytes: 0,
            waiting_bytes_max: 0,
            cleared: (DropCounters::default(), 0),
            framing: Framing::ETHERNET,
            plain: true,
            losses: LossBook::default(),
        }
    }

    /// Says how long frames are on the wire, before any has been handed over.
    pub fn set_framing(&mut self, framing: Framing) {
        debug_assert!(self.handed.0 == 0, "frames were counted as those of another medium");
        self.framing = framing;
        self.plain = framing == Framing::ETHERNET;
        self.tree.set_framing(framing);
    }

    /// Bytes of a frame on the wire.
    #[inline]
    fn wire_len(&self, frame: &Frame) -> u64 {
        u64::from(if self.plain { frame.wire_len() } else { self.framing.of(frame) })
    }

    /// The queue disciplines in front of the wire, for their statistics.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// When the port has something to do; it may be nothing but to find that there is nothing to send.
    #[inline]
    pub fn due(&self) -> Time {
        self.pending.front().map_or(self.ask, |(enters, _)| self.ask.min(*enters))
    }

    /// True if no frame waits, neither in the queue disciplines nor for its turn to enter them.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty() && self.tree.backlog().packets == 0
    }

    /// Takes a frame at `now` that is ready at `enters`, no sooner than those before. `wire` sends a frame from a
    /// time on, and returns when the port is free again.
    #[inline]
    pub fn hand_over(
        &mut self,
        now: Time,
        enters: Time,
        frame: Frame,
        wire: &mut impl FnMut(Time, Frame) -> Time,
    ) {
        self.catch_up(now, wire);
        if frame.segment_len() < frame.len() {
            self.cut(now, enters, frame, wire);
        } else {
            self.enter(now, enters, frame, wire);
        }
    }

    /// The same of all that a super-frame stands for. One that is not what it says it is goes as it is.
    #[cold]
    fn cut(&mut self, now: Time, enters: Time, frame: Frame, wire: &mut impl FnMut(Time, Frame) -> Time) {
        let mut pieces = Vec::new();
        real_frames(frame.clone(), &mut |piece| pieces.push(piece));
        for piece in &mut pieces {
            piece.copy_tags(&frame);
        }
        if pieces.is_empty() {
            pieces.push(frame);
        }
        pieces.into_iter().for_each(|piece| self.enter(now, enters, piece, wire));
    }

    #[inline(always)]
    fn enter(&mut self, now: Time, enters: Time, frame: Frame, wire: &mut impl FnMut(Time, Frame) -> Time) {
        let wire_len = self.wire_len(&frame);
        self.handed.0 += 1;
        self.handed.1 += wire_len;
        if enters <= now {
            self.offer(now, frame, wire);
        } else {
            self.pending_bytes += wire_len;
            self.pending.push_back((enters, frame));
        }
    }

    /// Has a frame been handed over?
    pub fn is_used(&self) -> bool {
        self.handed.0 > 0
    }

    /// Does what is due up to `to`.
    #[inline]
    pub fn catch_up(&mut self, to: Time, wire: &mut impl FnMut(Time, Frame) -> Time) {
        let to = to.min(LATEST);
        while self.due() <= to {
            match self.pending.front() {
                Some((enters, _)) if *enters < self.ask => {
                    if let Some((enters, frame)) = self.pending.pop_front() {
                        self.pending_bytes -= self.wire_len(&frame);
                        self.offer(enters, frame, wire);
                    }
                }
                _ => self.ask(wire),
            }
        }
    }

    /// Hands a frame that is ready to the queue disciplines, and sends what is due by then.
    #[inline]
    fn offer(&mut self, now: Time, frame: Frame, wire: &mut impl FnMut(Time, Frame) -> Time) {
        self.tree.offer(now, frame);
        self.ask = self.free.max(now);
        while self.ask <= now.min(LATEST) {
            self.ask(wire);
        }
        self.waiting_bytes_max =
            self.waiting_bytes_max.max(self.waiting_bytes().saturating_sub(self.pending_bytes));
    }

    /// The port is free, and asks.
    #[inline]
    fn ask(&mut self, wire: &mut impl FnMut(Time, Frame) -> Time) {
        let now = self.ask;
        match self.tree.take(now) {
            Take::Frame(frame) => {
                self.taken.0 += 1;
                self.taken.1 += self.wire_len(&frame);
                self.free = wire(now, frame);
                self.ask = self.free;
            }
            Take::Wait(until) => self.ask = until.max(Time(now.0.saturating_add(1))),
            Take::Empty => self.ask = Time::MAX,
        }
    }

    /// Drops all that waits, and returns how many frames that were. The port is free at `free`.
    pub fn clear(&mut self, now: Time, free: Time, reason: DropReason) -> u64 {
        let gone = self.waiting_frames();
        self.cleared.0.add(reason, self.pending.len() as u64);
        self.cleared.1 += core::mem::take(&mut self.pending_bytes);
        for (_, frame) in self.pending.drain(..) {
            self.losses.lost(now, &frame, reason);
        }
        self.tree.clear(now, reason);
        (self.free, self.ask) = (free, Time::MAX);
        gone
    }

    /// Keeps whose frames are dropped, from now on.
    pub fn keep_losses(&mut self, keeping: &Keeping) {
        self.losses = LossBook::new(keeping.clone());
        self.tree.keep_losses(keeping);
    }

    /// Whose frames were dropped, before they were ready and by the queue disciplines.
    pub fn losses(&self) -> [&LossBook; 2] {
        [&self.losses, self.tree.losses()]
    }

    /// Shows each frame that waits.
    pub fn show_held(&self, see: &mut dyn FnMut(&Frame)) {
        self.pending.iter().for_each(|(_, frame)| see(frame));
        self.tree.show_held(see);
    }

    /// Frames dropped by the queue disciplines or before they got there, by reason.
    pub fn drops(&self) -> DropCounters {
        let mut drops = self.tree.totals().dropped.packets.clone();
        drops.merge(&self.cleared.0);
        drops
    }

    /// Frames that wait, in the disciplines and for their turn to get there.
    pub fn waiting_frames(&self) -> u64 {
        self.tree.backlog().packets + self.pending.len() as u64
    }

    /// Bytes on the wire of the frames that wait.
    #[inline]
    pub fn waiting_bytes(&self) -> u64 {
        let gone = self.taken.1 + self.tree.totals().dropped.wire_bytes + self.cleared.1;
        self.handed.1.saturating_sub(gone)
    }

    /// The most bytes of frames that ever waited and were ready.
    pub fn waiting_bytes_max(&self) -> u64 {
        self.waiting_bytes_max
    }

    /// What should be true at `now` and is not: nothing, unless a discipline is wrong.
    pub fn audit(&self, now: Time) -> Vec<String> {
        let mut wrong = self.tree.audit(now);
        let (handed, taken, drops, waits) =
            (self.handed.0, self.taken.0, self.drops().total(), self.waiting_frames());
        if handed != taken + drops + waits {
            wrong.push(format!("{handed} frames handed over, {taken} sent, {drops} dropped, {waits} wait"));
        }
        wrong
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use base::frame::{Offload, Segment};
    use base::{Phb, PortId, Rate, Streams};
    use forwarding::queue::Facts;
    use forwarding::queue::classify::phb_of;
    use serde_json::json;

    const SIZE: u16 = 1448;

    /// TCP with `payload` bytes, to be cut.
    pub(crate) fn super_frame(payload: usize) -> Frame {
        let mut bytes = vec![2; 12];
        bytes.extend([8, 0, 0x45, 0]);
        bytes.extend((40 + payload as u16).to_be_bytes());
        bytes.extend([0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        bytes.extend([1, 2, 3, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0x10, 9, 9, 0, 0, 0, 0]);
        bytes.resize(54 + payload, 7);
        let mut frame = Frame::from_bytes(&bytes);
        frame.set_offload(Some(Offload {
            needs_checksum: true,
            checksum_start: 34,
            checksum_offset: 16,
            segment: Segment::TcpV4,
            segment_size: SIZE,
            header_len: 54,
        }));
        frame.set_phb(Some(Phb::EF));
        frame.set_mark(9);
        frame.set_input(PortId(4));
        frame
    }

    pub(crate) fn tree() -> Tree {
        let classes =
            json!({"a": {"queue": {"discipline": "tbf", "rate": 8_000_000, "burst": 2000, "limit": 9000}}});
        let filters = json!([{"phb": ["EF"], "mark": 9, "inputs": [4], "class": "a"}]);
        let spec = json!({"root": {"discipline": "drr", "classes": classes, "filters": filters}});
        let spec = serde_json::from_value(spec).expect("a description");
        let facts = Facts { rate: Rate(0), mtu: 1500 };
        Tree::new(&spec, &facts, Streams::new(1).stream("queue")).expect("a tree")
    }

    fn egress() -> Egress {
        Egress::new(tree(), Time::ZERO)
    }

    #[test]
    fn what_is_queued_of_a_super_frame_are_its_packets() {
        let (mut egress, mut sent) = (egress(), Vec::new());
        let mut wire = |at: Time, frame: Frame| {
            assert_eq!((phb_of(&frame), frame.mark(), frame.input()), (Phb::EF, 9, Some(PortId(4))));
            assert!(frame.offload().is_none());
            sent.push((at.0 / 1_000_000, frame.len()));
            at
        };
        // Ten packets of 1502 bytes and one of 154: one leaves at once, five find room, and so does the last, which
        // is short.
        egress.hand_over(Time::ZERO, Time::ZERO, super_frame(10 * 1448 + 100), &mut wire);
        assert_eq!(egress.audit(Time::ZERO), [""; 0]);
        egress.catch_up(Time(1 << 50), &mut wire);
        assert_eq!(egress.audit(Time(1 << 50)), [""; 0]);
        assert_eq!(
            sent.iter().map(|sent| sent.1).collect::<Vec<_>>(),
            [1502, 1502, 1502, 1502, 1502, 1502, 154]
        );
        assert_eq!(sent[5].0, 6 * 1502 - 2000);
        assert_eq!((egress.drops().total(), egress.waiting_bytes()), (4, 0));
    }

    #[test]
    fn what_is_no_super_frame_after_all_is_queued_as_it_is() {
        let (mut egress, mut sent) = (egress(), 0);
        let mut frame = super_frame(1500);
        frame.header_mut()[14] = 0x15;
        egress.hand_over(Time::ZERO, Time::ZERO, frame, &mut |at, _| {
            sent += 1;
            at
        });
        assert_eq!((sent, egress.audit(Time::ZERO)), (1, Vec::new()));
    }
}
