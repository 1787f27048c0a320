//! What there is no room for: bandwidth, entries of tables, state (RFC 4875, 6.4; RFC 3209, 4.7.3).

use super::super::Net;
use super::super::bus::id;
use super::*;
use wire::rsvp::error_code::{ADMISSION, ROUTING, RSVP_SYSTEM, routing};
use wire::rsvp::{Message, MessageType};

#[test]
fn bandwidth_that_is_not_there_is_refused_for_its_leaves() {
    let mut net = Net::with(6, &SQUARE, |n, config| {
        if n == 3 {
            config.interfaces.iter_mut().for_each(|link| link.reservable = Rate::from_mbps(50));
        }
    });
    set(&mut net, 0, &tree(vec![leaf(&[1, 5]), leaf(&[1, 3, 4])], 100));
    net.run(50);
    assert_reached(&net, 0, &[5]);
    assert_eq!(errors(&net).first(), Some(&(id(4), id(3), ADMISSION, 2)));
    assert_eq!((net.reserved(0), net.reserved(1), net.reserved(3)), (100, 100, 0));
}

#[test]
fn tunnels_with_one_end_give_way_to_stronger_trees() {
    let mut net = Net::new(6, &SQUARE);
    net.tunnel(0, super::super::spec(1, 3, &[&[1, 3]], 800));
    net.run(100);
    set(&mut net, 0, &P2mpSpec { setup_priority: 3, holding_priority: 3, ..tree(vec![leaf(&[1, 3])], 500) });
    net.run(100);
    assert_reached(&net, 0, &[3]);
    assert_eq!((net.trace(0, 1), net.reserved(1)), (None, 500));
}

#[test]
fn a_full_table_is_an_error_of_the_leaves_behind_it() {
    let mut net = Net::new(6, &SQUARE);
    net.tables[3].full = true;
    set(&mut net, 0, &tree(vec![leaf(&[1, 5]), leaf(&[1, 3, 4])], 10));
    net.run(50);
    assert_reached(&net, 0, &[5]);
    assert_eq!(errors(&net).first(), Some(&(id(4), id(3), ROUTING, routing::LABEL_ALLOCATION)));
    net.tables[3].full = false;
    net.run(20_000);
    assert_reached(&net, 0, &[4, 5]);
    net.command(0, Command::P2mpRemove(ID));
    net.run(200);
    net.assert_clean();
}

/// A router whose tables are full by the time that a branch is added gives up all that comes by its label: the previous
/// hop is told at once, and what has no label is not looked at for ever. The first leaf is at 1 itself in one case.
#[test]
fn a_table_that_fills_up_is_told_at_once() {
    for own in [false, true] {
        let mut net = Net::new(6, &SQUARE);
        let first = if own { leaf(&[1]) } else { leaf(&[1, 5]) };
        set(&mut net, 0, &tree(vec![first.clone()], 10));
        net.run(50);
        net.tables[1].full = true;
        // The root does nothing about it: it does not learn of the error.
        net.lose = Some(Box::new(|from, message| from == 1 && matches!(message, Message::PathErr(_))));
        set(&mut net, 0, &tree(vec![first, leaf(&[1, 3, 4])], 10));
        while net.sent(1, MessageType::PathErr) == 0 {
            net.run(1);
        }
        assert!(net.sent(1, MessageType::ResvTear) > 0, "the label is free: nobody may use it");
        net.run(100_000);
        net.lose = None;
        net.tables[1].full = false;
        net.run(100_000);
        assert_reached(&net, 0, if own { &[1, 4] } else { &[4, 5] });
        net.command(0, Command::P2mpRemove(ID));
        net.run(400_000);
        net.assert_clean();
    }
}

/// What is there stays however full a router is; what is new is refused. Each leaf counts.
#[test]
fn a_router_has_room_for_so_many_leaves() {
    let mut net = Net::with(6, &SQUARE, |n, config| {
        if n == 1 {
            config.limits.lsps = 2;
        }
    });
    let three = [leaf(&[1, 5]), leaf(&[1, 3, 4]), leaf(&[1, 3])];
    set(&mut net, 0, &tree(three[..2].to_vec(), 10));
    net.run(50);
    set(&mut net, 0, &tree(three.to_vec(), 10));
    net.run(200_000);
    assert_reached(&net, 0, &[4, 5]);
    assert_eq!(
        errors(&net).first().map(|error| (error.0, error.1, error.2)),
        Some((id(3), id(1), RSVP_SYSTEM))
    );
    assert_eq!(net.nodes[1].counters().expired, 0);
}

/// Trees are not preempted: who would need their bandwidth is refused before anything is signalled.
#[test]
fn bandwidth_of_trees_is_not_offered() {
    let mut net = Net::new(6, &SQUARE);
    set(&mut net, 0, &tree(vec![leaf(&[1, 3])], 800));
    net.run(50);
    net.log.clear();
    let stronger = super::super::spec(1, 3, &[&[1, 3]], 500);
    net.tunnel(0, crate::rsvp::command::TunnelSpec { setup_priority: 3, holding_priority: 3, ..stronger });
    net.run(50);
    assert_eq!(net.sent(0, MessageType::Path), 0);
    assert_eq!(net.errors(0).first().map(|error| (error.0, error.1)), Some((id(0), ADMISSION)));
    assert_reached(&net, 0, &[3]);
}
