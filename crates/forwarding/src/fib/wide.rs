//! A large table: a cache line for each /18, which has what its 64 /24 lead to.
//!
//! Neighbouring /24 often lead to the same, or to nothing. A line has a bit for each /24 that leads anywhere, a bit for
//! each with which something else begins, and a slot for each of those: the slot of an address is found by counting
//! bits, in the same line. What does not fit in stands elsewhere.
//!
//! Prefixes of at most 18 bits stand apart, one in each line, for all of its addresses that find nothing longer. A /8
//! that comes or goes touches 1,024 lines and not 65,536 slots, which bounds the time of an update.

use super::below::{Below, Gone};
use super::machine::{LANES, Lines, Table, Way};
use super::places;
use super::pool::Pool;
use super::slot::{BUCKET, Held, MORE, NODE, NOTHING, Slot, at, covered, leaf, part, rank};
use core::net::Ipv4Addr;

/// Bits of an address that choose a line.
pub(super) const BLOCK_BITS: u8 = 18;
pub(super) const LINES: usize = 1 << BLOCK_BITS;
/// Bits that lines decide on.
const WIDE_BITS: u8 = 24;
const PART_BITS: u8 = WIDE_BITS - BLOCK_BITS;
/// A slot for each /24 of a line.
type Parts = [Slot; 1 << PART_BITS];
/// Slots of a line.
pub(super) const SLOTS: usize = 12;
const LAST: usize = SLOTS - 1;
/// The least leaf of a prefix that does not stand apart.
const LEAST: Slot = leaf(BLOCK_BITS + 1, 0);

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Line {
    /// A bit for each /24 with which another slot begins.
    pub(super) starts: u64,
    /// A bit for each /24 that leads to something.
    pub(super) present: u64,
    /// What stands apart, then the slots in order. Where there are too many, the last one says where the rest is.
    pub(super) slots: [Slot; SLOTS],
}

const _: () = assert!(size_of::<Line>() == 64);

impl Line {
    /// The number of the slot for an address, from 1 on, or 0 for what stands apart.
    #[inline(always)]
    fn rank(&self, bits: u32) -> usize {
        let place = part(bits, BLOCK_BITS, PART_BITS);
        let rank = (self.starts << (63 - place)).count_ones() as usize;
        if self.present >> place & 1 == 0 { 0 } else { rank }
    }

    /// Where the slot for an address is, if the last of the line says that it is outside.
    #[inline(always)]
    pub(super) fn outside(&self, last: Slot, bits: u32) -> usize {
        at(last) + self.rank(bits).saturating_sub(LAST)
    }
}

/// What the line of an address says of it.
#[inline(always)]
pub(super) fn first(lines: &[Line; LINES], bits: u32) -> Slot {
    let line = &lines[block_of(bits)];
    line.slots[line.rank(bits).min(LAST)]
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Wide {
    lines: Lines,
    more: Pool<Slot>,
    pub(super) way: Way,
}

impl Wide {
    /// Of prefixes in order.
    pub(super) fn new<'a>(all: impl Iterator<Item = &'a Held>, below: &mut Below) -> Wide {
        let mut wide = Wide { lines: Lines::new(), more: Pool::default(), way: Way::fastest() };
        let (mut block, mut parts) = (0, [NOTHING; 1 << PART_BITS]);
        for held in all {
            if held.len() <= BLOCK_BITS {
                wide.insert(*held, below);
                continue;
            }
            let its = block_of(held.bits);
            if its != block {
                wide.put(block, &parts);
                (block, parts) = (its, [NOTHING; 1 << PART_BITS]);
            }
            insert_in(&mut parts, *held, below);
        }
        wide.put(block, &parts);
        wide
    }

    #[inline(always)]
    fn line(&self, bits: u32) -> &Line {
        &self.lines[block_of(bits)]
    }

    /// The leaf of an address, or nothing.
    #[inline(always)]
    pub(super) fn find(&self, bits: u32, below: &Below) -> Slot {
        match self.way.first(&self.lines, bits) {
            slot @ BUCKET.. => self.deeper(slot, bits, below),
            slot => slot,
        }
    }

    /// What a slot of a line that is no leaf leads to.
    #[inline(never)]
    fn deeper(&self, slot: Slot, bits: u32, below: &Below) -> Slot {
        let end = below.walk(self.outside(slot, bits), bits, WIDE_BITS);
        match below.longest(end, bits) {
            NOTHING => self.line(bits).slots[0],
            leaf => leaf,
        }
    }

    /// The slot for an address, if the one in its line says that it is outside.
    #[inline(always)]
    fn outside(&self, slot: Slot, bits: u32) -> Slot {
        match slot {
            MORE..NODE => {
                let outside = self.more.all().get(self.line(bits).outside(slot, bits));
                outside.copied().unwrap_or(NOTHING)
            }
            _ => slot,
        }
    }

    /// The leaves of many addresses. All lines are asked for before the first is looked at, and so is what they lead
    /// to: where one waits for the memory, others go on.
    pub(super) fn find_all(&self, addresses: &[Ipv4Addr], found: &mut [Slot], below: &Below) {
        let (addresses, last) = addresses.as_chunks::<LANES>();
        let (found, last_found) = found.split_at_mut((addresses.len() * LANES).min(found.len()));
        for (addresses, found) in addresses.iter().zip(found.as_chunks_mut::<LANES>().0) {
            self.find_some(addresses, LANES, found, below);
        }
        if !last.is_empty() {
            let (mut addresses, mut slots) = ([Ipv4Addr::UNSPECIFIED; LANES], [NOTHING; LANES]);
            addresses[..last.len()].copy_from_slice(last);
            self.find_some(&addresses, last.len(), &mut slots, below);
            last_found.iter_mut().zip(slots).for_each(|(found, slot)| *found = slot);
        }
    }

    fn find_some(
        &self,
        addresses: &[Ipv4Addr; LANES],
        count: usize,
        slots: &mut [Slot; LANES],
        below: &Below,
    ) {
        let table = Table { lines: &self.lines, more: self.more.all(), held: below.held() };
        let deeper = self.way.look(table, addresses, count, slots);
        if deeper == 0 {
            return;
        }
        for lane in places(deeper) {
            match slots[lane] {
                MORE..NODE => base::prefetch::prefetch(self.more.row(at(slots[lane]), 1)),
                slot => below.prefetch(slot),
            }
        }
        for lane in places(deeper) {
            slots[lane] = self.deeper(slots[lane], addresses[lane].to_bits(), below);
        }
    }

    /// Puts a prefix in, or gives it another leaf.
    pub(super) fn insert(&mut self, new: Held, below: &mut Below) {
        if new.len() <= BLOCK_BITS {
            for line in &mut self.lines[covered(new.bits, new.len(), 0, BLOCK_BITS)] {
                if rank(line.slots[0]) <= rank(new.leaf) {
                    line.slots[0] = new.leaf;
                }
            }
            return;
        }
        let block = block_of(new.bits);
        let mut parts = self.parts(block);
        insert_in(&mut parts, new, below);
        self.put(block, &parts);
    }

    /// Takes a prefix out.
    pub(super) fn remove(&mut self, mut gone: Gone, below: &mut Below) {
        let is_gone = |slot| rank(slot) == u32::from(gone.len) + 1;
        if gone.len <= BLOCK_BITS {
            for line in &mut self.lines[covered(gone.bits, gone.len, 0, BLOCK_BITS)] {
                if is_gone(line.slots[0]) {
                    line.slots[0] = gone.cover;
                }
            }
            return;
        }
        gone.least = LEAST;
        if gone.cover < LEAST {
            gone.cover = NOTHING;
        }
        let block = block_of(gone.bits);
        let mut parts = self.parts(block);
        if gone.len <= WIDE_BITS {
            for slot in &mut parts[covered(gone.bits, gone.len, BLOCK_BITS, PART_BITS)] {
                *slot = below.uncover(*slot, WIDE_BITS, &gone);
            }
        } else {
            let slot = &mut parts[part(gone.bits, BLOCK_BITS, PART_BITS)];
            *slot = below.remove(*slot, WIDE_BITS, &gone);
        }
        self.put(block, &parts);
    }

    /// What each /24 of a line leads to.
    fn parts(&self, block: usize) -> Parts {
        let line = &self.lines[block];
        let first = (block as u32) << (32 - BLOCK_BITS);
        let mut parts = [NOTHING; 1 << PART_BITS];
        for place in places(line.present) {
            let bits = first | (place as u32) << (32 - WIDE_BITS);
            parts[place] = self.outside(line.slots[line.rank(bits).min(LAST)], bits);
        }
        parts
    }

    fn put(&mut self, block: usize, parts: &Parts) {
        let line = &mut self.lines[block];
        if let MORE..NODE = line.slots[LAST] {
            self.more.release(at(line.slots[LAST]) as u32, line.starts.count_ones() as usize - (LAST - 1));
        }
        (line.starts, line.present) = (0, 0);
        let (mut all, mut count, mut last) = ([NOTHING; 1 << PART_BITS], 0, NOTHING);
        for (place, slot) in parts.iter().enumerate().filter(|(_, slot)| **slot != NOTHING) {
            line.present |= 1 << place;
            if *slot != last {
                line.starts |= 1 << place;
                all[count] = *slot;
                (count, last) = (count + 1, *slot);
            }
        }
        line.slots[1..].copy_from_slice(&all[..LAST]);
        if count > LAST {
            line.slots[LAST] = MORE + self.more.keep(&all[LAST - 1..count]);
        }
    }

    /// Does every address lead to nothing, and is nothing kept?
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        let is_empty = |line: &Line| line.present == 0 && line.slots[0] == NOTHING;
        self.lines.iter().all(is_empty) && self.more.used() == 0
    }
}

/// The line of an address.
#[inline(always)]
pub(super) fn block_of(bits: u32) -> usize {
    (bits >> (32 - BLOCK_BITS)) as usize
}

/// Puts a prefix of more than 18 bits into the slots of its line.
fn insert_in(parts: &mut Parts, new: Held, below: &mut Below) {
    if new.len() <= WIDE_BITS {
        for slot in &mut parts[covered(new.bits, new.len(), BLOCK_BITS, PART_BITS)] {
            *slot = below.cover(*slot, WIDE_BITS, new.leaf);
        }
    } else {
        let slot = &mut parts[part(new.bits, BLOCK_BITS, PART_BITS)];
        *slot = below.insert(*slot, WIDE_BITS, new);
    }
}
