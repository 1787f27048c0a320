//! A slab: entries named by small numbers that are used again, each with a generation.

use base::pages::Pages;

/// Stands for no entry where an index is expected.
pub(super) const NIL: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Slot<T> {
    generation: u32,
    value: Option<T>,
}

/// Entries named by index.
#[derive(Clone, Debug)]
pub(super) struct Slab<T> {
    slots: Pages<Slot<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { slots: Pages::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    #[inline]
    fn slot(&self, index: u32) -> Option<&Slot<T>> {
        self.slots.get(index as usize)
    }

    #[inline]
    fn slot_mut(&mut self, index: u32) -> Option<&mut Slot<T>> {
        self.slots.get_mut(index as usize)
    }

    pub(super) fn insert(&mut self, value: T) -> u32 {
        if let Some(index) = self.free.pop() {
            if let Some(slot) = self.slot_mut(index) {
                slot.value = Some(value);
            }
            return index;
        }
        self.slots.push(Slot { generation: 0, value: Some(value) }) as u32
    }

    pub(super) fn remove(&mut self, index: u32) -> Option<T> {
        let slot = self.slot_mut(index)?;
        let value = slot.value.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(index);
        Some(value)
    }

    #[inline]
    pub(super) fn get(&self, index: u32) -> Option<&T> {
        self.slot(index)?.value.as_ref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        self.slot_mut(index)?.value.as_mut()
    }

    /// Identifies an entry together with its index: a later entry at the same index has another generation.
    pub(super) fn generation(&self, index: u32) -> u32 {
        self.slot(index).map_or(0, |slot| slot.generation)
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Indices in use, in order.
    pub(super) fn indices(&self) -> Vec<u32> {
        self.iter().map(|(index, _)| index).collect()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(i, slot)| Some((i as u32, slot.value.as_ref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_index_comes_back_in_a_new_generation() {
        let mut slab = Slab::default();
        let (a, b) = (slab.insert('a'), slab.insert('b'));
        let before = slab.generation(a);
        assert_eq!(slab.remove(a), Some('a'));
        assert_eq!((slab.remove(a), slab.get(a), slab.len()), (None, None, 1));
        assert_eq!(slab.insert('c'), a);
        assert_ne!(slab.generation(a), before);
        assert_eq!(slab.indices(), [a, b]);
    }
}
