//! The inner loop.

use super::agenda::Task;
use super::taps::tap_departures;
use super::{EventRecord, Node, NodeState, Progress, World};
use crate::error::EngineError;
use crate::lane::{Lane, Sent};
use crate::record::{Input, RecordedFrame};
use base::device::DropReason;
use base::{Command, Frame, NodeId, Output, PortId, Time, Verdict};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Timeouts of one device at one time, in a row, after which it is taken to be stuck.
pub(super) const SPIN_LIMIT: u32 = 1_000_000;
/// Frames on a lane for which it is worth while to find out how many can be forwarded in a row.
const RUN_MIN: usize = 4;
/// After how many frames that is asked again where there was none.
const RUN_PAUSE: u8 = 32;
/// Devices with more ports forward frame by frame.
const RUN_PORTS_MAX: usize = 8;

impl World {
    /// Runs until `until` (what is due then included), or until a device fails.
    pub fn run_until(&mut self, until: Time) -> Result<(), EngineError> {
        while self.step(until, u64::MAX)? == Progress::More {}
        Ok(())
    }

    /// Runs until `until`, but for no more than `max_events` events, so that the caller can look for signals.
    pub fn step(&mut self, until: Time, max_events: u64) -> Result<Progress, EngineError> {
        if until < self.ahead {
            return Err(EngineError::TimePassed { what: "run", at: until, now: self.ahead });
        }
        self.guarded(|world| world.advance(until, max_events))?
    }

    /// Lets devices do something; one that panics takes part no more.
    pub(super) fn guarded<T>(&mut self, what: impl FnOnce(&mut World) -> T) -> Result<T, EngineError> {
        // A panic leaves the queues as they were but for the top of the lane heap, which `bury` puts right.
        match catch_unwind(AssertUnwindSafe(|| what(self))) {
            Ok(done) => Ok(done),
            Err(payload) => {
                let text = payload.downcast_ref::<String>().map(String::as_str);
                let text = text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
                let message = text.to_string();
                self.bury();
                Err(EngineError::DevicePanicked { node: self.running, at: self.now, message })
            }
        }
    }

    fn advance(&mut self, until: Time, max_events: u64) -> Result<Progress, EngineError> {
        while let Some(node) = self.touched.pop_front() {
            self.running = node;
            self.note_input(node, || Input::Poll);
            self.drain(node);
        }
        let mut left = max_events;
        loop {
            let (arrival, _) = self.lane_heap.peek();
            let next = arrival.min(self.next_other);
            if next > until || next == Time::MAX {
                self.ahead = if until == Time::MAX { self.ahead } else { until };
                self.now = self.ahead;
                self.catch_up_all(self.now);
                return Ok(Progress::Reached);
            }
            if left == 0 {
                return Ok(Progress::More);
            }
            let done = if arrival < self.next_other {
                self.run_lanes(until, left)
            } else if next < arrival.min(self.next_task).min(self.queues.next())
                && let departed @ 1.. = self.depart(next, until, left)
            {
                departed
            } else {
                self.now = next;
                self.ahead = self.ahead.max(next);
                self.do_other(next)?;
                1
            };
            left -= done;
            self.events_done += done;
            if self.tap_over {
                self.retire_taps()?;
            }
        }
    }

    /// The fast path: undisturbed arrivals, until something else is due or may be. Returns how many there were.
    fn run_lanes(&mut self, until: Time, budget: u64) -> u64 {
        let mut left = budget;
        while left > 0 {
            let (first, g) = self.lane_heap.peek();
            if first >= self.next_other || first > until {
                break;
            }
            let lane = &mut self.lanes[g as usize];
            if lane.attend_arrivals || lane.punted {
                left -= 1;
                self.now = first;
                self.arrive_attended(g);
            } else {
                left -= self.run_lane(g, first, until, left);
            }
        }
        self.ahead = self.ahead.max(self.now);
        budget - left
    }

    /// Forwards the first frame of lane `g`, which arrives at `first` before anything else happens, and those behind
    /// it that nothing can interfere with: [`run_bound`]. Returns how many events there were.
    #[inline(never)]
    fn run_lane(&mut self, g: u32, first: Time, until: Time, budget: u64) -> u64 {
        let World { nodes, lanes, ports, lane_heap, queues, .. } = self;
        let lane = &mut lanes[g as usize];
        if lane.is_queued() {
            // What is handed to the port at this time comes after what is due there.
            lane.catch_up(first);
        }
        let (id, in_port) = (lane.to_node, lane.to_port);
        self.running = id;
        let mut now = first;
        let mut bound = Time::ZERO;
        // When an answer to what is sent here may arrive, at the earliest.
        let mut answer = Time::MAX;
        let mut done = 0;
        // A lane that was empty and has a first frame now; not in the heap yet.
        let mut begun: Option<(Time, u32)> = None;
        let punted = loop {
            done += 1;
            self.now = now;
            let Some(mut frame) = lanes[g as usize].arrive() else { break None };
            let mut verdict = [Verdict::Punt];
            let node = &mut nodes[id.index()];
            node.device.forward_batch(now, in_port, core::slice::from_mut(&mut frame), &mut verdict);
            match verdict[0] {
                Verdict::Transmit { port, ready } => match node.ports.get(port.index()) {
                    Some(&out) => {
                        let lane = &mut lanes[out as usize];
                        let place = lane.ring.tail();
                        let sent = lane.transmit(now, ready, frame);
                        if lane.attend_departures {
                            let port = &ports[out as usize];
                            self.tap_over |= tap_departures(&mut self.taps, port, lane, now, out, place);
                            queues.expect(out, lane);
                            self.next_other = self.next_other.min(queues.next());
                        }
                        match sent {
                            Sent::Behind => {}
                            Sent::First(arrival) => {
                                answer = answer.min(answered(lanes, out, arrival));
                                if out != g
                                    && let Some((arrival, lane)) = begun.replace((arrival, out))
                                {
                                    lane_heap.push(arrival, lane);
                                }
                            }
                            Sent::Waits(arrival) => {
                                answer = answer.min(answered(lanes, out, arrival));
                                queues.expect(out, &lanes[out as usize]);
                                self.next_other = self.next_other.min(queues.next());
                            }
                            Sent::Refused(reason) => ports[out as usize].drops.count(reason),
                        }
                    }
                    None => node.stray_frames += 1,
                },
                Verdict::Drop(_) | Verdict::Consume => {}
                Verdict::Punt if done == 1 => break Some(frame),
                Verdict::Punt => {
                    // Its turn has not come: what the device tells is told in order of time.
                    done -= 1;
                    lanes[g as usize].put_back(frame);
                    break None;
                }
            }
            let Some(flight) = lanes[g as usize].ring.first() else { break None };
            let next = flight.arrival;
            // The sender may be as far back as `first`, and counts what waits in its queue: what is in that queue, for all
            // that it knows, stays on the lane.
            if flight.start > first {
                break None;
            }
            if done == 1 {
                // Nothing may be pushed above the top of the heap while that is out of date: what is sent from here
                // on arrives after `first`.
                let above = next == first || begun.is_some_and(|(arrival, _)| arrival == first);
                let lane = &mut lanes[g as usize];
                if lane.run_pause > 0 || lane.ring.len() < RUN_MIN || above || self.in_step || next > until {
                    lane.run_pause = lane.run_pause.saturating_sub(1);
                    break None;
                }
                bound = run_bound(nodes, lanes, id, Some(g), [first, next, self.next_task]);
                if next >= bound {
                    lanes[g as usize].run_pause = RUN_PAUSE;
                    break None;
                }
            }
            if next >= bound.min(answer) || next > until || done == budget {
                break None;
            }
            now = next;
        };
        self.ahead = self.ahead.max(now);
        // The lane still stands on top of the heap, by its old key; most often one move is enough.
        match (lanes[g as usize].ring.next_arrival(), begun) {
            (Some(next), Some((arrival, out))) => {
                lane_heap.replace_top(next, g);
                lane_heap.push(arrival, out);
            }
            (Some(next), None) => lane_heap.replace_top(next, g),
            (None, Some((arrival, out))) => lane_heap.replace_top(arrival, out),
            (None, None) => lane_heap.pop(),
        }
        if lanes[g as usize].is_queued() && lanes[g as usize].ring.is_empty() {
            queues.expect(g, &lanes[g as usize]);
            self.next_other = self.next_other.min(queues.next());
        }
        if let Some(frame) = punted {
            nodes[id.index()].device.handle_packet(now, in_port, frame);
            self.drain(id);
        }
        done
    }

    /// The first frame of lane `g` was taken, and the lane stands on top of the heap: puts it where it belongs now.
    fn settle_top(&mut self, g: u32) {
        match self.lanes[g as usize].ring.next_arrival() {
            Some(next) => self.lane_heap.replace_top(next, g),
            None => {
                self.lane_heap.pop();
                self.queues.expect(g, &self.lanes[g as usize]);
                self.next_other = self.next_other.min(self.queues.next());
            }
        }
    }

    /// The first frame of lane `g` arrives, and there is more to do than to forward it.
    fn arrive_attended(&mut self, g: u32) {
        let lane = &mut self.lanes[g as usize];
        lane.catch_up(self.now);
        let punted = core::mem::take(&mut lane.punted);
        let Some(frame) = lane.arrive() else {
            self.lane_heap.pop();
            return;
        };
        self.settle_top(g);
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
    pub(super) fn arrive_at(&mut self, g: u32, frame: Frame, punted: bool) {
        let (node, to_port) = (self.lanes[g as usize].to_node, self.lanes[g as usize].to_port);
        let port = &mut self.ports[g as usize];
        if self.nodes[node.index()].state != NodeState::Up {
            port.drops.count(DropReason::NodeDown);
            return;
        }
        port.delivered.0 += 1;
        port.delivered.1 += u64::from(frame.wire_len());
        if let Some(outside) = &mut port.outside {
            outside.leaving.push_back((self.now, frame));
            return;
        }
        self.tap_arrival(g, &frame);
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
            Verdict::Punt => {
                node.device.handle_packet(now, in_port, frame);
                self.drain(id);
            }
            Verdict::Drop(_) | Verdict::Consume => {}
        }
    }

    /// Sends a frame by a device's port. Returns when an answer to it may arrive, at the earliest, unless
    /// the lane was not empty.
    pub(super) fn send_from(&mut self, id: NodeId, port: PortId, ready: Time, frame: Frame) -> Time {
        let node = &mut self.nodes[id.index()];
        let Some(&out) = node.ports.get(port.index()) else {
            node.stray_frames += 1;
            return Time::MAX;
        };
        let lane = &mut self.lanes[out as usize];
        let place = lane.ring.tail();
        let sent = lane.transmit(self.now, ready, frame);
        if lane.attend_departures {
            let port = &self.ports[out as usize];
            self.tap_over |= tap_departures(&mut self.taps, port, lane, self.now, out, place);
            self.queues.expect(out, lane);
            self.next_other = self.next_other.min(self.queues.next());
        }
        match sent {
            Sent::First(arrival) => {
                self.lane_heap.push(arrival, out);
                return answered(&self.lanes, out, arrival);
            }
            Sent::Waits(arrival) => {
                self.queues.expect(out, &self.lanes[out as usize]);
                self.next_other = self.next_other.min(self.queues.next());
                return answered(&self.lanes, out, arrival);
            }
            Sent::Behind => {}
            Sent::Refused(reason) => self.ports[out as usize].drops.count(reason),
        }
        Time::MAX
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
                    // A frame that waited here came in from outside; when it did is not when it arrives at the next device.
                    frame.set_arrived(Time::MAX);
                    self.send_from(id, port, ready, frame);
                }
                Some(Output::Event(event)) => {
                    self.events.push(EventRecord { at: self.now, node: id, event });
                }
                None => break,
            }
        }
        let node = &mut self.nodes[id.index()];
        let timeout = if node.state == NodeState::Up { node.device.poll_timeout() } else { None };
        let timeout = timeout.map(|at| at.max(self.now));
        node.timeout = timeout.unwrap_or(Time::MAX);
        self.timers.set(id.0, timeout);
        self.look_ahead();
    }

    /// Finds out when the next thing other than an undisturbed arrival may happen.
    pub(super) fn look_ahead(&mut self) {
        let timer = self.timers.peek().map_or(Time::MAX, |(at, _)| at);
        self.next_task = self.agenda.next().min(self.late.next());
        self.next_other = timer.min(self.next_task).min(self.queues.next());
    }

    /// Does one thing that is due at `now`, in the order that the module's documentation states.
    fn do_other(&mut self, now: Time) -> Result<(), EngineError> {
        if self.agenda.next() == now {
            if let Some(task) = self.agenda.pop() {
                self.look_ahead();
                self.apply(task);
            }
            return Ok(());
        }
        if self.queues.next() == now {
            self.serve_queue(now);
            return Ok(());
        }
        let (at, g) = self.lane_heap.peek();
        let late = self.late.next_port().filter(|late| late.0 == now);
        if at == now && late.is_none_or(|late| g ^ 1 <= late.1) {
            self.arrive_attended(g);
            return Ok(());
        }
        if late.is_some() {
            self.arrive_late();
            return Ok(());
        }
        let Some((_, id)) = self.timers.peek().filter(|timer| timer.0 == now) else {
            self.look_ahead();
            return Ok(());
        };
        let id = NodeId(id);
        self.spin(id, now, 1);
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
            Task::Fault(kind, on) => self.apply_fault(&kind, on),
            Task::Detect { lane, changes } => self.detect(lane, changes),
            Task::NodeUp { node, restarts } => {
                if self.nodes[node.index()].restarts == restarts {
                    self.node_up(node);
                }
            }
        }
    }

    fn note_input(&mut self, id: NodeId, input: impl FnOnce() -> Input) {
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
            NodeState::Restarting => node.deferred.push_back(command),
            NodeState::Failed => {}
        }
    }

    /// The running device failed: it is not called any more, and the queues are put right.
    fn bury(&mut self) {
        let id = self.running;
        self.nodes[id.index()].state = NodeState::Failed;
        self.nodes[id.index()].timeout = Time::MAX;
        self.timers.set(id.0, None);
        self.lane_heap.clear();
        for g in 0..self.lanes.len() as u32 {
            if let Some(arrival) = self.lanes[g as usize].ring.next_arrival() {
                self.lane_heap.push(arrival, g);
            }
            self.attend(g);
        }
        self.expect_all();
    }

    /// Decides whether arrivals of lane `g` take the general path.
    pub(super) fn attend(&mut self, g: u32) {
        let node = &self.nodes[self.lanes[g as usize].to_node.index()];
        let impaired = self.ports[g as usize].impairments.as_ref().is_some_and(|i| !i.idle(self.now));
        let (lane, port) = (&mut self.lanes[g as usize], &self.ports[g as usize]);
        let watched = node.recorder.is_some() || !port.in_taps.is_empty();
        let leaves = port.outside.is_some();
        lane.attend_arrivals = node.state != NodeState::Up || impaired || watched || leaves;
        lane.attend_departures = !port.out_taps.is_empty();
    }
}

/// Up to when (exclusive) device `id` can't be interfered with when it forwards arrivals of lane `g`, or sends of its own
/// accord, if `first` is the earliest event of all; zero if that is not beyond `next`.
///
/// Only inputs of the same device matter. Its own timeout (which its departures heed by themselves) and what was asked for are
/// known, and so are the first arrivals of its other lanes (if a frame waits in a queue, a time before
/// which there is none). A frame that is yet to be sent into one of those is sent
/// at `first` or later, or when its sender has a reason to ([`idle_until`]), and arrives no sooner than the lane's shortest
/// delay after that; the caller looks after answers to what the device itself sends meanwhile. So devices run ahead of
/// each other by about a link's delay, and no device can tell.
#[inline]
pub(super) fn run_bound(
    nodes: &[Node],
    lanes: &[Lane],
    id: NodeId,
    g: Option<u32>,
    times: [Time; 3],
) -> Time {
    let [first, next, next_task] = times;
    let node = &nodes[id.index()];
    let mut bound = if g.is_some() { next_task.min(node.timeout) } else { next_task };
    if node.ports.len() > RUN_PORTS_MAX {
        return Time::ZERO;
    }
    for &out in &node.ports {
        if Some(out ^ 1) == g {
            continue;
        }
        let lane = &lanes[out as usize ^ 1];
        let mut sent = first.0.saturating_add(lane.shortest());
        if sent <= next.0 {
            sent = idle_until(nodes, lanes, lanes[out as usize].to_node, id, first).0;
            sent = sent.saturating_add(lane.shortest());
        }
        bound = bound.min(Time(sent)).min(lane.next_arrival());
        if bound <= next {
            return Time::ZERO;
        }
    }
    bound
}

/// When an answer may come, at the earliest, to what arrives at the end of lane `out` at `arrival`.
#[inline]
fn answered(lanes: &[Lane], out: u32, arrival: Time) -> Time {
    Time(arrival.0.saturating_add(lanes[out as usize ^ 1].shortest()))
}

/// When a device has a reason to send something, at the earliest, unless it gets something from `neighbor`.
fn idle_until(nodes: &[Node], lanes: &[Lane], id: NodeId, neighbor: NodeId, first: Time) -> Time {
    let node = &nodes[id.index()];
    if node.ports.len() > RUN_PORTS_MAX {
        return first;
    }
    let mut until = node.timeout;
    for &out in &node.ports {
        let lane = &lanes[out as usize ^ 1];
        until = until.min(lane.next_arrival());
        if lanes[out as usize].to_node != neighbor {
            until = until.min(Time(first.0.saturating_add(lane.shortest())));
        }
    }
    until
}
