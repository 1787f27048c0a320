use super::*;
use proptest::prelude::*;

const GROUP6: Ipv6Addr = Ipv6Addr::new(0xff3e, 0, 0, 0, 0, 0, 0, 0x1234);
const SOURCE: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
const SRC: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1);
const DST: Ipv6Addr = ALL_V2_ROUTERS;

/// Bytes as they are in the figures of RFC 3810, 5, with a right checksum: by RFC 8200, 8.1, in the plainest words.
fn bytes(text: &str) -> Vec<u8> {
    let mut message = text.split_whitespace().collect::<String>().parse::<crate::Hex>().expect("hex").0;
    let mut all = [SRC.octets(), DST.octets()].concat();
    all.extend((message.len() as u32).to_be_bytes());
    all.extend([0, 0, 0, 58]);
    all.extend(&message);
    let sum = !crate::checksum::sum(&all);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    message
}

fn vectors() -> Vec<(Vec<u8>, Repr)> {
    let query = QueryV2 { suppress: true, robustness: 2, interval_s: 125, sources: vec![SOURCE] };
    let record = Record { kind: RecordKind::Allow, group: GROUP6, sources: vec![SOURCE] };
    let group = "ff3e0000 00000000 00000000 00001234";
    let source = "20010db8 00000000 00000000 00000001";
    vec![
        (
            bytes("8200 0000 2710 0000 00000000 00000000 00000000 00000000"),
            Repr::Query { max_resp_ms: 10_000, group: Ipv6Addr::UNSPECIFIED, v2: None },
        ),
        (bytes(&format!("8300 0000 0000 0000 {group}")), Repr::ReportV1 { group: GROUP6 }),
        (bytes(&format!("8400 0000 0000 0000 {group}")), Repr::Done { group: GROUP6 }),
        (
            bytes(&format!("8200 0000 03e8 0000 {group} 0a7d 0001 {source}")),
            Repr::Query { max_resp_ms: 1_000, group: GROUP6, v2: Some(query) },
        ),
        (
            bytes(&format!("8f00 0000 0000 0001 0500 0001 {group} {source}")),
            Repr::ReportV2 { records: vec![record] },
        ),
    ]
}

#[test]
fn messages_are_read_and_written() {
    for (bytes, repr) in vectors() {
        assert_eq!(repr.emit(SRC, DST), bytes, "{repr:?}");
        assert_eq!(Repr::parse(&bytes, SRC, DST), Ok(repr.clone()));
        let cut = |end| Repr::parse_unverified(&bytes[..end]);
        let is_v1 = |end| end == V1_LEN && matches!(repr, Repr::Query { .. });
        for end in (0..bytes.len()).filter(|end| !is_v1(*end)) {
            assert!(cut(end).is_err(), "cut at {end}: {repr:?}");
        }
    }
}

#[test]
fn what_follows_a_message_counts_for_its_checksum_alone() {
    for (bytes, repr) in vectors().into_iter().skip(1) {
        let longer = [&bytes[..], &[0; 4]].concat();
        let read = Repr::parse_unverified(&longer);
        assert_eq!(read, Ok(repr));
        assert!(Repr::parse(&longer, SRC, DST).is_err(), "the length is part of the pseudo header");
    }
}

#[test]
fn errors_say_where() {
    let said = |bytes: &[u8]| Repr::parse(bytes, SRC, DST).map_err(|error| error.to_string());
    let report = "0000 0000 0000 ff3e0000 00000000 00000000 00001234";
    assert_eq!(
        said(&bytes(&format!("8100 {report}"))),
        Err("mld: type is 129, outside 130 to 143 (at byte 0)".into())
    );
    let no_group = bytes("8300 0000 0000 0000 20010db8 00000000 00000000 00000001");
    assert_eq!(said(&no_group), Err("mld: the address is no group (at byte 8)".into()));
    let mut wrong = bytes(&format!("8300 {report}"));
    wrong[2] ^= 1;
    assert!(said(&wrong).is_err_and(|error| error.starts_with("icmpv6: checksum is ")));
    // Between 24 and 28 bytes a query is of no version (RFC 3810, 8.1).
    let query = [&bytes("8200 0000 2710 0000 00000000 00000000 00000000 00000000")[..], &[0; 2]].concat();
    assert_eq!(
        Repr::parse_unverified(&query).map_err(|error| error.to_string()),
        Err("mld: 28 bytes needed, 26 there (at byte 26)".into())
    );
}

#[test]
fn codes_stand_for_the_greatest_number_that_is_not_above() {
    // RFC 3810, 5.1.3: (mant | 0x1000) << (exp + 3).
    for (code, number) in
        [(0, 0), (0x7fff, 32_767), (0x8000, 32_768), (0x8fff, 65_528), (0x9000, 65_536), (0xffff, 8_387_584)]
    {
        assert_eq!((of_code(code), to_code(number)), (number, code));
    }
    assert_eq!((to_code(32_775), to_code(32_776), to_code(u32::MAX)), (0x8000, 0x8001, 0xffff));
}

#[test]
fn records_of_unknown_types_are_skipped() {
    let kept = Record { kind: RecordKind::IsExclude, group: GROUP6, sources: Vec::new() };
    for unknown in [0, 7, 77] {
        let mut bytes = Repr::ReportV2 { records: vec![kept.clone(), kept.clone()] }.emit(SRC, DST);
        bytes[8] = unknown;
        assert_eq!(Repr::parse_unverified(&bytes), Ok(Repr::ReportV2 { records: vec![kept.clone()] }));
    }
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn any_bytes(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), kind in prop_oneof![130u8..133, Just(143u8), any::<u8>()]) {
        if bytes.len() >= 8 {
            (bytes[0], bytes[1], bytes[6]) = (kind, 0, 0);
            bytes[7] &= 3;
        }
        if let Ok(repr) = Repr::parse_unverified(&bytes) {
            prop_assert_eq!(Repr::parse(&repr.emit(SRC, DST), SRC, DST), Ok(repr));
        }
    }
}

#[test]
fn auxiliary_data_is_ignored() {
    // RFC 3810, 5.2.10: its length is in words of four bytes.
    let group = "ff3e0000 00000000 00000000 00001234";
    let message = bytes(&format!("8f00 0000 0000 0002 0201 0000 {group} deadbeef 0200 0000 {group}"));
    let record = Record { kind: RecordKind::IsExclude, group: GROUP6, sources: Vec::new() };
    let read = Repr::ReportV2 { records: vec![record.clone(), record] };
    assert_eq!(Repr::parse(&message, SRC, DST), Ok(read.clone()));
    assert_eq!(Repr::parse(&read.emit(SRC, DST), SRC, DST), Ok(read));
}
