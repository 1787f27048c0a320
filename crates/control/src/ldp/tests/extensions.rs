//! Capabilities (RFC 5561), typed wildcards (RFC 5918), the end of labels (RFC 5919), synchronisation (RFC 5443) and
//! targeted Hellos (RFC 5036, 2.4.2).

use super::answers::{Bench, OTHER, OWN, THEIRS, fec, mapping};
use crate::protocol::{Arrival, IpArrival, Over, Protocol};
use base::{PortId, Span, Time};
use core::net::Ipv4Addr;
use wire::ldp::*;

const ALL: Capabilities = Capabilities {
    dynamic: Some(true),
    typed_wildcard: Some(true),
    unrecognized_notification: Some(true),
    p2mp: None,
};
const END: Fec = Fec::AllPrefixes(1);

fn capable(capabilities: Capabilities) -> Body {
    match Bench::initialization(9, OWN) {
        Body::Initialization(wanted) => Body::Initialization(Initialization { capabilities, ..wanted }),
        other => other,
    }
}

/// RFC 5919, 4: the end of labels is said behind them, and only to who can do with it; what came with state 0 in an
/// Initialization message is there, too (RFC 5561, 6).
#[test]
fn the_end_of_labels_is_said_to_who_can_do_with_it() {
    let off = Capabilities { unrecognized_notification: Some(false), ..Capabilities::default() };
    for (capabilities, is_said) in [(Capabilities::default(), false), (ALL, true), (off, true)] {
        let mut bench = Bench::with(|_| {});
        bench.establish(capable(capabilities));
        let said = bench.heard();
        assert_eq!(said.last() == Some(&Body::end_of_lib(END)), is_said, "{said:?}");
    }
    // RFC 5561, 7: it can be taken back by a Capability message.
    let mut bench = Bench::with(|_| {});
    bench.establish(capable(ALL));
    bench.heard();
    let off = Capabilities { unrecognized_notification: Some(false), ..Capabilities::default() };
    bench.say(Body::Capability(off));
    bench.say(Body::Request { fec: END, hops: None, path: None });
    assert!(!bench.heard().contains(&Body::end_of_lib(END)));
}

/// RFC 5918, 4: for all prefixes there are requests, withdrawals and releases.
#[test]
fn a_typed_wildcard_means_all_prefixes() {
    let far = Ipv4Addr::new(10, 0, 0, 9);
    let mut bench = Bench::with(|_| {});
    bench.establish(capable(ALL));
    bench.route(far, true);
    bench.say(Body::Address(Addresses::V4(vec![OTHER, THEIRS])));
    bench.say(mapping(far, 99));
    bench.heard();
    bench.say(Body::Request { fec: END, hops: None, path: None });
    let said = bench.heard();
    assert!(
        matches!(&said[..], [Body::Mapping { fecs, request: Some(7), .. }, _] if *fecs == [fec(OWN)]),
        "what is right here, and not what would come back: {said:?}"
    );
    assert_eq!(said[1], Body::end_of_lib(END));
    bench.say(Body::Withdraw { fec: END, label: None });
    assert_eq!(bench.heard(), [Body::Release { fec: END, label: None, notice: None }]);
    let key = (OTHER, 0);
    assert!(bench.ldp.labels().peer(key).is_some_and(|peer| peer.given.is_empty() && !peer.sent.is_empty()));
    bench.say(Body::Release { fec: END, label: None, notice: None });
    assert!(bench.ldp.labels().peer(key).is_some_and(|peer| peer.sent.is_empty()));
    // RFC 5036, 3.5.5.1: no IPv6 is spoken.
    bench.say(Body::Request { fec: Fec::AllPrefixes(2), hops: None, path: None });
    assert_eq!(bench.status(), Status::UnsupportedAddressFamily);
}

/// RFC 5443, 2, and RFC 5919, 4.1 and 5.1: a link is avoided until the neighbour says that it has told all labels, or
/// for some time.
#[test]
fn a_link_is_avoided_until_its_labels_are_known() {
    let port = PortId(0);
    let synchronised =
        || Bench::with(|config| (config.igp_sync, config.igp_sync_delay) = (true, Span::from_secs(5)));
    let mut bench = synchronised();
    assert!(bench.services.avoided.is(port), "nobody is there");
    bench.establish(capable(ALL));
    assert!(bench.services.avoided.is(port), "labels may come");
    bench.say(Body::end_of_lib(Fec::AllPrefixes(2)));
    assert!(bench.services.avoided.is(port), "those of IPv6 are not those of IPv4");
    bench.say(Body::end_of_lib(END));
    assert!(!bench.services.avoided.is(port));
    bench.say(Body::notify(Notice::new(Status::Shutdown)));
    assert!(bench.services.avoided.is(port), "without a session");
    for (capabilities, seconds) in [(Capabilities::default(), 5), (ALL, 60)] {
        let mut bench = synchronised();
        bench.establish(capable(capabilities));
        for (at, is_avoided) in [(seconds - 1, true), (seconds, false)] {
            while bench.now < Time::ZERO + Span::from_secs(at) {
                bench.now += Span::from_secs(1);
                bench.greet();
                bench.say(Body::KeepAlive);
                bench.call(|ldp, now, context| ldp.handle_timeout(now, context));
            }
            assert_eq!(bench.services.avoided.is(port), is_avoided, "{at} s");
        }
    }
}

/// RFC 5036, 2.4.2 and 3.5.2.1: targeted Hellos of whom this router has named, or of all if it takes them.
#[test]
fn targeted_hellos_are_taken_if_wanted() {
    let far = Ipv4Addr::new(10, 0, 0, 9);
    let hello = |dst| {
        let hello = Hello {
            hold_s: 0,
            is_targeted: true,
            wants_targeted: true,
            gtsm: false,
            transport: Some(far),
            transport6: None,
            configuration: None,
        };
        let bytes = pdus(LdpId::platform(far), [&Message::new(1, Body::Hello(hello))], 4096).concat();
        let over = Over::Udp { src: PORT, dst: PORT };
        let ip = IpArrival { port: PortId(0), src: far, dst, ttl: 250, router_alert: false, over };
        (Arrival::Ip(ip), bytes)
    };
    let heard = |bench: &mut Bench, dst| {
        let (arrival, bytes) = hello(dst);
        bench.call(|ldp, now, context| ldp.handle_message(now, context, &arrival, &bytes));
        bench.ldp.is_heard(LdpId::platform(far))
    };
    assert!(!heard(&mut Bench::with(|_| {}), OWN));
    assert!(!heard(&mut Bench::with(|config| config.targets = vec![THEIRS]), OWN));
    assert!(heard(&mut Bench::with(|config| config.targets = vec![far]), OWN));
    let mut bench = Bench::with(|config| config.accept_targeted = true);
    assert!(!heard(&mut bench, ALL_ROUTERS), "targeted, and to all");
    assert!(heard(&mut bench, OWN));
    // RFC 5036, 3.5.2: 45 s without another.
    bench.now = Time::ZERO + Span::from_secs(44);
    bench.call(|ldp, now, context| ldp.handle_timeout(now, context));
    assert!(bench.ldp.is_heard(LdpId::platform(far)));
    bench.now = Time::ZERO + Span::from_secs(45);
    bench.call(|ldp, now, context| ldp.handle_timeout(now, context));
    assert!(!bench.ldp.is_heard(LdpId::platform(far)));
}

/// RFC 5036, 3.5.3: labels on demand if both ends say so.
#[test]
fn labels_are_on_demand_if_both_ends_say_so() {
    use crate::services::distribution::LabelAdvertisement;
    for (own, theirs) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut bench = Bench::with(|config| {
            if own {
                config.advertise = LabelAdvertisement::OnDemand;
            }
        });
        let Body::Initialization(wanted) = Bench::initialization(9, OWN) else { return };
        bench.establish(Body::Initialization(Initialization { on_demand: theirs, ..wanted }));
        let is_on_demand = bench.ldp.sessions().next().map(|session| session.on_demand);
        assert_eq!(is_on_demand, Some(own && theirs));
        let said = bench.heard();
        assert_eq!(said.contains(&mapping(OWN, 3)), !(own && theirs), "{said:?}");
    }
}
