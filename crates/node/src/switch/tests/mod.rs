mod bundles;
mod connections;
mod messages;
mod packets;
mod queues;

use super::*;
use base::protocol_value::ProtocolValue;
use base::time::PS_PER_S;
use base::{MacAddr, Rate};
use forwarding::openflow::{Filter, Pattern};
use proptest::collection::vec;
use proptest::prelude::*;
use wire::Hex;
use wire::openflow::v1_3::{
    Band, Bucket, Buckets, Command as FlowCommand, Fault, FlowFlags, FlowMod, GroupCommand, GroupMod,
    GroupType, Instruction, Match, MeterCommand, MeterFlags, MeterMod, MultipartRequest, Oxm, OxmField,
    PacketInReason, ReplyBody, RequestBody, RoleMessage, flow_flags, groups, meter_flags, ports,
};
use wire::openflow::{Hello, NO_BUFFER, Rest, Version, message_len};
use wire::openflow::{v1_0, v1_3};

fn seconds(seconds: u64) -> Time {
    Time(seconds * PS_PER_S)
}

fn switch(fail: FailMode) -> Switch {
    let port = |number: u8| SwitchPort {
        name: format!("s1-eth{number}"),
        address: MacAddr([2, 0, 0, 0, 1, number]),
        rate: Some(Rate(1_000_000_000)),
        queues: Vec::new(),
    };
    let config = SwitchConfig {
        datapath_id: 0x1234,
        name: "s1".into(),
        versions: Version::ALL.to_vec(),
        controllers: vec![Controller::Connect(Transport::Tcp, [10, 0, 0, 9].into(), 6653)],
        tls: None,
        fail,
        tables: 4,
        max_entries: 100,
        buffers: 4,
        probe: None,
        ports: (1..=3).map(port).collect(),
        seed: Default::default(),
    };
    let mut switch = Switch::new(config, Time::ZERO);
    switch.set_waker(Time::ZERO, Box::new(|| {}));
    switch
}

/// A switch with connections of controllers to it.
struct Bench {
    switch: Switch,
    now: Time,
}

impl Bench {
    fn new() -> Bench {
        Bench { switch: switch(FailMode::Secure), now: Time::ZERO }
    }

    fn tell(&mut self, input: ChannelInput) {
        let command = Command::Protocol(ProtocolValue::new(input));
        self.switch.handle_command(self.now, command);
    }

    fn give(&mut self, connection: u32, bytes: Vec<u8>) {
        self.tell(ChannelInput::Received { connection, bytes: Hex(bytes) });
    }

    /// A controller that speaks one version connects.
    fn connect(&mut self, version: Version) -> u32 {
        let connection = FIRST_INCOMING + self.switch.connections().count() as u32;
        self.tell(ChannelInput::Opened { connection });
        let mut bytes = Vec::new();
        let hello = Hello::default();
        match version {
            Version::V1_0 => v1_0::Message { xid: 1, body: v1_0::Body::Hello(hello) }.emit(&mut bytes),
            Version::V1_3 => v1_3::Message { xid: 1, body: v1_3::Body::Hello(hello) }.emit(&mut bytes),
        }
        .expect("a short message");
        self.give(connection, bytes);
        assert_eq!(self.sent(connection).len(), 1, "HELLO");
        connection
    }

    /// Messages that the switch has sent by a connection; those by others are lost.
    fn sent(&mut self, to: u32) -> Vec<Vec<u8>> {
        let mut stream = Vec::new();
        while let Some(output) = self.switch.poll_channel() {
            if let ChannelOutput::Send { connection, bytes } = output
                && connection == to
            {
                stream.extend(bytes);
            }
        }
        let mut messages = Vec::new();
        while let Some(len) = message_len(&stream) {
            messages.push(stream.drain(..len).collect());
        }
        assert!(stream.is_empty());
        messages
    }

    fn ask(&mut self, to: u32, body: v1_3::Body) -> Vec<v1_3::Body> {
        let mut bytes = Vec::new();
        v1_3::Message { xid: 5, body }.emit(&mut bytes).expect("a message");
        self.give(to, bytes);
        self.heard(to)
    }

    fn heard(&mut self, to: u32) -> Vec<v1_3::Body> {
        let sent = self.sent(to);
        sent.iter().map(|bytes| v1_3::Message::parse(bytes).expect("a message").body).collect()
    }

    fn ask_1_0(&mut self, to: u32, body: v1_0::Body) -> Vec<v1_0::Body> {
        let mut bytes = Vec::new();
        v1_0::Message { xid: 5, body }.emit(&mut bytes).expect("a message");
        self.give(to, bytes);
        self.heard_1_0(to)
    }

    fn heard_1_0(&mut self, to: u32) -> Vec<v1_0::Body> {
        let sent = self.sent(to);
        sent.iter().map(|bytes| v1_0::Message::parse(bytes).expect("a message").body).collect()
    }

    fn fault(&mut self, to: u32, body: v1_3::Body) -> Option<Fault> {
        match &self.ask(to, body)[..] {
            [] => None,
            [v1_3::Body::Error(error)] => Fault::of(error.numbers()),
            other => panic!("{other:?}"),
        }
    }

    fn stats(&mut self, to: u32, body: RequestBody) -> ReplyBody {
        match self.ask(to, v1_3::Body::MultipartRequest(MultipartRequest { more: false, body })).pop() {
            Some(v1_3::Body::MultipartReply(reply)) => reply.body,
            other => panic!("{other:?}"),
        }
    }

    /// A frame comes by a port: by which ports it leaves.
    fn frame(&mut self, port: u16) -> Vec<u16> {
        let mut frame = [Frame::from_bytes(&FRAME)];
        let mut verdict = [Verdict::Punt];
        self.switch.forward_batch(self.now, PortId(port - 1), &mut frame, &mut verdict);
        match verdict[0] {
            Verdict::Transmit { port, .. } => return vec![port.0 + 1],
            Verdict::Replicate => {
                let [frame] = frame;
                self.switch.handle_packet(self.now, PortId(port - 1), frame);
            }
            _ => {}
        }
        self.left()
    }

    fn left(&mut self) -> Vec<u16> {
        let outputs = core::iter::from_fn(|| self.switch.poll_output());
        outputs
            .filter_map(|output| match output {
                Output::Transmit { port, .. } => Some(port.0 + 1),
                _ => None,
            })
            .collect()
    }
}

const FRAME: [u8; 200] = {
    let mut frame = [7; 200];
    (frame[0], frame[6], frame[11], frame[12], frame[13]) = (2, 2, 8, 0x88, 0xb5);
    frame
};

fn to(port: u32) -> Action {
    Action::Output { port, max_len: 64 }
}

fn apply(actions: Vec<Action>) -> Vec<Instruction> {
    vec![Instruction::ApplyActions { actions }]
}

fn flow(command: FlowCommand, fields: Vec<Oxm>, instructions: Vec<Instruction>) -> FlowMod {
    FlowMod { priority: 5, instructions, ..FlowMod::new(command, Match { fields }) }
}

fn add(fields: Vec<Oxm>, actions: Vec<Action>) -> v1_3::Body {
    v1_3::Body::FlowMod(flow(FlowCommand::Add, fields, apply(actions)))
}
