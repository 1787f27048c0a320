//! What is below a slot: nodes of four bits, and, in a large table, buckets of a few prefixes.
//!
//! IPv6 addresses of one network begin alike, so a node says itself at which bit it stands, and which bits an address
//! must have in front of that. There is a node where prefixes differ and where one ends, and none in between. An
//! address that leaves the path to a node takes the node's leaf: the longest prefix that covers the path. A prefix that
//! ends in a node is the leaf of all slots that it covers and that have nothing longer.

use super::prefixes::Prefixes;
use super::row::{self, LONG, MOST, Row};
use super::slot::{
    BUCKET, Held, NODE, NOTHING, STRIDE, Slot, common, covered, index, is_leaf, level, mask, nibble, place,
};
use crate::fib::pool::{self, Pool};

const SLOTS: usize = 1 << STRIDE;
/// A node becomes a bucket again when it has so many prefixes.
pub(super) const FEW: usize = MOST / 2;

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Node {
    slots: [Slot; SLOTS],
    /// The bits in front of those that the node decides on; zeros behind them.
    key: u128,
    /// What addresses take that have other bits there.
    leaf: Slot,
    /// Where the bits are that the node decides on: a multiple of [`STRIDE`].
    at: u8,
}

impl Node {
    fn new(key: u128, at: u8, fill: Slot) -> Node {
        Node { slots: [fill; SLOTS], key: key & mask(at), leaf: fill, at }
    }

    /// Where an address goes on; a leaf where it leaves the path.
    #[inline(always)]
    pub(super) fn next(&self, bits: u128) -> Slot {
        if (bits ^ self.key) & mask(self.at) != 0 { self.leaf } else { self.slots[nibble(bits, self.at)] }
    }
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Below {
    nodes: Vec<Node>,
    free: Vec<u32>,
    /// Words of buckets.
    rows: Pool<u32>,
    /// In a large table: the address of the prefix with each place.
    addresses: Vec<u128>,
    is_wide: bool,
}

/// A prefix to be taken out.
pub(super) struct Gone<'a> {
    pub(super) held: Held,
    /// What its addresses lead to then.
    pub(super) cover: Slot,
    /// All that are left.
    pub(super) prefixes: &'a Prefixes,
}

impl Gone<'_> {
    /// What a leaf is without the prefix.
    pub(super) fn uncovered(&self, old: Slot) -> Slot {
        if old == self.held.leaf { self.cover } else { old }
    }
}

impl Below {
    /// Of a large table.
    pub(super) fn wide() -> Below {
        let mut below = Below { is_wide: true, ..Below::default() };
        below.rows.keep(&row::EMPTY);
        below
    }

    #[inline(always)]
    fn node(&self, slot: Slot) -> Option<&Node> {
        if slot & NODE == 0 { None } else { self.nodes.get(index(slot)) }
    }

    /// Where nodes lead an address to from a slot: a leaf, nothing or a bucket.
    #[inline(always)]
    pub(super) fn walk(&self, mut slot: Slot, bits: u128) -> Slot {
        while slot & NODE != 0 {
            let Some(node) = self.nodes.get(index(slot)) else { return NOTHING };
            slot = node.next(bits);
        }
        slot
    }

    /// What the next node leads to, if the slot is one.
    #[inline(always)]
    pub(super) fn step(&self, slot: Slot, bits: u128) -> Slot {
        self.node(slot).map_or(slot, |node| node.next(bits))
    }

    /// The leaf of an address, or nothing, at the end of its way by nodes.
    #[inline]
    pub(super) fn longest(&self, end: Slot, bits: u128) -> Slot {
        if is_leaf(end) { end } else { self.longest_of_row(end, bits) }
    }

    #[inline(never)]
    fn longest_of_row(&self, slot: Slot, bits: u128) -> Slot {
        let row = self.row(slot);
        let (found, is_sure) = row.find(bits);
        if is_sure { found } else { self.compared(slot, bits) }
    }

    /// The leaf of an address in a bucket, where the bits that stand there don't tell.
    #[inline(never)]
    pub(super) fn compared(&self, slot: Slot, bits: u128) -> Slot {
        let row = self.row(slot);
        let longest = row.leaves().iter().rev().find(|leaf| self.held(**leaf).contains(bits));
        longest.copied().unwrap_or(row.cover())
    }

    fn held(&self, leaf: Slot) -> Held {
        let bits = self.addresses.get(place(leaf) as usize).copied();
        Held { bits: bits.unwrap_or_default(), leaf }
    }

    #[inline(always)]
    fn row(&self, slot: Slot) -> Row<'_> {
        Row::at(self.rows.all(), slot)
    }

    /// The words of all buckets.
    #[inline(always)]
    pub(super) fn rows(&self) -> &[u32] {
        self.rows.all()
    }

    /// Asks for the node or the bucket that a slot leads to. Without a branch: a wrong guess would wait for the memory
    /// that said which of them it is.
    #[inline(always)]
    pub(super) fn prefetch(&self, slot: Slot) {
        if let Some(row) = self.rows.all().get(row::first(slot)) {
            base::prefetch::prefetch_bytes(row, row::USUAL_BYTES);
        }
        self.prefetch_node(if slot >= NODE { slot } else { NODE });
    }

    /// Asks for the node that a slot leads to, if it is one.
    #[inline(always)]
    pub(super) fn prefetch_node(&self, slot: Slot) {
        if let Some(node) = self.node(slot) {
            base::prefetch::prefetch_bytes(node, size_of::<Node>());
        }
    }

    /// Asks for the address of the prefix of a leaf.
    pub(super) fn prefetch_address(&self, leaf: Slot) {
        if let Some(address) = self.addresses.get(place(leaf) as usize) {
            base::prefetch::prefetch(address);
        }
    }

    /// A prefix stands in the table from now on.
    pub(super) fn know(&mut self, new: Held) {
        let place = place(new.leaf) as usize;
        if self.is_wide {
            if self.addresses.len() <= place {
                let more = place + 1 - self.addresses.len();
                base::growth::make_room(&mut self.addresses, more);
                self.addresses.resize(place + 1, 0);
            }
            self.addresses[place] = new.bits;
        }
    }

    /// What a slot is that stands for the first `depth` bits, with a prefix put in that is longer.
    pub(super) fn insert(&mut self, slot: Slot, depth: u8, new: Held) -> Slot {
        debug_assert!(new.len() > depth, "a prefix that ends below");
        if slot >= NODE {
            return self.insert_from_node(slot, new);
        }
        let (cover, mut all) = self.taken(slot);
        all.insert(all.partition_point(|held| held.leaf < new.leaf), new);
        self.put(cover, depth, &all)
    }

    /// What is in a bucket, which is free then, or the leaf: what covers all of it, and prefixes by length.
    pub(super) fn taken(&mut self, slot: Slot) -> (Slot, Vec<Held>) {
        if is_leaf(slot) {
            return (slot, Vec::new());
        }
        let row = self.row(slot);
        let (cover, all) = (row.cover(), row.leaves().iter().map(|leaf| self.held(*leaf)).collect());
        self.release_row(slot);
        (cover, all)
    }

    /// Can prefixes stand in a bucket for the first `depth` bits?
    pub(super) fn fits(&self, depth: u8, all: &[Held]) -> bool {
        let long = all.iter().filter(|held| row::is_long(held.leaf, depth)).count();
        self.is_wide && all.len() <= MOST && long <= LONG
    }

    /// A slot for the first `depth` bits with prefixes that are longer, by length, and what covers all of it.
    pub(super) fn put(&mut self, cover: Slot, depth: u8, all: &[Held]) -> Slot {
        let Some(first) = all.first() else { return cover };
        if self.fits(depth, all) {
            let (words, len) = row::words(cover, depth, all);
            return BUCKET + self.rows.keep(&words[..len]);
        }
        let until = all.iter().map(|held| level(held.len()).min(common(first.bits, held.bits)));
        let node = self.keep_node(Node::new(first.bits, until.min().unwrap_or(depth), cover));
        all.iter().for_each(|held| self.insert_in_node(node, *held));
        NODE + node as u32
    }

    fn insert_from_node(&mut self, slot: Slot, new: Held) -> Slot {
        let node = index(slot);
        let Node { key, at, leaf, .. } = self.nodes[node];
        let common = common(new.bits, key).min(level(new.len())).min(at);
        if common == at {
            self.insert_in_node(node, new);
            return slot;
        }
        // The path to the node is left, or the prefix ends on it.
        let mut between = Node::new(key, common, leaf);
        between.slots[nibble(key, common)] = slot;
        let node = self.keep_node(between);
        self.insert_in_node(node, new);
        NODE + node as u32
    }

    fn insert_in_node(&mut self, node: usize, new: Held) {
        let at = self.nodes[node].at;
        if level(new.len()) == at {
            for place in covered(new.bits, new.len(), at, STRIDE) {
                self.nodes[node].slots[place] = self.cover(self.nodes[node].slots[place], new.leaf);
            }
        } else {
            let place = nibble(new.bits, at);
            self.nodes[node].slots[place] = self.insert(self.nodes[node].slots[place], at + STRIDE, new);
        }
    }

    /// What a slot is with a prefix put in that covers all of it.
    pub(super) fn cover(&mut self, slot: Slot, leaf: Slot) -> Slot {
        self.change_cover(slot, &|old| leaf.max(old))
    }

    /// What a slot is when leaves in and below it change.
    pub(super) fn change_cover(&mut self, slot: Slot, change: &impl Fn(Slot) -> Slot) -> Slot {
        if is_leaf(slot) {
            return change(slot);
        }
        if slot < NODE {
            if let Some(cover) = row::cover_mut(&mut self.rows, slot) {
                *cover = change(*cover);
            }
            return slot;
        }
        let node = index(slot);
        self.nodes[node].leaf = change(self.nodes[node].leaf);
        for place in 0..SLOTS {
            self.nodes[node].slots[place] = self.change_cover(self.nodes[node].slots[place], change);
        }
        slot
    }

    /// What a slot is that stands for the first `depth` bits, without a prefix that is longer.
    pub(super) fn remove(&mut self, slot: Slot, depth: u8, gone: &Gone) -> Slot {
        let (bits, len) = (gone.held.bits, gone.held.len());
        debug_assert!(len > depth, "a prefix that ends below");
        if slot < NODE {
            let (cover, mut all) = self.taken(slot);
            all.retain(|held| held.leaf != gone.held.leaf);
            return self.put(cover, depth, &all);
        }
        let node = index(slot);
        let at = self.nodes[node].at;
        debug_assert!((bits ^ self.nodes[node].key) & mask(at) == 0 && level(len) >= at, "it is there");
        if level(len) == at {
            for place in covered(bits, len, at, STRIDE) {
                let slot = self.nodes[node].slots[place];
                self.nodes[node].slots[place] = self.change_cover(slot, &|old| gone.uncovered(old));
            }
        } else {
            let place = nibble(bits, at);
            self.nodes[node].slots[place] = self.remove(self.nodes[node].slots[place], at + STRIDE, gone);
        }
        self.joined(node, depth, gone).unwrap_or(slot)
    }

    /// What can stand in the place of a node that says little, for the first `depth` bits. The node is free then.
    fn joined(&mut self, node: usize, depth: u8, gone: &Gone) -> Option<Slot> {
        let Node { slots, leaf, .. } = self.nodes[node];
        let mut others = slots.into_iter().filter(|slot| *slot != leaf);
        let instead = match (others.next(), others.next()) {
            (None, _) => leaf,
            // One child, whose path from here on nothing but the same leaf surrounds.
            (Some(child), None) if self.node(child).is_some_and(|child| child.leaf == leaf) => child,
            _ => {
                let left = self.few_left(&slots, depth, gone)?;
                slots.into_iter().filter(|slot| !is_leaf(*slot)).for_each(|slot| self.release_row(slot));
                self.put(leaf, depth, &left)
            }
        };
        self.free.push(node as u32);
        Some(instead)
    }

    /// What slots lead to for the first `depth` bits, by length, if a bucket can have it.
    pub(super) fn few_left(&self, slots: &[Slot], depth: u8, gone: &Gone) -> Option<Vec<Held>> {
        // Nothing is looked up while there are more than could be left: a leaf is counted where it begins.
        let (mut seen, mut last) = (0, NOTHING);
        for slot in slots {
            seen += match *slot {
                NODE.. => return None,
                BUCKET.. => self.row(*slot).leaves().len(),
                leaf => usize::from(leaf != last && row::is_within(leaf, depth)),
            };
            last = *slot;
            if seen > FEW {
                return None;
            }
        }
        let mut left = gone.prefixes.within(gone.held.bits, depth, FEW)?;
        left.sort_by_key(|held| held.leaf);
        self.fits(depth, &left).then_some(left)
    }

    pub(super) fn release_row(&mut self, slot: Slot) {
        let len = self.row(slot).len();
        self.rows.release(slot - BUCKET, len);
    }

    fn keep_node(&mut self, node: Node) -> usize {
        pool::keep_one(&mut self.nodes, &mut self.free, node) as usize
    }

    /// Nodes in use.
    pub(super) fn nodes(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    /// Nodes, and words of buckets, that are in use, for tests of their release.
    #[cfg(test)]
    pub(super) fn used(&self) -> (usize, usize) {
        let empty = if self.is_wide { row::EMPTY.len() } else { 0 };
        (self.nodes(), self.rows.used() - empty)
    }
}
