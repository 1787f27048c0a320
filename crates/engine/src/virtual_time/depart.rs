//! The fast path of sources: frames that devices send of their own accord.

use super::World;
use super::bound::run_bound;
use super::general::SPIN_LIMIT;
use base::{NodeId, Time};

/// Departures in a row at most.
const ROW_MAX: u64 = 4096;

impl World {
    /// Sends what the device whose timeout is due at `first`, before anything else happens, has to send then, and
    /// what it sends after that as long as nothing can interfere: [`run_bound`]. Returns how many frames there were;
    /// none means that its timeout is to be handled.
    pub(super) fn depart(&mut self, first: Time, until: Time, budget: u64) -> u64 {
        let Some((_, id)) = self.timers.peek() else { return 0 };
        let id = NodeId(id);
        let row = if self.nodes[id.index()].recorder.is_some() { 0 } else { self.row(id, first) };
        let (mut done, mut before) = (0, Time(first.0.saturating_add(1)));
        while done < row.min(budget) {
            self.running = id;
            let node = &mut self.nodes[id.index()];
            let Some(departure) = node.device.poll_departure(before) else { break };
            node.timeout = departure.next.map_or(Time::MAX, |at| at.max(departure.at));
            let next = node.timeout;
            done += 1;
            self.now = departure.at;
            let answer = self.send_from(id, departure.port, departure.at, departure.frame);
            if done == 1 && !self.in_step && next <= until {
                let times = [first, next, self.next_task];
                let bound = run_bound(&self.nodes, &self.lanes, id, None, times);
                before = before.max(bound.min(Time(until.0.saturating_add(1))));
            }
            // What was sent may be answered.
            before = before.min(answer);
            if next >= before {
                break;
            }
        }
        if done > 0 {
            let next = self.nodes[id.index()].timeout;
            self.timers.set(id.0, if next == Time::MAX { None } else { Some(next) });
            let timer = self.timers.peek().map_or(Time::MAX, |(at, _)| at);
            self.next_other = timer.min(self.next_task).min(self.queues.next());
            self.ahead = self.ahead.max(self.now);
            if self.now == first {
                self.spin(id, first, done);
            }
        }
        done
    }

    /// How many frames the device may send in a row before it is seen whether it lets time pass.
    fn row(&self, id: NodeId, now: Time) -> u64 {
        let (at, spinning, count) = self.spinning;
        if at == now && spinning == id && count >= SPIN_LIMIT { 0 } else { ROW_MAX }
    }

    /// Takes note of `calls` timeouts of a device at the same time.
    pub(super) fn spin(&mut self, id: NodeId, now: Time, calls: u64) {
        let (at, spinning, count) = self.spinning;
        let before = if at == now && spinning == id { count } else { 0 };
        self.spinning = (now, id, before.saturating_add(calls as u32));
    }
}
