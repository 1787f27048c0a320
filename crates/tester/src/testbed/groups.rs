//! Flows to groups: what could not arrive is refused before the run.

use super::Testbed;
use super::flow_spec::FlowSpec;
use crate::problem::TrafficProblem;
use base::diagnostic::{At, Diagnostic};
use base::plane::is_link_local_group;
use core::net::IpAddr;
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
        if !group.is_multicast() || is_link_local_group(group) {
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
                if is_host {
                    continue;
                }
                return on(key, TrafficProblem::ReceiverNoHost { node: name() });
            };
            if !station.host().groups().iter().any(|known| known.group == group) {
                let group = group.to_string();
                return on(key, TrafficProblem::ReceiverNotJoined { node: name(), group });
            }
            let has_ipv6 = station.host().config().ports.iter().any(|port| port.ipv6.is_some());
            if group.is_ipv6() && !has_ipv6 {
                return on(key, TrafficProblem::Ipv6End { node: name() });
            }
            if !parts.joined(spec.from, node) {
                let from = self.node_name(spec.from).to_string();
                return on(key, TrafficProblem::ReceiverUnreachable { node: name(), from });
            }
            self.check_brought(spec, group, node, key)?;
        }
        Ok(())
    }

    /// Refuses a receiver to which no router in front of it brings the group: of several on a segment one is enough.
    fn check_brought(
        &self,
        spec: &FlowSpec,
        group: IpAddr,
        node: usize,
        key: &'static str,
    ) -> Result<(), Diagnostic> {
        let ahead = self.in_front_of(node);
        if ahead.contains(&spec.from) && !self.facts(spec.from).is_own_router() {
            return Ok(());
        }
        let mut refused = Ok(());
        for router in ahead.into_iter().filter(|router| self.facts(*router).router) {
            let brought = match self.facts(router).is_own_router() {
                true => self.check_brings(spec, group, (node, router), key),
                // What somebody else's router does is not known.
                false => Ok(()),
            };
            match brought {
                Ok(()) => return Ok(()),
                Err(error) => refused = refused.and(Err(error)),
            }
        }
        refused
    }

    /// Refuses a receiver to which this router in front of it does not bring the group.
    fn check_brings(
        &self,
        spec: &FlowSpec,
        group: IpAddr,
        (node, router): (usize, usize),
        key: &'static str,
    ) -> Result<(), Diagnostic> {
        // A tree of RSVP-TE may have this router as a leaf, now or later.
        let is_carried = self.p2mp().iter().any(|tree| tree.groups.contains(&group));
        match self.brings(router, group) {
            None if !is_carried => {
                let [node, router] = [node, router].map(|node| self.node_name(node).to_string());
                let group = group.to_string();
                let problem = TrafficProblem::GroupWithoutTree { group, router, node };
                Err(Diagnostic::new(problem).at("group").on_key())
            }
            Some(true) => {
                let checked = self.check_named_sender(spec, group, node, router);
                checked
                    .and_then(|()| self.check_asked(group, node, router))
                    .at(key)
                    .map_err(Diagnostic::on_key)
            }
            None | Some(false) => self.check_heard(group, node, router),
        }
    }

    /// Refuses a receiver whose router does not hear which groups it wants.
    fn check_heard(&self, group: IpAddr, node: usize, router: usize) -> Result<(), Diagnostic> {
        let mut spoken = self.description().nodes[router].protocols.spoken();
        if spoken.any(|one| one.setup.hears_hosts(group)) {
            return Ok(());
        }
        let [node, router] = [node, router].map(|node| self.node_name(node).to_string());
        let protocol = if group.is_ipv6() { "mld" } else { "igmp" };
        let problem = TrafficProblem::HostNotHeard { group: group.to_string(), router, node, protocol };
        Err(Diagnostic::new(problem).at("group").on_key())
    }

    /// Refuses a receiver whose router does not hear which senders it names: IGMP of version 3 and MLD of version
    /// 2 say so, or the settings.
    fn check_asked(&self, group: IpAddr, node: usize, router: usize) -> Result<(), Diagnostic> {
        let mut spoken = self.description().nodes[router].protocols.spoken();
        if spoken.any(|one| one.setup.hears_sources(group)) {
            return Ok(());
        }
        let [node, router] = [node, router].map(|node| self.node_name(node).to_string());
        Err(TrafficProblem::SenderNotHeard { group: group.to_string(), router, node }.into())
    }

    /// The nodes at the other ends of a node's links.
    fn beside(&self, node: usize) -> impl Iterator<Item = usize> {
        self.ports_of(node).map(|(link, side)| link.ends()[1 - side])
    }

    /// The nodes at the other ends of a node's links, and those on the segments that these are.
    fn in_front_of(&self, node: usize) -> Vec<usize> {
        let (mut found, mut seen, mut ahead) = (Vec::new(), BTreeSet::from([node]), vec![node]);
        while let Some(at) = ahead.pop() {
            for next in self.beside(at).filter(|next| seen.insert(*next)).collect::<Vec<_>>() {
                match self.facts(next).segment {
                    Some(_) => ahead.push(next),
                    None => found.push(next),
                }
            }
        }
        found
    }

    /// Does a protocol of a node bring packets of a group, and to who has named their senders only? Nothing if none
    /// does.
    fn brings(&self, node: usize, group: IpAddr) -> Option<bool> {
        let spoken = self.description().nodes[node].protocols.spoken();
        let mut bringing = spoken.filter(|one| one.setup.brings(group) == Some(true));
        bringing.next().map(|one| one.setup.needs_sources())
    }

    /// Refuses a receiver of a group with named senders that has not named this one, or from which no routers lead to
    /// it that bring such groups.
    fn check_named_sender(
        &self,
        spec: &FlowSpec,
        group: IpAddr,
        node: usize,
        router: usize,
    ) -> Result<(), Diagnostic> {
        let own: Vec<IpAddr> = match self.facts(spec.from).host {
            Some(_) => self.ports_of(spec.from).map(|(link, side)| link.addresses[side].into()).collect(),
            None => vec![addressing::probe(spec.from).into()],
        };
        let joined = self.station(node).map_or(&[][..], |station| station.host().groups());
        let named = joined.iter().filter(|known| known.group == group).flat_map(|known| &known.sources);
        let (name, from) = (self.node_name(node).to_string(), self.node_name(spec.from).to_string());
        if !named.clone().any(|source| own.contains(source)) {
            let source = own.first().map(ToString::to_string).unwrap_or_default();
            let group = group.to_string();
            return Err(TrafficProblem::SenderNotNamed { node: name, group, from, source }.into());
        }
        let is_way = |node: usize| {
            let facts = self.facts(node);
            if facts.is_own_router() { self.brings(node, group) == Some(true) } else { facts.transit }
        };
        if router == spec.from {
            return Ok(());
        }
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
