//! LLC (IEEE 802.2) in frames of IEEE 802.3, which say their length where Ethernet II says an EtherType, and SNAP,
//! which brings the EtherType back (RFC 1042).
//!
//! Accessors of [`Packet`] panic only on a view made by [`Packet::new_unchecked`] over too few bytes.

mod layer;
#[cfg(test)]
mod tests;

pub use layer::{Llc, Snap};

use crate::error::{Error, need};
use crate::ethernet::EtherType;

const LAYER: &str = "llc";
const SNAP: &str = "snap";

/// Bytes of a header whose control field has one byte, as that of unnumbered information has.
pub const HEADER_LEN: usize = 3;
/// Bytes of a SNAP header, which follows an LLC header.
pub const SNAP_LEN: usize = 5;
/// The longest LLC frame: a greater number in the place of the EtherType is no length (IEEE 802.3, 3.2.6).
pub const LENGTH_MAX: u16 = 1500;
/// The service access point of SNAP, at both ends (RFC 1042).
pub const SAP_SNAP: u8 = 0xaa;
/// The service access point of ISO network layer protocols, at both ends; IS-IS is one of them.
pub const SAP_ISO: u8 = 0xfe;
/// The control field of unnumbered information: a datagram (RFC 1042).
pub const UI: u8 = 3;
/// The organisation code with which SNAP holds an EtherType (RFC 1042).
pub const OUI_ETHERTYPE: u32 = 0;

/// Is the number in the place of the EtherType the length of an LLC frame?
#[inline]
pub const fn is_length(ethertype: EtherType) -> bool {
    ethertype.0 <= LENGTH_MAX
}

/// A view over an LLC frame, without the padding behind it.
///
/// ```text
/// +--------+--------+-----------------+- - - - - - -
/// |  DSAP  |  SSAP  | Control, 1 or 2 | information
/// +--------+--------+-----------------+- - - - - - -
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view without a check: accessors panic if `buffer` is too short.
    #[inline]
    pub const fn new_unchecked(buffer: T) -> Packet<T> {
        Packet { buffer }
    }

    /// A view whose accessors don't panic.
    #[inline]
    pub fn new_checked(buffer: T) -> Result<Packet<T>, Error> {
        let available = buffer.as_ref().len();
        need(LAYER, HEADER_LEN, available)?;
        let packet = Packet { buffer };
        need(LAYER, packet.header_len(), available)?;
        Ok(packet)
    }

    /// Destination service access point: whom the frame is for. The lowest bit says that it is a group.
    #[inline]
    pub fn dsap(&self) -> u8 {
        self.buffer.as_ref()[0]
    }
    /// Source service access point; the lowest bit tells a response from a command.
    #[inline]
    pub fn ssap(&self) -> u8 {
        self.buffer.as_ref()[1]
    }
    /// The control field, or its first byte if it has two.
    #[inline]
    pub fn control(&self) -> u8 {
        self.buffer.as_ref()[2]
    }
    /// The second byte of the control field, in frames with sequence numbers.
    #[inline]
    pub fn sequence(&self) -> Option<u8> {
        is_numbered(self.control()).then(|| self.buffer.as_ref()[3])
    }
    /// Bytes of the header.
    #[inline]
    pub fn header_len(&self) -> usize {
        HEADER_LEN + usize::from(is_numbered(self.control()))
    }
    /// What follows the header.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[self.header_len()..]
    }
    /// Does a SNAP header follow?
    #[inline]
    pub fn is_snap(&self) -> bool {
        self.dsap() == SAP_SNAP && self.ssap() == SAP_SNAP && self.control() == UI
    }
}

/// Only unnumbered frames have a control field of one byte; both its lowest bits are set.
const fn is_numbered(control: u8) -> bool {
    control & 3 != 3
}

/// An LLC header as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Repr {
    /// Destination service access point.
    pub dsap: u8,
    /// Source service access point.
    pub ssap: u8,
    /// The control field, or its first byte.
    pub control: u8,
    /// The second byte of the control field; there if and only if the first says that the frame is numbered.
    pub sequence: Option<u8>,
}

impl Repr {
    /// Unnumbered information between the same service access points: what datagrams are sent in.
    pub const fn datagram(sap: u8) -> Repr {
        Repr { dsap: sap, ssap: sap, control: UI, sequence: None }
    }

    /// Reads a header.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Repr {
        Repr {
            dsap: packet.dsap(),
            ssap: packet.ssap(),
            control: packet.control(),
            sequence: packet.sequence(),
        }
    }

    /// `Ok` if the control field has the number of bytes that its first one says.
    pub fn check(&self) -> Result<(), Error> {
        if self.sequence.is_some() == is_numbered(self.control) {
            return Ok(());
        }
        Err(Error::invalid(LAYER, 2, "a control field has a second byte unless its lowest two bits are set"))
    }

    /// Bytes of the header.
    pub const fn buffer_len(&self) -> usize {
        HEADER_LEN + self.sequence.is_some() as usize
    }

    /// Writes the header to the first [`Repr::buffer_len`] bytes of `buffer`. Panics if it is shorter.
    pub fn emit(&self, buffer: &mut [u8]) {
        buffer[..HEADER_LEN].copy_from_slice(&[self.dsap, self.ssap, self.control]);
        if let Some(sequence) = self.sequence {
            buffer[HEADER_LEN] = sequence;
        }
    }
}

/// What a SNAP header says: an organisation, and its number for a protocol.
///
/// ```text
/// +--------+--------+--------+--------+--------+
/// |    organisation code     |    EtherType    |
/// +--------+--------+--------+--------+--------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SnapRepr {
    /// The organisation code, 24 bits; zero says that an EtherType follows.
    pub oui: u32,
    /// The protocol; an EtherType if the organisation code is zero.
    pub protocol: u16,
}

impl SnapRepr {
    /// Reads a header.
    pub fn parse(bytes: &[u8]) -> Result<SnapRepr, Error> {
        let Some(&[a, b, c, high, low]) = bytes.first_chunk::<SNAP_LEN>() else {
            return Err(Error::truncated(SNAP, SNAP_LEN, bytes.len()));
        };
        Ok(SnapRepr { oui: u32::from_be_bytes([0, a, b, c]), protocol: u16::from_be_bytes([high, low]) })
    }

    /// The bytes of the header; of the organisation code the lowest 24 bits.
    pub const fn emit(&self) -> [u8; SNAP_LEN] {
        let [_, a, b, c] = self.oui.to_be_bytes();
        let [high, low] = self.protocol.to_be_bytes();
        [a, b, c, high, low]
    }

    /// The EtherType, if it is one.
    pub fn ethertype(&self) -> Option<EtherType> {
        (self.oui == OUI_ETHERTYPE).then_some(EtherType(self.protocol))
    }
}
