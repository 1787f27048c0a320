//! The tables of a forwarding plane by name, for what writes cost and what is counted of them.

use super::{Fec, TableOp};
use serde::{Deserialize, Serialize};

/// A table that operations write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Table {
    /// Ports: addresses, MTU, and whether they can be used.
    Ports,
    /// Neighbours and their Ethernet addresses.
    Neighbors,
    /// Groups of next hops.
    Groups,
    /// Replication lists.
    Replications,
    /// Packets to groups.
    Multicast,
    /// The incoming label map.
    Ilm,
    /// Prefixes that are mapped to LSPs.
    Ftn,
    /// Filters that are mapped to LSPs.
    Filters,
    /// Routes.
    Fib,
}

impl Table {
    /// Every table, in the order in which they are declared.
    pub const ALL: [Table; 9] = [
        Table::Ports,
        Table::Neighbors,
        Table::Groups,
        Table::Replications,
        Table::Multicast,
        Table::Ilm,
        Table::Ftn,
        Table::Filters,
        Table::Fib,
    ];

    /// As an index into an array with a place for each table.
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl TableOp {
    /// The table that the operation writes.
    pub const fn table(&self) -> Table {
        match self {
            TableOp::PortSet { .. } | TableOp::PortTrust { .. } => Table::Ports,
            TableOp::AdjacencySet { .. } | TableOp::AdjacencyRemove { .. } => Table::Neighbors,
            TableOp::GroupSet { .. } | TableOp::GroupRemove { .. } => Table::Groups,
            TableOp::ReplicationSet { .. } | TableOp::ReplicationRemove { .. } => Table::Replications,
            TableOp::MulticastSet { .. }
            | TableOp::MulticastRemove { .. }
            | TableOp::MulticastThreshold { .. } => Table::Multicast,
            TableOp::IlmSet { .. }
            | TableOp::IlmRemove { .. }
            | TableOp::CircuitSet { .. }
            | TableOp::CircuitRemove { .. }
            | TableOp::CircuitHops { .. }
            | TableOp::SelectorSet { .. }
            | TableOp::SelectorRemove { .. } => Table::Ilm,
            TableOp::FtnSet { fec: Fec::Flow { .. }, .. } | TableOp::FtnRemove { fec: Fec::Flow { .. } } => {
                Table::Filters
            }
            TableOp::FtnSet { .. } | TableOp::FtnRemove { .. } => Table::Ftn,
            TableOp::RouteSet { .. }
            | TableOp::RouteRemove { .. }
            | TableOp::Route6Set { .. }
            | TableOp::Route6Remove { .. } => Table::Fib,
        }
    }

    /// Does the operation put something in, or take something out?
    pub const fn is_removal(&self) -> bool {
        matches!(
            self,
            TableOp::AdjacencyRemove { .. }
                | TableOp::GroupRemove { .. }
                | TableOp::ReplicationRemove { .. }
                | TableOp::MulticastRemove { .. }
                | TableOp::IlmRemove { .. }
                | TableOp::CircuitRemove { .. }
                | TableOp::SelectorRemove { .. }
                | TableOp::CircuitHops { hops: None, .. }
                | TableOp::FtnRemove { .. }
                | TableOp::RouteRemove { .. }
                | TableOp::Route6Remove { .. }
        )
    }
}
