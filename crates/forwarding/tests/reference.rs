//! Random tables and packets against a naive reference: it keeps plain lists, builds every frame anew from values, and
//! computes every checksum in full. It shares no code with the forwarding plane.

use crate::support::*;
use base::device::DropReason;
use base::flow::{FlowFilter, FlowKey};
use base::plane::{NextHop, Nhlfe, PortConfig, Prefix, TableOp, TcSource, TtlModel};
use base::{Frame, MacAddr, NodeId, Phb, PhbSet, PortId, Time, TrafficClass, Verdict};
use core::net::{IpAddr, Ipv4Addr};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;
use twinplane_forwarding::{Config, Forwarding};
use wire::{ipv4, mpls};

/// The tables as lists.
#[derive(Default)]
struct Naive {
    ports: BTreeMap<PortId, PortConfig>,
    neighbours: BTreeMap<(PortId, Ipv4Addr), MacAddr>,
    ilm: BTreeMap<u32, Nhlfe>,
    routes: BTreeMap<Prefix, NextHop>,
    ftn: BTreeMap<Prefix, Nhlfe>,
    classed: BTreeMap<(Prefix, u64), (PhbSet, Nhlfe)>,
    filters: BTreeMap<u64, (FlowFilter, Nhlfe)>,
}

#[derive(Debug, PartialEq)]
enum Outcome {
    Sent(PortId, Vec<u8>),
    Punted,
    Dropped(DropReason),
}
use Outcome::{Dropped, Punted, Sent};

impl Naive {
    /// Returns whether there was something before.
    fn apply(&mut self, op: &TableOp) -> bool {
        use base::plane::Fec;
        match *op {
            TableOp::GroupSet { .. }
            | TableOp::GroupRemove { .. }
            | TableOp::ReplicationSet { .. }
            | TableOp::ReplicationRemove { .. }
            | TableOp::SelectorSet { .. }
            | TableOp::SelectorRemove { .. }
            | TableOp::MulticastSet { .. }
            | TableOp::MulticastRemove { .. }
            | TableOp::MulticastThreshold { .. } => unreachable!("groups and lists have tests of their own"),
            TableOp::CircuitSet { .. } | TableOp::CircuitRemove { .. } | TableOp::CircuitHops { .. } => {
                unreachable!("no program has ports of cells")
            }
            TableOp::Route6Set { .. }
            | TableOp::Route6Remove { .. }
            | TableOp::FtnSet { fec: Fec::Prefix6(_), .. }
            | TableOp::FtnRemove { fec: Fec::Prefix6(_) } => unreachable!("IPv6 has tests of its own"),
            TableOp::PortSet { port, config } => self.ports.insert(port, config).is_some(),
            TableOp::PortTrust { .. } => unreachable!("no program distrusts a port"),
            TableOp::IlmSet { label, nhlfe } => self.ilm.insert(label.value(), nhlfe).is_some(),
            TableOp::IlmRemove { label } => self.ilm.remove(&label.value()).is_some(),
            TableOp::FtnSet { fec: Fec::Prefix(p), nhlfe } => self.ftn.insert(p, nhlfe).is_some(),
            TableOp::FtnRemove { fec: Fec::Prefix(p) } => self.ftn.remove(&p).is_some(),
            TableOp::FtnSet { fec: Fec::ClassPrefix { prefix, classes, order }, nhlfe } => {
                self.classed.insert((prefix, order), (classes, nhlfe)).is_some()
            }
            TableOp::FtnRemove { fec: Fec::ClassPrefix { prefix, order, .. } } => {
                self.classed.remove(&(prefix, order)).is_some()
            }
            TableOp::FtnSet { fec: Fec::Flow { order, filter }, nhlfe } => {
                self.filters.insert(order, (filter, nhlfe)).is_some()
            }
            TableOp::FtnRemove { fec: Fec::Flow { order, .. } } => self.filters.remove(&order).is_some(),
            TableOp::RouteSet { prefix, next_hop } => self.routes.insert(prefix, next_hop).is_some(),
            TableOp::RouteRemove { prefix } => self.routes.remove(&prefix).is_some(),
            TableOp::AdjacencySet { port, gateway, mac } => {
                self.neighbours.insert((port, v4(gateway)), mac).is_some()
            }
            TableOp::AdjacencyRemove { port, gateway } => {
                self.neighbours.remove(&(port, v4(gateway))).is_some()
            }
        }
    }

    /// What becomes of a well-formed frame for this node: a label stack (top first) in front of an IPv4 packet.
    fn forward(&self, mut stack: Vec<mpls::Repr>, ip: &[u8]) -> Outcome {
        let mut carried = None;
        let before = stack.len();
        while let Some(top) = stack.first().copied() {
            let ttl = carried.unwrap_or(top.ttl);
            let (nhlfe, model) = match top.label.value() {
                0 | 2 => (None, TtlModel::Uniform),
                1 if !top.bottom => return Punted,
                1..16 => return Dropped(DropReason::ReservedLabel),
                value => match self.ilm.get(&value) {
                    None if ttl <= 1 => return Punted,
                    None => return Dropped(DropReason::UnknownLabel),
                    Some(n) if n.next_hop == NextHop::Unlabelled && !top.bottom => {
                        return Dropped(DropReason::LabelBelow);
                    }
                    Some(n) => (Some(*n).filter(|n| !is_here(n.next_hop)), n.ttl),
                },
            };
            stack.remove(0);
            let Some(nhlfe) = nhlfe else {
                if top.label.value() == 2 && top.bottom {
                    return Dropped(DropReason::UnknownProtocol);
                }
                carried = if model == TtlModel::Uniform { Some(ttl) } else { None };
                continue;
            };
            let NextHop::Via { port, gateway } = nhlfe.next_hop else {
                return Dropped(DropReason::Discard);
            };
            let mut gateway = v4(gateway);
            if ttl <= 1 {
                return Punted;
            }
            let mut ip = ip.to_vec();
            let push = nhlfe.push.as_slice();
            if push.is_empty() && model == TtlModel::Uniform {
                match stack.first_mut() {
                    Some(exposed) => exposed.ttl = ttl - 1,
                    None => ip = with_ttl(&ip, ttl - 1),
                }
            }
            for (i, label) in push.iter().enumerate() {
                let ttl = if i == 0 || model == TtlModel::Uniform { ttl - 1 } else { 255 };
                let tc = if let TcSource::Set(class) = nhlfe.tc { class } else { top.tc };
                let bottom = stack.is_empty();
                stack.insert(0, mpls::Repr { label: *label, tc, bottom, ttl });
            }
            if stack.is_empty() && gateway.is_unspecified() {
                gateway = destination(&ip);
                if self.ports[&port].up && (gateway.is_multicast() || self.is_broadcast(gateway)) {
                    return Dropped(DropReason::Discard);
                }
            }
            return self.send(port, gateway, &stack, &ip);
        }
        let to = destination(ip);
        let found = self.find(to).map(|found| found.1);
        let options = ip[0] != 0x45;
        let ttl = carried.unwrap_or(ip[8]);
        let broadcast = self.is_broadcast(to);
        let local = to.is_multicast() || broadcast || found.is_some_and(|n| n.next_hop == NextHop::Local);
        if local || options || ttl <= 1 {
            return Punted;
        }
        let connected = found.is_some_and(|n| is_connected(&n));
        let flow = FlowKey {
            src: Ipv4Addr::new(ip[12], ip[13], ip[14], ip[15]).into(),
            dst: to.into(),
            protocol: ip[9],
            // The body of every packet here is the pattern from 5 on.
            ports: (ip.len() - usize::from(ip[0] & 15) * 4 >= 4).then_some((0x0506, 0x0708)),
            dscp: base::Dscp::of_tos(ip[1]),
        };
        let filtered = self.filters.values().find(|(filter, _)| !connected && filter.takes(&flow));
        let chosen = filtered.map(|f| f.1).or_else(|| self.choose(to, Phb::of_dscp(flow.dscp)));
        let Some(nhlfe) = chosen else { return Punted };
        if is_here(nhlfe.next_hop) {
            return Punted;
        }
        let NextHop::Via { port, gateway } = nhlfe.next_hop else { return Dropped(DropReason::Discard) };
        let mut gateway = v4(gateway);
        let ip = with_ttl(ip, ttl - 1);
        for label in nhlfe.push.as_slice() {
            let ttl = if nhlfe.ttl == TtlModel::Uniform { ttl - 1 } else { 255 };
            let copied = TrafficClass::truncate(ip[1] >> 5);
            let tc = if let TcSource::Set(class) = nhlfe.tc { class } else { copied };
            let bottom = stack.is_empty();
            stack.insert(0, mpls::Repr { label: *label, tc, bottom, ttl });
        }
        if stack.is_empty() && gateway.is_unspecified() {
            gateway = to;
        }
        assert!(before <= 6);
        self.send(port, gateway, &stack, &ip)
    }

    /// The longest prefix of an address, and what it says.
    fn find(&self, to: Ipv4Addr) -> Option<(Prefix, Nhlfe)> {
        let longest = |keys: Vec<Prefix>| keys.into_iter().filter(|p| p.contains(to)).max_by_key(|p| p.len());
        let route = longest(self.routes.keys().copied().collect());
        let mapping = longest(self.ftn.keys().copied().collect());
        let plain = |next_hop| nhlfe(&[], next_hop, TtlModel::Uniform, TcSource::Copy);
        match (route, mapping) {
            (None, None) => None,
            (Some(r), m) if m.is_none_or(|m| m.len() < r.len()) => Some((r, plain(self.routes[&r]))),
            (_, m) => m.map(|m| (m, self.ftn[&m])),
        }
    }

    /// The longest prefix of an address that has something for packets of a PHB, and what it says.
    fn choose(&self, to: Ipv4Addr, phb: Phb) -> Option<Nhlfe> {
        let plain = self.find(to);
        let of = |at: &Prefix| self.classed.iter().find(|((p, _), (set, _))| p == at && set.contains(phb));
        let classed = self.classed.keys().map(|(p, _)| *p).filter(|p| p.contains(to) && of(p).is_some());
        match (plain, classed.max_by_key(|p| p.len())) {
            (plain, Some(at)) if plain.is_none_or(|(p, _)| p.len() <= at.len()) => of(&at).map(|c| c.1.1),
            (plain, _) => plain.map(|p| p.1),
        }
    }

    /// All hosts of a connected network, in either form.
    fn is_broadcast(&self, to: Ipv4Addr) -> bool {
        let Some((prefix, nhlfe)) = self.find(to) else { return false };
        let last = prefix.address().to_bits() | u32::MAX.checked_shr(prefix.len().into()).unwrap_or(0);
        is_connected(&nhlfe)
            && prefix.len() <= 30
            && [prefix.address().to_bits(), last].contains(&to.to_bits())
    }

    fn send(&self, port: PortId, gateway: Ipv4Addr, stack: &[mpls::Repr], ip: &[u8]) -> Outcome {
        let config = &self.ports[&port];
        let neighbour = self.neighbours.get(&(port, gateway));
        if !config.up {
            return Dropped(DropReason::PortDown);
        }
        let Some(neighbour) = neighbour else { return Punted };
        if stack.len() * 4 + ip.len() > config.mtu as usize {
            return Punted;
        }
        let ethertype: [u8; 2] = if stack.is_empty() { [8, 0] } else { [0x88, 0x47] };
        let mut bytes = [&neighbour.0[..], &config.mac.0[..], &ethertype[..]].concat();
        stack.iter().for_each(|entry| bytes.extend(entry.to_word().to_be_bytes()));
        bytes.extend(ip);
        Sent(port, bytes)
    }
}

fn v4(address: IpAddr) -> Ipv4Addr {
    let IpAddr::V4(address) = address else { panic!("{address}") };
    address
}

fn is_connected(nhlfe: &Nhlfe) -> bool {
    let unspecified = |n: NextHop| matches!(n, NextHop::Via { gateway, .. } if gateway.is_unspecified());
    nhlfe.push.as_slice().is_empty() && unspecified(nhlfe.next_hop)
}

fn destination(ip: &[u8]) -> Ipv4Addr {
    Ipv4Addr::new(ip[16], ip[17], ip[18], ip[19])
}

fn with_ttl(ip: &[u8], ttl: u8) -> Vec<u8> {
    let mut ip = ip.to_vec();
    ip[8] = ttl;
    ipv4::Packet::new_unchecked(&mut ip[..]).fill_checksum();
    ip
}

/// Does what is below a label, or the packet itself, stay at the node?
fn is_here(next_hop: NextHop) -> bool {
    matches!(next_hop, NextHop::Local | NextHop::Unlabelled)
}

const PORTS: u16 = 3;

fn next_hop() -> impl Strategy<Value = NextHop> {
    prop_oneof![
        6 => (0..PORTS, 0u8..4).prop_map(|(port, n)| NextHop::Via { port: PortId(port), gateway: gateway(n).into() }),
        2 => Just(NextHop::Local),
        1 => Just(NextHop::Unlabelled),
        1 => Just(NextHop::Discard),
    ]
}
/// The unspecified address for zero: a connected network.
fn gateway(n: u8) -> Ipv4Addr {
    if n == 0 { Ipv4Addr::UNSPECIFIED } else { Ipv4Addr::new(10, 0, 0, n) }
}
fn model() -> impl Strategy<Value = TtlModel> {
    prop_oneof![Just(TtlModel::Uniform), Just(TtlModel::Pipe), Just(TtlModel::ShortPipe)]
}
fn entry() -> impl Strategy<Value = Nhlfe> {
    let class = proptest::option::of(0u8..8);
    let push = vec(prop_oneof![Just(0u32), 16u32..24, Just(0xf_ffff)], 0..=4);
    (push, next_hop(), model(), class).prop_map(|(push, next_hop, ttl, class)| {
        let class = class.map_or(TcSource::Copy, |c| TcSource::Set(TrafficClass::truncate(c)));
        nhlfe(&push, next_hop, ttl, class)
    })
}
fn address() -> impl Strategy<Value = Ipv4Addr> {
    prop_oneof![
        4 => (0u8..2, 0u8..5).prop_map(|(b, d)| Ipv4Addr::new(10, b, 0, d)),
        1 => Just(Ipv4Addr::new(224, 0, 0, 5)),
    ]
}
fn some_prefix() -> impl Strategy<Value = Prefix> {
    (address(), prop_oneof![Just(0u8), Just(8), 13u8..17, 28u8..=32]).prop_map(|(a, len)| Prefix::new(a, len))
}
/// Filters of which a good part take a packet of [`packet`].
fn flow() -> impl Strategy<Value = base::plane::Fec> {
    let port = |port: u16| prop_oneof![Just(port), Just(port - 1), Just(9999)];
    let range = move |p: u16| (port(p), 0u16..2).prop_map(|(first, more)| (first, first + more));
    let ports = (proptest::option::of(range(0x0506)), proptest::option::of(range(0x0708)));
    let fields = (
        proptest::option::of(some_prefix()),
        proptest::option::of(some_prefix()),
        proptest::option::of(prop_oneof![4 => Just(17u8), 1 => Just(6)]),
        proptest::option::of((0u8..64).prop_filter_map("six bits", base::Dscp::new)),
    );
    (0u64..6, fields, ports).prop_map(|(order, (src, dst, protocol, dscp), (src_ports, dst_ports))| {
        let ports = protocol.is_some();
        let (src_ports, dst_ports) = (src_ports.filter(|_| ports), dst_ports.filter(|_| ports));
        let [src, dst] = [src, dst].map(|prefix| prefix.map(Into::into));
        let filter = FlowFilter { src, dst, protocol, src_ports, dst_ports, dscp };
        base::plane::Fec::Flow { order, filter }
    })
}
fn classed() -> impl Strategy<Value = base::plane::Fec> {
    let some = vec(0u8..64, 8).prop_map(|codes| codes.into_iter().filter_map(Phb::new).collect::<PhbSet>());
    let classes = prop_oneof![2 => some, 1 => Just(PhbSet::ALL)];
    (some_prefix(), classes, 0u64..4).prop_map(|(prefix, classes, order)| base::plane::Fec::ClassPrefix {
        prefix,
        classes,
        order,
    })
}
fn op() -> impl Strategy<Value = TableOp> {
    let label = prop_oneof![16u32..24, Just(0xf_ffff)].prop_map(label);
    let config = (0..PORTS, prop_oneof![4 => Just(1500u32), 1 => Just(70)], proptest::bool::weighted(0.9));
    let neighbour = (0..PORTS, 0u8..4, 0u32..3);
    let fec = || some_prefix().prop_map(base::plane::Fec::Prefix);
    prop_oneof![
        1 => config.prop_map(|(port, mtu, up)| TableOp::PortSet { port: PortId(port), config: PortConfig { mac: mac(PortId(port)), mtu, up } }),
        8 => (label.clone(), entry()).prop_map(|(label, nhlfe)| TableOp::IlmSet { label, nhlfe }),
        2 => label.prop_map(|label| TableOp::IlmRemove { label }),
        3 => (fec(), entry()).prop_map(|(fec, nhlfe)| TableOp::FtnSet { fec, nhlfe }),
        1 => fec().prop_map(|fec| TableOp::FtnRemove { fec }),
        4 => (classed(), entry()).prop_map(|(fec, nhlfe)| TableOp::FtnSet { fec, nhlfe }),
        2 => classed().prop_map(|fec| TableOp::FtnRemove { fec }),
        3 => (flow(), entry()).prop_map(|(fec, nhlfe)| TableOp::FtnSet { fec, nhlfe }),
        2 => flow().prop_map(|fec| TableOp::FtnRemove { fec }),
        3 => (some_prefix(), next_hop()).prop_map(|(prefix, next_hop)| TableOp::RouteSet { prefix, next_hop }),
        1 => some_prefix().prop_map(|prefix| TableOp::RouteRemove { prefix }),
        4 => neighbour.clone().prop_map(|(port, n, node)| TableOp::AdjacencySet { port: PortId(port), gateway: gateway(n).into(), mac: MacAddr::of_port(NodeId(node), PortId(port)) }),
        1 => neighbour.prop_map(|(port, n, _)| TableOp::AdjacencyRemove { port: PortId(port), gateway: gateway(n).into() }),
    ]
}

fn ttl() -> impl Strategy<Value = u8> {
    prop_oneof![Just(0u8), Just(1), Just(2), Just(64), Just(255)]
}
fn packet() -> impl Strategy<Value = (Vec<crate::support::Entry>, Ip)> {
    let label = prop_oneof![10 => 16u32..25, 1 => Just(0xf_ffff), 3 => 0u32..5];
    let stack = vec((label, 0u8..8, ttl()), 0..5);
    let ip = (
        address(),
        ttl(),
        0u8..64,
        proptest::bool::weighted(0.05),
        prop_oneof![Just(18u16), 20u16..60, 1460u16..1485],
    );
    (stack, ip).prop_map(|(stack, (to, ttl, dscp, options, payload))| {
        let options = if options { ipv4::Options::ROUTER_ALERT } else { ipv4::Options::NONE };
        (stack, Ip { to, ttl, dscp, options, payload, ..Ip::default() })
    })
}

/// A node and its naive twin, the ports configured.
fn twins() -> (Forwarding, Naive) {
    let (mut tables, mut naive) = (Forwarding::new(Config::default()), Naive::default());
    for port in (0..PORTS).map(PortId) {
        let config = PortConfig { mac: mac(port), mtu: 1500, up: true };
        let op = TableOp::PortSet { port, config };
        tables.apply(&op).expect("a port");
        naive.apply(&op);
    }
    (tables, naive)
}

/// The entries that a stack goes through at a node.
fn visited(naive: &Naive, stack: &[crate::support::Entry]) -> Vec<u32> {
    let mut seen = Vec::new();
    for (value, ..) in stack {
        if *value <= 2 {
            continue;
        }
        let Some(entry) = naive.ilm.get(value) else { break };
        seen.push(*value);
        if entry.next_hop != NextHop::Local {
            break;
        }
    }
    seen
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn forwards_like_the_reference(rounds in vec((vec(op(), 1..20), vec(packet(), 1..20)), 1..6)) {
        let (mut tables, mut naive) = twins();
        let mut counted: BTreeMap<u32, u64> = BTreeMap::new();
        let (mut sent, mut punted) = (0, 0);
        let mut arrived = 0;
        for (ops, packets) in rounds {
            for op in &ops {
                let existed = naive.apply(op);
                let removes = matches!(op, TableOp::IlmRemove { .. } | TableOp::FtnRemove { .. }
                    | TableOp::RouteRemove { .. } | TableOp::AdjacencyRemove { .. });
                prop_assert_eq!(tables.apply(op).is_ok(), existed || !removes);
                if let TableOp::IlmRemove { label } = op { counted.remove(&label.value()); }
            }
            let mut frames: Vec<Frame> = packets.iter().map(|(stack, ip)| frame(stack, *ip)).collect();
            let before = frames.clone();
            let mut verdicts = vec![Verdict::Punt; frames.len()];
            tables.forward_batch(Time(3), P0, &mut frames, &mut verdicts);
            for (i, (stack, ip)) in packets.iter().enumerate() {
                let reprs: Vec<mpls::Repr> = (0..stack.len()).map(|place| {
                    let at = 14 + 4 * place;
                    let word = u32::from_be_bytes(before[i].header()[at..at + 4].try_into().expect("four bytes"));
                    mpls::Repr::from_word(word)
                }).collect();
                let bytes = before[i].to_vec();
                let mut expected = naive.forward(reprs, &bytes[14 + 4 * stack.len()..]);
                if !naive.ports[&P0].up { expected = Dropped(DropReason::PortDown); }
                else { for value in visited(&naive, stack) { *counted.entry(value).or_default() += 1; } }
                arrived += 1;
                let got = match verdicts[i] {
                    Verdict::Transmit { port, ready } => {
                        prop_assert_eq!(ready, Time(3));
                        sent += 1;
                        Sent(port, frames[i].to_vec())
                    }
                    Verdict::Punt => {
                        punted += 1;
                        prop_assert!(tables.classify_punt(P0, &before[i]).is_some());
                        Punted
                    }
                    Verdict::Drop(reason) => Dropped(reason),
                    Verdict::Consume | Verdict::Replicate => {
                        return Err(TestCaseError::fail("tables consume nothing, and have no lists"));
                    }
                };
                prop_assert_eq!(&got, &expected, "{:?} {:?}", stack, ip);
                if !matches!(got, Sent(..)) { prop_assert_eq!(&frames[i].to_vec(), &bytes); }
            }
        }
        let rows: BTreeMap<u32, u64> =
            tables.ilm().map(|row| (row.label.value(), row.packets)).filter(|e| e.1 > 0).collect();
        counted.retain(|_, n| *n > 0);
        prop_assert_eq!(rows, counted);
        let ports: Vec<_> = tables.ports().map(|row| row.counters).collect();
        prop_assert_eq!(ports.iter().map(|c| c.rx_packets).sum::<u64>(), arrived);
        prop_assert_eq!(ports.iter().map(|c| c.tx_packets).sum::<u64>(), sent);
        prop_assert_eq!(arrived, sent + punted + tables.drops().total());
        // What the views show is what was written.
        let shown: Vec<_> = tables.ilm().map(|row| (row.label.value(), row.nhlfe)).collect();
        prop_assert_eq!(shown, naive.ilm.into_iter().collect::<Vec<_>>());
        let shown: Vec<_> = tables
            .ftn()
            .filter_map(|row| row.classes.map(|(order, set)| ((row.prefix, order), (set, row.nhlfe))))
            .collect();
        prop_assert_eq!(shown, naive.classed.into_iter().collect::<Vec<_>>());
        let shown: Vec<_> =
            tables.ftn().filter(|row| row.classes.is_none()).map(|row| (row.prefix, row.nhlfe)).collect();
        prop_assert_eq!(shown, naive.ftn.into_iter().collect::<Vec<_>>());
        let shown: Vec<_> = tables.filters().map(|row| (row.order, (row.filter, row.nhlfe))).collect();
        prop_assert_eq!(shown, naive.filters.into_iter().collect::<Vec<_>>());
        let shown: Vec<_> = tables.fib().map(|row| (row.prefix, row.next_hop)).collect();
        prop_assert_eq!(shown, naive.routes.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn any_bytes_are_sent_punted_or_dropped(
        ops in vec(op(), 0..30),
        wild in vec((vec(any::<u8>(), 0..120), any::<bool>(), proptest::option::of(0usize..4)), 1..20),
        split in 0usize..120,
    ) {
        let (mut tables, _) = twins();
        for op in &ops { let _ = tables.apply(op); }
        let mut frames: Vec<Frame> = wild.into_iter().map(|(mut bytes, ours, ethertype)| {
            if let Some(to) = bytes.first_chunk_mut::<6>().filter(|_| ours) { *to = mac(P0).0; }
            if let (Some(bytes), Some(e)) = (bytes.get_mut(12..14), ethertype) {
                bytes.copy_from_slice(&[[8, 0], [0x88, 0x47], [8, 6], [0x88, 0x47]][e]);
            }
            let (header, body) = bytes.split_at(split.min(bytes.len()));
            Frame::new(header, base::Body::owned(body))
        }).collect();
        let before = frames.clone();
        let mut verdicts = vec![Verdict::Punt; frames.len()];
        tables.forward_batch(Time(3), P0, &mut frames, &mut verdicts);
        let mut sent = 0;
        for i in 0..frames.len() {
            match verdicts[i] {
                Verdict::Transmit { .. } => sent += 1,
                Verdict::Punt | Verdict::Replicate => {
                    prop_assert_eq!(frames[i].header(), before[i].header());
                    prop_assert_eq!(frames[i].body(), before[i].body());
                    prop_assert!(tables.classify_punt(P0, &before[i]).is_some());
                    let _ = tables.forward_again(Time(3), P0, &mut frames[i]);
                    let _ = tables.originate(&mut before[i].clone());
                }
                Verdict::Drop(_) => prop_assert_eq!(frames[i].to_vec(), before[i].to_vec()),
                Verdict::Consume => prop_assert!(false, "tables consume nothing"),
            }
        }
        let counters = tables.port_counters(P0);
        prop_assert_eq!(counters.rx_packets, frames.len() as u64);
        prop_assert!(sent <= counters.rx_packets);
    }
}
