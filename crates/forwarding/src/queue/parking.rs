//! Classes that have packets but are held back by their own queue, by the time at which they may be asked again.

use base::Time;
use core::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// Classes that are held back.
///
/// A class whose queue has packets and gives none (a token bucket below a priority, say) is parked until the time
/// that its queue has told. Nothing but time or a new packet changes its mind, so that nobody has to ask it
/// meanwhile.
#[derive(Debug)]
pub struct Parking {
    slots: Vec<Slot>,
    /// Empty if there are but few classes.
    heap: BinaryHeap<Reverse<(Time, u32)>>,
    /// Nobody's time comes before this.
    soonest: Time,
}

/// As many classes are looked at one after another sooner than kept in order.
const FEW: usize = 16;

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
    /// Parks nobody yet; there is room for `classes` classes.
    pub fn new(classes: usize) -> Parking {
        Parking { slots: vec![FREE; classes], heap: BinaryHeap::with_capacity(classes), soonest: Time::MAX }
    }

    #[inline]
    fn are_few(&self) -> bool {
        self.slots.len() <= FEW
    }

    /// Of few: the one whose time comes first, when, and when that of the next one comes.
    #[inline]
    fn first_of_few(&self) -> (Time, u32, Time) {
        let (mut first, mut class, mut second) = (Time::MAX, 0, Time::MAX);
        for (slot, at) in self.slots.iter().zip(0..) {
            if slot.until < first {
                (first, class, second) = (slot.until, at, first);
            } else {
                second = second.min(slot.until);
            }
        }
        (first, class, second)
    }

    /// The class is held back until `until`; if that is [`Time::MAX`], until it is released.
    #[inline]
    pub fn park(&mut self, class: u32, until: Time) {
        self.soonest = self.soonest.min(until);
        let few = self.are_few();
        let slot = &mut self.slots[class as usize];
        slot.until = until;
        if few {
            return;
        }
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
        if self.soonest > now { None } else { self.due_after_all(now) }
    }

    /// The same when it may be that a time has come.
    fn due_after_all(&mut self, now: Time) -> Option<u32> {
        if self.are_few() {
            let (first, class, second) = self.first_of_few();
            let due = first <= now && first != Time::MAX;
            self.soonest = if due { second } else { first };
            return due.then(|| {
                self.slots[class as usize] = FREE;
                class
            });
        }
        if self.next()? > now {
            return None;
        }
        let class = self.heap.pop()?.0.1;
        self.slots[class as usize] = FREE;
        Some(class)
    }

    /// When the first of them may be asked again.
    pub fn next(&mut self) -> Option<Time> {
        self.soonest = if self.are_few() { self.first_of_few().0 } else { self.first_filed() };
        (self.soonest != Time::MAX).then_some(self.soonest)
    }

    /// The same from the heap, after what lies there under a time that is too early was filed anew.
    fn first_filed(&mut self) -> Time {
        while let Some(mut head) = self.heap.peek_mut() {
            let Reverse((at, class)) = *head;
            let slot = &mut self.slots[class as usize];
            if slot.filed != at {
                // It was filed anew under an earlier time.
                PeekMut::pop(head);
            } else if slot.until == at {
                return at;
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
        Time::MAX
    }

    /// Forgets all parked classes.
    pub fn clear(&mut self) {
        self.heap.clear();
        self.soonest = Time::MAX;
        self.slots.fill(FREE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Few classes, and more than can be looked at one after another.
    const SIZES: [usize; 2] = [3, FEW + 1];

    #[test]
    fn classes_come_back_when_their_time_has_come() {
        for size in SIZES {
            let mut parking = Parking::new(size);
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
    }

    #[test]
    fn parking_for_longer_moves_a_class_back() {
        for size in SIZES {
            let mut parking = Parking::new(size);
            parking.park(0, Time(5));
            parking.park(0, Time(50));
            assert_eq!((parking.due(Time(7)), parking.next()), (None, Some(Time(50))));
            for _ in 0..1000 {
                parking.release(0);
                parking.park(0, Time(50));
            }
            assert!(parking.heap.len() <= 1);
            assert_eq!(parking.due(Time(50)), Some(0));
        }
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        /// However many classes there are.
        #[test]
        fn few_are_parked_as_many_are(steps in proptest::collection::vec((0u8..4, 0u32..5, 0u64..40), 1..200)) {
            let (mut few, mut many) = (Parking::new(5), Parking::new(FEW + 1));
            let mut now = 0;
            for (what, class, time) in steps {
                for parking in [&mut few, &mut many] {
                    match what {
                        0 => parking.release(class),
                        _ => parking.park(class, Time(if time == 0 { u64::MAX } else { now + time })),
                    }
                }
                now += time / 4;
                prop_assert_eq!(few.next(), many.next());
                if what == 3 {
                    loop {
                        let due = few.due(Time(now));
                        prop_assert_eq!(due, many.due(Time(now)));
                        if due.is_none() { break }
                    }
                }
            }
        }
    }
}
