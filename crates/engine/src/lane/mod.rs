//! One direction of a link: the egress port that sends and the wire behind it. Shared by both clocks.
//!
//! A FIFO port needs no event of its own. When a frame is handed over, the time at which its first bit leaves is
//! already known, and so is the arrival of its last bit at the far end:
//!
//! ```text
//! enters  = max(now, ready, enters of the frame before)      a device keeps the order of an egress port
//! start   = max(enters, free)                                the first bit leaves
//! last    = start + wire_len * 8 / rate                      the last bit leaves
//! free    = last + gap * 8 / rate                            what the medium needs between two frames
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
mod losses;
mod share;
#[cfg(test)]
mod tests;

use crate::digest::{self, Digest};
use crate::egress::Egress;
use crate::link::PortSpec;
use crate::medium::Medium;
use crate::offload::real_frames;
use crate::queue::Place;
use crate::ring::FlightRing;
use base::device::{DropCounters, DropReason};
use base::frame::Framing;
use base::{Frame, LinkId, LossBook, NodeId, PortId, Rate, Serialiser, Span, Time};
use forwarding::queue::Tree;

/// Bytes take no whole number of picoseconds.
const UNEVEN: u64 = u64::MAX;

/// One direction of a link.
///
/// What every frame needs lies in front: in the first cache line what both ends read, in the second what the sender
/// changes.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Lane {
    /// Frames queued and on their way.
    pub ring: FlightRing,
    /// Where the virtual clock keeps the first arrival.
    pub place: Place,
    /// The device at the far end.
    pub to_node: NodeId,
    /// The link of which this is one direction.
    pub link: LinkId,
    /// The port at the far end.
    pub to_port: PortId,
    /// Arrivals take the general path: faults, capture, recording, or a device that is down.
    pub attend_arrivals: bool,
    /// The first frame was offered to the fast path already, which punted it.
    pub punted: bool,
    /// Is some capture to see each frame as it leaves?
    pub attend_departures: bool,
    /// Which ends of it this world works on.
    pub ends: LaneEnds,
    /// The link can be used, and nothing but the wire is behind the port.
    direct: bool,
    /// Queue disciplines stand in front of the wire.
    queued: bool,
    free: Time,
    entered: Time,
    /// Picoseconds per byte and per gap, if they are whole numbers; else [`UNEVEN`], and the serialiser knows.
    per_byte: u64,
    per_gap: u64,
    delay: u64,
    /// Bytes of all frames taken and not taken back.
    taken_bytes: u64,
    /// Digest of every frame sent, with its time.
    pub digest: Digest,
    /// The first frame of which it is not known that its first bit has left, unless that has arrived.
    waiting: u64,
    /// Bytes of all frames before that.
    started_bytes: u64,
    buffer_bytes: u64,
    waiting_bytes_max: u64,
    up: bool,
    shortest: u64,
    serialiser: Serialiser,
    /// Frames taken back when the link or the device went down, and their bytes.
    removed: (u64, u64),
    spec: PortSpec,
    /// The queues in front of the wire, if frames don't leave in the order in which they come.
    egress: Option<Box<Egress>>,
    /// What frames are on the wire, if not those of Ethernet.
    medium: Option<&'static Medium>,
    /// Pieces of super-frames that found no room, but for those of which the caller of [`Lane::transmit`] knows.
    refused_pieces: Option<Box<DropCounters>>,
    /// Whose frames the port refused, or gave up before their first bit had left.
    port_losses: LossBook,
    /// Whose frames were lost behind it.
    link_losses: LossBook,
}

/// Which ends of a lane a world works on. It is both, but for worlds that share the devices of a network among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneEnds {
    /// The whole lane.
    Both,
    /// The port that sends. What has begun to leave is handed to another world.
    Sender,
    /// The far end. What arrives comes from another world.
    Receiver,
    /// None: this is a place holder.
    Neither,
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

/// The same of a frame for a wire with nothing in front of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wired {
    /// [`Sent::First`].
    First,
    /// [`Sent::Behind`].
    Behind,
    /// The port's buffer is full: [`Sent::Refused`].
    Full,
}

impl Lane {
    /// An idle lane that ends at `to_port` of `to_node`.
    pub fn new(link: LinkId, spec: PortSpec, delay: Span, to_node: NodeId, to_port: PortId) -> Lane {
        let mut lane = Lane {
            ring: FlightRing::default(),
            place: Place::default(),
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
            attend_departures: false,
            ends: LaneEnds::Both,
            direct: true,
            queued: false,
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
            medium: None,
            refused_pieces: None,
            port_losses: LossBook::default(),
            link_losses: LossBook::default(),
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

    /// No frame takes less than this from its hand-over to its arrival, in picoseconds, whatever limits the rate.
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
        match self.transmit_direct::<true>(now, ready, frame) {
            (Wired::First, arrival) => Sent::First(arrival),
            (Wired::Behind, _) => Sent::Behind,
            (Wired::Full, _) => Sent::Refused(DropReason::BufferFull),
        }
    }

    /// Can the link be used, and is nothing but the wire behind the port?
    #[inline(always)]
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// As [`Lane::transmit`], if [`Lane::is_direct`]; with the time at which the last bit arrives. In a large network
    /// (`FAR`) what is needed soon is fetched ahead.
    #[inline(always)]
    pub fn transmit_direct<const FAR: bool>(
        &mut self,
        now: Time,
        ready: Time,
        frame: Frame,
    ) -> (Wired, Time) {
        debug_assert!(self.direct, "a frame passes over queues");
        let wire_len = frame.wire_len();
        let enters = now.max(ready).max(self.entered);
        self.entered = enters;
        let start = if self.free > enters {
            if !self.wait(enters, wire_len) {
                self.refuse(now, frame, DropReason::BufferFull);
                return (Wired::Full, Time::MAX);
            }
            self.free
        } else {
            enters
        };
        let first = self.ring.is_empty();
        let arrival = self.leave::<FAR>(start, frame, wire_len);
        (if first { Wired::First } else { Wired::Behind }, arrival)
    }

    /// The first bit of a frame leaves at `start`, when the port is free. Returns when its last bit arrives.
    #[inline(always)]
    fn leave<const FAR: bool>(&mut self, start: Time, mut frame: Frame, wire_len: u32) -> Time {
        let last = if self.per_byte != UNEVEN {
            let last = start.0.saturating_add(self.per_byte * u64::from(wire_len));
            self.free = Time(last.saturating_add(self.per_gap));
            last
        } else {
            self.serialise(start, wire_len)
        };
        let arrival = Time(last.saturating_add(self.delay));
        frame.leave_by(self.link);
        self.digest.fold(Time(last), digest::content(&frame, wire_len));
        self.taken_bytes += u64::from(wire_len);
        self.ring.push::<FAR>(frame, start, arrival, self.taken_bytes);
        arrival
    }

    /// The same of a port that is down, that has queues, or whose medium is not Ethernet.
    #[inline(never)]
    fn transmit_queued(&mut self, now: Time, ready: Time, frame: Frame) -> Sent {
        if !self.up {
            return self.refuse(now, frame, DropReason::PortDown);
        }
        // No frame is too long for Ethernet.
        if let Some(Medium { framing, .. }) = self.medium
            && framing.len(frame.header(), frame.segment_len()) > framing.most
        {
            return self.refuse(now, frame, DropReason::TooBig);
        }
        let first = self.ring.is_empty();
        let refused = match self.medium {
            Some(_) if frame.offload().is_some() => self.put_pieces(now, ready, frame),
            _ => self.put(now, ready, frame),
        };
        if let Some(reason) = refused {
            return Sent::Refused(reason);
        }
        match self.ring.next_arrival() {
            None => Sent::Waits(self.upcoming()),
            Some(arrival) if first => Sent::First(arrival),
            Some(_) => Sent::Behind,
        }
    }

    /// Takes a frame into the queues or, if there are none, onto the wire; or says why not.
    #[inline(always)]
    fn put(&mut self, now: Time, ready: Time, mut frame: Frame) -> Option<DropReason> {
        let enters = now.max(ready).max(self.entered);
        self.entered = enters;
        if let Some(mut egress) = self.egress.take() {
            egress.hand_over(now, enters, frame, &mut |start, frame| self.take(start, frame));
            self.egress = Some(egress);
            return None;
        }
        if let Some(medium) = self.medium {
            medium.encode(&mut frame);
        }
        let wire_len = frame.wire_len();
        if self.free > enters && !self.wait(enters, wire_len) {
            self.lost_at_port(now, frame, DropReason::BufferFull);
            return Some(DropReason::BufferFull);
        }
        self.leave::<true>(self.free.max(enters), frame, wire_len);
        None
    }

    /// The same of a frame on which a kernel left something undone, which is done first: a medium other than Ethernet
    /// makes its header for one frame. Says why not if no piece was taken; otherwise it counts the others here.
    #[cold]
    fn put_pieces(&mut self, now: Time, ready: Time, frame: Frame) -> Option<DropReason> {
        let tags = frame.clone();
        let (mut taken, mut refused) = (0, Vec::new());
        real_frames(frame, &mut |mut piece| {
            piece.copy_tags(&tags);
            match self.put(now, ready, piece) {
                None => taken += 1,
                Some(reason) => refused.push(reason),
            }
        });
        // The caller counts one.
        let told = match taken {
            0 => Some(refused.pop().unwrap_or_else(|| {
                // What can't be cut has no pieces, none of which told the book of losses.
                self.lost_at_port(now, tags, DropReason::Malformed);
                DropReason::Malformed
            })),
            _ => None,
        };
        refused.into_iter().for_each(|reason| self.refused_pieces.get_or_insert_default().count(reason));
        told
    }

    /// The wire takes a frame from the queues. Returns when the port is free again.
    #[inline]
    fn take(&mut self, start: Time, mut frame: Frame) -> Time {
        if let Some(medium) = self.medium {
            medium.encode(&mut frame);
        }
        let wire_len = frame.wire_len();
        self.leave::<true>(start, frame, wire_len);
        self.free
    }

    /// Puts queues in front of the wire.
    pub fn set_queue(&mut self, tree: Tree) {
        debug_assert!(self.egress.is_none(), "queues are put there once");
        self.egress = Some(Box::new(Egress::new(tree, self.free)));
        self.queued = true;
        self.frame_queue();
        self.direct = false;
    }

    /// Says what frames are on the wire. The caller has seen that none has been sent.
    pub fn set_medium(&mut self, medium: &'static Medium) {
        debug_assert!(self.sent_frames() == 0, "frames on their way are those of another medium");
        self.medium = (!medium.is_plain()).then_some(medium);
        self.frame_queue();
        self.set_up(self.up);
        self.limit_rate(None);
    }

    /// Tells the queues, if there are any, how long frames are on the wire.
    fn frame_queue(&mut self) {
        let framing = self.framing();
        if let Some(egress) = &mut self.egress {
            egress.set_framing(framing);
        }
    }

    /// What frames are on the wire, if not those of Ethernet.
    #[inline]
    pub fn medium(&self) -> Option<&'static Medium> {
        self.medium
    }

    /// How long frames are on the wire.
    pub fn framing(&self) -> Framing {
        self.medium.map_or(Framing::ETHERNET, |medium| medium.framing)
    }

    /// Pieces of super-frames that found no room, but for those of which [`Lane::transmit`] told.
    pub fn refused_pieces(&self) -> DropCounters {
        self.refused_pieces.as_deref().cloned().unwrap_or_default()
    }

    /// The queues, if there are any.
    pub fn egress(&self) -> Option<&Egress> {
        self.egress.as_deref()
    }

    /// True if queue disciplines stand in front of the wire.
    #[inline]
    pub fn is_queued(&self) -> bool {
        self.queued
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
        self.direct = up && self.egress.is_none() && self.medium.is_none();
    }

    /// When the last bit of a frame leaves whose first bit leaves at `start`, at a rate that does not divide evenly.
    #[inline(never)]
    fn serialise(&mut self, start: Time, wire_len: u32) -> u64 {
        if self.free < start {
            self.serialiser.restart();
        }
        let last = start + self.serialiser.advance(wire_len);
        self.free = last + self.serialiser.advance(self.framing().gap);
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
        let framing = self.framing();
        self.per_byte = self.serialiser.per_byte().unwrap_or(UNEVEN);
        self.per_gap = self.serialiser.per_byte().unwrap_or(0) * u64::from(framing.gap);
        // A limit only makes frames take longer, but for those that were taken before.
        let own = Serialiser::new(own, self.spec.clock_offset_ppb);
        self.shortest = self.delay + own.span(framing.least).0 as u64;
    }
}
