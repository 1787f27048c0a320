//! Network files, read and refused.

use super::*;
use crate::kind::KINDS;

fn read(json: &str) -> Result<ReadNetwork, Diagnostic> {
    let value: Value = serde_json::from_str(json).expect("well formed");
    ReadNetwork::read(&value, KINDS)
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
    assert_eq!(ReadNetwork::read(&read.write(), KINDS).expect("written").nodes, read.nodes);
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
        (r#"{"name": "n", "nodes": {"a": {}}}"#.into(), "nodes/a: kind is missing: router, peer or external"),
        (
            r#"{"name": "n", "topology": {"nodes": {"a": {"kind": "rooter"}}}}"#.into(),
            "topology/nodes/a/kind: 'rooter' is none of router, peer or external (did you mean 'router'?)",
        ),
        (
            r#"{"name": "n", "nodes": {"a": {"kind": "router", "rsvp": {"rsvp_key": "x"}}}}"#.into(),
            "nodes/a/rsvp/rsvp_key: 'rsvp_key' is called 'key' now",
        ),
    ] {
        assert_eq!(read(&json).expect_err(said).to_string(), said, "{json}");
    }
}
