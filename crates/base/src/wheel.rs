//! A hierarchical timing wheel: scheduling, cancelling and expiring cost the same with ten timers or a million.
//!
//! Seven levels of 64 slots; a slot of the lowest level spans 2^20 ps (about a microsecond). The timers of the slot
//! that time has reached wait in a small heap, so that they expire in exact order: by time, then by order of
//! scheduling.

use crate::pages::Pages;
use crate::time::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const TICK_BITS: u32 = 20;
const SLOT_BITS: u32 = 6;
const SLOTS: usize = 1 << SLOT_BITS;
const LEVELS: usize = 8;
const NIL: u32 = u32::MAX;

/// Names a scheduled timer until it expires or is cancelled; stale names are harmless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimerId {
    index: u32,
    generation: u32,
}

#[derive(Clone, Debug)]
struct Entry<T> {
    at: Time,
    order: u64,
    prev: u32,
    next: u32,
    /// Level and slot that hold the entry; `level == LEVELS` means the heap, `LEVELS + 1` free.
    level: u8,
    slot: u8,
    generation: u32,
    payload: Option<T>,
}

/// Timers with a payload each.
#[derive(Clone, Debug)]
pub struct Wheel<T> {
    entries: Pages<Entry<T>>,
    free: Vec<u32>,
    heads: [[u32; SLOTS]; LEVELS],
    occupied: [u64; LEVELS],
    /// The tick that the wheel has been turned to.
    tick: u64,
    due: BinaryHeap<Reverse<(Time, u64, u32, u32)>>,
    order: u64,
    len: usize,
}

impl<T> Default for Wheel<T> {
    fn default() -> Self {
        Wheel::new()
    }
}

impl<T> Wheel<T> {
    /// A wheel without timers, at the start of time.
    pub fn new() -> Wheel<T> {
        Wheel {
            entries: Pages::new(),
            free: Vec::new(),
            heads: [[NIL; SLOTS]; LEVELS],
            occupied: [0; LEVELS],
            tick: 0,
            due: BinaryHeap::new(),
            order: 0,
            len: 0,
        }
    }

    /// How many timers are scheduled.
    pub fn len(&self) -> usize {
        self.len
    }
    /// Is no timer set?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Schedules `payload` for `at`. A time that has passed expires at once.
    pub fn schedule(&mut self, at: Time, payload: T) -> TimerId {
        let order = self.order;
        self.order += 1;
        let index = match self.free.pop() {
            Some(index) => index,
            None => {
                let payload = None;
                let entry =
                    Entry { at, order, prev: NIL, next: NIL, level: 0, slot: 0, generation: 0, payload };
                self.entries.push(entry) as u32
            }
        };
        let entry = &mut self.entries[index as usize];
        entry.at = at;
        entry.order = order;
        entry.payload = Some(payload);
        let generation = entry.generation;
        self.len += 1;
        self.place(index);
        TimerId { index, generation }
    }

    /// Cancels a timer and returns its payload, or nothing if it is not scheduled any more.
    pub fn cancel(&mut self, id: TimerId) -> Option<T> {
        let entry = self.entries.get(id.index as usize)?;
        if entry.generation != id.generation || entry.payload.is_none() {
            return None;
        }
        if usize::from(entry.level) < LEVELS {
            self.unlink(id.index);
        }
        self.release(id.index)
    }

    /// The payload of a timer that is still scheduled.
    pub fn get(&self, id: TimerId) -> Option<&T> {
        let entry = self.entries.get(id.index as usize)?;
        if entry.generation == id.generation { entry.payload.as_ref() } else { None }
    }

    /// A time at which to call [`Wheel::pop`]: never later than the earliest timer, sometimes earlier (the start of
    /// its slot).
    pub fn next(&self) -> Option<Time> {
        if self.len == 0 {
            return None;
        }
        match self.due.peek() {
            Some(Reverse((at, ..))) => Some(*at),
            None => self.first_slot().map(|(level, slot)| Time(self.slot_start(level, slot) << TICK_BITS)),
        }
    }

    /// The next timer that is due at `now`, or nothing. Call until it returns nothing.
    pub fn pop(&mut self, now: Time) -> Option<(Time, T)> {
        loop {
            while let Some(&Reverse((at, _, index, generation))) = self.due.peek() {
                let entry = &self.entries[index as usize];
                if entry.generation != generation || entry.payload.is_none() {
                    self.due.pop(); // cancelled
                    continue;
                }
                if at > now {
                    return None;
                }
                // Whatever is in a slot is later: the heap holds all up to the tick that the wheel stands at.
                self.due.pop();
                return self.release(index).map(|payload| (at, payload));
            }
            let (level, slot) = self.first_slot()?;
            let start = self.slot_start(level, slot);
            if start > now.0 >> TICK_BITS {
                return None;
            }
            self.tick = self.tick.max(start);
            self.empty_slot(level, slot);
        }
    }

    /// The lowest-level, earliest slot in use. All slots of a level lie before the next slot of the level above.
    fn first_slot(&self) -> Option<(usize, usize)> {
        for level in 0..LEVELS {
            if self.occupied[level] != 0 {
                let current = (self.tick >> (SLOT_BITS * level as u32)) as usize & (SLOTS - 1);
                let turned = self.occupied[level].rotate_right(current as u32);
                return Some((level, (turned.trailing_zeros() as usize + current) & (SLOTS - 1)));
            }
        }
        None
    }

    /// The first tick of a slot, given the tick that the wheel stands at.
    fn slot_start(&self, level: usize, slot: usize) -> u64 {
        let shift = SLOT_BITS * level as u32;
        let current = self.tick >> shift;
        let ahead = (slot as u64).wrapping_sub(current) & (SLOTS as u64 - 1);
        (current + ahead) << shift
    }

    #[inline]
    fn place(&mut self, index: u32) {
        let at = self.entries[index as usize].at;
        let tick = at.0 >> TICK_BITS;
        if tick <= self.tick {
            let entry = &mut self.entries[index as usize];
            entry.level = LEVELS as u8;
            let key = (entry.at, entry.order, index, entry.generation);
            self.due.push(Reverse(key));
            return;
        }
        let differing = 63 - (tick ^ self.tick).leading_zeros();
        let level = (differing / SLOT_BITS) as usize;
        let slot = (tick >> (SLOT_BITS * level as u32)) as usize & (SLOTS - 1);
        let head = self.heads[level][slot];
        let entry = &mut self.entries[index as usize];
        entry.level = level as u8;
        entry.slot = slot as u8;
        entry.prev = NIL;
        entry.next = head;
        if head != NIL {
            self.entries[head as usize].prev = index;
        }
        self.heads[level][slot] = index;
        self.occupied[level] |= 1 << slot;
    }

    fn unlink(&mut self, index: u32) {
        let (prev, next, level, slot) = {
            let e = &self.entries[index as usize];
            (e.prev, e.next, usize::from(e.level), usize::from(e.slot))
        };
        if prev == NIL {
            self.heads[level][slot] = next;
            if next == NIL {
                self.occupied[level] &= !(1 << slot);
            }
        } else {
            self.entries[prev as usize].next = next;
        }
        if next != NIL {
            self.entries[next as usize].prev = prev;
        }
    }

    fn empty_slot(&mut self, level: usize, slot: usize) {
        let mut index = self.heads[level][slot];
        self.heads[level][slot] = NIL;
        self.occupied[level] &= !(1 << slot);
        while index != NIL {
            let next = self.entries[index as usize].next;
            self.place(index);
            index = next;
        }
    }

    fn release(&mut self, index: u32) -> Option<T> {
        let entry = &mut self.entries[index as usize];
        entry.generation = entry.generation.wrapping_add(1);
        entry.level = LEVELS as u8 + 1;
        let payload = entry.payload.take();
        self.free.push(index);
        self.len -= 1;
        payload
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cancelled_timers_do_not_expire() {
        let mut wheel = Wheel::new();
        let a = wheel.schedule(Time(5), 'a');
        let b = wheel.schedule(Time(1 << 50), 'b');
        assert_eq!(wheel.cancel(a), Some('a'));
        assert_eq!(wheel.cancel(a), None);
        assert_eq!(wheel.pop(Time(1 << 50)), Some((Time(1 << 50), 'b')));
        assert_eq!(wheel.cancel(b), None);
        assert_eq!((wheel.next(), wheel.is_empty()), (None, true));
    }

    #[derive(Clone, Debug)]
    enum Step {
        Schedule(u64),
        Cancel(usize),
        Advance(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        let span = prop_oneof![0u64..1_000, 0u64..10_000_000, 0u64..1 << 40, 0u64..1 << 58];
        prop_oneof![
            4 => span.clone().prop_map(Step::Schedule),
            1 => (0usize..64).prop_map(Step::Cancel),
            2 => span.prop_map(Step::Advance),
        ]
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        /// Against the obvious implementation: a sorted list.
        #[test]
        fn expires_like_a_sorted_list(steps in proptest::collection::vec(step(), 1..200)) {
            let mut wheel = Wheel::new();
            let mut list: Vec<(Time, usize)> = Vec::new();
            let mut ids = Vec::new();
            let mut now = Time(0);
            for step in steps {
                match step {
                    Step::Schedule(after) => {
                        let at = Time(now.0 + after);
                        list.push((at, ids.len()));
                        ids.push(wheel.schedule(at, ids.len()));
                    }
                    Step::Cancel(n) if n < ids.len() => {
                        let known = list.iter().position(|e| e.1 == n);
                        prop_assert_eq!(wheel.cancel(ids[n]), known.map(|_| n));
                        if let Some(place) = known { list.remove(place); }
                    }
                    Step::Cancel(_) => {}
                    Step::Advance(by) => {
                        now = Time(now.0 + by);
                        list.sort();
                        let split = list.partition_point(|e| e.0 <= now);
                        let expected: Vec<_> = list.drain(..split).collect();
                        let mut got = Vec::new();
                        while let Some(e) = wheel.pop(now) { got.push(e); }
                        prop_assert_eq!(got, expected);
                    }
                }
                prop_assert_eq!(wheel.len(), list.len());
                if let Some(first) = list.iter().map(|e| e.0).min() {
                    prop_assert!(wheel.next().is_some_and(|t| t <= first));
                }
            }
        }

        /// Following `next` reaches every timer at its time, in a bounded number of steps.
        #[test]
        fn next_leads_to_every_timer(mut times in proptest::collection::vec(0u64..1 << 50, 1..50)) {
            let mut wheel = Wheel::new();
            for &t in &times { wheel.schedule(Time(t), ()); }
            times.sort();
            let (mut got, mut steps) = (Vec::new(), 0);
            while let Some(t) = wheel.next() {
                steps += 1;
                prop_assert!(steps <= times.len() * (LEVELS + 2));
                while let Some((at, ())) = wheel.pop(t) {
                    prop_assert_eq!(at, t);
                    got.push(at.0);
                }
            }
            prop_assert_eq!(got, times);
        }
    }
}
