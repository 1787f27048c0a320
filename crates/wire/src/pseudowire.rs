//! What stands behind a label stack in the place of an IP version: the control word of a pseudowire, which begins with
//! four zero bits, or the header of an associated channel, which begins with 0001 (RFC 5586, 2.1).

use crate::error::{Error, Reason, need};
use core::fmt::{self, Write};
use serde::{Deserialize, Serialize};

const PSEUDOWIRE: &str = "pseudowire";
const CHANNEL: &str = "ach";
const LEN: usize = 4;

/// The control word of a pseudowire. Nothing on the wire says what the pseudowire carries.
///
/// ```text
/// +--------+-------+-----+--------+-----------------+
/// |  0000  | Flags | FRG | Length | Sequence Number |
/// +--------+-------+-----+--------+-----------------+
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pseudowire {
    /// Four bits whose meaning depends on the kind of pseudowire.
    #[serde(default)]
    pub flags: u8,
    /// Two bits: 0 whole, 1 the first piece, 2 the last, 3 one between.
    #[serde(default)]
    pub fragmentation: u8,
    /// The length of a packet of fewer than 64 bytes that was padded, else 0.
    #[serde(default)]
    pub length: u8,
    /// The sequence number, or 0 if packets are not numbered.
    #[serde(default)]
    pub sequence: u16,
}

/// The header of an associated channel, in which a pseudowire or an LSP carries messages about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ach {
    /// Zero.
    #[serde(default)]
    pub version: u8,
    /// Zero.
    #[serde(default)]
    pub reserved: u8,
    /// What the message is: 0x0021 is IPv4, 0x0057 IPv6.
    pub channel_type: u16,
}

impl Pseudowire {
    /// Reads a control word. Returns it with its length.
    pub(crate) fn read(data: &[u8]) -> Result<(Pseudowire, usize), Error> {
        need(PSEUDOWIRE, LEN, data.len())?;
        let word = Pseudowire {
            flags: data[0] & 0x0f,
            fragmentation: data[1] >> 6,
            length: data[1] & 0x3f,
            sequence: u16::from_be_bytes([data[2], data[3]]),
        };
        Ok((word, LEN))
    }

    /// The word as it is on the wire.
    pub(crate) fn write(&self) -> Result<Vec<u8>, Error> {
        fits(PSEUDOWIRE, "flags", self.flags, 15)?;
        fits(PSEUDOWIRE, "fragmentation", self.fragmentation, 3)?;
        fits(PSEUDOWIRE, "length", self.length, 63)?;
        let [high, low] = self.sequence.to_be_bytes();
        Ok(vec![self.flags, self.fragmentation << 6 | self.length, high, low])
    }

    /// Its part of a line.
    pub(crate) fn summarise(&self, out: &mut String) -> fmt::Result {
        write!(out, "pseudowire control word, sequence {}", self.sequence)
    }
}

impl Ach {
    /// Reads a header. Returns it with its length.
    pub(crate) fn read(data: &[u8]) -> Result<(Ach, usize), Error> {
        need(CHANNEL, LEN, data.len())?;
        let channel_type = u16::from_be_bytes([data[2], data[3]]);
        Ok((Ach { version: data[0] & 0x0f, reserved: data[1], channel_type }, LEN))
    }

    /// The word as it is on the wire.
    pub(crate) fn write(&self) -> Result<Vec<u8>, Error> {
        fits(CHANNEL, "version", self.version, 15)?;
        let [high, low] = self.channel_type.to_be_bytes();
        Ok(vec![0x10 | self.version, self.reserved, high, low])
    }

    /// Its part of a line.
    pub(crate) fn summarise(&self, out: &mut String) -> fmt::Result {
        write!(out, "associated channel, type {:#06x}", self.channel_type)
    }
}

fn fits(layer: &'static str, field: &'static str, value: u8, max: u8) -> Result<(), Error> {
    if value <= max {
        return Ok(());
    }
    let reason = Reason::OutOfRange { field, found: value.into(), min: 0, max: max.into() };
    Err(Error::new(layer, 0, reason))
}
