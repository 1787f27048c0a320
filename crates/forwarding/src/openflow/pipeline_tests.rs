use super::pipeline_model::{Model, Network};
use super::*;
use crate::hash::Seed;
use base::device::DropReason;
use base::{Frame, Time};
use core::net::{Ipv4Addr, Ipv6Addr};
use proptest::collection::vec;
use proptest::prelude::*;
use wire::openflow::v1_3::{
    Action, Band, Bucket, GroupType, Instruction, Match, Oxm, OxmField, PacketInReason, Setting, groups,
    meter_flags, ports,
};

fn set(field: OxmField, value: u128) -> Action {
    Action::SetField { set: Setting(Oxm::exact(field, value & field.ones())) }
}

fn to(port: u32) -> Action {
    Action::Output { port, max_len: 0xffff }
}

fn model() -> impl Strategy<Value = Model> {
    let start = (any::<[u8; 6]>(), any::<[u8; 6]>(), vec(any::<u16>(), 0..3), 0usize..3);
    let ip = (any::<bool>(), any::<[u128; 2]>(), any::<u32>(), 0u8..64, 0u8..4, 0u8..5);
    let end = (any::<bool>(), any::<(u16, u16)>(), vec(any::<u8>(), 0..150));
    (start, ip, end).prop_map(|((dst, src, tags, labels), ip, (is_tcp, ports, payload))| {
        let (is_v4, [a, b], label, dscp, ecn, ttl) = ip;
        let network = match is_v4 {
            true => Network::V4(Ipv4Addr::from_bits(a as u32), Ipv4Addr::from_bits(b as u32)),
            false => Network::V6(Ipv6Addr::from_bits(a), Ipv6Addr::from_bits(b), label & 0xf_ffff),
        };
        let entry = |place: usize| (label << 12) | u32::from(place + 1 == labels) << 8 | (3 + place as u32);
        Model {
            dst,
            src,
            tags: tags.into_iter().map(|tag| (0x8100, tag)).collect(),
            labels: (0..labels).map(entry).collect(),
            network,
            dscp,
            ecn,
            ttl,
            protocol: if is_tcp { 6 } else { 17 },
            ports,
            payload,
        }
    })
}

fn action() -> impl Strategy<Value = Action> {
    use OxmField::*;
    let settable = [
        EthDst, EthSrc, VlanVid, VlanPcp, MplsLabel, MplsTc, IpDscp, IpEcn, TcpSrc, UdpDst, Ipv4Src, Ipv4Dst,
        Ipv6Src, Ipv6Dst, Ipv6Flabel,
    ];
    let plain = [
        Action::PushVlan { ethertype: 0x8100 },
        Action::PushVlan { ethertype: 0x88a8 },
        Action::PopVlan,
        Action::PushMpls { ethertype: 0x8847 },
        Action::PopMpls { ethertype: 0 },
        Action::SetMplsTtl { ttl: 77 },
        Action::DecMplsTtl,
        Action::SetNwTtl { ttl: 9 },
        Action::DecNwTtl,
        Action::CopyTtlIn,
        Action::CopyTtlOut,
    ];
    prop_oneof![
        (proptest::sample::select(settable.to_vec()), any::<u128>())
            .prop_map(|(field, value)| set(field, value)),
        proptest::sample::select(plain.to_vec()),
    ]
}

fn datapath() -> Datapath {
    let mut datapath = Datapath::new(4, 100, Seed::default());
    for port in 1..=4 {
        datapath.set_port(port, PortSetting { config: 0, is_up: true });
    }
    datapath
}

fn add(datapath: &mut Datapath, table: u8, fields: &[(OxmField, u128)], instructions: Vec<Instruction>) {
    let fields: Vec<Oxm> = fields.iter().map(|(field, value)| Oxm::exact(*field, *value)).collect();
    let priority = fields.len() as u16;
    let pattern = Pattern::from(&Match { fields });
    let new = NewEntry {
        pattern,
        priority,
        cookie: 7,
        idle_timeout: 0,
        hard_timeout: 0,
        flags: 0,
        instructions: instructions.into(),
    };
    datapath.tables[usize::from(table)].add(new, Time::ZERO).expect("room");
}

fn apply(actions: Vec<Action>) -> Vec<Instruction> {
    vec![Instruction::ApplyActions { actions }]
}

fn frame_of(bytes: &[u8], header: usize) -> Frame {
    // As sources make them: some headers, and a body behind them.
    let (header, body) = bytes.split_at(header.min(bytes.len()));
    Frame::new(header, base::Body::owned(body))
}

/// What leaves by ports.
fn sent(out: &[Leaving]) -> Vec<(u32, Vec<u8>)> {
    let ports = out.iter().filter_map(|leaving| match leaving {
        Leaving::Port { port, frame, .. } => Some((*port, frame.to_vec())),
        Leaving::Controller { .. } => None,
    });
    ports.collect()
}

fn process(datapath: &mut Datapath, in_port: u32, frame: Frame) -> Vec<Leaving> {
    let mut out = Vec::new();
    datapath.process(Time::ZERO, in_port, frame, &mut out).expect("a frame that is taken");
    out
}

proptest! {
    #![proptest_config(testing::cases(512))]
    #[test]
    fn actions_change_a_frame_as_it_would_be_written_anew(
        model in model(), actions in vec(action(), 0..12), header in 14usize..90,
    ) {
        let (mut expected, mut list, mut is_valid) = (model.clone(), Vec::new(), true);
        for action in actions {
            // What is behind the last label is said by the action.
            let action = match action {
                Action::PopMpls { .. } => {
                    let ethertype = if expected.labels.len() > 1 { 0x8847 } else { expected.kind() };
                    Action::PopMpls { ethertype }
                }
                action => action,
            };
            is_valid = is_valid && expected.act(&action);
            list.push(action);
        }
        list.push(to(2));
        let mut datapath = datapath();
        add(&mut datapath, 0, &[], apply(list));
        let out = process(&mut datapath, 1, frame_of(&model.bytes(), header));
        if is_valid {
            prop_assert_eq!(sent(&out), [(2, expected.bytes())]);
        } else {
            let is_it = matches!(&out[..], [Leaving::Controller { reason: PacketInReason::InvalidTtl, .. }]);
            prop_assert!(is_it, "{:?}", out);
        }
    }

    #[test]
    fn fields_are_those_of_the_headers(model in model(), header in 14usize..90) {
        let out = process(&mut datapath(), 3, frame_of(&model.bytes(), header));
        let Some(Leaving::Controller { fields, cookie: None, .. }) = out.first() else { panic!("a miss") };
        prop_assert_eq!(**fields, model.fields(3));
    }

    #[test]
    fn arbitrary_frames_and_actions_never_end_the_program(
        bytes in vec(any::<u8>(), 0..200), kind in 0usize..8, actions in vec(action(), 0..8), header in 0usize..90,
    ) {
        let mut bytes = bytes;
        let kinds: [u16; 8] = [0x0800, 0x0806, 0x86dd, 0x8847, 0x8100, 0x88e7, 0x0026, 0x1234];
        if bytes.len() > 14 {
            bytes[12..14].copy_from_slice(&kinds[kind].to_be_bytes());
        }
        let mut datapath = datapath();
        let mut list = vec![Action::PushPbb { ethertype: 0x88e7 }, Action::PopPbb, Action::PopPbb];
        list.splice(1..1, actions);
        list.push(to(2));
        add(&mut datapath, 0, &[], apply(list));
        let _ = process(&mut datapath, 1, frame_of(&bytes, header));
    }
}

fn udp() -> Model {
    Model {
        dst: [2, 0, 0, 0, 0, 2],
        src: [2, 0, 0, 0, 0, 1],
        tags: vec![],
        labels: vec![],
        network: Network::V4(Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)),
        dscp: 10,
        ecn: 1,
        ttl: 64,
        protocol: 17,
        ports: (5, 6),
        payload: vec![1; 20],
    }
}

fn frame() -> Frame {
    Frame::from_bytes(&udp().bytes())
}

#[test]
fn ports_that_stand_for_several_leave_out_where_the_packet_came_from() {
    let sent_to = |port, config| {
        let mut datapath = datapath();
        datapath.set_port(3, PortSetting { config, is_up: true });
        add(&mut datapath, 0, &[], apply(vec![to(port)]));
        sent(&process(&mut datapath, 1, frame())).into_iter().map(|(port, _)| port).collect::<Vec<_>>()
    };
    assert_eq!(sent_to(ports::FLOOD, 0), [2, 3, 4]);
    assert_eq!(sent_to(ports::FLOOD, port_config::NO_FLOOD), [2, 4]);
    assert_eq!(sent_to(ports::ALL, port_config::NO_FLOOD), [2, 3, 4]);
    assert_eq!(sent_to(ports::ALL, port_config::NO_FWD), [2, 4]);
    assert_eq!(sent_to(3, port_config::PORT_DOWN), [0; 0]);
    assert_eq!(sent_to(1, 0), [0; 0], "not back by number");
    assert_eq!(sent_to(ports::IN_PORT, 0), [1]);
    assert_eq!(sent_to(9, 0), [0; 0]);
}

#[test]
fn normal_learns_and_floods() {
    let mut datapath = datapath();
    add(&mut datapath, 0, &[], apply(vec![to(ports::NORMAL)]));
    let back = Model { dst: udp().src, src: udp().dst, ..udp() };
    let mut ways = |port, model: &Model| {
        let out = process(&mut datapath, port, Frame::from_bytes(&model.bytes()));
        sent(&out).into_iter().map(|(port, _)| port).collect::<Vec<_>>()
    };
    assert_eq!(ways(1, &udp()), [2, 3, 4]);
    assert_eq!(ways(2, &back), [1]);
    assert_eq!(ways(1, &udp()), [2]);
    assert_eq!(ways(2, &udp()), [0; 0], "it is where it came from");
}

#[test]
fn normal_learns_from_ports_that_are_there_alone() {
    let mut datapath = datapath();
    let mut out = Vec::new();
    for in_port in [ports::CONTROLLER, ports::ANY, 99] {
        datapath.execute(Time::ZERO, in_port, &[to(ports::NORMAL)], frame(), &mut out).expect("it is taken");
        assert_eq!(sent(&out).len(), 4);
        out.clear();
    }
    let back = Model { dst: udp().src, src: udp().dst, ..udp() };
    datapath
        .execute(Time::ZERO, 1, &[to(ports::NORMAL)], frame_of(&back.bytes(), 14), &mut out)
        .expect("taken");
    assert_eq!(sent(&out).len(), 3, "the station is not known");
}

#[test]
fn a_packet_without_an_entry_and_one_of_the_last_entry_are_told_apart() {
    let mut datapath = datapath();
    let reasons = |out: Vec<Leaving>| match &out[..] {
        [Leaving::Controller { reason, cookie, max_len, .. }] => (*reason, *cookie, *max_len),
        other => panic!("{other:?}"),
    };
    let missed = reasons(process(&mut datapath, 1, frame()));
    assert_eq!(missed, (PacketInReason::NoMatch, None, 0));
    let controller = || apply(vec![Action::Output { port: ports::CONTROLLER, max_len: 99 }]);
    add(&mut datapath, 0, &[], controller());
    let last = reasons(process(&mut datapath, 1, frame()));
    assert_eq!(last, (PacketInReason::NoMatch, Some(7), 99));
    add(&mut datapath, 0, &[(OxmField::InPort, 1)], controller());
    assert_eq!(reasons(process(&mut datapath, 1, frame())), (PacketInReason::Action, Some(7), 99));
}

#[test]
fn a_port_that_sends_nothing_to_controllers_loses_only_what_has_no_entry() {
    let mut datapath = datapath();
    datapath.set_port(1, PortSetting { config: port_config::NO_PACKET_IN, is_up: true });
    assert_eq!(process(&mut datapath, 1, frame()), []);
    datapath.set_port(1, PortSetting { config: port_config::NO_RECV, is_up: true });
    assert!(datapath.process(Time::ZERO, 1, frame(), &mut Vec::new()).is_err());
}

#[test]
fn frames_of_a_spanning_tree_are_refused_apart() {
    use port_config::{NO_RECV, NO_RECV_STP, PORT_DOWN, widened};
    let mut datapath = datapath();
    let bridges = Model { dst: [0x01, 0x80, 0xc2, 0, 0, 0], ..udp() };
    let cases = [
        (0, [true, true]),
        (NO_RECV, [false, true]),
        (NO_RECV_STP, [true, false]),
        (widened(NO_RECV), [false, false]),
        (PORT_DOWN, [false, false]),
    ];
    for (config, taken) in cases {
        datapath.set_port(1, PortSetting { config, is_up: true });
        let mut takes = |frame| datapath.process(Time::ZERO, 1, frame, &mut Vec::new()).is_ok();
        assert_eq!([takes(frame()), takes(frame_of(&bridges.bytes(), 14))], taken, "{config:#x}");
    }
}

#[test]
fn tables_are_gone_through_with_metadata_and_the_action_set_is_done_at_the_end() {
    let mut datapath = datapath();
    let dec = Action::DecNwTtl;
    let first = vec![
        Instruction::WriteActions { actions: vec![to(2), set(OxmField::IpDscp, 46), dec.clone(), to(3)] },
        Instruction::WriteMetadata { metadata: 0xab, mask: 0xff },
        Instruction::GotoTable { table: 2 },
    ];
    add(&mut datapath, 0, &[], first);
    let matching = [(OxmField::Metadata, 0xab)];
    add(
        &mut datapath,
        2,
        &matching,
        vec![Instruction::WriteActions { actions: vec![set(OxmField::IpEcn, 3)] }],
    );
    let out = process(&mut datapath, 1, frame());
    let expected = Model { dscp: 46, ecn: 3, ttl: 63, ..udp() };
    assert_eq!(sent(&out), [(3, expected.bytes())], "of each kind there is one action");
    add(
        &mut datapath,
        2,
        &[(OxmField::Metadata, 0xab), (OxmField::InPort, 1)],
        vec![Instruction::ClearActions],
    );
    assert_eq!(process(&mut datapath, 1, frame()), []);
}

#[test]
fn the_protocol_of_ip_is_set_behind_extension_headers_and_in_the_checksum() {
    let mut datapath = datapath();
    let into_udp = vec![set(OxmField::IpProto, 17), to(2)];
    add(&mut datapath, 0, &[(OxmField::EthType, 0x86dd)], apply(into_udp));
    let network = Network::V6(Ipv6Addr::from_bits(1), Ipv6Addr::from_bits(2), 0);
    let tcp = Model { network, protocol: 6, ..udp() }.bytes();
    let out = sent(&process(&mut datapath, 1, frame_of(&tcp, 14)));
    assert_eq!(out[0].1[20], 17);
    let sum_at = |bytes: &[u8], at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    let expected = wire::checksum::update(sum_at(&tcp, 70), 6, 17);
    assert_eq!(sum_at(&out[0].1, 70), expected);
    // Destination options of eight bytes stand between.
    let mut longer = tcp.clone();
    (longer[19], longer[20]) = (tcp[19] + 8, 60);
    longer.splice(54..54, [6, 0, 1, 4, 0, 0, 0, 0]);
    let out = sent(&process(&mut datapath, 1, frame_of(&longer, 14)));
    assert_eq!((out[0].1[20], out[0].1[54]), (60, 17));
}

#[test]
fn a_packet_of_the_action_set_is_told_with_the_entry_that_wrote_it() {
    let mut datapath = datapath();
    let write = Instruction::WriteActions { actions: vec![to(ports::CONTROLLER)] };
    add(&mut datapath, 0, &[(OxmField::InPort, 1)], vec![write, Instruction::GotoTable { table: 1 }]);
    // An entry for packets that no other matches.
    add(&mut datapath, 1, &[], vec![]);
    let out = process(&mut datapath, 1, frame());
    let [Leaving::Controller { reason, table, .. }] = &out[..] else { panic!("{out:?}") };
    assert_eq!((*reason, *table), (PacketInReason::Action, 0));
}

#[test]
fn groups_get_copies_and_a_group_takes_precedence_of_a_port() {
    let mut datapath = datapath();
    let bucket = |actions| Bucket { weight: 1, watch_port: ports::ANY, watch_group: groups::ANY, actions };
    let buckets = vec![bucket(vec![to(2), Action::PushVlan { ethertype: 0x8100 }]), bucket(vec![to(3)])];
    datapath.groups.add(1, GroupType::All, buckets, Time::ZERO).expect("a group");
    let write = Instruction::WriteActions { actions: vec![to(4), Action::Group { group: 1 }] };
    add(&mut datapath, 0, &[], vec![write]);
    let tagged = Model { tags: vec![(0x8100, 0)], ..udp() };
    let out = process(&mut datapath, 1, frame());
    assert_eq!(sent(&out), [(2, tagged.bytes()), (3, udp().bytes())]);
    // In a list the packet goes on as it was.
    add(&mut datapath, 0, &[(OxmField::InPort, 1)], apply(vec![Action::Group { group: 1 }, to(4)]));
    let out = process(&mut datapath, 1, frame());
    assert_eq!(sent(&out)[2], (4, udp().bytes()));
}

#[test]
fn a_packet_that_groups_multiply_without_end_is_dropped() {
    let mut datapath = datapath();
    let bucket = |action| Bucket {
        weight: 1,
        watch_port: ports::ANY,
        watch_group: groups::ANY,
        actions: vec![action],
    };
    datapath.groups.add(0, GroupType::All, vec![bucket(to(2)); 100], Time::ZERO).expect("a group");
    for id in 1..=10 {
        let buckets = vec![bucket(Action::Group { group: id - 1 }); 20];
        datapath.groups.add(id, GroupType::All, buckets, Time::ZERO).expect("a group");
    }
    add(&mut datapath, 0, &[], apply(vec![to(3), Action::Group { group: 1 }]));
    assert_eq!(sent(&process(&mut datapath, 1, frame())).len(), 1 + 20 * 100);
    add(&mut datapath, 0, &[], apply(vec![to(3), Action::Group { group: 10 }, to(4)]));
    let mut out = Vec::new();
    assert_eq!(datapath.process(Time::ZERO, 1, frame(), &mut out), Err(DropReason::RateLimited));
    // What a controller sends is one packet, however often it goes through the tables.
    add(&mut datapath, 0, &[], apply(vec![Action::Group { group: 1 }]));
    let list = vec![Action::Output { port: ports::TABLE, max_len: 0 }; 3];
    assert_eq!(datapath.execute(Time::ZERO, 1, &list, frame(), &mut out), Err(DropReason::RateLimited));
    assert_eq!(out, []);
}

#[test]
fn a_select_group_keeps_a_flow_together_whatever_its_class_and_marks_are() {
    let mut datapath = datapath();
    let bucket = |port| Bucket {
        weight: 1,
        watch_port: ports::ANY,
        watch_group: groups::ANY,
        actions: vec![to(port)],
    };
    datapath.groups.add(1, GroupType::Select, (2..=4).map(bucket).collect(), Time::ZERO).expect("a group");
    add(&mut datapath, 0, &[], apply(vec![Action::Group { group: 1 }]));
    let mut port = |model: Model| sent(&process(&mut datapath, 1, frame_of(&model.bytes(), 14)))[0].0;
    let mut taken = std::collections::BTreeSet::new();
    for source in 0..64 {
        let flow = |ecn, dscp, class: u16| Model {
            ports: (source, 80),
            tags: vec![(0x8100, class << 13 | 5)],
            ecn,
            dscp,
            ..udp()
        };
        let first = port(flow(0, 0, 0));
        for (ecn, dscp, class) in [(3, 0, 0), (0, 46, 0), (1, 10, 7)] {
            assert_eq!(port(flow(ecn, dscp, class)), first);
        }
        taken.insert(first);
    }
    assert_eq!(taken.len(), 3);
}

#[test]
fn a_fast_failover_group_follows_the_state_of_ports() {
    let mut datapath = datapath();
    let bucket =
        |port| Bucket { weight: 0, watch_port: port, watch_group: groups::ANY, actions: vec![to(port)] };
    let buckets = vec![bucket(2), bucket(3)];
    datapath.groups.add(1, GroupType::FastFailover, buckets, Time::ZERO).expect("a group");
    add(&mut datapath, 0, &[], apply(vec![Action::Group { group: 1 }]));
    assert_eq!(sent(&process(&mut datapath, 1, frame()))[0].0, 2);
    datapath.set_port(2, PortSetting { config: 0, is_up: false });
    assert_eq!(sent(&process(&mut datapath, 1, frame()))[0].0, 3);
}

#[test]
fn meters_drop_and_raise_the_drop_precedence() {
    let mut datapath = datapath();
    let remark = vec![Band::DscpRemark { rate: 1, burst: 1, levels: 1 }];
    let flags = meter_flags::PKTPS | meter_flags::BURST;
    datapath.meters.add(1, flags, remark, Time::ZERO).expect("a meter");
    let instructions =
        vec![Instruction::ApplyActions { actions: vec![to(2)] }, Instruction::Meter { meter: 1 }];
    add(&mut datapath, 0, &[], instructions);
    assert_eq!(sent(&process(&mut datapath, 1, frame())), [(2, udp().bytes())]);
    // AF11 becomes AF12.
    let raised = Model { dscp: 12, ..udp() };
    assert_eq!(sent(&process(&mut datapath, 1, frame())), [(2, raised.bytes())]);
    datapath.meters.modify(1, flags, vec![Band::Drop { rate: 1, burst: 1 }], Time::ZERO).expect("a meter");
    assert_eq!(process(&mut datapath, 1, frame()).len(), 1);
    assert_eq!(process(&mut datapath, 1, frame()).len(), 0);
}

#[test]
fn queues_are_those_of_the_action_before() {
    let mut datapath = datapath();
    let queue = |queue| Action::SetQueue { queue };
    add(&mut datapath, 0, &[], apply(vec![queue(5), to(2), queue(DEFAULT_QUEUE), to(3)]));
    let queues: Vec<_> = process(&mut datapath, 1, frame())
        .into_iter()
        .map(|leaving| match leaving {
            Leaving::Port { port, queue, .. } => (port, queue),
            Leaving::Controller { .. } => (0, None),
        })
        .collect();
    assert_eq!(queues, [(2, Some(5)), (3, None)]);
}

#[test]
fn a_controller_can_send_through_the_tables() {
    let mut datapath = datapath();
    add(&mut datapath, 0, &[], apply(vec![to(3)]));
    let mut out = Vec::new();
    let list = [to(2), set(OxmField::EthDst, 5), to(ports::TABLE), to(4)];
    datapath.execute(Time::ZERO, ports::CONTROLLER, &list, frame(), &mut out).expect("a frame that is taken");
    let changed = Model { dst: [0, 0, 0, 0, 0, 5], ..udp() };
    assert_eq!(sent(&out), [(2, udp().bytes()), (3, changed.bytes()), (4, changed.bytes())]);
}

#[test]
fn a_backbone_tag_goes_on_and_comes_off() {
    let mut datapath = datapath();
    let push = vec![Action::PushPbb { ethertype: 0x88e7 }, set(OxmField::PbbIsid, 0x1234), to(2)];
    add(&mut datapath, 0, &[], apply(push));
    add(
        &mut datapath,
        0,
        &[(OxmField::EthType, 0x88e7), (OxmField::PbbIsid, 0x1234)],
        apply(vec![Action::PopPbb, to(3)]),
    );
    let (_, tagged) = sent(&process(&mut datapath, 1, frame())).remove(0);
    assert_eq!(tagged[12..18], [0x88, 0xe7, 0, 0, 0x12, 0x34]);
    assert_eq!(tagged.len(), udp().bytes().len() + 18);
    assert_eq!(sent(&process(&mut datapath, 1, Frame::from_bytes(&tagged))), [(3, udp().bytes())]);
}

/// ARP, ICMP, neighbour discovery, extension headers and fragments, by hand.
#[test]
fn fields_of_other_protocols_are_found() {
    use OxmField::*;
    let addresses = [[2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 0, 1]].concat();
    let fields_of = |kind: u16, packet: &[u8]| {
        let bytes = [&addresses[..], &kind.to_be_bytes(), packet].concat();
        match process(&mut datapath(), 1, Frame::from_bytes(&bytes)).first() {
            Some(Leaving::Controller { fields, .. }) => **fields,
            other => panic!("{other:?}"),
        }
    };
    let arp = [0, 1, 8, 0, 6, 4, 0, 2, 1, 1, 1, 1, 1, 1, 10, 0, 0, 1, 2, 2, 2, 2, 2, 2, 10, 0, 0, 2];
    let found = fields_of(0x0806, &arp);
    let wanted = [(ArpOp, 2), (ArpSpa, 0x0a00_0001), (ArpTpa, 0x0a00_0002), (ArpSha, 0x0101_0101_0101)];
    wanted.into_iter().for_each(|(field, value)| assert_eq!(found.get(field), value, "{field:?}"));
    let ipv4 = |fragment: u16, protocol, rest: &[u8]| {
        let mut ip = vec![0x45, 0, 0, 40, 0, 1];
        ip.extend(fragment.to_be_bytes());
        ip.extend([64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        ip.extend(rest);
        ip
    };
    let icmp = fields_of(0x0800, &ipv4(0x4000, 1, &[3, 4, 0, 0, 0, 0, 0, 0]));
    assert_eq!((icmp.get(Icmpv4Type), icmp.get(Icmpv4Code)), (3, 4));
    for fragment in [0x2000, 100] {
        let found = fields_of(0x0800, &ipv4(fragment, 17, &[1, 2, 3, 4, 0, 8, 0, 0]));
        assert_eq!((found.get(IpProto), found.get(UdpSrc), found.get(UdpDst)), (17, 0, 0));
    }
    let ipv6 = |next, rest: &[u8]| {
        let mut ip = vec![0x60, 0, 0, 0, 0, rest.len() as u8, next, 255];
        ip.extend([[0xfe; 16], [0xfd; 16]].concat());
        ip.extend(rest);
        ip
    };
    let solicitation = [&[135, 0, 0, 0, 0, 0, 0, 0][..], &[0xab; 16], &[1, 1, 9, 9, 9, 9, 9, 9]].concat();
    let found = fields_of(0x86dd, &ipv6(58, &solicitation));
    assert_eq!(
        (found.get(Icmpv6Type), found.get(Ipv6NdSll), found.get(Ipv6NdTll)),
        (135, 0x0909_0909_0909, 0)
    );
    assert_eq!(found.get(Ipv6NdTarget), u128::from_be_bytes([0xab; 16]));
    // Hop-by-hop and routing headers, TCP behind them.
    let extended =
        [&[43, 0, 1, 4, 0, 0, 0, 0][..], &[6, 0, 0, 0, 0, 0, 0, 0], &[0, 80, 1, 187, 0, 0]].concat();
    let found = fields_of(0x86dd, &ipv6(0, &extended));
    assert_eq!((found.get(IpProto), found.get(TcpSrc), found.get(TcpDst)), (6, 80, 443));
    assert_eq!(found.get(Ipv6Exthdr), 1 << 5 | 1 << 6);
    // A frame with a length has a type only behind the header that says one (RFC 1042).
    assert_eq!(fields_of(0x0010, &[0x42; 16]).get(EthType), 0x05ff);
    let snap = [&[0xaa, 0xaa, 3, 0, 0, 0, 8, 0][..], &ipv4(0, 17, &[0, 1, 0, 2, 0, 8, 0, 0])].concat();
    let found = fields_of(0x0030, &snap);
    assert_eq!((found.get(EthType), found.get(UdpDst)), (0x0800, 2));
}

#[test]
fn sctp_gets_the_crc_of_its_new_ports() {
    let mut datapath = datapath();
    add(&mut datapath, 0, &[], apply(vec![set(OxmField::SctpSrc, 0x1234), to(2)]));
    let mut ip = vec![0x45, 0, 0, 32, 0, 1, 0, 0, 64, 132, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    ip.extend([0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0]);
    let bytes = [&[2; 12][..], &[8, 0], &ip].concat();
    let (_, sent) = sent(&process(&mut datapath, 1, Frame::from_bytes(&bytes))).remove(0);
    // Computed by another program, which gives 0xe3069283 for "123456789".
    assert_eq!(sent[34..46], [0x12, 0x34, 0, 2, 0, 0, 0, 0, 0x12, 0xea, 0x95, 0x0d]);
}
