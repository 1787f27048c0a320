//! TCP headers (RFC 9293, 3.1), with their [`options`].
//!
//! Accessors of [`Packet`] panic only on a view made by [`Packet::new_unchecked`] over too few bytes.

pub mod md5;
pub mod options;
#[cfg(test)]
mod tests;

pub use options::{Options, TcpOption};

use crate::checksum;
use crate::error::{Error, Reason, need};
use crate::ipv4::Protocol;
use core::net::IpAddr;
use serde::{Deserialize, Serialize};

const LAYER: &str = "tcp";

/// Offsets of the fields in bytes (RFC 9293, 3.1).
mod field {
    pub const SRC_PORT: usize = 0;
    pub const DST_PORT: usize = 2;
    pub const SEQUENCE: usize = 4;
    pub const ACKNOWLEDGMENT: usize = 8;
    pub const OFFSET: usize = 12;
    pub const FLAGS: usize = 13;
    pub const WINDOW: usize = 14;
    pub const CHECKSUM: usize = 16;
    pub const URGENT: usize = 18;
    pub const OPTIONS: usize = 20;
}

/// Bytes of a header without options.
pub const HEADER_LEN: usize = 20;
/// Bytes of a header with all the options that fit.
pub const MAX_HEADER_LEN: usize = 60;

/// The control bits (RFC 9293, 3.1; CWR and ECE are of RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Flags(pub u8);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// Reset the connection.
    pub const RST: Flags = Flags(0x04);
    /// Hand over what has come without waiting for more.
    pub const PSH: Flags = Flags(0x08);
    /// The acknowledgment number means something.
    pub const ACK: Flags = Flags(0x10);
    /// The urgent pointer means something.
    pub const URG: Flags = Flags(0x20);
    /// The receiver has seen congestion.
    pub const ECE: Flags = Flags(0x40);
    /// The sender has reduced its congestion window.
    pub const CWR: Flags = Flags(0x80);

    /// The names of all bits, from the lowest to the highest.
    const NAMES: [&str; 8] = ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"];

    /// Are all bits of `other` set?
    #[inline]
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
    /// The bits of both.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
    /// The names of the bits that are set, in the order of the bits.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Flags::NAMES
            .into_iter()
            .enumerate()
            .filter(move |(bit, _)| self.0 >> bit & 1 == 1)
            .map(|(_, name)| name)
    }
    /// The bit of a name.
    pub fn named(name: &str) -> Option<Flags> {
        Flags::NAMES.iter().position(|known| *known == name).map(|bit| Flags(1 << bit))
    }
}

/// A view over a segment: the header and all that follows it in the IP packet.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |          Source Port          |       Destination Port        |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                        Sequence Number                        |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                    Acknowledgment Number                      |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |  Data |       |C|E|U|A|P|R|S|F|                               |
/// | Offset| Rsrvd |W|C|R|C|S|S|Y|I|            Window             |
/// |       |       |R|E|G|K|H|T|N|N|                               |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |           Checksum            |         Urgent Pointer        |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                           [Options]                           |
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

    /// A view whose accessors don't panic.
    #[inline]
    pub fn new_checked(buffer: T) -> Result<Packet<T>, Error> {
        let available = buffer.as_ref().len();
        need(LAYER, HEADER_LEN, available)?;
        let packet = Packet { buffer };
        let len = packet.header_len();
        if len < HEADER_LEN {
            let (found, max) = (len as u64 / 4, MAX_HEADER_LEN as u64 / 4);
            let reason = Reason::OutOfRange { field: "data offset", found, min: 5, max };
            return Err(Error::new(LAYER, field::OFFSET, reason));
        }
        need(LAYER, len, available)?;
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
    #[inline]
    fn u32_at(&self, at: usize) -> u32 {
        let data = self.buffer.as_ref();
        u32::from_be_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]])
    }

    /// Source port; with the source address it identifies the sender's end of a connection.
    #[inline]
    pub fn src_port(&self) -> u16 {
        self.u16_at(field::SRC_PORT)
    }
    /// Destination port; with the destination address it identifies the receiver's end.
    #[inline]
    pub fn dst_port(&self) -> u16 {
        self.u16_at(field::DST_PORT)
    }
    /// Sequence number of the first byte of the payload, or of the SYN.
    #[inline]
    pub fn sequence(&self) -> u32 {
        self.u32_at(field::SEQUENCE)
    }
    /// The sequence number that the sender expects next; of no meaning without [`Flags::ACK`].
    #[inline]
    pub fn acknowledgment(&self) -> u32 {
        self.u32_at(field::ACKNOWLEDGMENT)
    }
    /// Bytes of the header with its options: data offset in units of four bytes.
    #[inline]
    pub fn header_len(&self) -> usize {
        usize::from(self.buffer.as_ref()[field::OFFSET] >> 4) * 4
    }
    /// The four reserved bits behind the data offset: zero, unless an extension uses them.
    #[inline]
    pub fn reserved(&self) -> u8 {
        self.buffer.as_ref()[field::OFFSET] & 0xf
    }
    /// The control bits.
    #[inline]
    pub fn flags(&self) -> Flags {
        Flags(self.buffer.as_ref()[field::FLAGS])
    }
    /// Bytes that the sender is willing to take, before the window scale option is applied.
    #[inline]
    pub fn window(&self) -> u16 {
        self.u16_at(field::WINDOW)
    }
    /// The checksum field, over the pseudo header of IP, the header and the payload.
    #[inline]
    pub fn checksum(&self) -> u16 {
        self.u16_at(field::CHECKSUM)
    }
    /// Where urgent data ends, from the sequence number on; of no meaning without [`Flags::URG`].
    #[inline]
    pub fn urgent(&self) -> u16 {
        self.u16_at(field::URGENT)
    }
    /// The bytes of the options, padding included.
    #[inline]
    pub fn options(&self) -> &[u8] {
        &self.buffer.as_ref()[field::OPTIONS..self.header_len()]
    }
    /// What follows the header.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[self.header_len()..]
    }
    /// Sequence numbers that the segment takes: its payload, and one each for SYN and FIN (RFC 9293, 3.4).
    #[inline]
    pub fn sequence_len(&self) -> u32 {
        let flags = self.flags();
        self.payload().len() as u32 + u32::from(flags.has(Flags::SYN)) + u32::from(flags.has(Flags::FIN))
    }

    /// What the checksum field should hold between these addresses, which are of one family.
    pub fn compute_checksum(&self, src: IpAddr, dst: IpAddr) -> u16 {
        let data = self.buffer.as_ref();
        !checksum::combine(&[
            pseudo_header(src, dst, data.len() as u32),
            checksum::sum(&data[..field::CHECKSUM]),
            checksum::sum(&data[field::URGENT..]),
        ])
    }

    /// `Ok` if the checksum is right (RFC 9293, 3.1: it is never left out).
    pub fn verify_checksum(&self, src: IpAddr, dst: IpAddr) -> Result<(), Error> {
        let (found, computed) = (self.checksum(), self.compute_checksum(src, dst));
        // Zero has two forms in ones' complement.
        if found == computed || (found ^ computed == 0xffff && (found == 0 || computed == 0)) {
            return Ok(());
        }
        Err(Error::new(LAYER, field::CHECKSUM, Reason::Checksum { found, computed }))
    }
}

/// The sum of the pseudo header (RFC 9293, 3.1; of IPv6 RFC 8200, 8.1). Addresses of two families have none: zero.
fn pseudo_header(src: IpAddr, dst: IpAddr, length: u32) -> u16 {
    match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => checksum::pseudo_header(src, dst, Protocol::TCP.0, length),
        (IpAddr::V6(src), IpAddr::V6(dst)) => checksum::pseudo_header_v6(src, dst, Protocol::TCP.0, length),
        _ => 0,
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Sets the checksum field as it stands.
    #[inline]
    pub fn set_checksum(&mut self, value: u16) {
        self.buffer.as_mut()[field::CHECKSUM..field::CHECKSUM + 2].copy_from_slice(&value.to_be_bytes());
    }
    /// Sets the sequence number. The checksum is that of before until [`Packet::fill_checksum`].
    pub fn set_sequence(&mut self, sequence: u32) {
        self.buffer.as_mut()[field::SEQUENCE..field::SEQUENCE + 4].copy_from_slice(&sequence.to_be_bytes());
    }
    /// Computes and sets the checksum between these addresses, which are of one family.
    pub fn fill_checksum(&mut self, src: IpAddr, dst: IpAddr) {
        let value = self.compute_checksum(src, dst);
        self.set_checksum(value);
    }
}

/// A TCP header as a value, without its checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Port of the sender's end.
    pub src_port: u16,
    /// Port of the receiver's end.
    pub dst_port: u16,
    /// Sequence number of the first byte of the payload, or of the SYN.
    pub sequence: u32,
    /// The sequence number that the sender expects next; of no meaning without [`Flags::ACK`].
    pub acknowledgment: u32,
    /// The four reserved bits, 0 to 15; zero unless an extension uses them.
    pub reserved: u8,
    /// The control bits.
    pub flags: Flags,
    /// Bytes that the sender is willing to take, before scaling.
    pub window: u16,
    /// Where urgent data ends; of no meaning without [`Flags::URG`].
    pub urgent: u16,
    /// The options, padding included.
    pub options: Options,
}

impl Repr {
    /// Reads the header; its checksum is not looked at.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Repr, Error> {
        Ok(Repr {
            src_port: packet.src_port(),
            dst_port: packet.dst_port(),
            sequence: packet.sequence(),
            acknowledgment: packet.acknowledgment(),
            reserved: packet.reserved(),
            flags: packet.flags(),
            window: packet.window(),
            urgent: packet.urgent(),
            options: Options::from_bytes(packet.options())?,
        })
    }

    /// Bytes of the header with its options.
    pub fn buffer_len(&self) -> usize {
        HEADER_LEN + self.options.as_bytes().len()
    }

    /// Writes the header with a checksum of zero to the first [`Repr::buffer_len`] bytes of `buffer`. Panics if it is
    /// shorter.
    pub fn emit(&self, buffer: &mut [u8]) {
        let len = self.buffer_len();
        buffer[..2].copy_from_slice(&self.src_port.to_be_bytes());
        buffer[field::DST_PORT..field::DST_PORT + 2].copy_from_slice(&self.dst_port.to_be_bytes());
        buffer[field::SEQUENCE..field::SEQUENCE + 4].copy_from_slice(&self.sequence.to_be_bytes());
        buffer[field::ACKNOWLEDGMENT..field::ACKNOWLEDGMENT + 4]
            .copy_from_slice(&self.acknowledgment.to_be_bytes());
        buffer[field::OFFSET] = (len as u8 / 4) << 4 | self.reserved & 0xf;
        buffer[field::FLAGS] = self.flags.0;
        buffer[field::WINDOW..field::WINDOW + 2].copy_from_slice(&self.window.to_be_bytes());
        buffer[field::CHECKSUM..field::CHECKSUM + 2].copy_from_slice(&[0, 0]);
        buffer[field::URGENT..field::URGENT + 2].copy_from_slice(&self.urgent.to_be_bytes());
        buffer[field::OPTIONS..len].copy_from_slice(self.options.as_bytes());
    }
}
