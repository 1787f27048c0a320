//! The states of a session (RFC 5880, 6.2 and 6.8.6).

use crate::machine;
use wire::bfd::State as Said;

machine! {
    /// The table of RFC 5880, 6.8.6, with what an administrator does (6.8.16) and the end of the detection time
    /// (6.8.4).
    machine "A session";
    /// How this router sees the session.
    pub enum SessionState {
        /// Nobody here wants to know whether the way works.
        AdminDown,
        /// The neighbour is not heard, or says that it does not hear this router.
        Down,
        /// The neighbour is heard, and may not hear this router.
        Init,
        /// Both hear each other.
        Up,
    }
    /// What happens to a session.
    pub enum SessionEvent {
        /// The neighbour says AdminDown.
        HearAdminDown,
        /// The neighbour says Down.
        HearDown,
        /// The neighbour says Init.
        HearInit,
        /// The neighbour says Up.
        HearUp,
        /// Nothing was heard for the detection time.
        Expired,
        /// The session is wanted.
        Enabled,
        /// The session is not wanted, or its port is down.
        Disabled,
    }
    begins { Down }
    steps {
        AdminDown: Enabled => Down;
        Down: HearDown => Init, HearInit => Up, HearAdminDown | HearUp => Down, Disabled => AdminDown;
        Init: HearDown => Init, HearInit | HearUp => Up, HearAdminDown | Expired => Down, Disabled => AdminDown;
        Up: HearInit | HearUp => Up, HearDown | HearAdminDown | Expired => Down, Disabled => AdminDown;
    }
}

impl SessionState {
    /// As packets have it.
    pub const fn said(self) -> Said {
        match self {
            SessionState::AdminDown => Said::AdminDown,
            SessionState::Down => Said::Down,
            SessionState::Init => Said::Init,
            SessionState::Up => Said::Up,
        }
    }
}

impl SessionEvent {
    /// The neighbour says this.
    pub const fn heard(said: Said) -> SessionEvent {
        match said {
            Said::AdminDown => SessionEvent::HearAdminDown,
            Said::Down => SessionEvent::HearDown,
            Said::Init => SessionEvent::HearInit,
            Said::Up => SessionEvent::HearUp,
        }
    }
}

/// A state as tables have it.
pub const fn word(said: Said) -> &'static str {
    match said {
        Said::AdminDown => "admin-down",
        Said::Down => "down",
        Said::Init => "init",
        Said::Up => "up",
    }
}
