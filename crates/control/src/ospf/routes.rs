//! What the database means for the routing table (RFC 2328, 16): paths inside the area, to other areas, and outside.

use super::interface::{InterfaceState, NetworkType};
use super::neighbor::NeighborState;
use super::spf::{Graph, Hop, Vertex};
use super::{Ospf, PREFERENCE};
use crate::protocol::Context;
use crate::services::{Route, RouteHop, Source};
use base::Time;
use base::plane::{NextHop, Prefix};
use core::net::Ipv4Addr;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use wire::ospf::{External, LS_INFINITY, LsaBody, LsaKind, link, router_flags};

/// Cost and next hops of a destination.
type Way = (u32, Vec<Hop>);

/// How good a way outside the AS is: metrics of type 2 behind those of type 1, the metric, and the cost inside.
type Rank = (bool, u32, u32);

/// The length of a prefix; nothing for a mask with holes.
fn prefix(address: Ipv4Addr, mask: Ipv4Addr) -> Option<Prefix> {
    let bits = mask.to_bits();
    let len = bits.leading_ones();
    (bits.count_ones() == len).then(|| Prefix::new(address, len as u8))
}

/// Enters a way if it is better, or joins one that is as good.
fn enter<K: Ord>(ways: &mut BTreeMap<K, Way>, key: K, cost: u32, hops: &[Hop]) {
    match ways.entry(key) {
        Entry::Vacant(free) => {
            free.insert((cost, hops.to_vec()));
        }
        Entry::Occupied(mut known) => {
            let way = known.get_mut();
            if cost < way.0 {
                *way = (cost, hops.to_vec());
            } else if cost == way.0 {
                way.1.extend_from_slice(hops);
                way.1.sort_unstable();
                way.1.dedup();
            }
        }
    }
}

impl Ospf {
    /// Computes all routes anew, and has the routing table follow.
    pub(super) fn compute(&mut self, now: Time, context: &mut Context<'_>) {
        self.computations += 1;
        let new = self.ways(now);
        let rib = &mut context.services.rib;
        for prefix in self.routes.keys().filter(|prefix| !new.contains_key(prefix)) {
            rib.remove(*prefix, Source::Protocol(Ospf::ID));
        }
        for (prefix, way) in new.iter().filter(|(prefix, way)| self.routes.get(prefix) != Some(way)) {
            let direct =
                |hop: &Hop| RouteHop::Direct(NextHop::Via { port: hop.port, gateway: hop.gateway.into() });
            let hops = way.1.iter().map(direct).collect::<Vec<_>>().into();
            let source = Source::Protocol(Ospf::ID);
            rib.set(*prefix, Route { source, preference: PREFERENCE, metric: way.0, tag: 0, hops });
        }
        self.routes = new;
    }

    /// By which hop packets leave by an own link.
    fn leave(&self, address: Ipv4Addr, neighbor: Option<Ipv4Addr>) -> Option<Hop> {
        let usable = self.interfaces.values().filter(|interface| interface.state != InterfaceState::Down);
        let interface = usable.into_iter().find(|interface| interface.address == address)?;
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

    /// Cost and next hops of every prefix that other routers announce.
    fn ways(&self, now: Time) -> BTreeMap<Prefix, Way> {
        let bodies = || self.database.bodies(now);
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
        let paths = graph.paths(self.router_id, |address, neighbor| self.leave(address, neighbor));
        let mut ways = BTreeMap::new();
        for (address, (_, network)) in &networks {
            let path = graph.path(&paths, Vertex::Network(*address));
            if let Some(((cost, hops), prefix)) = path.zip(prefix(*address, network.mask)) {
                enter(&mut ways, prefix, cost, hops);
            }
        }
        let mut boundary: BTreeMap<Ipv4Addr, Way> = BTreeMap::new();
        let mut borders: BTreeMap<Ipv4Addr, Way> = BTreeMap::new();
        for (key, body) in bodies() {
            let LsaBody::Router(router) = body else { continue };
            let Some((cost, hops)) = graph.path(&paths, Vertex::Router(key.router)) else { continue };
            if key.router == self.router_id {
                continue;
            }
            if router.flags & router_flags::E != 0 {
                enter(&mut boundary, key.router, cost, hops);
            }
            if router.flags & router_flags::B != 0 {
                enter(&mut borders, key.router, cost, hops);
            }
            for stub in router.links.iter().filter(|one| one.kind == link::STUB) {
                if let Some(prefix) = prefix(stub.id, stub.data) {
                    enter(&mut ways, prefix, cost.saturating_add(stub.metric.into()), hops);
                }
            }
        }
        // Its own links, too, are stub networks of the tree, at its root (RFC 2328, 16.1, stage 2).
        for interface in self.interfaces.values().filter(|one| one.state != InterfaceState::Down) {
            let hop = Hop { port: interface.port, gateway: Ipv4Addr::UNSPECIFIED };
            let network = Prefix::new(interface.network(), interface.prefix_len);
            enter(&mut ways, network, interface.config.cost.into(), &[hop]);
        }
        self.enter_summaries(now, &borders, &mut ways, &mut boundary);
        self.enter_externals(now, &boundary, &mut ways);
        // What this router is itself connected to needs no route.
        ways.retain(|_, way| !way.1.is_empty() && way.1.iter().all(|hop| !hop.gateway.is_unspecified()));
        ways
    }

    /// Networks and routers of other areas, by border routers (RFC 2328, 16.2). Paths inside the area come first.
    fn enter_summaries(
        &self,
        now: Time,
        borders: &BTreeMap<Ipv4Addr, Way>,
        ways: &mut BTreeMap<Prefix, Way>,
        boundary: &mut BTreeMap<Ipv4Addr, Way>,
    ) {
        let (mut networks, mut routers) = (BTreeMap::new(), BTreeMap::new());
        for (key, body) in self.database.bodies(now) {
            let LsaBody::Summary(summary) = body else { continue };
            let Some((cost, hops)) = borders.get(&key.router) else { continue };
            if summary.metric >= LS_INFINITY || key.router == self.router_id {
                continue;
            }
            let cost = cost.saturating_add(summary.metric);
            match (key.kind, prefix(key.id, summary.mask)) {
                (LsaKind::SUMMARY_NETWORK, Some(prefix)) => enter(&mut networks, prefix, cost, hops),
                (LsaKind::SUMMARY_ROUTER, _) => enter(&mut routers, key.id, cost, hops),
                _ => {}
            }
        }
        for (prefix, way) in networks {
            ways.entry(prefix).or_insert(way);
        }
        for (router, way) in routers {
            boundary.entry(router).or_insert(way);
        }
    }

    /// Networks outside the AS (RFC 2328, 16.4). Paths inside the AS come first, then metrics of type 1.
    fn enter_externals(
        &self,
        now: Time,
        boundary: &BTreeMap<Ipv4Addr, Way>,
        ways: &mut BTreeMap<Prefix, Way>,
    ) {
        let mut found: BTreeMap<Prefix, (Rank, Vec<Hop>)> = BTreeMap::new();
        for (key, body) in self.database.bodies(now) {
            let LsaBody::External(External { mask, type2, metric, forwarding, .. }) = body else { continue };
            if *metric >= LS_INFINITY || key.router == self.router_id {
                continue;
            }
            let Some(prefix) = prefix(key.id, *mask).filter(|prefix| !ways.contains_key(prefix)) else {
                continue;
            };
            let Some(way) = boundary.get(&key.router) else { continue };
            let (cost, hops) = match forwarding.is_unspecified() {
                true => way.clone(),
                false => match self.towards(*forwarding, ways) {
                    Some(way) => way,
                    None => continue,
                },
            };
            let rank = match *type2 {
                true => (true, *metric, cost),
                false => (false, cost.saturating_add(*metric), 0),
            };
            match found.get_mut(&prefix) {
                Some((known, _)) if rank > *known => {}
                Some((known, all)) if rank == *known => {
                    all.extend(hops);
                    all.sort_unstable();
                    all.dedup();
                }
                _ => {
                    found.insert(prefix, (rank, hops));
                }
            }
        }
        ways.extend(found.into_iter().map(|(prefix, ((_, metric, _), hops))| (prefix, (metric, hops))));
    }

    /// The way to a forwarding address, inside the AS.
    fn towards(&self, address: Ipv4Addr, ways: &BTreeMap<Prefix, Way>) -> Option<Way> {
        let found = (0..=32).rev().find_map(|len| ways.get(&Prefix::new(address, len)))?;
        // On a network that this router is connected to, the address itself is the next hop.
        let through = |hop: &Hop| match hop.gateway.is_unspecified() {
            true => Hop { gateway: address, ..*hop },
            false => *hop,
        };
        Some((found.0, found.1.iter().map(through).collect()))
    }
}
