//! The rules for labelled packets: RFC 3031, RFC 3032, RFC 3443, RFC 4182.

use crate::support::*;
use base::Verdict;
use base::device::DropReason;
use base::plane::{NextHop, PortConfig, TableError, TableOp, TcSource, TtlModel::*};
use base::{Body, Frame, PortId, TrafficClass};
use twinplane_forwarding::{Config, PuntReason};

fn ip(ttl: u8) -> Ip {
    Ip { ttl, ..Ip::default() }
}

#[test]
fn swap_decrements_the_time_to_live_in_every_model() {
    // RFC 3443, 4.3 (1): the outgoing label takes oTTL.
    for model in [Uniform, Pipe, ShortPipe] {
        let mut tables = node(&[ilm(100, to_gateway(&[200], model))]);
        leaves(&mut tables, &[(100, 3, 9)], ip(64), &[(200, 3, 8)], ip(64));
        leaves(&mut tables, &[(100, 3, 9), (7777, 1, 2)], ip(64), &[(200, 3, 8), (7777, 1, 2)], ip(64));
    }
}

#[test]
fn a_swapped_packet_may_be_as_long_as_the_mtu() {
    let mut tables = node(&[ilm(100, to_gateway(&[200], Uniform))]);
    let fits = Ip { payload: 1476, ..ip(64) };
    leaves(&mut tables, &[(100, 3, 9)], fits, &[(200, 3, 8)], fits);
    let long = frame(&[(100, 3, 9)], Ip { payload: 1477, ..ip(64) });
    stays(&mut tables, long.clone(), Verdict::Punt);
    assert_eq!(tables.classify_punt(P0, &long), Some(PuntReason::TooBig { mtu: 1496, labels: 1 }));
}

#[test]
fn swap_then_push() {
    // RFC 3443, 4.3 (2) and 4.4: the swapped label takes oTTL; pushed ones copy it, or take the configured value.
    for (model, pushed) in [(Uniform, 8), (Pipe, 200), (ShortPipe, 200)] {
        let config = Config { pipe_ttl: 200, ..Config::default() };
        let mut tables = node_with(config, &[ilm(100, to_gateway(&[200, 300, 400, 500], model))]);
        let out = [(500, 3, pushed), (400, 3, pushed), (300, 3, pushed), (200, 3, 8), (7777, 1, 2)];
        leaves(&mut tables, &[(100, 3, 9), (7777, 1, 2)], ip(64), &out, ip(64));
    }
}

#[test]
fn penultimate_hop_popping() {
    // RFC 3443, 4.3 (3): uniform writes oTTL into the exposed header, short pipe leaves it alone.
    for (model, exposed) in [(Uniform, 8), (Pipe, 64), (ShortPipe, 64)] {
        let mut tables = node(&[ilm(100, to_gateway(&[], model))]);
        leaves(&mut tables, &[(100, 3, 9)], ip(64), &[], ip(exposed));
        let below = (7777, 1, exposed);
        leaves(&mut tables, &[(100, 3, 9), (7777, 1, 64)], ip(64), &[below], ip(64));
        // The check is made whatever becomes of the TTL.
        stays(&mut tables, frame(&[(100, 3, 1)], ip(64)), Verdict::Punt);
    }
}

#[test]
fn the_egress_routes_with_the_time_to_live_of_the_model() {
    // RFC 3443, 4.2: uniform goes on with the popped label's TTL, pipe with the exposed header's.
    for (model, out) in [(Uniform, 8), (Pipe, 63), (ShortPipe, 63)] {
        let mut tables = node(&[ilm(100, local(model))]);
        leaves(&mut tables, &[(100, 3, 9)], ip(64), &[], ip(out));
    }
    let mut uniform = node(&[ilm(100, local(Uniform))]);
    stays(&mut uniform, frame(&[(100, 3, 1)], ip(64)), Verdict::Punt);
    let mut pipe = node(&[ilm(100, local(Pipe))]);
    leaves(&mut pipe, &[(100, 3, 1)], ip(64), &[], ip(63));
    stays(&mut pipe, frame(&[(100, 3, 9)], ip(1)), Verdict::Punt);
}

#[test]
fn pops_in_sequence_hand_the_time_to_live_on() {
    // RFC 3443, 4.2: after a uniform pop, the TTL of the next label popped or swapped is replaced.
    let stack = [(100, 3, 9), (101, 2, 50), (102, 1, 60)];
    for (first, second, ttl) in
        [(Uniform, Uniform, 8), (Uniform, Pipe, 59), (Pipe, Uniform, 49), (Pipe, Pipe, 59)]
    {
        let mut tables =
            node(&[ilm(100, local(first)), ilm(101, local(second)), ilm(102, to_gateway(&[200], Uniform))]);
        leaves(&mut tables, &stack, ip(64), &[(200, 1, ttl)], ip(64));
    }
}

#[test]
fn the_class_is_copied_or_set() {
    let class = TcSource::Set(TrafficClass::new(6).expect("three bits"));
    let set = |push: &[u32]| nhlfe(push, via(GATEWAY), Uniform, class);
    let mut tables = node(&[
        ilm(100, to_gateway(&[200, 300], Uniform)),
        ilm(101, set(&[200])),
        ilm(102, set(&[200, 300])),
        TableOp::FtnSet { fec: fec("10.9.1.0/24"), nhlfe: to_gateway(&[200, 300], Uniform) },
        TableOp::FtnSet { fec: fec("10.9.2.0/24"), nhlfe: set(&[200]) },
    ]);
    leaves(&mut tables, &[(100, 3, 9)], ip(64), &[(300, 3, 8), (200, 3, 8)], ip(64));
    leaves(&mut tables, &[(101, 3, 9)], ip(64), &[(200, 6, 8)], ip(64));
    leaves(&mut tables, &[(102, 3, 9)], ip(64), &[(300, 6, 8), (200, 6, 8)], ip(64));
    // DSCP 46 has precedence 5.
    let to = |third, ttl| Ip { to: core::net::Ipv4Addr::new(10, 9, third, 1), ..ip(ttl) };
    leaves(&mut tables, &[], to(1, 64), &[(300, 5, 63), (200, 5, 63)], to(1, 63));
    leaves(&mut tables, &[], to(2, 64), &[(200, 6, 63)], to(2, 63));
}

#[test]
fn the_ingress_pushes_with_the_time_to_live_of_the_model() {
    // RFC 3443, 4.4.
    for (model, pushed) in [(Uniform, 63), (Pipe, 255), (ShortPipe, 255)] {
        let nhlfe = to_gateway(&[200, 300], model);
        let mut tables = node(&[TableOp::FtnSet { fec: fec("10.9.0.0/24"), nhlfe }]);
        leaves(&mut tables, &[], ip(64), &[(300, 5, pushed), (200, 5, pushed)], ip(63));
        stays(&mut tables, frame(&[], ip(1)), Verdict::Punt);
        let row = tables.ftn().next().expect("the mapping");
        assert_eq!((row.nhlfe, row.packets, row.bytes), (nhlfe, 1, 64));
    }
}

#[test]
fn explicit_null_is_popped() {
    // RFC 3032, 2.1; RFC 4182 allows it above other labels.
    let mut tables = node(&[ilm(100, to_gateway(&[0], Uniform)), ilm(101, to_gateway(&[200], Uniform))]);
    leaves(&mut tables, &[(100, 3, 9)], ip(64), &[(0, 3, 8)], ip(64));
    leaves(&mut tables, &[(0, 3, 9)], ip(64), &[], ip(8));
    leaves(&mut tables, &[(0, 3, 9), (101, 2, 64)], ip(64), &[(200, 2, 8)], ip(64));
    leaves(&mut tables, &[(2, 3, 9), (101, 2, 64)], ip(64), &[(200, 2, 8)], ip(64));
    stays(&mut tables, frame(&[(2, 3, 9)], ip(64)), Verdict::Drop(DropReason::UnknownProtocol));
    let config = Config { explicit_null_ttl: Pipe, ..Config::default() };
    leaves(&mut node_with(config, &[]), &[(0, 3, 9)], ip(64), &[], ip(63));
}

#[test]
fn reserved_labels() {
    let mut tables = node(&[ilm(100, to_gateway(&[200], Uniform)), ilm(101, to_gateway(&[], Uniform))]);
    for reserved in 3..16 {
        let frame = frame(&[(reserved, 0, 9)], ip(64));
        stays(&mut tables, frame, Verdict::Drop(DropReason::ReservedLabel));
        let refused = tables.apply(&ilm(reserved, local(Uniform)));
        assert_eq!(refused, Err(TableError::ReservedLabel));
    }
    assert_eq!(tables.apply(&ilm(100, to_gateway(&[3], Uniform))), Err(TableError::ReservedLabel));
    assert_eq!(tables.drops().get(DropReason::ReservedLabel), 13);
    // Router alert: not at the bottom; punted; pushed back when the node lets it pass.
    stays(&mut tables, frame(&[(1, 0, 9)], ip(64)), Verdict::Drop(DropReason::ReservedLabel));
    let mut alert = frame(&[(1, 0, 9), (100, 3, 9)], ip(64));
    stays(&mut tables, alert.clone(), Verdict::Punt);
    assert_eq!(tables.classify_punt(P0, &alert), Some(PuntReason::RouterAlert { labels: 2 }));
    assert_eq!(tables.forward_again(base::Time(7), P0, &mut alert), OUT);
    assert_eq!(alert, sent(&[(1, 3, 8), (200, 3, 8)], ip(64)));
    let mut last = frame(&[(1, 0, 9), (101, 3, 9)], ip(64));
    assert_eq!(tables.forward_again(base::Time(7), P0, &mut last), OUT);
    assert_eq!(last, sent(&[], ip(8)));
}

#[test]
fn labels_without_an_entry_are_dropped() {
    let mut tables = node(&[ilm(100, to_gateway(&[200], Uniform))]);
    let unknown = Verdict::Drop(DropReason::UnknownLabel);
    for value in [16, 99, 101, 255, 256, 0xf_ffff] {
        stays(&mut tables, frame(&[(value, 0, 9)], ip(64)), unknown);
    }
    tables.apply(&TableOp::IlmRemove { label: label(100) }).expect("an entry");
    stays(&mut tables, frame(&[(100, 0, 9)], ip(64)), unknown);
    assert_eq!(tables.drops().get(DropReason::UnknownLabel), 7);
    assert_eq!(tables.apply(&TableOp::IlmRemove { label: label(100) }), Err(TableError::NoEntry));
    tables.apply(&ilm(0xf_ffff, nhlfe(&[], NextHop::Discard, Uniform, TcSource::Copy))).expect("room");
    stays(&mut tables, frame(&[(0xf_ffff, 0, 9)], ip(64)), Verdict::Drop(DropReason::Discard));
}

/// RFC 3031, 3.22: what is below a label that came to its end too early may be another router's.
#[test]
fn what_is_below_a_label_without_a_next_label_is_ip_or_dropped() {
    let to_here = |next_hop| nhlfe(&[], next_hop, Uniform, TcSource::Copy);
    let mut tables = node(&[
        ilm(100, to_here(NextHop::Unlabelled)),
        ilm(101, to_here(NextHop::Local)),
        ilm(200, to_gateway(&[300], Uniform)),
    ]);
    let mut last = frame(&[(100, 0, 9)], ip(64));
    assert_eq!(forward(&mut tables, &mut last), OUT);
    assert_eq!(last, sent(&[], ip(8)));
    stays(&mut tables, frame(&[(100, 0, 9), (200, 0, 9)], ip(64)), Verdict::Drop(DropReason::LabelBelow));
    let mut ours = frame(&[(101, 0, 9), (200, 0, 9)], ip(64));
    assert_eq!(forward(&mut tables, &mut ours), OUT);
    assert_eq!(tables.ilm_row(label(200)).map(|row| row.packets), Some(1));
}

#[test]
fn a_stack_that_outgrows_the_headroom_is_dropped() {
    let mut tables = node(&[ilm(100, to_gateway(&[100, 100, 100, 100], Uniform))]);
    let mut at = frame(&[(100, 0, 64)], Ip { payload: 100, ..ip(64) });
    // Three labels more each time, ten fit.
    for grown in [4, 7, 10] {
        assert_eq!(forward(&mut tables, &mut at), OUT);
        assert_eq!(at.header().len(), 14 + 4 * grown + 20);
        at.header_mut()[..6].copy_from_slice(&mac(P0).0);
    }
    stays(&mut tables, at, Verdict::Drop(DropReason::StackDepth));
}

#[test]
fn frames_that_end_too_soon() {
    let mut tables = node(&[ilm(100, local(Uniform))]);
    let whole = frame(&[(100, 0, 64), (100, 0, 64)], ip(64)).to_vec();
    for len in 0..42 {
        stays(&mut tables, Frame::from_bytes(&whole[..len]), Verdict::Drop(DropReason::Truncated));
    }
    // Whole, but what follows the labels is not among the bytes that nodes rewrite.
    let deep = Frame::new(&whole[..30], Body::owned(&whole[30..]));
    stays(&mut tables, deep, Verdict::Drop(DropReason::StackDepth));
    // Below the bottom there is no IPv4.
    let mut other = whole.clone();
    other[22] = 0x60;
    stays(&mut tables, Frame::from_bytes(&other), Verdict::Drop(DropReason::UnknownProtocol));
    let mut popping = node(&[ilm(100, to_gateway(&[], Uniform))]);
    other.drain(14..18);
    stays(&mut popping, Frame::from_bytes(&other), Verdict::Drop(DropReason::UnknownProtocol));
}

#[test]
fn exceptions_say_what_the_node_must_know() {
    let mut tables = node(&[
        ilm(100, to_gateway(&[200, 300], Uniform)),
        ilm(101, local(Uniform)),
        ilm(102, nhlfe(&[200], via(UNKNOWN), Uniform, TcSource::Copy)),
    ]);
    let why = |tables: &mut twinplane_forwarding::Forwarding, frame: Frame| {
        stays(tables, frame.clone(), Verdict::Punt);
        tables.classify_punt(P0, &frame)
    };
    let below = (7777, 0, 64);
    let expired = why(&mut tables, frame(&[(100, 0, 1), below], ip(64)));
    assert_eq!(expired, Some(PuntReason::TtlExpired { labels: 2 }));
    let zero = why(&mut tables, frame(&[(100, 0, 0)], ip(64)));
    assert_eq!(zero, Some(PuntReason::TtlExpired { labels: 1 }));
    // 1500 bytes less two labels pushed and one below.
    let long = why(&mut tables, frame(&[(100, 0, 9), below], Ip { payload: 1469, ..ip(64) }));
    assert_eq!(long, Some(PuntReason::TooBig { mtu: 1488, labels: 2 }));
    let fits = Ip { payload: 1468, ..ip(64) };
    leaves(&mut tables, &[(100, 0, 9), below], fits, &[(300, 0, 8), (200, 0, 8), below], fits);
    let ours = why(&mut tables, frame(&[(101, 0, 1)], Ip { to: OURS, ..ip(1) }));
    assert_eq!(ours, Some(PuntReason::Local { labels: 1 }));
    let missing = why(&mut tables, frame(&[(102, 0, 9)], ip(64)));
    assert_eq!(missing, Some(PuntReason::NoAdjacency { port: P1, gateway: UNKNOWN.into() }));
    // The neighbour is found, the frame goes.
    let set = TableOp::AdjacencySet { port: P1, gateway: UNKNOWN.into(), mac: neighbour_mac(P1) };
    tables.apply(&set).expect("a port");
    leaves(&mut tables, &[(102, 0, 9)], ip(64), &[(200, 0, 8)], ip(64));
    // The port goes down.
    let config = PortConfig { mac: mac(P1), mtu: 1500, up: false };
    tables.apply(&TableOp::PortSet { port: P1, config }).expect("a port");
    stays(&mut tables, frame(&[(102, 0, 9)], ip(64)), Verdict::Drop(DropReason::PortDown));
    assert_eq!(
        tables.apply(&ilm(
            103,
            nhlfe(&[], NextHop::Via { port: PortId(9), gateway: FAR.into() }, Uniform, TcSource::Copy)
        )),
        Err(TableError::NoPort)
    );
}

#[test]
fn replacing_keeps_counting() {
    let mut tables = node(&[ilm(100, to_gateway(&[200, 300, 400], Uniform))]);
    leaves(&mut tables, &[(100, 3, 9)], ip(64), &[(400, 3, 8), (300, 3, 8), (200, 3, 8)], ip(64));
    let second = to_gateway(&[201], Pipe);
    tables.apply(&ilm(100, second)).expect("room");
    leaves(&mut tables, &[(100, 3, 9)], ip(64), &[(201, 3, 8)], ip(64));
    let row = tables.ilm_row(label(100)).expect("an entry");
    // 60 bytes with one label and the frame check sequence: 64 bytes.
    assert_eq!((row.nhlfe, row.packets, row.bytes), (second, 2, 128));
    let counters = tables.port_counters(P1);
    assert_eq!((counters.tx_packets, counters.tx_bytes), (2, 68 + 64));
    assert_eq!((tables.port_counters(P0).rx_packets, tables.port_counters(P0).rx_bytes), (2, 128));
}

#[test]
fn when_entries_go_so_do_their_neighbours() {
    let mut tables = node(&[]);
    let before = tables.adjacencies().count();
    let entry = nhlfe(&[200, 300], via(UNKNOWN), Uniform, TcSource::Copy);
    for value in 16..1000 {
        tables.apply(&ilm(value, entry)).expect("room");
    }
    assert_eq!(tables.adjacencies().map(|a| a.uses).max(), Some(984));
    for value in 16..1000 {
        tables.apply(&TableOp::IlmRemove { label: label(value) }).expect("an entry");
    }
    assert_eq!((tables.ilm().count(), tables.adjacencies().count()), (0, before));
}
