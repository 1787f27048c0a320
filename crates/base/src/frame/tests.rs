use super::*;

#[test]
fn what_is_left_undone_stays_where_it_is() {
    let mut frame = Frame::new(&[1; 54], Body::Pattern { start: 0, len: 3000 });
    let offload = Offload {
        needs_checksum: true,
        checksum_start: 34,
        checksum_offset: 16,
        segment: Segment::TcpV4,
        segment_size: 1460,
        header_len: 54,
    };
    assert_eq!((frame.offload(), frame.segment_len(), frame.wire_len()), (None, 3054, 3058));
    frame.set_offload(Some(offload));
    assert_eq!((frame.offload(), frame.segment_len()), (Some(offload), 1514));
    assert_eq!(frame.wire_len(), 2 * 1518 + (54 + 80 + 4));
    assert!(frame.grow_front(8));
    assert_eq!(frame.offload(), Some(Offload { checksum_start: 42, header_len: 62, ..offload }));
    assert!(frame.shrink_front(4));
    assert_eq!(frame.offload(), Some(Offload { checksum_start: 38, header_len: 58, ..offload }));
    assert_eq!(frame.clone().offload(), frame.offload());
    frame.set_arrived(Time(7));
    frame.refill(&[0; 60]);
    assert_eq!((frame.offload(), frame.arrived()), (None, None));
}

#[test]
fn a_frame_fills_three_cache_lines() {
    assert_eq!(size_of::<Data>(), 192);
    assert_eq!((core::mem::offset_of!(Data, header) + HEADROOM) % 64, 0);
}

#[test]
fn a_new_frame_knows_nothing_of_an_old_one() {
    let mut frame = Frame::from_bytes(&[0; 60]);
    frame.set_offload(Some(Offload::default()));
    frame.set_arrived(Time(1));
    drop(frame);
    let frame = Frame::from_bytes(&[0; 60]);
    assert_eq!((frame.offload(), frame.arrived()), (None, None));
}
use proptest::prelude::*;

#[test]
fn memory_that_serves_again_holds_nothing_of_before() {
    assert_eq!(size_of::<Option<Frame>>(), 8);
    let mut first = Frame::new(&[7; HEADER_ROOM], Body::Pattern { start: 1, len: 9 });
    first.start_trace();
    assert!(first.grow_front(HEADROOM));
    first.header_mut().fill(9);
    drop(first);
    let mut again = Frame::new(&[1; 20], Body::Empty);
    assert_eq!((again.len(), again.trace()), (20, None));
    assert!(again.grow_front(HEADROOM));
    assert_eq!(&again.header()[..HEADROOM], &[0; HEADROOM]);
    let other = again.clone();
    drop(again);
    assert_eq!(other.len(), 60);
}

#[test]
fn short_frames_are_counted_at_full_length() {
    assert_eq!(Frame::from_bytes(&[0; 42]).wire_len(), 64);
    assert_eq!(Frame::from_bytes(&[0; 60]).wire_len(), 64);
    assert_eq!(Frame::new(&[0; 60], Body::Pattern { start: 0, len: 1 }).wire_len(), 65);
}

#[test]
fn headroom_takes_eight_labels() {
    let mut frame = Frame::from_bytes(&[1; 14]);
    for _ in 0..HEADROOM / 4 {
        assert!(frame.grow_front(4));
    }
    assert!(!frame.grow_front(1));
    assert!(frame.shrink_front(HEADROOM + 14));
    assert!(!frame.shrink_front(1));
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn bytes_come_back(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let frame = Frame::from_bytes(&bytes);
        prop_assert_eq!(frame.to_vec(), bytes.clone());
        let mut again = Frame::from_bytes(&[9; 5]);
        again.refill(&bytes);
        prop_assert_eq!(again, frame);
    }

    /// What a dropped frame held is not seen in the next.
    #[test]
    fn memory_is_used_again_unseen(bytes in proptest::collection::vec(any::<u8>(), 0..200), len in 0usize..HEADER_ROOM) {
        let mut old = Frame::new(&[0xff; HEADER_ROOM], Body::owned(vec![0xff; 9]));
        old.start_trace();
        drop(old);
        let frame = Frame::from_bytes(&bytes);
        prop_assert_eq!((frame.to_vec(), frame.trace()), (bytes, None));
        drop(frame);
        let frame = Frame::from_room(&[7; HEADER_ROOM], len, Body::Pattern { start: 0, len: 1 });
        prop_assert_eq!(frame.to_vec(), [vec![7; len], vec![0]].concat());
    }

    #[test]
    fn slices_are_slices(start in 0u32..9, len in 0u32..99, at in 0u32..120, n in 0u32..120) {
        let body = Body::Pattern { start, len };
        let mut all = Vec::new();
        body.write_to(&mut all);
        for whole in [body, Body::owned(all.clone())] {
            let mut part = Vec::new();
            whole.slice(at, n).write_to(&mut part);
            let from = (at as usize).min(all.len());
            let to = (from + n as usize).min(all.len());
            prop_assert_eq!(&part[..], &all[from..to]);
        }
    }
}

#[test]
fn tags_go_no_further_than_they_should() {
    let mut frame = Frame::from_bytes(&[0; 60]);
    assert_eq!((frame.mark(), frame.input(), frame.phb()), (0, None, None));
    frame.start_trace();
    frame.set_input(PortId(u16::MAX));
    frame.set_phb(Some(crate::Phb::EF));
    assert_eq!((frame.mark(), frame.input()), (0, Some(PortId(u16::MAX))));
    frame.clear_tags();
    frame.note_link(LinkId(3));
    assert_eq!((frame.mark(), frame.input(), frame.phb()), (0, None, None));
    frame.set_mark(7);
    assert_eq!((frame.mark(), frame.input(), frame.trace()), (7, None, Some(&[LinkId(3)][..])));
    assert_eq!((frame.clone().mark(), frame.clone().trace()), (7, frame.trace()));
    drop(frame);
    let mut frame = Frame::from_bytes(&[0; 60]);
    assert_eq!((frame.mark(), frame.input(), frame.trace()), (0, None, None));
    frame.start_trace();
    assert_eq!((frame.mark(), frame.trace()), (0, Some(&[][..])));
}
