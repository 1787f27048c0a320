use super::extension::*;
use super::*;
use crate::mpls;
use base::{Label, TrafficClass};
use proptest::prelude::*;

/// The bytes in hexadecimal.
fn hex(text: &str) -> Vec<u8> {
    text.split_whitespace().collect::<String>().parse::<crate::Hex>().unwrap().0
}

fn emitted(repr: &Repr<'_>) -> Vec<u8> {
    let mut buffer = vec![0x77; repr.buffer_len()];
    repr.emit(&mut buffer);
    buffer
}

/// An IPv4 header and eight bytes of UDP from 10.0.0.1 to 10.0.9.9, time to live 1.
const ORIGINAL: &str = "45000021 00010000 01119cc2 0a000001 0a000909 82352882 000d0000";
const STACK_ENTRY: mpls::Repr =
    mpls::Repr { label: Label::truncate(1025), tc: TrafficClass::truncate(0), bottom: true, ttl: 1 };

fn vectors() -> Vec<(&'static str, String, Repr<'static>)> {
    static DATA: [u8; 4] = [0xaa, 0, 0, 0xff];
    let original: &'static [u8] = hex(ORIGINAL).leak();
    let padded: &'static [u8] = hex(&format!("{ORIGINAL}{}", "00".repeat(100))).leak();
    let objects: &'static [u8] = mpls_stack_object(&STACK_ENTRY.to_word().to_be_bytes()).leak();
    vec![
        (
            "echo request",
            "0800e453 12345678 aa0000ff".to_owned(),
            Repr::EchoRequest { ident: 0x1234, sequence: 0x5678, data: &DATA },
        ),
        (
            "fragmentation needed",
            format!("03044c5b 000005dc {ORIGINAL}"),
            Repr::DestinationUnreachable {
                code: unreachable::FRAGMENTATION_NEEDED,
                next_hop_mtu: 1500,
                quote: Quote { original, objects: &[], without_length: false },
            },
        ),
        (
            "time exceeded with a label stack",
            format!("0b004a1b 00200000 {ORIGINAL}{} 2000cdb5 00080101 00401101", "00".repeat(100)),
            Repr::TimeExceeded {
                code: time_exceeded::TTL,
                quote: Quote { original: padded, objects, without_length: false },
            },
        ),
    ]
}

#[test]
fn vectors_decode_and_encode() {
    for (name, bytes, repr) in vectors() {
        let bytes = hex(&bytes);
        let bytes: &'static [u8] = bytes.leak();
        assert_eq!(Repr::parse(&Packet::new_checked(bytes).unwrap()), Ok(repr), "{name}");
        assert_eq!(emitted(&repr), bytes, "{name}");
    }
}

#[test]
fn the_label_stack_is_read_back() {
    let (_, _, repr) = vectors().remove(2);
    let stack: Vec<_> = repr.quote().unwrap().mpls_stack().unwrap().collect();
    assert_eq!(stack, [Ok(STACK_ENTRY)]);
    assert!(repr.icmp_type().is_error() && !Type::ECHO_REPLY.is_error());
}

#[test]
fn a_short_original_is_padded_only_before_extensions() {
    let original = hex(ORIGINAL);
    let objects = mpls_stack_object(&[0, 0x40, 0x11, 1]);
    let quote = Quote::of(&original, &objects);
    assert_eq!(quote.buffer_len(), 128 + 4 + 8);
    assert_eq!(Quote::of(&original, &[]).buffer_len(), 28);
}

#[test]
fn an_error_has_at_most_576_bytes() {
    let datagram = [0x45; 9000];
    for entries in [0usize, 1, 2, 3, 9] {
        let objects = if entries == 0 { vec![] } else { mpls_stack_object(&vec![0; entries * 4]) };
        let repr = Repr::TimeExceeded { code: 0, quote: Quote::of(&datagram, &objects) };
        assert_eq!(repr.buffer_len() + 20, MAX_ERROR_LEN);
    }
}

#[test]
fn errors_name_the_field() {
    let good = emitted(&vectors()[2].2);
    let with = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        Packet::new_unchecked(&mut bytes).fill_checksum();
        let error = Repr::parse(&Packet::new_checked(&bytes).unwrap()).unwrap_err();
        error.to_string()
    };
    assert_eq!(with(5, 31), "icmp: length is 31, outside 32 to 33 (at byte 5)");
    assert_eq!(with(5, 34), "icmp: length is 34, outside 32 to 33 (at byte 5)");
    assert_eq!(with(136, 0x10), "icmp: extension version is 1, not 2 (at byte 136)");
    assert!(with(139, 0).starts_with("icmp: checksum is 0x"));
    let mut bytes = good.clone();
    bytes[3] ^= 1;
    assert_eq!(Repr::parse(&Packet::new_checked(&bytes).unwrap()).unwrap_err().offset, 2);
    // Without a checksum the structure is read; then its object is too long.
    let mut bytes = good;
    bytes[138..140].fill(0);
    bytes[141] = 9;
    Packet::new_unchecked(&mut bytes).fill_checksum();
    let error = Repr::parse(&Packet::new_checked(&bytes).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "icmp: object length is 9, outside 4 to 8 (at byte 140)");
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn any_bytes(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..220), kind in 0usize..6, words in 0u8..60, fix: bool,
    ) {
        if bytes.len() >= 8 {
            bytes[0] = [0, 3, 8, 11, 12, 13][kind];
            bytes[5] = words;
        }
        let at = 8 + usize::from(words) * 4;
        if fix && bytes.len() >= at + 8 {
            let rest = (bytes.len() - at - 4) as u16;
            bytes[at..at + 4].copy_from_slice(&[0x20, 0, 0, 0]);
            bytes[at + 4..at + 6].copy_from_slice(&rest.to_be_bytes());
        }
        if let Ok(packet) = Packet::new_checked(&bytes) {
            let _ = Repr::parse(&packet);
            if let Ok(repr) = Repr::parse_unverified(&packet) {
                prop_assert_eq!(repr.buffer_len(), bytes.len());
                let again = emitted(&repr);
                prop_assert_eq!(Repr::parse(&Packet::new_checked(&again).unwrap()), Ok(repr));
                if let Some(quote) = repr.quote() {
                    let _ = (quote.iter().count(), quote.mpls_stack().map(Iterator::count));
                }
            }
        }
    }

    #[test]
    fn round_trip(
        original in proptest::collection::vec(any::<u8>(), 0..1100), stack in proptest::collection::vec(any::<u8>(), 0..20),
        code: u8, pointer: u8,
    ) {
        let objects = if stack.is_empty() { vec![] } else { mpls_stack_object(&stack) };
        let repr = Repr::ParameterProblem { code, pointer, quote: Quote { original: &original, objects: &objects, without_length: false } };
        let bytes = emitted(&repr);
        let read = Repr::parse(&Packet::new_checked(&bytes).unwrap()).unwrap();
        let quote = read.quote().unwrap();
        let kept = original.len().min(if stack.is_empty() { original.len() } else { 255 * 4 });
        prop_assert_eq!(&quote.original[..kept], &original[..kept]);
        prop_assert!(quote.original[kept..].iter().all(|&b| b == 0));
        prop_assert_eq!(quote.objects, &objects[..]);
        prop_assert_eq!(emitted(&read), bytes);
    }
}
