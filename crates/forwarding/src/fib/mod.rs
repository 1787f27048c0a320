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
pub(crate) mod pool;
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
    /// Is there a mapping to an LSP?
    is_mapped: bool,
    pub(crate) ftn: Entry,
}

impl Known {
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
        pool::keep_one(&mut self.known, &mut self.free_known, known)
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

/// The places of the bits that are set.
#[inline(always)]
pub(crate) fn places(mut set: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let place = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (place < 64).then_some(place as usize)
    })
}

#[inline(always)]
fn is_something(leaf: Slot) -> Option<u32> {
    (leaf != NOTHING).then_some(leaf)
}

#[cfg(test)]
mod tests;
