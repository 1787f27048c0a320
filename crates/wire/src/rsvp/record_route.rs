//! RECORD_ROUTE and its subobjects (RFC 3209, 4.4; RFC 3477, 5; RFC 4090, 4.4).

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
        /// [`RroSubobject::GLOBAL_LABEL`].
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
        /// The router.
        router_id: Ipv4Addr,
        /// Its interface.
        interface_id: u32,
    },
    /// Type 32, in the format that it has in EXPLICIT_ROUTE.
    #[serde(rename = "Autonomous system number")]
    AutonomousSystem {
        /// Its number.
        number: u16,
    },
    /// Any other type, kept as it came.
    #[serde(rename = "Unknown")]
    Unknown {
        /// Type.
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
}
