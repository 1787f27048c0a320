//! Memory for the bodies of received frames, used again once nobody holds it.
//!
//! The pool keeps a reference to every slab that it has given away. A slab whose other references are gone is unique
//! again, and may be written: the frame's own reference count is all that says so.

use std::collections::VecDeque;
use std::sync::Arc;

/// How many of those given away are looked at for each that is taken.
const LOOK_AT: usize = 4;
/// Slabs that wait to be used again, at most.
const SPARE: usize = 64;

/// Slabs of one length.
#[derive(Debug)]
pub struct Pool {
    len: usize,
    /// Given away, the longest ago first.
    given: VecDeque<Arc<[u8]>>,
    /// Come back, the last one last: it is used first, since the processor may still have it at hand.
    spare: VecDeque<Arc<[u8]>>,
    /// How many are kept in sight. More than that are left to themselves.
    most: usize,
}

impl Pool {
    /// A pool of slabs of `len` bytes that keeps sight of `most` of them.
    pub fn new(len: usize, most: usize) -> Pool {
        Pool { len, given: VecDeque::new(), spare: VecDeque::new(), most }
    }

    /// A slab with `fill` applied to its bytes, which hold whatever they held before.
    pub fn filled<T>(&mut self, fill: impl FnOnce(&mut [u8]) -> T) -> (Arc<[u8]>, T) {
        let mut slab = self.take();
        // A slab that comes from `take` is unique.
        let result = fill(Arc::get_mut(&mut slab).unwrap_or(&mut []));
        if self.given.len() == self.most {
            self.given.pop_front();
        }
        self.given.push_back(slab.clone());
        (slab, result)
    }

    fn take(&mut self) -> Arc<[u8]> {
        for _ in 0..LOOK_AT.min(self.given.len()) {
            let Some(mut slab) = self.given.pop_front() else { break };
            if Arc::get_mut(&mut slab).is_some() {
                self.spare.push_back(slab);
            } else {
                self.given.push_back(slab);
            }
        }
        if self.spare.len() > SPARE {
            self.spare.pop_front();
        }
        // SAFETY: zeros are bytes. A large slab comes from fresh pages, which cost nothing until they are written.
        self.spare.pop_back().unwrap_or_else(|| unsafe { Arc::new_zeroed_slice(self.len).assume_init() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slab_comes_back_when_nobody_holds_it() {
        let mut pool = Pool::new(16, 8);
        let (first, ()) = pool.filled(|bytes| bytes.fill(1));
        let (second, ()) = pool.filled(|bytes| bytes.fill(2));
        assert_eq!((first[0], second[0]), (1, 2));
        let at = first.as_ptr();
        drop(first);
        let (third, held) = pool.filled(|bytes| bytes[0]);
        assert_eq!((third.as_ptr(), held, second[0]), (at, 1, 2));
    }

    #[test]
    fn more_than_it_sees_are_left_to_themselves() {
        let mut pool = Pool::new(16, 2);
        let held: Vec<_> = (0..5).map(|i| pool.filled(|bytes| bytes.fill(i)).0).collect();
        assert!(held.iter().zip(0..).all(|(slab, i)| slab[..] == [i; 16]));
        assert_eq!(pool.given.len(), 2);
    }
}
