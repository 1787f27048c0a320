use super::*;
use crate::icmp::extension::mpls_stack_object;
use proptest::prelude::*;

const SRC: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
const DST: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2);

fn hex(text: &str) -> Vec<u8> {
    text.split_whitespace().collect::<String>().parse::<crate::Hex>().unwrap().0
}

fn emitted(repr: &Repr<'_>) -> Vec<u8> {
    let mut buffer = vec![0x77; repr.buffer_len()];
    repr.emit(SRC, DST, &mut buffer);
    buffer
}

/// The checksum by RFC 8200, 8.1, in the plainest words: of the pseudo header as bytes and the message behind it.
fn plain(message: &[u8]) -> u16 {
    let mut all = [SRC.octets(), DST.octets()].concat();
    all.extend((message.len() as u32).to_be_bytes());
    all.extend([0, 0, 0, 58]);
    all.extend(message);
    all[42..44].fill(0);
    !checksum::sum(&all)
}

#[test]
fn messages_have_the_bytes_of_the_rfc() {
    let original = hex("6000 0000 0000 3b01");
    let cases: [(Repr<'_>, &str); 5] = [
        (
            Repr::EchoRequest { ident: 0x1234, sequence: 0x5678, data: &[0xaa, 0xff] },
            "8000 0000 12345678 aaff",
        ),
        (Repr::EchoReply { ident: 0x1234, sequence: 0x5678, data: &[] }, "8100 0000 12345678"),
        (Repr::PacketTooBig { mtu: 1400, quote: &original }, "0200 0000 00000578 60000000 00003b01"),
        (
            Repr::ParameterProblem { code: parameter_problem::OPTION, pointer: 42, quote: &original },
            "0402 0000 0000002a 60000000 00003b01",
        ),
        (
            Repr::TimeExceeded {
                code: 0,
                quote: Quote { original: &original, objects: &[], without_length: false },
            },
            "0300 0000 00000000 60000000 00003b01",
        ),
    ];
    for (repr, text) in cases {
        let mut bytes = hex(text);
        let sum = plain(&bytes);
        bytes[2..4].copy_from_slice(&sum.to_be_bytes());
        assert_eq!(emitted(&repr), bytes);
        assert_eq!(Repr::parse(&Packet::new_checked(&bytes[..]).unwrap(), SRC, DST), Ok(repr));
    }
}

#[test]
fn a_label_stack_stands_behind_the_packet_in_words_of_eight_bytes() {
    let original: Vec<u8> = (0..131).collect();
    let objects = mpls_stack_object(&[0, 0x40, 0x11, 1]);
    let quote = Quote { original: &original, objects: &objects, without_length: false };
    let repr = Repr::TimeExceeded { code: time_exceeded::HOP_LIMIT, quote };
    let bytes = emitted(&repr);
    assert_eq!((bytes[4], bytes.len()), (17, 8 + 136 + 4 + 8));
    let read = Repr::parse(&Packet::new_checked(&bytes[..]).unwrap(), SRC, DST).unwrap();
    let quote = read.quote().unwrap();
    assert_eq!((&quote.original[..131], &quote.original[131..]), (&original[..], &[0; 5][..]));
    assert_eq!(quote.mpls_stack().unwrap().next().unwrap().unwrap().ttl, 1);
    let mut wrong = bytes;
    wrong[4] = 200;
    let error = Repr::parse_unverified(&Packet::new_checked(&wrong[..]).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "icmpv6: length is 200, outside 16 to 17 (at byte 4)");
}

#[test]
fn a_wrong_checksum_is_an_error() {
    let mut bytes = emitted(&Repr::EchoRequest { ident: 1, sequence: 1, data: &[] });
    assert_eq!(Packet::new_checked(&bytes).unwrap().verify_checksum(SRC, DST), Ok(()));
    bytes[7] ^= 1;
    let error = Packet::new_checked(&bytes).unwrap().verify_checksum(SRC, DST).unwrap_err();
    assert_eq!((error.layer, error.offset), ("icmpv6", 2));
    // The addresses are covered, too.
    bytes[7] ^= 1;
    assert!(Packet::new_checked(&bytes).unwrap().verify_checksum(SRC, SRC).is_err());
}

#[test]
fn types_say_what_they_are() {
    assert!(Type::PACKET_TOO_BIG.is_error() && Type(127).is_error() && !Type::ECHO_REQUEST.is_error());
    assert!(Type::REDIRECT.forbids_errors() && !Type::REDIRECT.is_error());
    assert!(!Type::NEIGHBOR_SOLICITATION.forbids_errors() && Type::NEIGHBOR_SOLICITATION.is_discovery());
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn any_bytes(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), kind in prop_oneof![1u8..5, 128u8..138, any::<u8>()]) {
        if bytes.len() >= 8 {
            (bytes[0], bytes[1]) = (kind, bytes[1] & 1);
        }
        let Ok(packet) = Packet::new_checked(&bytes[..]) else { return Ok(()) };
        if let Ok(repr) = Repr::parse_unverified(&packet) {
            // What is read is written: but for reserved bytes, and a structure's missing checksum.
            let again = emitted(&repr);
            prop_assert_eq!(again.len(), bytes.len());
            let read = Repr::parse(&Packet::new_checked(&again[..]).unwrap(), SRC, DST);
            prop_assert_eq!(read, Ok(repr));
        }
    }
}
