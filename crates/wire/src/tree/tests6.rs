use super::*;
use crate::Hex;
use crate::icmpv6;
use crate::ipv6::Protocol;
use base::MacAddr;
use core::net::Ipv6Addr;
use proptest::prelude::*;

const A: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
const B: MacAddr = MacAddr([2, 0, 0, 0, 0, 2]);

fn bytes(text: &str) -> Vec<u8> {
    text.split_whitespace().collect::<String>().parse::<Hex>().unwrap().0
}

fn address(text: &str) -> Ipv6Addr {
    text.parse().unwrap()
}

fn ethernet() -> Layer {
    Layer::Ethernet(Ethernet { src: A, dst: B, tags: vec![], ethertype: None })
}

fn ipv6(headers: Vec<ExtensionHeader>) -> Layer {
    Layer::Ipv6(Ipv6 {
        src: address("2001:db8::1"),
        dst: address("2001:db8::2"),
        protocol: None,
        hop_limit: 64,
        dscp: 46,
        ecn: 0,
        flow_label: 0x12345,
        headers,
    })
}

fn icmpv6(message: Icmpv6Message) -> Layer {
    Layer::Icmpv6(Icmpv6 { message, checksum: None, correct_checksum: None })
}

fn udp() -> Layer {
    Layer::Udp(Udp { src_port: 4000, dst_port: 53, length: None, checksum: None, correct_checksum: None })
}

fn options() -> Vec<ExtensionHeader> {
    let other = Ipv6Option::Other { kind: 0x1e, data: Hex(vec![1, 2, 3]) };
    vec![
        ExtensionHeader::HopByHop {
            options: vec![Ipv6Option::RouterAlert { value: 1 }, Ipv6Option::PadN { len: 0 }],
        },
        ExtensionHeader::DestinationOptions { options: vec![other, Ipv6Option::Pad1] },
        ExtensionHeader::Other { kind: 43, data: Hex(vec![0, 253, 0, 0, 0, 0, 0]) },
    ]
}

/// What a tree is as bytes, as JSON, and in one line.
fn round(layers: Vec<Layer>) -> String {
    let frame = encode(&Tree { layers }).unwrap();
    let tree = decode(&frame);
    assert_eq!(encode(&tree).as_ref(), Ok(&frame));
    let json = serde_json::to_string(&tree).unwrap();
    assert_eq!(serde_json::from_str::<Tree>(&json).unwrap(), tree, "{json}");
    summary(&tree)
}

#[test]
fn a_datagram_has_the_bytes_of_the_rfc() {
    let frame = encode(&Tree { layers: vec![ethernet(), ipv6(options()), udp()] }).unwrap();
    let want = "020000000002 020000000001 86dd 6b812345 0020 00 40
        20010db8000000000000000000000001 20010db8000000000000000000000002
        3c00 05020001 0100  2b00 1e03010203 00  1100 fd00 00000000  0fa0 0035 0008";
    assert_eq!(frame[..frame.len() - 2], bytes(want));
    let tree = decode(&frame);
    let Layer::Ipv6(layer) = &tree.layers[1] else { panic!("{tree:?}") };
    assert_eq!((&layer.headers, layer.protocol), (&options(), Some(Protocol::UDP)));
    let Layer::Udp(udp) = &tree.layers[2] else { panic!("{tree:?}") };
    assert_eq!(udp.correct_checksum, None);
    let json = serde_json::to_value(&tree).unwrap();
    assert_eq!((&json[1]["layer"], &json[1]["headers"][0]["header"]), (&"ipv6".into(), &"hop-by-hop".into()));
}

#[test]
fn listeners_of_groups_are_told_apart() {
    use crate::mld::{QueryV2, Record, RecordKind, Repr};
    let group = address("ff3e::1234");
    let line =
        |said| round(vec![ethernet(), ipv6(vec![]), icmpv6(Icmpv6Message::MulticastListener { said })]);
    let query = |group, v2| Repr::Query { max_resp_ms: 40_000, group, v2 };
    let v2 =
        QueryV2 { suppress: true, robustness: 2, interval_s: 128, sources: vec![address("2001:db8::9")] };
    assert!(line(query(Ipv6Addr::UNSPECIFIED, Some(v2.clone()))).ends_with("ICMPv6 who listens to groups"));
    assert!(line(query(group, Some(v2))).ends_with("who listens to ff3e::1234 from 2001:db8::9"));
    assert!(line(Repr::ReportV1 { group }).ends_with("listens to ff3e::1234"));
    assert!(line(Repr::Done { group }).ends_with("listens to ff3e::1234 no more"));
    let record = Record { kind: RecordKind::ToExclude, group, sources: Vec::new() };
    assert!(line(Repr::ReportV2 { records: vec![record] }).ends_with("listener report, ff3e::1234"));
    let said = r#"{"listener": "report-v2", "records": [{"kind": "to-exclude", "group": "ff3e::1234"}]}"#;
    let record = Record { kind: RecordKind::ToExclude, group, sources: Vec::new() };
    assert_eq!(serde_json::from_str::<Repr>(said).unwrap(), Repr::ReportV2 { records: vec![record] });
}

#[test]
fn lines_are_readable() {
    let ping = || icmpv6(Icmpv6Message::EchoRequest { ident: 7, sequence: 8, data: Hex(vec![1]) });
    assert_eq!(
        round(vec![ethernet(), ipv6(vec![]), ping()]),
        "2001:db8::1 > 2001:db8::2 ICMPv6 echo request, id 7, sequence 8"
    );
    let mpls = |label| Layer::Mpls(Mpls { stack: vec![Entry { label, tc: 0, ttl: 9 }] });
    assert_eq!(
        round(vec![ethernet(), mpls(2), ipv6(vec![]), ping()]),
        "MPLS 2 ttl 9, 2001:db8::1 > 2001:db8::2 ICMPv6 echo request, id 7, sequence 8"
    );
    assert_eq!(
        round(vec![ethernet(), mpls(77), ipv6(vec![]), udp()]),
        "MPLS 77 ttl 9, 2001:db8::1 > 2001:db8::2 UDP 4000 > 53"
    );
    let fragment = ExtensionHeader::Fragment { ident: 5, offset: 2, more: true };
    let Layer::Ipv6(piece) = ipv6(vec![fragment]) else { panic!("IPv6") };
    let piece = Layer::Ipv6(Ipv6 { protocol: Some(Protocol::UDP), ..piece });
    assert_eq!(
        round(vec![ethernet(), piece, Layer::Payload { bytes: Hex(vec![1, 2]) }]),
        "2001:db8::1 > 2001:db8::2 UDP fragment 5 at 16+ length 2"
    );
    let discovery = |said, options| icmpv6(Icmpv6Message::NeighborDiscovery { said, options });
    let target = address("fe80::1");
    let ask = discovery(
        Discovery::NeighborSolicitation { target },
        vec![NeighborOption::SourceLinkLayer { mac: A }],
    );
    assert!(
        round(vec![ethernet(), ipv6(vec![]), ask])
            .ends_with("ICMPv6 who has fe80::1, tell 02:00:00:00:00:01")
    );
    let said = Discovery::NeighborAdvertisement { router: true, solicited: true, replaces: true, target };
    let answer = discovery(said, vec![NeighborOption::TargetLinkLayer { mac: A }]);
    assert!(
        round(vec![ethernet(), ipv6(vec![]), answer])
            .ends_with("ICMPv6 fe80::1 is here, at 02:00:00:00:00:01")
    );
    let prefix = LinkPrefix {
        prefix: address("2001:db8::"),
        len: 64,
        on_link: true,
        autonomous: false,
        valid_s: 1,
        preferred_s: 2,
    };
    let said = Discovery::RouterAdvertisement {
        hop_limit: 64,
        managed: false,
        other: false,
        lifetime_s: 1800,
        reachable_ms: 0,
        retransmit_ms: 0,
    };
    let router = discovery(said, vec![NeighborOption::Prefix(prefix), NeighborOption::Mtu { mtu: 1500 }]);
    let line = round(vec![ethernet(), ipv6(vec![]), router]);
    assert!(
        line.ends_with("router advertisement, lifetime 1800 s, prefix 2001:db8::/64, MTU 1500"),
        "{line}"
    );
    let quote = || Quote { original: Hex(vec![0x60; 48]), extensions: vec![], without_length: false };
    let error = |message| round(vec![ethernet(), ipv6(vec![]), icmpv6(message)]);
    assert!(
        error(Icmpv6Message::PacketTooBig { mtu: 1400, quote: quote() })
            .ends_with("packet too big, MTU 1400")
    );
    let labels = Quote {
        original: Hex(vec![0x60; 128]),
        extensions: vec![Extension::MplsStack { stack: vec![Entry { label: 17, tc: 0, ttl: 1 }] }],
        without_length: false,
    };
    let line = error(Icmpv6Message::TimeExceeded { code: 0, quote: labels });
    assert!(line.ends_with("ICMPv6 time exceeded in transit, labels 17"), "{line}");
}

#[test]
fn what_has_no_name_is_kept_whole() {
    let other = |at: usize, value: u8| {
        let quote = Quote { original: Hex(vec![0x60; 48]), extensions: vec![], without_length: false };
        let message = Icmpv6Message::TimeExceeded { code: 0, quote };
        let mut frame = encode(&Tree { layers: vec![ethernet(), ipv6(options()), icmpv6(message)] }).unwrap();
        frame[at] = value;
        let tree = decode(&frame);
        assert_eq!(encode(&tree), Ok(frame));
        tree
    };
    // An unused byte of the error; padding that is not zero; a Router Alert with the wrong length.
    let tree = other(14 + 40 + 24 + 6, 1);
    assert!(matches!(&tree.layers[2], Layer::Icmpv6(Icmpv6 { message: Icmpv6Message::Other { .. }, .. })));
    assert!(matches!(&other(14 + 40 + 1, 1).layers[1], Layer::Ipv6(_)));
    let tree = other(14 + 40 + 3, 9);
    let Layer::Ipv6(layer) = &tree.layers[1] else { panic!("{tree:?}") };
    assert!(matches!(layer.headers[0], ExtensionHeader::Other { kind: 0, .. }));
    let tree = other(14 + 5, 0xff);
    assert!(matches!(&tree.layers[1], Layer::Malformed { of, .. } if of == "ipv6"));
}

#[test]
fn values_that_do_not_fit_are_errors() {
    let error = |layers: Vec<Layer>| encode(&Tree { layers }).unwrap_err().to_string();
    let short = ExtensionHeader::HopByHop { options: vec![Ipv6Option::Pad1] };
    assert!(error(vec![ipv6(vec![short]), udp()]).starts_with("ipv6: options fill up to 256 units"));
    let fragment = ExtensionHeader::Fragment { ident: 0, offset: 0x2000, more: false };
    assert_eq!(
        error(vec![ipv6(vec![fragment]), udp()]),
        "ipv6: fragment offset is 8192, outside 0 to 8191 (at byte 0)"
    );
    let ping = icmpv6(Icmpv6Message::EchoRequest { ident: 0, sequence: 0, data: Hex(vec![]) });
    assert!(error(vec![ping]).starts_with("icmpv6: without an ipv6 layer"));
    let rest =
        Icmpv6Message::Other { icmp_type: icmpv6::Type(9), code: 0, rest: Hex(vec![]), data: Hex(vec![]) };
    assert_eq!(error(vec![ipv6(vec![]), icmpv6(rest)]), "icmpv6: rest has four bytes (at byte 4)");
}

/// Frames that are right in their outer layers more often than chance has it.
fn likely_frames() -> impl Strategy<Value = Vec<u8>> {
    let start = prop_oneof![
        Just("86dd 60000000 0020 3aff"),
        Just("86dd 60000000 0020 11ff"),
        Just("86dd 60000000 0040 0001"),
        Just("86dd 60000000 0040 2c01"),
        Just("86dd 60000000 0080 3a01"),
        Just("8847 00002140 60000000 0020 3aff"),
    ];
    let kinds = prop_oneof![
        Just("8700 0000 00000000"),
        Just("8600 0000 40000708"),
        Just("0300 0000 10000000"),
        Just("3a00 0502 0000 0100 8000"),
        Just("")
    ];
    (
        any::<[u8; 12]>(),
        start,
        any::<[u8; 32]>(),
        kinds,
        proptest::collection::vec(prop_oneof![0u8..6, any::<u8>()], 0..200),
    )
        .prop_map(|(macs, start, addresses, kind, rest)| {
            [&macs[..], &bytes(start), &addresses, &bytes(kind), &rest].concat()
        })
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn decoding_loses_nothing(frame in likely_frames()) {
        let tree = decode(&frame);
        prop_assert_eq!(encode(&tree), Ok(frame));
        let _ = summary(&tree);
        let json = serde_json::to_string(&tree).unwrap();
        prop_assert_eq!(serde_json::from_str::<Tree>(&json).unwrap(), tree);
    }
}
