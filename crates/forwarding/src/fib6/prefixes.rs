//! All prefixes of a table of IPv6 in order: by address, then by length.

use super::slot::{Held, NOTHING, Slot, mask};
use base::plane::Prefix6;
use core::net::Ipv6Addr;
use std::collections::BTreeMap;

/// Each has its leaf.
#[derive(Clone, Debug, Default)]
pub(super) struct Prefixes(BTreeMap<Prefix6, Slot>);

fn held((prefix, leaf): (&Prefix6, &Slot)) -> Held {
    Held { bits: prefix.address().to_bits(), leaf: *leaf }
}

fn prefix(bits: u128, len: u8) -> Prefix6 {
    Prefix6::new(Ipv6Addr::from_bits(bits), len)
}

impl Prefixes {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The leaf of exactly a prefix, or nothing.
    pub(super) fn get(&self, prefix: Prefix6) -> Slot {
        self.0.get(&prefix).copied().unwrap_or(NOTHING)
    }

    pub(super) fn set(&mut self, prefix: Prefix6, leaf: Slot) {
        self.0.insert(prefix, leaf);
    }

    pub(super) fn remove(&mut self, prefix: Prefix6) {
        self.0.remove(&prefix);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Prefix6, Slot)> {
        self.0.iter().map(|(prefix, leaf)| (*prefix, *leaf))
    }

    /// All but the one without bits.
    pub(super) fn held(&self) -> impl Iterator<Item = Held> {
        self.0.iter().filter(|(prefix, _)| prefix.len() > 0).map(held)
    }

    /// Those that begin with the first `depth` bits of an address and are longer, if there are at most `most`.
    pub(super) fn within(&self, bits: u128, depth: u8, most: usize) -> Option<Vec<Held>> {
        let first = bits & mask(depth);
        let behind = self.0.range(prefix(first, depth + 1)..).map(held);
        let all = behind.take_while(|held| held.bits & mask(depth) == first);
        let all: Vec<Held> = all.take(most + 1).collect();
        (all.len() <= most).then_some(all)
    }

    /// The leaf of the longest prefix of an address that has fewer than `len` bits, but at least one.
    pub(super) fn cover(&self, bits: u128, mut len: u8) -> Slot {
        // A prefix that contains the address is not behind it in order, and whatever is between the two is within it:
        // so also what is next before the address. Nothing longer than what the two have in common is asked for then.
        while let Some(most) = len.checked_sub(1).filter(|most| *most > 0) {
            let Some((before, leaf)) = self.0.range(..=prefix(bits, most)).next_back() else { break };
            if before.len() == 0 {
                break;
            }
            let common = (before.address().to_bits() ^ (bits & mask(most))).leading_zeros() as u8;
            if common >= before.len() {
                return *leaf;
            }
            len = common + 1;
        }
        NOTHING
    }
}

#[cfg(test)]
mod tests {
    use super::super::slot::leaf;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(testing::cases(64))]
        #[test]
        fn finds_what_a_search_through_all_finds(
            all in proptest::collection::vec((prop_oneof![any::<u128>(), 0u128..64], 0u8..=128), 1..60),
        ) {
            let mut prefixes = Prefixes::default();
            for (place, (bits, len)) in (0..).zip(&all) {
                prefixes.set(prefix(*bits, *len), leaf(*len, place));
            }
            for (bits, len) in &all {
                let mut shorter = (1..*len).rev().map(|len| prefixes.get(prefix(*bits, len)));
                let cover = shorter.find(|leaf| *leaf != NOTHING);
                prop_assert_eq!(prefixes.cover(*bits, *len), cover.unwrap_or(NOTHING));
                let depth = (*len).min(124);
                let is_within = |held: &Held| held.len() > depth && (held.bits ^ bits) & mask(depth) == 0;
                let within: Vec<Held> = prefixes.held().filter(is_within).collect();
                prop_assert_eq!(prefixes.within(*bits, depth, 5), (within.len() <= 5).then_some(within));
            }
        }
    }
}
