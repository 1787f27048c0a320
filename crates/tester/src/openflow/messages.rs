//! What the controller of the tester sends: messages of version 1.0 or 1.3, which ask for the same.

use super::packets::{exact_1_0, exact_1_3};
use wire::openflow::{Code, ErrorMessage, Hello, NO_BUFFER, Rest, Version};
use wire::openflow::{v1_0, v1_3};

/// The priority of the entries; without wildcards it says nothing in version 1.0.
const PRIORITY: u16 = 0x8000;
/// All of a packet.
const WHOLE: u16 = 0xffff;
/// All tables, in a deletion of version 1.3.
const ALL_TABLES: u8 = 0xff;

/// What an entry does with its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// They leave by a port.
    Port(u16),
    /// They go to the controller, whole.
    Controller,
    /// They are dropped: the entry has no action.
    Nowhere,
}

/// What becomes of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is added.
    Add,
    /// It is added, and goes after so many seconds, of which the controller is told.
    AddFor(u16),
    /// The one that there is is changed.
    Modify,
}

impl Change {
    /// Its hard timeout, and its flags, which are the same in both versions.
    fn until(self) -> (u16, u16) {
        match self {
            Change::AddFor(seconds) => (seconds, v1_3::flow_flags::SEND_FLOW_REM),
            Change::Add | Change::Modify => (0, 0),
        }
    }
}

impl Way {
    fn actions_1_0(self) -> Vec<v1_0::Action> {
        match self {
            Way::Port(port) => vec![v1_0::Action::Output { port, max_len: 0 }],
            Way::Controller => {
                vec![v1_0::Action::Output { port: v1_0::ports::CONTROLLER, max_len: WHOLE }]
            }
            Way::Nowhere => Vec::new(),
        }
    }

    fn actions_1_3(self) -> Vec<v1_3::Action> {
        match self {
            Way::Port(port) => vec![v1_3::Action::Output { port: port.into(), max_len: 0 }],
            Way::Controller => {
                vec![v1_3::Action::Output { port: v1_3::ports::CONTROLLER, max_len: WHOLE }]
            }
            Way::Nowhere => Vec::new(),
        }
    }

    fn instructions(self) -> Vec<v1_3::Instruction> {
        match self.actions_1_3() {
            actions if actions.is_empty() => Vec::new(),
            actions => vec![v1_3::Instruction::ApplyActions { actions }],
        }
    }
}

/// Messages one behind the other, as they go to the channel.
#[derive(Debug)]
pub struct Messages {
    version: Version,
    bytes: Vec<u8>,
}

impl Messages {
    /// None yet, of a version.
    pub fn new(version: Version) -> Messages {
        Messages { version, bytes: Vec::new() }
    }

    /// Their bytes.
    pub fn bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn emit(&mut self, xid: u32, old: impl FnOnce() -> v1_0::Body, new: impl FnOnce() -> v1_3::Body) {
        let emitted = match self.version {
            Version::V1_0 => v1_0::Message { xid, body: old() }.emit(&mut self.bytes),
            Version::V1_3 => v1_3::Message { xid, body: new() }.emit(&mut self.bytes),
        };
        // None of the tester's is longer than a message can be.
        debug_assert!(emitted.is_ok());
    }

    pub fn hello(&mut self) {
        let new = || v1_3::Body::Hello(Hello::with(&[Version::V1_3]));
        self.emit(0, || v1_0::Body::Hello(Hello::default()), new);
    }

    /// Everything that a switch does not know a way for is to come whole.
    pub fn whole_packets(&mut self, xid: u32) {
        let old = || v1_0::Body::SetConfig(v1_0::SwitchConfig { flags: 0, miss_send_len: WHOLE });
        let new = || v1_3::Body::SetConfig(v1_3::SwitchConfig { flags: 0, miss_send_len: WHOLE });
        self.emit(xid, old, new);
    }

    /// No version is spoken by both.
    pub fn hello_failed(&mut self) {
        let Code { kind, code } = v1_3::Fault::Incompatible.numbers();
        let error = || ErrorMessage { kind, code, data: Rest::default() };
        self.emit(0, || v1_0::Body::Error(error()), || v1_3::Body::Error(error()));
    }

    pub fn delete_all(&mut self, xid: u32) {
        let old = || of_1_0(v1_0::Match::ANY, v1_0::Command::Delete, Way::Nowhere);
        let new = || {
            let all = of_1_3(v1_3::Match::default(), v1_3::Command::Delete, PRIORITY, Way::Nowhere);
            v1_3::Body::FlowMod(v1_3::FlowMod { table: ALL_TABLES, ..all })
        };
        self.emit(xid, || v1_0::Body::FlowMod(old()), new);
    }

    /// Packets without an entry are to go to the controller. In version 1.0 they do so by themselves.
    pub fn ask_for_misses(&mut self, xid: u32) {
        if self.version == Version::V1_3 {
            let body = of_1_3(v1_3::Match::default(), v1_3::Command::Add, 0, Way::Controller);
            let is_short =
                v1_3::Message { xid, body: v1_3::Body::FlowMod(body) }.emit(&mut self.bytes).is_ok();
            debug_assert!(is_short);
        }
    }

    /// Adds an entry, or changes the one that there is.
    pub fn entry(&mut self, xid: u32, (number, in_port): (u32, u16), change: Change, way: Way) {
        let (hard_timeout, flags) = change.until();
        let old = || {
            let command = match change {
                Change::Modify => v1_0::Command::ModifyStrict,
                Change::Add | Change::AddFor(_) => v1_0::Command::Add,
            };
            let body = of_1_0(exact_1_0(number, in_port), command, way);
            v1_0::Body::FlowMod(v1_0::FlowMod { hard_timeout, flags, ..body })
        };
        let new = || {
            let command = match change {
                Change::Modify => v1_3::Command::ModifyStrict,
                Change::Add | Change::AddFor(_) => v1_3::Command::Add,
            };
            let body = of_1_3(exact_1_3(number, in_port), command, PRIORITY, way);
            v1_3::Body::FlowMod(v1_3::FlowMod { hard_timeout, flags: v1_3::FlowFlags(flags), ..body })
        };
        self.emit(xid, old, new);
    }

    /// Asks what all entries together have counted.
    pub fn counted(&mut self, xid: u32) {
        let old = || {
            let (matching, table, out_port) = (v1_0::Match::ANY, ALL_TABLES, v1_0::ports::NONE);
            let all = v1_0::FlowStatsRequest { matching, table, out_port };
            v1_0::Body::StatsRequest(v1_0::StatsRequest {
                more: false,
                body: v1_0::StatsRequestBody::Aggregate(all),
            })
        };
        let new = || {
            let all = v1_3::FlowStatsRequest {
                table: ALL_TABLES,
                out_port: v1_3::ports::ANY,
                out_group: v1_3::groups::ANY,
                cookie: 0,
                cookie_mask: 0,
                matching: v1_3::Match::default(),
            };
            let body = v1_3::RequestBody::Aggregate(all);
            v1_3::Body::MultipartRequest(v1_3::MultipartRequest { more: false, body })
        };
        self.emit(xid, old, new);
    }

    pub fn packet_out(&mut self, xid: u32, port: u16, data: &[u8]) {
        let (buffer_id, data) = (NO_BUFFER, || Rest::from(data));
        let old = || {
            let (in_port, actions) = (v1_0::ports::NONE, Way::Port(port).actions_1_0());
            v1_0::Body::PacketOut(v1_0::PacketOut { buffer_id, in_port, actions, data: data() })
        };
        let new = || {
            let (in_port, actions) = (v1_3::ports::CONTROLLER, Way::Port(port).actions_1_3());
            v1_3::Body::PacketOut(v1_3::PacketOut { buffer_id, in_port, actions, data: data() })
        };
        self.emit(xid, old, new);
    }

    pub fn echo(&mut self, xid: u32, data: &[u8]) {
        let data = || Rest::from(data);
        self.emit(xid, || v1_0::Body::EchoRequest(data()), || v1_3::Body::EchoRequest(data()));
    }

    pub fn echo_reply(&mut self, xid: u32, data: &Rest) {
        self.emit(xid, || v1_0::Body::EchoReply(data.clone()), || v1_3::Body::EchoReply(data.clone()));
    }

    pub fn barrier(&mut self, xid: u32) {
        self.emit(xid, || v1_0::Body::BarrierRequest, || v1_3::Body::BarrierRequest);
    }
}

fn of_1_0(matching: v1_0::Match, command: v1_0::Command, way: Way) -> v1_0::FlowMod {
    v1_0::FlowMod { priority: PRIORITY, actions: way.actions_1_0(), ..v1_0::FlowMod::new(command, matching) }
}

fn of_1_3(matching: v1_3::Match, command: v1_3::Command, priority: u16, way: Way) -> v1_3::FlowMod {
    v1_3::FlowMod { priority, instructions: way.instructions(), ..v1_3::FlowMod::new(command, matching) }
}
