//! PDUs: a header, and messages behind it (RFC 5036, 3.1 and 3.5).

use super::{Malformed, Message, Status};
use core::fmt;
use core::net::Ipv4Addr;

/// The version that there is (RFC 5036, 3.1).
pub const VERSION: u16 = 1;
/// Bytes in front of the first message.
pub const HEADER_LEN: usize = 10;
/// What a PDU has at least behind its length: an identifier and a message (RFC 5036, 3.5.1.2.1).
pub const LEAST_PDU: u16 = 14;
/// What a PDU has at most behind its length, unless both ends have agreed on less (RFC 5036, 3.1).
pub const DEFAULT_MAX_PDU: u16 = 4096;
/// Bytes that most PDUs with one message have room in.
const USUAL_PDU: usize = 64;
/// Bytes of version and length, which the length does not count.
const PREAMBLE: usize = 4;

/// Types of messages (RFC 5036, 3.7).
pub mod kind {
    /// Notification (3.5.1).
    pub const NOTIFICATION: u16 = 0x0001;
    /// Hello (3.5.2).
    pub const HELLO: u16 = 0x0100;
    /// Initialization (3.5.3).
    pub const INITIALIZATION: u16 = 0x0200;
    /// `KeepAlive` (3.5.4).
    pub const KEEP_ALIVE: u16 = 0x0201;
    /// Capability (RFC 5561, 4).
    pub const CAPABILITY: u16 = 0x0202;
    /// Address (3.5.5).
    pub const ADDRESS: u16 = 0x0300;
    /// Address Withdraw (3.5.6).
    pub const ADDRESS_WITHDRAW: u16 = 0x0301;
    /// Label Mapping (3.5.7).
    pub const LABEL_MAPPING: u16 = 0x0400;
    /// Label Request (3.5.8).
    pub const LABEL_REQUEST: u16 = 0x0401;
    /// Label Withdraw (3.5.10).
    pub const LABEL_WITHDRAW: u16 = 0x0402;
    /// Label Release (3.5.11).
    pub const LABEL_RELEASE: u16 = 0x0403;
    /// Label Abort Request (3.5.9).
    pub const LABEL_ABORT_REQUEST: u16 = 0x0404;

    /// All of them, with their names.
    pub const ALL: &[(u16, &str)] = &[
        (NOTIFICATION, "Notification"),
        (HELLO, "Hello"),
        (INITIALIZATION, "Initialization"),
        (KEEP_ALIVE, "KeepAlive"),
        (ADDRESS, "Address"),
        (ADDRESS_WITHDRAW, "Address Withdraw"),
        (LABEL_MAPPING, "Label Mapping"),
        (LABEL_REQUEST, "Label Request"),
        (LABEL_WITHDRAW, "Label Withdraw"),
        (LABEL_RELEASE, "Label Release"),
        (LABEL_ABORT_REQUEST, "Label Abort Request"),
        (CAPABILITY, "Capability"),
    ];
}

/// Names a label space of a router (RFC 5036, 2.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LdpId {
    /// The router: its router id.
    pub router: Ipv4Addr,
    /// The label space; zero for the one of the whole platform.
    pub space: u16,
}

impl LdpId {
    /// The label space of a whole router.
    pub const fn platform(router: Ipv4Addr) -> LdpId {
        LdpId { router, space: 0 }
    }

    /// From its six bytes.
    pub(super) fn read(bytes: [u8; 6]) -> LdpId {
        let [a, b, c, d, e, f] = bytes;
        LdpId { router: Ipv4Addr::new(a, b, c, d), space: u16::from_be_bytes([e, f]) }
    }

    pub(super) fn emit(self, to: &mut Vec<u8>) {
        let ([a, b, c, d], [e, f]) = (self.router.octets(), self.space.to_be_bytes());
        to.extend_from_slice(&[a, b, c, d, e, f]);
    }
}

impl fmt::Display for LdpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.router, self.space)
    }
}

/// What is in front of the messages of a PDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bytes behind version and length.
    pub len: u16,
    /// Who sends it, and for which label space.
    pub id: LdpId,
}

impl Header {
    /// Reads the header of a PDU that has at most so many bytes behind its length. The checks are in the order in which
    /// the bytes come.
    pub fn parse(bytes: &[u8], max: u16) -> Result<Header, Malformed> {
        let Some(&[v, w, l, m]) = bytes.first_chunk::<PREAMBLE>() else {
            return Err(Malformed::new(Status::BadPduLength, bytes.len(), "no version and length"));
        };
        if u16::from_be_bytes([v, w]) != VERSION {
            return Err(Malformed::new(Status::BadProtocolVersion, 0, "the version is not 1"));
        }
        let len = u16::from_be_bytes([l, m]);
        if len < LEAST_PDU {
            return Err(Malformed::new(Status::BadPduLength, 2, "a PDU without room for a message"));
        }
        if len > max {
            return Err(Malformed::new(Status::BadPduLength, 2, "a PDU that is longer than the longest"));
        }
        let Some(id) = bytes.get(PREAMBLE..HEADER_LEN).and_then(|id| <[u8; 6]>::try_from(id).ok()) else {
            return Err(Malformed::new(Status::BadPduLength, 2, "a PDU that ends within its header"));
        };
        if bytes.len() < PREAMBLE + usize::from(len) {
            return Err(Malformed::new(Status::BadPduLength, 2, "a PDU that ends before its end"));
        }
        Ok(Header { len, id: LdpId::read(id) })
    }

    /// Bytes of the first PDU of a stream, if they can be known: nothing as long as it is not all there. One whose
    /// header is wrong ends where the stream does, so that it is found to be wrong.
    pub fn message_len(stream: &[u8]) -> Option<usize> {
        let &[v, w, l, m] = stream.first_chunk::<PREAMBLE>()?;
        let len = u16::from_be_bytes([l, m]);
        let is_wrong = u16::from_be_bytes([v, w]) != VERSION || !(LEAST_PDU..=DEFAULT_MAX_PDU).contains(&len);
        let whole = PREAMBLE + usize::from(len);
        match is_wrong {
            true => Some(stream.len()),
            false => (stream.len() >= whole).then_some(whole),
        }
    }
}

/// A message whose parameters were not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw<'a> {
    /// Its type, with the bit that says that it may be left out if nobody knows it.
    pub kind: u16,
    /// The sender's number for it.
    pub id: u32,
    /// Its parameters.
    pub parameters: &'a [u8],
    /// Where it begins in its PDU.
    pub offset: usize,
}

/// The messages of a PDU whose header is right. After one that is malformed there is none.
pub fn messages(pdu: &[u8], header: Header) -> impl Iterator<Item = Result<Raw<'_>, Malformed>> {
    let end = (PREAMBLE + usize::from(header.len)).min(pdu.len());
    let (mut at, bytes) = (HEADER_LEN, &pdu[..end]);
    core::iter::from_fn(move || {
        let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
        let offset = at;
        let bad = |clause| Malformed::new(Status::BadMessageLength, offset, clause);
        let Some(&[k, i, l, m]) = rest.first_chunk::<4>() else {
            at = end;
            return Some(Err(bad("a message that ends before its length")));
        };
        let (kind, len) = (u16::from_be_bytes([k, i]), usize::from(u16::from_be_bytes([l, m])));
        let body = rest.get(4..4 + len).and_then(<[u8]>::split_first_chunk::<4>);
        let Some((id, parameters)) = body else {
            at = end;
            let clause = if len < 4 { "a message without a number" } else { "a message beyond its PDU" };
            let id = rest.get(4..8).and_then(|id| id.try_into().ok()).map_or(0, u32::from_be_bytes);
            return Some(Err(Malformed { message_id: id, message_type: kind, ..bad(clause) }));
        };
        at += 4 + len;
        Some(Ok(Raw { kind, id: u32::from_be_bytes(*id), parameters, offset }))
    })
}

/// PDUs that carry messages in their order, as few as there can be. A message that is longer than a PDU may be has one
/// of its own.
pub fn pdus<'a>(id: LdpId, all: impl IntoIterator<Item = &'a Message>, max: u16) -> Vec<Vec<u8>> {
    let mut made: Vec<Vec<u8>> = Vec::new();
    let most = PREAMBLE + usize::from(max);
    let begin = |first: &[u8]| {
        let mut pdu = Vec::with_capacity(USUAL_PDU.max(HEADER_LEN + first.len()));
        let [v, w] = VERSION.to_be_bytes();
        pdu.extend_from_slice(&[v, w, 0, 0]);
        id.emit(&mut pdu);
        pdu.extend_from_slice(first);
        pdu
    };
    for message in all {
        if made.is_empty() {
            made.push(begin(&[]));
        }
        let Some(pdu) = made.last_mut() else { break };
        let before = pdu.len();
        message.emit(pdu);
        if pdu.len() > most && before > HEADER_LEN {
            let next = begin(&pdu[before..]);
            pdu.truncate(before);
            made.push(next);
        }
    }
    for pdu in &mut made {
        let len = u16::try_from(pdu.len() - PREAMBLE).unwrap_or(u16::MAX);
        pdu[2..4].copy_from_slice(&len.to_be_bytes());
    }
    made
}
