//! How connections begin and end: refused, half open, at the same time, reset, checked by their time to live.

use super::talk::{MS, PORT, Role, S, Talk, address, chain, connect, id, router, rows, talk};
use base::{Command, LinkId, NodeId, Span, Time};
use control::services::sessions::{Closed, Connect, Options};
use control::unheard::Unheard;
use core::net::Ipv4Addr;
use engine::{Direction, Fault, FaultKind, World};
use twinplane_node::Router;

fn closed(world: &World, node: usize) -> Vec<Option<Closed>> {
    talk(world, node).sessions.values().map(|heard| heard.closed).collect()
}

fn run(world: &mut World, until: u64) {
    world.run_until(Time(until)).expect("a run");
}

#[test]
fn a_port_that_nobody_listens_to_answers_with_a_reset() {
    // The server listens to another port, refuses everybody, or has no TCP at all.
    let elsewhere = Role { listens: Some(1), ..Role::server() };
    let choosy = Role { accepts: None, ..Role::server() };
    for (server, unheard) in [(Some(elsewhere), 1), (Some(choosy), 1), (None, 1)] {
        let mut world = chain(1, vec![Some(Role::client(address(2, 0), 10)), None, server]);
        run(&mut world, S);
        assert_eq!(closed(&world, 0), [Some(Closed::Refused)]);
        assert_eq!(router(&world, 2).control().unheard().get(Unheard::TcpPort), unheard);
        assert_eq!(rows(&world, 0), []);
    }
}

#[test]
fn a_node_that_is_not_there_is_given_up() {
    let hasty = Connect {
        options: Options { timeout: Some(Span::from_secs(5)), ..Options::default() },
        ..connect(id(9))
    };
    let client = Role { connects: vec![(Time::ZERO, hasty)], ..Role::default() };
    let mut world = chain(1, vec![Some(client), Some(Role::server())]);
    run(&mut world, 20 * S);
    assert_eq!(closed(&world, 0), [Some(Closed::TimedOut)]);
    let own = Role { connects: vec![(Time::ZERO, connect(id(0)))], ..Role::default() };
    let mut world = chain(1, vec![Some(own)]);
    run(&mut world, S);
    assert_eq!(talk(&world, 0).refused, ["Address"]);
}

#[test]
fn both_ends_may_begin_at_the_same_time() {
    // RFC 9293, 3.5: simultaneous open. Each connects from the port that the other connects to.
    let role = |to: Ipv4Addr| {
        let connect = Connect { port: Some(PORT), ..connect(to) };
        Role { connects: vec![(Time(10 * MS), connect)], sends: 5_000, ..Role::default() }
    };
    let mut world = chain(1, vec![Some(role(address(1, 0))), Some(role(address(0, 1)))]);
    run(&mut world, 60 * S);
    for node in [0, 1] {
        let heard = talk(&world, node).sessions.values().next().expect("a session");
        assert_eq!((heard.received, heard.right, heard.closed), (5_000, true, Some(Closed::Done)), "r{node}");
        assert_eq!(heard.log.first().map(String::as_str), Some("Connected"));
    }
}

#[test]
fn a_restart_leaves_the_other_end_half_open_until_it_speaks() {
    let patient = Role { closes: false, ..Role::client(address(1, 0), 10_000) };
    let mut world = chain(1, vec![Some(patient), Some(Role { closes: false, ..Role::server() })]);
    run(&mut world, S);
    assert_eq!(rows(&world, 0).len(), 1);
    let restart = FaultKind::NodeRestart { node: NodeId(0), down_for: Span::from_ms(100) };
    world.fault(Fault { at: Time(S), until: None, kind: restart }).expect("a fault");
    run(&mut world, 2 * S);
    assert_eq!((rows(&world, 0).len(), rows(&world, 1).len()), (0, 1));
    assert_eq!(closed(&world, 1), [None]);
    // What the server sends now is answered by a reset.
    with(&mut world, 1, |talk| talk.say());
    run(&mut world, 3 * S);
    assert_eq!(closed(&world, 1), [Some(Closed::Reset)]);
    assert_eq!(rows(&world, 1), []);
}

/// Has the protocol of a router do something now.
fn with(world: &mut World, node: u32, what: impl FnOnce(&mut Talk)) {
    let router = world.device_mut::<Router>(NodeId(node)).expect("a router");
    what(router.control_mut().protocol_mut().expect("the protocol"));
    // Any command lets the router look at what its protocols want.
    world.command(world.now(), NodeId(node), Command::Start).expect("a router");
}

#[test]
fn an_abort_resets_the_other_end() {
    let patient = Role { closes: false, ..Role::client(address(1, 0), 10_000) };
    let mut world = chain(1, vec![Some(patient), Some(Role { closes: false, ..Role::server() })]);
    run(&mut world, S);
    with(&mut world, 0, Talk::abort_all);
    run(&mut world, 2 * S);
    assert_eq!((closed(&world, 0), closed(&world, 1)), (vec![None], vec![Some(Closed::Reset)]));
    assert_eq!((rows(&world, 0), rows(&world, 1)), (vec![], vec![]));
}

#[test]
fn a_session_may_take_neighbours_segments_only() {
    // RFC 5082: what has passed a router does not have the highest time to live any more.
    let options = Options { ttl: 255, ttl_min: 255, ..Options::default() };
    let strict = Role { accepts: Some(options), ..Role::server() };
    let client = |to| Role {
        connects: vec![(Time::ZERO, Connect { options, ..connect(to) })],
        sends: 5_000,
        ..Role::default()
    };
    let mut world = chain(1, vec![Some(client(address(2, 0))), None, Some(strict.clone())]);
    run(&mut world, 10 * S);
    assert_eq!(closed(&world, 0), [None]);
    assert!(router(&world, 2).control().unheard().get(Unheard::Ttl) > 2);
    assert_eq!(rows(&world, 2), []);
    let mut world = chain(1, vec![Some(client(address(1, 0))), Some(strict)]);
    run(&mut world, 60 * S);
    assert_eq!(closed(&world, 0), [Some(Closed::Done)]);
}

#[test]
fn a_dead_neighbour_is_noticed_by_asking() {
    let options = Options {
        keep_alive: Some(Span::from_secs(2)),
        timeout: Some(Span::from_secs(10)),
        ..Options::default()
    };
    let client = Role {
        connects: vec![(Time::ZERO, Connect { options, ..connect(address(1, 0)) })],
        sends: 5_000,
        closes: false,
        ..Role::default()
    };
    let mut world = chain(1, vec![Some(client), Some(Role { closes: false, ..Role::server() })]);
    run(&mut world, 60 * S);
    assert_eq!(closed(&world, 0), [None], "it answers");
    assert_eq!(rows(&world, 0)[0].counters.retransmitted, 0);
    let kind = FaultKind::Loss { link: LinkId(0), direction: Direction::Both, probability: 1.0 };
    world.fault(Fault { at: Time(60 * S), until: None, kind }).expect("a fault");
    run(&mut world, 80 * S);
    assert_eq!(closed(&world, 0), [Some(Closed::TimedOut)]);
}
