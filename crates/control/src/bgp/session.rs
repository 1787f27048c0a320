//! Connections (RFC 4271, 8): their state machine, and what is kept of each.

use crate::machine;
use crate::machine::State as _;
use crate::services::sessions::SessionId;
use base::{Span, Time};
use core::net::Ipv4Addr;
use wire::bgp::{Family, Terms};

machine! {
    /// The table of RFC 4271, 8.2.2, for a speaker that opens without delay. Each connection has a machine of its own
    /// (8.2.1): the one that this router begins, and the one that the neighbour begins.
    machine "A connection";
    /// How far a connection has come.
    pub enum SessionState {
        /// There is none, and none is being made.
        Idle,
        /// This router waits for its connection.
        Connect,
        /// This router waits for the neighbour's connection.
        Active,
        /// This router has sent its OPEN, and waits for the neighbour's.
        OpenSent,
        /// Both have sent one, and the neighbour's consent is awaited.
        OpenConfirm,
        /// Routes are exchanged.
        Established,
    }
    /// What happens to a connection.
    pub enum SessionStep {
        /// This router begins to connect.
        Start,
        /// The neighbour's connection is expected.
        Listen,
        /// The time until the next attempt is over.
        RetryExpired,
        /// The connection is there, and this router's OPEN is sent.
        TcpUp,
        /// The connection could not be made, or has ended.
        TcpFails,
        /// An acceptable OPEN has come.
        OpenGood,
        /// A KEEPALIVE has come.
        KeepAlive,
        /// An UPDATE has come.
        Update,
        /// A NOTIFICATION has come.
        Notified,
        /// What has come is malformed, or not expected now.
        Refused,
        /// Nothing has come for too long.
        HoldExpired,
        /// This router wants it no more.
        Stop,
    }
    begins { Idle }
    steps {
        Idle: Start => Connect, Listen => Active;
        Connect: TcpUp => OpenSent, TcpFails | Stop => Idle;
        Active: RetryExpired => Connect, TcpUp => OpenSent, Stop => Idle;
        OpenSent: OpenGood => OpenConfirm, TcpFails => Active, Notified | Refused | HoldExpired | Stop => Idle;
        OpenConfirm: KeepAlive => Established, TcpFails | Notified | Refused | HoldExpired | Stop => Idle;
        Established: KeepAlive | Update => Established, TcpFails | Notified | Refused | HoldExpired | Stop => Idle;
    }
}

impl SessionState {
    /// As tables have it.
    pub const fn word(self) -> &'static str {
        match self {
            SessionState::Idle => "idle",
            SessionState::Connect => "connect",
            SessionState::Active => "active",
            SessionState::OpenSent => "open-sent",
            SessionState::OpenConfirm => "open-confirm",
            SessionState::Established => "established",
        }
    }
}

/// A connection with a neighbour.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The TCP connection, once there is one.
    pub session: Option<SessionId>,
    /// How far it has come.
    pub state: SessionState,
    /// Since when.
    pub since: Time,
    /// Without a message the neighbour is given up after this; zero is never.
    pub hold: Span,
    /// When that is.
    pub expires: Time,
    /// When this router has to say something.
    pub speak: Time,
    /// The neighbour's identifier, once it has said it.
    pub id: Option<Ipv4Addr>,
    /// How messages are read and written.
    pub terms: Terms,
    /// Families of which routes are exchanged.
    pub families: Vec<Family>,
    /// Families of which the neighbour is told several paths to a destination (RFC 7911, 5).
    pub many: Vec<Family>,
    /// How many labels of a destination the neighbour may be told, by the place of the family; zero where both have not
    /// said that they take several, and there is one (RFC 8277, 2.1).
    pub labels_told: [u8; Family::ALL.len()],
    /// Does the neighbour tell all routes again when asked (RFC 2918)?
    pub refreshes: bool,
    /// What the neighbour keeps over a restart, if it knows of that (RFC 4724).
    pub restart: Option<Restart>,
}

/// What a neighbour says of its restarts (RFC 4724, 3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restart {
    /// How long one takes at most.
    pub time: Span,
    /// Does it come from one?
    pub has_restarted: bool,
    /// Families whose forwarding state it keeps over one, and whether it has over the one that it comes from.
    pub families: Vec<(Family, bool)>,
}

impl Connection {
    pub(super) fn new() -> Connection {
        Connection {
            session: None,
            state: SessionState::Idle,
            since: Time::ZERO,
            hold: Span::ZERO,
            expires: Time::MAX,
            speak: Time::MAX,
            id: None,
            terms: Terms::default(),
            families: Vec::new(),
            many: Vec::new(),
            labels_told: [0; Family::ALL.len()],
            refreshes: false,
            restart: None,
        }
    }

    /// Takes a step; false where there is none.
    pub(super) fn step(&mut self, now: Time, step: SessionStep) -> bool {
        let Some(next) = self.state.next(step) else { return false };
        if next != self.state {
            (self.state, self.since) = (next, now);
        }
        true
    }

    /// Are routes exchanged?
    pub fn is_established(&self) -> bool {
        self.state == SessionState::Established
    }
}
