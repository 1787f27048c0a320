//! IPv4 headers (RFC 791; DSCP RFC 2474, ECN RFC 3168), with [`options`] and [`fragment`]ation.
//!
//! Accessors of [`Packet`] panic only on a view made by [`Packet::new_unchecked`] over too few bytes.

pub mod fragment;
pub mod options;
mod repr;
#[cfg(test)]
mod tests;

pub use fragment::{Fragments, Refusal, fragments};
pub use options::{Options, OptionsBuilder};
pub use repr::Repr;

use crate::checksum;
use crate::error::{Error, Reason, need};
use base::Dscp;
use core::fmt;
use core::net::Ipv4Addr;
use serde::{Deserialize, Serialize};

const LAYER: &str = "ipv4";

/// Offsets of the fields in bytes (RFC 791, 3.1).
mod field {
    use core::ops::Range;
    pub const VERSION_IHL: usize = 0;
    pub const TOS: usize = 1;
    pub const TOTAL_LEN: usize = 2;
    pub const IDENT: usize = 4;
    pub const FRAGMENT: usize = 6;
    pub const TTL: usize = 8;
    pub const PROTOCOL: usize = 9;
    pub const CHECKSUM: usize = 10;
    pub const SRC: Range<usize> = 12..16;
    pub const DST: Range<usize> = 16..20;
    pub const OPTIONS: usize = 20;
}

/// Bytes of a header without options.
pub const MIN_HEADER_LEN: usize = 20;
/// Bytes of a header with all the options that fit.
pub const MAX_HEADER_LEN: usize = 60;
/// Bytes of the longest packet, header included: total length has 16 bits.
pub const MAX_TOTAL_LEN: usize = 65_535;

/// What an IP packet carries, by the numbers that both versions share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Protocol(pub u8);

impl Protocol {
    /// ICMP, 1 (RFC 792).
    pub const ICMP: Protocol = Protocol(1);
    /// TCP, 6 (RFC 793).
    pub const TCP: Protocol = Protocol(6);
    /// UDP, 17 (RFC 768).
    pub const UDP: Protocol = Protocol(17);
    /// RSVP, 46 (RFC 2205).
    pub const RSVP: Protocol = Protocol(46);
    /// OSPF, 89 (RFC 2328).
    pub const OSPF: Protocol = Protocol(89);
    /// PIM, 103 (RFC 7761, 4.9).
    pub const PIM: Protocol = Protocol(103);
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Protocol::ICMP => f.write_str("ICMP"),
            Protocol::TCP => f.write_str("TCP"),
            Protocol::UDP => f.write_str("UDP"),
            Protocol::RSVP => f.write_str("RSVP"),
            Protocol::OSPF => f.write_str("OSPF"),
            Protocol::PIM => f.write_str("PIM"),
            Protocol::ICMPV6 => f.write_str("ICMPv6"),
            Protocol(number) => write!(f, "protocol {number}"),
        }
    }
}

/// A view over a packet: the header and what follows it up to its total length.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |Version|  IHL  |   DSCP    |ECN|          Total Length         |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |         Identification        |0|D|M|     Fragment Offset     |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |  Time to Live |    Protocol   |         Header Checksum       |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                         Source Address                        |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                      Destination Address                      |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                    Options, padded to 32 bits                 |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
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

    /// A view whose accessors don't panic. The checksum and the options are checked by [`Repr::parse`].
    #[inline]
    pub fn new_checked(buffer: T) -> Result<Packet<T>, Error> {
        let available = buffer.as_ref().len();
        let packet = Packet::new_header_checked(buffer)?;
        need(LAYER, usize::from(packet.total_len()), available)?;
        Ok(packet)
    }

    /// A view of a packet that may be cut behind its header, as ICMP errors quote it: [`Packet::payload`] may panic.
    #[inline]
    pub fn new_header_checked(buffer: T) -> Result<Packet<T>, Error> {
        let available = buffer.as_ref().len();
        need(LAYER, MIN_HEADER_LEN, available)?;
        let packet = Packet { buffer };
        let header_len = packet.header_len();
        if packet.version() != 4 {
            let reason = Reason::Unexpected { field: "version", found: packet.version().into(), expected: 4 };
            return Err(Error::new(LAYER, field::VERSION_IHL, reason));
        }
        if header_len < MIN_HEADER_LEN {
            let reason = Reason::OutOfRange { field: "IHL", found: header_len as u64 / 4, min: 5, max: 15 };
            return Err(Error::new(LAYER, field::VERSION_IHL, reason));
        }
        need(LAYER, header_len, available)?;
        let total_len = usize::from(packet.total_len());
        if total_len < header_len {
            let (found, min, max) = (total_len as u64, header_len as u64, MAX_TOTAL_LEN as u64);
            let reason = Reason::OutOfRange { field: "total length", found, min, max };
            return Err(Error::new(LAYER, field::TOTAL_LEN, reason));
        }
        Ok(packet)
    }

    /// Gives the buffer back that the view was made over.
    #[inline]
    pub fn into_inner(self) -> T {
        self.buffer
    }

    #[inline]
    fn u16_at(&self, at: usize) -> u16 {
        let data = self.buffer.as_ref();
        u16::from_be_bytes([data[at], data[at + 1]])
    }

    /// The version as the header has it; a checked view has 4.
    #[inline]
    pub fn version(&self) -> u8 {
        self.buffer.as_ref()[field::VERSION_IHL] >> 4
    }
    /// Bytes of the header with its options.
    #[inline]
    pub fn header_len(&self) -> usize {
        usize::from(self.buffer.as_ref()[field::VERSION_IHL] & 0xf) * 4
    }
    /// Differentiated-services code point, the upper six bits of the second byte (RFC 2474).
    #[inline]
    pub fn dscp(&self) -> Dscp {
        Dscp::of_tos(self.buffer.as_ref()[field::TOS])
    }
    /// The two bits of explicit congestion notification.
    #[inline]
    pub fn ecn(&self) -> u8 {
        self.buffer.as_ref()[field::TOS] & 3
    }
    /// Bytes of header and payload.
    #[inline]
    pub fn total_len(&self) -> u16 {
        self.u16_at(field::TOTAL_LEN)
    }
    /// The identification that fragments share.
    #[inline]
    pub fn ident(&self) -> u16 {
        self.u16_at(field::IDENT)
    }
    /// Is the flag set that must be zero?
    #[inline]
    pub fn reserved_flag(&self) -> bool {
        self.buffer.as_ref()[field::FRAGMENT] & 0x80 != 0
    }
    /// May no router fragment it?
    #[inline]
    pub fn dont_fragment(&self) -> bool {
        self.buffer.as_ref()[field::FRAGMENT] & 0x40 != 0
    }
    /// True in all fragments but the last.
    #[inline]
    pub fn more_fragments(&self) -> bool {
        self.buffer.as_ref()[field::FRAGMENT] & 0x20 != 0
    }
    /// Where in the original payload this fragment starts, in units of eight bytes.
    #[inline]
    pub fn fragment_offset(&self) -> u16 {
        self.u16_at(field::FRAGMENT) & 0x1fff
    }
    /// Time to live, lowered by each router; a packet for which none is left is dropped.
    #[inline]
    pub fn ttl(&self) -> u8 {
        self.buffer.as_ref()[field::TTL]
    }
    /// What the payload is.
    #[inline]
    pub fn protocol(&self) -> Protocol {
        Protocol(self.buffer.as_ref()[field::PROTOCOL])
    }
    /// The header checksum as it is in the header, right or wrong.
    #[inline]
    pub fn checksum(&self) -> u16 {
        self.u16_at(field::CHECKSUM)
    }
    /// Address of the node that made the packet.
    #[inline]
    pub fn src(&self) -> Ipv4Addr {
        addr(&self.buffer.as_ref()[field::SRC])
    }
    /// Address that the packet is for.
    #[inline]
    pub fn dst(&self) -> Ipv4Addr {
        addr(&self.buffer.as_ref()[field::DST])
    }
    /// The bytes of the options, with their padding.
    #[inline]
    pub fn options(&self) -> &[u8] {
        &self.buffer.as_ref()[field::OPTIONS..self.header_len()]
    }
    /// What follows the header, up to the total length.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[self.header_len()..usize::from(self.total_len())]
    }
    /// What the header checksum should be.
    #[inline]
    pub fn compute_checksum(&self) -> u16 {
        let data = &self.buffer.as_ref()[..self.header_len()];
        let parts = [checksum::sum(&data[..field::CHECKSUM]), checksum::sum(&data[field::CHECKSUM + 2..])];
        !checksum::combine(&parts)
    }
    /// Is the header checksum right?
    #[inline]
    pub fn verify_checksum(&self) -> Result<(), Error> {
        if checksum::sum(&self.buffer.as_ref()[..self.header_len()]) == 0xffff {
            return Ok(());
        }
        let (found, computed) = (self.checksum(), self.compute_checksum());
        Err(Error::new(LAYER, field::CHECKSUM, Reason::Checksum { found, computed }))
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    #[inline]
    fn set_u16_at(&mut self, at: usize, value: u16) {
        self.buffer.as_mut()[at..at + 2].copy_from_slice(&value.to_be_bytes());
    }
    /// Sets version 4 and the bytes of the header, a multiple of four.
    #[inline]
    pub fn set_header_len(&mut self, bytes: usize) {
        self.buffer.as_mut()[field::VERSION_IHL] = 0x40 | (bytes / 4) as u8 & 0xf;
    }
    /// Sets code point and congestion bits.
    #[inline]
    pub fn set_tos(&mut self, dscp: Dscp, ecn: u8) {
        self.buffer.as_mut()[field::TOS] = dscp.to_tos(ecn);
    }
    /// Sets the bytes of header and payload.
    #[inline]
    pub fn set_total_len(&mut self, bytes: u16) {
        self.set_u16_at(field::TOTAL_LEN, bytes);
    }
    /// Sets the identification that fragments of one packet share.
    #[inline]
    pub fn set_ident(&mut self, ident: u16) {
        self.set_u16_at(field::IDENT, ident);
    }
    /// Sets the two flags and the offset (in units of eight bytes); clears the reserved flag.
    #[inline]
    pub fn set_fragment(&mut self, dont_fragment: bool, more_fragments: bool, offset: u16) {
        let flags = u16::from(dont_fragment) << 14 | u16::from(more_fragments) << 13;
        self.set_u16_at(field::FRAGMENT, flags | offset & 0x1fff);
    }
    /// Sets or clears the flag that must be zero.
    #[inline]
    pub fn set_reserved_flag(&mut self, set: bool) {
        let byte = &mut self.buffer.as_mut()[field::FRAGMENT];
        *byte = *byte & 0x7f | u8::from(set) << 7;
    }
    /// Sets the time to live; the checksum is left as it is.
    #[inline]
    pub fn set_ttl(&mut self, ttl: u8) {
        self.buffer.as_mut()[field::TTL] = ttl;
    }
    /// Sets what the payload is.
    #[inline]
    pub fn set_protocol(&mut self, protocol: Protocol) {
        self.buffer.as_mut()[field::PROTOCOL] = protocol.0;
    }
    /// Sets the header checksum.
    #[inline]
    pub fn set_checksum(&mut self, value: u16) {
        self.set_u16_at(field::CHECKSUM, value);
    }
    /// Sets the source address.
    #[inline]
    pub fn set_src(&mut self, addr: Ipv4Addr) {
        self.buffer.as_mut()[field::SRC].copy_from_slice(&addr.octets());
    }
    /// Sets the destination address.
    #[inline]
    pub fn set_dst(&mut self, addr: Ipv4Addr) {
        self.buffer.as_mut()[field::DST].copy_from_slice(&addr.octets());
    }
    /// The bytes of the options, to be written.
    #[inline]
    pub fn options_mut(&mut self) -> &mut [u8] {
        let end = self.header_len();
        &mut self.buffer.as_mut()[field::OPTIONS..end]
    }
    /// What follows the header up to the total length, to be written.
    #[inline]
    pub fn payload_mut(&mut self) -> &mut [u8] {
        let range = self.header_len()..usize::from(self.total_len());
        &mut self.buffer.as_mut()[range]
    }
    /// Computes and sets the header checksum.
    #[inline]
    pub fn fill_checksum(&mut self) {
        let value = self.compute_checksum();
        self.set_checksum(value);
    }
    /// Changes the time to live and corrects the checksum for it (RFC 1624).
    #[inline]
    pub fn replace_ttl(&mut self, ttl: u8) {
        let old = self.u16_at(field::TTL);
        self.set_ttl(ttl);
        let new = self.u16_at(field::TTL);
        self.set_checksum(checksum::update(self.checksum(), old, new));
    }
    /// Changes the code point and corrects the checksum for it (RFC 1624).
    #[inline]
    pub fn replace_dscp(&mut self, dscp: Dscp) {
        let old = self.u16_at(field::VERSION_IHL);
        self.set_tos(dscp, self.ecn());
        let new = self.u16_at(field::VERSION_IHL);
        self.set_checksum(checksum::update(self.checksum(), old, new));
    }
}

#[inline]
fn addr(bytes: &[u8]) -> Ipv4Addr {
    Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3])
}
