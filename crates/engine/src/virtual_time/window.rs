//! The inner loop: one process works through what it has to do, as far as nothing else can come to it.
//!
//! A process whose next thing to do is the first of all may go on with what it has to do after that, until something
//! may come from another process that is not on a lane yet: [`Processes::horizon`]. Arrivals, timeouts and departures
//! of its devices are merged in their order meanwhile, so that no device can tell how far others are (the lookahead of
//! conservative parallel simulation, Chandy and Misra 1979, used on one core for locality). What needs more than the
//! fast path waits until it is the first thing to be done of all: so what devices report is reported in order.
//!
//! Frames that have not begun to leave stay on their lane, as its sender, who counts what waits, sees them: what
//! arrives before the horizon has begun to leave before anything that the sender has yet to do.

use super::World;
use super::general::SPIN_LIMIT;
use super::process::{Due, Key, NEVER, Processes, arrival_key, due_of, time_of};
use super::taps::tap_departures;
use crate::error::EngineError;
use crate::lane::Sent;
use base::device::DropReason;
use base::{Frame, NodeId, PortId, Time, Verdict};

/// What ended a window, if it is not that its time is over.
enum Left {
    /// The window is over.
    Nothing,
    /// The first thing to do needs more than the fast path.
    All,
    /// The fast path punted a frame, which came by this port.
    Punted(NodeId, PortId, Frame),
}

impl World {
    /// Works on the process that has the first thing to do of all, which is done before anything else happens, until
    /// `until` and for `budget` events at most. Returns how many there were.
    #[inline(never)]
    pub(super) fn work(&mut self, until: Time, budget: u64) -> Result<u64, EngineError> {
        let first = self.processes.first();
        let process = Processes::of(first);
        let base = self.processes.base(process);
        let budget = if self.in_step { 1 } else { budget };
        if !self.processes.queued(process).is_empty() {
            self.catch_up_to(process, time_of(first));
        }
        let (mut done, mut limit, mut key) = (0, Time::MAX, first);
        let left = loop {
            let now = time_of(key);
            let World { nodes, lanes, ports, processes, queues, taps, .. } = self;
            let out = match due_of(key) {
                Due::Arrival(g) => {
                    let lane = &mut lanes[g as usize];
                    if lane.attend_arrivals || lane.punted {
                        break if done == 0 { Left::All } else { Left::Nothing };
                    }
                    let (id, in_port, leaf) = (lane.to_node, lane.to_port, lane.place.leaf);
                    let Some(mut frame) = lane.arrive() else { break Left::Nothing };
                    (self.running, self.now) = (id, now);
                    let node = &mut nodes[id.index()];
                    let mut verdict = [Verdict::Punt];
                    node.device.forward_batch(now, in_port, core::slice::from_mut(&mut frame), &mut verdict);
                    let lane = &mut lanes[g as usize];
                    if let Verdict::Punt | Verdict::Replicate = verdict[0]
                        && done > 0
                    {
                        // Its turn has not come.
                        lane.put_back(frame);
                        break Left::Nothing;
                    }
                    let next = match lane.ring.next_arrival() {
                        Some(at) => arrival_key(at, g, process),
                        None => NEVER,
                    };
                    if next == NEVER && lane.is_queued() {
                        queues.expect(g, lane);
                        limit = limit.min(lane.upcoming());
                    }
                    processes.write_here(base, leaf, next);
                    done += 1;
                    match verdict[0] {
                        Verdict::Transmit { port, ready } => match node.ports.get(port.index()) {
                            Some(&out) => Some((out, ready, frame)),
                            None => {
                                node.stray_frames += 1;
                                ports[g as usize ^ 1].device_losses.lost(now, &frame, DropReason::PortDown);
                                None
                            }
                        },
                        Verdict::Drop(reason) => {
                            ports[g as usize ^ 1].device_losses.lost(now, &frame, reason);
                            None
                        }
                        Verdict::Consume => None,
                        Verdict::Punt | Verdict::Replicate => break Left::Punted(id, in_port, frame),
                    }
                }
                Due::Timeout(number) => {
                    let node = &mut nodes[number as usize];
                    let (at, spinning, count) = self.spinning;
                    let again = at == now && spinning.0 == number;
                    let stuck = again && count >= SPIN_LIMIT;
                    (self.running, self.now) = (NodeId(number), now);
                    let departure = if node.recorder.is_some() || stuck {
                        None
                    } else {
                        node.device.poll_departure(Time(now.0.saturating_add(1)))
                    };
                    let Some(departure) = departure else {
                        break if done == 0 { Left::All } else { Left::Nothing };
                    };
                    self.spinning = (now, NodeId(number), if again { count + 1 } else { 1 });
                    // A device that was down may be behind its schedule.
                    node.timeout = departure.next.map_or(Time::MAX, |at| at.max(now));
                    processes.write_here(base, node.place.leaf, Processes::timeout(node, number));
                    done += 1;
                    match node.ports.get(departure.port.index()) {
                        Some(&out) => Some((out, now, departure.frame)),
                        None => {
                            node.stray_frames += 1;
                            if let Some(&first) = node.ports.first() {
                                let book = &mut ports[first as usize].device_losses;
                                book.lost(now, &departure.frame, DropReason::PortDown);
                            }
                            None
                        }
                    }
                }
            };
            if let Some((out, ready, frame)) = out {
                let lane = &mut lanes[out as usize];
                let number = lane.ring.tail();
                let sent = lane.transmit(now, ready, frame);
                if lane.attend_departures {
                    self.tap_over |= tap_departures(taps, &ports[out as usize], lane, now, out, number);
                    queues.expect(out, lane);
                }
                match sent {
                    Sent::Behind => {}
                    Sent::First(arrival) if lane.place.process == process => {
                        processes.write_here(base, lane.place.leaf, arrival_key(arrival, out, process));
                    }
                    Sent::First(arrival) => processes.begin(lane.place, out, arrival),
                    Sent::Waits(arrival) => {
                        queues.expect(out, lane);
                        if lane.place.process == process {
                            limit = limit.min(arrival);
                        }
                    }
                    Sent::Refused(reason) => ports[out as usize].drops.count(reason),
                }
            }
            key = processes.root(base);
            if done == budget {
                break Left::Nothing;
            }
            if done == 1 {
                limit = limit.min(self.limit(process, first, until));
            }
            if time_of(key) >= limit {
                break Left::Nothing;
            }
        };
        self.ahead = self.ahead.max(self.now);
        match left {
            Left::Nothing => self.processes.settle_first(base),
            Left::All => {
                done = 1;
                (self.now, self.ahead) = (time_of(key), self.ahead.max(time_of(key)));
                self.do_first(due_of(key))?;
            }
            Left::Punted(id, in_port, frame) => {
                self.processes.settle_first(base);
                self.nodes[id.index()].device.handle_packet(self.now, in_port, frame);
                self.drain(id);
            }
        }
        Ok(done)
    }

    /// Up to when (exclusive) a process can go on by itself, if nothing happens before `first`, its next thing to do.
    #[inline]
    fn limit(&self, process: u32, first: Key, until: Time) -> Time {
        let horizon = self.processes.horizon(process, time_of(first), self.queues.next());
        let mut limit = horizon.min(self.next_task).min(Time(until.0.saturating_add(1)));
        for &g in self.processes.queued(process) {
            let lane = &self.lanes[g as usize];
            if lane.ring.is_empty() {
                limit = limit.min(lane.upcoming());
            }
        }
        limit
    }
}
