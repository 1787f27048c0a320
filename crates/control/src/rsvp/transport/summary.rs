//! What gathers for one neighbour until it fills a message: acknowledgements (RFC 2961, 4.6) and the identifiers of
//! summary refreshes (RFC 2961, 5).

use base::{Span, Time};
use std::collections::VecDeque;
use wire::rsvp::MessageIdAck;

/// Bytes of MESSAGE_ID_ACK or MESSAGE_ID_NACK, and of MESSAGE_ID, with the object header.
pub(super) const ACK_BYTES: usize = 12;
/// Bytes of a common header.
pub(super) const HEADER_BYTES: usize = 8;
/// Bytes of a MESSAGE_ID LIST without identifiers.
pub(super) const LIST_BYTES: usize = 8;
/// Bytes of an INTEGRITY object.
pub(super) const INTEGRITY_BYTES: usize = 36;

/// Acknowledgements that wait for a message to travel in, in the order in which they were asked for.
#[derive(Default)]
pub(super) struct Acks {
    pending: Vec<MessageIdAck>,
    at: Option<Time>,
    /// Memory for those to come; empty.
    spare: Vec<MessageIdAck>,
}

impl Acks {
    /// Adds one that may wait until `at`. Nothing, if it waits already.
    pub(super) fn push(&mut self, ack: MessageIdAck, at: Time) {
        if self.pending.last() == Some(&ack) {
            return;
        }
        self.pending.push(ack);
        self.at.get_or_insert(at);
    }
    /// How many acknowledgements wait.
    pub(super) const fn len(&self) -> usize {
        self.pending.len()
    }
    /// Until when they may wait.
    pub(super) const fn next(&self) -> Option<Time> {
        self.at
    }
    /// Up to `count` of them, the oldest first.
    pub(super) fn take(&mut self, count: usize) -> Vec<MessageIdAck> {
        let rest = if count >= self.pending.len() {
            core::mem::take(&mut self.spare)
        } else {
            self.pending.split_off(count)
        };
        let taken = core::mem::replace(&mut self.pending, rest);
        if self.pending.is_empty() {
            self.at = None;
        }
        taken
    }
    /// Memory of acknowledgements that have been sent.
    pub(super) fn give_back(&mut self, mut sent: Vec<MessageIdAck>) {
        sent.clear();
        self.spare = sent;
    }
    /// Forgets all that wait, and the memory kept for more.
    pub(super) fn clear(&mut self) {
        *self = Acks::default();
    }
}

/// Identifiers that wait for a summary refresh. A full message leaves as soon as the spacing allows, one that is not
/// full when its first identifier has waited long enough.
#[derive(Default)]
pub(super) struct Summaries {
    ids: VecDeque<u32>,
    at: Option<Time>,
    /// The next message leaves no sooner: messages keep a least distance in time.
    free: Time,
}

impl Summaries {
    /// Adds an identifier; messages hold `full` of them.
    pub(super) fn push(&mut self, now: Time, id: u32, full: usize, delay: Span) {
        self.ids.push_back(id);
        if self.ids.len() >= full {
            self.at = Some(self.free.max(now));
        } else {
            let at = (now + delay).max(self.free);
            self.at.get_or_insert(at);
        }
    }
    /// How many identifiers wait.
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }
    /// When the next message is due.
    pub(super) const fn next(&self) -> Option<Time> {
        self.at
    }
    /// The identifiers of a message that leaves now: at most `full` of those for which `wanted` holds.
    pub(super) fn take(
        &mut self,
        now: Time,
        full: usize,
        spacing: Span,
        wanted: impl Fn(u32) -> bool,
    ) -> Vec<u32> {
        let mut taken = Vec::with_capacity(full.min(self.ids.len()));
        while taken.len() < full {
            match self.ids.pop_front() {
                Some(id) if wanted(id) => taken.push(id),
                Some(_) => {}
                None => break,
            }
        }
        if !taken.is_empty() {
            self.free = now + spacing;
        }
        self.at = if self.ids.is_empty() { None } else { Some(self.free.max(now)) };
        if self.ids.is_empty() {
            self.ids = VecDeque::new();
        }
        taken
    }
    /// Forgets all that wait; the spacing to the last message is kept.
    pub(super) fn clear(&mut self) {
        *self = Summaries { free: self.free, ..Summaries::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_summaries_are_spaced_and_others_wait() {
        let (full, delay, spacing) = (3, Span(100), Span(10));
        let mut summaries = Summaries::default();
        summaries.push(Time(0), 1, full, delay);
        assert_eq!(summaries.next(), Some(Time(100)));
        for id in 2..8 {
            summaries.push(Time(5), id, full, delay);
        }
        assert_eq!(summaries.next(), Some(Time(5)));
        assert_eq!(summaries.take(Time(5), full, spacing, |id| id != 2), [1, 3, 4]);
        assert_eq!(summaries.next(), Some(Time(15)));
        assert_eq!(summaries.take(Time(15), full, spacing, |_| true), [5, 6, 7]);
        assert_eq!((summaries.next(), summaries.len()), (None, 0));
        summaries.push(Time(16), 9, 1, delay);
        assert_eq!(summaries.next(), Some(Time(25)));
    }

    #[test]
    fn acks_leave_in_order() {
        let ack = |id| MessageIdAck { nack: false, flags: 0, epoch: 1, id };
        let mut acks = Acks::default();
        for id in [1, 2, 2, 3] {
            acks.push(ack(id), Time(id.into()));
        }
        assert_eq!((acks.len(), acks.next()), (3, Some(Time(1))));
        assert_eq!(acks.take(2), [ack(1), ack(2)]);
        assert_eq!(acks.take(2), [ack(3)]);
        assert_eq!(acks.next(), None);
    }
}
