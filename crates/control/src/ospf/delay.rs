//! When paths are computed anew: the back-off of RFC 8405.

use crate::machine;
use crate::machine::State;
use base::{Span, Time};

machine! {
    /// The states of RFC 8405, 5.1: how long the computation waits after a change.
    machine "The delay of computing paths";
    /// How calm the network is.
    pub enum DelayState {
        /// Nothing has changed for a while: the next computation comes soon.
        Quiet,
        /// Something has changed just now: what belongs to it may still come.
        ShortWait,
        /// Changes go on: the processor is spared.
        LongWait,
    }
    /// What happens to the delay.
    pub enum DelayEvent {
        /// The topology has changed.
        Change,
        /// All that belongs to one failure should have come.
        Learnt,
        /// Nothing has changed for long enough.
        Calm,
    }
    begins { Quiet }
    steps {
        Quiet: Change => ShortWait;
        ShortWait: Change => ShortWait, Learnt => LongWait, Calm => Quiet;
        LongWait: Change => LongWait, Calm => Quiet;
    }
}

/// Times of the back-off (RFC 8405, 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayConfig {
    /// From a change to the computation when all was quiet.
    pub initial: Span,
    /// The same while what belongs to one failure may still come.
    pub short: Span,
    /// The same while changes go on.
    pub long: Span,
    /// So long it takes until all is known that belongs to one failure.
    pub learn: Span,
    /// So long nothing must change until all is quiet again.
    pub hold_down: Span,
}

impl Default for DelayConfig {
    /// The values of the example in RFC 8405, 6.
    fn default() -> DelayConfig {
        DelayConfig {
            initial: Span::from_ms(50),
            short: Span::from_ms(200),
            long: Span::from_ms(5_000),
            learn: Span::from_ms(500),
            hold_down: Span::from_ms(10_000),
        }
    }
}

/// The back-off, and its timers.
#[derive(Clone, Debug)]
pub(super) struct Delay {
    config: DelayConfig,
    pub(super) state: DelayState,
    /// When paths are computed.
    compute: Option<Time>,
    learn: Option<Time>,
    hold_down: Option<Time>,
}

impl Delay {
    pub(super) fn new(config: DelayConfig) -> Delay {
        Delay { config, state: DelayState::Quiet, compute: None, learn: None, hold_down: None }
    }

    /// The topology has changed.
    pub(super) fn change(&mut self, now: Time) {
        let wait = match self.state {
            DelayState::Quiet => self.config.initial,
            DelayState::ShortWait => self.config.short,
            DelayState::LongWait => self.config.long,
        };
        if self.state == DelayState::Quiet {
            self.learn = Some(now + self.config.learn);
        }
        self.hold_down = Some(now + self.config.hold_down);
        self.compute.get_or_insert(now + wait);
        self.step(DelayEvent::Change);
    }

    fn step(&mut self, event: DelayEvent) {
        if let Some(next) = self.state.next(event) {
            self.state = next;
        }
    }

    /// Does what is due. Are paths to be computed now?
    pub(super) fn is_due(&mut self, now: Time) -> bool {
        if self.hold_down.is_some_and(|at| at <= now) {
            (self.hold_down, self.learn) = (None, None);
            self.step(DelayEvent::Calm);
        }
        if self.learn.is_some_and(|at| at <= now) {
            self.learn = None;
            self.step(DelayEvent::Learnt);
        }
        let due = self.compute.is_some_and(|at| at <= now);
        if due {
            self.compute = None;
        }
        due
    }

    /// Are paths going to be computed?
    pub(super) fn is_under_way(&self) -> bool {
        self.compute.is_some()
    }

    pub(super) fn due(&self) -> Option<Time> {
        Time::earliest([self.compute, self.learn, self.hold_down])
    }
}
