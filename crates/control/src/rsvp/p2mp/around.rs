//! The merge point of a tree: a router to which others lead it around a failure (RFC 4875, 15.1.1; RFC 4090, 7).
//!
//! A Path that comes around a failure has another sender and perhaps another sub-group than the one before: LSP id and
//! leaves tell which it goes on with. It keeps the path state of those leaves alive, whose label, reservations and
//! branches are the same as before, and is answered straight to the router that repairs.

use super::shares::Leaves;
use super::states::{SubEvent, SubState};
use super::tree::{LeafAt, Tree};
use super::{P2mpKey, SubKey, TreeKey, path_in, resv_out, template};
use crate::rsvp::Rsvp;
use crate::rsvp::counters::Discard;
use crate::rsvp::error::Problem;
use crate::rsvp::faults::Fault;
use crate::rsvp::lsp::SenderKey;
use crate::rsvp::outbox::ipv4;
use crate::rsvp::protection::{BACKUPS_MAX, asks};
use crate::rsvp::transport::{Arrival, Neighbor};
use base::Time;
use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeSet;
use std::sync::Arc;
use wire::rsvp::error_code::{self, routing};
use wire::rsvp::sub_lsp::{Orphan, expand};
use wire::rsvp::{
    Common, EroHop, ErrorSpec, Message, Path, PathErr, ResvTear, RsvpHop, SenderDescriptor, SenderTemplate,
    Session, SubLsp,
};

/// What is left of a sub-group whose previous hop is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GoesOn {
    /// Nobody leads any of its leaves around the failure.
    None,
    /// Some of its leaves.
    Part,
    /// All of them.
    Whole,
}

/// Leaves of a tree for which Paths come around a failure.
#[derive(Clone, Debug)]
pub(super) struct Around {
    /// It has the LSP id of the tree, and an address of the router that repairs (RFC 4090, 6.1.1).
    pub sender: SenderKey,
    /// The sub-group as that router calls it.
    pub key: SubKey,
    /// That router: Resvs go there.
    pub plr: Ipv4Addr,
    pub lih: u32,
    pub expires: Time,
    pub leaves: BTreeSet<Ipv4Addr>,
    /// Leaves that it has been told of.
    pub announced: BTreeSet<Ipv4Addr>,
    /// The receiver that it has been asked to have confirmed to, and has not yet.
    pub confirm: Option<IpAddr>,
}

impl Around {
    pub(super) fn is(&self, sender: SenderKey, key: SubKey) -> bool {
        (self.sender, self.key) == (sender, key)
    }
}

/// Does a route that comes around a failure lead as the one that the tree takes does? Both are those from this router
/// on. What the first leaves open, by a loose hop or by its end, is this router's to choose, which chooses the same.
fn leads_alike(around: &[EroHop], known: &[EroHop]) -> bool {
    let mut rest = known.iter();
    for hop in around {
        let found =
            if hop.loose { rest.any(|known| known.node == hop.node) } else { rest.next() == Some(hop) };
        if !found {
            return false;
        }
    }
    true
}

impl Rsvp {
    /// Leaves of a Path around a failure that are in the tree, and whose explicit route from here on is another there:
    /// they can't be merged (RFC 4090, 7.1.1).
    fn p2mp_on_other_routes(&self, tree: &Tree, path: &Path, listed: &[SubLsp]) -> BTreeSet<Ipv4Addr> {
        let from_here = |route: &[EroHop]| {
            let own = route.iter().take_while(|hop| self.links.is_self(&hop.node)).count();
            route[own..].to_vec()
        };
        let ero = path.ero.as_deref().unwrap_or_default();
        let routes = expand(ero, listed, self.config.limits.route_hops, |hop| self.links.is_self(&hop.node));
        let is_other = |leaf: Ipv4Addr, route: &Result<Vec<EroHop>, Orphan>| {
            let known: Vec<&LeafAt> =
                self.p2mp.subs_of(tree).filter_map(|sub| sub.leaves.get(&leaf)).collect();
            let Ok(route) = route else { return !known.is_empty() };
            let around = from_here(route);
            let is_alike = |at: &&LeafAt| {
                // As it came, or as this router has it go on, which may have filled in loose hops.
                let onward = at.branch.and_then(|branch| self.p2mp.branches.get(branch)?.routes.get(&leaf));
                let came = leads_alike(&around, &from_here(&at.route));
                came || onward.is_some_and(|onward| leads_alike(&around, onward))
            };
            !known.is_empty() && !known.iter().any(is_alike)
        };
        let named = routes.iter().filter_map(|(leaf, route)| Some((ipv4(*leaf)?, route)));
        named.filter(|(leaf, route)| is_other(*leaf, route)).map(|(leaf, _)| leaf).collect()
    }

    /// The tree that a Path around a failure goes on with (RFC 4875, 15.1.1): LSP id and leaves tell it.
    pub(super) fn p2mp_joined(
        &self,
        session: P2mpKey,
        sender: SenderKey,
        path: &Path,
        leaves: &[Ipv4Addr],
    ) -> Option<u32> {
        if asks(path) || self.p2mp.tree(&TreeKey { session, sender }).is_some() {
            return None;
        }
        let has = |tree: &Tree| {
            let mut known = self.p2mp.subs_of(tree).flat_map(|sub| sub.leaves.keys());
            known.any(|leaf| leaves.contains(leaf))
        };
        let is_it = |tree: &Tree| {
            tree.key.sender.lsp_id == sender.lsp_id
                && tree.root.is_none()
                && self.p2mp_wants_protection(tree)
                && has(tree)
        };
        self.p2mp.session(session).find(|&index| self.p2mp.trees.get(index).is_some_and(is_it))
    }

    /// Takes a Path that has come around a failure for leaves of a tree.
    pub(super) fn p2mp_join(
        &mut self,
        arrival: &Arrival,
        path: &Path,
        index: u32,
        (sender, key): (SenderKey, SubKey),
        listed: &[SubLsp],
    ) {
        let IpAddr::V4(plr) = path.hop.address else { return self.counters.discard(Discard::Malformed) };
        let leaves: Vec<Ipv4Addr> = listed.iter().filter_map(|said| ipv4(said.leaf)).collect();
        // RFC 4090, 7: its TTL need not be the one that it was sent with.
        let checked = self.check_sender(&Arrival { send_ttl: arrival.ip.ttl, ..*arrival }, path);
        match checked.and_then(|()| self.check_room(path)) {
            Ok(()) => {}
            Err(Problem::Silent(why)) => return self.counters.discard(why),
            Err(Problem::Error(code, value)) => {
                self.counters.discard(Discard::Refused);
                let spec = self.error_spec(0, code, value);
                return self.p2mp_error_to_plr(plr, path.session, path.sender_template, &leaves, spec);
            }
        }
        let now = self.now;
        let expires = now + self.lifetime(path.time_values.refresh_ms);
        let known_leaves = self
            .p2mp
            .trees
            .get(index)
            .map_or(0, |tree| self.p2mp.subs_of(tree).map(|sub| sub.leaves.len()).sum::<usize>());
        let Some(tree) = self.p2mp.trees.get(index) else { return };
        let has = |leaf: &Ipv4Addr| self.p2mp.subs_of(tree).any(|sub| sub.leaves.contains_key(leaf));
        let (known, strange): (Vec<Ipv4Addr>, Vec<Ipv4Addr>) = leaves.into_iter().partition(has);
        let others = self.p2mp_on_other_routes(tree, path, listed);
        let leaves: Vec<Ipv4Addr> = known.into_iter().filter(|leaf| !others.contains(leaf)).collect();
        let others: Vec<Ipv4Addr> = others.into_iter().collect();
        // RFC 4875, 5.2.2: what is led around a failure is not grafted here.
        for (refused, why) in [(strange, routing::NO_ROUTE), (others, routing::BAD_EXPLICIT_ROUTE)] {
            if !refused.is_empty() {
                self.counters.discard(Discard::Refused);
                let spec = self.error_spec(0, error_code::ROUTING, why);
                self.p2mp_error_to_plr(plr, path.session, path.sender_template, &refused, spec);
            }
        }
        let Some(tree) = self.p2mp.trees.get_mut(index) else { return };
        tree.around.retain(|around| around.expires > now);
        // Routers that repair, and of each no more Paths than there are leaves.
        let senders: BTreeSet<SenderKey> = tree.around.iter().map(|around| around.sender).collect();
        let of_sender = tree.around.iter().filter(|around| around.sender == sender).count();
        let is_full = !senders.contains(&sender) && senders.len() >= BACKUPS_MAX || of_sender >= known_leaves;
        let known = tree.around.iter_mut().find(|around| around.is(sender, key));
        let named: BTreeSet<Ipv4Addr> = leaves.into_iter().collect();
        let gone: BTreeSet<Ipv4Addr> = match known {
            Some(around) => {
                (around.plr, around.lih, around.expires) = (plr, path.hop.lih, expires);
                let before = core::mem::replace(&mut around.leaves, named.clone());
                before.difference(&named).copied().collect()
            }
            None if named.is_empty() => return,
            None if is_full => return self.counters.discard(Discard::Limit),
            None => {
                let (lih, announced) = (path.hop.lih, BTreeSet::new());
                let leaves = named.clone();
                let confirm = None;
                tree.around.push(Around { sender, key, plr, lih, expires, leaves, announced, confirm });
                BTreeSet::new()
            }
        };
        tree.around.retain(|around| !around.leaves.is_empty());
        self.p2mp_leave(index, &gone);
        // Each Path is answered: nothing else tells the router up there that it has come.
        if let Some(tree) = self.p2mp.trees.get_mut(index) {
            tree.around
                .iter_mut()
                .filter(|around| around.is(sender, key))
                .for_each(|it| it.announced.clear());
            self.p2mp_answer_those_around(index, |around| around.is(sender, key));
        }
    }

    /// A PathTear from around a failure. Was it about leaves of a tree?
    pub(super) fn p2mp_tear_around(
        &mut self,
        session: P2mpKey,
        (sender, key): (SenderKey, SubKey),
        named: &BTreeSet<Ipv4Addr>,
    ) -> bool {
        let is_it = |tree: &u32| {
            let known = self.p2mp.trees.get(*tree);
            known.is_some_and(|tree| tree.around.iter().any(|around| around.is(sender, key)))
        };
        let Some(index) = self.p2mp.session(session).find(is_it) else { return false };
        let Some(tree) = self.p2mp.trees.get_mut(index) else { return false };
        let mut gone = BTreeSet::new();
        for around in tree.around.iter_mut().filter(|around| around.is(sender, key)) {
            let is_named = |leaf: &&Ipv4Addr| named.is_empty() || named.contains(leaf);
            gone.extend(around.leaves.iter().filter(is_named).copied());
            around.leaves.retain(|leaf| !gone.contains(leaf));
            around.announced.retain(|leaf| !gone.contains(leaf));
        }
        tree.around.retain(|around| !around.leaves.is_empty());
        self.p2mp_leave(index, &gone);
        true
    }

    /// The sub-groups of which a router that leads leaves around a failure speaks, each with those leaves.
    pub(super) fn p2mp_meant_around(
        &self,
        session: P2mpKey,
        (sender, key): (SenderKey, SubKey),
    ) -> Option<Vec<(u32, Leaves)>> {
        let trees = self.p2mp.session(session).filter_map(|index| self.p2mp.trees.get(index));
        let mut known = trees.flat_map(|tree| tree.around.iter().map(move |around| (tree, around)));
        let (tree, around) = known.find(|(_, around)| around.is(sender, key))?;
        let taken = Leaves::These(Arc::new(around.leaves.clone()));
        Some(tree.subs.iter().map(|sub| (*sub, taken.clone())).collect())
    }

    /// Nobody leads these leaves around a failure any more: those whose previous hop is gone have no way here.
    fn p2mp_leave(&mut self, index: u32, leaves: &BTreeSet<Ipv4Addr>) {
        let Some(tree) = self.p2mp.trees.get(index) else { return };
        let still: BTreeSet<Ipv4Addr> = tree.around.iter().flat_map(|it| &it.leaves).copied().collect();
        let gone: BTreeSet<Ipv4Addr> = leaves.difference(&still).copied().collect();
        if gone.is_empty() {
            return;
        }
        let mut is_hit = false;
        for sub in self.p2mp.sub_indices(index) {
            let Some(state) = self.p2mp.subs.get(sub).filter(|sub| sub.is_cut_off) else { continue };
            if state.leaves.keys().all(|leaf| gone.contains(leaf)) {
                self.p2mp_end_sub(sub, SubEvent::Torn);
                is_hit = true;
            } else if state.leaves.keys().any(|leaf| gone.contains(leaf)) {
                self.p2mp_keep(sub, |leaf| !gone.contains(&leaf));
                is_hit = true;
            }
        }
        if is_hit && self.p2mp.trees.get(index).is_some() {
            self.p2mp_settle(index);
        }
    }

    /// The previous hop of a sub-group can't be reached. One that is protected stays, as if it had just been refreshed,
    /// for the time that a router further up needs to lead it around (RFC 4090, 7.2). Does it?
    pub(super) fn p2mp_holds(&mut self, sub: u32) -> bool {
        let Some(state) = self.p2mp.subs.get(sub) else { return false };
        let Some(tree) = self.p2mp.trees.get(state.tree) else { return false };
        if tree.root.is_some() || !self.p2mp_wants_protection(tree) {
            return false;
        }
        let expires = state.expires.max(self.now + self.lifetime(state.period_ms));
        self.p2mp_cut_off(sub, expires);
        true
    }

    /// The previous hop has let a sub-group go, or is silent. Do leaves of it go on, since routers further up lead them
    /// around a failure (RFC 4090, 7.1.3)? The others are given up.
    pub(super) fn p2mp_goes_on_around(&mut self, sub: u32) -> GoesOn {
        let now = self.now;
        let Some(index) = self.p2mp.subs.get(sub).map(|sub| sub.tree) else { return GoesOn::None };
        let Some(tree) = self.p2mp.trees.get_mut(index) else { return GoesOn::None };
        tree.around.retain(|around| around.expires > now);
        let led: BTreeSet<Ipv4Addr> = tree.around.iter().flat_map(|around| &around.leaves).copied().collect();
        let Some(state) = self.p2mp.subs.get(sub) else { return GoesOn::None };
        let leads = |around: &&Around| around.leaves.iter().any(|leaf| state.leaves.contains_key(leaf));
        // When the first of them is not refreshed, its leaves go, if no other leads them.
        let Some(next) = tree.around.iter().filter(leads).map(|around| around.expires).min() else {
            return GoesOn::None;
        };
        let is_whole = state.leaves.keys().all(|leaf| led.contains(leaf));
        self.p2mp_cut_off(sub, next);
        if is_whole {
            return GoesOn::Whole;
        }
        self.p2mp_keep(sub, |leaf| led.contains(&leaf));
        GoesOn::Part
    }

    /// Nothing comes from the previous hop of a sub-group any more, and nothing is said there. It stays until this
    /// time.
    fn p2mp_cut_off(&mut self, sub: u32, expires: Time) {
        self.transport.forget(resv_out(sub));
        self.transport.unbind(path_in(sub));
        let Some(state) = self.p2mp.subs.get_mut(sub) else { return };
        state.is_cut_off = true;
        state.expires = expires;
        if state.state == SubState::Announced {
            self.counters.faults.step(&mut state.state, SubEvent::Unannounced);
        }
        state.announced.clear();
        (state.resv_refresh_at, state.confirm) = (Time::MAX, None);
        self.p2mp_arm_sub(sub);
    }

    /// The reserved leaves of what comes around a failure, with their path state, and the previous hop by whose label
    /// their packets come.
    fn p2mp_reserved_around(&self, tree: &Tree, around: &Around) -> Option<(Neighbor, Vec<(Ipv4Addr, u32)>)> {
        let mut from = None;
        let mut found = Vec::new();
        for &index in &tree.subs {
            let Some(sub) = self.p2mp.subs.get(index) else { continue };
            let reserved = self.p2mp_reserved(sub);
            let mine =
                reserved.into_iter().filter(|leaf| around.leaves.contains(leaf)).map(|leaf| (leaf, index));
            let mine: Vec<(Ipv4Addr, u32)> = mine.collect();
            if !mine.is_empty() && *from.get_or_insert(sub.prev_hop) == sub.prev_hop {
                found.extend(mine);
            }
        }
        Some((from?, found))
    }

    /// Tells the routers that lead a tree around failures which leaves are reserved, if they do not know.
    pub(super) fn p2mp_answer_around(&mut self, index: u32) {
        self.p2mp_answer_those_around(index, |_| true);
    }

    fn p2mp_answer_those_around(&mut self, index: u32, is_meant: impl Fn(&Around) -> bool) {
        let Some(tree) = self.p2mp.trees.get(index) else { return };
        let mut news = Vec::new();
        for (at, around) in tree.around.iter().enumerate().filter(|(_, around)| is_meant(around)) {
            let found = self.p2mp_reserved_around(tree, around);
            let Some((from, reserved)) = found else {
                if !around.announced.is_empty() {
                    news.push((
                        at,
                        around.plr,
                        self.p2mp_resv_tear_around(tree, around),
                        BTreeSet::new(),
                        None,
                    ));
                }
                continue;
            };
            let leaves: BTreeSet<Ipv4Addr> = reserved.iter().map(|(leaf, _)| *leaf).collect();
            let confirm = self.p2mp_asked_around(tree, around);
            if leaves == around.announced && (confirm.is_none() || confirm == around.confirm) {
                continue;
            }
            // The Resv that brings a label waits for its entry.
            let Some(label) = self.p2mp_is_fed(index, from) else { continue };
            let hop = RsvpHop { address: IpAddr::V4(self.far_address()), lih: around.lih };
            let said = (template(around.sender, around.key), hop, label);
            // Nobody knows the port that this leaves by.
            let message = self.p2mp_resv_of(index, said, &reserved, confirm, 1500);
            news.push((at, around.plr, message, leaves, confirm));
        }
        for (at, plr, message, leaves, confirm) in news {
            let Some(message) = message else {
                self.counters.faults.note(Fault::Incomplete);
                continue;
            };
            self.send_far(plr, &message);
            if let Some(around) = self.p2mp.trees.get_mut(index).and_then(|tree| tree.around.get_mut(at)) {
                (around.announced, around.confirm) = (leaves, confirm);
            }
        }
    }

    /// None of the leaves is reserved any more.
    fn p2mp_resv_tear_around(&self, tree: &Tree, around: &Around) -> Option<Message> {
        Some(Message::ResvTear(ResvTear {
            common: Common::default(),
            session: tree.key.session.to_wire(),
            hop: RsvpHop { address: IpAddr::V4(self.far_address()), lih: around.lih },
            scope: None,
            style: tree.attributes.style(),
            filters: vec![template(around.sender, around.key)],
        }))
    }

    /// A tree goes, and with it what was told to routers that lead it around failures.
    pub(super) fn p2mp_end_around(&mut self, index: u32) {
        let Some(tree) = self.p2mp.trees.get(index) else { return };
        let told = tree.around.iter().filter(|around| !around.announced.is_empty());
        let tears: Vec<_> =
            told.map(|around| (around.plr, self.p2mp_resv_tear_around(tree, around))).collect();
        for (plr, tear) in tears {
            tear.into_iter().for_each(|tear| self.send_far(plr, &tear));
        }
    }

    /// Reports what is wrong with leaves of a tree to the routers that lead them around failures: their previous hop is
    /// gone.
    pub(super) fn p2mp_problem_around(&mut self, index: u32, leaves: &[Ipv4Addr], spec: ErrorSpec) {
        let Some(tree) = self.p2mp.trees.get(index) else { return };
        let session = tree.key.session.to_wire();
        let told = |around: &Around| {
            let mine = leaves.iter().filter(|leaf| around.leaves.contains(leaf)).copied().collect::<Vec<_>>();
            (around.plr, template(around.sender, around.key), mine)
        };
        let told: Vec<_> = tree.around.iter().map(told).filter(|(.., mine)| !mine.is_empty()).collect();
        for (plr, sender, mine) in told {
            self.p2mp_error_to_plr(plr, session, sender, &mine, spec);
        }
    }

    /// Sends a PathErr about some leaves to a router that leads them around a failure.
    fn p2mp_error_to_plr(
        &mut self,
        plr: Ipv4Addr,
        session: Session,
        sender: SenderTemplate,
        leaves: &[Ipv4Addr],
        error_spec: ErrorSpec,
    ) {
        let mut error = PathErr {
            common: Common::default(),
            session,
            error_spec,
            policy_data: Vec::new(),
            sender: Some(SenderDescriptor::of(sender)),
            ero: None,
        };
        if error.common.add_sub_lsps(&Rsvp::p2mp_leaves(leaves)).is_err() {
            self.counters.faults.note(Fault::Incomplete);
        }
        self.counters.error_sent(error_spec.code, error_spec.value);
        self.send_far(plr, &Message::PathErr(error));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_lead_alike_if_hops_are_the_same_or_left_open() {
        let hop = |n: u8, loose: bool| {
            let strict = EroHop::strict(Ipv4Addr::new(10, 0, 0, n));
            EroHop { loose, ..strict }
        };
        let known = [hop(1, false), hop(2, false), hop(3, false)];
        let alike: [&[EroHop]; 5] =
            [&known, &[], &[hop(1, false)], &[hop(3, true)], &[hop(1, false), hop(3, true)]];
        assert!(alike.iter().all(|around| leads_alike(around, &known)));
        let other: [&[EroHop]; 4] = [
            &[hop(2, false)],
            &[hop(4, true)],
            &[hop(2, true), hop(1, true)],
            &[hop(1, false), hop(3, false)],
        ];
        assert!(!other.iter().any(|around| leads_alike(around, &known)));
        assert!(!leads_alike(&known, &[]));
    }
}
