//! A switch with management ports: ports that are none of its datapath, where a network stack of its own carries its
//! connections to controllers.
//!
//! The [`Switch`] within knows nothing of it: it sees ports without gaps, and is told of its connections as it is by
//! the owner of a kernel's sockets. The stack is that of a [`Host`].

mod device;

use super::control_path::{ControlPath, Taken};
use super::{
    ChannelInput, ChannelOutput, Controller, FIRST_INCOMING, OUTPUT_MAX, Switch, SwitchConfig, SwitchProfile,
};
use crate::host::{Host, HostConfig};
use crate::sessions::{Options, Pending, SessionId, Sessions};
use base::device::DropCounters;
use base::plane::Prefix;
use base::protocol_value::ProtocolValue;
use base::{Command, Device, Event, Output, PortId, Span, Streams, Time};
use core::net::{IpAddr, SocketAddr};
use std::collections::{BTreeMap, VecDeque};
use wire::Hex;

/// What a port of the device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortUse {
    /// The next port of the datapath.
    Data,
    /// The next port of the stack.
    Management,
}

/// What a TCP session carries.
#[derive(Debug)]
struct Carried {
    connection: u32,
    /// Bytes that TCP has no room for yet.
    unsent: VecDeque<u8>,
    /// The switch knows that more than [`OUTPUT_MAX`] bytes wait.
    is_full: bool,
    /// It is closed when all is sent, and the switch has forgotten it.
    is_over: bool,
    /// The controller sends no more: it is closed when all messages that came are done.
    is_ending: bool,
}

/// A switch and the stack of its management ports.
pub struct ManagedSwitch {
    switch: Switch,
    host: Host,
    /// What each port of the device is within: a port of the datapath, or of the stack.
    inner: Vec<(PortUse, PortId)>,
    data: Vec<PortId>,
    management: Vec<PortId>,
    carried: BTreeMap<SessionId, Carried>,
    by_connection: BTreeMap<u32, SessionId>,
    path: ControlPath,
    /// The number of the next connection that comes in.
    next: u32,
    outputs: VecDeque<Output>,
    drops: DropCounters,
}

/// How TCP of a switch behaves: messages go at once.
fn options() -> Options {
    Options { nagle: false, program: true, ..Options::default() }
}

impl ManagedSwitch {
    /// A switch whose device has ports of these uses, in their order. Ephemeral ports and sequence numbers of its stack
    /// are drawn from `streams`. It takes as long for what it does as `profile` says.
    pub fn new(
        config: SwitchConfig,
        (stack, uses): (HostConfig, &[PortUse]),
        profile: SwitchProfile,
        streams: Streams,
        now: Time,
    ) -> ManagedSwitch {
        let (mut inner, mut data, mut management) = (Vec::new(), Vec::new(), Vec::new());
        for (place, one) in uses.iter().enumerate() {
            let side = match one {
                PortUse::Data => &mut data,
                PortUse::Management => &mut management,
            };
            inner.push((*one, PortId(side.len() as u16)));
            side.push(PortId(place as u16));
        }
        let mut host = Host::new(stack);
        host.begin_tcp(&config.name, streams);
        let mut switch = Switch::new(config, now);
        switch.set_waker(now, Box::new(|| {}));
        let mut managed = ManagedSwitch {
            switch,
            host,
            inner,
            data,
            management,
            carried: BTreeMap::new(),
            by_connection: BTreeMap::new(),
            path: ControlPath::new(profile),
            next: FIRST_INCOMING,
            outputs: VecDeque::new(),
            drops: DropCounters::default(),
        };
        managed.listen();
        managed
    }

    /// The switch without its management ports.
    pub fn switch(&self) -> &Switch {
        &self.switch
    }

    /// The number that controllers know a port of the device by; nothing if it is none of the datapath.
    pub fn number_of(&self, port: PortId) -> Option<u16> {
        let (use_, inner) = self.inner.get(port.index())?;
        (*use_ == PortUse::Data).then_some(inner.0 + 1)
    }

    /// Connections that the endpoint has reset under load.
    pub fn resets(&self) -> u64 {
        self.path.resets
    }

    /// Frames discarded, by the stack too, and PACKET_INs that a limit of the profile dropped.
    pub fn drops(&self) -> DropCounters {
        let mut all = self.switch.drops().clone();
        all.merge(self.host.drops());
        all.merge(&self.drops);
        all.merge(&self.path.drops);
        all
    }

    /// How long a frame takes through the datapath.
    fn latency(&self, bytes: u32) -> Span {
        let profile = self.path.profile();
        profile.pipeline + Span(profile.pipeline_per_byte.0.saturating_mul(i64::from(bytes)))
    }

    fn listen(&mut self) {
        for controller in &self.switch.config().controllers {
            if let Controller::Listen(_, _, port) = *controller {
                self.host.listen_tcp(port, options());
            }
        }
    }

    fn tell(&mut self, now: Time, input: ChannelInput) {
        self.switch.handle_command(now, Command::Protocol(ProtocolValue::new(input)));
    }

    /// The port of the stack by which an address is reached.
    fn port_towards(&self, to: IpAddr) -> PortId {
        let is_near = |port: &crate::HostPort| match to {
            IpAddr::V4(to) => Prefix::new(port.address, port.prefix_len).contains(to),
            IpAddr::V6(_) => false,
        };
        PortId(self.host.config().ports.iter().position(is_near).unwrap_or(0) as u16)
    }

    /// Carries what is to be carried until nothing is left to be done at this time.
    fn settle(&mut self, now: Time) {
        loop {
            let mut is_idle = true;
            while let Some(output) = self.switch.poll_channel() {
                is_idle = false;
                self.carry_out(now, output);
            }
            while let Some(passing) = self.path.poll_down(now, self.entries()) {
                is_idle = false;
                let (connection, bytes) = (passing.connection, Hex(passing.bytes));
                self.tell(now, ChannelInput::Received { connection, bytes });
            }
            while let Some(session) = self.ended() {
                is_idle = false;
                self.finish(now, session);
            }
            while let Some(passing) = self.path.poll_up(now) {
                is_idle = false;
                self.pass_up(now, passing.connection, passing.bytes);
            }
            self.host.run_tcp(now);
            while let Some((_, id, pending)) = self.host.sessions_mut().and_then(Sessions::poll_event) {
                is_idle = false;
                self.hear(now, id, pending);
            }
            while let Some((id, _)) = self.host.sessions_mut().and_then(Sessions::poll_ran) {
                is_idle = false;
                self.read(now, id);
                self.write(now, id);
            }
            if is_idle {
                break;
            }
        }
        self.drain();
    }

    /// Entries in all tables.
    fn entries(&self) -> usize {
        self.switch.datapath().tables.iter().map(forwarding::openflow::FlowTable::active).sum()
    }

    fn carry_out(&mut self, now: Time, output: ChannelOutput) {
        match output {
            ChannelOutput::Open { connection } => {
                let target = self.switch.config().controllers.get(connection as usize).copied();
                let Some(Controller::Connect(_, address, port)) = target else { return };
                if let Some(old) = self.by_connection.remove(&connection) {
                    self.carried.remove(&old);
                    self.end(old);
                }
                let by = self.port_towards(address);
                match self.host.connect_tcp(now, by, SocketAddr::new(address, port), options()) {
                    Ok(session) => self.carry(session, connection),
                    Err(_) => self.tell(now, ChannelInput::Closed { connection }),
                }
            }
            ChannelOutput::Send { connection, bytes } => {
                let at_once = self.path.send(now, connection, &bytes);
                self.pass_up(now, connection, at_once);
            }
            ChannelOutput::Close { connection } => {
                self.path.forget(connection);
                let Some(session) = self.by_connection.remove(&connection) else { return };
                if let Some(carried) = self.carried.get_mut(&session) {
                    carried.is_over = true;
                }
                self.write(now, session);
            }
        }
    }

    /// Gives bytes to the session of a connection.
    fn pass_up(&mut self, now: Time, connection: u32, bytes: Vec<u8>) {
        let Some(&session) = self.by_connection.get(&connection) else { return };
        if let Some(carried) = self.carried.get_mut(&session) {
            carried.unsent.extend(bytes);
        }
        self.write(now, session);
    }

    /// The endpoint can't keep up with what a controller sends, and resets the connection.
    fn reset(&mut self, now: Time, session: SessionId, connection: u32) {
        self.path.forget(connection);
        self.carried.remove(&session);
        self.by_connection.remove(&connection);
        if let Some(sessions) = self.host.sessions_mut() {
            sessions.abort(session);
        }
        self.tell(now, ChannelInput::Closed { connection });
    }

    fn carry(&mut self, session: SessionId, connection: u32) {
        let carried =
            Carried { connection, unsent: VecDeque::new(), is_full: false, is_over: false, is_ending: false };
        self.carried.insert(session, carried);
        self.by_connection.insert(connection, session);
    }

    /// Ends a session in order.
    fn end(&mut self, session: SessionId) {
        if let Some(sessions) = self.host.sessions_mut() {
            sessions.close(session);
        }
    }

    /// Something has happened to a session.
    fn hear(&mut self, now: Time, session: SessionId, pending: Pending) {
        let known = self.carried.get(&session).filter(|one| !one.is_over).map(|one| one.connection);
        match (pending, known) {
            (Pending::Accepted { .. }, _) => {
                let connection = self.next;
                self.next = self.next.checked_add(1).unwrap_or(FIRST_INCOMING);
                self.carry(session, connection);
                self.tell(now, ChannelInput::Opened { connection });
            }
            (Pending::Connected, Some(connection)) => self.tell(now, ChannelInput::Opened { connection }),
            (Pending::PeerClosed, Some(_)) => {
                self.read(now, session);
                if let Some(carried) = self.carried.get_mut(&session) {
                    carried.is_ending = true;
                }
            }
            (Pending::PeerClosed | Pending::Closed(_), _) => self.finish(now, session),
            _ => {}
        }
    }

    /// A session whose controller sends no more, and whose messages are done.
    fn ended(&self) -> Option<SessionId> {
        let is_ended =
            |one: &&Carried| one.is_ending && !one.is_over && !self.path.has_waiting(one.connection);
        let mut all = self.carried.iter();
        all.find(|(_, one)| is_ended(one)).map(|(session, _)| *session)
    }

    /// A session is over: what waits of it is done for nobody.
    fn finish(&mut self, now: Time, session: SessionId) {
        let known = self.carried.remove(&session).filter(|one| !one.is_over);
        self.end(session);
        if let Some(Carried { connection, .. }) = known {
            self.by_connection.remove(&connection);
            self.path.forget(connection);
            self.tell(now, ChannelInput::Closed { connection });
        }
    }

    /// Gives the switch what a session has received.
    fn read(&mut self, now: Time, session: SessionId) {
        let mut bytes = Vec::new();
        if let Some(sessions) = self.host.sessions_mut() {
            sessions.read(session, |part| bytes.extend_from_slice(part));
        }
        let known = self.carried.get(&session).filter(|one| !one.is_over && !bytes.is_empty());
        if let Some(connection) = known.map(|one| one.connection) {
            match self.path.receive(connection, &bytes) {
                Taken::Waits => {}
                Taken::Reset => self.reset(now, session, connection),
            }
        }
    }

    /// Gives TCP what it has room for.
    fn write(&mut self, now: Time, session: SessionId) {
        let (Some(carried), Some(sessions)) = (self.carried.get_mut(&session), self.host.sessions_mut())
        else {
            return;
        };
        let mut taken = 0;
        while !carried.unsent.is_empty() {
            let len = sessions.write(session, carried.unsent.as_slices().0);
            if len == 0 {
                break;
            }
            carried.unsent.drain(..len);
            taken += len;
        }
        if carried.is_over {
            if carried.unsent.is_empty() {
                self.carried.remove(&session);
                self.end(session);
            }
            return;
        }
        let was_full = carried.is_full;
        carried.is_full = carried.unsent.len() > OUTPUT_MAX / if was_full { 2 } else { 1 };
        if was_full || carried.is_full {
            let (connection, is_full) = (carried.connection, carried.is_full);
            if was_full != is_full || taken > 0 {
                self.tell(now, ChannelInput::Backlog { connection, is_full, is_taking: taken > 0 });
            }
        }
    }

    /// Takes what both parts want done, by the numbers of the device's ports.
    fn drain(&mut self) {
        while let Some(output) = self.switch.poll_output() {
            self.outputs.push_back(outer(output, &self.data));
        }
        while let Some(output) = self.host.poll_output() {
            self.outputs.push_back(outer(output, &self.management));
        }
    }
}

/// An output by the numbers of the device's ports.
fn outer(output: Output, ports: &[PortId]) -> Output {
    let of = |port: PortId| ports.get(port.index()).copied().unwrap_or(port);
    match output {
        Output::Transmit { port, frame, ready } => Output::Transmit { port: of(port), frame, ready },
        Output::Discard { port, frame, reason } => Output::Discard { port: of(port), frame, reason },
        Output::Copied { port, frame, copies } => Output::Copied { port: of(port), frame, copies },
        Output::AskQueue { port } => Output::AskQueue { port: of(port) },
        Output::Event(Event::PortUp { port }) => Output::Event(Event::PortUp { port: of(PortId(port)).0 }),
        Output::Event(Event::PortDown { port }) => {
            Output::Event(Event::PortDown { port: of(PortId(port)).0 })
        }
        Output::Event(event) => Output::Event(event),
    }
}
