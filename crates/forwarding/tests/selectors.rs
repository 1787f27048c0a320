//! Selectors: of LSPs that carry the same packets, those of one are taken.

use crate::support::*;
use base::Verdict;
use base::device::DropReason;
use base::plane::{NextHop, Nhlfe, SelectorId, TableError, TableOp, TcSource, TtlModel};
use core::net::Ipv4Addr;
use twinplane_forwarding::{Forwarding, PuntReason};

const SELECTOR: SelectorId = SelectorId(5);

fn taking(of: u32) -> TableOp {
    TableOp::SelectorSet { selector: SELECTOR, label: Some(label(of)) }
}
fn selected() -> Nhlfe {
    nhlfe(&[], NextHop::Selected(SELECTOR), TtlModel::Uniform, TcSource::Copy)
}

fn tables() -> Forwarding {
    node(&[taking(100), ilm(100, selected()), ilm(101, selected())])
}

#[test]
fn one_label_is_taken_and_one_write_changes_which() {
    let mut tables = tables();
    let [first, second] = [100, 101].map(|label| [(label, 3, 9)]);
    let ip = Ip { ttl: 8, ..Ip::default() };
    for (taken, left) in [(&first, &second), (&second, &first)] {
        leaves(&mut tables, taken, Ip::default(), &[], ip);
        stays(&mut tables, frame(left, Ip::default()), Verdict::Drop(DropReason::Unselected));
        tables.apply(&taking(101)).expect("a selector");
    }
    // What is behind a label of another LSP is the same packet, too.
    let below = frame(&[(100, 3, 9), (20, 3, 9)], Ip::default());
    stays(&mut tables, below, Verdict::Drop(DropReason::Unselected));
    tables.apply(&TableOp::SelectorSet { selector: SELECTOR, label: None }).expect("a selector");
    for stack in [first, second] {
        stays(&mut tables, frame(&stack, Ip::default()), Verdict::Drop(DropReason::Unselected));
    }
    assert_eq!(tables.drops().get(DropReason::Unselected), 5);
}

/// BFD and LSP ping test the LSP that is not selected as well.
#[test]
fn what_tests_an_lsp_is_taken_of_all() {
    let mut tables = tables();
    for label in [100, 101] {
        let test = frame(&[(label, 3, 9)], Ip { to: Ipv4Addr::new(127, 1, 2, 3), ..Ip::default() });
        stays(&mut tables, test.clone(), Verdict::Punt);
        assert_eq!(tables.classify_punt(P0, &test), Some(PuntReason::Local { labels: 1 }));
    }
}

#[test]
fn selectors_are_checked_and_released() {
    let mut tables = tables();
    let other = nhlfe(&[], NextHop::Selected(SelectorId(9)), TtlModel::Uniform, TcSource::Copy);
    assert_eq!(tables.apply(&ilm(102, other)), Err(TableError::NoSelector));
    let mapped = TableOp::FtnSet { fec: fec("10.9.0.0/16"), nhlfe: selected() };
    assert_eq!(tables.apply(&mapped), Err(TableError::NoSelector), "it is of labels");
    let remove = TableOp::SelectorRemove { selector: SELECTOR };
    assert_eq!(tables.apply(&remove), Err(TableError::InUse));
    assert_eq!(tables.ilm_row(label(101)).map(|row| row.nhlfe.next_hop), Some(NextHop::Selected(SELECTOR)));
    for label in [label(100), label(101)] {
        tables.apply(&TableOp::IlmRemove { label }).expect("there");
    }
    assert_eq!(tables.apply(&remove), Ok(()));
    assert_eq!(tables.apply(&remove), Err(TableError::NoSelector));
}
