//! Virtual links (RFC 2328, 15): they join pieces of the backbone, and packets take the best way through the area that
//! they lead through. On random networks of areas, all routers that the backbone joins reach each other.

use super::super::Event;
use super::super::areas::{AreaConfig, AreaRange, BACKBONE};
use super::super::database::Scope;
use super::super::interface::{InterfaceConfig, InterfaceName, InterfaceState, VirtualLink};
use super::super::neighbor::NeighborState;
use super::super::routes::PathKind;
use super::net::{Link, Net, id, on, via};
use base::plane::Prefix;
use core::net::Ipv4Addr;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use wire::ospf::{
    Algorithm, Auth, Body, HEADER_LEN, Header, Key, Kind, LsaBody, LsaHeader, LsaKey, LsaKind, Lsas, Router,
    link, router_flags,
};

const ONE: Ipv4Addr = Ipv4Addr::new(0, 0, 0, 1);
const TWO: Ipv4Addr = Ipv4Addr::new(0, 0, 0, 2);

fn virtual_config() -> InterfaceConfig {
    InterfaceConfig { area: Some(BACKBONE), ..InterfaceConfig::default() }
}

/// The backbone in two pieces, and area 1 between them: five routers in a row.
fn split() -> Net {
    let links = vec![
        Link::between(0, 1, 10),
        Link::between(1, 2, 3).inside(ONE),
        Link::between(2, 3, 4).inside(ONE),
        Link::between(3, 4, 10),
    ];
    Net::new(5, links)
}

fn joined() -> Net {
    let mut net = split();
    net.join([1, 3], ONE, &virtual_config());
    net.run(90);
    net
}

/// What a router says of itself in an area.
fn said(net: &Net, node: usize, area: Ipv4Addr) -> Router {
    let key = LsaKey { kind: LsaKind::ROUTER, id: id(node), router: id(node) };
    let known = net.ospf(node).databases().get(Scope::Area(area), &key).expect("an instance");
    match known.body() {
        LsaBody::Router(router) => router.clone(),
        other => panic!("{other:?}"),
    }
}

/// The end of a router's only virtual link.
fn end(net: &Net, node: usize) -> (InterfaceState, Ipv4Addr, Ipv4Addr, Option<NeighborState>) {
    let one = net.ospf(node).interfaces().find(|one| one.name.is_virtual()).expect("a virtual link");
    (one.state, one.address, one.peer, one.neighbors.values().next().map(|far| far.state))
}

/// Packets that went by virtual links: who sent them, and their bytes.
fn by_virtual_links(net: &Net) -> Vec<(usize, &[u8])> {
    let all = net.packets.iter().filter(|packet| !packet.2.is_multicast());
    all.map(|packet| (packet.1, &packet.3[..])).collect()
}

#[test]
fn a_backbone_in_two_pieces_is_joined() {
    let mut net = split();
    net.run(90);
    assert_eq!(net.route(0, Prefix::host(id(4))), None);
    let mut net = joined();
    assert_eq!(net.route(0, Prefix::host(id(4))).map(|route| route.0), Some(10 + 7 + 10));
    assert_eq!(net.route(1, Prefix::host(id(4))), Some((17, vec![via(1, 1, 1)])), "a hop that exists");
    for (from, to) in (0..5).flat_map(|from| (0..5).map(move |to| (from, to))) {
        let way = net.walk(from, id(to));
        assert_eq!(way.last(), Some(&to), "{from} to {to} by {way:?}");
        assert_eq!(way.len(), from.abs_diff(to) + 1, "{from} to {to} by {way:?}");
    }
    let full = (InterfaceState::PointToPoint, on(1, 0), on(2, 1), Some(NeighborState::Full));
    assert_eq!(end(&net, 1), full);
    assert_eq!(net.contents(1).len(), net.contents(3).len(), "they know the same of both areas");
    // RFC 2328, 12.4.1.3: a link of type 4, at the cost of the way, and no network.
    let links = said(&net, 1, BACKBONE).links;
    let virtual_one: Vec<_> = links.iter().filter(|one| one.kind == link::VIRTUAL).collect();
    let [one] = virtual_one[..] else { panic!("{links:?}") };
    assert_eq!((one.id, one.data, one.metric), (id(3), on(1, 0), 7));
    // 12.4.1: bit V in the area that it leads through, and nowhere else.
    let v = |node, area| said(&net, node, area).flags & router_flags::V != 0;
    assert!(v(1, ONE) && v(3, ONE) && !v(1, BACKBONE) && !v(3, BACKBONE) && !v(2, ONE));
    // 16.1: its cost and whether it can be used follow from the way through the area.
    net.set_up(1, false);
    net.run(60);
    assert_eq!(end(&net, 1), (InterfaceState::Down, Ipv4Addr::UNSPECIFIED, Ipv4Addr::UNSPECIFIED, None));
    assert_eq!(net.route(0, Prefix::host(id(4))), None);
    assert!(!said(&net, 1, BACKBONE).links.iter().any(|one| one.kind == link::VIRTUAL));
    net.set_up(1, true);
    net.run(90);
    assert_eq!((net.walk(0, id(4)), end(&net, 1)), (vec![0, 1, 2, 3, 4], full));
    let told = |event: &&(usize, Event)| matches!(event.1, Event::OspfVirtualAdjacent { area: ONE, .. });
    assert_eq!(net.events.iter().filter(told).count(), 4, "twice at each end");
}

#[test]
fn an_area_without_a_link_to_the_backbone_is_joined_to_it() {
    let links =
        vec![Link::between(0, 1, 10), Link::between(1, 2, 3).inside(ONE), Link::between(2, 3, 4).inside(TWO)];
    let mut net = Net::new(4, links.clone());
    net.run(90);
    assert_eq!((net.route(3, Prefix::host(id(0))), net.route(0, Prefix::host(id(3)))), (None, None));
    let mut net = Net::new(4, links);
    net.join([1, 2], ONE, &virtual_config());
    net.run(90);
    assert_eq!((net.walk(3, id(0)), net.walk(0, id(3))), (vec![3, 2, 1, 0], vec![0, 1, 2, 3]));
    assert!(net.ospf(2).active_areas().contains(&BACKBONE));
}

#[test]
fn packets_have_the_form_of_a_virtual_link() {
    let mut net = split();
    let key = Key { id: 3, algorithm: Algorithm::HmacSha256, secret: b"between".to_vec() };
    net.join([1, 3], ONE, &InterfaceConfig { auth: Auth::Cryptographic(key).into(), ..virtual_config() });
    net.redistribute(0, true, 9);
    net.run(1);
    let out = Prefix::new(Ipv4Addr::new(203, 0, 113, 0), 24);
    net.set_static(0, out, true);
    net.run(120);
    // Networks outside are known through the area (15), and never said by the virtual link.
    assert_eq!(net.route(4, out).map(|route| route.0), Some(9));
    assert_eq!(net.walk(4, Ipv4Addr::new(203, 0, 113, 7)), [4, 3, 2, 1, 0]);
    let sent = by_virtual_links(&net);
    assert!(sent.len() > 20, "{}", sent.len());
    for (node, bytes) in sent {
        assert!([1, 3].contains(&node) && bytes.len() + 20 <= 576, "RFC 2328, A.1");
        let header = Header::parse(bytes).expect("a packet");
        assert_eq!((header.area, bytes[14..16].to_vec()), (BACKBONE, vec![0, 2]));
        let body = &bytes[HEADER_LEN..usize::from(header.length)];
        let is_inside = |kind: LsaKind| kind != LsaKind::EXTERNAL;
        match Body::parse(header.kind, body).expect("a body") {
            Body::Hello(hello) => assert_eq!(hello.mask, Ipv4Addr::UNSPECIFIED, "9.5"),
            Body::Description(one) => {
                assert_eq!(one.mtu, 0, "10.8");
                assert!(one.headers.iter().all(|header| is_inside(header.key.kind)));
            }
            _ if header.kind == Kind::Update => {
                for bytes in Lsas::parse(body).expect("instances") {
                    assert!(is_inside(LsaHeader::parse(bytes).expect("a header").key.kind));
                }
            }
            _ => {}
        }
    }
}

/// Figure 17 of RFC 2328: routers 1 to 5 of the figure are 0 to 4 here.
#[test]
fn packets_take_the_best_way_through_the_area() {
    let alone = || Link { members: vec![(0, InterfaceConfig { cost: 1, ..virtual_config() })], mtu: 1500 };
    let mut n1 = Link::network(&[(3, 1), (4, 1)]);
    (n1.members[0].1.cost, n1.members[1].1.cost) = (100, 20);
    let inside = |a, b| Link::between(a, b, 1).inside(ONE);
    let links = vec![inside(0, 1), inside(1, 3), inside(0, 2), inside(2, 4), n1, alone()];
    let mut net = Net::new(5, links);
    net.join([0, 3], ONE, &virtual_config());
    net.run(180);
    let n1 = Prefix::new(on(4, 0), 24);
    assert_eq!(
        net.route(0, n1),
        Some((22, vec![via(1, 2, 1)])),
        "by routers 3 and 5, though the link ends at 4"
    );
    let path = &net.ospf(0).table()[&n1];
    assert_eq!((path.kind, path.area), (PathKind::IntraArea, Some(BACKBONE)), "16.3, step 5");
    // 12.4.3: who has its next hops in the area says nothing of the network there. Router 4 itself, on the network, has
    // them, too, by 3 and 5 at a cost of 24.
    let said = |net: &Net, router| {
        let key = LsaKey { kind: LsaKind::SUMMARY_NETWORK, id: n1.address(), router: id(router) };
        net.ospf(0).databases().get(Scope::Area(ONE), &key).is_some()
    };
    assert_eq!([0, 3, 4].map(|router| said(&net, router)), [false, false, true]);
    assert_eq!(net.ospf(3).table()[&n1].cost, 24);
    // Without the way by 3 there is that by 4, on which the virtual link leads.
    net.set_up(2, false);
    net.run(90);
    assert_eq!(net.route(0, n1), Some((102, vec![via(0, 0, 1)])));
    assert!(said(&net, 3));
}

#[test]
fn the_backbone_is_not_summarised_into_an_area_that_carries_packets_of_others() {
    let links = vec![
        Link::between(0, 1, 10),
        Link::between(1, 2, 3).inside(ONE),
        Link::between(2, 3, 4).inside(ONE),
        Link::between(3, 4, 10),
        Link::between(1, 5, 1).inside(TWO),
    ];
    let all = Prefix::new(on(0, 0), 24);
    let range = AreaRange { prefix: Prefix::new(on(0, 0), 16), advertise: true, cost: None };
    let known = |is_joined: bool| {
        let mut net = Net::new(6, links.clone());
        net.treat(1, BACKBONE, AreaConfig { ranges: vec![range.clone()], ..AreaConfig::default() });
        if is_joined {
            net.join([1, 3], ONE, &virtual_config());
        }
        net.run(120);
        [2, 5].map(|node| [all, range.prefix].map(|prefix| net.route(node, prefix).is_some()))
    };
    assert_eq!(known(false), [[false, true], [false, true]]);
    assert_eq!(known(true), [[true, false], [false, true]], "RFC 2328, 12.4.3");
}

#[test]
fn what_keeps_the_ends_apart_is_named() {
    let why = |change: &dyn Fn(&mut Net)| {
        let mut net = split();
        change(&mut net);
        net.run(90);
        assert_eq!(net.route(0, Prefix::host(id(4))), None);
        let of = |(node, event): &(usize, Event)| match event {
            Event::OspfVirtualRefused { why, router_id, .. } if *node == 3 && *router_id == id(1) => {
                Some(why.clone())
            }
            Event::OspfRefused { why, .. } if *node == 3 => Some(why.clone()),
            _ => None,
        };
        net.events.iter().find_map(of).expect("a reason")
    };
    let own = VirtualLink { area: ONE, router: id(3) };
    let differs = |config: InterfaceConfig| {
        why(&|net: &mut Net| {
            net.join([1, 3], ONE, &virtual_config());
            net.say_of(1, own, config.clone());
        })
    };
    let other = differs(InterfaceConfig { hello_s: 5, ..virtual_config() });
    assert_eq!(other, "its hello interval is 5 s, and here it is 10 s");
    let other = differs(InterfaceConfig { auth: Auth::Simple(*b"password").into(), ..virtual_config() });
    assert_eq!(other, "ospf: AuType is 1, not 0 (at byte 14)");
    let none = why(&|net: &mut Net| net.say_of(1, own, virtual_config()));
    assert_eq!(none, "it comes by a virtual link, and there is none to 10.0.0.1 through area 0.0.0.1 here");
}

/// Links with their ends, cost and area, and virtual links with their ends and area.
#[derive(Clone, Debug)]
struct Plan {
    links: Vec<(usize, usize, u16, u32, bool)>,
    joins: Vec<(usize, usize, u32)>,
}

const NODES: usize = 7;

impl Plan {
    fn areas(&self, node: usize) -> BTreeSet<u32> {
        let own = self.links.iter().filter(|link| link.4 && (link.0 == node || link.1 == node));
        own.map(|link| link.3).collect()
    }

    /// The routers that can be reached from one by these pairs.
    fn reached(from: usize, pairs: &[(usize, usize)]) -> BTreeSet<usize> {
        let mut found = BTreeSet::from([from]);
        for _ in 0..NODES {
            for &(a, b) in pairs {
                if found.contains(&a) || found.contains(&b) {
                    found.extend([a, b]);
                }
            }
        }
        found
    }

    fn pairs(&self, area: u32) -> Vec<(usize, usize)> {
        self.links.iter().filter(|link| link.4 && link.3 == area).map(|link| (link.0, link.1)).collect()
    }

    /// Virtual links that can be used: both ends are in several areas, and the area leads from one to the other.
    fn usable(&self) -> Vec<(usize, usize)> {
        let is_usable = |&&(a, b, area): &&(usize, usize, u32)| {
            let is_border = |node| self.areas(node).len() > 1 && self.areas(node).contains(&area);
            is_border(a) && is_border(b) && Plan::reached(a, &self.pairs(area)).contains(&b)
        };
        self.joins.iter().filter(is_usable).map(|join| (join.0, join.1)).collect()
    }

    /// Routers that the backbone joins, if it is in one piece and all border routers are in it.
    fn joined(&self) -> Option<BTreeSet<usize>> {
        let joins = self.usable();
        let backbone = [self.pairs(0), joins].concat();
        let inside: BTreeSet<usize> = backbone.iter().flat_map(|pair| [pair.0, pair.1]).collect();
        let first = *inside.first()?;
        if Plan::reached(first, &backbone) != inside {
            return None;
        }
        let borders = (0..NODES).filter(|node| self.areas(*node).len() > 1);
        let mut all = inside.clone();
        for border in borders {
            if !inside.contains(&border) {
                return None;
            }
            for area in self.areas(border) {
                all.extend(Plan::reached(border, &self.pairs(area)));
            }
        }
        Some(all)
    }

    fn net(&self) -> Net {
        let link = |&(a, b, cost, area, _): &(usize, usize, u16, u32, bool)| {
            Link::between(a, b, cost).inside(Ipv4Addr::from_bits(area))
        };
        let mut net = Net::of_areas(NODES, self.links.iter().map(link).collect(), &BTreeMap::new());
        for &(a, b, area) in &self.joins {
            net.join([a, b], Ipv4Addr::from_bits(area), &virtual_config());
        }
        net
    }

    fn check(&self, net: &Net) {
        let Some(all) = self.joined() else { return };
        for (from, to) in all.iter().flat_map(|from| all.iter().map(move |to| (*from, *to))) {
            let way = net.walk(from, id(to));
            assert_eq!(way.last(), Some(&to), "{from} to {to} by {way:?}: {self:?}");
        }
    }
}

/// Networks of two areas and the backbone, and most of the virtual links that there could be.
fn plans() -> impl Strategy<Value = Plan> {
    let link = (0..NODES, 0..NODES, 1u16..9, prop_oneof![1 => Just(0u32), 3 => 1u32..3]);
    (proptest::collection::vec(link, 7..13), any::<u64>()).prop_map(|(mut links, chosen)| {
        links.retain(|link| link.0 != link.1);
        let links = links.into_iter().map(|(a, b, cost, area)| (a, b, cost, area, true)).collect();
        let mut plan = Plan { links, joins: Vec::new() };
        let is_border =
            |plan: &Plan, node, area| plan.areas(node).len() > 1 && plan.areas(node).contains(&area);
        for (a, b) in (0..NODES).flat_map(|a| (a + 1..NODES).map(move |b| (a, b))) {
            for area in (1..3)
                .filter(|area| is_border(&plan, a, *area) && is_border(&plan, b, *area))
                .collect::<Vec<_>>()
            {
                if chosen >> (plan.joins.len() * 2 % 64) & 3 != 0 {
                    plan.joins.push((a, b, area));
                }
            }
        }
        plan
    })
}

proptest! {
    #![proptest_config(testing::cases(64))]
    /// Links fail and come back one after the other; each time all reach each other, and nothing goes in circles.
    #[test]
    fn routers_that_virtual_links_join_reach_each_other(
        mut plan in plans(),
        changes in proptest::collection::vec(0usize..12, 0..4),
    ) {
        let mut net = plan.net();
        net.run(180);
        plan.check(&net);
        for which in changes {
            if plan.links.is_empty() { continue; }
            let which = which % plan.links.len();
            let up = !plan.links[which].4;
            plan.links[which].4 = up;
            net.set_up(which, up);
            net.run(180);
            plan.check(&net);
        }
    }
}

#[test]
fn the_end_of_a_virtual_link_restarts() {
    let mut net = joined();
    net.restart(3);
    net.run(120);
    assert_eq!(net.walk(0, id(4)), [0, 1, 2, 3, 4]);
    let name = InterfaceName::Virtual(VirtualLink { area: ONE, router: id(1) });
    assert!(net.ospf(3).interfaces().any(|one| one.name == name));
}

/// Network 5 of area 1 is nearer by the backbone (2) than inside the area (3), by which router 1 goes all the same and
/// which it announces. The other end of the virtual link, which would go by the backbone, goes by that announcement.
#[test]
fn a_network_of_another_area_of_the_other_end_is_reached() {
    let links = vec![
        Link::between(1, 0, 1),
        Link::between(0, 5, 1),
        Link::between(3, 6, 1),
        Link::between(3, 1, 1).inside(TWO),
        Link::between(2, 1, 1).inside(ONE),
        Link::between(1, 5, 3).inside(ONE),
    ];
    let mut net = Net::new(7, links);
    net.join([1, 3], TWO, &virtual_config());
    net.run(120);
    let inside = Prefix::new(on(5, 0), 24);
    assert_eq!(net.route(1, Prefix::host(id(2))).map(|route| route.0), Some(1));
    assert!(net.route(3, inside).is_some() && net.route(6, inside).is_some());
    for from in [3, 6] {
        for to in [1, 2, 5] {
            assert_eq!(net.walk(from, id(to)).last(), Some(&to), "{from} to {to}");
        }
    }
}
