//! Routes: what neighbours have told (Adj-RIB-In), which of it is taken (Loc-RIB), and what they are told (Adj-RIB-Out)
//! (RFC 4271, 9).

use super::decision::{Candidate, choose};
use super::{Bgp, EXTERNAL_PREFERENCE, INTERNAL_PREFERENCE, Imported};
use crate::protocol::{Context, Output};
use crate::services::sessions::SessionOutput;
use crate::services::{Hops, Route, RouteHop, Services, Source};
use base::Time;
use base::plane::{IpPrefix, NextHop, Prefix};
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use wire::bgp::attribute::TRANSITIVE;
use wire::bgp::{AsPath, Attributes, MAX_LEN, Message, Nlri, Origin, Terms, Treatment, Update};

/// LOCAL_PREF where nobody has said any.
const USUAL_PREFERENCE: u32 = 100;
/// Sets of attributes are looked through for those that nobody has any more when there are so many more.
const SWEEP: usize = 1024;

/// The community of routes that nobody is told (RFC 1997).
const NO_ADVERTISE: u32 = 0xffff_ff02;

/// Is it a community of routes that no other AS is told: NO_EXPORT or NO_EXPORT_SUBCONFED (RFC 1997)?
const fn is_for_inside(community: u32) -> bool {
    matches!(community, 0xffff_ff01 | 0xffff_ff03)
}

/// The route to a destination that is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Best {
    /// The neighbour that told it, by its place; nothing if it is this router's own.
    pub peer: Option<usize>,
    /// What is said of it.
    pub attributes: Arc<Attributes>,
    /// What it costs to get to its next hop.
    pub metric: u32,
}

/// What it costs to get to an address by routes that are not of BGP; nothing if there is none.
pub(super) fn cost_of(services: &Services, address: Ipv4Addr) -> Option<u32> {
    (0..=32u8).rev().find_map(|len| {
        let routes = services.rib.routes(Prefix::new(address, len));
        let other = routes.iter().find(|route| route.source != Source::Protocol(Bgp::ID))?;
        let leads = |hop: &RouteHop| !matches!(hop, RouteHop::Direct(NextHop::Local | NextHop::Discard));
        other.hops.as_slice().iter().any(leads).then_some(other.metric)
    })
}

impl Bgp {
    /// The one set of attributes that is equal to this one.
    fn intern(&mut self, attributes: Attributes) -> Arc<Attributes> {
        if let Some(known) = self.sets.get(&attributes) {
            return known.clone();
        }
        if self.sets.len() >= self.sweep {
            self.sets.retain(|set| Arc::strong_count(set) > 1);
            self.sweep = 2 * self.sets.len() + SWEEP;
        }
        let set = Arc::new(attributes);
        self.sets.insert(set.clone());
        set
    }

    /// Takes an UPDATE of a neighbour.
    pub(super) fn update(&mut self, context: &mut Context<'_>, place: usize, update: Update) {
        let Update { withdrawn, mut attributes, nlri, faults, .. } = update;
        let peer = &mut self.peers[place];
        peer.updates_received += 1;
        peer.malformed += faults.len() as u64;
        let prefix = |one: &Nlri| match one.prefix {
            IpPrefix::V4(prefix) => Some(prefix),
            IpPrefix::V6(_) => None,
        };
        let mut changed = BTreeSet::new();
        let is_withdrawn = faults.iter().any(|fault| fault.treatment == Treatment::TreatAsWithdraw);
        attributes.as_path = Some(attributes.path());
        (attributes.as4_path, attributes.as4_aggregator) = (None, None);
        // RFC 4271, 5: what nobody here knows goes on only if it is transitive, and says then that somebody did not.
        attributes.unknown.retain(|one| one.flags & TRANSITIVE != 0);
        attributes.unknown.iter_mut().for_each(|one| one.flags |= wire::bgp::attribute::PARTIAL);
        let is_taken = !is_withdrawn && self.is_acceptable(context.services, place, &attributes);
        let set = is_taken.then(|| self.intern(attributes));
        let received = &mut self.peers[place].received;
        for prefix in withdrawn.iter().filter_map(prefix) {
            if received.remove(&prefix).is_some() {
                changed.insert(prefix);
            }
        }
        for prefix in nlri.iter().filter_map(prefix) {
            let before = match &set {
                Some(set) => received.insert(prefix, set.clone()),
                None => received.remove(&prefix),
            };
            if before != set {
                changed.insert(prefix);
            }
        }
        changed.into_iter().for_each(|prefix| self.decide(context, prefix));
    }

    /// Is a route one that can be taken (RFC 4271, 5.1.3, 6.3 and 9.1.2; RFC 4456, 8)?
    fn is_acceptable(&self, services: &Services, place: usize, attributes: &Attributes) -> bool {
        let peer = &self.peers[place].config;
        let Some(next_hop) = attributes.next_hop else { return false };
        let is_own = next_hop == self.router_id
            || services.interfaces.iter().any(|(_, one)| {
                one.addresses.iter().any(|own| own.address == core::net::IpAddr::V4(next_hop))
            });
        if !peer.imports || is_own || next_hop.is_unspecified() || next_hop.is_multicast() {
            return false;
        }
        let path = attributes.as_path.as_ref();
        if self.is_external(place) {
            // RFC 7606, 7.2: the nearest AS is the neighbour's.
            return path
                .is_some_and(|path| path.first() == Some(peer.asn) && !path.contains(self.config.asn));
        }
        !path.is_some_and(|path| path.contains(self.config.asn))
            && attributes.originator != Some(self.router_id)
            && !attributes.cluster_list.contains(&self.config.cluster_id)
    }

    pub(super) fn is_external(&self, place: usize) -> bool {
        self.peers[place].config.asn != self.config.asn
    }

    fn candidate(&self, place: usize, attributes: &Attributes, metric: u32) -> Candidate {
        let peer = &self.peers[place];
        let path = attributes.as_path.as_ref();
        let is_external = self.is_external(place);
        let local_pref = attributes.local_pref.filter(|_| !is_external);
        Candidate {
            peer: Some(place),
            local_pref: local_pref.unwrap_or(USUAL_PREFERENCE),
            steps: path.map_or(0, AsPath::steps),
            origin: attributes.origin.unwrap_or_default(),
            neighbor_as: path.and_then(AsPath::first),
            med: attributes.med.unwrap_or(0),
            is_external,
            metric,
            id: attributes.originator.or(peer.id).unwrap_or(Ipv4Addr::BROADCAST),
            clusters: attributes.cluster_list.len(),
            address: peer.config.address,
        }
    }

    /// Finds the best route to a destination, has packets take it, and has neighbours told.
    pub(super) fn decide(&mut self, context: &mut Context<'_>, prefix: Prefix) {
        let mut new =
            self.own.get(&prefix).map(|set| Best { peer: None, attributes: set.clone(), metric: 0 });
        if new.is_none() {
            let mut all = Vec::new();
            for (place, peer) in self.peers.iter().enumerate() {
                let Some(set) = peer.received.get(&prefix) else { continue };
                let Some(next_hop) = set.next_hop else { continue };
                let found = || cost_of(context.services, next_hop);
                let Some(metric) = *self.next_hops.entry(next_hop).or_insert_with(found) else { continue };
                all.push((place, metric));
            }
            let of = |(place, metric): (usize, u32)| {
                Some(self.candidate(place, self.peers[place].received.get(&prefix)?, metric))
            };
            new = choose(all.into_iter().filter_map(of).collect()).and_then(|best| {
                let set = self.peers[best.peer?].received.get(&prefix)?;
                Some(Best { peer: best.peer, attributes: set.clone(), metric: best.metric })
            });
        }
        if self.table.get(&prefix) == new.as_ref() {
            return;
        }
        let source = Source::Protocol(Bgp::ID);
        let learnt = new.as_ref().and_then(|best| Some((best.peer?, best.attributes.next_hop?)));
        match learnt {
            Some((place, next_hop)) => {
                let is_external = self.is_external(place);
                let route = Route {
                    source,
                    preference: if is_external { EXTERNAL_PREFERENCE } else { INTERNAL_PREFERENCE },
                    metric: new.as_ref().and_then(|best| best.attributes.med).unwrap_or(0),
                    tag: 0,
                    hops: Hops::One(RouteHop::Through(next_hop)),
                };
                context.services.rib.set(prefix, route);
            }
            None => {
                context.services.rib.remove(prefix, source);
            }
        }
        match new {
            Some(best) => self.table.insert(prefix, best),
            None => self.table.remove(&prefix),
        };
        for peer in self.peers.iter_mut().filter(|peer| peer.is_established()) {
            peer.pending.insert(prefix);
        }
    }

    /// The route to a prefix has changed: what this router tells of its own, and how far next hops are.
    pub(super) fn route_changed(&mut self, context: &mut Context<'_>, prefix: Prefix) {
        self.originate(context, prefix);
        let mut moved = BTreeSet::new();
        for (address, cost) in &mut self.next_hops {
            if prefix.contains(*address) {
                let new = cost_of(context.services, *address);
                if core::mem::replace(cost, new) != new {
                    moved.insert(*address);
                }
            }
        }
        if moved.is_empty() {
            return;
        }
        let through = |set: &Arc<Attributes>| set.next_hop.is_some_and(|next_hop| moved.contains(&next_hop));
        let all = self.peers.iter().flat_map(|peer| &peer.received);
        let concerned: BTreeSet<Prefix> =
            all.filter(|(_, set)| through(set)).map(|(prefix, _)| *prefix).collect();
        concerned.into_iter().for_each(|prefix| self.decide(context, prefix));
    }

    /// Tells a destination of this router's own, or no longer.
    pub(super) fn originate(&mut self, context: &mut Context<'_>, prefix: Prefix) {
        let new = if self.config.networks.contains(&prefix) {
            Some((Origin::Igp, 0))
        } else {
            let rib = &context.services.rib;
            let is_host =
                rib.next_hops(prefix).contains(&NextHop::Local) && prefix.address() != self.router_id;
            let route = rib.best(prefix).filter(|_| !is_host);
            let wanted = |route: &&Route| self.config.redistribute.iter().any(|one| one.is_of(&route.source));
            route.filter(wanted).map(|route| (Origin::Incomplete, route.metric))
        };
        let new = new.map(|(origin, med)| {
            let (as_path, med) = (Some(AsPath::default()), Some(med));
            self.intern(Attributes { origin: Some(origin), as_path, med, ..Attributes::default() })
        });
        if self.own.get(&prefix) != new.as_ref() {
            match new {
                Some(set) => self.own.insert(prefix, set),
                None => self.own.remove(&prefix),
            };
            self.decide(context, prefix);
        }
    }

    /// What a neighbour is told of a destination; nothing if it is told nothing (RFC 4271, 9.1.3; RFC 4456, 6 and 8).
    fn told(&self, place: usize, prefix: Prefix) -> Option<Attributes> {
        let (peer, best) = (&self.peers[place], self.table.get(&prefix)?);
        if !peer.config.exports || best.peer == Some(place) {
            return None;
        }
        let mut told = (*best.attributes).clone();
        // RFC 1997: routes that say of themselves how far they go.
        let stays = |one: &u32| *one == NO_ADVERTISE || self.is_external(place) && is_for_inside(*one);
        if told.communities.iter().any(stays) {
            return None;
        }
        let path = told.as_path.clone().unwrap_or_default();
        let from_internal = best.peer.filter(|from| !self.is_external(*from));
        if self.is_external(place) {
            // RFC 4271, 5.1.4: a discriminator of one neighbouring AS is not for another.
            told.med = told.med.filter(|_| best.peer.is_none());
            (told.local_pref, told.originator) = (None, None);
            told.cluster_list.clear();
            told.as_path = Some(path.prepended(self.config.asn, 1));
            told.next_hop = Some(peer.local);
            return Some(told);
        }
        if let Some(from) = from_internal {
            // Within an AS only reflectors pass on what they were told there.
            let from = &self.peers[from];
            if !from.config.client && !peer.config.client {
                return None;
            }
            let originator = told.originator.or(from.id);
            if originator == peer.id {
                return None;
            }
            told.originator = originator;
            told.cluster_list.insert(0, self.config.cluster_id);
        } else if best.peer.is_none() || peer.config.next_hop_self {
            told.next_hop = Some(peer.local);
        }
        if from_internal.is_none() {
            told.local_pref = Some(USUAL_PREFERENCE);
        }
        Some(told)
    }

    /// Has a neighbour told everything once more (RFC 2918, 4).
    pub(super) fn tell_again(&mut self, place: usize) {
        let all: Vec<Prefix> = self.peers[place].sent.keys().copied().collect();
        for prefix in all {
            // What is to be withdrawn is still known to have been told.
            let is_told = self.told(place, prefix).is_some();
            let peer = &mut self.peers[place];
            if is_told {
                peer.sent.remove(&prefix);
            }
            peer.pending.insert(prefix);
        }
    }

    /// Tells a neighbour what has changed since it was told last, as far as it is time (RFC 4271, 9.2.1.1).
    pub(super) fn tell(&mut self, now: Time, place: usize) {
        let peer = &mut self.peers[place];
        if peer.pending.is_empty() || peer.next_update > now {
            return;
        }
        let Some(connection) = peer.established() else { return };
        let Some(session) = connection.session else { return };
        let terms = connection.terms;
        let mut withdrawn = Vec::new();
        let mut told: BTreeMap<Arc<Attributes>, Vec<Nlri>> = BTreeMap::new();
        for prefix in core::mem::take(&mut peer.pending) {
            let nlri = Nlri::new(IpPrefix::V4(prefix));
            match self.told(place, prefix) {
                Some(attributes) => {
                    let set = self.intern(attributes);
                    if self.peers[place].sent.insert(prefix, set.clone()).as_ref() != Some(&set) {
                        told.entry(set).or_default().push(nlri);
                    }
                }
                None if self.peers[place].sent.remove(&prefix).is_some() => withdrawn.push(nlri),
                None => {}
            }
        }
        let mut updates = Vec::new();
        for nlri in packed(&withdrawn, 4) {
            updates.push(Update { withdrawn: nlri, ..Update::default() });
        }
        for (set, nlri) in told {
            let attributes = outgoing(&set, &terms);
            let bare =
                Message::Update(Box::new(Update { attributes: attributes.clone(), ..Update::default() }));
            let Ok(used) = bare.emit(&terms).map(|bytes| bytes.len()) else { continue };
            for nlri in packed(&nlri, used - wire::bgp::HEADER_LEN) {
                updates.push(Update { attributes: attributes.clone(), nlri, ..Update::default() });
            }
        }
        let peer = &mut self.peers[place];
        if !updates.is_empty() {
            peer.next_update = now + peer.config.interval;
        }
        for update in updates {
            let Ok(bytes) = Message::Update(Box::new(update)).emit(&terms) else { continue };
            peer.updates_sent += 1;
            self.outputs.push_back(Output::Session(session, SessionOutput::Send(bytes)));
        }
    }
}

/// Destinations in as many lists as there are messages, each of which has so many bytes besides.
fn packed(all: &[Nlri], used: usize) -> Vec<Vec<Nlri>> {
    let room = MAX_LEN.saturating_sub(wire::bgp::HEADER_LEN + used);
    let (mut lists, mut left) = (Vec::<Vec<Nlri>>::new(), 0);
    for nlri in all {
        let len = nlri.buffer_len(wire::bgp::Family::Ipv4);
        if lists.is_empty() || len > left {
            lists.push(Vec::new());
            left = room;
        }
        if let Some(last) = lists.last_mut() {
            last.push(*nlri);
        }
        left = left.saturating_sub(len);
    }
    lists
}

/// Attributes as a neighbour reads them: for one of two octets, with the whole path beside (RFC 6793, 4.2.2).
fn outgoing(set: &Attributes, terms: &Terms) -> Attributes {
    let mut told = set.clone();
    if !terms.four_octet {
        told.as4_path = told.as_path.clone().filter(AsPath::is_long);
        told.as4_aggregator = told.aggregator.filter(|one| u16::try_from(one.asn).is_err());
    }
    told
}

impl Imported {
    /// Does it mean routes of this source?
    fn is_of(self, source: &Source) -> bool {
        source.word() == self.word()
    }
}
