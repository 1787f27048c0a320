//! Labels (RFC 5036, 3.5.5 to 3.5.11 and A): which prefixes have one, the entries of tables that follow from labels and
//! routes, and who is told.
//!
//! A label that is taken back means "look at what is below" until all who were told it have released it; then its entry
//! is removed, and when that is done the label is free.

use super::section::LdpPrefixes;
use super::session::Session;
use super::{Ldp, PREFERENCE};
use crate::protocol::Context;
use crate::services::sessions::SessionId;
use crate::services::{After, Beyond, Binder, LabelSpace, Services};
use base::plane::{
    Ack, Fec as Packets, GroupId, IpPrefix, LabelStack, Leg, MEMBERS_MAX, Member, NextHop, Nhlfe, Prefix,
    TableOp, TcSource, TtlModel,
};
use base::{Label, PortId};
use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeSet;
use wire::ldp::{AnyLabel, Body, Fec, LdpId, Notice, Status};

/// The number of the first group of next hops with labels: behind those of users and of routes.
const FIRST_GROUP: u32 = 3 << 30;

/// Writes that have been made up, and what is to be done when they are in force.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    pub ops: Vec<TableOp>,
    /// Labels to tell, by the place of their entry among the writes.
    tell: Vec<(u32, Prefix, Label)>,
    /// Labels that are free.
    free: Vec<Label>,
}

/// What others are told of a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binding {
    /// The prefix is right here: whoever is before this router takes the label off (RFC 5036, 3.10.2).
    Here,
    /// Packets come with a label.
    Label {
        label: Label,
        /// Is its entry in force, so that it may be told?
        is_written: bool,
    },
}

impl Binding {
    /// The label that others are told, if they may be.
    pub(super) fn told(self) -> Option<Label> {
        match self {
            Binding::Here => Some(Label::IMPLICIT_NULL),
            Binding::Label { label, is_written } => is_written.then_some(label),
        }
    }
}

/// A prefix that has a label.
#[derive(Debug)]
pub(super) struct Known {
    pub binding: Option<Binding>,
    /// The entry of its label.
    ilm: Option<Nhlfe>,
    /// The entry of packets without a label, as it was bound.
    ftn: Option<Nhlfe>,
    /// The group of its next hops.
    group: Option<(GroupId, Box<[Member]>)>,
    /// Labels that were taken back, and the sessions that have not released them.
    old: Vec<(Label, BTreeSet<SessionId>)>,
    /// Ports, neighbours and labels by which its packets leave with a label, for people.
    pub used: Vec<(PortId, Ipv4Addr, Label)>,
}

fn entry(push: LabelStack, next_hop: NextHop) -> Nhlfe {
    Nhlfe { push, next_hop, ttl: TtlModel::Uniform, tc: TcSource::Copy }
}

fn stack(label: Label) -> LabelStack {
    if label == Label::IMPLICIT_NULL { LabelStack::EMPTY } else { LabelStack::one(label) }
}

/// Looks at what is below the label.
fn below() -> Nhlfe {
    entry(LabelStack::EMPTY, NextHop::Local)
}

const fn binder() -> Binder {
    Binder { preference: PREFERENCE, owner: Ldp::ID, rank: 0 }
}

fn fec_of(prefix: Prefix) -> Fec {
    Fec::Prefix(IpPrefix::V4(prefix))
}

/// The labels that others give, and what may be done with them (RFC 3032, 2.1).
fn is_usable(label: Label) -> bool {
    matches!(label, Label::EXPLICIT_NULL | Label::IMPLICIT_NULL) || !label.is_reserved()
}

impl Ldp {
    /// Has a prefix a label? One that leads to what measures is nobody's business.
    fn wants(&self, services: &Services, prefix: Prefix, hops: &[NextHop]) -> bool {
        // The network of the port beside a router is announced like any other; what lies behind the port is not.
        let is_beyond_instrument = |hop: &NextHop| match hop {
            NextHop::Via { port, gateway } => {
                let attached = services.interfaces.attached(*port);
                !gateway.is_unspecified() && attached.is_some_and(|at| at.beyond == Beyond::Instrument)
            }
            _ => false,
        };
        if hops.is_empty() || hops.iter().any(is_beyond_instrument) {
            return false;
        }
        let is_own = hops.contains(&NextHop::Local);
        let is_host = prefix.len() == 32;
        match self.config.prefixes {
            LdpPrefixes::Loopbacks => is_host && (!is_own || prefix.address() == self.router_id),
            LdpPrefixes::All => !is_own || prefix.address() == self.router_id,
        }
    }

    /// The neighbours that packets to a prefix leave by with a label, as far as they have given one.
    fn legs(&self, prefix: Prefix, hops: &[NextHop]) -> Vec<(PortId, Ipv4Addr, Label)> {
        let leg = |hop: &NextHop| {
            let NextHop::Via { port, gateway: IpAddr::V4(gateway) } = *hop else { return None };
            let session = self.sessions.values().find(|session| {
                // RFC 5036, 2.7: whose address it is; and labels are for links on which the router is heard.
                let is_heard = session.peer.is_some_and(|peer| self.adjacencies.contains_key(&(port, peer)));
                session.is_operational() && is_heard && session.addresses.contains(&gateway)
            })?;
            Some((port, gateway, *session.given.get(&prefix)?))
        };
        hops.iter().take(MEMBERS_MAX).filter_map(leg).collect()
    }

    /// Lets a prefix follow its routes and its labels.
    pub(super) fn update(&mut self, context: &mut Context<'_>, prefix: Prefix) {
        let hops = context.services.rib.next_hops(prefix).to_vec();
        if !self.wants(context.services, prefix, &hops) {
            return self.drop_prefix(context, prefix);
        }
        // RFC 5036, 2.6.1.2: what is of this router, or right beyond it.
        let is_beyond = |hop: &NextHop| match hop {
            NextHop::Via { gateway, .. } => gateway.is_unspecified(),
            other => *other == NextHop::Local,
        };
        let is_here = hops.iter().any(is_beyond);
        let legs = if is_here { Vec::new() } else { self.legs(prefix, &hops) };
        let before = self.fecs.get(&prefix).and_then(|known| known.binding);
        let binding = match (is_here, before) {
            (true, _) => Some(Binding::Here),
            (false, Some(label @ Binding::Label { .. })) => Some(label),
            (false, _) => {
                let label = context.services.labels.allocate(LabelSpace::Platform, Ldp::ID);
                label.map(|label| Binding::Label { label, is_written: false })
            }
        };
        if before.is_some() && before != binding {
            self.take_back(prefix);
        }
        let known = self.fecs.entry(prefix).or_insert_with(|| Known {
            binding: None,
            ilm: None,
            ftn: None,
            group: None,
            old: Vec::new(),
            used: Vec::new(),
        });
        let is_new = known.binding != binding;
        known.binding = binding;
        known.used = legs;
        self.write(context, prefix);
        if is_new && binding == Some(Binding::Here) {
            self.tell(prefix, Label::IMPLICIT_NULL);
        }
    }

    /// Writes the entries of a prefix if they are others than before.
    fn write(&mut self, context: &mut Context<'_>, prefix: Prefix) {
        let Some(known) = self.fecs.get_mut(&prefix) else { return };
        let ops = &mut self.writes.ops;
        let old_group = known.group.as_ref().map(|(group, _)| *group);
        let target = match known.used[..] {
            [] => None,
            [(port, gateway, label)] => {
                Some(entry(stack(label), NextHop::Via { port, gateway: gateway.into() }))
            }
            ref several => {
                let member = |&(port, gateway, label): &(PortId, Ipv4Addr, Label)| {
                    let leg = Leg { labels: stack(label), port, gateway: gateway.into() };
                    Member { leg, backup: None }
                };
                let members: Box<[Member]> = several.iter().map(member).collect();
                let id = old_group.unwrap_or_else(|| {
                    self.groups = (self.groups + 1) % (1 << 30);
                    GroupId(FIRST_GROUP + self.groups)
                });
                if known.group.as_ref().is_none_or(|(_, before)| *before != members) {
                    ops.push(TableOp::GroupSet { group: id, members: members.clone() });
                    known.group = Some((id, members));
                }
                Some(entry(LabelStack::EMPTY, NextHop::Group(id)))
            }
        };
        if let Some(Binding::Label { label, is_written }) = known.binding {
            let ilm = target.unwrap_or(below());
            if known.ilm != Some(ilm) {
                if !is_written && known.ilm.is_none() {
                    self.writes.tell.push((ops.len() as u32, prefix, label));
                }
                ops.push(TableOp::IlmSet { label, nhlfe: ilm });
                known.ilm = Some(ilm);
            }
        }
        // Packets without a label need an entry only where they get one.
        let is_labelled = known.used.iter().any(|(.., label)| *label != Label::IMPLICIT_NULL);
        let ftn = target.filter(|_| is_labelled);
        let fec = Packets::Prefix(prefix);
        match ftn {
            Some(nhlfe)
                if known.ftn != ftn
                    && context.services.bindings.bind(prefix.into(), binder(), nhlfe).in_force =>
            {
                ops.push(TableOp::FtnSet { fec, nhlfe });
            }
            None if known.ftn.is_some() => {
                match context.services.bindings.withdraw(prefix.into(), binder()) {
                    After::Next(nhlfe) => ops.push(TableOp::FtnSet { fec, nhlfe }),
                    After::Nothing => ops.push(TableOp::FtnRemove { fec }),
                    After::Absent | After::Same => {}
                }
            }
            _ => {}
        }
        known.ftn = ftn;
        if let Some(group) = old_group.filter(|_| known.used.len() < 2) {
            known.group = None;
            ops.push(TableOp::GroupRemove { group });
        }
    }

    /// The prefix has no label any more (RFC 5036, 3.5.10.1).
    fn drop_prefix(&mut self, context: &mut Context<'_>, prefix: Prefix) {
        let Some(known) = self.fecs.get_mut(&prefix) else { return };
        known.used = Vec::new();
        if known.binding.is_some() {
            self.take_back(prefix);
        }
        self.write(context, prefix);
        self.sweep(prefix);
    }

    /// Takes back what others were told of a prefix. The entry of a label stays until all have released it.
    fn take_back(&mut self, prefix: Prefix) {
        let Some(known) = self.fecs.get_mut(&prefix) else { return };
        let binding = known.binding.take();
        let mut told = BTreeSet::new();
        for session in self.sessions.values_mut() {
            if let Some(label) = session.sent.remove(&prefix) {
                session.say(Body::Withdraw { fec: fec_of(prefix), label: Some(AnyLabel::Generic(label)) });
                told.insert(session.id);
            }
        }
        known.ilm = None;
        let Some(Binding::Label { label, .. }) = binding else { return };
        self.writes.tell.retain(|(_, of, _)| *of != prefix);
        self.writes.ops.push(TableOp::IlmSet { label, nhlfe: below() });
        known.old.push((label, told));
        self.sweep(prefix);
    }

    /// Removes entries of labels that everybody has released, and forgets a prefix of which nothing is left.
    fn sweep(&mut self, prefix: Prefix) {
        let Some(known) = self.fecs.get_mut(&prefix) else { return };
        let writes = &mut self.writes;
        known.old.retain(|(label, who)| {
            if who.is_empty() {
                writes.ops.push(TableOp::IlmRemove { label: *label });
                writes.free.push(*label);
            }
            !who.is_empty()
        });
        if known.binding.is_none() && known.old.is_empty() && known.used.is_empty() && known.ftn.is_none() {
            self.fecs.remove(&prefix);
        }
    }

    /// Takes the answer to a batch of writes.
    pub(super) fn written(&mut self, context: &mut Context<'_>, ack: &Ack) {
        let Some(waiting) = self.waiting.remove(&ack.transaction.0) else { return };
        self.refused += ack.failed.len() as u64;
        for label in waiting.free {
            context.services.labels.release(LabelSpace::Platform, Ldp::ID, label);
        }
        let failed = |place: u32| ack.failed.iter().any(|(of, _)| *of == place);
        for (place, prefix, of) in waiting.tell {
            let binding = self.fecs.get_mut(&prefix).and_then(|known| known.binding.as_mut());
            match binding {
                Some(Binding::Label { label, is_written }) if *label == of && !failed(place) => {
                    *is_written = true;
                    self.tell(prefix, of);
                }
                _ => {}
            }
        }
    }

    /// Tells everybody the label of a prefix (RFC 5036, 3.5.7.1.1), whoever has asked for it with the request's number.
    fn tell(&mut self, prefix: Prefix, label: Label) {
        for session in self.sessions.values_mut().filter(|session| session.is_operational()) {
            let asked = session.requests.iter().position(|(of, _)| *of == prefix);
            let request = asked.map(|place| session.requests.remove(place).1);
            session.tell(prefix, label, request);
        }
    }

    /// Tells a neighbour all labels that there are.
    pub(super) fn tell_all(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        for (prefix, known) in &self.fecs {
            if let Some(label) = known.binding.and_then(Binding::told) {
                session.tell(*prefix, label, None);
            }
        }
    }

    /// A neighbour has addresses, or has them no more.
    pub(super) fn addresses(
        &mut self,
        context: &mut Context<'_>,
        id: SessionId,
        list: &[Ipv4Addr],
        is_new: bool,
    ) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        for address in list {
            match is_new {
                true => session.addresses.insert(*address),
                false => session.addresses.remove(address),
            };
        }
        for prefix in session.given.keys().copied().collect::<Vec<_>>() {
            self.update(context, prefix);
        }
    }

    /// Links to a neighbour have changed: what it gave labels for may leave by others.
    pub(super) fn update_through(&mut self, context: &mut Context<'_>, peer: LdpId) {
        let of = self.sessions.values().filter(|session| session.peer == Some(peer));
        for prefix in of.flat_map(|session| session.given.keys().copied()).collect::<Vec<_>>() {
            self.update(context, prefix);
        }
    }

    /// A neighbour has given a label (RFC 5036, A.1.2).
    pub(super) fn mapped(&mut self, context: &mut Context<'_>, id: SessionId, prefix: Prefix, label: Label) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let release = |label| Body::Release {
            fec: fec_of(prefix),
            label: Some(AnyLabel::Generic(label)),
            notice: None,
        };
        if !is_usable(label) {
            return session.say(release(label));
        }
        if let Some(before) = session.given.insert(prefix, label).filter(|before| *before != label) {
            session.say(release(before));
        }
        self.update(context, prefix);
    }

    /// A neighbour takes labels back: they are released in any case (RFC 5036, 3.5.10.1).
    pub(super) fn withdrawn(
        &mut self,
        context: &mut Context<'_>,
        id: SessionId,
        fec: Fec,
        label: Option<AnyLabel>,
    ) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let only = |given: Label| label.is_none_or(|label| label == AnyLabel::Generic(given));
        let of = |(prefix, given): (&Prefix, &Label)| {
            ((fec == Fec::Wildcard || fec == fec_of(*prefix)) && only(*given)).then_some(*prefix)
        };
        let gone: Vec<Prefix> = session.given.iter().filter_map(of).collect();
        gone.iter().for_each(|prefix| {
            session.given.remove(prefix);
        });
        session.say(Body::Release { fec, label, notice: None });
        gone.into_iter().for_each(|prefix| self.update(context, prefix));
    }

    /// A neighbour needs labels no more (RFC 5036, 3.5.11.1).
    pub(super) fn released(&mut self, _: &mut Context<'_>, id: SessionId, fec: Fec, label: Option<AnyLabel>) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let is_meant = |of: Label| label.is_none_or(|label| label == AnyLabel::Generic(of));
        let is_fec = |prefix: Prefix| fec == Fec::Wildcard || fec == fec_of(prefix);
        session.sent.retain(|prefix, given| !(is_fec(*prefix) && is_meant(*given)));
        let old = self.fecs.iter_mut().filter(|(prefix, known)| is_fec(**prefix) && !known.old.is_empty());
        let mut swept = Vec::new();
        for (prefix, known) in old {
            known.old.iter_mut().filter(|(of, _)| is_meant(*of)).for_each(|(_, who)| {
                who.remove(&id);
            });
            swept.push(*prefix);
        }
        swept.into_iter().for_each(|prefix| self.sweep(prefix));
    }

    /// A session has ended: it will release nothing.
    pub(super) fn released_by(&mut self, _: &mut Context<'_>, id: SessionId) {
        let mut swept = Vec::new();
        for (prefix, known) in self.fecs.iter_mut().filter(|(_, known)| !known.old.is_empty()) {
            known.old.iter_mut().for_each(|(_, who)| {
                who.remove(&id);
            });
            swept.push(*prefix);
        }
        swept.into_iter().for_each(|prefix| self.sweep(prefix));
    }

    /// A neighbour asks for a label (RFC 5036, 3.5.8.1): why it gets none, if so.
    pub(super) fn requested(&mut self, id: SessionId, prefix: Prefix, request: u32) -> Option<Status> {
        let Some(known) =
            self.fecs.get(&prefix).filter(|known| known.ilm.is_some() || known.binding.is_some())
        else {
            return Some(Status::NoRoute);
        };
        let Some(binding) = known.binding else { return Some(Status::NoLabelResources) };
        let session = self.sessions.get_mut(&id)?;
        match binding.told() {
            Some(label) => session.tell(prefix, label, Some(request)),
            None => session.requests.push((prefix, request)),
        }
        None
    }

    /// A neighbour takes a request back: if it was not answered, that is confirmed (RFC 5036, 3.5.9.1).
    pub(super) fn aborted(&mut self, id: SessionId, prefix: Prefix, request: u32, notice: Notice) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let before = session.requests.len();
        session.requests.retain(|asked| *asked != (prefix, request));
        if session.requests.len() < before {
            let (extended, returned_pdu, returned_message, request) = (None, None, None, Some(request));
            session.say(Body::Notification { notice, extended, returned_pdu, returned_message, request });
        }
    }
}

impl Session {
    /// Gives a label.
    fn tell(&mut self, prefix: Prefix, label: Label, request: Option<u32>) {
        self.sent.insert(prefix, label);
        let (fecs, label) = (vec![fec_of(prefix)], AnyLabel::Generic(label));
        self.say(Body::Mapping { fecs, label, request, hops: None, path: None });
    }
}
