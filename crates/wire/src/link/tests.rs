use super::*;
use crate::tree::{Layer, Tree, decode_link, encode, summary};
use proptest::prelude::*;

/// UDP from port 1 to port 2, without payload and checksum.
const IPV4: [u8; 28] =
    [0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0x66, 0xcf, 10, 0, 0, 1, 10, 0, 0, 2, 0, 1, 0, 2, 0, 8, 0, 0];

fn read(link: LinkType, header: &[u8], rest: &[u8]) -> Tree {
    let packet = [header, rest].concat();
    let tree = decode_link(link, &packet);
    assert_eq!(encode(&tree).as_ref(), Ok(&packet), "{tree:?}");
    let json = serde_json::to_string(&tree).expect("a tree");
    assert_eq!(serde_json::from_str::<Tree>(&json).expect("a tree"), tree);
    tree
}

#[test]
fn every_link_type_leads_to_the_packet() {
    let address = [2, 0, 0, 0, 0, 1, 0, 0];
    let cooked = [&[0, 0, 0, 1, 0, 6][..], &address, &[8, 0]].concat();
    let cooked2 = [&[8, 0, 0, 0, 0, 0, 0, 3, 0, 1, 4, 6][..], &address].concat();
    let headers: [(u16, &[u8]); 16] = [
        (0, &[2, 0, 0, 0]),
        (0, &[0, 0, 0, 2]),
        (9, &[0, 0x21]),
        (9, &[0x21]),
        (9, &[0xff, 3, 0, 0x21]),
        (50, &[0xff, 3, 0, 0x21]),
        (101, &[]),
        (104, &[0x0f, 0, 8, 0]),
        (108, &[0, 0, 0, 2]),
        (113, &cooked),
        (123, &[0x80, 0, 0, 40]),
        (123, &[0, 3, 1, 0, 0, 0, 1, 64]),
        (123, &[2, 0, 0, 32, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0]),
        (219, &[0, 1, 1, 64]),
        (228, &[]),
        (276, &cooked2),
    ];
    for (number, header) in headers {
        let link = LinkType::of(number).expect("a link type");
        let line = summary(&read(link, header, &IPV4));
        assert!(line.ends_with("10.0.0.1 > 10.0.0.2 UDP 1 > 2"), "{number}: {line}");
    }
    assert_eq!(LinkType::of(127), None);
    assert!(LinkType::numbers().is_sorted(), "as the documentation lists them");
}

#[test]
fn what_leads_to_no_packet_is_named() {
    let lines = [
        (LinkType::Null, &[7, 0, 0, 0][..], "loopback family 7"),
        (LinkType::SunAtm, &[3, 0, 0, 5, 9], "ATM 0/5 length 1"),
        (
            LinkType::Erf,
            &[0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 22, 0, 0, 0, 6, 0, 0x50, 2, 0x82, 7, 7],
            "cell 5/40 last of its PDU length 2",
        ),
        (LinkType::Erf, &[0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 16, 0, 0, 0, 0], "ERF type 2"),
        (LinkType::Ppp, &[0xc0, 0x21, 9, 1], "PPP protocol 0xc021 length 2"),
        (LinkType::CiscoHdlc, &[0x8f, 0, 0x80, 0x35, 0], "HDLC protocol 0x8035 length 1"),
        (
            LinkType::LinuxCooked,
            &[0, 4, 3, 0x38, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0],
            "cooked protocol 0x0800",
        ),
        (
            LinkType::LinuxCooked2,
            &[0, 1, 0, 0, 0, 0, 0, 2, 0, 1, 0, 2, 0xab, 0xcd, 0, 0, 0, 0, 0, 0],
            "cooked ab:cd protocol 0x0001",
        ),
    ];
    for (link, bytes, line) in lines {
        assert_eq!(summary(&read(link, bytes, &[])), line);
    }
    assert_eq!(
        summary(&read(LinkType::LinuxCooked, &[0; 15], &[])),
        "[malformed sll: 16 bytes needed, 15 there (at byte 15)]"
    );
}

#[test]
fn llc_behind_a_cooked_header_is_read() {
    let header = [0, 2, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 0, 4];
    let tree = read(LinkType::LinuxCooked, &header, &[0xfe, 0xfe, 3, 0x83]);
    assert!(matches!(&tree.layers[1], Layer::Llc(llc) if llc.dsap == 0xfe), "{tree:?}");
}

#[test]
fn the_protocol_is_that_of_the_next_layer_if_nothing_is_said() {
    let mut tree = read(LinkType::Ppp, &[0xff, 3, 0, 0x21], &IPV4);
    let Layer::Ppp(ppp) = &mut tree.layers[0] else { panic!("PPP") };
    ppp.protocol = None;
    assert_eq!(encode(&tree).expect("bytes")[..4], [0xff, 3, 0, 0x21]);
    tree.layers.truncate(1);
    let error = encode(&tree).expect_err("a refusal");
    assert_eq!(error.to_string(), "ppp: the next layer does not say the protocol (at byte 2)");
}

proptest! {
    #![proptest_config(testing::cases(1024))]
    #[test]
    fn any_bytes_of_any_link_type_come_back(
        link in 0..NUMBERS.len(),
        bytes in proptest::collection::vec(any::<u8>(), 0..80),
        packet in any::<bool>(),
    ) {
        let bytes = if packet { [&bytes[..bytes.len().min(20)], &IPV4].concat() } else { bytes };
        let tree = decode_link(NUMBERS[link].1, &bytes);
        prop_assert_eq!(encode(&tree), Ok(bytes));
        summary(&tree);
    }
}
