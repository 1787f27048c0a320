//! Areas that are not so stubby (RFC 3101): what comes out of them, by whom, and what comes in.

use super::super::areas::{AreaConfig, AreaKind, BACKBONE, NssaConfig, OutsideRange, Translator};
use super::super::database::Scope;
use super::net::{Link, Net, id, via};
use base::plane::Prefix;
use core::net::Ipv4Addr;
use std::collections::BTreeMap;
use wire::ospf::{External, LsaBody, LsaKey, LsaKind, Router, options, router_flags};

const AREA: Ipv4Addr = Ipv4Addr::new(0, 0, 0, 1);

/// A network outside.
fn out(place: u8) -> Prefix {
    Prefix::new(Ipv4Addr::new(203, 0, 113, 16 * place), 28)
}

fn default() -> Prefix {
    Prefix::new(Ipv4Addr::UNSPECIFIED, 0)
}

fn treated(nssa: NssaConfig) -> AreaConfig {
    AreaConfig { kind: AreaKind::Nssa, nssa, default_cost: 7, ..AreaConfig::default() }
}

/// Router 0 is inside the area, routers 1 and 2 are its border routers, and router 3 is in the backbone. Router 0
/// announces networks outside.
fn square(area: AreaConfig, networks: u8) -> Net {
    let links = vec![
        Link::between(0, 1, 10).inside(AREA),
        Link::between(0, 2, 10).inside(AREA),
        Link::between(1, 3, 10).inside(BACKBONE),
        Link::between(2, 3, 10).inside(BACKBONE),
    ];
    let mut net = Net::of_areas(4, links, &BTreeMap::from([(AREA, area)]));
    net.redistribute(0, false, 100);
    net.run(30);
    (0..networks).for_each(|place| net.set_static(0, out(place), true));
    net.run(90);
    net
}

/// Who says what of networks outside to all, as a router knows it.
fn said(net: &Net, node: usize, kind: LsaKind) -> Vec<(Ipv4Addr, Ipv4Addr, External, bool)> {
    let scope = Scope::of(kind, AREA);
    let all = net.ospf(node).databases().iter().filter(|(at, one)| *at == scope && one.key().kind == kind);
    let row = all.filter_map(|(_, one)| match one.body() {
        LsaBody::External(said) => {
            let is_passed_on = one.header().options & options::NP != 0;
            Some((one.key().id, one.key().router, said.clone(), is_passed_on))
        }
        _ => None,
    });
    row.filter(|(.., said, _)| said.metric < 0xff_ffff).collect()
}

fn flags(net: &Net, node: usize, area: Ipv4Addr) -> u8 {
    let key = LsaKey { kind: LsaKind::ROUTER, id: id(node), router: id(node) };
    match net.ospf(node).databases().get(Scope::Area(area), &key).map(|one| one.body()) {
        Some(LsaBody::Router(Router { flags, .. })) => *flags,
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_border_router_passes_networks_on_and_another_takes_over() {
    let mut net = square(treated(NssaConfig::default()), 1);
    // RFC 3101, 2.3 and 3.1: by the border router with the greatest router id, with the address to send to.
    let all = said(&net, 3, LsaKind::EXTERNAL);
    let [(_, by, external, _)] = &all[..] else { panic!("{all:?}") };
    assert_eq!((*by, external.forwarding, external.metric, external.type2), (id(2), id(0), 100, false));
    assert_eq!(external.tag, 7);
    assert_eq!(net.route(3, out(0)), Some((120, vec![via(0, 2, 0), via(1, 3, 0)])), "by both border routers");
    assert_eq!(net.route(1, out(0)).map(|route| route.0), Some(110), "it hears of it in the area, too");
    let inside = said(&net, 0, LsaKind::NSSA);
    assert!(inside.iter().any(|(_, by, _, is_passed_on)| *by == id(0) && *is_passed_on), "{inside:?}");
    assert_eq!(said(&net, 3, LsaKind::NSSA), [], "flooded in the area only");
    assert_eq!(said(&net, 0, LsaKind::EXTERNAL), [], "and what is for all is not flooded there");
    // RFC 3101, 3.1: border routers are boundary routers in the backbone.
    assert_eq!(flags(&net, 1, BACKBONE), router_flags::B | router_flags::E);
    assert_eq!(flags(&net, 1, AREA), router_flags::B | router_flags::E);
    // The elected one is cut off.
    net.set_up(1, false);
    net.set_up(3, false);
    net.run(90);
    assert_eq!(net.route(3, out(0)), Some((120, vec![via(0, 2, 0)])));
    let by: Vec<_> = said(&net, 1, LsaKind::EXTERNAL).into_iter().map(|(_, by, ..)| by).collect();
    assert!(by.contains(&id(1)), "{by:?}");
    // It comes back: the other one goes on only as long as it may (RFC 3101, 3.1), or until it hears the same (3.2).
    net.set_up(1, true);
    net.set_up(3, true);
    net.run(180);
    let by: Vec<_> = said(&net, 3, LsaKind::EXTERNAL).into_iter().map(|(_, by, ..)| by).collect();
    assert_eq!(by, [id(2)]);
    net.set_static(0, out(0), false);
    net.run(90);
    assert_eq!(net.route(3, out(0)), None);
    let left = said(&net, 3, LsaKind::EXTERNAL);
    assert_eq!(left, []);
}

#[test]
fn a_default_route_comes_in() {
    let net = square(treated(NssaConfig::default()), 0);
    // RFC 3101, 2.7: with summaries as a network outside, which is not passed on.
    assert_eq!(net.route(0, default()), Some((17, vec![via(0, 0, 1), via(1, 1, 1)])));
    let all = said(&net, 0, LsaKind::NSSA);
    assert!(all.len() == 2 && all.iter().all(|(.., is_passed_on)| !is_passed_on), "{all:?}");
    assert!(net.route(0, Prefix::host(id(3))).is_some(), "a summary");
    assert_eq!(net.route(1, default()), None, "RFC 3101, 2.5, step 3");
    assert_eq!(net.route(3, default()), None);
    // Without them as one.
    let net = square(AreaConfig { summaries: false, ..treated(NssaConfig::default()) }, 0);
    assert_eq!(net.route(0, default()), Some((17, vec![via(0, 0, 1), via(1, 1, 1)])));
    assert_eq!(said(&net, 0, LsaKind::NSSA), []);
    assert_eq!(net.route(0, Prefix::host(id(3))), None);
}

#[test]
fn ranges_are_passed_on_as_one_or_not_at_all() {
    let range = |len, advertise| OutsideRange {
        prefix: Prefix::new(Ipv4Addr::new(203, 0, 113, 0), len),
        advertise,
        tag: 9,
    };
    let nssa = NssaConfig { ranges: vec![range(27, true)], ..NssaConfig::default() };
    let net = square(treated(nssa), 3);
    let all = said(&net, 3, LsaKind::EXTERNAL);
    let [(first, _, whole, _), (second, _, alone, _)] = &all[..] else { panic!("{all:?}") };
    // RFC 3101, 3.2, step 3: of type 1 the cost of the farthest, from the border router.
    let none = Ipv4Addr::UNSPECIFIED;
    assert_eq!((*first, whole.mask.to_bits().count_ones()), (out(0).address(), 27));
    assert_eq!((whole.forwarding, whole.metric, whole.tag, whole.type2), (none, 110, 9, false));
    assert_eq!((*second, alone.forwarding, alone.metric), (out(2).address(), id(0), 100));
    let nssa = NssaConfig { ranges: vec![range(24, false)], ..NssaConfig::default() };
    let net = square(treated(nssa), 3);
    assert_eq!(said(&net, 3, LsaKind::EXTERNAL), []);
    // A range that is one of the networks and holds no other is that network (RFC 3101, 3.2, step 3).
    let nssa = NssaConfig { ranges: vec![range(28, true)], ..NssaConfig::default() };
    let net = square(treated(nssa), 1);
    let all = said(&net, 3, LsaKind::EXTERNAL);
    assert_eq!(all.first().map(|(_, _, said, _)| (said.forwarding, said.tag)), Some((id(0), 7)), "{all:?}");
}

#[test]
fn a_border_router_that_is_told_to_always_passes_networks_on() {
    let mut net = Net::of_areas(
        4,
        vec![
            Link::between(0, 1, 10).inside(AREA),
            Link::between(0, 2, 10).inside(AREA),
            Link::between(1, 3, 10).inside(BACKBONE),
            Link::between(2, 3, 10).inside(BACKBONE),
        ],
        &BTreeMap::from([(AREA, treated(NssaConfig::default()))]),
    );
    let always = NssaConfig { translator: Translator::Always, ..NssaConfig::default() };
    net.treat(1, AREA, treated(always));
    net.redistribute(0, false, 100);
    net.run(30);
    net.set_static(0, out(0), true);
    net.run(120);
    // RFC 3101, 3.1: the other one has the greater router id, and sees that it is not needed.
    assert_eq!(flags(&net, 1, AREA) & router_flags::NT, router_flags::NT);
    let by: Vec<_> = said(&net, 3, LsaKind::EXTERNAL).into_iter().map(|(_, by, ..)| by).collect();
    assert_eq!(by, [id(1)]);
}

#[test]
fn what_a_border_router_says_itself_is_not_passed_on() {
    let mut net = square(treated(NssaConfig::default()), 0);
    net.redistribute(1, false, 50);
    net.restart(1);
    net.run(90);
    net.set_static(1, out(5), true);
    net.run(90);
    // RFC 3101, 2.4: it says both, and the one in the area without the P-bit.
    let all = said(&net, 3, LsaKind::EXTERNAL);
    assert_eq!(all.iter().map(|(_, by, ..)| *by).collect::<Vec<_>>(), [id(1)]);
    let inside = said(&net, 0, LsaKind::NSSA);
    let own = inside.iter().find(|(network, ..)| *network == out(5).address()).expect("an advertisement");
    assert_eq!((own.1, own.3, own.2.forwarding), (id(1), false, Ipv4Addr::UNSPECIFIED));
    assert_eq!(net.route(0, out(5)).map(|route| route.0), Some(60));
}

#[test]
fn all_routers_of_an_area_have_to_call_it_the_same() {
    let mut net = Net::of_areas(2, vec![Link::between(0, 1, 10).inside(AREA)], &BTreeMap::new());
    net.treat(0, AREA, treated(NssaConfig::default()));
    net.treat(1, AREA, AreaConfig { kind: AreaKind::Stub, ..AreaConfig::default() });
    net.run(60);
    assert_eq!(net.full(), 0);
    let why = net.events.iter().find_map(|(node, event)| match event {
        super::super::Event::OspfRefused { why, .. } if *node == 0 => Some(why.clone()),
        _ => None,
    });
    assert_eq!(why.as_deref(), Some("its area is a stub, and here it is not so stubby"));
}
