//! The rules for IPv4 packets without labels, for what the node sends itself, and for Ethernet.

use crate::support::*;
use base::device::DropReason;
use base::flow::FlowFilter;
use base::plane::{Fec, NextHop, PortConfig, Prefix, TableError, TableOp, TcSource, TtlModel::*};
use base::{Body, Frame, MacAddr, NodeId, Time, Verdict};
use core::net::Ipv4Addr;
use twinplane_forwarding::fragment::fragment;
use twinplane_forwarding::icmp::{IcmpError, along_lsp, icmp_error};
use twinplane_forwarding::{Config, Exception, PuntReason};
use wire::ipv4;

#[test]
fn routed_by_the_longest_prefix() {
    let mut tables = node(&[
        TableOp::RouteSet { prefix: prefix("0.0.0.0/0"), next_hop: NextHop::Discard },
        TableOp::FtnSet { fec: fec("10.9.0.0/16"), nhlfe: to_gateway(&[200], Uniform) },
        TableOp::RouteSet { prefix: prefix("10.9.7.0/24"), next_hop: via(GATEWAY) },
    ]);
    let to = |third, ttl| Ip { to: Ipv4Addr::new(10, 9, third, 1), ttl, ..Ip::default() };
    leaves(&mut tables, &[], to(1, 64), &[(200, 5, 63)], to(1, 63));
    leaves(&mut tables, &[], to(7, 64), &[], to(7, 63));
    let elsewhere = Ip { to: Ipv4Addr::new(11, 0, 0, 1), ..Ip::default() };
    stays(&mut tables, frame(&[], elsewhere), Verdict::Drop(DropReason::Discard));
    let hidden: Vec<bool> = tables.fib().map(|row| row.hidden).collect();
    assert_eq!(hidden, [false, false, true, false]);
    // Without the mapping the route is used again.
    tables.apply(&TableOp::FtnRemove { fec: fec("10.9.0.0/16") }).expect("a mapping");
    leaves(&mut tables, &[], to(1, 64), &[], to(1, 63));
    tables.apply(&TableOp::RouteRemove { prefix: prefix("0.0.0.0/0") }).expect("a route");
    stays(&mut tables, frame(&[], elsewhere), Verdict::Punt);
    let why = tables.classify_punt(P0, &frame(&[], elsewhere));
    assert_eq!(why, Some(PuntReason::NoRoute { labels: 0 }));
    let again = tables.apply(&TableOp::FtnRemove { fec: fec("10.9.0.0/16") });
    assert_eq!(again, Err(TableError::NoEntry));
}

#[test]
fn filters_come_before_prefixes_and_routes() {
    let flow = |order, filter| Fec::Flow { order, filter };
    let udp = FlowFilter { protocol: Some(17), ..FlowFilter::default() };
    let port = FlowFilter { dst_ports: Some((0x0700, 0x0708)), ..udp };
    let source = FlowFilter { src: Some(Prefix::host(SOURCE).into()), ..FlowFilter::default() };
    let map = |order, filter, label| TableOp::FtnSet {
        fec: flow(order, filter),
        nhlfe: to_gateway(&[label], Uniform),
    };
    let connected = NextHop::Via { port: P1, gateway: Ipv4Addr::UNSPECIFIED.into() };
    let mut tables = node(&[
        TableOp::FtnSet { fec: fec("10.9.0.0/16"), nhlfe: to_gateway(&[200], Uniform) },
        TableOp::RouteSet { prefix: prefix("10.1.0.0/24"), next_hop: connected },
        map(20, source, 320),
        map(10, port, 310),
    ]);
    let ip = Ip::default();
    let out = Ip { ttl: 63, ..ip };
    leaves(&mut tables, &[], ip, &[(310, 5, 63)], out);
    // A later fragment has no ports; neither has a packet too short for them.
    let mut bytes = frame(&[], ip).to_vec();
    bytes[14 + 7] = 1;
    ipv4::Packet::new_unchecked(&mut bytes[14..34]).fill_checksum();
    let mut fragment = Frame::from_bytes(&bytes);
    assert_eq!(forward(&mut tables, &mut fragment), OUT);
    let label = |value: u32| (value << 12 | 5 << 9 | 0x100 | 63).to_be_bytes();
    assert_eq!(fragment.header()[14..18], label(320));
    let short = Ip { payload: 3, ..ip };
    leaves(&mut tables, &[], short, &[(320, 5, 63)], Ip { ttl: 63, ..short });
    // Ports may lie in the body, below labels, and the destination need have no route.
    let nowhere = Ip { to: Ipv4Addr::new(192, 0, 2, 1), ..ip };
    leaves(&mut tables, &[(0, 0, 64)], nowhere, &[(310, 5, 63)], Ip { ttl: 63, ..nowhere });
    // What is for the node itself, and for hosts on its links, is delivered.
    stays(&mut tables, frame(&[], Ip { to: OURS, ..ip }), Verdict::Punt);
    let host = Ip { to: GATEWAY, ..ip };
    leaves(&mut tables, &[], host, &[], Ip { ttl: 63, ..host });
    let rows: Vec<_> = tables.filters().map(|row| (row.order, row.packets)).collect();
    assert_eq!(rows, [(10, 2), (20, 2)]);
    // One goes, then the other.
    tables.apply(&TableOp::FtnRemove { fec: flow(10, udp) }).expect("a filter");
    leaves(&mut tables, &[], ip, &[(320, 5, 63)], out);
    tables.apply(&TableOp::FtnRemove { fec: flow(20, udp) }).expect("a filter");
    leaves(&mut tables, &[], ip, &[(200, 5, 63)], out);
    assert_eq!(tables.apply(&TableOp::FtnRemove { fec: flow(20, udp) }), Err(TableError::NoEntry));
    let reversed = FlowFilter { dst_ports: Some((2, 1)), ..udp };
    assert_eq!(tables.apply(&map(1, reversed, 5)), Err(TableError::Filter));
    let full = Config { filters_max: 1, ..Config::default() };
    let mut small = node_with(full, &[map(1, udp, 300)]);
    assert_eq!(small.apply(&map(2, udp, 300)), Err(TableError::Full));
    assert_eq!(small.apply(&map(1, source, 301)), Ok(()));
}

#[test]
fn what_lies_behind_a_packet_goes_no_further() {
    let mut tables = node(&[]);
    let ip = Ip { payload: 300, ..Ip::default() };
    let mut bytes = frame(&[], ip).to_vec();
    bytes.extend([9; 5_000]);
    let mut frame = Frame::from_bytes(&bytes);
    assert_eq!(forward(&mut tables, &mut frame), OUT);
    assert_eq!(frame, sent(&[], Ip { ttl: 63, ..ip }));
    assert_eq!(tables.port_counters(P1).tx_bytes, 14 + 20 + 300 + 4);
}

#[test]
fn headers_are_checked() {
    let mut tables = node(&[]);
    let good = frame(&[], Ip::default()).to_vec();
    let change = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        Frame::from_bytes(&bytes)
    };
    stays(&mut tables, change(14, 0x65), Verdict::Drop(DropReason::Malformed));
    stays(&mut tables, change(14, 0x44), Verdict::Drop(DropReason::Malformed));
    stays(&mut tables, change(17, 19), Verdict::Drop(DropReason::Malformed));
    stays(&mut tables, change(17, 39), Verdict::Drop(DropReason::Truncated));
    stays(&mut tables, change(24, 0), Verdict::Drop(DropReason::BadChecksum));
    for len in 14..34 {
        stays(&mut tables, Frame::from_bytes(&good[..len]), Verdict::Drop(DropReason::Truncated));
    }
    assert_eq!(tables.drops().total(), 25);
}

#[test]
fn the_node_gets_what_is_for_it() {
    let mut tables = node(&[]);
    let mut why = |ip: Ip| {
        stays(&mut tables, frame(&[], ip), Verdict::Punt);
        tables.classify_punt(P0, &frame(&[], ip))
    };
    for to in [OURS, Ipv4Addr::new(224, 0, 0, 5), Ipv4Addr::BROADCAST] {
        let reason = why(Ip { to, ttl: 1, options: ipv4::Options::ROUTER_ALERT, ..Ip::default() });
        assert_eq!(reason, Some(PuntReason::Local { labels: 0 }));
    }
    let alert = Ip { options: ipv4::Options::ROUTER_ALERT, ttl: 1, ..Ip::default() };
    assert_eq!(why(alert), Some(PuntReason::RouterAlert { labels: 0 }));
    let options = ipv4::Options::from_bytes(&[7, 7, 4, 0, 0, 0, 0, 0]).expect("a record of the route");
    let recorded = Ip { options, ..Ip::default() };
    assert_eq!(why(recorded), Some(PuntReason::Options { labels: 0 }));
    assert_eq!(why(Ip { ttl: 1, ..Ip::default() }), Some(PuntReason::TtlExpired { labels: 0 }));
    let long = Ip { payload: 1481, ..Ip::default() };
    assert_eq!(why(long), Some(PuntReason::TooBig { mtu: 1500, labels: 0 }));
    // The node lets it pass.
    let mut passes = frame(&[], recorded);
    assert_eq!(tables.forward_again(Time(7), P0, &mut passes), OUT);
    assert_eq!(passes, sent(&[], Ip { ttl: 63, ..recorded }));
    let expired = frame(&[], Ip { ttl: 1, ..recorded });
    assert_eq!(tables.classify_again(P0, &expired), Some(PuntReason::TtlExpired { labels: 0 }));
}

#[test]
fn ethernet_decides_first() {
    let mut tables = node(&[ilm(100, to_gateway(&[200], Uniform))]);
    let from = MacAddr::of_port(NodeId(9), P0);
    let other = MacAddr::of_port(NodeId(1), P1);
    let not_ours = Verdict::Drop(DropReason::NotForUs);
    stays(&mut tables, framed(other, from, &[], Ip::default()), not_ours);
    stays(&mut tables, framed(other, from, &[(100, 0, 9)], Ip::default()), not_ours);
    // To a group on the link, but no group packet (RFC 1812, 5.3.4).
    stays(&mut tables, framed(MacAddr::BROADCAST, from, &[], Ip::default()), not_ours);
    stays(&mut tables, framed(MacAddr::BROADCAST, from, &[(100, 0, 9)], Ip::default()), not_ours);
    let group = Ip { to: Ipv4Addr::new(224, 0, 0, 5), ..Ip::default() };
    stays(&mut tables, framed(MacAddr([1, 0, 0x5e, 0, 0, 5]), from, &[], group), Verdict::Punt);
    for (ethertype, verdict) in [
        ([8, 6], Verdict::Punt),
        ([0x81, 0], Verdict::Drop(DropReason::UnknownProtocol)),
        ([0x86, 0xdd], Verdict::Drop(DropReason::UnknownProtocol)),
        ([0x88, 0x48], Verdict::Drop(DropReason::UnknownProtocol)),
        ([0, 60], Verdict::Drop(DropReason::UnknownProtocol)),
    ] {
        let mut bytes = frame(&[], Ip::default()).to_vec();
        bytes[12..14].copy_from_slice(&ethertype);
        stays(&mut tables, Frame::from_bytes(&bytes), verdict);
    }
    // A port that is not there, and one that is down.
    let mut verdicts = [Verdict::Punt];
    let mut frames = [frame(&[(100, 0, 9)], Ip::default())];
    tables.forward_batch(Time(7), base::PortId(5), &mut frames, &mut verdicts);
    assert_eq!(verdicts[0], not_ours);
    let config = PortConfig { mac: mac(P0), mtu: 1500, up: false };
    tables.apply(&TableOp::PortSet { port: P0, config }).expect("a port");
    stays(&mut tables, frames[0].clone(), Verdict::Drop(DropReason::PortDown));
}

#[test]
fn connected_networks_have_the_destination_as_neighbour() {
    let network = NextHop::Via { port: P1, gateway: Ipv4Addr::UNSPECIFIED.into() };
    let mut tables = node(&[
        TableOp::RouteSet { prefix: prefix("10.1.0.0/24"), next_hop: network },
        ilm(100, nhlfe(&[], network, Uniform, TcSource::Copy)),
    ]);
    let to = |to, ttl| Ip { to, ttl, ..Ip::default() };
    leaves(&mut tables, &[], to(GATEWAY, 64), &[], to(GATEWAY, 63));
    leaves(&mut tables, &[(100, 0, 9)], to(GATEWAY, 64), &[], to(GATEWAY, 8));
    for stack in [&[][..], &[(100, 0, 9)]] {
        let missing = frame(stack, to(UNKNOWN, 64));
        stays(&mut tables, missing.clone(), Verdict::Punt);
        let why = tables.classify_punt(P0, &missing);
        assert_eq!(why, Some(PuntReason::NoAdjacency { port: P1, gateway: UNKNOWN.into() }));
    }
}

#[test]
fn what_the_node_sends_takes_the_same_tables() {
    let mut tables = node(&[
        TableOp::FtnSet { fec: fec("10.9.1.0/24"), nhlfe: to_gateway(&[200, 300], Uniform) },
        TableOp::RouteSet { prefix: prefix("10.8.0.0/16"), next_hop: via(UNKNOWN) },
        TableOp::RouteSet { prefix: prefix("10.7.0.0/16"), next_hop: NextHop::Discard },
    ]);
    let blank = |ip| framed(MacAddr::default(), MacAddr::default(), &[], ip);
    let to = |second, third| Ip { to: Ipv4Addr::new(10, second, third, 1), ..Ip::default() };
    // The time to live is not decremented at its origin.
    let mut labelled = blank(to(9, 1));
    assert_eq!(tables.originate(&mut labelled), Ok(P1));
    assert_eq!(labelled, sent(&[(300, 5, 64), (200, 5, 64)], to(9, 1)));
    let mut plain = blank(to(9, 2));
    assert_eq!(tables.originate(&mut plain), Ok(P1));
    assert_eq!(plain, sent(&[], to(9, 2)));
    let mut directed = blank(to(7, 0));
    assert_eq!(tables.transmit_via(P1, GATEWAY.into(), &mut directed), Ok(P1));
    assert_eq!(directed, sent(&[], to(7, 0)));
    let unknown = PuntReason::NoAdjacency { port: P1, gateway: UNKNOWN.into() };
    assert_eq!(tables.transmit_via(P1, UNKNOWN.into(), &mut blank(to(7, 0))), Err(unknown.into()));
    for (ip, why) in [
        (to(8, 0), unknown.into()),
        (to(7, 0), DropReason::Discard.into()),
        (to(6, 0), PuntReason::NoRoute { labels: 0 }.into()),
        (Ip { to: OURS, ..Ip::default() }, PuntReason::Local { labels: 0 }.into()),
        (Ip { payload: 1473, ..to(9, 1) }, PuntReason::TooBig { mtu: 1492, labels: 0 }.into()),
    ] {
        let mut frame = blank(ip);
        assert_eq!(tables.originate(&mut frame), Err(why));
        assert_eq!(frame, blank(ip));
    }
    let short = tables.originate(&mut Frame::from_bytes(&[0; 33]));
    assert_eq!(short, Err(Exception::Drop(DropReason::Truncated)));
    assert_eq!(tables.port_counters(P1).tx_packets, 3);
    let route = tables.route_local(to(9, 1).to).map(|n| n.push.as_slice().len());
    assert_eq!((route, tables.route_local(to(6, 0).to)), (Some(2), None));
}

#[test]
fn a_long_labelled_packet_goes_in_fragments() {
    let mut tables = node(&[ilm(100, to_gateway(&[200, 300], Uniform))]);
    let long = frame(&[(100, 0, 9)], Ip { payload: 2000, ..Ip::default() });
    let Some(PuntReason::TooBig { mtu, .. }) = tables.classify_punt(P0, &long) else { panic!("it fits") };
    let pieces = fragment(&long, mtu).expect("may be fragmented");
    assert_eq!(pieces.len(), 2);
    for mut piece in pieces {
        assert_eq!(tables.forward_again(Time(7), P0, &mut piece), OUT);
        assert!(piece.len() <= 1514);
        assert_eq!(piece.to_vec()[12..22], [0x88, 0x47, 0, 0x12, 0xc0, 8, 0, 0x0c, 0x81, 8]);
    }
    let whole = frame(&[(100, 0, 9)], Ip { payload: 2000, dont_fragment: true, ..Ip::default() });
    assert_eq!(fragment(&whole, mtu), Err(DropReason::TooBig));
}

#[test]
fn an_error_about_a_labelled_packet_can_follow_its_lsp() {
    // RFC 3032, 2.3.2: a transit router that can't route back lets the end of the LSP do it.
    let mut tables = node(&[ilm(100, to_gateway(&[200], Uniform))]);
    let expired = frame(&[(100, 3, 1)], Ip::default());
    stays(&mut tables, expired.clone(), Verdict::Punt);
    let packet = icmp_error(&expired, IcmpError::TimeExceeded, OURS).expect("an error may be sent");
    let mut error = along_lsp(&expired, &packet).expect("a label");
    assert_eq!(tables.forward_again(Time(7), P0, &mut error), OUT);
    let bytes = error.to_vec();
    assert_eq!(bytes[14..18], [0, 0x0c, 0x87, 254]);
    assert_eq!(bytes[18..], packet);
}

#[test]
fn full_tables_refuse_new_entries_only() {
    let config = Config { ilm_max: 1, fib_max: 3, ..Config::default() };
    let mut tables = node_with(config, &[ilm(100, local(Uniform))]);
    assert_eq!(tables.apply(&ilm(101, local(Uniform))), Err(TableError::Full));
    assert_eq!(tables.apply(&ilm(100, local(Pipe))), Ok(()));
    let route = |text| TableOp::RouteSet { prefix: prefix(text), next_hop: NextHop::Discard };
    assert_eq!(tables.apply(&route("1.0.0.0/8")), Ok(()));
    assert_eq!(tables.apply(&route("2.0.0.0/8")), Err(TableError::Full));
    assert_eq!(tables.apply(&route("1.0.0.0/8")), Ok(()));
    assert_eq!(tables.apply(&TableOp::RouteRemove { prefix: Prefix::host(OURS) }), Ok(()));
    assert_eq!(tables.apply(&route("2.0.0.0/8")), Ok(()));
}

#[test]
fn ports_and_neighbours_change_under_entries() {
    let mut tables = node(&[ilm(100, to_gateway(&[200], Uniform))]);
    let moved = MacAddr([2, 9, 9, 9, 9, 9]);
    tables.apply(&TableOp::AdjacencySet { port: P1, gateway: GATEWAY.into(), mac: moved }).expect("a port");
    let mut out = frame(&[(100, 0, 9)], Ip::default());
    assert_eq!(forward(&mut tables, &mut out), OUT);
    assert_eq!(out, framed(moved, mac(P1), &[(200, 0, 8)], Ip::default()));
    let config = PortConfig { mac: MacAddr([2, 8, 8, 8, 8, 8]), mtu: 1500, up: true };
    tables.apply(&TableOp::PortSet { port: P1, config }).expect("a port");
    let mut out = frame(&[(100, 0, 9)], Ip::default());
    assert_eq!(forward(&mut tables, &mut out), OUT);
    assert_eq!(out, framed(moved, config.mac, &[(200, 0, 8)], Ip::default()));
    assert_eq!(tables.neighbour_mac(P1, GATEWAY.into()), Some(moved));
    let remove = TableOp::AdjacencyRemove { port: P1, gateway: GATEWAY.into() };
    assert_eq!((tables.apply(&remove), tables.apply(&remove)), (Ok(()), Err(TableError::NoEntry)));
    stays(&mut tables, frame(&[(100, 0, 9)], Ip::default()), Verdict::Punt);
    let bytes = Frame::new(&[], Body::Empty);
    stays(&mut tables, bytes, Verdict::Drop(DropReason::Truncated));
}
