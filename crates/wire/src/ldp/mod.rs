//! LDP (RFC 5036, with RFC 3478, 5561, 5918, 5919 and 6388): PDUs, messages and their parameters, and what a receiver
//! has to answer to each that is malformed.
//!
//! - [`pdu`](Header): the header in front of messages, and the division of a PDU into messages ([`Raw`])
//! - [`message`](Message): all messages of RFC 5036, 3.5; `parse`, `emit`: from bytes and to bytes
//! - [`tlv`](Tlv): parameters as they are on the wire; FECs, labels and addresses as values
//! - [`p2mp`](P2mp): point-to-multipoint LSPs
//! - [`atm`](AtmSession): labels and sessions of ATM links
//! - `layer`: PDUs as they are shown to users
//! - [`status`](Status): the status codes of Notifications
//!
//! What is malformed is a [`Malformed`]: the status that a Notification has to say (3.5.1.2), which message it is
//! about, and where and what is wrong.

mod atm;
mod emit;
mod layer;
mod message;
mod p2mp;
mod parse;
mod pdu;
pub mod status;
#[cfg(test)]
mod tests;
mod tlv;

pub use atm::{AtmLabel, AtmSession, Counts, Merge};
pub use layer::{Ldp, LdpFec, LdpMessage, LdpParameter, LdpPdu, MessageType};
pub use message::{Body, Capabilities, FtSession, Hello, Initialization, Message, Notice};
pub use p2mp::P2mp;
pub use pdu::{DEFAULT_MAX_PDU, HEADER_LEN, Header, LEAST_PDU, LdpId, Raw, VERSION, kind, messages, pdus};
pub use status::Status;
pub use tlv::{Addresses, AnyLabel, Fec, Tlv, tlv_at, tlv_type};

use crate::error::Error;
use core::net::Ipv4Addr;

/// The UDP port of Hellos, and the TCP port of sessions (RFC 5036, 3.10.1).
pub const PORT: u16 = 646;
/// The group that link Hellos are sent to: all routers of a link (RFC 5036, 2.4.1).
pub const ALL_ROUTERS: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 2);
/// The protocol's name in errors.
pub(crate) const LAYER: &str = "ldp";

/// What can't be read, and what is to be answered to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// What a Notification has to say.
    pub status: Status,
    /// The message that it is about; zero if none could be read.
    pub message_id: u32,
    /// Its type, or zero.
    pub message_type: u16,
    /// Where and what is wrong.
    pub error: Error,
}

impl Malformed {
    fn new(status: Status, offset: usize, clause: &'static str) -> Malformed {
        Malformed { status, message_id: 0, message_type: 0, error: Error::invalid(LAYER, offset, clause) }
    }

    fn of(self, raw: &Raw<'_>) -> Malformed {
        Malformed { message_id: raw.id, message_type: raw.kind, error: self.error.at(raw.offset), ..self }
    }
}
