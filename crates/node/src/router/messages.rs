//! Signalling messages over time.

use base::Time;
use std::collections::BTreeMap;

/// Width of a bin: 10 ms.
pub const BIN_PS: u64 = 10_000_000_000;

/// Which way a message went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// To this node.
    Received,
    /// From this node.
    Sent,
}

/// Messages of one type in one bin of 10 ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageBin {
    /// Start of the bin.
    pub start: Time,
    /// Which way.
    pub direction: Direction,
    /// Message type (RFC 2205, 3.1.1).
    pub kind: u8,
    /// How many.
    pub count: u32,
}

/// Counts of messages by time, direction and type.
#[derive(Debug, Default)]
pub struct Messages {
    bins: BTreeMap<(u64, Direction, u8), u32>,
}

impl Messages {
    /// One more.
    pub fn count(&mut self, now: Time, direction: Direction, kind: u8) {
        *self.bins.entry((now.0 / BIN_PS, direction, kind)).or_default() += 1;
    }

    /// All counts, by time.
    pub fn iter(&self) -> impl Iterator<Item = MessageBin> {
        self.bins.iter().map(|(&(bin, direction, kind), &count)| MessageBin {
            start: Time(bin * BIN_PS),
            direction,
            kind,
            count,
        })
    }
}
