//! Frames that ended somewhere in the network: whose they were, and where.

use super::World;
use base::device::DropReason;
use base::losses::Keeping;
use base::{Frame, LossBook, NodeId, PortId};

/// At which part of a port's way frames end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossPlace {
    /// In the device: after they came by the port, or before they were handed to it.
    Device,
    /// At the port as they were to leave by it: refused, dropped by its queues, or waiting for their turn.
    Port,
    /// On the link behind the port.
    Link,
}

/// What was lost at a part of a port's way.
#[derive(Clone, Copy, Debug)]
pub struct LossesAt<'a> {
    /// The device that has the port.
    pub node: NodeId,
    /// The port of the node at which the frame was lost.
    pub port: PortId,
    /// The device at the other end of its link.
    pub to: NodeId,
    /// Where on the way.
    pub place: LossPlace,
    /// Whose frames were lost there.
    pub book: &'a LossBook,
}

impl World {
    /// Keeps whose frames are lost from now on, and where, why and when.
    pub fn keep_losses(&mut self, keeping: Keeping) {
        for g in 0..self.lanes.len() {
            self.keep_losses_of(g, &keeping);
        }
        self.keeping = Some(keeping);
    }

    fn keep_losses_of(&mut self, g: usize, keeping: &Keeping) {
        self.lanes[g].keep_losses(keeping);
        self.ports[g].device_losses = LossBook::new(keeping.clone());
    }

    /// A port is new, or has queues now.
    pub(super) fn keep_losses_too(&mut self, g: u32) {
        if let Some(keeping) = self.keeping.clone() {
            self.keep_losses_of(g as usize, &keeping);
        }
    }

    /// What was lost in the network, port by port; of what was lost nowhere there is nothing.
    pub fn losses(&self) -> impl Iterator<Item = LossesAt<'_>> {
        let is_any = self.keeping.as_ref().is_some_and(Keeping::is_any);
        let lanes = self.lanes.iter().zip(&self.ports).enumerate().take(if is_any { usize::MAX } else { 0 });
        lanes.flat_map(|(g, (lane, port))| {
            let back = &self.lanes[g ^ 1];
            let (node, own, to) = (back.to_node, back.to_port, lane.to_node);
            let at = move |place, book| LossesAt { node, port: own, to, place, book };
            let device = core::iter::once(at(LossPlace::Device, &port.device_losses));
            let ports = lane.port_losses().map(move |book| at(LossPlace::Port, book));
            let link = core::iter::once(at(LossPlace::Link, lane.link_losses()));
            device.chain(ports).chain(link)
        })
    }

    /// Shows each frame that is in the network: in queues, on links, and held by devices.
    pub fn show_held(&self, see: &mut dyn FnMut(&Frame)) {
        for (lane, port) in self.lanes.iter().zip(&self.ports) {
            lane.show_held(see);
            for (_, frame) in port.external.iter().flat_map(|external| &external.leaving) {
                see(&lane.as_in_a_node(frame.clone()));
            }
        }
        for (port, frame) in self.late.iter() {
            see(&self.lanes[port as usize ^ 1].as_in_a_node(frame.clone()));
        }
        self.nodes.iter().for_each(|node| node.device.show_held(see));
    }

    #[cold]
    pub(super) fn lost_in_device(&mut self, id: NodeId, port: PortId, frame: &Frame, reason: DropReason) {
        let now = self.now;
        if let Some(book) = self.book_of(id, port) {
            book.lost(now, frame, reason);
        }
    }

    #[cold]
    pub(super) fn copied_in_device(&mut self, id: NodeId, port: PortId, frame: &Frame, copies: u64) {
        if let Some(book) = self.book_of(id, port) {
            book.copied(frame, copies);
        }
    }

    /// The book of a device's port; that of its first port if there is none of this number.
    fn book_of(&mut self, id: NodeId, port: PortId) -> Option<&mut LossBook> {
        let ports = &self.nodes[id.index()].ports;
        let g = *ports.get(port.index()).or_else(|| ports.first())?;
        Some(&mut self.ports[g as usize].device_losses)
    }
}
