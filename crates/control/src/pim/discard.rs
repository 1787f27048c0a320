//! Messages that are not used, by reason.

use std::collections::BTreeMap;
use wire::{Error, Reason};

/// Why a message, or a part of it, is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Discard {
    /// Its version is not 2.
    Version,
    /// There is no kind of message of its number.
    Kind,
    /// Its checksum is wrong.
    Checksum,
    /// Its bytes cannot be read.
    Malformed,
    /// It was not sent to all routers of the link.
    Destination,
    /// It has this router's own address.
    OwnAddress,
    /// Its sender has not said that it is there.
    NotNeighbor,
    /// Routers of source-specific trees alone do not speak its kind.
    NotSpoken,
    /// A group that is joined is not in the range of source-specific groups.
    OutsideRange,
    /// All sources of a group are joined, or a tree from a rendezvous point, in that range.
    NotSpecific,
}

impl Discard {
    /// As the table has it.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Discard::Version => "version",
            Discard::Kind => "kind",
            Discard::Checksum => "checksum",
            Discard::Malformed => "malformed",
            Discard::Destination => "destination",
            Discard::OwnAddress => "own-address",
            Discard::NotNeighbor => "not-neighbor",
            Discard::NotSpoken => "not-spoken",
            Discard::OutsideRange => "outside-range",
            Discard::NotSpecific => "not-specific",
        }
    }

    /// The reason that an error of reading is.
    pub(super) fn of(error: &Error) -> Discard {
        match error.reason {
            Reason::Checksum { .. } => Discard::Checksum,
            Reason::Unexpected { field: "PIM Ver", .. } => Discard::Version,
            Reason::OutOfRange { field: "Type", .. } => Discard::Kind,
            _ => Discard::Malformed,
        }
    }
}

/// How many there were of each.
#[derive(Clone, Debug, Default)]
pub(super) struct Discards(BTreeMap<Discard, u64>);

impl Discards {
    pub(super) fn count(&mut self, reason: Discard) {
        *self.0.entry(reason).or_default() += 1;
    }

    /// Those that there were, by reason.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Discard, u64)> {
        self.0.iter().map(|(reason, count)| (*reason, *count))
    }
}
