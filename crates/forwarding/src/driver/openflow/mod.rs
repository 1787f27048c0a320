//! OpenFlow: the forwarding plane is a switch elsewhere, which this driver programmes by OpenFlow 1.3.
//!
//! The tables of this process are written, too: they forward what the switch hands up because it has no entry for it (a
//! neighbour whose Ethernet address is not known, a time to live that is over, an option), with the same result.
//! What the tables say is translated to entries of the switch ([`translate`]); a batch is acknowledged when a barrier
//! behind its entries is. What the switch can't do is refused, with the reason counted.
//!
//! - [`section`]: what users write of it, and what the switch can do
//! - [`translate`]: routes, labels and mappings as entries; [`entry`]: entries, and how they are known again
//! - `session`: the connection, and what both ends have after it was lost
//! - [`shown`]: its tables

mod entry;
mod section;
mod session;
mod shown;
mod translate;

pub use section::OpenFlowSpec;

use super::{Arrival, Driver, Known, Remote, Soft};
use base::describe::SectionDecl;
use base::plane::{Ack, Batch, TableError, TableOp};
use base::{Frame, PortId, Span, Time};
use entry::{Entry, Key};
use session::Session;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use translate::Mirror;

/// The driver among those that there are.
pub const KNOWN: Known = Known {
    name: "openflow",
    views: shown::VIEWS,
    section: SectionDecl::of::<OpenFlowSpec>(
        "An OpenFlow 1.3 switch elsewhere, such as Open vSwitch, which connects to the router.",
    ),
};

/// A batch that is not acknowledged yet.
#[derive(Debug)]
struct Pending {
    ack: Ack,
    ops: usize,
    /// The barrier behind its last entry; absent while the switch is not connected.
    barrier: Option<u32>,
}

/// A driver of a switch elsewhere.
#[derive(Debug)]
pub struct OpenFlow {
    spec: OpenFlowSpec,
    mirror: Mirror,
    /// What the switch should have.
    desired: BTreeMap<Key, Entry>,
    session: Session,
    pending: VecDeque<Pending>,
    /// By the number of a message: the operation that it was sent for, as batch and place.
    sent_for: BTreeMap<u32, (base::plane::TransactionId, u32, TableOp)>,
    arrivals: VecDeque<Arrival>,
    /// Frames for the first switch, the last ones: protocols begin before it is there.
    early: VecDeque<(PortId, Frame)>,
    /// Has a switch been there?
    is_begun: bool,
    /// Operations that the switch can't do, by reason.
    refused: BTreeMap<&'static str, u64>,
    counters: Counters,
}

/// So many frames wait for the first switch at most.
const EARLY: usize = 64;

/// What the driver counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counters {
    connections: u64,
    silent: u64,
    written: u64,
    deleted: u64,
    kept: u64,
    stale: u64,
    errors: u64,
    packet_ins: u64,
    packet_outs: u64,
    lost: u64,
}

impl OpenFlow {
    fn new(spec: OpenFlowSpec) -> OpenFlow {
        OpenFlow {
            mirror: Mirror::default(),
            desired: BTreeMap::new(),
            session: Session::new(session::Settings {
                rates: [spec.punts, spec.protocols],
                probe: Some(spec.probe).filter(|probe| *probe > Span::ZERO),
            }),
            pending: VecDeque::new(),
            sent_for: BTreeMap::new(),
            arrivals: VecDeque::new(),
            early: VecDeque::new(),
            is_begun: false,
            refused: BTreeMap::new(),
            counters: Counters::default(),
            spec,
        }
    }

    /// Carries an operation out in the tables here, and says which entries of the switch it may change; or why not.
    fn write(&mut self, soft: &mut Soft, op: &TableOp) -> Result<BTreeSet<Key>, TableError> {
        if let Some(reason) = self.mirror.refusal(op, &self.spec, soft.forwarding().config.pipe_ttl) {
            *self.refused.entry(reason).or_default() += 1;
            soft.write(op, true)?;
        }
        soft.write(op, false)?;
        Ok(self.mirror.take(op))
    }

    /// Makes the entries of some keys what they should be now; `sent` is told the number of each message.
    fn update(&mut self, soft: &Soft, keys: BTreeSet<Key>, sent: &mut Vec<u32>) {
        let mut changes = Vec::new();
        for key in keys {
            let wanted = self.mirror.entry(&key, &self.spec, soft.forwarding().config.pipe_ttl);
            let had = match wanted.clone() {
                Some(entry) => self.desired.insert(key, entry),
                None => self.desired.remove(&key),
            };
            if had != wanted && self.session.is_up() {
                changes.push((had, wanted));
            }
        }
        // A place may pass from one key to another: what goes, goes first.
        changes.sort_by_key(|(_, wanted)| wanted.is_some());
        for change in changes {
            match change {
                (_, Some(entry)) => {
                    self.counters.written += 1;
                    sent.push(self.session.add(&entry));
                }
                (Some(entry), None) => {
                    self.counters.deleted += 1;
                    sent.push(self.session.delete(entry.table, entry.priority, &entry.matching));
                }
                (None, None) => {}
            }
        }
    }

    /// Brings the switch to what it should have: entries that it has and that are right stay as they are.
    fn synchronise(&mut self) {
        let mut missing: BTreeMap<u64, &Entry> =
            self.desired.values().map(|entry| (entry.identity(), entry)).collect();
        let mut stale = Vec::new();
        for row in self.session.take_rows() {
            if missing.remove(&entry::identity_of(row.cookie)).is_some() {
                self.counters.kept += 1;
            } else {
                stale.push(row);
            }
        }
        let missing: Vec<Entry> = missing.into_values().cloned().collect();
        let places: BTreeSet<Vec<u8>> = missing.iter().map(Entry::place).collect();
        for row in stale {
            self.counters.stale += 1;
            // One that another is written in the place of goes with that, so that no packet finds neither.
            if !places.contains(&entry::place_of(row.table, row.priority, &row.matching)) {
                self.session.delete(row.table, row.priority, &row.matching);
            }
        }
        for entry in &missing {
            self.counters.written += 1;
            self.session.add(entry);
        }
        let barrier = self.session.barrier();
        for pending in &mut self.pending {
            pending.barrier = Some(barrier);
        }
        self.is_begun = true;
        for (port, frame) in core::mem::take(&mut self.early) {
            self.transmit(port, &frame);
        }
    }

    /// Batches up to this barrier are in force.
    fn barred(&mut self, soft: &mut Soft, barrier: u32) {
        while self.pending.front().is_some_and(|first| first.barrier == Some(barrier)) {
            if let Some(done) = self.pending.pop_front() {
                soft.answer(done.ack);
            }
        }
        self.sent_for.retain(|xid, _| xid.wrapping_sub(barrier) < u32::MAX / 2);
    }

    /// The switch has not done what a message asked for: the tables here do not have it either.
    fn failed(&mut self, soft: &mut Soft, xid: u32, error: TableError) {
        self.counters.errors += 1;
        let Some((transaction, place, op)) = self.sent_for.remove(&xid) else { return };
        if let Some(pending) = self.pending.iter_mut().find(|one| one.ack.transaction == transaction)
            && !pending.ack.failed.iter().any(|(known, _)| *known == place)
        {
            pending.ack.failed.push((place, error));
        }
        if let Some(removal) = translate::removal(&op)
            && let Ok(keys) = self.write(soft, &removal)
        {
            self.update(soft, keys, &mut Vec::new());
        }
    }
}

impl Driver for OpenFlow {
    fn submit(&mut self, _: Time, soft: &mut Soft, batch: Batch) {
        let mut ack = Ack { transaction: batch.transaction, failed: Vec::new() };
        let mut has_sent = false;
        for (place, op) in batch.ops.iter().enumerate() {
            let mut sent = Vec::new();
            match self.write(soft, op) {
                Ok(keys) => self.update(soft, keys, &mut sent),
                Err(error) => ack.failed.push((place as u32, error)),
            }
            has_sent |= !sent.is_empty();
            for xid in sent {
                self.sent_for.insert(xid, (batch.transaction, place as u32, op.clone()));
            }
        }
        // What is in force already, and has nothing before it to wait for, is answered at once.
        if self.session.is_up() && !has_sent && self.pending.is_empty() {
            return soft.answer(ack);
        }
        let barrier = self.session.is_up().then(|| self.session.barrier());
        self.pending.push_back(Pending { ack, ops: batch.ops.len(), barrier });
    }

    fn advance(&mut self, now: Time, _: &mut Soft) {
        self.counters.silent += u64::from(self.session.handle_timeout(now));
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.session.poll_timeout()
    }

    fn backlog(&self) -> usize {
        self.pending.iter().map(|one| one.ops).sum()
    }

    fn capabilities(&self, soft: &Soft) -> super::Capabilities {
        let own = soft.capabilities();
        super::Capabilities { labels_pushed: own.labels_pushed.min(self.spec.labels.into()), ..own }
    }

    fn remote(&mut self) -> Option<&mut dyn Remote> {
        Some(self)
    }

    fn channel_state(&self) -> (bool, bool) {
        (self.session.has_output(), self.session.is_over())
    }
}

impl Remote for OpenFlow {
    fn opened(&mut self, now: Time) {
        self.counters.connections += 1;
        self.session.open(now, self.counters.connections);
    }

    fn received(&mut self, now: Time, soft: &mut Soft, bytes: &[u8]) {
        self.session.receive(now, bytes);
        while let Some(heard) = self.session.poll() {
            match heard {
                session::Heard::Synchronise => self.synchronise(),
                session::Heard::Barrier(barrier) => self.barred(soft, barrier),
                session::Heard::Failed(xid, error) => self.failed(soft, xid, error),
                session::Heard::Frame(port, data) => {
                    self.counters.packet_ins += 1;
                    self.arrivals.push_back(Arrival::Frame(port, Frame::from_bytes(&data)));
                }
                session::Heard::Port(port, up) => self.arrivals.push_back(Arrival::Port(port, up)),
            }
        }
    }

    fn closed(&mut self) {
        self.session.close();
        self.sent_for.clear();
        for pending in &mut self.pending {
            pending.barrier = None;
        }
    }

    fn take_output(&mut self) -> Vec<u8> {
        self.session.take_output()
    }

    fn transmit(&mut self, port: PortId, frame: &Frame) {
        if self.session.is_up() {
            self.counters.packet_outs += 1;
            self.session.packet_out(u32::from(port.0) + 1, &frame.to_vec());
            return;
        }
        if !self.is_begun {
            self.early.push_back((port, frame.clone()));
            if self.early.len() <= EARLY {
                return;
            }
            self.early.pop_front();
        }
        self.counters.lost += 1;
    }

    fn poll_arrival(&mut self) -> Option<Arrival> {
        self.arrivals.pop_front()
    }
}
