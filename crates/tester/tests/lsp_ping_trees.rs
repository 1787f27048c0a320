//! LSP ping and traceroute on LSPs with several ends (RFC 6425) in a network: trees of RSVP-TE and LDP, sound ones and
//! such whose tables say something else than the control plane.

use crate::common::S;
use base::Time;
use serde_json::{Value, json};
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

/// A root, a branch, and behind it a leaf, and one that is a leaf and has two more behind it.
///
/// ```text
/// root - a - b - l1
///        |   |
///        c   l2
/// ```
const NAMES: [&str; 6] = ["a", "b", "c", "l1", "l2", "root"];

fn network() -> Testbed {
    let router = json!({"kind": "router", "ospf": true, "ldp": {"p2mp": true}});
    let link = |(a, b): (&str, &str)| json!({"endpoints": [a, b], "rate": "1 Gbit/s", "delay": "1 ms", "reservable": "1 Gbit/s"});
    let leaves = ["b", "c", "l1", "l2"];
    let nodes: Value = NAMES.iter().map(|name| (name.to_string(), router.clone())).collect();
    let links: Vec<Value> =
        [("root", "a"), ("a", "b"), ("a", "c"), ("b", "l1"), ("b", "l2")].map(link).into();
    let described = json!({
        "name": "trees",
        "nodes": nodes,
        "links": links,
        "p2mp": [
            {"name": "gold", "root": "root", "leaves": leaves, "bandwidth": "1 Mbit/s"},
            {"name": "plain", "root": "root", "leaves": leaves, "protocol": "ldp"},
        ],
    });
    let file = NetworkFile::read_part(&serde_json::from_value(described).expect("a value"));
    let mut network = Testbed::new(&file.expect("a description")).expect("a network");
    network.run_until(Time(60 * S)).expect("a run");
    network
}

fn place(name: &str) -> usize {
    NAMES.iter().position(|known| *known == name).expect("a name")
}

fn refused(asked: Value) -> String {
    let asked = serde_json::from_value(asked).expect("a value");
    network::error::sentence(&network().test_lsp(place("root"), &asked).expect_err("a refusal"))
}

/// Tests a tree from its root: hop, who replied or who has not, the return code, and the next routers. And how long the
/// test took, in ms.
fn test(network: &mut Testbed, asked: Value) -> (Vec<String>, u64) {
    let asked = serde_json::from_value(asked).expect("a value");
    let root = place("root");
    let (number, begun) = (network.test_lsp(root, &asked).expect("a test"), network.now());
    while !network.is_lsp_tested(root, number) {
        let next = Time(network.now().0 + S / 1000);
        network.run_until(next).expect("a run");
    }
    let table = network.table_json("lsp_probes", Some(root)).expect("a table");
    let column = |name: &str| table[name].as_array().expect("a column").clone();
    let router = |address: &Value| {
        let of = |node: &usize| json!(network.loopback(*node)) == *address;
        (0..NAMES.len()).find(of).map_or_else(|| address.to_string(), |node| NAMES[node].to_owned())
    };
    let mut rows = Vec::new();
    for (at, of) in column("number").iter().enumerate() {
        if *of != number {
            continue;
        }
        let [hop, from, end, code, outcome] =
            ["hop", "from", "end", "code", "outcome"].map(|name| column(name)[at].clone());
        let who = match (&from, &end) {
            (Value::Null, Value::Null) => "nobody".to_owned(),
            (Value::Null, end) => router(end),
            (from, end) => {
                assert!(end.is_null() || router(end) == router(from), "{from} for {end}");
                router(from)
            }
        };
        let ways = column("downstream")[at].as_array().map_or(0, Vec::len);
        rows.push(match outcome.as_str() {
            Some("answered") => format!("{hop} {who} {code} {ways}"),
            other => format!("{hop} {who} {}", other.unwrap_or_default()),
        });
    }
    rows.sort();
    (rows, (network.now().0 - begun.0) / (S / 1000))
}

/// Every end replies that it is one, and the test ends when the last known one has.
#[test]
fn all_ends_reply() {
    let mut network = network();
    let all = ["255 b 3 0", "255 c 3 0", "255 l1 3 0", "255 l2 3 0"];
    let (rows, took) = test(&mut network, json!({"to": "gold"}));
    assert_eq!(rows, all);
    assert!(took < 20, "{took} ms");
    // Of LDP nobody knows who is to reply: replies spread over 100 ms, and the test waits for as long as it may.
    let (rows, took) = test(&mut network, json!({"to": "plain", "wait": "500 ms"}));
    assert_eq!(rows, all);
    assert!((600..620).contains(&took), "{took} ms");
}

/// RFC 6425, 4.3: each router replies once, with its ways on; the trace ends when no way on is left.
#[test]
fn a_trace_shows_the_tree() {
    let mut network = network();
    // The code is that of the first way.
    let expected = ["1 a 8 2", "2 b 3 2", "2 c 3 0", "3 l1 3 0", "3 l2 3 0"];
    for to in ["gold", "plain"] {
        let (rows, took) = test(&mut network, json!({"to": to, "trace": true, "jitter": "0 ms"}));
        assert_eq!(rows, expected, "{to}");
        assert!(took < 40, "{to}: {took} ms");
    }
}

/// RFC 6425, 3.2: one leaf and the routers on the way to it, or one router.
#[test]
fn replies_are_limited_to_a_leaf_or_a_router() {
    let mut network = network();
    // A leaf on the way is asked as one on the way.
    assert_eq!(test(&mut network, json!({"to": "gold", "leaf": "l1"})).0, ["255 b 8 0", "255 l1 3 0"]);
    assert_eq!(test(&mut network, json!({"to": "gold", "leaf": "c"})).0, ["255 c 3 0"]);
    assert_eq!(test(&mut network, json!({"to": "gold", "leaf": "b"})).0, ["255 b 3 0"]);
    let trace = json!({"to": "gold", "leaf": "l2", "trace": true});
    assert_eq!(test(&mut network, trace).0, ["1 a 8 1", "2 b 8 1", "3 l2 3 0"]);
    let trace = json!({"to": "gold", "leaf": "b", "trace": true});
    assert_eq!(test(&mut network, trace).0, ["1 a 8 1", "2 b 3 0"]);
    for to in ["gold", "plain"] {
        assert_eq!(test(&mut network, json!({"to": to, "router": "l2"})).0, ["255 l2 3 0"], "{to}");
    }
    // A router that gets no packet does not reply.
    assert_eq!(test(&mut network, json!({"to": "gold", "router": "a"})).0, ["255 nobody silent"]);
}

/// The label by which packets of a tree come to a router.
fn label(network: &mut Testbed, table: &str, node: &str) -> u32 {
    let table = network.table_json(table, Some(place(node))).expect("a table");
    table["in_label"][0].as_u64().expect("a label") as u32
}

/// A table that lies is found: by ends that are silent, and by a trace that says where.
#[test]
fn an_entry_that_is_missing_is_found() {
    for (to, table) in [("gold", "p2mp_lsps"), ("plain", "ldp_p2mp_lsps")] {
        let mut network = network();
        let label = label(&mut network, table, "b");
        network.break_label(place("b"), label, None).expect("a fault");
        let (rows, _) = test(&mut network, json!({"to": to, "wait": "200 ms"}));
        let (trace, _) = test(&mut network, json!({"to": to, "trace": true, "wait": "200 ms", "hops": 4}));
        let silent = ["255 b silent", "255 c 3 0", "255 l1 silent", "255 l2 silent"];
        // At the router with the lie the label is unknown; behind it nobody gets anything.
        let found = ["1 a 8 2", "2 b 11 0", "2 c 3 0"];
        if to == "gold" {
            assert_eq!(rows, silent);
            assert_eq!(trace, [&found[..], &["2 l1 silent", "2 l2 silent"]].concat());
        } else {
            assert_eq!(rows, ["255 c 3 0"]);
            assert_eq!(trace, found);
        }
    }
}

/// Replies wait for a random time up to that which is said (3.3).
#[test]
fn replies_are_spread() {
    let mut network = network();
    let (rows, took) = test(&mut network, json!({"to": "gold", "jitter": "10 s", "wait": "100 ms"}));
    assert_eq!(rows.len(), 4);
    assert!((1_000..10_100).contains(&took), "{took} ms");
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (asked, words) in [
        (json!({"to": "gold", "leaf": "a"}), "leaf: 'a' is no leaf of p2mp 'gold'"),
        (
            json!({"to": "plain", "leaf": "c"}),
            "routers do not know which leaves are behind them (RFC 6425, 3.2.1)",
        ),
        (json!({"to": "a", "leaf": "c"}), "'a' has one end: 'leaf' is asked of a point-to-multipoint LSP"),
        (
            json!({"to": "a", "jitter": "1 s"}),
            "'a' has one end: 'jitter' is asked of a point-to-multipoint LSP",
        ),
        (json!({"to": "gold", "leaf": "c", "router": "c"}), "limited to those of the way to one 'leaf', or"),
        (
            json!({"to": "gold", "router": "nobody"}),
            "router: 'nobody' is no address, and no node has that name",
        ),
        (json!({"to": "gold", "router": "a", "trace": true}), "'leaf' limits it to the way to one leaf"),
        (json!({"to": "gold", "protocol": "bgp"}), "'gold' is no address and no prefix"),
    ] {
        let found = refused(asked);
        assert!(found.contains(words), "{found}");
    }
}
