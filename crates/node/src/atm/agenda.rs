//! Which ports have something to do, and when: the next is found without a look at all of them.

use base::{PortId, Time};
use std::collections::BTreeSet;

/// Ports by the time at which they have something to do.
#[derive(Debug)]
pub struct Agenda {
    entries: BTreeSet<(Time, PortId)>,
    /// The entry of each port.
    times: Vec<Option<Time>>,
}

impl Agenda {
    /// No port has anything to do.
    pub fn new(ports: usize) -> Agenda {
        Agenda { entries: BTreeSet::new(), times: vec![None; ports] }
    }

    /// Notes when a port has something to do next, if it has.
    pub fn set(&mut self, port: PortId, at: Option<Time>) {
        let Some(known) = self.times.get_mut(port.index()).filter(|known| **known != at) else { return };
        if let Some(before) = core::mem::replace(known, at) {
            self.entries.remove(&(before, port));
        }
        self.entries.extend(at.map(|at| (at, port)));
    }

    /// When the first of them has.
    pub fn first(&self) -> Option<Time> {
        self.entries.first().map(|(at, _)| *at)
    }

    /// Takes the first port that has something to do by `now`: of several at one time that with the least number.
    pub fn next(&mut self, now: Time) -> Option<PortId> {
        let (_, port) = *self.entries.first().filter(|(at, _)| *at <= now)?;
        self.set(port, None);
        Some(port)
    }
}
