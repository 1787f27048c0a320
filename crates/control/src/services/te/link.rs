//! Links as traffic engineering knows them, whatever protocol has told of them.

use crate::owner::Owner;
use crate::services::Unreserved;
use base::{Rate, Time};
use core::net::Ipv4Addr;

/// Names what a protocol has told of one link or one router. Links of a router are in the order of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TeKey {
    /// The protocol that has told of it.
    pub owner: Owner,
    /// A part of the network in which it is told, such as an area.
    pub area: u32,
    /// The router that has said it.
    pub router: Ipv4Addr,
    /// Which one of that router's.
    pub number: u32,
}

/// What is at the far end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Towards {
    /// One router, by its router id.
    Router(Ipv4Addr),
    /// A network of several routers, by a name that all of them have for it.
    Network(Ipv4Addr),
}

/// One direction of a link, as the router at its near end describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct TeLink {
    /// What it leads to.
    pub towards: Towards,
    /// The router's own address on it; unspecified if it has none.
    pub local: Ipv4Addr,
    /// The neighbour's address on it, if there is one neighbour that has one.
    pub remote: Option<Ipv4Addr>,
    /// What it costs to traffic engineering.
    pub te_metric: Option<u32>,
    /// What it costs to the routing protocol.
    pub igp_metric: Option<u32>,
    /// What may be reserved of it.
    pub reservable: Rate,
    /// What each setup priority could still get.
    pub unreserved: Unreserved,
    /// Administrative groups, one a bit.
    pub groups: u32,
    /// Shared risk link groups.
    pub srlgs: Vec<u32>,
}

impl TeLink {
    /// Would paths lead elsewhere, whatever their constraints?
    pub(super) fn is_elsewhere(&self, other: &TeLink) -> bool {
        (self.towards, self.local, self.remote) != (other.towards, other.local, other.remote)
    }
}

/// Why a link is not used for a while, though it is announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distrust {
    /// It did not take an LSP at all.
    Failed,
    /// It had not as much as that for this setup priority.
    Refused {
        /// The setup priority that asked.
        priority: u8,
        /// What it asked for.
        rate: Rate,
    },
}

/// A link in the database.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub key: TeKey,
    pub link: TeLink,
    /// What signalling has found out since the link was announced, and until when that counts.
    pub distrust: Option<(Distrust, Time)>,
}
