//! Links and devices that fail and come back: a link is down while it is cut, or a device at an end of it is down.

use crate::common::{Forwarder, Sink, Source};
use base::device::DropReason;
use base::{Command, LinkId, NodeId, PortId, Rate, Span, Time};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use twinplane_engine::{Fault, FaultKind, LinkSpec, World};

/// A ring of four devices, with a chord, and a second link between the first two.
const LINKS: [[u32; 2]; 6] = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 0]];
const NODES: u32 = 4;
const DETECTION: Span = Span::from_us(50);

fn us(us: i64) -> Time {
    Time::ZERO + Span::from_us(us)
}

fn network() -> World {
    let mut world = World::new(1);
    for _ in 0..NODES {
        world.add_device(Box::new(Forwarder::transit()));
    }
    for [a, b] in LINKS {
        let spec = LinkSpec::new(NodeId(a), NodeId(b), Rate::from_gbps(1), Span::from_us(5));
        world.add_link(spec.with_detection(DETECTION)).unwrap();
    }
    world
}

/// What a device was told, with the times.
fn told(world: &World, node: u32) -> Vec<(Time, Command)> {
    world.device::<Forwarder>(NodeId(node)).unwrap().commands.clone()
}

#[test]
fn the_links_of_a_device_go_down_with_it_and_come_back() {
    let mut world = network();
    let cut = Fault::new(us(100), FaultKind::LinkDown { link: LinkId(1) });
    world.fault(cut).unwrap();
    world.fault(Fault::new(us(1_000), FaultKind::NodeDown { node: NodeId(1) }).until(us(2_000))).unwrap();
    world.run_until(us(1_000)).unwrap();
    let up: Vec<bool> = (0..6).map(|link| world.link_is_up(LinkId(link)).unwrap()).collect();
    assert_eq!(up, [false, false, true, true, true, false]);
    world.run_until(us(3_000)).unwrap();
    // The link that was cut for itself stays down.
    assert!((0..6).all(|link| world.link_is_up(LinkId(link)).unwrap() == (link != 1)));
    let (down, comes) = (|port| Command::PortDown(PortId(port)), |port| Command::PortUp(PortId(port)));
    let noticed = [(us(1_050), down(0)), (us(1_050), down(3)), (us(2_050), comes(0)), (us(2_050), comes(3))];
    assert_eq!(told(&world, 0)[..], noticed);
    let itself = [
        (us(150), down(1)),
        (us(2_000), Command::Restart),
        (us(2_000), down(0)),
        (us(2_000), down(1)),
        (us(2_000), down(2)),
        (us(2_050), comes(0)),
        (us(2_050), comes(2)),
    ];
    assert_eq!(told(&world, 1)[..], itself);
    assert_eq!(told(&world, 2)[..], [(us(150), down(0))]);
}

#[test]
fn frames_to_and_from_a_device_that_goes_down_are_lost() {
    let mut world = World::new(1);
    let source = world.add_device(Box::new(Source::cbr(1, Time(0), Span::from_us(1), 1_000, 64)));
    let middle = world.add_device(Box::new(Forwarder::transit()));
    let sink = world.add_device(Box::new(Sink::default()));
    for (a, b) in [(source, middle), (middle, sink)] {
        let spec = LinkSpec::new(a, b, Rate::from_gbps(1), Span::from_us(5));
        world.add_link(spec.with_detection(DETECTION)).unwrap();
    }
    world.fault(Fault::new(us(100), FaultKind::NodeDown { node: middle }).until(us(200))).unwrap();
    world.run_until(Time::MAX).unwrap();
    assert!(world.audit().is_empty());
    let [first, second] = [0, 1].map(|link| world.link_counters(LinkId(link)).unwrap()[0].clone());
    // A frame takes 5.512 us: five and six are on the links at 100 us, and a hundred find the port down until 200 us.
    assert_eq!([&first, &second].map(|link| link.drops.get(DropReason::LinkDown)), [5, 6]);
    assert_eq!(first.drops.get(DropReason::PortDown), 100);
    assert_eq!(world.device::<Sink>(sink).unwrap().got.len(), 1_000 - 111);
}

/// What is asked of the network.
#[derive(Clone, Debug)]
enum Op {
    Cut(u32),
    Mend(u32),
    Heal(u32),
    Down(u32),
    Up(u32),
    Restart(u32, Span),
    HealAll,
}

impl Op {
    fn kind(&self) -> FaultKind {
        match *self {
            Op::Cut(link) => FaultKind::LinkDown { link: LinkId(link) },
            Op::Mend(link) => FaultKind::LinkUp { link: LinkId(link) },
            Op::Heal(link) => FaultKind::LinkHeal { link: LinkId(link) },
            Op::Down(node) => FaultKind::NodeDown { node: NodeId(node) },
            Op::Up(node) => FaultKind::NodeUp { node: NodeId(node) },
            Op::Restart(node, down_for) => FaultKind::NodeRestart { node: NodeId(node), down_for },
            Op::HealAll => FaultKind::HealAll,
        }
    }

    /// What its end does, if it can have one.
    fn reverse(&self) -> Option<Op> {
        match *self {
            Op::Cut(link) => Some(Op::Mend(link)),
            Op::Down(node) => Some(Op::Up(node)),
            _ => None,
        }
    }
}

/// What is cut and down, as one would write it down by hand.
#[derive(Default)]
struct Naive {
    cut: BTreeSet<u32>,
    down: BTreeSet<u32>,
    restarting: BTreeMap<u32, Time>,
    /// Which fault was the last to cut or mend a link, or to take a node down or up.
    last: BTreeMap<(bool, u32), usize>,
}

impl Naive {
    /// A fault begins, or the one with this number ends: that does nothing once something else was done there.
    fn asked(&mut self, now: Time, op: &Op, number: usize, ends: bool) {
        let place = match *op {
            Op::Cut(link) | Op::Mend(link) | Op::Heal(link) => Some((true, link)),
            Op::Down(node) | Op::Up(node) => Some((false, node)),
            Op::Restart(..) | Op::HealAll => None,
        };
        if let Some(place) = place {
            if ends && self.last.get(&place) != Some(&number) {
                return;
            }
            self.last.insert(place, number);
        }
        self.does(now, op);
    }

    fn does(&mut self, now: Time, op: &Op) {
        match *op {
            Op::Cut(link) => {
                self.cut.insert(link);
            }
            Op::Mend(link) | Op::Heal(link) => {
                self.cut.remove(&link);
            }
            Op::Down(node) => {
                self.restarting.remove(&node);
                self.down.insert(node);
            }
            Op::Up(node) => {
                self.restarting.remove(&node);
                self.down.remove(&node);
            }
            Op::Restart(node, span) => {
                if !self.down.contains(&node) {
                    self.restarting.insert(node, now + span);
                }
            }
            Op::HealAll => *self = Naive::default(),
        }
    }

    fn is_up(&self, node: u32) -> bool {
        !self.down.contains(&node) && !self.restarting.contains_key(&node)
    }

    fn joins(&self, link: u32) -> bool {
        let ends = LINKS[link as usize];
        !self.cut.contains(&link) && ends.iter().all(|node| !self.down.contains(node))
    }
}

/// The ports that a device believes to be down; when it restarts it takes all to be up.
fn believed_down(world: &World, node: u32) -> BTreeSet<u16> {
    let mut down = BTreeSet::new();
    for (_, command) in told(world, node) {
        match command {
            Command::PortDown(port) => {
                down.insert(port.0);
            }
            Command::PortUp(port) => {
                down.remove(&port.0);
            }
            Command::Restart => down.clear(),
            _ => {}
        }
    }
    down
}

fn any_op() -> impl Strategy<Value = Op> {
    let (link, node) = (0..LINKS.len() as u32, 0..NODES);
    prop_oneof![
        3 => link.clone().prop_map(Op::Cut),
        2 => link.clone().prop_map(Op::Mend),
        1 => link.prop_map(Op::Heal),
        3 => node.clone().prop_map(Op::Down),
        2 => node.clone().prop_map(Op::Up),
        2 => (node, 0i64..300).prop_map(|(node, span)| Op::Restart(node, Span::from_us(span))),
        1 => Just(Op::HealAll),
    ]
}

proptest! {
    #![proptest_config(testing::cases(512))]
    /// Whatever fails and is healed, in whatever order: links and devices are up as the naive model says, and in the
    /// end every device that is up knows which of its links are down.
    #[test]
    fn links_are_up_as_somebody_would_note_it_by_hand(
        faults in proptest::collection::vec((any_op(), 0i64..60, proptest::option::of(0i64..30)), 1..30),
    ) {
        let mut world = network();
        // Times are multiples of 10 us, so that there are many of the same time.
        let mut asked: Vec<(Time, Op, usize, bool)> = Vec::new();
        for (number, (op, at, lasts)) in faults.iter().enumerate() {
            let mut fault = Fault::new(us(10 * at), op.kind());
            asked.push((fault.at, op.clone(), number, false));
            if let (Some(reverse), Some(lasts)) = (op.reverse(), lasts) {
                fault = fault.until(us(10 * (at + lasts)));
                asked.push((us(10 * (at + lasts)), reverse, number, true));
            }
            world.fault(fault).unwrap();
        }
        asked.sort_by_key(|asked| asked.0);
        let mut naive = Naive::default();
        let mut left = asked.into_iter().peekable();
        for step in 0..100 {
            let now = us(10 * step);
            world.run_until(now).unwrap();
            // What ends before the next look comes up before anything else is done then.
            naive.restarting.retain(|_, until| *until >= now);
            while let Some((_, op, number, ends)) = left.next_if(|asked| asked.0 <= now) {
                naive.asked(now, &op, number, ends);
            }
            naive.restarting.retain(|_, until| *until > now);
            for node in 0..NODES {
                prop_assert_eq!(world.node_is_up(NodeId(node)).unwrap(), naive.is_up(node), "{:?}", now);
            }
            for link in 0..LINKS.len() as u32 {
                prop_assert_eq!(world.link_is_up(LinkId(link)).unwrap(), naive.joins(link), "{:?} {}", now, link);
            }
        }
        world.run_until(us(2_000)).unwrap();
        for node in (0..NODES).filter(|node| naive.is_up(*node) || naive.restarting.contains_key(node)) {
            let own = (0..LINKS.len() as u32).filter(|link| LINKS[*link as usize].contains(&node));
            let down = own.enumerate().filter(|(_, link)| !naive.joins(*link)).map(|(port, _)| port as u16);
            prop_assert_eq!(believed_down(&world, node), down.collect::<BTreeSet<_>>(), "node {}", node);
        }
        prop_assert!(world.audit().is_empty());
    }
}
