//! Router advertisements and duplicate address detection on a port of a router.

use super::tests::{HOST_MAC, OUR_MAC, P, config_with, give};
use super::*;
use crate::advertising::Advertise;
use crate::discovery::{self, Own};
use base::{Event, MacAddr, Span};
use control::unheard::Unheard;
use wire::{icmpv6, ipv6, nd};

const OURS6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 1);
const HOST6: Own =
    Own { mac: HOST_MAC, address: Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 2), router: false };
/// Another node that has the router's address.
const TWIN: Own = Own { mac: HOST_MAC, address: OURS6, router: false };
const USUAL: Advertise = Advertise {
    interval: [Span::from_secs(198), Span::from_secs(600)],
    lifetime_s: 1_800,
    hop_limit: 64,
    managed: false,
    other: true,
    reachable_ms: 7,
    retransmit_ms: 8,
    mtu: true,
    autonomous: true,
    valid_s: 2_592_000,
    preferred_s: 604_800,
};

fn router(dad: bool, advertise: Option<Advertise>) -> Router {
    let mut config = config_with(Vec::new());
    config.ports[0].ipv6 = Some(Address6 { dad, advertise, ..Address6::new(OURS6, 64) });
    Router::new(config)
}

/// A message of neighbour discovery that was sent: when, Ethernet destination, source, destination, type and target.
type Said = (Time, MacAddr, Ipv6Addr, Ipv6Addr, icmpv6::Type, Option<Ipv6Addr>);

fn said(at: Time, bytes: &[u8]) -> Said {
    let packet = ipv6::Packet::new_checked(&bytes[14..]).expect("a packet");
    let ip = ipv6::Repr::parse(&packet).expect("a header");
    let message = icmpv6::Packet::new_checked(packet.payload()).expect("a message");
    let icmpv6::Repr::Discovery(message) = icmpv6::Repr::parse(&message, ip.src, ip.dst).expect("right")
    else {
        panic!("discovery")
    };
    message.check(&ip).expect("believable");
    let target = match message {
        nd::Repr::NeighborSolicitation { target, .. } | nd::Repr::NeighborAdvertisement { target, .. } => {
            Some(target)
        }
        _ => None,
    };
    let mac = MacAddr(*bytes.first_chunk().expect("a frame"));
    (at, mac, ip.src, ip.dst, message.icmp_type(), target)
}

/// Lets time pass: what is sent, and what is told.
fn pass(router: &mut Router, until: Time) -> (Vec<Said>, Vec<Event>) {
    let (mut all, mut events) = (Vec::new(), Vec::new());
    while let Some(at) = router.poll_timeout().filter(|at| *at <= until) {
        router.handle_timeout(at);
        while let Some(output) = router.poll_output() {
            match output {
                Output::Transmit { frame, .. } => all.push(said(at, &frame.to_vec())),
                Output::Event(event) => events.push(event),
                other => panic!("{other:?}"),
            }
        }
    }
    (all, events)
}

/// A router solicitation of the host.
fn solicitation(src: Ipv6Addr) -> Frame {
    let mut options = Vec::new();
    if !src.is_unspecified() {
        nd::NdOption::SourceLinkLayer(HOST_MAC).append_to(&mut options);
    }
    let message = nd::Repr::RouterSolicitation { options: nd::Options::of(&options).expect("options") };
    HOST6.frame(nd::group_mac(nd::ALL_ROUTERS), src, nd::ALL_ROUTERS, message)
}

fn at(secs: i64) -> Time {
    Time::ZERO + Span::from_secs(secs)
}

fn is_advertisement(said: &Said) -> bool {
    said.4 == icmpv6::Type::ROUTER_ADVERTISEMENT
        && said.3 == nd::ALL_NODES
        && said.2 == nd::link_local(OUR_MAC)
}

#[test]
fn a_port_that_is_told_to_advertises_and_answers_solicitations() {
    let mut r = router(false, Some(USUAL));
    let (first, _) = pass(&mut r, at(48));
    assert!(first.len() == 3 && first.iter().all(is_advertisement), "{first:?}");
    assert_eq!(first.iter().map(|one| one.0).collect::<Vec<_>>(), [at(16), at(32), at(48)]);
    let (later, _) = pass(&mut r, at(4_000));
    assert!((6..=20).contains(&later.len()) && later.iter().all(is_advertisement), "{}", later.len());
    // Asked for, by who has no address yet and by who has one: that one is a neighbour from then on.
    let now = later.last().expect("some").0 + Span::from_secs(10);
    assert_eq!(give(&mut r, now.0, solicitation(Ipv6Addr::UNSPECIFIED)), []);
    assert_eq!(give(&mut r, now.0, solicitation(nd::link_local(HOST_MAC))), []);
    let (answers, _) = pass(&mut r, now + Span::from_secs(1));
    assert!(answers.len() == 1 && is_advertisement(&answers[0]) && answers[0].0 <= now + Span::from_ms(500));
    assert_eq!(r.neighbor_mac(P, nd::link_local(HOST_MAC)), Some(HOST_MAC));
    // Not more often than every three seconds.
    give(&mut r, (now + Span::from_secs(1)).0, solicitation(Ipv6Addr::UNSPECIFIED));
    let (again, _) = pass(&mut r, now + Span::from_secs(5));
    assert!(again.len() == 1 && again[0].0 >= answers[0].0 + Span::from_secs(3), "{again:?}");
    // A port that is down says nothing, and begins anew; so does a router that restarts.
    let down = now + Span::from_secs(6);
    r.handle_command(down, Command::PortDown(P));
    give(&mut r, down.0, solicitation(Ipv6Addr::UNSPECIFIED));
    assert!(pass(&mut r, down + Span::from_secs(1_000)).0.is_empty());
    let up = down + Span::from_secs(1_000);
    for command in [Command::PortUp(P), Command::Restart] {
        r.handle_command(up, command);
        while r.poll_output().is_some() {}
        let (begun, _) = pass(&mut r, up + Span::from_secs(48));
        assert_eq!(begun.iter().filter(|one| is_advertisement(one)).count(), 3, "{begun:?}");
    }
}

#[test]
fn nobody_advertises_unless_told_to() {
    let mut r = router(false, None);
    assert_eq!(give(&mut r, 1, solicitation(Ipv6Addr::UNSPECIFIED)), []);
    assert_eq!(r.control().unheard().get(Unheard::Icmp), 1);
    assert_eq!((r.poll_timeout(), r.neighbor_counts().0), (None, 0));
}

#[test]
fn an_address_is_looked_for_before_it_is_used() {
    let mut r = router(true, Some(USUAL));
    let link_local = nd::link_local(OUR_MAC);
    // Nobody is answered before, and nothing is sent but the questions.
    assert_eq!(give(&mut r, 1, HOST6.ask(OURS6, None)), []);
    assert_eq!(give(&mut r, 2, solicitation(Ipv6Addr::UNSPECIFIED)), []);
    let ping = discovery::packet(HOST6.address, OURS6, 64, &discovery::request(1));
    let echo = || {
        let mut bytes = vec![0; wire::ethernet::HEADER_LEN];
        wire::ethernet::Repr::untagged(OUR_MAC, HOST_MAC, wire::ethernet::EtherType::IPV6).emit(&mut bytes);
        bytes.extend_from_slice(&ping);
        Frame::from_bytes(&bytes)
    };
    assert_eq!(give(&mut r, 3, echo()), []);
    assert_eq!(r.drops().get(DropReason::NotForUs), 1);
    let (asked, told) = pass(&mut r, at(1));
    let questions: Vec<_> = asked.iter().map(|one| (one.2, one.3, one.5)).collect();
    let question = |target| (Ipv6Addr::UNSPECIFIED, nd::solicited_node(target), Some(target));
    assert_eq!((questions, told), (vec![question(link_local), question(OURS6)], vec![]));
    let free = asked[0].0 + Span::from_secs(1);
    assert_eq!(give(&mut r, asked[0].0.0 + 1, HOST6.ask(OURS6, None)), [], "still not its own");
    let (rest, told) = pass(&mut r, free + Span::from_secs(17));
    assert!(told.is_empty() && rest.iter().all(is_advertisement) && !rest.is_empty(), "{rest:?}");
    let now = free + Span::from_secs(17);
    assert_eq!(give(&mut r, now.0, HOST6.ask(OURS6, None)).len(), 1);
    assert_eq!(give(&mut r, now.0, echo()).len(), 1);
    // Who looks for it later is told that it is taken, and nothing comes of who claims it.
    assert_eq!(give(&mut r, now.0, TWIN.probe(OURS6)).len(), 1);
    assert_eq!(give(&mut r, now.0, TWIN.answer(OURS6, None)), []);
    assert_eq!(give(&mut r, now.0, echo()).len(), 1);
}

/// Somebody has it, somebody looks for it at the same time, or somebody has the link-local one.
#[test]
fn an_address_that_is_taken_is_not_used_until_the_port_comes_up_again() {
    let link_local = nd::link_local(OUR_MAC);
    let probe = TWIN.probe(OURS6);
    let of_link = Own { address: link_local, ..TWIN };
    for (taken, frame) in
        [(OURS6, TWIN.answer(OURS6, None)), (OURS6, probe), (link_local, of_link.answer(link_local, None))]
    {
        let mut r = router(true, Some(USUAL));
        let (asked, _) = pass(&mut r, at(1));
        let now = asked[0].0 + Span::from_ms(500);
        let mut frame = frame;
        let mut verdict = [Verdict::Punt];
        r.forward_batch(now, P, core::slice::from_mut(&mut frame), &mut verdict);
        r.handle_packet(now, P, frame);
        let event = Event::AddressTaken { port: 0, address: taken };
        assert_eq!(r.poll_output(), Some(Output::Event(event)));
        let (rest, told) = pass(&mut r, at(1_000));
        assert_eq!((rest.len(), told.len(), r.poll_timeout()), (0, 0, None));
        assert_eq!(give(&mut r, at(1_001).0, HOST6.ask(OURS6, None)), []);
        r.send_echo6(at(1_001), HOST6.address, 64, 1);
        assert!(r.poll_output().is_none(), "it sends nothing from there");
        r.handle_command(at(1_002), Command::PortDown(P));
        r.handle_command(at(1_003), Command::PortUp(P));
        while r.poll_output().is_some() {}
        let (again, _) = pass(&mut r, at(1_030));
        assert!(again.iter().any(is_advertisement), "{again:?}");
        assert_eq!(give(&mut r, at(1_031).0, HOST6.ask(OURS6, None)).len(), 1);
    }
}
