//! Constrained paths in whole networks: LSPs without a route whose head ends know of traffic engineering by OSPF.

use crate::common::{S, column, conserved, sum};
use base::{LinkId, Time};
use control::rsvp::Rsvp;
use engine::{Fault, FaultKind};
use serde_json::{Value, json};
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

/// From `a` to `d` by `b`, by `c`, or the long way by `e` and `f`; all links carry 1 Gbit/s.
fn three_ways(lsps: &Value, flows: &Value) -> Value {
    let ospf = json!({"hello_interval": "1 s", "dead_interval": "4 s", "te": true});
    let router = json!({"kind": "router", "ospf": ospf});
    let link = |a: &str, b: &str, metric: u32| json!({"endpoints": [a, b], "rate": "1 Gbit/s", "delay": "100 us", "metric": metric});
    json!({
        "name": "ways",
        "nodes": {"a": router, "b": router, "c": router, "d": router, "e": router, "f": router},
        "links": [link("a", "b", 1), link("b", "d", 1), link("a", "c", 2), link("c", "d", 2), link("a", "e", 3),
            link("e", "f", 3), link("f", "d", 3)],
        "lsps": lsps,
        "flows": flows,
    })
}

fn network(lsps: &Value, flows: &Value) -> Testbed {
    let value = serde_json::from_value(three_ways(lsps, flows)).expect("a value");
    Testbed::new(&NetworkFile::read_part(&value).expect("a description")).expect("a network")
}

/// The routers that have reserved something for an LSP, and the last one: `abd` and the like.
fn way(network: &Testbed, lsp: &str) -> String {
    let holds = |node: usize| {
        let rsvp = network.protocol::<Rsvp>(node).expect("RSVP-TE");
        rsvp.lsps().any(|one| one.name == lsp && one.reserved.0 > 0)
    };
    let held = ["a", "b", "c", "d", "e", "f"].into_iter().enumerate().filter(|(node, _)| holds(*node));
    held.map(|(_, name)| name).collect::<String>() + "d"
}

fn told(network: &Testbed, event: &str) -> Vec<Value> {
    let all =
        network.world().events().iter().map(|record| serde_json::to_value(&record.event).expect("an event"));
    all.filter(|value| value["event"] == event).collect()
}

fn lost(network: &mut Testbed) -> u64 {
    let table = network.table_json("flow_accounts", None).expect("a table");
    assert!(column(&table, "unknown").iter().all(|unknown| *unknown == 0), "{table}");
    sum(&table, "lost")
}

fn lsp(name: &str, mbps: u64, more: &Value) -> Value {
    let mut lsp = json!({"name": name, "from": "a", "to": "d", "bandwidth": format!("{mbps} Mbit/s")});
    for (key, value) in more.as_object().expect("fields") {
        lsp[key] = value.clone();
    }
    lsp
}

#[test]
fn each_lsp_goes_where_its_bandwidth_is() {
    let lsps = json!([
        lsp("one", 600, &json!({})),
        lsp("two", 600, &json!({})),
        lsp("three", 600, &json!({})),
        lsp("four", 300, &json!({"path": {"hop_limit": 2}})),
        lsp("five", 500, &json!({"path": {}}))
    ]);
    let mut network = network(&lsps, &json!([]));
    network.run_until(Time(60 * S)).expect("a run");
    let mut ways = ["one", "two", "three"].map(|name| way(&network, name));
    ways.sort_unstable();
    assert_eq!(ways, ["abd", "acd", "aefd"]);
    assert!(["abd", "acd"].contains(&&*way(&network, "four")));
    // There is no room for the last one, and it says why.
    assert_eq!(way(&network, "five"), "d");
    let why = told(&network, "lsp-no-path").pop().expect("a reason");
    assert_eq!(why["reason"], "no path with 500 Mbit/s at priority 7: 3 links lack bandwidth");
}

#[test]
fn a_failed_lsp_finds_another_way_and_comes_back_without_loss() {
    for path in [json!({"reoptimise": "20 s"}), json!({"follow": true})] {
        let lsps = json!([lsp("one", 600, &json!({"path": path}))]);
        let flow = json!([{"name": "f", "from": "a", "to": "d", "over": "one", "rate": "4 Mbit/s", "size": 500, "start": "30 s"}]);
        let mut network = network(&lsps, &flow);
        let fault = Fault::new(Time(40 * S), FaultKind::LinkDown { link: LinkId(1) }).until(Time(60 * S));
        network.fault(fault).expect("a fault");
        network.run_until(Time(39 * S)).expect("a run");
        assert_eq!((way(&network, "one"), lost(&mut network)), ("abd".into(), 0));
        network.run_until(Time(45 * S)).expect("a run");
        let gone = lost(&mut network);
        assert_eq!(way(&network, "one"), "acd");
        // An error on its way back by one link, and a new LSP by two: a packet each millisecond is lost.
        assert!((1..=5).contains(&gone), "{gone}");
        network.run_until(Time(120 * S)).expect("a run");
        assert_eq!((way(&network, "one"), lost(&mut network)), ("abd".into(), gone), "make before break");
        assert_eq!(told(&network, "lsp-rerouted").len(), 1);
        conserved(&mut network).expect("closed accounts");
    }
}

#[test]
fn who_is_preempted_goes_another_way() {
    let strong =
        json!({"setup_priority": 2, "holding_priority": 2, "signal": false, "path": {"exclude": ["c", "e"]}});
    let lsps = json!([lsp("weak", 600, &json!({})), lsp("strong", 600, &strong)]);
    let mut network = network(&lsps, &json!([]));
    network.run_until(Time(40 * S)).expect("a run");
    assert_eq!(way(&network, "weak"), "abd");
    network.lsp_command(1, "signal", None).expect("a command");
    network.run_until(Time(50 * S)).expect("a run");
    assert_eq!((way(&network, "strong"), way(&network, "weak")), ("abd".into(), "acd".into()));
}

#[test]
fn a_loose_route_is_filled_in_on_the_way() {
    let loose = json!({"route": ["f"], "loose": true});
    let lsps = json!([lsp("one", 100, &loose)]);
    let mut network = network(&lsps, &json!([]));
    network.run_until(Time(40 * S)).expect("a run");
    assert_eq!(way(&network, "one"), "aefd");
}
