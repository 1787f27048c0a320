//! ICMPv6 messages as values.

use super::{FORM, HEADER_LEN, Packet, Quote, Type};
use crate::error::Error;
use crate::nd;
use core::net::Ipv6Addr;

/// A message as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Repr<'a> {
    /// A packet could not be delivered.
    DestinationUnreachable {
        /// Why; one of [`super::unreachable`].
        code: u8,
        /// The packet that could not be delivered, from its IPv6 header on.
        quote: Quote<'a>,
    },
    /// A packet is longer than the next link takes, and only its source may cut it (RFC 8200, 5).
    PacketTooBig {
        /// The MTU of the next link, in bytes.
        mtu: u32,
        /// The packet that was too long, from its IPv6 header on.
        quote: &'a [u8],
    },
    /// A packet's hop limit ran out, or fragments did not arrive in time.
    TimeExceeded {
        /// Which; one of [`super::time_exceeded`].
        code: u8,
        /// The packet that was dropped, from its IPv6 header on.
        quote: Quote<'a>,
    },
    /// A header or option can't be understood.
    ParameterProblem {
        /// What; one of [`super::parameter_problem`].
        code: u8,
        /// The byte at fault, counted from the start of the IPv6 header.
        pointer: u32,
        /// The packet that could not be understood, from its IPv6 header on.
        quote: &'a [u8],
    },
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
    /// A message of neighbour discovery.
    Discovery(nd::Repr<'a>),
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
    /// Reads a message between these addresses; its checksum must be right.
    pub fn parse<T: AsRef<[u8]> + ?Sized>(
        packet: &Packet<&'a T>,
        src: Ipv6Addr,
        dst: Ipv6Addr,
    ) -> Result<Repr<'a>, Error> {
        packet.verify_checksum(src, dst)?;
        Repr::parse_unverified(packet)
    }

    /// Reads a message whatever its checksum. Unused bytes are ignored.
    pub fn parse_unverified<T: AsRef<[u8]> + ?Sized>(packet: &Packet<&'a T>) -> Result<Repr<'a>, Error> {
        let data = &packet.buffer.as_ref()[HEADER_LEN..];
        let (icmp_type, code, rest) = (packet.icmp_type(), packet.code(), packet.rest());
        let [a, b, c, d] = rest;
        let (ident, sequence) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        Ok(match icmp_type {
            Type::DESTINATION_UNREACHABLE => {
                Repr::DestinationUnreachable { code, quote: Quote::parse(FORM, a, data)? }
            }
            Type::PACKET_TOO_BIG => Repr::PacketTooBig { mtu: u32::from_be_bytes(rest), quote: data },
            Type::TIME_EXCEEDED => Repr::TimeExceeded { code, quote: Quote::parse(FORM, a, data)? },
            Type::PARAMETER_PROBLEM => {
                Repr::ParameterProblem { code, pointer: u32::from_be_bytes(rest), quote: data }
            }
            Type::ECHO_REQUEST if code == 0 => Repr::EchoRequest { ident, sequence, data },
            Type::ECHO_REPLY if code == 0 => Repr::EchoReply { ident, sequence, data },
            icmp_type if icmp_type.is_discovery() && code == 0 => {
                Repr::Discovery(nd::Repr::parse(icmp_type, rest, data)?)
            }
            icmp_type => Repr::Other { icmp_type, code, rest, data },
        })
    }

    /// The type that the message has on the wire.
    pub const fn icmp_type(&self) -> Type {
        match self {
            Repr::DestinationUnreachable { .. } => Type::DESTINATION_UNREACHABLE,
            Repr::PacketTooBig { .. } => Type::PACKET_TOO_BIG,
            Repr::TimeExceeded { .. } => Type::TIME_EXCEEDED,
            Repr::ParameterProblem { .. } => Type::PARAMETER_PROBLEM,
            Repr::EchoRequest { .. } => Type::ECHO_REQUEST,
            Repr::EchoReply { .. } => Type::ECHO_REPLY,
            Repr::Discovery(message) => message.icmp_type(),
            Repr::Other { icmp_type, .. } => *icmp_type,
        }
    }

    /// The packet that an error quotes, with its extensions.
    pub const fn quote(&self) -> Option<Quote<'a>> {
        match *self {
            Repr::DestinationUnreachable { quote, .. } | Repr::TimeExceeded { quote, .. } => Some(quote),
            Repr::PacketTooBig { quote, .. } | Repr::ParameterProblem { quote, .. } => {
                Some(Quote { original: quote, objects: &[], without_length: false })
            }
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
                Repr::DestinationUnreachable { quote, .. } | Repr::TimeExceeded { quote, .. } => {
                    quote.len_in(FORM)
                }
                Repr::PacketTooBig { quote, .. } | Repr::ParameterProblem { quote, .. } => quote.len(),
                Repr::Discovery(message) => message.payload_len(),
            }
    }

    /// Writes the message and its checksums, between these addresses, to `buffer`, of [`Repr::buffer_len`] bytes.
    /// Panics if it is shorter.
    pub fn emit(&self, src: Ipv6Addr, dst: Ipv6Addr, buffer: &mut [u8]) {
        let mut packet = Packet::new_unchecked(&mut buffer[..self.buffer_len()]);
        let (code, rest) = match *self {
            Repr::DestinationUnreachable { code, quote } | Repr::TimeExceeded { code, quote } => {
                (code, [quote.emit(FORM, packet.payload_mut()), 0, 0, 0])
            }
            Repr::PacketTooBig { mtu, quote } => {
                packet.payload_mut().copy_from_slice(quote);
                (0, mtu.to_be_bytes())
            }
            Repr::ParameterProblem { code, pointer, quote } => {
                packet.payload_mut().copy_from_slice(quote);
                (code, pointer.to_be_bytes())
            }
            Repr::EchoRequest { ident, sequence, data } | Repr::EchoReply { ident, sequence, data } => {
                packet.payload_mut().copy_from_slice(data);
                let ([a, b], [c, d]) = (ident.to_be_bytes(), sequence.to_be_bytes());
                (0, [a, b, c, d])
            }
            Repr::Discovery(message) => (0, message.emit(packet.payload_mut())),
            Repr::Other { code, rest, data, .. } => {
                packet.payload_mut().copy_from_slice(data);
                (code, rest)
            }
        };
        packet.set_type(self.icmp_type(), code);
        packet.set_rest(rest);
        packet.fill_checksum(src, dst);
    }
}
