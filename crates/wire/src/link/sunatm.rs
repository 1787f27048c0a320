//! PDUs of AAL5 as captures of SunATM have them: direction, kind of traffic and channel in front of each.

use super::Follows;
use crate::error::{Error, Reason, need};
use crate::ethernet::EtherType;
use core::fmt::{self, Write};
use serde::{Deserialize, Serialize};

const LAYER: &str = "sunatm";
const LEN: usize = 4;
/// The bit that says that the PDU was sent by who captured it.
const SENT: u8 = 0x80;
/// The four bits of what a PDU is.
const TRAFFIC: u8 = 0x0f;
/// A PDU with LLC in front.
const LLC: u8 = 2;

/// The header of SunATM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SunAtm {
    /// Was the PDU sent by who captured it?
    #[serde(default)]
    pub sent: bool,
    /// What the PDU is: 1 LAN emulation, 2 with LLC in front, 3 and above control; 0 if that is not known. Then labels
    /// or an IP packet are told by their first bits.
    pub traffic: u8,
    /// Three bits that mean nothing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reserved: u8,
    /// Virtual path; 255 stands for all above, too.
    pub vpi: u8,
    /// Virtual channel.
    pub vci: u16,
}

fn is_zero(bits: &u8) -> bool {
    *bits == 0
}

impl SunAtm {
    /// Reads a header. Returns it with its length, and what follows.
    pub(crate) fn read(data: &[u8]) -> Result<(SunAtm, usize, Follows), Error> {
        need(LAYER, LEN, data.len())?;
        let (flags, rest) = (data[0], &data[LEN..]);
        let traffic = flags & TRAFFIC;
        let follows = match (traffic, rest.first().map(|first| first >> 4)) {
            (LLC, _) => Follows::Llc,
            // RFC 3035, 9: the first label of a packet with a shim is 0, as are its first bits then.
            (0, Some(0)) => Follows::Typed(EtherType::MPLS),
            (0, Some(4)) => Follows::Typed(EtherType::IPV4),
            (0, Some(6)) => Follows::Typed(EtherType::IPV6),
            _ => Follows::Unknown,
        };
        let header = SunAtm {
            sent: flags & SENT != 0,
            traffic,
            reserved: (flags & !SENT) >> 4,
            vpi: data[1],
            vci: u16::from_be_bytes([data[2], data[3]]),
        };
        Ok((header, LEN, follows))
    }

    /// Its bytes.
    pub(crate) fn write(&self) -> Result<Vec<u8>, Error> {
        for (field, found, max) in [("traffic", self.traffic, TRAFFIC), ("reserved", self.reserved, 7)] {
            if found > max {
                let reason = Reason::OutOfRange { field, found: found.into(), min: 0, max: max.into() };
                return Err(Error::new(LAYER, 0, reason));
            }
        }
        let sent = if self.sent { SENT } else { 0 };
        let [high, low] = self.vci.to_be_bytes();
        Ok(vec![sent | self.reserved << 4 | self.traffic, self.vpi, high, low])
    }

    /// Its part of a line.
    pub(crate) fn summarise(&self, out: &mut String) -> fmt::Result {
        write!(out, "ATM {}/{}", self.vpi, self.vci)
    }
}
