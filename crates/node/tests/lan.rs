//! Routers and hosts on one shared segment: a bridge, and links to it.

use base::device::DropReason;
use base::plane::{NextHop, Prefix};
use base::{Command, Event, MacAddr, NodeId, PortId, Rate, Span, Streams, Time};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use engine::{LinkSpec, World};
use twinplane_node::bridge::AGEING;
use twinplane_node::router::{Address6, PortSetup};
use twinplane_node::{Bridge, BridgeConfig, Host, HostAddress6, HostConfig, HostPort, Router, RouterConfig};

const BRIDGE: NodeId = NodeId(0);
const S: u64 = 1_000_000_000_000;

/// The address of a member of the segment.
fn member(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 1, 0, number)
}

fn mac(number: u8) -> MacAddr {
    MacAddr([2, 0, 0, 0, 0, number])
}

fn host(number: u8, gateway: u8) -> Host {
    let (address, gateway) = (member(number), member(gateway));
    Host::new(HostConfig {
        ports: vec![HostPort { mac: mac(number), address, prefix_len: 24, gateway, ipv6: None, mtu: 1_500 }],
        groups: Vec::new(),
    })
}

/// A router that is a member of the segment, and has another network behind it.
fn router(number: u8) -> Router {
    Router::new(router_config(number))
}

fn router_config(number: u8) -> RouterConfig {
    let behind = PortSetup::new(mac(number + 100), Ipv4Addr::new(10, 2, number, 1), 24);
    let ports = vec![PortSetup::new(mac(number), member(number), 24), behind];
    let id = Ipv4Addr::new(192, 0, 2, number);
    RouterConfig::ideal(format!("r{number}"), id, ports, Vec::new(), Streams::new(1))
}

/// Two hosts (nodes 1 and 2), whose gateway is the first of two routers (3 and 4), on one segment.
fn lan() -> World {
    let mut world = World::new(1);
    world.add_device(Box::new(Bridge::new(BridgeConfig { ports: 4, ageing: AGEING })));
    let hosts = [host(11, 1), host(12, 1)].map(|host| world.add_device(Box::new(host)));
    let routers = [router(1), router(2)].map(|router| world.add_device(Box::new(router)));
    for node in hosts.into_iter().chain(routers) {
        world.add_link(LinkSpec::new(BRIDGE, node, Rate::from_gbps(1), Span::from_us(5))).expect("a link");
    }
    for (node, other) in [(routers[0], 2), (routers[1], 1)] {
        let gateway = member(other).into();
        let next_hop = NextHop::Via { port: PortId(0), gateway };
        for (network, len) in [([10, 2, other, 0], 24), ([192, 0, 2, other], 32)] {
            let prefix = Prefix::new(network.into(), len);
            world.command(Time::ZERO, node, Command::RouteSet { prefix, next_hop }).expect("a router");
        }
    }
    world
}

fn ping(world: &mut World, at: u64, from: u32, to: impl Into<IpAddr>) -> Vec<IpAddr> {
    let probe = Command::Probe { to: to.into(), ttl: 64, sequence: 1 };
    world.command(Time(at), NodeId(from), probe).expect("a node");
    world.run_until(Time(at + S / 10)).expect("a run");
    let replies = world.drain_events().into_iter().filter_map(|record| match record.event {
        Event::ProbeReply { from, .. } => Some(from),
        _ => None,
    });
    replies.collect()
}

#[test]
fn members_of_a_segment_reach_each_other_through_arp() {
    let mut world = lan();
    // Host to host, host to router, router to router, and through the gateway to a network behind the other router.
    let behind = Ipv4Addr::new(10, 2, 2, 1);
    for (n, (from, to)) in
        [(1, member(12)), (2, member(1)), (3, member(2)), (1, behind)].into_iter().enumerate()
    {
        assert_eq!(ping(&mut world, n as u64 * S, from, to), [to], "{from} to {to}");
    }
    let now = world.now();
    let bridge: &Bridge = world.device(BRIDGE).expect("a bridge");
    let known: Vec<_> = bridge.stations(now).map(|(address, port, _)| (address, port.0)).collect();
    assert_eq!(known, [(mac(1), 2), (mac(2), 3), (mac(11), 0), (mac(12), 1)]);
    let flooded = bridge.flooded();
    // All are known: a ping floods nothing any more.
    assert_eq!(ping(&mut world, 10 * S, 1, member(12)), [member(12)]);
    let bridge: &Bridge = world.device(BRIDGE).expect("a bridge");
    assert_eq!((bridge.flooded(), bridge.drops().total()), (flooded, 0));
    assert!(world.audit().is_empty());
}

#[test]
fn nobody_takes_what_is_flooded_and_not_for_it() {
    let mut world = lan();
    assert_eq!(ping(&mut world, 0, 1, member(12)), [member(12)]);
    // The bridge has forgotten everybody, the hosts have not: the next packet is flooded.
    world.run_until(Time(0) + AGEING + Span::from_secs(1)).expect("a run");
    let now = world.now().0;
    assert_eq!(ping(&mut world, now, 1, member(12)), [member(12)]);
    for node in [3, 4] {
        let router: &Router = world.device(NodeId(node)).expect("a router");
        let drops: Vec<_> = router.drops().iter().collect();
        assert_eq!(drops, [(DropReason::NotForUs, 2)], "r{node}: the request and the reply");
        let balance = router.balance();
        assert_eq!(balance.received, balance.delivered + balance.dropped.total(), "r{node}: {balance:?}");
    }
}

#[test]
fn a_link_that_is_down_is_not_flooded_into() {
    let mut world = lan();
    assert_eq!(ping(&mut world, 0, 1, member(12)), [member(12)]);
    let kind = engine::FaultKind::LinkDown { link: base::LinkId(1) };
    world.fault(engine::Fault { at: Time(S), until: Some(Time(2 * S)), kind }).expect("a fault");
    assert!(ping(&mut world, S + S / 2, 1, member(12)).is_empty());
    assert_eq!(ping(&mut world, 4 * S, 1, member(12)), [member(12)]);
}

fn member6(number: u16) -> Ipv6Addr {
    Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, number)
}

/// A router, and three hosts of which two have one IPv6 address; all look before they use theirs.
fn twins(world: &mut World) {
    world.add_device(Box::new(Bridge::new(BridgeConfig { ports: 4, ageing: AGEING })));
    let mut config = router_config(1);
    config.ports[0].ipv6 = Some(Address6 { dad: true, ..Address6::new(member6(1), 64) });
    world.add_device(Box::new(Router::new(config)));
    for (number, address) in [(11, 11), (12, 12), (13, 11)] {
        let ipv6 = HostAddress6 { address: member6(address), prefix_len: 64, gateway: member6(1), dad: true };
        let (own, gateway) = (member(number), member(1));
        let port = HostPort {
            mac: mac(number),
            address: own,
            prefix_len: 24,
            gateway,
            ipv6: Some(ipv6),
            mtu: 1_500,
        };
        world.add_device(Box::new(Host::new(HostConfig { ports: vec![port], groups: Vec::new() })));
    }
    for node in (1..=4).map(NodeId) {
        world.add_link(LinkSpec::new(BRIDGE, node, Rate::from_gbps(1), Span::from_us(5))).expect("a link");
    }
}

fn taken(world: &mut World) -> Vec<(u32, Ipv6Addr)> {
    let events = world.drain_events().into_iter().filter_map(|record| match record.event {
        Event::AddressTaken { address, .. } => Some((record.node.0, address)),
        _ => None,
    });
    events.collect()
}

/// RFC 4862, 5.4: who was there first keeps the address.
#[test]
fn the_second_of_two_with_one_address_does_not_use_it() {
    let mut world = World::new(1);
    twins(&mut world);
    world.command(Time(0), NodeId(4), Command::PortDown(PortId(0))).expect("a host");
    world.command(Time(5 * S), NodeId(4), Command::PortUp(PortId(0))).expect("a host");
    world.run_until(Time(10 * S)).expect("a run");
    assert_eq!(taken(&mut world), [(4, member6(11))]);
    for (n, (from, to)) in [(1, 11), (3, 11), (2, 12), (2, 1), (1, 12)].into_iter().enumerate() {
        let answers = ping(&mut world, (11 + n as u64) * S, from, member6(to));
        assert_eq!(answers, [IpAddr::from(member6(to))], "{from} to {to}");
    }
    assert!(ping(&mut world, 20 * S, 4, member6(12)).is_empty(), "it has no address to speak from");
    assert!(world.audit().is_empty());
}

/// RFC 4862, 5.4.3: of two that look at the same time one gets it at most: who hears the other before it has asked
/// itself leaves it to that one.
#[test]
fn of_two_that_look_at_the_same_time_one_uses_it_at_most() {
    let mut world = World::new(1);
    twins(&mut world);
    world.run_until(Time(10 * S)).expect("a run");
    let told = taken(&mut world);
    assert!(told.len() == 1 && [2, 4].contains(&told[0].0) && told[0].1 == member6(11), "{told:?}");
    assert_eq!(ping(&mut world, 11 * S, 3, member6(11)), [IpAddr::from(member6(11))]);
    assert_eq!(ping(&mut world, 12 * S, 3, member6(1)), [IpAddr::from(member6(1))]);
}
