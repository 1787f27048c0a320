//! What faults do to frames and devices.

use crate::common::{Forwarder, Sink, Source};
use base::device::DropReason;
use base::{Command, Event, LinkId, NodeId, PortId, Rate, Span, Time};
use proptest::prelude::*;
use twinplane_engine::{Direction, EngineError, Fault, FaultKind, LinkSpec, World};

const LINK: LinkId = LinkId(1);
const BOTH: Direction = Direction::Both;

/// Source, forwarder, sink; 1,000 frames of 64 bytes, one each 10 us, over two links of 1 Gbit/s and 5 us.
fn line(seed: u64) -> (World, [NodeId; 3]) {
    let mut world = World::new(seed);
    let source = world.add_device(Box::new(Source::cbr(1, Time(0), Span::from_us(10), 1_000, 64)));
    let middle = world.add_device(Box::new(Forwarder::transit()));
    let sink = world.add_device(Box::new(Sink { keep_frames: true, ..Sink::default() }));
    for (a, b) in [(source, middle), (middle, sink)] {
        let spec = LinkSpec::new(a, b, Rate::from_gbps(1), Span::from_us(5));
        world.add_link(spec.with_detection(Span::from_us(50))).unwrap();
    }
    (world, [source, middle, sink])
}

fn us(us: i64) -> Time {
    Time::ZERO + Span::from_us(us)
}

fn numbers(world: &World, sink: NodeId) -> Vec<u64> {
    world.device::<Sink>(sink).unwrap().got.iter().map(|g| g.3).collect()
}

fn run(seed: u64, faults: &[Fault]) -> (World, [NodeId; 3]) {
    let (mut world, nodes) = line(seed);
    faults.iter().for_each(|f| world.fault(f.clone()).unwrap());
    world.run_until(Time::MAX).unwrap();
    assert!(world.audit().is_empty(), "{:?}", world.audit());
    (world, nodes)
}

#[test]
fn a_cut_drops_what_is_under_way_and_is_noticed_late() {
    let cut = Fault::new(us(998), FaultKind::LinkDown { link: LINK }).until(us(2_000));
    let (mut world, [_, middle, sink]) = run(1, &[cut]);
    let counters = world.link_counters(LINK).unwrap()[0].clone();
    // Frame k arrives at the middle at 5.512 us + k * 10 us and at the sink 5.512 us later. Number 99 is under way.
    let got = numbers(&world, sink);
    assert!(!got.contains(&99) && got.contains(&98));
    assert_eq!(counters.drops.get(DropReason::LinkDown), 1);
    // Those that reach the middle from 1,005.512 to 1,995.512 us find the port down.
    assert_eq!(counters.drops.get(DropReason::PortDown), 100);
    assert_eq!(got.len(), 1_000 - 101);
    let events: Vec<_> = world.drain_events().into_iter().map(|e| (e.at, e.node, e.event)).collect();
    let expected =
        [(us(1_048), middle, Event::PortDown { port: 1 }), (us(2_050), middle, Event::PortUp { port: 1 })];
    assert_eq!(events, expected);
}

#[test]
fn a_cut_shorter_than_detection_is_not_noticed() {
    let cut = Fault::new(us(1_000), FaultKind::LinkDown { link: LINK }).until(us(1_040));
    let (mut world, _) = run(1, &[cut]);
    assert!(world.drain_events().is_empty());
}

#[test]
fn a_restarting_node_forgets_and_is_given_what_it_missed() {
    let (mut world, [_, middle, sink]) = line(1);
    let restart = FaultKind::NodeRestart { node: middle, down_for: Span::from_us(500) };
    world.fault(Fault::new(us(1_000), restart)).unwrap();
    world.fault(Fault::new(us(1_100), FaultKind::LinkDown { link: LINK })).unwrap();
    world.command(us(1_200), middle, Command::Stop).unwrap();
    world.run_until(us(1_400)).unwrap();
    assert!(!world.node_is_up(middle).unwrap());
    world.heal_all(us(1_600)).unwrap();
    world.run_until(Time::MAX).unwrap();
    let commands = &world.device::<Forwarder>(middle).unwrap().commands;
    let expected = [
        (us(1_500), Command::Restart),
        (us(1_500), Command::PortDown(PortId(1))),
        (us(1_500), Command::Stop),
        (us(1_650), Command::PortUp(PortId(1))),
    ];
    assert_eq!(commands[..], expected);
    let in_drops = world.link_counters(LinkId(0)).unwrap()[0].drops.get(DropReason::NodeDown);
    assert_eq!(in_drops, 50);
    assert_eq!(numbers(&world, sink).len(), 1_000 - 50 - 10);
    assert!(world.audit().is_empty());
}

#[test]
fn a_node_is_down_until_it_is_told_to_come_up() {
    let (mut world, [_, middle, sink]) = line(1);
    let restart = FaultKind::NodeRestart { node: middle, down_for: Span::from_us(100) };
    let down = FaultKind::NodeDown { node: middle };
    world.fault(Fault::new(us(1_000), restart)).unwrap();
    // It goes down while it restarts: the end of the restart is nothing to it any more.
    world.fault(Fault::new(us(1_050), down.clone())).unwrap();
    world.fault(Fault::new(us(2_000), FaultKind::NodeUp { node: middle })).unwrap();
    world.fault(Fault::new(us(3_000), down.clone()).until(us(3_200))).unwrap();
    world.fault(Fault::new(us(4_000), down.clone())).unwrap();
    world.end_fault(us(4_100), down, None).unwrap();
    world.run_until(us(1_900)).unwrap();
    assert!(!world.node_is_up(middle).unwrap());
    world.run_until(Time::MAX).unwrap();
    let commands = &world.device::<Forwarder>(middle).unwrap().commands;
    let restarts: Vec<_> = commands.iter().filter(|told| told.1 == Command::Restart).collect();
    assert_eq!(restarts, [2_000, 3_200, 4_100].map(|at| (us(at), Command::Restart)).each_ref());
    // Its links go down with it, and so the frame to the sink that is under way then is lost, too. When it restarts
    // they stay up.
    assert_eq!(numbers(&world, sink).len(), 1_000 - 100 - 21 - 11);
    assert!(world.audit().is_empty());
}

#[test]
fn the_end_of_a_fault_leaves_a_newer_one_alone() {
    let (mut world, [.., sink]) = line(1);
    let cut = || FaultKind::LinkDown { link: LINK };
    let loss = |probability, direction| FaultKind::Loss { link: LINK, direction, probability };
    // The first cut was to end at 2 ms; the second, which has no end, is mended at 3 ms.
    world.fault(Fault::new(us(1_000), cut()).until(us(2_000))).unwrap();
    world.fault(Fault::new(us(1_500), cut())).unwrap();
    world.fault(Fault::new(us(3_000), FaultKind::LinkUp { link: LINK })).unwrap();
    // Loss of nothing until 5 ms becomes loss of everything, one way, at 4.5 ms: that lasts until 6 ms.
    world.fault(Fault::new(us(4_000), loss(0.0, BOTH)).until(us(5_000))).unwrap();
    world.fault_marked(us(4_500), loss(1.0, Direction::Forth), 7).unwrap();
    world.end_fault(us(5_500), loss(0.0, BOTH), Some(6)).unwrap();
    world.end_fault(us(6_000), loss(1.0, Direction::Forth), Some(7)).unwrap();
    // A cut that was mended before its end, and begun again by a mark.
    world.fault(Fault::new(us(7_000), cut()).until(us(7_500))).unwrap();
    world.fault(Fault::new(us(7_100), FaultKind::HealAll)).unwrap();
    world.fault_marked(us(7_200), cut(), 8).unwrap();
    world.end_fault(us(8_000), cut(), Some(8)).unwrap();
    for (at, up) in [(2_500, false), (3_500, true), (7_600, false), (8_500, true)] {
        world.run_until(us(at)).unwrap();
        assert_eq!(world.link_is_up(LINK).unwrap(), up, "at {at} us");
    }
    world.run_until(Time::MAX).unwrap();
    let lost = 1_000 - numbers(&world, sink).len();
    assert!((440..=450).contains(&lost), "{lost}");
    assert!(world.audit().is_empty());
}

#[test]
fn a_healed_link_is_whole_and_undisturbed() {
    let (mut world, [.., sink]) = line(1);
    let loss = FaultKind::Loss { link: LINK, direction: BOTH, probability: 1.0 };
    let other = FaultKind::Loss { link: LinkId(0), direction: BOTH, probability: 1.0 };
    let slow = FaultKind::RateLimit { link: LINK, direction: BOTH, rate: Rate(1_000_000) };
    for kind in [loss, slow, FaultKind::LinkDown { link: LINK }] {
        world.fault(Fault::new(us(1_000), kind)).unwrap();
    }
    world.fault(Fault::new(us(9_000), other)).unwrap();
    world.fault(Fault::new(us(2_000), FaultKind::LinkHeal { link: LINK })).unwrap();
    world.fault(Fault::new(us(9_500), FaultKind::LinkHeal { link: LINK })).unwrap();
    world.run_until(Time::MAX).unwrap();
    let got = numbers(&world, sink).len();
    assert!((790..=800).contains(&got), "{got}");
    assert!(world.audit().is_empty());
}

#[test]
fn loss_and_corruption_have_their_rates() {
    let loss = FaultKind::Loss { link: LINK, direction: BOTH, probability: 0.2 };
    let (world, [.., sink]) = run(1, &[Fault::new(Time(0), loss)]);
    let lost = 1_000 - numbers(&world, sink).len();
    assert!((150..250).contains(&lost), "{lost}"); // 200 +- 12.6
    let kind = |deliver| FaultKind::Corruption { link: LINK, direction: BOTH, bit_error_rate: 1e-3, deliver };
    let (world, [.., sink]) = run(1, &[Fault::new(Time(0), kind(false))]);
    let lost = 1_000 - numbers(&world, sink).len();
    assert_eq!(world.link_counters(LINK).unwrap()[0].drops.get(DropReason::LinkCorruption), lost as u64);
    assert!((330..470).contains(&lost), "{lost}"); // 1 - 0.999^512 = 0.4009
    let (world, [.., sink]) = run(1, &[Fault::new(Time(0), kind(true))]);
    let sink = world.device::<Sink>(sink).unwrap();
    assert_eq!(sink.frames.len(), 1_000);
    let same =
        sink.frames.iter().enumerate().filter(|(i, f)| **f == crate::common::frame(1, *i as u64, 64)).count();
    assert!((1_000 - lost..).contains(&same) && same < 700, "{same}");
}

#[test]
fn duplicates_follow_their_originals() {
    let kind = FaultKind::Duplication { link: LINK, direction: BOTH, probability: 0.5 };
    let (world, [.., sink]) = run(1, &[Fault::new(us(0), kind)]);
    let got = numbers(&world, sink);
    let copies = got.windows(2).filter(|w| w[0] == w[1]).count();
    assert!(got.is_sorted() && (400..600).contains(&copies));
    assert_eq!(world.link_counters(LINK).unwrap()[0].duplicated, copies as u64);
}

#[test]
fn reordering_and_delay() {
    let held = FaultKind::Reordering {
        link: LINK,
        direction: Direction::Forth,
        probability: 0.1,
        extra: Span::from_us(25),
    };
    let (world, [.., sink]) = run(1, &[Fault::new(us(0), held)]);
    let got = numbers(&world, sink);
    assert!(!got.is_sorted() && got.len() == 1_000);
    let (extra, jitter) = (Span::from_us(100), Span::from_us(30));
    let slow = FaultKind::Delay { link: LINK, direction: BOTH, extra, jitter };
    let (world, [.., sink]) = run(1, &[Fault::new(us(0), slow).until(us(5_000))]);
    assert_eq!(numbers(&world, sink), (0..1_000).collect::<Vec<_>>());
    let sink = world.device::<Sink>(sink).unwrap();
    let delay = |k: usize| sink.got[k].0 - us(10 * k as i64);
    let plain = Span::from_ns(2 * 5_512);
    assert!((0..490).all(|k| (plain + extra..=plain + extra + jitter).contains(&delay(k))));
    assert!((520..1_000).all(|k| delay(k) == plain));
}

#[test]
fn a_rate_limit_slows_the_port() {
    let slow = FaultKind::RateLimit { link: LINK, direction: BOTH, rate: Rate::from_mbps(100) };
    let (world, [.., sink]) = run(1, &[Fault::new(us(0), slow).until(us(5_000))]);
    let sink = world.device::<Sink>(sink).unwrap();
    assert_eq!(sink.got[3].0, us(30) + Span::from_ns(5_512 + 5_120 + 5_000));
    assert_eq!(sink.got[700].0, us(7_000) + Span::from_ns(2 * 5_512));
}

#[test]
fn what_cannot_be_is_an_error() {
    let (mut world, nodes) = line(1);
    let fault = |link| Fault::new(us(0), FaultKind::LinkDown { link });
    assert!(matches!(world.fault(fault(LinkId(2))), Err(EngineError::UnknownLink { count: 2, .. })));
    assert!(matches!(world.command(us(0), NodeId(9), Command::Stop), Err(EngineError::UnknownNode { .. })));
    let frame = crate::common::frame(0, 0, 64);
    let inject = world.inject(us(0), nodes[0], PortId(1), frame);
    assert!(matches!(inject, Err(EngineError::UnknownPort { count: 1, .. })));
    world.run_until(us(10)).unwrap();
    let error = world.fault(fault(LINK)).unwrap_err();
    assert_eq!(error.to_string(), "fault at 0.000000000000s: it is 0.000010000000s already");
    assert!(matches!(world.run_until(us(9)), Err(EngineError::TimePassed { .. })));
}

fn any_fault() -> impl Strategy<Value = Fault> {
    let direction = prop_oneof![Just(Direction::Forth), Just(Direction::Back), Just(Direction::Both)];
    let kind =
        (0u8..11, 0u32..2, direction, 0.0f64..1.0, 0i64..200).prop_map(|(what, link, direction, p, span)| {
            let (link, extra) = (LinkId(link), Span::from_us(span));
            match what {
                0 => FaultKind::LinkDown { link },
                1 => FaultKind::LinkUp { link },
                2 => FaultKind::NodeRestart { node: NodeId(1), down_for: extra },
                3 => FaultKind::Loss { link, direction, probability: p },
                4 => FaultKind::Corruption {
                    link,
                    direction,
                    bit_error_rate: p / 100.0,
                    deliver: span % 2 == 0,
                },
                5 => FaultKind::Duplication { link, direction, probability: p },
                6 => FaultKind::Reordering { link, direction, probability: p, extra },
                7 => FaultKind::Delay { link, direction, extra, jitter: Span::from_ns(span) },
                8 => FaultKind::NodeDown { node: NodeId(1) },
                9 => FaultKind::LinkHeal { link },
                _ => FaultKind::RateLimit { link, direction, rate: Rate(1_000_000 * (span as u64 + 20)) },
            }
        });
    (kind, 0i64..9_000, 0i64..3_000).prop_map(|(kind, at, lasts)| {
        let fault = Fault::new(us(at), kind);
        let endless = fault.clone().until(us(at + lasts)).check().is_err();
        if endless { fault } else { fault.until(us(at + lasts)) }
    })
}

proptest! {
    #![proptest_config(testing::cases(256))]
    /// Whatever goes wrong: no frame is lost without a reason, the same seed gives the same run, and once all is
    /// healed all frames arrive.
    #[test]
    fn conservation_and_determinism(faults in proptest::collection::vec(any_fault(), 0..12), seed in 0u64..4) {
        let mut both = [line(seed), line(seed)];
        // The two run in turn, in steps of different sizes.
        for (world, _) in &mut both {
            faults.iter().for_each(|f| world.fault(f.clone()).unwrap());
            world.heal_all(us(12_000)).unwrap();
        }
        for until in [us(1_000), us(5_000), us(20_000)] {
            for (i, (world, nodes)) in both.iter_mut().enumerate() {
                while world.step(until, [7, u64::MAX][i]).unwrap() == twinplane_engine::Progress::More {
                    prop_assert!(world.audit().is_empty());
                }
                if until == us(20_000) {
                    for k in 0..100 {
                        world.inject(us(20_000 + k), nodes[1], PortId(0), crate::common::frame(9, k as u64, 64)).unwrap();
                    }
                    world.run_until(Time::MAX).unwrap();
                    let got = &world.device::<Sink>(nodes[2]).unwrap().got;
                    prop_assert_eq!(got.iter().filter(|g| g.0 >= us(20_000)).count(), 100);
                }
                prop_assert!(world.audit().is_empty());
            }
        }
        prop_assert_eq!(both[0].0.digest(), both[1].0.digest());
        prop_assert_eq!(both[0].0.drain_events(), both[1].0.drain_events());
    }
}
