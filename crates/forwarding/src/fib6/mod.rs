//! Longest-prefix match over IPv6 routes and FTN entries: a multibit trie with pushed leaves and skipped bits.
//!
//! A small table has nodes of four bits alone, as many as its prefixes need. A large one has a root of 16 bits and
//! blocks of ten more; from there on, a few prefixes stand together in a bucket, and where there are more, nodes
//! lead to them. A leaf says how long its prefix is, so that a prefix comes and goes without what is known of others
//! being looked at.

mod below;
mod machine;
mod prefixes;
mod row;
mod slot;
mod wide;

use self::below::{Below, Gone};
use self::prefixes::Prefixes;
use self::slot::{Held, NODE, NOTHING, Slot};
use self::wide::Wide;
use crate::entry::Kind;
use crate::fib::{Known, pool};
use base::plane::Prefix6;
use core::net::Ipv6Addr;

pub(crate) use self::slot::PREFIXES6_MAX;

/// With so many nodes a table becomes a large one, and with so few prefixes a small one again. Prefixes that lie close
/// together share nodes, and are found by them as fast.
const LARGE_NODES: usize = 1 << 12;
const SMALL: usize = 1 << 10;
/// Addresses that are looked up together in a small table.
const LANES: usize = 32;

/// IPv6 routes and FTN entries by prefix, as a tree that is walked by bits of the address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fib6 {
    /// Of a small table.
    root: Slot,
    /// The leaf of the prefix without bits, for all addresses that find nothing.
    default: Slot,
    wide: Option<Box<Wide>>,
    below: Below,
    known: Vec<Known>,
    free_known: Vec<u32>,
    prefixes: Prefixes,
    /// The destination that was routed last, and where what is known of its longest prefix is, as long as no table
    /// changes.
    pub(crate) recent: Option<(Ipv6Addr, u32)>,
}

impl Fib6 {
    /// Number of prefixes with a route, an FTN entry, or both.
    pub(crate) fn len(&self) -> usize {
        self.prefixes.len()
    }

    /// Where what is known of the longest prefix of `address` is.
    #[inline]
    pub(crate) fn find(&self, address: Ipv6Addr) -> Option<u32> {
        let bits = address.to_bits();
        let end = self.below.walk(self.root, bits);
        if end != NOTHING { Some(slot::place(end)) } else { self.find_further(bits) }
    }

    /// Where nodes alone do not find it. Not inlined: the look-up by nodes keeps its registers.
    #[cold]
    #[inline(never)]
    fn find_further(&self, bits: u128) -> Option<u32> {
        let found = self.wide.as_ref().map_or(NOTHING, |wide| wide.find(bits, &self.below));
        let found = if found == NOTHING { self.default } else { found };
        (found != NOTHING).then(|| slot::place(found))
    }

    /// The same of many addresses: a number of the prefix that is not 0, and 0 where nothing is known. Where one waits
    /// for the memory, others go on.
    pub(crate) fn find_all(&self, addresses: &[Ipv6Addr], found: &mut [u32]) {
        match &self.wide {
            None => {
                for (addresses, found) in addresses.chunks(LANES).zip(found.chunks_mut(LANES)) {
                    self.find_lanes(addresses, found);
                }
            }
            Some(wide) => {
                for (addresses, found) in
                    addresses.chunks(machine::LANES).zip(found.chunks_mut(machine::LANES))
                {
                    wide.find_some(addresses, found, &self.below);
                }
            }
        }
        if self.default != NOTHING {
            found.iter_mut().filter(|leaf| **leaf == NOTHING).for_each(|leaf| *leaf = self.default);
        }
    }

    fn find_lanes(&self, addresses: &[Ipv6Addr], found: &mut [Slot]) {
        found.fill(self.root);
        let mut more = self.root >= NODE;
        while more {
            more = false;
            for (address, slot) in addresses.iter().zip(found.iter_mut()).filter(|(_, slot)| **slot >= NODE) {
                *slot = self.below.step(*slot, address.to_bits());
                self.below.prefetch_node(*slot);
                more |= *slot >= NODE;
            }
        }
    }

    #[inline]
    pub(crate) fn get(&self, place: u32) -> Option<&Known> {
        self.known.get(place as usize)
    }
    #[inline]
    pub(crate) fn get_mut(&mut self, place: u32) -> Option<&mut Known> {
        self.known.get_mut(place as usize)
    }

    /// What is known of exactly `prefix`.
    pub(crate) fn exact(&self, prefix: Prefix6) -> Option<&Known> {
        match self.prefixes.get(prefix) {
            NOTHING => None,
            leaf => self.get(slot::place(leaf)),
        }
    }

    /// Changes what is known of exactly `prefix`; forgets the prefix if nothing is left.
    pub(crate) fn update<T>(&mut self, prefix: Prefix6, change: impl FnOnce(&mut Known) -> T) -> T {
        let leaf = self.prefixes.get(prefix);
        let place = slot::place(leaf) as usize;
        let mut known = if leaf == NOTHING { Known::default() } else { self.known[place] };
        let result = change(&mut known);
        known.settle();
        match (leaf != NOTHING, known.active().kind == Kind::Empty) {
            (true, true) => {
                self.prefixes.remove(prefix);
                self.withdraw(Held { bits: prefix.address().to_bits(), leaf });
                if self.wide.is_some() && self.prefixes.len() == SMALL {
                    self.narrow();
                }
                self.known[place] = known;
                self.free_known.push(place as u32);
            }
            (true, false) => self.known[place] = known,
            (false, true) => {}
            (false, false) => {
                let leaf = slot::leaf(prefix.len(), self.keep(known));
                self.prefixes.set(prefix, leaf);
                self.enter(Held { bits: prefix.address().to_bits(), leaf });
                if self.wide.is_none() && self.below.nodes() >= LARGE_NODES {
                    self.widen();
                }
            }
        }
        result
    }

    /// Where what is known of a prefix may stand.
    fn keep(&mut self, known: Known) -> u32 {
        pool::keep_one(&mut self.known, &mut self.free_known, known)
    }

    /// All prefixes, sorted by address, then by length.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Prefix6, &Known)> {
        self.prefixes.iter().map(|(prefix, leaf)| (prefix, &self.known[slot::place(leaf) as usize]))
    }

    /// A prefix stands in the tree from now on.
    fn enter(&mut self, new: Held) {
        if new.len() == 0 {
            self.default = new.leaf;
            return;
        }
        self.below.know(new);
        match &mut self.wide {
            None => self.root = self.below.insert(self.root, 0, new),
            Some(wide) => wide.insert(new, &mut self.below),
        }
    }

    /// The same no more.
    fn withdraw(&mut self, held: Held) {
        if held.len() == 0 {
            self.default = NOTHING;
            return;
        }
        let cover = self.prefixes.cover(held.bits, held.len());
        let gone = Gone { held, cover, prefixes: &self.prefixes };
        match &mut self.wide {
            None => self.root = self.below.remove(self.root, 0, &gone),
            Some(wide) => wide.remove(gone, &mut self.below),
        }
    }

    /// From now on the table is a large one.
    fn widen(&mut self) {
        (self.root, self.below, self.wide) = (NOTHING, Below::wide(), Some(Box::new(Wide::new())));
        self.enter_all();
    }

    /// From now on the table is a small one.
    fn narrow(&mut self) {
        (self.root, self.below, self.wide) = (NOTHING, Below::default(), None);
        self.enter_all();
    }

    fn enter_all(&mut self) {
        let all: Vec<Held> = self.prefixes.held().collect();
        all.into_iter().for_each(|held| self.enter(held));
    }
}

#[cfg(test)]
mod tests;
