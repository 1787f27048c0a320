//! Sinks: what arrived of each stream, in each phase, and how late.

use crate::batches::Batches;
use crate::checks::{Checks, Expected, Seen, Taken, Whose};
use crate::course::Course;
use crate::delay::DelayStats;
use crate::packet::{Ports, Stamp, read_frame};
use crate::places::Places;
use crate::sequence::{self, Arrival, Sequence};
use crate::series::Series;
use crate::together::{Of, Togethers};
use base::frame::{FCS_LEN, Framing};
use base::{Frame, Serialiser, Span, StreamId, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wire::measurement;

base::words! {
    /// From which bit to which bit delay is measured (RFC 1242, 3.8).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Convention {
        /// First bit out of the source to first bit into the sink: RFC 1242's definition for bit-forwarding devices;
        /// last to last is the same for packets whose size does not change.
        FirstToFirst = "first-to-first",
        /// First bit out of the source to last bit into the sink.
        FirstToLast = "first-to-last",
        /// Last bit out of the source to last bit into the sink.
        LastToLast = "last-to-last",
        /// Last bit out of the source to first bit into the sink: RFC 1242's definition for store-and-forward devices.
        LastToFirst = "last-to-first",
    }
    default FirstToFirst;
}

impl Convention {
    /// The delay of a packet: its first bit was due to leave at `departure`, its last arrived at `arrival`, and it
    /// takes `out` and `into` on the wires of source and sink.
    #[inline]
    pub fn delay(
        self,
        departure: Time,
        arrival: Time,
        out: impl FnOnce() -> Span,
        into: impl FnOnce() -> Span,
    ) -> Span {
        arrival - departure - self.on_wires(out, into)
    }

    /// How much less it is than from first bit out to last bit in.
    fn on_wires(self, out: impl FnOnce() -> Span, into: impl FnOnce() -> Span) -> Span {
        match self {
            Convention::FirstToLast => Span(0),
            Convention::FirstToFirst => into(),
            Convention::LastToLast => out(),
            Convention::LastToFirst => out() + into(),
        }
    }
}

/// What arrived of a stream in a phase. What each packet changes lies in two cache lines.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct PhaseStats {
    /// Delay of the packets and its variation, duplicates left out.
    pub delay: DelayStats,
    /// Packets that had arrived before.
    pub duplicated: u64,
    /// Packets that arrived after later ones (RFC 4737).
    pub reordered: u64,
    /// What was wrong with packets, duplicates included.
    pub checks: Checks,
}

const _: () = assert!(size_of::<DelayStats>() == 128);

impl PhaseStats {
    /// Packets, duplicates left out.
    pub fn received(&self) -> u64 {
        self.delay.count()
    }
}

/// What became of a test packet at a sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receipt {
    /// It was expected.
    Taken,
    /// It has the label of another LSP, or belongs to a stream that is not expected.
    Misdelivered,
    /// The instrument itself had sent it: the router beside it had no LSP for it, and gave it back.
    Returned,
    /// It has a label that nobody gave.
    UnknownLabel,
}

/// What arrived of a stream: two cache lines, since a sink may have hundreds of streams that take turns.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct StreamStats {
    /// What the last packet looked like that was as it should be.
    seen: Seen,
    /// Bytes on the wire of the last packet, and what its delay is less for the wires at both ends.
    on_wires: (u32, Span),
    /// Sequence numbers that arrived, so that losses, duplicates and reordering are known.
    pub sequence: Sequence,
    /// Per phase: the first for packets due before any phase begins, then one each.
    pub phases: Box<[PhaseStats]>,
    /// What few packets need.
    rest: Box<Rest>,
    /// Where what its flow has in common is.
    together: u32,
    /// Is every packet kept?
    keeps: bool,
}

const _: () = assert!(size_of::<StreamStats>() == 128);

/// What is known of a stream that few of its packets need.
#[derive(Clone, Debug)]
struct Rest {
    /// The UDP ports of its packets.
    ports: Ports,
    /// The wires of the ports that send the stream and that take it.
    wires: Wires,
    /// What its packets are to look like.
    expected: Expected,
    /// Every packet, if that is kept.
    kept: Vec<Kept>,
}

impl StreamStats {
    /// Every packet in order of arrival, duplicates left out, if that is kept.
    pub fn kept(&self) -> Option<&[Kept]> {
        self.keeps.then_some(&self.rest.kept)
    }

    /// What the delay of a packet of this length is less for the wires at both ends. Packets in a row are often of the
    /// same length.
    #[inline]
    fn on_wires(&mut self, convention: Convention, wire_len: u32) -> Span {
        if self.on_wires.0 != wire_len {
            self.find_on_wires(convention, wire_len);
        }
        self.on_wires.1
    }

    #[inline(never)]
    fn find_on_wires(&mut self, convention: Convention, wire_len: u32) {
        let Wires { source: out, sink: into } = &self.rest.wires;
        self.on_wires = (wire_len, convention.on_wires(|| out.span(wire_len), || into.span(wire_len)));
    }

    /// Looks at a packet that does not look like the one before. `whose` says whose its outermost label is.
    #[inline(never)]
    fn look(
        &mut self,
        phase: usize,
        stamp: &Stamp,
        frame: &Frame,
        state: u64,
        whose: impl FnOnce(Option<&mut Taken>) -> Whose,
    ) -> Receipt {
        let Rest { expected, .. } = &mut *self.rest;
        let checks = &mut self.phases[phase].checks;
        match whose(expected.lsp.as_mut()) {
            Whose::Nobody => Receipt::UnknownLabel,
            Whose::Other => {
                checks.misdelivered += 1;
                Receipt::Misdelivered
            }
            right => {
                checks.look(expected, &mut self.seen, (right, state), stamp, frame);
                Receipt::Taken
            }
        }
    }
}

/// The wires at the ends of a stream's way.
#[derive(Clone, Debug)]
pub struct Wires {
    /// That of the port that sends.
    pub source: Wire,
    /// That of the port that takes.
    pub sink: Wire,
}

/// How long frames take on the wire of a port.
#[derive(Clone, Debug)]
pub struct Wire {
    /// The port's rate.
    pub serialiser: Serialiser,
    /// What the medium puts around a packet.
    pub framing: Framing,
}

impl Wire {
    /// How long a test packet takes that is a frame of `wire_len` bytes with Ethernet's header and trailer. It is never
    /// so short that it needs padding.
    #[inline]
    fn span(&self, wire_len: u32) -> Span {
        let inside = wire_len.saturating_sub(FCS_LEN).saturating_add_signed(self.framing.typed);
        self.serialiser.span(self.framing.framed_len(inside))
    }
}

/// A packet of a stream that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its number in the stream, from zero.
    pub sequence: u64,
    /// When it was due to leave.
    pub departure: Time,
    /// When its last bit arrived.
    pub arrival: Time,
    /// Its delay by the sink's convention.
    pub delay: Span,
}

/// One test packet as it arrived: an entry of a sink's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// What its measurement payload said.
    pub stamp: Stamp,
    /// When its last bit arrived.
    pub arrival: Time,
    /// Bytes of its frame, with frame check sequence.
    pub wire_len: u32,
}

/// A sink. Phases go by the departure that was intended: a packet belongs to the phase in which it was due.
#[derive(Debug)]
pub struct Sink {
    streams: Vec<StreamStats>,
    /// Where the statistics of a stream are: a sink has few of a network's streams.
    places: Places,
    starts: Vec<Time>,
    convention: Convention,
    series: Series,
    /// One for each flow that has streams here.
    together: Togethers,
    unknown: u64,
    /// Packets of streams that are not expected, by stream and phase.
    astray: BTreeMap<(StreamId, usize), u64>,
    /// Set when there are any: one for all sinks of a network, so that nobody has to ask each.
    has_astray: Arc<AtomicBool>,
    /// Streams that the same instrument sends.
    own: BTreeSet<StreamId>,
    log: Option<Vec<LogEntry>>,
}

impl Default for Sink {
    /// A sink without phases, in whose place a testbed puts one that measures as its description says.
    fn default() -> Sink {
        Sink::new(Vec::new(), Convention::default(), Series::new(Span::from_ms(10)))
    }
}

impl Sink {
    /// A sink for the measurement phases that begin at `starts`.
    pub fn new(starts: Vec<Time>, convention: Convention, series: Series) -> Sink {
        let places = Places::default();
        let streams = Vec::new();
        Sink {
            streams,
            places,
            starts,
            convention,
            series,
            together: Togethers::default(),
            unknown: 0,
            astray: BTreeMap::new(),
            has_astray: Arc::default(),
            own: BTreeSet::new(),
            log: None,
        }
    }

    /// Has it set what says of all sinks of a network that packets came astray.
    pub fn share(&mut self, has_astray: &Arc<AtomicBool>) {
        self.has_astray.clone_from(has_astray);
    }

    /// The instrument sends a stream: what comes back of it was not delivered to a wrong place, but not sent on.
    pub fn add_own(&mut self, stream: StreamId) {
        self.own.insert(stream);
    }

    /// Lets the phases of the measurement begin at these times from now on. What is counted already stays where it is.
    pub fn set_phases(&mut self, starts: Vec<Time>) {
        let count = self.starts.len().max(starts.len()) + 1;
        for stream in &mut self.streams {
            let mut phases = core::mem::take(&mut stream.phases).into_vec();
            phases.resize_with(count, PhaseStats::default);
            stream.phases = phases.into();
        }
        self.together.set_phases(count);
        self.starts = starts;
    }

    /// Keeps an entry for every packet from now on, duplicates and unknown streams included. Off unless asked for: it
    /// grows without limit.
    pub fn keep_log(&mut self) {
        self.log.get_or_insert_default();
    }

    /// The packets since [`Sink::keep_log`], in order of arrival.
    pub fn log(&self) -> &[LogEntry] {
        self.log.as_deref().unwrap_or_default()
    }

    /// Expects a stream of a flow or of a demand between these ports, and keeps every packet of it if `keep`. What
    /// arrives over time counts for `class`. Packets of other streams are counted as unknown.
    pub fn expect(
        &mut self,
        stream: StreamId,
        (of, class): (Of, u32),
        ports: Ports,
        wires: Wires,
        expected: Expected,
        keep: bool,
    ) {
        let stats = StreamStats {
            seen: Seen::NOTHING,
            on_wires: (0, Span(0)),
            sequence: Sequence::default(),
            phases: (0..=self.starts.len()).map(|_| PhaseStats::default()).collect(),
            rest: Box::new(Rest { ports, wires, expected, kept: Vec::new() }),
            together: self.together.place(of, class, self.starts.len() + 1, self.series.width()),
            keeps: keep,
        };
        match self.places.get(stream) {
            Some(place) => self.streams[place as usize] = stats,
            None => {
                self.places.insert(stream, self.streams.len() as u32);
                self.streams.push(stats);
            }
        }
    }

    /// Keeps the delay over time of a flow with streams that are expected.
    pub fn follow(&mut self, flow: u32) {
        self.together.follow(flow, self.series.width());
    }

    /// Is this the payload of a test packet? To the port of test packets, it is. To others, where anything may come,
    /// only in a packet of a stream that is expected, from that stream's own port.
    #[inline]
    pub fn takes(&self, stamp: &Stamp) -> bool {
        stamp.ports.dst == measurement::PORT
            || self.stream(stamp.stream).is_some_and(|stream| stream.rest.ports == stamp.ports)
    }

    /// The stamp of a frame that holds a test packet for this sink; `now` completes its time of departure.
    #[inline]
    pub fn stamp(&self, now: Time, frame: &Frame) -> Option<Stamp> {
        read_frame(frame, now).filter(|stamp| self.takes(stamp))
    }

    /// Takes a test packet that is handed over at `now`. One that came in from an interface arrived when the kernel
    /// says so. `whose` says whose its outermost label is. It is told the LSP of the stream, if that is expected and
    /// takes one. Its answer for a label holds as long as `state` is the same number.
    #[inline]
    pub fn receive(
        &mut self,
        now: Time,
        stamp: Stamp,
        frame: &Frame,
        state: u64,
        whose: impl FnOnce(Option<&mut Taken>) -> Whose,
    ) -> Receipt {
        let (now, wire_len) = (frame.arrived().unwrap_or(now), frame.wire_len());
        if let Some(log) = &mut self.log {
            log.push(LogEntry { stamp, arrival: now, wire_len });
        }
        let index = self.starts.iter().take_while(|start| **start <= stamp.departure).count();
        let Some(place) = self.places.get(stamp.stream) else {
            return self.receive_unknown(index, &stamp, whose(None));
        };
        let stream = &mut self.streams[place as usize];
        if stream.seen.is_like(state, frame.header(), frame) {
            stream.phases[index].checks.again(&stream.seen);
        } else {
            let receipt = stream.look(index, &stamp, frame, state, whose);
            if receipt != Receipt::Taken {
                return receipt;
            }
        }
        self.arrive_at(place, index, now, stamp, wire_len);
        Receipt::Taken
    }

    /// Counts a test packet of a stream that is not expected.
    #[inline(never)]
    fn receive_unknown(&mut self, phase: usize, stamp: &Stamp, whose: Whose) -> Receipt {
        if whose == Whose::Nobody {
            return Receipt::UnknownLabel;
        }
        if self.own.contains(&stamp.stream) {
            return Receipt::Returned;
        }
        self.unknown += 1;
        *self.astray.entry((stamp.stream, phase)).or_default() += 1;
        self.has_astray.store(true, Ordering::Relaxed);
        Receipt::Misdelivered
    }

    /// Takes a packet of the stream at a place, in a phase.
    #[inline(always)]
    fn arrive_at(&mut self, place: u32, index: usize, now: Time, stamp: Stamp, wire_len: u32) {
        let stream = &mut self.streams[place as usize];
        let delay = now - stamp.departure - stream.on_wires(self.convention, wire_len);
        let phase = &mut stream.phases[index];
        let number = stream.sequence.extend(stamp.sequence);
        let seen = sequence::Numbered { number, departure: stamp.departure, arrival: now };
        match stream.sequence.arrive(seen) {
            Arrival::InOrder => {}
            Arrival::Reordered => phase.reordered += 1,
            Arrival::Duplicate => {
                phase.duplicated += 1;
                return;
            }
        }
        phase.delay.record_next(number, delay);
        if stream.keeps {
            stream.rest.kept.push(Kept { sequence: number, departure: stamp.departure, arrival: now, delay });
        }
        self.together.record(stream.together, index, now, delay);
        self.series.record(now, delay);
    }

    /// Packets of streams that are not expected here, by stream and the phase in which they came.
    pub fn astray(&self) -> impl Iterator<Item = ((StreamId, usize), u64)> {
        self.astray.iter().map(|(of, count)| (*of, *count))
    }

    /// Packets of a stream that arrived, duplicates included.
    pub fn arrived(&self, stream: StreamId) -> u64 {
        let phases = self.stream(stream).into_iter().flat_map(|stream| &stream.phases);
        phases.map(|phase| phase.received() + phase.duplicated).sum()
    }

    /// What arrived of a stream.
    pub fn stream(&self, stream: StreamId) -> Option<&StreamStats> {
        self.streams.get(self.places.get(stream)? as usize)
    }

    /// Delay over time, all streams together.
    pub fn series(&self) -> &Series {
        &self.series
    }

    /// Delay over time of a flow that is followed.
    pub fn course(&self, flow: u32) -> Option<&Course> {
        self.together.course(flow)
    }

    /// Flows and classes over time.
    pub fn courses(&self) -> &Togethers {
        &self.together
    }

    /// The delays of a flow in order of arrival, by phase as in [`StreamStats::phases`].
    pub fn batches(&self, flow: u32) -> &[Batches] {
        self.together.batches(flow)
    }

    /// Packets of streams that nobody announced.
    pub fn unknown(&self) -> u64 {
        self.unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rate;
    use core::net::{IpAddr, Ipv4Addr};

    fn plain() -> Expected {
        Expected::plain(IpAddr::V4(Ipv4Addr::LOCALHOST), 64)
    }

    #[test]
    fn conventions_differ_by_serialisation_times() {
        let (out, into) = (Span(100), Span(30));
        let delay = |c: Convention| c.delay(Time(1_000), Time(2_000), || out, || into).0;
        assert_eq!(delay(Convention::FirstToLast), 1_000);
        assert_eq!(delay(Convention::FirstToFirst), 970);
        assert_eq!(delay(Convention::LastToLast), 900);
        assert_eq!(delay(Convention::LastToFirst), 870);
    }

    #[test]
    fn a_kernel_s_stamp_is_the_time_of_arrival() {
        let mut sink = Sink::new(Vec::new(), Convention::FirstToLast, Series::new(Span::from_ms(1)));
        sink.keep_log();
        let ports = Ports::from(49_152);
        let stamp = Stamp { ports, stream: StreamId(0), sequence: 0, departure: Time(100), ip: 14 };
        let mut frame = Frame::from_bytes(&[0; 60]);
        sink.receive(Time(900), stamp, &frame, 0, |_| Whose::Unknown);
        frame.set_arrived(Time(700));
        sink.receive(Time(900), stamp, &frame, 0, |_| Whose::Unknown);
        let arrivals: Vec<_> = sink.log().iter().map(|entry| entry.arrival).collect();
        assert_eq!(arrivals, [Time(900), Time(700)]);
    }

    #[test]
    fn packets_to_other_ports_are_those_of_streams_that_are_expected() {
        let wire = Wire { serialiser: Serialiser::new(Rate::from_gbps(1), 0), framing: Framing::ETHERNET };
        let mut sink = Sink::new(Vec::new(), Convention::FirstToLast, Series::new(Span::from_ms(1)));
        let sip = Ports { src: 49_160, dst: 5_060 };
        sink.expect(
            StreamId(0),
            (Of::Flow(0), 0),
            sip,
            Wires { source: wire.clone(), sink: wire },
            plain(),
            false,
        );
        let takes = |stream, src, dst| {
            let (ports, stream) = (Ports { src, dst }, StreamId(stream));
            sink.takes(&Stamp { ports, stream, sequence: 0, departure: Time(0), ip: 14 })
        };
        assert!(takes(0, 49_160, 5_060));
        assert!(takes(7, 1, measurement::PORT), "nobody else sends there");
        // A probe of a traceroute, whose payload begins with zeros, or somebody's call.
        assert!(!takes(0, 40_000, 33_434) && !takes(0, 5_060, 5_060) && !takes(7, 49_160, 5_060));
    }

    #[test]
    fn packets_are_counted_in_the_phase_in_which_they_were_due() {
        let wire = Wire { serialiser: Serialiser::new(Rate::from_gbps(1), 0), framing: Framing::ETHERNET };
        let starts = vec![Time(0), Time(1_000)];
        let series = Series::new(Span::from_ms(1));
        let mut sink = Sink::new(starts, Convention::FirstToLast, series);
        let wires = Wires { source: wire.clone(), sink: wire };
        let ports = Ports::from(49_152);
        sink.expect(StreamId(3), (Of::Flow(7), 0), ports, wires, plain(), true);
        sink.follow(7);
        sink.add_own(StreamId(5));
        let frame = Frame::from_bytes(&[0; 60]);
        let mut arrive = |at, stream, sequence, departure| {
            let departure = Time(departure);
            let stamp = Stamp { ports, stream: StreamId(stream), sequence, departure, ip: 14 };
            sink.receive(Time(at), stamp, &frame, 0, |_| Whose::Unknown)
        };
        arrive(1_500, 3, 0, 500);
        arrive(2_500, 3, 2, 1_500);
        arrive(2_600, 3, 1, 1_000);
        arrive(2_700, 3, 1, 1_000);
        assert_eq!(arrive(2_700, 4, 0, 0), Receipt::Misdelivered);
        assert_eq!(arrive(2_700, 5, 0, 0), Receipt::Returned);
        let stats = sink.stream(StreamId(3)).expect("announced");
        let counts: Vec<_> = stats.phases.iter().map(|p| (p.received(), p.reordered, p.duplicated)).collect();
        assert_eq!(counts, [(0, 0, 0), (1, 0, 0), (2, 1, 1)]);
        assert_eq!((stats.sequence.missing(0, 3), sink.unknown()), (0, 1));
        assert_eq!(sink.astray().collect::<Vec<_>>(), [((StreamId(4), 1), 1)]);
        let bins = sink.course(7).expect("followed").bins();
        assert_eq!((bins.len(), bins[0].packets), (1, 3));
        assert!(sink.course(3).is_none());
    }
}
