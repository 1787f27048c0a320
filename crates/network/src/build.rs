//! From a description to devices and links.

use super::beside::{BesideConfig, MakeBeside, quiet};
use super::check::check;
use super::description::{Description, LinkSpec};
use super::error::NetworkError;
use super::kind::NodeKind;
use super::paths::{Arc, Graph};
use super::placement::{Placed, Placement};
use super::rerouting::Rerouting;
use super::spec::ReadNetwork;
use super::watched::WatchedEnds;
use super::{Network, plan};
use base::{Device, LinkId, Map, NodeId, PortId, Rate, Span, Time};
use control::rsvp::Rsvp;
use engine::capture::form::Pdus;
use engine::medium::Carries;
use engine::{PortSpec, World};
use node::{Peer, Router};
use std::collections::BTreeSet;

/// For whom a network is built, and what stands in it that its description does not show.
#[derive(Clone, Copy)]
pub struct Build<'a> {
    /// Which part of it is in this process, in real time; all of it, in virtual time, if absent.
    pub placement: Option<&'a Placement>,
    /// When it begins: what is asked for at once is asked for then.
    pub begin: Time,
    /// Makes what stands beside each router of this process.
    pub beside: MakeBeside,
}

impl Default for Build<'_> {
    /// All of it, in virtual time from zero on, with nobody who measures.
    fn default() -> Self {
        Build { placement: None, begin: Time::ZERO, beside: quiet }
    }
}

impl Network {
    /// Builds a network in virtual time: addresses, devices with their static routes, links and LSPs.
    pub fn new(read: &ReadNetwork, kinds: &[NodeKind]) -> Result<Network, NetworkError> {
        Network::build(read, kinds, Build::default())
    }

    /// Builds the nodes that a placement puts here; the others are placeholders, so that every process counts nodes,
    /// links and ports alike. In virtual time everything is here. A node is of one of `kinds`, or its facts are in the
    /// description.
    pub fn build(read: &ReadNetwork, kinds: &[NodeKind], build: Build<'_>) -> Result<Network, NetworkError> {
        let (mut description, resolved) = Description::of(read, kinds)?;
        check(&description)?;
        let links = plan::links(&description)?;
        let placed = match build.placement {
            Some(placement) => Placed::resolve(&description, &resolved, &links, placement)?,
            None => Placed::whole(&description, &resolved)?,
        };
        let lsps = core::mem::take(&mut description.lsps);
        let trees = core::mem::take(&mut description.p2mp);
        let watched_ends = WatchedEnds::of(&description, &lsps, &trees);
        let mut network = Network {
            watched_ends,
            world: World::new(description.seed),
            nodes: resolved.into_iter().map(|resolved| resolved.node).collect(),
            links,
            beside: vec![None; description.nodes.len()],
            lsps: Vec::new(),
            p2mp: Vec::new(),
            by_tunnel: Map::new(),
            beyond_bursts: BTreeSet::new(),
            complaints: BTreeSet::new(),
            tunnels_used: Map::new(),
            tunnels_from: build.placement.map_or(0, |p| p.tunnels_from),
            lsps_used: 0,
            groups: lsps
                .iter()
                .enumerate()
                .rev()
                .map(|(place, lsp)| (lsp.name.clone(), place as u32))
                .collect(),
            lsps_planned: lsps.iter().fold(0, |sum: u32, group| sum.saturating_add(group.count)),
            events: Vec::new(),
            by_address: std::sync::OnceLock::new(),
            actions: Vec::new(),
            rerouting: description.routing.map(Rerouting::new),
            marks: Default::default(),
            graph: std::sync::Arc::new(graph_of(&description)),
            ways: None,
            ways6: None,
            incarnation: build.placement.map_or(0, |p| p.incarnation),
            calendar_ns: build.placement.and_then(|p| p.calendar_ns),
            live: build.placement.is_some(),
            wall: None,
            lsp_tests: Vec::new(),
            placed,
            description,
        };
        network.world.begin_at(build.begin);
        network.check_rerouting()?;
        network.check_meshes()?;
        network.check_conditioners()?;
        network.ways = network.find_ways();
        network.ways6 = network.find_ways6();
        network.add_devices()?;
        network.add_links()?;
        network.add_queues()?;
        network.add_beside(build.beside)?;
        for spec in lsps {
            network.add_lsp(spec)?;
        }
        for spec in trees {
            network.add_p2mp(spec)?;
        }
        Ok(network)
    }

    fn add_devices(&mut self) -> Result<(), NetworkError> {
        for node in 0..self.description.nodes.len() {
            let device = self.device_of(node);
            let id = self.world.add_device(device);
            self.world.name_node(id, &self.description.nodes[node].name)?;
        }
        Ok(())
    }

    fn device_of(&self, node: usize) -> Box<dyn Device> {
        if self.is_local(node) { self.nodes[node].device(self, node) } else { Box::new(Peer::new()) }
    }

    /// The router at a node, or within the device there, as it is before anything happens.
    pub fn fresh_router(&self, node: usize) -> Router {
        let spec = &self.description.nodes[node];
        let mut router = Router::new(self.router_config(node, spec));
        self.set_routes(node, &mut router);
        self.set_routes6(node, &mut router);
        if let Some(rsvp) = router.control_mut().protocol_mut::<Rsvp>() {
            rsvp.keep_signals(spec.log_signals as usize);
        }
        router
    }

    fn add_links(&mut self) -> Result<(), NetworkError> {
        for index in 0..self.links.len() {
            let spec = self.links[index].spec.clone();
            let port = |node: usize, ppb: i64| {
                let profile = &self.description.nodes[node].profile;
                PortSpec {
                    rate: spec.rate,
                    buffer_bytes: spec.buffer_bytes.or(profile.buffer_bytes),
                    clock_offset_ppb: ppb + profile.clock_offset_ppb,
                    detection: spec.detection,
                }
            };
            let ports = [port(spec.a, spec.a_clock_ppb), port(spec.b, spec.b_clock_ppb)];
            let (a, b) = (NodeId(spec.a as u32), NodeId(spec.b as u32));
            if self.links[index].circuit.is_some() {
                self.add_circuit(index)?;
                continue;
            }
            if self.links[index].path.is_some() {
                self.add_path(index)?;
                continue;
            }
            // A switch has its buffer itself.
            let without = |port: PortSpec| PortSpec { buffer_bytes: None, ..port };
            let ports = if spec.medium.carries == Carries::Cells { ports.map(without) } else { ports };
            let built = self.world.add_link(engine::LinkSpec { a, b, ports, delay: spec.delay })?;
            self.world.set_medium(built.0, spec.medium)?;
            let link = &mut self.links[index];
            debug_assert_eq!(link.ports, [built.1, built.2]);
            (link.id, link.ports) = (built.0, [built.1, built.2]);
        }
        Ok(())
    }

    /// The two links of a circuit.
    fn add_circuit(&mut self, index: usize) -> Result<(), NetworkError> {
        let Some(circuit) = &self.links[index].circuit else { return Ok(()) };
        let [first, .., last] = circuit.through[..] else { return Ok(()) };
        let access = circuit.access;
        let (hops, links) = (circuit.links.len(), &self.links);
        let shown = [(0, first), (hops - 1, last)].map(|(hop, node)| {
            let (vpi, vci) = circuit.channel_at(&links[circuit.links[hop]], hop, node);
            Pdus { vpi, vci, encapsulation: circuit.spec.encapsulation() }
        });
        let [one, other] = self.add_halves(index, [first, last], access)?;
        for (link, pdus) in [one, other].into_iter().zip(shown) {
            self.world.show_pdus(link, pdus)?;
        }
        if let Some(circuit) = &mut self.links[index].circuit {
            circuit.second = other;
        }
        Ok(())
    }

    /// The two links of a virtual path.
    fn add_path(&mut self, index: usize) -> Result<(), NetworkError> {
        let Some(path) = &self.links[index].path else { return Ok(()) };
        let (Some(&first), Some(&last)) = (path.through.first(), path.through.last()) else { return Ok(()) };
        let (medium, access) = (self.links[index].spec.medium, path.access);
        let halves = self.add_halves(index, [first, last], access)?;
        for link in halves {
            self.world.set_medium(link, medium)?;
        }
        if let Some(path) = &mut self.links[index].path {
            path.second = halves[1];
        }
        Ok(())
    }

    /// The two links of what leads through switches: from the nodes at its ends to the first and the last of them, in
    /// no time.
    fn add_halves(
        &mut self,
        index: usize,
        switches: [usize; 2],
        access: [PortId; 2],
    ) -> Result<[LinkId; 2], NetworkError> {
        let link = &self.links[index];
        let (detection, ends) = (link.spec.detection, link.ends());
        let mut add = |node: usize, switch: usize| {
            let [node, switch] = [node, switch].map(|node| NodeId(node as u32));
            self.world
                .add_link(engine::LinkSpec::new(node, switch, Rate(0), Span::ZERO).with_detection(detection))
        };
        let (one, other) = (add(ends[0], switches[0])?, add(ends[1], switches[1])?);
        debug_assert_eq!(([one.1, other.1], [one.2, other.2]), (self.links[index].ports, access));
        self.links[index].id = one.0;
        Ok([one.0, other.0])
    }

    /// A port beside every router that is here; they are counted over the whole network, so that each is the same in
    /// every process.
    fn add_beside(&mut self, make: MakeBeside) -> Result<(), NetworkError> {
        let count = self.description.nodes.len();
        let routers = (0..count).filter(|&node| self.facts(node).has_port_beside());
        for (number, node) in routers.collect::<Vec<_>>().into_iter().enumerate() {
            if !self.is_local(node) {
                continue;
            }
            let mac = Self::mac_of(count + number, PortId(0));
            let config = BesideConfig::of(node, mac, self.has_ipv6(node));
            let id = self.world.add_device(make(config));
            let link = engine::LinkSpec::new(NodeId(node as u32), id, Rate(0), Span::ZERO);
            let (link, ..) = self.world.add_link(link)?;
            self.beside[node] = Some((id, link));
        }
        Ok(())
    }
}

fn graph_of(description: &Description) -> Graph {
    let transit = description.nodes.iter().map(|node| node.facts().transit).collect();
    let arc = |l: &LinkSpec| Arc { a: l.a, b: l.b, metric: l.metric, delay: l.delay.0.max(0) as u64 };
    Graph::new(transit, description.links.iter().map(arc).collect())
}
