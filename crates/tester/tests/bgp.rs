//! BGP in whole networks: what goes with a port that is down, a restart of BGP alone, and next hops behind tunnels.

use crate::common::named::network;
use crate::common::{S, column, conserved, sum};
use base::{LinkId, Span, Time};
use engine::{Fault, FaultKind};
use network::PacketSpec;
use serde_json::{Value, json};
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

fn link(a: &str, b: &str) -> Value {
    json!({"endpoints": [a, b], "rate": "1 Gbit/s", "delay": "100 us"})
}

fn host(number: u8) -> Value {
    json!({"kind": "host", "address": format!("10.{number}.0.2/24")})
}

fn neighbor(asn: u32) -> Value {
    json!({"asn": asn, "import": "all", "export": "all", "advertisement_interval": "1 s"})
}

/// Prefixes of a router's table, by their source.
fn routes(network: &mut Testbed, node: &str, source: &str) -> Vec<String> {
    let table = network.table_json("rib", None).expect("a table");
    let [nodes, sources, prefixes] = ["node", "source", "prefix"].map(|name| column(&table, name));
    let rows = nodes.iter().zip(&sources).zip(&prefixes);
    let mine = rows.filter(|((of, by), _)| **of == node && **by == source);
    mine.filter_map(|(_, prefix)| prefix.as_str().map(String::from)).collect()
}

/// For each neighbour of a router: is it waiting for all routes of that neighbour after a restart of BGP?
fn awaited(network: &mut Testbed, node: &str) -> Vec<bool> {
    let table = network.table_json("bgp_neighbors", None).expect("a table");
    let rows = column(&table, "node").into_iter().zip(column(&table, "is_awaited"));
    rows.filter(|(of, _)| *of == node).map(|(_, is)| is.as_bool().expect("yes or no")).collect()
}

fn lost(network: &mut Testbed) -> u64 {
    let table = network.table_json("flow_accounts", None).expect("a table");
    assert!(column(&table, "unknown").iter().all(|unknown| *unknown == 0), "{table}");
    sum(&table, "lost")
}

/// A host behind each of three routers in a row, each of an AS of its own. `more` are further settings of the middle.
fn row(more: &Value) -> Testbed {
    let router = |asn: u32, neighbors: Value| {
        json!({"kind": "router", "bgp": {"asn": asn, "connect_retry": "2 s", "redistribute": ["connected"],
            "neighbors": neighbors}})
    };
    let mut middle = router(65002, json!({"a": neighbor(65001), "c": neighbor(65003)}));
    let settings = middle["bgp"].as_object_mut().expect("settings");
    settings.extend(more.as_object().expect("fields").clone());
    network(&json!({
        "name": "row",
        "nodes": {"h1": host(1), "a": router(65001, json!({"b": neighbor(65002)})), "b": middle,
            "c": router(65003, json!({"b": neighbor(65002)})), "h2": host(2), "h3": host(3)},
        "links": [link("h1", "a"), link("a", "b"), link("b", "c"), link("c", "h2"), link("b", "h3")],
        "flows": [{"name": "f", "from": "h1", "to": "h2", "rate": "4 Mbit/s", "size": 500, "start": "20 s"}],
    }))
}

#[test]
fn a_connected_network_is_withdrawn_while_its_port_is_down() {
    let mut network = row(&json!({}));
    network.run_until(Time(20 * S)).expect("a run");
    let beyond = String::from("10.3.0.0/24");
    let [at_a, at_b] = [routes(&mut network, "a", "bgp"), routes(&mut network, "b", "connected")];
    assert!(at_a.contains(&beyond) && at_b.contains(&beyond), "{at_a:?} {at_b:?}");
    let down = Fault::new(Time(20 * S), FaultKind::LinkDown { link: LinkId(4) });
    network.fault(down.until(Time(40 * S))).expect("a fault");
    network.run_until(Time(30 * S)).expect("a run");
    let less = |all: &[String]| all.iter().filter(|one| **one != beyond).cloned().collect::<Vec<_>>();
    assert_eq!(routes(&mut network, "a", "bgp"), less(&at_a));
    // The router's own address there is gone with it.
    let own = |prefix: &String| !prefix.starts_with("10.3.0.");
    let left = routes(&mut network, "b", "connected");
    assert_eq!(left, at_b.iter().filter(|one| own(one)).cloned().collect::<Vec<_>>());
    assert_eq!(at_b.len(), left.len() + 2);
    network.run_until(Time(50 * S)).expect("a run");
    assert_eq!((routes(&mut network, "a", "bgp"), routes(&mut network, "b", "connected")), (at_a, at_b));
    assert_eq!(lost(&mut network), 0, "others do not notice");
    conserved(&mut network).expect("closed accounts");
}

/// RFC 4724: BGP of the router in the middle is silent for five seconds, and packets go through it by what it knew.
#[test]
fn packets_pass_a_router_whose_bgp_restarts() {
    for is_graceful in [true, false] {
        let more = if is_graceful { json!({"restart_time": "60 s"}) } else { json!({}) };
        let mut network = row(&more);
        network.run_until(Time(30 * S)).expect("a run");
        let before = ["a", "b", "c"].map(|node| routes(&mut network, node, "bgp"));
        network.restart_protocol(1, "bgp", Span::from_secs(5)).expect("a restart");
        // Its tables stay as they are while it is away. Neighbours keep its routes only if it has asked them to.
        network.run_until(Time(34 * S)).expect("a run");
        let meanwhile = ["a", "b", "c"].map(|node| routes(&mut network, node, "bgp"));
        let [_, of_b, _] = before.clone();
        assert_eq!(meanwhile, if is_graceful { before.clone() } else { [vec![], of_b, vec![]] });
        // It is back, and connects: a message takes 100 us on a link.
        network.run_until(Time(35 * S + S / 10_000)).expect("a run");
        assert_eq!(awaited(&mut network, "b"), [is_graceful; 2]);
        assert_eq!(routes(&mut network, "b", "bgp") == before[1], is_graceful);
        network.run_until(Time(60 * S)).expect("a run");
        assert_eq!(["a", "b", "c"].map(|node| routes(&mut network, node, "bgp")), before);
        assert_eq!(awaited(&mut network, "b"), [false; 2]);
        // A thousand packets a second for the five seconds, and until neighbours have told each other all routes.
        let gone = lost(&mut network);
        assert!(if is_graceful { gone == 0 } else { (5_000..8_000).contains(&gone) }, "{gone}");
        conserved(&mut network).expect("closed accounts");
    }
}

/// An AS whose edges `a` and `d` alone speak BGP, with each other by their loopbacks, and `d` with `y` of another AS. A
/// tunnel with `autoroute` leads from `a` to `d` by `c` or by `e`, while the shortest path goes by `b`.
fn behind_a_tunnel(next_hop_self: bool) -> Testbed {
    let ospf = json!({"hello_interval": "1 s", "dead_interval": "4 s", "te": true});
    let core = json!({"kind": "router", "ospf": ospf});
    let inner = json!({"asn": 65000, "advertisement_interval": "1 s", "next_hop_self": next_hop_self});
    let edge = |id: &str, neighbors: Value| json!({"kind": "router", "router_id": id, "ospf": ospf, "bgp": {"asn": 65000, "neighbors": neighbors}});
    let metric = |a: &str, b: &str, metric: u32| {
        let mut link = link(a, b);
        link["metric"] = json!(metric);
        link
    };
    network(&json!({
        "name": "tunnel",
        "nodes": {"h1": host(1), "a": edge("10.250.0.101", json!({"10.250.0.104": inner})), "b": core, "c": core,
            "e": core, "d": edge("10.250.0.104", json!({"10.250.0.101": inner, "y": neighbor(65001)})),
            "y": {"kind": "router", "bgp": {"asn": 65001, "redistribute": ["connected"],
                "neighbors": {"d": neighbor(65000)}}},
            "h2": host(2)},
        "links": [link("h1", "a"), metric("a", "b", 1), metric("b", "d", 1), metric("a", "c", 5),
            metric("c", "d", 5), metric("a", "e", 7), metric("e", "d", 7), link("d", "y"), link("y", "h2")],
        "lsps": [{"name": "t", "from": "a", "to": "d", "autoroute": true,
            "path": {"exclude": ["b"], "follow": true}}],
        "flows": [{"name": "f", "from": "h1", "to": "h2", "rate": "4 Mbit/s", "size": 500, "start": "60 s"}],
    }))
}

/// Frames that have left by a link in this direction.
fn carried(network: &mut Testbed, from: &str, to: &str) -> u64 {
    let table = network.table_json("directions", None).expect("a table");
    let ends = column(&table, "from").into_iter().zip(column(&table, "to")).zip(column(&table, "offered"));
    let mine = ends.filter(|((a, b), _)| *a == from && *b == to);
    mine.filter_map(|(_, offered)| offered.as_u64()).sum()
}

/// What decides on a packet from `h1`.
fn way(network: &mut Testbed, to: &str) -> Value {
    let spec = PacketSpec {
        to: to.into(),
        src: None,
        protocol: None,
        src_port: None,
        dst_port: None,
        dscp: None,
        labels: Vec::new(),
    };
    let from = network.description().nodes.iter().position(|node| node.name == "h1").expect("a node");
    network::tables::json(&network.path(from, &spec).expect("a view")).expect("JSON")
}

/// The next hop is the end of the tunnel, or lies behind it. Routers in between know nothing of the destinations, so
/// that a packet arrives by the tunnel or not at all.
#[test]
fn next_hops_are_resolved_through_a_tunnel_with_autoroute() {
    for next_hop_self in [true, false] {
        let mut network = behind_a_tunnel(next_hop_self);
        network.run_until(Time(60 * S)).expect("a run");
        assert!(routes(&mut network, "a", "bgp").contains(&"10.2.0.0/24".into()));
        let table = way(&mut network, "10.2.0.2");
        assert_eq!([&column(&table, "owner")[0], &column(&table, "through")[0]], ["bgp", "lsp t"], "{table}");
        let others = column(&table, "overrides")[0].to_string();
        assert!(others.contains("(ospf): preference 110"), "{table}");
        let before = carried(&mut network, "a", "c");
        network.run_until(Time(70 * S)).expect("a run");
        assert_eq!(lost(&mut network), 0);
        assert!(carried(&mut network, "a", "c") - before > 9_900);
        // The LSP moves, and all routes through it with it.
        network.fault(Fault::new(Time(70 * S), FaultKind::LinkDown { link: LinkId(4) })).expect("a fault");
        network.run_until(Time(80 * S)).expect("a run");
        let gone = lost(&mut network);
        let before = carried(&mut network, "a", "e");
        network.run_until(Time(90 * S)).expect("a run");
        assert_eq!(lost(&mut network), gone, "{next_hop_self}");
        assert!(carried(&mut network, "a", "e") - before > 9_900);
        // Neither way is left: without the tunnel nobody in between knows what to do with the packets.
        network.fault(Fault::new(Time(90 * S), FaultKind::LinkDown { link: LinkId(6) })).expect("a fault");
        network.run_until(Time(100 * S)).expect("a run");
        let without = lost(&mut network) - gone;
        assert!(without > 8_000, "{without}");
        conserved(&mut network).expect("closed accounts");
    }
}

#[test]
fn routers_of_a_mesh_meet_each_other_without_naming_each_other() {
    let router = |number: u32, asn: u32, mesh: Value| {
        json!({"kind": "router", "router_id": format!("10.250.0.{number}"), "ospf": {"hello_interval": "1 s"},
            "bgp": {"asn": asn, "mesh": mesh, "networks": [format!("203.0.{number}.0/24")]}})
    };
    let mut nodes = json!({"a": router(1, 65000, json!(true)), "b": router(2, 65000, json!({"next_hop_self": false})),
        "c": router(3, 65000, json!(true)), "d": router(4, 65000, json!(false)), "e": router(5, 65001, json!(true))});
    // What is said of one of them counts: no route of c is taken.
    nodes["a"]["bgp"]["neighbors"] = json!({"10.250.0.3": {"asn": 65000, "import": "none"}});
    let links = [link("a", "b"), link("b", "c"), link("c", "d"), link("d", "e")];
    let mut network = network(&json!({"name": "mesh", "nodes": nodes, "links": links}));
    network.run_until(Time(30 * S)).expect("a run");
    let table = network.table_json("bgp_neighbors", None).expect("a table");
    let [of, to, state] = ["node", "address", "state"].map(|name| column(&table, name));
    let sessions: Vec<String> = of
        .iter()
        .zip(&to)
        .map(|(node, address)| {
            format!("{}{}", node.as_str().expect("a name"), &address.as_str().expect("one")[9..])
        })
        .collect();
    assert_eq!(sessions, ["a3", "a2", "b1", "b3", "c1", "c2"]);
    assert!(state.iter().all(|state| *state == "established"), "{table}");
    let known = ["a", "b", "c", "d", "e"].map(|node| routes(&mut network, node, "bgp").len());
    assert_eq!(known, [1, 2, 2, 0, 0]);
}

/// What is said of a network before it runs.
fn warnings(nodes: &Value) -> Vec<String> {
    let links = [link("a", "b"), link("b", "c")];
    let described = network(&json!({"name": "mesh", "nodes": nodes, "links": links}));
    described.warnings().iter().map(network::error::sentence).collect()
}

#[test]
fn what_keeps_routers_of_a_mesh_apart_is_said_before_a_run() {
    let router = |number: u32, mesh: Value| {
        json!({"kind": "router", "router_id": format!("10.250.0.{number}"), "ospf": {},
            "bgp": {"asn": 65000, "mesh": mesh}})
    };
    let three = |mesh: &Value| json!({"a": router(1, mesh.clone()), "b": router(2, mesh.clone()), "c": router(3, mesh.clone())});
    // Who names one of the others by its loopback address is expected there.
    let mut nodes = three(&json!(true));
    nodes["a"]["bgp"]["neighbors"] = json!({"10.250.0.3": {"asn": 65000, "import": "none"}});
    assert_eq!(warnings(&nodes), [""; 0]);
    let mut nodes = three(&json!({"password": "one"}));
    nodes["c"]["bgp"]["mesh"]["password"] = json!("other");
    let said = warnings(&nodes);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said.iter().all(|one| one.contains("password") && one.contains("'c'")), "{said:?}");
    let mut nodes = three(&json!({"bfd": true}));
    nodes["c"]["bfd"] = json!({"authentication": {"kind": "sha1", "key": "secret"}});
    let said = warnings(&nodes);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(
        said.iter().all(|one| one.contains("the authentication is none") && one.contains("'c'")),
        "{said:?}"
    );
}

#[test]
fn a_router_of_the_mesh_is_named_by_its_loopback_address() {
    let router = |number: u32| {
        json!({"kind": "router", "router_id": format!("10.250.0.{number}"), "ospf": {},
            "bgp": {"asn": 65000, "mesh": true}})
    };
    let named = |name: &str| {
        let (mut a, mut between) = (router(1), link("a", "b"));
        a["bgp"]["neighbors"] = json!({name: {"asn": 65000}});
        between["addresses"] = json!(["10.9.0.1/24", "10.9.0.2/24"]);
        json!({"name": "mesh", "nodes": {"a": a, "b": router(2)}, "links": [between]})
    };
    for name in ["b", "10.9.0.2"] {
        let value = serde_json::from_value(named(name)).expect("a value");
        let file = NetworkFile::read_part(&value).expect("a description");
        let said = Testbed::new(&file).err().expect("a refusal").to_string();
        assert!(said.contains("'a': bgp"), "{said}");
        assert!(said.contains(&format!("'{name}' is router 'b' of the same mesh")), "{said}");
        assert!(said.contains("name it by '10.250.0.2'"), "{said}");
    }
    network(&named("10.250.0.2"));
}
