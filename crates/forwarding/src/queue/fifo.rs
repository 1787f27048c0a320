//! First in, first out, limited in packets (`pfifo`) or in bytes (`bfifo`).

use super::counters::{QueueCounters, QueueRow};
use super::spec::{BfifoSpec, PfifoSpec};
use super::{Backlog, Context, Discipline, Packet};
use base::device::DropReason;
use base::{Frame, Span, Time};
use std::collections::VecDeque;

/// A queue that drops what finds no room.
#[derive(Debug)]
pub struct Fifo {
    name: &'static str,
    packets_max: u64,
    bytes_max: u64,
    packets: VecDeque<Packet>,
    counters: QueueCounters,
}

impl Fifo {
    fn new(name: &'static str, packets_max: u64, bytes_max: u64) -> Fifo {
        Fifo { name, packets_max, bytes_max, packets: VecDeque::new(), counters: QueueCounters::default() }
    }

    /// A pfifo: its limit counts packets.
    pub fn packets(spec: &PfifoSpec) -> Fifo {
        Fifo::new("pfifo", spec.limit, u64::MAX)
    }

    /// What a user described, limited in bytes.
    pub fn bytes(spec: &BfifoSpec) -> Fifo {
        Fifo::new("bfifo", u64::MAX, spec.limit.0)
    }
}

impl Discipline for Fifo {
    fn enqueue(&mut self, packet: Packet, cx: &mut Context<'_>) -> bool {
        let after = self.counters.backlog.bytes + u64::from(packet.len);
        if self.counters.backlog.packets >= self.packets_max || after > self.bytes_max {
            self.counters.refuse(packet.len, DropReason::BufferFull);
            cx.drop(packet, DropReason::BufferFull);
            return false;
        }
        self.counters.enter(cx.now, packet.len);
        self.packets.push_back(packet);
        true
    }

    fn dequeue(&mut self, cx: &mut Context<'_>) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.counters.leave(cx.now, &packet);
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
    }

    fn report(&self, path: &str, _: Time, rows: &mut Vec<QueueRow>) {
        let counters = self.counters.clone();
        rows.push(QueueRow::new(path, self.name, counters));
    }

    fn show_held(&self, see: &mut dyn FnMut(&Frame)) {
        self.packets.iter().for_each(|packet| see(&packet.frame));
    }

    fn watch(&mut self, bin: Span) {
        self.counters.watch(bin);
    }
}
