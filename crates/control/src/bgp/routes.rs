//! Routes: what neighbours have told (Adj-RIB-In), and which of it is taken (Loc-RIB) (RFC 4271, 9.1).

use super::decision::{Candidate, choose};
use super::{Bgp, EXTERNAL_PREFERENCE, INTERNAL_PREFERENCE, Imported, Passing, Set};
use crate::protocol::Context;
use crate::services::policy::{self, Subject};
use crate::services::{Hops, Rib, Route, RouteHop, RoutePrefix, Services, Source};
use base::plane::{IpPrefix, NextHop};
use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeSet;
use std::sync::Arc;
use wire::bgp::attribute::TRANSITIVE;
use wire::bgp::{AsPath, Attributes, Family, Nlri, Origin, Treatment, Update};

/// LOCAL_PREF where nobody has said any.
pub(super) const USUAL_PREFERENCE: u32 = 100;
/// Sets of attributes are looked through for those that nobody has any more when there are so many more.
const SWEEP: usize = 1024;

/// The route to a destination that is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Best {
    /// The neighbour that told it, by its place; nothing if it is this router's own.
    peer: Option<u16>,
    /// What is said of it.
    pub attributes: Arc<Set>,
    /// What it costs to get to its next hop.
    pub metric: u32,
}

impl Best {
    /// The neighbour that told it, by its place; nothing if it is this router's own.
    pub fn place(&self) -> Option<usize> {
        self.peer.map(usize::from)
    }
}

/// What it costs to get to an address by routes that are not of BGP; nothing if there is none.
pub(super) fn cost_of(services: &Services, address: IpAddr) -> Option<u32> {
    match address {
        IpAddr::V4(address) => cost_by(&services.rib, address),
        IpAddr::V6(address) => cost_by(&services.rib6, address),
    }
}

fn cost_by<P: RoutePrefix>(rib: &Rib<P>, address: P::Address) -> Option<u32> {
    (0..=P::BITS).rev().find_map(|len| {
        let routes = rib.routes(P::of(address, len));
        let other = routes.iter().find(|route| route.source != Source::Protocol(Bgp::ID))?;
        let leads = |hop: &RouteHop<P>| !matches!(hop, RouteHop::Direct(NextHop::Local | NextHop::Discard));
        other.hops.as_slice().iter().any(leads).then_some(other.metric)
    })
}

/// The family of which a destination without a label is.
pub(super) const fn family_of(prefix: IpPrefix) -> Family {
    match prefix {
        IpPrefix::V4(_) => Family::Ipv4,
        IpPrefix::V6(_) => Family::Ipv6,
    }
}

/// The best route to a prefix as redistribution sees it: its source, metric and tag, and whether it is an address of
/// this node.
fn best_of<P: RoutePrefix>(rib: &Rib<P>, prefix: P) -> Option<(Source, u32, u32, bool)> {
    let best = rib.best(prefix)?;
    let is_local = rib.next_hops(prefix).contains(&NextHop::Local);
    Some((best.source, best.metric, best.tag, is_local))
}

impl Bgp {
    /// The one set of attributes that is equal to this one.
    pub(super) fn intern(&mut self, set: Set) -> Arc<Set> {
        if let Some(known) = self.sets.get(&set) {
            return known.clone();
        }
        if self.sets.len() >= self.sweep {
            self.sets.retain(|set| Arc::strong_count(set) > 1);
            self.sweep = 2 * self.sets.len() + SWEEP;
        }
        let set = Arc::new(set);
        self.sets.insert(set.clone());
        set
    }

    /// Takes an UPDATE of a neighbour.
    pub(super) fn update(&mut self, context: &mut Context<'_>, place: usize, update: Update) {
        let end = update.end_of_rib();
        let Update { withdrawn, mut attributes, reach, unreach, nlri, faults } = update;
        if end.is_some() {
            // RFC 4724, 2: an UPDATE that says nothing is behind all routes of its family.
            self.drop_stale(context, place, end);
        }
        let peer = &mut self.peers[place];
        peer.updates_received += 1;
        peer.malformed += faults.len() as u64;
        let families = peer.established().map(|one| one.families.clone()).unwrap_or_default();
        let mut changed = BTreeSet::new();
        let is_withdrawn = faults.iter().any(|fault| fault.treatment == Treatment::TreatAsWithdraw);
        attributes.as_path = Some(attributes.path());
        (attributes.as4_path, attributes.as4_aggregator) = (None, None);
        // RFC 4271, 5: what nobody here knows goes on only if it is transitive, and says then that somebody did not.
        attributes.unknown.retain(|one| one.flags & TRANSITIVE != 0);
        attributes.unknown.iter_mut().for_each(|one| one.flags |= wire::bgp::attribute::PARTIAL);
        let gone = withdrawn.iter().map(|one| (Family::Ipv4, one));
        let gone = gone.chain(unreach.iter().flat_map(|all| all.nlri.iter().map(|one| (all.family, one))));
        for (_, one) in gone.filter(|(family, _)| families.contains(family)) {
            self.peers[place].stale.remove(&one.prefix);
            if self.peers[place].received.remove(&one.prefix).is_some() {
                changed.insert(one.prefix);
            }
        }
        // RFC 4760, 3: the next hop of another family stands beside its destinations, and NEXT_HOP says nothing of it.
        let other = reach.iter().map(|reach| {
            let set = match reach.next_hop {
                wire::bgp::NextHop::V6 { global, .. } => {
                    let attributes = Attributes { next_hop: None, ..attributes.clone() };
                    Set { attributes, next_hop6: Some(global), ..Set::default() }
                }
                wire::bgp::NextHop::V4(address) => {
                    let attributes = Attributes { next_hop: Some(address), ..attributes.clone() };
                    Set { attributes, ..Set::default() }
                }
            };
            (reach.family, set, &reach.nlri)
        });
        let plain = (Family::Ipv4, Set { attributes: attributes.clone(), ..Set::default() }, &nlri);
        for (family, set, nlri) in core::iter::once(plain).chain(other) {
            if families.contains(&family) {
                self.reach(context.services, place, (&set, !is_withdrawn), nlri, &mut changed);
            }
        }
        changed.into_iter().for_each(|prefix| self.decide(context, prefix));
    }

    /// A neighbour tells destinations of a family; they count as withdrawn if they can't be taken as they are.
    fn reach(
        &mut self,
        services: &Services,
        place: usize,
        (said, is_sound): (&Set, bool),
        nlri: &[Nlri],
        changed: &mut BTreeSet<IpPrefix>,
    ) {
        let is_taken = is_sound && self.is_acceptable(services, place, said);
        // What becomes of routes is the same for all of the message where no rule asks for destinations.
        let asks = match &self.peers[place].config.import {
            Passing::By(rules) => policy::asks_prefixes(rules),
            Passing::All | Passing::None => false,
        };
        let mut same: Option<Option<Arc<Set>>> = None;
        for prefix in nlri.iter().map(|one| one.prefix) {
            let set = match same.clone().filter(|_| !asks) {
                Some(set) => set,
                None => is_taken.then(|| self.imported(place, prefix, said)).flatten(),
            };
            let peer = &mut self.peers[place];
            peer.stale.remove(&prefix);
            peer.refused += u64::from(is_taken && set.is_none());
            let before = match &set {
                Some(set) => peer.received.insert(prefix, set.clone()),
                None => peer.received.remove(&prefix),
            };
            if before != set {
                changed.insert(prefix);
            }
            same = Some(set);
        }
    }

    /// A neighbour's route as the policy lets it pass, if it does.
    fn imported(&mut self, place: usize, prefix: IpPrefix, said: &Set) -> Option<Arc<Set>> {
        let mut set = said.clone();
        match &self.peers[place].config.import {
            Passing::None => return None,
            Passing::All => {}
            Passing::By(rules) => {
                let mut route = Subject { prefix, tag: 0, attributes: set.attributes };
                if !policy::passes(rules, &mut route, self.peers[place].config.asn) {
                    return None;
                }
                (set.attributes, set.tag) = (route.attributes, route.tag);
            }
        }
        Some(self.intern(set))
    }

    /// Is a route one that can be taken (RFC 4271, 5.1.3, 6.3 and 9.1.2; RFC 4456, 8)?
    fn is_acceptable(&self, services: &Services, place: usize, set: &Set) -> bool {
        let (peer, attributes) = (&self.peers[place].config, &set.attributes);
        let Some(next_hop) = set.gateway() else { return false };
        let is_own = next_hop == IpAddr::V4(self.router_id)
            || services.interfaces.loopbacks6().any(|own| next_hop == IpAddr::V6(own))
            || services
                .interfaces
                .iter()
                .any(|(_, one)| one.addresses.iter().any(|own| own.address == next_hop));
        // RFC 2545, 2: one that everybody in the AS can reach.
        let is_of_link = matches!(next_hop, IpAddr::V6(address) if address.is_unicast_link_local());
        let is_none = next_hop.is_unspecified() || next_hop.is_multicast() || is_of_link;
        if !peer.import.is_any() || is_own || is_none {
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

    fn candidate(&self, place: usize, attributes: &Set, metric: u32) -> Candidate {
        let peer = &self.peers[place];
        let path = attributes.as_path.as_ref();
        let is_external = self.is_external(place);
        // From another AS only a policy has given it one: what that AS said of it is discarded (RFC 7606, 7.5).
        let local_pref = attributes.local_pref;
        Candidate {
            peer: Some(place),
            local_pref: local_pref.unwrap_or(USUAL_PREFERENCE),
            steps: path.map_or(0, AsPath::steps),
            origin: attributes.origin.unwrap_or_default(),
            neighbor_as: path.and_then(AsPath::first),
            med: attributes.med.unwrap_or(0),
            is_external,
            metric,
            id: attributes.originator.or(peer.known_id).unwrap_or(Ipv4Addr::BROADCAST),
            clusters: attributes.cluster_list.len(),
            address: peer.config.address,
        }
    }

    /// Finds the best route to a destination, has packets take it, and has neighbours told.
    pub(super) fn decide(&mut self, context: &mut Context<'_>, prefix: IpPrefix) {
        let mut new =
            self.own.get(&prefix).map(|set| Best { peer: None, attributes: set.clone(), metric: 0 });
        if new.is_none() {
            let mut all = Vec::new();
            for (place, peer) in self.peers.iter().enumerate() {
                let Some(set) = peer.received.get(&prefix) else { continue };
                let Some(next_hop) = set.gateway() else { continue };
                let found = || cost_of(context.services, next_hop);
                let Some(metric) = *self.next_hops.entry(next_hop).or_insert_with(found) else { continue };
                all.push((place, metric));
            }
            let of = |(place, metric): (usize, u32)| {
                Some(self.candidate(place, self.peers[place].received.get(&prefix)?, metric))
            };
            new = choose(all.into_iter().filter_map(of).collect()).and_then(|best| {
                let set = self.peers[best.peer?].received.get(&prefix)?;
                Some(Best {
                    peer: best.peer.map(|place| place as u16),
                    attributes: set.clone(),
                    metric: best.metric,
                })
            });
        }
        if self.table.get(&prefix) == new.as_ref() {
            return;
        }
        self.route(context.services, prefix, new.as_ref());
        match new {
            Some(best) => self.table.insert(prefix, best),
            None => self.table.remove(&prefix),
        };
        let family = family_of(prefix);
        for peer in &mut self.peers {
            if peer.established().is_some_and(|one| one.families.contains(&family)) {
                peer.pending.insert(prefix);
            }
        }
    }

    /// Has packets to a destination take the route to it that was chosen, if it is a neighbour's.
    fn route(&self, services: &mut Services, prefix: IpPrefix, best: Option<&Best>) {
        let learnt = best.and_then(|best| Some((best, best.place()?, best.attributes.gateway()?)));
        let hop = learnt.map(|(.., gateway)| gateway);
        let preference = match learnt {
            Some((_, place, _)) if self.is_external(place) => EXTERNAL_PREFERENCE,
            _ => INTERNAL_PREFERENCE,
        };
        let metric = best.and_then(|best| best.attributes.med).unwrap_or(0);
        let (tag, source) = (best.map_or(0, |best| best.attributes.tag), Source::Protocol(Bgp::ID));
        match (prefix, hop) {
            (IpPrefix::V4(prefix), Some(IpAddr::V4(gateway))) => {
                let hops = Hops::One(RouteHop::Through(gateway));
                services.rib.set(prefix, Route { source, preference, metric, tag, hops });
            }
            (IpPrefix::V6(prefix), Some(IpAddr::V6(gateway))) => {
                let hops = Hops::One(RouteHop::Through(gateway));
                services.rib6.set(prefix, Route { source, preference, metric, tag, hops });
            }
            (IpPrefix::V4(prefix), _) => drop(services.rib.remove(prefix, source)),
            (IpPrefix::V6(prefix), _) => drop(services.rib6.remove(prefix, source)),
        }
    }

    /// The route to a prefix has changed: what this router tells of its own, and how far next hops are.
    pub(super) fn route_changed(&mut self, context: &mut Context<'_>, prefix: IpPrefix) {
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
        let through = |set: &Arc<Set>| set.gateway().is_some_and(|next_hop| moved.contains(&next_hop));
        let all = self.peers.iter().flat_map(|peer| peer.received.iter());
        let concerned: BTreeSet<IpPrefix> =
            all.filter(|(_, set)| through(set)).map(|(prefix, _)| prefix).collect();
        concerned.into_iter().for_each(|prefix| self.decide(context, prefix));
    }

    /// Tells a destination of this router's own, or no longer.
    pub(super) fn originate(&mut self, context: &mut Context<'_>, prefix: IpPrefix) {
        let said = |origin, med| {
            let (origin, as_path) = (Some(origin), Some(AsPath::default()));
            Attributes { origin, as_path, med: Some(med), ..Attributes::default() }
        };
        let new = if self.config.networks.contains(&prefix) {
            Some(Set { attributes: said(Origin::Igp, 0), ..Set::default() })
        } else {
            let interfaces = &context.services.interfaces;
            let route = match prefix {
                IpPrefix::V4(prefix) => best_of(&context.services.rib, prefix),
                IpPrefix::V6(prefix) => best_of(&context.services.rib6, prefix),
            };
            let is_loopback = match prefix.address() {
                IpAddr::V4(address) => address == self.router_id,
                IpAddr::V6(address) => interfaces.loopbacks6().any(|own| own == address),
            };
            // Addresses of links are in the networks of these.
            route.filter(|(.., is_local)| !is_local || is_loopback).and_then(|(source, metric, tag, _)| {
                let (_, rules) = self.config.redistribute.iter().find(|(one, _)| one.is_of(&source))?;
                let mut told = Subject { prefix, tag, attributes: said(Origin::Incomplete, metric) };
                let passes = rules.is_empty() || policy::passes(rules, &mut told, self.config.asn);
                passes.then_some(Set { attributes: told.attributes, tag: told.tag, next_hop6: None })
            })
        };
        let new = new.map(|set| self.intern(set));
        if self.own.get(&prefix) != new.as_ref() {
            match new {
                Some(set) => self.own.insert(prefix, set),
                None => self.own.remove(&prefix),
            };
            self.decide(context, prefix);
        }
    }
}

impl Imported {
    /// Does it mean routes of this source?
    fn is_of(self, source: &Source) -> bool {
        source.word() == self.word()
    }
}
