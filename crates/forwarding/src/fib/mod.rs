//! Longest-prefix match over routes and FTN entries: a multibit trie with pushed leaves.
//!
//! The root decides on 8 bits. Where few prefixes are, a bucket has them, and where there are more, nodes decide on
//! 4 bits each, in one cache line. A large table has a cache line for each /18 instead of the root. A leaf says how
//! long its prefix is, so that a prefix comes and goes without what is known of others being looked at.
//!
//! In a network of ten thousand routers each has routes to all others, and hardly any is ever taken. A prefix has cache
//! lines of its own once a packet has taken it; until then all prefixes with the same route share what is known of
//! them.

mod below;
mod machine;
mod pool;
mod prefixes;
mod slot;
mod tree;
mod wide;

use self::prefixes::Prefixes;
use self::slot::{Held, NOTHING, Slot};
use self::tree::Tree;
use crate::classed::ClassList;
use crate::entry::{Entry, Kind};
use base::Map;
use base::plane::Prefix;
use core::net::Ipv4Addr;

/// What is known of a prefix. The mapping to an LSP hides the route. What a packet on a route needs is one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Known {
    pub(crate) route: Entry,
    /// The list of its LSPs for some PHBs, plus one.
    pub(crate) classed: u32,
    /// Of a prefix of IPv6 alone: its length. That of a prefix of IPv4 is in its place.
    len6: u8,
    /// Is there a mapping to an LSP?
    is_mapped: bool,
    pub(crate) ftn: Entry,
}

impl Known {
    /// Nothing yet, of a prefix of IPv6 of `len` bits.
    pub(crate) fn of_six(len: u8) -> Known {
        Known { len6: len, ..Known::default() }
    }
    /// Number of leading bits that count, of a prefix of IPv6: 0 to 128.
    #[inline]
    pub(crate) fn len6(&self) -> u8 {
        self.len6
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
        is_alone.then(|| (word, keep, next_hop, kind as u8, depth, self.route.rest()))
    }
}

/// All of a route.
type Alike = (u32, u32, u32, u8, u8, (u8, u8));

/// Of a place: it is among those that prefixes share.
const SHARED: u32 = 1 << 25;
/// The other bits of a place.
const INDEX: u32 = SHARED - 1;

/// The most prefixes that a table can have.
pub(crate) const PREFIXES_MAX: usize = INDEX as usize;

/// From so many prefixes on a table is a large one, and from so many down a small one again.
const LARGE: usize = 1 << 18;
const SMALL: usize = 1 << 16;

/// Routes and FTN entries by prefix, as a tree that is walked by bits of the address.
///
/// What is known of a prefix is found by its place: a leaf of the tree, which says how long the prefix is, and where
/// what is known of it stands, alone or for several prefixes. A place is never zero.
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
    prefixes: Prefixes,
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
        is_something(self.tree.find(address))
    }

    /// The same of many addresses: 0 where nothing is known.
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
            0 => self.known.get((place & INDEX) as usize),
            _ => self.shared.get((place & INDEX) as usize).map(|(known, _)| known),
        }
    }

    /// Number of leading bits that count, of the prefix at a place: 0 to 32.
    #[inline]
    pub(crate) fn len_at(place: u32) -> u8 {
        slot::len(place)
    }

    /// What is known of one prefix alone, to be changed: of a place that [`Fib::own`] has given.
    #[inline]
    pub(crate) fn get_mut(&mut self, place: u32) -> Option<&mut Known> {
        self.known.get_mut((place & (SHARED | INDEX)) as usize)
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
        let prefix = Prefix::new(to, Fib::len_at(place));
        // Packets may have been decided on together: the first of them has parted the prefix already.
        match self.place(prefix) {
            Some(now) if now != place => return self.own(now, to),
            _ => {}
        }
        let own = self.keep(known);
        self.release(place);
        self.enter(prefix, own)
    }

    /// Where what is known of one prefix alone may stand.
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

    /// Where what is known of a prefix may stand, alone or for others, too.
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
            self.known[(place & INDEX) as usize] = Known::default();
            return self.free_known.push(place & INDEX);
        }
        let (known, users) = &mut self.shared[(place & INDEX) as usize];
        *users -= 1;
        if *users == 0 {
            if let Some(alike) = known.alike() {
                self.alike.remove(&alike);
            }
            self.free_shared.push(place & INDEX);
        }
    }

    /// Where what is known of exactly `prefix` is.
    pub(crate) fn place(&self, prefix: Prefix) -> Option<u32> {
        is_something(self.prefixes.get(prefix))
    }

    /// What is known of exactly `prefix`.
    pub(crate) fn exact(&self, prefix: Prefix) -> Option<&Known> {
        self.get(self.place(prefix)?)
    }

    /// Where what is known of the longest prefix of `to` is that has fewer than `len` bits.
    pub(crate) fn cover(&self, to: Ipv4Addr, len: u8) -> Option<u32> {
        let none = Prefix::new(Ipv4Addr::UNSPECIFIED, 0);
        let default = || self.place(none).filter(|_| len > 0);
        is_something(self.prefixes.cover(to.to_bits(), len)).or_else(default)
    }

    /// Changes what is known of exactly `prefix`; forgets the prefix if nothing is left.
    pub(crate) fn update<T>(&mut self, prefix: Prefix, change: impl FnOnce(&mut Known) -> T) -> T {
        let existing = self.place(prefix);
        let mut known = existing.and_then(|place| self.get(place)).copied().unwrap_or_default();
        let result = change(&mut known);
        known.settle();
        match existing {
            Some(place) if known.is_empty() => {
                self.prefixes.remove(prefix);
                self.tree.remove(prefix, &self.prefixes);
                self.release(place);
                if self.tree.is_wide() && self.prefixes.len() == SMALL {
                    self.tree.narrow(&self.prefixes);
                }
            }
            Some(place) if place & SHARED == 0 => self.known[(place & INDEX) as usize] = known,
            Some(place) => {
                let new = self.place_for(known);
                if new != place & (SHARED | INDEX) {
                    self.enter(prefix, new);
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
        let place = self.keep(Known { route, ..Known::default() });
        self.enter(prefix, place);
    }

    /// What is known of a prefix, which may be a new one, stands somewhere from now on. Returns its place.
    fn enter(&mut self, prefix: Prefix, index: u32) -> u32 {
        let held = Held { bits: prefix.address().to_bits(), leaf: slot::leaf(prefix.len(), index) };
        self.prefixes.set(held);
        self.tree.insert(held);
        if self.prefixes.len() == LARGE && !self.tree.is_wide() {
            self.tree.widen(&self.prefixes);
        }
        held.leaf
    }

    /// All prefixes, sorted by address, then by length, and where what is known of each is.
    pub(crate) fn places(&self) -> impl Iterator<Item = (Prefix, u32)> {
        self.prefixes.iter()
    }

    /// All prefixes, sorted likewise.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Prefix, &Known)> {
        self.prefixes.iter().filter_map(|(prefix, place)| Some((prefix, self.get(place)?)))
    }

    /// Makes a large table of a small one, or the other way round, whatever it holds.
    #[cfg(test)]
    fn turn(&mut self) {
        if self.tree.is_wide() {
            self.tree.narrow(&self.prefixes);
        } else {
            self.tree.widen(&self.prefixes);
        }
    }
}

#[inline(always)]
fn is_something(leaf: Slot) -> Option<u32> {
    (leaf != NOTHING).then_some(leaf)
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
        assert_eq!((fib.len(), fib.tree.is_empty(), fib.free_shared.len()), (0, true, fib.shared.len()));
    }

    fn prefix() -> impl Strategy<Value = Prefix> {
        // Few distinct bits, so that prefixes nest and collide.
        let address = prop_oneof![any::<u32>(), (0u32..8, 0u32..8).prop_map(|(a, b)| a << 29 | b << 12 | a)];
        let any_length = (address, 0u8..=32);
        // Close together: where buckets become nodes, and where a line of a large table is full.
        let hosts = (0u32..64, 25u8..=32).prop_map(|(host, len)| (0x0a01_0200 | host << 1, len));
        let networks = (0u32..64, 17u8..=24).prop_map(|(network, len)| (0x0a01_0000 | network << 8, len));
        prop_oneof![any_length, hosts, networks].prop_map(|(a, len)| Prefix::new(Ipv4Addr::from_bits(a), len))
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
            for way in machine::Way::all() {
                let mut same = vec![0; probed.len()];
                fib.tree.set_way(way);
                fib.find_all(&probed, &mut same);
                prop_assert_eq!(&leaves, &same);
            }
            for (address, leaf) in probed.into_iter().zip(leaves) {
                let naive = list.iter().filter(|p| p.contains(address)).max_by_key(|p| p.len());
                prop_assert_eq!(fib.find(address).map(Fib::len_at), naive.map(|p| p.len()));
                let place = naive.and_then(|p| fib.place(*p));
                prop_assert_eq!(fib.find(address), place);
                prop_assert_eq!(is_something(leaf), place);
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
