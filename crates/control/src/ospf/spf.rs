//! Shortest paths through an area (RFC 2328, 16.1): an own Dijkstra over routers and transit networks, with the two-way
//! check, all next hops of equal cost, and no memory per step.

use base::{Map, PortId};
use core::net::Ipv4Addr;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use wire::ospf::{Network, Router, link};

/// A router or a transit network of an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Vertex {
    /// A network, by the address of its designated router.
    Network(Ipv4Addr),
    /// A router, by its router id.
    Router(Ipv4Addr),
}

/// Where packets leave the router that has computed the paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hop {
    /// By which they leave.
    pub port: PortId,
    /// The neighbour's address; unspecified on a network that the router is itself connected to.
    pub gateway: Ipv4Addr,
}

/// An edge of the graph.
#[derive(Clone, Copy, Debug)]
struct Edge {
    to: u32,
    cost: u32,
    /// Of a router's edge: the router's own address on the link. Of a network's: that of the router that it leads to.
    address: Ipv4Addr,
}

/// The graph of an area: only what both ends say is there (RFC 2328, 16.1, step 2b).
#[derive(Clone, Debug, Default)]
pub struct Graph {
    vertices: Vec<Vertex>,
    index: Map<Vertex, u32>,
    /// Where the edges of each vertex begin; one more than there are vertices.
    first: Vec<u32>,
    edges: Vec<Edge>,
}

/// No distance: there is no path.
const FAR: u32 = u32::MAX;
/// No end of a tunnel.
const NONE: u32 = u32::MAX;
/// The set of no next hops.
const NOWHERE: u32 = 0;

/// The shortest paths from a router.
#[derive(Clone, Debug)]
pub struct Paths {
    distances: Vec<u32>,
    /// Which set of next hops each vertex has.
    sets: Vec<u32>,
    /// The nearest end of a tunnel that all shortest paths to each vertex lead by before they get there; empty if
    /// nobody has asked.
    above: Vec<u32>,
    /// Which vertices are ends of tunnels.
    tails: Vec<bool>,
    hops: Sets,
}

/// Sets of next hops, each kept once: there are far fewer than vertices.
#[derive(Clone, Debug)]
struct Sets {
    all: Vec<Vec<Hop>>,
    numbers: Map<Vec<Hop>, u32>,
    /// The unions that were asked for.
    unions: Map<(u32, u32), u32>,
}

impl Sets {
    fn new() -> Sets {
        Sets { all: vec![Vec::new()], numbers: Map::default(), unions: Map::default() }
    }

    fn number(&mut self, hops: Vec<Hop>) -> u32 {
        if hops.is_empty() {
            return NOWHERE;
        }
        if let Some(&number) = self.numbers.get(&hops) {
            return number;
        }
        let number = self.all.len() as u32;
        self.all.push(hops.clone());
        self.numbers.insert(hops, number);
        number
    }

    fn union(&mut self, a: u32, b: u32) -> u32 {
        if a == b || b == NOWHERE {
            return a;
        }
        if a == NOWHERE {
            return b;
        }
        let key = (a.min(b), a.max(b));
        if let Some(&number) = self.unions.get(&key) {
            return number;
        }
        let mut hops = [&self.all[a as usize][..], &self.all[b as usize]].concat();
        hops.sort_unstable();
        hops.dedup();
        let number = self.number(hops);
        self.unions.insert(key, number);
        number
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

impl Graph {
    /// The graph of these advertisements: routers by their ids, and networks by the addresses of their designated
    /// routers. Each appears once.
    pub fn new<'a>(
        routers: impl Iterator<Item = (Ipv4Addr, &'a Router)>,
        networks: impl Iterator<Item = (Ipv4Addr, &'a Network)>,
    ) -> Graph {
        let routers: Vec<_> = routers.collect();
        let networks: Vec<_> = networks.collect();
        let mut graph = Graph::default();
        let names = routers.iter().map(|(id, _)| Vertex::Router(*id));
        for vertex in names.chain(networks.iter().map(|(id, _)| Vertex::Network(*id))) {
            graph.index.insert(vertex, graph.vertices.len() as u32);
            graph.vertices.push(vertex);
        }
        // What each end says by itself: (from, to) of links between routers, and of attachments to networks.
        let place = |graph: &Graph, vertex| graph.index.get(&vertex).copied();
        let mut said: Map<(u32, u32), ()> = Map::default();
        let mut attached: Map<(u32, u32), Ipv4Addr> = Map::default();
        for (from, (_, router)) in (0u32..).zip(&routers) {
            for link in &router.links {
                match link.kind {
                    link::POINT_TO_POINT => {
                        if let Some(to) = place(&graph, Vertex::Router(link.id)) {
                            said.insert((from, to), ());
                        }
                    }
                    link::TRANSIT => {
                        if let Some(to) = place(&graph, Vertex::Network(link.id)) {
                            attached.insert((from, to), link.data);
                        }
                    }
                    _ => {}
                }
            }
        }
        let mut members: Map<(u32, u32), ()> = Map::default();
        for (from, (_, network)) in (routers.len() as u32..).zip(&networks) {
            for id in &network.routers {
                if let Some(to) = place(&graph, Vertex::Router(*id)) {
                    members.insert((from, to), ());
                }
            }
        }
        for (from, (_, router)) in (0u32..).zip(&routers) {
            graph.first.push(graph.edges.len() as u32);
            for link in &router.links {
                let (cost, address) = (u32::from(link.metric), link.data);
                let to = match link.kind {
                    link::POINT_TO_POINT => place(&graph, Vertex::Router(link.id))
                        .filter(|&to| to != from && said.contains_key(&(to, from))),
                    link::TRANSIT => place(&graph, Vertex::Network(link.id))
                        .filter(|&to| members.contains_key(&(to, from))),
                    _ => None,
                };
                graph.edges.extend(to.map(|to| Edge { to, cost, address }));
            }
        }
        for (from, (_, network)) in (routers.len() as u32..).zip(&networks) {
            graph.first.push(graph.edges.len() as u32);
            for id in &network.routers {
                let to = place(&graph, Vertex::Router(*id));
                let edge =
                    to.and_then(|to| attached.get(&(to, from)).map(|&address| Edge { to, cost: 0, address }));
                graph.edges.extend(edge);
            }
        }
        graph.first.push(graph.edges.len() as u32);
        graph
    }

    fn edges_of(&self, vertex: u32) -> &[Edge] {
        let first = |place: u32| self.first.get(place as usize).map_or(0, |first| *first as usize);
        self.edges.get(first(vertex)..first(vertex + 1)).unwrap_or(&[])
    }

    /// The shortest paths from a router. `leave` says where packets leave it by a link of its own: it is given the
    /// router's address on the link, and the neighbour's router id on a link between two.
    pub fn paths(&self, root: Ipv4Addr, leave: impl Fn(Ipv4Addr, Option<Ipv4Addr>) -> Option<Hop>) -> Paths {
        self.paths_by(root, leave, &[])
    }

    /// The same, and which of some routers, at which tunnels from there end, the paths lead by.
    pub fn paths_by(
        &self,
        root: Ipv4Addr,
        leave: impl Fn(Ipv4Addr, Option<Ipv4Addr>) -> Option<Hop>,
        tails: &[Ipv4Addr],
    ) -> Paths {
        let count = self.vertices.len();
        let mut paths = Paths {
            distances: vec![FAR; count],
            sets: vec![NOWHERE; count],
            above: Vec::new(),
            tails: Vec::new(),
            hops: Sets::new(),
        };
        if !tails.is_empty() {
            (paths.above, paths.tails) = (vec![NONE; count], vec![false; count]);
            for tail in tails.iter().filter_map(|&tail| self.index.get(&Vertex::Router(tail))) {
                paths.tails[*tail as usize] = true;
            }
        }
        let Some(&root) = self.index.get(&Vertex::Router(root)) else { return paths };
        let mut done = vec![false; count];
        // RFC 2328, 16.1, step 3: networks come before routers of the same distance, which may be reached through them.
        let rank = |vertex: u32| match self.vertices[vertex as usize] {
            Vertex::Network(_) => 0,
            Vertex::Router(_) => 1u64 << 32,
        };
        let entry =
            |distance: u32, vertex: u32| (u64::from(distance) << 33) | rank(vertex) | u64::from(vertex);
        let mut heap = BinaryHeap::with_capacity(count);
        paths.distances[root as usize] = 0;
        heap.push(Reverse(entry(0, root)));
        while let Some(Reverse(next)) = heap.pop() {
            let from = next as u32;
            if core::mem::replace(&mut done[from as usize], true) {
                continue;
            }
            let (so_far, set) = (paths.distances[from as usize], paths.sets[from as usize]);
            // A network that the root is connected to gives its routers' addresses to the next hops through it.
            let is_near = matches!(self.vertices[from as usize], Vertex::Network(_))
                && paths.hops.all[set as usize].iter().any(|hop| hop.gateway.is_unspecified());
            for edge in self.edges_of(from) {
                let (to, distance) = (edge.to as usize, so_far.saturating_add(edge.cost));
                if distance > paths.distances[to] || done[to] || distance == FAR {
                    continue;
                }
                let hops = if from == root {
                    let neighbor = match self.vertices[to] {
                        Vertex::Router(id) => Some(id),
                        Vertex::Network(_) => None,
                    };
                    // A link by which nothing can leave is none.
                    let Some(hop) = leave(edge.address, neighbor) else { continue };
                    paths.hops.number(vec![hop])
                } else if is_near {
                    let through = |hop: &Hop| match hop.gateway.is_unspecified() {
                        true => Hop { gateway: edge.address, ..*hop },
                        false => *hop,
                    };
                    let mut hops: Vec<Hop> = paths.hops.all[set as usize].iter().map(through).collect();
                    hops.sort_unstable();
                    paths.hops.number(hops)
                } else {
                    set
                };
                if !paths.above.is_empty() {
                    let by = if paths.tails[from as usize] { from } else { paths.above[from as usize] };
                    let is_shorter = distance < paths.distances[to];
                    let known = paths.above[to];
                    paths.above[to] = if is_shorter { by } else { meet(&paths.above, known, by) };
                }
                if distance < paths.distances[to] {
                    paths.distances[to] = distance;
                    paths.sets[to] = hops;
                    heap.push(Reverse(entry(distance, edge.to)));
                } else {
                    paths.sets[to] = paths.hops.union(paths.sets[to], hops);
                }
            }
        }
        paths
    }

    /// The end of a tunnel by which all shortest paths to a router or a network lead: the nearest to it, or itself.
    pub fn tail(&self, paths: &Paths, vertex: Vertex) -> Option<Ipv4Addr> {
        let place = *self.index.get(&vertex)?;
        let is_tail = *paths.tails.get(place as usize)?;
        let tail = if is_tail { place } else { paths.above[place as usize] };
        match self.vertices.get(tail as usize)? {
            Vertex::Router(id) => Some(*id),
            Vertex::Network(_) => None,
        }
    }

    /// Distance and next hops of a router or a network, if there is a path.
    pub fn path<'a>(&self, paths: &'a Paths, vertex: Vertex) -> Option<(u32, &'a [Hop])> {
        let place = *self.index.get(&vertex)? as usize;
        let distance = *paths.distances.get(place)?;
        (distance != FAR).then(|| (distance, &paths.hops.all[paths.sets[place] as usize][..]))
    }
}
