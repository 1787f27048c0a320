//! Virtual paths between ATM switches, with circuits in them.

use super::{build, run};
use crate::common::cells::{balance, of};
use crate::common::{MS, S, column, said, sum};
use base::Time;
use engine::{Fault, FaultKind};
use serde_json::{Value, json};
use twinplane_tester::Testbed;

/// Two hosts with a router each and a circuit between these. Its switches, rome and bern, have a path of 1000 cells/s
/// between them, through two switches of a public network whose link carries 20,000. Two more routers have a circuit in
/// the same path, and two more one beside it.
pub fn described(path: &Value, circuit: &Value, flows: &Value) -> Value {
    let mut vp = json!({"through": ["p0", "p1"], "vpi": [7, 300, 8], "pcr": "1000 cells/s"});
    for (key, value) in path.as_object().expect("an object") {
        vp[key] = value.clone();
    }
    let mut pvc = json!({"through": ["rome", "bern"]});
    for (key, value) in circuit.as_object().expect("an object") {
        pvc[key] = value.clone();
    }
    let router = json!({"kind": "router"});
    let switch = json!({"kind": "atm-switch"});
    json!({
        "name": "paths",
        "nodes": {
            "left": {"kind": "host", "address": "10.1.0.2/24", "mtu": 9180},
            "right": {"kind": "host", "address": "10.2.0.2/24", "mtu": 9180},
            "r0": router, "r1": router, "r2": router, "r3": router, "r4": router, "r5": router,
            "rome": switch, "bern": switch, "p0": switch, "p1": switch,
        },
        "links": [
            {"endpoints": ["left", "r0"], "rate": "1 Gbit/s"},
            {"endpoints": ["r1", "right"], "rate": "1 Gbit/s"},
            {"endpoints": ["p0", "p1"], "medium": "atm", "rate": "20000 cells/s", "delay": "2 ms"},
            {"endpoints": ["rome", "bern"], "vp": vp},
            {"endpoints": ["r0", "r1"], "pvc": pvc},
            {"endpoints": ["r2", "r3"], "pvc": {"through": ["rome", "bern"]}},
            {"endpoints": ["r4", "r5"], "pvc": {"through": ["p0", "p1"]}},
        ],
        "flows": flows,
    })
}

fn flow(from: &str, to: &str, rate: &str, size: u64) -> Value {
    json!({"from": from, "to": to, "rate": rate, "size": size, "start": "1 s", "stop": "9 s"})
}

fn streams(network: &mut Testbed) -> (Vec<u64>, Vec<u64>) {
    let table = network.table_json("streams", None).expect("a table");
    let numbers = |name: &str| column(&table, name).iter().filter_map(Value::as_u64).collect();
    (numbers("sent"), numbers("received"))
}

/// The cells of a packet leave at the rate of the path, and cross the public network at the rate of its link.
#[test]
fn a_packet_takes_its_cells_at_the_rate_of_the_path() {
    for (encapsulation, header) in [("vc-mux", 0), ("shim", 4), ("llc-snap", 8)] {
        for size in [64u64, 506, 1_518] {
            let flows = json!([{
                "from": "left", "to": "right", "rate": format!("{size} bit/s"), "size": size, "start": "1 s", "stop": "17 s",
            }]);
            let mut network = build(&described(&json!({}), &json!({"encapsulation": encapsulation}), &flows));
            run(&mut network, 30 * S);
            let (sent, received) = streams(&mut network);
            assert_eq!((&sent[..], &received[..]), (&[2][..], &[2][..]), "{encapsulation}, {size}");
            let cells = (size - 18 + header + 8).div_ceil(48);
            // The last cell leaves when all before it have had their time, and takes one on the link between.
            let theory = (cells - 1) as f64 * 1e9 + 1e12 / 20_000.0 + 2e9 + size as f64 * 8e3;
            let table = network.table_json("streams", None).expect("a table");
            let delay = column(&table, "delay_min_s")[0].as_f64().expect("a delay") * 1e12;
            assert!((delay - theory).abs() < 4.0, "{encapsulation}, {size}: {delay} of {theory}");
            assert_eq!(balance(&mut network), Ok(()));
        }
    }
}

/// Circuits in a path share it; what is beside it on the same link gets the rest, and does not disturb it.
#[test]
fn circuits_share_a_path() {
    let flows = json!([
        flow("left", "right", "2 Mbit/s", 1_518),
        flow("r2", "r3", "2 Mbit/s", 1_518),
        flow("r4", "r5", "20 Mbit/s", 1_518),
    ]);
    let mut network = build(&described(&json!({}), &json!({}), &flows));
    for tenth in (0..110).step_by(7) {
        run(&mut network, tenth * S / 10 + MS / 7);
        assert_eq!(balance(&mut network), Ok(()), "{tenth}");
    }
    run(&mut network, 40 * S);
    let (sent, received) = streams(&mut network);
    assert!((0..3).all(|flow| received[flow] < sent[flow]), "{sent:?} {received:?}");
    // Each switch counts the cells of its path, whatever their channels, and the ends those of each circuit.
    let paths = network.table_json("atm_paths", None).expect("a table");
    assert_eq!(sum(&paths, "dropped") + sum(&paths, "refused"), 0, "{paths}");
    let ends = network.table_json("atm_ends", None).expect("a table");
    let taken = of(&ends, "node", "bern", "cells_received");
    assert_eq!(sum(&paths, "passed"), 2 * taken);
    // 32 cells a packet: the path has 1000 cells/s, and the rest is for the circuit beside it.
    let seconds = taken as f64 / 1_000.0;
    assert!((8.0..26.0).contains(&seconds), "{seconds}");
    assert_eq!(taken, 32 * (received[0] + received[1]));
    let ports = network.table_json("atm_ports", None).expect("a table");
    assert_eq!(of(&ports, "node", "p0", "sent_cbr"), taken);
    assert_eq!(balance(&mut network), Ok(()));
}

/// Within a path a circuit of constant bit rate leaves before others, and a link of it that fails costs cells.
#[test]
fn a_circuit_keeps_its_rate_within_a_path() {
    let flows = json!([flow("left", "right", "300 kbit/s", 1_518), flow("r2", "r3", "2 Mbit/s", 1_518)]);
    let circuit = json!({"service": "cbr", "pcr": "900 cells/s"});
    let mut network = build(&described(&json!({}), &circuit, &flows));
    let link = network.links()[2].id;
    let down = Fault { at: Time(4 * S), until: Some(Time(5 * S)), kind: FaultKind::LinkDown { link } };
    network.fault(down).expect("a fault");
    let restart = FaultKind::NodeRestart { node: base::NodeId(10), down_for: base::Span(MS as i64) };
    network.fault(Fault::new(Time(7 * S), restart)).expect("a fault");
    for tenth in (0..200).step_by(3) {
        run(&mut network, tenth * S / 10 + MS / 7);
        assert_eq!(balance(&mut network), Ok(()), "{tenth}");
    }
    let (sent, received) = streams(&mut network);
    // A second of eight, and perhaps one under way at the restart.
    let lost = sent[0] - received[0];
    assert!((20..30).contains(&lost), "{lost} of {}", sent[0]);
    assert!(network.world().audit().is_empty());
}

/// A path through one switch alone.
#[test]
fn one_switch_is_enough() {
    let mut described =
        described(&json!({}), &json!({}), &json!([flow("left", "right", "300 kbit/s", 1_518)]));
    described["links"][3]["vp"] = json!({"through": ["p0"], "pcr": "1000 cells/s"});
    described["links"]
        .as_array_mut()
        .expect("links")
        .retain(|link| link["medium"] != "atm" && link["pvc"]["through"][0] != "p0");
    let mut network = build(&described);
    // Nothing leads to r4, r5 and p1 any more. No link leads to p0 either, but the path passes it.
    let warned = said(&network.warnings());
    let unlinked: Vec<_> = warned.iter().filter(|said| said.contains("it has no link")).collect();
    assert!(matches!(unlinked[..], [one] if !one.contains("'p0'")), "{unlinked:?}");
    run(&mut network, 12 * S);
    let (sent, received) = streams(&mut network);
    assert_eq!(sent, received);
    let paths = network.table_json("atm_paths", None).expect("a table");
    assert_eq!((column(&paths, "vpi"), column(&paths, "node")), (vec![json!(1); 2], vec![json!("p0"); 2]));
    assert_eq!(balance(&mut network), Ok(()));
}
