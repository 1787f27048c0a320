//! Routes that follow failures: `routes: shortest` of a network, under both clocks.

use crate::common::named::{network, read};
use crate::common::{MS, S, column, conserved, sum};
use base::random::Stream;
use base::{LinkId, NodeId, Span, Streams, Time};
use engine::external::{ExternalPort, ExternalSpec, PortError};
use engine::{Fault, FaultKind};
use network::Placement;
use rand::RngExt;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use twinplane_tester::Testbed;

const DETECTION: u64 = 50 * MS;
const COMPUTATION: u64 = 200 * MS;

/// Two hosts, and between their routers a short way by `b` and a long one by `c`. A packet each millisecond.
fn two_ways(routes: Option<Value>) -> Value {
    let host = |n: u32| json!({"kind": "host", "address": format!("10.{n}.0.2/24")});
    let router = json!({"kind": "router"});
    let link =
        |a: &str, b: &str, metric: u32| json!({"endpoints": [a, b], "rate": "1 Gbit/s", "metric": metric});
    let mut described = json!({
        "name": "ways",
        "nodes": {"h1": host(1), "a": router, "b": router, "c": router, "d": router, "h2": host(2)},
        "links": [link("h1", "a", 1), link("a", "b", 1), link("b", "d", 1), link("a", "c", 5), link("c", "d", 5),
            link("d", "h2", 1)],
        "flows": [{"name": "f", "from": "h1", "to": "h2", "rate": "4 Mbit/s", "size": 500}],
    });
    if let Some(routes) = routes {
        described["routes"] = routes;
    }
    described
}

fn down(link: u32) -> FaultKind {
    FaultKind::LinkDown { link: LinkId(link) }
}

fn numbers(network: &mut Testbed, table: &str, name: &str) -> Vec<u64> {
    let table = network.table_json(table, None).expect("a table");
    column(&table, name).iter().filter_map(Value::as_u64).collect()
}

/// Packets of all flows that were lost.
fn lost(network: &mut Testbed) -> u64 {
    let table = network.table_json("flow_accounts", None).expect("a table");
    assert!(column(&table, "unknown").iter().all(|unknown| *unknown == 0), "{table}");
    sum(&table, "lost")
}

#[test]
fn traffic_is_lost_until_routes_are_computed_and_moves_back_when_the_link_is_whole() {
    let mut network = network(&two_ways(Some(json!("shortest"))));
    network.fault(Fault::new(Time(S), down(1)).until(Time(3 * S))).expect("a fault");
    let delay = DETECTION + COMPUTATION;
    network.run_until(Time(S + delay - MS)).expect("a run");
    assert_eq!(numbers(&mut network, "computed_routes", "time_ps"), [0u64; 0]);
    network.run_until(Time(2 * S)).expect("a run");
    let gone = lost(&mut network);
    assert!((249..=252).contains(&gone), "{gone}");
    // All three of a, b and d go another way to something.
    assert_eq!(numbers(&mut network, "computed_routes", "time_ps"), [S + delay]);
    assert_eq!(numbers(&mut network, "computed_routes", "avoided"), [1]);
    let by_c = |network: &mut Testbed| {
        let ports = network.table_json("ports", None).expect("a table");
        let row =
            column(&ports, "from").iter().zip(column(&ports, "to")).position(|(a, b)| a == "a" && b == "c");
        column(&ports, "sent_frames")[row.expect("a port")].as_u64().expect("a number")
    };
    assert!(by_c(&mut network) > 700);
    network.run_until(Time(3 * S + delay + 10 * MS)).expect("a run");
    let before = by_c(&mut network);
    network.run_until(Time(4 * S)).expect("a run");
    assert_eq!(by_c(&mut network), before, "it moved back");
    assert_eq!(lost(&mut network), gone, "and lost nothing");
    assert_eq!(numbers(&mut network, "computed_routes", "time_ps"), [S + delay, 3 * S + delay]);
    let [set, removed] = ["set", "removed"].map(|name| numbers(&mut network, "computed_routes", name));
    assert!(set[0] > 0 && set[0] == set[1] && removed == [0, 0], "{set:?} {removed:?}");
    conserved(&mut network).expect("all frames");
}

#[test]
fn without_the_key_it_stays_lost() {
    let mut network = network(&two_ways(None));
    network.fault(Fault::new(Time(S), down(1))).expect("a fault");
    network.run_until(Time(2 * S)).expect("a run");
    assert!(lost(&mut network) >= 999);
    assert_eq!(numbers(&mut network, "computed_routes", "time_ps"), [0u64; 0]);
}

#[test]
fn a_node_that_restarts_is_gone_round() {
    let routes = json!({"kind": "shortest", "detection": "10 ms", "computation": "10 ms"});
    let mut network = network(&two_ways(Some(routes)));
    let node = NodeId(1); // b, by name
    let kind = FaultKind::NodeRestart { node, down_for: Span::from_ms(500) };
    network.fault(Fault::new(Time(S), kind)).expect("a fault");
    network.run_until(Time(3 * S)).expect("a run");
    let gone = lost(&mut network);
    assert!((19..=30).contains(&gone), "{gone}");
    assert_eq!(numbers(&mut network, "computed_routes", "time_ps"), [S + 20 * MS, S + 520 * MS]);
    assert_eq!(numbers(&mut network, "computed_routes", "avoided"), [2, 0]);
}

#[test]
fn what_nothing_leads_to_has_no_route_until_something_does() {
    let mut network = network(&two_ways(Some(json!("shortest"))));
    for link in [1, 3] {
        network.fault(Fault::new(Time(S), down(link))).expect("a fault");
    }
    network.run_until(Time(2 * S)).expect("a run");
    let reasons = network.table_json("losses", None).expect("a table");
    assert!(column(&reasons, "reason").iter().any(|reason| reason == "no-route"), "{reasons}");
    network.heal_all().expect("a fault");
    network.run_until(Time(3 * S)).expect("a run");
    let gone = lost(&mut network);
    assert!((1249..=1252).contains(&gone), "{gone}");
    let removed = numbers(&mut network, "computed_routes", "removed");
    assert!(removed[0] > 0 && removed[1] == 0, "{removed:?}");
}

#[test]
fn a_link_that_only_flickers_changes_no_route() {
    let mut network = network(&two_ways(Some(json!("shortest"))));
    network.fault(Fault::new(Time(S), down(1)).until(Time(S + 20 * MS))).expect("a fault");
    network.run_until(Time(2 * S)).expect("a run");
    assert_eq!(numbers(&mut network, "computed_routes", "time_ps"), [0u64; 0]);
    let gone = lost(&mut network);
    assert!((19..=22).contains(&gone), "{gone}");
}

#[test]
fn static_routes_of_the_description_stay() {
    let mut described = two_ways(Some(json!("shortest")));
    described["nodes"]["a"]["routes"] = json!([{"prefix": "10.2.0.0/24", "via": "b"}]);
    let mut network = network(&described);
    network.fault(Fault::new(Time(S), down(1))).expect("a fault");
    network.run_until(Time(2 * S)).expect("a run");
    assert!(lost(&mut network) >= 999);
    assert!(numbers(&mut network, "computed_routes", "set")[0] > 0);
}

#[test]
fn ipv6_follows_too() {
    let mut described = two_ways(Some(json!("shortest")));
    for (index, link) in described["links"].as_array_mut().expect("links").iter_mut().enumerate() {
        link["ipv6"] = json!([format!("2001:db8:{index}::1/64"), format!("2001:db8:{index}::2/64")]);
    }
    described["flows"][0]["family"] = json!("ipv6");
    let mut network = network(&described);
    network.fault(Fault::new(Time(S), down(1))).expect("a fault");
    network.run_until(Time(2 * S)).expect("a run");
    let gone = lost(&mut network);
    assert!((249..=252).contains(&gone), "{gone}");
}

/// Routers with random links between them, hosts at two of them, and random failures.
fn random(seed: u64) -> (Value, Vec<Fault>) {
    let mut random = Streams::new(seed).stream("rerouting");
    let pick = |random: &mut Stream, least: u32, most: u32| random.random_range(least..=most);
    let count = pick(&mut random, 3, 8);
    let mut nodes = serde_json::Map::new();
    for node in 0..count {
        nodes.insert(format!("r{node}"), json!({"kind": "router"}));
    }
    let mut links = Vec::new();
    for node in 1..count {
        links.push((node, pick(&mut random, 0, node - 1)));
    }
    for _ in 0..pick(&mut random, 0, count) {
        let (a, b) = (pick(&mut random, 0, count - 1), pick(&mut random, 0, count - 1));
        if a != b {
            links.push((a, b));
        }
    }
    let links: Vec<Value> = links
        .into_iter()
        .map(|(a, b)| {
            let metric = pick(&mut random, 1, 3);
            json!({"endpoints": [format!("r{a}"), format!("r{b}")], "metric": metric, "rate": "100 Mbit/s",
                "delay": format!("{} us", pick(&mut random, 1, 900))})
        })
        .collect();
    let flows: Vec<Value> = (0..3)
        .filter_map(|n| {
            let (from, to) = (pick(&mut random, 0, count - 1), pick(&mut random, 0, count - 1));
            (from != to).then(|| {
                json!({"name": format!("f{n}"), "from": format!("r{from}"), "to": format!("r{to}"),
                    "rate": "2 Mbit/s", "arrivals": "poisson", "stop": "900 ms"})
            })
        })
        .collect();
    let faults = (0..pick(&mut random, 1, 6)).map(|_| {
        let at = Time(u64::from(pick(&mut random, 10, 700)) * MS);
        let length = Span::from_ms(i64::from(pick(&mut random, 1, 300)));
        if random.random_bool(0.3) {
            let node = NodeId(pick(&mut random, 0, count - 1));
            Fault::new(at, FaultKind::NodeRestart { node, down_for: length })
        } else {
            let fault = Fault::new(at, down(pick(&mut random, 0, links.len() as u32 - 1)));
            if random.random_bool(0.5) { fault.until(at + length) } else { fault }
        }
    });
    let faults = faults.collect();
    let described = json!({"name": "random", "seed": seed, "nodes": nodes, "links": links, "flows": flows,
        "routes": {"kind": "shortest", "detection": "5 ms", "computation": "20 ms"}});
    (described, faults)
}

/// Static routes of every router, by node and prefix.
fn routes(network: &mut Testbed) -> BTreeMap<String, Value> {
    let table = network.table_json("rib", None).expect("a table");
    let [node, prefix, source, hops] =
        ["node", "prefix", "source", "next_hops"].map(|name| column(&table, name));
    let rows = (0..node.len()).filter(|&row| source[row] == "static");
    rows.map(|row| (format!("{} {}", node[row], prefix[row]), hops[row].clone())).collect()
}

#[test]
fn random_failures_leave_the_routes_of_what_is_left() {
    for seed in testing::runs(60) {
        let (described, faults) = random(seed);
        let build = || {
            let mut network = network(&described);
            faults.iter().for_each(|fault| network.fault(fault.clone()).expect("a fault"));
            network
        };
        let mut whole = build();
        whole.run_until(Time(2 * S)).expect("a run");
        // Looking on the way, and asking for few events at a time, changes nothing.
        let mut sliced = build();
        let mut random = Streams::new(seed).stream("slices");
        while sliced.now() < Time(2 * S) {
            let next = Time((sliced.now().0 + random.random_range(1..90 * MS)).min(2 * S));
            while !sliced.run_some(next, random.random_range(1..500)).expect("a run") {}
            lost(&mut sliced);
        }
        assert_eq!(whole.world().digest(), sliced.world().digest(), "seed {seed}");
        conserved(&mut whole).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        lost(&mut whole);
        // A network in which what is down now was dear from the beginning has the same routes, but for those that
        // lead over what is down, which are none here.
        let down: Vec<usize> = (0..described["links"].as_array().map_or(0, Vec::len))
            .filter(|&link| !whole.world().link_is_up(LinkId(link as u32)).expect("a link"))
            .collect();
        let mut dear = described.clone();
        for link in &down {
            dear["links"][*link]["metric"] = json!(60_000);
        }
        let (found, expected) = (routes(&mut whole), routes(&mut network(&dear)));
        let tree = |node: usize| whole.graph().tree_over(node, |link| !down.contains(&link));
        let trees: Vec<_> = (0..whole.description().nodes.len()).map(tree).collect();
        let parts_of = |tree: &network::paths::Tree| {
            (0..trees.len()).filter(|&to| tree.first_link(to).is_some()).count()
        };
        let cut = trees.iter().any(|tree| parts_of(tree) + 1 < trees.len());
        if cut {
            assert!(found.len() < expected.len(), "seed {seed}");
            let same = found.iter().filter(|(key, _)| !expected.contains_key(*key)).count();
            assert_eq!(same, 0, "seed {seed}");
        } else {
            assert_eq!(found, expected, "seed {seed}");
        }
    }
}

#[test]
fn the_same_happens_by_the_clock_on_the_wall() {
    let placement: Placement = serde_json::from_value(json!({})).expect("a placement");
    let mut none = |_: &ExternalSpec| -> Result<Box<dyn ExternalPort>, PortError> {
        panic!("all of it is in this process")
    };
    let file = read(&two_ways(Some(json!("shortest")))).expect("a description");
    let mut network = Testbed::placed_with(&file, placement, &mut none).expect("a network");
    network.run_until(Time(20 * MS)).expect("a run");
    network.set_link(1, false).expect("a fault");
    for _ in 0..1_000 {
        let next = network.now() + Span::from_ms(20);
        network.run_until(next).expect("a run");
        if !numbers(&mut network, "computed_routes", "time_ps").is_empty() {
            let before = numbers(&mut network, "flow_accounts", "received")[0];
            let next = network.now() + Span::from_ms(200);
            network.run_until(next).expect("a run");
            assert!(numbers(&mut network, "flow_accounts", "received")[0] > before);
            return;
        }
    }
    panic!("no route was computed in 20 seconds");
}

#[test]
fn what_can_not_be_is_refused_where_it_is_written() {
    let unknown = read(&two_ways(Some(json!("shortets")))).expect_err("a refusal");
    assert!(unknown.contains("routes") && unknown.contains("shortest"), "{unknown}");
    let negative = json!({"kind": "shortest", "detection": "-1 ms"});
    let refused = read(&two_ways(Some(negative))).expect_err("a refusal");
    assert!(refused.contains("detection"), "{refused}");
    // A lab has a process for each router.
    let planned = Testbed::planned(&read(&two_ways(Some(json!("shortest")))).expect("a description"));
    let refused = planned.err().expect("a refusal").to_string();
    assert!(refused.contains("'a' is in a process of its own"), "{refused}");
}
