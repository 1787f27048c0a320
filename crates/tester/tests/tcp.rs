//! Flows over TCP between two hosts: what theory says of their rates, what a loss does, how they end, and what is
//! refused.

use crate::common::{MS, S, network, run};
use base::Time;
use engine::{Direction, Fault, FaultKind};
use serde_json::{Value, json};
use twinplane_tester::Testbed;

/// Hosts `left` and `right` with a router between them. The link to `right` has the rate and delay, the other is fast.
fn described(rate: u64, delay: u64, flows: Value) -> Value {
    json!({
        "nodes": [
            {"name": "r", "kind": "router"},
            {"name": "left", "kind": "host", "address": "10.1.0.2/24"},
            {"name": "right", "kind": "host", "address": "10.2.0.2/24"},
        ],
        "links": [
            {"a": 1, "b": 0, "rate_bps": 1_000_000_000, "delay_ps": 0},
            {"a": 0, "b": 2, "rate_bps": rate, "delay_ps": delay},
        ],
        "tcp": flows,
    })
}

fn with(rate: u64, delay: u64, flow: Value) -> Testbed {
    let mut whole = json!({"from": "left", "to": "right"});
    for (key, value) in flow.as_object().expect("an object") {
        whole[key] = value.clone();
    }
    network(described(rate, delay, json!([whole])))
}

/// A cell of a row of table `tcp_flows`.
fn cell(network: &mut Testbed, column: &str, row: usize) -> Value {
    network.table_json("tcp_flows", None).expect("a table")[column][row].clone()
}

fn number(network: &mut Testbed, column: &str, row: usize) -> f64 {
    cell(network, column, row).as_f64().unwrap_or_else(|| panic!("a number: {column} of {row}"))
}

#[test]
fn all_bytes_arrive_and_both_ends_close() {
    let mut network = with(10_000_000, MS, json!({"bytes": "1 MB"}));
    run(&mut network, 20 * S);
    assert_eq!(cell(&mut network, "state", 0), json!("done"));
    assert_eq!(number(&mut network, "bytes", 0), 1e6);
    for none in ["wrong", "retransmitted"] {
        assert_eq!(number(&mut network, none, 0), 0.0, "{none}");
    }
    for node in [1, 2] {
        let sessions = network.station(node).and_then(|station| station.host().sessions()).expect("TCP");
        assert!(sessions.is_empty(), "nothing is left after TIME-WAIT");
        let drops = network.station(node).expect("a host").drops();
        assert_eq!(drops.total(), 0, "{drops:?}");
    }
}

/// The end that closes first acknowledges the other's FIN when nothing of the connection is left for its program.
#[test]
fn the_last_acknowledgement_counts() {
    let mut network = with(10_000_000, MS, json!({"bytes": "1 kB"}));
    run(&mut network, 20 * S);
    assert_eq!(cell(&mut network, "state", 0), json!("done"));
    assert_eq!(number(&mut network, "data_segments", 0), 1.0);
    assert_eq!(number(&mut network, "pure_acks", 0), 2.0, "of the other's SYN and of its FIN");
}

/// Segments that come again are acknowledged again, when nothing but the end of the stream is outstanding: the FIN that
/// was lost among them is sent again for all that.
#[test]
fn connections_end_whatever_is_lost() {
    let flow = json!({"from": "left", "to": "right", "bytes": "40 kB", "congestion": "none"});
    for seed in 0..12 {
        let mut whole = described(2_000_000, 5 * MS, json!(vec![flow.clone(); 10]));
        whole["seed"] = json!(seed);
        let mut network = network(whole);
        let direction = Direction::Both;
        let kind = FaultKind::Loss { link: base::LinkId(1), direction, probability: 0.1 };
        network.fault(Fault { at: Time::ZERO, until: None, kind }).expect("a fault");
        run(&mut network, 400 * S);
        for row in 0..10 {
            assert_eq!(cell(&mut network, "state", row), json!("done"), "seed {seed}, flow {row}");
        }
    }
}

/// Throughput of a flow that its window limits: a buffer of bytes in each round trip.
#[test]
fn a_small_buffer_gives_buffer_over_rtt() {
    for (buffer, delay) in [(14_600, 30), (29_200, 35), (58_400, 6), (116_800, 50)] {
        let flow = json!({"buffer": buffer, "stop": "20 s", "ack_delay": 0, "congestion": "none"});
        let mut network = with(1_000_000_000, delay * MS, flow);
        run(&mut network, 20 * S);
        let (goodput, rtt) = (number(&mut network, "goodput_bps", 0), number(&mut network, "rtt_mean_s", 0));
        let theory = buffer as f64 * 8.0 / rtt;
        assert!((goodput / theory - 1.0).abs() < 0.02, "{buffer}, {delay} ms: {goodput} of {theory}");
        assert!((rtt / (2e-3 * delay as f64) - 1.0).abs() < 0.02, "{rtt}");
        assert!(number(&mut network, "in_flight_max", 0) <= buffer as f64 + 1.0);
    }
}

/// Throughput where a link is the limit: of each frame of 1538 bytes on the wire, 1460 are data.
#[test]
fn a_bottleneck_is_filled() {
    for (mss, congestion) in [(1_460, "cubic"), (1_460, "reno"), (536, "none"), (1_000, "cubic")] {
        let flow = json!({"mss": mss, "congestion": congestion, "buffer": "64 kB", "stop": "30 s"});
        let mut network = with(5_000_000, 2 * MS, flow);
        run(&mut network, 30 * S);
        // Preamble, Ethernet header, check sequence and gap are 38 bytes, IP and TCP 40.
        let share = f64::from(mss) / f64::from(mss + 78);
        let theory = 5e6 * share;
        let goodput = number(&mut network, "goodput_bps", 0);
        assert!((goodput / theory - 1.0).abs() < 0.01, "{mss}, {congestion}: {goodput} of {theory}");
        assert_eq!(number(&mut network, "retransmitted", 0), 0.0);
    }
}

/// What both ends had sent arrives, and no acknowledgement of it: both send again what the other has.
#[test]
fn both_ends_go_on_after_both_have_lost_acknowledgements() {
    for at in [500, 800, 1_100] {
        let flow = json!({"bytes": "1 MB", "duplex": "full", "buffer": "64 kB"});
        let mut network = with(5_000_000, 20 * MS, flow);
        let link = network.links()[1].id;
        let kind = FaultKind::Loss { link, direction: Direction::Both, probability: 1.0 };
        let until = Some(Time((at + 100) * MS));
        network.fault(Fault { at: Time(at * MS), until, kind }).expect("a fault");
        run(&mut network, 60 * S);
        for row in [0, 1] {
            assert_eq!(cell(&mut network, "state", row), json!("done"), "from {at} ms on");
            assert_eq!((number(&mut network, "bytes", row), number(&mut network, "wrong", row)), (1e6, 0.0));
        }
    }
}

#[test]
fn both_directions_of_a_full_duplex_flow_are_rows() {
    let mut network = with(10_000_000, MS, json!({"bytes": "2 MB", "duplex": "full"}));
    run(&mut network, 30 * S);
    assert_eq!(cell(&mut network, "direction", 0), json!("forward"));
    assert_eq!(cell(&mut network, "direction", 1), json!("back"));
    for row in [0, 1] {
        assert_eq!(number(&mut network, "bytes", row), 2e6);
        assert_eq!(number(&mut network, "wrong", row), 0.0);
        assert_eq!(cell(&mut network, "state", row), json!("done"));
    }
}

#[test]
fn several_connections_share_a_link() {
    let mut network = with(10_000_000, MS, json!({"bytes": "500 kB", "connections": 8, "buffer": "16 kB"}));
    run(&mut network, 30 * S);
    let total: f64 = (0..8).map(|row| number(&mut network, "bytes", row)).sum();
    assert_eq!(total, 4e6);
    let ends: Vec<f64> = (0..8).map(|row| number(&mut network, "completion_s", row)).collect();
    let last = ends.iter().copied().fold(0.0, f64::max);
    let theory = 4e6 * 8.0 / 10e6 * 1_538.0 / 1_460.0;
    assert!((last / theory - 1.0).abs() < 0.02, "{last} of {theory}");
}

/// A request and its answer take a round trip, and the time of their bytes on the links.
#[test]
fn a_transaction_takes_a_round_trip() {
    let flow = json!({"application": "request-response", "transactions": 100});
    let mut network = with(1_000_000_000, 5 * MS, flow);
    run(&mut network, 5 * S);
    assert_eq!(number(&mut network, "transactions", 0), 100.0);
    let mean = number(&mut network, "response_mean_s", 0);
    assert!((mean / 10e-3 - 1.0).abs() < 0.01, "{mean}");
    assert_eq!((number(&mut network, "bytes", 0), number(&mut network, "bytes", 1)), (100.0, 100.0));
    assert_eq!(cell(&mut network, "state", 0), json!("done"));
}

/// One segment that is lost is sent again, after three acknowledgements of the one before it (RFC 5681, 3.2).
#[test]
fn one_lost_segment_is_sent_again() {
    for congestion in ["none", "reno", "cubic"] {
        // The receiver has room for more than what is in flight: else its window closes until the gap is filled.
        let flow =
            json!({"bytes": "300 kB", "congestion": congestion, "start": "1 s", "send_buffer": "29200 B"});
        let mut network = with(10_000_000, MS, flow);
        // A segment takes 1.23 ms: less than that takes one of them at most.
        let link = network.links()[1].id;
        let kind = FaultKind::Loss { link, direction: Direction::Forth, probability: 1.0 };
        let at = S + 100 * MS;
        network.fault(Fault { at: Time(at), until: Some(Time(at + 12 * MS / 10)), kind }).expect("a fault");
        run(&mut network, 20 * S);
        assert_eq!(number(&mut network, "bytes", 0), 3e5, "{congestion}");
        assert_eq!(number(&mut network, "wrong", 0), 0.0, "{congestion}");
        assert_eq!(number(&mut network, "retransmitted", 0), 1.0, "{congestion}");
        assert_eq!(cell(&mut network, "state", 0), json!("done"));
        // Without a timeout, which takes a second at least.
        assert!(number(&mut network, "completion_s", 0) < 0.4, "{congestion}");
    }
}

#[test]
fn a_run_is_repeated_by_its_seed() {
    let digest = |seed: u64| {
        let mut described = described(
            10_000_000,
            MS,
            json!([{"from": "left", "to": "right", "bytes": "200 kB", "connections": 3}]),
        );
        described["seed"] = json!(seed);
        let mut network = network(described);
        run(&mut network, 3 * S);
        network.world().digest()
    };
    assert_eq!(digest(1), digest(1));
    assert!(digest(1) != digest(2), "ports and sequence numbers are drawn");
}

#[test]
fn it_goes_over_ipv6() {
    let flow = json!([{"from": "left", "to": "right", "bytes": "100 kB", "family": "ipv6"}]);
    let mut described = described(10_000_000, MS, flow);
    described["links"][0]["ipv6"] = json!(["fd00:1::2/64", "fd00:1::1/64"]);
    described["links"][1]["ipv6"] = json!(["fd00:2::1/64", "fd00:2::2/64"]);
    // With `dad` the addresses may not be used yet when the flow begins: its SYN is sent again.
    for dad in [false, true] {
        for link in [0, 1] {
            described["links"][link]["dad"] = json!(dad);
        }
        let mut network = network(described.clone());
        run(&mut network, 10 * S);
        assert_eq!((number(&mut network, "bytes", 0), number(&mut network, "wrong", 0)), (1e5, 0.0));
        assert_eq!(cell(&mut network, "state", 0), json!("done"));
        assert_eq!(number(&mut network, "connect_s", 0) > 0.5, dad);
    }
}

#[test]
fn a_host_that_begins_anew_resets_what_it_does_not_know() {
    let mut network = with(10_000_000, MS, json!({"stop": "10 s"}));
    run(&mut network, S);
    let (node, now) = (base::NodeId(2), network.now());
    let _ = network.world_mut().command(now, node, base::Command::Restart);
    run(&mut network, 4 * S);
    assert_eq!(cell(&mut network, "state", 0), json!("reset"));
}

/// The client is in TIME-WAIT when its host begins anew: its connection was done before.
#[test]
fn what_was_done_stays_so_when_its_host_begins_anew() {
    let mut network = with(10_000_000, MS, json!({"bytes": "1 kB"}));
    run(&mut network, 2 * S);
    let now = network.now();
    let _ = network.world_mut().command(now, base::NodeId(1), base::Command::Restart);
    run(&mut network, 4 * S);
    assert_eq!(cell(&mut network, "state", 0), json!("done"));
}

/// A flow goes by its own settings, then by those of its hosts, then by their profiles.
#[test]
fn a_host_says_how_its_tcp_behaves() {
    let mut described =
        described(1_000_000_000, 10 * MS, json!([{"from": "left", "to": "right", "stop": "4 s"}]));
    let profile = json!({"name": "old", "tcp": {"buffer": "8 KiB", "window_scaling": false, "sack": false}});
    described["nodes"][2]["profile"] = profile;
    described["nodes"][2]["tcp"] = json!({"receive_buffer": 4_380});
    let mut network = network(described);
    run(&mut network, 4 * S);
    assert_eq!(number(&mut network, "in_flight_max", 0), 4_380.0);
}

fn refusal(flow: Value) -> String {
    let mut whole = json!({"from": "left", "to": "right"});
    for (key, value) in flow.as_object().expect("an object") {
        whole[key] = value.clone();
    }
    crate::common::refusal(&described(10_000_000, MS, json!([whole])))
}

#[test]
fn what_can_not_be_is_said_before_the_run() {
    let said = [
        (
            json!({"mss": 1_461}),
            "mss=1461: a packet of 'left' has 1500 bytes at most, of which 1460 are data",
        ),
        (json!({"mss": 40}), "48 to 65495"),
        (json!({"buffer": 0}), "buffer"),
        (json!({"receive_buffer": 0}), "receive_buffer"),
        (json!({"message": 0}), "message"),
        (json!({"bytes": 0}), "bytes"),
        (json!({"connections": 0}), "connections"),
        (json!({"congestion": "vegas"}), "none, reno or cubic"),
        (json!({"to": "r"}), "'r' is no host: programs that talk over TCP are at hosts"),
        (json!({"to": "left"}), "it begins and ends at 'left'"),
        (json!({"request": 5}), "'request' goes with application=request-response"),
        (json!({"application": "request-response", "bytes": 5}), "'bytes' goes with application=bulk"),
        (json!({"start": "2 s", "stop": "1 s"}), "is not after"),
        (json!({"family": "ipv6"}), "has no IPv6 addresses"),
    ];
    for (flow, sentence) in said {
        let found = refusal(flow.clone());
        assert!(found.contains(sentence), "{flow}: {found}");
    }
    let both = json!([
        {"name": "a", "from": "left", "to": "right", "port": 80},
        {"name": "b", "from": "left", "to": "right", "port": 80},
    ]);
    let found = crate::common::refusal(&described(10_000_000, MS, both));
    assert!(found.contains("port=80: another flow over TCP ends at that port of 'right'"), "{found}");
}
