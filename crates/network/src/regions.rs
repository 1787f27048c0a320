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
        // Where ends do not agree, which is said, each may be meant to be in the region of any other.
        let mut meant: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        let mut pieces = Parts::new(core::iter::empty());
        for ends in meetings {
            let all: BTreeSet<usize> = ends.iter().map(|end| end.node).collect();
            for end in ends {
                let Some(region) = end.wanted(what) else { continue };
                routers.entry(region).or_default().insert(end.node);
                meant.entry(region).or_default().extend(&all);
            }
            if ends.iter().any(|end| end.wanted(what) == Some(center)) {
                all.iter().for_each(|node| pieces.add(*node));
                pieces.join_known(&all);
            }
        }
        for &[one, other] in &joined.pairs {
            for all in [&mut routers, &mut meant] {
                all.entry(center).or_default().extend([one, other]);
            }
            [one, other].into_iter().for_each(|node| pieces.add(node));
            pieces.join(one, other);
        }
        for (node, region) in &joined.astray {
            meant.entry(center).or_default().insert(*node);
            pieces.add(*node);
            pieces.join_known(meant.get(region.as_str()).into_iter().flatten().chain([node]));
        }
        around.iter().for_each(|one| pieces.join_known(&one.nodes));
        let disputed = Disputed::new(meetings, what);
        let own = protocol.to_string();
        let inside = meant.get(center).cloned().unwrap_or_default();
        let mut said = Vec::new();
        for node in routers.values().flatten().copied().collect::<BTreeSet<_>>() {
            let of: Vec<&str> =
                routers.iter().filter(|(_, all)| all.contains(&node)).map(|one| *one.0).collect();
            if disputed.are_several(&of) && !inside.contains(&node) {
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
        let is_apart = |region: &str| {
            let mut same = meant.iter().filter(|(other, _)| disputed.are_one(region, other));
            same.all(|(_, all)| all.is_disjoint(&inside)) && !around.iter().any(|one| may_join(region, one))
        };
        let is_known = !said.is_empty();
        for (region, all) in outside.filter(|(region, _)| !is_known && is_apart(region)) {
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

/// Regions of which ends of one link do not agree whether it is in the one or in the other: that is said, and either
/// may be meant.
struct Disputed<'a> {
    known: BTreeMap<&'a str, usize>,
    parts: Parts,
}

impl<'a> Disputed<'a> {
    fn new(meetings: &'a [Vec<End<'a>>], what: &str) -> Disputed<'a> {
        let regions = |ends: &'a [End<'a>]| ends.iter().filter_map(|end| end.wanted(what));
        let all: BTreeSet<&str> = meetings.iter().flat_map(|ends| regions(ends)).collect();
        let known: BTreeMap<&str, usize> = all.into_iter().zip(0..).collect();
        let mut parts = Parts::new(known.values().copied());
        for ends in meetings {
            let here: Vec<usize> = regions(ends).map(|region| known[region]).collect();
            parts.join_known(&here);
        }
        Disputed { known, parts }
    }

    /// The first of the regions that may be meant in place of one.
    fn first(&self, region: &str) -> Option<usize> {
        self.known.get(region).map(|number| self.parts.top(*number))
    }

    fn are_one(&self, one: &str, other: &str) -> bool {
        one == other || self.first(one).is_some_and(|first| Some(first) == self.first(other))
    }

    fn are_several(&self, regions: &[&str]) -> bool {
        regions.iter().any(|region| !self.are_one(region, regions[0]))
    }
}
