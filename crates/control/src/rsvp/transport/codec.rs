//! Between typed messages and bytes: emission, signatures, bundle headers, and who sent a message.

use std::net::{IpAddr, Ipv4Addr};
use wire::rsvp::{Error, Integrity, Message, MessageType, Packet, SubMessages, header, integrity};

/// Memory of messages that have been sent, for those to come.
#[derive(Default)]
pub(super) struct Spare(Vec<Vec<u8>>);

/// How many are kept, and the longest that is.
const SPARE_MAX: usize = 64;
const SPARE_BYTES: usize = 4096;

impl Spare {
    /// Memory for a message.
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.0.pop().unwrap_or_default()
    }
    /// Keeps memory that is not needed any more.
    pub(super) fn keep(&mut self, mut bytes: Vec<u8>) {
        if self.0.len() < SPARE_MAX && (1..=SPARE_BYTES).contains(&bytes.capacity()) {
            bytes.clear();
            self.0.push(bytes);
        }
    }
}

/// The bytes of a message; nothing if it is too long to be one.
pub(super) fn emit(flags: u8, ttl: u8, message: &Message) -> Option<Vec<u8>> {
    emit_into(Vec::new(), flags, ttl, message)
}

/// The bytes of a message, in memory that is empty.
pub(super) fn emit_into(mut bytes: Vec<u8>, flags: u8, ttl: u8, message: &Message) -> Option<Vec<u8>> {
    message.emit(flags, ttl, &mut bytes).ok()?;
    Some(bytes)
}

/// The same message with an INTEGRITY object under `secret` (RFC 2747, 4.1).
pub(super) fn sign(bytes: &[u8], object: Integrity, secret: &[u8]) -> Option<Vec<u8>> {
    let mut packet = Packet::parse(bytes).ok()?;
    packet.message.common_mut()?.integrity = Some(object);
    let mut signed = Vec::with_capacity(bytes.len() + super::summary::INTEGRITY_BYTES);
    packet.emit(&mut signed).ok()?;
    integrity::sign(secret, &mut signed).ok()?;
    Some(signed)
}

/// The same message without its MESSAGE_ID.
pub(super) fn without_id(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut packet = Packet::parse(bytes).ok()?;
    packet.message.common_mut()?.message_id = None;
    let mut bare = Vec::with_capacity(bytes.len());
    packet.emit(&mut bare).ok()?;
    Some(bare)
}

/// Is the digest in the INTEGRITY object that of the message under `secret`?
pub(super) fn verify(bytes: &[u8], secret: &[u8]) -> bool {
    header::Header::parse(bytes).is_ok_and(|header| integrity::verify(secret, header.message(bytes)).is_ok())
}

/// Writes the header of a Bundle before its messages (RFC 2961, 3.1).
pub(super) fn bundle_header(bytes: &mut [u8], flags: u8, ttl: u8) {
    debug_assert!(bytes.len() <= usize::from(u16::MAX), "a Bundle of {} bytes", bytes.len());
    let [.., high, low] = bytes.len().to_be_bytes();
    let first = header::VERSION << 4 | flags;
    let head = [first, MessageType::Bundle.number(), 0, 0, ttl, 0, high, low];
    if let Some(place) = bytes.first_chunk_mut() {
        *place = head;
    }
    let checksum = header::checksum(bytes).to_be_bytes();
    if let Some(place) = bytes.get_mut(2..4) {
        place.copy_from_slice(&checksum);
    }
}

/// Do the bytes begin with the header of a Bundle?
pub(super) fn is_bundle(bytes: &[u8]) -> bool {
    bytes.get(1) == Some(&MessageType::Bundle.number())
}

/// Send_TTL of the header that the bytes begin with.
pub(super) fn send_ttl(bytes: &[u8]) -> u8 {
    bytes.get(4).copied().unwrap_or(0)
}

/// The messages of a Bundle, one by one, with their offsets.
pub(super) fn sub_messages(bytes: &[u8]) -> Result<SubMessages<'_>, Error> {
    wire::rsvp::messages(bytes)
}

/// The node that generated the MESSAGE_ID of a message: what RSVP_HOP says, if there is one (RFC 2961, 4.5).
pub(super) fn hop(message: &Message) -> Option<Ipv4Addr> {
    let hop = match message {
        Message::Path(m) => &m.hop,
        Message::Resv(m) => &m.hop,
        Message::ResvErr(m) => &m.hop,
        Message::PathTear(m) => &m.hop,
        Message::ResvTear(m) => &m.hop,
        _ => return None,
    };
    match hop.address {
        IpAddr::V4(address) => Some(address),
        IpAddr::V6(_) => None,
    }
}

/// Is the message the transport's own business?
pub(super) const fn is_control(message: &Message) -> bool {
    matches!(
        message,
        Message::Bundle(_)
            | Message::Ack(_)
            | Message::Srefresh(_)
            | Message::Hello(_)
            | Message::IntegrityChallenge(_)
            | Message::IntegrityResponse(_)
    )
}
