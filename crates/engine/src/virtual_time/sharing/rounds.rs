//! Rounds of work, and when they are worth while.

use super::exchange::{Exchange, Parcel, Sum};
use super::partition::{self, Partition};
use super::{Shared, TRIAL, World};
use crate::error::EngineError;
use base::{NodeId, Span, Time};

/// A world comes to an exchange after so many events, even if it could go on.
const EVENTS_A_ROUND: u64 = 200_000;

/// So many events are done between two looks at whether the work is still shared out well.
const EVENTS_A_LOOK: u64 = 4_000_000;

/// One world may have so much more to do than the others on average, in percent, before devices are shared out anew.
const UNEVEN: u64 = 115;

/// The stack of a thread, as large as that of a program.
const STACK: usize = 8 << 20;

/// What a world has failed with, when, and the device that it worked on.
struct Failure {
    at: Time,
    node: NodeId,
    error: EngineError,
}

impl World {
    /// Does what is to be done up to `until`, and for about `budget` events, with several threads. Returns how many
    /// events there were: none if one thread is to go on, until [`World::look_again`].
    pub(in super::super) fn share(&mut self, until: Time, budget: u64) -> Result<u64, EngineError> {
        if let Some(error) = self.sharing.failures.pop() {
            return Err(error);
        }
        let first = self.next_time();
        let end = Time(until.0.saturating_add(1)).min(self.agenda.next_of_all());
        if first >= end {
            return Ok(0);
        }
        let Some(partition) = self.find_partition(end) else { return Ok(0) };
        let lookahead = Span(partition.lookahead.min(i64::MAX as u64) as i64);
        self.sharing.told = Shared::Several { threads: partition.worlds, lookahead };
        let before = self.events_done;
        let worlds = self.split(&partition);
        let (worlds, failures, loads) =
            run_all(worlds, partition.lookahead, first, end, budget.min(EVENTS_A_LOOK));
        self.join(worlds, &partition);
        let events = self.events_done - before;
        self.sharing.density = Some((events, (self.next_time().min(end).0 - first.0).max(1)));
        let most = loads.iter().max().copied().unwrap_or(0);
        if most * 100 * partition.worlds as u64 <= events * UNEVEN {
            self.sharing.partition = Some(partition);
        }
        self.fail(failures)?;
        Ok(events)
    }

    /// One thread has gone on for a while.
    pub(in super::super) fn look_again(&mut self) {
        let (since, before) = self.sharing.since;
        let events = self.events_done.saturating_sub(before);
        if events >= TRIAL {
            self.sharing.density = Some((events, (self.ahead.0 - since.0).max(1)));
            self.sharing.since = (self.ahead, self.events_done);
        }
    }

    /// What one thread does before it is looked at again whether several would pay.
    pub(in super::super) fn alone(&self) -> u64 {
        match self.sharing.asked {
            Some(asked) if asked.least_events == 0 => 1,
            _ => TRIAL,
        }
    }

    /// Have several threads been asked for?
    #[inline]
    pub(in super::super) fn may_share(&self) -> bool {
        self.sharing.asked.is_some()
    }

    /// When the next thing happens.
    pub(super) fn next_time(&self) -> Time {
        super::time_of(self.processes.first()).min(self.next_other())
    }

    /// How the devices are to be shared out for what happens before `end`, if that is worth while.
    fn find_partition(&mut self, end: Time) -> Option<Partition> {
        let asked = self.sharing.asked?;
        let outside = self.ports.iter().any(|port| port.external.is_some());
        if self.in_step || outside {
            self.sharing.told = Shared::Watched;
            return None;
        }
        if asked.least_events > 0 && self.sharing.density.is_none() {
            self.sharing.told = Shared::Unknown;
            return None;
        }
        let kept = self.sharing.partition.take().filter(|kept| self.still_holds(kept));
        let Some(partition) = kept.or_else(|| self.new_partition(asked.most)) else {
            self.sharing.told = Shared::Whole;
            return None;
        };
        if asked.least_events > 0 {
            let (events, span) = self.sharing.density.unwrap_or((0, 1));
            let first = self.next_time();
            let a_round = partition.lookahead.min(end.0.saturating_sub(first.0));
            let events = events as f64 * a_round as f64 / span as f64 / partition.worlds as f64;
            if events < asked.least_events as f64 {
                let lookahead = Span(partition.lookahead.min(i64::MAX as u64) as i64);
                self.sharing.told = Shared::TooShort { lookahead, events };
                self.sharing.partition = Some(partition);
                return None;
            }
        }
        Some(partition)
    }

    /// Can the devices still be shared out as they were?
    fn still_holds(&self, partition: &Partition) -> bool {
        partition.owner.len() == self.nodes.len()
            && (0..self.lanes.len() / 2).all(|link| {
                let (a, b) = partition::ends(&self.lanes, 2 * link);
                partition.owner[a] == partition.owner[b]
                    || (partition::is_parted_at(&self.lanes, &self.ports, link)
                        && (2 * link..2 * link + 2).all(|g| self.lanes[g].shortest() >= partition.lookahead))
            })
    }

    fn new_partition(&mut self, worlds: usize) -> Option<Partition> {
        if let Some(owners) = &self.sharing.owners {
            let partition = Partition::of(owners.clone(), &self.lanes)?;
            return self.still_holds(&partition).then_some(partition);
        }
        // Frames that came and went; a device that has done nothing yet may still have something to do.
        let mut done = vec![0; self.nodes.len()];
        for (g, lane) in self.lanes.iter().enumerate() {
            let (from, to) = partition::ends(&self.lanes, g);
            done[from] += lane.sent_frames();
            done[to] += lane.arrived_frames();
        }
        let before = &self.sharing.done;
        let since = |node: usize| 1 + done[node].saturating_sub(before.get(node).copied().unwrap_or(0));
        let weights: Vec<u64> = (0..done.len()).map(since).collect();
        self.sharing.done = done;
        Partition::new(&self.nodes, &self.lanes, &self.ports, &weights, worlds)
    }

    /// Devices failed: they take part no more. What failed first is reported first, the others later.
    fn fail(&mut self, mut failures: Vec<Failure>) -> Result<(), EngineError> {
        failures.sort_by_key(|failure| (failure.at, failure.node));
        for failure in &failures {
            self.running = failure.node;
            self.bury();
        }
        let mut errors: Vec<EngineError> = failures.into_iter().rev().map(|failure| failure.error).collect();
        let first = errors.pop();
        self.sharing.failures = errors;
        first.map_or(Ok(()), Err)
    }

    /// Works on its part of a network, in rounds with the others.
    fn work_with_others(&mut self, number: usize, all: &Exchange, plan: &Plan) -> Option<Failure> {
        let mut failure = None;
        let mut parcels: Vec<Vec<Parcel>> = Vec::new();
        parcels.resize_with(plan.worlds, Vec::new);
        let mut sum = Sum { next: plan.first, events: 0, failed: false };
        for round in 0.. {
            if sum.next >= plan.end || sum.events >= plan.budget || sum.failed {
                break;
            }
            let last = Time(sum.next.0.saturating_add(plan.lookahead).min(plan.end.0) - 1);
            if let Err(error) = self.guarded(|world| world.go_on(last, EVENTS_A_ROUND)).and_then(|done| done)
            {
                failure = Some(Failure { at: self.now, node: self.running, error });
            }
            let mut own = self.hand_over(last, &mut parcels);
            (own.events, own.failed) = (self.events_done, failure.is_some());
            all.tell(round, number, &own, &mut parcels);
            sum = all.meet(round);
            all.fetch(round, number, &mut |(g, flight)| {
                let lane = &mut self.lanes[g as usize];
                let was_idle = lane.ring.is_empty();
                lane.ring.push_flight(flight);
                if was_idle {
                    self.processes.set_arrival(lane, g);
                }
            });
        }
        failure
    }

    /// Puts into parcels what has begun to leave for other worlds by the time up to which this one has worked. Says
    /// when it does something next, or something reaches another world.
    fn hand_over(&mut self, last: Time, parcels: &mut [Vec<Parcel>]) -> Sum {
        let mut next = self.next_time();
        let begun = last.min(next);
        let mut soonest = Time::MAX;
        for &(g, to) in &self.sharing.leaving {
            let lane = &mut self.lanes[g as usize];
            if lane.due() <= begun {
                lane.catch_up(begun);
                self.ahead = self.ahead.max(begun);
            }
            while let Some(flight) = lane.take_begun(begun) {
                soonest = soonest.min(flight.arrival);
                parcels[usize::from(to)].push((g, flight));
            }
            soonest = soonest.min(lane.next_departure());
        }
        next = next.min(soonest);
        Sum { next, events: 0, failed: false }
    }
}

/// What all worlds know of the rounds from the beginning.
struct Plan {
    worlds: usize,
    lookahead: u64,
    first: Time,
    /// What is due at this time or later is not done.
    end: Time,
    budget: u64,
}

/// Lets worlds work together, each in a thread, until the end or about so many events have happened. Returns them with
/// what failed, and how many events each has done.
fn run_all(
    mut worlds: Vec<World>,
    lookahead: u64,
    first: Time,
    end: Time,
    budget: u64,
) -> (Vec<World>, Vec<Failure>, Vec<u64>) {
    let plan = Plan { worlds: worlds.len(), lookahead, first, end, budget };
    let all = Exchange::new(worlds.len());
    let mut failures = Vec::new();
    std::thread::scope(|scope| {
        let Some((own, others)) = worlds.split_first_mut() else { return };
        let mut threads = Vec::new();
        for (number, world) in (1..).zip(others) {
            let (all, plan) = (&all, &plan);
            let work = move || world.work_with_others(number, all, plan);
            let builder = std::thread::Builder::new().name(format!("world {number}")).stack_size(STACK);
            threads.push(builder.spawn_scoped(scope, work).expect("a thread"));
        }
        failures.extend(own.work_with_others(0, &all, &plan));
        for thread in threads {
            failures.extend(thread.join().expect("a world catches the panics of its devices"));
        }
    });
    let loads = worlds.iter().map(|world| world.events_done).collect();
    (worlds, failures, loads)
}
