//! The SESSION object (RFC 2205, A.1; RFC 3209, 4.6.1; RFC 4875, 19.1).

use super::class::SESSION;
use super::error::Fault;
use super::field::{Get, Put};
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What a message is about: a data flow (RFC 2205) or a tunnel (RFC 3209).
///
/// ```text
///  LSP_TUNNEL_IPv4 (C-Type 7)
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                   IPv4 tunnel end point address               |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |  MUST be zero                 |      Tunnel ID                |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                       Extended Tunnel ID                      |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Session {
    /// C-Type 1: a flow to an IPv4 address (RFC 2205, A.1).
    #[serde(rename = "IPv4/UDP")]
    Ipv4 {
        /// Destination of the data: a host or a group.
        destination: Ipv4Addr,
        /// IP protocol of the data, not zero.
        protocol: u8,
        /// Bit 0 (0x01): E_Police, no policing has been done yet.
        flags: u8,
        /// UDP or TCP destination port; zero for none.
        port: u16,
    },
    /// C-Type 2: a flow to an IPv6 address (RFC 2205, A.1).
    #[serde(rename = "IPv6/UDP")]
    Ipv6 {
        /// Destination of the data: a host or a group.
        destination: Ipv6Addr,
        /// IP protocol of the data, not zero.
        protocol: u8,
        /// Bit 0 (0x01): E_Police.
        flags: u8,
        /// UDP or TCP destination port; zero for none.
        port: u16,
    },
    /// C-Type 7: a tunnel to an IPv4 router (RFC 3209, 4.6.1.1).
    #[serde(rename = "LSP_TUNNEL_IPv4")]
    LspTunnelIpv4 {
        /// The egress of the tunnel.
        end_point: Ipv4Addr,
        /// Constant over the life of the tunnel.
        tunnel_id: u16,
        /// Usually the address of the ingress, so that two of them may choose the same tunnel id; else zero.
        extended_tunnel_id: Ipv4Addr,
    },
    /// C-Type 8: a tunnel to an IPv6 router (RFC 3209, 4.6.1.2).
    #[serde(rename = "LSP_TUNNEL_IPv6")]
    LspTunnelIpv6 {
        /// The egress of the tunnel.
        end_point: Ipv6Addr,
        /// Constant over the life of the tunnel.
        tunnel_id: u16,
        /// Usually the address of the ingress; else zero.
        extended_tunnel_id: Ipv6Addr,
    },
    /// C-Type 13: a point-to-multipoint tunnel (RFC 4875, 19.1.1).
    #[serde(rename = "P2MP_LSP_TUNNEL_IPv4")]
    P2mpLspTunnelIpv4 {
        /// Identifies the set of destinations within the scope of the ingress.
        p2mp_id: u32,
        /// Constant over the life of the tunnel.
        tunnel_id: u16,
        /// The address of the ingress, or zero.
        extended_tunnel_id: Ipv4Addr,
    },
    /// C-Type 14: a point-to-multipoint tunnel over IPv6 (RFC 4875, 19.1.2).
    #[serde(rename = "P2MP_LSP_TUNNEL_IPv6")]
    P2mpLspTunnelIpv6 {
        /// Identifies the set of destinations within the scope of the ingress.
        p2mp_id: u32,
        /// Constant over the life of the tunnel.
        tunnel_id: u16,
        /// The address of the ingress, or zero.
        extended_tunnel_id: Ipv6Addr,
    },
}

impl Session {
    /// Is it that of a point-to-multipoint tunnel (RFC 4875)?
    #[inline]
    pub const fn is_p2mp(&self) -> bool {
        matches!(self, Session::P2mpLspTunnelIpv4 { .. } | Session::P2mpLspTunnelIpv6 { .. })
    }

    /// Where a Path message for this session is addressed; a point-to-multipoint session alone does not say.
    pub fn destination(&self) -> Option<IpAddr> {
        match *self {
            Session::Ipv4 { destination, .. } => Some(destination.into()),
            Session::Ipv6 { destination, .. } => Some(destination.into()),
            Session::LspTunnelIpv4 { end_point, .. } => Some(end_point.into()),
            Session::LspTunnelIpv6 { end_point, .. } => Some(end_point.into()),
            Session::P2mpLspTunnelIpv4 { .. } | Session::P2mpLspTunnelIpv6 { .. } => None,
        }
    }
}

impl Session {
    #[inline]
    pub(crate) fn parse(c_type: u8, body: &[u8]) -> Result<Session, Fault> {
        Ok(match c_type {
            1 => {
                let mut get = Get::exact(body, 8)?;
                let destination = get.v4();
                Session::Ipv4 { destination, protocol: get.u8(), flags: get.u8(), port: get.u16() }
            }
            2 => {
                let mut get = Get::exact(body, 20)?;
                let destination = get.v6();
                Session::Ipv6 { destination, protocol: get.u8(), flags: get.u8(), port: get.u16() }
            }
            7 => {
                let mut get = Get::exact(body, 12)?;
                let end_point = get.v4();
                get.u16();
                Session::LspTunnelIpv4 { end_point, tunnel_id: get.u16(), extended_tunnel_id: get.v4() }
            }
            8 => {
                let mut get = Get::exact(body, 36)?;
                let end_point = get.v6();
                get.u16();
                Session::LspTunnelIpv6 { end_point, tunnel_id: get.u16(), extended_tunnel_id: get.v6() }
            }
            13 => {
                let mut get = Get::exact(body, 12)?;
                let p2mp_id = get.u32();
                get.u16();
                Session::P2mpLspTunnelIpv4 { p2mp_id, tunnel_id: get.u16(), extended_tunnel_id: get.v4() }
            }
            14 => {
                let mut get = Get::exact(body, 24)?;
                let p2mp_id = get.u32();
                get.u16();
                Session::P2mpLspTunnelIpv6 { p2mp_id, tunnel_id: get.u16(), extended_tunnel_id: get.v6() }
            }
            _ => return Err(Fault::UNKNOWN_C_TYPE),
        })
    }

    #[inline]
    pub(crate) fn emit(&self, out: &mut impl Put) {
        match *self {
            Session::Ipv4 { destination, protocol, flags, port } => {
                out.object(SESSION, 1, 8);
                out.v4(destination);
                out.bytes(&[protocol, flags]);
                out.u16(port);
            }
            Session::Ipv6 { destination, protocol, flags, port } => {
                out.object(SESSION, 2, 20);
                out.v6(destination);
                out.bytes(&[protocol, flags]);
                out.u16(port);
            }
            Session::LspTunnelIpv4 { end_point, tunnel_id, extended_tunnel_id } => {
                out.object(SESSION, 7, 12);
                out.v4(end_point);
                out.u32(tunnel_id.into());
                out.v4(extended_tunnel_id);
            }
            Session::LspTunnelIpv6 { end_point, tunnel_id, extended_tunnel_id } => {
                out.object(SESSION, 8, 36);
                out.v6(end_point);
                out.u32(tunnel_id.into());
                out.v6(extended_tunnel_id);
            }
            Session::P2mpLspTunnelIpv4 { p2mp_id, tunnel_id, extended_tunnel_id } => {
                out.object(SESSION, 13, 12);
                out.u32(p2mp_id);
                out.u32(tunnel_id.into());
                out.v4(extended_tunnel_id);
            }
            Session::P2mpLspTunnelIpv6 { p2mp_id, tunnel_id, extended_tunnel_id } => {
                out.object(SESSION, 14, 24);
                out.u32(p2mp_id);
                out.u32(tunnel_id.into());
                out.v6(extended_tunnel_id);
            }
        }
    }
}
