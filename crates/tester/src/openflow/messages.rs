//! What the controller of the tester sends: messages of version 1.0.

use super::packets::exact;
use wire::openflow::v1_0::{
    Action, Body, Command, Fault, FlowMod, Match, Message, PacketOut, SwitchConfig, ports,
};
use wire::openflow::{Code, ErrorMessage, Hello, NO_BUFFER, Rest};

/// The priority of the entries; without wildcards it says nothing.
const PRIORITY: u16 = 0x8000;
/// All of a packet.
const WHOLE: u16 = 0xffff;

/// Appends the bytes of a message.
pub fn emit(to: &mut Vec<u8>, xid: u32, body: Body) {
    // None of the tester's is longer than a message can be.
    let is_short = Message { xid, body }.emit(to).is_ok();
    debug_assert!(is_short);
}

pub fn hello(to: &mut Vec<u8>) {
    emit(to, 0, Body::Hello(Hello::default()));
}

/// Everything that a switch does not know a way for is to come whole.
pub fn whole_packets(to: &mut Vec<u8>, xid: u32) {
    emit(to, xid, Body::SetConfig(SwitchConfig { flags: 0, miss_send_len: WHOLE }));
}

/// No version is spoken by both.
pub fn hello_failed(to: &mut Vec<u8>) {
    let Code { kind, code } = Fault::Incompatible.numbers();
    emit(to, 0, Body::Error(ErrorMessage { kind, code, data: Rest::default() }));
}

fn change(matching: Match, command: Command, actions: Vec<Action>) -> Body {
    Body::FlowMod(FlowMod {
        matching,
        cookie: 0,
        command,
        idle_timeout: 0,
        hard_timeout: 0,
        priority: PRIORITY,
        buffer_id: NO_BUFFER,
        out_port: ports::NONE,
        flags: 0,
        actions,
    })
}

pub fn delete_all(to: &mut Vec<u8>, xid: u32) {
    emit(to, xid, change(Match::ANY, Command::Delete, Vec::new()));
}

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

impl Way {
    fn actions(self) -> Vec<Action> {
        match self {
            Way::Port(port) => vec![Action::Output { port, max_len: 0 }],
            Way::Controller => vec![Action::Output { port: ports::CONTROLLER, max_len: WHOLE }],
            Way::Nowhere => Vec::new(),
        }
    }
}

/// Adds an entry, or changes the one that there is.
pub fn entry(to: &mut Vec<u8>, xid: u32, (number, in_port): (u32, u16), is_change: bool, way: Way) {
    let command = if is_change { Command::ModifyStrict } else { Command::Add };
    emit(to, xid, change(exact(number, in_port), command, way.actions()));
}

pub fn packet_out(to: &mut Vec<u8>, xid: u32, port: u16, data: &[u8]) {
    let actions = Way::Port(port).actions();
    let message = PacketOut { buffer_id: NO_BUFFER, in_port: ports::NONE, actions, data: Rest::from(data) };
    emit(to, xid, Body::PacketOut(message));
}

pub fn echo(to: &mut Vec<u8>, xid: u32, data: &[u8]) {
    emit(to, xid, Body::EchoRequest(Rest::from(data)));
}

pub fn echo_reply(to: &mut Vec<u8>, xid: u32, data: Rest) {
    emit(to, xid, Body::EchoReply(data));
}

pub fn barrier(to: &mut Vec<u8>, xid: u32) {
    emit(to, xid, Body::BarrierRequest);
}
