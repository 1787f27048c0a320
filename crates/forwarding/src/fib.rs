//! Longest-prefix match over routes and FTN entries: a multibit trie with pushed leaves.
//!
//! The root decides on 8 bits, every further node on 4 in one cache line; a node exists only where prefixes differ.
//! An address takes one step, plus one for each 4 bits of the longest prefix near it beyond the eighth.

use crate::classed::ClassList;
use crate::entry::{Entry, Kind};
use base::plane::Prefix;
use core::net::Ipv4Addr;
use std::collections::BTreeMap;

/// What is known of a prefix. The mapping to an LSP hides the route. What a packet on a route needs is one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Known {
    pub(crate) route: Entry,
    /// The list of its LSPs for some PHBs, plus one.
    pub(crate) classed: u32,
    len: u8,
    /// Is there a mapping to an LSP?
    is_mapped: bool,
    pub(crate) ftn: Entry,
}

impl Known {
    /// Nothing yet, of a prefix of `len` bits.
    pub(crate) fn new(len: u8) -> Known {
        Known { len, ..Known::default() }
    }
    /// Number of leading bits that count: 0 to 32, of IPv6 to 128.
    #[inline]
    pub(crate) fn len(&self) -> u8 {
        self.len
    }
    /// The entry in force.
    #[inline]
    pub(crate) fn active(&self) -> &Entry {
        if self.is_mapped { &self.ftn } else { &self.route }
    }
    #[inline]
    pub(crate) fn active_mut(&mut self) -> &mut Entry {
        if self.is_mapped { &mut self.ftn } else { &mut self.route }
    }
    /// Its entries were changed.
    pub(crate) fn settle(&mut self) {
        self.is_mapped = self.ftn.kind != Kind::Empty;
    }
    fn is_empty(&self) -> bool {
        !self.is_mapped && self.route.kind == Kind::Empty && self.classed == 0
    }
}

/// Nothing, a node (its index with the highest bit set), or a leaf (the place of what is known, plus one).
type Slot = u32;
const NOTHING: Slot = 0;
const NODE: Slot = 1 << 31;

const ROOT_BITS: u8 = 8;
const NODE_BITS: u8 = 4;

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Node([Slot; 1 << NODE_BITS]);

/// Routes and FTN entries by prefix, as a tree that is walked by bits of the address.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Fib {
    known: Vec<Known>,
    root: Vec<Slot>,
    nodes: Vec<Node>,
    free_nodes: Vec<u32>,
    free_known: Vec<u32>,
    prefixes: BTreeMap<Prefix, u32>,
    pub(crate) lists: Vec<ClassList>,
    /// Free ones, plus one.
    pub(crate) free_lists: Vec<u32>,
}

impl Default for Fib {
    fn default() -> Self {
        Fib {
            root: vec![NOTHING; 1 << ROOT_BITS],
            nodes: Vec::new(),
            free_nodes: Vec::new(),
            known: Vec::new(),
            free_known: Vec::new(),
            prefixes: BTreeMap::new(),
            lists: Vec::new(),
            free_lists: Vec::new(),
        }
    }
}

impl Fib {
    /// Number of prefixes with a route, an FTN entry, or both.
    pub(crate) fn len(&self) -> usize {
        self.prefixes.len()
    }

    /// Where what is known of the longest prefix of `address` is.
    #[inline]
    pub(crate) fn find(&self, address: Ipv4Addr) -> Option<u32> {
        let bits = address.to_bits();
        let mut slot = *self.root.get((bits >> 24) as usize)?;
        let mut rest = bits << ROOT_BITS;
        while slot & NODE != 0 {
            slot = self.nodes.get((slot & !NODE) as usize)?.0[(rest >> (32 - NODE_BITS)) as usize];
            rest <<= NODE_BITS;
        }
        slot.checked_sub(1)
    }

    #[inline]
    pub(crate) fn get(&self, place: u32) -> Option<&Known> {
        self.known.get(place as usize)
    }
    #[inline]
    pub(crate) fn get_mut(&mut self, place: u32) -> Option<&mut Known> {
        self.known.get_mut(place as usize)
    }

    /// Where what is known of exactly `prefix` is.
    pub(crate) fn place(&self, prefix: Prefix) -> Option<u32> {
        self.prefixes.get(&prefix).copied()
    }

    /// What is known of exactly `prefix`.
    pub(crate) fn exact(&self, prefix: Prefix) -> Option<&Known> {
        self.get(self.place(prefix)?)
    }

    /// Changes what is known of exactly `prefix`; forgets the prefix if nothing is left.
    pub(crate) fn update<T>(&mut self, prefix: Prefix, change: impl FnOnce(&mut Known) -> T) -> T {
        let existing = self.prefixes.get(&prefix).copied();
        let mut known = match existing {
            Some(place) => self.known[place as usize],
            None => Known::new(prefix.len()),
        };
        let result = change(&mut known);
        known.settle();
        match existing {
            Some(place) if known.is_empty() => {
                self.withdraw(prefix, place);
                self.prefixes.remove(&prefix);
                self.known[place as usize] = known;
                self.free_known.push(place);
            }
            Some(place) => self.known[place as usize] = known,
            None if known.is_empty() => {}
            None => {
                let place = match self.free_known.pop() {
                    Some(place) => {
                        self.known[place as usize] = known;
                        place
                    }
                    None => {
                        self.known.push(known);
                        (self.known.len() - 1) as u32
                    }
                };
                self.prefixes.insert(prefix, place);
                self.announce(prefix, place);
            }
        }
        result
    }

    /// All prefixes, sorted by address, then by length.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Prefix, &Known)> {
        self.prefixes.iter().map(|(prefix, place)| (*prefix, &self.known[*place as usize]))
    }

    fn slots(&mut self, node: Option<u32>) -> &mut [Slot] {
        match node {
            None => &mut self.root,
            Some(node) => &mut self.nodes[node as usize].0,
        }
    }

    /// Slots of a node that starts at bit `depth` and has `stride` bits which `prefix` covers.
    fn covered(prefix: Prefix, depth: u8, stride: u8) -> core::ops::Range<usize> {
        let bits = prefix.address().to_bits() << depth >> (32 - stride);
        let spread = (depth + stride).saturating_sub(prefix.len());
        bits as usize..bits as usize + (1 << spread)
    }

    fn announce(&mut self, prefix: Prefix, place: u32) {
        let (mut node, mut depth, mut stride) = (None, 0, ROOT_BITS);
        while prefix.len() > depth + stride {
            let at = Fib::covered(prefix, depth, stride).start;
            let slot = self.slots(node)[at];
            let child = if slot & NODE != 0 {
                slot & !NODE
            } else {
                let child = self.new_node(slot);
                self.slots(node)[at] = NODE | child;
                child
            };
            (node, depth, stride) = (Some(child), depth + stride, NODE_BITS);
        }
        for at in Fib::covered(prefix, depth, stride) {
            let slot = self.slots(node)[at];
            self.slots(node)[at] = self.filled(slot, prefix.len(), place + 1);
        }
    }

    fn new_node(&mut self, fill: Slot) -> u32 {
        let node = Node([fill; 1 << NODE_BITS]);
        match self.free_nodes.pop() {
            Some(index) => {
                self.nodes[index as usize] = node;
                index
            }
            None => {
                self.nodes.push(node);
                (self.nodes.len() - 1) as u32
            }
        }
    }

    /// `slot` after a prefix of `len` bits that covers it was announced with `leaf`.
    fn filled(&mut self, slot: Slot, len: u8, leaf: Slot) -> Slot {
        if slot & NODE != 0 {
            let node = slot & !NODE;
            for at in 0..1 << NODE_BITS {
                let inner = self.nodes[node as usize].0[at];
                self.nodes[node as usize].0[at] = self.filled(inner, len, leaf);
            }
            return slot;
        }
        let longer = slot != NOTHING && self.known[slot as usize - 1].len > len;
        if longer { slot } else { leaf }
    }

    /// Replaces `leaf` by `cover` in and below `slot`.
    fn replaced(&mut self, slot: Slot, leaf: Slot, cover: Slot) -> Slot {
        if slot & NODE != 0 {
            let node = slot & !NODE;
            for at in 0..1 << NODE_BITS {
                let inner = self.nodes[node as usize].0[at];
                self.nodes[node as usize].0[at] = self.replaced(inner, leaf, cover);
            }
            return slot;
        }
        if slot == leaf { cover } else { slot }
    }

    fn withdraw(&mut self, prefix: Prefix, place: u32) {
        let shorter = (0..prefix.len()).rev().map(|len| Prefix::new(prefix.address(), len));
        let cover = shorter.filter_map(|p| self.prefixes.get(&p)).next().map_or(NOTHING, |place| place + 1);
        let mut path = Vec::new();
        let (mut node, mut depth, mut stride) = (None, 0, ROOT_BITS);
        while prefix.len() > depth + stride {
            let at = Fib::covered(prefix, depth, stride).start;
            let slot = self.slots(node)[at];
            if slot & NODE == 0 {
                return; // not announced
            }
            path.push((node, at, slot & !NODE));
            (node, depth, stride) = (Some(slot & !NODE), depth + stride, NODE_BITS);
        }
        for at in Fib::covered(prefix, depth, stride) {
            let slot = self.slots(node)[at];
            self.slots(node)[at] = self.replaced(slot, place + 1, cover);
        }
        // A node whose slots are all the same leaf says no more than its parent could. A node that holds a prefix
        // of its own is never like that, so only the path just walked needs to be looked at.
        while let Some((parent, at, child)) = path.pop() {
            let Node(slots) = self.nodes[child as usize];
            if slots[0] & NODE != 0 || slots.iter().any(|s| *s != slots[0]) {
                break;
            }
            self.slots(parent)[at] = slots[0];
            self.free_nodes.push(child);
        }
    }

    /// Nodes in use, for tests of their release.
    #[cfg(test)]
    pub(crate) fn nodes(&self) -> usize {
        self.nodes.len() - self.free_nodes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mark(known: &mut Known, kind: Kind) {
        known.route.kind = kind;
    }

    fn prefix() -> impl Strategy<Value = Prefix> {
        // Few distinct bits, so that prefixes nest and collide.
        let address = prop_oneof![any::<u32>(), (0u32..8, 0u32..8).prop_map(|(a, b)| a << 29 | b << 12 | a)];
        (address, 0u8..=32).prop_map(|(a, len)| Prefix::new(Ipv4Addr::from_bits(a), len))
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        #[test]
        fn finds_what_a_list_finds(
            steps in proptest::collection::vec((prefix(), any::<bool>()), 1..60),
            probes in proptest::collection::vec(any::<u32>(), 20),
        ) {
            let mut fib = Fib::default();
            let mut list: Vec<Prefix> = Vec::new();
            for (prefix, add) in &steps {
                if *add {
                    fib.update(*prefix, |k| mark(k, Kind::Local));
                    if !list.contains(prefix) { list.push(*prefix); }
                } else {
                    let victim = list.pop().unwrap_or(*prefix);
                    fib.update(victim, |k| mark(k, Kind::Empty));
                }
                prop_assert_eq!(fib.len(), list.len());
                let edges = steps.iter().flat_map(|(p, _)| {
                    let first = p.address().to_bits();
                    let last = first | u32::MAX.checked_shr(p.len().into()).unwrap_or(0);
                    [first.wrapping_sub(1), first, last, last.wrapping_add(1)]
                });
                for bits in edges.chain(probes.iter().copied()) {
                    let address = Ipv4Addr::from_bits(bits);
                    let naive = list.iter().filter(|p| p.contains(address)).max_by_key(|p| p.len());
                    let found = fib.find(address).map(|place| fib.get(place).map(|k| k.len));
                    prop_assert_eq!(found, naive.map(|p| Some(p.len())));
                    let place = naive.and_then(|p| fib.prefixes.get(p)).copied();
                    prop_assert_eq!(fib.find(address), place);
                }
            }
            for prefix in list { fib.update(prefix, |k| mark(k, Kind::Empty)); }
            prop_assert_eq!((fib.len(), fib.nodes()), (0, 0));
            prop_assert!(fib.root.iter().all(|s| *s == NOTHING));
        }
    }
}
