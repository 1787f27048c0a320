//! The table of paths follows what has become of them, and the routing table follows that. Of tens of thousands of
//! prefixes most change together: both are walked in the order of prefixes, and routes that many have are made once.

use super::Ospf;
use super::hops::Hops;
use super::routes::Path;
use super::tree::Way;
use crate::services::{Rib, Route, Source};
use base::plane::Prefix;
use base::{Map, Time};
use core::net::Ipv4Addr;

/// Are so few of the paths of a table asked for that each is searched by itself?
const fn is_few(asked: usize, all: usize) -> bool {
    asked < all / 16
}

/// What the routing table has to follow.
enum Step {
    /// Nothing: the route is what it was.
    Stay,
    /// There is no route any more.
    Remove,
    /// There is another one: its place among the routes.
    Set(u32),
}

/// A prefix with another path than before, and what follows for the routing table.
type Followed = (Prefix, Step);

/// What has become of the paths to some prefixes.
#[derive(Default)]
pub(super) struct Following {
    /// Routes that prefixes have now: many have the same.
    routes: Vec<Route>,
    /// Their next hops as paths have them: nothing else gets their place in memory.
    hops: Vec<Hops>,
    /// Which of the routes it is, by cost, tag, and where the next hops are in memory.
    places: Map<(u32, u32, usize), u32>,
    /// Networks that were looked at inside the AS, in order.
    inside: Vec<Followed>,
    /// The paths that these had, if they may turn out to be outside.
    before: Option<Vec<(Prefix, Option<Path>)>>,
    /// All others, in order.
    outside: Vec<Followed>,
}

impl Following {
    /// What follows from a path to a prefix, if the table had another.
    fn step(&mut self, before: Option<&Path>, after: Option<&Path>) -> Step {
        let new = after.and_then(Path::in_short);
        if before.and_then(Path::in_short) == new {
            return Step::Stay;
        }
        let (Some((cost, tag, hops)), Some(path)) = (new, after) else { return Step::Remove };
        let Following { routes, hops: kept, .. } = self;
        let place = self.places.get_or_insert_with((cost, tag, hops.as_ptr() as usize), || {
            routes.extend(path.route());
            kept.push(path.hops.clone());
            routes.len() as u32 - 1
        });
        Step::Set(*place)
    }

    /// The path to a network of the AS was this, and is that.
    fn note_inside(&mut self, prefix: Prefix, before: Option<Path>, after: Option<&Path>) {
        match self.step(before.as_ref(), after) {
            Step::Stay => {}
            step => {
                self.inside.push((prefix, step));
                self.before.iter_mut().for_each(|all| all.push((prefix, before.clone())));
            }
        }
    }

    /// Gives the routing table what has changed. Is that anything?
    pub(super) fn tell(&self, rib: &mut Rib) -> bool {
        let all = || self.inside.iter().chain(&self.outside);
        for (prefix, _) in all().filter(|one| matches!(one.1, Step::Remove)) {
            rib.remove(*prefix, Source::Protocol(Ospf::ID));
        }
        let new = |one: &Followed| match one.1 {
            Step::Set(place) => Some((one.0, place)),
            _ => None,
        };
        rib.set_each(&self.routes, all().filter_map(new));
        all().any(|one| !matches!(one.1, Step::Stay))
    }
}

impl Ospf {
    /// Finds the paths to networks of the AS anew; they are in order.
    pub(super) fn put_inside(&mut self, now: Time, inside: &[Prefix], is_outside: bool) -> Following {
        let before = is_outside.then(Vec::new);
        let mut following = Following { before, ..Following::default() };
        let by_cost = |(area, way): &(Ipv4Addr, Way)| (way.0, *area);
        if is_few(inside.len(), self.table.len()) {
            for &prefix in inside {
                let ways = self.trees.iter().filter_map(|(area, tree)| Some((*area, tree.way(prefix)?)));
                let path = self.internal(now, prefix, ways.min_by_key(by_cost));
                let before = self.put(prefix, path);
                following.note_inside(prefix, before, self.table.get(&prefix));
            }
            return following;
        }
        following.inside.reserve(inside.len());
        // Most are there and remain: one walk finds them all.
        let mut table = core::mem::take(&mut self.table);
        let mut others = Vec::new();
        let mut trees: Vec<_> = self.trees.iter().map(|(area, tree)| (*area, tree.in_turn())).collect();
        let mut known = table.iter_mut().peekable();
        for &prefix in inside {
            let ways = trees.iter_mut().filter_map(|(area, tree)| Some((*area, tree.way(prefix)?)));
            let path = self.internal(now, prefix, ways.min_by_key(by_cost));
            while known.next_if(|(other, _)| **other < prefix).is_some() {}
            match (known.next_if(|(other, _)| **other == prefix), path) {
                (Some((_, known)), Some(path)) => {
                    let before = core::mem::replace(known, path);
                    following.note_inside(prefix, Some(before), Some(known));
                }
                (None, None) => {}
                (_, path) => others.push((prefix, path)),
            }
        }
        self.table = table;
        let is_any = !others.is_empty();
        for (prefix, path) in others {
            let before = self.put(prefix, path);
            following.note_inside(prefix, before, self.table.get(&prefix));
        }
        if is_any {
            following.inside.sort_unstable_by_key(|one| one.0);
            following.before.iter_mut().for_each(|all| all.sort_unstable_by_key(|one| one.0));
        }
        following
    }

    /// Finds the paths to networks outside anew, where none inside the AS was found; they are in order.
    pub(super) fn put_outside(
        &mut self,
        now: Time,
        outside: &[Prefix],
        inside: &[Prefix],
        following: &mut Following,
    ) {
        let mut late = Vec::new();
        for &prefix in outside {
            if self.table.get(&prefix).is_some_and(|path| !path.kind.is_external()) {
                continue;
            }
            let path = self.external(now, prefix);
            let was = self.put(prefix, path);
            let after = self.table.get(&prefix);
            match following.inside.binary_search_by_key(&prefix, |one| one.0) {
                Ok(at) => {
                    let before = following.before.as_mut().and_then(|all| all[at].1.take());
                    following.inside[at].1 = following.step(before.as_ref(), after);
                }
                Err(_) => {
                    let step = following.step(was.as_ref(), after);
                    match inside.binary_search(&prefix) {
                        Ok(_) => late.push((prefix, step)),
                        Err(_) => following.outside.push((prefix, step)),
                    }
                }
            }
        }
        if !late.is_empty() {
            following.inside.extend(late);
            following.inside.sort_unstable_by_key(|one| one.0);
        }
    }

    fn put(&mut self, prefix: Prefix, path: Option<Path>) -> Option<Path> {
        match path {
            Some(path) => self.table.insert(prefix, path),
            None => self.table.remove(&prefix),
        }
    }
}
