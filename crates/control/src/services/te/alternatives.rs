//! Several paths, the best first: those that leave each path already found at one of its routers (J. Y. Yen, "Finding
//! the K Shortest Loopless Paths in a Network", Management Science 17, 1971).

use super::graph::{Edge, Graph};
use super::search::{Found, Query, Scratch};
use core::cmp::{Ordering, Reverse};
use core::net::Ipv4Addr;

/// How paths are compared, whole paths by their routers and addresses if all else is equal.
fn order(graph: &Graph, a: &Found, b: &Found) -> Ordering {
    let rank = |found: &Found| (found.cost, found.edges.len(), Reverse(found.width));
    let steps = |found: &Found| -> Vec<(Ipv4Addr, Ipv4Addr, u32)> {
        found.edges.iter().map(|edge| (graph.router(edge.to), edge.far, edge.link)).collect()
    };
    rank(a).cmp(&rank(b)).then_with(|| steps(a).cmp(&steps(b)))
}

impl Query<'_> {
    /// The best paths, at most `count`, none of which touches a router twice.
    pub(super) fn several(
        &self,
        scratch: &mut Scratch,
        (from, to): (u32, u32),
        limit: Option<u32>,
        count: usize,
    ) -> Vec<Found> {
        let mut paths: Vec<Found> = self.best(scratch, from, to, limit).into_iter().collect();
        let mut others: Vec<Found> = Vec::new();
        while let Some(last) = paths.last().filter(|_| paths.len() < count) {
            self.leave(scratch, last, to, limit, &paths, &mut others);
            let best = (0..others.len()).min_by(|a, b| order(self.graph, &others[*a], &others[*b]));
            let Some(best) = best else { break };
            paths.push(others.swap_remove(best));
        }
        paths.truncate(count);
        paths
    }

    /// Adds the best paths that leave `path` at one of its routers, and not as one of `paths` does.
    fn leave(
        &self,
        scratch: &mut Scratch,
        path: &Found,
        to: u32,
        limit: Option<u32>,
        paths: &[Found],
        others: &mut Vec<Found>,
    ) {
        let mut closed = vec![false; self.graph.len()];
        closed.iter_mut().zip(self.closed).for_each(|(closed, given)| *closed = *given);
        let (mut cost, mut enough) = (0, self.enough);
        for (place, edge) in path.edges.iter().enumerate() {
            let root = &path.edges[..place];
            let same = paths.iter().filter(|other| other.edges.get(..place) == Some(root));
            let barred: Vec<Edge> = same.filter_map(|other| other.edges.get(place).copied()).collect();
            let query = Query { closed: &closed, barred: &barred, enough, ..*self };
            // What the first part has left bounds the whole: more in the rest is not better.
            let rest = limit.map(|limit| limit.saturating_sub(place as u32));
            if let Some(found) = query.best(scratch, edge.from, to, rest) {
                let edges = [root, &found.edges[..]].concat();
                let whole = Found { cost: cost + found.cost, width: found.width.min(enough), edges };
                if !others.contains(&whole) {
                    others.push(whole);
                }
            }
            let Ok((more, left)) = self.weigh(edge) else { return };
            closed[edge.from as usize] = true;
            (cost, enough) = (cost + more, enough.min(left));
        }
    }
}
