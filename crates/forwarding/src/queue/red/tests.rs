//! Tests of RED as a queue.

use super::super::testing::{US, extra, frame, offer, tree};
use super::average::{Curve, mean_spacing};
use crate::queue::{Take, Tree};
use base::Time;
use base::device::DropReason;
use core::ops::Range;

fn red(fields: &str) -> String {
    format!(
        r#"{{"discipline": "red", "limit": 100000, "min": 5000, "max": 15000, "avpkt": 1000,
            "burst": 5, "probability": 0.1 {fields}}}"#
    )
}

/// Offers a packet of 1000 bytes at each of these times, and takes one for each that is queued beyond `waiting`.
fn hold(tree: &mut Tree, waiting: u64, times: Range<u64>, tos: u8) {
    let end = times.end;
    for n in times {
        tree.offer(Time(n), frame(tos, 1000));
        if tree.backlog().packets > waiting {
            assert!(matches!(tree.take(Time(n)), Take::Frame(_)));
        }
    }
    assert_eq!(tree.audit(Time(end)), [""; 0]);
}

#[test]
fn a_steady_queue_drops_as_the_formula_says() {
    let mut tree = tree(&red("")).expect("a tree");
    hold(&mut tree, 10, 0..100_000, 0);
    let average = extra(&tree, 0, "root", "average_bytes");
    assert!((average - 10_000.0).abs() < 1.0, "{average}");
    let base = Curve { min: 5000.0, max: 15000.0, probability: 0.1 }.probability(10_000.0);
    let expected = 100_000.0 / mean_spacing(base);
    let dropped = tree.totals().dropped.packets.get(DropReason::EarlyDrop) as f64;
    // Spacings are uniform on 1 to 20: the number of drops has a standard deviation of about 53.
    assert!((dropped - expected).abs() < 250.0, "{dropped} dropped, {expected} expected");
}

#[test]
fn drops_are_never_further_apart_than_the_inverse_of_the_probability() {
    let mut tree = tree(&red("")).expect("a tree");
    hold(&mut tree, 10, 0..1000, 0);
    let mut last = tree.totals().dropped.packets.total();
    for round in 0..200 {
        let from = 1000 + round * 21;
        hold(&mut tree, 10, from..from + 21, 0);
        let now = tree.totals().dropped.packets.total();
        assert!(now > last);
        last = now;
    }
}

#[test]
fn beyond_the_upper_threshold_everything_goes() {
    let mut tree = tree(&red("")).expect("a tree");
    hold(&mut tree, 40, 0..2000, 2);
    let dropped = &tree.totals().dropped.packets;
    assert!(dropped.get(DropReason::AverageQueue) > 100, "{dropped:?}");
    assert_eq!(dropped.get(DropReason::BufferFull), 0);
}

#[test]
fn capable_packets_are_marked_instead() {
    for (extra, forced) in [(r#", "ecn": true"#, false), (r#", "ecn": true, "harddrop": true"#, true)] {
        let mut tree = tree(&red(extra)).expect("a tree");
        hold(&mut tree, 40, 0..2000, 2);
        let dropped = &tree.totals().dropped.packets;
        assert_eq!(dropped.get(DropReason::EarlyDrop), 0);
        assert_eq!(dropped.get(DropReason::AverageQueue) > 0, forced);
        assert!(tree.report(Time(2000))[0].counters.marked > 0);
    }
    let mut tree = tree(&red(r#", "ecn": true"#)).expect("a tree");
    hold(&mut tree, 10, 0..2000, 0);
    assert!(tree.totals().dropped.packets.get(DropReason::EarlyDrop) > 50, "not capable");
}

#[test]
fn idleness_forgets() {
    let mut tree = tree(&red("")).expect("a tree");
    hold(&mut tree, 10, 0..1000, 0);
    while let Take::Frame(_) = tree.take(Time(1000)) {}
    let before = extra(&tree, 0, "root", "average_bytes");
    let log = -extra(&tree, 0, "root", "weight_log2");
    // A packet of 1000 bytes takes a millisecond at the port's 8 Mbit/s.
    offer(&mut tree, 1000 + 4000 * US, &[(0, 1000)]);
    let expected = before * libm::pow(1.0 - libm::exp2(-log), 4.0);
    assert!((extra(&tree, 0, "root", "average_bytes") - expected).abs() < 1e-6);
}

#[test]
fn what_is_wrong_is_named() {
    let of = |fields: &str| {
        let json =
            r#"{"discipline": "red", "limit": 60000, "min": 5000, "max": 15000, "avpkt": 1000, "burst": 9}"#;
        let mut json: serde_json::Value = serde_json::from_str(json).expect("JSON");
        let fields: serde_json::Value = serde_json::from_str(fields).expect("JSON");
        for (key, value) in fields.as_object().expect("an object") {
            json[key] = value.clone();
        }
        tree(&json.to_string()).expect_err("an error")
    };
    for (fields, expected) in [
        (r#"{"min": 15000}"#, "min: thresholds out of order: min=15000 has to be below max=15000"),
        (r#"{"min": 500}"#, "min: min=500 is less than one packet: it has to be at least avpkt=1000"),
        (r#"{"probability": 0}"#, "probability: 0: it has to be above 0 and at most 1"),
        (r#"{"probability": 1.5}"#, "probability: 1.5: it has to be above 0 and at most 1"),
        (r#"{"avpkt": 0}"#, "avpkt: 0: it is not above zero"),
        (r#"{"limit": 0}"#, "limit: 0: it is not above zero"),
        (r#"{"bandwidth": 0}"#, "bandwidth: 0: it is not above zero"),
        (
            r#"{"burst": 4}"#,
            "burst: 4 packets of 1000 bytes are less than min=5000: at least 5 packets are needed, best are 9",
        ),
    ] {
        assert_eq!(of(fields), expected);
    }
}
