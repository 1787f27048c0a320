//! Paths of branches, and how many leaves fit into one (RFC 4875, 4.5 and 5.2.3).

use super::path_out;
use super::template;
use super::tree::{Sub, Tree};
use crate::rsvp::faults::Fault;
use crate::rsvp::outbox::Sending;
use crate::rsvp::path_send::through;
use crate::rsvp::record_route;
use crate::rsvp::{Rsvp, Timer};
use base::PortId;
use core::net::Ipv4Addr;
use std::collections::BTreeMap;
use std::net::IpAddr;
use wire::rsvp::sub_lsp::Compressor;
use wire::rsvp::{Common, EroHop, EroSubobject, LabelRequest, Message, Path, PathTear, SenderDescriptor};

/// Bytes of an S2L_SUB_LSP.
const LEAF: usize = 8;

/// Bytes of a route on the wire, with the head of its object.
fn wire_len(hops: &[EroHop]) -> usize {
    let len = |hop: &EroHop| match hop.node {
        EroSubobject::Ipv6 { .. } => 20,
        _ => 8,
    };
    4 + hops.iter().map(len).sum::<usize>()
}

/// How many of the leaves that wait go into each Path: first into the one that has begun with some routes, then into
/// new ones. `room` is what lists and routes may take, in bytes. A Path of its own takes one leaf at least.
pub(super) fn divide(begun: &[Vec<EroHop>], waiting: &[(Ipv4Addr, Vec<EroHop>)], room: usize) -> Vec<usize> {
    let mut parts = Vec::new();
    let (mut compressor, mut used, mut count) = (Compressor::default(), 0, 0);
    for route in begun.iter().filter(|route| !route.is_empty()) {
        used += LEAF + compressor.add(route).map_or(0, wire_len);
    }
    used += LEAF * begun.iter().filter(|route| route.is_empty()).count();
    let mut is_empty = begun.is_empty();
    for (_, route) in waiting {
        let more = match route.is_empty() {
            true => Some(LEAF),
            false => compressor.add(route).map(|rest| LEAF + wire_len(rest)),
        };
        // What the compressor has taken and is not used is of no harm: the next Path begins with another one.
        let fits = more.filter(|more| is_empty || used + more <= room);
        match fits {
            Some(more) => {
                used += more;
                count += 1;
            }
            None => {
                parts.push(count);
                compressor = Compressor::default();
                let fresh = match route.is_empty() {
                    true => 0,
                    false => compressor.add(route).map_or(0, wire_len),
                };
                (used, count) = (LEAF + fresh, 1);
            }
        }
        is_empty = false;
    }
    parts.push(count);
    parts
}

/// A leaf of a Path, and its secondary explicit route if it has one.
type Listed<'a> = (Ipv4Addr, Option<&'a [EroHop]>);

/// The lists of a Path: its explicit route, and its leaves. Those without a route come last, for what stands behind
/// the first leaf without one is routed hop by hop (RFC 4875, 5.2.2).
fn lists<'a>(
    routes: impl Iterator<Item = (&'a Ipv4Addr, &'a Vec<EroHop>)>,
) -> (Option<&'a [EroHop]>, Vec<Listed<'a>>) {
    let (mut routed, others): (Vec<_>, Vec<_>) = routes.partition(|(_, route)| !route.is_empty());
    routed.sort_by(|a, b| (a.1, a.0).cmp(&(b.1, b.0)));
    let (mut compressor, mut ero) = (Compressor::default(), None);
    let mut leaves = Vec::with_capacity(routed.len() + others.len());
    for (leaf, route) in routed {
        // Routes of one branch begin with the same hop; what did not would be written in full.
        let rest = compressor.add(route).unwrap_or(route);
        leaves.push((*leaf, ero.is_some().then_some(rest)));
        ero.get_or_insert(rest);
    }
    leaves.extend(others.into_iter().map(|(leaf, _)| (*leaf, None)));
    (ero, leaves)
}

impl Rsvp {
    /// Bytes that lists and routes of a Path may take by a port, beside all else that it carries.
    pub(super) fn p2mp_room(&self, tree: &Tree, sub: &Sub, port: PortId) -> usize {
        let mtu = self.links.get(port).map_or(1500, |link| link.interface.mtu as usize);
        let name = tree.attributes.session_attribute.as_ref().map_or(0, |said| said.name.len());
        let recorded = sub.rro.as_ref().map_or(0, |rro| 12 + record_route::wire_len(rro));
        let opaque: usize = sub.unknown.iter().map(|object| 4 + object.data.len()).sum();
        let policy: usize = sub.policy.iter().map(|data| 4 + data.len()).sum();
        // IP header with Router Alert, and fixed objects with MESSAGE_ID, ADSPEC and INTEGRITY.
        let fixed = 24 + 300 + name + recorded + opaque + policy;
        mtu.saturating_sub(fixed)
    }

    /// Sends the Path of a branch, and sets the time of the next one.
    pub(super) fn p2mp_send_path(&mut self, index: u32, sending: Sending) {
        let next = self.next_refresh();
        let Some(branch) = self.p2mp.branches.get_mut(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        branch.path_refresh_at = next;
        let (hop, tree) = (branch.to, branch.tree);
        if self.p2mp_is_diverted(tree, hop) {
            self.p2mp_send_path_around(index);
            if !self.p2mp_is_reverting(tree, hop) {
                return self.p2mp_arm_branch(index);
            }
        }
        if !self.summarised(hop, sending, path_out(index).0) {
            let Some((mut message, ends, ttl)) = self.p2mp_build_path(index, None) else {
                return self.counters.faults.note(Fault::NoLink);
            };
            let delivery = sending.delivery(path_out(index).0);
            self.send_end_to_end(hop, ends, ttl, &mut message, delivery);
        }
        self.p2mp_arm_branch(index);
    }

    /// The Path of a branch, with its own routes to its leaves unless others are given; between which addresses it
    /// goes, and its TTL.
    pub(super) fn p2mp_build_path(
        &self,
        index: u32,
        others: Option<&BTreeMap<Ipv4Addr, Vec<EroHop>>>,
    ) -> Option<(Message, (Ipv4Addr, Ipv4Addr), u8)> {
        let branch = self.p2mp.branches.get(index)?;
        let (tree, sub) = (self.p2mp.trees.get(branch.tree)?, self.p2mp.subs.get(branch.sub)?);
        let link = self.links.get(branch.to.port)?;
        let (ero, leaves) = lists(others.unwrap_or(&branch.routes).iter());
        let &(first, _) = leaves.first()?;
        let mut unknown = Vec::with_capacity(sub.unknown.len() + 2 * leaves.len());
        unknown.extend_from_slice(&sub.unknown);
        let mut common = Common { unknown, ..Common::default() };
        for (leaf, route) in leaves {
            common.add_sub_lsp(IpAddr::V4(leaf), route, None).ok()?;
        }
        let attributes = &tree.attributes;
        // RFC 4875, 5.2.2: each branch has the route so far, with this router's address.
        let rro = sub.rro.as_ref().map(|rest| record_route::push(link.interface.address, None, rest));
        let message = Message::Path(Path {
            common,
            session: tree.key.session.to_wire(),
            hop: self.own_hop(branch.to, u32::from(branch.to.port.0)),
            time_values: self.time_values(),
            ero: ero.map(<[EroHop]>::to_vec),
            label_request: Some(LabelRequest::Generic { l3pid: attributes.l3pid }),
            session_attribute: attributes.session_attribute.clone(),
            diffserv: None,
            policy_data: sub.policy.clone(),
            sender_template: template(tree.key.sender, branch.key),
            sender_tspec: attributes.tspec,
            adspec: sub.adspec.clone().map(|adspec| through(adspec, &link.interface)),
            rro,
        });
        Some((message, (tree.key.sender.address, first), sub.ttl))
    }

    /// Sends a PathTear for all leaves of a branch (RFC 4875, 7.2.2).
    pub(super) fn p2mp_send_tear(&mut self, index: u32) {
        let Some(branch) = self.p2mp.branches.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        if self.p2mp_is_diverted(branch.tree, branch.to) {
            let is_reverting = self.p2mp_is_reverting(branch.tree, branch.to);
            self.p2mp_send_tear_around(index);
            if !is_reverting {
                return;
            }
        }
        let Some(branch) = self.p2mp.branches.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let Some(tree) = self.p2mp.trees.get(branch.tree) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let ttl = self.p2mp.subs.get(branch.sub).map_or(self.config.message_ttl, |sub| sub.ttl);
        // Receivers ignore what describes the traffic (RFC 2205, 3.1.5), but some drop a PathTear that does not say as
        // much as its Path did.
        let said = self.p2mp.subs.get(branch.sub).and_then(|sub| sub.adspec.clone());
        let link = self.links.get(branch.to.port);
        let sender = SenderDescriptor {
            sender_template: template(tree.key.sender, branch.key),
            sender_tspec: Some(tree.attributes.tspec),
            adspec: said.zip(link).map(|(adspec, link)| through(adspec, &link.interface)),
            rro: None,
        };
        let mut message = Message::PathTear(PathTear {
            common: Common::default(),
            session: tree.key.session.to_wire(),
            hop: self.own_hop(branch.to, u32::from(branch.to.port.0)),
            sender: Some(sender),
        });
        let (hop, from) = (branch.to, tree.key.sender.address);
        // What is torn down is the whole sub-group, and the list of leaves may be left out. The message goes to the
        // neighbour: its leaves are gone already.
        self.send_end_to_end(
            hop,
            (from, hop.address),
            ttl,
            &mut message,
            crate::rsvp::transport::Delivery::Reliable,
        );
    }

    /// When a branch is to be looked at again.
    pub(super) fn p2mp_arm_branch(&mut self, index: u32) {
        let Some(branch) = self.p2mp.branches.get_mut(index) else { return };
        let deadline = branch.deadline();
        branch.alarm.set(&mut self.wheel, deadline, Timer::Branch(index));
    }

    /// When a sub-group is to be looked at again.
    pub(super) fn p2mp_arm_sub(&mut self, index: u32) {
        let Some(sub) = self.p2mp.subs.get_mut(index) else { return };
        let deadline = sub.deadline();
        sub.alarm.set(&mut self.wheel, deadline, Timer::Sub(index));
    }
}
