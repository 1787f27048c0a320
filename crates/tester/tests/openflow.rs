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

/// A profile of a switch that takes no time but for some values.
fn profile(some: Value) -> Value {
    let mut all = json!({"name": "mine", "description": "2 of mine", "packet_in_burst": 1, "packet_in_queue": 0,
        "reset_bytes": 0});
    for key in [
        "pipeline",
        "pipeline_per_byte",
        "packet_in",
        "packet_in_per_byte",
        "packet_in_every",
        "packet_out",
        "packet_out_per_byte",
        "socket_stall",
        "socket_linger",
        "echo",
        "message",
        "remote_call",
        "entry_write",
        "entry_write_per_entry",
    ] {
        all[key] = json!("0 s");
    }
    for (key, value) in some.as_object().expect("values") {
        all[key] = value.clone();
    }
    all
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
fn every_test_does_the_same_in_version_1_3() {
    for test in ["packet-in", "packet-in-action", "packet-out", "data", "control", "flow-add", "flow-mod"] {
        let mut found = Vec::new();
        for version in ["1.0", "1.3"] {
            let writes = test.starts_with("flow");
            let mut described = described(json!({"test": test, "version": version, "rate": "100 Mbit/s",
                "size": 700, "flows": 20, "wait": "1 s", "confirm": writes}));
            described["nodes"]["s1"]["version"] = json!(version);
            let mut network = Testbed::new(&file(described)).expect("a network");
            network.run_until(Time(4 * S)).expect("a run");
            let report = network.openflow_tester(1).expect("a tester").machine().report().clone();
            assert_eq!((report.standing, report.errors), (Standing::Done, 0), "{test} {version}");
            let confirmed: Vec<_> = report.rounds.iter().map(|round| round.confirmed).collect();
            found.push((report.sent, report.received, report.late, confirmed));
        }
        assert!(found[0].1 > 0, "{test}");
        if test.starts_with("flow") {
            assert!(
                found.iter().all(|(.., confirmed)| confirmed.first() == Some(&Some(20))),
                "{test}: {found:?}"
            );
        } else {
            assert_eq!(found[0], found[1], "{test}");
        }
    }
}

#[test]
fn a_switch_of_another_version_than_the_test_is_refused() {
    let network = |version: &str| {
        let mut network = bench(json!({"test": "data", "version": version}));
        network.run_until(Time(S)).expect("a run");
        network.openflow_tester(1).expect("a tester").machine().report().standing
    };
    assert_eq!((network("1.0"), network("1.3")), (Standing::Running, Standing::Refused));
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
fn a_switch_that_deletes_slowly_has_no_round_that_ends_by_an_old_entry() {
    let mut slow = described(json!({"test": "flow-mod", "rate": "200 Mbit/s", "size": 400, "flows": 100,
        "wait": "100 ms", "duration": "12 s"}));
    slow["nodes"]["s1"]["profile"] = profile(json!({"entry_write": "9 ms"}));
    let mut network = Testbed::new(&file(slow)).expect("a network");
    network.run_until(Time(15 * S)).expect("a run");
    let rounds = &network.openflow_tester(1).expect("a tester").machine().report().rounds;
    let delays: Vec<f64> = rounds.iter().filter_map(|round| round.delay).map(Span::as_secs_f64).collect();
    assert!(delays.len() >= 3, "{delays:?}");
    // A hundred changes of 9 ms each, and up to an interval of the stream.
    assert!(delays.iter().all(|delay| (0.9..0.92).contains(delay)), "{delays:?}");
}

#[test]
fn a_switch_of_both_versions_is_tested_in_1_0() {
    let mut both = described(json!({"test": "packet-out"}));
    both["nodes"]["s1"]["version"] = json!("both");
    let mut network = Testbed::new(&file(both)).expect("a network");
    network.run_until(Time(5 * S)).expect("a run");
    let report = network.openflow_tester(1).expect("a tester").machine().report();
    assert_eq!((report.standing, report.errors), (Standing::Done, 0));
    assert!(report.sent > 0 && report.received == report.sent);
}

#[test]
fn a_switch_that_resets_comes_back() {
    let mut small = described(json!({"test": "packet-out", "rate": "100 Mbit/s", "size": 1000}));
    small["nodes"]["s1"]["profile"] = profile(json!({"packet_out": "1 s", "reset_bytes": 10_000}));
    let mut network = Testbed::new(&file(small)).expect("a network");
    network.run_until(Time(15 * S)).expect("a run");
    let report = network.openflow_tester(1).expect("a tester").machine().report();
    assert_eq!((report.standing, report.resets), (Standing::Reset, 1));
    let switch = network.world().device::<ManagedSwitch>(NodeId(0)).expect("a switch");
    assert_eq!(switch.resets(), 1);
    let versions: Vec<_> = switch.switch().connections().map(|one| one.version).collect();
    assert_eq!(versions, [Some(Version::V1_0)]);
}

#[test]
fn ports_and_controllers_that_do_not_fit_are_refused() {
    let cases = [
        (json!({"to_port": 7}), "to_port=7"),
        (json!({"to_port": 1}), "to_port=1"),
        (json!({"listen": 7000}), "10.9.0.2:7000"),
    ];
    for (test, sentence) in cases {
        let refused = Testbed::new(&file(described(test))).err().expect("a problem");
        assert!(refused.to_string().contains(sentence), "{refused}");
    }
    let mut own = described(json!({}));
    own["nodes"]["s1"]["controllers"] = json!(["tcp:10.9.0.1:6633"]);
    let refused = Testbed::new(&file(own)).err().expect("a problem");
    assert!(refused.to_string().contains("10.9.0.2:6633"), "{refused}");
}

#[test]
fn a_profile_without_a_management_port_is_refused() {
    let mut alone = described(json!({}));
    alone["nodes"]["s1"]["profile"] = profile(json!({}));
    alone["nodes"].as_object_mut().expect("nodes").remove("t");
    alone["links"] = json!([]);
    let refused = Testbed::new(&file(alone)).err().expect("a problem");
    assert!(refused.to_string().contains("a link with addresses"), "{refused}");
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

/// Entries last a second each time. A stream of one packet every 5.3 ms finds the last one until then, and not after.
#[test]
fn entries_go_when_they_said_they_would() {
    for version in ["1.0", "1.3"] {
        let mut described = described(json!({"test": "flow-expiry", "version": version, "rate": "1 Gbit/s",
            "size": 700, "flows": 20, "wait": "1 s", "timeout": 1, "duration": "9 s"}));
        described["nodes"]["s1"]["version"] = json!(version);
        let mut network = Testbed::new(&file(described)).expect("a network");
        network.run_until(Time(10 * S)).expect("a run");
        let report = network.openflow_tester(1).expect("a tester").machine().report();
        assert_eq!((report.standing, report.errors), (Standing::Done, 0), "{version}");
        // Each takes a second of rest, one of life, and one in which packets are looked for.
        assert_eq!(report.rounds.len(), 3, "{version}");
        for round in &report.rounds[..2] {
            let (removed, at) = round.removed.expect("the switch has said that entries are gone");
            let passed = round.passed.expect("packets have passed");
            assert_eq!(removed, 20, "{version}");
            assert!((Span::from_ms(1000)..Span::from_ms(1001)).contains(&at), "{version}: {at:?}");
            assert!((Span::from_ms(994)..Span::from_ms(1001)).contains(&passed), "{version}: {passed:?}");
        }
        // Packets that found no entry left nowhere, and counted nowhere as late.
        assert!(report.received < report.sent && report.late == 0, "{version}");
    }
}

/// Our switch counts a packet as it passes: no counter is behind, and an answer takes the way there and back.
#[test]
fn counters_are_read_while_packets_pass() {
    for version in ["1.0", "1.3"] {
        let mut described = described(json!({"test": "statistics", "version": version, "rate": "100 Mbit/s",
            "size": 700, "every": 100}));
        described["nodes"]["s1"]["version"] = json!(version);
        let mut network = Testbed::new(&file(described)).expect("a network");
        network.run_until(Time(4 * S)).expect("a run");
        let report = network.openflow_tester(1).expect("a tester").machine().report();
        assert_eq!((report.standing, report.errors, report.late), (Standing::Done, 0, 0), "{version}");
        assert_eq!((report.received, report.behind), (report.sent, Some(0)), "{version}");
        assert_eq!(report.delays.len() as u64, report.sent, "{version}: each question is answered");
        assert!(
            report.delays.iter().all(|delay| *delay > Span::ZERO && *delay < Span::from_us(30)),
            "{version}"
        );
    }
}
