//! A link that is probed.

use crate::machine::State;
use base::{Span, Time};
use wire::probing::Repr;

crate::machine! {
    /// A link is down when so many probes in a row were missed as is said, or the other end has said as often that it
    /// misses those of this one; it is up again with the next probe that says otherwise. Nothing is said of a link on
    /// which none was ever heard: whoever is beyond may not probe.
    machine "A probed link";
    /// What is known of it.
    pub enum LinkState {
        /// No probe was heard since the interface came up.
        Unheard,
        /// Probes are heard.
        Up,
        /// They were, and are not any more.
        Down,
    }
    /// What happens.
    pub enum LinkEvent {
        /// A probe came, of an end that hears this one, or may do so soon.
        Heard,
        /// Too many were missed, here or at the other end.
        Missed,
        /// The interface itself went down or came up.
        Interface,
    }
    begins { Unheard }
    steps {
        Unheard: Heard => Up, Missed => Down;
        Up: Heard => Up, Missed => Down, Interface => Unheard;
        Down: Heard => Up;
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
    /// Probes in a row whose sender hears none of this end.
    unheard_there: u8,
    /// So many probes are still to say that nothing is heard, though it may be: this end has missed some, and the other
    /// has to take the link for down, too, however short the failure was.
    denials: u8,
    /// How long the neighbour's probes may stay out, as its last one says.
    patience: Span,
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
        unheard_there: 0,
        denials: 0,
        patience: Span::ZERO,
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

    /// Counts a probe, and says what it means for the link. The neighbour's own period says how long to wait for the
    /// next ones.
    pub(super) fn hear(&mut self, now: Time, probe: &Repr, misses: u8) -> Option<LinkEvent> {
        self.received += 1;
        if let Some(expected) = self.next_number {
            // A neighbour that has begun anew has missed nothing.
            let missed = probe.sequence.wrapping_sub(expected);
            self.missed += u64::from(if missed < 1 << 31 { missed } else { 0 });
        }
        self.next_number = Some(probe.sequence.wrapping_add(1));
        let period = Span(i64::from(probe.period_us) * 1_000_000);
        // Half a period more, since probes do not come at exactly equal times.
        self.patience = Span(period.0 * i64::from(misses) + period.0 / 2);
        self.expires = Some(now + self.patience);
        if probe.hears && self.denials > 0 {
            return None;
        }
        if probe.hears {
            self.unheard_there = 0;
            return Some(LinkEvent::Heard);
        }
        self.unheard_there = self.unheard_there.saturating_add(1);
        // The first probes of both ends cross, and so one more may say so.
        match (self.unheard_there > misses, self.state) {
            (true, _) => Some(LinkEvent::Missed),
            (false, LinkState::Down) => None,
            (false, LinkState::Unheard | LinkState::Up) => Some(LinkEvent::Heard),
        }
    }

    /// Too many probes of the other end have stayed out. It is told so by more probes than it waits for.
    pub(super) fn miss(&mut self, misses: u8) {
        self.expires = None;
        self.denials = misses.saturating_add(2);
    }

    /// Is the other end to be told that its probes are heard? The next probe says so.
    pub(super) fn tell_hears(&mut self) -> bool {
        if self.denials > 0 {
            self.denials -= 1;
            return false;
        }
        self.received > 0 && self.expires.is_some()
    }

    /// The interface went down or came up: probes that were heard before are waited for anew.
    pub(super) fn begin(&mut self, now: Time, up: bool) {
        self.unheard_there = 0;
        self.expires = (up && self.received > 0).then_some(now + self.patience);
    }
}
