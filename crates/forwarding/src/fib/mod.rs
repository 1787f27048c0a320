//! Longest-prefix match over routes and FTN entries: a multibit trie with pushed leaves.
//!
//! The root decides on 8 bits, every further node on 4 in one cache line; a node exists only where prefixes differ.
//! An address takes one step, plus one for each 4 bits of the longest prefix near it beyond the eighth. A large table
//! has a slot for each /24 instead of that: an address takes one step.
//!
//! In a network of ten thousand routers each has routes to all others, and hardly any is ever taken. A prefix has cache
//! lines of its own once a packet has taken it; until then all prefixes of one length and with the same route share
//! what is known of them.

mod tree;

use self::tree::Tree;
use crate::classed::ClassList;
use crate::entry::{Entry, Kind};
use base::Map;
use base::plane::Prefix;
use core::net::Ipv4Addr;
use std::collections::BTreeMap;

/// What is known of a prefix. The mapping to an LSP hides the route. What a packet on a route needs is one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Known {
    pub(crate) route: Entry,
    /// The list of its LSPs for some PHBs, plus one.
    pub(crate) classed: u32,
    len: u8,
    /// Is there a mapping to an LSP?
    is_mapped: bool,
    pub(crate) ftn: Entry,
}

impl Known {
    /// Nothing yet, of a prefix of `len` bits.
    pub(crate) fn new(len: u8) -> Known {
        Known { len, ..Known::default() }
    }
    /// Number of leading bits that count: 0 to 32, of IPv6 to 128.
    #[inline]
    pub(crate) fn len(&self) -> u8 {
        self.len
    }
    /// The entry in force.
    #[inline]
    pub(crate) fn active(&self) -> &Entry {
        if self.is_mapped { &self.ftn } else { &self.route }
    }
    #[inline]
    pub(crate) fn active_mut(&mut self) -> &mut Entry {
        if self.is_mapped { &mut self.ftn } else { &mut self.route }
    }
    /// Its entries were changed.
    pub(crate) fn settle(&mut self) {
        self.is_mapped = self.ftn.kind != Kind::Empty;
    }
    fn is_empty(&self) -> bool {
        !self.is_mapped && self.route.kind == Kind::Empty && self.classed == 0
    }

    /// What all prefixes have in common that can share it: a route alone, by which no packet has gone.
    fn alike(&self) -> Option<Alike> {
        let Entry { packets, word, keep, next_hop, kind, depth, .. } = self.route;
        let is_alone = !self.is_mapped && self.classed == 0 && packets == 0 && self.ftn.packets == 0;
        is_alone.then(|| (word, keep, next_hop, kind as u8, depth, self.route.rest(), self.len))
    }
}

/// All of a route, and the length of its prefix.
type Alike = (u32, u32, u32, u8, u8, (u8, u8), u8);

/// Of a place: it is among those that prefixes share.
const SHARED: u32 = 1 << 30;

/// From so many prefixes on a table is a large one, and from so many down a small one again.
const LARGE: usize = 1 << 18;
const SMALL: usize = 1 << 16;

/// Routes and FTN entries by prefix, as a tree that is walked by bits of the address.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Fib {
    known: Vec<Known>,
    tree: Tree,
    free_known: Vec<u32>,
    /// What prefixes share of which no packet has taken the route, and how many do.
    shared: Vec<(Known, u32)>,
    free_shared: Vec<u32>,
    alike: Map<Alike, u32>,
    prefixes: BTreeMap<Prefix, u32>,
    pub(crate) lists: Vec<ClassList>,
    /// Free ones, plus one.
    pub(crate) free_lists: Vec<u32>,
}

impl Fib {
    /// Number of prefixes with a route, an FTN entry, or both.
    pub(crate) fn len(&self) -> usize {
        self.prefixes.len()
    }

    /// Where what is known of the longest prefix of `address` is.
    #[inline]
    pub(crate) fn find(&self, address: Ipv4Addr) -> Option<u32> {
        self.tree.find(address).checked_sub(1)
    }

    /// The same of many addresses: the place plus one, and 0 where nothing is known.
    #[inline]
    pub(crate) fn find_all(&self, addresses: &[Ipv4Addr], found: &mut [u32]) {
        self.tree.find_all(addresses, found);
    }

    /// Is it so large that what a packet needs of it is not in the caches?
    #[inline]
    pub(crate) fn is_large(&self) -> bool {
        self.tree.is_wide()
    }

    #[inline]
    pub(crate) fn get(&self, place: u32) -> Option<&Known> {
        match place & SHARED {
            0 => self.known.get(place as usize),
            _ => self.shared.get((place & !SHARED) as usize).map(|(known, _)| known),
        }
    }

    /// What is known of one prefix alone, to be changed: of a place that [`Fib::own`] has given.
    #[inline]
    pub(crate) fn get_mut(&mut self, place: u32) -> Option<&mut Known> {
        self.known.get_mut(place as usize)
    }

    /// The place of a prefix of `to` from now on, where its packets are counted.
    #[inline]
    pub(crate) fn own(&mut self, place: u32, to: Ipv4Addr) -> u32 {
        if place & SHARED == 0 { place } else { self.part(place, to) }
    }

    /// Gives a prefix a cache line of its own.
    #[cold]
    fn part(&mut self, place: u32, to: Ipv4Addr) -> u32 {
        let Some(known) = self.get(place).copied() else { return place };
        let prefix = Prefix::new(to, known.len);
        // Packets may have been decided on together: the first of them has parted the prefix already.
        match self.place(prefix) {
            Some(now) if now != place => return self.own(now, to),
            _ => {}
        }
        let own = self.keep(known);
        self.prefixes.insert(prefix, own);
        self.tree.exchange(prefix, place + 1, own + 1);
        self.release(place);
        own
    }

    /// A place for what is known of one prefix alone.
    fn keep(&mut self, known: Known) -> u32 {
        match self.free_known.pop() {
            Some(place) => {
                self.known[place as usize] = known;
                place
            }
            None => {
                self.known.push(known);
                (self.known.len() - 1) as u32
            }
        }
    }

    /// A place for what is known of a prefix, which others may have, too.
    fn place_for(&mut self, known: Known) -> u32 {
        let Some(alike) = known.alike() else { return self.keep(known) };
        if let Some(&place) = self.alike.get(&alike) {
            self.shared[place as usize].1 += 1;
            return SHARED | place;
        }
        let place = match self.free_shared.pop() {
            Some(place) => {
                self.shared[place as usize] = (known, 1);
                place
            }
            None => {
                self.shared.push((known, 1));
                (self.shared.len() - 1) as u32
            }
        };
        self.alike.insert(alike, place);
        SHARED | place
    }

    /// A prefix is at a place no more.
    fn release(&mut self, place: u32) {
        if place & SHARED == 0 {
            self.known[place as usize] = Known::default();
            return self.free_known.push(place);
        }
        let (known, users) = &mut self.shared[(place & !SHARED) as usize];
        *users -= 1;
        if *users == 0 {
            if let Some(alike) = known.alike() {
                self.alike.remove(&alike);
            }
            self.free_shared.push(place & !SHARED);
        }
    }

    /// Where what is known of exactly `prefix` is.
    pub(crate) fn place(&self, prefix: Prefix) -> Option<u32> {
        self.prefixes.get(&prefix).copied()
    }

    /// What is known of exactly `prefix`.
    pub(crate) fn exact(&self, prefix: Prefix) -> Option<&Known> {
        self.get(self.place(prefix)?)
    }

    /// Changes what is known of exactly `prefix`; forgets the prefix if nothing is left.
    pub(crate) fn update<T>(&mut self, prefix: Prefix, change: impl FnOnce(&mut Known) -> T) -> T {
        let existing = self.place(prefix);
        let before = existing.and_then(|place| self.get(place));
        let mut known = before.copied().unwrap_or_else(|| Known::new(prefix.len()));
        let result = change(&mut known);
        known.settle();
        match existing {
            Some(place) if known.is_empty() => {
                self.withdraw(prefix, place);
                self.prefixes.remove(&prefix);
                self.release(place);
                if self.tree.is_wide() && self.prefixes.len() == SMALL {
                    self.tree.narrow(&len_of(&self.known, &self.shared));
                }
            }
            Some(place) if place & SHARED == 0 => self.known[place as usize] = known,
            Some(place) => {
                let new = self.place_for(known);
                if new != place {
                    self.prefixes.insert(prefix, new);
                    self.tree.exchange(prefix, place + 1, new + 1);
                }
                self.release(place);
            }
            None if known.is_empty() => {}
            None => {
                let place = self.place_for(known);
                self.enter(prefix, place);
            }
        }
        result
    }

    /// Puts in a route to a prefix of which nothing is known, for a packet that takes it at once: in a place of its
    /// own, since the packet is counted there.
    pub(crate) fn enter_own(&mut self, prefix: Prefix, route: Entry) {
        debug_assert!(self.place(prefix).is_none(), "something is known of {prefix}");
        let place = self.keep(Known { route, ..Known::new(prefix.len()) });
        self.enter(prefix, place);
    }

    /// A prefix that was not there is, and what is known of it is at a place.
    fn enter(&mut self, prefix: Prefix, place: u32) {
        self.prefixes.insert(prefix, place);
        self.announce(prefix, place);
        if self.prefixes.len() == LARGE && !self.tree.is_wide() {
            self.widen();
        }
    }

    /// All prefixes, sorted by address, then by length, and where what is known of each is.
    pub(crate) fn places(&self) -> impl Iterator<Item = (Prefix, u32)> {
        self.prefixes.iter().map(|(prefix, place)| (*prefix, *place))
    }

    /// All prefixes, sorted likewise.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Prefix, &Known)> {
        self.prefixes.iter().filter_map(|(prefix, place)| Some((*prefix, self.get(*place)?)))
    }

    fn announce(&mut self, prefix: Prefix, place: u32) {
        let (len, leaf, len_of) = (prefix.len(), place + 1, len_of(&self.known, &self.shared));
        self.tree.announce(prefix, &|slot| if len_of(slot) > Some(len) { slot } else { leaf });
    }

    fn widen(&mut self) {
        let short = self.prefixes.iter().filter(|(prefix, _)| prefix.len() <= tree::SHORT_BITS);
        let short = short.map(|(prefix, place)| (*prefix, place + 1)).collect();
        self.tree.widen(short, &len_of(&self.known, &self.shared));
    }

    fn withdraw(&mut self, prefix: Prefix, place: u32) {
        let shorter = (0..prefix.len()).rev().map(|len| Prefix::new(prefix.address(), len));
        let cover = shorter.filter_map(|p| self.prefixes.get(&p)).next().map_or(0, |place| place + 1);
        self.tree.withdraw(prefix, place + 1, cover, &len_of(&self.known, &self.shared));
    }

    /// Makes a large table of a small one, or the other way round, whatever it holds.
    #[cfg(test)]
    fn turn(&mut self) {
        if self.tree.is_wide() {
            self.tree.narrow(&len_of(&self.known, &self.shared));
        } else {
            self.widen();
        }
    }

    /// Nodes in use, for tests of their release.
    #[cfg(test)]
    pub(crate) fn nodes(&self) -> usize {
        self.tree.nodes()
    }
}

/// The length of the prefix of a leaf.
fn len_of<'a>(known: &'a [Known], shared: &'a [(Known, u32)]) -> impl Fn(u32) -> Option<u8> + 'a {
    |leaf| {
        let place = leaf.checked_sub(1)?;
        match place & SHARED {
            0 => known.get(place as usize).map(Known::len),
            _ => shared.get((place & !SHARED) as usize).map(|(known, _)| known.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mark(known: &mut Known, kind: Kind) {
        known.route.kind = kind;
    }

    #[test]
    fn prefixes_share_what_is_known_until_a_packet_takes_one() {
        let (mut fib, at) = (Fib::default(), |n: u32| Ipv4Addr::from_bits(0x0a00_0000 + n));
        for n in 0..64 {
            fib.update(Prefix::host(at(n)), |known| mark(known, Kind::Discard));
        }
        assert_eq!((fib.known.len(), fib.shared.len()), (0, 1));
        let place = fib.find(at(20)).expect("a route");
        let own = fib.own(place, at(20));
        fib.get_mut(own).expect("its own").route.count(64);
        let packets =
            |fib: &Fib, n| fib.find(at(n)).and_then(|place| fib.get(place)).map(|k| k.route.packets);
        assert_eq!((fib.find(at(20)), fib.own(own, at(20))), (Some(own), own));
        assert_eq!((packets(&fib, 20), packets(&fib, 19), packets(&fib, 21)), (Some(1), Some(0), Some(0)));
        // Another route: what has been counted stays; the others share again.
        (0..64).for_each(|n| fib.update(Prefix::host(at(n)), |known| mark(known, Kind::Local)));
        assert_eq!((fib.known.len(), fib.shared.len() - fib.free_shared.len()), (1, 1));
        assert_eq!((packets(&fib, 20), packets(&fib, 63)), (Some(1), Some(0)));
        (0..64).for_each(|n| fib.update(Prefix::host(at(n)), |known| mark(known, Kind::Empty)));
        assert_eq!((fib.len(), fib.nodes(), fib.free_shared.len()), (0, 0, fib.shared.len()));
    }

    fn prefix() -> impl Strategy<Value = Prefix> {
        // Few distinct bits, so that prefixes nest and collide.
        let address = prop_oneof![any::<u32>(), (0u32..8, 0u32..8).prop_map(|(a, b)| a << 29 | b << 12 | a)];
        (address, 0u8..=32).prop_map(|(a, len)| Prefix::new(Ipv4Addr::from_bits(a), len))
    }

    fn edges(prefix: &Prefix) -> [u32; 4] {
        let first = prefix.address().to_bits();
        let last = first | u32::MAX.checked_shr(prefix.len().into()).unwrap_or(0);
        [first.wrapping_sub(1), first, last, last.wrapping_add(1)]
    }

    /// Carries out steps, and compares with a list after each. Before some of them the table becomes a large one, or a
    /// small one again.
    fn agrees(steps: &[(Prefix, bool)], probes: &[u32], turns: &[usize]) -> Result<(), TestCaseError> {
        let (mut fib, mut list) = (Fib::default(), Vec::<Prefix>::new());
        for (step, (prefix, add)) in steps.iter().enumerate() {
            if turns.contains(&step) {
                fib.turn();
            }
            // A packet takes a route now and then.
            if prefix.len() % 3 == 0
                && let Some(place) = fib.find(prefix.address())
            {
                let own = fib.own(place, prefix.address());
                prop_assert_eq!(fib.find(prefix.address()), Some(own));
                prop_assert!(fib.get_mut(own).is_some());
            }
            if *add {
                fib.update(*prefix, |k| mark(k, Kind::Local));
                if !list.contains(prefix) {
                    list.push(*prefix);
                }
            } else {
                let victim = list.pop().unwrap_or(*prefix);
                fib.update(victim, |k| mark(k, Kind::Empty));
            }
            prop_assert_eq!(fib.len(), list.len());
            let edges = steps.iter().flat_map(|(prefix, _)| edges(prefix));
            let probed: Vec<Ipv4Addr> =
                edges.chain(probes.iter().copied()).map(Ipv4Addr::from_bits).collect();
            let mut leaves = vec![0; probed.len()];
            fib.find_all(&probed, &mut leaves);
            for (address, leaf) in probed.into_iter().zip(leaves) {
                let naive = list.iter().filter(|p| p.contains(address)).max_by_key(|p| p.len());
                let found = fib.find(address).map(|place| fib.get(place).map(|k| k.len));
                prop_assert_eq!(found, naive.map(|p| Some(p.len())));
                let place = naive.and_then(|p| fib.prefixes.get(p)).copied();
                prop_assert_eq!(fib.find(address), place);
                prop_assert_eq!(leaf.checked_sub(1), place);
            }
        }
        for prefix in list {
            fib.update(prefix, |k| mark(k, Kind::Empty));
        }
        prop_assert_eq!(fib.len(), 0);
        prop_assert!(fib.tree.is_empty());
        Ok(())
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        #[test]
        fn finds_what_a_list_finds(
            steps in proptest::collection::vec((prefix(), any::<bool>()), 1..60),
            probes in proptest::collection::vec(any::<u32>(), 20),
        ) {
            agrees(&steps, &probes, &[])?;
        }
    }

    proptest! {
        #![proptest_config(testing::cases(6))]
        #[test]
        fn a_large_table_finds_what_a_list_finds(
            steps in proptest::collection::vec((prefix(), prop::bool::weighted(0.7)), 40..80),
            probes in proptest::collection::vec(any::<u32>(), 20),
            turns in (0usize..20, 20usize..60, 20usize..60),
        ) {
            agrees(&steps, &probes, &[turns.0, turns.1, turns.2])?;
        }
    }
}
