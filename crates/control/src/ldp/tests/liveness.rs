//! Neighbours that BFD does not hear any more, beside restarts (RFC 5882, 4.3).

use super::answers::{Bench, OTHER, THEIRS, mapping};
use super::restarts::{FAR, FARTHER, GRACEFUL, ft};
use crate::protocol::{Change, Protocol};
use crate::services::distribution::LabelControl;
use crate::services::{COMES_BACK, Hops, Pace, Route, RouteHop, Source, Verdict, WatchedPath};
use base::plane::{IpPrefix, NextHop, Prefix, TableOp};
use base::{Label, PortId, ProtocolId};
use core::net::Ipv4Addr;
use wire::ldp::{Addresses, Body};

fn path() -> WatchedPath {
    WatchedPath::hop(PortId(0), Ipv4Addr::new(192, 168, 0, 1), THEIRS)
}

impl Bench {
    fn is_watched(&self) -> bool {
        self.services.liveness.clients(path()).count() > 0
    }

    /// The neighbour was heard by BFD, and is not any more. Has BFD gone on at both ends while they restarted?
    fn silence(&mut self, is_independent: bool) {
        self.die(is_independent);
        while let Some((path, is_alive)) = self.services.liveness.poll_change() {
            let change = Change::Liveness { path, is_alive };
            self.call(|ldp, now, context| ldp.handle_change(now, context, &change));
        }
    }

    /// The same, and nobody is told yet.
    fn die(&mut self, is_independent: bool) {
        let liveness = &mut self.services.liveness;
        liveness.set_independent(path(), is_independent);
        [Verdict::Alive, Verdict::Dead].into_iter().for_each(|verdict| liveness.found(path(), verdict));
    }

    fn restart(&mut self) {
        self.call(|ldp, now, context| ldp.handle_change(now, context, &Change::RestartAlone));
        self.call(|ldp, now, context| ldp.handle_timeout(now, context));
    }

    /// Time passes, and the neighbour says nothing.
    fn wait_alone(&mut self, seconds: i64) {
        for _ in 0..seconds {
            self.now += base::Span::from_secs(1);
            self.call(|ldp, now, context| ldp.handle_timeout(now, context));
        }
    }

    fn graceful() -> Bench {
        Bench::labelled(ft(true, 60, 0), Some(GRACEFUL), LabelControl::Independent)
    }
}

/// RFC 5882, 4.3.1 and 4.3.2: labels of a neighbour that restarts are kept while BFD hears it, and if BFD may have
/// restarted with it. It is watched on though its Hellos cease.
#[test]
fn a_neighbour_that_restarts_is_not_waited_for_if_its_packets_stop() {
    for (is_independent, silent_s) in [(true, 2), (true, 20), (false, 2), (false, 20)] {
        let mut bench = Bench::graceful();
        bench.lose();
        bench.wait_alone(silent_s);
        assert!(bench.is_watched(), "it is watched on, after {silent_s} s without Hellos, too");
        bench.silence(is_independent);
        let expected = if is_independent { (None, false) } else { (Some(99), true) };
        assert_eq!((bench.out(FAR), bench.is_watched()), expected);
        // The Neighbor Liveness Timer is 40 s.
        bench.wait_alone(40 - silent_s);
        assert_eq!((bench.out(FAR), bench.is_watched()), (None, false));
    }
}

/// RFC 5882, 4.3.2: what a restart excuses, it excuses as long as it lasts: until all labels are given again, whatever
/// time the neighbour has for that. Its BFD has a while to come back, too.
#[test]
fn a_path_that_died_in_a_restart_and_is_dead_after_it_is_a_failure() {
    for is_back in [false, true] {
        let mut bench = Bench::graceful();
        bench.lose();
        bench.silence(false);
        bench.wait(15);
        bench.establish_with(ft(true, 60, 30));
        bench.say(Body::Address(Addresses::V4(vec![OTHER, THEIRS])));
        bench.say(mapping(FAR, 99));
        bench.wait(15);
        bench.say(mapping(FARTHER, 98));
        if is_back {
            bench.services.liveness.found(path(), Verdict::Alive);
        }
        let comes_back_s = COMES_BACK.0 / base::Span::from_secs(1).0;
        bench.wait(comes_back_s - 1);
        assert_eq!((bench.out(FAR), bench.is_closed), (Some(99), false));
        bench.wait(1);
        assert_eq!((bench.out(FAR), bench.is_closed), (is_back.then_some(99), !is_back));
    }
}

/// RFC 5882, 4.3.2.2: one that did not seem to restart is lost with its labels, though it would keep its own over a
/// restart.
#[test]
fn a_neighbour_whose_packets_stop_first_is_lost_with_its_labels() {
    for is_independent in [true, false] {
        let mut bench = Bench::graceful();
        bench.silence(is_independent);
        assert_eq!((bench.out(FAR), bench.is_watched(), bench.is_closed), (None, false, true));
    }
}

/// Neighbours are watched on while LDP restarts here, as long as its entries stay.
#[test]
fn a_router_that_restarts_watches_those_on_that_it_has_not_heard_since() {
    let mut bench = Bench::graceful();
    bench.call(|ldp, now, context| ldp.handle_change(now, context, &Change::RestartAlone));
    bench.wait_alone(49);
    assert!(bench.is_watched());
    bench.wait_alone(1);
    assert!(!bench.is_watched(), "its entries are gone");
    let mut bench = Bench::graceful();
    bench.call(|ldp, now, context| ldp.handle_change(now, context, &Change::RestartAlone));
    bench.wait_alone(1);
    bench.silence(false);
    assert_eq!((bench.is_watched(), bench.out(FAR)), (true, Some(99)));
    bench.silence(true);
    assert_eq!((bench.is_watched(), bench.out(FAR)), (false, None), "its entries do not wait for the timer");
    assert_eq!(bench.ldp.labels().stale(), 0);
}

/// Nobody tells LDP of a path that dies while LDP is down for its own restart: it asks when it is back.
#[test]
fn a_path_that_died_while_ldp_was_down_is_found_when_it_is_back() {
    for is_independent in [true, false] {
        let mut bench = Bench::graceful();
        bench.die(is_independent);
        while bench.services.liveness.poll_change().is_some() {}
        bench.restart();
        let expected = if is_independent { (false, None) } else { (true, Some(99)) };
        assert_eq!((bench.is_watched(), bench.out(FAR)), expected);
    }
}

/// A neighbour on two links: if one of them fails, labels are kept for the other one.
#[test]
fn labels_are_not_kept_for_a_link_that_fails_in_a_restart() {
    const OTHER_LINK: (PortId, Ipv4Addr) = (PortId(1), Ipv4Addr::new(192, 168, 1, 2));
    let two = || {
        let mut bench = Bench::with(|config| {
            (config.graceful, config.keepalive_s) = (Some(GRACEFUL), 180);
            config.bfd = Some(Pace::default());
            config.ports = [PortId(0), PortId(1)].into();
        });
        bench.greet_from(OTHER_LINK, OTHER, |_| {});
        bench.establish_with(ft(true, 60, 0));
        bench.say(Body::Address(Addresses::V4(vec![OTHER, THEIRS, OTHER_LINK.1])));
        bench.route(FAR, true);
        bench.route_by(OTHER_LINK, FARTHER, true);
        bench.say(mapping(FAR, 99));
        bench.say(mapping(FARTHER, 98));
        bench
    };
    // While it is away, and while it confirms its labels.
    for is_back in [false, true] {
        let mut bench = two();
        bench.lose();
        if is_back {
            bench.wait_alone(5);
            bench.establish_with(ft(true, 60, 30));
            bench.say(Body::Address(Addresses::V4(vec![OTHER, THEIRS, OTHER_LINK.1])));
        }
        assert_eq!((bench.out(FAR), bench.out(FARTHER)), (Some(99), Some(98)));
        bench.silence(true);
        assert_eq!((bench.out(FAR), bench.out(FARTHER)), (None, Some(98)));
    }
    // While LDP restarts here. Of several next hops the others stay.
    let mut bench = two();
    let both = [(PortId(0), THEIRS), OTHER_LINK];
    let hop = |(port, gateway): (PortId, Ipv4Addr)| NextHop::Via { port, gateway: gateway.into() };
    let hops = Hops::from(both.map(|one| RouteHop::Direct(hop(one))).to_vec());
    let prefix = Prefix::host(FARTHER);
    let source = Source::Protocol(ProtocolId::new("igp"));
    bench.services.rib.set(prefix, Route { hops, ..Route::direct(source, 110, hop(OTHER_LINK)) });
    let change = Change::Route(IpPrefix::V4(prefix));
    bench.call(|ldp, now, context| ldp.handle_change(now, context, &change));
    assert_eq!(bench.out(FARTHER), Some(98));
    let ways = |bench: &Bench| bench.ldp.labels().fec(prefix).map(|known| known.used.to_vec());
    assert_eq!(ways(&bench).map_or(0, |ways| ways.len()), 2);
    bench.restart();
    bench.ops.clear();
    bench.silence(true);
    assert_eq!((bench.out(FAR), bench.out(FARTHER)), (None, Some(98)));
    assert_eq!(ways(&bench), Some(vec![(OTHER_LINK.0, OTHER_LINK.1, Label::truncate(98))]));
    assert!(bench.ops.iter().any(|op| matches!(op, TableOp::GroupRemove { .. })), "{:?}", bench.ops);
    // What is left stays until time is up.
    assert_eq!(bench.ldp.labels().stale(), 1);
}
