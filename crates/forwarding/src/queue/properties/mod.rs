//! What is true of every tree, whatever is in it and whatever comes.
//!
//! - `random`: trees and workloads by chance, and which leaf of a tree takes a packet
//! - this file: conservation, Little's law, work conservation, wake times, order
//! - `extremes`: descriptions and packets at the ends of what can be said
//! - `laws`: what is true of one discipline: fairness, priority, conformance

mod extremes;
mod laws;
mod random;

use super::testing::{facts, frame};
use super::{Take, Tree, TreeSpec};
use base::device::DropReason;
use base::random::Streams;
use base::{Frame, Span, Time};
use proptest::prelude::*;
use random::{Op, leaf};
use std::collections::BTreeMap;

/// Waits that may follow each other, with nothing sent: every shaper on the way may add one of its own.
const WAITS_MAX: u32 = 500;

/// A tree under test, and what it must not do.
struct Bench {
    tree: Tree,
    spec: TreeSpec,
    /// May it hold packets back?
    shapes: bool,
    now: u64,
    /// The number of the next packet, and the last that left each leaf.
    next: u16,
    last: BTreeMap<String, u16>,
}

impl Bench {
    fn new(json: &serde_json::Value, seed: u64) -> Bench {
        let spec: TreeSpec = crate::queue::testing::spec(&json.to_string()).expect("a description");
        let tree = Tree::new(&spec, &facts(), Streams::new(seed).stream("queue")).expect("a tree");
        let text = json.to_string();
        let shapes = ["tbf", "cbq", "htb"].iter().any(|name| text.contains(&format!("\"{name}\"")));
        Bench { tree, spec, shapes, now: 0, next: 0, last: BTreeMap::new() }
    }

    fn audit(&self) -> Result<(), TestCaseError> {
        prop_assert_eq!(self.tree.audit(Time(self.now)), Vec::<String>::new());
        Ok(())
    }

    fn offer(&mut self, dscp: u8, ecn: u8, len: u32) -> Result<(), TestCaseError> {
        let mut frame = frame(dscp << 2 | ecn, len);
        frame.header_mut()[18..20].copy_from_slice(&self.next.to_be_bytes());
        self.next += 1;
        self.tree.offer(Time(self.now), frame);
        self.audit()
    }

    /// Takes a packet if there is one that may leave; else the time of the next attempt, or nothing if the tree is
    /// empty.
    fn take(&mut self) -> Result<Result<(), Option<u64>>, TestCaseError> {
        let waiting = self.tree.backlog();
        let taken = self.tree.take(Time(self.now));
        self.audit()?;
        match taken {
            Take::Frame(frame) => {
                prop_assert!(waiting.packets > 0);
                self.left(&frame)?;
                Ok(Ok(()))
            }
            Take::Wait(until) => {
                prop_assert!(self.shapes, "a work-conserving tree has {waiting:?} and gives nothing");
                prop_assert!(until.0 > self.now, "it says to wait until {until:?}, which has passed");
                prop_assert!(until < Time::MAX, "{waiting:?} wait for ever");
                Ok(Err(Some(until.0)))
            }
            Take::Empty => {
                prop_assert_eq!(self.tree.backlog().packets, 0);
                Ok(Err(None))
            }
        }
    }

    /// Packets leave a leaf in the order in which they came.
    fn left(&mut self, frame: &Frame) -> Result<(), TestCaseError> {
        let header = frame.header();
        let number = u16::from_be_bytes([header[18], header[19]]);
        let leaf = leaf(&self.spec.root, header[15] >> 2, "root");
        let leaf = leaf.ok_or_else(|| TestCaseError::fail("it left by no leaf"))?;
        let last = self.last.insert(leaf.clone(), number);
        prop_assert!(last.is_none_or(|last| last < number), "{number} left {leaf} after {last:?}");
        Ok(())
    }

    /// Takes all there is, waking up when told.
    fn drain(&mut self) -> Result<(), TestCaseError> {
        let mut waits = 0;
        loop {
            match self.take()? {
                Ok(()) => waits = 0,
                Err(None) => return Ok(()),
                Err(Some(until)) => {
                    waits += 1;
                    prop_assert!(waits < WAITS_MAX, "{:?} wait in vain", self.tree.backlog());
                    self.now = until;
                }
            }
        }
    }

    fn run(&mut self, work: &[(u64, Op)]) -> Result<(), TestCaseError> {
        for (gap, op) in work {
            self.now += gap;
            match *op {
                Op::Offer { dscp, ecn, len } => self.offer(dscp, ecn, len)?,
                Op::Take => drop(self.take()?),
                Op::Clear => {
                    self.tree.clear(Time(self.now), DropReason::LinkDown);
                    self.audit()?;
                    prop_assert_eq!(self.tree.backlog(), super::Backlog::default());
                }
            }
        }
        self.drain()?;
        let totals = self.tree.totals();
        prop_assert_eq!(totals.offered.packets, totals.taken.packets + totals.dropped.packets.total());
        Ok(())
    }
}

proptest! {
    #![proptest_config(testing::cases(400))]

    #[test]
    fn any_tree_keeps_its_books_and_its_word(
        spec in random::tree(), work in random::work(120), seed in any::<u64>(), watched in any::<bool>(),
    ) {
        let mut bench = Bench::new(&spec, seed);
        if watched {
            bench.tree.watch(Span::from_ms(1));
        }
        bench.run(&work)?;
    }

    #[test]
    fn the_same_seed_means_the_same_packets(spec in random::tree(), work in random::work(60), seed in any::<u64>()) {
        let mut runs = [Bench::new(&spec, seed), Bench::new(&spec, seed)];
        for bench in &mut runs {
            bench.run(&work)?;
        }
        let [one, two] = &runs;
        prop_assert_eq!((one.tree.totals(), one.now, &one.last), (two.tree.totals(), two.now, &two.last));
    }
}
