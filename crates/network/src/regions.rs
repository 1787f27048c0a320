//! Regions of a protocol that the one in the center does not join.

use super::Network;
use super::joins::Joined;
use super::meeting::End;
use super::parts::Parts;
use super::place::Place;
use super::problem::AdviceProblem;
use super::ways::some_names;
use base::ProtocolId;
use base::diagnostic::Diagnostic;
use std::collections::{BTreeMap, BTreeSet};

/// How routers meet.
#[derive(Clone, Copy)]
pub(super) struct Ways<'a> {
    /// By links and segments.
    pub meetings: &'a [Vec<End<'a>>],
    /// Through regions, as if a link led there.
    pub joined: &'a Joined,
    /// Perhaps by routers of others.
    pub around: &'a [Around],
}

/// What is around a group of routers of others.
#[derive(Default)]
pub(super) struct Around {
    /// The nodes that meet one of them.
    pub nodes: BTreeSet<usize>,
    /// Where that is.
    pub places: BTreeSet<usize>,
    /// Does one of them do what nobody here knows? Others are set up to be neighbours of those around them.
    pub is_open: bool,
}

impl Network {
    /// Regions that the one in the center does not join: routers in several others, regions that do not touch it, and
    /// its own pieces.
    pub(super) fn regions(
        &self,
        protocol: ProtocolId,
        what: &'static str,
        center: &str,
        ways: Ways<'_>,
    ) -> Vec<Diagnostic> {
        let Ways { meetings, joined, around } = ways;
        let mut routers: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        let mut pieces = Parts::new(core::iter::empty());
        for ends in meetings {
            let mut before = None;
            for end in ends {
                let Some(region) = end.wanted(what) else { continue };
                routers.entry(region).or_default().insert(end.node);
                if region == center {
                    pieces.above.entry(end.node).or_insert(end.node);
                    pieces.join(before.unwrap_or(end.node), end.node);
                    before = Some(end.node);
                }
            }
        }
        for &[one, other] in &joined.pairs {
            routers.entry(center).or_default().extend([one, other]);
            for node in [one, other] {
                pieces.above.entry(node).or_insert(node);
            }
            pieces.join(one, other);
        }
        around.iter().for_each(|one| pieces.join_known(&one.nodes));
        let own = protocol.to_string();
        let inside = routers.get(center).cloned().unwrap_or_default();
        let mut said = Vec::new();
        for node in routers.values().flatten().copied().collect::<BTreeSet<_>>() {
            let of: Vec<&str> =
                routers.iter().filter(|(_, all)| all.contains(&node)).map(|one| *one.0).collect();
            if of.len() > 1 && !inside.contains(&node) {
                let (protocol, own) = (own.clone(), of.join(" and "));
                let stray = AdviceProblem::Stray { protocol, what, own, center: center.to_string() };
                said.push(stray.of_node(&self.description, node));
            }
        }
        let outside = routers.iter().filter(|(region, _)| **region != center && routers.len() > 1);
        // Routers of others may join a region to the center: those that are in both or have a way to it through another
        // region, and those of which nothing is known.
        let may_join = |region: &str, one: &Around| {
            let met = one.places.iter().flat_map(|place| &meetings[*place]);
            let regions: BTreeSet<&str> = met.filter_map(|end| end.wanted(what)).collect();
            let leads = |known: &&str| *known == center || joined.beyond.contains(*known);
            regions.contains(region) && (one.is_open || regions.iter().any(leads))
        };
        let is_apart = |region: &str, all: &BTreeSet<usize>| {
            all.is_disjoint(&inside) && !around.iter().any(|one| may_join(region, one))
        };
        let is_known = !said.is_empty();
        for (region, all) in outside.filter(|(region, all)| !is_known && is_apart(region, all)) {
            let names = some_names(all.iter().map(|node| self.node_name(*node)));
            let (protocol, center) = (own.clone(), center.to_string());
            let apart =
                AdviceProblem::Apart { protocol, what, own: (*region).to_string(), routers: names, center };
            said.push(Diagnostic::new(apart));
        }
        if let Some((some, others)) = self.two_parts(&pieces).filter(|_| routers.len() > 1) {
            let (protocol, center) = (own, center.to_string());
            said.push(Diagnostic::new(AdviceProblem::Pieces { protocol, what, center, some, others }));
        }
        said
    }

    /// What is around routers of others, for each group of those that meet each other: they may join what is around
    /// them.
    pub(super) fn around_foreign(&self, places: &[Vec<(usize, usize)>]) -> Vec<Around> {
        let is_foreign = |node: &usize| self.facts(*node).router && self.facts(*node).foreign;
        let node = |&(index, side): &(usize, usize)| self.links[index].ends()[side];
        let at: Vec<Vec<usize>> = places.iter().map(|ends| ends.iter().map(node).collect()).collect();
        let mut groups = Parts::new((0..self.description.nodes.len()).filter(is_foreign));
        at.iter().for_each(|all| groups.join_known(all));
        let mut around: BTreeMap<usize, Around> = BTreeMap::new();
        for (place, all) in at.iter().enumerate() {
            for other in all.iter().copied().filter(is_foreign) {
                let group = around.entry(groups.top(other)).or_default();
                group.nodes.extend(all.iter().filter(|node| !is_foreign(node)));
                group.places.insert(place);
                group.is_open |= !self.facts(other).kernel || self.facts(other).configured;
            }
        }
        around.into_values().collect()
    }
}
