//! Routes that follow failures: after a link or a node went down or came back, every router gets the shortest paths of
//! the network as it is then.
//!
//! It stands for a routing protocol where none runs: nothing is flooded, and all routers have their new routes at the
//! same moment. Routes are given as a user gives static routes, so that they are written through the same drivers, and
//! only those that differ. Static routes of the description stay.

use super::Network;
use super::error::NetworkError;
use super::paths::Tree;
use super::problem::BuildProblem;
use super::spec::routing::RoutingSpec;
use base::diagnostic::Diagnostic;
use base::plane::NextHop;
use base::table::{Rows, Table};
use base::{Command, NodeId, Span, Time};
use engine::{Fault, FaultKind};
use std::collections::{BTreeMap, BTreeSet};

/// When routes are computed next, and what those in force know.
#[derive(Debug)]
pub struct Rerouting {
    /// From a change to the new routes.
    delay: Span,
    /// When routes are computed.
    due: BTreeSet<Time>,
    /// Links that the routes in force avoid, since they or a node at an end of them were down.
    avoided: BTreeSet<usize>,
    /// What was done.
    done: Vec<Computed>,
}

/// Routes that were computed once.
#[derive(Clone, Copy, Debug)]
struct Computed {
    at: Time,
    avoided: usize,
    routers: usize,
    set: usize,
    removed: usize,
}

base::table! {
    /// When routes were computed anew since something had failed or come back, and how much that changed; no rows if
    /// `routes` of the network is not `shortest`.
    pub struct ComputedRow in "computed_routes" key [] {
        /// When routers were given their new routes.
        time_s: Time = "s",
        /// Links that the new routes avoid.
        avoided: usize = "links",
        /// Routers of which a route changed.
        routers: usize = "routers",
        /// Routes that were put in, or led elsewhere than before.
        set: usize = "routes",
        /// Routes that were taken out, since nothing leads to their destination.
        removed: usize = "routes",
    }
}

impl Rerouting {
    /// Nothing has failed yet.
    pub fn new(spec: RoutingSpec) -> Rerouting {
        let (due, avoided) = (BTreeSet::new(), BTreeSet::new());
        Rerouting { delay: spec.delay(), due, avoided, done: Vec::new() }
    }
}

/// Times at which a fault takes a link or a node away, or brings one back.
fn changes(fault: &Fault) -> impl Iterator<Item = Time> {
    use FaultKind::*;
    let (begins, ends) = match fault.kind {
        Loss { .. } | Corruption { .. } | Duplication { .. } | Reordering { .. } | Delay { .. } => {
            (None, None)
        }
        RateLimit { .. } => (None, None),
        NodeRestart { down_for, .. } => (Some(fault.at), Some(fault.at + down_for)),
        _ => (Some(fault.at), fault.until),
    };
    [begins, ends].into_iter().flatten()
}

impl Network {
    /// When routes were computed anew.
    pub(super) fn computed_routes(&self) -> Table {
        let mut table = Rows::new();
        let done = self.rerouting.iter().flat_map(|rerouting| &rerouting.done);
        table.extend(done.map(|&Computed { at, avoided, routers, set, removed }| ComputedRow {
            time_s: at,
            avoided,
            routers,
            set,
            removed,
        }));
        table.finish()
    }

    /// Refuses to compute routes for routers that are elsewhere.
    pub(super) fn check_rerouting(&self) -> Result<(), Diagnostic> {
        let elsewhere = |node: &usize| self.facts(*node).is_own_router() && !self.is_local(*node);
        match (0..self.description.nodes.len()).find(elsewhere) {
            Some(node) if self.rerouting.is_some() => {
                let node = self.node_name(node).to_string();
                Err(Diagnostic::new(BuildProblem::RoutesElsewhere { node }).at("routes").on_key())
            }
            _ => Ok(()),
        }
    }

    /// Has routes computed some time after what a fault changes.
    pub(super) fn expect_routes(&mut self, fault: &Fault) {
        if let Some(rerouting) = &mut self.rerouting {
            rerouting.due.extend(changes(fault).map(|at| at + rerouting.delay));
        }
    }

    /// When routes are computed next, if that is no later than `until`.
    pub(super) fn next_routes(&self, until: Time) -> Option<Time> {
        self.rerouting.as_ref()?.due.first().copied().filter(|due| *due <= until)
    }

    /// Gives routers the routes of the network as it is now. To be called when the first time of those due is reached.
    pub(super) fn set_new_routes(&mut self) -> Result<(), NetworkError> {
        let avoided = self.unusable()?;
        let Some(rerouting) = &mut self.rerouting else { return Ok(()) };
        rerouting.due.pop_first();
        if rerouting.avoided == avoided {
            return Ok(());
        }
        let before = core::mem::replace(&mut rerouting.avoided, avoided.clone());
        let now = self.now();
        let mut done = Computed { at: now, avoided: avoided.len(), routers: 0, set: 0, removed: 0 };
        for node in 0..self.description.nodes.len() {
            let commands = self.changed_routes(node, &before, &avoided);
            done.routers += usize::from(!commands.is_empty());
            for command in commands {
                match command {
                    Command::RouteRemove { .. } | Command::Route6Remove { .. } => done.removed += 1,
                    _ => done.set += 1,
                }
                self.world.command(now, NodeId(node as u32), command)?;
            }
        }
        if let Some(rerouting) = &mut self.rerouting {
            rerouting.done.push(done);
        }
        Ok(())
    }

    /// The links that are down, or that lead to a node that is.
    fn unusable(&self) -> Result<BTreeSet<usize>, NetworkError> {
        let down = |node: usize| Ok::<_, NetworkError>(!self.world.node_is_up(NodeId(node as u32))?);
        let nodes = (0..self.description.nodes.len()).map(down).collect::<Result<Vec<bool>, _>>()?;
        let mut found = BTreeSet::new();
        for (index, link) in self.links.iter().enumerate() {
            if !self.world.link_is_up(link.id)? || link.ends().iter().any(|end| nodes[*end]) {
                found.insert(index);
            }
        }
        Ok(found)
    }

    /// What a router is told when links other than `before` are to be avoided.
    fn changed_routes(
        &self,
        node: usize,
        before: &BTreeSet<usize>,
        avoided: &BTreeSet<usize>,
    ) -> Vec<Command> {
        let mut commands = Vec::new();
        if self.router(node).is_none() {
            return commands;
        }
        let own: BTreeSet<_> =
            self.description.nodes[node].static_routes.iter().map(|route| route.prefix).collect();
        let tree = |without: &BTreeSet<usize>| self.graph.tree_over(node, |link| !without.contains(&link));
        if self.finds_routes(node) {
            // What it finds itself follows failures by itself.
        } else if let Some((old, new)) = both(before, avoided, tree) {
            let found = differences(self.routes_by(node, &old), self.routes_by(node, &new));
            commands.extend(found.into_iter().filter(|(prefix, _)| !own.contains(prefix)).map(
                |(prefix, next_hop)| match next_hop {
                    Some(next_hop) => Command::RouteSet { prefix, next_hop },
                    None => Command::RouteRemove { prefix },
                },
            ));
        }
        if !self.has_ipv6(node) {
            return commands;
        }
        let tree = |without: &BTreeSet<usize>| self.tree6(node, |link| !without.contains(&link));
        if let Some((old, new)) = both(before, avoided, tree) {
            let found = differences(self.routes6_by(node, &old), self.routes6_by(node, &new));
            commands.extend(found.into_iter().map(|(prefix, next_hop)| match next_hop {
                Some(next_hop) => Command::Route6Set { prefix, next_hop },
                None => Command::Route6Remove { prefix },
            }));
        }
        commands
    }
}

/// The trees without the links of `before` and without those of `after`, unless they are the same for certain: a tree
/// changes only if it loses a link, or if there is one that it did not have.
fn both(
    before: &BTreeSet<usize>,
    after: &BTreeSet<usize>,
    tree: impl Fn(&BTreeSet<usize>) -> Tree,
) -> Option<(Tree, Tree)> {
    let uses = |tree: &Tree, links: &BTreeSet<usize>| tree.links().any(|link| links.contains(&link));
    if before.is_subset(after) {
        let old = tree(before);
        return uses(&old, after).then(|| (old, tree(after)));
    }
    if after.is_subset(before) {
        let new = tree(after);
        return uses(&new, before).then(|| (tree(before), new));
    }
    Some((tree(before), tree(after)))
}

/// The prefixes that lead elsewhere, in their order, each with its new next hop.
fn differences<P: Ord + Copy>(old: Vec<(P, NextHop)>, new: Vec<(P, NextHop)>) -> Vec<(P, Option<NextHop>)> {
    // Of two routes to one prefix the one that is put in last stays.
    let old: BTreeMap<P, NextHop> = old.into_iter().collect();
    let new: BTreeMap<P, NextHop> = new.into_iter().collect();
    let gone = old.keys().filter(|prefix| !new.contains_key(prefix)).map(|prefix| (*prefix, None));
    let set = new.iter().filter(|(prefix, hop)| old.get(prefix) != Some(hop));
    let mut found: Vec<_> = gone.chain(set.map(|(prefix, hop)| (*prefix, Some(*hop)))).collect();
    found.sort_by_key(|(prefix, _)| *prefix);
    found
}
