//! Capture, recording, digest: they show what happened, and don't change it.

use crate::common::{Forwarder, Sink, Source};
use base::{Command, Device, Frame, LinkId, NodeId, Output, PortId, Rate, Span, Time, Verdict};
use proptest::prelude::*;
use std::process::Command as Process;
use twinplane_engine::{
    CaptureReader, CaptureSpec, CaptureTarget, CaptureTo, Direction, EngineError, Fault, FaultKind, LinkSpec,
    Progress, World, replay,
};

fn us(us: i64) -> Time {
    Time::ZERO + Span::from_us(us)
}

/// Two sources meet at a forwarder, cross a second one that punts every frame, and reach a sink; the third link is
/// slow enough to queue, and loses frames.
fn mesh(seed: u64, faults: bool) -> (World, Vec<NodeId>) {
    let mut world = World::new(seed);
    let mut nodes = Vec::new();
    for stream in 0..2 {
        let source = Source::cbr(stream, us(i64::from(stream)), Span::from_ns(3_700), 300, 64 + 400 * stream);
        nodes.push(world.add_device(Box::new(source)));
    }
    nodes.push(world.add_device(Box::new(Forwarder::new(&[2, 2, 0]))));
    let mut slow = Forwarder::transit();
    (slow.punts, slow.latency) = (true, Span::from_us(3));
    nodes.push(world.add_device(Box::new(slow)));
    nodes.push(world.add_device(Box::new(Sink::default())));
    let delay = Span::from_us(20);
    for (a, b, rate) in [(0, 2, 10_000), (1, 2, 10_000), (2, 3, 1_000), (3, 4, 2_000)] {
        world.add_link(LinkSpec::new(nodes[a], nodes[b], Rate::from_mbps(rate), delay)).unwrap();
    }
    if faults {
        let (link, direction) = (LinkId(2), Direction::Both);
        for kind in [
            FaultKind::Loss { link, direction, probability: 0.1 },
            FaultKind::Reordering { link, direction, probability: 0.2, extra: Span::from_us(9) },
        ] {
            world.fault(Fault::new(us(100), kind).until(us(700))).unwrap();
        }
        world.fault(Fault::new(us(400), FaultKind::LinkDown { link: LinkId(3) }).until(us(450))).unwrap();
    }
    (world, nodes)
}

fn everything() -> CaptureSpec {
    CaptureSpec::new(CaptureTarget::Everything, CaptureTo::Memory)
}

#[test]
fn capture_changes_nothing_and_repeats_to_the_byte() {
    for faults in [false, true] {
        let (mut plain, _) = mesh(3, faults);
        plain.run_until(us(5_000)).unwrap();
        let mut files = Vec::new();
        for steps in [u64::MAX, 11] {
            let (mut world, nodes) = mesh(3, faults);
            let all = world.capture(everything()).unwrap();
            let port = CaptureTarget::Port(nodes[2], PortId(2));
            let port = world.capture(CaptureSpec::new(port, CaptureTo::Memory)).unwrap();
            while world.step(us(5_000), steps).unwrap() == Progress::More {}
            assert_eq!(world.digest(), plain.digest());
            files.push([all, port].map(|id| world.finish_capture(id).unwrap()));
        }
        assert_eq!(files[0], files[1]);
        let (mut other, _) = mesh(4, faults);
        other.run_until(us(5_000)).unwrap();
        assert_eq!(other.digest() == plain.digest(), !faults, "only faults are random here");
    }
}

#[test]
fn a_captured_frame_has_the_time_of_its_last_bit() {
    let (mut world, nodes) = mesh(1, false);
    world.name_node(nodes[2], "merge").unwrap();
    let sent = world.capture(everything()).unwrap();
    let target = CaptureTarget::Port(nodes[4], PortId(0));
    let received = world.capture(CaptureSpec::new(target, CaptureTo::Memory)).unwrap();
    world.run_until(us(5_000)).unwrap();
    let sent = world.finish_capture(sent).unwrap();
    // Each of 600 frames crosses three links.
    assert_eq!(sent.packets, 1_800);
    let mut reader = CaptureReader::new(&sent.bytes[..]).unwrap();
    let packets: Vec<_> = reader.by_ref().map(|p| p.unwrap()).collect();
    assert_eq!(packets.len(), 1_800);
    assert!(packets.is_sorted_by_key(|p| p.nanos));
    // 64 bytes at 10 Gbit/s: 51.2 ns.
    assert_eq!((packets[0].nanos, packets[0].interface, packets[0].bytes.len()), (51, 0, 60));
    assert_eq!(reader.interface_name(4), Some("merge:2"));
    assert_eq!(reader.interface_name(0), Some("n0:0"));
    let received = world.finish_capture(received).unwrap();
    let times: Vec<_> = CaptureReader::new(&received.bytes[..]).unwrap().map(|p| p.unwrap().nanos).collect();
    let got: Vec<_> = world.device::<Sink>(nodes[4]).unwrap().got.iter().map(|g| g.0.as_nanos()).collect();
    assert_eq!(times, got);
}

#[test]
fn a_cut_link_is_not_captured_beyond_the_cut() {
    let (mut world, _) = mesh(1, false);
    let target = CaptureTarget::Link(LinkId(2));
    let tap = world.capture(CaptureSpec::new(target, CaptureTo::Memory)).unwrap();
    world.fault(Fault::new(us(500), FaultKind::LinkDown { link: LinkId(2) })).unwrap();
    world.run_until(us(5_000)).unwrap();
    let file = world.finish_capture(tap).unwrap();
    let last = CaptureReader::new(&file.bytes[..]).unwrap().last().unwrap().unwrap();
    assert!(last.nanos > 495_000 && last.nanos <= 500_000);
}

#[test]
fn a_limited_capture_ends_and_a_failed_one_does_no_harm() {
    let (mut plain, _) = mesh(3, true);
    plain.run_until(us(5_000)).unwrap();
    let (mut world, _) = mesh(3, true);
    let some = world.capture(everything().max_packets(100)).unwrap();
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if bytes.first() == Some(&6) {
                Err(std::io::ErrorKind::StorageFull.into())
            } else {
                Ok(bytes.len())
            }
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let to = CaptureTo::Writer("disk".to_string(), Box::new(Full));
    let full = world.capture(CaptureSpec::new(CaptureTarget::Everything, to)).unwrap();
    let error = world.run_until(us(5_000)).unwrap_err();
    assert_eq!(error.to_string(), "disk: packet 0 can't be written: no storage space");
    world.run_until(us(5_000)).unwrap();
    assert_eq!(world.digest(), plain.digest());
    assert_eq!(world.finish_capture(some).unwrap().packets, 100);
    assert!(world.finish_capture(full).is_err());
}

#[test]
fn tshark_reads_a_capture() {
    if !testing::available("tshark") {
        return;
    }
    let (mut world, _) = mesh(3, true);
    let path = std::env::temp_dir().join(format!("engine-tshark-{}.pcapng", std::process::id()));
    let to = CaptureTo::File(path.clone());
    let tap = world.capture(CaptureSpec::new(CaptureTarget::Everything, to)).unwrap();
    world.run_until(us(5_000)).unwrap();
    let packets = world.finish_capture(tap).unwrap().packets;
    let fields = [
        "-T",
        "fields",
        "-e",
        "frame.interface_name",
        "-e",
        "frame.packet_flags_direction",
        "-e",
        "_ws.malformed",
    ];
    let output = Process::new("tshark").arg("-r").arg(&path).args(fields).output().expect("tshark runs");
    std::fs::remove_file(&path).unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(text.lines().count() as u64, packets);
    assert!(text.starts_with("n0:0\t0x00000002\t\n"), "{}", text.lines().next().unwrap_or_default());
    assert!(text.lines().all(|line| line.ends_with("\t0x00000002\t")));
}

#[test]
fn a_replay_answers_as_the_device_did() {
    let (mut world, nodes) = mesh(3, true);
    let watched = [nodes[0], nodes[2], nodes[3]];
    watched.iter().for_each(|&node| world.record(node).unwrap());
    world.command(us(300), nodes[2], Command::PortDown(PortId(1))).unwrap();
    world.run_until(us(5_000)).unwrap();
    let (mut plain, _) = mesh(3, true);
    plain.command(us(300), nodes[2], Command::PortDown(PortId(1))).unwrap();
    plain.run_until(us(5_000)).unwrap();
    assert_eq!(world.digest(), plain.digest());
    let mut slow = Forwarder::transit();
    (slow.punts, slow.latency) = (true, Span::from_us(3));
    let fresh: [Box<dyn Device>; 3] = [
        Box::new(Source::cbr(0, us(0), Span::from_ns(3_700), 300, 64)),
        Box::new(Forwarder::new(&[2, 2, 0])),
        Box::new(slow),
    ];
    for (node, device) in watched.into_iter().zip(fresh) {
        let recording = world.take_recording(node).unwrap().unwrap();
        let text = serde_json::to_string(&recording).unwrap();
        let recording = serde_json::from_str(&text).unwrap();
        let replayed = replay(device, &recording);
        assert!(replayed.outputs.len() >= 300);
        assert_eq!(replayed.outputs.len() as u64, recording.outputs);
        assert_eq!(replayed.digest, recording.digest);
    }
    assert!(world.take_recording(nodes[0]).expect("memory").is_none());
}

/// Fails in one way or another.
struct Bad {
    panics: bool,
}

impl Device for Bad {
    fn forward_batch(&mut self, now: Time, _: PortId, _: &mut [Frame], verdicts: &mut [Verdict]) {
        assert!(!self.panics || now < us(300), "out of order");
        verdicts.fill(Verdict::Transmit { port: PortId(7), ready: now });
    }
    fn handle_packet(&mut self, _: Time, _: PortId, _: Frame) {}
    fn handle_timeout(&mut self, _: Time) {}
    fn handle_command(&mut self, _: Time, _: Command) {}
    fn poll_output(&mut self) -> Option<Output> {
        None
    }
    fn poll_timeout(&self) -> Option<Time> {
        if self.panics { None } else { Some(us(40)) }
    }
}

#[test]
fn a_bad_device_fails_alone() {
    let run = |bad: Option<bool>| {
        let (mut world, nodes) = mesh(3, false);
        let source = world.add_device(Box::new(Source::cbr(7, us(0), Span::from_us(1), 1_000, 64)));
        let sink: Box<dyn Device> = match bad {
            Some(panics) => Box::new(Bad { panics }),
            None => Box::new(Sink::default()),
        };
        let last = world.add_device(sink);
        world.add_link(LinkSpec::new(source, last, Rate::from_gbps(1), Span::from_us(9))).unwrap();
        let result = world.run_until(us(5_000));
        world.run_until(us(5_000)).unwrap();
        assert!(world.audit().is_empty());
        let got = world.device::<Sink>(nodes[4]).unwrap().got.clone();
        (got, world.digest(), result, world.node_is_up(last).unwrap())
    };
    let (got, digest, fine, _) = run(None);
    fine.unwrap();
    let (got_too, digest_too, error, up) = run(Some(true));
    assert!(
        matches!(&error, Err(EngineError::DevicePanicked { node: NodeId(6), message, .. }) if message == "out of order")
    );
    assert_eq!((&got, digest, up), (&got_too, digest_too, false));
    let (got_too, digest_too, error, up) = run(Some(false));
    assert!(matches!(error, Err(EngineError::Livelock { node: NodeId(6), .. })));
    assert_eq!((got, digest, up), (got_too, digest_too, false));
}

#[test]
fn devices_are_looked_into_by_their_type() {
    let (mut world, nodes) = mesh(1, false);
    assert!(world.device::<Sink>(nodes[0]).is_none());
    assert!(world.device::<Sink>(NodeId(99)).is_none());
    world.run_until(us(100)).unwrap();
    let source = world.device_mut::<Source>(nodes[0]).unwrap();
    source.times.truncate(100); // it is asked for its next timeout anew
    world.run_until(Time::MAX).unwrap();
    assert_eq!(world.device::<Sink>(nodes[4]).unwrap().got.len(), 400);
    assert_eq!(world.neighbor(nodes[2], PortId(2)).unwrap(), (LinkId(2), nodes[3], PortId(0)));
}

proptest! {
    #![proptest_config(testing::cases(256))]
    /// A full buffer drops from the tail; what waits is bounded, and counted.
    #[test]
    fn the_buffer_bounds_what_waits(
        packets in proptest::collection::vec((0u64..2_000_000, 64u32..1519), 1..80),
        buffer in 0u64..6_000,
        latency in 0i64..3_000_000,
    ) {
        let mut world = World::new(1);
        let mut at = 0;
        let times: Vec<Time> = packets.iter().map(|p| { at += p.0; Time(at) }).collect();
        let sizes: Vec<u32> = packets.iter().map(|p| p.1).collect();
        let source = world.add_device(Box::new(Source::at(0, times.clone(), sizes.clone())));
        let mut middle = Forwarder::transit();
        middle.latency = Span(latency);
        let middle = world.add_device(Box::new(middle));
        let sink = world.add_device(Box::new(Sink::default()));
        world.add_link(LinkSpec::new(source, middle, Rate(0), Span::ZERO)).unwrap();
        world.add_link(LinkSpec::new(middle, sink, Rate::from_gbps(1), Span::from_us(50)).with_buffer(buffer)).unwrap();
        world.run_until(Time::MAX).unwrap();
        // From the definition: every frame that was taken, with the time at which its first bit leaves.
        let (mut taken, mut expected, mut peak) = (Vec::<(u64, u64)>::new(), Vec::new(), 0);
        let mut free = 0u64;
        for (k, (time, size)) in times.iter().zip(&sizes).enumerate() {
            let enters = time.0 + latency as u64;
            let waiting: u64 = taken.iter().filter(|t| t.0 > enters).map(|t| t.1).sum();
            let start = enters.max(free);
            if start > enters && waiting + u64::from(*size) > buffer { continue; }
            if start > enters { peak = peak.max(waiting + u64::from(*size)); }
            taken.push((start, u64::from(*size)));
            free = start + u64::from(size + 20) * 8_000;
            expected.push((Time(start + u64::from(*size) * 8_000 + 50_000_000), k as u64));
        }
        let got: Vec<_> = world.device::<Sink>(sink).unwrap().got.iter().map(|g| (g.0, g.3)).collect();
        prop_assert_eq!(got, expected);
        let counters = &world.link_counters(LinkId(1)).unwrap()[0];
        prop_assert_eq!(counters.waiting_bytes_max, peak);
        prop_assert_eq!(counters.refused(), (packets.len() - taken.len()) as u64);
        prop_assert!(world.audit().is_empty());
    }
}
