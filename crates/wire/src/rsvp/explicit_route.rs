//! EXPLICIT_ROUTE and its subobjects (RFC 3209, 4.3; RFC 3473, 5.1; RFC 3477, 4).

use super::error::Fault;
use super::field::{Get, Put};
use super::text;
use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, Ipv6Addr};

/// One step of an explicit route: an abstract node and how to get there.
///
/// ```text
///  0                   1
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-------------//----------------+
/// |L|    Type     |     Length    | (Subobject contents)          |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-------------//----------------+
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EroHop {
    /// The L bit: other nodes may come in between (RFC 3209, 4.3.3.1).
    pub loose: bool,
    /// The group of routers (mostly one) through which the path goes.
    pub node: EroSubobject,
}

/// The abstract node of an [`EroHop`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum EroSubobject {
    /// Type 1: the routers with an address in this prefix (RFC 3209, 4.3.3.2).
    #[serde(rename = "IPv4 prefix")]
    Ipv4 {
        /// Address of a router, or of a prefix of them.
        address: Ipv4Addr,
        /// Length in bits, at most 32.
        prefix_length: u8,
    },
    /// Type 2: the routers with an address in this prefix (RFC 3209, 4.3.3.3).
    #[serde(rename = "IPv6 prefix")]
    Ipv6 {
        /// Address of a router, or of a prefix of them.
        address: Ipv6Addr,
        /// Length in bits, at most 128.
        prefix_length: u8,
    },
    /// Type 3: the label to use on the hop before (RFC 3473, 5.1).
    #[serde(rename = "Label")]
    Label {
        /// The label is for the upstream direction.
        upstream: bool,
        /// C-Type of the LABEL object.
        c_type: u8,
        /// The first word of the label.
        label: u32,
    },
    /// Type 4: an interface without an address (RFC 3477, 4).
    #[serde(rename = "Unnumbered Interface ID")]
    Unnumbered {
        /// The router that has the interface, by its router id.
        router_id: Ipv4Addr,
        /// Number of the interface, chosen by that router.
        interface_id: u32,
    },
    /// Type 32: an autonomous system (RFC 3209, 4.3.3.4).
    #[serde(rename = "Autonomous system number")]
    AutonomousSystem {
        /// Number of the autonomous system, of two bytes.
        number: u16,
    },
    /// Any other type, kept as it came.
    #[serde(rename = "Unknown")]
    Unknown {
        /// Type of the subobject, 7 bits.
        kind: u8,
        /// What follows the length.
        #[serde(with = "text::hex")]
        data: Vec<u8>,
    },
}

impl EroHop {
    /// A strict hop to the router or interface with this address.
    pub const fn strict(address: Ipv4Addr) -> EroHop {
        EroHop { loose: false, node: EroSubobject::Ipv4 { address, prefix_length: 32 } }
    }

    /// A loose hop to the router or interface with this address.
    pub const fn loose(address: Ipv4Addr) -> EroHop {
        EroHop { loose: true, node: EroSubobject::Ipv4 { address, prefix_length: 32 } }
    }
}

impl EroSubobject {
    /// An IPv4 prefix contains `address`; other kinds never do.
    pub fn contains(&self, address: Ipv4Addr) -> bool {
        match *self {
            EroSubobject::Ipv4 { address: prefix, prefix_length } => {
                let differing = u32::from(prefix) ^ u32::from(address);
                prefix_length == 0 || differing.checked_shr(32 - u32::from(prefix_length.min(32))) == Some(0)
            }
            _ => false,
        }
    }
}

/// Type of the subobject that is an IPv4 prefix (RFC 3209, 4.3.3.2).
const IPV4: u8 = 1;

/// Reads the subobjects of an EXPLICIT_ROUTE or P2MP_SECONDARY_EXPLICIT_ROUTE.
#[inline]
pub(crate) fn parse(body: &[u8]) -> Result<Vec<EroHop>, Fault> {
    let mut hops = Vec::with_capacity(body.len() / 8);
    let mut rest = body;
    while !rest.is_empty() {
        // Nearly all are like this one: a strict or loose hop to a prefix of IPv4, of eight bytes.
        if let Some((&[kind, 8, a, b, c, d, prefix_length @ ..=32, _], next)) = rest.split_first_chunk::<8>()
            && kind & 0x7f == IPV4
        {
            let node = EroSubobject::Ipv4 { address: Ipv4Addr::new(a, b, c, d), prefix_length };
            hops.push(EroHop { loose: kind & 0x80 != 0, node });
            rest = next;
            continue;
        }
        let at = body.len() - rest.len();
        let (kind, contents, next) = split(rest, at)?;
        rest = next;
        let loose = kind & 0x80 != 0;
        hops.push(EroHop { loose, node: EroSubobject::parse(kind & 0x7f, contents, at)? });
    }
    Ok(hops)
}

/// Writes an EXPLICIT_ROUTE or P2MP_SECONDARY_EXPLICIT_ROUTE.
#[inline]
pub(crate) fn emit(hops: &[EroHop], class: u8, c_type: u8, out: &mut impl Put) -> Result<(), Fault> {
    let at = out.begin(class, c_type);
    for hop in hops {
        hop.node.emit(u8::from(hop.loose) << 7, out)?;
    }
    out.end(at)
}

/// The type, the contents and what follows of the first subobject of `rest`, `at` bytes into the object.
#[inline]
pub(crate) fn split(rest: &[u8], at: usize) -> Result<(u8, &[u8], &[u8]), Fault> {
    let &[kind, length, ..] = rest else {
        return Err(Fault::invalid(at, "the object ends within a subobject"));
    };
    // RFC 3209, 4.3.3: at least 4, and always a multiple of 4.
    if length < 4 || length % 4 != 0 {
        return Err(Fault::invalid(at, "the length of a subobject is less than 4 or not a multiple of 4"));
    }
    match rest.split_at_checked(usize::from(length)) {
        Some((subobject, next)) => Ok((kind, &subobject[2..], next)),
        None => Err(Fault::invalid(at, "the object ends within a subobject")),
    }
}

impl EroSubobject {
    #[inline]
    fn parse(kind: u8, contents: &[u8], at: usize) -> Result<EroSubobject, Fault> {
        let mut get = Get(contents);
        Ok(match (kind, contents.len()) {
            (IPV4, 6) => {
                let (address, prefix_length) = (get.v4(), get.u8());
                if prefix_length > 32 {
                    return Err(Fault::invalid(at, "an IPv4 prefix is longer than 32 bits"));
                }
                EroSubobject::Ipv4 { address, prefix_length }
            }
            (2, 18) => {
                let (address, prefix_length) = (get.v6(), get.u8());
                if prefix_length > 128 {
                    return Err(Fault::invalid(at, "an IPv6 prefix is longer than 128 bits"));
                }
                EroSubobject::Ipv6 { address, prefix_length }
            }
            (3, 6) => {
                let (upstream, c_type) = (get.u8() & 0x80 != 0, get.u8());
                EroSubobject::Label { upstream, c_type, label: get.u32() }
            }
            (4, 10) => {
                get.u16();
                EroSubobject::Unnumbered { router_id: get.v4(), interface_id: get.u32() }
            }
            (32, 2) => EroSubobject::AutonomousSystem { number: get.u16() },
            (IPV4 | 2 | 4 | 32, _) => {
                return Err(Fault::invalid(at, "the length of a subobject does not suit its type"));
            }
            _ => EroSubobject::Unknown { kind, data: contents.to_vec() },
        })
    }

    #[inline]
    fn emit(&self, l_bit: u8, out: &mut impl Put) -> Result<(), Fault> {
        match *self {
            EroSubobject::Ipv4 { address, prefix_length } => {
                let [a, b, c, d] = address.octets();
                out.bytes(&[l_bit | IPV4, 8, a, b, c, d, prefix_length, 0]);
            }
            EroSubobject::Ipv6 { address, prefix_length } => {
                out.bytes(&[l_bit | 2, 20]);
                out.v6(address);
                out.bytes(&[prefix_length, 0]);
            }
            EroSubobject::Label { upstream, c_type, label } => {
                out.bytes(&[l_bit | 3, 8, u8::from(upstream) << 7, c_type]);
                out.u32(label);
            }
            EroSubobject::Unnumbered { router_id, interface_id } => {
                out.bytes(&[l_bit | 4, 12, 0, 0]);
                out.v4(router_id);
                out.u32(interface_id);
            }
            EroSubobject::AutonomousSystem { number } => {
                out.bytes(&[l_bit | 32, 4]);
                out.u16(number);
            }
            EroSubobject::Unknown { kind, ref data } => emit_unknown(l_bit | kind & 0x7f, data, out)?,
        }
        Ok(())
    }
}

/// Writes a subobject that is not understood, in whole words.
pub(crate) fn emit_unknown(kind: u8, data: &[u8], out: &mut impl Put) -> Result<(), Fault> {
    let length = (data.len() + 2).next_multiple_of(4).max(4);
    let byte = u8::try_from(length).map_err(|_| Fault::TOO_LONG)?;
    out.bytes(&[kind, byte]);
    out.bytes(data);
    for _ in data.len() + 2..length {
        out.u8(0);
    }
    Ok(())
}
