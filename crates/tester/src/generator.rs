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
