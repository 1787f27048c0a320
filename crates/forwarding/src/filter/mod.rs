//! Mappings of flows to LSPs: which filter takes a packet, of many, without looking at each.
//!
//! A tuple-space search: filters that constrain the same bits (prefix lengths, protocol, code point, whether each port
//! is free, one, or a range) share a hash table keyed by those bits. Tables are looked at in the order of their first
//! filter, and no further once nothing earlier can be found. Where one port is a range, the filters of a key lie in a
//! list of steps over that port, each with the first filter that covers it. Filters that agree in all else and give
//! ranges of both ports are compared one after another. Filters that give addresses of IPv6 have tables of their own,
//! with longer keys; those that give no address take packets of both families.

mod bucket;
mod tuple;

use crate::entry::{Entry, Kind};
use base::flow::{FlowFilter, FlowKey};
use bucket::Rule;
use std::collections::BTreeMap;
use tuple::{Shape, Tuple};

/// A filter and what becomes of the packets that it takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filtered {
    pub(crate) order: u64,
    pub(crate) filter: FlowFilter,
    pub(crate) entry: Entry,
}

/// FTN entries that take packets by a filter.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Filters {
    by_order: BTreeMap<u64, u32>,
    tuples: Vec<Tuple>,
    slots: Vec<Filtered>,
    free: Vec<u32>,
}

impl Filters {
    /// How many there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.by_order.len()
    }

    /// The place of the first filter that takes the packet.
    #[inline]
    pub(crate) fn find(&self, packet: &FlowKey) -> Option<u32> {
        self.first_of(packet, |_| true)
    }

    /// The place of the first filter that takes the packet by its address.
    pub(crate) fn find_by_address(&self, packet: &FlowKey) -> Option<u32> {
        self.first_of(packet, |tuple| tuple.shape.gives_address())
    }

    #[inline]
    fn first_of(&self, packet: &FlowKey, counts: impl Fn(&Tuple) -> bool) -> Option<u32> {
        let mut best: Option<(u64, u32)> = None;
        for tuple in &self.tuples {
            if best.is_some_and(|(order, _)| order < tuple.first) {
                break;
            }
            if (packet.ports.is_none() && tuple.shape.needs_ports()) || !counts(tuple) {
                continue;
            }
            let Some(bucket) = tuple.bucket(packet) else { continue };
            let found = bucket.find(&tuple.shape, packet.ports.unwrap_or_default());
            best = match (best, found) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        }
        best.map(|(_, place)| place)
    }

    #[inline]
    pub(crate) fn get(&self, place: u32) -> Option<&Filtered> {
        self.slots.get(place as usize)
    }
    #[inline]
    pub(crate) fn get_mut(&mut self, place: u32) -> Option<&mut Filtered> {
        self.slots.get_mut(place as usize)
    }

    /// Is there an entry named `order`?
    pub(crate) fn contains(&self, order: u64) -> bool {
        self.by_order.contains_key(&order)
    }

    /// Puts an entry in, in place of the one named `order`, and returns that one. If only what becomes of its packets
    /// is new, it goes on counting where the old one stopped.
    pub(crate) fn set(&mut self, order: u64, filter: FlowFilter, mut entry: Entry) -> Option<Entry> {
        if let Some(old) = self.by_order.get(&order).and_then(|place| self.slots.get_mut(*place as usize))
            && old.filter == filter
        {
            (entry.packets, entry.bytes) = (old.entry.packets, old.entry.bytes);
            return Some(core::mem::replace(&mut old.entry, entry));
        }
        let old = self.remove(order);
        let new = Filtered { order, filter, entry };
        let place = match self.free.pop() {
            Some(place) => {
                self.slots[place as usize] = new;
                place
            }
            None => {
                self.slots.push(new);
                (self.slots.len() - 1) as u32
            }
        };
        self.by_order.insert(order, place);
        self.insert(&new, place);
        old
    }

    fn insert(&mut self, new: &Filtered, place: u32) {
        let Filtered { order, filter, .. } = *new;
        let shape = Shape::of(&filter);
        let at = self.tuples.iter().position(|t| t.shape == shape).unwrap_or_else(|| {
            self.tuples.push(Tuple::new(shape, order));
            self.tuples.len() - 1
        });
        let tuple = &mut self.tuples[at];
        tuple.orders.insert(order);
        tuple.first = tuple.first.min(order);
        let rule = Rule {
            order,
            place,
            src_ports: filter.src_ports.unwrap_or_default(),
            dst_ports: filter.dst_ports.unwrap_or_default(),
        };
        tuple.enter(&Shape::example(&filter), rule);
        self.tuples.sort_by_key(|t| t.first);
    }

    /// Takes an entry out and returns it.
    pub(crate) fn remove(&mut self, order: u64) -> Option<Entry> {
        let place = self.by_order.remove(&order)?;
        let slot = self.slots.get_mut(place as usize)?;
        let (filter, old) = (slot.filter, slot.entry);
        slot.entry = Entry::default();
        self.free.push(place);
        let shape = Shape::of(&filter);
        let at = self.tuples.iter().position(|t| t.shape == shape)?;
        let tuple = &mut self.tuples[at];
        tuple.orders.remove(&order);
        tuple.leave(&Shape::example(&filter), order);
        match tuple.orders.first() {
            Some(first) => tuple.first = *first,
            None => {
                self.tuples.remove(at);
            }
        }
        self.tuples.sort_by_key(|t| t.first);
        Some(old)
    }

    /// All entries, the one that is looked at first in front.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Filtered> {
        let all = self.by_order.values().filter_map(|place| self.slots.get(*place as usize));
        all.filter(|f| f.entry.kind != Kind::Empty)
    }
}

#[cfg(test)]
mod tests;
