//! The point of local repair of a tree while a neighbour can't be reached, and on the way back (RFC 4875, 15.1.1; RFC
//! 4090, 6.4.3 and 6.5).
//!
//! Copies have gone through the bypass since the port went down, by the backup of their group. What is done here is
//! signalling: Paths of the branches through the bypass, under another sender, and what the merge point answers.

use super::resv::Named;
use super::tree::{Branch, Tree};
use super::{P2mpKey, SubKey, keys, path_out, resv_in, template};
use crate::rsvp::Rsvp;
use crate::rsvp::faults::Fault;
use crate::rsvp::lsp::SenderKey;
use crate::rsvp::protection::{ASKING, Chosen, Protection};
use crate::rsvp::states::{ProtectionEvent, ProtectionState};
use crate::rsvp::transport::Neighbor;
use base::plane::Leg;
use base::{Label, PortId};
use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeMap;
use wire::rsvp::error_code::{self, notify};
use wire::rsvp::{
    Common, EroHop, FilterSpec, Message, PathTear, Resv, RsvpHop, SenderDescriptor, Session, class,
};

impl Rsvp {
    /// How the way of a tree to a neighbour is protected.
    pub(super) fn p2mp_protection(&self, tree: u32, to: Neighbor) -> Option<&Protection> {
        self.p2mp.trees.get(tree)?.protections.get(&to)
    }

    /// Do the packets of a tree to a neighbour go through a bypass?
    pub(super) fn p2mp_is_diverted(&self, tree: u32, to: Neighbor) -> bool {
        self.p2mp_protection(tree, to).is_some_and(|protection| protection.state.is_diverted())
    }

    /// Are its branches signalled to the neighbour again, which is back?
    pub(super) fn p2mp_is_reverting(&self, tree: u32, to: Neighbor) -> bool {
        self.p2mp_protection(tree, to)
            .is_some_and(|protection| protection.state == ProtectionState::Reverting)
    }

    /// Do packets of any tree that left by a port go through a bypass?
    pub(in crate::rsvp) fn p2mp_is_diverted_from(&self, port: PortId) -> bool {
        let mut trees = self.p2mp.index.values().filter_map(|&tree| self.p2mp.trees.get(tree));
        trees.any(|tree| {
            let mut known = tree.protections.iter();
            known.any(|(hop, protection)| hop.port == port && protection.state.is_diverted())
        })
    }

    /// How many trees go through a bypass now.
    pub(in crate::rsvp) fn p2mp_diverted_by(&self, bypass: u32) -> usize {
        let is_user = |protection: &&Protection| {
            protection.state.is_diverted() && protection.chosen.is_some_and(|chosen| chosen.bypass == bypass)
        };
        let trees = self.p2mp.index.values().filter_map(|&tree| self.p2mp.trees.get(tree));
        trees.flat_map(|tree| tree.protections.values()).filter(is_user).count()
    }

    /// The labels and the leg by which packets of a diverted branch go on, to whom the next hop gave a label.
    pub(super) fn p2mp_way_around(&self, branch: &Branch, label: Label) -> Option<Leg> {
        let protection = self.p2mp_protection(branch.tree, branch.to)?;
        self.leg_around(&protection.chosen.filter(|_| protection.state.is_diverted())?, label)
    }

    /// Steps the protection of the way of a tree to a neighbour.
    fn p2mp_step_protection(&mut self, tree: u32, hop: Neighbor, event: ProtectionEvent) {
        let known = self.p2mp.trees.get_mut(tree).and_then(|tree| tree.protections.get_mut(&hop));
        let Some(protection) = known else { return self.counters.faults.note(Fault::NoLsp) };
        self.counters.faults.step(&mut protection.state, event);
    }

    /// Neighbours are gone: ways of a tree there take their bypass tunnels. Those that are new are counted, and what
    /// is told of them comes later, when entries are in order. Is there any?
    pub(super) fn p2mp_divert(
        &mut self,
        index: u32,
        gone: &impl Fn(Neighbor) -> bool,
        diverted: &mut BTreeMap<(Option<u32>, PortId), u32>,
    ) -> Vec<Neighbor> {
        let Some(tree) = self.p2mp.trees.get(index) else { return Vec::new() };
        let hit = tree.protections.iter().filter(|(hop, _)| gone(**hop));
        let hit: Vec<(Neighbor, Protection)> = hit.map(|(hop, protection)| (*hop, *protection)).collect();
        let mut new = Vec::new();
        for (hop, protection) in hit {
            let Some(chosen) = protection.chosen else { continue };
            if self.bypass_leg(chosen.bypass).is_none() {
                // One that is gone with the port is dealt with as it goes.
                self.p2mp_unprotect(index, hop);
                continue;
            }
            self.p2mp_step_protection(index, hop, ProtectionEvent::Failed);
            if protection.state.is_diverted() {
                continue;
            }
            *diverted.entry((Some(chosen.bypass), hop.port)).or_insert(0) += 1;
            for branch in self.p2mp_indices_to(index, hop) {
                // Until the merge point answers, as if the reservation had just been refreshed.
                let period =
                    |branch: &Branch| branch.reserved.as_ref().map_or(0, |reserved| reserved.period_ms);
                let expires = self.now + self.lifetime(self.p2mp.branches.get(branch).map_or(0, period));
                if let Some(state) = self.p2mp.branches.get_mut(branch) {
                    state.is_back = false;
                    state.reserved.iter_mut().for_each(|reserved| reserved.expires = expires);
                }
                self.transport.forget(path_out(branch));
                self.transport.unbind(resv_in(branch));
            }
            new.push(hop);
        }
        new
    }

    /// Tells of ways that took their bypass tunnels: the merge point by Paths, and the root (RFC 4090, 6.5.1).
    pub(super) fn p2mp_tell_diverted(&mut self, index: u32, hops: &[Neighbor]) {
        for &hop in hops {
            self.p2mp_send_paths_to(index, hop);
            self.p2mp_flags_change(index, hop);
            let Some(tree) = self.p2mp.trees.get(index) else { return };
            let mut told: BTreeMap<u32, Vec<Ipv4Addr>> = BTreeMap::new();
            for branch in self.p2mp_branches_to(tree, hop) {
                told.entry(branch.sub).or_default().extend(branch.routes.keys());
            }
            for (sub, leaves) in told {
                self.p2mp_problem(sub, &leaves, (error_code::NOTIFY, notify::LOCALLY_REPAIRED));
            }
        }
    }

    fn p2mp_indices_to(&self, index: u32, hop: Neighbor) -> Vec<u32> {
        let all = self.p2mp.trees.get(index).map(|tree| &tree.branches[..]).unwrap_or_default();
        let is_to = |branch: &&u32| self.p2mp.branches.get(**branch).is_some_and(|branch| branch.to == hop);
        all.iter().filter(is_to).copied().collect()
    }

    /// The bypass that a tree has taken is gone: it takes another, or its leaves there are lost.
    pub(super) fn p2mp_divert_again(&mut self, index: u32, hop: Neighbor) {
        let Some(tree) = self.p2mp.trees.get(index) else { return };
        if let Some(found) = self.p2mp_candidate(tree, hop) {
            self.p2mp_take(index, hop, Some(found));
            return self.p2mp_send_paths_to(index, hop);
        }
        self.p2mp_unprotect(index, hop);
        for sub in self.p2mp.sub_indices(index) {
            self.p2mp_repair(index, sub, &|neighbor| neighbor == hop);
        }
    }

    /// A link has been back for long enough: Paths go along it again, and through the bypass as before.
    pub(in crate::rsvp) fn p2mp_restore(&mut self, port: PortId) {
        for index in self.p2mp.index.values().copied().collect::<Vec<_>>() {
            let Some(tree) = self.p2mp.trees.get(index) else { continue };
            let is_meant = |(hop, protection): &(&Neighbor, &Protection)| {
                hop.port == port && protection.state.is_diverted()
            };
            let hops: Vec<Neighbor> = tree.protections.iter().filter(is_meant).map(|(hop, _)| *hop).collect();
            for hop in hops {
                self.p2mp_step_protection(index, hop, ProtectionEvent::Restored);
                for branch in self.p2mp_indices_to(index, hop) {
                    self.p2mp.branches.get_mut(branch).into_iter().for_each(|branch| branch.is_back = false);
                }
                self.p2mp_send_paths_to(index, hop);
            }
        }
    }

    /// A Resv has come for a branch by the link that was back. When all branches there have theirs, the tree takes the
    /// link again (RFC 4090, 6.5.2).
    pub(super) fn p2mp_revert(&mut self, branch: u32) {
        let Some(state) = self.p2mp.branches.get_mut(branch) else { return };
        state.is_back = true;
        let (index, hop) = (state.tree, state.to);
        let is_back = |branch: &u32| {
            self.p2mp.branches.get(*branch).is_some_and(|branch| branch.is_back || branch.reserved.is_none())
        };
        let all = self.p2mp_indices_to(index, hop);
        if !all.iter().all(is_back) {
            return;
        }
        all.into_iter().for_each(|branch| self.p2mp_send_tear_around(branch));
        self.p2mp_step_protection(index, hop, ProtectionEvent::Reverted);
        self.p2mp_flags_change(index, hop);
    }

    /// The bypass that a diverted branch has taken, and the address by which the merge point knows this router.
    fn p2mp_taken(&self, branch: &Branch) -> Option<(Chosen, SenderKey)> {
        let tree = self.p2mp.trees.get(branch.tree)?;
        let protection = tree.protections.get(&branch.to).filter(|known| known.state.is_diverted())?;
        let (chosen, sender) = (protection.chosen?, tree.key.sender);
        let address = self.address_around(chosen.bypass, sender.address)?;
        Some((chosen, SenderKey { address, ..sender }))
    }

    /// What the merge point of a diverted branch knows it by: a sub-group of its own, since it finds the leaves by the
    /// LSP id alone (RFC 4875, 15.1.1).
    fn p2mp_key_around(&mut self, index: u32) -> Option<SubKey> {
        let branch = self.p2mp.branches.get(index)?;
        if let Some(key) = branch.around {
            return Some(key);
        }
        let key = SubKey { originator: self.config.router_id, id: self.p2mp.take_id(branch.tree) };
        self.p2mp.branches.get_mut(index)?.around = Some(key);
        Some(key)
    }

    /// Sends the Path of a diverted branch through its bypass (RFC 4090, 6.4.3; RFC 4875, 15.1.1).
    pub(super) fn p2mp_send_path_around(&mut self, index: u32) {
        let Some(key) = self.p2mp_key_around(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let Some(branch) = self.p2mp.branches.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        // The bypass may just have gone; what follows from that is on its way.
        let Some((chosen, sender)) = self.p2mp_taken(branch) else { return };
        let Some(tail) = self.tunnels.get(chosen.bypass).map(|tunnel| tunnel.spec.to) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        let beyond = |route: &Vec<EroHop>| match route.is_empty() {
            true => Vec::new(),
            // RFC 4875, 15.1: secondary routes as the explicit one.
            false => self.beyond(chosen.bypass, tail, route.clone()),
        };
        let routes = branch.routes.iter().map(|(leaf, route)| (*leaf, beyond(route))).collect();
        let Some((Message::Path(mut path), (_, leaf), ttl)) = self.p2mp_build_path(index, &routes) else {
            return self.counters.faults.note(Fault::NoLink);
        };
        path.sender_template = template(sender, key);
        path.hop = RsvpHop { address: IpAddr::V4(sender.address), lih: 0 };
        if let Some(attribute) = &mut path.session_attribute {
            attribute.flags &= !ASKING;
        }
        path.common.unknown.retain(|object| object.class != class::FAST_REROUTE);
        self.send_into_bypass(chosen.bypass, (sender.address, leaf), ttl, Message::Path(path));
    }

    /// Sends the PathTear of a diverted branch through its bypass.
    pub(super) fn p2mp_send_tear_around(&mut self, index: u32) {
        let Some(branch) = self.p2mp.branches.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let Some((chosen, sender)) = self.p2mp_taken(branch) else { return };
        // Without a Path around there is nothing to be torn down.
        let Some(key) = branch.around else { return };
        let (Some(tree), Some(tail)) = (self.p2mp.trees.get(branch.tree), self.tunnels.get(chosen.bypass))
        else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let ttl = self.p2mp.subs.get(branch.sub).map_or(self.config.message_ttl, |sub| sub.ttl);
        let tear = PathTear {
            common: Common::default(),
            session: tree.key.session.to_wire(),
            hop: RsvpHop { address: IpAddr::V4(sender.address), lih: 0 },
            sender: Some(SenderDescriptor {
                sender_tspec: Some(tree.attributes.tspec),
                ..SenderDescriptor::of(template(sender, key))
            }),
        };
        let ends = (sender.address, tail.spec.to);
        self.send_into_bypass(chosen.bypass, ends, ttl, Message::PathTear(tear));
    }

    /// The diverted branch that a merge point means: it knows it by another sender, which is an address of this router.
    pub(super) fn p2mp_around(&self, session: &Session, said: &FilterSpec) -> Option<u32> {
        let (session, (sender, key)) = P2mpKey::of(session).zip(keys(said))?;
        self.p2mp_around_of(session, sender, key)
    }

    fn p2mp_around_of(&self, session: P2mpKey, sender: SenderKey, key: SubKey) -> Option<u32> {
        if !self.links.is_own(sender.address) {
            return None;
        }
        let trees = self.p2mp.session(session).filter_map(|tree| self.p2mp.trees.get(tree));
        let is_it = |tree: &&Tree| tree.key.sender.lsp_id == sender.lsp_id && tree.key.sender != sender;
        trees.filter(is_it).flat_map(|tree| &tree.branches).copied().find(|&index| {
            let branch = self.p2mp.branches.get(index).filter(|branch| branch.around == Some(key));
            branch.is_some_and(|branch| self.p2mp_is_diverted(branch.tree, branch.to))
        })
    }

    /// A merge point answers for a diverted branch: that refreshes its reservation. Leaves that it does not name are
    /// gone (RFC 4875, 7.2.1).
    pub(super) fn p2mp_refreshed_around(&mut self, index: u32, resv: &Resv, label: Label, leaves: &Named) {
        let period = resv.time_values.refresh_ms;
        let expires = self.now + self.lifetime(period);
        let Some(branch) = self.p2mp.branches.get_mut(index) else { return };
        let (tree, sub, hop) = (branch.tree, branch.sub, branch.to);
        let Some(reserved) = &mut branch.reserved else { return };
        (reserved.period_ms, reserved.expires) = (period, expires);
        let own = reserved.label;
        let before = reserved.leaves.clone();
        reserved.leaves.retain(|leaf, route| match leaves.get(leaf) {
            Some(said) => {
                route.clone_from(said);
                true
            }
            None => false,
        });
        let is_other = reserved.leaves != before;
        if let Some(sub) = self.p2mp.subs.get_mut(sub).filter(|_| is_other) {
            sub.is_rerecorded = true;
        }
        let chosen = self.p2mp_protection(tree, hop).and_then(|protection| protection.chosen);
        if let Some(chosen) = chosen.filter(|chosen| chosen.swap.unwrap_or(own) != label) {
            // The merge point knows the tree by another label than was recorded.
            self.p2mp_relabel(tree, hop, chosen, label);
        }
        self.p2mp_released(index);
        self.p2mp_arm_branch(index);
    }

    fn p2mp_relabel(&mut self, tree: u32, hop: Neighbor, chosen: Chosen, label: Label) {
        let group = self.enter_group(hop, chosen.bypass, Some(label));
        self.count_user(chosen.bypass, true, chosen.committed);
        self.let_go(chosen);
        let known = self.p2mp.trees.get_mut(tree).and_then(|tree| tree.protections.get_mut(&hop));
        if let Some(protection) = known {
            protection.chosen = Some(Chosen { swap: Some(label), group, ..chosen });
        }
    }
}
