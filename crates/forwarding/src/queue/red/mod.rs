//! Random early detection (Floyd and Jacobson 1993; tc-red): packets are dropped or marked at random before the queue
//! is full, the more often the longer it has been on average.
//!
//! - [`average`]: the average queue, the probability, and where Linux departs from the formulas
//! - `decision`: what is done with a packet
//!
//! As in Linux the probability does not depend on the size of the packet, and the average counts bytes.

pub mod average;
mod decision;
#[cfg(test)]
mod tests;

pub(super) use decision::{Decider, Parameters};

use super::counters::{QueueCounters, QueueRow};
use super::spec::RedSpec;
use super::{Backlog, Context, Discipline, Facts, Packet};
use average::Average;
use base::device::DropReason;
use base::diagnostic::Diagnostic;
use base::{Frame, Span, Time};
use std::collections::VecDeque;

/// A FIFO under random early detection.
///
/// Packets that the average condemns are dropped as [`DropReason::EarlyDrop`] between the thresholds and as
/// [`DropReason::AverageQueue`] beyond the upper one; those that find no room, as [`DropReason::BufferFull`].
#[derive(Debug)]
pub struct Red {
    decider: Decider,
    average: Average,
    packets: VecDeque<Packet>,
    counters: QueueCounters,
}

impl Red {
    /// What a user described.
    pub fn new(spec: &RedSpec, facts: &Facts) -> Result<Red, Diagnostic> {
        let parameters = Parameters::new(&spec.early.early()?, facts);
        let average = parameters.average();
        let (packets, counters) = (VecDeque::new(), QueueCounters::default());
        Ok(Red { decider: Decider::new(parameters), average, packets, counters })
    }

    fn refuse(&mut self, packet: Packet, cx: &mut Context<'_>, reason: DropReason) -> bool {
        self.counters.refuse(packet.len, reason);
        cx.drop(packet, reason);
        false
    }
}

impl Discipline for Red {
    fn enqueue(&mut self, mut packet: Packet, cx: &mut Context<'_>) -> bool {
        let waiting = self.counters.backlog.bytes;
        self.average.arrive(cx.now, waiting);
        let average = self.average.from(self.decider.parameters().curve.min);
        let marked = match self.decider.decide(average, cx).apply(&mut packet.frame) {
            Ok(marked) => marked,
            Err(reason) => return self.refuse(packet, cx, reason),
        };
        if waiting + u64::from(packet.len) > self.decider.parameters().limit {
            return self.refuse(packet, cx, DropReason::BufferFull);
        }
        self.counters.marked += u64::from(marked);
        self.average.wake();
        self.counters.enter(cx.now, packet.len);
        self.packets.push_back(packet);
        true
    }

    fn dequeue(&mut self, cx: &mut Context<'_>) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.counters.leave(cx.now, &packet);
        if self.packets.is_empty() {
            self.average.rest(cx.now);
        }
        Some(packet)
    }

    fn peek(&mut self, _: &mut Context<'_>) -> Option<u32> {
        self.packets.front().map(|packet| packet.len)
    }

    fn backlog(&self) -> Backlog {
        self.counters.backlog
    }

    fn clear(&mut self, cx: &mut Context<'_>, reason: DropReason) {
        while let Some(packet) = self.packets.pop_front() {
            self.counters.lose(cx.now, &packet, reason);
            cx.drop(packet, reason);
        }
        self.average.rest(cx.now);
    }

    fn report(&self, path: &str, _: Time, rows: &mut Vec<QueueRow>) {
        let extra = vec![
            ("average_bytes", self.average.bytes()),
            ("weight_log2", -f64::from(self.decider.parameters().weight_log)),
        ];
        rows.push(QueueRow::new(path, "red", self.counters.clone()).with(extra));
    }

    fn show_held(&self, see: &mut dyn FnMut(&Frame)) {
        self.packets.iter().for_each(|packet| see(&packet.frame));
    }

    fn watch(&mut self, bin: Span) {
        self.counters.watch(bin);
    }
}
