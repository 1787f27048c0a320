//! Nodes that will refuse what an LSP says of behaviours, on the ways that its Path takes by its routes, or by those of
//! the network.
//!
//! Nothing more is known before a network runs: routes may change, and somebody else's routers do as they like. So this
//! is said, and not refused.

use super::Network;
use super::description::{HopSpec, LspSpec, NodeSpec};
use super::problem::AdviceProblem;
use base::diagnostic::Diagnostic;
use base::{ELsp, LLsp, LspDiffServ, Phb, PhbSet};

/// What a node has against the DIFFSERV object of a Path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// RFC 3270, 5.4: it does not know the object.
    Unknown,
    /// RFC 3270, 5.3: it does not support these behaviours.
    Unsupported(PhbSet),
}

impl Network {
    /// Each reason for which nodes on a way of an LSP refuse it, in the order of its routes and of the nodes on them.
    /// Paths begin at the LSP.
    pub(super) fn refusals(&self, spec: &LspSpec) -> Vec<Diagnostic> {
        let nodes = &self.description.nodes;
        let against: Vec<Option<Refusal>> = nodes.iter().map(|node| refusal(spec, node)).collect();
        if against.iter().all(Option::is_none) {
            return Vec::new();
        }
        let mut said: Vec<AdviceProblem> = Vec::new();
        let by_itself = [Vec::new()];
        let routes = if spec.routes.is_empty() { &by_itself[..] } else { &spec.routes };
        for (route, hops) in routes.iter().enumerate() {
            let way = self.way(spec, hops);
            let place = |node: usize| match route {
                _ if node == spec.to => ", where it ends,".to_string(),
                0 => " on its way".into(),
                1 => " on the way of its fallback".into(),
                _ => format!(" on the way of its route number {}", route + 1),
            };
            for (at, &node) in way.iter().enumerate() {
                let (name, place) = (nodes[node].name.clone(), place(node));
                let refusal = match against[node] {
                    Some(Refusal::Unknown) => AdviceProblem::UnknownObject { node: name, place },
                    Some(Refusal::Unsupported(missing)) => {
                        let missing: Vec<_> = missing.iter().map(|phb| phb.to_string()).collect();
                        AdviceProblem::Unsupported { node: name, place, missing: missing.join(", ") }
                    }
                    None => continue,
                };
                if !way[..at].contains(&node) && !said.contains(&refusal) {
                    said.push(refusal);
                }
            }
        }
        said.into_iter().map(|refusal| Diagnostic::new(refusal).at("diffserv").on_key()).collect()
    }

    /// The nodes behind the head end, as far as Path messages find a way.
    fn way(&self, spec: &LspSpec, hops: &[HopSpec]) -> Vec<usize> {
        let mut way = Vec::new();
        let mut at = spec.from;
        let end = [HopSpec::Node(spec.to)];
        for hop in hops.iter().chain(&end) {
            match *hop {
                HopSpec::Link { link } => {
                    let Some(next) = self.graph.beyond(link, at) else { return way };
                    at = next;
                    way.push(at);
                }
                // A strict hop is a neighbour; every node looks for its own best link to a loose one.
                HopSpec::Node(to) => {
                    while at != to && way.len() < self.description.nodes.len() {
                        let link =
                            self.graph.link_between(at, to).filter(|_| !spec.loose && !hops.is_empty());
                        let link = link.or_else(|| Some(self.graph.search(at).to(to)?.1));
                        let Some(next) = link.and_then(|link| self.graph.beyond(link, at)) else {
                            return way;
                        };
                        at = next;
                        way.push(at);
                    }
                }
            }
        }
        way
    }
}

/// What a node has against an LSP. Of nodes that are not ours nothing is known.
fn refusal(spec: &LspSpec, node: &NodeSpec) -> Option<Refusal> {
    let asked: PhbSet = match spec.diffserv? {
        // No object: it is an E-LSP with the preconfigured mapping, of which other nodes are told nothing.
        LspDiffServ::ELsp(ELsp { map: None, signal: false, .. }) => return None,
        LspDiffServ::ELsp(ELsp { map: None, .. }) => PhbSet::default(),
        LspDiffServ::ELsp(ELsp { map: Some(map), .. }) => map.as_array().iter().copied().collect(),
        LspDiffServ::LLsp(LLsp { class, .. }) => class.phbs(),
    };
    if !node.facts().is_own_router() {
        return None;
    }
    let Some(known) = &node.diffserv else { return Some(Refusal::Unknown) };
    let missing: PhbSet = asked.iter().filter(|phb: &Phb| !known.supported().contains(*phb)).collect();
    (!missing.is_empty()).then_some(Refusal::Unsupported(missing))
}
