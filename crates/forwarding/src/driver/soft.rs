//! The tables of this process, as drivers write them.

use super::{Capabilities, Counters, Notice};
use crate::punt::Exception;
use crate::tables::{Config, Forwarding};
use crate::view::MulticastRow;
use base::plane::{Ack, Batch, Fec, Table, TableError, TableOp};
use base::queue::take_first;
use base::{Frame, PortId};
use core::net::IpAddr;
use std::collections::{BTreeMap, VecDeque};

/// What was written to the tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Operations that came into force, by [`Table::index`].
    pub done: [u64; Table::ALL.len()],
    /// Operations that failed, by table and reason.
    pub failed: BTreeMap<(Table, TableError), u64>,
}

/// The tables of this process with what a driver wrote to them, and what it has to say of that.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Soft {
    forwarding: Forwarding,
    acks: VecDeque<Ack>,
    notices: VecDeque<Notice>,
    written: Written,
    /// Tables that were full, and from which nothing was taken out since, by [`Table::index`].
    full: [bool; Table::ALL.len()],
}

impl Soft {
    /// A plane of a node with this configuration, whose tables are still empty.
    pub fn new(config: Config) -> Soft {
        Soft { forwarding: Forwarding::new(config), ..Soft::default() }
    }

    /// The tables in force.
    pub fn forwarding(&self) -> &Forwarding {
        &self.forwarding
    }

    /// The tables, to move packets through them.
    #[inline]
    pub fn forwarding_mut(&mut self) -> &mut Forwarding {
        &mut self.forwarding
    }

    /// What was written so far.
    pub fn written(&self) -> &Written {
        &self.written
    }

    /// Hands over a frame that arrived by `port` and that the fast path does not forward. The reason comes as a notice;
    /// the frame comes back if there is none any more, since the tables have changed.
    pub fn punt(&mut self, port: PortId, frame: Frame) -> Option<Frame> {
        match self.forwarding.classify_punt(port, &frame) {
            Some(reason) => {
                self.notices.push_back(Notice::Punt { port, frame, reason });
                None
            }
            None => Some(frame),
        }
    }

    /// Carries one operation out and counts it; `refused` if the device does not do it.
    pub fn write(&mut self, op: &TableOp, refused: bool) -> Result<(), TableError> {
        let done = if refused { Err(TableError::Refused) } else { self.forwarding.apply(op) };
        let table = op.table();
        match done {
            Ok(()) => {
                self.written.done[table.index()] += 1;
                self.full[table.index()] &= !op.is_removal();
            }
            Err(error) => {
                *self.written.failed.entry((table, error)).or_default() += 1;
                if error == TableError::Full && !core::mem::replace(&mut self.full[table.index()], true) {
                    self.notices.push_back(Notice::Full(table));
                }
            }
        }
        done
    }

    /// Puts an answer to a batch where the control plane takes it from.
    pub fn answer(&mut self, ack: Ack) {
        self.acks.push_back(ack);
    }

    pub(super) fn next_ack(&mut self) -> Option<Ack> {
        take_first(&mut self.acks)
    }

    /// Tells the node something by itself.
    pub fn tell(&mut self, notice: Notice) {
        self.notices.push_back(notice);
    }

    pub(super) fn poll_notice(&mut self) -> Option<Notice> {
        take_first(&mut self.notices)
    }

    /// Carries a batch out in order and answers it; `refused` says which operations the device does not do.
    pub fn write_batch(&mut self, batch: &Batch, mut refused: impl FnMut(&TableOp) -> bool) {
        let mut ack = Ack { transaction: batch.transaction, failed: Vec::new() };
        for (place, op) in batch.ops.iter().enumerate() {
            if let Err(error) = self.write(op, refused(op)) {
                ack.failed.push((place as u32, error));
            }
        }
        self.answer(ack);
    }

    pub(super) fn capabilities(&self) -> Capabilities {
        Capabilities::of(&self.forwarding.config)
    }

    pub(super) fn packet_out(
        &mut self,
        frame: &mut Frame,
        via: Option<(PortId, IpAddr)>,
    ) -> Result<PortId, Exception> {
        match via {
            Some((port, gateway)) => self.forwarding.transmit_via(port, gateway, frame),
            None => self.forwarding.originate(frame),
        }
    }

    pub(super) fn port_state(&self, port: PortId) -> Option<bool> {
        self.forwarding.port(port).map(|config| config.up)
    }

    pub(super) fn counters(&self) -> Counters {
        let ports = self.forwarding.ports().map(|row| (row.port, row.counters)).collect();
        Counters { ports, drops: self.forwarding.drops().clone() }
    }

    pub(super) fn resync(&self) -> Vec<TableOp> {
        let tables = &self.forwarding;
        let mut ops: Vec<_> =
            tables.ports().map(|row| TableOp::PortSet { port: row.port, config: row.config }).collect();
        let silent = tables.ports().filter(|row| !row.trusted);
        ops.extend(silent.map(|row| TableOp::PortTrust { port: row.port, trusted: false }));
        // The addresses of groups nobody has told.
        ops.extend(tables.adjacencies().filter(|row| !row.gateway.is_multicast()).filter_map(|row| {
            row.mac.map(|mac| TableOp::AdjacencySet { port: row.port, gateway: row.gateway, mac })
        }));
        let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
        tables.groups().for_each(|row| groups.entry(row.group).or_default().push(row.member));
        ops.extend(
            groups.into_iter().map(|(group, members)| TableOp::GroupSet { group, members: members.into() }),
        );
        ops.extend(tables.lists.iter().map(|(list, branches)| TableOp::ReplicationSet {
            list,
            branches: branches.iter().map(|entry| tables.nhlfe(entry)).collect(),
        }));
        ops.extend(tables.selectors().map(|(selector, label)| TableOp::SelectorSet { selector, label }));
        ops.extend(tables.thresholds().map(|(port, ttl)| TableOp::MulticastThreshold { port, ttl }));
        ops.extend(tables.multicast().map(|row| {
            let MulticastRow { key, incoming, list, .. } = row;
            TableOp::MulticastSet { key, incoming, list }
        }));
        ops.extend(tables.fib().map(|row| TableOp::RouteSet { prefix: row.prefix, next_hop: row.next_hop }));
        let route6 = |prefix, next_hop| TableOp::Route6Set { prefix, next_hop };
        ops.extend(tables.fib6().map(|row| route6(row.prefix, row.next_hop)));
        ops.extend(tables.ftn().map(|row| {
            let prefix = row.prefix;
            let fec = match row.classes {
                Some((order, classes)) => Fec::ClassPrefix { prefix, classes, order },
                None => Fec::Prefix(prefix),
            };
            TableOp::FtnSet { fec, nhlfe: row.nhlfe }
        }));
        ops.extend(tables.ftn6().map(|row| {
            let fec = Fec::Prefix6(row.prefix);
            TableOp::FtnSet { fec, nhlfe: row.nhlfe }
        }));
        ops.extend(tables.filters().map(|row| {
            let fec = Fec::Flow { order: row.order, filter: row.filter };
            TableOp::FtnSet { fec, nhlfe: row.nhlfe }
        }));
        ops.extend(tables.ilm().map(|row| TableOp::IlmSet { label: row.label, nhlfe: row.nhlfe }));
        ops.extend(tables.circuits());
        ops
    }
}
