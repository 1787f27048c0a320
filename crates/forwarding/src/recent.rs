//! Destinations that were routed of late, so that the longest prefix need not be looked for again.

use core::net::Ipv4Addr;

/// How many destinations are remembered beside the last one.
const SLOTS: usize = 64;
/// They are once so many packets were not for the destination of the one before.
const CHANGES: u32 = 16;

/// A destination, and one more than where what is known of its longest prefix is; zero if the slot is empty.
type Slot = (u32, u32);

/// Where destinations lead, as long as no table changes. A packet of a flow that takes turns with others finds its own
/// here in one cache line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent {
    last: Slot,
    changes: u32,
    slots: Option<Box<[Slot; SLOTS]>>,
}

impl Recent {
    /// Where what is known of the longest prefix of `to` is, which `find` looks for if it is not remembered.
    #[inline(always)]
    pub(crate) fn place(&mut self, to: Ipv4Addr, find: impl FnOnce() -> Option<u32>) -> Option<u32> {
        let address = to.to_bits();
        if self.last.0 == address && self.last.1 != 0 {
            return Some(self.last.1 - 1);
        }
        let Some(slots) = &mut self.slots else {
            let place = find()?;
            self.change((address, place + 1));
            return Some(place);
        };
        let slot = &mut slots[index(address)];
        if slot.0 != address || slot.1 == 0 {
            *slot = (address, find()? + 1);
        }
        self.last = *slot;
        Some(slot.1 - 1)
    }

    #[inline(never)]
    fn change(&mut self, slot: Slot) {
        self.last = slot;
        self.changes += 1;
        if self.changes == CHANGES {
            self.slots = Some(Box::new([(0, 0); SLOTS]));
        }
    }

    /// A table changes.
    #[inline]
    pub(crate) fn forget(&mut self) {
        self.last = (0, 0);
        if let Some(slots) = &mut self.slots {
            slots.fill((0, 0));
        }
    }
}

/// The slot of an address. Addresses that differ in few bits have different ones.
#[inline(always)]
fn index(address: u32) -> usize {
    (address.wrapping_mul(0x9e37_79b9) >> (u32::BITS - SLOTS.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_what_was_found() {
        let mut recent = Recent::default();
        let mut asked = 0;
        let mut place = |recent: &mut Recent, to: u32, known: u32| {
            let found = recent.place(Ipv4Addr::from_bits(to), || {
                asked += 1;
                (to != 77).then_some(to + known)
            });
            (found, asked)
        };
        for round in 0..3 {
            for to in 0..40 {
                assert_eq!(place(&mut recent, to, 100).0, Some(to + 100), "round {round}");
            }
            assert_eq!(place(&mut recent, 77, 100).0, None);
        }
        let before = place(&mut recent, 39, 100).1;
        assert_eq!(place(&mut recent, 39, 100), (Some(139), before));
        assert!(before < 3 * 40, "few of them were looked for in each round: {before}");
        recent.forget();
        assert_eq!([39, 39, 5].map(|to| place(&mut recent, to, 200).0), [Some(239), Some(239), Some(205)]);
    }
}
