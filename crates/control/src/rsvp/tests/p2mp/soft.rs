//! Soft state, failures and refresh reduction.

use super::super::Net;
use super::super::bus::id;
use super::*;
use crate::protocol::Change;
use crate::rsvp::transport::RefreshReduction;
use wire::rsvp::{Message, MessageType};

/// A square with a tail at either side: 0 - 1 - 3 and 0 - 2 - 3, 3 - 4, 1 - 5.
const SQUARE: [(usize, usize); 6] = [(0, 1), (1, 3), (0, 2), (2, 3), (3, 4), (1, 5)];

fn two() -> P2mpSpec {
    tree(vec![leaf(&[1, 5]), leaf(&[1, 3, 4])], 10)
}

#[test]
fn what_is_refreshed_stays_and_what_is_not_goes() {
    for reduction in [None, Some(RefreshReduction::default())] {
        let mut net = Net::with(6, &SQUARE, |_, config| config.refresh_reduction = reduction);
        set(&mut net, 0, &two());
        net.run(1_000_000);
        assert_reached(&net, 0, &[4, 5]);
        let summaries: u64 = net.nodes.iter().map(|node| node.transport_counters().summaries_sent).sum();
        // RFC 4875, 9.
        assert_eq!(summaries > 0, reduction.is_some());
        if reduction.is_some() {
            assert!(net.sent(1, MessageType::Path) < 6, "{}", net.sent(1, MessageType::Path));
        }
        // Nobody hears of the root any more.
        net.lose = Some(Box::new(|from, _| from == 0));
        net.command(0, Command::P2mpRemove(ID));
        net.run(400_000);
        net.lose = None;
        net.run(400_000);
        net.assert_clean();
    }
}

#[test]
fn a_leaf_that_is_silent_is_given_up() {
    let mut net = Net::new(6, &SQUARE);
    set(&mut net, 0, &two());
    net.run(200);
    // 5 goes on without a Resv.
    net.lose = Some(Box::new(|from, message| from == 5 && matches!(message, Message::Resv(_))));
    net.run(300_000);
    assert_reached(&net, 0, &[4]);
    net.lose = None;
    net.run(300_000);
    assert_reached(&net, 0, &[4, 5]);
}

#[test]
fn a_link_that_fails_takes_its_leaves_with_it_and_no_others() {
    let mut net = Net::new(6, &SQUARE);
    set(&mut net, 0, &two());
    net.run(200);
    net.link(1, 3, false);
    net.run(200);
    assert_reached(&net, 0, &[5]);
    assert_eq!(errors(&net).first().map(|error| error.0), Some(id(4)));
    net.link(1, 3, true);
    net.run(30_000);
    assert_reached(&net, 0, &[4, 5]);
    // The same at the root.
    net.link(0, 1, false);
    net.run(200);
    assert_reached(&net, 0, &[]);
    net.link(0, 1, true);
    net.run(30_000);
    assert_reached(&net, 0, &[4, 5]);
    net.command(0, Command::P2mpRemove(ID));
    net.run(200);
    net.assert_clean();
}

/// RFC 2205, 3.6: where the routing tables know another way, the leaves beyond take it.
#[test]
fn leaves_without_routes_are_led_around_a_failure() {
    let mut net = Net::new(6, &SQUARE);
    net.route_all();
    let free = |node: usize| Leaf { address: id(node), route: Vec::new() };
    set(&mut net, 0, &tree(vec![free(5), free(4)], 10));
    net.run(200);
    assert_reached(&net, 0, &[4, 5]);
    let around = if net.reserved(2) > 0 { (2, 3) } else { (1, 3) };
    net.link(around.0, around.1, false);
    net.route_all();
    net.run(60_000);
    assert_reached(&net, 0, &[4, 5]);
    net.command(0, Command::P2mpRemove(ID));
    net.run(200);
    net.assert_clean();
}

#[test]
fn routers_restart() {
    for node in 0..6 {
        let mut net = Net::with(6, &SQUARE, |_, config| {
            config.refresh_reduction = Some(RefreshReduction::default());
        });
        set(&mut net, 0, &two());
        net.run(5_000);
        assert_reached(&net, 0, &[4, 5]);
        net.tables[node] = Default::default();
        net.change(node, Change::Restart);
        net.run(400_000);
        assert_reached(&net, 0, &[4, 5]);
    }
}

/// A port of the root that fails is the cause, not what follows from it.
#[test]
fn the_root_says_which_port_has_failed() {
    let mut net = Net::new(6, &SQUARE);
    set(&mut net, 0, &two());
    net.run(200);
    net.link(0, 1, false);
    let reasons: Vec<&str> = net
        .events
        .iter()
        .filter_map(|(_, event)| match event {
            crate::rsvp::Event::LeafDown { reason, .. } => Some(reason.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(reasons, ["the port to the next hop is down"; 2]);
}

#[test]
fn a_root_that_restarts_says_which_leaves_it_has_lost() {
    let mut net = Net::new(6, &SQUARE);
    set(&mut net, 0, &two());
    net.run(200);
    net.tables[0] = Default::default();
    net.change(0, Change::Restart);
    let lost = net.events.iter().filter_map(|(_, event)| match event {
        crate::rsvp::Event::LeafDown { leaf, .. } => Some(*leaf),
        _ => None,
    });
    assert_eq!(lost.collect::<Vec<_>>(), [id(4), id(5)]);
}
