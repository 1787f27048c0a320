//! Looking into a network: devices, counters, events, the digest, the audit.

use super::{EventRecord, World};
use crate::counters::{DirectionCounters, Imbalance, PortCounters};
use crate::digest::{Digest, RunDigest};
use crate::egress::Egress;
use crate::error::EngineError;
use base::device::DropCounters;
use base::{Device, LinkId, NodeId, PortId, Time};
use core::any::Any;

impl World {
    /// How many devices the network has; their numbers begin at 0.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// How many links the network has; their numbers begin at 0.
    pub fn link_count(&self) -> usize {
        self.lanes.len() / 2
    }

    /// A device, if there is one by this id and it is a `T`.
    pub fn device<T: Device>(&self, node: NodeId) -> Option<&T> {
        let device: &dyn Any = &*self.nodes.get(node.index())?.device;
        device.downcast_ref()
    }

    /// The same, to be changed. The device is drained when the network runs next.
    pub fn device_mut<T: Device>(&mut self, node: NodeId) -> Option<&mut T> {
        let found = self.nodes.get_mut(node.index())?;
        if !found.touched {
            found.touched = true;
            self.touched.push_back(node);
        }
        let device: &mut dyn Any = &mut *found.device;
        device.downcast_mut()
    }

    /// Lets time begin later than at zero. To be asked before anything else is.
    pub fn begin_at(&mut self, time: Time) {
        (self.now, self.ahead) = (time, time);
    }

    /// Events of devices since the last call, in order.
    pub fn drain_events(&mut self) -> Vec<EventRecord> {
        core::mem::take(&mut self.events)
    }

    /// Where a port's link leads: the link, the device at the other end, and its port there.
    pub fn neighbor(&self, node: NodeId, port: PortId) -> Result<(LinkId, NodeId, PortId), EngineError> {
        let lane = &self.lanes[self.lane_of(node, port)? as usize];
        Ok((lane.link, lane.to_node, lane.to_port))
    }

    /// What a port sent and received.
    pub fn port_counters(&self, node: NodeId, port: PortId) -> Result<PortCounters, EngineError> {
        let lane = self.lane_of(node, port)?;
        Ok(PortCounters { egress: self.direction(lane), ingress: self.direction(lane ^ 1) })
    }

    /// What a link carried from its first end to its second, and back.
    pub fn link_counters(&self, link: LinkId) -> Result<[DirectionCounters; 2], EngineError> {
        self.check_link(link)?;
        Ok([self.direction(2 * link.0), self.direction(2 * link.0 + 1)])
    }

    /// How many frames a device sent to ports that it does not have.
    pub fn stray_frames(&self, node: NodeId) -> Result<u64, EngineError> {
        Ok(self.nodes[self.check_node(node)?].stray_frames)
    }

    /// Checks that on every link each frame sent was received, dropped with a reason, or is in flight, and that every
    /// queue conserves its packets and obeys Little's law; returns the directions of which that is not true: none,
    /// unless the engine or a queue discipline is wrong.
    pub fn audit(&self) -> Vec<Imbalance> {
        (0..self.lanes.len() as u32).filter_map(|g| self.imbalance(g)).collect()
    }

    /// The same of ports with queue disciplines only.
    pub fn audit_queues(&self) -> Vec<Imbalance> {
        self.queued_lanes().filter_map(|g| self.imbalance(g)).collect()
    }

    fn imbalance(&self, g: u32) -> Option<Imbalance> {
        let (counters, egress) = (self.direction(g), self.lanes[g as usize].egress());
        let queues = egress.map_or_else(Vec::new, |egress| egress.audit(self.ahead));
        let wrong = !counters.balanced() || !queues.is_empty();
        wrong.then_some(Imbalance { link: LinkId(g / 2), counters, queues })
    }

    /// The digest of the run so far: every frame's bytes and time on every link.
    pub fn digest(&self) -> RunDigest {
        let lanes = self.lanes.iter().zip(&self.ports);
        Digest::all(lanes.flat_map(|(lane, port)| [lane.digest, port.fates]))
    }

    pub(super) fn direction(&self, g: u32) -> DirectionCounters {
        let (lane, port) = (&self.lanes[g as usize], &self.ports[g as usize]);
        // What comes in from outside was sent there.
        let entered =
            self.ports[g as usize ^ 1].external.as_ref().map_or((0, 0), |external| external.entered);
        let queued = lane.egress().map_or(0, Egress::waiting_frames);
        let queue_drops = lane.egress().map_or_else(DropCounters::default, Egress::drops);
        let mut drops = port.drops.clone();
        drops.merge(&queue_drops);
        drops.merge(&lane.refused_pieces());
        DirectionCounters {
            sent_frames: lane.sent_frames() + entered.0,
            sent_bytes: lane.sent_bytes() + entered.1,
            received_frames: lane.arrived_frames() - port.attended.0 + port.delivered.0,
            received_bytes: lane.arrived_bytes() - port.attended.1 + port.delivered.1,
            duplicated: port.duplicated,
            queued,
            in_flight: lane.ring.len() as u64 + port.late + queued,
            waiting_bytes: lane.waiting_bytes(self.ahead),
            waiting_bytes_max: lane.waiting_bytes_max(),
            drops,
            queue_drops,
        }
    }

    pub(super) fn lane_of(&self, node: NodeId, port: PortId) -> Result<u32, EngineError> {
        let ports = &self.nodes[self.check_node(node)?].ports;
        ports.get(port.index()).copied().ok_or(EngineError::UnknownPort { node, port, count: ports.len() })
    }

    pub(super) fn check_link(&self, link: LinkId) -> Result<(), EngineError> {
        let count = self.link_count();
        if link.index() < count { Ok(()) } else { Err(EngineError::UnknownLink { link, count }) }
    }
}
