//! Sessions (RFC 5036, 2.5): their state machine, and what is kept of each.

use super::cells::Channels;
use crate::machine;
use crate::services::sessions::SessionId;
use base::{Span, Time};
use core::net::Ipv4Addr;
use wire::ldp::{Body, Capabilities, FtSession, LdpId, Message};

machine! {
    /// The table of RFC 5036, 2.5.4. There every message in a state that does not expect it leads to an end.
    machine "A session";
    /// How far a session has come.
    pub enum SessionState {
        /// There is no connection.
        NonExistent,
        /// There is a connection, and nothing was said.
        Initialized,
        /// This router has said how it wants the session, and waits for the same of the other.
        OpenSent,
        /// Both have said how they want the session, and the other's consent is awaited.
        OpenRec,
        /// Labels are exchanged.
        Operational,
    }
    /// What happens to a session.
    pub enum SessionStep {
        /// The connection is there.
        Connected,
        /// This router, which has begun the connection, sends an Initialization message.
        InitSent,
        /// An acceptable Initialization message has come.
        InitAccepted,
        /// A KeepAlive message has come.
        KeepAlive,
        /// Another message of a session that is established has come.
        Message,
        /// What has come is not acceptable now.
        Refused,
        /// A Notification of a fatal error has come.
        Shutdown,
        /// Nothing has come for too long.
        Timeout,
        /// The connection has ended, or is not wanted any more.
        Ended,
    }
    begins { NonExistent }
    steps {
        NonExistent: Connected => Initialized;
        Initialized: InitSent => OpenSent, InitAccepted => OpenRec,
            Refused | Shutdown | Timeout | Ended => NonExistent;
        OpenSent: InitAccepted => OpenRec, Refused | Shutdown | Timeout | Ended => NonExistent;
        OpenRec: KeepAlive => Operational, Refused | Shutdown | Timeout | Ended => NonExistent;
        Operational: KeepAlive | Message => Operational, Refused | Shutdown | Timeout | Ended => NonExistent;
    }
}

impl SessionState {
    /// As tables have it.
    pub const fn word(self) -> &'static str {
        match self {
            SessionState::NonExistent => "non-existent",
            SessionState::Initialized => "initialized",
            SessionState::OpenSent => "open-sent",
            SessionState::OpenRec => "open-rec",
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
    /// The other router's label space; unknown at the passive end until it says so.
    pub peer: Option<LdpId>,
    /// This router's label space.
    pub own: LdpId,
    /// How far it has come.
    pub state: SessionState,
    /// Has it been established?
    pub(super) was_operational: bool,
    /// Has one end refused what the other proposed?
    pub(super) was_refused: bool,
    /// Since when it is in this state.
    pub since: Time,
    /// Between two PDUs of the other router there is at most this.
    pub keepalive: Span,
    /// When it ends if nothing comes.
    pub expires: Time,
    /// When this router has to have said something.
    pub speak: Time,
    /// The longest PDU.
    pub max_pdu: u16,
    /// Are labels told only to who asks, at both ends (RFC 5036, 3.5.3)?
    pub on_demand: bool,
    /// What the other router does when it restarts (RFC 3478); absent if nothing.
    pub restart: Option<FtSession>,
    /// If its labels are channels of an ATM link (RFC 3035): which both routers can do with.
    pub channels: Option<Channels>,
    /// What the other router can do.
    pub capabilities: Capabilities,
    /// Has it told all its labels (RFC 5919)?
    pub is_complete: bool,
    /// When it has, if it says nothing.
    pub(super) complete_at: Time,
    /// What is sent when the call returns.
    pub(super) outbox: Vec<Message>,
    pub(super) number: u32,
}

impl Session {
    pub(super) fn new(
        id: SessionId,
        is_active: bool,
        remote: Ipv4Addr,
        own: LdpId,
        peer: Option<LdpId>,
    ) -> Session {
        Session {
            id,
            is_active,
            remote,
            peer,
            own,
            channels: None,
            state: SessionState::NonExistent,
            was_operational: false,
            was_refused: false,
            since: Time::ZERO,
            keepalive: Span::ZERO,
            expires: Time::MAX,
            speak: Time::MAX,
            max_pdu: wire::ldp::DEFAULT_MAX_PDU,
            on_demand: false,
            restart: None,
            capabilities: Capabilities::default(),
            is_complete: false,
            complete_at: Time::MAX,
            outbox: Vec::new(),
            number: 0,
        }
    }

    /// Are labels exchanged?
    pub fn is_operational(&self) -> bool {
        self.state == SessionState::Operational
    }

    /// Has a message sent when the call returns.
    pub(super) fn say(&mut self, body: Body) {
        self.number = self.number.wrapping_add(1).max(1);
        self.outbox.push(Message::new(self.number, body));
    }
}
