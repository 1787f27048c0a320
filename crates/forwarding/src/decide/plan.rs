//! What is decided on a frame.

use base::plane::LabelStack;
use base::{Dscp, Phb, TrafficClass};
use core::net::Ipv4Addr;

/// How to rewrite a frame that is transmitted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Plan {
    /// How many labels to take off.
    pub(crate) pop: usize,
    /// Label stack entries to put on; the last of the first `depth` is outermost. Those of an
    /// entry, those of the way out, and the router alert label that goes back on.
    pub(crate) stack: [u32; Plan::DEPTH],
    pub(crate) depth: usize,
    /// The time to live to write into the header below those: a label stack entry or an IP header.
    pub(crate) below_ttl: Option<u8>,
    /// Is that header IP?
    pub(crate) below_is_ip: bool,
    /// If so, is it IPv6?
    pub(crate) below_is_ipv6: bool,
    /// The code point to write into that IP header.
    pub(crate) below_dscp: Option<Dscp>,
    /// The TC bits to write into that label stack entry.
    pub(crate) below_tc: Option<TrafficClass>,
    /// The PHB that the packet gets here, if it was determined.
    pub(crate) phb: Option<Phb>,
    /// Where the context of the labels is that are put on, if they have one.
    pub(crate) context: Option<u8>,
    /// The neighbour that it goes to, among the next hops.
    pub(crate) adjacency: u32,
    /// Where the replication list is, of a copy.
    pub(crate) list: Option<u32>,
    pub(crate) by: By,
    /// Bytes behind the IP packet, which belong to nobody.
    pub(crate) excess: u32,
}

impl Plan {
    /// The most labels that are put on.
    pub(crate) const DEPTH: usize = 2 * LabelStack::MAX + 1;
}

/// What decided on a packet, and where it counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum By {
    /// A label, or the sender itself.
    #[default]
    Label,
    /// A route, or an FTN entry for all packets to a prefix: its place in the FIB, and an address of the prefix.
    Prefix(u32, Ipv4Addr),
    /// A route, or an FTN entry, of IPv6: its place in the FIB.
    Prefix6(u32),
    /// A prefix, and a place among its LSPs for some PHBs.
    Class(u32, u8),
    /// An entry for a group: its place, and the way in which the packet arrived.
    Group(u32, u16),
    /// An FTN entry for the packets that a filter takes: its place among the filters.
    Filter(u32),
}
