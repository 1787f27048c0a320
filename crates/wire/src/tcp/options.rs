//! The options of a TCP header.

use super::{LAYER, MAX_HEADER_LEN, field};
use crate::error::{Error, Reason};

/// Bytes of all options that fit into a header.
pub const MAX_LEN: usize = MAX_HEADER_LEN - field::OPTIONS;

/// Kinds of options.
mod kind {
    pub const END_OF_LIST: u8 = 0;
    pub const NO_OPERATION: u8 = 1;
    pub const MAXIMUM_SEGMENT_SIZE: u8 = 2;
    pub const WINDOW_SCALE: u8 = 3;
    pub const SACK_PERMITTED: u8 = 4;
    pub const TIMESTAMPS: u8 = 8;
}

/// One option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpOption<'a> {
    /// The end of the list (RFC 9293, 3.2); what follows is padding.
    EndOfList,
    /// One byte of filler (RFC 9293, 3.2).
    NoOperation,
    /// The longest payload that the sender takes in a segment, in bytes (RFC 9293, 3.7.1).
    MaximumSegmentSize(u16),
    /// By how many bits windows are shifted to the left (RFC 7323, 2.2).
    WindowScale(u8),
    /// The sender understands selective acknowledgments (RFC 2018, 2).
    SackPermitted,
    /// The sender's clock, and what it last saw of the receiver's (RFC 7323, 3.2).
    Timestamps {
        /// Reading of the sender's clock.
        value: u32,
        /// Reading of the receiver's clock that is sent back.
        echo: u32,
    },
    /// An option of any other kind.
    Other {
        /// Its number.
        kind: u8,
        /// What follows kind and length.
        data: &'a [u8],
    },
}

/// The options of a header: whole words of four bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Options {
    bytes: [u8; MAX_LEN],
    len: u8,
}

impl core::fmt::Debug for Options {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Default for Options {
    fn default() -> Self {
        Options::NONE
    }
}

impl Options {
    /// A header without options.
    pub const NONE: Options = Options { bytes: [0; MAX_LEN], len: 0 };

    /// The options in these bytes, as they stand: a multiple of four, at most [`MAX_LEN`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Options, Error> {
        if bytes.len() > MAX_LEN || !bytes.len().is_multiple_of(4) {
            let (found, max) = (bytes.len() as u64, MAX_LEN as u64);
            let reason = Reason::OutOfRange { field: "bytes of options", found, min: 0, max };
            return Err(Error::new(LAYER, field::OPTIONS, reason));
        }
        let mut options = Options { len: bytes.len() as u8, ..Options::NONE };
        options.bytes[..bytes.len()].copy_from_slice(bytes);
        Ok(options)
    }

    /// These options in their order, with zeros up to a whole word.
    pub fn of(list: &[TcpOption<'_>]) -> Result<Options, Error> {
        let mut bytes = Vec::with_capacity(MAX_LEN);
        for option in list {
            match *option {
                TcpOption::EndOfList => bytes.push(kind::END_OF_LIST),
                TcpOption::NoOperation => bytes.push(kind::NO_OPERATION),
                TcpOption::MaximumSegmentSize(size) => {
                    bytes.extend_from_slice(&[kind::MAXIMUM_SEGMENT_SIZE, 4]);
                    bytes.extend_from_slice(&size.to_be_bytes());
                }
                TcpOption::WindowScale(shift) => bytes.extend_from_slice(&[kind::WINDOW_SCALE, 3, shift]),
                TcpOption::SackPermitted => bytes.extend_from_slice(&[kind::SACK_PERMITTED, 2]),
                TcpOption::Timestamps { value, echo } => {
                    bytes.extend_from_slice(&[kind::TIMESTAMPS, 10]);
                    bytes.extend_from_slice(&value.to_be_bytes());
                    bytes.extend_from_slice(&echo.to_be_bytes());
                }
                TcpOption::Other { kind, data } => {
                    bytes.extend_from_slice(&[kind, (data.len() + 2).min(255) as u8]);
                    bytes.extend_from_slice(data);
                }
            }
        }
        bytes.resize(bytes.len().next_multiple_of(4), kind::END_OF_LIST);
        Options::from_bytes(&bytes)
    }

    /// Their bytes, padding included.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// The options in order, up to the end of the list or to the first that does not fit.
    pub fn iter(&self) -> impl Iterator<Item = TcpOption<'_>> {
        let mut rest = self.as_bytes();
        core::iter::from_fn(move || {
            let (option, behind) = next(rest)?;
            rest = if option == TcpOption::EndOfList { &[] } else { behind };
            Some(option)
        })
    }

    /// The longest payload that the sender takes in a segment, in bytes, if it says so.
    pub fn maximum_segment_size(&self) -> Option<u16> {
        self.iter().find_map(|option| match option {
            TcpOption::MaximumSegmentSize(size) => Some(size),
            _ => None,
        })
    }
}

/// The first option of `bytes`, and what is behind it.
fn next(bytes: &[u8]) -> Option<(TcpOption<'_>, &[u8])> {
    let (&kind, rest) = bytes.split_first()?;
    match kind {
        kind::END_OF_LIST => return Some((TcpOption::EndOfList, rest)),
        kind::NO_OPERATION => return Some((TcpOption::NoOperation, rest)),
        _ => {}
    }
    let (&len, rest) = rest.split_first()?;
    let (data, rest) = rest.split_at_checked(usize::from(len).checked_sub(2)?)?;
    let option = match (kind, data) {
        (kind::MAXIMUM_SEGMENT_SIZE, &[a, b]) => TcpOption::MaximumSegmentSize(u16::from_be_bytes([a, b])),
        (kind::WINDOW_SCALE, &[shift]) => TcpOption::WindowScale(shift),
        (kind::SACK_PERMITTED, []) => TcpOption::SackPermitted,
        (kind::TIMESTAMPS, &[a, b, c, d, e, f, g, h]) => TcpOption::Timestamps {
            value: u32::from_be_bytes([a, b, c, d]),
            echo: u32::from_be_bytes([e, f, g, h]),
        },
        _ => TcpOption::Other { kind, data },
    };
    Some((option, rest))
}
