use super::*;
use crate::hex::Hex;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use proptest::prelude::*;

fn request() -> LspPing {
    LspPing {
        version: 1,
        flags: 1,
        message_type: 1,
        reply_mode: 2,
        return_code: 0,
        return_subcode: 0,
        handle: 0xdead_beef,
        sequence: 7,
        sent: 0xe000_0000_8000_0000,
        received: 0,
        tlvs: vec![
            Tlv::TargetFecStack {
                fecs: vec![
                    Fec::RsvpIpv4 {
                        endpoint: Ipv4Addr::new(10, 0, 0, 9),
                        tunnel_id: 3,
                        extended_tunnel_id: 0x0a00_0001,
                        sender: Ipv4Addr::new(10, 0, 0, 1),
                        lsp_id: 2,
                    },
                    Fec::LdpIpv4 { prefix: Ipv4Addr::new(192, 0, 2, 1), length: 32 },
                ],
            },
            Tlv::Pad { action: 2, rest: Hex(vec![0, 0]) },
        ],
    }
}

#[test]
fn a_message_there_and_back() {
    let bytes = request().write().expect("bytes");
    // RFC 8029, 3: the length of a prefix of LDP is 5, and three zeros follow.
    assert_eq!(bytes.len(), 32 + 4 + (4 + 20) + (4 + 8) + 4 + 4);
    assert_eq!(LspPing::read(&bytes), Ok(request()));
    let mut line = String::new();
    request().summarise(&mut line).expect("a line");
    assert_eq!(
        line,
        "LSP ping request, sequence 7, RSVP 10.0.0.1 > 10.0.0.9 tunnel 3 LSP 2, LDP 192.0.2.1/32"
    );
}

#[test]
fn lengths_that_lie_are_refused() {
    let bytes = request().write().expect("bytes");
    let error = |bytes: &[u8]| LspPing::read(bytes).expect_err("a refusal").to_string();
    assert_eq!(error(&bytes[..31]), "lspping: 32 bytes needed, 31 there (at byte 31)");
    assert_eq!(error(&bytes[..34]), "lspping: 4 bytes needed, 2 there (at byte 34)");
    assert_eq!(error(&bytes[..40]), "lspping: TLV length is 36, outside 0 to 4 (at byte 34)");
    let mut padded = bytes;
    *padded.last_mut().expect("padding") = 1;
    assert_eq!(error(&padded), "lspping: the padding of a TLV is not zero (at byte 32)");
}

#[test]
fn a_stack_with_bytes_that_have_no_name_is_kept_whole() {
    let mut bytes = request().write().expect("bytes");
    // Must be zero, in front of the tunnel id.
    bytes[32 + 4 + 4 + 4] = 1;
    let read = LspPing::read(&bytes).expect("a message");
    assert!(matches!(read.tlvs[0], Tlv::Other { kind: 1, .. }), "{read:?}");
    assert_eq!(read.write(), Ok(bytes.clone()));
    // A receiver does not look at it.
    assert_eq!(LspPing::parse(&bytes), Ok(request()));
}

fn with(tlvs: Vec<Tlv>) -> LspPing {
    LspPing { message_type: 2, return_code: code::SEE_MAPPING, tlvs, ..request() }
}

/// By hand, after the figures of RFC 8029, 3.4, 3.4.1.2 and 3.7, of RFC 5884, 6.1, and of RFC 6425, 3.1 to 3.3.
#[test]
fn tlvs_have_the_bytes_of_the_rfcs() {
    let labels = vec![
        MappedLabel { label: 16, tc: 5, bottom: false, protocol: 4 },
        MappedLabel { label: 3, tc: 0, bottom: true, protocol: 3 },
    ];
    let mapping = Mapping {
        mtu: 1500,
        flags: 2,
        place: Place::Ipv4 { address: Ipv4Addr::new(10, 0, 0, 2), interface: Ipv4Addr::new(10, 0, 1, 2) },
        return_code: code::SWITCHED,
        return_subcode: 1,
        parts: vec![
            MappingPart::Labels { labels },
            MappingPart::Multipath { kind: 0, information: Hex(Vec::new()) },
        ],
    };
    let received = Received {
        place: Place::Ipv4 { address: Ipv4Addr::new(10, 0, 0, 2), interface: Ipv4Addr::new(10, 0, 1, 2) },
        stack: vec![0x0001_0101],
    };
    let errored = vec![RawTlv { kind: 77, value: Hex(vec![1]) }];
    let cases: Vec<(Tlv, Vec<u8>)> = vec![
        (
            Tlv::DownstreamDetailedMapping(mapping),
            vec![
                0, 20, 0, 36, 5, 220, 1, 2, 10, 0, 0, 2, 10, 0, 1, 2, 8, 1, 0, 20, 0, 2, 0, 8, 0, 1, 0x0a, 4,
                0, 0, 0x31, 3, 0, 1, 0, 4, 0, 0, 0, 0,
            ],
        ),
        (
            Tlv::InterfaceAndLabelStack(received),
            vec![0, 7, 0, 16, 1, 0, 0, 0, 10, 0, 0, 2, 10, 0, 1, 2, 0, 1, 1, 1],
        ),
        (Tlv::ErroredTlvs { errored }, vec![0, 9, 0, 8, 0, 77, 0, 1, 1, 0, 0, 0]),
        (Tlv::ReplyTos { tos: 0xc0 }, vec![0, 10, 0, 4, 0xc0, 0, 0, 0]),
        (Tlv::BfdDiscriminator { discriminator: 0x0102_0304 }, vec![0, 15, 0, 4, 1, 2, 3, 4]),
        (
            Tlv::TargetFecStack {
                fecs: vec![
                    Fec::Nil { label: 1 },
                    Fec::BgpIpv4 { prefix: Ipv4Addr::new(192, 0, 2, 0), length: 24 },
                ],
            },
            vec![0, 1, 0, 20, 0, 16, 0, 4, 0, 0, 0x10, 0, 0, 12, 0, 5, 192, 0, 2, 0, 24, 0, 0, 0],
        ),
        (
            Tlv::TargetFecStack {
                fecs: vec![Fec::RsvpP2mpIpv4 {
                    p2mp_id: 0x0102_0304,
                    tunnel_id: 5,
                    extended_tunnel_id: 0x0a00_0001,
                    sender: Ipv4Addr::new(10, 0, 0, 1),
                    lsp_id: 6,
                }],
            },
            vec![0, 1, 0, 24, 0, 17, 0, 20, 1, 2, 3, 4, 0, 0, 0, 5, 10, 0, 0, 1, 10, 0, 0, 1, 0, 0, 0, 6],
        ),
        (
            Tlv::TargetFecStack {
                fecs: vec![Fec::LdpP2mp {
                    root: Ipv4Addr::new(10, 0, 0, 1).into(),
                    opaque: Hex(vec![1, 0, 4, 0, 0, 0, 9]),
                }],
            },
            vec![0, 1, 0, 20, 0, 19, 0, 16, 0, 1, 4, 10, 0, 0, 1, 0, 7, 1, 0, 4, 0, 0, 0, 9],
        ),
        (
            Tlv::P2mpResponder {
                responders: vec![
                    Responder::Egress { address: Ipv4Addr::new(10, 0, 0, 9).into() },
                    Responder::Node { address: Ipv6Addr::LOCALHOST.into() },
                ],
            },
            [&[0, 11, 0, 28, 0, 1, 0, 4, 10, 0, 0, 9, 0, 4, 0, 16][..], &[0; 15], &[1]].concat(),
        ),
        (Tlv::EchoJitter { jitter_ms: 1000 }, vec![0, 12, 0, 4, 0, 0, 3, 232]),
    ];
    for (tlv, bytes) in cases {
        let message = with(vec![tlv]);
        let written = message.write().expect("bytes");
        assert_eq!(written[HEADER_LEN..], bytes, "{message:?}");
        assert_eq!(LspPing::read(&written), Ok(message));
    }
    let mut line = String::new();
    with(Vec::new()).summarise(&mut line).expect("a line");
    assert_eq!(line, "LSP ping reply, return code 14: see the downstream mapping, sequence 7");
}

/// A mapping that is too short, one that lies about its length, and a stack with half a label are kept as they are.
#[test]
fn what_has_no_name_is_kept_whole() {
    let value = |kind: u8, length: u8| [&[0, 0, kind, 0][..], &[0; 11], &[length]].concat();
    let kinds =
        [(20, value(3, 0)), (20, value(1, 4)), (7, vec![1, 0, 0, 0, 9]), (7, vec![0; 14]), (10, vec![1, 2])];
    for (kind, value) in kinds.into_iter().chain([(3, Vec::new()), (5, vec![0; 5]), (1, vec![0, 3, 0, 9])]) {
        let message = with(vec![Tlv::Other { kind, value: Hex(value) }]);
        let written = message.write().expect("bytes");
        assert_eq!(LspPing::read(&written), Ok(message));
    }
}

#[test]
fn codes_have_words() {
    let named = (0..=u8::MAX).filter(|code| code::words(*code) != "unassigned").count();
    assert_eq!((named, code::words(code::OTHER_LABEL)), (15, "mapping for the FEC is not the given label"));
}

fn address() -> impl Strategy<Value = IpAddr> {
    prop_oneof![
        any::<u32>().prop_map(|bits| IpAddr::from(Ipv4Addr::from(bits))),
        any::<u128>().prop_map(|bits| IpAddr::from(Ipv6Addr::from(bits))),
    ]
}

fn responder() -> impl Strategy<Value = Responder> {
    prop_oneof![
        address().prop_map(|address| Responder::Egress { address }),
        address().prop_map(|address| Responder::Node { address }),
        (5u16.., proptest::collection::vec(any::<u8>(), 0..9))
            .prop_map(|(kind, value)| Responder::Other { kind, value: Hex(value) }),
    ]
}

fn fec() -> impl Strategy<Value = Fec> {
    let v4 = || (any::<u32>(), 0u8..=32).prop_map(|(bits, length)| (Ipv4Addr::from(bits), length));
    let v6 = || (any::<u128>(), 0u8..=128).prop_map(|(bits, length)| (Ipv6Addr::from(bits), length));
    prop_oneof![
        v4().prop_map(|(prefix, length)| Fec::LdpIpv4 { prefix, length }),
        v6().prop_map(|(prefix, length)| Fec::LdpIpv6 { prefix, length }),
        v4().prop_map(|(prefix, length)| Fec::BgpIpv4 { prefix, length }),
        v6().prop_map(|(prefix, length)| Fec::BgpIpv6 { prefix, length }),
        v4().prop_map(|(prefix, length)| Fec::GenericIpv4 { prefix, length }),
        v6().prop_map(|(prefix, length)| Fec::GenericIpv6 { prefix, length }),
        (any::<u32>(), any::<u16>(), any::<u32>(), any::<u32>(), any::<u16>()).prop_map(
            |(endpoint, tunnel_id, extended_tunnel_id, sender, lsp_id)| Fec::RsvpIpv4 {
                endpoint: endpoint.into(),
                tunnel_id,
                extended_tunnel_id,
                sender: sender.into(),
                lsp_id,
            }
        ),
        (0u32..1 << 20).prop_map(|label| Fec::Nil { label }),
        (any::<u32>(), any::<u16>(), any::<u32>(), any::<u32>(), any::<u16>()).prop_map(
            |(p2mp_id, tunnel_id, extended_tunnel_id, sender, lsp_id)| Fec::RsvpP2mpIpv4 {
                p2mp_id,
                tunnel_id,
                extended_tunnel_id,
                sender: sender.into(),
                lsp_id,
            }
        ),
        (address(), proptest::collection::vec(any::<u8>(), 0..9))
            .prop_map(|(root, opaque)| Fec::LdpP2mp { root, opaque: Hex(opaque) }),
    ]
}

fn place() -> impl Strategy<Value = Place> {
    prop_oneof![
        any::<(u32, u32)>().prop_map(|(a, b)| Place::Ipv4 { address: a.into(), interface: b.into() }),
        any::<(u32, u32)>().prop_map(|(a, index)| Place::Ipv4Unnumbered { address: a.into(), index }),
        any::<(u128, u128)>().prop_map(|(a, b)| Place::Ipv6 { address: a.into(), interface: b.into() }),
        any::<(u128, u32)>().prop_map(|(a, index)| Place::Ipv6Unnumbered { address: a.into(), index }),
    ]
}

fn part() -> impl Strategy<Value = MappingPart> {
    let label = (0u32..1 << 20, 0u8..8, any::<bool>(), any::<u8>())
        .prop_map(|(label, tc, bottom, protocol)| MappedLabel { label, tc, bottom, protocol });
    let peer = prop_oneof![
        Just(None),
        any::<u32>().prop_map(|a| Some(IpAddr::from(Ipv4Addr::from(a)))),
        any::<u128>().prop_map(|a| Some(IpAddr::from(Ipv6Addr::from(a)))),
    ];
    let change = (any::<u8>(), peer, proptest::option::of(fec()));
    let bytes = || proptest::collection::vec(any::<u8>(), 0..9).prop_map(Hex);
    prop_oneof![
        (any::<u8>(), bytes()).prop_map(|(kind, information)| MappingPart::Multipath { kind, information }),
        proptest::collection::vec(label, 0..5).prop_map(|labels| MappingPart::Labels { labels }),
        change.prop_map(|(operation, peer, fec)| MappingPart::FecChange(FecChange { operation, peer, fec })),
        (4u16.., bytes()).prop_map(|(kind, value)| MappingPart::Other { kind, value }),
    ]
}

fn tlv() -> impl Strategy<Value = Tlv> {
    let mapping = (any::<[u8; 5]>(), place(), proptest::collection::vec(part(), 0..4)).prop_map(
        |([a, b, flags, return_code, return_subcode], place, parts)| Mapping {
            mtu: u16::from_be_bytes([a, b]),
            flags,
            place,
            return_code,
            return_subcode,
            parts,
        },
    );
    let bytes = || proptest::collection::vec(any::<u8>(), 0..9).prop_map(Hex);
    prop_oneof![
        proptest::collection::vec(fec(), 0..4).prop_map(|fecs| Tlv::TargetFecStack { fecs }),
        (any::<u8>(), bytes()).prop_map(|(action, rest)| Tlv::Pad { action, rest }),
        any::<u32>().prop_map(|number| Tlv::Vendor { number }),
        (place(), proptest::collection::vec(any::<u32>(), 0..4))
            .prop_map(|(place, stack)| Tlv::InterfaceAndLabelStack(Received { place, stack })),
        proptest::collection::vec((any::<u16>(), bytes()), 0..4).prop_map(|all| Tlv::ErroredTlvs {
            errored: all.into_iter().map(|(kind, value)| RawTlv { kind, value }).collect()
        }),
        any::<u8>().prop_map(|tos| Tlv::ReplyTos { tos }),
        any::<u32>().prop_map(|discriminator| Tlv::BfdDiscriminator { discriminator }),
        proptest::collection::vec(responder(), 0..3).prop_map(|responders| Tlv::P2mpResponder { responders }),
        any::<u32>().prop_map(|jitter_ms| Tlv::EchoJitter { jitter_ms }),
        mapping.prop_map(Tlv::DownstreamDetailedMapping),
        (21u16.., bytes()).prop_map(|(kind, value)| Tlv::Other { kind, value }),
    ]
}

proptest! {
    #![proptest_config(testing::cases(512))]
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(0u8..9, 0..120)) {
        let _ = LspPing::parse(&bytes);
        if let Ok(message) = LspPing::read(&bytes) {
            prop_assert_eq!(message.write(), Ok(bytes));
        }
    }

    #[test]
    fn any_message_is_read_again(tlvs in proptest::collection::vec(tlv(), 0..5)) {
        let message = LspPing { tlvs, ..request() };
        let bytes = message.write().expect("bytes");
        prop_assert_eq!(LspPing::read(&bytes), Ok(message.clone()));
        prop_assert_eq!(LspPing::parse(&bytes), Ok(message));
    }

    /// A message of which a byte is another: it is read or refused, and what is read can be written.
    #[test]
    fn a_message_with_another_byte(tlvs in proptest::collection::vec(tlv(), 1..4), at in any::<usize>(), by in 1u8..) {
        let mut bytes = LspPing { tlvs, ..request() }.write().expect("bytes");
        let at = at % bytes.len();
        bytes[at] ^= by;
        if let Ok(message) = LspPing::parse(&bytes) {
            prop_assert!(message.write().is_ok());
        }
        if let Ok(message) = LspPing::read(&bytes) {
            prop_assert_eq!(message.write(), Ok(bytes));
        }
    }
}
