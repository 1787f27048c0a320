//! Resv messages on their way to the previous hop: one for each sub-group, with the leaves that are reserved (RFC 4875,
//! 6.1 and 6.2).

use super::recorded::{compress, recorded_len};
use super::states::{SubEvent, SubState};
use super::tree::{Recorded, Sub};
use super::{resv_out, template};
use crate::rsvp::Rsvp;
use crate::rsvp::faults::Fault;
use crate::rsvp::outbox::Sending;
use crate::rsvp::record_route;
use crate::rsvp::transport::Delivery;
use base::{Label, Span, Time};
use core::iter::Peekable;
use core::net::Ipv4Addr;
use std::collections::BTreeSet;
use std::collections::btree_map::Range;
use std::net::IpAddr;
use wire::rsvp::{
    Common, Filter, FilterSpec, FlowDescriptor, Flowspec, Message, Resv, ResvTear, RroSubobject, RsvpHop,
};

/// Least time between two Resv messages for a sub-group of which the second says no more than that there are more
/// leaves (RFC 4875, 6.2.1): those that come meanwhile share it. The RFC leaves the time open.
const RESV_INTERVAL: Span = Span::from_ms(1);

/// Are all of `some` leaves among `all`, both of which are in order?
fn has_all(all: &[Ipv4Addr], some: &[Ipv4Addr]) -> bool {
    let mut all = all.iter();
    some.iter().all(|leaf| all.any(|other| other == leaf))
}

impl Rsvp {
    /// The leaves of a sub-group that are reserved, in order.
    pub(super) fn p2mp_reserved(&self, sub: &Sub) -> Vec<Ipv4Addr> {
        let mut reserved = Vec::with_capacity(sub.leaves.len());
        // Leaves of a branch mostly lie side by side: they are gone through with what is reserved of it.
        let mut latest = None;
        for (&leaf, at) in &sub.leaves {
            let Some(index) = at.branch else {
                reserved.push(leaf);
                continue;
            };
            let (branch, known) = latest.get_or_insert_with(|| (index, self.p2mp_known_from(index, leaf)));
            if *branch != index {
                (*branch, *known) = (index, self.p2mp_known_from(index, leaf));
            }
            while known.next_if(|(known, _)| **known < leaf).is_some() {}
            if known.next_if(|(known, _)| **known == leaf).is_some() {
                reserved.push(leaf);
            }
        }
        reserved
    }

    /// What is reserved of a branch, from a leaf on.
    fn p2mp_known_from(&self, branch: u32, leaf: Ipv4Addr) -> Peekable<Range<'_, Ipv4Addr, Recorded>> {
        let reserved = self.p2mp.branches.get(branch).and_then(|branch| branch.reserved.as_ref());
        reserved.map_or_else(Range::default, |reserved| reserved.leaves.range(leaf..)).peekable()
    }

    /// Is a leaf of a sub-group reserved?
    pub(super) fn p2mp_is_reserved(&self, sub: &Sub, leaf: Ipv4Addr) -> bool {
        let has = |branch| self.p2mp.branches.get(branch).is_some_and(|branch| branch.has(leaf));
        sub.leaves.get(&leaf).is_some_and(|at| at.branch.is_none_or(has))
    }

    /// Tells the previous hop which leaves of a sub-group are reserved, if it does not know or if it is time to say so
    /// again. At the root the tunnel learns it.
    pub(super) fn p2mp_answer(&mut self, index: u32, sending: Sending) {
        let Some(sub) = self.p2mp.subs.get(index) else { return };
        let Some(tree) = self.p2mp.trees.get(sub.tree) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        if tree.root.is_some() {
            return self.p2mp_reached(index);
        }
        if !tree.around.is_empty() {
            self.p2mp_answer_around(sub.tree);
        }
        let Some(sub) = self.p2mp.subs.get(index).filter(|sub| !sub.is_cut_off) else { return };
        let reserved = self.p2mp_reserved(sub);
        if reserved.is_empty() {
            if sub.state == SubState::Announced {
                self.p2mp_send_resv_tear(index);
            }
            return;
        }
        // The Resv that brings a label waits for its entry.
        let Some(label) = self.p2mp_is_fed(sub.tree, sub.prev_hop) else { return };
        let confirm = self.p2mp_asked_by(index, sub);
        let said = self.p2mp_flowspec(index, sub).zip(self.p2mp_style(sub));
        let is_new =
            sub.announced != reserved || sub.announced_as != said || sub.state != SubState::Announced;
        let is_due = sub.resv_refresh_at <= self.now;
        let asks_anew = confirm.is_some() && confirm != sub.confirm;
        let may_be_sent_at = sub.resv_sent_at + RESV_INTERVAL;
        let may_wait = sending == Sending::Refresh && is_new && !asks_anew && self.now < may_be_sent_at;
        let is_more = |sub: &Sub| {
            let is_known = sub.state == SubState::Announced && sub.announced_as == said;
            is_known && has_all(&reserved, &sub.announced)
        };
        if may_wait && is_more(sub) {
            if let Some(sub) = self.p2mp.subs.get_mut(index) {
                sub.resv_refresh_at = sub.resv_refresh_at.min(may_be_sent_at);
            }
            return self.p2mp_arm_sub(index);
        }
        // RFC 4875, 6.2.1: routes alone wait for the next refresh, which no summary can take the place of then.
        let sending = match sending {
            _ if is_new || asks_anew || (is_due && sub.is_rerecorded) => Sending::Trigger,
            as_asked => as_asked,
        };
        if sending == Sending::Refresh && !is_due {
            return;
        }
        let hop = sub.prev_hop;
        let handle = resv_out(index);
        if !self.summarised(hop, sending, handle.0) {
            let Some(mut message) = self.p2mp_build_resv(index, label, &reserved) else {
                return self.counters.faults.note(Fault::Incomplete);
            };
            self.send_to_neighbor(hop, &mut message, sending.delivery(handle.0));
        }
        let next = self.next_refresh();
        if let Some(sub) = self.p2mp.subs.get_mut(index) {
            self.counters.faults.step(&mut sub.state, SubEvent::Announced);
            if asks_anew {
                sub.asked.clone_from(&reserved);
            }
            (sub.announced, sub.resv_refresh_at, sub.confirm) = (reserved, next, confirm);
            (sub.announced_as, sub.is_rerecorded) = (said, false);
            sub.resv_sent_at = self.now;
        }
        self.p2mp_arm_sub(index);
    }

    /// The Resv of a sub-group.
    fn p2mp_build_resv(&self, index: u32, label: Label, reserved: &[Ipv4Addr]) -> Option<Message> {
        let sub = self.p2mp.subs.get(index)?;
        let tree = self.p2mp.trees.get(sub.tree)?;
        let hop = self.own_hop(sub.prev_hop, sub.lih);
        let said = (template(tree.key.sender, sub.key), hop, label);
        let leaves: Vec<(Ipv4Addr, u32)> = reserved.iter().map(|leaf| (*leaf, index)).collect();
        let confirm = self.p2mp_asked_by(index, sub).filter(|asked| sub.confirm != Some(*asked));
        let mtu = self.links.get(sub.prev_hop.port).map_or(1500, |link| link.interface.mtu as usize);
        self.p2mp_resv_of(sub.tree, said, &leaves, confirm, mtu)
    }

    /// A Resv for leaves of a tree, each of a sub-group, all of which come from the same previous hop: under what name
    /// it is meant, who sends it, and with which label.
    pub(super) fn p2mp_resv_of(
        &self,
        index: u32,
        (filter_spec, hop, label): (FilterSpec, RsvpHop, Label),
        reserved: &[(Ipv4Addr, u32)],
        resv_confirm: Option<IpAddr>,
        mtu: usize,
    ) -> Option<Message> {
        let tree = self.p2mp.trees.get(index)?;
        let with_label = tree.attributes.records_labels().then(|| RroSubobject::global_label(label));
        let route = |leaf: &Ipv4Addr, sub: u32| -> Option<Vec<RroSubobject>> {
            let sub = self.p2mp.subs.get(sub)?;
            sub.rro.as_ref()?;
            let IpAddr::V4(address) = self.own_hop(sub.prev_hop, sub.lih).address else { return None };
            let branch = sub.leaves.get(leaf)?.branch;
            let rest = match branch {
                None => &[][..],
                Some(branch) => {
                    self.p2mp.branches.get(branch)?.reserved.as_ref()?.leaves.get(leaf)?.as_deref()?
                }
            };
            let flags = self.p2mp_flags(tree, branch);
            Some(record_route::push_with(address, flags, with_label.clone(), rest))
        };
        let mut routes: Vec<Option<Vec<RroSubobject>>> =
            reserved.iter().map(|(leaf, sub)| route(leaf, *sub)).collect();
        // RFC 3209, 4.4.3: recorded routes that no longer fit are left out, unless they fit as RFC 4875, 6.1, has them:
        // from where each leaves that of a leaf before it.
        let room = mtu.saturating_sub(256 + 8 * reserved.len());
        let mut begins = vec![0; routes.len()];
        if recorded_len(&routes, &begins) > room {
            begins = compress(&routes);
        }
        if recorded_len(&routes, &begins) > room {
            routes.iter_mut().for_each(|route| *route = None);
        }
        let mut common = Common { unknown: Vec::with_capacity(2 * reserved.len()), ..Common::default() };
        // RFC 4875, 6.3.1: the route of the first leaf is the RRO, those of others follow them.
        for (at, ((leaf, _), (route, from))) in reserved.iter().zip(routes.iter().zip(begins)).enumerate() {
            let route = route.as_ref().and_then(|route| route.get(from..)).filter(|_| at > 0);
            common.add_sub_lsp(IpAddr::V4(*leaf), None, route).ok()?;
        }
        let rro = routes.into_iter().next().flatten();
        let subs: BTreeSet<u32> = reserved.iter().map(|(_, sub)| *sub).collect();
        let known = || subs.iter().filter_map(|&sub| Some((sub, self.p2mp.subs.get(sub)?)));
        let style = known().find_map(|(_, sub)| self.p2mp_style(sub))?;
        let flowspecs = known().filter_map(|(at, sub)| self.p2mp_flowspec(at, sub));
        let flowspec = flowspecs.max_by(|a, b| a.rate().total_cmp(&b.rate()))?;
        let filter = Filter { filter_spec, label: Some(label), rro };
        Some(Message::Resv(Resv {
            common,
            session: tree.key.session.to_wire(),
            hop,
            time_values: self.time_values(),
            resv_confirm,
            scope: None,
            policy_data: Vec::new(),
            style,
            flow_descriptors: vec![FlowDescriptor { flowspec, filters: vec![filter] }],
        }))
    }

    /// The style of what is reserved: that of the branches, or what the Path asks a leaf for.
    fn p2mp_style(&self, sub: &Sub) -> Option<wire::rsvp::Style> {
        let tree = self.p2mp.trees.get(sub.tree)?;
        Some(self.p2mp_reserved_style(sub.tree).unwrap_or_else(|| tree.attributes.style()))
    }

    /// The style of what is reserved behind the branches of a tree, which all have the same.
    pub(super) fn p2mp_reserved_style(&self, tree: u32) -> Option<wire::rsvp::Style> {
        let mut branches = self.p2mp.branches_of(self.p2mp.trees.get(tree)?);
        branches.find_map(|branch| Some(branch.reserved.as_ref()?.style))
    }

    /// The largest of what is reserved behind a sub-group (RFC 2205, 2.2).
    fn p2mp_flowspec(&self, index: u32, sub: &Sub) -> Option<Flowspec> {
        let tree = self.p2mp.trees.get(sub.tree)?;
        let own = sub.ends_here.then_some(Flowspec::ControlledLoad(tree.attributes.tspec.0));
        let branches = self.p2mp.branches_of(tree);
        let of_sub = branches.filter(|branch| branch.sub == index);
        let said = of_sub.filter_map(|branch| branch.reserved.as_ref()).map(|reserved| reserved.flowspec);
        said.chain(own).max_by(|a, b| a.rate().total_cmp(&b.rate()))
    }

    /// No leaf of a sub-group is reserved any more.
    pub(super) fn p2mp_send_resv_tear(&mut self, index: u32) {
        let Some((mut message, hop)) = self.p2mp_build_resv_tear(index) else {
            return self.counters.faults.note(Fault::Incomplete);
        };
        self.transport.forget(resv_out(index));
        self.send_to_neighbor(hop, &mut message, Delivery::Reliable);
        if let Some(sub) = self.p2mp.subs.get_mut(index) {
            self.counters.faults.step(&mut sub.state, SubEvent::Unannounced);
            sub.announced.clear();
            (sub.resv_refresh_at, sub.confirm) = (Time::MAX, None);
        }
    }

    fn p2mp_build_resv_tear(&self, index: u32) -> Option<(Message, crate::rsvp::transport::Neighbor)> {
        let sub = self.p2mp.subs.get(index)?;
        let tree = self.p2mp.trees.get(sub.tree)?;
        let message = Message::ResvTear(ResvTear {
            common: Common::default(),
            session: tree.key.session.to_wire(),
            hop: self.own_hop(sub.prev_hop, sub.lih),
            scope: None,
            style: self.p2mp_style(sub)?,
            filters: vec![template(tree.key.sender, sub.key)],
        });
        Some((message, sub.prev_hop))
    }
}
