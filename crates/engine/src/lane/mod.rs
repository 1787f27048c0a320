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
//!
//! A port with a tree of queue disciplines is not known so far ahead: [`crate::egress`].

mod clear;
mod count;

use crate::digest::{self, Digest};
use crate::egress::Egress;
use crate::link::{OVERHEAD_BYTES, PortSpec};
use crate::ring::FlightRing;
use base::device::DropReason;
use base::frame::MIN_FRAME_LEN;
use base::{Frame, LinkId, NodeId, PortId, Rate, Serialiser, Span, Time};
use forwarding::queue::Tree;

/// One direction of a link.
#[derive(Debug)]
pub struct Lane {
    /// Frames queued and on their way.
    pub ring: FlightRing,
    free: Time,
    entered: Time,
    /// Picoseconds per byte and per gap, if they are whole numbers; else zero, and the serialiser knows.
    per_byte: u64,
    per_gap: u64,
    delay: u64,
    /// Bytes of all frames taken and not taken back.
    taken_bytes: u64,
    /// Digest of every frame sent, with its time.
    pub digest: Digest,
    /// The device at the far end.
    pub to_node: NodeId,
    /// The port at the far end.
    pub to_port: PortId,
    /// Arrivals take the general path: faults, capture, recording, or a device that is down.
    pub attend_arrivals: bool,
    /// The first frame was offered to the fast path already, which punted it.
    pub punted: bool,
    /// Frames to be forwarded one by one before it is tried again to forward several in a row.
    pub run_pause: u8,
    /// Is some capture to see each frame as it leaves?
    pub attend_departures: bool,
    /// The link can be used, and nothing but the wire is behind the port.
    direct: bool,
    up: bool,
    /// The link of which this is one direction.
    pub link: LinkId,
    /// The first frame of which it is not known that its first bit has left, unless that has arrived.
    waiting: u64,
    /// Bytes of all frames before that.
    started_bytes: u64,
    buffer_bytes: u64,
    waiting_bytes_max: u64,
    shortest: u64,
    serialiser: Serialiser,
    /// Frames taken back when the link or the device went down, and their bytes.
    removed: (u64, u64),
    spec: PortSpec,
    /// The queues in front of the wire, if frames don't leave in the order in which they come.
    egress: Option<Box<Egress>>,
}

/// What became of a frame that was handed to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It was alone: the lane has a first arrival now.
    First(Time),
    /// Another frame, still to arrive, is in front of it: the lane's first arrival stays.
    Behind,
    /// Nothing is on its way, and what waits in queues (if anything does) arrives no sooner than this.
    Waits(Time),
    /// The port dropped it, for this reason.
    Refused(DropReason),
}

impl Lane {
    /// An idle lane that ends at `to_port` of `to_node`.
    pub fn new(link: LinkId, spec: PortSpec, delay: Span, to_node: NodeId, to_port: PortId) -> Lane {
        let mut lane = Lane {
            ring: FlightRing::default(),
            free: Time::ZERO,
            entered: Time::ZERO,
            per_byte: 0,
            per_gap: 0,
            delay: delay.0.max(0) as u64,
            taken_bytes: 0,
            digest: Digest::default(),
            to_node,
            to_port,
            attend_arrivals: false,
            punted: false,
            run_pause: 0,
            attend_departures: false,
            direct: true,
            up: true,
            link,
            waiting: 0,
            started_bytes: 0,
            buffer_bytes: spec.buffer_bytes.unwrap_or(u64::MAX),
            waiting_bytes_max: 0,
            shortest: 0,
            serialiser: Serialiser::new(spec.rate, spec.clock_offset_ppb),
            removed: (0, 0),
            spec,
            egress: None,
        };
        lane.limit_rate(None);
        lane
    }

    /// The port as the user described it.
    pub fn spec(&self) -> &PortSpec {
        &self.spec
    }

    /// The propagation delay of the link, without faults.
    pub fn delay(&self) -> Span {
        Span(self.delay as i64)
    }

    /// No frame takes less than this from its hand-over to its arrival, in picoseconds.
    #[inline]
    pub fn shortest(&self) -> u64 {
        self.shortest
    }

    /// Takes a frame whose first bit leaves at `ready` or later. The caller counts a frame that is refused.
    #[inline(always)]
    pub fn transmit(&mut self, now: Time, ready: Time, frame: Frame) -> Sent {
        if !self.direct {
            return self.transmit_queued(now, ready, frame);
        }
        let wire_len = frame.wire_len();
        let enters = now.max(ready).max(self.entered);
        self.entered = enters;
        let start = if self.free > enters {
            if !self.wait(enters, wire_len) {
                return Sent::Refused(DropReason::BufferFull);
            }
            self.free
        } else {
            enters
        };
        let first = self.ring.is_empty();
        let arrival = self.leave(start, frame, wire_len);
        if first { Sent::First(arrival) } else { Sent::Behind }
    }

    /// The first bit of a frame leaves at `start`, when the port is free. Returns when its last bit arrives.
    #[inline(always)]
    fn leave(&mut self, start: Time, mut frame: Frame, wire_len: u32) -> Time {
        let last = if self.per_byte != 0 {
            let last = start.0.saturating_add(self.per_byte * u64::from(wire_len));
            self.free = Time(last.saturating_add(self.per_gap));
            last
        } else {
            self.serialise(start, wire_len)
        };
        let arrival = Time(last.saturating_add(self.delay));
        frame.clear_tags();
        frame.note_link(self.link);
        self.digest.fold(Time(last), digest::content(&frame, wire_len));
        self.taken_bytes += u64::from(wire_len);
        self.ring.push(frame, start, arrival, self.taken_bytes);
        arrival
    }

    /// The same of a port that is down, or that has queues.
    #[inline(never)]
    fn transmit_queued(&mut self, now: Time, ready: Time, frame: Frame) -> Sent {
        if !self.up {
            return Sent::Refused(DropReason::PortDown);
        }
        let Some(mut egress) = self.egress.take() else { return Sent::Refused(DropReason::PortDown) };
        let first = self.ring.is_empty();
        self.entered = now.max(ready).max(self.entered);
        egress.hand_over(now, self.entered, frame, &mut |start, frame| self.take(start, frame));
        self.egress = Some(egress);
        match self.ring.next_arrival() {
            None => Sent::Waits(self.upcoming()),
            Some(arrival) if first => Sent::First(arrival),
            Some(_) => Sent::Behind,
        }
    }

    /// The wire takes a frame from the queues. Returns when the port is free again.
    #[inline]
    fn take(&mut self, start: Time, frame: Frame) -> Time {
        let wire_len = frame.wire_len();
        self.leave(start, frame, wire_len);
        self.free
    }

    /// Puts queues in front of the wire.
    pub fn set_queue(&mut self, tree: Tree) {
        self.egress = Some(Box::new(Egress::new(tree, self.free)));
        self.direct = false;
    }

    /// The queues, if there are any.
    pub fn egress(&self) -> Option<&Egress> {
        self.egress.as_deref()
    }

    /// True if queue disciplines stand in front of the wire.
    #[inline]
    pub fn is_queued(&self) -> bool {
        self.egress.is_some()
    }

    /// Does at the port what is due up to `to`. Whatever is handed over before or at that time by a fault, and before
    /// it by a device, has been handed over.
    #[inline]
    pub fn catch_up(&mut self, to: Time) {
        if self.due() <= to {
            self.do_due(to);
        }
    }

    #[inline(never)]
    fn do_due(&mut self, to: Time) {
        if let Some(mut egress) = self.egress.take() {
            egress.catch_up(to, &mut |start, frame| self.take(start, frame));
            self.egress = Some(egress);
        }
    }

    /// When something is due at the port.
    #[inline]
    pub fn due(&self) -> Time {
        self.egress.as_ref().map_or(Time::MAX, |egress| egress.due())
    }

    /// What waits in queues arrives no sooner than this.
    #[inline]
    pub fn upcoming(&self) -> Time {
        match &self.egress {
            Some(egress) if !egress.is_empty() => Time(egress.due().0.saturating_add(self.shortest)),
            _ => Time::MAX,
        }
    }

    /// The next arrival, or if that is not known a time before which there is none.
    #[inline]
    pub fn next_arrival(&self) -> Time {
        self.ring.next_arrival().unwrap_or_else(|| self.upcoming())
    }

    /// Can the link be used?
    #[inline]
    pub fn is_up(&self) -> bool {
        self.up
    }

    /// The link can be used, or can't.
    pub fn set_up(&mut self, up: bool) {
        self.up = up;
        self.direct = up && self.egress.is_none();
    }

    /// When the last bit of a frame leaves whose first bit leaves at `start`, at a rate that does not divide evenly.
    #[inline(never)]
    fn serialise(&mut self, start: Time, wire_len: u32) -> u64 {
        if self.free < start {
            self.serialiser.restart();
        }
        let last = start + self.serialiser.advance(wire_len);
        self.free = last + self.serialiser.advance(OVERHEAD_BYTES);
        last.0
    }

    /// A frame enters while the port is busy: is there room for it to wait?
    #[inline]
    fn wait(&mut self, enters: Time, wire_len: u32) -> bool {
        if self.waiting <= self.ring.head() {
            // Frames that have arrived have left before.
            self.waiting = self.ring.head();
            self.started_bytes = self.arrived_bytes();
        }
        while self.waiting < self.ring.tail() {
            let flight = self.ring.at(self.waiting);
            if flight.start > enters {
                break;
            }
            self.started_bytes = flight.bytes_so_far;
            self.waiting += 1;
        }
        let bytes = self.taken_bytes - self.started_bytes + u64::from(wire_len);
        let fits = bytes <= self.buffer_bytes;
        if fits && bytes > self.waiting_bytes_max {
            self.waiting_bytes_max = bytes;
        }
        fits
    }

    /// The first frame arrives.
    #[inline]
    pub fn arrive(&mut self) -> Option<Frame> {
        self.ring.pop()
    }

    /// The frame that [`Lane::arrive`] returned last has not arrived after all; the fast path punted it.
    pub fn put_back(&mut self, frame: Frame) {
        self.ring.put_back(frame);
        self.punted = true;
    }

    /// Sends at `limit` if that is slower than the port; frames taken already keep their times.
    pub fn limit_rate(&mut self, limit: Option<Rate>) {
        let own = self.spec.rate;
        let rate = match limit {
            Some(limit) if own.0 == 0 || limit < own => limit,
            _ => own,
        };
        self.serialiser = Serialiser::new(rate, self.spec.clock_offset_ppb);
        self.per_byte = self.serialiser.per_byte().unwrap_or(0);
        self.per_gap = self.per_byte * u64::from(OVERHEAD_BYTES);
        self.shortest = self.delay + self.serialiser.span(MIN_FRAME_LEN).0 as u64;
    }
}
