//! The tester at a node: two data ports, and a network stack at a third that the channel is at. In real time the
//! channel may be carried by somebody else, as that of a switch is: what happens to the connection comes as commands.

use super::{Action, Machine, Settings};
use base::device::DropCounters;
use base::{Command, Device, Frame, Output, PortId, Streams, Time};
use node::sessions::{Options, Pending, SessionId, Sessions};
use node::switch::ChannelInput;
use node::{Host, HostConfig};
use std::collections::VecDeque;

/// A tester with its stack.
pub struct OpenFlowTester {
    machine: Machine,
    host: Host,
    /// The port of the channel, unless somebody else carries it, and the data ports.
    control: Option<PortId>,
    data: [PortId; 2],
    listen: u16,
    /// The connection of the switch; others are ended.
    session: Option<SessionId>,
    /// What is to be sent to the switch, by the stack or by whoever carries the channel.
    unsent: VecDeque<u8>,
    outputs: VecDeque<Output>,
}

/// How TCP behaves: messages go at once, and as many of them as have room in a segment.
fn options() -> Options {
    Options { nagle: false, program: true, ..Options::default() }
}

impl OpenFlowTester {
    /// A tester that waits for a switch at a TCP port; its stack has the one port of `stack`, or none if somebody else
    /// carries the channel.
    pub fn new(
        settings: Settings,
        stack: HostConfig,
        (control, data): (Option<PortId>, [PortId; 2]),
        (name, streams): (&str, Streams),
        listen: u16,
    ) -> OpenFlowTester {
        let mut host = Host::new(stack);
        host.begin_tcp(name, streams);
        host.listen_tcp(listen, options());
        OpenFlowTester {
            machine: Machine::new(settings),
            host,
            control,
            data,
            listen,
            session: None,
            unsent: VecDeque::new(),
            outputs: VecDeque::new(),
        }
    }

    /// How far the test is, and what it has found.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The TCP port that it waits at.
    pub fn listens(&self) -> u16 {
        self.listen
    }

    /// What its stack discarded.
    pub fn drops(&self) -> DropCounters {
        self.host.drops().clone()
    }

    /// Is there anything to be sent to the switch by whoever carries the channel?
    pub fn has_channel(&self) -> bool {
        self.control.is_none() && !self.unsent.is_empty()
    }

    /// What is to be sent to the switch by whoever carries the channel.
    pub fn take_channel(&mut self) -> Vec<u8> {
        if self.control.is_some() { Vec::new() } else { core::mem::take(&mut self.unsent).into() }
    }

    /// Something has happened to the connection that somebody else carries.
    fn handle_channel(&mut self, now: Time, input: &ChannelInput) {
        match input {
            ChannelInput::Opened { .. } => self.machine.opened(),
            ChannelInput::Received { bytes, .. } => self.machine.received(now, &bytes.0),
            ChannelInput::Closed { .. } | ChannelInput::Failed { .. } => {
                self.unsent.clear();
                self.machine.closed();
            }
            ChannelInput::Backlog { .. } | ChannelInput::Refused { .. } => {}
        }
    }

    fn settle(&mut self, now: Time) {
        loop {
            let mut is_idle = true;
            while let Some(action) = self.machine.poll() {
                is_idle = false;
                match action {
                    Action::Send(bytes) => self.unsent.extend(bytes),
                    Action::Transmit { port, bytes } => {
                        let frame = Frame::from_bytes(&bytes);
                        self.outputs.push_back(Output::Transmit { port: self.data[port], frame, ready: now });
                    }
                }
            }
            self.write();
            self.host.run_tcp(now);
            while let Some((_, id, pending)) = self.host.sessions_mut().and_then(Sessions::poll_event) {
                is_idle = false;
                self.hear(now, id, pending);
            }
            while let Some((id, _)) = self.host.sessions_mut().and_then(Sessions::poll_ran) {
                is_idle = false;
                self.read(now, id);
            }
            if is_idle {
                break;
            }
        }
        let Some(control) = self.control else { return };
        while let Some(output) = self.host.poll_output() {
            self.outputs.push_back(match output {
                Output::Transmit { frame, ready, .. } => Output::Transmit { port: control, frame, ready },
                Output::Discard { frame, reason, .. } => Output::Discard { port: control, frame, reason },
                other => other,
            });
        }
    }

    fn hear(&mut self, now: Time, id: SessionId, pending: Pending) {
        match pending {
            Pending::Accepted { .. } if self.session.is_none() => {
                self.session = Some(id);
                self.machine.opened();
            }
            Pending::Accepted { .. } => self.end(id),
            Pending::PeerClosed | Pending::Closed(_) if self.session == Some(id) => {
                self.read(now, id);
                (self.session, self.unsent) = (None, VecDeque::new());
                self.end(id);
                self.machine.closed();
            }
            _ => {}
        }
    }

    fn end(&mut self, id: SessionId) {
        if let Some(sessions) = self.host.sessions_mut() {
            sessions.close(id);
        }
    }

    fn read(&mut self, now: Time, id: SessionId) {
        let mut bytes = Vec::new();
        if let Some(sessions) = self.host.sessions_mut() {
            sessions.read(id, |part| bytes.extend_from_slice(part));
        }
        if self.session == Some(id) && !bytes.is_empty() {
            self.machine.received(now, &bytes);
        }
    }

    /// Gives TCP what it has room for.
    fn write(&mut self) {
        let (Some(id), Some(sessions)) = (self.session, self.host.sessions_mut()) else { return };
        while !self.unsent.is_empty() {
            let taken = sessions.write(id, self.unsent.make_contiguous());
            if taken == 0 {
                break;
            }
            self.unsent.drain(..taken);
        }
    }
}

impl Device for OpenFlowTester {
    fn handle_packet(&mut self, now: Time, port: PortId, frame: Frame) {
        if Some(port) == self.control {
            self.host.handle_packet(now, PortId(0), frame);
        } else if let Some(place) = self.data.iter().position(|data| *data == port) {
            self.machine.packet(now, place, &frame.to_vec());
        }
        self.settle(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.host.poll_timeout().is_some_and(|at| at <= now) {
            self.host.handle_timeout(now);
        }
        self.machine.handle_timeout(now);
        self.settle(now);
    }

    fn handle_command(&mut self, now: Time, command: Command) {
        match command {
            Command::PortUp(port) if Some(port) == self.control => {
                self.host.handle_command(now, Command::PortUp(PortId(0)));
            }
            Command::PortDown(port) if Some(port) == self.control => {
                self.host.handle_command(now, Command::PortDown(PortId(0)));
            }
            Command::Probe { .. } => self.host.handle_command(now, command),
            Command::Protocol(value) => {
                if let Some(input) = value.read::<ChannelInput>() {
                    self.handle_channel(now, &input);
                }
            }
            _ => {}
        }
        self.settle(now);
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        [self.host.poll_timeout(), self.machine.poll_timeout()].into_iter().flatten().min()
    }

    fn show_held(&self, see: &mut dyn FnMut(&Frame)) {
        self.host.show_held(see);
    }
}
