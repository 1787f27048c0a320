use super::*;
use crate::egress::tests::{super_frame, tree};
use crate::medium::LLC;

/// Bytes of a whole piece behind LLC and SNAP, with its frame check sequence.
const PIECE: u64 = 1502 + 8 + 4;

fn lane(buffer_bytes: u64) -> Lane {
    let spec =
        PortSpec { rate: Rate::from_mbps(100), buffer_bytes: Some(buffer_bytes), ..PortSpec::default() };
    let mut lane = Lane::new(LinkId(0), spec, Span(0), NodeId(1), PortId(0));
    lane.set_medium(&LLC);
    lane
}

#[test]
fn each_piece_of_a_super_frame_is_taken_or_counted() {
    let mut lane = lane(3 * PIECE);
    let sent = lane.transmit(Time::ZERO, Time::ZERO, super_frame(10 * 1448));
    assert!(matches!(sent, Sent::First(_)));
    // One leaves at once, and three find room.
    assert_eq!((lane.sent_frames(), lane.sent_bytes()), (4, 4 * PIECE));
    assert_eq!(lane.refused_pieces().total(), 6);
    assert_eq!(
        lane.transmit(Time::ZERO, Time::ZERO, super_frame(2 * 1448)),
        Sent::Refused(DropReason::BufferFull)
    );
    assert_eq!(lane.refused_pieces().total(), 7, "the caller counts the other one");
}

#[test]
fn queues_count_the_bytes_of_the_medium() {
    let mut lane = lane(0);
    lane.set_queue(tree());
    let sent = lane.transmit(Time::ZERO, Time::ZERO, super_frame(10 * 1448));
    assert!(matches!(sent, Sent::First(_)));
    let egress = lane.egress().expect("queues");
    assert_eq!(egress.audit(Time::ZERO), [""; 0]);
    assert_eq!(egress.waiting_bytes(), egress.waiting_frames() * PIECE);
    assert!(egress.drops().total() > 0);
    lane.catch_up(Time(1 << 50));
    assert_eq!(lane.egress().map(|egress| (egress.waiting_frames(), egress.waiting_bytes())), Some((0, 0)));
}

#[test]
fn what_is_no_super_frame_after_all_is_refused_by_a_medium() {
    for queued in [false, true] {
        let mut lane = lane(9000);
        if queued {
            lane.set_queue(tree());
        }
        let mut frame = super_frame(1500);
        frame.header_mut()[14] = 0x15;
        let sent = lane.transmit(Time::ZERO, Time::ZERO, frame);
        assert_eq!(sent, Sent::Refused(DropReason::Malformed));
        assert!(!lane.is_used());
    }
}
