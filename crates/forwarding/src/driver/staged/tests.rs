//! Commits of the driver: when they come, what they do when they fail, and what passes them.

use super::super::tests::{acks, batch, plane_of, port, route, set};
use super::super::{ForwardingPlane, WriteTime};
use super::*;
use base::plane::{NextHop, TableError};

/// An interval of 100 ps, room for four operations, and so many tries of which this share fails.
fn staged(failures: f64, tries: u8) -> ForwardingPlane {
    let spec = StagedSpec { interval: base::Span(100), room: 4, entries: Some(3), failures, tries };
    plane_of(&spec, crate::Config::default(), WriteTime::IDEAL, 0.0)
}

fn counters(plane: &ForwardingPlane) -> Counters {
    let driver: &dyn core::any::Any = plane.driver();
    driver.downcast_ref::<Staged>().expect("the driver").counters
}

fn labels(plane: &ForwardingPlane) -> usize {
    plane.forwarding().ilm().count()
}

#[test]
fn what_was_written_comes_into_force_at_the_next_interval() {
    let mut plane = staged(0.0, 1);
    plane.submit(Time(30), batch(1, vec![set(16)]));
    plane.submit(Time(40), batch(2, vec![route(1, NextHop::Local), set(3)]));
    plane.submit(Time(45), batch(3, vec![]));
    plane.submit(Time(50), batch(4, vec![port(true)]));
    assert_eq!(acks(&mut plane, 99), [(4, vec![])], "ports don't wait");
    assert_eq!((labels(&plane), plane.backlog(), plane.poll_timeout()), (0, 3, Some(Time(100))));
    let reserved = vec![(1, TableError::ReservedLabel)];
    assert_eq!(acks(&mut plane, 100), [(1, vec![]), (2, reserved), (3, vec![])]);
    assert_eq!((labels(&plane), plane.backlog(), plane.poll_timeout()), (1, 0, None));
    plane.submit(Time(100), batch(5, vec![set(17)]));
    assert_eq!(plane.poll_timeout(), Some(Time(200)), "the next one");
    assert_eq!(counters(&plane), Counters { commits: 1, operations: 4, largest: 3, ..Counters::default() });
}

#[test]
fn a_barrier_waits_for_what_is_staged() {
    let mut plane = staged(0.0, 1);
    plane.submit(Time(1), batch(1, vec![set(16)]));
    plane.submit(Time(2), Batch { barrier: true, ..batch(2, vec![port(true)]) });
    assert_eq!(acks(&mut plane, 99), []);
    assert_eq!(acks(&mut plane, 100), [(1, vec![]), (2, vec![])]);
    plane.submit(Time(101), Batch { barrier: true, ..batch(3, vec![port(false)]) });
    assert_eq!(acks(&mut plane, 101), [(3, vec![])], "nothing is staged");
}

#[test]
fn a_full_memory_is_committed_at_once_and_tables_are_as_small_as_was_said() {
    let mut plane = staged(0.0, 1);
    assert_eq!(plane.capabilities().entries[Table::Ilm.index()], Some(3));
    plane.submit(Time(1), batch(1, vec![set(16), set(17)]));
    plane.submit(Time(2), batch(2, vec![set(18), set(19)]));
    assert_eq!(acks(&mut plane, 2), [(1, vec![]), (2, vec![(1, TableError::Full)])]);
    let once = Counters { commits: 1, early: 1, operations: 4, largest: 4, ..Counters::default() };
    assert_eq!((counters(&plane), plane.poll_timeout()), (once, None));
    let full = crate::Notice::Full(Table::Ilm);
    assert_eq!((plane.poll_notice(), plane.poll_notice()), (Some(full), None));
}

#[test]
fn a_commit_that_fails_is_tried_again_and_then_refused() {
    let mut plane = staged(1.0, 3);
    plane.submit(Time(1), batch(1, vec![set(16)]));
    for due in [100, 200] {
        assert_eq!((acks(&mut plane, due), plane.poll_timeout()), (vec![], Some(Time(due + 100))));
    }
    assert_eq!(acks(&mut plane, 300), [(1, vec![(0, TableError::Refused)])]);
    let tried = Counters { failed: 2, given_up: 1, operations: 1, largest: 1, ..Counters::default() };
    assert_eq!((counters(&plane), plane.poll_timeout(), labels(&plane)), (tried, None, 0));
    let remove =
        TableOp::RouteRemove { prefix: base::plane::Prefix::new(core::net::Ipv4Addr::new(10, 9, 0, 0), 16) };
    plane.submit(Time(301), batch(2, vec![remove]));
    assert!(
        acks(&mut plane, 600).iter().all(|(_, failed)| failed.iter().all(|(_, e)| *e != TableError::Refused))
    );
}
