//! Stretches of a run: each by one thread or by several, as asked for or as a trial has it.

use super::rounds::Went;
use super::trial::{Found, Pace};
use super::{Shared, TRIAL, World};
use crate::error::EngineError;
use base::Time;

impl World {
    /// Goes on for a while, up to `until` and for about `left` events, with as many threads as are to work. Returns how
    /// many events there were, and whether nothing is left to be done.
    pub(in super::super) fn work_a_stretch(
        &mut self,
        until: Time,
        left: u64,
    ) -> Result<(u64, bool), EngineError> {
        let moves = self.events_of_a_move();
        let looked = self.sharing.trial.as_mut().and_then(|trial| {
            trial.begin(moves);
            trial.events()
        });
        let budget = looked.map_or(left, |events| events.min(left));
        let begun = self.stopwatch();
        if self.wanted() > 1 {
            let went = self.share(until, budget)?;
            let ns = self.stopwatch().saturating_sub(begun);
            match went {
                Went::Shared(done) => {
                    self.note_stretch(done, ns);
                    return Ok((done.events, false));
                }
                Went::NotNow => {}
                Went::Refused(why) => {
                    if self.sharing.trial.as_mut().is_none_or(|trial| trial.handle_refusal(ns)) {
                        self.sharing.told = why;
                    }
                }
            }
        }
        let (begun, before) = (self.stopwatch(), self.events_done);
        let over = self.go_on(until, budget.min(self.alone()))?;
        self.look_again();
        let (events, ns) = (self.events_done - before, self.stopwatch().saturating_sub(begun));
        if self.wanted() == 1 {
            self.note_stretch(Pace { events, ns }, ns);
        } else if let Some(trial) = &mut self.sharing.trial {
            trial.handle_other(ns);
        }
        Ok((events.max(1), over))
    }

    /// What the stopwatch of a trial says; nothing without one.
    pub(super) fn stopwatch(&self) -> u64 {
        self.sharing.trial.as_ref().map_or(0, |trial| (trial.stopwatch)())
    }

    /// Those that were to work have done so much.
    fn note_stretch(&mut self, done: Pace, taken_ns: u64) {
        let lookahead = self.sharing.lookahead;
        let several = |threads, gain| Shared::Several { threads, lookahead, gain };
        let Some(trial) = &mut self.sharing.trial else {
            if self.wanted() > 1 {
                self.sharing.told = several(self.sharing.worked, None);
            }
            return;
        };
        if let Some(Found { tried, kept, gain }) = trial.handle_stretch(done, taken_ns) {
            self.sharing.told = match kept {
                1 => Shared::Tried { threads: tried, gain },
                kept => several(kept, Some(gain)),
            };
        }
    }

    /// So many threads are to work now, if they can.
    pub(super) fn wanted(&self) -> usize {
        match &self.sharing.trial {
            Some(trial) => trial.threads(),
            None => self.sharing.asked.map_or(1, |asked| asked.most),
        }
    }

    /// One thread has gone on for a while.
    pub(in super::super) fn look_again(&mut self) {
        let (since, before) = self.sharing.since;
        let events = self.events_done.saturating_sub(before);
        if events >= TRIAL {
            self.sharing.density = Some((events, (self.ahead.0 - since.0).max(1)));
            self.sharing.since = (self.ahead, self.events_done);
        }
    }

    /// What one thread does before it is looked at again whether several would pay.
    pub(in super::super) fn alone(&self) -> u64 {
        match self.sharing.asked {
            Some(asked) if asked.least_events == 0 => 1,
            _ => TRIAL,
        }
    }

    /// Have several threads been asked for?
    #[inline]
    pub(in super::super) fn may_share(&self) -> bool {
        self.sharing.asked.is_some()
    }
}
