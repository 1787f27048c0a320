//! The traffic-engineering database of a node, and paths by it: routing protocols write what they hear of links, and
//! who signals asks for paths.
//!
//! - `link`: what is known of a link; [`constraints`]: what is asked of a path, and which links do
//! - `graph`: the links in arrays; `search`: the best path; `alternatives`: several; [`disjoint`]: one beside another;
//!   `blocked`: why there is none
//!
//! A path is found in the database as it is when it is asked for. What signalling finds out in the meantime, as that a
//! link has refused an LSP, counts beside it for [`DISTRUST`], or until the link is announced anew.

mod alternatives;
mod blocked;
pub mod constraints;
pub mod disjoint;
mod graph;
mod link;
mod search;
#[cfg(test)]
mod tests;

pub use blocked::NoPath;
pub use constraints::{Affinities, Constraints, Held, Metric, Replaced};
pub use disjoint::{Apart, Disjoint};
pub use link::{Distrust, TeKey, TeLink, Towards};

use crate::owner::Owner;
use base::{Rate, Span, Time};
use core::net::Ipv4Addr;
use graph::Graph;
use link::Known;
use search::{Found, Query, Scratch};
use std::collections::BTreeMap;

/// A link that has refused or failed an LSP is not used again for so long, if it is not announced anew before.
pub const DISTRUST: Span = Span::from_secs(30);

/// A link of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TeHop {
    /// The router id of the router at its far end.
    pub router: Ipv4Addr,
    /// The near router's address on it.
    pub near: Ipv4Addr,
    /// The far router's address on it.
    pub far: Ipv4Addr,
}

/// A path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TePath {
    /// Its links, from the beginning.
    pub hops: Vec<TeHop>,
    /// The sum of their costs.
    pub cost: u64,
    /// What is left for the setup priority on the link that has least; nothing bounds a path without links.
    pub left: Rate,
}

/// What is known of links, and what follows from it.
#[derive(Debug, Default)]
pub struct Engineering {
    /// Does anybody want to know of changes?
    is_watched: bool,
    known: Vec<Option<Known>>,
    places: BTreeMap<TeKey, u32>,
    free: Vec<u32>,
    /// Routers by the addresses that they can always be reached at.
    addresses: BTreeMap<TeKey, Ipv4Addr>,
    routers: BTreeMap<Ipv4Addr, Ipv4Addr>,
    /// Absent when links have come or gone since it was made.
    graph: Option<Graph>,
    scratch: Scratch,
    /// Something is to be told: whether a link is gone, or only something is better or worse than it was.
    changed: Option<bool>,
}

impl Engineering {
    /// From now on somebody wants to know of changes.
    pub(crate) fn watch(&mut self) {
        self.is_watched = true;
    }

    /// Is nothing known?
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    fn change(&mut self, is_lost: bool) {
        if self.is_watched {
            self.changed = Some(is_lost || self.changed == Some(true));
        }
    }

    /// Is anybody to be told of a change?
    #[inline]
    pub(crate) fn is_changed(&self) -> bool {
        self.changed.is_some()
    }

    /// Takes what is to be told: is a link gone?
    pub(crate) fn poll_change(&mut self) -> Option<bool> {
        self.changed.take()
    }

    /// What was heard is lost: the node restarts.
    pub(crate) fn restart(&mut self) {
        *self = Engineering { is_watched: self.is_watched, ..Engineering::default() };
    }

    /// Takes in what was said of a link, in place of what was said before. What signalling has found out about it does
    /// not count any more.
    pub fn set_link(&mut self, key: TeKey, link: TeLink) {
        let Some(&place) = self.places.get(&key) else {
            let known = Some(Known { key, link, distrust: None });
            let place = self.free.pop().unwrap_or_else(|| {
                self.known.push(None);
                self.known.len() as u32 - 1
            });
            self.known[place as usize] = known;
            self.places.insert(key, place);
            self.graph = None;
            return self.change(false);
        };
        let Some(known) = &mut self.known[place as usize] else { return };
        known.distrust = None;
        if known.link == link {
            return;
        }
        let is_elsewhere = known.link.is_elsewhere(&link);
        known.link = link;
        if is_elsewhere {
            self.graph = None;
        }
        self.change(is_elsewhere);
    }

    /// What is known of a link.
    pub fn link(&self, key: &TeKey) -> Option<&TeLink> {
        let place = *self.places.get(key)?;
        Some(&self.known.get(place as usize)?.as_ref()?.link)
    }

    /// The links that an owner has told of as a router's, in an area.
    pub fn links_of(
        &self,
        owner: Owner,
        area: u32,
        router: Ipv4Addr,
    ) -> impl Iterator<Item = (TeKey, &TeLink)> {
        let key = |number| TeKey { owner, area, router, number };
        let range = self.places.range(key(0)..=key(u32::MAX));
        range.filter_map(|(key, place)| Some((*key, &self.known.get(*place as usize)?.as_ref()?.link)))
    }

    /// A link is announced no more.
    pub fn remove_link(&mut self, key: &TeKey) {
        if let Some(place) = self.places.remove(key) {
            self.known[place as usize] = None;
            self.free.push(place);
            self.graph = None;
            self.change(true);
        }
    }

    /// A router can always be reached at this address, or at none any more. Of several routers that say the same
    /// address, the one with the least router id has it.
    pub fn set_address(&mut self, key: TeKey, address: Option<Ipv4Addr>) {
        let before = match address {
            Some(address) => self.addresses.insert(key, address),
            None => self.addresses.remove(&key),
        };
        if before == address {
            return;
        }
        if let Some(before) = before {
            // A border router says the same in several areas.
            let said = self.addresses.iter().filter(|(_, address)| **address == before);
            match said.map(|(key, _)| key.router).min() {
                Some(router) => self.routers.insert(before, router),
                None => self.routers.remove(&before),
            };
        }
        if let Some(address) = address {
            let router = self.routers.entry(address).or_insert(key.router);
            *router = key.router.min(*router);
        }
        self.change(false);
    }

    /// Signalling has found out that a link does not do, for LSPs like that, though it is announced. The link is the
    /// one that has this address at its near end.
    pub fn distrust(&mut self, now: Time, near: Ipv4Addr, why: Distrust) {
        for known in self.known.iter_mut().flatten().filter(|known| known.link.local == near) {
            known.distrust = Some((why, now + DISTRUST));
        }
    }

    /// When links that are left out for a while, because LSPs have failed on them, count again: the last of them.
    pub fn trusted_at(&self, now: Time) -> Option<Time> {
        let all = self.known.iter().flatten().filter_map(|known| known.distrust);
        all.map(|(_, until)| until).filter(|until| *until > now).max()
    }

    /// The router id of the router that has this address, whatever address of it that is.
    pub fn router_of(&mut self, address: Ipv4Addr) -> Option<Ipv4Addr> {
        if let Some(router) = self.routers.get(&address) {
            return Some(*router);
        }
        if self.graph().place(address).is_some() {
            return Some(address);
        }
        let mut known = self.known.iter().flatten();
        known.find(|known| known.link.local == address).map(|known| known.key.router)
    }

    /// The addresses that are known of a router, its router id apart, in order.
    pub fn addresses_of(&self, router: Ipv4Addr) -> Vec<Ipv4Addr> {
        let links = self.known.iter().flatten().filter(|known| known.key.router == router);
        let always = self.routers.iter().filter(|(_, of)| **of == router).map(|(address, _)| *address);
        let mut all: Vec<Ipv4Addr> = links.map(|known| known.link.local).chain(always).collect();
        all.retain(|address| *address != router && !address.is_unspecified());
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The shared risk link groups of the link that has this address at its near end.
    pub fn srlgs_of(&self, near: Ipv4Addr) -> Vec<u32> {
        let links = self.known.iter().flatten().filter(|known| known.link.local == near);
        let mut all: Vec<u32> = links.flat_map(|known| known.link.srlgs.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The near address of the link that has this address at its far end.
    pub fn near_of(&mut self, far: Ipv4Addr) -> Option<Ipv4Addr> {
        let link = self.graph().edges().iter().find(|edge| edge.far == far)?.link;
        Some(self.known.get(link as usize)?.as_ref()?.link.local)
    }

    fn graph(&mut self) -> &Graph {
        let known = (0..).zip(&self.known).filter_map(|(place, known)| Some((place, known.as_ref()?)));
        self.graph.get_or_insert_with(|| Graph::new(known))
    }

    /// The best path from one router to another, by any of their addresses.
    pub fn path(
        &mut self,
        now: Time,
        from: Ipv4Addr,
        to: Ipv4Addr,
        constraints: &Constraints,
    ) -> Result<TePath, NoPath> {
        self.paths(now, from, to, constraints, 1).map(|mut paths| paths.remove(0))
    }

    /// The best paths from one router to another, at most `count` and at least one, the best first. None touches a
    /// router twice.
    pub fn paths(
        &mut self,
        now: Time,
        from: Ipv4Addr,
        to: Ipv4Addr,
        constraints: &Constraints,
        count: usize,
    ) -> Result<Vec<TePath>, NoPath> {
        let mut ends = [0; 2];
        for (place, address) in ends.iter_mut().zip([from, to]) {
            let router = self.router_of(address);
            *place = router.and_then(|id| self.graph().place(id)).ok_or(NoPath::Unknown(address))?;
        }
        let excluded: Vec<Ipv4Addr> =
            constraints.exclude.iter().filter_map(|&address| self.excluded_router(address)).collect();
        let mut scratch = core::mem::take(&mut self.scratch);
        let graph = self.graph();
        let mut closed = vec![false; if excluded.is_empty() { 0 } else { graph.len() }];
        for place in excluded.iter().filter_map(|&id| graph.place(id)) {
            closed[place as usize] = true;
        }
        let Some(graph) = &self.graph else { return Err(NoPath::Unknown(to)) };
        let (known, closed) = (&self.known[..], &closed[..]);
        let query = Query { graph, known, constraints, now, closed, barred: &[], enough: u64::MAX };
        let limit = constraints.hop_limit;
        let found = match count {
            1 => query.best(&mut scratch, ends[0], ends[1], limit).into_iter().collect(),
            _ => query.several(&mut scratch, (ends[0], ends[1]), limit, count),
        };
        let result = if found.is_empty() {
            Err(query.why_none(ends[0], ends[1]))
        } else {
            Ok(found.iter().map(|found| to_path(graph, known, found)).collect())
        };
        self.scratch = scratch;
        result
    }

    /// The router that an excluded address means; addresses of links mean these alone.
    fn excluded_router(&mut self, address: Ipv4Addr) -> Option<Ipv4Addr> {
        let router = self.routers.get(&address).copied();
        router.or_else(|| self.graph().place(address).map(|_| address))
    }

    /// Is every link of a path still announced, whatever is asked of it?
    pub fn is_whole(&mut self, from: Ipv4Addr, hops: &[TeHop]) -> bool {
        self.edges_of(from, hops).is_some()
    }

    /// The links of a path; nothing if one of them is announced no more.
    fn edges_of(&mut self, from: Ipv4Addr, hops: &[TeHop]) -> Option<Vec<graph::Edge>> {
        let mut at = self.router_of(from).and_then(|id| self.graph().place(id))?;
        let graph = self.graph.as_ref()?;
        let edge = |hop: &TeHop| {
            let is_it = |edge: &&graph::Edge| {
                let known = self.known.get(edge.link as usize).and_then(Option::as_ref);
                edge.far == hop.far && known.is_some_and(|known| known.link.local == hop.near)
            };
            let edge = graph.edges_from(at).iter().find(is_it)?;
            at = edge.to;
            Some(*edge)
        };
        hops.iter().map(edge).collect()
    }

    /// What a path costs and has left now; nothing if it does not do any more.
    pub fn cost_of(
        &mut self,
        now: Time,
        from: Ipv4Addr,
        hops: &[TeHop],
        constraints: &Constraints,
    ) -> Option<(u64, Rate)> {
        let (mut cost, mut least) = (0, u64::MAX);
        for edge in self.edges_of(from, hops)? {
            let known = self.known.get(edge.link as usize)?.as_ref()?;
            let (more, left) = constraints.weigh(known, edge.far, now).ok()?;
            (cost, least) = (cost + more, least.min(left));
        }
        Some((cost, Rate(least)))
    }
}

fn to_path(graph: &Graph, known: &[Option<Known>], found: &Found) -> TePath {
    let near = |link: u32| known.get(link as usize).and_then(Option::as_ref).map(|known| known.link.local);
    let hop = |edge: &graph::Edge| TeHop {
        router: graph.router(edge.to),
        near: near(edge.link).unwrap_or(Ipv4Addr::UNSPECIFIED),
        far: edge.far,
    };
    TePath { hops: found.edges.iter().map(hop).collect(), cost: found.cost, left: Rate(found.width) }
}
