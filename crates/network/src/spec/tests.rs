//! Network files, read and refused.

use super::*;
use crate::kind::{BRIDGE, EXTERNAL, NodeKind, PEER, ROUTER};

/// The kinds that files have here: a new one changes no sentence below.
const HERE: &[NodeKind] = &[ROUTER, PEER, EXTERNAL, BRIDGE];

fn read(json: &str) -> Result<ReadNetwork, Diagnostic> {
    let value: Value = serde_json::from_str(json).expect("well formed");
    ReadNetwork::read(&value, HERE)
}

const SMALL: &str = r#"{"name": "small", "nodes": {"b": {"kind": "router"}, "a": {"kind": "router"}},
    "links": [["b", "a:eth7", {"rate": "1 Gbit/s"}], {"endpoints": ["a", "b"], "mtu": 1500}],
    "lsps": [{"name": "east", "from": "b", "to": "a", "route": ["a:eth7"], "carries": "10.2.0.0/24"}]}"#;

#[test]
fn names_lead_to_nodes_links_and_interfaces() {
    let read = read(SMALL).expect("right");
    let links: Vec<[String; 2]> = read
        .spec
        .links
        .iter()
        .map(|link| {
            link.endpoints
                .clone()
                .map(|end| format!("{}:{}", end.node.index(), end.interface.unwrap_or_default()))
        })
        .collect();
    assert_eq!(links, [["0:e0", "1:eth7"], ["1:e0", "0:e1"]].map(|link| link.map(String::from)));
    let lsp = &read.spec.lsps[0];
    assert_eq!((lsp.from.index(), lsp.to.index(), lsp.holding_priority()), (0, 1, 7));
    assert_eq!(lsp.route, [HopSpec::Link(0)]);
    assert_eq!(read.nodes[0].1.fields.get("profile"), Some(&"ideal".into()));
    assert_eq!(ReadNetwork::read(&read.write(), HERE).expect("written").nodes, read.nodes);
}

#[test]
fn each_mistake_has_its_place() {
    let nodes = r#""nodes": {"a": {"kind": "router"}, "b": {"kind": "router"}}"#;
    let with = |rest: &str| format!(r#"{{"name": "n", {nodes}, {rest}}}"#);
    for (json, said) in [
        (with(r#""links": [["a", "q"]]"#), "links/0/endpoints/1: 'q', no node has that name (one of a, b)"),
        (with(r#""links": [["a", "a"]]"#), "links/0: the two ends are the same node"),
        (
            with(r#""links": [["a"]]"#),
            "links/0: a list is not a link such as [a, b] or [a, b, {rate: 1 Gbit/s}]",
        ),
        (with(r#""links": [["a", "b", {"mtu": 5}]]"#), "links/0/2/mtu: 5: it should be 68 to 65535"),
        (
            with(r#""links": [["a:x", "b"], ["b", "a:x"]]"#),
            "links/1/endpoints/1: 'a' has an interface 'x' already",
        ),
        (
            with(r#""lsps": [{"name": "e", "from": "a", "to": "b", "route": ["b:e9"]}]"#),
            "lsps/0/route/0: 'b' has no interface 'e9'",
        ),
        (with(r#""lsps": [{"name": "e", "from": "a", "to": "a"}]"#), "lsps/0: it begins and ends at a"),
        (
            with(r#""lsps": [{"name": "e", "from": "a", "to": "b", "holding_priority": 8}]"#),
            "lsps/0/holding_priority: 8: it should be 0 to 7",
        ),
        (
            with(r#""mgmt": {}"#),
            "mgmt: 'mgmt' is containerlab's and is not used here: routers are managed through sockets, not through a network",
        ),
        (
            r#"{"name": "n", "nodes": {"a": {"kind": "tester"}}}"#.into(),
            "nodes/a/kind: 'tester' is called 'edge' now",
        ),
        (
            r#"{"name": "n", "nodes": {"a": {}}}"#.into(),
            "nodes/a: kind is missing: router, peer, external or bridge",
        ),
        (
            r#"{"name": "n", "topology": {"nodes": {"a": {"kind": "rooter"}}}}"#.into(),
            "topology/nodes/a/kind: 'rooter' is none of router, peer, external or bridge (did you mean 'router'?)",
        ),
        (
            r#"{"name": "n", "nodes": {"a": {"kind": "router", "rsvp": {"rsvp_key": "x"}}}}"#.into(),
            "nodes/a/rsvp/rsvp_key: 'rsvp_key' is called 'key' now",
        ),
    ] {
        assert_eq!(read(&json).expect_err(said).to_string(), said, "{json}");
    }
}

const PLACED: &str = r#"{"name": "n", "nodes": {"a": {"kind": "router", "diffserv": true}, "b": {"kind": "router", "diffserv": false},
    "p": {"kind": "peer"}},
    "links": [["a", "b:eth7", {"queue": {"a": "gold"}, "ingress": "police"}], {"endpoints": ["b", "p"], "queue": {"b": QUEUE}}],
    "queues": {"gold": {"root": {"discipline": "prio", "classes": {"ef": {}}, "filters": [{"inputs": ["b"], "class": "ef"}]},
                        "conditioner": "police"}},
    "conditioners": {"police": {"rules": [{"name": "all", "red": "remark AF12"}]}, "idle": {"rules": [{"name": "r"}]}}}"#;

#[test]
fn what_stands_at_ends_is_looked_up() {
    let read = read(&PLACED.replace("QUEUE", r#"{"discipline": "pfifo"}"#)).expect("right");
    let tree = read.queue_at(0, 0, HERE).expect("right").expect("one");
    assert!(tree.conditioner().is_some_and(|spec| spec.rules[0].name == "all".into()));
    assert!(!tree.asks_input() || format!("{:?}", tree.write()).contains("[Int(0)]"));
    assert_eq!(read.queue_at(0, 1, HERE).expect("right"), None);
    assert!(read.ingress_at(0, 1, HERE).expect("right").is_some());
    assert_eq!(read.queue_at(1, 1, HERE).expect("right"), None, "a peer's port is not ours");
    let unused: Vec<String> = read.unused().iter().map(Diagnostic::to_string).collect();
    let why = "no link names it in 'ingress', and no queue in 'conditioner'";
    assert_eq!(unused, [format!("conditioners/idle: it is not used: {why}")]);
}

#[test]
fn what_is_wrong_with_queues_has_the_place_where_it_is_written() {
    let filtered = |queue: &str| {
        PLACED.replace("QUEUE", r#"{"discipline": "pfifo"}"#).replace(r#"{"a": "gold"}"#, queue)
    };
    let tree = |inputs: &str| {
        format!(
            r#"{{"a": {{"discipline": "prio", "classes": {{"x": {{}}}}, "filters": [{{"inputs": {inputs}, "class": "x"}}]}}}}"#
        )
    };
    for (json, said) in [
        (filtered(r#""glod""#), "links/0/2/queue: 'glod' is not under 'queues' (did you mean 'gold'?)"),
        (filtered(r#"{"a": "silver"}"#), "links/0/2/queue/a: 'silver' is not under 'queues' (one of gold)"),
        (filtered(r#"{"c": "gold"}"#), "links/0/2/queue/c: 'c' is no end of it, a and b are"),
        (filtered("7"), "links/0/2/queue: 7: it should be a name, or a mapping that describes it"),
        (
            filtered(&tree(r#""q""#)),
            "links/0/2/queue/a/filters/0/inputs/0: a has no neighbour 'q' (one of b)",
        ),
        (
            filtered(&tree(r#"["b:eth7", "b:e7"]"#)),
            "links/0/2/queue/a/filters/0/inputs/1: no link of a has an end 'b:e7' (did you mean 'b:eth7'?)",
        ),
        (
            PLACED
                .replace("QUEUE", r#""gold""#)
                .replace(r#""ingress": "police""#, r#""ingress": {"b": "gold"}"#),
            "links/0/2/ingress/b: 'gold' is not under 'conditioners' (one of police, idle)",
        ),
        (
            PLACED.replace(r#"{"b": QUEUE}"#, r#"{"p": "gold"}"#),
            "links/1/queue/p: 'p' is of kind peer: its ports are not ours",
        ),
        (
            PLACED.replace("QUEUE", r#""gold""#).replace(r#"["b"], "class""#, r#"["p"], "class""#),
            "queues/gold/root/filters/0/inputs/0: a has no neighbour 'p' (one of b)",
        ),
        (
            PLACED
                .replace("QUEUE", r#""gold""#)
                .replace(r#""conditioner": "police""#, r#""conditioner": "polce""#),
            "queues/gold/conditioner: 'polce' is not under 'conditioners' (did you mean 'police'?)",
        ),
    ] {
        assert_eq!(read(&json).expect_err(said).to_string(), said, "{json}");
    }
}
