//! The signalling messages of a router one by one, as many of the last as were asked for.

use crate::protocol::Direction;
use base::{PortId, Time};
use core::net::Ipv4Addr;
use std::collections::VecDeque;
use wire::rsvp::{self, ObjectView, Objects, class};

/// A signalling message that came or went.
///
/// Session and LSP are read from where they stand in the objects of C-Type 7:
///
/// ```text
///  SESSION (RFC 3209, 4.6.1.1)            SENDER_TEMPLATE, FILTER_SPEC (RFC 3209, 4.6.2.1)
/// +-------------------------------+      +-------------------------------+
/// |       tunnel end point        |      |         tunnel sender         |
/// +---------------+---------------+      +---------------+---------------+
/// | must be zero  |   tunnel id   |      | must be zero  |    LSP id     |
/// +---------------+---------------+      +---------------+---------------+
/// |      extended tunnel id       |
/// +-------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalRecord {
    /// When it arrived, or was handed to the port.
    pub at: Time,
    /// Port by which it came or left.
    pub port: PortId,
    /// Whether the node received or sent it.
    pub direction: Direction,
    /// Message type (RFC 2205, 3.1.1).
    pub kind: u8,
    /// End point and tunnel id of the session.
    pub tunnel: Option<(Ipv4Addr, u16)>,
    /// Sender and LSP id; the first of several.
    pub lsp: Option<(Ipv4Addr, u16)>,
}

/// C-Type of sessions, sender templates and filter specs of LSP tunnels.
const LSP_TUNNEL_IPV4: u8 = 7;

/// The last messages, if they are kept.
#[derive(Debug, Default)]
pub struct Signals {
    records: VecDeque<SignalRecord>,
    limit: usize,
    /// Messages that were kept and then made room for others.
    forgotten: u64,
}

impl Signals {
    /// Keeps the last `limit` messages from now on.
    pub fn keep(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// The messages in order of time.
    pub fn iter(&self) -> impl Iterator<Item = &SignalRecord> {
        self.records.iter()
    }

    /// How many messages made room for others.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// One more; of a bundle (RFC 2961, 3) those in it.
    #[inline]
    pub fn note(&mut self, at: Time, port: PortId, direction: Direction, message: &[u8]) {
        if self.limit == 0 {
            return;
        }
        match rsvp::messages(message) {
            Ok(several) => several.filter_map(|(_, one)| one.ok()).for_each(|one| {
                self.push(at, port, direction, one);
            }),
            Err(_) => self.push(at, port, direction, message),
        }
    }

    fn push(&mut self, at: Time, port: PortId, direction: Direction, message: &[u8]) {
        while self.records.len() >= self.limit {
            self.records.pop_front();
            self.forgotten += 1;
        }
        let (tunnel, lsp) = named(message);
        let kind = message.get(1).copied().unwrap_or(0);
        self.records.push_back(SignalRecord { at, port, direction, kind, tunnel, lsp });
    }
}

type Named = Option<(Ipv4Addr, u16)>;

/// The session and the LSP that a message is about; none of one that does not say, or is damaged.
fn named(message: &[u8]) -> (Named, Named) {
    let (mut tunnel, mut lsp) = (None, None);
    for object in Objects::of(message).map_while(Result::ok) {
        match object.class {
            class::SESSION => tunnel = tunnel.or_else(|| pair(&object)),
            class::SENDER_TEMPLATE | class::FILTER_SPEC => lsp = lsp.or_else(|| pair(&object)),
            _ => {}
        }
    }
    (tunnel, lsp)
}

fn pair(object: &ObjectView<'_>) -> Named {
    let [a, b, c, d, _, _, high, low, ..] = *object.body else { return None };
    let id = (Ipv4Addr::new(a, b, c, d), u16::from_be_bytes([high, low]));
    (object.c_type == LSP_TUNNEL_IPV4).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PathTear: common header, SESSION, SENDER_TEMPLATE.
    const MESSAGE: &[u8] = &[
        0x10, 5, 0, 0, 255, 0, 0, 36, 0, 16, 1, 7, 10, 0, 0, 2, 0, 0, 0, 9, 10, 0, 0, 1, 0, 12, 11, 7, 10, 0,
        0, 1, 0, 0, 0, 3,
    ];

    #[test]
    fn messages_name_session_and_lsp() {
        let expected = (Some((Ipv4Addr::new(10, 0, 0, 2), 9)), Some((Ipv4Addr::new(10, 0, 0, 1), 3)));
        assert_eq!(named(MESSAGE), expected);
        for cut in 0..MESSAGE.len() {
            named(&MESSAGE[..cut]);
        }
    }

    #[test]
    fn the_last_are_kept_if_asked_for() {
        let mut signals = Signals::default();
        signals.note(Time(1), PortId(0), Direction::Sent, MESSAGE);
        assert_eq!(signals.iter().count(), 0);
        signals.keep(2);
        (1..=3).for_each(|at| signals.note(Time(at), PortId(0), Direction::Sent, MESSAGE));
        let times: Vec<_> = signals.iter().map(|record| record.at.0).collect();
        assert_eq!((times, signals.forgotten()), (vec![2, 3], 1));
    }
}
