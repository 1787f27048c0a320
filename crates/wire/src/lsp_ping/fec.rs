//! What labels stand for: the sub-TLVs of a target FEC stack (RFC 8029, 3.2; RFC 6425, 3.1).

use crate::hex::Hex;
use core::fmt::{self, Write};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use serde::{Deserialize, Serialize};

/// What a label stands for, by its name under `fec`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fec", rename_all = "kebab-case")]
pub enum Fec {
    /// A prefix of LDP.
    LdpIpv4 {
        /// The lowest address of the prefix.
        prefix: Ipv4Addr,
        /// Bits of the prefix.
        length: u8,
    },
    /// A prefix of LDP.
    LdpIpv6 {
        /// The lowest address of the prefix.
        prefix: Ipv6Addr,
        /// Bits of the prefix.
        length: u8,
    },
    /// An LSP of RSVP-TE.
    RsvpIpv4 {
        /// The address of the tail end.
        endpoint: Ipv4Addr,
        /// Tunnel id of the session.
        tunnel_id: u16,
        /// Extended tunnel id of the session.
        extended_tunnel_id: u32,
        /// The address of the head end.
        sender: Ipv4Addr,
        /// Which LSP of the tunnel.
        lsp_id: u16,
    },
    /// A prefix that BGP has given a label (RFC 8277).
    BgpIpv4 {
        /// The lowest address of the prefix.
        prefix: Ipv4Addr,
        /// Bits of the prefix.
        length: u8,
    },
    /// A prefix that BGP has given a label.
    BgpIpv6 {
        /// The lowest address of the prefix.
        prefix: Ipv6Addr,
        /// Bits of the prefix.
        length: u8,
    },
    /// A prefix that has a label of a protocol that is not known, or that changes on the way.
    GenericIpv4 {
        /// The lowest address of the prefix.
        prefix: Ipv4Addr,
        /// Bits of the prefix.
        length: u8,
    },
    /// A prefix that has a label of a protocol that is not known, or that changes on the way.
    GenericIpv6 {
        /// The lowest address of the prefix.
        prefix: Ipv6Addr,
        /// Bits of the prefix.
        length: u8,
    },
    /// A reserved label that no protocol gives, or a FEC that somebody hides (3.2.17).
    Nil {
        /// The label; 0 for what is hidden.
        label: u32,
    },
    /// An LSP of RSVP-TE with several ends (RFC 6425, 3.1.1.1).
    RsvpP2mpIpv4 {
        /// P2MP ID of the session.
        p2mp_id: u32,
        /// Tunnel id of the session.
        tunnel_id: u16,
        /// Extended tunnel id of the session.
        extended_tunnel_id: u32,
        /// The address of the root.
        sender: Ipv4Addr,
        /// Which LSP of the tunnel.
        lsp_id: u16,
    },
    /// An LSP of LDP with several ends (RFC 6425, 3.1.2.1).
    LdpP2mp {
        /// The address of the root.
        root: IpAddr,
        /// What the root tells its LSPs apart by.
        opaque: Hex,
    },
    /// A sub-TLV of a type that is not read here.
    Other {
        /// Its type (RFC 8029, 3.2).
        #[serde(rename = "type")]
        kind: u16,
        /// Its value, without padding.
        value: Hex,
    },
}

/// The sub-types that are read, by number.
const LDP_IPV4: u16 = 1;
const LDP_IPV6: u16 = 2;
const RSVP_IPV4: u16 = 3;
const BGP_IPV4: u16 = 12;
const BGP_IPV6: u16 = 13;
const GENERIC_IPV4: u16 = 14;
const GENERIC_IPV6: u16 = 15;
const NIL: u16 = 16;
const RSVP_P2MP_IPV4: u16 = 17;
const LDP_P2MP: u16 = 19;
/// Address families of a root (RFC 6425, 3.1.2.1), with the length of an address.
const ROOT_IPV4: [u8; 3] = [0, 1, 4];
const ROOT_IPV6: [u8; 3] = [0, 2, 16];

fn prefix4(value: &[u8]) -> Option<(Ipv4Addr, u8)> {
    let &[a, b, c, d, length] = value else { return None };
    (length <= 32).then_some((Ipv4Addr::new(a, b, c, d), length))
}

fn prefix6(value: &[u8]) -> Option<(Ipv6Addr, u8)> {
    let (address, [length]) = value.split_first_chunk::<16>()? else { return None };
    (*length <= 128).then_some((Ipv6Addr::from(*address), *length))
}

/// Tunnel and LSP as RSVP-TE names them: the address or number in front, then tunnel id, extended tunnel id, sender and
/// LSP id.
fn session(value: &[u8]) -> Option<([u8; 4], u16, u32, Ipv4Addr, u16)> {
    let &[a, b, c, d, _, _, t, u, w, x, y, z, h, i, j, k, _, _, l, m] = value else { return None };
    let sender = Ipv4Addr::new(h, i, j, k);
    let numbers = (u16::from_be_bytes([t, u]), u32::from_be_bytes([w, x, y, z]));
    Some(([a, b, c, d], numbers.0, numbers.1, sender, u16::from_be_bytes([l, m])))
}

/// The value that [`session`] reads.
fn session_value(first: [u8; 4], tunnel_id: u16, extended: u32, sender: Ipv4Addr, lsp_id: u16) -> Vec<u8> {
    let mut bytes = first.to_vec();
    bytes.extend(u32::from(tunnel_id).to_be_bytes());
    bytes.extend(extended.to_be_bytes());
    bytes.extend(sender.octets());
    bytes.extend(u32::from(lsp_id).to_be_bytes());
    bytes
}

/// Root and opaque value of an LSP of LDP.
fn tree(value: &[u8]) -> Option<(IpAddr, &[u8])> {
    let (family, rest) = value.split_first_chunk::<3>()?;
    let (root, rest) = match *family {
        ROOT_IPV4 => rest.split_first_chunk::<4>().map(|(root, rest)| (IpAddr::from(*root), rest))?,
        ROOT_IPV6 => rest.split_first_chunk::<16>().map(|(root, rest)| (IpAddr::from(*root), rest))?,
        _ => return None,
    };
    let (length, opaque) = rest.split_first_chunk::<2>()?;
    (usize::from(u16::from_be_bytes(*length)) == opaque.len()).then_some((root, opaque))
}

impl Fec {
    /// Is it an LSP with several ends?
    pub const fn has_several_ends(&self) -> bool {
        matches!(self, Fec::RsvpP2mpIpv4 { .. } | Fec::LdpP2mp { .. })
    }

    /// Is the sub-type one that is read here?
    pub const fn is_known(kind: u16) -> bool {
        matches!(kind, LDP_IPV4..=RSVP_IPV4 | BGP_IPV4..=RSVP_P2MP_IPV4 | LDP_P2MP)
    }

    /// What a sub-TLV says; what must be zero is not looked at. [`Fec::Other`] if its type is not known, or its value
    /// is none of the type.
    pub(super) fn read(kind: u16, value: &[u8]) -> Fec {
        Fec::known(kind, value).unwrap_or_else(|| Fec::Other { kind, value: value.into() })
    }

    fn known(kind: u16, value: &[u8]) -> Option<Fec> {
        Some(match kind {
            LDP_IPV4 => {
                let (prefix, length) = prefix4(value)?;
                Fec::LdpIpv4 { prefix, length }
            }
            LDP_IPV6 => {
                let (prefix, length) = prefix6(value)?;
                Fec::LdpIpv6 { prefix, length }
            }
            BGP_IPV4 => {
                let (prefix, length) = prefix4(value)?;
                Fec::BgpIpv4 { prefix, length }
            }
            BGP_IPV6 => {
                let (prefix, length) = prefix6(value)?;
                Fec::BgpIpv6 { prefix, length }
            }
            GENERIC_IPV4 => {
                let (prefix, length) = prefix4(value)?;
                Fec::GenericIpv4 { prefix, length }
            }
            GENERIC_IPV6 => {
                let (prefix, length) = prefix6(value)?;
                Fec::GenericIpv6 { prefix, length }
            }
            RSVP_IPV4 => {
                let (end, tunnel_id, extended_tunnel_id, sender, lsp_id) = session(value)?;
                Fec::RsvpIpv4 { endpoint: end.into(), tunnel_id, extended_tunnel_id, sender, lsp_id }
            }
            RSVP_P2MP_IPV4 => {
                let (id, tunnel_id, extended_tunnel_id, sender, lsp_id) = session(value)?;
                let p2mp_id = u32::from_be_bytes(id);
                Fec::RsvpP2mpIpv4 { p2mp_id, tunnel_id, extended_tunnel_id, sender, lsp_id }
            }
            LDP_P2MP => {
                let (root, opaque) = tree(value)?;
                Fec::LdpP2mp { root, opaque: opaque.into() }
            }
            NIL => {
                let &[a, b, c, _] = value else { return None };
                Fec::Nil { label: u32::from_be_bytes([0, a, b, c]) >> 4 }
            }
            _ => return None,
        })
    }

    /// Its type and value.
    pub(super) fn value(&self) -> (u16, Vec<u8>) {
        let of = |address: &[u8], length: u8| [address, &[length]].concat();
        match self {
            Fec::LdpIpv4 { prefix, length } => (LDP_IPV4, of(&prefix.octets(), *length)),
            Fec::LdpIpv6 { prefix, length } => (LDP_IPV6, of(&prefix.octets(), *length)),
            Fec::BgpIpv4 { prefix, length } => (BGP_IPV4, of(&prefix.octets(), *length)),
            Fec::BgpIpv6 { prefix, length } => (BGP_IPV6, of(&prefix.octets(), *length)),
            Fec::GenericIpv4 { prefix, length } => (GENERIC_IPV4, of(&prefix.octets(), *length)),
            Fec::GenericIpv6 { prefix, length } => (GENERIC_IPV6, of(&prefix.octets(), *length)),
            Fec::RsvpIpv4 { endpoint, tunnel_id, extended_tunnel_id, sender, lsp_id } => {
                let first = endpoint.octets();
                (RSVP_IPV4, session_value(first, *tunnel_id, *extended_tunnel_id, *sender, *lsp_id))
            }
            Fec::RsvpP2mpIpv4 { p2mp_id, tunnel_id, extended_tunnel_id, sender, lsp_id } => {
                let first = p2mp_id.to_be_bytes();
                (RSVP_P2MP_IPV4, session_value(first, *tunnel_id, *extended_tunnel_id, *sender, *lsp_id))
            }
            Fec::LdpP2mp { root, opaque } => {
                let mut bytes = match root {
                    IpAddr::V4(root) => [&ROOT_IPV4[..], &root.octets()].concat(),
                    IpAddr::V6(root) => [&ROOT_IPV6[..], &root.octets()].concat(),
                };
                bytes.extend((opaque.0.len() as u16).to_be_bytes());
                bytes.extend(&opaque.0);
                (LDP_P2MP, bytes)
            }
            Fec::Nil { label } => (NIL, ((label & 0xf_ffff) << 12).to_be_bytes().to_vec()),
            Fec::Other { kind, value } => (*kind, value.0.clone()),
        }
    }
}

/// For people, such as `LDP 192.0.2.1/32`.
impl fmt::Display for Fec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fec::LdpIpv4 { prefix, length } => write!(out, "LDP {prefix}/{length}"),
            Fec::LdpIpv6 { prefix, length } => write!(out, "LDP {prefix}/{length}"),
            Fec::BgpIpv4 { prefix, length } => write!(out, "BGP {prefix}/{length}"),
            Fec::BgpIpv6 { prefix, length } => write!(out, "BGP {prefix}/{length}"),
            Fec::GenericIpv4 { prefix, length } => write!(out, "prefix {prefix}/{length}"),
            Fec::GenericIpv6 { prefix, length } => write!(out, "prefix {prefix}/{length}"),
            Fec::RsvpIpv4 { endpoint, tunnel_id, sender, lsp_id, .. } => {
                write!(out, "RSVP {sender} > {endpoint} tunnel {tunnel_id} LSP {lsp_id}")
            }
            Fec::RsvpP2mpIpv4 { p2mp_id, tunnel_id, sender, lsp_id, .. } => {
                let p2mp_id = Ipv4Addr::from_bits(*p2mp_id);
                write!(out, "RSVP {sender} > P2MP {p2mp_id} tunnel {tunnel_id} LSP {lsp_id}")
            }
            Fec::LdpP2mp { root, opaque } => write!(out, "LDP P2MP {root} {opaque}"),
            Fec::Nil { label } => write!(out, "nil FEC, label {label}"),
            Fec::Other { kind, .. } => write!(out, "FEC type {kind}"),
        }
    }
}

impl Fec {
    /// Its part of a line.
    pub(super) fn summarise(&self, out: &mut String) -> fmt::Result {
        write!(out, ", {self}")
    }
}
