//! The tables of this process as a device that was measured writes them: in time, with limits and failures.

use super::{Capabilities, Counters, Driver, Notice, Soft};
use crate::punt::Exception;
use crate::tables::{Config, Forwarding};
use base::plane::{Ack, Batch, Table, TableOp};
use base::random::{Rng, Stream};
use base::{Frame, PortId, Span, Time};
use core::net::IpAddr;
use std::collections::VecDeque;

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

    fn is_ideal(&self) -> bool {
        self.fixed.0 <= 0 && self.per_entry.0 <= 0
    }
}

/// What a device takes for writes, and how often it fails.
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

    fn time(&self, op: &TableOp) -> WriteTime {
        self.times[op.table().index()]
    }

    fn refuses(&mut self, op: &TableOp) -> bool {
        let spared = matches!(op.table(), Table::Ports | Table::Neighbors) || op.is_removal();
        if self.failures <= 0.0 || spared {
            return false;
        }
        // 53 bits are what a number of this type holds exactly.
        ((self.random.next_u64() >> 11) as f64) < self.failures * (1u64 << 53) as f64
    }
}

/// The driver of the tables in this process, used under both clocks.
///
/// It writes one entry at a time: an operation begins when the one before it is in force, and a batch is acknowledged
/// with its last operation. So a batch never overtakes another, which is all that a barrier asks for; but what costs
/// nothing never queues. Where nothing costs anything it is [`Soft`].
#[derive(Clone, Debug)]
pub struct Model {
    soft: Soft,
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
    /// A driver with empty tables.
    pub fn new(config: Config, timing: Timing) -> Model {
        let (soft, ack) = (Soft::new(config), Ack::default());
        Model { soft, timing, waiting: VecDeque::new(), done: 0, ack, due: None }
    }

    /// The tables and what was written to them; writes that wait are not in them.
    pub fn soft(&self) -> &Soft {
        &self.soft
    }

    /// The same, to hand over what was punted.
    pub fn soft_mut(&mut self) -> &mut Soft {
        &mut self.soft
    }

    /// The tables in force; writes that wait are not in them.
    pub fn forwarding(&self) -> &Forwarding {
        self.soft.forwarding()
    }

    /// The tables, to move packets through them.
    #[inline]
    pub fn forwarding_mut(&mut self) -> &mut Forwarding {
        self.soft.forwarding_mut()
    }

    /// Operations that are not in force yet.
    pub fn backlog(&self) -> usize {
        self.waiting.iter().map(|b| b.ops.len()).sum::<usize>() - self.done
    }

    fn span_of(&self, op: Option<&TableOp>) -> Span {
        op.map_or(Span::ZERO, |op| self.timing.time(op).span(self.forwarding().occupancy(op)))
    }

    /// Begins the first operation that waits, at `from`.
    fn begin(&mut self, from: Time) {
        self.due = match self.waiting.front() {
            Some(batch) => Some(from + self.span_of(batch.ops.get(self.done))),
            None => None,
        };
    }

    fn advance(&mut self, now: Time) {
        while let Some(due) = self.due.filter(|due| *due <= now) {
            let Some(batch) = self.waiting.front() else { break };
            if let Some(op) = batch.ops.get(self.done) {
                let refused = self.timing.refuses(op);
                if let Err(error) = self.soft.write(op, refused) {
                    self.ack.failed.push((self.done as u32, error));
                }
                self.done += 1;
            }
            if self.done >= batch.ops.len() {
                self.ack.transaction = batch.transaction;
                self.soft.answer(core::mem::take(&mut self.ack));
                self.waiting.pop_front();
                self.done = 0;
            }
            self.begin(due);
        }
    }

    /// Does a batch cost no time, whatever the tables hold?
    fn is_free(&self, batch: &Batch) -> bool {
        batch.ops.iter().all(|op| self.timing.time(op).is_ideal())
    }
}

impl Driver for Model {
    fn capabilities(&self) -> Capabilities {
        self.soft.capabilities()
    }

    fn submit(&mut self, now: Time, batch: Batch) {
        self.advance(now);
        // An empty batch asks when those before it are in force.
        let passes = self.waiting.is_empty() || !batch.ops.is_empty() && !batch.barrier;
        if passes && self.is_free(&batch) {
            let Model { soft, timing, .. } = self;
            return soft.write_batch(&batch, |op| timing.refuses(op));
        }
        self.waiting.push_back(batch);
        if self.due.is_none() {
            self.begin(now);
            self.advance(now);
        }
    }

    fn poll_ack(&mut self, now: Time) -> Option<Ack> {
        self.advance(now);
        self.soft.next_ack()
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.due
    }

    fn poll_notice(&mut self) -> Option<Notice> {
        self.soft.poll_notice()
    }

    fn packet_out(&mut self, frame: &mut Frame, via: Option<(PortId, IpAddr)>) -> Result<PortId, Exception> {
        self.soft.packet_out(frame, via)
    }

    fn port_state(&self, port: PortId) -> Option<bool> {
        self.soft.port_state(port)
    }

    fn counters(&self) -> Counters {
        self.soft.counters()
    }

    fn resync(&self) -> Vec<TableOp> {
        self.soft.resync()
    }
}
