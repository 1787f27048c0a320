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
use super::process::{Due, Key, Processes, arrival_key, arrival_key_or_never, at_time, due_of, time_of};
use super::taps::tap_departures;
use crate::error::EngineError;
use crate::lane::Sent;
use base::device::DropReason;
use base::prefetch::prefetch_bytes;
use base::{Frame, NodeId, PortId, Time, Verdict};

/// What every frame needs of a lane.
const LANE_BYTES: usize = 192;

/// Where the devices that there are have what every frame needs.
const DEVICE_BYTES: usize = 832;

/// What ended a window.
enum Left {
    /// The window is over.
    Nothing,
    /// The first thing to do needs more than the fast path.
    All,
    /// The fast path punted a frame, which came by this port.
    Punted(NodeId, PortId, Frame),
}

/// The time that a process has for itself, and how far it has come.
struct Window {
    process: u32,
    /// Where its tournament begins.
    base: u32,
    /// Its first thing to do, and that of all processes.
    first: Key,
    /// The end of the run.
    until: Time,
    /// How many events there may be.
    budget: u64,
    done: u64,
    /// Up to when (exclusive) the process can go on by itself; known after the first event.
    limit: Time,
    /// If what comes next of the lane or device that is being worked on comes before this, it is what the process has
    /// to do next, and the tournament need not be asked. Zero if that is not known.
    alone: Time,
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
        if let Some(second) = self.processes.prefetch_second(first) {
            self.prefetch(second);
        }
        if !self.processes.queued(process).is_empty() {
            self.catch_up_to(process, time_of(first));
        }
        let (done, limit, alone) = (0, Time::MAX, Time::ZERO);
        let mut window = Window { process, base, first, until, budget, done, limit, alone };
        let mut key = self.processes.root(base);
        let left = loop {
            let before = window.done;
            let went = match due_of(key) {
                Due::Arrival(g) => self.take_arrivals(&mut window, g, time_of(key)),
                Due::Timeout(number) => self.take_departures(&mut window, number, time_of(key)),
            };
            if window.done > before {
                // The last of what was done in a row.
                self.processes.did(at_time(key, self.now));
            }
            match went {
                Ok(next) => key = next,
                Err(left) => break left,
            }
        };
        self.ahead = self.ahead.max(self.now);
        match left {
            Left::Nothing => self.processes.settle_first(process, base),
            Left::All => {
                window.done = 1;
                (self.now, self.ahead) = (time_of(key), self.ahead.max(time_of(key)));
                self.do_first(due_of(key))?;
            }
            Left::Punted(id, in_port, frame) => {
                self.processes.settle_first(process, base);
                self.begin_turn(key);
                self.nodes[id.index()].device.handle_packet(self.now, in_port, frame);
                self.drain(id);
            }
        }
        Ok(window.done)
    }

    /// Hints that this is to be done soon.
    #[inline(never)]
    fn prefetch(&self, due: Due) {
        let number = match due {
            Due::Arrival(g) => {
                let lane = &self.lanes[g as usize];
                prefetch_bytes(lane, LANE_BYTES);
                lane.ring.prefetch(0);
                lane.to_node.index()
            }
            Due::Timeout(number) => number as usize,
        };
        prefetch_bytes(&*self.nodes[number].device, DEVICE_BYTES);
    }

    /// Forwards the first frame of lane `g`, which arrives at `now`, and those behind it as long as the process has
    /// nothing else to do before. Returns what it has to do then.
    #[inline(always)]
    fn take_arrivals(&mut self, window: &mut Window, g: u32, mut now: Time) -> Result<Key, Left> {
        let lane = &self.lanes[g as usize];
        if lane.attend_arrivals || lane.punted {
            return Err(if window.done == 0 { Left::All } else { Left::Nothing });
        }
        let (id, in_port, leaf) = (lane.to_node, lane.to_port, lane.place.leaf);
        self.running = id;
        window.alone = Time::ZERO;
        loop {
            self.now = now;
            let Some(mut frame) = self.lanes[g as usize].arrive() else {
                debug_assert!(false, "nothing arrives on lane {g}");
                return Err(Left::Nothing);
            };
            let node = &mut self.nodes[id.index()];
            let mut verdict = [Verdict::Punt];
            node.device.forward_batch(now, in_port, core::slice::from_mut(&mut frame), &mut verdict);
            if let Verdict::Punt | Verdict::Replicate = verdict[0] {
                return Err(self.punt(window, g, frame));
            }
            window.done += 1;
            match verdict[0] {
                Verdict::Transmit { port, ready } => match node.ports.get(port.index()) {
                    Some(&out) => self.send_on(window, now, out, ready, frame),
                    None => {
                        node.stray_frames += 1;
                        self.ports[g as usize ^ 1].device_losses.lost(now, &frame, DropReason::PortDown);
                    }
                },
                Verdict::Drop(reason) => self.ports[g as usize ^ 1].device_losses.lost(now, &frame, reason),
                Verdict::Consume | Verdict::Punt | Verdict::Replicate => {}
            }
            let lane = &self.lanes[g as usize];
            let next = lane.ring.next_arrival().unwrap_or(Time::MAX);
            if next == Time::MAX && lane.is_queued() {
                self.queues.expect(g, lane);
                window.stop_at(lane.upcoming());
            }
            if next >= window.alone || window.done == window.budget {
                let key = arrival_key_or_never(next, g, window.process);
                if let Some(other) = self.turn(window, leaf, key) {
                    return other;
                }
            }
            now = next;
        }
    }

    /// The fast path punted the first frame of lane `g`. It waits there if its turn has not come.
    #[cold]
    fn punt(&mut self, window: &mut Window, g: u32, frame: Frame) -> Left {
        let lane = &mut self.lanes[g as usize];
        let (id, in_port, leaf) = (lane.to_node, lane.to_port, lane.place.leaf);
        if window.done > 0 {
            lane.put_back(frame);
            self.processes.replace_first(window.base, leaf, arrival_key(self.now, g, window.process));
            return Left::Nothing;
        }
        window.done = 1;
        if lane.is_queued() && lane.ring.is_empty() {
            self.queues.expect(g, lane);
        }
        let next = lane.ring.next_arrival().unwrap_or(Time::MAX);
        self.processes.replace_first(window.base, leaf, arrival_key_or_never(next, g, window.process));
        Left::Punted(id, in_port, frame)
    }

    /// Lets a device send what it has to send at `now`, and after that, as long as its process has nothing else to do
    /// before. Returns what it has to do then.
    #[inline(always)]
    fn take_departures(&mut self, window: &mut Window, number: u32, mut now: Time) -> Result<Key, Left> {
        window.alone = Time::ZERO;
        self.running = NodeId(number);
        loop {
            let node = &mut self.nodes[number as usize];
            let (at, spinning, count) = self.spinning;
            let again = at == now && spinning.0 == number;
            let stuck = again && count >= SPIN_LIMIT;
            self.now = now;
            let departure = if node.recorder.is_some() || stuck {
                None
            } else {
                node.device.poll_departure(Time(now.0.saturating_add(1)))
            };
            let Some(departure) = departure else {
                if window.done == 0 {
                    return Err(Left::All);
                }
                self.processes.replace_first(window.base, node.place.leaf, Processes::timeout(node, number));
                return Err(Left::Nothing);
            };
            self.spinning = (now, NodeId(number), if again { count + 1 } else { 1 });
            // A device that was down may be behind its schedule.
            let next = departure.next.map_or(Time::MAX, |at| at.max(now));
            node.timeout = next;
            window.done += 1;
            match node.ports.get(departure.port.index()) {
                Some(&out) => self.send_on(window, now, out, now, departure.frame),
                None => {
                    node.stray_frames += 1;
                    if let Some(&first) = node.ports.first() {
                        let book = &mut self.ports[first as usize].device_losses;
                        book.lost(now, &departure.frame, DropReason::PortDown);
                    }
                }
            }
            if next >= window.alone || window.done == window.budget {
                let node = &self.nodes[number as usize];
                if let Some(other) = self.turn(window, node.place.leaf, Processes::timeout(node, number)) {
                    return other;
                }
            }
            now = next;
        }
    }

    /// Hands a frame over to lane `out`.
    #[inline(always)]
    fn send_on(&mut self, window: &mut Window, now: Time, out: u32, ready: Time, frame: Frame) {
        let World { lanes, ports, processes, queues, taps, .. } = self;
        let lane = &mut lanes[out as usize];
        let number = lane.ring.tail();
        let sent = lane.transmit(now, ready, frame);
        if lane.attend_departures {
            self.tap_over |= tap_departures(taps, &ports[out as usize], lane, now, out, number);
            queues.expect(out, lane);
        }
        match sent {
            Sent::Behind => {}
            Sent::First(arrival) if lane.place.process == window.process => {
                let key = arrival_key(arrival, out, window.process);
                processes.lower_here(window.base, lane.place.leaf, key);
                window.alone = window.alone.min(arrival);
            }
            Sent::First(arrival) => processes.begin(lane.place, out, arrival),
            Sent::Waits(arrival) => {
                queues.expect(out, lane);
                if lane.place.process == window.process {
                    window.stop_at(arrival);
                }
            }
            Sent::Refused(reason) => ports[out as usize].drops.count(reason),
        }
    }

    /// What comes next at `leaf` has this key now. Nothing if the process does that next; then it may be known up to
    /// when it has nothing else to do. Otherwise what it does next, or that the window is over.
    #[inline(always)]
    fn turn(&mut self, window: &mut Window, leaf: u32, key: Key) -> Option<Result<Key, Left>> {
        let mut is_first = window.done == 1;
        if is_first {
            window.limit = window.limit.min(self.processes.reach(window.base, time_of(window.first)));
        }
        if window.alone == Time::ZERO
            && time_of(key) < window.limit
            && window.done != window.budget
            && let Some(other) = self.processes.next_other(window.base, leaf, key)
        {
            if is_first {
                window.limit = window.limit.min(self.limit(window));
                is_first = false;
            }
            if time_of(key) < window.limit {
                window.alone = window.limit.min(time_of(other));
                return None;
            }
        }
        let root = self.processes.replace_first(window.base, leaf, key);
        if time_of(root) >= window.limit || window.done == window.budget {
            return Some(Err(Left::Nothing));
        }
        if is_first {
            window.limit = window.limit.min(self.limit(window));
            if time_of(root) >= window.limit {
                return Some(Err(Left::Nothing));
            }
        }
        if root == key { None } else { Some(Ok(root)) }
    }

    /// Up to when (exclusive) a process can go on by itself.
    #[inline(never)]
    fn limit(&self, window: &Window) -> Time {
        let Window { process, first, until, .. } = *window;
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

impl Window {
    /// Something may come at `at` that the tournament does not know.
    #[inline(always)]
    fn stop_at(&mut self, at: Time) {
        self.limit = self.limit.min(at);
        self.alone = self.alone.min(at);
    }
}
