//! One direction of a link: the egress port that sends and the wire behind it. Shared by both clocks.
//!
//! A FIFO port needs no event of its own. When a frame is handed over, the time at which its first bit leaves is
//! already known, and so is the arrival of its last bit at the far end:
//!
//! ```text
//! enters  = max(now, ready, enters of the frame before)      a device keeps the order of an egress port
//! start   = max(enters, free)                                the first bit leaves
//! last    = start + wire_len * 8 / rate                      the last bit leaves
//! free    = last + 20 * 8 / rate                             preamble and gap, accounted behind the frame
//! arrival = last + propagation                               store and forward: the far device sees it now
//! ```
//!
//! Rates that don't divide carry their remainder through a busy period; a port that was idle starts afresh. A frame
//! waits from `enters` to `start`, and the bytes that wait are bounded by the buffer; a frame that can start at once
//! needs none.

use crate::digest::{self, Digest};
use crate::link::{OVERHEAD_BYTES, PortSpec};
use crate::ring::FlightRing;
use base::device::DropReason;
use base::frame::MIN_FRAME_LEN;
use base::{Frame, LinkId, NodeId, PortId, Rate, Serialiser, Span, Time};

/// One direction of a link.
#[derive(Debug)]
pub struct Lane {
    /// Frames queued and on their way.
    pub ring: FlightRing,
    free: Time,
    entered: Time,
    serialiser: Serialiser,
    delay: Span,
    shortest: Span,
    /// The first frame of the ring whose first bit had not left when the last one entered.
    waiting: u64,
    waiting_bytes: u64,
    buffer_bytes: u64,
    waiting_bytes_max: u64,
    /// Every frame sent.
    pub digest: Digest,
    /// Frames taken.
    pub sent_frames: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Frames delivered.
    pub received_frames: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// The device at the far end.
    pub to_node: NodeId,
    /// The port at the far end.
    pub to_port: PortId,
    /// Arrivals take the general path: faults, capture, recording, or a device that is down.
    pub attend_arrivals: bool,
    /// The first frame was offered to the fast path already, which punted it.
    pub punted: bool,
    /// Departures are captured.
    pub attend_departures: bool,
    /// Can the link be used?
    pub up: bool,
    /// The link.
    pub link: LinkId,
    spec: PortSpec,
}

/// What became of a frame that was handed to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It was alone: the lane has a first arrival now.
    First(Time),
    /// It follows others.
    Behind,
    /// It was refused.
    Refused(DropReason),
}

impl Lane {
    /// An idle lane that ends at `to_port` of `to_node`.
    pub fn new(link: LinkId, spec: PortSpec, delay: Span, to_node: NodeId, to_port: PortId) -> Lane {
        let mut lane = Lane {
            ring: FlightRing::default(),
            free: Time::ZERO,
            entered: Time::ZERO,
            serialiser: Serialiser::new(spec.rate, spec.clock_offset_ppb),
            delay,
            shortest: Span::ZERO,
            waiting: 0,
            waiting_bytes: 0,
            buffer_bytes: spec.buffer_bytes.unwrap_or(u64::MAX),
            waiting_bytes_max: 0,
            digest: Digest::default(),
            sent_frames: 0,
            sent_bytes: 0,
            received_frames: 0,
            received_bytes: 0,
            to_node,
            to_port,
            attend_arrivals: false,
            punted: false,
            attend_departures: false,
            up: true,
            link,
            spec,
        };
        lane.limit_rate(None);
        lane
    }

    /// No frame takes less from its hand-over to its arrival.
    #[inline]
    pub fn shortest(&self) -> Span {
        self.shortest
    }

    /// The frame that [`Lane::arrive`] returned last has not arrived after all; the fast path punted it.
    pub fn put_back(&mut self, frame: Frame) {
        self.ring.put_back(frame);
        self.punted = true;
    }

    /// The port as the user described it.
    pub fn spec(&self) -> &PortSpec {
        &self.spec
    }

    /// The propagation delay.
    pub fn delay(&self) -> Span {
        self.delay
    }

    /// Takes a frame whose first bit leaves at `ready` or later. A refused frame is dropped by the caller's counting.
    #[inline]
    pub fn transmit(&mut self, now: Time, ready: Time, mut frame: Frame) -> Sent {
        let wire_len = frame.wire_len();
        if !self.up {
            return Sent::Refused(DropReason::PortDown);
        }
        let enters = now.max(ready).max(self.entered);
        self.entered = enters;
        let start = if self.free > enters {
            if !self.wait(enters, wire_len) {
                return Sent::Refused(DropReason::BufferFull);
            }
            self.free
        } else {
            self.waiting = self.ring.tail() + 1;
            self.waiting_bytes = 0;
            if self.free < enters {
                self.serialiser.restart();
            }
            enters
        };
        let last = start + self.serialiser.advance(wire_len);
        self.free = last + self.serialiser.advance(OVERHEAD_BYTES);
        let arrival = last + self.delay;
        frame.note_link(self.link);
        self.digest.fold(last, digest::content(&frame, wire_len));
        self.sent_frames += 1;
        self.sent_bytes += u64::from(wire_len);
        let first = self.ring.is_empty();
        self.ring.push(frame, wire_len, start, arrival);
        if first { Sent::First(arrival) } else { Sent::Behind }
    }

    /// A frame enters while the port is busy: is there room for it to wait?
    #[inline]
    fn wait(&mut self, enters: Time, wire_len: u32) -> bool {
        self.release(enters);
        let bytes = self.waiting_bytes + u64::from(wire_len);
        if bytes > self.buffer_bytes {
            return false;
        }
        self.waiting_bytes = bytes;
        self.waiting_bytes_max = self.waiting_bytes_max.max(bytes);
        true
    }

    /// Frames whose first bit has left by `at` wait no more.
    #[inline]
    fn release(&mut self, at: Time) {
        while self.waiting < self.ring.tail() {
            let flight = self.ring.at(self.waiting.max(self.ring.head()));
            if flight.start > at {
                break;
            }
            self.waiting_bytes -= u64::from(flight.wire_len);
            self.waiting += 1;
        }
    }

    /// The first frame arrives.
    #[inline]
    pub fn arrive(&mut self) -> Option<(Time, u32, Frame)> {
        if self.waiting == self.ring.head() && !self.ring.is_empty() {
            // It waited when the last frame entered, and has left since.
            self.waiting_bytes -= u64::from(self.ring.at(self.waiting).wire_len);
            self.waiting += 1;
        }
        self.ring.pop()
    }

    /// Bytes that wait at `at`, which is not before the last call of [`Lane::transmit`].
    pub fn waiting_bytes(&self, at: Time) -> u64 {
        (self.waiting.max(self.ring.head())..self.ring.tail())
            .map(|place| self.ring.at(place))
            .filter(|flight| flight.start > at)
            .map(|flight| u64::from(flight.wire_len))
            .sum()
    }

    /// The most bytes that ever waited.
    pub fn waiting_bytes_max(&self) -> u64 {
        self.waiting_bytes_max
    }

    /// Drops what is queued or on its way, and returns how many frames that were. The port is free at once.
    pub fn clear(&mut self, now: Time) -> u64 {
        let mut count = 0;
        while self.ring.pop_back().is_some() {
            count += 1;
        }
        self.stand_idle(now);
        count
    }

    /// Drops what waits for its first bit to leave, and returns how many frames that were.
    pub fn clear_waiting(&mut self, now: Time) -> u64 {
        let mut count = 0;
        while !self.ring.is_empty() && self.ring.at(self.ring.tail() - 1).start > now {
            self.ring.pop_back();
            count += 1;
        }
        if count > 0 {
            // The port ends what it is sending; that is over no later than the first of those that waited began.
            let busy = self.ring.next_arrival().map(|_| self.ring.at(self.ring.tail() - 1));
            let free = busy.map(|f| f.start + self.serialiser.span(f.wire_len + OVERHEAD_BYTES));
            self.stand_idle(free.unwrap_or(now).max(now));
        }
        self.entered = now;
        count
    }

    fn stand_idle(&mut self, from: Time) {
        self.punted &= !self.ring.is_empty();
        self.free = from;
        self.entered = Time::ZERO;
        self.waiting = self.ring.tail();
        self.waiting_bytes = 0;
        self.serialiser.restart();
    }

    /// Sends at `limit` if that is slower than the port; frames taken already keep their times.
    pub fn limit_rate(&mut self, limit: Option<Rate>) {
        let own = self.spec.rate;
        let rate = match limit {
            Some(limit) if own.0 == 0 || limit < own => limit,
            _ => own,
        };
        self.serialiser = Serialiser::new(rate, self.spec.clock_offset_ppb);
        self.shortest = self.delay + self.serialiser.span(MIN_FRAME_LEN);
    }
}
