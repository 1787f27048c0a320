//! Mappings of flows to LSPs: which filter takes a packet, of many, without looking at each.
//!
//! A tuple-space search: filters that constrain the same bits (prefix lengths, protocol, code point, whether each port
//! is free, one, or a range) share a hash table keyed by those bits. Tables are looked at in the order of their first
//! filter, and no further once nothing earlier can be found. Where one port is a range, the filters of a key lie in a
//! list of steps over that port, each with the first filter that covers it. Filters that agree in all else and give
//! ranges of both ports are compared one after another.

use crate::entry::{Entry, Kind};
use base::Map;
use base::flow::{FlowFilter, FlowKey};
use base::plane::Prefix;
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet};

type Range = (u16, u16);

/// What a filter asks of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ports {
    Any,
    One,
    Range,
}

impl Ports {
    fn of(range: Option<Range>) -> Ports {
        match range {
            None => Ports::Any,
            Some((first, last)) if first == last => Ports::One,
            Some(_) => Ports::Range,
        }
    }
    fn key(self, port: u16) -> u64 {
        if self == Ports::One { u64::from(port) } else { 0 }
    }
}

/// Which bits filters constrain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    src: u32,
    dst: u32,
    protocol: bool,
    dscp: bool,
    src_ports: Ports,
    dst_ports: Ports,
}

/// The bits of a filter or packet that a shape keeps.
type Key = (u64, u64);

impl Shape {
    fn of(filter: &FlowFilter) -> Shape {
        let mask = |prefix: Option<Prefix>| {
            prefix.map_or(0, |p| u32::MAX.checked_shl(32 - u32::from(p.len())).unwrap_or(0))
        };
        Shape {
            src: mask(filter.src),
            dst: mask(filter.dst),
            protocol: filter.protocol.is_some(),
            dscp: filter.dscp.is_some(),
            src_ports: Ports::of(filter.src_ports),
            dst_ports: Ports::of(filter.dst_ports),
        }
    }

    fn needs_ports(&self) -> bool {
        self.src_ports != Ports::Any || self.dst_ports != Ports::Any
    }

    #[inline]
    fn key(&self, packet: &FlowKey) -> Key {
        let (sport, dport) = packet.ports.unwrap_or_default();
        let addresses =
            u64::from(packet.src.to_bits() & self.src) << 32 | u64::from(packet.dst.to_bits() & self.dst);
        let protocol = if self.protocol { u64::from(packet.protocol) << 40 } else { 0 };
        let dscp = if self.dscp { u64::from(packet.dscp.value()) << 32 } else { 0 };
        (addresses, protocol | dscp | self.src_ports.key(sport) << 16 | self.dst_ports.key(dport))
    }

    fn key_of(&self, filter: &FlowFilter) -> Key {
        let first = |range: Option<Range>| range.map_or(0, |r| r.0);
        let address = |prefix: Option<Prefix>| prefix.map_or(Ipv4Addr::UNSPECIFIED, Prefix::address);
        self.key(&FlowKey {
            src: address(filter.src),
            dst: address(filter.dst),
            protocol: filter.protocol.unwrap_or(0),
            ports: Some((first(filter.src_ports), first(filter.dst_ports))),
            dscp: filter.dscp.unwrap_or_default(),
        })
    }

    /// The ports over which the filters of a key have steps: source or destination.
    fn axis(&self, ports: Range) -> u16 {
        if self.dst_ports == Ports::Range { ports.1 } else { ports.0 }
    }
}

/// A filter within a bucket.
#[derive(Clone, Copy, Debug)]
struct Rule {
    order: u64,
    place: u32,
    src_ports: Range,
    dst_ports: Range,
}

/// The filters of one shape and key, in order.
#[derive(Clone, Debug, Default)]
struct Bucket {
    /// Order and place of the first.
    first: (u64, u32),
    rules: Vec<Rule>,
    /// From this port on up to that of the next step, this filter is the first.
    steps: Vec<(u16, Option<(u64, u32)>)>,
}

impl Bucket {
    #[inline]
    fn find(&self, shape: &Shape, ports: Range) -> Option<(u64, u32)> {
        match (shape.src_ports, shape.dst_ports) {
            (Ports::Range, Ports::Range) => {
                let within = |range: Range, port: u16| range.0 <= port && port <= range.1;
                let takes = |r: &&Rule| within(r.src_ports, ports.0) && within(r.dst_ports, ports.1);
                self.rules.iter().find(takes).map(|r| (r.order, r.place))
            }
            (Ports::Range, _) | (_, Ports::Range) => {
                let port = shape.axis(ports);
                let step = self.steps.partition_point(|step| step.0 <= port).checked_sub(1)?;
                self.steps.get(step)?.1
            }
            _ => Some(self.first),
        }
    }

    fn insert(&mut self, shape: &Shape, rule: Rule) {
        let at = self.rules.partition_point(|r| r.order < rule.order);
        self.rules.insert(at, rule);
        self.note_first();
        self.paint(shape, &rule);
    }

    fn remove(&mut self, shape: &Shape, order: u64) {
        self.rules.retain(|r| r.order != order);
        self.note_first();
        self.steps.clear();
        for at in 0..self.rules.len() {
            let rule = self.rules[at];
            self.paint(shape, &rule);
        }
    }

    /// An empty bucket is taken out of its table.
    fn note_first(&mut self) {
        self.first = self.rules.first().map(|r| (r.order, r.place)).unwrap_or_default();
    }

    /// Makes `rule` the first on its steps, where it is.
    fn paint(&mut self, shape: &Shape, rule: &Rule) {
        let (first, last) = match (shape.src_ports, shape.dst_ports) {
            (Ports::Range, Ports::Range) => return,
            (_, Ports::Range) => rule.dst_ports,
            (Ports::Range, _) => rule.src_ports,
            _ => return,
        };
        let begin = self.cut(first);
        let end = last.checked_add(1).map_or(self.steps.len(), |next| self.cut(next));
        for step in self.steps.get_mut(begin..end).unwrap_or_default() {
            if step.1.is_none_or(|(order, _)| rule.order < order) {
                step.1 = Some((rule.order, rule.place));
            }
        }
    }

    /// Lets a step begin at `port`, and returns which.
    fn cut(&mut self, port: u16) -> usize {
        match self.steps.binary_search_by_key(&port, |step| step.0) {
            Ok(at) => at,
            Err(at) => {
                let before = at.checked_sub(1).and_then(|before| self.steps[before].1);
                self.steps.insert(at, (port, before));
                at
            }
        }
    }
}

/// The filters of one shape.
#[derive(Clone, Debug)]
struct Tuple {
    shape: Shape,
    /// The lowest of `orders`.
    first: u64,
    orders: BTreeSet<u64>,
    buckets: Map<Key, Bucket>,
}

/// A filter and what becomes of the packets that it takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filtered {
    pub(crate) order: u64,
    pub(crate) filter: FlowFilter,
    pub(crate) entry: Entry,
}

/// FTN entries that take packets by a filter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filters {
    tuples: Vec<Tuple>,
    slots: Vec<Filtered>,
    free: Vec<u32>,
    by_order: BTreeMap<u64, u32>,
}

impl Filters {
    /// How many there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.by_order.len()
    }

    /// The place of the first filter that takes the packet.
    pub(crate) fn find(&self, packet: &FlowKey) -> Option<u32> {
        let mut best: Option<(u64, u32)> = None;
        for tuple in &self.tuples {
            if best.is_some_and(|(order, _)| order < tuple.first) {
                break;
            }
            if packet.ports.is_none() && tuple.shape.needs_ports() {
                continue;
            }
            let Some(bucket) = tuple.buckets.get(&tuple.shape.key(packet)) else { continue };
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
            self.tuples.push(Tuple { shape, first: order, orders: BTreeSet::new(), buckets: Map::new() });
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
        let key = shape.key_of(&filter);
        match tuple.buckets.get_mut(&key) {
            Some(bucket) => bucket.insert(&shape, rule),
            None => {
                let mut bucket = Bucket::default();
                bucket.insert(&shape, rule);
                tuple.buckets.insert(key, bucket);
            }
        }
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
        let key = shape.key_of(&filter);
        if let Some(bucket) = tuple.buckets.get_mut(&key) {
            bucket.remove(&shape, order);
            if bucket.rules.is_empty() {
                tuple.buckets.remove(&key);
            }
        }
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
#[path = "filter_tests.rs"]
mod tests;
