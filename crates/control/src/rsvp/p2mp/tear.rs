//! Teardown and pruning (RFC 4875, 7): what goes, and what it held.

use super::around::GoesOn;
use super::states::{BranchEvent, SubEvent};
use super::{P2mpKey, TreeKey, keys, path_in, path_out, resv_in, resv_out};
use crate::rsvp::Rsvp;
use crate::rsvp::counters::Discard;
use crate::rsvp::faults::Fault;
use crate::rsvp::outbox::Sending;
use crate::rsvp::transport::Arrival;
use core::net::Ipv4Addr;
use wire::rsvp::PathTear;

impl Rsvp {
    /// RFC 4875, 7.2.2: a sub-group goes; or only the leaves that are named, if not all are.
    pub(in crate::rsvp) fn p2mp_path_tear(&mut self, arrival: &Arrival, tear: &PathTear) {
        let Ok(listed) = tear.common.sub_lsps() else { return self.counters.discard(Discard::Malformed) };
        let said = tear.sender.as_ref().and_then(|sender| keys(&sender.sender_template));
        let found = P2mpKey::of(&tear.session).zip(said).and_then(|(session, (sender, sub))| {
            let tree = self.p2mp.tree(&TreeKey { session, sender })?;
            Some((tree, self.p2mp.sub(tree, sub, arrival.from)?))
        });
        let Some((tree, sub)) = found else {
            let around = P2mpKey::of(&tear.session).zip(said).zip(Rsvp::p2mp_named(&listed));
            if !around.is_some_and(|((session, said), named)| self.p2mp_tear_around(session, said, &named)) {
                self.counters.discard(Discard::NoState);
            }
            return;
        };
        if self.is_overtaken(arrival, path_in(sub).0) {
            return;
        }
        let Some(named) = Rsvp::p2mp_named(&listed) else { return self.counters.discard(Discard::Malformed) };
        let Some(state) = self.p2mp.subs.get_mut(sub) else { return };
        state.ttl = arrival.ip.ttl.saturating_sub(1);
        if !named.is_empty() && state.leaves.keys().any(|leaf| !named.contains(leaf)) {
            self.p2mp_keep(sub, |leaf| !named.contains(&leaf));
        } else {
            self.transport.retire(path_in(sub));
            if self.p2mp_goes_on_around(sub) == GoesOn::None {
                self.p2mp_end_sub(sub, SubEvent::Torn);
            }
        }
        self.p2mp_settle(tree);
    }

    /// Keeps of a sub-group the leaves that `keep` says; branches follow.
    pub(super) fn p2mp_keep(&mut self, sub: u32, keep: impl Fn(Ipv4Addr) -> bool) {
        let Some(state) = self.p2mp.subs.get(sub) else { return };
        let mut placed = std::collections::BTreeMap::new();
        for (leaf, at) in state.leaves.iter().filter(|(leaf, _)| keep(**leaf)) {
            placed.insert(*leaf, self.p2mp_placed(*leaf, at));
        }
        self.p2mp_place(sub, placed, false);
    }

    /// Ends a sub-group: its branches are torn down. Entries of tables are left to [`Rsvp::p2mp_feed`], but for those
    /// of a tree that has no other.
    pub(super) fn p2mp_end_sub(&mut self, index: u32, why: SubEvent) {
        for branch in self.p2mp_branches(index) {
            self.p2mp_end_branch(branch, true);
        }
        let Some(mut sub) = self.p2mp.subs.remove(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        self.p2mp.s2ls = self.p2mp.s2ls.saturating_sub(sub.leaves.len());
        self.counters.faults.step(&mut sub.state, why);
        sub.alarm.cancel(&mut self.wheel);
        self.transport.forget(resv_out(index));
        self.transport.unbind(path_in(index));
        let root = self.p2mp.trees.get(sub.tree).and_then(|tree| tree.root);
        if let Some(root) = root.and_then(|root| self.p2mp.roots.get_mut(root)) {
            // The index may be used again soon, by another tunnel.
            root.leaves.values_mut().filter(|leaf| leaf.sub == Some(index)).for_each(|leaf| leaf.sub = None);
        }
        let Some(tree) = self.p2mp.trees.get_mut(sub.tree) else { return };
        tree.subs.retain(|&other| other != index);
        if !tree.subs.is_empty() {
            return;
        }
        let (key, feeds) = (tree.key, tree.feeds.keys().copied().collect::<Vec<_>>());
        let guarded: Vec<_> = tree.protections.keys().copied().collect();
        self.p2mp_end_around(sub.tree);
        for from in feeds {
            self.p2mp_starve(sub.tree, from);
        }
        guarded.into_iter().for_each(|hop| self.p2mp_unprotect(sub.tree, hop));
        self.p2mp_note_leaf(sub.tree);
        self.p2mp.trees.remove(sub.tree);
        self.p2mp.index.remove(&key);
    }

    /// Ends a branch; the neighbour is told if it is there. Its leaves have left it.
    pub(super) fn p2mp_end_branch(&mut self, index: u32, tell: bool) {
        if tell {
            self.p2mp_send_tear(index);
        }
        self.p2mp_unreserve(index);
        self.transport.forget(path_out(index));
        self.transport.unbind(resv_in(index));
        let Some(mut branch) = self.p2mp.branches.remove(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        self.counters.faults.step(&mut branch.state, BranchEvent::Emptied);
        branch.alarm.cancel(&mut self.wheel);
        if let Some(tree) = self.p2mp.trees.get_mut(branch.tree) {
            tree.branches.retain(|&other| other != index);
        }
    }

    /// Sends what is to be sent of a sub-group in full: the neighbour has lost it.
    pub(in crate::rsvp) fn p2mp_send_full(&mut self, handle: u32) {
        match super::named(handle) {
            super::Named::Sub(sub) => {
                if let Some(state) = self.p2mp.subs.get_mut(sub) {
                    state.resv_refresh_at = self.now;
                    self.p2mp_answer(sub, Sending::Full);
                }
            }
            super::Named::Branch(branch) => {
                if self.p2mp.branches.get(branch).is_some() {
                    self.p2mp_send_path(branch, Sending::Full);
                }
            }
        }
    }
}
