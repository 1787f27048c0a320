//! Frames that end at the port or on the wire: whose they are.

use super::{Lane, Sent};
use crate::medium::Ends;
use base::device::DropReason;
use base::losses::Keeping;
use base::{Frame, LossBook, MacAddr, Time};

impl Lane {
    /// Keeps whose frames are lost, from now on.
    pub fn keep_losses(&mut self, keeping: &Keeping) {
        self.port_losses = LossBook::new(keeping.clone());
        self.link_losses = LossBook::new(keeping.clone());
        if let Some(egress) = &mut self.egress {
            egress.keep_losses(keeping);
        }
    }

    /// Whose frames ended at the port: what it refused, then what its queues dropped.
    pub fn port_losses(&self) -> impl Iterator<Item = &LossBook> {
        let queued = self.egress.iter().flat_map(|egress| egress.losses());
        core::iter::once(&self.port_losses).chain(queued)
    }

    /// Whose frames ended on the wire.
    pub fn link_losses(&self) -> &LossBook {
        &self.link_losses
    }

    /// The port does not take a frame of a node.
    #[cold]
    #[inline(never)]
    pub(super) fn refuse(&mut self, at: Time, frame: Frame, reason: DropReason) -> Sent {
        self.port_losses.lost(at, &frame, reason);
        Sent::Refused(reason)
    }

    /// A frame that the port had taken ends before its first bit has left.
    pub(super) fn lost_at_port(&mut self, at: Time, frame: Frame, reason: DropReason) {
        let frame = self.as_in_a_node(frame);
        self.port_losses.lost(at, &frame, reason);
    }

    /// A frame that is on its way never arrives.
    #[cold]
    pub fn lost_on_link(&mut self, at: Time, frame: Frame, reason: DropReason) {
        let frame = self.as_in_a_node(frame);
        self.link_losses.lost(at, &frame, reason);
    }

    /// So many frames more than were sent are on their way, as this one.
    #[cold]
    pub fn copied_on_link(&mut self, frame: &Frame, copies: u64) {
        let frame = self.as_in_a_node(frame.clone());
        self.link_losses.copied(&frame, copies);
    }

    /// Bits of a frame on its way were inverted.
    #[cold]
    pub fn altered_on_link(&mut self, at: Time, before: Frame, after: &Frame) {
        let (before, after) = (self.as_in_a_node(before), self.as_in_a_node(after.clone()));
        self.link_losses.altered(at, &before, &after);
    }

    /// A frame of the lane's medium in the form that nodes give it. One that makes no sense there is empty.
    pub fn as_in_a_node(&self, mut frame: Frame) -> Frame {
        // Addresses are not looked at.
        let ends = Ends { from: MacAddr::default(), to: MacAddr::default() };
        match self.medium {
            Some(medium) if !medium.decode(&mut frame, ends) => Frame::from_bytes(&[]),
            _ => frame,
        }
    }

    /// Shows each frame that waits at the port or is on its way.
    pub fn show_held(&self, see: &mut dyn FnMut(&Frame)) {
        for frame in self.ring.frames() {
            match self.medium {
                Some(_) => see(&self.as_in_a_node(frame.clone())),
                None => see(frame),
            }
        }
        if let Some(egress) = &self.egress {
            egress.show_held(see);
        }
    }
}
