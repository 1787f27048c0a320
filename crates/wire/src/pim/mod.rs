//! PIM version 2 (RFC 7761): what routers tell each other about trees of groups.
//!
//! - [`Hello`] and its options: who is on a link
//! - [`JoinPrune`]: which trees a router wants to be on, and which no more
//! - [`Assert`]: who forwards packets of a group onto a link
//! - `address`: addresses as messages have them
//! - [`layer`](Pim): a message as a layer of a tree
//!
//! Messages of rendezvous points, bootstrap routers and dense mode are told apart by their numbers, and their bodies
//! are kept as they are: [`Repr::Other`].

mod address;
mod hello;
mod join_prune;
mod layer;
#[cfg(test)]
mod tests;

pub use hello::{Hello, HelloOption};
pub use join_prune::{GroupSet, JoinPrune, SourceEntry};
pub use layer::Pim;

use crate::checksum;
use crate::error::{Error, Reason, need};
use crate::hex::Hex;
use address::{group, put_group, put_unicast, unicast};
use core::net::{IpAddr, Ipv4Addr};
use serde::{Deserialize, Serialize};

const LAYER: &str = "pim";
/// Number of the IP protocol (RFC 7761, 4.9).
pub const PROTOCOL: u8 = 103;
/// All routers of a link that speak it: ALL-PIM-ROUTERS.
pub const ALL_ROUTERS: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 13);
/// Seconds that stand for "until it is cancelled" in a holdtime.
pub const FOREVER: u16 = 0xffff;

const VERSION: u8 = 2;
const HEADER_LEN: usize = 4;
/// A Register's checksum covers its header and its flags, and not the packet inside.
const REGISTER_LEN: usize = 8;

/// Numbers of the kinds of messages (RFC 7761, 4.9).
pub mod kind {
    /// Says that a router is there.
    pub const HELLO: u8 = 0;
    /// A packet on its way to a rendezvous point.
    pub const REGISTER: u8 = 1;
    /// Joins trees, and leaves them.
    pub const JOIN_PRUNE: u8 = 3;
    /// Settles who forwards onto a link.
    pub const ASSERT: u8 = 5;
}

/// Names of the kinds of messages, by their numbers.
const NAMES: [&str; 9] = [
    "Hello",
    "Register",
    "RegisterStop",
    "JoinPrune",
    "Bootstrap",
    "Assert",
    "Graft",
    "GraftAck",
    "CandidateRpAdvertisement",
];

/// The name of a kind of message; nothing if there is none of that number.
pub fn name(kind: u8) -> Option<&'static str> {
    NAMES.get(usize::from(kind)).copied()
}

/// The kind of a message by its first byte.
pub const fn kind_of(first: u8) -> u8 {
    first & 0x0f
}

/// A message.
///
/// ```text
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |PIM Ver| Type  |   Reserved    |           Checksum            |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "kebab-case")]
pub enum Repr {
    /// A router is on the link.
    Hello(Hello),
    /// A router wants to be on trees, or no more.
    JoinPrune(JoinPrune),
    /// Two routers forward packets of a group onto one link: which is to go on?
    Assert(Assert),
    /// Another kind of message, which routers of source-specific trees alone need not know (RFC 7761, 4.8.2).
    Other {
        /// Its number.
        kind: u8,
        /// What follows its header, in hexadecimal.
        body: Hex,
    },
}

/// An Assert (RFC 7761, 4.9.6).
///
/// ```text
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |              Group Address (Encoded-Group format)             |
/// |            Source Address (Encoded-Unicast format)            |
/// |R|                      Metric Preference                      |
/// |                             Metric                            |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assert {
    /// The group.
    pub group: IpAddr,
    /// The sender of its packets; unspecified if it is about all.
    pub source: IpAddr,
    /// Is it about a tree for all senders?
    pub rpt: bool,
    /// How good the kind of route to the sender is: the least wins. 31 bits.
    pub preference: u32,
    /// What the route to the sender costs.
    pub metric: u32,
}

impl Assert {
    /// The worst preference that there is: all bits of the field.
    pub const WORST_PREFERENCE: u32 = 0x7fff_ffff;

    /// Does its sender forward no more (RFC 7761, 4.6.4)?
    pub const fn is_cancel(&self) -> bool {
        self.rpt && self.preference == Assert::WORST_PREFERENCE && self.metric == u32::MAX
    }

    fn parse(bytes: &[u8]) -> Result<Assert, Error> {
        let mut at = HEADER_LEN;
        let group = group(bytes, &mut at)?;
        let source = unicast(bytes, &mut at)?;
        need(LAYER, at + 8, bytes.len())?;
        let word = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let preference = word(at);
        Ok(Assert {
            group,
            source,
            rpt: preference >> 31 == 1,
            preference: preference & Assert::WORST_PREFERENCE,
            metric: word(at + 4),
        })
    }

    fn emit(&self, out: &mut Vec<u8>) {
        put_group(self.group, out);
        put_unicast(self.source, out);
        let preference = self.preference & Assert::WORST_PREFERENCE | u32::from(self.rpt) << 31;
        out.extend(preference.to_be_bytes());
        out.extend(self.metric.to_be_bytes());
    }
}

impl Repr {
    /// The number of its kind.
    pub const fn kind(&self) -> u8 {
        match self {
            Repr::Hello(_) => kind::HELLO,
            Repr::JoinPrune(_) => kind::JOIN_PRUNE,
            Repr::Assert(_) => kind::ASSERT,
            Repr::Other { kind, .. } => *kind,
        }
    }

    /// Reads a message in an IPv4 packet and checks its checksum (RFC 7761, 4.9).
    pub fn parse(bytes: &[u8]) -> Result<Repr, Error> {
        let kind = header(bytes)?;
        let (found, computed) = (u16::from_be_bytes([bytes[2], bytes[3]]), checksum_of(kind, bytes));
        if found != computed {
            return Err(Error::new(LAYER, 2, Reason::Checksum { found, computed }));
        }
        Repr::body(kind, bytes)
    }

    /// Reads a message whatever its checksum is.
    fn body(kind: u8, bytes: &[u8]) -> Result<Repr, Error> {
        match kind {
            kind::HELLO => Ok(Repr::Hello(Hello::parse(bytes)?)),
            kind::JOIN_PRUNE => Ok(Repr::JoinPrune(JoinPrune::parse(bytes)?)),
            kind::ASSERT => Ok(Repr::Assert(Assert::parse(bytes)?)),
            kind => Ok(Repr::Other { kind, body: bytes[HEADER_LEN..].into() }),
        }
    }

    /// The bytes of the message, with its checksum.
    pub fn emit(&self) -> Vec<u8> {
        let mut out = vec![VERSION << 4 | self.kind() & 0x0f, 0, 0, 0];
        match self {
            Repr::Hello(hello) => hello.emit(&mut out),
            Repr::JoinPrune(message) => message.emit(&mut out),
            Repr::Assert(assert) => assert.emit(&mut out),
            Repr::Other { body, .. } => out.extend(&body.0),
        }
        let sum = checksum_of(self.kind(), &out);
        out[2..4].copy_from_slice(&sum.to_be_bytes());
        out
    }
}

/// Checks version and type, and returns the type.
fn header(bytes: &[u8]) -> Result<u8, Error> {
    need(LAYER, HEADER_LEN, bytes.len())?;
    let kind = kind_of(bytes[0]);
    if bytes[0] >> 4 != VERSION {
        let (found, expected) = (u64::from(bytes[0] >> 4), u64::from(VERSION));
        return Err(Error::new(LAYER, 0, Reason::Unexpected { field: "PIM Ver", found, expected }));
    }
    if name(kind).is_none() {
        let (found, max) = (u64::from(kind), NAMES.len() as u64 - 1);
        return Err(Error::new(LAYER, 0, Reason::OutOfRange { field: "Type", found, min: 0, max }));
    }
    Ok(kind)
}

/// The checksum that a message should have.
fn checksum_of(kind: u8, bytes: &[u8]) -> u16 {
    let len = if kind == kind::REGISTER { bytes.len().min(REGISTER_LEN) } else { bytes.len() };
    !checksum::combine(&[checksum::sum(&bytes[..2]), checksum::sum(&bytes[HEADER_LEN..len])])
}
