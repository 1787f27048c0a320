//! Point-to-multipoint LSPs: from names and nodes to trees with explicit routes.

use super::Network;
use super::description::{HopSpec, P2mpSpec};
use super::error::NetworkError;
use super::lsps::Ends;
use super::problem::LspProblem;
use super::spec::p2mp::TreeProtocol;
use super::spec::protocols::Spoken;
use base::diagnostic::{Diagnostic, Step};
use base::plane::GroupKey;
use base::{Command, NodeId};
use control::rsvp;
use control::rsvp::command::PathRequest;
use core::net::IpAddr;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The same diagnostic, seen from the top of the description.
pub(super) fn of_tree(error: Diagnostic, index: usize, spec: &P2mpSpec) -> Diagnostic {
    error.at(Step::Called(index, format!("p2mp '{}'", spec.name))).at("p2mp")
}

/// P2MP ID and tunnel id of a tree at a place: unique at the root, as RFC 4875, 19.1.1, wants it, and in the network,
/// so that people find it.
pub(super) fn tree_id(index: usize) -> (u32, u16) {
    (index as u32 + 1, 1)
}

impl Network {
    /// The point-to-multipoint LSPs, in the order in which they were added.
    pub fn p2mp(&self) -> &[P2mpSpec] {
        &self.p2mp
    }

    /// Adds a point-to-multipoint LSP, and has its root signal it.
    pub fn add_p2mp(&mut self, spec: P2mpSpec) -> Result<usize, NetworkError> {
        let index = self.p2mp.len();
        self.set_tree(index, &spec, &[])?;
        self.p2mp.push(spec);
        Ok(index)
    }

    /// Gives a point-to-multipoint LSP other leaves, now: those that are new are grafted, and those that are missing
    /// pruned.
    pub fn set_leaves(
        &mut self,
        index: usize,
        leaves: Vec<(usize, Vec<HopSpec>)>,
    ) -> Result<(), NetworkError> {
        let Some(known) = self.p2mp.get(index) else {
            let count = self.p2mp.len();
            return Err(Diagnostic::new(LspProblem::GroupNumber { group: index, count }).into());
        };
        let spec = P2mpSpec { leaves, ..known.clone() };
        self.change_p2mp(index, spec)
    }

    /// Changes a point-to-multipoint LSP, now; its name, its root and its protocol stay. Other leaves are grafted and
    /// pruned; another bandwidth, or another route of a leaf, takes an LSP of its own, which replaces the one before
    /// when it is there.
    pub fn change_p2mp(&mut self, index: usize, spec: P2mpSpec) -> Result<(), NetworkError> {
        let Some(known) = self.p2mp.get(index) else {
            let count = self.p2mp.len();
            return Err(Diagnostic::new(LspProblem::GroupNumber { group: index, count }).into());
        };
        let before: Vec<usize> = known.leaves.iter().map(|(leaf, _)| *leaf).collect();
        let (name, root, protocol, lsp_id) = (known.name.clone(), known.root, known.protocol, known.lsp_id);
        let spec = P2mpSpec { name, root, protocol, lsp_id, ..spec };
        self.set_tree(index, &spec, &before)?;
        self.p2mp[index] = spec;
        Ok(())
    }

    /// Has routers of this process do what a tree needs that had these leaves before.
    fn set_tree(&mut self, index: usize, spec: &P2mpSpec, before: &[usize]) -> Result<(), NetworkError> {
        self.check_watched(spec).map_err(|error| of_tree(error, index, spec))?;
        let orders = match spec.protocol {
            TreeProtocol::RsvpTe => self.tree_command(index, spec).map(|command| vec![(spec.root, command)]),
            TreeProtocol::Ldp => self.tree_joins(index, spec, before),
        };
        for (node, command) in orders.map_err(|error| of_tree(error, index, spec))? {
            if self.is_local(node) {
                self.world.command(self.now(), NodeId(node as u32), command)?;
            }
        }
        Ok(())
    }

    /// Do root and leaves speak BFD, if a tree wants it? All of them do that were there from the beginning.
    fn check_watched(&self, spec: &P2mpSpec) -> Result<(), Diagnostic> {
        let ends = spec.leaves.iter().map(|(leaf, _)| *leaf).chain([spec.root]);
        for node in ends.filter(|_| spec.watch.is_some()) {
            let end = &self.description.nodes[node];
            let speaks = end.facts().is_own_transit() && self.watched_ends.needs_bfd(&self.description, node);
            if !speaks && !end.facts().foreign {
                return Err(Diagnostic::new(LspProblem::NoBfd { node: end.name.clone() }).at("bfd").on_key());
            }
        }
        Ok(())
    }

    /// What the root is told. Paths begin at the LSP.
    fn tree_command(&self, index: usize, spec: &P2mpSpec) -> Result<Command, Diagnostic> {
        let root = &self.description.nodes[spec.root];
        let (node, called) = (root.name.clone(), root.facts().called.to_string());
        if root.facts().foreign {
            return Err(Diagnostic::new(LspProblem::ForeignHead { node, called }).at("root"));
        }
        if !root.facts().router {
            return Err(Diagnostic::new(LspProblem::NoHead { node, called }).at("root"));
        }
        let mut leaves = Vec::with_capacity(spec.leaves.len());
        let mut ways: Vec<(usize, Vec<usize>)> = Vec::new();
        for (place, (leaf, route)) in spec.leaves.iter().enumerate() {
            let placed = |error: Diagnostic| error.at(place).at("leaves");
            self.check_leaf(*leaf).map_err(placed)?;
            let ends = Ends { from: spec.root, to: *leaf, loose: spec.loose };
            let name = &self.description.nodes[*leaf].name;
            let along = match route.is_empty() {
                true => {
                    let along = self.graph.search(spec.root).links_to(*leaf);
                    let (from, to) = (node.clone(), name.clone());
                    let along =
                        along.ok_or_else(|| placed(Diagnostic::new(LspProblem::NoPath { from, to })))?;
                    self.check_links(&along).map_err(placed)?;
                    None
                }
                false => {
                    let along = self.resolve_way(ends, route);
                    let along = along.map_err(|error| error.at(name.as_str()).at("routes"))?;
                    ways.extend(along.clone().map(|along| (*leaf, along)));
                    along
                }
            };
            let route =
                if route.is_empty() { Vec::new() } else { self.hops_of(ends, route, along.as_deref()) };
            leaves.push(rsvp::Leaf { address: self.loopback(*leaf), route });
        }
        self.check_meeting(spec, &ways)?;
        self.check_groups(index, spec)?;
        let key = |group: &IpAddr| GroupKey { group: *group, source: None };
        let tree = rsvp::P2mpSpec {
            name: spec.name.clone(),
            p2mp_id: tree_id(index).0,
            tunnel_id: tree_id(index).1,
            leaves,
            signalling: spec.signalling,
            shape: spec.tree,
            path: spec.path.as_ref().map_or_else(PathRequest::default, |path| self.path_request(path)),
            bandwidth: spec.bandwidth,
            setup_priority: spec.setup_priority,
            holding_priority: spec.holding_priority,
            style: spec.style,
            record_route: spec.record_route,
            protection: spec.protection,
            watch: spec.watch,
            groups: spec.groups.iter().map(key).collect(),
            carries: spec.carries.clone(),
            filters: spec.filters.clone(),
            retry_first: spec.retry_first,
            retry_max: spec.retry_max,
        };
        Ok(rsvp::Command::P2mpSet(Arc::new(tree)).into())
    }

    /// A leaf is a router that speaks RSVP-TE, or a raw port.
    fn check_leaf(&self, leaf: usize) -> Result<(), Diagnostic> {
        let node = &self.description.nodes[leaf];
        let (name, facts) = (node.name.clone(), node.facts());
        let called = facts.called.to_string();
        if !facts.signals {
            return Err(Diagnostic::new(match facts.router {
                true => LspProblem::SilentTail { node: name, called },
                false => LspProblem::NoTail { node: name, called },
            }));
        }
        if facts.foreign && node.router_id.is_none() {
            return Err(Diagnostic::new(LspProblem::ForeignTail { node: name }));
        }
        Ok(())
    }

    /// Refuses groups that another protocol of the root or of a leaf brings, too: a router takes packets of a group
    /// from the tree that came first, and would never use the other.
    pub(super) fn check_groups(&self, index: usize, spec: &P2mpSpec) -> Result<(), Diagnostic> {
        let ends = || core::iter::once(spec.root).chain(spec.leaves.iter().map(|(leaf, _)| *leaf));
        for (_, other) in self.p2mp.iter().enumerate().filter(|(place, _)| *place != index) {
            let is_end =
                |node: &usize| other.root == *node || other.leaves.iter().any(|(leaf, _)| leaf == node);
            let both = other.protocol != spec.protocol && !other.groups.is_empty() && !spec.groups.is_empty();
            if let Some(node) = ends().filter(|_| both).find(is_end) {
                let (node, other) = (self.description.nodes[node].name.clone(), other.name.clone());
                return Err(Diagnostic::new(LspProblem::GroupsOfBoth { node, other }).at("group"));
            }
        }
        let ends = ends();
        for (node, group) in ends.flat_map(|node| spec.groups.iter().map(move |group| (node, *group))) {
            let node = &self.description.nodes[node];
            let brings = |spoken: &&Spoken| spoken.setup.brings(group) == Some(true);
            if let Some(other) = node.protocols.spoken().find(brings) {
                let (node, group, protocol) =
                    (node.name.clone(), group.to_string(), other.protocol.to_string());
                return Err(Diagnostic::new(LspProblem::GroupTaken { node, group, protocol }).at("group"));
            }
        }
        Ok(())
    }

    /// Refuses explicit routes that come to one router by two ways and go on by the same link: the branches would meet
    /// again (RFC 4875, 18), unless routers are told to let them.
    fn check_meeting(&self, spec: &P2mpSpec, ways: &[(usize, Vec<usize>)]) -> Result<(), Diagnostic> {
        let mut before: std::collections::BTreeMap<(usize, usize), Option<usize>> = Default::default();
        let mut told: BTreeSet<(usize, usize)> = BTreeSet::new();
        for (leaf, along) in ways {
            let (mut at, mut came) = (spec.root, None);
            for &link in along {
                let is_other = before.get(&(at, link)).is_some_and(|known| *known != came);
                let allows = self.description.nodes[at].rsvp.remerge == rsvp::Remerge::Allow;
                if is_other && !allows && told.insert((at, link)) {
                    let [node, leaf] = [at, *leaf].map(|node| self.description.nodes[node].name.clone());
                    let problem = Diagnostic::new(LspProblem::WaysMeet { node });
                    return Err(problem.at(leaf.as_str()).at("routes"));
                }
                before.entry((at, link)).or_insert(came);
                at = self.graph.beyond(link, at).unwrap_or(at);
                came = Some(link);
            }
        }
        Ok(())
    }
}
