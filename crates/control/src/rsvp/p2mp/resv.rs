//! Resv messages for several leaves: checking and reserving (RFC 4875, 6.2), and their teardown.

use super::recorded::expand;
use super::shares::{Leaves, Share};
use super::states::BranchEvent;
use super::tree::{Branch, Reserved, Tree};
use super::{P2mpKey, TreeKey, keys, resv_in};
use crate::rsvp::Rsvp;
use crate::rsvp::counters::Discard;
use crate::rsvp::error::Problem;
use crate::rsvp::faults::Fault;
use crate::rsvp::outbox::{Sending, ipv4};
use crate::rsvp::record_route;
use crate::rsvp::resv::is_acceptable;
use crate::rsvp::transport::{Arrival, Delivery, Handle};
use base::Label;
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use wire::rsvp::error_code::{self, routing, traffic_control};
use wire::rsvp::{Filter, FlowDescriptor, Message, Resv, ResvTear, RroSubobject, Style, SubLsp};

/// Leaves with what is recorded of the way to each.
pub(super) type Named = BTreeMap<Ipv4Addr, Option<Vec<RroSubobject>>>;

/// What a Resv is about of one tree.
struct Touched {
    /// Sub-groups, with their branches.
    subs: BTreeMap<u32, Vec<u32>>,
    /// The style of what was reserved before.
    style: Option<Style>,
    /// The tables are as they are to be.
    is_fed: bool,
}

impl Rsvp {
    pub(in crate::rsvp) fn p2mp_resv(&mut self, arrival: &Arrival, resv: &Resv) {
        let Ok(listed) = resv.common.sub_lsps() else { return self.counters.discard(Discard::Malformed) };
        let mut trees: BTreeMap<u32, Touched> = BTreeMap::new();
        for descriptor in &resv.flow_descriptors {
            for filter in &descriptor.filters {
                if let Some((branch, share)) = self.p2mp_around(&resv.session, &filter.filter_spec) {
                    if let Some(touched) = self.p2mp_touch(&mut trees, branch) {
                        touched.is_fed = false;
                    }
                    self.p2mp_resv_around(arrival, (branch, &share), resv, descriptor, filter, &listed);
                    continue;
                }
                match self.p2mp_check_resv(arrival, resv, descriptor, filter, &listed) {
                    Ok((branch, label, leaves)) => {
                        let is_fed = self.p2mp_feeds_alike(branch, label);
                        if let Some(touched) = self.p2mp_touch(&mut trees, branch) {
                            touched.is_fed &= is_fed;
                        }
                        if self.p2mp_accept(branch, resv, descriptor, label, leaves) {
                            if let Some(id) = arrival.id {
                                self.transport.bind(id, resv_in(branch));
                            }
                            continue;
                        }
                        let problem = (error_code::ADMISSION, error_code::admission::BANDWIDTH);
                        self.p2mp_refuse(arrival, resv, descriptor, filter, problem);
                        self.p2mp_refused(branch, problem);
                    }
                    Err(Problem::Silent(why)) => self.counters.discard(why),
                    Err(Problem::Error(code, value)) => {
                        self.p2mp_refuse(arrival, resv, descriptor, filter, (code, value));
                    }
                }
            }
        }
        for (tree, Touched { subs, style, is_fed }) in trees {
            if !is_fed {
                self.p2mp_feed(tree);
            }
            let begins_here = self.p2mp.trees.get(tree).is_some_and(|tree| tree.root.is_some());
            if self.p2mp_reserved_style(tree) != style {
                self.p2mp_answer_all(tree);
                continue;
            }
            // A tree may have many sub-groups, and one of them many branches at the root: those are left alone of which
            // the Resv says nothing.
            for (sub, branches) in subs {
                if begins_here {
                    branches.into_iter().for_each(|branch| self.p2mp_reached_by(branch));
                } else {
                    self.p2mp_answer(sub, Sending::Refresh);
                }
            }
        }
    }

    /// A Resv is about a branch: notes it with its tree as it was before the Resv.
    fn p2mp_touch<'a>(&self, trees: &'a mut BTreeMap<u32, Touched>, index: u32) -> Option<&'a mut Touched> {
        let branch = self.p2mp.branches.get(index)?;
        let touched = trees.entry(branch.tree).or_insert_with(|| Touched {
            subs: BTreeMap::new(),
            style: self.p2mp_reserved_style(branch.tree),
            is_fed: true,
        });
        touched.subs.entry(branch.sub).or_default().push(index);
        Some(touched)
    }

    /// Do the tables say of a branch what they would if the neighbour reserved with this label? Backups depend on what
    /// is recorded of routes, too.
    fn p2mp_feeds_alike(&self, index: u32, label: Label) -> bool {
        let Some(branch) = self.p2mp.branches.get(index) else { return false };
        let from = self.p2mp.subs.get(branch.sub).map(|sub| sub.prev_hop);
        let is_plain = |tree: &Tree| !self.p2mp_wants_protection(tree) && tree.protections.is_empty();
        let tree = self.p2mp.trees.get(branch.tree).filter(|tree| is_plain(tree));
        tree.zip(from).is_some_and(|(tree, from)| tree.feeds.contains_key(&from))
            && branch.reserved.as_ref().is_some_and(|reserved| reserved.label == label)
    }

    /// All that can be wrong with one filter of a Resv. Gives the branch, the label and the leaves.
    fn p2mp_check_resv(
        &self,
        arrival: &Arrival,
        resv: &Resv,
        descriptor: &FlowDescriptor,
        filter: &Filter,
        listed: &[SubLsp],
    ) -> Result<(u32, Label, Named), Problem> {
        let session = P2mpKey::of(&resv.session).ok_or_else(|| Problem::unserved_session(&resv.session))?;
        if self.p2mp.session(session).next().is_none() {
            return Err(Problem::Error(error_code::NO_PATH, 0));
        }
        if resv.style == Style::WildcardFilter {
            return Err(Problem::Error(error_code::UNKNOWN_STYLE, 0));
        }
        let (sender, sub) = keys(&filter.filter_spec).ok_or(Problem::Error(error_code::NO_SENDER, 0))?;
        let tree = self.p2mp.tree(&TreeKey { session, sender });
        let tree = tree.ok_or(Problem::Error(error_code::NO_SENDER, 0))?;
        let index = self.p2mp.branch(tree, sub, arrival.from);
        let Some((index, branch)) = index.and_then(|index| Some((index, self.p2mp.branches.get(index)?)))
        else {
            return Err(Problem::Silent(Discard::WrongHop));
        };
        if self.p2mp_is_diverted(branch.tree, branch.to) && !self.p2mp_is_reverting(branch.tree, branch.to) {
            return Err(Problem::Silent(Discard::WrongHop));
        }
        if arrival.id.is_some_and(|id| self.transport.out_of_order(id, resv_in(index))) {
            return Err(Problem::Silent(Discard::OutOfOrder));
        }
        // RFC 4875, 6.4: all LSPs of a tunnel have one style.
        let others = self.p2mp.session(session).filter_map(|tree| self.p2mp.trees.get(tree));
        let others = others.flat_map(|tree| &tree.branches).filter(|&&other| other != index);
        let styles =
            others.filter_map(|&other| Some(self.p2mp.branches.get(other)?.reserved.as_ref()?.style));
        if let Some(style) = styles.into_iter().find(|&style| style != resv.style) {
            return Err(Problem::Error(error_code::CONFLICTING_STYLE, style.option_vector() as u16));
        }
        let label = Rsvp::p2mp_check_content(descriptor, filter)?;
        Ok((index, label, self.p2mp_listed(branch, resv, filter, listed)?))
    }

    /// The leaves of a branch that a Resv names, with the routes that are recorded to them.
    fn p2mp_listed(
        &self,
        branch: &Branch,
        resv: &Resv,
        filter: &Filter,
        listed: &[SubLsp],
    ) -> Result<Named, Problem> {
        // A leaf belongs to the filter whose Path named it: a Resv may have several (RFC 4875, 6.2).
        let of_branch =
            |leaf: &&SubLsp| ipv4(leaf.leaf).is_some_and(|leaf| branch.routes.contains_key(&leaf));
        if !listed.iter().any(|leaf| of_branch(&leaf)) {
            return Err(Problem::Silent(Discard::NoState));
        }
        // The RRO is that of the first leaf behind the filter, whether it is still wanted or not. Of a Resv with
        // several filters it is not known where the leaves of each begin: there it is the first that is its own.
        let several = resv.flow_descriptors.iter().map(|flow| flow.filters.len()).sum::<usize>() > 1;
        let mine: Vec<&SubLsp> = listed.iter().filter(|leaf| !several || of_branch(leaf)).collect();
        // The limit comes first: a short message could say much longer routes than it is itself.
        let most = 2 * self.config.limits.route_hops;
        let recorded = expand(filter.rro.as_deref(), &mine, most);
        let recorded = recorded.ok_or(Problem::Error(error_code::RSVP_SYSTEM, 0))?;
        // What a secondary route begins with stands in another one.
        let rest = mine.iter().skip(1).map(|leaf| leaf.recorded_route.as_deref());
        let mut said = core::iter::once(filter.rro.as_deref()).chain(rest);
        if said.any(|rro| record_route::has_loop(rro, &self.links)) {
            // RFC 3209, 4.4.4: a Resv in a loop is just dropped.
            return Err(Problem::Silent(Discard::Loop));
        }
        let leaves = mine.iter().zip(recorded).filter(|(leaf, _)| of_branch(leaf));
        Ok(leaves.filter_map(|(leaf, route)| Some((ipv4(leaf.leaf)?, route))).collect())
    }

    /// A Resv for a diverted branch, from the merge point.
    fn p2mp_resv_around(
        &mut self,
        arrival: &Arrival,
        (index, share): (u32, &Share),
        resv: &Resv,
        descriptor: &FlowDescriptor,
        filter: &Filter,
        listed: &[SubLsp],
    ) {
        let Some(branch) = self.p2mp.branches.get(index) else { return };
        let leaves = self.p2mp_listed(branch, resv, filter, listed);
        let leaves = Rsvp::p2mp_check_content(descriptor, filter).and_then(|label| Ok((label, leaves?)));
        match leaves {
            Ok((label, leaves)) => self.p2mp_refreshed_around((index, share), resv, label, &leaves),
            Err(Problem::Silent(why)) => self.counters.discard(why),
            Err(Problem::Error(code, value)) => {
                self.p2mp_refuse(arrival, resv, descriptor, filter, (code, value));
            }
        }
    }

    /// What can be wrong with what a Resv reserves, and with its label.
    fn p2mp_check_content(descriptor: &FlowDescriptor, filter: &Filter) -> Result<Label, Problem> {
        if !descriptor.flowspec.bucket().is_sound() || !descriptor.flowspec.rate().ge(&0.0) {
            return Err(Problem::Error(error_code::TRAFFIC_CONTROL, traffic_control::BAD_FLOWSPEC));
        }
        let label = filter.label.filter(|label| is_acceptable(*label));
        label.ok_or(Problem::routing(routing::UNACCEPTABLE_LABEL))
    }

    /// Reserves for the leaves of a branch. Leaves that it had and are not named are gone (RFC 4875, 7.2.1).
    fn p2mp_accept(
        &mut self,
        index: u32,
        resv: &Resv,
        descriptor: &FlowDescriptor,
        label: Label,
        leaves: Named,
    ) -> bool {
        let Some((session, setup, port)) = self.p2mp_held_at(index) else { return false };
        let reverts = self.p2mp.branches.get(index).filter(|b| self.p2mp_is_reverting(b.tree, b.to));
        if let Some(known) = reverts.and_then(|branch| branch.reserved.as_ref())
            && known.leaves.keys().any(|leaf| !leaves.contains_key(leaf))
        {
            // Packets take the bypass until all leaves are reserved along the link again.
            return true;
        }
        let is_reverting = reverts.is_some();
        let as_before = |old: &Reserved| old.style == resv.style && old.flowspec == descriptor.flowspec;
        let known = self.p2mp.branches.get(index).and_then(|branch| branch.reserved.as_ref());
        // What is held changes with neither leaves nor routes.
        let before = (!known.is_some_and(as_before)).then(|| self.p2mp_share(session, port));
        let expires = self.now + self.lifetime(resv.time_values.refresh_ms);
        let Some(branch) = self.p2mp.branches.get_mut(index) else { return false };
        let confirm = branch.reserved.as_ref().map_or_else(Vec::new, |reserved| reserved.confirm.clone());
        let asked = resv.resv_confirm.map(|receiver| (receiver, leaves.keys().copied().collect()));
        let mut reserved = Reserved {
            label,
            style: resv.style,
            flowspec: descriptor.flowspec,
            leaves,
            confirm,
            period_ms: resv.time_values.refresh_ms,
            expires,
        };
        asked.into_iter().for_each(|(receiver, leaves)| reserved.wait(receiver, leaves));
        let old = branch.reserved.replace(reserved);
        let recorded = old.as_ref().map(|old| &old.leaves) != branch.reserved.as_ref().map(|new| &new.leaves);
        let sub = branch.sub;
        if let Some(before) = &before
            && !self.p2mp_make_room(session, port, setup, before)
        {
            if let Some(branch) = self.p2mp.branches.get_mut(index) {
                branch.reserved = old;
            }
            return false;
        }
        if let Some(before) = &before {
            self.p2mp_account(session, port, before);
        }
        if let Some(sub) = self.p2mp.subs.get_mut(sub).filter(|_| recorded) {
            sub.is_rerecorded = true;
        }
        if let Some(branch) = self.p2mp.branches.get_mut(index) {
            self.counters.faults.step(&mut branch.state, BranchEvent::Reserved);
        }
        if is_reverting {
            self.p2mp_revert(index);
        }
        self.p2mp_arm_branch(index);
        true
    }

    /// Session, setup priority and port of a branch.
    fn p2mp_held_at(&self, branch: u32) -> Option<(P2mpKey, u8, base::PortId)> {
        let branch = self.p2mp.branches.get(branch)?;
        let tree = self.p2mp.trees.get(branch.tree)?;
        Some((tree.key.session, tree.attributes.priorities().0, branch.to.port))
    }

    /// Bandwidth is not to be had for leaves that are not reserved: whoever comes before learns it.
    fn p2mp_refused(&mut self, branch: u32, problem: (u8, u16)) {
        let Some(state) = self.p2mp.branches.get(branch) else { return };
        let sub = state.sub;
        let without: Vec<Ipv4Addr> = state.routes.keys().filter(|leaf| !state.has(**leaf)).copied().collect();
        self.p2mp_problem(sub, &without, problem);
    }

    /// Gives back what a branch has reserved, if it has. Sends nothing.
    pub(super) fn p2mp_unreserve(&mut self, index: u32) {
        let Some((session, _, port)) = self.p2mp_held_at(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let before = self.p2mp_share(session, port);
        let Some(branch) = self.p2mp.branches.get_mut(index) else { return };
        if branch.reserved.take().is_none() {
            return;
        }
        self.counters.faults.step(&mut branch.state, BranchEvent::Released);
        self.transport.unbind(resv_in(index));
        self.p2mp_account(session, port, &before);
    }

    /// Gives the reservation of a branch back if no leaf is left in it.
    pub(super) fn p2mp_released(&mut self, index: u32) {
        let reserved = self.p2mp.branches.get(index).and_then(|branch| branch.reserved.as_ref());
        if reserved.is_some_and(|reserved| reserved.leaves.is_empty()) {
            self.p2mp_unreserve(index);
        }
    }

    /// RFC 4875, 7.2: reservations go, all of a branch or those of the leaves that are named.
    pub(in crate::rsvp) fn p2mp_resv_tear(&mut self, arrival: &Arrival, tear: &ResvTear) {
        let (Ok(listed), Some(session)) = (tear.common.sub_lsps(), P2mpKey::of(&tear.session)) else {
            return self.counters.discard(Discard::Malformed);
        };
        let Some(named) = Rsvp::p2mp_named(&listed) else { return self.counters.discard(Discard::Malformed) };
        for filter in &tear.filters {
            let found = keys(filter).and_then(|(sender, sub)| {
                let tree = self.p2mp.tree(&TreeKey { session, sender });
                let found = tree.and_then(|tree| Some((tree, self.p2mp.branch(tree, sub, arrival.from)?)));
                // RFC 4090, 6.3.2: what the failing path does is nobody's concern any more.
                let is_there = |(tree, index): &(u32, u32)| {
                    let to = self.p2mp.branches.get(*index).map(|branch| branch.to);
                    to.is_some_and(|to| !self.p2mp_is_diverted(*tree, to))
                };
                let direct = found.filter(is_there).map(|(tree, index)| (tree, index, Leaves::All));
                direct.or_else(|| {
                    let (index, share) = self.p2mp_around(&tear.session, filter)?;
                    Some((self.p2mp.branches.get(index)?.tree, index, share.leaves))
                })
            });
            let Some((tree, index, taken)) = found else {
                self.counters.discard(Discard::NoState);
                continue;
            };
            if self.is_overtaken(arrival, resv_in(index).0) {
                continue;
            }
            let Some(branch) = self.p2mp.branches.get_mut(index) else { continue };
            let Some(reserved) = branch.reserved.as_mut().filter(|reserved| reserved.style == tear.style)
            else {
                // RFC 2205, 3.1.6: what is torn down matches the STYLE, too.
                self.counters.discard(Discard::NoState);
                continue;
            };
            let is_torn = |leaf: &Ipv4Addr| taken.has(*leaf) && (named.is_empty() || named.contains(leaf));
            reserved.leaves.retain(|leaf, _| !is_torn(leaf));
            if reserved.leaves.is_empty() {
                self.transport.retire(resv_in(index));
            }
            self.p2mp_released(index);
            self.p2mp_settle(tree);
        }
    }

    /// Tables and answers follow what is reserved.
    pub(super) fn p2mp_settle(&mut self, tree: u32) {
        self.p2mp_feed(tree);
        self.p2mp_answer_all(tree);
    }

    /// Tells each previous hop what it does not know yet.
    pub(super) fn p2mp_answer_all(&mut self, tree: u32) {
        let subs = self.p2mp.sub_indices(tree);
        for sub in subs {
            self.p2mp_answer(sub, Sending::Refresh);
        }
    }

    /// Answers a Resv that this router does not take.
    fn p2mp_refuse(
        &mut self,
        arrival: &Arrival,
        resv: &Resv,
        descriptor: &FlowDescriptor,
        filter: &Filter,
        (code, value): (u8, u16),
    ) {
        self.counters.discard(Discard::Refused);
        let filters = vec![Filter { rro: None, ..filter.clone() }];
        let mut error = wire::rsvp::ResvErr {
            common: wire::rsvp::Common::default(),
            session: resv.session,
            hop: self.own_hop(arrival.from, resv.hop.lih),
            error_spec: self.error_spec(0, code, value),
            scope: None,
            policy_data: Vec::new(),
            style: resv.style,
            flow_descriptor: Some(FlowDescriptor { flowspec: descriptor.flowspec, filters }),
        };
        // RFC 4875, 11.2.
        let leaves: Vec<SubLsp> =
            resv.common.sub_lsps().into_iter().flatten().map(|leaf| SubLsp::of(leaf.leaf)).collect();
        if error.common.add_sub_lsps(&leaves).is_err() {
            self.counters.faults.note(Fault::Incomplete);
        }
        self.counters.error_sent(code, value);
        // Merge points name another address of this router than its own as the sender, and are no neighbours.
        let is_far = keys(&filter.filter_spec).is_some_and(|(sender, _)| {
            sender.address != self.config.router_id && self.links.is_own(sender.address)
        });
        match ipv4(resv.hop.address).filter(|_| is_far) {
            Some(merge_point) => {
                error.hop.address = IpAddr::V4(self.far_address());
                self.send_far(merge_point, &Message::ResvErr(error));
            }
            None => self.send_to_neighbor(arrival.from, &mut Message::ResvErr(error), Delivery::Reliable),
        }
    }

    /// A reservation is refreshed without a message of its own (RFC 2961, 5.3), and with it all that the same Resv set.
    pub(super) fn p2mp_resv_refreshed(&mut self, branch: u32) {
        let first = resv_in(branch);
        let mut handle = first;
        loop {
            if let super::Named::Branch(index) = super::named(handle.0)
                && let Some(period) =
                    self.p2mp.branches.get(index).and_then(|b| Some(b.reserved.as_ref()?.period_ms))
            {
                let expires = self.now + self.lifetime(period);
                if let Some(reserved) =
                    self.p2mp.branches.get_mut(index).and_then(|branch| branch.reserved.as_mut())
                {
                    reserved.expires = expires;
                }
            }
            handle = self.transport.beside(Handle(handle.0));
            if handle == first {
                break;
            }
        }
    }

    /// The leaves of a list, in which there may be none, which stands for all. Leaves of IPv6 don't go with sessions
    /// over IPv4: a list that has nothing else does not stand for all, and can't be read.
    pub(super) fn p2mp_named(listed: &[SubLsp]) -> Option<BTreeSet<Ipv4Addr>> {
        let named: BTreeSet<Ipv4Addr> = listed.iter().filter_map(|leaf| ipv4(leaf.leaf)).collect();
        (listed.is_empty() || !named.is_empty()).then_some(named)
    }

    /// The leaves that a message names.
    pub(super) fn p2mp_leaves(addresses: &[Ipv4Addr]) -> Vec<SubLsp> {
        addresses.iter().map(|&leaf| SubLsp::of(IpAddr::V4(leaf))).collect()
    }
}
