//! UDP over IPv4 (RFC 768) and over IPv6 (RFC 8200, 8.1).
//!
//! Accessors of [`Packet`] panic only on a view made by [`Packet::new_unchecked`] over too few bytes.

use crate::checksum::{self, Addresses};
use crate::error::{Error, Reason, need};
use crate::ipv4;

const LAYER: &str = "udp";

/// Offsets of the fields in bytes (RFC 768).
mod field {
    pub const SRC_PORT: usize = 0;
    pub const DST_PORT: usize = 2;
    pub const LENGTH: usize = 4;
    pub const CHECKSUM: usize = 6;
}

/// Bytes of a header.
pub const HEADER_LEN: usize = 8;

/// A view over a datagram: the header and what follows it up to its length field.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |          Source Port          |       Destination Port        |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |            Length             |           Checksum            |
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
        let length = usize::from(packet.length());
        if length < HEADER_LEN || length > available {
            let (min, max) = (HEADER_LEN as u64, available as u64);
            let reason = Reason::OutOfRange { field: "length", found: length as u64, min, max };
            return Err(Error::new(LAYER, field::LENGTH, reason));
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

    /// Source port, 0 if the sender has none.
    #[inline]
    pub fn src_port(&self) -> u16 {
        self.u16_at(field::SRC_PORT)
    }
    /// Destination port, which identifies the receiver.
    #[inline]
    pub fn dst_port(&self) -> u16 {
        self.u16_at(field::DST_PORT)
    }
    /// Bytes of header and payload.
    #[inline]
    pub fn length(&self) -> u16 {
        self.u16_at(field::LENGTH)
    }
    /// The checksum field; zero says that the sender made none.
    #[inline]
    pub fn checksum(&self) -> u16 {
        self.u16_at(field::CHECKSUM)
    }
    /// What follows the header, up to the length field.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[HEADER_LEN..usize::from(self.length())]
    }

    /// What the checksum field should hold between these addresses.
    pub fn compute_checksum<A: Addresses>(&self, src: A, dst: A) -> u16 {
        let data = &self.buffer.as_ref()[..usize::from(self.length())];
        let sum = checksum::combine(&[
            A::pseudo_header(src, dst, ipv4::Protocol::UDP.0, u32::from(self.length())),
            checksum::sum(&data[..field::CHECKSUM]),
            checksum::sum(&data[HEADER_LEN..]),
        ]);
        // RFC 768: a computed zero is sent as all ones, since zero means none.
        if sum == 0xffff { 0xffff } else { !sum }
    }

    /// `Ok` if the sender made the right checksum, or none where it may.
    pub fn verify_checksum<A: Addresses>(&self, src: A, dst: A) -> Result<(), Error> {
        let (found, computed) = (self.checksum(), self.compute_checksum(src, dst));
        if (found == 0 && A::MAY_LEAVE_OUT) || found == computed {
            return Ok(());
        }
        Err(Error::new(LAYER, field::CHECKSUM, Reason::Checksum { found, computed }))
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    #[inline]
    fn set_u16_at(&mut self, at: usize, value: u16) {
        self.buffer.as_mut()[at..at + 2].copy_from_slice(&value.to_be_bytes());
    }
    /// Sets the source port.
    #[inline]
    pub fn set_src_port(&mut self, port: u16) {
        self.set_u16_at(field::SRC_PORT, port);
    }
    /// Sets the destination port.
    #[inline]
    pub fn set_dst_port(&mut self, port: u16) {
        self.set_u16_at(field::DST_PORT, port);
    }
    /// Sets the bytes of header and payload.
    #[inline]
    pub fn set_length(&mut self, length: u16) {
        self.set_u16_at(field::LENGTH, length);
    }
    /// Sets the checksum field.
    #[inline]
    pub fn set_checksum(&mut self, value: u16) {
        self.set_u16_at(field::CHECKSUM, value);
    }
    /// Computes the checksum of header and payload between these addresses, and sets it.
    pub fn fill_checksum<A: Addresses>(&mut self, src: A, dst: A) {
        let value = self.compute_checksum(src, dst);
        self.set_checksum(value);
    }
    /// What follows the header, up to the length field, to be written.
    #[inline]
    pub fn payload_mut(&mut self) -> &mut [u8] {
        let end = usize::from(self.length());
        &mut self.buffer.as_mut()[HEADER_LEN..end]
    }
}

/// A UDP header as a value. Its length field is the header plus the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Repr {
    /// Source port, 0 if the sender has none.
    pub src_port: u16,
    /// Destination port, which identifies the receiver.
    pub dst_port: u16,
    /// Bytes of payload, at most 65,527.
    pub payload_len: u16,
}

impl Repr {
    /// Reads the header; its checksum must be right, or absent over IPv4.
    pub fn parse<T: AsRef<[u8]>, A: Addresses>(packet: &Packet<T>, src: A, dst: A) -> Result<Repr, Error> {
        packet.verify_checksum(src, dst)?;
        Ok(Repr {
            src_port: packet.src_port(),
            dst_port: packet.dst_port(),
            payload_len: packet.length() - HEADER_LEN as u16,
        })
    }

    /// Bytes of the header.
    pub const fn buffer_len(&self) -> usize {
        HEADER_LEN
    }

    /// Writes the header, without a checksum, to the first eight bytes of `buffer`. Panics if it is shorter.
    ///
    /// With the payload in place [`Packet::fill_checksum`] adds the checksum.
    #[inline]
    pub fn emit(&self, buffer: &mut [u8]) {
        let mut packet = Packet::new_unchecked(buffer);
        packet.set_src_port(self.src_port);
        packet.set_dst_port(self.dst_port);
        packet.set_length(self.payload_len.saturating_add(HEADER_LEN as u16));
        packet.set_checksum(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::{Ipv4Addr, Ipv6Addr};
    use proptest::prelude::*;

    const SRC: Ipv4Addr = Ipv4Addr::new(192, 168, 1, 1);
    const DST: Ipv4Addr = Ipv4Addr::new(192, 168, 1, 2);
    static VECTOR: ([u8; 12], Repr) = (
        [0xbf, 0x00, 0x00, 0x35, 0x00, 0x0c, 0x12, 0x4d, 0xaa, 0x00, 0x00, 0xff],
        Repr { src_port: 48896, dst_port: 53, payload_len: 4 },
    );

    #[test]
    fn vector_decodes() {
        let packet = Packet::new_checked(&VECTOR.0).unwrap();
        assert_eq!(Repr::parse(&packet, SRC, DST), Ok(VECTOR.1));
        assert_eq!(packet.payload(), &[0xaa, 0, 0, 0xff]);
    }

    #[test]
    fn vector_encodes() {
        let mut buffer = VECTOR.0;
        buffer[..8].fill(0x77);
        VECTOR.1.emit(&mut buffer);
        Packet::new_unchecked(&mut buffer).fill_checksum(SRC, DST);
        assert_eq!(buffer, VECTOR.0);
    }

    #[test]
    fn no_checksum_is_right_and_a_wrong_one_is_not() {
        let mut bytes = VECTOR.0;
        bytes[6..8].fill(0);
        assert_eq!(Packet::new_checked(&bytes).unwrap().verify_checksum(SRC, DST), Ok(()));
        bytes[7] = 1;
        let error = Packet::new_checked(&bytes).unwrap().verify_checksum(SRC, DST).unwrap_err();
        assert_eq!(error.to_string(), "udp: checksum is 0x0001, not 0x124d (at byte 6)");
    }

    #[test]
    fn over_ipv6_a_checksum_is_needed() {
        let (src, dst) = (Ipv6Addr::LOCALHOST, Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1));
        let mut bytes = VECTOR.0;
        bytes[6..8].fill(0);
        let error = Packet::new_checked(&bytes).unwrap().verify_checksum(src, dst).unwrap_err();
        assert_eq!(error.offset, 6);
        Packet::new_unchecked(&mut bytes).fill_checksum(src, dst);
        assert_eq!(Repr::parse(&Packet::new_checked(&bytes).unwrap(), src, dst), Ok(VECTOR.1));
    }

    #[test]
    fn the_length_field_is_checked() {
        let mut bytes = VECTOR.0;
        for bad in [0, 7, 13] {
            bytes[5] = bad;
            assert_eq!(Packet::new_checked(&bytes).unwrap_err().offset, 4);
        }
        bytes[5] = 9;
        assert_eq!(Packet::new_checked(&bytes).unwrap().payload(), &[0xaa]);
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        #[test]
        fn any_bytes(bytes: Vec<u8>) {
            if let Ok(packet) = Packet::new_checked(&bytes) {
                let _ = (Repr::parse(&packet, SRC, DST), packet.payload());
            }
        }

        #[test]
        fn round_trip(src_port: u16, dst_port: u16, payload in proptest::collection::vec(any::<u8>(), 0..60)) {
            let repr = Repr { src_port, dst_port, payload_len: payload.len() as u16 };
            let mut bytes = vec![0; 8];
            bytes.extend(&payload);
            repr.emit(&mut bytes);
            let mut packet = Packet::new_checked(&mut bytes[..]).unwrap();
            packet.fill_checksum(SRC, DST);
            prop_assert_ne!(packet.checksum(), 0);
            prop_assert_eq!(Repr::parse(&packet, SRC, DST), Ok(repr));
        }
    }
}
