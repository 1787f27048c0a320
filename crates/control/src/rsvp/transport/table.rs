//! A table indexed by handle: pages of slots, made when first used and given back when empty.

const PAGE_BITS: u32 = 8;
const PAGE: usize = 1 << PAGE_BITS;
/// Keys from here on have pages of their own, so that two dense ranges of keys cost no memory in between.
pub(super) const UPPER: u32 = 1 << 31;

/// A slot that knows when it is vacant.
pub(super) trait Slot: Copy {
    /// The value of a slot that is not in use.
    const VACANT: Self;
    /// True if the slot is not in use.
    fn is_vacant(&self) -> bool;
}

struct Page<T> {
    slots: Box<[T; PAGE]>,
    used: usize,
}

/// Values by handle. Costs the size of a slot for each handle, if handles are dense below and from [`UPPER`] on.
pub(super) struct Table<T> {
    pages: [Vec<Option<Page<T>>>; 2],
    len: usize,
}

impl<T: Slot> Table<T> {
    pub(super) const fn new() -> Table<T> {
        Table { pages: [Vec::new(), Vec::new()], len: 0 }
    }
    /// How many slots are in use.
    pub(super) const fn len(&self) -> usize {
        self.len
    }
    /// Which pages, and which of them.
    #[inline]
    const fn page(key: u32) -> (usize, usize) {
        ((key >> 31) as usize, ((key & !UPPER) >> PAGE_BITS) as usize)
    }
    /// The value at `key`.
    pub(super) fn get(&self, key: u32) -> Option<&T> {
        let (range, number) = Table::<T>::page(key);
        let page = self.pages[range].get(number)?.as_ref()?;
        Some(&page.slots[key as usize % PAGE]).filter(|slot| !slot.is_vacant())
    }
    /// The value at `key`, to be changed; it must not be made vacant.
    pub(super) fn get_mut(&mut self, key: u32) -> Option<&mut T> {
        let (range, number) = Table::<T>::page(key);
        let page = self.pages[range].get_mut(number)?.as_mut()?;
        Some(&mut page.slots[key as usize % PAGE]).filter(|slot| !slot.is_vacant())
    }
    /// Puts `value`, which is not vacant, at `key`.
    pub(super) fn set(&mut self, key: u32, value: T) {
        let (range, number) = Table::<T>::page(key);
        let pages = &mut self.pages[range];
        if pages.len() <= number {
            pages.resize_with(number + 1, || None);
        }
        let page = pages[number].get_or_insert_with(|| Page { slots: Box::new([T::VACANT; PAGE]), used: 0 });
        let slot = &mut page.slots[key as usize % PAGE];
        if slot.is_vacant() {
            page.used += 1;
            self.len += 1;
        }
        *slot = value;
    }
    /// Takes the value at `key` out.
    pub(super) fn take(&mut self, key: u32) -> Option<T> {
        let (range, number) = Table::<T>::page(key);
        let entry = self.pages[range].get_mut(number)?;
        let page = entry.as_mut()?;
        let slot = &mut page.slots[key as usize % PAGE];
        if slot.is_vacant() {
            return None;
        }
        let value = core::mem::replace(slot, T::VACANT);
        page.used -= 1;
        self.len -= 1;
        if page.used == 0 {
            *entry = None;
        }
        Some(value)
    }
    /// The first key from `from` on that is in use, looking at no more than `steps` slots or empty pages; else where to
    /// look on, or nothing at the end of the table.
    pub(super) fn next_from(&self, from: u32, steps: &mut u32) -> Search {
        let mut key = from;
        while *steps > 0 {
            *steps -= 1;
            let (range, number) = Table::<T>::page(key);
            match self.pages[range].get(number) {
                None if key < UPPER => key = UPPER,
                None => return Search::End,
                Some(None) => {
                    match (key >> PAGE_BITS).checked_add(1).and_then(|page| page.checked_mul(PAGE as u32)) {
                        Some(next) => key = next,
                        None => return Search::End,
                    }
                }
                Some(Some(page)) => {
                    if !page.slots[key as usize % PAGE].is_vacant() {
                        return Search::Found(key);
                    }
                    match key.checked_add(1) {
                        Some(next) => key = next,
                        None => return Search::End,
                    }
                }
            }
        }
        Search::Pause(key)
    }
    /// Is there such a value?
    pub(super) fn any(&self, is_it: impl Fn(&T) -> bool) -> bool {
        let pages = self.pages.iter().flatten().flatten();
        pages.flat_map(|page| page.slots.iter()).any(|slot| !slot.is_vacant() && is_it(slot))
    }
    /// Gives back all slots and their memory.
    pub(super) fn clear(&mut self) {
        *self = Table::new();
    }
}

/// The outcome of [`Table::next_from`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Search {
    /// This key is in use.
    Found(u32),
    /// Out of steps: go on here.
    Pause(u32),
    /// There is nothing more.
    End,
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Slot for u16 {
        const VACANT: u16 = 0;
        fn is_vacant(&self) -> bool {
            *self == 0
        }
    }

    #[test]
    fn keys_are_found_in_order_and_pages_given_back() {
        let mut table = Table::new();
        for key in [5u32, 300, 100_000, UPPER + 7] {
            table.set(key, key as u16 | 1);
        }
        let (mut found, mut from) = (Vec::new(), 0);
        loop {
            match table.next_from(from, &mut 50) {
                Search::Found(key) => {
                    found.push(key);
                    from = key + 1;
                }
                Search::Pause(key) => from = key,
                Search::End => break,
            }
        }
        assert_eq!(found, [5, 300, 100_000, UPPER + 7]);
        assert_eq!(table.pages[1].len(), 1);
        assert_eq!((table.len(), table.get(300), table.get(301)), (4, Some(&301), None));
        assert_eq!((table.take(300), table.take(300), table.get(300)), (Some(301), None, None));
        assert!(table.pages[0][1].is_none());
    }
}
