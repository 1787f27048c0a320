//! Packets over circuits of ATM: cells and times by arithmetic, what is lost and why, and that cells are conserved.

mod refused;

use crate::common::cells::balance;
use crate::common::{MS, S, column, network, run, sum};
use base::Time;
use engine::{Direction, Fault, FaultKind, ThreadsFor};
use serde_json::{Value, json};
use twinplane_tester::Testbed;

/// Picoseconds of a cell at 4750 cells/s.
const CELL: f64 = 1e12 / 4_750.0;
/// 4750 cells/s in bits per second.
const RATE: u64 = 4_750 * 424;

/// Two hosts with a router each, and a circuit between these through three switches; the links between switches carry
/// 4750 cells/s.
fn described(pvc: Value) -> Value {
    described_far(pvc, 2 * MS)
}

/// The same with links between switches that are so long.
fn described_far(pvc: Value, delay: u64) -> Value {
    let mut circuit = json!({"through": ["s0", "s1", "s2"]});
    for (key, value) in pvc.as_object().expect("an object") {
        circuit[key] = value.clone();
    }
    let cells =
        |a: usize, b: usize| json!({"a": a, "b": b, "medium": "atm", "rate_bps": RATE, "delay_ps": delay});
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

/// A packet takes its cells at the rate of the links, and each further switch and link a cell and the propagation.
#[test]
fn a_packet_arrives_when_its_last_cell_does() {
    for (encapsulation, header) in [("vc-mux", 0), ("shim", 4), ("llc-snap", 8)] {
        for size in [64u64, 128, 506, 1_518] {
            let flow =
                json!({"from": 2, "to": 3, "rate_bps": size, "size": size, "start_ps": S, "stop_ps": 17 * S});
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
            // one is sent once more on the second. The link to the router is beside that; delays are from first bit
            // to first bit, so that the last link does not count.
            let ethernet = size as f64 * 8e3;
            let theory = (cells + 1) as f64 * CELL + 2.0 * 2e9 + ethernet;
            let delay = column(&flows, "delay_min_s")[0].as_f64().expect("a delay") * 1e12;
            assert!((delay - theory).abs() < 4.0, "{encapsulation}, {size}: {delay} of {theory}");
            assert_eq!(balance(&mut network), Ok(()));
        }
    }
}

/// The first packet waits until the other end has said its address.
#[test]
fn inatmarp_is_asked_before_the_first_packet() {
    let flow = json!({"from": 2, "to": 3, "rate_bps": 500_000, "size": 500, "start_ps": S, "stop_ps": 2 * S});
    let mut network = with_flow(json!({"map": "inatmarp"}), flow);
    run(&mut network, 3 * S);
    let flows = network.table_json("streams", None).expect("a table");
    assert_eq!(sum(&flows, "sent"), sum(&flows, "received"));
    let ends = network.table_json("atm_ends", None).expect("a table");
    assert_eq!(sum(&ends, "packets_sent"), sum(&flows, "sent") + 2, "a request and an answer");
    assert_eq!(balance(&mut network), Ok(()));
}

/// What a flow over TCP from left to right did: its row of `tcp_flows`.
fn tcp(mut described: Value, flow: Value, seconds: u64) -> (Testbed, Value) {
    let mut whole = json!({"from": "left", "to": "right", "stop": format!("{seconds} s")});
    for (key, value) in flow.as_object().expect("an object") {
        whole[key] = value.clone();
    }
    described["tcp"] = json!([whole]);
    let mut network = network(described);
    run(&mut network, seconds * S);
    let flows = network.table_json("tcp_flows", None).expect("a table");
    (network, flows)
}

/// Data of a segment in the cells that it takes, at 4750 cells/s, whatever the size of packets and what is in front of
/// them.
#[test]
fn tcp_fills_cells_as_arithmetic_says() {
    // On both sides of borders between cells first: at 1464 bytes only LLC and SNAP take one more, at 1500 all take 32.
    let sizes = [
        1_464, 1_500, 552, 9_180, 1_238, 100, 296, 432, 576, 1_000, 1_006, 1_024, 1_280, 1_378, 1_400, 1_480,
        1_492, 2_048, 4_352, 4_470,
    ];
    let sizes = &sizes[..testing::runs(4).count().min(sizes.len())];
    for (encapsulation, header) in [("vc-mux", 0), ("shim", 4), ("llc-snap", 8)] {
        for &size in sizes {
            let size: u64 = size;
            let flow = json!({"mss": size - 40, "message": 20 * (size - 40), "buffer": "128 kB"});
            let (mut network, flows) = tcp(described(json!({"encapsulation": encapsulation})), flow, 30);
            let cells = (size + header + 8).div_ceil(48);
            let theory = (size - 40) as f64 * 8.0 * 4_750.0 / cells as f64;
            let goodput = column(&flows, "goodput_bps")[0].as_f64().expect("a number");
            assert!((goodput / theory - 1.0).abs() < 0.01, "{encapsulation}, {size}: {goodput} of {theory}");
            assert_eq!(sum(&flows, "retransmitted") + sum(&flows, "wrong"), 0);
            assert_eq!(balance(&mut network), Ok(()));
        }
    }
}

#[test]
fn a_small_buffer_gives_buffer_over_rtt() {
    // Windows of four to twelve segments, and a round trip that is longer than these take.
    for (buffer, mss) in [(5_840, 1_460), (14_600, 1_460), (16_352, 1_460), (4_288, 536)] {
        let flow = json!({"buffer": buffer, "mss": mss, "ack_delay": 0, "congestion": "none"});
        let (_, flows) = tcp(described_far(json!({}), 40 * MS), flow, 60);
        let number = |name: &str| column(&flows, name)[0].as_f64().expect("a number");
        let (goodput, rtt) = (number("goodput_bps"), number("rtt_mean_s"));
        let theory = buffer as f64 * 8.0 / rtt;
        assert!((goodput / theory - 1.0).abs() < 0.02, "{buffer}: {goodput} of {theory}");
    }
}

/// Cells that are lost, or wrong in a bit, cost packets, and are counted; none is lost twice or appears.
#[test]
fn cells_are_conserved_under_faults() {
    let flow = json!({"from": 2, "to": 3, "rate_bps": 1_500_000, "size": 1_518, "stop_ps": 5 * S});
    let mut network = with_flow(json!({}), flow);
    let link = network.links()[3].id;
    let kind =
        FaultKind::Corruption { link, direction: Direction::Both, bit_error_rate: 1e-4, deliver: false };
    network.fault(Fault { at: Time(S), until: None, kind }).expect("a fault");
    for second in 1..8 {
        run(&mut network, second * S + MS / 7);
        assert_eq!(balance(&mut network), Ok(()));
    }
    let ports = network.table_json("atm_ports", None).expect("a table");
    assert!(sum(&ports, "corrected") > 0, "one wrong bit of a header is put right");
    let ends = network.table_json("atm_ends", None).expect("a table");
    let flows = network.table_json("streams", None).expect("a table");
    let (sent, received) = (sum(&flows, "sent"), sum(&flows, "received"));
    assert_eq!((sum(&ends, "packets_sent"), sum(&ends, "packets_received")), (sent, received));
    assert!(received > 0 && sum(&ends, "dropped") > 100, "{sent} {received}");
}

/// A circuit of constant bit rate keeps its rate beside one that takes all there is.
#[test]
fn constant_bit_rate_is_not_disturbed() {
    let mut described = described(json!({"service": "cbr", "pcr": "1000 cells/s", "vci": 40}));
    for name in ["pe2", "pe3"] {
        described["nodes"].as_array_mut().expect("nodes").push(json!({"name": name, "kind": "router"}));
    }
    let links = described["links"].as_array_mut().expect("links");
    links.push(json!({"a": 7, "b": 8, "pvc": {"through": ["s0", "s1", "s2"]}}));
    // 1000 cells/s are 31 packets of 32 cells a second; the other circuit gets more than it has room for.
    described["flows"] = json!([
        {"from": 2, "to": 3, "rate_bps": 30 * 1_518 * 8, "size": 1_518, "stop_ps": 10 * S},
        {"from": 7, "to": 8, "rate_bps": 3_000_000, "size": 1_518, "stop_ps": 10 * S},
    ]);
    let mut network = network(described);
    run(&mut network, 20 * S);
    let flows = network.table_json("streams", None).expect("a table");
    let (sent, received) = (column(&flows, "sent"), column(&flows, "received"));
    assert_eq!(sent[0], received[0]);
    assert!(received[1].as_u64() < sent[1].as_u64(), "{received:?}");
    assert_eq!(balance(&mut network), Ok(()));
}

/// Six circuits of both services, shaped and not, one of them policed, on links that are too slow for them.
fn mixed(load: u64) -> Value {
    let mut whole = described(json!({"service": "cbr", "pcr": "1000 cells/s"}));
    for circuit in [
        json!({"pcr": "900 cells/s"}),
        json!({"pcr": "2000 cells/s", "tolerance": "1 ms"}),
        json!({}),
        json!({"service": "cbr", "pcr": "500 cells/s", "shaped": false, "tolerance": "400 ms"}),
        json!({"pcr": "3000 cells/s", "encapsulation": "shim"}),
    ] {
        let nodes = whole["nodes"].as_array_mut().expect("nodes");
        let first = nodes.len();
        nodes.push(json!({"name": format!("r{first}"), "kind": "router"}));
        nodes.push(json!({"name": format!("r{}", first + 1), "kind": "router"}));
        let mut link = json!({"a": first, "b": first + 1, "pvc": {"through": ["s0", "s1", "s2"]}});
        for (key, value) in circuit.as_object().expect("an object") {
            link["pvc"][key] = value.clone();
        }
        whole["links"].as_array_mut().expect("links").push(link);
    }
    let flow =
        |from: u64| json!({"from": from, "to": from + 1, "rate_bps": load, "size": 1_000, "stop_ps": S});
    whole["flows"] = [0, 7, 9, 11, 13, 15].map(flow).to_vec().into();
    whole
}

/// Shaped ends meet full ports, ports go down, a switch begins anew: the tables balance all the time.
#[test]
fn tables_balance_whatever_happens() {
    let mut whole = mixed(900_000);
    for node in 4..7 {
        whole["nodes"][node]["ubr_cells"] = json!(200);
    }
    let mut network = network(whole);
    let link = network.links()[3].id;
    let down = Fault { at: Time(S / 2), until: Some(Time(S * 6 / 10)), kind: FaultKind::LinkDown { link } };
    network.fault(down).expect("a fault");
    network
        .fault(Fault::new(
            Time(S * 7 / 10),
            FaultKind::NodeRestart { node: base::NodeId(4), down_for: base::Span(MS as i64) },
        ))
        .expect("a fault");
    for tenth in 1..30 {
        run(&mut network, tenth * S / 10 + MS / 7);
        assert_eq!(balance(&mut network), Ok(()), "{tenth}");
    }
}

/// What an end does not shape is policed where it becomes cells, even on a circuit of two switches: another circuit
/// there keeps what is its own.
#[test]
fn a_circuit_of_two_switches_is_policed() {
    let pvc = json!({
        "through": ["s0", "s1"], "service": "cbr", "pcr": "100 cells/s", "shaped": false, "tolerance": "1 ms",
    });
    let mut whole = described(pvc);
    for name in ["pe2", "pe3"] {
        whole["nodes"].as_array_mut().expect("nodes").push(json!({"name": name, "kind": "router"}));
    }
    let link = json!({"a": 7, "b": 8, "pvc": {"through": ["s0", "s1"]}});
    whole["links"].as_array_mut().expect("links").push(link);
    let flow = |from: u64, to: u64| json!({"from": from, "to": to, "rate_bps": 1_500_000, "size": 1_518, "stop_ps": S});
    whole["flows"] = json!([flow(2, 3), flow(7, 8)]);
    let mut network = network(whole);
    run(&mut network, 3 * S);
    let flows = network.table_json("streams", None).expect("a table");
    let (sent, received) = (column(&flows, "sent"), column(&flows, "received"));
    assert_eq!((received[0].as_u64(), &received[1]), (Some(0), &sent[1]));
    assert_eq!(balance(&mut network), Ok(()));
}

/// A circuit that carries IPv4 alone has no LSPs, and one that carries labels has.
#[test]
fn lsps_take_circuits_that_carry_labels() {
    for (encapsulation, up) in [("vc-mux", false), ("llc-snap", true), ("shim", true)] {
        let mut whole = described(json!({"encapsulation": encapsulation}));
        whole["lsps"] = json!([{"name": "l", "from": 0, "to": 1, "bandwidth_bps": 100_000}]);
        let mut network = network(whole);
        run(&mut network, 5 * S);
        let lsps = network.table_json("lsps", None).expect("a table");
        assert_eq!(column(&lsps, "state")[0] == "up", up, "{encapsulation}: {lsps}");
    }
}

/// A circuit without a peak rate has room for reservations as its slowest link has payloads.
#[test]
fn a_circuit_reserves_no_more_than_its_links_carry() {
    let network = network(described(json!({})));
    assert_eq!(network.links()[2].spec.reservable.map(|rate| rate.0), Some(4_750 * 384));
}

/// The same seed gives the same bytes, whatever the number of threads.
#[test]
fn a_run_is_repeated_to_the_byte() {
    let digest = |threads: usize| {
        let mut network = network(mixed(600_000));
        network.world_mut().set_threads(ThreadsFor { most: threads, least_events: 0 });
        run(&mut network, 2 * S);
        network.world().digest()
    };
    assert_eq!(digest(1), digest(2));
}
