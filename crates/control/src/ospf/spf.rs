//! Shortest paths through an area (RFC 2328, 16.1): an own Dijkstra over routers and transit networks, with all next
//! hops of equal cost. [`Paths::compute`] finds all of them. After some edges have become others `respf`
//! searches again from where paths have changed, and no further.

use super::graph::{Graph, Vertex};
pub use super::hops::Hop;
use super::hops::{NOWHERE, Sets};
use super::radix::Radix;
use core::net::Ipv4Addr;

/// No distance: there is no path.
pub(super) const FAR: u32 = u32::MAX;
/// Distances are less than this, so that they fit into a key beside the kind of vertex. No path of fewer than 16,384
/// links comes there.
const LIMIT: u32 = 1 << 30;
/// No vertex.
pub(super) const NONE: u32 = u32::MAX;

/// The shortest paths from a router.
#[derive(Clone, Debug)]
pub struct Paths {
    pub(super) root: u32,
    pub(super) distances: Vec<u32>,
    /// Which set of next hops each vertex has.
    pub(super) sets: Vec<u32>,
    /// From where the first of the shortest paths that were found comes to each vertex: the edges of a tree.
    pub(super) parents: Vec<u32>,
    /// The links by which packets leave the root: where to, at what cost, and the set of that hop alone.
    pub(super) first: Vec<(u32, u32, u32)>,
    /// The nearest end of a tunnel that all shortest paths to each vertex lead by before they get there; empty if
    /// nobody has asked.
    above: Vec<u32>,
    /// Which vertices are ends of tunnels.
    tails: Vec<bool>,
    pub(super) hops: Sets,
}

impl Default for Paths {
    fn default() -> Paths {
        Paths {
            root: NONE,
            distances: Vec::new(),
            sets: Vec::new(),
            parents: Vec::new(),
            first: Vec::new(),
            above: Vec::new(),
            tails: Vec::new(),
            hops: Sets::default(),
        }
    }
}

/// The nearest end of a tunnel that lies on both of two ways, which lead by `one` and `other` last.
fn meet(above: &[u32], mut one: u32, other: u32) -> u32 {
    while one != NONE {
        let mut at = other;
        while at != NONE && at != one {
            at = above[at as usize];
        }
        if at == one {
            return one;
        }
        one = above[one as usize];
    }
    NONE
}

/// What a vertex is taken by. RFC 2328, 16.1, step 3: networks come before routers of the same distance, which may be
/// reached through them. So do routers from which a link leads on that costs nothing.
pub(super) fn key(graph: &Graph, vertex: u32, distance: u32) -> u32 {
    let class = match graph.vertex(vertex) {
        Vertex::Network(_) => 0,
        Vertex::Router(_) if graph.has_free() && graph.edges_of(vertex).iter().any(|edge| edge.cost == 0) => {
            1
        }
        Vertex::Router(_) => 2,
    };
    distance << 2 | class
}

/// The distance behind an edge, if it is one.
pub(super) fn beyond(distance: u32, cost: u32) -> Option<u32> {
    distance.checked_add(cost).filter(|sum| *sum < LIMIT)
}

impl Paths {
    /// All paths from a router. `leave` says where packets leave it by a link of its own: it is given the router's
    /// address on the link, and the neighbour's router id on a link between two. Then it is known, too, by which of
    /// some routers, at which tunnels end, the paths lead.
    pub fn compute(
        &mut self,
        graph: &Graph,
        root: Ipv4Addr,
        leave: impl Fn(Ipv4Addr, Option<Ipv4Addr>) -> Option<Hop>,
        tails: &[Ipv4Addr],
    ) {
        let count = graph.len();
        for (list, value) in
            [(&mut self.distances, FAR), (&mut self.sets, NOWHERE), (&mut self.parents, NONE)]
        {
            list.clear();
            list.resize(count, value);
        }
        let ends = if tails.is_empty() { 0 } else { count };
        (self.above, self.tails) = (vec![NONE; ends], vec![false; ends]);
        for tail in tails.iter().filter_map(|&tail| graph.number(Vertex::Router(tail))) {
            self.tails[tail as usize] = true;
        }
        (self.first, self.root) = (Vec::new(), NONE);
        let Some(root) = graph.number(Vertex::Router(root)) else { return };
        self.root = root;
        self.distances[root as usize] = 0;
        for (edge, address) in graph.links(root).filter(|(edge, _)| edge.is_mutual) {
            let neighbor = match graph.vertex(edge.to) {
                Vertex::Router(id) => Some(id),
                Vertex::Network(_) => None,
            };
            // A link by which nothing can leave is none.
            if let Some(hop) = leave(address, neighbor) {
                self.first.push((edge.to, edge.cost.into(), self.hops.number(vec![hop])));
            }
        }
        self.search(graph);
    }

    fn search(&mut self, graph: &Graph) {
        let mut heap = Radix::default();
        let mut done = vec![false; graph.len()];
        done[self.root as usize] = true;
        for (to, cost, set) in core::mem::take(&mut self.first) {
            self.reach(graph, &mut heap, (self.root, cost), to, set);
            self.first.push((to, cost, set));
        }
        while let Some((_, from)) = heap.pop() {
            if core::mem::replace(&mut done[from as usize], true) {
                continue;
            }
            let (so_far, set) = (self.distances[from as usize], self.sets[from as usize]);
            // A network that the root is connected to gives its routers' addresses to the next hops through it.
            let is_near = matches!(graph.vertex(from), Vertex::Network(_)) && self.hops.is_near(set);
            for edge in graph.edges_of(from) {
                let distance = so_far.saturating_add(edge.cost.into());
                if !edge.is_mutual || distance > self.distances[edge.to as usize] || done[edge.to as usize] {
                    continue;
                }
                let set = match is_near.then(|| graph.address(edge.to, from)).flatten() {
                    Some(address) => self.hops.through(set, address),
                    None => set,
                };
                self.reach(graph, &mut heap, (from, distance), edge.to, set);
            }
        }
    }

    /// A path leads from a vertex to another one, at this distance and by these hops.
    fn reach(&mut self, graph: &Graph, heap: &mut Radix, (from, distance): (u32, u32), to: u32, set: u32) {
        let place = to as usize;
        let known = self.distances[place];
        if distance > known || distance >= LIMIT {
            return;
        }
        if !self.above.is_empty() {
            let by = if self.tails[from as usize] { from } else { self.above[from as usize] };
            let is_shorter = distance < known;
            self.above[place] = if is_shorter { by } else { meet(&self.above, self.above[place], by) };
        }
        if distance < known {
            (self.distances[place], self.sets[place], self.parents[place]) = (distance, set, from);
            heap.push(key(graph, to, distance), to);
        } else {
            self.sets[place] = self.hops.union(self.sets[place], set);
        }
    }

    /// Is it known by which ends of tunnels the paths lead?
    pub(super) fn has_tails(&self) -> bool {
        !self.tails.is_empty()
    }

    /// The end of a tunnel by which all shortest paths to a router or a network lead: the nearest to it, or itself.
    pub(super) fn tail(&self, graph: &Graph, vertex: u32) -> Option<Ipv4Addr> {
        let is_tail = *self.tails.get(vertex as usize)?;
        let tail = if is_tail { vertex } else { self.above[vertex as usize] };
        match (tail != NONE).then(|| graph.vertex(tail))? {
            Vertex::Router(id) => Some(id),
            Vertex::Network(_) => None,
        }
    }

    /// Distance and set of next hops of a router or a network, if there is a path.
    pub(super) fn at(&self, vertex: u32) -> Option<(u32, u32)> {
        let place = vertex as usize;
        let distance = *self.distances.get(place)?;
        (distance != FAR).then(|| (distance, self.sets[place]))
    }
}

impl Graph {
    /// The shortest paths from a router.
    #[cfg(test)]
    pub(super) fn paths(
        &self,
        root: Ipv4Addr,
        leave: impl Fn(Ipv4Addr, Option<Ipv4Addr>) -> Option<Hop>,
    ) -> Paths {
        let mut paths = Paths::default();
        paths.compute(self, root, leave, &[]);
        paths
    }

    /// Distance and next hops of a router or a network, if there is a path.
    #[cfg(test)]
    pub(super) fn path<'a>(&self, paths: &'a Paths, vertex: Vertex) -> Option<(u32, &'a [Hop])> {
        let (distance, set) = paths.at(self.number(vertex)?)?;
        Some((distance, paths.hops.get(set)))
    }
}
