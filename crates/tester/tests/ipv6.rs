//! IPv6 through whole networks: natively over three routers, over an LSP whose middle knows no IPv6, and what is
//! refused.

use crate::common::{MS, S, chain, conserved, network, routers, run};
use base::Event;
use serde_json::{Value, json};
use std::net::Ipv6Addr;
use twinplane_tester::Testbed;

const LEFT: usize = 3;

fn ends(net: u32) -> Value {
    json!([format!("2001:db8:{net:x}::1/64"), format!("2001:db8:{net:x}::2/64")])
}

fn address(text: &str) -> Ipv6Addr {
    text.parse().expect("an address")
}

/// Two hosts, `left` and `right`, on a chain of three routers, with IPv6 on the links between hosts and routers; on
/// those between routers, too, if `native`.
fn described(native: bool) -> Value {
    let mut nodes = routers(3, &json!({}));
    nodes.push(json!({"name": "left", "kind": "host", "address": "10.1.0.2/24"}));
    nodes.push(json!({"name": "right", "kind": "host", "address": "10.2.0.2/24"}));
    let mut links = chain(3, 1_000_000_000, MS);
    links.push(json!({"a": 3, "b": 0, "rate_bps": 100_000_000, "delay_ps": 0, "ipv6": ["2001:db8:1::2/64", "2001:db8:1::1/64"]}));
    links.push(json!({"a": 2, "b": 4, "rate_bps": 100_000_000, "delay_ps": 0, "ipv6": ends(2)}));
    if native {
        for (at, link) in links.iter_mut().take(2).enumerate() {
            link["ipv6"] = ends(16 + at as u32);
        }
        for (at, node) in nodes.iter_mut().take(3).enumerate() {
            node["ipv6"] = json!(format!("2001:db8:ff::{at}"));
        }
        nodes[0]["ipv6"] = json!("2001:db8:ff::100");
    }
    json!({"nodes": nodes, "links": links, "lsps": []})
}

/// The same with an LSP each way that carries the hosts' networks.
fn with_lsps(native: bool, egress_label: &str) -> Value {
    let mut described = described(native);
    for node in described["nodes"].as_array_mut().expect("nodes").iter_mut().take(3) {
        node["rsvp"] = json!({"egress_label": egress_label});
    }
    described["lsps"] = json!([
        {"name": "east", "from": 0, "to": 2, "routes": [[1, 2]], "carries": ["2001:db8:2::/64", "10.2.0.0/24"]},
        {"name": "west", "from": 2, "to": 0, "routes": [[1, 0]], "carries": ["2001:db8:1::/64", "10.1.0.0/24"]},
    ]);
    described
}

/// Sequence numbers, who answered, the kind of answer, and how many labels it quotes.
fn answers(network: &mut Testbed) -> Vec<(u16, String, u8, usize)> {
    let mut answers = Vec::new();
    for record in network.events() {
        if let Event::ProbeReply { from, sequence, kind, labels, .. } = &record.event {
            answers.push((*sequence, from.to_string(), *kind, labels.len()));
        }
    }
    answers.sort();
    answers
}

fn trace(network: &mut Testbed, from: usize, to: &str, ttls: core::ops::RangeInclusive<u8>) {
    for ttl in ttls {
        network.ping(from, address(to), ttl, u16::from(ttl)).expect("a ping");
        let until = network.world().now().0 + 100 * MS;
        run(network, until);
    }
}

#[test]
fn hosts_ping_and_trace_natively() {
    let mut network = network(described(true));
    run(&mut network, S);
    trace(&mut network, LEFT, "2001:db8:2::2", 1..=5);
    let expected = [
        (1, "2001:db8:1::1", 11, 0),
        (2, "2001:db8:10::2", 11, 0),
        (3, "2001:db8:11::2", 11, 0),
        (4, "2001:db8:2::2", 0, 0),
        (5, "2001:db8:2::2", 0, 0),
    ];
    assert_eq!(
        answers(&mut network),
        expected.map(|(n, from, kind, labels)| (n, from.to_string(), kind, labels))
    );
    conserved(&mut network).expect("conservation");
    // Neighbour discovery found the neighbours, and the tables show both families.
    let neighbors = network.table_json("neighbors", Some(1)).expect("a table").to_string();
    assert!(neighbors.contains("2001:db8:10::1") && neighbors.contains("2001:db8:11::2"), "{neighbors}");
    let fib = network.table_json("fib", Some(0)).expect("a table").to_string();
    assert!(fib.contains("\"2001:db8:2::/64\"") && fib.contains("2001:db8:10::2"), "{fib}");
}

#[test]
fn routers_answer_for_their_addresses_and_ping_from_their_loopback() {
    let mut network = network(described(true));
    run(&mut network, S);
    for (sequence, to) in
        ["2001:db8:ff::2", "2001:db8:11::2", "2001:db8:1::2", "2001:db8:ff::100"].into_iter().enumerate()
    {
        network.ping(0, address(to), 64, sequence as u16).expect("a ping");
    }
    // Nobody has this address on the link, and nobody knows of this network.
    network.ping(LEFT, address("2001:db8:2::77"), 64, 10).expect("a ping");
    network.ping(LEFT, address("2001:db8:77::1"), 64, 11).expect("a ping");
    run(&mut network, 10 * S);
    let expected = [
        (0, "2001:db8:ff::2", 0, 0),
        (1, "2001:db8:11::2", 0, 0),
        (2, "2001:db8:1::2", 0, 0),
        (3, "2001:db8:ff::100", 0, 0),
        (10, "2001:db8:11::2", 3, 0),
        (11, "2001:db8:1::1", 3, 0),
    ];
    assert_eq!(
        answers(&mut network),
        expected.map(|(n, from, kind, labels)| (n, from.to_string(), kind, labels))
    );
}

/// RFC 4798: the routers in the middle know no IPv6. With implicit null the penultimate one exposes the label IPv6
/// explicit null, and forwards what is below without looking at it.
#[test]
fn an_lsp_carries_ipv6_over_routers_that_know_none() {
    for egress_label in ["real", "implicit-null", "explicit-null"] {
        let mut network = network(with_lsps(false, egress_label));
        run(&mut network, S);
        trace(&mut network, LEFT, "2001:db8:2::2", 1..=4);
        let answers = answers(&mut network);
        // The router in the middle has no address to speak from, and says nothing.
        let shown: Vec<_> = answers.iter().map(|(n, from, kind, _)| (*n, from.as_str(), *kind)).collect();
        assert_eq!(
            shown,
            [(1, "2001:db8:1::1", 11), (3, "2001:db8:2::1", 11), (4, "2001:db8:2::2", 0)],
            "{egress_label}"
        );
        conserved(&mut network).expect("conservation");
        let ftn = network.table_json("ftn", Some(0)).expect("a table").to_string();
        assert!(ftn.contains("2001:db8:2::/64"), "{ftn}");
        assert!(network.router(1).is_some_and(|router| !router.forwarding().has_ipv6()));
    }
}

#[test]
fn errors_along_an_lsp_quote_its_labels() {
    let mut network = network(with_lsps(true, "real"));
    run(&mut network, S);
    trace(&mut network, LEFT, "2001:db8:2::2", 1..=4);
    let expected = [
        (1, "2001:db8:1::1", 11, 0),
        (2, "2001:db8:10::2", 11, 2),
        (3, "2001:db8:11::2", 11, 2),
        (4, "2001:db8:2::2", 0, 0),
    ];
    assert_eq!(
        answers(&mut network),
        expected.map(|(n, from, kind, labels)| (n, from.to_string(), kind, labels))
    );
}

#[test]
fn a_network_without_ipv6_addresses_speaks_none() {
    let mut described = described(false);
    for link in described["links"].as_array_mut().expect("links") {
        link.as_object_mut().expect("a link").remove("ipv6");
    }
    let mut network = network(described);
    run(&mut network, S);
    network.ping(0, address("2001:db8:2::2"), 64, 1).expect("a ping");
    network.ping(LEFT, address("2001:db8:2::2"), 64, 2).expect("a ping");
    run(&mut network, 2 * S);
    assert_eq!(answers(&mut network), []);
    assert!((0..3).all(|node| network.router(node).is_some_and(|router| !router.forwarding().has_ipv6())));
}

#[test]
fn addresses_that_cannot_be_are_refused_in_one_sentence() {
    let refusal = |change: &dyn Fn(&mut Value)| {
        let mut described = described(true);
        change(&mut described);
        crate::common::refusal(&described)
    };
    let first = |ends: Value| refusal(&move |d: &mut Value| d["links"][0]["ipv6"] = ends.clone());
    assert_eq!(
        first(json!(["2001:db8:10::1/64", "2001:db8:12::2/64"])),
        "link r0 - r1: 2001:db8:10::1/64 and 2001:db8:12::2/64 are not in one network"
    );
    assert_eq!(
        first(json!(["fe80::1/64", "fe80::2/64"])),
        "link r0 - r1: fe80::1: not an address that an interface can have"
    );
    assert_eq!(
        first(json!(["2001:db8:11::5/64", "2001:db8:11::6/64"])),
        "link r1 - r2: 2001:db8:11::/64 and 2001:db8:11::/64 of link r0 - r1 overlap"
    );
    assert!(
        first(json!(["10.0.0.1/24", "10.0.0.2/24"])).contains("an IPv6 address with a prefix length such as")
    );
    let short = refusal(&|d| d["links"][0]["mtu"] = json!(1000));
    assert!(short.contains("mtu=1000: a link with IPv6 takes packets of 1280 bytes at least"), "{short}");
    let twice = refusal(&|d| d["nodes"][1]["ipv6"] = json!("2001:db8:ff::100"));
    assert!(twice.contains("2001:db8:ff::100 is that of 'r0', too"), "{twice}");
}

/// What was configured is there again after a restart, and nothing else: routes, and answers.
#[test]
fn a_restart_brings_back_the_routes_of_ipv6() {
    let mut network = network(described(true));
    run(&mut network, S);
    let shown = |network: &mut Testbed| {
        let table = network.table_json("fib", Some(1)).expect("a table");
        let rib = network.table_json("rib", Some(1)).expect("a table");
        (
            crate::common::column(&table, "prefix"),
            crate::common::column(&table, "to"),
            crate::common::column(&rib, "source"),
        )
    };
    let before = shown(&mut network);
    assert!(before.0.contains(&json!("2001:db8:2::/64")) && before.2.contains(&json!("static")));
    let now = network.world().now();
    network.world_mut().command(now, base::NodeId(1), base::Command::Restart).expect("a router");
    run(&mut network, 2 * S);
    assert_eq!(shown(&mut network), before);
    network.ping(LEFT, address("2001:db8:2::2"), 64, 1).expect("a ping");
    run(&mut network, 3 * S);
    assert_eq!(answers(&mut network).len(), 1);
    conserved(&mut network).expect("conservation");
}

/// Measured flows of both families between the hosts, both ways, at sizes that vary.
#[test]
fn flows_of_ipv6_are_measured_as_those_of_ipv4_are() {
    for described in [described(true), with_lsps(false, "implicit-null")] {
        let mut network = network(described);
        for (name, from, to, family) in
            [("four", 3, 4, "ipv4"), ("six", 3, 4, "ipv6"), ("back", 4, 3, "ipv6")]
        {
            let flow = json!({
                "name": name, "from": from, "to": to, "family": family, "rate": "5 Mbit/s", "dscp": "EF",
                "size": {"kind": "uniform", "min": 80, "max": 1518}, "arrivals": "poisson", "start": "1 s", "stop": "2 s",
            });
            crate::common::add_flow(&mut network, &flow).expect("a flow");
        }
        run(&mut network, 3 * S);
        let (sent, received) = conserved(&mut network).expect("conservation");
        assert_eq!((sent, sent > 2000), (received, true));
        let streams = network.table_json("streams", None).expect("a table");
        assert_eq!(crate::common::sum(&streams, "reordered"), 0);
    }
}

#[test]
fn flows_of_ipv6_need_addresses_at_both_ends() {
    let mut only_left = described(true);
    only_left["links"][3].as_object_mut().expect("a link").remove("ipv6");
    let mut network = network(only_left);
    let mut refused = |from: usize, to: usize, size: u32| {
        let flow = json!({"name": "f", "from": from, "to": to, "family": "ipv6", "size": size});
        crate::common::add_flow(&mut network, &flow).expect_err("refused")
    };
    assert_eq!(refused(3, 4, 512), "flow 'f': ipv6: link r2 - right has no IPv6 addresses");
    assert_eq!(refused(3, 4, 79), "flow 'f': size=79: a test packet has 80 to 9234 bytes here");
}
