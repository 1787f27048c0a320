//! The view of what decides on a packet, beside what the packet does: random networks of OSPF, LDP and LSPs with
//! filters, a link that fails, and packets that are sent after they have been asked for.

use crate::common::{S, column};
use base::{LinkId, MacAddr, NodeId, Time};
use control::rsvp::Rsvp;
use core::net::Ipv4Addr;
use engine::{Fault, FaultKind, record::Input};
use network::PacketSpec;
use proptest::prelude::*;
use serde_json::{Value, json};
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

/// A packet: where to, code point, protocol and destination port.
type Packet = (usize, u8, u8, u16);

/// An LSP: ends, which filters it has, whether it drops while it is down, carries a host, and whether routes take it.
type Lsp = (usize, usize, u8, bool, bool, bool);

const HOSTS: [&str; 3] = ["10.1.0.2", "10.2.0.2", "10.3.0.2"];

fn filters(which: u8) -> Vec<Value> {
    let all = [
        json!({"dst": "10.2.0.0/24"}),
        json!({"dscp": "EF"}),
        json!({"protocol": "tcp", "dst_ports": "80-443"}),
        json!({"dst": "10.0.0.0/8", "protocol": "udp"}),
    ];
    all.into_iter().enumerate().filter(|(at, _)| which >> at & 1 == 1).map(|(_, filter)| filter).collect()
}

fn described(seed: u64, routers: usize, chords: &[(usize, usize)], ldp: bool, lsps: &[Lsp]) -> Value {
    let ospf = json!({"hello_interval": "1 s", "dead_interval": "4 s", "te": true});
    let name = |router: usize| format!("r{}", router % routers);
    let mut nodes = serde_json::Map::new();
    for router in 0..routers {
        nodes.insert(name(router), json!({"kind": "router", "ospf": ospf, "ldp": ldp}));
    }
    let link = |a: String, b: String| json!({"endpoints": [a, b], "rate": "1 Gbit/s", "delay": "10 us"});
    let mut links: Vec<Value> = (0..routers).map(|router| link(name(router), name(router + 1))).collect();
    links.extend(
        chords.iter().filter(|(a, b)| a % routers != b % routers).map(|(a, b)| link(name(*a), name(*b))),
    );
    for (place, address) in HOSTS.iter().enumerate() {
        nodes.insert(format!("h{place}"), json!({"kind": "host", "address": format!("{address}/24")}));
        links.push(link(format!("h{place}"), name(place * 2)));
    }
    nodes.insert("peer".into(), json!({"kind": "peer"}));
    links.push(link("peer".into(), name(0)));
    let lsp = |(place, &(from, to, which, drops, carries, autoroute)): (usize, &Lsp)| {
        let (from, to) = (from % routers, to % routers);
        let to = name(if from == to { to + 1 } else { to });
        let mut lsp = json!({"name": format!("t{place}"), "from": name(from), "to": to});
        (lsp["filters"], lsp["autoroute"]) = (json!(filters(which)), json!(autoroute));
        if carries {
            lsp["carries"] = json!("10.3.0.0/24");
        }
        if drops && which > 0 {
            lsp["when_down"] = json!("drop");
        }
        lsp
    };
    let lsps: Vec<Value> = lsps.iter().enumerate().map(lsp).collect();
    json!({"name": "random", "seed": seed, "nodes": nodes, "links": links, "lsps": lsps})
}

fn bytes(to: MacAddr, src: Ipv4Addr, dst: Ipv4Addr, packet: &Packet) -> Vec<u8> {
    let (_, dscp, protocol, port) = *packet;
    let mut ip = vec![0x45, dscp << 2, 0, 40, 0, 0, 0, 0, 64, protocol, 0, 0];
    ip.extend(src.octets().into_iter().chain(dst.octets()));
    let check = !wire::checksum::sum(&ip);
    ip[10..12].copy_from_slice(&check.to_be_bytes());
    ip.extend([0, 0]);
    ip.extend(if protocol == 1 { 0 } else { port }.to_be_bytes());
    ip.extend([0; 16]);
    let mut frame = to.0.to_vec();
    frame.extend([2, 0, 0, 0, 0, 9, 8, 0]);
    frame.extend(ip);
    frame
}

/// Source of the packet below the labels, and the labels.
fn read(frame: &[u8]) -> Option<(Ipv4Addr, String)> {
    let (mut at, mut labels) = (14, Vec::new());
    if frame.get(12..14)? == [0x88, 0x47] {
        loop {
            let word = u32::from_be_bytes(*frame.get(at..)?.first_chunk::<4>()?);
            labels.push((word >> 12).to_string());
            at += 4;
            if word & 0x100 != 0 {
                break;
            }
        }
    }
    let src = frame.get(at + 12..)?.first_chunk::<4>()?;
    (frame.get(at)? == &0x45).then(|| (Ipv4Addr::from(*src), labels.join(" ")))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

/// The nodes that a packet comes to behind the first, with the labels that it has there, as the view says.
fn said(table: &Value) -> Vec<(String, String)> {
    let (to, leaves) = (column(table, "to"), column(table, "leaves"));
    to.iter()
        .zip(&leaves)
        .filter(|(to, _)| !to.is_null())
        .map(|(to, leaves)| (text(to), text(leaves)))
        .collect()
}

fn asked(src: Ipv4Addr, dst: Ipv4Addr, &(_, dscp, protocol, port): &Packet) -> PacketSpec {
    let ports = (protocol != 1).then_some(port);
    PacketSpec {
        to: dst.to_string(),
        src: Some(src.to_string()),
        protocol: Some(base::describe::Protocol(protocol)),
        src_port: None,
        dst_port: ports,
        dscp: base::Dscp::new(dscp),
        labels: Vec::new(),
    }
}

fn node(network: &Testbed, name: &str) -> usize {
    network.description().nodes.iter().position(|node| node.name == name).expect("a node")
}

/// How many packets a filter, a mapping and a route decided on first, and how many were dropped at once.
fn check(described: Value, routers: usize, failed: usize, packets: &[Packet]) -> [usize; 4] {
    let value = serde_json::from_value(described).expect("a value");
    let mut network =
        Testbed::new(&NetworkFile::read_part(&value).expect("a description")).expect("a network");
    let nodes = network.description().nodes.len();
    for node in 0..nodes {
        network.world_mut().record(NodeId(node as u32)).expect("a device");
    }
    let fault = Fault::new(Time(40 * S), FaultKind::LinkDown { link: LinkId((failed % routers) as u32) });
    network.fault(fault).expect("a fault");
    network.run_until(Time(70 * S)).expect("a run");
    let (first, peer) = (node(&network, "r0"), node(&network, "peer"));
    let port =
        network.links().iter().find(|link| link.ends().contains(&peer)).and_then(|link| link.port_at(first));
    let mac = MacAddr::of_port(NodeId(first as u32), port.expect("a port"));
    let mut expected = Vec::new();
    let mut by = [0; 4];
    for (place, packet) in packets.iter().enumerate() {
        let src = Ipv4Addr::new(198, 51, 100, place as u8 + 1);
        let dst = match packet.0 % 8 {
            host @ 0..=2 => HOSTS[host].parse().expect("an address"),
            3 => Ipv4Addr::new(203, 0, 113, 9),
            router => network.loopback(node(&network, &format!("r{}", router % routers))),
        };
        let table = network.path(first, &asked(src, dst, packet)).expect("a view");
        let table = network::tables::json(&table).expect("JSON");
        let which = ["filter", "ftn", "fib"].iter().position(|name| column(&table, "table")[0] == *name);
        by[which.unwrap_or(3)] += 1;
        by[3] += usize::from(column(&table, "action")[0] == "drop: discard");
        expected.push((src, said(&table), table));
        network.peer_send(peer, &bytes(mac, src, dst, packet)).expect("a frame");
        let until = network.world().now().0 + S / 5;
        network.run_until(Time(until)).expect("a run");
    }
    let mut arrivals = Vec::new();
    for node in 0..nodes {
        let taken = network.world_mut().take_recording(NodeId(node as u32));
        let recording = taken.expect("memory").expect("a recording");
        for (at, input) in recording.inputs {
            let Input::Packet(_, frame) = input else { continue };
            if let Some((src, labels)) = read(&frame.frame().to_vec()) {
                arrivals.push((src, at, network.node_name(node).to_string(), labels));
            }
        }
    }
    arrivals.sort();
    for (src, said, table) in expected {
        let real: Vec<_> =
            arrivals.iter().filter(|one| one.0 == src).map(|one| (one.2.clone(), one.3.clone())).collect();
        assert_eq!(real.get(1..).unwrap_or_default(), said, "{src}: {table}");
    }
    by
}

fn lsp() -> impl Strategy<Value = Lsp> {
    (0usize..3, 0usize..7, 0u8..16, any::<bool>(), any::<bool>(), any::<bool>())
}

fn packet() -> impl Strategy<Value = Packet> {
    let dscp = prop::sample::select(vec![0u8, 46, 10]);
    let (protocol, port) = (prop::sample::select(vec![1u8, 6, 17]), prop::sample::select(vec![80u16, 5000]));
    (0usize..8, dscp, protocol, port)
}

proptest! {
    #![proptest_config(testing::cases(24))]
    #[test]
    fn the_view_equals_what_a_packet_does(
        seed in 0u64..1000,
        routers in 4usize..7,
        chords in prop::collection::vec((0usize..7, 0usize..7), 0..3),
        ldp: bool,
        lsps in prop::collection::vec(lsp(), 1..5),
        failed in 0usize..7,
        packets in prop::collection::vec(packet(), 8..16),
    ) {
        check(described(seed, routers, &chords, ldp, &lsps), routers, failed, &packets);
    }
}

/// Every table decides on some packet, so that the comparison means something.
#[test]
fn every_table_decides() {
    let lsps = [(0, 2, 2, false, false, false), (0, 3, 0, false, true, false), (0, 2, 4, true, false, true)];
    let packets =
        [(1, 46, 1, 0), (2, 0, 1, 0), (0, 0, 17, 5000), (1, 0, 6, 80), (3, 0, 1, 0), (5, 10, 17, 80)];
    let by = check(described(1, 4, &[], true, &lsps), 4, 1, &packets);
    assert!(by.iter().all(|count| *count > 0), "{by:?}");
}

#[test]
fn a_filter_overrides_a_mapping_and_a_route() {
    let lsps = [(0, 2, 1, true, false, false), (0, 3, 2, false, true, false)];
    let value = serde_json::from_value(described(1, 4, &[], false, &lsps)).expect("a value");
    let mut network =
        Testbed::new(&NetworkFile::read_part(&value).expect("a description")).expect("a network");
    network.run_until(Time(60 * S)).expect("a run");
    let first = node(&network, "r0");
    let ask = |network: &mut Testbed, to: &str, dscp: u8| {
        let spec = PacketSpec {
            to: to.into(),
            src: None,
            protocol: None,
            src_port: None,
            dst_port: None,
            dscp: base::Dscp::new(dscp),
            labels: Vec::new(),
        };
        network::tables::json(&network.path(first, &spec).expect("a view")).expect("JSON")
    };
    let cell = |table: &Value, name: &str| text(&column(table, name)[0]);
    let table = ask(&mut network, "10.2.0.2", 0);
    assert_eq!([cell(&table, "table"), cell(&table, "owner")], ["filter", "lsp t0"], "{table}");
    assert_eq!(cell(&table, "entry"), "to 10.2.0.0/24");
    assert!(
        column(&table, "overrides")[0][0]
            .as_str()
            .is_some_and(|line| line.starts_with("fib 10.2.0.0/24 (ospf)")),
        "{table}"
    );
    // A filter of the LSP that was described first wins; the other one is next.
    let table = ask(&mut network, "10.2.0.2", 46);
    assert_eq!(cell(&table, "owner"), "lsp t0");
    assert!(
        column(&table, "overrides")[0][0]
            .as_str()
            .is_some_and(|line| line.starts_with("filter dscp 46 (lsp t1)")),
        "{table}"
    );
    let table = ask(&mut network, "10.3.0.2", 0);
    assert_eq!([cell(&table, "table"), cell(&table, "owner")], ["ftn", "lsp t1"], "{table}");
    // Without its LSP, the first drops; the second leaves its packets to routes.
    for group in [0, 1] {
        let rsvp = network.protocol::<Rsvp>(first).expect("RSVP-TE");
        assert!(rsvp.tunnels().all(|tunnel| tunnel.active.is_some()), "group {group}");
    }
    for link in [0, 3] {
        network.set_link(link, false).expect("a link");
    }
    network.run_until(Time(61 * S)).expect("a run");
    let table = ask(&mut network, "10.2.0.2", 0);
    assert_eq!([cell(&table, "table"), cell(&table, "action")], ["filter", "drop: discard"], "{table}");
    let table = ask(&mut network, "203.0.113.1", 46);
    assert_eq!([cell(&table, "table"), cell(&table, "action")], ["none", "drop: no-route"], "{table}");
}

#[test]
fn a_packet_that_can_not_be_is_refused() {
    let value = serde_json::from_value(described(1, 4, &[], false, &[])).expect("a value");
    let mut network =
        Testbed::new(&NetworkFile::read_part(&value).expect("a description")).expect("a network");
    let first = node(&network, "r0");
    let spec = |to: &str, src: Option<&str>| PacketSpec {
        to: to.into(),
        src: src.map(str::to_string),
        protocol: None,
        src_port: None,
        dst_port: None,
        dscp: None,
        labels: Vec::new(),
    };
    let mut refused =
        |from: usize, spec: &PacketSpec| network.path(from, spec).expect_err("a refusal").to_string();
    assert_eq!(refused(first, &spec("r9", None)), "'r9' is neither an address nor the name of a node");
    let families = refused(first, &spec("10.1.0.2", Some("2001:db8::1")));
    assert_eq!(
        families,
        "a packet from 2001:db8::1 to 10.1.0.2: both addresses are of IPv4, or both of IPv6"
    );
    let ports = <PacketSpec as base::describe::Describe>::read(
        &serde_json::from_value(json!({"to": "r1", "dst_port": 80})).expect("a value"),
    );
    assert_eq!(ports.expect_err("a refusal").words(), "ports need a protocol that has some, such as tcp");
}
