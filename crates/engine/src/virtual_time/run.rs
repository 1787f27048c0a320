//! Runs: what is done next, and when a run is over.

use super::keys::{Done, Due, Key};
use super::process::Processes;
use super::{Progress, World};
use crate::error::EngineError;
use crate::record::Input;
use base::Time;
use std::panic::{AssertUnwindSafe, catch_unwind};

impl World {
    /// Runs until `until` (what is due then included), or until a device fails.
    pub fn run_until(&mut self, until: Time) -> Result<(), EngineError> {
        while self.step(until, u64::MAX)? == Progress::More {}
        Ok(())
    }

    /// Runs until `until`, but for no more than `max_events` events, so that the caller can look for signals.
    pub fn step(&mut self, until: Time, max_events: u64) -> Result<Progress, EngineError> {
        if until < self.ahead {
            return Err(EngineError::TimePassed { what: "run", at: until, now: self.ahead });
        }
        self.guarded(|world| world.advance(until, max_events))?
    }

    /// Lets devices do something; one that panics takes part no more.
    pub(super) fn guarded<T>(&mut self, what: impl FnOnce(&mut World) -> T) -> Result<T, EngineError> {
        if self.unfound {
            self.find_processes();
        }
        // What a panic leaves undone in the queues, `bury` puts right.
        match catch_unwind(AssertUnwindSafe(|| what(self))) {
            Ok(done) => Ok(done),
            Err(payload) => {
                let text = payload.downcast_ref::<String>().map(String::as_str);
                let text = text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
                let message = text.to_string();
                self.bury();
                Err(EngineError::DevicePanicked { node: self.running, at: self.now, message })
            }
        }
    }

    fn advance(&mut self, until: Time, max_events: u64) -> Result<Progress, EngineError> {
        if !self.touched.is_empty() {
            // Devices may have run ahead to here.
            self.now = self.ahead;
        }
        while let Some(node) = self.touched.pop_front() {
            self.running = node;
            self.nodes[node.index()].touched = false;
            self.note_input(node, || Input::Poll);
            self.drain(node);
        }
        let mut left = max_events;
        if let Some(progress) = self.go_on_to_failure(until, left)? {
            return Ok(progress);
        }
        while self.may_share() && left > 0 {
            let (done, over) = self.work_a_stretch(until, left)?;
            if over {
                break;
            }
            left = left.saturating_sub(done);
        }
        if !self.go_on(until, left)? {
            return Ok(Progress::More);
        }
        self.ahead = if until == Time::MAX { self.ahead } else { until };
        self.now = self.ahead;
        self.catch_up_all(self.now);
        Ok(Progress::Reached)
    }

    /// Does what is due up to `until`, but for no more than `left` events. Says whether nothing is left to be done.
    pub(super) fn go_on(&mut self, until: Time, mut left: u64) -> Result<bool, EngineError> {
        loop {
            let mut first = self.processes.time_of(self.processes.first());
            if first >= self.processes.late() {
                first = self.look_late(until);
            }
            let next = first.min(self.next_other());
            if next > until || next == Time::MAX {
                return Ok(true);
            }
            if left == 0 {
                return Ok(false);
            }
            if first < self.next_other() {
                if self.processes.are_many() {
                    self.work::<true>(until, &mut left)?;
                } else {
                    self.work::<false>(until, &mut left)?;
                }
            } else {
                self.now = next;
                self.ahead = self.ahead.max(next);
                let done = self.do_other(next)?;
                left -= done;
                self.events_done += done;
            }
            if self.tap_over {
                self.retire_taps()?;
            }
        }
    }

    /// When what a device has to do first is due, if keys do not tell. If that is before anything else and not after
    /// `until`, keys tell from then on.
    #[cold]
    fn look_late(&mut self, until: Time) -> Time {
        let first = self.processes.look_late(&self.nodes, &self.lanes);
        if first != Time::MAX && first <= until.min(self.next_other()) {
            let latest = self.processes.latest_of(&self.nodes);
            self.processes = Processes::new(&mut self.nodes, &mut self.lanes, first, &latest);
        }
        first
    }

    /// When the next thing happens.
    pub(super) fn next_time(&self) -> Time {
        let first = self.processes.first();
        let first = if self.processes.is_late(first) {
            self.processes.look_late(&self.nodes, &self.lanes)
        } else {
            self.processes.time_of(first)
        };
        first.min(self.next_other())
    }

    /// What the process that has its turn by this key does first.
    pub(super) fn due_of_turn(&self, turn: Key) -> Due {
        let process = self.processes.owner(turn);
        self.processes.due_of(self.processes.root(self.processes.base(process)))
    }

    /// Finds the processes anew.
    pub(super) fn find_processes(&mut self) {
        let latest = self.processes.latest_of(&self.nodes);
        self.find_processes_after(&latest);
    }

    /// The same, when the processes of devices have done this last.
    pub(super) fn find_processes_after(&mut self, latest: &[Done]) {
        let epoch = self.processes.epoch();
        self.processes = Processes::new(&mut self.nodes, &mut self.lanes, epoch, latest);
        self.unfound = false;
    }
}
