//! A ring buffer of frames under way, whose slots have numbers that never repeat.

use base::prefetch::prefetch;
use base::{Frame, Time};

/// When a frame is taken out, the slot which is so many behind the next is needed soon: in a large network frames
/// have left all caches while they were on their way.
const SLOTS_AHEAD: u64 = 3;

/// A frame between the egress queue and the far end of a link.
#[derive(Debug, Default)]
pub struct Flight {
    /// When its last bit arrives.
    pub arrival: Time,
    /// When its first bit leaves.
    pub start: Time,
    /// Bytes of all frames so far, this one included.
    pub bytes_so_far: u64,
    frame: Option<Frame>,
}

impl Flight {
    /// The frame's length on the wire.
    pub fn wire_len(&self) -> u32 {
        self.frame.as_ref().map_or(0, Frame::wire_len)
    }
    /// The frame, until it is taken out.
    pub fn frame(&self) -> Option<&Frame> {
        self.frame.as_ref()
    }
}

/// Frames in the order in which they were sent. Slots are counted from the first frame ever sent, so that
/// `head..tail` are those in the ring.
#[derive(Debug, Default)]
pub struct FlightRing {
    /// None, or a power of two that is no less than the number of frames: only [`FlightRing::grow`] changes how many.
    slots: Vec<Flight>,
    head: u64,
    tail: u64,
}

impl FlightRing {
    /// How many frames are in it.
    #[inline]
    pub fn len(&self) -> usize {
        (self.tail - self.head) as usize
    }
    /// True if no frame is in it.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.tail == self.head
    }
    /// The number of the first frame in it: how many were taken out in front.
    #[inline]
    pub fn head(&self) -> u64 {
        self.head
    }
    /// The number that the next frame will have.
    #[inline]
    pub fn tail(&self) -> u64 {
        self.tail
    }
    /// The first frame in it.
    #[inline]
    pub fn first(&self) -> Option<&Flight> {
        if self.is_empty() { None } else { Some(self.at(self.head)) }
    }
    /// When the first frame arrives.
    #[inline]
    pub fn next_arrival(&self) -> Option<Time> {
        if self.is_empty() { None } else { Some(self.at(self.head).arrival) }
    }
    /// The frame with number `number`, which must be in the ring.
    #[inline]
    pub fn at(&self, number: u64) -> &Flight {
        &self.slots[number as usize & (self.slots.len() - 1)]
    }

    /// All frames in it, the first one first.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        (self.head..self.tail).filter_map(|number| self.at(number).frame())
    }

    /// The last frame in it.
    pub fn last(&self) -> Option<(&Flight, &Frame)> {
        let flight = if self.is_empty() { return None } else { self.at(self.tail - 1) };
        flight.frame.as_ref().map(|frame| (flight, frame))
    }

    /// Hints that the frame which is so many behind the first arrives soon, if there is one.
    #[inline(always)]
    pub fn prefetch(&self, behind: u64) {
        let mask = self.slots.len().wrapping_sub(1);
        if let Some(Flight { frame: Some(frame), .. }) = self.slots.get((self.head + behind) as usize & mask)
        {
            frame.prefetch_all();
        }
    }

    /// Puts a frame behind the others. In a large network (`FAR`) the place of the next but one is fetched ahead.
    #[inline(always)]
    pub fn push<const FAR: bool>(&mut self, frame: Frame, start: Time, arrival: Time, bytes_so_far: u64) {
        if self.len() == self.slots.len() {
            self.grow();
        }
        let tail = self.tail;
        self.tail = tail + 1;
        if FAR {
            prefetch(self.slot_mut(tail + 2));
        }
        let slot = self.slot_mut(tail);
        (slot.arrival, slot.start, slot.bytes_so_far) = (arrival, start, bytes_so_far);
        // The slot is empty: there is nothing to be dropped.
        core::mem::forget(slot.frame.replace(frame));
    }

    /// The slot of a number. There are slots: the ring has a frame, or has grown.
    #[inline(always)]
    fn slot_mut(&mut self, number: u64) -> &mut Flight {
        debug_assert!(self.slots.len().is_power_of_two(), "a ring without slots has no frame");
        let mask = self.slots.len().wrapping_sub(1);
        // SAFETY: their number is a power of two, and what is left of a number under the mask is less.
        unsafe { self.slots.get_unchecked_mut(number as usize & mask) }
    }

    /// Numbers the frames from here on. The ring is empty and unused.
    pub fn begin_at(&mut self, number: u64) {
        debug_assert!(self.tail == 0, "slots have their numbers already");
        (self.head, self.tail) = (number, number);
    }

    /// Takes the first frame out, with all that is known of it.
    #[inline]
    pub fn pop_flight(&mut self) -> Option<Flight> {
        if self.is_empty() {
            return None;
        }
        let mask = self.slots.len() - 1;
        let flight = core::mem::take(&mut self.slots[self.head as usize & mask]);
        self.head += 1;
        Some(flight)
    }

    /// Puts one behind the others that another ring had.
    #[inline]
    pub fn push_flight(&mut self, flight: Flight) {
        if self.len() == self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        self.slots[self.tail as usize & mask] = flight;
        self.tail += 1;
    }

    /// Puts those of another ring, which end where this one begins, in front.
    pub fn put_in_front(&mut self, other: &mut FlightRing) {
        while self.slots.len() < self.len() + other.len() {
            self.grow();
        }
        while !other.is_empty() {
            other.tail -= 1;
            self.head -= 1;
            let (from, mask) = (other.tail as usize & (other.slots.len() - 1), self.slots.len() - 1);
            self.slots[self.head as usize & mask] = core::mem::take(&mut other.slots[from]);
        }
    }

    /// Takes the first frame out, and tells when the one behind it arrives; the largest time if there is none. In a
    /// large network (`FAR`) what is needed soon is fetched ahead.
    #[inline(always)]
    pub fn pop_next<const FAR: bool>(&mut self) -> Option<(Frame, Time)> {
        if self.is_empty() {
            return None;
        }
        let head = self.head;
        let frame = self.slot_mut(head).frame.take()?;
        self.head += 1;
        let next = if self.is_empty() { Time::MAX } else { self.slot_mut(head + 1).arrival };
        if FAR {
            self.prefetch(1);
            prefetch(self.slot_mut(head + 1 + SLOTS_AHEAD));
        }
        Some((frame, next))
    }

    /// Takes the first frame out.
    #[inline]
    pub fn pop(&mut self) -> Option<Frame> {
        self.pop_next::<false>().map(|(frame, _)| frame)
    }

    /// Puts a frame back that was taken out by the last [`FlightRing::pop`], with nothing pushed since.
    pub fn put_back(&mut self, frame: Frame) {
        self.head -= 1;
        let mask = self.slots.len() - 1;
        self.slots[self.head as usize & mask].frame = Some(frame);
    }

    /// Takes the last frame out, and returns it with its start.
    pub fn pop_back(&mut self) -> Option<(Time, Frame)> {
        if self.is_empty() {
            return None;
        }
        self.tail -= 1;
        let mask = self.slots.len() - 1;
        let flight = core::mem::take(&mut self.slots[self.tail as usize & mask]);
        Some((flight.start, flight.frame?))
    }

    #[cold]
    fn grow(&mut self) {
        let mut slots: Vec<Flight> = Vec::new();
        slots.resize_with((self.slots.len() * 2).max(8), Flight::default);
        let mask = slots.len() - 1;
        for number in self.head..self.tail {
            let old = number as usize & (self.slots.len() - 1);
            slots[number as usize & mask] = core::mem::take(&mut self.slots[old]);
        }
        self.slots = slots;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_out_in_order_across_growth() {
        let mut ring = FlightRing::default();
        let (mut sent, mut got) = (0u64, 0u64);
        for round in 0..20 {
            for _ in 0..round {
                ring.push::<true>(
                    Frame::from_bytes(&sent.to_be_bytes()),
                    Time(sent),
                    Time(sent + 1),
                    64 * sent,
                );
                sent += 1;
            }
            for _ in 0..round / 2 {
                assert_eq!(ring.next_arrival(), Some(Time(got + 1)));
                let frame = ring.pop().expect("not empty");
                assert_eq!(frame.header(), &got.to_be_bytes());
                got += 1;
            }
        }
        assert_eq!(ring.len() as u64, sent - got);
        assert_eq!(ring.frames().count(), ring.len());
        let (start, frame) = ring.pop_back().expect("not empty");
        assert_eq!((start, frame.wire_len()), (Time(sent - 1), 64));
        assert_eq!((ring.head(), ring.tail()), (got, sent - 1));
    }
}
