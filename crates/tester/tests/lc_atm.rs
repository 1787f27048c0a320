//! Labels that are channels of ATM, in whole networks (RFC 3035): cells follow the routes of OSPF, count by count.

use crate::common::cells::balance as is_balanced;
use crate::common::{S, column, said, sum};
use base::{LinkId, Time};
use engine::{Fault, FaultKind};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use twinplane_tester::Testbed;

/// A link of cells, with settings.
fn cells(a: &str, b: &str, settings: &Value) -> Value {
    let mut link = json!({"endpoints": [a, b], "medium": "atm", "rate": "100000 cells/s", "delay": "1 ms"});
    for (key, value) in settings.as_object().expect("an object") {
        link[key] = value.clone();
    }
    link
}

/// Three edges and three switches in a triangle; the third edge is behind the third switch.
///
/// ```text
/// e0 - s0 - s2 - e2
///      |  /
/// e1 - s1
/// ```
fn triangle(lsr: &Value, link: &Value, ldp: &Value, flows: &Value) -> Value {
    let ospf = json!({"hello_interval": "1 s", "dead_interval": "4 s"});
    let node = |kind: &str| json!({"kind": kind, "ospf": ospf, "ldp": ldp});
    let mut switch = node("atm-lsr");
    for (key, value) in lsr.as_object().expect("an object") {
        switch[key] = value.clone();
    }
    let edge = node("router");
    json!({
        "name": "cells",
        "nodes": {"e0": edge, "e1": edge, "e2": edge, "s0": switch, "s1": switch, "s2": switch},
        "links": [
            cells("e0", "s0", link),
            cells("e1", "s1", link),
            cells("e2", "s2", link),
            cells("s0", "s1", link),
            cells("s0", "s2", link),
            cells("s1", "s2", link),
        ],
        "flows": flows,
    })
}

fn ldp() -> Value {
    json!({"hello_interval": "1 s", "hold_time": "4 s", "keepalive_time": "6 s", "prefixes": "loopbacks"})
}

fn flow(name: &str, from: &str, to: &str) -> Value {
    json!({"name": name, "from": from, "to": to, "rate": "1 Mbit/s", "size": 1000, "start": "20 s", "stop": "25 s"})
}

fn run(network: &mut Testbed, seconds: u64) {
    network.run_until(Time(seconds * S)).expect("a run");
}

fn rows(network: &mut Testbed, name: &str) -> Vec<BTreeMap<String, Value>> {
    let table = network.table_json(name, None).expect("a table");
    let columns = table.as_object().expect("columns");
    let count = columns.values().find_map(|list| Some(list.as_array()?.len())).unwrap_or(0);
    let row = |place: usize| columns.iter().map(|(name, list)| (name.clone(), list[place].clone())).collect();
    (0..count).map(row).collect()
}

/// Cells that came and were made are those sent, dropped, taken and waiting.
fn balance(network: &mut Testbed) {
    assert_eq!(is_balanced(network), Ok(()));
}

/// Label VCs that neighbours have asked for: node, neighbour before, prefix, and neighbour behind.
fn given(network: &mut Testbed) -> Vec<BTreeMap<String, Value>> {
    let mut all = rows(network, "label_vcs");
    all.retain(|row| row["state"] == "given");
    all
}

fn sent_and_received(network: &mut Testbed) -> (u64, u64) {
    let flows = network.table_json("streams", None).expect("a table");
    (sum(&flows, "sent"), sum(&flows, "received"))
}

/// Every packet goes by a label: no cell of a flow is on the channel of unlabelled packets.
#[test]
fn cells_follow_labels_along_the_routes() {
    for encapsulation in ["shim", "bare"] {
        for merge in [false, true] {
            let link = json!({"lc_atm": {"encapsulation": encapsulation}});
            let flows = json!([flow("f", "e0", "e2"), flow("g", "e1", "e2"), flow("h", "e2", "e0")]);
            let mut all = ldp();
            all["prefixes"] = json!("all");
            let mut network = build_file(&triangle(&json!({"merge": merge}), &link, &all, &flows));
            run(&mut network, 19);
            let before = rows(&mut network, "atm_ends");
            run(&mut network, 26);
            let (sent, received) = sent_and_received(&mut network);
            assert!(sent > 1_800 && sent == received, "{sent} {received}");
            balance(&mut network);
            // 982 bytes of IP with a shim, or without, and the trailer of AAL5.
            let per_packet = if encapsulation == "shim" { 986 + 8 } else { 982 + 8u64 }.div_ceil(48);
            let channels = network.table_json("atm_channels", None).expect("a table");
            let passed = sum(&channels, "passed");
            assert_eq!(passed % per_packet, 0, "{passed} cells of {per_packet} a packet");
            assert_eq!(passed, 2 * sent * per_packet, "each by two switches");
            let after = rows(&mut network, "atm_ends");
            let made: u64 = after
                .iter()
                .zip(&before)
                .map(|(a, b)| number(a, "packets_sent") - number(b, "packets_sent"))
                .sum();
            assert!(made < sent + 1_000, "what protocols say, and a packet of each flow once: {made}");
        }
    }
}

fn number(row: &BTreeMap<String, Value>, name: &str) -> u64 {
    row[name].as_u64().expect("a number")
}

fn build_file(described: &Value) -> Testbed {
    let value = serde_json::from_value(described.clone()).expect("a value");
    let file = twinplane_tester::spec::NetworkFile::read_part(&value).expect("a description");
    Testbed::new(&file).expect("a network")
}

/// What is counted on paper: each edge has a way to each other node, and asks for nothing at itself.
///
/// Without merge a label for each edge and each link on its way. With merge an edge has as many, and between switches
/// there is one for each prefix and link.
#[test]
fn labels_are_as_many_as_on_paper() {
    for merge in [false, true] {
        let mut network = build_file(&triangle(&json!({"merge": merge}), &json!({}), &ldp(), &json!([])));
        run(&mut network, 60);
        let given = given(&mut network);
        // From e0: s0 by one link, s1, s2 by two, e1, e2 by three; the same from e1 and e2 by the symmetry of the
        // triangle: 1 + 2 + 2 + 3 + 3 = 11 each.
        // With merge the links between switches have one label for each prefix: on s0 - s1 towards s1, s1 and e1.
        let (on_edges, between) = (3 * 5, 12);
        // The last link to an edge: two others come there, by one label with merge.
        let last = if merge { 3 } else { 3 * 2 };
        assert_eq!(given.len(), on_edges + between + last, "{merge}");
        balance(&mut network);
        // Hop counts say how far the end is: RFC 3035, 8.2.
        for row in &given {
            let is_end = row["to_id"].is_null();
            assert_eq!(is_end, row["hops"] == 1, "{row:?}");
        }
        let ids: BTreeSet<String> = given.iter().map(|row| row["prefix"].to_string()).collect();
        assert_eq!(ids.len(), 6, "each node's own address");
    }
}

/// VCIs run out, and packets without a label go hop by hop; what is given back is used by who asked for it.
#[test]
fn labels_run_out_and_come_back() {
    let link = json!({"lc_atm": {"vci": [100, 102]}});
    let flows = json!([flow("f", "e0", "e2")]);
    let mut network = build_file(&triangle(&json!({}), &link, &ldp(), &flows));
    run(&mut network, 30);
    // Each edge has three labels on its link, of the five that it wants.
    let at_edges = |network: &mut Testbed| -> Vec<BTreeMap<String, Value>> {
        let mut all = given(network);
        all.retain(|row| row["port"] == 0 && row["node"].as_str().is_some_and(|node| node.starts_with('s')));
        all
    };
    let before = at_edges(&mut network);
    assert_eq!(before.len(), 9);
    assert!(before.iter().all(|row| (100..=102).contains(&number(row, "vci"))));
    let sessions = network.table_json("ldp_sessions", None).expect("a table");
    assert_eq!(column(&sessions, "state").iter().filter(|state| **state == "operational").count(), 12);
    let (sent, received) = sent_and_received(&mut network);
    assert!(sent > 0 && sent == received, "{sent} {received}");
    balance(&mut network);
    // An edge is cut off. Labels to it come back, and those who were refused one have them.
    let fault = Fault::new(Time(31 * S), FaultKind::LinkDown { link: LinkId(2) });
    network.fault(fault).expect("a fault");
    run(&mut network, 80);
    let after = at_edges(&mut network);
    assert_eq!(after.len(), 6, "two edges are left, and want four labels each");
    let prefixes = |rows: &[BTreeMap<String, Value>]| -> BTreeSet<String> {
        rows.iter().map(|row| format!("{} {}", row["node"], row["prefix"])).collect()
    };
    assert_ne!(prefixes(&before), prefixes(&after));
    balance(&mut network);
}

/// RFC 5036, 3.5.3: "Non-merge and VC-merge LSRs may freely interoperate."
#[test]
fn switches_that_merge_and_those_that_do_not() {
    let mut flows = [flow("f", "e0", "e2"), flow("g", "e1", "e2"), flow("h", "e2", "e0")];
    for flow in &mut flows {
        flow["rate"] = json!("8 Mbit/s");
        flow["size"] = json!(1500);
    }
    for merging in [vec!["s2"], vec!["s0", "s1"]] {
        let mut described = triangle(&json!({}), &json!({}), &ldp_all(), &json!(flows));
        for name in merging {
            described["nodes"][name]["merge"] = json!(true);
        }
        let mut network = build_file(&described);
        run(&mut network, 27);
        let (sent, received) = sent_and_received(&mut network);
        assert!(sent > 9_000 && sent == received, "{sent} {received}");
        let ends = network.table_json("atm_ends", None).expect("a table");
        assert_eq!(sum(&ends, "dropped"), 0);
        balance(&mut network);
    }
}

/// A link between switches fails: the labels before it stay, and lead another way.
#[test]
fn a_failure_is_a_new_way_for_the_same_labels() {
    for merge in [false, true] {
        let mut long = flow("f", "e0", "e2");
        long["stop"] = json!("60 s");
        let mut network =
            build_file(&triangle(&json!({"merge": merge}), &json!({}), &ldp_all(), &json!([long])));
        run(&mut network, 29);
        let at_edge = |network: &mut Testbed| -> BTreeSet<String> {
            let all = given(network);
            all.iter()
                .filter(|row| row["node"] == "s0" && row["port"] == 0)
                .map(|row| format!("{} {}", row["prefix"], row["vci"]))
                .collect()
        };
        let before = at_edge(&mut network);
        let fault = Fault::new(Time(30 * S), FaultKind::LinkDown { link: LinkId(4) }).until(Time(70 * S));
        network.fault(fault).expect("a fault");
        run(&mut network, 59);
        let after = at_edge(&mut network);
        // The network of the failed link itself is gone.
        let lost: Vec<_> = before.difference(&after).collect();
        assert!(lost.len() <= 1, "{lost:?}");
        run(&mut network, 61);
        let (sent, received) = sent_and_received(&mut network);
        let gone = sent - received;
        assert!(gone < 100, "{gone} of {sent} are lost");
        balance(&mut network);
        run(&mut network, 100);
        assert!(at_edge(&mut network).is_superset(&after));
        balance(&mut network);
    }
}

fn ldp_all() -> Value {
    let mut all = ldp();
    all["prefixes"] = json!("all");
    all
}

/// Cells of packets that are merged do not get between each other, though they arrive mixed.
#[test]
fn merged_packets_stay_whole() {
    let mut flows = [flow("f", "e0", "e2"), flow("g", "e1", "e2")];
    for flow in &mut flows {
        flow["rate"] = json!("12 Mbit/s");
        flow["size"] = json!(9000);
    }
    let mut network = build_file(&triangle(&json!({"merge": true}), &json!({}), &ldp_all(), &json!(flows)));
    run(&mut network, 30);
    let (sent, received) = sent_and_received(&mut network);
    assert!(sent > 1_600 && sent == received, "{sent} {received}");
    let ends = network.table_json("atm_ends", None).expect("a table");
    assert_eq!(sum(&ends, "dropped"), 0, "no PDU is wrong");
    balance(&mut network);
}

#[test]
fn what_is_wrong_is_said_before_the_run() {
    let plain = |link: &Value| triangle(&json!({}), link, &ldp(), &json!([]));
    for (link, said) in [
        (json!({"lc_atm": {"vci": [32, 100]}}), "32"),
        (json!({"lc_atm": {"vci": [200, 100]}}), "first is the lesser"),
        (json!({"lc_atm": {"vpi": [0, 16]}}), "at most 16"),
        (json!({"lc_atm": {"control_vci": 40}}), "without a label"),
        (json!({"driver": "packet"}), "no 'driver'"),
    ] {
        let value = serde_json::from_value(plain(&link)).expect("a value");
        let error = twinplane_tester::spec::NetworkFile::read_part(&value)
            .map_err(|error| error.words())
            .and_then(|file| Testbed::new(&file).map(|_| ()).map_err(|error| error.to_string()));
        let Err(words) = error else { panic!("{link} is accepted") };
        assert!(words.contains(said), "{words}");
    }
}

/// Without a shim there is room for one label: a router that would put another below it is named before the run.
#[test]
fn a_second_label_without_room_is_warned_of() {
    let warned = |encapsulation: &str, family: &str| {
        let link = json!({"lc_atm": {"encapsulation": encapsulation}});
        let mut whole = triangle(&json!({}), &link, &ldp(), &json!([]));
        for (node, other) in [("e0", "10.250.0.3"), ("e2", "10.250.0.1")] {
            let beside = json!({"asn": 65000, "families": [family]});
            whole["nodes"][node]["bgp"] = json!({"asn": 65000, "neighbors": {other: beside}});
        }
        whole["nodes"]["e0"]["router_id"] = json!("10.250.0.1");
        whole["nodes"]["e2"]["router_id"] = json!("10.250.0.3");
        let found = said(&build_file(&whole).warnings());
        found.into_iter().filter(|said| said.contains("room for one")).collect::<Vec<_>>()
    };
    let found = warned("bare", "ipv4-labelled");
    assert_eq!(found.len(), 2, "{found:?}");
    let words = "bgp: 'e0' puts a label below that which leads to the next hop, and packets on the link to 's0' have \
                 room for one, since 'encapsulation' of 'lc_atm' is bare: those with two are dropped \
                 (unknown-protocol); shim would carry them";
    assert!(found[0].contains(words) && found[0].contains("e0 - s0"), "{found:?}");
    assert_eq!(warned("shim", "ipv4-labelled"), [""; 0]);
    assert_eq!(warned("bare", "ipv4"), [""; 0]);
}

/// The same seed gives the same bytes.
#[test]
fn the_same_seed_is_the_same_run() {
    let digest = || {
        let flows = json!([flow("f", "e0", "e2")]);
        let mut network = build_file(&triangle(&json!({"merge": true}), &json!({}), &ldp(), &flows));
        run(&mut network, 24);
        network.world().digest()
    };
    assert_eq!(digest(), digest());
}
