//! Shortest paths after some edges of the graph have become others: only that part of the tree is searched again which
//! they bore, and what has become nearer through them (as Ramalingam and Reps did, 1996). The paths are then those that
//! a search of the whole graph finds.

use super::graph::{Graph, Vertex};
use super::hops::NOWHERE;
use super::radix::Radix;
use super::spf::{FAR, NONE, Paths, beyond, key};
use core::net::Ipv4Addr;

/// What a vertex was before: its number, distance and set of next hops.
type Before = (u32, u32, u32);

/// A run: which vertices are others.
#[derive(Default)]
struct Run {
    touched: Vec<Before>,
    is_touched: Vec<bool>,
}

impl Run {
    fn touch(&mut self, paths: &Paths, vertex: u32) {
        let place = vertex as usize;
        if !core::mem::replace(&mut self.is_touched[place], true) {
            self.touched.push((vertex, paths.distances[place], paths.sets[place]));
        }
    }
}

impl Paths {
    /// Has the paths follow edges that have become others, or are no more, each by its ends. The vertices to which
    /// distance or next hops are others than before; nothing if the whole graph is to be searched.
    pub(super) fn update(&mut self, graph: &Graph, changed: &[(u32, u32)]) -> Option<Vec<u32>> {
        let is_whole = graph.has_free() || self.has_tails() || self.root == NONE;
        if is_whole || changed.iter().any(|(from, _)| *from == self.root) {
            return None;
        }
        self.distances.resize(graph.len(), FAR);
        self.sets.resize(graph.len(), NOWHERE);
        self.parents.resize(graph.len(), NONE);
        let mut run = Run { is_touched: vec![false; graph.len()], ..Run::default() };
        self.lose(graph, changed, &mut run);
        self.search_again(graph, changed, &mut run);
        self.join_again(graph, changed, &mut run);
        let is_other = |&(vertex, distance, set): &Before| {
            (self.distances[vertex as usize], self.sets[vertex as usize]) != (distance, set)
        };
        Some(run.touched.iter().filter(|one| is_other(one)).map(|one| one.0).collect())
    }

    /// What an edge costs now, if a path can lead by it.
    fn cost(&self, graph: &Graph, from: u32, to: u32) -> Option<u32> {
        if from == self.root {
            return self.first.iter().filter(|first| first.0 == to).map(|first| first.1).min();
        }
        graph.cost(from, to)
    }

    /// The distance of a vertex by way of another one.
    fn by(&self, graph: &Graph, from: u32, to: u32) -> Option<u32> {
        let distance = self.distances[from as usize];
        beyond(distance, self.cost(graph, from, to)?).filter(|_| distance != FAR)
    }

    /// Addresses of a router on the links by which shortest paths come to it.
    pub(super) fn facing<'a>(&'a self, graph: &'a Graph, router: u32) -> impl Iterator<Item = Ipv4Addr> + 'a {
        let distance = self.distances[router as usize];
        let is_last = move |from: u32| self.by(graph, from, router) == Some(distance);
        let last = graph.links(router).filter(move |(edge, _)| edge.is_mutual && is_last(edge.to));
        last.map(|(_, address)| address)
    }

    /// Forgets the distances of all to which the tree leads by an edge that costs more now.
    fn lose(&mut self, graph: &Graph, changed: &[(u32, u32)], run: &mut Run) {
        let mut lost = Vec::new();
        for &(from, to) in changed {
            if self.parents[to as usize] != from {
                continue;
            }
            if self.by(graph, from, to).is_none_or(|distance| distance > self.distances[to as usize]) {
                lost.push(to);
            }
            while let Some(next) = lost.pop() {
                run.touch(self, next);
                (self.distances[next as usize], self.parents[next as usize]) = (FAR, NONE);
                let below = graph.edges_of(next).iter().map(|edge| edge.to);
                lost.extend(below.filter(|to| self.parents[*to as usize] == next));
            }
        }
    }

    /// Finds the distances of those that have lost theirs, and of those to which a new edge is nearer.
    fn search_again(&mut self, graph: &Graph, changed: &[(u32, u32)], run: &mut Run) {
        let mut heap = Radix::default();
        for &(to, _, _) in &run.touched {
            // Edges are mutual: from where one leads back an edge leads here.
            for edge in graph.edges_of(to).iter().filter(|edge| edge.is_mutual) {
                self.offer(edge.to, to, self.by(graph, edge.to, to));
            }
        }
        for &(from, to) in changed {
            let distance = self.by(graph, from, to);
            if distance.is_some_and(|distance| distance < self.distances[to as usize]) {
                run.touch(self, to);
                self.offer(from, to, distance);
            }
        }
        for &(vertex, _, _) in &run.touched {
            let distance = self.distances[vertex as usize];
            if distance != FAR {
                heap.push(key(graph, vertex, distance), vertex);
            }
        }
        while let Some((at, from)) = heap.pop() {
            let so_far = self.distances[from as usize];
            if at != key(graph, from, so_far) {
                continue;
            }
            for edge in graph.edges_of(from).iter().filter(|edge| edge.is_mutual) {
                let Some(distance) = beyond(so_far, edge.cost.into()) else { continue };
                if distance < self.distances[edge.to as usize] {
                    run.touch(self, edge.to);
                    self.offer(from, edge.to, Some(distance));
                    heap.push(key(graph, edge.to, distance), edge.to);
                }
            }
        }
    }

    /// Takes a distance that is less.
    fn offer(&mut self, from: u32, to: u32, distance: Option<u32>) {
        if let Some(distance) = distance.filter(|distance| *distance < self.distances[to as usize]) {
            (self.distances[to as usize], self.parents[to as usize]) = (distance, from);
        }
    }

    /// Finds next hops anew: of vertices with another distance, of ends of edges that are others, of those to which
    /// another path of the same cost leads, and of all behind whose next hops become others by that.
    fn join_again(&mut self, graph: &Graph, changed: &[(u32, u32)], run: &mut Run) {
        let mut heap = Radix::default();
        let mut is_queued = vec![false; graph.len()];
        let root = self.root;
        let mut queue = |paths: &Paths, heap: &mut Radix, vertex: u32| {
            let distance = paths.distances[vertex as usize];
            let is_meant = distance != FAR && vertex != root;
            if is_meant && !core::mem::replace(&mut is_queued[vertex as usize], true) {
                heap.push(key(graph, vertex, distance), vertex);
            }
        };
        for &(vertex, before, _) in &run.touched {
            if self.distances[vertex as usize] == FAR {
                self.sets[vertex as usize] = NOWHERE;
            }
            queue(self, &mut heap, vertex);
            // Paths have led through it that are as short as others.
            for edge in graph.edges_of(vertex) {
                if before != FAR && beyond(before, edge.cost.into()) == Some(self.distances[edge.to as usize])
                {
                    queue(self, &mut heap, edge.to);
                }
            }
        }
        changed.iter().for_each(|(_, to)| queue(self, &mut heap, *to));
        while let Some((_, vertex)) = heap.pop() {
            let set = self.set_of(graph, vertex);
            let place = vertex as usize;
            if set == self.sets[place] && !run.is_touched[place] {
                continue;
            }
            run.touch(self, vertex);
            self.sets[place] = set;
            for edge in graph.edges_of(vertex).iter().filter(|edge| edge.is_mutual) {
                let distance = beyond(self.distances[place], edge.cost.into());
                if distance == Some(self.distances[edge.to as usize]) {
                    queue(self, &mut heap, edge.to);
                }
            }
        }
    }

    /// The next hops of all shortest paths to a vertex, by those of the vertices before it.
    fn set_of(&mut self, graph: &Graph, vertex: u32) -> u32 {
        let distance = self.distances[vertex as usize];
        let (mut set, mut last) = (NOWHERE, NONE);
        for edge in graph.edges_of(vertex).iter().filter(|edge| edge.is_mutual) {
            let from = edge.to;
            if core::mem::replace(&mut last, from) == from {
                continue;
            }
            if from == self.root {
                let good = |first: &&(u32, u32, u32)| (first.0, first.1) == (vertex, distance);
                for first in self.first.iter().filter(good) {
                    set = self.hops.union(set, first.2);
                }
                continue;
            }
            if self.by(graph, from, vertex) != Some(distance) {
                continue;
            }
            let mut by = self.sets[from as usize];
            if matches!(graph.vertex(from), Vertex::Network(_))
                && self.hops.is_near(by)
                && let Some(address) = graph.address(vertex, from)
            {
                by = self.hops.through(by, address);
            }
            set = self.hops.union(set, by);
        }
        set
    }
}
