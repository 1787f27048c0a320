//! Ports that lead out of the world: what they send comes to an end outside, and frames come in by them from there.
//!
//! The egress port and the wire behind it are modelled as everywhere else. A frame that reaches the far end of such a
//! lane waits to be taken by whoever drives the world, instead of arriving at a device.

use super::{NodeState, World};
use crate::capture::pcapng::Way;
use crate::error::EngineError;
use crate::record::{Input, RecordedFrame};
use base::device::DropReason;
use base::{Frame, NodeId, PortId, Time, Verdict};
use std::collections::VecDeque;

/// Frames that the fast path is given at once.
const BATCH: usize = 64;

/// A frame that came in, and that the fast path punted.
pub(crate) struct Punted {
    /// As it came.
    pub(crate) frame: Frame,
    /// Whether it keeps a link or a session alive, and so waits behind no other.
    pub(crate) is_urgent: bool,
}

/// The far end of a lane that leads out.
#[derive(Default)]
pub(super) struct ExternalEnd {
    /// Frames that have reached it, with the time that they did.
    pub leaving: VecDeque<(Time, Frame)>,
    /// Frames that came in by the same port, and their bytes.
    pub entered: (u64, u64),
}

impl World {
    /// Makes a device's port lead out of the world. The device at the other end of its link gets nothing any more,
    /// and should be one that sends nothing.
    pub fn attach_external(&mut self, node: NodeId, port: PortId) -> Result<(), EngineError> {
        let g = self.lane_of(node, port)?;
        self.ports[g as usize].external.get_or_insert_default();
        self.attend(g);
        Ok(())
    }

    /// Takes the next frame that left by a port, and when it was due to.
    #[inline]
    pub fn leave(&mut self, node: NodeId, port: PortId) -> Option<(Time, Frame)> {
        let g = self.lane_of(node, port).ok()?;
        self.ports[g as usize].external.as_mut()?.leaving.pop_front()
    }

    /// A frame that left by a port ended before any interface took it.
    pub(crate) fn lost_outside(&mut self, node: NodeId, port: PortId, frame: Frame, reason: DropReason) {
        if let Ok(g) = self.lane_of(node, port) {
            self.lanes[g as usize].lost_on_link(self.now, frame, reason);
        }
    }

    /// When the next thing happens of which the world knows; nothing if it needs no waiting for.
    pub fn next_event(&self) -> Option<Time> {
        if !self.touched.is_empty() {
            return Some(self.ahead);
        }
        let next = self.next_time();
        (next != Time::MAX).then_some(next)
    }

    /// Lets frames come in by a port from outside, at the time that the world has reached, and takes them out of
    /// `frames`. They pass no lane: whoever is out there has sent them at the rate that there is. Those that the fast
    /// path punts come to `punted`, to be given to [`World::hand`] when there is time for them.
    pub(crate) fn pass(
        &mut self,
        node: NodeId,
        port: PortId,
        frames: &mut Vec<Frame>,
        punted: &mut Vec<Punted>,
    ) -> Result<(), EngineError> {
        let lane = self.lane_of(node, port)? ^ 1;
        self.guarded(|world| {
            world.now = world.ahead;
            world.come_in(node, port, lane, frames, punted);
        })
    }

    /// Gives a device a frame that came in by a port and was punted, at the time that the world has reached.
    pub(crate) fn hand(&mut self, node: NodeId, port: PortId, frame: Frame) -> Result<(), EngineError> {
        self.lane_of(node, port)?;
        self.guarded(|world| {
            world.now = world.ahead;
            if world.nodes[node.index()].state != NodeState::Up {
                return world.lost_waiting(node, port, frame, DropReason::NodeDown);
            }
            world.running = node;
            world.nodes[node.index()].device.handle_packet(world.now, port, frame);
            world.drain(node);
        })
    }

    /// A frame that came in by a port and was punted is given to nobody: it does not count as received.
    pub(crate) fn lost_waiting(&mut self, node: NodeId, port: PortId, mut frame: Frame, reason: DropReason) {
        let Ok(out) = self.lane_of(node, port) else { return };
        let lane = (out ^ 1) as usize;
        if let Some(medium) = self.lanes[lane].medium() {
            // As it was on the link.
            medium.encode(&mut frame);
        }
        let into = &mut self.ports[lane];
        into.drops.count(reason);
        into.delivered.0 -= 1;
        into.delivered.1 = into.delivered.1.saturating_sub(u64::from(frame.wire_len()));
        self.lanes[lane].lost_on_link(self.now, frame, reason);
    }

    /// Is what this device gets recorded? Then it takes every frame at once.
    pub(crate) fn is_recorded(&self, node: NodeId) -> bool {
        self.nodes.get(node.index()).is_some_and(|node| node.recorder.is_some())
    }

    fn come_in(
        &mut self,
        id: NodeId,
        in_port: PortId,
        lane: u32,
        frames: &mut Vec<Frame>,
        punted: &mut Vec<Punted>,
    ) {
        let refused = if !self.lanes[lane as usize].is_up() {
            Some(DropReason::LinkDown)
        } else if self.nodes[id.index()].state != NodeState::Up {
            Some(DropReason::NodeDown)
        } else {
            None
        };
        let bytes = frames.iter().map(|frame| u64::from(frame.wire_len())).sum::<u64>();
        let count = frames.len() as u64;
        if let Some(external) = &mut self.ports[lane as usize ^ 1].external {
            external.entered.0 += count;
            external.entered.1 += bytes;
        }
        let port = &mut self.ports[lane as usize];
        if let Some(reason) = refused {
            port.drops.add(reason, count);
            for frame in frames.drain(..) {
                self.lanes[lane as usize].lost_on_link(self.now, frame, reason);
            }
            return;
        }
        port.delivered.0 += count;
        port.delivered.1 += bytes;
        if !port.out_taps.is_empty() || !port.in_taps.is_empty() {
            frames.iter().for_each(|frame| self.tap_entry(lane, frame));
        }
        let (unread, their_bytes) = self.decode_all(lane, frames);
        let port = &mut self.ports[lane as usize];
        port.delivered.0 -= unread;
        port.delivered.1 -= their_bytes;
        self.events_done += count;
        // What is recorded is replayed one by one: so it is done.
        let batch = if self.nodes[id.index()].recorder.is_some() { 1 } else { BATCH };
        let mut verdicts = [Verdict::Punt; BATCH];
        let mut rest = frames.drain(..);
        let mut some: Vec<Frame> = Vec::with_capacity(batch);
        loop {
            some.extend(rest.by_ref().take(batch));
            if some.is_empty() {
                return;
            }
            self.forward_in(id, in_port, &mut some, &mut verdicts, punted);
        }
    }

    /// Frames that came in by a link whose medium is not Ethernet get Ethernet headers. Those that are none of the
    /// medium are dropped; returns how many, and their bytes.
    fn decode_all(&mut self, lane: u32, frames: &mut Vec<Frame>) -> (u64, u64) {
        let Some(medium) = self.lanes[lane as usize].medium() else { return (0, 0) };
        let (ends, mut unread) = (self.ends_of(lane), (0, 0));
        frames.retain_mut(|frame| {
            let bytes = u64::from(frame.wire_len());
            let read = medium.decode(frame, ends);
            if !read {
                unread = (unread.0 + 1, unread.1 + bytes);
            }
            read
        });
        self.ports[lane as usize].drops.add(DropReason::Malformed, unread.0);
        unread
    }

    fn forward_in(
        &mut self,
        id: NodeId,
        in_port: PortId,
        frames: &mut Vec<Frame>,
        verdicts: &mut [Verdict; BATCH],
        punted: &mut Vec<Punted>,
    ) {
        let now = self.now;
        self.running = id;
        let node = &mut self.nodes[id.index()];
        if let Some(recorder) = &mut node.recorder {
            for frame in frames.iter() {
                recorder.input(now, Input::Packet(in_port, RecordedFrame::new(frame)));
            }
        }
        let verdicts = &mut verdicts[..frames.len()];
        node.device.forward_batch(now, in_port, frames, verdicts);
        for (mut frame, verdict) in frames.drain(..).zip(verdicts) {
            match *verdict {
                Verdict::Transmit { port, ready } => {
                    // When it came in here is not when it arrives at the next device.
                    frame.set_arrived(Time::MAX);
                    if let Some(recorder) = &mut self.nodes[id.index()].recorder {
                        recorder.transmit(now, port, ready, &frame);
                    }
                    self.send_from(id, port, ready, frame);
                }
                // What is recorded is replayed at once, and so does not wait.
                Verdict::Punt if self.nodes[id.index()].recorder.is_none() => {
                    let is_urgent = self.nodes[id.index()].device.is_urgent(&frame);
                    punted.push(Punted { frame, is_urgent });
                }
                Verdict::Punt | Verdict::Replicate => {
                    self.nodes[id.index()].device.handle_packet(now, in_port, frame);
                    self.drain(id);
                }
                Verdict::Drop(reason) => self.lost_in_device(id, in_port, &frame, reason),
                Verdict::Consume => {}
            }
        }
    }

    /// A frame that came in is captured on its link, and at the port.
    fn tap_entry(&mut self, lane: u32, frame: &Frame) {
        for &id in &self.ports[lane as usize].out_taps {
            if let Some(Some(tap)) = self.taps.get_mut(id as usize) {
                tap.pass(self.now, lane, Way::Outbound, self.now, self.now, frame);
                self.tap_over |= tap.is_over();
            }
        }
        self.tap_arrival(lane, frame);
    }
}
