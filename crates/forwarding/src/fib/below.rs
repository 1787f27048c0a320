//! What is below a slot: nodes of four bits, and buckets of a few prefixes.
//!
//! Where few prefixes are, they stand in a bucket, each with its address and its leaf, and the last that has an address
//! in it is the longest. Where there are more, a node says for each of the next four bits what comes then; a prefix
//! that ends in a node is the leaf of all slots that it covers and that have nothing longer.

use super::pool::{self, Pool};
use super::prefixes::Prefixes;
use super::slot::{BUCKET, Held, NODE, NOTHING, Slot, at, bucket, count, covered, is_leaf, part, rank};

pub(super) const NODE_BITS: u8 = 4;
/// Prefixes that end in a bucket; one that covers all of it may stand there besides.
const MOST: usize = 8;
/// A node becomes a bucket again when it has so many.
const FEW: usize = 4;

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Node([Slot; 1 << NODE_BITS]);

/// A copy of a bucket to be changed: what covers it, those that end in it, and one more.
struct Few {
    held: [Held; MOST + 2],
    count: usize,
}

impl Few {
    fn of(row: &[Held]) -> Few {
        let mut few = Few { held: [Held::default(); MOST + 2], count: row.len() };
        few.held[..row.len()].copy_from_slice(row);
        few
    }
    fn row(&self) -> &[Held] {
        &self.held[..self.count]
    }
    fn insert(&mut self, place: usize, new: Held) {
        self.held.copy_within(place..self.count, place + 1);
        self.held[place] = new;
        self.count += 1;
    }
    fn remove(&mut self, place: usize) {
        self.held.copy_within(place + 1..self.count, place);
        self.count -= 1;
    }
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Below {
    nodes: Vec<Node>,
    free: Vec<u32>,
    held: Pool<Held>,
}

/// A prefix to be taken out.
pub(super) struct Gone<'a> {
    pub(super) bits: u32,
    pub(super) len: u8,
    /// What its addresses lead to then.
    pub(super) cover: Slot,
    /// Leaves below this one stand apart: they are in no bucket and in no node.
    pub(super) least: Slot,
    /// All that are left.
    pub(super) prefixes: &'a Prefixes,
}

impl Below {
    /// Where nodes lead an address to from a slot that stands for its first `depth` bits: a leaf, nothing or a bucket.
    #[inline(always)]
    pub(super) fn walk(&self, mut slot: Slot, bits: u32, depth: u8) -> Slot {
        let mut rest = bits << depth;
        while slot >= NODE {
            let Some(node) = self.nodes.get(at(slot)) else { return NOTHING };
            slot = node.0[part(rest, 0, NODE_BITS)];
            rest <<= NODE_BITS;
        }
        slot
    }

    /// The leaf of an address, or nothing, at the end of its way by nodes.
    #[inline]
    pub(super) fn longest(&self, end: Slot, bits: u32) -> Slot {
        if is_leaf(end) {
            return end;
        }
        let mut longest = NOTHING;
        for held in self.row(end) {
            longest = if held.contains(bits) { held.leaf } else { longest };
        }
        longest
    }

    /// The leaves of all buckets.
    pub(super) fn held(&self) -> &[Held] {
        self.held.all()
    }

    #[inline(always)]
    fn row(&self, slot: Slot) -> &[Held] {
        self.held.row(at(slot), count(slot))
    }

    /// What the next four bits behind bit `depth` lead to, if the slot is a node.
    #[inline(always)]
    pub(super) fn step(&self, slot: Slot, bits: u32, depth: u8) -> Slot {
        if slot < NODE {
            return slot;
        }
        self.nodes.get(at(slot)).map_or(NOTHING, |node| node.0[part(bits, depth, NODE_BITS)])
    }

    /// Asks for what a slot leads to.
    #[inline(always)]
    pub(super) fn prefetch(&self, slot: Slot) {
        if slot >= NODE {
            if let Some(node) = self.nodes.get(at(slot)) {
                base::prefetch::prefetch(node);
            }
        } else if slot >= BUCKET {
            base::prefetch::prefetch(self.held.row(at(slot), 1));
        }
    }

    /// What a slot is that stands for the first `depth` bits, with a prefix put in that is longer, or that has another
    /// leaf from now on.
    pub(super) fn insert(&mut self, slot: Slot, depth: u8, new: Held) -> Slot {
        debug_assert!(new.len() > depth, "a prefix that ends below");
        if slot >= NODE {
            self.insert_in_node(at(slot), depth, new);
            return slot;
        }
        if slot == NOTHING {
            return self.keep_row(&[new]);
        }
        if is_leaf(slot) {
            return self.keep_row(&[Held { bits: new.bits, leaf: slot }, new]);
        }
        let row = self.held.row_mut(at(slot), count(slot));
        if let Some(held) = row.iter_mut().find(|held| is_same(held, new.bits, rank(new.leaf))) {
            *held = new;
            return slot;
        }
        let mut all = Few::of(row);
        all.insert(row.partition_point(|held| rank(held.leaf) < rank(new.leaf)), new);
        self.release_row(slot);
        if all.row().iter().filter(|held| held.len() > depth).count() <= MOST {
            return self.keep_row(all.row());
        }
        let node = self.keep_node(Node([NOTHING; 1 << NODE_BITS]));
        for held in all.row() {
            if held.len() > depth {
                self.insert_in_node(node, depth, *held);
            } else {
                self.nodes[node].0.fill(held.leaf);
            }
        }
        NODE + node as u32
    }

    fn insert_in_node(&mut self, node: usize, depth: u8, new: Held) {
        let below = depth + NODE_BITS;
        if new.len() <= below {
            for place in covered(new.bits, new.len(), depth, NODE_BITS) {
                self.nodes[node].0[place] = self.cover(self.nodes[node].0[place], below, new.leaf);
            }
        } else {
            let place = part(new.bits, depth, NODE_BITS);
            self.nodes[node].0[place] = self.insert(self.nodes[node].0[place], below, new);
        }
    }

    /// What a slot is that stands for the first `depth` bits, with a prefix put in that covers all of it, or that has
    /// another leaf from now on.
    pub(super) fn cover(&mut self, slot: Slot, depth: u8, leaf: Slot) -> Slot {
        self.change_cover(slot, depth, &|old| if rank(old) <= rank(leaf) { leaf } else { old })
    }

    /// What a slot is when what covers all of it, or nothing, is something else.
    fn change_cover(&mut self, slot: Slot, depth: u8, change: &impl Fn(Slot) -> Slot) -> Slot {
        if is_leaf(slot) {
            return change(slot);
        }
        if slot >= NODE {
            for place in 0..1 << NODE_BITS {
                let below = self.nodes[at(slot)].0[place];
                self.nodes[at(slot)].0[place] = self.change_cover(below, depth + NODE_BITS, change);
            }
            return slot;
        }
        let row = self.held.row_mut(at(slot), count(slot));
        let Some(first) = row.first_mut() else { return slot };
        let is_covered = first.len() <= depth;
        let old = if is_covered { first.leaf } else { NOTHING };
        let new = change(old);
        if old == new || is_covered && new != NOTHING {
            first.leaf = if is_covered { new } else { first.leaf };
            return slot;
        }
        let cover = Held { bits: first.bits, leaf: new };
        let mut all = Few::of(row);
        self.release_row(slot);
        if is_covered {
            all.remove(0);
        } else {
            all.insert(0, cover);
        }
        self.keep_row(all.row())
    }

    /// What a slot is that stands for the first `depth` bits, without a prefix that is longer.
    pub(super) fn remove(&mut self, slot: Slot, depth: u8, gone: &Gone) -> Slot {
        debug_assert!(gone.len > depth, "a prefix that ends below");
        if slot < NODE {
            return if is_leaf(slot) { slot } else { self.remove_in_row(slot, depth, gone) };
        }
        let (node, below) = (at(slot), depth + NODE_BITS);
        if gone.len <= below {
            for place in covered(gone.bits, gone.len, depth, NODE_BITS) {
                self.nodes[node].0[place] = self.uncover(self.nodes[node].0[place], below, gone);
            }
        } else {
            let place = part(gone.bits, depth, NODE_BITS);
            self.nodes[node].0[place] = self.remove(self.nodes[node].0[place], below, gone);
        }
        self.joined(node, depth, gone).unwrap_or(slot)
    }

    fn remove_in_row(&mut self, slot: Slot, depth: u8, gone: &Gone) -> Slot {
        let row = self.row(slot);
        let Some(place) = row.iter().position(|held| is_same(held, gone.bits, u32::from(gone.len) + 1))
        else {
            return slot;
        };
        let mut all = Few::of(row);
        all.remove(place);
        self.release_row(slot);
        // A prefix that covers all, and is left alone, needs no bucket.
        match all.row() {
            [cover] if cover.len() <= depth => cover.leaf,
            all => self.keep_row(all),
        }
    }

    /// What a slot is that stands for the first `depth` bits, without a prefix that covered all of it.
    pub(super) fn uncover(&mut self, slot: Slot, depth: u8, gone: &Gone) -> Slot {
        let is_gone = |old| rank(old) == u32::from(gone.len) + 1;
        self.change_cover(slot, depth, &|old| if is_gone(old) { gone.cover } else { old })
    }

    /// What can stand in the place of a node behind bit `depth` in which few prefixes are left. The node is free then.
    fn joined(&mut self, node: usize, depth: u8, gone: &Gone) -> Option<Slot> {
        let slots = self.nodes[node].0;
        let is_own = |slot: &Slot| is_leaf(*slot) && rank(*slot) > u32::from(depth) + 1;
        // Nothing is looked up while there are more than could be left: a leaf is counted where it begins.
        let mut seen = 0;
        for (place, slot) in slots.iter().enumerate() {
            seen += match *slot {
                NODE.. => return None,
                BUCKET.. => self.row(*slot).iter().filter(|held| held.len() > depth + NODE_BITS).count(),
                _ => usize::from(is_own(slot) && (place == 0 || slots[place - 1] != *slot)),
            };
        }
        if seen > FEW {
            return None;
        }
        let left = gone.prefixes.within(gone.bits, depth, FEW)?;
        let cover = gone.prefixes.cover(gone.bits, depth + 1);
        for slot in slots.into_iter().filter(|slot| !is_leaf(*slot)) {
            self.release_row(slot);
        }
        self.free.push(node as u32);
        let cover = if cover < gone.least { NOTHING } else { cover };
        if left.is_empty() {
            return Some(cover);
        }
        let mut all = left;
        if cover != NOTHING {
            all.push(Held { bits: gone.bits, leaf: cover });
        }
        all.sort_by_key(|held| rank(held.leaf));
        Some(self.keep_row(&all))
    }

    /// A bucket of what is given; of nothing, nothing.
    fn keep_row(&mut self, row: &[Held]) -> Slot {
        if row.is_empty() { NOTHING } else { bucket(row.len(), self.held.keep(row)) }
    }

    fn release_row(&mut self, slot: Slot) {
        self.held.release(at(slot) as u32, count(slot));
    }

    fn keep_node(&mut self, node: Node) -> usize {
        if self.free.is_empty() {
            base::growth::make_room(&mut self.nodes, 1);
        }
        pool::keep_one(&mut self.nodes, &mut self.free, node) as usize
    }

    /// Nodes, and prefixes in buckets, that are in use, for tests of their release.
    #[cfg(test)]
    pub(super) fn used(&self) -> (usize, usize) {
        (self.nodes.len() - self.free.len(), self.held.used())
    }
}

/// Is it the prefix with these bits, whose length plus one is `rank_of`?
fn is_same(held: &Held, bits: u32, rank_of: u32) -> bool {
    held.bits == bits && rank(held.leaf) == rank_of
}
