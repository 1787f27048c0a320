//! SENDER_TEMPLATE and FILTER_SPEC, which share their formats (RFC 2205, A.10, A.9; RFC 3209, 4.6.2; RFC 4875, 19.2).

use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Which sender of a session: a flow's source, or one LSP of a tunnel.
///
/// ```text
///  LSP_TUNNEL_IPv4 (C-Type 7)
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                   IPv4 tunnel sender address                  |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |  MUST be zero                 |            LSP ID             |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum SenderTemplate {
    /// C-Type 1 (RFC 2205, A.9).
    #[serde(rename = "IPv4")]
    Ipv4 {
        /// Source of the data.
        source: Ipv4Addr,
        /// UDP or TCP source port; zero for none.
        port: u16,
    },
    /// C-Type 2 (RFC 2205, A.9).
    #[serde(rename = "IPv6")]
    Ipv6 {
        /// Source of the data.
        source: Ipv6Addr,
        /// UDP or TCP source port; zero for none.
        port: u16,
    },
    /// C-Type 3 (RFC 2205, A.9).
    #[serde(rename = "IPv6 flow label")]
    Ipv6FlowLabel {
        /// Source of the data.
        source: Ipv6Addr,
        /// The lowest 24 bits are carried.
        flow_label: u32,
    },
    /// C-Type 7 (RFC 3209, 4.6.2.1).
    #[serde(rename = "LSP_TUNNEL_IPv4")]
    LspTunnelIpv4 {
        /// Address of the ingress.
        sender: Ipv4Addr,
        /// Differs between the LSPs of one tunnel that share resources, as in make-before-break.
        lsp_id: u16,
    },
    /// C-Type 8 (RFC 3209, 4.6.2.2).
    #[serde(rename = "LSP_TUNNEL_IPv6")]
    LspTunnelIpv6 {
        /// Address of the ingress.
        sender: Ipv6Addr,
        /// Differs between the LSPs of one tunnel.
        lsp_id: u16,
    },
    /// C-Type 12 (RFC 4875, 19.2.1).
    #[serde(rename = "P2MP_LSP_TUNNEL_IPv4")]
    P2mpLspTunnelIpv4 {
        /// Address of the ingress.
        sender: Ipv4Addr,
        /// Differs between the LSPs of one tunnel.
        lsp_id: u16,
        /// Router that made this sub-group of leaves.
        subgroup_originator: Ipv4Addr,
        /// Sub-group within that router.
        subgroup_id: u16,
    },
    /// C-Type 13 (RFC 4875, 19.2.2).
    #[serde(rename = "P2MP_LSP_TUNNEL_IPv6")]
    P2mpLspTunnelIpv6 {
        /// Address of the ingress.
        sender: Ipv6Addr,
        /// Differs between the LSPs of one tunnel.
        lsp_id: u16,
        /// Router that made this sub-group of leaves.
        subgroup_originator: Ipv6Addr,
        /// Sub-group within that router.
        subgroup_id: u16,
    },
}

/// Which senders a reservation is for: the same formats as [`SenderTemplate`], so the two compare directly.
pub type FilterSpec = SenderTemplate;

impl SenderTemplate {
    /// The address of the sender.
    pub fn source(&self) -> IpAddr {
        match *self {
            SenderTemplate::Ipv4 { source, .. } => source.into(),
            SenderTemplate::Ipv6 { source, .. } | SenderTemplate::Ipv6FlowLabel { source, .. } => {
                source.into()
            }
            SenderTemplate::LspTunnelIpv4 { sender, .. }
            | SenderTemplate::P2mpLspTunnelIpv4 { sender, .. } => sender.into(),
            SenderTemplate::LspTunnelIpv6 { sender, .. }
            | SenderTemplate::P2mpLspTunnelIpv6 { sender, .. } => sender.into(),
        }
    }

    /// The LSP id, if the sender is an LSP.
    pub fn lsp_id(&self) -> Option<u16> {
        match *self {
            SenderTemplate::LspTunnelIpv4 { lsp_id, .. }
            | SenderTemplate::LspTunnelIpv6 { lsp_id, .. }
            | SenderTemplate::P2mpLspTunnelIpv4 { lsp_id, .. }
            | SenderTemplate::P2mpLspTunnelIpv6 { lsp_id, .. } => Some(lsp_id),
            _ => None,
        }
    }
}
