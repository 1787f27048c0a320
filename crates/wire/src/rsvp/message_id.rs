//! MESSAGE_ID, its acknowledgements and lists (RFC 2961, 4 and 5).

use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, Ipv6Addr};

/// MESSAGE_ID: names a message, and with it the state it carries (RFC 2961, 4.2).
///
/// ```text
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |    Flags      |                      Epoch                    |
/// |                      Message_Identifier                       |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MessageId {
    /// [`MessageId::ACK_DESIRED`].
    pub flags: u8,
    /// 24 bits; changes when the sender restarts.
    pub epoch: u32,
    /// Rises with every new message of the epoch.
    pub id: u32,
}

impl MessageId {
    /// The receiver is to acknowledge.
    pub const ACK_DESIRED: u8 = 0x01;
}

/// MESSAGE_ID_ACK (C-Type 1) and MESSAGE_ID_NACK (C-Type 2) (RFC 2961, 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MessageIdAck {
    /// A MESSAGE_ID_NACK: the identifier of a summary refresh is not known.
    #[serde(default)]
    pub nack: bool,
    /// None are defined.
    pub flags: u8,
    /// Epoch of the message that is acknowledged, 24 bits.
    pub epoch: u32,
    /// Its identifier.
    pub id: u32,
}

/// MESSAGE_ID LIST and its multicast forms (RFC 2961, 5.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MessageIdList {
    /// C-Type 1: refreshes unicast state.
    #[serde(rename = "MESSAGE_ID LIST")]
    List {
        /// None are defined.
        flags: u8,
        /// 24 bits.
        epoch: u32,
        /// Identifiers.
        ids: Vec<u32>,
    },
    /// C-Type 2: refreshes the state of multicast Resv messages.
    #[serde(rename = "IPv4/MESSAGE_ID SRC_LIST")]
    SourceIpv4 {
        /// None are defined.
        flags: u8,
        /// 24 bits.
        epoch: u32,
        /// Identifier and the node that chose it.
        ids: Vec<(u32, Ipv4Addr)>,
    },
    /// C-Type 3.
    #[serde(rename = "IPv6/MESSAGE_ID SRC_LIST")]
    SourceIpv6 {
        /// None are defined.
        flags: u8,
        /// 24 bits.
        epoch: u32,
        /// Identifier and the node that chose it.
        ids: Vec<(u32, Ipv6Addr)>,
    },
    /// C-Type 4: refreshes the state of multicast Path messages.
    #[serde(rename = "IPv4/MESSAGE_ID MCAST_LIST")]
    MulticastIpv4 {
        /// None are defined.
        flags: u8,
        /// 24 bits.
        epoch: u32,
        /// Identifier, the node that chose it, and the session's destination.
        ids: Vec<(u32, Ipv4Addr, Ipv4Addr)>,
    },
    /// C-Type 5.
    #[serde(rename = "IPv6/MESSAGE_ID MCAST_LIST")]
    MulticastIpv6 {
        /// None are defined.
        flags: u8,
        /// 24 bits.
        epoch: u32,
        /// Identifier, the node that chose it, and the session's destination.
        ids: Vec<(u32, Ipv6Addr, Ipv6Addr)>,
    },
}
