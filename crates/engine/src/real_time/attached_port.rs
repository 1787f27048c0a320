//! An interface in the place of what is beyond a device's port, and what waits to leave by it.

use super::{Lateness, PortState, PortView};
use crate::external::{Clock, ExternalPort, PortError};
use base::device::DropReason;
use base::{Frame, NodeId, PortId, Span, Time};
use std::collections::VecDeque;

/// Frames that wait for an interface that takes none, and their bytes; more are dropped.
const QUEUE_MAX: usize = 16_384;
const QUEUE_BYTES: u64 = 64 << 20;
/// Time until it is tried whether an interface that went away is there again; each time in vain it is twice as long.
const AGAIN: Span = Span::from_secs(1);
const AGAIN_MAX: Span = Span::from_secs(16);

/// An interface, how it is, and what waits for it.
pub(super) struct AttachedPort {
    pub(super) node: NodeId,
    pub(super) port: PortId,
    pub(super) external: Box<dyn ExternalPort>,
    pub(super) state: PortState,
    /// Frames that came in and need more than the fast path.
    pub(super) punted: VecDeque<Frame>,
    queue: VecDeque<Frame>,
    /// When each of these was due, and its bytes.
    waiting: VecDeque<(Time, u32)>,
    bytes: u64,
    dropped: u64,
    lateness: Lateness,
    /// Of an interface that is gone: when it is looked for next, and how long it is then until the next time.
    again: Option<(Time, Span)>,
}

impl AttachedPort {
    pub(super) fn new(node: NodeId, port: PortId, external: Box<dyn ExternalPort>) -> AttachedPort {
        AttachedPort {
            node,
            port,
            external,
            state: PortState::Up,
            punted: VecDeque::new(),
            queue: VecDeque::new(),
            waiting: VecDeque::new(),
            bytes: 0,
            dropped: 0,
            lateness: Lateness::default(),
            again: None,
        }
    }

    /// Takes a frame that is to leave, or drops it: then it comes back, with the reason.
    #[inline]
    pub(super) fn push(&mut self, due: Time, frame: Frame) -> Option<(Frame, DropReason)> {
        let room = self.queue.len() < QUEUE_MAX && self.bytes < QUEUE_BYTES;
        if self.state != PortState::Up || !room {
            self.dropped += 1;
            let reason = if room { DropReason::LinkDown } else { DropReason::BufferFull };
            return Some((frame, reason));
        }
        let len = frame.len();
        self.bytes += u64::from(len);
        self.queue.push_back(frame);
        self.waiting.push_back((due, len));
        None
    }

    /// Does anything wait to be sent?
    #[inline]
    pub(super) fn has_unsent(&self) -> bool {
        !self.queue.is_empty() || (self.state == PortState::Up && self.external.has_unsent())
    }

    /// Gives the interface what it takes.
    pub(super) fn send(&mut self, clock: &Clock) -> Result<(), PortError> {
        let before = self.queue.len();
        let sent = self.external.send(&mut self.queue);
        let now = clock.now();
        for (due, len) in self.waiting.drain(..before - self.queue.len()) {
            self.lateness.record(now - due);
            self.bytes -= u64::from(len);
        }
        sent.map(|_| ())
    }

    /// Takes note of how the interface is; what waits for one that can't be used is dropped. Returns how it was, and
    /// what was dropped.
    pub(super) fn become_so(&mut self, state: PortState) -> (PortState, VecDeque<Frame>) {
        let mut gone = VecDeque::new();
        if state != PortState::Up {
            self.dropped += self.queue.len() as u64;
            gone = core::mem::take(&mut self.queue);
            self.waiting.clear();
            self.bytes = 0;
        }
        (core::mem::replace(&mut self.state, state), gone)
    }

    /// How the interface is now. One that went away and is there again is taken again.
    pub(super) fn look(&mut self, now: Time) -> Result<PortState, PortError> {
        if self.state == PortState::Gone && !self.is_there_again(now) {
            return Ok(PortState::Gone);
        }
        match self.external.link_up() {
            Ok(true) => Ok(PortState::Up),
            Ok(false) => Ok(PortState::Down),
            Err(PortError::Gone { .. }) => Ok(PortState::Gone),
            Err(other) => Err(other),
        }
    }

    fn is_there_again(&mut self, now: Time) -> bool {
        let (at, pause) = *self.again.get_or_insert((now + AGAIN, AGAIN));
        if now < at {
            return false;
        }
        let there = self.external.reopen().is_ok();
        let next = Span((pause.0 * 2).min(AGAIN_MAX.0));
        self.again = if there { None } else { Some((now + next, next)) };
        there
    }

    pub(super) fn clear_lateness(&mut self) {
        self.lateness.clear();
    }

    pub(super) fn view(&self) -> PortView<'_> {
        PortView {
            node: self.node,
            port: self.port,
            name: self.external.name(),
            state: self.state,
            counters: self.external.counters(),
            dropped: self.dropped,
            lateness: &self.lateness,
        }
    }
}
