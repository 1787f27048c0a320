//! A large table of IPv6: what the first 16 bits of an address lead to, and the next ten.
//!
//! Where few prefixes begin with the same 16 bits, they stand in a bucket, and where there are more, a block has a slot
//! for each value of the next ten bits. What is below them is the same as in a small table, and buckets.
//!
//! Prefixes of at most 16 bits stand apart, for all addresses that find nothing longer: where a /8 comes or goes,
//! nothing below has to change.

use super::below::{Below, Gone};
use super::machine::{LANES, Way};
use super::slot::{Held, NODE, NOTHING, Slot, covered, index, is_leaf, part, rank};
use crate::fib::places;
use core::net::Ipv6Addr;

/// Bits that choose an element of the root.
const ROOT_BITS: u8 = 16;
/// Bits that choose a slot of a block.
const BLOCK_BITS: u8 = 10;
const DEPTH: u8 = ROOT_BITS + BLOCK_BITS;
const SLOTS: usize = 1 << BLOCK_BITS;

#[derive(Clone, Copy, Debug, Default)]
struct Start {
    /// A bucket, a block, or nothing.
    slot: Slot,
    /// The longest prefix of those that stand apart.
    apart: Slot,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Wide {
    root: Vec<Start>,
    blocks: Vec<[Slot; SLOTS]>,
    free: Vec<u32>,
    pub(super) way: Way,
}

impl Wide {
    pub(super) fn new() -> Wide {
        let root = vec![Start::default(); 1 << ROOT_BITS];
        Wide { root, blocks: Vec::new(), free: Vec::new(), way: Way::fastest() }
    }

    #[inline(always)]
    fn start(&self, bits: u128) -> Start {
        self.root.get(part(bits, 0, ROOT_BITS)).copied().unwrap_or_default()
    }

    /// What the slot of a block leads to, if the slot of the root is one. Without a branch, as in `Below::prefetch`.
    #[inline(always)]
    fn second(&self, slot: Slot, bits: u128) -> Option<&Slot> {
        let block = self.blocks.get(if slot >= NODE { index(slot) } else { 0 })?;
        Some(&block[part(bits, ROOT_BITS, BLOCK_BITS)])
    }

    #[inline(always)]
    fn further(&self, slot: Slot, bits: u128) -> Slot {
        let second = self.second(slot, bits).copied().unwrap_or(NOTHING);
        if slot >= NODE { second } else { slot }
    }

    /// The leaf of an address, or nothing.
    #[inline]
    pub(super) fn find(&self, bits: u128, below: &Below) -> Slot {
        let Start { slot, apart } = self.start(bits);
        let slot = if slot >= NODE { self.further(slot, bits) } else { slot };
        let end = below.walk(slot, bits);
        match below.longest(end, bits) {
            NOTHING => apart,
            leaf => leaf,
        }
    }

    /// The leaves of at most [`LANES`] addresses. What comes next is asked for of all of them before it is looked at:
    /// where one waits for the memory, others go on.
    pub(super) fn find_some(&self, addresses: &[Ipv6Addr], found: &mut [Slot], below: &Below) {
        let mut all = [0; LANES];
        for ((bits, address), slot) in all.iter_mut().zip(addresses).zip(found.iter_mut()) {
            *bits = address.to_bits();
            *slot = self.start(*bits).slot;
            if let Some(second) = self.second(*slot, *bits) {
                base::prefetch::prefetch(second);
            }
        }
        let (mut nodes, mut buckets) = (0_u64, 0_u64);
        for (lane, (slot, bits)) in found.iter_mut().zip(&all).enumerate() {
            *slot = self.further(*slot, *bits);
            below.prefetch(*slot);
            nodes |= u64::from(*slot >= NODE) << lane;
            buckets |= u64::from(!is_leaf(*slot)) << lane;
        }
        while nodes != 0 {
            let mut left = 0;
            for lane in places(nodes) {
                found[lane] = below.step(found[lane], all[lane]);
                below.prefetch(found[lane]);
                left |= u64::from(found[lane] >= NODE) << lane;
                buckets &= !(u64::from(is_leaf(found[lane])) << lane);
            }
            nodes = left;
        }
        let mut ends = [NOTHING; LANES];
        ends[..found.len()].copy_from_slice(found);
        let unsure = self.way.find(below.rows(), &all, buckets, found);
        places(unsure).for_each(|lane| below.prefetch_address(found[lane]));
        for lane in places(unsure) {
            found[lane] = below.compared(ends[lane], all[lane]);
        }
        for (leaf, bits) in found.iter_mut().zip(&all).filter(|(leaf, _)| **leaf == NOTHING) {
            *leaf = self.start(*bits).apart;
        }
    }

    /// Puts a prefix in.
    pub(super) fn insert(&mut self, new: Held, below: &mut Below) {
        if new.len() <= ROOT_BITS {
            for start in &mut self.root[covered(new.bits, new.len(), 0, ROOT_BITS)] {
                start.apart = start.apart.max(new.leaf);
            }
            return;
        }
        let start = part(new.bits, 0, ROOT_BITS);
        let slot = self.root[start].slot;
        if slot >= NODE {
            self.insert_in_block(index(slot), new, below);
            return;
        }
        let (_, mut all) = below.taken(slot);
        all.insert(all.partition_point(|held| held.leaf < new.leaf), new);
        self.root[start].slot = if below.fits(ROOT_BITS, &all) {
            below.put(NOTHING, ROOT_BITS, &all)
        } else {
            let block = self.keep_block();
            all.iter().for_each(|held| self.insert_in_block(block, *held, below));
            NODE + block as u32
        };
    }

    fn insert_in_block(&mut self, block: usize, new: Held, below: &mut Below) {
        if new.len() <= DEPTH {
            for slot in &mut self.blocks[block][covered(new.bits, new.len(), ROOT_BITS, BLOCK_BITS)] {
                *slot = below.cover(*slot, new.leaf);
            }
        } else {
            let slot = &mut self.blocks[block][part(new.bits, ROOT_BITS, BLOCK_BITS)];
            *slot = below.insert(*slot, DEPTH, new);
        }
    }

    /// Takes a prefix out.
    pub(super) fn remove(&mut self, mut gone: Gone, below: &mut Below) {
        let Held { bits, .. } = gone.held;
        let len = gone.held.len();
        if len <= ROOT_BITS {
            for start in &mut self.root[covered(bits, len, 0, ROOT_BITS)] {
                start.apart = gone.uncovered(start.apart);
            }
            return;
        }
        if rank(gone.cover) <= u32::from(ROOT_BITS) + 1 {
            gone.cover = NOTHING;
        }
        let start = part(bits, 0, ROOT_BITS);
        let slot = self.root[start].slot;
        if slot < NODE {
            self.root[start].slot = below.remove(slot, ROOT_BITS, &gone);
            return;
        }
        let block = index(slot);
        let slots = &mut self.blocks[block];
        if len <= DEPTH {
            for slot in &mut slots[covered(bits, len, ROOT_BITS, BLOCK_BITS)] {
                *slot = below.change_cover(*slot, &|old| gone.uncovered(old));
            }
        } else {
            let slot = &mut slots[part(bits, ROOT_BITS, BLOCK_BITS)];
            *slot = below.remove(*slot, DEPTH, &gone);
        }
        if let Some(left) = below.few_left(slots, ROOT_BITS, &gone) {
            slots.iter().filter(|slot| !is_leaf(**slot)).for_each(|slot| below.release_row(*slot));
            self.free.push(block as u32);
            self.root[start].slot = below.put(NOTHING, ROOT_BITS, &left);
        }
    }

    fn keep_block(&mut self) -> usize {
        match self.free.pop() {
            Some(index) => {
                self.blocks[index as usize].fill(NOTHING);
                index as usize
            }
            None => {
                self.blocks.push([NOTHING; SLOTS]);
                self.blocks.len() - 1
            }
        }
    }

    /// Does every address lead to nothing, and is no block kept?
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        let is_empty = |start: &Start| (start.slot, start.apart) == (NOTHING, NOTHING);
        self.root.iter().all(is_empty) && self.blocks.len() == self.free.len()
    }
}
