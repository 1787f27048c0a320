//! What is wrong with a message, where, and which error it deserves in answer.

use super::class::{self, class_name};
use super::error_code as code;
use std::fmt;

/// Bytes that cannot be read as RSVP, or a message that cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    /// Byte of the message at which the trouble is.
    pub offset: usize,
    /// Class-Num and C-Type of the object at fault, if it is one; C-Type 0 if none has been seen.
    pub object: Option<(u8, u8)>,
    /// What is wrong at that byte.
    pub reason: Reason,
}

/// What can be wrong with a message; [`Error`] says where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The bytes end too early.
    #[error("{needed} bytes needed, {available} there")]
    Truncated {
        /// Bytes that the header promises, or that it has at least.
        needed: usize,
        /// Bytes that are there.
        available: usize,
    },
    /// The header has this version instead of 1.
    #[error("version {0} is not 1")]
    Version(u8),
    /// The message was damaged.
    #[error("checksum {found:#06x} should be {computed:#06x}")]
    Checksum {
        /// The checksum that the message has.
        found: u16,
        /// As it should be.
        computed: u16,
    },
    /// The type in the header is none that this codec knows.
    #[error("message type {0} is not known")]
    MessageType(u8),
    /// Less than a header, not whole words, or beyond the end of the message (RFC 2205, 3.1.2).
    #[error("object length {0} is less than 4, not a multiple of 4 or beyond the message")]
    ObjectLength(u16),
    /// The contents do not have the length that the C-Type has.
    #[error("contents of {found} bytes should have {expected}")]
    BodyLength {
        /// Bytes that it should have, or has at least.
        expected: usize,
        /// Bytes that it has.
        found: usize,
    },
    /// The class is known, the C-Type is not.
    #[error("C-Type is not known")]
    UnknownCType,
    /// The message needs it.
    #[error("missing")]
    Missing,
    /// The message may have one only.
    #[error("appears twice")]
    Duplicate,
    /// A FLOWSPEC for a service that is not known.
    #[error("service {0} is not known")]
    Service(u8),
    /// The message would be longer than 65,535 bytes, or a part of it longer than its length field can say.
    #[error("too long to be written")]
    TooLong,
    /// A field has a value that it may not have.
    #[error("{0}")]
    Invalid(&'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.object {
            None => write!(f, "rsvp: {} (at byte {})", self.reason, self.offset),
            Some(_) => write!(f, "rsvp: {}: {} (at byte {})", self.layer(), self.reason, self.offset),
        }
    }
}

impl Error {
    pub(crate) const fn of_message(offset: usize, reason: Reason) -> Error {
        Error { offset, object: None, reason }
    }

    pub(crate) const fn missing(class: u8, offset: usize) -> Error {
        Error { offset, object: Some((class, 0)), reason: Reason::Missing }
    }

    /// The same error, in a message that begins at byte `offset` of something longer: of a Bundle.
    #[must_use]
    pub const fn within(self, offset: usize) -> Error {
        Error { offset: self.offset + offset, ..self }
    }

    /// Which layer found it: `rsvp`, or the class of the object at fault with its C-Type, if that has been seen.
    pub fn layer(&self) -> String {
        let Some((class, c_type)) = self.object else { return "rsvp".into() };
        let name = class_name(class).map_or_else(|| format!("class {class}"), str::to_string);
        if c_type == 0 { name } else { format!("{name} C-Type {c_type}") }
    }

    /// Error code and value for the PathErr or ResvErr that this error is to be answered with, if it is.
    ///
    /// Damaged messages and those that lack an object are dropped in silence: RFC 2205 has no code for them.
    pub const fn answer(&self) -> Option<(u8, u16)> {
        let Some((class, c_type)) = self.object else { return None };
        match (class, self.reason) {
            // RFC 2205, 3.10.
            (_, Reason::UnknownCType) => Some((code::UNKNOWN_C_TYPE, u16::from_be_bytes([class, c_type]))),
            (_, Reason::Missing | Reason::Duplicate | Reason::ObjectLength(_) | Reason::TooLong) => None,
            // RFC 3209, 4.3.4.1 and 7.3.
            (class::EXPLICIT_ROUTE, _) => Some((code::ROUTING, code::routing::BAD_EXPLICIT_ROUTE)),
            (class::LABEL, _) => Some((code::ROUTING, code::routing::UNACCEPTABLE_LABEL)),
            // RFC 2205, B: error code 21.
            (class::FLOWSPEC, Reason::Service(_)) => {
                Some((code::TRAFFIC_CONTROL, code::traffic_control::SERVICE_UNSUPPORTED))
            }
            (class::FLOWSPEC, _) => Some((code::TRAFFIC_CONTROL, code::traffic_control::BAD_FLOWSPEC)),
            (class::SENDER_TSPEC, _) => Some((code::TRAFFIC_CONTROL, code::traffic_control::BAD_TSPEC)),
            (class::ADSPEC, _) => Some((code::TRAFFIC_CONTROL, code::traffic_control::BAD_ADSPEC)),
            (class::STYLE, Reason::Invalid(_)) => Some((code::UNKNOWN_STYLE, 0)),
            _ => None,
        }
    }
}

impl From<Error> for crate::Error {
    fn from(error: Error) -> crate::Error {
        let reason = match error.reason {
            Reason::Truncated { needed, available } => crate::Reason::Truncated { needed, available },
            Reason::Version(version) => {
                crate::Reason::Unexpected { field: "version", found: version.into(), expected: 1 }
            }
            Reason::Checksum { found, computed } => crate::Reason::Checksum { found, computed },
            Reason::MessageType(_) => crate::Reason::Invalid("the message type is not known"),
            Reason::ObjectLength(_) => crate::Reason::Invalid("an object's length is impossible"),
            Reason::BodyLength { .. } => {
                crate::Reason::Invalid("an object's length does not suit its C-Type")
            }
            Reason::UnknownCType => crate::Reason::Invalid("a C-Type is not known"),
            Reason::Missing => crate::Reason::Invalid("an object is missing"),
            Reason::Duplicate => crate::Reason::Invalid("an object appears twice"),
            Reason::Service(_) => crate::Reason::Invalid("a service is not known"),
            Reason::TooLong => crate::Reason::Invalid("too long to be written"),
            Reason::Invalid(why) => crate::Reason::Invalid(why),
        };
        crate::Error::new("rsvp", error.offset, reason)
    }
}

/// A fault in the contents of an object, before it is known where the object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Byte of the contents.
    pub(crate) at: usize,
    pub(crate) reason: Reason,
}

impl Fault {
    pub(crate) const fn invalid(at: usize, why: &'static str) -> Fault {
        Fault { at, reason: Reason::Invalid(why) }
    }
    pub(crate) const fn length(expected: usize, found: usize) -> Fault {
        Fault { at: 0, reason: Reason::BodyLength { expected, found } }
    }
    pub(crate) const UNKNOWN_C_TYPE: Fault = Fault { at: 0, reason: Reason::UnknownCType };
    pub(crate) const TOO_LONG: Fault = Fault { at: 0, reason: Reason::TooLong };
}
