//! Ports with queue disciplines: they do what FIFO ports do if that is what they are told, and nobody can tell when
//! they are looked after.

use crate::common::{Forwarder, Sink, Source};
use base::device::DropReason;
use base::{LinkId, NodeId, PortId, Rate, Span, Time};
use forwarding::queue::accounting::{Accounting, Layer};
use forwarding::queue::spec::{BfifoSpec, PfifoSpec, QueueSpec};
use forwarding::queue::{Facts, Tree, TreeSpec};
use proptest::prelude::*;
use serde_json::json;
use twinplane_engine::real_time::{Clock, Control, Runner};
use twinplane_engine::{
    CaptureSpec, CaptureTarget, CaptureTo, Direction, DirectionCounters, Fault, FaultKind, LinkSpec,
    PortSpec, Progress, RunDigest, ThreadsFor, World,
};

fn tree(world: &World, root: QueueSpec, rate: Rate, name: &str) -> Tree {
    let accounting = Accounting { layer: Layer::Frame, ..Accounting::default() };
    let spec =
        TreeSpec { accounting, ..serde_json::from_value(serde_json::json!({"root": root})).expect("a tree") };
    Tree::new(&spec, &Facts { rate, mtu: 9000 }, world.streams().stream(name)).expect("a tree")
}

/// Two sources, a device in the middle that takes a while, a slow link, a sink.
#[derive(Clone, Debug)]
struct Plan {
    sources: Vec<(u64, u64, u32)>,
    latency: i64,
    rates: [u64; 2],
    delay: i64,
    buffer: u64,
    ppb: i64,
    faults: Vec<(u64, u64, u8)>,
}

fn plan() -> impl Strategy<Value = Plan> {
    let rate = || prop_oneof![Just(0u64), Just(100_000_000), 50_000_000u64..2_000_000_000];
    let source = (0u64..20_000_000, 1u64..20_000_000, 64u32..1500);
    (
        proptest::collection::vec(source, 1..4),
        0i64..5_000_000,
        [rate(), rate()],
        prop_oneof![Just(0i64), 0i64..300_000, 0i64..100_000_000],
        1500u64..20_000,
        -200_000i64..200_000,
        proptest::collection::vec((0u64..300_000_000, 1u64..50_000_000, 0u8..6), 0..4),
    )
        .prop_map(|(sources, latency, rates, delay, buffer, ppb, faults)| Plan {
            sources,
            latency,
            rates,
            delay,
            buffer,
            ppb,
            faults,
        })
}

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Plain,
    Queued,
    Shaped,
}

/// Queues that hold back what they have, drop from their middle, or draw lots.
fn shaper(number: usize) -> QueueSpec {
    let tbf = json!({"discipline": "tbf", "rate": 70_000_000, "burst": 2000, "queue": {"discipline": "fq-codel", "limit": 20,
        "target": "2000000 ps", "interval": "20000000 ps"}});
    let red =
        json!({"discipline": "red", "limit": 20_000, "min": 3000, "max": 9000, "avpkt": 800, "burst": 5});
    let spec = match number % 3 {
        0 => json!({"discipline": "htb", "default": "a", "classes": {"all": {"rate": 90_000_000},
            "a": {"parent": "all", "rate": 1_000_000, "ceil": 80_000_000, "queue": red}}}),
        1 => tbf,
        _ => json!({"discipline": "cbq", "avpkt": 800, "bandwidth": 100_000_000, "default": "a",
            "classes": {"a": {"rate": 40_000_000, "bounded": true, "queue": red}}}),
    };
    serde_json::from_value(spec).expect("a queue")
}

type Seen = (RunDigest, Vec<(Time, PortId, u32, u64)>, Vec<DirectionCounters>);

fn run(plan: &Plan, way: Way, steps: u64, in_step: bool) -> Seen {
    run_shared(plan, way, steps, in_step, 1)
}

/// The same with several threads.
fn run_shared(plan: &Plan, way: Way, steps: u64, in_step: bool, threads: usize) -> Seen {
    let mut world = World::new(1);
    world.set_threads(ThreadsFor { most: threads, least_events: 0 });
    let inputs = plan.sources.len();
    let mut middle = Forwarder::new(&[vec![inputs as u16; inputs], vec![u16::MAX]].concat());
    middle.latency = Span(plan.latency);
    let middle = world.add_device(Box::new(middle));
    let mut queued = Vec::new();
    for (stream, &(first, gap, size)) in plan.sources.iter().enumerate() {
        let source = Source::cbr(stream as u32, Time(first), Span(gap as i64), 60, size);
        let source = world.add_device(Box::new(source));
        let port = PortSpec { rate: Rate(plan.rates[0]), ..PortSpec::default() };
        let link = LinkSpec { a: source, b: middle, ports: [port.clone(), port], delay: Span(plan.delay) };
        let (_, port, _) = world.add_link(link).unwrap();
        queued.push((source, port, plan.rates[0], None));
    }
    let sink = world.add_device(Box::new(Sink::default()));
    let port = PortSpec {
        rate: Rate(plan.rates[1]),
        buffer_bytes: Some(plan.buffer),
        clock_offset_ppb: plan.ppb,
        ..PortSpec::default()
    };
    let link = LinkSpec { a: middle, b: sink, ports: [port.clone(), port], delay: Span(plan.delay) };
    let (slow, port, _) = world.add_link(link).unwrap();
    queued.push((middle, port, plan.rates[1], Some(plan.buffer)));
    if way != Way::Plain {
        for (number, (node, port, rate, buffer)) in queued.into_iter().enumerate() {
            let root = match buffer {
                _ if way == Way::Shaped => shaper(number),
                Some(limit) => QueueSpec::Bfifo(BfifoSpec { limit: base::describe::Size(limit) }),
                None => QueueSpec::Pfifo(PfifoSpec { limit: u64::from(u32::MAX) }),
            };
            let tree = tree(&world, root, Rate(rate), &format!("queue {} {}", node.0, port.0));
            world.set_queue(node, port, tree).unwrap();
        }
    }
    for &(at, length, kind) in &plan.faults {
        let kind = match kind {
            0 => FaultKind::LinkDown { link: slow },
            1 => FaultKind::NodeRestart { node: middle, down_for: Span(length as i64) },
            2 => FaultKind::LinkDown { link: base::LinkId(0) },
            3 => FaultKind::NodeRestart { node: sink, down_for: Span(length as i64) },
            4 => FaultKind::Delay {
                link: slow,
                direction: Direction::Both,
                extra: Span(length as i64),
                jitter: Span(1000),
            },
            _ => FaultKind::RateLimit { link: slow, direction: Direction::Both, rate: Rate(length * 20) },
        };
        let until = Some(Time(at + length)).filter(|_| !matches!(kind, FaultKind::NodeRestart { .. }));
        world.fault(Fault { until, ..Fault::new(Time(at), kind) }).unwrap();
    }
    if in_step {
        world.capture(CaptureSpec::new(CaptureTarget::Everything, CaptureTo::Memory)).unwrap();
    }
    let mut counters = Vec::new();
    for until in [Time(70_000_000), Time(200_000_000), Time(u64::MAX - 1)] {
        while world.step(until, steps).unwrap() == Progress::More {
            assert!(world.audit().is_empty(), "{:?}", world.audit());
        }
        assert!(world.audit().is_empty(), "{:?}", world.audit());
        for link in 0..world.link_count() as u32 {
            counters.extend(world.link_counters(base::LinkId(link)).unwrap());
        }
    }
    (world.digest(), world.device::<Sink>(sink).unwrap().got.clone(), counters)
}

proptest! {
    #![proptest_config(testing::cases(256))]
    /// A port whose queue is a FIFO is a FIFO port.
    #[test]
    fn a_tree_of_a_fifo_is_a_fifo(plan in plan()) {
        let plan = Plan { faults: Vec::new(), ..plan };
        let (plain, queued) = (run(&plan, Way::Plain, u64::MAX, false), run(&plan, Way::Queued, u64::MAX, false));
        prop_assert_eq!(plain.0, queued.0);
        prop_assert_eq!(plain.1, queued.1);
        for (plain, queued) in plain.2.iter().zip(&queued.2) {
            prop_assert_eq!(plain.received_frames, queued.received_frames);
            prop_assert_eq!(plain.offered(), queued.offered());
            // A FIFO port knows beforehand what will find no room.
            if queued.queued == 0 {
                prop_assert_eq!(plain.waiting_bytes, queued.waiting_bytes);
                prop_assert_eq!(plain.waiting_bytes_max, queued.waiting_bytes_max);
                prop_assert_eq!(plain.sent_frames, queued.sent_frames);
                prop_assert_eq!(&plain.drops, &queued.drops);
            }
        }
    }

    /// Whether everything is done when it is due or as late as may be, nobody can tell.
    #[test]
    fn nobody_can_tell_when_a_port_is_looked_after(plan in plan(), steps in 1u64..20) {
        let in_step = run(&plan, Way::Queued, u64::MAX, true);
        prop_assert!(run(&plan, Way::Queued, u64::MAX, false) == in_step, "at once");
        prop_assert!(run(&plan, Way::Queued, steps, false) == in_step, "in steps of {steps}");
        let in_step = run(&plan, Way::Shaped, u64::MAX, true);
        prop_assert!(run(&plan, Way::Shaped, u64::MAX, false) == in_step, "shaped, at once");
        prop_assert!(run(&plan, Way::Shaped, steps, false) == in_step, "shaped, in steps of {steps}");
    }

}

proptest! {
    // Each case begins threads some hundred times.
    #![proptest_config(testing::cases(32))]

    /// Nor which threads did it.
    #[test]
    fn threads_look_after_ports_as_one_does(plan in plan(), steps in 1u64..200) {
        for way in [Way::Queued, Way::Shaped] {
            let one = run(&plan, way, u64::MAX, false);
            for threads in [2, 3] {
                let several = run_shared(&plan, way, u64::MAX, false, threads);
                prop_assert!(several == one, "{threads} threads");
                let several = run_shared(&plan, way, steps, false, threads);
                prop_assert!(several == one, "{threads} threads in steps of {steps}");
            }
        }
    }
}

/// A source of `count` frames of 1000 bytes at once, a port of `rate` with a tree, a sink.
fn burst(root: serde_json::Value, rate: u64, count: usize, delay: Span) -> (World, [NodeId; 2]) {
    let mut world = World::new(1);
    let source = Source::at(1, vec![Time::ZERO; count], vec![1000; count]);
    let nodes = [world.add_device(Box::new(source)), world.add_device(Box::new(Sink::default()))];
    let (_, port, _) = world.add_link(LinkSpec::new(nodes[0], nodes[1], Rate(rate), delay)).unwrap();
    let root: QueueSpec = serde_json::from_value(root).expect("a queue");
    let tree = tree(&world, root, Rate(rate), "queue");
    world.set_queue(nodes[0], port, tree).unwrap();
    (world, nodes)
}

#[test]
fn a_port_that_sends_in_no_time_is_shaped_all_the_same() {
    let tbf = json!({"discipline": "tbf", "rate": 8_000_000, "burst": 1000, "limit": 100_000});
    let (mut world, [_, sink]) = burst(tbf, 0, 50, Span::from_us(3));
    world.run_until(Time(u64::MAX - 1)).unwrap();
    let got = &world.device::<Sink>(sink).unwrap().got;
    let due: Vec<Time> = (0..50).map(|n| Time::ZERO + Span::from_ms(n) + Span::from_us(3)).collect();
    assert_eq!(got.iter().map(|got| got.0).collect::<Vec<_>>(), due);
    assert!(world.audit().is_empty(), "{:?}", world.audit());
}

#[test]
fn what_waits_is_dropped_with_the_link_and_with_the_device() {
    for (kind, reason) in [
        (FaultKind::LinkDown { link: LinkId(0) }, DropReason::LinkDown),
        (FaultKind::NodeRestart { node: NodeId(0), down_for: Span::from_ms(1) }, DropReason::NodeDown),
    ] {
        let fifo = json!({"discipline": "pfifo", "limit": 30});
        let (mut world, [source, sink]) = burst(fifo, 8_000_000, 50, Span::ZERO);
        // A frame takes 1.02 ms: five have arrived, the sixth is on its way, 24 wait; one began at once, and 19 found
        // no room.
        world.fault(Fault::new(Time::ZERO + Span::from_us(5_500), kind)).unwrap();
        world.run_until(Time::ZERO + Span::from_us(5_499)).unwrap();
        let before = world.link_counters(LinkId(0)).unwrap()[0].clone();
        assert_eq!((before.queued, before.in_flight, before.sent_frames, before.refused()), (25, 26, 6, 19));
        assert_eq!((before.waiting_bytes, before.waiting_bytes_max), (25_000, 30_000));
        world.run_until(Time::ZERO + Span::from_ms(50)).unwrap();
        assert!(world.audit().is_empty(), "{:?}", world.audit());
        let after = world.link_counters(LinkId(0)).unwrap()[0].clone();
        assert_eq!(after.queue_drops.get(reason), 25);
        // What has begun to leave is lost with the link, not with the device.
        let lost = u64::from(reason == DropReason::LinkDown);
        assert_eq!(
            (after.lost(), after.received_frames, after.offered(), after.queued),
            (lost, 6 - lost, 50, 0)
        );
        assert_eq!(world.device::<Sink>(sink).unwrap().got.len() as u64, 6 - lost);
        assert_eq!(world.queue(source, PortId(0)).unwrap().totals().taken.packets, 6);
    }
}

#[test]
fn a_limited_rate_holds_for_what_leaves_from_then_on() {
    let (mut world, [_, sink]) =
        burst(json!({"discipline": "pfifo", "limit": 30}), 8_160_000, 10, Span::ZERO);
    let kind = FaultKind::RateLimit { link: LinkId(0), direction: Direction::Forth, rate: Rate(4_080_000) };
    world
        .fault(Fault {
            until: Some(Time::ZERO + Span::from_us(5_500)),
            ..Fault::new(Time::ZERO + Span::from_us(1_500), kind)
        })
        .unwrap();
    world.run_until(Time::ZERO + Span::from_ms(50)).unwrap();
    let got: Vec<i64> = world
        .device::<Sink>(sink)
        .unwrap()
        .got
        .iter()
        .map(|got| (got.0 - Time::ZERO).0 / 1_000_000_000)
        .collect();
    // One frame and its gap take 1 ms, or 2 ms; those that begin at 2 ms and 4 ms are slow.
    assert_eq!(got, [0, 1, 3, 5, 6, 7, 8, 9, 10, 11]);
}

#[test]
fn a_port_in_use_gets_no_other_queue() {
    let (mut world, [source, _]) = burst(json!({"discipline": "pfifo"}), 8_000_000, 1, Span::ZERO);
    let other = tree(&world, QueueSpec::default(), Rate(1), "other");
    let error = world.set_queue(source, PortId(0), other).expect_err("an error");
    assert_eq!(error.to_string(), "node 0 port 0: it has sent frames, or has queue disciplines already");
    assert!(world.queue(source, PortId(1)).is_none());
}

/// By the clock on the wall a queue does what it does in virtual time: whatever is late, what is due is not.
#[test]
fn a_rate_is_enforced_by_the_clock_on_the_wall() {
    let tbf = json!({"discipline": "tbf", "rate": 80_000_000, "burst": 2000, "limit": 10_000_000});
    let (mut world, [_, sink]) = burst(tbf, 1_000_000_000, 3000, Span::ZERO);
    let mut runner = Runner::new(Clock::new());
    let until = Time::ZERO + Span::from_ms(200);
    runner.run_until(&mut world, until, &mut |_, _| Control::Continue).expect("a run");
    let got = &world.device::<Sink>(sink).unwrap().got;
    // 10 MB/s for 200 ms are 2000 frames, and the bucket held two.
    assert!((1980..=2022).contains(&got.len()), "{} frames", got.len());
    assert!(got.windows(2).skip(3).all(|pair| pair[1].0 - pair[0].0 == Span::from_us(100)));
    assert!(world.audit().is_empty(), "{:?}", world.audit());
}
