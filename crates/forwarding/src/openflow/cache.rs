//! The answer of a search for packets that look the same: a table of slots by hash, without a search behind it.

use super::Fields;
use super::fields::WORDS;
use crate::hash::mix;

/// Slots of a cache that has been of use, and of one in which packets took each other's place too often; powers of two.
const FIRST: usize = 1024;
const MOST: usize = 8192;

/// Digits of pi.
const SECRETS: [u64; WORDS] = [
    0x243f_6a88_85a3_08d3,
    0x1319_8a2e_0370_7344,
    0xa409_3822_299f_31d0,
    0x082e_fa98_ec4e_6c89,
    0x4528_21e6_38d0_1377,
    0xbe54_66cf_34e9_0c6c,
    0xc0ac_29b7_c97c_50dd,
    0x3f84_d5b5_b547_0917,
    0x9216_d5d9_8979_fb1b,
    0xd131_0ba6_98df_b5ac,
    0x2ffd_72db_d01a_dfb7,
    0xb8e1_afed_6a26_7e96,
    0xba7c_9045_f12c_7f99,
    0x24a1_9947_b391_6cf7,
    0x0801_f2e2_858e_fc16,
    0x6369_20d8_7157_4e69,
];

/// What packets have found. It takes no memory until the first packet.
#[derive(Clone, Debug, Default)]
pub(super) struct Cache {
    /// In pairs: what a packet has found is in one of the two that its hash says.
    slots: Vec<Slot>,
    /// Rises with every change of the table, so that what was found before counts no more.
    generation: u64,
    /// Packets that took another's place while that still counted.
    displaced: usize,
}

#[derive(Clone, Debug)]
struct Slot {
    packet: Fields,
    generation: u64,
    found: Option<u32>,
}

const EMPTY: Slot = Slot { packet: Fields::NONE, generation: 0, found: None };

/// Pairs of words are multiplied with each other: eight products that don't wait for each other. Each word is changed
/// by a number of its own first, so that equal words in different places differ, and zeros don't make the product zero.
#[inline(always)]
fn hash(packet: &Fields) -> u64 {
    let pairs = packet.0.as_chunks::<2>().0.iter().zip(SECRETS.as_chunks::<2>().0);
    let products = pairs.map(|([first, second], [one, other])| mix(first ^ one, second ^ other));
    products.fold(0, u64::wrapping_add)
}

impl Cache {
    /// The first of the two slots of a packet.
    #[inline(always)]
    fn pair_of(&self, packet: &Fields) -> usize {
        hash(packet) as usize & (self.slots.len().wrapping_sub(1)) & !1
    }

    /// What a packet that looks the same has found since the last change.
    #[inline]
    pub(super) fn get(&self, packet: &Fields) -> Option<Option<u32>> {
        let pair = self.slots.get(self.pair_of(packet)..)?.first_chunk::<2>()?;
        let found = pair.iter().find(|slot| slot.generation == self.generation && slot.packet == *packet);
        found.map(|slot| slot.found)
    }

    /// Notes what a packet has found that has not been noted.
    pub(super) fn put(&mut self, packet: &Fields, found: Option<u32>) {
        if self.slots.is_empty() {
            self.generation += 1;
            self.slots.resize(FIRST, EMPTY);
        } else if self.displaced > self.slots.len() && self.slots.len() < MOST {
            let more = 2 * self.slots.len();
            (self.slots, self.displaced) = (Vec::new(), 0);
            self.slots.resize(more, EMPTY);
        }
        let at = self.pair_of(packet);
        let Some([first, second]) = self.slots.get_mut(at..).and_then(|slots| slots.first_chunk_mut::<2>())
        else {
            return;
        };
        // What was noted last is first: the other makes room.
        let current = |slot: &Slot| slot.generation == self.generation;
        if current(first) {
            self.displaced += usize::from(current(second));
            core::mem::swap(first, second);
        }
        *first = Slot { packet: *packet, generation: self.generation, found };
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.generation += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(number: u64) -> Fields {
        let mut packet = Fields::NONE;
        packet.0[8] = number;
        packet
    }

    #[test]
    fn packets_are_found_until_the_table_changes() {
        let mut cache = Cache::default();
        assert_eq!(cache.get(&packet(1)), None);
        cache.put(&packet(1), Some(7));
        cache.put(&packet(2), None);
        assert_eq!([1, 2, 3].map(|number| cache.get(&packet(number))), [Some(Some(7)), Some(None), None]);
        cache.clear();
        assert_eq!([1, 2].map(|number| cache.get(&packet(number))), [None, None]);
        // Nothing of a slot that was never used is taken for something.
        assert_eq!(Cache::default().get(&Fields::NONE), None);
        cache.put(&packet(1), Some(8));
        assert_eq!(cache.get(&Fields::NONE), None);
    }

    #[test]
    fn a_cache_grows_to_what_its_packets_need_and_no_further() {
        let mut cache = Cache::default();
        let rounds = |cache: &mut Cache, packets: u64| {
            let mut missed = 0;
            for number in (0..packets).cycle().take(20 * packets as usize) {
                if cache.get(&packet(number)).is_none() {
                    cache.put(&packet(number), Some(number as u32));
                    missed += 1;
                }
            }
            missed as f64 / (20 * packets) as f64
        };
        assert!(rounds(&mut cache, 100) < 0.1);
        assert_eq!(cache.slots.len(), FIRST);
        rounds(&mut cache, 1000);
        assert!(rounds(&mut cache, 1000) < 0.1);
        assert!((2 * FIRST..=MOST).contains(&cache.slots.len()));
        rounds(&mut cache, 100_000);
        assert_eq!(cache.slots.len(), MOST);
    }
}
