//! What is inside an area: the shortest paths to its networks, and to its border and boundary routers (RFC 2328, 16.1).

use super::Ospf;
use super::database::Scope;
use super::interface::{Interface, InterfaceState, NetworkType};
use super::neighbor::NeighborState;
use super::spf::{Graph, Hop, Vertex};
use base::Time;
use base::plane::Prefix;
use core::net::Ipv4Addr;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use wire::ospf::{LsaBody, link, router_flags};

/// Cost and next hops of a destination. Without next hops it is this router itself.
pub(super) type Way = (u32, Vec<Hop>);

/// The destinations inside an area.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    /// Those of this router among them.
    pub networks: BTreeMap<Prefix, Way>,
    /// The least cost of each network, and the end of a tunnel that all paths of that cost lead by.
    pub behind: BTreeMap<Prefix, (u32, Option<Ipv4Addr>)>,
    /// Routers that lead to other areas.
    pub borders: BTreeMap<Ipv4Addr, Way>,
    /// Routers that lead out of the AS.
    pub boundaries: BTreeMap<Ipv4Addr, Way>,
}

/// The prefix of an address and a mask; nothing for a mask with holes.
pub(super) fn prefix_of(address: Ipv4Addr, mask: Ipv4Addr) -> Option<Prefix> {
    let bits = mask.to_bits();
    let len = bits.leading_ones();
    (bits.count_ones() == len).then(|| Prefix::new(address, len as u8))
}

/// Joins next hops, each once.
pub(super) fn join(hops: &mut Vec<Hop>, more: &[Hop]) {
    hops.extend_from_slice(more);
    hops.sort_unstable();
    hops.dedup();
}

/// Enters a way if it is better, or joins one that is as good.
pub(super) fn enter<K: Ord>(ways: &mut BTreeMap<K, Way>, key: K, cost: u32, hops: &[Hop]) {
    match ways.entry(key) {
        Entry::Vacant(free) => {
            free.insert((cost, hops.to_vec()));
        }
        Entry::Occupied(mut known) => {
            let way = known.get_mut();
            if cost < way.0 {
                *way = (cost, hops.to_vec());
            } else if cost == way.0 {
                join(&mut way.1, hops);
            }
        }
    }
}

/// Enters the end of a tunnel by which a network is reached: only that counts which all paths of the least cost share.
fn enter_behind(tree: &mut Tree, network: Prefix, cost: u32, tail: Option<Ipv4Addr>) {
    let known = tree.behind.entry(network).or_insert((cost, tail));
    if cost < known.0 {
        *known = (cost, tail);
    } else if cost == known.0 && tail != known.1 {
        known.1 = None;
    }
}

impl Ospf {
    /// The interfaces of an area that can be used.
    pub(super) fn usable(&self, area: Ipv4Addr) -> impl Iterator<Item = &Interface> {
        let home = self.home();
        let usable = self.interfaces.values().filter(|one| one.state != InterfaceState::Down);
        usable.filter(move |one| one.config.area.unwrap_or(home) == area)
    }

    /// By which hop packets leave by an own link.
    fn leave(&self, area: Ipv4Addr, address: Ipv4Addr, neighbor: Option<Ipv4Addr>) -> Option<Hop> {
        let interface = self.usable(area).find(|interface| interface.address == address)?;
        let gateway = match neighbor {
            Some(id) if interface.config.network == NetworkType::PointToPoint => {
                let known = interface.neighbors.get(&id)?;
                (known.state == NeighborState::Full).then_some(known.address)?
            }
            Some(_) => return None,
            None => Ipv4Addr::UNSPECIFIED,
        };
        Some(Hop { port: interface.port, gateway })
    }

    /// Computes the paths inside an area.
    pub(super) fn tree(&self, now: Time, area: Ipv4Addr) -> Tree {
        let bodies = || self.databases.of(Scope::Area(area)).into_iter().flat_map(|all| all.bodies(now));
        let routers = bodies().filter_map(|(key, body)| match body {
            LsaBody::Router(router) => Some((key.router, router)),
            _ => None,
        });
        // Of two networks by one address only one is there: the other is of a router that was designated before.
        let networks: BTreeMap<_, _> = bodies()
            .filter_map(|(key, body)| match body {
                LsaBody::Network(network) => Some((key.id, (key.router, network))),
                _ => None,
            })
            .collect();
        let graph = Graph::new(routers, networks.iter().map(|(id, (_, network))| (*id, *network)));
        let tails: Vec<Ipv4Addr> = self.engineering.tails.keys().copied().collect();
        let leave = |address, neighbor| self.leave(area, address, neighbor);
        let paths = graph.paths_by(self.router_id, leave, &tails);
        let mut tree = Tree::default();
        for (address, (_, network)) in &networks {
            let path = graph.path(&paths, Vertex::Network(*address));
            if let Some(((cost, hops), prefix)) = path.zip(prefix_of(*address, network.mask)) {
                enter(&mut tree.networks, prefix, cost, hops);
                enter_behind(&mut tree, prefix, cost, graph.tail(&paths, Vertex::Network(*address)));
            }
        }
        for (key, body) in bodies() {
            let LsaBody::Router(router) = body else { continue };
            let Some((cost, hops)) = graph.path(&paths, Vertex::Router(key.router)) else { continue };
            if key.router == self.router_id {
                continue;
            }
            if router.flags & router_flags::E != 0 {
                enter(&mut tree.boundaries, key.router, cost, hops);
            }
            if router.flags & router_flags::B != 0 {
                enter(&mut tree.borders, key.router, cost, hops);
            }
            for stub in router.links.iter().filter(|one| one.kind == link::STUB) {
                if let Some(prefix) = prefix_of(stub.id, stub.data) {
                    let cost = cost.saturating_add(stub.metric.into());
                    enter(&mut tree.networks, prefix, cost, hops);
                    enter_behind(&mut tree, prefix, cost, graph.tail(&paths, Vertex::Router(key.router)));
                }
            }
        }
        // What this router has itself are stub networks of the tree, too, at its root (RFC 2328, 16.1, stage 2).
        for interface in self.usable(area) {
            let hop = Hop { port: interface.port, gateway: Ipv4Addr::UNSPECIFIED };
            let network = Prefix::new(interface.network(), interface.prefix_len);
            enter(&mut tree.networks, network, interface.config.cost.into(), &[hop]);
            enter_behind(&mut tree, network, interface.config.cost.into(), None);
        }
        for (host, cost) in self.hosts(area) {
            enter(&mut tree.networks, Prefix::host(host), cost.into(), &[]);
            enter_behind(&mut tree, Prefix::host(host), cost.into(), None);
        }
        tree
    }
}
