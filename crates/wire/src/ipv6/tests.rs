use super::extension::{ROUTER_ALERT, Unknown};
use super::fragment::Fragment;
use super::*;
use proptest::prelude::*;

const SRC: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
const DST: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 1, 0, 0, 0, 2);

fn hex(text: &str) -> Vec<u8> {
    text.split_whitespace().collect::<String>().parse::<crate::Hex>().unwrap().0
}

fn vector() -> (Vec<u8>, Repr) {
    let bytes =
        hex("6b9a bcde 0004 11ff 20010db8000000000000000000000001 20010db8000000010000000000000002 01020304");
    let repr = Repr {
        hop_limit: 255,
        dscp: Dscp::EF,
        ecn: 1,
        flow_label: 0xa_bcde,
        ..Repr::new(SRC, DST, Protocol::UDP, 4)
    };
    (bytes, repr)
}

#[test]
fn the_vector_decodes_and_encodes() {
    let (bytes, repr) = vector();
    let packet = Packet::new_checked(&bytes[..]).unwrap();
    assert_eq!(Repr::parse(&packet), Ok(repr));
    assert_eq!((packet.payload(), packet.total_len()), (&[1, 2, 3, 4][..], 44));
    let mut buffer = vec![0x77; repr.buffer_len()];
    repr.emit(&mut buffer);
    assert_eq!(buffer, bytes[..40]);
    assert_eq!(repr.check(), Ok(()));
}

#[test]
fn errors_name_the_field() {
    let with = |at: usize, value: u8| {
        let mut bytes = vector().0;
        bytes[at] = value;
        Packet::new_checked(&bytes).unwrap_err().to_string()
    };
    assert_eq!(with(0, 0x45), "ipv6: version is 4, not 6 (at byte 0)");
    assert_eq!(with(5, 5), "ipv6: 45 bytes needed, 44 there (at byte 44)");
    assert_eq!(Packet::new_checked(&[0x60; 39]).unwrap_err(), Error::truncated("ipv6", 40, 39));
    let repr = Repr { flow_label: 1 << 20, ..vector().1 };
    let text = "ipv6: flow label is 1048576, outside 0 to 1048575 (at byte 1)";
    assert_eq!(repr.check().unwrap_err().to_string(), text);
}

#[test]
fn extension_headers_are_walked() {
    // Hop-by-hop with Router Alert and padding, a routing header, a fragment header, then UDP.
    let payload = hex("2b00 0502 0000 0100  2c00 0000 00000000  1100 0001 01020304  0102");
    let found = upper(Protocol::HOP_BY_HOP, &payload).unwrap();
    let fragment = Some(Fragment { offset: 0, more: true, ident: 0x0102_0304 });
    assert_eq!(found, Upper { protocol: Protocol::UDP, offset: 24, fragment, router_alert: true });
    let kinds: Vec<_> = Headers::new(Protocol::HOP_BY_HOP, &payload).map(|h| h.unwrap().kind.0).collect();
    assert_eq!(kinds, [0, 43, 44]);
    // Behind the middle of a packet nothing is a header, whatever its number.
    let middle = hex("2b00 0008 01020304 2c00 0000 00000000");
    let found = upper(Protocol::FRAGMENT, &middle).unwrap();
    assert_eq!((found.protocol, found.offset), (Protocol::ROUTING, 8));
    // An authentication header counts in words of four bytes; what is encrypted is not looked into.
    let found = upper(Protocol::AUTHENTICATION, &hex("3201 0000 00000001 00000002")).unwrap();
    assert_eq!((found.protocol, found.offset), (Protocol::ESP, 12));
}

#[test]
fn a_cut_header_is_an_error() {
    let error = upper(Protocol::ROUTING, &hex("1101 000000000000")).unwrap_err();
    assert_eq!(error.to_string(), "ipv6: 16 bytes needed, 8 there (at byte 48)");
    assert_eq!(
        upper(Protocol::HOP_BY_HOP, &[]).unwrap_err().to_string(),
        "ipv6: 8 bytes needed, 0 there (at byte 40)"
    );
    let error = upper(Protocol::HOP_BY_HOP, &hex("1100 0509 00000000")).unwrap_err();
    assert_eq!(error.to_string(), "ipv6: option length is 9, outside 0 to 4 (at byte 43)");
}

#[test]
fn options_say_what_to_do_with_them() {
    let option = |kind| super::extension::HeaderOption { kind, data: &[] }.unknown();
    assert_eq!([option(ROUTER_ALERT), option(0x45)], [Unknown::Skip, Unknown::Discard]);
    assert_eq!([option(0x8a), option(0xc3)], [Unknown::Report, Unknown::ReportUnlessGroup]);
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn any_bytes(mut bytes in proptest::collection::vec(any::<u8>(), 0..120), likely: bool, next in prop_oneof![Just(0u8), Just(43), Just(44), Just(51), Just(60)]) {
        if likely && bytes.len() >= 40 {
            (bytes[0], bytes[4], bytes[5], bytes[6]) = (0x60, 0, (bytes.len() - 40) as u8, next);
        }
        if let Ok(packet) = Packet::new_checked(&bytes[..]) {
            let repr = Repr::parse(&packet).unwrap();
            let mut again = vec![0; repr.buffer_len()];
            repr.emit(&mut again);
            prop_assert_eq!(&again[..], &bytes[..HEADER_LEN]);
            if let Ok(upper) = upper(repr.next_header, packet.payload()) {
                prop_assert!(upper.offset <= packet.payload().len());
                prop_assert!(!upper.protocol.is_extension() || upper.fragment.is_some());
            }
            let walked: usize =
                Headers::new(repr.next_header, packet.payload()).map_while(Result::ok).map(|h| h.bytes.len()).sum();
            prop_assert!(walked <= packet.payload().len());
        }
    }

    #[test]
    fn round_trip(src: u128, dst: u128, next: u8, hop_limit: u8, class: u8, label in 0u32..1 << 20, len in 0u16..300) {
        let repr = Repr {
            hop_limit,
            dscp: Dscp::of_tos(class),
            ecn: class & 3,
            flow_label: label,
            ..Repr::new(src.into(), dst.into(), Protocol(next), len)
        };
        let mut bytes = vec![0x55; repr.total_len()];
        repr.emit(&mut bytes);
        prop_assert_eq!(Repr::parse(&Packet::new_checked(&bytes).unwrap()), Ok(repr));
    }

    #[test]
    fn fragments_round_trip(offset in 0u16..1 << 13, more: bool, ident: u32, next: u8) {
        let fragment = Fragment { offset, more, ident };
        prop_assert_eq!(Fragment::parse(&fragment.to_bytes(Protocol(next))), fragment);
    }
}
