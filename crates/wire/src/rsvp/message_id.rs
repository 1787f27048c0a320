//! MESSAGE_ID, its acknowledgements and lists (RFC 2961, 4 and 5).

use super::basic::each;
use super::class::{MESSAGE_ID, MESSAGE_ID_ACK, MESSAGE_ID_LIST};
use super::error::Fault;
use super::field::{Get, Put};
use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, Ipv6Addr};

/// MESSAGE_ID: identifies a message, and with it the state it carries (RFC 2961, 4.2).
///
/// ```text
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |    Flags      |                      Epoch                    |
/// |                      Message_Identifier                       |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MessageId {
    /// [`MessageId::ACK_DESIRED`], or zero.
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
    /// No flags are defined: zero.
    pub flags: u8,
    /// Epoch of the message that is acknowledged, 24 bits.
    pub epoch: u32,
    /// Message_Identifier of the message that is acknowledged.
    pub id: u32,
}

/// MESSAGE_ID LIST and its multicast forms (RFC 2961, 5.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MessageIdList {
    /// C-Type 1: refreshes unicast state.
    #[serde(rename = "MESSAGE_ID LIST")]
    List {
        /// No flags are defined: zero.
        flags: u8,
        /// Epoch of the identifiers, 24 bits.
        epoch: u32,
        /// Message_Identifiers of the states that are refreshed.
        ids: Vec<u32>,
    },
    /// C-Type 2: refreshes the state of multicast Resv messages.
    #[serde(rename = "IPv4/MESSAGE_ID SRC_LIST")]
    SourceIpv4 {
        /// No flags are defined: zero.
        flags: u8,
        /// Epoch of the identifiers, 24 bits.
        epoch: u32,
        /// Identifier and the node that chose it.
        ids: Vec<(u32, Ipv4Addr)>,
    },
    /// C-Type 3: as C-Type 2, with IPv6 addresses.
    #[serde(rename = "IPv6/MESSAGE_ID SRC_LIST")]
    SourceIpv6 {
        /// No flags are defined: zero.
        flags: u8,
        /// Epoch of the identifiers, 24 bits.
        epoch: u32,
        /// Identifier and the node that chose it.
        ids: Vec<(u32, Ipv6Addr)>,
    },
    /// C-Type 4: refreshes the state of multicast Path messages.
    #[serde(rename = "IPv4/MESSAGE_ID MCAST_LIST")]
    MulticastIpv4 {
        /// No flags are defined: zero.
        flags: u8,
        /// Epoch of the identifiers, 24 bits.
        epoch: u32,
        /// Identifier, the node that chose it, and the session's destination.
        ids: Vec<(u32, Ipv4Addr, Ipv4Addr)>,
    },
    /// C-Type 5: as C-Type 4, with IPv6 addresses.
    #[serde(rename = "IPv6/MESSAGE_ID MCAST_LIST")]
    MulticastIpv6 {
        /// No flags are defined: zero.
        flags: u8,
        /// Epoch of the identifiers, 24 bits.
        epoch: u32,
        /// Identifier, the node that chose it, and the session's destination.
        ids: Vec<(u32, Ipv6Addr, Ipv6Addr)>,
    },
}

impl MessageId {
    #[inline]
    pub(crate) fn parse(c_type: u8, body: &[u8]) -> Result<MessageId, Fault> {
        if c_type != 1 {
            return Err(Fault::UNKNOWN_C_TYPE);
        }
        let mut get = Get::exact(body, 8)?;
        Ok(MessageId { flags: get.u8(), epoch: get.u24(), id: get.u32() })
    }

    #[inline]
    pub(crate) fn emit(&self, out: &mut impl Put) {
        out.object(MESSAGE_ID, 1, 8);
        out.u8_u24(self.flags, self.epoch);
        out.u32(self.id);
    }
}

impl MessageIdAck {
    #[inline]
    pub(crate) fn parse(c_type: u8, body: &[u8]) -> Result<MessageIdAck, Fault> {
        if !matches!(c_type, 1 | 2) {
            return Err(Fault::UNKNOWN_C_TYPE);
        }
        let mut get = Get::exact(body, 8)?;
        Ok(MessageIdAck { nack: c_type == 2, flags: get.u8(), epoch: get.u24(), id: get.u32() })
    }

    #[inline]
    pub(crate) fn emit(&self, out: &mut impl Put) {
        out.object(MESSAGE_ID_ACK, if self.nack { 2 } else { 1 }, 8);
        out.u8_u24(self.flags, self.epoch);
        out.u32(self.id);
    }
}

impl MessageIdList {
    /// Identifiers in the list.
    pub const fn len(&self) -> usize {
        match self {
            MessageIdList::List { ids, .. } => ids.len(),
            MessageIdList::SourceIpv4 { ids, .. } => ids.len(),
            MessageIdList::SourceIpv6 { ids, .. } => ids.len(),
            MessageIdList::MulticastIpv4 { ids, .. } => ids.len(),
            MessageIdList::MulticastIpv6 { ids, .. } => ids.len(),
        }
    }

    /// No identifiers at all?
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn parse(c_type: u8, body: &[u8]) -> Result<MessageIdList, Fault> {
        if !(1..=5).contains(&c_type) {
            return Err(Fault::UNKNOWN_C_TYPE);
        }
        let mut get = Get::at_least(body, 4)?;
        let (flags, epoch) = (get.u8(), get.u24());
        let rest = get.0;
        let ids = |fault: Fault| Fault { at: fault.at + 4, ..fault };
        Ok(match c_type {
            1 => {
                let ids = each(rest, 4, |get| get.u32()).map_err(ids)?;
                MessageIdList::List { flags, epoch, ids }
            }
            2 => {
                let ids = each(rest, 8, |get| (get.u32(), get.v4())).map_err(ids)?;
                MessageIdList::SourceIpv4 { flags, epoch, ids }
            }
            3 => {
                let ids = each(rest, 20, |get| (get.u32(), get.v6())).map_err(ids)?;
                MessageIdList::SourceIpv6 { flags, epoch, ids }
            }
            4 => {
                let ids = each(rest, 12, |get| (get.u32(), get.v4(), get.v4())).map_err(ids)?;
                MessageIdList::MulticastIpv4 { flags, epoch, ids }
            }
            _ => {
                let ids = each(rest, 36, |get| (get.u32(), get.v6(), get.v6())).map_err(ids)?;
                MessageIdList::MulticastIpv6 { flags, epoch, ids }
            }
        })
    }

    pub(crate) fn emit(&self, out: &mut impl Put) -> Result<(), Fault> {
        let (c_type, flags, epoch) = match *self {
            MessageIdList::List { flags, epoch, .. } => (1, flags, epoch),
            MessageIdList::SourceIpv4 { flags, epoch, .. } => (2, flags, epoch),
            MessageIdList::SourceIpv6 { flags, epoch, .. } => (3, flags, epoch),
            MessageIdList::MulticastIpv4 { flags, epoch, .. } => (4, flags, epoch),
            MessageIdList::MulticastIpv6 { flags, epoch, .. } => (5, flags, epoch),
        };
        let at = out.begin(MESSAGE_ID_LIST, c_type);
        out.u8_u24(flags, epoch);
        match self {
            MessageIdList::List { ids, .. } => ids.iter().for_each(|&id| out.u32(id)),
            MessageIdList::SourceIpv4 { ids, .. } => ids.iter().for_each(|&(id, source)| {
                out.u32(id);
                out.v4(source);
            }),
            MessageIdList::SourceIpv6 { ids, .. } => ids.iter().for_each(|&(id, source)| {
                out.u32(id);
                out.v6(source);
            }),
            MessageIdList::MulticastIpv4 { ids, .. } => ids.iter().for_each(|&(id, source, destination)| {
                out.u32(id);
                out.v4(source);
                out.v4(destination);
            }),
            MessageIdList::MulticastIpv6 { ids, .. } => ids.iter().for_each(|&(id, source, destination)| {
                out.u32(id);
                out.v6(source);
                out.v6(destination);
            }),
        }
        out.end(at)
    }
}
