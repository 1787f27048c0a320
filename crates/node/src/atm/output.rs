//! What waits in front of a port that carries cells, and when it leaves.
//!
//! Cells of CBR leave before those of UBR, and a cell that has begun is not interrupted. While a port has cells of one
//! service alone, they leave in the order in which they come: then the link can take each at once, and how many wait
//! follows from when the port is free. Only a port with both holds cells back, and one whose link is faster than it:
//! the end of a path, where cells are shaped.

use super::config::Service;
use base::device::{DropCounters, DropReason};
use base::{Frame, Rate, Serialiser, Time};
use std::collections::VecDeque;
use wire::atm::CELL_LEN;

/// A port that carries cells, as it sends.
#[derive(Debug)]
pub struct Output {
    serialiser: Serialiser,
    /// When the last bit of all that was sent has left.
    free: Time,
    /// When that of each cell does which the link has taken: the first of those to come is leaving, the others wait.
    ends: VecDeque<Time>,
    /// Does what waits wait here? There are channels of both services, or the link is faster.
    holds: bool,
    /// What waits, if so, by service.
    waiting: [VecDeque<Frame>; 2],
    /// How many cells may wait, by service.
    limits: [u32; 2],
    is_up: bool,
    /// What it has done.
    pub counters: OutputCounters,
}

/// What a port has done with cells that were to leave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputCounters {
    /// Cells sent, by service.
    pub sent: [u64; 2],
    /// Cells that found no room or a port that is down, or waited when it went down.
    pub dropped: DropCounters,
    /// The most that ever waited.
    pub waiting_max: u64,
}

/// What becomes of a cell that is to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// It leaves: the link takes it.
    Leaves,
    /// It has to wait here: [`Output::hold`].
    Waits,
    /// It is dropped, and counted.
    Dropped(DropReason),
}

impl Output {
    /// A port that is up and idle; `limits` are how many cells may wait, by service.
    pub fn new(rate: Rate, clock_ppb: i64, limits: [u32; 2], holds: bool) -> Output {
        Output {
            serialiser: Serialiser::new(rate, clock_ppb),
            free: Time::ZERO,
            ends: VecDeque::new(),
            holds,
            waiting: Default::default(),
            limits,
            is_up: true,
            counters: OutputCounters::default(),
        }
    }

    /// Would a cell leave at once, or be taken by the link at once?
    pub fn is_quick(&self, now: Time) -> bool {
        !self.holds || (self.free <= now && self.held() == 0)
    }

    /// How many cells wait here.
    pub fn held(&self) -> u64 {
        self.waiting.iter().map(|queue| queue.len() as u64).sum()
    }

    /// Cells of a service that wait at `now`, the one that is leaving not among them.
    pub fn waiting(&self, now: Time, service: Service) -> u64 {
        if self.holds {
            return self.waiting[service as usize].len() as u64;
        }
        let gone = self.ends.partition_point(|end| *end <= now);
        (self.ends.len() - gone).saturating_sub(1) as u64
    }

    /// Is there room for so many cells at `now`?
    pub fn has_room(&self, now: Time, service: Service, cells: u64) -> bool {
        let limit = u64::from(self.limits[service as usize]);
        let busy = u64::from(self.free > now || self.holds && self.held() > 0);
        // The first of them leaves at once if nothing is before it.
        self.waiting(now, service) + cells + busy <= limit + 1
    }

    /// Would cells that there is room for be taken?
    pub fn may_take(&self, has_room: bool) -> Result<(), DropReason> {
        match (self.is_up, has_room) {
            (true, true) => Ok(()),
            (true, false) => Err(DropReason::BufferFull),
            (false, _) => Err(DropReason::PortDown),
        }
    }

    /// Counts cells that were not offered one by one.
    pub fn refuse(&mut self, reason: DropReason, cells: u64) {
        self.counters.dropped.add(reason, cells);
    }

    /// What becomes of a cell that comes at `now`? One that leaves or is dropped is counted.
    pub fn offer(&mut self, now: Time, service: Service) -> Offered {
        if !self.is_up {
            self.counters.dropped.count(DropReason::PortDown);
            return Offered::Dropped(DropReason::PortDown);
        }
        if !self.has_room(now, service, 1) {
            self.counters.dropped.count(DropReason::BufferFull);
            return Offered::Dropped(DropReason::BufferFull);
        }
        if !self.is_quick(now) {
            return Offered::Waits;
        }
        self.take(now, service);
        Offered::Leaves
    }

    /// Keeps a cell that has to wait, until [`Output::next`].
    pub fn hold(&mut self, cell: Frame, service: Service) {
        self.waiting[service as usize].push_back(cell);
        self.counters.waiting_max = self.counters.waiting_max.max(self.held());
    }

    /// How many cells of a service may wait.
    pub fn limit(&self, service: Service) -> u64 {
        u64::from(self.limits[service as usize])
    }

    /// The port sends a cell as soon as it is free.
    fn take(&mut self, now: Time, service: Service) {
        // As the link does it: the remainder is carried while the port is busy.
        if self.free < now {
            self.serialiser.restart();
        }
        self.free = self.free.max(now) + self.serialiser.advance(CELL_LEN as u32);
        if !self.holds {
            while self.ends.pop_front_if(|end| *end <= now).is_some() {}
            // All but the one that is leaving wait.
            self.counters.waiting_max = self.counters.waiting_max.max(self.ends.len() as u64);
            self.ends.push_back(self.free);
        }
        self.counters.sent[service as usize] += 1;
    }

    /// When the port takes the next cell that waits here.
    pub fn due(&self) -> Option<Time> {
        (self.held() > 0).then_some(self.free)
    }

    /// The next cell that waits, if the port is free.
    pub fn next(&mut self, now: Time) -> Option<Frame> {
        if self.free > now {
            return None;
        }
        for service in Service::ALL {
            if let Some(cell) = self.waiting[service as usize].pop_front() {
                self.take(now, service);
                return Some(cell);
            }
        }
        None
    }

    /// The link came up or went down, or the switch began anew: what waits is given back, and has been counted by the
    /// reason.
    pub fn set_up(&mut self, now: Time, up: bool, reason: DropReason) -> Vec<Frame> {
        self.is_up = up;
        self.free = now;
        self.ends.clear();
        let gone: Vec<Frame> = self.waiting.iter_mut().flat_map(|queue| queue.drain(..)).collect();
        self.counters.dropped.add(reason, gone.len() as u64);
        gone
    }

    /// Shows the cells that wait.
    pub fn show_held(&self, see: &mut dyn FnMut(&Frame)) {
        self.waiting.iter().flatten().for_each(see);
    }
}
