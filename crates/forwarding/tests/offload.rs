//! Frames that a kernel left to be cut into segments: judged by the longest segment, counted as one with all its bytes.

use crate::support::*;
use base::frame::{Offload, Segment};
use base::plane::TtlModel::Uniform;
use base::plane::{TableOp, TtlModel};
use base::{Frame, Verdict};
use twinplane_forwarding::PuntReason;
use twinplane_forwarding::fragment::fragment;
use twinplane_forwarding::icmp::{IcmpError, icmp_error};
use wire::{checksum, ipv4};

/// Bytes of payload behind IP and UDP header.
const PAYLOAD: u16 = 9_000;

/// A datagram to be cut into pieces of `size` bytes, below a label stack.
fn whole(stack: &[Entry], size: u16, dont_fragment: bool) -> Frame {
    let mut frame = frame(stack, Ip { payload: 8 + PAYLOAD, dont_fragment, ..Ip::default() });
    let at = 14 + 4 * stack.len() as u16;
    frame.set_offload(Some(Offload {
        needs_checksum: true,
        checksum_start: at + 20,
        checksum_offset: 6,
        segment: Segment::UdpL4,
        segment_size: size,
        header_len: at + 28,
    }));
    frame
}

fn lsp() -> [TableOp; 3] {
    [
        ilm(100, to_gateway(&[200], Uniform)),
        ilm(101, to_gateway(&[], Uniform)),
        TableOp::FtnSet { fec: fec("10.9.0.0/16"), nhlfe: to_gateway(&[300], TtlModel::Pipe) },
    ]
}

#[test]
fn the_longest_segment_has_to_fit() {
    let mut tables = node(&lsp());
    // IP and UDP header make 28 bytes, a label four more; the port takes 1500.
    for (stack, fits) in [(&[][..], 1_468), (&[(100, 0, 64)][..], 1_468), (&[(101, 0, 64)][..], 1_472)] {
        let mut frame = whole(stack, fits, true);
        assert_eq!(forward(&mut tables, &mut frame), OUT, "{stack:?}");
        // Still to be cut, at the same places of the packet.
        let moved = whole(&[(0, 0, 0)][..usize::from(frame.header()[12] == 0x88)], fits, true);
        assert_eq!(frame.offload(), moved.offload(), "{stack:?}");
        let long = whole(stack, fits + 1, true);
        stays(&mut tables, long.clone(), Verdict::Punt);
        let mtu = u32::from(fits) + 28;
        let labels = stack.len() as u8;
        assert_eq!(tables.classify_punt(P0, &long), Some(PuntReason::TooBig { mtu, labels }), "{stack:?}");
    }
}

#[test]
fn one_frame_counts_with_the_bytes_of_all_segments() {
    let mut tables = node(&lsp());
    assert_eq!(forward(&mut tables, &mut whole(&[(100, 0, 64)], 1_000, true)), OUT);
    let wire = 9 * (14 + 4 + 28 + 1_000 + 4);
    let counters = tables.port_counters(P1);
    assert_eq!((counters.tx_packets, counters.tx_bytes), (1, wire));
    assert_eq!(tables.ilm_row(label(100)).map(|row| (row.packets, row.bytes)), Some((1, wire)));
}

#[test]
fn errors_are_about_one_segment_and_nothing_is_fragmented() {
    for dont_fragment in [true, false] {
        let frame = whole(&[(100, 0, 64)], 1_480, dont_fragment);
        assert!(fragment(&frame, 1_496).is_err());
        let packet =
            icmp_error(&frame, IcmpError::FragmentationNeeded { mtu: 1_496 }, OURS).expect("an error");
        let quoted = &packet[28..48];
        assert_eq!(u16::from_be_bytes([quoted[2], quoted[3]]), 28 + 1_480);
        assert_eq!((checksum::sum(quoted), &packet[26..28]), (0xffff, &1_496u16.to_be_bytes()[..]));
    }
}

#[test]
fn a_checksum_is_finished_before_a_packet_is_fragmented() {
    let mut frame = frame(&[], Ip { payload: 2_000, ..Ip::default() });
    let mut bytes = frame.to_vec();
    // A UDP header whose checksum field holds the sum of the pseudo header.
    let pseudo = checksum::pseudo_header(SOURCE, FAR, 17, 2_000);
    bytes[34..42].copy_from_slice(&[&[0, 5, 0, 6, 7, 208][..], &pseudo.to_be_bytes()[..]].concat());
    frame.refill(&bytes);
    let offload =
        Offload { needs_checksum: true, checksum_start: 34, checksum_offset: 6, ..Offload::default() };
    frame.set_offload(Some(offload));
    let fragments = fragment(&frame, 1_500).expect("two fragments");
    let mut payload = Vec::new();
    for fragment in fragments {
        assert_eq!(fragment.offload(), None);
        let bytes = fragment.to_vec();
        payload.extend_from_slice(ipv4::Packet::new_checked(&bytes[14..]).expect("a packet").payload());
    }
    assert_eq!(checksum::combine(&[pseudo, checksum::sum(&payload)]), 0xffff);
    // In transit it is left to the last interface.
    let mut tables = node(&lsp());
    let mut short = crate::support::frame(&[], Ip { payload: 100, ..Ip::default() });
    short.set_offload(Some(offload));
    assert_eq!(forward(&mut tables, &mut short), OUT);
    assert_eq!(short.offload().map(|o| o.checksum_start), Some(38));
}

#[test]
fn a_quoted_packet_has_the_checksum_that_it_would_have_had() {
    for stack in [&[][..], &[(100, 0, 1)][..]] {
        let mut bytes = frame(stack, Ip { payload: 8 + 60, ..Ip::default() }).to_vec();
        let at = 14 + 4 * stack.len();
        let packet = ipv4::Packet::new_unchecked(&bytes[at..]);
        let pseudo = checksum::pseudo_header(packet.src(), packet.dst(), 17, 68);
        bytes[at + 26..at + 28].copy_from_slice(&pseudo.to_be_bytes());
        let mut frame = Frame::from_bytes(&bytes);
        frame.set_offload(Some(Offload {
            needs_checksum: true,
            checksum_start: at as u16 + 20,
            checksum_offset: 6,
            ..Offload::default()
        }));
        let message = icmp_error(&frame, IcmpError::TimeExceeded, [10, 0, 0, 1].into()).expect("an error");
        let quoted = &message[28..];
        assert_eq!(checksum::combine(&[pseudo, checksum::sum(&quoted[20..88])]), 0xffff, "{stack:?}");
    }
}
