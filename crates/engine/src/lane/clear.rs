//! Frames that are taken back, when a link or a device goes down.

use super::Lane;
use base::Time;
use base::device::DropReason;

impl Lane {
    /// Drops what waits in queues for `reason`, and returns how many frames that were. They count as dropped there.
    pub fn clear_queue(&mut self, now: Time, reason: DropReason) -> u64 {
        self.egress.as_mut().map_or(0, |egress| egress.clear(now, self.free, reason))
    }

    /// Drops what has been taken and has not arrived, since the link went down, and returns how many frames that were.
    /// The port is free at once.
    pub fn clear(&mut self, now: Time) -> u64 {
        let before = self.removed.0;
        while let Some((start, frame)) = self.ring.pop_back() {
            self.remove(frame.wire_len());
            if start > now {
                self.lost_at_port(now, frame, DropReason::LinkDown);
            } else {
                self.lost_on_link(now, frame, DropReason::LinkDown);
            }
        }
        self.stand_idle(now);
        self.removed.0 - before
    }

    /// Drops what has been taken and waits for its first bit to leave, since its device went down, and returns how
    /// many frames that were.
    pub fn clear_waiting(&mut self, now: Time) -> u64 {
        let before = self.removed.0;
        let mut free = self.free;
        while self.ring.last().is_some_and(|(flight, _)| flight.start > now) {
            if let Some((start, frame)) = self.ring.pop_back() {
                // The port is free no later than the first of those that waited would have begun.
                free = start;
                self.remove(frame.wire_len());
                self.lost_at_port(now, frame, DropReason::NodeDown);
            }
        }
        let count = self.removed.0 - before;
        if count > 0 {
            let gap = self.framing().gap;
            let sending = self
                .ring
                .last()
                .map(|(flight, frame)| flight.start + self.serialiser.span(frame.wire_len() + gap));
            self.stand_idle(sending.unwrap_or(now).max(now).min(free));
        }
        self.entered = now;
        count
    }

    fn remove(&mut self, wire_len: u32) {
        self.removed.0 += 1;
        self.removed.1 += u64::from(wire_len);
        self.taken_bytes -= u64::from(wire_len);
    }

    fn stand_idle(&mut self, from: Time) {
        self.punted &= !self.ring.is_empty();
        self.free = from;
        self.entered = Time::ZERO;
        self.waiting = 0;
        self.serialiser.restart();
    }
}
