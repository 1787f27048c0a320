//! What captures show of frames that no program reads as they are on their link: cells of ATM, and packets where a
//! circuit of ATM begins.

use crate::medium::{Carries, Medium};
use wire::atm::{CELL_LEN, Encapsulation, HEADER_LEN, llc_snap, null_label};
use wire::ethernet::{self, EtherType};

/// Captures of SunATM: four bytes in front of the payload of each PDU.
const SUNATM: u16 = 123;
/// Captures of the extensible record format.
const ERF: u16 = 197;
/// Its type of records with a cell each.
const ERF_ATM: u8 = 3;
/// Bytes of its header.
const ERF_LEN: usize = 16;

/// What is shown of frames of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Their bytes as the medium has them.
    #[default]
    Bytes,
    /// Cells as records of the extensible record format, which has them without header error control.
    Cells,
    /// Packets as PDUs of a circuit.
    Pdus(Pdus),
}

/// How packets of a circuit are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pdus {
    /// Virtual path where the circuit begins; the format has eight bits for it.
    pub vpi: u16,
    /// Virtual channel within that path, where the circuit begins.
    pub vci: u16,
    /// What stands in front of a packet.
    pub encapsulation: Encapsulation,
}

impl Form {
    /// That of a medium.
    pub fn of(medium: Option<&Medium>) -> Form {
        match medium {
            Some(medium) if medium.carries == Carries::Cells => Form::Cells,
            _ => Form::Bytes,
        }
    }

    /// The number of the format, if it is not that of the medium.
    pub const fn link_type(self) -> Option<u16> {
        match self {
            Form::Bytes => None,
            Form::Cells => Some(ERF),
            Form::Pdus(_) => Some(SUNATM),
        }
    }

    /// What is shown of a frame, whose last bit leaves at a time; nothing if it does not go on to the circuit. `sent`
    /// says that it comes from the node that has the circuit.
    pub fn show(self, nanos: u64, sent: bool, bytes: Vec<u8>) -> Option<Vec<u8>> {
        match self {
            Form::Bytes => Some(bytes),
            Form::Cells => Some(record(nanos, &bytes)),
            Form::Pdus(pdus) => pdus.show(sent, &bytes),
        }
    }
}

impl Pdus {
    fn show(self, sent: bool, bytes: &[u8]) -> Option<Vec<u8>> {
        let (header, packet) = bytes.split_first_chunk::<{ ethernet::HEADER_LEN }>()?;
        let ethertype = EtherType(u16::from_be_bytes([header[12], header[13]]));
        if ethertype == EtherType::ARP {
            // It is answered at once, and no circuit carries it.
            return None;
        }
        // Four bits of what the payload is: 2 for LLC, 0 for what is not known.
        let kind = if self.encapsulation == Encapsulation::LlcSnap { 2 } else { 0 };
        let [high, low] = self.vci.to_be_bytes();
        let mut shown = vec![kind | if sent { 0x80 } else { 0 }, self.vpi.min(0xff) as u8, high, low];
        match self.encapsulation {
            Encapsulation::LlcSnap => shown.extend(llc_snap(ethertype)),
            Encapsulation::Shim if ethertype == EtherType::IPV4 => {
                shown.extend(null_label(packet).unwrap_or([0, 0, 1, 0]));
            }
            Encapsulation::Shim | Encapsulation::VcMultiplexed => {}
        }
        shown.extend(packet);
        Some(shown)
    }
}

/// A record with a cell: the time in parts of 2^32 of a second, type, flags, lengths, and the cell without its fifth
/// byte.
fn record(nanos: u64, cell: &[u8]) -> Vec<u8> {
    let (seconds, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    let stamp = (seconds << 32) | ((rest << 32) / 1_000_000_000);
    let held = cell.len().saturating_sub(1) as u16;
    let mut record = Vec::with_capacity(ERF_LEN + CELL_LEN);
    record.extend(stamp.to_le_bytes());
    record.extend([ERF_ATM, 0]);
    record.extend((ERF_LEN as u16 + held).to_be_bytes());
    record.extend([0, 0]);
    record.extend(held.to_be_bytes());
    record.extend(cell.iter().take(HEADER_LEN - 1));
    record.extend(cell.iter().skip(HEADER_LEN));
    record
}
