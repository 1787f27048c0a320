//! IPv6 through the forwarding plane: natively, onto LSPs, off them, and what is no packet for others.

use crate::support::{
    GATEWAY, OUT, P0, P1, ilm, label, local, mac, neighbour_mac, nhlfe, node, node_with, to_gateway,
};
use base::device::DropReason;
use base::flow::FlowFilter;
use base::plane::{Fec, IpPrefix, NextHop, Prefix6, TableOp, TcSource, TtlModel};
use base::{Body, DiffServConfig, Dscp, Frame, MacAddr, NodeId, PortId, TrafficClass, Verdict};
use core::net::Ipv6Addr;
use proptest::prelude::*;
use twinplane_forwarding::{Config, Exception, Forwarding, PuntReason};
use wire::{ethernet, ipv6, mpls};

fn address(text: &str) -> Ipv6Addr {
    text.parse().expect("an address")
}
fn prefix(text: &str) -> Prefix6 {
    text.parse().expect("a prefix")
}

const FROM: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 1, 0, 0, 0, 7);
const FAR: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 9, 0, 0, 0, 0, 1);

/// A packet as a frame's header holds it: everything but the body.
#[derive(Clone, Copy, Debug)]
struct Ip {
    to: Ipv6Addr,
    from: Ipv6Addr,
    hop_limit: u8,
    dscp: u8,
    payload: u16,
}

const IP: Ip = Ip { to: FAR, from: FROM, hop_limit: 64, dscp: 46, payload: 18 };

/// (label, TC, TTL), outermost first.
type Entry = (u32, u8, u8);

fn framed(dst: MacAddr, src: MacAddr, stack: &[Entry], ip: Ip) -> Frame {
    let ethertype = if stack.is_empty() { ethernet::EtherType::IPV6 } else { ethernet::EtherType::MPLS };
    let mut bytes = [&dst.0[..], &src.0[..], &ethertype.0.to_be_bytes()[..]].concat();
    for (place, (value, tc, ttl)) in stack.iter().enumerate() {
        let tc = TrafficClass::new(*tc).expect("three bits");
        let entry = mpls::Repr { label: label(*value), tc, bottom: place + 1 == stack.len(), ttl: *ttl };
        bytes.extend(entry.to_word().to_be_bytes());
    }
    let repr = ipv6::Repr {
        hop_limit: ip.hop_limit,
        dscp: Dscp::new(ip.dscp).expect("six bits"),
        ecn: 1,
        flow_label: 0xabcde,
        ..ipv6::Repr::new(ip.from, ip.to, ipv6::Protocol::UDP, ip.payload)
    };
    let at = bytes.len();
    bytes.resize(at + repr.buffer_len(), 0);
    repr.emit(&mut bytes[at..]);
    Frame::new(&bytes, Body::Pattern { start: 5, len: ip.payload.into() })
}

fn frame(stack: &[Entry], ip: Ip) -> Frame {
    framed(mac(P0), MacAddr::of_port(NodeId(9), P0), stack, ip)
}

/// A node with an IPv6 route to `FAR` by a neighbour that is known, a connected network, and an address.
fn node6(ops: &[TableOp]) -> Forwarding {
    let mut all = routes();
    all.extend_from_slice(ops);
    node(&all)
}

fn via(gateway: &str) -> NextHop {
    NextHop::Via { port: P1, gateway: address(gateway).into() }
}

fn routes() -> Vec<TableOp> {
    let known = |gateway: &str| TableOp::AdjacencySet {
        port: P1,
        gateway: address(gateway).into(),
        mac: neighbour_mac(P1),
    };
    let route = |text: &str, next_hop| TableOp::Route6Set { prefix: prefix(text), next_hop };
    vec![
        known("2001:db8:0:2::9"),
        known("fe80::9"),
        route("2001:db8:0:2::/64", via("::")),
        route("2001:db8:0:2::1/128", NextHop::Local),
        route("2001:db8:9::/48", via("fe80::9")),
        route("2001:db8:a::/48", via("2001:db8:0:2::8")),
        route("2001:db8:d::/48", NextHop::Discard),
    ]
}

#[track_caller]
fn leaves(tables: &mut Forwarding, stack: &[Entry], ip: Ip, out: &[Entry], ip_out: Ip) {
    let mut frame = frame(stack, ip);
    let verdict = crate::support::forward(tables, &mut frame);
    assert_eq!(verdict, OUT, "{:?}", tables.classify_punt(P0, &frame));
    assert_eq!(frame, framed(neighbour_mac(P1), mac(P1), out, ip_out));
}

#[track_caller]
fn punts(tables: &mut Forwarding, stack: &[Entry], ip: Ip, reason: PuntReason) {
    let mut frame = frame(stack, ip);
    assert_eq!(crate::support::forward(tables, &mut frame), Verdict::Punt);
    assert_eq!(tables.classify_punt(P0, &frame), Some(reason));
}

#[track_caller]
fn drops(tables: &mut Forwarding, stack: &[Entry], ip: Ip, reason: DropReason) {
    assert_eq!(crate::support::forward(tables, &mut frame(stack, ip)), Verdict::Drop(reason));
}

fn map(text: &str, push: &[u32], ttl: TtlModel) -> TableOp {
    TableOp::FtnSet { fec: Fec::Prefix6(prefix(text)), nhlfe: to_gateway(push, ttl) }
}

#[test]
fn a_packet_is_forwarded_natively() {
    let mut tables = node6(&[]);
    for _ in 0..2 {
        leaves(&mut tables, &[], IP, &[], Ip { hop_limit: 63, ..IP });
    }
    let neighbour = Ip { to: address("2001:db8:0:2::9"), ..IP };
    leaves(&mut tables, &[], neighbour, &[], Ip { hop_limit: 63, ..neighbour });
    let counted: Vec<_> =
        tables.fib6().map(|row| (row.prefix.to_string(), row.packets)).filter(|row| row.1 > 0).collect();
    assert_eq!(counted, [("2001:db8:0:2::/64".into(), 1), ("2001:db8:9::/48".into(), 2)]);
}

#[test]
fn a_node_without_ipv6_routes_drops_it_as_before() {
    let mut tables =
        node(&[ilm(100, local(TtlModel::Uniform)), ilm(101, to_gateway(&[], TtlModel::Uniform))]);
    for stack in [&[][..], &[(2, 0, 9)], &[(100, 0, 9)], &[(101, 0, 9)]] {
        drops(&mut tables, stack, IP, DropReason::UnknownProtocol);
    }
    assert!(!tables.has_ipv6());
}

#[test]
fn what_is_no_packet_for_others_is_punted() {
    let mut tables = node6(&[]);
    let to = |text: &str| Ip { to: address(text), ..IP };
    punts(&mut tables, &[], to("2001:db8:0:2::1"), PuntReason::Local { labels: 0 });
    punts(&mut tables, &[], to("ff02::1"), PuntReason::Local { labels: 0 });
    punts(&mut tables, &[], Ip { hop_limit: 1, ..IP }, PuntReason::TtlExpired { labels: 0 });
    punts(&mut tables, &[], to("2001:db8:ffff::1"), PuntReason::NoRoute { labels: 0 });
    punts(&mut tables, &[], Ip { payload: 1461, ..IP }, PuntReason::TooBig { mtu: 1500, labels: 0 });
    let gateway = address("2001:db8:0:2::8").into();
    punts(&mut tables, &[], to("2001:db8:a::1"), PuntReason::NoAdjacency { port: P1, gateway });
    let gateway = address("2001:db8:0:2::77").into();
    punts(&mut tables, &[], to("2001:db8:0:2::77"), PuntReason::NoAdjacency { port: P1, gateway });
    // A packet for the node itself may have come to its end.
    punts(&mut tables, &[], Ip { hop_limit: 0, ..to("2001:db8:0:2::1") }, PuntReason::Local { labels: 0 });
}

#[test]
fn addresses_that_reach_no_further_stay_on_their_link() {
    let mut tables = node6(&[]);
    for (from, to) in [
        ("fe80::7", "2001:db8:9::1"),
        ("2001:db8::7", "fe80::7"),
        ("::", "2001:db8:9::1"),
        ("::1", "2001:db8:9::1"),
        ("ff02::1", "2001:db8:9::1"),
        ("2001:db8::7", "::1"),
    ] {
        let ip = Ip { from: address(from), to: address(to), ..IP };
        drops(&mut tables, &[], ip, DropReason::Malformed);
    }
    drops(&mut tables, &[], Ip { to: address("2001:db8:d::1"), ..IP }, DropReason::Discard);
}

#[test]
fn lengths_and_versions_are_checked() {
    let mut tables = node6(&[]);
    let bytes = frame(&[], IP).to_vec();
    let with = |tables: &mut Forwarding, change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = bytes.clone();
        change(&mut bytes);
        crate::support::forward(tables, &mut Frame::from_bytes(&bytes))
    };
    assert_eq!(with(&mut tables, &|b| b[14] = 0x45), Verdict::Drop(DropReason::Malformed));
    assert_eq!(with(&mut tables, &|b| b[19] = 19), Verdict::Drop(DropReason::Truncated));
    assert_eq!(with(&mut tables, &|b| b.truncate(50)), Verdict::Drop(DropReason::Truncated));
    assert_eq!(with(&mut tables, &|b| b[0] = 0x33), Verdict::Drop(DropReason::NotForUs));
    // Bytes behind the packet go no further.
    let mut padded = frame(&[], Ip { payload: 100, ..IP }).to_vec();
    let whole = padded.len();
    padded.extend([9; 7]);
    let mut frame = Frame::from_bytes(&padded);
    assert_eq!(crate::support::forward(&mut tables, &mut frame), OUT);
    assert_eq!(frame.len() as usize, whole);
    // Router Alert among the hop-by-hop options.
    let alert = |b: &mut Vec<u8>| {
        b[20] = 0;
        b[54..62].copy_from_slice(&[17, 0, 5, 2, 0, 0, 1, 0]);
    };
    assert_eq!(with(&mut tables, &alert), Verdict::Punt);
    assert_eq!(
        with(&mut tables, &|b| {
            alert(b);
            b[56] = 0x1e;
        }),
        OUT
    );
}

#[test]
fn an_lsp_carries_packets_below_explicit_null() {
    // RFC 4798, 3; RFC 3443: a uniform LSP takes the hop limit along, a pipe does not show it.
    let mut tables = node6(&[
        map("2001:db8:9:1::/64", &[2, 77], TtlModel::Uniform),
        map("2001:db8:9:2::/64", &[2, 78], TtlModel::Pipe),
    ]);
    let to = |text: &str| Ip { to: address(text), ..IP };
    let ip = to("2001:db8:9:1::1");
    leaves(&mut tables, &[], ip, &[(77, 5, 63), (2, 5, 63)], Ip { hop_limit: 63, ..ip });
    let ip = to("2001:db8:9:2::1");
    leaves(&mut tables, &[], ip, &[(78, 5, 255), (2, 5, 255)], Ip { hop_limit: 63, ..ip });
    let rows: Vec<_> = tables.ftn6().map(|row| (row.prefix.to_string(), row.packets)).collect();
    assert_eq!(rows, [("2001:db8:9:1::/64".into(), 1), ("2001:db8:9:2::/64".into(), 1)]);
    // A mapping that goes leaves the route.
    tables.apply(&TableOp::FtnRemove { fec: Fec::Prefix6(prefix("2001:db8:9:1::/64")) }).expect("an entry");
    leaves(&mut tables, &[], to("2001:db8:9:1::1"), &[], Ip { hop_limit: 63, ..to("2001:db8:9:1::1") });
}

#[test]
fn labels_end_over_ipv6() {
    let mut tables = node6(&[
        ilm(100, local(TtlModel::Uniform)),
        ilm(200, local(TtlModel::ShortPipe)),
        ilm(101, to_gateway(&[], TtlModel::Uniform)),
        ilm(201, to_gateway(&[], TtlModel::Pipe)),
        ilm(300, to_gateway(&[301], TtlModel::Uniform)),
    ]);
    let out = |hop_limit| Ip { hop_limit, ..IP };
    leaves(&mut tables, &[(2, 0, 9)], IP, &[], out(8));
    leaves(&mut tables, &[(100, 0, 9)], IP, &[], out(8));
    leaves(&mut tables, &[(100, 0, 9), (2, 0, 7)], IP, &[], out(8));
    leaves(&mut tables, &[(200, 0, 9)], IP, &[], out(63));
    // The penultimate hop: what is exposed goes on as IPv6, or below its null label.
    leaves(&mut tables, &[(101, 0, 9)], IP, &[], out(8));
    leaves(&mut tables, &[(201, 0, 9)], IP, &[], out(64));
    leaves(&mut tables, &[(101, 0, 9), (2, 0, 7)], IP, &[(2, 0, 8)], IP);
    leaves(&mut tables, &[(300, 0, 9), (2, 0, 7)], IP, &[(301, 0, 8), (2, 0, 7)], IP);
    punts(&mut tables, &[(2, 0, 1)], IP, PuntReason::TtlExpired { labels: 1 });
    punts(
        &mut tables,
        &[(100, 0, 9)],
        Ip { to: address("2001:db8:0:2::1"), ..IP },
        PuntReason::Local { labels: 1 },
    );
    // RFC 3032, 2.1: IPv4 explicit null stands over IPv4, IPv6 explicit null over IPv6.
    drops(&mut tables, &[(0, 0, 9)], IP, DropReason::UnknownProtocol);
    let mut v4 = crate::support::frame(&[(2, 0, 9)], crate::support::Ip::default());
    assert_eq!(crate::support::forward(&mut tables, &mut v4), Verdict::Drop(DropReason::UnknownProtocol));
}

#[test]
fn the_traffic_class_says_the_phb() {
    let config = Config { diffserv: Some(DiffServConfig::default()), ..Config::default() };
    let mut ops = routes();
    ops.push(TableOp::FtnSet {
        fec: Fec::Prefix6(prefix("2001:db8:9:1::/64")),
        nhlfe: nhlfe(&[2, 77], crate::support::via(GATEWAY), TtlModel::Uniform, TcSource::Copy),
    });
    let mut tables = node_with(config, &ops);
    let mut plain = frame(&[], IP);
    assert_eq!(tables.incoming_phb(&plain).map(|phb| phb.to_string()), Some("EF".into()));
    assert_eq!(crate::support::forward(&mut tables, &mut plain), OUT);
    assert_eq!(plain.phb().map(|phb| phb.to_string()), Some("EF".into()));
    let mut pushed = frame(&[], Ip { to: address("2001:db8:9:1::1"), ..IP });
    assert_eq!(crate::support::forward(&mut tables, &mut pushed), OUT);
    // The preconfigured mapping: EF has TC 5, on both labels.
    assert_eq!((pushed.header()[16] >> 1 & 7, pushed.header()[20] >> 1 & 7), (5, 5));
}

#[test]
fn the_node_sends_by_its_routes() {
    let mut tables = node6(&[map("2001:db8:9:1::/64", &[2, 77], TtlModel::Uniform)]);
    let mut own = frame(&[], IP);
    assert_eq!(tables.originate(&mut own), Ok(P1));
    assert_eq!(own, framed(neighbour_mac(P1), mac(P1), &[], IP));
    let mut own = frame(&[], Ip { to: address("2001:db8:9:1::1"), ..IP });
    assert_eq!(tables.originate(&mut own), Ok(P1));
    assert_eq!(own.header()[12..14], [0x88, 0x47]);
    let mut near = frame(&[], Ip { to: address("fe80::9"), from: address("fe80::1"), ..IP });
    assert_eq!(tables.originate(&mut near), Err(Exception::Punt(PuntReason::NoRoute { labels: 0 })));
    assert_eq!(tables.transmit_via(P1, address("fe80::9").into(), &mut near), Ok(P1));
    assert_eq!(near.header()[12..14], [0x86, 0xdd]);
    assert_eq!(tables.route_local6(address("2001:db8:0:2::1")).map(|n| n.next_hop), Some(NextHop::Local));
}

proptest! {
    #![proptest_config(testing::cases(512))]
    /// Whatever comes: nothing panics, and what leaves is a packet whose hop limit is one less.
    #[test]
    fn any_bytes(
        to in prop_oneof![Just(FAR), Just(address("2001:db8:0:2::9")), Just(address("2001:db8:a::1")), any::<u128>().prop_map(Ipv6Addr::from)],
        stack in proptest::collection::vec(prop_oneof![Just((2u32, 0u8, 9u8)), Just((100, 0, 9)), Just((101, 1, 2)), Just((0, 0, 1))], 0..3),
        hop_limit: u8,
        wrong in proptest::collection::vec((0usize..80, any::<u8>()), 0..3),
        cut in 0usize..100,
    ) {
        let mut tables = node6(&[ilm(100, local(TtlModel::Uniform)), ilm(101, to_gateway(&[], TtlModel::Uniform))]);
        let mut bytes = frame(&stack, Ip { to, hop_limit, ..IP }).to_vec();
        for (at, byte) in &wrong {
            if let Some(slot) = bytes.get_mut(*at) { *slot = *byte; }
        }
        bytes.truncate(bytes.len().min(14 + cut));
        let before = bytes.clone();
        let mut frame = Frame::from_bytes(&bytes);
        let verdict = crate::support::forward(&mut tables, &mut frame);
        match verdict {
            Verdict::Transmit { port, .. } => prop_assert_eq!(port, PortId(1)),
            _ => prop_assert_eq!(frame.to_vec(), before),
        }
        if stack.is_empty() && wrong.is_empty() && verdict == OUT {
            prop_assert_eq!(frame.header()[21], hop_limit - 1);
        }
    }
}

/// A filter maps packets of IPv6 to an LSP by their addresses, ports and class, before the longest prefix. One that
/// gives no address is for IPv4.
#[test]
fn filters_take_packets_of_ipv6_by_their_addresses() {
    let flow = |order, filter| Fec::Flow { order, filter };
    let any = FlowFilter { protocol: Some(17), ..FlowFilter::default() };
    let of = |src: &str, dscp| FlowFilter { src: Some(IpPrefix::V6(prefix(src))), dscp, ..any };
    let mapped = |push: &[u32]| nhlfe(push, via("fe80::9"), TtlModel::Uniform, TcSource::Copy);
    let set = |order, filter, push: &[u32]| TableOp::FtnSet { fec: flow(order, filter), nhlfe: mapped(push) };
    let mut tables = node6(&[
        set(1, any, &[600]),
        set(2, of("2001:db8:0:1::/64", Dscp::new(10)), &[2, 700]),
        set(
            3,
            FlowFilter { dst_ports: Some((0x0708, 0x0709)), ..of("2001:db8:0:1::7/128", None) },
            &[2, 800],
        ),
    ]);
    // The pattern in the body of a packet begins with the ports 0x0506 and 0x0708.
    let out = |n| [(n, 5, 63), (2, 5, 63)];
    leaves(&mut tables, &[], IP, &out(800), Ip { hop_limit: 63, ..IP });
    let classed = Ip { dscp: 10, ..IP };
    let low = [(700, 1, 63), (2, 1, 63)];
    leaves(&mut tables, &[], classed, &low, Ip { hop_limit: 63, ..classed });
    let other = Ip { from: address("2001:db8:0:5::1"), ..IP };
    leaves(&mut tables, &[], other, &[], Ip { hop_limit: 63, ..other });
    let counted: Vec<u64> = tables.filters().map(|row| row.packets).collect();
    assert_eq!(counted, [0, 1, 1]);
}
