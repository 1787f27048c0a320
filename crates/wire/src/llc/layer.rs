//! LLC and SNAP as layers of a tree. Field names are what users see in Python and JSON.

use super::{OUI_ETHERTYPE, Packet, Repr, SNAP, SnapRepr};
use crate::error::{Error, Reason};
use crate::ethernet::EtherType;
use core::fmt::{self, Write};
use serde::{Deserialize, Serialize};

/// An LLC header (IEEE 802.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Llc {
    /// Destination service access point.
    pub dsap: u8,
    /// Source service access point.
    pub ssap: u8,
    /// The control field, 3 for a datagram; its first byte if it has two.
    #[serde(default = "unnumbered_information")]
    pub control: u8,
    /// The second byte of the control field, where the frame is numbered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u8>,
}

/// A SNAP header behind an LLC header whose service access points are 0xaa (RFC 1042).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snap {
    /// The organisation code, 24 bits; zero if an EtherType follows.
    #[serde(default)]
    pub oui: u32,
    /// The protocol, an EtherType if the organisation code is zero; left out: that of the next layer.
    pub ethertype: Option<EtherType>,
}

const fn unnumbered_information() -> u8 {
    super::UI
}

impl Llc {
    /// Reads a header. Returns it with its length, and whether a SNAP header follows.
    pub(crate) fn read(data: &[u8]) -> Result<(Llc, usize, bool), Error> {
        let packet = Packet::new_checked(data)?;
        let Repr { dsap, ssap, control, sequence } = Repr::parse(&packet);
        Ok((Llc { dsap, ssap, control, sequence }, packet.header_len(), packet.is_snap()))
    }

    /// The header as it is on the wire.
    pub(crate) fn write(&self) -> Result<Vec<u8>, Error> {
        let &Llc { dsap, ssap, control, sequence } = self;
        let repr = Repr { dsap, ssap, control, sequence };
        repr.check()?;
        let mut bytes = vec![0; repr.buffer_len()];
        repr.emit(&mut bytes);
        Ok(bytes)
    }

    /// Its part of a line.
    pub(crate) fn summarise(&self, out: &mut String) -> fmt::Result {
        write!(out, "LLC {:#04x} > {:#04x} control {:#04x}", self.ssap, self.dsap, self.control)?;
        self.sequence.map_or(Ok(()), |sequence| write!(out, " {sequence:#04x}"))
    }
}

impl Snap {
    /// Reads a header. Returns it with the EtherType of what follows, if it has one.
    pub(crate) fn read(data: &[u8]) -> Result<(Snap, Option<EtherType>), Error> {
        let repr = SnapRepr::parse(data)?;
        Ok((Snap { oui: repr.oui, ethertype: Some(EtherType(repr.protocol)) }, repr.ethertype()))
    }

    /// Its bytes, with the EtherType of the next layer where it has none itself.
    pub(crate) fn write(&self, next: Option<EtherType>) -> Result<Vec<u8>, Error> {
        let max = 0xff_ffff;
        if self.oui > max {
            let reason = Reason::OutOfRange { field: "oui", found: self.oui.into(), min: 0, max: max.into() };
            return Err(Error::new(SNAP, 0, reason));
        }
        let unsaid = Error::invalid(SNAP, 3, "the next layer does not say the ethertype");
        let EtherType(protocol) = self.ethertype.or(next).ok_or(unsaid)?;
        Ok(SnapRepr { oui: self.oui, protocol }.emit().to_vec())
    }

    /// Its part of a line; `known` if a layer with a name of its own follows.
    pub(crate) fn summarise(&self, out: &mut String, known: bool) -> fmt::Result {
        out.push_str("SNAP");
        match self.ethertype {
            Some(ethertype) if self.oui == OUI_ETHERTYPE && !known => write!(out, " ethertype {ethertype}"),
            Some(EtherType(protocol)) if self.oui != OUI_ETHERTYPE => {
                write!(out, " organisation {:#08x} protocol {protocol:#06x}", self.oui)
            }
            _ => Ok(()),
        }
    }
}
