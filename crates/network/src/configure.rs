//! How the routers of a network are set up: ports, RSVP-TE, static routes.

use super::addressing;
use super::advice::USUAL_MTU;
use super::description::NodeSpec;
use super::paths::Tree;
use super::spec::protection::ProtectionMode;
use super::spec::protocols::Spoken;
use super::spec::rsvp::EgressLabel;
use super::spec::table_driver::TableDriver;
use super::{Link, Network, plan, segment};
use base::describe::Section;
use base::plane::{NextHop, Prefix};
use base::{Command, Device, MacAddr, NodeId, PortId, ProtocolId, Streams, Time};
use control::Setup;
use control::bfd::Bfd;
use control::bfd::section::BfdSpec;
use control::lsp_ping::LspPing;
use control::lsp_ping::section::LspPingSpec;
use control::rsvp;
use control::rsvp::transport;
use control::services::{Attached, Beyond, CellLabels, Switching};
use control::static_routes::StaticRoutes;
use core::net::Ipv4Addr;
use forwarding::driver::model::ModelSpec;
use node::router::{Address6, PortSetup};
use node::{HostAddress6, HostConfig, HostPort, Router, RouterConfig};
use std::sync::Arc;
use wire::atm::Encapsulation;

impl Network {
    /// The Ethernet address of a node's port.
    pub(crate) fn mac_of(node: usize, port: PortId) -> MacAddr {
        MacAddr::of_port(NodeId(node as u32), port)
    }

    pub(super) fn router_config(&self, node: usize, spec: &NodeSpec) -> RouterConfig {
        let setup = |(link, side): (&Link, usize)| {
            let far = &self.description.nodes[link.ends()[1 - side]];
            let speaks = far.facts().signals;
            // A circuit that says by configuration that IPv4 is on it has no room for labels (RFC 2684, 6.1). Channels
            // that are labels have the same number on both sides of a message where their paths count from 0.
            let circuit = link.circuit.as_ref();
            let channels = link.spec.lc_atm.as_ref();
            let labels = channels.is_none_or(|labels| link.path.is_some() || labels.vpi[0] == 0)
                && circuit.is_none_or(|one| one.spec.encapsulation() != Encapsulation::VcMultiplexed);
            // The router id of somebody else's router is what the user says that it is.
            let known = !far.facts().foreign || far.router_id.is_some();
            PortSetup {
                mac: Self::mac_of(node, link.ports[side]),
                address: link.addresses[side],
                prefix_len: link.prefix_len,
                ipv6: link.spec.ipv6.map(|ends| Address6 {
                    dad: link.spec.dad,
                    advertise: link.spec.advertise,
                    ..Address6::new(ends[side].address, ends[side].len)
                }),
                neighbor: (speaks || far.facts().router).then_some(link.addresses[1 - side]),
                neighbor_id: (speaks && known).then(|| self.loopback(link.ends()[1 - side])),
                mtu: link.spec.mtu,
                cost: link.spec.metric,
                reservable: (speaks && labels).then(|| link.spec.reservable.unwrap_or(link.spec.rate)),
            }
        };
        let mut ports: Vec<PortSetup> = self.ports_of(node).map(setup).collect();
        if spec.facts().has_port_beside() {
            let port = PortId(ports.len() as u16);
            // The router's own address on this port is the third of its block, that of the port beside it the second.
            let address = Ipv4Addr::from_bits(addressing::probe(node).to_bits() + 1);
            ports.push(PortSetup {
                mac: Self::mac_of(node, port),
                address,
                prefix_len: 31,
                // RFC 6164 has /127 for a link between two, as RFC 3021 has /31.
                ipv6: self.has_ipv6(node).then(|| Address6::new(addressing::beside6(node), 127)),
                neighbor: Some(addressing::probe(node)),
                neighbor_id: None,
                mtu: 65_535,
                cost: 1,
                reservable: None,
            });
        }
        RouterConfig {
            name: spec.name.clone(),
            router_id: self.loopback(node),
            ipv6: spec.ipv6,
            ports,
            attached: self.attached(node),
            profile: spec.profile.clone(),
            protocols: self.protocols(node, spec),
            table_driver: spec.table_driver.as_ref().map_or_else(|| ModelSpec {}.setup(), TableDriver::setup),
            ttl: spec.rsvp.ttl,
            diffserv: spec.diffserv,
            conditioning: self.conditioning(node),
            streams: self.control_streams(),
        }
    }

    /// What the ports of a router are attached to.
    fn attached(&self, node: usize) -> Vec<Attached> {
        let links = self.ports_of(node).map(|(link, side)| self.attached_at(link, side));
        let beside = Attached { beyond: Beyond::Instrument, ..Attached::default() };
        links.chain(self.facts(node).has_port_beside().then_some(beside)).collect()
    }

    /// What an end of a link is attached to.
    pub(super) fn attached_at(&self, link: &Link, side: usize) -> Attached {
        let far = link.ends()[1 - side];
        let (spec, facts) = (&self.description.nodes[far], self.facts(far));
        let beyond = match (facts.segment.filter(|_| segment::is_of(facts, &link.spec)), facts.host) {
            (Some(_), _) => Beyond::Segment,
            (None, Some(_)) => Beyond::Host,
            (None, None) => Beyond::Router,
        };
        let silent = self.is_silent(far).then(|| self.loopback(far));
        let cells = link.lc_atm_at(side).map(|labels| CellLabels {
            range: labels.range(),
            is_path: link.path.is_some(),
            is_unidirectional: labels.unidirectional,
            switching: match self.facts(link.ends()[side]).lsr {
                None => Switching::Packets,
                Some(lsr) if lsr.merges => Switching::MergedCells,
                Some(_) => Switching::Cells,
            },
        });
        Attached { node: spec.name.clone(), beyond, silent, rate: link.spec.rate, cells }
    }

    /// Is a node a router of ours that tells nobody by which routes it can be reached?
    fn is_silent(&self, node: usize) -> bool {
        let spec = &self.description.nodes[node];
        spec.facts().is_own_router() && !spec.protocols.find_routes()
    }

    /// How the protocols of a router are set up: RSVP-TE, then others, BFD as usual where one of them needs it,
    /// and LSP ping.
    fn protocols(&self, node: usize, spec: &NodeSpec) -> Vec<Arc<dyn Setup>> {
        let rsvp = rsvp_config(spec, self.ports_of(node).count() as u16);
        let rsvp: Arc<dyn Setup> = Arc::new(rsvp::Config { calendar_ns: self.calendar_ns, ..rsvp });
        let spoken = spec.protocols.spoken().map(|spoken| self.setup_of(node, spoken));
        let mut all: Vec<Arc<dyn Setup>> = core::iter::once(rsvp).chain(spoken).collect();
        let watched = self.watched_routes(node);
        if !watched.is_empty() {
            all.push(Arc::new(StaticRoutes::new(watched)));
        }
        let is_spoken = spec.protocols.spoken().any(|spoken| spoken.protocol == Bfd::ID);
        let is_asked = || self.watched_ends.needs_bfd(&self.description, node);
        if !is_spoken && (all.iter().any(|setup| setup.watches()) || is_asked()) {
            all.push(Arc::new(BfdSpec::default()));
        }
        // RFC 8029, 1: every router on an LSP answers whoever tests it.
        if !spec.protocols.spoken().any(|spoken| spoken.protocol == LspPing::ID) {
            all.push(Arc::new(LspPingSpec::default()));
        }
        all
    }

    /// How a protocol is set up at a node, with router ids where users name nodes, and with the others of its mesh.
    fn setup_of(&self, node: usize, spoken: &Spoken) -> Arc<dyn Setup> {
        let id_of = |name: &str| {
            let node = self.description.nodes.iter().position(|node| node.name == name)?;
            self.router_id(spoken.protocol, node)
        };
        let setup = spoken.setup.with_router_ids(&id_of).unwrap_or_else(|| spoken.setup.clone());
        self.in_mesh(node, spoken.protocol, setup)
    }

    /// The same setup with the others of its mesh, if it is in one.
    pub(super) fn in_mesh(&self, node: usize, protocol: ProtocolId, setup: Arc<dyn Setup>) -> Arc<dyn Setup> {
        let others: Vec<Ipv4Addr> =
            self.mesh_of(node, protocol, &*setup).into_iter().map(|other| self.loopback(other)).collect();
        setup.with_mesh(&others).unwrap_or(setup)
    }

    /// The other nodes of the mesh that a node is in; none if it is in none.
    pub(super) fn mesh_of(&self, node: usize, protocol: ProtocolId, setup: &dyn Setup) -> Vec<usize> {
        let Some(mesh) = setup.mesh() else { return Vec::new() };
        let is_in = |other: &NodeSpec| {
            let mut spoken_there = other.protocols.spoken().filter(|one| one.protocol == protocol);
            spoken_there.any(|one| one.setup.mesh().as_ref() == Some(&mesh))
        };
        let all = self.description.nodes.iter().enumerate();
        all.filter(|(place, other)| *place != node && is_in(other)).map(|(place, _)| place).collect()
    }

    /// The random streams of control planes: those of the seed in the first life of a process, others in each later
    /// one.
    fn control_streams(&self) -> Streams {
        // The odd number of which multiples are evenly spread (Knuth, The Art of Computer Programming, 6.4).
        let life = self.incarnation.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Streams::new(self.description.seed.wrapping_add(life))
    }

    /// How an IP host at a node is set up: its ports, by the address plan.
    pub fn host_config(&self, node: usize) -> HostConfig {
        let mtu = self.description.nodes[node].facts().host.and_then(|host| host.mtu).unwrap_or(USUAL_MTU);
        let port = |(link, side): (&Link, usize)| HostPort {
            mtu: mtu.min(link.spec.mtu),
            mac: Self::mac_of(node, link.ports[side]),
            address: link.addresses[side],
            prefix_len: link.prefix_len,
            gateway: link.addresses[1 - side],
            ipv6: link.spec.ipv6.map(|ends| HostAddress6 {
                address: ends[side].address,
                prefix_len: ends[side].len,
                gateway: ends[1 - side].address,
                dad: link.spec.dad,
            }),
        };
        HostConfig { ports: self.ports_of(node).map(port).collect(), groups: Vec::new() }
    }

    /// Static routes to every node, host and link by the shortest path, and to the port beside the router; then those
    /// that the description gives. A router that finds its routes itself has those to its silent neighbours only.
    pub(super) fn set_routes(&self, node: usize, router: &mut Router) {
        let routes = if self.finds_routes(node) {
            self.silent_neighbors(node).chain(self.test_routes(node)).collect()
        } else if self.leave_unwritten(node, router) {
            self.test_routes(node).collect()
        } else {
            self.routes_by(node, &self.graph.tree(node))
        };
        for (prefix, next_hop) in routes {
            router.handle_command(Time::ZERO, Command::RouteSet { prefix, next_hop });
        }
        self.set_static_routes(node, router);
    }

    /// Does a router find its IPv4 routes itself?
    pub fn finds_routes(&self, node: usize) -> bool {
        self.description.nodes[node].protocols.find_routes()
    }

    /// Routes of a node to the loopback addresses at the other ends of its links that nobody announces.
    pub(super) fn silent_neighbors(&self, node: usize) -> impl Iterator<Item = (Prefix, NextHop)> + '_ {
        self.ports_of(node).filter_map(move |(link, side)| {
            let far = link.ends()[1 - side];
            let gateway = link.addresses[1 - side].into();
            let next_hop = NextHop::Via { port: link.ports[side], gateway };
            self.is_silent(far).then(|| (Prefix::host(self.loopback(far)), next_hop))
        })
    }

    /// Static routes of a node, by its shortest paths.
    pub(super) fn routes_by(&self, node: usize, tree: &Tree) -> Vec<(Prefix, NextHop)> {
        let towards = |other: usize| {
            let link = &self.links[tree.first_link(other)?];
            let side = link.side(node);
            let beyond = link.ends()[1 - side];
            let facts = self.facts(beyond);
            let gateway = match facts.segment.filter(|_| segment::is_of(facts, &link.spec)) {
                None => link.addresses[1 - side],
                Some(_) => self.beyond_segment(&tree.links_to(other)?, beyond)?,
            };
            Some(NextHop::Via { port: link.ports[side], gateway: gateway.into() })
        };
        let mut routes = Vec::new();
        for (other, spec) in self.description.nodes.iter().enumerate() {
            let Some(next_hop) = towards(other) else { continue };
            if let Some(prefix) = spec.facts().segment {
                routes.push((prefix, next_hop));
            } else if spec.facts().host.is_none() {
                routes.push((addressing::block(other), next_hop));
                routes.extend(spec.router_id.map(|id| (Prefix::host(id), next_hop)));
            }
        }
        for link in &self.links {
            let [a, b] = link.ends();
            if a == node || b == node || !self.is_outside_blocks(link) || self.is_of_segment(link) {
                continue; // connected, in the block of a node, or in the prefix of a segment
            }
            // The nearer end is the one to go to; from a host's link that is the router.
            let hosts = link.ends().map(|end| self.facts(end).host.is_some());
            let order = if hosts[0] || (!hosts[1] && tree.cost(b) < tree.cost(a)) { [b, a] } else { [a, b] };
            let next_hop = order.into_iter().find_map(towards);
            let prefix = Prefix::new(link.addresses[0], link.prefix_len);
            routes.extend(next_hop.map(|next_hop| (prefix, next_hop)));
        }
        routes.extend(self.test_routes(node));
        routes
    }

    /// Routes of a node to where the test packets over LSPs go.
    fn test_routes(&self, node: usize) -> impl Iterator<Item = (Prefix, NextHop)> + '_ {
        let lsps = self.lsps_used.max(self.lsps_planned);
        addressing::test_networks_of(lsps).map(move |prefix| (prefix, self.tests_of(node)))
    }

    /// Where the test packets go that an LSP brings to a node.
    pub(super) fn tests_of(&self, node: usize) -> NextHop {
        if !self.facts(node).has_port_beside() {
            return NextHop::Local;
        }
        let ports = self.ports_of(node).count();
        NextHop::Via { port: PortId(ports as u16), gateway: addressing::probe(node).into() }
    }

    /// The address of the member that comes next on a way which begins with a link to a segment and may pass several
    /// switches of it; nothing if the way ends there.
    fn beyond_segment(&self, way: &[usize], segment: usize) -> Option<Ipv4Addr> {
        let mut here = segment;
        for &index in way.get(1..)? {
            let link = &self.links[index];
            let side = 1 - link.side(here);
            here = link.ends()[side];
            if !segment::is_of(self.facts(here), &link.spec) {
                return Some(link.addresses[side]);
            }
        }
        None
    }

    /// Is an end of the link a shared segment?
    pub(super) fn is_of_segment(&self, link: &Link) -> bool {
        link.ends().iter().any(|&end| segment::is_of(self.facts(end), &link.spec))
    }

    /// Has a link addresses that the description gives?
    pub(super) fn is_outside_blocks(&self, link: &Link) -> bool {
        let [a, b] = link.ends().map(|end| self.facts(end).host.is_some());
        a || b || link.spec.addresses.is_some() || self.is_of_segment(link)
    }

    /// Calendar time at time zero, in nanoseconds since 1970; nothing in virtual time.
    pub fn calendar_ns(&self) -> Option<u64> {
        self.calendar_ns
    }

    /// The loopback address of a node; of a host its address.
    pub fn loopback(&self, node: usize) -> Ipv4Addr {
        plan::loopback(&self.description, node)
    }
}

fn rsvp_config(spec: &NodeSpec, ports: u16) -> rsvp::Config {
    let default = rsvp::Config::default();
    let asked = &spec.rsvp;
    let keys = |secret: &String| {
        let [_, _, id @ ..] = asked.key_id.to_be_bytes();
        let key = transport::Key::new(wire::rsvp::KeyId(id), secret.clone().into_bytes());
        let handshake = asked.handshake;
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
        diffserv: spec.diffserv,
        refresh_period: asked.refresh.unwrap_or(default.refresh_period),
        setup_timeout: asked.setup_timeout.unwrap_or(default.setup_timeout),
        adspec: asked.adspec,
        distinct_lsp_ids: asked.distinct_lsp_ids,
        p2mp_remerge: asked.remerge,
        refresh_reduction: asked.refresh_reduction.then(transport::RefreshReduction::default),
        hello: asked
            .hello
            .and_then(|hello| hello.0)
            .map(|interval| transport::HelloConfig { interval, ..transport::HelloConfig::default() }),
        bfd: asked.bfd.0,
        protection: rsvp::ProtectionConfig {
            automatic: asked.protection == ProtectionMode::Facility,
            reversion: asked.reversion,
        },
        integrity: asked.key.iter().flat_map(keys).collect(),
        ..default
    }
}
