//! Where LSPs that ask for protection (RFC 4090) do not get it, said before a run: links without a second way, routers
//! without a bypass tunnel, and routers that can't compute detours.

use super::Network;
use super::description::LspSpec;
use super::lsps::Ends;
use super::p2mp::of_tree;
use super::paths::Tree;
use super::place::Place;
use super::problem::AdviceProblem;
use super::spec::protection::ProtectionMode;
use base::diagnostic::Diagnostic;
use std::collections::{BTreeMap, BTreeSet};

/// Why nothing leads an LSP around a link, seen from the router before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Lack {
    /// No other way leads on, or it shares a risk group with the link.
    SecondWay,
    /// The router makes no bypass tunnels, and none is declared.
    Bypass,
    /// The router computes no paths, and so no detours.
    Detour,
    /// No other way leads from end to end, for a standby.
    Standby,
}

/// A link as an LSP leaves a router by it: the router before, the link, and the router behind.
type Leaving = (usize, usize, usize);

impl Network {
    /// Links of LSPs with protection that no bypass tunnel or detour can lead around: each once, at the first of the
    /// LSPs.
    /// Looked at are explicit routes of first preference, and else the shortest paths.
    pub(super) fn unprotected(&self) -> Vec<Diagnostic> {
        let bypass = |spec: &LspSpec| self.guarded_link(spec).map(|link| (spec.from, link));
        let declared: BTreeSet<_> = self.lsps.iter().filter_map(|group| bypass(&group.spec)).collect();
        let mut trees: BTreeMap<usize, Tree> = BTreeMap::new();
        let mut around: BTreeMap<(usize, usize), Tree> = BTreeMap::new();
        let mut lacking: BTreeMap<(Leaving, Lack), Vec<usize>> = BTreeMap::new();
        for (index, group) in
            self.lsps.iter().enumerate().filter(|(_, group)| group.spec.protection.is_some())
        {
            let links = match &group.links {
                Some(links) => links.clone(),
                None => self.shortest(group.spec.from, group.spec.to, &mut trees),
            };
            let way = self.leavings(group.spec.from, &links);
            for (place, &leaving) in way.iter().enumerate() {
                let by_detour = group.spec.protection.is_some_and(|asked| asked.one_to_one);
                if !by_detour && declared.contains(&(leaving.0, leaving.1)) {
                    continue;
                }
                if let Some(lack) = self.lack(leaving, &way[place..], by_detour, &mut around) {
                    lacking.entry((leaving, lack)).or_default().push(index);
                }
            }
        }
        self.without_standby(&mut trees, &mut lacking);
        let of_lsps = lacking.into_iter().map(|((leaving, lack), lsps)| {
            let others = others(&lsps);
            let problem = self.problem_of(leaving, lack, others);
            problem.of_lsp(lsps[0], &self.lsps[lsps[0]].spec)
        });
        let mut said: Vec<Diagnostic> = of_lsps.collect();
        said.extend(self.unprotected_trees(&declared, &mut trees, &mut around));
        said
    }

    /// Links that all ways of an LSP have in common, of which one is to stand by: the first of them.
    fn without_standby(
        &self,
        trees: &mut BTreeMap<usize, Tree>,
        lacking: &mut BTreeMap<(Leaving, Lack), Vec<usize>>,
    ) {
        let stands_by = |spec: &LspSpec| spec.path.as_ref().is_some_and(|path| path.standby.is_some());
        for (index, group) in self.lsps.iter().enumerate().filter(|(_, group)| stands_by(&group.spec)) {
            let (from, to) = (group.spec.from, group.spec.to);
            let links = self.shortest(from, to, trees);
            let way = self.leavings(from, &links);
            let is_alone = |leaving: &&Leaving| {
                self.graph.tree_over(from, |other| other != leaving.1).first_link(to).is_none()
            };
            if let Some(leaving) = way.iter().find(is_alone) {
                lacking.entry((*leaving, Lack::Standby)).or_default().push(index);
            }
        }
    }

    /// The same of trees, whose leaves all have to come through the next router.
    fn unprotected_trees(
        &self,
        declared: &BTreeSet<(usize, usize)>,
        trees: &mut BTreeMap<usize, Tree>,
        around: &mut BTreeMap<(usize, usize), Tree>,
    ) -> Vec<Diagnostic> {
        let mut lacking: BTreeMap<(Leaving, Lack), BTreeSet<usize>> = BTreeMap::new();
        for (index, spec) in self.p2mp.iter().enumerate().filter(|(_, spec)| spec.protection.is_some()) {
            for (leaf, route) in &spec.leaves {
                let ends = Ends { from: spec.root, to: *leaf, loose: spec.loose };
                let along =
                    (!route.is_empty()).then(|| self.resolve_way(ends, route).ok().flatten()).flatten();
                let links = along.unwrap_or_else(|| self.shortest(spec.root, *leaf, trees));
                for leaving in self.leavings(spec.root, &links) {
                    if declared.contains(&(leaving.0, leaving.1)) {
                        continue;
                    }
                    if let Some(lack) = self.lack(leaving, &[leaving], false, around) {
                        lacking.entry((leaving, lack)).or_default().insert(index);
                    }
                }
            }
        }
        let said = |((leaving, lack), found): (_, BTreeSet<usize>)| {
            let found: Vec<usize> = found.into_iter().collect();
            let problem = self.problem_of(leaving, lack, others(&found));
            of_tree(problem.into(), found[0], &self.p2mp[found[0]])
        };
        lacking.into_iter().map(said).collect()
    }

    fn shortest(&self, from: usize, to: usize, trees: &mut BTreeMap<usize, Tree>) -> Vec<usize> {
        trees.entry(from).or_insert_with(|| self.graph.tree(from)).links_to(to).unwrap_or_default()
    }

    fn leavings(&self, from: usize, links: &[usize]) -> Vec<Leaving> {
        let mut at = from;
        let step = |&link: &usize| {
            let (before, next) = (at, self.graph.beyond(link, at)?);
            at = next;
            Some((before, link, next))
        };
        links.iter().map_while(step).collect()
    }

    /// What is missing to lead an LSP around the first link of `rest`.
    fn lack(
        &self,
        leaving: Leaving,
        rest: &[Leaving],
        by_detour: bool,
        around: &mut BTreeMap<(usize, usize), Tree>,
    ) -> Option<Lack> {
        let (before, link, _) = leaving;
        if !self.facts(before).is_own_router() {
            return None;
        }
        let risks = &self.links[link].spec.srlg;
        let survives = |other: usize| {
            other != link && !self.links[other].spec.srlg.iter().any(|group| risks.contains(group))
        };
        let tree = around.entry((before, link)).or_insert_with(|| self.graph.tree_over(before, survives));
        if !rest.iter().any(|&(_, _, further)| tree.first_link(further).is_some()) {
            return Some(Lack::SecondWay);
        }
        let node = &self.description.nodes[before];
        if by_detour {
            return (!node.protocols.know_links()).then_some(Lack::Detour);
        }
        (node.rsvp.protection != ProtectionMode::Facility).then_some(Lack::Bypass)
    }

    fn problem_of(&self, (before, _, next): Leaving, lack: Lack, others: String) -> AdviceProblem {
        let [a, b] = [before, next].map(|node| self.node_name(node).to_string());
        match lack {
            Lack::SecondWay => AdviceProblem::NoSecondWay { a, b, others },
            Lack::Bypass => AdviceProblem::NoBypass { a, b, others },
            Lack::Detour => AdviceProblem::NoDetour { a, b, others },
            Lack::Standby => AdviceProblem::NoStandbyWay { a, b, others },
        }
    }
}

/// How many more there are than the first.
fn others(all: &[usize]) -> String {
    match all.len() {
        1 => String::new(),
        more => format!(" and {} more", more - 1),
    }
}
