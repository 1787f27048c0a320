//! Loss, duplication and reordering, exactly: which sequence numbers of a stream have arrived.

use base::Time;
use std::collections::BTreeMap;

/// What a sequence number says about its packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Later than all before it.
    InOrder,
    /// Earlier than one that has arrived (RFC 4737, 3.3).
    Reordered,
    /// Its number has arrived before.
    Duplicate,
}

/// A packet as a sequence sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbered {
    /// Its number, from zero.
    pub number: u64,
    /// When it was due to leave.
    pub departure: Time,
    /// When its last bit arrived.
    pub arrival: Time,
}

/// The sequence numbers that have arrived: all below `next` except those in the gaps.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    next: u64,
    /// Gaps below `next`: the first missing number, and the first packet behind them that is there.
    gaps: BTreeMap<u64, Numbered>,
}

impl Sequence {
    /// Takes note of an arrival. Numbers count from zero.
    #[inline]
    pub fn arrive(&mut self, seen: Numbered) -> Arrival {
        if seen.number == self.next {
            self.next += 1;
            return Arrival::InOrder;
        }
        self.arrive_out_of_place(seen)
    }

    #[cold]
    fn arrive_out_of_place(&mut self, seen: Numbered) -> Arrival {
        let number = seen.number;
        if number > self.next {
            self.gaps.insert(self.next, seen);
            self.next = number + 1;
            return Arrival::InOrder;
        }
        let gap = self.gaps.range(..=number).next_back().map(|(&from, &to)| (from, to));
        match gap {
            Some((from, after)) if number < after.number => {
                self.gaps.remove(&from);
                if from < number {
                    self.gaps.insert(from, seen);
                }
                if number + 1 < after.number {
                    self.gaps.insert(number + 1, after);
                }
                Arrival::Reordered
            }
            _ => Arrival::Duplicate,
        }
    }

    /// One more than the greatest number that has arrived.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Numbers that have not arrived though a later one has, one after the other: the first, and the packet behind the
    /// last.
    pub fn gaps(&self) -> impl Iterator<Item = (u64, Numbered)> {
        self.gaps.iter().map(|(first, after)| (*first, *after))
    }

    /// How many of the numbers from `from` to before `to` have not arrived.
    pub fn missing(&self, from: u64, to: u64) -> u64 {
        let beyond = to.saturating_sub(self.next.max(from));
        let within = self.gaps.range(..to).map(|(&a, b)| b.number.min(to).saturating_sub(a.max(from)));
        beyond + within.sum::<u64>()
    }

    /// The full number of which `low` are the lowest 32 bits, nearest to what is expected.
    #[inline]
    pub fn extend(&self, low: u32) -> u64 {
        let ahead = low.wrapping_sub(self.next as u32) as i32;
        self.next.saturating_add_signed(i64::from(ahead))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn long_streams_wrap() {
        let s = Sequence { next: 0x1_0000_0002, gaps: BTreeMap::new() };
        assert_eq!(s.extend(3), 0x1_0000_0003);
        assert_eq!(s.extend(0xffff_ffff), 0xffff_ffff);
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        /// Against the obvious implementation: a set.
        #[test]
        fn counts_like_a_set(numbers in proptest::collection::vec(0u64..60, 0..120), from in 0u64..70, n in 0u64..70) {
            let mut sequence = Sequence::default();
            let mut set = BTreeSet::new();
            for number in numbers {
                let greatest = set.last().copied();
                let expected = if !set.insert(number) { Arrival::Duplicate }
                    else if greatest.is_some_and(|g| number < g) { Arrival::Reordered }
                    else { Arrival::InOrder };
                let at = Time(set.len() as u64);
                prop_assert_eq!(sequence.arrive(Numbered { number, departure: at, arrival: at }), expected);
            }
            for (first, after) in sequence.gaps() {
                prop_assert!((first..after.number).all(|number| !set.contains(&number)));
                prop_assert!(set.contains(&after.number) && (first == 0 || set.contains(&(first - 1))));
            }
            let missing = (from..from + n).filter(|k| !set.contains(k)).count() as u64;
            prop_assert_eq!(sequence.missing(from, from + n), missing);
        }
    }
}
