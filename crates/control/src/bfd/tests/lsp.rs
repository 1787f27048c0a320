//! Sessions over LSPs, at the far end (RFC 5884, RFC 7726).

use super::super::section::BfdSpec;
use super::speaker::{Node, down};
use crate::inquiry::{Fec, FecMapping, Findings, GivenBy};
use crate::protocol::{Arrival, Change, Ip6Arrival, IpArrival, LspArrival, Output, Over};
use crate::services::bootstrap::Offer;
use base::{PortId, Span};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wire::bfd::{PORT, Repr, State};

const HEAD: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 9);
const FEC: Fec = Fec::LdpIpv4 { prefix: Ipv4Addr::new(192, 0, 2, 1), length: 32 };

/// LSP ping has found that an LSP ends here, whose head end has a session of this number.
fn offer(node: &mut Node, discriminator: u32) {
    node.services.bootstrap.offer(Offer { fec: FEC, from: HEAD.into(), discriminator });
    node.call(|bfd, now, context| bfd.handle_change(now, context, &Change::Offered));
}

/// A packet on the LSP, from a source, by a number to the session of a number.
fn hear(node: &mut Node, src: Ipv4Addr, (from, to): (u32, u32), state: State) -> Vec<Output> {
    let over = Over::Udp { src: 50_000, dst: PORT };
    let dst = Ipv4Addr::new(127, 8, 9, 10);
    let ip = IpArrival { port: PortId(1), src, dst, ttl: 1, router_alert: false, over };
    let arrival = Arrival::Lsp(LspArrival::new(ip, &[]).expect("no labels"));
    let packet = Repr { state, my_discriminator: from, your_discriminator: to, ..down() };
    node.call(|bfd, now, context| bfd.handle_message(now, context, &arrival, &packet.emit()))
}

fn up(node: &mut Node) -> u32 {
    offer(node, 7);
    let number = node.session().discriminator;
    hear(node, HEAD, (7, number), State::Init);
    assert_eq!(node.session().state.said(), State::Up);
    number
}

#[test]
fn each_number_of_a_head_end_has_a_session() {
    let mut node = Node::new(&Default::default());
    for discriminator in [7, 8, 7, 0] {
        offer(&mut node, discriminator);
    }
    let sessions: Vec<_> = node.bfd().sessions().collect();
    assert_eq!(sessions.len(), 2, "what is said twice is one wish, and 0 is no number");
    // It speaks first, with the number of the head end (RFC 5884, 6).
    assert!(sessions.iter().all(|session| session.counts.sent == 1 && session.remote.discriminator >= 7));
    let number = sessions[0].discriminator;
    hear(&mut node, HEAD, (7, 0), State::Down);
    hear(&mut node, HEAD, (7, number ^ 1), State::Down);
    assert_eq!(node.discards(), [("no-session", 2)], "sessions are told by their number alone");
    // Nobody answers, and LSP ping does not ask again.
    node.run(Span::from_secs(30));
    assert_eq!((node.bfd().sessions().count(), node.bfd.poll_timeout()), (0, None));
}

/// RFC 7726, 2.1, has requests dropped whose sessions are not allowed: there are none. An end that is shut down has the
/// session and says so by it (RFC 5880, 6.8.16).
#[test]
fn an_end_that_is_shut_down_says_so_to_the_head_end() {
    let mut node = Node::new(&BfdSpec { shutdown: true, ..BfdSpec::default() });
    offer(&mut node, 7);
    let session = node.session();
    assert_eq!((session.state.said(), session.counts.sent), (State::AdminDown, 1));
    assert_eq!(session.remote.discriminator, 7);
    let number = session.discriminator;
    hear(&mut node, HEAD, (7, number), State::Down);
    assert_eq!(node.session().state.said(), State::AdminDown);
    // Nobody asks again: it is forgotten.
    node.run(Span::from_secs(30));
    assert_eq!((node.bfd().sessions().count(), node.bfd.poll_timeout()), (0, None));
}

#[test]
fn who_the_other_end_is_does_not_change_while_the_session_is_up() {
    let mut node = Node::new(&Default::default());
    let number = up(&mut node);
    hear(&mut node, HEAD, (9, number), State::Down);
    hear(&mut node, Ipv4Addr::new(192, 0, 2, 8), (7, number), State::Down);
    assert_eq!(node.discards(), [("other-end", 2)]);
    assert_eq!(node.session().state.said(), State::Up);
    // Somebody else was believed to be the other end, until the session is down for want of packets.
    while node.session().state.said() == State::Up {
        node.run(Span::from_ms(100));
    }
    hear(&mut node, HEAD, (9, number), State::Init);
    assert_eq!((node.session().state.said(), node.session().remote.discriminator), (State::Up, 9));
}

/// RFC 5884, 7: the far end speaks by the family of the request, and hears packets to ::ffff:127/104.
#[test]
fn a_session_over_an_lsp_may_be_of_ipv6() {
    let (head, own) =
        (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 9), Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1));
    let fec = Fec::BgpIpv6 { prefix: Ipv6Addr::new(0x2001, 0xdb8, 7, 0, 0, 0, 0, 0), length: 48 };
    let wanted = |node: &mut Node| {
        node.services.bootstrap.offer(Offer { fec: fec.clone(), from: head.into(), discriminator: 7 });
        node.call(|bfd, now, context| bfd.handle_change(now, context, &Change::Offered));
    };
    let mut node = Node::new(&Default::default());
    wanted(&mut node);
    assert_eq!(node.bfd().sessions().count(), 0, "without an IPv6 address it can't answer");
    node.services.interfaces = node.services.interfaces.clone().with_loopback6(own);
    wanted(&mut node);
    let session = node.session();
    assert_eq!((session.path.local, session.path.remote), (IpAddr::V6(own), IpAddr::V6(head)));
    let number = session.discriminator;
    let hear = |node: &mut Node, src| {
        let over = Over::Udp { src: 50_000, dst: PORT };
        let dst = Ipv4Addr::new(127, 8, 9, 10).to_ipv6_mapped();
        let ip = Ip6Arrival { port: PortId(1), src, dst, hop_limit: 1, router_alert: true, over };
        let arrival = Arrival::Lsp6(LspArrival::new(ip, &[]).expect("no labels"));
        let packet = Repr { state: State::Init, my_discriminator: 7, your_discriminator: number, ..down() };
        node.call(|bfd, now, context| bfd.handle_message(now, context, &arrival, &packet.emit()))
    };
    hear(&mut node, head);
    assert_eq!(node.session().state.said(), State::Up);
    hear(&mut node, own);
    assert_eq!(node.discards(), [("other-end", 1)], "the source does not change while the session is up");
}

#[test]
fn the_far_end_forgets_a_session_that_was_up() {
    let mut node = Node::new(&Default::default());
    up(&mut node);
    let mut seen = Vec::new();
    for _ in 0..200 {
        node.run(Span::from_ms(100));
        seen.extend(node.bfd().sessions().next().map(|one| (one.state.said(), one.counts.sent)));
    }
    let sent = |state| seen.iter().filter(|(said, _)| *said == state).map(|(_, sent)| *sent).max();
    let (Some(up), Some(down)) = (sent(State::Up), sent(State::Down)) else { panic!("{seen:?}") };
    assert!(down >= up + 3, "the head end is told by its number, as often as it may miss packets: {seen:?}");
    assert!(seen.is_sorted_by_key(|(_, sent)| sent) && seen.last().is_some_and(|last| last.0 == State::Down));
    assert_eq!((node.bfd().sessions().count(), node.bfd.poll_timeout()), (0, None));
}

#[test]
fn a_session_goes_with_its_fec() {
    let mut node = Node::new(&Default::default());
    node.services.bootstrap.offer(Offer { fec: FEC, from: HEAD.into(), discriminator: 7 });
    let asked = node.call(|bfd, now, context| bfd.handle_change(now, context, &Change::Offered));
    let [Output::Inquire(inquiry)] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!(inquiry.fecs, [FEC]);
    let findings = |fec| Findings { number: inquiry.number, labels: Vec::new(), fecs: vec![fec] };
    let known = FecMapping::egress(GivenBy::Ldp, None);
    node.call(|bfd, now, context| bfd.handle_findings(now, context, findings(Some(known))));
    assert_eq!(node.bfd().sessions().count(), 1);
    let later = node.run(Span::from_secs(2));
    let inquiry = later.iter().find_map(|one| if let Output::Inquire(one) = one { Some(one) } else { None });
    let number = inquiry.expect("a packet that is to leave").number;
    let gone = Findings { number, labels: Vec::new(), fecs: vec![None] };
    node.call(|bfd, now, context| bfd.handle_findings(now, context, gone));
    assert_eq!((node.bfd().sessions().count(), node.bfd.poll_timeout()), (0, None));
}
