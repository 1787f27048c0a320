//! Groups of next hops under IPv6: shares of flows, what a lost member moves, what a port that goes down costs.

use crate::support::{P0, chi_square, forward, label, leaves_by, mac, nhlfe};
use base::plane::{
    Fec, GroupId, LabelStack, Leg, Member, NextHop, PortConfig, Prefix6, TableOp, TcSource, TtlModel,
};
use base::{Body, Frame, MacAddr, NodeId, PortId, Verdict};
use core::net::Ipv6Addr;
use twinplane_forwarding::{Config, Forwarding, Seed};
use wire::{ethernet, ipv6};

const GROUP: GroupId = GroupId(5);
/// Neighbours are on ports 1 to 8, one on each.
const PORTS: u16 = 8;

fn gateway(port: u16) -> Ipv6Addr {
    Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, port, 2)
}
fn leg(port: u16) -> Leg {
    Leg { labels: LabelStack::EMPTY, port: PortId(port), gateway: gateway(port).into() }
}
fn over(ports: &[u16]) -> TableOp {
    let member = |port: &u16| Member { leg: leg(*port), backup: None };
    TableOp::GroupSet { group: GROUP, members: ports.iter().map(member).collect() }
}
fn port(port: u16, up: bool) -> TableOp {
    let port = PortId(port);
    TableOp::PortSet { port, config: PortConfig { mac: mac(port), mtu: 1500, up } }
}
fn prefix(n: u32) -> Prefix6 {
    Prefix6::new(Ipv6Addr::new(0x2001, 0xdb8, (n >> 16) as u16, n as u16, 0, 0, 0, 0), 64)
}

/// A node with a route (network 9), and a mapping with labels (network 8), whose next hop is the group.
fn tables(seed: u64, first: TableOp) -> Forwarding {
    let mut tables = Forwarding::new(Config { seed: Seed(seed, !seed), ..Config::default() });
    let mut ops: Vec<_> = (0..=PORTS).map(|n| port(n, true)).collect();
    for n in 1..=PORTS {
        let mac = MacAddr::of_port(NodeId(2), PortId(n));
        ops.push(TableOp::AdjacencySet { port: PortId(n), gateway: gateway(n).into(), mac });
    }
    ops.push(first);
    ops.push(TableOp::Route6Set { prefix: prefix(9), next_hop: NextHop::Group(GROUP) });
    let mapped = nhlfe(&[2, 77], NextHop::Group(GROUP), TtlModel::Uniform, TcSource::Copy);
    ops.push(TableOp::FtnSet { fec: Fec::Prefix6(prefix(8)), nhlfe: mapped });
    ops.iter().for_each(|op| tables.apply(op).unwrap_or_else(|error| panic!("{op:?}: {error}")));
    tables
}

/// The `n`-th flow to a network: flows differ by both addresses, source port and flow label.
fn frame(network: u32, n: u32) -> Frame {
    let mut bytes = [&mac(P0).0[..], &MacAddr::of_port(NodeId(9), P0).0[..], &[0x86, 0xdd]].concat();
    let to = Ipv6Addr::from_bits(prefix(network).address().to_bits() | (u128::from(n % 16) + 1));
    let from = Ipv6Addr::new(0x2001, 0xdb8, 0xffff, 0, 0, 0, 0, (n / 16 % 16) as u16 + 1);
    let ip = ipv6::Repr { flow_label: n / 256 % 4, ..ipv6::Repr::new(from, to, ipv6::Protocol::UDP, 18) };
    bytes.resize(ethernet::HEADER_LEN + ip.buffer_len(), 0);
    ip.emit(&mut bytes[ethernet::HEADER_LEN..]);
    bytes.extend((1_000 + (n / 1_024) as u16).to_be_bytes());
    bytes.extend(80u16.to_be_bytes());
    Frame::new(&bytes, Body::Pattern { start: 0, len: 14 })
}

fn choices(tables: &mut Forwarding, network: u32, count: u32) -> Vec<u16> {
    (0..count).map(|n| leaves_by(tables, &frame(network, n))).collect()
}

#[test]
fn flows_are_shared_within_sampling_error() {
    // Upper bounds of chi-square that a fair choice exceeds once in 10,000 times, by degrees of freedom.
    for (count, bound) in [(2, 15.14), (3, 18.42), (4, 21.11), (8, 29.88)] {
        let ports: Vec<u16> = (1..=count).collect();
        for network in [9, 8] {
            let mut tables = tables(u64::from(count), over(&ports));
            let found = chi_square(&choices(&mut tables, network, 10_000), &ports);
            assert!(found < bound, "{count} members, network {network}: {found}");
        }
    }
}

#[test]
fn a_member_that_goes_moves_only_its_own_flows() {
    for network in [9, 8] {
        let mut tables = tables(9, over(&[1, 2, 3, 4]));
        let before = choices(&mut tables, network, 4_000);
        assert_eq!(choices(&mut tables, network, 4_000), before, "a flow keeps its way");
        tables.apply(&port(3, false)).expect("a port");
        let down = choices(&mut tables, network, 4_000);
        assert!(before.iter().zip(&down).all(|(old, new)| if *old == 3 { *new != 3 } else { new == old }));
        tables.apply(&over(&[4, 2, 1])).expect("a group");
        assert_eq!(choices(&mut tables, network, 4_000), down, "nothing moves a second time");
        tables.apply(&port(3, true)).expect("a port");
        tables.apply(&over(&[1, 2, 3, 4])).expect("a group");
        assert_eq!(choices(&mut tables, network, 4_000), before);
    }
}

#[test]
fn one_write_is_enough_for_a_port_that_goes_down() {
    const COUNT: u32 = 100_000;
    let mut tables = tables(1, over(&[1]));
    let (equal, protected) = (GroupId(6), GroupId(7));
    let alone = |port| Member { leg: leg(port), backup: None };
    let backed = Member {
        leg: leg(1),
        backup: Some(Leg { labels: LabelStack::new(&[label(900)]).expect("one"), ..leg(2) }.into()),
    };
    for (group, members) in [(equal, vec![alone(1), alone(3)]), (protected, vec![backed])] {
        tables.apply(&TableOp::GroupSet { group, members: members.into() }).expect("a group");
    }
    for n in 0..COUNT {
        let next_hop = NextHop::Group(if n % 2 == 0 { protected } else { equal });
        let prefix = prefix(0x10_0000 + n);
        let op = if n % 4 < 2 {
            TableOp::Route6Set { prefix, next_hop }
        } else {
            let nhlfe = nhlfe(&[2, 400], next_hop, TtlModel::Uniform, TcSource::Copy);
            TableOp::FtnSet { fec: Fec::Prefix6(prefix), nhlfe }
        };
        tables.apply(&op).expect("an entry");
    }
    let way = |tables: &mut Forwarding, n: u32| {
        let mut frame = frame(0x10_0000 + n, n);
        match forward(tables, &mut frame) {
            Verdict::Transmit { port, .. } => port.0,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!([0, 4, COUNT - 4].map(|n| way(&mut tables, n)), [1; 3]);
    // The one write.
    tables.apply(&port(1, false)).expect("a port");
    for n in 0..COUNT {
        assert_eq!(way(&mut tables, n), if n % 2 == 0 { 2 } else { 3 });
    }
    tables.apply(&port(1, true)).expect("a port");
    assert_eq!(way(&mut tables, 0), 1);
}
