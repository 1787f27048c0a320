//! The header that all versions have in common, and how a stream divides into messages.

use super::fields::set_len;
use super::macros::layout;
use super::{Field, LAYER};
use crate::error::{Error, Reason};
use serde::{Deserialize, Serialize};

/// Bytes of the header: version, type, length, transaction.
pub const HEADER_LEN: usize = 8;

/// A version that is spoken, by its number in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Version {
    /// OpenFlow 1.0.
    #[serde(rename = "1.0")]
    V1_0 = 1,
    /// OpenFlow 1.3.
    #[serde(rename = "1.3")]
    V1_3 = 4,
}

impl Version {
    /// All that are spoken, the oldest first.
    pub const ALL: [Version; 2] = [Version::V1_0, Version::V1_3];

    /// The version that has a number in the header.
    pub fn of(number: u8) -> Option<Version> {
        Version::ALL.into_iter().find(|version| *version as u8 == number)
    }

    /// Its name, as users write it.
    pub const fn name(self) -> &'static str {
        match self {
            Version::V1_0 => "1.0",
            Version::V1_3 => "1.3",
        }
    }
}

layout! {
    /// What every message begins with.
    #[derive(Copy)]
    Header {
        /// The version that the message is written in.
        version: u8;
        /// What the message is; what the number means depends on the version from 15 on.
        kind: u8;
        /// Bytes of the message, header included.
        length: u16;
        /// The number of the transaction.
        xid: u32;
    }
}

/// Bytes of the first message in what a stream has brought, or nothing as long as it is not all there. A length that
/// is less than a header is a message of a header: who reads it has to refuse it, and can't know where the next one
/// begins.
pub fn message_len(stream: &[u8]) -> Option<usize> {
    let header: &[u8; HEADER_LEN] = stream.first_chunk()?;
    let len = usize::from(u16::from_be_bytes([header[2], header[3]])).max(HEADER_LEN);
    (stream.len() >= len).then_some(len)
}

/// Appends a message: the header, and what `body` writes.
pub(super) fn emit(
    version: Version,
    kind: u8,
    xid: u32,
    to: &mut Vec<u8>,
    body: impl FnOnce(&mut Vec<u8>),
) -> Result<(), Error> {
    let start = to.len();
    Header { version: version as u8, kind, length: 0, xid }.write(to);
    body(to);
    let len = to.len() - start;
    if len > usize::from(u16::MAX) {
        to.truncate(start);
        let (min, max) = (HEADER_LEN as u64, u16::MAX.into());
        return Err(Error::new(
            LAYER,
            2,
            Reason::OutOfRange { field: "length", found: len as u64, min, max },
        ));
    }
    set_len(to, start, start + 2);
    Ok(())
}
