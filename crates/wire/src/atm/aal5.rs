//! AAL5: packets as PDUs of whole cells, and back (the format is in RFC 2684, 4).
//!
//! ```text
//! +---------------- - - - ----------+------- - -+----+-----+--------+--------+
//! | payload, up to 65,535 bytes     | PAD, 0-47 | UU | CPI | Length | CRC-32 |
//! +---------------- - - - ----------+------- - -+----+-----+--------+--------+
//!                                                  1    1      2        4
//! ```

use super::cell::{CELL_LEN, Format, HEADER_LEN, Header, PAYLOAD_LEN, Pti};
use super::crc::Crc32;
use crate::error::{Error, Reason};
use thiserror::Error as ThisError;

const LAYER: &str = "aal5";

/// Bytes of the trailer.
pub const TRAILER_LEN: usize = 8;
/// The longest payload: its length has 16 bits.
pub const PAYLOAD_MAX: usize = u16::MAX as usize;

/// How many cells a payload of this many bytes takes.
///
/// ```
/// use twinplane_wire::atm::aal5::cells_for;
/// // A bare acknowledgement of TCP fits one cell, with anything in front of it it does not.
/// assert_eq!([cells_for(40), cells_for(41)], [1, 2]);
/// ```
pub const fn cells_for(payload_len: usize) -> usize {
    (payload_len + TRAILER_LEN).div_ceil(PAYLOAD_LEN)
}

/// What the trailer says beside length and CRC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Trailer {
    /// User-to-user indication, carried unchanged; RFC 2684 (4) has no use for it.
    pub uu: u8,
    /// Common part indicator, zero as long as it only pads the trailer (RFC 2684, 4).
    pub cpi: u8,
}

/// The PDU of a payload: payload, padding of zeros and trailer, whole cells long.
pub fn pdu(payload: &[u8], trailer: Trailer) -> Result<Vec<u8>, Error> {
    let Ok(length) = u16::try_from(payload.len()) else {
        let (found, max) = (payload.len() as u64, PAYLOAD_MAX as u64);
        return Err(Error::new(LAYER, 0, Reason::OutOfRange { field: "length", found, min: 0, max }));
    };
    let total = cells_for(payload.len()) * PAYLOAD_LEN;
    let mut bytes = Vec::with_capacity(total);
    bytes.extend(payload);
    bytes.resize(total - TRAILER_LEN, 0);
    bytes.extend([trailer.uu, trailer.cpi]);
    bytes.extend(length.to_be_bytes());
    let mut crc = Crc32::default();
    crc.update(&bytes);
    bytes.extend(crc.value().to_be_bytes());
    Ok(bytes)
}

/// The cells of a PDU on one virtual channel. Only the last one says that it is.
pub fn cells(pdu: &[u8], format: Format, vpi: u16, vci: u16) -> impl Iterator<Item = [u8; CELL_LEN]> {
    (0..pdu.len() / PAYLOAD_LEN).filter_map(move |index| cell(pdu, index, format, vpi, vci))
}

/// One of the cells of a PDU, if it has so many.
pub fn cell(pdu: &[u8], index: usize, format: Format, vpi: u16, vci: u16) -> Option<[u8; CELL_LEN]> {
    let payloads = pdu.as_chunks::<PAYLOAD_LEN>().0;
    let pti = if index + 1 == payloads.len() { Pti::USER_LAST } else { Pti::USER };
    let mut cell = [0; CELL_LEN];
    cell[..HEADER_LEN].copy_from_slice(&Header { gfc: 0, vpi, vci, pti, clp: false }.emit(format));
    cell[HEADER_LEN..].copy_from_slice(payloads.get(index)?);
    Some(cell)
}

/// Why a PDU was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ThisError)]
pub enum Fault {
    /// The CRC is wrong: a bit is, or cells are missing, or two PDUs ran together.
    #[error("the CRC-32 of the PDU is wrong")]
    Crc,
    /// The CRC is right, but so many bytes do not make so many cells.
    #[error("the length of the PDU does not fit its cells")]
    Length,
    /// The sender gave the PDU up: its length is zero.
    #[error("the sender aborted the PDU")]
    Aborted,
    /// There were more cells than the longest payload takes.
    #[error("the PDU is longer than the receiver takes")]
    TooLong,
}

/// PDUs by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Those whose payloads were handed up.
    pub received: u64,
    /// Those dropped with a wrong CRC.
    pub crc: u64,
    /// Those dropped for their length.
    pub length: u64,
    /// Those that the sender gave up.
    pub aborted: u64,
    /// Those dropped because they were too long.
    pub too_long: u64,
}

/// Puts the cells of one virtual channel together.
#[derive(Clone, Debug)]
pub struct Reassembler {
    payload_max: usize,
    buffer: Vec<u8>,
    crc: Crc32,
    /// More came than fits: the rest is dropped up to the last cell.
    overflown: bool,
    counters: Counters,
}

impl Reassembler {
    /// A receiver of payloads of up to so many bytes: 9,188 for packets of up to 9,180 (RFC 2225, 7) behind LLC and
    /// SNAP.
    pub fn new(payload_max: usize) -> Reassembler {
        let payload_max = payload_max.min(PAYLOAD_MAX);
        let (buffer, crc) = (Vec::new(), Crc32::default());
        Reassembler { payload_max, buffer, crc, overflown: false, counters: Counters::default() }
    }

    /// What became of all PDUs so far.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Takes the payload of the next cell. After the last one of a PDU the answer is its payload, or why it is
    /// dropped.
    pub fn receive(
        &mut self,
        payload: &[u8; PAYLOAD_LEN],
        last: bool,
    ) -> Option<Result<(Vec<u8>, Trailer), Fault>> {
        if self.buffer.len() == cells_for(self.payload_max) * PAYLOAD_LEN {
            self.overflown = true;
        }
        if !self.overflown {
            self.buffer.extend_from_slice(payload);
            self.crc.update(payload);
        }
        if !last {
            return None;
        }
        let (bytes, crc) = (core::mem::take(&mut self.buffer), core::mem::take(&mut self.crc));
        let result =
            if core::mem::take(&mut self.overflown) { Err(Fault::TooLong) } else { self.check(bytes, crc) };
        *match result {
            Ok(_) => &mut self.counters.received,
            Err(Fault::Crc) => &mut self.counters.crc,
            Err(Fault::Length) => &mut self.counters.length,
            Err(Fault::Aborted) => &mut self.counters.aborted,
            Err(Fault::TooLong) => &mut self.counters.too_long,
        } += 1;
        Some(result)
    }

    fn check(&self, mut bytes: Vec<u8>, crc: Crc32) -> Result<(Vec<u8>, Trailer), Fault> {
        // The CRC first: if it is wrong, the length can't be trusted either.
        if !crc.is_right() {
            return Err(Fault::Crc);
        }
        let Some(&[uu, cpi, high, low, ..]) = bytes.last_chunk::<TRAILER_LEN>() else {
            return Err(Fault::Length);
        };
        let length = usize::from(u16::from_be_bytes([high, low]));
        if length == 0 {
            return Err(Fault::Aborted);
        }
        if cells_for(length) * PAYLOAD_LEN != bytes.len() {
            return Err(Fault::Length);
        }
        if length > self.payload_max {
            return Err(Fault::TooLong);
        }
        bytes.truncate(length);
        Ok((bytes, Trailer { uu, cpi }))
    }
}
