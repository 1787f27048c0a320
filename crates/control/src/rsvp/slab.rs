//! A slab: entries named by small numbers that are used again, each with a generation.

/// Stands for no entry where an index is expected.
pub(super) const NIL: u32 = u32::MAX;

/// Entries of a page. The first page grows as a vector does; later ones are made whole, and nothing is moved.
const PAGE: usize = 256;

#[derive(Clone, Debug)]
struct Slot<T> {
    generation: u32,
    value: Option<T>,
}

/// Entries named by index.
#[derive(Clone, Debug)]
pub(super) struct Slab<T> {
    pages: Vec<Vec<Slot<T>>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { pages: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    #[inline]
    fn slot(&self, index: u32) -> Option<&Slot<T>> {
        self.pages.get(index as usize / PAGE)?.get(index as usize % PAGE)
    }

    #[inline]
    fn slot_mut(&mut self, index: u32) -> Option<&mut Slot<T>> {
        self.pages.get_mut(index as usize / PAGE)?.get_mut(index as usize % PAGE)
    }

    /// How many slots there are.
    fn slots(&self) -> usize {
        self.pages.last().map_or(0, |last| (self.pages.len() - 1) * PAGE + last.len())
    }

    pub(super) fn insert(&mut self, value: T) -> u32 {
        if let Some(index) = self.free.pop() {
            if let Some(slot) = self.slot_mut(index) {
                slot.value = Some(value);
            }
            return index;
        }
        let index = self.slots() as u32;
        match self.pages.last_mut() {
            Some(page) if page.len() < PAGE => page.push(Slot { generation: 0, value: Some(value) }),
            last => {
                let room = if last.is_some() { PAGE } else { 1 };
                let mut page = Vec::with_capacity(room);
                page.push(Slot { generation: 0, value: Some(value) });
                self.pages.push(page);
            }
        }
        index
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
        self.slots() - self.free.len()
    }

    /// Indices in use, in order.
    pub(super) fn indices(&self) -> Vec<u32> {
        self.iter().map(|(index, _)| index).collect()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let slots = self.pages.iter().flatten().enumerate();
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

    #[test]
    fn entries_of_all_pages_are_found() {
        let mut slab = Slab::default();
        let count = 3 * PAGE as u32 + 7;
        for value in 0..count {
            assert_eq!(slab.insert(value), value);
        }
        assert_eq!(slab.remove(PAGE as u32), Some(PAGE as u32));
        assert!(slab.iter().all(|(index, &value)| index == value) && slab.get(count).is_none());
        assert_eq!((slab.len(), slab.indices().len()), (count as usize - 1, count as usize - 1));
    }
}
