//! Replication lists: one frame in, a copy for each branch.

use crate::support::*;
use base::device::DropReason;
use base::plane::{
    GroupKey, Incoming, NextHop, Nhlfe, ReplicationId, TableError, TableOp, TcSource, TtlModel, group_mac,
};
use base::{Frame, Verdict};
use core::net::{IpAddr, Ipv4Addr};
use twinplane_forwarding::{Branch, Exception, Forwarding, PuntReason};

const LIST: ReplicationId = ReplicationId(3);

fn list(branches: &[Nhlfe]) -> TableOp {
    TableOp::ReplicationSet { list: LIST, branches: branches.into() }
}
fn to_list() -> Nhlfe {
    nhlfe(&[], NextHop::Replicate(LIST), TtlModel::Uniform, TcSource::Copy)
}

/// A node that replicates label 100 and packets to 10.9/16 over these branches.
fn tables(branches: &[Nhlfe]) -> Forwarding {
    node(&[
        list(branches),
        ilm(100, to_list()),
        TableOp::FtnSet { fec: fec("10.9.0.0/16"), nhlfe: to_list() },
    ])
}

fn copy(tables: &mut Forwarding, frame: &Frame, branch: u16) -> Result<Frame, Exception> {
    let mut copy = frame.clone();
    tables.copy(P0, &mut copy, Branch::first(branch)).map(|port| {
        assert_eq!(port, P1);
        copy
    })
}

#[test]
fn each_branch_gets_a_copy_of_its_own() {
    let branches = [
        to_gateway(&[200], TtlModel::Uniform),
        to_gateway(&[201, 202], TtlModel::Pipe),
        local(TtlModel::Uniform),
    ];
    let mut tables = tables(&branches);
    let labelled = frame(&[(100, 3, 9)], Ip::default());
    stays(&mut tables, labelled.clone(), Verdict::Replicate);
    assert_eq!(tables.classify_punt(P0, &labelled), Some(PuntReason::Replicate { branches: 3 }));
    assert_eq!(copy(&mut tables, &labelled, 0), Ok(sent(&[(200, 3, 8)], Ip::default())));
    assert_eq!(copy(&mut tables, &labelled, 1), Ok(sent(&[(202, 3, 255), (201, 3, 8)], Ip::default())));
    // Here the third branch ends, and what is below the label is looked at: it is replicated in turn.
    let inner = copy(&mut tables, &labelled, 2);
    assert_eq!(inner, Err(PuntReason::Replicate { branches: 3 }.into()));
    assert_eq!(copy(&mut tables, &labelled, 3), Err(DropReason::Discard.into()));
    let plain = frame(&[], Ip::default());
    stays(&mut tables, plain.clone(), Verdict::Replicate);
    let ip = Ip { ttl: 63, ..Ip::default() };
    assert_eq!(copy(&mut tables, &plain, 0), Ok(sent(&[(200, 46 >> 3, 63)], ip)));
    let rows: Vec<_> = tables.replications().map(|row| (row.nhlfe, row.packets)).collect();
    assert_eq!(rows, [(branches[0], 2), (branches[1], 1), (branches[2], 0)]);
    assert_eq!(tables.ilm_row(label(100)).map(|row| row.packets), Some(1), "received once");
    // A branch that stays goes on counting.
    tables.apply(&list(&[branches[1], branches[0]])).expect("a list");
    assert_eq!(tables.replications().map(|row| row.packets).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn what_a_copy_meets_is_its_own_affair() {
    let unknown = nhlfe(&[200], via(UNKNOWN), TtlModel::Uniform, TcSource::Copy);
    let mut tables = tables(&[unknown, to_gateway(&[200], TtlModel::Uniform)]);
    let labelled = frame(&[(100, 3, 9)], Ip::default());
    let missing = PuntReason::NoAdjacency { port: P1, gateway: UNKNOWN.into() };
    assert_eq!(copy(&mut tables, &labelled, 0), Err(missing.into()));
    assert!(copy(&mut tables, &labelled, 1).is_ok());
    let old = frame(&[(100, 3, 1)], Ip::default());
    stays(&mut tables, old.clone(), Verdict::Punt);
    assert_eq!(tables.classify_punt(P0, &old), Some(PuntReason::TtlExpired { labels: 1 }));
    tables.apply(&list(&[])).expect("a list");
    stays(&mut tables, labelled, Verdict::Drop(DropReason::Discard));
}

#[test]
fn lists_are_checked_and_released() {
    let mut tables = tables(&[to_gateway(&[200], TtlModel::Uniform)]);
    assert_eq!(tables.apply(&list(&[to_list()])), Err(TableError::Nested));
    let pushing = Nhlfe { push: to_gateway(&[5], TtlModel::Uniform).push, ..to_list() };
    assert_eq!(tables.apply(&ilm(101, pushing)), Err(TableError::Nested));
    let other = nhlfe(&[], NextHop::Replicate(ReplicationId(9)), TtlModel::Uniform, TcSource::Copy);
    assert_eq!(tables.apply(&ilm(101, other)), Err(TableError::NoGroup));
    assert_eq!(tables.apply(&TableOp::ReplicationRemove { list: LIST }), Err(TableError::InUse));
    for op in [
        TableOp::IlmRemove { label: label(100) },
        TableOp::FtnRemove { fec: fec("10.9.0.0/16") },
        TableOp::ReplicationRemove { list: LIST },
    ] {
        tables.apply(&op).expect("there");
    }
    assert_eq!(tables.replications().count(), 0);
    assert_eq!(tables.apply(&TableOp::ReplicationRemove { list: LIST }), Err(TableError::NoGroup));
}

/// A group that the node replicates, and one that it does not.
const GROUP: Ipv4Addr = Ipv4Addr::new(232, 1, 2, 3);

/// Two equal branches are two: each goes on with counters of its own, wherever it stands in the new list.
#[test]
fn branches_that_stay_go_on_counting() {
    let [a, b] = [200, 201].map(|label| to_gateway(&[label], TtlModel::Uniform));
    let mut tables = tables(&[a, a, b]);
    let frame = frame(&[(100, 0, 9)], Ip::default());
    for (branch, copies) in [(0, 1), (1, 2), (2, 4)] {
        (0..copies).for_each(|_| drop(copy(&mut tables, &frame, branch).expect("leaves")));
    }
    let mut counted = |branches: &[Nhlfe]| {
        tables.apply(&list(branches)).expect("a list");
        tables.replications().map(|branch| branch.packets).collect::<Vec<_>>()
    };
    assert_eq!(counted(&[a, a, b, a]), [1, 2, 4, 0], "a new branch begins, though equal ones were there");
    assert_eq!(counted(&[b, a, a]), [4, 2, 1], "one keeps its place, the others move");
    assert_eq!(counted(&[a]), [2], "only what is left");
}

fn group_branch(gateway: Ipv4Addr) -> Nhlfe {
    nhlfe(&[], via(gateway), TtlModel::Uniform, TcSource::Copy)
}
fn entry(source: Option<Ipv4Addr>, incoming: Incoming) -> TableOp {
    let key = GroupKey { group: GROUP.into(), source: source.map(IpAddr::from) };
    TableOp::MulticastSet { key, incoming, list: LIST }
}
fn to_group(ttl: u8) -> Ip {
    Ip { to: GROUP, ttl, ..Ip::default() }
}

#[test]
fn packets_to_groups_leave_in_copies() {
    let branches = [group_branch(GROUP), to_gateway(&[200], TtlModel::Uniform), local(TtlModel::Uniform)];
    let mut tables = node(&[list(&branches), entry(Some(SOURCE), Incoming::Port(P0))]);
    let mut plain = frame(&[], to_group(9));
    plain.header_mut()[..6].copy_from_slice(&group_mac(GROUP).0);
    stays(&mut tables, plain.clone(), Verdict::Replicate);
    // RFC 1112, 6.4; one hop less to live; the label gets the time to live of the packet.
    let mut first = sent(&[], to_group(8));
    first.header_mut()[..6].copy_from_slice(&[0x01, 0, 0x5e, 1, 2, 3]);
    assert_eq!(copy(&mut tables, &plain, 0), Ok(first));
    assert_eq!(copy(&mut tables, &plain, 1), Ok(sent(&[(200, 46 >> 3, 8)], to_group(8))));
    assert_eq!(copy(&mut tables, &plain, 2), Err(PuntReason::Local { labels: 0 }.into()));
    let row = tables.multicast().next().expect("an entry");
    assert_eq!((row.incoming, row.list, row.packets), (Incoming::Port(P0), LIST, 1));
    // By another port the packet does not come from where its source is.
    let mut other = plain.clone();
    // A port that packets are sent to is a matter for protocols of trees: another router sends them there, too.
    assert_eq!(verdict_at(&mut tables, P1, &mut other), Verdict::Punt);
    tables.apply(&list(&[local(TtlModel::Uniform)])).expect("a list");
    assert_eq!(verdict_at(&mut tables, P1, &mut other), Verdict::Drop(DropReason::WrongInterface));
    tables.apply(&list(&branches)).expect("a list");
    // Neither a time to live that is over nor one that is not above the threshold leaves.
    let old = frame(&[], to_group(1));
    stays(&mut tables, old.clone(), Verdict::Replicate);
    assert_eq!(copy(&mut tables, &old, 0), Err(DropReason::TtlExpired.into()));
    assert_eq!(copy(&mut tables, &old, 2), Err(PuntReason::Local { labels: 0 }.into()));
    tables.apply(&list(&branches[..2])).expect("a list");
    stays(&mut tables, old, Verdict::Drop(DropReason::TtlExpired));
    tables.apply(&list(&branches)).expect("a list");
    tables.apply(&TableOp::MulticastThreshold { port: P1, ttl: 9 }).expect("a port");
    assert_eq!(copy(&mut tables, &plain, 0), Err(DropReason::TtlExpired.into()));
    assert!(copy(&mut tables, &frame(&[], to_group(10)), 0).is_ok());
    // Groups of a link, and those that nobody has told of, are for whoever listens here.
    for to in [Ipv4Addr::new(224, 0, 0, 22), Ipv4Addr::new(232, 9, 9, 9)] {
        stays(&mut tables, frame(&[], Ip { to, ..Ip::default() }), Verdict::Punt);
    }
    let key = GroupKey { group: GROUP.into(), source: Some(SOURCE.into()) };
    let gone = TableOp::MulticastRemove { key, incoming: Incoming::Port(P0) };
    tables.apply(&gone).expect("there");
    assert_eq!(tables.apply(&gone), Err(TableError::NoEntry));
    assert_eq!(tables.apply(&TableOp::ReplicationRemove { list: LIST }), Ok(()));
}

#[test]
fn an_entry_of_a_source_goes_before_that_of_all() {
    let mut tables = node(&[list(&[group_branch(GROUP)]), entry(None, Incoming::Port(P1))]);
    tables.apply(&entry(Some(SOURCE), Incoming::Port(P0))).expect("an entry");
    let packet = frame(&[], to_group(9));
    assert_eq!(verdict_at(&mut tables, P0, &mut packet.clone()), Verdict::Replicate);
    // Its own entry says from where; that of all others does not help.
    let wrong = Verdict::Drop(DropReason::WrongInterface);
    assert_eq!(verdict_at(&mut tables, P1, &mut packet.clone()), Verdict::Punt);
    let other = Ip { from: Ipv4Addr::new(10, 0, 0, 8), ..to_group(9) };
    assert_eq!(verdict_at(&mut tables, P0, &mut frame(&[], other)), wrong);
    let bad = GroupKey { group: FAR.into(), source: None };
    let set = TableOp::MulticastSet { key: bad, incoming: Incoming::Label, list: LIST };
    assert_eq!(tables.apply(&set), Err(TableError::NotAGroup));
}

#[test]
fn a_label_that_ends_here_leads_to_the_group() {
    let other = ReplicationId(4);
    let mut tables = node(&[
        list(&[local(TtlModel::Uniform), to_gateway(&[201], TtlModel::Uniform)]),
        TableOp::ReplicationSet { list: other, branches: [group_branch(GROUP), group_branch(GROUP)].into() },
        ilm(100, to_list()),
    ]);
    let key = GroupKey { group: GROUP.into(), source: None };
    let set = TableOp::MulticastSet { key, incoming: Incoming::Label, list: other };
    tables.apply(&set).expect("an entry");
    let labelled = frame(&[(100, 3, 9)], to_group(20));
    stays(&mut tables, labelled.clone(), Verdict::Replicate);
    assert_eq!(copy(&mut tables, &labelled, 0), Err(PuntReason::Replicate { branches: 2 }.into()));
    let below = Branch::first(0).then(1).expect("a second list");
    let mut left = labelled.clone();
    assert_eq!(tables.copy(P0, &mut left, below), Ok(P1));
    // A uniform LSP hands its time to live down; here the packet makes one hop.
    let mut expected = sent(&[], to_group(8));
    expected.header_mut()[..6].copy_from_slice(&group_mac(GROUP).0);
    assert_eq!(left, expected);
    assert_eq!(below.then(0), None);
    assert_eq!(copy(&mut tables, &labelled, 1), Ok(sent(&[(201, 3, 8)], to_group(20))));
    assert_eq!(tables.multicast().map(|row| row.packets).collect::<Vec<_>>(), [1]);
}

#[test]
fn labelled_packets_go_to_all_on_a_link() {
    // RFC 5332, 8: the address has the second label, or the only one, and the EtherType stays that of unicast.
    let group = Ipv4Addr::new(224, 0, 0, 1);
    let branches = [&[0x12345][..], &[0x12345, 77]]
        .map(|push| nhlfe(push, via(group), TtlModel::Uniform, TcSource::Copy));
    let mut tables = tables(&branches);
    let labelled = frame(&[(100, 3, 9)], Ip::default());
    for branch in [0, 1] {
        let copy = copy(&mut tables, &labelled, branch).expect("a copy");
        assert_eq!(copy.header()[..6], [0x01, 0, 0x5e, 0x81, 0x23, 0x45]);
        assert_eq!(copy.header()[12..14], [0x88, 0x47]);
    }
    // It is taken in, whatever the label in the address; to other groups it is not for routers.
    for (address, verdict) in [
        ([0x01, 0, 0x5e, 0x80, 0, 0], Verdict::Replicate),
        ([0x01, 0, 0x5e, 0x8f, 0xff, 0xff], Verdict::Replicate),
        ([0x01, 0, 0x5e, 1, 2, 3], Verdict::Drop(DropReason::NotForUs)),
    ] {
        let mut frame = labelled.clone();
        frame.header_mut()[..6].copy_from_slice(&address);
        assert_eq!(verdict_at(&mut tables, P0, &mut frame), verdict);
    }
}

#[test]
fn all_copies_at_once_are_those_one_by_one() {
    let branches = [200, 201, 202].map(|label| to_gateway(&[label], TtlModel::Uniform));
    let (mut one, mut other) = (tables(&branches), tables(&branches));
    for (ttl, is_common) in [(9, true), (1, false)] {
        let labelled = frame(&[(100, 3, ttl)], Ip::default());
        let mut all = Vec::new();
        assert_eq!(one.copies(P0, &labelled, |port, frame| all.push((port, frame))), is_common);
        if is_common {
            let each: Vec<_> =
                (0..3).map(|at| (P1, copy(&mut other, &labelled, at).expect("a copy"))).collect();
            assert_eq!(all, each);
        }
    }
    let rows = |tables: &Forwarding| tables.replications().collect::<Vec<_>>();
    assert_eq!(rows(&one), rows(&other));
    assert_eq!(one.port_counters(P1), other.port_counters(P1));
}
