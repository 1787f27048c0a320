//! Staged, a made-up driver: an example for developers.
//!
//! What is written waits in a memory of the device, and a commit brings all of it into force at once. Commits come at
//! whole multiples of an interval, and as soon as the memory is full. A commit at an interval may fail; then it is
//! tried again at the next, a few times. Some hardware tables are written like this: one copy is read while the other
//! is filled.

mod section;
mod shown;
#[cfg(test)]
mod tests;

pub use section::StagedSpec;

use super::{Driver, Known, Soft, Timing};
use base::Time;
use base::describe::SectionDecl;
use base::plane::{Batch, Table, TableOp};
use std::collections::VecDeque;

/// The driver among those that there are.
pub const KNOWN: Known = Known {
    name: "staged",
    views: shown::VIEWS,
    section: SectionDecl::of::<StagedSpec>("Staged, a made-up driver: an example for developers."),
};

/// A driver that commits what was written every interval.
#[derive(Debug)]
pub struct Staged {
    spec: StagedSpec,
    timing: Timing,
    /// Batches that wait for the next commit, in their order.
    stage: VecDeque<Batch>,
    /// Operations in the batches that wait for the next commit.
    staged: usize,
    /// Commits of what is staged that have failed.
    tries: u8,
    /// When the next commit is due; absent while nothing is staged.
    due: Option<Time>,
    counters: Counters,
}

/// What the driver counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counters {
    /// Commits that brought into force what was staged.
    commits: u64,
    /// Commits, of these and of those given up, that came before their interval was over.
    early: u64,
    /// Commits that failed and were tried again.
    failed: u64,
    /// Commits that failed and were not tried again: what they were to put into tables was refused.
    given_up: u64,
    /// Operations that were staged.
    operations: u64,
    /// The most operations of one commit.
    largest: usize,
}

impl Staged {
    fn new(spec: StagedSpec, timing: Timing) -> Staged {
        let (stage, counters) = (VecDeque::new(), Counters::default());
        Staged { spec, timing, stage, staged: 0, tries: 0, due: None, counters }
    }

    /// The first whole multiple of the interval after a time.
    fn next_commit(&self, now: Time) -> Time {
        let interval = self.spec.interval.0.unsigned_abs().max(1);
        Time((now.0 / interval + 1).saturating_mul(interval))
    }

    /// Brings all that is staged into force. If that fails, it is tried again at the next interval, if there is one
    /// left to try; else what was to be put into tables is refused.
    fn commit(&mut self, now: Time, soft: &mut Soft, can_wait: bool) {
        let fails = self.timing.draw(self.spec.failures);
        if fails && can_wait && self.tries + 1 < self.spec.tries {
            self.tries += 1;
            self.counters.failed += 1;
            self.due = Some(self.next_commit(now));
            return;
        }
        *(if fails { &mut self.counters.given_up } else { &mut self.counters.commits }) += 1;
        self.counters.largest = self.counters.largest.max(self.staged);
        (self.staged, self.tries, self.due) = (0, 0, None);
        for batch in core::mem::take(&mut self.stage) {
            soft.write_batch(&batch, |op| fails && can_fail(op) || self.timing.refuses(op));
        }
    }
}

/// Ports and neighbours are registers of the device, not tables of its memory.
fn is_register(op: &TableOp) -> bool {
    matches!(op.table(), Table::Ports | Table::Neighbors)
}

/// Can a commit that is given up refuse it? What takes something out always succeeds, as with every driver.
fn can_fail(op: &TableOp) -> bool {
    !is_register(op) && !op.is_removal()
}

impl Driver for Staged {
    fn submit(&mut self, now: Time, soft: &mut Soft, batch: Batch) {
        let is_staged = batch.ops.iter().any(|op| !is_register(op));
        // What costs no time waits for what is staged only if it is a barrier, or asks when that is in force.
        let waits = !self.stage.is_empty() && (batch.barrier || batch.ops.is_empty());
        if !is_staged && !waits {
            return soft.write_batch(&batch, |_| false);
        }
        self.staged += batch.ops.len();
        self.counters.operations += batch.ops.len() as u64;
        self.stage.push_back(batch);
        if self.staged >= self.spec.room as usize {
            self.counters.early += 1;
            self.commit(now, soft, false);
        } else if self.due.is_none() {
            self.due = Some(self.next_commit(now));
        }
    }

    fn advance(&mut self, now: Time, soft: &mut Soft) {
        if self.due.is_some_and(|due| due <= now) {
            self.commit(now, soft, true);
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.due
    }

    fn backlog(&self) -> usize {
        self.staged
    }
}
