//! The general path of frames: into a device, and out of it.

use super::taps::tap_departures;
use super::{EventRecord, NodeState, World};
use crate::lane::Sent;
use crate::record::{Input, RecordedFrame};
use base::device::DropReason;
use base::{Frame, NodeId, Output, PortId, Time, Verdict};

impl World {
    /// The first frame of lane `g` arrives, and there is more to do than to forward it.
    pub(super) fn arrive_attended(&mut self, g: u32) {
        let lane = &mut self.lanes[g as usize];
        lane.catch_up(self.now);
        let punted = core::mem::take(&mut lane.punted);
        let frame = lane.arrive();
        self.processes.set_arrival(lane, g);
        if lane.is_queued() {
            self.queues.expect(g, lane);
        }
        let Some(frame) = frame else { return };
        let port = &mut self.ports[g as usize];
        port.attended.0 += 1;
        port.attended.1 += u64::from(frame.wire_len());
        if port.impairments.is_some() && !punted {
            self.arrive_impaired(g, frame);
        } else {
            self.arrive_at(g, frame, punted);
        }
    }

    /// A frame reaches the far end of lane `g`.
    pub(super) fn arrive_at(&mut self, g: u32, mut frame: Frame, punted: bool) {
        let (node, to_port) = (self.lanes[g as usize].to_node, self.lanes[g as usize].to_port);
        let port = &mut self.ports[g as usize];
        if self.nodes[node.index()].state != NodeState::Up {
            port.drops.count(DropReason::NodeDown);
            self.lanes[g as usize].lost_on_link(self.now, frame, DropReason::NodeDown);
            return;
        }
        let bytes = u64::from(frame.wire_len());
        port.delivered.0 += 1;
        port.delivered.1 += bytes;
        if let Some(external) = &mut port.external {
            external.leaving.push_back((self.now, frame));
            return;
        }
        self.tap_arrival(g, &frame);
        if let Some(medium) = self.lanes[g as usize].medium()
            && !medium.decode(&mut frame, self.ends_of(g))
        {
            let port = &mut self.ports[g as usize];
            port.delivered.0 -= 1;
            port.delivered.1 -= bytes;
            port.drops.count(DropReason::Malformed);
            return;
        }
        self.deliver(node, to_port, frame, punted);
    }

    /// Gives a frame to a device: the fast path, unless that has punted it already, and the slow one if that punts.
    pub(super) fn deliver(&mut self, id: NodeId, in_port: PortId, mut frame: Frame, punted: bool) {
        let now = self.now;
        self.running = id;
        let node = &mut self.nodes[id.index()];
        if node.state != NodeState::Up {
            return;
        }
        if let Some(recorder) = &mut node.recorder {
            recorder.input(now, Input::Packet(in_port, RecordedFrame::new(&frame)));
        }
        let mut verdict = [Verdict::Punt];
        if !punted {
            node.device.forward_batch(now, in_port, core::slice::from_mut(&mut frame), &mut verdict);
        }
        match verdict[0] {
            Verdict::Transmit { port, ready } => {
                if let Some(recorder) = &mut node.recorder {
                    recorder.transmit(now, port, ready, &frame);
                }
                self.send_from(id, port, ready, frame);
            }
            Verdict::Punt | Verdict::Replicate => {
                node.device.handle_packet(now, in_port, frame);
                self.drain(id);
            }
            Verdict::Drop(reason) => self.lost_in_device(id, in_port, &frame, reason),
            Verdict::Consume => {}
        }
    }

    /// Sends a frame by a device's port.
    pub(super) fn send_from(&mut self, id: NodeId, port: PortId, ready: Time, frame: Frame) {
        let node = &mut self.nodes[id.index()];
        let Some(&out) = node.ports.get(port.index()) else {
            node.stray_frames += 1;
            self.lost_in_device(id, port, &frame, DropReason::PortDown);
            return;
        };
        let lane = &mut self.lanes[out as usize];
        let number = lane.ring.tail();
        let sent = lane.transmit(self.now, ready, frame);
        if lane.attend_departures {
            let port = &self.ports[out as usize];
            self.tap_over |= tap_departures(&mut self.taps, port, lane, self.now, out, number);
            self.queues.expect(out, lane);
        }
        match sent {
            Sent::First(_) => self.processes.set_arrival(lane, out),
            Sent::Waits(_) => self.queues.expect(out, lane),
            Sent::Behind => {}
            Sent::Refused(reason) => self.ports[out as usize].drops.count(reason),
        }
    }

    /// Takes a device's outputs and its next timeout.
    pub(super) fn drain(&mut self, id: NodeId) {
        while self.nodes[id.index()].state == NodeState::Up {
            let node = &mut self.nodes[id.index()];
            let output = node.device.poll_output();
            if let (Some(recorder), Some(output)) = (&mut node.recorder, &output) {
                recorder.output(self.now, output);
            }
            match output {
                Some(Output::Transmit { port, mut frame, ready }) => {
                    // A frame that waited here came in from outside; when it did is not when it arrives at the next
                    // device.
                    frame.set_arrived(Time::MAX);
                    self.send_from(id, port, ready, frame);
                }
                Some(Output::Event(event)) => {
                    self.events.push(EventRecord { at: self.now, node: id, event });
                    if let Some(turns) = &mut self.turns {
                        turns.push(self.doing);
                    }
                }
                Some(Output::Discard { port, frame, reason }) => {
                    self.lost_in_device(id, port, &frame, reason);
                }
                Some(Output::Copied { port, frame, copies }) => {
                    self.copied_in_device(id, port, &frame, u64::from(copies));
                }
                Some(Output::AskQueue { port }) => self.answer_queue(id, port),
                None => break,
            }
        }
        let node = &mut self.nodes[id.index()];
        let timeout = if node.state == NodeState::Up { node.device.poll_timeout() } else { None };
        let timeout = timeout.map(|at| at.max(self.now));
        node.timeout = timeout.unwrap_or(Time::MAX);
        self.processes.set_timeout(node, id.0);
    }
}
