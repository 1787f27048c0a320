//! What was asked for at a given time: commands, faults, injected frames. Ordered by time, then as asked.

use super::begun::Mark;
use crate::fault::FaultKind;
use base::{Command, Frame, NodeId, PortId, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Something to be done at its time.
#[derive(Debug)]
pub(super) enum Task {
    Command(NodeId, Command),
    Inject(NodeId, PortId, Frame),
    /// A fault begins; with a mark, if an end is going to be its own.
    Fault(FaultKind, Option<Mark>),
    /// A fault ends; with a mark only what is left of the one that began with it.
    FaultEnd(FaultKind, Option<Mark>),
    /// The device notices what became of its port, unless that changed again meanwhile.
    Detect {
        lane: u32,
        changes: u32,
    },
    /// A device comes up, unless it did meanwhile.
    NodeUp {
        node: NodeId,
        restarts: u32,
    },
}

impl Task {
    /// The device that this is done at, if it is a matter of that device alone.
    fn node(&self) -> Option<NodeId> {
        match self {
            Task::Command(node, _) | Task::Inject(node, _, _) => Some(*node),
            Task::Fault(..) | Task::FaultEnd(..) | Task::Detect { .. } | Task::NodeUp { .. } => None,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Agenda {
    heap: BinaryHeap<Reverse<Entry>>,
    asked: u64,
}

#[derive(Debug)]
struct Entry {
    at: Time,
    order: u64,
    task: Task,
}

impl Agenda {
    pub(super) fn push(&mut self, at: Time, task: Task) {
        self.heap.push(Reverse(Entry { at, order: self.asked, task }));
        self.asked += 1;
    }
    pub(super) fn next(&self) -> Time {
        self.heap.peek().map_or(Time::MAX, |Reverse(entry)| entry.at)
    }
    /// The next thing, and how many had been asked for before it.
    pub(super) fn pop(&mut self) -> Option<(u64, Task)> {
        self.heap.pop().map(|Reverse(entry)| (entry.order, entry.task))
    }
    /// Takes out what is to be done at devices of which this is true. It keeps its place among all.
    pub(super) fn part(&mut self, is_wanted: impl Fn(NodeId) -> bool) -> Agenda {
        let all = core::mem::take(&mut self.heap).into_vec();
        let (wanted, stays): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|Reverse(entry)| entry.task.node().is_some_and(&is_wanted));
        self.heap = stays.into();
        Agenda { heap: wanted.into(), asked: self.asked }
    }
    /// Takes back what another one has left.
    pub(super) fn join(&mut self, mut other: Agenda) {
        self.heap.append(&mut other.heap);
    }
    /// When something is to be done next that is not a matter of one device alone.
    pub(super) fn next_of_all(&self) -> Time {
        let of_all = self.heap.iter().filter(|Reverse(entry)| entry.task.node().is_none());
        of_all.map(|Reverse(entry)| entry.at).min().unwrap_or(Time::MAX)
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.order == other.order
    }
}
impl Eq for Entry {}
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> core::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}
