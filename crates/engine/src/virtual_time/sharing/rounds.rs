//! Rounds of work, and when they are worth while.

use super::super::Progress;
use super::exchange::{Exchange, Sum};
use super::partition::{self, Partition};
use super::trial::{Pace, Stopwatch};
use super::{Shared, World};
use crate::error::EngineError;
use crate::ring::Flight;
use base::{NodeId, Span, Time};
use core::cmp::Reverse;

/// A frame on its way to another world, and its lane.
type Parcel = (u32, Flight);

/// A round is made shorter than it could be if more than so many events happen in it, or if more, so many for each
/// device. So who looks for signals need not wait, and worlds are not far apart when a device fails; and a device still
/// has something to do in each round, since to visit it costs more than an event.
const EVENTS_A_ROUND: u64 = 100_000;
const EVENTS_A_DEVICE: u64 = 50;

/// In a look at whether threads pay, rounds have so many events for each device at least.
const EVENTS_A_DEVICE_TRIED: u64 = 5;

/// A round that has come to so many times the events that it should have ends wherever it is. That is for devices that
/// send frames to each other without end at one time: whoever called can still look for signals.
const NO_END: u64 = 50;

/// After so many rounds it is asked whether they still pay.
const ROUNDS_A_LOOK: u64 = 64;

/// Devices and lanes are given to threads if about so many events are to come for each of them.
const EVENTS_A_MOVE: u64 = 2;

/// So many events are done between two looks at whether the work is still shared out well.
const EVENTS_A_LOOK: u64 = 4_000_000;

/// One world may have so much more to do than the others on average, in percent, before devices are shared out anew.
const UNEVEN: u64 = 115;

/// A look at whether threads pay has so many rounds at least.
const ROUNDS_TRIED: u64 = 8;

/// The stack of a thread, as large as that of a program.
const STACK: usize = 8 << 20;

/// What a world has failed with, when, and the device that it worked on.
#[derive(Debug)]
pub(in super::super) struct Failure {
    pub at: Time,
    node: NodeId,
    pub error: EngineError,
}

/// What came of asking several threads to work.
pub(super) enum Went {
    /// They did so much.
    Shared(Pace),
    /// One has to do something first, or so little is left that it does that as well.
    NotNow,
    /// They can't, or it is known that they do not pay.
    Refused(Shared),
}

/// How devices are shared out, if they are.
enum Parting {
    Found(Partition),
    NotNow,
    Refused(Shared),
}

impl World {
    /// Does what is to be done up to `until`, and for about `budget` events, with several threads. In a trial it is
    /// measured how long they work.
    pub(super) fn share(&mut self, until: Time, budget: u64) -> Result<Went, EngineError> {
        let first = self.next_time();
        let end = Time(until.0.saturating_add(1)).min(self.agenda.next_of_all());
        if first >= end {
            return Ok(Went::NotNow);
        }
        let partition = match self.find_partition(end) {
            Parting::Found(partition) => partition,
            Parting::NotNow => return Ok(Went::NotNow),
            Parting::Refused(why) => return Ok(Went::Refused(why)),
        };
        let worlds = partition.worlds;
        let before = self.events_done;
        let asked = self.sharing.asked.map_or(0, |asked| asked.least_events);
        let looked = self.sharing.trial.as_ref().and_then(|trial| trial.events());
        let most = EVENTS_A_ROUND.max(EVENTS_A_DEVICE * self.nodes.len() as u64);
        let (round, longest) = match looked {
            // A short look has more and shorter rounds than there will be.
            Some(events) => {
                let least = (EVENTS_A_DEVICE_TRIED * self.nodes.len() as u64).clamp(1, most);
                let round = (events / ROUNDS_TRIED).clamp(least, most);
                (round, self.span_of(round).min(partition.lookahead))
            }
            None => (most, partition.lookahead),
        };
        let plan = Plan {
            worlds,
            longest,
            span: self.span_of(round).min(longest),
            most,
            first,
            end,
            budget: budget.min(EVENTS_A_LOOK),
            least: asked.saturating_mul(worlds as u64 * ROUNDS_A_LOOK) / 2,
            stopwatch: self.sharing.trial.as_ref().map(|trial| trial.stopwatch),
            limit_ns: self.sharing.trial.as_ref().and_then(|trial| trial.limit_ns()).unwrap_or(u64::MAX),
        };
        let parts = self.split(&partition);
        let Ran { worlds: parts, failures, loads, look, ns, started } = run_all(parts, &plan);
        self.join(parts, &partition);
        if !started {
            (self.sharing.asked, self.sharing.trial) = (None, None);
            return Ok(Went::Refused(Shared::NotStarted { threads: worlds }));
        }
        self.sharing.lookahead = Span(partition.lookahead.min(i64::MAX as u64) as i64);
        self.sharing.worked = worlds;
        let events = self.events_done - before;
        let all = (events, (self.next_time().min(end).0 - first.0).max(1));
        self.sharing.density = Some(look.unwrap_or(all));
        self.sharing.since = (self.ahead, self.events_done);
        let most = loads.iter().max().copied().unwrap_or(0);
        if most * 100 * worlds as u64 <= events * UNEVEN {
            self.sharing.partition = Some(partition);
        }
        self.fail(failures)?;
        Ok(Went::Shared(Pace { events, ns }))
    }

    /// About how long it takes until so many events have happened, as often as they happened when that was looked at
    /// last.
    fn span_of(&self, events: u64) -> u64 {
        let (before, span) = self.sharing.density.unwrap_or((1, u64::MAX));
        let span = u128::from(span) * u128::from(events) / u128::from(before.max(1));
        (span.min(u128::from(u64::MAX)) as u64).max(1)
    }

    /// How the devices are to be shared out for what happens before `end`, if that is worth while.
    fn find_partition(&mut self, end: Time) -> Parting {
        let (Some(asked), threads) = (self.sharing.asked, self.wanted()) else { return Parting::NotNow };
        let outside = self.ports.iter().any(|port| port.external.is_some());
        if self.in_step || outside {
            return Parting::Refused(Shared::Watched);
        }
        if asked.least_events > 0 && self.sharing.density.is_none() {
            return Parting::NotNow;
        }
        let kept = self.sharing.partition.take();
        let kept = kept.filter(|kept| self.sharing.parted_for == threads && self.still_holds(kept));
        let Some(partition) = kept.or_else(|| self.new_partition(threads)) else {
            return Parting::Refused(Shared::Whole);
        };
        self.sharing.parted_for = threads;
        if asked.least_events > 0 {
            let (events, span) = self.sharing.density.unwrap_or((0, 1));
            let left = end.0.saturating_sub(self.next_time().0);
            let in_time = |time: u64| events as f64 * time as f64 / span as f64;
            // To share the devices out and take them back is worth some events for each.
            if in_time(left) < self.events_of_a_move() as f64 {
                self.sharing.partition = Some(partition);
                return Parting::NotNow;
            }
            let events = in_time(partition.lookahead.min(left)) / partition.worlds as f64;
            if events < asked.least_events as f64 {
                let lookahead = Span(partition.lookahead.min(i64::MAX as u64) as i64);
                self.sharing.partition = Some(partition);
                return Parting::Refused(Shared::TooShort { lookahead, events });
            }
        }
        Parting::Found(partition)
    }

    /// To share the devices out and take them back takes about as long as so many events.
    pub(super) fn events_of_a_move(&self) -> u64 {
        EVENTS_A_MOVE * (self.nodes.len() + self.lanes.len()) as u64
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

    /// Devices failed: they take part no more. What failed first is reported now, the others when their time has come.
    fn fail(&mut self, failures: Vec<Failure>) -> Result<(), EngineError> {
        for failure in &failures {
            self.running = failure.node;
            self.bury();
        }
        self.sharing.failures.extend(failures);
        self.sharing.failures.sort_by_key(|failure| Reverse((failure.at, failure.node)));
        match self.sharing.failures.pop() {
            Some(first) => Err(first.error),
            None => Ok(()),
        }
    }

    /// Goes on to the time at which a device has failed that is not reported yet, and reports it. Nothing if there is
    /// none up to `until`; otherwise whether that time is reached within `left` events.
    pub(in super::super) fn go_on_to_failure(
        &mut self,
        until: Time,
        left: u64,
    ) -> Result<Option<Progress>, EngineError> {
        let Some(at) = self.sharing.failures.last().map(|failure| failure.at).filter(|at| *at <= until)
        else {
            return Ok(None);
        };
        if !self.go_on(at, left)? {
            return Ok(Some(Progress::More));
        }
        (self.now, self.ahead) = (at, self.ahead.max(at));
        self.sharing.failures.pop().map_or(Ok(None), |failure| Err(failure.error))
    }

    /// Works on its part of a network, in rounds with the others.
    fn work_with_others(&mut self, number: usize, all: &Exchange<Parcel>, plan: &Plan) -> Done {
        let mut done = Done::default();
        let mut parcels: Vec<Vec<Parcel>> = Vec::new();
        parcels.resize_with(plan.worlds, Vec::new);
        // Nothing is done before all threads have begun.
        if all.meet(0).is_none() {
            return done;
        }
        done.started = true;
        let begun = plan.stopwatch.map_or(0, |stopwatch| stopwatch());
        let mut sum = Sum { next: plan.first, events: 0, last: false };
        let (mut span, mut looked) = (plan.span, (0, plan.first));
        for round in 1.. {
            if sum.next >= plan.end || sum.events >= plan.budget || sum.last {
                break;
            }
            if round % ROUNDS_A_LOOK == 0 {
                let events = sum.events - looked.0;
                done.look = Some((events, (sum.next.0 - looked.1.0).max(1)));
                looked = (sum.events, sum.next);
                if events < plan.least {
                    break;
                }
            }
            let before = sum.events;
            let last = Time(sum.next.0.saturating_add(span).min(plan.end.0) - 1);
            if let Err(error) =
                self.guarded(|world| world.go_on(last, NO_END * plan.most)).and_then(|done| done)
            {
                done.failure = Some(Failure { at: self.now, node: self.running, error });
            }
            let mut own = self.hand_over(last, &mut parcels);
            done.ns = plan.stopwatch.map_or(0, |stopwatch| stopwatch().saturating_sub(begun));
            (own.events, own.last) = (self.events_done, done.failure.is_some() || done.ns > plan.limit_ns);
            all.tell(round, number, &own, &mut parcels);
            let Some(told) = all.meet(round) else { break };
            sum = told;
            all.fetch(round, number, &mut |(g, flight)| {
                let lane = &mut self.lanes[g as usize];
                let was_idle = lane.ring.is_empty();
                lane.ring.push_flight(flight);
                if was_idle {
                    self.processes.set_arrival(lane, g);
                }
            });
            match sum.events - before {
                many if many > plan.most => span = (span / 2).max(1),
                few if few < plan.most / 4 => span = span.saturating_mul(2).min(plan.longest),
                _ => {}
            }
        }
        done
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
        Sum { next, events: 0, last: false }
    }
}

/// What all worlds know of the rounds from the beginning.
struct Plan {
    worlds: usize,
    /// No round is longer.
    longest: u64,
    /// The length of the first.
    span: u64,
    /// With more events a round is followed by a shorter one.
    most: u64,
    first: Time,
    /// What is due at this time or later is not done.
    end: Time,
    budget: u64,
    /// If there are fewer events in [`ROUNDS_A_LOOK`] rounds, one thread goes on.
    least: u64,
    stopwatch: Option<Stopwatch>,
    /// No round begins after so many nanoseconds.
    limit_ns: u64,
}

/// What a world has come to.
#[derive(Default)]
struct Done {
    /// All threads had begun, and it has done something.
    started: bool,
    failure: Option<Failure>,
    /// So long it worked, and waited for others, by the stopwatch.
    ns: u64,
    /// Events of all worlds in how much time, in the last rounds.
    look: Option<(u64, u64)>,
}

/// What all worlds have come to.
struct Ran {
    worlds: Vec<World>,
    failures: Vec<Failure>,
    /// The events of each.
    loads: Vec<u64>,
    look: Option<(u64, u64)>,
    ns: u64,
    started: bool,
}

/// Lets worlds work together, each in a thread, until the end or about so many events have happened. Nothing is done
/// if there are no such threads.
fn run_all(mut worlds: Vec<World>, plan: &Plan) -> Ran {
    let all = Exchange::new(worlds.len());
    let mut done = Vec::new();
    std::thread::scope(|scope| {
        let Some((own, others)) = worlds.split_first_mut() else { return };
        let mut threads = Vec::new();
        for (number, world) in (1..).zip(others) {
            let all = &all;
            let work = move || all.attended(|| world.work_with_others(number, all, plan));
            let builder = std::thread::Builder::new().name(format!("world {number}")).stack_size(STACK);
            match builder.spawn_scoped(scope, work) {
                Ok(thread) => threads.push(thread),
                Err(_) => all.give_up(),
            }
        }
        done.push(all.attended(|| own.work_with_others(0, &all, plan)));
        for thread in threads {
            // Devices' panics are caught where they happen: this is one of the engine itself.
            done.push(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
    });
    let loads = worlds.iter().map(|world| world.events_done).collect();
    let (started, look, ns) = done.first().map_or((false, None, 0), |own| (own.started, own.look, own.ns));
    let failures = done.into_iter().filter_map(|one| one.failure).collect();
    Ran { worlds, failures, loads, look, ns, started }
}
