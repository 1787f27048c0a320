//! Areas: routes of random networks of areas beside an independent computation, written from RFC 2328, 3, 12.4.3 and
//! 16.2; then ranges, stub areas, and what routers say when they disagree.

use super::super::Event;
use super::super::areas::{AreaConfig, AreaKind, AreaRange, BACKBONE};
use super::super::database::Scope;
use super::super::routes::PathKind;
use super::net::{Link, Net, id, on};
use base::plane::{NextHop, Prefix};
use core::net::Ipv4Addr;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use wire::ospf::{LsaBody, LsaKind, router_flags};

fn area(number: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(number)
}

/// A network of areas: links with their ends, cost, area, and whether they can be used.
#[derive(Clone, Debug)]
struct Plan {
    nodes: usize,
    links: Vec<(usize, usize, u16, u32, bool)>,
    /// Stub areas, and whether they hear of networks of others.
    stubs: BTreeMap<u32, bool>,
}

/// A network, its area, and the routers on it with what it costs them.
type Attached = (Prefix, u32, Vec<(usize, u32)>);

/// What a router knows of a destination: the area by which, and the cost.
type Known = Option<(u32, u32)>;

impl Plan {
    fn home(&self, node: usize) -> u32 {
        let first = self.links.iter().find(|link| link.0 == node || link.1 == node).map_or(0, |link| link.3);
        let areas = self.areas(node);
        if areas.contains(&first) { first } else { areas.first().copied().unwrap_or(first) }
    }

    fn areas(&self, node: usize) -> BTreeSet<u32> {
        let up = self.links.iter().filter(|link| link.4 && (link.0 == node || link.1 == node));
        up.map(|link| link.3).collect()
    }

    fn is_border(&self, node: usize) -> bool {
        self.areas(node).len() > 1
    }

    /// What it costs to get from each router to each other inside an area.
    fn distances(&self, area: u32) -> Vec<Vec<Option<u32>>> {
        let mut all = vec![vec![None; self.nodes]; self.nodes];
        (0..self.nodes).for_each(|node| all[node][node] = Some(0));
        let inside = || self.links.iter().filter(|link| link.4 && link.3 == area);
        for _ in 0..self.nodes {
            for &(a, b, cost, ..) in inside() {
                for (from, by) in [(a, b), (b, a)] {
                    let beyond: Vec<Option<u32>> = all[by].clone();
                    for (known, far) in all[from].iter_mut().zip(beyond) {
                        let far = far.map(|far| far + u32::from(cost));
                        *known = known.iter().copied().chain(far).min();
                    }
                }
            }
        }
        all
    }

    /// Each network with its area, and the routers on it with what it costs them.
    fn networks(&self) -> Vec<Attached> {
        let own = (0..self.nodes).map(|node| (Prefix::host(id(node)), self.home(node), vec![(node, 0)]));
        let up = self.links.iter().enumerate().filter(|(_, link)| link.4);
        let of_link = |(place, &(a, b, cost, area, _)): (usize, &(usize, usize, u16, u32, bool))| {
            (Prefix::new(on(place, 0), 24), area, vec![(a, cost.into()), (b, cost.into())])
        };
        own.chain(up.map(of_link)).collect()
    }

    /// What every router knows of a network.
    fn known(&self, distances: &[Vec<Vec<Option<u32>>>], network: &Attached) -> Vec<Known> {
        let (_, of, routers) = network;
        let mut known: Vec<Known> = (0..self.nodes)
            .map(|node| {
                if !self.areas(node).contains(of) && self.home(node) != *of {
                    return None;
                }
                let far =
                    |(router, cost): &(usize, u32)| Some(distances[*of as usize][node][*router]? + cost);
                routers.iter().filter_map(far).min().map(|cost| (*of, cost))
            })
            .collect();
        // Border routers tell the backbone of their other areas, and these then of everything.
        let tell = |known: &mut Vec<Known>, area: u32, is_for: &dyn Fn(usize) -> bool| {
            if area != 0 && self.stubs.get(&area) == Some(&false) {
                return;
            }
            let told: Vec<(usize, u32)> = (0..self.nodes)
                .filter(|node| self.is_border(*node) && self.areas(*node).contains(&area))
                .filter_map(|node| known[node].filter(|(by, _)| *by != area).map(|(_, cost)| (node, cost)))
                .collect();
            for node in (0..self.nodes).filter(|node| self.areas(*node).contains(&area) && is_for(*node)) {
                let by = told.iter().filter(|(border, _)| *border != node);
                let ways =
                    by.filter_map(|(border, cost)| Some(distances[area as usize][node][*border]? + cost));
                if known[node].is_none() {
                    known[node] = ways.min().map(|cost| (area, cost));
                }
            }
        };
        let before = known.clone();
        tell(&mut known, 0, &|_| true);
        // What a border router knows of the backbone only is nothing to the backbone: it was told all at once.
        debug_assert_eq!(before.len(), known.len());
        for area in 1..distances.len() as u32 {
            tell(&mut known, area, &|node| !self.is_border(node));
        }
        known
    }

    /// The way out that routers of stub areas have.
    fn default(&self, distances: &[Vec<Vec<Option<u32>>>], node: usize) -> Option<u32> {
        let areas = self.areas(node);
        let [area] = areas.iter().copied().collect::<Vec<_>>()[..] else { return None };
        self.stubs.get(&area)?;
        let borders = (0..self.nodes).filter(|one| self.is_border(*one) && self.areas(*one).contains(&area));
        borders.filter_map(|border| Some(distances[area as usize][node][border]? + 1)).min()
    }

    /// Is the backbone in one piece, with all border routers in it? If not, a way may lead to a border router that
    /// knows only its own piece (RFC 2328, 3.1).
    fn is_whole(&self, distances: &[Vec<Vec<Option<u32>>>]) -> bool {
        let inside: Vec<usize> = (0..self.nodes).filter(|node| self.areas(*node).contains(&0)).collect();
        let is_joined = inside.iter().all(|a| inside.iter().all(|b| distances[0][*a][*b].is_some()));
        is_joined && (0..self.nodes).all(|node| !self.is_border(node) || inside.contains(&node))
    }

    fn treated(&self) -> BTreeMap<Ipv4Addr, AreaConfig> {
        let stub = |(number, summaries): (&u32, &bool)| {
            let config = AreaConfig { kind: AreaKind::Stub, summaries: *summaries, ..AreaConfig::default() };
            (area(*number), config)
        };
        self.stubs.iter().map(stub).collect()
    }

    fn net(&self) -> Net {
        let link = |&(a, b, cost, number, _): &(usize, usize, u16, u32, bool)| {
            Link::between(a, b, cost).inside(area(number))
        };
        Net::of_areas(self.nodes, self.links.iter().map(link).collect(), &self.treated())
    }

    fn check(&self, net: &Net) {
        let distances: Vec<_> = (0..4).map(|area| self.distances(area)).collect();
        let is_whole = self.is_whole(&distances);
        for network in self.networks() {
            let known = self.known(&distances, &network);
            for node in (0..self.nodes).filter(|node| network.2.iter().all(|(router, _)| router != node)) {
                let found = net.route(node, network.0).map(|(cost, _)| cost);
                let cost = known[node].map(|(_, cost)| cost);
                assert_eq!(found, cost, "{node} to {} in {}: {self:?}", network.0, network.1);
                if let (Some(_), [(to, 0)], true) = (cost, &network.2[..], is_whole) {
                    let way = net.walk(node, id(*to));
                    assert_eq!(way.last(), Some(to), "{node} to {to} by {way:?}: {self:?}");
                }
            }
        }
        let out = Prefix::new(Ipv4Addr::UNSPECIFIED, 0);
        for node in 0..self.nodes {
            let found = net.route(node, out).map(|(cost, _)| cost);
            assert_eq!(found, self.default(&distances, node), "{node} to outside: {self:?}");
        }
    }
}

fn plans() -> impl Strategy<Value = Plan> {
    let link = (0usize..7, 0usize..7, 1u16..9, prop_oneof![2 => Just(0u32), 3 => 1u32..4]);
    let stubs = proptest::collection::btree_map(1u32..4, any::<bool>(), 0..3);
    (proptest::collection::vec(link, 3..13), stubs).prop_map(|(mut links, stubs)| {
        links.retain(|link| link.0 != link.1);
        let links = links.into_iter().map(|(a, b, cost, area)| (a, b, cost, area, true)).collect();
        Plan { nodes: 7, links, stubs }
    })
}

proptest! {
    #![proptest_config(testing::cases(96))]
    /// Links fail and come back one after the other; each time all routes are those of the RFC.
    #[test]
    fn routes_between_areas_are_those_of_the_rfc(
        mut plan in plans(),
        changes in proptest::collection::vec(0usize..12, 0..4),
    ) {
        let mut net = plan.net();
        net.run(120);
        plan.check(&net);
        for which in changes {
            if plan.links.is_empty() { continue; }
            let which = which % plan.links.len();
            let up = !plan.links[which].4;
            plan.links[which].4 = up;
            net.set_up(which, up);
            net.run(120);
            plan.check(&net);
        }
    }
}

/// Routers 0 and 1 in the backbone, 1 to 3 in area 1, in a row.
fn row(treated: AreaConfig) -> Net {
    let one = area(1);
    let links =
        vec![Link::between(0, 1, 10), Link::between(1, 2, 5).inside(one), Link::between(2, 3, 7).inside(one)];
    let mut net = Net::of_areas(4, links, &BTreeMap::from([(one, treated)]));
    net.run(90);
    net
}

/// The types of advertisements that a router has of an area.
fn kinds(net: &Net, node: usize, area: Ipv4Addr) -> Vec<u8> {
    let known = net.ospf(node).databases().of(Scope::Area(area)).expect("a database");
    let mut kinds: Vec<u8> = known.iter().map(|one| one.key().kind.0).collect();
    kinds.dedup();
    kinds
}

#[test]
fn a_range_is_one_route_elsewhere_and_leads_nowhere_at_its_border() {
    let all = Prefix::new(on(0, 0), 16);
    let range = AreaRange { prefix: all, advertise: true, cost: None };
    let net = row(AreaConfig { ranges: vec![range.clone()], ..AreaConfig::default() });
    // The farthest network, 192.168.2.0/24, costs 12 at the border.
    assert_eq!(net.route(0, all).map(|route| route.0), Some(22));
    assert_eq!(net.route(0, Prefix::new(on(2, 0), 24)), None);
    assert!(net.route(0, Prefix::host(id(3))).is_some(), "not in the range");
    assert_eq!(net.route(1, all), Some((0, vec![NextHop::Discard])));
    assert_eq!(net.ospf(1).table()[&all].kind, PathKind::Discard);
    // Inside, each network is known, and the range is not.
    assert_eq!(net.route(3, Prefix::new(on(1, 0), 24)).map(|route| route.0), Some(12));
    assert_eq!(net.route(3, all), None);
    let fixed =
        AreaConfig { ranges: vec![AreaRange { cost: Some(3), ..range.clone() }], ..AreaConfig::default() };
    assert_eq!(row(fixed).route(0, all).map(|route| route.0), Some(13));
    let hidden =
        AreaConfig { ranges: vec![AreaRange { advertise: false, ..range }], ..AreaConfig::default() };
    let net = row(hidden);
    assert_eq!((net.route(0, all), net.route(0, Prefix::new(on(2, 0), 24))), (None, None));
    assert!(net.route(0, Prefix::host(id(3))).is_some());
}

#[test]
fn a_border_router_says_so_and_summaries_go_when_it_is_none_any_more() {
    let mut net = row(AreaConfig::default());
    let flags = |net: &Net| {
        let database = net.ospf(2).databases().of(Scope::Area(area(1))).expect("a database");
        let own = database.iter().find(|one| one.key().router == id(1) && one.key().kind == LsaKind::ROUTER);
        match own.expect("an instance").body() {
            LsaBody::Router(router) => router.flags & router_flags::B,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        (flags(&net), net.ospf(1).is_border(), net.ospf(0).is_border()),
        (router_flags::B, true, false)
    );
    assert_eq!((kinds(&net, 3, area(1)), kinds(&net, 0, BACKBONE)), (vec![1, 3], vec![1, 3]));
    net.set_up(0, false);
    net.run(60);
    assert_eq!((flags(&net), net.ospf(1).is_border()), (0, false));
    assert_eq!(kinds(&net, 3, area(1)), [1]);
    // Its own address is where it can be reached.
    assert_eq!(net.ospf(1).home(), area(1));
    assert!(net.route(3, Prefix::host(id(1))).is_some());
}

#[test]
fn a_stub_area_has_a_default_route_and_one_that_disagrees_is_named() {
    let stub = AreaConfig { kind: AreaKind::Stub, default_cost: 4, ..AreaConfig::default() };
    let net = row(AreaConfig { summaries: false, ..stub.clone() });
    let out = Prefix::new(Ipv4Addr::UNSPECIFIED, 0);
    assert_eq!(net.route(3, out).map(|route| route.0), Some(7 + 5 + 4));
    assert_eq!(net.route(3, Prefix::host(id(0))), None);
    assert_eq!(net.walk(3, id(0)), [3, 2, 1, 0]);
    let hears = row(stub.clone());
    assert!(hears.route(3, Prefix::host(id(0))).is_some() && hears.route(3, out).is_some());
    let options: BTreeSet<u8> = {
        let database = hears.ospf(3).databases().of(Scope::Area(area(1))).expect("a database");
        database.iter().map(|one| one.header().options).collect()
    };
    assert_eq!(options, BTreeSet::from([0]), "RFC 2328, 12.1.2: the E-bit is clear in a stub area");
    // One router says that the area is a stub, and the other does not.
    let mut net = Net::of_areas(2, vec![Link::between(0, 1, 10).inside(area(1))], &BTreeMap::new());
    net.treat(1, area(1), stub);
    net.run(60);
    assert_eq!(net.full(), 0);
    let why = net.events.iter().find_map(|(node, event)| match event {
        Event::OspfRefused { why, .. } if *node == 0 => Some(why.clone()),
        _ => None,
    });
    assert_eq!(why.as_deref(), Some("its area is a stub, and here it is no stub"));
}

#[test]
fn networks_of_one_address_have_ids_of_their_own() {
    use super::super::summaries::ids;
    let prefixes: Vec<Prefix> = ["10.0.0.0/8", "10.0.0.0/16", "10.0.0.0/24", "10.1.0.0/16"]
        .map(|text| text.parse().expect("a prefix"))
        .into();
    let found = ids(prefixes.iter().map(|prefix| (prefix, ())));
    let found: Vec<_> = found.into_iter().map(|(id, (prefix, ()))| format!("{id} {prefix}")).collect();
    // The example of RFC 2328, E.
    let expected =
        ["10.0.0.0 10.0.0.0/8", "10.0.0.255 10.0.0.0/24", "10.0.255.255 10.0.0.0/16", "10.1.0.0 10.1.0.0/16"];
    assert_eq!(found, expected);
}

#[test]
fn a_change_of_another_area_computes_no_tree() {
    let mut net = row(AreaConfig::default());
    let before = net.ospf(0).computations();
    net.set_up(2, false);
    net.run(60);
    let after = net.ospf(0).computations();
    assert!(after.0 > before.0 && after.0 - before.0 == after.1 - before.1, "{before:?} {after:?}");
    assert_eq!(net.route(0, Prefix::new(on(2, 0), 24)), None);
    net.set_up(2, true);
    net.run(60);
    assert!(net.route(0, Prefix::new(on(2, 0), 24)).is_some());
}

/// Areas 1, 0, 2 (a stub) in a row of five routers; the first announces a static route. What each pays for it.
fn outside(is_type2: bool, static_from: u64) -> (Net, Vec<Option<u32>>) {
    let links = vec![
        Link::between(0, 1, 3).inside(area(1)),
        Link::between(1, 2, 10),
        Link::between(2, 3, 5).inside(area(2)),
        Link::between(1, 4, 2).inside(area(1)),
    ];
    let stub = AreaConfig { kind: AreaKind::Stub, ..AreaConfig::default() };
    let mut net = Net::of_areas(5, links, &BTreeMap::from([(area(2), stub)]));
    net.redistribute(0, is_type2, 100);
    net.run(static_from);
    net.set_static(0, out(), true);
    net.run(120);
    let costs = (0..5).map(|node| net.route(node, out()).map(|route| route.0)).collect();
    (net, costs)
}

/// A network outside.
fn out() -> Prefix {
    Prefix::new(Ipv4Addr::new(203, 0, 113, 0), 24)
}

#[test]
fn a_static_route_is_announced_and_taken_back() {
    for static_from in [0, 60] {
        // Its own; then the way to it, by a summary of it in the backbone; and a stub area does not hear of it.
        let (_, type1) = outside(false, static_from);
        assert_eq!(type1, [None, Some(103), Some(113), None, Some(105)]);
        let (mut net, type2) = outside(true, static_from);
        assert_eq!(type2, [None, Some(100), Some(100), None, Some(100)]);
        assert_eq!(net.walk(2, Ipv4Addr::new(203, 0, 113, 9)), [2, 1, 0]);
        net.set_static(0, out(), false);
        net.run(60);
        assert_eq!(net.route(2, out()), None);
    }
}
