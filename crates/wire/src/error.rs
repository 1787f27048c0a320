//! What can be wrong with bytes: the layer, the offset and the reason, in one clause.

use thiserror::Error as ThisError;

/// Bytes that can't be read as `layer`, or a value that can't be written as one.
///
/// ```
/// use twinplane_wire::{Error, Reason};
/// let error = Error::truncated("ipv4", 20, 7);
/// assert_eq!(error.to_string(), "ipv4: 20 bytes needed, 7 there (at byte 7)");
/// assert_eq!(error.at(14).offset, 21);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ThisError)]
#[error("{layer}: {reason} (at byte {offset})")]
pub struct Error {
    /// The protocol, in lower case: `ipv4`, `rsvp`.
    pub layer: &'static str,
    /// The byte at fault, counted from the first byte of the layer (of the frame, in [`crate::tree`]).
    pub offset: usize,
    /// What is wrong there; the message says it after the layer.
    pub reason: Reason,
}

/// Why bytes can't be read, or a value can't be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ThisError)]
pub enum Reason {
    /// The bytes end too early.
    #[error("{needed} bytes needed, {available} there")]
    Truncated {
        /// Bytes that the layer says it has, or that it has at least.
        needed: usize,
        /// Bytes that are there.
        available: usize,
    },
    /// A field that can have one value only has another.
    #[error("{field} is {found}, not {expected}")]
    Unexpected {
        /// The field's name in the RFC.
        field: &'static str,
        /// The value that the bytes have.
        found: u64,
        /// What should be there.
        expected: u64,
    },
    /// A field is out of its range, or contradicts another one.
    #[error("{field} is {found}, outside {min} to {max}")]
    OutOfRange {
        /// The field's name in the RFC.
        field: &'static str,
        /// The value that the bytes have, or that was to be written.
        found: u64,
        /// The least value allowed here.
        min: u64,
        /// The greatest value allowed here.
        max: u64,
    },
    /// The checksum is wrong.
    #[error("checksum is {found:#06x}, not {computed:#06x}")]
    Checksum {
        /// The checksum that the bytes have.
        found: u16,
        /// What the bytes give.
        computed: u16,
    },
    /// Anything else, as a clause.
    #[error("{0}")]
    Invalid(&'static str),
}

impl Error {
    /// An error in `layer` at `offset`.
    pub const fn new(layer: &'static str, offset: usize, reason: Reason) -> Error {
        Error { layer, offset, reason }
    }

    /// `layer` needs `needed` bytes and has `available`.
    pub const fn truncated(layer: &'static str, needed: usize, available: usize) -> Error {
        Error { layer, offset: available, reason: Reason::Truncated { needed, available } }
    }

    /// An error that a clause explains.
    pub const fn invalid(layer: &'static str, offset: usize, clause: &'static str) -> Error {
        Error { layer, offset, reason: Reason::Invalid(clause) }
    }

    /// The same error seen from `base` bytes further out.
    #[must_use]
    pub const fn at(self, base: usize) -> Error {
        Error { layer: self.layer, offset: self.offset + base, reason: self.reason }
    }
}

/// `Ok` if `available >= needed`.
#[inline]
pub(crate) const fn need(layer: &'static str, needed: usize, available: usize) -> Result<(), Error> {
    if available < needed { Err(Error::truncated(layer, needed, available)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_one_clause() {
        let at = |reason| Error::new("udp", 4, reason).to_string();
        assert_eq!(
            at(Reason::Unexpected { field: "version", found: 6, expected: 4 }),
            "udp: version is 6, not 4 (at byte 4)"
        );
        assert_eq!(
            at(Reason::OutOfRange { field: "length", found: 7, min: 8, max: 100 }),
            "udp: length is 7, outside 8 to 100 (at byte 4)"
        );
        assert_eq!(
            at(Reason::Checksum { found: 1, computed: 0xbeef }),
            "udp: checksum is 0x0001, not 0xbeef (at byte 4)"
        );
        assert_eq!(at(Reason::Invalid("no bottom of stack")), "udp: no bottom of stack (at byte 4)");
    }
}
