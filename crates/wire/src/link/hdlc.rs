//! HDLC frames of routers of Cisco: an address, a control field and an EtherType.

use crate::error::{Error, need};
use crate::ethernet::EtherType;
use core::fmt::{self, Write};
use serde::{Deserialize, Serialize};

const LAYER: &str = "chdlc";
const LEN: usize = 4;

/// The header of Cisco HDLC: address, control, and the protocol by its EtherType.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chdlc {
    /// 15 to one, 143 to all.
    pub address: u8,
    /// The control byte, zero in all frames that are known.
    #[serde(default)]
    pub control: u8,
    /// The type of the payload; left out: that of the next layer.
    pub protocol: Option<EtherType>,
}

impl Chdlc {
    /// Reads a header. Returns it with its length, and the EtherType of what follows.
    pub(crate) fn read(data: &[u8]) -> Result<(Chdlc, usize, EtherType), Error> {
        need(LAYER, LEN, data.len())?;
        let protocol = EtherType(u16::from_be_bytes([data[2], data[3]]));
        Ok((Chdlc { address: data[0], control: data[1], protocol: Some(protocol) }, LEN, protocol))
    }

    /// Its bytes, with the EtherType of the next layer where it has none itself.
    pub(crate) fn write(&self, next: Option<EtherType>) -> Result<Vec<u8>, Error> {
        let unsaid = Error::invalid(LAYER, 2, "the next layer does not say the protocol");
        let [high, low] = self.protocol.or(next).ok_or(unsaid)?.0.to_be_bytes();
        Ok(vec![self.address, self.control, high, low])
    }

    /// Its part of a line; `known` if a layer with a name of its own follows.
    pub(crate) fn summarise(&self, out: &mut String, known: bool) -> fmt::Result {
        match self.protocol {
            Some(protocol) if !known => write!(out, "HDLC protocol {protocol}"),
            _ => Ok(()),
        }
    }
}
