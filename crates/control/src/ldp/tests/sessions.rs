//! How sessions come to be and what both ends agree on, rule by rule (RFC 5036, 2.5 and 3.5; RFC 5561; RFC 6720).

use super::super::session::SessionState;
use super::answers::{Bench, OTHER, OWN, THEIRS, fec, mapping};
use crate::protocol::{Change, Protocol};
use crate::services::distribution::{LabelAdvertisement, LabelControl};
use crate::services::sessions::SessionEvent;
use crate::services::{InterfaceId, Route, Source};
use base::plane::{IpPrefix, NextHop, Prefix};
use base::{PortId, ProtocolId, Span};
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use wire::Hex;
use wire::ldp::*;

fn accepted(bench: &mut Bench) {
    let (local, remote) = (SocketAddr::new(OWN.into(), PORT), SocketAddr::new(OTHER.into(), 50_000));
    bench.event(SessionEvent::Accepted { local, remote });
}

fn proposal(change: impl FnOnce(&mut Initialization)) -> Body {
    let Body::Initialization(mut wanted) = Bench::initialization(9, OWN) else { panic!("no Initialization") };
    change(&mut wanted);
    Body::Initialization(wanted)
}

/// A PDU of one message of the neighbour with these parameters.
fn pdu(kind: u16, parameters: &[u8]) -> Vec<u8> {
    let len = |more: usize| u16::try_from(more + parameters.len()).expect("a length").to_be_bytes();
    let header = [&[0, 1][..], &len(14), &OTHER.octets(), &[0, 0]].concat();
    [&header[..], &kind.to_be_bytes(), &len(4), &[0, 0, 0, 7], parameters].concat()
}

/// The status of the only thing that was said, and the parameters that it returns.
fn answer(bench: &mut Bench) -> (Status, Option<Hex>) {
    match &bench.heard()[..] {
        [Body::Notification { notice, returned_tlvs, .. }] => {
            (Status::of(notice.code).expect("a status"), returned_tlvs.clone())
        }
        other => panic!("{other:?}"),
    }
}

/// RFC 5036, 2.5.2: all Hellos name the same end for sessions. RFC 6720, 2.2: they say that it checks the time to live.
#[test]
fn all_hellos_have_the_same_transport_address() {
    for gtsm in [true, false] {
        let bench = Bench::with(|config| {
            config.ports = [PortId(0), PortId(1)].into();
            config.gtsm = gtsm;
        });
        let ports: Vec<PortId> = bench.greetings.iter().map(|(port, _)| *port).collect();
        assert_eq!(ports, [PortId(0), PortId(1)]);
        assert!(bench.greetings.iter().all(|(_, hello)| hello.transport == Some(OWN) && hello.gtsm == gtsm));
    }
    // RFC 5036, 3.5.2: a Hello that names none means the source of its packet.
    let mut bench = Bench::new();
    bench.greet_by(OTHER, |hello| hello.transport = None);
    assert_eq!(bench.ldp.transport_of(LdpId::platform(OTHER)), Some(THEIRS));
}

/// RFC 6720, 2.2 and 2.3, and RFC 5082, 3: what comes has to have a time to live of 255 if both ends say so, and what
/// goes has it.
#[test]
fn the_time_to_live_is_checked_if_both_ends_say_so() {
    for (own, theirs) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut bench = Bench::with(|config| config.gtsm = own);
        bench.greet_by(OTHER, |hello| hello.gtsm = theirs);
        let (local, remote) = (SocketAddr::new(OWN.into(), PORT), SocketAddr::new(OTHER.into(), 50_000));
        let options = bench.ldp.accepts(local, remote).expect("the greater address connects");
        let least = if own && theirs { 255 } else { 0 };
        assert_eq!((options.ttl, options.ttl_min), (255, least));
    }
}

/// RFC 5036, 2.5.3: after an Initialization that was refused the next attempt waits 15 s, then twice as long each time,
/// up to two minutes.
#[test]
fn attempts_that_are_refused_grow_rarer() {
    let less = Ipv4Addr::new(9, 9, 9, 9);
    let mut bench = Bench::new();
    bench.route(less, true);
    bench.greet_by(less, |hello| hello.hold_s = u16::MAX);
    for seconds in [15, 30, 60, 120, 120] {
        let session = bench.ldp.sessions().next().expect("this end connects").id;
        bench.session = session;
        bench.event(SessionEvent::Connected);
        assert!(matches!(bench.heard()[..], [Body::Initialization(_)]));
        let refused = Body::notify(Notice::new(Status::RejectedNoHello));
        let pdu = pdus(LdpId::platform(less), [&Message::new(1, refused)], 4096).concat();
        bench.event(SessionEvent::Received(&pdu));
        for (at, is_there) in [(seconds - 1, false), (1, true)] {
            bench.now += Span::from_secs(at);
            bench.greet_by(less, |hello| hello.hold_s = 0);
            bench.call(|ldp, now, context| ldp.handle_timeout(now, context));
            assert_eq!(bench.ldp.sessions().next().is_some(), is_there, "{seconds} s");
        }
    }
}

/// RFC 5036, 3.5.3: the path vector limit is zero without loop detection; capabilities have bit S (RFC 5561, 6).
#[test]
fn a_proposal_says_what_the_router_does() {
    for (loop_detection, limit) in [(false, 0), (true, 254)] {
        let mut bench = Bench::with(|config| config.loop_detection = loop_detection);
        accepted(&mut bench);
        bench.say(proposal(|_| {}));
        let said = bench.heard();
        let Body::Initialization(own) = &said[0] else { panic!("{said:?}") };
        assert_eq!((own.loop_detection, own.path_limit), (loop_detection, limit));
        let all = [own.capabilities.dynamic, own.capabilities.typed_wildcard];
        assert_eq!((all, own.receiver), ([Some(true); 2], LdpId::platform(OTHER)));
    }
}

/// RFC 5036, 3.5.3: the shorter of both longest PDUs counts, in both directions; up to 255 means 4,096.
#[test]
fn the_shorter_longest_pdu_counts() {
    for (theirs, most) in [(300, 300), (255, 4096), (9000, 4096)] {
        let mut bench = Bench::new();
        (1..=40).for_each(|host| bench.route(Ipv4Addr::new(10, 1, 0, host), true));
        bench.establish(proposal(|wanted| wanted.max_pdu = theirs));
        bench.call(|ldp, now, context| ldp.handle_timeout(now, context));
        let maps = bench.heard().iter().filter(|body| matches!(body, Body::Mapping { .. })).count();
        let longest = bench.lengths.iter().max().copied().expect("PDUs");
        // The header's first four bytes do not count.
        assert!(maps == 41 && longest <= 4 + most && longest > 256, "{longest}");
        let addresses = |count| Body::Address(Addresses::V4(vec![OTHER; count]));
        bench.say(addresses(60));
        assert_eq!(bench.heard(), []);
        bench.say(addresses(100));
        let is_refused = most < 400;
        assert_eq!(bench.state().is_none(), is_refused);
        if is_refused {
            assert_eq!(answer(&mut bench).0, Status::BadPduLength);
        }
    }
}

/// RFC 5561, 6: a capability that nobody knows is left out if it may be; else the session is refused, with the
/// parameter (RFC 5561, 8). RFC 5036, 3.3: in a session that is established the message is left out.
#[test]
fn parameters_that_nobody_knows_are_left_out_or_returned() {
    let common = [5, 0, 0, 14, 0, 1, 0, 9, 0, 0, 0, 0, 10, 0, 0, 1, 0, 0];
    let unknown = [0x05, 0x7f, 0, 1, 0x80];
    let mut bench = Bench::new();
    accepted(&mut bench);
    bench.event(SessionEvent::Received(&pdu(kind::INITIALIZATION, &[&common[..], &unknown].concat())));
    assert_eq!(answer(&mut bench), (Status::UnsupportedCapability, Some(Hex::from(&unknown[..]))));
    assert_eq!((bench.state(), bench.is_closed), (None, true));
    let mut bench = Bench::new();
    accepted(&mut bench);
    let optional = [0x85, 0x7f, 0, 1, 0x80];
    bench.event(SessionEvent::Received(&pdu(kind::INITIALIZATION, &[&common[..], &optional].concat())));
    assert!(matches!(bench.heard()[..], [Body::Initialization(_), Body::KeepAlive]));
    bench.say(Body::KeepAlive);
    assert_eq!(bench.state(), Some(SessionState::Operational));
    bench.heard();
    let address = [1, 1, 0, 6, 0, 1, 10, 0, 0, 2];
    bench.event(SessionEvent::Received(&pdu(kind::ADDRESS, &[&address[..], &unknown].concat())));
    assert_eq!(answer(&mut bench), (Status::UnknownTlv, Some(Hex::from(&unknown[..]))));
    assert!(bench.ldp.labels().peer((OTHER, 0)).is_some_and(|peer| peer.addresses.is_empty()));
    bench.event(SessionEvent::Received(&pdu(kind::ADDRESS, &[&address[..], &optional].concat())));
    assert_eq!(bench.heard(), []);
    assert!(bench.ldp.labels().peer((OTHER, 0)).is_some_and(|peer| peer.addresses.contains(&OTHER)));
    // RFC 5561, 3: a capability that stands twice ends the session, and is returned.
    let twice = [0x85, 11, 0, 1, 0x80];
    bench.event(SessionEvent::Received(&pdu(kind::CAPABILITY, &[twice, twice].concat())));
    assert_eq!(answer(&mut bench), (Status::MalformedTlvValue, Some(Hex::from(&twice[..]))));
    assert_eq!(bench.state(), None);
}

/// RFC 5561, 9: that Capability messages are understood cannot be taken back; what else the message says counts. What
/// is no capability does not count in it (RFC 5561, 4).
#[test]
fn what_is_no_capability_does_not_count_in_a_capability_message() {
    let mut bench = Bench::new();
    bench.establish(proposal(|wanted| {
        wanted.capabilities = Capabilities {
            dynamic: Some(true),
            typed_wildcard: Some(true),
            unrecognized_notification: Some(true),
            p2mp: None,
        };
    }));
    bench.heard();
    let ft_session = [0x85, 3, 0, 12, 0, 1, 0, 0, 0, 0, 0, 9, 0, 0, 0, 9];
    let off = [0x85, 6, 0, 1, 0, 0x86, 3, 0, 1, 0];
    bench.event(SessionEvent::Received(&pdu(kind::CAPABILITY, &[&ft_session[..], &off].concat())));
    assert_eq!(bench.heard(), []);
    let session = bench.ldp.sessions().next().expect("a session");
    let said = session.capabilities;
    assert_eq!((said.dynamic, said.unrecognized_notification), (Some(true), Some(false)));
    assert_eq!(session.restart, None);
}

/// RFC 5036, 3.5.8.1: numbers of messages, which are those of requests, do not come again.
#[test]
fn numbers_of_requests_do_not_come_again() {
    let mut bench = Bench::with(|config| config.advertise = LabelAdvertisement::OnDemand);
    bench.establish(proposal(|wanted| wanted.on_demand = true));
    bench.say(Body::Address(Addresses::V4(vec![OTHER, THEIRS])));
    (1..=9).for_each(|host| bench.route(Ipv4Addr::new(10, 1, 0, host), true));
    let requests = bench.heard().iter().filter(|body| matches!(body, Body::Request { .. })).count();
    assert!(requests == 9 && bench.numbers.is_sorted_by(|a, b| a < b), "{:?}", bench.numbers);
}

/// RFC 5036, 3.5.9.1: a request that is taken back before it was answered is confirmed at once, with its number; one
/// that was answered is not.
#[test]
fn a_request_that_is_taken_back_is_confirmed_at_once() {
    let far = Ipv4Addr::new(10, 0, 0, 9);
    let mut bench = Bench::with(|config| {
        config.ports = [PortId(0), PortId(1)].into();
        config.control = LabelControl::Ordered;
    });
    bench.establish(proposal(|_| {}));
    let (prefix, source) = (Prefix::host(far), Source::Protocol(ProtocolId::new("igp")));
    let next_hop = NextHop::Via { port: PortId(1), gateway: IpAddr::from([192, 168, 1, 2]) };
    bench.services.rib.set(prefix, Route::direct(source, 110, next_hop));
    let change = Change::Route(IpPrefix::V4(prefix));
    bench.call(|ldp, now, context| ldp.handle_change(now, context, &change));
    bench.heard();
    bench.say(Body::Request { fec: fec(far), hops: None, path: None });
    assert_eq!(bench.heard(), [], "the next router has given no label");
    let abort = Body::Abort { fec: fec(far), request: 7 };
    bench.say(abort.clone());
    let code = Status::LabelRequestAborted.code();
    let notice = Notice { code, message_id: 7, message_type: kind::LABEL_ABORT_REQUEST };
    assert_eq!(bench.heard(), [Body::notify_request(notice, 7)]);
    bench.say(abort);
    assert_eq!(bench.heard(), []);
    // Asked for, what is right here is given; then there is nothing to take back.
    bench.say(Body::Request { fec: fec(OWN), hops: None, path: None });
    assert!(matches!(bench.heard()[..], [Body::Mapping { request: Some(7), .. }]));
    bench.say(Body::Abort { fec: fec(OWN), request: 7 });
    assert_eq!(bench.heard(), []);
}

/// RFC 5036, 3.5.5.1: addresses that come and go are told and withdrawn; what is known already changes nothing, and
/// nothing is said of a family that is not spoken but that it is not.
#[test]
fn addresses_come_and_go() {
    let mut bench = Bench::with(|config| config.ports = [PortId(0), PortId(1)].into());
    bench.establish(proposal(|_| {}));
    let said = bench.heard();
    let (near, other) = (Ipv4Addr::new(192, 168, 0, 1), Ipv4Addr::new(192, 168, 1, 1));
    assert_eq!(said, [Body::Address(Addresses::V4(vec![OWN, near, other])), mapping(OWN, 3)]);
    for up in [false, true] {
        let change = Change::Interface { interface: InterfaceId(1), port: Some(PortId(1)), up };
        bench.call(|ldp, now, context| ldp.handle_change(now, context, &change));
        let list = Addresses::V4(vec![other]);
        assert_eq!(bench.heard(), [if up { Body::Address(list) } else { Body::AddressWithdraw(list) }]);
    }
    for body in [Body::Address, Body::Address, Body::AddressWithdraw, Body::AddressWithdraw] {
        bench.say(body(Addresses::V4(vec![THEIRS])));
        assert_eq!(bench.heard(), []);
    }
    bench.say(Body::Address(Addresses::V6(vec![])));
    assert_eq!(bench.status(), Status::UnsupportedAddressFamily);
}

/// RFC 5918, 4: with a label, a typed wildcard means the prefixes with that label.
#[test]
fn a_typed_wildcard_with_a_label_means_what_has_that_label() {
    let mut bench = Bench::established();
    bench.heard();
    let (one, two) = (Ipv4Addr::new(10, 0, 0, 8), Ipv4Addr::new(10, 0, 0, 9));
    bench.say(mapping(one, 98));
    bench.say(mapping(two, 99));
    let label = Some(AnyLabel::Generic(base::Label::truncate(98)));
    let all = Fec::AllPrefixes(1);
    bench.say(Body::Withdraw { fec: all.clone(), label });
    assert_eq!(bench.heard(), [Body::Release { fec: all.clone(), label, notice: None }]);
    let given = |bench: &Bench| {
        let peer = bench.ldp.labels().peer((OTHER, 0)).expect("a neighbour");
        peer.given.ordered_keys()
    };
    assert_eq!(given(&bench), [Prefix::host(two)]);
    // A release of another label than the one that was given means nothing.
    bench.say(Body::Release { fec: all.clone(), label, notice: None });
    assert!(bench.ldp.labels().peer((OTHER, 0)).is_some_and(|peer| !peer.sent.is_empty()));
}
