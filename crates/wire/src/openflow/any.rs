//! A message of either version, for decoders that don't know what two ends have agreed on.

use super::{HEADER_LEN, Malformed, Version, v1_0, v1_3};
use crate::error::Error;
use serde::{Deserialize, Serialize};

/// A message of any version that is spoken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "version")]
pub enum Any {
    /// OpenFlow 1.0.
    #[serde(rename = "1.0")]
    V1_0(v1_0::Message),
    /// OpenFlow 1.3.
    #[serde(rename = "1.3")]
    V1_3(v1_3::Message),
}

impl Any {
    /// Reads a whole message; nothing if it is of a version that is not spoken.
    pub fn parse(bytes: &[u8]) -> Option<Result<Any, Malformed>> {
        Some(match Version::of(*bytes.first()?)? {
            Version::V1_0 => v1_0::Message::parse(bytes).map(Any::V1_0),
            Version::V1_3 => v1_3::Message::parse(bytes).map(Any::V1_3),
        })
    }

    /// Appends it; an error if it is longer than a message can be.
    pub fn emit(&self, to: &mut Vec<u8>) -> Result<(), Error> {
        match self {
            Any::V1_0(message) => message.emit(to),
            Any::V1_3(message) => message.emit(to),
        }
    }

    /// Its version.
    pub const fn version(&self) -> Version {
        match self {
            Any::V1_0(_) => Version::V1_0,
            Any::V1_3(_) => Version::V1_3,
        }
    }

    /// The word of its type, and the number of the transaction.
    pub const fn word(&self) -> (&'static str, u32) {
        match self {
            Any::V1_0(message) => (message.body.word(), message.xid),
            Any::V1_3(message) => (message.body.word(), message.xid),
        }
    }

    /// May `bytes` be the header of a message, to go by its version, type and length? Where a stream is looked at from
    /// somewhere in its middle, nothing else says so.
    pub fn is_header(bytes: &[u8]) -> bool {
        let Some(header) = bytes.first_chunk::<HEADER_LEN>() else { return false };
        let kinds = match Version::of(header[0]) {
            Some(Version::V1_0) => v1_0::Body::KINDS,
            Some(Version::V1_3) => v1_3::Body::KINDS,
            None => return false,
        };
        let len = usize::from(u16::from_be_bytes([header[2], header[3]]));
        len >= HEADER_LEN && kinds.iter().any(|(kind, _)| *kind == header[1])
    }
}
