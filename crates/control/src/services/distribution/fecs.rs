//! Which prefixes have a label, the entries of tables that follow from labels and routes, and who is told.

use super::loops::Attributes;
use super::{Cause, Distribution, LabelAdvertisement, LabelControl, LdpPrefixes, PeerKey, Refusal, Say};
use crate::services::{After, Beyond, Binder, Hops, LabelSpace, Route, RouteHop, Services, Source};
use base::plane::{
    Ack, Fec as Packets, GroupId, LabelStack, Leg, MEMBERS_MAX, Member, NextHop, Nhlfe, Prefix, TableOp,
    TcSource, TtlModel,
};
use base::queue::take_first;
use base::{Label, PortId, Time};
use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeSet;

/// How many groups of next hops there are.
const GROUPS: u32 = 1 << 28;

/// What others are told of a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// The prefix is right here: whoever is before this router takes the label off (RFC 5036, 3.10.2).
    Here,
    /// Packets come with a label.
    Label {
        /// The label.
        label: Label,
        /// Is its entry in force, so that it may be told?
        is_written: bool,
    },
}

impl Binding {
    /// The label that others are told, if they may be.
    pub fn told(self) -> Option<Label> {
        match self {
            Binding::Here => Some(Label::IMPLICIT_NULL),
            Binding::Label { label, is_written } => is_written.then_some(label),
        }
    }
}

/// Where an entry of a prefix leads: its [`Nhlfe`] in a quarter of the memory, as there may be a thousand prefixes at
/// each of a thousand routers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// To the IP header below the label. Another label below means nothing here (RFC 3031, 3.22).
    Unlabelled,
    /// To a neighbour, with its label.
    Way(Used),
    /// To several neighbours, with their labels.
    Group(GroupId),
}

impl Target {
    fn nhlfe(self) -> Nhlfe {
        match self {
            Target::Unlabelled => entry(LabelStack::EMPTY, NextHop::Unlabelled),
            Target::Way((port, gateway, label)) => {
                entry(stack(label), NextHop::Via { port, gateway: gateway.into() })
            }
            Target::Group(group) => entry(LabelStack::EMPTY, NextHop::Group(group)),
        }
    }
}

/// A group of next hops.
#[derive(Debug)]
struct Group {
    id: GroupId,
    members: Box<[Member]>,
}

/// A prefix that has a label.
#[derive(Debug, Default)]
pub struct KnownFec {
    /// What others are told.
    pub binding: Option<Binding>,
    /// Hop count and path vector, as others are told them.
    pub(super) attributes: Attributes,
    /// The entry of its label.
    ilm: Option<Target>,
    /// The entry of packets without a label, as it was bound.
    ftn: Option<Target>,
    /// The group of its next hops.
    group: Option<Box<Group>>,
    /// Labels that were taken back, and the neighbours that have not released them.
    pub(super) old: Vec<(Label, BTreeSet<PeerKey>)>,
    /// Ports, neighbours and labels by which its packets leave with a label.
    pub used: Box<[Used]>,
    /// How many hops those of these are long that are channels of ATM, as it was written.
    hops: Box<[(PortId, Label, u8)]>,
}

/// A port, the neighbour's address there, and the label that it has given.
pub(super) type Used = (PortId, Ipv4Addr, Label);

fn entry(push: LabelStack, next_hop: NextHop) -> Nhlfe {
    Nhlfe { push, next_hop, ttl: TtlModel::Uniform, tc: TcSource::Copy }
}

fn stack(label: Label) -> LabelStack {
    if label == Label::IMPLICIT_NULL { LabelStack::EMPTY } else { LabelStack::one(label) }
}

/// Is it of this router, or right beyond it?
fn is_here(hop: &NextHop) -> bool {
    match hop {
        NextHop::Via { gateway, .. } => gateway.is_unspecified(),
        other => *other == NextHop::Local,
    }
}

/// Where the packets of a prefix go by labels of neighbours.
#[derive(Debug, Default)]
pub(super) struct Ways {
    /// Port, neighbour's address and label.
    used: Vec<(PortId, Ipv4Addr, Label)>,
    /// The neighbours.
    by: Vec<PeerKey>,
}

impl Ways {
    /// Has a neighbour given each of the labels?
    fn is_given(&self) -> bool {
        !self.used.is_empty() && self.used.len() == self.by.len()
    }
}

impl Distribution {
    fn binder(&self) -> Binder {
        Binder { preference: self.settings.preference, owner: self.settings.owner, rank: 0 }
    }

    /// Has a prefix a label? One that leads to what measures is nobody's business.
    pub(super) fn wants(&self, services: &Services, prefix: Prefix, hops: &[NextHop]) -> bool {
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
        // A protocol that names a router further away finds what is beyond this network: RFC 5036, 2.1, leaves open
        // which FECs there are.
        let is_far = |route: &Route| {
            let is_through = |hop: &RouteHop| matches!(hop, RouteHop::Through(_));
            matches!(route.source, Source::Protocol(_)) && route.hops.as_slice().iter().any(is_through)
        };
        let may_be_far = !self.settings.beyond && services.rib.has_gateways();
        if may_be_far && services.rib.best(prefix).is_some_and(is_far) {
            return false;
        }
        let is_own = hops.contains(&NextHop::Local);
        let is_host = prefix.len() == 32;
        match self.settings.prefixes {
            LdpPrefixes::Loopbacks => is_host && (!is_own || prefix.address() == self.settings.router_id),
            LdpPrefixes::All => !is_own || prefix.address() == self.settings.router_id,
        }
    }

    /// The neighbours that packets to a prefix leave by with a label, as far as they have given one (RFC 5036, 2.7).
    /// They are put into the memory of others.
    fn ways(&self, prefix: Prefix, hops: &[NextHop], mut ways: Ways) -> Ways {
        ways.used.clear();
        ways.by.clear();
        for hop in hops.iter().take(MEMBERS_MAX) {
            let NextHop::Via { port, gateway: IpAddr::V4(gateway) } = *hop else { continue };
            let at = self.peers.iter().chain(&self.away).find(|(_, peer)| peer.is_at(hop));
            if let Some((key, label)) = at.and_then(|(key, peer)| Some((*key, *peer.given.get(&prefix)?))) {
                ways.used.push((port, gateway, label));
                ways.by.push(key);
            } else if let Some(label) = self.preserved(prefix, port, gateway) {
                ways.used.push((port, gateway, label));
            }
        }
        ways
    }

    /// Is there anybody to give a label to?
    fn is_wanted(&self, prefix: Prefix) -> bool {
        let wants = |peer: &super::Peer| {
            let has_asked = peer.requests.iter().any(|one| one.prefix == prefix);
            !peer.on_demand || has_asked || peer.sent.contains(&prefix)
        };
        self.settings.advertise == LabelAdvertisement::Unsolicited || self.peers.values().any(wants)
    }

    /// Do the LSPs of a prefix with these next hops end here?
    pub(super) fn is_egress(&self, hops: &[NextHop]) -> bool {
        // RFC 5036, 2.6.1.2: the next router speaks no label distribution.
        let is_outside = |hop: &NextHop| match hop {
            NextHop::Via { port, .. } => !self.settings.ports.contains(port),
            _ => true,
        };
        hops.iter().any(is_here) || hops.iter().all(is_outside)
    }

    /// Lets a prefix follow its routes and its labels.
    pub fn update(&mut self, now: Time, services: &mut Services, prefix: Prefix, cause: Cause) {
        let hops = Hops::of(services.rib.next_hops(prefix));
        self.update_by_hops(now, services, prefix, hops.as_slice(), cause);
    }

    /// The same, where the next hops in force are known already.
    pub(super) fn update_by_hops(
        &mut self,
        now: Time,
        services: &mut Services,
        prefix: Prefix,
        hops: &[NextHop],
        cause: Cause,
    ) {
        self.tidy(prefix, hops);
        if !self.wants(services, prefix, hops) {
            self.drop_prefix(now, services, prefix);
            return;
        }
        let is_here = hops.iter().any(is_here);
        let is_egress = self.is_egress(hops);
        let spare = core::mem::take(&mut self.spare);
        let ways = self.ways(prefix, if is_here { &[] } else { hops }, spare);
        let is_confirmed = self.confirm(prefix, is_egress || ways.is_given());
        let attributes = self.mapping_attributes(prefix, is_egress, &ways.by);
        let is_settled = |known: &KnownFec| {
            *known.used == *ways.used && known.attributes == attributes && known.old.is_empty()
        };
        let known = self.fec(prefix);
        let before = known.and_then(|known| known.binding);
        let is_settled = known.is_some_and(is_settled) && !is_confirmed && self.settings.cells.is_empty();
        // RFC 5036, 2.6.1.2: a label is given first when the next router has given one. It is taken back with that one
        // (A.1.5, LWd.8), and stays where only the next hop is another (A.1.7).
        let has_lost = cause == Cause::Lost && known.is_some_and(|known| !known.used.is_empty());
        let may_give = self.settings.control == LabelControl::Independent
            || is_egress
            || !ways.used.is_empty()
            || (before.is_some() && before != Some(Binding::Here) && !has_lost);
        let binding = match before {
            _ if !may_give || !self.is_wanted(prefix) => None,
            _ if is_here => Some(Binding::Here),
            Some(label @ Binding::Label { .. }) => Some(label),
            _ => {
                let label = services.labels.allocate(LabelSpace::Platform, self.settings.owner);
                if label.is_none() {
                    self.lacking.insert(prefix);
                    self.refuse_all(prefix, Refusal::NoLabels);
                }
                label.map(|label| Binding::Label { label, is_written: false })
            }
        };
        // Most labels that come are of neighbours that packets to the prefix do not take: nothing changes by them.
        if !is_settled || before != binding || binding.is_none() {
            if before.is_some() && before != binding {
                self.take_back(prefix);
            }
            let place = self.fecs.place_or_insert_with(prefix, Box::default);
            let known = self.fecs.at_mut(place);
            let is_new = (known.binding != binding && binding == Some(Binding::Here))
                || (known.binding == binding && (known.attributes != attributes || is_confirmed));
            if *known.used != *ways.used {
                self.is_moved = true;
                known.used = ways.used.as_slice().into();
            }
            (known.binding, known.attributes) = (binding, attributes);
            self.write(services, prefix);
            if is_new {
                self.tell(prefix, None);
            }
            self.sweep(prefix);
        }
        self.spare = ways;
        self.answer(prefix);
        if !is_here {
            self.ask(prefix, hops, cause);
        }
        if is_confirmed && self.stale.is_empty() {
            self.complete();
        }
    }

    /// How many hops the channels of ATM are long that packets of a prefix enter here; zero where nobody knows.
    fn hops_used(&self, prefix: Prefix) -> Box<[(PortId, Label, u8)]> {
        let Some(known) = self.fecs.get(&prefix).filter(|_| !self.settings.cells.is_empty()) else {
            return Box::default();
        };
        let on_cells = known.used.iter().filter(|(port, ..)| self.settings.cells.contains(port));
        let of = |&(port, _, label): &Used| {
            let by = self.peers.values().find(|peer| peer.ports.contains(&port));
            let said = by.and_then(|peer| peer.attributes.get(&prefix)?.hops);
            (port, label, said.unwrap_or(0))
        };
        on_cells.map(of).collect()
    }

    /// Writes the entries of a prefix if they are others than before.
    pub(super) fn write(&mut self, services: &mut Services, prefix: Prefix) {
        let (binder, hops) = (self.binder(), self.hops_used(prefix));
        let Some(known) = self.fecs.get_mut(&prefix) else { return };
        let ops = &mut self.writes.ops;
        if known.hops != hops {
            let gone =
                known.hops.iter().filter(|one| !hops.iter().any(|new| (new.0, new.1) == (one.0, one.1)));
            ops.extend(gone.map(|&(port, label, _)| TableOp::CircuitHops { port, label, hops: None }));
            let new = hops.iter().filter(|one| !known.hops.contains(one));
            ops.extend(new.map(|&(port, label, hops)| TableOp::CircuitHops {
                port,
                label,
                hops: Some(hops),
            }));
            known.hops = hops;
        }
        let old_group = known.group.as_ref().map(|group| group.id);
        let target = match known.used[..] {
            [] => None,
            [way] => Some(Target::Way(way)),
            ref several => {
                let member = |&(port, gateway, label): &(PortId, Ipv4Addr, Label)| {
                    let leg = Leg { labels: stack(label), port, gateway: gateway.into() };
                    Member { leg, backup: None }
                };
                let members: Box<[Member]> = several.iter().map(member).collect();
                let id = old_group.unwrap_or_else(|| {
                    self.groups = (self.groups + 1) % GROUPS;
                    GroupId(self.settings.first_group + self.groups)
                });
                if known.group.as_ref().is_none_or(|group| group.members != members) {
                    ops.push(TableOp::GroupSet { group: id, members: members.clone() });
                    services.bindings.set_members(prefix.into(), id, Some(members.clone()));
                    known.group = Some(Box::new(Group { id, members }));
                }
                Some(Target::Group(id))
            }
        };
        if let Some(Binding::Label { label, is_written }) = known.binding {
            let ilm = target.unwrap_or(Target::Unlabelled);
            if known.ilm != Some(ilm) {
                if !is_written && known.ilm.is_none() {
                    self.writes.tell.push((ops.len() as u32, prefix, label));
                }
                ops.push(TableOp::IlmSet { label, nhlfe: ilm.nhlfe() });
                known.ilm = Some(ilm);
            }
        }
        // Packets without a label need an entry only where they get one.
        let is_labelled = known.used.iter().any(|(.., label)| *label != Label::IMPLICIT_NULL);
        let ftn = target.filter(|_| is_labelled && !self.dead.contains(&prefix));
        let fec = Packets::Prefix(prefix);
        match ftn {
            Some(target) if known.ftn != ftn => {
                let nhlfe = target.nhlfe();
                if services.bindings.bind(prefix.into(), binder, nhlfe).in_force {
                    ops.push(TableOp::FtnSet { fec, nhlfe });
                }
            }
            None if known.ftn.is_some() => match services.bindings.withdraw(prefix.into(), binder) {
                After::Next(nhlfe) => ops.push(TableOp::FtnSet { fec, nhlfe }),
                After::Nothing => ops.push(TableOp::FtnRemove { fec }),
                After::Absent | After::Same => {}
            },
            _ => {}
        }
        known.ftn = ftn;
        if let Some(group) = old_group.filter(|_| known.used.len() < 2) {
            known.group = None;
            services.bindings.set_members(prefix.into(), group, None);
            ops.push(TableOp::GroupRemove { group });
        }
    }

    /// The prefix has no label any more (RFC 5036, 3.5.10.1).
    fn drop_prefix(&mut self, _: Time, services: &mut Services, prefix: Prefix) {
        self.refuse_all(prefix, Refusal::NoRoute);
        self.lacking.remove(&prefix);
        self.stale.remove(&prefix);
        for (key, peer) in &mut self.peers {
            peer.declined.remove(&prefix);
            self.retries.remove(&(*key, prefix));
        }
        let Some(known) = self.fecs.get_mut(&prefix) else { return };
        self.is_moved |= !known.used.is_empty();
        known.used = Box::default();
        if known.binding.is_some() {
            self.take_back(prefix);
        }
        self.write(services, prefix);
        self.sweep(prefix);
    }

    /// Takes back what others were told of a prefix. The entry of a label stays until all have released it.
    fn take_back(&mut self, prefix: Prefix) {
        let Some(known) = self.fecs.get_mut(&prefix) else { return };
        let binding = known.binding.take();
        let mut told = BTreeSet::new();
        for (key, peer) in &mut self.peers {
            if let Some(label) = peer.sent.remove(&prefix) {
                self.said.push_back((*key, Say::Withdraw { prefix, label }));
                told.insert(*key);
            }
        }
        known.ilm = None;
        let Some(Binding::Label { label, .. }) = binding else {
            // There is no entry, but a release that is under way must not count for what is given next.
            known.old.extend((!told.is_empty()).then_some((Label::IMPLICIT_NULL, told)));
            return;
        };
        self.writes.tell.retain(|(_, of, _)| *of != prefix);
        self.writes.ops.push(TableOp::IlmSet { label, nhlfe: Target::Unlabelled.nhlfe() });
        known.old.push((label, told));
    }

    /// Removes entries of labels that everybody has released, and forgets a prefix of which nothing is left.
    fn sweep(&mut self, prefix: Prefix) {
        let Some(known) = self.fecs.get_mut(&prefix) else { return };
        let writes = &mut self.writes;
        known.old.retain(|(label, who)| {
            if who.is_empty() && *label != Label::IMPLICIT_NULL {
                writes.ops.push(TableOp::IlmRemove { label: *label });
                writes.free.push(*label);
            }
            !who.is_empty()
        });
        if known.binding.is_none()
            && known.old.is_empty()
            && known.used.is_empty()
            && known.ftn.is_none()
            && known.hops.is_empty()
        {
            self.fecs.remove(&prefix);
        }
    }

    /// Takes the answer to a batch of writes.
    pub fn written(&mut self, now: Time, services: &mut Services, ack: &Ack) {
        let place = self.waiting.iter().position(|(transaction, _)| *transaction == ack.transaction.0);
        let waiting = match place {
            Some(0) => take_first(&mut self.waiting),
            place => place.and_then(|place| self.waiting.remove(place)),
        };
        let Some((_, waiting)) = waiting else { return };
        self.refused += ack.failed.len() as u64;
        let is_freed = self.release(now, services, waiting.free);
        let failed = |place: u32| ack.failed.iter().any(|(of, _)| *of == place);
        for (place, prefix, of) in waiting.tell {
            let binding = self.fecs.get_mut(&prefix).and_then(|known| known.binding.as_mut());
            match binding {
                Some(Binding::Label { label, is_written }) if *label == of && !failed(place) => {
                    *is_written = true;
                    self.tell(prefix, None);
                }
                _ => {}
            }
        }
        if is_freed {
            self.labels_freed(now, services);
        }
        self.complete();
    }

    /// Says that all labels have been told to whom that was not said yet, once no entry is waited for (RFC 5919, 4).
    pub(super) fn complete(&mut self) {
        if self.peers.values().all(|peer| peer.is_complete) {
            return;
        }
        let waits =
            |known: &KnownFec| matches!(known.binding, Some(Binding::Label { is_written: false, .. }));
        if self.fecs.values().any(|known| waits(known))
            || self.stale.iter().any(|prefix| self.awaits_next(*prefix))
        {
            return;
        }
        for (key, peer) in self.peers.iter_mut().filter(|(_, peer)| !peer.is_complete) {
            peer.is_complete = true;
            self.said.push_back((*key, Say::Complete));
        }
    }

    /// Labels are free again: who was refused one hears of it, and prefixes that lack one get it (RFC 5036, A.1.13).
    pub(super) fn labels_freed(&mut self, now: Time, services: &mut Services) {
        for prefix in core::mem::take(&mut self.lacking) {
            self.update(now, services, prefix, Cause::Neighbor);
        }
        if self.lacking.is_empty() {
            for (key, peer) in self.peers.iter_mut().filter(|(_, peer)| peer.was_refused) {
                peer.was_refused = false;
                self.said.push_back((*key, Say::LabelsAvailable));
            }
        }
    }

    /// Tells the label of a prefix to all who are to have it, or to one of them (RFC 5036, 3.5.7.1). Whoever has asked
    /// is told with the number of the request.
    pub(super) fn tell(&mut self, prefix: Prefix, only: Option<PeerKey>) {
        let Some(known) = self.fecs.get(&prefix).filter(|_| !self.awaits_next(prefix)) else { return };
        let Some(label) = known.binding.and_then(Binding::told) else { return };
        let attributes = &known.attributes;
        for (key, peer) in self.peers.iter_mut().filter(|(key, _)| only.is_none_or(|only| only == **key)) {
            let is_asked = peer.requests.iter().any(|one| one.prefix == prefix);
            let is_unasked = !peer.on_demand && !peer.declined.contains(&prefix);
            if is_asked || !(is_unasked || peer.sent.contains(&prefix)) {
                continue;
            }
            peer.sent.insert(prefix, label);
            let map = Say::Map { prefix, label, request: None, attributes: attributes.clone() };
            self.said.push_back((*key, map));
        }
        self.answer(prefix);
    }

    /// Answers requests for a prefix, if its label may be told.
    fn answer(&mut self, prefix: Prefix) {
        if self.peers.values().all(|peer| peer.requests.is_empty()) {
            return;
        }
        let Some(known) = self.fecs.get(&prefix).filter(|_| !self.awaits_next(prefix)) else { return };
        let Some(label) = known.binding.and_then(Binding::told) else { return };
        for (key, peer) in &mut self.peers {
            for one in peer.requests.extract_if(.., |one| one.prefix == prefix) {
                peer.sent.insert(prefix, label);
                let (request, attributes) = (Some(one.number), known.attributes.clone());
                self.said.push_back((*key, Say::Map { prefix, label, request, attributes }));
            }
        }
    }
}
