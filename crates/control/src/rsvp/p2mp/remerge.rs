//! Branches of a tree that meet again (RFC 4875, 18).

use super::path::Placed;
use super::tree::Sub;
use crate::rsvp::Rsvp;
use crate::rsvp::transport::Neighbor;
use base::Label;
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet};

/// Where packets of a tree leave: a neighbour, or this router itself.
pub(super) type Out = Option<Neighbor>;

/// By which previous hop packets come, and where its leaves want them: with the labels that each neighbour gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Way {
    pub from: Neighbor,
    pub outs: BTreeMap<Out, BTreeSet<Label>>,
    /// The leaves that its path state names; empty if there is no other previous hop.
    pub leaves: BTreeSet<Ipv4Addr>,
    /// Another previous hop brings the same packets.
    pub is_dropped: bool,
}

/// Which of the previous hops of a tree, the first that came first, feed it (RFC 4875, 18.1.1).
///
/// Two that have no way out in common cross over, and each feeds its own leaves. Of those that have one, the first
/// feeds the leaves of all, and what comes by the others is dropped: no way out gets a packet twice. But leaves in
/// common mean that the LSP is being rerouted: whichever of the two ways brings packets is good, for the root may have
/// left the other one already. For as long as both do, there may be two of a packet (RFC 4875, 14.2).
pub(super) fn merge(ways: Vec<Way>) -> Vec<Way> {
    if ways.len() < 2 {
        return ways;
    }
    let mut merged: Vec<Way> = Vec::new();
    let mut owner: BTreeMap<Out, usize> = BTreeMap::new();
    for mut way in ways {
        let at = merged.len();
        let first = way.outs.keys().find_map(|out| owner.get(out).copied());
        let is_rerouted = way
            .outs
            .keys()
            .filter_map(|out| merged.get(*owner.get(out)?))
            .any(|feeding| !feeding.leaves.is_disjoint(&way.leaves));
        if let (Some(first), false) = (first, is_rerouted) {
            for (out, labels) in core::mem::take(&mut way.outs) {
                let place = *owner.entry(out).or_insert(first);
                if let Some(feeding) = merged.get_mut(place) {
                    feeding.outs.entry(out).or_default().extend(labels);
                }
            }
            way.is_dropped = true;
        } else {
            way.outs.keys().for_each(|out| {
                owner.entry(*out).or_insert(at);
            });
        }
        merged.push(way);
    }
    merged
}

impl Rsvp {
    /// The leaves that a Path would have meet again: those of other previous hops that leave by an interface which the
    /// Path newly takes. None if it is no re-merge, but a cross-over, or leaves that are rerouted.
    pub(super) fn p2mp_met(
        &self,
        tree: u32,
        sub: Option<u32>,
        from: Neighbor,
        placed: &BTreeMap<Ipv4Addr, Placed>,
    ) -> Vec<Ipv4Addr> {
        let Some(tree) = self.p2mp.trees.get(tree) else { return Vec::new() };
        let others = || {
            let all = self.p2mp.subs_of(tree);
            all.filter(|other| other.prev_hop != from)
        };
        // RFC 4875, 18.1: leaves in common mean that the LSP was rerouted.
        if others().any(|other| other.leaves.keys().any(|leaf| placed.contains_key(leaf))) {
            return Vec::new();
        }
        let port = |to: &Neighbor| to.port;
        let known = sub.map_or_else(BTreeSet::new, |sub| self.p2mp_ports(self.p2mp.subs.get(sub)));
        let wanted: BTreeSet<_> =
            placed.values().filter_map(|placed| placed.to.as_ref()).map(|(to, _)| port(to)).collect();
        let new: BTreeSet<_> = wanted.difference(&known).copied().collect();
        let is_met = |branch: Option<u32>| {
            branch
                .and_then(|branch| self.p2mp.branches.get(branch))
                .is_some_and(|at| new.contains(&at.to.port))
        };
        let leaves = others().flat_map(|other| &other.leaves);
        leaves.filter(|(_, at)| is_met(at.branch)).map(|(leaf, _)| *leaf).collect()
    }

    /// The ports that branches of a sub-group leave by.
    fn p2mp_ports(&self, sub: Option<&Sub>) -> BTreeSet<base::PortId> {
        let leaves = sub.into_iter().flat_map(|sub| sub.leaves.values());
        let branch = |at: &super::tree::LeafAt| self.p2mp.branches.get(at.branch?);
        leaves.filter_map(branch).map(|branch| branch.to.port).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::PortId;

    fn hop(port: u16) -> Neighbor {
        Neighbor { port: PortId(port), address: Ipv4Addr::new(10, 0, 0, port as u8) }
    }

    fn id(leaf: u16) -> Ipv4Addr {
        Ipv4Addr::new(10, 255, 0, leaf as u8)
    }

    fn way(from: u16, outs: &[u16]) -> Way {
        let label = |out: u16| BTreeSet::from([Label::truncate(100 + u32::from(out))]);
        let outs = outs.iter().map(|&out| (Some(hop(out)), label(out))).collect();
        Way { from: hop(from), outs, leaves: BTreeSet::from([id(from)]), is_dropped: false }
    }

    #[test]
    fn ways_that_meet_are_fed_once_and_those_that_cross_each_by_its_own() {
        let said = |ways: Vec<Way>| -> Vec<(u16, Vec<u16>, bool)> {
            let ports = |way: &Way| way.outs.keys().flatten().map(|out| out.port.0).collect();
            merge(ways).iter().map(|way| (way.from.port.0, ports(way), way.is_dropped)).collect()
        };
        let crossing = said(vec![way(1, &[5]), way(2, &[6])]);
        assert_eq!(crossing, [(1, vec![5], false), (2, vec![6], false)]);
        let meeting = said(vec![way(1, &[5]), way(2, &[5, 6])]);
        assert_eq!(meeting, [(1, vec![5, 6], false), (2, vec![], true)]);
        // One that meets two that cross: each way out still has one feed.
        let both = said(vec![way(1, &[5]), way(2, &[6]), way(3, &[5, 6, 7])]);
        assert_eq!(both, [(1, vec![5, 7], false), (2, vec![6], false), (3, vec![], true)]);
        // A leaf by two ways is rerouted, and neither way is dropped.
        let mut newer = way(2, &[5, 6]);
        newer.leaves.insert(id(1));
        let rerouted = said(vec![way(1, &[5]), newer, way(3, &[5])]);
        assert_eq!(rerouted, [(1, vec![5], false), (2, vec![5, 6], false), (3, vec![], true)]);
    }
}
