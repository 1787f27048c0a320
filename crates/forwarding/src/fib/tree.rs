//! The tree that addresses walk: what leads from bits of an address to the place of its longest prefix.
//!
//! A small table has a root of 8 bits, and nodes of 4 below it. A large one has [`Wide`] in the place of the root and
//! of all nodes as far as bit 24; below there are the same nodes in both.

use base::plane::Prefix;
use core::net::Ipv4Addr;

/// Nothing, a node (its index with the highest bit set), or a leaf (the place of what is known, plus one).
pub(super) type Slot = u32;
pub(super) const NOTHING: Slot = 0;
pub(super) const NODE: Slot = 1 << 31;

const ROOT_BITS: u8 = 8;
const NODE_BITS: u8 = 4;
/// Bits that the slots of a large table decide on.
const WIDE_BITS: u8 = 24;
/// The most bits of prefixes that stand apart in a large table.
pub(super) const SHORT_BITS: u8 = 16;
/// Addresses that are looked up together: enough for the memory to be asked for one while others wait.
const LANES: usize = 32;
/// How many addresses ahead the slot of one is asked for in a large table.
const AHEAD: usize = 24;

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Node([Slot; 1 << NODE_BITS]);

/// See the module.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Tree {
    /// Empty in a large table.
    root: Vec<Slot>,
    nodes: Vec<Node>,
    wide: Option<Box<Wide>>,
    free: Vec<u32>,
}

/// What a large table has instead of a root. Most of what it has is never written where no prefix is, and takes no
/// memory of the machine, as long as the table is not copied.
#[derive(Clone, Debug)]
struct Wide {
    /// For each /24 the leaf of the longest prefix of 17 to 24 bits, or a node: 64 MB.
    slots: Box<[Slot; 1 << WIDE_BITS]>,
    /// For each /16 the leaf of the longest prefix of at most 16 bits: for all that the slots lead to nothing. A short
    /// prefix comes and goes without any of its many /24 being touched.
    short: Vec<Slot>,
}

impl Wide {
    fn new() -> Wide {
        // Zeros, which take memory as soon as they are written, as long as the table is not copied. The length is the
        // array's.
        let slots = vec![NOTHING; 1 << WIDE_BITS].into_boxed_slice();
        let slots = slots.try_into().unwrap_or_else(|_| unreachable!("as many as there are"));
        Wide { slots, short: vec![NOTHING; 1 << SHORT_BITS] }
    }

    #[inline(always)]
    fn prefetch(&self, address: Ipv4Addr) {
        base::prefetch::prefetch(&self.slots[(address.to_bits() >> (32 - WIDE_BITS)) as usize]);
    }

    #[inline(always)]
    fn slot(&self, bits: u32) -> Slot {
        self.slots[(bits >> (32 - WIDE_BITS)) as usize]
    }

    #[inline(always)]
    fn short(&self, bits: u32) -> Slot {
        self.short.get((bits >> (32 - SHORT_BITS)) as usize).copied().unwrap_or(NOTHING)
    }
}

/// Where a slot is.
#[derive(Clone, Copy)]
enum At {
    Root(usize),
    /// That of the /24 of an address.
    Wide(u32),
    Node(u32, usize),
}

/// Where a prefix ends: among the short ones of a large table, in its slots for /24, or in slots of the root or of a
/// node that stands at bit `depth`.
#[derive(Clone, Copy)]
enum End {
    Short,
    Wide,
    Node { node: Option<u32>, depth: u8, stride: u8 },
}

impl Default for Tree {
    fn default() -> Tree {
        Tree { root: vec![NOTHING; 1 << ROOT_BITS], nodes: Vec::new(), wide: None, free: Vec::new() }
    }
}

/// The bits of an address that a node decides on, at the front.
#[inline(always)]
fn nibble(rest: u32) -> usize {
    (rest >> (32 - NODE_BITS)) as usize
}

/// Slots of a node that stands at bit `depth` and has `stride` bits which `prefix` covers.
fn covered(prefix: Prefix, depth: u8, stride: u8) -> core::ops::Range<usize> {
    let bits = prefix.address().to_bits() << depth >> (32 - stride);
    let spread = (depth + stride).saturating_sub(prefix.len());
    bits as usize..bits as usize + (1 << spread)
}

/// Changes every leaf in and below a slot.
fn changed(nodes: &mut [Node], slot: Slot, change: &impl Fn(Slot) -> Slot) -> Slot {
    if slot & NODE == 0 {
        return change(slot);
    }
    let node = (slot & !NODE) as usize;
    for at in 0..1 << NODE_BITS {
        nodes[node].0[at] = changed(nodes, nodes[node].0[at], change);
    }
    slot
}

impl Tree {
    /// The leaf of an address, or nothing.
    #[inline]
    pub(super) fn find(&self, address: Ipv4Addr) -> Slot {
        let bits = address.to_bits();
        match self.root.get((bits >> 24) as usize) {
            Some(slot) => self.below(*slot, bits << ROOT_BITS),
            None => self.find_wide(bits),
        }
    }

    /// Not inlined: the look-up in a small table keeps its registers.
    #[inline(never)]
    fn find_wide(&self, bits: u32) -> Slot {
        let Some(wide) = &self.wide else { return NOTHING };
        match self.below(wide.slot(bits), bits << WIDE_BITS) {
            NOTHING => wide.short(bits),
            leaf => leaf,
        }
    }

    /// The leaf below a slot; `rest` are the bits of the address from there on.
    #[inline(always)]
    fn below(&self, mut slot: Slot, mut rest: u32) -> Slot {
        while slot & NODE != 0 {
            let Some(node) = self.nodes.get((slot & !NODE) as usize) else { return NOTHING };
            slot = node.0[nibble(rest)];
            rest <<= NODE_BITS;
        }
        slot
    }

    /// The leaves of many addresses, of which some are looked up at once: where one waits for the memory, others go on.
    pub(super) fn find_all(&self, addresses: &[Ipv4Addr], found: &mut [Slot]) {
        if let Some(wide) = &self.wide {
            return self.find_all_wide(wide, addresses, found);
        }
        for (addresses, found) in addresses.chunks(LANES).zip(found.chunks_mut(LANES)) {
            self.find_lanes(addresses, found);
        }
    }

    /// The slot of an address is asked for some addresses ahead, so that it is there before anything is decided on it.
    fn find_all_wide(&self, wide: &Wide, addresses: &[Ipv4Addr], found: &mut [Slot]) {
        addresses.iter().take(AHEAD).for_each(|address| wide.prefetch(*address));
        let ahead = addresses.iter().skip(AHEAD).map(Some).chain(core::iter::repeat(None));
        for ((address, ahead), found) in addresses.iter().zip(ahead).zip(found) {
            if let Some(ahead) = ahead {
                wide.prefetch(*ahead);
            }
            let bits = address.to_bits();
            *found = match self.below(wide.slot(bits), bits << WIDE_BITS) {
                NOTHING => wide.short(bits),
                leaf => leaf,
            };
        }
    }

    fn find_lanes(&self, addresses: &[Ipv4Addr], found: &mut [Slot]) {
        for (address, found) in addresses.iter().zip(found.iter_mut()) {
            *found = self.root.get((address.to_bits() >> 24) as usize).copied().unwrap_or(NOTHING);
        }
        for depth in (ROOT_BITS..32).step_by(NODE_BITS.into()) {
            let mut all = NOTHING;
            for (address, found) in addresses.iter().zip(found.iter_mut()) {
                if *found & NODE != 0
                    && let Some(node) = self.nodes.get((*found & !NODE) as usize)
                {
                    *found = node.0[nibble(address.to_bits() << depth)];
                    self.prefetch_node(*found);
                    all |= *found;
                }
            }
            if all & NODE == 0 {
                break;
            }
        }
    }

    #[inline(always)]
    fn prefetch_node(&self, slot: Slot) {
        if slot & NODE != 0
            && let Some(node) = self.nodes.get((slot & !NODE) as usize)
        {
            base::prefetch::prefetch(node);
        }
    }

    /// Is it one for a large table?
    pub(super) fn is_wide(&self) -> bool {
        self.wide.is_some()
    }

    fn slot(&self, at: At) -> Slot {
        match at {
            At::Root(place) => self.root[place],
            At::Wide(bits) => self.wide.as_ref().map_or(NOTHING, |wide| wide.slot(bits)),
            At::Node(node, place) => self.nodes[node as usize].0[place],
        }
    }

    fn set(&mut self, at: At, slot: Slot) {
        match at {
            At::Root(place) => self.root[place] = slot,
            At::Wide(bits) => {
                if let Some(wide) = &mut self.wide {
                    wide.slots[(bits >> (32 - WIDE_BITS)) as usize] = slot;
                }
            }
            At::Node(node, place) => self.nodes[node as usize].0[place] = slot,
        }
    }

    /// Where `prefix` ends. Where there is no node on the way, `enter` is asked for one; each on the way is told with
    /// the slot that leads to it and the bit at which it stands.
    fn end(
        &mut self,
        prefix: Prefix,
        mut enter: impl FnMut(&mut Tree, At, Slot, u8) -> Option<u32>,
    ) -> Option<End> {
        let (mut node, mut depth, mut stride) = (None, 0, ROOT_BITS);
        if self.is_wide() {
            if prefix.len() <= WIDE_BITS {
                return Some(if prefix.len() <= SHORT_BITS { End::Short } else { End::Wide });
            }
            let at = At::Wide(prefix.address().to_bits());
            node = Some(enter(self, at, self.slot(at), WIDE_BITS)?);
            (depth, stride) = (WIDE_BITS, NODE_BITS);
        }
        while prefix.len() > depth + stride {
            let place = covered(prefix, depth, stride).start;
            let at = node.map_or(At::Root(place), |node| At::Node(node, place));
            depth += stride;
            node = Some(enter(self, at, self.slot(at), depth)?);
            stride = NODE_BITS;
        }
        Some(End::Node { node, depth, stride })
    }

    /// Changes all leaves within a prefix.
    fn change(&mut self, prefix: Prefix, end: End, change: &impl Fn(Slot) -> Slot) {
        match end {
            End::Short => {
                let Some(wide) = &mut self.wide else { return };
                for place in covered(prefix, 0, SHORT_BITS) {
                    wide.short[place] = change(wide.short[place]);
                }
            }
            End::Wide => {
                let Some(wide) = &mut self.wide else { return };
                for slot in &mut wide.slots[covered(prefix, 0, WIDE_BITS)] {
                    *slot = changed(&mut self.nodes, *slot, change);
                }
            }
            End::Node { node, depth, stride } => {
                for place in covered(prefix, depth, stride) {
                    let at = node.map_or(At::Root(place), |node| At::Node(node, place));
                    let slot = self.slot(at);
                    let new = changed(&mut self.nodes, slot, change);
                    self.set(at, new);
                }
            }
        }
    }

    /// Has all leaves within a new prefix be what `change` says.
    pub(super) fn announce(&mut self, prefix: Prefix, change: &impl Fn(Slot) -> Slot) {
        let end = self.end(prefix, |tree, at, slot, _| {
            if slot & NODE != 0 {
                return Some(slot & !NODE);
            }
            let child = tree.new_node(slot);
            tree.set(at, NODE | child);
            Some(child)
        });
        if let Some(end) = end {
            self.change(prefix, end, change);
        }
    }

    /// Replaces a leaf by another within a prefix that is announced.
    pub(super) fn exchange(&mut self, prefix: Prefix, old: Slot, new: Slot) {
        let end = self.end(prefix, |_, _, slot, _| (slot & NODE != 0).then_some(slot & !NODE));
        debug_assert!(end.is_some(), "a prefix that is announced");
        if let Some(end) = end {
            self.change(prefix, end, &|slot| if slot == old { new } else { slot });
        }
    }

    /// Replaces the leaf of a prefix that is no more by what covers it. `len_of` gives the length of the prefix of a
    /// leaf.
    pub(super) fn withdraw(
        &mut self,
        prefix: Prefix,
        leaf: Slot,
        cover: Slot,
        len_of: &impl Fn(Slot) -> Option<u8>,
    ) {
        let mut path = Vec::new();
        let end = self.end(prefix, |_, at, slot, depth| {
            if slot & NODE == 0 {
                return None; // not announced
            }
            path.push((at, slot & !NODE, depth));
            Some(slot & !NODE)
        });
        let Some(end) = end else { return };
        // What slots lead to is longer than what stands apart.
        let is_short = self.is_wide() && prefix.len() > SHORT_BITS && len_of(cover) <= Some(SHORT_BITS);
        let cover = if is_short { NOTHING } else { cover };
        self.change(prefix, end, &|slot| if slot == leaf { cover } else { slot });
        // A node whose slots are all the same leaf says no more than its parent could. A node that holds a prefix
        // of its own is never like that, so only the path just walked needs to be looked at.
        while let Some((at, child, depth)) = path.pop() {
            let Some(left) = whole(&self.nodes[child as usize].0, depth, len_of) else { break };
            self.set(at, left);
            self.free.push(child);
        }
    }

    fn new_node(&mut self, fill: Slot) -> u32 {
        self.keep_node(Node([fill; 1 << NODE_BITS]))
    }

    fn keep_node(&mut self, node: Node) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.nodes[index as usize] = node;
                index
            }
            None => {
                base::growth::make_room(&mut self.nodes, 1);
                self.nodes.push(node);
                (self.nodes.len() - 1) as u32
            }
        }
    }

    /// From now on the table is a large one. `short` are its prefixes of at most 16 bits with their leaves, and
    /// `len_of` gives the length of the prefix of a leaf.
    pub(super) fn widen(&mut self, mut short: Vec<(Prefix, Slot)>, len_of: &impl Fn(Slot) -> Option<u8>) {
        let root = core::mem::take(&mut self.root);
        let mut wide = Box::new(Wide::new());
        short.sort_by_key(|(prefix, _)| prefix.len());
        for (prefix, leaf) in short {
            wide.short[covered(prefix, 0, SHORT_BITS)].fill(leaf);
        }
        let behind = |slot| if len_of(slot) > Some(SHORT_BITS) { slot } else { NOTHING };
        self.spread(&root, ROOT_BITS, 0, &mut |nodes, range, slot| {
            let slot = changed(nodes, slot, &behind);
            // What is nothing already need not be touched.
            if slot != NOTHING {
                wide.slots[range].fill(slot);
            }
        });
        // What the slots stand for is free.
        let (mut level, mut inner) = (root, Vec::new());
        for _ in (ROOT_BITS..WIDE_BITS).step_by(NODE_BITS.into()) {
            level.retain(|slot| slot & NODE != 0);
            inner.extend(level.iter().map(|slot| slot & !NODE));
            level = level.iter().flat_map(|slot| self.nodes[(slot & !NODE) as usize].0).collect();
        }
        self.wide = Some(wide);
        self.move_nodes(inner);
    }

    /// Tells which /24 the slots above bit 24 are for. The first of `slots` is that of the /24 `first`, and they stand
    /// behind bit `depth`.
    fn spread(
        &mut self,
        slots: &[Slot],
        depth: u8,
        first: usize,
        tell: &mut impl FnMut(&mut [Node], core::ops::Range<usize>, Slot),
    ) {
        let size = 1 << (WIDE_BITS - depth);
        for (place, slot) in slots.iter().enumerate() {
            let first = first + place * size;
            if slot & NODE != 0 && depth < WIDE_BITS {
                let below = self.nodes[(slot & !NODE) as usize].0;
                self.spread(&below, depth + NODE_BITS, first, tell);
            } else {
                tell(&mut self.nodes, first..first + size, *slot);
            }
        }
    }

    /// Frees nodes, and their memory: moves those that are left to the front.
    fn move_nodes(&mut self, freed: Vec<u32>) {
        let mut is_free = vec![false; self.nodes.len()];
        for index in freed.into_iter().chain(self.free.drain(..)) {
            is_free[index as usize] = true;
        }
        let mut next = 0;
        let places: Vec<u32> = is_free
            .iter()
            .map(|is_free| {
                let place = next;
                next += u32::from(!is_free);
                place
            })
            .collect();
        let moved = |slot: Slot| match slot & NODE {
            0 => slot,
            _ => NODE | places[(slot & !NODE) as usize],
        };
        let mut kept = Vec::with_capacity(next as usize);
        for (node, _) in self.nodes.iter().zip(is_free).filter(|(_, is_free)| !is_free) {
            kept.push(Node(node.0.map(moved)));
        }
        self.nodes = kept;
        self.root.iter_mut().for_each(|slot| *slot = moved(*slot));
        if let Some(wide) = &mut self.wide {
            for slot in wide.slots.iter_mut().filter(|slot| **slot & NODE != 0) {
                *slot = moved(*slot);
            }
        }
    }

    /// From now on the table is a small one. `len_of` gives the length of the prefix of a leaf.
    pub(super) fn narrow(&mut self, len_of: &impl Fn(Slot) -> Option<u8>) {
        let Some(wide) = self.wide.take() else { return };
        let mut slots: Vec<Slot> = Vec::new();
        let mut root = Vec::with_capacity(1 << ROOT_BITS);
        for first in 0..1 << ROOT_BITS {
            slots.clear();
            let size = 1 << (WIDE_BITS - ROOT_BITS);
            for (part, slot) in wide.slots[first * size..][..size].iter().enumerate() {
                let short = wide.short(((first * size + part) as u32) << (32 - WIDE_BITS));
                let whole = |slot| if slot == NOTHING { short } else { slot };
                slots.push(changed(&mut self.nodes, *slot, &whole));
            }
            for depth in (ROOT_BITS..WIDE_BITS).step_by(NODE_BITS.into()).rev() {
                let above = slots.chunks_exact(1 << NODE_BITS).map(|slots| {
                    let mut node = [NOTHING; 1 << NODE_BITS];
                    node.copy_from_slice(slots);
                    whole(&node, depth, len_of).unwrap_or_else(|| NODE | self.keep_node(Node(node)))
                });
                slots = above.collect();
            }
            root.extend_from_slice(&slots);
        }
        self.root = root;
    }

    /// Nodes in use, for tests of their release.
    #[cfg(test)]
    pub(super) fn nodes(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    /// Does every address lead to nothing?
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        let wide = self.wide.iter().flat_map(|wide| wide.slots.iter().chain(&wide.short));
        wide.chain(&self.root).all(|slot| *slot == NOTHING) && self.nodes() == 0
    }
}

/// What the slots of a node at bit `depth` all are, if the node is not needed: the leaf of a prefix that does not end
/// in it.
fn whole(slots: &[Slot; 1 << NODE_BITS], depth: u8, len_of: &impl Fn(Slot) -> Option<u8>) -> Option<Slot> {
    let first = slots[0];
    let is_own = first & NODE != 0 || len_of(first) > Some(depth);
    (!is_own && slots.iter().all(|slot| *slot == first)).then_some(first)
}
