//! The connections of a switch: who is connected, with which role, and what each is told without having asked.

use super::buffers::{Buffers, NoPacket};
use super::channel::{ChannelInput, ChannelOutput, ControllerEvent, FIRST_INCOMING};
use super::connection::{Connection, ConnectionView, MISS_SEND_LEN, RefusedView, usual};
use super::{Controller, Switch, SwitchConfig, version_1_0, version_1_3};
use base::protocol_value::ProtocolValue;
use base::{Event, Frame, Output, Span, Time};
use control::openflow::{ChannelState, Told};
use core::net::SocketAddr;
use forwarding::openflow::{Fields, Removed};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use wire::openflow::v1_3::{PacketInReason, Role};
use wire::openflow::{Code, ErrorMessage, NO_BUFFER, PortReason, Version, v1_0, v1_3};

/// Length of a packet that says that all of it is wanted, and that nothing is kept: OFPCML_NO_BUFFER.
const WHOLE: u16 = 0xffff;
/// How often it is told at most that somebody was turned away.
const REFUSED_TOLD: Span = Span::from_secs(1);

/// All connections, and what they have in common.
pub(super) struct Agent {
    pub(super) connections: BTreeMap<u32, Connection>,
    pub(super) buffers: Buffers,
    /// The generation of the last master.
    pub(super) generation: Option<u64>,
    wanted: VecDeque<ChannelOutput>,
    errors: BTreeMap<Code, u64>,
    /// PACKET_INs that controllers did not get since they read too slowly.
    pub(super) left_out: u64,
    /// Who was turned away where the switch listens, by the place of that among its controllers.
    refused: BTreeMap<u32, RefusedView>,
    waker: Option<Box<dyn Fn() + Send>>,
    is_awake: bool,
}

impl Agent {
    pub(super) fn new(config: &SwitchConfig) -> Agent {
        Agent {
            connections: BTreeMap::new(),
            buffers: Buffers::new(config.buffers),
            generation: None,
            wanted: VecDeque::new(),
            errors: BTreeMap::new(),
            left_out: 0,
            refused: BTreeMap::new(),
            waker: None,
            is_awake: false,
        }
    }

    /// Wants a connection to each controller that does not come by itself.
    fn begin(&mut self, config: &SwitchConfig, now: Time) {
        for (place, controller) in config.controllers.iter().enumerate() {
            if matches!(controller, Controller::Connect(..)) {
                self.connections.insert(place as u32, Connection::new(config, true, now));
            }
        }
    }

    /// Forgets everything but who is to be called.
    pub(super) fn restart(&mut self, config: &SwitchConfig, now: Time) {
        let open = self.connections.iter().filter(|(_, connection)| connection.is_open).map(|(id, _)| *id);
        let closed: Vec<ChannelOutput> = open.map(|connection| ChannelOutput::Close { connection }).collect();
        let waker = self.waker.take();
        *self = Agent { wanted: closed.into(), ..Agent::new(config) };
        if let Some(waker) = waker {
            self.set_waker(config, now, waker);
        }
        self.wake();
    }

    /// Connections are wanted from now on, since there is somebody who carries them.
    pub(super) fn set_waker(&mut self, config: &SwitchConfig, now: Time, wake: Box<dyn Fn() + Send>) {
        self.waker = Some(wake);
        self.begin(config, now);
    }

    /// Has the owner look, if there is anything for it.
    pub(super) fn wake(&mut self) {
        if !self.is_awake
            && (!self.wanted.is_empty() || self.connections.values().any(Connection::has_output))
        {
            self.is_awake = true;
            if let Some(wake) = &self.waker {
                wake();
            }
        }
    }

    pub(super) fn poll_channel(&mut self) -> Option<ChannelOutput> {
        // What is to be sent goes before the end of its connection.
        let ready = self.connections.iter_mut().find(|(_, connection)| connection.has_output());
        if let Some((&connection, found)) = ready {
            return Some(ChannelOutput::Send { connection, bytes: found.channel.take_output() });
        }
        let next = self.wanted.pop_front();
        if next.is_none() {
            self.is_awake = false;
        }
        next
    }

    pub(super) fn connections(&self) -> impl Iterator<Item = ConnectionView> {
        self.connections.iter().map(|(id, connection)| ConnectionView {
            connection: *id,
            state: connection.channel.state(),
            version: connection.channel.version(),
            attempts: connection.channel.attempts(),
            role: connection.role,
            too_long: connection.too_long,
            why: connection.why.clone(),
        })
    }

    pub(super) fn refused(&self) -> impl Iterator<Item = (u32, &RefusedView)> {
        self.refused.iter().map(|(listener, refused)| (*listener, refused))
    }

    pub(super) fn errors(&self) -> impl Iterator<Item = (Code, u64)> {
        self.errors.iter().map(|(code, count)| (*code, *count))
    }

    /// Is there any controller?
    pub(super) fn is_connected(&self) -> bool {
        self.connections.values().any(|connection| connection.channel.version().is_some())
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        let channels = self.connections.values().filter_map(|connection| connection.channel.poll_timeout());
        channels.chain(self.bundles_until()).min()
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        self.forget_bundles(now);
        let ids: Vec<u32> = self.connections.keys().copied().collect();
        for id in ids {
            let Some(connection) = self.connections.get_mut(&id) else { continue };
            let before = connection.channel.state();
            if connection.channel.handle_timeout(now) {
                self.wanted.push_back(ChannelOutput::Open { connection: id });
            }
            // Otherwise there may be messages that wait until the other end has read more.
            let is_over = connection.channel.state() == ChannelState::Waiting;
            if is_over && connection.channel.poll() == Some(Told::Close) {
                connection.why = silence(before).map(str::to_owned);
                self.close(now, id);
            }
        }
    }

    /// Ends a connection from here.
    fn close(&mut self, now: Time, id: u32) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let rest = connection.channel.take_output();
        if !rest.is_empty() {
            self.wanted.push_back(ChannelOutput::Send { connection: id, bytes: rest });
        }
        self.wanted.push_back(ChannelOutput::Close { connection: id });
        self.closed(now, id);
    }

    fn closed(&mut self, now: Time, id: u32) {
        let is_active = id < FIRST_INCOMING;
        if !is_active {
            self.connections.remove(&id);
        } else if let Some(connection) = self.connections.get_mut(&id) {
            connection.channel.closed(now, true);
            (connection.role, connection.told) = (Role::Equal, usual());
            connection.miss_send_len = MISS_SEND_LEN;
            (connection.is_open, connection.is_full) = (false, false);
            connection.asking = None;
            connection.bundles.clear();
        }
    }

    /// Sends an answer of version 1.0.
    pub(super) fn send_1_0(&mut self, to: u32, xid: u32, body: v1_0::Body) {
        if let Some(connection) = self.connections.get_mut(&to) {
            connection.send_1_0(xid, body);
        }
    }

    /// Sends an answer of version 1.3.
    pub(super) fn send_1_3(&mut self, to: u32, xid: u32, body: v1_3::Body) {
        if let Some(connection) = self.connections.get_mut(&to) {
            connection.send_1_3(xid, body);
        }
    }

    /// Says what is wrong with a message.
    pub(super) fn refuse(&mut self, to: u32, message: &[u8], code: Code) {
        *self.errors.entry(code).or_default() += 1;
        let xid =
            message.get(4..8).map_or(0, |xid| xid.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte)));
        let mut error = ErrorMessage::about(code, message);
        if v1_3::BundleFault::is_one(code) {
            error.data.0.splice(0..0, v1_3::ONF.to_be_bytes());
        }
        match self.connections.get(&to).and_then(|connection| connection.channel.version()) {
            Some(Version::V1_0) => self.send_1_0(to, xid, v1_0::Body::Error(error)),
            _ => self.send_1_3(to, xid, v1_3::Body::Error(error)),
        }
    }

    /// The packet that waits under an identifier; `faults` are those of one that was used, and of one that there is
    /// not.
    pub(super) fn buffered(&mut self, id: u32, faults: [Code; 2]) -> Result<(u32, Frame), Code> {
        self.buffers.take(id).map_err(|error| match error {
            NoPacket::Empty => faults[0],
            NoPacket::Unknown => faults[1],
        })
    }

    /// Gives a packet to all controllers that want it. Without an entry it is for version 1.0 alone: in version 1.3
    /// there is an entry for what no other entry is for, or it is dropped. Controllers that read too slowly go without.
    /// False if nobody gets it.
    pub(super) fn packet_in(
        &mut self,
        reason: PacketInReason,
        table: u8,
        cookie: Option<u64>,
        max_len: u16,
        fields: &Fields,
        frame: &Frame,
    ) -> bool {
        let is_missed = cookie.is_none() && reason == PacketInReason::NoMatch;
        let wants = |connection: &Connection| match connection.channel.version() {
            Some(Version::V1_0) => reason != PacketInReason::InvalidTtl,
            Some(Version::V1_3) => {
                !is_missed && connection.told.packet_in[connection.side()] >> reason as u32 & 1 == 1
            }
            None => false,
        };
        let slow = self.connections.values().filter(|one| wants(one) && one.is_congested()).count();
        self.left_out += slow as u64;
        let wants = |connection: &Connection| wants(connection) && !connection.is_congested();
        if !self.connections.values().any(wants) {
            return false;
        }
        let data = frame.to_vec();
        let in_port = fields.get(v1_3::OxmField::InPort) as u32;
        let mut buffer = None;
        for connection in self.connections.values_mut().filter(|connection| wants(connection)) {
            let most = if is_missed { connection.miss_send_len } else { max_len };
            let id = match most {
                WHOLE => None,
                _ => *buffer.get_or_insert_with(|| self.buffers.put(in_port, frame.clone())),
            };
            // Without room for it, all of it goes.
            let len = if id.is_some() { data.len().min(most.into()) } else { data.len() };
            let (id, part) = (id.unwrap_or(NO_BUFFER), &data[..len]);
            match connection.channel.version() {
                Some(Version::V1_0) => {
                    let body = version_1_0::packet_in(id, reason, in_port, data.len(), part);
                    connection.send_1_0(0, body);
                }
                _ => connection
                    .send_1_3(0, version_1_3::packet_in(id, reason, table, cookie, fields, data.len(), part)),
            }
        }
        true
    }

    /// Tells who wants to know it that an entry is gone, if it asked for that.
    pub(super) fn flow_removed(&mut self, now: Time, table: u8, gone: &Removed) {
        if gone.entry.flags & v1_3::flow_flags::SEND_FLOW_REM == 0 {
            return;
        }
        for connection in self.connections.values_mut() {
            match connection.channel.version() {
                Some(Version::V1_0) => {
                    if let Some(body) = version_1_0::flow_removed(now, gone) {
                        connection.send_1_0(0, body);
                    }
                }
                Some(Version::V1_3)
                    if connection.told.flow_removed[connection.side()] >> gone.reason as u32 & 1 == 1 =>
                {
                    connection.send_1_3(0, version_1_3::flow_removed(now, table, gone));
                }
                _ => {}
            }
        }
    }

    /// Tells all but one of a port.
    pub(super) fn port_status(
        &mut self,
        reason: PortReason,
        of_1_0: &v1_0::Port,
        of_1_3: &v1_3::Port,
        but: Option<u32>,
    ) {
        for (_, connection) in self.connections.iter_mut().filter(|(id, _)| Some(**id) != but) {
            match connection.channel.version() {
                Some(Version::V1_0) => {
                    let status = v1_0::PortStatus { reason, port: of_1_0.clone() };
                    connection.send_1_0(0, v1_0::Body::PortStatus(status));
                }
                Some(Version::V1_3)
                    if connection.told.port_status[connection.side()] >> reason as u32 & 1 == 1 =>
                {
                    let status = v1_3::PortStatus { reason, port: of_1_3.clone() };
                    connection.send_1_3(0, v1_3::Body::PortStatus(status));
                }
                _ => {}
            }
        }
    }
}

/// What it means that nothing was heard in a state.
fn silence(state: ChannelState) -> Option<&'static str> {
    match state {
        ChannelState::Waiting | ChannelState::Up => None,
        ChannelState::Connecting => Some("there was no answer in time"),
        ChannelState::Greeting => Some("it has not said its version in time"),
        ChannelState::Probing => Some("it has answered no echo request"),
    }
}

impl Switch {
    /// What happens to a connection.
    pub(super) fn handle_channel(&mut self, now: Time, input: ChannelInput) {
        match input {
            ChannelInput::Opened { connection: id } => {
                if id >= FIRST_INCOMING {
                    self.agent.connections.insert(id, Connection::new(&self.config, false, now));
                }
                if let Some(connection) = self.agent.connections.get_mut(&id) {
                    connection.is_open = true;
                    connection.channel.opened(now);
                }
            }
            ChannelInput::Backlog { connection: id, is_full, is_taking } => {
                if let Some(connection) = self.agent.connections.get_mut(&id) {
                    connection.is_full = is_full && connection.is_open;
                    if is_taking {
                        connection.channel.taken(now);
                    }
                }
                self.read_messages(now, id);
            }
            ChannelInput::Closed { connection: id } => self.connection_closed(now, id, None),
            ChannelInput::Failed { connection: id, why } => self.connection_closed(now, id, Some(why)),
            ChannelInput::Refused { listener, from, why } => self.refused(now, listener, from, why),
            ChannelInput::Received { connection: id, bytes } => {
                if let Some(connection) = self.agent.connections.get_mut(&id) {
                    connection.channel.receive(now, &bytes.0);
                }
                self.read_messages(now, id);
            }
        }
        self.agent.wake();
    }

    /// A connection is over; why, if it is known.
    fn connection_closed(&mut self, now: Time, id: u32, why: Option<String>) {
        let connection = self.agent.connections.get_mut(&id);
        // The end of one that is over already changes nothing, above all not when the next attempt is due.
        let Some(connection) = connection.filter(|one| one.channel.state() != ChannelState::Waiting) else {
            return;
        };
        let is_news = why.is_some() && why != connection.why;
        connection.why.clone_from(&why);
        self.agent.closed(now, id);
        let controller = self.config.controllers.get(id as usize);
        if let (true, Some(controller), Some(why)) = (is_news, controller, why) {
            self.tell(ControllerEvent::ControllerFailed { controller: controller.to_string(), why });
        }
    }

    /// Somebody was turned away where the switch listens.
    fn refused(&mut self, now: Time, listener: u32, from: SocketAddr, why: String) {
        let Some(controller) = self.config.controllers.get(listener as usize) else { return };
        let (controller, last) = (controller.to_string(), (from, why.clone()));
        let refused = match self.agent.refused.entry(listener) {
            Entry::Occupied(known) => {
                let known = known.into_mut();
                (known.count, known.last) = (known.count + 1, last);
                if now < known.told + REFUSED_TOLD {
                    return;
                }
                known.told = now;
                known.count
            }
            Entry::Vacant(new) => new.insert(RefusedView { count: 1, last, told: now }).count,
        };
        self.tell(ControllerEvent::ControllerRefused { controller, from, why, refused });
    }

    fn tell(&mut self, event: ControllerEvent) {
        self.outputs.push_back(Output::Event(Event::Protocol(ProtocolValue::new(event))));
    }

    /// Does what a controller asks, as long as it reads the answers and none of them is still to be found out.
    pub(super) fn read_messages(&mut self, now: Time, id: u32) {
        let is_ready = |one: &&mut Connection| !one.is_congested() && one.asking.is_none();
        while let Some(connection) = self.agent.connections.get_mut(&id).filter(is_ready) {
            let version = connection.channel.version();
            let Some(told) = connection.channel.poll() else { return };
            let message = match told {
                Told::Up(_) => {
                    connection.why = None;
                    continue;
                }
                Told::Malformed(header) => {
                    self.agent.refuse(id, &header, v1_3::Fault::RequestBadLen.numbers());
                    continue;
                }
                Told::Close => return self.agent.close(now, id),
                Told::Message(message) => message,
            };
            let handled = match version {
                Some(Version::V1_0) => match v1_0::Message::parse(&message) {
                    Ok(parsed) => self.handle_1_0(now, id, parsed),
                    Err(malformed) => Err(malformed.answer),
                },
                _ => match v1_3::Message::parse(&message) {
                    Ok(parsed) => self.handle_1_3(now, id, parsed),
                    Err(malformed) => Err(malformed.answer),
                },
            };
            if let Err(code) = handled {
                self.agent.refuse(id, &message, code);
            }
        }
    }
}
