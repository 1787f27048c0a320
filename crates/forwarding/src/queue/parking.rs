//! Classes that have packets but are held back by their own queue, by the time at which they may be asked again.

use base::Time;
use core::cmp::Reverse;
use std::collections::BinaryHeap;

/// Classes that are held back.
///
/// A class whose queue has packets and gives none (a token bucket below a priority, say) is parked until the time that its queue has told.
/// Nothing but time or a new packet changes its mind, so that nobody has to ask it meanwhile.
#[derive(Debug)]
pub struct Parking {
    /// Until when each class is parked.
    until: Vec<Option<Time>>,
    /// The time under which each class lies in the heap, or [`Time::MAX`].
    filed: Vec<Time>,
    heap: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Parking {
    /// For as many classes.
    pub fn new(classes: usize) -> Parking {
        let heap = BinaryHeap::with_capacity(classes);
        Parking { until: vec![None; classes], filed: vec![Time::MAX; classes], heap }
    }

    /// The class is held back until `until`; if that is [`Time::MAX`], until it is released.
    #[inline]
    pub fn park(&mut self, class: u32, until: Time) {
        self.until[class as usize] = Some(until);
        // If it lies there under an earlier time it is filed anew when that has come.
        if until < self.filed[class as usize] {
            self.file(class, until);
        }
    }

    fn file(&mut self, class: u32, at: Time) {
        self.filed[class as usize] = at;
        self.heap.push(Reverse((at, class)));
    }

    /// The class is not parked any more: something has changed.
    #[inline]
    pub fn release(&mut self, class: u32) {
        self.until[class as usize] = None;
    }

    /// A class whose time has come; it is not parked any more. Ask until there is none.
    #[inline]
    pub fn due(&mut self, now: Time) -> Option<u32> {
        let at = self.next()?;
        if at > now {
            return None;
        }
        let Reverse((_, class)) = self.heap.pop()?;
        self.filed[class as usize] = Time::MAX;
        self.until[class as usize] = None;
        Some(class)
    }

    /// When the first of them may be asked again.
    #[inline]
    pub fn next(&mut self) -> Option<Time> {
        while let Some(&Reverse((at, class))) = self.heap.peek() {
            let filed = self.filed[class as usize] == at;
            match self.until[class as usize] {
                Some(until) if filed && until == at => return Some(at),
                until => {
                    self.heap.pop();
                    if filed {
                        self.filed[class as usize] = Time::MAX;
                        if let Some(until) = until.filter(|until| *until < Time::MAX) {
                            self.file(class, until);
                        }
                    }
                }
            }
        }
        None
    }

    /// Nobody is parked.
    pub fn clear(&mut self) {
        self.heap.clear();
        self.until.fill(None);
        self.filed.fill(Time::MAX);
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
