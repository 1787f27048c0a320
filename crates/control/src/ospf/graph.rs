//! The graph of an area: routers and transit networks by dense numbers, kept as advertisements come and go. Only what
//! both ends say leads anywhere (RFC 2328, 16.1, step 2b).

use base::Map;
use core::net::Ipv4Addr;
use core::ops::Range;
use wire::ospf::{Network, Router, link};

/// A router or a transit network of an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Vertex {
    /// A network, by the address of its designated router.
    Network(Ipv4Addr),
    /// A router, by its router id.
    Router(Ipv4Addr),
}

/// What a vertex says of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub to: u32,
    pub cost: u16,
    /// Does the other say so, too?
    pub is_mutual: bool,
}

/// A vertex that says nothing of the edges from it: it is heard of, or was there before.
const NOTHING: Span = Span { first: 0, len: 0, room: 0 };

/// Where the edges of a vertex are.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: u32,
    len: u32,
    /// So many fit there.
    room: u32,
}

impl Span {
    const fn range(self) -> Range<usize> {
        self.first as usize..(self.first + self.len) as usize
    }
}

/// The graph of an area.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    vertices: Vec<Vertex>,
    index: Map<Vertex, u32>,
    spans: Vec<Span>,
    /// Those of each vertex stand side by side, ordered by where they lead.
    edges: Vec<Edge>,
    /// Of each edge of a router: its own address on the link.
    addresses: Vec<Ipv4Addr>,
    /// Places of edges that are nobody's.
    unused: usize,
    /// Edges of routers that cost nothing, which no router should announce (RFC 2328, C.3).
    free: usize,
}

/// What a router says of its links to routers and transit networks.
pub(super) fn links_of(router: &Router) -> impl Iterator<Item = (Vertex, u16, Ipv4Addr)> {
    router.links.iter().filter_map(|one| match one.kind {
        link::POINT_TO_POINT | link::VIRTUAL => Some((Vertex::Router(one.id), one.metric, one.data)),
        link::TRANSIT => Some((Vertex::Network(one.id), one.metric, one.data)),
        _ => None,
    })
}

/// What a network says of its routers: to them it costs nothing.
pub(super) fn members_of(network: &Network) -> impl Iterator<Item = (Vertex, u16, Ipv4Addr)> {
    network.routers.iter().map(|id| (Vertex::Router(*id), 0, Ipv4Addr::UNSPECIFIED))
}

impl Graph {
    /// The graph of these advertisements: routers by their ids, and networks by the addresses of their designated
    /// routers.
    pub fn new<'a>(
        routers: impl Iterator<Item = (Ipv4Addr, &'a Router)>,
        networks: impl Iterator<Item = (Ipv4Addr, &'a Network)>,
    ) -> Graph {
        let (mut graph, mut changed) = (Graph::default(), Vec::new());
        for (id, router) in routers {
            graph.set(Vertex::Router(id), links_of(router), &mut changed);
        }
        for (id, network) in networks {
            graph.set(Vertex::Network(id), members_of(network), &mut changed);
        }
        graph
    }

    /// How many vertices there are, with those that are only heard of.
    pub(super) fn len(&self) -> usize {
        self.vertices.len()
    }

    /// How many of them say anything.
    pub(super) fn speakers(&self) -> usize {
        self.spans.iter().filter(|span| span.len > 0).count()
    }

    /// Costs a link of a router nothing? Then distances alone don't say what comes before what.
    pub(super) fn has_free(&self) -> bool {
        self.free > 0
    }

    pub(super) fn vertex(&self, number: u32) -> Vertex {
        self.vertices[number as usize]
    }

    pub(super) fn number(&self, vertex: Vertex) -> Option<u32> {
        self.index.get(&vertex).copied()
    }

    /// The number of a vertex, which it has from now on.
    pub(super) fn place(&mut self, vertex: Vertex) -> u32 {
        if let Some(&known) = self.index.get(&vertex) {
            return known;
        }
        let number = self.vertices.len() as u32;
        self.index.insert(vertex, number);
        self.vertices.push(vertex);
        self.spans.push(NOTHING);
        number
    }

    pub(super) fn edges_of(&self, vertex: u32) -> &[Edge] {
        &self.edges[self.spans[vertex as usize].range()]
    }

    /// Where the edges from a vertex to another are among those that there are.
    fn between(&self, from: u32, to: u32) -> Range<usize> {
        let range = self.spans[from as usize].range();
        let edges = &self.edges[range.clone()];
        let first = edges.partition_point(|edge| edge.to < to);
        let count = edges[first..].iter().take_while(|edge| edge.to == to).count();
        range.start + first..range.start + first + count
    }

    /// What it costs at least to go from a vertex to one that is next to it, if both say so.
    pub(super) fn cost(&self, from: u32, to: u32) -> Option<u32> {
        let edges = &self.edges[self.between(from, to)];
        edges.iter().filter(|edge| edge.is_mutual).map(|edge| u32::from(edge.cost)).min()
    }

    /// The edges from a router, with its own address on each.
    pub(super) fn links(&self, router: u32) -> impl Iterator<Item = (Edge, Ipv4Addr)> {
        let range = self.spans[router as usize].range();
        self.edges[range.clone()].iter().copied().zip(self.addresses[range].iter().copied())
    }

    /// The address of a router on a network that it is attached to.
    pub(super) fn address(&self, router: u32, network: u32) -> Option<Ipv4Addr> {
        self.addresses[self.between(router, network)].last().copied()
    }

    /// From now on a vertex says this and nothing else: which others it leads to, at what cost, and the address there.
    /// Edges that are others than before are added to a list, each by its ends.
    pub(super) fn set(
        &mut self,
        vertex: Vertex,
        said: impl Iterator<Item = (Vertex, u16, Ipv4Addr)>,
        changed: &mut Vec<(u32, u32)>,
    ) -> u32 {
        let from = self.place(vertex);
        let is_router = matches!(vertex, Vertex::Router(_));
        let mut new: Vec<(Edge, Ipv4Addr)> = Vec::new();
        for (to, cost, address) in said {
            let to = self.place(to);
            if to != from {
                new.push((Edge { to, cost, is_mutual: false }, address));
            }
        }
        new.sort_by_key(|(edge, _)| edge.to);
        for (edge, _) in &mut new {
            edge.is_mutual = !self.between(edge.to, from).is_empty();
        }
        let old: Vec<(Edge, Ipv4Addr)> = self.links(from).collect();
        let count = |all: &[(Edge, Ipv4Addr)]| all.iter().filter(|(edge, _)| edge.cost == 0).count();
        if is_router {
            self.free = self.free + count(&new) - count(&old);
        }
        self.write(from, &new);
        let (mut old, mut new) = (&old[..], &new[..]);
        while let Some(to) = old.first().into_iter().chain(new.first()).map(|(edge, _)| edge.to).min() {
            let split = |all: &[(Edge, Ipv4Addr)]| all.partition_point(|(edge, _)| edge.to <= to);
            let ((was, old_rest), (is, new_rest)) = (old.split_at(split(old)), new.split_at(split(new)));
            (old, new) = (old_rest, new_rest);
            if was.is_empty() != is.is_empty() {
                let back = self.between(to, from);
                self.edges[back.clone()].iter_mut().for_each(|edge| edge.is_mutual = !is.is_empty());
                if !back.is_empty() {
                    changed.push((to, from));
                }
            }
            if was != is {
                changed.push((from, to));
                // By a router's address on a network its neighbours there reach it.
                if is_router && matches!(self.vertices[to as usize], Vertex::Network(_)) {
                    changed.push((to, from));
                }
            }
        }
        from
    }

    /// Puts the edges of a vertex where there is room for them.
    fn write(&mut self, from: u32, new: &[(Edge, Ipv4Addr)]) {
        let len = new.len() as u32;
        let mut span = self.spans[from as usize];
        if len > span.room {
            self.unused += span.room as usize;
            // A little more than before, since what grows will grow again.
            let room = if span.room == 0 { len } else { len + len / 4 };
            span = Span { first: self.edges.len() as u32, len, room };
            let nobody = Edge { to: from, cost: 0, is_mutual: false };
            self.edges.resize(self.edges.len() + room as usize, nobody);
            self.addresses.resize(self.edges.len(), Ipv4Addr::UNSPECIFIED);
        }
        span.len = len;
        self.spans[from as usize] = span;
        for (place, (edge, address)) in span.range().zip(new) {
            (self.edges[place], self.addresses[place]) = (*edge, *address);
        }
        if self.unused > 64 && self.unused > self.edges.len() / 2 {
            self.pack();
        }
    }

    /// Puts the edges of all vertices side by side again.
    fn pack(&mut self) {
        let (edges, addresses) = (core::mem::take(&mut self.edges), core::mem::take(&mut self.addresses));
        for span in &mut self.spans {
            let first = self.edges.len() as u32;
            self.edges.extend_from_slice(&edges[span.range()]);
            self.addresses.extend_from_slice(&addresses[span.range()]);
            *span = Span { first, len: span.len, room: span.len };
        }
        self.unused = 0;
    }
}
