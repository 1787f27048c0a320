//! SENDER_TEMPLATE and FILTER_SPEC, which share their formats (RFC 2205, A.10, A.9; RFC 3209, 4.6.2; RFC 4875, 19.2).

use super::error::Fault;
use super::field::{Get, Put};
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

impl SenderTemplate {
    #[inline]
    pub(crate) fn parse(c_type: u8, body: &[u8]) -> Result<SenderTemplate, Fault> {
        Ok(match c_type {
            1 => {
                let mut get = Get::exact(body, 8)?;
                let source = get.v4();
                get.u16();
                SenderTemplate::Ipv4 { source, port: get.u16() }
            }
            2 => {
                let mut get = Get::exact(body, 20)?;
                let source = get.v6();
                get.u16();
                SenderTemplate::Ipv6 { source, port: get.u16() }
            }
            3 => {
                let mut get = Get::exact(body, 20)?;
                let source = get.v6();
                get.u8();
                SenderTemplate::Ipv6FlowLabel { source, flow_label: get.u24() }
            }
            7 => {
                let mut get = Get::exact(body, 8)?;
                let sender = get.v4();
                get.u16();
                SenderTemplate::LspTunnelIpv4 { sender, lsp_id: get.u16() }
            }
            8 => {
                let mut get = Get::exact(body, 20)?;
                let sender = get.v6();
                get.u16();
                SenderTemplate::LspTunnelIpv6 { sender, lsp_id: get.u16() }
            }
            12 => {
                let mut get = Get::exact(body, 16)?;
                let sender = get.v4();
                get.u16();
                let (lsp_id, subgroup_originator) = (get.u16(), get.v4());
                get.u16();
                let subgroup_id = get.u16();
                SenderTemplate::P2mpLspTunnelIpv4 { sender, lsp_id, subgroup_originator, subgroup_id }
            }
            13 => {
                let mut get = Get::exact(body, 40)?;
                let sender = get.v6();
                get.u16();
                let (lsp_id, subgroup_originator) = (get.u16(), get.v6());
                get.u16();
                let subgroup_id = get.u16();
                SenderTemplate::P2mpLspTunnelIpv6 { sender, lsp_id, subgroup_originator, subgroup_id }
            }
            _ => return Err(Fault::UNKNOWN_C_TYPE),
        })
    }

    /// Writes a SENDER_TEMPLATE or FILTER_SPEC, as `class` says.
    #[inline]
    pub(crate) fn emit(&self, class: u8, out: &mut impl Put) {
        match *self {
            SenderTemplate::Ipv4 { source, port } => {
                out.object(class, 1, 8);
                out.v4(source);
                out.u32(port.into());
            }
            SenderTemplate::Ipv6 { source, port } => {
                out.object(class, 2, 20);
                out.v6(source);
                out.u32(port.into());
            }
            SenderTemplate::Ipv6FlowLabel { source, flow_label } => {
                out.object(class, 3, 20);
                out.v6(source);
                out.u8_u24(0, flow_label);
            }
            SenderTemplate::LspTunnelIpv4 { sender, lsp_id } => {
                out.object(class, 7, 8);
                out.v4(sender);
                out.u32(lsp_id.into());
            }
            SenderTemplate::LspTunnelIpv6 { sender, lsp_id } => {
                out.object(class, 8, 20);
                out.v6(sender);
                out.u32(lsp_id.into());
            }
            SenderTemplate::P2mpLspTunnelIpv4 { sender, lsp_id, subgroup_originator, subgroup_id } => {
                out.object(class, 12, 16);
                out.v4(sender);
                out.u32(lsp_id.into());
                out.v4(subgroup_originator);
                out.u32(subgroup_id.into());
            }
            SenderTemplate::P2mpLspTunnelIpv6 { sender, lsp_id, subgroup_originator, subgroup_id } => {
                out.object(class, 13, 40);
                out.v6(sender);
                out.u32(lsp_id.into());
                out.v6(subgroup_originator);
                out.u32(subgroup_id.into());
            }
        }
    }
}
