//! The two priority queues of the virtual clock.
//!
//! [`LaneHeap`] holds the head of every lane that has frames under way; only its top changes often, so that it keeps
//! no index of positions. [`TimerHeap`] holds one timer for each number (of a device, or of a lane) and finds any of
//! them.

use base::Time;

/// Orders lanes by the arrival of their first frame, then by receiving port.
///
/// A heap with four children a node, padded with keys that are never reached, so that four children are always there.
#[derive(Debug)]
pub struct LaneHeap {
    keys: Vec<u128>,
    len: usize,
}

const PAD: usize = 4;

/// The key of a lane: time, then receiving port. The receiving port of lane `g` is `g ^ 1`.
#[inline]
fn lane_key(time: Time, lane: u32) -> u128 {
    u128::from(time.0) << 64 | u128::from(lane ^ 1)
}

impl Default for LaneHeap {
    fn default() -> Self {
        LaneHeap { keys: vec![u128::MAX; PAD + 1], len: 0 }
    }
}

impl LaneHeap {
    /// The next arrival and its lane; `Time::MAX` if there is none.
    #[inline]
    pub fn peek(&self) -> (Time, u32) {
        let key = self.keys[0];
        (Time((key >> 64) as u64), key as u32 ^ 1)
    }

    /// Is no lane in it?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Puts a lane in that is not there.
    #[inline]
    pub fn push(&mut self, time: Time, lane: u32) {
        let key = lane_key(time, lane);
        let mut hole = self.len;
        self.len += 1;
        if self.keys.len() < self.len + PAD {
            self.keys.resize(2 * self.len + PAD, u128::MAX);
        }
        while hole > 0 {
            let parent = (hole - 1) / 4;
            if self.keys[parent] <= key {
                break;
            }
            self.keys[hole] = self.keys[parent];
            hole = parent;
        }
        self.keys[hole] = key;
    }

    /// Replaces the top by a lane that is not elsewhere in the heap.
    #[inline]
    pub fn replace_top(&mut self, time: Time, lane: u32) {
        self.sift_down(0, lane_key(time, lane));
    }

    /// Takes the top out.
    #[inline]
    pub fn pop(&mut self) {
        if self.len > 0 {
            self.remove_at(0);
        }
    }

    /// Takes a lane out wherever it is: by search, as this happens when a link goes down and hardly otherwise.
    pub fn remove(&mut self, lane: u32) {
        if let Some(at) = self.keys[..self.len].iter().position(|&k| k as u32 == lane ^ 1) {
            self.remove_at(at);
        }
    }

    /// Takes all lanes out.
    pub fn clear(&mut self) {
        *self = LaneHeap::default();
    }

    fn remove_at(&mut self, at: usize) {
        self.len -= 1;
        let last = core::mem::replace(&mut self.keys[self.len], u128::MAX);
        if at == self.len {
            return;
        }
        // The last key may belong above or below the hole.
        let mut hole = at;
        while hole > 0 && self.keys[(hole - 1) / 4] > last {
            self.keys[hole] = self.keys[(hole - 1) / 4];
            hole = (hole - 1) / 4;
        }
        self.sift_down(hole, last);
    }

    #[inline]
    fn sift_down(&mut self, mut hole: usize, key: u128) {
        loop {
            let first = 4 * hole + 1;
            if first >= self.len {
                break;
            }
            let c: &[u128; 4] = match self.keys[first..].first_chunk() {
                Some(c) => c,
                None => break,
            };
            let (i, x) = if c[1] < c[0] { (1, c[1]) } else { (0, c[0]) };
            let (j, y) = if c[3] < c[2] { (3, c[3]) } else { (2, c[2]) };
            let (child, least) = if y < x { (j, y) } else { (i, x) };
            if key <= least {
                break;
            }
            self.keys[hole] = least;
            hole = first + child;
        }
        self.keys[hole] = key;
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
        fn lanes_come_in_order(steps in proptest::collection::vec((0u8..4, 0u32..40, 0u64..50), 1..300)) {
            let mut heap = LaneHeap::default();
            let mut model: BTreeMap<u32, u64> = BTreeMap::new();
            for (what, lane, time) in steps {
                let top = model.iter().map(|(&l, &t)| (t, l ^ 1)).min();
                let there = model.contains_key(&lane);
                match (what, top) {
                    (0, _) if !there => { heap.push(Time(time), lane); model.insert(lane, time); }
                    (1, Some((_, port))) if !there || lane == port ^ 1 => {
                        heap.replace_top(Time(time), lane);
                        model.remove(&(port ^ 1));
                        model.insert(lane, time);
                    }
                    (2, Some((_, port))) => { heap.pop(); model.remove(&(port ^ 1)); }
                    (3, _) => { heap.remove(lane); model.remove(&lane); }
                    _ => {}
                }
                let top = model.iter().map(|(&l, &t)| (t, l ^ 1)).min();
                prop_assert_eq!(heap.is_empty(), top.is_none());
                if let Some((t, port)) = top {
                    prop_assert_eq!(heap.peek(), (Time(t), port ^ 1));
                } else {
                    prop_assert_eq!(heap.peek().0, Time::MAX);
                }
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
