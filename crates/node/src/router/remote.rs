//! A router whose forwarding plane is elsewhere: frames come from it, and what leaves goes by it.
//!
//! What happens to its connection comes as commands, as at a switch, so that recordings have it.

use super::Router;
use crate::switch::ChannelInput;
use base::protocol_value::ProtocolValue;
use base::{Device, Frame, Output, PortId, Time, Verdict};
use forwarding::driver::Arrival;

impl Router {
    /// The TCP port to listen at for a forwarding plane that is elsewhere.
    pub fn listens_for_plane(&self) -> Option<u16> {
        self.config.table_driver.listens()
    }

    /// Bytes for the forwarding plane that is elsewhere.
    pub fn take_channel(&mut self) -> Vec<u8> {
        self.plane.remote().map(|(remote, _)| remote.take_output()).unwrap_or_default()
    }

    /// Are there bytes for it? And is what has connected no forwarding plane, or silent, so that its connection is to
    /// be closed?
    pub fn channel_state(&self) -> (bool, bool) {
        self.plane.driver().channel_state()
    }

    /// A command that one protocol understands, or news of the forwarding plane.
    pub(super) fn handle_protocol(&mut self, now: Time, command: &ProtocolValue) {
        let input = if self.plane.is_remote() { command.read::<ChannelInput>() } else { None };
        let Some(input) = input else { return self.control.handle_command(now, command) };
        self.plane.tell_remote(|remote, soft| match &*input {
            ChannelInput::Opened { .. } => remote.opened(now),
            ChannelInput::Received { bytes, .. } => remote.received(now, soft, &bytes.0),
            ChannelInput::Closed { .. } | ChannelInput::Failed { .. } => remote.closed(),
            ChannelInput::Backlog { .. } | ChannelInput::Refused { .. } => {}
        });
        while let Some(arrival) = self.plane.remote().and_then(|(remote, _)| remote.poll_arrival()) {
            match arrival {
                Arrival::Frame(port, frame) => self.arrived(now, port, frame),
                Arrival::Port(port, up) => self.port_changed(now, port, up),
            }
        }
    }

    /// A frame that the forwarding plane hands up: what its entries do not do, the tables here do.
    fn arrived(&mut self, now: Time, port: PortId, mut frame: Frame) {
        if port.index() >= self.config.ports.len() {
            return;
        }
        match self.forward_one(now, port, &mut frame) {
            Verdict::Transmit { port, ready } => {
                self.outputs.push_back(Output::Transmit { port, frame, ready });
            }
            Verdict::Punt | Verdict::Replicate => self.handle_packet(now, port, frame),
            Verdict::Drop(_) | Verdict::Consume => {}
        }
    }

    /// The next output: frames leave by the forwarding plane.
    pub(super) fn poll_remote(&mut self) -> Option<Output> {
        loop {
            match self.outputs.pop_front()? {
                Output::Transmit { port, frame, .. } => {
                    if let Some((remote, _)) = self.plane.remote() {
                        remote.transmit(port, &frame);
                    }
                }
                other => return Some(other),
            }
        }
    }
}
