//! Ports with queue disciplines: they do what FIFO ports do if that is what they are told, and nobody can tell when they are looked after.

mod common;

use base::{PortId, Rate, Span, Time};
use common::{Forwarder, Sink, Source};
use forwarding::queue::accounting::{Accounting, Layer};
use forwarding::queue::spec::{BfifoSpec, PfifoSpec, QueueSpec};
use forwarding::queue::{Facts, Tree, TreeSpec};
use proptest::prelude::*;
use twinplane_engine::{
    CaptureSpec, CaptureTarget, CaptureTo, DirectionCounters, Fault, FaultKind, LinkSpec, PortSpec, Progress,
    RunDigest, World,
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
        proptest::collection::vec((0u64..300_000_000, 1u64..50_000_000, 0u8..4), 0..3),
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
}

type Seen = (RunDigest, Vec<(Time, PortId, u32, u64)>, Vec<DirectionCounters>);

fn run(plan: &Plan, way: Way, steps: u64, in_step: bool) -> Seen {
    let mut world = World::new(1);
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
    if way == Way::Queued {
        for (node, port, rate, buffer) in queued {
            let root = match buffer {
                Some(limit_bytes) => QueueSpec::Bfifo(BfifoSpec { limit_bytes }),
                None => QueueSpec::Pfifo(PfifoSpec { limit: 1 << 40 }),
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
            _ => FaultKind::NodeRestart { node: sink, down_for: Span(length as i64) },
        };
        let until = Some(Time(at + length)).filter(|_| matches!(kind, FaultKind::LinkDown { .. }));
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
    }
}
