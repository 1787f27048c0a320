//! A device that works through a window sees what it would see if the whole network did one thing at a time.

use crate::common::{Diary, frame, read};
use base::device::{Departure, DropReason};
use base::{Command, Device, Event, Frame, LinkId, NodeId, Output, PortId, Rate, Span, Time, Verdict};
use proptest::prelude::*;
use twinplane_engine::{
    CaptureSpec, CaptureTarget, CaptureTo, Direction, DirectionCounters, Fault, FaultKind, LinkSpec,
    Progress, RunDigest, ThreadsFor, World,
};

const END: Time = Time(60_000_000);

/// Sends of its own accord, and forwards what it gets by what is in it. Some frames it consumes or drops, some it punts
/// and sends on after a while. It keeps a log of all that it is given.
#[derive(Default)]
struct Walker {
    number: u32,
    ports: u16,
    latency: u64,
    punts_each: u64,
    /// When it sends next, and how often.
    next: Option<Time>,
    interval: u64,
    sent: u64,
    diary: Diary,
}

impl Walker {
    fn route(&self, frame: &mut Frame) -> Option<PortId> {
        let (stream, number) = read(frame);
        let left = frame.header_mut().get_mut(12)?;
        *left = left.checked_sub(1)?;
        let choice = u64::from(stream) + number + u64::from(*left) * 7;
        Some(PortId((choice % u64::from(self.ports.max(1))) as u16))
    }

    /// The frame that is due at `at`, and by which port it leaves.
    fn make(&mut self, at: Time) -> (PortId, Frame) {
        let mut made = frame(self.number, self.sent, 64 + (self.sent as u32 * 37) % 300);
        made.header_mut()[12] = 8;
        let port = PortId((self.sent % u64::from(self.ports.max(1))) as u16);
        self.sent += 1;
        // Now and then two at once.
        let gap = if self.sent.is_multiple_of(5) { 0 } else { self.interval };
        self.next = Some(Time(at.0 + gap)).filter(|next| *next < END);
        (port, made)
    }
}

impl Device for Walker {
    fn forward_batch(&mut self, now: Time, port: PortId, frames: &mut [Frame], verdicts: &mut [Verdict]) {
        for (frame, verdict) in frames.iter_mut().zip(verdicts) {
            let number = read(frame).1;
            let kind = number + u64::from(frame.header()[12]);
            if kind.is_multiple_of(self.punts_each) {
                *verdict = Verdict::Punt;
                continue;
            }
            self.diary.log.push((now, port.0, number));
            *verdict = match self.route(frame) {
                _ if kind % 23 == 1 => Verdict::Consume,
                Some(port) => Verdict::Transmit { port, ready: Time(now.0 + self.latency) },
                None => Verdict::Drop(DropReason::TtlExpired),
            };
        }
    }
    fn handle_packet(&mut self, now: Time, port: PortId, mut frame: Frame) {
        let out = self.route(&mut frame);
        self.diary.outputs.push_back(Output::Event(Event::PortDown { port: port.0 }));
        self.diary.punted(now, port, frame, out, 5 * self.latency);
    }
    fn handle_timeout(&mut self, now: Time) {
        self.diary.release(now);
        while let Some(at) = self.next.filter(|at| *at <= now) {
            let (port, frame) = self.make(at);
            self.diary.outputs.push_back(Output::Transmit { port, frame, ready: now });
        }
    }
    fn handle_command(&mut self, now: Time, command: Command) {
        self.diary.log.push((now, 0, 3_000_000));
        self.diary.outputs.push_back(Output::Event(Event::PortDown { port: self.number as u16 }));
        if command == Command::Restart {
            self.diary.queue.clear();
        }
    }
    fn poll_departure(&mut self, before: Time) -> Option<Departure> {
        let at = self.next.filter(|at| *at < before)?;
        if self.diary.next().is_some_and(|due| due <= at) {
            return None;
        }
        let (port, frame) = self.make(at);
        Some(Departure { at, port, frame, next: self.poll_timeout() })
    }
    fn poll_output(&mut self) -> Option<Output> {
        self.diary.outputs.pop_front()
    }
    fn poll_timeout(&self) -> Option<Time> {
        Time::earliest([self.diary.next(), self.next])
    }
}

#[derive(Clone, Debug)]
struct Plan {
    /// Latency, which frames it punts, its first frame, and the time between two.
    nodes: Vec<(u64, u64, u64, u64)>,
    /// Ends, rate, delay and buffer.
    links: Vec<(usize, usize, u64, i64, u64)>,
    faults: Vec<(u64, usize, u64, u64)>,
    recorded: Option<usize>,
}

fn plan() -> impl Strategy<Value = Plan> {
    (2usize..9).prop_flat_map(|n| {
        let interval = prop_oneof![Just(1_000_000u64), 700_000u64..20_000_000];
        let nodes = proptest::collection::vec((0u64..2_000_000, 2u64..40, 0u64..40_000_000, interval), n);
        let rate =
            prop_oneof![2 => Just(0u64), 3 => Just(1_000_000_000), 2 => 1_000_000_000u64..20_000_000_000];
        let delay = prop_oneof![3 => Just(0i64), 3 => Just(10_000_000), 2 => 0i64..30_000_000];
        let buffer = prop_oneof![Just(u64::MAX), 100u64..2_000];
        let links = proptest::collection::vec((0..n, 0..n, rate, delay, buffer), 1..14);
        let fault = (0u64..9, 0usize..14, 0u64..60_000_000, 0u64..20_000_000);
        let faults = prop_oneof![Just(Vec::new()), proptest::collection::vec(fault, 1..6)];
        let recorded = prop_oneof![3 => Just(None), 1 => (0..n).prop_map(Some)];
        (nodes, links, faults, recorded).prop_map(|(nodes, links, faults, recorded)| Plan {
            nodes,
            links,
            faults,
            recorded,
        })
    })
}

/// Half of the plans have times that are all multiples of a microsecond, so that much happens at one time.
fn any_plan() -> impl Strategy<Value = Plan> {
    prop_oneof![plan(), plan().prop_map(coarse)]
}

fn coarse(mut plan: Plan) -> Plan {
    const TICK: u64 = 1_000_000;
    let round = |time: u64| time / TICK * TICK;
    for (latency, _, first, interval) in &mut plan.nodes {
        (*latency, *first, *interval) = (round(*latency), round(*first), round(*interval).max(TICK));
    }
    for (_, _, rate, delay, _) in &mut plan.links {
        (*rate, *delay) = (0, round(*delay as u64 / 4) as i64);
    }
    for (_, _, at, last) in &mut plan.faults {
        (*at, *last) = (round(*at), round(*last));
    }
    plan
}

fn fault(plan: &Plan, (kind, place, at, last): (u64, usize, u64, u64)) -> Fault {
    let link = LinkId((place % plan.links.len()) as u32);
    let node = NodeId((place % plan.nodes.len()) as u32);
    let direction = [Direction::Forth, Direction::Back, Direction::Both][place % 3];
    let kind = match kind {
        0 => FaultKind::LinkDown { link },
        1 => FaultKind::NodeDown { node },
        2 => {
            let down_for = Span(last as i64);
            return Fault::new(Time(at), FaultKind::NodeRestart { node, down_for });
        }
        3 => FaultKind::Loss { link, direction, probability: 0.3 },
        4 => FaultKind::Duplication { link, direction, probability: 0.3 },
        5 => FaultKind::Reordering { link, direction, probability: 0.3, extra: Span(3_000_000) },
        6 => FaultKind::Delay { link, direction, extra: Span(1_000_000), jitter: Span(5_000_000) },
        7 => FaultKind::RateLimit { link, direction, rate: Rate(300_000_000) },
        _ => FaultKind::Corruption { link, direction, bit_error_rate: 0.001, deliver: true },
    };
    Fault::new(Time(at), kind).until(Time(at + last))
}

type Log = Vec<(Time, u16, u64)>;
type Seen = (RunDigest, Vec<Log>, Vec<[DirectionCounters; 2]>, String, String);

/// Runs a plan: in steps of so many events, in slices of time, and with or without a capture, which lets one thing be
/// done at a time in the whole network.
fn run(plan: &Plan, steps: u64, slice: u64, in_step: bool) -> Seen {
    run_shared(plan, steps, slice, in_step, 1, None)
}

/// The same with several threads, and devices shared out evenly or as told.
fn run_shared(
    plan: &Plan,
    steps: u64,
    slice: u64,
    in_step: bool,
    threads: usize,
    owners: Option<Vec<u16>>,
) -> Seen {
    let mut world = World::new(7);
    world.set_threads(ThreadsFor { most: threads, least_events: 0 });
    world.set_owners(owners);
    let mut ports = vec![0u16; plan.nodes.len()];
    plan.links.iter().for_each(|l| [l.0, l.1].iter().for_each(|&n| ports[n] += 1));
    let mut ids = Vec::new();
    for ((&(latency, punts_each, first, interval), &ports), number) in plan.nodes.iter().zip(&ports).zip(0..)
    {
        let next = Some(Time(first)).filter(|_| number % 3 < 2 && ports > 0);
        let walker = Walker { number, ports, latency, punts_each, next, interval, ..Walker::default() };
        ids.push(world.add_device(Box::new(walker)));
    }
    for &(a, b, rate, delay, buffer) in &plan.links {
        let link = LinkSpec::new(ids[a], ids[b], Rate(rate), Span(delay)).with_detection(Span::from_us(3));
        world.add_link(if buffer == u64::MAX { link } else { link.with_buffer(buffer) }).unwrap();
    }
    for &what in &plan.faults {
        world.fault(fault(plan, what)).unwrap();
        // And what concerns one device only, some of it at the same time.
        let node = ids[what.1 % ids.len()];
        for (number, &other) in ids.iter().enumerate() {
            world.command(Time(what.3), other, Command::PortUp(PortId(number as u16))).unwrap();
        }
        if ports[node.index()] > 0 {
            let mut injected = frame(90, what.2, 64);
            injected.header_mut()[12] = 6;
            world.inject(Time(what.2 / 2), node, PortId(0), injected).unwrap();
        }
    }
    if let Some(node) = plan.recorded {
        world.record(ids[node]).unwrap();
    }
    let capture = CaptureSpec::new(CaptureTarget::Everything, CaptureTo::Memory);
    let capture = in_step.then(|| world.capture(capture).unwrap());
    for until in (1..).map(|k| k * slice).take_while(|at| *at < 2 * END.0).chain([2 * END.0]) {
        while world.step(Time(until), steps).unwrap() == Progress::More {}
        assert_eq!(world.now(), Time(until));
    }
    assert!(world.audit().is_empty(), "{:?}", world.audit());
    if let Some(capture) = capture {
        world.finish_capture(capture).unwrap();
    }
    let log = |&id: &NodeId| world.device::<Walker>(id).map(|w| w.diary.log.clone()).unwrap_or_default();
    let logs = ids.iter().map(log).collect();
    let counters = (0..world.link_count() as u32).map(|l| world.link_counters(LinkId(l)).unwrap()).collect();
    let recording = plan.recorded.map(|node| format!("{:?}", world.take_recording(ids[node]).unwrap()));
    (world.digest(), logs, counters, format!("{:?}", world.drain_events()), recording.unwrap_or_default())
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn windows_change_nothing(plan in any_plan(), steps in 1u64..200, slice in 1_000_000u64..30_000_000) {
        let in_step = run(&plan, u64::MAX, u64::MAX / 4, true);
        prop_assert!(run(&plan, u64::MAX, u64::MAX / 4, false) == in_step, "at once");
        prop_assert!(run(&plan, steps, u64::MAX / 4, false) == in_step, "in steps of {steps}");
        prop_assert!(run(&plan, u64::MAX, slice, false) == in_step, "in slices of {slice}");
    }

}

proptest! {
    // Each case begins threads some hundred times.
    #![proptest_config(testing::cases(32))]

    #[test]
    fn threads_change_nothing(
        plan in any_plan(),
        owners in proptest::collection::vec(0u16..4, 9),
        steps in 1u64..400,
        slice in 1_000_000u64..30_000_000,
    ) {
        let one = run(&plan, u64::MAX, u64::MAX / 4, false);
        for threads in [2, 8] {
            let several = run_shared(&plan, u64::MAX, u64::MAX / 4, false, threads, None);
            prop_assert!(several == one, "{threads} threads");
        }
        let owners = Some(owners[..plan.nodes.len()].to_vec());
        prop_assert!(run_shared(&plan, steps, slice, false, 4, owners.clone()) == one, "{owners:?} in steps");
        prop_assert!(run_shared(&plan, u64::MAX, u64::MAX / 4, false, 4, owners.clone()) == one, "{owners:?}");
    }
}
