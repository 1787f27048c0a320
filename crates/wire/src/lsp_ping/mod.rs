//! LSP ping: MPLS echo requests and replies in UDP (RFC 8029), as a layer of a tree. Field names are what users see in
//! Python and JSON.
//!
//! - `tlv`: what a message says; `fec`: what labels stand for; `mapping`: the way on, and how a request came
//! - [`code`]: return codes

pub mod code;
mod fec;
mod mapping;
#[cfg(test)]
mod tests;
mod tlv;

pub use fec::Fec;
pub use mapping::{ALL_ROUTERS, FecChange, MappedLabel, Mapping, MappingPart, Place, Received};
pub use tlv::{RawTlv, Responder, Tlv};

use crate::error::{Error, need};
use core::fmt::{self, Write};
use serde::{Deserialize, Serialize};
use tlv::parts;

const LAYER: &str = "lspping";
/// The UDP port that requests are for, and that replies come from (RFC 8029, 4.3 and 4.5).
pub const PORT: u16 = 3503;
/// Bytes in front of the TLVs.
const HEADER_LEN: usize = 32;
/// Bytes of type and length of a TLV.
const TLV_HEADER_LEN: usize = 4;

/// The version that this is (RFC 8029, 3).
pub const VERSION: u16 = 1;
/// The message type of a request.
pub const REQUEST: u8 = 1;
/// The message type of a reply.
pub const REPLY: u8 = 2;
/// From TLVs of this type on, what is not understood is ignored (RFC 8029, 3).
pub const OPTIONAL: u16 = 1 << 15;

/// An echo request or reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LspPing {
    /// The version number, 1 (RFC 8029, 3).
    pub version: u16,
    /// Bits: 1 validate the FEC stack, 2 respond only if the TTL expired, 4 validate the reverse path.
    #[serde(default)]
    pub flags: u16,
    /// 1 is a request, 2 a reply.
    pub message_type: u8,
    /// How the reply comes: 1 not at all, 2 as a UDP packet, 3 with Router Alert, 4 by a control channel.
    pub reply_mode: u8,
    /// What became of the request (RFC 8029, 3.1), 0 in a request.
    #[serde(default)]
    pub return_code: u8,
    /// The depth in the label stack that the return code is about.
    #[serde(default)]
    pub return_subcode: u8,
    /// Chosen by who asks, and sent back.
    pub handle: u32,
    /// Chosen by who asks, and sent back.
    pub sequence: u32,
    /// When the request was sent, as an NTP timestamp: seconds since 1900 in units of 2^-32.
    #[serde(default)]
    pub sent: u64,
    /// When it was received, likewise; 0 in a request.
    #[serde(default)]
    pub received: u64,
    /// What else it says, in order.
    #[serde(default)]
    pub tlvs: Vec<Tlv>,
}

impl LspPing {
    /// Does the request want every router to check what the label stands for (RFC 8029, 3)?
    pub const VALIDATE: u16 = 1;

    /// Is the request only for the router at which its time to live is over?
    pub const ONLY_IF_EXPIRED: u16 = 2;

    /// Reads a message as a receiver does: what must be zero, padding among it, is not looked at.
    pub fn parse(data: &[u8]) -> Result<LspPing, Error> {
        LspPing::read_by(data, Tlv::read)
    }

    /// The header alone, of a message whose TLVs may be anything.
    pub fn parse_header(data: &[u8]) -> Result<LspPing, Error> {
        LspPing::read_by(data.get(..HEADER_LEN).unwrap_or(data), Tlv::read)
    }

    /// Reads a message. What can't be written again as it is, such as padding that is not zero, is refused.
    pub(crate) fn read(data: &[u8]) -> Result<LspPing, Error> {
        let message = LspPing::read_by(data, Tlv::read_exactly)?;
        match message.write() {
            Ok(again) if again == data => Ok(message),
            _ => Err(Error::invalid(LAYER, HEADER_LEN, "the padding of a TLV is not zero")),
        }
    }

    fn read_by(data: &[u8], read: fn(u16, &[u8]) -> Tlv) -> Result<LspPing, Error> {
        need(LAYER, HEADER_LEN, data.len())?;
        let short = |at: usize| u16::from_be_bytes([data[at], data[at + 1]]);
        let word = |at: usize| u32::from_be_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]]);
        let time = |at: usize| u64::from(word(at)) << 32 | u64::from(word(at + 4));
        let mut message = LspPing {
            version: short(0),
            flags: short(2),
            message_type: data[4],
            reply_mode: data[5],
            return_code: data[6],
            return_subcode: data[7],
            handle: word(8),
            sequence: word(12),
            sent: time(16),
            received: time(24),
            tlvs: Vec::new(),
        };
        for (kind, value) in parts(&data[HEADER_LEN..]).map_err(|error| error.at(HEADER_LEN))? {
            message.tlvs.push(read(kind, value));
        }
        Ok(message)
    }

    /// The message as it is on the wire.
    pub fn write(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        bytes.extend(self.version.to_be_bytes());
        bytes.extend(self.flags.to_be_bytes());
        bytes.extend([self.message_type, self.reply_mode, self.return_code, self.return_subcode]);
        bytes.extend(self.handle.to_be_bytes());
        bytes.extend(self.sequence.to_be_bytes());
        bytes.extend(self.sent.to_be_bytes());
        bytes.extend(self.received.to_be_bytes());
        for tlv in &self.tlvs {
            tlv.write(&mut bytes)?;
        }
        Ok(bytes)
    }

    /// Its part of a line.
    pub(crate) fn summarise(&self, out: &mut String) -> fmt::Result {
        match self.message_type {
            REQUEST => out.push_str("LSP ping request"),
            REPLY => {
                let (code, depth) = (self.return_code, self.return_subcode);
                write!(out, "LSP ping reply, return code {code}: {}", code::words(code))?;
                if depth > 0 {
                    write!(out, " at depth {depth}")?;
                }
            }
            other => write!(out, "LSP ping type {other}")?,
        }
        write!(out, ", sequence {}", self.sequence)?;
        for tlv in &self.tlvs {
            if let Tlv::TargetFecStack { fecs } = tlv {
                fecs.iter().try_for_each(|fec| fec.summarise(out))?;
            }
        }
        Ok(())
    }
}
