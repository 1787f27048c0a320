//! A network built from its one description: devices, addresses, static routes, LSPs, and tables of what happened.
//!
//! Every process of a network builds all of it alike, whichever part of it is there. Nothing is measured here: crate
//! `tester` puts instruments into a network.

pub mod actions;
pub mod addressing;
pub mod advice;
mod atm;
pub mod beside;
mod build;
mod bypasses;
mod check;
mod command;
mod conditioners;
mod configure;
mod deciding;
mod description;
mod designated;
pub mod error;
mod ipv6;
mod joins;
pub mod kernels;
pub mod kind;
mod live;
mod lsp_tests;
mod lsps;
mod meeting;
mod p2mp;
mod p2mp_ldp;
mod parts;
mod passing;
pub mod paths;
mod place;
mod placement;
mod plan;
pub mod problem;
mod queues;
mod reaching;
mod refusals;
mod regions;
mod replay;
mod rerouting;
mod routes;
mod segment;
mod serving;
mod signals;
pub mod spec;
pub mod tables;
mod targets;
mod te_paths;
pub mod tunnels;
mod unjoined;
mod unlabelled;
mod unprotected;
mod unwritten;
mod watched;
mod watching;
mod watching_alone;
pub mod ways;
mod when_used;

pub use build::Build;
pub use deciding::PacketSpec;
pub use description::{Description, HopSpec, LinkSpec, LspSpec, NodeSpec};
pub use error::NetworkError;
pub use kind::{KINDS, NodeKind};
pub use live::{Attend, Open};
pub use place::Place;
pub use placement::{DriverKind, Placement, PortPlacement};
pub use replay::{Recorded, ReplaySummary};
pub use tables::{LogRow, Part, Scope, TableEntry};
pub use te_paths::TePathsSpec;

use atm::{Circuit, VirtualPath};
use base::diagnostic::Diagnostic;
use base::losses::Marks;
use base::plane::Prefix6;
use base::{LinkId, Map, NodeId, PortId, Time};
use control::Protocol;
use control::rsvp::command::TunnelId;
use core::net::Ipv4Addr;
use engine::{EventRecord, World};
use kind::{Facts, Node};
use live::Wall;
use node::switch::ManagedSwitch;
use node::{AtmSwitch, Host, Router, Switch};
use paths::Graph;
use placement::Placed;
use problem::{BuildProblem, RunProblem};
use rerouting::Rerouting;
use spec::lc_atm::LcAtmSpec;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use tunnels::TunnelKey;
use unwritten::Ways;
use watched::WatchedEnds;

/// A link as it was built.
#[derive(Clone, Debug)]
pub struct Link {
    /// What was asked for.
    pub spec: LinkSpec,
    /// The number that the engine knows the link by.
    pub id: LinkId,
    /// Ports at `a` and at `b`.
    pub ports: [PortId; 2],
    /// Addresses at `a` and at `b`.
    pub addresses: [Ipv4Addr; 2],
    /// Length of the prefix that both lie in.
    pub prefix_len: u8,
    /// The circuit of ATM that is in the place of a wire, if there is one.
    pub circuit: Option<Circuit>,
    /// The virtual path of ATM that is in the place of a wire of cells, if there is one.
    pub path: Option<VirtualPath>,
}

impl Link {
    /// Which end is at `node`.
    pub fn side(&self, node: usize) -> usize {
        usize::from(self.spec.a != node)
    }
    /// The port that the link has at a node, if it ends there.
    pub fn port_at(&self, node: usize) -> Option<PortId> {
        let side = self.ends().iter().position(|&end| end == node)?;
        Some(self.ports[side])
    }
    /// How labels are channels at an end, if they are. On a virtual path its own number there is the only one.
    pub fn lc_atm_at(&self, side: usize) -> Option<LcAtmSpec> {
        let labels = self.spec.lc_atm.clone()?;
        Some(match self.path.as_ref().map(|path| path.vpi_at(side)) {
            Some(vpi) => LcAtmSpec { vpi: [u32::from(vpi); 2], control_vpi: vpi, ..labels },
            None => labels,
        })
    }
    /// The engine's link at the other end of a circuit or a virtual path, which are two there.
    pub fn second(&self) -> Option<LinkId> {
        let of_path = self.path.as_ref().map(|path| path.second);
        self.circuit.as_ref().map(|circuit| circuit.second).or(of_path)
    }
    /// The nodes at `a` and at `b`.
    pub fn ends(&self) -> [usize; 2] {
        [self.spec.a, self.spec.b]
    }
}

/// A group of LSPs as it was built.
#[derive(Clone, Debug)]
pub struct LspGroup {
    /// What was asked for last.
    pub spec: LspSpec,
    /// The tunnel of each.
    pub tunnels: Vec<TunnelId>,
    /// The number of the first among all LSPs: it gives their test addresses.
    pub first: u32,
    /// The explicit route of first preference, as links, if it is strict.
    pub links: Option<Vec<usize>>,
}

/// A network.
pub struct Network {
    description: Description,
    /// What each node is of.
    nodes: Vec<Box<dyn Node>>,
    world: World,
    graph: Arc<Graph>,
    /// Shortest paths that are found when they are first used; nothing where all routes are written.
    ways: Option<Arc<Ways>>,
    /// The same of IPv6.
    ways6: Option<Arc<Ways<Prefix6>>>,
    links: Vec<Link>,
    /// The hidden port beside each router that is here, and its link.
    beside: Vec<Option<(NodeId, LinkId)>>,
    lsps: Vec<LspGroup>,
    p2mp: Vec<description::P2mpSpec>,
    /// Group and place in it of each tunnel, by head end.
    by_tunnel: Map<(u32, TunnelKey), (u32, u32)>,
    /// Node and link of queues of which it has been told that packets were longer than their buckets.
    beyond_bursts: BTreeSet<(usize, usize)>,
    /// What was said already of what protocols have in their way, by node.
    complaints: BTreeSet<(usize, String)>,
    /// Tunnel ids given so far, by head end and tail end.
    tunnels_used: Map<(u32, u32), u16>,
    /// Tunnel ids up to this belong to earlier runs.
    tunnels_from: u16,
    /// Who speaks BFD because LSPs are watched.
    watched_ends: WatchedEnds,
    /// LSPs made so far: each has an address of its own.
    lsps_used: u32,
    /// Groups of LSPs of the description, by name.
    groups: BTreeMap<String, u32>,
    /// LSPs of the description.
    lsps_planned: u32,
    events: Vec<EventRecord>,
    /// Nodes by their addresses, made when it is first asked for.
    by_address: OnceLock<Map<Ipv4Addr, u32>>,
    /// What is done to it, in order of time, for table `actions`.
    actions: Vec<actions::Action>,
    /// Routes that follow failures, if they do.
    rerouting: Option<Rerouting>,
    /// When it is done, for whoever counts losses.
    marks: Marks,
    /// Does it run in real time?
    live: bool,
    /// What drives it then.
    wall: Option<Wall>,
    /// What of it is in this process.
    placed: Placed,
    incarnation: u64,
    /// Calendar time at time zero, of a network that runs in real time.
    calendar_ns: Option<u64>,
    /// Until when each test of an LSP that was begun has ended at the latest.
    lsp_tests: Vec<Time>,
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
    /// When something is done to it.
    pub fn moments(&self) -> Marks {
        self.marks.clone()
    }
    /// The links.
    pub fn links(&self) -> &[Link] {
        &self.links
    }
    /// Is a node a device of this process?
    pub fn is_local(&self, node: usize) -> bool {
        self.placed.local.get(node).copied().unwrap_or(false)
    }
    /// Is a host a real one, beyond an interface of a router that is here?
    pub fn is_real_host(&self, host: usize) -> bool {
        let mut routers = self.ports_of(host).map(|(link, side)| link.ends()[1 - side]);
        !self.placed.listed && !self.is_local(host) && routers.any(|router| self.is_local(router))
    }
    /// Does it run in real time?
    pub fn is_live(&self) -> bool {
        self.live
    }
    /// What there is to know of a node, whatever kind it is of.
    pub fn facts(&self, node: usize) -> &Facts {
        self.description.nodes[node].facts()
    }
    /// Its nodes and links as shortest paths see them.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }
    /// The links of a node in the order of its ports, each with the side that is the node's own.
    pub fn ports_of(&self, node: usize) -> impl Iterator<Item = (&Link, usize)> {
        let own = self.graph.links_of(node).map(|link| &self.links[link]);
        own.map(move |link| (link, link.side(node)))
    }

    /// The router at a node, be it one by itself or within another device; nothing if it is not here.
    pub fn router(&self, node: usize) -> Option<&Router> {
        self.nodes.get(node)?.router(&self.world, NodeId(node as u32))
    }
    /// The ATM switch at a node, be it one by itself or behind the ports of a router; nothing if none is here.
    pub fn atm_switch(&self, node: usize) -> Option<&AtmSwitch> {
        self.nodes.get(node)?.atm_switch(&self.world, NodeId(node as u32))
    }
    /// A protocol of the router at a node; nothing if no router is there that speaks it.
    pub fn protocol<P: Protocol>(&self, node: usize) -> Option<&P> {
        self.router(node)?.control().protocol()
    }
    /// The IP host at a node, if it is a device of this process.
    pub fn host(&self, node: usize) -> Option<&Host> {
        self.nodes.get(node)?.host(&self.world, NodeId(node as u32))
    }
    /// The OpenFlow switch at a node, with management ports or without; nothing if it is not here.
    pub fn switch(&self, node: usize) -> Option<&Switch> {
        let id = NodeId(node as u32);
        let managed = || self.world.device::<ManagedSwitch>(id).map(ManagedSwitch::switch);
        self.world.device::<Switch>(id).or_else(managed)
    }
    /// The hidden port beside a router, as a device of the engine, and the link to it; nothing if the router is not
    /// here.
    pub fn beside(&self, node: usize) -> Option<(NodeId, LinkId)> {
        *self.beside.get(node)?
    }
    /// The groups of LSPs, in the order in which they were added.
    pub fn lsps(&self) -> &[LspGroup] {
        &self.lsps
    }

    /// A group of LSPs of the description by its name, though it may not have been added yet.
    pub fn planned_group(&self, name: &str) -> Option<u32> {
        self.groups.get(name).copied()
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

    /// The node that has an address, as its router id or at a link; the first, if several were given the same.
    pub fn node_at(&self, address: Ipv4Addr) -> Option<usize> {
        let all = self.by_address.get_or_init(|| {
            let mut found = Map::new();
            for node in 0..self.description.nodes.len() {
                let at_links = self.ports_of(node).map(|(link, side)| link.addresses[side]);
                for own in at_links.chain([self.loopback(node)]) {
                    found.get_or_insert_with(own, || node as u32);
                }
            }
            found
        });
        all.get(&address).map(|node| *node as usize)
    }

    /// The name of a node.
    pub fn node_name(&self, node: usize) -> &str {
        self.description.nodes.get(node).map_or("?", |n| n.name.as_str())
    }

    /// Refuses links whose medium does not lead out of a process, of a network whose links all do.
    pub fn check_media_outside(&self) -> Result<(), Diagnostic> {
        Placed::check_media(&self.description)
    }

    /// Refuses a node that is not there.
    pub fn check_node(&self, node: usize) -> Result<(), Diagnostic> {
        let count = self.description.nodes.len();
        if node < count { Ok(()) } else { Err(BuildProblem::NodeNumber { node, count }.into()) }
    }

    /// Refuses a node that is no device of this process.
    pub fn check_local(&self, node: usize) -> Result<(), Diagnostic> {
        self.check_node(node)?;
        match self.is_local(node) {
            true => Ok(()),
            false => Err(RunProblem::NotHere { node: self.node_name(node).into() }.into()),
        }
    }
}
