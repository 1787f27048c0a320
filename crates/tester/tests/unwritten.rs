//! Routes by shortest paths that are found when they are first used: nobody can tell them from those that are written
//! before anything runs.

use crate::common::{MS, conserved};
use base::random::Stream;
use base::{LinkId, NodeId, Span, Streams, Time};
use engine::{Fault, FaultKind};
use rand::RngExt;
use serde_json::{Value, json};
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

/// Builds a network; with a limit that is never reached, which has all routes written.
fn built(described: &Value, written: bool) -> Testbed {
    let mut described = described.clone();
    if written {
        for node in described["nodes"].as_object_mut().expect("nodes").values_mut() {
            if node["kind"] == "router" {
                node["profile"] = json!({"tables": {"prefixes_max": 1_000_000}});
            }
        }
    }
    let value = serde_json::from_value(described).expect("a value");
    let file = NetworkFile::read_part(&value).unwrap_or_else(|error| panic!("{}", error.words()));
    Testbed::new(&file).expect("a network")
}

/// Routers of a random network whose links have random metrics, some of them addresses of their own; hosts, router ids
/// and static routes here and there; flows and LSPs of which some follow routes.
fn described(random: &mut Stream) -> Value {
    let count = random.random_range(4..12usize);
    let name = |node: usize| format!("r{node}");
    let mut nodes = serde_json::Map::new();
    let mut links = Vec::new();
    for node in 0..count {
        let mut router = json!({"kind": "router"});
        if random.random_bool(0.2) {
            router["router_id"] = json!(format!("10.200.0.{}", node + 1));
        }
        if random.random_bool(0.2) {
            // Within what others are in, around it, or elsewhere.
            let prefix = [
                "100.64.0.0/10",
                "100.64.1.64/26",
                "10.0.0.0/8",
                "0.0.0.0/0",
                "10.200.0.1/32",
                "10.77.0.0/16",
            ];
            let prefix = prefix[random.random_range(0..prefix.len())];
            if node > 0 {
                router["routes"] = json!([{"prefix": prefix, "via": name(node - 1)}]);
            }
        }
        nodes.insert(name(node), router);
        let mut near = vec![];
        if node > 0 {
            near.push(node - 1);
        }
        if node > 2 {
            near.push(random.random_range(0..node - 1));
        }
        for other in near {
            // Often the same, so that ties have to be broken.
            let metric = random.random_range(1..4);
            let mut link = json!({"endpoints": [name(other), name(node)], "rate": "1 Gbit/s", "metric": metric,
                "delay": format!("{} us", [10, 10, 50][random.random_range(0..3)])});
            if random.random_bool(0.2) {
                let third = links.len();
                link["addresses"] = json!([format!("10.100.{third}.1/30"), format!("10.100.{third}.2/30")]);
            }
            links.push(link);
        }
    }
    for host in 0..random.random_range(2..4) {
        nodes.insert(
            format!("h{host}"),
            json!({"kind": "host", "address": format!("10.{}.0.2/24", host + 1)}),
        );
        let at = random.random_range(0..count);
        links.push(json!({"endpoints": [format!("h{host}"), name(at)], "rate": "1 Gbit/s"}));
    }
    let mut lsps = Vec::new();
    let mut flows = Vec::new();
    for number in 0..random.random_range(1..4) {
        let (from, to) = (random.random_range(0..count), random.random_range(0..count));
        if from == to {
            continue;
        }
        let mut lsp = json!({"name": format!("l{number}"), "from": name(from), "to": name(to)});
        match random.random_range(0..3) {
            0 => lsp["carries"] = json!(["10.2.0.0/24"]),
            1 => lsp["carries"] = json!(["100.64.0.0/16"]),
            _ => {
                let via = random.random_range(0..count);
                if via != from && via != to {
                    lsp["route"] = json!([name(via), name(to)]);
                    lsp["loose"] = json!(true);
                }
            }
        }
        flows.push(json!({"name": format!("over{number}"), "from": name(from), "to": name(to),
            "over": format!("l{number}"), "rate": "1 Mbit/s", "size": 300, "start": "100 ms", "stop": "400 ms"}));
        lsps.push(lsp);
    }
    for number in 0..random.random_range(2..8) {
        let (from, to) = (random.random_range(0..count), random.random_range(0..count));
        if from != to {
            flows.push(
                json!({"name": format!("f{number}"), "from": name(from), "to": name(to), "rate": "1 Mbit/s",
                "size": 300, "stop": "400 ms"}),
            );
        }
    }
    flows.push(
        json!({"name": "hosts", "from": "h0", "to": "h1", "rate": "1 Mbit/s", "size": 300, "stop": "400 ms"}),
    );
    let mut described = json!({"name": "some", "nodes": nodes, "links": links, "lsps": lsps, "flows": flows});
    if random.random_bool(0.5) {
        described["routes"] = json!({"kind": "shortest", "detection": "10 ms", "computation": "10 ms"});
    }
    described
}

/// Gives most links of a network IPv6, all routers a loopback address, and adds flows of IPv6; of some there is no way.
fn with_ipv6(described: &mut Value, random: &mut Stream) {
    for (at, link) in described["links"].as_array_mut().expect("links").iter_mut().enumerate() {
        if random.random_bool(0.85) {
            link["ipv6"] = json!([format!("2001:db8:{at:x}::1/64"), format!("2001:db8:{at:x}::2/64")]);
        }
    }
    let nodes = described["nodes"].as_object_mut().expect("nodes");
    let routers = nodes.values_mut().filter(|node| node["kind"] == "router");
    let count =
        routers.enumerate().map(|(at, node)| node["ipv6"] = json!(format!("2001:db8:ffff::{at:x}"))).count();
    for number in 0..random.random_range(3..8) {
        let (from, to) = (random.random_range(0..count), random.random_range(0..count));
        if from != to {
            described["flows"].as_array_mut().expect("flows").push(json!({
                "name": format!("six{number}"), "from": format!("r{from}"), "to": format!("r{to}"),
                "family": "ipv6", "rate": "1 Mbit/s", "size": 300, "stop": "400 ms",
            }));
        }
    }
}

/// All that can be seen of both networks is the same.
fn same(networks: &mut [Testbed; 2], whole: bool) -> Result<(), String> {
    let [one, other] = networks;
    let compare = |name: &str, node: Option<usize>, one: &mut Testbed, other: &mut Testbed| {
        let [a, b] =
            [one, other].map(|network| network.table_json(name, node).map_err(|error| error.to_string()));
        let (a, b) = (a?, b?);
        if a == b { Ok(()) } else { Err(format!("table {name} of {node:?}:\n{a}\n{b}")) }
    };
    let routers: Vec<usize> =
        (0..one.description().nodes.len()).filter(|node| one.router(*node).is_some()).collect();
    assert!(routers.len() > 3, "there are routers");
    for node in routers.into_iter().filter(|_| whole) {
        for name in ["fib", "ftn", "rib", "neighbors", "counters"] {
            compare(name, Some(node), one, other)?;
        }
    }
    for name in
        ["rib", "writes", "streams", "losses", "drops", "lsps", "computed_routes", "messages", "balance"]
    {
        compare(name, None, one, other)?;
    }
    if one.world().digest() != other.world().digest() {
        return Err("the digests differ".into());
    }
    Ok(())
}

/// Builds a random network both ways, has something fail in it, and looks again and again.
fn compared(seed: u64) -> Result<(), String> {
    let mut random = Streams::new(seed).stream("unwritten");
    let mut described = described(&mut random);
    if seed % 2 == 1 {
        with_ipv6(&mut described, &mut Streams::new(seed).stream("unwritten6"));
    }
    let mut networks = [false, true].map(|written| built(&described, written));
    same(&mut networks, random.random_bool(0.5))?;
    let links = networks[0].links().len() as u32;
    if random.random_bool(0.6) {
        let (node, down_for) = (NodeId(random.random_range(0..4)), Span::from_ms(30));
        let link = LinkId(random.random_range(0..links));
        let fault = match random.random_bool(0.3) {
            true => Fault::new(Time(150 * MS), FaultKind::NodeRestart { node, down_for }),
            false => Fault::new(Time(150 * MS), FaultKind::LinkDown { link }).until(Time(250 * MS)),
        };
        for network in &mut networks {
            network.fault(fault.clone()).map_err(|error| error.to_string())?;
        }
    }
    for at in [120, 200, 500] {
        for network in &mut networks {
            network.run_until(Time(at * MS)).map_err(|error| error.to_string())?;
        }
        same(&mut networks, random.random_bool(0.5))?;
    }
    let (sent, received) = conserved(&mut networks[0])?;
    if sent > 0 && received > 0 { Ok(()) } else { Err(format!("{sent} sent, {received} received")) }
}

#[test]
fn nobody_can_tell_routes_that_are_not_written() {
    for seed in testing::runs(60) {
        compared(seed).unwrap_or_else(|error| panic!("run {seed}: {error}"));
    }
}

#[test]
fn a_large_network_has_the_routes_that_are_used() {
    let count = 2_000;
    let name = |node: usize| format!("r{}", node % count);
    let nodes: serde_json::Map<_, _> =
        (0..count).map(|node| (name(node), json!({"kind": "router"}))).collect();
    let link = |node: usize| {
        let ends = [1, 2].map(|end| format!("2001:db8:{node:x}::{end}/64"));
        json!({"endpoints": [name(node), name(node + 1)], "rate": "1 Gbit/s", "ipv6": ends})
    };
    let links: Vec<Value> = (0..count).map(link).collect();
    let flow = |node: usize| {
        json!({"name": format!("f{node}"), "from": name(node), "to": name(node + 5), "rate": "1 Mbit/s", "size": 500,
            "stop": "20 ms"})
    };
    let flow6 = |node: usize| {
        let mut flow = flow(node);
        (flow["name"], flow["family"]) = (json!(format!("six{node}")), json!("ipv6"));
        flow
    };
    let flows: Vec<Value> = (0..count).step_by(100).flat_map(|node| [flow(node), flow6(node)]).collect();
    let described = json!({"name": "ring", "nodes": nodes, "links": links, "flows": flows});
    let mut network = built(&described, false);
    let known = |network: &Testbed| {
        let tables = (0..count).filter_map(|node| network.router(node)).map(|router| router.forwarding());
        tables.fold([0, 0], |sums, tables| [sums[0] + tables.fib().count(), sums[1] + tables.fib6().count()])
    };
    // Its own addresses and networks, and the blocks of its neighbours that its networks are in.
    let before = known(&network);
    assert!(before.iter().all(|known| *known <= 12 * count), "{before:?} routes");
    network.run_until(Time(50 * MS)).expect("a run");
    let after = known(&network);
    for (before, after) in before.into_iter().zip(after) {
        assert!(after > before && after - before <= flows.len() * 3, "{before}, then {after} routes");
    }
    let (sent, received) = conserved(&mut network).expect("all packets");
    assert!(sent > 0 && sent == received, "{sent} sent, {received} received");
    let shown = network.table_json("fib", Some(0)).expect("a table");
    let prefixes = crate::common::column(&shown, "prefix");
    let of_ipv6 = prefixes.iter().filter(|prefix| prefix.as_str().is_some_and(|text| text.contains(':')));
    assert!(of_ipv6.count() > 2 * count && prefixes.len() > 3 * count, "the table shows all");
}
