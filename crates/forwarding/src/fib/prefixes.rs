//! All prefixes of a table in order, eight bytes for each: by address, then by length.
//!
//! They stand in pieces that are short enough for one to be put in between.

use super::slot::{Held, NOTHING, Slot, cut, rank};
use base::plane::Prefix;
use core::net::Ipv4Addr;

/// A piece becomes two when it has more, and two become one when they have at most a quarter.
const PIECE: usize = 256;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Prefixes {
    /// None of them is empty.
    pieces: Vec<Piece>,
    count: usize,
}

#[derive(Clone, Debug)]
struct Piece {
    /// No prefix of it is before this one, and all of the pieces before it are.
    first: u64,
    held: Vec<Held>,
}

/// By what prefixes are sorted.
fn order(bits: u32, rank: u32) -> u64 {
    u64::from(bits) << 6 | u64::from(rank)
}

fn order_of(held: &Held) -> u64 {
    order(held.bits, rank(held.leaf))
}

fn prefix_of(held: &Held) -> Prefix {
    Prefix::new(Ipv4Addr::from_bits(held.bits), held.len())
}

impl Prefixes {
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The piece, and the place in it, of the first prefix that is not before `order`.
    fn seek(&self, order: u64) -> (usize, usize) {
        let piece = self.pieces.partition_point(|piece| piece.first <= order).saturating_sub(1);
        let held = self.pieces.get(piece).map_or(&[][..], |piece| &piece.held);
        (piece, held.partition_point(|held| order_of(held) < order))
    }

    /// The leaf of exactly a prefix, or nothing.
    pub(super) fn get(&self, prefix: Prefix) -> Slot {
        let order = order(prefix.address().to_bits(), u32::from(prefix.len()) + 1);
        let (piece, place) = self.seek(order);
        let held = self.pieces.get(piece).and_then(|piece| piece.held.get(place));
        held.filter(|held| order_of(held) == order).map_or(NOTHING, |held| held.leaf)
    }

    /// Puts a prefix in, or gives it another leaf.
    pub(super) fn set(&mut self, new: Held) {
        if self.pieces.is_empty() {
            self.pieces.push(Piece { first: 0, held: Vec::new() });
        }
        let (at, place) = self.seek(order_of(&new));
        let held = &mut self.pieces[at].held;
        if let Some(held) = held.get_mut(place)
            && order_of(held) == order_of(&new)
        {
            *held = new;
            return;
        }
        base::growth::make_room(held, 1);
        held.insert(place, new);
        self.count += 1;
        if held.len() > PIECE {
            let behind = held.split_off(PIECE / 2);
            held.shrink_to_fit();
            self.pieces.insert(at + 1, Piece { first: order_of(&behind[0]), held: behind });
        }
    }

    /// Takes a prefix out that is there.
    pub(super) fn remove(&mut self, prefix: Prefix) {
        let order = order(prefix.address().to_bits(), u32::from(prefix.len()) + 1);
        let (at, place) = self.seek(order);
        let held = &mut self.pieces[at].held;
        debug_assert!(held.get(place).is_some_and(|held| order_of(held) == order), "{prefix} is there");
        held.remove(place);
        self.count -= 1;
        let count = held.len();
        let next = self.pieces.get(at + 1).map_or(PIECE, |next| next.held.len());
        if count + next <= PIECE / 4 {
            let next = self.pieces.remove(at + 1).held;
            self.pieces[at].held.extend(next);
        } else if count == 0 {
            self.pieces.remove(at);
            if let Some(first) = self.pieces.first_mut() {
                first.first = 0;
            }
        }
    }

    /// All prefixes in order, from `order` on.
    fn from(&self, order: u64) -> impl Iterator<Item = &Held> {
        let (piece, place) = self.seek(order);
        let pieces = self.pieces.get(piece..).unwrap_or_default();
        pieces.iter().flat_map(|piece| &piece.held).skip(place)
    }

    /// All prefixes in order.
    pub(super) fn held(&self) -> impl Iterator<Item = &Held> {
        self.pieces.iter().flat_map(|piece| &piece.held)
    }

    /// All prefixes in order with their leaves.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Prefix, Slot)> {
        self.held().map(|held| (prefix_of(held), held.leaf))
    }

    /// Those that begin within the first `depth` bits of an address and are longer, if there are at most `most`.
    pub(super) fn within(&self, bits: u32, depth: u8, most: usize) -> Option<Vec<Held>> {
        let first = cut(bits, depth);
        let all =
            self.from(order(first, u32::from(depth) + 2)).take_while(|held| cut(held.bits, depth) == first);
        let all: Vec<Held> = all.take(most + 1).copied().collect();
        (all.len() <= most).then_some(all)
    }

    /// The leaf of the longest prefix of an address that has fewer than `len` bits, but at least one.
    pub(super) fn cover(&self, bits: u32, mut len: u8) -> Slot {
        // A prefix that contains the address is not behind it in order, and whatever is between the two is within it:
        // so also what is next before the address. Nothing longer than what the two have in common is asked for then.
        while let Some(most) = len.checked_sub(1).filter(|most| *most > 0) {
            let bits = cut(bits, most);
            let Some(before) = self.last(order(bits, u32::from(most) + 1)) else { break };
            if before.contains(bits) {
                return if before.len() == 0 { NOTHING } else { before.leaf };
            }
            len = (before.bits ^ bits).leading_zeros() as u8 + 1;
        }
        NOTHING
    }

    /// The last prefix that is not behind `order`.
    fn last(&self, order: u64) -> Option<Held> {
        let (piece, place) = self.seek(order + 1);
        match place.checked_sub(1) {
            Some(place) => self.pieces.get(piece)?.held.get(place).copied(),
            None => self.pieces.get(piece.checked_sub(1)?)?.held.last().copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::slot::leaf;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn held(prefix: Prefix, place: u32) -> Held {
        Held { bits: prefix.address().to_bits(), leaf: leaf(prefix.len(), place) }
    }

    fn agrees(steps: &[(u32, u8, bool)]) -> Result<(), TestCaseError> {
        let (mut prefixes, mut tree) = (Prefixes::default(), BTreeMap::new());
        for (place, (bits, len, add)) in (0..).zip(steps) {
            let prefix = Prefix::new(Ipv4Addr::from_bits(*bits), *len);
            if *add {
                prefixes.set(held(prefix, place));
                tree.insert(prefix, leaf(*len, place));
            } else if let Some(prefix) = tree.range(prefix..).map(|(prefix, _)| *prefix).next() {
                prefixes.remove(prefix);
                tree.remove(&prefix);
            }
        }
        prop_assert!(prefixes.iter().eq(tree.iter().map(|(prefix, leaf)| (*prefix, *leaf))));
        prop_assert_eq!(prefixes.len(), tree.len());
        prop_assert!(prefixes.pieces.iter().all(|piece| !piece.held.is_empty() && piece.held.len() <= PIECE));
        for (bits, len, _) in steps.iter().take(200) {
            let prefix = Prefix::new(Ipv4Addr::from_bits(*bits), *len);
            prop_assert_eq!(prefixes.get(prefix), tree.get(&prefix).copied().unwrap_or(NOTHING));
            let shorter = (1..*len).rev().map(|len| Prefix::new(Ipv4Addr::from_bits(*bits), len));
            let cover = shorter.filter_map(|prefix| tree.get(&prefix)).next();
            prop_assert_eq!(prefixes.cover(*bits, *len), cover.copied().unwrap_or(NOTHING));
            let is_within = |held: &Held| held.len() > *len && cut(held.bits, *len) == cut(*bits, *len);
            let within: Vec<Held> = prefixes.held().filter(|held| is_within(held)).copied().collect();
            prop_assert_eq!(prefixes.within(*bits, *len, 5), (within.len() <= 5).then_some(within));
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(testing::cases(64))]
        #[test]
        fn is_sorted_and_finds_what_a_tree_finds(
            steps in proptest::collection::vec(
                (prop_oneof![any::<u32>(), 0u32..1 << 12], 0u8..=32, prop::bool::weighted(0.6)), 1..2000),
            emptied in any::<bool>(),
        ) {
            let mut steps = steps;
            if emptied {
                let gone: Vec<_> = steps.iter().map(|(bits, len, _)| (*bits, *len, false)).collect();
                steps.extend(gone);
            }
            agrees(&steps)?;
        }
    }
}
