//! RECORD_ROUTE and its subobjects (RFC 3209, 4.4; RFC 3477, 5; RFC 4090, 4.4).

use super::error::Fault;
use super::explicit_route::{emit_unknown, split};
use super::field::{Get, Put};
use super::text;
use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, Ipv6Addr};

/// One entry of a recorded route; the latest comes first.
///
/// ```text
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |      Type     |     Length    | IPv4 address (4 bytes)        |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// | IPv4 address (continued)      | Prefix Length |      Flags    |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RroSubobject {
    /// Type 1 (RFC 3209, 4.4.1.1).
    #[serde(rename = "IPv4 address")]
    Ipv4 {
        /// Address of the router or interface.
        address: Ipv4Addr,
        /// 32 as a rule.
        prefix_length: u8,
        /// [`RroSubobject::PROTECTION_AVAILABLE`] and the like.
        flags: u8,
    },
    /// Type 2 (RFC 3209, 4.4.1.2).
    #[serde(rename = "IPv6 address")]
    Ipv6 {
        /// Address of the router or interface.
        address: Ipv6Addr,
        /// 128 as a rule.
        prefix_length: u8,
        /// [`RroSubobject::PROTECTION_AVAILABLE`] and the like.
        flags: u8,
    },
    /// Type 3 (RFC 3209, 4.4.1.3).
    #[serde(rename = "Label")]
    Label {
        /// [`RroSubobject::GLOBAL_LABEL`], or zero.
        flags: u8,
        /// C-Type of the LABEL object.
        c_type: u8,
        /// The first word of the label.
        label: u32,
    },
    /// Type 4 (RFC 3477, 5).
    #[serde(rename = "Unnumbered Interface ID")]
    Unnumbered {
        /// [`RroSubobject::PROTECTION_AVAILABLE`] and the like.
        flags: u8,
        /// The router that has the interface, by its router id.
        router_id: Ipv4Addr,
        /// Number of the interface, chosen by that router.
        interface_id: u32,
    },
    /// Type 32, in the format that it has in EXPLICIT_ROUTE.
    #[serde(rename = "Autonomous system number")]
    AutonomousSystem {
        /// Number of the autonomous system, of two bytes.
        number: u16,
    },
    /// Any other type, kept as it came.
    #[serde(rename = "Unknown")]
    Unknown {
        /// Type of the subobject, 8 bits.
        kind: u8,
        /// What follows the length.
        #[serde(with = "text::hex")]
        data: Vec<u8>,
    },
}

impl RroSubobject {
    /// The link downstream is protected by local repair (RFC 3209, 4.4.1.1).
    pub const PROTECTION_AVAILABLE: u8 = 0x01;
    /// Local repair is in use (RFC 3209, 4.4.1.1).
    pub const PROTECTION_IN_USE: u8 = 0x02;
    /// The bandwidth is protected too (RFC 4090, 4.4).
    pub const BANDWIDTH_PROTECTION: u8 = 0x04;
    /// The next node is protected too (RFC 4090, 4.4).
    pub const NODE_PROTECTION: u8 = 0x08;
    /// The label is understood on every interface (RFC 3209, 4.4.1.3).
    pub const GLOBAL_LABEL: u8 = 0x01;

    /// The router or interface with this address, no flags.
    pub const fn address(address: Ipv4Addr) -> RroSubobject {
        RroSubobject::Ipv4 { address, prefix_length: 32, flags: 0 }
    }

    /// A recorded label of C-Type 1.
    pub const fn label(label: base::Label) -> RroSubobject {
        RroSubobject::Label { flags: 0, c_type: 1, label: label.value() }
    }

    /// A recorded label of C-Type 1 that is understood on every interface of the router that recorded it.
    pub const fn global_label(label: base::Label) -> RroSubobject {
        RroSubobject::Label { flags: RroSubobject::GLOBAL_LABEL, c_type: 1, label: label.value() }
    }
}

/// Reads the subobjects of a RECORD_ROUTE or P2MP_SECONDARY_RECORD_ROUTE.
#[inline]
pub(crate) fn parse(body: &[u8]) -> Result<Vec<RroSubobject>, Fault> {
    let mut entries = Vec::with_capacity(body.len() / 8);
    let mut rest = body;
    while !rest.is_empty() {
        let (kind, contents, next) = split(rest, body.len() - rest.len())?;
        rest = next;
        entries.push(RroSubobject::parse(kind, contents));
    }
    Ok(entries)
}

/// Writes a RECORD_ROUTE or P2MP_SECONDARY_RECORD_ROUTE.
#[inline]
pub(crate) fn emit(entries: &[RroSubobject], class: u8, c_type: u8, out: &mut impl Put) -> Result<(), Fault> {
    let at = out.begin(class, c_type);
    for entry in entries {
        entry.emit(out)?;
    }
    out.end(at)
}

impl RroSubobject {
    /// Subobjects that are not understood are passed on as they came (RFC 3209, 4.4.5).
    #[inline]
    fn parse(kind: u8, contents: &[u8]) -> RroSubobject {
        let mut get = Get(contents);
        match (kind, contents.len()) {
            (1, 6) => RroSubobject::Ipv4 { address: get.v4(), prefix_length: get.u8(), flags: get.u8() },
            (2, 18) => RroSubobject::Ipv6 { address: get.v6(), prefix_length: get.u8(), flags: get.u8() },
            (3, 6) => RroSubobject::Label { flags: get.u8(), c_type: get.u8(), label: get.u32() },
            (4, 10) => {
                let [flags, _] = get.take();
                RroSubobject::Unnumbered { flags, router_id: get.v4(), interface_id: get.u32() }
            }
            (32, 2) => RroSubobject::AutonomousSystem { number: get.u16() },
            _ => RroSubobject::Unknown { kind, data: contents.to_vec() },
        }
    }

    #[inline]
    fn emit(&self, out: &mut impl Put) -> Result<(), Fault> {
        match *self {
            RroSubobject::Ipv4 { address, prefix_length, flags } => {
                out.bytes(&[1, 8]);
                out.v4(address);
                out.bytes(&[prefix_length, flags]);
            }
            RroSubobject::Ipv6 { address, prefix_length, flags } => {
                out.bytes(&[2, 20]);
                out.v6(address);
                out.bytes(&[prefix_length, flags]);
            }
            RroSubobject::Label { flags, c_type, label } => {
                out.bytes(&[3, 8, flags, c_type]);
                out.u32(label);
            }
            RroSubobject::Unnumbered { flags, router_id, interface_id } => {
                out.bytes(&[4, 12, flags, 0]);
                out.v4(router_id);
                out.u32(interface_id);
            }
            RroSubobject::AutonomousSystem { number } => {
                out.bytes(&[32, 4]);
                out.u16(number);
            }
            RroSubobject::Unknown { kind, ref data } => emit_unknown(kind, data, out)?,
        }
        Ok(())
    }
}
