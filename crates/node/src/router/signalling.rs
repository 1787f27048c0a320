//! Messages between the ports, the control plane and the tables.

use super::Router;
use base::device::DropReason;
use base::{Body, Frame, Output, PortId, Time};
use control::plane::{self, Offered, Owner};
use control::protocol::{Arrival, Message};
use forwarding::Driver;
use wire::{ethernet, ipv4};

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

    /// Hands the message in the IP packet that begins at `offset` of a frame to the protocol that listens to it.
    pub(super) fn signal(&mut self, now: Time, port: PortId, owner: Owner, frame: Vec<u8>, offset: usize) {
        let Ok(ip) = ipv4::Packet::new_checked(frame.get(offset..).unwrap_or_default()) else {
            return self.drop_received(port, DropReason::Malformed);
        };
        let options = ipv4::Options::from_bytes(ip.options());
        let router_alert = options.is_ok_and(|o| o.router_alert());
        let arrival = Arrival { port, src: ip.src(), dst: ip.dst(), ttl: ip.ttl(), router_alert };
        let start = offset + ip.header_len();
        let end = start + ip.payload().len();
        match self.control.offer(now, owner, arrival, frame, (start, end)) {
            Offered::Waits => self.deliver(port),
            Offered::NotSpoken => return self.drop_received(port, DropReason::NoListener),
            Offered::QueueFull => self.drop_received(port, DropReason::ControlQueueFull),
        }
        self.process(now);
    }

    /// Lets the control processor work up to `now`.
    pub(super) fn process(&mut self, now: Time) {
        while let Some(frame) = self.control.serve(now) {
            self.recycle(frame);
            self.settle(now);
        }
    }

    /// Carries messages between control plane, driver and ports until all are quiet.
    pub(super) fn settle(&mut self, now: Time) {
        loop {
            while let Some(output) = self.control.poll_output(now) {
                match output {
                    plane::Output::Message(owner, message) => self.send_message(now, owner, message),
                    plane::Output::Tables(batch) => self.write_now(now, batch),
                    plane::Output::Event(event) => self.outputs.push_back(Output::Event(event)),
                }
            }
            match self.driver.poll_ack(now) {
                Some(ack) => self.control.handle_ack(now, ack),
                None => return,
            }
        }
    }

    fn send_message(&mut self, now: Time, owner: Owner, message: Message) {
        let Message { port, next, src, dst, protocol, ttl, router_alert, bytes } = message;
        let options = if router_alert { ipv4::Options::ROUTER_ALERT } else { ipv4::Options::NONE };
        self.ident = self.ident.wrapping_add(1);
        let ip = ipv4::Repr {
            src,
            dst,
            protocol: ipv4::Protocol(protocol),
            ttl,
            dscp: base::Dscp::CS6,
            ecn: 0,
            ident: self.ident,
            dont_fragment: false,
            more_fragments: false,
            fragment_offset: 0,
            payload_len: bytes.len() as u16,
            options,
        };
        let mut header = [0; ethernet::HEADER_LEN + 60];
        let len = ethernet::HEADER_LEN + ip.buffer_len();
        ip.emit(&mut header[ethernet::HEADER_LEN..len]);
        let frame = Frame::new(&header[..len], Body::owned(bytes.as_slice()));
        self.control.recycle(owner, bytes);
        self.send(now, frame, next.map(|gateway| (port, gateway)));
    }
}
