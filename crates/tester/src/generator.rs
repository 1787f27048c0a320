//! All the sources of a device, in the order in which their packets are due.

use crate::source::Source;
use base::device::{DropCounters, DropReason};
use base::{Frame, PortId, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// The sources of a device.
#[derive(Debug, Default)]
pub struct Generator {
    sources: Vec<Source>,
    due: BinaryHeap<Reverse<(Time, usize)>>,
}

impl Generator {
    /// Adds a source and returns its place.
    pub fn add(&mut self, source: Source) -> usize {
        let place = self.sources.len();
        if let Some(next) = source.next() {
            self.due.push(Reverse((next, place)));
        }
        self.sources.push(source);
        place
    }

    /// Lets the source at a place begin, if it was held.
    pub fn release(&mut self, place: usize, now: Time) {
        let Some(source) = self.sources.get_mut(place) else { return };
        if source.release(now)
            && let Some(next) = source.next()
        {
            self.due.push(Reverse((next, place)));
        }
    }

    /// Lets the source at a place send nothing from now on.
    pub fn pause(&mut self, place: usize) {
        if let Some(source) = self.sources.get_mut(place) {
            source.pause();
            self.due.retain(|Reverse((_, other))| *other != place);
        }
    }

    /// Lets the source at a place go on, if it was paused.
    pub fn resume(&mut self, place: usize, now: Time) {
        let Some(source) = self.sources.get_mut(place) else { return };
        if source.resume(now)
            && let Some(next) = source.next()
        {
            self.due.push(Reverse((next, place)));
        }
    }

    /// The source at a place.
    pub fn source_mut(&mut self, place: usize) -> Option<&mut Source> {
        self.sources.get_mut(place)
    }

    /// All sources, in the order in which they were added.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// When the next packet is due.
    #[inline]
    pub fn next(&self) -> Option<Time> {
        self.due.peek().map(|Reverse((time, _))| *time)
    }

    /// The next packet that is due at `now`, and the port that it leaves by. Those that streams could not send are
    /// counted as dropped for `reason`.
    #[inline]
    pub fn poll(
        &mut self,
        now: Time,
        drops: &mut DropCounters,
        reason: DropReason,
    ) -> Option<(PortId, Frame)> {
        let after = Time(now.0.saturating_add(1));
        self.poll_before(after, drops, reason).map(|(_, port, frame)| (port, frame))
    }

    /// The next packet that is due before `before`, and when it is due and where; as [`Generator::poll`].
    #[inline]
    pub fn poll_before(
        &mut self,
        before: Time,
        drops: &mut DropCounters,
        reason: DropReason,
    ) -> Option<(Time, PortId, Frame)> {
        loop {
            match self.next_before(before)? {
                (at, port, Some(frame)) => return Some((at, port, frame)),
                (.., None) => drops.count(reason),
            }
        }
    }

    /// The next that is due, empty where the stream could not send it.
    #[inline]
    fn next_before(&mut self, before: Time) -> Option<(Time, PortId, Option<Frame>)> {
        let mut top = self.due.peek_mut()?;
        let Reverse((time, place)) = *top;
        if time >= before {
            return None;
        }
        let source = &mut self.sources[place];
        let sent = source.poll(time);
        let port = source.port();
        match source.next() {
            Some(next) => *top = Reverse((next, place)),
            None => {
                PeekMut::pop(top);
            }
        }
        sent.map(|(at, frame)| (at, port, frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::Arrivals;
    use crate::pacer::Pacer;
    use base::StreamId;

    #[test]
    fn a_paused_source_leaves_its_turn_to_others_and_takes_it_again() {
        // One packet per microsecond of each, at 0 and at 0.5 us. Without templates they lose what they send.
        let mut generator = Generator::default();
        for (place, first) in [0, 500_000].into_iter().enumerate() {
            let pacer = Pacer::new(Time(first), 1_000, 1_000_000_000);
            let mut source = Source::new(Arrivals::Constant(pacer), Time::MAX, Vec::new(), false);
            source.add_stream(StreamId(place as u32));
            generator.add(source);
        }
        let totals = |generator: &mut Generator, until: u64| {
            let mut drops = DropCounters::default();
            while generator.next().is_some_and(|next| next <= Time(until)) {
                generator.poll(Time(until), &mut drops, DropReason::NoRoute);
            }
            generator.sources().iter().map(Source::total).collect::<Vec<_>>()
        };
        assert_eq!(totals(&mut generator, 2_900_000), [3, 3]);
        generator.pause(0);
        generator.pause(0);
        assert_eq!(totals(&mut generator, 5_900_000), [3, 6]);
        // It goes on once, however often it is told to; nobody else is told anything by a place that is not there.
        for _ in 0..2 {
            generator.resume(0, Time(5_900_000));
            generator.resume(9, Time(5_900_000));
        }
        assert_eq!(generator.next(), Some(Time(5_900_000)));
        assert_eq!(totals(&mut generator, 7_900_000), [6, 8]);
    }
}
