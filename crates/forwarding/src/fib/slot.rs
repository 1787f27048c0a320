//! What stands in a slot of the tree: a number that says what the addresses of the slot lead to.
//!
//! The highest six bits say what the rest is:
//!
//! | | |
//! |---|---|
//! | 0 | nothing |
//! | 1 to 33 | a leaf: the length of a prefix, plus one, and the place of what is known of it |
//! | 34 to 61 | a bucket of 1 to 28 leaves, and where they are |
//! | 62 | the slots of a line that did not fit in, and where they are |
//! | 63 | a node, and its number |
//!
//! A longer prefix has the larger leaf, whatever its place.

/// See the module.
pub(super) type Slot = u32;

pub(super) const NOTHING: Slot = 0;
/// Number of bits that say where.
pub(super) const WHERE_BITS: u32 = 26;
const WHERE: u32 = (1 << WHERE_BITS) - 1;
/// The first slot that is no leaf.
pub(super) const BUCKET: Slot = 34 << WHERE_BITS;
pub(super) const MORE: Slot = 62 << WHERE_BITS;
pub(super) const NODE: Slot = 63 << WHERE_BITS;

/// A leaf of a prefix of `len` bits.
#[inline]
pub(super) const fn leaf(len: u8, place: u32) -> Slot {
    debug_assert!(len <= 32 && place <= WHERE, "a length, and a place");
    (len as u32 + 1) << WHERE_BITS | place
}

/// The length of the prefix of a leaf.
#[inline]
pub(super) fn len(leaf: Slot) -> u8 {
    debug_assert!(is_leaf(leaf) && leaf != NOTHING, "a leaf");
    (rank(leaf) - 1) as u8
}

/// A bucket of `count` leaves.
#[inline(always)]
pub(super) fn bucket(count: usize, at: u32) -> Slot {
    debug_assert!((1..=28).contains(&count) && at <= WHERE, "as many as a slot can tell");
    BUCKET + ((count as u32 - 1) << WHERE_BITS) + at
}

#[inline(always)]
pub(super) fn is_leaf(slot: Slot) -> bool {
    slot < BUCKET
}

/// Is it a leaf, and not nothing?
#[inline(always)]
pub(super) fn is_found(slot: Slot) -> bool {
    slot.wrapping_sub(1) < BUCKET - 1
}

/// What the highest bits are: of a leaf the length of its prefix, plus one, and of nothing zero.
#[inline(always)]
pub(super) fn rank(slot: Slot) -> u32 {
    slot >> WHERE_BITS
}

/// The number, or the place.
#[inline(always)]
pub(super) fn at(slot: Slot) -> usize {
    (slot & WHERE) as usize
}

/// How many leaves a bucket has.
#[inline(always)]
pub(super) fn count(bucket: Slot) -> usize {
    (rank(bucket) - rank(BUCKET) + 1) as usize
}

/// The `count` bits of an address from bit `depth` on, with 1 to 31 of them in all.
#[inline(always)]
pub(super) fn part(bits: u32, depth: u8, count: u8) -> usize {
    (bits << depth >> (32 - u32::from(count))) as usize
}

/// The parts of `count` bits from bit `depth` on that a prefix covers which ends in them.
pub(super) fn covered(bits: u32, len: u8, depth: u8, count: u8) -> core::ops::Range<usize> {
    let first = part(bits, depth, count);
    first..first + (1 << (depth + count).saturating_sub(len))
}

/// An address without the bits behind the first `len`.
#[inline(always)]
pub(super) fn cut(bits: u32, len: u8) -> u32 {
    bits & !u32::MAX.checked_shr(len.into()).unwrap_or(0)
}

/// A prefix, as its first address and its leaf, in which its length is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Held {
    pub(super) bits: u32,
    pub(super) leaf: Slot,
}

impl Held {
    pub(super) fn len(self) -> u8 {
        len(self.leaf)
    }

    /// Does the prefix have an address in it?
    #[inline(always)]
    pub(super) fn contains(self, bits: u32) -> bool {
        // The bits that count are moved to the 33rd and above.
        u64::from(self.bits ^ bits) << rank(self.leaf) >> 33 == 0
    }
}

impl super::pool::Link for Held {
    fn of(link: u32) -> Held {
        Held { bits: 0, leaf: link }
    }
    fn link(self) -> u32 {
        self.leaf
    }
}
