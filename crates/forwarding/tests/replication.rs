//! Replication lists: one frame in, a copy for each branch.

use crate::support::*;
use base::device::DropReason;
use base::plane::{NextHop, Nhlfe, ReplicationId, TableError, TableOp, TcSource, TtlModel};
use base::{Frame, Verdict};
use twinplane_forwarding::{Exception, Forwarding, PuntReason};

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
    tables.copy(P0, &mut copy, branch).map(|port| {
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
    // Here the third branch ends, and what is below the label is looked at: it would be replicated in turn.
    let inner = copy(&mut tables, &labelled, 2);
    assert_eq!(inner, Err(PuntReason::Local { labels: 1 }.into()));
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
