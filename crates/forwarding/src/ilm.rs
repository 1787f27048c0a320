//! The incoming label map: an array indexed by label that grows in chunks.

use crate::entry::{Entry, Kind};
use base::Label;
use base::prefetch::prefetch;

const CHUNK_BITS: u32 = 8;
const CHUNK: usize = 1 << CHUNK_BITS;
const ABSENT: u32 = u32::MAX;

/// The incoming label map. A chunk of 256 labels takes 8 KiB; chunks without labels take none.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Ilm {
    /// For each chunk of the label space, where its entries begin.
    chunks: Vec<u32>,
    entries: Vec<Entry>,
    len: usize,
}

impl Ilm {
    /// Number of labels that have an entry.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The place of `label`, whether it is bound or not.
    #[inline(always)]
    fn place(&self, label: u32) -> Option<usize> {
        let chunk = *self.chunks.get((label >> CHUNK_BITS) as usize)?;
        // An absent chunk lies beyond every entry.
        Some(chunk as usize + (label as usize & (CHUNK - 1)))
    }

    #[inline(always)]
    pub(crate) fn get(&self, label: u32) -> Option<&Entry> {
        self.entries.get(self.place(label)?)
    }

    #[inline(always)]
    pub(crate) fn get_mut(&mut self, label: u32) -> Option<&mut Entry> {
        let place = self.place(label)?;
        self.entries.get_mut(place)
    }

    #[inline(always)]
    pub(crate) fn prefetch(&self, label: u32) {
        if let Some(entry) = self.get(label) {
            prefetch(entry);
        }
    }

    /// Binds `label` to `entry`, which goes on counting where the old one stopped, and returns the old one.
    pub(crate) fn set(&mut self, label: Label, mut entry: Entry) -> Option<Entry> {
        let label = label.value();
        let chunk = (label >> CHUNK_BITS) as usize;
        if self.chunks.len() <= chunk {
            self.chunks.resize(chunk + 1, ABSENT);
        }
        if self.chunks[chunk] == ABSENT {
            self.chunks[chunk] = self.entries.len() as u32;
            base::growth::make_room(&mut self.entries, CHUNK);
            self.entries.resize(self.entries.len() + CHUNK, Entry::default());
        }
        let slot = self.get_mut(label)?;
        let old = *slot;
        (entry.packets, entry.bytes) = (old.packets, old.bytes);
        *slot = entry;
        if old.kind == Kind::Empty {
            self.len += 1;
            return None;
        }
        Some(old)
    }

    /// Unbinds `label` and returns what was bound.
    pub(crate) fn remove(&mut self, label: Label) -> Option<Entry> {
        let slot = self.get_mut(label.value()).filter(|e| e.kind != Kind::Empty)?;
        let old = core::mem::take(slot);
        self.len -= 1;
        Some(old)
    }

    /// Bound labels in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Label, &Entry)> {
        let labels = (0..self.chunks.len() as u32 * CHUNK as u32).map(Label::truncate);
        labels.filter_map(|l| Some((l, self.get(l.value()).filter(|e| e.kind != Kind::Empty)?)))
    }
}
