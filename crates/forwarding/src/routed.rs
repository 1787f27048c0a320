//! The common case of IPv4, in one go: a packet that came without labels and leaves without labels.

use crate::addresses::{is_broadcast_in, is_unicast};
use crate::adjacency::{Adjacencies, Adjacency, State};
use crate::entry::Kind;
use crate::fast::choose;
use crate::fib::Fib;
use crate::group::Group;
use crate::hash::{self, Seed};
use crate::packet::{ETHERNET, ETHERTYPE_IPV4, IPV4, is_intact, lower_ttl};
use crate::tables::Forwarding;
use base::frame::Lengths;
use base::{Frame, PortId};
use core::net::Ipv4Addr;

/// The first byte of an IPv4 header without options.
const PLAIN: u8 = 0x45;

impl Forwarding {
    /// Routes a frame for the port with `key` (see [`crate::port::Port::short`]) that is an IPv4 packet without
    /// options and nothing behind it, by a route, or a mapping that pushes no label. Returns nothing, and changes
    /// nothing, in all other cases, among them all in which the packet is not transmitted. What is asked of the
    /// packet is what [`Forwarding::decide`] asks, in the same order.
    ///
    /// Inlined only where what happens otherwise needs nothing of what this knows: else half of that is on the stack.
    #[inline(always)]
    pub(crate) fn route(&mut self, key: u64, lengths: Lengths, frame: &mut Frame) -> Option<PortId> {
        let len = frame.len();
        let (header, below) = frame.header_mut().split_first_chunk_mut::<{ ETHERNET + IPV4 }>()?;
        let (ethernet, ip) = header.split_first_chunk_mut::<ETHERNET>()?;
        let ip = ip.first_chunk_mut::<IPV4>()?;
        let [a, b, c, d, e, f, g, h, ..] = *ethernet;
        // The address, as `mac_key` makes it.
        let to = u64::from_le_bytes([a, b, c, d, e, f, g, h]) << 16;
        let known_type = u16::from_be_bytes([ethernet[12], ethernet[13]]) == ETHERTYPE_IPV4;
        if to != key || !known_type || ip[0] != PLAIN {
            return None;
        }
        let total = u32::from(u16::from_be_bytes([ip[2], ip[3]]));
        if total != len - ETHERNET as u32 || !is_intact(ip) {
            return None;
        }
        let (tos, ttl) = (ip[1], ip[8]);
        let from = Ipv4Addr::new(ip[12], ip[13], ip[14], ip[15]);
        let to = Ipv4Addr::new(ip[16], ip[17], ip[18], ip[19]);
        if !is_unicast(from) || ttl <= 1 {
            return None;
        }
        // Group addresses, and those of all on a link, are above the last host's: they are never remembered.
        let port = 'way: {
            if let Some(slot) = self.recent.plain(to) {
                let egress = self.ports.record(slot.port)?;
                if lengths.segment - ETHERNET as u32 > egress.room {
                    return None;
                }
                if slot.count(lengths.wire).is_some() {
                    egress.count_tx(u64::from(lengths.wire));
                    ethernet[..12].copy_from_slice(&slot.addresses);
                    break 'way slot.port;
                }
            }
            self.route_by_prefix(lengths, ethernet, ip, below)?
        };
        lower_ttl(ip);
        if self.config.diffserv.is_some() && frame.phb().is_none() {
            frame.set_phb(self.phb_of_tos(tos));
        }
        Some(port)
    }

    /// The way of a packet by what is known of its longest prefix. Its Ethernet header is rewritten and it is counted,
    /// as [`Forwarding::route`] does where the destination is remembered.
    #[inline(never)]
    fn route_by_prefix(
        &mut self,
        lengths: Lengths,
        ethernet: &mut [u8; ETHERNET],
        ip: &[u8; IPV4],
        below: &[u8],
    ) -> Option<PortId> {
        let to = Ipv4Addr::new(ip[16], ip[17], ip[18], ip[19]);
        let (place, seen) = self.recent.place(to, &mut self.fib, |fib| {
            let place = is_unicast(to).then(|| fib.find(to))??;
            Some(fib.own(place, to))
        })?;
        let known = self.fib.get_mut(place)?;
        let (classed, prefix_len) = (known.classed, Fib::len_at(place));
        let entry = known.active_mut();
        if classed != 0 || entry.depth > 0 {
            return None;
        }
        let adjacency = match entry.kind {
            Kind::Via => entry.next_hop,
            Kind::Connected => connected(&self.adjacencies, entry.next_hop, prefix_len, to)?,
            _ => return None,
        };
        let single = self.adjacencies.get(adjacency)?;
        let is_single = single.state == State::Ready;
        let adjacency = match is_single {
            true => single,
            false => balanced(&self.adjacencies, &self.groups, single, self.config.seed, ip, below)?,
        };
        let port = adjacency.port;
        let egress = self.ports.record(port)?;
        if lengths.segment - ETHERNET as u32 > egress.room {
            return None;
        }
        egress.count_tx(u64::from(lengths.wire));
        entry.count(lengths.wire);
        ethernet[..12].copy_from_slice(&adjacency.addresses);
        if seen && is_single {
            self.recent.set_plain(to, adjacency, &mut self.fib);
        }
        Some(port)
    }
}

/// The neighbour on a connected network that has an address, if it is known and the address is not that of all on the
/// network. The network has a prefix of `len` bits. Cold, as is what follows: what the plain way keeps in registers is
/// put aside for it alone.
#[cold]
#[inline(never)]
fn connected(adjacencies: &Adjacencies, network: u32, len: u8, to: Ipv4Addr) -> Option<u32> {
    if is_broadcast_in(len, to) {
        return None;
    }
    adjacencies.find(adjacencies.get(network)?.port, to.into())
}

/// The neighbour that the flow of a packet goes to by a group which the fast path can choose in, if it is one. Not
/// inlined, as that of labelled frames is not.
#[cold]
#[inline(never)]
fn balanced<'a>(
    adjacencies: &'a Adjacencies,
    groups: &[Group],
    next_hop: &Adjacency,
    seed: Seed,
    ip: &[u8; IPV4],
    below: &[u8],
) -> Option<&'a Adjacency> {
    let ports = || below.first_chunk::<4>().map(|ports| u32::from_le_bytes(*ports));
    choose(adjacencies, groups, next_hop, || hash::v4(seed, ip, ports))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Config;
    use crate::unwritten::plain;
    use base::plane::{
        Fec, GroupId, LabelStack, Leg, Member, NextHop, Nhlfe, PortConfig, Prefix, TableOp, TcSource,
        TtlModel,
    };
    use base::{Body, DiffServConfig, Label, MacAddr, NodeId, Time};
    use proptest::prelude::*;
    use wire::checksum;

    const IN: PortId = PortId(0);
    const OUT: PortId = PortId(1);

    fn prefix(text: &str) -> Prefix {
        text.parse().expect("a prefix")
    }

    fn via(gateway: [u8; 4]) -> NextHop {
        NextHop::Via { port: OUT, gateway: Ipv4Addr::from(gateway).into() }
    }

    fn tables(diffserv: bool) -> Forwarding {
        let config = Config { diffserv: diffserv.then(DiffServConfig::default), ..Config::default() };
        let mut tables = Forwarding::new(config);
        let port = |port| {
            let config = PortConfig { mac: MacAddr::of_port(NodeId(1), port), mtu: 200, up: true };
            TableOp::PortSet { port, config }
        };
        let push = |labels: &[Label]| Nhlfe {
            push: LabelStack::new(labels).expect("a stack"),
            next_hop: via([10, 2, 0, 9]),
            ttl: TtlModel::Uniform,
            tc: TcSource::Copy,
        };
        let map =
            |text, labels: &[Label]| TableOp::FtnSet { fec: Fec::Prefix(prefix(text)), nhlfe: push(labels) };
        let known = |gateway: [u8; 4]| TableOp::AdjacencySet {
            port: OUT,
            gateway: Ipv4Addr::from(gateway).into(),
            mac: MacAddr::of_port(NodeId(2), PortId(u16::from(gateway[3]))),
        };
        let route = |text, next_hop| TableOp::RouteSet { prefix: prefix(text), next_hop };
        for op in [
            port(IN),
            port(OUT),
            route("10.2.0.0/24", via([0; 4])),
            route("10.2.0.1/32", NextHop::Local),
            route("10.3.0.0/16", via([10, 2, 0, 9])),
            route("10.4.0.0/16", via([10, 2, 0, 8])),
            route("10.5.0.0/16", NextHop::Discard),
            map("10.6.0.0/16", &[Label::truncate(77)]),
            map("10.7.0.0/16", &[]),
            known([10, 2, 0, 9]),
            known([10, 2, 0, 7]),
        ] {
            tables.apply(&op).expect("an entry");
        }
        tables
    }

    /// A plain packet of 60 bytes to an address, for [`IN`].
    fn packet(to: [u8; 4]) -> Frame {
        let mut bytes = [0; ETHERNET + IPV4];
        bytes[..6].copy_from_slice(&MacAddr::of_port(NodeId(1), IN).0);
        bytes[12] = 8;
        let ip = &mut bytes[ETHERNET..];
        ip[..4].copy_from_slice(&[PLAIN, 0, 0, 60]);
        (ip[8], ip[9]) = (64, 17);
        ip[12..16].copy_from_slice(&[10, 1, 0, 2]);
        ip[16..].copy_from_slice(&to);
        let check = !checksum::sum(ip);
        ip[10..12].copy_from_slice(&check.to_be_bytes());
        Frame::new(&bytes, Body::Pattern { start: 0, len: 40 })
    }

    /// All that the ports and the prefixes have counted.
    fn counted(tables: &Forwarding) -> String {
        let (ports, fib): (Vec<_>, Vec<_>) = (tables.ports().collect(), tables.fib().collect());
        format!("{ports:?} {fib:?} {:?}", tables.ftn().collect::<Vec<_>>())
    }

    #[test]
    fn a_destination_is_looked_for_again_after_a_change() {
        let mut tables = tables(false);
        let key = tables.ports.get(IN).map_or(0, |port| port.short);
        let routed = |tables: &mut Forwarding| {
            let frame = &mut packet([10, 3, 0, 1]);
            tables.route(key, frame.lengths(), frame)
        };
        assert_eq!([routed(&mut tables), routed(&mut tables)], [Some(OUT); 2]);
        let longer = TableOp::RouteSet { prefix: prefix("10.3.0.1/32"), next_hop: NextHop::Discard };
        tables.apply(&longer).expect("a route");
        assert_eq!(routed(&mut tables), None);
        tables.apply(&TableOp::RouteRemove { prefix: prefix("10.3.0.1/32") }).expect("a route");
        assert_eq!(routed(&mut tables), Some(OUT));
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        /// What goes the short way is what it would be, and counts where it would, by the long one.
        #[test]
        fn the_short_way_ends_where_the_long_one_does(
            to in prop_oneof![
                (2u8..9, prop_oneof![Just(0u8), Just(1), Just(7), Just(9), Just(255), any::<u8>()]).prop_map(|(net, host)| [10, net, 0, host]),
                any::<[u8; 4]>(),
            ],
            (tos, ttl, payload, padding) in (any::<u8>(), 0u8..5, prop_oneof![0u32..60, 170u32..190], prop_oneof![3 => Just(0u32), 1 => 1u32..9]),
            wrong in proptest::collection::vec((0usize..ETHERNET + IPV4, any::<u8>()), 0..2),
            repaired: bool,
            diffserv: bool,
        ) {
            let mut bytes = [0; ETHERNET + IPV4];
            bytes[..6].copy_from_slice(&MacAddr::of_port(NodeId(1), IN).0);
            bytes[12] = 8;
            let ip = &mut bytes[ETHERNET..];
            ip[..4].copy_from_slice(&[PLAIN, tos, 0, (20 + payload) as u8]);
            (ip[8], ip[9]) = (ttl, 17);
            ip[12..16].copy_from_slice(&[10, 1, 0, 2]);
            ip[16..].copy_from_slice(&to);
            for (at, byte) in wrong.iter().filter(|_| repaired) {
                bytes[*at] = *byte;
            }
            bytes[ETHERNET + 10..ETHERNET + 12].fill(0);
            let check = !checksum::sum(&bytes[ETHERNET..]);
            bytes[ETHERNET + 10..ETHERNET + 12].copy_from_slice(&check.to_be_bytes());
            for (at, byte) in wrong.iter().filter(|_| !repaired) {
                bytes[*at] = *byte;
            }
            let first = Frame::new(&bytes, Body::Pattern { start: 0, len: payload + padding });
            let (mut short, mut long) = (tables(diffserv), tables(diffserv));
            let key = short.ports.get(IN).map_or(0, |port| port.short);
            // From the third packet on its destination is remembered.
            for _ in 0..4 {
                let (mut frame, mut other) = (first.clone(), first.clone());
                let verdicts = (short.forward(Time(5), IN, key, frame.lengths(), &mut frame), long.forward_any(Time(5), IN, &mut other));
                prop_assert_eq!(verdicts.0, verdicts.1);
                prop_assert_eq!(frame.phb(), other.phb());
                prop_assert_eq!(frame, other);
            }
            prop_assert_eq!(counted(&short), counted(&long));
        }
    }

    fn member(gateway: [u8; 4]) -> Member {
        let gateway = Ipv4Addr::from(gateway).into();
        Member { leg: Leg { port: OUT, gateway, labels: LabelStack::EMPTY }, backup: None }
    }

    /// What may happen between two packets.
    fn change() -> impl Strategy<Value = TableOp> {
        let some = || {
            prop_oneof![
                Just("10.0.0.0/8"),
                Just("10.2.0.0/24"),
                Just("10.3.0.0/16"),
                Just("10.3.0.0/30"),
                Just("10.3.0.1/32")
            ]
            .prop_map(prefix)
        };
        let hop = prop_oneof![
            Just(via([10, 2, 0, 9])),
            Just(via([10, 2, 0, 8])),
            Just(via([0; 4])),
            Just(NextHop::Discard),
            Just(NextHop::Group(GroupId(1))),
        ];
        let gateway = || (7u8..10).prop_map(|host| Ipv4Addr::new(10, 2, 0, host).into());
        let label = proptest::option::of(Just(Label::truncate(77)));
        let push = |prefix, label: Option<Label>| {
            let push = LabelStack::new(label.as_slice()).expect("a stack");
            let nhlfe =
                Nhlfe { push, next_hop: via([10, 2, 0, 9]), ttl: TtlModel::Uniform, tc: TcSource::Copy };
            TableOp::FtnSet { fec: Fec::Prefix(prefix), nhlfe }
        };
        prop_oneof![
            (some(), hop).prop_map(|(prefix, next_hop)| TableOp::RouteSet { prefix, next_hop }),
            some().prop_map(|prefix| TableOp::RouteRemove { prefix }),
            (some(), label).prop_map(move |(prefix, label)| push(prefix, label)),
            some().prop_map(|prefix| TableOp::FtnRemove { fec: Fec::Prefix(prefix) }),
            (gateway(), any::<u8>()).prop_map(|(gateway, last)| TableOp::AdjacencySet {
                port: OUT,
                gateway,
                mac: MacAddr([2, 0, 0, 0, 0, last]),
            }),
            gateway().prop_map(|gateway| TableOp::AdjacencyRemove { port: OUT, gateway }),
            (any::<bool>(), prop_oneof![Just(20u32), Just(200)], 0u16..3).prop_map(|(up, mtu, mac)| {
                TableOp::PortSet {
                    port: OUT,
                    config: PortConfig { mac: MacAddr::of_port(NodeId(1), PortId(mac)), mtu, up },
                }
            }),
            any::<bool>().prop_map(|trusted| TableOp::PortTrust { port: OUT, trusted }),
            proptest::collection::vec(7u8..10, 1..3).prop_map(move |hosts| TableOp::GroupSet {
                group: GroupId(1),
                members: hosts.into_iter().map(|host| member([10, 2, 0, host])).collect(),
            }),
            Just(TableOp::IlmSet { label: Label::truncate(99), nhlfe: plain(via([10, 2, 0, 9])) }),
        ]
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        /// Whatever changes, packets go where they would go if nothing were remembered, and are counted where they
        /// would.
        #[test]
        fn what_is_remembered_changes_nothing(
            steps in proptest::collection::vec((change(), proptest::collection::vec(0usize..6, 0..12)), 1..30),
        ) {
            let to = [[10, 3, 0, 1], [10, 3, 0, 2], [10, 3, 0, 9], [10, 2, 0, 9], [10, 2, 0, 255], [10, 4, 0, 1]];
            let (mut short, mut long) = (tables(false), tables(false));
            let group = TableOp::GroupSet { group: GroupId(1), members: [member([10, 2, 0, 9])].into() };
            let key = short.ports.get(IN).map_or(0, |port| port.short);
            for (op, packets) in core::iter::once((group, Vec::new())).chain(steps) {
                prop_assert_eq!(short.apply(&op), long.apply(&op));
                for which in packets {
                    let (mut one, mut other) = (packet(to[which]), packet(to[which]));
                    let verdicts = (short.forward(Time(5), IN, key, one.lengths(), &mut one), long.forward_any(Time(5), IN, &mut other));
                    prop_assert_eq!(verdicts.0, verdicts.1);
                    prop_assert_eq!(one, other);
                }
                prop_assert_eq!(counted(&short), counted(&long));
            }
        }
    }
}
