//! Test programmes: what an emulated edge does to its LSPs, and when.

use base::Time;
use std::collections::VecDeque;

base::words! {
    /// What is done to all LSPs of a group.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Action {
        /// Signal those that have not been signalled.
        Signal = "signal",
        /// Tear down those that are up, then signal the same again; the others go on trying.
        Flap = "flap",
        /// Tear down all that were signalled, those included that are not up.
        Tear = "tear",
    }
}

/// A step of a programme.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// When its first message is sent.
    pub at: Time,
    /// What is done to each LSP of the group, one after the other.
    pub action: Action,
    /// To which group of LSPs.
    pub lsps: u32,
    /// How many messages are sent per second; zero is as many as possible at once.
    pub rate_per_s: f64,
}

/// What was found when a step began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepRecord {
    /// The step as it was asked for.
    pub step: Step,
    /// How many LSPs of the group were up.
    pub up: u32,
}

/// One thing to be done to one LSP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Signal it, so that it comes up.
    Set,
    /// Tear it down; a step can set it up again.
    Remove,
}

/// Tasks with their times, in order: a step puts its tasks in, evenly spaced.
#[derive(Clone, Debug, Default)]
pub struct Agenda {
    tasks: VecDeque<(Time, Task, usize)>,
}

impl Agenda {
    /// Adds tasks on LSPs from `start` on, `rate_per_s` of them per second, in this order. Tasks of steps that overlap
    /// are merged by time.
    pub fn add(&mut self, start: Time, rate_per_s: f64, tasks: impl Iterator<Item = (Task, usize)>) {
        let gap_ps = if rate_per_s > 0.0 { 1e12 / rate_per_s } else { 0.0 };
        for (k, (task, lsp)) in tasks.enumerate() {
            let at = Time(start.0 + libm::round(gap_ps * k as f64) as u64);
            let place = self.tasks.partition_point(|t| t.0 <= at);
            self.tasks.insert(place, (at, task, lsp));
        }
    }

    /// When the next task is due.
    pub fn next(&self) -> Option<Time> {
        self.tasks.front().map(|t| t.0)
    }

    /// The next task that is due at `now`.
    pub fn pop(&mut self, now: Time) -> Option<(Task, usize)> {
        self.next().filter(|t| *t <= now)?;
        self.tasks.pop_front().map(|(_, task, lsp)| (task, lsp))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_evenly_spaced_and_merged() {
        let mut agenda = Agenda::default();
        agenda.add(Time(0), 1e9, [(Task::Remove, 0), (Task::Set, 0)].into_iter());
        agenda.add(Time(500), 0.0, [(Task::Set, 7)].into_iter());
        assert_eq!(agenda.pop(Time(0)), Some((Task::Remove, 0)));
        assert_eq!((agenda.pop(Time(0)), agenda.next()), (None, Some(Time(500))));
        assert_eq!(agenda.pop(Time(500)), Some((Task::Set, 7)));
        assert_eq!(agenda.pop(Time(1_000)), Some((Task::Set, 0)));
        assert_eq!(agenda.next(), None);
    }
}
