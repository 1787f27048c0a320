//! The header in front of every message, and messages.

use super::notification::{Code, Notification};
use super::{Malformed, Open, Terms, Update};
use crate::error::{Error, Reason};
use crate::hex::Hex;

/// Bytes of the header: marker, length, type (RFC 4271, 4.1).
pub const HEADER_LEN: usize = 19;
/// Bytes of the longest message, header included (RFC 4271, 4.1).
pub const MAX_LEN: usize = 4096;

/// Types of messages.
pub mod kind {
    /// OPEN (RFC 4271, 4.2).
    pub const OPEN: u8 = 1;
    /// UPDATE (RFC 4271, 4.3).
    pub const UPDATE: u8 = 2;
    /// NOTIFICATION (RFC 4271, 4.5).
    pub const NOTIFICATION: u8 = 3;
    /// KEEPALIVE (RFC 4271, 4.4).
    pub const KEEPALIVE: u8 = 4;
    /// ROUTE-REFRESH (RFC 2918, 3).
    pub const ROUTE_REFRESH: u8 = 5;

    /// All types, with their names in tables.
    pub const ALL: &[(u8, &str)] = &[
        (OPEN, "open"),
        (UPDATE, "update"),
        (NOTIFICATION, "notification"),
        (KEEPALIVE, "keepalive"),
        (ROUTE_REFRESH, "route-refresh"),
    ];
}

/// A wish to be told all routes of a family again (RFC 2918, 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refresh {
    /// Address family identifier.
    pub afi: u16,
    /// Subsequent address family identifier.
    pub safi: u8,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// How the sender wants the session.
    Open(Open),
    /// Routes that come and go.
    Update(Box<Update>),
    /// The session ends.
    Notification(Notification),
    /// The session goes on.
    KeepAlive,
    /// All routes of a family are wanted again.
    RouteRefresh(Refresh),
}

/// Bytes of the first message in what a stream has brought, or nothing as long as it is not all there. A header that
/// can't be one is a message by itself, which [`Message::parse`] refuses.
pub fn message_len(stream: &[u8]) -> Option<usize> {
    let header: &[u8; HEADER_LEN] = stream.first_chunk()?;
    let len = usize::from(u16::from_be_bytes([header[16], header[17]]));
    let is_one = header[..16] == [0xff; 16] && (HEADER_LEN..=MAX_LEN).contains(&len);
    let len = if is_one { len } else { HEADER_LEN };
    (stream.len() >= len).then_some(len)
}

impl Message {
    /// Reads a whole message: `bytes` are as many as [`message_len`] says.
    pub fn parse(bytes: &[u8], terms: &Terms) -> Result<Message, Malformed> {
        let Some(header) = bytes.first_chunk::<HEADER_LEN>() else {
            return Err(Malformed::new(Code::BadLength, &[], bytes.len(), "no room for a header"));
        };
        if header[..16] != [0xff; 16] {
            return Err(Malformed::new(Code::NotSynchronized, &[], 0, "a marker that is not all ones"));
        }
        let (body, kind) = (&bytes[HEADER_LEN..], header[18]);
        // RFC 4271, 6.1: the least length of each type, and what goes back is the length at fault.
        let (least, most) = match kind {
            kind::OPEN => (29, MAX_LEN),
            kind::UPDATE => (23, MAX_LEN),
            kind::NOTIFICATION => (21, MAX_LEN),
            kind::ROUTE_REFRESH => (23, 23),
            _ => (HEADER_LEN, HEADER_LEN),
        };
        let is_known = kind::ALL.iter().any(|(known, _)| *known == kind);
        if !is_known {
            return Err(Malformed::new(Code::BadType, &[kind], 18, "a type of message that is not known"));
        }
        let len = usize::from(u16::from_be_bytes([header[16], header[17]]));
        if len != bytes.len() || !(least..=most).contains(&len) {
            let clause = "a length that messages of this type don't have";
            return Err(Malformed::new(Code::BadLength, &header[16..18], 16, clause));
        }
        Ok(match kind {
            kind::OPEN => Message::Open(Open::parse(body)?),
            kind::UPDATE => Message::Update(Box::new(Update::parse(body, terms)?)),
            kind::NOTIFICATION => Message::Notification(Notification {
                code: body[0],
                subcode: body[1],
                data: Hex(body[2..].to_vec()),
            }),
            kind::ROUTE_REFRESH => {
                Message::RouteRefresh(Refresh { afi: u16::from_be_bytes([body[0], body[1]]), safi: body[3] })
            }
            _ => Message::KeepAlive,
        })
    }

    /// Its type.
    pub const fn kind(&self) -> u8 {
        match self {
            Message::Open(_) => kind::OPEN,
            Message::Update(_) => kind::UPDATE,
            Message::Notification(_) => kind::NOTIFICATION,
            Message::KeepAlive => kind::KEEPALIVE,
            Message::RouteRefresh(_) => kind::ROUTE_REFRESH,
        }
    }

    /// Writes it; an error if it is longer than [`MAX_LEN`].
    pub fn emit(&self, terms: &Terms) -> Result<Vec<u8>, Error> {
        let mut to = vec![0xff; 16];
        to.extend([0, 0, self.kind()]);
        match self {
            Message::Open(open) => open.emit(&mut to)?,
            Message::Update(update) => update.emit(&mut to, terms),
            Message::Notification(why) => {
                to.extend([why.code, why.subcode]);
                to.extend(&why.data.0);
            }
            Message::KeepAlive => {}
            Message::RouteRefresh(refresh) => {
                to.extend(refresh.afi.to_be_bytes());
                to.extend([0, refresh.safi]);
            }
        }
        let len = u16::try_from(to.len()).ok().filter(|len| usize::from(*len) <= MAX_LEN);
        let too_long = Reason::OutOfRange {
            field: "length",
            found: to.len() as u64,
            min: HEADER_LEN as u64,
            max: MAX_LEN as u64,
        };
        let len = len.ok_or(Error::new(super::LAYER, 16, too_long))?;
        to[16..18].copy_from_slice(&len.to_be_bytes());
        Ok(to)
    }
}
