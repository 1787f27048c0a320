//! What neighbours are told (Adj-RIB-Out) (RFC 4271, 9.1.3 and 9.2).

use super::routes::{USUAL_PREFERENCE, family_of};
use super::{Bgp, Passing, Set};
use crate::protocol::Output;
use crate::services::policy::{self, Subject};
use crate::services::sessions::SessionOutput;
use base::Time;
use base::plane::IpPrefix;
use std::collections::BTreeMap;
use std::sync::Arc;
use wire::bgp::{AsPath, Attributes, Family, MAX_LEN, Message, Nlri, Reach, Terms, Unreach, Update};

/// The bit of the type of extended communities that do not leave the AS (RFC 4360, 2).
const NOT_TRANSITIVE: u8 = 0x40;

/// The community of routes that nobody is told (RFC 1997).
const NO_ADVERTISE: u32 = 0xffff_ff02;

/// Is it a community of routes that no other AS is told: NO_EXPORT or NO_EXPORT_SUBCONFED (RFC 1997)?
const fn is_for_inside(community: u32) -> bool {
    matches!(community, 0xffff_ff01 | 0xffff_ff03)
}

impl Bgp {
    /// What a neighbour is told of a destination; nothing if it is told nothing (RFC 4271, 9.1.3; RFC 4456, 6 and 8).
    fn told(&self, place: usize, prefix: IpPrefix) -> Option<Set> {
        let (peer, best) = (&self.peers[place], self.table.get(&prefix)?);
        if !peer.config.export.is_any() || best.place() == Some(place) {
            return None;
        }
        let is_external = self.is_external(place);
        let mut told = best.attributes.attributes.clone();
        // RFC 1997: routes that say of themselves how far they go.
        let stays = |one: &u32| *one == NO_ADVERTISE || is_external && is_for_inside(*one);
        if told.communities.iter().any(stays) {
            return None;
        }
        let from_internal = best.place().filter(|from| !self.is_external(*from));
        if let Some(from) = from_internal.filter(|_| !is_external) {
            // Within an AS only reflectors pass on what they were told there.
            let from = &self.peers[from];
            if !from.config.client && !peer.config.client {
                return None;
            }
            let originator = told.originator.or(from.known_id);
            if originator == peer.id {
                return None;
            }
            told.originator = originator;
            told.cluster_list.insert(0, self.config.cluster_id);
        }
        if is_external {
            // RFC 4271, 5.1.4: a discriminator of one neighbouring AS is not for another.
            told.med = told.med.filter(|_| best.place().is_none());
            (told.local_pref, told.originator) = (None, None);
            told.cluster_list.clear();
            // RFC 4360, 6: those that are not transitive stay within the AS.
            told.extended_communities.retain(|community| community[0] & NOT_TRANSITIVE == 0);
        }
        let is_next_hop =
            is_external || best.place().is_none() || from_internal.is_none() && peer.config.next_hop_self;
        let mut next_hop6 = best.attributes.next_hop6;
        match (is_next_hop, prefix) {
            (true, IpPrefix::V4(_)) => told.next_hop = Some(peer.local),
            // Without an address of the family it has no next hop to tell.
            (true, IpPrefix::V6(_)) => next_hop6 = Some(peer.local6?),
            (false, _) => {}
        }
        if let Passing::By(rules) = &peer.config.export {
            let mut route = Subject { prefix, tag: best.attributes.tag, attributes: told };
            if !policy::passes(rules, &mut route, self.config.asn) {
                return None;
            }
            told = route.attributes;
        }
        if is_external {
            let path = told.as_path.take().unwrap_or_default();
            told.as_path = Some(path.prepended(self.config.asn, 1));
            told.local_pref = None;
        } else {
            told.local_pref = told.local_pref.or(Some(USUAL_PREFERENCE));
        }
        Some(Set { attributes: told, tag: 0, next_hop6 })
    }

    /// Has a neighbour told everything once more (RFC 2918, 4).
    pub(super) fn tell_again(&mut self, place: usize, family: Family) {
        let is_meant = |prefix: &IpPrefix| family_of(*prefix) == family;
        let all: Vec<IpPrefix> = self.peers[place].sent.keys().filter(is_meant).collect();
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
        if peer.pending.is_empty() && !peer.is_end_due || peer.next_update > now {
            return;
        }
        let Some(connection) = peer.established() else { return };
        let Some(session) = connection.session else { return };
        let (terms, families) = (connection.terms, connection.families.clone());
        let mut withdrawn: BTreeMap<Family, Vec<Nlri>> = BTreeMap::new();
        let mut told: BTreeMap<(Family, Arc<Set>), Vec<Nlri>> = BTreeMap::new();
        for prefix in core::mem::take(&mut peer.pending) {
            let (nlri, family) = (Nlri::new(prefix), family_of(prefix));
            match self.told(place, prefix) {
                Some(set) => {
                    let set = self.intern(set);
                    if self.peers[place].sent.insert(prefix, set.clone()).as_ref() != Some(&set) {
                        told.entry((family, set)).or_default().push(nlri);
                    }
                }
                None if self.peers[place].sent.remove(&prefix).is_some() => {
                    withdrawn.entry(family).or_default().push(nlri);
                }
                None => {}
            }
        }
        let mut updates = Vec::new();
        let is_end = core::mem::take(&mut self.peers[place].is_end_due);
        for (family, all) in withdrawn {
            for nlri in packed(&all, family, UNREACH_LEN) {
                updates.push(unreached(family, nlri));
            }
        }
        for ((family, set), all) in told {
            let attributes = outgoing(&set, &terms);
            let Some(bare) = reached(family, &attributes, &set, Vec::new()) else { continue };
            let bare = Message::Update(Box::new(bare)).emit(&terms).map(|bytes| bytes.len());
            let Ok(used) = bare else { continue };
            for nlri in packed(&all, family, used - wire::bgp::HEADER_LEN) {
                updates.extend(reached(family, &attributes, &set, nlri));
            }
        }
        let wait = self.jittered(self.peers[place].config.interval);
        let peer = &mut self.peers[place];
        if !updates.is_empty() {
            peer.next_update = now + wait;
        }
        if is_end {
            updates.extend(families.iter().map(|family| unreached(*family, Vec::new())));
        }
        for update in updates {
            let Ok(bytes) = Message::Update(Box::new(update)).emit(&terms) else { continue };
            peer.updates_sent += 1;
            self.outputs.push_back(Output::Session(session, SessionOutput::Send(bytes)));
        }
    }
}

/// Bytes of an UPDATE that withdraws, its header and its destinations apart: two lengths, and the attribute of
/// another family (RFC 4760, 4).
const UNREACH_LEN: usize = 4 + 4 + 3;
/// An attribute that is longer than 255 bytes has another byte of length.
const LONG: usize = 1;

/// An UPDATE that destinations can be reached; nothing if there is no next hop for them.
fn reached(family: Family, attributes: &Attributes, set: &Set, nlri: Vec<Nlri>) -> Option<Update> {
    let attributes = attributes.clone();
    if family == Family::Ipv4 {
        return Some(Update { attributes, nlri, ..Update::default() });
    }
    let next_hop = wire::bgp::NextHop::V6 { global: set.next_hop6?, link_local: None };
    let reach = Some(Reach { family, next_hop, nlri });
    Some(Update { attributes: Attributes { next_hop: None, ..attributes }, reach, ..Update::default() })
}

/// An UPDATE that destinations can't be reached any more; without any it is the end of all routes (RFC 4724, 2).
fn unreached(family: Family, nlri: Vec<Nlri>) -> Update {
    match family {
        Family::Ipv4 => Update { withdrawn: nlri, ..Update::default() },
        _ => Update { unreach: Some(Unreach { family, nlri }), ..Update::default() },
    }
}

/// Destinations in as many lists as there are messages, each of which has so many bytes besides.
fn packed(all: &[Nlri], family: Family, used: usize) -> Vec<Vec<Nlri>> {
    let room = MAX_LEN.saturating_sub(wire::bgp::HEADER_LEN + used + LONG);
    let (mut lists, mut left) = (Vec::<Vec<Nlri>>::new(), 0);
    for nlri in all {
        let len = nlri.buffer_len(family);
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
