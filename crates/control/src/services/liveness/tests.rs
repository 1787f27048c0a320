use super::{Liveness, Pace, Verdict, WatchedPath};
use base::{PortId, ProtocolId, Span};
use core::net::Ipv4Addr;
use std::collections::BTreeMap;

const ONE: ProtocolId = ProtocolId::new("one");
const OTHER: ProtocolId = ProtocolId::new("other");

fn path(n: u8) -> WatchedPath {
    let address = |last| Ipv4Addr::new(10, 0, n, last);
    WatchedPath::hop(PortId(n.into()), address(1), address(2))
}

fn asked(all: &mut Liveness) -> Vec<WatchedPath> {
    core::iter::from_fn(|| all.poll_asked()).collect()
}

fn told(all: &mut Liveness) -> Vec<(WatchedPath, bool)> {
    core::iter::from_fn(|| all.poll_change()).collect()
}

#[test]
fn clients_share_a_path() {
    let mut all = Liveness::default();
    let fast = Pace { interval: Some(Span::from_ms(50)), ..Pace::default() };
    all.watch(ONE, path(1), Pace::default());
    all.watch(ONE, path(1), Pace::default());
    all.watch(OTHER, path(1), fast);
    assert_eq!(asked(&mut all), [path(1), path(1)], "what is said twice is one wish");
    assert_eq!(all.clients(path(1)).collect::<Vec<_>>(), [(ONE, Pace::default()), (OTHER, fast)]);
    all.watch_only(ONE, &BTreeMap::from([(path(2), fast)]));
    assert_eq!(asked(&mut all), [path(1), path(2)]);
    assert_eq!(all.clients(path(1)).count(), 1, "the other goes on");
    all.found(path(1), Verdict::Alive);
    all.unwatch(OTHER, path(1));
    assert_eq!((all.verdict(path(1)), all.clients(path(1)).count()), (Verdict::Unknown, 0));
}

/// RFC 5884, 4: packets that come out somewhere else are no better than packets that do not.
#[test]
fn what_is_misled_is_dead_whoever_hears_it() {
    let mut all = Liveness::default();
    all.watch(ONE, path(1), Pace::default());
    all.found(path(1), Verdict::Alive);
    all.verified(path(1), None);
    all.verified(path(1), Some("no label entry"));
    assert_eq!((all.verdict(path(1)), all.why_misled(path(1))), (Verdict::Dead, Some("no label entry")));
    all.found(path(1), Verdict::Alive);
    assert_eq!(told(&mut all), [(path(1), true), (path(1), false)], "once");
    // Its end is not heard, either, and comes back.
    all.found(path(1), Verdict::Dead);
    all.verified(path(1), None);
    assert_eq!(told(&mut all), []);
    all.found(path(1), Verdict::Alive);
    assert_eq!(told(&mut all), [(path(1), true)]);
    // An answer counts though nothing was known before.
    all.watch(ONE, path(2), Pace::default());
    all.verified(path(2), Some("no label entry"));
    all.verified(path(2), None);
    assert_eq!(told(&mut all), [(path(2), false), (path(2), true)]);
}

/// RFC 5882, 3.2 and 3.3: what never answered, and what somebody has shut down, is not dead.
#[test]
fn only_what_was_alive_dies() {
    let mut all = Liveness::default();
    all.watch(ONE, path(1), Pace::default());
    all.found(path(1), Verdict::Dead);
    assert_eq!(told(&mut all), []);
    all.found(path(1), Verdict::Alive);
    all.found(path(1), Verdict::Unknown);
    assert_eq!(told(&mut all), [(path(1), true)]);
    all.found(path(1), Verdict::Alive);
    all.found(path(1), Verdict::Dead);
    assert_eq!(all.dead(), [(PortId(1), path(1).remote)].into());
    assert_eq!(told(&mut all), [(path(1), true), (path(1), false)]);
    all.found(path(1), Verdict::Unknown);
    assert_eq!(told(&mut all), [(path(1), true)], "it is no longer known to be dead");
    all.found(path(9), Verdict::Dead);
    assert!(!all.is_changed() || asked(&mut all) == [path(1)], "nobody has asked for it");
}
