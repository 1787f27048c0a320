//! Sources of test packets: a schedule that streams share, and what each has sent.

use crate::pacer::Pacer;
use crate::packet::Template;
use base::random::Stream as Random;
use base::{Frame, Span, StreamId, Time};
use rand_distr::{Distribution, Exp1};

/// When the packets of a source are due.
#[derive(Debug)]
pub enum Arrivals {
    /// Constant bit rate.
    Constant(Pacer),
    /// A Poisson process: independent, exponentially distributed gaps.
    Poisson {
        /// When the next packet is due.
        next: Time,
        /// The mean gap.
        mean: Span,
        /// The source's own random stream.
        random: Box<Random>,
    },
}

impl Arrivals {
    fn next(&self) -> Time {
        match self {
            Arrivals::Constant(pacer) => pacer.next(),
            Arrivals::Poisson { next, .. } => *next,
        }
    }
    #[inline]
    fn advance(&mut self) {
        match self {
            Arrivals::Constant(pacer) => pacer.advance(),
            Arrivals::Poisson { next, mean, random } => {
                let gap: f64 = Exp1.sample(&mut **random);
                *next += mean.mul_f64(gap);
            }
        }
    }
}

#[derive(Debug)]
struct Stream {
    id: StreamId,
    template: Option<Template>,
    sent: u64,
    /// What had been sent at the start of each phase.
    sent_at_phase: Vec<u64>,
}

/// A source that sends for one stream or, in turn, for several: together they keep one schedule, so that the streams of a
/// source with constant bit rate are evenly staggered.
#[derive(Debug)]
pub struct Source {
    arrivals: Arrivals,
    stop: Time,
    streams: Vec<Stream>,
    turn: usize,
    phases: Vec<Time>,
    phase: usize,
    trace: bool,
}

impl Source {
    /// A source with this schedule that sends nothing from `stop` on. `phases` are the times at which a new phase
    /// of the measurement begins, in order. With `trace`, packets write down the links that they cross.
    pub fn new(arrivals: Arrivals, stop: Time, phases: Vec<Time>, trace: bool) -> Source {
        Source { arrivals, stop, streams: Vec::new(), turn: 0, phases, phase: 0, trace }
    }

    /// Adds a stream; it is sent for when its template is set.
    pub fn add_stream(&mut self, id: StreamId) {
        self.streams.push(Stream { id, template: None, sent: 0, sent_at_phase: Vec::new() });
    }

    /// Sets (or takes away) what the packets of the `index`-th stream look like.
    pub fn set_template(&mut self, index: usize, template: Option<Template>) {
        if let Some(stream) = self.streams.get_mut(index) {
            stream.template = template;
        }
    }

    /// When the next packet is due.
    #[inline]
    pub fn next(&self) -> Option<Time> {
        let next = self.arrivals.next();
        (next < self.stop && !self.streams.is_empty()).then_some(next)
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
        let frame = stream.template.as_mut().map(|template| {
            let mut frame = template.frame(sequence, due);
            if self.trace {
                frame.start_trace();
            }
            frame
        });
        self.arrivals.advance();
        Some((due, frame))
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

    /// Packets sent by all streams.
    pub fn total(&self) -> u64 {
        self.streams.iter().map(|s| s.sent).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Shape;
    use base::{Dscp, MacAddr, Streams, TrafficClass};
    use core::net::Ipv4Addr;

    fn template(stream: u32) -> Template {
        Template::new(&Shape {
            stream: StreamId(stream),
            dst_mac: MacAddr::default(),
            src_mac: MacAddr::default(),
            labels: Vec::new(),
            class: TrafficClass::default(),
            src: Ipv4Addr::LOCALHOST,
            dst: Ipv4Addr::LOCALHOST,
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
    fn poisson_gaps_have_the_mean_asked_for() {
        let random = Box::new(Streams::new(1).stream("poisson"));
        let arrivals = Arrivals::Poisson { next: Time(0), mean: Span::from_us(10), random };
        let mut source = Source::new(arrivals, Time::MAX, Vec::new(), false);
        source.add_stream(StreamId(0));
        let n = 100_000u64;
        let mut last = Time(0);
        for _ in 0..n {
            last = source.next().expect("endless");
            source.poll(last);
        }
        let mean = last.0 as f64 / (n - 1) as f64;
        // Four standard errors of the mean of n exponential gaps.
        assert!((mean / 1e7 - 1.0).abs() < 4.0 / (n as f64).sqrt());
    }
}
