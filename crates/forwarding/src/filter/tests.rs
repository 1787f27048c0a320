use super::bucket::Range;
use super::*;
use base::Dscp;
use base::plane::{IpPrefix, Prefix, Prefix6};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

fn address() -> impl Strategy<Value = Ipv4Addr> {
    (0u8..3, 0u8..3, 0u8..3).prop_map(|(a, b, c)| Ipv4Addr::new(10, a, b, c))
}
/// An address of either family, for one of IPv4.
fn of_family(six: bool, address: Ipv4Addr) -> IpAddr {
    if six {
        Ipv6Addr::from_bits(0x2001_0db8 << 96 | u128::from(address.to_bits())).into()
    } else {
        address.into()
    }
}
/// The same of a prefix.
fn prefix_of_family(six: bool, prefix: Prefix) -> IpPrefix {
    match of_family(six, prefix.address()) {
        IpAddr::V4(_) => prefix.into(),
        IpAddr::V6(_) if prefix.len() == 0 => Prefix6::new(Ipv6Addr::UNSPECIFIED, 0).into(),
        IpAddr::V6(address) => Prefix6::new(address, 96 + prefix.len()).into(),
    }
}
fn prefix() -> impl Strategy<Value = Prefix> {
    (address(), prop_oneof![Just(0u8), Just(8), Just(16), 23u8..=32]).prop_map(|(a, n)| Prefix::new(a, n))
}
fn port() -> impl Strategy<Value = u16> {
    prop_oneof![4 => 0u16..12, 1 => (u16::MAX - 2)..=u16::MAX]
}
fn range() -> impl Strategy<Value = Range> {
    (port(), port()).prop_map(|(a, b)| (a.min(b), a.max(b)))
}
fn filter() -> impl Strategy<Value = FlowFilter> {
    let protocol = prop_oneof![Just(6u8), Just(17), Just(1)];
    let dscp = (0u8..3).prop_map(|d| Dscp::new(d).unwrap_or_default());
    let ports = (of(range()), of(range()));
    (any::<bool>(), of(prefix()), of(prefix()), of(protocol), ports, of(dscp)).prop_map(
        |(six, src, dst, protocol, (src_ports, dst_ports), dscp)| FlowFilter {
            src: src.map(|prefix| prefix_of_family(six, prefix)),
            dst: dst.map(|prefix| prefix_of_family(six, prefix)),
            protocol,
            src_ports,
            dst_ports,
            dscp,
        },
    )
}
fn packet() -> impl Strategy<Value = FlowKey> {
    let protocol = prop_oneof![Just(6u8), Just(17), Just(1)];
    (any::<bool>(), address(), address(), protocol, of((port(), port())), 0u8..3).prop_map(
        |(six, src, dst, protocol, ports, dscp)| FlowKey {
            src: of_family(six, src),
            dst: of_family(six, dst),
            protocol,
            ports,
            dscp: Dscp::new(dscp).unwrap_or_default(),
        },
    )
}

proptest! {
    #![proptest_config(testing::cases(256))]
    /// The first in a list that takes the packet, whatever was put in, replaced and taken out before.
    #[test]
    fn finds_what_a_list_finds(
        steps in vec((0u64..24, of(filter())), 1..80),
        narrow in any::<bool>(),
        packets in vec(packet(), 40),
    ) {
        let mut filters = Filters::default();
        let mut list: BTreeMap<u64, FlowFilter> = BTreeMap::new();
        for (order, filter) in steps {
            match filter {
                Some(mut filter) => {
                    if narrow {
                        // Many of one shape and key.
                        (filter.src, filter.dst, filter.protocol, filter.dscp) = (None, None, Some(6), None);
                    }
                    let mut entry = Entry::default();
                    entry.kind = Kind::Via;
                    let old = filters.set(order, filter, entry);
                    prop_assert_eq!(old.is_some(), list.insert(order, filter).is_some());
                }
                None => {
                    prop_assert_eq!(filters.remove(order).is_some(), list.remove(&order).is_some());
                }
            }
            prop_assert_eq!(filters.len(), list.len());
            for packet in &packets {
                let naive = list.iter().find(|(_, filter)| filter.takes(packet)).map(|(order, _)| *order);
                let found = filters.find(packet).and_then(|place| Some(filters.get(place)?.order));
                prop_assert_eq!(found, naive, "{:?}", packet);
                let by_address = |filter: &FlowFilter| filter.src.or(filter.dst).is_some() && filter.takes(packet);
                let naive = list.iter().find(|(_, filter)| by_address(filter)).map(|(order, _)| *order);
                let found = filters.find_by_address(packet).and_then(|place| Some(filters.get(place)?.order));
                prop_assert_eq!(found, naive, "{:?}", packet);
            }
        }
        let shown: Vec<_> = filters.iter().map(|f| (f.order, f.filter)).collect();
        prop_assert_eq!(shown, list.clone().into_iter().collect::<Vec<_>>());
        for order in list.keys() { filters.remove(*order); }
        prop_assert!(filters.tuples.is_empty());
    }
}
