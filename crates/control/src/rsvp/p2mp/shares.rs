//! Which bypass tunnels take the leaves of a tree around a neighbour, or around the link to it (RFC 4875, 15.1).
//!
//! One bypass to the neighbour takes all leaves beyond it, since they have one label there. Behind the neighbour the
//! tree may have branched: then one bypass to each of several merge points takes the leaves that come through that
//! router. The first of them is the backup of the group that the branch names. The others stand by: copies for them are
//! made only while the port to the neighbour can't be used, so that a failure is one write here, too.

use super::protect::Way;
use super::tree::Tree;
use crate::rsvp::Rsvp;
use crate::rsvp::protection::{Candidate, Chosen, End, Protection, Wish, is_unchanged};
use crate::rsvp::states::ProtectionState;
use crate::rsvp::transport::Neighbor;
use base::Label;
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How the way of a tree to a neighbour is protected.
#[derive(Clone, Debug)]
pub(super) struct Guarded {
    pub state: ProtectionState,
    /// None without a backup; several if each takes some of the leaves.
    pub shares: Vec<Share>,
}

impl Guarded {
    /// Nothing protects it.
    pub(super) const NONE: Guarded = Guarded { state: ProtectionState::Unprotected, shares: Vec::new() };

    /// The share of a bypass.
    pub(super) fn of(&self, bypass: u32) -> Option<&Share> {
        self.shares.iter().find(|share| share.chosen.bypass == bypass)
    }

    /// What all shares have in common, in the words of an LSP with one end.
    pub(super) fn together(&self) -> Protection {
        let all = |has: fn(&Chosen) -> bool| self.shares.iter().all(|share| has(&share.chosen));
        let (node, bandwidth) = (all(|chosen| chosen.node), all(|chosen| chosen.bandwidth));
        let chosen = self.shares.first().map(|share| Chosen { node, bandwidth, ..share.chosen });
        Protection { state: self.state, chosen, detour: None }
    }
}

/// A bypass, and the leaves that go through it when the neighbour can't be reached.
#[derive(Clone, Debug)]
pub(super) struct Share {
    pub chosen: Chosen,
    pub leaves: Leaves,
}

/// Which leaves a bypass takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Leaves {
    /// All beyond the neighbour, whichever they are.
    All,
    /// Those that come through the router at its end. Each message about a branch looks at them, and there may be as
    /// many branches as leaves: none has a copy of its own.
    These(Arc<BTreeSet<Ipv4Addr>>),
}

impl Leaves {
    pub(super) fn has(&self, leaf: Ipv4Addr) -> bool {
        match self {
            Leaves::All => true,
            Leaves::These(leaves) => leaves.contains(&leaf),
        }
    }
}

/// A bypass that was found, and what it would take.
pub(super) type Found = (Candidate, Leaves);

/// Are these just the shares that there are?
pub(super) fn are_unchanged(before: &[Share], found: &[Found]) -> bool {
    let is_same = |(share, (new, leaves)): (&Share, &Found)| {
        is_unchanged(Some(share.chosen), Some(*new)) && share.leaves == *leaves
    };
    before.len() == found.len() && before.iter().zip(found).all(is_same)
}

impl Rsvp {
    /// The best bypass tunnels for the way of a tree to a neighbour: one that takes all leaves; if it is to lead around
    /// the neighbour and none does, several that do; else one around the link.
    pub(super) fn p2mp_found(&self, tree: &Tree, hop: Neighbor) -> Vec<Found> {
        let one = self.p2mp_candidate(tree, hop);
        if self.p2mp_seeks_node(tree, hop) && one.is_none_or(|one| !one.node) {
            let several = self.p2mp_label(tree, hop).map(|label| self.p2mp_several(tree, hop, label));
            if let Some(several) = several.filter(|several| !several.is_empty()) {
                return several;
            }
        }
        one.into_iter().map(|one| (one, Leaves::All)).collect()
    }

    /// Bypass tunnels around a neighbour which together take all leaves beyond it, each those that come through its
    /// end; none if there are not enough. The first is the one that takes the most.
    fn p2mp_several(&self, tree: &Tree, hop: Neighbor, label: Label) -> Vec<Found> {
        let wish = Wish { node: true, ..self.p2mp_wish(tree) };
        let own = tree.protections.get(&hop).map(|guarded| &guarded.shares[..]).unwrap_or_default();
        let mut left: BTreeMap<Ipv4Addr, Way> = self.p2mp_recorded(tree, hop);
        let mut found = Vec::new();
        while !left.is_empty() {
            let mut taken: BTreeMap<u32, (Option<Label>, BTreeSet<Ipv4Addr>)> = BTreeMap::new();
            for bypass in self.protections.of_port(hop.port) {
                // A router at the end of one that has several labels for the tree is led to by one alone.
                let is_taken = found.iter().any(|(known, _): &Found| known.bypass == bypass);
                if is_taken || self.bypass_leg(bypass).is_none_or(|leg| leg.port == hop.port) {
                    continue;
                }
                for (leaf, way) in &left {
                    if let End::Labelled { swap, node: true } = self.end_of(bypass, label, hop, way) {
                        let known = taken.entry(bypass).or_insert((swap, BTreeSet::new()));
                        // A router that has several labels for the tree gets packets with one of them.
                        if known.0 == swap {
                            known.1.insert(*leaf);
                        }
                    }
                }
            }
            let most = taken.values().map(|(_, leaves)| leaves.len()).max().unwrap_or(0);
            let is_best = |bypass: u32| taken.get(&bypass).filter(|(_, leaves)| leaves.len() == most);
            let mine = own.iter().map(|share| share.chosen).find(|own| is_best(own.bypass).is_some());
            let best = self.best(hop, wish, mine, |bypass| match is_best(bypass) {
                Some(&(swap, _)) => End::Labelled { swap, node: true },
                None => End::Elsewhere,
            });
            let Some((best, (_, leaves))) = best.and_then(|best| Some((best, taken.remove(&best.bypass)?)))
            else {
                return Vec::new();
            };
            left.retain(|leaf, _| !leaves.contains(leaf));
            found.push((best, Leaves::These(Arc::new(leaves))));
        }
        found
    }
}
