//! What a table holds.

use super::Pattern;
use base::time::PS_PER_S;
use base::{Span, Time};
use std::sync::Arc;
use wire::openflow::v1_3::{Action, Instruction, RemovedReason};

/// What is done with packets that have a pattern. The pattern itself is kept by the classifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// A number of the controller's own.
    pub cookie: u64,
    /// Seconds without packets after which it goes; zero for never.
    pub idle_timeout: u16,
    /// Seconds after which it goes; zero for never.
    pub hard_timeout: u16,
    /// Bits of `flow_flags`.
    pub flags: u16,
    /// When it was added.
    pub created: Time,
    /// When a packet took it last, or when it was added.
    pub used: Time,
    /// Packets that took it.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What is done. Many entries do the same, and share the list.
    pub instructions: Arc<[Instruction]>,
}

/// An entry that is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Which packets it was for.
    pub pattern: Pattern,
    /// Its priority.
    pub priority: u16,
    /// What it was.
    pub entry: Entry,
    /// Why it is gone.
    pub reason: RemovedReason,
}

fn after(time: Time, seconds: u16) -> Option<Time> {
    (seconds > 0).then(|| time.saturating_add(Span::from_ps(i64::from(seconds) * PS_PER_S as i64)))
}

impl Entry {
    /// When it goes if no packet comes, and why.
    pub fn deadline(&self) -> Option<(Time, RemovedReason)> {
        let hard = after(self.created, self.hard_timeout).map(|at| (at, RemovedReason::HardTimeout));
        let idle = after(self.used, self.idle_timeout).map(|at| (at, RemovedReason::IdleTimeout));
        match (hard, idle) {
            (Some(hard), Some(idle)) => Some(if idle.0 < hard.0 { idle } else { hard }),
            (hard, idle) => hard.or(idle),
        }
    }

    /// All actions, of a list or of the action set.
    fn actions(&self) -> impl Iterator<Item = &Action> {
        let lists = self.instructions.iter().filter_map(|instruction| match instruction {
            Instruction::WriteActions { actions } | Instruction::ApplyActions { actions } => Some(actions),
            _ => None,
        });
        lists.flatten()
    }

    /// Does it send to this port?
    pub fn sends_to(&self, to: u32) -> bool {
        self.actions().any(|action| matches!(action, Action::Output { port, .. } if *port == to))
    }

    /// The meter that it passes, if any.
    pub fn meter(&self) -> Option<u32> {
        self.instructions.iter().find_map(|instruction| match instruction {
            Instruction::Meter { meter } => Some(*meter),
            _ => None,
        })
    }

    /// The groups that it gives to.
    pub fn groups(&self) -> impl Iterator<Item = u32> {
        self.actions().filter_map(|action| match action {
            Action::Group { group } => Some(*group),
            _ => None,
        })
    }
}
