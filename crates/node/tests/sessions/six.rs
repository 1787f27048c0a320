//! TCP over IPv6: through routers and a link that loses packets, recorded and replayed, and past a link with a smaller
//! MTU.

use super::talk::{self, PORT, Role, S, chain, config, link, rows, talk};
use base::plane::{NextHop, Prefix6};
use base::{Command, Device, LinkId, NodeId, PortId, Streams, Time};
use control::services::sessions::{Closed, Connect};
use core::net::{Ipv6Addr, SocketAddr};
use engine::{Direction, Fault, FaultKind, World};
use twinplane_node::Router;
use twinplane_node::router::{Address6, RouterConfig};

const BYTES: usize = 500_000;
const COUNT: usize = 4;

/// The IPv6 address of a router towards the one before it (0) or behind it (1) in a chain.
fn address6(router: usize, side: usize) -> Ipv6Addr {
    let link = if side == 0 { router } else { router + 1 };
    Ipv6Addr::new(0x2001, 0xdb8, 0, link as u16, 0, 0, 0, if side == 0 { 2 } else { 1 })
}

fn config6(router: usize, role: Option<Role>, streams: Streams, mtu: u32) -> RouterConfig {
    let mut config = config(router, role, streams);
    let first = usize::from(router == 0);
    for (place, port) in config.ports.iter_mut().enumerate() {
        port.ipv6 = Some(Address6::new(address6(router, place + first), 64));
        // The link between the two in the middle takes less.
        let narrow = (router, place) == (1, 1) || (router, place) == (2, 0);
        port.mtu = if narrow { mtu } else { port.mtu };
    }
    config
}

fn routes6(router: usize) -> impl Iterator<Item = Command> {
    (1..COUNT).filter(move |&link| link != router && link != router + 1).map(move |link| {
        let back = link < router;
        let port = PortId(u16::from(!back && router > 0));
        let gateway = if back { address6(router - 1, 1) } else { address6(router + 1, 0) };
        let next_hop = NextHop::Via { port, gateway: gateway.into() };
        Command::Route6Set { prefix: Prefix6::new(address6(link, 0), 64), next_hop }
    })
}

fn client() -> Role {
    let to = SocketAddr::new(address6(COUNT - 1, 0).into(), PORT);
    let connect = Connect { to, ..talk::connect(talk::address(1, 0)) };
    Role { connects: vec![(Time::ZERO, connect)], sends: BYTES, ..Role::default() }
}

fn made(seed: u64, mtu: u32) -> World {
    let mut world = World::new(seed);
    for router in 0..COUNT {
        let role = match router {
            0 => Some(client()),
            r if r + 1 == COUNT => Some(Role::server()),
            _ => None,
        };
        let device = Router::new(config6(router, role, world.streams(), mtu));
        let node = world.add_device(Box::new(device));
        for route in routes6(router) {
            world.command(Time::ZERO, node, route).expect("a router");
        }
    }
    link(&mut world, COUNT);
    world
}

fn lose(world: &mut World, probability: f64) {
    let kind = FaultKind::Loss { link: LinkId(1), direction: Direction::Both, probability };
    world.fault(Fault { at: Time::ZERO, until: None, kind }).expect("a fault");
}

fn whole(world: &World) {
    for node in [0, COUNT - 1] {
        let heard = talk(world, node).sessions.values().next().expect("a session");
        assert_eq!((heard.received, heard.right, heard.closed), (BYTES, true, Some(Closed::Done)), "r{node}");
    }
    assert!(world.audit().is_empty());
}

#[test]
fn bytes_and_their_echo_come_through_loss() {
    let mut world = made(1, 1500);
    lose(&mut world, 0.01);
    world.run_until(Time(S)).expect("a run");
    assert!([0, COUNT - 1].iter().map(|node| rows(&world, *node)[0].counters.retransmitted).sum::<u64>() > 0);
    assert!(rows(&world, 0)[0].local.is_ipv6());
    world.run_until(Time(200 * S)).expect("a run");
    whole(&world);
}

#[test]
fn a_recording_gives_the_same_outputs() {
    let mut world = made(2, 1500);
    lose(&mut world, 0.02);
    world.record(NodeId(0)).expect("a router");
    world.run_until(Time(2 * S)).expect("a run");
    let recording = world.take_recording(NodeId(0)).expect("memory").expect("a recording");
    assert!(recording.outputs > 100, "{}", recording.outputs);
    let fresh = Router::new(config6(0, Some(client()), world.streams(), 1500));
    let replay = engine::replay(Box::new(fresh), &recording);
    assert!(replay.same && replay.digest == recording.digest);
}

/// RFC 8201: the routers say how long a packet may be, and both ends send shorter segments.
#[test]
fn segments_become_as_short_as_the_path_takes() {
    let mut world = made(3, 1280);
    world.run_until(Time(200 * S)).expect("a run");
    whole(&world);
}

/// A node without IPv6 addresses opens no connection over it.
#[test]
fn a_node_without_addresses_refuses_to_connect() {
    let mut world = chain(1, vec![Some(client()), Some(Role::server())]);
    world.run_until(Time(S)).expect("a run");
    let said = &talk(&world, 0).refused;
    assert_eq!(said.as_slice(), ["Address"]);
    let router: &Router = world.device(NodeId(0)).expect("a router");
    assert!(!router.forwarding().has_ipv6() && router.poll_timeout().is_none());
}

/// A datagram to a port that a protocol listens to, and the answer to a port that another has bound, whatever the
/// family.
#[test]
fn datagrams_go_there_and_back() {
    let mut world = World::new(4);
    for router in 0..COUNT {
        let to = SocketAddr::new(address6(COUNT - 1, 0).into(), PORT);
        let role = match router {
            0 => Some(Role { asks: Some((Time::ZERO, to)), ..Role::default() }),
            r if r + 1 == COUNT => Some(Role::server()),
            _ => None,
        };
        let device = Router::new(config6(router, role, world.streams(), 1500));
        let node = world.add_device(Box::new(device));
        for route in routes6(router) {
            world.command(Time::ZERO, node, route).expect("a router");
        }
    }
    link(&mut world, COUNT);
    world.run_until(Time(S)).expect("a run");
    assert_eq!(talk(&world, COUNT - 1).datagrams, [(PORT, b"who".to_vec())]);
    let answers = &talk(&world, 0).datagrams;
    assert_eq!((answers.len(), answers[0].1.as_slice()), (1, &b"who"[..]));
}
