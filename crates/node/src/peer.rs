//! A raw port: somebody outside the engine makes the frames that it sends and reads those that it receives.
//!
//! This is how a second implementation of a protocol, in whatever language, talks to a router in virtual time.

use base::device::DropReason;
use base::{Command, Device, Frame, Output, PortId, Time};
use std::collections::VecDeque;

/// A device that hands on whatever arrives and sends whatever it is given.
#[derive(Debug, Default)]
pub struct Peer {
    received: VecDeque<(Time, PortId, Vec<u8>)>,
    outputs: VecDeque<Output>,
}

impl Peer {
    /// A peer that has received nothing.
    pub fn new() -> Peer {
        Peer::default()
    }

    /// Sends the bytes of a frame, from the destination address on, without frame check sequence.
    pub fn send(&mut self, now: Time, port: PortId, bytes: &[u8]) {
        self.outputs.push_back(Output::Transmit { port, frame: Frame::from_bytes(bytes), ready: now });
    }

    /// The frames received since the last call, with the arrival of their last bit.
    pub fn take_received(&mut self) -> Vec<(Time, PortId, Vec<u8>)> {
        self.received.drain(..).collect()
    }
}

impl Device for Peer {
    fn handle_packet(&mut self, now: Time, port: PortId, frame: Frame) {
        self.received.push_back((now, port, frame.to_vec()));
        // Whose frame it was: for this network it ends here.
        self.outputs.push_back(Output::Discard { port, frame, reason: DropReason::NoListener });
    }
    fn handle_timeout(&mut self, _: Time) {}
    fn handle_command(&mut self, _: Time, _: Command) {}
    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }
    fn poll_timeout(&self) -> Option<Time> {
        None
    }
}
