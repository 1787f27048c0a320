//! ATM: cells, their header error control, AAL5, and how packets are put into it (RFC 2684, RFC 3035, RFC 2225).
//!
//! Cells, header error control and AAL5 are of Recommendations of the ITU (I.361, I.432.1, I.363.5) whose texts were
//! not at hand: known values of their checks are in the tests, and no clause is cited.
//!
//! A packet goes the way down through [`Encapsulation`], [`aal5::pdu`] and [`aal5::cells`]; cells go up through
//! [`HecReceiver`] and [`aal5::Reassembler`].

pub mod aal5;
mod cell;
mod crc;
mod encapsulation;
mod hec;
pub mod inatmarp;
#[cfg(test)]
mod tests;

pub use cell::{CELL_LEN, Cell, Format, HEADER_LEN, Header, PAYLOAD_LEN, Pti};
pub use crc::{Crc32, hec};
pub use encapsulation::{Encapsulation, LLC_SNAP_LEN, SHIM_LEN, llc_snap, null_label};
pub use hec::{Event, HecReceiver, Mode, Verdict};
