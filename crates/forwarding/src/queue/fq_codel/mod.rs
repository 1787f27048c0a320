//! Fair queueing with CoDel (RFC 8290; Linux's `fq_codel`).
//!
//! Flows are hashed to queues, which take turns in deficit round robin; a queue that had been empty goes first for
//! one turn. Each queue has a CoDel of its own ([`codel`]). When all together are too long, the longest one loses
//! packets from its head.
//!
//! Departures from Linux: the bytes that a queue must have for CoDel to drop are that queue's own (RFC 8289, 5.6),
//! not those of all; memory counts the bytes that packets count for, not what a kernel stores beside them; CoDel's
//! square root is exact; and a packet that is given and dropped at once, since its own queue is the longest and
//! shorter than the batch, is reported as not queued.

mod codel;
mod hash;
#[cfg(test)]
mod tests;

use super::counters::{QueueCounters, QueueRow};
use super::spec::FqCodelSpec;
use super::{Backlog, Context, Discipline, Facts, Held, Packet, ecn};
use base::device::DropReason;
use base::{Frame, Span, Time};
use codel::{Codel, Params, Source};
use hash::FlowHash;
use std::collections::VecDeque;

/// The most packets that are dropped at once when there is no room.
const BATCH: u32 = 64;

/// The discipline. See the [module](self).
#[derive(Debug)]
pub struct FqCodel {
    flows: Vec<Flow>,
    /// Bytes in each, apart: the longest is searched for among them.
    bytes: Vec<u64>,
    /// Queues that were empty a short time ago, and the others that are not.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    /// Drawn when the first packet comes.
    hash: Option<FlowHash>,
    params: Params,
    ce_threshold: Option<Span>,
    quantum: i64,
    limit: u64,
    memory: u64,
    held: Held,
    counters: QueueCounters,
    stats: Stats,
}

#[derive(Debug, Default)]
struct Flow {
    packets: VecDeque<Packet>,
    deficit: i64,
    codel: Codel,
    /// Is it in one of the lists?
    listed: bool,
}

#[derive(Debug, Default)]
struct Stats {
    /// How often an empty queue got a packet and went to the list of new ones.
    new_flows: u64,
    /// Packets dropped for want of room.
    overlimit: u64,
    /// Packets marked since they were in the queue for longer than the threshold.
    threshold_marks: u64,
}

/// A flow's queue, as CoDel sees it.
struct Below<'a, 'b> {
    packets: &'a mut VecDeque<Packet>,
    bytes: &'a mut u64,
    counters: &'a mut QueueCounters,
    cx: &'a mut Context<'b>,
}

impl Source for Below<'_, '_> {
    #[inline]
    fn pop(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        *self.bytes = self.bytes.saturating_sub(u64::from(packet.len));
        Some(packet)
    }

    #[inline]
    fn bytes(&self) -> u64 {
        *self.bytes
    }

    fn drop(&mut self, packet: Packet) {
        self.counters.lose(self.cx.now, &packet, DropReason::Sojourn);
        self.cx.drop(packet, DropReason::Sojourn);
    }

    fn mark(&mut self, packet: &mut Packet) -> bool {
        let marked = ecn::mark(&mut packet.frame);
        self.counters.marked += u64::from(marked);
        marked
    }
}

impl FqCodel {
    /// What a user described.
    pub fn new(spec: &FqCodelSpec, facts: &Facts) -> FqCodel {
        let quantum = spec.quantum.map_or(u64::from(facts.longest()), |quantum| quantum.0);
        FqCodel {
            flows: (0..spec.flows).map(|_| Flow::default()).collect(),
            bytes: vec![0; spec.flows as usize],
            new: VecDeque::new(),
            old: VecDeque::new(),
            hash: None,
            params: Params {
                target: spec.target,
                interval: spec.interval,
                longest: facts.longest(),
                ecn: spec.ecn,
            },
            ce_threshold: spec.ce_threshold,
            quantum: quantum as i64,
            limit: spec.limit,
            memory: spec.memory_limit.0,
            held: Held::default(),
            counters: QueueCounters::default(),
            stats: Stats::default(),
        }
    }

    /// Drops from the head of the longest queue until it has lost half of its bytes, [`BATCH`] packets at most.
    /// Returns which that was.
    ///
    /// RFC 8290, 4.1: the search takes long, so that it is made worth its while.
    fn make_room(&mut self, cx: &mut Context<'_>) -> Option<usize> {
        // The first of the longest.
        let (longest, bytes) = self.bytes.iter().enumerate().rev().max_by_key(|(_, bytes)| **bytes)?;
        let (goal, flow) = (bytes / 2, &mut self.flows[longest]);
        let (mut gone, mut count) = (0, 0);
        while let Some(packet) = flow.packets.pop_front() {
            gone += u64::from(packet.len);
            count += 1;
            self.counters.lose(cx.now, &packet, DropReason::BufferFull);
            cx.drop(packet, DropReason::BufferFull);
            if count >= BATCH || gone >= goal {
                break;
            }
        }
        // CoDel shall signal as much more.
        flow.codel.count = flow.codel.count.saturating_add(count);
        self.bytes[longest] = self.bytes[longest].saturating_sub(gone);
        self.stats.overlimit += u64::from(count);
        Some(longest)
    }

    /// The next packet (RFC 8290, 4.2).
    fn next(&mut self, cx: &mut Context<'_>) -> Option<Packet> {
        // How many queues in a row had no deficit left, and how many more rounds the first of them has to wait for.
        let (mut passed, mut missing) = (0, i64::MAX);
        loop {
            let (at, fresh) = match self.new.front() {
                Some(at) => (*at as usize, true),
                None => (*self.old.front()? as usize, false),
            };
            let flow = &mut self.flows[at];
            if flow.deficit <= 0 {
                flow.deficit += self.quantum;
                missing = missing.min(if flow.deficit > 0 { 0 } else { -flow.deficit / self.quantum + 1 });
                self.retire(fresh);
                self.old.push_back(at as u32);
                passed += 1;
                if passed == self.old.len() && self.new.is_empty() {
                    self.grant(missing);
                    (passed, missing) = (0, i64::MAX);
                }
                continue;
            }
            (passed, missing) = (0, i64::MAX);
            let (now, packets, bytes) = (cx.now, &mut flow.packets, &mut self.bytes[at]);
            let mut below = Below { packets, bytes, counters: &mut self.counters, cx };
            let Some(mut packet) = flow.codel.dequeue(now, &self.params, &mut below) else {
                // A new queue that is empty goes through the list of old ones, so that it can't go first again at once.
                let starving = fresh && !self.old.is_empty();
                flow.listed = starving;
                self.retire(fresh);
                if starving {
                    self.old.push_back(at as u32);
                }
                continue;
            };
            flow.deficit -= i64::from(packet.len);
            let sojourn = Span(cx.now.0.saturating_sub(packet.entered.0) as i64);
            if self.ce_threshold.is_some_and(|threshold| sojourn > threshold) && ecn::mark(&mut packet.frame)
            {
                self.counters.marked += 1;
                self.stats.threshold_marks += 1;
            }
            return Some(packet);
        }
    }

    /// Gives every queue its quanta of rounds in which nobody could send, however small they are beside packets.
    fn grant(&mut self, rounds: i64) {
        for at in self.old.iter().filter(|_| rounds > 0) {
            self.flows[*at as usize].deficit += rounds * self.quantum;
        }
    }

    /// Takes the first queue out of a list.
    #[inline]
    fn retire(&mut self, fresh: bool) {
        let list = if fresh { &mut self.new } else { &mut self.old };
        list.pop_front();
    }
}

impl Discipline for FqCodel {
    fn enqueue(&mut self, packet: Packet, cx: &mut Context<'_>) -> bool {
        let hash = *self.hash.get_or_insert_with(|| {
            let mut key = || u64::from(cx.bits()) << 32 | u64::from(cx.bits());
            FlowHash::new([key(), key()])
        });
        let at = hash.queue_of(&packet.frame, self.flows.len() as u32) as usize;
        let flow = &mut self.flows[at];
        self.counters.admit(cx.now, packet.len);
        self.bytes[at] += u64::from(packet.len);
        flow.packets.push_back(packet);
        if !flow.listed {
            flow.listed = true;
            flow.deficit = self.quantum;
            self.new.push_back(at as u32);
            self.stats.new_flows += 1;
        }
        let Backlog { packets, bytes } = self.counters.backlog;
        let longest = if packets > self.limit || bytes > self.memory { self.make_room(cx) } else { None };
        self.counters.note_backlog(cx.now);
        longest != Some(at) || !self.flows[at].packets.is_empty()
    }

    fn dequeue(&mut self, cx: &mut Context<'_>) -> Option<Packet> {
        let packet = self.held.take().or_else(|| self.next(cx))?;
        self.counters.leave(cx.now, &packet);
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
        self.counters.backlog
    }

    fn clear(&mut self, cx: &mut Context<'_>, reason: DropReason) {
        let waiting = self.flows.iter_mut().flat_map(|flow| flow.packets.drain(..));
        for packet in self.held.take().into_iter().chain(waiting) {
            self.counters.lose(cx.now, &packet, reason);
            cx.drop(packet, reason);
        }
        for flow in &mut self.flows {
            (flow.codel, flow.deficit, flow.listed) = (Codel::default(), 0, false);
        }
        self.bytes.fill(0);
        self.new.clear();
        self.old.clear();
    }

    fn report(&self, path: &str, _: Time, rows: &mut Vec<QueueRow>) {
        let extra = vec![
            ("new_flows", self.stats.new_flows as f64),
            ("active_flows", (self.new.len() + self.old.len()) as f64),
            ("dropped_overlimit", self.stats.overlimit as f64),
            ("marked_threshold", self.stats.threshold_marks as f64),
        ];
        rows.push(QueueRow::new(path, "fq-codel", self.counters.clone()).with(extra));
    }

    fn show_held(&self, see: &mut dyn FnMut(&Frame)) {
        let held = self.held.get().into_iter();
        held.chain(self.flows.iter().flat_map(|flow| &flow.packets)).for_each(|packet| see(&packet.frame));
    }

    fn watch(&mut self, bin: Span) {
        self.counters.watch(bin);
    }
}
