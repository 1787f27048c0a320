//! A hash map for look-ups only: a fixed hash, and no way to iterate.
//!
//! What is iterated lives in a `Vec`, a slab or a `BTreeMap`, whose order is defined.

use core::hash::{BuildHasherDefault, Hash, Hasher};
use std::collections::HashMap;

/// A multiplicative hash of 64-bit words: fast, portable and without a seed. Not for keys that an adversary chooses
/// to collide; the tables that take keys from the wire bound their size.
#[derive(Clone, Copy, Default)]
pub struct FixedHasher(u64);

const K: u64 = 0xf135_7aea_2e62_a9c5;

impl Hasher for FixedHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        // Without a copy of a length that the compiler doesn't know: addresses have four bytes.
        match *rest {
            [] => {}
            [a, b, c, d] => self.write_u64(u32::from_le_bytes([a, b, c, d]).into()),
            _ => self.write_u64(rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))),
        }
    }
    #[inline]
    fn write_u8(&mut self, v: u8) {
        self.write_u64(u64::from(v));
    }
    #[inline]
    fn write_u16(&mut self, v: u16) {
        self.write_u64(u64::from(v));
    }
    #[inline]
    fn write_u32(&mut self, v: u32) {
        self.write_u64(u64::from(v));
    }
    #[inline]
    fn write_u64(&mut self, v: u64) {
        self.0 = (self.0 ^ v).wrapping_mul(K).rotate_left(29);
    }
    #[inline]
    fn write_usize(&mut self, v: usize) {
        self.write_u64(v as u64);
    }
    #[inline]
    fn finish(&self) -> u64 {
        // The table takes its tag from the highest bits and its place from the lowest: mix once more.
        let x = self.0.wrapping_mul(K);
        x ^ x >> 32
    }
}

type Fixed = BuildHasherDefault<FixedHasher>;

/// Look-ups by key, in no order.
#[derive(Clone, Debug)]
pub struct Map<K, V>(HashMap<K, V, Fixed>);

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Map(HashMap::default())
    }
}

impl<K: Eq + Hash, V> Map<K, V> {
    /// A map without keys; it takes no memory until the first is put in.
    pub fn new() -> Self {
        Map::default()
    }
    /// The value at `key`.
    #[inline]
    pub fn get(&self, key: &K) -> Option<&V> {
        self.0.get(key)
    }
    /// The value at `key`, to be changed.
    #[inline]
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.0.get_mut(key)
    }
    /// The value at `key`, made by `make` if there is none.
    #[inline]
    pub fn get_or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        self.0.entry(key).or_insert_with(make)
    }
    /// Is there a value at `key`?
    #[inline]
    pub fn contains_key(&self, key: &K) -> bool {
        self.0.contains_key(key)
    }
    /// Puts `value` at `key` and returns what was there.
    #[inline]
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.0.insert(key, value)
    }
    /// Takes the value at `key` out.
    #[inline]
    pub fn remove(&mut self, key: &K) -> Option<V> {
        self.0.remove(key)
    }
    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }
    /// Is no key in it?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// Takes all keys and values out, and keeps the memory for others.
    pub fn clear(&mut self) {
        self.0.clear();
    }
    /// Gives memory back that removed keys left behind.
    pub fn shrink_to_fit(&mut self) {
        self.0.shrink_to_fit();
    }
    /// How many keys fit before the table grows.
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }
}
