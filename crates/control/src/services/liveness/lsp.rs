//! LSPs that are watched from their head end (RFC 5884).

use crate::inquiry::Fec;
use base::plane::{IpPrefix, Prefix};
use core::fmt;
use core::net::Ipv4Addr;
use wire::ldp::P2mp;

/// An LSP, as the protocol knows it that gives its labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WatchedLsp {
    /// One of RSVP-TE, by session and sender (RFC 3209, 4.6).
    Rsvp {
        /// The address of the tail end.
        endpoint: Ipv4Addr,
        /// Tunnel id of the session.
        tunnel_id: u16,
        /// Extended tunnel id of the session.
        extended_tunnel_id: Ipv4Addr,
        /// The address of the head end.
        sender: Ipv4Addr,
        /// Which LSP of the tunnel.
        lsp_id: u16,
    },
    /// One of RSVP-TE with several ends (RFC 4875, 4.2).
    RsvpP2mp {
        /// P2MP ID of the session.
        p2mp_id: u32,
        /// Tunnel id of the session.
        tunnel_id: u16,
        /// Extended tunnel id of the session.
        extended_tunnel_id: Ipv4Addr,
        /// The address of the root.
        sender: Ipv4Addr,
        /// Which LSP of the tunnel.
        lsp_id: u16,
    },
    /// One of LDP with several ends (RFC 6388, 2.3.1).
    LdpP2mp {
        /// The address of the root.
        root: Ipv4Addr,
        /// Its generic LSP identifier there.
        lsp_id: u32,
    },
    /// That of a prefix to which LDP gives labels.
    Ldp(Prefix),
    /// That of a destination to which BGP gives labels (RFC 8277).
    Bgp(IpPrefix),
}

impl WatchedLsp {
    /// The LSP of RSVP-TE with one end that LSP ping means; nothing if it means another.
    pub fn of_rsvp(fec: &Fec) -> Option<WatchedLsp> {
        match *fec {
            Fec::RsvpIpv4 { endpoint, tunnel_id, extended_tunnel_id, sender, lsp_id } => {
                let extended_tunnel_id = Ipv4Addr::from_bits(extended_tunnel_id);
                Some(WatchedLsp::Rsvp { endpoint, tunnel_id, extended_tunnel_id, sender, lsp_id })
            }
            _ => None,
        }
    }

    /// As LSP ping has it (RFC 8029, 3.2).
    pub fn fec(self) -> Fec {
        match self {
            WatchedLsp::Rsvp { endpoint, tunnel_id, extended_tunnel_id, sender, lsp_id } => {
                let extended_tunnel_id = extended_tunnel_id.to_bits();
                Fec::RsvpIpv4 { endpoint, tunnel_id, extended_tunnel_id, sender, lsp_id }
            }
            WatchedLsp::RsvpP2mp { p2mp_id, tunnel_id, extended_tunnel_id, sender, lsp_id } => {
                let extended_tunnel_id = extended_tunnel_id.to_bits();
                Fec::RsvpP2mpIpv4 { p2mp_id, tunnel_id, extended_tunnel_id, sender, lsp_id }
            }
            WatchedLsp::LdpP2mp { root, lsp_id } => {
                let P2mp { root, opaque } = P2mp::generic(root.into(), lsp_id);
                Fec::LdpP2mp { root, opaque }
            }
            WatchedLsp::Ldp(prefix) => Fec::LdpIpv4 { prefix: prefix.address(), length: prefix.len() },
            WatchedLsp::Bgp(IpPrefix::V4(prefix)) => {
                Fec::BgpIpv4 { prefix: prefix.address(), length: prefix.len() }
            }
            WatchedLsp::Bgp(IpPrefix::V6(prefix)) => {
                Fec::BgpIpv6 { prefix: prefix.address(), length: prefix.len() }
            }
        }
    }
}

impl fmt::Display for WatchedLsp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fec().fmt(f)
    }
}
