//! The two priority queues of the virtual clock.
//!
//! A [`tournament`] holds what each process ([`crate::virtual_time`]) has to do, and one more what all of them have to
//! do first. [`TimerHeap`] holds one timer for each number and finds any of them; lanes with queue disciplines have
//! theirs there.

use base::Time;

/// Where the key of a lane or of a device stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    /// The process that it belongs to.
    pub process: u32,
    /// Its leaf in the tournament.
    pub leaf: u32,
}

/// Tournaments of keys: complete binary trees in which each node is the lesser of the two below it. The root is at 1,
/// what is below `n` at `2 n` and `2 n + 1`; the leaves are the second half.
///
/// A walk from a leaf to the root is done for nearly every frame. It asks once whether the leaf is in the tree, and not
/// at each step again.
pub mod tournament {
    /// Is there a leaf at this place, and one beside it? Then so are all nodes between there and the root, and what is
    /// beside them: those of a node `n` are no greater than `n | 1`.
    #[inline(always)]
    fn check(tree: &[u64], leaf: usize) {
        assert!(leaf | 1 < tree.len(), "no leaf of the tournament");
    }

    /// The key at `leaf`, which was that at the root, is another one now. Returns that at the root.
    #[inline(always)]
    pub fn replace_first(tree: &mut [u64], leaf: usize, key: u64) -> u64 {
        check(tree, leaf);
        let (mut at, mut least) = (leaf, key);
        // SAFETY: `at` is between the leaf that was checked and the root.
        unsafe { *tree.get_unchecked_mut(at) = least };
        while at > 1 {
            // SAFETY: as above.
            unsafe {
                least = least.min(*tree.get_unchecked(at ^ 1));
                at >>= 1;
                *tree.get_unchecked_mut(at) = least;
            }
        }
        least
    }

    /// The key at `leaf` is this now if that is less than before.
    #[inline(always)]
    pub fn lower(tree: &mut [u64], leaf: usize, key: u64) {
        check(tree, leaf);
        let mut at = leaf;
        // SAFETY: `at` is between the leaf that was checked and the root.
        while at > 0 && key < unsafe { *tree.get_unchecked(at) } {
            // SAFETY: as above.
            unsafe { *tree.get_unchecked_mut(at) = key };
            at >>= 1;
        }
    }

    /// The key at `leaf` is this now. Returns that at the root.
    #[inline]
    pub fn set(tree: &mut [u64], leaf: usize, key: u64) -> u64 {
        let (mut at, mut least) = (leaf, key);
        tree[at] = least;
        while at > 1 {
            least = least.min(tree[at ^ 1]);
            at >>= 1;
            if tree[at] == least {
                break;
            }
            tree[at] = least;
        }
        tree[1]
    }

    /// What comes first but for what is at `leaf`.
    #[inline(always)]
    pub fn other(tree: &[u64], leaf: usize) -> u64 {
        check(tree, leaf);
        let (mut at, mut least) = (leaf, u64::MAX);
        while at > 1 {
            // SAFETY: `at` is between the leaf that was checked and the root.
            least = least.min(unsafe { *tree.get_unchecked(at ^ 1) });
            at >>= 1;
        }
        least
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
        fn the_least_key_is_at_the_root(
            half in (0u32..6).prop_map(|bits| 1usize << bits),
            steps in proptest::collection::vec((0u8..3, 0usize..32, 0u64..50), 1..300),
        ) {
            let mut tree = vec![u64::MAX; 2 * half];
            let mut model = vec![u64::MAX; half];
            for (what, which, time) in steps {
                let which = which % half;
                let of = |which: usize| time << 5 | which as u64;
                let first = (0..half).min_by_key(|&leaf| model[leaf]).unwrap_or(0);
                match what {
                    0 => { model[which] = of(which); tournament::set(&mut tree, half + which, of(which)); }
                    1 if of(which) < model[which] => {
                        model[which] = of(which);
                        tournament::lower(&mut tree, half + which, of(which));
                    }
                    2 => {
                        let key = if time < 10 { u64::MAX } else { of(first) };
                        let others = (0..half).filter(|&leaf| leaf != first).map(|leaf| model[leaf]);
                        let other = others.min().unwrap_or(u64::MAX);
                        prop_assert_eq!(tournament::other(&tree, half + first), other);
                        model[first] = key;
                        tournament::replace_first(&mut tree, half + first, key);
                    }
                    _ => {}
                }
                prop_assert_eq!(Some(tree[1]), model.iter().min().copied());
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
