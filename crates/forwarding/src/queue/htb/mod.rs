//! Hierarchical token buckets, as Linux has them (`sch_htb`, Devera 2002; tc-htb(8)).
//!
//! # How it works
//!
//! Every class has a bucket of tokens for its rate and one for its ceiling ([`Buckets`]), and by them a [`Mode`]: it
//! can send at its own expense, may borrow of the class that it is in, or can't send. Leaves that can send go first,
//! whatever their priorities. What is left goes to those that borrow, of the nearest class that can send first; among
//! the ones that borrow of the same, the most urgent priority first; among those, in turns of `quantum` bytes
//! (deficit round robin). See [`feed`].
//!
//! What a leaf sends is charged to the ceilings of the leaf and all classes that it is in, and to the rates of those
//! that paid for it: the class that it borrowed of, and those that that is in.
//!
//! A decision takes a time that grows with the logarithm of the number of classes at most: classes whose mode changes
//! by time alone are in a heap, and rows and feeds are sets of bits.
//!
//! # Where this departs from Linux
//!
//! - Tokens are picoseconds, and costs are rounded up to one; Linux has nanoseconds and a multiplication that rounds.
//! - There is one heap of times instead of one for each level, and no limit to the mode changes of one decision
//!   (Linux stops after two ticks of its clock).
//! - A class that borrows does not save tokens beyond its burst meanwhile.
//! - Quanta that follow from rates are at least a frame of the port, so that no turn is worth less than a packet
//!   (Linux: 1000 bytes). Default bursts are `rate / 1000 Hz + 1600` bytes.
//! - A leaf whose own queue holds back what it has is left out until that changes, instead of being asked for each
//!   packet.
//! - Filters name leaves only.

mod bucket;
mod build;
mod feed;
#[cfg(test)]
mod tests;

use super::classify::Classifier;
use super::counters::QueueRow;
use super::fifo::Fifo;
use super::parking::Parking;
use super::spec::{DIRECT, HtbSpec};
use super::{Backlog, Context, Discipline, Facts, Held, Inner, Packet};
use base::device::DropReason;
use base::diagnostic::Diagnostic;
use base::{Frame, Span, Time};
use bucket::{Buckets, Mode};
use feed::{LEVELS, Rows};

/// Priorities, 0 is the most urgent.
const PRIORITIES: usize = 8;

/// The discipline. See the [module](self).
#[derive(Debug)]
pub struct Htb {
    classifier: Classifier,
    /// Leaves, then inner classes.
    nodes: Vec<Node>,
    leaves: Vec<Leaf>,
    rows: Rows,
    /// Classes that can't do all, by when they may be able to do more.
    parking: Parking,
    /// Leaves whose own queues hold back.
    stalled: Parking,
    /// Packets without a class, if there is no default: they go first.
    direct: Option<Fifo>,
    held: Held,
    inner: Inner,
    names: Vec<String>,
}

/// A class, in two lines of cache.
#[derive(Debug)]
#[repr(align(64))]
struct Node {
    buckets: Buckets,
    parent: Option<u32>,
    /// Its place among those in its parent.
    rank: u32,
    level: u8,
    mode: Mode,
    /// Priorities of packets in it that it could send or pass on to its parent's feeds.
    activity: u8,
    sent_packets: u64,
    sent_bytes: u64,
    /// Packets sent at the expense of a class further out.
    borrowed: u64,
    /// Packets sent at its own expense: of an inner class, those of others.
    lent: u64,
}

/// What only a leaf has, in one line of cache.
#[derive(Debug)]
#[repr(align(64))]
struct Leaf {
    queue: Box<dyn Discipline>,
    /// Bytes left of its turn in rows of each level.
    deficit: [i32; LEVELS],
    quantum: i32,
    priority: u8,
    /// Does its own queue hold back what it has?
    stalled: bool,
}

impl Htb {
    /// What a user described, with the queues below.
    pub fn new(spec: &HtbSpec, facts: &Facts) -> Result<Htb, Diagnostic> {
        build::new(spec, facts)
    }

    /// A leaf has packets to give.
    #[inline]
    fn wake_leaf(&mut self, leaf: usize) {
        let below = &mut self.leaves[leaf];
        if below.stalled {
            below.stalled = false;
            self.stalled.release(leaf as u32);
        }
        if self.nodes[leaf].activity == 0 {
            self.nodes[leaf].activity = 1 << self.leaves[leaf].priority;
            self.activate(leaf);
        }
    }

    /// A leaf has no packets to give.
    #[inline]
    fn rest_leaf(&mut self, leaf: usize) {
        self.deactivate(leaf);
        self.nodes[leaf].activity = 0;
    }

    /// Gives a class the mode that its tokens say.
    #[inline]
    fn check(&mut self, at: usize, now: Time, filed: bool) {
        let node = &self.nodes[at];
        let (mode, until) = node.buckets.mode(now.0);
        let (old, active) = (node.mode, node.activity != 0);
        if mode != old {
            if active && old != Mode::CantSend {
                self.deactivate(at);
            }
            self.nodes[at].mode = mode;
            if active && mode != Mode::CantSend {
                self.activate(at);
            }
        } else if filed {
            // It lies in the heap under a time that may be too early, and is filed anew then.
            return;
        }
        match mode {
            Mode::CanSend => self.parking.release(at as u32),
            _ => self.parking.park(at as u32, Time(until.max(now.0 + 1))),
        }
    }

    /// A leaf sends at the expense of a class of `level`.
    #[inline]
    fn charge(&mut self, leaf: usize, level: usize, bytes: u32, now: Time) {
        let mut next = Some(leaf);
        while let Some(at) = next {
            let node = &mut self.nodes[at];
            let lent = usize::from(node.level) < level;
            node.buckets.charge(now.0, bytes, lent);
            if lent {
                node.borrowed += 1;
            } else if usize::from(node.level) == level {
                node.lent += 1;
            }
            node.sent_packets += 1;
            node.sent_bytes += u64::from(bytes);
            next = node.parent.map(|parent| parent as usize);
            let filed = node.mode != Mode::CanSend;
            self.check(at, now, filed);
        }
    }

    /// The next packet of a row.
    fn serve(&mut self, level: usize, priority: usize, cx: &mut Context<'_>) -> Option<Packet> {
        while let Some(at) = self.lookup(level, priority) {
            let leaf = &mut self.leaves[at];
            let before = cx.losses();
            let (packet, until) = cx.ask(|cx| leaf.queue.dequeue(cx));
            self.inner.follow(before, cx);
            let empty = leaf.queue.backlog().packets == 0;
            let Some(packet) = packet else {
                self.rest_leaf(at);
                if !empty {
                    self.leaves[at].stalled = true;
                    self.stalled.park(at as u32, until);
                }
                continue;
            };
            let deficit = &mut leaf.deficit[level];
            *deficit = deficit.saturating_sub_unsigned(packet.len);
            if *deficit < 0 {
                *deficit = deficit.saturating_add(leaf.quantum);
                self.pass_turn(at, level, priority);
            }
            if empty {
                self.rest_leaf(at);
            }
            self.charge(at, level, packet.len, cx.now);
            return Some(packet);
        }
        None
    }

    /// The next packet of all.
    fn next(&mut self, cx: &mut Context<'_>) -> Option<Packet> {
        if let Some(direct) = &mut self.direct
            && let Some(packet) = direct.dequeue(cx)
        {
            return Some(packet);
        }
        while let Some(at) = self.parking.due(cx.now) {
            self.check(at as usize, cx.now, false);
        }
        while let Some(leaf) = self.stalled.due(cx.now) {
            self.wake_leaf(leaf as usize);
        }
        for level in 0..LEVELS {
            let mut mask = self.rows.masks[level];
            while mask != 0 {
                let priority = mask.trailing_zeros() as usize;
                mask &= mask - 1;
                let packet = self.serve(level, priority, cx);
                if packet.is_some() {
                    return packet;
                }
            }
        }
        if self.inner.counters.backlog.packets > 0 {
            self.inner.counters.overlimits += 1;
            [self.parking.next(), self.stalled.next()].into_iter().flatten().for_each(|at| cx.wake_at(at));
        }
        None
    }
}

impl Discipline for Htb {
    fn enqueue(&mut self, packet: Packet, cx: &mut Context<'_>) -> bool {
        let Some(at) = self.classifier.find(&packet.frame).map(|at| at as usize) else {
            let Some(direct) = &mut self.direct else {
                self.inner.refuse(packet, cx, DropReason::NoClass);
                return false;
            };
            return self.inner.enqueue(direct, packet, cx);
        };
        let Some(leaf) = self.leaves.get_mut(at) else {
            self.inner.refuse(packet, cx, DropReason::NoClass);
            return false;
        };
        let queued = self.inner.enqueue(&mut *leaf.queue, packet, cx);
        if leaf.queue.backlog().packets > 0 {
            self.wake_leaf(at);
        }
        queued
    }

    fn dequeue(&mut self, cx: &mut Context<'_>) -> Option<Packet> {
        let packet = self.held.take().or_else(|| self.next(cx))?;
        self.inner.counters.leave(cx.now, &packet);
        Some(packet)
    }

    fn peek(&mut self, cx: &mut Context<'_>) -> Option<u32> {
        if self.held.is_empty() {
            let packet = self.next(cx);
            self.held.put(packet);
        }
        self.held.len()
    }

    fn backlog(&self) -> Backlog {
        self.inner.counters.backlog
    }

    fn clear(&mut self, cx: &mut Context<'_>, reason: DropReason) {
        if let Some(packet) = self.held.take() {
            self.inner.counters.lose(cx.now, &packet, reason);
            cx.drop(packet, reason);
        }
        if let Some(direct) = &mut self.direct {
            self.inner.clear(direct, cx, reason);
        }
        for leaf in &mut self.leaves {
            self.inner.clear(&mut *leaf.queue, cx, reason);
            (leaf.deficit, leaf.stalled) = ([0; LEVELS], false);
        }
        for node in &mut self.nodes {
            (node.mode, node.activity) = (Mode::CanSend, 0);
            node.buckets.reset(cx.now.0);
        }
        self.rows.masks = [0; LEVELS];
        self.rows.rows.iter_mut().chain(&mut self.rows.feeds).flatten().for_each(feed::Feed::clear);
        self.parking.clear();
        self.stalled.clear();
    }

    fn report(&self, path: &str, now: Time, rows: &mut Vec<QueueRow>) {
        let counters = self.inner.counters.clone();
        rows.push(QueueRow::new(path, "htb", counters));
        if let Some(direct) = &self.direct {
            direct.report(&format!("{path}/{}", DIRECT), now, rows);
        }
        for (at, (name, node)) in self.names.iter().zip(&self.nodes).enumerate() {
            let parent = node.parent.map(|parent| format!("{path}/{}", self.names[parent as usize]));
            let (path, first) = (format!("{path}/{name}"), rows.len());
            let ((rate, ceil), (tokens, ctokens)) = (node.buckets.rates(), node.buckets.seconds(now.0));
            let mut extra = vec![
                ("rate_bps", rate.0 as f64),
                ("ceil_bps", ceil.0 as f64),
                ("borrowed_packets", node.borrowed as f64),
                ("tokens_s", tokens),
                ("ceil_tokens_s", ctokens),
            ];
            if let Some(leaf) = self.leaves.get(at) {
                leaf.queue.report(&path, now, rows);
                extra.push(("quantum_bytes", f64::from(leaf.quantum)));
            } else {
                extra.push(("lent_packets", node.lent as f64));
                extra.extend([
                    ("sent_packets", node.sent_packets as f64),
                    ("sent_bytes", node.sent_bytes as f64),
                ]);
                rows.push(QueueRow::new(path, "class", Default::default()));
            }
            if let Some(row) = rows.get_mut(first) {
                row.parent = parent;
                row.extra.extend(extra);
            }
        }
    }

    fn show_held(&self, see: &mut dyn FnMut(&Frame)) {
        self.held.get().into_iter().for_each(|packet| see(&packet.frame));
        self.direct.iter().for_each(|direct| direct.show_held(see));
        self.leaves.iter().for_each(|leaf| leaf.queue.show_held(see));
    }

    fn watch(&mut self, bin: Span) {
        self.inner.counters.watch(bin);
        if let Some(direct) = &mut self.direct {
            direct.watch(bin);
        }
        self.leaves.iter_mut().for_each(|leaf| leaf.queue.watch(bin));
    }
}
