//! The routing table: routes of several sources, of which one for each prefix is in force.
//!
//! Among the routes of a prefix the one with the least preference wins; then the one with the least metric; then
//! connected before static before those of protocols, these by name. A route whose next hops are addresses beyond other
//! routes is resolved through those, step by step: at most eight, and never through itself. One that does not resolve
//! is not in force, and gives way to the next.
//! A route that changes has only those resolved anew that lead through its prefix.

mod prefix;
mod route;
#[cfg(test)]
mod tests;

pub use prefix::RoutePrefix;
pub use route::{Hops, Route, RouteHop, Source};

use base::plane::{NextHop, Prefix, Unwritten};
use core::cmp::Ordering;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// As many routes a route is resolved through at most.
const LEVELS: usize = 8;

/// All routes of one prefix.
#[derive(Clone, Debug)]
struct Entry<P: RoutePrefix> {
    /// Routes to the prefix by all that announce one, the best first.
    routes: Hops<Route<P>>,
    /// Next hops of the route in force; none if no route resolves.
    active: Hops<NextHop>,
    /// Which of the routes is in force.
    best: usize,
}

impl<P: RoutePrefix> Default for Entry<P> {
    fn default() -> Entry<P> {
        Entry { routes: Hops::None, active: Hops::None, best: 0 }
    }
}

/// A prefix by its length and first address, so that the look-up goes by length.
type Key<P> = (u8, <P as RoutePrefix>::Address);

fn prefix_of<P: RoutePrefix>(key: Key<P>) -> P {
    P::of(key.1, key.0)
}

fn key_of<P: RoutePrefix>(prefix: P) -> Key<P> {
    (prefix.bits(), prefix.first())
}

/// The addresses that the routes of a prefix are resolved through.
fn gateways_of<P: RoutePrefix>(entry: &Entry<P>) -> Vec<P::Address> {
    entry.routes.as_slice().iter().flat_map(Route::gateways).collect()
}

/// The routing table of a node for a family.
#[derive(Clone, Debug)]
pub struct Rib<P: RoutePrefix = Prefix> {
    entries: BTreeMap<Key<P>, Entry<P>>,
    /// How many entries there are of each prefix length.
    lengths: Vec<u32>,
    /// Addresses that routes of a prefix are resolved through, by address: so it is known whose routes a change of
    /// another prefix concerns.
    dependents: BTreeSet<(P::Address, Key<P>)>,
    /// Prefixes whose next hops have changed, and nobody has been told yet.
    changed: VecDeque<P>,
    /// Static routes that are in force and need not stand here: of a prefix of which anything stands here, all to
    /// prefixes within and around it do.
    unwritten: Option<Arc<dyn Unwritten<P>>>,
}

impl<P: RoutePrefix> Default for Rib<P> {
    fn default() -> Rib<P> {
        let (entries, dependents) = (BTreeMap::new(), BTreeSet::new());
        Rib { entries, lengths: Vec::new(), dependents, changed: VecDeque::new(), unwritten: None }
    }
}

impl<P: RoutePrefix> Rib<P> {
    /// Puts a route in, in place of the one that its source had.
    pub fn set(&mut self, prefix: P, route: Route<P>) {
        if route.gateways().next().is_some() {
            self.use_every_route();
        }
        self.use_around(prefix);
        let key = key_of(prefix);
        self.lengths.resize(usize::from(P::BITS) + 1, 0);
        let lengths = &mut self.lengths;
        let entry = self.entries.entry(key).or_insert_with(|| {
            lengths[usize::from(key.0)] += 1;
            Entry::default()
        });
        let old = gateways_of(entry);
        match &mut entry.routes {
            // By far the most have one route.
            Hops::One(only) if only.source == route.source => *only = route,
            routes => {
                let mut all = core::mem::take(routes).into_vec();
                all.retain(|other| other.source != route.source);
                let place = all.partition_point(|other| other.order(&route) == Ordering::Less);
                all.insert(place, route);
                *routes = all.into();
            }
        }
        self.refresh(key, &old);
    }

    /// Takes the route of a source out. Was there one?
    pub fn remove(&mut self, prefix: P, source: Source) -> bool {
        self.use_every_route();
        let key = key_of(prefix);
        let Some(entry) = self.entries.get_mut(&key) else { return false };
        let old = gateways_of(entry);
        let mut all = core::mem::take(&mut entry.routes).into_vec();
        let before = all.len();
        all.retain(|route| route.source != source);
        let removed = all.len() < before;
        entry.routes = all.into();
        if removed {
            self.refresh(key, &old);
        }
        removed
    }

    /// Takes out what protocols have learnt: the node restarts.
    pub fn forget_learnt(&mut self) {
        self.use_every_route();
        let learnt = |route: &Route<P>| matches!(route.source, Source::Protocol(_));
        let keys = self.entries.iter().filter(|(_, entry)| entry.routes.as_slice().iter().any(learnt));
        for key in keys.map(|(&key, _)| key).collect::<Vec<_>>() {
            let Some(entry) = self.entries.get_mut(&key) else { continue };
            let old = gateways_of(entry);
            let all = core::mem::take(&mut entry.routes).into_vec();
            entry.routes = all.into_iter().filter(|route| !learnt(route)).collect::<Vec<_>>().into();
            self.refresh(key, &old);
        }
    }

    /// Finds out anew what is in force: at a prefix that had routes through `old` addresses, and wherever routes are
    /// resolved through it, directly or by others.
    fn refresh(&mut self, key: Key<P>, old: &[P::Address]) {
        for gateway in old {
            self.dependents.remove(&(*gateway, key));
        }
        let new = self.entries.get(&key).map(gateways_of).unwrap_or_default();
        self.dependents.extend(new.into_iter().map(|gateway| (gateway, key)));
        self.refresh_one(key);
        if self.dependents.is_empty() {
            return;
        }
        let (mut concerned, mut next) = (BTreeSet::new(), vec![key]);
        while let Some(changed) = next.pop() {
            let found: Vec<_> = self.through_prefix(prefix_of(changed)).collect();
            next.extend(found.into_iter().filter(|other| *other != key && concerned.insert(*other)));
        }
        concerned.into_iter().for_each(|other| self.refresh_one(other));
    }

    /// The prefixes with routes that are resolved through an address of this one.
    fn through_prefix(&self, prefix: P) -> impl Iterator<Item = Key<P>> {
        let from = (prefix.first(), (0, P::of(prefix.first(), 0).first()));
        self.dependents
            .range(from..)
            .take_while(move |(gateway, _)| *gateway <= prefix.last())
            .map(|(_, key)| *key)
    }

    fn refresh_one(&mut self, key: Key<P>) {
        let (best, hops) = self.resolve(key, &mut Vec::new()).unwrap_or_default();
        let Some(entry) = self.entries.get_mut(&key) else { return };
        if entry.active != hops {
            self.changed.push_back(prefix_of(key));
        }
        (entry.best, entry.active) = (best, hops);
        if matches!(entry.routes, Hops::None) {
            self.entries.remove(&key);
            self.lengths[usize::from(key.0)] -= 1;
        }
    }

    /// The first route of a prefix that leads anywhere, and where; `path` are the prefixes that are being resolved.
    fn resolve(&self, key: Key<P>, path: &mut Vec<Key<P>>) -> Option<(usize, Hops<NextHop>)> {
        let routes = self.entries.get(&key)?.routes.as_slice();
        routes.iter().enumerate().find_map(|(place, route)| {
            if let [RouteHop::Direct(only)] = route.hops.as_slice() {
                return Some((place, Hops::One(*only)));
            }
            let mut found = Vec::new();
            for hop in route.hops.as_slice() {
                match *hop {
                    RouteHop::Direct(next_hop) => found.push(next_hop),
                    RouteHop::Through(gateway) => {
                        path.push(key);
                        found.extend(self.through(gateway, path));
                        path.pop();
                    }
                }
            }
            let mut known = Vec::with_capacity(found.len());
            for hop in found {
                if !known.contains(&hop) {
                    known.push(hop);
                }
            }
            (!known.is_empty()).then(|| (place, known.into()))
        })
    }

    /// Where packets to a gateway go, if a neighbour is there in the end.
    fn through(&self, gateway: P::Address, path: &mut Vec<Key<P>>) -> Vec<NextHop> {
        if path.len() > LEVELS {
            return Vec::new();
        }
        let lengths = (0..self.lengths.len() as u8).rev().filter(|&len| self.lengths[usize::from(len)] > 0);
        for key in lengths.map(|len| key_of(P::of(gateway, len))) {
            // A route is never resolved through itself.
            if path.contains(&key) {
                continue;
            }
            if let Some((_, hops)) = self.resolve(key, path) {
                let beyond = |hop: &NextHop| match *hop {
                    // The gateway is on a connected network: it is the neighbour.
                    NextHop::Via { port, gateway: near } if near.is_unspecified() => {
                        Some(NextHop::Via { port, gateway: gateway.into() })
                    }
                    NextHop::Local => None,
                    other => Some(other),
                };
                return hops.as_slice().iter().filter_map(beyond).collect();
            }
        }
        Vec::new()
    }

    /// Next hops of the most specific route for `destination`.
    pub fn lookup(&self, destination: P::Address) -> Option<(P, &[NextHop])> {
        (0..self.lengths.len() as u8).rev().filter(|&len| self.lengths[usize::from(len)] > 0).find_map(
            |len| {
                let prefix = P::of(destination, len);
                let hops = self.entries.get(&key_of(prefix))?.active.as_slice();
                (!hops.is_empty()).then_some((prefix, hops))
            },
        )
    }

    /// The first next hop of the most specific route for `destination`, and its prefix.
    pub fn first_hop(&self, destination: P::Address) -> Option<(P, NextHop)> {
        match self.lookup(destination) {
            Some((prefix, hops)) => Some((prefix, *hops.first()?)),
            None => self.unwritten.as_ref()?.route(P::of(destination, P::BITS)),
        }
    }

    /// Has static routes of a source in force from now on, without telling anybody: they are those that a router
    /// begins with. No prefix of the source has a route yet.
    pub fn set_unwritten(&mut self, source: Arc<dyn Unwritten<P>>) {
        self.unwritten = Some(source);
        for prefix in self.entries.keys().copied().map(prefix_of).collect::<Vec<P>>() {
            self.use_around(prefix);
        }
    }

    /// Puts in the routes to prefixes that have an address in common with this one.
    fn use_around(&mut self, prefix: P) {
        let Some(source) = self.unwritten.clone() else { return };
        for other in source.within(prefix).into_iter().chain(source.around(prefix)) {
            if !self.entries.contains_key(&key_of(other))
                && let Some(next_hop) = source.next_hop(other)
            {
                self.put_in(other, next_hop);
            }
        }
    }

    /// Puts in all static routes that are in force: one of them is to be taken out, others lead through them, or
    /// somebody has to know them all. Nobody is told: they were in force before.
    pub fn use_every_route(&mut self) {
        let Some(source) = self.unwritten.take() else { return };
        for (prefix, next_hop) in source.all() {
            if !self.entries.contains_key(&key_of(prefix)) {
                self.put_in(prefix, next_hop);
            }
        }
    }

    fn put_in(&mut self, prefix: P, next_hop: NextHop) {
        debug_assert!(self.dependents.is_empty(), "routes through others ask for all routes");
        let key = key_of(prefix);
        self.lengths.resize(usize::from(P::BITS) + 1, 0);
        self.lengths[usize::from(key.0)] += 1;
        let routes = Hops::One(Route::fixed(next_hop));
        self.entries.insert(key, Entry { routes, active: Hops::One(next_hop), best: 0 });
    }

    /// The table with all routes that are in force, for people to look at.
    pub fn complete(&self) -> Cow<'_, Rib<P>> {
        if self.unwritten.is_none() {
            return Cow::Borrowed(self);
        }
        let mut whole = self.clone();
        whole.use_every_route();
        Cow::Owned(whole)
    }

    /// Next hops of a prefix; none if it has no route in force.
    pub fn next_hops(&self, prefix: P) -> &[NextHop] {
        self.entries.get(&key_of(prefix)).map_or(&[], |entry| entry.active.as_slice())
    }

    /// The route of a prefix that is in force.
    pub fn best(&self, prefix: P) -> Option<&Route<P>> {
        let entry = self.entries.get(&key_of(prefix)).filter(|entry| !entry.active.as_slice().is_empty())?;
        entry.routes.as_slice().get(entry.best)
    }

    /// All routes of a prefix, the best first, whether they lead anywhere or not.
    pub fn routes(&self, prefix: P) -> &[Route<P>] {
        self.entries.get(&key_of(prefix)).map_or(&[], |entry| entry.routes.as_slice())
    }

    /// Prefixes with the next hops in force, the least specific first.
    pub fn active(&self) -> impl Iterator<Item = (P, &[NextHop])> {
        let all = self.entries.iter().map(|(&key, entry)| (prefix_of(key), entry.active.as_slice()));
        all.filter(|(_, hops)| !hops.is_empty())
    }

    /// All routes: the prefix, the route, and its next hops if it is the one in force.
    pub fn iter(&self) -> impl Iterator<Item = (P, &Route<P>, Option<&[NextHop]>)> {
        self.entries.iter().flat_map(|(&key, entry)| {
            let active = Some(entry.active.as_slice()).filter(|hops| !hops.is_empty());
            let routes = entry.routes.as_slice().iter().enumerate();
            routes.map(move |(place, route)| (prefix_of(key), route, active.filter(|_| place == entry.best)))
        })
    }

    /// Is anybody to be told of a change?
    #[inline]
    pub(crate) fn is_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// A prefix whose next hops have changed since the last call, in the order of the changes.
    pub(crate) fn poll_change(&mut self) -> Option<P> {
        self.changed.pop_front()
    }
}
