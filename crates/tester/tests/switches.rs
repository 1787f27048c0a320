//! OpenFlow switches and hosts in virtual time: queues of ports hold rates, and networks of several switches.

use crate::common::{S, conserved, said};
use base::protocol_value::ProtocolValue;
use base::{Command, Event, NodeId, Span, Time};
use core::any::Any;
use node::Switch;
use node::switch::{Bytes, ChannelInput, ChannelOutput, FIRST_INCOMING};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;
use wire::openflow::v1_3::{
    Action, Body, Command as FlowCommand, FlowMod, Instruction, Match, Message, MultipartRequest, Oxm,
    OxmField, PacketIn, PacketOut, QueueRequest, QueueStats, ReplyBody, RequestBody, ports,
};
use wire::openflow::{Hello, NO_BUFFER, message_len};

const CONTROLLER: u32 = FIRST_INCOMING;

fn bench(described: Value) -> Testbed {
    let value = serde_json::from_value(described).expect("a value");
    Testbed::new(&NetworkFile::read_part(&value).expect("a description")).expect("a network")
}

/// A controller tells a switch something.
fn tell(network: &mut Testbed, node: u32, input: ChannelInput) {
    let now = network.world().now();
    let command = Command::Protocol(ProtocolValue::new(input));
    network.world_mut().command(now, NodeId(node), command).expect("a switch");
    network.world_mut().run_until(now).expect("a run");
}

fn ask(network: &mut Testbed, node: u32, body: Body) {
    let mut bytes = Vec::new();
    Message { xid: 1, body }.emit(&mut bytes).expect("a message");
    tell(network, node, ChannelInput::Received { connection: CONTROLLER, bytes: Bytes(bytes) });
}

/// A controller of version 1.3 connects.
fn connect(network: &mut Testbed, node: u32) {
    tell(network, node, ChannelInput::Opened { connection: CONTROLLER });
    ask(network, node, Body::Hello(Hello::default()));
    assert!(matches!(heard(network, node)[..], [Body::Hello(_)]));
}

fn heard(network: &mut Testbed, node: u32) -> Vec<Body> {
    said_by(network.world_mut().device_mut::<Switch>(NodeId(node)).expect("a switch"))
}

/// The messages that a switch has sent since the last time.
fn said_by(switch: &mut Switch) -> Vec<Body> {
    let mut stream = Vec::new();
    while let Some(output) = switch.poll_channel() {
        if let ChannelOutput::Send { bytes, .. } = output {
            stream.extend(bytes);
        }
    }
    let mut messages = Vec::new();
    while let Some(len) = message_len(&stream) {
        let message: Vec<u8> = stream.drain(..len).collect();
        messages.push(Message::parse(&message).expect("a message").body);
    }
    messages
}

fn add(network: &mut Testbed, node: u32, priority: u16, fields: Vec<Oxm>, actions: Vec<Action>) {
    let flow = FlowMod {
        priority,
        instructions: vec![Instruction::ApplyActions { actions }],
        ..FlowMod::new(FlowCommand::Add, Match { fields })
    };
    ask(network, node, Body::FlowMod(flow));
    assert!(heard(network, node).is_empty(), "no error");
}

fn queues(network: &mut Testbed, node: u32) -> Vec<QueueStats> {
    let body = RequestBody::Queue(QueueRequest { port: ports::ANY, queue: u32::MAX });
    ask(network, node, Body::MultipartRequest(MultipartRequest { more: false, body }));
    match &heard(network, node)[..] {
        [Body::MultipartReply(reply)] => match &reply.body {
            ReplyBody::Queue(rows) => rows.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

const SIZE: u64 = 1000;
const LIMIT: u64 = 20;

/// Hosts `x` and `y` send to `z`, whose link of 10 Mbit/s the switch divides. Bytes of packets are those on the wire,
/// so that rates add up to that of the link.
fn described(rates: [u64; 2]) -> Value {
    let waiting = json!({"discipline": "pfifo", "limit": LIMIT});
    let class =
        |rate: &str, ceil: &str| json!({"parent": "link", "rate": rate, "ceil": ceil, "queue": waiting});
    let tree = json!({
        "discipline": "htb",
        "accounting": {"layer": "wire"},
        "classes": {
            "link": {"rate": "10 Mbit/s"},
            "slow": class("2 Mbit/s", "4 Mbit/s"),
            "fast": class("6 Mbit/s", "10 Mbit/s"),
            "rest": class("100 kbit/s", "10 Mbit/s"),
        },
        "filters": [{"mark": 1, "class": "slow"}, {"mark": 2, "class": "fast"}],
        "default": "rest",
    });
    let flow = |name: &str, from: &str, rate: u64| {
        json!({"name": name, "from": from, "to": "z", "rate": rate, "size": SIZE,
               "start": "100 ms", "stop": "10.1 s"})
    };
    let host = |place: u8| json!({"kind": "host", "address": format!("10.1.0.{place}/24")});
    json!({
        "name": "divided",
        "nodes": {"s1": {"kind": "switch", "prefix": "10.1.0.0/24", "probe": "0 s"}, "x": host(1), "y": host(2), "z": host(3)},
        "links": [
            {"endpoints": ["s1", "x"], "rate": "1 Gbit/s", "delay": "10 us"},
            {"endpoints": ["s1", "y"], "rate": "1 Gbit/s", "delay": "10 us"},
            {"endpoints": ["s1", "z"], "rate": "10 Mbit/s", "delay": "10 us", "queue": {"s1": tree}},
        ],
        "flows": [flow("slow", "x", rates[0]), flow("fast", "y", rates[1])],
    })
}

fn divided(rates: [u64; 2]) -> Testbed {
    let mut network = bench(described(rates));
    programme(&mut network);
    network
}

/// What the controller writes: packets of `x` take queue 1, those of `y` queue 2.
fn programme(network: &mut Testbed) {
    connect(network, 0);
    add(network, 0, 1, vec![], vec![Action::Output { port: ports::NORMAL, max_len: 0 }]);
    for queue in [1, 2] {
        let from =
            vec![Oxm::exact(OxmField::InPort, u128::from(queue)), Oxm::exact(OxmField::EthType, 0x0800)];
        let through = vec![Action::SetQueue { queue }, Action::Output { port: 3, max_len: 0 }];
        add(network, 0, 2, from, through);
    }
}

/// The rates of queues 1 and 2 between 1.1 s and 10.1 s, in bit/s on the wire.
fn rates(network: &mut Testbed) -> [f64; 2] {
    network.run_until(Time(11 * S / 10)).expect("a run");
    let before = queues(network, 0);
    network.run_until(Time(101 * S / 10)).expect("a run");
    let after = queues(network, 0);
    let ids: Vec<(u32, u32)> = after.iter().map(|row| (row.port, row.queue)).collect();
    assert_eq!(ids, [(3, 0), (3, 1), (3, 2)]);
    [1, 2].map(|place| (after[place].tx_bytes - before[place].tx_bytes) as f64 * 8.0 / 9.0)
}

/// What is wrong by a packet in nine seconds, twice, with a burst of a turn beside it.
fn is_about(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 0.005 * expected
}

#[test]
fn a_queue_alone_has_its_ceiling_and_the_other_what_it_sends() {
    let mut network = divided([8_000_000, 3_000_000]);
    let [slow, fast] = rates(&mut network);
    assert!(is_about(slow, 4_000_000.0), "{slow}");
    // Its rate counts frames, to which preamble and gap are added on the wire.
    assert!(is_about(fast, 3_000_000.0 * (SIZE + 20) as f64 / SIZE as f64), "{fast}");
}

#[test]
fn queues_that_both_want_more_share_what_is_left_by_their_rates() {
    // 2 and 6 Mbit/s are for certain; 2 Mbit/s are left, which they borrow in turns as long as their rates.
    let mut network = divided([9_000_000, 9_000_000]);
    let [slow, fast] = rates(&mut network);
    assert!(is_about(slow + fast, 10_000_000.0), "{slow} and {fast}");
    assert!(is_about(slow, 2_500_000.0), "{slow}");
    assert!(is_about(fast, 7_500_000.0), "{fast}");
}

#[test]
fn what_is_sent_and_what_found_no_room_is_what_came() {
    let mut network = divided([9_000_000, 9_000_000]);
    network.run_until(Time(11 * S)).expect("a run");
    let told = queues(&mut network, 0);
    let streams = network.table_json("streams", None).expect("a table");
    let sent: Vec<u64> =
        streams["sent"].as_array().expect("a column").iter().filter_map(Value::as_u64).collect();
    for (row, sent) in told[1..].iter().zip(sent) {
        assert_eq!(row.tx_packets + row.tx_errors, sent, "{row:?}");
        assert!(row.tx_errors > 0);
        assert_eq!(row.tx_bytes, row.tx_packets * (SIZE + 20));
        assert_eq!((row.duration_s, row.duration_ns), (11, 0));
    }
    conserved(&mut network).expect("conservation");
    network.audit().expect("queues that add up");
}

#[test]
fn a_recording_has_what_queues_had_counted() {
    let mut network = bench(described([9_000_000, 9_000_000]));
    network.world_mut().record(NodeId(0)).expect("a recording");
    programme(&mut network);
    network.run_until(Time(S)).expect("a run");
    let told = queues(&mut network, 0);
    let world = network.world_mut();
    let config = world.device::<Switch>(NodeId(0)).expect("a switch").config().clone();
    let recording = world.take_recording(NodeId(0)).expect("memory").expect("a recording");
    let again = engine::replay(Box::new(Switch::new(config, Time::ZERO)), &recording);
    assert!(again.same);
    let device: Box<dyn Any> = again.device;
    let mut switch = device.downcast::<Switch>().expect("the switch");
    match said_by(&mut switch).pop() {
        Some(Body::MultipartReply(reply)) => assert_eq!(reply.body, ReplyBody::Queue(told)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn any_mark_can_be_chosen_by_a_controller() {
    let said = said(&divided([1_000_000, 1_000_000]).warnings());
    assert!(said.iter().all(|words| !words.contains("mark")), "{said:?}");
}

/// Switches `s1`, `s2` and `s3` in a row, each with a host, and a router at the last.
fn row(fail: &str) -> Value {
    let switch = || json!({"kind": "switch", "prefix": "10.1.0.0/24", "fail": fail});
    let host = |place: u8| json!({"kind": "host", "address": format!("10.1.0.{place}/24")});
    let link = |a: &str, b: &str| json!({"endpoints": [a, b], "rate": "1 Gbit/s", "delay": "10 us"});
    // Nodes are in the order of their names.
    json!({
        "name": "row",
        "nodes": {
            "s1": switch(), "s2": switch(), "s3": switch(), "t1": host(11), "t2": host(12), "t3": host(13),
            "u": {"kind": "router"}, "v": {"kind": "host", "address": "10.2.0.2/24"},
        },
        "links": [
            link("s1", "s2"), link("s3", "s2"), link("t1", "s1"), link("s2", "t2"), link("t3", "s3"), link("u", "s3"),
            link("u", "v"),
        ],
    })
}

/// A controller that learns addresses and writes an entry for each pair of hosts that it has seen.
#[derive(Default)]
struct Learner {
    /// By switch and address, the port behind which it is.
    seen: BTreeMap<(u32, u128), u32>,
    packets: u64,
}

impl Learner {
    fn address(frame: &[u8]) -> u128 {
        frame[..6].iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte))
    }

    fn handle(&mut self, network: &mut Testbed, node: u32, packet: &PacketIn) {
        self.packets += 1;
        let field = |wanted| packet.matching.fields.iter().find(|oxm| oxm.field == wanted);
        let in_port = field(OxmField::InPort).expect("a port").value as u32;
        let frame = &packet.data.0;
        let (from, to) = (Learner::address(&frame[6..]), Learner::address(frame));
        self.seen.insert((node, from), in_port);
        let port = match self.seen.get(&(node, to)) {
            Some(&port) => {
                // By its source, too: who has sent nothing that comes up would never be learnt.
                let fields = vec![
                    Oxm::exact(OxmField::InPort, in_port.into()),
                    Oxm::exact(OxmField::EthDst, to),
                    Oxm::exact(OxmField::EthSrc, from),
                ];
                add(network, node, 5, fields, vec![Action::Output { port, max_len: 0 }]);
                port
            }
            None => ports::FLOOD,
        };
        let out = PacketOut {
            buffer_id: NO_BUFFER,
            in_port,
            actions: vec![Action::Output { port, max_len: 0 }],
            data: packet.data.clone(),
        };
        ask(network, node, Body::PacketOut(out));
    }

    /// Runs a network whose first nodes are switches, and answers what they ask.
    fn run(&mut self, network: &mut Testbed, switches: u32, until: u64) {
        while network.world().now() < Time(until) {
            let next = network.world().now() + Span::from_us(100);
            network.run_until(next).expect("a run");
            for node in 0..switches {
                for body in heard(network, node) {
                    match body {
                        Body::PacketIn(packet) => self.handle(network, node, &packet),
                        other => panic!("{other:?}"),
                    }
                }
            }
        }
    }
}

/// Pings that were answered since the last time.
fn replies(network: &mut Testbed) -> usize {
    let events = network.world_mut().drain_events().into_iter();
    events.filter(|record| matches!(record.event, Event::ProbeReply { kind: 0, .. })).count()
}

#[test]
fn switches_with_links_to_each_other_are_one_network_that_a_controller_learns() {
    let mut network = bench(row("secure"));
    for node in 0..3 {
        connect(&mut network, node);
        add(
            &mut network,
            node,
            0,
            vec![],
            vec![Action::Output { port: ports::CONTROLLER, max_len: u16::MAX }],
        );
    }
    let mut learner = Learner::default();
    let pairs = [(3, 4), (3, 5), (4, 5), (3, 7), (7, 4)];
    for round in 0..5u16 {
        for (place, (from, to)) in pairs.into_iter().enumerate() {
            let to = network.loopback(to);
            network.ping(from, to, 64, 10 * round + place as u16).expect("a ping");
        }
        let until = network.world().now().0 + S / 10;
        let before = learner.packets;
        learner.run(&mut network, 3, until);
        assert_eq!(replies(&mut network), pairs.len(), "round {round}");
        if round == 4 {
            assert_eq!(learner.packets, before, "all is learnt, and no packet goes round");
        }
    }
    conserved(&mut network).expect("conservation");
}

#[test]
fn switches_without_a_controller_learn_by_themselves_along_the_row() {
    let mut network = bench(row("standalone"));
    for (place, (from, to)) in [(3, 5), (7, 3)].into_iter().enumerate() {
        let to = network.loopback(to);
        network.ping(from, to, 64, place as u16).expect("a ping");
    }
    network.run_until(Time(S / 10)).expect("a run");
    assert_eq!(replies(&mut network), 2);
}

#[test]
fn two_switches_with_a_link_need_one_prefix() {
    let mut described = row("secure");
    described["nodes"]["s3"]["prefix"] = json!("10.3.0.0/24");
    let value = serde_json::from_value(described).expect("a value");
    let refused = NetworkFile::read_part(&value)
        .map_err(|error| error.words().to_string())
        .and_then(|file| Testbed::new(&file).map_err(|error| error.to_string()));
    assert_eq!(
        refused.err().expect("a refusal"),
        "node 's2': it has a link to switch 's3', so that both are one network: its prefix has to be 10.3.0.0/24, too"
    );
}

#[test]
fn routers_at_different_switches_of_a_row_are_neighbours() {
    let link = |a: &str, b: &str| json!({"endpoints": [a, b], "rate": "1 Gbit/s", "delay": "10 us"});
    let described = |ospf: bool| {
        let router = || json!({"kind": "router", "ospf": ospf});
        let switch = || json!({"kind": "switch", "prefix": "10.1.0.0/24", "fail": "standalone"});
        json!({
            "name": "row",
            "nodes": {"s1": switch(), "s2": switch(), "t1": router(), "t2": router(), "t3": router(), "t4": router()},
            "links": [link("t1", "s1"), link("s1", "s2"), link("s2", "t2"), link("t1", "t3"), link("t2", "t4")],
        })
    };
    for ospf in [false, true] {
        let mut network = bench(described(ospf));
        network.run_until(Time(60 * S)).expect("a run");
        let to = network.loopback(5);
        network.ping(4, to, 64, 1).expect("a ping");
        network.run_until(Time(61 * S)).expect("a run");
        assert_eq!(replies(&mut network), 1, "with OSPF: {ospf}");
    }
}
