//! Captures of an interface.

use super::packet::{labelled, spec, super_frame};
use std::collections::VecDeque;
use testing::Pair;
use twinplane_engine::external::capture::{CaptureSource, InterfaceCapture, InterfaceCaptureSpec};
use twinplane_engine::external::{Driver, open};
use twinplane_engine::{CaptureReader, CaptureTo, Packet};

fn captured(bytes: &[u8]) -> Vec<Packet> {
    CaptureReader::new(bytes).unwrap().map(|packet| packet.unwrap()).collect()
}

/// Both directions of one end.
fn end(pair: &Pair, side: usize) -> CaptureSource {
    CaptureSource { netns: Some(pair.netns(side)), ..CaptureSource::new("e0") }
}

#[test]
fn both_directions_are_written_with_the_kernels_time() {
    let Some(pair) = Pair::new(1500) else { return };
    let (mut a, mut b) =
        (open(&spec(&pair, 0, Driver::Packet)).unwrap(), open(&spec(&pair, 1, Driver::Packet)).unwrap());
    let source = CaptureSource { label: Some("a:0".into()), ..end(&pair, 0) };
    let what = InterfaceCaptureSpec {
        max_packets: Some(4),
        snap_len: Some(100),
        ..InterfaceCaptureSpec::of(source)
    };
    let mut capture = InterfaceCapture::open(&what, CaptureTo::Memory).unwrap();
    for i in 0..3 {
        a.send(&mut VecDeque::from([labelled(i, 70)])).unwrap();
        b.send(&mut VecDeque::from([labelled(i + 10, 300)])).unwrap();
    }
    capture.run(&mut || false).unwrap();
    let summary = capture.finish().unwrap();
    assert_eq!((summary.packets, summary.missed, summary.gone), (4, 0, false));
    let packets = captured(&summary.bytes);
    let lens: Vec<_> = packets.iter().map(|p| (p.bytes.len(), p.original_len)).collect();
    assert_eq!(lens, [(70, 70), (100, 300), (70, 70), (100, 300)]);
    assert!(packets.windows(2).all(|p| p[0].nanos <= p[1].nanos && p[0].nanos > 1_600_000_000_000_000_000));
}

#[test]
fn a_super_frame_is_written_as_a_wire_would_carry_it() {
    let Some(pair) = Pair::new(1500) else { return };
    let mut a = open(&spec(&pair, 0, Driver::Packet)).unwrap();
    let what = InterfaceCaptureSpec::of(end(&pair, 0));
    let mut cut = InterfaceCapture::open(&what, CaptureTo::Memory).unwrap();
    let mut whole =
        InterfaceCapture::open(&InterfaceCaptureSpec { undone: true, ..what }, CaptureTo::Memory).unwrap();
    a.send(&mut VecDeque::from([super_frame(2, 2800)])).unwrap();
    for capture in [&mut cut, &mut whole] {
        capture.step(1000).unwrap();
    }
    let lens = |bytes: &[u8]| captured(bytes).iter().map(|p| p.bytes.len()).collect::<Vec<_>>();
    assert_eq!(lens(&cut.finish().unwrap().bytes), [14 + 8 + 40 + 1400; 2]);
    assert_eq!(lens(&whole.finish().unwrap().bytes), [14 + 8 + 40 + 2800]);
}

#[test]
fn a_capture_ends_when_asked_to_or_with_its_interface() {
    let Some(pair) = Pair::new(1500) else { return };
    let what = InterfaceCaptureSpec::of(end(&pair, 0));
    let mut capture = InterfaceCapture::open(&what, CaptureTo::Memory).unwrap();
    let mut asked = 0;
    capture
        .run(&mut || {
            asked += 1;
            asked == 3
        })
        .unwrap();
    assert!(!capture.is_over());
    pair.ip(0, &["link", "del", "e0"]);
    capture.run(&mut || false).unwrap();
    assert!(capture.finish().unwrap().gone);
}

#[test]
fn both_ends_of_a_link_are_written_in_the_order_of_their_times() {
    let Some(pair) = Pair::new(1500) else { return };
    let (mut a, mut b) =
        (open(&spec(&pair, 0, Driver::Packet)).unwrap(), open(&spec(&pair, 1, Driver::Packet)).unwrap());
    let inbound = |side| CaptureSource { inbound_only: true, ..end(&pair, side) };
    let what = InterfaceCaptureSpec {
        sources: vec![inbound(0), inbound(1)],
        ..InterfaceCaptureSpec::of(inbound(0))
    };
    let mut capture = InterfaceCapture::open(&what, CaptureTo::Memory).unwrap();
    for i in 0..20 {
        a.send(&mut VecDeque::from([labelled(i, 70)])).unwrap();
        b.send(&mut VecDeque::from([labelled(i + 100, 300)])).unwrap();
        if i == 10 {
            capture.step(10).unwrap();
        }
    }
    let summary = capture.finish().unwrap();
    assert_eq!((summary.packets, summary.missed), (40, 0));
    let packets = captured(&summary.bytes);
    assert!(packets.windows(2).all(|p| p[0].nanos <= p[1].nanos));
    assert_eq!(packets.iter().filter(|p| p.original_len == 70).count(), 20);
}
