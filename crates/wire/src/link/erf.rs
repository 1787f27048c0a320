//! Cells of ATM as records of the extensible record format (ERF) have them.

use crate::error::{Error, Reason, need};
use core::fmt::{self, Write};
use serde::{Deserialize, Serialize};

const LAYER: &str = "erf";
/// Bytes of a record in front of what was captured.
const LEN: usize = 16;
/// Bytes of a cell's header without the fifth, which the format leaves out.
const CELL_HEADER_LEN: usize = 4;
/// The type of records with one cell each, without the bit that says that more headers follow.
const ATM: u8 = 3;

/// The header of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erf {
    /// When it was captured, in parts of 2^32 of a second since 1970.
    pub timestamp: u64,
    /// What the record holds: 3 for a cell.
    pub kind: u8,
    /// Interface and errors, a bit for each.
    pub flags: u8,
    /// Bytes of the record with its header.
    pub record_length: u16,
    /// Records that were lost before it.
    pub lost: u16,
    /// Bytes that there were on the link.
    pub wire_length: u16,
}

/// The header of a cell, without its header error control.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// Virtual path between nodes of a network, 0 to 4,095. At a user's interface the upper four bits are generic flow
    /// control.
    pub vpi: u16,
    /// Virtual channel.
    pub vci: u16,
    /// Payload type: 0 user data, 1 the last cell of a PDU of AAL5, 2 and 3 the same behind a node that is congested,
    /// 4 and 5 operation and maintenance.
    pub payload_type: u8,
    /// May it be lost first?
    #[serde(default)]
    pub loss_priority: bool,
}

impl Erf {
    /// Reads a header. Returns it with its length, and the header of the cell that follows, if one does.
    pub(crate) fn read(data: &[u8]) -> Result<(Erf, usize, Option<Cell>), Error> {
        need(LAYER, LEN, data.len())?;
        let (stamp, rest) = data.split_first_chunk::<8>().ok_or(Error::truncated(LAYER, LEN, data.len()))?;
        let two = |at: usize| u16::from_be_bytes([rest[at], rest[at + 1]]);
        let erf = Erf {
            timestamp: u64::from_le_bytes(*stamp),
            kind: rest[0],
            flags: rest[1],
            record_length: two(2),
            lost: two(4),
            wire_length: two(6),
        };
        let cell = if erf.kind == ATM { Cell::read(&data[LEN..]) } else { None };
        Ok((erf, LEN, cell))
    }

    /// Its bytes.
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut bytes = self.timestamp.to_le_bytes().to_vec();
        bytes.extend([self.kind, self.flags]);
        bytes.extend(
            [self.record_length, self.lost, self.wire_length].iter().flat_map(|word| word.to_be_bytes()),
        );
        bytes
    }

    /// Its part of a line; `known` if a cell follows.
    pub(crate) fn summarise(&self, out: &mut String, known: bool) -> fmt::Result {
        if known { Ok(()) } else { write!(out, "ERF type {}", self.kind) }
    }
}

impl Cell {
    /// Bytes that it takes.
    pub(crate) const LEN: usize = CELL_HEADER_LEN;

    /// Reads a header, if it is all there.
    fn read(data: &[u8]) -> Option<Cell> {
        let word = u32::from_be_bytes(*data.first_chunk::<CELL_HEADER_LEN>()?);
        Some(Cell {
            vpi: (word >> 20) as u16,
            vci: (word >> 4) as u16,
            payload_type: (word >> 1 & 7) as u8,
            loss_priority: word & 1 == 1,
        })
    }

    /// Its bytes.
    pub(crate) fn write(&self) -> Result<Vec<u8>, Error> {
        for (field, found, max) in [("vpi", self.vpi, 0xfff), ("payload_type", self.payload_type.into(), 7)] {
            if found > max {
                let reason = Reason::OutOfRange { field, found: found.into(), min: 0, max: max.into() };
                return Err(Error::new("cell", 0, reason));
            }
        }
        let (vpi, vci) = (u32::from(self.vpi) << 20, u32::from(self.vci) << 4);
        let word = vpi | vci | u32::from(self.payload_type) << 1 | u32::from(self.loss_priority);
        Ok(word.to_be_bytes().to_vec())
    }

    /// Its part of a line.
    pub(crate) fn summarise(&self, out: &mut String) -> fmt::Result {
        write!(out, "cell {}/{}", self.vpi, self.vci)?;
        match self.payload_type {
            0 | 2 => Ok(()),
            1 | 3 => out.write_str(" last of its PDU"),
            kind => write!(out, " payload type {kind}"),
        }
    }
}
