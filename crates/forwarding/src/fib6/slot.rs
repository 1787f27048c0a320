//! What stands in a slot of the tree of IPv6: a number that says what the addresses of the slot lead to.
//!
//! | from | |
//! |---|---|
//! | 0 | nothing |
//! | 1 x 2^23 | a leaf: the length of a prefix, plus one, in front of 23 bits with the place of what is known of it |
//! | 130 x 2^23 | a bucket, and where it is |
//! | 2^31 | a node, and its number; in the root of a large table a block |
//!
//! A longer prefix has the larger leaf, whatever its place.

/// See the module.
pub(super) type Slot = u32;

pub(super) const NOTHING: Slot = 0;
/// Number of bits that say where.
pub(super) const WHERE_BITS: u32 = 23;
const WHERE: u32 = (1 << WHERE_BITS) - 1;
/// The first slot that is no leaf.
pub(super) const BUCKET: Slot = 130 << WHERE_BITS;
pub(super) const NODE: Slot = 1 << 31;

/// The most prefixes that a table of IPv6 can have.
pub(crate) const PREFIXES6_MAX: usize = WHERE as usize;

/// Bits that a node decides on.
pub(super) const STRIDE: u8 = 4;

/// A leaf of a prefix of `len` bits.
#[inline]
pub(super) const fn leaf(len: u8, place: u32) -> Slot {
    debug_assert!(len <= 128 && place <= WHERE, "a length, and a place");
    (len as u32 + 1) << WHERE_BITS | place
}

#[inline(always)]
pub(super) const fn is_leaf(slot: Slot) -> bool {
    slot < BUCKET
}

/// Of a leaf the length of its prefix, plus one, and of nothing zero.
#[inline(always)]
pub(super) const fn rank(slot: Slot) -> u32 {
    slot >> WHERE_BITS
}

/// The number of a node or a block.
#[inline(always)]
pub(super) const fn index(node: Slot) -> usize {
    (node & !NODE) as usize
}

/// The place of what is known of the prefix of a leaf.
#[inline(always)]
pub(super) const fn place(leaf: Slot) -> u32 {
    leaf & WHERE
}

/// The first `bits` bits.
#[inline(always)]
pub(super) const fn mask(bits: u8) -> u128 {
    match u128::MAX.checked_shl(128 - bits as u32) {
        Some(mask) => mask,
        None => 0,
    }
}

/// The four bits of an address at `at`.
#[inline(always)]
pub(super) const fn nibble(bits: u128, at: u8) -> usize {
    (bits << at >> (128 - STRIDE)) as usize
}

/// The `count` bits of an address from bit `depth` on: at least one of them, and at most 127 in all.
#[inline(always)]
pub(super) const fn part(bits: u128, depth: u8, count: u8) -> usize {
    (bits << depth >> (128 - count as u32)) as usize
}

/// The parts of `count` bits from bit `depth` on that a prefix covers which ends in them.
pub(super) fn covered(bits: u128, len: u8, depth: u8, count: u8) -> core::ops::Range<usize> {
    let first = part(bits, depth, count);
    first..first + (1 << (depth + count).saturating_sub(len))
}

/// Where the node stands that a prefix of `len` bits ends in.
pub(super) const fn level(len: u8) -> u8 {
    len.saturating_sub(1) / STRIDE * STRIDE
}

/// How many bits two addresses begin with alike, as a multiple of those of a node.
pub(super) const fn common(a: u128, b: u128) -> u8 {
    (a ^ b).leading_zeros() as u8 / STRIDE * STRIDE
}

/// A prefix, as its first address and its leaf, in which its length is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) bits: u128,
    pub(super) leaf: Slot,
}

impl Held {
    pub(super) fn len(self) -> u8 {
        debug_assert!(is_leaf(self.leaf) && self.leaf != NOTHING, "a leaf");
        (rank(self.leaf) - 1) as u8
    }

    /// Does the prefix have an address in it?
    #[inline]
    pub(super) fn contains(self, bits: u128) -> bool {
        (bits ^ self.bits) & mask(self.len()) == 0
    }
}
