//! Kinds of nodes are an array given to `build`: one that is defined here only takes part like any other, and where it
//! is not known its facts stand in its place.

use base::describe::{self as described, Describe};
use base::{Command, Device, Frame, NodeId, Output, PortId, Time};
use serde_json::{Value, json};
use std::collections::VecDeque;
use twinplane_network::kind::{
    BRIDGE, EXTERNAL, Facts, HostFacts, KINDS, Node, NodeKind, PEER, ROUTER, write_facts,
};
use twinplane_network::spec::ReadNetwork;
use twinplane_network::spec::address::InterfaceAddress;
use twinplane_network::{Build, Network, Placement};

/// A lamp is a host on the network: it lights up as often as somebody sends it a frame.
const LAMP: NodeKind = NodeKind::of::<LampSpec>("lamp", "A made-up node.");

base::record! {
    /// A lamp with an address.
    #[derive(Clone, Debug, PartialEq)]
    struct LampSpec {
        /// Where it is plugged in.
        socket: InterfaceAddress;
        /// How bright it is.
        watts: u32;
    }
}

impl Node for LampSpec {
    fn described(&self) -> described::Value {
        self.write()
    }

    fn facts(&self) -> Facts {
        Facts {
            links_min: 1,
            links_max: Some(1),
            host: Some(HostFacts { address: Some(self.socket), ..HostFacts::default() }),
            ..Facts::of("a lamp")
        }
    }

    fn device(&self, _: &Network, _: usize) -> Box<dyn Device> {
        Box::new(Bulb { watts: self.watts, lit: 0, outputs: VecDeque::new() })
    }
}

struct Bulb {
    watts: u32,
    lit: u32,
    outputs: VecDeque<Output>,
}

impl Device for Bulb {
    fn handle_packet(&mut self, _: Time, _: PortId, _: Frame) {
        self.lit += 1;
    }
    fn handle_timeout(&mut self, _: Time) {}
    fn handle_command(&mut self, now: Time, _: Command) {
        let frame = Frame::from_bytes(&[0xff; 60]);
        self.outputs.push_back(Output::Transmit { port: PortId(0), frame, ready: now });
    }
    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }
    fn poll_timeout(&self) -> Option<Time> {
        None
    }
}

/// ```text
/// lamp ---- r0 ---- r1 ---- r2 ---- port        an LSP from r0 to r2
/// ```
fn lamp() -> Value {
    json!({
        "nodes": [
            {"name": "lamp", "kind": "lamp", "socket": "10.7.0.2/24", "watts": 40},
            {"name": "r0", "kind": "router"},
            {"name": "r1", "kind": "router"},
            {"name": "r2", "kind": "router"},
            {"name": "port", "kind": "peer"},
        ],
        "links": [
            {"a": 0, "b": 1, "rate_bps": 1_000_000},
            {"a": 1, "b": 2, "rate_bps": 1_000_000},
            {"a": 2, "b": 3, "rate_bps": 1_000_000},
            {"a": 3, "b": 4, "rate_bps": 1_000_000},
        ],
        "lsps": [{"name": "east", "from": 1, "to": 3, "shortest": true}],
    })
}

fn with_lamps() -> Vec<NodeKind> {
    KINDS.iter().copied().chain([LAMP]).collect()
}

fn built(value: &Value) -> Result<Network, String> {
    let read = ReadNetwork::read_part(&testing::described(value), &with_lamps());
    let read = read.map_err(|error| error.to_string())?;
    Network::new(&read, &with_lamps()).map_err(|error| error.to_string())
}

#[test]
fn a_kind_that_only_this_test_knows() {
    let mut network = built(&lamp()).expect("a network");
    network.run_until(Time(1_000_000_000_000)).expect("no device fails");
    assert_eq!(network.loopback(0).to_string(), "10.7.0.2");
    assert_eq!(network.links()[0].addresses.map(|a| a.to_string()), ["10.7.0.2", "10.7.0.1"]);
    let bulb =
        |network: &Network| network.world().device::<Bulb>(NodeId(0)).map(|bulb| (bulb.watts, bulb.lit));
    assert_eq!(bulb(&network), Some((40, 0)));
    // The router at its link asks who has the lamp's address: that lights it.
    network.ping(1, "10.7.0.2".parse::<std::net::IpAddr>().expect("an address"), 64, 1).expect("a ping");
    network.run_until(Time(2_000_000_000_000)).expect("no device fails");
    assert!(bulb(&network).is_some_and(|(_, lit)| lit > 0));
    let lsps = network.table_json("lsps", None).expect("a table");
    assert_eq!(lsps["state"], json!(["up"]));
    let mut wrong = lamp();
    wrong["lsps"][0]["to"] = json!(0);
    let told = built(&wrong).err().expect("an error");
    assert_eq!(told, "lsp 'east': 'lamp' is a lamp: an LSP ends at a router");
    let mut wrong = lamp();
    wrong["nodes"][0]["volts"] = json!(230);
    let told = built(&wrong).err().expect("an error");
    assert!(told.starts_with("nodes/lamp/volts: unknown field 'volts'"), "{told}");
}

/// What must be the same in every process: addresses and ports of links, router ids, routes of the routers.
fn plan(network: &Network, routers: &[usize]) -> Vec<String> {
    let links = network
        .links()
        .iter()
        .map(|link| format!("{:?} {:?} {}", link.ports, link.addresses, link.prefix_len));
    let nodes = (0..network.description().nodes.len()).map(|node| network.loopback(node).to_string());
    let routes = routers.iter().flat_map(|&node| {
        let fib = network.router(node).expect("a router").forwarding().fib();
        fib.map(|row| format!("{} {:?}", row.prefix, row.next_hop)).collect::<Vec<_>>()
    });
    links.chain(nodes).chain(routes).collect()
}

fn placed(description: &described::Value, kinds: &[NodeKind], local: &[&str]) -> Result<Network, String> {
    let ports: Vec<Value> = [("r0", 0), ("r2", 3)]
        .map(|(node, link)| json!({"node": node, "link": link, "interface": "none"}))
        .to_vec();
    let placement = json!({"local": local, "ports": ports});
    let placement: Placement = serde_json::from_value(placement).expect("a placement");
    let build = Build { placement: Some(&placement), ..Build::default() };
    let read = ReadNetwork::read_part(description, kinds).map_err(|error| error.to_string())?;
    Network::build(&read, kinds, build).map_err(|error| error.to_string())
}

#[test]
fn a_kind_that_is_not_here_changes_no_address_port_or_route() {
    let routers = ["r0", "r1", "r2"];
    let here = testing::described(&lamp());
    let whole = placed(&here, &with_lamps(), &routers).expect("a network");
    let mut for_others = here.clone();
    write_facts(&mut for_others, &with_lamps()).expect("facts");
    let part = placed(&for_others, KINDS, &routers).expect("a network");
    assert_eq!(plan(&whole, &[1, 2, 3]), plan(&part, &[1, 2, 3]));
    assert!(!part.is_local(0));
    let again = {
        let mut twice = for_others.clone();
        write_facts(&mut twice, &with_lamps()).expect("facts");
        twice
    };
    assert_eq!(again, for_others);

    let without = [ROUTER, PEER, EXTERNAL, BRIDGE];
    let told = placed(&here, &without, &routers).err().expect("an error");
    assert_eq!(told, "nodes/lamp/kind: 'lamp' is none of router, peer, external or bridge");
    let told = placed(&for_others, KINDS, &["r0", "r1", "r2", "lamp"]).err().expect("an error");
    assert_eq!(told, "placement: node 'lamp': this program has no nodes of kind 'lamp': it can't be local");
    let lied = serde_json::to_string(&for_others).expect("a text").replacen(
        r#""transit":true"#,
        r#""transit":false"#,
        1,
    );
    let lied = serde_json::from_str(&lied).expect("a value");
    let told = placed(&lied, KINDS, &routers).err().expect("an error");
    assert!(told.contains("its 'facts' are not those of a node of kind 'router'"), "{told}");
}
