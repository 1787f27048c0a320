//! Soft state of point-to-multipoint LSPs: refreshes, lifetimes, neighbours that are gone (RFC 2205, 3.7 and 3.6).

use super::around::GoesOn;
use super::states::{SubEvent, SubState};
use super::{Alarm, Named, named};
use crate::rsvp::Rsvp;
use crate::rsvp::faults::Fault;
use crate::rsvp::outbox::Sending;
use crate::rsvp::transport::Neighbor;
use base::PortId;
use core::net::Ipv4Addr;
use std::collections::BTreeMap;
use wire::rsvp::error_code::{self, routing};

impl Rsvp {
    /// The neighbour says that state still stands (RFC 2961, 5.3).
    pub(in crate::rsvp) fn p2mp_refreshed(&mut self, handle: u32) {
        match named(handle) {
            Named::Branch(branch) => self.p2mp_resv_refreshed(branch),
            Named::Sub(sub) => {
                let Some(period) = self.p2mp.subs.get(sub).map(|sub| sub.period_ms) else { return };
                let expires = self.now + self.lifetime(period);
                if let Some(sub) = self.p2mp.subs.get_mut(sub) {
                    sub.expires = expires;
                }
            }
        }
    }

    /// The timer of a sub-group went off.
    pub(in crate::rsvp) fn p2mp_sub_timeout(&mut self, index: u32) {
        let now = self.now;
        let Some(sub) = self.p2mp.subs.get_mut(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        sub.alarm = Alarm::default();
        let tree = sub.tree;
        if sub.expires <= now {
            // RFC 2205, 2.3: path state that nobody refreshes goes, as if torn down.
            match self.p2mp_goes_on_around(index) {
                GoesOn::Whole => return,
                GoesOn::Part => {}
                GoesOn::None => self.p2mp_end_sub(index, SubEvent::Expired),
            }
            self.counters.expired += 1;
            return self.p2mp_settle(tree);
        }
        self.p2mp_answer(index, Sending::Refresh);
        let next = self.next_refresh();
        if let Some(sub) = self.p2mp.subs.get_mut(index).filter(|sub| sub.resv_refresh_at <= now) {
            // There was nothing to say: it has no label, say.
            sub.resv_refresh_at = next;
        }
        self.p2mp_arm_sub(index);
    }

    /// The timer of a branch went off.
    pub(in crate::rsvp) fn p2mp_branch_timeout(&mut self, index: u32) {
        let now = self.now;
        let Some(branch) = self.p2mp.branches.get_mut(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        branch.alarm = Alarm::default();
        let (tree, to) = (branch.tree, branch.to);
        if branch.reserved.as_ref().is_some_and(|reserved| reserved.expires <= now) {
            self.counters.expired += 1;
            if self.p2mp_is_diverted(tree, to) {
                self.p2mp_expire_around(index);
            } else {
                self.p2mp_unreserve(index);
            }
            self.p2mp_settle(tree);
        }
        if self.p2mp.branches.get(index).is_some_and(|branch| branch.path_refresh_at <= now) {
            self.p2mp_send_path(index, Sending::Refresh);
        }
        self.p2mp_arm_branch(index);
    }

    /// Gives up what depends on neighbours that are gone: path state from there is torn down, leaves beyond take
    /// another way if the routing table knows one (RFC 2205, 3.6), and the root is told of all others.
    pub(in crate::rsvp) fn p2mp_lost_beyond(
        &mut self,
        gone: &impl Fn(Neighbor) -> bool,
        diverted: &mut BTreeMap<(Option<u32>, PortId), u32>,
    ) {
        if self.p2mp.is_idle() {
            return;
        }
        let root = super::here(self.config.router_id);
        for tree in self.p2mp.index.values().copied().collect::<Vec<_>>() {
            let new = self.p2mp_divert(tree, gone, diverted);
            let subs = self.p2mp.sub_indices(tree);
            let mut is_hit = !new.is_empty();
            for sub in subs {
                let Some(state) = self.p2mp.subs.get(sub) else { continue };
                if state.prev_hop != root && gone(state.prev_hop) && !self.p2mp_holds(sub) {
                    self.p2mp_end_sub(sub, SubEvent::PreviousHopLost);
                    is_hit = true;
                    continue;
                }
                is_hit |= self.p2mp_repair(tree, sub, gone);
            }
            if is_hit && self.p2mp.trees.get(tree).is_some() {
                self.p2mp_feed(tree);
                self.p2mp_tell_diverted(tree, &new);
                self.p2mp_answer_all(tree);
            }
        }
    }

    /// Does any part of a tree come from a neighbour, or go to it?
    pub(in crate::rsvp) fn p2mp_depends_on(&self, neighbor: Neighbor) -> bool {
        let depends = |index: u32| {
            let mut subs = self.p2mp.sub_indices(index).into_iter().filter_map(|sub| self.p2mp.subs.get(sub));
            let mut branches =
                self.p2mp.trees.get(index).into_iter().flat_map(|tree| self.p2mp.branches_of(tree));
            subs.any(|sub| sub.prev_hop == neighbor) || branches.any(|branch| branch.to == neighbor)
        };
        self.p2mp.index.values().any(|tree| depends(*tree))
    }

    /// Leaves of a sub-group beyond neighbours that are gone take another way, or leave it. Are there any?
    pub(super) fn p2mp_repair(&mut self, tree: u32, sub: u32, gone: &impl Fn(Neighbor) -> bool) -> bool {
        let (Some(state), Some(lsp)) = (self.p2mp.subs.get(sub), self.p2mp.trees.get(tree)) else {
            return false;
        };
        let (key, attributes, root, ttl) = (lsp.key, lsp.attributes.clone(), lsp.root, state.ttl);
        let mut placed = BTreeMap::new();
        let mut cut: Vec<Ipv4Addr> = Vec::new();
        let mut hit: Vec<(Ipv4Addr, Vec<wire::rsvp::EroHop>)> = Vec::new();
        for (leaf, at) in &state.leaves {
            let branch = at.branch.and_then(|branch| self.p2mp.branches.get(branch));
            match branch {
                Some(branch) if gone(branch.to) && !self.p2mp_is_diverted(tree, branch.to) => {
                    hit.push((*leaf, at.route.clone()))
                }
                _ => drop(placed.insert(*leaf, self.p2mp_placed(*leaf, at))),
            }
        }
        if hit.is_empty() {
            return false;
        }
        for (leaf, route) in hit {
            // At the root the way of each leaf is chosen anew.
            let found = match root {
                Some(_) => None,
                None => self.p2mp_step(&key, leaf, route, false, &attributes, ttl).ok(),
            };
            match found.filter(|found| found.to.as_ref().is_none_or(|(hop, _)| !gone(*hop))) {
                Some(found) => drop(placed.insert(leaf, found)),
                None => cut.push(leaf),
            }
        }
        if let Some(root) = root {
            // The cause first: that reservations go is a consequence.
            self.p2mp_lost(root, &cut, super::loss::Loss::PortDown);
        } else if !cut.is_empty() {
            // RFC 3209, 7.3: the LSP can't be kept up, and the root is told why.
            self.p2mp_problem(sub, &cut, (error_code::ROUTING, routing::NO_ROUTE));
            // The next refresh is to come in full: what is cut is asked for again by it.
            self.transport.unbind(super::path_in(sub));
        }
        if placed.is_empty() {
            self.p2mp_send_last_tear(sub);
            self.p2mp_end_sub(sub, SubEvent::Torn);
        } else {
            self.p2mp_place(sub, placed, false);
        }
        true
    }

    /// RFC 2205, 3.1.6: the reservations of a sub-group go that had been announced.
    pub(super) fn p2mp_send_last_tear(&mut self, sub: u32) {
        for branch in self.p2mp_branches(sub) {
            self.p2mp_unreserve(branch);
        }
        match self.p2mp.subs.get(sub).map(|sub| sub.state) {
            // Whatever leaf is here goes, too.
            Some(SubState::Announced) => self.p2mp_send_resv_tear(sub),
            _ => self.p2mp_answer(sub, Sending::Refresh),
        }
    }
}
