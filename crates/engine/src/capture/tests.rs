//! Files of every kind, whole, cut and broken.

use super::super::form::Form;
use super::super::tap::Tap;
use super::*;
use crate::capture::{CaptureSpec, CaptureTarget, CaptureTo};
use base::{Frame, LinkId, Time};
use proptest::prelude::*;

fn written(frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let spec = CaptureSpec::new(CaptureTarget::Link(LinkId(0)), CaptureTo::Memory);
    let ports = [
        (6, "left:0".to_string(), 1_000_000_000, 1, Form::Bytes),
        (7, "right:1".to_string(), 0, 1, Form::Bytes),
    ];
    let mut tap = Tap::new(spec, &ports).unwrap();
    for (at, bytes) in frames {
        let port = 6 + u32::from(at % 2 == 1);
        tap.pass(Time(0), port, Way::Outbound, Time(0), Time(*at), &Frame::from_bytes(bytes));
    }
    tap.finish(Time::MAX).unwrap().bytes
}

/// A pcap file or a pcapng section in either byte order, with one packet of three bytes at 1.5 s.
fn foreign(pcapng: bool, big: bool, nanos: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let mut put = |words: &[(u32, usize)]| {
        for &(word, size) in words {
            let (be, le) = (word.to_be_bytes(), word.to_le_bytes());
            out.extend_from_slice(if big { &be[4 - size..] } else { &le[..size] });
        }
    };
    if pcapng {
        put(&[
            (SECTION_HEADER, 4),
            (28, 4),
            (BYTE_ORDER, 4),
            (1, 2),
            (0, 2),
            (u32::MAX, 4),
            (u32::MAX, 4),
            (28, 4),
        ]);
        let resolution = if nanos { 9 } else { 0x80 | 20 }; // nanoseconds, or 2^-20 s
        let ticks: u32 = if nanos { 1_500_000_000 } else { 3 << 19 };
        put(&[
            (1, 4),
            (32, 4),
            (1, 2),
            (0, 2),
            (64, 4),
            (9, 2),
            (1, 2),
            (resolution, 1),
            (0, 3),
            (0, 4),
            (32, 4),
        ]);
        put(&[(4, 4), (12, 4), (12, 4)]); // a block of names
        put(&[
            (6, 4),
            (36, 4),
            (0, 4),
            (0, 4),
            (ticks, 4),
            (3, 4),
            (5, 4),
            (7, 1),
            (8, 1),
            (9, 1),
            (0, 1),
            (36, 4),
        ]);
    } else {
        put(&[(if nanos { MAGIC_NS } else { MAGIC_US }, 4), (2, 2), (4, 2), (0, 4), (0, 4), (64, 4), (1, 4)]);
        put(&[
            (1, 4),
            (if nanos { 500_000_000 } else { 500_000 }, 4),
            (3, 4),
            (5, 4),
            (7, 1),
            (8, 1),
            (9, 1),
        ]);
    }
    out
}

#[test]
fn every_kind_is_read() {
    for kind in 0..8 {
        let bytes = foreign(kind & 1 == 0, kind & 2 == 0, kind & 4 == 0);
        let packets: Vec<_> = CaptureReader::new(&bytes[..]).unwrap().map(|p| p.unwrap()).collect();
        let expected = Packet {
            nanos: 1_500_000_000,
            interface: 0,
            link_type: 1,
            original_len: 5,
            bytes: vec![7, 8, 9],
        };
        assert_eq!(packets, [expected], "kind {kind}");
    }
}

#[test]
fn what_is_not_a_capture_is_named() {
    for bytes in [&b"GIF89a"[..], b"", b"\x0a\x0d"] {
        let error = CaptureReader::new(bytes).unwrap_err();
        assert!(matches!(&error, CaptureError::Foreign { magic } if bytes.starts_with(magic)), "{error}");
    }
    let error = CaptureReader::new(&b"GIF89a"[..]).unwrap_err().to_string();
    assert!(error.starts_with("not a capture file: begins with [47, 49, 46, 38]"), "{error}");
}

#[test]
fn packets_are_written_in_order_of_time() {
    let bytes = written(&[(9_000, vec![9; 70]), (3_000, vec![3; 60]), (5_001, vec![5; 61])]);
    let mut reader = CaptureReader::new(&bytes[..]).unwrap();
    let got: Vec<_> =
        reader.by_ref().map(|p| p.unwrap()).map(|p| (p.nanos, p.interface, p.bytes.len())).collect();
    assert_eq!(got, [(3, 1 - 1, 60), (5, 1, 61), (9, 0, 70)].map(|(t, i, n)| (t, i, n)));
    assert_eq!(reader.interface_name(1), Some("right:1"));
}

#[test]
fn a_full_disk_is_an_error_and_leaves_what_was_written() {
    struct Full(usize);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let to = CaptureTo::Writer("disk".to_string(), Box::new(Full(400)));
    let mut tap = Tap::new(
        CaptureSpec::new(CaptureTarget::Everything, to),
        &[(0, "a:0".to_string(), 0, 1, Form::Bytes)],
    )
    .unwrap();
    for i in 0..20 {
        tap.pass(Time(i), 0, Way::Outbound, Time(i), Time(i), &Frame::from_bytes(&[0; 60]));
    }
    let error = tap.finish(Time(20)).unwrap_err();
    assert!(matches!(error, CaptureError::Write { packet: 2, .. }), "{error}");
    let to = CaptureTo::File("/nowhere/at/all.pcapng".into());
    let error = Tap::new(CaptureSpec::new(CaptureTarget::Everything, to), &[]).map(|_| ()).unwrap_err();
    assert!(error.to_string().starts_with("/nowhere/at/all.pcapng: can't be written: "), "{error}");
}

proptest! {
    #![proptest_config(testing::cases(256))]
    /// A file cut anywhere yields the packets before the cut, then says where it ends.
    #[test]
    fn a_cut_file_yields_what_is_before_the_cut(sizes in proptest::collection::vec(0usize..200, 0..6), cut in any::<prop::sample::Index>(), kind in 0u8..9) {
        let frames: Vec<_> = sizes.iter().enumerate().map(|(i, &n)| (i as u64 * 2_000, vec![i as u8; n])).collect();
        let whole = if kind == 8 { written(&frames) } else { foreign(kind & 1 == 0, kind & 2 == 0, kind & 4 == 0) };
        let all: Vec<_> = CaptureReader::new(&whole[..]).unwrap().map(|p| p.unwrap()).collect();
        let cut = cut.index(whole.len());
        match CaptureReader::new(&whole[..cut]) {
            Ok(reader) => {
                let got: Vec<_> = reader.collect();
                let (good, bad): (Vec<_>, Vec<_>) = got.into_iter().partition(|p| p.is_ok());
                let good: Vec<_> = good.into_iter().flatten().collect();
                prop_assert_eq!(&good[..], &all[..good.len()]);
                match bad.first() {
                    Some(Err(CaptureError::Truncated { offset, .. })) => prop_assert_eq!(*offset, cut as u64),
                    Some(other) => prop_assert!(false, "{other:?}"),
                    None => {} // between two blocks
                }
            }
            Err(CaptureError::Truncated { .. }) | Err(CaptureError::Foreign { .. }) => {}
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    /// Broken bytes give packets or an error, and end.
    #[test]
    fn broken_files_do_no_harm(kind in 0u8..9, damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), noise in proptest::collection::vec(any::<u8>(), 0..100)) {
        let mut bytes = if kind == 8 { written(&[(0, vec![1; 99])]) } else { foreign(kind & 1 == 0, kind & 2 == 0, kind & 4 == 0) };
        for (at, byte) in damage { let n = at.index(bytes.len()); bytes[n] = byte; }
        for bytes in [bytes, noise] {
            if let Ok(reader) = CaptureReader::new(&bytes[..]) {
                let held: usize = reader.flatten().map(|p| p.bytes.len()).sum();
                prop_assert!(held <= bytes.len());
            }
        }
    }
}
