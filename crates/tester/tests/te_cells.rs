//! Tunnels of RSVP-TE over links whose labels are channels of ATM (RFC 3209, 4.2.2): a filter sends a part of the
//! traffic against its route, cells of it go where the explicit route says, and none is lost when it moves.

use crate::common::cells::{balance, of};
use crate::common::{MS, S, column};
use base::Time;
use control::rsvp::Rsvp;
use engine::{Fault, FaultKind};
use network::HopSpec;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

/// Italy, Austria and Switzerland, each an ATM-LSR with an edge router, in a triangle. In Austria are two networks, one
/// of which a filter in Italy sends through Switzerland. Between the ATM-LSRs are wires, or virtual paths through a
/// public switch.
fn triangle(merge: bool, paths: bool, bandwidth: &str) -> Value {
    let ospf = json!({"hello_interval": "1 s", "dead_interval": "4 s", "te": true});
    let ldp = json!({"hello_interval": "1 s", "hold_time": "4 s", "keepalive_time": "6 s"});
    let edge = json!({"kind": "router", "ospf": ospf, "ldp": ldp});
    let lsr = json!({"kind": "atm-lsr", "merge": merge, "ospf": ospf, "ldp": ldp});
    let near = |a: &str, b: &str| json!({"endpoints": [a, b], "medium": "atm", "rate": "353207 cells/s"});
    let core = |a: &str, b: &str| match paths {
        false => json!({"endpoints": [a, b], "medium": "atm", "rate": "4750 cells/s", "delay": "5 ms"}),
        true => json!({"endpoints": [a, b], "vp": {"through": ["public"], "pcr": "4750 cells/s"}}),
    };
    let flow = |name: &str, to: &str| json!({"name": name, "from": "here", "to": to, "rate": "300 kbit/s", "size": 1000, "start": "20 s", "stop": "40 s"});
    json!({
        "name": "te",
        "nodes": {
            "here": {"kind": "host", "address": "192.168.43.3/24"},
            "there": {"kind": "host", "address": "192.168.33.2/24"},
            "other": {"kind": "host", "address": "192.168.34.2/24"},
            "italy": edge, "austria": edge, "switzerland": edge,
            "rome": lsr, "vienna": lsr, "bern": lsr,
            "public": {"kind": "atm-switch"},
            "beside": {"kind": "atm-switch"},
        },
        "links": [
            {"endpoints": ["here", "italy"], "rate": "100 Mbit/s"},
            {"endpoints": ["there", "austria"], "rate": "100 Mbit/s"},
            {"endpoints": ["other", "austria"], "rate": "100 Mbit/s"},
            near("italy", "rome"),
            near("austria", "vienna"),
            near("switzerland", "bern"),
            core("rome", "vienna"),
            core("rome", "bern"),
            core("bern", "vienna"),
            near("public", "beside"),
        ],
        "lsps": [{
            "name": "by-switzerland", "from": "italy", "to": "austria",
            "route": ["rome", "bern", "vienna", "austria"],
            "bandwidth": bandwidth,
            "filters": [{"dst": "192.168.33.0/24"}],
        }],
        "flows": [flow("filtered", "there"), flow("rest", "other")],
    })
}

fn build(described: &Value) -> Testbed {
    let value = serde_json::from_value(described.clone()).expect("a value");
    let file = NetworkFile::read_part(&value).expect("a description");
    Testbed::new(&file).expect("a network")
}

fn run(network: &mut Testbed, until: u64) {
    network.run_until(Time(until)).expect("a run");
}

/// What was sent and received of each flow.
fn flows(network: &mut Testbed) -> BTreeMap<String, (u64, u64)> {
    let table = network.table_json("streams", None).expect("a table");
    let number =
        |name: &str| column(&table, name).into_iter().filter_map(|value| value.as_u64()).collect::<Vec<_>>();
    let names = ["filtered", "rest"].map(String::from);
    names.into_iter().zip(number("sent").into_iter().zip(number("received"))).collect()
}

/// Cells that a switch has passed on by their channels.
fn passed(network: &mut Testbed, node: &str) -> u64 {
    let channels = network.table_json("atm_channels", None).expect("a table");
    of(&channels, "node", node, "passed")
}

fn state(network: &mut Testbed) -> String {
    let table = network.table_json("lsps", None).expect("a table");
    column(&table, "state")[0].as_str().expect("a state").to_string()
}

/// Cells of a packet of 982 bytes behind a shim.
const CELLS: u64 = (982u64 + 4 + 8).div_ceil(48);

#[test]
fn a_filter_overrides_the_route_of_cells() {
    for (merge, paths) in [(false, false), (true, false), (false, true)] {
        let mut network = build(&triangle(merge, paths, "400 kbit/s"));
        run(&mut network, 19 * S);
        assert_eq!(state(&mut network), "up");
        let before = ["rome", "bern", "vienna"].map(|node| passed(&mut network, node));
        run(&mut network, 42 * S);
        let all = flows(&mut network);
        let (filtered, rest) = (all["filtered"], all["rest"]);
        assert!(filtered.0 > 700 && filtered.0 == filtered.1 && rest.0 == rest.1, "{all:?}");
        // Through Switzerland go the cells of the filter, and no others; at the other two those of both.
        let after = ["rome", "bern", "vienna"].map(|node| passed(&mut network, node));
        let more: Vec<u64> = after.iter().zip(before).map(|(after, before)| after - before).collect();
        assert_eq!(more[1], CELLS * filtered.0, "{merge} {paths}");
        assert_eq!(more[0], CELLS * (filtered.0 + rest.0));
        assert_eq!(more[2], CELLS * (filtered.0 + rest.0));
        assert_eq!(balance(&mut network), Ok(()));
    }
}

/// The tunnel goes and comes back while packets are on their way: they move, and none is lost.
#[test]
fn traffic_moves_in_mid_flow_without_loss() {
    let mut network = build(&triangle(false, false, "400 kbit/s"));
    let mut at = Vec::new();
    for (second, command) in [(24, "tear"), (28, "signal"), (32, "route"), (36, "route")] {
        run(&mut network, second * S + 7 * MS);
        at.push(passed(&mut network, "bern"));
        let route = |nodes: &[&str]| {
            let place = |name: &&str| {
                let found = network.description().nodes.iter().position(|node| node.name == *name);
                HopSpec::Node(found.expect("a node"))
            };
            vec![nodes.iter().map(place).collect::<Vec<_>>()]
        };
        let route = match second {
            32 => Some(route(&["rome", "vienna", "austria"])),
            36 => Some(route(&["rome", "bern", "vienna", "austria"])),
            _ => None,
        };
        network.lsp_command(0, command, route).expect("a command");
        for step in 1..20 {
            run(&mut network, second * S + 7 * MS + step * 13 * MS);
            assert_eq!(balance(&mut network), Ok(()), "{command} {step}");
        }
    }
    run(&mut network, 42 * S);
    at.push(passed(&mut network, "bern"));
    let grown: Vec<bool> = at.windows(2).map(|pair| pair[1] - pair[0] > 100 * CELLS).collect();
    assert_eq!(grown, [false, true, false, true], "{at:?}");
    let all = flows(&mut network);
    assert!(all.values().all(|(sent, received)| sent == received), "{all:?}");
    assert_eq!(state(&mut network), "up");
}

/// Bandwidth is that of payloads: of 4750 cells/s 1.824 Mbit/s. More than that is not to be had.
#[test]
fn bandwidth_is_that_of_payloads() {
    for (bandwidth, is_up) in [("1.82 Mbit/s", true), ("1.83 Mbit/s", false)] {
        let mut network = build(&triangle(false, false, bandwidth));
        run(&mut network, 15 * S);
        assert_eq!(state(&mut network) == "up", is_up, "{bandwidth}");
    }
}

/// A link of the explicit way fails: the tunnel goes down, its packets follow the route of the others, and channels are
/// given back.
#[test]
fn a_failure_takes_the_tunnel_and_its_channels() {
    let mut network = build(&triangle(false, false, "400 kbit/s"));
    let link = network.links()[7].id;
    let fault = Fault::new(Time(25 * S), FaultKind::LinkDown { link }).until(Time(33 * S));
    network.fault(fault).expect("a fault");
    for second in 20..45 {
        run(&mut network, second * S + MS / 7);
        assert_eq!(balance(&mut network), Ok(()), "{second}");
        if second == 30 {
            assert_ne!(state(&mut network), "up");
        }
    }
    let all = flows(&mut network);
    let (sent, received) = all["filtered"];
    assert!(sent - received < 20, "{all:?}");
    assert_eq!(all["rest"].0, all["rest"].1);
    network.lsp_command(0, "tear", None).expect("a command");
    run(&mut network, 50 * S);
    for node in 0..network.description().nodes.len() {
        let held = network.protocol::<Rsvp>(node).map_or(0, |rsvp| rsvp.audit().labels);
        assert_eq!(held, 0, "node {node}");
    }
    assert_eq!(balance(&mut network), Ok(()));
}

/// A loose way follows the routing tables: where a link fails, an ATM-LSR sends the cells another way by the channel
/// that is known before it, and the next one is reached by another link, on which it gives another channel.
#[test]
fn cells_follow_a_loose_way() {
    let mut described = triangle(false, false, "400 kbit/s");
    for (_, node) in described["nodes"].as_object_mut().expect("nodes") {
        if node["ospf"].is_object() {
            node["ospf"]["te"] = json!(false);
        }
    }
    described["lsps"][0]["route"] = json!(["austria"]);
    described["lsps"][0]["loose"] = json!(true);
    let mut network = build(&described);
    run(&mut network, 22 * S);
    assert_eq!((state(&mut network).as_str(), passed_of_flows(&mut network)), ("up", false));
    let link = network.links()[6].id;
    let fault = Fault::new(Time(25 * S), FaultKind::LinkDown { link }).until(Time(32 * S));
    network.fault(fault).expect("a fault");
    for tenth in 250..310 {
        run(&mut network, tenth * S / 10 + MS / 7);
        assert_eq!(balance(&mut network), Ok(()), "{tenth}");
    }
    assert_eq!((state(&mut network).as_str(), passed_of_flows(&mut network)), ("up", true));
    run(&mut network, 42 * S);
    assert_eq!((state(&mut network).as_str(), balance(&mut network)), ("up", Ok(())));
    let all = flows(&mut network);
    let (sent, received) = all["filtered"];
    assert!(sent - received < 150, "{all:?}");
    network.lsp_command(0, "tear", None).expect("a command");
    run(&mut network, 50 * S);
    for node in 0..network.description().nodes.len() {
        let held = network.protocol::<Rsvp>(node).map_or(0, |rsvp| rsvp.audit().labels);
        assert_eq!(held, 0, "node {node}");
    }
}

/// Do cells of flows pass Switzerland? Those of sessions there are few.
fn passed_of_flows(network: &mut Testbed) -> bool {
    let before = passed(network, "bern");
    let now = network.world().now().0;
    run(network, now + S);
    passed(network, "bern") - before > 30 * CELLS
}
