//! The point of local repair of a tree while a neighbour can't be reached, and on the way back (RFC 4875, 15.1.1; RFC
//! 4090, 6.4.3 and 6.5).
//!
//! Copies have gone through the bypass since the port went down, by the backup of their group. What is done here is
//! signalling: Paths of the branches through the bypass, under another sender, and what the merge point answers.

use super::resv::Named;
use super::shares::{Guarded, Leaves, Share};
use super::tree::{Branch, Known, Tree};
use super::{P2mpKey, SubKey, keys, path_out, resv_in, template};
use crate::rsvp::Rsvp;
use crate::rsvp::faults::Fault;
use crate::rsvp::lsp::SenderKey;
use crate::rsvp::outbox::ipv4;
use crate::rsvp::protection::{ASKING, Chosen};
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
    pub(super) fn p2mp_protection(&self, tree: u32, to: Neighbor) -> Option<&Guarded> {
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
        let is_user = |guarded: &&Guarded| guarded.state.is_diverted() && guarded.of(bypass).is_some();
        let trees = self.p2mp.index.values().filter_map(|&tree| self.p2mp.trees.get(tree));
        trees.flat_map(|tree| tree.protections.values()).filter(is_user).count()
    }

    /// The labels and the legs by which packets of a diverted branch go on, to whom the next hop gave a label, and the
    /// leaves that each is for; none if it is not diverted.
    pub(super) fn p2mp_ways_around(&self, branch: &Branch, label: Label) -> Vec<(Leg, &Leaves)> {
        let guarded = self.p2mp_protection(branch.tree, branch.to);
        let shares = guarded.filter(|guarded| guarded.state.is_diverted()).map(|guarded| &guarded.shares[..]);
        let shares = shares.unwrap_or_default().iter();
        shares.filter_map(|share| Some((self.leg_around(&share.chosen, label)?, &share.leaves))).collect()
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
        let hit: Vec<(Neighbor, Guarded)> = hit.map(|(hop, guarded)| (*hop, guarded.clone())).collect();
        let mut new = Vec::new();
        for (hop, guarded) in hit {
            let is_gone = |share: &Share| self.bypass_leg(share.chosen.bypass).is_none();
            if guarded.shares.is_empty() {
                continue;
            }
            if guarded.shares.iter().all(is_gone) {
                // One that is gone with the port is dealt with as it goes.
                self.p2mp_unprotect(index, hop);
                continue;
            }
            self.p2mp_step_protection(index, hop, ProtectionEvent::Failed);
            if guarded.state.is_diverted() {
                continue;
            }
            for share in &guarded.shares {
                *diverted.entry((Some(share.chosen.bypass), hop.port)).or_insert(0) += 1;
            }
            for branch in self.p2mp_indices_to(index, hop) {
                // Until the merge point answers, as if the reservation had just been refreshed.
                let period =
                    |branch: &Branch| branch.reserved.as_ref().map_or(0, |reserved| reserved.period_ms);
                let expires = self.now + self.lifetime(self.p2mp.branches.get(branch).map_or(0, period));
                if let Some(state) = self.p2mp.branches.get_mut(branch) {
                    state.is_back = false;
                    // What merge points knew before is of another failure.
                    state.around.clear();
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

    pub(super) fn p2mp_indices_to(&self, index: u32, hop: Neighbor) -> Vec<u32> {
        let all = self.p2mp.trees.get(index).map(|tree| &tree.branches[..]).unwrap_or_default();
        let is_to = |branch: &&u32| self.p2mp.branches.get(**branch).is_some_and(|branch| branch.to == hop);
        all.iter().filter(is_to).copied().collect()
    }

    /// A bypass that a tree has taken is gone: its leaves there take another to the same merge point, or they are lost.
    pub(super) fn p2mp_divert_again(&mut self, index: u32, hop: Neighbor, bypass: u32) {
        let Some(tree) = self.p2mp.trees.get(index) else { return };
        let shares = tree.protections.get(&hop).map(|guarded| guarded.shares.clone()).unwrap_or_default();
        let Some(at) = shares.iter().position(|share| share.chosen.bypass == bypass) else { return };
        let old = shares[at].chosen;
        let used: Vec<u32> = shares.iter().map(|share| share.chosen.bypass).collect();
        if let Some(found) = self.instead(old, self.p2mp_wish(tree), &used) {
            let chosen = self.enter(hop, found);
            self.let_go(old);
            if let Some(share) = self.p2mp_share_mut(index, hop, bypass) {
                share.chosen = chosen;
            }
            // The merge point is the same: it knows the sub-group by the same name, and for as long.
            for branch in self.p2mp_indices_to(index, hop) {
                let Some(branch) = self.p2mp.branches.get_mut(branch) else { continue };
                branch.around.retain(|known| known.bypass != chosen.bypass);
                let known = branch.around.iter_mut().filter(|known| known.bypass == bypass);
                known.for_each(|known| known.bypass = chosen.bypass);
            }
            return self.p2mp_send_paths_to(index, hop);
        }
        if shares.len() > 1 {
            return self.p2mp_lose_share(index, hop, bypass);
        }
        self.p2mp_unprotect(index, hop);
        for sub in self.p2mp.sub_indices(index) {
            self.p2mp_repair(index, sub, &|neighbor| neighbor == hop);
        }
    }

    fn p2mp_share_mut(&mut self, index: u32, hop: Neighbor, bypass: u32) -> Option<&mut Share> {
        let guarded = self.p2mp.trees.get_mut(index)?.protections.get_mut(&hop)?;
        guarded.shares.iter_mut().find(|share| share.chosen.bypass == bypass)
    }

    /// No bypass leads to a merge point any more, while others lead to theirs: the leaves behind it are lost.
    fn p2mp_lose_share(&mut self, index: u32, hop: Neighbor, bypass: u32) {
        let known = self.p2mp.trees.get_mut(index).and_then(|tree| tree.protections.get_mut(&hop));
        let Some(guarded) = known else { return };
        let Some(at) = guarded.shares.iter().position(|share| share.chosen.bypass == bypass) else { return };
        let gone = guarded.shares.remove(at);
        self.let_go(gone.chosen);
        for branch in self.p2mp_indices_to(index, hop) {
            let Some(state) = self.p2mp.branches.get_mut(branch) else { continue };
            state.around.retain(|known| known.bypass != bypass);
            let sub = state.sub;
            let Some(reserved) = &mut state.reserved else { continue };
            let lost: Vec<Ipv4Addr> =
                reserved.leaves.keys().filter(|leaf| gone.leaves.has(**leaf)).copied().collect();
            reserved.leaves.retain(|leaf, _| !gone.leaves.has(*leaf));
            self.p2mp_released(branch);
            self.p2mp_problem(sub, &lost, (error_code::ROUTING, error_code::routing::NO_ROUTE));
        }
    }

    /// A link has been back for long enough: Paths go along it again, and through the bypass as before.
    pub(in crate::rsvp) fn p2mp_restore(&mut self, port: PortId) {
        for index in self.p2mp.index.values().copied().collect::<Vec<_>>() {
            let Some(tree) = self.p2mp.trees.get(index) else { continue };
            let is_meant =
                |(hop, guarded): &(&Neighbor, &Guarded)| hop.port == port && guarded.state.is_diverted();
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

    /// The address by which the merge point at the end of a bypass knows this router.
    fn p2mp_sender_around(&self, tree: u32, bypass: u32) -> Option<SenderKey> {
        let sender = self.p2mp.trees.get(tree)?.key.sender;
        let address = self.address_around(bypass, sender.address)?;
        Some(SenderKey { address, ..sender })
    }

    /// The shares of a diverted branch that merge points know, each with what it is called there.
    pub(super) fn p2mp_known_around(&self, index: u32) -> Vec<(Share, Known, SenderKey)> {
        let Some(branch) = self.p2mp.branches.get(index) else { return Vec::new() };
        let known = |share: Share| {
            let known = *branch.around.iter().find(|known| known.bypass == share.chosen.bypass)?;
            let sender = self.p2mp_sender_around(branch.tree, known.bypass)?;
            Some((share, known, sender))
        };
        self.p2mp_taken(index).into_iter().filter_map(known).collect()
    }

    /// The shares of a diverted branch.
    fn p2mp_taken(&self, index: u32) -> Vec<Share> {
        let Some(branch) = self.p2mp.branches.get(index) else { return Vec::new() };
        let guarded = self.p2mp_protection(branch.tree, branch.to);
        let diverted = guarded.filter(|guarded| guarded.state.is_diverted());
        diverted.map(|guarded| guarded.shares.clone()).unwrap_or_default()
    }

    /// What the merge point of a diverted branch knows it by: a sub-group of its own, since it finds the leaves by the
    /// LSP id alone (RFC 4875, 15.1.1).
    fn p2mp_key_around(&mut self, index: u32, bypass: u32) -> Option<SubKey> {
        let branch = self.p2mp.branches.get(index)?;
        if let Some(known) = branch.around.iter().find(|known| known.bypass == bypass) {
            return Some(known.key);
        }
        let expires = branch.reserved.as_ref().map_or(self.now, |reserved| reserved.expires);
        let key = SubKey { originator: self.config.router_id, id: self.p2mp.take_id(branch.tree) };
        self.p2mp.branches.get_mut(index)?.around.push(Known { bypass, key, expires, answered_by: None });
        Some(key)
    }

    /// Sends the Paths of a diverted branch through its bypass tunnels (RFC 4090, 6.4.3; RFC 4875, 15.1.1).
    pub(super) fn p2mp_send_path_around(&mut self, index: u32) {
        let shares = self.p2mp_taken(index);
        if let Some(branch) = self.p2mp.branches.get(index) {
            // No bypass leads to these, and the tree is not on its link: they have no way from here.
            let is_led = |leaf: &Ipv4Addr| shares.iter().any(|share| share.leaves.has(*leaf));
            let lost: Vec<Ipv4Addr> = branch.routes.keys().filter(|leaf| !is_led(leaf)).copied().collect();
            let (tree, to, sub) = (branch.tree, branch.to, branch.sub);
            if !lost.is_empty() && !self.p2mp_is_reverting(tree, to) {
                self.p2mp_problem(sub, &lost, (error_code::ROUTING, error_code::routing::NO_ROUTE));
            }
        }
        for share in shares {
            let Some(branch) = self.p2mp.branches.get(index) else { return };
            if branch.routes.keys().any(|leaf| share.leaves.has(*leaf)) {
                self.p2mp_send_path_into(index, &share);
            } else {
                // Its leaves there have been pruned.
                self.p2mp_send_tear_into(index, share.chosen);
                let known = self.p2mp.branches.get_mut(index);
                known
                    .into_iter()
                    .for_each(|it| it.around.retain(|known| known.bypass != share.chosen.bypass));
            }
        }
    }

    fn p2mp_send_path_into(&mut self, index: u32, share: &Share) {
        let chosen = share.chosen;
        let Some(key) = self.p2mp_key_around(index, chosen.bypass) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let Some(branch) = self.p2mp.branches.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        // The bypass may just have gone; what follows from that is on its way.
        let Some(sender) = self.p2mp_sender_around(branch.tree, chosen.bypass) else { return };
        let Some(tail) = self.tunnels.get(chosen.bypass).map(|tunnel| tunnel.spec.to) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        let beyond = |route: &Vec<EroHop>| match route.is_empty() {
            true => Vec::new(),
            // RFC 4875, 15.1: secondary routes as the explicit one.
            false => self.beyond(chosen.bypass, tail, route.clone()),
        };
        let routes = branch.routes.iter().filter(|(leaf, _)| share.leaves.has(**leaf));
        let routes = routes.map(|(leaf, route)| (*leaf, beyond(route))).collect();
        let Some((Message::Path(mut path), (_, leaf), ttl)) = self.p2mp_build_path(index, Some(&routes))
        else {
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

    /// Sends the PathTears of a diverted branch through its bypass tunnels.
    pub(super) fn p2mp_send_tear_around(&mut self, index: u32) {
        self.p2mp_taken(index).into_iter().for_each(|share| self.p2mp_send_tear_into(index, share.chosen));
    }

    fn p2mp_send_tear_into(&mut self, index: u32, chosen: Chosen) {
        let Some(branch) = self.p2mp.branches.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let Some(sender) = self.p2mp_sender_around(branch.tree, chosen.bypass) else { return };
        // Without a Path around there is nothing to be torn down.
        let known = branch.around.iter().find(|known| known.bypass == chosen.bypass);
        let Some(key) = known.map(|known| known.key) else { return };
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

    /// The diverted branch that a merge point means, and the leaves that are led to it: it knows them by another
    /// sender, which is an address of this router.
    pub(super) fn p2mp_around(&self, session: &Session, said: &FilterSpec) -> Option<(u32, Share)> {
        let (session, (sender, key)) = P2mpKey::of(session).zip(keys(said))?;
        if !self.links.is_own(sender.address) {
            return None;
        }
        let trees = self.p2mp.session(session).filter_map(|tree| self.p2mp.trees.get(tree));
        let is_it = |tree: &&Tree| tree.key.sender.lsp_id == sender.lsp_id && tree.key.sender != sender;
        trees.filter(is_it).flat_map(|tree| &tree.branches).copied().find_map(|index| {
            let branch = self.p2mp.branches.get(index)?;
            let known = branch.around.iter().find(|known| known.key == key)?;
            let guarded = self.p2mp_protection(branch.tree, branch.to)?;
            Some((index, guarded.of(known.bypass).filter(|_| guarded.state.is_diverted())?.clone()))
        })
    }

    /// A merge point answers for a diverted branch: that refreshes its reservation. Leaves that it does not name are
    /// gone (RFC 4875, 7.2.1).
    pub(super) fn p2mp_refreshed_around(
        &mut self,
        (index, share): (u32, &Share),
        resv: &Resv,
        label: Label,
        leaves: &Named,
    ) {
        let period = resv.time_values.refresh_ms;
        let expires = self.now + self.lifetime(period);
        let Some(branch) = self.p2mp.branches.get_mut(index) else { return };
        let (tree, sub, hop) = (branch.tree, branch.sub, branch.to);
        let known = branch.around.iter_mut().filter(|known| known.bypass == share.chosen.bypass);
        known.for_each(|known| {
            known.expires = expires;
            known.answered_by = ipv4(resv.hop.address).map(|address| (address, resv.hop.lih));
        });
        let Some(reserved) = &mut branch.reserved else { return };
        reserved.period_ms = period;
        let own = reserved.label;
        let before = reserved.leaves.clone();
        reserved.leaves.retain(|leaf, _| !share.leaves.has(*leaf) || leaves.contains_key(leaf));
        let is_mine = |leaf: Ipv4Addr| share.leaves.has(leaf) && branch.routes.contains_key(&leaf);
        let said = leaves.iter().filter(|(leaf, _)| is_mine(**leaf));
        reserved.leaves.extend(said.map(|(leaf, route)| (*leaf, route.clone())));
        if let Some(receiver) = resv.resv_confirm {
            let asked = leaves.keys().filter(|leaf| is_mine(**leaf)).copied().collect();
            reserved.wait(receiver, asked);
        }
        let is_other = reserved.leaves != before;
        if let Some(sub) = self.p2mp.subs.get_mut(sub).filter(|_| is_other) {
            sub.is_rerecorded = true;
        }
        if share.chosen.swap.unwrap_or(own) != label {
            // The merge point knows the tree by another label than was recorded.
            self.p2mp_relabel(tree, hop, share.chosen, label);
        }
        self.p2mp_released(index);
        self.p2mp_expire_around(index);
    }

    fn p2mp_relabel(&mut self, tree: u32, hop: Neighbor, chosen: Chosen, label: Label) {
        let group = self.enter_group(hop, chosen.bypass, Some(label));
        self.count_user(chosen.bypass, true, chosen.committed);
        self.let_go(chosen);
        if let Some(share) = self.p2mp_share_mut(tree, hop, chosen.bypass) {
            share.chosen = Chosen { swap: Some(label), group, ..chosen };
        }
    }

    /// Leaves of a diverted branch go whose merge point has been silent for too long; the first of the others is waited
    /// for.
    pub(super) fn p2mp_expire_around(&mut self, index: u32) {
        let (now, shares) = (self.now, self.p2mp_taken(index));
        let Some(branch) = self.p2mp.branches.get_mut(index) else { return };
        let (around, Some(reserved)) = (&branch.around, &mut branch.reserved) else { return };
        let last = reserved.expires;
        let until = |leaf: &Ipv4Addr| {
            let share = shares.iter().find(|share| share.leaves.has(*leaf));
            let known = share.and_then(|share| around.iter().find(|it| it.bypass == share.chosen.bypass));
            known.map_or(last, |known| known.expires)
        };
        reserved.leaves.retain(|leaf, _| until(leaf) > now);
        if let Some(next) = reserved.leaves.keys().map(until).min() {
            reserved.expires = next;
        }
        self.p2mp_released(index);
        self.p2mp_arm_branch(index);
    }
}
