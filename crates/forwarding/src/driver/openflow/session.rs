//! The connection to the switch: versions, what it has when it connects, and the messages to it.

use super::entry::{Entry, cookie};
use base::plane::TableError;
use base::{PortId, Span, Time};
use std::collections::VecDeque;
use wire::openflow::v1_3::{
    Action, AsyncConfig, Band, Body, Command, Fault, FlowMod, FlowStats, FlowStatsRequest, Match, Message,
    MeterCommand, MeterFlags, MeterMod, MultipartReply, MultipartRequest, OxmField, PacketOut, Port,
    ReplyBody, RequestBody, SwitchConfig, groups, meter_flags, ports,
};
use wire::openflow::{Code, ErrorMessage, Hello, NO_BUFFER, PortReason, Rest, Version, message_len};

/// The meter of packets for want of an entry, and of those of protocols.
pub(super) const PUNTS: u32 = 1;
pub(super) const PROTOCOLS: u32 = 2;
/// All tables, in a message about entries.
const ALL_TABLES: u8 = 0xff;
/// The port has no link: OFPPS_LINK_DOWN.
const LINK_DOWN: u32 = 1;
/// The port is switched off: OFPPC_PORT_DOWN.
const PORT_DOWN: u32 = 1;
/// Everything of a message type is to be told: no match, action, invalid TTL; ports that come, go or change.
const TOLD: AsyncConfig =
    AsyncConfig { packet_in: [0b111; 2], port_status: [0b111; 2], flow_removed: [0; 2] };

/// How far a connection is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// There is none.
    #[default]
    None,
    /// Both ends say which versions they speak.
    Greeting,
    /// The entries that the switch has are read.
    Reading,
    /// It has what it should have, or that is on its way.
    Up,
    /// The switch does not speak version 1.3.
    Refused,
    /// The switch says nothing, not even when it is asked: its connection is to be closed.
    Silent,
}

/// What the driver hears.
#[derive(Debug)]
pub(super) enum Heard {
    /// All entries of the switch are known ([`Session::take_rows`]).
    Synchronise,
    /// All before the barrier with this number is done.
    Barrier(u32),
    /// The message with this number was not done.
    Failed(u32, TableError),
    /// A packet that came by a port.
    Frame(PortId, Vec<u8>),
    /// A port can be used from now on, or not.
    Port(PortId, bool),
}

/// A connection, and the messages on it.
#[derive(Debug, Default)]
pub(super) struct Session {
    state: State,
    epoch: u64,
    xid: u32,
    input: Vec<u8>,
    output: Vec<u8>,
    rows: Vec<FlowStats>,
    heard: VecDeque<Heard>,
    /// Meters that are there already are changed: by the number of the message that was to add them.
    adding: Vec<(u32, u32, u32)>,
    settings: Settings,
    /// When the switch has said something for the last time.
    heard_at: Time,
    /// When it was asked whether it is there, unless it has said something since.
    asked_at: Option<Time>,
}

/// What users have said of the connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Settings {
    /// Packets a second that each of the two meters lets through.
    pub rates: [u32; 2],
    /// After how long a silent switch is asked whether it is there; never if absent.
    pub probe: Option<Span>,
}

/// The port of the router that is a port of the switch.
fn port_of(number: u32) -> Option<PortId> {
    u16::try_from(number.checked_sub(1)?).ok().map(PortId)
}

fn flow_mod(command: Command, (table, priority): (u8, u16), cookie: u64, matching: Match) -> FlowMod {
    FlowMod { cookie, table, priority, ..FlowMod::new(command, matching) }
}

impl Session {
    pub fn is_up(&self) -> bool {
        self.state == State::Up
    }

    /// Is the connection to be closed: does the switch not speak version 1.3, or is it silent?
    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Refused | State::Silent)
    }

    /// When [`Session::handle_timeout`] is to be called.
    pub fn poll_timeout(&self) -> Option<Time> {
        let is_there = matches!(self.state, State::Greeting | State::Reading | State::Up);
        let probe = self.settings.probe.filter(|_| is_there)?;
        Some(self.asked_at.unwrap_or(self.heard_at) + probe)
    }

    /// A silent switch is asked whether it is there, once. True if it is taken to be gone now.
    pub fn handle_timeout(&mut self, now: Time) -> bool {
        if self.poll_timeout().is_none_or(|due| due > now) {
            return false;
        }
        if self.asked_at.is_none() && self.state != State::Greeting {
            self.asked_at = Some(now);
            self.send(Body::EchoRequest(Rest::default()));
            return false;
        }
        self.state = State::Silent;
        true
    }

    pub fn word(&self) -> &'static str {
        match self.state {
            State::None => "none",
            State::Greeting => "greeting",
            State::Reading => "reading",
            State::Up => "up",
            State::Refused => "refused",
            State::Silent => "silent",
        }
    }

    /// None yet.
    pub fn new(settings: Settings) -> Session {
        Session { settings, ..Session::default() }
    }

    fn emit(&mut self, xid: u32, body: Body) {
        // No message of the driver is longer than one can be, but for a packet that is.
        let _ = Message { xid, body }.emit(&mut self.output);
    }

    fn send(&mut self, body: Body) -> u32 {
        self.xid = self.xid.wrapping_add(1).max(1);
        self.emit(self.xid, body);
        self.xid
    }

    /// A connection is there, the `epoch`th.
    pub fn open(&mut self, now: Time, epoch: u64) {
        let Session { xid, settings, .. } = *self;
        *self = Session { state: State::Greeting, epoch, xid, settings, heard_at: now, ..Session::default() };
        self.send(Body::Hello(Hello::with(&[Version::V1_3])));
    }

    pub fn close(&mut self) {
        let Session { epoch, xid, settings, .. } = *self;
        *self = Session { epoch, xid, settings, ..Session::default() };
    }

    pub fn has_output(&self) -> bool {
        !self.output.is_empty()
    }

    pub fn take_output(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.output)
    }

    pub fn take_rows(&mut self) -> Vec<FlowStats> {
        core::mem::take(&mut self.rows)
    }

    pub fn poll(&mut self) -> Option<Heard> {
        self.heard.pop_front()
    }

    /// Adds an entry, in the place of one that has its match and priority: the number of the message.
    pub fn add(&mut self, entry: &Entry) -> u32 {
        let cookie = cookie(entry, self.epoch);
        let place = (entry.table, entry.priority);
        let mut message = flow_mod(Command::Add, place, cookie, entry.matching.clone());
        message.instructions.clone_from(&entry.instructions);
        self.send(Body::FlowMod(message))
    }

    /// Deletes the entry with this match and priority.
    pub fn delete(&mut self, table: u8, priority: u16, matching: &Match) -> u32 {
        let message = flow_mod(Command::DeleteStrict, (table, priority), 0, matching.clone());
        self.send(Body::FlowMod(message))
    }

    pub fn barrier(&mut self) -> u32 {
        self.send(Body::BarrierRequest)
    }

    pub fn packet_out(&mut self, port: u32, data: &[u8]) {
        let actions = vec![Action::Output { port, max_len: 0 }];
        let data = Rest::from(data);
        let message = PacketOut { buffer_id: NO_BUFFER, in_port: ports::CONTROLLER, actions, data };
        self.send(Body::PacketOut(message));
    }

    fn meter(&mut self, command: MeterCommand, meter: u32, rate: u32) -> u32 {
        let flags = MeterFlags(meter_flags::PKTPS | meter_flags::BURST);
        let bands = vec![Band::Drop { rate, burst: rate }];
        self.send(Body::MeterMod(MeterMod { command, flags, meter, bands }))
    }

    /// Bytes have come.
    pub fn receive(&mut self, now: Time, bytes: &[u8]) {
        (self.heard_at, self.asked_at) = (now, None);
        self.input.extend_from_slice(bytes);
        let input = core::mem::take(&mut self.input);
        let mut read = 0;
        while let Some(len) = message_len(&input[read..]) {
            let bytes = &input[read..read + len];
            read += len;
            if self.state == State::Greeting {
                self.greet(bytes);
            } else if let Ok(message) = Message::parse(bytes) {
                self.hear(message);
            }
        }
        self.input = input[read..].to_vec();
    }

    /// The first message says which versions the switch speaks.
    fn greet(&mut self, bytes: &[u8]) {
        // A HELLO is laid out as in 1.3 in all later versions, and empty in earlier ones.
        let hello = match Message::parse(&[&[Version::V1_3 as u8], &bytes[1..]].concat()) {
            Ok(Message { body: Body::Hello(hello), .. }) => hello,
            _ => Hello::default(),
        };
        if bytes[1] != 0 || hello.agree(bytes[0], &[Version::V1_3]).is_none() {
            self.state = State::Refused;
            let Code { kind, code } = Fault::Incompatible.numbers();
            self.send(Body::Error(ErrorMessage { kind, code, data: Rest::default() }));
            return;
        }
        self.state = State::Reading;
        self.send(Body::SetConfig(SwitchConfig { flags: 0, miss_send_len: 0xffff }));
        self.send(Body::SetAsync(TOLD));
        for (meter, rate) in [PUNTS, PROTOCOLS].into_iter().zip(self.settings.rates) {
            let xid = self.meter(MeterCommand::Add, meter, rate);
            self.adding.push((xid, meter, rate));
        }
        // Entries name these meters, and a switch may do later messages first (its answer is about no batch).
        self.barrier();
        let more = MultipartRequest { more: false, body: RequestBody::PortDescription };
        self.send(Body::MultipartRequest(more));
        let every = FlowStatsRequest {
            table: ALL_TABLES,
            out_port: ports::ANY,
            out_group: groups::ANY,
            cookie: 0,
            cookie_mask: 0,
            matching: Match::default(),
        };
        self.send(Body::MultipartRequest(MultipartRequest { more: false, body: RequestBody::Flow(every) }));
    }

    fn hear(&mut self, message: Message) {
        match message.body {
            Body::EchoRequest(data) => self.emit(message.xid, Body::EchoReply(data)),
            Body::MultipartReply(MultipartReply { more, body: ReplyBody::Flow(rows) }) => {
                self.rows.extend(rows);
                if !more && self.state == State::Reading {
                    self.state = State::Up;
                    self.heard.push_back(Heard::Synchronise);
                }
            }
            Body::MultipartReply(MultipartReply { body: ReplyBody::PortDescription(ports), .. }) => {
                ports.iter().for_each(|port| self.port(port));
            }
            Body::PortStatus(mut status) => {
                if status.reason == PortReason::Delete {
                    status.port.state |= LINK_DOWN;
                }
                self.port(&status.port);
            }
            Body::BarrierReply => self.heard.push_back(Heard::Barrier(message.xid)),
            Body::PacketIn(packet) => {
                let by = packet.matching.fields.iter().find(|field| field.field == OxmField::InPort);
                let port = by.and_then(|field| u32::try_from(field.value).ok()).and_then(port_of);
                if let Some(port) = port {
                    self.heard.push_back(Heard::Frame(port, packet.data.0));
                }
            }
            Body::Error(error) => self.error(message.xid, &error),
            _ => {}
        }
    }

    fn error(&mut self, xid: u32, error: &ErrorMessage) {
        let code = Code { kind: error.kind, code: error.code };
        if let Some(place) = self.adding.iter().position(|(added, ..)| *added == xid) {
            let (_, meter, rate) = self.adding.swap_remove(place);
            self.meter(MeterCommand::Modify, meter, rate);
            return;
        }
        let why = if code == Fault::TableFull.numbers() { TableError::Full } else { TableError::Refused };
        self.heard.push_back(Heard::Failed(xid, why));
    }

    fn port(&mut self, port: &Port) {
        if let Some(own) = port_of(port.number).filter(|_| port.number <= ports::MAX) {
            let is_up = port.state & LINK_DOWN == 0 && port.config & PORT_DOWN == 0;
            self.heard.push_back(Heard::Port(own, is_up));
        }
    }
}
