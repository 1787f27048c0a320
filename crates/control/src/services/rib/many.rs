//! Routes that many prefixes are given: each is looked for once, and no memory is asked for.

use super::gateways::is_shared;
use super::{Active, Entry, Found, Key, Rib, Route, RouteHop, RoutePrefix, Source, key_of, prefix_of};
use base::Interned;
use std::collections::VecDeque;

/// So many prefixes are looked for in memory at once.
const AHEAD: usize = 8;

impl<P: RoutePrefix> Rib<P> {
    /// Gives prefixes routes of which many have the same, each by its place among them.
    pub fn set_each(&mut self, routes: &[Route<P>], prefixes: impl Iterator<Item = (P, u32)>) {
        let shared: Vec<Option<Entry<P>>> = routes.iter().map(|route| self.share(route)).collect();
        let mut prefixes = prefixes;
        let mut ahead = VecDeque::with_capacity(AHEAD);
        loop {
            // What is waited for from memory comes for several at once.
            while ahead.len() < AHEAD
                && let Some(next) = prefixes.next()
            {
                self.prefetch(next.0);
                ahead.push_back(next);
            }
            let Some((prefix, place)) = ahead.pop_front() else { break };
            let route = &routes[place as usize];
            if !shared[place as usize].is_some_and(|entry| self.set_shared(prefix, route, entry)) {
                self.set(prefix, route.clone());
            }
        }
        for entry in shared.into_iter().flatten() {
            self.release(entry);
        }
    }

    /// What a prefix has whose only route is this one; nothing if it leads through others, or nowhere.
    fn share(&mut self, route: &Route<P>) -> Option<Entry<P>> {
        if route.source == Source::Static || route.leads_through() || route.hops.as_slice().is_empty() {
            return None;
        }
        let routes = self.routes.intern(core::slice::from_ref(route));
        let mut entry = Entry { routes, ..Entry::NEW };
        if let (_, Found::Own(hops)) = self.resolve(&entry, false) {
            entry.active = Active::Own(self.hops.intern(hops.as_slice()));
        }
        Some(entry)
    }

    /// Gives a prefix a route that others have, too, if it has none but that of the same source. Was that so?
    fn set_shared(&mut self, prefix: P, route: &Route<P>, entry: Entry<P>) -> bool {
        let key = key_of(prefix);
        if self.unwritten.is_some() || !self.mixed.is_empty() {
            return false;
        }
        self.lengths.resize(usize::from(P::BITS) + 1, 0);
        let lengths = &mut self.lengths;
        let place = self.entries.place_or_insert_with(key, || {
            lengths[usize::from(key.0)] += 1;
            Entry::NEW
        });
        let old = *self.entries.at(place);
        let before = match self.routes.get(old.routes) {
            [] => None,
            [only] if only.source == route.source && !only.leads_through() => Some(only.value()),
            _ => return false,
        };
        if old.routes == entry.routes {
            return true;
        }
        self.hold(entry);
        *self.entries.at_mut(place) = entry;
        if old.active != entry.active {
            self.changed.push_back(prefix);
        } else if before != Some(route.value()) {
            self.revalued.push_back(prefix);
        }
        self.release(old);
        if !self.gateways.is_empty() {
            self.refresh_gateways(prefix);
        }
        true
    }

    /// Gives the prefix at a place its first route, if that leads through a gateway to which others lead already and
    /// whose way does not go by the prefix: nothing has to be found out for it. Was that so?
    pub(super) fn set_first(&mut self, key: Key<P>, place: u32, route: &Route<P>) -> bool {
        let [RouteHop::Through(gateway)] = *route.hops.as_slice() else { return false };
        let is_new = self.entries.at(place).routes == Interned::NONE;
        if !is_new || route.source == Source::Static || self.has_gateway_within(prefix_of(key)) {
            return false;
        }
        let known = self.gateways.get_mut(&gateway).filter(|known| is_shared(known.hops.as_slice()));
        let Some(known) = known else { return false };
        known.users += 1;
        let routes = self.routes.intern(core::slice::from_ref(route));
        *self.entries.at_mut(place) = Entry { routes, active: Active::Through(gateway), best: 0 };
        self.changed.push_back(prefix_of(key));
        true
    }

    /// Somebody else has the lists of an entry, too.
    fn hold(&mut self, entry: Entry<P>) {
        self.routes.hold(entry.routes);
        if let Active::Own(hops) = entry.active {
            self.hops.hold(hops);
        }
    }

    /// Somebody has the lists of an entry no more.
    fn release(&mut self, entry: Entry<P>) {
        self.routes.release(entry.routes);
        if let Active::Own(hops) = entry.active {
            self.hops.release(hops);
        }
    }
}
