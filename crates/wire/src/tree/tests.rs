use super::*;
use crate::Hex;
use crate::ethernet::{EtherType, Tag};
use crate::ipv4::Protocol;
use crate::{arp, ethernet, icmp, rsvp};
use base::MacAddr;
use core::net::Ipv4Addr;
use proptest::prelude::*;

const A: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
const B: MacAddr = MacAddr([2, 0, 0, 0, 0, 2]);

fn bytes(text: &str) -> Vec<u8> {
    text.split_whitespace().collect::<String>().parse::<Hex>().unwrap().0
}

fn ethernet() -> Layer {
    Layer::Ethernet(Ethernet { src: A, dst: B, tags: vec![], ethertype: None })
}

fn ipv4(options: Vec<IpOption>) -> Ipv4 {
    Ipv4 {
        src: Ipv4Addr::new(10, 0, 0, 1),
        dst: Ipv4Addr::new(10, 0, 0, 2),
        protocol: None,
        ttl: 64,
        dscp: 46,
        ecn: 0,
        ident: 7,
        reserved_flag: false,
        dont_fragment: false,
        more_fragments: false,
        fragment_offset: 0,
        options,
        checksum: None,
        correct_checksum: None,
    }
}

fn udp(dst_port: u16) -> Layer {
    Layer::Udp(Udp { src_port: 4000, dst_port, length: None, checksum: None, correct_checksum: None })
}

/// A labelled test packet of 64 bytes (60 without frame check sequence), decoded by hand.
const TEST_PACKET: &str =
    "020000000002 020000000001 8847  00401540 45b8 002a 0007 0000 4011 6602 0a000001 0a000002
    0fa0 f0ae 0016 b27c 000003 00000011 00000000f42400";

fn test_packet() -> Tree {
    let mpls = Layer::Mpls(Mpls { stack: vec![Entry { label: 1025, tc: 2, ttl: 64 }] });
    let measurement = Layer::Measurement(Measurement { stream: 3, sequence: 17, departure_ps: 16_000_000 });
    Tree { layers: vec![ethernet(), mpls, Layer::Ipv4(ipv4(vec![])), udp(61_614), measurement] }
}

#[test]
fn a_test_packet_encodes_and_decodes() {
    let tree = test_packet();
    let frame = encode(&tree).unwrap();
    assert_eq!(frame, bytes(TEST_PACKET));
    let decoded = decode(&frame);
    assert_eq!(
        summary(&decoded),
        "MPLS 1025 tc 2 ttl 64, 10.0.0.1 > 10.0.0.2 UDP 4000 > 61614 test stream 3 sequence 17 departure 0.000016000000"
    );
    let json = serde_json::to_value(&decoded).unwrap();
    assert_eq!(
        json[0],
        serde_json::json!({
            "layer": "ethernet", "src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02", "ethertype": 0x8847
        })
    );
    assert_eq!(json[1], serde_json::json!({"layer": "mpls", "stack": [{"label": 1025, "tc": 2, "ttl": 64}]}));
    assert_eq!(
        json[4],
        serde_json::json!({
            "layer": "measurement", "stream": 3, "sequence": 17, "departure_ps": 16_000_000
        })
    );
    assert_eq!(encode(&decoded), Ok(frame));
}

#[test]
fn what_is_given_is_kept_and_what_is_left_out_is_computed() {
    let mut tree = decode(&encode(&test_packet()).unwrap());
    let Layer::Ipv4(ip) = &mut tree.layers[2] else { panic!("an IPv4 layer") };
    let right = ip.checksum.replace(0x0bad);
    ip.ttl = 63;
    let frame = encode(&tree).unwrap();
    let read = decode(&frame);
    let Layer::Ipv4(ip) = &read.layers[2] else { panic!("an IPv4 layer") };
    // One less in the upper byte of a word is one more in the upper byte of the checksum.
    assert_eq!((ip.checksum, ip.correct_checksum), (Some(0x0bad), right.map(|sum| sum + 0x100)));
    assert!(summary(&read).contains("10.0.0.2 [wrong checksum 0x0bad, not 0x"));
    assert_eq!(encode(&read), Ok(frame));
}

#[test]
fn an_error_with_a_label_stack() {
    let quote = Quote {
        original: Hex(encode(&test_packet()).unwrap()[18..].to_vec()),
        extensions: vec![
            Extension::MplsStack {
                stack: vec![Entry { label: 17, tc: 0, ttl: 1 }, Entry { label: 18, tc: 0, ttl: 1 }],
            },
            Extension::Other { class: 2, c_type: 1, data: Hex(vec![1, 2, 3, 4]) },
        ],
        without_length: false,
    };
    let message = IcmpMessage::TimeExceeded { code: 0, quote };
    let icmp = Layer::Icmp(Icmp { message, checksum: None, correct_checksum: None });
    let frame = encode(&Tree { layers: vec![ethernet(), Layer::Ipv4(ipv4(vec![])), icmp] }).unwrap();
    let tree = decode(&frame);
    assert_eq!(summary(&tree), "10.0.0.1 > 10.0.0.2 ICMP time exceeded in transit, labels 17 18");
    assert_eq!(encode(&tree), Ok(frame));
    let json = serde_json::to_string(&tree).unwrap();
    assert!(json.contains(r#""layer":"icmp","message":"time-exceeded","code":0"#), "{json}");
    assert_eq!(serde_json::from_str::<Tree>(&json).unwrap(), tree);
}

#[test]
fn a_label_stack_without_a_length_is_read() {
    let stack = vec![Entry { label: 17, tc: 0, ttl: 1 }];
    let quote = Quote {
        original: Hex(vec![0x45; 128]),
        extensions: vec![Extension::MplsStack { stack }],
        without_length: true,
    };
    let message = IcmpMessage::TimeExceeded { code: 0, quote };
    let icmp = Layer::Icmp(Icmp { message, checksum: None, correct_checksum: None });
    let frame = encode(&Tree { layers: vec![ethernet(), Layer::Ipv4(ipv4(vec![])), icmp] }).unwrap();
    assert_eq!(frame[14 + 20 + 5], 0, "the length field");
    let tree = decode(&frame);
    assert_eq!(summary(&tree), "10.0.0.1 > 10.0.0.2 ICMP time exceeded in transit, labels 17");
    assert_eq!(encode(&tree), Ok(frame.clone()));
    // Without the right checksum it may be part of the packet.
    let mut other = frame;
    let at = other.len() - 10;
    other[at] ^= 1;
    let Layer::Icmp(icmp) = &decode(&other).layers[2] else { panic!("ICMP") };
    assert!(icmp.message.quote().is_some_and(|quote| quote.extensions.is_empty()));
}

#[test]
fn what_follows_labels_in_the_place_of_an_ip_version_is_named() {
    let labels = Layer::Mpls(Mpls { stack: vec![Entry { label: 100, tc: 0, ttl: 9 }] });
    let rest = || Layer::Payload { bytes: Hex(vec![1, 2, 3]) };
    let word = Pseudowire { flags: 1, fragmentation: 2, length: 3, sequence: 4 };
    let channel = Ach { version: 0, reserved: 0, channel_type: 0x21 };
    for (layer, line) in [
        (Layer::Pseudowire(word), "pseudowire control word, sequence 4"),
        (Layer::Ach(channel), "associated channel, type 0x0021"),
    ] {
        let tree = Tree { layers: vec![ethernet(), labels.clone(), layer.clone(), rest()] };
        let frame = encode(&tree).unwrap();
        let read = decode(&frame);
        assert_eq!(read.layers[2], layer);
        assert_eq!(summary(&read), format!("MPLS 100 ttl 9, {line} length 3"));
        assert_eq!(encode(&read), Ok(frame));
    }
    let udp = |dst_port| {
        Layer::Udp(Udp { src_port: 1, dst_port, length: None, checksum: None, correct_checksum: None })
    };
    let tree = Tree { layers: vec![ethernet(), Layer::Ipv4(ipv4(vec![])), udp(6635), labels, rest()] };
    let frame = encode(&tree).unwrap();
    assert_eq!(summary(&decode(&frame)), "10.0.0.1 > 10.0.0.2 UDP 1 > 6635 MPLS 100 ttl 9, length 3");
}

#[test]
fn an_error_with_bytes_that_have_no_name_is_kept_whole() {
    let quote = |extensions| Quote { original: Hex(vec![0x45; 128]), extensions, without_length: false };
    let error = |quote| {
        let message = IcmpMessage::TimeExceeded { code: 0, quote };
        let icmp = Layer::Icmp(Icmp { message, checksum: None, correct_checksum: None });
        encode(&Tree { layers: vec![ethernet(), Layer::Ipv4(ipv4(vec![])), icmp] }).unwrap()
    };
    let is_other = |frame: Vec<u8>| {
        let tree = decode(&frame);
        let Layer::Icmp(icmp) = &tree.layers[2] else { panic!("{tree:?}") };
        let other = matches!(icmp.message, IcmpMessage::Other { .. });
        assert_eq!(encode(&tree), Ok(frame));
        other
    };
    let mut unused = error(quote(vec![]));
    assert!(!is_other(unused.clone()));
    unused[41] = 1;
    assert!(is_other(unused));
    // RFC 4884, 7: an extension structure may go without checksum.
    let entry = Entry { label: 17, tc: 0, ttl: 1 };
    let mut no_checksum = error(quote(vec![Extension::MplsStack { stack: vec![entry] }]));
    assert!(!is_other(no_checksum.clone()));
    no_checksum[42 + 128 + 2..][..2].fill(0);
    assert!(is_other(no_checksum));
}

#[test]
fn lines_are_readable() {
    let line = |layers: Vec<Layer>| summary(&decode(&encode(&Tree { layers }).unwrap()));
    let ask = arp::Repr::request(A, Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
    let arp = |r: arp::Repr| {
        let arp::Repr { operation, sender_mac, sender_ip, target_mac, target_ip } = r;
        Layer::Arp(Arp { operation, sender_mac, sender_ip, target_mac, target_ip })
    };
    let padding = || Layer::Padding { bytes: Hex(vec![0; 18]) };
    assert_eq!(line(vec![ethernet(), arp(ask), padding()]), "ARP who has 10.0.0.2 tell 10.0.0.1");
    assert_eq!(line(vec![ethernet(), arp(ask.reply(B)), padding()]), "ARP 10.0.0.2 is at 02:00:00:00:00:02");
    let tag = Tag { tpid: EtherType::VLAN, priority: 0, drop_eligible: false, vlan: 9 };
    let other = |tags| Layer::Ethernet(Ethernet { src: A, dst: B, tags, ethertype: Some(EtherType(0x88cc)) });
    let payload = || Layer::Payload { bytes: Hex(vec![1, 2, 3]) };
    let plain = "02:00:00:00:00:01 > 02:00:00:00:00:02 ethertype 0x88cc length 3";
    assert_eq!(line(vec![other(vec![]), payload()]), plain);
    assert_eq!(line(vec![other(vec![tag]), payload()]), format!("vlan 9, {plain}"));
    let fragment =
        Ipv4 { protocol: Some(Protocol::UDP), fragment_offset: 185, more_fragments: true, ..ipv4(vec![]) };
    assert_eq!(
        line(vec![ethernet(), Layer::Ipv4(fragment), payload()]),
        "10.0.0.1 > 10.0.0.2 UDP fragment 7 at 1480+ length 3"
    );
    assert_eq!(
        line(vec![ethernet(), Layer::Ipv4(ipv4(vec![])), udp(53), payload()]),
        "10.0.0.1 > 10.0.0.2 UDP 4000 > 53 length 3"
    );
}

fn path_tear() -> rsvp::Message {
    let (ingress, egress) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 9, 1));
    rsvp::Message::PathTear(rsvp::PathTear {
        common: rsvp::Common::default(),
        session: rsvp::Session::LspTunnelIpv4 {
            end_point: egress,
            tunnel_id: 5,
            extended_tunnel_id: ingress,
        },
        hop: rsvp::RsvpHop { address: ingress.into(), lih: 1 },
        sender: Some(rsvp::SenderDescriptor::of(rsvp::SenderTemplate::LspTunnelIpv4 {
            sender: ingress,
            lsp_id: 1,
        })),
    })
}

#[test]
fn rsvp_messages_are_read_object_by_object() {
    let mut message = Vec::new();
    path_tear().emit(0, 255, &mut message).unwrap();
    let raw = rsvp::RawMessage::decode(&message).unwrap();
    let alert = vec![IpOption::RouterAlert { value: 0 }];
    let layers = vec![ethernet(), Layer::Ipv4(ipv4(alert)), Layer::Rsvp(raw)];
    let frame = encode(&Tree { layers }).unwrap();
    let tree = decode(&frame);
    assert_eq!(tree.layers.len(), 3);
    let line = summary(&tree);
    assert!(line.starts_with("10.0.0.1 > 10.0.0.2 RSVP PathTear "), "{line}");
    assert_eq!(encode(&tree).as_ref(), Ok(&frame));
    let json = serde_json::to_value(&tree).unwrap();
    assert_eq!((&json[2]["layer"], &json[2]["send_ttl"]), (&"rsvp".into(), &255.into()));
    assert_eq!(serde_json::from_value::<Tree>(json).unwrap(), tree);

    // Another time to live in the message: its checksum is wrong, and kept.
    let mut damaged = frame.clone();
    damaged[42] = 1;
    assert!(summary(&decode(&damaged)).contains(" [rsvp: checksum 0x"));
    assert_eq!(encode(&decode(&damaged)), Ok(damaged));

    // An object that goes on behind the message.
    let mut damaged = frame;
    damaged[47] = 0xfc;
    let tree = decode(&damaged);
    let Layer::Malformed { of, offset: 46, .. } = &tree.layers[2] else { panic!("{tree:?}") };
    assert_eq!(of, "rsvp");
    assert_eq!(encode(&tree), Ok(damaged));
}

#[test]
fn malformed_layers_keep_their_bytes() {
    let mut frame = encode(&test_packet()).unwrap();
    frame[43] = 99; // The UDP length.
    let tree = decode(&frame);
    let Layer::Malformed { of, offset, reason } = &tree.layers[3] else { panic!("{tree:?}") };
    assert_eq!((of.as_str(), *offset, reason.as_str()), ("udp", 42, "length is 99, outside 8 to 22"));
    assert_eq!(encode(&tree), Ok(frame.clone()));
    for end in 0..frame.len() {
        let tree = decode(&frame[..end]);
        assert_eq!(encode(&tree).as_deref(), Ok(&frame[..end]));
    }
}

#[test]
fn odd_options_are_kept() {
    for options in ["94040000 01010100", "01000000", "00010203", "87030100"] {
        let raw = vec![IpOption::Raw { bytes: Hex(bytes(options)) }];
        let ip = Ipv4 { protocol: Some(Protocol(200)), reserved_flag: true, ..ipv4(raw) };
        let frame = encode(&Tree { layers: vec![ethernet(), Layer::Ipv4(ip)] }).unwrap();
        let tree = decode(&frame);
        assert_eq!(encode(&tree), Ok(frame));
        let Layer::Ipv4(ip) = &tree.layers[1] else { panic!("an IPv4 layer") };
        assert_eq!(matches!(ip.options[0], IpOption::Raw { .. }), options == "00010203");
    }
}

#[test]
fn values_that_do_not_fit_are_errors() {
    let error = |layers: Vec<Layer>| encode(&Tree { layers }).unwrap_err().to_string();
    let entry = Entry { label: 1 << 20, tc: 0, ttl: 1 };
    let good = Entry { label: 1, ..entry };
    assert_eq!(
        error(vec![Layer::Mpls(Mpls { stack: vec![good, entry] })]),
        "mpls: label is 1048576, outside 0 to 1048575 (at byte 4)"
    );
    assert_eq!(
        error(vec![Layer::Ipv4(Ipv4 { dscp: 64, ..ipv4(vec![]) }), udp(1)]),
        "ipv4: DSCP is 64, outside 0 to 63 (at byte 0)"
    );
    assert_eq!(error(vec![ethernet()]), "ethernet: the next layer does not say the ethertype (at byte 12)");
    let big = Layer::Payload { bytes: Hex(vec![0; 65_530]) };
    assert!(error(vec![Layer::Ipv4(ipv4(vec![])), udp(1), big]).starts_with("udp: payload is 65530"));
    let rest = IcmpMessage::Other { icmp_type: icmp::Type(9), code: 0, rest: Hex(vec![]), data: Hex(vec![]) };
    let layer = Layer::Icmp(Icmp { message: rest, checksum: None, correct_checksum: None });
    assert_eq!(error(vec![layer]), "icmp: rest has four bytes (at byte 4)");
}

/// RSVP messages of objects that are whole, whatever is in them.
fn rsvp_frames() -> impl Strategy<Value = Vec<u8>> {
    let object =
        (any::<u8>(), 0u8..8, 0usize..10, any::<[u8; 40]>()).prop_map(|(class, c_type, words, data)| {
            let mut object = vec![0, 4 + 4 * words as u8, class % 64, c_type];
            object.extend(&data[..4 * words]);
            object
        });
    let objects = proptest::collection::vec(object, 0..8).prop_map(|list| list.concat());
    (any::<[u8; 6]>(), 0u8..27, objects, any::<bool>()).prop_map(|(head, kind, objects, longer)| {
        let length = (8 + objects.len()) as u16;
        let mut message = vec![0x10 | head[0] & 1, kind, head[1], head[2], head[3], head[4] & 1];
        message.extend(length.to_be_bytes());
        message.extend(objects);
        if longer {
            message.push(head[5]);
        }
        let ip = Ipv4 { protocol: Some(Protocol::RSVP), ..ipv4(vec![]) };
        encode(&Tree { layers: vec![ethernet(), Layer::Ipv4(ip), Layer::Payload { bytes: Hex(message) }] })
            .unwrap()
    })
}

/// Frames that are right in their outer layers more often than chance has it.
fn likely_frames() -> impl Strategy<Value = Vec<u8>> {
    let start = prop_oneof![
        Just("8100 0064 0800"),
        Just("0806 0001 0800 0604 0001"),
        Just("0800 4500 0030 0000 0000 4011 0000 0a000001 0a000002 0000 f0ae 001c"),
        Just("0800 4500 0030 0000 0000 4001 0000 0a000001 0a000002 0800"),
        Just("0800 4500 00b4 0000 0000 4001 0000 0a000001 0a000002 0b00 0000 0020"),
        Just("0800 4600 0030 0000 0000 402e 0000 0a000001 0a000002 9404 0000 1001"),
        Just("8847 00011140 4500 0024 0000 0000 4011 0000 0a000001 0a000002"),
        Just("8847 00010040"),
    ];
    (any::<[u8; 12]>(), start, proptest::collection::vec(any::<u8>(), 0..200)).prop_map(
        |(addresses, start, rest)| {
            let mut frame = addresses.to_vec();
            frame.extend(bytes(start));
            frame.extend(rest);
            frame
        },
    )
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn decoding_loses_nothing(frame in prop_oneof![likely_frames(), rsvp_frames(), proptest::collection::vec(any::<u8>(), 0..100)]) {
        let tree = decode(&frame);
        prop_assert_eq!(encode(&tree), Ok(frame));
        let _ = summary(&tree);
        let json = serde_json::to_string(&tree).unwrap();
        prop_assert_eq!(serde_json::from_str::<Tree>(&json).unwrap(), tree);
    }

    #[test]
    fn a_changed_byte_is_kept(at in 0usize..60, value: u8) {
        let mut frame = encode(&test_packet()).unwrap();
        frame[at] = value;
        prop_assert_eq!(encode(&decode(&frame)), Ok(frame));
    }

    #[test]
    fn any_json_is_an_error_or_a_frame(label: u32, tc: u8, tags in 0usize..4, vlan: u16, dscp: u8, ecn: u8, offset: u16) {
        let tag = Tag { tpid: EtherType::VLAN, priority: tc, drop_eligible: true, vlan };
        let layers = vec![
            Layer::Ethernet(Ethernet { src: A, dst: B, tags: vec![tag; tags], ethertype: None }),
            Layer::Mpls(Mpls { stack: vec![Entry { label, tc, ttl: 1 }] }),
            Layer::Ipv4(Ipv4 { dscp, ecn, fragment_offset: offset, ..ipv4(vec![]) }),
            udp(9),
        ];
        let fits = label < 1 << 20 && tc < 8 && (vlan < 4096 || tags == 0) && tags <= ethernet::MAX_TAGS
            && dscp < 64 && ecn < 4 && offset < 0x2000;
        prop_assert_eq!(encode(&Tree { layers }).is_ok(), fits);
    }
}
