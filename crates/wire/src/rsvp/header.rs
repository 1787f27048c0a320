//! The common header (RFC 2205, 3.1.1), its checksum, and the objects after it (RFC 2205, 3.1.2).

use super::error::{Error, Reason};
use super::field::Get;
use crate::checksum as sums;

/// The only version of the protocol.
pub const VERSION: u8 = 1;

/// Bytes of a common header.
pub const HEADER_LEN: usize = 8;

/// The common header as it is on the wire.
///
/// ```text
/// +-------------+-------------+-------------+-------------+
/// | Vers | Flags|  Msg Type   |       RSVP Checksum       |
/// +-------------+-------------+-------------+-------------+
/// |  Send_TTL   | (Reserved)  |        RSVP Length        |
/// +-------------+-------------+-------------+-------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Four bits; RFC 2961 defines 0x01, refresh reduction capable.
    pub flags: u8,
    /// Number of the type; names are those of [`super::MessageType`].
    pub message_type: u8,
    /// Internet checksum over the message; zero if the sender sent none.
    pub checksum: u16,
    /// The IP TTL with which the message was sent.
    pub send_ttl: u8,
    /// A reserved byte: zero when sent, ignored when received.
    pub reserved: u8,
    /// Bytes of the message, header included.
    pub length: u16,
}

impl Header {
    /// Reads the header; `bytes` may go on after the message.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Result<Header, Error> {
        if bytes.len() < HEADER_LEN {
            let reason = Reason::Truncated { needed: HEADER_LEN, available: bytes.len() };
            return Err(Error::of_message(bytes.len(), reason));
        }
        let mut get = Get(bytes);
        let first = get.u8();
        if first >> 4 != VERSION {
            return Err(Error::of_message(0, Reason::Version(first >> 4)));
        }
        let header = Header {
            flags: first & 0x0f,
            message_type: get.u8(),
            checksum: get.u16(),
            send_ttl: get.u8(),
            reserved: get.u8(),
            length: get.u16(),
        };
        let length = usize::from(header.length);
        if length < HEADER_LEN || length > bytes.len() {
            let reason =
                Reason::Truncated { needed: length.max(HEADER_LEN), available: bytes.len().min(length) };
            return Err(Error::of_message(6, reason));
        }
        Ok(header)
    }

    /// The message that this header begins: `bytes` without what comes after.
    #[inline]
    pub fn message<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        bytes.get(..usize::from(self.length)).unwrap_or(bytes)
    }

    /// Is the checksum of `message` right, or absent (zero)?
    #[inline]
    pub fn check(&self, message: &[u8]) -> Result<(), Error> {
        if self.checksum == 0 {
            return Ok(()); // RFC 2205, 3.1.1: an all-zero value means that no checksum was transmitted.
        }
        let computed = checksum(message);
        // Ones' complement has two zeros: all ones over a sum of zero is right as well.
        if self.checksum == computed || (self.checksum == 0xffff && computed == 0) {
            return Ok(());
        }
        Err(Error::of_message(2, Reason::Checksum { found: self.checksum, computed }))
    }
}

/// The checksum that belongs in `message`, whatever is in the field now.
#[inline]
pub fn checksum(message: &[u8]) -> u16 {
    let mut get = Get(message);
    get.u16();
    // Taking the field out is adding its complement (RFC 1624, 3). A message is never all zeros, so the sum that is
    // complemented has one form only.
    !sums::combine(&[!get.u16(), sums::sum(message)])
}

/// One object of a message, its contents untouched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectView<'a> {
    /// Byte of the message at which the object begins.
    pub offset: usize,
    /// Class-Num, one of [`super::class`] if it is known.
    pub class: u8,
    /// C-Type: the format within the class.
    pub c_type: u8,
    /// What follows the object's header of four bytes.
    pub body: &'a [u8],
}

/// The objects of a message, in order. Ends after the first error.
#[derive(Clone, Debug)]
pub struct Objects<'a> {
    rest: &'a [u8],
    offset: usize,
}

impl<'a> Objects<'a> {
    /// The objects of a whole message, header included.
    #[inline]
    pub fn of(message: &'a [u8]) -> Objects<'a> {
        Objects { rest: message.get(HEADER_LEN..).unwrap_or(&[]), offset: HEADER_LEN }
    }
}

impl<'a> Iterator for Objects<'a> {
    type Item = Result<ObjectView<'a>, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let offset = self.offset;
        let Some((&[high, low, class, c_type], _)) = self.rest.split_first_chunk::<4>() else {
            let reason = Reason::Truncated { needed: 4, available: self.rest.len() };
            self.rest = &[];
            return Some(Err(Error::of_message(offset, reason)));
        };
        let length = u16::from_be_bytes([high, low]);
        // RFC 2205, 3.1.2: always a multiple of 4, and at least 4.
        if length < 4 || length % 4 != 0 || usize::from(length) > self.rest.len() {
            self.rest = &[];
            let reason = Reason::ObjectLength(length);
            return Some(Err(Error { offset, object: Some((class, c_type)), reason }));
        }
        let (object, rest) = self.rest.split_at(usize::from(length));
        self.rest = rest;
        self.offset += usize::from(length);
        Some(Ok(ObjectView { offset, class, c_type, body: &object[4..] }))
    }
}
