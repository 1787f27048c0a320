//! A ring of routers in virtual time: adjacencies over real frames, routes in the forwarding tables, and another way
//! when a link fails.

use super::speaker::{config, full, id, next_hops, ospf};
use base::plane::{NextHop, Prefix};
use base::{NodeId, PortId, Rate, Span, Time};
use control::ospf::database::Scope;
use control::ospf::interface::InterfaceConfig;
use core::net::Ipv4Addr;
use engine::{LinkSpec, World};
use twinplane_node::Router;

const S: u64 = 1_000_000_000_000;

/// The address of a router at a link of the ring, which leads from router `link` to the next one.
fn at(link: usize, side: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, link as u8, side + 1)
}

/// A ring. Ports are in the order of links: the first router has its link onwards first, all others the one back.
fn ring(count: usize) -> World {
    let mut world = World::new(1);
    for router in 0..count {
        let before = (router + count - 1) % count;
        let mut addresses = [at(router, 0), at(before, 1)];
        addresses.rotate_left(usize::from(router > 0));
        let ports = addresses.map(|address| (address, InterfaceConfig::default()));
        world.add_device(Box::new(Router::new(config(router, &ports, world.streams()))));
    }
    for router in 0..count {
        let ends = [router, (router + 1) % count].map(|node| NodeId(node as u32));
        world
            .add_link(LinkSpec::new(ends[0], ends[1], Rate::from_gbps(1), Span::from_ms(1)))
            .expect("a link");
    }
    world
}

#[test]
fn a_ring_finds_its_routes() {
    let mut world = ring(5);
    world.run_until(Time(60 * S)).expect("a run");
    for node in 0..5 {
        assert_eq!(full(&world, node), 2);
        let sum = |node| {
            let known = ospf(&world, node).databases().of(Scope::Area(Ipv4Addr::UNSPECIFIED));
            known.expect("a database").checksum()
        };
        assert!(sum(node) == sum(0));
    }
    let via =
        |port: u16, gateway: Ipv4Addr| vec![NextHop::Via { port: PortId(port), gateway: gateway.into() }];
    assert_eq!(next_hops(&world, 0, Prefix::host(id(2))), via(0, at(0, 1)));
    assert_eq!(next_hops(&world, 0, Prefix::host(id(3))), via(1, at(4, 0)));
    let opposite = next_hops(&world, 0, Prefix::new(at(2, 0), 24));
    assert_eq!(opposite.len(), 2, "both ways round are as long: {opposite:?}");
}
