//! Filters that constrain the same bits: their table, by those bits.

use super::bucket::{Bucket, Ports, Range, Rule};
use base::Map;
use base::flow::{FlowFilter, FlowKey};
use base::plane::IpPrefix;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::collections::BTreeSet;

/// Which bits of addresses filters constrain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Masks {
    /// None: they take packets of both families.
    Any,
    /// These bits of source and destination in packets of IPv4.
    V4(u32, u32),
    /// The same of IPv6.
    V6(u128, u128),
}

impl Masks {
    fn of(filter: &FlowFilter) -> Masks {
        let given = [filter.src, filter.dst];
        if given.iter().all(Option::is_none) {
            return Masks::Any;
        }
        if filter.is_ipv6() {
            let [src, dst] = given.map(|prefix| match prefix {
                Some(IpPrefix::V6(prefix)) => {
                    u128::MAX.checked_shl(128 - u32::from(prefix.len())).unwrap_or(0)
                }
                _ => 0,
            });
            return Masks::V6(src, dst);
        }
        let [src, dst] = given.map(|prefix| match prefix {
            Some(IpPrefix::V4(prefix)) => u32::MAX.checked_shl(32 - u32::from(prefix.len())).unwrap_or(0),
            _ => 0,
        });
        Masks::V4(src, dst)
    }
}

/// Which bits filters constrain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) masks: Masks,
    protocol: bool,
    dscp: bool,
    pub(super) src_ports: Ports,
    pub(super) dst_ports: Ports,
}

/// The bits of a filter or packet that a shape keeps: addresses of IPv4, and the rest.
type Key = (u64, u64);
/// The same with addresses of IPv6.
type Key6 = (u128, u128, u64);

impl Shape {
    pub(super) fn of(filter: &FlowFilter) -> Shape {
        Shape {
            masks: Masks::of(filter),
            protocol: filter.protocol.is_some(),
            dscp: filter.dscp.is_some(),
            src_ports: Ports::of(filter.src_ports),
            dst_ports: Ports::of(filter.dst_ports),
        }
    }

    /// Do its filters give an address?
    pub(super) fn gives_address(&self) -> bool {
        self.masks != Masks::Any
    }

    pub(super) fn needs_ports(&self) -> bool {
        self.src_ports != Ports::Any || self.dst_ports != Ports::Any
    }

    /// What counts beside the addresses.
    #[inline]
    fn rest(&self, packet: &FlowKey) -> u64 {
        let (sport, dport) = packet.ports.unwrap_or_default();
        let protocol = if self.protocol { u64::from(packet.protocol) << 40 } else { 0 };
        let dscp = if self.dscp { u64::from(packet.dscp.value()) << 32 } else { 0 };
        protocol | dscp | self.src_ports.key(sport) << 16 | self.dst_ports.key(dport)
    }

    /// A packet that the filter takes.
    pub(super) fn example(filter: &FlowFilter) -> FlowKey {
        let first = |range: Option<Range>| range.map_or(0, |r| r.0);
        let none: IpAddr =
            if filter.is_ipv6() { Ipv6Addr::UNSPECIFIED.into() } else { Ipv4Addr::UNSPECIFIED.into() };
        let address = |prefix: Option<IpPrefix>| match prefix {
            None => none,
            Some(IpPrefix::V4(prefix)) => prefix.address().into(),
            Some(IpPrefix::V6(prefix)) => prefix.address().into(),
        };
        FlowKey {
            src: address(filter.src),
            dst: address(filter.dst),
            protocol: filter.protocol.unwrap_or(0),
            ports: Some((first(filter.src_ports), first(filter.dst_ports))),
            dscp: filter.dscp.unwrap_or_default(),
        }
    }

    /// The ports over which the filters of a key have steps: source or destination.
    pub(super) fn axis(&self, ports: Range) -> u16 {
        if self.dst_ports == Ports::Range { ports.1 } else { ports.0 }
    }
}

/// The buckets of a shape by their keys.
#[derive(Clone, Debug)]
enum Buckets {
    /// Where addresses of IPv4, or none, are part of the key.
    Short(Map<Key, Bucket>),
    /// Where addresses of IPv6 are.
    Long(Map<Key6, Bucket>),
}

/// The filters of one shape.
#[derive(Clone, Debug)]
pub(super) struct Tuple {
    pub(super) shape: Shape,
    /// The lowest of `orders`.
    pub(super) first: u64,
    pub(super) orders: BTreeSet<u64>,
    buckets: Buckets,
}

/// A place in the buckets of a tuple.
enum Place {
    Short(Key),
    Long(Key6),
}

impl Tuple {
    pub(super) fn new(shape: Shape, first: u64) -> Tuple {
        let buckets = match shape.masks {
            Masks::Any | Masks::V4(..) => Buckets::Short(Map::new()),
            Masks::V6(..) => Buckets::Long(Map::new()),
        };
        Tuple { shape, first, orders: BTreeSet::new(), buckets }
    }

    /// Where a packet belongs; nowhere if it is of the other family.
    #[inline]
    fn place(&self, packet: &FlowKey) -> Option<Place> {
        let rest = self.shape.rest(packet);
        match (self.shape.masks, packet.src, packet.dst) {
            (Masks::V4(src, dst), IpAddr::V4(from), IpAddr::V4(to)) => {
                let addresses = u64::from(from.to_bits() & src) << 32 | u64::from(to.to_bits() & dst);
                Some(Place::Short((addresses, rest)))
            }
            (Masks::Any, ..) => Some(Place::Short((0, rest))),
            (Masks::V6(src, dst), IpAddr::V6(from), IpAddr::V6(to)) => {
                Some(Place::Long((from.to_bits() & src, to.to_bits() & dst, rest)))
            }
            _ => None,
        }
    }

    #[inline]
    pub(super) fn bucket(&self, packet: &FlowKey) -> Option<&Bucket> {
        match (&self.buckets, self.place(packet)?) {
            (Buckets::Short(buckets), Place::Short(key)) => buckets.get(&key),
            (Buckets::Long(buckets), Place::Long(key)) => buckets.get(&key),
            _ => None,
        }
    }

    /// Enters a rule with the filters whose key is that of `example`.
    pub(super) fn enter(&mut self, example: &FlowKey, rule: Rule) {
        let place = self.place(example);
        let bucket = match (&mut self.buckets, place) {
            (Buckets::Short(buckets), Some(Place::Short(key))) => {
                buckets.get_or_insert_with(key, Bucket::default)
            }
            (Buckets::Long(buckets), Some(Place::Long(key))) => {
                buckets.get_or_insert_with(key, Bucket::default)
            }
            _ => return debug_assert!(false, "a filter's example is of its own family"),
        };
        bucket.insert(&self.shape, rule);
    }

    /// Takes the rule with this order out.
    pub(super) fn leave(&mut self, example: &FlowKey, order: u64) {
        fn from<K: Eq + core::hash::Hash>(buckets: &mut Map<K, Bucket>, key: &K, shape: &Shape, order: u64) {
            if let Some(bucket) = buckets.get_mut(key) {
                bucket.remove(shape, order);
                if bucket.rules.is_empty() {
                    buckets.remove(key);
                }
            }
        }
        let place = self.place(example);
        match (&mut self.buckets, place) {
            (Buckets::Short(buckets), Some(Place::Short(key))) => from(buckets, &key, &self.shape, order),
            (Buckets::Long(buckets), Some(Place::Long(key))) => from(buckets, &key, &self.shape, order),
            _ => debug_assert!(false, "a filter's example is of its own family"),
        }
    }
}
