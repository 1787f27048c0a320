//! Flows to groups: what could not arrive is refused before the run.

use super::Testbed;
use super::flow_spec::FlowSpec;
use crate::problem::TrafficProblem;
use base::diagnostic::{At, Diagnostic};
use base::plane::is_link_local_group;
use core::net::Ipv4Addr;
use network::addressing;
use std::collections::BTreeSet;

impl Testbed {
    /// Refuses a flow to a group that could not arrive.
    pub(super) fn check_flow_group(&self, spec: &FlowSpec) -> Result<(), Diagnostic> {
        let on = |key: &str, problem: TrafficProblem| Err(Diagnostic::new(problem).at(key).on_key());
        let Some(group) = spec.group else {
            return if spec.also_to.is_empty() {
                Ok(())
            } else {
                on("receivers", TrafficProblem::NoGroupToReceive {})
            };
        };
        if !group.is_multicast() || is_link_local_group(group.into()) {
            return on("group", TrafficProblem::NotAGroup { group: group.to_string() });
        }
        if spec.over.is_some() {
            return on("over", TrafficProblem::GroupOverLsp {});
        }
        let parts = self.graph().parts();
        for node in spec.receivers() {
            let name = || self.node_name(node).to_string();
            let key = if node == spec.to { "to" } else { "receivers" };
            let Some(station) = self.station(node) else {
                let is_host = self.facts(node).host.is_some();
                return if is_host {
                    Ok(())
                } else {
                    on(key, TrafficProblem::ReceiverNoHost { node: name() })
                };
            };
            if !station.host().groups().iter().any(|known| known.group == group) {
                let group = group.to_string();
                return on(key, TrafficProblem::ReceiverNotJoined { node: name(), group });
            }
            if !parts.joined(spec.from, node) {
                let from = self.node_name(spec.from).to_string();
                return on(key, TrafficProblem::ReceiverUnreachable { node: name(), from });
            }
            for router in self.beside(node).filter(|router| self.facts(*router).is_own_router()) {
                // A tree of RSVP-TE may have this router as a leaf, now or later.
                let is_carried = self.p2mp().iter().any(|tree| tree.groups.contains(&group));
                let brings = self.brings(router, group);
                if brings.is_none() && !is_carried {
                    let (group, router) = (group.to_string(), self.node_name(router).to_string());
                    return on("group", TrafficProblem::GroupWithoutTree { group, router, node: name() });
                }
                if brings == Some(true) {
                    self.check_named_sender(spec, group, node, router).at(key).map_err(Diagnostic::on_key)?;
                }
            }
        }
        Ok(())
    }

    /// The nodes at the other ends of a node's links.
    fn beside(&self, node: usize) -> impl Iterator<Item = usize> {
        self.ports_of(node).map(|(link, side)| link.ends()[1 - side])
    }

    /// Does a protocol of a node bring packets of a group, and to who has named their senders only? Nothing if none
    /// does.
    fn brings(&self, node: usize, group: Ipv4Addr) -> Option<bool> {
        let spoken = self.description().nodes[node].protocols.spoken();
        let mut bringing = spoken.filter(|one| one.setup.brings(group.into()) == Some(true));
        bringing.next().map(|one| one.setup.needs_sources())
    }

    /// Refuses a receiver of a group with named senders that has not named this one, or from which no routers lead to
    /// it that bring such groups.
    fn check_named_sender(
        &self,
        spec: &FlowSpec,
        group: Ipv4Addr,
        node: usize,
        router: usize,
    ) -> Result<(), Diagnostic> {
        let own: Vec<Ipv4Addr> = match self.facts(spec.from).host {
            Some(_) => self.ports_of(spec.from).map(|(link, side)| link.addresses[side]).collect(),
            None => vec![addressing::probe(spec.from)],
        };
        let joined = self.station(node).map_or(&[][..], |station| station.host().groups());
        let named = joined.iter().filter(|known| known.group == group).flat_map(|known| &known.sources);
        let (name, from) = (self.node_name(node).to_string(), self.node_name(spec.from).to_string());
        if !named.clone().any(|source| own.contains(source)) {
            let source = own.first().copied().unwrap_or(Ipv4Addr::UNSPECIFIED).to_string();
            let group = group.to_string();
            return Err(TrafficProblem::SenderNotNamed { node: name, group, from, source }.into());
        }
        let is_way = |node: usize| {
            let facts = self.facts(node);
            if facts.is_own_router() { self.brings(node, group) == Some(true) } else { facts.transit }
        };
        let (mut seen, mut ahead) = (BTreeSet::from([router]), vec![router]);
        while let Some(at) = ahead.pop() {
            for next in self.beside(at) {
                if next == spec.from {
                    return Ok(());
                }
                if is_way(next) && seen.insert(next) {
                    ahead.push(next);
                }
            }
        }
        let (group, router) = (group.to_string(), self.node_name(router).to_string());
        Err(TrafficProblem::NoWayToSender { router, group, from }.into())
    }
}
