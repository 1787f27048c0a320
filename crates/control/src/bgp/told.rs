//! What neighbours are told (Adj-RIB-Out) (RFC 4271, 9.1.3 and 9.2).

use super::decision::choose;
use super::labels::{as_ipv6, mapped};
use super::routes::USUAL_PREFERENCE;
use super::table::{Entry, Path, is_labelled, is_of};
use super::{Bgp, Passing, Set, Sets};
use crate::protocol::{Context, Output};
use crate::services::policy::{self, Subject};
use crate::services::sessions::SessionOutput;
use base::plane::IpPrefix;
use base::{Interned, Map, Time};
use core::net::IpAddr;
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
    /// Memory for so many is kept while there is none: most neighbours are told few at a time.
    const KEPT: usize = 64;

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

    /// Uses the memory of what was taken again, if it is little.
    fn reuse(&mut self, mut all: Vec<IpPrefix>) {
        if self.all.is_empty() && all.capacity() <= Pending::KEPT {
            all.clear();
            self.all = all;
        }
    }
}

impl FromIterator<IpPrefix> for Pending {
    fn from_iter<I: IntoIterator<Item = IpPrefix>>(all: I) -> Pending {
        Pending { all: all.into_iter().collect(), limit: 0 }
    }
}

/// What a neighbour's set depends on, but for destinations.
type Whose = (Interned, u16, bool);

/// What becomes of sets of attributes on their way to a neighbour, as far as it has been found out.
#[derive(Default)]
struct Passed {
    /// The set of a path, who has told it, and whether with a label, and what the neighbour is told of it.
    last: Option<(Whose, Option<Interned>)>,
    others: Map<Whose, Option<Interned>>,
    /// What is held until all is told.
    held: Vec<Interned>,
}

impl Passed {
    fn get(&self, path: &Path) -> Option<Option<Interned>> {
        let key = (path.set, path.peer, path.is_labelled());
        self.last
            .filter(|(last, _)| *last == key)
            .map(|(_, set)| set)
            .or_else(|| self.others.get(&key).copied())
    }

    fn insert(&mut self, path: &Path, set: Option<Interned>) {
        if let Some((key, set)) = self.last.replace(((path.set, path.peer, path.is_labelled()), set)) {
            self.others.insert(key, set);
        }
        self.held.extend(set);
    }
}

impl Bgp {
    /// What a neighbour is told of a path to a destination; nothing if it is told nothing (RFC 4271, 9.1.3; RFC 4456, 6
    /// and 8).
    fn told(&mut self, place: usize, family: Family, prefix: IpPrefix, best: &Path) -> Option<Set> {
        if !self.peers[place].config.export.is_any() || best.place() == Some(place) {
            return None;
        }
        let Set { attributes: mut told, tag, mut next_hop6 } = self.sets.recall(best.set);
        let peer = &self.peers[place];
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
        match (self.is_next_hop(place, family, best), family) {
            (true, Family::Ipv4 | Family::Ipv4Labelled) => told.next_hop = Some(peer.local4),
            // Without an address of the family it has no next hop to tell.
            (true, Family::Ipv6) => next_hop6 = Some(peer.local6?),
            (true, Family::Ipv6Labelled) => next_hop6 = Some(as_ipv6(peer.local4)),
            // A next hop that is reached by LSPs alone is for those who have the label.
            (false, Family::Ipv6) if next_hop6.is_some_and(|next_hop| mapped(next_hop.into()).is_some()) => {
                return None;
            }
            (false, _) => {}
        }
        if let Passing::By(rules) = &peer.config.export {
            let mut route = Subject { prefix, tag, attributes: told };
            if !policy::passes(rules, &mut route, self.config.asn) {
                return None;
            }
            told = route.attributes;
        }
        // RFC 4271, 5.1.3: a policy may have said so.
        let is_theirs = |next_hop: IpAddr| next_hop == peer.config.address;
        if next_hop6.map(IpAddr::V6).or(told.next_hop.map(IpAddr::V4)).is_some_and(is_theirs) {
            return None;
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

    /// Does a neighbour hear of this router as the next hop of a path?
    fn is_next_hop(&self, place: usize, family: Family, path: &Path) -> bool {
        let from_internal = path.place().is_some_and(|from| !self.is_external(from));
        self.is_external(place)
            || path.place().is_none()
            || !from_internal && self.peers[place].config.next_hop_self
            // RFC 8277, 3.2: another router has given it no label.
            || is_labelled(family) && !path.is_labelled()
    }

    /// Does it depend on destinations what a neighbour is told of a set?
    fn asks_prefixes(&self, place: usize) -> bool {
        match &self.peers[place].config.export {
            Passing::By(rules) => policy::asks_prefixes(rules),
            Passing::All | Passing::None => false,
        }
    }

    /// What a neighbour is told of a path, by the name of the set, which is not held for the caller.
    fn told_set(
        &mut self,
        place: usize,
        family: Family,
        prefix: IpPrefix,
        path: &Path,
        passed: &mut Passed,
    ) -> Option<Interned> {
        if let Some(known) = passed.get(path).filter(|_| !self.asks_prefixes(place)) {
            return known;
        }
        let set = self.told(place, family, prefix, path).map(|set| self.sets.intern(&set));
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
    pub(super) fn tell(&mut self, now: Time, context: &mut Context<'_>, place: usize) {
        let peer = &mut self.peers[place];
        if peer.pending.is_empty() && peer.ends_due.is_empty() || peer.next_update > now {
            return;
        }
        let Some(connection) = peer.established() else { return };
        let Some(session) = connection.session else { return };
        let terms = connection.terms;
        let ends = core::mem::take(&mut peer.ends_due);
        let all = peer.pending.take();
        let mut updates = if ends.is_empty() { Vec::new() } else { self.withdraw_several(place) };
        let mut reached = Vec::new();
        for at in 0.. {
            let mut connection = self.peers[place].established().into_iter();
            let Some(family) = connection.find_map(|one| one.families.get(at)).copied() else { break };
            let (mut news, mut passed) = (News::default(), Passed::default());
            news.reached.reserve(all.len().min(Pending::FEW));
            let is_many = self.peers[place].established().is_some_and(|one| one.many.contains(&family));
            let asks = self.asks_prefixes(place);
            for prefix in all.iter().filter(|prefix| is_of(family, **prefix)) {
                if is_many {
                    self.renew_many(context, (place, family), *prefix, &mut news, &mut passed);
                } else if asks || !self.renew_known((place, family), *prefix, &mut news, &passed) {
                    self.renew(context, (place, family), *prefix, &mut news, &mut passed);
                }
                if !self.labels.is_empty() {
                    self.tidy_label(context, *prefix);
                }
            }
            news.withdrawn.iter().for_each(|nlri| self.prefixes.tidy(nlri.prefix));
            if !news.withdrawn.is_empty() {
                updates.extend(pack::withdrawn(family, &news.withdrawn));
            }
            self.pack(family, news, &terms, &mut reached);
            passed.held.into_iter().for_each(|set| self.sets.release(set));
        }
        self.peers[place].pending.reuse(all);
        match updates.is_empty() {
            true => updates = reached,
            false => updates.append(&mut reached),
        }
        let wait = self.jittered(self.peers[place].config.interval);
        let peer = &mut self.peers[place];
        if !updates.is_empty() {
            peer.next_update = now + wait;
        }
        updates.extend(ends.iter().flat_map(|family| pack::withdrawn(*family, &[])));
        for bytes in updates {
            peer.updates_sent += 1;
            self.outputs.push_back(Output::Session(session, SessionOutput::Send(bytes)));
        }
    }

    /// The same as [`Bgp::renew`] where it is known already what the neighbour is told of the set of the best path, and
    /// there are no labels. Was that so?
    fn renew_known(
        &mut self,
        (place, family): (usize, Family),
        prefix: IpPrefix,
        news: &mut News,
        passed: &Passed,
    ) -> bool {
        let Some(entry) = self.prefixes.get_mut(prefix).filter(|_| !is_labelled(family)) else {
            return false;
        };
        let Some(Some(set)) = entry.best().and_then(|best| passed.get(best)) else { return false };
        let path = Path { set, id: 0, label: Path::UNLABELLED, peer: place as u16, is_stale: false };
        let is_new = note(entry, &mut self.sets, path, (prefix, false), news);
        self.peers[place].sent += usize::from(is_new);
        true
    }

    /// Finds out what a neighbour is to be told anew of a destination, and takes down that it is.
    fn renew(
        &mut self,
        context: &mut Context<'_>,
        (place, family): (usize, Family),
        prefix: IpPrefix,
        news: &mut News,
        passed: &mut Passed,
    ) {
        let Some(entry) = self.prefixes.get(prefix) else { return };
        let who = (place as u16, is_labelled(family));
        let (best, was_told) = (entry.best().copied(), entry.told.search((who.0, who.1, 0)).is_ok());
        match best.and_then(|best| self.as_told(context, (place, family), prefix, &best, passed)) {
            Some(path) => self.note_told(family, prefix, path, false, news),
            None if was_told => self.note_untold(prefix, (who.0, who.1, 0), false, news),
            None => {}
        }
    }

    /// The same where a neighbour is told several paths, each with a number of its own (RFC 7911, 2).
    fn renew_many(
        &mut self,
        context: &mut Context<'_>,
        (place, family): (usize, Family),
        prefix: IpPrefix,
        news: &mut News,
        passed: &mut Passed,
    ) {
        let Some(entry) = self.prefixes.get(prefix) else { return };
        let who = (place as u16, is_labelled(family));
        let its = entry.told.as_slice().iter().map(Path::key).filter(|key| (key.0, key.1) == who);
        let mut before: Vec<(u16, bool, u32)> = its.collect();
        let paths = entry.paths.as_slice().to_vec();
        let mut left = self.candidates(context.services, &paths);
        let mut more = self.peers[place].config.told_paths.unwrap_or(1);
        // RFC 7911, 5: the best path is among them, unless the neighbour itself has told it.
        while let Some(best) = choose(left.clone()).filter(|_| more > 0) {
            left.retain(|one| one.at != best.at);
            let path = paths[best.at];
            let Some(told) = self.as_told(context, (place, family), prefix, &path, passed) else { continue };
            let id = self.path_ids.number(path.key(), &self.prefixes);
            before.retain(|key| key.2 != id);
            self.note_told(family, prefix, Path { id, ..told }, true, news);
            more -= 1;
        }
        for key in before {
            self.note_untold(prefix, key, true, news);
        }
    }

    /// A path as a neighbour is told it.
    fn as_told(
        &mut self,
        context: &mut Context<'_>,
        (place, family): (usize, Family),
        prefix: IpPrefix,
        path: &Path,
        passed: &mut Passed,
    ) -> Option<Path> {
        let set = self.told_set(place, family, prefix, path, passed)?;
        let label = match is_labelled(family) {
            false => Path::UNLABELLED,
            true if self.is_next_hop(place, family, path) => self.local_label(context, prefix, path)?.value(),
            // RFC 8277, 3.2.1: it is the next hop's; not told if the neighbour does not take so many.
            true if self.sets.sequences.get(path.label).len() > self.labels_for(place, family) => {
                return None;
            }
            true => path.label,
        };
        Some(Path { set, id: 0, label, peer: place as u16, is_stale: false })
    }

    /// Takes down that a neighbour is told a path.
    fn note_told(
        &mut self,
        family: Family,
        prefix: IpPrefix,
        path: Path,
        is_numbered: bool,
        news: &mut News,
    ) {
        debug_assert_eq!(is_labelled(family), path.is_labelled());
        let Some(entry) = self.prefixes.get_mut(prefix) else { return };
        let is_new = note(entry, &mut self.sets, path, (prefix, is_numbered), news);
        self.peers[usize::from(path.peer)].sent += usize::from(is_new);
    }

    /// Takes down that a neighbour is told no more of a path.
    fn note_untold(&mut self, prefix: IpPrefix, key: (u16, bool, u32), is_numbered: bool, news: &mut News) {
        let Some(entry) = self.prefixes.get_mut(prefix) else { return };
        let Ok(at) = entry.told.search(key) else { return };
        let before = entry.told.remove(at);
        self.sets.release_path(&before);
        self.peers[usize::from(key.0)].sent -= 1;
        news.withdrawn.push(Nlri { path_id: is_numbered.then_some(key.2), ..Nlri::new(prefix) });
    }

    /// Writes the UPDATEs with what is to be told: destinations of one set together, the sets in the order of their
    /// first destinations.
    fn pack(&self, family: Family, news: News, terms: &Terms, updates: &mut Vec<Vec<u8>>) {
        let mut reached = news.reached;
        let is_one = reached.windows(2).all(|pair| pair[0].set == pair[1].set);
        if !is_one {
            let mut places: Map<Interned, usize> = Map::new();
            for (at, one) in reached.iter().enumerate() {
                places.get_or_insert_with(one.set, || at);
            }
            // The order of destinations of one set is left as it is.
            reached.sort_by_cached_key(|one| places.get(&one.set).copied());
        }
        for same in reached.chunk_by(|one, other| one.set == other.set) {
            let Some(first) = same.first() else { continue };
            let (next_hop6, packed) = self.sets.packed(first.set);
            if terms.four_octet && family == Family::Ipv4 {
                updates.extend(pack::reached(family, None, packed, same));
                continue;
            }
            let mut attributes = outgoing(Attributes::unpack(packed), terms);
            let next_hop = match family {
                Family::Ipv4 => None,
                Family::Ipv4Labelled => match attributes.next_hop.take() {
                    Some(address) => Some(NextHop::V4(address)),
                    None => continue,
                },
                Family::Ipv6 | Family::Ipv6Labelled => match next_hop6 {
                    Some(global) => Some(NextHop::V6 { global, link_local: None }),
                    None => continue,
                },
            };
            if family != Family::Ipv4 {
                attributes.next_hop = None;
            }
            let mut bytes = Vec::new();
            attributes.pack_for(terms, &mut bytes);
            updates.extend(pack::reached(family, next_hop, &bytes, same));
        }
    }
}

/// Takes down that a neighbour is told a path to a prefix, with the number of the path or without. Is it the first?
fn note(
    entry: &mut Entry,
    sets: &mut Sets,
    path: Path,
    (prefix, is_numbered): (IpPrefix, bool),
    news: &mut News,
) -> bool {
    sets.hold_path(&path);
    let (_, before) = entry.told.put(path);
    if before != Some(path) {
        let (path_id, labels) = (is_numbered.then_some(path.id), sets.sequences.get(path.label));
        news.reached.push(Reached { set: path.set, nlri: Nlri { prefix, path_id, labels } });
    }
    before.inspect(|before| sets.release_path(before)).is_none()
}

/// What a neighbour is to be told of a family.
#[derive(Default)]
struct News {
    withdrawn: Vec<Nlri>,
    reached: Vec<Reached>,
}

/// A destination, and the set that it is told with.
struct Reached {
    set: Interned,
    nlri: Nlri,
}

impl AsRef<Nlri> for Reached {
    fn as_ref(&self) -> &Nlri {
        &self.nlri
    }
}

/// Attributes as a neighbour reads them: for one of two octets, with the whole path beside (RFC 6793, 4.2.2).
fn outgoing(mut told: Attributes, terms: &Terms) -> Attributes {
    if !terms.four_octet {
        told.as4_path = told.as_path.clone().filter(AsPath::is_long);
        told.as4_aggregator = told.aggregator.filter(|one| u16::try_from(one.asn).is_err());
    }
    told
}
