//! From a description to devices and links.

use super::addressing::{self, Links};
use super::description::{Description, EgressLabel, LinkSpec, NodeKind, NodeSpec};
use super::error::{NetworkError, input};
use super::paths::{Arc, Graph};
use super::{Link, Network};
use crate::edge::Edge;
use crate::probe::{Probe, ProbeConfig};
use crate::series::Series;
use crate::sink::Sink;
use base::plane::NextHop;
use base::{Command, Device, Map, NodeId, PortId, Rate, Serialiser, Span, Streams, Time};
use control::rsvp;
use control::rsvp::transport;
use core::net::Ipv4Addr;
use engine::{PortSpec, World};
use node::router::PortSetup;
use node::{Peer, Router, RouterConfig};

impl Network {
    /// Builds a network: addresses, devices with their static routes, links, LSPs and flows.
    pub fn new(mut description: Description) -> Result<Network, NetworkError> {
        check(&description)?;
        let lsps = core::mem::take(&mut description.lsps);
        let flows = core::mem::take(&mut description.flows);
        let count = description.nodes.len();
        let graph = graph_of(&description);
        let mut network = Network {
            world: World::new(description.seed),
            links: plan_links(&description)?,
            probes: vec![None; count],
            lsps: Vec::new(),
            by_tunnel: Map::new(),
            flows: Vec::new(),
            streams: Vec::new(),
            tunnels_used: Map::new(),
            lsps_used: 0,
            events: Vec::new(),
            graph,
            description,
        };
        network.add_devices()?;
        network.add_links()?;
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
            let spec = &self.description.nodes[node];
            let device: Box<dyn Device> = match spec.kind {
                NodeKind::Peer => Box::new(Peer::new()),
                NodeKind::Router => {
                    let mut router = Router::new(self.router_config(node, spec, true));
                    self.set_routes(node, &mut router);
                    Box::new(router)
                }
                NodeKind::Edge => {
                    let mut router = Router::new(self.router_config(node, spec, false));
                    self.set_routes(node, &mut router);
                    let rate = self.ports_of(node).next().map_or(Rate(0), |(link, _)| link.spec.rate);
                    Box::new(Edge::new(router, self.new_sink(rate), spec.programme.clone()))
                }
            };
            let id = self.world.add_device(device);
            self.world.name_node(id, &self.description.nodes[node].name)?;
        }
        Ok(())
    }

    fn new_sink(&self, rate: Rate) -> Sink {
        let phases = self.description.phases.clone();
        let series = Series::new(self.description.series_bin);
        Sink::new(phases, self.description.convention, Serialiser::new(rate, 0), series)
    }

    /// The links of a node in the order of its ports, each with the side that is the node's own.
    pub(super) fn ports_of(&self, node: usize) -> impl Iterator<Item = (&Link, usize)> {
        let own = self.graph.links_of(node).map(|link| &self.links[link]);
        own.map(move |link| (link, link.side(node)))
    }

    pub(super) fn router_config(&self, node: usize, spec: &NodeSpec, with_probe: bool) -> RouterConfig {
        let setup = |(link, side): (&Link, usize)| {
            let far = if side == 0 { link.spec.b } else { link.spec.a };
            PortSetup {
                mac: base::MacAddr::of_port(NodeId(node as u32), link.ports[side]),
                address: link.addresses[side],
                prefix_len: 30,
                neighbor: Some(link.addresses[1 - side]),
                neighbor_id: Some(addressing::loopback(far)),
                mtu: link.spec.mtu,
                reservable: Some(link.spec.reservable.unwrap_or(link.spec.rate)),
            }
        };
        let mut ports: Vec<PortSetup> = self.ports_of(node).map(setup).collect();
        if with_probe {
            let port = PortId(ports.len() as u16);
            // The router's own address on this port is the third of its block, the probe's the second.
            let address = Ipv4Addr::from_bits(addressing::probe(node).to_bits() + 1);
            ports.push(PortSetup {
                mac: base::MacAddr::of_port(NodeId(node as u32), port),
                address,
                prefix_len: 31,
                neighbor: Some(addressing::probe(node)),
                neighbor_id: None,
                mtu: 65_535,
                reservable: None,
            });
        }
        RouterConfig {
            name: spec.name.clone(),
            router_id: addressing::loopback(node),
            ports,
            profile: spec.profile.clone(),
            rsvp: rsvp_config(spec, self.ports_of(node).count() as u16),
            streams: Streams::new(self.description.seed),
        }
    }

    /// Static routes to every node by the shortest path, and to the tester beside the router.
    pub(super) fn set_routes(&self, node: usize, router: &mut Router) {
        let mut set = |prefix, next_hop| {
            router.handle_command(Time::ZERO, Command::RouteSet { prefix, next_hop });
        };
        let tree = self.graph.tree(node);
        for other in 0..self.description.nodes.len() {
            let Some(link) = tree.first_link(other) else { continue };
            let link = &self.links[link];
            let side = link.side(node);
            let next_hop = NextHop::Via { port: link.ports[side], gateway: link.addresses[1 - side] };
            set(addressing::block(other), next_hop);
        }
        let ports = self.ports_of(node).count();
        let tests = if self.description.nodes[node].kind == NodeKind::Edge {
            NextHop::Local
        } else {
            NextHop::Via { port: PortId(ports as u16), gateway: addressing::probe(node) }
        };
        set(addressing::test_network(), tests);
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

    fn add_probes(&mut self) -> Result<(), NetworkError> {
        for node in 0..self.description.nodes.len() {
            if self.description.nodes[node].kind != NodeKind::Router {
                continue;
            }
            let probe = self.description.nodes.len() + self.probes.iter().flatten().count();
            let address = addressing::probe(node);
            let config = ProbeConfig {
                mac: base::MacAddr::of_port(NodeId(probe as u32), PortId(0)),
                address,
                gateway: Ipv4Addr::from_bits(address.to_bits() + 1),
            };
            let id = self.world.add_device(Box::new(Probe::new(config, self.new_sink(Rate(0)))));
            let link = engine::LinkSpec::new(NodeId(node as u32), id, Rate(0), Span::ZERO);
            let (link, ..) = self.world.add_link(link)?;
            self.probes[node] = Some((id, link));
        }
        Ok(())
    }
}

fn rsvp_config(spec: &NodeSpec, ports: u16) -> rsvp::Config {
    let default = rsvp::Config::default();
    let asked = &spec.rsvp;
    let keys = |secret: &String| {
        let [_, _, id @ ..] = asked.integrity_key_id.to_be_bytes();
        let key = transport::Key::new(wire::rsvp::KeyId(id), secret.clone().into_bytes());
        let handshake = asked.integrity_handshake;
        let of = move |port| transport::PortKeys {
            port: PortId(port),
            keys: vec![key.clone()],
            handshake,
            window: 1,
        };
        (0..ports).map(of)
    };
    rsvp::Config {
        egress_label: match asked.egress_label {
            EgressLabel::Real => rsvp::EgressLabel::Real,
            EgressLabel::ImplicitNull => rsvp::EgressLabel::ImplicitNull,
            EgressLabel::ExplicitNull => rsvp::EgressLabel::ExplicitNull,
        },
        ttl: asked.ttl,
        refresh_period: asked.refresh.unwrap_or(default.refresh_period),
        setup_timeout: asked.setup_timeout.unwrap_or(default.setup_timeout),
        refresh_reduction: asked.refresh_reduction.then(transport::RefreshReduction::default),
        hello: asked
            .hello
            .map(|interval| transport::HelloConfig { interval, ..transport::HelloConfig::default() }),
        integrity: asked.integrity_key.iter().flat_map(keys).collect(),
        ..default
    }
}

/// Ports and addresses of all links; ports are counted at each node in the order of its links.
fn plan_links(description: &Description) -> Result<Vec<Link>, NetworkError> {
    let mut addresses = Links::new(description.nodes.len());
    let mut ports = vec![0u16; description.nodes.len()];
    let mut next = |node: usize| {
        let port = PortId(ports[node]);
        ports[node] += 1;
        port
    };
    let plan = |spec: &LinkSpec| {
        let addresses = addresses.next(spec.a, spec.b)?;
        let ports = [next(spec.a), next(spec.b)];
        Ok(Link { spec: spec.clone(), id: base::LinkId(0), ports, addresses })
    };
    description.links.iter().map(plan).collect()
}

fn graph_of(description: &Description) -> Graph {
    let transit = description.nodes.iter().map(|n| n.kind == NodeKind::Router).collect();
    let arc = |l: &LinkSpec| Arc { a: l.a, b: l.b, metric: l.metric, delay: l.delay.0.max(0) as u64 };
    Graph::new(transit, description.links.iter().map(arc).collect())
}

fn check(description: &Description) -> Result<(), NetworkError> {
    let nodes = &description.nodes;
    if nodes.len() > addressing::NODES_MAX {
        return input(format!("{} nodes: at most {}", nodes.len(), addressing::NODES_MAX));
    }
    let mut names: Vec<&str> = nodes.iter().map(|n| n.name.as_str()).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|w| w[0] == w[1]) {
        return input(format!("node '{}': two nodes have that name", twice[0]));
    }
    for (index, link) in description.links.iter().enumerate() {
        if link.a >= nodes.len() || link.b >= nodes.len() {
            let bad = link.a.max(link.b);
            return input(format!("link {index}: node {bad} of {}", nodes.len()));
        }
        if link.a == link.b {
            return input(format!("link {index}: both ends are at node '{}'", nodes[link.a].name));
        }
        if link.delay.0 < 0 || link.detection.0 < 0 {
            return input(format!("link {index}: a delay can't be negative"));
        }
        if !(68..=65_535).contains(&link.mtu) {
            return input(format!("link {index}: mtu={}: 68 to 65535 bytes", link.mtu));
        }
    }
    let mut links_of = vec![0; nodes.len()];
    for link in &description.links {
        links_of[link.a] += 1;
        links_of[link.b] += 1;
    }
    for (node, links) in nodes.iter().zip(links_of) {
        if node.kind != NodeKind::Router && links != 1 {
            return input(format!("node '{}': an edge or a peer has one link, not {links}", node.name));
        }
    }
    if description.phases.windows(2).any(|w| w[0] >= w[1]) {
        return input("phases: each must begin after the one before");
    }
    if description.series_bin.0 <= 0 {
        return input("series_bin_ps: a bin is longer than nothing");
    }
    Ok(())
}
