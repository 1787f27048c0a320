//! The answer of a search for packets that look the same: a table of slots by hash, without a search behind it.

use super::Fields;
use crate::hash::mix;

/// Slots of a cache; a power of two.
const SLOTS: usize = 4096;

/// What packets have found. It takes no memory until the first packet.
#[derive(Clone, Debug, Default)]
pub(super) struct Cache {
    slots: Vec<Slot>,
    /// Rises with every change of the table, so that what was found before counts no more.
    generation: u64,
}

#[derive(Clone, Debug)]
struct Slot {
    packet: Fields,
    generation: u64,
    found: Option<u32>,
}

fn slot_of(packet: &Fields) -> usize {
    let hash = packet
        .0
        .iter()
        .fold(0x9e37_79b9_7f4a_7c15, |hash, word| mix(hash ^ word, 0xa076_1d64_78bd_642f) ^ hash);
    hash as usize & (SLOTS - 1)
}

impl Cache {
    /// What a packet that looks the same has found since the last change.
    pub(super) fn get(&self, packet: &Fields) -> Option<Option<u32>> {
        let slot = self.slots.get(slot_of(packet))?;
        (slot.generation == self.generation && slot.packet == *packet).then_some(slot.found)
    }

    /// Notes what a packet has found.
    pub(super) fn put(&mut self, packet: &Fields, found: Option<u32>) {
        if self.slots.is_empty() {
            self.generation += 1;
            self.slots.resize(SLOTS, Slot { packet: Fields::NONE, generation: 0, found: None });
        }
        self.slots[slot_of(packet)] = Slot { packet: *packet, generation: self.generation, found };
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.generation += 1;
    }
}
