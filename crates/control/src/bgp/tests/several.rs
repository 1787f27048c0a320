//! Several labels of one destination (RFC 8277), in bytes: what both ends say, what is told on, what packets get.

use super::labels::{V4, several, tells, written};
use super::peers::{Beside, TERMS, families, nlri, of};
use crate::services::RouteWrites;
use crate::services::sessions::{Closed, SessionEvent};
use base::Span;
use proptest::prelude::*;
use serde_json::json;
use wire::bgp::{Capability, Family, Message, NextHop, Nlri, Terms, Unreach, Update, notification};

const FAMILY: Family = Family::Ipv4Labelled;

fn takes(counts: &[(u16, u8, u8)]) -> Vec<Capability> {
    let mut all = families(&[FAMILY]);
    all.push(Capability::MultipleLabels(counts.to_vec()));
    all
}

/// Three neighbours: what the first, of the own AS, tells goes on to the others, which are clients, with its next hop;
/// or by `next_hop_self` of the third, which is outside, with this router's.
fn three() -> Beside {
    let neighbor = |n: u8, asn: u32| json!({"asn": asn, "import": "all", "export": "all", "advertisement_interval": "0 s", "families": ["ipv4-labelled"], "client": n < 2});
    let neighbors = json!({
        of(0).0.to_string(): neighbor(0, 65000), of(1).0.to_string(): neighbor(1, 65000),
        of(2).0.to_string(): neighbor(2, of(2).1),
    });
    let mut beside = Beside::new(json!({"asn": 65000, "neighbors": neighbors, "connect_retry": "10 s"}));
    // A label alone has the same bytes for those who take several (RFC 8277, 2.3).
    beside.terms = Terms { is_internal: true, labels_max: [4; 4], ..TERMS };
    beside.wait(Span::ZERO);
    beside
}

/// Labels of destinations that a neighbour was told, each with whether it was withdrawn.
fn heard(net: &mut Beside, n: u8) -> Vec<Vec<u32>> {
    let mut all = Vec::new();
    for update in net.told(n) {
        assert_eq!(update.faults, []);
        let labels = |one: &Nlri| one.labels.iter().map(|label| label.value()).collect();
        all.extend(update.reach.iter().flat_map(|reach| &reach.nlri).map(labels));
        all.extend(update.unreach.iter().flat_map(|unreach| &unreach.nlri).map(labels));
    }
    all
}

fn by(n: u8) -> NextHop {
    NextHop::V4(of(n).0)
}

/// What a neighbour of the own AS tells.
fn inside(n: u8, nlri: Vec<Nlri>) -> Update {
    let mut update = tells(n, FAMILY, by(n), nlri);
    update.attributes.as_path = Some(wire::bgp::AsPath::default());
    update.attributes.local_pref = Some(100);
    update
}

#[test]
fn several_labels_are_told_on_to_those_who_take_so_many() {
    let mut net = three();
    net.open_as(0, 65000, takes(&[(1, 4, 4)]));
    net.open_as(1, 65000, takes(&[(1, 4, 3)]));
    net.open_as(2, of(2).1, families(&[FAMILY]));
    (0..3).for_each(|n| drop(net.told(n)));
    let mut routes = RouteWrites::default();
    net.update(0, inside(0, several(V4, &[100, 200, 300])));
    // RFC 8277, 3.2.1: the next hop stays, and so do the labels; 3.2.2: another next hop has one of its own.
    assert_eq!(heard(&mut net, 1), [[100, 200, 300]]);
    let own = heard(&mut net, 2);
    assert!(own.len() == 1 && own[0].len() == 1 && own[0][0] >= 16, "{own:?}");
    // The first label is the outermost, and the last of what is pushed.
    let pushed = Some(vec![300, 200, 100]);
    let label = base::Label::new(own[0][0]);
    assert_eq!(written(&mut net, &mut routes), [(None, pushed.clone()), (label, pushed)]);
    // RFC 8277, 3.2.1: with more than it takes, what it was told is withdrawn.
    net.update(0, inside(0, several(V4, &[100, 200, 300, 400])));
    assert_eq!((heard(&mut net, 1), heard(&mut net, 2)), (vec![vec![]], vec![]));
    let pushed = Some(vec![400, 300, 200, 100]);
    assert_eq!(written(&mut net, &mut routes), [(None, pushed.clone()), (label, pushed)]);
    // RFC 8277, 2.5: other labels replace these. Implicit null is never pushed (RFC 3032, 2.1).
    net.update(0, inside(0, several(V4, &[3, 200])));
    assert_eq!((heard(&mut net, 1), heard(&mut net, 2)), (vec![vec![3, 200]], vec![]));
    assert_eq!(written(&mut net, &mut routes), [(None, Some(vec![200])), (label, Some(vec![200]))]);
    net.update(0, inside(0, several(V4, &[100])));
    assert_eq!(heard(&mut net, 1), [[100]]);
    assert_eq!(net.bgp.sets.sequences.len(), 0, "no sequence is left");
    let gone = Unreach { family: FAMILY, nlri: nlri(&[V4]) };
    net.update(0, Update { unreach: Some(gone), ..Update::default() });
    assert_eq!(heard(&mut net, 1), [[0u32; 0]]);
}

#[test]
fn without_the_capability_of_both_there_is_one_label() {
    // RFC 8277, 2.1: another family, no more than one, less than that, or nothing.
    for said in [vec![(2, 4, 4)], vec![(1, 4, 1)], vec![(1, 4, 0)], vec![]] {
        let mut net = three();
        net.open_as(0, 65000, takes(&[(1, 4, 4)]));
        net.open_as(1, 65000, takes(&said));
        net.told(1);
        net.update(0, inside(0, several(V4, &[100, 200])));
        assert_eq!(heard(&mut net, 1), [[0u32; 0]; 0], "{said:?}");
        net.update(0, inside(0, several(V4, &[100])));
        assert_eq!(heard(&mut net, 1), [[100]]);
        net.update(0, inside(0, several(V4, &[100, 200])));
        assert_eq!(heard(&mut net, 1), [[0u32; 0]], "what it was told is withdrawn");
        // Of what it tells the S bit says nothing (RFC 8277, 2.2).
        let without_s = [0x80, 14, 16, 0, 1, 4, 4, 10, 1, 0, 2, 0, 48, 0, 0x06, 0x40, 203, 0, 114];
        net.say_bytes(1, &without_s);
        let path = net.bgp.labels_from(1, "203.0.114.0/24".parse().expect("a prefix"));
        assert_eq!(path, [base::Label::new(100)]);
    }
    // Of several capabilities the first one counts, and of several counts of a family, too.
    let mut all = takes(&[(1, 4, 0), (1, 4, 2), (1, 4, 4)]);
    all.push(Capability::MultipleLabels(vec![(1, 4, 255)]));
    let mut net = three();
    net.open_as(0, 65000, takes(&[(1, 4, 4)]));
    net.open_as(1, 65000, all);
    net.told(1);
    net.update(0, inside(0, several(V4, &[100, 200, 300])));
    assert_eq!(heard(&mut net, 1), [[0u32; 0]; 0]);
    net.update(0, inside(0, several(V4, &[100, 200])));
    assert_eq!(heard(&mut net, 1), [[100, 200]]);
}

#[test]
fn this_router_says_that_it_takes_as_many_as_it_can_push() {
    let mut net = three();
    net.open_as(0, 65000, takes(&[(1, 4, 4)]));
    let said = net.raw.iter().find_map(|(_, bytes)| match Message::parse(bytes, &Terms::default()) {
        Ok(Message::Open(open)) => Some(open.capabilities),
        _ => None,
    });
    assert!(said.expect("an OPEN").contains(&Capability::MultipleLabels(vec![(1, 4, 4)])));
    // Without a family with labels there is nothing to say.
    assert_eq!(super::super::several::capability(&[Family::Ipv4, Family::Ipv6]), None);
}

#[test]
fn more_labels_than_this_router_takes_withdraw_the_routes() {
    let mut net = three();
    net.open_as(0, 65000, takes(&[(1, 4, 4)]));
    net.open_as(1, 65000, takes(&[(1, 4, 4)]));
    net.update(0, inside(0, several(V4, &[100, 200])));
    net.told(1);
    let five = [144, 0, 0x06, 0x40, 0, 0x0c, 0x80, 0, 0x12, 0xc0, 0, 0x19, 0, 0, 0x1f, 0x41, 203, 0, 113];
    let other = [48, 0, 0, 0x71, 203, 0, 114];
    net.say_bytes(0, &[&[0x80, 14, 35, 0, 1, 4, 4, 10, 0, 0, 2, 0], &five[..], &other].concat());
    // RFC 8277, 2.1, and RFC 7606: all routes of the UPDATE count as withdrawn, and the session stays.
    assert_eq!(heard(&mut net, 1), [[0u32; 0]]);
    assert!(net.bgp.peers()[0].is_established() && net.bgp.peers()[0].malformed == 1);
    assert_eq!(net.bgp.labels_from(0, "203.0.114.0/24".parse().expect("a prefix")), []);
    // A last label that is not there leaves nobody knowing where the prefix begins (RFC 7606, 3 j).
    let endless = [0x80, 14, 16, 0, 1, 4, 4, 10, 0, 0, 2, 0, 48, 0, 0x06, 0x40, 203, 0, 114];
    net.say_bytes(0, &endless);
    assert!(!net.bgp.peers()[0].is_established());
    let code = notification::Code::OptionalAttribute;
    let is_it =
        |message: &Message| matches!(message, Message::Notification(why) if why.known() == Some(code));
    assert!(net.told.iter().any(|(_, message)| is_it(message)));
}

#[test]
fn what_a_neighbour_takes_no_more_after_a_restart_is_withdrawn() {
    // RFC 8277, 2.1: without the capability, or with a smaller count.
    for (again, is_withdrawn) in [(None, true), (Some(2), true), (Some(3), false)] {
        let mut net = three();
        net.open_as(0, 65000, takes(&[(1, 4, 4)]));
        net.open_as(1, 65000, takes(&[(1, 4, 4)]));
        net.update(0, inside(0, several(V4, &[100, 200, 300])));
        net.told(1);
        net.event(net.sessions[&1], SessionEvent::Closed(Closed::Reset));
        net.wait(Span::from_secs(20));
        let again = again.map_or(families(&[FAMILY]), |count| takes(&[(1, 4, count)]));
        net.open_as(1, 65000, again);
        let gone =
            Update { unreach: Some(Unreach { family: FAMILY, nlri: nlri(&[V4]) }), ..Update::default() };
        assert_eq!(net.told(1).contains(&gone), is_withdrawn);
    }
}

proptest! {
    /// Whatever is told and withdrawn, nothing is left of labels that nobody has any more.
    #[test]
    fn labels_that_nobody_has_are_forgotten(
        steps in prop::collection::vec((0..3u8, 0..3u8, prop::collection::vec(16..20u32, 0..5)), 1..40)
    ) {
        let mut net = three();
        net.open_as(0, 65000, takes(&[(1, 4, 4)]));
        net.open_as(1, 65000, takes(&[(1, 4, 3)]));
        net.open_as(2, of(2).1, takes(&[(1, 4, 2)]));
        for (n, prefix, labels) in steps {
            let prefix = format!("203.0.{prefix}.0/24");
            let update = match labels.len() {
                0 => Update { unreach: Some(Unreach { family: FAMILY, nlri: nlri(&[&prefix]) }), ..Update::default() },
                _ if n == 2 => tells(n, FAMILY, by(n), several(&prefix, &labels)),
                _ => inside(n, several(&prefix, &labels)),
            };
            net.update(n, update);
        }
        for n in 0..3 {
            net.event(net.sessions[&n], SessionEvent::Closed(Closed::Reset));
        }
        prop_assert_eq!(net.bgp.sets.sequences.len(), 0);
        prop_assert_eq!(net.bgp.labels.len(), 0);
    }
}
