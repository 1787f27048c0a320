//! Tables for millions of small values: no memory for each value by itself, and little beside the values.
//!
//! [`Dense`] keeps values by key, [`Interner`] keeps each of equal values once and counts who has it. Both find values
//! by hash. [`Dense`] is walked in the order of its keys, which is found when it is asked for.

use crate::map::FixedHasher;
use crate::prefetch::prefetch;
use core::borrow::Borrow;
use core::hash::{Hash, Hasher};

/// Values of a chunk: a table grows by one chunk at a time, so that it never has to be copied.
const CHUNK: usize = 1024;
/// Slots of the smallest index.
const SLOTS: usize = 8;
/// So many slots are looked for in memory at once where a table grows.
const AHEAD: usize = 16;

/// The highest bits of a hash are those that multiplication mixes best.
fn hash_of<T: Hash + ?Sized>(value: &T) -> u32 {
    let mut hasher = FixedHasher::default();
    value.hash(&mut hasher);
    (hasher.finish() >> 32) as u32
}

/// Values by place. They grow by a chunk at a time; the first chunk grows with its values, since most tables are small.
#[derive(Clone, Debug)]
struct Chunks<T>(Vec<Vec<T>>);

impl<T> Chunks<T> {
    fn len(&self) -> usize {
        self.0.last().map_or(0, |last| (self.0.len() - 1) * CHUNK + last.len())
    }

    #[inline]
    fn get(&self, place: u32) -> &T {
        &self.0[place as usize / CHUNK][place as usize % CHUNK]
    }

    #[inline]
    fn get_mut(&mut self, place: u32) -> &mut T {
        &mut self.0[place as usize / CHUNK][place as usize % CHUNK]
    }

    fn push(&mut self, value: T) {
        if self.0.last().is_none_or(|last| last.len() == CHUNK) {
            self.0.push(if self.0.is_empty() { Vec::new() } else { Vec::with_capacity(CHUNK) });
        }
        if let Some(last) = self.0.last_mut() {
            last.push(value);
        }
    }

    fn pop(&mut self) -> Option<T> {
        let value = self.0.last_mut()?.pop();
        if self.0.last().is_some_and(Vec::is_empty) {
            self.0.pop();
        }
        value
    }

    fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten()
    }
}

/// Finds places by hash: open addressing, linear probing, at most four fifths full.
#[derive(Clone, Debug, Default)]
struct Index {
    /// A place and one, in as many bits as the number of a slot has; zero if the slot is free. The bits above are those
    /// of the hash, so that what stands at a place, which is not in a cache, is looked at only if it is probably the
    /// right one: places are less than slots.
    slots: Vec<u32>,
    used: usize,
}

impl Index {
    /// The bits of a slot's number.
    fn mask(&self) -> u32 {
        (self.slots.len() - 1) as u32
    }

    fn slot(&self, hash: u32) -> usize {
        (hash & self.mask()) as usize
    }

    /// What stands in the slot of a place with this hash.
    fn entry(&self, hash: u32, place: u32) -> u32 {
        debug_assert!(place < self.mask(), "there are more slots than places");
        hash & !self.mask() | (place + 1)
    }

    /// Hints that the place with this hash is about to be looked for.
    #[inline]
    fn prefetch(&self, hash: u32) {
        if !self.slots.is_empty()
            && let Some(slot) = self.slots.get(self.slot(hash))
        {
            prefetch(slot);
        }
    }

    fn next(&self, slot: usize) -> usize {
        (slot + 1) & (self.slots.len() - 1)
    }

    /// The place with this hash for which `is_it` is true.
    #[inline]
    fn find(&self, hash: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let (mask, mut slot) = (self.mask(), self.slot(hash));
        loop {
            let entry = self.slots[slot];
            if entry == 0 {
                return None;
            }
            if (entry ^ hash) & !mask == 0 && is_it((entry & mask) - 1) {
                return Some((entry & mask) - 1);
            }
            slot = self.next(slot);
        }
    }

    /// Has it to grow before a place is entered?
    fn is_full(&self) -> bool {
        self.used * 5 >= self.slots.len() * 4
    }

    /// Has twice as many slots from now on. `all` are the hashes and places that are entered: in the order of the
    /// places, since what is known of these is read from memory in its order then.
    fn grow(&mut self, all: impl Iterator<Item = (u32, u32)>) {
        let slots = (self.slots.len() * 2).max(SLOTS);
        self.slots = Vec::new();
        self.slots = vec![0; slots];
        let mut ahead = [(0, 0); AHEAD];
        let mut all = all;
        loop {
            // What is waited for from memory comes for several at once.
            let mut count = 0;
            for (to, one) in ahead.iter_mut().zip(all.by_ref()) {
                self.prefetch(one.0);
                (*to, count) = (one, count + 1);
            }
            ahead[..count].iter().for_each(|&(hash, place)| self.put(hash, place));
            if count < AHEAD {
                return;
            }
        }
    }

    /// Enters a place that is not there; there is room.
    fn insert(&mut self, hash: u32, place: u32) {
        self.used += 1;
        self.put(hash, place);
    }

    fn put(&mut self, hash: u32, place: u32) {
        let mut slot = self.slot(hash);
        while self.slots[slot] != 0 {
            slot = self.next(slot);
        }
        self.slots[slot] = self.entry(hash, place);
    }

    fn slot_of(&self, hash: u32, place: u32) -> Option<usize> {
        let (mut slot, sought) = (self.slot(hash), self.entry(hash, place));
        while self.slots[slot] != sought {
            if self.slots[slot] == 0 {
                debug_assert!(false, "a place that is not in the index");
                return None;
            }
            slot = self.next(slot);
        }
        Some(slot)
    }

    /// Takes out a place that is there: those behind it move up, so that they are still found.
    fn remove(&mut self, hash: u32, place: u32, hash_at: impl Fn(u32) -> u32) {
        let Some(mut free) = self.slot_of(hash, place) else { return };
        let (mut slot, mask) = (free, self.slots.len() - 1);
        loop {
            slot = self.next(slot);
            let entry = self.slots[slot];
            if entry == 0 {
                break;
            }
            let wanted = self.slot(hash_at((entry & self.mask()) - 1));
            // It may stand in the free slot if that is not in front of where its search begins.
            if (slot.wrapping_sub(wanted) & mask) >= (slot.wrapping_sub(free) & mask) {
                self.slots[free] = entry;
                free = slot;
            }
        }
        self.slots[free] = 0;
        self.used -= 1;
    }

    /// What has this hash is at another place from now on.
    fn replace(&mut self, hash: u32, old: u32, new: u32) {
        if let Some(slot) = self.slot_of(hash, old) {
            self.slots[slot] = self.entry(hash, new);
        }
    }
}

/// Values by key. A value has a place, by which it is found without its key; places are good until a value is removed.
#[derive(Clone, Debug)]
pub struct Dense<K, V> {
    pairs: Chunks<(K, V)>,
    index: Index,
}

impl<K, V> Default for Dense<K, V> {
    fn default() -> Dense<K, V> {
        Dense { pairs: Chunks(Vec::new()), index: Index::default() }
    }
}

impl<K: Copy + Ord + Hash, V> Dense<K, V> {
    /// How many values there are.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Is there no value?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The place of a key.
    #[inline]
    pub fn place(&self, key: &K) -> Option<u32> {
        self.index.find(hash_of(key), |place| self.pairs.get(place).0 == *key)
    }

    /// Hints that a key is about to be asked for: of many keys the memory can be waited for at once.
    #[inline]
    pub fn prefetch(&self, key: &K) {
        self.index.prefetch(hash_of(key));
    }

    /// The value at a place.
    #[inline]
    pub fn at(&self, place: u32) -> &V {
        &self.pairs.get(place).1
    }

    /// The value at a place, to be changed.
    #[inline]
    pub fn at_mut(&mut self, place: u32) -> &mut V {
        &mut self.pairs.get_mut(place).1
    }

    /// The key at a place.
    #[inline]
    pub fn key_at(&self, place: u32) -> K {
        self.pairs.get(place).0
    }

    /// The value of a key.
    #[inline]
    pub fn get(&self, key: &K) -> Option<&V> {
        self.place(key).map(|place| self.at(place))
    }

    /// The value of a key, to be changed.
    #[inline]
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.place(key).map(|place| self.at_mut(place))
    }

    /// Is there a value of this key?
    pub fn contains(&self, key: &K) -> bool {
        self.place(key).is_some()
    }

    /// The place of a key, which gets a value if it has none.
    pub fn place_or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> u32 {
        let hash = hash_of(&key);
        if let Some(place) = self.index.find(hash, |place| self.pairs.get(place).0 == key) {
            return place;
        }
        if self.index.is_full() {
            self.index.grow(self.pairs.iter().map(|(key, _)| hash_of(key)).zip(0..));
        }
        let place = self.len() as u32;
        self.index.insert(hash, place);
        self.pairs.push((key, make()));
        place
    }

    /// Gives a key a value, in place of the one that it had.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let mut value = Some(value);
        let place = self.place_or_insert_with(key, || value.take().expect("it is asked for once"));
        value.map(|value| core::mem::replace(self.at_mut(place), value))
    }

    /// Takes out the value of a key. The last value stands at its place then.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let place = self.place(key)?;
        let pairs = &self.pairs;
        self.index.remove(hash_of(key), place, |place| hash_of(&pairs.get(place).0));
        let last = self.pairs.pop()?;
        let behind = self.len() as u32;
        if place == behind {
            return Some(last.1);
        }
        self.index.replace(hash_of(&last.0), behind, place);
        Some(core::mem::replace(self.pairs.get_mut(place), last).1)
    }

    /// All places, in the order of their keys.
    pub fn ordered(&self) -> Vec<u32> {
        let mut all: Vec<(K, u32)> = self.keys().zip(0..).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, place)| place).collect()
    }

    /// All keys, in their order.
    pub fn ordered_keys(&self) -> Vec<K> {
        self.keys_where(|_| true)
    }

    /// All keys, in the order of their places, which says nothing.
    fn keys(&self) -> impl Iterator<Item = K> {
        self.pairs.iter().map(|(key, _)| *key)
    }

    /// Keys of which the value is meant, in their order.
    pub fn keys_where(&self, is_meant: impl Fn(&V) -> bool) -> Vec<K> {
        let all = self.pairs.iter().filter(|(_, value)| is_meant(value));
        let mut all: Vec<K> = all.map(|(key, _)| *key).collect();
        all.sort_unstable();
        all
    }

    /// Each value, in no order.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.pairs.iter().map(|(_, value)| value)
    }

    /// Each value, to be changed, in no order: what is done to one must not depend on another.
    pub fn each(&mut self, what: impl FnMut(&mut V)) {
        self.pairs.0.iter_mut().flatten().map(|(_, value)| value).for_each(what);
    }

    /// All keys with their values, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        self.ordered().into_iter().map(|place| (self.key_at(place), self.at(place)))
    }
}

/// Names a value of an [`Interner`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interned(u32);

impl Interned {
    /// A name that no value has.
    pub const NONE: Interned = Interned(u32::MAX);

    /// Its number, from zero on, for those who keep it beside something else.
    #[inline]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The name with this number.
    #[inline]
    pub const fn of_number(number: u32) -> Interned {
        Interned(number)
    }
}

/// A value of an [`Interner`].
#[derive(Clone, Debug)]
struct Shared<T> {
    /// Nothing where the place is free.
    value: Option<T>,
    users: u32,
    /// Remembered, since the value may lie elsewhere in memory.
    hash: u32,
}

/// Values of which each is there once, with how often it is held. It goes with the last who has it.
#[derive(Clone, Debug)]
pub struct Interner<T> {
    all: Chunks<Shared<T>>,
    free: Vec<u32>,
    index: Index,
    /// The place of what was asked for last: many ask for the same again.
    last: u32,
}

impl<T> Default for Interner<T> {
    fn default() -> Interner<T> {
        Interner { all: Chunks(Vec::new()), free: Vec::new(), index: Index::default(), last: 0 }
    }
}

impl<T> Interner<T> {
    /// A value that somebody holds.
    ///
    /// # Panics
    /// If nobody holds it.
    #[inline]
    pub fn get(&self, id: Interned) -> &T {
        self.all.get(id.0).value.as_ref().expect("a value that is held")
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.index.used
    }

    /// Is there no value?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Somebody else has the value, too.
    #[inline]
    pub fn hold(&mut self, id: Interned) {
        self.all.get_mut(id.0).users += 1;
    }

    /// Hints that a value is about to be asked for.
    #[inline]
    pub fn prefetch<Q: Hash + ?Sized>(&self, sought: &Q) {
        self.index.prefetch(hash_of(sought));
    }

    /// The name of the value that is equal to `sought`, which is made if it is not there; it is held once more.
    pub fn intern<Q>(&mut self, sought: &Q, make: impl FnOnce() -> T) -> Interned
    where
        T: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let all = &self.all;
        let is_it = |shared: &Shared<T>| shared.value.as_ref().is_some_and(|value| value.borrow() == sought);
        if (self.last as usize) < all.len() && is_it(all.get(self.last)) {
            self.hold(Interned(self.last));
            return Interned(self.last);
        }
        let hash = hash_of(sought);
        if let Some(place) = self.index.find(hash, |place| is_it(all.get(place))) {
            self.last = place;
            self.hold(Interned(place));
            return Interned(place);
        }
        if self.index.is_full() {
            let held = self.all.iter().zip(0..).filter(|(shared, _)| shared.value.is_some());
            self.index.grow(held.map(|(shared, place)| (shared.hash, place)));
        }
        let value = make();
        debug_assert!(value.borrow() == sought, "what was made is what was sought");
        let shared = Shared { value: Some(value), users: 1, hash };
        let place = match self.free.pop() {
            Some(place) => {
                *self.all.get_mut(place) = shared;
                place
            }
            None => {
                self.all.push(shared);
                self.all.len() as u32 - 1
            }
        };
        self.index.insert(hash, place);
        self.last = place;
        Interned(place)
    }

    /// Somebody has the value no more.
    pub fn release(&mut self, id: Interned) {
        let shared = self.all.get_mut(id.0);
        debug_assert!(shared.users > 0, "a value that nobody holds");
        shared.users -= 1;
        if shared.users == 0 {
            shared.value = None;
            let hash = shared.hash;
            let all = &self.all;
            self.index.remove(hash, id.0, |place| all.get(place).hash);
            self.free.push(id.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Dense, Interned, Interner};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Whether it goes, a key, a value.
    fn steps() -> impl Strategy<Value = Vec<(bool, u16, u8)>> {
        proptest::collection::vec((any::<bool>(), 0..400u16, any::<u8>()), 0..3_000)
    }

    proptest! {
        #[test]
        fn a_dense_table_is_a_map(steps in steps()) {
            let (mut dense, mut map) = (Dense::default(), BTreeMap::new());
            for (is_removed, key, value) in steps {
                if is_removed {
                    prop_assert_eq!(dense.remove(&key), map.remove(&key));
                } else {
                    prop_assert_eq!(dense.insert(key, value), map.insert(key, value));
                }
                prop_assert_eq!(dense.len(), map.len());
            }
            let all: Vec<(u16, u8)> = dense.iter().map(|(key, value)| (key, *value)).collect();
            prop_assert_eq!(all, map.iter().map(|(key, value)| (*key, *value)).collect::<Vec<_>>());
            for key in 0..400 {
                prop_assert_eq!(dense.get(&key), map.get(&key));
            }
        }

        #[test]
        fn values_go_with_the_last_who_has_them(steps in steps()) {
            let mut interner: Interner<Box<[u8]>> = Interner::default();
            let mut held: BTreeMap<u8, Vec<Interned>> = BTreeMap::new();
            for (is_released, _, value) in steps {
                let value = value % 40;
                if is_released {
                    if let Some(id) = held.get_mut(&value).and_then(Vec::pop) {
                        interner.release(id);
                    }
                } else {
                    let id = interner.intern(&[value, 1][..], || Box::new([value, 1]));
                    held.entry(value).or_default().push(id);
                }
                let known = held.values().filter(|all| !all.is_empty()).count();
                prop_assert_eq!(interner.len(), known);
            }
            for (value, all) in held {
                prop_assert!(all.windows(2).all(|pair| pair[0] == pair[1]));
                prop_assert!(all.iter().all(|id| **interner.get(*id) == [value, 1]));
            }
        }
    }
}
