//! The routing table: routes of several sources, of which one for each prefix is in force.
//!
//! Among the routes of a prefix the one with the least preference wins; then the one with the least metric; then
//! connected before static before those of protocols, these by name. A route whose next hops are addresses beyond other
//! routes is resolved through those, step by step: at most eight, and never through itself. One that does not resolve
//! is not in force, and gives way to the next.

use base::ProtocolId;
use base::plane::{NextHop, Prefix};
use core::cmp::Ordering;
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// As many routes a route is resolved through at most.
const LEVELS: usize = 8;

/// Whence a route comes. In their order sources win where all else is equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The node's own addresses, and the networks of its interfaces.
    Connected,
    /// A user.
    Static,
    /// What a protocol has learnt.
    Protocol(ProtocolId),
}

impl Source {
    /// The preference of connected routes.
    pub const CONNECTED: u8 = 0;
    /// The preference of static routes.
    pub const STATIC: u8 = 1;

    /// As tables have it.
    pub fn word(&self) -> &str {
        match self {
            Source::Connected => "connected",
            Source::Static => "static",
            Source::Protocol(id) => id.name(),
        }
    }
}

/// A next hop as a source of routes knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteHop {
    /// It is known by which port packets leave.
    Direct(NextHop),
    /// An address, to which another route leads.
    Through(Ipv4Addr),
}

/// Next hops: mostly one, so that a route needs no memory of its own for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Hops<T> {
    /// There are none.
    #[default]
    None,
    /// There is one.
    One(T),
    /// There are several, all as good, in the order in which they were given.
    Many(Box<[T]>),
}

impl<T> Hops<T> {
    /// All of them.
    pub fn as_slice(&self) -> &[T] {
        match self {
            Hops::None => &[],
            Hops::One(one) => core::slice::from_ref(one),
            Hops::Many(all) => all,
        }
    }
}

impl<T> From<Vec<T>> for Hops<T> {
    fn from(mut all: Vec<T>) -> Hops<T> {
        match (all.pop(), all.is_empty()) {
            (None, _) => Hops::None,
            (Some(one), true) => Hops::One(one),
            (Some(last), false) => {
                all.push(last);
                Hops::Many(all.into())
            }
        }
    }
}

/// A route to a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Whence it comes; each source has one route to a prefix.
    pub source: Source,
    /// Administrative distance: the least wins, whatever the metrics.
    pub preference: u8,
    /// The least wins among routes of one preference.
    pub metric: u32,
    /// A number that means something to those who pass routes on, and nothing here.
    pub tag: u32,
    /// Where packets go.
    pub hops: Hops<RouteHop>,
}

impl Route {
    /// A connected route.
    pub const fn connected(next_hop: NextHop) -> Route {
        Route::direct(Source::Connected, Source::CONNECTED, next_hop)
    }
    /// A static route.
    pub const fn fixed(next_hop: NextHop) -> Route {
        Route::direct(Source::Static, Source::STATIC, next_hop)
    }
    /// A route with one next hop, without metric and tag.
    pub const fn direct(source: Source, preference: u8, next_hop: NextHop) -> Route {
        Route { source, preference, metric: 0, tag: 0, hops: Hops::One(RouteHop::Direct(next_hop)) }
    }

    fn order(&self, other: &Route) -> Ordering {
        let rank = |route: &Route| (route.preference, route.metric, route.source);
        rank(self).cmp(&rank(other))
    }

    fn is_recursive(&self) -> bool {
        self.hops.as_slice().iter().any(|hop| matches!(hop, RouteHop::Through(_)))
    }
}

/// All routes of one prefix.
#[derive(Clone, Debug, Default)]
struct Entry {
    /// The best first.
    routes: Hops<Route>,
    /// Next hops of the route in force; none if no route resolves.
    active: Hops<NextHop>,
    /// Which of the routes is in force.
    best: usize,
}

/// A prefix by its length and address, so that the look-up goes by length.
type Key = (u8, Ipv4Addr);

fn prefix_of(key: Key) -> Prefix {
    Prefix::new(key.1, key.0)
}

fn key_of(prefix: Prefix) -> Key {
    (prefix.len(), prefix.address())
}

/// The routing table of a node.
#[derive(Clone, Debug, Default)]
pub struct Rib {
    entries: BTreeMap<Key, Entry>,
    /// How many entries there are of each prefix length.
    lengths: Vec<u32>,
    /// Prefixes with a route that has to be resolved.
    recursive: BTreeSet<Key>,
    /// Prefixes whose next hops have changed, and nobody has been told yet.
    changed: VecDeque<Prefix>,
}

impl Rib {
    /// Puts a route in, in place of the one that its source had.
    pub fn set(&mut self, prefix: Prefix, route: Route) {
        let key = key_of(prefix);
        self.lengths.resize(33, 0);
        let lengths = &mut self.lengths;
        let entry = self.entries.entry(key).or_insert_with(|| {
            lengths[usize::from(key.0)] += 1;
            Entry::default()
        });
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
        self.refresh(key);
    }

    /// Takes the route of a source out. Was there one?
    pub fn remove(&mut self, prefix: Prefix, source: Source) -> bool {
        let key = key_of(prefix);
        let Some(entry) = self.entries.get_mut(&key) else { return false };
        let mut all = core::mem::take(&mut entry.routes).into_vec();
        let before = all.len();
        all.retain(|route| route.source != source);
        let removed = all.len() < before;
        entry.routes = all.into();
        if removed {
            self.refresh(key);
        }
        removed
    }

    /// Takes out what protocols have learnt: the node restarts.
    pub fn forget_learnt(&mut self) {
        let learnt = |route: &Route| matches!(route.source, Source::Protocol(_));
        let keys = self.entries.iter().filter(|(_, entry)| entry.routes.as_slice().iter().any(learnt));
        for key in keys.map(|(&key, _)| key).collect::<Vec<_>>() {
            if let Some(entry) = self.entries.get_mut(&key) {
                let all = core::mem::take(&mut entry.routes).into_vec();
                entry.routes = all.into_iter().filter(|route| !learnt(route)).collect::<Vec<_>>().into();
            }
            self.refresh(key);
        }
    }

    /// Finds out anew what is in force: at a prefix, and wherever routes are resolved.
    fn refresh(&mut self, key: Key) {
        let recursive =
            self.entries.get(&key).is_some_and(|e| e.routes.as_slice().iter().any(Route::is_recursive));
        if recursive {
            self.recursive.insert(key);
        } else {
            self.recursive.remove(&key);
        }
        self.refresh_one(key);
        if !self.recursive.is_empty() {
            for other in self.recursive.iter().copied().filter(|other| *other != key).collect::<Vec<_>>() {
                self.refresh_one(other);
            }
        }
    }

    fn refresh_one(&mut self, key: Key) {
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
    fn resolve(&self, key: Key, path: &mut Vec<Key>) -> Option<(usize, Hops<NextHop>)> {
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
    fn through(&self, gateway: Ipv4Addr, path: &mut Vec<Key>) -> Vec<NextHop> {
        if path.len() > LEVELS {
            return Vec::new();
        }
        let lengths = (0..self.lengths.len() as u8).rev().filter(|&len| self.lengths[usize::from(len)] > 0);
        for key in lengths.map(|len| key_of(Prefix::new(gateway, len))) {
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
    pub fn lookup(&self, destination: Ipv4Addr) -> Option<(Prefix, &[NextHop])> {
        (0..self.lengths.len() as u8).rev().filter(|&len| self.lengths[usize::from(len)] > 0).find_map(
            |len| {
                let prefix = Prefix::new(destination, len);
                let hops = self.entries.get(&key_of(prefix))?.active.as_slice();
                (!hops.is_empty()).then_some((prefix, hops))
            },
        )
    }

    /// Next hops of a prefix; none if it has no route in force.
    pub fn next_hops(&self, prefix: Prefix) -> &[NextHop] {
        self.entries.get(&key_of(prefix)).map_or(&[], |entry| entry.active.as_slice())
    }

    /// Prefixes with the next hops in force, the least specific first.
    pub fn active(&self) -> impl Iterator<Item = (Prefix, &[NextHop])> {
        let all = self.entries.iter().map(|(&key, entry)| (prefix_of(key), entry.active.as_slice()));
        all.filter(|(_, hops)| !hops.is_empty())
    }

    /// All routes: the prefix, the route, and its next hops if it is the one in force.
    pub fn iter(&self) -> impl Iterator<Item = (Prefix, &Route, Option<&[NextHop]>)> {
        self.entries.iter().flat_map(|(&key, entry)| {
            let active = Some(entry.active.as_slice()).filter(|hops| !hops.is_empty());
            let routes = entry.routes.as_slice().iter().enumerate();
            routes.map(move |(place, route)| (prefix_of(key), route, active.filter(|_| place == entry.best)))
        })
    }

    /// A prefix whose next hops have changed since the last call, in the order of the changes.
    pub(crate) fn poll_change(&mut self) -> Option<Prefix> {
        self.changed.pop_front()
    }
}

impl<T> Hops<T> {
    fn into_vec(self) -> Vec<T> {
        match self {
            Hops::None => Vec::new(),
            Hops::One(one) => vec![one],
            Hops::Many(all) => all.into_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::PortId;

    const FIRST: Source = Source::Protocol(ProtocolId::new("first"));
    const SECOND: Source = Source::Protocol(ProtocolId::new("second"));

    fn at(text: &str) -> Prefix {
        text.parse().expect("a prefix")
    }
    fn ip(text: &str) -> Ipv4Addr {
        text.parse().expect("an address")
    }
    fn via(port: u16, gateway: &str) -> NextHop {
        NextHop::Via { port: PortId(port), gateway: ip(gateway).into() }
    }
    fn through(source: Source, gateways: &[&str]) -> Route {
        let hops: Vec<_> = gateways.iter().map(|gateway| RouteHop::Through(ip(gateway))).collect();
        Route { source, preference: 20, metric: 0, tag: 0, hops: hops.into() }
    }
    fn changes(rib: &mut Rib) -> Vec<String> {
        core::iter::from_fn(|| rib.poll_change()).map(|prefix| prefix.to_string()).collect()
    }

    #[test]
    fn the_longest_prefix_wins() {
        let mut rib = Rib::default();
        rib.set(at("0.0.0.0/0"), Route::fixed(NextHop::Discard));
        rib.set(at("10.0.0.0/8"), Route::fixed(NextHop::Local));
        rib.set(at("10.1.0.0/16"), Route::fixed(NextHop::Discard));
        assert_eq!(rib.lookup(ip("10.1.2.3")), Some((at("10.1.0.0/16"), &[NextHop::Discard][..])));
        assert_eq!(rib.lookup(ip("10.2.2.3")), Some((at("10.0.0.0/8"), &[NextHop::Local][..])));
        assert!(rib.remove(at("0.0.0.0/0"), Source::Static) && !rib.remove(at("0.0.0.0/0"), Source::Static));
        assert_eq!((rib.lookup(ip("11.0.0.1")), rib.active().count()), (None, 2));
    }

    #[test]
    fn the_best_source_wins_and_the_next_takes_over() {
        let (mut rib, prefix) = (Rib::default(), at("10.0.0.0/8"));
        let route = |source, preference, metric, port| Route {
            metric,
            ..Route::direct(source, preference, via(port, "192.0.2.1"))
        };
        let port = |rib: &Rib| match rib.next_hops(prefix) {
            [NextHop::Via { port, .. }] => Some(port.0),
            _ => None,
        };
        // From the worst to the best: preference before metric before source.
        let order = [
            route(Source::Protocol(ProtocolId::new("a")), 110, 1, 1),
            route(SECOND, 20, 9, 2),
            route(FIRST, 20, 9, 3),
            route(Source::Protocol(ProtocolId::new("z")), 20, 8, 4),
            route(Source::Static, 1, 5, 5),
            route(Source::Connected, 0, 7, 6),
        ];
        for (place, route) in order.iter().enumerate() {
            rib.set(prefix, route.clone());
            assert_eq!(port(&rib), Some(place as u16 + 1));
        }
        assert_eq!(changes(&mut rib).len(), 6);
        // A worse one changes nothing for anybody.
        rib.set(prefix, Route { tag: 5, ..order[0].clone() });
        assert_eq!(changes(&mut rib), Vec::<String>::new());
        let in_force =
            |rib: &Rib| rib.iter().map(|(_, route, hops)| (route.source, hops.is_some())).collect::<Vec<_>>();
        assert_eq!(in_force(&rib)[..2], [(Source::Connected, true), (Source::Static, false)]);
        for (place, route) in order.iter().enumerate().rev() {
            assert_eq!(port(&rib), Some(place as u16 + 1));
            assert!(rib.remove(prefix, route.source));
        }
        assert_eq!((port(&rib), rib.iter().count()), (None, 0));
    }

    #[test]
    fn routes_are_resolved_through_others_and_follow_them() {
        let mut rib = Rib::default();
        rib.set(at("192.0.2.0/24"), Route::connected(via(1, "0.0.0.0")));
        rib.set(at("198.51.100.0/24"), Route::connected(via(2, "0.0.0.0")));
        rib.set(at("10.9.0.1/32"), through(FIRST, &["192.0.2.7", "198.51.100.7", "192.0.2.7"]));
        rib.set(at("10.0.0.0/8"), through(SECOND, &["10.9.0.1"]));
        let both = [via(1, "192.0.2.7"), via(2, "198.51.100.7")];
        assert_eq!(rib.lookup(ip("10.1.1.1")), Some((at("10.0.0.0/8"), &both[..])), "several next hops");
        changes(&mut rib);
        rib.remove(at("198.51.100.0/24"), Source::Connected);
        assert_eq!(rib.next_hops(at("10.0.0.0/8")), [via(1, "192.0.2.7")]);
        assert_eq!(changes(&mut rib), ["198.51.100.0/24", "10.0.0.0/8", "10.9.0.1/32"]);
        rib.remove(at("192.0.2.0/24"), Source::Connected);
        assert_eq!((rib.lookup(ip("10.1.1.1")), rib.active().count()), (None, 0));
        assert_eq!(rib.iter().count(), 2, "they are there, and not in force");
        // A route to this node leads no packet on.
        rib.set(at("192.0.2.7/32"), Route::connected(NextHop::Local));
        assert_eq!(rib.lookup(ip("10.1.1.1")), None);
    }

    #[test]
    fn no_route_is_resolved_through_itself() {
        let mut rib = Rib::default();
        rib.set(at("10.0.0.0/8"), through(FIRST, &["10.1.1.1"]));
        rib.set(at("20.0.0.0/8"), through(FIRST, &["30.1.1.1"]));
        rib.set(at("30.0.0.0/8"), through(FIRST, &["20.1.1.1"]));
        assert_eq!(rib.active().count(), 0);
        // The less specific way is left.
        rib.set(at("0.0.0.0/0"), Route::fixed(via(3, "192.0.2.1")));
        assert_eq!(rib.next_hops(at("10.0.0.0/8")), [via(3, "192.0.2.1")]);
        assert_eq!(rib.active().count(), 4);
    }

    #[test]
    fn at_most_eight_routes_are_gone_through() {
        let mut rib = Rib::default();
        rib.set(at("192.0.2.0/24"), Route::connected(via(1, "0.0.0.0")));
        // Route n leads through route n - 1; the connected one is the first that route 1 is resolved through.
        rib.set(at("10.0.1.0/24"), through(FIRST, &["192.0.2.1"]));
        for n in 2..=9 {
            rib.set(at(&format!("10.0.{n}.0/24")), through(FIRST, &[&format!("10.0.{}.1", n - 1)]));
        }
        assert_eq!(rib.next_hops(at("10.0.8.0/24")), [via(1, "192.0.2.1")]);
        assert_eq!(rib.next_hops(at("10.0.9.0/24")), []);
    }

    #[test]
    fn a_restart_leaves_what_was_configured() {
        let mut rib = Rib::default();
        rib.set(at("10.0.0.0/8"), Route::fixed(NextHop::Discard));
        rib.set(at("10.0.0.0/8"), Route::direct(FIRST, 0, NextHop::Local));
        rib.set(at("20.0.0.0/8"), through(SECOND, &["10.1.1.1"]));
        rib.forget_learnt();
        let left: Vec<_> = rib.iter().map(|(prefix, route, _)| (prefix, route.source)).collect();
        assert_eq!(left, [(at("10.0.0.0/8"), Source::Static)]);
        assert_eq!(rib.next_hops(at("10.0.0.0/8")), [NextHop::Discard]);
    }
}
