//! AF_PACKET ports.

use base::frame::{Offload, Segment};
use base::{Body, Frame};
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use testing::Pair;
use twinplane_engine::external::Clock;
use twinplane_engine::external::{Driver, ExternalPort, ExternalSpec, PortError, open};

pub fn spec(pair: &Pair, side: usize, driver: Driver) -> ExternalSpec {
    ExternalSpec { netns: Some(pair.netns(side)), offload: true, driver, ..ExternalSpec::new("e0") }
}

/// Receives until there are `count` frames, or nothing more comes.
pub fn receive(port: &mut dyn ExternalPort, clock: &Clock, count: usize) -> Vec<Frame> {
    let mut frames = Vec::new();
    let end = Instant::now() + Duration::from_secs(2);
    while frames.len() < count && Instant::now() < end {
        port.receive(clock, &mut frames, 64).unwrap();
    }
    frames
}

/// A labelled frame of `len` bytes that `number` identifies.
pub fn labelled(number: u32, len: usize) -> Frame {
    let mut bytes = vec![2, 0, 0, 0, 0, 0xb, 2, 0, 0, 0, 0, 0xa, 0x88, 0x47, 0, 6, 0x41, 64, 0x45];
    bytes.extend(number.to_be_bytes());
    bytes.resize(len, number as u8);
    Frame::from_bytes(&bytes)
}

/// A TCP super-frame below `labels` labels, its checksum partial.
pub fn super_frame(labels: usize, payload: usize) -> Frame {
    let mut bytes = vec![2, 0, 0, 0, 0, 0xb, 2, 0, 0, 0, 0, 0xa];
    bytes.extend(if labels > 0 { [0x88, 0x47] } else { [8, 0] });
    for i in 0..labels {
        bytes.extend([0, 6, 0x40 | u8::from(i + 1 == labels), 64]);
    }
    let ip = bytes.len();
    bytes.extend([0x45, 0]);
    bytes.extend((40 + payload as u16).to_be_bytes());
    bytes.extend([0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    let sum = !wire::checksum::sum(&bytes[ip..]);
    bytes[ip + 10..ip + 12].copy_from_slice(&sum.to_be_bytes());
    let partial =
        wire::checksum::pseudo_header([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), 6, 20 + payload as u32);
    bytes.extend([3, 232, 7, 208, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x18, 4, 0]);
    bytes.extend(partial.to_be_bytes());
    bytes.extend([0, 0]);
    let header_len = bytes.len() as u16;
    let mut frame = Frame::new(&bytes, Body::Pattern { start: 7, len: payload as u32 });
    frame.set_offload(Some(Offload {
        needs_checksum: true,
        checksum_start: ip as u16 + 20,
        checksum_offset: 16,
        segment: Segment::TcpV4,
        segment_size: 1400,
        header_len,
    }));
    frame
}

/// The same of UDP datagrams.
fn super_datagram(labels: usize, payload: usize) -> Frame {
    let tcp = super_frame(labels, payload);
    let mut offload = tcp.offload().unwrap();
    let mut bytes = tcp.header()[..usize::from(offload.checksum_start)].to_vec();
    let ip = bytes.len() - 20;
    bytes[ip + 2..ip + 4].copy_from_slice(&(28 + payload as u16).to_be_bytes());
    bytes[ip + 9] = 17;
    bytes[ip + 10..ip + 12].fill(0);
    let sum = !wire::checksum::sum(&bytes[ip..]);
    bytes[ip + 10..ip + 12].copy_from_slice(&sum.to_be_bytes());
    let len = 8 + payload as u16;
    let partial =
        wire::checksum::pseudo_header([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), 17, u32::from(len));
    bytes.extend([3, 232, 7, 208]);
    bytes.extend(len.to_be_bytes());
    bytes.extend(partial.to_be_bytes());
    offload.checksum_offset = 6;
    offload.segment = Segment::UdpL4;
    offload.header_len = bytes.len() as u16;
    let mut frame = Frame::new(&bytes, tcp.body().clone());
    frame.set_offload(Some(offload));
    frame
}

#[test]
fn frames_of_every_length_arrive_as_they_were_sent() {
    let Some(pair) = Pair::new(1500) else { return };
    let clock = Clock::new();
    let (mut a, mut b) =
        (open(&spec(&pair, 0, Driver::Packet)).unwrap(), open(&spec(&pair, 1, Driver::Packet)).unwrap());
    let mut queue: VecDeque<_> = (0..600).map(|i| labelled(i, 60 + (i as usize * 37) % 1455)).collect();
    let sent: Vec<_> = queue.iter().cloned().collect();
    let mut got = Vec::new();
    while !queue.is_empty() {
        a.send(&mut queue).unwrap();
        b.receive(&clock, &mut got, 1000).unwrap();
    }
    got.extend(receive(&mut *b, &clock, sent.len() - got.len()));
    assert_eq!(got, sent);
    assert!(got.iter().all(|frame| frame.arrived().is_some()));
    assert_eq!((a.counters().tx_frames, b.counters().rx_frames), (600, 600));
    assert_eq!(receive_now(&mut *a, &clock), 0, "own frames are not heard");
}

/// The kernel reports the other end's state up to a second late.
pub fn eventually(mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(5);
    while !holds() {
        assert!(Instant::now() < end, "never");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn receive_now(port: &mut dyn ExternalPort, clock: &Clock) -> usize {
    let mut frames = Vec::new();
    port.receive(clock, &mut frames, 64).unwrap()
}

#[test]
pub fn super_frames_travel_whole_with_and_without_labels() {
    let Some(pair) = Pair::new(1500) else { return };
    let clock = Clock::new();
    let (mut a, mut b) =
        (open(&spec(&pair, 0, Driver::Packet)).unwrap(), open(&spec(&pair, 1, Driver::Packet)).unwrap());
    let whole: Vec<_> = [0, 1, 2, 3, 0, 1]
        .into_iter()
        .flat_map(|n| [super_frame(n, 60_000), super_datagram(n, 50_000), super_frame(n, 2_000)])
        .collect();
    a.send(&mut whole.iter().cloned().collect()).unwrap();
    let got = receive(&mut *b, &clock, whole.len());
    assert_eq!(got.len(), whole.len(), "{:?} {:?}", a.counters(), b.counters());
    for (got, whole) in got.iter().zip(&whole) {
        assert!(got == whole, "{got:?} for {whole:?}");
        let (got, whole) = (got.offload().unwrap(), whole.offload().unwrap());
        assert_eq!((got.segment, got.segment_size), (whole.segment, whole.segment_size));
        assert_eq!((got.checksum_start, got.checksum_offset), (whole.checksum_start, whole.checksum_offset));
    }
}

#[test]
fn without_offload_super_frames_are_cut() {
    let Some(pair) = Pair::new(1500) else { return };
    let clock = Clock::new();
    let plain = |side| ExternalSpec { offload: false, ..spec(&pair, side, Driver::Packet) };
    // Cut by the sender, and cut by the receiver.
    for (from, to) in [(plain(0), spec(&pair, 1, Driver::Packet)), (spec(&pair, 0, Driver::Packet), plain(1))]
    {
        let (mut a, mut b) = (open(&from).unwrap(), open(&to).unwrap());
        for labels in 0..3 {
            a.send(&mut VecDeque::from([super_frame(labels, 14_000)])).unwrap();
            let got = receive(&mut *b, &clock, 10);
            assert_eq!(got.len(), 10);
            for frame in &got {
                assert_eq!((frame.offload(), frame.len()), (None, 14 + 4 * labels as u32 + 40 + 1400));
            }
        }
    }
}

/// Whoever holds the queue counts what was taken from it.
#[test]
fn a_frame_that_is_cut_never_makes_the_queue_longer() {
    let Some(pair) = Pair::new(1500) else { return };
    let clock = Clock::new();
    for driver in [Driver::Packet, Driver::Xdp] {
        let spec = |side| ExternalSpec { offload: false, ..spec(&pair, side, driver) };
        let (mut a, mut b) = (open(&spec(0)).unwrap(), open(&spec(1)).unwrap());
        let mut queue: VecDeque<_> = (0..60).map(|i| super_frame(i % 3, 60_000)).collect();
        let (mut total, mut got) = (0, Vec::new());
        while !queue.is_empty() {
            let before = queue.len();
            let taken = a.send(&mut queue).unwrap();
            assert_eq!(queue.len(), before - taken);
            total += taken;
            while b.receive(&clock, &mut got, 64).unwrap() > 0 {}
        }
        assert_eq!(total, 60);
        assert_eq!((a.counters().tx_frames, a.counters().tx_segmented), (60 * 43, 60));
        let sequence: Vec<u32> = got.iter().map(|frame| frame.len()).collect();
        assert_eq!(sequence.iter().filter(|&&len| len > 1400).count(), got.len() - got.len() / 43);
    }
}

#[test]
fn interfaces_that_go_down_or_away_are_noticed() {
    let Some(pair) = Pair::new(1500) else { return };
    let clock = Clock::new();
    let mut a = open(&spec(&pair, 0, Driver::Packet)).unwrap();
    let mut b = open(&spec(&pair, 1, Driver::Packet)).unwrap();
    assert!(a.link_up().unwrap() && b.link_up().unwrap());
    pair.ip(0, &["link", "set", "e0", "down"]);
    assert!(!a.link_up().unwrap());
    eventually(|| !b.link_up().unwrap());
    let mut queue = VecDeque::from([labelled(0, 100), super_frame(1, 3000)]);
    assert_eq!(a.send(&mut queue).unwrap(), 2);
    assert_eq!((queue.len(), a.counters().tx_dropped), (0, 2));
    assert_eq!(receive_now(&mut *a, &clock), 0);
    pair.ip(0, &["link", "set", "e0", "up"]);
    assert!(a.link_up().unwrap());
    a.send(&mut VecDeque::from([labelled(1, 100)])).unwrap();
    assert_eq!(receive(&mut *b, &clock, 1), [labelled(1, 100)]);
    pair.ip(0, &["link", "del", "e0"]);
    assert!(matches!(a.link_up(), Err(PortError::Gone { .. })));
    assert!(matches!(b.link_up(), Err(PortError::Gone { .. })));
    assert!(matches!(a.send(&mut VecDeque::from([labelled(2, 100)])), Err(PortError::Gone { .. })));
    assert_eq!(receive_now(&mut *b, &clock), 0);
}

#[test]
fn what_is_too_long_is_counted() {
    let Some(pair) = Pair::new(1500) else { return };
    let mut a = open(&spec(&pair, 0, Driver::Packet)).unwrap();
    let mut queue = VecDeque::from([labelled(0, 1515), labelled(1, 9000), labelled(2, 1514)]);
    assert_eq!(a.send(&mut queue).unwrap(), 3);
    assert_eq!((a.counters().tx_too_long, a.counters().tx_frames), (2, 1));
}

#[test]
fn vlan_tags_come_back() {
    let Some(pair) = Pair::new(1500) else { return };
    let clock = Clock::new();
    let (mut a, mut b) =
        (open(&spec(&pair, 0, Driver::Packet)).unwrap(), open(&spec(&pair, 1, Driver::Packet)).unwrap());
    let mut bytes = labelled(0, 200).to_vec();
    bytes.splice(12..12, [0x81, 0, 0x60, 7]);
    let tagged = Frame::from_bytes(&bytes);
    a.send(&mut VecDeque::from([tagged.clone()])).unwrap();
    assert_eq!(receive(&mut *b, &clock, 1), [tagged]);
}

#[test]
fn errors_say_what_is_missing() {
    let Some(pair) = Pair::new(1500) else { return };
    let error = |spec: ExternalSpec| open(&spec).map(|_| ()).unwrap_err().to_string();
    let there = spec(&pair, 0, Driver::Packet);
    assert_eq!(error(ExternalSpec { interface: "e9".into(), ..there.clone() }), "no interface e9");
    let nowhere = ExternalSpec { netns: Some("/run/netns/tpt-nowhere".into()), ..there };
    assert_eq!(error(nowhere), "no network namespace /run/netns/tpt-nowhere");
}
