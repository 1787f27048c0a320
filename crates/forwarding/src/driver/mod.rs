//! The plane boundary from below: what a driver does for the control plane of a node.
//!
//! All that is written to a forwarding plane comes as a [`Batch`] with a transaction (owner and number) and is answered
//! by an [`Ack`]. Flows are written as other entries are ([`Fec::Flow`](base::plane::Fec::Flow)), and so are groups
//! and replication lists. [`Soft`] writes the tables of this process at once; [`Model`] does so with the write times,
//! capacities and failures of a device that was measured.

mod model;
mod soft;
#[cfg(test)]
mod tests;

pub use model::{Model, Timing, WriteTime};
pub use soft::{Soft, Written};

use crate::port::PortCounters;
use crate::punt::{Exception, PuntReason};
use base::device::DropCounters;
use base::plane::{Ack, Batch, LabelStack, MEMBERS_MAX, Table, TableOp};
use base::{Frame, PortId, Time};
use core::net::IpAddr;

/// A forwarding plane as a control plane writes it. `now` never goes back.
///
/// Drain: after [`Driver::submit`] and whenever [`Driver::poll_timeout`] is due, call [`Driver::poll_ack`] and then
/// [`Driver::poll_notice`] until they return nothing.
pub trait Driver {
    /// What the forwarding plane can do, and how much of it.
    fn capabilities(&self) -> Capabilities;

    /// Takes a batch. Its operations come into force in order, each at once and whole. Batches come into force in
    /// order, but for those of which no operation costs any time: they never wait, unless they are barriers.
    fn submit(&mut self, now: Time, batch: Batch);

    /// Does what is due at `now` and returns the next acknowledgement, or nothing.
    fn poll_ack(&mut self, now: Time) -> Option<Ack>;

    /// When the next operation is due.
    fn poll_timeout(&self) -> Option<Time>;

    /// What the forwarding plane has to tell by itself, or nothing.
    fn poll_notice(&mut self) -> Option<Notice>;

    /// Sends an IP packet of the node; `frame` has 14 bytes of room for an Ethernet header in front of it. It goes to
    /// the neighbour `via`, or where the tables say. Returns the egress port.
    fn packet_out(&mut self, frame: &mut Frame, via: Option<(PortId, IpAddr)>) -> Result<PortId, Exception>;

    /// Can frames leave by the port? Nothing if there is no such port.
    fn port_state(&self, port: PortId) -> Option<bool>;

    /// What went through every port, and what was dropped.
    fn counters(&self) -> Counters;

    /// All that is in force, as operations that write it into an empty forwarding plane in an order in which none
    /// fails. Who lost sight of a forwarding plane compares it with what should be there.
    fn resync(&self) -> Vec<TableOp>;
}

/// What a forwarding plane can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The most labels that one entry puts on; those of a way out come on top.
    pub labels_pushed: usize,
    /// The most members of a group of next hops.
    pub members: usize,
    /// The most entries of each table, by [`Table::index`]; without limit if absent. Prefixes of the FTN and of the FIB
    /// share one limit.
    pub entries: [Option<usize>; Table::ALL.len()],
}

impl Capabilities {
    pub(crate) fn of(config: &crate::Config) -> Capabilities {
        let limit = |table: Table| match table {
            Table::Ports | Table::Neighbors => usize::MAX,
            Table::Groups => config.groups_max,
            Table::Replications => config.lists_max,
            Table::Ilm => config.ilm_max,
            Table::Ftn | Table::Fib => config.fib_max,
            Table::Filters => config.filters_max,
        };
        let entries = Table::ALL.map(|table| Some(limit(table)).filter(|most| *most != usize::MAX));
        Capabilities { labels_pushed: LabelStack::MAX, members: MEMBERS_MAX, entries }
    }
}

/// What a forwarding plane tells by itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// A frame that the tables do not forward, as it came.
    Punt {
        /// By which it came.
        port: PortId,
        /// Byte for byte what came in.
        frame: Frame,
        /// Why it is not forwarded.
        reason: PuntReason,
    },
    /// A table was full when something was to be written. It is told again only after something was taken out.
    Full(Table),
}

/// What a forwarding plane has counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters {
    /// Ports in order of their numbers.
    pub ports: Vec<(PortId, PortCounters)>,
    /// Frames discarded, by reason.
    pub drops: DropCounters,
}
