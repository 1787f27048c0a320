//! What a discipline counts whose packets wait in queues below it.

use super::counters::QueueCounters;
use super::{Context, Discipline, Packet};
use base::device::DropReason;

/// Counters of a discipline or class with queues below it.
///
/// A queue below may drop packets whenever it is called, also others than the one that it is given, and out of its
/// middle. Whoever asks it through these methods counts each of them, with its reason and the time that it has
/// waited.
#[derive(Debug, Default)]
pub struct Inner {
    /// Of all queues below together.
    pub counters: QueueCounters,
}

impl Inner {
    /// [`Discipline::enqueue`] of a queue below.
    #[inline]
    pub fn enqueue(&mut self, below: &mut dyn Discipline, packet: Packet, cx: &mut Context<'_>) -> bool {
        let before = cx.losses();
        self.counters.admit(cx.now, packet.len);
        let queued = below.enqueue(packet, cx);
        self.follow(before, cx);
        self.counters.note_backlog(cx.now);
        queued
    }

    /// [`Discipline::dequeue`] of a queue below.
    #[inline]
    pub fn dequeue(&mut self, below: &mut dyn Discipline, cx: &mut Context<'_>) -> Option<Packet> {
        let before = cx.losses();
        let packet = below.dequeue(cx);
        self.follow(before, cx);
        let packet = packet?;
        self.counters.leave(cx.now, &packet);
        Some(packet)
    }

    /// [`Discipline::peek`] of a queue below.
    #[inline]
    pub fn peek(&mut self, below: &mut dyn Discipline, cx: &mut Context<'_>) -> Option<u32> {
        let before = cx.losses();
        let len = below.peek(cx);
        self.follow(before, cx);
        len
    }

    /// [`Discipline::clear`] of a queue below.
    pub fn clear(&mut self, below: &mut dyn Discipline, cx: &mut Context<'_>, reason: DropReason) {
        let before = cx.losses();
        below.clear(cx, reason);
        self.follow(before, cx);
    }

    /// The packet is dropped here, before any queue below sees it.
    pub fn refuse(&mut self, packet: Packet, cx: &mut Context<'_>, reason: DropReason) {
        self.counters.refuse(packet.len, reason);
        cx.drop(packet, reason);
    }

    /// Counts what was dropped below since [`Context::losses`] was `before`.
    #[inline]
    pub fn follow(&mut self, before: usize, cx: &Context<'_>) {
        for loss in cx.lost_since(before) {
            self.counters.lose_below(cx.now, loss);
        }
    }
}
