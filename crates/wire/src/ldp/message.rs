//! Messages as values (RFC 5036, 3.5).

use super::pdu::{LdpId, kind};
use super::status::{self, Status};
use super::tlv::{Addresses, AnyLabel, Fec, Tlv};
use crate::hex::Hex;
use core::net::{Ipv4Addr, Ipv6Addr};

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The sender's number for it.
    pub id: u32,
    /// What it says.
    pub body: Body,
    /// Parameters that nobody knows and that may be left out.
    pub unknown: Vec<Tlv>,
}

/// What a Status parameter says (RFC 5036, 3.4.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The status code, with the bits that end the session and that ask to pass it on.
    pub code: u32,
    /// The message of the receiver that it is about; zero if it is about none.
    pub message_id: u32,
    /// Its type, or zero.
    pub message_type: u16,
}

impl Notice {
    /// A status that is about no message.
    pub const fn new(status: Status) -> Notice {
        Notice { code: status.code(), message_id: 0, message_type: 0 }
    }

    /// Does it end the session?
    pub const fn is_fatal(self) -> bool {
        self.code & status::FATAL != 0
    }
}

/// Hello (RFC 5036, 3.5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Seconds for which the sender remembers the receiver; zero is the usual time, and 65,535 for ever.
    pub hold_s: u16,
    /// Is it for a router that may be further away?
    pub is_targeted: bool,
    /// Is the receiver to answer by targeted Hellos?
    pub wants_targeted: bool,
    /// Does the sender check the time to live in the session (RFC 6720, 2.1)?
    pub gtsm: bool,
    /// The sender's end of the session; if absent, the source of the packet.
    pub transport: Option<Ipv4Addr>,
    /// The same of IPv6.
    pub transport6: Option<Ipv6Addr>,
    /// A number that changes with the sender's configuration.
    pub configuration: Option<u32>,
}

/// Initialization (RFC 5036, 3.5.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initialization {
    /// The version of LDP.
    pub version: u16,
    /// Seconds between two PDUs at most.
    pub keepalive_s: u16,
    /// Are labels given only to who asks for them?
    pub on_demand: bool,
    /// Are loops looked for by path vectors?
    pub loop_detection: bool,
    /// The longest path vector.
    pub path_limit: u8,
    /// The longest PDU; up to 255 it is 4,096.
    pub max_pdu: u16,
    /// The label space of the receiver.
    pub receiver: LdpId,
    /// What is said of ATM links, as it is on the wire.
    pub atm: Option<Hex>,
    /// What is said of Frame Relay links, as it is on the wire.
    pub frame_relay: Option<Hex>,
    /// What it can do when it restarts.
    pub restart: Option<FtSession>,
    /// What it can do beyond RFC 5036.
    pub capabilities: Capabilities,
}

/// What a router can do beyond RFC 5036, as far as it says so; in a message that changes that, false takes it back
/// (RFC 5561, 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// It understands Capability messages (RFC 5561, 9).
    pub dynamic: Option<bool>,
    /// It understands wildcards for all FECs of a kind (RFC 5918, 5).
    pub typed_wildcard: Option<bool>,
    /// It leaves notifications out that it does not know (RFC 5919, 3).
    pub unrecognized_notification: Option<bool>,
    /// It takes part in point-to-multipoint LSPs (RFC 6388, 2.1).
    pub p2mp: Option<bool>,
}

impl Capabilities {
    /// In an Initialization message whatever is there is on (RFC 5561, 6).
    #[must_use]
    pub fn in_initialization(self) -> Capabilities {
        let on = |state: Option<bool>| state.map(|_| true);
        Capabilities {
            dynamic: on(self.dynamic),
            typed_wildcard: on(self.typed_wildcard),
            unrecognized_notification: on(self.unrecognized_notification),
            p2mp: on(self.p2mp),
        }
    }
}

/// What a router can do when it restarts (RFC 3478, 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FtSession {
    /// Does it learn its state from the network: the restart of RFC 3478?
    pub learns: bool,
    /// Milliseconds for which neighbours are to keep what they know of it until it is back; zero if it keeps nothing.
    pub reconnect_ms: u32,
    /// Milliseconds for which it keeps entries that it had before; zero if it kept none.
    pub recovery_ms: u32,
}

/// What a message says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Something happened (3.5.1).
    Notification {
        /// What.
        notice: Notice,
        /// More about it.
        extended: Option<u32>,
        /// The PDU that it is about, or its beginning.
        returned_pdu: Option<Hex>,
        /// The message that it is about, or its beginning.
        returned_message: Option<Hex>,
        /// The parameters that it is about, whole (RFC 5561, 8).
        returned_tlvs: Option<Hex>,
        /// The request that it is about (3.5.9.1).
        request: Option<u32>,
        /// The FECs that it is about (RFC 5919, 4).
        fec: Option<Fec>,
    },
    /// Somebody is there (3.5.2).
    Hello(Hello),
    /// How the session is to be (3.5.3).
    Initialization(Initialization),
    /// The sender can do something else than before (RFC 5561, 4).
    Capability(Capabilities),
    /// The session goes on (3.5.4).
    KeepAlive,
    /// Addresses of the sender (3.5.5).
    Address(Addresses),
    /// Addresses that the sender has no more (3.5.6).
    AddressWithdraw(Addresses),
    /// A label for FECs (3.5.7).
    Mapping {
        /// Whose packets.
        fecs: Vec<Fec>,
        /// The label that they are to come with.
        label: AnyLabel,
        /// The request that it answers.
        request: Option<u32>,
        /// Routers on the way; zero if nobody knows.
        hops: Option<u8>,
        /// Those routers.
        path: Option<Vec<Ipv4Addr>>,
    },
    /// A label is wanted (3.5.8).
    Request {
        /// For what.
        fec: Fec,
        /// Routers on the way so far.
        hops: Option<u8>,
        /// Those routers.
        path: Option<Vec<Ipv4Addr>>,
    },
    /// A label means nothing any more (3.5.10).
    Withdraw {
        /// Whose packets.
        fec: Fec,
        /// The label; all that were given if absent.
        label: Option<AnyLabel>,
    },
    /// A label is not needed any more (3.5.11).
    Release {
        /// Whose packets.
        fec: Fec,
        /// The label; all that were given if absent.
        label: Option<AnyLabel>,
        /// Why (3.4.5.1.2).
        notice: Option<Notice>,
    },
    /// A request is taken back (3.5.9).
    Abort {
        /// For what it was.
        fec: Fec,
        /// Its number.
        request: u32,
    },
}

impl Body {
    /// Its type among messages.
    pub const fn kind(&self) -> u16 {
        match self {
            Body::Notification { .. } => kind::NOTIFICATION,
            Body::Hello(_) => kind::HELLO,
            Body::Initialization(_) => kind::INITIALIZATION,
            Body::Capability(_) => kind::CAPABILITY,
            Body::KeepAlive => kind::KEEP_ALIVE,
            Body::Address(_) => kind::ADDRESS,
            Body::AddressWithdraw(_) => kind::ADDRESS_WITHDRAW,
            Body::Mapping { .. } => kind::LABEL_MAPPING,
            Body::Request { .. } => kind::LABEL_REQUEST,
            Body::Withdraw { .. } => kind::LABEL_WITHDRAW,
            Body::Release { .. } => kind::LABEL_RELEASE,
            Body::Abort { .. } => kind::LABEL_ABORT_REQUEST,
        }
    }

    /// A Notification without more about it.
    pub const fn notify(notice: Notice) -> Body {
        Body::notification(notice, None, None, None)
    }

    /// A Notification about parameters, which it returns whole (RFC 5561, 8).
    pub const fn notify_tlvs(notice: Notice, returned_tlvs: Option<Hex>) -> Body {
        Body::notification(notice, returned_tlvs, None, None)
    }

    const fn notification(
        notice: Notice,
        returned_tlvs: Option<Hex>,
        request: Option<u32>,
        fec: Option<Fec>,
    ) -> Body {
        let (extended, returned_pdu, returned_message) = (None, None, None);
        Body::Notification { notice, extended, returned_pdu, returned_message, returned_tlvs, request, fec }
    }

    /// A Notification about a request (3.5.9.1).
    pub const fn notify_request(notice: Notice, request: u32) -> Body {
        Body::notification(notice, None, Some(request), None)
    }

    /// All labels of a kind of FECs have been told (RFC 5919, 4).
    pub const fn end_of_lib(fec: Fec) -> Body {
        Body::notification(Notice::new(Status::EndOfLib), None, None, Some(fec))
    }
}
