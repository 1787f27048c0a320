//! Packets over circuits of ATM: cells and times by arithmetic, what is lost and why, and that cells are conserved.

use crate::common::{MS, S, column, network, refusal, run, sum};
use base::Time;
use engine::{Direction, Fault, FaultKind};
use serde_json::{Value, json};
use twinplane_tester::Testbed;

/// Picoseconds of a cell at 4750 cells/s.
const CELL: f64 = 1e12 / 4_750.0;
/// 4750 cells/s in bits per second.
const RATE: u64 = 4_750 * 424;

/// Two hosts with a router each, and a circuit between these through three switches; the links between switches carry
/// 4750 cells/s.
fn described(pvc: Value) -> Value {
    let mut circuit = json!({"through": ["s0", "s1", "s2"]});
    for (key, value) in pvc.as_object().expect("an object") {
        circuit[key] = value.clone();
    }
    let cells =
        |a: usize, b: usize| json!({"a": a, "b": b, "medium": "atm", "rate_bps": RATE, "delay_ps": 2 * MS});
    json!({
        "nodes": [
            {"name": "pe0", "kind": "router"},
            {"name": "pe1", "kind": "router"},
            {"name": "left", "kind": "host", "address": "10.1.0.2/24", "mtu": 9180},
            {"name": "right", "kind": "host", "address": "10.2.0.2/24", "mtu": 9180},
            {"name": "s0", "kind": "atm-switch"},
            {"name": "s1", "kind": "atm-switch"},
            {"name": "s2", "kind": "atm-switch"},
        ],
        "links": [
            {"a": 2, "b": 0, "rate_bps": 1_000_000_000},
            {"a": 1, "b": 3, "rate_bps": 1_000_000_000},
            {"a": 0, "b": 1, "pvc": circuit},
            cells(4, 5),
            cells(5, 6),
        ],
    })
}

fn with_flow(pvc: Value, flow: Value) -> Testbed {
    let mut whole = described(pvc);
    whole["flows"] = json!([flow]);
    network(whole)
}

/// Cells that ends made, and that came to ends, and those of ports: sent by switches, received, dropped.
fn balance(network: &mut Testbed) -> Result<(), String> {
    let mut table = |name: &str| network.table_json(name, None).expect("a table");
    let (ports, ends) = (table("atm_ports"), table("atm_ends"));
    let made = sum(&ends, "cells_sent") - sum(&ends, "waiting");
    let came = sum(&ports, "received");
    let sent = sum(&ports, "sent_cbr") + sum(&ports, "sent_ubr");
    let gone = sum(&ports, "dropped")
        + sum(&ports, "header_errors")
        + sum(&ports, "unknown")
        + sum(&table("atm_channels"), "dropped");
    let taken = sum(&ends, "cells_received");
    let waiting = sum(&ports, "waiting");
    // What a port has no room for is dropped of a channel, too.
    let twice = sum(&ports, "dropped");
    if made + came == sent + gone - twice + taken + waiting {
        return Ok(());
    }
    Err(format!("made {made}, came {came}; sent {sent}, dropped {gone}, taken {taken}, waiting {waiting}"))
}

/// A packet takes its cells at the rate of the links, and each further switch and link a cell and the propagation.
#[test]
fn a_packet_arrives_when_its_last_cell_does() {
    for (encapsulation, header) in [("vc-mux", 0), ("shim", 4), ("llc-snap", 8)] {
        for size in [64u64, 128, 506, 1_518] {
            let flow = json!({"from": 2, "to": 3, "rate_bps": 1_000 * size, "size": size, "start_ps": S, "stop_ps": 17 * S});
            let mut network = with_flow(json!({"encapsulation": encapsulation}), flow);
            run(&mut network, 30 * S);
            let flows = network.table_json("streams", None).expect("a table");
            let count = sum(&flows, "sent");
            assert_eq!((count, sum(&flows, "received")), (2, 2), "{encapsulation}, {size}");
            let ip = size - 18;
            let cells = (ip + header + 8).div_ceil(48);
            let ends = network.table_json("atm_ends", None).expect("a table");
            assert_eq!(sum(&ends, "cells_sent"), 2 * cells);
            // The last packet waits for nobody's address: its cells follow each other on the first link, and the last
            // one is sent once more on the second. Two Ethernet links are beside that.
            let ethernet = 2.0 * size as f64 * 8e3;
            let theory = (cells + 1) as f64 * CELL + 2.0 * 2e9 + ethernet;
            let delay = column(&flows, "delay_min_ps")[0].as_f64().expect("a delay");
            assert!((delay - theory).abs() < 2.0, "{encapsulation}, {size}: {delay} of {theory}");
            assert_eq!(balance(&mut network), Ok(()));
        }
    }
}

#[test]
fn what_can_not_be_built_is_said() {
    let said = |pvc: Value| refusal(&described(pvc));
    assert_eq!(said(json!({"vci": 31})), "x");
}
