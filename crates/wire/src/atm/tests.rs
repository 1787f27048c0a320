use super::aal5::{Fault, PAYLOAD_MAX, Reassembler, Trailer, cells, cells_for, pdu};
use super::hec::syndrome_of;
use super::inatmarp::{AtmAddress, Operation, Repr};
use super::*;
use crate::ethernet::EtherType;
use proptest::prelude::*;
use std::fmt::Write;

/// Headers and their fields: the unassigned and the idle cell of I.361 (HEC 55 and 52), and one
/// with every field set, whose HEC was computed bit by bit.
static HEADERS: [(Format, [u8; 5], Header); 4] = [
    (Format::Uni, [0, 0, 0, 0, 0x55], Header { gfc: 0, vpi: 0, vci: 0, pti: Pti::USER, clp: false }),
    (Format::Uni, [0, 0, 0, 1, 0x52], Header { gfc: 0, vpi: 0, vci: 0, pti: Pti::USER, clp: true }),
    (
        Format::Uni,
        [0xa1, 0x2b, 0xcd, 0xe3, 0xb0],
        Header { gfc: 0xa, vpi: 0x12, vci: 0xbcde, pti: Pti::USER_LAST, clp: true },
    ),
    (
        Format::Nni,
        [0xa1, 0x2b, 0xcd, 0xe3, 0xb0],
        Header { gfc: 0, vpi: 0xa12, vci: 0xbcde, pti: Pti::USER_LAST, clp: true },
    ),
];

#[test]
fn headers_decode_and_encode() {
    for (format, bytes, header) in &HEADERS {
        let mut cell = [0; CELL_LEN];
        cell[..HEADER_LEN].copy_from_slice(bytes);
        let cell = Cell::new_checked(&cell).expect("a cell");
        assert_eq!((cell.header(*format), cell.is_right()), (*header, true), "{bytes:02x?}");
        assert_eq!((header.emit(*format), header.check(*format)), (*bytes, Ok(())));
    }
    assert_eq!(
        Cell::new_checked(&[0; 52]).unwrap_err().to_string(),
        "atm: 53 bytes needed, 52 there (at byte 52)"
    );
    let wide = Header { vpi: 256, ..HEADERS[0].2 };
    assert_eq!(
        wide.check(Format::Uni).unwrap_err().to_string(),
        "atm: VPI is 256, outside 0 to 255 (at byte 0)"
    );
    assert_eq!(wide.check(Format::Nni), Ok(()));
    let gfc = Header { gfc: 1, ..HEADERS[0].2 };
    assert_eq!(gfc.check(Format::Nni).unwrap_err().to_string(), "atm: GFC is 1, outside 0 to 0 (at byte 0)");
    let kinds: Vec<_> = (0..9).filter_map(Pti::new).map(|p| (p.is_last(), p.is_congested())).collect();
    let none = (false, false);
    assert_eq!(kinds, [none, (true, false), (false, true), (true, true), none, none, none, none]);
}

/// The polynomial division of the Recommendation, bit by bit, without a table.
fn divide(bytes: &[u8], width: u32, generator: u64, start: u64) -> u64 {
    let mut value = start;
    for bit in bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| u64::from(byte >> bit & 1))) {
        let out = value >> (width - 1) & 1 ^ bit;
        value = (value << 1 & ((1 << width) - 1)) ^ if out == 1 { generator } else { 0 };
    }
    value
}

#[test]
fn crc_32_of_reference_pdus() {
    // The usual check of this CRC, and PDUs published for AAL5: 40 bytes of zeros, of ones, and counted from 1.
    let mut crc = Crc32::default();
    crc.update(b"123456789");
    assert_eq!(crc.value(), 0xfc89_1918);
    let counted: Vec<u8> = (1..=40).collect();
    let plain = Trailer::default();
    let examples = [
        (vec![0; 40], plain, 0x864d_7f99_u32),
        (vec![0xff; 40], plain, 0xc55e_457a),
        (counted, plain, 0xbf67_1ed0),
    ];
    for (payload, trailer, crc) in examples {
        let pdu = pdu(&payload, trailer).expect("a PDU");
        assert_eq!((pdu.len(), &pdu[44..]), (48, &crc.to_be_bytes()[..]));
    }
}

#[test]
fn the_receiver_corrects_one_bit_and_then_only_detects() {
    let mut table = String::new();
    for mode in [Mode::Correction, Mode::Detection] {
        for event in [Event::Right, Event::OneBit, Event::SeveralBits] {
            let _ = writeln!(table, "{mode:?} {event:?}: {:?}", mode.step(event));
        }
    }
    assert_eq!(
        table,
        "Correction Right: (Correction, Taken)\n\
         Correction OneBit: (Detection, Corrected)\n\
         Correction SeveralBits: (Detection, Dropped)\n\
         Detection Right: (Correction, Taken)\n\
         Detection OneBit: (Detection, Dropped)\n\
         Detection SeveralBits: (Detection, Dropped)\n"
    );
    // Each bit has its own syndrome, so that a wrong one is found; that of two bits is none of them.
    let single: Vec<u8> = (0..40).map(syndrome_of).collect();
    for bit in 0..40 {
        for other in 0..bit {
            assert_ne!(single[bit], single[other]);
            assert!(!single.contains(&(single[bit] ^ single[other])), "{bit} and {other}");
        }
    }
    let right = HEADERS[2].1;
    let mut receiver = HecReceiver::default();
    for bit in 0..40 {
        let mut header = right;
        header[bit / 8] ^= 1 << (bit % 8);
        let wrong = header;
        assert_eq!((receiver.receive(&mut header), header), (Verdict::Corrected, right));
        header = wrong;
        assert_eq!((receiver.receive(&mut header), header), (Verdict::Dropped, wrong));
        assert_eq!(receiver.receive(&mut right.clone()), Verdict::Taken);
    }
    assert_eq!((receiver.right, receiver.corrected, receiver.dropped), (40, 40, 40));
}

fn receive(reassembler: &mut Reassembler, pdu: &[u8]) -> Option<Result<(Vec<u8>, Trailer), Fault>> {
    let mut result = None;
    for cell in cells(pdu, Format::Uni, 1, 100) {
        assert_eq!(result, None, "nothing before the last cell");
        let cell = Cell::new_checked(&cell).expect("a cell");
        result = reassembler.receive(cell.payload(), cell.header(Format::Uni).pti.is_last());
    }
    result
}

/// A PDU with the right CRC over a trailer of any length.
fn with_length(cells: usize, length: u16) -> Vec<u8> {
    let mut bytes = vec![7; cells * PAYLOAD_LEN - 6];
    bytes.extend(length.to_be_bytes());
    let mut crc = Crc32::default();
    crc.update(&bytes);
    bytes.extend(crc.value().to_be_bytes());
    bytes
}

#[test]
fn what_is_wrong_is_counted_by_reason() {
    let mut reassembler = Reassembler::new(100);
    let good = pdu(&[5; 100], Trailer::default()).expect("a PDU");
    assert_eq!(good.len(), 3 * PAYLOAD_LEN);
    let mut bad = good.clone();
    bad[3] ^= 1;
    let rows = [
        (bad, Err(Fault::Crc)),
        // A cell is missing in the middle.
        ([&good[..48], &good[96..]].concat(), Err(Fault::Crc)),
        (with_length(2, 0), Err(Fault::Aborted)),
        (with_length(2, 40), Err(Fault::Length)),
        (with_length(2, 89), Err(Fault::Length)),
        // As many cells as the longest payload has, but a longer payload in them.
        (with_length(3, 101), Err(Fault::TooLong)),
        (pdu(&[5; 1000], Trailer::default()).expect("a PDU"), Err(Fault::TooLong)),
        (good, Ok((vec![5; 100], Trailer::default()))),
    ];
    for (pdu, want) in rows {
        assert_eq!(receive(&mut reassembler, &pdu), Some(want));
    }
    let counters = reassembler.counters();
    assert_eq!((counters.received, counters.crc, counters.length), (1, 2, 2));
    assert_eq!((counters.aborted, counters.too_long), (1, 2));
    let error = pdu(&[0; PAYLOAD_MAX + 1], Trailer::default()).unwrap_err();
    assert_eq!(error.to_string(), "aal5: length is 65536, outside 0 to 65535 (at byte 0)");
}

#[test]
fn a_lost_last_cell_costs_two_pdus_and_no_third() {
    let mut reassembler = Reassembler::new(9188);
    let good = pdu(&[5; 100], Trailer::default()).expect("a PDU");
    for payload in good[..96].as_chunks().0 {
        assert_eq!(reassembler.receive(payload, false), None);
    }
    assert_eq!(receive(&mut reassembler, &good), Some(Err(Fault::Crc)));
    assert_eq!(receive(&mut reassembler, &good), Some(Ok((vec![5; 100], Trailer::default()))));
}

#[test]
fn cells_by_encapsulation() {
    let count = |packet| Encapsulation::ALL.map(|encapsulation| encapsulation.cells_for(packet));
    assert_eq!(count(40), [1, 2, 2]);
    assert_eq!(count(576), [13, 13, 13]);
    assert_eq!(count(1500), [32, 32, 32]);
    assert_eq!(count(9180), [192, 192, 192]);
    assert_eq!(llc_snap(EtherType::IPV4), [0xaa, 0xaa, 3, 0, 0, 0, 8, 0]);
}

#[test]
fn inatmarp_packets_decode_and_encode() {
    let request = Repr::request([10, 0, 0, 1].into());
    let bytes = [0, 19, 8, 0, 0, 0, 0, 8, 4, 0, 0, 0, 10, 0, 0, 1];
    let answer = [0, 19, 8, 0, 0, 0, 0, 9, 4, 0, 0, 4, 10, 0, 0, 2, 10, 0, 0, 1];
    let reply = request.reply([10, 0, 0, 2].into());
    for (repr, bytes) in [(&request, &bytes[..]), (&reply, &answer)] {
        assert_eq!(repr.emit().as_deref(), Ok(bytes));
        assert_eq!(Repr::parse(bytes).as_ref(), Ok(repr));
    }
    // RFC 2225, 8.7.5: an unknown address of four zeros is taken, too.
    let liberal = [0, 19, 8, 0, 0, 0, 0, 8, 4, 0, 0, 4, 10, 0, 0, 1, 0, 0, 0, 0];
    assert_eq!(Repr::parse(&liberal), Ok(request));
    let error = |bytes: &[u8]| Repr::parse(bytes).unwrap_err().to_string();
    assert_eq!(error(&[0; 11]), "inatmarp: 12 bytes needed, 11 there (at byte 11)");
    assert_eq!(error(&[0; 12]), "inatmarp: hardware type is 0, not 19 (at byte 0)");
    assert_eq!(error(&answer[..18]), "inatmarp: 20 bytes needed, 18 there (at byte 18)");
    let short = [0, 19, 8, 0, 0, 0, 0, 8, 3, 0, 0, 0, 10, 0, 0];
    assert_eq!(error(&short), "inatmarp: an IPv4 address has 4 bytes, or none (at byte 8)");
    let long = [0, 19, 8, 0, 21, 0, 0, 8, 0, 0, 0, 0];
    assert_eq!(error(&long), "inatmarp: address length is 21, outside 0 to 20 (at byte 4)");
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn tables_equal_the_division(header: [u8; 4], data in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert_eq!(u64::from(hec(header)), divide(&header, 8, 7, 0) ^ 0x55);
        let mut crc = Crc32::default();
        crc.update(&data);
        prop_assert_eq!(u64::from(!crc.value()), divide(&data, 32, 0x04c1_1db7, 0xffff_ffff));
    }

    #[test]
    fn any_header_comes_back(bytes: [u8; 4], nni: bool) {
        let format = if nni { Format::Nni } else { Format::Uni };
        let header = Header::parse(format, bytes);
        prop_assert_eq!(header.check(format), Ok(()));
        prop_assert_eq!(&header.emit(format)[..4], &bytes);
    }

    #[test]
    fn any_payload_comes_back(payload in proptest::collection::vec(any::<u8>(), 1..600), uu: u8, cpi: u8) {
        let trailer = Trailer { uu, cpi };
        let pdu = pdu(&payload, trailer).expect("a PDU");
        prop_assert_eq!(pdu.len(), cells_for(payload.len()) * PAYLOAD_LEN);
        prop_assert!(pdu.len() - payload.len() <= 8 + 47);
        prop_assert_eq!(receive(&mut Reassembler::new(600), &pdu), Some(Ok((payload, trailer))));
    }

    #[test]
    fn any_cells_are_counted_once(
        all in proptest::collection::vec((any::<u8>(), any::<bool>()), 0..60), payload_max in 0usize..200,
    ) {
        let mut reassembler = Reassembler::new(payload_max);
        for &(byte, last) in &all {
            let result = reassembler.receive(&[byte; PAYLOAD_LEN], last);
            prop_assert_eq!(result.is_some(), last);
        }
        let c = reassembler.counters();
        let ended = all.iter().filter(|cell| cell.1).count() as u64;
        prop_assert_eq!(c.received + c.crc + c.length + c.aborted + c.too_long, ended);
    }

    #[test]
    fn any_bytes_are_no_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..60), likely: bool) {
        if likely && bytes.len() >= 4 {
            bytes[..4].copy_from_slice(&[0, 19, 8, 0]);
        }
        if let Ok(repr) = Repr::parse(&bytes) {
            prop_assert_eq!(Repr::parse(&repr.emit().expect("bytes")), Ok(repr));
        }
    }

    #[test]
    fn any_atm_addresses_come_back(lens in [0usize..=20, 0usize..=20, 0usize..=20, 0usize..=20], e164: [bool; 4]) {
        let address = |at: usize| {
            AtmAddress { e164: e164[at] && lens[at] > 0, bytes: (0..lens[at] as u8).collect() }
        };
        let repr = Repr {
            operation: Operation::REPLY,
            source: [address(0), address(1)],
            source_ip: Some([10, 0, 0, 1].into()),
            target: [address(2), address(3)],
            target_ip: None,
        };
        prop_assert_eq!(Repr::parse(&repr.emit().expect("bytes")), Ok(repr));
    }
}
