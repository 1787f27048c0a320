//! Which routers are joined to each other.

use std::collections::BTreeMap;

/// Routers that are joined by those who meet.
pub(super) struct Parts {
    pub above: BTreeMap<usize, usize>,
}

impl Parts {
    pub fn new(nodes: impl Iterator<Item = usize>) -> Parts {
        Parts { above: nodes.map(|node| (node, node)).collect() }
    }

    /// Takes one in, as a part of its own if it is new.
    pub fn add(&mut self, node: usize) {
        self.above.entry(node).or_insert(node);
    }

    /// The first router of its part.
    pub fn top(&self, node: usize) -> usize {
        let mut here = node;
        while let Some(above) = self.above.get(&here).copied().filter(|above| *above != here) {
            here = above;
        }
        here
    }

    pub fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.top(one), self.top(other));
        self.above.insert(one.max(other), one.min(other));
    }

    /// Joins those of some nodes that are in one of the parts.
    pub fn join_known<'a>(&mut self, nodes: impl IntoIterator<Item = &'a usize>) {
        let nodes = nodes.into_iter().copied();
        let known: Vec<usize> = nodes.filter(|node| self.above.contains_key(node)).collect();
        known.windows(2).for_each(|pair| self.join(pair[0], pair[1]));
    }
}
