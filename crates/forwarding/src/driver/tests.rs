use super::*;
use base::Streams;
use base::plane::{
    Ack, Fec, GroupId, LabelStack, Leg, Member, NextHop, Nhlfe, PortConfig, Prefix, ReplicationId,
    TableError, TcSource, TransactionId, TtlModel,
};
use base::{Label, MacAddr, NodeId, Span};
use core::net::Ipv4Addr;

const P: PortId = PortId(0);

fn nhlfe(next_hop: NextHop, push: &[u32]) -> Nhlfe {
    let labels: Vec<_> = push.iter().map(|label| Label::truncate(*label)).collect();
    let push = LabelStack::new(&labels).expect("four at most");
    Nhlfe { push, next_hop, ttl: TtlModel::Uniform, tc: TcSource::Copy }
}
pub(super) fn set(label: u32) -> TableOp {
    TableOp::IlmSet { label: Label::truncate(label), nhlfe: nhlfe(NextHop::Local, &[]) }
}
fn remove(label: u32) -> TableOp {
    TableOp::IlmRemove { label: Label::truncate(label) }
}
pub(super) fn route(n: u8, next_hop: NextHop) -> TableOp {
    TableOp::RouteSet { prefix: Prefix::new(Ipv4Addr::new(10, n, 0, 0), 16), next_hop }
}
pub(super) fn port(up: bool) -> TableOp {
    TableOp::PortSet { port: P, config: PortConfig { mac: MacAddr::of_port(NodeId(1), P), mtu: 1500, up } }
}
pub(super) fn batch(transaction: u64, ops: Vec<TableOp>) -> Batch {
    Batch { transaction: TransactionId(transaction), ops, barrier: false }
}
/// Tables that are written by a driver of a device that takes so long for the ILM, nothing for the others, and fails so
/// often.
pub(super) fn plane_of(
    setup: &dyn Setup,
    config: crate::Config,
    ilm: WriteTime,
    failures: f64,
) -> ForwardingPlane {
    let mut timing = Timing::ideal(Streams::new(1).stream("tables"));
    timing.times[Table::Ilm.index()] = ilm;
    ForwardingPlane::new(setup, config, Timing { failures, ..timing })
}
fn model(config: crate::Config, ilm: WriteTime, failures: f64) -> ForwardingPlane {
    plane_of(&model::ModelSpec {}, config, ilm, failures)
}
/// The driver with its defaults, of an ideal device.
fn ideal(known: &Known) -> ForwardingPlane {
    let (_, setup) = (known.section.read)(&base::describe::Value::Map(Vec::new())).expect("defaults");
    plane_of(&*setup, crate::Config::default(), WriteTime::IDEAL, 0.0)
}

/// Is its forwarding plane here? One that is elsewhere answers when it is there.
fn is_here(known: &Known) -> bool {
    ideal(known).remote().is_none()
}

/// The number of a batch, and which of its operations failed.
type Answer = (u64, Vec<(u32, TableError)>);

pub(super) fn acks(plane: &mut ForwardingPlane, at: u64) -> Vec<Answer> {
    core::iter::from_fn(|| plane.poll_ack(Time(at))).map(|ack| (ack.transaction.0, ack.failed)).collect()
}
fn notices(plane: &mut ForwardingPlane) -> Vec<Notice> {
    core::iter::from_fn(|| plane.poll_notice()).collect()
}
/// Waits until nothing is left to do, and says when that was.
fn wait(plane: &mut ForwardingPlane) -> (Time, Vec<Answer>) {
    let (mut now, mut answers) = (Time(10), acks(plane, 10));
    while let Some(due) = plane.poll_timeout() {
        assert!(due > now, "time goes on");
        now = due;
        answers.extend(acks(plane, now.0));
    }
    (now, answers)
}

#[test]
fn ideal_tables_are_written_at_once() {
    let mut plane = model(crate::Config::default(), WriteTime::IDEAL, 0.0);
    plane.submit(Time(5), batch(1, vec![set(16), set(3)]));
    assert_eq!((plane.resync().len(), plane.poll_timeout()), (1, None));
    let failed = vec![(1, TableError::ReservedLabel)];
    assert_eq!(plane.poll_ack(Time(5)), Some(Ack { transaction: TransactionId(1), failed }));
    assert_eq!(plane.poll_ack(Time(5)), None);
    let counted = plane.soft().written();
    assert_eq!(counted.done[Table::Ilm.index()], 1);
    assert_eq!(counted.failed, [((Table::Ilm, TableError::ReservedLabel), 1)].into());
}

#[test]
fn entries_take_longer_as_the_table_fills() {
    let mut model = model(crate::Config::default(), WriteTime { fixed: Span(10), per_entry: Span(1) }, 0.0);
    model.submit(Time(100), batch(1, vec![set(16), set(17)]));
    model.submit(Time(103), batch(2, vec![]));
    model.submit(Time(104), batch(3, vec![set(18)]));
    let mut seen = Vec::new();
    while let Some(due) = model.poll_timeout() {
        seen.extend(acks(&mut model, due.0).into_iter().map(|ack| (due.0, ack.0)));
        seen.push((due.0, 100 + model.forwarding().ilm().count() as u64));
    }
    // 10 with nothing in the table, 11 with one entry, 12 with two; an empty batch takes no time.
    assert_eq!(seen, [(110, 101), (121, 1), (121, 2), (121, 102), (133, 3), (133, 103)]);
    assert_eq!(model.backlog(), 0);
}

#[test]
fn what_costs_nothing_never_queues() {
    let mut model =
        model(crate::Config::default(), WriteTime { fixed: Span(10), per_entry: Span::ZERO }, 0.0);
    model.submit(Time(0), batch(1, vec![set(16), port(true)]));
    model.submit(Time(1), batch(2, vec![port(true), route(1, NextHop::Local)]));
    assert_eq!(acks(&mut model, 1), [(2, vec![])], "in force while another batch waits");
    assert_eq!((model.forwarding().fib().count(), model.port_state(P)), (1, Some(true)));
    model.submit(Time(2), Batch { barrier: true, ..batch(3, vec![port(false)]) });
    assert_eq!((acks(&mut model, 2), model.port_state(P)), (vec![], Some(true)), "a barrier waits");
    assert_eq!(acks(&mut model, 10), [(1, vec![]), (3, vec![])]);
    assert_eq!(model.port_state(P), Some(false));
}

#[test]
fn a_full_table_is_told_once() {
    let config = crate::Config { ilm_max: 1, ..crate::Config::default() };
    let mut model = model(config, WriteTime::IDEAL, 0.0);
    assert_eq!(model.capabilities().entries[Table::Ilm.index()], Some(1));
    assert_eq!(model.capabilities().entries[Table::Fib.index()], None);
    model.submit(Time(0), batch(1, vec![set(16), set(17), set(18)]));
    assert_eq!(notices(&mut model), [Notice::Full(Table::Ilm)]);
    model.submit(Time(0), batch(2, vec![set(19), remove(16), set(20), set(21)]));
    assert_eq!(notices(&mut model), [Notice::Full(Table::Ilm)]);
    assert_eq!(model.soft().written().failed, [((Table::Ilm, TableError::Full), 4)].into());
}

#[test]
fn a_device_refuses_as_often_as_it_is_said() {
    let mut failing = model(crate::Config::default(), WriteTime::IDEAL, 0.25);
    failing.submit(Time(0), batch(1, (16..4_016).map(set).collect()));
    let refused = failing.soft().written().failed[&(Table::Ilm, TableError::Refused)];
    // Five standard deviations about 1,000.
    assert!((863..1_137).contains(&refused), "{refused}");
    failing.submit(Time(0), batch(2, vec![port(true); 100]));
    assert_eq!(failing.soft().written().done[Table::Ports.index()], 100, "ports never fail");
}

#[test]
fn what_is_in_force_can_be_written_again() {
    let via = NextHop::Via { port: P, gateway: Ipv4Addr::new(10, 0, 0, 2).into() };
    let leg =
        |last| Leg { labels: LabelStack::EMPTY, port: P, gateway: Ipv4Addr::new(10, 0, 0, last).into() };
    let (group, list) = (GroupId(4), ReplicationId(2));
    let members = [Member { leg: leg(2), backup: Some(leg(3).into()) }, Member { leg: leg(4), backup: None }];
    let branches = [nhlfe(via, &[40]), nhlfe(NextHop::Group(group), &[41, 42])];
    let filter = base::flow::FlowFilter { protocol: Some(17), ..Default::default() };
    let mac = MacAddr::of_port(NodeId(2), P);
    let prefix = Prefix::new(Ipv4Addr::new(10, 2, 0, 0), 16);
    let classes = [base::Phb::EF].into_iter().collect();
    let ops = vec![
        port(true),
        TableOp::AdjacencySet { port: P, gateway: leg(2).gateway, mac },
        TableOp::GroupSet { group, members: members.into() },
        TableOp::ReplicationSet { list, branches: branches.into() },
        route(1, NextHop::Group(group)),
        route(2, via),
        TableOp::Route6Set {
            prefix: "2001:db8::/32".parse().expect("a prefix"),
            next_hop: NextHop::Group(group),
        },
        TableOp::FtnSet { fec: Fec::ClassPrefix { prefix, classes, order: 3 }, nhlfe: nhlfe(via, &[50]) },
        TableOp::FtnSet { fec: Fec::Prefix(prefix), nhlfe: nhlfe(via, &[51]) },
        TableOp::FtnSet { fec: Fec::Flow { order: 9, filter }, nhlfe: nhlfe(via, &[52]) },
        set(16),
        TableOp::IlmSet { label: Label::truncate(17), nhlfe: nhlfe(NextHop::Replicate(list), &[]) },
    ];
    for known in DRIVERS.iter().filter(|known| is_here(known)) {
        let mut first = ideal(known);
        first.submit(Time(0), batch(1, ops.clone()));
        assert_eq!((wait(&mut first).1, first.backlog()), (vec![(1, vec![])], 0), "{}", known.name);
        assert_eq!(first.resync(), ops);
        let mut second = ideal(known);
        second.submit(Time(0), batch(1, first.resync()));
        assert_eq!((wait(&mut second).1, second.resync()), (vec![(1, vec![])], ops.clone()));
        assert_eq!(second.counters().ports.len(), 1);
    }
}

#[test]
fn every_driver_answers_each_batch_once_and_in_order() {
    for known in DRIVERS.iter().filter(|known| is_here(known)) {
        let mut plane = ideal(known);
        plane.submit(Time(0), batch(1, vec![port(true)]));
        plane.submit(Time(1), batch(2, vec![set(16), set(3), set(17)]));
        plane.submit(Time(2), batch(3, vec![remove(16)]));
        plane.submit(Time(3), batch(4, vec![]));
        plane.submit(Time(4), Batch { barrier: true, ..batch(5, vec![route(1, NextHop::Local)]) });
        let (_, answers) = wait(&mut plane);
        let reserved = vec![(1, TableError::ReservedLabel)];
        let expected = [(1, vec![]), (2, reserved), (3, vec![]), (4, vec![]), (5, vec![])];
        assert_eq!(answers, expected, "{}", known.name);
        assert_eq!(plane.resync(), [port(true), route(1, NextHop::Local), set(17)], "{}", known.name);
        assert_eq!((plane.backlog(), plane.poll_timeout(), notices(&mut plane)), (0, None, vec![]));
        let written: u64 = plane.soft().written().done.iter().sum();
        assert_eq!(written, 5, "{}: all that is in force is counted", known.name);
    }
}

#[test]
fn punts_and_packets_out_pass_the_boundary() {
    let mut soft = model(crate::Config::default(), WriteTime::IDEAL, 0.0);
    let connected = NextHop::Via { port: P, gateway: Ipv4Addr::UNSPECIFIED.into() };
    let gateway = Ipv4Addr::new(10, 1, 0, 9);
    let mac = MacAddr::of_port(NodeId(2), P);
    let known = TableOp::AdjacencySet { port: P, gateway: gateway.into(), mac };
    soft.submit(Time(0), batch(1, vec![port(true), known, route(1, connected)]));
    let mut arp = vec![0xff; 12];
    arp.extend([8, 6]);
    let frame = Frame::from_bytes(&arp);
    assert_eq!(soft.punt(P, frame.clone()), None);
    assert_eq!(notices(&mut soft), [Notice::Punt { port: P, frame, reason: PuntReason::Arp }]);
    let other = Frame::from_bytes(&[0; 20]);
    assert_eq!(soft.punt(P, other.clone()), Some(other), "dropped now, and no reason to punt it");
    let mut ip = vec![0; 14];
    ip.extend([0x45, 0, 0, 20, 0, 0, 0, 0, 9, 1, 0, 0, 10, 0, 0, 1, 10, 1, 0, 9]);
    for via in [None, Some((P, gateway.into()))] {
        let mut frame = Frame::from_bytes(&ip);
        assert_eq!(soft.packet_out(&mut frame, via), Ok(P));
        assert_eq!(frame.header()[..6], mac.0);
    }
    let counters = soft.counters();
    assert_eq!((counters.ports[0].1.tx_packets, counters.drops.total()), (2, 0));
}
