//! Sessions of TDP: their states, and what is kept of each.

use crate::machine;
use crate::services::sessions::SessionId;
use base::{Span, Time};
use core::net::Ipv4Addr;
use wire::tdp::{Element, TdpId};

machine! {
    /// As observed: both say how they want the session, both answer that by a Keep Alive, and tags are exchanged. What
    /// the draft has of errors is not known byte by byte, so a session ends without a word.
    machine "A session of TDP";
    /// How far a session has come.
    pub enum SessionState {
        /// There is no connection.
        Closed,
        /// This router has said how it wants the session.
        OpenSent,
        /// The other has said so, too, and was answered; its answer is awaited.
        OpenAnswered,
        /// Tags are exchanged.
        Operational,
    }
    /// What happens to a session.
    pub enum SessionStep {
        /// The connection is there.
        Connected,
        /// An Open has come.
        Open,
        /// A Keep Alive has come.
        KeepAlive,
        /// The connection has ended, nothing has come for too long, or what came made no sense.
        Ended,
    }
    begins { Closed }
    steps {
        Closed: Connected => OpenSent;
        OpenSent: Open => OpenAnswered, Ended => Closed;
        OpenAnswered: KeepAlive => Operational, Ended => Closed;
        Operational: KeepAlive => Operational, Ended => Closed;
    }
}

impl SessionState {
    /// As tables have it.
    pub const fn word(self) -> &'static str {
        match self {
            SessionState::Closed => "closed",
            SessionState::OpenSent => "open-sent",
            SessionState::OpenAnswered => "open-answered",
            SessionState::Operational => "operational",
        }
    }
}

/// A session, from the connection on.
#[derive(Debug)]
pub struct Session {
    /// The connection.
    pub id: SessionId,
    /// Has this router begun the connection?
    pub is_active: bool,
    /// The other end of the connection.
    pub remote: Ipv4Addr,
    /// The other router's tag space; unknown at the passive end until it says so.
    pub peer: Option<TdpId>,
    /// How far it has come.
    pub state: SessionState,
    /// Since when.
    pub since: Time,
    /// Between two PDUs of the other router there is at most this: the smaller of what both have said. (That the
    /// smaller counts is LDP's rule; TDP's is not known.)
    pub hold: Span,
    /// When it ends if nothing comes.
    pub expires: Time,
    /// When this router has to have said something.
    pub speak: Time,
    pub(super) outbox: Vec<Element>,
}

impl Session {
    pub(super) fn new(id: SessionId, is_active: bool, remote: Ipv4Addr, peer: Option<TdpId>) -> Session {
        Session {
            id,
            is_active,
            remote,
            peer,
            state: SessionState::Closed,
            since: Time::ZERO,
            hold: Span::ZERO,
            expires: Time::MAX,
            speak: Time::MAX,
            outbox: Vec::new(),
        }
    }
}
