//! RSVP between the ports, the control processor, the speaker and the tables.

use super::Router;
use super::messages::Direction;
use crate::processor::Queue;
use base::device::DropReason;
use base::{Body, Frame, Output, PortId, Span, Time};
use control::rsvp;
use forwarding::Driver;
use wire::rsvp::MessageType;
use wire::{ethernet, ipv4};

/// An RSVP message on its way to the control processor.
#[derive(Debug)]
pub struct Signal {
    port: PortId,
    received: rsvp::Received,
    /// The frame that it came in, and which part of it the message is.
    frame: Vec<u8>,
    start: usize,
    end: usize,
}

impl Signal {
    /// The message in the IP packet that begins at `offset` of `frame`, which arrived by `port`; nothing if there is
    /// none.
    fn new(port: PortId, frame: Vec<u8>, offset: usize) -> Option<Signal> {
        let ip = ipv4::Packet::new_checked(frame.get(offset..)?).ok()?;
        let options = ipv4::Options::from_bytes(ip.options());
        let received = rsvp::Received {
            src: ip.src(),
            dst: ip.dst(),
            ttl: ip.ttl(),
            router_alert: options.is_ok_and(|o| o.router_alert()),
        };
        let start = offset + ip.header_len();
        let end = start + ip.payload().len();
        Some(Signal { port, received, frame, start, end })
    }

    fn message(&self) -> &[u8] {
        self.frame.get(self.start..self.end).unwrap_or_default()
    }
}

fn kind_of(message: &[u8]) -> u8 {
    message.get(1).copied().unwrap_or(0)
}

/// How many signalling frames' memory is kept, and the longest that is.
const SPARE_MAX: usize = 64;
const SPARE_BYTES: usize = 4096;

impl Router {
    /// The bytes of a frame, in memory of an earlier one.
    pub(super) fn bytes_of(&mut self, frame: &Frame) -> Vec<u8> {
        let mut bytes = self.spare.pop().unwrap_or_default();
        frame.write_to(&mut bytes);
        if let Some(offload) = frame.offload() {
            forwarding::offload::finish_checksum(&mut bytes, &offload);
        }
        bytes
    }

    /// Keeps memory that [`Router::bytes_of`] gave.
    pub(super) fn recycle(&mut self, mut bytes: Vec<u8>) {
        if self.spare.len() < SPARE_MAX && bytes.capacity() <= SPARE_BYTES {
            bytes.clear();
            self.spare.push(bytes);
        }
    }

    /// Puts the message in the IP packet that begins at `offset` of a frame in the queue of the control processor.
    pub(super) fn signal(&mut self, now: Time, port: PortId, frame: Vec<u8>, offset: usize) {
        let Some(signal) = Signal::new(port, frame, offset) else {
            return self.drop_received(port, DropReason::Malformed);
        };
        self.messages.count(now, Direction::Received, kind_of(signal.message()));
        self.signals.note(now, port, Direction::Received, signal.message());
        if self.config.ports.get(port.index()).is_none_or(|p| p.reservable.is_none()) {
            return self.drop_received(port, DropReason::NoListener);
        }
        let queue = if signal.received.router_alert { Queue::Alert } else { Queue::Local };
        match self.processor.offer(queue, signal) {
            Ok(()) => self.deliver(port),
            Err(_) => self.drop_received(port, DropReason::ControlQueueFull),
        }
        self.process(now);
    }

    /// Lets the control processor work up to `now`.
    pub(super) fn process(&mut self, now: Time) {
        loop {
            let control = &self.config.profile.control;
            let states = self.rsvp.state_count();
            self.processor.start(now, |signal| {
                let (us, states) = match MessageType::of(kind_of(signal.message())) {
                    Some(MessageType::Path) => (control.path_us, states),
                    Some(MessageType::Resv) => (control.resv_us, states),
                    Some(MessageType::PathTear | MessageType::ResvTear) => (control.tear_us, 0),
                    _ => (control.other_us, 0),
                };
                Span::from_secs_f64((us / 1e6 + control.per_state_ns / 1e9 * states as f64).max(0.0))
            });
            let Some(signal) = self.processor.finish(now) else { return };
            self.rsvp.handle_message(now, signal.port, signal.received, signal.message());
            self.recycle(signal.frame);
            self.settle(now);
        }
    }

    /// Carries messages between speaker, driver and ports until all are quiet.
    pub(super) fn settle(&mut self, now: Time) {
        loop {
            while let Some(output) = self.rsvp.poll_output() {
                match output {
                    rsvp::Output::Transmit { .. } => self.send_message(now, output),
                    rsvp::Output::Tables(batch) => self.write_now(now, batch),
                    rsvp::Output::Event(event) => self.outputs.push_back(Output::Event(event)),
                }
            }
            match self.driver.poll_ack(now) {
                Some(ack) => self.rsvp.handle_ack(now, &ack),
                None => return,
            }
        }
    }

    fn send_message(&mut self, now: Time, output: rsvp::Output) {
        let rsvp::Output::Transmit { port, next, src, dst, ttl, router_alert, message } = output else {
            return;
        };
        self.messages.count(now, Direction::Sent, kind_of(&message));
        self.signals.note(now, port, Direction::Sent, &message);
        let options = if router_alert { ipv4::Options::ROUTER_ALERT } else { ipv4::Options::NONE };
        self.ident = self.ident.wrapping_add(1);
        let ip = ipv4::Repr {
            src,
            dst,
            protocol: ipv4::Protocol::RSVP,
            ttl,
            dscp: base::Dscp::CS6,
            ecn: 0,
            ident: self.ident,
            dont_fragment: false,
            more_fragments: false,
            fragment_offset: 0,
            payload_len: message.len() as u16,
            options,
        };
        let mut header = [0; ethernet::HEADER_LEN + 60];
        let len = ethernet::HEADER_LEN + ip.buffer_len();
        ip.emit(&mut header[ethernet::HEADER_LEN..len]);
        let frame = Frame::new(&header[..len], Body::owned(message.as_slice()));
        self.rsvp.recycle(message);
        self.send(now, frame, next.map(|gateway| (port, gateway)));
    }
}
