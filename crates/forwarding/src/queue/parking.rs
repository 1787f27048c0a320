//! Classes that have packets but are held back by their own queue, by the time at which they may be asked again.

use base::Time;
use core::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// Classes that are held back.
///
/// A class whose queue has packets and gives none (a token bucket below a priority, say) is parked until the time that its queue has told.
/// Nothing but time or a new packet changes its mind, so that nobody has to ask it meanwhile.
#[derive(Debug)]
pub struct Parking {
    slots: Vec<Slot>,
    heap: BinaryHeap<Reverse<(Time, u32)>>,
}

/// What is known of a class.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Until when it is parked; [`Time::MAX`] if it is not, or for ever.
    until: Time,
    /// The time under which it lies in the heap, or [`Time::MAX`].
    filed: Time,
}

const FREE: Slot = Slot { until: Time::MAX, filed: Time::MAX };

impl Parking {
    /// For as many classes.
    pub fn new(classes: usize) -> Parking {
        Parking { slots: vec![FREE; classes], heap: BinaryHeap::with_capacity(classes) }
    }

    /// The class is held back until `until`; if that is [`Time::MAX`], until it is released.
    #[inline]
    pub fn park(&mut self, class: u32, until: Time) {
        let slot = &mut self.slots[class as usize];
        slot.until = until;
        // If it lies there under an earlier time it is filed anew when that has come.
        if until < slot.filed {
            slot.filed = until;
            self.heap.push(Reverse((until, class)));
        }
    }

    /// The class is not parked any more: something has changed.
    #[inline]
    pub fn release(&mut self, class: u32) {
        self.slots[class as usize].until = Time::MAX;
    }

    /// A class whose time has come; it is not parked any more. Ask until there is none.
    #[inline]
    pub fn due(&mut self, now: Time) -> Option<u32> {
        // Nothing lies there under a time later than that until which it is parked.
        if self.heap.peek()?.0.0 > now {
            return None;
        }
        let at = self.next()?;
        if at > now {
            return None;
        }
        let Reverse((_, class)) = self.heap.pop()?;
        self.slots[class as usize] = FREE;
        Some(class)
    }

    /// When the first of them may be asked again.
    #[inline]
    pub fn next(&mut self) -> Option<Time> {
        while let Some(mut head) = self.heap.peek_mut() {
            let Reverse((at, class)) = *head;
            let slot = &mut self.slots[class as usize];
            if slot.filed != at {
                // It was filed anew under an earlier time.
                PeekMut::pop(head);
            } else if slot.until == at {
                return Some(at);
            } else {
                slot.filed = slot.until;
                match slot.until {
                    Time::MAX => {
                        PeekMut::pop(head);
                    }
                    until => *head = Reverse((until, class)),
                }
            }
        }
        None
    }

    /// Nobody is parked.
    pub fn clear(&mut self) {
        self.heap.clear();
        self.slots.fill(FREE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_come_back_when_their_time_has_come() {
        let mut parking = Parking::new(3);
        parking.park(0, Time(30));
        parking.park(1, Time(10));
        parking.park(2, Time::MAX);
        assert_eq!((parking.next(), parking.due(Time(9))), (Some(Time(10)), None));
        parking.release(1);
        assert_eq!(parking.next(), Some(Time(30)));
        parking.park(0, Time(20));
        parking.park(1, Time(20));
        assert_eq!(
            [parking.due(Time(25)), parking.due(Time(25)), parking.due(Time(25))],
            [Some(0), Some(1), None]
        );
        assert_eq!(parking.due(Time(99)), None);
    }

    #[test]
    fn parking_for_longer_moves_a_class_back() {
        let mut parking = Parking::new(1);
        parking.park(0, Time(5));
        parking.park(0, Time(50));
        assert_eq!((parking.due(Time(7)), parking.next()), (None, Some(Time(50))));
        for _ in 0..1000 {
            parking.release(0);
            parking.park(0, Time(50));
        }
        assert_eq!((parking.heap.len(), parking.due(Time(50))), (1, Some(0)));
    }
}
