//! The best path under constraints.
//!
//! Paths are compared by what they cost, then by how many links they have, then by what is left on the link that has
//! least left, and then router by router: at the first where they differ, the one goes first whose next router has the
//! lower router id, and of parallel links that with the lower far address. So there is one best path, whoever
//! searches.
//!
//! A Dijkstra from the end finds cost, number of links and bandwidth from each router; then the path is walked from its
//! beginning. If it has too many links, another search keeps for each router every pair of cost and number of links of
//! which no other is better in both.

use super::constraints::{Constraints, Reason};
use super::graph::{Edge, Graph};
use super::link::Known;
use base::Time;
use core::cmp::Reverse;
use std::collections::BinaryHeap;

/// No label, and no limit.
const NONE: u32 = u32::MAX;

/// The way from a router to the end, as far as it is known.
#[derive(Clone, Copy, Debug)]
struct Mark {
    cost: u64,
    links: u32,
    width: u64,
    /// The next mark of the same router, with fewer links and a higher cost.
    next: u32,
}

/// A way to the end, in the order in which ways are compared: cost, links, and the bandwidth that is left.
type Way = (u64, u32, Reverse<u64>);

/// What a search leaves for the next one: its memory.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    marks: Vec<Mark>,
    /// The last mark of each router.
    last: Vec<u32>,
    /// Least links among the marks of each router.
    links: Vec<u32>,
    /// The best that is known of each router before it is certain.
    waiting: Vec<Way>,
    heap: BinaryHeap<Reverse<(Way, u32)>>,
}

/// A question.
#[derive(Clone, Copy)]
pub(super) struct Query<'a> {
    pub graph: &'a Graph,
    pub known: &'a [Option<Known>],
    pub constraints: &'a Constraints,
    pub now: Time,
    /// Routers that the path does not touch; the first is that at place 0.
    pub closed: &'a [bool],
    /// Places of edges that are not used.
    pub barred: &'a [Edge],
    /// More bandwidth than this is not better.
    pub enough: u64,
}

/// Steps that a search has found, with what they come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub cost: u64,
    pub width: u64,
    pub edges: Vec<Edge>,
}

impl Query<'_> {
    /// Cost and bandwidth of an edge.
    #[inline]
    pub(super) fn weigh(&self, edge: &Edge) -> Result<(u64, u64), Reason> {
        let is_closed = |router: u32| self.closed.get(router as usize).is_some_and(|closed| *closed);
        if is_closed(edge.from) || is_closed(edge.to) {
            return Err(Reason::Excluded);
        }
        let apart = &self.constraints.apart;
        if !apart.is_empty() && [edge.from, edge.to].iter().any(|at| apart.has_router(self.graph.router(*at)))
        {
            return Err(Reason::Common);
        }
        let known = self.known.get(edge.link as usize).and_then(Option::as_ref).ok_or(Reason::Excluded)?;
        if !self.barred.is_empty() && self.barred.contains(edge) {
            return Err(Reason::Excluded);
        }
        let (cost, left) = self.constraints.weigh(known, edge.far, self.now)?;
        Ok((cost, left.min(self.enough)))
    }

    /// The best path of at most `limit` links.
    pub(super) fn best(
        &self,
        scratch: &mut Scratch,
        from: u32,
        to: u32,
        limit: Option<u32>,
    ) -> Option<Found> {
        if !self.mark(scratch, from, to, NONE) {
            return None;
        }
        let limit = limit.unwrap_or(NONE);
        let is_long = scratch.marks[scratch.last[from as usize] as usize].links > limit;
        if is_long && !self.mark(scratch, from, to, limit) {
            return None;
        }
        self.walk(scratch, from, to)
    }

    /// Marks routers with their ways to the end, until that of the beginning is known.
    fn mark(&self, scratch: &mut Scratch, from: u32, to: u32, limit: u32) -> bool {
        let Scratch { marks, last, links, waiting, heap } = scratch;
        let count = self.graph.len();
        marks.clear();
        heap.clear();
        for (list, value) in [(&mut *last, NONE), (&mut *links, NONE)] {
            list.clear();
            list.resize(count, value);
        }
        waiting.clear();
        waiting.resize(count, (u64::MAX, NONE, Reverse(0)));
        heap.push(Reverse(((0, 0, Reverse(u64::MAX)), to)));
        while let Some(Reverse(((cost, length, Reverse(width)), router))) = heap.pop() {
            let place = router as usize;
            // Without a limit the first way is the one; with it, another is of use that has fewer links.
            if length >= links[place] || (limit == NONE && last[place] != NONE) {
                continue;
            }
            links[place] = length;
            let next = core::mem::replace(&mut last[place], marks.len() as u32);
            marks.push(Mark { cost, links: length, width, next });
            if router == from {
                return true;
            }
            if length == limit {
                continue;
            }
            for edge in self.graph.edges_to(router) {
                let before = edge.from as usize;
                if length + 1 >= links[before] || (limit == NONE && last[before] != NONE) {
                    continue;
                }
                let Ok((more, left)) = self.weigh(edge) else { continue };
                let way = (cost + more, length + 1, Reverse(width.min(left)));
                if limit == NONE {
                    if way >= waiting[before] {
                        continue;
                    }
                    waiting[before] = way;
                }
                heap.push(Reverse((way, edge.from)));
            }
        }
        false
    }

    /// The first path in the order of routers among those that are as good as the best.
    fn walk(&self, scratch: &Scratch, from: u32, to: u32) -> Option<Found> {
        let best = scratch.marks[scratch.last[from as usize] as usize];
        let mut found =
            Found { cost: best.cost, width: best.width, edges: Vec::with_capacity(best.links as usize) };
        let (mut at, mut cost, mut links) = (from, best.cost, best.links);
        while at != to {
            let fits = |edge: &&Edge| {
                let Ok((more, left)) = self.weigh(edge) else { return false };
                let mut mark = scratch.last[edge.to as usize];
                while let Some(&Mark { cost: rest, links: length, width, next }) =
                    scratch.marks.get(mark as usize)
                {
                    if rest + more == cost && length + 1 == links {
                        return width.min(left) >= best.width;
                    }
                    mark = next;
                }
                false
            };
            let edge = self.graph.edges_from(at).iter().find(fits)?;
            let (more, _) = self.weigh(edge).ok()?;
            (at, cost, links) = (edge.to, cost - more, links - 1);
            found.edges.push(*edge);
        }
        Some(found)
    }
}
