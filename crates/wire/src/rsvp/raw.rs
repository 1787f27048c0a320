//! Messages as people look at them: every object in its place, JSON in and out, the same bytes again.

use super::class::MessageType;
use super::error::{Error, Reason};
use super::field::Put;
use super::header::{HEADER_LEN, Header, Objects, VERSION, checksum};
use super::object::Object;
use serde::{Deserialize, Serialize};

/// A message of any type. `decode` then `encode` gives the same bytes, for every message whose objects can be
/// delimited: damaged checksums, reserved fields and unknown objects are kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawMessage {
    /// Four bits, those of the common header.
    pub flags: u8,
    /// Msg Type of the common header.
    pub message_type: RawType,
    /// `None` for the right one, which is computed on encoding; zero for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<u16>,
    /// The IP TTL with which the message was sent.
    pub send_ttl: u8,
    /// The reserved byte of the header.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reserved: u8,
    /// What follows the header.
    #[serde(flatten)]
    pub body: RawBody,
}

/// A type by its name, or by its number if it has none here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RawType {
    /// A type with a name.
    Known(MessageType),
    /// The number of a type without a name.
    Other(u8),
}

/// What follows the header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RawBody {
    /// Objects in the order of their bytes.
    #[serde(rename = "objects")]
    Objects(Vec<Object>),
    /// The messages in a Bundle (RFC 2961, 3.2).
    #[serde(rename = "messages")]
    Messages(Vec<RawMessage>),
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(byte: &u8) -> bool {
    *byte == 0
}

impl RawType {
    /// The number on the wire.
    pub const fn number(self) -> u8 {
        match self {
            RawType::Known(known) => known.number(),
            RawType::Other(number) => number,
        }
    }
}

impl RawMessage {
    /// Reads a message; bytes beyond its length are left alone.
    pub fn decode(bytes: &[u8]) -> Result<RawMessage, Error> {
        RawMessage::decode_nested(bytes, true)
    }

    fn decode_nested(bytes: &[u8], bundles: bool) -> Result<RawMessage, Error> {
        let header = Header::parse(bytes)?;
        let message = header.message(bytes);
        let kind = MessageType::of(header.message_type);
        let body = if kind == Some(MessageType::Bundle) {
            if !bundles {
                return Err(Error::of_message(1, Reason::Invalid("a bundle in a bundle")));
            }
            RawBody::Messages(decode_bundle(message)?)
        } else {
            let mut objects = Vec::with_capacity(Objects::of(message).count());
            for object in Objects::of(message) {
                let object = object?;
                objects.push(Object::decode(object.class, object.c_type, object.body));
            }
            RawBody::Objects(objects)
        };
        Ok(RawMessage {
            flags: header.flags,
            message_type: kind.map_or(RawType::Other(header.message_type), RawType::Known),
            checksum: (header.checksum != checksum(message)).then_some(header.checksum),
            send_ttl: header.send_ttl,
            reserved: header.reserved,
            body,
        })
    }

    /// Appends the message to `out`; on error `out` is as before.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        let start = out.len();
        let result = self.encode_at(start, out);
        if result.is_err() {
            out.truncate(start);
        }
        result
    }

    fn encode_at(&self, start: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        if self.flags > 0x0f {
            return Err(Error::of_message(0, Reason::Invalid("flags have more than four bits")));
        }
        out.bytes(&[VERSION << 4 | self.flags, self.message_type.number(), 0, 0]);
        out.bytes(&[self.send_ttl, self.reserved, 0, 0]);
        match &self.body {
            RawBody::Objects(objects) => {
                for object in objects {
                    let offset = out.len() - start;
                    object.emit(out).map_err(|fault| Error::of_message(offset, fault.reason))?;
                }
            }
            RawBody::Messages(messages) => {
                for message in messages {
                    let offset = out.len() - start;
                    if matches!(message.body, RawBody::Messages(_)) {
                        return Err(Error::of_message(offset, Reason::Invalid("a bundle in a bundle")));
                    }
                    message
                        .encode_at(out.len(), out)
                        .map_err(|error| Error { offset: error.offset + offset, ..error })?;
                }
            }
        }
        let length = u16::try_from(out.len() - start).map_err(|_| Error::of_message(6, Reason::TooLong))?;
        out.patch(start + 6, length);
        let message = out.get(start..).unwrap_or(&[]);
        let checksum = self.checksum.unwrap_or_else(|| checksum(message));
        out.patch(start + 2, checksum);
        Ok(())
    }
}

fn decode_bundle(message: &[u8]) -> Result<Vec<RawMessage>, Error> {
    let mut messages = Vec::new();
    let mut rest = message.get(HEADER_LEN..).unwrap_or(&[]);
    while !rest.is_empty() {
        let offset = message.len() - rest.len();
        let header = Header::parse(rest).map_err(|error| Error { offset: error.offset + offset, ..error })?;
        let inner = RawMessage::decode_nested(header.message(rest), false)
            .map_err(|error| Error { offset: error.offset + offset, ..error })?;
        messages.push(inner);
        rest = rest.get(usize::from(header.length)..).unwrap_or(&[]);
    }
    Ok(messages)
}
