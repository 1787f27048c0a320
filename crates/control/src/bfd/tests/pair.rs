//! Two sessions with a way between them that delays packets, and loses those that a test wants lost.

use super::super::Discard;
use super::super::authentication::Key;
use super::super::session::{Role, Session, Terms};
use super::super::states::SessionState;
use crate::services::WatchedPath;
use base::{PortId, Span, Streams, Time};
use core::net::Ipv4Addr;
use std::collections::BTreeMap;
use wire::bfd::Repr;

pub(super) const DELAY: Span = Span::from_ms(2);

pub(super) fn terms(ms: u32, multiplier: u8) -> Terms {
    Terms { send_us: ms * 1000, receive_us: ms * 1000, multiplier }
}

pub(super) fn path() -> WatchedPath {
    WatchedPath::hop(PortId(0), Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2))
}

pub(super) fn session(number: u32, terms: Terms, key: Option<Key>) -> Session {
    let random = Streams::new(9).stream(&format!("session {number}"));
    Session::new(Time::ZERO, (path(), Role::Beside), (49_152, number), terms, key, random)
}

/// A packet on its way, or one that a test looks at later.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub at: Time,
    pub from: usize,
    pub bytes: Vec<u8>,
}

impl Sent {
    pub(super) fn packet(&self) -> Repr {
        Repr::parse(&self.bytes).expect("a packet")
    }
}

pub(super) struct Pair {
    pub now: Time,
    pub sides: [Session; 2],
    under_way: BTreeMap<(Time, usize), Sent>,
    /// Every packet, lost or not.
    pub sent: Vec<Sent>,
    pub discards: Vec<Discard>,
    /// Packets of which side are lost.
    pub cut: [bool; 2],
    /// Which packets are lost beside.
    pub lost: Box<dyn FnMut(usize) -> bool>,
    /// Each change of a state: when, of which side, to what.
    pub changes: Vec<(Time, usize, SessionState)>,
}

impl Pair {
    pub(super) fn new(a: Terms, b: Terms) -> Pair {
        Pair::with_keys([a, b], [None, None])
    }

    pub(super) fn with_keys(terms: [Terms; 2], [key, other]: [Option<Key>; 2]) -> Pair {
        Pair {
            now: Time::ZERO,
            sides: [session(1, terms[0], key), session(2, terms[1], other)],
            under_way: BTreeMap::new(),
            sent: Vec::new(),
            discards: Vec::new(),
            cut: [false; 2],
            lost: Box::new(|_| false),
            changes: Vec::new(),
        }
    }

    pub(super) fn states(&self) -> [SessionState; 2] {
        [self.sides[0].state, self.sides[1].state]
    }

    pub(super) fn is_up(&self) -> bool {
        self.states() == [SessionState::Up; 2]
    }

    /// Does something with a side, and puts what it has to say on the way.
    pub(super) fn with(&mut self, side: usize, what: impl FnOnce(&mut Session, Time)) {
        let before = self.sides[side].state;
        what(&mut self.sides[side], self.now);
        if self.sides[side].state != before {
            self.changes.push((self.now, side, self.sides[side].state));
        }
        while let Some(bytes) = self.sides[side].poll_packet(self.now) {
            let sent = Sent { at: self.now, from: side, bytes };
            if !self.cut[side] && !(self.lost)(side) {
                self.under_way.insert((self.now + DELAY, self.sent.len()), sent.clone());
            }
            self.sent.push(sent);
        }
    }

    pub(super) fn run(&mut self, span: Span) {
        let end = self.now + span;
        loop {
            let due = (0..2).filter_map(|side| Some((self.sides[side].due()?, side))).min();
            let arrival = self.under_way.first_key_value().map(|(key, _)| key.0);
            let next = Time::earliest([due.map(|due| due.0), arrival]).unwrap_or(Time::MAX);
            if next > end {
                self.now = end;
                return;
            }
            self.now = self.now.max(next);
            if arrival.is_some_and(|at| at <= self.now) {
                let (_, Sent { from, bytes, .. }) = self.under_way.pop_first().expect("a packet");
                let packet = Repr::parse(&bytes).expect("a packet");
                let mut taken = Ok(());
                self.with(1 - from, |session, now| taken = session.receive(now, &packet, &bytes));
                self.discards.extend(taken.err());
            } else if let Some((_, side)) = due {
                self.with(side, |session, now| session.expire(now));
            }
        }
    }

    /// From each packet of a side to its next, answers to polls apart, since a time.
    pub(super) fn gaps(&self, side: usize, since: Time) -> Vec<Span> {
        let own = self.sent.iter().filter(|sent| sent.from == side && sent.at >= since);
        let times: Vec<Time> = own.filter(|sent| !sent.packet().is_final).map(|sent| sent.at).collect();
        times.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }
}
