//! OSPF in whole networks: the words that users have for it, what follows from failures, and what warnings say.

use crate::common::named::{network, read};
use crate::common::{MS, S, column, conserved, sum};
use base::{LinkId, NodeId, Span, Time};
use control::ospf;
use engine::external::{ExternalPort, ExternalSpec, PortError};
use engine::{Direction, Fault, FaultKind};
use network::Placement;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use twinplane_tester::Testbed;

/// A flow begins when routes are there: two Hellos, and an advertisement at most every 5 s (RFC 2328, B).
const BEGIN: u64 = 10 * S;

/// Two hosts, and between their routers a short way by `b` and a long one by `c`. A packet each millisecond.
fn two_ways(ospf: &Value) -> Value {
    let host = |n: u32| json!({"kind": "host", "address": format!("10.{n}.0.2/24")});
    let router = json!({"kind": "router", "ospf": ospf});
    let link =
        |a: &str, b: &str, metric: u32| json!({"endpoints": [a, b], "rate": "1 Gbit/s", "metric": metric});
    json!({
        "name": "ways",
        "nodes": {"h1": host(1), "a": router, "b": router, "c": router, "d": router, "h2": host(2)},
        "links": [link("h1", "a", 1), link("a", "b", 1), link("b", "d", 1), link("a", "c", 5), link("c", "d", 5),
            link("d", "h2", 1)],
        "flows": [{"name": "f", "from": "h1", "to": "h2", "rate": "4 Mbit/s", "size": 500, "start": "10 s"}],
    })
}

fn quick() -> Value {
    json!({"hello_interval": "1 s", "dead_interval": "4 s"})
}

fn numbers(network: &mut Testbed, table: &str, name: &str) -> Vec<u64> {
    let table = network.table_json(table, None).expect("a table");
    column(&table, name).iter().filter_map(Value::as_u64).collect()
}

fn count(network: &mut Testbed, table: &str, name: &str, word: &str) -> usize {
    let table = network.table_json(table, None).expect("a table");
    column(&table, name).iter().filter(|value| **value == word).count()
}

/// Packets of all flows that were lost, each accounted for.
fn lost(network: &mut Testbed) -> u64 {
    let table = network.table_json("flow_accounts", None).expect("a table");
    assert!(column(&table, "unknown").iter().all(|unknown| *unknown == 0), "{table}");
    sum(&table, "lost")
}

fn warnings(described: &Value) -> Vec<String> {
    network(described).warnings().iter().map(network::error::sentence).collect()
}

#[test]
fn routes_are_those_of_ospf_and_follow_a_link_that_goes_down() {
    let mut network = network(&two_ways(&quick()));
    network.run_until(Time(BEGIN)).expect("a run");
    assert_eq!(count(&mut network, "ospf_neighbors", "state", "full"), 8, "two at each of four links");
    let sums = numbers(&mut network, "ospf", "checksum");
    assert!(sums.len() == 4 && sums.windows(2).all(|pair| pair[0] == pair[1]), "{sums:?}");
    // None by shortest paths: those that there are lead test packets of LSPs to the port beside.
    let rib = network.table_json("rib", None).expect("a table");
    let sources = column(&rib, "source").into_iter().zip(column(&rib, "prefix"));
    let test = |prefix: &Value| prefix.as_str().is_some_and(|prefix| prefix.starts_with("198.18."));
    assert!(!sources.into_iter().any(|(source, prefix)| source == "static" && !test(&prefix)), "{rib}");
    // Nothing is said to hosts and to what measures.
    let passive = network.table_json("ospf_interfaces", None).expect("a table");
    let quiet = column(&passive, "passive").iter().filter(|value| **value == true).count();
    assert_eq!(quiet, 4 + 2, "a port beside each router, and one towards each host");
    // The link is down when all has been quiet for long: the first computation comes after 50 ms (RFC 8405, 6).
    let at = Time(25 * S);
    network
        .fault(Fault::new(at, FaultKind::LinkDown { link: LinkId(1) }).until(Time(40 * S)))
        .expect("a fault");
    network.run_until(Time(30 * S)).expect("a run");
    let gone = lost(&mut network);
    assert!((50..=53).contains(&gone), "SPF after 50 ms, at a and at d alike: {gone}");
    // It comes back: Hellos both ways, the exchange, and no packet is lost.
    network.run_until(Time(55 * S)).expect("a run");
    assert_eq!(count(&mut network, "ospf_neighbors", "state", "full"), 8);
    assert_eq!(lost(&mut network), gone);
    conserved(&mut network).expect("closed accounts");
}

#[test]
fn a_silent_failure_is_found_after_the_dead_interval() {
    let mut network = network(&two_ways(&quick()));
    // Everything is lost, both ways, and the ports stay up.
    let kind = FaultKind::Loss { link: LinkId(1), direction: Direction::Both, probability: 1.0 };
    network.fault(Fault::new(Time(25 * S + 300 * MS), kind)).expect("a fault");
    network.run_until(Time(40 * S)).expect("a run");
    let gone = lost(&mut network);
    // The last Hello came at 25 s: 4 s later a computes in 50 ms.
    assert!((3_700 + 50..=3_700 + 55).contains(&gone), "{gone}");
}

#[test]
fn lsps_are_signalled_over_the_routes_of_ospf_and_routers_without_it_are_reached() {
    let mut described = two_ways(&quick());
    described["nodes"]["e"] = json!({"kind": "router"});
    let links = described["links"].as_array_mut().expect("links");
    links.push(json!({"endpoints": ["d", "e"], "rate": "1 Gbit/s"}));
    described["lsps"] = json!([
        {"name": "east", "from": "a", "to": "d"},
        {"name": "beyond", "from": "a", "to": "e"},
    ]);
    described["flows"] = json!([
        {"name": "on", "from": "a", "to": "d", "over": "east", "rate": "1 Mbit/s", "start": "50 s"},
        {"name": "back", "from": "e", "to": "a", "rate": "1 Mbit/s", "start": "50 s"},
    ]);
    let mut network = network(&described);
    network.run_until(Time(51 * S)).expect("a run");
    assert_eq!(lost(&mut network), 0);
    assert!(numbers(&mut network, "flow_accounts", "received").iter().all(|received| *received > 200));
    conserved(&mut network).expect("closed accounts");
}

#[test]
fn what_is_reserved_is_known_to_all_by_traffic_engineering() {
    let mut usual = quick();
    usual["te"] = json!(true);
    let mut described = two_ways(&usual);
    described["lsps"] = json!([{"name": "east", "from": "a", "to": "d", "bandwidth": "400 Mbit/s"}]);
    let mut network = network(&described);
    network.run_until(Time(50 * S)).expect("a run");
    let table = network.table_json("ospf_te_links", None).expect("a table");
    // Four links of two directions, at four routers; the LSP takes two of them, whoever is asked.
    let left = column(&table, "unreserved");
    let is_taken = |all: &&Value| all[0] == 1_000_000_000u64 && all[7] == 600_000_000u64;
    assert_eq!((left.len(), left.iter().filter(is_taken).count()), (32, 8), "{table}");
    let mut addresses = column(&table, "router_address");
    addresses.retain(|address| !address.is_null());
    assert_eq!(addresses.len(), 32);
}

#[test]
fn a_segment_elects_and_a_router_comes_back() {
    let router = json!({"kind": "router", "ospf": quick()});
    let link = |node: &str| json!({"endpoints": ["lan", node], "rate": "1 Gbit/s", "delay": "10 us"});
    let described = json!({
        "name": "lan",
        "nodes": {"lan": {"kind": "bridge", "prefix": "10.9.0.0/24"}, "a": router, "b": router, "c": router},
        "links": [link("a"), link("b"), link("c")],
    });
    let mut network = network(&described);
    network.run_until(Time(15 * S)).expect("a run");
    for (state, routers) in [("dr", 1), ("backup", 1), ("dr-other", 1)] {
        assert_eq!(count(&mut network, "ospf_interfaces", "state", state), routers, "{state}");
    }
    assert_eq!(count(&mut network, "ospf_neighbors", "state", "full"), 6);
    assert_eq!(count(&mut network, "ospf_database", "type", "network"), 3);
    let kind = FaultKind::NodeRestart { node: NodeId(2), down_for: Span::from_secs(2) };
    network.fault(Fault::new(Time(16 * S), kind)).expect("a fault");
    network.run_until(Time(45 * S)).expect("a run");
    assert_eq!(count(&mut network, "ospf_neighbors", "state", "full"), 6);
    let sums = numbers(&mut network, "ospf", "checksum");
    assert!(sums.windows(2).all(|pair| pair[0] == pair[1]), "{sums:?}");
}

#[test]
fn the_same_happens_by_the_clock_on_the_wall() {
    let router = json!({"kind": "router", "ospf": {"hello_interval": "1 s", "spf": {"initial": "1 ms"}}});
    let described = json!({
        "name": "wall",
        "nodes": {"a": router, "b": router},
        "links": [{"endpoints": ["a", "b"], "rate": "1 Gbit/s", "delay": "10 us"}],
    });
    let placement: Placement = serde_json::from_value(json!({})).expect("a placement");
    let mut none = |_: &ExternalSpec| -> Result<Box<dyn ExternalPort>, PortError> {
        panic!("all of it is in this process")
    };
    let file = read(&described).expect("a description");
    let mut network = Testbed::placed_with(&file, placement, &mut none).expect("a network");
    for _ in 0..3_000 {
        let next = network.now() + Span::from_ms(20);
        network.run_until(next).expect("a run");
        if count(&mut network, "ospf_neighbors", "state", "full") == 2 {
            return;
        }
    }
    panic!("no adjacency in a minute");
}

#[test]
fn what_keeps_neighbours_apart_is_said_before_the_run() {
    let mut described = two_ways(&json!(true));
    described["events"] = json!([{"at": "30 s", "fail": ["a", "b"]}]);
    assert_eq!(warnings(&described), [""; 0], "routes follow failures");
    let with = |node: &str, ospf: Value| {
        let mut described = two_ways(&json!(true));
        described["nodes"][node]["ospf"] = ospf;
        warnings(&described)
    };
    let said = with("b", json!({"dead_interval": "20 s"}));
    assert!(
        said.len() == 2 && said[0].contains("the dead interval is 40 s at 'a' and 20 s at 'b'"),
        "{said:#?}"
    );
    let slow = ["the hello interval is 10 s at 'a' and 5 s at 'b'", "dead interval is 40 s at 'a' and 20 s"];
    let said = with("b", json!({"hello_interval": "5 s"}));
    assert!(
        said.len() == 4 && slow.iter().all(|word| said.iter().any(|one| one.contains(word))),
        "{said:#?}"
    );
    let said = with("b", json!({"area": 1}));
    assert!(
        said[0].contains("link a - b") && said[0].contains("the area is 0.0.0.0 at 'a' and 0.0.0.1 at 'b'")
    );
    let said = with("b", json!({"authentication": {"kind": "md5", "key": "x"}}));
    assert!(said[0].contains("the authentication is none at 'a' and md5 with key 1 at 'b'"), "{said:#?}");
    let said = with("b", json!({"passive": true}));
    assert!(said.len() == 2 && said[0].contains("'b' is passive here and 'a' is not"), "{said:#?}");
    // Numbers that two have.
    let mut described = two_ways(&json!(true));
    described["nodes"]["b"]["ospf"] = json!({"router_id": "192.0.2.1"});
    described["nodes"]["c"]["ospf"] = json!({"router_id": "192.0.2.1"});
    let said = warnings(&described);
    assert!(said.len() == 1 && said[0].contains("'b' has its router id 192.0.2.1, too"), "{said:#?}");
    // Secrets differ, and are not shown.
    let key = |key: &str| json!({"authentication": {"kind": "sha256", "key": key}});
    let mut described = two_ways(&key("right"));
    described["nodes"]["b"]["ospf"] = key("wrong");
    let said = warnings(&described);
    assert!(said[0].contains("'a' and 'b' do not have the same secret of the key"), "{said:#?}");
    assert!(!said.concat().contains("wrong"));
    // RFC 8405, 3: quiet may not begin before all of one failure is known.
    let spf = json!({"spf": {"learn": "2 s", "hold_down": "2 s"}});
    let refused = read(&two_ways(&spf)).expect_err("a network that is refused");
    assert!(refused.contains("hold_down=2 s has to be above learn=2 s"), "{refused}");
    // Both ways are broken by a router that does not speak it.
    let mut described = two_ways(&json!(true));
    for node in ["b", "c"] {
        described["nodes"][node] = json!({"kind": "router"});
    }
    let said = warnings(&described);
    assert!(said.len() == 1 && said[0].contains("nothing joins 'a' and 'd'"), "{said:#?}");
}

#[test]
fn settings_are_checked_where_they_are_written() {
    let refused = |ospf: Value| read(&two_ways(&ospf)).map(|_| ()).expect_err("a refusal");
    for (ospf, words) in [
        (json!(3), "true, or a mapping"),
        (json!({"area": "x"}), "the number of an area such as 0 or 0.0.0.1"),
        (json!({"hello": "1 s"}), "hello_interval"),
        (json!({"hello_interval": "1500 ms"}), "OSPF counts it in whole seconds"),
        (json!({"dead_interval": "5 s"}), "dead_interval=5 s has to be above hello_interval=10 s"),
        (json!({"authentication": {"kind": "md5"}}), "kind=md5: a 'key' is missing"),
        (json!({"authentication": {"kind": "simple", "key": "123456789"}}), "9 bytes"),
        (json!({"authentication": {"kind": "none", "key": "x"}}), "uses no key"),
        (json!({"network": "nbma"}), "point-to-point"),
        (json!({"cost": 0}), "1 to 65535"),
    ] {
        let said = refused(ospf.clone());
        assert!(said.contains(words), "{ospf}: {said}");
    }
    // Nobody is there for whom something is said.
    let mut described = two_ways(&json!(true));
    described["nodes"]["a"]["ospf"] = json!({"interfaces": {"x": {"cost": 3}}});
    let read = read(&described).expect("well formed");
    let error = Testbed::new(&read).map(|_| ()).expect_err("a refusal").to_string();
    assert!(error.contains("no link leads to 'x': its links lead to h1, b or c"), "{error}");
}

#[test]
fn links_cost_what_is_said() {
    let mut described = two_ways(&json!(true));
    described["nodes"]["a"]["ospf"] = json!({"reference_bandwidth": "100 Gbit/s", "interfaces": {"b": {"cost": 7}, "h1": {"passive": false}}});
    let mut network = network(&described);
    network.run_until(Time(S)).expect("a run");
    let table = network.table_json("ospf_interfaces", Some(0)).expect("a table");
    assert_eq!(
        column(&table, "towards"),
        json!(["h1", "b", "c", null]).as_array().expect("a list").as_slice()
    );
    assert_eq!(column(&table, "cost"), json!([100, 7, 100, 1]).as_array().expect("a list").as_slice());
    assert_eq!(
        column(&table, "passive"),
        json!([false, false, false, true]).as_array().expect("one").as_slice()
    );
}

#[test]
fn nothing_goes_through_a_stub_router_and_flows_share_ways_that_are_as_good() {
    let mut described = two_ways(&quick());
    let mut stub = quick();
    stub["stub_router"] = json!(true);
    described["nodes"]["b"]["ospf"] = stub;
    described["flows"] = json!([{"name": "f", "from": "h1", "to": "h2", "rate": "1 Mbit/s", "start": "10 s"},
        {"name": "to b", "from": "h1", "to": "b", "rate": "1 Mbit/s", "start": "10 s"}]);
    let mut one = network(&described);
    one.run_until(Time(12 * S)).expect("a run");
    assert_eq!(lost(&mut one), 0, "the router itself is reached");
    let routes = one.table_json("ospf_routes", Some(0)).expect("a table");
    let hops = |prefix: &str| {
        let all = column(&routes, "prefix");
        let place = all.iter().position(|one| *one == prefix).expect("a route");
        column(&routes, "ports")[place].clone()
    };
    assert_eq!(hops("10.2.0.0/24"), json!([2]), "by c, though that costs more");
    // Two ways that cost the same: many flows go by both.
    let mut described = two_ways(&quick());
    for link in described["links"].as_array_mut().expect("links") {
        link["metric"] = json!(1);
    }
    let flow = |n: u32| json!({"name": format!("f{n}"), "from": "h1", "to": "h2", "rate": "100 kbit/s", "start": "10 s"});
    described["flows"] = (0..16).map(flow).collect();
    let mut both = network(&described);
    both.run_until(Time(12 * S)).expect("a run");
    assert_eq!(lost(&mut both), 0);
    let ports = both.table_json("ports", None).expect("a table");
    let sent = |to: &str| {
        let rows =
            column(&ports, "from").into_iter().zip(column(&ports, "to")).zip(column(&ports, "sent_frames"));
        rows.filter(|((node, far), _)| node == "a" && far == to)
            .filter_map(|(_, sent)| sent.as_u64())
            .sum::<u64>()
    };
    assert!(sent("b") > 50 && sent("c") > 50, "{} {}", sent("b"), sent("c"));
}

/// Routers `a`, `b`, `c`, `d` in a row, with OSPF as given.
fn in_a_row(ospf: [Value; 4]) -> Value {
    let [a, b, c, d] = ospf.map(|ospf| json!({"kind": "router", "ospf": ospf}));
    let link = |a: &str, b: &str| json!({"endpoints": [a, b], "rate": "1 Gbit/s", "delay": "1 ms"});
    json!({
        "name": "row",
        "nodes": {"a": a, "b": b, "c": c, "d": d},
        "links": [link("a", "b"), link("b", "c"), link("c", "d")],
    })
}

fn in_area(area: u32, interfaces: &Value, kind: &str) -> Value {
    let areas = json!([{"area": 1, "kind": kind, "ranges": [{"prefix": "10.0.0.0/8", "advertise": false}]}]);
    json!({"hello_interval": "1 s", "area": area, "interfaces": interfaces, "areas": areas})
}

#[test]
fn packets_pass_a_stub_area_and_the_backbone() {
    let b = in_area(0, &json!({"a": {"area": 1}}), "stub");
    let (a, c) = (in_area(1, &json!({}), "stub"), in_area(0, &json!({"d": {"area": 2}}), "normal"));
    let mut described = in_a_row([a, b, c, in_area(2, &json!({}), "normal")]);
    described["flows"] = json!([
        {"name": "there", "from": "a", "to": "d", "rate": "1 Mbit/s", "start": "20 s"},
        {"name": "back", "from": "d", "to": "a", "rate": "1 Mbit/s", "start": "20 s"},
    ]);
    assert_eq!(warnings(&described), [""; 0]);
    let mut network = network(&described);
    network.run_until(Time(25 * S)).expect("a run");
    assert_eq!(lost(&mut network), 0);
    assert!(numbers(&mut network, "flow_accounts", "received").iter().all(|received| *received > 100));
    assert_eq!(count(&mut network, "ospf", "role", "border"), 4, "b and c, in two areas each");
    assert_eq!(count(&mut network, "ospf", "kind", "stub"), 2);
    for (word, least) in [("intra-area", 6), ("inter-area", 6)] {
        assert!(count(&mut network, "ospf_routes", "type", word) >= least, "{word}");
    }
    conserved(&mut network).expect("closed accounts");
}

#[test]
fn areas_that_do_not_join_are_named() {
    let usual = json!({});
    let of = |area: u32| in_area(area, &json!({}), "normal");
    let border =
        |own: u32, towards: &str, other: u32| in_area(own, &json!({towards: {"area": other}}), "normal");
    let said = |ospf: [Value; 4]| warnings(&in_a_row(ospf));
    assert_eq!(
        said([of(0), border(0, "c", 1), border(1, "d", 2), of(2)]),
        [
            "node 'c': ospf: it is in area 0.0.0.1 and 0.0.0.2 and not in area 0.0.0.0, which joins all others: it finds \
         no routes from one to the other"
        ]
    );
    assert_eq!(
        said([of(0), border(0, "c", 1), border(1, "d", 0), of(0)]),
        [
            "ospf: area 0.0.0.0, which joins all others, is in pieces: no link inside of it joins 'a' and 'b' and 'c' and \
         'd'"
        ]
    );
    assert_eq!(said([of(1), of(1), border(1, "d", 1), of(1)]), [""; 0], "one area needs no backbone");
    let mixed = said([in_area(1, &usual, "stub"), border(0, "a", 1), of(0), of(0)]);
    assert_eq!(
        mixed,
        [
            "link a - b: ospf: the kind of area is stub at 'a' and normal at 'b': the two do not become neighbours"
        ]
    );
}

/// Routers of others are set up to be neighbours of those around them, unless they have a configuration of their own:
/// only what they may join to the backbone is not named.
#[test]
fn areas_that_routers_of_others_may_join_are_not_named() {
    let said = |gateway: &Value, b: &Value, joined: &str| {
        let router = |ospf: &Value| json!({"kind": "router", "ospf": ospf});
        let frr = json!({"kind": "frr"});
        let link = |a: &str, b: &str| json!({"endpoints": [a, b]});
        // A border router of FRR between the backbone of a and area 4 of e; b and d are around the one that is given, d
        // by a link or by a segment.
        let described = json!({
            "name": "borders",
            "nodes": {"a": router(&json!({})), "b": router(b), "d": router(&json!({"area": 3})), "near": frr,
                "e": router(&json!({"area": 4})), "gw": gateway, "lan": {"kind": "bridge", "prefix": "10.9.0.0/24"}},
            "links": [link("a", "b"), link("a", "near"), link("near", "e"), link("b", "gw"), link("d", joined),
                link("gw", "lan")],
        });
        let planned = Testbed::planned(&read(&described).expect("a description")).expect("a plan");
        planned.warnings().iter().map(network::error::sentence).collect::<Vec<_>>()
    };
    let (frr, known) = (json!({"kind": "frr"}), json!({"kind": "frr", "config": "gw.conf"}));
    let (outside, backbone) = (json!({"interfaces": {"gw": {"area": 1}}}), json!({}));
    let apart = [
        "ospf: no router of area 0.0.0.3 ('d') is in area 0.0.0.0, which joins all others: it finds no routes to them",
    ];
    let mut through = outside.clone();
    through["virtual_links"] = json!([{"area": 1, "router": "192.0.2.9"}]);
    for joined in ["gw", "lan"] {
        assert_eq!(said(&frr, &outside, joined), apart, "it is in areas 1 and 3 alone");
        assert_eq!(said(&frr, &backbone, joined), [""; 0]);
        assert_eq!(said(&known, &outside, joined), [""; 0]);
        assert_eq!(said(&frr, &through, joined), [""; 0]);
    }
}

/// Two ends of a row with one router id: what each says is newer than what the other has said, which both see and tell.
/// A router that only begins anew sees its former words once.
#[test]
fn two_routers_with_one_router_id_notice_it() {
    let quick = json!({"hello_interval": "1 s"});
    let twice = json!({"hello_interval": "1 s", "router_id": "192.0.2.1"});
    let mut network = network(&in_a_row([twice.clone(), quick.clone(), quick.clone(), twice]));
    let kind = FaultKind::NodeRestart { node: NodeId(1), down_for: Span::from_secs(1) };
    network.fault(Fault::new(Time(30 * S), kind)).expect("a fault");
    network.run_until(Time(60 * S)).expect("a run");
    let table = network.table_json("ospf", None).expect("a table");
    let contested = column(&table, "contested_ps");
    assert!(!contested[0].is_null() && !contested[3].is_null(), "{table}");
    assert!(contested[1].is_null() && contested[2].is_null(), "{table}");
    let is_contested = |event: &base::Event| matches!(event.of(), Some(ospf::Event::OspfIdContested { .. }));
    let told: BTreeSet<u32> = network
        .events()
        .iter()
        .filter(|record| is_contested(&record.event))
        .map(|record| record.node.0)
        .collect();
    assert_eq!(told, BTreeSet::from([0, 3]));
}

/// Routers `a`, `b`, `c` and `d` in a row: the outer links are in the backbone, and the one between in area 1, by which
/// `b` and `c` are joined as given.
fn in_two_pieces(b: &Value, c: &Value) -> Value {
    let outer = json!({"hello_interval": "1 s"});
    let border = |towards: &str, joined: &Value| {
        json!({
            "hello_interval": "1 s",
            "interfaces": {towards: {"area": 1}},
            "virtual_links": joined,
        })
    };
    in_a_row([outer.clone(), border("c", b), border("b", c), outer])
}

/// A virtual link through area 1, with more of it.
fn through(router: &str, more: &Value) -> Value {
    let mut said = json!({"area": 1, "router": router, "hello_interval": "1 s"});
    for (key, value) in more.as_object().into_iter().flatten() {
        said[key] = value.clone();
    }
    json!([said])
}

#[test]
fn a_virtual_link_joins_the_pieces_of_the_backbone() {
    let none = json!({});
    let mut described = in_two_pieces(&through("c", &none), &through("b", &none));
    described["flows"] = json!([
        {"name": "there", "from": "a", "to": "d", "rate": "1 Mbit/s", "start": "30 s"},
        {"name": "back", "from": "d", "to": "a", "rate": "1 Mbit/s", "start": "30 s"},
    ]);
    assert_eq!(warnings(&described), [""; 0]);
    let mut network = network(&described);
    network.run_until(Time(35 * S)).expect("a run");
    assert_eq!(lost(&mut network), 0);
    assert!(numbers(&mut network, "flow_accounts", "received").iter().all(|received| *received > 100));
    assert_eq!(count(&mut network, "ospf_virtual_links", "neighbor", "full"), 2);
    assert_eq!(numbers(&mut network, "ospf_virtual_links", "cost"), [1, 1]);
    assert_eq!(count(&mut network, "ospf", "role", "stray"), 0);
    // The link that it leads over fails, and so does it; by router ids it is the same link.
    network.fault(Fault::new(Time(40 * S), FaultKind::LinkDown { link: LinkId(1) })).expect("a fault");
    network.run_until(Time(42 * S)).expect("a run");
    assert_eq!(count(&mut network, "ospf_virtual_links", "state", "down"), 2);
    conserved(&mut network).expect("closed accounts");
}

#[test]
fn virtual_links_that_join_nothing_are_named() {
    let none = json!({});
    let said = |b: &Value, c: &Value| warnings(&in_two_pieces(b, c));
    assert_eq!(
        said(&through("c", &none), &json!([])),
        [
            "node 'b': ospf: 'b' has a virtual link to 'c' through area 0.0.0.1, and 'c' has none back: it does not come to be"
        ]
    );
    assert_eq!(
        said(&through("c", &none), &through("b", &json!({"dead_interval": "9 s"}))),
        [
            "node 'b': ospf: the dead interval of the virtual link is 4 s at 'b' and 9 s at 'c': the two do not become \
             neighbours"
        ]
    );
    let nobody = "node 'b': ospf: 'b' has a virtual link to 10.9.9.9, and no router has that router id: it does not \
                  come to be";
    assert_eq!(said(&through("10.9.9.9", &none), &json!([])), [nobody]);
    // What is wrong for certain is refused.
    let refused = |b: &Value| {
        let described = in_two_pieces(b, &json!([]));
        match read(&described) {
            Err(words) => words,
            Ok(file) => Testbed::new(&file).map(|_| ()).expect_err("a problem").to_string(),
        }
    };
    for (b, words) in [
        (through("e", &none), "no node has that name"),
        (through("b", &none), "that is this router itself"),
        (through("c", &json!({"area": 0})), "leads through another area"),
        (through("c", &json!({"area": 2})), "none of its links is in area 0.0.0.2"),
        (through("c", &json!({"hello_interval": "1500 ms"})), "whole seconds"),
    ] {
        let said = refused(&b);
        assert!(said.contains(words), "{said}");
    }
    // By name and by router id it is the same router.
    let id = network(&in_two_pieces(&json!([]), &json!([]))).loopback(2).to_string();
    let both = json!([through("c", &none)[0], through(&id, &none)[0]]);
    let twice =
        format!("to 'c' through area 0.0.0.1 stands in the list already, and '{id}' is the same router");
    assert!(refused(&both).contains(&twice), "{}", refused(&both));
    let joined = json!([{"area": 1, "router": "c"}]);
    for (ospf, words) in [
        (json!({"area": 1, "virtual_links": joined}), "all of its links are in area 0.0.0.1"),
        (
            json!({"areas": [{"area": 1, "kind": "stub"}], "virtual_links": joined}),
            "area 0.0.0.1 is of kind stub",
        ),
        (
            json!({"virtual_links": [joined[0], joined[0]]}),
            "to c through area 0.0.0.1 stands in the list already",
        ),
    ] {
        let mut described = in_two_pieces(&joined, &json!([]));
        described["nodes"]["b"]["ospf"] = ospf;
        let said = match read(&described) {
            Err(words) => words,
            Ok(file) => Testbed::new(&file).map(|_| ()).expect_err("a problem").to_string(),
        };
        assert!(said.contains(words), "{said}");
    }
}

/// Links cost at most what messages can say (RFC 2328, A.4.2), and who asks for more is told so.
#[test]
fn costs_that_messages_can_not_say_are_named() {
    let said = |ospf: Value, metric: u32| {
        let mut described = two_ways(&ospf);
        described["links"][1]["metric"] = json!(metric);
        warnings(&described)
    };
    assert_eq!(said(json!(true), 65_535), [""; 0]);
    let by_metric = "link a - b: ospf: the link costs 65536 at 'a' and 'b', and messages can say 65535 at most: it counts as \
                     that, and paths over it look shorter than they are (the costs of all links have to be lower)";
    assert_eq!(said(json!(true), 65_536), [by_metric]);
    // 100 Tbit/s over 1 Gbit/s; where a cost is set, the bandwidth says nothing.
    let by_rate = said(json!({"reference_bandwidth": "100 Tbit/s"}), 1);
    assert_eq!(by_rate.len(), 6, "each link, those to hosts included: {by_rate:?}");
    assert!(by_rate[0].contains("costs 100000 at 'a', and"), "{by_rate:?}");
    let set = json!({"reference_bandwidth": "100 Tbit/s", "cost": 7});
    assert_eq!(said(set, 1), [""; 0]);
}
