//! OpenFlow 1.0 and 1.3: every message, and the error that a switch has to answer to each that is malformed.
//!
//! - [`header`](Header): the header that all versions have in common, and how a stream divides into messages
//! - [`hello`](Hello): the first message of both ends, with the versions that they speak
//! - [`fields`]: how values are read and written, one [`Field`] after another
//! - [`v1_0`], [`v1_3`]: messages, matches, actions, statistics and errors of a version
//! - `alike`: what is the same in all versions
//! - [`any`](Any): a message of either version, for decoders
//!
//! What can't be read is a [`Malformed`]: type and code of the error message that answers it. Names of
//! structures and constants in comments (OFPPC, OFPMP) are those of `openflow.h` in the OpenFlow Switch Specification.

mod alike;
mod any;
mod error_message;
pub mod fields;
mod header;
mod hello;
mod macros;
#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;
pub mod v1_0;
pub mod v1_3;

pub use alike::{AggregateStats, Description, PortReason};
pub use any::Any;
pub use error_message::ErrorMessage;
pub use fields::{Field, Name, Reader, Rest};
pub use header::{HEADER_LEN, Header, Version, message_len};
pub use hello::{Element, Hello};

use crate::error::Error;

/// The TCP port of controllers that IANA has assigned.
pub const PORT: u16 = 6653;
/// The TCP port that was used before one was assigned.
pub const OLD_PORT: u16 = 6633;
/// Stands for "the packet is not buffered" in the place of a buffer's identifier.
pub const NO_BUFFER: u32 = 0xffff_ffff;
/// The protocol's name in errors.
pub(crate) const LAYER: &str = "openflow";

/// What can't be read, and what is to be answered to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Type and code of the error message that is the answer.
    pub answer: Code,
    /// Where and what is wrong; the offset counts from the first byte of the message.
    pub error: Error,
}

/// Type and code of an error message. What they mean is said by the version: [`v1_0::Fault`], [`v1_3::Fault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code {
    /// The type: which kind of error.
    pub kind: u16,
    /// Which error of that kind.
    pub code: u16,
}

impl Code {
    /// A request that is not as long as its type is. The numbers are the same in all versions.
    pub const BAD_LEN: Code = Code { kind: 1, code: 6 };
    /// A type of message that is not known, in all versions.
    pub const BAD_TYPE: Code = Code { kind: 1, code: 1 };
    /// A version that is not spoken, in all versions.
    pub const BAD_VERSION: Code = Code { kind: 1, code: 0 };

    /// The error at `offset` that a clause explains.
    pub(crate) const fn at(self, offset: usize, clause: &'static str) -> Malformed {
        Malformed { answer: self, error: Error::invalid(LAYER, offset, clause) }
    }
}
