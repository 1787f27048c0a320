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
    };
    let config = SwitchConfig {
        datapath_id: 0x1234,
        name: "s1".into(),
        versions: Version::ALL.to_vec(),
        controllers: vec![Controller::Connect([10, 0, 0, 9].into(), 6653)],
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
    FlowMod {
        cookie: 0,
        cookie_mask: 0,
        table: 0,
        command,
        idle_timeout: 0,
        hard_timeout: 0,
        priority: 5,
        buffer_id: NO_BUFFER,
        out_port: ports::ANY,
        out_group: groups::ANY,
        flags: FlowFlags(0),
        matching: Match { fields },
        instructions,
    }
}

fn add(fields: Vec<Oxm>, actions: Vec<Action>) -> v1_3::Body {
    v1_3::Body::FlowMod(flow(FlowCommand::Add, fields, apply(actions)))
}

#[test]
fn a_controller_of_1_3_writes_the_tables_and_reads_them() {
    let mut bench = Bench::new();
    let one = bench.connect(Version::V1_3);
    let Some(v1_3::Body::FeaturesReply(features)) = bench.ask(one, v1_3::Body::FeaturesRequest).pop() else {
        panic!("features")
    };
    assert_eq!((features.datapath_id, features.tables, features.buffers), (0x1234, 4, 4));
    assert_eq!(bench.frame(1), [0; 0], "without an entry nothing leaves");
    let in_port = Oxm::exact(OxmField::InPort, 1);
    assert_eq!(bench.fault(one, add(vec![in_port], vec![to(2)])), None);
    assert_eq!(bench.frame(1), [2]);
    assert_eq!(bench.fault(one, add(vec![], vec![to(ports::FLOOD)])), None);
    assert_eq!(bench.frame(2), [1, 3]);
    let ask = v1_3::FlowStatsRequest {
        table: 0xff,
        out_port: ports::ANY,
        out_group: groups::ANY,
        cookie: 0,
        cookie_mask: 0,
        matching: Match::default(),
    };
    let ReplyBody::Flow(rows) = bench.stats(one, RequestBody::Flow(ask)) else { panic!("flows") };
    assert_eq!((rows.len(), rows[0].packets, rows[0].bytes), (2, 1, 200));
    assert_eq!((&rows[0].matching.fields, &rows[0].instructions), (&vec![in_port], &apply(vec![to(2)])));
    let ReplyBody::PortDescription(all) = bench.stats(one, RequestBody::PortDescription) else {
        panic!("ports")
    };
    assert_eq!((all.len(), all[0].name.0.as_str(), all[0].current_speed), (3, "s1-eth1", 1_000_000));
    assert_eq!(bench.ask(one, v1_3::Body::BarrierRequest), [v1_3::Body::BarrierReply]);
}

#[test]
fn every_question_is_answered() {
    let mut bench = Bench::new();
    let one = bench.connect(Version::V1_3);
    let flows = || v1_3::FlowStatsRequest {
        table: 0xff,
        out_port: ports::ANY,
        out_group: groups::ANY,
        cookie: 0,
        cookie_mask: 0,
        matching: Match::default(),
    };
    let all = [
        RequestBody::Description,
        RequestBody::Flow(flows()),
        RequestBody::Aggregate(flows()),
        RequestBody::Table,
        RequestBody::PortStats(v1_3::PortRequest { port: ports::ANY }),
        RequestBody::Queue(v1_3::QueueRequest { port: ports::ANY, queue: u32::MAX }),
        RequestBody::Group(v1_3::GroupRequest { group: groups::ALL }),
        RequestBody::GroupDescription,
        RequestBody::GroupFeatures,
        RequestBody::Meter(v1_3::MeterRequest { meter: u32::MAX }),
        RequestBody::MeterConfig(v1_3::MeterRequest { meter: u32::MAX }),
        RequestBody::MeterFeatures,
        RequestBody::TableFeatures(Vec::new()),
        RequestBody::PortDescription,
    ];
    for body in all {
        bench.stats(one, body);
    }
    let two = bench.connect(Version::V1_0);
    let flows =
        || v1_0::FlowStatsRequest { matching: v1_0::Match::ANY, table: 0xff, out_port: v1_0::ports::NONE };
    let all = [
        v1_0::StatsRequestBody::Description,
        v1_0::StatsRequestBody::Flow(flows()),
        v1_0::StatsRequestBody::Aggregate(flows()),
        v1_0::StatsRequestBody::Table,
        v1_0::StatsRequestBody::Port(v1_0::PortStatsRequest { port: v1_0::ports::NONE }),
        v1_0::StatsRequestBody::Queue(v1_0::QueueStatsRequest { port: v1_0::ports::ALL, queue: u32::MAX }),
    ];
    for body in all {
        let ask = v1_0::StatsRequest { more: false, body };
        let answer = bench.ask_1_0(two, v1_0::Body::StatsRequest(ask));
        assert!(matches!(answer[..], [v1_0::Body::StatsReply(_)]), "{answer:?}");
    }
}

#[test]
fn what_can_not_be_done_is_refused_by_its_name() {
    let mut bench = Bench::new();
    let one = bench.connect(Version::V1_3);
    let set = |field, value| Action::SetField { set: v1_3::Setting(Oxm::exact(field, value)) };
    let kind = |kind| Oxm::exact(OxmField::EthType, kind);
    let cases = [
        (add(vec![], vec![to(0)]), Fault::BadOutPort),
        (add(vec![], vec![to(ports::TABLE)]), Fault::BadOutPort),
        (add(vec![], vec![to(ports::LOCAL)]), Fault::BadOutPort),
        (add(vec![], vec![Action::Group { group: 9 }]), Fault::BadOutGroup),
        (add(vec![], vec![Action::SetQueue { queue: 1 }]), Fault::BadActionQueue),
        (add(vec![], vec![Action::PushVlan { ethertype: 0x0800 }]), Fault::BadArgument),
        (add(vec![], vec![set(OxmField::Ipv4Src, 1)]), Fault::MatchInconsistent),
        (add(vec![kind(0x0800)], vec![set(OxmField::TcpSrc, 1)]), Fault::MatchInconsistent),
        (add(vec![], vec![Action::PopVlan]), Fault::MatchInconsistent),
        (add(vec![], vec![Action::DecNwTtl]), Fault::MatchInconsistent),
        (
            v1_3::Body::FlowMod(flow(FlowCommand::Add, vec![], vec![Instruction::GotoTable { table: 0 }])),
            Fault::BadInstTableId,
        ),
        (
            v1_3::Body::FlowMod(flow(FlowCommand::Add, vec![], vec![Instruction::Meter { meter: 3 }])),
            Fault::UnknownMeter,
        ),
        (
            v1_3::Body::FlowMod(FlowMod { table: 4, ..flow(FlowCommand::Add, vec![], vec![]) }),
            Fault::BadTableId,
        ),
        (
            v1_3::Body::FlowMod(FlowMod { buffer_id: 77, ..flow(FlowCommand::Add, vec![], vec![]) }),
            Fault::BufferUnknown,
        ),
        (
            v1_3::Body::PortMod(v1_3::PortMod {
                number: 9,
                address: MacAddr([0; 6]),
                config: 0,
                mask: 0,
                advertise: 0,
            }),
            Fault::BadPort,
        ),
        (
            v1_3::Body::PortMod(v1_3::PortMod {
                number: 1,
                address: MacAddr([0; 6]),
                config: 0,
                mask: 0,
                advertise: 0,
            }),
            Fault::BadHwAddr,
        ),
        (v1_3::Body::TableMod(v1_3::TableMod { table: 9, config: 0 }), Fault::TableModBadTable),
        (v1_3::Body::BarrierReply, Fault::BadType),
    ];
    for (body, fault) in cases {
        assert_eq!(bench.fault(one, body.clone()), Some(fault), "{body:?}");
    }
    // With the tag or label that an action before puts on, it can be done.
    let tag = vec![Action::PushVlan { ethertype: 0x8100 }, set(OxmField::VlanVid, 0x1005)];
    assert_eq!(bench.fault(one, add(vec![], tag)), None);
    let label = vec![Action::PushMpls { ethertype: 0x8847 }, set(OxmField::MplsLabel, 5), Action::DecMplsTtl];
    assert_eq!(bench.fault(one, add(vec![kind(0x0800)], label)), None);
    assert!(bench.switch.errors().map(|(_, count)| count).sum::<u64>() >= 18);
}

#[test]
fn packets_without_an_entry_go_to_controllers_of_1_0_alone_and_wait_in_buffers() {
    let mut bench = Bench::new();
    let (old, new) = (bench.connect(Version::V1_0), bench.connect(Version::V1_3));
    bench.frame(1);
    let got = bench.heard_1_0(old);
    let [v1_0::Body::PacketIn(packet)] = &got[..] else { panic!("{got:?}") };
    assert_eq!((packet.total_len, packet.in_port, packet.data.0.len()), (200, 1, 128));
    assert_eq!(bench.frame(1), [0; 0]);
    assert_eq!(bench.heard(new), []);
    let out = |buffer_id| {
        v1_0::Body::PacketOut(v1_0::PacketOut {
            buffer_id,
            in_port: 1,
            actions: vec![v1_0::Action::Output { port: v1_0::ports::FLOOD, max_len: 0 }],
            data: Rest::default(),
        })
    };
    assert_eq!(bench.ask_1_0(old, out(packet.buffer_id)), []);
    assert_eq!(bench.left(), [2, 3]);
    let again = bench.ask_1_0(old, out(packet.buffer_id));
    let [v1_0::Body::Error(error)] = &again[..] else { panic!("{again:?}") };
    assert_eq!(v1_0::Fault::of(error.numbers()), Some(v1_0::Fault::BufferEmpty));
    // In 1.3 an entry of priority zero asks for them, here for all of them.
    let whole = Action::Output { port: ports::CONTROLLER, max_len: 0xffff };
    let last = FlowMod { priority: 0, ..flow(FlowCommand::Add, vec![], apply(vec![whole])) };
    assert_eq!(bench.fault(new, v1_3::Body::FlowMod(last)), None);
    bench.frame(2);
    let got = bench.heard(new);
    let [v1_3::Body::PacketIn(packet)] = &got[..] else { panic!("{got:?}") };
    assert_eq!((packet.reason, packet.buffer_id), (PacketInReason::NoMatch, NO_BUFFER));
    assert_eq!(
        (packet.data.0.len(), &packet.matching.fields[..]),
        (200, &[Oxm::exact(OxmField::InPort, 2)][..])
    );
}

#[test]
fn a_packet_out_of_1_3_need_not_have_come_by_a_port() {
    let mut bench = Bench::new();
    let one = bench.connect(Version::V1_3);
    let out = |in_port| {
        let data = Rest::from(&FRAME[..]);
        let actions = vec![to(ports::FLOOD)];
        v1_3::Body::PacketOut(v1_3::PacketOut { buffer_id: NO_BUFFER, in_port, actions, data })
    };
    for (in_port, left) in [(ports::ANY, vec![1, 2, 3]), (ports::CONTROLLER, vec![1, 2, 3]), (1, vec![2, 3])]
    {
        assert_eq!((bench.fault(one, out(in_port)), bench.left()), (None, left));
    }
    assert_eq!(bench.fault(one, out(ports::FLOOD)), Some(Fault::RequestBadPort));
}

#[test]
fn a_length_that_is_less_than_a_header_is_answered_and_ends_the_connection() {
    for version in Version::ALL {
        let mut bench = Bench::new();
        let one = bench.connect(version);
        bench.give(one, vec![version as u8, 5, 0, 3, 0, 0, 0, 5, version as u8, 5, 0, 8, 0, 0, 0, 6]);
        let outputs: Vec<_> = core::iter::from_fn(|| bench.switch.poll_channel()).collect();
        let [ChannelOutput::Send { bytes, .. }, ChannelOutput::Close { connection }] = &outputs[..] else {
            panic!("{outputs:?}")
        };
        // An ERROR of type BAD_REQUEST and code BAD_LEN that quotes the header.
        let quoted = [version as u8, 5, 0, 3, 0, 0, 0, 5];
        assert_eq!(bytes[..], [&[version as u8, 1, 0, 20, 0, 0, 0, 5, 0, 1, 0, 6], &quoted[..]].concat());
        assert_eq!((*connection, bench.switch.errors().count()), (one, 1));
    }
}

#[test]
fn a_flow_mod_with_a_buffer_sends_the_packet() {
    let mut bench = Bench::new();
    let old = bench.connect(Version::V1_0);
    bench.frame(1);
    let Some(v1_0::Body::PacketIn(packet)) = bench.heard_1_0(old).pop() else { panic!("a packet") };
    let change = v1_0::FlowMod {
        matching: v1_0::Match { wildcards: v1_0::wildcards::ALL & !1, in_port: 1, ..v1_0::Match::ANY },
        cookie: 3,
        command: v1_0::Command::Modify,
        idle_timeout: 0,
        hard_timeout: 2,
        priority: 7,
        buffer_id: packet.buffer_id,
        out_port: v1_0::ports::NONE,
        flags: v1_0::flow_flags::SEND_FLOW_REM,
        actions: vec![v1_0::Action::Output { port: 3, max_len: 0 }],
    };
    assert_eq!(bench.ask_1_0(old, v1_0::Body::FlowMod(change)), [], "a change that finds nothing adds");
    assert_eq!(bench.left(), [3]);
    assert_eq!(bench.frame(1), [3]);
    bench.now = seconds(2);
    assert_eq!(bench.switch.poll_timeout(), Some(Time::ZERO), "the connection that it wants itself");
    bench.switch.handle_timeout(seconds(2));
    let got = bench.heard_1_0(old);
    let [v1_0::Body::FlowRemoved(gone)] = &got[..] else { panic!("{got:?}") };
    assert_eq!((gone.cookie, gone.duration_s, gone.packets), (3, 2, 1));
    assert_eq!(gone.reason, v1_0::RemovedReason::HardTimeout);
}

#[test]
fn a_change_of_1_0_sets_the_cookie_and_one_of_1_3_does_not() {
    let mut bench = Bench::new();
    let (old, new) = (bench.connect(Version::V1_0), bench.connect(Version::V1_3));
    let change = |command, cookie| {
        v1_0::Body::FlowMod(v1_0::FlowMod {
            matching: v1_0::Match::ANY,
            cookie,
            command,
            idle_timeout: 0,
            hard_timeout: 0,
            priority: 5,
            buffer_id: NO_BUFFER,
            out_port: v1_0::ports::NONE,
            flags: 0,
            actions: vec![v1_0::Action::Output { port: 3, max_len: 0 }],
        })
    };
    let cookie = |bench: &Bench| bench.switch.datapath.tables[0].entry(0).map(|entry| entry.cookie);
    let commands = [v1_0::Command::Add, v1_0::Command::Modify, v1_0::Command::ModifyStrict];
    for (command, number) in commands.into_iter().zip(1..) {
        assert_eq!(bench.ask_1_0(old, change(command, number)), []);
        assert_eq!(cookie(&bench), Some(number));
    }
    let change = FlowMod { cookie: 9, ..flow(FlowCommand::Modify, vec![], apply(vec![to(2)])) };
    assert_eq!(bench.fault(new, v1_3::Body::FlowMod(change)), None);
    assert_eq!((cookie(&bench), bench.frame(1)), (Some(3), vec![2]));
}

#[test]
fn entries_of_1_0_without_wildcards_have_the_highest_priority() {
    let mut bench = Bench::new();
    let old = bench.connect(Version::V1_0);
    let change = |matching, priority, port| {
        v1_0::Body::FlowMod(v1_0::FlowMod {
            matching,
            cookie: 0,
            command: v1_0::Command::Add,
            idle_timeout: 0,
            hard_timeout: 0,
            priority,
            buffer_id: NO_BUFFER,
            out_port: v1_0::ports::NONE,
            flags: 0,
            actions: vec![v1_0::Action::Output { port, max_len: 0 }],
        })
    };
    let exact = v1_0::Match {
        wildcards: 0,
        in_port: 1,
        dl_dst: MacAddr([2, 7, 7, 7, 7, 7]),
        dl_src: MacAddr([2, 7, 7, 7, 7, 8]),
        dl_vlan: v1_0::VLAN_NONE,
        dl_type: 0x88b5,
        ..v1_0::Match::ANY
    };
    assert_eq!(bench.ask_1_0(old, change(v1_0::Match::ANY, 60_000, 2)), []);
    assert_eq!(bench.ask_1_0(old, change(exact, 1, 3)), []);
    assert_eq!(bench.frame(1), [3]);
}

#[test]
fn there_is_one_master_and_slaves_only_read() {
    let mut bench = Bench::new();
    let (a, b) = (bench.connect(Version::V1_3), bench.connect(Version::V1_3));
    let role = |role, generation| v1_3::Body::RoleRequest(RoleMessage { role, generation });
    let answered = |answer: Vec<v1_3::Body>| match &answer[..] {
        [v1_3::Body::RoleReply(reply)] => reply.role,
        other => panic!("{other:?}"),
    };
    assert_eq!(answered(bench.ask(a, role(Role::Master, 5))), Role::Master);
    assert_eq!(answered(bench.ask(b, role(Role::Master, 6))), Role::Master);
    assert_eq!(answered(bench.ask(a, role(Role::NoChange, 0))), Role::Slave);
    assert_eq!(bench.fault(a, role(Role::Master, 5)), Some(Fault::RoleStale));
    assert_eq!(bench.fault(a, add(vec![], vec![to(2)])), Some(Fault::IsSlave));
    assert_eq!(bench.fault(b, add(vec![], vec![to(ports::CONTROLLER)])), None);
    bench.frame(1);
    let mut streams = (0, 0);
    while let Some(output) = bench.switch.poll_channel() {
        match output {
            ChannelOutput::Send { connection, .. } if connection == a => streams.0 += 1,
            ChannelOutput::Send { connection, .. } if connection == b => streams.1 += 1,
            _ => {}
        }
    }
    assert_eq!(streams, (0, 1), "a slave gets no packets");
}

#[test]
fn a_port_that_changes_is_told_to_all_but_who_changed_it() {
    let mut bench = Bench::new();
    let (a, b) = (bench.connect(Version::V1_3), bench.connect(Version::V1_0));
    let change =
        v1_3::PortMod { number: 2, address: MacAddr([2, 0, 0, 0, 1, 2]), config: 1, mask: 1, advertise: 0 };
    let mut bytes = Vec::new();
    v1_3::Message { xid: 5, body: v1_3::Body::PortMod(change) }.emit(&mut bytes).expect("a message");
    bench.give(a, bytes);
    let got = bench.heard_1_0(b);
    let [v1_0::Body::PortStatus(status)] = &got[..] else { panic!("{got:?}") };
    assert_eq!((status.port.number, status.port.config, status.port.state), (2, 1, 1));
    bench.switch.handle_command(bench.now, Command::PortDown(PortId(0)));
    let got = bench.heard(a);
    assert!(matches!(&got[..], [v1_3::Body::PortStatus(status)] if status.port.number == 1), "{got:?}");
}

#[test]
fn groups_and_meters_take_their_entries_with_them() {
    let mut bench = Bench::new();
    let one = bench.connect(Version::V1_3);
    let bucket = |port| Bucket {
        weight: 0,
        watch_port: ports::ANY,
        watch_group: groups::ANY,
        actions: vec![to(port)],
    };
    let group = |command| {
        let buckets = Buckets(vec![bucket(2), bucket(3)]);
        v1_3::Body::GroupMod(GroupMod { command, kind: GroupType::All, group: 1, buckets })
    };
    let meter = |command| {
        let (flags, bands) = (MeterFlags(meter_flags::KBPS), vec![Band::Drop { rate: 1_000, burst: 0 }]);
        v1_3::Body::MeterMod(MeterMod { command, flags, meter: 1, bands })
    };
    assert_eq!(bench.fault(one, group(GroupCommand::Add)), None);
    assert_eq!(bench.fault(one, group(GroupCommand::Add)), Some(Fault::GroupExists));
    assert_eq!(bench.fault(one, meter(MeterCommand::Add)), None);
    let mut entry = flow(FlowCommand::Add, vec![], apply(vec![Action::Group { group: 1 }]));
    entry.flags = FlowFlags(flow_flags::SEND_FLOW_REM);
    entry.instructions.push(Instruction::Meter { meter: 1 });
    assert_eq!(bench.fault(one, v1_3::Body::FlowMod(entry.clone())), None);
    assert_eq!(bench.frame(1), [2, 3]);
    let ask = RequestBody::Group(v1_3::GroupRequest { group: groups::ALL });
    let ReplyBody::Group(rows) = bench.stats(one, ask) else { panic!("groups") };
    assert_eq!((rows[0].references, rows[0].packets), (1, 1));
    let gone = bench.ask(one, group(GroupCommand::Delete));
    let is_it = |gone: &[v1_3::Body], wanted| matches!(gone, [v1_3::Body::FlowRemoved(removed)] if removed.reason == wanted);
    assert!(is_it(&gone, v1_3::RemovedReason::GroupDelete), "{gone:?}");
    entry.instructions.remove(0);
    assert_eq!(bench.fault(one, v1_3::Body::FlowMod(entry)), None);
    let gone = bench.ask(one, meter(MeterCommand::Delete));
    assert!(is_it(&gone, v1_3::RemovedReason::Delete), "{gone:?}");
}

#[test]
fn without_a_controller_it_drops_or_learns() {
    let mut secure = Bench::new();
    assert_eq!(secure.frame(1), [0; 0]);
    let mut alone = Bench { switch: switch(FailMode::Standalone), now: Time::ZERO };
    assert_eq!(alone.frame(1), [2, 3]);
    let one = alone.connect(Version::V1_3);
    assert_eq!(alone.frame(1), [0; 0], "the tables are empty");
    alone.tell(ChannelInput::Closed { connection: one });
    assert_eq!(alone.frame(1).len(), 2);
    // What controllers have set of ports stays.
    let setting = PortSetting { config: forwarding::openflow::port_config::NO_RECV, is_up: true };
    alone.switch.datapath.set_port(1, setting);
    assert_eq!((alone.frame(1), alone.frame(2)), (vec![], vec![1, 3]));
    assert_eq!(alone.switch.drops().get(DropReason::PortDown), 1);
}

#[test]
fn it_connects_by_itself_and_again_when_the_connection_ends() {
    let mut bench = Bench::new();
    bench.switch.handle_timeout(Time::ZERO);
    assert_eq!(bench.switch.poll_channel(), Some(ChannelOutput::Open { connection: 0 }));
    bench.tell(ChannelInput::Closed { connection: 0 });
    assert_eq!(bench.switch.poll_timeout(), Some(seconds(1)));
    bench.switch.handle_timeout(seconds(1));
    assert_eq!(bench.switch.poll_channel(), Some(ChannelOutput::Open { connection: 0 }));
    bench.tell(ChannelInput::Opened { connection: 0 });
    assert_eq!(bench.sent(0).len(), 1, "HELLO");
    // Something else than HELLO.
    bench.give(0, vec![4, 5, 0, 8, 0, 0, 0, 1]);
    let outputs: Vec<_> = core::iter::from_fn(|| bench.switch.poll_channel()).collect();
    assert!(matches!(outputs[..], [ChannelOutput::Send { .. }, ChannelOutput::Close { .. }]), "{outputs:?}");
    // What comes of it later does not put off the next attempt.
    let due = bench.switch.poll_timeout();
    bench.now = seconds(2);
    bench.give(0, vec![4, 0, 0, 8, 0, 0, 0, 1]);
    bench.tell(ChannelInput::Closed { connection: 0 });
    assert_eq!((bench.switch.poll_timeout(), bench.switch.poll_channel()), (due, None));
}

#[test]
fn many_entries_come_in_several_messages() {
    let mut bench = Bench::new();
    bench.switch.config.max_entries = 5_000;
    bench.switch.datapath.clear(5_000);
    let one = bench.connect(Version::V1_3);
    for port in 0..1_000 {
        let fields = vec![Oxm::exact(OxmField::Metadata, port)];
        assert_eq!(bench.fault(one, add(fields, vec![to(2)])), None);
    }
    let ask = v1_3::FlowStatsRequest {
        table: 0,
        out_port: ports::ANY,
        out_group: groups::ANY,
        cookie: 0,
        cookie_mask: 0,
        matching: Match::default(),
    };
    let body = MultipartRequest { more: false, body: RequestBody::Flow(ask) };
    let answers = bench.ask(one, v1_3::Body::MultipartRequest(body));
    let (mut rows, mut more) = (0, Vec::new());
    for answer in answers {
        let v1_3::Body::MultipartReply(reply) = answer else { panic!("an answer") };
        let ReplyBody::Flow(part) = reply.body else { panic!("flows") };
        rows += part.len();
        more.push(reply.more);
    }
    assert_eq!((rows, more.pop(), more.iter().all(|more| *more)), (1_000, Some(false), true));
}

#[test]
fn long_rows_come_in_as_many_messages_as_they_need() {
    let mut bench = Bench::new();
    let (old, new) = (bench.connect(Version::V1_0), bench.connect(Version::V1_3));
    // Entries of 1.3 can be too long for an answer of 1.3, and as long as an answer of 1.0.
    let counts = [10, 4095, 3000, 3000, 4088, 10, 4095];
    for (port, count) in (0u8..).zip(counts) {
        let entry = flow(FlowCommand::Add, vec![Oxm::exact(OxmField::Metadata, port.into())], vec![]);
        assert_eq!(bench.fault(new, v1_3::Body::FlowMod(entry.clone())), None);
        let mut filter = Filter::covered(Pattern::from(&entry.matching));
        filter.priority = Some(5);
        bench.switch.datapath.tables[0].modify(&filter, &apply(vec![to(2); count]), None, false);
    }
    let ask = v1_3::FlowStatsRequest {
        table: 0,
        out_port: ports::ANY,
        out_group: groups::ANY,
        cookie: 0,
        cookie_mask: 0,
        matching: Match::default(),
    };
    let body = MultipartRequest { more: false, body: RequestBody::Flow(ask) };
    let parts: Vec<_> = bench
        .ask(new, v1_3::Body::MultipartRequest(body))
        .into_iter()
        .map(|answer| match answer {
            v1_3::Body::MultipartReply(v1_3::MultipartReply { more, body: ReplyBody::Flow(rows) }) => {
                (more, rows.len())
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(parts, [(true, 1), (true, 1), (true, 1), (true, 1), (true, 1), (false, 0)]);
    let too_long = |bench: &Bench, id| {
        bench.switch.connections().find(|one| one.connection == id).map(|one| one.too_long)
    };
    assert_eq!(too_long(&bench, new), Some(2));
    let ask = v1_0::FlowStatsRequest { matching: v1_0::Match::ANY, table: 0xff, out_port: v1_0::ports::NONE };
    let ask = v1_0::StatsRequest { more: false, body: v1_0::StatsRequestBody::Flow(ask) };
    let parts: Vec<_> = bench
        .ask_1_0(old, v1_0::Body::StatsRequest(ask))
        .into_iter()
        .map(|answer| match answer {
            v1_0::Body::StatsReply(v1_0::StatsReply { more, body: v1_0::StatsReplyBody::Flow(rows) }) => {
                (more, rows.len())
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(parts.iter().map(|(_, rows)| rows).sum::<usize>(), 7);
    assert!(parts.iter().rev().skip(1).all(|(more, _)| *more) && parts.last().is_some_and(|(more, _)| !more));
}

#[test]
fn a_controller_that_reads_slowly_waits_and_loses_packets_only() {
    let mut bench = Bench::new();
    let one = bench.connect(Version::V1_3);
    for port in 1..=90 {
        assert_eq!(bench.fault(one, add(vec![Oxm::exact(OxmField::Metadata, port)], vec![to(2)])), None);
    }
    let whole = Action::Output { port: ports::CONTROLLER, max_len: 0xffff };
    assert_eq!(bench.fault(one, add(vec![], vec![whole])), None);
    let ask = v1_3::FlowStatsRequest {
        table: 0,
        out_port: ports::ANY,
        out_group: groups::ANY,
        cookie: 0,
        cookie_mask: 0,
        matching: Match::default(),
    };
    let body = MultipartRequest { more: false, body: RequestBody::Flow(ask) };
    let mut bytes = Vec::new();
    for _ in 0..400 {
        let body = v1_3::Body::MultipartRequest(body.clone());
        v1_3::Message { xid: 5, body }.emit(&mut bytes).expect("a message");
    }
    bench.give(one, bytes);
    let backlog = |is_full| ChannelInput::Backlog { connection: one, is_full, is_taking: true };
    let (mut answers, mut rounds) = (0, 0);
    while answers < 400 {
        bench.frame(1);
        let sent = bench.sent(one);
        let len: usize = sent.iter().map(Vec::len).sum();
        assert!(!sent.is_empty() && len < OUTPUT_MAX + (1 << 16), "{len}");
        answers += sent.len();
        bench.tell(backlog(true));
        bench.frame(1);
        assert_eq!(bench.sent(one), [[0; 0]; 0]);
        rounds += 1;
        bench.tell(backlog(false));
    }
    // The last answers were less than the limit: one frame was told of after them.
    assert!(rounds > 2, "{rounds}");
    assert_eq!((answers, bench.switch.packet_ins_left_out()), (401, 2 * rounds - 1));
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn arbitrary_messages_harm_nobody(
        version in 0usize..2, kind in any::<u8>(), bodies in vec(vec(any::<u8>(), 0..120), 1..6),
    ) {
        let mut bench = Bench::new();
        let version = Version::ALL[version];
        let (other, one) = (bench.connect(Version::V1_3), bench.connect(version));
        for body in bodies {
            let len = (8 + body.len()) as u8;
            let header = [version as u8, kind % 31, 0, len, 0, 0, 0, 5];
            bench.give(one, [&header[..], &body].concat());
            bench.frame(1);
        }
        let got = bench.ask(other, v1_3::Body::BarrierRequest);
        prop_assert!(got.contains(&v1_3::Body::BarrierReply));
    }
}
