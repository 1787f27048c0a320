//! IPv6 headers (RFC 8200; DSCP RFC 2474, ECN RFC 3168), with [`extension`] headers and [`fragment`] headers.
//!
//! Accessors of [`Packet`] panic only on a view made by [`Packet::new_unchecked`] over too few bytes.

pub mod extension;
pub mod fragment;
mod repr;
#[cfg(test)]
mod tests;

pub use extension::{Headers, Upper, upper};
pub use repr::Repr;

use crate::error::{Error, Reason, need};
pub use crate::ipv4::Protocol;
use base::Dscp;
use core::net::Ipv6Addr;

const LAYER: &str = "ipv6";

/// Offsets of the fields in bytes (RFC 8200, 3).
mod field {
    use core::ops::Range;
    pub const VERSION: usize = 0;
    pub const CLASS: Range<usize> = 0..2;
    pub const FLOW: Range<usize> = 1..4;
    pub const PAYLOAD_LEN: Range<usize> = 4..6;
    pub const NEXT_HEADER: usize = 6;
    pub const HOP_LIMIT: usize = 7;
    pub const SRC: Range<usize> = 8..24;
    pub const DST: Range<usize> = 24..40;
}

/// Bytes of the header that every packet has.
pub const HEADER_LEN: usize = 40;
/// Bytes of payload of the longest packet without a jumbo payload option, which is not known here (RFC 2675).
pub const MAX_PAYLOAD_LEN: usize = 65_535;
/// The least MTU that a link may have, in bytes (RFC 8200, 5).
pub const MIN_MTU: usize = 1280;

/// A view over a packet: the header and what follows it up to its payload length.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |Version|   DSCP    |ECN|              Flow Label               |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |         Payload Length        |  Next Header  |   Hop Limit   |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                    Source Address (16 bytes)                  |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                  Destination Address (16 bytes)               |
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

    /// A view whose accessors don't panic. Extension headers are checked by [`upper`].
    #[inline]
    pub fn new_checked(buffer: T) -> Result<Packet<T>, Error> {
        let available = buffer.as_ref().len();
        let packet = Packet::new_header_checked(buffer)?;
        need(LAYER, packet.total_len(), available)?;
        Ok(packet)
    }

    /// A view of a packet that may be cut behind its header, as ICMPv6 errors quote it: [`Packet::payload`] may panic.
    #[inline]
    pub fn new_header_checked(buffer: T) -> Result<Packet<T>, Error> {
        need(LAYER, HEADER_LEN, buffer.as_ref().len())?;
        let packet = Packet { buffer };
        if packet.version() != 6 {
            let reason = Reason::Unexpected { field: "version", found: packet.version().into(), expected: 6 };
            return Err(Error::new(LAYER, field::VERSION, reason));
        }
        Ok(packet)
    }

    /// Gives the buffer back that the view was made over.
    #[inline]
    pub fn into_inner(self) -> T {
        self.buffer
    }

    /// The version as the header has it; a checked view has 6.
    #[inline]
    pub fn version(&self) -> u8 {
        self.buffer.as_ref()[field::VERSION] >> 4
    }
    /// The traffic class: code point and congestion bits in one byte, as the second byte of an IPv4 header has them.
    #[inline]
    pub fn traffic_class(&self) -> u8 {
        let data = &self.buffer.as_ref()[field::CLASS];
        data[0] << 4 | data[1] >> 4
    }
    /// Differentiated-services code point (RFC 2474).
    #[inline]
    pub fn dscp(&self) -> Dscp {
        Dscp::of_tos(self.traffic_class())
    }
    /// The two bits of explicit congestion notification.
    #[inline]
    pub fn ecn(&self) -> u8 {
        self.traffic_class() & 3
    }
    /// The flow label, 20 bits (RFC 8200, 6).
    #[inline]
    pub fn flow_label(&self) -> u32 {
        let data = &self.buffer.as_ref()[field::FLOW];
        u32::from_be_bytes([0, data[0] & 0xf, data[1], data[2]])
    }
    /// Bytes behind the header, extension headers included.
    #[inline]
    pub fn payload_len(&self) -> u16 {
        let data = &self.buffer.as_ref()[field::PAYLOAD_LEN];
        u16::from_be_bytes([data[0], data[1]])
    }
    /// Bytes of header and payload.
    #[inline]
    pub fn total_len(&self) -> usize {
        HEADER_LEN + usize::from(self.payload_len())
    }
    /// What follows the header: an extension header, or the payload.
    #[inline]
    pub fn next_header(&self) -> Protocol {
        Protocol(self.buffer.as_ref()[field::NEXT_HEADER])
    }
    /// How many more nodes may forward the packet.
    #[inline]
    pub fn hop_limit(&self) -> u8 {
        self.buffer.as_ref()[field::HOP_LIMIT]
    }
    /// Address of the node that made the packet.
    #[inline]
    pub fn src(&self) -> Ipv6Addr {
        addr(&self.buffer.as_ref()[field::SRC])
    }
    /// Address that the packet is for.
    #[inline]
    pub fn dst(&self) -> Ipv6Addr {
        addr(&self.buffer.as_ref()[field::DST])
    }
    /// What follows the header, extension headers included, up to the payload length.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[HEADER_LEN..self.total_len()]
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Sets version 6 and the traffic class; leaves the flow label as it is.
    #[inline]
    pub fn set_traffic_class(&mut self, class: u8) {
        let data = &mut self.buffer.as_mut()[field::CLASS];
        data[0] = 0x60 | class >> 4;
        data[1] = data[1] & 0xf | class << 4;
    }
    /// Sets the flow label; bits beyond 20 are cut off.
    #[inline]
    pub fn set_flow_label(&mut self, label: u32) {
        let [_, a, b, c] = label.to_be_bytes();
        let data = &mut self.buffer.as_mut()[field::FLOW];
        data[0] = data[0] & 0xf0 | a & 0xf;
        (data[1], data[2]) = (b, c);
    }
    /// Sets the bytes behind the header, extension headers included.
    #[inline]
    pub fn set_payload_len(&mut self, bytes: u16) {
        self.buffer.as_mut()[field::PAYLOAD_LEN].copy_from_slice(&bytes.to_be_bytes());
    }
    /// Sets what follows the header.
    #[inline]
    pub fn set_next_header(&mut self, next: Protocol) {
        self.buffer.as_mut()[field::NEXT_HEADER] = next.0;
    }
    /// Sets how many more nodes may forward the packet.
    #[inline]
    pub fn set_hop_limit(&mut self, hop_limit: u8) {
        self.buffer.as_mut()[field::HOP_LIMIT] = hop_limit;
    }
    /// Sets the source address.
    #[inline]
    pub fn set_src(&mut self, addr: Ipv6Addr) {
        self.buffer.as_mut()[field::SRC].copy_from_slice(&addr.octets());
    }
    /// Sets the destination address.
    #[inline]
    pub fn set_dst(&mut self, addr: Ipv6Addr) {
        self.buffer.as_mut()[field::DST].copy_from_slice(&addr.octets());
    }
    /// What follows the header up to the payload length, to be written.
    #[inline]
    pub fn payload_mut(&mut self) -> &mut [u8] {
        let end = self.total_len();
        &mut self.buffer.as_mut()[HEADER_LEN..end]
    }
}

/// The address in sixteen bytes.
#[inline]
fn addr(bytes: &[u8]) -> Ipv6Addr {
    let mut octets = [0; 16];
    octets.copy_from_slice(bytes);
    octets.into()
}
