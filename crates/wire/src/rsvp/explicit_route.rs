//! EXPLICIT_ROUTE and its subobjects (RFC 3209, 4.3; RFC 3473, 5.1; RFC 3477, 4).

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
    /// Where to go.
    pub node: EroSubobject,
}

/// The abstract node of an [`EroHop`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum EroSubobject {
    /// Type 1: the routers with an address in this prefix (RFC 3209, 4.3.3.2).
    #[serde(rename = "IPv4 prefix")]
    Ipv4 {
        /// Address.
        address: Ipv4Addr,
        /// Length in bits, at most 32.
        prefix_length: u8,
    },
    /// Type 2: the routers with an address in this prefix (RFC 3209, 4.3.3.3).
    #[serde(rename = "IPv6 prefix")]
    Ipv6 {
        /// Address.
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
        /// The router.
        router_id: Ipv4Addr,
        /// Its interface.
        interface_id: u32,
    },
    /// Type 32: an autonomous system (RFC 3209, 4.3.3.4).
    #[serde(rename = "Autonomous system number")]
    AutonomousSystem {
        /// Its number.
        number: u16,
    },
    /// Any other type, kept as it came.
    #[serde(rename = "Unknown")]
    Unknown {
        /// Type, seven bits.
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
