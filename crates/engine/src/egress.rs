//! Queue disciplines at an egress port, in front of the wire.
//!
//! Which frame leaves next is decided when the port is free, so that such a port has events of its own: a frame that was handed over
//! early is offered to the tree when it is ready, the port becomes free and asks the tree, and a tree that holds everything back is asked again at the time
//! that it named. At one time the port asks first, then frames are offered, one by one in the order in which they were handed
//! over; and after each of them a port that is free asks again, since it may be one that can leave at once.
//!
//! Only these events and what the sending device hands over touch a tree. So nobody can tell when they are done, as long as they are
//! done in order and before somebody needs to know: [`Egress::catch_up`] is called before a frame is handed over, and before the far end needs
//! the next frame.

use base::device::{DropCounters, DropReason};
use base::{Frame, Time};
use forwarding::queue::{Take, Tree};
use std::collections::VecDeque;

/// The latest time at which anything can be due.
const LATEST: Time = Time(u64::MAX - 1);

/// The queues of an egress port.
#[derive(Debug)]
pub struct Egress {
    tree: Tree,
    /// Frames handed over that are not ready yet, and when they are.
    pending: VecDeque<(Time, Frame)>,
    /// When the port asks the tree next, unless something is offered before.
    ask: Time,
    /// When the port is free.
    free: Time,
    /// Frames handed over, and their bytes on the wire.
    handed: (u64, u64),
    /// Those given to the wire.
    taken: (u64, u64),
    /// Bytes of frames that are not ready yet.
    pending_bytes: u64,
    waiting_bytes_max: u64,
    /// Frames that were dropped before they were ready, and their bytes.
    cleared: (DropCounters, u64),
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
        }
    }

    /// The queues.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// When the port has something to do; it may be nothing but to find that there is nothing to send.
    #[inline]
    pub fn due(&self) -> Time {
        self.pending.front().map_or(self.ask, |(enters, _)| self.ask.min(*enters))
    }

    /// Does nothing wait?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty() && self.tree.backlog().packets == 0
    }

    /// Takes a frame at `now` that is ready at `enters`, no sooner than those before. `wire` sends a frame from a time on, and returns when the
    /// port is free again.
    #[inline]
    pub fn hand_over(
        &mut self,
        now: Time,
        enters: Time,
        frame: Frame,
        wire: &mut impl FnMut(Time, Frame) -> Time,
    ) {
        self.catch_up(now, wire);
        let wire_len = u64::from(frame.wire_len());
        self.handed.0 += 1;
        self.handed.1 += wire_len;
        if enters <= now {
            self.offer(now, frame, wire);
        } else {
            self.pending_bytes += wire_len;
            self.pending.push_back((enters, frame));
        }
    }

    /// Does what is due up to `to`.
    #[inline]
    pub fn catch_up(&mut self, to: Time, wire: &mut impl FnMut(Time, Frame) -> Time) {
        let to = to.min(LATEST);
        while self.due() <= to {
            match self.pending.front() {
                Some((enters, _)) if *enters < self.ask => {
                    if let Some((enters, frame)) = self.pending.pop_front() {
                        self.pending_bytes -= u64::from(frame.wire_len());
                        self.offer(enters, frame, wire);
                    }
                }
                _ => self.ask(wire),
            }
        }
    }

    /// A frame is ready.
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
                self.taken.1 += u64::from(frame.wire_len());
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
        self.pending.clear();
        self.tree.clear(now, reason);
        (self.free, self.ask) = (free, Time::MAX);
        gone
    }

    /// Frames dropped, by reason.
    pub fn drops(&self) -> DropCounters {
        let mut drops = self.tree.totals().dropped.packets.clone();
        drops.merge(&self.cleared.0);
        drops
    }

    /// Frames that wait.
    pub fn waiting_frames(&self) -> u64 {
        self.tree.backlog().packets + self.pending.len() as u64
    }

    /// Their bytes on the wire.
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
