//! Why the fast path does not forward a frame.

use base::PortId;
use base::device::DropReason;
use core::net::IpAddr;

/// Why a frame goes to the control processor. `labels` says how many label stack entries the frame came with, so that
/// its IP header is [`ip_offset`] bytes from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PuntReason {
    /// An ARP packet: the control processor answers it, or learns from it.
    Arp,
    /// A frame with an LLC header, where the control plane listens to such.
    Llc,
    /// For this node: one of its addresses, or a group or broadcast address.
    Local {
        /// Labels in front of the IP header.
        labels: u8,
    },
    /// The router alert label (RFC 3032, 2.1) or the IP option of that name (RFC 2113).
    RouterAlert {
        /// Labels in front of the IP header.
        labels: u8,
    },
    /// IP options other than router alert, which tables know nothing of.
    Options {
        /// Labels in front of the IP header.
        labels: u8,
    },
    /// The time to live would be over: answer with ICMP time exceeded.
    TtlExpired {
        /// Labels in front of the IP header.
        labels: u8,
    },
    /// A label without an entry, and the time to live would be over: dropped, unless it tests an LSP.
    UnknownLabel {
        /// Labels in front of the IP header.
        labels: u8,
    },
    /// Longer than the egress port takes: fragment, or answer with ICMP fragmentation needed.
    TooBig {
        /// The longest IP packet that fits: the port's MTU less the labels that the packet would leave with.
        mtu: u32,
        /// Labels in front of the IP header.
        labels: u8,
    },
    /// The neighbour's Ethernet address is not known: ask for it.
    NoAdjacency {
        /// By which the packet would leave.
        port: PortId,
        /// Address to ask for: the next hop, or the destination on a connected network.
        gateway: IpAddr,
    },
    /// An entry that replicates: make a copy for each branch ([`crate::Forwarding::copy`]).
    Replicate {
        /// How many copies there are to be, at least one.
        branches: u16,
    },
    /// A packet to a group that came by a port which such packets are sent to: dropped, and protocols of trees are
    /// told.
    WrongInterface,
    /// No route to the destination: answer with ICMP network unreachable.
    NoRoute {
        /// Labels in front of the IP header.
        labels: u8,
    },
}

/// How many label stack entries a frame came with.
pub fn labels_of(frame: &base::Frame) -> u8 {
    u8::try_from(crate::packet::labels_in(frame.header())).unwrap_or(u8::MAX)
}

/// Where the IP header of a frame with so many labels begins.
pub const fn ip_offset(labels: u8) -> usize {
    crate::packet::ETHERNET + crate::packet::LABEL * labels as usize
}

/// Whatever is not simply transmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exception {
    /// The frame is discarded.
    Drop(DropReason),
    /// The frame, unchanged, goes to the control processor.
    Punt(PuntReason),
}

impl From<DropReason> for Exception {
    fn from(reason: DropReason) -> Exception {
        Exception::Drop(reason)
    }
}
impl From<PuntReason> for Exception {
    fn from(reason: PuntReason) -> Exception {
        Exception::Punt(reason)
    }
}
