use super::*;
use crate::hex::Hex;
use base::Label;
use base::plane::{IpPrefix, Prefix, Prefix6};
use core::net::Ipv6Addr;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

const OWN: LdpId = LdpId::platform(Ipv4Addr::new(10, 0, 0, 1));

fn prefixes() -> impl Strategy<Value = Fec> {
    let v4 =
        (any::<u32>(), 0..=32u8).prop_map(|(a, len)| IpPrefix::V4(Prefix::new(Ipv4Addr::from_bits(a), len)));
    let v6 = (any::<u128>(), 0..=128u8)
        .prop_map(|(a, len)| IpPrefix::V6(Prefix6::new(Ipv6Addr::from_bits(a), len)));
    prop_oneof![v4, v6].prop_map(Fec::Prefix)
}

/// Point-to-multipoint LSPs: with generic identifiers, and with opaque values that nobody here understands.
fn trees() -> impl Strategy<Value = Fec> {
    let root = prop_oneof![
        any::<u32>().prop_map(|root| Ipv4Addr::from_bits(root).into()),
        any::<u128>().prop_map(|root| Ipv6Addr::from_bits(root).into()),
    ];
    let lsp = (root, any::<u32>(), vec(any::<u8>(), 0..12)).prop_map(|(root, id, opaque)| match opaque[..] {
        [] => P2mp::generic(root, id),
        _ => P2mp { root, opaque: Hex(opaque) },
    });
    lsp.prop_map(Fec::P2mp)
}

fn typed() -> impl Strategy<Value = Fec> {
    prop_oneof![any::<u16>().prop_map(Fec::AllPrefixes), any::<u16>().prop_map(Fec::AllP2mp)]
}

fn fecs() -> impl Strategy<Value = Fec> {
    prop_oneof![Just(Fec::Wildcard), typed(), prefixes(), trees()]
}

fn labels() -> impl Strategy<Value = AnyLabel> {
    prop_oneof![
        (0..=0xf_ffffu32).prop_map(|value| AnyLabel::Generic(Label::truncate(value))),
        any::<u32>().prop_map(AnyLabel::Atm),
        any::<u32>().prop_map(AnyLabel::FrameRelay),
    ]
}

fn notices() -> impl Strategy<Value = Notice> {
    any::<(u32, u32, u16)>().prop_map(|(code, message_id, message_type)| Notice {
        code,
        message_id,
        message_type,
    })
}

fn addresses() -> impl Strategy<Value = Addresses> {
    prop_oneof![
        vec(any::<u32>().prop_map(Ipv4Addr::from_bits), 0..9).prop_map(Addresses::V4),
        vec(any::<u128>().prop_map(Ipv6Addr::from_bits), 0..5).prop_map(Addresses::V6),
    ]
}

fn path() -> impl Strategy<Value = Option<Vec<Ipv4Addr>>> {
    of(vec(any::<u32>().prop_map(Ipv4Addr::from_bits), 0..5))
}

fn hex() -> impl Strategy<Value = Option<Hex>> {
    of(vec(any::<u8>(), 0..20).prop_map(Hex))
}

fn capabilities() -> impl Strategy<Value = Capabilities> {
    any::<[Option<bool>; 4]>().prop_map(|[dynamic, typed_wildcard, unrecognized_notification, p2mp]| {
        Capabilities { dynamic, typed_wildcard, unrecognized_notification, p2mp }
    })
}

/// What a label can be for.
fn mapped() -> impl Strategy<Value = Vec<Fec>> {
    prop_oneof![vec(prefixes(), 1..5), trees().prop_map(|one| vec![one])]
}

fn requested() -> impl Strategy<Value = Fec> {
    prop_oneof![prefixes(), trees(), typed()]
}

fn bodies() -> impl Strategy<Value = Body> {
    let hello = (any::<(u16, bool, bool, bool)>(), of(any::<u32>()), of(any::<u128>()), of(any::<u32>()));
    let more = (of(any::<(bool, u32, u32)>()), capabilities());
    let session = (any::<(u16, u16, bool, bool, u8, u16)>(), any::<(u32, u16)>(), hex(), hex(), more);
    prop_oneof![
        (notices(), of(any::<u32>()), [hex(), hex(), hex()], of(any::<u32>()), of(fecs())).prop_map(
            |(notice, extended, [returned_pdu, returned_message, returned_tlvs], request, fec)| {
                Body::Notification {
                    notice,
                    extended,
                    returned_pdu,
                    returned_message,
                    returned_tlvs,
                    request,
                    fec,
                }
            }
        ),
        capabilities().prop_map(Body::Capability),
        hello.prop_map(|((hold_s, is_targeted, wants_targeted, gtsm), v4, v6, configuration)| {
            let (transport, transport6) = (v4.map(Ipv4Addr::from_bits), v6.map(Ipv6Addr::from_bits));
            Body::Hello(Hello {
                hold_s,
                is_targeted,
                wants_targeted,
                gtsm,
                transport,
                transport6,
                configuration,
            })
        }),
        session.prop_map(
            |((version, keepalive_s, on_demand, loops, path_limit, max_pdu), id, atm, frame_relay, more)| {
                let receiver = LdpId { router: Ipv4Addr::from_bits(id.0), space: id.1 };
                let loop_detection = loops;
                let restart = more.0.map(|(learns, reconnect_ms, recovery_ms)| FtSession {
                    learns,
                    reconnect_ms,
                    recovery_ms,
                });
                Body::Initialization(Initialization {
                    version,
                    keepalive_s,
                    on_demand,
                    loop_detection,
                    path_limit,
                    max_pdu,
                    receiver,
                    atm,
                    frame_relay,
                    restart,
                    capabilities: more.1,
                })
            }
        ),
        Just(Body::KeepAlive),
        addresses().prop_map(Body::Address),
        addresses().prop_map(Body::AddressWithdraw),
        (mapped(), labels(), of(any::<u32>()), of(any::<u8>()), path()).prop_map(
            |(fecs, label, request, hops, path)| Body::Mapping { fecs, label, request, hops, path }
        ),
        (requested(), of(any::<u8>()), path()).prop_map(|(fec, hops, path)| Body::Request {
            fec,
            hops,
            path
        }),
        (fecs(), of(labels())).prop_map(|(fec, label)| Body::Withdraw { fec, label }),
        (fecs(), of(labels()), of(notices())).prop_map(|(fec, label, notice)| Body::Release {
            fec,
            label,
            notice
        }),
        (requested(), any::<u32>()).prop_map(|(fec, request)| Body::Abort { fec, request }),
    ]
}

fn unknown() -> impl Strategy<Value = Tlv> {
    let kinds =
        (0x0700..0x3fffu16).prop_filter("a type that nobody knows", |kind| !tlv_type::is_known(*kind));
    (any::<bool>(), kinds, vec(any::<u8>(), 0..9)).prop_map(|(is_forwarded, kind, value)| Tlv {
        is_optional: true,
        is_forwarded,
        kind,
        value: Hex(value),
    })
}

fn all_messages() -> impl Strategy<Value = Message> {
    (any::<u32>(), bodies(), vec(unknown(), 0..3)).prop_map(|(id, body, unknown)| Message {
        id,
        body,
        unknown,
    })
}

/// All messages of a PDU; what is malformed ends it.
fn read(pdu: &[u8]) -> Result<(LdpId, Vec<Message>), Malformed> {
    let header = Header::parse(pdu, u16::MAX)?;
    let all = messages(pdu, header).map(|raw| Message::parse(&raw?));
    Ok((header.id, all.filter_map(Result::transpose).collect::<Result<_, _>>()?))
}

proptest! {
    #[test]
    fn messages_are_read_and_written(all in vec(all_messages(), 1..12), max in 14..4097u16) {
        let pdus = pdus(OWN, &all, max);
        let mut back = Vec::new();
        for pdu in &pdus {
            let (id, some) = read(pdu).expect("what was written");
            prop_assert!(id == OWN && (pdu.len() <= 4 + usize::from(max) || some.len() == 1));
            prop_assert_eq!(Header::message_len(pdu).is_some(), true);
            back.extend(some);
        }
        prop_assert_eq!(back, all);
    }

    /// Whatever bytes change, the decoder says something; what it takes it writes to something that says the same.
    #[test]
    fn nothing_panics(all in vec(all_messages(), 1..4), cuts in vec((any::<usize>(), any::<u8>()), 0..6), end: usize) {
        let mut bytes = pdus(OWN, &all, 4096).concat();
        for (at, byte) in cuts {
            let len = bytes.len();
            bytes[at % len] = byte;
        }
        bytes.truncate(end % (bytes.len() + 1));
        let _ = Header::message_len(&bytes);
        if let Ok((id, some)) = read(&bytes) && !some.is_empty() {
            let again: Vec<Message> = pdus(id, &some, 4096).iter().flat_map(|pdu| read(pdu).expect("one").1).collect();
            prop_assert_eq!(again, some);
        }
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(kind: u16, bytes in vec(any::<u8>(), 0..120)) {
        let raw = Raw { kind, id: 7, parameters: &bytes, offset: HEADER_LEN };
        let _ = Message::parse(&raw);
        for (kind, _) in kind::ALL {
            let _ = Message::parse(&Raw { kind: *kind, ..raw });
        }
    }
}

fn one(id: u32, body: Body) -> Vec<u8> {
    pdus(OWN, &[Message::new(id, body)], 4096).concat()
}

#[test]
fn messages_have_the_bytes_of_the_rfc() {
    let hello = Hello {
        hold_s: 15,
        is_targeted: false,
        wants_targeted: false,
        gtsm: true,
        transport: Some(OWN.router),
        transport6: None,
        configuration: None,
    };
    let head = |len: u8| vec![0, 1, 0, len, 10, 0, 0, 1, 0, 0];
    let expected = [1, 0, 0, 20, 0, 0, 0, 9, 4, 0, 0, 4, 0, 15, 0x20, 0, 4, 1, 0, 4, 10, 0, 0, 1];
    assert_eq!(one(9, Body::Hello(hello)), [head(30), expected.to_vec()].concat());
    let fec = Fec::Prefix(IpPrefix::V4(Prefix::new(Ipv4Addr::new(10, 16, 0, 0), 12)));
    let (label, path) = (AnyLabel::Generic(Label::truncate(0x12345)), None);
    let mapping = Body::Mapping { fecs: vec![fec], label, request: None, hops: Some(1), path };
    let expected = [
        4, 0, 0, 27, 0, 0, 0, 2, 1, 0, 0, 6, 2, 0, 1, 12, 10, 16, 2, 0, 0, 4, 0, 1, 0x23, 0x45, 1, 3, 0, 1, 1,
    ];
    assert_eq!(one(2, mapping), [head(37), expected.to_vec()].concat());
    let notice = Notice { code: Status::Shutdown.code(), message_id: 5, message_type: kind::KEEP_ALIVE };
    let expected = [0, 1, 0, 18, 0, 0, 0, 3, 3, 0, 0, 10, 0x80, 0, 0, 10, 0, 0, 0, 5, 2, 1];
    assert_eq!(one(3, Body::notify(notice)), [head(28), expected.to_vec()].concat());
    // RFC 5919, 4, with the typed wildcard of RFC 5918, 6.
    let expected =
        [0, 1, 0, 27, 0, 0, 0, 4, 3, 0, 0, 10, 0, 0, 0, 0x2f, 0, 0, 0, 0, 0, 0, 1, 0, 0, 5, 5, 2, 2, 0, 1];
    assert_eq!(one(4, Body::end_of_lib(Fec::AllPrefixes(1))), [head(37), expected.to_vec()].concat());
    // RFC 5036, 3.4.6: beside a Notification a status may be left out.
    let release = Body::Release { fec: Fec::Wildcard, label: None, notice: Some(notice) };
    let expected = [4, 3, 0, 23, 0, 0, 0, 6, 1, 0, 0, 1, 1, 0x83, 0, 0, 10, 0x80, 0, 0, 10, 0, 0, 0, 5, 2, 1];
    assert_eq!(one(6, release), [head(33), expected.to_vec()].concat());
    let capabilities = Capabilities {
        dynamic: Some(true),
        typed_wildcard: Some(true),
        unrecognized_notification: Some(false),
        p2mp: None,
    };
    let expected = [2, 2, 0, 19, 0, 0, 0, 5, 0x85, 6, 0, 1, 0x80, 0x85, 11, 0, 1, 0x80, 0x86, 3, 0, 1, 0];
    assert_eq!(one(5, Body::Capability(capabilities)), [head(29), expected.to_vec()].concat());
}

/// RFC 6388, 2.1 to 2.3.1, and 9.
#[test]
fn trees_have_the_bytes_of_the_rfc() {
    let head = |len: u8| vec![0, 1, 0, len, 10, 0, 0, 1, 0, 0];
    let lsp = P2mp::generic(Ipv4Addr::new(10, 0, 0, 9).into(), 0x0102_0304);
    assert_eq!(lsp.lsp_id(), Some(0x0102_0304));
    let element = [6, 0, 1, 4, 10, 0, 0, 9, 0, 7, 1, 0, 4, 1, 2, 3, 4];
    let withdraw = Body::Withdraw { fec: Fec::P2mp(lsp.clone()), label: None };
    let begin = [4, 2, 0, 25, 0, 0, 0, 2, 1, 0, 0, 17];
    assert_eq!(one(2, withdraw), [&head(35)[..], &begin, &element].concat());
    let release = Body::Release { fec: Fec::AllP2mp(1), label: None, notice: None };
    let expected = [4, 3, 0, 13, 0, 0, 0, 3, 1, 0, 0, 5, 5, 6, 2, 0, 1];
    assert_eq!(one(3, release), [&head(23)[..], &expected].concat());
    let capability = Capabilities { p2mp: Some(true), ..Capabilities::default() };
    let expected = [2, 2, 0, 9, 0, 0, 0, 4, 0x85, 8, 0, 1, 0x80];
    assert_eq!(one(4, Body::Capability(capability)), [&head(19)[..], &expected].concat());
    // Opaque values that are something else, or longer, have no generic identifier.
    for opaque in [&[2, 0, 4, 1, 2, 3, 4][..], &[1, 0, 4, 1, 2, 3], &[1, 0, 4, 1, 2, 3, 4, 0]] {
        assert_eq!(P2mp { opaque: opaque.into(), ..lsp.clone() }.lsp_id(), None);
    }
}

/// RFC 5036, 3.5.2 and 3.5.3, RFC 5561, 3, RFC 3478, 2: bits that are reserved are zero, and ignored.
#[test]
fn what_is_reserved_is_zero_and_ignored() {
    let cases: &[(u16, &[u8], &[usize])] = &[
        (kind::HELLO, &[4, 0, 0, 4, 0, 15, 0x20, 0], &[6, 7]),
        (kind::INITIALIZATION, &[5, 0, 0, 14, 0, 1, 0, 9, 0, 0, 16, 0, 10, 0, 0, 1, 0, 0], &[8]),
        (kind::CAPABILITY, &[0x85, 11, 0, 1, 0x80], &[4]),
    ];
    for (kind, parameters, places) in cases {
        let parse = |parameters: &[u8]| {
            let raw = Raw { kind: *kind, id: 7, parameters, offset: HEADER_LEN };
            Message::parse(&raw).expect("a message").expect("a known one")
        };
        let clean = parse(parameters);
        assert!(one(7, clean.body.clone()).ends_with(parameters));
        let mut dirty = parameters.to_vec();
        // Bits in use are the upper three of a Hello, the upper two of a session, the first of a capability.
        let reserved = match *kind {
            kind::HELLO => [0x1f, 0xff],
            kind::INITIALIZATION => [0x3f, 0],
            _ => [0x7f, 0],
        };
        places.iter().zip(reserved).for_each(|(at, bits)| dirty[*at] |= bits);
        assert_eq!(parse(&dirty), clean);
    }
}

/// freeRtr says of point-to-multipoint LSPs what is said of pseudowires: it does not matter.
#[test]
fn a_status_of_pseudowires_does_not_matter() {
    let element = [6, 0, 1, 4, 10, 9, 1, 1, 0, 7, 1, 0, 4, 0, 0, 0, 77];
    let body =
        [&[1, 0, 0, 17][..], &element, &[2, 0, 0, 4, 0, 8, 0xe6, 0x38, 9, 0x6a, 0, 4, 0, 0, 0, 0]].concat();
    let raw = Raw { kind: kind::LABEL_MAPPING, id: 7, parameters: &body, offset: HEADER_LEN };
    let message = Message::parse(&raw).expect("a message").expect("a known one");
    let label = AnyLabel::Generic(Label::truncate(0x8e638));
    let fecs = vec![Fec::P2mp(P2mp::generic(Ipv4Addr::new(10, 9, 1, 1).into(), 77))];
    assert_eq!(message.body, Body::Mapping { fecs, label, request: None, hops: None, path: None });
}

/// RFC 5918, 4: beside a typed wildcard other elements do not count.
#[test]
fn a_typed_wildcard_stands_alone() {
    let body = [1, 0, 0, 9, 2, 0, 1, 0, 5, 2, 2, 0, 1];
    let raw = Raw { kind: kind::LABEL_WITHDRAW, id: 7, parameters: &body, offset: HEADER_LEN };
    let message = Message::parse(&raw).expect("a message").expect("a known one");
    assert_eq!(message.body, Body::Withdraw { fec: Fec::AllPrefixes(1), label: None });
}

#[test]
fn statuses_have_their_numbers() {
    // RFC 5036, 3.9, then RFC 5561, 10, and RFC 5919, 7.
    for (number, status) in (0..0x1a).chain([0x2e, 0x2f]).zip(Status::ALL) {
        assert_eq!((status.number(), Status::of(status.code() | 1 << 30)), (number, Some(*status)));
    }
    assert_eq!(Status::of(0x1a), None);
    assert_eq!(Status::BadLdpIdentifier.code(), 0x8000_0001);
}

/// RFC 5036, 3.5.1.2: which status answers what.
#[test]
fn malformed_input_has_its_status() {
    let whole = one(7, Body::KeepAlive);
    let wrong = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        let found = read(&bytes).expect_err("something malformed");
        (found.status, found.message_id, found.message_type)
    };
    let none = |status| (status, 0, 0);
    let message = |kind: u16, parameters: &[u8]| {
        let mut bytes = vec![0, 1, 0, 0, 10, 0, 0, 1, 0, 0];
        bytes.extend(kind.to_be_bytes());
        bytes.extend((4 + parameters.len() as u16).to_be_bytes());
        bytes.extend([0, 0, 0, 7]);
        bytes.extend(parameters);
        let len = bytes.len() as u16 - 4;
        bytes[2..4].copy_from_slice(&len.to_be_bytes());
        read(&bytes)
            .map(|(_, all)| all.len())
            .map_err(|found| (found.status, found.message_id, found.message_type))
    };
    assert_eq!(wrong(&|b| b[1] = 2), none(Status::BadProtocolVersion));
    assert_eq!(wrong(&|b| b[3] = 13), none(Status::BadPduLength));
    assert_eq!(wrong(&|b| b[3] = 99), none(Status::BadPduLength));
    assert_eq!(Header::parse(&whole, 13).expect_err("too long").status, Status::BadPduLength);
    assert_eq!(wrong(&|b| b[13] = 5), (Status::BadMessageLength, 7, kind::KEEP_ALIVE));
    assert_eq!(wrong(&|b| b[13] = 3), (Status::BadMessageLength, 7, kind::KEEP_ALIVE));
    assert_eq!(wrong(&|b| b[10] = 9), (Status::UnknownMessageType, 7, 0x0901));
    assert_eq!(message(0x8901, &[]), Ok(0), "it may be left out");
    let about = |status, kind| Err((status, 7, kind));
    let cases: &[(u16, &[u8], Status)] = &[
        (kind::KEEP_ALIVE, &[0x07, 0, 0, 1, 9], Status::UnknownTlv),
        (kind::KEEP_ALIVE, &[0x87, 0, 0, 2, 9], Status::BadTlvLength),
        (kind::KEEP_ALIVE, &[0x87, 0, 0], Status::BadTlvLength),
        (kind::LABEL_MAPPING, &[1, 0, 0, 4, 2, 0, 1, 0], Status::MissingMessageParameters),
        (kind::LABEL_MAPPING, &[2, 0, 0, 4, 0, 0, 0, 16], Status::MissingMessageParameters),
        (kind::LABEL_MAPPING, &[1, 0, 0, 1, 1, 2, 0, 0, 4, 0, 0, 0, 16], Status::MalformedTlvValue),
        (kind::LABEL_MAPPING, &[1, 0, 0, 4, 2, 0, 1, 0, 2, 0, 0, 4, 0, 16, 0, 0], Status::MalformedTlvValue),
        (kind::LABEL_REQUEST, &[1, 0, 0, 4, 2, 0, 1, 33], Status::MalformedTlvValue),
        (kind::LABEL_REQUEST, &[1, 0, 0, 5, 2, 0, 1, 9, 1], Status::MalformedTlvValue),
        (kind::LABEL_REQUEST, &[1, 0, 0, 4, 2, 0, 9, 0], Status::UnsupportedAddressFamily),
        (kind::LABEL_REQUEST, &[1, 0, 0, 1, 9], Status::UnknownFec),
        // RFC 5918, 4 and 6.
        (kind::LABEL_REQUEST, &[1, 0, 0, 1, 5], Status::MalformedTlvValue),
        (kind::LABEL_REQUEST, &[1, 0, 0, 5, 5, 2, 3, 0, 1], Status::MalformedTlvValue),
        (kind::LABEL_REQUEST, &[1, 0, 0, 4, 5, 2, 1, 1], Status::MalformedTlvValue),
        (kind::LABEL_REQUEST, &[1, 0, 0, 5, 5, 3, 2, 0, 1], Status::UnknownFec),
        (kind::LABEL_REQUEST, &[1, 0, 0, 5, 5, 7, 2, 0, 1], Status::UnknownFec),
        // RFC 6388, 2.2: a length that is not that of the family, in either direction.
        (kind::LABEL_WITHDRAW, &[1, 0, 0, 8, 6, 0, 1, 16, 10, 0, 0, 9], Status::UnknownFec),
        (kind::LABEL_WITHDRAW, &[1, 0, 0, 8, 6, 0, 2, 4, 10, 0, 0, 9], Status::UnknownFec),
        (kind::LABEL_WITHDRAW, &[1, 0, 0, 8, 6, 0, 3, 4, 10, 0, 0, 9], Status::UnsupportedAddressFamily),
        (kind::LABEL_WITHDRAW, &[1, 0, 0, 3, 6, 0, 1], Status::MalformedTlvValue),
        (kind::LABEL_WITHDRAW, &[1, 0, 0, 6, 6, 0, 1, 4, 10, 0], Status::MalformedTlvValue),
        (kind::LABEL_WITHDRAW, &[1, 0, 0, 9, 6, 0, 1, 4, 10, 0, 0, 9, 0], Status::MalformedTlvValue),
        (kind::LABEL_WITHDRAW, &[1, 0, 0, 10, 6, 0, 1, 4, 10, 0, 0, 9, 0, 0], Status::MalformedTlvValue),
        (kind::LABEL_WITHDRAW, &[1, 0, 0, 11, 6, 0, 1, 4, 10, 0, 0, 9, 0, 2, 1], Status::MalformedTlvValue),
        // It is the only element, before others and behind them; MP2MP LSPs are not known.
        (
            kind::LABEL_MAPPING,
            &[1, 0, 0, 15, 6, 0, 1, 4, 10, 0, 0, 9, 0, 1, 7, 2, 0, 1, 0, 2, 0, 0, 4, 0, 0, 0, 16],
            Status::MalformedTlvValue,
        ),
        (
            kind::LABEL_MAPPING,
            &[1, 0, 0, 15, 2, 0, 1, 0, 6, 0, 1, 4, 10, 0, 0, 9, 0, 1, 7, 2, 0, 0, 4, 0, 0, 0, 16],
            Status::MalformedTlvValue,
        ),
        (kind::LABEL_WITHDRAW, &[1, 0, 0, 11, 7, 0, 1, 4, 10, 0, 0, 9, 0, 1, 7], Status::UnknownFec),
        (
            kind::INITIALIZATION,
            &[5, 0, 0, 14, 0, 1, 0, 9, 0, 0, 16, 0, 10, 0, 0, 1, 0, 0, 0x85, 8, 0, 0],
            Status::MalformedTlvValue,
        ),
        (kind::LABEL_REQUEST, &[1, 0, 0, 3, 5, 1, 0], Status::UnknownFec),
        (
            kind::LABEL_MAPPING,
            &[1, 0, 0, 5, 5, 2, 2, 0, 1, 2, 0, 0, 4, 0, 0, 0, 16],
            Status::MalformedTlvValue,
        ),
        // RFC 5561, 3: twice.
        (kind::CAPABILITY, &[0x85, 6, 0, 1, 0x80, 0x85, 6, 0, 1, 0x80], Status::MalformedTlvValue),
        (kind::CAPABILITY, &[0x85, 6, 0, 0], Status::MalformedTlvValue),
        (kind::LABEL_REQUEST, &[1, 0, 0, 8, 2, 0, 1, 0, 2, 0, 1, 0], Status::MalformedTlvValue),
        (kind::LABEL_RELEASE, &[1, 0, 0, 5, 1, 2, 0, 1, 0], Status::MalformedTlvValue),
        (kind::LABEL_RELEASE, &[1, 0, 0, 0], Status::MalformedTlvValue),
        (kind::ADDRESS, &[1, 1, 0, 3, 0, 1, 9], Status::MalformedTlvValue),
        (kind::ADDRESS, &[1, 1, 0, 2, 0, 9], Status::UnsupportedAddressFamily),
        (kind::INITIALIZATION, &[5, 0, 0, 1, 9], Status::MalformedTlvValue),
        (kind::NOTIFICATION, &[], Status::MissingMessageParameters),
        (kind::LABEL_ABORT_REQUEST, &[1, 0, 0, 4, 2, 0, 1, 0], Status::MissingMessageParameters),
    ];
    for (kind, parameters, status) in cases {
        assert_eq!(message(*kind, parameters), about(*status, *kind), "{parameters:?}");
    }
}
