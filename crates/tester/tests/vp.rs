//! Virtual paths through networks of ATM switches: as links whose labels are channels (RFC 3035, 7.2), and as links of
//! circuits.

mod circuits;
mod refused;

use crate::common::cells::{balance, of};
use crate::common::{MS, S, column, sum};
use base::{LinkId, Time};
use engine::{Fault, FaultKind, ThreadsFor};
use serde_json::{Value, json};
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

/// A link of cells between public switches: 20,000 cells/s.
fn wire(a: &str, b: &str) -> Value {
    json!({"endpoints": [a, b], "medium": "atm", "rate": "20000 cells/s", "delay": "2 ms"})
}

/// A virtual path of 4750 cells/s.
fn vp(a: &str, b: &str, through: &[&str], said: &Value) -> Value {
    let mut link = json!({"endpoints": [a, b], "vp": {"through": through, "pcr": "4750 cells/s"}});
    for (key, value) in said.as_object().expect("an object") {
        match key.as_str() {
            "uni" | "lc_atm" | "buffer" | "metric" | "delay" | "rate" => link[key] = value.clone(),
            _ => link["vp"][key] = value.clone(),
        }
    }
    link
}

fn build(described: &Value) -> Testbed {
    let value = serde_json::from_value(described.clone()).expect("a value");
    let file = NetworkFile::read_part(&value).expect("a description");
    Testbed::new(&file).expect("a network")
}

fn run(network: &mut Testbed, until: u64) {
    network.run_until(Time(until)).expect("a run");
}

fn node(kind: &str) -> Value {
    let ospf = json!({"hello_interval": "1 s", "dead_interval": "4 s"});
    let ldp = json!({"hello_interval": "1 s", "hold_time": "4 s", "keepalive_time": "6 s", "prefixes": "loopbacks"});
    json!({"kind": kind, "ospf": ospf, "ldp": ldp})
}

fn flow(name: &str, from: &str, to: &str) -> Value {
    json!({"name": name, "from": from, "to": to, "rate": "500 kbit/s", "size": 1000, "start": "20 s", "stop": "25 s"})
}

/// Three countries with an ATM-LSR and an edge each, in a triangle of virtual paths through a public network of three
/// switches in a row.
///
/// ```text
/// e0 - s0 ==== p0 - p1 - p2 ==== s2 - e2
///                   ||
///              e1 - s1
/// ```
fn countries(said: &Value, flows: &Value) -> Value {
    let cells = |a: &str, b: &str| json!({"endpoints": [a, b], "medium": "atm", "rate": "353207 cells/s"});
    json!({
        "name": "countries",
        "nodes": {
            "e0": node("router"), "e1": node("router"), "e2": node("router"),
            "s0": node("atm-lsr"), "s1": node("atm-lsr"), "s2": node("atm-lsr"),
            "p0": {"kind": "atm-switch"}, "p1": {"kind": "atm-switch"}, "p2": {"kind": "atm-switch"},
        },
        "links": [
            cells("e0", "s0"),
            cells("e1", "s1"),
            cells("e2", "s2"),
            wire("p0", "p1"),
            wire("p1", "p2"),
            vp("s0", "s1", &["p0", "p1"], said),
            vp("s1", "s2", &["p1", "p2"], said),
            vp("s0", "s2", &["p0", "p1", "p2"], said),
        ],
        "flows": flows,
    })
}

fn flows(network: &mut Testbed) -> (u64, u64) {
    let table = network.table_json("streams", None).expect("a table");
    (sum(&table, "sent"), sum(&table, "received"))
}

/// Cells of a packet of 982 bytes behind a shim.
const CELLS: u64 = (982u64 + 4 + 8).div_ceil(48);

/// The public network switches paths, and no channel; each of its switches passes every cell of a packet on once.
#[test]
fn labels_cross_a_network_that_sees_none() {
    let all = json!([flow("f", "e0", "e2"), flow("g", "e1", "e2"), flow("h", "e2", "e0")]);
    let mut network = build(&countries(&json!({}), &all));
    run(&mut network, 19 * S);
    let before = network.table_json("atm_paths", None).expect("a table");
    run(&mut network, 27 * S);
    let (sent, received) = flows(&mut network);
    assert!(sent > 900 && sent == received, "{sent} {received}");
    let paths = network.table_json("atm_paths", None).expect("a table");
    // Three paths, of which one has three switches and two have two, both ways.
    assert_eq!(column(&paths, "node").len(), 2 * (2 + 2 + 3));
    assert_eq!(sum(&paths, "dropped") + sum(&paths, "refused"), 0);
    // Of three flows alike two go through three public switches and one through two; the rest is what protocols say.
    let passed = sum(&paths, "passed") - sum(&before, "passed");
    let labelled = sent / 3 * (3 + 3 + 2) * CELLS;
    let others = passed.checked_sub(labelled).expect("at least those of flows");
    assert!(others < 8 * 3 * 200, "{others} cells beside {labelled}");
    // All of the public network's cells are of service cbr, and none of its switches has a channel.
    let ports = network.table_json("atm_ports", None).expect("a table");
    assert_eq!(of(&ports, "node", "p1", "sent_ubr"), 0);
    let channels = network.table_json("atm_channels", None).expect("a table");
    assert!(
        column(&channels, "node").iter().all(|node| node.as_str().is_some_and(|node| node.starts_with('s')))
    );
    assert_eq!(balance(&mut network), Ok(()));
    assert!(network.world().audit().is_empty());
}

/// The two ends of a path know it by other numbers, and labels are its channels (RFC 3035, 7.2).
#[test]
fn each_end_has_the_path_by_its_own_number() {
    let said = json!({"vpi": [5, 300, 12], "lc_atm": {"vci": [100, 400], "control_vci": 34}});
    let described = json!({
        "name": "pair",
        "nodes": {
            "e0": node("router"), "e1": node("router"),
            "p0": {"kind": "atm-switch"}, "p1": {"kind": "atm-switch"},
        },
        "links": [wire("p0", "p1"), vp("e0", "e1", &["p0", "p1"], &said)],
        "flows": [flow("f", "e0", "e1"), flow("g", "e1", "e0")],
    });
    let mut network = build(&described);
    run(&mut network, 27 * S);
    let (sent, received) = flows(&mut network);
    assert!(sent > 600 && sent == received, "{sent} {received}");
    let vcs = network.table_json("label_vcs", None).expect("a table");
    let rows = |name: &str| column(&vcs, name);
    for ((node, vpi), vci) in rows("node").iter().zip(rows("vpi")).zip(rows("vci")) {
        assert_eq!(vpi, json!(if node == "e0" { 5 } else { 12 }), "{node}");
        assert!((100..=400).contains(&vci.as_u64().expect("a number")));
    }
    assert!(rows("node").len() >= 2, "{vcs}");
    let ranges = network.table_json("label_ranges", None).expect("a table");
    assert_eq!(column(&ranges, "vpi_min"), [json!(5), json!(12)]);
    let ends = network.table_json("atm_ends", None).expect("a table");
    assert_eq!((column(&ends, "vpi"), column(&ends, "vci")), (vec![json!(5), json!(12)], vec![json!(34); 2]));
    let paths = network.table_json("atm_paths", None).expect("a table");
    let ways: Vec<_> = column(&paths, "vpi").into_iter().zip(column(&paths, "to_vpi")).collect();
    for way in [(5, 300), (300, 5), (300, 12), (12, 300)] {
        assert!(ways.contains(&(json!(way.0), json!(way.1))), "{way:?} of {ways:?}");
    }
    // A flow of a hop has no label in its way but the one of the link: it goes by the channel of that.
    assert_eq!(balance(&mut network), Ok(()));
}

/// Merge does not matter to the public network.
#[test]
fn merged_packets_stay_whole_in_a_path() {
    let mut all = [flow("f", "e0", "e2"), flow("g", "e1", "e2")];
    for flow in &mut all {
        flow["size"] = json!(9000);
        flow["rate"] = json!("1500 kbit/s");
    }
    let mut described = countries(&json!({}), &json!(all));
    for name in ["s0", "s1", "s2"] {
        described["nodes"][name]["merge"] = json!(true);
    }
    let mut network = build(&described);
    run(&mut network, 30 * S);
    let (sent, received) = flows(&mut network);
    assert!(sent > 150 && sent == received, "{sent} {received}");
    let ends = network.table_json("atm_ends", None).expect("a table");
    assert_eq!(sum(&ends, "dropped"), 0, "no PDU is wrong");
    assert_eq!(balance(&mut network), Ok(()));
}

/// More comes than the path takes: what is lost is lost where cells are shaped, and the public network loses nothing.
#[test]
fn an_end_shapes_what_it_sends() {
    let mut flood = flow("f", "e0", "e2");
    flood["rate"] = json!("3 Mbit/s");
    let mut network = build(&countries(&json!({"tolerance": "0 s", "buffer": "53 kB"}), &json!([flood])));
    run(&mut network, 19 * S);
    let before = network.table_json("atm_paths", None).expect("a table");
    for tenth in 200..250 {
        run(&mut network, tenth * S / 10 + MS / 7);
        assert_eq!(balance(&mut network), Ok(()), "{tenth}");
    }
    let after = network.table_json("atm_paths", None).expect("a table");
    let (sent, received) = flows(&mut network);
    assert!(received < sent * 3 / 4, "{sent} {received}");
    // It keeps to the rate so well that no cell is early by a picosecond.
    assert_eq!(sum(&after, "dropped") + sum(&after, "refused"), 0);
    let passed = of(&after, "node", "p0", "passed") - of(&before, "node", "p0", "passed");
    let theory = 4_750.0 * 4.9;
    assert!((passed as f64 / theory - 1.0).abs() < 0.01, "{passed} of {theory}");
}

/// What comes without shape is policed by the first switch of the public network, and nowhere else.
#[test]
fn a_path_that_is_not_shaped_is_policed() {
    let said = json!({"shaped": false, "tolerance": "1 ms"});
    let mut network = build(&countries(&said, &json!([flow("f", "e0", "e2")])));
    run(&mut network, 27 * S);
    let paths = network.table_json("atm_paths", None).expect("a table");
    // A packet's cells come at once, and a cell takes 211 us: of each packet five at most conform. That happens where
    // the three paths come in from their two ends, and OSPF has no neighbours.
    let dropped = column(&paths, "dropped");
    assert_eq!(dropped.iter().filter(|count| **count != 0).count(), 6, "{paths}");
    assert!(sum(&paths, "dropped") > 100, "{paths}");
    assert_eq!(flows(&mut network).1, 0, "no packet is whole");
    assert_eq!(balance(&mut network), Ok(()));
}

/// A link of the public network fails, and nobody is told: OSPF misses its Hellos, and finds the way by another path.
#[test]
fn a_failure_in_the_public_network_is_noticed_by_silence() {
    let mut long = flow("f", "e0", "e2");
    long["stop"] = json!("90 s");
    let mut described = countries(&json!({}), &json!([long]));
    // A second way from p0 to p2, by which the path between s0 and s2 goes.
    described["links"].as_array_mut().expect("links").push(wire("p0", "p2"));
    described["links"][7]["vp"]["through"] = json!(["p0", "p2"]);
    let mut network = build(&described);
    let link = network.links()[8].id;
    let fault = Fault::new(Time(30 * S), FaultKind::LinkDown { link }).until(Time(60 * S));
    network.fault(fault).expect("a fault");
    run(&mut network, 29 * S);
    let at = |network: &mut Testbed, node: &str| {
        let paths = network.table_json("atm_paths", None).expect("a table");
        of(&paths, "node", node, "passed")
    };
    let before = (at(&mut network, "p1"), flows(&mut network));
    for second in 30..60 {
        run(&mut network, second * S + MS / 7);
        assert_eq!(balance(&mut network), Ok(()), "{second}");
    }
    // The way round by s1 passes the switch in the middle.
    assert!(at(&mut network, "p1") > before.0 + 30 * CELLS);
    let lost = {
        let (sent, received) = flows(&mut network);
        sent - received
    };
    // Four seconds of dead interval, and what follows.
    assert!((150..600).contains(&lost), "{lost} of {:?}", before.1);
    run(&mut network, 92 * S);
    let (sent, received) = flows(&mut network);
    assert!(sent - received < lost + 100, "{sent} {received} {lost}");
    assert_eq!(balance(&mut network), Ok(()));
}

/// A path that fails itself is a port that goes down at both ends, at once.
#[test]
fn a_path_that_fails_goes_down_at_both_ends() {
    let mut network = build(&countries(&json!({}), &json!([flow("f", "e0", "e2")])));
    let link = network.links()[7].id;
    let fault = Fault::new(Time(22 * S), FaultKind::LinkDown { link }).until(Time(40 * S));
    network.fault(fault).expect("a fault");
    run(&mut network, 24 * S);
    let down: Vec<Value> = {
        let events = network.table_json("events", None).expect("a table");
        let of_ports = column(&events, "event")
            .iter()
            .map(|event| event.to_string().contains("port-down"))
            .collect::<Vec<_>>();
        column(&events, "node")
            .into_iter()
            .zip(of_ports)
            .filter(|(_, is_down)| *is_down)
            .map(|(node, _)| node)
            .collect()
    };
    for node in ["s0", "p0", "s2", "p2"] {
        assert!(down.contains(&json!(node)), "{node}: {down:?}");
    }
    run(&mut network, 27 * S);
    let (sent, received) = flows(&mut network);
    assert!(sent - received < 60, "{sent} {received}: it is told at once");
    assert_eq!(balance(&mut network), Ok(()));
    let kind = FaultKind::RateLimit {
        link: LinkId(link.0),
        direction: engine::Direction::Both,
        rate: base::Rate(1_000),
    };
    let refused = network.fault(Fault::new(Time(28 * S), kind)).expect_err("no rate").to_string();
    assert!(refused.contains("s0 - s2 is a virtual path of ATM, whose rate is what was agreed"), "{refused}");
}

/// Headers of a user's interface at the ends, and those of the network between.
#[test]
fn cells_come_from_users_with_their_own_headers() {
    let all = json!([flow("f", "e0", "e2"), flow("g", "e1", "e2"), flow("h", "e2", "e0")]);
    let mut described = countries(&json!({"uni": true, "vpi": 255}), &all);
    described["links"][7]["vp"]["vpi"] = json!([254, 3_000, 4_095, 255]);
    for link in 0..3 {
        described["links"][link]["uni"] = json!(true);
        described["links"][link]["lc_atm"] = json!({"vpi": [250, 255], "control_vpi": 255});
    }
    let mut network = build(&described);
    run(&mut network, 27 * S);
    let (sent, received) = flows(&mut network);
    assert!(sent > 900 && sent == received, "{sent} {received}");
    let ports = network.table_json("atm_ports", None).expect("a table");
    assert_eq!(sum(&ports, "corrected") + sum(&ports, "header_errors") + sum(&ports, "unknown"), 0);
    assert_eq!(balance(&mut network), Ok(()));
}

/// The same seed gives the same bytes, whatever the number of threads.
#[test]
fn a_run_is_repeated_to_the_byte() {
    let digest = |threads: usize| {
        let mut network = build(&countries(&json!({}), &json!([flow("f", "e0", "e2")])));
        network.world_mut().set_threads(ThreadsFor { most: threads, least_events: 0 });
        run(&mut network, 23 * S);
        network.world().digest()
    };
    assert_eq!(digest(1), digest(2));
}
