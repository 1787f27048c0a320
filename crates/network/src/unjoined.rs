//! Leaves of trees by LDP that never join, said before a run: on every way to them is a router that takes no part, or a
//! link on which labels are channels of ATM, which are given on demand (RFC 3035) and not to trees.

use super::Network;
use super::description::P2mpSpec;
use super::p2mp::of_tree;
use super::problem::AdviceProblem;
use super::spec::p2mp::TreeProtocol;
use super::ways::some_names;
use base::diagnostic::Diagnostic;
use std::collections::BTreeSet;

impl Network {
    /// Of each tree by LDP that has any: the leaves that no way without such a router leads to.
    pub(super) fn unjoined(&self) -> Vec<Diagnostic> {
        let trees = self.p2mp.iter().enumerate().filter(|(_, spec)| spec.protocol == TreeProtocol::Ldp);
        trees.filter_map(|(index, spec)| self.unjoined_of(index, spec)).collect()
    }

    fn unjoined_of(&self, index: usize, spec: &P2mpSpec) -> Option<Diagnostic> {
        let (mut joined, mut silent) = (BTreeSet::from([spec.root]), BTreeSet::new());
        let mut open = vec![spec.root];
        while let Some(node) = open.pop() {
            for link in self.graph.links_of(node) {
                let Some(next) = self.graph.beyond(link, node) else { continue };
                let is_of_cells = self.links.get(link).is_some_and(|link| link.spec.lc_atm.is_some());
                if self.passes_trees(next) && !is_of_cells {
                    if joined.insert(next) {
                        open.push(next);
                    }
                } else if self.facts(next).router {
                    silent.insert(next);
                }
            }
        }
        let lost = spec.leaves.iter().map(|(leaf, _)| *leaf).filter(|leaf| !joined.contains(leaf));
        let leaves = some_names(lost.map(|leaf| self.node_name(leaf)));
        let routers = some_names(silent.difference(&joined).map(|node| self.node_name(*node)));
        let is_any = !leaves.is_empty() && !routers.is_empty();
        let found = || Diagnostic::new(AdviceProblem::NeverJoins { leaves, routers }).at("leaves");
        is_any.then(|| of_tree(found(), index, spec))
    }

    /// Can a tree by LDP go through a node? Of routers of others that is not known.
    fn passes_trees(&self, node: usize) -> bool {
        let facts = self.facts(node);
        let joins = || self.description.nodes[node].protocols.spoken().any(|one| one.setup.joins_trees());
        facts.segment.is_some() || facts.router && (facts.foreign || joins())
    }
}
