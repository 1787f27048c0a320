//! What has been counted.

use super::faults::Faults;
use std::collections::BTreeMap;
use wire::rsvp::{MessageType, error_code};

/// Why a received message, or a part of it, had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Discard {
    /// It could not be read.
    Malformed,
    /// A message of this type has no business here.
    UnexpectedType,
    /// It came by a port that does not speak RSVP, or that is down.
    NotAnInterface,
    /// An object of a class or C-Type that is to be rejected (RFC 2205, 3.10).
    UnknownObject,
    /// Not about an LSP tunnel over IPv4.
    NotAnLspTunnel,
    /// It says of itself that this router sent it.
    OwnMessage,
    /// There is no such LSP.
    NoState,
    /// It came from another neighbour than the state did.
    WrongHop,
    /// Overtaken by a later message (RFC 2961, 4.5).
    OutOfOrder,
    /// A bound of the configuration would be exceeded.
    Limit,
    /// The recorded route comes round to this router (RFC 3209, 4.4.4).
    Loop,
    /// The time to live is over.
    TtlExpired,
    /// Answered by a PathErr or ResvErr.
    Refused,
}

/// Kinds of errors (code and value) that are counted by themselves; bounded, since neighbours choose what they send.
const KINDS: usize = 1024;

fn count(errors: &mut BTreeMap<(u8, u16), u64>, code: u8, value: u16) {
    let full = errors.len() >= KINDS && !errors.contains_key(&(code, value));
    *errors.entry(if full { (u8::MAX, u16::MAX) } else { (code, value) }).or_default() += 1;
}

/// Messages and errors counted. Of errors beyond 1024 kinds all others count as code 255, value 65535.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    sent: [u64; 32],
    received: [u64; 32],
    discarded: BTreeMap<Discard, u64>,
    errors_sent: BTreeMap<(u8, u16), u64>,
    errors_received: BTreeMap<(u8, u16), u64>,
    /// Path states and reservations that were not refreshed in time.
    pub expired: u64,
    /// Reservations that lost their bandwidth here to an LSP of higher priority (RFC 3209, 4.7.3).
    pub preempted: u64,
    /// ResvConfs that reached this router as the receiver that asked.
    pub confirmed: u64,
    /// Messages that were never acknowledged, however often they were sent.
    pub unacknowledged: u64,
    /// Invariants that did not hold above the transport.
    pub faults: Faults,
}

impl Counters {
    pub(super) fn sent(&mut self, kind: MessageType) {
        self.sent[usize::from(kind.number()) & 31] += 1;
    }
    pub(super) fn received(&mut self, kind: MessageType) {
        self.received[usize::from(kind.number()) & 31] += 1;
    }
    pub(super) fn discard(&mut self, why: Discard) {
        *self.discarded.entry(why).or_default() += 1;
    }
    pub(super) fn error_sent(&mut self, code: u8, value: u16) {
        count(&mut self.errors_sent, code, value);
    }
    pub(super) fn error_received(&mut self, code: u8, value: u16) {
        count(&mut self.errors_received, code, value);
    }

    /// Messages of a type sent.
    pub fn messages_sent(&self, kind: MessageType) -> u64 {
        self.sent[usize::from(kind.number()) & 31]
    }
    /// Messages of a type received.
    pub fn messages_received(&self, kind: MessageType) -> u64 {
        self.received[usize::from(kind.number()) & 31]
    }
    /// Messages that had no effect, by reason.
    pub fn discarded(&self) -> impl Iterator<Item = (Discard, u64)> + '_ {
        self.discarded.iter().map(|(&why, &count)| (why, count))
    }
    /// Messages that had no effect for one reason.
    pub fn discarded_for(&self, why: Discard) -> u64 {
        self.discarded.get(&why).copied().unwrap_or(0)
    }
    /// PathErr and ResvErr originated here, by code and value, in the RFC's words.
    pub fn errors_sent(&self) -> impl Iterator<Item = ((u8, u16), &'static str, u64)> + '_ {
        self.errors_sent
            .iter()
            .map(|(&(code, value), &n)| ((code, value), error_code::describe(code, value), n))
    }
    /// PathErr and ResvErr received, by code and value, in the RFC's words.
    pub fn errors_received(&self) -> impl Iterator<Item = ((u8, u16), &'static str, u64)> + '_ {
        self.errors_received
            .iter()
            .map(|(&(code, value), &n)| ((code, value), error_code::describe(code, value), n))
    }
    /// How often an error of this code and value was originated here.
    pub fn errors_sent_of(&self, code: u8, value: u16) -> u64 {
        self.errors_sent.get(&(code, value)).copied().unwrap_or(0)
    }
}
