//! A bucket of a large table: up to 15 prefixes that begin with the same bits, in a row of words.
//!
//! Of each prefix 32 bits stand in the row, behind those that all have in common: enough to tell those apart that
//! providers announce. Of one that is longer, its whole address is looked at when those 32 agree.
//!
//! | words | |
//! |---|---|
//! | 1 | how many bits all have in common, and the number of prefixes |
//! | 1 | the leaf of the longest prefix that covers the whole bucket, or nothing |
//! | one for each prefix | its 32 bits |
//! | one for each prefix | its leaf: the shortest prefix first |
//!
//! A row has a multiple of four words, so that few of them are in more cache lines than they need.

use super::slot::{BUCKET, Held, NODE, NOTHING, Slot, rank};
use crate::fib::pool::Pool;

/// Prefixes of a bucket: so many fit in two cache lines, and are compared at once.
pub(super) const MOST: usize = 15;
/// Of them those of which the 32 bits are not all: their addresses stand elsewhere.
pub(super) const LONG: usize = 2;
/// Bits of a prefix that stand in a row.
pub(super) const WINDOW: u8 = 32;
const HEAD: usize = 2;
const UNIT: usize = 4;
const WORDS: usize = HEAD + 2 * MOST;
/// A row without prefixes: the first one, for slots that lead to none.
pub(super) const EMPTY: [u32; UNIT] = [0; UNIT];
/// Most rows have no more.
pub(super) const USUAL_BYTES: usize = 192;

const _: () = assert!(WORDS.is_multiple_of(UNIT));

/// Where the row of a slot begins; the empty one, if it is no bucket.
#[inline(always)]
pub(super) const fn first(slot: Slot) -> usize {
    let is_bucket = slot.wrapping_sub(BUCKET) < NODE - BUCKET;
    if is_bucket { (slot - BUCKET) as usize } else { 0 }
}

/// Of an address the 32 bits behind the first `depth`, of which there are fewer than 128.
#[inline(always)]
pub(super) const fn window(bits: u128, depth: u8) -> u32 {
    (bits << depth >> (128 - WINDOW as u32)) as u32
}

/// Is the prefix of a leaf longer than what stands of it in a bucket for the first `depth` bits?
#[inline(always)]
pub(super) const fn is_long(leaf: Slot, depth: u8) -> bool {
    rank(leaf) > depth as u32 + WINDOW as u32 + 1
}

/// Is the prefix of a leaf longer than `depth` bits?
#[inline(always)]
pub(super) const fn is_within(leaf: Slot, depth: u8) -> bool {
    rank(leaf) > depth as u32 + 1
}

/// See the module.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    words: &'a [u32],
    pub(super) depth: u8,
}

impl<'a> Row<'a> {
    /// The row of a slot; the empty one, if it is no bucket.
    #[inline(always)]
    pub(super) fn at(rows: &'a [u32], slot: Slot) -> Row<'a> {
        let all = rows.get(first(slot)..).unwrap_or(&EMPTY);
        let head = all.first().copied().unwrap_or_default();
        let len = HEAD + 2 * (head >> 8) as usize;
        Row { words: all.get(..len).unwrap_or(&EMPTY[..HEAD]), depth: head as u8 }
    }

    #[inline(always)]
    pub(super) fn cover(self) -> Slot {
        self.words[1]
    }

    #[inline(always)]
    pub(super) fn keys(self) -> &'a [u32] {
        &self.words[HEAD..HEAD + (self.words.len() - HEAD) / 2]
    }

    #[inline(always)]
    pub(super) fn leaves(self) -> &'a [Slot] {
        &self.words[HEAD + (self.words.len() - HEAD) / 2..]
    }

    /// Words, with those that nothing stands in.
    pub(super) fn len(self) -> usize {
        self.words.len().next_multiple_of(UNIT)
    }

    /// The leaf of the longest prefix with an address, and whether the 32 bits were all there is of it.
    #[inline(always)]
    pub(super) fn find(self, bits: u128) -> (Slot, bool) {
        let (window, base) = (window(bits, self.depth), u32::from(self.depth) + u32::from(WINDOW) + 1);
        let mut found = self.cover();
        for (key, leaf) in self.keys().iter().zip(self.leaves()) {
            let differs = (key ^ window) >> (base.saturating_sub(rank(*leaf)) & 31);
            found = if differs == 0 { *leaf } else { found };
        }
        (found, !is_long(found, self.depth))
    }
}

/// The words of a row for the first `depth` bits, and how many there are.
pub(super) fn words(cover: Slot, depth: u8, all: &[Held]) -> ([u32; WORDS], usize) {
    let (mut words, count) = ([NOTHING; WORDS], all.len());
    words[0] = u32::from(depth) | (count as u32) << 8;
    words[1] = cover;
    for (place, held) in all.iter().enumerate() {
        words[HEAD + place] = window(held.bits, depth);
        words[HEAD + count + place] = held.leaf;
    }
    (words, (HEAD + 2 * count).next_multiple_of(UNIT))
}

/// The leaf of what covers a bucket.
pub(super) fn cover_mut(rows: &mut Pool<u32>, slot: Slot) -> Option<&mut Slot> {
    rows.row_mut(first(slot), HEAD).last_mut()
}
