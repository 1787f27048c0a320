//! Neighbours that are watched by BFD and do not watch in their turn: a session comes up where both ends have been told
//! of it (RFC 5880, 6.8.6: packets that no session is there for are dropped).

use super::Network;
use super::place::Place;
use super::problem::AdviceProblem;
use super::spec::protocols::Spoken;
use super::watching::Client;
use base::ProtocolId;
use base::diagnostic::Diagnostic;
use std::collections::BTreeSet;

impl Network {
    /// Each pair of routers of ours of which one has the other watched alone, once.
    pub(super) fn watching_alone(&self) -> Vec<Diagnostic> {
        let (mut known, mut said) = (BTreeSet::new(), Vec::new());
        for ends in self.ends_that_meet() {
            for &(a, link, side) in &ends {
                let clients = self.watching_at(link, side);
                for &(b, link, side) in ends.iter().filter(|(b, ..)| *b != a) {
                    let is_met = |client: &&Client| match client {
                        Client::Protocol(protocol) => self.is_spoken_at(*protocol, link, side),
                        Client::Route | Client::Rsvp => ends.len() == 2,
                    };
                    let Some(client) = clients.iter().find(is_met) else { continue };
                    if !self.watches_at(link, side) && known.insert([a.min(b), a.max(b)]) {
                        let by = match client {
                            Client::Protocol(protocol) => format!("'bfd' of its '{protocol}'"),
                            Client::Rsvp => "'bfd' of its 'rsvp'".into(),
                            Client::Route => "a route back with 'bfd'".into(),
                        };
                        let [a, b] = [a, b].map(|node| self.node_name(node).to_string());
                        said.push(AdviceProblem::WatchedByOne { a, b, by }.of_link(&self.description, link));
                    }
                }
            }
        }
        let far: Vec<BTreeSet<usize>> =
            (0..self.description.nodes.len()).map(|node| self.watched_afar(node)).collect();
        for (a, others) in far.iter().enumerate() {
            let alone = |b: &usize| {
                let is_own = [a, *b].into_iter().all(|node| self.facts(node).is_own_router());
                *b != a && is_own && !far[*b].contains(&a) && self.names(*b, a) && !self.watches_beside(*b, a)
            };
            for b in others.iter().copied().filter(alone) {
                if known.insert([a.min(b), a.max(b)]) {
                    let by = "'bfd' of that neighbour".to_string();
                    let [here, b] = [a, b].map(|node| self.node_name(node).to_string());
                    said.push(AdviceProblem::WatchedByOne { a: here, b, by }.of_node(&self.description, a));
                }
            }
        }
        said
    }

    /// Routers of ours that meet by a link or a segment, each with its link and its side of it.
    fn ends_that_meet(&self) -> Vec<Vec<(usize, usize, usize)>> {
        let places = self.meeting_places().into_iter();
        let of = |(link, side): (usize, usize)| (self.links[link].ends()[side], link, side);
        let own = |ends: Vec<(usize, usize)>| {
            ends.into_iter().map(of).filter(|(node, ..)| self.facts(*node).is_own_router()).collect()
        };
        places.map(own).collect()
    }

    /// Does a router look for neighbours by a protocol at an end of a link?
    fn is_spoken_at(&self, protocol: ProtocolId, index: usize, side: usize) -> bool {
        let link = &self.links[index];
        let attached = self.attached_at(link, side);
        let mut spoken = self.description.nodes[link.ends()[side]].protocols.spoken();
        let speaks = |one: &Spoken| one.setup.agreements(&attached, link.spec.mtu).is_some();
        spoken.any(|one| one.protocol == protocol && speaks(one))
    }

    /// Does a router name another one as its neighbour, or as the end of a way through a region?
    fn names(&self, node: usize, other: usize) -> bool {
        self.description.nodes[node].protocols.spoken().any(|spoken| {
            let setup = self.in_mesh(node, spoken.protocol, spoken.setup.clone());
            let id = self.router_id(spoken.protocol, other).map(|id| id.to_string());
            let joins = setup.joins().1;
            let mut ends = joins.iter().map(|join| join.router);
            setup.expected().iter().any(|name| self.named_or_owning(name) == Some(other))
                || ends.any(|end| end == self.node_name(other) || Some(end) == id.as_deref())
        })
    }

    /// Does a router have another one watched that is at the other end of a link?
    fn watches_beside(&self, node: usize, other: usize) -> bool {
        let mut links = self.links.iter().enumerate().filter(|(_, link)| link.ends().contains(&node));
        links.any(|(index, link)| link.ends().contains(&other) && self.watches_at(index, link.side(node)))
    }
}
