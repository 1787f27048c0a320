//! What events leave without a way: LSPs without a fallback, and flows whose routes stay as they are.

use super::{Flow, Testbed};
use crate::problem::TrafficAdvice;
use crate::spec::event::{EventSpec, What};
use base::diagnostic::Diagnostic;
use core::net::IpAddr;
use network::spec::routing::RoutingSpec;
use network::ways::some_names;
use std::collections::{BTreeMap, BTreeSet};

/// Of so many failures it is said at most what they harm.
const SAID_MAX: usize = 100;

/// A link or a node that fails.
#[derive(Clone, Debug)]
pub(super) struct Harm {
    /// The place of the event.
    event: usize,
    link: Option<usize>,
    node: Option<usize>,
}

/// The failures among events, of those that fail again and again the first.
pub(super) fn of(events: &[EventSpec]) -> Vec<Harm> {
    let mut seen = BTreeSet::new();
    let harm = |(event, spec): (usize, &EventSpec)| {
        let what = spec.what();
        let (link, node) = match what {
            What::LinkDown(link) => (Some(link), None),
            What::NodeDown(node) | What::Restart(node) => (None, Some(node)),
            _ => return None,
        };
        seen.insert((link, node)).then_some(Harm { event, link, node })
    };
    events.iter().enumerate().filter_map(harm).take(SAID_MAX).collect()
}

impl Testbed {
    /// What events leave without a way, in their order.
    pub(super) fn harmed(&self) -> Vec<Diagnostic> {
        self.harms.iter().flat_map(|harm| self.harm(harm)).collect()
    }

    fn harm(&self, harm: &Harm) -> Vec<Diagnostic> {
        let links: BTreeSet<usize> = match (harm.link, harm.node) {
            (Some(link), _) => [link].into(),
            (None, Some(node)) => self.graph().links_of(node).collect(),
            (None, None) => return Vec::new(),
        };
        let nodes: BTreeSet<usize> = harm.node.into_iter().collect();
        let event = match (harm.link, harm.node) {
            (Some(link), _) => format!("cuts {}", self.link_name(link)),
            (_, node) => format!("takes '{}' down", self.node_name(node.unwrap_or_default())),
        };
        let mut said = Vec::new();
        let stranded = self.stranded_lsps(&links, &nodes);
        if !stranded.is_empty() {
            let names = some_names(stranded.iter().map(|group| self.lsps()[*group].spec.name.as_str()));
            let one = stranded.len() == 1;
            let lsps = if one { format!("lsp {names} goes") } else { format!("lsps {names} go") };
            let found = TrafficAdvice::Stranded { event: event.clone(), lsps };
            said.push(Diagnostic::new(found).at(harm.event).at("events"));
        }
        let follows: Option<RoutingSpec> = self.description().routing;
        let lost = if follows.is_none() { self.cut_off(&links, &nodes) } else { Vec::new() };
        if !lost.is_empty() {
            let names = some_names(lost.iter().map(|flow| flow.spec.name.as_str()));
            let one = lost.len() == 1;
            let flows = if one { format!("flow {names} loses") } else { format!("flows {names} lose") };
            said.push(
                Diagnostic::new(TrafficAdvice::RoutesStay { event, flows }).at(harm.event).at("events"),
            );
        }
        said
    }

    /// Flows by routes over what fails that have another way. Those that an LSP may take are not meant.
    fn cut_off(&self, links: &BTreeSet<usize>, nodes: &BTreeSet<usize>) -> Vec<&Flow> {
        let mut trees = BTreeMap::new();
        let is_lost = |flow: &&Flow| {
            let (from, to) = (flow.spec.from, flow.spec.to);
            if flow.spec.over.is_some() || from == to || nodes.contains(&from) || nodes.contains(&to) {
                return false;
            }
            let (before, after) = trees.entry(from).or_insert_with(|| {
                let graph = self.graph();
                (graph.tree(from), graph.tree_over(from, |link| !links.contains(&link)))
            });
            let has_other = after.first_link(to).is_some();
            let way = before.links_to(to).unwrap_or_default();
            // Routes that protocols find follow failures.
            let mut ends = way.iter().flat_map(|link| self.links()[*link].ends());
            let follows = |node: usize| self.finds_routes(node) || !self.facts(node).is_own_router();
            has_other
                && way.iter().any(|link| links.contains(link))
                && !ends.all(follows)
                && !self.may_be_carried(flow)
        };
        self.flows.iter().filter(is_lost).collect()
    }

    fn may_be_carried(&self, flow: &Flow) -> bool {
        let to = self.address_of(&flow.spec, flow.links[1]);
        self.lsps().iter().map(|group| &group.spec).any(|spec| {
            let carries = match to {
                IpAddr::V4(to) => spec.carries.iter().any(|prefix| prefix.contains(to)),
                IpAddr::V6(to) => spec.carries6.iter().any(|prefix| prefix.contains(to)),
            };
            carries || !spec.filters.is_empty()
        })
    }
}
