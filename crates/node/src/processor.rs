//! The queue in front of a control processor: one message is handled at a time, a bounded number waits.

use base::{Span, Time};
use std::collections::VecDeque;

/// A server with a queue. The time that an item takes is asked for when its turn comes, since it may depend on what
/// the items before it did.
#[derive(Debug)]
pub struct Processor<T> {
    waiting: VecDeque<T>,
    serving: Option<(Time, T)>,
    limit: usize,
    peak: usize,
    busy: Span,
}

impl<T> Processor<T> {
    /// A processor before which at most `limit` items wait.
    pub fn new(limit: Option<u32>) -> Processor<T> {
        let limit = limit.map_or(usize::MAX, |n| n as usize);
        Processor { waiting: VecDeque::new(), serving: None, limit, peak: 0, busy: Span::ZERO }
    }

    /// Puts an item in the queue, or gives it back if the queue is full.
    pub fn offer(&mut self, item: T) -> Result<(), T> {
        if self.waiting.len() >= self.limit {
            return Err(item);
        }
        self.waiting.push_back(item);
        self.peak = self.peak.max(self.waiting.len());
        Ok(())
    }

    /// Takes the next item in hand if the processor is idle; `cost` says how long it will take.
    pub fn start(&mut self, now: Time, cost: impl FnOnce(&T) -> Span) {
        if self.serving.is_none()
            && let Some(item) = self.waiting.pop_front()
        {
            let span = cost(&item);
            self.busy += span;
            self.serving = Some((now + span, item));
        }
    }

    /// The item in hand, if it is done at `now`.
    pub fn finish(&mut self, now: Time) -> Option<T> {
        match self.serving.take() {
            Some((done, item)) if done <= now => Some(item),
            other => {
                self.serving = other;
                None
            }
        }
    }

    /// When the item in hand is done.
    pub fn next(&self) -> Option<Time> {
        self.serving.as_ref().map(|(done, _)| *done)
    }

    /// Items waiting, without the one in hand.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The most items that ever waited.
    pub fn peak(&self) -> usize {
        self.peak
    }

    /// Time spent on items so far, the one in hand included.
    pub fn busy(&self) -> Span {
        self.busy
    }

    /// Loses everything.
    pub fn clear(&mut self) {
        self.waiting.clear();
        self.serving = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_and_a_bounded_queue() {
        let mut p = Processor::new(Some(2));
        assert!(p.offer('a').is_ok());
        p.start(Time(10), |_| Span(5));
        assert!(p.offer('b').is_ok() && p.offer('c').is_ok());
        assert_eq!(p.offer('d'), Err('d'));
        assert_eq!((p.next(), p.finish(Time(14))), (Some(Time(15)), None));
        assert_eq!(p.finish(Time(15)), Some('a'));
        p.start(Time(15), |_| Span(7));
        assert_eq!((p.next(), p.waiting(), p.peak()), (Some(Time(22)), 1, 2));
        assert_eq!(p.busy(), Span(12));
    }
}
