use super::*;
use crate::Hex;
use crate::tree::{Layer, decode, encode, summary};
use proptest::prelude::*;

static VECTORS: [(&[u8], Repr); 3] = [
    (&[0xaa, 0xaa, 3], Repr::datagram(SAP_SNAP)),
    (&[0x42, 0x42, 3], Repr::datagram(0x42)),
    (&[4, 5, 0x02, 0x11], Repr { dsap: 4, ssap: 5, control: 2, sequence: Some(0x11) }),
];

fn bytes(text: &str) -> Vec<u8> {
    text.split_whitespace().collect::<String>().parse::<Hex>().expect("digits").0
}

#[test]
fn vectors_decode() {
    for (bytes, repr) in &VECTORS {
        assert_eq!(Repr::parse(&Packet::new_checked(bytes).expect("a header")), *repr);
    }
}

#[test]
fn vectors_encode() {
    for (bytes, repr) in &VECTORS {
        let mut buffer = vec![0; repr.buffer_len()];
        repr.emit(&mut buffer);
        assert_eq!((&buffer[..], repr.check()), (*bytes, Ok(())));
    }
}

#[test]
fn headers_that_end_too_early_are_errors() {
    assert_eq!(Packet::new_checked(&[4, 5][..]).unwrap_err(), Error::truncated("llc", 3, 2));
    assert_eq!(Packet::new_checked(&[4, 5, 2][..]).unwrap_err(), Error::truncated("llc", 4, 3));
    assert_eq!(SnapRepr::parse(&[0, 0, 0, 8]).unwrap_err(), Error::truncated("snap", 5, 4));
    let wrong = Repr { sequence: Some(0), ..Repr::datagram(4) };
    assert_eq!(
        wrong.check().unwrap_err().to_string(),
        "llc: a control field has a second byte unless its lowest two bits are set (at byte 2)"
    );
}

/// ARP as RFC 1042 has it on 802.3: 36 bytes are the length, and 10 of padding follow.
const ARP: &str = "ffffffffffff 020000000001 0024 aaaa03 000000 0806 \
    0001 0800 06 04 0001 020000000001 0a000001 000000000000 0a000002 00000000000000000000";

#[test]
fn a_frame_of_rfc_1042_is_read_through_snap() {
    let frame = bytes(ARP);
    let tree = decode(&frame);
    assert!(matches!(
        &tree.layers[..],
        [Layer::Ethernet(_), Layer::Llc(_), Layer::Snap(_), Layer::Arp(_), Layer::Padding { .. }]
    ));
    assert_eq!(encode(&tree), Ok(frame.clone()));
    assert_eq!(summary(&tree), "SNAP ARP who has 10.0.0.2 tell 10.0.0.1");
    let json = serde_json::to_value(&tree).expect("JSON");
    let want = serde_json::json!({"layer": "llc", "dsap": 170, "ssap": 170, "control": 3});
    assert_eq!((&json[1], &json[2]["ethertype"]), (&want, &0x0806.into()));
    assert_eq!(
        serde_json::from_value::<crate::tree::Tree>(json).map(|tree| encode(&tree)).ok(),
        Some(Ok(frame))
    );
}

#[test]
fn length_and_ethertype_follow_from_what_is_inside() {
    let mut tree = decode(&bytes(ARP));
    for layer in &mut tree.layers {
        match layer {
            Layer::Ethernet(ethernet) => ethernet.ethertype = None,
            Layer::Snap(snap) => snap.ethertype = None,
            _ => {}
        }
    }
    assert_eq!(encode(&tree), Ok(bytes(ARP)));
    tree.layers.insert(3, Layer::Payload { bytes: Hex(vec![0; 1500]) });
    let error = encode(&tree).unwrap_err().to_string();
    assert_eq!(error, "snap: the next layer does not say the ethertype (at byte 3)");
    tree.layers.remove(2);
    let error = encode(&tree).unwrap_err().to_string();
    assert_eq!(error, "ethernet: length is 1531, outside 3 to 1500 (at byte 12)");
}

#[test]
fn lengths_that_lie_are_told() {
    let long = bytes("0180c2000014 020000000001 0030 fefe03 83");
    let tree = decode(&long);
    assert_eq!(
        summary(&tree),
        "02:00:00:00:00:01 > 01:80:c2:00:00:14 [malformed llc: 48 bytes needed, 4 there (at byte 18)]"
    );
    assert_eq!(encode(&tree), Ok(long));
    let own = decode(&bytes("0180c2000014 020000000001 0004 fefe03 83 0000"));
    assert_eq!(summary(&own), "02:00:00:00:00:01 > 01:80:c2:00:00:14 LLC 0xfe > 0xfe control 0x03 length 1");
    let type_of_nothing = decode(&bytes("0180c2000014 020000000001 05dd fefe03 83"));
    assert!(matches!(&type_of_nothing.layers[..], [Layer::Ethernet(_), Layer::Payload { .. }]));
}

proptest! {
    #![proptest_config(testing::cases(512))]
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..12)) {
        if let Ok(packet) = Packet::new_checked(&bytes) {
            let repr = Repr::parse(&packet);
            prop_assert_eq!(repr.check(), Ok(()));
            let mut again = vec![0; repr.buffer_len()];
            repr.emit(&mut again);
            prop_assert_eq!(&again[..], &bytes[..packet.header_len()]);
            prop_assert_eq!(packet.payload().len() + packet.header_len(), bytes.len());
        }
        if let Ok(repr) = SnapRepr::parse(&bytes) {
            prop_assert_eq!(&repr.emit()[..], &bytes[..SNAP_LEN]);
        }
    }

    #[test]
    fn any_frame_with_a_length(
        length in 0u16..80,
        snap in any::<bool>(),
        ethertype in prop_oneof![Just(0x0800u16), Just(0x0806), Just(0x8847), Just(0x86dd), any::<u16>()],
        rest in proptest::collection::vec(any::<u8>(), 0..80),
    ) {
        let mut frame = bytes("0180c2000014 020000000001");
        frame.extend(length.to_be_bytes());
        if snap {
            frame.extend([0xaa, 0xaa, 3, 0, 0, 0]);
            frame.extend(ethertype.to_be_bytes());
        }
        frame.extend(rest);
        let tree = decode(&frame);
        let _ = summary(&tree);
        prop_assert_eq!(encode(&tree), Ok(frame));
    }
}
