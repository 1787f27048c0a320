//! Neighbours become adjacent, on links between two and on broadcast networks.

use super::super::interface::{InterfaceConfig, InterfaceState};
use super::super::neighbor::NeighborState;
use super::super::{Event, Ospf};
use super::net::{Link, Net, id, on, via};
use base::plane::Prefix;
use core::net::Ipv4Addr;
use wire::ospf::{Algorithm, Auth, Key, Kind};

/// The only interface of a router.
fn role(net: &Net, node: usize) -> InterfaceState {
    net.ospf(node).interfaces().next().expect("an interface").state
}

#[test]
fn three_routers_in_a_row() {
    let mut net = Net::new(3, vec![Link::between(0, 1, 10), Link::between(1, 2, 20)]);
    net.run(30);
    assert_eq!(net.full(), 4);
    net.assert_converged(&[0, 1, 2]);
    assert_eq!(net.route(0, Prefix::host(id(2))), Some((30, vec![via(0, 0, 1)])));
    assert_eq!(net.route(0, Prefix::new(on(1, 0), 24)), Some((30, vec![via(0, 0, 1)])));
    let adjacent = |event: &&(usize, Event)| matches!(event.1, Event::OspfAdjacent { .. });
    assert_eq!(net.events.iter().filter(adjacent).count(), 4);
    // RFC 2328, 8.1: on a link between two all packets go to the group.
    assert!(net.packets.iter().all(|packet| packet.2 == Ipv4Addr::new(224, 0, 0, 5)));
}

#[test]
fn a_silent_neighbour_is_lost_after_the_dead_interval_and_found_again() {
    let mut net = Net::new(2, vec![Link::between(0, 1, 10)]);
    net.run(30);
    net.cut.insert(0);
    net.run(29);
    assert_eq!(net.full(), 2, "a dead interval is 40 s, and a Hello was heard 10 s before at most");
    net.run(12);
    assert_eq!((net.states(), net.route(0, Prefix::host(id(1)))), (vec![], None));
    net.cut.clear();
    net.run(30);
    net.assert_converged(&[0, 1]);
}

#[test]
fn a_link_that_is_down_is_noticed_at_once() {
    let links = vec![Link::between(0, 1, 1), Link::between(1, 2, 1), Link::between(0, 2, 5)];
    let mut net = Net::new(3, links);
    net.run(60);
    assert_eq!(net.route(0, Prefix::host(id(2))), Some((2, vec![via(0, 0, 1)])));
    net.set_up(0, false);
    net.run(1);
    assert_eq!(net.route(0, Prefix::host(id(2))), Some((5, vec![via(1, 2, 1)])));
    assert_eq!(net.route(0, Prefix::host(id(1))), Some((6, vec![via(1, 2, 1)])));
    net.set_up(0, true);
    net.run(60);
    assert_eq!(net.route(0, Prefix::host(id(2))), Some((2, vec![via(0, 0, 1)])));
    net.assert_converged(&[0, 1, 2]);
}

#[test]
fn a_network_elects_a_designated_router_and_keeps_it() {
    let mut net = Net::new(5, vec![Link::network(&[(0, 1), (1, 1), (2, 3), (3, 0), (4, 1)])]);
    net.run(41 + 30);
    // RFC 2328, 9.4: the highest priority, then the highest router id.
    let roles: Vec<_> = (0..5).map(|node| role(&net, node)).collect();
    let other = InterfaceState::DrOther;
    assert_eq!(roles, [other, other, InterfaceState::Dr, other, InterfaceState::Backup]);
    let two_way = net.states().iter().filter(|state| state.2 == NeighborState::TwoWay).count();
    assert_eq!((net.full(), two_way), (14, 6), "neither is adjacent to neither");
    net.assert_converged(&[0, 1, 2, 3, 4]);
    // One advertisement for the network, and five for routers.
    assert_eq!(net.ospf(0).databases().len(), 6);
    assert_eq!(net.route(0, Prefix::host(id(3))), Some((10, vec![via(0, 0, 3)])));
    // The designated router goes: the backup takes its place, and it does not get it back when it returns.
    net.restart(2);
    net.cut.insert(0);
    net.run(41);
    net.cut.clear();
    net.run(90);
    let designated: std::collections::BTreeSet<_> =
        (0..5).map(|node| net.ospf(node).interfaces().next().expect("one").designated).collect();
    assert_eq!(designated.len(), 1, "all agree");
    net.assert_converged(&[0, 1, 2, 3, 4]);
}

#[test]
fn a_backup_takes_the_place_of_a_designated_router_that_has_gone() {
    let links = vec![Link::network(&[(0, 1), (1, 2), (2, 3)]), Link::between(0, 1, 10)];
    let mut net = Net::new(3, links);
    net.run(90);
    assert_eq!(role(&net, 2), InterfaceState::Dr);
    // Only its own port: the others notice that it is silent.
    net.restart(2);
    net.run(120);
    assert_eq!((role(&net, 1), role(&net, 2)), (InterfaceState::Dr, InterfaceState::Backup));
    net.assert_converged(&[0, 1, 2]);
}

#[test]
fn what_differs_is_named() {
    let named = |change: &dyn Fn(&mut InterfaceConfig)| {
        let mut link = Link::between(0, 1, 10);
        change(&mut link.members[1].1);
        let mut net = Net::new(2, vec![link]);
        net.run(60);
        assert_eq!(net.full(), 0);
        let why = net.events.iter().find_map(|(node, event)| match event {
            Event::OspfRefused { why, .. } if *node == 0 => Some(why.clone()),
            _ => None,
        });
        why.expect("a reason")
    };
    assert_eq!(named(&|config| config.hello_s = 5), "its hello interval is 5 s, and here it is 10 s");
    assert_eq!(named(&|config| config.dead_s = 20), "its dead interval is 20 s, and here it is 40 s");
    let key = |secret: &str| {
        let (algorithm, secret) = (Algorithm::HmacSha256, secret.as_bytes().to_vec());
        Auth::Cryptographic(Key { id: 1, algorithm, secret })
    };
    let other = named(&|config| config.auth = key("x").into());
    assert_eq!(other, "ospf: AuType is 2, not 0 (at byte 14)");
}

#[test]
fn packets_that_are_too_long_for_the_other_end_are_named() {
    let mut net = Net::new(2, vec![Link::between(0, 1, 10)]);
    net.run(30);
    let sent = net.packets.iter().find(|packet| packet.1 == 1 && packet.3[1] == Kind::Description.number());
    let mut bytes = sent.expect("a description").3.clone();
    bytes[24..26].copy_from_slice(&9000u16.to_be_bytes());
    Auth::Null.seal(&mut bytes, 0);
    net.inject(0, on(0, 1), Ipv4Addr::new(224, 0, 0, 5), &bytes);
    let Some((0, Event::OspfRefused { why, .. })) = net.events.last() else { panic!("{:?}", net.events) };
    assert_eq!(why, "it sends packets of up to 9000 bytes (MTU), and here 1500 is the most");
}

#[test]
fn keys_are_shared_or_nobody_is_heard() {
    for algorithm in [Algorithm::Md5, Algorithm::HmacSha1, Algorithm::HmacSha512] {
        let auth = Auth::Cryptographic(Key { id: 7, algorithm, secret: b"secret".to_vec() });
        let mut link = Link::between(0, 1, 10);
        link.members.iter_mut().for_each(|member| member.1.auth = auth.clone().into());
        let mut net = Net::new(2, vec![link]);
        net.run(30);
        net.assert_converged(&[0, 1]);
        // A packet of an hour ago is not taken again (RFC 2328, D.5.3).
        let old = net.packets.iter().find(|packet| packet.1 == 1).expect("a packet").3.clone();
        net.inject(0, on(0, 1), Ipv4Addr::new(224, 0, 0, 5), &old);
        assert!(matches!(net.events.last(), Some((0, Event::OspfRefused { .. }))));
    }
    let mut link = Link::between(0, 1, 10);
    link.members.iter_mut().for_each(|member| member.1.auth = Auth::Simple(*b"password").into());
    let mut net = Net::new(2, vec![link]);
    net.run(30);
    net.assert_converged(&[0, 1]);
}

#[test]
fn a_router_with_the_same_id_is_named() {
    let mut net = Net::new(2, vec![Link::between(0, 1, 10)]);
    net.run(30);
    let own = net.packets.iter().find(|packet| packet.1 == 0).expect("a packet").3.clone();
    net.inject(0, on(0, 1), Ipv4Addr::new(224, 0, 0, 5), &own);
    let Some((0, Event::OspfRefused { why, .. })) = net.events.last() else { panic!("{:?}", net.events) };
    assert_eq!(why, "it has the router id 10.0.0.0 of this router");
}

#[test]
fn equal_ways_are_all_taken() {
    let square = [(0, 1), (1, 3), (0, 2), (2, 3)].map(|(a, b)| Link::between(a, b, 10));
    let mut net = Net::new(4, square.to_vec());
    net.run(60);
    assert_eq!(net.route(0, Prefix::host(id(3))), Some((20, vec![via(0, 0, 1), via(1, 2, 1)])));
    net.assert_converged(&[0, 1, 2, 3]);
    let _: &Ospf = net.ospf(0);
}

/// A network of the router itself goes after it has said something else and comes back before it may say that. Paths
/// are computed without it in between, and no advertisement has them computed again.
#[test]
fn what_comes_back_before_it_was_said_to_be_gone_is_reached() {
    let alone = || Link { members: vec![(0, InterfaceConfig::default())], mtu: 1500 };
    let mut net = Net::new(2, vec![Link::between(0, 1, 1), alone(), alone()]);
    net.run(60);
    let is_there =
        |net: &Net| net.ospf(0).table().keys().any(|prefix| prefix.contains(on(1, 0)) && prefix.len() > 0);
    assert!(is_there(&net));
    net.set_up(2, false);
    net.set_up(1, false);
    net.run(1);
    assert!(!is_there(&net));
    net.set_up(1, true);
    net.run(20);
    assert!(is_there(&net));
}
