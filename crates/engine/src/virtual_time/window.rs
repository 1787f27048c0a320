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
use super::keys::{Due, Key, NEVER};
use super::taps::tap_departures;
use crate::error::EngineError;
use crate::lane::{Sent, Wired};
use base::device::DropReason;
use base::prefetch::prefetch_bytes;
use base::{Frame, NodeId, Time, Verdict};

/// What every frame needs of a lane.
const LANE_BYTES: usize = 128;

/// Where the devices that there are have what every frame needs.
const DEVICE_BYTES: usize = 832;

/// How a window goes on.
enum Next {
    /// The process does what has this key.
    Has(Key),
    /// The window is over.
    Over,
    /// The first thing to do needs more than the fast path.
    General,
    /// The same, and that is done.
    Done,
}

/// The time that a process has for itself, and how far it has come.
struct Window {
    process: u32,
    /// Where its tournament begins.
    base: u32,
    /// How many events there may be, and how many more.
    budget: u64,
    left: u64,
    /// Up to when (exclusive) the process can go on by itself. The first event is done in any case.
    limit: Time,
    /// The clocks of its neighbours are among that.
    looked: bool,
    /// If what comes next of the lane or device that is being worked on comes before this, it is what the process has
    /// to do next, and the tournament need not be asked. Zero if that is not known.
    alone: Time,
}

impl World {
    /// Works on the processes that have the first things to do of all, one after the other, as long as these come
    /// before anything else and not after `until`, and for `left` events at most, which are taken off. In a large
    /// network (`FAR`), what is needed soon is fetched ahead.
    #[inline(never)]
    pub(super) fn work<const FAR: bool>(&mut self, until: Time, left: &mut u64) -> Result<(), EngineError> {
        loop {
            let turn = self.processes.first();
            let first = self.processes.time_of(turn);
            let bound = self.next_task.min(Time(until.0.saturating_add(1))).min(self.processes.late());
            if first >= bound.min(self.queues.next()) || *left == 0 || self.tap_over {
                return Ok(());
            }
            let process = self.processes.owner(turn);
            if FAR && let Some(second) = self.processes.second(process) {
                self.prefetch(second);
            }
            let (base, reach, is_queued) = self.processes.window_of(process, first);
            if is_queued {
                self.catch_up_to(process, first);
            }
            let budget = if self.in_step { 1 } else { *left };
            let (looked, alone) = (false, Time::ZERO);
            let mut window =
                Window { process, base, budget, left: budget, limit: reach.min(bound), looked, alone };
            self.work_through::<FAR>(&mut window)?;
            *left -= window.done();
            self.events_done += window.done();
        }
    }

    /// Works on one process. The first thing that it has to do is done before anything else happens.
    #[inline(always)]
    fn work_through<const FAR: bool>(&mut self, window: &mut Window) -> Result<(), EngineError> {
        let mut key = self.processes.root(window.base);
        debug_assert!(key != NEVER, "a process that has nothing to do has its turn");
        loop {
            let (due, at) = (self.processes.due_of(key), self.processes.time_of(key));
            let next = match due {
                Due::Arrival(g) => self.take_arrivals::<FAR>(window, g, at),
                Due::Timeout(number) => self.take_departures::<FAR>(window, number, at),
            };
            match next {
                Next::Has(next) => key = next,
                Next::Over => {
                    self.ahead = self.ahead.max(self.now);
                    self.processes.settle_first(window.process);
                    return Ok(());
                }
                Next::General => {
                    (self.now, self.ahead) = (at, self.ahead.max(at));
                    window.left = window.budget - 1;
                    return self.do_first(due);
                }
                Next::Done => {
                    window.left = window.budget - 1;
                    return Ok(());
                }
            }
        }
    }

    /// Hints that what has this key is to be done soon.
    #[inline(never)]
    fn prefetch(&self, key: Key) {
        self.processes.prefetch(self.processes.owner(key));
        let number = match self.processes.due_of(key) {
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
    /// nothing else to do before.
    #[inline(always)]
    fn take_arrivals<const FAR: bool>(&mut self, window: &mut Window, g: u32, mut now: Time) -> Next {
        let lane = &self.lanes[g as usize];
        if lane.attend_arrivals | lane.punted {
            return if window.done() == 0 { Next::General } else { Next::Over };
        }
        let (id, in_port, leaf) = (lane.to_node, lane.to_port, lane.place.leaf);
        self.running = id;
        window.alone = Time::ZERO;
        let next = loop {
            self.now = now;
            let Some((mut frame, mut next)) = self.lanes[g as usize].ring.pop_next::<FAR>() else {
                debug_assert!(false, "nothing arrives on lane {g}");
                return Next::Over;
            };
            let node = &mut self.nodes[id.index()];
            let verdict = node.device.forward_one(now, in_port, &mut frame);
            if let Verdict::Transmit { port, ready } = verdict
                && let Some(&out) = node.ports.get(port.index())
            {
                window.left -= 1;
                self.send_on::<FAR>(window, now, out, ready, frame);
            } else if let Verdict::Punt | Verdict::Replicate = verdict {
                return self.punt(window, g, frame);
            } else {
                window.left -= 1;
                self.end(g, frame, verdict);
            }
            if next == Time::MAX {
                next = self.next_of_idle(window, g);
            }
            if next >= window.alone || window.left == 0 {
                let key = self.processes.arrival_key_or_never(next, g);
                if let Some(other) = self.turn(window, leaf, key, next) {
                    break other;
                }
            }
            now = next;
        };
        // The last of what was done in a row.
        let last = self.processes.arrival_key(now, g);
        self.processes.did(window.process, last);
        next
    }

    /// When something arrives next by lane `g`, which had nothing behind the frame that arrived; the largest time if
    /// that is not known.
    #[inline(always)]
    fn next_of_idle(&mut self, window: &mut Window, g: u32) -> Time {
        let lane = &self.lanes[g as usize];
        // It may lead back to the device that has sent the frame on.
        let next = lane.ring.next_arrival().unwrap_or(Time::MAX);
        if next == Time::MAX && lane.is_queued() {
            self.queues.expect(g, lane);
            window.stop_at(lane.upcoming());
        }
        next
    }

    /// The first frame of lane `g` has ended in the device at the far end.
    #[inline(never)]
    fn end(&mut self, g: u32, frame: Frame, verdict: Verdict) {
        let reason = match verdict {
            Verdict::Drop(reason) => reason,
            Verdict::Transmit { .. } => {
                self.nodes[self.lanes[g as usize].to_node.index()].stray_frames += 1;
                DropReason::PortDown
            }
            Verdict::Consume | Verdict::Punt | Verdict::Replicate => return,
        };
        self.ports[g as usize ^ 1].device_losses.lost(self.now, &frame, reason);
    }

    /// The fast path punted the first frame of lane `g`. It waits there if its turn has not come.
    #[cold]
    fn punt(&mut self, window: &mut Window, g: u32, frame: Frame) -> Next {
        let lane = &mut self.lanes[g as usize];
        let (id, in_port, leaf) = (lane.to_node, lane.to_port, lane.place.leaf);
        if window.done() > 0 {
            lane.put_back(frame);
            let key = self.processes.arrival_key(self.now, g);
            self.processes.replace_first(window.base, leaf, key);
            return Next::Over;
        }
        if lane.is_queued() && lane.ring.is_empty() {
            self.queues.expect(g, lane);
        }
        let next = lane.ring.next_arrival().unwrap_or(Time::MAX);
        let key = self.processes.arrival_key_or_never(next, g);
        self.processes.replace_first(window.base, leaf, key);
        self.ahead = self.ahead.max(self.now);
        self.begin_turn(Due::Arrival(g));
        self.processes.settle_first(window.process);
        self.nodes[id.index()].device.handle_packet(self.now, in_port, frame);
        self.drain(id);
        Next::Done
    }

    /// Lets a device send what it has to send at `now`, and after that, as long as its process has nothing else to do
    /// before.
    #[inline(never)]
    fn take_departures<const FAR: bool>(&mut self, window: &mut Window, number: u32, mut now: Time) -> Next {
        window.alone = Time::ZERO;
        self.running = NodeId(number);
        let before = window.left;
        let mut last = now;
        let next = loop {
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
                if window.done() == 0 {
                    return Next::General;
                }
                let key = self.processes.timeout_key_or_never(node.timeout, number);
                self.processes.replace_first(window.base, node.place.leaf, key);
                break Next::Over;
            };
            last = now;
            self.spinning = (now, NodeId(number), if again { count + 1 } else { 1 });
            // A device that was down may be behind its schedule.
            let next = departure.next.map_or(Time::MAX, |at| at.max(now));
            node.timeout = next;
            let leaf = node.place.leaf;
            window.left -= 1;
            match node.ports.get(departure.port.index()) {
                Some(&out) => self.send_on::<FAR>(window, now, out, now, departure.frame),
                None => {
                    node.stray_frames += 1;
                    if let Some(&first) = node.ports.first() {
                        let book = &mut self.ports[first as usize].device_losses;
                        book.lost(now, &departure.frame, DropReason::PortDown);
                    }
                }
            }
            if next >= window.alone || window.left == 0 {
                let key = self.processes.timeout_key_or_never(next, number);
                if let Some(other) = self.turn(window, leaf, key, next) {
                    break other;
                }
            }
            now = next;
        };
        if window.left < before {
            let last = self.processes.timeout_key(last, number);
            self.processes.did(window.process, last);
        }
        next
    }

    /// Hands a frame over to lane `out`.
    #[inline(always)]
    fn send_on<const FAR: bool>(
        &mut self,
        window: &mut Window,
        now: Time,
        out: u32,
        ready: Time,
        frame: Frame,
    ) {
        let lane = &mut self.lanes[out as usize];
        if !lane.is_direct() || lane.attend_departures {
            return self.send_aside(window, now, out, ready, frame);
        }
        match lane.transmit_direct::<FAR>(now, ready, frame) {
            (Wired::Behind, _) => {}
            (Wired::First, arrival) => self.begin(window, out, arrival),
            (Wired::Full, _) => self.ports[out as usize].drops.count(DropReason::BufferFull),
        }
    }

    /// The same where there is more to do than to put it on a wire.
    #[inline(never)]
    fn send_aside(&mut self, window: &mut Window, now: Time, out: u32, ready: Time, frame: Frame) {
        let World { lanes, ports, queues, taps, .. } = self;
        let lane = &mut lanes[out as usize];
        let number = lane.ring.tail();
        let sent = lane.transmit(now, ready, frame);
        if lane.attend_departures {
            self.tap_over |= tap_departures(taps, &ports[out as usize], lane, now, out, number);
            queues.expect(out, lane);
        }
        match sent {
            Sent::Behind => {}
            Sent::First(arrival) => self.begin(window, out, arrival),
            Sent::Waits(arrival) => {
                queues.expect(out, lane);
                if lane.place.process == window.process {
                    window.stop_at(arrival);
                }
            }
            Sent::Refused(reason) => ports[out as usize].drops.count(reason),
        }
    }

    /// Lane `out`, which was idle, has a first arrival.
    #[inline(always)]
    fn begin(&mut self, window: &mut Window, out: u32, arrival: Time) {
        let place = self.lanes[out as usize].place;
        if place.process == window.process {
            let key = self.processes.arrival_key(arrival, out);
            self.processes.lower_here(window.base, place.leaf, key);
            window.alone = window.alone.min(arrival);
        } else {
            self.processes.begin(place, out, arrival);
        }
    }

    /// What comes next at `leaf` has this key now, and comes at `at`. Nothing if the process does that next; then it
    /// may be known up to when it has nothing else to do. Otherwise how the window goes on.
    #[inline(always)]
    fn turn(&mut self, window: &mut Window, leaf: u32, key: Key, at: Time) -> Option<Next> {
        if at < window.limit && window.alone == Time::ZERO && window.left != 0 {
            let other = self.processes.other(window.base, leaf);
            if key <= other {
                if !window.looked {
                    self.look(window);
                }
                if at < window.limit {
                    window.alone = window.limit.min(self.processes.time_of(other));
                    return None;
                }
            }
        }
        let root = self.processes.replace_first(window.base, leaf, key);
        let root_at = self.processes.time_of(root);
        if root_at >= window.limit || window.left == 0 {
            return Some(Next::Over);
        }
        if !window.looked {
            self.look(window);
            if root_at >= window.limit {
                return Some(Next::Over);
            }
        }
        if root == key { None } else { Some(Next::Has(root)) }
    }

    /// Looks at the clocks of the neighbours, and thus finds out up to when a process can go on by itself.
    #[inline(always)]
    fn look(&self, window: &mut Window) {
        let horizon = self.processes.horizon(window.process, self.queues.next());
        window.limit = window.limit.min(horizon);
        window.looked = true;
        if !self.processes.queued(window.process).is_empty() {
            self.look_at_queues(window);
        }
    }

    #[inline(never)]
    fn look_at_queues(&self, window: &mut Window) {
        for &g in self.processes.queued(window.process) {
            let lane = &self.lanes[g as usize];
            if lane.ring.is_empty() {
                window.limit = window.limit.min(lane.upcoming());
            }
        }
    }
}

impl Window {
    /// How many events there were.
    #[inline(always)]
    fn done(&self) -> u64 {
        self.budget - self.left
    }

    /// Something may come at `at` that the tournament does not know.
    #[inline(always)]
    fn stop_at(&mut self, at: Time) {
        self.limit = self.limit.min(at);
        self.alone = self.alone.min(at);
    }
}
