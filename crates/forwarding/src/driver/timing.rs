//! What writing takes, and how often it fails: what device profiles say of it.

use base::Span;
use base::plane::{Table, TableOp};
use base::random::{Rng, Stream};

/// The time that writing a table entry takes: `fixed`, and `per_entry` for each entry that the table holds already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteTime {
    /// For every operation, however many entries there are.
    pub fixed: Span,
    /// For every operation and entry in the table that it writes.
    pub per_entry: Span,
}

impl WriteTime {
    /// Every operation is done at once: what devices without a measured profile have.
    pub const IDEAL: WriteTime = WriteTime { fixed: Span::ZERO, per_entry: Span::ZERO };

    /// The time of one operation on a table with `occupancy` entries; never negative.
    pub fn span(&self, occupancy: usize) -> Span {
        let entries = i64::try_from(occupancy).unwrap_or(i64::MAX);
        Span(self.fixed.0.saturating_add(self.per_entry.0.saturating_mul(entries)).max(0))
    }

    /// Does it take no time, whatever the table holds?
    pub fn is_ideal(&self) -> bool {
        self.fixed.0 <= 0 && self.per_entry.0 <= 0
    }
}

/// What drivers are told of a device: what it takes for writes, and how often it fails.
#[derive(Clone, Debug)]
pub struct Timing {
    /// Write times by [`Table::index`].
    pub times: [WriteTime; Table::ALL.len()],
    /// Share of the writes that put something in and that the device refuses, 0 to 1. Ports and neighbours never fail.
    pub failures: f64,
    /// What decides which fail; not drawn from where none does.
    pub random: Stream,
}

impl Timing {
    /// A device that takes no time and does not fail.
    pub fn ideal(random: Stream) -> Timing {
        Timing { times: [WriteTime::IDEAL; Table::ALL.len()], failures: 0.0, random }
    }

    /// The time of one operation.
    pub fn time(&self, op: &TableOp) -> WriteTime {
        self.times[op.table().index()]
    }

    /// Does the device refuse the operation? Each call draws anew.
    pub fn refuses(&mut self, op: &TableOp) -> bool {
        let spared = matches!(op.table(), Table::Ports | Table::Neighbors) || op.is_removal();
        !spared && self.draw(self.failures)
    }

    /// Does something happen now that happens in this share of all cases, 0 to 1? Nothing is drawn for a share of 0.
    pub fn draw(&mut self, share: f64) -> bool {
        // 53 bits are what a number of this type holds exactly.
        share > 0.0 && ((self.random.next_u64() >> 11) as f64) < share * (1u64 << 53) as f64
    }
}
