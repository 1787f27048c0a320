use super::*;

const GROUP: Ipv4Addr = Ipv4Addr::new(232, 1, 2, 3);
const SOURCE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

fn vectors() -> Vec<(Vec<u8>, Repr)> {
    let query = QueryV3 { suppress: true, robustness: 2, interval_s: 125, sources: vec![SOURCE] };
    let record = Record { kind: RecordKind::Allow, group: GROUP, sources: vec![SOURCE] };
    vec![
        (
            vec![0x11, 100, 0xee, 0x9b, 0, 0, 0, 0],
            Repr::Query { max_resp_ds: 100, group: Ipv4Addr::UNSPECIFIED, v3: None },
        ),
        (vec![0x16, 0, 0xff, 0xfa, 232, 1, 2, 3], Repr::ReportV2 { group: GROUP }),
        (vec![0x17, 0, 0xfe, 0xfa, 232, 1, 2, 3], Repr::Leave { group: GROUP }),
        (
            vec![0x11, 10, 0xf0, 0x71, 232, 1, 2, 3, 0x0a, 125, 0, 1, 10, 0, 0, 1],
            Repr::Query { max_resp_ds: 10, group: GROUP, v3: Some(query) },
        ),
        (
            vec![0x22, 0, 0xe4, 0xf7, 0, 0, 0, 1, 5, 0, 0, 1, 232, 1, 2, 3, 10, 0, 0, 1],
            Repr::ReportV3 { records: vec![record] },
        ),
    ]
}

#[test]
fn messages_are_read_and_written() {
    for (bytes, repr) in vectors() {
        assert_eq!(repr.emit(), bytes, "{repr:?}");
        assert_eq!(Repr::parse(&bytes), Ok(repr));
        for end in 0..bytes.len() {
            assert!(Repr::parse(&bytes[..end]).is_err(), "cut at {end}");
        }
    }
}

#[test]
fn errors_say_where() {
    let wrong = |place: usize, byte: u8| {
        let mut bytes = vectors()[1].0.clone();
        bytes[place] = byte;
        bytes[2..4].fill(0);
        let sum = !checksum::sum(&bytes);
        bytes[2..4].copy_from_slice(&sum.to_be_bytes());
        Repr::parse(&bytes).map_err(|error| error.to_string())
    };
    assert_eq!(wrong(0, 0x18), Err("igmp: type is 24, outside 17 to 34 (at byte 0)".into()));
    assert_eq!(wrong(4, 10), Err("igmp: the address is no group (at byte 4)".into()));
    let mut bytes = vectors()[1].0.clone();
    bytes[2] = 0;
    let said = Repr::parse(&bytes).map_err(|error| error.to_string());
    assert_eq!(said, Err("igmp: checksum is 0x00fa, not 0xfffa (at byte 2)".into()));
}

#[test]
fn codes_stand_for_the_greatest_number_that_is_not_above() {
    // RFC 3376, 4.1.1: (mant | 0x10) << (exp + 3).
    for (code, number) in [(0, 0), (127, 127), (0x80, 128), (0x8f, 248), (0x90, 256), (0xff, 31_744)] {
        assert_eq!((of_code(code), to_code(number)), (number, code));
    }
    assert_eq!((to_code(135), to_code(136), to_code(u16::MAX)), (0x80, 0x81, 0xff));
}

#[test]
fn records_of_unknown_types_are_skipped() {
    let kept = Record { kind: RecordKind::IsExclude, group: GROUP, sources: Vec::new() };
    for unknown in [0, 7, 77] {
        let mut bytes = Repr::ReportV3 { records: vec![kept.clone(), kept.clone()] }.emit();
        bytes[8] = unknown;
        bytes[2..4].fill(0);
        let sum = !checksum::sum(&bytes);
        bytes[2..4].copy_from_slice(&sum.to_be_bytes());
        assert_eq!(Repr::parse(&bytes), Ok(Repr::ReportV3 { records: vec![kept.clone()] }));
    }
}
