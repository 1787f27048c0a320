//! The states of a session (RFC 5880, 6.2 and 6.8.6), and of those with several receivers (RFC 8562, 5.5).

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

machine! {
    /// Nobody answers it, so that an administrator and time alone change its state (RFC 8562, 5.5, 5.6 and 5.9).
    machine "The head of a session with several receivers";
    /// What the head of a session says.
    pub enum HeadState {
        /// It has begun: tails of an earlier session hear that this is another one.
        Down,
        /// Tails take packets that are missing for a failure.
        Up,
        /// It is not wanted any more, which tails are told.
        AdminDown,
    }
    /// What happens to it.
    pub enum HeadEvent {
        /// Tails have been told for long enough that it is down.
        Started,
        /// Somebody wants the LSP watched.
        Wanted,
        /// Nobody wants it watched any more.
        Unwanted,
    }
    begins { Down }
    steps {
        Down: Started => Up, Wanted => Down, Unwanted => AdminDown;
        Up: Wanted => Up, Unwanted => AdminDown;
        AdminDown: Wanted => Down, Unwanted => AdminDown;
    }
}

machine! {
    /// RFC 8562, 5.5.
    machine "The tail of a session with several receivers";
    /// What a tail knows of the head.
    pub enum TailState {
        /// It is not heard, or says that it is not up.
        Down,
        /// It is heard.
        Up,
    }
    /// What happens to it.
    pub enum TailEvent {
        /// The head says Down or AdminDown.
        HearDown,
        /// The head says Up.
        HearUp,
        /// Nothing was heard for the detection time.
        Expired,
    }
    begins { Down }
    steps {
        Down: HearUp => Up, HearDown | Expired => Down;
        Up: HearUp => Up, HearDown | Expired => Down;
    }
}

impl HeadState {
    /// As packets have it.
    pub const fn said(self) -> Said {
        match self {
            HeadState::AdminDown => Said::AdminDown,
            HeadState::Down => Said::Down,
            HeadState::Up => Said::Up,
        }
    }
}

impl TailEvent {
    /// The head says this. Init is none of its states, and is not read.
    pub const fn heard(said: Said) -> TailEvent {
        match said {
            Said::Up => TailEvent::HearUp,
            Said::AdminDown | Said::Down | Said::Init => TailEvent::HearDown,
        }
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
