//! Sessions with several receivers (RFC 8562): what the head says and when, and what tails make of it.

use super::super::section::{BfdAuthKind, BfdAuthSpec, BfdSpec};
use super::super::states::{HeadState, TailState};
use super::super::{Bfd, Event};
use super::speaker::{Node, down};
use crate::inquiry::{Ends, FecMapping, Findings, GivenBy};
use crate::protocol::{Arrival, Change, IpArrival, LspArrival, Output, Over};
use crate::services::{Pace, WatchedLsp, WatchedPath, Watcher, Way};
use base::plane::{LabelStack, Leg};
use base::{Label, PortId, ProtocolId, Span, Time};
use core::net::Ipv4Addr;
use wire::bfd::{Diag, PORT, Repr, State};

const CLIENT: ProtocolId = ProtocolId::new("client");
const OWN: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const HEAD: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 9);

fn lsp() -> WatchedPath {
    let way = Way::Lsp(WatchedLsp::LdpP2mp { root: OWN, lsp_id: 5 });
    WatchedPath { way, local: OWN.into(), remote: OWN.into() }
}

fn pace(ms: i64, multiplier: u8) -> Pace {
    Pace { interval: Some(Span::from_ms(ms)), multiplier: Some(multiplier), by: Watcher::Bfd }
}

/// Wants the LSP watched, or not any more.
fn watch(node: &mut Node, wanted: Option<Pace>) -> Vec<(Time, Repr)> {
    match wanted {
        Some(pace) => node.services.liveness.watch(CLIENT, lsp(), pace),
        None => node.services.liveness.unwatch(CLIENT, lsp()),
    }
    while node.services.liveness.poll_asked().is_some() {}
    let outputs = node.call(|bfd, now, context| bfd.handle_change(now, context, &Change::Watching(lsp())));
    sent(node, outputs)
}

/// What leaves, when the node says that there are two ways: the same by both.
fn sent(node: &mut Node, outputs: Vec<Output>) -> Vec<(Time, Repr)> {
    let mut all = Vec::new();
    for output in outputs {
        let Output::Inquire(inquiry) = output else { continue };
        assert!(inquiry.fecs[0].has_several_ends(), "{inquiry:?}");
        let leg = |port: u16, label: u32| Leg {
            labels: LabelStack::one(Label::truncate(label)),
            port: PortId(port),
            gateway: Ipv4Addr::new(10, 0, port as u8, 2).into(),
        };
        let ends = Ends { given: Vec::new(), behind: None };
        let bound = FecMapping::several(GivenBy::Ldp, ends, false, vec![leg(0, 100), leg(1, 200)]);
        let findings = Findings { number: inquiry.number, labels: Vec::new(), fecs: vec![Some(bound)] };
        let copies = node.call(|bfd, now, context| bfd.handle_findings(now, context, findings));
        let [Output::Lsp(first), Output::Lsp(second)] = &copies[..] else { panic!("{copies:?}") };
        assert_eq!((first.bytes.clone(), first.dst, first.ttl), (second.bytes.clone(), second.dst, 1));
        assert_eq!([first.stack[0] >> 12, second.stack[0] >> 12], [100, 200]);
        assert!(matches!(first.over, Over::Udp { dst: PORT, .. }) && first.dst.is_loopback());
        all.push((node.time(), Repr::parse(&first.bytes).expect("a packet")));
    }
    all
}

/// Runs, and gathers what leaves.
fn run(node: &mut Node, span: Span) -> Vec<(Time, Repr)> {
    let end = node.time() + span;
    let mut all = Vec::new();
    while let Some(due) = node.bfd.poll_timeout().filter(|due| *due <= end) {
        let outputs = node.run(due - node.time());
        all.extend(sent(node, outputs));
    }
    node.run(end - node.time());
    all
}

fn gaps(packets: &[(Time, Repr)]) -> Vec<i64> {
    packets.windows(2).map(|pair| (pair[1].0 - pair[0].0).0 / Span::from_ms(1).0).collect()
}

/// RFC 8562, 5.4.2, 5.7, 5.9 and 5.13.3.
#[test]
fn a_head_says_down_and_then_up() {
    let mut node = Node::new(&BfdSpec::default());
    let mut packets = watch(&mut node, Some(pace(100, 3)));
    packets.extend(run(&mut node, Span::from_secs(5)));
    let (downs, ups): (Vec<_>, Vec<_>) =
        packets.into_iter().partition(|(_, packet)| packet.state == State::Down);
    // Down for three times a second, since it is not up (RFC 5880, 6.8.3).
    assert!((3..=5).contains(&downs.len()) && downs.last().expect("one").0 < Time(3_000_000_000_000));
    assert!(gaps(&downs).iter().all(|gap| (750..=1000).contains(gap)), "{:?}", gaps(&downs));
    assert_eq!(ups[0].0, Time(3_000_000_000_000));
    assert!(gaps(&ups).iter().all(|gap| (74..=100).contains(gap)), "{:?}", gaps(&ups));
    let number = downs[0].1.my_discriminator;
    for (_, packet) in downs.iter().chain(&ups) {
        assert!(packet.multipoint && packet.demand && !packet.is_final, "{packet:?}");
        assert_eq!((packet.my_discriminator, packet.your_discriminator), (number, 0));
        assert_eq!((packet.required_min_rx_us, packet.required_min_echo_rx_us), (0, 0));
        assert_eq!(packet.detect_mult, 3);
    }
    assert_eq!((downs[0].1.desired_min_tx_us, ups[0].1.desired_min_tx_us), (1_000_000, 100_000));
    assert_eq!(ups[0].1.state, State::Up);
}

/// RFC 8562, 5.10: a longer interval is said with the P bit for long enough before it is kept to, a shorter one at
/// once.
#[test]
fn a_longer_interval_is_said_before_it_is_kept_to() {
    let mut node = Node::new(&BfdSpec::default());
    watch(&mut node, Some(pace(100, 3)));
    run(&mut node, Span::from_secs(5));
    let mut packets = watch(&mut node, Some(pace(400, 3)));
    packets.extend(run(&mut node, Span::from_secs(4)));
    let slow = packets.windows(2).position(|pair| (pair[1].0 - pair[0].0) > Span::from_ms(110));
    let slow = slow.expect("longer gaps");
    assert!(slow >= 3, "{:?}", gaps(&packets));
    for (place, (_, packet)) in packets.iter().enumerate().take(slow) {
        assert!(packet.poll && packet.desired_min_tx_us == 400_000, "{place}: {packet:?}");
    }
    assert!(gaps(&packets)[slow..].iter().all(|gap| (299..=400).contains(gap)), "{:?}", gaps(&packets));
    assert!(!packets.last().expect("one").1.poll);
    let packets = watch(&mut node, Some(pace(50, 3)));
    assert_eq!(packets.iter().map(|(_, packet)| packet.desired_min_tx_us).collect::<Vec<_>>(), [50_000]);
    assert!(packets[0].1.poll);
}

/// RFC 8562, 5.9 and 5.12.1.
#[test]
fn a_head_that_is_not_wanted_says_so_and_ends() {
    let mut node = Node::new(&BfdSpec::default());
    watch(&mut node, Some(pace(100, 3)));
    run(&mut node, Span::from_secs(5));
    let mut packets = watch(&mut node, None);
    packets.extend(run(&mut node, Span::from_secs(4)));
    // For three times a second, since it is not up (RFC 5880, 6.8.3).
    assert!(gaps(&packets).iter().all(|gap| (750..=1000).contains(gap)), "{:?}", gaps(&packets));
    assert!((3..=5).contains(&packets.len()), "{packets:?}");
    let is_last = |packet: &Repr| (packet.state, packet.diag) == (State::AdminDown, Diag::ADMIN_DOWN);
    assert!(packets.iter().all(|(_, packet)| is_last(packet)) && packets[0].1.poll);
    assert_eq!((node.bfd.poll_timeout(), node.bfd.state_count()), (None, 0));
    // Wanted again it is another session.
    let again = watch(&mut node, Some(pace(100, 3)));
    assert_ne!(again[0].1.my_discriminator, packets[0].1.my_discriminator);
    assert_eq!(node.bfd().multipoint.heads().next().map(|head| head.state), Some(HeadState::Down));
}

/// A packet of a head.
fn packet(number: u32, state: State) -> Repr {
    Repr {
        state,
        my_discriminator: number,
        your_discriminator: 0,
        multipoint: true,
        demand: true,
        detect_mult: 3,
        desired_min_tx_us: 100_000,
        required_min_rx_us: 0,
        ..down()
    }
}

/// What a tail tells its user of a packet on an LSP.
fn hear(node: &mut Node, labels: &[u32], bytes: &[u8]) -> Vec<String> {
    let over = Over::Udp { src: 50_000, dst: PORT };
    let dst = Ipv4Addr::new(127, 8, 9, 10);
    let ip = IpArrival { port: PortId(1), src: HEAD, dst, ttl: 1, router_alert: false, over };
    let stack: Vec<u32> = labels.iter().map(|label| label << 12 | 1 << 8 | 255).collect();
    let arrival = Arrival::Lsp(LspArrival::new(ip, &stack).expect("few labels"));
    let outputs = node.call(|bfd, now, context| bfd.handle_message(now, context, &arrival, bytes));
    told(outputs)
}

fn told(outputs: Vec<Output>) -> Vec<String> {
    let of = |output: Output| match output {
        Output::Event(base::Event::Protocol(event)) => match event.get::<Event>().expect("an event of BFD") {
            Event::BfdUp { lsp, .. } => format!("up {}", lsp.as_deref().unwrap_or_default()),
            Event::BfdDown { lsp, why, .. } => {
                format!("down {}: {why}", lsp.as_deref().unwrap_or_default())
            }
        },
        other => panic!("a tail says nothing: {other:?}"),
    };
    outputs.into_iter().map(of).collect()
}

fn states(bfd: &Bfd) -> Vec<TailState> {
    bfd.multipoint.tails().map(|tail| tail.state).collect()
}

/// RFC 8562, 5.5, 5.10, 5.11 and 5.13.1: a tail is up while packets come that say so, and sends none.
#[test]
fn a_tail_hears_the_head_and_says_nothing() {
    let mut node = Node::new(&BfdSpec::default());
    let none: [&str; 0] = [];
    assert_eq!(hear(&mut node, &[17], &packet(7, State::Down).emit()), none);
    assert_eq!(states(node.bfd()), [TailState::Down]);
    let poll = Repr { poll: true, ..packet(7, State::Up) };
    assert_eq!(hear(&mut node, &[17], &poll.emit()), ["up P2MP, label 17"], "and no answer");
    node.run(Span::from_ms(299));
    assert_eq!(hear(&mut node, &[17], &packet(7, State::Up).emit()), none);
    assert_eq!(node.bfd.poll_timeout(), Some(Time(599_000_000_000)), "three times 100 ms later");
    assert_eq!(told(node.run(Span::from_ms(299))), none);
    let late = "down P2MP, label 17: control detection time expired";
    assert_eq!(told(node.run(Span::from_ms(1))), [late]);
    hear(&mut node, &[17], &packet(7, State::Up).emit());
    for state in [State::Down, State::AdminDown] {
        let gone = "down P2MP, label 17: neighbor signaled session down";
        assert_eq!(hear(&mut node, &[17], &packet(7, state).emit()), [gone]);
        hear(&mut node, &[17], &packet(7, State::Up).emit());
    }
    // Without packets it is forgotten in the end.
    node.run(Span::from_secs(100));
    assert_eq!((node.bfd.poll_timeout(), node.bfd.state_count()), (None, 0));
    assert!(node.discards().is_empty());
}

/// RFC 8562, 5.7 and 5.13.2: by address, number and label. What is none of a multipoint path makes no session (8).
#[test]
fn tails_are_told_apart_and_others_are_discarded() {
    let mut node = Node::new(&BfdSpec::default());
    for (label, number) in [(17, 7), (18, 7), (17, 8), (17, 7)] {
        hear(&mut node, &[label], &packet(number, State::Up).emit());
    }
    // A bypass that ends here has brought the same LSP.
    for bypass in [0, 99] {
        hear(&mut node, &[bypass, 17], &packet(7, State::Up).emit());
    }
    assert_eq!(states(node.bfd()), [TailState::Up; 3]);
    hear(&mut node, &[], &packet(9, State::Up).emit());
    hear(&mut node, &[0], &packet(9, State::Up).emit());
    let over = Over::Udp { src: 50_000, dst: PORT };
    let dst = Ipv4Addr::new(10, 0, 1, 1);
    let ip = IpArrival { port: PortId(1), src: HEAD, dst, ttl: 255, router_alert: false, over };
    let bytes = packet(9, State::Up).emit();
    node.call(|bfd, now, context| bfd.handle_message(now, context, &Arrival::Ip(ip), &bytes));
    assert_eq!(node.discards(), [("multipoint", 3)]);
    hear(&mut node, &[17], &Repr { your_discriminator: 3, ..packet(9, State::Up) }.emit());
    hear(&mut node, &[17], &packet(9, State::Init).emit());
    assert_eq!(node.discards(), [("malformed", 2), ("multipoint", 3)]);
    assert_eq!(states(node.bfd()).len(), 3);
}

/// RFC 8562, 8: there is an end of sessions, and no session without the key.
#[test]
fn sessions_that_nobody_should_have_are_not_made() {
    let mut node = Node::new(&BfdSpec::default());
    for number in 1..=5000 {
        hear(&mut node, &[17], &packet(number, State::Up).emit());
    }
    assert_eq!((states(node.bfd()).len(), node.discards()), (4096, vec![("limit", 904)]));
    let key = Some("secret".into());
    let auth = BfdAuthSpec { kind: BfdAuthKind::MeticulousSha1, key, ..BfdAuthSpec::default() };
    let spec = BfdSpec { authentication: auth, ..BfdSpec::default() };
    let mut node = Node::new(&spec);
    hear(&mut node, &[17], &packet(7, State::Up).emit());
    assert_eq!((states(node.bfd()).len(), node.discards()), (0, vec![("unauthenticated", 1)]));
    // What a head with the key says is taken, once.
    let mut head = Node::new(&spec);
    let mut said = watch(&mut head, Some(pace(100, 3)));
    said.extend(run(&mut head, Span::from_secs(4)));
    let told: Vec<_> = said.iter().flat_map(|(_, packet)| hear(&mut node, &[17], &packet.emit())).collect();
    assert_eq!(told, ["up P2MP, label 17"]);
    hear(&mut node, &[17], &said.last().expect("a packet").1.emit());
    assert_eq!(node.discards(), [("replayed", 1), ("unauthenticated", 1)]);
    let mut shut = Node::new(&BfdSpec { shutdown: true, ..BfdSpec::default() });
    hear(&mut shut, &[17], &packet(7, State::Up).emit());
    assert_eq!((states(shut.bfd()).len(), shut.discards()), (0, vec![("no-session", 1)]));
    assert!(watch(&mut shut, Some(pace(100, 3))).is_empty());
}
