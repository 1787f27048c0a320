//! What a device tells the user.

use crate::command::TunnelId;
use crate::label::Label;
use core::net::Ipv4Addr;
use serde::{Deserialize, Serialize};

/// Something that happened at a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A tunnel has an LSP that carries traffic.
    LspUp {
        /// Identifies the tunnel among those that begin at the device.
        tunnel: TunnelId,
        /// LSP id within the tunnel: each rerouting takes a new one (RFC 3209, 4.6.2.1).
        lsp_id: u16,
        /// The label that the next hop gave.
        label: Label,
        /// Addresses recorded along the way, from the next hop to the egress, if asked for.
        route: Vec<Ipv4Addr>,
    },
    /// A tunnel has no LSP any more.
    LspDown {
        /// Identifies the tunnel among those that begin at the device.
        tunnel: TunnelId,
        /// LSP id within the tunnel: each rerouting takes a new one (RFC 3209, 4.6.2.1).
        lsp_id: u16,
        /// What made the LSP end, in words for people.
        reason: String,
    },
    /// An attempt to set an LSP up was answered by an error.
    LspError {
        /// Identifies the tunnel among those that begin at the device.
        tunnel: TunnelId,
        /// LSP id within the tunnel: each rerouting takes a new one (RFC 3209, 4.6.2.1).
        lsp_id: u16,
        /// The node that found the error.
        node: Ipv4Addr,
        /// Error code (RFC 2205, appendix B).
        code: u8,
        /// Error value: what it means depends on the code (RFC 2205, appendix B).
        value: u16,
    },
    /// A tunnel's traffic moved to another LSP without being interrupted.
    LspRerouted {
        /// Identifies the tunnel among those that begin at the device.
        tunnel: TunnelId,
        /// The LSP that carried it before.
        from_lsp: u16,
        /// The LSP that carries it now.
        to_lsp: u16,
    },
    /// A neighbour answers Hellos.
    NeighborUp {
        /// Address of the neighbour's interface, from which its Hellos come (RFC 3209, 5).
        neighbor: Ipv4Addr,
    },
    /// A neighbour stopped to answer Hellos, or restarted.
    NeighborDown {
        /// Address of the neighbour's interface, from which its Hellos come (RFC 3209, 5).
        neighbor: Ipv4Addr,
        /// Did it restart (its instance changed)?
        restarted: bool,
    },
    /// An answer to a probe.
    ProbeReply {
        /// Source address of the answer: the destination itself, or the router where the TTL ended.
        from: Ipv4Addr,
        /// As given in [`Command::Probe`](crate::command::Command::Probe).
        sequence: u16,
        /// ICMP type of the answer: 0 is an echo reply, 3 unreachable, 11 time exceeded (RFC 792).
        kind: u8,
        /// ICMP code: it says more about types 3 and 11, and is 0 in an echo reply.
        code: u8,
        /// The label stack that the answer quotes (RFC 4950), outermost first.
        labels: Vec<Label>,
    },
    /// A port can be used.
    PortUp {
        /// Number of the port at its device, as in [`PortId`](crate::PortId).
        port: u16,
    },
    /// A port can't be used.
    PortDown {
        /// Number of the port at its device, as in [`PortId`](crate::PortId).
        port: u16,
    },
}
