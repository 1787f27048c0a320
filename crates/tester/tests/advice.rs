//! What can never work is said before a run, by name: each in one sentence, with what would be right. What a router of
//! somebody else may supply is not said.

use crate::common::named::{network, read};
use crate::common::{S, column};
use base::Time;
use serde_json::{Value, json};
use twinplane_tester::Testbed;

fn described(nodes: &Value, links: &[[&str; 2]]) -> Value {
    let links: Vec<Value> = links.iter().map(|ends| json!({"endpoints": ends})).collect();
    json!({"name": "advice", "nodes": nodes, "links": links})
}

fn said(nodes: &Value, links: &[[&str; 2]]) -> Vec<String> {
    network(&described(nodes, links)).warnings().iter().map(network::error::sentence).collect()
}

/// The same of a network with routers of others, which no process of ours runs.
fn planned(nodes: &Value, links: &[[&str; 2]]) -> Vec<String> {
    let file = read(&described(nodes, links)).expect("a description");
    let planned = Testbed::planned(&file).expect("a plan");
    planned.warnings().iter().map(network::error::sentence).collect()
}

fn ospf(ospf: Value) -> Value {
    json!({"kind": "router", "ospf": ospf})
}

fn bgp(id: u8, asn: u32, neighbors: Value) -> Value {
    json!({"kind": "router", "router_id": format!("10.250.0.{id}"), "bgp": {"asn": asn, "neighbors": neighbors}})
}

/// A column of a table of a network as it is after a minute.
fn after_a_minute(nodes: &Value, links: &[[&str; 2]], table: &str, name: &str) -> Vec<Value> {
    let mut network = network(&described(nodes, links));
    network.run_until(Time(60 * S)).expect("a run");
    column(&network.table_json(table, None).expect("a table"), name)
}

#[test]
fn a_mismatch_hides_only_what_it_explains() {
    let between = |b: Value, c: Value| {
        json!({"a": ospf(json!({"hello_interval": "1 s"})), "x": ospf(json!({"hello_interval": "2 s"})),
        "b": ospf(b), "c": ospf(c), "d": ospf(json!({"area": 2}))})
    };
    let links = [["a", "x"], ["b", "c"], ["c", "d"]];
    let stray = between(
        json!({"interfaces": {"c": {"area": 1}}}),
        json!({"area": 1, "interfaces": {"d": {"area": 2}}}),
    );
    let all = said(&stray, &links);
    assert_eq!(all.len(), 4, "{all:?}");
    assert!(all[0].contains("the hello interval is 1 s at 'a' and 2 s at 'x'"), "{all:?}");
    assert!(all[1].contains("the dead interval is"), "{all:?}");
    assert!(all[2].contains("nothing joins 'a' and 'x' and 'b', 'c' and 'd'"), "{all:?}");
    assert!(all[3].starts_with("node 'c': ospf: it is in area 0.0.0.1 and 0.0.0.2 and not"), "{all:?}");
    // In a row: what the link in the middle parts is not said once more.
    let row = |[a, b, c, d]: [Value; 4]| {
        let nodes = json!({"a": ospf(a), "b": ospf(b), "c": ospf(c), "d": ospf(d)});
        said(&nodes, &[["a", "b"], ["b", "c"], ["c", "d"]])
    };
    let usual = || json!({});
    let one = |all: &[String], words: &str| assert!(all.len() == 1 && all[0].contains(words), "{all:?}");
    one(
        &row([
            usual(),
            json!({"interfaces": {"c": {"authentication": {"kind": "md5", "key": "x"}}}}),
            usual(),
            usual(),
        ]),
        "authentication",
    );
    // c may be meant to be in area 0 there, or b in area 1.
    one(
        &row([usual(), usual(), json!({"area": 1}), json!({"area": 1})]),
        "the area is 0.0.0.0 at 'b' and 0.0.0.1 at 'c'",
    );
    one(
        &row([
            usual(),
            json!({"interfaces": {"c": {"passive": true}}}),
            json!({"area": 1}),
            json!({"area": 1}),
        ]),
        "passive",
    );
    // d may be meant to be in area 1, which c joins to the backbone.
    let c = json!({"interfaces": {"d": {"area": 1}}});
    one(&row([usual(), usual(), c, json!({"area": 2})]), "the area is 0.0.0.1 at 'c' and 0.0.0.2 at 'd'");
}

#[test]
fn a_segment_without_a_designated_router_is_named() {
    let lan = json!({"kind": "bridge", "prefix": "10.9.0.0/24"});
    let nodes = |b: Value| json!({"s": lan, "a": ospf(json!({"priority": 0})), "b": ospf(b)});
    let links = [["a", "s"], ["b", "s"]];
    let none = nodes(json!({"priority": 0}));
    assert_eq!(
        said(&none, &links),
        [
            "link a - s: ospf: 'a' and 'b' all have priority 0, so that none of them becomes designated router and no \
             routes are exchanged here: one needs 'priority: 1' or more"
        ]
    );
    assert_eq!(after_a_minute(&none, &links, "ospf_neighbors", "state"), ["two-way", "two-way"]);
    assert_eq!(said(&nodes(json!({"interfaces": {"s": {"priority": 1}}})), &links), [""; 0]);
    // Between two routers it counts where they say that the link is one.
    let pair = |network: &str| {
        let zero = json!({"priority": 0, "network": network});
        said(&json!({"a": ospf(zero.clone()), "b": ospf(zero)}), &[["a", "b"]])
    };
    assert_eq!((pair("broadcast").len(), pair("point-to-point").len()), (1, 0));
    let mut with_another = none;
    with_another["c"] = json!({"kind": "frr"});
    assert_eq!(planned(&with_another, &[["a", "s"], ["b", "s"], ["c", "s"]]), [""; 0]);
}

#[test]
fn neighbours_that_nothing_finds_a_route_to_are_named() {
    let pair = || {
        json!({
            "a": bgp(1, 65001, json!({"10.250.0.2": {"asn": 65001}})),
            "b": bgp(2, 65001, json!({"10.250.0.1": {"asn": 65001}})),
        })
    };
    let links = [["a", "b"]];
    assert_eq!(
        said(&pair(), &links),
        [
            "node 'a': bgp: nothing finds a route to its neighbour 10.250.0.2 ('b'), nor from 'b' to such neighbours: \
             no session comes to be; 'ospf: true' at the routers in between and at both ends would find one, or say \
             one in 'routes'"
        ]
    );
    assert!(!after_a_minute(&pair(), &links, "bgp_neighbors", "state").contains(&json!("established")));
    let with = |key: &str, at: &[&str], value: &Value| {
        let mut nodes = pair();
        at.iter().for_each(|node| nodes[node][key] = value.clone());
        nodes
    };
    assert_eq!(said(&with("ospf", &["a", "b"], &json!(true)), &links), [""; 0]);
    // OSPF of one router alone finds nothing.
    let lone = said(&with("ospf", &["a"], &json!(true)), &links);
    assert!(lone.len() == 1 && lone[0].contains("10.250.0.2 ('b'), nor from 'b'"), "{lone:?}");
    let mut fixed = pair();
    fixed["a"]["routes"] = json!([{"prefix": "10.250.0.2/32", "via": "b"}]);
    fixed["b"]["routes"] = json!([{"prefix": "10.250.0.0/24", "via": "a"}]);
    assert_eq!(said(&fixed, &links), [""; 0]);
    let mesh = |id: u8| {
        let mut router = bgp(id, 65001, json!({}));
        router["bgp"]["mesh"] = json!(true);
        router
    };
    let all = said(&json!({"a": mesh(1), "b": mesh(2), "c": mesh(3)}), &[["a", "b"], ["b", "c"]]);
    assert!(
        all.len() == 1 && all[0].contains(" and 1 more, nor from 'b' and 'c' to such neighbours"),
        "{all:?}"
    );
    // A neighbour by a link may tell the route.
    let open = json!({"asn": 65001, "import": "all", "export": "all"});
    let mut told = with("bgp", &[], &json!({}));
    told["a"]["bgp"]["neighbors"]["x"] = json!({"asn": 65009, "import": "all", "export": "all"});
    told["b"]["bgp"]["neighbors"]["x"] = told["a"]["bgp"]["neighbors"]["x"].clone();
    told["x"] = bgp(9, 65009, json!({"a": open, "b": open}));
    told["x"]["bgp"]["redistribute"] = json!(["connected"]);
    assert_eq!(said(&told, &[["a", "x"], ["b", "x"]]), [""; 0]);
    told["x"] = json!({"kind": "frr"});
    assert_eq!(planned(&told, &[["a", "x"], ["b", "x"]]), [""; 0]);
}

#[test]
fn next_hops_that_nothing_finds_a_route_to_are_named() {
    let open = |asn: u32| json!({"asn": asn, "import": "all", "export": "all"});
    let mut x = bgp(9, 65001, json!({"a": open(65000)}));
    x["bgp"]["networks"] = json!(["203.0.113.0/24"]);
    let nodes = |to_b: Value| {
        json!({
            "a": bgp(1, 65000, json!({"b": to_b, "x": open(65001)})),
            "b": bgp(2, 65000, json!({"a": {"asn": 65000}})),
            "x": x,
        })
    };
    let links = [["a", "b"], ["a", "x"]];
    let usual = || nodes(json!({"asn": 65000}));
    let all = said(&usual(), &links);
    assert_eq!(all.len(), 1, "{all:?}");
    assert!(all[0].starts_with("node 'a': bgp: it tells 'b' routes of 'x' with next hop "), "{all:?}");
    assert!(
        all[0].contains("they are not used; 'next_hop_self: true' for that neighbour would be right"),
        "{all:?}"
    );
    let rib = after_a_minute(&usual(), &links, "rib", "node");
    let prefixes = after_a_minute(&usual(), &links, "rib", "prefix");
    let active = after_a_minute(&usual(), &links, "rib", "active");
    let of_b: Vec<&Value> = (0..rib.len())
        .filter(|row| rib[*row] == "b" && prefixes[*row] == "203.0.113.0/24")
        .map(|row| &active[row])
        .collect();
    assert!(of_b.iter().all(|active| active.as_array().is_some_and(Vec::is_empty)), "{of_b:?}");
    assert_eq!(said(&nodes(json!({"asn": 65000, "next_hop_self": true})), &links), [""; 0]);
    let mut with_ospf = usual();
    with_ospf["a"]["ospf"] = json!(true);
    with_ospf["b"]["ospf"] = json!(true);
    assert_eq!(said(&with_ospf, &links), [""; 0]);
    let mut told = usual();
    told["a"]["bgp"]["redistribute"] = json!(["connected"]);
    assert_eq!(said(&told, &links), [""; 0], "BGP itself has it");
    let mut outside = usual();
    outside["x"] = json!({"kind": "frr"});
    assert_eq!(planned(&outside, &links).len(), 1, "whoever it is, b knows nothing but BGP of a");
    outside["b"]["ospf"] = json!(true);
    assert_eq!(planned(&outside, &links), [""; 0], "it may speak OSPF");
}

#[test]
fn sessions_by_which_no_route_may_pass_are_named() {
    let nodes = |to_b: Value, to_a: Value| json!({"a": bgp(1, 65001, json!({"b": to_b})), "b": bgp(2, 65002, json!({"a": to_a}))});
    let end = |asn: u32, said: &[(&str, &str)]| {
        let mut end = json!({"asn": asn});
        said.iter().for_each(|(key, value)| end[key] = json!(value));
        end
    };
    let both = [("import", "all"), ("export", "all")];
    let between =
        |a: &[(&str, &str)], b: &[(&str, &str)]| said(&nodes(end(65002, a), end(65001, b)), &[["a", "b"]]);
    let one = |all: &[String], words: &str| assert!(all.len() == 1 && all[0].contains(words), "{all:?}");
    let none = between(&[], &both);
    one(
        &none,
        "no route passes between it and 'b', which is in another AS, as long as nobody says which may (RFC 8212): \
        'import' and 'export' are missing here; 'all' lets every route pass",
    );
    assert!(none[0].starts_with("node 'a': bgp: "), "{none:?}");
    one(&between(&[], &[]), "are missing here, and 'import' and 'export' are missing at 'b'; 'all'");
    one(&between(&both[..1], &both[..1]), "'export' is missing here, and 'export' is missing at 'b'; 'all'");
    // Routes pass in one direction, or are not wanted.
    assert_eq!(between(&both[..1], &both[1..]), [""; 0]);
    assert_eq!(between(&[("import", "none"), ("export", "none")], &[]), [""; 0]);
    assert_eq!(
        said(&nodes(json!({"asn": 65001}), json!({"asn": 65001})), &[["a", "b"]]).len(),
        1,
        "only that AS numbers differ"
    );
    let mut outside = nodes(json!({"asn": 65002}), json!({}));
    outside["b"] = json!({"kind": "frr"});
    one(&planned(&outside, &[["a", "b"]]), "'import' and 'export' are missing here; 'all'");
    outside["a"]["bgp"]["neighbors"]["b"] = end(65002, &both[..1]);
    assert_eq!(planned(&outside, &[["a", "b"]]), [""; 0]);
}

#[test]
fn who_watches_alone_is_named() {
    let nodes = |a: Value, b: Value| json!({"a": ospf(a), "b": ospf(b)});
    let links = [["a", "b"]];
    let one_of = |all: &[String], words: &str| assert!(all.len() == 1 && all[0].contains(words), "{all:?}");
    let mut alone = nodes(json!({}), json!({"bfd": true}));
    alone["a"]["bfd"] = json!(true);
    assert_eq!(
        said(&alone, &links),
        [
            "link a - b: bfd: 'b' has 'a' watched, and 'a' does not have 'b' watched: no session comes up between them; \
             'bfd' of its 'ospf' at 'a' would be right"
        ]
    );
    assert!(!after_a_minute(&alone, &links, "bfd_sessions", "state").contains(&json!("up")));
    assert_eq!(said(&nodes(json!({"bfd": true}), json!({"bfd": true})), &links), [""; 0]);
    // Whoever asks at the other end, it is the same session.
    let mut by_another = nodes(json!({}), json!({"bfd": true}));
    by_another["a"]["ldp"] = json!({"bfd": true});
    by_another["b"]["ldp"] = json!(true);
    assert_eq!(said(&by_another, &links), [""; 0]);
    // Nobody is expected where the other does not speak the protocol.
    let mut no_neighbor = nodes(json!({}), json!({"bfd": true}));
    no_neighbor["a"] = json!({"kind": "router"});
    assert_eq!(said(&no_neighbor, &links), [""; 0]);
    let mut outside = nodes(json!({}), json!({"bfd": true}));
    outside["a"] = json!({"kind": "frr"});
    assert_eq!(planned(&outside, &links), [""; 0]);
    // Neighbours of BGP, wherever they are.
    let far = |bfd: bool| {
        let mut nodes = json!({
            "a": bgp(1, 65001, json!({"10.250.0.2": {"asn": 65001, "bfd": true}})),
            "b": bgp(2, 65001, json!({"10.250.0.1": {"asn": 65001, "bfd": bfd}})),
        });
        ["a", "b"].iter().for_each(|node| nodes[node]["ospf"] = json!(true));
        said(&nodes, &links)
    };
    one_of(&far(false), "bfd: 'a' has 'b' watched, and 'b' does not have 'a' watched");
    assert_eq!(far(true), [""; 0]);
    // The next hop of a route.
    let mut route = json!({"a": {"kind": "router", "routes": [{"prefix": "192.0.2.0/24", "via": "b", "bfd": true}]},
        "b": {"kind": "router"}});
    one_of(&said(&route, &links), "a route back with 'bfd' at 'b' would be right");
    route["b"]["routes"] = json!([{"prefix": "198.51.100.0/24", "via": "a", "bfd": true}]);
    assert_eq!(said(&route, &links), [""; 0]);
}

#[test]
fn targets_of_ldp_that_never_answer_are_named() {
    let router = |id: u8, ldp: Value| json!({"kind": "router", "router_id": format!("10.250.0.{id}"), "ospf": true, "ldp": ldp});
    let nodes = |a: Value, b: Value| json!({"a": router(1, a), "b": router(2, b)});
    let links = [["a", "b"]];
    let all = said(&nodes(json!(true), json!({"targets": ["10.9.9.9"]})), &links);
    assert!(
        all.len() == 1
            && all[0].contains("'b' expects a neighbour at 10.9.9.9, and no node has that address"),
        "{all:?}"
    );
    let all = said(&nodes(json!(true), json!({"targets": ["10.250.0.1"]})), &links);
    assert!(
        all.len() == 1
            && all[0].contains("it wants a session with 'a' (10.250.0.1), which does not want one"),
        "{all:?}"
    );
    for a in [json!({"accept_targeted": true}), json!({"targets": ["10.250.0.2"]})] {
        assert_eq!(said(&nodes(a, json!({"targets": ["10.250.0.1"]})), &links), [""; 0]);
    }
    let mut outside = nodes(json!(true), json!({"targets": ["10.9.9.9"]}));
    outside["a"] = json!({"kind": "frr"});
    assert_eq!(planned(&outside, &links), [""; 0]);
}
