//! Groups of next hops: shares of flows, what a lost member moves, what a port that goes down costs.

use crate::support::*;
use base::device::DropReason;
use base::plane::{
    Backup, GroupId, LabelStack, Leg, Member, NextHop, Nhlfe, PortConfig, Prefix, ReplicationId, TableError,
    TableOp, TcSource, TtlModel,
};
use base::{Body, Frame, MacAddr, NodeId, PortId, Verdict};
use core::net::Ipv4Addr;
use twinplane_forwarding::{Branch, Config, Forwarding, PuntReason, Seed};

const GROUP: GroupId = GroupId(5);
/// Neighbours are on ports 1 to 8, one on each.
const PORTS: u16 = 8;

fn gateway(port: u16) -> Ipv4Addr {
    Ipv4Addr::new(10, 1, port as u8, 2)
}
fn leg(port: u16, labels: &[u32]) -> Leg {
    let labels: Vec<_> = labels.iter().map(|l| label(*l)).collect();
    Leg { labels: LabelStack::new(&labels).expect("four"), port: PortId(port), gateway: gateway(port).into() }
}
fn member(port: u16) -> Member {
    Member { leg: leg(port, &[]), backup: None }
}
fn group(members: &[Member]) -> TableOp {
    TableOp::GroupSet { group: GROUP, members: members.into() }
}
fn over(ports: &[u16]) -> TableOp {
    group(&ports.iter().map(|port| member(*port)).collect::<Vec<_>>())
}
fn port(port: u16, up: bool) -> TableOp {
    let port = PortId(port);
    TableOp::PortSet { port, config: PortConfig { mac: mac(port), mtu: 1500, up } }
}
fn by_group(push: &[u32]) -> Nhlfe {
    nhlfe(push, NextHop::Group(GROUP), TtlModel::Uniform, TcSource::Copy)
}

/// A node with a route, a mapping and labels (300 swaps, 301 pops) whose next hop is the group.
fn tables(seed: u64, first: TableOp) -> Forwarding {
    let mut tables = Forwarding::new(Config { seed: Seed(seed, !seed), ..Config::default() });
    let mut ops: Vec<_> = (0..=PORTS).map(|n| port(n, true)).collect();
    for n in 1..=PORTS {
        let mac = MacAddr::of_port(NodeId(2), PortId(n));
        ops.push(TableOp::AdjacencySet { port: PortId(n), gateway: gateway(n).into(), mac });
    }
    ops.push(first);
    ops.push(TableOp::RouteSet { prefix: prefix("10.9.0.0/16"), next_hop: NextHop::Group(GROUP) });
    ops.push(TableOp::FtnSet { fec: fec("10.8.0.0/16"), nhlfe: by_group(&[77]) });
    ops.push(ilm(300, by_group(&[400])));
    ops.push(ilm(301, by_group(&[])));
    ops.iter().for_each(|op| tables.apply(op).unwrap_or_else(|error| panic!("{op:?}: {error}")));
    tables
}

/// What distinguishes a flow here: the lowest bytes of its addresses, and its ports.
#[derive(Clone, Copy, Debug)]
struct Flow(u8, u8, u16, u16);

fn flows(count: usize) -> Vec<Flow> {
    let of = |n: usize| Flow((n % 16) as u8, (n / 16 % 16) as u8, 1_000 + (n / 256) as u16, 80);
    (0..count).map(of).collect()
}

fn frame_of(stack: &[Entry], flow: Flow, fragment: u16) -> Frame {
    let ip = Ip { to: Ipv4Addr::new(10, 9, 3, flow.1), ..Ip::default() };
    let mut bytes = frame(stack, ip).header().to_vec();
    let at = bytes.len() - 20;
    bytes[at + 15] = flow.0;
    bytes[at + 6..at + 8].copy_from_slice(&fragment.to_be_bytes());
    wire::ipv4::Packet::new_unchecked(&mut bytes[at..]).fill_checksum();
    bytes.extend(flow.2.to_be_bytes());
    bytes.extend(flow.3.to_be_bytes());
    Frame::new(&bytes, Body::Pattern { start: 0, len: 14 })
}

fn choices(tables: &mut Forwarding, stack: &[Entry], flows: &[Flow]) -> Vec<u16> {
    flows.iter().map(|flow| leaves_by(tables, &frame_of(stack, *flow, 0))).collect()
}

const STACKS: [&[Entry]; 3] = [&[], &[(300, 0, 9)], &[(301, 0, 9), (500, 0, 9)]];

#[test]
fn flows_are_shared_within_sampling_error() {
    // Upper bounds of chi-square that a fair choice exceeds once in 10,000 times, by degrees of freedom.
    let bounds = [(2, 15.14), (3, 18.42), (4, 21.11), (5, 23.51), (7, 27.86), (8, 29.88)];
    for (count, bound) in bounds {
        let ports: Vec<u16> = (1..=count).collect();
        for stack in STACKS {
            let mut tables = tables(u64::from(count), over(&ports));
            let chosen = choices(&mut tables, stack, &flows(10_000));
            let found = chi_square(&chosen, &ports);
            assert!(found < bound, "{count} members, {stack:?}: {found}");
        }
    }
}

#[test]
fn nodes_in_a_row_do_not_choose_alike() {
    let mut first = tables(1, over(&[1, 2]));
    let all = flows(10_000);
    let chosen = choices(&mut first, &[], &all);
    let left: Vec<Flow> =
        all.iter().zip(&chosen).filter(|(_, port)| **port == 1).map(|(flow, _)| *flow).collect();
    let mut second = tables(2, over(&[1, 2]));
    let found = chi_square(&choices(&mut second, &[], &left), &[1, 2]);
    assert!(found < 15.14, "{found} over {} flows", left.len());
    // And the same seed chooses the same, on every machine: this is what it chose when the test was written.
    let shown: String = chosen[..32].iter().map(|port| port.to_string()).collect();
    assert_eq!(shown, "11112111221122121211222112111211");
}

#[test]
fn a_member_that_goes_moves_only_its_own_flows() {
    let all = flows(4_000);
    for stack in STACKS {
        let mut tables = tables(9, over(&[1, 2, 3, 4]));
        let before = choices(&mut tables, stack, &all);
        let moves_only_those_of_3 = |after: &[u16]| {
            before.iter().zip(after).all(|(old, new)| if *old == 3 { *new != 3 } else { new == old })
        };
        // Its port goes down, then the control plane takes it out, then both come back.
        tables.apply(&port(3, false)).expect("a port");
        let down = choices(&mut tables, stack, &all);
        assert!(moves_only_those_of_3(&down));
        let moved: Vec<u16> =
            before.iter().zip(&down).filter(|(old, _)| **old == 3).map(|(_, new)| *new).collect();
        assert!(chi_square(&moved, &[1, 2, 4]) < 18.42, "what moved is shared, too");
        tables.apply(&over(&[4, 2, 1])).expect("a group");
        assert_eq!(choices(&mut tables, stack, &all), down, "nothing moves a second time");
        tables.apply(&port(3, true)).expect("a port");
        tables.apply(&over(&[1, 2, 3, 4])).expect("a group");
        assert_eq!(choices(&mut tables, stack, &all), before);
        // One more draws from all alike, and nothing moves between those that were there.
        tables.apply(&over(&[1, 2, 3, 4, 5])).expect("a group");
        let after = choices(&mut tables, stack, &all);
        assert!(before.iter().zip(&after).all(|(old, new)| new == old || *new == 5));
        assert!(chi_square(&after, &[1, 2, 3, 4, 5]) < 23.51);
    }
}

#[test]
fn fragments_of_a_packet_go_one_way() {
    let mut tables = tables(3, over(&[1, 2, 3, 4, 5, 6, 7, 8]));
    for stack in STACKS {
        for flow in flows(300) {
            let first = leaves_by(&mut tables, &frame_of(stack, flow, 0x2000));
            let later = frame_of(stack, Flow(flow.0, flow.1, 9, 9), 0x2010);
            let last = frame_of(stack, Flow(flow.0, flow.1, 8, 8), 0x0030);
            assert_eq!([leaves_by(&mut tables, &later), leaves_by(&mut tables, &last)], [first; 2]);
        }
    }
}

#[test]
fn an_entropy_label_alone_decides() {
    let mut tables = tables(4, over(&[1, 2, 3, 4]));
    let mut chosen = Vec::new();
    for entropy in 1_000..2_000 {
        let stack = [(300, 0, 9), (7, 0, 0), (entropy, 0, 0)];
        let ways: Vec<u16> =
            flows(3).iter().map(|f| leaves_by(&mut tables, &frame_of(&stack, *f, 0))).collect();
        assert_eq!(ways, [ways[0]; 3]);
        chosen.push(ways[0]);
    }
    assert!(chi_square(&chosen, &[1, 2, 3, 4]) < 21.11);
    // TTL and TC are no part of a flow, and neither is a reserved label.
    let flow = flows(1)[0];
    let way = leaves_by(&mut tables, &frame_of(&[(300, 0, 9), (600, 0, 9)], flow, 0));
    assert_eq!(leaves_by(&mut tables, &frame_of(&[(300, 3, 99), (600, 5, 7)], flow, 0)), way);
    assert_eq!(leaves_by(&mut tables, &frame_of(&[(300, 0, 9), (0, 0, 9), (600, 0, 9)], flow, 0)), way);
}

#[test]
fn one_write_is_enough_for_a_port_that_goes_down() {
    const COUNT: u32 = 100_000;
    let protected = |leg| Member { leg, backup: Some(self::leg(2, &[900]).into()) };
    let mut tables = tables(1, group(&[protected(leg(1, &[]))]));
    let equal = GroupId(6);
    tables
        .apply(&TableOp::GroupSet { group: equal, members: [member(1), member(3)].into() })
        .expect("a group");
    for n in 0..COUNT {
        let group = NextHop::Group(if n % 2 == 0 { GROUP } else { equal });
        let prefix = Prefix::new(Ipv4Addr::from_bits(0x1400_0000 + (n << 8)), 24);
        tables.apply(&TableOp::RouteSet { prefix, next_hop: group }).expect("a route");
        let nhlfe = nhlfe(&[400], group, TtlModel::Uniform, TcSource::Copy);
        tables.apply(&ilm(1_000 + n, nhlfe)).expect("an entry");
    }
    let to = |n: u32| Ip { to: Ipv4Addr::from_bits(0x1400_0000 + (n << 8) + 9), ..Ip::default() };
    let way = |tables: &mut Forwarding, mut frame: Frame| match forward(tables, &mut frame) {
        Verdict::Transmit { port, .. } => (port.0, frame),
        other => panic!("{other:?}"),
    };
    for n in [0, 2, COUNT - 2] {
        assert_eq!(way(&mut tables, frame(&[], to(n))).0, 1);
        assert_eq!(way(&mut tables, frame(&[(1_000 + n, 2, 9)], to(n))).0, 1);
    }
    // The one write.
    tables.apply(&port(1, false)).expect("a port");
    for n in 0..COUNT {
        let (routed, labelled) = (frame(&[], to(n)), frame(&[(1_000 + n, 2, 9)], to(n)));
        let ((routed, ip), (swapped, mpls)) = (way(&mut tables, routed), way(&mut tables, labelled));
        if n % 2 == 1 {
            assert_eq!([routed, swapped], [3; 2]);
            continue;
        }
        assert_eq!([routed, swapped], [2; 2]);
        let ip_out = Ip { ttl: 63, ..to(n) };
        let port = PortId(2);
        let expect = |stack: &[Entry], ip| framed(neighbour_mac(port), mac(port), stack, ip);
        assert_eq!(ip, expect(&[(900, 46 >> 3, 63)], ip_out), "below a bypass label");
        assert_eq!(mpls, expect(&[(900, 2, 8), (400, 2, 8)], to(n)));
    }
    tables.apply(&port(2, false)).expect("a port");
    let mut lost = frame(&[(1_000, 2, 9)], to(0));
    assert_eq!(forward(&mut tables, &mut lost), Verdict::Drop(DropReason::PortDown));
    tables.apply(&port(1, true)).expect("a port");
    assert_eq!(way(&mut tables, frame(&[(1_000, 2, 9)], to(0))).0, 1);
}

#[test]
fn a_backup_may_lead_to_a_router_that_knows_the_packet_by_another_label() {
    // RFC 4090, 3.2: one LSP whose merge point is the next router but one, with label 500 instead of 400.
    let backup = |swap| Backup { leg: leg(2, &[900]), swap: Some(label(swap)) };
    let members = |swap| group(&[Member { leg: leg(1, &[]), backup: Some(backup(swap)) }]);
    let mut tables = tables(1, members(500));
    let nhlfe = nhlfe(&[400], NextHop::Group(GROUP), TtlModel::Uniform, TcSource::Copy);
    tables.apply(&ilm(1_000, nhlfe)).expect("an entry");
    let sent = |tables: &mut Forwarding| {
        let mut frame = frame(&[(1_000, 2, 9)], Ip::default());
        match forward(tables, &mut frame) {
            Verdict::Transmit { port, .. } => (port.0, frame),
            other => panic!("{other:?}"),
        }
    };
    let out = |port: u16, stack: &[Entry], ip| {
        (port, framed(neighbour_mac(PortId(port)), mac(PortId(port)), stack, ip))
    };
    assert_eq!(sent(&mut tables), out(1, &[(400, 2, 8)], Ip::default()));
    // Whether the port is down or its far end is silent, it is one write.
    for silent in [false, true] {
        let (before, after) = match silent {
            true => [false, true].map(|trusted| TableOp::PortTrust { port: PortId(1), trusted }).into(),
            false => (port(1, false), port(1, true)),
        };
        tables.apply(&before).expect("a port");
        assert_eq!(sent(&mut tables), out(2, &[(900, 2, 8), (500, 2, 8)], Ip::default()));
        tables.apply(&after).expect("a port");
        assert_eq!(sent(&mut tables).0, 1);
    }
    // Packets without another way, and those of the node itself, still leave by a port that is distrusted.
    tables.apply(&TableOp::PortTrust { port: PortId(1), trusted: false }).expect("a port");
    let via = NextHop::Via { port: PortId(1), gateway: gateway(1).into() };
    tables.apply(&ilm(1_001, Nhlfe { next_hop: via, ..nhlfe })).expect("an entry");
    let mut other = frame(&[(1_001, 2, 9)], Ip::default());
    assert!(matches!(forward(&mut tables, &mut other), Verdict::Transmit { port: PortId(1), .. }));
    let mut own = frame(&[], Ip::default());
    assert_eq!(tables.transmit_via(PortId(1), gateway(1).into(), &mut own).ok(), Some(PortId(1)));
    assert_eq!(sent(&mut tables).0, 2);
    tables.apply(&TableOp::PortTrust { port: PortId(1), trusted: true }).expect("a port");
    // A merge point that is the end of the LSP and asked for implicit null.
    tables.apply(&members(3)).expect("a group");
    tables.apply(&port(1, false)).expect("a port");
    assert_eq!(sent(&mut tables), out(2, &[(900, 2, 8)], Ip { ttl: 8, ..Ip::default() }));
    let odd = TableOp::GroupSet {
        group: GROUP,
        members: [Member { leg: leg(1, &[]), backup: Some(backup(14)) }].into(),
    };
    assert_eq!(tables.apply(&odd), Err(TableError::ReservedLabel));
}

#[test]
fn members_may_put_labels_on() {
    let tunnel = |port, outer| Member { leg: leg(port, outer), backup: None };
    let mut tables = tables(8, group(&[tunnel(1, &[801, 802]), tunnel(2, &[803])]));
    let mut seen = [false; 2];
    for flow in flows(32) {
        let mut frame = frame_of(&[(300, 3, 9)], flow, 0);
        let Verdict::Transmit { port, .. } = forward(&mut tables, &mut frame) else { panic!("not sent") };
        let word = |at: usize| u32::from_be_bytes(frame.header()[at..at + 4].try_into().expect("four"));
        let entry = |label: u32, bottom: u32| label << 12 | 3 << 9 | bottom << 8 | 8;
        seen[usize::from(port.0 - 1)] = true;
        if port.0 == 1 {
            assert_eq!([word(14), word(18), word(22)], [entry(802, 0), entry(801, 0), entry(400, 1)]);
        } else {
            assert_eq!([word(14), word(18)], [entry(803, 0), entry(400, 1)]);
        }
    }
    assert_eq!(seen, [true; 2]);
    // A popped label exposes IP, and the labels of the way out go on that.
    let mut frame = frame_of(&[(301, 3, 9)], flows(1)[0], 0);
    assert!(matches!(forward(&mut tables, &mut frame), Verdict::Transmit { .. }));
    let bottom = if frame.header()[16] & 1 == 1 { 18 } else { 22 };
    assert_eq!((frame.header()[bottom], frame.header()[bottom + 8]), (0x45, 8));
}

#[test]
fn groups_are_checked_and_released() {
    let mut tables = tables(1, over(&[1, 2]));
    let failed = |tables: &mut Forwarding, op: TableOp| tables.apply(&op).expect_err("wrong");
    let connected = Leg { gateway: Ipv4Addr::UNSPECIFIED.into(), ..leg(1, &[]) };
    for members in [vec![], vec![member(1), member(1)], vec![Member { leg: connected, backup: None }]] {
        assert_eq!(failed(&mut tables, group(&members)), TableError::Group);
    }
    let many: Vec<_> = (0..65u8)
        .map(|n| Member {
            leg: Leg { gateway: Ipv4Addr::new(10, 1, 1, n + 1).into(), ..leg(1, &[]) },
            backup: None,
        })
        .collect();
    assert_eq!(failed(&mut tables, group(&many)), TableError::Group);
    assert_eq!(failed(&mut tables, over(&[1, 99])), TableError::NoPort);
    assert_eq!(
        failed(&mut tables, group(&[Member { leg: leg(1, &[3]), backup: None }])),
        TableError::ReservedLabel
    );
    let unknown = NextHop::Group(GroupId(77));
    let op = TableOp::RouteSet { prefix: prefix("10.7.0.0/16"), next_hop: unknown };
    assert_eq!(failed(&mut tables, op), TableError::NoGroup);
    assert_eq!(failed(&mut tables, TableOp::GroupRemove { group: GROUP }), TableError::InUse);
    let rows: Vec<_> = tables.groups().collect();
    assert_eq!(
        rows.iter().map(|row| (row.member, row.uses)).collect::<Vec<_>>(),
        [(member(1), 4), (member(2), 4)]
    );
    assert_eq!(tables.fib().next().expect("a route").next_hop, NextHop::Group(GROUP));
    // A neighbour that is known under a group of one changes its address there, too.
    tables.apply(&over(&[4])).expect("a group");
    let moved = MacAddr([2, 9, 9, 9, 9, 9]);
    let known = |mac| TableOp::AdjacencySet { port: PortId(4), gateway: gateway(4).into(), mac };
    tables.apply(&known(moved)).expect("a neighbour");
    let mut frame = frame_of(&[(300, 0, 9)], flows(1)[0], 0);
    forward(&mut tables, &mut frame);
    assert_eq!(frame.header()[..6], moved.0);
    tables.apply(&over(&[1, 2])).expect("a group");
    for op in [
        TableOp::RouteRemove { prefix: prefix("10.9.0.0/16") },
        TableOp::FtnRemove { fec: fec("10.8.0.0/16") },
        TableOp::IlmRemove { label: label(300) },
        TableOp::IlmRemove { label: label(301) },
        TableOp::GroupRemove { group: GROUP },
    ] {
        tables.apply(&op).expect("there");
    }
    assert!(tables.adjacencies().all(|row| row.uses == 0));
    assert_eq!(
        (tables.groups().count(), failed(&mut tables, TableOp::GroupRemove { group: GROUP })),
        (0, TableError::NoGroup)
    );
}

/// Branches that stand by leave in copies while the port of what they stand by for is down, and only then; all at once
/// as one by one.
#[test]
fn branches_that_stand_by_leave_when_the_port_fails() {
    const SECOND: GroupId = GroupId(6);
    const LIST: ReplicationId = ReplicationId(1);
    let guarded = |group: GroupId, other: u16, inner: u32, outer: u32| {
        let backup = Some(Backup { leg: leg(other, &[outer]), swap: Some(label(inner)) });
        TableOp::GroupSet { group, members: [Member { leg: leg(1, &[]), backup }].into() }
    };
    let entry = |next_hop| nhlfe(&[400], next_hop, TtlModel::Uniform, TcSource::Copy);
    let plain = entry(NextHop::Via { port: PortId(4), gateway: gateway(4).into() });
    let standing = entry(NextHop::Standby(SECOND));
    let list = |branches: &[Nhlfe]| TableOp::ReplicationSet { list: LIST, branches: branches.into() };
    // In the usual order, and where others come behind.
    for branches in [[by_group(&[400]), plain, standing], [by_group(&[400]), standing, plain]] {
        let mut tables = tables(1, guarded(GROUP, 2, 500, 501));
        for op in [guarded(SECOND, 3, 600, 601), list(&branches)] {
            tables.apply(&op).expect("an entry");
        }
        let all = nhlfe(&[], NextHop::Replicate(LIST), TtlModel::Uniform, TcSource::Copy);
        tables.apply(&ilm(302, all)).expect("an entry");
        let frame = frame(&[(302, 0, 9)], Ip::default());
        let mut copies = |up: bool| -> Vec<(u16, Vec<u32>)> {
            tables.apply(&port(1, up)).expect("a port");
            let mut at_once = Vec::new();
            let is_common = tables.copies(P0, &frame, |port, frame| at_once.push((port.0, labels(&frame))));
            assert_eq!(is_common, up && branches[2] == standing);
            let count = match tables.classify_punt(P0, &frame) {
                Some(PuntReason::Replicate { branches }) => branches,
                other => panic!("{other:?}"),
            };
            let copy = |at: u16| {
                let mut copy = frame.clone();
                let port = tables.copy(P0, &mut copy, Branch::first(at)).expect("a copy");
                (port.0, labels(&copy))
            };
            let mut one_by_one: Vec<_> = (0..count).map(copy).collect();
            assert!(!is_common || at_once == one_by_one);
            one_by_one.sort();
            one_by_one
        };
        let (first, other) = ((1, vec![400]), (4, vec![400]));
        assert_eq!(copies(true), [first.clone(), other.clone()]);
        assert_eq!(copies(false), [(2, vec![501, 500]), (3, vec![601, 600]), other.clone()]);
        assert_eq!(copies(true), [first, other]);
        let rows: Vec<_> = tables.replications().map(|row| (row.nhlfe, row.packets)).collect();
        // Twice at once and twice one by one; or as often one by one.
        let twice = if branches[2] == standing { 5 } else { 3 };
        let packets = |nhlfe: Nhlfe| if nhlfe == standing { 1 } else { twice };
        assert_eq!(rows, branches.map(|nhlfe| (nhlfe, packets(nhlfe))));
        // Only branches of a list stand by.
        assert_eq!(tables.apply(&ilm(303, standing)), Err(TableError::Nested));
        assert_eq!(tables.apply(&TableOp::GroupRemove { group: SECOND }), Err(TableError::InUse));
    }
}

/// Labels of a frame, the outermost first.
fn labels(frame: &Frame) -> Vec<u32> {
    let mut labels = Vec::new();
    for entry in frame.header()[14..].chunks_exact(4) {
        let word = u32::from_be_bytes([entry[0], entry[1], entry[2], entry[3]]);
        labels.push(word >> 12);
        if word & 0x100 != 0 {
            break;
        }
    }
    labels
}
