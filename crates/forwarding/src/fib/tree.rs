//! The tree that addresses walk: what leads from bits of an address to the leaf of its longest prefix.
//!
//! A small table has a root of 8 bits. A large one has [`Wide`] in its place, and in that of all nodes as far as bit
//! 24. The rest is the same in both: [`Below`]. The default route stands apart, for all addresses that find nothing.

use super::below::{Below, Gone, NODE_BITS};
use super::prefixes::Prefixes;
use super::slot::{BUCKET, Held, NODE, NOTHING, Slot, covered, is_found, leaf, part};
use super::wide::Wide;
use base::plane::Prefix;
use core::net::Ipv4Addr;

const ROOT_BITS: u8 = 8;
/// Addresses that are looked up together: enough for the memory to be asked for one while others wait.
const LANES: usize = 32;

/// See the module.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Tree {
    /// Empty in a large table.
    root: Vec<Slot>,
    below: Below,
    /// The leaf of the prefix without bits.
    default: Slot,
    wide: Option<Box<Wide>>,
}

impl Default for Tree {
    fn default() -> Tree {
        Tree { root: vec![NOTHING; 1 << ROOT_BITS], below: Below::default(), default: NOTHING, wide: None }
    }
}

impl Tree {
    /// The leaf of an address, or nothing.
    #[inline]
    pub(super) fn find(&self, address: Ipv4Addr) -> Slot {
        let bits = address.to_bits();
        let root = self.root.get(part(bits, 0, ROOT_BITS)).copied();
        let end = self.below.walk(root.unwrap_or(NOTHING), bits, ROOT_BITS);
        if is_found(end) { end } else { self.find_further(end, bits) }
    }

    /// Where nodes alone do not find it. Not inlined: the look-up by nodes keeps its registers.
    #[cold]
    #[inline(never)]
    fn find_further(&self, end: Slot, bits: u32) -> Slot {
        let found = match &self.wide {
            Some(wide) => wide.find(bits, &self.below),
            None => self.below.longest(end, bits),
        };
        if found == NOTHING { self.default } else { found }
    }

    /// The leaves of many addresses, of which some are looked up at once: where one waits for the memory, others go on.
    pub(super) fn find_all(&self, addresses: &[Ipv4Addr], found: &mut [Slot]) {
        match &self.wide {
            Some(wide) => wide.find_all(addresses, found, &self.below),
            None => {
                for (addresses, found) in addresses.chunks(LANES).zip(found.chunks_mut(LANES)) {
                    self.find_lanes(addresses, found);
                }
            }
        }
        if self.default != NOTHING {
            found.iter_mut().filter(|slot| **slot == NOTHING).for_each(|slot| *slot = self.default);
        }
    }

    fn find_lanes(&self, addresses: &[Ipv4Addr], found: &mut [Slot]) {
        for (address, found) in addresses.iter().zip(found.iter_mut()) {
            *found = self.root.get(part(address.to_bits(), 0, ROOT_BITS)).copied().unwrap_or(NOTHING);
            self.below.prefetch(*found);
        }
        for depth in (ROOT_BITS..32).step_by(NODE_BITS.into()) {
            let mut is_last = true;
            for (address, found) in
                addresses.iter().zip(found.iter_mut()).filter(|(_, found)| **found >= NODE)
            {
                *found = self.below.step(*found, address.to_bits(), depth);
                self.below.prefetch(*found);
                is_last &= *found < NODE;
            }
            if is_last {
                break;
            }
        }
        for (address, found) in addresses.iter().zip(found).filter(|(_, found)| **found >= BUCKET) {
            *found = self.below.longest(*found, address.to_bits());
        }
    }

    /// Is it one for a large table?
    pub(super) fn is_wide(&self) -> bool {
        self.wide.is_some()
    }

    /// Puts a prefix in, or gives it another leaf.
    pub(super) fn insert(&mut self, new: Held) {
        if new.len() == 0 {
            self.default = new.leaf;
        } else if let Some(wide) = &mut self.wide {
            wide.insert(new, &mut self.below);
        } else if new.len() <= ROOT_BITS {
            for slot in &mut self.root[covered(new.bits, new.len(), 0, ROOT_BITS)] {
                *slot = self.below.cover(*slot, ROOT_BITS, new.leaf);
            }
        } else {
            let slot = &mut self.root[part(new.bits, 0, ROOT_BITS)];
            *slot = self.below.insert(*slot, ROOT_BITS, new);
        }
    }

    /// Takes a prefix out; `prefixes` are those that are left.
    pub(super) fn remove(&mut self, prefix: Prefix, prefixes: &Prefixes) {
        let (bits, len) = (prefix.address().to_bits(), prefix.len());
        if len == 0 {
            self.default = NOTHING;
            return;
        }
        let cover = prefixes.cover(bits, len);
        let gone = Gone { bits, len, cover, least: leaf(1, 0), prefixes };
        if let Some(wide) = &mut self.wide {
            wide.remove(gone, &mut self.below);
        } else if len <= ROOT_BITS {
            for slot in &mut self.root[covered(bits, len, 0, ROOT_BITS)] {
                *slot = self.below.uncover(*slot, ROOT_BITS, &gone);
            }
        } else {
            let slot = &mut self.root[part(bits, 0, ROOT_BITS)];
            *slot = self.below.remove(*slot, ROOT_BITS, &gone);
        }
    }

    /// From now on the table is a large one.
    pub(super) fn widen(&mut self, prefixes: &Prefixes) {
        let mut below = Below::default();
        let wide = Wide::new(prefixes.held().filter(|held| held.len() > 0), &mut below);
        *self = Tree { root: Vec::new(), below, default: self.default, wide: Some(Box::new(wide)) };
    }

    /// From now on the table is a small one.
    pub(super) fn narrow(&mut self, prefixes: &Prefixes) {
        *self = Tree::default();
        prefixes.held().for_each(|held| self.insert(*held));
    }

    /// Nodes, and prefixes in buckets, that are in use, for tests of their release.
    #[cfg(test)]
    pub(super) fn used(&self) -> (usize, usize) {
        self.below.used()
    }

    /// Does every address lead to nothing?
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        let is_empty = self.wide.as_ref().is_none_or(|wide| wide.is_empty()) && self.default == NOTHING;
        is_empty && self.root.iter().all(|slot| *slot == NOTHING) && self.used() == (0, 0)
    }

    /// All ways to look at the lines of a large table find the same.
    #[cfg(test)]
    pub(super) fn set_way(&mut self, way: super::machine::Way) {
        if let Some(wide) = &mut self.wide {
            wide.way = way;
        }
    }
}
