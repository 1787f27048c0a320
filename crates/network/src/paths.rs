//! Shortest paths over the links of a network.

use base::Map;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A link as the search sees it: two ends and a cost.
#[derive(Clone, Copy, Debug)]
pub struct Arc {
    /// Index of the node at one end.
    pub a: usize,
    /// Index of the node at the other end.
    pub b: usize,
    /// Cost of the link: paths have the least sum.
    pub metric: u64,
    /// Decides between links of equal cost: propagation delay in picoseconds.
    pub delay: u64,
}

/// The graph: for each node its links and the nodes beyond them.
#[derive(Clone, Debug)]
pub struct Graph {
    arcs: Vec<Arc>,
    around: Vec<Vec<(usize, usize)>>,
    transit: Vec<bool>,
}

/// Cost of a path: metric, hops, delay.
pub type Cost = (u64, u32, u64);

/// The shortest paths from one node: for each node the link by which it is reached, the node before, and the first
/// link.
#[derive(Clone, Debug)]
pub struct Tree {
    reached: Vec<Option<(usize, usize, usize)>>,
    cost: Vec<Option<Cost>>,
    root: usize,
}

impl Graph {
    /// The graph of `arcs` between nodes, of which only those marked pass traffic on.
    pub fn new(transit: Vec<bool>, arcs: Vec<Arc>) -> Graph {
        let mut around = vec![Vec::new(); transit.len()];
        for (link, arc) in arcs.iter().enumerate() {
            around[arc.a].push((link, arc.b));
            around[arc.b].push((link, arc.a));
        }
        Graph { arcs, around, transit }
    }

    /// The graph without the links that `usable` keeps out; links have the numbers that they had.
    pub fn over(&self, usable: impl Fn(usize) -> bool) -> Graph {
        let kept = |links: &Vec<(usize, usize)>| {
            links.iter().copied().filter(|(link, _)| usable(*link)).collect::<Vec<_>>()
        };
        let around = self.around.iter().map(kept).collect();
        Graph { arcs: self.arcs.clone(), around, transit: self.transit.clone() }
    }

    /// How many ends links have: to find all ways from a node, each is looked at once.
    pub fn ends(&self) -> usize {
        2 * self.arcs.len()
    }

    /// The shortest paths from `root`; ties are broken by hops, delay, then the lower node and link.
    pub fn tree(&self, root: usize) -> Tree {
        self.tree_over(root, |_| true)
    }

    /// The same over those links that `usable` lets through.
    pub fn tree_over(&self, root: usize, usable: impl Fn(usize) -> bool) -> Tree {
        let mut best: Vec<Option<Cost>> = vec![None; self.around.len()];
        let mut reached = vec![None; self.around.len()];
        let mut heap = BinaryHeap::from([Reverse(((0, 0, 0), root))]);
        best[root] = Some((0, 0, 0));
        while let Some(Reverse((cost, node))) = heap.pop() {
            if best[node] != Some(cost) || (node != root && !self.transit[node]) {
                continue;
            }
            for &(link, next) in self.around[node].iter().filter(|(link, _)| usable(*link)) {
                let arc = self.arcs[link];
                let total = (cost.0 + arc.metric, cost.1 + 1, cost.2 + arc.delay);
                if best[next].is_none_or(|known| total < known) {
                    best[next] = Some(total);
                    let first = reached[node].map_or(link, |(_, _, first)| first);
                    reached[next] = Some((link, node, first));
                    heap.push(Reverse((total, next)));
                }
            }
        }
        reached[root] = None;
        Tree { reached, cost: best, root }
    }

    /// A search for the shortest paths from `root`.
    pub fn search(&self, root: usize) -> Search<'_> {
        let heap = BinaryHeap::from([Reverse(((0, 0, 0), root))]);
        Search { graph: self, root, reached: Map::new(), heap, visited: 0 }
    }

    /// What hangs together, found by one look at each link.
    pub fn parts(&self) -> Parts<'_> {
        let mut of: Vec<Option<u32>> = vec![None; self.around.len()];
        let mut waiting = Vec::new();
        for (number, root) in (0..).zip((0..self.around.len()).filter(|node| self.transit[*node])) {
            if of[root].is_some() {
                continue;
            }
            of[root] = Some(number);
            waiting.push(root);
            while let Some(node) = waiting.pop() {
                for &(_, next) in &self.around[node] {
                    if self.transit[next] && of[next].is_none() {
                        of[next] = Some(number);
                        waiting.push(next);
                    }
                }
            }
        }
        Parts { graph: self, of }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.around.len()
    }

    /// Is there no node?
    pub fn is_empty(&self) -> bool {
        self.around.is_empty()
    }

    /// Does a node pass traffic on?
    pub fn is_transit(&self, node: usize) -> bool {
        self.transit.get(node).copied().unwrap_or(false)
    }

    /// The links of a node, in order.
    pub fn links_of(&self, node: usize) -> impl Iterator<Item = usize> {
        self.around.get(node).into_iter().flatten().map(|(link, _)| *link)
    }

    /// The best link between two neighbours: least metric, then least delay, then the lowest number.
    pub fn link_between(&self, a: usize, b: usize) -> Option<usize> {
        let links = self.around.get(a)?.iter().filter(|(_, next)| *next == b).map(|(link, _)| *link);
        links.min_by_key(|&link| (self.arcs[link].metric, self.arcs[link].delay, link))
    }

    /// The node beyond `link`, seen from `node`.
    pub fn beyond(&self, link: usize, node: usize) -> Option<usize> {
        let arc = self.arcs.get(link)?;
        if arc.a == node {
            Some(arc.b)
        } else if arc.b == node {
            Some(arc.a)
        } else {
            None
        }
    }
}

/// The parts of a network that no path joins.
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    graph: &'a Graph,
    /// Of each node that passes traffic on, which part it is in.
    of: Vec<Option<u32>>,
}

impl Parts<'_> {
    /// Is there a path from one node to another one?
    pub fn joined(&self, from: usize, to: usize) -> bool {
        let around = |node: usize| self.graph.around[node].iter().map(|(_, next)| *next);
        let entered = |node: usize| {
            let own = self.of[node];
            // A node that passes nothing on is at the edge of the parts of its neighbours.
            let beside = around(node).filter(move |_| own.is_none()).filter_map(|next| self.of[next]);
            own.into_iter().chain(beside)
        };
        around(from).any(|next| next == to)
            || entered(from).any(|part| entered(to).any(|other| other == part))
    }
}

/// How a search has come to a node.
#[derive(Clone, Copy, Debug)]
struct Reached {
    cost: Cost,
    /// The first and the last link on the way.
    first: usize,
    last: usize,
    /// Another way costs the same, and differs in how it comes to the node.
    tied: bool,
}

/// The shortest paths from one node, found as far as they have been asked for: those of [`Graph::tree`].
#[derive(Debug)]
pub struct Search<'a> {
    graph: &'a Graph,
    root: usize,
    reached: Map<usize, Reached>,
    heap: BinaryHeap<Reverse<(Cost, usize)>>,
    visited: usize,
}

impl Search<'_> {
    /// What it costs to reach `node`, and the first link on the way there; nothing if it can't be reached, or is where
    /// the search begins.
    pub fn to(&mut self, node: usize) -> Option<(Cost, usize)> {
        if node == self.root {
            return None;
        }
        self.find(node);
        self.reached.get(&node).map(|reached| (reached.cost, reached.first))
    }

    /// The way to a node that [`Search::to`] has found, from its end as far as there is no other at the same cost: the
    /// nodes on it and the link by which it goes on from each. Where it begins is left out.
    ///
    /// A search that began at one of these nodes would find the rest of this way, since another one that costs no more
    /// would be another way from here, too.
    pub fn only_way_to(&self, node: usize, take: &mut impl FnMut(usize, usize)) {
        let mut at = node;
        while let Some(Reached { last, tied: false, .. }) = self.reached.get(&at).copied()
            && let Some(before) = self.graph.beyond(last, at)
            && before != self.root
        {
            take(before, last);
            at = before;
        }
    }

    /// The links on the way to `node`, in order; nothing if it can't be reached.
    pub fn links_to(&mut self, node: usize) -> Option<Vec<usize>> {
        let mut links = Vec::new();
        let mut at = node;
        while at != self.root {
            self.find(at);
            let last = self.reached.get(&at)?.last;
            links.push(last);
            at = self.graph.beyond(last, at)?;
        }
        links.reverse();
        Some(links)
    }

    /// A node with one link is reached by its neighbour, whose other links need no look for that.
    fn find(&mut self, node: usize) {
        let [(last, before)] = self.graph.around[node][..] else { return self.settle(node) };
        if self.reached.contains_key(&node) || node == self.root {
            return;
        }
        let arc = self.graph.arcs[last];
        let reached = if before == self.root {
            Reached { cost: (arc.metric, 1, arc.delay), first: last, last, tied: false }
        } else {
            self.settle(before);
            let Some(known) = self.reached.get(&before).filter(|_| self.graph.transit[before]) else {
                return;
            };
            let cost = (known.cost.0 + arc.metric, known.cost.1 + 1, known.cost.2 + arc.delay);
            Reached { cost, first: known.first, last, tied: false }
        };
        self.reached.insert(node, reached);
    }

    fn settle(&mut self, node: usize) {
        // What is on the heap costs no less than what was taken from it.
        while let Some(&Reverse((cost, next))) = self.heap.peek() {
            if self.reached.get(&node).is_some_and(|known| (known.cost, node) <= (cost, next)) {
                break;
            }
            self.heap.pop();
            self.visit(cost, next);
        }
    }

    fn visit(&mut self, cost: Cost, node: usize) {
        let first = match self.reached.get(&node) {
            _ if node == self.root => None,
            Some(known) if known.cost == cost && self.graph.transit[node] => Some(known.first),
            _ => return,
        };
        self.visited += self.graph.around[node].len();
        for &(link, next) in &self.graph.around[node] {
            let arc = self.graph.arcs[link];
            let total = (cost.0 + arc.metric, cost.1 + 1, cost.2 + arc.delay);
            if next == self.root {
                continue;
            }
            let reached = Reached { cost: total, first: first.unwrap_or(link), last: link, tied: false };
            match self.reached.get_mut(&next) {
                None => {
                    self.reached.insert(next, reached);
                }
                Some(known) if total < known.cost => *known = reached,
                Some(known) => {
                    known.tied |= total == known.cost && link != known.last;
                    continue;
                }
            }
            self.heap.push(Reverse((total, next)));
        }
    }

    /// How many links it has looked at from one of their ends.
    pub fn visited(&self) -> usize {
        self.visited
    }
}

impl Tree {
    /// What it costs to reach `node`; more than anything else if it can't be reached.
    pub fn cost(&self, node: usize) -> Cost {
        self.cost[node].unwrap_or((u64::MAX, u32::MAX, u64::MAX))
    }

    /// The first link on the way to `node`.
    pub fn first_link(&self, node: usize) -> Option<usize> {
        self.reached[node].map(|(_, _, first)| first)
    }

    /// The links by which any node is reached.
    pub fn links(&self) -> impl Iterator<Item = usize> {
        self.reached.iter().flatten().map(|(link, ..)| *link)
    }

    /// The links on the way to `node`, in order; nothing if it can't be reached.
    pub fn links_to(&self, node: usize) -> Option<Vec<usize>> {
        let mut links = Vec::new();
        let mut at = node;
        while at != self.root {
            let (link, before, _) = self.reached[at]?;
            links.push(link);
            at = before;
        }
        links.reverse();
        Some(links)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arc(a: usize, b: usize, metric: u64, delay: u64) -> Arc {
        Arc { a, b, metric, delay }
    }

    #[test]
    fn paths_are_shortest_and_ties_are_broken() {
        let arcs = vec![arc(0, 1, 1, 5), arc(0, 1, 1, 3), arc(1, 2, 1, 0), arc(0, 2, 2, 0), arc(2, 3, 1, 0)];
        let graph = Graph::new(vec![true, true, true, false, true], arcs);
        let tree = graph.tree(0);
        assert_eq!(tree.links_to(2), Some(vec![3])); // one hop of cost two before two hops of cost one
        assert_eq!(tree.links_to(3), Some(vec![3, 4]));
        assert_eq!(tree.links_to(4), None);
        assert_eq!((tree.links_to(1), tree.first_link(3)), (Some(vec![1]), Some(3)));
        assert_eq!(graph.link_between(1, 0), Some(1));
        assert_eq!(graph.beyond(4, 3), Some(2));
    }

    #[test]
    fn a_tree_leaves_out_what_can_not_be_used() {
        let arcs = vec![arc(0, 1, 1, 0), arc(1, 2, 1, 0), arc(0, 2, 5, 0)];
        let graph = Graph::new(vec![true; 4], arcs);
        let tree = graph.tree_over(0, |link| link != 1);
        assert_eq!((tree.links_to(2), tree.first_link(3)), (Some(vec![2]), None));
        assert_eq!(tree.links().collect::<Vec<_>>(), [0, 2]);
        assert_eq!(graph.tree(0).links_to(2), Some(vec![0, 1]));
    }

    #[test]
    fn a_search_finds_what_a_tree_has() {
        // Many ties: a grid of links that cost the same, with some that cost more, and leaves.
        let (side, count) = (7, 56);
        let mut arcs = Vec::new();
        for node in 0..side * side {
            let metric = if node % 5 == 0 { 2 } else { 1 };
            if node % side + 1 < side {
                arcs.push(arc(node, node + 1, metric, node as u64 % 3));
            }
            if node + side < side * side {
                arcs.push(arc(node + side, node, 1, 0));
            }
        }
        // One at a node that passes nothing on (29), one at the end of another; nobody is at 49.
        let leaves = [(50, 3), (51, 3), (52, 29), (53, 45), (54, 53), (24, 55)];
        arcs.extend(leaves.map(|(a, b)| arc(a, b, 1, 0)));
        let transit = (0..count).map(|node| node % 11 != 7).collect();
        let graph = Graph::new(transit, arcs);
        let mut only = 0;
        for root in 0..count {
            let tree = graph.tree(root);
            let parts = graph.parts();
            let mut kept = graph.search(root);
            for node in (0..count).rev() {
                let expected = tree.first_link(node).map(|first| (tree.cost(node), first));
                let mut fresh = graph.search(root);
                assert_eq!((fresh.to(node), kept.to(node)), (expected, expected), "{root} to {node}");
                assert_eq!(fresh.links_to(node), tree.links_to(node), "{root} to {node}");
                fresh.only_way_to(node, &mut |before, link| {
                    only += 1;
                    assert_eq!(graph.tree(before).first_link(node), Some(link), "{before} to {node}");
                });
                let joined = node != root && tree.first_link(node).is_some();
                assert_eq!(node != root && parts.joined(root, node), joined, "{root} to {node}");
            }
            assert!(kept.visited() <= graph.ends());
        }
        assert!(only > count, "{only} nodes on ways without another one");
        let mut near = graph.search(24);
        assert!(near.to(25).is_some() && near.visited() <= 15, "it looks no further than it has to");
    }

    #[test]
    fn a_node_with_one_link_needs_no_look_around_its_neighbor() {
        let graph = Graph::new(vec![true; 101], (1..=100).map(|leaf| arc(0, leaf, 1, 0)).collect());
        let mut search = graph.search(1);
        assert_eq!((search.to(2), search.links_to(100)), (Some(((2, 2, 0), 0)), Some(vec![0, 99])));
        assert_eq!(search.visited(), 1);
    }

    #[test]
    fn leaves_pass_nothing_on() {
        let graph = Graph::new(vec![true, false, true], vec![arc(0, 1, 1, 0), arc(1, 2, 1, 0)]);
        assert_eq!(graph.tree(0).links_to(1), Some(vec![0]));
        assert_eq!(graph.tree(0).links_to(2), None);
        assert_eq!(graph.tree(1).links_to(2), Some(vec![1]));
    }
}
