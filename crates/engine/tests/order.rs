//! The order of events: that stated for ties, and that no device can tell how far others are.

use crate::common::{Diary, Forwarder, Sink, Source, frame, read};
use base::device::DropReason;
use base::{Command, Device, Frame, LinkId, NodeId, Output, Phb, PortId, Rate, Span, Time, Verdict};
use forwarding::queue::{Facts, Tree, TreeSpec};
use proptest::prelude::*;
use twinplane_engine::{
    CaptureSpec, CaptureTarget, CaptureTo, DirectionCounters, LinkSpec, Progress, RunDigest, World,
};

#[test]
fn ties_are_broken_by_port_then_commands_come_first_and_timeouts_last() {
    let mut world = World::new(1);
    // Both frames arrive at 5.512 us; the link made first has the lower port.
    let sink = world.add_device(Box::new(Sink::default()));
    for stream in [1, 2, 3] {
        let source = world.add_device(Box::new(Source::cbr(stream, Time(0), Span::from_us(1), 1, 64)));
        world.add_link(LinkSpec::new(source, sink, Rate::from_gbps(1), Span::from_us(5))).unwrap();
    }
    let at = Time(5_512_000);
    world.inject(at, sink, PortId(2), frame(9, 0, 64)).unwrap();
    world.run_until(Time::MAX).unwrap();
    let got: Vec<_> = world.device::<Sink>(sink).unwrap().got.iter().map(|g| (g.0, g.2)).collect();
    assert_eq!(got, [9, 1, 2, 3].map(|stream| (at, stream)));
}

/// Forwards by stream and hops left, keeps a log of all its inputs, punts some frames and answers them after a while.
#[derive(Default)]
struct Wanderer {
    ports: u16,
    latency: u64,
    punts_each: u64,
    diary: Diary,
}

impl Wanderer {
    fn next(&self, frame: &mut Frame) -> Option<PortId> {
        let (stream, number) = read(frame);
        frame.set_phb([None, Some(Phb::EF), Some(Phb::new(10)?)][number as usize % 3]);
        let left = frame.header_mut().get_mut(12)?;
        *left = left.checked_sub(1)?;
        Some(PortId(
            ((u64::from(stream) + number + u64::from(*left) * 7) % u64::from(self.ports.max(1))) as u16,
        ))
    }
}

impl Device for Wanderer {
    fn forward_batch(&mut self, now: Time, port: PortId, frames: &mut [Frame], verdicts: &mut [Verdict]) {
        for (frame, verdict) in frames.iter_mut().zip(verdicts) {
            let number = read(frame).1;
            if (number + u64::from(frame.header()[12])).is_multiple_of(self.punts_each) {
                *verdict = Verdict::Punt;
                continue;
            }
            self.diary.log.push((now, port.0, number));
            *verdict = match self.next(frame) {
                Some(port) => Verdict::Transmit { port, ready: Time(now.0 + self.latency) },
                None => Verdict::Drop(DropReason::TtlExpired),
            };
        }
    }
    fn handle_packet(&mut self, now: Time, port: PortId, mut frame: Frame) {
        let out = self.next(&mut frame);
        self.diary.punted(now, port, frame, out, 5 * self.latency);
    }
    fn handle_timeout(&mut self, now: Time) {
        self.diary.release(now);
    }
    fn handle_command(&mut self, now: Time, _: Command) {
        self.diary.log.push((now, 0, 3_000_000));
    }
    fn poll_output(&mut self) -> Option<Output> {
        self.diary.outputs.pop_front()
    }
    fn poll_timeout(&self) -> Option<Time> {
        self.diary.next()
    }
}

/// Trees that hold packets back, reorder and drop them, by chance too.
const TREES: [&str; 7] = [
    r#"{"discipline": "bfifo", "limit": 3000}"#,
    r#"{"discipline": "tbf", "rate": 300000000, "burst": 1600, "limit": 20000}"#,
    r#"{"discipline": "tbf", "rate": 4000000000, "burst": 3200, "peakrate": 7000000000, "mtu": 1600,
        "queue": {"discipline": "pfifo", "limit": 12}}"#,
    r#"{"discipline": "prio", "filters": [{"phb": ["EF"], "class": "first"}], "classes": {"first": {},
        "rest": {"queue": {"discipline": "tbf", "rate": 500000000, "burst": 1600, "limit": 8000}}}}"#,
    r#"{"discipline": "red", "limit": 6000, "min": 400, "max": 1600, "avpkt": 200, "burst": 3,
        "probability": 0.3, "bandwidth": 1000000000}"#,
    r#"{"discipline": "drr", "default": "rest", "filters": [{"phb": ["EF"], "class": "small"}],
        "classes": {"small": {"quantum": 100}, "rest": {"quantum": 700}}}"#,
    r#"{"discipline": "prio", "filters": [{"phb": ["AF11"], "class": "low"}], "default": "high", "classes": {
        "high": {"queue": {"discipline": "red", "limit": 3000, "min": 200, "max": 900, "avpkt": 200,
            "burst": 2, "probability": 0.5, "bandwidth": 1000000000}},
        "low": {"queue": {"discipline": "drr", "default": "a", "classes": {"a": {"quantum": 300}}}}}}"#,
];

/// Puts a tree at a port, if it is to have one.
fn plant(world: &mut World, node: NodeId, port: PortId, rate: u64, tree: usize) {
    let Some(root) = TREES.get(tree) else { return };
    let spec: TreeSpec = serde_json::from_str(&format!(r#"{{"root": {root}}}"#)).expect("a tree");
    let random = world.streams().stream(&format!("queue {} {}", node.0, port.0));
    let tree = Tree::new(&spec, &Facts { rate: Rate(rate), mtu: 1500 }, random).expect("a tree");
    world.set_queue(node, port, tree).expect("a port");
}

type Log = Vec<(Time, u16, u64)>;
type Seen = (RunDigest, Vec<Log>, Vec<[DirectionCounters; 2]>, String);

#[derive(Clone, Debug)]
struct Plan {
    nodes: Vec<(u64, u64)>,
    links: Vec<(usize, usize, u64, i64)>,
    /// The tree at either end of a link, if it is one of [`TREES`].
    trees: Vec<[usize; 2]>,
    frames: Vec<(usize, u16, u64, u32)>,
    commands: Vec<(usize, u64)>,
}

fn plan() -> impl Strategy<Value = Plan> {
    (2usize..6).prop_flat_map(|n| {
        let nodes = proptest::collection::vec((0u64..2_000_000, 2u64..12), n);
        let rate = prop_oneof![Just(0u64), Just(1_000_000_000), 1_000_000_000u64..20_000_000_000];
        let delay = prop_oneof![Just(0i64), Just(1_000_000), 0i64..10_000_000];
        let links = proptest::collection::vec((0..n, 0..n, rate, delay), 1..9);
        let tree = || prop_oneof![2 => Just(usize::MAX), 3 => 0..TREES.len()];
        let trees = proptest::collection::vec([tree(), tree()], 9);
        let frames = proptest::collection::vec((0..n, 0u16..9, 0u64..20_000_000, 64u32..400), 1..60);
        let commands = proptest::collection::vec((0..n, 0u64..30_000_000), 0..4);
        (nodes, links, trees, frames, commands).prop_map(|(nodes, links, trees, frames, commands)| Plan {
            nodes,
            links,
            trees,
            frames,
            commands,
        })
    })
}

/// Runs a plan: in steps of so many events, and with or without a capture, which keeps all devices in step.
fn run(plan: &Plan, steps: u64, in_step: bool) -> Seen {
    let mut world = World::new(1);
    let mut ids = Vec::new();
    let mut ports = vec![0u16; plan.nodes.len()];
    plan.links.iter().for_each(|l| [l.0, l.1].iter().for_each(|&n| ports[n] += 1));
    for (&(latency, punts_each), &ports) in plan.nodes.iter().zip(&ports) {
        ids.push(world.add_device(Box::new(Wanderer { ports, latency, punts_each, ..Wanderer::default() })));
    }
    for (&(a, b, rate, delay), trees) in plan.links.iter().zip(&plan.trees) {
        let link = LinkSpec::new(ids[a], ids[b], Rate(rate), Span(delay));
        let (_, port_a, port_b) = world.add_link(link).unwrap();
        plant(&mut world, ids[a], port_a, rate, trees[0]);
        plant(&mut world, ids[b], port_b, rate, trees[1]);
    }
    for (number, &(node, port, at, size)) in plan.frames.iter().enumerate() {
        if ports[node] > 0 {
            let mut frame = frame(number as u32 / 4, number as u64, size);
            frame.header_mut()[12] = 40;
            world.inject(Time(at), ids[node], PortId(port % ports[node]), frame).unwrap();
        }
    }
    for &(node, at) in &plan.commands {
        world.command(Time(at), ids[node], Command::Stop).unwrap();
    }
    if in_step {
        world.capture(CaptureSpec::new(CaptureTarget::Everything, CaptureTo::Memory)).unwrap();
    }
    while world.step(Time(10_000_000_000), steps).unwrap() == Progress::More {}
    assert!(world.audit().is_empty());
    let log = |&id: &NodeId| world.device::<Wanderer>(id).map(|w| w.diary.log.clone()).unwrap_or_default();
    let logs = ids.iter().map(log).collect();
    let counters =
        (0..world.link_count() as u32).map(|link| world.link_counters(LinkId(link)).unwrap()).collect();
    (world.digest(), logs, counters, format!("{:?}", world.drain_events()))
}

proptest! {
    #![proptest_config(testing::cases(256))]
    /// Devices that run ahead of each other see what they would see in step.
    #[test]
    fn nobody_can_tell(plan in plan(), steps in 1u64..20) {
        let in_step = run(&plan, u64::MAX, true);
        prop_assert!(run(&plan, u64::MAX, false) == in_step, "at once");
        prop_assert!(run(&plan, steps, false) == in_step, "in steps of {steps}");
    }
}

#[test]
fn the_plans_do_exercise_runs() {
    // The property above says nothing unless frames follow each other on links: here they do.
    let mut world = World::new(1);
    let source = world.add_device(Box::new(Source::cbr(1, Time(0), Span::from_us(1), 100, 64)));
    let middle = world.add_device(Box::new(Forwarder::transit()));
    let sink = world.add_device(Box::new(Sink::default()));
    world.add_link(LinkSpec::new(source, middle, Rate::from_gbps(1), Span::from_us(50))).unwrap();
    world.add_link(LinkSpec::new(middle, sink, Rate::from_gbps(1), Span::from_us(50))).unwrap();
    // 51 timeouts at the source and two arrivals at the middle, the second ahead of the source's next timeout.
    while world.device::<Forwarder>(middle).unwrap().forwarded == 0 {
        assert_eq!(world.step(Time::MAX, 1).unwrap(), Progress::More);
    }
    world.step(Time::MAX, 10).unwrap();
    assert!(world.device::<Forwarder>(middle).unwrap().forwarded > 6);
}
