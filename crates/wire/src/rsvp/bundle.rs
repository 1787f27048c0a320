//! Bundles: whole messages in one (RFC 2961, 3).

use super::class::MessageType;
use super::emit::finish;
use super::error::{Error, Reason};
use super::field::Put;
use super::header::{HEADER_LEN, Header, VERSION};
use super::message::{Bundle, Packet};

impl Bundle {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Bundle, Error> {
        let mut packets = Vec::new();
        for (offset, message) in messages(bytes)? {
            let at = |error: Error| error.within(offset);
            let message = message.map_err(at)?;
            // RFC 2961, 3.2: any message but a Bundle. Looked at first, so that depth is bounded.
            if message.get(1) == Some(&MessageType::Bundle.number()) {
                return Err(at(Error::of_message(1, Reason::Invalid("a bundle in a bundle"))));
            }
            packets.push(Packet::parse(message).map_err(at)?);
        }
        Ok(Bundle { packets })
    }
}

/// The messages in `bytes`, each with its offset: those of a Bundle, or else the one message.
///
/// The outer header is checked, and the checksum of a Bundle. Pass each message to [`Packet::parse`]: a bad one in a
/// Bundle then costs no other. After a message whose end cannot be found, there are no more.
pub fn messages(bytes: &[u8]) -> Result<SubMessages<'_>, Error> {
    let header = Header::parse(bytes)?;
    let message = header.message(bytes);
    if header.message_type != MessageType::Bundle.number() {
        return Ok(SubMessages { message, offset: 0 });
    }
    header.check(message)?;
    Ok(SubMessages { message, offset: HEADER_LEN })
}

/// Iterates over the messages of a Bundle; made by [`messages`].
#[derive(Clone, Debug)]
pub struct SubMessages<'a> {
    message: &'a [u8],
    offset: usize,
}

impl<'a> Iterator for SubMessages<'a> {
    type Item = (usize, Result<&'a [u8], Error>);

    fn next(&mut self) -> Option<Self::Item> {
        let offset = self.offset;
        let rest = self.message.get(offset..).filter(|rest| !rest.is_empty())?;
        let message = Header::parse(rest).map(|header| header.message(rest));
        self.offset = message.map_or(self.message.len(), |message| offset + message.len());
        Some((offset, message))
    }
}

/// Appends a Bundle of messages that have been emitted, and signed if need be; on error `out` is as before.
pub fn emit_bundle<'a>(
    flags: u8,
    send_ttl: u8,
    messages: impl IntoIterator<Item = &'a [u8]>,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let start = out.len();
    out.bytes(&[VERSION << 4 | flags & 0x0f, MessageType::Bundle.number(), 0, 0, send_ttl, 0, 0, 0]);
    for message in messages {
        out.bytes(message);
    }
    let result = finish(start, out);
    if result.is_err() {
        out.truncate(start);
    }
    result
}
