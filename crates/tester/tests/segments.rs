//! Routers and hosts on a shared segment: addresses, routes through it, and what is refused.

use crate::common::{MS, S, conserved, network, routers, run};
use serde_json::{Value, json};

/// Routers 0 and 1 and hosts 4 and 5 on segment 3; behind router 1 stands router 2, and host 6 behind that.
fn described() -> Value {
    let mut nodes = routers(3, &json!({}));
    nodes.push(json!({"name": "lan", "kind": "bridge", "prefix": "10.1.0.0/24"}));
    nodes.push(json!({"name": "a", "kind": "host", "address": "10.1.0.1/24"}));
    nodes.push(json!({"name": "b", "kind": "host", "address": "10.1.0.11/24", "gateway": "10.1.0.3"}));
    nodes.push(json!({"name": "c", "kind": "host", "address": "10.2.0.2/24"}));
    let links = [(0, 3), (3, 1), (4, 3), (3, 5), (1, 2), (2, 6)];
    let links = links.map(|(a, b)| json!({"a": a, "b": b, "rate_bps": 100_000_000, "delay_ps": MS / 10}));
    json!({"nodes": nodes, "links": links})
}

fn refusal(change: impl FnOnce(&mut Value)) -> String {
    let mut described = described();
    change(&mut described);
    crate::common::refusal(&described)
}

#[test]
fn members_have_addresses_of_one_prefix() {
    let network = network(described());
    let of = |link: usize| {
        (network.links()[link].addresses.map(|a| a.to_string()), network.links()[link].prefix_len)
    };
    let pair = |a: &str, b: &str| ([a.to_string(), b.to_string()], 24);
    // Routers have the lowest that no host has; a host's gateway is the first router unless it says another.
    assert_eq!(of(0), pair("10.1.0.2", "10.1.0.0"));
    assert_eq!(of(1), pair("10.1.0.0", "10.1.0.3"));
    assert_eq!(of(2), pair("10.1.0.1", "10.1.0.2"));
    assert_eq!(of(3), pair("10.1.0.3", "10.1.0.11"));
}

#[test]
fn packets_cross_a_segment_and_nothing_is_lost() {
    let mut described = described();
    let flow = |name: &str, from: u32, to: u32| json!({"name": name, "from": from, "to": to, "rate_bps": 5_000_000, "size": 200, "start_ps": 100 * MS, "stop_ps": 900 * MS});
    // Between hosts of the segment; out of it and back, by either gateway; between routers on both sides.
    let flows =
        [("near", 4, 5), ("out", 4, 6), ("back", 6, 5), ("other", 5, 6), ("across", 0, 2), ("home", 2, 0)];
    described["flows"] = flows.map(|(name, from, to)| flow(name, from, to)).into_iter().collect();
    let mut network = network(described);
    run(&mut network, S);
    let (sent, received) = conserved(&mut network).expect("conservation");
    assert!(sent > 12_000 && sent == received, "{received} of {sent}");
    // Router 0 has nothing to do with what stays on the segment: it drops no more than what was flooded.
    let fib = network.table_json("fib", Some(2)).expect("a table");
    assert!(fib.to_string().contains("10.1.0.0/24"), "{fib}");
}

#[test]
fn what_cannot_be_is_refused() {
    let twice = refusal(|d| d["nodes"][5]["address"] = json!("10.1.0.1/24"));
    assert_eq!(twice, "node 'b': 10.1.0.1 is the address of 'a', too");
    let far = refusal(|d| d["nodes"][5]["address"] = json!("10.3.0.1/24"));
    assert_eq!(far, "node 'b': 10.3.0.1/24 and 10.1.0.0/24 are not in one network");
    let gateway = refusal(|d| d["nodes"][5]["gateway"] = json!("10.1.0.9"));
    assert_eq!(gateway, "node 'b': its gateway 10.1.0.9 is not an address of a router in 10.1.0.0/24");
    let full = refusal(|d| {
        d["nodes"][3]["prefix"] = json!("10.1.0.0/30");
        d["nodes"][4]["address"] = json!("10.1.0.1/30");
        d["nodes"][5]["address"] = json!("10.1.0.2/30");
    });
    assert_eq!(full, "node 'lan': 10.1.0.0/30 has no address left for 'r0'");
    let overlap = refusal(|d| d["nodes"][6]["address"] = json!("10.1.0.77/24"));
    assert_eq!(overlap, "node 'c': 10.1.0.0/24 and 10.1.0.0/24 of segment 'lan' overlap");
    let given = refusal(|d| d["links"][0]["addresses"] = json!(["10.1.0.5/24", "10.1.0.6/24"]));
    assert_eq!(given, "link r0 - lan: its addresses are in the prefix of segment 'lan': leave them out");
    let two = refusal(|d| {
        d["nodes"]
            .as_array_mut()
            .expect("nodes")
            .push(json!({"name": "more", "kind": "bridge", "prefix": "10.5.0.0/24"}));
        d["links"]
            .as_array_mut()
            .expect("links")
            .push(json!({"a": 3, "b": 7, "rate_bps": 1_000_000, "delay_ps": 0}));
    });
    assert_eq!(two, "node 'lan': it has a link to 'more', another segment: put a router between them");
    let lsp = refusal(|d| d["lsps"] = json!([{"name": "l", "from": 0, "to": 2}]));
    assert!(
        lsp.contains("its way leads over segment 'lan': LSPs go over links between two routers"),
        "{lsp}"
    );
}

#[test]
fn a_static_route_names_a_neighbour_and_no_segment() {
    let via = refusal(|d| d["nodes"][0]["routes"] = json!([{"prefix": "10.9.0.0/24", "via": ["lan"]}]));
    assert!(via.contains("'lan' is a shared segment, and no next hop of 'r0'"), "{via}");
}
