//! Faults: asked for, begun, ended, healed.

use super::agenda::Task;
use super::begun::Mark;
use super::outage::Cause;
use super::{NodeState, World};
use crate::error::EngineError;
use crate::fault::{Direction, Fault, FaultKind};
use crate::impair::Impairments;
use base::device::DropReason;
use base::{Command, LinkId, NodeId, Time};

/// Frames taken off a link are folded into its digest with this code and their number.
const CLEARED: u64 = 0x636c_6561 << 32;

impl World {
    /// Has a fault begin at its time, and end if it has an end; an error if that time has passed.
    ///
    /// Where another fault of its kind has begun meanwhile, or it was healed, its end changes nothing.
    pub fn fault(&mut self, fault: Fault) -> Result<(), EngineError> {
        self.check_fault(&fault)?;
        let Some(until) = fault.until else {
            return self.ask(fault.at, "fault", Task::Fault(fault.kind, None));
        };
        self.timed_faults += 1;
        let mark = Some(Mark::Own(self.timed_faults));
        self.ask(fault.at, "fault", Task::Fault(fault.kind.clone(), mark))?;
        self.ask(until, "fault", Task::FaultEnd(fault.kind, mark))
    }

    /// Has a fault begin that [`World::end_fault`] ends by this mark, a number of the caller's.
    pub fn fault_marked(&mut self, at: Time, kind: FaultKind, mark: u64) -> Result<(), EngineError> {
        self.check_fault(&Fault::new(at, kind.clone()))?;
        self.ask(at, "fault", Task::Fault(kind, Some(Mark::Given(mark))))
    }

    /// Takes a fault away at its time, whatever its figures are; with a mark only if it is still the one that began
    /// with it.
    pub fn end_fault(&mut self, at: Time, kind: FaultKind, mark: Option<u64>) -> Result<(), EngineError> {
        self.check_fault(&Fault::new(at, kind.clone()))?;
        self.ask(at, "fault", Task::FaultEnd(kind, mark.map(Mark::Given)))
    }

    fn check_fault(&self, fault: &Fault) -> Result<(), EngineError> {
        use FaultKind::*;
        fault.check()?;
        match fault.kind {
            LinkDown { link }
            | LinkUp { link }
            | LinkHeal { link }
            | Loss { link, .. }
            | Corruption { link, .. }
            | Duplication { link, .. }
            | Reordering { link, .. }
            | Delay { link, .. }
            | RateLimit { link, .. } => self.check_link(link)?,
            NodeDown { node } | NodeUp { node } | NodeRestart { node, .. } => {
                self.check_node(node)?;
            }
            HealAll => {}
        }
        Ok(())
    }

    /// Takes all faults away that are there at `at`.
    pub fn heal_all(&mut self, at: Time) -> Result<(), EngineError> {
        self.fault(Fault::new(at, FaultKind::HealAll))
    }

    /// Can the link be used?
    pub fn link_is_up(&self, link: LinkId) -> Result<bool, EngineError> {
        self.check_link(link)?;
        Ok(self.lanes[2 * link.index()].is_up())
    }

    /// Is the device up: neither restarting nor failed?
    pub fn node_is_up(&self, node: NodeId) -> Result<bool, EngineError> {
        Ok(self.nodes[self.check_node(node)?].state == NodeState::Up)
    }

    /// Is the device down until it is told to come up?
    pub fn node_is_down(&self, node: NodeId) -> Result<bool, EngineError> {
        Ok(self.nodes[self.check_node(node)?].state == NodeState::Down)
    }

    pub(super) fn begin_fault(&mut self, kind: &FaultKind, mark: Option<Mark>) {
        self.begun.begin(kind, mark);
        self.apply_fault(kind, true);
    }

    pub(super) fn finish_fault(&mut self, kind: FaultKind, mark: Option<Mark>) {
        let left = match mark {
            Some(mark) => self.begun.left(&kind, mark),
            None => Some(kind),
        };
        if let Some(kind) = left {
            self.apply_fault(&kind, false);
        }
    }

    fn apply_fault(&mut self, kind: &FaultKind, on: bool) {
        use FaultKind::*;
        // A fault comes before what is due at a port at the same time.
        self.catch_up_all(Time(self.now.0.saturating_sub(1)));
        match *kind {
            LinkDown { link } => self.set_cause(link, Cause::Cut, on),
            LinkUp { link } => self.set_cause(link, Cause::Cut, false),
            LinkHeal { link } => {
                Direction::Both.lanes(link).for_each(|g| self.heal_lane(g));
                self.set_cause(link, Cause::Cut, false);
            }
            NodeDown { node } if on => self.node_down(node),
            NodeDown { node } | NodeUp { node } => self.node_up(node),
            NodeRestart { node, down_for } => self.node_restart(node, self.now + down_for),
            RateLimit { link, direction, rate } => {
                let limit = Some(rate).filter(|_| on);
                direction.lanes(link).for_each(|g| self.lanes[g as usize].limit_rate(limit));
            }
            Loss { link, direction, .. }
            | Corruption { link, direction, .. }
            | Duplication { link, direction, .. }
            | Reordering { link, direction, .. }
            | Delay { link, direction, .. } => {
                direction.lanes(link).for_each(|g| self.impair(g, kind, on));
            }
            HealAll => self.heal(),
        }
        self.expect_all();
    }

    fn impair(&mut self, g: u32, kind: &FaultKind, on: bool) {
        let streams = self.streams;
        let name = || format!("link {} {}", g / 2, ["forth", "back"][g as usize % 2]);
        let port = &mut self.ports[g as usize];
        let impairments =
            port.impairments.get_or_insert_with(|| Box::new(Impairments::new(streams, &name())));
        impairments.set(kind, on);
        self.attend(g);
    }

    fn heal(&mut self) {
        (0..self.lanes.len() as u32).for_each(|g| self.heal_lane(g));
        for link in 0..self.link_count() as u32 {
            self.set_cause(LinkId(link), Cause::Cut, false);
        }
        for node in 0..self.nodes.len() as u32 {
            self.node_up(NodeId(node));
        }
    }

    /// Takes everything away that disturbs a lane.
    fn heal_lane(&mut self, g: u32) {
        self.lanes[g as usize].limit_rate(None);
        if self.ports[g as usize].impairments.is_some() {
            self.impair(g, &FaultKind::HealAll, false);
        }
    }

    /// A cause for a link to be down comes or goes: it goes down with the first and comes up with the last.
    fn set_cause(&mut self, link: LinkId, cause: Cause, holds: bool) {
        let outage = &mut self.outages[link.index()];
        let was_up = outage.is_over();
        *outage = outage.with(cause, holds);
        let up = outage.is_over();
        if up != was_up {
            self.set_link(link, up);
        }
        debug_assert_eq!(
            self.lanes[2 * link.index()].is_up(),
            up,
            "{link:?}: {:?}",
            self.outages[link.index()]
        );
    }

    fn set_link(&mut self, link: LinkId, up: bool) {
        for g in [2 * link.0, 2 * link.0 + 1] {
            self.tap_cut(g, self.now, false);
            let (lane, port) = (&mut self.lanes[g as usize], &mut self.ports[g as usize]);
            lane.set_up(up);
            let gone = lane.clear(self.now) + port.late;
            let queued = lane.clear_queue(self.now, DropReason::LinkDown);
            if gone + queued > 0 {
                port.fates.fold(self.now, CLEARED | (gone + queued));
                self.processes.set_arrival(lane, g);
                for frame in self.late.clear(g ^ 1) {
                    lane.lost_on_link(self.now, frame, DropReason::LinkDown);
                }
                port.late = 0;
                port.drops.add(DropReason::LinkDown, gone);
            }
            if let Some(impairments) = &mut port.impairments {
                impairments.clear();
            }
            port.changes += 1;
            let (detection, changes) = (lane.spec().detection, port.changes);
            self.agenda.push(self.now + detection, Task::Detect { lane: g, changes });
        }
        self.look_ahead();
    }

    /// The device that sends into lane `g` notices what became of its port.
    pub(super) fn detect(&mut self, g: u32, changes: u32) {
        if self.ports[g as usize].changes == changes {
            self.tell_port(g);
        }
    }

    /// Reports to a device the state of its port, unless it knows.
    fn tell_port(&mut self, g: u32) {
        let far = &self.lanes[g as usize ^ 1];
        let (id, port) = (far.to_node, far.to_port);
        let down = !self.lanes[g as usize].is_up();
        if self.nodes[id.index()].state != NodeState::Up || self.ports[g as usize].told_down == down {
            return;
        }
        self.ports[g as usize].told_down = down;
        self.give_command(id, if down { Command::PortDown(port) } else { Command::PortUp(port) });
    }

    /// A device goes down until it is told to come up, even if it restarts already. Its links go down with it.
    fn node_down(&mut self, id: NodeId) {
        match self.nodes[id.index()].state {
            NodeState::Up => self.silence(id),
            NodeState::Restarting | NodeState::Down => {}
            NodeState::Failed | NodeState::Elsewhere => return,
        }
        self.nodes[id.index()].state = NodeState::Down;
        // The end of a restart is nothing to it any more.
        self.nodes[id.index()].restarts += 1;
        for g in self.nodes[id.index()].ports.clone() {
            self.set_cause(LinkId(g / 2), Cause::sender_of(g), true);
        }
    }

    /// A device goes down until that time, unless it is down; if it restarts already, it comes up then and not before.
    /// Its links stay up.
    fn node_restart(&mut self, id: NodeId, until: Time) {
        match self.nodes[id.index()].state {
            NodeState::Up => self.silence(id),
            NodeState::Restarting => {}
            NodeState::Down | NodeState::Failed | NodeState::Elsewhere => return,
        }
        let node = &mut self.nodes[id.index()];
        node.state = NodeState::Restarting;
        node.restarts += 1;
        let restarts = node.restarts;
        self.agenda.push(until, Task::NodeUp { node: id, restarts });
        self.look_ahead();
    }

    /// A device does nothing any more, and what waits in its ports is lost.
    fn silence(&mut self, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        node.state = NodeState::Restarting;
        node.timeout = Time::MAX;
        self.processes.set_timeout(node, id.0);
        for g in node.ports.clone() {
            self.tap_cut(g, self.now, true);
            let lane = &mut self.lanes[g as usize];
            let had = !lane.ring.is_empty();
            let gone = lane.clear_waiting(self.now);
            let queued = lane.clear_queue(self.now, DropReason::NodeDown);
            if gone + queued > 0 {
                let port = &mut self.ports[g as usize];
                port.fates.fold(self.now, CLEARED | (gone + queued));
                port.drops.add(DropReason::NodeDown, gone);
            }
            if had && lane.ring.is_empty() {
                self.processes.set_arrival(lane, g);
            }
            self.attend(g ^ 1);
        }
        self.look_ahead();
    }

    /// A device that is down comes up: it restarts, learns which of its ports are down, and is given the commands
    /// that it missed. Links that went down with it come up, and both ends notice that as ever.
    pub(super) fn node_up(&mut self, id: NodeId) {
        let was = self.nodes[id.index()].state;
        if !matches!(was, NodeState::Restarting | NodeState::Down) {
            return;
        }
        self.nodes[id.index()].state = NodeState::Up;
        self.give_command(id, Command::Restart);
        for g in self.nodes[id.index()].ports.clone() {
            // A restarted device takes its ports to be up, but may as well remember that one was down.
            let port = &mut self.ports[g as usize];
            port.told_down &= self.lanes[g as usize].is_up();
            self.tell_port(g);
            self.attend(g ^ 1);
        }
        if was == NodeState::Down {
            for g in self.nodes[id.index()].ports.clone() {
                self.set_cause(LinkId(g / 2), Cause::sender_of(g), false);
            }
        }
        while self.nodes[id.index()].state == NodeState::Up
            && let Some(command) = self.nodes[id.index()].deferred.pop_front()
        {
            self.give_command(id, command);
        }
    }
}
