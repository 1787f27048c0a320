//! ATM: cells (ITU-T I.361), their header error control (I.432.1), AAL5 (I.363.5), and how packets are put into it
//! (RFC 2684, RFC 3035, RFC 2225).
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
pub use encapsulation::{Encapsulation, LLC_SNAP_LEN, SHIM_LEN, llc_snap};
pub use hec::{Event, HecReceiver, Mode, Verdict};
