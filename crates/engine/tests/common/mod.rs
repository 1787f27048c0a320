//! Devices as simple as can be: what is tested is the engine.
#![allow(dead_code)]

use base::device::DropReason;
use base::{Body, Command, Device, Event, Frame, Output, PortId, Span, Time, Verdict};
use std::collections::VecDeque;

/// Sends what arrives by port `i` out of `out[i]`, after `latency`.
pub struct Forwarder {
    pub out: Vec<Option<PortId>>,
    pub latency: Span,
    /// Use the slow path only.
    pub punts: bool,
    pub commands: Vec<(Time, Command)>,
    pub forwarded: u64,
    outputs: VecDeque<Output>,
}

impl Forwarder {
    pub fn new(out: &[u16]) -> Forwarder {
        Forwarder {
            out: out.iter().map(|&p| if p == u16::MAX { None } else { Some(PortId(p)) }).collect(),
            latency: Span::ZERO,
            punts: false,
            commands: Vec::new(),
            forwarded: 0,
            outputs: VecDeque::new(),
        }
    }
    /// From port 0 to port 1 and back.
    pub fn transit() -> Forwarder {
        Forwarder::new(&[1, 0])
    }
    fn out(&self, port: PortId) -> Option<PortId> {
        self.out.get(port.index()).copied().flatten()
    }
}

impl Device for Forwarder {
    fn forward_batch(&mut self, now: Time, port: PortId, frames: &mut [Frame], verdicts: &mut [Verdict]) {
        if self.punts {
            return verdicts.fill(Verdict::Punt);
        }
        let ready = now + self.latency;
        self.forwarded += frames.len() as u64;
        verdicts.fill(match self.out(port) {
            Some(port) => Verdict::Transmit { port, ready },
            None => Verdict::Drop(DropReason::NoRoute),
        });
    }
    fn handle_packet(&mut self, now: Time, port: PortId, frame: Frame) {
        self.forwarded += 1;
        if let Some(port) = self.out(port) {
            self.outputs.push_back(Output::Transmit { port, frame, ready: now + self.latency });
        }
    }
    fn handle_timeout(&mut self, _: Time) {}
    fn handle_command(&mut self, now: Time, command: Command) {
        match command {
            Command::PortUp(p) => self.outputs.push_back(Output::Event(Event::PortUp { port: p.0 })),
            Command::PortDown(p) => self.outputs.push_back(Output::Event(Event::PortDown { port: p.0 })),
            _ => {}
        }
        self.commands.push((now, command));
    }
    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }
    fn poll_timeout(&self) -> Option<Time> {
        None
    }
}

/// What a device under test was given, and frames that it was handed and that wait in it before they go on.
#[derive(Default)]
pub struct Diary {
    /// When something came, by which port, and what it was: a frame's number, or what [`Diary`] says of it.
    pub log: Vec<(Time, u16, u64)>,
    pub queue: VecDeque<(Time, PortId, Frame)>,
    pub outputs: VecDeque<Output>,
}

impl Diary {
    /// Notes a punted frame (a million and its number), and keeps it for `wait` picoseconds if it has a way `out`.
    pub fn punted(&mut self, now: Time, port: PortId, frame: Frame, out: Option<PortId>, wait: u64) {
        self.log.push((now, port.0, 1_000_000 + read(&frame).1));
        self.outputs.push_back(Output::Event(Event::PortUp { port: port.0 }));
        if let Some(out) = out {
            self.queue.push_back((Time(now.0 + wait), out, frame));
        }
    }
    /// Sends what has waited long enough (two millions).
    pub fn release(&mut self, now: Time) {
        while self.queue.front().is_some_and(|q| q.0 <= now) {
            let Some((_, port, frame)) = self.queue.pop_front() else { break };
            self.log.push((now, port.0, 2_000_000));
            self.outputs.push_back(Output::Transmit { port, frame, ready: now });
        }
    }
    /// When the first frame that waits goes on.
    pub fn next(&self) -> Option<Time> {
        self.queue.front().map(|q| q.0)
    }
}

/// Sends numbered frames by a port: one each `interval` from `first` on, or at given times.
pub struct Source {
    pub port: PortId,
    pub times: Vec<Time>,
    pub sizes: Vec<u32>,
    pub stream: u32,
    sent: usize,
    due: VecDeque<Frame>,
}

/// A frame of `wire_len` bytes on the wire that carries a stream and a number.
pub fn frame(stream: u32, number: u64, wire_len: u32) -> Frame {
    let mut header = vec![0x02; 12];
    header.extend([0x88, 0xb5]);
    header.extend(stream.to_be_bytes());
    header.extend(number.to_be_bytes());
    let rest = wire_len.saturating_sub(4 + header.len() as u32);
    Frame::new(&header, if rest == 0 { Body::Empty } else { Body::Pattern { start: 0, len: rest } })
}

/// Stream and number of a frame.
pub fn read(frame: &Frame) -> (u32, u64) {
    let h = frame.header();
    let stream = h.get(14..18).and_then(|b| b.try_into().ok()).map_or(0, u32::from_be_bytes);
    (stream, h.get(18..26).and_then(|b| b.try_into().ok()).map_or(0, u64::from_be_bytes))
}

impl Source {
    pub fn cbr(stream: u32, first: Time, interval: Span, count: usize, size: u32) -> Source {
        let times = (0..count).map(|i| Time(first.0 + i as u64 * interval.0 as u64)).collect();
        Source::at(stream, times, vec![size; count])
    }
    pub fn at(stream: u32, times: Vec<Time>, sizes: Vec<u32>) -> Source {
        Source { port: PortId(0), times, sizes, stream, sent: 0, due: VecDeque::new() }
    }
}

impl Device for Source {
    fn handle_packet(&mut self, _: Time, _: PortId, _: Frame) {}
    fn handle_timeout(&mut self, now: Time) {
        while self.times.get(self.sent).is_some_and(|&t| t <= now) {
            self.due.push_back(frame(self.stream, self.sent as u64, self.sizes[self.sent]));
            self.sent += 1;
        }
    }
    fn handle_command(&mut self, _: Time, _: Command) {}
    fn poll_output(&mut self) -> Option<Output> {
        let frame = self.due.pop_front()?;
        Some(Output::Transmit { port: self.port, frame, ready: Time::ZERO })
    }
    fn poll_timeout(&self) -> Option<Time> {
        self.times.get(self.sent).copied()
    }
}

/// Keeps what arrives: time, port, stream, number.
#[derive(Default)]
pub struct Sink {
    pub got: Vec<(Time, PortId, u32, u64)>,
    pub frames: Vec<Frame>,
    pub keep_frames: bool,
}

impl Device for Sink {
    fn handle_packet(&mut self, now: Time, port: PortId, frame: Frame) {
        let (stream, number) = read(&frame);
        self.got.push((now, port, stream, number));
        if self.keep_frames {
            self.frames.push(frame);
        }
    }
    fn handle_timeout(&mut self, _: Time) {}
    fn handle_command(&mut self, _: Time, _: Command) {}
    fn poll_output(&mut self) -> Option<Output> {
        None
    }
    fn poll_timeout(&self) -> Option<Time> {
        None
    }
}
