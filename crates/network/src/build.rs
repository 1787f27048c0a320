//! From a description to devices and links.

use super::addressing;
use super::check::check;
use super::description::{Description, LinkSpec, NodeKind};
use super::error::NetworkError;
use super::flow_ports::SourcePorts;
use super::paths::{Arc, Graph};
use super::placement::{Placed, Placement};
use super::{Network, plan};
use base::{Device, Map, NodeId, PortId, Rate, Span, Time};
use core::net::Ipv4Addr;
use engine::{PortSpec, World};
use node::{Host, Peer, Router};
use std::collections::BTreeSet;
use tester::edge::Edge;
use tester::probe::{Probe, ProbeConfig};
use tester::series::Series;
use tester::sink::Sink;
use tester::station::Station;

impl Network {
    /// Builds a network in virtual time: addresses, devices with their static routes, links, LSPs and flows.
    pub fn new(description: Description) -> Result<Network, NetworkError> {
        Network::build(description, None, Time::ZERO)
    }

    /// Builds the nodes that a placement puts here; the others are placeholders, so that every process counts nodes, links and
    /// ports alike. In virtual time everything is here. What is asked for at once is asked for at `begin`.
    pub(super) fn build(
        mut description: Description,
        placement: Option<&Placement>,
        begin: Time,
    ) -> Result<Network, NetworkError> {
        check(&description)?;
        let links = plan::links(&description)?;
        let placed = match placement {
            Some(placement) => Placed::resolve(&description, &links, placement)?,
            None => Placed::whole(&description)?,
        };
        let lsps = core::mem::take(&mut description.lsps);
        let flows = core::mem::take(&mut description.flows);
        let count = description.nodes.len();
        let mut network = Network {
            world: World::new(description.seed),
            links,
            probes: vec![None; count],
            lsps: Vec::new(),
            by_tunnel: Map::new(),
            flows: Vec::new(),
            source_ports: SourcePorts::default(),
            random_flows: BTreeSet::new(),
            beyond_bursts: BTreeSet::new(),
            streams: Vec::new(),
            tunnels_used: Map::new(),
            lsps_used: 0,
            lsps_planned: lsps.iter().fold(0, |sum: u32, group| sum.saturating_add(group.count)),
            events: Vec::new(),
            graph: graph_of(&description),
            incarnation: placement.map_or(0, |p| p.incarnation),
            live: placement.is_some(),
            wall: None,
            placed,
            description,
        };
        network.world.begin_at(begin);
        network.check_conditioners()?;
        network.add_devices()?;
        network.add_links()?;
        network.add_queues()?;
        network.add_probes()?;
        for spec in lsps {
            network.add_lsp(spec)?;
        }
        for spec in flows {
            network.add_flow(spec)?;
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
        let spec = &self.description.nodes[node];
        if !self.is_local(node) {
            return Box::new(Peer::new());
        }
        match spec.kind {
            NodeKind::Peer | NodeKind::External => Box::new(Peer::new()),
            NodeKind::Router => Box::new(self.fresh_router(node)),
            NodeKind::Edge => {
                let router = self.fresh_router(node);
                Box::new(Edge::new(router, self.new_sink(), spec.programme.clone()))
            }
            NodeKind::Host => {
                let host = Host::new(self.host_config(node));
                Box::new(Station::new(host, self.new_sink()))
            }
        }
    }

    /// The router at a node, or within the edge there, as it is before anything happens.
    pub(super) fn fresh_router(&self, node: usize) -> Router {
        let spec = &self.description.nodes[node];
        let mut router = Router::new(self.router_config(node, spec, spec.kind == NodeKind::Router));
        self.set_routes(node, &mut router);
        router.keep_signals(spec.log_signals as usize);
        router
    }

    fn new_sink(&self) -> Sink {
        let phases = self.description.phases.clone();
        let series = Series::new(self.description.series_bin);
        Sink::new(phases, self.description.convention, series)
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
            let built = self.world.add_link(engine::LinkSpec { a, b, ports, delay: spec.delay })?;
            let link = &mut self.links[index];
            debug_assert_eq!(link.ports, [built.1, built.2]);
            (link.id, link.ports) = (built.0, [built.1, built.2]);
        }
        Ok(())
    }

    /// A probe beside every local router; they are counted over the whole network, so that each is the same in every process.
    fn add_probes(&mut self) -> Result<(), NetworkError> {
        let count = self.description.nodes.len();
        let routers = (0..count).filter(|&node| self.description.nodes[node].kind == NodeKind::Router);
        for (number, node) in routers.collect::<Vec<_>>().into_iter().enumerate() {
            if !self.is_local(node) {
                continue;
            }
            let address = addressing::probe(node);
            let config = ProbeConfig {
                mac: Self::mac_of(count + number, PortId(0)),
                address,
                gateway: Ipv4Addr::from_bits(address.to_bits() + 1),
            };
            let id = self.world.add_device(Box::new(Probe::new(config, self.new_sink())));
            let link = engine::LinkSpec::new(NodeId(node as u32), id, Rate(0), Span::ZERO);
            let (link, ..) = self.world.add_link(link)?;
            self.probes[node] = Some((id, link));
        }
        Ok(())
    }
}

fn graph_of(description: &Description) -> Graph {
    let passes = |kind| matches!(kind, NodeKind::Router | NodeKind::External);
    let transit = description.nodes.iter().map(|n| passes(n.kind)).collect();
    let arc = |l: &LinkSpec| Arc { a: l.a, b: l.b, metric: l.metric, delay: l.delay.0.max(0) as u64 };
    Graph::new(transit, description.links.iter().map(arc).collect())
}
