//! The queues in front of a control processor: one message is handled at a time, a bounded number waits.
//!
//! Routers punt what is addressed to them and what carries the Router Alert option through separate queues; the
//! processor serves the former first.

use base::queue::take_first;
use base::{Span, Time};
use std::collections::VecDeque;

/// Items that wait in either queue at most where no limit is set: memory is always bounded.
const WAITING_MAX: usize = 1 << 18;

/// Which queue an item waits in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// Packets that are addressed to this router.
    Local,
    /// Taken out of the stream because of the Router Alert option.
    Alert,
}

/// A server with two queues. The time that an item takes is asked for when its turn comes, since it may depend on what
/// the items before it did.
#[derive(Debug)]
pub struct Processor<T> {
    waiting: [VecDeque<T>; 2],
    serving: Option<(Time, T)>,
    limits: [usize; 2],
    peak: usize,
    busy: Span,
}

impl<T> Processor<T> {
    /// A processor before which at most so many items wait in either queue.
    pub fn new(local: Option<u32>, alert: Option<u32>) -> Processor<T> {
        let limits = [local, alert].map(|limit| limit.map_or(WAITING_MAX, |n| n as usize));
        let waiting = [VecDeque::new(), VecDeque::new()];
        Processor { waiting, serving: None, limits, peak: 0, busy: Span::ZERO }
    }

    /// Puts an item in a queue, or gives it back if the queue is full.
    pub fn offer(&mut self, queue: Queue, item: T) -> Result<(), T> {
        let waiting = &mut self.waiting[queue as usize];
        if waiting.len() >= self.limits[queue as usize] {
            return Err(item);
        }
        waiting.push_back(item);
        self.peak = self.peak.max(self.waiting());
        Ok(())
    }

    /// Would a queue take one more item?
    pub fn has_room(&self, queue: Queue) -> bool {
        self.waiting[queue as usize].len() < self.limits[queue as usize]
    }

    /// Works up to `now`: the item that is done. The next one is taken in hand if the processor is idle; `cost` says
    /// how long it will take.
    #[inline]
    pub fn serve(&mut self, now: Time, cost: impl FnOnce(&T) -> Span) -> Option<T> {
        if let Some((done, _)) = &self.serving {
            return if *done <= now { self.serving.take().map(|(_, item)| item) } else { None };
        }
        let item = self.waiting.iter_mut().find_map(take_first)?;
        let span = cost(&item);
        if span <= Span::ZERO {
            // Most devices have no profile: what takes no time is not set aside.
            return Some(item);
        }
        self.busy += span;
        self.serving = Some((now + span, item));
        None
    }

    /// When the item in hand is done.
    pub fn next(&self) -> Option<Time> {
        self.serving.as_ref().map(|(done, _)| *done)
    }

    /// Items waiting, without the one in hand.
    pub fn waiting(&self) -> usize {
        self.waiting.iter().map(VecDeque::len).sum()
    }

    /// The most items that ever waited, in both queues together.
    pub fn peak(&self) -> usize {
        self.peak
    }

    /// Time spent on items so far, the one in hand included.
    pub fn busy(&self) -> Span {
        self.busy
    }

    /// Drops what waits and the item in hand: the device restarts.
    pub fn clear(&mut self) {
        self.waiting.iter_mut().for_each(VecDeque::clear);
        self.serving = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_and_bounded_queues() {
        let mut p = Processor::new(None, Some(2));
        assert!(p.offer(Queue::Alert, 'a').is_ok());
        assert_eq!(p.serve(Time(10), |_| Span(5)), None);
        assert!(p.offer(Queue::Alert, 'b').is_ok() && p.offer(Queue::Alert, 'c').is_ok());
        assert_eq!(p.offer(Queue::Alert, 'd'), Err('d'));
        assert!(p.offer(Queue::Local, 'l').is_ok());
        assert_eq!((p.next(), p.serve(Time(14), |_| Span(1))), (Some(Time(15)), None));
        assert_eq!(p.serve(Time(15), |_| Span(1)), Some('a'));
        assert_eq!(p.serve(Time(15), |_| Span(7)), None);
        assert_eq!((p.next(), p.waiting(), p.peak()), (Some(Time(22)), 2, 3));
        assert_eq!(p.serve(Time(22), |_| Span(1)), Some('l'));
        assert_eq!((p.serve(Time(22), |_| Span::ZERO), p.next()), (Some('b'), None));
        assert_eq!(p.busy(), Span(12));
    }
}
