//! Measured flows of IPv6 that begin and end at routers and edges: natively over three routers, over LSPs, and what is
//! refused.

use crate::common::{MS, S, chain, conserved, network, routers, run};
use base::device::DropReason;
use serde_json::{Value, json};
use twinplane_tester::Testbed;

fn ends(net: u32) -> Value {
    json!([format!("2001:db8:{net:x}::1/64"), format!("2001:db8:{net:x}::2/64")])
}

/// Three routers in a row and a host at the last one, with IPv6 on these links. The first router has a loopback
/// address besides, and the second has none.
fn described() -> Value {
    let mut nodes = routers(3, &json!({}));
    nodes.push(json!({"name": "right", "kind": "host", "address": "10.2.0.2/24"}));
    nodes[0]["ipv6"] = json!("2001:db8:ff::1");
    let mut links = chain(3, 1_000_000_000, MS);
    links.push(json!({"a": 2, "b": 3, "rate_bps": 100_000_000, "delay_ps": 0}));
    for (at, link) in links.iter_mut().enumerate() {
        link["ipv6"] = ends(16 + at as u32);
    }
    json!({"nodes": nodes, "links": links, "lsps": []})
}

/// An edge, routers of which only the first and the last have IPv6, and an edge.
fn with_edges(egress_label: &str) -> Value {
    let mut nodes = routers(3, &json!({"egress_label": egress_label}));
    let step = |lsps: u32| json!({"at_ps": 0, "action": "signal", "lsps": lsps, "rate_per_s": 1000.0});
    let programme = json!([step(0), step(1)]);
    nodes.push(json!({"name": "in", "kind": "edge", "programme": programme}));
    nodes.push(json!({"name": "out", "kind": "edge", "rsvp": {"egress_label": egress_label}}));
    let mut links = chain(3, 1_000_000_000, MS);
    links.push(json!({"a": 3, "b": 0, "rate_bps": 1_000_000_000, "ipv6": ends(1)}));
    links.push(json!({"a": 2, "b": 4, "rate_bps": 1_000_000_000, "ipv6": ends(2)}));
    let lsps = json!([
        {"name": "far", "from": 3, "to": 4, "routes": [[0, 1, 2, 4]]},
        {"name": "near", "from": 3, "to": 2, "routes": [[0, 1, 2]]},
        {"name": "core", "from": 0, "to": 2, "routes": [[1, 2]], "count": 3},
    ]);
    json!({"nodes": nodes, "links": links, "lsps": lsps})
}

fn flow(name: &str, [from, to]: [usize; 2], more: Value) -> Value {
    let mut flow = json!({
        "name": name, "from": from, "to": to, "family": "ipv6", "rate": "5 Mbit/s", "dscp": "EF",
        "size": {"kind": "uniform", "min": 92, "max": 1500}, "arrivals": "poisson", "start": "1 s", "stop": "2 s",
    });
    for (key, value) in more.as_object().expect("fields") {
        flow[key] = value.clone();
    }
    flow
}

/// Adds flows, runs to their end, and gives what each stream received; none lost anything.
fn delivered(network: &mut Testbed, flows: Vec<Value>) -> Vec<u64> {
    for flow in flows {
        crate::common::add_flow(network, &flow).expect("a flow");
    }
    run(network, 4 * S);
    let (sent, received) = conserved(network).expect("conservation");
    let losses = network.table_json("losses", None).expect("a table");
    assert_eq!(sent, received, "{losses}");
    let streams = network.table_json("streams", None).expect("a table");
    assert_eq!(crate::common::sum(&streams, "reordered"), 0);
    let accounts = network.table_json("flow_accounts", None).expect("a table");
    assert!(
        crate::common::column(&accounts, "unknown").iter().all(|unknown| unknown == &json!(0)),
        "{accounts}"
    );
    crate::common::column(&streams, "received").into_iter().filter_map(|count| count.as_u64()).collect()
}

#[test]
fn they_go_between_routers_and_hosts_natively() {
    let mut network = network(described());
    let pairs = [[0, 2], [2, 0], [1, 2], [0, 3], [3, 0]];
    let mut flows: Vec<Value> = pairs.map(|pair| flow(&format!("{pair:?}"), pair, json!({}))).into();
    flows.push(flow("four", [0, 2], json!({"family": "ipv4"})));
    // What is due before the router's Ethernet address is known waits for it.
    flows.push(flow("early", [0, 2], json!({"start": "0 s", "stop": "100 ms"})));
    let received = delivered(&mut network, flows);
    let long = received.iter().filter(|count| **count > 500).count();
    let short = received.iter().filter(|count| (50..150).contains(*count)).count();
    assert_eq!((long, short), (6, 1), "{received:?}");
    // By the tables of IPv6, not by those of IPv4.
    let fib = network.table_json("fib", Some(1)).expect("a table").to_string();
    assert!(fib.contains("2001:2:0:2::/64"), "{fib}");
}

#[test]
fn they_go_over_lsps_of_routers_and_edges() {
    for egress_label in ["real", "implicit-null", "explicit-null"] {
        let mut network = network(with_edges(egress_label));
        let over = |name: &str, ends, lsp: u32| flow(name, ends, json!({"over": lsp}));
        let flows = vec![
            over("edge to edge", [3, 4], 0),
            over("edge to router", [3, 2], 1),
            over("routers", [0, 2], 2),
        ];
        let received = delivered(&mut network, flows);
        assert_eq!(received.len(), 5, "one of three LSPs has a stream for each");
        assert!(received.iter().all(|count| *count > 150), "{egress_label}: {received:?}");
        // The router in the middle knows no IPv6, and looks at labels only.
        assert!(network.router(1).is_some_and(|router| !router.forwarding().has_ipv6()));
        let ilm = network.table_json("ilm", Some(1)).expect("a table");
        assert!(crate::common::sum(&ilm, "packets") > 1_500, "{ilm}");
        assert_eq!(network.router(1).expect("a router").drops().total(), 0);
    }
}

/// What does not carry IPv6 to its end is lost there, and the accounts say so.
#[test]
fn accounts_close_where_packets_are_lost() {
    let mut described = described();
    described["links"][1].as_object_mut().expect("a link").remove("ipv6");
    let mut network = network(described);
    crate::common::add_flow(&mut network, &flow("nowhere", [0, 3], json!({}))).expect("a flow");
    run(&mut network, 3 * S);
    let (sent, received) = conserved(&mut network).expect("conservation");
    assert!(sent > 500 && received == 0, "{sent} {received}");
    let losses = network.table_json("losses", None).expect("a table");
    assert_eq!(crate::common::sum(&losses, "packets"), sent, "{losses}");
    assert_eq!(network.router(0).expect("a router").drops().get(DropReason::NoRoute), sent);
}

#[test]
fn ends_without_ipv6_are_refused_in_one_sentence() {
    let mut network = network(with_edges("real"));
    let mut refused = |ends: [usize; 2], more: Value| {
        crate::common::add_flow(&mut network, &flow("f", ends, more)).expect_err("refused")
    };
    assert_eq!(
        refused([0, 1], json!({})),
        "flow 'f': ipv6: 'r1' has no IPv6 address: give one to it, or to a link of it"
    );
    assert_eq!(
        refused([3, 4], json!({"over": 0, "size": 87})),
        "flow 'f': size=87: a test packet has 88 to 9234 bytes here"
    );
    let mut described = described();
    described["links"][0]["ipv6"] = json!(["2001:2:0:1::1/64", "2001:2:0:1::2/64"]);
    assert_eq!(
        crate::common::refusal(&described),
        "link r0 - r1: 2001:2:0:1::/64 collides with 2001:2::/48, to which test packets go"
    );
}
