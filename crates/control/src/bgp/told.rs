//! What neighbours are told (Adj-RIB-Out) (RFC 4271, 9.1.3 and 9.2).

use super::routes::USUAL_PREFERENCE;
use super::table::{Path, is_labelled, is_of};
use super::{Bgp, Passing, Set};
use crate::protocol::Output;
use crate::services::policy::{self, Subject};
use crate::services::sessions::SessionOutput;
use base::plane::IpPrefix;
use base::{Interned, Map, Time};
use wire::bgp::{AsPath, Attributes, Family, NextHop, Nlri, Terms, pack};

/// The bit of the type of extended communities that do not leave the AS (RFC 4360, 2).
const NOT_TRANSITIVE: u8 = 0x40;

/// The community of routes that nobody is told (RFC 1997).
const NO_ADVERTISE: u32 = 0xffff_ff02;

/// Is it a community of routes that no other AS is told: NO_EXPORT or NO_EXPORT_SUBCONFED (RFC 1997)?
const fn is_for_inside(community: u32) -> bool {
    matches!(community, 0xffff_ff01 | 0xffff_ff03)
}

/// Destinations of which a neighbour may have to be told something.
#[derive(Clone, Debug, Default)]
pub struct Pending {
    all: Vec<IpPrefix>,
    /// With so many they are looked through for those that are there twice.
    limit: usize,
}

impl Pending {
    /// So many are few.
    const FEW: usize = 1024;

    pub(super) fn push(&mut self, prefix: IpPrefix) {
        if self.all.len() >= self.limit.max(Pending::FEW) {
            self.all.sort_unstable();
            self.all.dedup();
            self.limit = 2 * self.all.len();
        }
        self.all.push(prefix);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// All of them, in their order.
    fn take(&mut self) -> Vec<IpPrefix> {
        let mut all = core::mem::take(&mut self.all);
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl FromIterator<IpPrefix> for Pending {
    fn from_iter<I: IntoIterator<Item = IpPrefix>>(all: I) -> Pending {
        Pending { all: all.into_iter().collect(), limit: 0 }
    }
}

/// What becomes of sets of attributes on their way to a neighbour, as far as it has been found out.
#[derive(Default)]
struct Passed {
    /// The set of a path and who has told it, and what the neighbour is told of it.
    last: Option<((Interned, u16), Option<Interned>)>,
    others: Map<(Interned, u16), Option<Interned>>,
    /// What is held until all is told.
    held: Vec<Interned>,
}

impl Passed {
    fn get(&self, path: &Path) -> Option<Option<Interned>> {
        let key = (path.set, path.peer);
        self.last
            .filter(|(last, _)| *last == key)
            .map(|(_, set)| set)
            .or_else(|| self.others.get(&key).copied())
    }

    fn insert(&mut self, path: &Path, set: Option<Interned>) {
        if let Some((key, set)) = self.last.replace(((path.set, path.peer), set)) {
            self.others.insert(key, set);
        }
        self.held.extend(set);
    }
}

impl Bgp {
    /// What a neighbour is told of a path to a destination; nothing if it is told nothing (RFC 4271, 9.1.3; RFC 4456, 6
    /// and 8).
    fn told(&self, place: usize, prefix: IpPrefix, best: &Path) -> Option<Set> {
        let peer = &self.peers[place];
        if !peer.config.export.is_any() || best.place() == Some(place) {
            return None;
        }
        let Set { attributes: mut told, tag, mut next_hop6 } = self.sets.get(best.set);
        let is_external = self.is_external(place);
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
        match (is_next_hop, prefix) {
            (true, IpPrefix::V4(_)) => told.next_hop = Some(peer.local),
            // Without an address of the family it has no next hop to tell.
            (true, IpPrefix::V6(_)) => next_hop6 = Some(peer.local6?),
            (false, _) => {}
        }
        if let Passing::By(rules) = &peer.config.export {
            let mut route = Subject { prefix, tag, attributes: told };
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

    /// The same by the name of the set, which is not held for the caller.
    fn told_set(
        &mut self,
        place: usize,
        prefix: IpPrefix,
        path: &Path,
        passed: &mut Passed,
    ) -> Option<Interned> {
        let asks = match &self.peers[place].config.export {
            Passing::By(rules) => policy::asks_prefixes(rules),
            Passing::All | Passing::None => false,
        };
        if let Some(known) = passed.get(path).filter(|_| !asks) {
            return known;
        }
        let set = self.told(place, prefix, path).map(|set| self.sets.intern(&set));
        passed.insert(path, set);
        set
    }

    /// Has a neighbour told everything once more (RFC 2918, 4).
    pub(super) fn tell_again(&mut self, place: usize, family: Family) {
        let has = |path: &Path| usize::from(path.peer) == place && path.is_labelled() == is_labelled(family);
        for prefix in self.prefixes.keys_where(|entry| entry.told.as_slice().iter().any(has)) {
            if !is_of(family, prefix) {
                continue;
            }
            // What is to be withdrawn is still known to have been told.
            let Some(entry) = self.prefixes.get_mut(prefix) else { continue };
            entry
                .told
                .as_mut_slice()
                .iter_mut()
                .filter(|path| has(path))
                .for_each(|path| path.is_stale = true);
            self.peers[place].pending.push(prefix);
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
        let is_end = core::mem::take(&mut peer.is_end_due);
        let all = peer.pending.take();
        let mut updates = Vec::new();
        let mut reached = Vec::new();
        let mut passed = Passed::default();
        for family in &families {
            let mut news = News::default();
            for prefix in all.iter().filter(|prefix| is_of(*family, **prefix)) {
                self.renew(place, *family, *prefix, &mut news, &mut passed);
            }
            news.withdrawn.iter().for_each(|nlri| self.prefixes.tidy(nlri.prefix));
            if !news.withdrawn.is_empty() {
                updates.extend(pack::withdrawn(*family, &news.withdrawn));
            }
            self.pack(*family, news, &terms, &mut reached);
        }
        updates.append(&mut reached);
        passed.held.into_iter().for_each(|set| self.sets.release(set));
        let wait = self.jittered(self.peers[place].config.interval);
        let peer = &mut self.peers[place];
        if !updates.is_empty() {
            peer.next_update = now + wait;
        }
        if is_end {
            updates.extend(families.iter().flat_map(|family| pack::withdrawn(*family, &[])));
        }
        for bytes in updates {
            peer.updates_sent += 1;
            self.outputs.push_back(Output::Session(session, SessionOutput::Send(bytes)));
        }
    }

    /// Finds out what a neighbour is to be told anew of a destination, and takes down that it is.
    fn renew(
        &mut self,
        place: usize,
        family: Family,
        prefix: IpPrefix,
        news: &mut News,
        passed: &mut Passed,
    ) {
        let Some(entry) = self.prefixes.get(prefix) else { return };
        let key = (place as u16, is_labelled(family), 0);
        let (best, was_told) = (entry.best().copied(), entry.told.search(key).is_ok());
        let new = best.and_then(|best| self.told_set(place, prefix, &best, passed));
        if new.is_none() && !was_told {
            return;
        }
        let Some(entry) = self.prefixes.get_mut(prefix) else { return };
        let nlri = Nlri::new(prefix);
        match new {
            Some(set) => {
                let path = Path { set, id: 0, label: Path::UNLABELLED, peer: key.0, is_stale: false };
                self.sets.hold(set);
                let (_, before) = entry.told.put(path);
                self.peers[place].sent += usize::from(before.is_none());
                if before != Some(path) {
                    news.reached.push((set, nlri));
                }
                if let Some(before) = before {
                    self.sets.release(before.set);
                }
            }
            None => {
                if let Ok(at) = entry.told.search(key) {
                    let before = entry.told.remove(at);
                    self.sets.release(before.set);
                    self.peers[place].sent -= 1;
                    news.withdrawn.push(nlri);
                }
            }
        }
    }

    /// Writes the UPDATEs with what is to be told: destinations of one set together, the sets in the order of their
    /// first destinations.
    fn pack(&self, family: Family, news: News, terms: &Terms, updates: &mut Vec<Vec<u8>>) {
        let mut reached = news.reached;
        let is_one = reached.windows(2).all(|pair| pair[0].0 == pair[1].0);
        if !is_one {
            let mut places: Map<Interned, usize> = Map::new();
            for (at, (set, _)) in reached.iter().enumerate() {
                if places.get(set).is_none() {
                    places.insert(*set, at);
                }
            }
            // The order of destinations of one set is left as it is.
            reached.sort_by_key(|(set, _)| places.get(set).copied());
        }
        let mut nlri = Vec::new();
        for same in reached.chunk_by(|one, other| one.0 == other.0) {
            let Some((set, _)) = same.first() else { continue };
            let (next_hop6, packed) = self.sets.packed(*set);
            nlri.clear();
            nlri.extend(same.iter().map(|(_, nlri)| *nlri));
            let next_hop = match family {
                Family::Ipv4 => None,
                _ => {
                    let Some(global) = next_hop6 else { continue };
                    Some(NextHop::V6 { global, link_local: None })
                }
            };
            let is_plain = terms.four_octet && family == Family::Ipv4;
            if is_plain {
                updates.extend(pack::reached(family, next_hop, packed, &nlri));
                continue;
            }
            let mut attributes = outgoing(Attributes::unpack(packed), terms);
            if family != Family::Ipv4 {
                attributes.next_hop = None;
            }
            let mut bytes = Vec::new();
            attributes.pack_for(terms, &mut bytes);
            updates.extend(pack::reached(family, next_hop, &bytes, &nlri));
        }
    }
}

/// What a neighbour is to be told of a family.
#[derive(Default)]
struct News {
    withdrawn: Vec<Nlri>,
    reached: Vec<(Interned, Nlri)>,
}

/// Attributes as a neighbour reads them: for one of two octets, with the whole path beside (RFC 6793, 4.2.2).
fn outgoing(mut told: Attributes, terms: &Terms) -> Attributes {
    if !terms.four_octet {
        told.as4_path = told.as_path.clone().filter(AsPath::is_long);
        told.as4_aggregator = told.aggregator.filter(|one| u16::try_from(one.asn).is_err());
    }
    told
}
