//! What is known of a neighbour. Its states are pure: [`STEPS`] is the whole machine.

use crate::services::sessions::SessionId;
use base::{Label, PortId, Time};
use core::net::Ipv4Addr;

base::words! {
    /// How far it has come with a neighbour.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum State {
        /// Nothing was heard that counts.
        Unknown = "unknown",
        /// It is heard.
        Heard = "heard",
        /// There is a TCP connection with it.
        Connected = "connected",
        /// It has told its label.
        Labelled = "labelled",
    }
    default Unknown;
}

/// What is seen of a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// A Hello or a Welcome.
    Hello,
    /// The connection is there.
    Session,
    /// Its label has come.
    Label,
    /// The connection has ended.
    Closed,
    /// It was not heard in time, or its link is down.
    Silence,
}

/// What is done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Give it a label and a route, welcome it, and perhaps connect.
    Meet,
    /// Tell it its label.
    Tell,
    /// Take back all that it has.
    Forget,
}

/// The machine: in a state, what is seen leads to a state, and something is done. What is not here changes nothing.
pub(super) const STEPS: &[(State, Seen, State, &[Action])] = &[
    (State::Unknown, Seen::Hello, State::Heard, &[Action::Meet]),
    (State::Heard, Seen::Session, State::Connected, &[Action::Tell]),
    (State::Connected, Seen::Label, State::Labelled, &[]),
    (State::Connected, Seen::Closed, State::Unknown, &[Action::Forget]),
    (State::Labelled, Seen::Closed, State::Unknown, &[Action::Forget]),
    (State::Heard, Seen::Closed, State::Unknown, &[Action::Forget]),
    (State::Heard, Seen::Silence, State::Unknown, &[Action::Forget]),
    (State::Connected, Seen::Silence, State::Unknown, &[Action::Forget]),
    (State::Labelled, Seen::Silence, State::Unknown, &[Action::Forget]),
];

/// A neighbour.
#[derive(Clone, Debug)]
pub(super) struct Neighbor {
    pub state: State,
    pub port: PortId,
    pub address: Ipv4Addr,
    /// The label that it was given.
    pub label: Option<Label>,
    /// The label that it gave.
    pub given: Option<Label>,
    pub session: Option<SessionId>,
    pub expires: Time,
}

impl Neighbor {
    pub(super) fn new(port: PortId, address: Ipv4Addr) -> Neighbor {
        let (label, given, session, expires) = (None, None, None, Time::ZERO);
        Neighbor { state: State::Unknown, port, address, label, given, session, expires }
    }

    /// Goes on to the next state: what is to be done.
    pub(super) fn step(&mut self, seen: Seen) -> &'static [Action] {
        match STEPS.iter().find(|step| (step.0, step.1) == (self.state, seen)) {
            Some((_, _, next, actions)) => {
                self.state = *next;
                actions
            }
            None => &[],
        }
    }
}
