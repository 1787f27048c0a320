//! The inner loop.

use super::bound::{answered, run_bound};
use super::taps::tap_departures;
use super::{Progress, World};
use crate::error::EngineError;
use crate::lane::Sent;
use crate::record::Input;
use base::device::DropReason;
use base::{Time, Verdict};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Frames on a lane for which it is worth while to find out how many can be forwarded in a row.
const RUN_MIN: usize = 4;
/// After how many frames that is asked again where there was none.
const RUN_PAUSE: u8 = 32;

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
                        let number = lane.ring.tail();
                        let sent = lane.transmit(now, ready, frame);
                        if lane.attend_departures {
                            let port = &ports[out as usize];
                            self.tap_over |= tap_departures(&mut self.taps, port, lane, now, out, number);
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
                    None => {
                        node.stray_frames += 1;
                        ports[g as usize ^ 1].device_losses.lost(now, &frame, DropReason::PortDown);
                    }
                },
                Verdict::Drop(reason) => ports[g as usize ^ 1].device_losses.lost(now, &frame, reason),
                Verdict::Consume => {}
                Verdict::Punt | Verdict::Replicate if done == 1 => break Some(frame),
                Verdict::Punt | Verdict::Replicate => {
                    // Its turn has not come: what the device reports is reported in order of time.
                    done -= 1;
                    lanes[g as usize].put_back(frame);
                    break None;
                }
            }
            let Some(flight) = lanes[g as usize].ring.first() else { break None };
            let next = flight.arrival;
            // The sender may be as far back as `first`, and counts what waits in its queue: what is in that queue,
            // for all that it knows, stays on the lane.
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
    pub(super) fn settle_top(&mut self, g: u32) {
        match self.lanes[g as usize].ring.next_arrival() {
            Some(next) => self.lane_heap.replace_top(next, g),
            None => {
                self.lane_heap.pop();
                self.queues.expect(g, &self.lanes[g as usize]);
                self.next_other = self.next_other.min(self.queues.next());
            }
        }
    }
}
