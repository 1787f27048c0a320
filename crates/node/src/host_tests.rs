use super::*;

const PORT: PortId = PortId(0);
const MAC: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
const ROUTER: MacAddr = MacAddr([2, 0, 0, 0, 0, 9]);
const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 2);
const GATEWAY: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 1);
const FAR: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 9);

fn host() -> Host {
    Host::new(HostConfig {
        ports: vec![HostPort {
            mac: MAC,
            address: ADDRESS,
            prefix_len: 24,
            gateway: GATEWAY,
            ipv6: None,
            mtu: 1_500,
        }],
        groups: Vec::new(),
    })
}

fn sent(host: &mut Host) -> Vec<Vec<u8>> {
    let outputs = core::iter::from_fn(|| host.poll_output());
    let frames = outputs.filter_map(|output| match output {
        Output::Transmit { frame, .. } => Some(frame.to_vec()),
        Output::Event(_) | Output::Discard { .. } | Output::Copied { .. } | Output::AskQueue { .. } => None,
    });
    frames.collect()
}

fn arp(operation: arp::Operation, target: Ipv4Addr) -> Frame {
    let (sender_mac, sender_ip) = (ROUTER, GATEWAY);
    let target_mac = if operation == arp::Operation::REPLY { MAC } else { MacAddr::default() };
    arp_frame(&arp::Repr { operation, sender_mac, sender_ip, target_mac, target_ip: target })
}

fn ip(dst: Ipv4Addr, message: &icmp::Repr<'_>) -> Frame {
    let mut bytes = vec![0; ethernet::HEADER_LEN];
    ethernet::Repr::untagged(MAC, ROUTER, ethernet::EtherType::IPV4).emit(&mut bytes);
    bytes.extend(echo::packet(FAR, dst, 60, 7, message));
    Frame::from_bytes(&bytes)
}

#[test]
fn answers_pings_through_its_gateway_once_it_knows_it() {
    let mut host = host();
    let ping = icmp::Repr::EchoRequest { ident: 3, sequence: 4, data: b"abc" };
    host.handle_packet(Time(1), PORT, ip(ADDRESS, &ping));
    let asked = sent(&mut host);
    let packet = arp::Packet::new_checked(&asked[0][ethernet::HEADER_LEN..]).expect("ARP");
    assert_eq!((asked.len(), packet.target_ip(), packet.sender_ip()), (1, GATEWAY, ADDRESS));
    host.handle_packet(Time(2), PORT, arp(arp::Operation::REPLY, ADDRESS));
    let answers = sent(&mut host);
    assert_eq!((answers.len(), &answers[0][..6], &answers[0][6..12]), (1, &ROUTER.0[..], &MAC.0[..]));
    let packet = ipv4::Packet::new_checked(&answers[0][ethernet::HEADER_LEN..]).expect("IP");
    assert_eq!((packet.src(), packet.dst()), (ADDRESS, FAR));
    let echo = icmp::Packet::new_checked(packet.payload()).expect("ICMP");
    let reply = icmp::Repr::EchoReply { ident: 3, sequence: 4, data: b"abc" };
    assert_eq!(icmp::Repr::parse(&echo), Ok(reply));
}

#[test]
fn answers_arp_for_itself_only() {
    let mut host = host();
    host.handle_packet(Time(1), PORT, arp(arp::Operation::REQUEST, FAR));
    assert!(sent(&mut host).is_empty());
    host.handle_packet(Time(1), PORT, arp(arp::Operation::REQUEST, ADDRESS));
    assert_eq!(sent(&mut host).len(), 1);
    assert_eq!(host.neighbor_mac(PORT, FAR), Some(ROUTER), "and learns who asked");
}

#[test]
fn pings_and_hears_of_errors() {
    let mut host = host();
    host.handle_packet(Time(1), PORT, arp(arp::Operation::REQUEST, ADDRESS));
    sent(&mut host);
    host.handle_command(Time(2), Command::Probe { to: FAR.into(), ttl: 1, sequence: 77 });
    let ping = sent(&mut host).remove(0);
    let original = &ping[ethernet::HEADER_LEN..];
    let quote = icmp::Quote { original, objects: &[], without_length: false };
    host.handle_packet(Time(3), PORT, ip(ADDRESS, &icmp::Repr::TimeExceeded { code: 0, quote }));
    let Some(Output::Event(event)) = host.poll_output() else { panic!("no event") };
    assert_eq!(
        event,
        Event::ProbeReply { from: FAR.into(), sequence: 77, kind: 11, code: 0, labels: Vec::new() }
    );
}

#[test]
fn what_nobody_wants_is_counted_and_reported() {
    let mut host = host();
    host.handle_packet(Time(1), PORT, arp(arp::Operation::REQUEST, ADDRESS));
    sent(&mut host);
    let ping = icmp::Repr::EchoRequest { ident: 3, sequence: 4, data: b"abc" };
    host.handle_packet(Time(1), PORT, ip(FAR, &ping));
    assert_eq!(host.drops().get(DropReason::NotForUs), 1);
    // A protocol that the host does not speak: the header is summed up again.
    let mut bytes = ip(ADDRESS, &ping).to_vec();
    let mut header = ipv4::Packet::new_unchecked(&mut bytes[ethernet::HEADER_LEN..]);
    header.set_protocol(ipv4::Protocol(89));
    header.fill_checksum();
    host.handle_packet(Time(1), PORT, Frame::from_bytes(&bytes));
    let answers = sent(&mut host);
    let packet = ipv4::Packet::new_checked(&answers[0][ethernet::HEADER_LEN..]).expect("IP");
    let error = icmp::Packet::new_checked(packet.payload()).expect("ICMP");
    assert_eq!((error.icmp_type().0, error.code()), (3, 2));
    for cut in 0..bytes.len() {
        host.handle_packet(Time(1), PORT, Frame::from_bytes(&bytes[..cut]));
    }
}

#[test]
fn gives_up_on_a_gateway_that_never_answers() {
    let mut host = host();
    host.handle_command(Time(0), Command::Probe { to: FAR.into(), ttl: 64, sequence: 1 });
    while let Some(at) = host.poll_timeout() {
        host.handle_timeout(at);
    }
    assert_eq!(sent(&mut host).len(), 3, "asked three times");
    assert_eq!(host.drops().get(DropReason::NoAdjacency), 1);
}

#[test]
fn a_flood_gets_no_flood_of_errors() {
    let mut host = host();
    host.handle_packet(Time(1), PORT, arp(arp::Operation::REQUEST, ADDRESS));
    sent(&mut host);
    let mut frame = ip(ADDRESS, &icmp::Repr::EchoReply { ident: 1, sequence: 1, data: b"" }).to_vec();
    frame[ethernet::HEADER_LEN + 9] = 17;
    ipv4::Packet::new_unchecked(&mut frame[ethernet::HEADER_LEN..]).fill_checksum();
    for _ in 0..2 * ERRORS.1 {
        host.handle_packet(Time(2), PORT, Frame::from_bytes(&frame));
    }
    assert_eq!(sent(&mut host).len(), ERRORS.1 as usize);
}

const GROUP6: Ipv6Addr = Ipv6Addr::new(0xff3e, 0, 0, 0, 0, 0, 0, 1);
const SENDER6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 9, 0, 0, 0, 0, 1);
const ROUTER6: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 9);

/// A host that wants a group of IPv6 from one sender.
fn listener(dad: bool) -> Host {
    let net = |last| Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, last);
    let ipv6 = Some(HostAddress6 { address: net(2), prefix_len: 64, gateway: net(1), dad });
    let port = HostPort { mac: MAC, address: ADDRESS, prefix_len: 24, gateway: GATEWAY, ipv6, mtu: 1_500 };
    let wanted = Membership { group: GROUP6.into(), sources: vec![SENDER6.into()] };
    Host::new(HostConfig { ports: vec![port], groups: vec![wanted] })
}

/// Messages of MLD that a host sends up to a time: when, hop limit, destination, and what they say.
fn listened(host: &mut Host, until: Time) -> Vec<(Time, u8, Ipv6Addr, wire::mld::Repr)> {
    use wire::{ipv6, mld, nd};
    let mut all = Vec::new();
    while let Some(now) = host.poll_timeout().filter(|now| *now <= until) {
        host.handle_timeout(now);
        for frame in sent(host) {
            let packet = ipv6::Packet::new_checked(&frame[ethernet::HEADER_LEN..]).expect("IPv6");
            let upper = ipv6::upper(packet.next_header(), packet.payload()).expect("headers");
            if !upper.router_alert {
                continue;
            }
            assert_eq!(
                (packet.src(), &frame[..6]),
                (nd::link_local(MAC), &nd::group_mac(packet.dst()).0[..])
            );
            let message = mld::Repr::parse(&packet.payload()[upper.offset..], packet.src(), packet.dst());
            all.push((now, packet.hop_limit(), packet.dst(), message.expect("MLD")));
        }
    }
    all
}

/// A query from `src` to all nodes, with a hop limit, and with Router Alert or without.
fn query(src: Ipv6Addr, hop_limit: u8, alert: bool, v2: Option<wire::mld::QueryV2>) -> Frame {
    use wire::{ipv6, mld, nd};
    let dst = nd::ALL_NODES;
    let message = mld::Repr::Query { max_resp_ms: 1_000, group: Ipv6Addr::UNSPECIFIED, v2 }.emit(src, dst);
    let header = ipv6::extension::router_alert(ipv6::Protocol::ICMPV6, mld::ROUTER_ALERT);
    let (next, header) = match alert {
        true => (ipv6::Protocol::HOP_BY_HOP, &header[..]),
        false => (ipv6::Protocol::ICMPV6, &[][..]),
    };
    let payload = [header, &message].concat();
    let ip = ipv6::Repr { hop_limit, ..ipv6::Repr::new(src, dst, next, payload.len() as u16) };
    let mut bytes = vec![0; ethernet::HEADER_LEN + ipv6::HEADER_LEN];
    ethernet::Repr::untagged(nd::group_mac(dst), ROUTER, ethernet::EtherType::IPV6).emit(&mut bytes);
    ip.emit(&mut bytes[ethernet::HEADER_LEN..]);
    bytes.extend(payload);
    Frame::from_bytes(&bytes)
}

/// What the host reports in version 2.
fn report() -> wire::mld::Repr {
    use wire::mld::{Record, RecordKind, Repr};
    let record = Record { kind: RecordKind::IsInclude, group: GROUP6, sources: vec![SENDER6] };
    Repr::ReportV2 { records: vec![record] }
}

#[test]
fn groups_of_ipv6_are_reported_when_there_is_an_address() {
    let twice = |first: Time| {
        [first, first + Span::from_secs(1)].map(|at| (at, 1, wire::mld::ALL_V2_ROUTERS, report())).to_vec()
    };
    let until = Time::ZERO + Span::from_secs(10);
    assert_eq!(listened(&mut listener(false), until), twice(Time::ZERO));
    // RFC 3810, 5.2.13: at once when nobody else has the address (RFC 4862, 5.4).
    let late = listened(&mut listener(true), until);
    assert!(late[0].0 >= Time::ZERO + Span::from_secs(1), "{late:?}");
    assert_eq!(late, twice(late[0].0));
}

#[test]
fn a_host_answers_a_router_of_mld_in_its_version() {
    let at = |s| Time::ZERO + Span::from_secs(s);
    let v2 = || Some(wire::mld::QueryV2 { suppress: false, robustness: 2, interval_s: 125, sources: vec![] });
    let mut host = listener(false);
    listened(&mut host, at(5));
    host.handle_packet(at(10), PORT, query(ROUTER6, 1, true, v2()));
    let answers = listened(&mut host, at(11));
    assert_eq!((answers.len(), &answers[0].3), (1, &report()));
    // RFC 3810, 6.2: none of these is from a router of the link.
    for frame in
        [query(SENDER6, 1, true, v2()), query(ROUTER6, 64, true, v2()), query(ROUTER6, 1, false, v2())]
    {
        host.handle_packet(at(20), PORT, frame);
        assert_eq!(listened(&mut host, at(22)), []);
    }
    assert_eq!(host.drops().get(DropReason::Malformed), 3);
    // RFC 3810, 8.2.1, and back after 2 x 125 s + 10 s (9.12).
    let older = wire::mld::Repr::ReportV1 { group: GROUP6 };
    host.handle_packet(at(30), PORT, query(ROUTER6, 1, true, None));
    let answers = listened(&mut host, at(31));
    assert_eq!((answers.len(), answers[0].2, &answers[0].3), (1, GROUP6, &older));
    for (s, said) in [(289, older), (291, report())] {
        host.handle_packet(at(s), PORT, query(ROUTER6, 1, true, v2()));
        let answers = listened(&mut host, at(s + 1));
        assert_eq!((answers.len(), &answers[0].3), (1, &said), "after {s} s");
    }
}
