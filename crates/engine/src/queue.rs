//! The two priority queues of the virtual clock.
//!
//! [`KeyHeap`] holds what each process ([`crate::virtual_time`]) has to do first. [`TimerHeap`] holds one timer for
//! each number and finds any of them; lanes with queue disciplines have theirs there.

use base::Time;

/// Where the key of a lane or of a device stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    /// The process that it belongs to.
    pub process: u32,
    /// Its leaf in the tournament.
    pub leaf: u32,
}

/// The first keys of all processes, in a heap with four children a node that knows where each process is. A key of
/// all ones is never reached.
#[derive(Debug, Default)]
pub struct KeyHeap {
    keys: Vec<u128>,
    /// Of which process each is: keys that are never reached do not say.
    who: Vec<u32>,
    at: Vec<u32>,
}

impl KeyHeap {
    /// As many processes, none of which has anything to do.
    pub fn new(count: usize) -> KeyHeap {
        let who: Vec<u32> = (0..count as u32).collect();
        KeyHeap { keys: vec![u128::MAX; count + 4], at: who.clone(), who }
    }

    /// The least key.
    #[inline(always)]
    pub fn first(&self) -> u128 {
        self.keys.first().copied().unwrap_or(u128::MAX)
    }

    /// Moves the key of a process, which is less than before, to where it belongs.
    #[inline]
    pub fn lower(&mut self, process: u32, key: u128) {
        let hole = self.rise(self.at[process as usize] as usize, key);
        self.fill(hole, process, key);
    }

    /// Gives the process with the least key another one.
    #[inline]
    pub fn replace_first(&mut self, key: u128) {
        if let Some(&process) = self.who.first() {
            let hole = self.sink(0, key);
            self.fill(hole, process, key);
        }
    }

    /// Gives a process another key.
    #[inline]
    pub fn set(&mut self, process: u32, key: u128) {
        let at = self.at[process as usize] as usize;
        if self.keys[at] == key {
            return;
        }
        let hole = self.rise(at, key);
        let hole = if hole == at { self.sink(at, key) } else { hole };
        self.fill(hole, process, key);
    }

    #[inline(always)]
    fn fill(&mut self, hole: usize, process: u32, key: u128) {
        self.keys[hole] = key;
        self.who[hole] = process;
        self.at[process as usize] = hole as u32;
    }

    #[inline(always)]
    fn shift(&mut self, from: usize, to: usize) {
        let who = self.who[from];
        self.keys[to] = self.keys[from];
        self.who[to] = who;
        self.at[who as usize] = to as u32;
    }

    /// Where a key belongs, that belongs at `hole` or above.
    #[inline(always)]
    fn rise(&mut self, mut hole: usize, key: u128) -> usize {
        while hole > 0 {
            let parent = (hole - 1) / 4;
            if self.keys[parent] <= key {
                break;
            }
            self.shift(parent, hole);
            hole = parent;
        }
        hole
    }

    /// Where a key belongs, that belongs at `hole` or below.
    #[inline(always)]
    fn sink(&mut self, mut hole: usize, key: u128) -> usize {
        loop {
            let first = 4 * hole + 1;
            if first >= self.who.len() {
                return hole;
            }
            let Some(c) = self.keys[first..].first_chunk::<4>() else { return hole };
            let (i, x) = if c[1] < c[0] { (1, c[1]) } else { (0, c[0]) };
            let (j, y) = if c[3] < c[2] { (3, c[3]) } else { (2, c[2]) };
            let (child, least) = if y < x { (j, y) } else { (i, x) };
            if key <= least {
                return hole;
            }
            self.shift(first + child, hole);
            hole = first + child;
        }
    }
}

const ABSENT: u32 = u32::MAX;

/// One timer for each number, ordered by time and then by number.
#[derive(Debug, Default)]
pub struct TimerHeap {
    heap: Vec<(Time, u32)>,
    position: Vec<u32>,
}

impl TimerHeap {
    /// The timer that is due first, and its number; of several at one time that with the lowest number.
    #[inline]
    pub fn peek(&self) -> Option<(Time, u32)> {
        self.heap.first().copied()
    }

    /// Sets the timer of a number, or takes it away.
    pub fn set(&mut self, number: u32, time: Option<Time>) {
        let index = number as usize;
        if self.position.len() <= index {
            self.position.resize(index + 1, ABSENT);
        }
        let at = self.position[index];
        match (time, at) {
            (None, ABSENT) => {}
            (None, at) => {
                self.position[index] = ABSENT;
                let moved = self.heap.len() - 1 != at as usize;
                self.heap.swap_remove(at as usize);
                if moved {
                    self.settle(at as usize);
                }
            }
            (Some(time), ABSENT) => {
                self.heap.push((time, number));
                self.settle(self.heap.len() - 1);
            }
            (Some(time), at) => {
                if self.heap[at as usize].0 != time {
                    self.heap[at as usize].0 = time;
                    self.settle(at as usize);
                }
            }
        }
    }

    /// Moves the entry at `at`, which may be out of order, to where it belongs.
    fn settle(&mut self, mut at: usize) {
        let entry = self.heap[at];
        while at > 0 && self.heap[(at - 1) / 2] > entry {
            self.put(at, self.heap[(at - 1) / 2]);
            at = (at - 1) / 2;
        }
        loop {
            let mut child = 2 * at + 1;
            if child >= self.heap.len() {
                break;
            }
            if child + 1 < self.heap.len() && self.heap[child + 1] < self.heap[child] {
                child += 1;
            }
            if entry <= self.heap[child] {
                break;
            }
            self.put(at, self.heap[child]);
            at = child;
        }
        self.put(at, entry);
    }

    fn put(&mut self, at: usize, entry: (Time, u32)) {
        self.heap[at] = entry;
        self.position[entry.1 as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #![proptest_config(testing::cases(256))]
        #[test]
        fn keys_come_in_order(
            count in 1usize..40,
            steps in proptest::collection::vec((0u8..3, 0usize..40, 0u64..50), 1..300),
        ) {
            let mut heap = KeyHeap::new(count);
            let mut model = vec![u128::MAX; count];
            for (what, process, time) in steps {
                let process = process % count;
                let place = |time: u64, process: usize| u128::from(time) << 64 | process as u128;
                match what {
                    0 => { model[process] = place(time, process); heap.set(process as u32, model[process]); }
                    1 if place(time, process) < model[process] => {
                        model[process] = place(time, process);
                        heap.lower(process as u32, model[process]);
                    }
                    2 if heap.first() != u128::MAX => {
                        let first = heap.first() as u64 as usize;
                        model[first] = if time < 10 { u128::MAX } else { place(time, first) };
                        heap.replace_first(model[first]);
                    }
                    _ => {}
                }
                prop_assert_eq!(Some(heap.first()), model.iter().min().copied());
            }
        }

        #[test]
        fn timers_come_in_order(steps in proptest::collection::vec((0u32..30, proptest::option::of(0u64..50)), 1..300)) {
            let mut heap = TimerHeap::default();
            let mut model: BTreeMap<u32, u64> = BTreeMap::new();
            for (node, time) in steps {
                heap.set(node, time.map(Time));
                match time { Some(t) => model.insert(node, t), None => model.remove(&node) };
                let first = model.iter().map(|(&n, &t)| (Time(t), n)).min();
                prop_assert_eq!(heap.peek(), first);
            }
        }
    }
}
