//! Targeted sessions of LDP (RFC 5036, 2.4.2) that never come to be.

use super::Network;
use super::place::Place;
use super::problem::AdviceProblem;
use super::spec::protocols::Spoken;
use base::diagnostic::Diagnostic;
use control::ldp::section::LdpSpec;
use core::net::IpAddr;
use std::collections::BTreeMap;

impl Network {
    /// Routers that want sessions with addresses that no node has, or with routers of ours that do not want them. Where
    /// a node is not known in full, as one of others is not, it may have the address.
    pub(super) fn wrong_targets(&self, speakers: &[(usize, &Spoken)]) -> Vec<Diagnostic> {
        let by_node: BTreeMap<usize, &LdpSpec> =
            speakers.iter().filter_map(|(node, spoken)| Some((*node, spoken.settings()?))).collect();
        let mut said = Vec::new();
        for (&node, spec) in &by_node {
            for (place, target) in spec.targets.iter().enumerate() {
                let (a, address) = (self.node_name(node).to_string(), target.to_string());
                let problem = match self.owner(IpAddr::V4(*target)) {
                    None if self.is_known_in_full() => AdviceProblem::NoSuchNeighbor { a, address },
                    Some(other)
                        if self.facts(other).is_own_router() && !self.wants(&by_node, other, node) =>
                    {
                        AdviceProblem::NotTargeted { b: self.node_name(other).to_string(), address }
                    }
                    _ => continue,
                };
                let said_of = Diagnostic::new(problem).at(place).at("targets").at("ldp");
                said.push(said_of.of_node(&self.description, node));
            }
        }
        said
    }

    /// Does a router take a targeted session with another one?
    fn wants(&self, by_node: &BTreeMap<usize, &LdpSpec>, node: usize, other: usize) -> bool {
        let is_it = |target: &core::net::Ipv4Addr| self.owner(IpAddr::V4(*target)) == Some(other);
        by_node.get(&node).is_some_and(|spec| spec.accept_targeted || spec.targets.iter().any(is_it))
    }
}
