//! Ways by which protocols join routers through regions: virtual links. Who says one, and who says it back.

use super::Network;
use super::meeting::{End, differences};
use super::place::Place;
use super::problem::AdviceProblem;
use super::spec::protocols::Spoken;
use base::ProtocolId;
use base::diagnostic::Diagnostic;
use control::protocol::Join;
use core::net::Ipv4Addr;
use std::collections::BTreeSet;

/// What joins there are, and what is wrong with others.
#[derive(Default)]
pub(super) struct Joined {
    /// The two routers of each, also where something is wrong with it: that is said.
    pub pairs: Vec<[usize; 2]>,
    /// Regions through which a router wants to be joined to one that is none of ours.
    pub beyond: BTreeSet<String>,
    /// Routers that want to be joined to one that there is not, and through which region; that is said, too.
    pub astray: Vec<(usize, String)>,
    pub said: Vec<Diagnostic>,
}

impl Network {
    /// The number that others know a node by, if it speaks a protocol.
    pub(super) fn router_id(&self, protocol: ProtocolId, node: usize) -> Option<Ipv4Addr> {
        let spec = &self.description.nodes[node];
        match spec.protocols.spoken().find(|spoken| spoken.protocol == protocol) {
            Some(own) => Some(own.setup.router_id().unwrap_or_else(|| self.loopback(node))),
            // A router of somebody else has the number that the user says.
            None => spec.router_id.filter(|_| spec.facts().foreign),
        }
    }

    /// The ways through regions that routers say of a protocol; `what` is what its regions are called.
    pub(super) fn joined(
        &self,
        protocol: ProtocolId,
        what: &'static str,
        speakers: &[(usize, &Spoken)],
    ) -> Joined {
        let mut found = Joined::default();
        let end_of = |join: &Join<'_>| {
            let is_it = |node: usize| {
                let id = self.router_id(protocol, node).map(|id| id.to_string());
                self.node_name(node) == join.router || id.as_deref() == Some(join.router)
            };
            speakers.iter().find(|(node, _)| is_it(*node)).copied()
        };
        for &(node, spoken) in speakers {
            for join in spoken.setup.joins().1 {
                let said = &mut found.said;
                let mut say = |problem: AdviceProblem| said.push(problem.of_node(&self.description, node));
                let (name, a) = (protocol.to_string(), self.node_name(node).to_string());
                let Some((other, theirs)) = end_of(&join) else {
                    found.beyond.insert(join.region.clone());
                    // A router of others may have any number.
                    if self.is_known_in_full() {
                        let router = join.router.to_string();
                        say(AdviceProblem::JoinsNobody { protocol: name, a, router });
                        found.astray.push((node, join.region.clone()));
                    }
                    continue;
                };
                let is_back = |back: &Join<'_>| {
                    back.region == join.region && end_of(back).is_some_and(|(end, _)| end == node)
                };
                let Some(back) = theirs.setup.joins().1.into_iter().find(is_back) else {
                    let (b, region) = (self.node_name(other).to_string(), join.region.clone());
                    say(AdviceProblem::NotJoined { protocol: name, a, b, what, region });
                    found.pairs.push([node, other]);
                    continue;
                };
                // Each pair once.
                if other < node {
                    continue;
                }
                let end = |node, wants: Vec<_>| End {
                    node,
                    link: 0,
                    wants: Some(wants),
                    name: self.node_name(node),
                };
                let wrong = differences(protocol, &end(node, join.wants), &end(other, back.wants));
                wrong.into_iter().for_each(say);
                found.pairs.push([node, other]);
            }
        }
        found
    }
}
