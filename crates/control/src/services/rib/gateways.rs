//! Gateways: addresses that routes lead through. Where packets to one go is found once for all routes that name it, so
//! that a route which changes beneath a million others is one change for all of them.
//!
//! A gateway is never resolved through a route that leads through itself, and through at most eight others.

use super::{Active, Found, Hops, Key, Rib, Route, RouteHop, RoutePrefix, Source, key_of, prefix_of};
use crate::services::Bindings;
use base::plane::{LabelStack, Leg, MEMBERS_MAX, NextHop};
use base::queue::take_first;
use base::{Interned, PortId, ProtocolId};
use std::collections::BTreeSet;

/// As many gateways a gateway is resolved through at most, itself included.
const LEVELS: usize = 8;

/// An address that routes lead through.
#[derive(Clone, Debug)]
pub(super) struct Gateway<P: RoutePrefix> {
    /// Where packets to it go; none if no route leads there.
    pub hops: Hops<NextHop>,
    /// The gateways that were looked at to find that, whether they lead anywhere or not.
    asked: Vec<P::Address>,
    /// How often routes name it.
    pub users: u32,
}

/// What leads packets to a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier<P: RoutePrefix> {
    /// The LSP that is bound to this prefix.
    Lsp(P),
    /// A route.
    Route {
        /// Its destinations, the gateway among them.
        prefix: P,
        /// Whence it comes.
        source: Source,
        /// Where it leads.
        next_hop: NextHop,
    },
}

/// Where packets go, what is put on them for the way there, and what leads them.
struct Way<P: RoutePrefix> {
    hop: NextHop,
    labels: LabelStack,
    by: Carrier<P>,
}

/// Does each of several next hops lead to a neighbour, so that a group can have them?
pub(super) fn is_shared(hops: &[NextHop]) -> bool {
    let to_neighbor =
        |hop: &NextHop| matches!(hop, NextHop::Via { gateway, .. } if !gateway.is_unspecified());
    !hops.is_empty() && hops.iter().all(to_neighbor)
}

/// What ends at a gateway: LSPs that are not of this owner, and ports with a neighbour that has its address.
#[derive(Clone, Copy)]
pub(crate) struct Below<'a> {
    pub owner: ProtocolId,
    pub is_beside: &'a dyn Fn(PortId) -> bool,
}

/// What a search for the way to a gateway has with it.
struct Search<'a, P: RoutePrefix> {
    /// LSPs that are taken, where they are wanted.
    bindings: Option<&'a Bindings>,
    /// Is only what ends there wanted?
    below: Option<Below<'a>>,
    /// The gateways that are being resolved.
    path: Vec<P::Address>,
    /// Those that were looked at.
    asked: Vec<P::Address>,
}

impl<P: RoutePrefix> Rib<P> {
    /// Where packets through a gateway go as all its routes share it; nothing if it leads to no neighbours.
    pub(super) fn active_through(&self, gateway: P::Address) -> Option<Found<P>> {
        let hops = &self.gateways.get(&gateway)?.hops;
        match hops.as_slice() {
            [] => None,
            all if is_shared(all) => Some(Found::Through(gateway)),
            _ => Some(Found::Own(hops.clone())),
        }
    }

    /// Next hops of a gateway that routes name.
    pub(super) fn hops_of(&self, gateway: P::Address) -> &[NextHop] {
        self.gateways.get(&gateway).map_or(&[], |known| known.hops.as_slice())
    }

    /// Counts the gateways that the routes of a prefix name in place of those of its routes before.
    pub(super) fn count_gateways(&mut self, key: Key<P>, new: Interned, old: Interned) {
        let (new, old) = (self.routes.get(new), self.routes.get(old));
        if self.mixed.is_empty() && !new.iter().chain(old).any(Route::leads_through) {
            return;
        }
        let mut fresh = Vec::new();
        for gateway in new.iter().flat_map(Route::gateways) {
            let known = self.gateways.entry(gateway).or_insert_with(|| {
                fresh.push(gateway);
                Gateway { hops: Hops::None, asked: Vec::new(), users: 0 }
            });
            known.users += 1;
        }
        let is_mixed =
            new.iter().any(|route| matches!(route.hops, Hops::Many(_)) && route.gateways().next().is_some());
        let was_mixed = !self.mixed.is_empty() && self.mixed.contains(&key);
        if is_mixed != was_mixed {
            if is_mixed {
                self.mixed.insert(key)
            } else {
                self.mixed.remove(&key)
            };
        }
        for gateway in old.iter().flat_map(Route::gateways) {
            let Some(known) = self.gateways.get_mut(&gateway) else {
                debug_assert!(false, "a route names a gateway that is not there");
                continue;
            };
            known.users -= 1;
            if known.users == 0 {
                self.gateways.remove(&gateway);
                self.changed_gateways.push_back(gateway);
            }
        }
        for gateway in fresh {
            self.find(gateway);
        }
    }

    /// Finds where a gateway leads. Does it lead elsewhere than before, and is it something else for its routes?
    fn find(&mut self, gateway: P::Address) -> (bool, bool) {
        let mut search = Search { bindings: None, below: None, path: Vec::new(), asked: Vec::new() };
        let mut hops: Vec<NextHop> = Vec::new();
        for Way { hop, .. } in self.ways(gateway, &mut search) {
            if !hops.contains(&hop) {
                hops.push(hop);
            }
        }
        let Some(known) = self.gateways.get_mut(&gateway) else { return (false, false) };
        search.asked.sort();
        search.asked.dedup();
        known.asked = search.asked;
        let (new, before) = (Hops::from(hops), known.hops.as_slice());
        if new.as_slice() == before {
            return (false, false);
        }
        let is_other = !is_shared(new.as_slice()) || !is_shared(before);
        known.hops = new;
        self.changed_gateways.push_back(gateway);
        (true, is_other)
    }

    /// Does a prefix cover an address that routes lead through?
    pub(super) fn has_gateway_within(&self, prefix: P) -> bool {
        let (first, last) = (prefix.first(), prefix.last());
        // By far the most prefixes are apart from all of them.
        let is_below = self.gateways.first_key_value().is_none_or(|(least, _)| last < *least);
        let is_above = self.gateways.last_key_value().is_none_or(|(most, _)| *most < first);
        !is_below && !is_above && self.gateways.range(first..=last).next().is_some()
    }

    /// The routes to a prefix have changed: finds out anew where gateways lead whose way may go by it.
    pub(super) fn refresh_gateways(&mut self, prefix: P) {
        if !self.has_gateway_within(prefix) {
            return;
        }
        let (first, last) = (prefix.first(), prefix.last());
        let within = |address: &P::Address| (first..=last).contains(address);
        let concerned: Vec<P::Address> = self
            .gateways
            .iter()
            .filter(|(address, known)| within(address) || known.asked.iter().any(within))
            .map(|(address, _)| *address)
            .collect();
        let (mut is_any, mut other) = (false, BTreeSet::new());
        for gateway in concerned {
            let (is_moved, is_other) = self.find(gateway);
            is_any |= is_moved;
            if is_other {
                other.insert(gateway);
            }
        }
        if !is_any {
            return;
        }
        let mut keys = self.mixed.clone();
        if !other.is_empty() {
            let names = |routes: Interned| {
                let mut all = self.routes.get(routes).iter().flat_map(Route::gateways);
                all.any(|gateway| other.contains(&gateway))
            };
            keys.extend(self.entries.keys_where(|entry| names(entry.routes)));
        }
        for key in keys {
            if let Some(place) = self.entries.place(&key) {
                self.refresh_one(key, place);
            }
        }
    }

    /// Where packets to a gateway go.
    fn ways(&self, gateway: P::Address, search: &mut Search<'_, P>) -> Vec<Way<P>> {
        let host = P::of(gateway, P::BITS);
        let legs = |bindings: &Bindings| match search.below {
            None => bindings.legs(host.into()),
            Some(below) => bindings.legs_without(host.into(), below.owner),
        };
        if let Some(legs) = search.bindings.and_then(legs) {
            let by = Carrier::Lsp(host);
            let way = |leg: Leg| {
                let Leg { labels, port, gateway } = leg;
                Way { hop: NextHop::Via { port, gateway }, labels, by }
            };
            return legs.into_iter().map(way).collect();
        }
        if search.path.len() >= LEVELS || search.path.contains(&gateway) {
            return Vec::new();
        }
        search.path.push(gateway);
        let lengths = (0..self.lengths.len() as u8).rev().filter(|&len| self.lengths[usize::from(len)] > 0);
        let mut found = Vec::new();
        for len in lengths {
            let key = key_of(P::of(gateway, len));
            let Some(entry) = self.entries.get(&key) else { continue };
            let is_suspended = self.suspended.contains(&key);
            let routes = self.routes.get(entry.routes).iter();
            let routes = routes.filter(|route| !(is_suspended && route.source == Source::Static));
            let prefix = prefix_of(key);
            let led = routes.map(|route| self.led(prefix, route, search)).find(|ways| !ways.is_empty());
            if let Some(ways) = led {
                let below = search.below;
                let beyond = |way: Way<P>| match way.hop {
                    // The gateway is on a connected network: it is the neighbour.
                    NextHop::Via { port, gateway: near } if near.is_unspecified() => {
                        Some(Way { hop: NextHop::Via { port, gateway: gateway.into() }, ..way })
                    }
                    NextHop::Local => None,
                    // A router on the way there does not know the label.
                    NextHop::Via { port, gateway: near }
                        if near != gateway.into() && below.is_some_and(|below| !(below.is_beside)(port)) =>
                    {
                        None
                    }
                    _ => Some(way),
                };
                found = ways.into_iter().filter_map(beyond).collect();
                break;
            }
        }
        search.path.pop();
        found
    }

    /// Where packets of a route to a prefix go.
    fn led(&self, prefix: P, route: &Route<P>, search: &mut Search<'_, P>) -> Vec<Way<P>> {
        let mut found = Vec::new();
        for hop in route.hops.as_slice() {
            match *hop {
                RouteHop::Direct(next_hop) => {
                    let by = Carrier::Route { prefix, source: route.source, next_hop };
                    found.push(Way { hop: next_hop, labels: LabelStack::EMPTY, by });
                }
                // An LSP to where the route leads does not end at the gateway.
                RouteHop::Through(_) if search.below.is_some() => {}
                RouteHop::Through(gateway) => {
                    search.asked.push(gateway);
                    found.extend(self.ways(gateway, search));
                }
            }
        }
        found
    }

    /// How packets get to a gateway: by the LSPs to it where there are some, or else to those on the way to it.
    pub(crate) fn legs(&self, gateway: P::Address, bindings: &Bindings) -> Vec<Leg> {
        self.legs_by(
            gateway,
            Search { bindings: Some(bindings), below: None, path: Vec::new(), asked: Vec::new() },
        )
    }

    /// The same for packets with a label that has a meaning at the gateway alone.
    pub(crate) fn legs_below(&self, gateway: P::Address, bindings: &Bindings, below: Below<'_>) -> Vec<Leg> {
        let below = Some(below);
        self.legs_by(gateway, Search { bindings: Some(bindings), below, path: Vec::new(), asked: Vec::new() })
    }

    fn legs_by(&self, gateway: P::Address, mut search: Search<'_, P>) -> Vec<Leg> {
        let mut legs: Vec<Leg> = Vec::new();
        for Way { hop, labels, .. } in self.ways(gateway, &mut search) {
            if let NextHop::Via { port, gateway } = hop {
                let leg = Leg { labels, port, gateway };
                if !gateway.is_unspecified() && legs.len() < MEMBERS_MAX && !legs.contains(&leg) {
                    legs.push(leg);
                }
            }
        }
        legs
    }

    /// What leads packets of a prefix to the gateways of its route in force, each once; nothing if that names none.
    pub fn carriers(&self, prefix: P, bindings: &Bindings) -> Vec<Carrier<P>> {
        // LSPs are taken by what routes share that lead to neighbours.
        let bindings = self.gateway(prefix).map(|_| bindings);
        let mut found = Vec::new();
        for gateway in self.best(prefix).into_iter().flat_map(Route::gateways) {
            let mut search = Search { bindings, below: None, path: Vec::new(), asked: Vec::new() };
            for Way { by, .. } in self.ways(gateway, &mut search) {
                if !found.contains(&by) {
                    found.push(by);
                }
            }
        }
        found
    }

    /// Somebody else than a route wants to know where a gateway leads.
    pub(crate) fn hold_gateway(&mut self, gateway: P::Address) {
        self.use_every_route();
        let is_new = !self.gateways.contains_key(&gateway);
        let fresh = || Gateway { hops: Hops::None, asked: Vec::new(), users: 0 };
        self.gateways.entry(gateway).or_insert_with(fresh).users += 1;
        if is_new {
            self.find(gateway);
        }
    }

    /// Nobody else does any more.
    pub(crate) fn release_gateway(&mut self, gateway: P::Address) {
        let Some(known) = self.gateways.get_mut(&gateway) else {
            debug_assert!(false, "a gateway that is held is there");
            return;
        };
        known.users -= 1;
        if known.users == 0 {
            self.gateways.remove(&gateway);
            self.changed_gateways.push_back(gateway);
        }
    }

    /// The gateway that all packets to a prefix go through, if its next hops are those of a gateway.
    pub fn gateway(&self, prefix: P) -> Option<P::Address> {
        match self.entries.get(&key_of(prefix))?.active {
            Active::Through(gateway) => Some(gateway),
            Active::Own(_) => None,
        }
    }

    /// All gateways that routes name.
    pub(crate) fn gateways(&self) -> impl Iterator<Item = P::Address> {
        self.gateways.keys().copied()
    }

    /// Does any route lead through an address?
    pub(crate) fn has_gateways(&self) -> bool {
        !self.gateways.is_empty()
    }

    /// Does any route name the gateway?
    pub(crate) fn has_gateway(&self, gateway: P::Address) -> bool {
        self.gateways.contains_key(&gateway)
    }

    /// A gateway that leads elsewhere than at the last call, or that no route names any more.
    pub(crate) fn poll_gateway(&mut self) -> Option<P::Address> {
        take_first(&mut self.changed_gateways)
    }
}
