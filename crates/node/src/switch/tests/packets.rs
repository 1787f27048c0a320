//! What becomes of packets, and what controllers get of them.

use super::*;

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
fn a_flow_mod_with_a_buffer_sends_the_packet() {
    let mut bench = Bench::new();
    let old = bench.connect(Version::V1_0);
    bench.frame(1);
    let Some(v1_0::Body::PacketIn(packet)) = bench.heard_1_0(old).pop() else { panic!("a packet") };
    let change = v1_0::FlowMod {
        cookie: 3,
        hard_timeout: 2,
        priority: 7,
        buffer_id: packet.buffer_id,
        flags: v1_0::flow_flags::SEND_FLOW_REM,
        actions: vec![v1_0::Action::Output { port: 3, max_len: 0 }],
        ..v1_0::FlowMod::new(
            v1_0::Command::Modify,
            v1_0::Match { wildcards: v1_0::wildcards::ALL & !1, in_port: 1, ..v1_0::Match::ANY },
        )
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
