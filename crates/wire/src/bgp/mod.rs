//! BGP-4 (RFC 4271): messages, path attributes, and what a receiver has to do about each that is malformed (RFC 7606).
//!
//! - [`message`](Message): the header, all messages, and how a stream divides into them
//! - [`open`](Open): what a speaker says of itself, with its capabilities (RFC 5492)
//! - [`update`](Update): routes and their attributes; [`attributes`](Attributes): path attributes as values
//! - [`nlri`](Nlri): destinations of four address families, with path identifiers (RFC 7911) and [`labels`](Labels)
//!   (RFC 8277)
//! - [`pack`]: many destinations in few messages
//! - [`notification`](Notification): why a session ends
//!
//! How some bytes are read depends on what both ends have agreed on: the [`Terms`] of a session. What ends a session is
//! a [`Malformed`] with the NOTIFICATION that says so; what does not is a [`Fault`] of the message that was read.

mod attributes;
mod labels;
mod message;
mod nlri;
pub mod notification;
mod open;
pub mod pack;
#[cfg(test)]
mod tests;
mod update;

pub use attributes::{Aggregator, AsPath, Attributes, Origin, Segment, Unknown, attribute};
pub use labels::Labels;
pub use message::{HEADER_LEN, MAX_LEN, Message, Refresh, kind, message_len};
pub use nlri::{Family, NextHop, Nlri};
pub use notification::Notification;
pub use open::{AddPathMode, Capability, Open};
pub use update::{Fault, Reach, Treatment, Unreach, Update};

use crate::error::Error;

/// The TCP port of sessions (RFC 4271, 3).
pub const PORT: u16 = 179;
/// The version of BGP that is spoken (RFC 4271, 4.2).
pub const VERSION: u8 = 4;
/// Stands for a number of more than two octets where there is room for two (RFC 6793, 9).
pub const AS_TRANS: u16 = 23456;
/// The protocol's name in errors.
pub(crate) const LAYER: &str = "bgp";

/// What both ends of a session have agreed on, as far as bytes depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Have AS numbers four octets in AS_PATH and AGGREGATOR (RFC 6793, 4.1)?
    pub four_octet: bool,
    /// Is the other end in the same AS?
    pub is_internal: bool,
    /// Families of which received destinations begin with a path identifier (RFC 7911, 3), by [`Family::place`].
    pub add_path: [bool; Family::ALL.len()],
    /// How many labels received destinations of a family have at most, by [`Family::place`], where both ends have said
    /// that they take several (RFC 8277, 2.1); else zero: there is one, and its S bit says nothing.
    pub labels_max: [u8; Family::ALL.len()],
}

/// What can't be read and ends the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// What is to be sent before the connection is closed.
    pub notification: Notification,
    /// Where and what is wrong.
    pub error: Error,
}

impl Malformed {
    fn new(code: notification::Code, data: &[u8], offset: usize, clause: &'static str) -> Malformed {
        Malformed {
            notification: Notification::with(code, data),
            error: Error::invalid(LAYER, offset, clause),
        }
    }
}
