//! Copies of messages that await acknowledgement, and when they are sent again (RFC 2961, 6).
//!
//! All copies that have been sent equally often wait equally long, so that each neighbour has one queue for each
//! number of transmissions, in order of time; the heads of the queues are all that has to be looked at.

use super::super::faults::{Fault, Faults};
use super::message_id::NONE;
use super::types::{Envelope, Handle};
use base::Time;

/// A message that awaits its acknowledgement.
pub(super) struct Copy {
    /// To whom it was sent.
    pub(super) peer: u32,
    /// Its Message_Identifier, which is the same in each transmission.
    pub(super) id: u32,
    /// The state that it advertises, if it does.
    pub(super) handle: Option<Handle>,
    /// The IP header that it is sent with.
    pub(super) envelope: Envelope,
    /// The message without acknowledgements and INTEGRITY.
    pub(super) bytes: Box<[u8]>,
    /// How often it has been sent, less one.
    attempt: u8,
    due: Time,
    previous: u32,
    next: u32,
}

/// The copies of all neighbours.
#[derive(Default)]
pub(super) struct Copies {
    slots: Vec<Option<Copy>>,
    free: Vec<u32>,
}

/// The copies of one neighbour that have been sent equally often.
#[derive(Clone, Copy, Debug)]
struct Queue {
    head: u32,
    tail: u32,
}

/// When the copies of one neighbour are due.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    queues: Box<[Queue]>,
    /// One bit for each queue that is not empty.
    used: u32,
    len: usize,
}

impl Schedule {
    /// A schedule for up to `limit` transmissions of each message.
    pub(super) fn new(limit: usize) -> Schedule {
        Schedule { queues: vec![Queue { head: NONE, tail: NONE }; limit].into(), used: 0, len: 0 }
    }
    /// How many copies wait.
    pub(super) const fn len(&self) -> usize {
        self.len
    }
    /// When the first is due.
    pub(super) fn next(&self, copies: &Copies) -> Option<Time> {
        if self.len == 0 {
            return None;
        }
        let (mut first, mut used) = (None, self.used);
        while used != 0 {
            let queue = self.queues.get(used.trailing_zeros() as usize)?;
            let due = copies.get(queue.head).map(|copy| copy.due);
            first = first.into_iter().chain(due).min();
            used &= used - 1;
        }
        first
    }
    /// One that is due at `now`.
    pub(super) fn due(&self, copies: &Copies, now: Time) -> Option<u32> {
        if self.len == 0 {
            return None;
        }
        let heads = self.queues.iter().map(|queue| queue.head);
        let due = |slot: u32| copies.get(slot).map(|copy| (copy.due, slot)).filter(|(due, _)| *due <= now);
        heads.filter_map(due).min().map(|(_, slot)| slot)
    }
    fn append(&mut self, copies: &mut Copies, slot: u32, attempt: u8, due: Time, faults: &mut Faults) {
        let Some(queue) = self.queues.get_mut(usize::from(attempt)) else {
            return faults.note(Fault::NoCopy);
        };
        let previous = core::mem::replace(&mut queue.tail, slot);
        match copies.get_mut(previous) {
            Some(copy) => copy.next = slot,
            None => queue.head = slot,
        }
        if let Some(copy) = copies.get_mut(slot) {
            (copy.attempt, copy.due, copy.previous, copy.next) = (attempt, due, previous, NONE);
            self.used |= 1 << attempt;
            self.len += 1;
        }
    }
    fn unlink(&mut self, copies: &mut Copies, slot: u32, faults: &mut Faults) {
        let Some((attempt, previous, next)) = copies.get(slot).map(|c| (c.attempt, c.previous, c.next))
        else {
            return faults.note(Fault::NoCopy);
        };
        let Some(queue) = self.queues.get_mut(usize::from(attempt)) else {
            return faults.note(Fault::NoCopy);
        };
        match copies.get_mut(previous) {
            Some(copy) => copy.next = next,
            None => queue.head = next,
        }
        match copies.get_mut(next) {
            Some(copy) => copy.previous = previous,
            None => queue.tail = previous,
        }
        if queue.head == NONE {
            self.used &= !(1 << attempt);
        }
        self.len -= 1;
    }
    /// Keeps a copy of a message that was just sent for the first time, to be sent again at `due`.
    pub(super) fn add(
        &mut self,
        copies: &mut Copies,
        message: Message,
        due: Time,
        faults: &mut Faults,
    ) -> u32 {
        let Message { peer, id, handle, envelope, bytes } = message;
        let copy = Copy { peer, id, handle, envelope, bytes, attempt: 0, due, previous: NONE, next: NONE };
        let slot = match copies.free.pop() {
            Some(slot) => {
                copies.slots[slot as usize] = Some(copy);
                slot
            }
            None => {
                copies.slots.push(Some(copy));
                copies.slots.len() as u32 - 1
            }
        };
        self.append(copies, slot, 0, due, faults);
        slot
    }
    /// The copy has been sent once more: wait for the interval that follows. Nothing if it has been sent as often as
    /// it may be; then it is to be removed.
    pub(super) fn again(
        &mut self,
        copies: &mut Copies,
        slot: u32,
        now: Time,
        intervals: &[base::Span],
        faults: &mut Faults,
    ) -> Option<()> {
        let attempt = copies.get(slot)?.attempt + 1;
        let interval = *intervals.get(usize::from(attempt))?;
        self.unlink(copies, slot, faults);
        self.append(copies, slot, attempt, now + interval, faults);
        Some(())
    }
    /// May the copy be sent once more?
    pub(super) fn may_repeat(&self, copies: &Copies, slot: u32) -> bool {
        copies.get(slot).is_some_and(|copy| usize::from(copy.attempt) + 1 < self.queues.len())
    }
    /// Takes a copy out.
    pub(super) fn remove(&mut self, copies: &mut Copies, slot: u32, faults: &mut Faults) -> Option<Copy> {
        copies.get(slot)?;
        self.unlink(copies, slot, faults);
        let copy = copies.slots.get_mut(slot as usize)?.take();
        copies.free.push(slot);
        if copies.free.len() == copies.slots.len() {
            *copies = Copies::default();
        }
        copy
    }
    /// Any copy that waits.
    pub(super) fn any(&self) -> Option<u32> {
        self.queues.iter().map(|queue| queue.head).find(|&head| head != NONE)
    }
}

/// What is kept of a message.
pub(super) struct Message {
    pub(super) peer: u32,
    pub(super) id: u32,
    pub(super) handle: Option<Handle>,
    pub(super) envelope: Envelope,
    pub(super) bytes: Box<[u8]>,
}

impl Copies {
    /// The copy in `slot`.
    pub(super) fn get(&self, slot: u32) -> Option<&Copy> {
        self.slots.get(slot as usize)?.as_ref()
    }
    fn get_mut(&mut self, slot: u32) -> Option<&mut Copy> {
        self.slots.get_mut(slot as usize)?.as_mut()
    }
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
