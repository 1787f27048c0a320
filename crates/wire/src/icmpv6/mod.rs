//! ICMPv6 (RFC 4443): echo, errors with the packet that caused them and extensions (RFC 4884), and neighbour discovery
//! ([`crate::nd`]). What listeners of groups say is read by [`crate::mld`].
//!
//! Accessors of [`Packet`] panic only on a view made by [`Packet::new_unchecked`] over fewer than eight bytes.

mod repr;
#[cfg(test)]
mod tests;

pub use crate::icmp::Quote;
pub use repr::Repr;

use crate::error::{Error, Reason, need};
use crate::icmp::extension::Form;
use crate::{checksum, ipv6};
use core::net::Ipv6Addr;
use serde::{Deserialize, Serialize};

const LAYER: &str = "icmpv6";

/// Offsets of the fields in bytes; their meaning beyond the checksum depends on the type (RFC 4443, 2.1).
mod field {
    pub const TYPE: usize = 0;
    pub const CODE: usize = 1;
    pub const CHECKSUM: usize = 2;
    pub const REST: usize = 4;
}

/// Bytes of a header.
pub const HEADER_LEN: usize = 8;
/// Bytes of a packet that an error can quote without an extension structure: the error is to fit in the least MTU
/// (RFC 4443, 2.4 (c)).
pub const MAX_QUOTE_LEN: usize = ipv6::MIN_MTU - ipv6::HEADER_LEN - HEADER_LEN;
/// The length of a quoted packet: words of 64 bits in the first byte behind the checksum (RFC 4884, 4).
const FORM: Form = Form { layer: LAYER, word: 8, field: field::REST };

/// The type of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Type(pub u8);

impl Type {
    /// Destination unreachable, 1 (RFC 4443, 3.1).
    pub const DESTINATION_UNREACHABLE: Type = Type(1);
    /// Packet too big, 2 (RFC 4443, 3.2).
    pub const PACKET_TOO_BIG: Type = Type(2);
    /// Time exceeded, 3 (RFC 4443, 3.3).
    pub const TIME_EXCEEDED: Type = Type(3);
    /// Parameter problem, 4 (RFC 4443, 3.4).
    pub const PARAMETER_PROBLEM: Type = Type(4);
    /// Echo request, 128 (RFC 4443, 4.1).
    pub const ECHO_REQUEST: Type = Type(128);
    /// Echo reply, 129 (RFC 4443, 4.2).
    pub const ECHO_REPLY: Type = Type(129);
    /// Multicast listener query, 130 (RFC 3810, 5.1).
    pub const LISTENER_QUERY: Type = Type(130);
    /// Multicast listener report of version 1, 131 (RFC 3810, 5).
    pub const LISTENER_REPORT_V1: Type = Type(131);
    /// Multicast listener done of version 1, 132 (RFC 3810, 5).
    pub const LISTENER_DONE: Type = Type(132);
    /// Router solicitation, 133 (RFC 4861, 4.1).
    pub const ROUTER_SOLICITATION: Type = Type(133);
    /// Router advertisement, 134 (RFC 4861, 4.2).
    pub const ROUTER_ADVERTISEMENT: Type = Type(134);
    /// Neighbour solicitation, 135 (RFC 4861, 4.3).
    pub const NEIGHBOR_SOLICITATION: Type = Type(135);
    /// Neighbour advertisement, 136 (RFC 4861, 4.4).
    pub const NEIGHBOR_ADVERTISEMENT: Type = Type(136);
    /// Redirect, 137 (RFC 4861, 4.5).
    pub const REDIRECT: Type = Type(137);
    /// Multicast listener report of version 2, 143 (RFC 3810, 5.2).
    pub const LISTENER_REPORT_V2: Type = Type(143);

    /// Is it an error, whose type has the highest bit clear (RFC 4443, 2.1)?
    pub const fn is_error(self) -> bool {
        self.0 < 128
    }
    /// Is it a message of neighbour discovery (RFC 4861, 4)?
    pub const fn is_discovery(self) -> bool {
        matches!(self.0, 133..=137)
    }
    /// Is it a message about listeners of groups ([`crate::mld`])?
    pub const fn is_listener(self) -> bool {
        matches!(self.0, 130..=132 | 143)
    }
    /// Must no error be sent about it (RFC 4443, 2.4 (e.1), (e.2))?
    pub const fn forbids_errors(self) -> bool {
        self.is_error() || self.0 == Type::REDIRECT.0
    }
}

/// Codes of destination unreachable (RFC 4443, 3.1).
pub mod unreachable {
    /// No route to the destination.
    pub const NO_ROUTE: u8 = 0;
    /// An administrator forbids it.
    pub const ADMINISTRATIVELY_PROHIBITED: u8 = 1;
    /// The source address reaches less far than the destination.
    pub const BEYOND_SCOPE: u8 = 2;
    /// The address can't be reached for another reason, such as that it has no answer on its link.
    pub const ADDRESS: u8 = 3;
    /// Nothing listens at the port.
    pub const PORT: u8 = 4;
}

/// Codes of time exceeded (RFC 4443, 3.3).
pub mod time_exceeded {
    /// In transit: the hop limit ran out.
    pub const HOP_LIMIT: u8 = 0;
    /// A fragment is missing.
    pub const REASSEMBLY: u8 = 1;
}

/// Codes of parameter problem (RFC 4443, 3.4).
pub mod parameter_problem {
    /// A header field has no sense.
    pub const FIELD: u8 = 0;
    /// The number of a next header is not known here.
    pub const NEXT_HEADER: u8 = 1;
    /// An option is not known here, and says that this is to be reported.
    pub const OPTION: u8 = 2;
}

/// A view over a message.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |     Type      |     Code      |           Checksum            |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |  Echo: Identifier             |   Sequence Number             |
/// |  Error: Length | unused       |  or MTU, or Pointer           |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |  Echo: Data.  Error: invoking packet, Extension Structure     |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view without a check: accessors panic if `buffer` is too short.
    pub const fn new_unchecked(buffer: T) -> Packet<T> {
        Packet { buffer }
    }
    /// A view whose accessors don't panic.
    pub fn new_checked(buffer: T) -> Result<Packet<T>, Error> {
        need(LAYER, HEADER_LEN, buffer.as_ref().len())?;
        Ok(Packet { buffer })
    }
    /// Gives the buffer back that the view was made over.
    pub fn into_inner(self) -> T {
        self.buffer
    }

    /// The type, which decides what the other fields mean.
    pub fn icmp_type(&self) -> Type {
        Type(self.buffer.as_ref()[field::TYPE])
    }
    /// The code, whose meaning depends on the type.
    pub fn code(&self) -> u8 {
        self.buffer.as_ref()[field::CODE]
    }
    /// The checksum as it is in the message, right or wrong.
    pub fn checksum(&self) -> u16 {
        let data = self.buffer.as_ref();
        u16::from_be_bytes([data[field::CHECKSUM], data[field::CHECKSUM + 1]])
    }
    /// The four bytes whose meaning depends on the type.
    pub fn rest(&self) -> [u8; 4] {
        let data = self.buffer.as_ref();
        [data[4], data[5], data[6], data[7]]
    }
    /// What follows the header.
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[HEADER_LEN..]
    }
    /// What the checksum should be between these addresses (RFC 4443, 2.3).
    pub fn compute_checksum(&self, src: Ipv6Addr, dst: Ipv6Addr) -> u16 {
        let data = self.buffer.as_ref();
        let length = data.len() as u32;
        !checksum::combine(&[
            checksum::pseudo_header_v6(src, dst, ipv6::Protocol::ICMPV6.0, length),
            checksum::sum(&data[..field::CHECKSUM]),
            checksum::sum(&data[field::REST..]),
        ])
    }
    /// Is the checksum right?
    pub fn verify_checksum(&self, src: Ipv6Addr, dst: Ipv6Addr) -> Result<(), Error> {
        let data = self.buffer.as_ref();
        let pseudo = checksum::pseudo_header_v6(src, dst, ipv6::Protocol::ICMPV6.0, data.len() as u32);
        if checksum::combine(&[pseudo, checksum::sum(data)]) == 0xffff {
            return Ok(());
        }
        let (found, computed) = (self.checksum(), self.compute_checksum(src, dst));
        Err(Error::new(LAYER, field::CHECKSUM, Reason::Checksum { found, computed }))
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Sets type and code.
    pub fn set_type(&mut self, icmp_type: Type, code: u8) {
        self.buffer.as_mut()[..field::CHECKSUM].copy_from_slice(&[icmp_type.0, code]);
    }
    /// Writes a checksum as given, right or wrong.
    pub fn set_checksum(&mut self, value: u16) {
        self.buffer.as_mut()[field::CHECKSUM..field::REST].copy_from_slice(&value.to_be_bytes());
    }
    /// Sets the four bytes whose meaning depends on the type.
    pub fn set_rest(&mut self, rest: [u8; 4]) {
        self.buffer.as_mut()[field::REST..HEADER_LEN].copy_from_slice(&rest);
    }
    /// What follows the header, to be written.
    pub fn payload_mut(&mut self) -> &mut [u8] {
        &mut self.buffer.as_mut()[HEADER_LEN..]
    }
    /// Computes the checksum between these addresses, and sets it.
    pub fn fill_checksum(&mut self, src: Ipv6Addr, dst: Ipv6Addr) {
        let value = self.compute_checksum(src, dst);
        self.set_checksum(value);
    }
}
