//! Reading and writing the fields of an object: big-endian numbers and addresses.

use super::error::Fault;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Reads fields one after the other. Past the end it reads zeros, so callers check the length first.
#[derive(Clone, Copy)]
pub(crate) struct Get<'a>(pub(crate) &'a [u8]);

impl<'a> Get<'a> {
    /// A reader of contents that must have exactly `length` bytes.
    #[inline]
    pub(crate) fn exact(body: &'a [u8], length: usize) -> Result<Get<'a>, Fault> {
        if body.len() == length { Ok(Get(body)) } else { Err(Fault::length(length, body.len())) }
    }

    /// A reader of contents that must have at least `length` bytes.
    #[inline]
    pub(crate) fn at_least(body: &'a [u8], length: usize) -> Result<Get<'a>, Fault> {
        if body.len() >= length { Ok(Get(body)) } else { Err(Fault::length(length, body.len())) }
    }

    #[inline]
    pub(crate) fn take<const N: usize>(&mut self) -> [u8; N] {
        match self.0.split_first_chunk::<N>() {
            Some((head, tail)) => {
                self.0 = tail;
                *head
            }
            None => {
                self.0 = &[];
                [0; N]
            }
        }
    }
    #[inline]
    pub(crate) fn u8(&mut self) -> u8 {
        let [byte] = self.take();
        byte
    }
    #[inline]
    pub(crate) fn u16(&mut self) -> u16 {
        u16::from_be_bytes(self.take())
    }
    #[inline]
    pub(crate) fn u24(&mut self) -> u32 {
        let [a, b, c] = self.take();
        u32::from_be_bytes([0, a, b, c])
    }
    #[inline]
    pub(crate) fn u32(&mut self) -> u32 {
        u32::from_be_bytes(self.take())
    }
    #[inline]
    pub(crate) fn u64(&mut self) -> u64 {
        u64::from_be_bytes(self.take())
    }
    #[inline]
    pub(crate) fn f32(&mut self) -> f32 {
        f32::from_bits(self.u32())
    }
    #[inline]
    pub(crate) fn v4(&mut self) -> Ipv4Addr {
        Ipv4Addr::from(self.take::<4>())
    }
    #[inline]
    pub(crate) fn v6(&mut self) -> Ipv6Addr {
        Ipv6Addr::from(self.take::<16>())
    }
}

/// Writes fields at the end of a message, and objects around them.
pub(crate) trait Put {
    fn bytes(&mut self, bytes: &[u8]);
    fn patch(&mut self, at: usize, value: u16);
    fn position(&self) -> usize;

    #[inline]
    fn u8(&mut self, value: u8) {
        self.bytes(&[value]);
    }
    #[inline]
    fn u16(&mut self, value: u16) {
        self.bytes(&value.to_be_bytes());
    }
    /// The lowest 24 bits of `value` after a byte.
    #[inline]
    fn u8_u24(&mut self, first: u8, value: u32) {
        self.u32(u32::from(first) << 24 | value & 0xff_ffff);
    }
    #[inline]
    fn u32(&mut self, value: u32) {
        self.bytes(&value.to_be_bytes());
    }
    #[inline]
    fn u64(&mut self, value: u64) {
        self.bytes(&value.to_be_bytes());
    }
    #[inline]
    fn f32(&mut self, value: f32) {
        self.u32(value.to_bits());
    }
    #[inline]
    fn v4(&mut self, address: Ipv4Addr) {
        self.bytes(&address.octets());
    }
    #[inline]
    fn v6(&mut self, address: Ipv6Addr) {
        self.bytes(&address.octets());
    }
    #[inline]
    fn ip(&mut self, address: IpAddr) {
        match address {
            IpAddr::V4(address) => self.v4(address),
            IpAddr::V6(address) => self.v6(address),
        }
    }

    /// The header of an object with contents of `body` bytes, a multiple of four (RFC 2205, 3.1.2).
    ///
    /// ```text
    /// +-------------+-------------+-------------+-------------+
    /// |       Length (bytes)      |  Class-Num  |   C-Type    |
    /// +-------------+-------------+-------------+-------------+
    /// ```
    #[inline]
    fn object(&mut self, class: u8, c_type: u8, body: u16) {
        self.u32(u32::from(body + 4) << 16 | u32::from(class) << 8 | u32::from(c_type));
    }

    /// The header of an object whose length is not known yet; pass the result to [`Put::end`].
    #[inline]
    fn begin(&mut self, class: u8, c_type: u8) -> usize {
        let at = self.position();
        self.object(class, c_type, 0);
        at
    }

    /// Pads to whole words and writes the length of the object that began at `at`.
    #[inline]
    fn end(&mut self, at: usize) -> Result<(), Fault> {
        let length = self.position() - at;
        self.bytes(&[0; 3][..length.wrapping_neg() & 3]);
        let length = u16::try_from(self.position() - at).map_err(|_| Fault::TOO_LONG)?;
        self.patch(at, length);
        Ok(())
    }
}

impl Put for Vec<u8> {
    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
    #[inline]
    fn patch(&mut self, at: usize, value: u16) {
        if let Some(field) = self.get_mut(at..).and_then(|tail| tail.first_chunk_mut::<2>()) {
            *field = value.to_be_bytes();
        }
    }
    #[inline]
    fn position(&self) -> usize {
        self.len()
    }
}

/// The C-Type of an object that has one for each address family: 1 for IPv4, 2 for IPv6.
#[inline]
pub(crate) const fn family(address: IpAddr) -> (u8, u16) {
    match address {
        IpAddr::V4(_) => (1, 4),
        IpAddr::V6(_) => (2, 16),
    }
}
