//! Bundle messages (RFC 2961, 3): gathering messages to one neighbour, and putting them under one header.
//!
//! ```text
//! +-------------+-------------+-------------+-------------+
//! | Vers | Flags|  Msg type   |       RSVP checksum       |
//! +-------------+-------------+-------------+-------------+
//! |  Send_TTL   | (Reserved)  |        RSVP length        |
//! +-------------+-------------+-------------+-------------+
//! |               Variable length sub-messages            |
//! ```

use super::codec;
use super::types::Envelope;
use base::Time;

/// Bytes of the bundle header.
pub(super) const HEADER: usize = 8;

/// Messages that wait to be sent together.
#[derive(Default)]
pub(super) struct Buffer {
    /// The messages; room for the header is made before them when there is more than one.
    bytes: Vec<u8>,
    count: usize,
    /// The IP header of the first: it is used if there is no other.
    first: Option<Envelope>,
    /// When to send them; nothing if that is seen to otherwise.
    pub(super) at: Option<Time>,
}

/// What was in a buffer.
pub(super) enum Contents {
    /// One message goes as it is.
    Alone(Envelope, Vec<u8>),
    /// More than one go in a Bundle.
    Bundle(Vec<u8>),
}

impl Buffer {
    /// Is nothing in it?
    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }
    /// Bytes that it holds, with the header.
    pub(super) const fn len(&self) -> usize {
        if self.count == 1 { HEADER + self.bytes.len() } else { self.bytes.len() }
    }
    /// When it is to be emptied.
    pub(super) const fn next(&self) -> Option<Time> {
        self.at
    }
    /// Adds a message. Gives back memory that is not needed.
    pub(super) fn push(&mut self, envelope: Envelope, message: Vec<u8>) -> Vec<u8> {
        self.count += 1;
        if self.count == 1 {
            self.first = Some(envelope);
            return core::mem::replace(&mut self.bytes, message);
        }
        if self.count == 2 {
            self.bytes.splice(..0, [0; HEADER]);
        }
        self.bytes.extend_from_slice(&message);
        message
    }
    /// Takes out what waits, as a Bundle or, if it is one message, as that message; nothing if the buffer is empty.
    pub(super) fn take(&mut self, flags: u8, ttl: u8) -> Option<Contents> {
        let Buffer { mut bytes, count, first, .. } = core::mem::take(self);
        let envelope = first?;
        if count == 1 {
            return Some(Contents::Alone(envelope, bytes));
        }
        codec::bundle_header(&mut bytes, flags, ttl);
        Some(Contents::Bundle(bytes))
    }
}
