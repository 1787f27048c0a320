//! ICMP (RFC 792, RFC 1191): echo, and errors with the packet that caused them and [`extension`]s (RFC 4884).
//!
//! Accessors of [`Packet`] panic only on a view made by [`Packet::new_unchecked`] over fewer than eight bytes.

pub mod extension;
#[cfg(test)]
mod tests;

use extension::FORM;
pub use extension::Quote;

use crate::checksum;
use crate::error::{Error, Reason, need};
use serde::{Deserialize, Serialize};

const LAYER: &str = "icmp";

/// Offsets of the fields in bytes; their meaning beyond the checksum depends on the type.
mod field {
    pub const TYPE: usize = 0;
    pub const CODE: usize = 1;
    pub const CHECKSUM: usize = 2;
    pub const REST: usize = 4;
    /// RFC 4884, 4: in 32-bit words, in three types of error.
    pub const LENGTH: usize = 5;
}

/// Bytes of a header.
pub const HEADER_LEN: usize = 8;
/// The greatest IPv4 packet that an ICMP error makes (RFC 1812, 4.3.2.3).
pub const MAX_ERROR_LEN: usize = 576;

/// The type of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Type(pub u8);

impl Type {
    /// Echo reply, 0 (RFC 792).
    pub const ECHO_REPLY: Type = Type(0);
    /// Destination unreachable, 3 (RFC 792).
    pub const DESTINATION_UNREACHABLE: Type = Type(3);
    /// Echo request, 8 (RFC 792).
    pub const ECHO_REQUEST: Type = Type(8);
    /// Time exceeded, 11 (RFC 792).
    pub const TIME_EXCEEDED: Type = Type(11);
    /// Parameter problem, 12 (RFC 792).
    pub const PARAMETER_PROBLEM: Type = Type(12);

    /// Is it an error, which must not be answered by an error (RFC 1812, 4.3.2.7)?
    pub const fn is_error(self) -> bool {
        // Source quench is 4 and redirect 5 (RFC 792).
        matches!(self.0, 3 | 4 | 5 | 11 | 12)
    }
}

/// Codes of destination unreachable (RFC 792).
pub mod unreachable {
    /// No route to the network.
    pub const NET: u8 = 0;
    /// The host does not answer.
    pub const HOST: u8 = 1;
    /// Nothing there speaks the protocol.
    pub const PROTOCOL: u8 = 2;
    /// Nothing listens at the port.
    pub const PORT: u8 = 3;
    /// The packet exceeds the next hop's MTU and must not be fragmented (RFC 1191).
    pub const FRAGMENTATION_NEEDED: u8 = 4;
    /// An administrator forbids it (RFC 1812, 5.2.7.1).
    pub const ADMINISTRATIVELY_PROHIBITED: u8 = 13;
}

/// Codes of time exceeded (RFC 792).
pub mod time_exceeded {
    /// In transit: the time to live ran out.
    pub const TTL: u8 = 0;
    /// A fragment is missing.
    pub const REASSEMBLY: u8 = 1;
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
/// |  Error: unused or Pointer | Length |  unused or Next-Hop MTU  |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |  Echo: Data.  Error: Original Datagram, Extension Structure   |
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
    /// What the checksum should be.
    pub fn compute_checksum(&self) -> u16 {
        let data = self.buffer.as_ref();
        let parts = [checksum::sum(&data[..field::CHECKSUM]), checksum::sum(&data[field::REST..])];
        !checksum::combine(&parts)
    }
    /// Is the checksum right?
    pub fn verify_checksum(&self) -> Result<(), Error> {
        if checksum::sum(self.buffer.as_ref()) == 0xffff {
            return Ok(());
        }
        let (found, computed) = (self.checksum(), self.compute_checksum());
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
    /// Computes and sets the checksum.
    pub fn fill_checksum(&mut self) {
        let value = self.compute_checksum();
        self.set_checksum(value);
    }
}

/// A message as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Repr<'a> {
    /// Asks for an echo.
    EchoRequest {
        /// Identifies the process or run that asks, among those of a host.
        ident: u16,
        /// Identifies the request, among those of one asker.
        sequence: u16,
        /// To be sent back.
        data: &'a [u8],
    },
    /// Answers an echo request.
    EchoReply {
        /// As in the request.
        ident: u16,
        /// As in the request.
        sequence: u16,
        /// As in the request.
        data: &'a [u8],
    },
    /// A packet could not be delivered.
    DestinationUnreachable {
        /// Why; one of [`mod@unreachable`].
        code: u8,
        /// With [`unreachable::FRAGMENTATION_NEEDED`] the MTU of the next hop (RFC 1191, 4), else zero.
        next_hop_mtu: u16,
        /// The packet that could not be delivered, from its IPv4 header on.
        quote: Quote<'a>,
    },
    /// A packet's time to live ran out, or fragments did not arrive in time.
    TimeExceeded {
        /// Which; one of [`time_exceeded`].
        code: u8,
        /// The packet that was dropped, from its IPv4 header on.
        quote: Quote<'a>,
    },
    /// A packet's header can't be understood.
    ParameterProblem {
        /// Zero: the pointer says where; others: RFC 1812, 5.2.7.3.
        code: u8,
        /// The byte at fault.
        pointer: u8,
        /// The packet that could not be understood, from its IPv4 header on.
        quote: Quote<'a>,
    },
    /// A message of any other type, its contents as they came.
    Other {
        /// The type, none of those above.
        icmp_type: Type,
        /// The code, whose meaning depends on the type.
        code: u8,
        /// The four bytes behind the checksum.
        rest: [u8; 4],
        /// What follows the header.
        data: &'a [u8],
    },
}

impl<'a> Repr<'a> {
    /// Reads a message; its checksum must be right.
    pub fn parse<T: AsRef<[u8]> + ?Sized>(packet: &Packet<&'a T>) -> Result<Repr<'a>, Error> {
        packet.verify_checksum()?;
        Repr::parse_unverified(packet)
    }

    /// Reads a message whatever its checksum. Unused bytes are ignored.
    pub fn parse_unverified<T: AsRef<[u8]> + ?Sized>(packet: &Packet<&'a T>) -> Result<Repr<'a>, Error> {
        let data = &packet.buffer.as_ref()[HEADER_LEN..];
        let (code, rest) = (packet.code(), packet.rest());
        let [a, b, c, d] = rest;
        let (ident, sequence) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        let quote = || match rest[field::LENGTH - field::REST] {
            0 => Ok(Quote::parse_without_length(FORM, data)),
            words => Quote::parse(FORM, words, data),
        };
        Ok(match packet.icmp_type() {
            Type::ECHO_REQUEST if code == 0 => Repr::EchoRequest { ident, sequence, data },
            Type::ECHO_REPLY if code == 0 => Repr::EchoReply { ident, sequence, data },
            Type::DESTINATION_UNREACHABLE => {
                Repr::DestinationUnreachable { code, next_hop_mtu: sequence, quote: quote()? }
            }
            Type::TIME_EXCEEDED => Repr::TimeExceeded { code, quote: quote()? },
            Type::PARAMETER_PROBLEM => Repr::ParameterProblem { code, pointer: a, quote: quote()? },
            icmp_type => Repr::Other { icmp_type, code, rest, data },
        })
    }

    /// The type that the message has on the wire.
    pub const fn icmp_type(&self) -> Type {
        match self {
            Repr::EchoRequest { .. } => Type::ECHO_REQUEST,
            Repr::EchoReply { .. } => Type::ECHO_REPLY,
            Repr::DestinationUnreachable { .. } => Type::DESTINATION_UNREACHABLE,
            Repr::TimeExceeded { .. } => Type::TIME_EXCEEDED,
            Repr::ParameterProblem { .. } => Type::PARAMETER_PROBLEM,
            Repr::Other { icmp_type, .. } => *icmp_type,
        }
    }

    /// The packet that an error quotes, with its extensions.
    pub const fn quote(&self) -> Option<Quote<'a>> {
        match *self {
            Repr::DestinationUnreachable { quote, .. }
            | Repr::TimeExceeded { quote, .. }
            | Repr::ParameterProblem { quote, .. } => Some(quote),
            _ => None,
        }
    }

    /// Bytes of the whole message.
    pub fn buffer_len(&self) -> usize {
        HEADER_LEN
            + match self {
                Repr::EchoRequest { data, .. } | Repr::EchoReply { data, .. } | Repr::Other { data, .. } => {
                    data.len()
                }
                Repr::DestinationUnreachable { quote, .. }
                | Repr::TimeExceeded { quote, .. }
                | Repr::ParameterProblem { quote, .. } => quote.buffer_len(),
            }
    }

    /// Writes the message and its checksums to `buffer`, of [`Repr::buffer_len`] bytes. Panics if it is shorter.
    pub fn emit(&self, buffer: &mut [u8]) {
        let mut packet = Packet::new_unchecked(&mut buffer[..self.buffer_len()]);
        let echo = |ident: u16, sequence: u16| {
            let ([a, b], [c, d]) = (ident.to_be_bytes(), sequence.to_be_bytes());
            [a, b, c, d]
        };
        let (code, rest) = match *self {
            Repr::EchoRequest { ident, sequence, data } | Repr::EchoReply { ident, sequence, data } => {
                packet.payload_mut().copy_from_slice(data);
                (0, echo(ident, sequence))
            }
            Repr::DestinationUnreachable { code, next_hop_mtu, quote } => {
                let length = quote.emit(FORM, packet.payload_mut());
                (code, echo(length.into(), next_hop_mtu))
            }
            Repr::TimeExceeded { code, quote } => (code, [0, quote.emit(FORM, packet.payload_mut()), 0, 0]),
            Repr::ParameterProblem { code, pointer, quote } => {
                (code, [pointer, quote.emit(FORM, packet.payload_mut()), 0, 0])
            }
            Repr::Other { code, rest, data, .. } => {
                packet.payload_mut().copy_from_slice(data);
                (code, rest)
            }
        };
        packet.set_type(self.icmp_type(), code);
        packet.set_rest(rest);
        packet.fill_checksum();
    }
}
