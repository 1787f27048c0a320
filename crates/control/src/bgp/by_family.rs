//! What is known of destinations, by family: of IPv4 there may be a million, whose keys have five bytes here.

use base::plane::{IpPrefix, Prefix, Prefix6};
use std::collections::BTreeMap;

/// Values by destination, those of IPv4 before those of IPv6.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByFamily<V> {
    v4: BTreeMap<Prefix, V>,
    v6: BTreeMap<Prefix6, V>,
}

impl<V> Default for ByFamily<V> {
    fn default() -> ByFamily<V> {
        ByFamily { v4: BTreeMap::new(), v6: BTreeMap::new() }
    }
}

impl<V> ByFamily<V> {
    /// What is known of a destination.
    pub fn get(&self, prefix: &IpPrefix) -> Option<&V> {
        match prefix {
            IpPrefix::V4(prefix) => self.v4.get(prefix),
            IpPrefix::V6(prefix) => self.v6.get(prefix),
        }
    }

    /// Puts something in, in place of what is returned.
    pub fn insert(&mut self, prefix: IpPrefix, value: V) -> Option<V> {
        match prefix {
            IpPrefix::V4(prefix) => self.v4.insert(prefix, value),
            IpPrefix::V6(prefix) => self.v6.insert(prefix, value),
        }
    }

    /// Takes out what is known of a destination.
    pub fn remove(&mut self, prefix: &IpPrefix) -> Option<V> {
        match prefix {
            IpPrefix::V4(prefix) => self.v4.remove(prefix),
            IpPrefix::V6(prefix) => self.v6.remove(prefix),
        }
    }

    /// Of how many destinations something is known.
    pub fn len(&self) -> usize {
        self.v4.len() + self.v6.len()
    }

    /// Is nothing known?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All destinations of which something is known.
    pub fn keys(&self) -> impl Iterator<Item = IpPrefix> {
        self.iter().map(|(prefix, _)| prefix)
    }

    /// All destinations with what is known of them.
    pub fn iter(&self) -> impl Iterator<Item = (IpPrefix, &V)> {
        let v4 = self.v4.iter().map(|(prefix, value)| (IpPrefix::V4(*prefix), value));
        v4.chain(self.v6.iter().map(|(prefix, value)| (IpPrefix::V6(*prefix), value)))
    }
}
