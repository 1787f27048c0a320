//! Leaves of a root that are reached, and those that are lost: pruned, and tried again by another way if there is one.

use super::states::{FeedState, LeafEvent, LeafState, RootState};
use crate::rsvp::Rsvp;
use crate::rsvp::computed::distrust;
use crate::rsvp::error::words;
use crate::rsvp::event::Event;
use base::Time;
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use wire::rsvp::error_code;

/// Attempts without a pause: each avoids the link at which the last one failed.
const ATTEMPTS: u32 = 8;

/// Why a leaf is not reached any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rsvp) enum Loss {
    /// An error was reported: by a router, with a code and a value.
    Error { node: Ipv4Addr, problem: (u8, u16) },
    /// Its reservation was torn down, or was not refreshed.
    Torn,
    /// No Resv named it in time.
    NotSetUp,
    /// The port to the next hop is down.
    PortDown,
    /// A link of its path is announced no more.
    Broken,
}

impl Loss {
    fn describe(self) -> String {
        match self {
            Loss::Error { node, problem } => format!("{} at {node}", words(problem)),
            Loss::Torn => "the reservation was torn down".into(),
            Loss::NotSetUp => "no reservation came in time".into(),
            Loss::PortDown => "the port to the next hop is down".into(),
            Loss::Broken => "a link of its path is gone".into(),
        }
    }
}

/// Leaves to be dealt with when the state is consistent.
pub(in crate::rsvp) type Lost = VecDeque<LostLeaves>;

/// Leaves of an LSP at its root, which is known by its place and generation.
#[derive(Clone, Debug)]
pub(in crate::rsvp) struct LostLeaves {
    root: (u32, u32),
    leaves: Vec<Ipv4Addr>,
    why: Loss,
}

impl Rsvp {
    /// Leaves are reached, or are not any more, as far as the tables and reservations say.
    pub(super) fn p2mp_reached(&mut self, sub: u32) {
        let Some(state) = self.p2mp.subs.get(sub) else { return };
        let leaves: Vec<Ipv4Addr> = state.leaves.keys().copied().collect();
        self.p2mp_reached_these(sub, &leaves, &self.p2mp_branches(sub));
    }

    /// The same of a branch, in which alone anything has changed: there may be many others.
    pub(super) fn p2mp_reached_by(&mut self, branch: u32) {
        let Some(state) = self.p2mp.branches.get(branch) else { return };
        let leaves: Vec<Ipv4Addr> = state.routes.keys().copied().collect();
        self.p2mp_reached_these(state.sub, &leaves, &[branch]);
    }

    /// Leaves of a sub-group, and the branches that they go on by.
    fn p2mp_reached_these(&mut self, sub: u32, leaves: &[Ipv4Addr], branches: &[u32]) {
        let Some(state) = self.p2mp.subs.get(sub) else { return };
        let Some(tree) = self.p2mp.trees.get(state.tree) else { return };
        let Some(index) = tree.root else { return };
        let is_fed = tree.feeds.get(&state.prev_hop).is_some_and(|feed| feed.state == FeedState::InForce);
        let reserved: Vec<bool> = leaves.iter().map(|leaf| self.p2mp_is_reserved(state, *leaf)).collect();
        let Some(root) = self.p2mp.roots.get_mut(index) else { return };
        let (id, of) = (root.spec.id(), root.of);
        let (mut up, mut torn) = (Vec::new(), Vec::new());
        for (&leaf, is_reserved) in leaves.iter().zip(reserved) {
            let Some(state) = root.leaves.get_mut(&leaf).filter(|leaf| leaf.sub == Some(sub)) else {
                continue;
            };
            match (state.state, is_reserved) {
                (LeafState::Signalling, true) if is_fed => {
                    self.counters.faults.step(&mut state.state, LeafEvent::Reserved);
                    (state.failures, state.give_up_at, state.problem) = (0, Time::MAX, None);
                    up.push(leaf);
                }
                (LeafState::Up, false) => torn.push(leaf),
                _ => {}
            }
        }
        if let Some(of) = of {
            // Packets come to its leaves when the traffic is moved there.
            if !up.is_empty() {
                self.p2mp.changing.insert(of);
            }
        } else {
            for leaf in up {
                self.event(Event::LeafUp { tunnel: id, leaf });
            }
        }
        self.p2mp_lost(index, &torn, Loss::Torn);
        if is_fed {
            for &branch in branches {
                self.p2mp_confirm(branch, None);
            }
        }
    }

    /// Leaves of an LSP are lost: to be dealt with when the state is consistent.
    pub(super) fn p2mp_lost(&mut self, index: u32, leaves: &[Ipv4Addr], why: Loss) {
        if self.p2mp.roots.get(index).is_none() {
            return;
        }
        let root = (index, self.p2mp.roots.generation(index));
        // What is known first is the cause; what follows from it would be taken for a failure of the next attempt.
        let mine = self.p2mp_losses.iter().filter(|lost| lost.root == root);
        let known: BTreeSet<Ipv4Addr> = mine.flat_map(|lost| &lost.leaves).copied().collect();
        let new: Vec<Ipv4Addr> = leaves.iter().filter(|leaf| !known.contains(leaf)).copied().collect();
        if !new.is_empty() {
            self.p2mp_losses.push_back(LostLeaves { root, leaves: new, why });
        }
    }

    /// Is there anything for roots to deal with?
    pub(in crate::rsvp) fn p2mp_is_unsettled(&self) -> bool {
        !self.p2mp_losses.is_empty() || !self.p2mp.changing.is_empty()
    }

    /// Deals with leaves that are lost, and with LSPs that take the place of others.
    pub(in crate::rsvp) fn p2mp_settle_roots(&mut self) {
        loop {
            self.p2mp_mourn();
            let Some(index) = self.p2mp.changing.pop_first() else { return };
            self.p2mp_weigh(index);
        }
    }

    /// Deals with leaves that are lost: they are pruned, and tried again by another way if there is one.
    pub(super) fn p2mp_mourn(&mut self) {
        while let Some(LostLeaves { root: (index, generation), leaves, why }) = self.p2mp_losses.pop_front() {
            if self.p2mp.roots.generation(index) != generation {
                continue;
            }
            let Some(root) = self.p2mp.roots.get(index) else { continue };
            let (id, state, tunnel) = (root.spec.id(), root.state, root.of.unwrap_or(index));
            if state == RootState::Retiring {
                // Nothing goes there any more.
                self.p2mp_withdraw(index, &leaves.into_iter().collect(), LeafEvent::Failed);
                continue;
            }
            let (mut again, mut failed) = (BTreeSet::new(), BTreeMap::new());
            for leaf in leaves {
                let known = self.p2mp.roots.get(index).and_then(|root| root.leaves.get(&leaf));
                if known.is_none_or(|known| known.state == LeafState::Down) {
                    continue;
                }
                if let Loss::Error { node, problem: (code, value) } = why {
                    self.event(Event::LeafError { tunnel: id, leaf, node, code, value });
                    // A notification changes nothing (RFC 3209, 7.3).
                    if code == error_code::NOTIFY {
                        continue;
                    }
                } else if state == RootState::Carrying {
                    self.event(Event::LeafDown { tunnel: id, leaf, reason: why.describe() });
                }
                failed.insert(leaf, self.p2mp_blame(index, leaf, why));
            }
            self.p2mp_withdraw(index, &failed.keys().copied().collect(), LeafEvent::Failed);
            for (leaf, is_blamed) in failed {
                if self.p2mp_fail(index, leaf, why.describe(), is_blamed) {
                    again.insert(leaf);
                }
            }
            if again.is_empty() {
                self.p2mp_arm_root(index);
            } else {
                self.p2mp_signal(index, &again);
            }
            self.p2mp.changing.insert(tunnel);
        }
    }

    /// Notes that an attempt failed, and when there is another. Is it worth one at once?
    pub(super) fn p2mp_fail(&mut self, index: u32, leaf: Ipv4Addr, problem: String, is_blamed: bool) -> bool {
        let Some(root) = self.p2mp.roots.get_mut(index) else { return false };
        let (first, most) = (root.spec.retry_first, root.spec.retry_max);
        let Some(state) = root.leaves.get_mut(&leaf) else { return false };
        state.failures = state.failures.saturating_add(1);
        (state.problem, state.give_up_at) = (Some(problem), Time::MAX);
        let failures = state.failures;
        let at_once = is_blamed && failures < ATTEMPTS;
        let at = self.now + self.backoff(first, most, failures);
        if let Some(state) = self.p2mp.roots.get_mut(index).and_then(|root| root.leaves.get_mut(&leaf)) {
            state.retry_at = at;
        }
        at_once
    }

    /// The link at which a leaf failed is avoided from now on. Is it known?
    fn p2mp_blame(&mut self, index: u32, leaf: Ipv4Addr, why: Loss) -> bool {
        let Some(root) = self.p2mp.roots.get(index) else { return false };
        let Some(state) = root.leaves.get(&leaf) else { return false };
        let (way, spec) = (&state.way, Arc::clone(&root.spec));
        let engineering = &mut self.services.engineering;
        let (place, code) = match why {
            Loss::PortDown => (Some(0), error_code::ROUTING),
            Loss::Broken => return true,
            Loss::Torn | Loss::NotSetUp => (None, 0),
            Loss::Error { node, problem: (code, _) } => {
                let router = engineering.router_of(node);
                let at = way.iter().position(|hop| Some(hop.router) == router);
                let place = match at {
                    Some(at) if at + 1 == way.len() => Some(at),
                    Some(at) => Some(at + 1),
                    None => (node == self.config.router_id).then_some(0),
                };
                (place, code)
            }
        };
        let Some(hop) = place.and_then(|place| way.get(place)) else { return false };
        engineering.distrust(self.now, hop.near, distrust(code, spec.setup_priority, spec.bandwidth));
        true
    }
}
