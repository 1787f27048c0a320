//! Point-to-multipoint LSPs of LDP: what their roots and leaves are told.

use super::Network;
use super::description::P2mpSpec;
use super::problem::LspProblem;
use super::spec::p2mp::TreeProtocol;
use base::Command;
use base::diagnostic::{At, Diagnostic};
use base::plane::GroupKey;
use control::ldp::multipoint::command::{Command as Order, TreeSpec};
use core::net::IpAddr;
use std::sync::Arc;

/// The generic LSP identifier of a tree at a place.
pub(super) fn lsp_id(index: usize, spec: &P2mpSpec) -> u32 {
    spec.lsp_id.unwrap_or(index as u32 + 1)
}

impl Network {
    /// What routers are told, by their places: the root what packets take it, leaves that are new to join, and those of
    /// `before` that are leaves no more to leave. Paths begin at the LSP.
    pub(super) fn tree_joins(
        &self,
        index: usize,
        spec: &P2mpSpec,
        before: &[usize],
    ) -> Result<Vec<(usize, Command)>, Diagnostic> {
        self.check_root(index, spec)?;
        for (place, (leaf, _)) in spec.leaves.iter().enumerate() {
            self.check_joining(spec, *leaf).map_err(|error| error.at(place).at("leaves"))?;
        }
        self.check_groups(index, spec)?;
        let (root, lsp_id) = (self.loopback(spec.root), lsp_id(index, spec));
        let key = |group: &IpAddr| GroupKey { group: *group, source: None };
        let tree = TreeSpec {
            name: spec.name.clone(),
            lsp_id,
            groups: spec.groups.iter().map(key).collect(),
            carries: spec.carries.clone(),
            filters: spec.filters.clone(),
            watch: spec.watch,
        };
        let is_own = |node: &usize| !self.facts(*node).foreign;
        let is_leaf = |node: &usize| spec.leaves.iter().any(|(leaf, _)| leaf == node);
        let leaves = spec.leaves.iter().map(|(leaf, _)| *leaf);
        let joining = leaves.filter(|leaf| is_own(leaf) && !before.contains(leaf));
        let leaving = before.iter().copied().filter(|leaf| is_own(leaf) && !is_leaf(leaf));
        let join = |leaf| (leaf, Order::Join { name: spec.name.clone(), root, lsp_id }.into());
        let leave = |leaf| (leaf, Order::Leave { root, lsp_id }.into());
        let begin = Some(spec.root).filter(is_own).map(|root| (root, Order::TreeSet(Arc::new(tree)).into()));
        Ok(begin.into_iter().chain(joining.map(join)).chain(leaving.map(leave)).collect())
    }

    /// The root is a router that speaks LDP, or somebody else's, which is told elsewhere what takes the tree.
    fn check_root(&self, index: usize, spec: &P2mpSpec) -> Result<(), Diagnostic> {
        let (root, facts) = (&self.description.nodes[spec.root], self.facts(spec.root));
        let (node, called) = (root.name.clone(), facts.called.to_string());
        if !facts.router {
            return Err(Diagnostic::new(LspProblem::NoHead { node, called }).at("root"));
        }
        if facts.foreign && root.router_id.is_none() {
            return Err(Diagnostic::new(LspProblem::ForeignTail { node }).at("root"));
        }
        let said = [("carries", !spec.carries.is_empty()), ("filters", !spec.filters.is_empty())];
        if let Some((key, _)) = said.into_iter().find(|(_, is_said)| facts.foreign && *is_said) {
            return Err(Diagnostic::new(LspProblem::ForeignHead { node, called }).at(key));
        }
        self.check_speaks(spec.root).at("root")?;
        let alike = |(place, other): &(usize, &P2mpSpec)| {
            let is_other = *place != index && other.protocol == TreeProtocol::Ldp && other.root == spec.root;
            is_other && lsp_id(*place, other) == lsp_id(index, spec)
        };
        match self.p2mp.iter().enumerate().find(alike) {
            Some((_, other)) => {
                let (lsp_id, other) = (lsp_id(index, spec), other.name.clone());
                Err(Diagnostic::new(LspProblem::LspIdTwice { lsp_id, other }).at("lsp_id").on_key())
            }
            None => Ok(()),
        }
    }

    /// A leaf is a router that speaks LDP, or somebody else's, and there is a way to it.
    fn check_joining(&self, spec: &P2mpSpec, leaf: usize) -> Result<(), Diagnostic> {
        let facts = self.facts(leaf);
        let node = self.description.nodes[leaf].name.clone();
        if !facts.router {
            return Err(LspProblem::NoTail { node, called: facts.called.to_string() }.into());
        }
        self.check_speaks(leaf)?;
        if self.graph.search(spec.root).links_to(leaf).is_none() {
            let from = self.description.nodes[spec.root].name.clone();
            return Err(LspProblem::NoPath { from, to: node }.into());
        }
        Ok(())
    }

    fn check_speaks(&self, node: usize) -> Result<(), Diagnostic> {
        let spec = &self.description.nodes[node];
        let joins = || spec.protocols.spoken().any(|one| one.setup.joins_trees());
        match spec.facts().foreign || joins() {
            true => Ok(()),
            false => Err(LspProblem::NoTrees { node: spec.name.clone() }.into()),
        }
    }
}
