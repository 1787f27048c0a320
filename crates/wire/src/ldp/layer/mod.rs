//! LDP as a layer of a tree: PDUs with their messages, and these with their parameters. Field names are what users see
//! in Python and JSON.

mod parameter;
#[cfg(test)]
mod tests;

pub use parameter::{LdpFec, LdpParameter};

use super::{HEADER_LEN, Header, LAYER, LdpId, Raw, kind, messages};
use crate::error::{Error, Reason};
use core::fmt::{self, Write};
use core::net::Ipv4Addr;
use serde::{Deserialize, Serialize};

/// The PDUs of a datagram or of a TCP segment. One that goes on in another segment is not among them: its bytes follow
/// as payload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ldp {
    /// The PDUs in their order.
    pub pdus: Vec<LdpPdu>,
}

/// A PDU (RFC 5036, 3.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LdpPdu {
    /// Router id of the sender.
    pub router: Ipv4Addr,
    /// Its label space; zero is that of the whole router.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub label_space: u16,
    /// The messages in their order.
    pub messages: Vec<LdpMessage>,
}

/// A message (RFC 5036, 3.5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LdpMessage {
    /// Its type, by the name of the RFC.
    pub message: MessageType,
    /// The sender's number for it.
    pub id: u32,
    /// What it says, in the order of the wire.
    pub parameters: Vec<LdpParameter>,
}

/// The type of a message: its name in the RFC, or its number with the bit in front of it if it has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum MessageType {
    /// One of RFC 5036, 3.7, or RFC 5561, 4.
    Name(String),
    /// Another.
    Number(u16),
}

fn is_zero(number: &u16) -> bool {
    *number == 0
}

impl Ldp {
    /// Reads whole PDUs from the beginning of a datagram or segment: them, how many bytes they have, and what is wrong
    /// with the next one, if it is malformed. Nothing if there is no whole PDU at the beginning.
    pub(crate) fn read(data: &[u8]) -> Option<(Ldp, usize, Option<Error>)> {
        let (mut pdus, mut at) = (Vec::new(), 0);
        while let Ok(header) = Header::parse(&data[at..], u16::MAX) {
            match LdpPdu::read(&data[at..], header) {
                Ok((pdu, len)) => {
                    pdus.push(pdu);
                    at += len;
                }
                Err(error) => return Some((Ldp { pdus }, at, Some(error.at(at)))),
            }
        }
        (at > 0).then_some((Ldp { pdus }, at, None))
    }

    /// The bytes of all PDUs.
    pub(crate) fn write(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        for pdu in &self.pdus {
            pdu.write(&mut bytes)?;
        }
        Ok(bytes)
    }

    pub(crate) fn summarise(&self, out: &mut String) -> fmt::Result {
        for (place, pdu) in self.pdus.iter().enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            write!(out, "{comma}LDP {}:{}", pdu.router, pdu.label_space)?;
            for (place, message) in pdu.messages.iter().enumerate() {
                write!(out, "{} {}", if place > 0 { "," } else { "" }, message.message)?;
                message.parameters.iter().try_for_each(|parameter| parameter.summarise(out))?;
            }
        }
        Ok(())
    }
}

impl LdpPdu {
    /// Reads a PDU whose header is right, and how many bytes it has.
    fn read(bytes: &[u8], header: Header) -> Result<(LdpPdu, usize), Error> {
        let read = messages(bytes, header).map(|raw| LdpMessage::read(&raw.map_err(|wrong| wrong.error)?));
        let messages = read.collect::<Result<Vec<_>, Error>>()?;
        let LdpId { router, space } = header.id;
        Ok((LdpPdu { router, label_space: space, messages }, 4 + usize::from(header.len)))
    }

    fn write(&self, to: &mut Vec<u8>) -> Result<(), Error> {
        let begin = to.len();
        let [v, w] = super::VERSION.to_be_bytes();
        to.extend([v, w, 0, 0]);
        LdpId { router: self.router, space: self.label_space }.emit(to);
        debug_assert_eq!(to.len() - begin, HEADER_LEN, "a header has ten bytes");
        for message in &self.messages {
            message.write(to)?;
        }
        put_length(to, begin + 2)
    }
}

/// Writes how many bytes there are behind the two of a length, into these.
fn put_length(to: &mut [u8], at: usize) -> Result<(), Error> {
    let found = to.len() - at - 2;
    let too_long = Reason::OutOfRange { field: "length", found: found as u64, min: 0, max: u16::MAX.into() };
    let len = u16::try_from(found).map_err(|_| Error::new(LAYER, at, too_long))?;
    to[at..at + 2].copy_from_slice(&len.to_be_bytes());
    Ok(())
}

impl LdpMessage {
    fn read(raw: &Raw<'_>) -> Result<LdpMessage, Error> {
        let (mut parameters, mut rest) = (Vec::new(), raw.parameters);
        while !rest.is_empty() {
            let at = raw.offset + 8 + raw.parameters.len() - rest.len();
            let short = || Error::invalid(LAYER, at, "a parameter beyond its message");
            let (&[k, i, l, m], behind) = rest.split_first_chunk::<4>().ok_or_else(short)?;
            let len = usize::from(u16::from_be_bytes([l, m]));
            let (value, behind) = behind.split_at_checked(len).ok_or_else(short)?;
            parameters.push(LdpParameter::read(u16::from_be_bytes([k, i]), value));
            rest = behind;
        }
        Ok(LdpMessage { message: MessageType::of(raw.kind), id: raw.id, parameters })
    }

    fn write(&self, to: &mut Vec<u8>) -> Result<(), Error> {
        let begin = to.len();
        to.extend(self.message.number()?.to_be_bytes());
        to.extend([0, 0]);
        to.extend(self.id.to_be_bytes());
        for parameter in &self.parameters {
            let begin = to.len();
            parameter.emit(to)?;
            put_length(to, begin + 2)?;
        }
        put_length(to, begin + 2)
    }
}

impl MessageType {
    fn of(number: u16) -> MessageType {
        let named = kind::ALL.iter().find(|(kind, _)| *kind == number);
        named.map_or(MessageType::Number(number), |(_, name)| MessageType::Name((*name).to_owned()))
    }

    fn number(&self) -> Result<u16, Error> {
        let unknown =
            || Error::invalid(LAYER, HEADER_LEN, "a message has a name of RFC 5036, 3.7, or a number");
        match self {
            MessageType::Name(name) => {
                kind::ALL.iter().find(|(_, known)| known == name).map(|(kind, _)| *kind).ok_or_else(unknown)
            }
            MessageType::Number(number) => Ok(*number),
        }
    }
}

impl fmt::Display for MessageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MessageType::Name(name) => f.write_str(name),
            MessageType::Number(number) => write!(f, "message of type {number:#06x}"),
        }
    }
}
