//! A link that is probed.

use crate::machine::State;
use base::{Span, Time};

crate::machine! {
    /// A link is down when so many probes in a row were missed as is said, and up again with the next one that is
    /// heard. Nothing is said of a link on which none was ever heard: whoever is beyond may not probe.
    machine "A probed link";
    /// What is known of it.
    pub enum LinkState {
        /// No probe was heard yet.
        Unheard,
        /// Probes are heard.
        Up,
        /// They were, and are not any more.
        Down,
    }
    /// What happens.
    pub enum LinkEvent {
        /// A probe came.
        Heard,
        /// Too many were missed.
        Missed,
        /// The interface itself went down or came up.
        Interface,
    }
    begins { Unheard }
    steps {
        Unheard: Heard => Up;
        Up: Heard => Up, Missed => Down, Interface => Unheard;
        Down: Heard => Up, Interface => Unheard;
    }
}

/// A link.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub state: LinkState,
    pub sent: u32,
    pub received: u64,
    /// Probes that the neighbour sent and that did not come, by their numbers.
    pub missed: u64,
    next_number: Option<u32>,
    /// When it is down unless a probe comes.
    pub expires: Option<Time>,
    /// How often it went down, and when it did last and came up last.
    pub outages: u32,
    pub down_at: Option<Time>,
    pub up_at: Option<Time>,
}

impl Link {
    pub(super) const NEW: Link = Link {
        state: LinkState::Unheard,
        sent: 0,
        received: 0,
        missed: 0,
        next_number: None,
        expires: None,
        outages: 0,
        down_at: None,
        up_at: None,
    };

    /// Goes on by the machine. Does the link count as another than before?
    pub(super) fn step(&mut self, now: Time, event: LinkEvent) -> bool {
        let before = self.state;
        self.state = before.next(event).unwrap_or(before);
        match (before, self.state) {
            (LinkState::Up, LinkState::Down) => (self.outages, self.down_at) = (self.outages + 1, Some(now)),
            (LinkState::Down | LinkState::Unheard, LinkState::Up) => self.up_at = Some(now),
            _ => {}
        }
        (before == LinkState::Down) != (self.state == LinkState::Down)
    }

    /// Counts a probe. The neighbour's own period says how long to wait for the next ones.
    pub(super) fn hear(&mut self, now: Time, sequence: u32, period: Span, misses: u8) {
        self.received += 1;
        if let Some(expected) = self.next_number {
            // A neighbour that has begun anew has missed nothing.
            let missed = sequence.wrapping_sub(expected);
            self.missed += u64::from(if missed < 1 << 31 { missed } else { 0 });
        }
        self.next_number = Some(sequence.wrapping_add(1));
        // Half a period more, since probes do not come at exactly equal times.
        self.expires = Some(now + Span(period.0 * i64::from(misses) + period.0 / 2));
    }
}
