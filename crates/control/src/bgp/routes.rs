//! Routes: what neighbours have told (Adj-RIB-In), and which of it is taken (Loc-RIB) (RFC 4271, 9.1).

use super::decision::{Candidate, choose};
use super::labels::mapped;
use super::table::{Path, Put, is_labelled, is_of};
use super::{Bgp, EXTERNAL_PREFERENCE, INTERNAL_PREFERENCE, Imported, Passing, Set};
use crate::protocol::Context;
use crate::services::policy::{self, Subject};
use crate::services::{Hops, Rib, Route, RouteHop, RoutePrefix, Services, Source};
use base::Interned;
use base::plane::{IpPrefix, NextHop};
use core::net::{IpAddr, Ipv4Addr};
use wire::bgp::attribute::TRANSITIVE;
use wire::bgp::{AsPath, Attributes, Family, Nlri, Origin, Treatment, Update};

/// LOCAL_PREF where nobody has said any.
pub(super) const USUAL_PREFERENCE: u32 = 100;

/// What it costs to get to an address by routes that are not of BGP; nothing if there is none.
pub(super) fn cost_of(services: &Services, address: IpAddr) -> Option<u32> {
    match address {
        IpAddr::V4(address) => cost_by(&services.rib, address),
        // RFC 4798, 2: it stands for a router that is reached by IPv4.
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(address) => cost_by(&services.rib, address),
            None => cost_by(&services.rib6, address),
        },
    }
}

/// The longest prefix decides, also if packets to it are discarded.
fn cost_by<P: RoutePrefix>(rib: &Rib<P>, address: P::Address) -> Option<u32> {
    let is_other = |route: &&Route<P>| route.source != Source::Protocol(Bgp::ID);
    let of = |len| rib.routes(P::of(address, len)).iter().find(is_other);
    let found = (0..=P::BITS).rev().find_map(of)?;
    let leads = |hop: &RouteHop<P>| !matches!(hop, RouteHop::Direct(NextHop::Local | NextHop::Discard));
    found.hops.as_slice().iter().any(leads).then_some(found.metric)
}

/// The best route to a prefix as redistribution sees it: its source, metric and tag, and whether it is an address of
/// this node.
fn best_of<P: RoutePrefix>(rib: &Rib<P>, prefix: P) -> Option<(Source, u32, u32, bool)> {
    let best = rib.best(prefix)?;
    let is_local = rib.next_hops(prefix).contains(&NextHop::Local);
    Some((best.source, best.metric, best.tag, is_local))
}

/// Can packets be routed there, hop by hop? RFC 4271, 6.3: prefixes of groups, of the node itself and of a single link
/// are ignored.
fn is_destination(prefix: IpPrefix) -> bool {
    match prefix {
        IpPrefix::V4(prefix) => {
            let (address, len) = (prefix.address(), prefix.len());
            !(address.is_multicast() && len >= 4 || address.is_loopback() && len >= 8)
        }
        IpPrefix::V6(prefix) => {
            let (address, len) = (prefix.address(), prefix.len());
            let is_of_link = address.is_unicast_link_local() && len >= 10;
            !(address.is_multicast() && len >= 8 || is_of_link || address.is_loopback())
        }
    }
}

impl Bgp {
    /// Takes an UPDATE of a neighbour.
    pub(super) fn update(&mut self, context: &mut Context<'_>, place: usize, update: Box<Update>) {
        let end = update.end_of_rib();
        let Update { withdrawn, mut attributes, reach, unreach, nlri, faults } = *update;
        if let Some(family) = end {
            // RFC 4724, 2: an UPDATE that says nothing is behind all routes of its family.
            self.drop_stale(context, place, end);
            self.end_came(place, family);
        }
        let peer = &mut self.peers[place];
        peer.updates_received += 1;
        peer.malformed += faults.len() as u64;
        let mut is_exchanged = [false; Family::ALL.len()];
        for family in peer.established().iter().flat_map(|one| &one.families) {
            is_exchanged[family.place()] = true;
        }
        let mut changed = Vec::new();
        let is_withdrawn = faults.iter().any(|fault| fault.treatment == Treatment::TreatAsWithdraw);
        attributes.settle();
        // RFC 4271, 5: what nobody here knows goes on only if it is transitive, and says then that somebody did not.
        attributes.unknown.retain(|one| one.flags & TRANSITIVE != 0);
        attributes.unknown.iter_mut().for_each(|one| one.flags |= wire::bgp::attribute::PARTIAL);
        let gone = withdrawn.iter().map(|one| (Family::Ipv4, one));
        let gone = gone.chain(unreach.iter().flat_map(|all| all.nlri.iter().map(|one| (all.family, one))));
        for (family, one) in gone.filter(|(family, _)| is_exchanged[family.place()]) {
            self.withdraw(place, family, one, &mut changed);
        }
        if let Some(reach) = reach.filter(|reach| is_exchanged[reach.family.place()]) {
            // RFC 4760, 3: the next hop of another family stands beside its destinations, and NEXT_HOP says nothing of
            // it.
            let (next_hop, next_hop6) = match reach.next_hop {
                wire::bgp::NextHop::V6 { global, .. } => (None, Some(global)),
                wire::bgp::NextHop::V4(address) => (Some(address), None),
            };
            let attributes = Attributes { next_hop, ..attributes.clone() };
            let set = Set { attributes, next_hop6, ..Set::default() };
            self.reach(
                context.services,
                place,
                (set, !is_withdrawn),
                (reach.family, &reach.nlri),
                &mut changed,
            );
        }
        if !nlri.is_empty() && is_exchanged[Family::Ipv4.place()] {
            let set = Set { attributes, ..Set::default() };
            self.reach(context.services, place, (set, !is_withdrawn), (Family::Ipv4, &nlri), &mut changed);
        }
        changed.into_iter().for_each(|prefix| self.decide(context, prefix));
    }

    /// A neighbour withdraws a destination, or what it says of it can't be taken.
    fn withdraw(&mut self, place: usize, family: Family, one: &Nlri, changed: &mut Vec<IpPrefix>) {
        let Some(entry) = self.prefixes.get_mut(one.prefix) else { return };
        let key = (place as u16, is_labelled(family), one.path_id.unwrap_or(0));
        if let Ok(at) = entry.paths.search(key) {
            let old = entry.remove(at, &mut self.sets);
            let peer = &mut self.peers[place];
            peer.received -= 1;
            peer.stale -= usize::from(old.is_stale);
            changed.push(one.prefix);
        }
    }

    /// A neighbour tells destinations of a family; they count as withdrawn if they can't be taken as they are.
    fn reach(
        &mut self,
        services: &Services,
        place: usize,
        (said, is_sound): (Set, bool),
        (family, nlri): (Family, &[Nlri]),
        changed: &mut Vec<IpPrefix>,
    ) {
        let is_taken = is_sound && self.is_acceptable(services, place, &said, family);
        // What becomes of routes is the same for all of the message where no rule asks for destinations.
        let asks = match &self.peers[place].config.import {
            Passing::By(rules) => policy::asks_prefixes(rules),
            Passing::All | Passing::None => false,
        };
        let mut same: Option<Option<Interned>> = None;
        if is_taken && self.peers[place].config.import == Passing::All {
            self.sets.pack(&said);
        }
        // The tables are larger than the caches: what all destinations need is asked for before the first needs it.
        for one in nlri {
            self.prefixes.prefetch(one.prefix);
            match one.prefix {
                IpPrefix::V4(prefix) => services.rib.prefetch(prefix),
                IpPrefix::V6(prefix) => services.rib6.prefetch(prefix),
            }
        }
        changed.reserve(nlri.len());
        for one in nlri {
            if !is_destination(one.prefix) {
                self.peers[place].refused += 1;
                continue;
            }
            let set = match same.filter(|_| !asks) {
                Some(set) => set,
                None => is_taken.then(|| self.imported(place, one.prefix, &said)).flatten(),
            };
            if asks && let Some(Some(before)) = same {
                self.sets.release(before);
            }
            same = Some(set);
            self.peers[place].refused += u64::from(is_taken && set.is_none());
            let Some(set) = set else {
                self.withdraw(place, family, one, changed);
                continue;
            };
            let label = self.sets.sequences.intern(&one.labels);
            let path = Path { set, id: one.path_id.unwrap_or(0), label, peer: place as u16, is_stale: false };
            let (entry, peer) = (self.prefixes.get_or_new(one.prefix), &mut self.peers[place]);
            if !entry.has_room(&path) {
                self.sets.sequences.release(label);
                peer.refused += 1;
                continue;
            }
            self.sets.hold(set);
            let put = entry.put(path, &mut self.sets);
            peer.received += usize::from(put == Put::New);
            if let Put::Same { was_stale } | Put::Other { was_stale } = put {
                peer.stale -= usize::from(was_stale);
            }
            if !matches!(put, Put::Same { .. }) {
                changed.push(one.prefix);
            }
        }
        if let Some(Some(last)) = same {
            self.sets.release(last);
            if self.peers[place].config.import == Passing::All {
                self.sets.remember(last, said);
            }
        }
    }

    /// A neighbour's route as the policy lets it pass, if it does; it is held.
    fn imported(&mut self, place: usize, prefix: IpPrefix, said: &Set) -> Option<Interned> {
        match &self.peers[place].config.import {
            Passing::None => None,
            // It has been packed.
            Passing::All => Some(self.sets.intern_packed(said)),
            Passing::By(rules) => {
                let mut route = Subject { prefix, tag: 0, attributes: said.attributes.clone() };
                if !policy::passes(rules, &mut route, self.peers[place].config.asn) {
                    return None;
                }
                let (attributes, tag) = (route.attributes, route.tag);
                Some(self.sets.intern(&Set { attributes, tag, next_hop6: said.next_hop6 }))
            }
        }
    }

    /// Is a route one that can be taken (RFC 4271, 5.1.3, 6.3 and 9.1.2; RFC 4456, 8)?
    fn is_acceptable(&self, services: &Services, place: usize, set: &Set, family: Family) -> bool {
        let (peer, attributes) = (&self.peers[place].config, &set.attributes);
        let Some(next_hop) = set.gateway() else { return false };
        // RFC 4798, 2: a next hop that stands for an IPv4 address is for IPv6 with labels.
        if mapped(next_hop).is_some() && !is_labelled(family) {
            return false;
        }
        let next_hop = mapped(next_hop).map_or(next_hop, IpAddr::V4);
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

    /// A path as far as it is compared with others, if it can be taken: a route leads to its next hop.
    fn candidate(&mut self, services: &Services, at: usize, path: &Path) -> Option<Candidate> {
        let brief = *self.sets.brief(path.set);
        let Some(place) = path.place() else {
            return Some(Candidate { at, is_own: true, ..Candidate::NONE });
        };
        let metric = self.sets.hops.cost(services, brief.gateway)?;
        let is_external = self.is_external(place);
        let peer = &self.peers[place];
        let originator = (brief.originator != 0).then(|| Ipv4Addr::from_bits(brief.originator));
        Some(Candidate {
            at,
            is_own: false,
            local_pref: brief.local_pref,
            steps: usize::from(brief.steps),
            origin: brief.origin,
            neighbor_as: (brief.neighbor_as != 0).then_some(brief.neighbor_as),
            med: brief.med,
            is_external,
            metric,
            id: originator.or(peer.known_id).unwrap_or(Ipv4Addr::BROADCAST),
            clusters: usize::from(brief.clusters),
            address: peer.config.address,
            path_id: path.id,
        })
    }

    /// The paths to a prefix that can be taken.
    pub(super) fn candidates(&mut self, services: &Services, paths: &[Path]) -> Vec<Candidate> {
        let found = paths.iter().enumerate();
        found.filter_map(|(at, path)| self.candidate(services, at, path)).collect()
    }

    /// Finds the best route to a destination, has packets take it, and has neighbours told.
    pub(super) fn decide(&mut self, context: &mut Context<'_>, prefix: IpPrefix) {
        if self.is_deferred(prefix) {
            return;
        }
        self.forget_retold(prefix);
        let Some(entry) = self.prefixes.get_mut(prefix) else { return };
        let (new, entry) = match *entry.paths.as_slice() {
            [] => (None, entry),
            // By far the most have one path.
            [only] => {
                let gateway = self.sets.brief(only.set).gateway;
                let is_taken =
                    only.place().is_none() || self.sets.hops.cost(context.services, gateway).is_some();
                (is_taken.then_some(0), entry)
            }
            ref several => {
                let several = several.to_vec();
                let all = self.candidates(context.services, &several);
                let new = choose(self.heard(prefix, &several, all)).map(|best| best.at);
                let Some(entry) = self.prefixes.get_mut(prefix) else { return };
                (new, entry)
            }
        };
        if entry.best_at() == new && !entry.is_other {
            for peer in &mut self.peers {
                // Others than the best path may be told, too.
                if peer.is_told_many(prefix) {
                    peer.pending.push(prefix);
                }
            }
            // It may have come and gone in one message.
            return self.prefixes.tidy(prefix);
        }
        self.taken += usize::from(new.is_some());
        self.taken -= usize::from(entry.was_taken());
        entry.choose(new);
        let best = entry.best().copied();
        let is_untold = entry.is_empty();
        for (place, peer) in self.peers.iter_mut().enumerate() {
            // Nobody is told what it has told itself.
            let is_its = |path: &Path| path.place() == Some(place);
            let is_told = peer.is_told_many(prefix) || entry.told.as_slice().iter().any(is_its);
            if best.as_ref().is_some_and(is_its) && !is_told {
                continue;
            }
            if peer.established().is_some_and(|one| one.families.iter().any(|family| is_of(*family, prefix)))
            {
                peer.pending.push(prefix);
            }
        }
        self.route(context.services, prefix, best);
        self.route_labelled(context.services, prefix, best.as_ref());
        self.watch_lsp(context.services, prefix, best.as_ref());
        if is_untold {
            self.prefixes.tidy(prefix);
        }
    }

    /// Has packets to a destination take the route to it that was chosen, if it is a neighbour's.
    pub(super) fn route(&self, services: &mut Services, prefix: IpPrefix, best: Option<Path>) {
        let source = Source::Protocol(Bgp::ID);
        let learnt = best.and_then(|best| Some((best.place()?, self.sets.brief(best.set))));
        let learnt =
            learnt.and_then(|(place, brief)| Some((place, brief, self.sets.hops.address(brief.gateway)?)));
        let Some((place, brief, gateway)) = learnt else {
            match prefix {
                IpPrefix::V4(prefix) => services.rib.remove(prefix, source),
                IpPrefix::V6(prefix) => services.rib6.remove(prefix, source),
            };
            return;
        };
        let preference = if self.is_external(place) { EXTERNAL_PREFERENCE } else { INTERNAL_PREFERENCE };
        let (metric, tag) = (brief.med, brief.tag);
        match (prefix, gateway) {
            (IpPrefix::V4(prefix), IpAddr::V4(gateway)) => {
                let hops = Hops::One(RouteHop::Through(gateway));
                services.rib.set(prefix, Route { source, preference, metric, tag, hops });
            }
            (IpPrefix::V6(prefix), IpAddr::V6(gateway)) if gateway.to_ipv4_mapped().is_none() => {
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
        // The route in force may be of another source than before.
        let best = self.prefixes.get(prefix).and_then(|entry| entry.best().copied());
        if let Some(best) = best.filter(Path::is_labelled) {
            self.route_labelled(context.services, prefix, Some(&best));
        }
        let moved = self.sets.hops.moved(context.services, prefix);
        if moved.is_empty() {
            return;
        }
        let sets = &self.sets;
        let is_moved = |path: &Path| path.place().is_some() && moved.contains(&sets.brief(path.set).gateway);
        let concerned = self.prefixes.keys_where(|entry| entry.paths.as_slice().iter().any(is_moved));
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
        let is_changed = match new {
            Some(set) => {
                let set = self.sets.intern(&set);
                let path = Path { set, id: 0, label: Path::UNLABELLED, peer: Path::OWN, is_stale: false };
                let put = self.prefixes.get_or_new(prefix).put(path, &mut self.sets);
                !matches!(put, Put::Same { .. })
            }
            None => match self.prefixes.get_mut(prefix) {
                Some(entry) => match entry.paths.search((Path::OWN, false, 0)) {
                    Ok(at) => {
                        entry.remove(at, &mut self.sets);
                        true
                    }
                    Err(_) => false,
                },
                None => false,
            },
        };
        if is_changed {
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
