//! Packets that leave in copies, one for each branch of a replication list.

use super::{Router, Waiting};
use base::device::DropReason;
use base::{Frame, Output, PortId, Time};
use forwarding::{Branch, Exception, PuntReason, fragment};

impl Router {
    /// Sends a copy of a received frame by each branch. Every copy is accounted for by itself.
    pub(super) fn replicate(&mut self, now: Time, port: PortId, frame: Frame, branches: u16) {
        let (pipeline, outputs) = (&mut self.pipeline, &mut self.outputs);
        let first = outputs.len();
        let done = self.plane.forwarding_mut().copies(port, &frame, |port, frame| {
            pipeline.send(now);
            let ready = pipeline.ready(now, frame.wire_len());
            outputs.push_back(Output::Transmit { port, frame, ready });
        });
        if !done {
            return self.replicate_as(now, port, frame, branches, |branch| Some(Branch::first(branch)));
        }
        let copies = u16::try_from(outputs.len() - first).unwrap_or(u16::MAX).saturating_sub(1);
        self.copies += u64::from(copies);
        if copies > 0 {
            outputs.push_back(Output::Copied { port, frame, copies: u32::from(copies) });
        }
    }

    fn replicate_as(
        &mut self,
        now: Time,
        port: PortId,
        frame: Frame,
        branches: u16,
        place: impl Fn(u16) -> Option<Branch>,
    ) {
        let copies = u32::from(branches.saturating_sub(1));
        self.copies += u64::from(copies);
        if copies > 0 {
            self.outputs.push_back(Output::Copied { port, frame: frame.clone(), copies });
        }
        for branch in (0..branches.saturating_sub(1)).filter_map(&place) {
            self.send_copy(now, port, frame.clone(), branch);
        }
        match branches.checked_sub(1).and_then(place) {
            Some(last) => self.send_copy(now, port, frame, last),
            None => self.lose(port, frame, DropReason::Discard),
        }
    }

    /// Sends a copy of a packet of this router by each branch. A branch to a neighbour that has yet to be asked for
    /// gets none: what waited for the answer would be copied again.
    pub(super) fn send_copies(&mut self, now: Time, frame: &Frame, branches: u16) {
        for branch in 0..branches {
            let mut copy = frame.clone();
            match self.plane.forwarding_mut().originate_copy(&mut copy, Branch::first(branch)) {
                Ok(port) => {
                    self.originated += 1;
                    self.transmit(now, port, copy);
                }
                Err(Exception::Drop(reason)) => self.own.count(reason),
                Err(Exception::Punt(PuntReason::NoAdjacency { .. })) => {
                    self.own.count(DropReason::NoAdjacency);
                }
                Err(Exception::Punt(PuntReason::TooBig { .. })) => self.own.count(DropReason::TooBig),
                Err(Exception::Punt(_)) => self.own.count(DropReason::Discard),
            }
        }
    }

    /// Sends one copy of a frame that is replicated.
    pub(super) fn send_copy(&mut self, now: Time, port: PortId, mut frame: Frame, branch: Branch) {
        match self.plane.forwarding_mut().copy(port, &mut frame, branch) {
            Ok(port) => {
                self.pipeline.send(now);
                let ready = self.pipeline.ready(now, frame.wire_len());
                self.outputs.push_back(Output::Transmit { port, frame, ready });
            }
            Err(Exception::Drop(reason)) => self.lose(port, frame, reason),
            Err(Exception::Punt(PuntReason::NoAdjacency { port: out, gateway })) => {
                self.wait_for(now, out, gateway, Waiting::Copy(port, frame, branch));
            }
            Err(Exception::Punt(PuntReason::TooBig { mtu, .. })) => match fragment::fragment(&frame, mtu) {
                Ok(fragments) => {
                    self.fragments += fragments.len().saturating_sub(1) as u64;
                    fragments.into_iter().for_each(|f| self.send_copy(now, port, f, branch));
                }
                Err(reason) => self.lose(port, frame, reason),
            },
            // The label ends here, and the packet below it is replicated in turn.
            Err(Exception::Punt(PuntReason::Replicate { branches })) => match branch.then(0) {
                Some(_) => self.replicate_as(now, port, frame, branches, |below| branch.then(below)),
                None => self.lose(port, frame, DropReason::Discard),
            },
            // The branch ends here: what is below the label is for this router, or goes on from here.
            Err(Exception::Punt(reason)) => self.handle_exception(now, port, frame, reason),
        }
    }
}
