//! Switches and the tester for them in virtual time: the channel runs over TCP of both nodes.

use base::{NodeId, Span, Time};
use node::switch::ManagedSwitch;
use serde_json::{Value, json};
use twinplane_tester::Testbed;
use twinplane_tester::openflow::{Report, report::Standing};
use twinplane_tester::spec::NetworkFile;
use wire::openflow::Version;

const S: u64 = 1_000_000_000_000;

fn described(test: Value) -> Value {
    let mut tester = json!({"kind": "openflow-tester", "duration": "3 s"});
    for (key, value) in test.as_object().expect("settings") {
        tester[key] = value.clone();
    }
    json!({
        "name": "bench",
        "nodes": {
            "s1": {"kind": "switch", "prefix": "10.1.0.0/24", "controllers": ["tcp:10.9.0.2:6633"], "version": "1.0"},
            "t": tester,
        },
        "links": [
            {"endpoints": ["s1", "t"], "rate": "1 Gbit/s", "delay": "1 us"},
            {"endpoints": ["s1", "t"], "rate": "1 Gbit/s", "delay": "1 us",
             "addresses": ["10.9.0.1/30", "10.9.0.2/30"]},
            {"endpoints": ["s1", "t"], "rate": "1 Gbit/s", "delay": "1 us"},
        ],
    })
}

fn file(described: Value) -> NetworkFile {
    let value = serde_json::from_value(described).expect("a value");
    NetworkFile::read_part(&value).expect("a description")
}

fn bench(test: Value) -> Testbed {
    Testbed::new(&file(described(test))).expect("a network")
}

fn tested(test: Value, seconds: u64) -> Report {
    let mut network = bench(test);
    network.run_until(Time(seconds * S)).expect("a run");
    network.openflow_tester(1).expect("a tester").machine().report().clone()
}

#[test]
fn a_switch_connects_over_its_management_port_which_is_none_of_its_datapath() {
    let mut network = bench(json!({"test": "control"}));
    network.run_until(Time(S / 10)).expect("a run");
    let switch = network.world().device::<ManagedSwitch>(NodeId(0)).expect("a switch").switch();
    let connections: Vec<_> = switch.connections().collect();
    assert_eq!(connections.len(), 1);
    assert_eq!(connections[0].version, Some(Version::V1_0));
    assert_eq!(switch.datapath().ports().len(), 2);
}

#[test]
fn every_test_of_packets_gets_all_of_them_and_does_so_again() {
    for test in ["packet-in", "packet-in-action", "packet-out", "data", "control"] {
        let found = tested(json!({"test": test, "rate": "100 Mbit/s", "size": 700}), 4);
        assert_eq!(found.standing, Standing::Done, "{test}");
        // 53.4 ms between two of them.
        assert_eq!(found.sent, 57, "{test}");
        assert_eq!((found.received, found.late), (found.sent, 0), "{test}");
        assert_eq!((found.errors, found.resets), (0, 0), "{test}");
        // A link of 1 Gbit/s takes 5.6 us for 700 bytes, and each has 1 us.
        assert!(found.delays.iter().all(|delay| *delay > Span::ZERO && *delay < Span::from_us(30)), "{test}");
        let again = tested(json!({"test": test, "rate": "100 Mbit/s", "size": 700}), 4);
        assert_eq!(found.delays, again.delays, "{test}");
    }
}

#[test]
fn packets_between_stamped_ones_are_sent_where_that_is_asked_for() {
    let test =
        json!({"test": "data", "rate": "100 Mbit/s", "size": 1500, "fill": true, "duration": "500 ms"});
    let mut network = bench(test);
    network.run_until(Time(S)).expect("a run");
    let report = network.openflow_tester(1).expect("a tester").machine().report();
    assert_eq!((report.sent, report.received), (5, 5));
    let switch = network.world().device::<ManagedSwitch>(NodeId(0)).expect("a switch").switch();
    assert_eq!(switch.datapath().tables[0].counters(), (4370, 4370));
}

#[test]
fn additions_and_changes_take_until_the_next_packet_of_the_stream() {
    for test in ["flow-add", "flow-mod"] {
        let settings = json!({"test": test, "rate": "200 Mbit/s", "size": 400, "flows": 50, "wait": "1 s",
            "confirm": true, "duration": "5 s"});
        let found = tested(settings, 6);
        assert_eq!(found.standing, Standing::Done);
        assert_eq!(found.errors, 0, "{test}");
        assert!(found.rounds.len() >= 3, "{test}: {:?}", found.rounds);
        for round in &found.rounds {
            assert_eq!(round.confirmed, Some(50), "{test}");
            // 15.259 ms between two packets of the stream.
            let delay = round.delay.expect("a packet").as_secs_f64();
            assert!(delay > 0.0 && delay < 0.015_27, "{test}: {delay}");
            assert!(round.barrier.is_some_and(|barrier| barrier < Span::from_ms(1)), "{test}");
        }
    }
}

#[test]
fn a_thousand_additions_are_all_confirmed() {
    let settings = json!({"test": "flow-add", "rate": "200 Mbit/s", "size": 400, "flows": 1000, "wait": "1 s",
        "confirm": true, "duration": "3 s"});
    let found = tested(settings, 4);
    assert_eq!(found.rounds[0].confirmed, Some(1000));
}

#[test]
fn a_tester_with_other_links_is_refused() {
    let mut other = described(json!({}));
    other["links"][0]["addresses"] = json!(["10.9.1.1/30", "10.9.1.2/30"]);
    let refused = Testbed::new(&file(other)).err().expect("a problem");
    assert!(refused.to_string().contains("one link with addresses"), "{refused}");
}
