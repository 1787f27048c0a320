//! The tables of this process as a device that was measured writes them: in time, with limits and failures.

use super::{Driver, Known, Setup, Soft, Timing};
use base::describe::{Section, SectionDecl};
use base::plane::{Ack, Batch, TableOp};
use base::{Span, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// The driver among those that there are.
pub const KNOWN: Known = Known { name: "model", views: &[], section: SectionDecl::of::<ModelSpec>(MEANING) };

/// What users are told of it.
const MEANING: &str =
    "As the device profile says: write times, limits and failures of a device that was measured.";

base::record! {
    /// The driver of a device that was measured. Its settings are those of the device profile.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct ModelSpec {}
}

impl Section<dyn Setup> for ModelSpec {
    fn setup(&self) -> Arc<dyn Setup> {
        Arc::new(self.clone())
    }
}

impl Setup for ModelSpec {
    fn driver(&self, timing: Timing) -> Box<dyn Driver> {
        Box::new(Model::new(timing))
    }
}

/// A driver that writes one entry at a time: an operation begins when the one before it is in force, and a batch is
/// acknowledged with its last operation. So a batch never overtakes another, which is all that a barrier asks for; but
/// what costs nothing never queues.
#[derive(Debug)]
pub struct Model {
    timing: Timing,
    waiting: VecDeque<Batch>,
    /// Operations of the first batch that are in force.
    done: usize,
    /// What came of the first batch so far; sent when its last operation is done.
    ack: Ack,
    /// When the next operation of the first batch is in force.
    due: Option<Time>,
}

impl Model {
    /// A driver to which nothing was written.
    pub fn new(timing: Timing) -> Model {
        Model { timing, waiting: VecDeque::new(), done: 0, ack: Ack::default(), due: None }
    }

    /// Begins the first operation that waits, at `from`.
    fn begin(&mut self, from: Time, soft: &Soft) {
        let span = |op: &TableOp| self.timing.time(op).span(soft.forwarding().occupancy(op));
        let first = self.waiting.front();
        self.due = first.map(|batch| from + batch.ops.get(self.done).map_or(Span::ZERO, span));
    }

    /// Does a batch cost no time, whatever the tables hold?
    fn is_free(&self, batch: &Batch) -> bool {
        batch.ops.iter().all(|op| self.timing.time(op).is_ideal())
    }
}

impl Driver for Model {
    fn submit(&mut self, now: Time, soft: &mut Soft, batch: Batch) {
        // An empty batch asks when those before it are in force.
        let passes = self.waiting.is_empty() || !batch.ops.is_empty() && !batch.barrier;
        if passes && self.is_free(&batch) {
            return soft.write_batch(&batch, |op| self.timing.refuses(op));
        }
        self.waiting.push_back(batch);
        if self.due.is_none() {
            self.begin(now, soft);
            self.advance(now, soft);
        }
    }

    fn advance(&mut self, now: Time, soft: &mut Soft) {
        while let Some(due) = self.due.filter(|due| *due <= now) {
            let Some(batch) = self.waiting.front() else { break };
            if let Some(op) = batch.ops.get(self.done) {
                let refused = self.timing.refuses(op);
                if let Err(error) = soft.write(op, refused) {
                    self.ack.failed.push((self.done as u32, error));
                }
                self.done += 1;
            }
            if self.done >= batch.ops.len() {
                self.ack.transaction = batch.transaction;
                soft.answer(core::mem::take(&mut self.ack));
                self.waiting.pop_front();
                self.done = 0;
            }
            self.begin(due, soft);
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.due
    }

    fn backlog(&self) -> usize {
        self.waiting.iter().map(|b| b.ops.len()).sum::<usize>() - self.done
    }
}
