//! Formats above IP, each by itself: what is read is written again, and read again it says the same.
//!
//! The first byte says which format the rest is given to, so that no look-alike of the headers below is needed.

use core::net::Ipv6Addr;
use wire::{Hex, bfd, bgp, greet, icmpv6, ipv6, ldp, lsp_ping, mld, nd, openflow, ospf, pim, tcp, udp};

const SRC: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1);
const DST: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2);

/// How many formats there are.
pub const COUNT: u8 = 14;

/// Any bytes behind the number of a format.
pub fn formats(input: &[u8]) {
    let Some((format, bytes)) = input.split_first() else { return };
    match format % COUNT {
        0 => ipv6_packet(bytes),
        1 => icmpv6_message(bytes),
        2 => discovery_options(bytes),
        3 => tcp_segment(bytes),
        4 => udp_datagram(bytes),
        5 => greeting(bytes),
        6 => ospf_packet(bytes),
        7 => bfd_packet(bytes),
        8 => ldp_pdu(bytes),
        9 => bgp_message(bytes),
        10 => lsp_ping_message(bytes),
        11 => super::tdp::tdp_pdu(bytes),
        12 => pim_message(bytes),
        _ => openflow_message(bytes),
    }
}

/// The first byte says what both ends agree on, the second is the type; marker and length are made right.
fn bgp_message(bytes: &[u8]) {
    let Some((&[terms, kind], body)) = bytes.split_first_chunk::<2>() else { return };
    let add_path = [terms & 4 != 0, terms & 8 != 0, terms & 16 != 0, terms & 32 != 0];
    let labels_max = [[0, 2, 3, 4][usize::from(terms >> 6)]; 4];
    let terms = bgp::Terms { four_octet: terms & 1 != 0, is_internal: terms & 2 != 0, add_path, labels_max };
    let mut whole = vec![0xff; 16];
    whole.extend(u16::try_from(bgp::HEADER_LEN + body.len()).unwrap_or(u16::MAX).to_be_bytes());
    whole.push(kind);
    whole.extend(body);
    let _ = (bgp::message_len(bytes), bgp::message_len(&whole));
    let Ok(mut message) = bgp::Message::parse(&whole, &terms) else { return };
    if let bgp::Message::Update(update) = &mut message {
        let _ = (update.treatment(), update.end_of_rib(), update.attributes.path());
        update.faults.clear();
    }
    let Ok(once) = message.emit(&terms) else { return };
    let again = bgp::Message::parse(&once, &terms);
    match (again, message) {
        // Without what was discarded, something mandatory may be missing.
        (Ok(bgp::Message::Update(mut again)), bgp::Message::Update(update)) => {
            again.faults.clear();
            assert_eq!(again, update);
        }
        (again, message @ bgp::Message::Update(_)) => assert!(again.is_err(), "{again:?} was {message:?}"),
        (again, message) => assert_eq!(again, Ok(message)),
    }
}

fn lsp_ping_message(bytes: &[u8]) {
    let _ = lsp_ping::LspPing::parse_header(bytes);
    let Ok(message) = lsp_ping::LspPing::parse(bytes) else { return };
    // What is longer than a TLV can be is not written.
    let Ok(once) = message.write() else { return };
    assert_eq!(lsp_ping::LspPing::parse(&once), Ok(message));
}

/// A message of either version; its length is made right. What can't be read has an answer.
fn openflow_message(bytes: &[u8]) {
    let _ = openflow::message_len(bytes);
    let mut whole = bytes.to_vec();
    if let (Ok(len), Some(place)) = (u16::try_from(whole.len()), whole.get_mut(2..4)) {
        place.copy_from_slice(&len.to_be_bytes());
    }
    let message = match openflow::Any::parse(&whole) {
        Some(Ok(message)) => message,
        Some(Err(malformed)) => {
            let _ = openflow::ErrorMessage::answer(&malformed, &whole);
            return;
        }
        None => return,
    };
    let mut once = Vec::new();
    if message.emit(&mut once).is_ok() {
        let again = openflow::Any::parse(&once).expect("a known version");
        assert!(again.as_ref() == Ok(&message), "{again:?} was {message:?}");
    }
}

/// The checksum is made right.
fn pim_message(bytes: &[u8]) {
    let _ = pim::Repr::parse(bytes);
    let Some((&[first, _, _, _], body)) = bytes.split_first_chunk::<4>() else { return };
    // A message of another kind has any body, and the checksum of what begins as this one does.
    let other = pim::Repr::Other { kind: pim::kind_of(first), body: body.into() };
    let Ok(message) = pim::Repr::parse(&other.emit()) else { return };
    assert_eq!(pim::Repr::parse(&message.emit()), Ok(message));
}

fn bfd_packet(bytes: &[u8]) {
    let _ = bfd::verify(bytes, b"secret");
    let Ok(repr) = bfd::Repr::parse(bytes) else { return };
    assert_eq!(bfd::Repr::parse(&repr.emit()), Ok(repr));
}

/// Header, extension headers and their options.
fn ipv6_packet(bytes: &[u8]) {
    let Ok(packet) = ipv6::Packet::new_checked(bytes) else { return };
    for header in ipv6::Headers::new(packet.next_header(), packet.payload()).map_while(Result::ok) {
        let _ = (header.fragment(), header.options().count());
    }
    if let Ok(upper) = ipv6::upper(packet.next_header(), packet.payload()) {
        assert!(upper.offset <= packet.payload().len(), "{upper:?}");
    }
    if let Ok(repr) = ipv6::Repr::parse(&packet) {
        let mut once = vec![0; repr.total_len().max(bytes.len())];
        repr.emit(&mut once);
        once[ipv6::HEADER_LEN..repr.total_len()].copy_from_slice(packet.payload());
        let again = ipv6::Packet::new_checked(&once[..]).and_then(|packet| ipv6::Repr::parse(&packet));
        assert_eq!(again.ok(), Some(repr));
    }
}

/// The checksum is made right first.
fn icmpv6_message(bytes: &[u8]) {
    let mut whole = bytes.to_vec();
    if icmpv6::Packet::new_checked(&whole).is_err() {
        return;
    }
    icmpv6::Packet::new_unchecked(&mut whole).fill_checksum(SRC, DST);
    let packet = icmpv6::Packet::new_unchecked(&whole);
    if let Ok(message) = mld::Repr::parse(&whole, SRC, DST) {
        assert_eq!(mld::Repr::parse(&message.emit(SRC, DST), SRC, DST), Ok(message));
    }
    let Ok(message) = icmpv6::Repr::parse(&packet, SRC, DST) else { return };
    if let icmpv6::Repr::Discovery(message) = &message {
        let mut ip = ipv6::Repr::new(SRC, DST, ipv6::Protocol::ICMPV6, 0);
        ip.hop_limit = nd::HOP_LIMIT;
        let _ = message.check(&ip);
    }
    let mut once = vec![0; message.buffer_len()];
    message.emit(SRC, DST, &mut once);
    let packet = icmpv6::Packet::new_unchecked(&once);
    let again = icmpv6::Repr::parse(&packet, SRC, DST);
    assert_eq!(again.as_ref().ok(), Some(&message));
}

fn discovery_options(bytes: &[u8]) {
    let Ok(options) = nd::Options::of(bytes) else { return };
    let mut once = Vec::new();
    options.iter().for_each(|option| option.append_to(&mut once));
    let again = nd::Options::of(&once).expect("options that were written");
    assert!(options.iter().eq(again.iter()), "{options:?} became {again:?}");
    let _ = (options.source(), options.target());
}

fn tcp_segment(bytes: &[u8]) {
    let Ok(packet) = tcp::Packet::new_checked(bytes) else { return };
    let _ = (packet.sequence_len(), packet.payload().len(), packet.verify_checksum(SRC.into(), DST.into()));
    let Ok(repr) = tcp::Repr::parse(&packet) else { return };
    let mut once = vec![0; repr.buffer_len()];
    repr.emit(&mut once);
    let again = tcp::Packet::new_checked(&once[..]).and_then(|packet| tcp::Repr::parse(&packet));
    assert_eq!(again.as_ref().ok(), Some(&repr));
}

fn udp_datagram(bytes: &[u8]) {
    let mut whole = bytes.to_vec();
    if udp::Packet::new_checked(&whole).is_err() {
        return;
    }
    udp::Packet::new_unchecked(&mut whole).fill_checksum(SRC, DST);
    let packet = udp::Packet::new_unchecked(&whole);
    let repr = udp::Repr::parse(&packet, SRC, DST).expect("a datagram with the right checksum");
    assert_eq!((repr.src_port, repr.dst_port), (packet.src_port(), packet.dst_port()));
}

fn greeting(bytes: &[u8]) {
    let Ok(repr) = greet::Repr::parse(bytes) else { return };
    assert_eq!(greet::Repr::parse(&repr.emit()).ok(), Some(repr));
}

/// The length and the checksum are made right first.
fn ospf_packet(bytes: &[u8]) {
    let mut whole = bytes.to_vec();
    let Some(field) = whole.get_mut(2..4) else { return };
    field.copy_from_slice(&(bytes.len() as u16).to_be_bytes());
    let Ok(header) = ospf::Header::parse(&whole) else { return };
    ospf::Auth::Null.seal(&mut whole, 0);
    let header = ospf::Header::parse(&whole).unwrap_or(header);
    assert_eq!(ospf::Auth::Null.verify(&header, &whole), Ok(None));
    let Ok(body) = ospf::Body::parse(header.kind, &whole[ospf::HEADER_LEN..]) else { return };
    if let ospf::Body::Update { lsas } = &body {
        for lsa in lsas {
            let bytes = lsa.write().expect("an LSA that was read");
            let _ = (ospf::Lsa::is_intact(&bytes), ospf::LsaBody::parse(lsa.key.kind, &bytes[20..]));
        }
    }
    let once = body.packet(header.router_id, header.area).expect("a packet that was read");
    assert_eq!(ospf::Body::parse(header.kind, &once[ospf::HEADER_LEN..]).ok(), Some(body));
}

/// The version and the length are made right first.
fn ldp_pdu(bytes: &[u8]) {
    let mut whole = bytes.to_vec();
    let Some(field) = whole.get_mut(..4) else { return };
    let len = u16::try_from(bytes.len() - 4).unwrap_or(u16::MAX);
    field[..2].copy_from_slice(&ldp::VERSION.to_be_bytes());
    field[2..].copy_from_slice(&len.to_be_bytes());
    let _ = (ldp::Header::message_len(bytes), ldp::Header::message_len(&whole));
    let Ok(header) = ldp::Header::parse(&whole, u16::MAX) else { return };
    let read = |pdu: &[u8]| -> Vec<ldp::Message> {
        let all = ldp::messages(pdu, header).map_while(Result::ok);
        all.filter_map(|raw| ldp::Message::parse(&raw).ok().flatten()).collect()
    };
    for message in read(&whole) {
        let once = ldp::pdus(header.id, [&message], u16::MAX).concat();
        let Ok(header) = ldp::Header::parse(&once, u16::MAX) else { continue };
        let raw =
            ldp::messages(&once, header).next().and_then(Result::ok).expect("a message that was written");
        assert_eq!(ldp::Message::parse(&raw), Ok(Some(message)));
    }
}

/// Inputs to start from: what each format's frames hold above Ethernet and IPv6, greetings, OSPF packets, messages of
/// LDP and of BGP.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for frame in super::ipv6() {
        let Some(ip) = frame.get(14..).filter(|ip| ip.first().is_some_and(|first| first >> 4 == 6)) else {
            continue;
        };
        seeds.push([&[0], ip].concat());
        if let Some(message) = ip.get(ipv6::HEADER_LEN..) {
            seeds.push([&[1], message].concat());
            seeds.push([&[4], message].concat());
        }
        if let Some(options) = ip.get(ipv6::HEADER_LEN + 24..) {
            seeds.push([&[2], options].concat());
        }
    }
    let segment = [4, 0, 0, 80, 0, 0, 0, 1, 0, 0, 0, 2, 0x70, 2, 32, 0, 0, 0, 0, 0, 2, 4, 5, 180, 1, 3, 3, 7];
    seeds.push([&[3][..], &segment].concat());
    for kind in 0..4 {
        if let Some(kind) = greet::Kind::of(kind) {
            let repr = greet::Repr { kind, hold_ms: 3_000, router_id: [192, 0, 2, 1].into(), label: None };
            seeds.push([&[5][..], &repr.emit()].concat());
        }
    }
    seeds.extend(ospf_seeds());
    let up = [0x20, 0xc0, 3, 24, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0xc3, 0x50, 0, 0, 0x75, 0x30, 0, 0, 0, 0];
    seeds.push([&[7][..], &up].concat());
    seeds.extend(ldp_seeds());
    seeds.extend(bgp_seeds());
    seeds.extend(lsp_ping_seed());
    seeds.extend(pim_seeds());
    seeds.extend(openflow_messages().into_iter().map(|message| [&[13], &message[..]].concat()));
    seeds.extend(super::tdp::seeds().map(|pdu| [&[11], &pdu[..]].concat()));
    seeds
}

/// Messages of OpenFlow with all that it has, written by an independent implementation.
pub fn openflow_messages() -> Vec<Vec<u8>> {
    let lines = include_str!("../../crates/wire/src/openflow/fixtures.txt").lines();
    let messages = lines.filter_map(|line| line.split_once(' ')?.1.parse::<wire::Hex>().ok());
    messages.map(|hex| hex.0).collect()
}

/// A message of each kind that is read.
fn pim_seeds() -> impl Iterator<Item = Vec<u8>> {
    use pim::{Assert, GroupSet, Hello, HelloOption, JoinPrune, Repr, SourceEntry};
    let [group, source] = [[232, 1, 1, 1], [10, 1, 0, 2]].map(Into::into);
    let delay = HelloOption::LanPruneDelay { tracking: false, propagation_ms: 500, override_ms: 2500 };
    let options =
        vec![HelloOption::Holdtime(105), delay, HelloOption::DrPriority(1), HelloOption::AddressList(vec![source])];
    let set = GroupSet { group, joined: vec![SourceEntry::of(source)], pruned: vec![SourceEntry::of(group)] };
    let all = [
        Repr::Hello(Hello { options }),
        Repr::JoinPrune(JoinPrune { upstream: source, holdtime_s: 210, groups: vec![set] }),
        Repr::Assert(Assert { group, source, rpt: false, preference: 110, metric: 20 }),
    ];
    all.into_iter().map(|message| [&[12][..], &message.emit()].concat())
}

/// A reply of LSP ping with a way on, and the FEC that it was asked about.
fn lsp_ping_seed() -> Option<Vec<u8>> {
    use lsp_ping::{Fec, FecChange, MappedLabel, Mapping, MappingPart, Place, Tlv};
    let address = [192, 0, 2, 1].into();
    let labels = vec![MappedLabel { label: 16, tc: 0, bottom: true, protocol: 3 }];
    let hidden = FecChange { operation: 1, peer: None, fec: Some(Fec::Nil { label: 0 }) };
    let mapping = Mapping {
        mtu: 1500,
        flags: 2,
        place: Place::Ipv4 { address, interface: address },
        return_code: 8,
        return_subcode: 1,
        parts: vec![MappingPart::Labels { labels }, MappingPart::FecChange(hidden)],
    };
    let tlvs = vec![
        Tlv::TargetFecStack { fecs: vec![Fec::LdpIpv4 { prefix: address, length: 32 }] },
        Tlv::DownstreamDetailedMapping(mapping),
    ];
    let message = lsp_ping::LspPing {
        version: 1,
        flags: 1,
        message_type: 2,
        reply_mode: 2,
        return_code: 14,
        return_subcode: 0,
        handle: 1,
        sequence: 1,
        sent: 1,
        received: 2,
        tlvs,
    };
    Some([&[10][..], &message.write().ok()?].concat())
}

/// Messages of BGP, an UPDATE with attributes of each kind among them.
fn bgp_seeds() -> impl Iterator<Item = Vec<u8>> {
    let id = [192, 0, 2, 1].into();
    let v6 = base::plane::IpPrefix::V6(base::plane::Prefix6::host(DST));
    let path = bgp::AsPath(vec![bgp::Segment::Sequence(vec![65_001, 70_000]), bgp::Segment::Set(vec![7])]);
    let attributes = bgp::Attributes {
        origin: Some(bgp::Origin::Igp),
        as_path: Some(path),
        next_hop: Some(id),
        med: Some(7),
        local_pref: Some(100),
        aggregator: Some(bgp::Aggregator { asn: 65_001, address: id }),
        communities: vec![1],
        originator: Some(id),
        cluster_list: vec![id],
        extended_communities: vec![[1; 8]],
        large_communities: vec![[1, 2, 3]],
        ..bgp::Attributes::default()
    };
    let next_hop = bgp::NextHop::V6 { global: DST, link_local: Some(SRC) };
    let reach = bgp::Reach { family: bgp::Family::Ipv6, next_hop, nlri: vec![bgp::Nlri::new(v6)] };
    let nlri = vec![bgp::Nlri::new(base::plane::IpPrefix::V4(base::plane::Prefix::host(id)))];
    let update = bgp::Update {
        withdrawn: nlri.clone(),
        attributes,
        reach: Some(reach),
        nlri,
        ..bgp::Update::default()
    };
    let all = [
        bgp::Message::Open(bgp::Open::new(70_000, 90, id, vec![bgp::Capability::RouteRefresh])),
        bgp::Message::Update(Box::new(update)),
        bgp::Message::Notification(bgp::Notification::new(bgp::notification::Code::Cease)),
        bgp::Message::RouteRefresh(bgp::Refresh { afi: 1, safi: 1 }),
    ];
    let terms = bgp::Terms { four_octet: true, is_internal: true, ..bgp::Terms::default() };
    let written = move |message: bgp::Message| message.emit(&terms).unwrap_or_default();
    all.into_iter().map(written).map(|bytes| [&[9, 3, bytes[18]], &bytes[bgp::HEADER_LEN..]].concat())
}

/// A PDU for each of the more important messages of LDP.
fn ldp_seeds() -> impl Iterator<Item = Vec<u8>> {
    let id = ldp::LdpId::platform([192, 0, 2, 1].into());
    let fec = ldp::Fec::Prefix(base::plane::IpPrefix::V4(base::plane::Prefix::host(id.router)));
    let tree = ldp::Fec::P2mp(ldp::P2mp::generic(id.router.into(), 1));
    // An opaque value of two elements, the second of an extended type (RFC 6388, 2.3), and a root of IPv6.
    let opaque = Hex(vec![1, 0, 4, 0, 0, 0, 1, 255, 0, 1, 0, 2, 7, 7]);
    let far = ldp::Fec::P2mp(ldp::P2mp { root: id.router.to_ipv6_mapped().into(), opaque });
    let label = ldp::AnyLabel::Generic(base::Label::FIRST_UNRESERVED);
    let transport = Some(id.router);
    let hello = ldp::Hello {
        hold_s: 15,
        is_targeted: false,
        wants_targeted: false,
        gtsm: true,
        transport,
        transport6: None,
        configuration: None,
    };
    let session = ldp::Initialization {
        version: 1,
        keepalive_s: 180,
        on_demand: false,
        loop_detection: false,
        path_limit: 0,
        max_pdu: 4096,
        receiver: id,
        atm: None,
        frame_relay: None,
        restart: Some(ldp::FtSession { learns: true, reconnect_ms: 120_000, recovery_ms: 60_000 }),
        capabilities: ldp::Capabilities {
            typed_wildcard: Some(true),
            p2mp: Some(true),
            ..ldp::Capabilities::default()
        },
    };
    let path = Some(vec![id.router]);
    let bodies = [
        ldp::Body::Hello(hello),
        ldp::Body::Initialization(session),
        ldp::Body::Address(ldp::Addresses::V4(vec![id.router])),
        ldp::Body::Mapping { fecs: vec![fec.clone(), fec], label, request: Some(1), hops: Some(1), path },
        ldp::Body::Mapping { fecs: vec![tree.clone()], label, request: None, hops: None, path: None },
        ldp::Body::Mapping { fecs: vec![far], label, request: Some(1), hops: None, path: None },
        ldp::Body::Request { fec: ldp::Fec::AllP2mp(1), hops: None, path: None },
        ldp::Body::Withdraw { fec: tree.clone(), label: Some(label) },
        ldp::Body::Release { fec: tree, label: Some(label), notice: None },
        ldp::Body::Withdraw { fec: ldp::Fec::Wildcard, label: Some(label) },
        ldp::Body::notify(ldp::Notice::new(ldp::Status::Shutdown)),
    ];
    let messages = bodies.map(|body| ldp::Message::new(7, body));
    messages.into_iter().map(move |message| [&[8], &ldp::pdus(id, [&message], 4096).concat()[..]].concat())
}

/// An OSPF packet of each type, with advertisements.
fn ospf_seeds() -> impl Iterator<Item = Vec<u8>> {
    let router = [192, 0, 2, 1].into();
    let key = ospf::LsaKey { kind: ospf::LsaKind::ROUTER, id: router, router };
    let link = ospf::RouterLink { id: router, data: router, kind: 1, metric: 10, tos: Vec::new() };
    let lsa = ospf::Lsa {
        age: 1,
        options: ospf::options::E,
        key,
        sequence: ospf::INITIAL_SEQUENCE,
        checksum: None,
        correct_checksum: None,
        body: ospf::LsaBody::Router(ospf::Router { flags: 0, links: vec![link.clone(), link] }),
    };
    let headers: Vec<_> = lsa.write().iter().filter_map(|bytes| ospf::LsaHeader::parse(bytes).ok()).collect();
    let hello = ospf::Hello {
        mask: [255, 255, 255, 0].into(),
        hello_s: 10,
        options: ospf::options::E,
        priority: 1,
        dead_s: 40,
        designated: router,
        backup: router,
        neighbors: vec![router],
    };
    let (mtu, options, flags, sequence) = (1500, ospf::options::E, 3, 7);
    let described = ospf::Description { mtu, options, flags, sequence, headers: headers.clone() };
    let bodies = [
        ospf::Body::Hello(hello),
        ospf::Body::Description(described),
        ospf::Body::Request { wanted: vec![key] },
        ospf::Body::Update { lsas: vec![lsa] },
        ospf::Body::Ack { headers },
    ];
    let packets = bodies.into_iter().filter_map(move |body| body.packet(router, router).ok());
    packets.map(|packet| [&[6][..], &packet].concat())
}
