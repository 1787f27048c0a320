//! Cells: 5 bytes of header and 48 of payload.

use super::crc::hec;
use crate::error::{Error, Reason};

const LAYER: &str = "atm";

/// Bytes of a cell.
pub const CELL_LEN: usize = 53;
/// Bytes of its header, the header error control among them.
pub const HEADER_LEN: usize = 5;
/// Bytes of its payload.
pub const PAYLOAD_LEN: usize = 48;

/// Which of the two headers a cell has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Between a user and the network: 4 bits of generic flow control, 8 of VPI.
    Uni,
    /// Between nodes of the network: 12 bits of VPI.
    Nni,
}

impl Format {
    /// The greatest virtual path identifier.
    pub const fn vpi_max(self) -> u16 {
        match self {
            Format::Uni => 0xff,
            Format::Nni => 0xfff,
        }
    }
}

/// The payload type indicator, 3 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pti(u8);

impl Pti {
    /// User data, no congestion met, not the last cell of a PDU of AAL5.
    pub const USER: Pti = Pti(0);
    /// User data, no congestion met, the last cell of a PDU of AAL5.
    pub const USER_LAST: Pti = Pti(1);

    /// The indicator with this value, 0 to 7.
    pub const fn new(value: u8) -> Option<Pti> {
        if value <= 7 { Some(Pti(value)) } else { None }
    }
    /// Its three bits.
    pub const fn value(self) -> u8 {
        self.0
    }
    /// Does the cell carry a user's data? Others are of operation and maintenance, or of resource management.
    pub const fn is_user(self) -> bool {
        self.0 < 4
    }
    /// Is the cell the last one of a PDU of AAL5?
    pub const fn is_last(self) -> bool {
        self.is_user() && self.0 & 1 == 1
    }
    /// Has a node that the cell passed been congested?
    pub const fn is_congested(self) -> bool {
        self.is_user() && self.0 & 2 == 2
    }
}

/// A cell header as a value.
///
/// ```text
///   bit  8   7   6   5   4   3   2   1
///      +---------------+---------------+
///      |  GFC or VPI   |      VPI      |  1
///      +---------------+---------------+
///      |      VPI      |      VCI      |  2
///      +---------------+---------------+
///      |              VCI              |  3
///      +---------------+-----------+---+
///      |      VCI      |    PTI    |CLP|  4
///      +---------------+-----------+---+
///      |              HEC              |  5
///      +-------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    /// Generic flow control, 0 to 15; zero in cells between nodes, which have no such field.
    pub gfc: u8,
    /// Virtual path, up to [`Format::vpi_max`].
    pub vpi: u16,
    /// Virtual channel within the path.
    pub vci: u16,
    /// What the payload is.
    pub pti: Pti,
    /// Cell loss priority: is the cell dropped before those without this bit?
    pub clp: bool,
}

impl Header {
    /// Reads the first four bytes, of any value. The header error control is the business of [`super::HecReceiver`].
    pub const fn parse(format: Format, bytes: [u8; 4]) -> Header {
        let word = u32::from_be_bytes(bytes);
        let (gfc, vpi) = match format {
            Format::Uni => ((word >> 28) as u8, (word >> 20) as u16 & 0xff),
            Format::Nni => (0, (word >> 20) as u16),
        };
        Header { gfc, vpi, vci: (word >> 4) as u16, pti: Pti((word >> 1) as u8 & 7), clp: word & 1 == 1 }
    }

    /// Can the bits of the format hold the values?
    pub fn check(&self, format: Format) -> Result<(), Error> {
        let gfc_max = if format == Format::Uni { 15 } else { 0 };
        let fields =
            [("GFC", u64::from(self.gfc), gfc_max), ("VPI", self.vpi.into(), u64::from(format.vpi_max()))];
        for (field, found, max) in fields {
            if found > max {
                return Err(Error::new(LAYER, 0, Reason::OutOfRange { field, found, min: 0, max }));
            }
        }
        Ok(())
    }

    /// The five bytes, with the right header error control. What [`Header::check`] refuses loses its high bits.
    pub const fn emit(&self, format: Format) -> [u8; HEADER_LEN] {
        let (gfc, vpi) = match format {
            Format::Uni => ((self.gfc as u32) << 28, (self.vpi & 0xff) as u32),
            Format::Nni => (0, (self.vpi & 0xfff) as u32),
        };
        let word = gfc | vpi << 20 | (self.vci as u32) << 4 | (self.pti.0 as u32) << 1 | self.clp as u32;
        let bytes = word.to_be_bytes();
        let [a, b, c, d] = bytes;
        [a, b, c, d, hec(bytes)]
    }
}

/// A view over a cell; its accessors don't panic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell<'a> {
    header: &'a [u8; HEADER_LEN],
    payload: &'a [u8; PAYLOAD_LEN],
}

impl<'a> Cell<'a> {
    /// A view over the first 53 bytes. The header error control is not looked at.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Cell<'a>, Error> {
        let short = Error::truncated(LAYER, CELL_LEN, bytes.len());
        let (header, rest) = bytes.split_first_chunk().ok_or(short)?;
        Ok(Cell { header, payload: rest.first_chunk().ok_or(short)? })
    }

    /// The five bytes of the header.
    pub const fn header_bytes(&self) -> [u8; HEADER_LEN] {
        *self.header
    }
    /// The header as a value.
    pub const fn header(&self, format: Format) -> Header {
        let [a, b, c, d, _] = *self.header;
        Header::parse(format, [a, b, c, d])
    }
    /// Is the header error control right?
    pub const fn is_right(&self) -> bool {
        let [a, b, c, d, e] = *self.header;
        hec([a, b, c, d]) == e
    }
    /// The 48 bytes behind the header.
    pub const fn payload(&self) -> &'a [u8; PAYLOAD_LEN] {
        self.payload
    }
}
