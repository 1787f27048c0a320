//! Fast reroute of trees at the point of local repair, before anything fails (RFC 4875, 15.1).
//!
//! What is protected is the way of a tree to one neighbour: all its leaves there have one label, and one bypass tunnel
//! takes them all around the link. The branch in the list of copies names the group of next hops whose backup is the
//! bypass, as an entry of an LSP with one end does. Around the neighbour there may be several: see `shares`.

use super::shares::{Found, Guarded, Share, are_unchanged};
use super::tree::{Branch, Tree};
use crate::rsvp::Rsvp;
use crate::rsvp::faults::Fault;
use crate::rsvp::outbox::Sending;
use crate::rsvp::protection::{Candidate, End, Protection, Wish, recorded};
use crate::rsvp::states::ProtectionEvent;
use crate::rsvp::transport::Neighbor;
use base::plane::{NextHop, Nhlfe};
use base::{Label, PortId};
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet};
use wire::rsvp::{FastReroute, Object, SessionAttribute};

/// Which protection a tree asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// None.
    Nothing,
    /// Bypass tunnels.
    Bypass,
    /// Detours, and no bypass tunnels.
    Detours,
}

/// The most bypass tunnels around one neighbour that are made for a tree: each of them means another copy.
const SHARES_MAX: usize = 32;

/// Nodes on the recorded way to a leaf, the next hop first, with the labels that are good on all their ports.
pub(super) type Way = Vec<(Ipv4Addr, Option<Label>)>;

impl Rsvp {
    /// What Paths of a tree say of its backup, if they do (RFC 4090, 4.1): all of them the same (RFC 4875, 15).
    fn p2mp_fast_reroute(&self, tree: &Tree) -> Option<FastReroute> {
        let mut carried = self.p2mp.subs_of(tree).flat_map(|sub| &sub.unknown);
        carried.find_map(|object| match object.read() {
            Object::FastReroute(asked) => Some(asked),
            _ => None,
        })
    }

    /// What protection a tree asks for (RFC 4090, 5 and 6): who asks for either way gets what serves many.
    pub(super) fn p2mp_asked(&self, tree: &Tree) -> Asked {
        let flags = tree.attributes.session_attribute.as_ref().map_or(0, |said| said.flags);
        let either = FastReroute::ONE_TO_ONE | FastReroute::FACILITY;
        match self.p2mp_fast_reroute(tree) {
            Some(asked) if asked.flags & either == FastReroute::ONE_TO_ONE => Asked::Detours,
            Some(_) => Asked::Bypass,
            None if flags & SessionAttribute::LOCAL_PROTECTION != 0 => Asked::Bypass,
            None => Asked::Nothing,
        }
    }

    /// Does a tree ask for protection?
    pub(super) fn p2mp_wants_protection(&self, tree: &Tree) -> bool {
        self.p2mp_asked(tree) != Asked::Nothing
    }

    /// What is asked of its backups beside that they lead around links.
    pub(super) fn p2mp_wish(&self, tree: &Tree) -> Wish {
        let flags = tree.attributes.session_attribute.as_ref().map_or(0, |said| said.flags);
        let said = self.p2mp_fast_reroute(tree).map(|asked| base::Rate::from_bytes_per_s(asked.bandwidth));
        Wish {
            node: flags & SessionAttribute::NODE_PROTECTION != 0,
            bandwidth: flags & SessionAttribute::BANDWIDTH_PROTECTION != 0,
            rate: said.unwrap_or_else(|| tree.attributes.rate()),
        }
    }

    /// The reserved branches of a tree to a neighbour.
    pub(super) fn p2mp_branches_to(&self, tree: &Tree, hop: Neighbor) -> impl Iterator<Item = &Branch> {
        self.p2mp.branches_of(tree).filter(move |branch| branch.to == hop && branch.reserved.is_some())
    }

    /// The recorded ways to all leaves beyond a neighbour.
    pub(super) fn p2mp_recorded(&self, tree: &Tree, hop: Neighbor) -> BTreeMap<Ipv4Addr, Way> {
        let reserved = self.p2mp_branches_to(tree, hop).filter_map(|branch| branch.reserved.as_ref());
        let routes = reserved.flat_map(|reserved| &reserved.leaves);
        routes.map(|(leaf, route)| (*leaf, recorded(route.as_deref().unwrap_or_default()))).collect()
    }

    /// The one label that a neighbour gave for a tree (RFC 4875, 5.2.1); none if it gave several.
    pub(super) fn p2mp_label(&self, tree: &Tree, hop: Neighbor) -> Option<Label> {
        let reserved = self.p2mp_branches_to(tree, hop).filter_map(|branch| branch.reserved.as_ref());
        let labels: BTreeSet<Label> = reserved.map(|reserved| reserved.label).collect();
        labels.first().copied().filter(|_| labels.len() == 1)
    }

    /// Where a bypass ends, as seen from a tree. One to the neighbour takes all leaves; one that ends further on only
    /// if the ways to all of them come there (RFC 4875, 15.1.2).
    pub(super) fn p2mp_end(
        &self,
        bypass: u32,
        label: Label,
        hop: Neighbor,
        ways: &BTreeMap<Ipv4Addr, Way>,
    ) -> End {
        let ends = || ways.values().map(|way| self.end_of(bypass, label, hop, way));
        let next = End::Labelled { swap: None, node: false };
        if ends().any(|end| end == next) {
            return next;
        }
        let Some(first) = ends().next().filter(|first| ends().all(|end| end == *first)) else {
            return if ends().any(|end| end == End::Elsewhere) { End::Elsewhere } else { End::Unlabelled };
        };
        match first {
            // The label that the next hop recorded is none that it gave.
            End::Labelled { node: false, .. } => End::Unlabelled,
            end => end,
        }
    }

    /// The best bypass that takes all leaves of a tree beyond a neighbour, among those that are up.
    pub(super) fn p2mp_candidate(&self, tree: &Tree, hop: Neighbor) -> Option<Candidate> {
        let asks = self.p2mp_asked(tree) == Asked::Bypass;
        let label = self.p2mp_label(tree, hop).filter(|_| asks)?;
        let ways = self.p2mp_recorded(tree, hop);
        let own = tree.protections.get(&hop).and_then(|guarded| guarded.shares.first());
        let own = own.map(|share| share.chosen);
        self.best(hop, self.p2mp_wish(tree), own, |bypass| self.p2mp_end(bypass, label, hop, &ways))
    }

    /// Could a bypass lead around the neighbour, too: is it no leaf, nor the last router but for the leaves?
    pub(super) fn p2mp_seeks_node(&self, tree: &Tree, hop: Neighbor) -> bool {
        self.p2mp_wish(tree).node && self.p2mp_recorded(tree, hop).values().all(|way| way.len() != 1)
    }

    /// Has the way of a tree to a neighbour less protection than the tree asks for?
    fn p2mp_lacks_protection(&self, tree: &Tree, hop: Neighbor, found: &[Found]) -> bool {
        let (wish, seeks) = (self.p2mp_wish(tree), self.p2mp_seeks_node(tree, hop));
        let lacks = |(found, _): &Found| (seeks && !found.node) || (wish.bandwidth && !found.bandwidth);
        found.is_empty() || found.iter().any(lacks)
    }

    /// Is a bypass of the port up that would do if a recorded label was known to be good on other ports?
    pub(super) fn p2mp_lacks_label(&self, tree: &Tree, hop: Neighbor) -> bool {
        let Some(label) = self.p2mp_label(tree, hop) else { return false };
        let ways = self.p2mp_recorded(tree, hop);
        let mut all = self.protections.of_port(hop.port);
        all.any(|bypass| {
            let is_elsewhere = self.bypass_leg(bypass).is_some_and(|leg| leg.port != hop.port);
            is_elsewhere && self.p2mp_end(bypass, label, hop, &ways) == End::Unlabelled
        })
    }

    /// Chooses the backups of a tree anew, and has some made where there are none.
    pub(super) fn p2mp_protect(&mut self, index: u32) {
        let Some(tree) = self.p2mp.trees.get(index) else { return };
        let wants = self.p2mp_wants_protection(tree);
        if !wants && tree.protections.is_empty() {
            return;
        }
        let reserved = self.p2mp.branches_of(tree).filter(|branch| branch.reserved.is_some());
        let hops: BTreeSet<Neighbor> = reserved.map(|branch| branch.to).collect();
        let gone: Vec<Neighbor> =
            tree.protections.keys().filter(|hop| !hops.contains(hop)).copied().collect();
        gone.into_iter().for_each(|hop| self.p2mp_unprotect(index, hop));
        for hop in hops {
            let Some(tree) = self.p2mp.trees.get(index) else { return };
            let known = tree.protections.get(&hop);
            // What passes as cells has no packets here that could get another label.
            if known.is_some_and(|known| known.state.is_diverted()) || self.cells_at(hop.port).is_some() {
                continue;
            }
            let found = self.p2mp_found(tree, hop);
            let wanted = self.p2mp_asked(tree) == Asked::Bypass;
            if wanted && self.p2mp_lacks_protection(tree, hop, &found) {
                let wish = self.p2mp_wish(tree);
                let rate = wish.bandwidth.then_some(wish.rate);
                // The routers that leaves come through behind the neighbour: a bypass around it to each.
                let ways = self.p2mp_recorded(tree, hop);
                let second = |way: &Way| way.get(1).map(|(address, _)| *address);
                let next: Option<BTreeSet<Ipv4Addr>> = ways.values().map(second).collect();
                match next.filter(|next| wish.node && next.len() <= SHARES_MAX) {
                    Some(next) => next.into_iter().for_each(|next| self.make_bypass(hop, Some(next), rate)),
                    None => self.make_bypass(hop, None, rate),
                }
            }
            self.p2mp_take(index, hop, found);
        }
    }

    /// Gives the way of a tree to a neighbour these backups.
    pub(super) fn p2mp_take(&mut self, index: u32, hop: Neighbor, found: Vec<Found>) {
        let Some(tree) = self.p2mp.trees.get(index) else { return };
        let before = tree.protections.get(&hop).map(|guarded| guarded.shares.clone()).unwrap_or_default();
        if are_unchanged(&before, &found) {
            return;
        }
        let event = if found.is_empty() { ProtectionEvent::Withdrawn } else { ProtectionEvent::Chosen };
        let enter = |(new, leaves)| Share { chosen: self.enter(hop, new), leaves };
        let shares: Vec<Share> = found.into_iter().map(enter).collect();
        if let Some(tree) = self.p2mp.trees.get_mut(index) {
            let guarded = tree.protections.entry(hop).or_insert(Guarded::NONE);
            guarded.shares = shares;
            self.counters.faults.step(&mut guarded.state, event);
        }
        before.into_iter().for_each(|old| self.let_go(old.chosen));
        self.p2mp_flags_change(index, hop);
    }

    /// A tree gives the backup of its way to a neighbour up.
    pub(super) fn p2mp_unprotect(&mut self, index: u32, hop: Neighbor) {
        if self.p2mp_is_diverted(index, hop) {
            // Nobody would refresh what merge points have, or tell them that it is over.
            for branch in self.p2mp_indices_to(index, hop) {
                self.p2mp_send_tear_around(branch);
            }
        }
        let gone = self.p2mp.trees.get_mut(index).and_then(|tree| tree.protections.remove(&hop));
        let Some(guarded) = gone else { return };
        guarded.shares.into_iter().for_each(|old| self.let_go(old.chosen));
        self.p2mp_flags_change(index, hop);
    }

    /// What recorded routes say of the way to a neighbour has changed: previous hops are told at once, or as soon as
    /// the entry is in force that makes it true (RFC 4090, 6).
    pub(super) fn p2mp_flags_change(&mut self, index: u32, hop: Neighbor) {
        let Some(tree) = self.p2mp.trees.get(index) else { return };
        let subs: BTreeSet<u32> = self.p2mp_branches_to(tree, hop).map(|branch| branch.sub).collect();
        for sub in subs {
            let Some(sub) = self.p2mp.subs.get_mut(sub) else { continue };
            if sub.state == super::states::SubState::Announced {
                sub.is_rerecorded = true;
                sub.resv_refresh_at = self.now;
            }
        }
    }

    /// The branch of a tree to a neighbour, whose entry without protection is `plain`; and in its place or beside it
    /// those for each further bypass.
    pub(super) fn p2mp_protected(
        &self,
        tree: u32,
        to: Neighbor,
        label: Label,
        plain: Nhlfe,
    ) -> (Nhlfe, Vec<Nhlfe>) {
        let guarded = self.p2mp.trees.get(tree).and_then(|lsp| Some((lsp, lsp.protections.get(&to)?)));
        let Some((lsp, guarded)) = guarded else { return (plain, Vec::new()) };
        let through = |share: &Share| {
            let chosen = Some(share.chosen);
            let nhlfe =
                self.by_bypass(&Protection { state: guarded.state, chosen, detour: None }, label, plain);
            match nhlfe.next_hop {
                NextHop::Group(group) => Nhlfe { next_hop: NextHop::Standby(group), ..nhlfe },
                _ => nhlfe,
            }
        };
        let reserved = || self.p2mp_branches_to(lsp, to).filter_map(|branch| branch.reserved.as_ref());
        let is_used =
            |share: &&Share| reserved().any(|at| at.leaves.keys().any(|leaf| share.leaves.has(*leaf)));
        if !guarded.state.is_diverted() {
            let first = self.by_bypass(&guarded.together(), label, plain);
            return (first, guarded.shares.iter().skip(1).map(through).collect());
        }
        let mut used = guarded.shares.iter().filter(is_used).map(through);
        let discard = Nhlfe { next_hop: NextHop::Discard, ..plain };
        (used.next().unwrap_or(discard), used.collect())
    }

    /// What the address of this router in a recorded route says of the protection of a branch (RFC 4090, 4.4).
    pub(super) fn p2mp_flags(&self, tree: &Tree, branch: Option<u32>) -> u8 {
        let to = branch.and_then(|branch| self.p2mp.branches.get(branch)).map(|branch| branch.to);
        let guarded = to.and_then(|to| tree.protections.get(&to));
        guarded.map_or(0, |guarded| self.flags_of(&guarded.together()))
    }

    /// The trees that ask for protection and have a way on by a port.
    fn p2mp_asking_at(&self, port: PortId) -> Vec<u32> {
        let all = self.p2mp.index.values().copied();
        let leaves = |tree: &Tree| self.p2mp.branches_of(tree).any(|branch| branch.to.port == port);
        let asks = |tree: &Tree| self.p2mp_wants_protection(tree) || !tree.protections.is_empty();
        all.filter(|&index| self.p2mp.trees.get(index).is_some_and(|tree| leaves(tree) && asks(tree)))
            .collect()
    }

    /// A bypass that protects a port has come up, gone down, or takes another way: trees follow.
    pub(in crate::rsvp) fn p2mp_bypass_changed(&mut self, bypass: u32, port: PortId) {
        for index in self.p2mp_asking_at(port) {
            let Some(tree) = self.p2mp.trees.get(index) else { continue };
            let is_user = |guarded: &Guarded| guarded.state.is_diverted() && guarded.of(bypass).is_some();
            let users = tree.protections.iter().filter(|(_, guarded)| is_user(guarded));
            let users: Vec<Neighbor> = users.map(|(hop, _)| *hop).collect();
            if self.bypass_leg(bypass).is_none() {
                users.into_iter().for_each(|hop| self.p2mp_divert_again(index, hop, bypass));
            }
            if self.p2mp.trees.get(index).is_some() {
                self.p2mp_settle(index);
            }
        }
    }

    /// Has a tree that leaves by a port less protection than it asks for, and could a bypass give it more?
    pub(in crate::rsvp) fn p2mp_wants_bypass(&self, bypass: u32, port: PortId) -> bool {
        let wants = |tree: &Tree| {
            let known = |hop: &Neighbor| tree.protections.get(hop).and_then(|known| known.together().chosen);
            let hops = self.p2mp.branches_of(tree).filter(|branch| branch.reserved.is_some());
            let mut hops = hops.map(|branch| branch.to).filter(|hop| hop.port == port);
            hops.any(|hop| {
                let wish = self.p2mp_wish(tree);
                let lacks = known(&hop).is_none_or(|chosen| {
                    (self.p2mp_seeks_node(tree, hop) && !chosen.node) || (wish.bandwidth && !chosen.bandwidth)
                });
                let ways = self.p2mp_recorded(tree, hop);
                let further = ways.values().flatten().map(|(address, _)| *address);
                let is_there = |address| self.is_at_end(bypass, address);
                lacks && (is_there(hop.address) || further.into_iter().any(is_there))
            })
        };
        let asking = self.p2mp_asking_at(port).into_iter().filter_map(|index| self.p2mp.trees.get(index));
        asking.into_iter().any(wants)
    }

    /// Looks for backups of trees that have less protection than they ask for.
    pub(in crate::rsvp) fn p2mp_protect_all(&mut self) {
        for index in self.p2mp.index.values().copied().collect::<Vec<_>>() {
            let Some(tree) = self.p2mp.trees.get(index) else { continue };
            if self.p2mp_wants_protection(tree) {
                self.p2mp_settle(index);
            }
        }
    }

    /// Sends the Paths of all branches to a neighbour.
    pub(super) fn p2mp_send_paths_to(&mut self, index: u32, hop: Neighbor) {
        let Some(tree) = self.p2mp.trees.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        for branch in tree.branches.clone() {
            if self.p2mp.branches.get(branch).is_some_and(|branch| branch.to == hop) {
                self.p2mp_send_path(branch, Sending::Trigger);
            }
        }
    }
}
