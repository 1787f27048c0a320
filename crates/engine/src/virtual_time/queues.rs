//! Ports with queue disciplines: when they are looked after.
//!
//! What a port does with its queues ([`crate::egress`]) depends on nothing but what was handed to it before, so that
//! it need not be done when it is due. It is done when the sending device hands over a frame, when a frame arrives at
//! the far end, and at the end of a run. Only of a lane on which nothing is on its way it must be known when
//! something may arrive: such lanes have a timer here, for what is due at the port and the shortest time that a frame
//! takes from there. It may be early; then it is set anew. A port that is captured is looked after when something is
//! due.

use super::World;
use super::taps::tap_departures;
use crate::error::EngineError;
use crate::lane::{Lane, LaneEnds};
use crate::queue::TimerHeap;
use crate::record::Input;
use base::{Command, NodeId, PortId, QueueCount, Time};
use forwarding::queue::{QueueCounters, QueueRow, Tree};

/// The lanes with queues.
pub(super) struct Queues {
    timers: TimerHeap,
    /// The first of these.
    next: Time,
    lanes: Vec<u32>,
}

impl Queues {
    pub(super) fn new() -> Queues {
        Queues { timers: TimerHeap::default(), next: Time::MAX, lanes: Vec::new() }
    }

    /// One more lane has queues.
    pub(super) fn push(&mut self, g: u32) {
        self.lanes.push(g);
    }

    /// When a lane is to be looked after next.
    #[inline]
    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// Finds out when lane `g`, which is `lane`, is to be looked after.
    #[inline]
    pub(super) fn expect(&mut self, g: u32, lane: &Lane) {
        let at = if lane.ends == LaneEnds::Sender {
            // Looked after whenever frames are handed to the receiver's world.
            Time::MAX
        } else if lane.attend_departures {
            lane.due()
        } else if lane.ring.is_empty() {
            lane.upcoming()
        } else {
            Time::MAX
        };
        self.timers.set(g, (at != Time::MAX).then_some(at));
        self.next = self.timers.peek().map_or(Time::MAX, |(at, _)| at);
    }
}

/// What a device learns of a queue.
fn count(row: QueueRow) -> QueueCount {
    let QueueCounters { sent, dropped, .. } = row.counters;
    QueueCount {
        path: row.path,
        sent_packets: sent.packets,
        sent_bytes: sent.bytes,
        dropped_packets: dropped.packets,
    }
}

impl World {
    /// Puts queue disciplines at a port, which is to be done before it sends anything. They take the place of the
    /// port's buffer: [`crate::PortSpec::buffer_bytes`] means nothing any more.
    pub fn set_queue(&mut self, node: NodeId, port: PortId, tree: Tree) -> Result<(), EngineError> {
        let g = self.lane_of(node, port)?;
        let lane = &mut self.lanes[g as usize];
        if lane.sent_frames() > 0 || lane.is_queued() {
            return Err(EngineError::QueueInUse { node, port });
        }
        lane.set_queue(tree);
        self.queues.lanes.push(g);
        self.unfound = true;
        self.keep_losses_too(g);
        Ok(())
    }

    /// The queue disciplines at a port, if there are any.
    pub fn queue(&self, node: NodeId, port: PortId) -> Option<&Tree> {
        let g = self.lane_of(node, port).ok()?;
        self.lanes[g as usize].egress().map(|egress| egress.tree())
    }

    /// Tells a device what the queues of its port have counted up to now. The port has done by then what was due before
    /// the frames that come to it at this time.
    pub(super) fn answer_queue(&mut self, id: NodeId, port: PortId) {
        let mut queues = Vec::new();
        if let Ok(g) = self.lane_of(id, port)
            && self.lanes[g as usize].is_queued()
        {
            self.catch_up(g, self.now);
            if let Some(egress) = self.lanes[g as usize].egress() {
                queues = egress.tree().report(self.now).into_iter().map(count).collect();
            }
        }
        let command = Command::QueueCounted { port, queues: queues.into() };
        self.note_input(id, || Input::Command(command.clone()));
        self.nodes[id.index()].device.handle_command(self.now, command);
    }

    /// The lanes with queues.
    pub(super) fn queued_lanes(&self) -> impl Iterator<Item = u32> {
        self.queues.lanes.iter().copied()
    }

    /// A lane is to be looked after at `now`.
    pub(super) fn serve_queue(&mut self, now: Time) {
        if let Some((_, g)) = self.queues.timers.peek() {
            self.catch_up(g, now);
        }
    }

    /// Does what is due at the port of lane `g` up to `to`.
    pub(super) fn catch_up(&mut self, g: u32, to: Time) {
        let lane = &mut self.lanes[g as usize];
        let (idle, number) = (lane.ring.is_empty(), lane.ring.tail());
        lane.catch_up(to);
        if lane.attend_departures {
            self.tap_over |=
                tap_departures(&mut self.taps, &self.ports[g as usize], lane, self.now, g, number);
        }
        if idle {
            self.processes.set_arrival(lane, g);
        }
        self.queues.expect(g, lane);
    }

    /// Does what is due up to `to` at ports from which lanes lead to a process. Nothing happens before `to`.
    #[inline(never)]
    pub(super) fn catch_up_to(&mut self, process: u32, to: Time) {
        self.now = to;
        for at in 0..self.processes.queued(process).len() {
            let g = self.processes.queued(process)[at];
            let lane = &mut self.lanes[g as usize];
            if lane.due() > to {
                continue;
            }
            if lane.ring.is_empty() || lane.attend_departures {
                self.catch_up(g, to);
            } else {
                lane.catch_up(to);
            }
        }
    }

    /// Does what is due at all ports up to `to`.
    pub(super) fn catch_up_all(&mut self, to: Time) {
        for index in 0..self.queues.lanes.len() {
            let g = self.queues.lanes[index];
            if self.lanes[g as usize].due() <= to {
                self.catch_up(g, to);
            }
        }
    }

    /// Lanes are not as they were: finds out when all are to be looked after.
    pub(super) fn expect_all(&mut self) {
        for index in 0..self.queues.lanes.len() {
            let g = self.queues.lanes[index];
            self.queues.expect(g, &self.lanes[g as usize]);
        }
    }
}
