//! A network built from its description: devices, addresses, static routes, LSPs, flows, and tables of what happened.

mod addressing;
mod advice;
mod build;
mod check;
mod columns;
mod command;
mod conditioners;
mod configure;
mod description;
mod emission;
mod error;
pub mod flood;
mod flow_ports;
mod flow_spec;
mod flows;
mod live;
mod lsps;
mod packets;
pub mod paths;
mod placement;
mod plan;
mod queues;
mod refusals;
mod replay;
mod router_tables;
mod serving;
mod signals;
mod tables;
mod traffic;

pub use description::{
    Description, EgressLabel, HopSpec, InterfaceAddress, LinkSpec, LspSpec, NodeKind, NodeSpec, RsvpSpec,
};
pub use error::NetworkError;
pub use flow_spec::{
    ArrivalSpec, EmpiricalSpec, ExponentialSpec, FlowSpec, OnOffSpec, PeriodKind, PeriodSpec, RateCounts,
    SizeSpec, TraceSpec, UniformSpec,
};
pub use placement::{DriverKind, Placement, PortPlacement};
pub use replay::ReplaySummary;

use base::command::TunnelId;
use base::{LinkId, Map, NodeId, PortId, StreamId};
use core::net::Ipv4Addr;
use engine::{EventRecord, World};
use flow_ports::SourcePorts;
use live::Wall;
use node::Router;
use paths::Graph;
use placement::Placed;
use std::collections::BTreeSet;
use tester::edge::Edge;
use tester::packet::Ports;
use tester::probe::Probe;
use tester::station::Station;

/// A link as it was built.
#[derive(Clone, Debug)]
pub struct Link {
    /// What was asked for.
    pub spec: LinkSpec,
    /// The engine's link.
    pub id: LinkId,
    /// Ports at `a` and at `b`.
    pub ports: [PortId; 2],
    /// Addresses at `a` and at `b`.
    pub addresses: [Ipv4Addr; 2],
    /// Length of the prefix that both lie in.
    pub prefix_len: u8,
}

impl Link {
    /// Which end is at `node`.
    fn side(&self, node: usize) -> usize {
        usize::from(self.spec.a != node)
    }
    /// The port that the link has at a node, if it ends there.
    pub fn port_at(&self, node: usize) -> Option<PortId> {
        let side = self.ends().iter().position(|&end| end == node)?;
        Some(self.ports[side])
    }
    /// The nodes at `a` and at `b`.
    pub fn ends(&self) -> [usize; 2] {
        [self.spec.a, self.spec.b]
    }
}

/// A group of LSPs as it was built.
#[derive(Clone, Debug)]
struct LspGroup {
    spec: LspSpec,
    /// The tunnel of each.
    tunnels: Vec<TunnelId>,
    /// The number of the first among all LSPs: it gives their test addresses.
    first: u32,
    /// The explicit route of first preference, as links, if it is strict.
    links: Option<Vec<usize>>,
    traced: u64,
    wrong: u64,
}

/// A flow as it was built.
#[derive(Clone, Debug)]
struct Flow {
    spec: FlowSpec,
    first_stream: u32,
    /// UDP ports of all its streams.
    ports: Ports,
    /// The links by which it leaves a host and comes to one.
    links: [Option<usize>; 2],
}

/// A network.
pub struct Network {
    description: Description,
    world: World,
    graph: Graph,
    links: Vec<Link>,
    /// The probe beside each router.
    probes: Vec<Option<(NodeId, LinkId)>>,
    lsps: Vec<LspGroup>,
    /// Group and place in it of each tunnel, by head end.
    by_tunnel: Map<(u32, TunnelId), (u32, u32)>,
    flows: Vec<Flow>,
    source_ports: SourcePorts,
    /// Names of the flows that draw random numbers.
    random_flows: BTreeSet<String>,
    /// Node and link of queues of which it has been told that packets were longer than their buckets.
    beyond_bursts: BTreeSet<(usize, usize)>,
    /// Flow of each stream.
    streams: Vec<u32>,
    /// Tunnel ids given so far, by head end and tail end.
    tunnels_used: Map<(u32, u32), u16>,
    /// LSPs made so far: each has an address of its own.
    lsps_used: u32,
    /// LSPs of the description.
    lsps_planned: u32,
    events: Vec<EventRecord>,
    /// Does it run in real time?
    live: bool,
    /// What drives it then.
    wall: Option<Wall>,
    /// What of it is in this process.
    placed: Placed,
    incarnation: u64,
}

impl Network {
    /// The engine's world, to run it.
    pub fn world(&self) -> &World {
        &self.world
    }
    /// The engine's world, to run it.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }
    /// What it was built from.
    pub fn description(&self) -> &Description {
        &self.description
    }
    /// The links.
    pub fn links(&self) -> &[Link] {
        &self.links
    }
    /// Is a node a device of this process?
    pub fn is_local(&self, node: usize) -> bool {
        self.placed.local.get(node).copied().unwrap_or(false)
    }
    /// The links of a node in the order of its ports, each with the side that is the node's own.
    fn ports_of(&self, node: usize) -> impl Iterator<Item = (&Link, usize)> {
        let own = self.graph.links_of(node).map(|link| &self.links[link]);
        own.map(move |link| (link, link.side(node)))
    }

    /// The router at a node, be it one by itself or within an edge.
    pub fn router(&self, node: usize) -> Option<&Router> {
        let id = NodeId(node as u32);
        self.world.device::<Router>(id).or_else(|| Some(self.world.device::<Edge>(id)?.router()))
    }
    /// The emulated edge at a node.
    pub fn edge(&self, node: usize) -> Option<&Edge> {
        self.world.device(NodeId(node as u32))
    }
    fn edge_mut(&mut self, node: usize) -> Option<&mut Edge> {
        self.world.device_mut(NodeId(node as u32))
    }
    /// The simulated host at a node.
    pub fn station(&self, node: usize) -> Option<&Station> {
        self.world.device(NodeId(node as u32))
    }
    fn station_mut(&mut self, node: usize) -> Option<&mut Station> {
        self.world.device_mut(NodeId(node as u32))
    }
    /// The probe beside a router.
    pub fn probe(&self, node: usize) -> Option<&Probe> {
        self.world.device(self.probes.get(node)?.as_ref()?.0)
    }
    fn probe_mut(&mut self, node: usize) -> Option<&mut Probe> {
        self.world.device_mut(self.probes.get(node)?.as_ref()?.0)
    }

    /// The tunnel of an LSP, and where the test packets over it go.
    pub fn tunnel(&self, group: usize, index: u32) -> Option<(TunnelId, Ipv4Addr)> {
        let group = self.lsps.get(group)?;
        let id = group.tunnels.get(index as usize)?;
        Some((*id, addressing::test_address(group.first + index)))
    }

    /// What happened since the last call, LSPs and ports among it, in order of time.
    pub fn events(&mut self) -> &[EventRecord] {
        let fresh = self.world.drain_events();
        self.events.extend(fresh);
        &self.events
    }

    fn flow_of(&self, stream: StreamId) -> Option<&Flow> {
        self.flows.get(*self.streams.get(stream.index())? as usize)
    }

    fn node_name(&self, node: usize) -> &str {
        self.description.nodes.get(node).map_or("?", |n| n.name.as_str())
    }

    fn check_node(&self, node: usize, what: &str) -> Result<(), NetworkError> {
        let count = self.description.nodes.len();
        if node < count { Ok(()) } else { error::input(format!("{what}: node {node} of {count}")) }
    }

    fn check_local(&self, node: usize, what: &str) -> Result<(), NetworkError> {
        self.check_node(node, what)?;
        if self.is_local(node) {
            return Ok(());
        }
        error::input(format!("{what}: '{}' is not in this process", self.node_name(node)))
    }
}
