//! CBQ against what its parameters promise.

use super::super::testing::{close, extra, fast_tree, frame, rate, saturate, wait};
use super::super::{Facts, Take, Tree, TreeSpec};
use base::random::Streams;
use base::{Rate, Time};

const S: u64 = 1_000_000_000_000;

/// A tree at 100 Mbit/s, with classes `a`, `b`, ... for DSCP 1, 2 and so on.
fn tree(classes: &str) -> Result<Tree, String> {
    fast_tree(&format!(
        r#"{{"discipline": "cbq", "avpkt": 1000, "classes": [{classes}],
            "filters": [{{"dscp": [1], "class": "a"}}, {{"dscp": [2], "class": "b"}}]}}"#
    ))
}

#[test]
fn a_bounded_class_gets_its_rate() {
    for bps in [500_000u64, 2_800_000, 30_000_000, 70_000_000] {
        for len in [64, 576, 1000, 1500] {
            let mut tree = self::tree(&format!(
                r#"{{"name": "a", "rate": {bps}, "bounded": true}}, {{"name": "b", "rate": 1000}}"#
            ))
            .expect("a tree");
            // The burst after idleness is not part of the rate.
            saturate(&mut tree, &[(1, len)], 0, S);
            let sent = saturate(&mut tree, &[], S, 5 * S);
            close(rate(sent[1], 4 * S), bps as f64, 0.01);
        }
    }
}

#[test]
fn an_idle_class_sends_maxburst_packets_at_the_speed_of_the_link() {
    for burst in [1u64, 5, 10, 20] {
        let mut tree = self::tree(&format!(
            r#"{{"name": "a", "rate": 2800000, "bounded": true, "maxburst": {burst}}}, {{"name": "b", "rate": 1000}}"#
        ))
        .expect("a tree");
        for start in [S, 20 * S] {
            (0..60).for_each(|_| tree.offer(Time(start), frame(4, 1000)));
            let (mut now, mut count) = (start, 0);
            while let Take::Frame(_) = tree.take(Time(now)) {
                (now, count) = (now + 80_000_000, count + 1);
            }
            assert!((burst + 1..=burst + 2).contains(&count), "{burst}: {count}");
            let until = wait(&mut tree, now).expect("a wait");
            // The next is sent when the last has had its time at the rate of the class.
            close((until - (now - 80_000_000)) as f64, 8e9 / 2.8, 0.001);
            tree.clear(Time(now), base::device::DropReason::PortDown);
            assert_eq!(tree.audit(Time(now)), [""; 0]);
        }
    }
}

#[test]
fn weights_share_what_a_priority_has() {
    let mut tree = self::tree(
        r#"{"name": "a", "rate": 1000000, "weight": 1}, {"name": "b", "rate": 1000000, "weight": 3}"#,
    )
    .expect("a tree");
    let sent = saturate(&mut tree, &[(1, 1000), (2, 700)], 0, S);
    close(rate(sent[1] + sent[2], S), 1e8, 0.001);
    close(sent[2] as f64 / sent[1] as f64, 3.0, 0.01);
}

#[test]
fn weights_a_thousand_times_apart_take_no_longer() {
    let mut tree = self::tree(
        r#"{"name": "a", "rate": 1000000, "weight": 1}, {"name": "b", "rate": 1000000, "weight": 100000}"#,
    )
    .expect("a tree");
    let sent = saturate(&mut tree, &[(1, 1500)], 0, S / 100);
    close(rate(sent[1], S / 100), 1e8, 0.02);
}

#[test]
fn the_more_urgent_priority_goes_first() {
    let mut tree = self::tree(
        r#"{"name": "a", "rate": 10000000, "prio": 1, "bounded": true}, {"name": "b", "rate": 1000000, "prio": 2}"#,
    )
    .expect("a tree");
    let sent = saturate(&mut tree, &[(1, 1000), (2, 1500)], 0, 2 * S);
    close(rate(sent[1], 2 * S), 1e7, 0.01);
    close(rate(sent[2], 2 * S), 9e7, 0.01);
    let mut tree =
        self::tree(r#"{"name": "a", "rate": 10000000, "prio": 1}, {"name": "b", "rate": 1000000}"#)
            .expect("a tree");
    // What may borrow takes all that is left, the more urgent first; the other keeps its own rate.
    let sent = saturate(&mut tree, &[(1, 1000), (2, 1000)], 0, S);
    assert!(rate(sent[1], S) > 9.8e7, "{sent:?}");
}

#[test]
fn a_class_borrows_of_its_parent_and_not_beyond_a_bounded_one() {
    let classes = r#"{"name": "org", "rate": 10000000, "bounded": true},
        {"name": "a", "parent": "org", "rate": 2000000}, {"name": "b", "parent": "org", "rate": 8000000}"#;
    // Alone it gets all that the parent has. The estimator's memory fades with every packet: what is sent at the leaf's
    // own expense while the parent is over its limit is not quite made up for.
    let mut alone = tree(classes).expect("a tree");
    saturate(&mut alone, &[(1, 1000)], 0, S);
    let sent = saturate(&mut alone, &[], S, 5 * S);
    close(rate(sent[1], 4 * S), 1e7, 0.02);
    assert!(extra(&alone, 5 * S, "root/a", "borrowed_packets") > 1000.0);
    // With the other each has its own.
    let mut both = tree(classes).expect("a tree");
    saturate(&mut both, &[(1, 1000), (2, 1000)], 0, S);
    let sent = saturate(&mut both, &[], S, 5 * S);
    close(rate(sent[1] + sent[2], 4 * S), 1e7, 0.03);
    close(rate(sent[1], 4 * S), 2e6, 0.1);
}

#[test]
fn an_isolated_class_lends_nothing_by_being_idle() {
    let classes = r#"{"name": "org", "rate": 6000000, "bounded": true},
        {"name": "a", "parent": "org", "rate": 4000000, "isolated": true, "bounded": true},
        {"name": "b", "parent": "org", "rate": 2000000}"#;
    let of = |sizes: &[(u8, u32)]| {
        let mut tree = self::tree(classes).expect("a tree");
        saturate(&mut tree, sizes, 0, S);
        let sent = saturate(&mut tree, &[], S, 5 * S);
        (rate(sent[1], 4 * S), rate(sent[2], 4 * S))
    };
    let (idle, busy) = (of(&[(2, 1000)]), of(&[(1, 1000), (2, 1000)]));
    close(busy.0, 4e6, 0.02);
    close(busy.1, idle.1, 0.01);
    close(idle.1, 6e6, 0.02);
}

#[test]
fn what_peek_names_is_what_is_taken() {
    use super::super::{Context, Dropped, Packet};
    let spec: TreeSpec = crate::queue::testing::spec(
        r#"{"root": {"discipline": "cbq", "avpkt": 1000, "default": "a", "classes": {"a": {"rate": 1000000}}}}"#,
    )
    .expect("a spec");
    let facts = Facts { rate: Rate::from_mbps(100), mtu: 1500 };
    let mut cbq = super::super::build(&spec.root, &facts).expect("a discipline");
    let (mut random, mut dropped) = (Streams::new(1).stream("queue"), Dropped::default());
    let mut losses = base::LossBook::default();
    let mut cx = Context::new(Time(5), &mut random, &mut dropped, &mut losses);
    for len in [500, 700] {
        let packet = Packet { frame: frame(4, len), len, entered: Time(5) };
        assert!(cbq.enqueue(packet, &mut cx));
    }
    assert_eq!((cbq.peek(&mut cx), cbq.backlog().packets), (Some(500), 2));
    assert_eq!(cbq.peek(&mut cx), Some(500));
    assert_eq!(cbq.dequeue(&mut cx).map(|packet| packet.len), Some(500));
    assert_eq!(cbq.dequeue(&mut cx).map(|packet| packet.len), Some(700));
    assert_eq!((cbq.peek(&mut cx), cbq.backlog().packets), (None, 0));
}

#[test]
fn what_is_wrong_is_named() {
    let of = |class: &str| {
        tree(&format!(r#"{{"name": "a", "rate": 1000{class}}}, {{"name": "b", "rate": 1}}"#))
            .expect_err("an error")
    };
    assert_eq!(of(r#", "prio": 9"#), "classes/a/prio: 9: it should be 1 to 8");
    assert_eq!(of(r#", "parent": "c""#), "classes/a/parent: there is no class 'c' (one of b)");
    assert_eq!(of(r#", "ewma": 0"#), "classes/a/ewma: 0: it should be 1 to 31");
    assert_eq!(of(r#", "weight": 0"#), "classes/a/weight: 0: it is not above zero");
    assert_eq!(
        tree(r#"{"name": "a", "rate": 0}, {"name": "b", "rate": 1}"#).expect_err("an error"),
        "classes/a/rate: 0: it is not above zero"
    );
    assert_eq!(
        tree(r#"{"name": "a", "rate": 9}, {"name": "b", "parent": "a", "rate": 1}"#).expect_err("an error"),
        "filters/0/class: class 'a' has others in it: packets wait in leaves (b)"
    );
}
