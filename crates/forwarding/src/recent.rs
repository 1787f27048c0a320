//! Destinations that were routed of late, so that the longest prefix need not be looked for again.

use core::net::Ipv4Addr;

/// How many destinations are remembered beside the last one.
const SLOTS: usize = 64;
/// They are once so many packets were not for the destination of the one before.
const CHANGES: u32 = 16;

/// A destination, and where what is known of its longest prefix is.
type Slot = (u32, u32);

/// No packet that is forwarded is for address 0.0.0.0, and nothing is known at this place: whoever asks for that
/// address finds nothing, as for any that is not remembered.
const EMPTY: Slot = (0, u32::MAX);

/// Where destinations lead, as long as no table changes. A packet of a flow that takes turns with others finds its own
/// here in one cache line.
#[derive(Clone, Debug)]
pub(crate) struct Recent {
    last: Slot,
    changes: u32,
    slots: Option<Box<[Slot; SLOTS]>>,
}

impl Default for Recent {
    fn default() -> Recent {
        Recent { last: EMPTY, changes: 0, slots: None }
    }
}

impl Recent {
    /// Where what is known of the longest prefix of `to` is, which `find` looks for if it is not remembered. It finds
    /// nothing for 0.0.0.0.
    #[inline(always)]
    pub(crate) fn place(&mut self, to: Ipv4Addr, find: impl FnOnce() -> Option<u32>) -> Option<u32> {
        let address = to.to_bits();
        if self.last.0 == address {
            return Some(self.last.1);
        }
        let Some(slots) = &mut self.slots else {
            let place = find()?;
            self.change((address, place));
            return Some(place);
        };
        let slot = &mut slots[index(address)];
        if slot.0 != address {
            *slot = (address, find()?);
        }
        self.last = *slot;
        Some(slot.1)
    }

    #[cold]
    #[inline(never)]
    fn change(&mut self, slot: Slot) {
        self.last = slot;
        self.changes += 1;
        if self.changes == CHANGES {
            self.slots = Some(Box::new([EMPTY; SLOTS]));
        }
    }

    /// A table changes.
    #[inline]
    pub(crate) fn forget(&mut self) {
        self.last = EMPTY;
        if let Some(slots) = &mut self.slots {
            slots.fill(EMPTY);
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
            for to in 1..40 {
                assert_eq!(place(&mut recent, to, 100).0, Some(to + 100), "round {round}");
            }
            assert_eq!(place(&mut recent, 77, 100).0, None);
        }
        let before = place(&mut recent, 39, 100).1;
        assert_eq!(place(&mut recent, 39, 100), (Some(139), before));
        assert!(before < 3 * 40, "few of them were looked for in each round: {before}");
        recent.forget();
        let nowhere = Ipv4Addr::UNSPECIFIED;
        assert_eq!(recent.place(nowhere, || None), Some(u32::MAX), "a place where nothing is known");
        assert_eq!([39, 39, 5].map(|to| place(&mut recent, to, 200).0), [Some(239), Some(239), Some(205)]);
    }
}
