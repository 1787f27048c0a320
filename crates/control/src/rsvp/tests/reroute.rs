//! Fallback routes, retries, and moving traffic without a gap.

use super::bus::id;
use super::{Net, spec};
use crate::rsvp::Event;
use crate::rsvp::command::{Command, ReservationStyle, TunnelSpec};
use base::plane::Prefix;
use base::{Rate, Span};
use core::net::Ipv4Addr;
use wire::rsvp::MessageType;

const DIAMOND: [(usize, usize); 4] = [(0, 1), (1, 3), (0, 2), (2, 3)];

#[test]
fn the_next_route_is_tried_when_one_fails() {
    let mut net = Net::new(4, &DIAMOND);
    net.link(1, 3, false);
    net.tunnel(0, spec(1, 3, &[&[1, 3], &[2, 3]], 1));
    net.run(100);
    assert_eq!(net.trace(0, 1), Some(vec![0, 2, 3]));
    assert_eq!(net.errors(0).len(), 1);
}

#[test]
fn retries_back_off_and_stop_at_the_limit() {
    let mut net = Net::new(4, &DIAMOND);
    net.link(0, 1, false);
    let patient = TunnelSpec { retry_limit: Some(4), ..spec(1, 3, &[&[1, 3]], 1) };
    net.tunnel(0, patient.clone());
    net.run(60_000);
    assert_eq!(net.errors(0).len(), 5, "once, and four times again");
    // 100, 200, 400, 800 ms, a quarter less or more.
    net.link(0, 1, true);
    net.run(60_000);
    assert_eq!(net.trace(0, 1), None);
    net.tunnel(0, TunnelSpec { name: "again".into(), ..patient });
    net.run(100);
    assert!(net.trace(0, 1).is_some());
}

#[test]
fn a_retry_succeeds_when_the_link_is_back() {
    let mut net = Net::new(4, &DIAMOND);
    net.link(1, 3, false);
    net.tunnel(0, TunnelSpec { retry_limit: None, ..spec(1, 3, &[&[1, 3]], 1) });
    net.run(1_000);
    net.link(1, 3, true);
    net.run(10_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 3]));
    let view = net.nodes[0].tunnels().next().expect("a tunnel");
    assert_eq!((view.failures, view.retry_at), (0, None));
}

#[test]
fn reoptimising_never_leaves_the_traffic_without_an_entry() {
    let mut net = Net::new(4, &DIAMOND);
    net.link(0, 1, false);
    let tunnel = net.tunnel(0, spec(1, 3, &[&[1, 3], &[2, 3]], 600));
    net.run(100);
    assert_eq!(net.trace(0, 1), Some(vec![0, 2, 3]));
    net.link(0, 1, true);
    net.command(0, Command::TunnelReoptimise(tunnel));
    for _ in 0..3_000 {
        net.run(1);
        assert!(net.trace(0, 1).is_some(), "at {:?}", net.now);
    }
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 3]), "back on the preferred route");
    assert_eq!((net.reserved(2), net.reserved(1)), (0, 600));
    assert!(!net.events.iter().any(|(_, e)| matches!(e, Event::LspDown { .. })), "{:?}", net.events);
}

#[test]
fn a_failed_reoptimisation_changes_nothing() {
    let mut net = Net::new(4, &DIAMOND);
    net.tunnel(0, spec(1, 3, &[&[2, 3]], 600));
    net.run(100);
    net.tunnel(0, spec(9, 3, &[&[1, 3]], 600));
    net.run(100);
    // 600 more do not fit on the way over 1.
    net.tunnel(0, spec(1, 3, &[&[1, 3]], 600));
    for _ in 0..1_000 {
        net.run(1);
        assert_eq!(net.trace(0, 1), Some(vec![0, 2, 3]));
    }
    assert_eq!(net.errors(0).len(), 1);
}

#[test]
fn a_change_of_style_breaks_before_it_makes() {
    let mut net = Net::new(4, &DIAMOND);
    net.tunnel(0, spec(1, 3, &[&[1, 3]], 600));
    net.run(100);
    net.tunnel(0, TunnelSpec { style: ReservationStyle::FixedFilter, ..spec(1, 3, &[&[1, 3]], 600) });
    net.run(100);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 3]));
    let downs = net.events.iter().filter(|(_, e)| matches!(e, Event::LspDown { .. })).count();
    assert_eq!(downs, 1);
}

#[test]
fn what_a_tunnel_carries_can_change() {
    let mut net = Net::new(4, &DIAMOND);
    let prefix = |n| Prefix::new(Ipv4Addr::new(192, 168, n, 0), 24);
    let first = spec(1, 3, &[&[1, 3]], 1);
    net.tunnel(0, first.clone());
    net.run(100);
    net.tunnel(0, TunnelSpec { carries: vec![prefix(1), prefix(2)], ..first.clone() });
    net.run(100);
    assert_eq!(net.tables[0].ftn.keys().copied().collect::<Vec<_>>(), [prefix(1), prefix(2)]);
    assert_eq!(net.sent(0, MessageType::Path), 1, "no signalling for that");
    // Both at once.
    net.tunnel(0, TunnelSpec { carries: vec![prefix(3)], bandwidth: Rate::from_mbps(5), ..first });
    net.run(2_000);
    assert_eq!(net.tables[0].ftn.keys().copied().collect::<Vec<_>>(), [prefix(3)]);
}

#[test]
fn an_attempt_without_an_answer_is_given_up() {
    let mut net = Net::with(4, &DIAMOND, |_, config| config.setup_timeout = Span::from_secs(5));
    net.lose = Some(Box::new(|node, message| node == 1 && message.message_type() == MessageType::Resv));
    net.tunnel(0, spec(1, 3, &[&[1, 3], &[2, 3]], 1));
    net.run(4_000);
    assert_eq!(net.trace(0, 1), None);
    net.run(2_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 2, 3]));
    assert_eq!(net.nodes[1].lsps().count(), 0);
}

#[test]
fn a_tunnel_to_oneself_or_nowhere_fails() {
    let mut net = Net::new(4, &DIAMOND);
    net.tunnel(0, spec(1, 0, &[], 1));
    net.tunnel(0, TunnelSpec { to: id(99), ..spec(2, 3, &[], 1) });
    net.run(10_000);
    assert_eq!(net.errors(0).len(), 2);
    assert_eq!(net.nodes[0].lsps().count(), 0);
}
