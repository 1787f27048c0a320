//! Leaves in their place: sub-groups as they came, and the branches by which they go on.

use super::path::Placed;
use super::states::{BranchState, SubState};
use super::tree::{Attributes, Branch, LeafAt, Sub, Tree};
use super::{Alarm, SubKey, TreeKey};
use crate::rsvp::Rsvp;
use crate::rsvp::faults::Fault;
use crate::rsvp::outbox::Sending;
use crate::rsvp::transport::Neighbor;
use base::Time;
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet};
use wire::rsvp::EroHop;

impl Rsvp {
    pub(super) fn p2mp_tree(&mut self, key: TreeKey, attributes: Attributes) -> u32 {
        let tree = Tree {
            key,
            attributes,
            subs: Vec::new(),
            branches: Vec::new(),
            feeds: BTreeMap::new(),
            root: None,
            protections: BTreeMap::new(),
            around: Vec::new(),
            is_leaf: false,
        };
        let index = self.p2mp.trees.insert(tree);
        self.p2mp.index.insert(key, index);
        index
    }

    pub(super) fn p2mp_sub(&mut self, tree: u32, key: SubKey, prev_hop: Neighbor) -> u32 {
        self.p2mp.order += 1;
        let index = self.p2mp.subs.insert(Sub {
            tree,
            key,
            state: SubState::Waiting,
            prev_hop,
            lih: 0,
            ttl: self.config.message_ttl,
            leaves: BTreeMap::new(),
            ends_here: false,
            order: self.p2mp.order,
            rro: None,
            adspec: None,
            unknown: Vec::new(),
            policy: Vec::new(),
            announced: Vec::new(),
            announced_as: None,
            is_cut_off: false,
            is_rerecorded: false,
            confirm: None,
            asked: Vec::new(),
            period_ms: 0,
            expires: Time::MAX,
            resv_sent_at: Time::ZERO,
            resv_refresh_at: Time::MAX,
            alarm: Alarm::default(),
        });
        if let Some(tree) = self.p2mp.trees.get_mut(tree) {
            tree.subs.push(index);
        }
        index
    }

    /// Puts the leaves of a sub-group where they are to be: those that are missing leave it, those that go elsewhere
    /// leave their branch. Branches of which anything changes are signalled; all of them if there is other news.
    pub(super) fn p2mp_place(&mut self, sub: u32, placed: BTreeMap<Ipv4Addr, Placed>, news: bool) {
        let Some(state) = self.p2mp.subs.get_mut(sub) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let tree = state.tree;
        let before = core::mem::take(&mut state.leaves);
        let mut touched: BTreeSet<u32> = BTreeSet::new();
        let mut pending: BTreeMap<Neighbor, Vec<(Ipv4Addr, Vec<EroHop>)>> = BTreeMap::new();
        let mut leaves: BTreeMap<Ipv4Addr, LeafAt> = BTreeMap::new();
        for (leaf, at) in &before {
            let Some(index) = at.branch else { continue };
            let Some(branch) = self.p2mp.branches.get_mut(index) else { continue };
            let stays = placed.get(leaf).and_then(|placed| placed.to.as_ref()).filter(|to| to.0 == branch.to);
            match stays {
                Some((_, rest)) => {
                    if branch.routes.get(leaf) != Some(rest) {
                        branch.routes.insert(*leaf, rest.clone());
                        touched.insert(index);
                    }
                }
                None => {
                    branch.routes.remove(leaf);
                    if let Some(reserved) = &mut branch.reserved {
                        reserved.leaves.remove(leaf);
                    }
                    touched.insert(index);
                }
            }
        }
        for (leaf, Placed { route, to }) in placed {
            let branch = to.and_then(|(hop, rest)| {
                let old = before.get(&leaf).and_then(|at| at.branch);
                let old = old.filter(|&old| self.p2mp.branches.get(old).is_some_and(|old| old.to == hop));
                if old.is_none() {
                    pending.entry(hop).or_default().push((leaf, rest));
                }
                old
            });
            leaves.insert(leaf, LeafAt { route, branch });
        }
        for (hop, waiting) in pending {
            for (branch, leaf, rest) in self.p2mp_fill(tree, sub, hop, waiting) {
                if let Some(state) = self.p2mp.branches.get_mut(branch) {
                    state.routes.insert(leaf, rest);
                }
                if let Some(at) = leaves.get_mut(&leaf) {
                    at.branch = Some(branch);
                }
                touched.insert(branch);
            }
        }
        self.p2mp.s2ls = self.p2mp.s2ls.saturating_sub(before.len()) + leaves.len();
        if let Some(state) = self.p2mp.subs.get_mut(sub) {
            state.ends_here = leaves.values().any(|at| at.branch.is_none());
            state.leaves = leaves;
        }
        if news {
            touched.extend(self.p2mp_branches(sub));
        }
        for branch in touched {
            if self.p2mp.branches.get(branch).is_some_and(|branch| branch.routes.is_empty()) {
                self.p2mp_end_branch(branch, true);
            } else {
                self.p2mp_released(branch);
                self.p2mp_send_path(branch, Sending::Trigger);
            }
        }
    }

    /// A leaf where it is now.
    pub(super) fn p2mp_placed(&self, leaf: Ipv4Addr, at: &LeafAt) -> Placed {
        let branch = at.branch.and_then(|branch| self.p2mp.branches.get(branch));
        let to = branch.and_then(|branch| Some((branch.to, branch.routes.get(&leaf)?.clone())));
        Placed { route: at.route.clone(), to }
    }

    /// The branches of a sub-group.
    pub(super) fn p2mp_branches(&self, sub: u32) -> Vec<u32> {
        let tree = self.p2mp.subs.get(sub).and_then(|sub| self.p2mp.trees.get(sub.tree));
        let all = tree.map(|tree| &tree.branches[..]).unwrap_or_default();
        let of = |&&index: &&u32| self.p2mp.branches.get(index).is_some_and(|branch| branch.sub == sub);
        all.iter().filter(of).copied().collect()
    }

    /// Gives leaves that go to a neighbour to branches, each no longer than a Path may be (RFC 4875, 5.2.3).
    fn p2mp_fill(
        &mut self,
        tree: u32,
        sub: u32,
        hop: Neighbor,
        waiting: Vec<(Ipv4Addr, Vec<EroHop>)>,
    ) -> Vec<(u32, Ipv4Addr, Vec<EroHop>)> {
        let (Some(state), Some(lsp)) = (self.p2mp.subs.get(sub), self.p2mp.trees.get(tree)) else {
            self.counters.faults.note(Fault::NoLsp);
            return Vec::new();
        };
        let room = self.p2mp_room(lsp, state, hop.port);
        let there = self.p2mp_branches(sub);
        let last = there
            .iter()
            .rev()
            .copied()
            .find(|&branch| self.p2mp.branches.get(branch).is_some_and(|branch| branch.to == hop));
        let begun: Vec<Vec<EroHop>> = last
            .and_then(|last| self.p2mp.branches.get(last))
            .map_or_else(Vec::new, |last| last.routes.values().cloned().collect());
        // Routes that differ least lie side by side.
        let mut waiting = waiting;
        waiting.sort_by(|a, b| (a.1.is_empty(), &a.1, a.0).cmp(&(b.1.is_empty(), &b.1, b.0)));
        let parts = super::path_send::divide(&begun, &waiting, room);
        let mut parts = parts.into_iter();
        let mut filled = Vec::new();
        let added = parts.next().unwrap_or(0);
        let mut rest = waiting.into_iter();
        if let Some(last) = last {
            filled.extend(rest.by_ref().take(added).map(|(leaf, route)| (last, leaf, route)));
        }
        let counts: Vec<usize> =
            if last.is_none() { [added].into_iter().chain(parts).collect() } else { parts.collect() };
        let counts: Vec<usize> = counts.into_iter().filter(|count| *count > 0).collect();
        let (key, own) = (self.p2mp.subs.get(sub).map(|sub| sub.key), self.config.router_id);
        // Another previous hop may have the same name for leaves that go on by the same neighbour, which would take one
        // Path for the other.
        let is_free = |key: SubKey| self.p2mp.branch(tree, key, hop).is_none();
        let alone = last.is_none() && counts.len() == 1 && key.is_some_and(is_free);
        for count in counts {
            let key = match key.filter(|_| alone) {
                Some(key) => key,
                // RFC 4875, 5.2.3: Paths into which one is divided are this router's.
                None => SubKey { originator: own, id: self.p2mp.take_id(tree) },
            };
            let branch = self.p2mp.branches.insert(Branch {
                tree,
                sub,
                key,
                to: hop,
                around: Vec::new(),
                state: BranchState::Signalled,
                routes: BTreeMap::new(),
                reserved: None,
                is_back: false,
                path_refresh_at: Time::MAX,
                alarm: Alarm::default(),
            });
            if let Some(tree) = self.p2mp.trees.get_mut(tree) {
                tree.branches.push(branch);
            }
            filled.extend(rest.by_ref().take(count).map(|(leaf, route)| (branch, leaf, route)));
        }
        filled
    }
}
