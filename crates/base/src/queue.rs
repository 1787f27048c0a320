//! Queues that are emptied again and again, such as what a protocol has to send: they keep little memory, and use the
//! same memory each time.

use std::collections::VecDeque;

/// So many bytes an empty queue keeps at most.
const KEPT: usize = 1024;

/// Takes the first element out of a queue. Once it is empty, it begins again where its memory begins, which is at hand
/// in the processor's caches then: else it would walk through all of it in a circle. What a burst has taken of memory
/// is given back.
#[inline]
pub fn take_first<T>(queue: &mut VecDeque<T>) -> Option<T> {
    let first = queue.pop_front()?;
    if queue.is_empty() {
        rewind(queue);
    }
    Some(first)
}

fn rewind<T>(queue: &mut VecDeque<T>) {
    if queue.capacity() * size_of::<T>() > KEPT {
        *queue = VecDeque::new();
    } else {
        queue.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_come_in_their_order_and_a_burst_keeps_no_memory() {
        let mut queue: VecDeque<u64> = (0..10_000).collect();
        assert!((0..10_000).all(|number| take_first(&mut queue) == Some(number)));
        assert_eq!((take_first(&mut queue), queue.capacity()), (None, 0));
    }

    #[test]
    fn what_is_emptied_begins_in_the_same_memory() {
        let mut queue: VecDeque<u64> = VecDeque::with_capacity(16);
        queue.push_back(0);
        let place: *const u64 = &queue[0];
        for number in 0..100 {
            assert_eq!(take_first(&mut queue), Some(number));
            queue.push_back(number + 1);
            assert!(core::ptr::eq(place, &queue[0]));
        }
        assert_eq!(queue.capacity(), 16);
    }
}
