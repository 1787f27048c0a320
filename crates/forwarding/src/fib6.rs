//! Longest-prefix match over IPv6 routes and FTN entries: a multibit trie with pushed leaves and skipped bits.
//!
//! A node decides on four bits, like those of the trie of IPv4; but IPv6 addresses of one network begin alike, so a
//! node says itself at which bit it stands, and which bits an address must have in front of that. There is a node where
//! prefixes differ and where one ends, and none in between. An address that leaves the path to a node takes the node's
//! leaf: the longest prefix that covers the path.

use crate::entry::Kind;
use crate::fib::Known;
use base::plane::Prefix6;
use core::net::Ipv6Addr;
use std::collections::BTreeMap;

/// Nothing, a node (its index with the highest bit set), or a leaf (the place of what is known, plus one).
type Slot = u32;
const NOTHING: Slot = 0;
const NODE: Slot = 1 << 31;
/// Bits that a node decides on.
const STRIDE: u8 = 4;
const SLOTS: usize = 1 << STRIDE;
/// Addresses that are looked up together.
const LANES: usize = 32;

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Node {
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
    fn next(&self, bits: u128) -> Slot {
        if (bits ^ self.key) & mask(self.at) != 0 { self.leaf } else { self.slots[nibble(bits, self.at)] }
    }
}

/// The first `bits` bits.
#[inline(always)]
const fn mask(bits: u8) -> u128 {
    match u128::MAX.checked_shl(128 - bits as u32) {
        Some(mask) => mask,
        None => 0,
    }
}

/// The four bits of an address at `at`.
#[inline(always)]
const fn nibble(bits: u128, at: u8) -> usize {
    (bits << at >> (128 - STRIDE)) as usize
}

/// Where the node stands that a prefix of `len` bits ends in.
const fn level(len: u8) -> u8 {
    len.saturating_sub(1) / STRIDE * STRIDE
}

/// IPv6 routes and FTN entries by prefix, as a tree that is walked by bits of the address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fib6 {
    root: Slot,
    nodes: Vec<Node>,
    free_nodes: Vec<u32>,
    known: Vec<Known>,
    free_known: Vec<u32>,
    prefixes: BTreeMap<Prefix6, u32>,
    /// The destination that was routed last, and where what is known of its longest prefix is, as long as no table
    /// changes.
    pub(crate) recent: Option<(Ipv6Addr, u32)>,
}

/// Where a slot is: the root, or one of a node.
#[derive(Clone, Copy)]
enum At {
    Root,
    Slot(u32, usize),
}

impl Fib6 {
    /// Number of prefixes with a route, an FTN entry, or both.
    pub(crate) fn len(&self) -> usize {
        self.prefixes.len()
    }

    /// Where what is known of the longest prefix of `address` is.
    #[inline]
    pub(crate) fn find(&self, address: Ipv6Addr) -> Option<u32> {
        let bits = address.to_bits();
        let mut slot = self.root;
        while slot & NODE != 0 {
            slot = self.nodes.get((slot & !NODE) as usize)?.next(bits);
        }
        slot.checked_sub(1)
    }

    /// The same of many addresses: the place plus one, and 0 where nothing is known. Where one waits for the memory,
    /// others go on.
    pub(crate) fn find_all(&self, addresses: &[Ipv6Addr], found: &mut [u32]) {
        for (addresses, found) in addresses.chunks(LANES).zip(found.chunks_mut(LANES)) {
            found.fill(self.root);
            let mut more = self.root & NODE != 0;
            while more {
                more = false;
                for (address, found) in addresses.iter().zip(found.iter_mut()) {
                    if *found & NODE == 0 {
                        continue;
                    }
                    let Some(node) = self.nodes.get((*found & !NODE) as usize) else { continue };
                    *found = node.next(address.to_bits());
                    if let Some(node) = self.nodes.get((*found & !NODE) as usize) {
                        base::prefetch::prefetch_bytes(node, size_of::<Node>());
                        more |= *found & NODE != 0;
                    }
                }
            }
        }
    }

    #[inline]
    pub(crate) fn get(&self, place: u32) -> Option<&Known> {
        self.known.get(place as usize)
    }
    #[inline]
    pub(crate) fn get_mut(&mut self, place: u32) -> Option<&mut Known> {
        self.known.get_mut(place as usize)
    }

    /// What is known of exactly `prefix`.
    pub(crate) fn exact(&self, prefix: Prefix6) -> Option<&Known> {
        self.get(*self.prefixes.get(&prefix)?)
    }

    /// Changes what is known of exactly `prefix`; forgets the prefix if nothing is left.
    pub(crate) fn update<T>(&mut self, prefix: Prefix6, change: impl FnOnce(&mut Known) -> T) -> T {
        let existing = self.prefixes.get(&prefix).copied();
        let mut known = match existing {
            Some(place) => self.known[place as usize],
            None => Known::of_six(prefix.len()),
        };
        let result = change(&mut known);
        known.settle();
        match existing {
            Some(place) if known.active().kind == Kind::Empty => {
                self.withdraw(prefix, place);
                self.prefixes.remove(&prefix);
                self.known[place as usize] = known;
                self.free_known.push(place);
            }
            Some(place) => self.known[place as usize] = known,
            None if known.active().kind == Kind::Empty => {}
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
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Prefix6, &Known)> {
        self.prefixes.iter().map(|(prefix, place)| (*prefix, &self.known[*place as usize]))
    }

    fn slot(&mut self, at: At) -> &mut Slot {
        match at {
            At::Root => &mut self.root,
            At::Slot(node, place) => &mut self.nodes[node as usize].slots[place],
        }
    }

    fn new_node(&mut self, node: Node) -> u32 {
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

    /// The node that `prefix` ends in, made if it is not there, with where the slots are that led to it.
    fn node_of(&mut self, prefix: Prefix6) -> u32 {
        let (bits, target) = (prefix.address().to_bits(), level(prefix.len()));
        let mut at = At::Root;
        loop {
            let slot = *self.slot(at);
            let child = (slot & NODE != 0).then(|| self.nodes[(slot & !NODE) as usize]);
            let Some(child) = child else {
                let node = self.new_node(Node::new(bits, target, slot));
                *self.slot(at) = NODE | node;
                return node;
            };
            let common =
                ((bits ^ child.key).leading_zeros() as u8 / STRIDE * STRIDE).min(target).min(child.at);
            if common == child.at {
                if child.at == target {
                    return slot & !NODE;
                }
                at = At::Slot(slot & !NODE, nibble(bits, child.at));
                continue;
            }
            // The path to the child is left, or the prefix ends on it.
            let mut between = Node::new(bits, common, child.leaf);
            between.slots[nibble(child.key, common)] = slot;
            let node = self.new_node(between);
            *self.slot(at) = NODE | node;
            if common == target {
                return node;
            }
            at = At::Slot(node, nibble(bits, common));
        }
    }

    /// Slots of the node that `prefix` ends in which it covers.
    fn covered(prefix: Prefix6) -> core::ops::Range<usize> {
        let at = level(prefix.len());
        let first = nibble(prefix.address().to_bits(), at);
        first..first + (1 << (at + STRIDE - prefix.len()))
    }

    fn announce(&mut self, prefix: Prefix6, place: u32) {
        let node = self.node_of(prefix);
        for at in Fib6::covered(prefix) {
            self.fill(At::Slot(node, at), &|fib, slot| {
                let longer = slot != NOTHING && fib.known[slot as usize - 1].len6() > prefix.len();
                if longer { slot } else { place + 1 }
            });
        }
    }

    /// Changes every leaf in and below a slot.
    fn fill(&mut self, at: At, change: &dyn Fn(&Fib6, Slot) -> Slot) {
        let slot = *self.slot(at);
        if slot & NODE == 0 {
            *self.slot(at) = change(self, slot);
            return;
        }
        let node = slot & !NODE;
        self.nodes[node as usize].leaf = change(self, self.nodes[node as usize].leaf);
        for place in 0..SLOTS {
            self.fill(At::Slot(node, place), change);
        }
    }

    fn withdraw(&mut self, prefix: Prefix6, place: u32) {
        let shorter = (0..prefix.len()).rev().map(|len| Prefix6::new(prefix.address(), len));
        let cover = shorter.filter_map(|p| self.prefixes.get(&p)).next().map_or(NOTHING, |place| place + 1);
        let node = self.node_of(prefix);
        for at in Fib6::covered(prefix) {
            self.fill(At::Slot(node, at), &|_, slot| if slot == place + 1 { cover } else { slot });
        }
        self.prune(prefix);
    }

    /// Takes nodes out on the way to a prefix that say no more than what is around them.
    fn prune(&mut self, prefix: Prefix6) {
        let (bits, target) = (prefix.address().to_bits(), level(prefix.len()));
        let (mut at, mut path) = (At::Root, Vec::new());
        loop {
            let slot = *self.slot(at);
            if slot & NODE == 0 {
                break;
            }
            path.push((at, slot & !NODE));
            let node = &self.nodes[(slot & !NODE) as usize];
            if node.at >= target || (bits ^ node.key) & mask(node.at) != 0 {
                break;
            }
            at = At::Slot(slot & !NODE, nibble(bits, node.at));
        }
        while let Some((at, index)) = path.pop() {
            let Node { slots, leaf, .. } = self.nodes[index as usize];
            let mut others = slots.into_iter().filter(|slot| *slot != leaf);
            let left = match (others.next(), others.next()) {
                (None, _) => leaf,
                // One child, whose path from here on nothing but the same leaf surrounds.
                (Some(child), None) if child & NODE != 0 => {
                    if self.nodes[(child & !NODE) as usize].leaf != leaf {
                        break;
                    }
                    child
                }
                _ => break,
            };
            *self.slot(at) = left;
            self.free_nodes.push(index);
        }
    }

    /// Nodes in use, for tests of their release.
    #[cfg(test)]
    fn nodes(&self) -> usize {
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

    fn prefix() -> impl Strategy<Value = Prefix6> {
        // Few distinct bits, so that prefixes nest, collide and share long beginnings.
        let address = prop_oneof![
            any::<u128>(),
            (0u128..4, 0u128..4, 0u128..8).prop_map(|(a, b, c)| 0x2001_0db8 << 96 | a << 70 | b << 61 | c),
        ];
        let len = prop_oneof![0u8..=128, Just(48), Just(64), Just(63), Just(128), Just(127)];
        (address, len).prop_map(|(a, len)| Prefix6::new(Ipv6Addr::from_bits(a), len))
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        #[test]
        fn finds_what_a_list_finds(
            steps in proptest::collection::vec((prefix(), any::<bool>(), any::<proptest::sample::Index>()), 1..60),
            probes in proptest::collection::vec(any::<u128>(), 20),
        ) {
            let mut fib = Fib6::default();
            let mut list: Vec<Prefix6> = Vec::new();
            for (prefix, add, which) in &steps {
                if *add || list.is_empty() {
                    fib.update(*prefix, |k| mark(k, Kind::Local));
                    if !list.contains(prefix) { list.push(*prefix); }
                } else {
                    let victim = list.swap_remove(which.index(list.len()));
                    fib.update(victim, |k| mark(k, Kind::Empty));
                }
                prop_assert_eq!(fib.len(), list.len());
                // A prefix needs a node, and a branch above it.
                prop_assert!(fib.nodes() <= 2 * list.len());
                let edges = steps.iter().flat_map(|(p, ..)| {
                    let first = p.address().to_bits();
                    let last = first | u128::MAX.checked_shr(p.len().into()).unwrap_or(0);
                    [first.wrapping_sub(1), first, last, last.wrapping_add(1)]
                });
                for bits in edges.chain(probes.iter().copied()) {
                    let address = Ipv6Addr::from_bits(bits);
                    let naive = list.iter().filter(|p| p.contains(address)).max_by_key(|p| p.len());
                    let found = fib.find(address).and_then(|place| fib.get(place)).map(Known::len6);
                    prop_assert_eq!(found, naive.map(|p| p.len()));
                }
            }
            for prefix in list { fib.update(prefix, |k| mark(k, Kind::Empty)); }
            prop_assert_eq!((fib.len(), fib.nodes(), fib.root), (0, 0, NOTHING));
        }
    }
}
