//! Flows, turns and limits of fq_codel.

use super::super::testing::{dscp, extra, tree};
use super::super::{Take, Tree};
use base::device::DropReason;
use base::{Body, Frame, Time};

/// A packet of `len` bytes of flow `flow`, which is its DSCP, too.
fn packet(flow: u8, len: u32, ecn: u8) -> Frame {
    let mut header = vec![2; 12];
    header.extend([8, 0, 0x45, flow << 2 | ecn]);
    header.extend(((len - 14) as u16).to_be_bytes());
    header.extend([0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 4, flow, 0, 80]);
    Frame::new(&header, Body::Pattern { start: 0, len: len - 38 })
}

fn offer(tree: &mut Tree, now: u64, flows: &[(u8, u32)]) {
    for &(flow, len) in flows {
        tree.offer(Time(now), packet(flow, len, 0));
        assert_eq!(tree.audit(Time(now)), [""; 0]);
    }
}

fn take(tree: &mut Tree, now: u64) -> Option<u8> {
    match tree.take(Time(now)) {
        Take::Frame(frame) => Some(dscp(&frame)),
        Take::Empty => None,
        Take::Wait(_) => panic!("it never holds back"),
    }
}

#[test]
fn flows_share_by_bytes_and_new_ones_go_first() {
    let mut tree = tree(r#"{"discipline": "fq-codel", "quantum": 1000}"#).expect("a tree");
    offer(&mut tree, 0, &[(1, 1000), (1, 1000), (1, 1000), (2, 500), (2, 500), (2, 500), (2, 500)]);
    let first: Vec<_> = (0..4).filter_map(|_| take(&mut tree, 0)).collect();
    // A new queue sends a quantum, then it is an old one.
    assert_eq!(first, [1, 2, 2, 1]);
    offer(&mut tree, 0, &[(3, 100)]);
    let rest: Vec<_> = core::iter::from_fn(|| take(&mut tree, 0)).collect();
    assert_eq!(rest, [3, 2, 2, 1]);
    assert_eq!(extra(&tree, 0, "root", "new_flows"), 3.0);
    assert_eq!(extra(&tree, 0, "root", "active_flows"), 0.0);
}

#[test]
fn quanta_far_below_a_packet_take_no_longer_and_share_as_ever() {
    let mut tree = tree(r#"{"discipline": "fq-codel", "quantum": 1}"#).expect("a tree");
    offer(&mut tree, 0, &[(1, 1000), (1, 1000), (2, 400), (2, 400), (2, 300), (2, 1400)]);
    // 2 sends when it has got 1, 401, 801 and 1101 bytes; 1 when it has got 1 and 1001.
    let all: Vec<_> = core::iter::from_fn(|| take(&mut tree, 0)).collect();
    assert_eq!(all, [1, 2, 2, 2, 1, 2]);
}

#[test]
fn the_longest_queue_loses_half_when_there_is_no_room() {
    let mut tree = tree(r#"{"discipline": "fq-codel", "limit": 20}"#).expect("a tree");
    offer(&mut tree, 0, &[(2, 1000); 2]);
    offer(&mut tree, 0, &[(1, 100); 18]);
    assert_eq!(tree.backlog().packets, 20);
    // Of 2000 and 1900 bytes, the 2000 lose half.
    offer(&mut tree, 0, &[(1, 100)]);
    assert_eq!((tree.backlog().packets, tree.backlog().bytes), (20, 2900));
    offer(&mut tree, 0, &[(1, 100)]);
    assert_eq!((tree.backlog().packets, tree.backlog().bytes), (11, 2000));
    assert_eq!(tree.totals().dropped.packets.get(DropReason::BufferFull), 11);
    let row = &tree.report(Time(0))[0];
    assert_eq!((row.counters.backlog_packets_max, row.counters.drops.get(DropReason::BufferFull)), (20, 11));
    let mut memory = self::tree(r#"{"discipline": "fq-codel", "memory_limit": 999}"#).expect("a tree");
    offer(&mut memory, 0, &[(1, 1000)]);
    assert_eq!((memory.backlog().packets, take(&mut memory, 0)), (0, None));
}

#[test]
fn a_queue_that_stays_too_long_is_cut_and_others_are_not() {
    let mut tree = tree(r#"{"discipline": "fq-codel", "ecn": false}"#).expect("a tree");
    // 8 Mbit/s: a packet takes 1 ms. Flow 1 sends 1.5 times that; flow 2 a packet now and then.
    let ms = 1_000_000_000;
    let mut sent = [0; 3];
    for step in 0..4000 {
        offer(&mut tree, step * ms, &[(1, 1000)]);
        if step % 2 == 0 {
            offer(&mut tree, step * ms, &[(1, 1000)]);
        }
        if step % 20 == 10 {
            offer(&mut tree, step * ms, &[(2, 200)]);
            // It is the only one of its flow, and goes first.
            assert_eq!(take(&mut tree, step * ms), Some(2));
            sent[2] += 1;
        }
        sent[usize::from(take(&mut tree, step * ms).expect("a packet"))] += 1;
    }
    let dropped = tree.totals().dropped.packets.get(DropReason::Sojourn);
    assert_eq!(sent[2], 200);
    assert!(dropped > 200, "{dropped}");
    assert_eq!(tree.audit(Time(4000 * ms)), [""; 0]);
    let mut cleared = tree;
    cleared.clear(Time(4000 * ms), DropReason::PortDown);
    assert_eq!(cleared.audit(Time(4000 * ms)), [""; 0]);
    assert_eq!((cleared.backlog().packets, take(&mut cleared, 4001 * ms)), (0, None));
}

#[test]
fn what_waited_beyond_the_threshold_is_marked() {
    let json = r#"{"discipline": "fq-codel", "ce_threshold": "1000 ps"}"#;
    let mut tree = tree(json).expect("a tree");
    for (at, ecn) in [(0, 2), (500, 2), (0, 0)] {
        tree.offer(Time(at), packet(1, 100, ecn));
    }
    let ecn = |taken| match taken {
        Take::Frame(frame) => frame.header()[15] & 3,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        [ecn(tree.take(Time(1001))), ecn(tree.take(Time(1500))), ecn(tree.take(Time(2000)))],
        [3, 2, 0]
    );
    assert_eq!(tree.report(Time(2000))[0].counters.marked, 1);
}

#[test]
fn what_is_wrong_is_named() {
    let of = |field: &str| tree(&format!(r#"{{"discipline": "fq-codel", {field}}}"#)).expect_err("an error");
    assert_eq!(of(r#""flows": 0"#), "flows: 0: it should be 1 to 65536");
    assert_eq!(of(r#""limit": 0"#), "limit: 0: it should be 1 to 4294967295");
    assert_eq!(
        of(r#""target": "9 ps", "interval": "8 ps""#),
        "target: target has to be below interval (RFC 8289, 4.3: 5 to 10 % of it)"
    );
}
