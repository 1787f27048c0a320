//! What a device tells the user.

use crate::label::Label;
use crate::plane::Table;
use crate::protocol_value::{ProtocolType, ProtocolValue};
use core::net::{IpAddr, Ipv6Addr};
use serde::Serialize;

/// Something that happened at a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// An answer to a probe.
    ProbeReply {
        /// Source address of the answer: the destination itself, or the router where the TTL ended.
        from: IpAddr,
        /// As given in [`Command::Probe`](crate::command::Command::Probe).
        sequence: u16,
        /// ICMP type of the answer: 0 is an echo reply, 3 unreachable, 11 time exceeded (RFC 792); the same numbers for
        /// the same messages of ICMPv6.
        kind: u8,
        /// Code of the message (RFC 792, RFC 4443): it says more about types 3 and 11, and is 0 in an echo reply.
        code: u8,
        /// The label stack that the answer quotes (RFC 4950), outermost first.
        labels: Vec<Label>,
    },
    /// A table of the forwarding plane was full when something was to be written. It is told again only after something
    /// was taken out of the table.
    TableFull {
        /// Which of the tables.
        table: Table,
    },
    /// A port can be used.
    PortUp {
        /// Number of the port at its device, as in [`PortId`](crate::PortId).
        port: u16,
    },
    /// A port can't be used.
    PortDown {
        /// Number of the port at its device, as in [`PortId`](crate::PortId).
        port: u16,
    },
    /// Somebody else on a link has an address that this device was to use there, and looked for first (RFC 4862, 5.4):
    /// it uses no IPv6 by that port until the port comes up again.
    AddressTaken {
        /// Number of the port at its device, as in [`PortId`](crate::PortId).
        port: u16,
        /// Which address.
        address: Ipv6Addr,
    },
    /// Something that only one protocol knows of. It is written as the protocol writes it, its name under `event`.
    #[serde(untagged, serialize_with = "ProtocolValue::serialize_bare")]
    Protocol(ProtocolValue),
}

impl Event {
    /// What a protocol told, if it is of this type.
    pub fn of<T: ProtocolType>(&self) -> Option<&T> {
        match self {
            Event::Protocol(value) => value.get(),
            _ => None,
        }
    }
}
