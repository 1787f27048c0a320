//! What RSVP-TE tells the user.

use super::P2mpId;
use super::Rsvp;
use super::command::TunnelId;
use base::protocol_value::{ProtocolType, ProtocolValue};
use base::{Label, PortId, ProtocolId};
use core::net::Ipv4Addr;
use serde::Serialize;

/// Something that happened at an RSVP-TE speaker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
    /// There is no path for a tunnel whose head end computes it.
    LspNoPath {
        /// Identifies the tunnel among those that begin at the device.
        tunnel: TunnelId,
        /// What is in the way, in words for people.
        reason: String,
    },
    /// A tunnel has a standby: an LSP along a disjoint path that takes over when the other fails.
    LspStandbyUp {
        /// Identifies the tunnel among those that begin at the device.
        tunnel: TunnelId,
        /// LSP id of the standby within the tunnel.
        lsp_id: u16,
    },
    /// A tunnel has no standby any more; its traffic flows.
    LspStandbyDown {
        /// Identifies the tunnel among those that begin at the device.
        tunnel: TunnelId,
        /// LSP id of the standby within the tunnel.
        lsp_id: u16,
        /// What made the standby end, in words for people.
        reason: String,
    },
    /// There is no path for the standby of a tunnel. It is told when this becomes so, and not at each attempt.
    LspStandbyNoPath {
        /// Identifies the tunnel among those that begin at the device.
        tunnel: TunnelId,
        /// What is in the way, in words for people.
        reason: String,
    },
    /// The end of a tunnel whose LSPs carry the same packets takes those of this one from now on.
    LspSelected {
        /// Address of the tunnel's head end.
        from: Ipv4Addr,
        /// Identifies the tunnel among those that begin there.
        tunnel: TunnelId,
        /// LSP id within the tunnel.
        lsp_id: u16,
        /// LSP id of the LSP whose packets were taken before; absent if it is the first.
        before: Option<u16>,
        /// Why, in words for people.
        reason: String,
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
    /// An LSP goes on around a failure; its head end, which tells of it, looks for another way (RFC 4090, 6.5.1).
    LspRepaired {
        /// Identifies the tunnel among those that begin at the device.
        tunnel: TunnelId,
        /// LSP id within the tunnel: each rerouting takes a new one (RFC 3209, 4.6.2.1).
        lsp_id: u16,
        /// The router that leads it around, the point of local repair.
        node: Ipv4Addr,
    },
    /// A link failed here, and LSPs go on through a bypass tunnel, or each through a detour of its own.
    LspsDiverted {
        /// The name of the bypass; absent of detours.
        bypass: Option<String>,
        /// The port that they left by.
        port: PortId,
        /// How many LSPs.
        lsps: u32,
    },
    /// Packets of a point-to-multipoint tunnel reach a leaf.
    LeafUp {
        /// Identifies the tunnel among those that begin at the device.
        tunnel: P2mpId,
        /// Address of the leaf.
        leaf: Ipv4Addr,
    },
    /// They do not any more.
    LeafDown {
        /// Identifies the tunnel among those that begin at the device.
        tunnel: P2mpId,
        /// Address of the leaf.
        leaf: Ipv4Addr,
        /// Why, in words for people.
        reason: String,
    },
    /// The S2L sub-LSP of a leaf was answered by an error.
    LeafError {
        /// Identifies the tunnel among those that begin at the device.
        tunnel: P2mpId,
        /// Address of the leaf.
        leaf: Ipv4Addr,
        /// The node that found the error.
        node: Ipv4Addr,
        /// Error code (RFC 2205, appendix B).
        code: u8,
        /// Error value: what it means depends on the code (RFC 2205, appendix B).
        value: u16,
    },
    /// A point-to-multipoint tunnel's traffic moved to another LSP without being interrupted (RFC 4875, 14.1).
    TreeRerouted {
        /// Identifies the tunnel among those that begin at the device.
        tunnel: P2mpId,
        /// The LSP that carried it before.
        from_lsp: u16,
        /// The LSP that carries it now.
        to_lsp: u16,
    },
    /// The LSP that was to take the place of another can't be had: the traffic stays where it is.
    TreeStays {
        /// Identifies the tunnel among those that begin at the device.
        tunnel: P2mpId,
        /// The LSP that carries the traffic.
        lsp_id: u16,
        /// What was wrong with the new one, in words for people.
        reason: String,
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
}

impl ProtocolType for Event {
    const PROTOCOL: ProtocolId = Rsvp::ID;
}

impl From<Event> for base::Event {
    fn from(event: Event) -> base::Event {
        base::Event::Protocol(ProtocolValue::new(event))
    }
}
