//! PPP: a protocol number of one byte or two, behind the address and control field of HDLC or not.

use crate::error::{Error, need};
use crate::ethernet::EtherType;
use core::fmt::{self, Write};
use serde::{Deserialize, Serialize};

const LAYER: &str = "ppp";
/// The address and control field of HDLC, as PPP has them.
const FRAMING: [u8; 2] = [0xff, 3];
/// Each protocol that is read, with its EtherType.
const PROTOCOLS: [(u16, EtherType); 4] = [
    (0x0021, EtherType::IPV4),
    (0x0057, EtherType::IPV6),
    (0x0281, EtherType::MPLS),
    (0x0283, EtherType::MPLS_UPSTREAM),
];

/// The header of PPP in HDLC-like framing (RFC 1662): address, control and protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ppp {
    /// Do the address and control field of HDLC stand in front?
    #[serde(default)]
    pub framed: bool,
    /// Has the protocol one byte only? Those below 256 can.
    #[serde(default, skip_serializing_if = "is_false")]
    pub compressed: bool,
    /// The protocol, 33 for IPv4; left out: that of the next layer.
    pub protocol: Option<u16>,
}

impl Ppp {
    /// Reads a header. Returns it with its length, and the EtherType of what follows, if it has one.
    pub(crate) fn read(data: &[u8]) -> Result<(Ppp, usize, Option<EtherType>), Error> {
        let framed = data.starts_with(&FRAMING);
        let at = if framed { FRAMING.len() } else { 0 };
        need(LAYER, at + 1, data.len())?;
        // The last bit of the last byte is set, and that of no other.
        let compressed = data[at] & 1 != 0;
        let (protocol, len) = if compressed {
            (u16::from(data[at]), at + 1)
        } else {
            need(LAYER, at + 2, data.len())?;
            (u16::from_be_bytes([data[at], data[at + 1]]), at + 2)
        };
        let ethertype = PROTOCOLS.iter().find(|known| known.0 == protocol).map(|known| known.1);
        Ok((Ppp { framed, compressed, protocol: Some(protocol) }, len, ethertype))
    }

    /// Its bytes, with the protocol of the next layer where it has none itself.
    pub(crate) fn write(&self, next: Option<EtherType>) -> Result<Vec<u8>, Error> {
        let at = if self.framed { FRAMING.len() } else { 0 };
        let of_next = || PROTOCOLS.iter().find(|known| Some(known.1) == next).map(|known| known.0);
        let unsaid = Error::invalid(LAYER, at, "the next layer does not say the protocol");
        let protocol = self.protocol.or_else(of_next).ok_or(unsaid)?;
        let mut bytes = if self.framed { FRAMING.to_vec() } else { Vec::new() };
        match (self.compressed, u8::try_from(protocol)) {
            (false, _) => bytes.extend(protocol.to_be_bytes()),
            (true, Ok(protocol)) if protocol & 1 != 0 => bytes.push(protocol),
            (true, _) => {
                return Err(Error::invalid(LAYER, at, "only odd protocols below 256 have one byte"));
            }
        }
        Ok(bytes)
    }

    /// Its part of a line; `known` if a layer with a name of its own follows.
    pub(crate) fn summarise(&self, out: &mut String, known: bool) -> fmt::Result {
        match self.protocol {
            Some(protocol) if !known => write!(out, "PPP protocol {protocol:#06x}"),
            _ => Ok(()),
        }
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}
