//! What is inside an area: the shortest paths to its networks, and to its border and boundary routers (RFC 2328, 16.1).
//! It is kept, and follows what advertisements say: see [`Tree::follow`].

use super::Ospf;
use super::database::{Database, Scope};
use super::graph::{Graph, Vertex, links_of, members_of};
use super::hops::{Hop, Hops};
use super::interface::{Interface, InterfaceState, NetworkType};
use super::neighbor::NeighborState;
use super::networks::{Found, Networks};
use super::spf::Paths;
use base::Time;
use base::plane::Prefix;
use core::net::Ipv4Addr;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use wire::ospf::{LsaBody, LsaKey, LsaKind, link, router_flags};

/// Cost and next hops of a destination. Without next hops it is this router itself.
pub(super) type Way = (u32, Hops);

/// The destinations inside an area.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    graph: Graph,
    paths: Paths,
    /// Those of this router among them.
    networks: Networks,
    /// The least cost of each network, and the end of a tunnel that all paths of that cost lead by.
    pub behind: BTreeMap<Prefix, (u32, Option<Ipv4Addr>)>,
    /// Routers that say that they lead to other areas or out of the AS, or are ends of virtual links, and which of
    /// them.
    flags: BTreeMap<u32, u8>,
    /// Routers that lead to other areas.
    pub borders: BTreeMap<Ipv4Addr, Way>,
    /// Routers that lead out of the AS.
    pub boundaries: BTreeMap<Ipv4Addr, Way>,
    /// Is one of its routers the end of a virtual link that leads through it (TransitCapability)?
    pub is_transit: bool,
}

/// The ways to networks that are asked for in their order.
pub(super) struct InTurn<'a> {
    tree: &'a Tree,
    /// All networks before this place come before the one that was asked for last.
    place: usize,
}

impl InTurn<'_> {
    /// The best way to a network that comes behind the last.
    pub(super) fn way(&mut self, prefix: Prefix) -> Option<Way> {
        self.tree.networks.get_in_turn(&mut self.place, prefix).map(|found| self.tree.way_of(found))
    }
}

/// What is another in an area.
#[derive(Debug, Default)]
pub(super) struct Delta {
    /// Networks to which cost or next hops are others.
    pub networks: Vec<Prefix>,
    /// Are ways to border or boundary routers others, or may packets of others go through the area where they might
    /// not before?
    pub routers: bool,
    /// Was only a part of the tree searched?
    pub is_part: bool,
}

/// What this router itself has in an area, and how packets leave it.
pub(super) struct Root<'a> {
    pub router_id: Ipv4Addr,
    pub leave: &'a dyn Fn(Ipv4Addr, Option<Ipv4Addr>) -> Option<Hop>,
    /// Its networks and addresses.
    pub own: Vec<(Prefix, u32, Option<Hop>)>,
    /// Ends of tunnels from here.
    pub tails: Vec<Ipv4Addr>,
}

/// The prefix of an address and a mask; nothing for a mask with holes.
pub(super) fn prefix_of(address: Ipv4Addr, mask: Ipv4Addr) -> Option<Prefix> {
    let bits = mask.to_bits();
    let len = bits.leading_ones();
    (bits.count_ones() == len).then(|| Prefix::new(address, len as u8))
}

/// Joins next hops, each once.
pub(super) fn join(hops: &mut Hops, more: &[Hop]) {
    let mut all = [&hops[..], more].concat();
    all.sort_unstable();
    all.dedup();
    *hops = all.into();
}

/// Enters a way if it is better, or joins one that is as good.
pub(super) fn enter<K: Ord>(ways: &mut BTreeMap<K, Way>, key: K, cost: u32, hops: &Hops) {
    match ways.entry(key) {
        Entry::Vacant(free) => {
            free.insert((cost, hops.clone()));
        }
        Entry::Occupied(mut known) => {
            let way = known.get_mut();
            if cost < way.0 {
                *way = (cost, hops.clone());
            } else if cost == way.0 {
                join(&mut way.1, hops);
            }
        }
    }
}

impl Tree {
    /// The best way to a network, if there is one.
    pub(super) fn way(&self, prefix: Prefix) -> Option<Way> {
        self.networks.get(prefix).map(|found| self.way_of(found))
    }

    /// The same for networks that are asked for in their order.
    pub(super) fn in_turn(&self) -> InTurn<'_> {
        InTurn { tree: self, place: 0 }
    }

    fn way_of(&self, (cost, set): Found) -> Way {
        (cost, self.paths.hops.get(set).clone())
    }

    /// Address of a router on a link by which shortest paths come to it: the least if there are several (RFC 2328,
    /// 16.1, step 4). Links without addresses have none.
    pub(super) fn facing(&self, router: Ipv4Addr) -> Option<Ipv4Addr> {
        let number = self.graph.number(Vertex::Router(router))?;
        // RFC 2328, 12.4.1: what an unnumbered link has in its place is the number of an interface.
        self.paths.facing(&self.graph, number).filter(|address| address.octets()[0] != 0).min()
    }

    /// All networks to which there is a way.
    pub(super) fn networks(&self) -> impl Iterator<Item = Prefix> {
        self.networks.iter().map(|(prefix, _)| prefix)
    }

    /// Does a path lead to a router of the area?
    pub(super) fn is_reachable(&self, router: Ipv4Addr) -> bool {
        self.graph.number(Vertex::Router(router)).is_some_and(|number| self.paths.at(number).is_some())
    }

    fn is_new(&self) -> bool {
        self.graph.len() == 0
    }

    /// Has it seen so much come and go that one from the beginning takes less memory?
    pub(super) fn is_worn(&self) -> bool {
        let is_worn = |all: usize, used: usize| all > 1024 + 4 * used;
        is_worn(self.paths.hops.len(), self.graph.len())
            || is_worn(self.graph.len(), self.graph.speakers())
            || is_worn(self.networks.len(), self.networks.announced())
    }

    /// Has the tree follow advertisements of an area that have come, changed or gone. If nothing changes at the root
    /// and no tunnels lead into it, only that part is searched again which bears another edge.
    pub(super) fn follow(
        &mut self,
        now: Time,
        database: Option<&Database>,
        keys: &mut dyn Iterator<Item = LsaKey>,
        root: Option<&Root<'_>>,
    ) -> Option<Delta> {
        let (mut edges, mut numbers) = (Vec::new(), Vec::new());
        let mut seen = BTreeSet::new();
        for key in keys {
            let vertex = match key.kind {
                LsaKind::ROUTER => Vertex::Router(key.router),
                LsaKind::NETWORK => Vertex::Network(key.id),
                _ => continue,
            };
            if seen.insert(vertex) {
                self.hear(now, database, vertex, &mut edges, &mut numbers);
            }
        }
        let part = match root {
            None => self.paths.update(&self.graph, &edges),
            Some(root) => {
                self.paths.compute(&self.graph, root.router_id, root.leave, &root.tails);
                let own: Vec<_> = root
                    .own
                    .iter()
                    .map(|(prefix, cost, hop)| {
                        (*prefix, (*cost, self.paths.hops.number(hop.iter().copied().collect())))
                    })
                    .collect();
                self.networks.set_own(&mut self.paths.hops, own.into_iter());
                None
            }
        };
        if root.is_none() && part.is_none() {
            return None;
        }
        let is_part = part.is_some();
        let changed: Vec<u32> = match part {
            None => self.networks.find_all(&mut self.paths),
            Some(vertices) => {
                numbers.extend(
                    vertices.iter().flat_map(|vertex| self.networks.said(*vertex)).map(|said| said.0),
                );
                numbers.sort_unstable();
                numbers.dedup();
                numbers.retain(|number| self.networks.find(&mut self.paths, *number));
                numbers
            }
        };
        if let Some(root) = root {
            self.find_behind(root);
        }
        let networks = changed.into_iter().map(|number| self.networks.prefix(number)).collect();
        Some(Delta { networks, routers: self.find_routers(), is_part })
    }

    /// Takes what is said of a vertex now.
    fn hear(
        &mut self,
        now: Time,
        database: Option<&Database>,
        vertex: Vertex,
        edges: &mut Vec<(u32, u32)>,
        numbers: &mut Vec<u32>,
    ) {
        let (Vertex::Router(id) | Vertex::Network(id)) = vertex;
        let said = database.and_then(|database| match vertex {
            Vertex::Router(id) => database.router(now, id),
            // Of two networks by one address only one is there: the other is of a router that was designated before.
            Vertex::Network(id) => {
                database.among(now, LsaKind::NETWORK, (id, id)).last().map(|(_, body)| body)
            }
        });
        let mut flags = 0;
        let number = match said {
            Some(LsaBody::Router(router)) => {
                flags = router.flags & (router_flags::B | router_flags::E | router_flags::V);
                let number = self.graph.set(vertex, links_of(router), edges);
                let stubs = router.links.iter().filter(|one| one.kind == link::STUB);
                let stubs = stubs.filter_map(|one| Some((prefix_of(one.id, one.data)?, one.metric.into())));
                numbers.extend(self.networks.set(number, stubs));
                number
            }
            Some(LsaBody::Network(network)) => {
                let number = self.graph.set(vertex, members_of(network), edges);
                let prefix = prefix_of(id, network.mask);
                numbers.extend(self.networks.set(number, prefix.into_iter().map(|prefix| (prefix, 0))));
                number
            }
            _ => {
                let number = self.graph.set(vertex, core::iter::empty(), edges);
                numbers.extend(self.networks.set(number, core::iter::empty()));
                number
            }
        };
        if flags == 0 {
            self.flags.remove(&number);
        } else {
            self.flags.insert(number, flags);
        }
    }

    /// Finds the ways to border and boundary routers, and ends of virtual links. Are they others than before?
    fn find_routers(&mut self) -> bool {
        let (mut borders, mut boundaries, mut is_transit) = (BTreeMap::new(), BTreeMap::new(), false);
        for (&number, flags) in &self.flags {
            let (Vertex::Router(id), Some(found)) = (self.graph.vertex(number), self.paths.at(number)) else {
                continue;
            };
            // RFC 2328, 16.1, step 2: the router itself is one of them.
            is_transit |= flags & router_flags::V != 0;
            if number == self.paths.root {
                continue;
            }
            if flags & router_flags::E != 0 {
                boundaries.insert(id, self.way_of(found));
            }
            if flags & router_flags::B != 0 {
                borders.insert(id, self.way_of(found));
            }
        }
        let is_other =
            (&borders, &boundaries, is_transit) != (&self.borders, &self.boundaries, self.is_transit);
        (self.borders, self.boundaries, self.is_transit) = (borders, boundaries, is_transit);
        is_other
    }

    /// Finds the ends of tunnels by which networks are reached: only that counts which all paths of the least cost
    /// share.
    fn find_behind(&mut self, root: &Root<'_>) {
        self.behind.clear();
        if root.tails.is_empty() {
            return;
        }
        let own = root.own.iter().map(|(prefix, cost, _)| (*prefix, *cost, None));
        let mut all: Vec<_> = own.collect();
        for vertex in 0..self.graph.len() as u32 {
            let Some((distance, _)) = self.paths.at(vertex).filter(|_| vertex != self.paths.root) else {
                continue;
            };
            let tail = self.paths.tail(&self.graph, vertex);
            let said = self.networks.said(vertex).iter();
            all.extend(
                said.map(|(number, cost)| {
                    (self.networks.prefix(*number), distance.saturating_add(*cost), tail)
                }),
            );
        }
        for (network, cost, tail) in all {
            let known = self.behind.entry(network).or_insert((cost, tail));
            if cost < known.0 {
                *known = (cost, tail);
            } else if cost == known.0 && tail != known.1 {
                known.1 = None;
            }
        }
    }
}

impl Interface {
    /// The hop by which packets leave it: to a neighbour on a link between two, or onto a network.
    fn leave(&self, neighbor: Option<Ipv4Addr>) -> Option<Hop> {
        let gateway = match neighbor {
            Some(id) if self.config.network == NetworkType::PointToPoint => {
                let known = self.neighbors.get(&id)?;
                (known.state == NeighborState::Full).then_some(known.address)?
            }
            Some(_) => return None,
            None => Ipv4Addr::UNSPECIFIED,
        };
        // RFC 2328, 16.1.1: by which hops a virtual link leads is found out later.
        self.name.port().map_or(Some(Hop::OPEN), |port| Some(Hop { port, gateway }))
    }
}

impl Ospf {
    /// The interfaces of an area that can be used, ends of virtual links among them.
    pub(super) fn usable(&self, area: Ipv4Addr) -> impl Iterator<Item = &Interface> {
        let home = self.home();
        let usable = self.interfaces.values().filter(|one| one.state != InterfaceState::Down);
        usable.filter(move |one| one.config.area.unwrap_or(home) == area)
    }

    /// By which hop packets leave by an own link.
    fn leave(&self, area: Ipv4Addr, address: Ipv4Addr, neighbor: Option<Ipv4Addr>) -> Option<Hop> {
        let mut own = self.usable(area).filter(|interface| interface.address == address);
        own.find_map(|interface| interface.leave(neighbor))
    }

    /// What this router itself has in an area: stub networks of the tree, too, at its root (RFC 2328, 16.1, stage 2).
    fn own_networks(&self, area: Ipv4Addr) -> Vec<(Prefix, u32, Option<Hop>)> {
        let interfaces = self.usable(area).filter_map(|interface| {
            let hop = Hop { port: interface.name.port()?, gateway: Ipv4Addr::UNSPECIFIED };
            let network = Prefix::new(interface.network(), interface.prefix_len);
            Some((network, interface.config.cost.into(), Some(hop)))
        });
        let hosts = self.hosts(area).into_iter().map(|(host, cost)| (Prefix::host(host), cost.into(), None));
        interfaces.chain(hosts).collect()
    }

    /// Has the tree of an area follow these advertisements, or is it to be computed as a whole?
    pub(super) fn follow(
        &mut self,
        now: Time,
        area: Ipv4Addr,
        keys: &BTreeSet<LsaKey>,
        is_whole: bool,
    ) -> Delta {
        let mut tree = self.trees.remove(&area).unwrap_or_default();
        let worn = tree.is_worn().then(|| core::mem::take(&mut tree));
        let is_new = tree.is_new();
        let database = self.databases.of(Scope::Area(area));
        let mut keys: Box<dyn Iterator<Item = LsaKey> + '_> = match is_new {
            true => Box::new(database.into_iter().flat_map(Database::iter).map(|instance| instance.key())),
            false => Box::new(keys.iter().copied()),
        };
        let part = (!is_new && !is_whole).then(|| tree.follow(now, database, &mut keys, None)).flatten();
        let mut delta = part.unwrap_or_else(|| {
            let leave = |address, neighbor| self.leave(area, address, neighbor);
            let tails = self.engineering.tails.keys().copied().collect();
            let (router_id, own) = (self.router_id, self.own_networks(area));
            let root = Root { router_id, leave: &leave, own, tails };
            tree.follow(now, database, &mut keys, Some(&root)).unwrap_or_default()
        });
        drop(keys);
        self.trees.insert(area, tree);
        if let Some(worn) = worn {
            delta.networks.extend(worn.networks());
            delta.routers = true;
        }
        delta
    }
}
