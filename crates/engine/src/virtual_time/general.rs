//! What happens besides undisturbed arrivals: commands, faults, queues that are due, timeouts; and the end of a
//! device that failed.

use super::agenda::Task;
use super::keys::{Due, NEVER};
use super::sharing::Turn;
use super::{NodeState, World};
use crate::error::EngineError;
use crate::record::Input;
use base::{Command, NodeId, Time};

/// Timeouts of one device at one time, in a row, after which it is taken to be stuck.
pub(super) const SPIN_LIMIT: u32 = 1_000_000;

impl World {
    /// Does one thing that is due at `now`, in the order that the module's documentation states. Returns how many
    /// events that was: none where a port was looked after, since how often that is done changes nothing.
    pub(super) fn do_other(&mut self, now: Time) -> Result<u64, EngineError> {
        if self.agenda.next() == now {
            if let Some((number, task)) = self.agenda.pop() {
                self.look_ahead();
                self.doing = Turn::of_task(now, number);
                self.apply(task);
            }
            return Ok(1);
        }
        if self.queues.next() == now {
            self.serve_queue(now);
            return Ok(0);
        }
        let first = self.processes.first();
        let late = self.late.next_port().filter(|late| late.0 == now);
        let due = (self.processes.time_of(first) == now && first != NEVER).then(|| self.due_of_turn(first));
        match (due, late) {
            (Some(Due::Arrival(g)), Some((_, port))) if g ^ 1 > port => self.arrive_late(),
            (None | Some(Due::Timeout(_)), Some(_)) => self.arrive_late(),
            (Some(due), _) => self.do_first(due)?,
            (None, None) => {
                self.look_ahead();
                return Ok(0);
            }
        }
        Ok(1)
    }

    /// Does what is to be done first of all, by the general path; it is due now.
    pub(super) fn do_first(&mut self, due: Due) -> Result<(), EngineError> {
        let (now, id) = match due {
            Due::Arrival(g) => {
                self.begin_turn(due);
                self.arrive_attended(g);
                return Ok(());
            }
            Due::Timeout(id) => (self.now, NodeId(id)),
        };
        self.begin_turn(due);
        let (at, spinning, count) = self.spinning;
        let before = if at == now && spinning == id { count } else { 0 };
        self.spinning = (now, id, before.saturating_add(1));
        if self.spinning.2 > SPIN_LIMIT {
            self.running = id;
            self.bury();
            return Err(EngineError::Livelock { node: id, at: now, calls: self.spinning.2 });
        }
        self.running = id;
        self.note_input(id, || Input::Timeout);
        self.nodes[id.index()].device.handle_timeout(now);
        self.drain(id);
        Ok(())
    }

    fn apply(&mut self, task: Task) {
        match task {
            Task::Command(id, command) => self.give_command(id, command),
            Task::Inject(id, port, frame) => {
                if let Ok(g) = self.lane_of(id, port) {
                    self.tap_arrival(g ^ 1, &frame);
                }
                self.deliver(id, port, frame, false);
            }
            Task::Fault(kind, mark) => self.begin_fault(&kind, mark),
            Task::FaultEnd(kind, mark) => self.finish_fault(kind, mark),
            Task::Detect { lane, changes } => self.detect(lane, changes),
            Task::NodeUp { node, restarts } => {
                if self.nodes[node.index()].restarts == restarts {
                    self.node_up(node);
                }
            }
        }
    }

    pub(super) fn note_input(&mut self, id: NodeId, input: impl FnOnce() -> Input) {
        if let Some(recorder) = &mut self.nodes[id.index()].recorder {
            recorder.input(self.now, input());
        }
    }

    /// Gives a command to a device, or keeps it until the device is up.
    pub(super) fn give_command(&mut self, id: NodeId, command: Command) {
        let node = &mut self.nodes[id.index()];
        match node.state {
            NodeState::Up => {
                self.running = id;
                if let Some(recorder) = &mut node.recorder {
                    recorder.input(self.now, Input::Command(command.clone()));
                }
                node.device.handle_command(self.now, command);
                self.drain(id);
            }
            NodeState::Restarting | NodeState::Down => node.deferred.push_back(command),
            NodeState::Failed | NodeState::Elsewhere => {}
        }
    }

    /// The running device failed: it is not called any more, and the queues are put right.
    pub(super) fn bury(&mut self) {
        let id = self.running;
        self.nodes[id.index()].state = NodeState::Failed;
        self.nodes[id.index()].timeout = Time::MAX;
        self.find_processes();
        (0..self.lanes.len() as u32).for_each(|g| self.attend(g));
        self.expect_all();
    }

    /// Decides whether arrivals of lane `g` take the general path.
    pub(super) fn attend(&mut self, g: u32) {
        let node = &self.nodes[self.lanes[g as usize].to_node.index()];
        let impaired = self.ports[g as usize].impairments.as_ref().is_some_and(|i| !i.idle(self.now));
        let (lane, port) = (&mut self.lanes[g as usize], &self.ports[g as usize]);
        let watched = node.recorder.is_some() || !port.in_taps.is_empty();
        let leaves = port.external.is_some();
        let converted = lane.medium().is_some();
        lane.attend_arrivals = node.state != NodeState::Up || impaired || watched || leaves || converted;
        lane.attend_departures = !port.out_taps.is_empty();
    }

    /// Finds out when the next thing is due that was asked for, or a late frame.
    pub(super) fn look_ahead(&mut self) {
        self.next_task = self.agenda.next().min(self.late.next());
    }

    /// When something other than an arrival in order or a timeout is due.
    #[inline]
    pub(super) fn next_other(&self) -> Time {
        self.next_task.min(self.queues.next())
    }
}
