//! What went through a lane, and what waits.

use super::Lane;
use base::Time;

impl Lane {
    /// Frames that arrived at the far end, whatever became of them there.
    pub fn arrived_frames(&self) -> u64 {
        self.ring.head()
    }

    /// Bytes on the wire of the arrived frames.
    pub fn arrived_bytes(&self) -> u64 {
        if self.ring.is_empty() {
            return self.taken_bytes;
        }
        let first = self.ring.at(self.ring.head());
        first.bytes_so_far - u64::from(first.wire_len())
    }

    /// Frames that the port has taken, whether or not they have left; those taken back by a fault are among them.
    pub fn sent_frames(&self) -> u64 {
        self.ring.tail() + self.removed.0
    }

    /// Has the port taken a frame, onto the wire or into its queues?
    pub fn is_used(&self) -> bool {
        self.sent_frames() > 0 || self.egress.as_ref().is_some_and(|egress| egress.is_used())
    }

    /// Bytes on the wire of these frames.
    pub fn sent_bytes(&self) -> u64 {
        self.taken_bytes + self.removed.1
    }

    /// Bytes that wait at `at`, which is not before the last call of [`Lane::transmit`].
    pub fn waiting_bytes(&self, at: Time) -> u64 {
        let queued = self.egress.as_ref().map_or(0, |egress| egress.waiting_bytes());
        let waiting = (self.ring.head()..self.ring.tail()).rev().map(|number| self.ring.at(number));
        waiting.take_while(|flight| flight.start > at).map(|flight| u64::from(flight.wire_len())).sum::<u64>()
            + queued
    }

    /// The most bytes that ever waited.
    pub fn waiting_bytes_max(&self) -> u64 {
        self.egress.as_ref().map_or(self.waiting_bytes_max, |egress| egress.waiting_bytes_max())
    }
}
