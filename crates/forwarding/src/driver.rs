//! The plane boundary from below: drivers that carry out batches of table operations.

use crate::tables::{Config, Forwarding};
use base::plane::{Ack, Batch, TableOp};
use base::{Span, Time};
use std::collections::VecDeque;

/// Carries out batches of table operations. `now` never goes back.
///
/// Drain: after [`Driver::submit`] and whenever [`Driver::poll_timeout`] is due, call [`Driver::poll_ack`] until it
/// returns nothing.
pub trait Driver {
    /// Takes a batch. Its operations come into force in order, each at once and whole.
    fn submit(&mut self, now: Time, batch: Batch);

    /// Does what is due at `now` and returns the next acknowledgement, or nothing.
    fn poll_ack(&mut self, now: Time) -> Option<Ack>;

    /// When the next operation is due.
    fn poll_timeout(&self) -> Option<Time>;
}

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

/// The driver of the tables in this process, used under both clocks.
///
/// It writes one entry at a time: an operation begins when the one before it is in force, and a batch is acknowledged
/// with its last operation. A batch therefore never overtakes another, which is all that a barrier asks for. With
/// [`WriteTime::IDEAL`] a batch that finds nothing waiting is in force when [`Driver::submit`] returns.
#[derive(Clone, Debug, Default)]
pub struct Soft {
    forwarding: Forwarding,
    write_time: WriteTime,
    waiting: VecDeque<Batch>,
    /// Operations of the first batch that are in force.
    done: usize,
    /// What came of the first batch so far; sent when its last operation is done.
    ack: Ack,
    /// When the next operation of the first batch is in force.
    due: Option<Time>,
    acks: VecDeque<Ack>,
}

impl Soft {
    /// A driver with empty tables.
    pub fn new(config: Config, write_time: WriteTime) -> Soft {
        Soft { forwarding: Forwarding::new(config), write_time, ..Soft::default() }
    }

    /// The tables in force; writes that wait are not in them.
    pub fn forwarding(&self) -> &Forwarding {
        &self.forwarding
    }

    /// The tables, to move packets through them.
    #[inline]
    pub fn forwarding_mut(&mut self) -> &mut Forwarding {
        &mut self.forwarding
    }

    /// Operations that are not in force yet.
    pub fn backlog(&self) -> usize {
        self.waiting.iter().map(|b| b.ops.len()).sum::<usize>() - self.done
    }

    fn span_of(&self, op: Option<&TableOp>) -> Span {
        match op {
            // Not an entry of a table.
            None | Some(TableOp::PortSet { .. }) => Span::ZERO,
            Some(op) => self.write_time.span(self.forwarding.occupancy(op)),
        }
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
                if let Err(error) = self.forwarding.apply(op) {
                    self.ack.failed.push((self.done as u32, error));
                }
                self.done += 1;
            }
            if self.done >= batch.ops.len() {
                self.ack.transaction = batch.transaction;
                self.acks.push_back(core::mem::take(&mut self.ack));
                self.waiting.pop_front();
                self.done = 0;
            }
            self.begin(due);
        }
    }
}

impl Driver for Soft {
    fn submit(&mut self, now: Time, batch: Batch) {
        self.advance(now);
        if self.write_time.is_ideal() && self.waiting.is_empty() {
            let ack = self.forwarding.apply_batch(&batch);
            self.acks.push_back(ack);
            return;
        }
        self.waiting.push_back(batch);
        if self.due.is_none() {
            self.begin(now);
            self.advance(now);
        }
    }

    fn poll_ack(&mut self, now: Time) -> Option<Ack> {
        self.advance(now);
        self.acks.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Label;
    use base::plane::{LabelStack, NextHop, Nhlfe, TableError, TcSource, TransactionId, TtlModel};

    fn set(label: u32) -> TableOp {
        let label = Label::truncate(label);
        let (next_hop, push) = (NextHop::Local, LabelStack::EMPTY);
        TableOp::IlmSet { label, nhlfe: Nhlfe { push, next_hop, ttl: TtlModel::Uniform, tc: TcSource::Copy } }
    }
    fn batch(transaction: u64, ops: Vec<TableOp>) -> Batch {
        Batch { transaction: TransactionId(transaction), ops, barrier: false }
    }

    #[test]
    fn ideal_tables_are_written_at_once() {
        let mut soft = Soft::new(Config::default(), WriteTime::IDEAL);
        soft.submit(Time(5), batch(1, vec![set(16), set(3)]));
        assert_eq!(soft.forwarding().ilm().count(), 1);
        assert_eq!(soft.poll_timeout(), None);
        let failed = vec![(1, TableError::ReservedLabel)];
        assert_eq!(soft.poll_ack(Time(5)), Some(Ack { transaction: TransactionId(1), failed }));
        assert_eq!(soft.poll_ack(Time(5)), None);
    }

    #[test]
    fn entries_take_longer_as_the_table_fills() {
        let write_time = WriteTime { fixed: Span(10), per_entry: Span(1) };
        let mut soft = Soft::new(Config::default(), write_time);
        soft.submit(Time(100), batch(1, vec![set(16), set(17)]));
        soft.submit(Time(103), batch(2, vec![]));
        soft.submit(Time(104), batch(3, vec![set(18)]));
        let mut seen = Vec::new();
        while let Some(due) = soft.poll_timeout() {
            while let Some(ack) = soft.poll_ack(due) {
                seen.push((due.0, ack.transaction.0));
            }
            seen.push((due.0, 100 + soft.forwarding().ilm().count() as u64));
        }
        // 10 with nothing in the table, 11 with one entry, 12 with two; an empty batch takes no time.
        assert_eq!(seen, [(110, 101), (121, 1), (121, 2), (121, 102), (133, 3), (133, 103)]);
        assert_eq!(soft.backlog(), 0);
    }
}
