//! The driver of a switch elsewhere: what it and the switch do together with a frame is what the tables of this process
//! do with it, on our switch and on a private Open vSwitch. So are the entries left that it had, when it connects
//! again.

use super::dice::Dice;
use super::ovs::{Ovs, PROGRAMS};
use super::subject::{Ours, Subject};
use base::plane::{
    Ack, Batch, Fec, GroupId, LabelStack, NextHop, Nhlfe, PortConfig, Prefix, TableError, TableOp, TcSource,
    TransactionId, TtlModel,
};
use base::{Frame, Label, MacAddr, PortId, Span, Streams, Time, TrafficClass, Verdict};
use core::net::{IpAddr, Ipv4Addr};
use forwarding::driver::model::ModelSpec;
use forwarding::driver::openflow::OpenFlowSpec;
use forwarding::driver::{Arrival, Setup, Timing};
use forwarding::{Config, ForwardingPlane};
use wire::openflow::Version;
use wire::openflow::v1_3::{
    Body, FlowStatsRequest, Match, Message, MultipartReply, MultipartRequest, ReplyBody,
};
use wire::openflow::v1_3::{RequestBody, groups, ports};
use wire::{checksum, ethernet};

/// The number of barriers of the test.
const MINE: u32 = 0xffff_fff0;
const PORTS: u16 = 3;
const NOW: Time = Time(1_000_000_000);

fn plane(setup: &dyn Setup) -> ForwardingPlane {
    ForwardingPlane::new(setup, Config::default(), Timing::ideal(Streams::new(1).stream("tables")))
}

fn mac(port: u16) -> MacAddr {
    MacAddr([2, 0, 0, 0, 1, port as u8])
}

fn neighbor(number: u8) -> (PortId, IpAddr, MacAddr) {
    let port = number % PORTS as u8;
    (PortId(port.into()), Ipv4Addr::new(10, port, 0, 100 + number).into(), MacAddr([2, 0, 0, 0, 2, number]))
}

/// Says something and a barrier to a switch: what it has said before it answers that.
pub fn talk(subject: &mut dyn Subject, mut bytes: Vec<u8>) -> Vec<Vec<u8>> {
    Message { xid: MINE, body: Body::BarrierRequest }.emit(&mut bytes).expect("a short message");
    subject.send(&bytes);
    let next = || Some(subject.next_message()).filter(|heard| heard[4..8] != MINE.to_be_bytes());
    core::iter::from_fn(next).collect()
}

/// A driver and its switch.
struct Bench<'a> {
    plane: ForwardingPlane,
    subject: &'a mut dyn Subject,
    handed_up: Vec<(PortId, Frame)>,
    number: u64,
}

impl Bench<'_> {
    fn new<'a>(spec: &OpenFlowSpec, subject: &'a mut dyn Subject) -> Bench<'a> {
        subject.begin(Version::V1_3);
        Bench { plane: plane(spec), subject, handed_up: Vec::new(), number: 0 }
    }

    fn connect(&mut self) {
        self.plane.remote().expect("a driver of a switch").0.opened(NOW);
        self.exchange();
    }

    /// Both ends are told what the other says, until neither has more.
    fn exchange(&mut self) {
        loop {
            let said = self.plane.remote().expect("a driver of a switch").0.take_output();
            let is_over = said.is_empty();
            for heard in talk(self.subject, said) {
                let (remote, soft) = self.plane.remote().expect("a driver of a switch");
                remote.received(NOW, soft, &heard);
                while let Some(arrival) = remote.poll_arrival() {
                    if let Arrival::Frame(port, frame) = arrival {
                        self.handed_up.push((port, frame));
                    }
                }
            }
            if is_over {
                return;
            }
        }
    }

    /// Writes an operation: whether it is in force.
    fn write(&mut self, op: &TableOp) -> Result<(), TableError> {
        self.number += 1;
        let transaction = TransactionId(self.number);
        self.plane.submit(NOW, Batch { transaction, ops: vec![op.clone()], barrier: false });
        self.exchange();
        // Open vSwitch remembers for a while what its tables said before.
        self.subject.settle();
        let Ack { failed, .. } = self.plane.poll_ack(NOW).expect("an answer");
        failed.first().map_or(Ok(()), |(_, error)| Err(*error))
    }

    /// What becomes of a frame, by the switch and, if it hands the frame up, by the tables here.
    fn forward(&mut self, port: u16, bytes: &[u8]) -> Fate {
        self.subject.frame(u32::from(port) + 1, bytes);
        self.exchange();
        let handed_up = core::mem::take(&mut self.handed_up);
        let mut fate = Fate::Dropped;
        for (port, mut frame) in handed_up {
            assert_eq!(frame.to_vec(), bytes, "it comes up as it came in");
            let verdict = self.plane.forwarding_mut().forward_one(NOW, port, &mut frame);
            match verdict {
                Verdict::Transmit { port, .. } => {
                    self.plane.remote().expect("a driver of a switch").0.transmit(port, &frame);
                    self.exchange();
                }
                Verdict::Punt => fate = Fate::Punted,
                _ => {}
            }
        }
        let mut left = self.subject.left();
        assert!(left.len() <= 1, "it leaves once at most");
        match left.pop() {
            Some((port, bytes)) => Fate::Sent(port as u16 - 1, bytes),
            None => fate,
        }
    }

    /// The entries of the switch: cookie and table.
    fn entries(&mut self) -> Vec<(u64, u8)> {
        let every = FlowStatsRequest {
            table: 0xff,
            out_port: ports::ANY,
            out_group: groups::ANY,
            cookie: 0,
            cookie_mask: 0,
            matching: Match::default(),
        };
        let body = Body::MultipartRequest(MultipartRequest { more: false, body: RequestBody::Flow(every) });
        let mut bytes = Vec::new();
        Message { xid: 1, body }.emit(&mut bytes).expect("a short message");
        self.subject.send(&bytes);
        let mut found = Vec::new();
        loop {
            let heard = Message::parse(&self.subject.next_message()).expect("a message");
            if let Body::MultipartReply(MultipartReply { more, body: ReplyBody::Flow(rows) }) = heard.body {
                found.extend(rows.iter().map(|row| (row.cookie, row.table)));
                if !more {
                    found.sort_unstable();
                    return found;
                }
            }
        }
    }
}

/// What becomes of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fate {
    Sent(u16, Vec<u8>),
    Punted,
    Dropped,
}

/// The same with the tables of this process alone.
fn forward_here(plane: &mut ForwardingPlane, port: u16, bytes: &[u8]) -> Fate {
    let mut frame = Frame::from_bytes(bytes);
    match plane.forwarding_mut().forward_one(NOW, PortId(port), &mut frame) {
        Verdict::Transmit { port, .. } => Fate::Sent(port.0, frame.to_vec()),
        Verdict::Punt => Fate::Punted,
        _ => Fate::Dropped,
    }
}

fn port_set(port: u16) -> TableOp {
    TableOp::PortSet { port: PortId(port), config: PortConfig { mac: mac(port), mtu: 1500, up: true } }
}

fn nhlfe(dice: &mut Dice) -> Nhlfe {
    let depth = dice.pick(&[0, 0, 1, 1, 1, 2, 3, 4]);
    let labels: Vec<Label> = (0..depth).map(|_| Label::truncate(100 + dice.below(50) as u32)).collect();
    let (port, gateway, _) = neighbor(dice.below(6) as u8);
    let next_hop = match dice.below(10) {
        0 => NextHop::Local,
        1 => NextHop::Discard,
        2 => NextHop::Group(GroupId(9)),
        _ => NextHop::Via { port, gateway },
    };
    Nhlfe {
        push: LabelStack::new(&labels).expect("four at most"),
        next_hop,
        ttl: dice.pick(&[TtlModel::Uniform, TtlModel::Pipe, TtlModel::ShortPipe]),
        tc: dice.pick(&[TcSource::Copy, TcSource::Copy, TcSource::Set(TrafficClass::truncate(5))]),
    }
}

fn prefix(dice: &mut Dice) -> Prefix {
    let net = dice.below(3) as u8;
    dice.pick(&[
        Prefix::new(Ipv4Addr::new(10, net, 0, 0), 24),
        Prefix::new(Ipv4Addr::new(172, 16, net, 0), 24),
        Prefix::new(Ipv4Addr::new(172, 16, 0, 0), 16),
        Prefix::host(Ipv4Addr::new(172, 16, net, 1)),
        Prefix::new(Ipv4Addr::UNSPECIFIED, 0),
    ])
}

fn operation(dice: &mut Dice) -> TableOp {
    let label = Label::truncate(16 + dice.below(6) as u32);
    let (port, gateway, mac) = neighbor(dice.below(6) as u8);
    let prefix = prefix(dice);
    match dice.below(9) {
        0 | 1 => TableOp::IlmSet { label, nhlfe: nhlfe(dice) },
        2 => TableOp::IlmRemove { label },
        3 => TableOp::FtnSet { fec: Fec::Prefix(prefix), nhlfe: nhlfe(dice) },
        4 => TableOp::FtnRemove { fec: Fec::Prefix(prefix) },
        5 if dice.chance(30) => {
            let gateway = Ipv4Addr::UNSPECIFIED.into();
            let prefix = Prefix::new(Ipv4Addr::new(10, port.0 as u8, 0, 0), 24);
            TableOp::RouteSet { prefix, next_hop: NextHop::Via { port, gateway } }
        }
        5 => TableOp::RouteSet { prefix, next_hop: nhlfe(dice).next_hop },
        6 => TableOp::RouteRemove { prefix },
        7 if dice.chance(30) => TableOp::AdjacencyRemove { port, gateway },
        _ => TableOp::AdjacencySet { port, gateway, mac },
    }
}

/// A frame with labels or without, mostly to one of the prefixes.
fn frame(dice: &mut Dice, port: u16) -> Vec<u8> {
    let dst = match dice.below(20) {
        0 => MacAddr([2, 9, 9, 9, 9, 9]),
        _ => mac(port),
    };
    let labels: Vec<u32> = (0..dice.pick(&[0, 0, 1, 1, 2, 3])).map(|_| 16 + dice.below(7) as u32).collect();
    let ethertype = if labels.is_empty() { ethernet::EtherType::IPV4 } else { ethernet::EtherType(0x8847) };
    let mut bytes = Vec::new();
    let ttl = |dice: &mut Dice| dice.pick(&[0u8, 1, 2, 64, 255]);
    for (place, label) in labels.iter().enumerate() {
        let bottom = u32::from(place + 1 == labels.len()) << 8;
        let word = label << 12 | (dice.below(8) as u32) << 9 | bottom | u32::from(ttl(dice));
        bytes.extend(word.to_be_bytes());
    }
    let to = match dice.below(6) {
        0 => Ipv4Addr::new(10, dice.below(3) as u8, 0, 100 + dice.below(6) as u8),
        1 => Ipv4Addr::new(192, 0, 2, 7),
        _ => Ipv4Addr::new(172, 16, dice.below(3) as u8, dice.pick(&[1, 2])),
    };
    let protocol = dice.pick(&[17, 17, 17, 6, 253]);
    let mut ip = vec![
        0x45,
        (dice.below(64) as u8) << 2,
        0,
        40,
        0,
        1,
        0,
        0,
        ttl(dice),
        protocol,
        0,
        0,
        198,
        51,
        100,
        9,
    ];
    ip.extend(to.octets());
    let sum = !checksum::sum(&ip);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    ip.extend([7; 20]);
    bytes.extend(ip);
    let mut whole = dst.0.to_vec();
    whole.extend([2, 0, 0, 0, 3, 1]);
    whole.extend(ethertype.0.to_be_bytes());
    whole.extend(bytes);
    whole.resize(whole.len().max(60), 0);
    whole
}

fn compare(subject: &mut dyn Subject, spec: &OpenFlowSpec, run: u64) {
    let mut dice = Dice::new(run);
    let mut here = plane(&ModelSpec {});
    let mut bench = Bench::new(spec, subject);
    bench.connect();
    for port in 0..PORTS {
        bench.write(&port_set(port)).expect("a port");
        here.submit(NOW, Batch { ops: vec![port_set(port)], ..Batch::default() });
    }
    let mut counts = [0; 3];
    for step in 0..60 {
        let op = operation(&mut dice);
        if bench.write(&op).is_ok() {
            here.submit(NOW, Batch { ops: vec![op.clone()], ..Batch::default() });
        }
        for _ in 0..3 {
            let port = dice.below(PORTS.into()) as u16;
            let frame = frame(&mut dice, port);
            let wanted = forward_here(&mut here, port, &frame);
            let found = bench.forward(port, &frame);
            counts[match wanted {
                Fate::Sent(..) => 0,
                Fate::Punted => 1,
                Fate::Dropped => 2,
            }] += 1;
            assert_eq!(found, wanted, "run {run}, step {step}, {op:?}: a frame by port {port}: {frame:02x?}");
        }
    }
    assert!(counts.iter().all(|count| *count > 0), "run {run}: {counts:?}");
}

/// What our switch can do.
pub fn ours() -> OpenFlowSpec {
    OpenFlowSpec { labels: 4, copies_ttl: true, ..theirs() }
}

/// What Open vSwitch can do.
pub fn theirs() -> OpenFlowSpec {
    OpenFlowSpec {
        listen: 6653,
        labels: 3,
        copies_ttl: false,
        punts: 10_000,
        protocols: 10_000,
        probe: Span::from_secs(5),
    }
}

#[test]
fn frames_fare_at_our_switch_as_they_do_here() {
    for run in testing::runs(30) {
        compare(&mut Ours::new(), &ours(), run);
    }
}

#[test]
fn frames_fare_at_open_vswitch_as_they_do_here() {
    if PROGRAMS.into_iter().all(testing::available) {
        let mut switch = Ovs::start("driver");
        for run in testing::runs(6) {
            compare(&mut switch, &theirs(), run);
        }
    }
}

#[test]
fn a_switch_that_comes_back_keeps_what_is_right_and_loses_what_is_not() {
    let mut switch = Ours::new();
    let mut bench = Bench::new(&ours(), &mut switch);
    let (port, gateway, far) = neighbor(0);
    let label = |value: u32| TableOp::IlmSet {
        label: Label::truncate(value),
        nhlfe: Nhlfe {
            push: LabelStack::one(Label::truncate(200)),
            next_hop: NextHop::Via { port, gateway },
            ttl: TtlModel::Uniform,
            tc: TcSource::Copy,
        },
    };
    // Without a switch nothing is acknowledged.
    let ops = vec![port_set(0), TableOp::AdjacencySet { port, gateway, mac: far }, label(16), label(17)];
    bench.plane.submit(NOW, Batch { transaction: TransactionId(1), ops, barrier: false });
    assert_eq!((bench.plane.poll_ack(NOW), bench.plane.backlog()), (None, 4));
    bench.connect();
    assert_eq!(bench.plane.poll_ack(NOW).map(|ack| (ack.transaction.0, ack.failed)), Some((1, vec![])));
    let first = bench.entries();
    // What changes while the connection is gone is all that changes at the switch when it is back.
    bench.plane.remote().expect("a driver of a switch").0.closed();
    let ops = vec![TableOp::IlmRemove { label: Label::truncate(16) }, label(18)];
    bench.plane.submit(NOW, Batch { transaction: TransactionId(2), ops, barrier: false });
    bench.subject.reconnect();
    bench.connect();
    assert_eq!(bench.plane.poll_ack(NOW).map(|ack| ack.transaction.0), Some(2));
    let second = bench.entries();
    let gone = first.iter().filter(|entry| !second.contains(entry)).count();
    let new = second.iter().filter(|entry| !first.contains(entry)).count();
    assert_eq!((gone, new), (1, 1), "one label went, and one came; the others were not written anew");
}
