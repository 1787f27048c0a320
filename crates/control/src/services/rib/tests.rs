use super::*;
use base::plane::{Prefix6, Unwritten};
use base::{PortId, ProtocolId};
use core::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

const FIRST: Source = Source::Protocol(ProtocolId::new("first"));
const SECOND: Source = Source::Protocol(ProtocolId::new("second"));

fn at(text: &str) -> Prefix {
    text.parse().expect("a prefix")
}
fn ip(text: &str) -> Ipv4Addr {
    text.parse().expect("an address")
}
fn via(port: u16, gateway: &str) -> NextHop {
    NextHop::Via { port: PortId(port), gateway: ip(gateway).into() }
}
fn through(source: Source, gateways: &[&str]) -> Route {
    let hops: Vec<_> = gateways.iter().map(|gateway| RouteHop::Through(ip(gateway))).collect();
    Route { source, preference: 20, metric: 0, tag: 0, hops: hops.into() }
}
/// Gateways that lead elsewhere than before.
fn moved(rib: &mut Rib) -> Vec<String> {
    core::iter::from_fn(|| rib.poll_gateway()).map(|gateway| gateway.to_string()).collect()
}
fn changes(rib: &mut Rib) -> Vec<String> {
    core::iter::from_fn(|| rib.poll_change()).map(|prefix| prefix.to_string()).collect()
}

#[test]
fn the_longest_prefix_wins() {
    let mut rib = Rib::default();
    rib.set(at("0.0.0.0/0"), Route::fixed(NextHop::Discard));
    rib.set(at("10.0.0.0/8"), Route::fixed(NextHop::Local));
    rib.set(at("10.1.0.0/16"), Route::fixed(NextHop::Discard));
    assert_eq!(rib.lookup(ip("10.1.2.3")), Some((at("10.1.0.0/16"), &[NextHop::Discard][..])));
    assert_eq!(rib.lookup(ip("10.2.2.3")), Some((at("10.0.0.0/8"), &[NextHop::Local][..])));
    assert!(rib.remove(at("0.0.0.0/0"), Source::Static) && !rib.remove(at("0.0.0.0/0"), Source::Static));
    assert_eq!((rib.lookup(ip("11.0.0.1")), rib.active().count()), (None, 2));
}

/// Who finds the way to next hops looks behind routes that lead through others, such as those of BGP.
#[test]
fn another_metric_behind_a_route_through_others_is_told() {
    let (mut rib, prefix) = (Rib::default(), at("10.0.0.0/8"));
    let told = |rib: &mut Rib| (changes(rib).len(), core::iter::from_fn(|| rib.poll_revalued()).count());
    rib.set(at("192.0.2.0/24"), Route::direct(FIRST, 110, via(1, "192.0.2.1")));
    rib.set(prefix, through(SECOND, &["192.0.2.9"]));
    told(&mut rib);
    let behind = |metric| Route { metric, ..Route::direct(FIRST, 110, via(2, "198.51.100.1")) };
    rib.set(prefix, behind(10));
    assert_eq!(told(&mut rib), (0, 1));
    rib.set(prefix, behind(20));
    assert_eq!(told(&mut rib), (0, 1));
    rib.set(prefix, behind(20));
    assert_eq!(told(&mut rib), (0, 0));
    rib.remove(prefix, FIRST);
    assert_eq!(told(&mut rib), (0, 1));
}

#[test]
fn another_metric_on_the_same_way_is_told_but_not_written() {
    let (mut rib, prefix) = (Rib::default(), at("10.0.0.0/8"));
    let route = |metric, tag| Route { metric, tag, ..Route::direct(FIRST, 110, via(1, "192.0.2.1")) };
    let told = |rib: &mut Rib| (changes(rib).len(), core::iter::from_fn(|| rib.poll_revalued()).count());
    rib.set(prefix, route(10, 0));
    assert_eq!(told(&mut rib), (1, 0));
    rib.set(prefix, route(20, 0));
    assert_eq!((told(&mut rib), rib.is_changed()), ((0, 1), false));
    rib.set(prefix, route(20, 7));
    assert_eq!(told(&mut rib), (0, 1));
    rib.set(prefix, route(20, 7));
    assert_eq!(told(&mut rib), (0, 0));
    // Another source leads the same way.
    rib.set(prefix, Route::direct(SECOND, 20, via(1, "192.0.2.1")));
    assert_eq!(told(&mut rib), (0, 1));
    rib.remove(prefix, SECOND);
    assert_eq!(told(&mut rib), (0, 1));
    rib.remove(prefix, FIRST);
    assert_eq!(told(&mut rib), (1, 0));
}

#[test]
fn the_best_source_wins_and_the_next_takes_over() {
    let (mut rib, prefix) = (Rib::default(), at("10.0.0.0/8"));
    let route = |source, preference, metric, port| Route {
        metric,
        ..Route::direct(source, preference, via(port, "192.0.2.1"))
    };
    let port = |rib: &Rib| match rib.next_hops(prefix) {
        [NextHop::Via { port, .. }] => Some(port.0),
        _ => None,
    };
    // From the worst to the best: preference before metric before source.
    let order = [
        route(Source::Protocol(ProtocolId::new("a")), 110, 1, 1),
        route(SECOND, 20, 9, 2),
        route(FIRST, 20, 9, 3),
        route(Source::Protocol(ProtocolId::new("z")), 20, 8, 4),
        route(Source::Static, 1, 5, 5),
        route(Source::Connected, 0, 7, 6),
    ];
    for (place, route) in order.iter().enumerate() {
        rib.set(prefix, route.clone());
        assert_eq!(port(&rib), Some(place as u16 + 1));
    }
    assert_eq!(changes(&mut rib).len(), 6);
    // A worse one changes nothing for anybody.
    rib.set(prefix, Route { tag: 5, ..order[0].clone() });
    assert_eq!(changes(&mut rib), Vec::<String>::new());
    let in_force =
        |rib: &Rib| rib.iter().map(|(_, route, hops)| (route.source, hops.is_some())).collect::<Vec<_>>();
    assert_eq!(in_force(&rib)[..2], [(Source::Connected, true), (Source::Static, false)]);
    for (place, route) in order.iter().enumerate().rev() {
        assert_eq!(port(&rib), Some(place as u16 + 1));
        assert!(rib.remove(prefix, route.source));
    }
    assert_eq!((port(&rib), rib.iter().count()), (None, 0));
}

#[test]
fn routes_are_resolved_through_others_and_follow_them() {
    let mut rib = Rib::default();
    rib.set(at("192.0.2.0/24"), Route::connected(via(1, "0.0.0.0")));
    rib.set(at("198.51.100.0/24"), Route::connected(via(2, "0.0.0.0")));
    rib.set(at("10.9.0.1/32"), through(FIRST, &["192.0.2.7", "198.51.100.7", "192.0.2.7"]));
    rib.set(at("10.0.0.0/8"), through(SECOND, &["10.9.0.1"]));
    let both = [via(1, "192.0.2.7"), via(2, "198.51.100.7")];
    assert_eq!(rib.lookup(ip("10.1.1.1")), Some((at("10.0.0.0/8"), &both[..])), "several next hops");
    changes(&mut rib);
    moved(&mut rib);
    rib.remove(at("198.51.100.0/24"), Source::Connected);
    assert_eq!(rib.next_hops(at("10.0.0.0/8")), [via(1, "192.0.2.7")]);
    assert_eq!(changes(&mut rib), ["198.51.100.0/24", "10.9.0.1/32"], "10.0.0.0/8 follows its gateway");
    assert_eq!(moved(&mut rib), ["10.9.0.1", "198.51.100.7"]);
    rib.remove(at("192.0.2.0/24"), Source::Connected);
    assert_eq!((rib.lookup(ip("10.1.1.1")), rib.active().count()), (None, 0));
    assert_eq!(rib.iter().count(), 2, "they are there, and not in force");
    // A route to this node leads no packet on.
    rib.set(at("192.0.2.7/32"), Route::connected(NextHop::Local));
    assert_eq!(rib.lookup(ip("10.1.1.1")), None);
}

/// Nothing has to be found out for them, and nobody can tell that.
#[test]
fn first_routes_through_a_known_gateway_are_as_others() {
    let (mut rib, all) = (Rib::default(), ["20.0.0.0/8", "30.0.0.0/8", "40.0.0.0/8"]);
    rib.set(at("10.0.0.0/24"), Route::connected(via(1, "0.0.0.0")));
    seen(&mut rib);
    for (n, prefix) in all.into_iter().enumerate() {
        rib.set(at(prefix), through(FIRST, &["10.0.0.9"]));
        let (_, changed, revalued, moved) = seen(&mut rib);
        assert_eq!(
            (changed, revalued.len(), moved.len()),
            (vec![prefix.to_string()], 0, usize::from(n == 0))
        );
        assert_eq!(rib.next_hops(at(prefix)), [via(1, "10.0.0.9")]);
    }
    rib.set(at("10.0.0.8/29"), Route::direct(SECOND, 110, via(2, "192.0.2.1")));
    assert_eq!((moved(&mut rib), changes(&mut rib)), (vec!["10.0.0.9".into()], vec!["10.0.0.8/29".into()]));
    assert!(all.iter().all(|prefix| rib.next_hops(at(prefix)) == [via(2, "192.0.2.1")]));
    all.iter().for_each(|prefix| assert!(rib.has_gateway(ip("10.0.0.9")) && rib.remove(at(prefix), FIRST)));
    assert!(!rib.has_gateway(ip("10.0.0.9")), "nobody names it any more");
}

#[test]
fn no_route_is_resolved_through_itself() {
    let mut rib = Rib::default();
    rib.set(at("10.0.0.0/8"), through(FIRST, &["10.1.1.1"]));
    rib.set(at("20.0.0.0/8"), through(FIRST, &["30.1.1.1"]));
    rib.set(at("30.0.0.0/8"), through(FIRST, &["20.1.1.1"]));
    assert_eq!(rib.active().count(), 0);
    // The less specific way is left.
    rib.set(at("0.0.0.0/0"), Route::fixed(via(3, "192.0.2.1")));
    assert_eq!(rib.next_hops(at("10.0.0.0/8")), [via(3, "192.0.2.1")]);
    assert_eq!(rib.active().count(), 4);
}

#[test]
fn at_most_eight_routes_are_gone_through() {
    let mut rib = Rib::default();
    rib.set(at("192.0.2.0/24"), Route::connected(via(1, "0.0.0.0")));
    // Route n leads through route n - 1; the connected one is the first that route 1 is resolved through.
    rib.set(at("10.0.1.0/24"), through(FIRST, &["192.0.2.1"]));
    for n in 2..=9 {
        rib.set(at(&format!("10.0.{n}.0/24")), through(FIRST, &[&format!("10.0.{}.1", n - 1)]));
    }
    assert_eq!(rib.next_hops(at("10.0.8.0/24")), [via(1, "192.0.2.1")]);
    assert_eq!(rib.next_hops(at("10.0.9.0/24")), []);
}

#[test]
fn a_restart_leaves_what_was_configured() {
    let mut rib = Rib::default();
    rib.set(at("10.0.0.0/8"), Route::fixed(NextHop::Discard));
    rib.set(at("10.0.0.0/8"), Route::direct(FIRST, 0, NextHop::Local));
    rib.set(at("20.0.0.0/8"), through(SECOND, &["10.1.1.1"]));
    rib.forget_learnt();
    let left: Vec<_> = rib.iter().map(|(prefix, route, _)| (prefix, route.source)).collect();
    assert_eq!(left, [(at("10.0.0.0/8"), Source::Static)]);
    assert_eq!(rib.next_hops(at("10.0.0.0/8")), [NextHop::Discard]);
}

#[test]
fn routes_of_ipv6_are_resolved_in_the_same_way() {
    let mut rib = Rib::<Prefix6>::default();
    let at = |text: &str| text.parse::<Prefix6>().expect("a prefix");
    let to = |text: &str| text.parse::<core::net::Ipv6Addr>().expect("an address");
    let via = |gateway: &str| NextHop::Via { port: PortId(1), gateway: to(gateway).into() };
    rib.set(at("2001:db8:1::/64"), Route::connected(via("::")));
    let hops = vec![RouteHop::Through(to("2001:db8:1::7"))];
    rib.set(
        at("2001:db8::/32"),
        Route { source: FIRST, preference: 20, metric: 0, tag: 0, hops: hops.into() },
    );
    assert_eq!(rib.lookup(to("2001:db8:9::1")), Some((at("2001:db8::/32"), &[via("2001:db8:1::7")][..])));
    rib.remove(at("2001:db8:1::/64"), Source::Connected);
    assert_eq!(rib.lookup(to("2001:db8:9::1")), None);
}

proptest::proptest! {
    #![proptest_config(testing::cases(256))]
    /// After each change everything is in force that would be in a table which is filled anew.
    #[test]
    fn what_a_change_concerns_is_found(
        steps in proptest::collection::vec((0u8..12, 0u8..3, proptest::option::of((0u8..12, proptest::bool::ANY))), 1..60),
    ) {
        let prefix = |n: u8| match n {
            0 => at("0.0.0.0/0"),
            1 => at("10.0.0.0/8"),
            n => Prefix::new(Ipv4Addr::new(10, n / 2, n % 2, 0), if n % 2 == 0 { 16 } else { 24 }),
        };
        let source = |n: u8| Source::Protocol(ProtocolId::new(["a", "b", "c"][usize::from(n)]));
        let route = |s: u8, hop: u8, direct: bool| {
            let hop = if direct {
                RouteHop::Direct(via(u16::from(hop), "192.0.2.1"))
            } else {
                RouteHop::Through(Ipv4Addr::new(10, hop / 2, hop % 2, 1))
            };
            Route { source: source(s), preference: s, metric: 0, tag: 0, hops: Hops::One(hop) }
        };
        let (mut rib, mut list) = (Rib::default(), std::collections::BTreeMap::new());
        for (n, s, hop) in steps {
            match hop {
                Some((hop, direct)) => {
                    rib.set(prefix(n), route(s, hop, direct));
                    list.insert((n, s), (hop, direct));
                }
                None => {
                    rib.remove(prefix(n), source(s));
                    list.remove(&(n, s));
                }
            }
            let mut fresh = Rib::default();
            // Twice, so that each is resolved when all are there.
            for _ in 0..2 {
                for ((n, s), (hop, direct)) in &list {
                    fresh.set(prefix(*n), route(*s, *hop, *direct));
                }
            }
            let shown = |rib: &Rib| rib.active().map(|(p, hops)| (p, hops.to_vec())).collect::<Vec<_>>();
            proptest::prop_assert_eq!(shown(&rib), shown(&fresh));
        }
    }
}

#[test]
fn a_static_route_that_is_suspended_gives_way_to_others() {
    let (mut rib, prefix) = (Rib::default(), at("10.0.0.0/8"));
    rib.suspend(prefix, true);
    rib.set(prefix, Route::fixed(via(1, "192.0.2.1")));
    rib.set(at("20.0.0.0/8"), through(FIRST, &["10.0.0.9"]));
    assert_eq!((rib.next_hops(prefix).len(), rib.next_hops(at("20.0.0.0/8")).len()), (0, 0));
    rib.suspend(prefix, false);
    assert_eq!(rib.next_hops(at("20.0.0.0/8")), [via(1, "192.0.2.1")]);
    changes(&mut rib);
    rib.set(prefix, Route::direct(FIRST, 20, via(2, "192.0.2.2")));
    rib.suspend(prefix, true);
    assert_eq!(rib.next_hops(prefix), [via(2, "192.0.2.2")]);
    // What leads through it follows as its gateway does.
    assert_eq!(changes(&mut rib), ["10.0.0.0/8"]);
    assert_eq!(rib.next_hops(at("20.0.0.0/8")), [via(2, "192.0.2.2")]);
}

/// Numbers that look like chance, and are always the same (xorshift).
fn drawn(state: &mut u64, end: u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state % end
}

/// All that anybody sees of a table, and all that is told of it.
fn seen(rib: &mut Rib) -> (Vec<String>, Vec<String>, Vec<String>, Vec<String>) {
    let rows = rib.iter().map(|(prefix, route, hops)| format!("{prefix} {route:?} {hops:?}")).collect();
    let revalued = core::iter::from_fn(|| rib.poll_revalued()).map(|prefix| prefix.to_string()).collect();
    (rows, changes(rib), revalued, moved(rib))
}

/// Routes that many prefixes have are made once; nobody can tell that from routes that are set one by one.
#[test]
fn routes_that_many_have_are_set_as_if_one_by_one() {
    for seed in 1..=50 {
        let mut state = 0x9e37_79b9_7f4a_7c15 ^ seed;
        let (mut one, mut many) = (Rib::default(), Rib::default());
        for _ in 0..30 {
            let route = |state: &mut u64, source| {
                let port = |state: &mut u64| RouteHop::Direct(via(drawn(state, 3) as u16, "192.0.2.1"));
                let hops: Vec<RouteHop> = match drawn(state, 9) {
                    0 => Vec::new(),
                    1 | 2 => vec![RouteHop::Through(ip("10.0.3.1"))],
                    3 | 4 => vec![port(state), port(state)],
                    5 => vec![port(state), RouteHop::Through(ip("10.0.5.1"))],
                    _ => vec![port(state)],
                };
                let (metric, tag) = (drawn(state, 3) as u32, drawn(state, 2) as u32);
                Route { source, preference: 20, metric, tag, hops: hops.into() }
            };
            let prefix = |state: &mut u64| Prefix::new([10, 0, drawn(state, 8) as u8, 0].into(), 24);
            let source = [FIRST, Source::Static][drawn(&mut state, 4) as usize / 3];
            let routes: Vec<Route> = (0..4).map(|_| route(&mut state, source)).collect();
            let each: Vec<(Prefix, u32)> =
                (0..12).map(|_| (prefix(&mut state), drawn(&mut state, 4) as u32)).collect();
            each.iter().for_each(|(prefix, place)| one.set(*prefix, routes[*place as usize].clone()));
            many.set_each(&routes, each.into_iter());
            assert_eq!(seen(&mut one), seen(&mut many), "{seed}");
            let (other, at) = (route(&mut state, SECOND), prefix(&mut state));
            for rib in [&mut one, &mut many] {
                rib.set(at, other.clone());
                rib.remove(Prefix::new([10, 0, 2, 0].into(), 24), FIRST);
                rib.remove(Prefix::new([10, 0, 1, 0].into(), 24), SECOND);
            }
            assert_eq!(seen(&mut one), seen(&mut many), "{seed}");
        }
        for rib in [&mut one, &mut many] {
            rib.forget_learnt();
            let all: Vec<Prefix> = rib.iter().map(|(prefix, ..)| prefix).collect();
            for prefix in all {
                rib.remove(prefix, Source::Static);
            }
            assert_eq!((rib.routes.0.len(), rib.hops.0.len()), (0, 0), "nothing is held");
        }
    }
}

/// One route that is not written, to a prefix with nothing in it or around it.
#[derive(Debug)]
struct Only(Prefix6, NextHop);

impl Unwritten<Prefix6> for Only {
    fn route(&self, to: Prefix6) -> Option<(Prefix6, NextHop)> {
        self.0.contains(to.address()).then_some((self.0, self.1))
    }
    fn next_hop(&self, prefix: Prefix6) -> Option<NextHop> {
        (prefix == self.0).then_some(self.1)
    }
    fn within(&self, prefix: Prefix6) -> Vec<Prefix6> {
        if prefix.contains(self.0.address()) && prefix.len() <= self.0.len() { vec![self.0] } else { vec![] }
    }
    fn around(&self, prefix: Prefix6) -> Vec<Prefix6> {
        if self.0.contains(prefix.address()) && prefix.len() > self.0.len() { vec![self.0] } else { vec![] }
    }
    fn all(&self) -> Vec<(Prefix6, NextHop)> {
        vec![(self.0, self.1)]
    }
    fn count(&self) -> u64 {
        1
    }
}

#[test]
fn a_route_that_is_not_written_leads_there_all_the_same() {
    let (to, beside): (Ipv6Addr, Ipv6Addr) =
        ("2001:db8:1::9".parse().expect("an address"), "2001:db8:2::9".parse().expect("an address"));
    let hop = NextHop::Via { port: PortId(1), gateway: beside.into() };
    let mut rib: Rib<Prefix6> = Rib::default();
    rib.set_unwritten(Arc::new(Only(Prefix6::new(to, 64), hop)));
    assert_eq!((rib.lookup(to), rib.hops_to(to), rib.hops_to(beside)), (None, Some(vec![hop]), None));
    assert_eq!(rib.complete().iter().count(), 1);
    // What is within the prefix, or around it, has it put in.
    let other = NextHop::Via { port: PortId(2), gateway: beside.into() };
    rib.set(Prefix6::host(to), Route::fixed(other));
    assert_eq!((rib.hops_to(to), rib.iter().count()), (Some(vec![other]), 2));
    rib.remove(Prefix6::host(to), Source::Static);
    assert_eq!(rib.lookup(to), Some((Prefix6::new(to, 64), &[hop][..])));
}
