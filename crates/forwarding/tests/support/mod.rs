//! What the tests of the forwarding plane share: frames made from the wire formats, and a small node.

#![allow(dead_code, reason = "each test file uses its own part")]

use base::plane::{Fec, LabelStack, NextHop, Nhlfe, PortConfig, Prefix, TableOp, TcSource, TtlModel};
use base::{Body, Dscp, Frame, Label, MacAddr, NodeId, PortId, Time, TrafficClass, Verdict};
use core::net::Ipv4Addr;
use twinplane_forwarding::{Config, Forwarding};
use wire::{ethernet, ipv4, mpls};

pub const P0: PortId = PortId(0);
pub const P1: PortId = PortId(1);
/// The neighbour on port 1 whose Ethernet address is known.
pub const GATEWAY: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 2);
/// A neighbour on port 1 whose Ethernet address is not known.
pub const UNKNOWN: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 3);
/// An address of the node itself.
pub const OURS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// A destination with a route.
pub const FAR: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
pub const SOURCE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 7);

pub fn mac(port: PortId) -> MacAddr {
    MacAddr::of_port(NodeId(1), port)
}
pub fn neighbour_mac(port: PortId) -> MacAddr {
    MacAddr::of_port(NodeId(2), port)
}
pub fn label(value: u32) -> Label {
    Label::new(value).expect("20 bits")
}
pub fn via(gateway: Ipv4Addr) -> NextHop {
    NextHop::Via { port: P1, gateway: gateway.into() }
}
/// An NHLFE; `push` has the outermost label last.
pub fn nhlfe(push: &[u32], next_hop: NextHop, ttl: TtlModel, tc: TcSource) -> Nhlfe {
    let labels: Vec<Label> = push.iter().map(|l| label(*l)).collect();
    Nhlfe { push: LabelStack::new(&labels).expect("at most four"), next_hop, ttl, tc }
}
/// An NHLFE to the neighbour, TC copied.
pub fn to_gateway(push: &[u32], ttl: TtlModel) -> Nhlfe {
    nhlfe(push, via(GATEWAY), ttl, TcSource::Copy)
}
pub fn local(ttl: TtlModel) -> Nhlfe {
    nhlfe(&[], NextHop::Local, ttl, TcSource::Copy)
}
pub fn prefix(text: &str) -> Prefix {
    text.parse().expect("a prefix")
}
pub fn fec(text: &str) -> Fec {
    Fec::Prefix(prefix(text))
}
pub fn ilm(at: u32, nhlfe: Nhlfe) -> TableOp {
    TableOp::IlmSet { label: label(at), nhlfe }
}

/// A node with two ports, a neighbour, a route to `FAR` and an address of its own.
pub fn node(ops: &[TableOp]) -> Forwarding {
    node_with(Config::default(), ops)
}

pub fn node_with(config: Config, ops: &[TableOp]) -> Forwarding {
    let mut tables = Forwarding::new(config);
    let port = |port| TableOp::PortSet { port, config: PortConfig { mac: mac(port), mtu: 1500, up: true } };
    let standing = [
        port(P0),
        port(P1),
        TableOp::AdjacencySet { port: P1, gateway: GATEWAY.into(), mac: neighbour_mac(P1) },
        TableOp::RouteSet { prefix: prefix("10.9.0.0/16"), next_hop: via(GATEWAY) },
        TableOp::RouteSet { prefix: Prefix::host(OURS), next_hop: NextHop::Local },
    ];
    for op in standing.iter().chain(ops) {
        tables.apply(op).unwrap_or_else(|error| panic!("{op:?}: {error}"));
    }
    tables
}

/// An IPv4 packet as a frame's header holds it: everything but the body.
#[derive(Clone, Copy, Debug)]
pub struct Ip {
    pub from: Ipv4Addr,
    pub to: Ipv4Addr,
    pub ttl: u8,
    pub dscp: u8,
    pub options: ipv4::Options,
    pub dont_fragment: bool,
    pub payload: u16,
}

impl Default for Ip {
    fn default() -> Ip {
        let options = ipv4::Options::NONE;
        Ip { from: SOURCE, to: FAR, ttl: 64, dscp: 46, options, dont_fragment: false, payload: 18 }
    }
}

impl Ip {
    pub fn header(&self) -> Vec<u8> {
        let repr = ipv4::Repr {
            src: self.from,
            dst: self.to,
            protocol: ipv4::Protocol::UDP,
            ttl: self.ttl,
            dscp: Dscp::new(self.dscp).expect("six bits"),
            ecn: 1,
            ident: 77,
            dont_fragment: self.dont_fragment,
            more_fragments: false,
            fragment_offset: 0,
            payload_len: self.payload,
            options: self.options,
        };
        let mut bytes = vec![0; repr.buffer_len()];
        repr.emit(&mut bytes);
        bytes
    }
}

/// (label, TC, TTL), outermost first.
pub type Entry = (u32, u8, u8);

/// The frame that arrives on port 0 with `stack` in front of `ip`.
pub fn frame(stack: &[Entry], ip: Ip) -> Frame {
    framed(mac(P0), MacAddr::of_port(NodeId(9), P0), stack, ip)
}

pub fn framed(dst: MacAddr, src: MacAddr, stack: &[Entry], ip: Ip) -> Frame {
    let ethertype = if stack.is_empty() { ethernet::EtherType::IPV4 } else { ethernet::EtherType::MPLS };
    let mut bytes = [&dst.0[..], &src.0[..], &ethertype.0.to_be_bytes()[..]].concat();
    for (place, (value, tc, ttl)) in stack.iter().enumerate() {
        let tc = TrafficClass::new(*tc).expect("three bits");
        let entry = mpls::Repr { label: label(*value), tc, bottom: place + 1 == stack.len(), ttl: *ttl };
        bytes.extend(entry.to_word().to_be_bytes());
    }
    bytes.extend(ip.header());
    Frame::new(&bytes, Body::Pattern { start: 5, len: u32::from(ip.payload) })
}

/// What `frame`, transmitted by port 1 to the neighbour, should look like.
pub fn sent(stack: &[Entry], ip: Ip) -> Frame {
    framed(neighbour_mac(P1), mac(P1), stack, ip)
}

/// Forwards one frame that arrives on port 0.
pub fn forward(tables: &mut Forwarding, frame: &mut Frame) -> Verdict {
    verdict_at(tables, P0, frame)
}

/// Forwards one frame that arrives on a port, also where it is not the port's that it is addressed to.
pub fn verdict_at(tables: &mut Forwarding, port: PortId, frame: &mut Frame) -> Verdict {
    let mut verdicts = [Verdict::Punt];
    if port != P0 && frame.header().starts_with(&mac(P0).0) {
        frame.header_mut()[..6].copy_from_slice(&mac(port).0);
    }
    tables.forward_batch(Time(7), port, core::slice::from_mut(frame), &mut verdicts);
    verdicts[0]
}

/// The verdict for a frame sent by port 1.
pub const OUT: Verdict = Verdict::Transmit { port: P1, ready: Time(7) };

/// Demands that a frame with `stack` and `ip` leaves as one with `out` and `ip_out`.
#[track_caller]
pub fn leaves(tables: &mut Forwarding, stack: &[Entry], ip: Ip, out: &[Entry], ip_out: Ip) {
    let mut frame = frame(stack, ip);
    let verdict = forward(tables, &mut frame);
    assert_eq!(verdict, OUT, "{:?}", tables.classify_punt(P0, &frame));
    assert_eq!(frame, sent(out, ip_out));
}

/// Demands a verdict that leaves the frame as it came.
#[track_caller]
pub fn stays(tables: &mut Forwarding, mut frame: Frame, verdict: Verdict) {
    let before = frame.clone();
    assert_eq!(forward(tables, &mut frame), verdict);
    assert_eq!(frame, before);
}

/// The port by which a frame leaves, the same by the fast path, by the general way, and when the ports lie in the body.
#[track_caller]
pub fn leaves_by(tables: &mut Forwarding, frame: &Frame) -> u16 {
    let (mut fast, mut general) = (frame.clone(), frame.clone());
    let Verdict::Transmit { port, .. } = forward(tables, &mut fast) else {
        panic!("{:?}", tables.classify_punt(P0, frame));
    };
    let again = tables.forward_again(Time(7), P0, &mut general);
    assert_eq!(again, Verdict::Transmit { port, ready: Time(7) });
    assert_eq!(fast, general);
    let bytes = frame.to_vec();
    let split = frame.header().len() - 3;
    let mut apart = Frame::new(&bytes[..split], Body::owned(&bytes[split..]));
    assert_eq!(forward(tables, &mut apart), Verdict::Transmit { port, ready: Time(7) });
    assert_eq!(fast.header()[..12], [neighbour_mac(port).0, mac(port).0].concat()[..]);
    port.0
}

/// Pearson's statistic of equal shares.
pub fn chi_square(chosen: &[u16], members: &[u16]) -> f64 {
    let expected = chosen.len() as f64 / members.len() as f64;
    let count = |port: &u16| chosen.iter().filter(|chosen| *chosen == port).count() as f64;
    members.iter().map(|port| (count(port) - expected).powi(2) / expected).sum()
}
