//! The routing table: routes of several sources, of which one for each prefix is in force.
//!
//! Among the routes of a prefix the one with the least preference wins; then the one with the least metric; then
//! connected before static before those of protocols, these by name. A route whose next hops are addresses beyond other
//! routes is resolved through those, step by step ([`gateways`]). One that does not resolve is not in force, and gives
//! way to the next. Routes through one gateway follow it together: nothing is done for each when it moves.
//!
//! There may be a million prefixes, or ten thousand at each of ten thousand routers. Most have the routes that many
//! others have, but for the prefix: equal lists of routes, and of next hops, are one in memory.

mod gateways;
mod many;
mod prefix;
mod route;
#[cfg(test)]
mod tests;

pub(crate) use gateways::Below;
pub use gateways::Carrier;
pub use prefix::RoutePrefix;
pub use route::{Hops, Route, RouteHop, Source};

use base::plane::{NextHop, Prefix, Unwritten};
use base::queue::take_first;
use base::{Dense, Interned, Interner};
use core::cmp::Ordering;
use gateways::Gateway;
use route::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Where packets to a prefix go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Active<P: RoutePrefix> {
    /// Next hops of its own; none if no route resolves.
    Own(Interned),
    /// Those of a gateway, whatever they are.
    Through(P::Address),
}

/// The same while it is found out.
enum Found<P: RoutePrefix> {
    Own(Hops<NextHop>),
    Through(P::Address),
}

/// All routes of one prefix.
#[derive(Clone, Copy, Debug)]
struct Entry<P: RoutePrefix> {
    /// Routes to the prefix by all that announce one, the best first; none if there is none.
    routes: Interned,
    /// Next hops of the route in force.
    active: Active<P>,
    /// Which of the routes is in force: there are not more than sources.
    best: u8,
}

impl<P: RoutePrefix> Entry<P> {
    const NEW: Entry<P> = Entry { routes: Interned::NONE, active: Active::Own(Interned::NONE), best: 0 };
}

/// Lists that several have, each once.
#[derive(Clone, Debug)]
struct Lists<T>(Interner<Box<[T]>>);

impl<T> Default for Lists<T> {
    fn default() -> Lists<T> {
        Lists(Interner::default())
    }
}

impl<T: Clone + Eq + core::hash::Hash> Lists<T> {
    fn get(&self, id: Interned) -> &[T] {
        if id == Interned::NONE { &[] } else { self.0.get(id) }
    }

    fn intern(&mut self, all: &[T]) -> Interned {
        if all.is_empty() { Interned::NONE } else { self.0.intern(all, || all.into()) }
    }

    /// Somebody else has the list, too.
    fn hold(&mut self, id: Interned) -> Interned {
        if id != Interned::NONE {
            self.0.hold(id);
        }
        id
    }

    fn release(&mut self, id: Interned) {
        if id != Interned::NONE {
            self.0.release(id);
        }
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

/// The routing table of a node for a family.
#[derive(Clone, Debug)]
pub struct Rib<P: RoutePrefix = Prefix> {
    entries: Dense<Key<P>, Entry<P>>,
    /// The lists of routes that prefixes have.
    routes: Lists<Route<P>>,
    /// The lists of next hops that prefixes have of their own.
    hops: Lists<NextHop>,
    /// How many entries there are of each prefix length.
    lengths: Vec<u32>,
    /// Addresses that routes lead through.
    gateways: BTreeMap<P::Address, Gateway<P>>,
    /// Prefixes with a route that has several next hops, gateways among them.
    mixed: BTreeSet<Key<P>>,
    /// Gateways that lead elsewhere than before or that no route names any more, and nobody has been told yet.
    changed_gateways: VecDeque<P::Address>,
    /// Prefixes whose next hops have changed, and nobody has been told yet.
    changed: VecDeque<P>,
    /// Prefixes whose route in force has another source, metric or tag and leads where it led, or leads through others
    /// and has other routes behind it; nobody has been told yet.
    revalued: VecDeque<P>,
    /// Prefixes whose static routes are not in force, since their next hops do not answer.
    suspended: BTreeSet<Key<P>>,
    /// Static routes that are in force and need not stand here: of a prefix of which anything stands here, all to
    /// prefixes within and around it do.
    unwritten: Option<Arc<dyn Unwritten<P>>>,
}

impl<P: RoutePrefix> Default for Rib<P> {
    fn default() -> Rib<P> {
        let (entries, routes, hops) = (Dense::default(), Lists::default(), Lists::default());
        let (gateways, mixed) = (BTreeMap::new(), BTreeSet::new());
        let (changed, changed_gateways, revalued) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
        let suspended = BTreeSet::new();
        let lengths = Vec::new();
        Rib {
            entries,
            routes,
            hops,
            lengths,
            gateways,
            mixed,
            changed_gateways,
            changed,
            revalued,
            suspended,
            unwritten: None,
        }
    }
}

impl<P: RoutePrefix> Rib<P> {
    /// Puts a route in, in place of the one that its source had.
    pub fn set(&mut self, prefix: P, route: Route<P>) {
        if route.gateways().next().is_some() {
            self.use_every_route();
        }
        if self.unwritten.is_some() {
            self.use_around(prefix);
        }
        let key = key_of(prefix);
        self.lengths.resize(usize::from(P::BITS) + 1, 0);
        let lengths = &mut self.lengths;
        let place = self.entries.place_or_insert_with(key, || {
            lengths[usize::from(key.0)] += 1;
            Entry::NEW
        });
        if self.set_first(key, place, &route) {
            return;
        }
        let new = match self.routes.get(self.entries.at(place).routes) {
            // By far the most have one route.
            [] => self.routes.intern(&[route]),
            [only] if only.source == route.source => self.routes.intern(&[route]),
            routes => {
                let mut all = routes.to_vec();
                all.retain(|other| other.source != route.source);
                let at = all.partition_point(|other| other.order(&route) == Ordering::Less);
                all.insert(at, route);
                self.routes.intern(&all)
            }
        };
        self.replace(key, place, new);
    }

    /// Takes the route of a source out. Was there one?
    pub fn remove(&mut self, prefix: P, source: Source) -> bool {
        if source == Source::Static {
            self.use_every_route();
        }
        self.retain(key_of(prefix), |route| route.source != source)
    }

    /// Leaves a prefix those of its routes that are meant. Are there less then?
    fn retain(&mut self, key: Key<P>, is_left: impl Fn(&Route<P>) -> bool) -> bool {
        let Some(place) = self.entries.place(&key) else { return false };
        let all = self.routes.get(self.entries.at(place).routes);
        if all.iter().all(&is_left) {
            return false;
        }
        let left: Vec<Route<P>> = all.iter().filter(|route| is_left(route)).cloned().collect();
        let new = self.routes.intern(&left);
        self.replace(key, place, new);
        true
    }

    /// The static route of a prefix is in force from now on, or is not, whoever sets it.
    pub fn suspend(&mut self, prefix: P, is_suspended: bool) {
        let key = key_of(prefix);
        let is_other = match is_suspended {
            true => self.suspended.insert(key),
            false => self.suspended.remove(&key),
        };
        if is_other && self.entries.contains(&key) {
            self.use_every_route();
            let before = self.best(prefix).map(Route::value);
            if let Some(place) = self.entries.place(&key) {
                self.refresh(key, place, before);
            }
        }
    }

    /// Takes out what protocols have learnt: the node restarts.
    pub fn forget_learnt(&mut self) {
        self.use_every_route();
        let learnt = |route: &Route<P>| matches!(route.source, Source::Protocol(_));
        let keys = self.entries.keys_where(|entry| self.routes.get(entry.routes).iter().any(learnt));
        for key in keys {
            self.retain(key, |route| !learnt(route));
        }
    }

    /// Gives a prefix other routes.
    fn replace(&mut self, key: Key<P>, place: u32, new: Interned) {
        let entry = self.entries.at_mut(place);
        let (old, best) = (core::mem::replace(&mut entry.routes, new), usize::from(entry.best));
        if old != new {
            self.count_gateways(key, new, old);
            let before = self.routes.get(old).get(best).map(Route::value);
            self.refresh(key, place, before);
        }
        self.routes.release(old);
    }

    /// Finds out anew what is in force: at a prefix that had other routes before, and of gateways whose way goes by it.
    fn refresh(&mut self, key: Key<P>, place: u32, before: Option<Value>) {
        let is_changed = self.refresh_one(key, place);
        // An entry without routes is no more.
        if !is_changed && let Some(best) = self.entries.place(&key).and_then(|place| self.best_at(place)) {
            // What stands behind a route that leads through others counts for who finds the way to such others.
            if Some(best.value()) != before || best.gateways().next().is_some() {
                self.revalued.push_back(prefix_of(key));
            }
        }
        if !self.gateways.is_empty() {
            self.refresh_gateways(prefix_of(key));
        }
    }

    /// Do packets to the prefix at a place take another way now? If it has no route any more, its entry goes.
    fn refresh_one(&mut self, key: Key<P>, place: u32) -> bool {
        let entry = *self.entries.at(place);
        let is_suspended = !self.suspended.is_empty() && self.suspended.contains(&key);
        let (best, found) = self.resolve(&entry, is_suspended);
        let active = match found {
            Found::Own(hops) => match entry.active {
                // The same next hops as before need not be looked for.
                Active::Own(known) if self.hops.get(known) == hops.as_slice() => {
                    Active::Own(self.hops.hold(known))
                }
                _ => Active::Own(self.hops.intern(hops.as_slice())),
            },
            Found::Through(gateway) => Active::Through(gateway),
        };
        let is_changed = entry.active != active;
        if is_changed {
            self.changed.push_back(prefix_of(key));
        }
        let known = self.entries.at_mut(place);
        (known.best, known.active) = (best as u8, active);
        if let Active::Own(before) = entry.active {
            self.hops.release(before);
        }
        if entry.routes == Interned::NONE {
            debug_assert_eq!(active, Active::Own(Interned::NONE));
            self.entries.remove(&key);
            self.lengths[usize::from(key.0)] -= 1;
        }
        is_changed
    }

    /// The first route of a prefix that leads anywhere, and where.
    fn resolve(&self, entry: &Entry<P>, is_suspended: bool) -> (usize, Found<P>) {
        let routes = self.routes.get(entry.routes).iter().enumerate();
        let routes = routes.filter(|(_, route)| !(is_suspended && route.source == Source::Static));
        let found = routes.filter_map(|(place, route)| match route.hops.as_slice() {
            [] => None,
            [RouteHop::Direct(only)] => Some((place, Found::Own(Hops::One(*only)))),
            [RouteHop::Through(gateway)] => Some((place, self.active_through(*gateway)?)),
            several => {
                let mut known: Vec<NextHop> = Vec::with_capacity(several.len());
                for hop in several {
                    let found = match hop {
                        RouteHop::Direct(next_hop) => core::slice::from_ref(next_hop),
                        RouteHop::Through(gateway) => self.hops_of(*gateway),
                    };
                    for hop in found {
                        if !known.contains(hop) {
                            known.push(*hop);
                        }
                    }
                }
                (!known.is_empty()).then(|| (place, Found::Own(known.into())))
            }
        });
        { found }.next().unwrap_or((0, Found::Own(Hops::None)))
    }

    /// The next hops of a prefix that are in force.
    fn hops_in_force<'a>(&'a self, entry: &'a Entry<P>) -> &'a [NextHop] {
        match &entry.active {
            Active::Own(hops) => self.hops.get(*hops),
            Active::Through(gateway) => self.hops_of(*gateway),
        }
    }

    /// Next hops of the most specific route for `destination`.
    pub fn lookup(&self, destination: P::Address) -> Option<(P, &[NextHop])> {
        (0..self.lengths.len() as u8).rev().filter(|&len| self.lengths[usize::from(len)] > 0).find_map(
            |len| {
                let prefix = P::of(destination, len);
                let hops = self.hops_in_force(self.entries.get(&key_of(prefix))?);
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

    /// Next hops of the most specific route for `destination`, whether it stands here or not.
    pub fn hops_to(&self, destination: P::Address) -> Option<Vec<NextHop>> {
        match self.lookup(destination) {
            Some((_, hops)) => Some(hops.to_vec()),
            None => self.first_hop(destination).map(|(_, hop)| vec![hop]),
        }
    }

    /// Has static routes of a source in force from now on, without telling anybody: they are those that a router
    /// begins with. No prefix of the source has a route yet.
    pub fn set_unwritten(&mut self, source: Arc<dyn Unwritten<P>>) {
        self.unwritten = Some(source);
        for key in self.entries.keys_where(|_| true) {
            self.use_around(prefix_of(key));
        }
    }

    /// Puts in the routes to prefixes that have an address in common with this one.
    fn use_around(&mut self, prefix: P) {
        let Some(source) = self.unwritten.clone() else { return };
        for other in source.within(prefix).into_iter().chain(source.around(prefix)) {
            if !self.entries.contains(&key_of(other))
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
            if !self.entries.contains(&key_of(prefix)) {
                self.put_in(prefix, next_hop);
            }
        }
    }

    fn put_in(&mut self, prefix: P, next_hop: NextHop) {
        debug_assert!(self.gateways.is_empty(), "routes through others ask for all routes");
        let key = key_of(prefix);
        self.lengths.resize(usize::from(P::BITS) + 1, 0);
        self.lengths[usize::from(key.0)] += 1;
        let routes = self.routes.intern(&[Route::fixed(next_hop)]);
        let active = Active::Own(self.hops.intern(&[next_hop]));
        let place = self.entries.place_or_insert_with(key, || Entry::NEW);
        *self.entries.at_mut(place) = Entry { routes, active, best: 0 };
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

    /// Hints that a prefix is about to get a route.
    pub(crate) fn prefetch(&self, prefix: P) {
        self.entries.prefetch(&key_of(prefix));
    }

    /// Next hops of a prefix; none if it has no route in force.
    pub fn next_hops(&self, prefix: P) -> &[NextHop] {
        self.entries.get(&key_of(prefix)).map_or(&[], |entry| self.hops_in_force(entry))
    }

    /// The route of a prefix that is in force.
    pub fn best(&self, prefix: P) -> Option<&Route<P>> {
        self.best_at(self.entries.place(&key_of(prefix))?)
    }

    /// The route in force of the prefix at a place.
    fn best_at(&self, place: u32) -> Option<&Route<P>> {
        let entry = Some(self.entries.at(place)).filter(|entry| !self.hops_in_force(entry).is_empty())?;
        self.routes.get(entry.routes).get(usize::from(entry.best))
    }

    /// All routes of a prefix, the best first, whether they lead anywhere or not.
    pub fn routes(&self, prefix: P) -> &[Route<P>] {
        self.entries.get(&key_of(prefix)).map_or(&[], |entry| self.routes.get(entry.routes))
    }

    /// Prefixes with the next hops in force, the least specific first.
    pub fn active(&self) -> impl Iterator<Item = (P, &[NextHop])> {
        let all = self.entries.iter().map(|(key, entry)| (prefix_of(key), self.hops_in_force(entry)));
        all.filter(|(_, hops)| !hops.is_empty())
    }

    /// All routes: the prefix, the route, and its next hops if it is the one in force.
    pub fn iter(&self) -> impl Iterator<Item = (P, &Route<P>, Option<&[NextHop]>)> {
        self.entries.iter().flat_map(|(key, entry)| {
            let active = Some(self.hops_in_force(entry)).filter(|hops| !hops.is_empty());
            let routes = self.routes.get(entry.routes).iter().enumerate();
            let best = usize::from(entry.best);
            routes.map(move |(place, route)| (prefix_of(key), route, active.filter(|_| place == best)))
        })
    }

    /// Is anybody to be told of a change?
    #[inline]
    pub(crate) fn is_changed(&self) -> bool {
        !self.changed.is_empty() || !self.changed_gateways.is_empty() || !self.revalued.is_empty()
    }

    /// Nobody is told of what has changed: the node restarts.
    pub(crate) fn forget_changes(&mut self) {
        self.changed.clear();
        self.changed_gateways.clear();
        self.revalued.clear();
    }

    /// A prefix whose next hops have changed since the last call, in the order of the changes.
    pub(crate) fn poll_change(&mut self) -> Option<P> {
        take_first(&mut self.changed)
    }

    /// A prefix whose route in force has another source, metric or tag since the last call, or other routes behind it,
    /// though packets take the way that they took: who passes routes on, or compares their metrics, has to know.
    pub(crate) fn poll_revalued(&mut self) -> Option<P> {
        take_first(&mut self.revalued)
    }
}
