//! The plane boundary from below: what a driver does for the control plane of a node.
//!
//! All that is written to a forwarding plane comes as a [`Batch`] with a transaction (owner and number) and is answered
//! by an [`Ack`]. Flows are written as other entries are ([`Fec::Flow`](base::plane::Fec::Flow)), and so are groups
//! and replication lists.
//!
//! - [`ForwardingPlane`]: the tables of a node and the driver that writes them; what a router has
//! - [`Driver`]: the contract of drivers; [`Setup`]: how one is made
//! - [`Soft`]: the tables of this process, as drivers write them
//! - [`model`]: the driver of a router unless its description names another: write times, limits and failures of a
//!   device that was measured
//! - [`openflow`]: the forwarding plane is a switch elsewhere; [`Remote`]: what a driver of such a thing does besides
//! - [`staged`]: a made-up driver, an example for developers
//!
//! A driver decides when and whether a write comes into force, and nothing else. It reads no clock, and no packet in
//! transit passes it.

pub mod model;
pub mod openflow;
mod plane;
mod soft;
pub mod staged;
#[cfg(test)]
mod tests;
mod timing;

pub use model::Model;
pub use plane::ForwardingPlane;
pub use soft::{Soft, Written};
pub use timing::{Timing, WriteTime};

use crate::port::PortCounters;
use crate::punt::{Exception, PuntReason};
use crate::tables::Config;
use base::describe::SectionDecl;
use base::device::DropCounters;
use base::plane::{Batch, LabelStack, MEMBERS_MAX, Table, TableOp};
use base::table::View;
use base::{Frame, PortId, Time};
use core::any::Any;
use core::fmt::Debug;
use core::net::IpAddr;

/// The drivers that there are, a line for each.
pub const DRIVERS: &[Known] = &[model::KNOWN, openflow::KNOWN, staged::KNOWN];

/// What writes the tables of a forwarding plane. `now` never goes back.
///
/// Time: [`Driver::advance`] is called when [`Driver::poll_timeout`] is due, and before every [`Driver::submit`].
/// Answers and notices go to the [`Soft`] that every call is given: [`Soft::answer`], [`Soft::tell`].
///
/// The functions with a body are those of the tables in this process. A driver whose tables are elsewhere has its own.
pub trait Driver: Any + Debug + Send {
    /// Takes a batch. Its operations come into force in order, each at once and whole. Batches come into force in
    /// order, but for those of which no operation costs any time: they never wait, unless they are barriers. Each is
    /// answered once, when its last operation is in force or has failed; one without operations asks when those before
    /// it are in force.
    fn submit(&mut self, now: Time, soft: &mut Soft, batch: Batch);

    /// Does what is due at `now`.
    fn advance(&mut self, now: Time, soft: &mut Soft);

    /// When the next operation is due.
    fn poll_timeout(&self) -> Option<Time>;

    /// Operations that are not in force yet.
    fn backlog(&self) -> usize;

    /// What the forwarding plane can do, and how much of it.
    fn capabilities(&self, soft: &Soft) -> Capabilities {
        soft.capabilities()
    }

    /// Sends an IP packet of the node; `frame` has 14 bytes of room for an Ethernet header in front of it. It goes to
    /// the neighbour `via`, or where the tables say. Returns the egress port.
    fn packet_out(
        &mut self,
        soft: &mut Soft,
        frame: &mut Frame,
        via: Option<(PortId, IpAddr)>,
    ) -> Result<PortId, Exception> {
        soft.packet_out(frame, via)
    }

    /// Can frames leave by the port? Nothing if there is no such port.
    fn port_state(&self, soft: &Soft, port: PortId) -> Option<bool> {
        soft.port_state(port)
    }

    /// What went through every port, and what was dropped.
    fn counters(&self, soft: &Soft) -> Counters {
        soft.counters()
    }

    /// Itself, if its forwarding plane is elsewhere.
    fn remote(&mut self) -> Option<&mut dyn Remote> {
        None
    }

    /// If its forwarding plane is elsewhere: are there bytes for it? And can't it be talked to, so that its connection
    /// is to be closed?
    fn channel_state(&self) -> (bool, bool) {
        (false, false)
    }

    /// All that is in force, as operations that write it into an empty forwarding plane in an order in which none
    /// fails. Who lost sight of a forwarding plane compares it with what should be there.
    fn resync(&self, soft: &Soft) -> Vec<TableOp> {
        soft.resync()
    }
}

/// What a driver does besides whose forwarding plane is elsewhere: frames come from it and leave by it, over a
/// connection that the owner of the node's sockets carries.
pub trait Remote {
    /// The connection is there.
    fn opened(&mut self, now: Time);

    /// Bytes have come by it.
    fn received(&mut self, now: Time, soft: &mut Soft, bytes: &[u8]);

    /// It has ended.
    fn closed(&mut self);

    /// Bytes to be sent by it.
    fn take_output(&mut self) -> Vec<u8>;

    /// Sends a frame by a port of the node.
    fn transmit(&mut self, port: PortId, frame: &Frame);

    /// What the forwarding plane hands to the node.
    fn poll_arrival(&mut self) -> Option<Arrival>;
}

/// What a forwarding plane that is elsewhere hands to its node.
#[derive(Clone, Debug)]
pub enum Arrival {
    /// A frame that came by a port and that it does not forward by itself.
    Frame(PortId, Frame),
    /// A port can be used from now on, or not.
    Port(PortId, bool),
}

/// How the driver of a node is made.
pub trait Setup: Debug + Send + Sync {
    /// The tables as the driver lets them be: it may lower the limits of a device.
    fn config(&self, config: Config) -> Config {
        config
    }

    /// The TCP port that the node is to listen at for its forwarding plane, if that is elsewhere.
    fn listens(&self) -> Option<u16> {
        None
    }

    /// The driver of empty tables, of a device that is as fast and as reliable as `timing` says.
    fn driver(&self, timing: Timing) -> Box<dyn Driver>;
}

/// What is known of a driver without a node that has it: a line of [`DRIVERS`].
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Its name: what users write as `table_driver` of a router.
    pub name: &'static str,
    /// Its tables, of routers that have it.
    pub views: &'static [View],
    /// What users write of it, under its name.
    pub section: SectionDecl<dyn Setup>,
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
    pub(crate) fn of(config: &Config) -> Capabilities {
        let limit = |table: Table| match table {
            Table::Ports | Table::Neighbors => usize::MAX,
            Table::Groups => config.groups_max,
            Table::Replications => config.lists_max,
            Table::Multicast => config.multicast_max,
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
