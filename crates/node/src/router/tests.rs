//! A router's port towards hosts: ARP, broadcasts, ICMP and its limits.

use super::*;
use crate::neighbors::arp_frame;
use base::plane::{LabelStack, NextHop, Nhlfe, Prefix, TcSource, TtlModel};
use base::{Label, MacAddr, Streams};
use core::net::Ipv4Addr;
use std::sync::Arc;
use wire::{arp, ethernet, icmp, ipv4};

const S: u64 = 1_000_000_000_000;
pub(super) const P: PortId = PortId(0);
pub(super) const OURS: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 1);
pub(super) const OUR_MAC: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
pub(super) const HOST: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 2);
pub(super) const HOST_MAC: MacAddr = MacAddr([2, 0, 0, 0, 0, 2]);
const ALL: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 255);

/// A router with hosts on port 0 and another network on port 1.
fn router() -> Router {
    router_with(vec![Arc::new(control::rsvp::Config::default())])
}

/// The same with other protocols.
pub(super) fn router_with(protocols: Vec<Arc<dyn control::Setup>>) -> Router {
    Router::new(config_with(protocols))
}

pub(super) fn config_with(protocols: Vec<Arc<dyn control::Setup>>) -> RouterConfig {
    let other = PortSetup::new(MacAddr([2, 0, 0, 0, 1, 1]), Ipv4Addr::new(10, 2, 0, 1), 24);
    let ports = vec![PortSetup::new(OUR_MAC, OURS, 24), other];
    RouterConfig::ideal("r".into(), Ipv4Addr::new(192, 0, 2, 1), ports, protocols, Streams::new(1))
}

/// Gives the router a frame and returns what it sends.
pub(super) fn give(router: &mut Router, at: u64, frame: Frame) -> Vec<(PortId, Vec<u8>)> {
    let mut frame = frame;
    let mut verdict = [Verdict::Punt];
    router.forward_batch(Time(at), P, core::slice::from_mut(&mut frame), &mut verdict);
    let mut sent = Vec::new();
    match verdict[0] {
        Verdict::Punt | Verdict::Replicate => router.handle_packet(Time(at), P, frame),
        Verdict::Transmit { port, .. } => sent.push((port, frame.to_vec())),
        Verdict::Drop(_) | Verdict::Consume => {}
    }
    sent.extend(outputs(router));
    let balance = router.balance();
    let accounted = balance.forwarded + balance.delivered + balance.dropped.total() + balance.waiting;
    assert_eq!(balance.received + balance.fragments + balance.copies, accounted, "{balance:?}");
    sent
}

fn outputs(router: &mut Router) -> Vec<(PortId, Vec<u8>)> {
    let mut sent = Vec::new();
    while let Some(output) = router.poll_output() {
        if let Output::Transmit { port, frame, .. } = output {
            sent.push((port, frame.to_vec()));
        }
    }
    sent
}

fn arp(operation: arp::Operation, sender: (MacAddr, Ipv4Addr), target_ip: Ipv4Addr) -> Frame {
    let (sender_mac, sender_ip) = sender;
    let mut frame =
        arp_frame(&arp::Repr { operation, sender_mac, sender_ip, target_mac: MacAddr::default(), target_ip });
    if operation == arp::Operation::REPLY {
        frame.header_mut()[..6].copy_from_slice(&OUR_MAC.0);
    }
    frame
}

pub(super) fn ip(
    to_mac: MacAddr,
    src: Ipv4Addr,
    dst: Ipv4Addr,
    ttl: u8,
    protocol: ipv4::Protocol,
    payload: &[u8],
) -> Frame {
    let repr = ipv4::Repr {
        src,
        dst,
        protocol,
        ttl,
        dscp: base::Dscp::DEFAULT,
        ecn: 0,
        ident: 1,
        dont_fragment: false,
        more_fragments: false,
        fragment_offset: 0,
        payload_len: payload.len() as u16,
        options: ipv4::Options::NONE,
    };
    let mut bytes = vec![0; ethernet::HEADER_LEN + repr.buffer_len()];
    ethernet::Repr::untagged(to_mac, HOST_MAC, ethernet::EtherType::IPV4).emit(&mut bytes);
    repr.emit(&mut bytes[ethernet::HEADER_LEN..]);
    bytes.extend(payload);
    Frame::from_bytes(&bytes)
}

fn ping(to_mac: MacAddr, src: Ipv4Addr, dst: Ipv4Addr, ttl: u8) -> Frame {
    let echo = icmp::Repr::EchoRequest { ident: 7, sequence: 9, data: b"abc" };
    let mut message = vec![0; echo.buffer_len()];
    echo.emit(&mut message);
    ip(to_mac, src, dst, ttl, ipv4::Protocol::ICMP, &message)
}

/// ICMP type, source and destination of frames that hold ICMP.
fn answers(sent: &[(PortId, Vec<u8>)]) -> Vec<(u8, Ipv4Addr, Ipv4Addr)> {
    let of = |(_, bytes): &(PortId, Vec<u8>)| {
        let packet = ipv4::Packet::new_checked(bytes.get(14..)?).ok()?;
        (packet.protocol() == ipv4::Protocol::ICMP).then(|| (packet.payload()[0], packet.src(), packet.dst()))
    };
    sent.iter().filter_map(of).collect()
}

pub(super) fn known(router: &mut Router) {
    give(router, 0, arp(arp::Operation::REQUEST, (HOST_MAC, HOST), OURS));
    assert_eq!(router.neighbor_mac(P, HOST), Some(HOST_MAC));
}

#[test]
fn arp_is_answered_for_the_ports_own_address_only() {
    let mut r = router();
    // A probe for our address (RFC 5227): answered, and nothing is learnt.
    let probe = arp(arp::Operation::REQUEST, (HOST_MAC, Ipv4Addr::UNSPECIFIED), OURS);
    let sent = give(&mut r, 0, probe);
    assert_eq!((sent.len(), r.neighbor_counts().0), (1, 0));
    assert_eq!(
        (&sent[0].1[..6], &sent[0].1[20..22], &sent[0].1[28..32]),
        (&HOST_MAC.0[..], &[0, 2][..], &OURS.octets()[..])
    );
    // No proxy ARP: not for the other port's address, not for the router id, not for other hosts.
    for other in [Ipv4Addr::new(10, 2, 0, 1), Ipv4Addr::new(192, 0, 2, 1), Ipv4Addr::new(10, 1, 0, 9)] {
        assert_eq!(give(&mut r, 0, arp(arp::Operation::REQUEST, (HOST_MAC, HOST), other)), []);
    }
    assert_eq!(r.neighbor_counts().0, 0);
    // Gratuitous ARP makes no entry, but changes one.
    let moved = MacAddr([2, 0, 0, 0, 0, 9]);
    give(&mut r, 0, arp(arp::Operation::REQUEST, (moved, HOST), HOST));
    assert_eq!(r.neighbor_counts().0, 0);
    known(&mut r);
    give(&mut r, 1, arp(arp::Operation::REQUEST, (moved, HOST), HOST));
    assert_eq!(r.neighbor_mac(P, HOST), Some(moved));
    // Neither a group's address nor one of another network is learnt.
    let far = (HOST_MAC, Ipv4Addr::new(172, 16, 0, 1));
    assert_eq!(give(&mut r, 2, arp(arp::Operation::REQUEST, far, OURS)).len(), 1);
    give(&mut r, 2, arp(arp::Operation::REQUEST, (MacAddr::BROADCAST, Ipv4Addr::new(10, 1, 0, 7)), OURS));
    give(&mut r, 2, arp(arp::Operation::REQUEST, (HOST_MAC, ALL), OURS));
    assert_eq!(r.neighbor_counts().0, 1);
}

#[test]
fn the_address_is_defended_now_and_then() {
    let mut r = router();
    let conflict = || arp(arp::Operation::REQUEST, (HOST_MAC, OURS), OURS);
    let sent = give(&mut r, S, conflict());
    assert_eq!(sent.len(), 1);
    assert_eq!(
        (&sent[0].1[..6], &sent[0].1[38..42]),
        (&[0xff; 6][..], &OURS.octets()[..]),
        "an announcement"
    );
    assert_eq!(give(&mut r, 2 * S, conflict()), [], "not twice in ten seconds");
    assert_eq!(give(&mut r, 12 * S, conflict()).len(), 1);
    assert_eq!(r.neighbor_counts().0, 0);
}

#[test]
fn a_neighbour_that_left_is_asked_for_again() {
    let mut r = router();
    known(&mut r);
    let mut probes = 0;
    while let Some(at) = r.poll_timeout().filter(|at| at.0 < 3_000 * S) {
        r.handle_timeout(at);
        probes += outputs(&mut r).iter().filter(|(_, frame)| frame[..6] == HOST_MAC.0).count();
    }
    assert_eq!((probes, r.neighbor_mac(P, HOST)), (3, None));
    // A packet to it waits while everybody is asked, and goes when it is back.
    let other = Ipv4Addr::new(10, 1, 0, 3);
    let sent = give(&mut r, 3_000 * S, ping(OUR_MAC, other, HOST, 64));
    assert_eq!((sent.len(), &sent[0].1[..6]), (1, &[0xff; 6][..]));
    let sent = give(&mut r, 3_000 * S + 1, arp(arp::Operation::REPLY, (HOST_MAC, HOST), OURS));
    assert_eq!(answers(&sent), [(8, other, HOST)]);
}

#[test]
fn pings_are_answered_from_the_address_that_was_pinged() {
    let mut r = router();
    known(&mut r);
    for to in [OURS, Ipv4Addr::new(10, 2, 0, 1), Ipv4Addr::new(192, 0, 2, 1)] {
        assert_eq!(answers(&give(&mut r, 0, ping(OUR_MAC, HOST, to, 1))), [(0, to, HOST)]);
    }
}

#[test]
fn a_checksum_that_a_kernel_left_undone_is_no_bad_one() {
    let mut r = router();
    known(&mut r);
    let mut frame = ping(OUR_MAC, HOST, OURS, 64);
    frame.header_mut()[36..38].fill(0);
    assert_eq!(give(&mut r, 0, frame.clone()), [], "as it is, it is wrong");
    frame.set_offload(Some(base::frame::Offload {
        needs_checksum: true,
        checksum_start: 34,
        checksum_offset: 2,
        ..Default::default()
    }));
    assert_eq!(answers(&give(&mut r, 0, frame)), [(0, OURS, HOST)]);
}

#[test]
fn answers_are_for_those_who_asked() {
    let mut r = router();
    known(&mut r);
    r.handle_command(Time(0), Command::Probe { to: HOST.into(), ttl: 64, sequence: 5 });
    let sent = outputs(&mut r);
    let mut replies = 0;
    for _ in 0..3 {
        let mut bytes = sent[0].1.clone();
        bytes[..6].copy_from_slice(&OUR_MAC.0);
        let (src, dst) = ([192, 0, 2, 1], HOST.octets());
        bytes[26..34].copy_from_slice(&[dst, src].concat());
        bytes[34] = 0;
        icmp::Packet::new_unchecked(&mut bytes[34..]).fill_checksum();
        let mut verdict = [Verdict::Punt];
        let mut frame = Frame::from_bytes(&bytes);
        r.forward_batch(Time(1), P, core::slice::from_mut(&mut frame), &mut verdict);
        r.handle_packet(Time(1), P, frame);
        while let Some(output) = r.poll_output() {
            replies +=
                usize::from(matches!(output, Output::Event(base::Event::ProbeReply { sequence: 5, .. })));
        }
    }
    assert_eq!((replies, r.balance().dropped.get(DropReason::NoListener)), (1, 2));
}

#[test]
fn broadcasts_end_here_and_are_not_answered() {
    let mut r = router();
    known(&mut r);
    let everybody = [
        ALL,
        Ipv4Addr::new(10, 1, 0, 0),
        Ipv4Addr::BROADCAST,
        Ipv4Addr::new(224, 0, 0, 1),
        Ipv4Addr::new(10, 2, 0, 255),
    ];
    for to in everybody {
        for mac in [OUR_MAC, MacAddr::BROADCAST] {
            assert_eq!(give(&mut r, 0, ping(mac, HOST, to, 64)), [], "{to}");
            assert_eq!(give(&mut r, 0, ip(mac, HOST, to, 1, ipv4::Protocol::UDP, &[0; 8])), [], "{to}");
        }
    }
    // What came to everybody on the link is not forwarded, and no error is sent about it.
    assert_eq!(give(&mut r, 0, ping(MacAddr::BROADCAST, HOST, Ipv4Addr::new(10, 2, 0, 7), 64)), []);
    // Nor about what comes from no one host.
    let sources = [
        ALL,
        OURS,
        Ipv4Addr::new(0, 1, 2, 3),
        Ipv4Addr::LOCALHOST,
        Ipv4Addr::new(224, 0, 0, 5),
        Ipv4Addr::new(250, 0, 0, 1),
    ];
    for src in sources {
        let nowhere = Ipv4Addr::new(203, 0, 113, 1);
        assert_eq!(give(&mut r, 0, ping(OUR_MAC, src, nowhere, 1)), [], "{src}");
        assert_eq!(give(&mut r, 0, ip(OUR_MAC, src, OURS, 9, ipv4::Protocol::UDP, &[0; 8])), [], "{src}");
    }
    assert_eq!(r.neighbor_counts(), (1, 0));
}

/// RFC 1812, 5.3.7, as RFC 8029, 2.1 and 5, demands: packets to 127/8 are neither forwarded nor answered, but for those
/// that test LSPs.
#[test]
fn packets_to_the_loopback_network_go_nowhere() {
    let mut r = router();
    known(&mut r);
    let everywhere = Prefix::new(Ipv4Addr::UNSPECIFIED, 0);
    let next_hop = NextHop::Via { port: PortId(1), gateway: Ipv4Addr::new(10, 2, 0, 7).into() };
    r.write(Time::ZERO, vec![TableOp::RouteSet { prefix: everywhere, next_hop }]);
    for to in [Ipv4Addr::LOCALHOST, Ipv4Addr::new(127, 8, 9, 10)] {
        assert_eq!(give(&mut r, 0, ping(OUR_MAC, HOST, to, 64)), [], "{to}");
        assert_eq!(give(&mut r, 0, ip(OUR_MAC, HOST, to, 9, ipv4::Protocol::UDP, &[0; 8])), [], "{to}");
    }
    assert_eq!(r.balance().dropped.get(DropReason::Malformed), 4);
}

#[test]
fn errors_are_limited_and_say_so() {
    let mut r = router();
    known(&mut r);
    let expired = || ping(OUR_MAC, HOST, Ipv4Addr::new(10, 2, 0, 7), 1);
    let sent =
        |r: &mut Router, at: u64| (0..5_000).map(|_| answers(&give(r, at, expired())).len()).sum::<usize>();
    assert_eq!(sent(&mut r, S), 1_000);
    assert_eq!(sent(&mut r, S + S / 2), 500);
    assert_eq!(
        answers(&give(&mut r, 3 * S, expired())),
        [(11, OURS, HOST)],
        "from the address that it came in by"
    );
    let (balance, all) = (r.balance(), r.drops());
    assert_eq!(balance.dropped.get(DropReason::TtlExpired), 10_001);
    assert_eq!(all.get(DropReason::RateLimited), 10_000 - 1_500);
    assert_eq!(balance.dropped.get(DropReason::RateLimited), 0, "the errors were, not the packets");
}

#[test]
fn a_narrow_link_within_an_lsp_is_reported_to_the_host() {
    let mut r = router();
    known(&mut r);
    let gateway = Ipv4Addr::new(10, 2, 0, 2);
    let nhlfe = Nhlfe {
        push: LabelStack::one(Label::truncate(77)),
        next_hop: NextHop::Via { port: PortId(1), gateway: gateway.into() },
        ttl: TtlModel::Uniform,
        tc: TcSource::Copy,
    };
    let mac = MacAddr([2, 0, 0, 0, 1, 2]);
    let fec = base::plane::Fec::Prefix(Prefix::new(Ipv4Addr::new(203, 0, 113, 0), 24));
    let known = TableOp::AdjacencySet { port: PortId(1), gateway: gateway.into(), mac };
    r.write(Time(0), vec![known, TableOp::FtnSet { fec, nhlfe }]);
    let mut packet =
        ip(OUR_MAC, HOST, Ipv4Addr::new(203, 0, 113, 1), 64, ipv4::Protocol::TCP, &[0; 1480]).to_vec();
    packet[20] |= 0x40;
    ipv4::Packet::new_unchecked(&mut packet[14..34]).fill_checksum();
    let sent = give(&mut r, 0, Frame::from_bytes(&packet));
    assert_eq!(answers(&sent), [(3, OURS, HOST)]);
    // RFC 1191, 4: the next hop's MTU, here less one label.
    assert_eq!((sent[0].1[35], &sent[0].1[40..42]), (4, &1496u16.to_be_bytes()[..]));
    // One that may be fragmented leaves in two pieces.
    let sent = give(
        &mut r,
        0,
        ip(OUR_MAC, HOST, Ipv4Addr::new(203, 0, 113, 1), 64, ipv4::Protocol::TCP, &[0; 1480]),
    );
    assert_eq!(
        sent.iter().map(|(port, frame)| (*port, frame.len() <= 1514)).collect::<Vec<_>>(),
        [(PortId(1), true); 2]
    );
}

#[test]
fn a_port_that_goes_down_is_one_write_for_all_routes_behind_it() {
    let mut r = router();
    known(&mut r);
    let other = Ipv4Addr::new(10, 1, 0, 3);
    give(&mut r, 0, arp(arp::Operation::REQUEST, (MacAddr([2, 0, 0, 0, 0, 3]), other), OURS));
    for n in 0..1_000u32 {
        let prefix = Prefix::new(Ipv4Addr::from_bits(0x1400_0000 + (n << 8)), 24);
        let next_hop = NextHop::Via { port: P, gateway: HOST.into() };
        r.handle_command(Time(0), Command::RouteSet { prefix, next_hop });
    }
    let done = |r: &Router| r.written().done.iter().sum::<u64>();
    let before = done(&r);
    r.handle_command(Time(1), Command::PortDown(P));
    // One for the thousand routes, and one each for the own address and the network on the link.
    assert_eq!(done(&r) - before, 3);
    let far = ping(MacAddr([2, 0, 0, 0, 1, 1]), Ipv4Addr::new(10, 2, 0, 7), Ipv4Addr::new(20, 0, 5, 1), 64);
    let mut verdict = [Verdict::Punt];
    r.forward_batch(Time(2), PortId(1), core::slice::from_mut(&mut far.clone()), &mut verdict);
    assert_eq!(verdict, [Verdict::Drop(DropReason::PortDown)]);
    // When it comes up again the two neighbours are unknown: they have to be asked for.
    r.handle_command(Time(3), Command::PortUp(P));
    assert_eq!((done(&r) - before, r.written().failed.len()), (8, 0));
    let waits = r.forwarding().classify_punt(PortId(1), &far);
    assert!(matches!(waits, Some(forwarding::PuntReason::NoAdjacency { .. })), "{waits:?}");
}

#[test]
fn copies_are_accounted_for_one_by_one() {
    use base::plane::{GroupId, Leg, Member, ReplicationId};
    let mut r = router();
    known(&mut r);
    let far = Ipv4Addr::new(10, 2, 0, 2);
    let to = |port: u16, gateway: Ipv4Addr, label: u32| Nhlfe {
        push: LabelStack::one(Label::truncate(label)),
        next_hop: NextHop::Via { port: PortId(port), gateway: gateway.into() },
        ttl: TtlModel::Uniform,
        tc: TcSource::Copy,
    };
    let leg = Leg { labels: LabelStack::EMPTY, port: P, gateway: HOST.into() };
    let (group, list) = (GroupId(1), ReplicationId(1));
    let by_group = Nhlfe { next_hop: NextHop::Group(group), ..to(0, HOST, 72) };
    let down = Nhlfe { next_hop: NextHop::Discard, ..to(0, HOST, 73) };
    // A branch that is known, one whose neighbour has to be asked for, one by a group, one that goes nowhere.
    let branches = [to(0, HOST, 70), to(1, far, 71), by_group, down];
    let entry = Nhlfe { push: LabelStack::EMPTY, next_hop: NextHop::Replicate(list), ..down };
    r.write(
        Time(0),
        vec![
            TableOp::GroupSet { group, members: [Member { leg, backup: None }].into() },
            TableOp::ReplicationSet { list, branches: branches.into() },
            TableOp::IlmSet { label: Label::truncate(100), nhlfe: entry },
        ],
    );
    let mut bytes =
        ip(OUR_MAC, HOST, Ipv4Addr::new(203, 0, 113, 1), 64, ipv4::Protocol::UDP, &[0; 8]).to_vec();
    bytes[12..14].copy_from_slice(&[0x88, 0x47]);
    bytes.splice(14..14, (100u32 << 12 | 0x100 | 9).to_be_bytes());
    let received = r.balance().received;
    let sent = give(&mut r, 1, Frame::from_bytes(&bytes));
    let label = |frame: &[u8]| u32::from_be_bytes([0, frame[14], frame[15], frame[16]]) >> 4;
    let labels: Vec<_> =
        sent.iter().filter(|(_, f)| f[12..14] == [0x88, 0x47]).map(|(p, f)| (p.0, label(f))).collect();
    assert_eq!(labels, [(0, 70), (0, 72)]);
    let balance = r.balance();
    assert_eq!((balance.received - received, balance.copies, balance.waiting), (1, 3, 1));
    assert_eq!(balance.dropped.get(DropReason::Discard), 1);
    // The copy that waited leaves when the neighbour answers, by its own branch and no other.
    let mut answer =
        arp(arp::Operation::REPLY, (MacAddr([2, 0, 0, 0, 1, 2]), far), Ipv4Addr::new(10, 2, 0, 1));
    answer.header_mut()[..6].copy_from_slice(&[2, 0, 0, 0, 1, 1]);
    let mut verdict = [Verdict::Punt];
    r.forward_batch(Time(2), PortId(1), core::slice::from_mut(&mut answer), &mut verdict);
    r.handle_packet(Time(2), PortId(1), answer);
    let sent: Vec<_> = outputs(&mut r).iter().map(|(p, f)| (p.0, label(f))).collect();
    assert_eq!((sent, r.balance().waiting, r.balance().copies), (vec![(1, 71)], 0, 3));
}

#[test]
fn full_tables_are_told_and_failures_counted() {
    let mut profile = crate::DeviceProfile::ideal();
    profile.tables.prefixes_max = Some(6);
    let config = RouterConfig { profile, ..router().config().clone() };
    let mut r = Router::new(config);
    let events = |r: &mut Router, n: u8| {
        let prefix = Prefix::new(Ipv4Addr::new(10, 9, n, 0), 24);
        r.handle_command(Time(0), Command::RouteSet { prefix, next_hop: NextHop::Discard });
        let mut full = 0;
        while let Some(output) = r.poll_output() {
            let table = base::plane::Table::Fib;
            full += usize::from(output == Output::Event(base::Event::TableFull { table }));
        }
        full
    };
    // Five prefixes are the router's own.
    assert_eq!([1, 2, 3].map(|n| events(&mut r, n)), [0, 1, 0]);
    assert_eq!(r.written().failed.values().copied().collect::<Vec<_>>(), [2]);
}

#[test]
fn a_restart_brings_back_what_was_configured_and_nothing_else() {
    let mut r = router();
    let prefixes = |r: &Router| r.forwarding().fib().map(|row| row.prefix).collect::<Vec<_>>();
    let begun = prefixes(&r);
    let [configured, taken_back, written] = [1, 2, 3].map(|n| Prefix::new([203, 0, 113, n << 6].into(), 26));
    for prefix in [configured, taken_back] {
        r.handle_command(Time(0), Command::RouteSet { prefix, next_hop: NextHop::Discard });
    }
    r.handle_command(Time(0), Command::RouteRemove { prefix: taken_back });
    // It is in the FIB, as what a protocol has learnt is, and in no configuration.
    r.write(Time(0), vec![TableOp::RouteSet { prefix: written, next_hop: NextHop::Discard }]);
    assert_eq!(prefixes(&r).len(), begun.len() + 2);
    r.handle_command(Time(1), Command::Restart);
    let mut expected = [&begun[..], &[configured]].concat();
    expected.sort();
    let mut found = prefixes(&r);
    found.sort();
    assert_eq!(found, expected);
    // A static route does not take the place of the connected one.
    let network = Prefix::new(OURS, 24);
    r.handle_command(Time(2), Command::RouteSet { prefix: network, next_hop: NextHop::Discard });
    let to_host = r.forwarding().route_local(HOST).map(|nhlfe| nhlfe.next_hop);
    assert!(matches!(to_host, Some(NextHop::Via { port: P, .. })), "{to_host:?}");
}
