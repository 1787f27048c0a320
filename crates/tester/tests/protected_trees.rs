//! Protected trees (RFC 4875, 15) in whole networks: what is lost until a failure is seen, packet by packet and leaf by
//! leaf, whatever the number of trees.

use crate::common::{MS, S, column, conserved};
use base::{LinkId, NodeId, Time};
use engine::{CaptureSpec, CaptureTarget, CaptureTo, Fault, FaultKind};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::Command;
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

/// Trees from `root` by `p` and `q` to `l0` and `l1`, and to `l2` behind `p`; `m` leads around the link from `p` to
/// `q`.
/// Each tree has a group, to which a packet goes each millisecond; the first and the last tree carry a flow.
fn trees(count: usize, protection: &Value, bfd: bool, write_us: f64) -> Testbed {
    built(described(count, protection, bfd, write_us))
}

fn built(described: Value) -> Testbed {
    let value = serde_json::from_value(described).expect("a value");
    Testbed::new(&NetworkFile::read_part(&value).expect("a description")).expect("a network")
}

fn described(count: usize, protection: &Value, bfd: bool, write_us: f64) -> Value {
    let mut router = json!({
        "kind": "router",
        "igmp": true,
        "profile": {"tables": {"write_us": write_us}},
        "ospf": {"hello_interval": "1 s", "dead_interval": "4 s", "te": true},
        "rsvp": {"protection": "facility", "reversion": "2 s"},
    });
    // With BFD the ports stay up.
    let detection = if bfd { "100 s" } else { "10 ms" };
    if bfd {
        router["rsvp"]["bfd"] = json!({"interval": "10 ms", "multiplier": 3});
    }
    let group = |tree: usize| format!("239.1.1.{}", tree + 1);
    let groups: Vec<String> = [0, count - 1].into_iter().map(group).collect();
    let host = |net: u8| json!({"kind": "host", "address": format!("10.{net}.0.2/24"), "join": groups});
    let link = |a: &str, b: &str, metric: u32| json!({"endpoints": [a, b], "rate": "10 Gbit/s", "delay": "50 us", "detection": detection, "metric": metric});
    let edge = |a: &str, b: &str| json!({"endpoints": [a, b], "rate": "10 Gbit/s", "delay": "50 us"});
    let tree = |place: usize| {
        let mut tree = json!({"name": format!("t{place}"), "root": "root", "leaves": ["l0", "l1", "l2"], "group": group(place),
            "bandwidth": "1 Mbit/s"});
        if !protection.is_null() {
            tree["protection"] = protection.clone();
        }
        tree
    };
    let flow = |place: usize| {
        json!({"name": format!("f{place}"), "from": "s", "to": "h0", "receivers": ["h1", "h2"], "group": group(place),
            "rate": "4 Mbit/s", "size": 500, "start": "36 s", "stop": "48 s"})
    };
    let mut flows = vec![flow(0)];
    flows.extend((count > 1).then(|| flow(count - 1)));
    json!({
        "name": "trees",
        "nodes": {
            "h0": host(2), "h1": host(3), "h2": host(4), "l0": router, "l1": router, "l2": router, "m": router,
            "p": router, "q": router, "root": router, "s": {"kind": "host", "address": "10.1.0.2/24"},
        },
        "links": [link("root", "p", 1), link("p", "q", 1), link("q", "l0", 1), link("q", "l1", 1), link("p", "l2", 1),
            link("p", "m", 5), link("m", "q", 5), edge("s", "root"), edge("l0", "h0"), edge("l1", "h1"),
            edge("l2", "h2")],
        "p2mp": (0..count).map(tree).collect::<Vec<_>>(),
        "flows": flows,
    })
}

/// Packets that each receiver has got, and how many of them twice, by the place of the flow and the receiver's name.
fn received(network: &mut Testbed) -> BTreeMap<(u64, String), (u64, u64)> {
    let table = network.table_json("receivers", None).expect("a table");
    let counts = |name| -> Vec<u64> {
        column(&table, name).into_iter().map(|cell| cell.as_u64().unwrap_or(0)).collect()
    };
    let names = column(&table, "node").into_iter().map(|cell| cell.as_str().expect("a name").to_string());
    let keys = counts("flow").into_iter().zip(names);
    keys.zip(counts("received").into_iter().zip(counts("duplicated"))).collect()
}

fn rows(network: &mut Testbed, table: &str, name: &str, value: &Value) -> usize {
    let table = network.table_json(table, None).expect("a table");
    column(&table, name).iter().filter(|cell| *cell == value).count()
}

/// Packets come to `p` each millisecond, and the link fails half a millisecond after one: what comes in the detection
/// time is lost for the leaves beyond, and nothing else, for however many trees and however slow writes are.
#[test]
fn what_comes_before_the_failure_is_seen_is_lost_and_nothing_else() {
    for (count, bfd, write_us) in [(1, false, 0.0), (20, false, 1e3), (1, true, 0.0), (20, true, 0.0)] {
        let mut network = trees(count, &json!({}), bfd, write_us);
        network.run_until(Time(39 * S)).expect("a run");
        assert_eq!(
            rows(&mut network, "protected_trees", "bypass", &Value::Null),
            count * 4,
            "all but p to q"
        );
        let at = Time(40 * S + MS / 2);
        let fault = Fault::new(at, FaultKind::LinkDown { link: LinkId(1) }).until(Time(42 * S));
        network.fault(fault).expect("a fault");
        // All packets that have left have arrived: the next one leaves 100 us later.
        network.run_until(Time(41 * S - MS / 10)).expect("a run");
        assert_eq!(rows(&mut network, "protected_trees", "state", &json!("in-use")), count);
        let sent = received(&mut network)[&(0, "h2".to_string())].0;
        let window = sent - received(&mut network)[&(0, "h0".to_string())].0;
        match bfd {
            false => assert_eq!(window, 10),
            true => assert!((20..=30).contains(&window), "three intervals at most: {window}"),
        }
        let flows = if count > 1 { 2 } else { 1 };
        let expected = |sent: u64| -> BTreeMap<(u64, String), (u64, u64)> {
            let hosts = [("h0", sent - window), ("h1", sent - window), ("h2", sent)];
            let of_flow = |flow| hosts.map(|(host, received)| ((flow, host.to_string()), (received, 0)));
            (0..flows).flat_map(of_flow).collect()
        };
        assert_eq!(received(&mut network), expected(sent), "{count} trees, BFD: {bfd}");
        // Back on the link, and nobody has lost anything since, or got anything twice.
        network.run_until(Time(49 * S)).expect("a run");
        assert_eq!(rows(&mut network, "protected_trees", "state", &json!("in-use")), 0);
        assert_eq!(rows(&mut network, "protected_trees", "state", &json!("available")), count);
        assert_eq!(received(&mut network), expected(12_000), "{count} trees, BFD: {bfd}");
        conserved(&mut network).expect("closed accounts");
    }
}

/// The router fails behind which a tree branches: a bypass to each leaf behind it, made by the routers themselves,
/// takes over by the same one write.
#[test]
fn a_router_that_fails_is_led_around_by_several_at_once() {
    for count in [1, 20] {
        let around = |a: &str, b: &str| json!({"endpoints": [a, b], "rate": "10 Gbit/s", "delay": "50 us", "detection": "10 ms", "metric": 5});
        let mut network = described(count, &json!({"node": true}), false, 1e3);
        let links = network["links"].as_array_mut().expect("links");
        links.extend([around("m", "l0"), around("m", "l1")]);
        let mut network = built(network);
        network.run_until(Time(39 * S)).expect("a run");
        let of_p = rows(&mut network, "protected_trees", "node_protection", &json!(true));
        assert_eq!(of_p, 2 * count, "p has two around q for each tree");
        let q = NodeId(8);
        let fault = Fault::new(Time(40 * S + MS / 2), FaultKind::NodeDown { node: q }).until(Time(42 * S));
        network.fault(fault).expect("a fault");
        network.run_until(Time(41 * S - MS / 10)).expect("a run");
        assert_eq!(rows(&mut network, "protected_trees", "state", &json!("in-use")), 2 * count);
        let sent = received(&mut network)[&(0, "h2".to_string())].0;
        let flows = if count > 1 { 2 } else { 1 };
        let expected = |sent: u64| -> BTreeMap<(u64, String), (u64, u64)> {
            let hosts = [("h0", sent - 10), ("h1", sent - 10), ("h2", sent)];
            let of_flow = |flow| hosts.map(|(host, received)| ((flow, host.to_string()), (received, 0)));
            (0..flows).flat_map(of_flow).collect()
        };
        assert_eq!(received(&mut network), expected(sent), "{count} trees");
        network.run_until(Time(49 * S)).expect("a run");
        assert_eq!(received(&mut network), expected(12_000), "{count} trees");
        conserved(&mut network).expect("closed accounts");
    }
}

/// A protocol analyser that nobody here wrote reads what is signalled around the failure.
#[test]
fn tshark_reads_what_goes_around() {
    let mut network = trees(1, &json!({}), false, 0.0);
    network.run_until(Time(39 * S)).expect("a run");
    let all = CaptureSpec::new(CaptureTarget::Everything, CaptureTo::Memory);
    let tap = network.world_mut().capture(all).expect("a capture");
    let fault = Fault::new(Time(40 * S), FaultKind::LinkDown { link: LinkId(1) });
    network.fault(fault).expect("a fault");
    network.run_until(Time(41 * S)).expect("a run");
    let bytes = network.world_mut().finish_capture(tap).expect("a capture").bytes;
    if !testing::available("tshark") {
        return;
    }
    let path = std::env::temp_dir().join(format!("tester-trees-{}.pcapng", std::process::id()));
    std::fs::write(&path, bytes).expect("a file");
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(&path).args(["-Y", "rsvp || _ws.malformed", "-T", "fields"]);
    tshark.args(["-e", "_ws.malformed", "-e", "rsvp.msg", "-e", "rsvp.error_value", "-E", "separator=;"]);
    let output = tshark.output().expect("tshark runs");
    std::fs::remove_file(&path).expect("the file");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.lines().all(|line| line.starts_with(';')), "{said}");
    // A Path through the bypass, a Resv of the merge point, a PathErr to the root.
    for kind in ["1", "2", "3"] {
        assert!(said.lines().any(|line| line.split(';').nth(1) == Some(kind)), "{kind} of {said}");
    }
}
