//! ATM: cells of 53 bytes, one after the other. The devices at both ends hold cells as they are on the link, without an
//! Ethernet header: they are ATM switches, and packets become cells within them.

use super::{Carries, Medium, Outside};
use base::frame::Framing;
use wire::atm::CELL_LEN;

/// Links between ATM switches; their rate counts the 5 bytes of header of each cell, too.
pub const ATM: Medium = Medium {
    name: "atm",
    meaning: "Cells of 53 bytes between two ATM switches; the rate counts all of them.",
    framing: Framing { typed: 0, llc: 0, trailer: 0, least: CELL_LEN as u32, most: CELL_LEN as u32, gap: 0 },
    conversion: None,
    carries: Carries::Cells,
    // For private use: no number is for bare cells.
    link_type: 147,
    has_addresses: false,
    outside: Outside::Nowhere,
};
