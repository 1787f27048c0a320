//! PathErr, ResvErr and ResvConf about some leaves (RFC 4875, 8.2 and 11): they change nothing on their way, and no
//! other leaf.

use super::shares::Leaves;
use super::{P2mpKey, TreeKey, keys, path_in, path_out, resv_in, resv_out, template};
use crate::rsvp::Rsvp;
use crate::rsvp::counters::Discard;
use crate::rsvp::error::passed_on;
use crate::rsvp::faults::Fault;
use crate::rsvp::outbox::ipv4;
use crate::rsvp::transport::{Arrival, Delivery, Neighbor};
use core::net::Ipv4Addr;
use std::collections::BTreeSet;
use std::net::IpAddr;
use wire::rsvp::error_code::{self, routing};
use wire::rsvp::{Common, Filter, Message, PathErr, ResvErr, RsvpHop, SenderDescriptor, Session, SubLsp};

/// Who an error goes on to.
enum Onward {
    /// A neighbour.
    Near(Neighbor),
    /// A merge point, which named itself and its handle of the port.
    Far { merge_point: Ipv4Addr, lih: u32 },
}

impl Rsvp {
    /// Sends a PathErr about some leaves (RFC 4875, 11.1).
    pub(super) fn p2mp_error(
        &mut self,
        to: Neighbor,
        session: Session,
        sender: SenderDescriptor,
        leaves: &[Ipv4Addr],
        (code, value): (u8, u16),
    ) {
        let mut error = PathErr {
            common: Common::default(),
            session,
            error_spec: self.error_spec(0, code, value),
            policy_data: Vec::new(),
            sender: Some(sender),
            ero: None,
        };
        if error.common.add_sub_lsps(&Rsvp::p2mp_leaves(leaves)).is_err() {
            self.counters.faults.note(Fault::Incomplete);
        }
        self.counters.error_sent(code, value);
        self.send_to_neighbor(to, &mut Message::PathErr(error), Delivery::Reliable);
    }

    /// Reports to the root what is wrong with leaves of a sub-group.
    pub(super) fn p2mp_problem(&mut self, sub: u32, leaves: &[Ipv4Addr], problem: (u8, u16)) {
        let Some(state) = self.p2mp.subs.get(sub) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let Some(tree) = self.p2mp.trees.get(state.tree) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        if leaves.is_empty() {
            return;
        }
        if let Some(root) = tree.root {
            let node = self.config.router_id;
            return self.p2mp_lost(root, leaves, super::loss::Loss::Error { node, problem });
        }
        if state.is_cut_off {
            let spec = self.error_spec(0, problem.0, problem.1);
            return self.p2mp_problem_around(state.tree, leaves, spec);
        }
        let sender = SenderDescriptor {
            sender_tspec: Some(tree.attributes.tspec),
            adspec: state.adspec.clone(),
            ..SenderDescriptor::of(template(tree.key.sender, state.key))
        };
        let (to, session) = (state.prev_hop, tree.key.session.to_wire());
        self.p2mp_error(to, session, sender, leaves, problem);
    }

    pub(in crate::rsvp) fn p2mp_path_error(&mut self, arrival: &Arrival, error: PathErr) {
        let spec = error.error_spec;
        self.counters.error_received(spec.code, spec.value);
        let Ok(listed) = error.common.sub_lsps() else { return self.counters.discard(Discard::Malformed) };
        let said = error.sender.as_ref().and_then(|sender| keys(&sender.sender_template));
        let found = P2mpKey::of(&error.session).zip(said).and_then(|(session, (sender, sub))| {
            let tree = self.p2mp.tree(&TreeKey { session, sender })?;
            Some((tree, self.p2mp.branch(tree, sub, arrival.from)?))
        });
        // One about what is led around a failure comes from the merge point, or from behind it.
        let around = || {
            let said = error.sender.as_ref().filter(|_| spec.code != error_code::NOTIFY)?;
            let (index, share) = self.p2mp_around(&error.session, &said.sender_template)?;
            Some((self.p2mp.branches.get(index)?.tree, index, share.leaves))
        };
        let found = found.map(|(tree, index)| (tree, index, Leaves::All)).or_else(around);
        let Some((tree, index, taken)) = found else { return self.counters.discard(Discard::NoState) };
        if listed.is_empty() && self.is_overtaken(arrival, resv_in(index).0) {
            // One that names leaves may well be older than the Resv for the others, and is sent again if it was lost.
            return;
        }
        self.transport.acknowledge(path_out(index));
        let (Some(lsp), Some(branch)) = (self.p2mp.trees.get(tree), self.p2mp.branches.get(index)) else {
            return;
        };
        let Some(named) = Rsvp::p2mp_named(&listed) else { return self.counters.discard(Discard::Malformed) };
        // A PathErr that names none is about all.
        let is_mine = |leaf: &Ipv4Addr| taken.has(*leaf) && (named.is_empty() || named.contains(leaf));
        let mine: Vec<Ipv4Addr> = branch.routes.keys().filter(|leaf| is_mine(leaf)).copied().collect();
        let Some(sub) = self.p2mp.subs.get(branch.sub) else { return };
        if sub.is_cut_off {
            return self.p2mp_problem_around(tree, &mine, spec);
        }
        let (sub_index, key, to, is_root) = (branch.sub, sub.key, sub.prev_hop, lsp.root.is_some());
        let mut problem = (spec.code, spec.value);
        if problem == (error_code::ROUTING, routing::RE_MERGE) && self.p2mp_made(tree, index, &named) {
            // RFC 4875, 18.1.1: this router made the branch that meets another one again.
            if self.p2mp_unmake(sub_index, index, &mine, &named) {
                return;
            }
            problem = (error_code::ROUTING, routing::ERO_RE_MERGE);
            if !is_root {
                let named: Vec<Ipv4Addr> = named.into_iter().collect();
                return self.p2mp_problem(sub_index, &named, problem);
            }
        }
        if let Some(root) = self.p2mp.trees.get(tree).and_then(|tree| tree.root) {
            let node = ipv4(spec.node).unwrap_or(arrival.ip.src);
            return self.p2mp_lost(root, &mine, super::loss::Loss::Error { node, problem });
        }
        let Some(sender) = self.p2mp.trees.get(tree).map(|tree| tree.key.sender) else { return };
        // RFC 4875, 11.1: the previous hop knows the sub-group by the name that it gave.
        let described =
            error.sender.map(|said| SenderDescriptor { sender_template: template(sender, key), ..said });
        let mut common = passed_on(error.common);
        common.unknown.retain(|object| object.class != wire::rsvp::class::SECONDARY_EXPLICIT_ROUTE);
        let mut message = PathErr { common, sender: described, ..error };
        let listed: Vec<SubLsp> = listed.iter().map(|leaf| SubLsp::of(leaf.leaf)).collect();
        if message.common.add_sub_lsps(&listed).is_err() {
            self.counters.faults.note(Fault::Incomplete);
        }
        self.pass_on(arrival, to, &mut Message::PathErr(message));
    }

    /// RFC 4875, 18.1.1: is it this router where the ways part that meet again? So it is if leaves which the error
    /// names beside those of the branch go on from here by another branch.
    fn p2mp_made(&self, tree: u32, branch: u32, named: &BTreeSet<Ipv4Addr>) -> bool {
        let Some(tree) = self.p2mp.trees.get(tree) else { return false };
        let to = self.p2mp.branches.get(branch).map(|branch| branch.to);
        let others = self.p2mp.branches_of(tree);
        let mut others = others.filter(|other| Some(other.to) != to);
        others.any(|other| named.iter().any(|leaf| other.routes.contains_key(leaf)))
    }

    /// Moves leaves to the branch that was there before, if their routes leave it to this router. Are they moved?
    fn p2mp_unmake(&mut self, sub: u32, branch: u32, mine: &[Ipv4Addr], named: &BTreeSet<Ipv4Addr>) -> bool {
        let Some(state) = self.p2mp.subs.get(sub) else { return false };
        let tree = self.p2mp.trees.get(state.tree);
        let branches = tree.map(|tree| tree.branches.clone()).unwrap_or_default();
        let to = self.p2mp.branches.get(branch).map(|branch| branch.to);
        let target = branches.into_iter().find_map(|other| {
            // Another branch to the same neighbour would meet again where this one does.
            let other = self.p2mp.branches.get(other).filter(|other| Some(other.to) != to)?;
            named.iter().any(|leaf| other.routes.contains_key(leaf)).then_some(other.to)
        });
        let Some(target) = target else { return false };
        let is_free = |leaf: &Ipv4Addr| {
            let rest = state.leaves.get(leaf).map(|at| &at.route);
            let mut rest = rest.into_iter().flatten().filter(|hop| !self.links.is_self(&hop.node));
            // A strict hop behind a loose one would be lost.
            rest.all(|hop| hop.loose)
        };
        if !mine.iter().all(is_free) {
            return false;
        }
        let moved: BTreeSet<Ipv4Addr> = mine.iter().copied().collect();
        let mut placed = std::collections::BTreeMap::new();
        for (leaf, at) in &state.leaves {
            let mut leads = self.p2mp_placed(*leaf, at);
            if let Some((to, rest)) = leads.to.as_mut().filter(|_| moved.contains(leaf)) {
                // The next router finds itself in the first hop, where there is a route.
                let first = (!rest.is_empty()).then(|| wire::rsvp::EroHop::strict(target.address));
                rest.retain(|hop| hop.loose);
                rest.splice(..0, first);
                *to = target;
            }
            placed.insert(*leaf, leads);
        }
        let tree = state.tree;
        self.p2mp_place(sub, placed, false);
        self.p2mp_settle(tree);
        true
    }

    pub(in crate::rsvp) fn p2mp_resv_error(&mut self, arrival: &Arrival, error: &ResvErr) {
        let spec = error.error_spec;
        self.counters.error_received(spec.code, spec.value);
        let Ok(listed) = error.common.sub_lsps() else { return self.counters.discard(Discard::Malformed) };
        let Some(named) = Rsvp::p2mp_named(&listed) else { return self.counters.discard(Discard::Malformed) };
        let session = P2mpKey::of(&error.session);
        let filters = error.flow_descriptor.iter().flat_map(|descriptor| &descriptor.filters);
        let mut onward = Vec::new();
        for filter in filters {
            let said = session.zip(keys(&filter.filter_spec));
            let found = said.and_then(|(session, (sender, sub))| {
                let tree = self.p2mp.tree(&TreeKey { session, sender })?;
                Some(vec![(self.p2mp.sub(tree, sub, arrival.from)?, Leaves::All)])
            });
            let around = || said.and_then(|(session, said)| self.p2mp_meant_around(session, said));
            let Some(subs) = found.or_else(around) else {
                self.counters.discard(Discard::NoState);
                continue;
            };
            for (sub, taken) in subs {
                if named.is_empty() && taken == Leaves::All && self.is_overtaken(arrival, path_in(sub).0) {
                    continue;
                }
                self.transport.acknowledge(resv_out(sub));
                let is_mine = |leaf: Ipv4Addr| taken.has(leaf) && (named.is_empty() || named.contains(&leaf));
                for branch in self.p2mp_branches(sub) {
                    onward.extend(self.p2mp_names(branch, &is_mine));
                }
            }
        }
        for (to, filter, leaves) in onward {
            let mut message = error.clone();
            message.common = passed_on(message.common);
            // RFC 4875, 11.2: the next hop knows the sub-group by the name that its Path had.
            if let Some(descriptor) = &mut message.flow_descriptor {
                descriptor.filters = vec![filter];
            }
            message.common.unknown.retain(|object| object.class != wire::rsvp::class::SECONDARY_RECORD_ROUTE);
            if message.common.add_sub_lsps(&Rsvp::p2mp_leaves(&leaves)).is_err() {
                self.counters.faults.note(Fault::Incomplete);
            }
            match to {
                Onward::Near(to) => {
                    message.hop = self.own_hop(to, u32::from(to.port.0));
                    self.pass_on(arrival, to, &mut Message::ResvErr(message));
                }
                Onward::Far { merge_point, lih } => {
                    message.hop = RsvpHop { address: IpAddr::V4(self.far_address()), lih };
                    self.send_far(merge_point, &Message::ResvErr(message));
                }
            }
        }
    }

    /// To whom an error of the reservation of a branch goes, what it is called there, and the leaves that it is about:
    /// the next hop, or merge points while it is led around a failure.
    fn p2mp_names(
        &self,
        index: u32,
        is_mine: &impl Fn(Ipv4Addr) -> bool,
    ) -> Vec<(Onward, Filter, Vec<Ipv4Addr>)> {
        let Some(branch) = self.p2mp.branches.get(index) else { return Vec::new() };
        let (Some(tree), Some(reserved)) = (self.p2mp.trees.get(branch.tree), &branch.reserved) else {
            return Vec::new();
        };
        let mine = |taken: &Leaves| -> Vec<Ipv4Addr> {
            branch.routes.keys().filter(|leaf| taken.has(**leaf) && is_mine(**leaf)).copied().collect()
        };
        let filter = |filter_spec| Filter { filter_spec, label: Some(reserved.label), rro: None };
        let mut names = Vec::new();
        if self.p2mp_is_diverted(branch.tree, branch.to) {
            for (share, known, sender) in self.p2mp_known_around(index) {
                let named = filter(template(sender, known.key));
                names.extend(known.answered_by.map(|(merge_point, lih)| {
                    (Onward::Far { merge_point, lih }, named, mine(&share.leaves))
                }));
            }
        } else {
            let named = filter(template(tree.key.sender, branch.key));
            names.push((Onward::Near(branch.to), named, mine(&Leaves::All)));
        }
        names.retain(|(.., leaves)| !leaves.is_empty());
        names
    }
}
