//! Hosts at the edge: addresses, the routes to them, LSPs that carry their packets, and what is refused.

use crate::common::{MS, S, chain, column, conserved, network, routers, run};
use base::Event;
use serde_json::{Value, json};

/// Two hosts, `left` and `right`, on a chain of three routers; one LSP each way carries what they say to each other.
fn described() -> Value {
    let mut nodes = routers(3, &json!({}));
    nodes.push(json!({"name": "left", "kind": "host", "address": "10.1.0.2/24"}));
    nodes.push(json!({"name": "right", "kind": "host", "address": "10.2.0.1/24", "gateway": "10.2.0.9"}));
    let mut links = chain(3, 1_000_000_000, MS);
    links.push(json!({"a": 3, "b": 0, "rate_bps": 100_000_000, "delay_ps": 0}));
    links.push(json!({"a": 2, "b": 4, "rate_bps": 100_000_000, "delay_ps": 0}));
    json!({
        "nodes": nodes, "links": links,
        "lsps": [
            {"name": "east", "from": 0, "to": 2, "routes": [[1, 2]], "carries": ["10.2.0.0/24"]},
            {"name": "west", "from": 2, "to": 0, "routes": [[1, 0]], "carries": ["10.1.0.0/24"]},
        ],
    })
}

fn refusal(change: impl FnOnce(&mut Value)) -> String {
    let mut described = described();
    change(&mut described);
    crate::common::refusal(&described)
}

#[test]
fn packets_between_hosts_take_the_lsps() {
    let mut described = described();
    described["flows"] = json!([
        {"name": "there", "from": 3, "to": 4, "rate_bps": 10_000_000, "size": 200, "start_ps": 100 * MS, "stop_ps": 900 * MS},
        {"name": "back", "from": 4, "to": 3, "rate_bps": 10_000_000, "size": 200, "start_ps": 100 * MS, "stop_ps": 900 * MS},
        {"name": "probe", "from": 1, "to": 4, "rate_bps": 1_000_000, "size": 200, "start_ps": 100 * MS, "stop_ps": 900 * MS},
    ]);
    let mut network = network(described);
    run(&mut network, S);
    let (sent, received) = conserved(&mut network).expect("conservation");
    assert!(sent > 10_000 && sent == received, "{received} of {sent}");
    let ilm = network.table_json("ilm", Some(1)).expect("a table");
    let packets: Vec<u64> = column(&ilm, "packets").iter().filter_map(Value::as_u64).collect();
    assert!(packets.len() == 2 && packets.iter().all(|n| *n > 4_900), "{packets:?}");
}

/// RFC 1122, 2.3.2.2: what is due before neighbours are known waits for them, at hosts and at testers beside routers.
#[test]
fn nothing_is_lost_before_neighbours_are_known() {
    let mut described = described();
    described["lsps"] = json!([]);
    let flow = |name: &str, from: u32, to: u32| json!({"name": name, "from": from, "to": to, "rate_bps": 10_000_000, "size": 200, "start_ps": 0, "stop_ps": 50 * MS});
    described["flows"] = json!([flow("there", 3, 4), flow("back", 4, 3), flow("beside", 0, 2)]);
    for link in [2, 3] {
        described["links"][link]["delay_ps"] = json!(3 * MS);
    }
    let mut network = network(described);
    run(&mut network, S);
    let (sent, received) = conserved(&mut network).expect("conservation");
    assert!(sent > 900 && sent == received, "{received} of {sent}");
}

#[test]
fn filters_take_packets_out_of_what_prefixes_carry() {
    let mut described = described();
    // Pings take the first LSP, test packets (UDP) the second.
    let filtered = json!({"name": "udp", "from": 0, "to": 2, "routes": [[1, 2]], "filters": [{"protocol": 17, "src": "10.1.0.0/24"}]});
    described["lsps"].as_array_mut().expect("LSPs").push(filtered);
    described["flows"] = json!([{"from": 3, "to": 4, "rate_bps": 1_000_000, "size": 125, "start_ps": 100 * MS, "stop_ps": 600 * MS}]);
    let mut network = network(described);
    run(&mut network, 200 * MS);
    let right = network.loopback(4);
    (0..7).for_each(|sequence| network.ping(3, right, 64, sequence).expect("a ping"));
    run(&mut network, S);
    let streams = network.table_json("streams", None).expect("a table");
    let received = crate::common::sum(&streams, "received");
    let ilm = network.table_json("ilm", Some(1)).expect("a table");
    let mut packets: Vec<u64> = column(&ilm, "packets").iter().filter_map(Value::as_u64).collect();
    packets.sort_unstable();
    assert!(received > 490);
    assert_eq!(packets, [7, 7, received], "pings there, pings back, test packets");
}

#[test]
fn hosts_ping_and_trace_through_the_lsp() {
    let mut network = network(described());
    run(&mut network, S);
    let right = network.loopback(4);
    for ttl in 1..=4 {
        network.ping(3, right, ttl, u16::from(ttl)).expect("a ping");
        run(&mut network, S + u64::from(ttl) * 100 * MS);
    }
    let mut answers = Vec::new();
    for record in network.events() {
        if let Event::ProbeReply { from, sequence, kind, labels, .. } = &record.event {
            answers.push((*sequence, from.to_string(), *kind, labels.len()));
        }
    }
    answers.sort();
    let links = network.links();
    let expected = [
        (1, "10.1.0.1".to_string(), 11, 0),
        (2, links[0].addresses[1].to_string(), 11, 1),
        (3, links[1].addresses[1].to_string(), 11, 1),
        (4, "10.2.0.1".to_string(), 0, 0),
    ];
    assert_eq!(answers, expected);
}

#[test]
fn addresses_that_the_user_gives_are_used() {
    let mut described = described();
    described["nodes"][1]["router_id"] = json!("10.255.0.2");
    described["links"][0]["addresses"] = json!(["172.16.0.1/31", "172.16.0.0/31"]);
    let mut network = network(described);
    assert_eq!(network.loopback(1).to_string(), "10.255.0.2");
    run(&mut network, S);
    for (sequence, to) in ["10.255.0.2", "172.16.0.0", "172.16.0.1"].into_iter().enumerate() {
        network
            .ping(2, to.parse::<std::net::IpAddr>().expect("an address"), 64, sequence as u16)
            .expect("a ping");
    }
    run(&mut network, 2 * S);
    let replies = |r: &&engine::EventRecord| matches!(r.event, Event::ProbeReply { kind: 0, .. });
    assert_eq!(network.events().iter().filter(replies).count(), 3);
    let up = column(&network.table_json("lsps", None).expect("a table"), "state");
    assert_eq!(up, [json!("up"), json!("up")]);
}

#[test]
fn what_can_not_be_is_refused_in_one_sentence() {
    type Change = fn(&mut Value);
    let cases: &[(Change, &str)] = &[
        (
            |d| d["nodes"][4] = json!({"name": "right", "kind": "host", "address": "10.1.0.77/16"}),
            "node 'right': 10.1.0.0/16 and 10.1.0.0/24 of host 'left' overlap",
        ),
        (
            |d| d["links"][1] = json!({"a": 1, "b": 3, "rate_bps": 1}),
            "host 'left' has several links: each must say its 'addresses' at both ends",
        ),
        (
            |d| drop(d["links"].as_array_mut().map(Vec::pop)),
            "node 'right': it has no link: a host needs one, to a router",
        ),
        (
            |d| d["nodes"][0] = json!({"name": "r0", "kind": "peer"}),
            "its link leads to 'r0', which is no router",
        ),
        (
            |d| d["nodes"][4]["gateway"] = json!("10.3.0.1"),
            "its gateway 10.3.0.1 is not an address of a router in 10.2.0.0/24",
        ),
        (|d| d["nodes"][4]["gateway"] = json!("10.2.0.1"), "its gateway 10.2.0.1 is its own address"),
        (
            |d| d["nodes"][4]["address"] = json!("10.2.0.0/24"),
            "10.2.0.0/24: not an address that a host can have",
        ),
        (|d| d["nodes"][4]["address"] = json!("10.2.0.1/32"), "there is no room for its gateway"),
        (
            |d| d["nodes"][4]["address"] = json!("10.2.0.1"),
            "'10.2.0.1' is not an IPv4 address with a prefix length",
        ),
        (|d| d["nodes"][4]["address"] = Value::Null, "node 'right': it has no address"),
        (|d| d["nodes"][3]["address"] = json!("100.64.9.2/24"), "100.64.9.0/24 collides with 100.64.0.0/10"),
        (|d| d["nodes"][3]["address"] = json!("198.18.0.2/30"), "198.18.0.0/30 collides with 198.18.0.0/15"),
        (|d| d["nodes"][0]["address"] = json!("10.9.0.1/24"), "node 'r0': unknown field 'address'"),
        (
            |d| d["nodes"][1] = json!({"name": "r1", "kind": "external"}),
            "somebody else's router is there in real time only",
        ),
        (|d| d["links"][0]["addresses"] = json!(["10.9.0.1/30", "10.9.0.6/30"]), "are not in one network"),
        (
            |d| d["links"][0]["addresses"] = json!(["10.1.0.9/30", "10.1.0.10/30"]),
            "node 'left': 10.1.0.0/24 and 10.1.0.8/30 of link r0 - r1 overlap",
        ),
        (
            |d| d["links"][2]["addresses"] = json!(["10.1.0.2/24", "10.1.0.1/24"]),
            "its addresses are those of host 'left'",
        ),
        (|d| d["nodes"][1]["router_id"] = json!("100.64.0.7"), "router_id=100.64.0.7 collides with"),
        (
            |d| d["nodes"][1]["router_id"] = json!("10.1.0.9"),
            "node 'r1': router_id=10.1.0.9 lies in 10.1.0.0/24, which is that of host 'left'",
        ),
        (
            |d| (0..2).for_each(|i| d["nodes"][i]["router_id"] = json!("172.20.0.1")),
            "node 'r1': router_id=172.20.0.1 is that of 'r0', too",
        ),
        (|d| d["lsps"][0]["count"] = json!(3), "'carries' is for one LSP"),
        (
            |d| d["lsps"][0]["filters"] = json!([{"protocol": 6, "dst_ports": [9, 8]}]),
            "lsp 'east': filter 1: ",
        ),
        (|d| d["lsps"][0]["to"] = json!(4), "an LSP ends at a router"),
        (
            |d| d["flows"] = json!([{"from": 3, "to": 2, "over": 0, "rate_bps": 1, "size": 100}]),
            "its LSP goes from 'r0' to 'r2'",
        ),
    ];
    for (change, expected) in cases {
        let told = refusal(change);
        assert!(told.contains(expected), "expected '{expected}', was told '{told}'");
    }
}

#[test]
fn many_lsps_need_the_second_test_network() {
    let told = refusal(|d| {
        d["lsps"] = json!(
            (0..3)
                .map(|i| json!({"name": format!("g{i}"), "from": 0, "to": i % 2 + 1, "count": 50_000}))
                .collect::<Vec<_>>()
        );
    });
    assert!(told.contains("collides with 10.0.0.0/8"), "{told}");
}
