//! Routers with OSPF on all of their ports, and what they know.

use base::plane::{NextHop, Prefix};
use base::{MacAddr, NodeId, PortId, Streams};
use control::Setup;
use control::ospf::areas::AreaConfig;
use control::ospf::interface::InterfaceConfig;
use control::ospf::neighbor::NeighborState;
use control::ospf::{Config, Ospf};
use core::net::Ipv4Addr;
use engine::World;
use std::collections::BTreeMap;
use std::sync::Arc;
use twinplane_node::Router;
use twinplane_node::router::{PortSetup, RouterConfig};

/// The router id of a router.
pub fn id(router: usize) -> Ipv4Addr {
    Ipv4Addr::new(192, 0, 2, router as u8 + 1)
}

/// A router with an address of 24 bits, and settings, for each port.
pub fn config(router: usize, ports: &[(Ipv4Addr, InterfaceConfig)], streams: Streams) -> RouterConfig {
    config_of_areas(router, ports, BTreeMap::new(), streams)
}

/// The same where areas are treated in some way.
pub fn config_of_areas(
    router: usize,
    ports: &[(Ipv4Addr, InterfaceConfig)],
    areas: BTreeMap<Ipv4Addr, AreaConfig>,
    streams: Streams,
) -> RouterConfig {
    let port = |(place, (address, _)): (usize, &(Ipv4Addr, InterfaceConfig))| {
        PortSetup::new(MacAddr([2, 0, 0, 0, router as u8, place as u8]), *address, 24)
    };
    let interfaces = (0u16..).map(PortId).zip(ports.iter().map(|(_, config)| config.clone())).collect();
    let ospf = Config { interfaces, areas, ..Config::default() };
    let ports = ports.iter().enumerate().map(port).collect();
    let protocols = vec![Arc::new(ospf) as Arc<dyn Setup>];
    RouterConfig::ideal(format!("r{router}"), id(router), ports, protocols, streams)
}

/// A router of one port that knows of traffic engineering.
pub fn engineered(router: usize, address: Ipv4Addr, link: InterfaceConfig, streams: Streams) -> RouterConfig {
    let ospf = Config { te: true, interfaces: BTreeMap::from([(PortId(0), link)]), ..Config::default() };
    let port = PortSetup::new(MacAddr([2, 0, 0, 0, router as u8, 0]), address, 24);
    let protocols = vec![Arc::new(ospf) as Arc<dyn Setup>];
    RouterConfig::ideal(format!("r{router}"), id(router), vec![port], protocols, streams)
}

pub fn router(world: &World, node: usize) -> &Router {
    world.device(NodeId(node as u32)).expect("a router")
}

pub fn ospf(world: &World, node: usize) -> &Ospf {
    router(world, node).control().protocol().expect("OSPF")
}

/// How many neighbours of a router are adjacent.
pub fn full(world: &World, node: usize) -> usize {
    let neighbors = ospf(world, node).interfaces().flat_map(|interface| interface.neighbors.values());
    neighbors.filter(|neighbor| neighbor.state == NeighborState::Full).count()
}

/// Next hops of a router's route to a prefix.
pub fn next_hops(world: &World, node: usize, prefix: Prefix) -> Vec<NextHop> {
    router(world, node).control().services().rib.next_hops(prefix).to_vec()
}
