//! Sources of test packets: a schedule that streams share, and what each has sent.

use crate::arrivals::Arrivals;
use crate::packet::Template;
use crate::sizes::Sizes;
use base::losses::{Marks, Stretch, Stretches};
use base::runs::{Run, Runs};
use base::{Frame, PortId, Span, StreamId, Time};

#[derive(Debug)]
struct Stream {
    id: StreamId,
    template: Option<Template>,
    sent: u64,
    /// What had been sent at the start of each phase.
    sent_at_phase: Vec<u64>,
    /// When each packet was due, if that is kept.
    departures: Option<Vec<Time>>,
    /// Packets that it could not send, by the bin in which they were due.
    unsent: Vec<(Time, Stretches)>,
}

/// It waits for [`Source::release`].
const HELD: u8 = 1;
/// It waits for [`Source::resume`].
const PAUSED: u8 = 2;

/// A source that sends for one stream or, in turn, for several: together they keep one schedule, so that the streams of
/// a source with constant bit rate are evenly staggered.
#[derive(Debug)]
pub struct Source {
    arrivals: Arrivals,
    /// Sizes of the frames where they differ; absent if all are alike.
    sizes: Option<Box<Sizes>>,
    port: PortId,
    keeps: bool,
    /// Is there more to do than to fill in a template?
    attended: bool,
    stop: Time,
    /// Why it sends nothing: [`HELD`], [`PAUSED`], both, or neither.
    silent: u8,
    /// How much later than its schedule it sends, because it was held or paused.
    late: Span,
    streams: Vec<Stream>,
    turn: usize,
    phases: Vec<Time>,
    phase: usize,
    trace: bool,
    /// Width of the bins in which packets are counted that could not be sent.
    unsent_bin: Span,
    /// What was not sent before one of them, and after it, stays apart.
    marks: Marks,
    /// Packets one after the other that could not be sent; nothing while all could.
    runs: Option<Box<Runs>>,
}

impl Source {
    /// A source with this schedule that sends nothing from `stop` on. `phases` are the times at which a new phase
    /// of the measurement begins, in order. With `trace`, packets write down the links that they cross.
    pub fn new(arrivals: Arrivals, stop: Time, phases: Vec<Time>, trace: bool) -> Source {
        Source {
            arrivals,
            sizes: None,
            port: PortId(0),
            keeps: false,
            attended: trace,
            stop,
            silent: 0,
            late: Span::ZERO,
            streams: Vec::new(),
            turn: 0,
            phases,
            phase: 0,
            trace,
            unsent_bin: Span::from_secs(1),
            marks: Marks::default(),
            runs: None,
        }
    }

    /// The same with frames of sizes that differ.
    #[must_use]
    pub fn with_sizes(self, sizes: Option<Sizes>) -> Source {
        Source { attended: self.attended || sizes.is_some(), sizes: sizes.map(Box::new), ..self }
    }

    /// The same that counts packets which it can't send in bins of `bin`, at least a picosecond, else of a second;
    /// those before and after one of the `marks` apart.
    #[must_use]
    pub fn binned(self, bin: Span, marks: Marks) -> Source {
        Source { unsent_bin: Span(bin.0.max(1)), marks, ..self }
    }

    /// The same by another port than the first.
    #[must_use]
    pub fn by(self, port: PortId) -> Source {
        Source { port, ..self }
    }

    /// The same that keeps, if `keeps`, when each packet was due. That grows without limit.
    #[must_use]
    pub fn keeping(self, keeps: bool) -> Source {
        Source { attended: self.attended || keeps, keeps, ..self }
    }

    /// The same that, if `held`, does not begin before it is released.
    #[must_use]
    pub fn held(self, held: bool) -> Source {
        Source { silent: if held { HELD } else { 0 }, ..self }
    }

    /// Lets it begin, and says whether it was held. If its first packet was due before `now`, the whole schedule is
    /// that much later.
    pub fn release(&mut self, now: Time) -> bool {
        self.speak(now, HELD)
    }

    /// Lets it send nothing from now on.
    pub fn pause(&mut self) {
        self.silent |= PAUSED;
    }

    /// Lets it go on, and says whether it was paused. If its next packet was due before `now`, the whole schedule is
    /// that much later.
    pub fn resume(&mut self, now: Time) -> bool {
        self.speak(now, PAUSED)
    }

    fn speak(&mut self, now: Time, why: u8) -> bool {
        if self.silent & why == 0 {
            return false;
        }
        self.silent &= !why;
        let due = self.arrivals.next() + self.late;
        self.late += now.max(due) - due;
        true
    }

    /// The port that packets leave by.
    #[inline]
    pub fn port(&self) -> PortId {
        self.port
    }

    /// Adds a stream; it is sent for when its template is set.
    pub fn add_stream(&mut self, id: StreamId) {
        let departures = self.keeps.then(Vec::new);
        let (sent_at_phase, unsent) = (Vec::new(), Vec::new());
        self.streams.push(Stream { id, template: None, sent: 0, sent_at_phase, departures, unsent });
    }

    /// Sets (or takes away) what the packets of the `index`-th stream look like.
    pub fn set_template(&mut self, index: usize, template: Option<Template>) {
        if let Some(stream) = self.streams.get_mut(index) {
            self.attended |= template.as_ref().is_some_and(Template::is_ipv6);
            stream.template = template;
        }
    }

    /// When the next packet is due.
    #[inline]
    pub fn next(&self) -> Option<Time> {
        let next = self.arrivals.next() + self.late;
        (next < self.stop && !self.streams.is_empty() && self.silent == 0).then_some(next)
    }

    /// The next packet, if one is due at `now`. The turn of a stream without a template passes: it counts as sent and
    /// lost, since the schedule does not wait.
    #[inline]
    pub fn poll(&mut self, now: Time) -> Option<(Time, Option<Frame>)> {
        let due = self.next().filter(|t| *t <= now)?;
        while self.phases.get(self.phase).is_some_and(|start| *start <= due) {
            self.phase += 1;
            self.streams.iter_mut().for_each(|s| s.sent_at_phase.push(s.sent));
        }
        let turn = self.turn;
        self.turn = if turn + 1 == self.streams.len() { 0 } else { turn + 1 };
        let stream = &mut self.streams[turn];
        let sequence = stream.sent as u32;
        stream.sent += 1;
        let frame = match &mut stream.template {
            Some(template) if !self.attended => Some(template.frame(sequence, due)),
            _ => self.poll_attended(turn, sequence, due),
        };
        self.arrivals.advance();
        Some((due, frame))
    }

    /// The packet of a source with more to do than to fill in a template, or of a stream without one.
    #[inline(never)]
    fn poll_attended(&mut self, turn: usize, sequence: u32, due: Time) -> Option<Frame> {
        let turns = self.streams.len() as u64;
        let stream = self.streams.get_mut(turn)?;
        if let Some(departures) = &mut stream.departures {
            departures.push(due);
        }
        // A size is drawn for every packet, sent or not: the next one has its own whatever became of this.
        let size = self.sizes.as_mut().map(|sizes| sizes.draw());
        let Some(template) = &mut stream.template else {
            let bin = self.unsent_bin.0 as u64;
            let start = Time(due.0 / bin * bin);
            if stream.unsent.last().is_none_or(|(last, _)| *last != start) {
                stream.unsent.push((start, Stretches::default()));
            }
            if let Some((_, stretches)) = stream.unsent.last_mut() {
                stretches.add(due, self.unsent_bin, &self.marks);
            }
            let number = u64::from(sequence) * turns + turn as u64;
            self.runs.get_or_insert_default().add(due, number, &self.marks);
            return None;
        };
        if let Some(size) = size {
            template.set_size(size);
        }
        let mut frame = template.frame_of_any(sequence, due);
        if self.trace {
            frame.start_trace();
        }
        Some(frame)
    }

    /// For each stream, the first sequence number of each phase and, last, the number of packets sent.
    pub fn sent(&self) -> impl Iterator<Item = (StreamId, Vec<u64>)> {
        self.streams.iter().map(|s| {
            let mut marks = s.sent_at_phase.clone();
            marks.resize(self.phases.len(), s.sent);
            marks.push(s.sent);
            (s.id, marks)
        })
    }

    /// For each stream that keeps them, when its packets were due, in order.
    pub fn departures(&self) -> impl Iterator<Item = (StreamId, &[Time])> {
        self.streams.iter().filter_map(|s| Some((s.id, s.departures.as_deref()?)))
    }

    /// Packets that streams could not send: of which, when the bin begins in which they were due, and how many.
    pub fn unsent(&self) -> impl Iterator<Item = (StreamId, Time, u64)> {
        let bins = self.streams.iter().flat_map(|s| s.unsent.iter().map(|bin| (s.id, bin)));
        bins.map(|(id, (start, stretches))| (id, *start, stretches.packets()))
    }

    /// When they were due.
    pub fn unsent_times(&self) -> impl Iterator<Item = (StreamId, Stretch)> {
        let bins = self.streams.iter().flat_map(|s| s.unsent.iter().map(|bin| (s.id, &bin.1)));
        bins.flat_map(|(id, stretches)| stretches.iter().map(move |stretch| (id, stretch)))
    }

    /// Packets one after the other that it could not send, numbered over all its streams.
    pub fn unsent_runs(&self) -> impl Iterator<Item = Run> {
        self.runs.iter().flat_map(|runs| runs.iter())
    }

    /// Packets sent by all streams.
    pub fn total(&self) -> u64 {
        self.streams.iter().map(|s| s.sent).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pacer::Pacer;
    use crate::packet::{Addresses, Ports, Shape};
    use base::{Dscp, MacAddr, TrafficClass};
    use core::net::Ipv4Addr;

    fn template(stream: u32) -> Template {
        Template::new(&Shape {
            stream: StreamId(stream),
            dst_mac: MacAddr::default(),
            src_mac: MacAddr::default(),
            labels: Vec::new(),
            class: TrafficClass::default(),
            addresses: Addresses::V4(Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST),
            ports: Ports::from(49_152),
            dscp: Dscp::DEFAULT,
            ttl: 64,
            size: 64,
        })
    }

    #[test]
    fn streams_take_turns_and_phases_are_marked() {
        // One packet per microsecond.
        let pacer = Pacer::new(Time(0), 1_000, 1_000_000_000);
        let phases = vec![Time(0), Time(3_000_000)];
        let mut source = Source::new(Arrivals::Constant(pacer), Time(5_000_000), phases, false);
        (0..2).for_each(|i| {
            source.add_stream(StreamId(i));
            source.set_template(i as usize, Some(template(i)));
        });
        let mut times = Vec::new();
        while let Some(t) = source.next() {
            let (due, frame) = source.poll(t).expect("due");
            assert!(frame.is_some());
            times.push(due.0 / 1_000_000);
        }
        assert_eq!(times, [0, 1, 2, 3, 4]);
        let sent: Vec<_> = source.sent().collect();
        assert_eq!(sent, [(StreamId(0), vec![0, 2, 3]), (StreamId(1), vec![0, 1, 2])]);
    }

    #[test]
    fn a_source_that_is_held_begins_when_it_is_released() {
        let pacer = || Arrivals::Constant(Pacer::new(Time(1_000_000), 1_000, 1_000_000_000));
        let made = || {
            let mut source = Source::new(pacer(), Time(6_000_000), Vec::new(), false).held(true);
            source.add_stream(StreamId(0));
            source.set_template(0, Some(template(0)));
            source
        };
        // Before its first packet is due, nothing changes; behind it, all is later. What is due from `stop` on is not
        // sent.
        for (released, expected) in [(400_000, vec![1, 2, 3, 4, 5]), (3_000_000, vec![3, 4, 5])] {
            let mut source = made();
            assert!(source.next().is_none() && source.poll(Time(5_000_000)).is_none());
            assert!(source.release(Time(released)) && !source.release(Time(9_000_000)));
            let mut times = Vec::new();
            while let Some(due) = source.next() {
                assert!(source.poll(due).is_some_and(|(_, frame)| frame.is_some()));
                times.push(due.0 / 1_000_000);
            }
            assert_eq!(times, expected);
            assert_eq!(source.total(), expected.len() as u64);
        }
    }

    /// A packet each microsecond, from 1 us on, until 20 us; times are in nanoseconds.
    fn steady() -> Source {
        let pacer = Pacer::new(Time(1_000_000), 1_000, 1_000_000_000);
        let mut source = Source::new(Arrivals::Constant(pacer), Time(20_000_000), Vec::new(), false);
        source.add_stream(StreamId(0));
        source.set_template(0, Some(template(0)));
        source
    }

    /// What it sends up to a time.
    fn sent_by(source: &mut Source, until: u64) -> Vec<u64> {
        let polled = core::iter::from_fn(|| source.poll(Time(until * 1_000)));
        polled.map(|(due, _)| due.0 / 1_000).collect()
    }

    #[test]
    fn a_source_that_is_paused_goes_on_where_it_was() {
        let mut source = steady();
        let at = |ns: u64| Time(ns * 1_000);
        assert!(!source.resume(at(0)), "it was not paused");
        assert_eq!(sent_by(&mut source, 2_500), [1_000, 2_000]);
        // Within a gap nothing changes.
        source.pause();
        assert!(source.next().is_none() && source.resume(at(2_900)));
        assert_eq!(sent_by(&mut source, 3_000), [3_000]);
        // What was due meanwhile is sent when it goes on, and all that follows is as much later. Twice is once.
        source.pause();
        source.pause();
        assert_eq!(sent_by(&mut source, 6_000), [0u64; 0]);
        assert!(source.resume(at(6_200)) && !source.resume(at(6_700)));
        assert_eq!(sent_by(&mut source, 8_200), [6_200, 7_200, 8_200]);
        // At the very time that the next is due, it goes at its time.
        source.pause();
        assert!(source.resume(at(9_200)));
        assert_eq!(sent_by(&mut source, 9_200), [9_200]);
        // Its end stays where it was.
        assert_eq!(sent_by(&mut source, 99_000).last(), Some(&19_200));
        source.pause();
        assert!(source.resume(at(30_000)) && source.next().is_none());
        assert_eq!(source.total(), 17);
    }

    #[test]
    fn a_source_that_is_held_and_paused_waits_for_both() {
        let at = |ns: u64| Time(ns * 1_000);
        for resumed_first in [true, false] {
            let mut source = steady().held(true);
            source.pause();
            let first = if resumed_first { source.resume(at(3_500)) } else { source.release(at(3_500)) };
            assert!(first && source.next().is_none());
            let second = if resumed_first { source.release(at(5_500)) } else { source.resume(at(5_500)) };
            assert!(second);
            assert_eq!(sent_by(&mut source, 7_000), [5_500, 6_500]);
        }
    }

    #[test]
    fn sizes_are_those_listed_and_departures_are_kept() {
        let pacer = Pacer::new(Time(0), 1_000, 1_000_000_000);
        let sizes = Sizes::Listed { sizes: [100, 9_000, 64].into(), at: 0 };
        let source = Source::new(Arrivals::Constant(pacer), Time::MAX, Vec::new(), false);
        let mut source = source.with_sizes(Some(sizes)).by(PortId(3)).keeping(true);
        source.add_stream(StreamId(0));
        // The first is lost, and nevertheless has the first size.
        let mut seen = Vec::new();
        for k in 0..5u64 {
            let (_, frame) = source.poll(Time(k * 1_000_000)).expect("due");
            seen.push(frame.map(|frame| frame.wire_len()));
            source.set_template(0, Some(template(0)));
        }
        assert_eq!(seen, [None, Some(9_000), Some(64), Some(100), Some(9_000)]);
        let kept: Vec<_> = source.departures().map(|(_, times)| times.len()).collect();
        assert_eq!((kept, source.port()), (vec![5], PortId(3)));
    }
}
