//! This router's BGP restarts, alone (RFC 4724, 4.1), beside neighbours that are bytes.

use super::labels::{V4, several, tells, written};
use super::peers::{Beside, END, families, nlri, of};
use crate::protocol::{Change, Protocol};
use crate::services::sessions::{Closed, SessionEvent};
use crate::services::{Route, RouteWrites};
use base::Span;
use base::plane::{IpPrefix, NextHop as Hop, Prefix, TableOp};
use serde_json::{Value, json};
use wire::bgp::{Capability, Family, Message, NextHop, Unreach, Update};

const A: &str = "198.51.100.0/24";
const C: &str = "192.0.2.128/25";

/// A router with two neighbours that exchange routes of a family.
pub(super) fn two(family: &str, restart: &Value) -> Beside {
    let neighbor = |n: u8| json!({"asn": of(n).1, "import": "all", "export": "all", "advertisement_interval": "0 s", "families": [family], "bfd": true});
    let mut said = json!({"asn": 65000, "connect_retry": "10 s", "neighbors":
        {of(0).0.to_string(): neighbor(0), of(1).0.to_string(): neighbor(1)}});
    said.as_object_mut().expect("an object").extend(restart.as_object().expect("an object").clone());
    let mut beside = Beside::new(said);
    beside.wait(Span::ZERO);
    beside
}

pub(super) fn graceful() -> Value {
    json!({"restart_time": "90 s", "selection_deferral": "200 s"})
}

/// What a neighbour says that marks the end of its routes, and whether it has restarted itself.
pub(super) fn marks_end(family: Family, has_restarted: bool) -> Vec<Capability> {
    let mut all = families(&[family]);
    let flags = if has_restarted { 8 } else { 0 };
    all.push(Capability::GracefulRestart { flags, time_s: 120, families: Vec::new() });
    all
}

pub(super) fn restart(net: &mut Beside) {
    net.with(|bgp, now, context| bgp.handle_change(now, context, &Change::RestartAlone));
    net.told.clear();
    net.wait(Span::ZERO);
}

/// What the last OPEN that a neighbour was told says of restarts.
fn said(net: &Beside, n: u8) -> Option<Capability> {
    let open = net.told.iter().rev().find_map(|(session, message)| match message {
        Message::Open(open) if *session == net.sessions[&n] => Some(open),
        _ => None,
    })?;
    open.capabilities.iter().find(|one| matches!(one, Capability::GracefulRestart { .. })).cloned()
}

fn capability(flags: u8, of_family: u8) -> Option<Capability> {
    Some(Capability::GracefulRestart { flags, time_s: 90, families: vec![(1, 1, of_family)] })
}

fn withdrawn(prefix: &str) -> Update {
    Update { withdrawn: nlri(&[prefix]), ..Update::default() }
}

#[test]
fn forwarding_goes_on_while_this_router_restarts_and_all_neighbours_are_waited_for() {
    let mut net = two("ipv4", &graceful());
    net.open(0, marks_end(Family::Ipv4, false));
    assert_eq!(said(&net, 0), capability(0, 0), "it was started: nothing is preserved");
    net.open(1, marks_end(Family::Ipv4, false));
    net.tell(0, &[A, V4]);
    net.tell(1, &[C]);
    let before = net.routes();
    assert_eq!(before.len(), 3);
    restart(&mut net);
    assert_eq!(net.routes(), before);
    net.open(0, marks_end(Family::Ipv4, false));
    assert_eq!(said(&net, 0), capability(8, 0x80), "RFC 4724, 3: it has restarted, and forwarding went on");
    net.tell(0, &[V4]);
    net.update(0, END());
    // The other is not there yet: nothing is chosen, nobody is told anything, not even that this is the end.
    net.open(1, marks_end(Family::Ipv4, false));
    net.wait(Span::from_secs(60));
    assert_eq!((net.routes(), net.told(0), net.told(1)), (before, vec![], vec![]));
    net.tell(1, &[C]);
    net.update(1, END());
    assert_eq!(net.routes(), [V4, C], "what was not told again is gone");
    let told = |net: &mut Beside, n| {
        let told = net.told(n);
        assert_eq!(told.last(), Some(&END()));
        told.into_iter().flat_map(|update| update.nlri).collect::<Vec<_>>()
    };
    assert_eq!((told(&mut net, 0), told(&mut net, 1)), (nlri(&[C]), nlri(&[V4])));
    // From now on all is as ever.
    net.update(0, withdrawn(V4));
    assert_eq!((net.routes(), net.told(1)), (vec![C.to_string()], vec![withdrawn(V4)]));
    // Another restart: one that has restarted itself, or marks no end, is not waited for.
    restart(&mut net);
    net.open(0, marks_end(Family::Ipv4, true));
    net.tell(0, &[A]);
    assert_eq!(net.routes(), [C]);
    net.open(1, families(&[Family::Ipv4]));
    assert_eq!(net.routes(), [A]);
}

#[test]
fn a_neighbour_that_comes_after_routes_are_chosen_hears_of_the_restart() {
    let mut net = two("ipv4", &graceful());
    net.open(0, marks_end(Family::Ipv4, false));
    net.open(1, marks_end(Family::Ipv4, false));
    // The second is away when BGP restarts here, and comes back when routes were chosen long ago.
    net.event(net.sessions[&1], SessionEvent::Closed(Closed::Reset));
    restart(&mut net);
    net.open(0, marks_end(Family::Ipv4, false));
    net.update(0, END());
    assert_eq!((net.bgp.awaits(0), net.told(0)), (false, vec![END()]));
    net.open(1, marks_end(Family::Ipv4, false));
    assert_eq!(said(&net, 1), capability(8, 0x80), "RFC 4724, 4.1: it has not heard of the restart");
    // Both have heard of it now.
    for n in [0, 1] {
        net.event(net.sessions[&n], SessionEvent::Closed(Closed::Reset));
        net.wait(Span::from_secs(20));
        net.open(n, marks_end(Family::Ipv4, false));
        assert_eq!(said(&net, n), capability(0, 0x80));
    }
}

#[test]
fn tables_that_a_neighbour_never_knew_are_not_called_preserved() {
    let mut net = two("ipv4", &graceful());
    net.open(0, marks_end(Family::Ipv4, false));
    restart(&mut net);
    net.open(1, marks_end(Family::Ipv4, false));
    assert_eq!(said(&net, 1), capability(8, 0), "it may know routes from before this router was started");
}

#[test]
fn a_neighbour_that_does_not_know_of_restarts_holds_nothing_back() {
    let mut net = two("ipv4", &graceful());
    net.open(0, marks_end(Family::Ipv4, false));
    net.open(1, families(&[Family::Ipv4]));
    restart(&mut net);
    assert_eq!([0, 1].map(|place| net.bgp.awaits(place)), [true, false]);
    // The other has not come back yet.
    net.open(0, marks_end(Family::Ipv4, false));
    net.tell(0, &[A]);
    net.update(0, END());
    assert_eq!(net.routes(), [A]);
}

#[test]
fn a_neighbour_whose_session_ends_once_more_is_waited_for_again() {
    let mut net = two("ipv4", &graceful());
    net.open(0, marks_end(Family::Ipv4, false));
    net.open(1, marks_end(Family::Ipv4, false));
    net.tell(0, &[A]);
    net.tell(1, &[C]);
    restart(&mut net);
    net.open(0, marks_end(Family::Ipv4, false));
    net.tell(0, &[A]);
    net.update(0, END());
    assert!(!net.bgp.awaits(0));
    net.event(net.sessions[&0], SessionEvent::Closed(Closed::Reset));
    assert!(net.bgp.awaits(0));
    net.open(1, marks_end(Family::Ipv4, false));
    net.tell(1, &[C]);
    net.update(1, END());
    assert_eq!(net.routes(), [A, C], "what stood before the restart, since nothing is chosen yet");
    net.wait(Span::from_secs(20));
    net.open(0, marks_end(Family::Ipv4, false));
    assert_eq!(said(&net, 0), capability(8, 0x80), "it is not to wait for this router");
    net.tell(0, &[V4]);
    net.update(0, END());
    assert_eq!(net.routes(), [V4, C]);
}

#[test]
fn a_restart_does_not_wait_for_ever() {
    let mut net = two("ipv4", &graceful());
    net.open(0, marks_end(Family::Ipv4, false));
    net.open(1, marks_end(Family::Ipv4, false));
    net.tell(0, &[A, V4]);
    net.tell(1, &[C]);
    restart(&mut net);
    net.open(0, marks_end(Family::Ipv4, false));
    net.tell(0, &[A]);
    // It restarts once more before it has chosen: what was stale before is so still.
    net.wait(Span::from_secs(60));
    restart(&mut net);
    net.open(0, marks_end(Family::Ipv4, false));
    net.tell(0, &[A]);
    net.wait(Span::from_secs(80));
    net.say(0, &Message::KeepAlive);
    net.wait(Span::from_secs(80));
    net.say(0, &Message::KeepAlive);
    net.wait(Span::from_secs(39));
    assert_eq!((net.routes().len(), net.told(0), net.bgp.awaits(0)), (3, vec![], true));
    net.wait(Span::from_secs(1));
    assert_eq!((net.routes(), net.told(0), net.bgp.awaits(0)), (vec![A.to_string()], vec![END()], false));
}

#[test]
fn labels_are_the_same_after_a_restart() {
    let family = Family::Ipv4Labelled;
    let by = || NextHop::V4(of(0).0);
    for is_graceful in [true, false] {
        let mut net = two("ipv4-labelled", &if is_graceful { graceful() } else { json!({}) });
        let mut routes = RouteWrites::default();
        net.open(0, marks_end(family, false));
        net.open(1, marks_end(family, false));
        net.update(0, tells(0, family, by(), several(V4, &[100])));
        net.update(0, tells(0, family, by(), several(A, &[200])));
        let [own, other] = [V4, A]
            .map(|one| one.parse::<Prefix>().map(IpPrefix::V4).expect("a prefix"))
            .map(|prefix| net.bgp.label_of(prefix).expect("a label"));
        assert_eq!(written(&mut net, &mut routes).len(), 4);
        restart(&mut net);
        if !is_graceful {
            let mut gone = written(&mut net, &mut routes);
            gone.sort();
            assert_eq!(gone, [(None, None), (None, None), (Some(own), None), (Some(other), None)]);
            assert_eq!(net.routes(), [""; 0]);
            continue;
        }
        net.open(0, marks_end(family, false));
        net.open(1, marks_end(family, false));
        net.update(0, tells(0, family, by(), several(V4, &[101])));
        net.update(1, Update { unreach: Some(Unreach { family, nlri: Vec::new() }), ..END() });
        assert_eq!(written(&mut net, &mut routes), []);
        net.update(0, Update { unreach: Some(Unreach { family, nlri: Vec::new() }), ..END() });
        // The prefix that was told again has its label, and the other one's is free.
        let mut now = written(&mut net, &mut routes);
        now.sort();
        let of_v4 = Some(vec![101]);
        assert_eq!(now, [(None, None), (None, of_v4.clone()), (Some(own), of_v4), (Some(other), None)]);
        let told = net.told(1).into_iter().find_map(|update| update.reach).expect("a route");
        assert_eq!((told.nlri.len(), told.nlri[0].labels.first()), (1, Some(own)));
        assert_eq!(net.bgp.label_of(A.parse::<Prefix>().map(IpPrefix::V4).expect("a prefix")), None);
    }
}

#[test]
fn no_entry_is_left_of_a_label_that_neighbours_have_still_when_nothing_is_kept() {
    let family = Family::Ipv4Labelled;
    let slow = |n: u8| json!({"asn": of(n).1, "import": "all", "export": "all", "families": ["ipv4-labelled"], "advertisement_interval": "30 s"});
    let neighbors = json!({of(0).0.to_string(): slow(0), of(1).0.to_string(): slow(1)});
    let mut net = Beside::new(
        json!({"asn": 65000, "connect_retry": "10 s", "neighbors": neighbors, "redistribute": ["static"]}),
    );
    net.wait(Span::ZERO);
    let mut routes = RouteWrites::default();
    net.open(0, marks_end(family, false));
    net.open(1, marks_end(family, false));
    net.update(0, tells(0, family, NextHop::V4(of(0).0), several(V4, &[100])));
    net.wait(Span::from_secs(60));
    let prefix: Prefix = V4.parse().expect("a prefix");
    let own = net.bgp.label_of(IpPrefix::V4(prefix)).expect("a label");
    // The destination is this router's own from now on. Neighbours do not hear it before the next change is due.
    net.update(0, tells(0, family, NextHop::V4(of(0).0), several(A, &[200])));
    net.services.rib.set(prefix, Route::fixed(Hop::Discard));
    net.with(|bgp, now, context| bgp.handle_change(now, context, &Change::Route(IpPrefix::V4(prefix))));
    let last = |net: &mut Beside, routes: &mut RouteWrites| {
        net.services.write_labelled(routes);
        let ops = core::iter::from_fn(|| routes.poll());
        ops.filter(
            |op| matches!(op, TableOp::IlmSet { label, .. } | TableOp::IlmRemove { label } if *label == own),
        )
        .last()
    };
    assert!(matches!(last(&mut net, &mut routes), Some(TableOp::IlmSet { .. })));
    assert_eq!(net.bgp.label_of(IpPrefix::V4(prefix)), Some(own));
    restart(&mut net);
    assert_eq!(last(&mut net, &mut routes), Some(TableOp::IlmRemove { label: own }));
}
