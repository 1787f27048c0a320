//! Events carried out: at the time of each the run pauses, as if somebody did by a call then what the event says.

use super::Testbed;
use crate::spec::demands;
use crate::spec::event::{EventSpec, RESTART, Side, What, When, shown};
use crate::spec::problem::EventProblem;
use base::describe::{Name, Value, near};
use base::diagnostic::Diagnostic;
use base::random::Stream as Random;
use base::{LinkId, NodeId, Span, Streams, Time};
use engine::{Direction, Fault, FaultKind};
use network::NetworkError;
use network::actions::{Action, Target};
use rand_distr::{Distribution, Exp1};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// So many flows are looked through for a name that may have been meant.
const SAID_MAX: usize = 1000;

/// The times of an event, one after the other.
#[derive(Debug)]
enum Times {
    At(Option<Time>),
    Every { next: Time, every: Span },
    Random { next: Time, mean: Span, random: Box<Random> },
}

impl Times {
    fn next(&mut self) -> Option<Time> {
        match self {
            Times::At(at) => at.take(),
            Times::Every { next, every } => {
                let at = *next;
                *next = later(at, *every);
                Some(at)
            }
            Times::Random { next, mean, random } => {
                let gap: f64 = Exp1.sample(&mut **random);
                *next = later(*next, mean.mul_f64(gap));
                Some(*next)
            }
        }
    }
}

/// A time a span later, the last there is if that is beyond it; at least a picosecond.
fn later(at: Time, span: Span) -> Time {
    Time(at.0.saturating_add(span.0.max(1) as u64))
}

#[derive(Debug)]
struct Item {
    times: Times,
    /// When it happens first, or may at the earliest.
    first: Time,
    until: Time,
    left: u64,
    lasts: Option<Span>,
    what: What,
}

/// When an event is due: ends come before beginnings, and then events in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: Time,
    item: usize,
    begins: bool,
    /// Which of the beginnings an end belongs to.
    mark: u64,
}

/// Events, and what has become of them.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    items: Vec<Item>,
    due: BinaryHeap<Reverse<Due>>,
    /// The last beginning of each group of LSPs: where another one begins, the end of the first changes nothing. Of
    /// faults the engine keeps that.
    lsps: BTreeMap<Name, u64>,
    /// The same of each flow by its place, since one flow has several names: its own, or class and ends of a demand.
    flows: BTreeMap<usize, u64>,
    begun: u64,
}

/// Something that is to be done.
#[derive(Debug)]
pub(super) struct Deed {
    pub at: Time,
    pub what: What,
    /// It begins, rather than ends.
    pub begins: bool,
    /// When it ends by itself.
    pub until: Option<Time>,
    lasts: Option<Span>,
    /// Of its beginning, and of the end of that.
    pub mark: u64,
}

/// The LSPs that something is done to.
fn lsps(what: &What) -> Option<&Name> {
    match what {
        What::Flap(lsp) | What::Signal(lsp) | What::Tear(lsp) => Some(lsp),
        _ => None,
    }
}

impl Schedule {
    /// The events of a description, from a time on.
    pub fn of(events: &[EventSpec], streams: Streams, from: Time) -> Schedule {
        let mut schedule = Schedule::default();
        events.iter().for_each(|event| schedule.add(event, streams, from));
        schedule
    }

    /// Adds an event that begins at `from` at the earliest.
    fn add(&mut self, event: &EventSpec, streams: Streams, from: Time) {
        let item = self.items.len();
        let times = match event.when() {
            When::At(at) => Times::At(Some(at)),
            When::Every(next, every) => Times::Every { next: first_after(next, every, from), every },
            When::Random(next, mean, stream) => {
                let name = stream.map_or_else(|| format!("event {item}"), |name| format!("event {name}"));
                let random = Box::new(streams.stream(&name));
                Times::Random { next: next.max(from), mean, random }
            }
        };
        let (until, left) = (event.until.unwrap_or(Time::MAX), event.times.unwrap_or(u64::MAX));
        let (lasts, what) = (event.lasts, event.what());
        self.items.push(Item { times, first: event.first(), until, left, lasts, what });
        self.expect(item);
    }

    /// Finds out when an event is due next.
    fn expect(&mut self, item: usize) {
        let found = &mut self.items[item];
        if found.left == 0 {
            return;
        }
        found.left -= 1;
        if let Some(at) = found.times.next().filter(|at| *at <= found.until && *at < Time::MAX) {
            self.due.push(Reverse(Due { at, item, begins: true, mark: 0 }));
        }
    }

    /// When something is due next.
    pub fn next(&self) -> Option<Time> {
        self.due.peek().map(|Reverse(due)| due.at)
    }

    /// Takes what is due next by a time. An end that is not due any more, since another event has begun there, is left
    /// out.
    pub fn pop(&mut self, by: Time) -> Option<Deed> {
        while self.next().is_some_and(|at| at <= by) {
            let deed = self.take()?;
            let is_latest = |lsp: &Name| self.lsps.get(lsp) == Some(&deed.mark);
            if deed.begins || lsps(&deed.what).is_none_or(is_latest) {
                return Some(deed);
            }
        }
        None
    }

    fn take(&mut self) -> Option<Deed> {
        let Reverse(due) = self.due.pop()?;
        let Item { lasts, what, .. } = &self.items[due.item];
        let (lasts, what) = (*lasts, what.clone());
        if !due.begins {
            return Some(Deed { at: due.at, what, begins: false, until: None, lasts, mark: due.mark });
        }
        self.expect(due.item);
        self.begun += 1;
        let mark = self.begun;
        if let Some(lsps) = lsps(&what) {
            self.lsps.insert(lsps.clone(), mark);
        }
        let lasts = if matches!(what, What::Restart(_)) { Some(lasts.unwrap_or(RESTART)) } else { lasts };
        let until = lasts.map(|lasts| Time(due.at.0.saturating_add(lasts.0.max(0) as u64)));
        if let Some(at) = until.filter(|_| !matches!(what, What::Restart(_))) {
            self.due.push(Reverse(Due { at, begins: false, mark, ..due }));
        }
        Some(Deed { at: due.at, what, begins: true, until, lasts, mark })
    }

    /// The flows, by their places, that an event lets begin: they send nothing before. `meant` gives those of a name.
    fn begun_by_events(events: &[EventSpec], meant: impl Fn(&str) -> Vec<usize>) -> BTreeSet<usize> {
        let mut first: BTreeMap<usize, (Time, bool)> = BTreeMap::new();
        for event in events {
            let (name, starts) = match event.what() {
                What::Start(flow) => (flow, true),
                What::Stop(flow) => (flow, false),
                _ => continue,
            };
            for flow in meant(&name) {
                let known = first.entry(flow).or_insert((event.first(), starts));
                if event.first() < known.0 {
                    *known = (event.first(), starts);
                }
            }
        }
        first.into_iter().filter(|(_, (_, starts))| *starts).map(|(flow, _)| flow).collect()
    }
}

/// The first of the times from `next` on, `every` apart, that is not before `from`.
fn first_after(next: Time, every: Span, from: Time) -> Time {
    if next >= from {
        return next;
    }
    let every = every.0.max(1) as u64;
    Time(next.0.saturating_add((from.0 - next.0).div_ceil(every).saturating_mul(every)))
}

fn direction(side: Side) -> Direction {
    match side {
        None => Direction::Both,
        Some(0) => Direction::Forth,
        Some(_) => Direction::Back,
    }
}

impl Deed {
    /// The engine's fault, if it is one; `link` gives the engine's link of one by its place.
    pub fn fault(&self, link: impl Fn(usize) -> LinkId) -> Option<FaultKind> {
        let node = |place: usize| NodeId(place as u32);
        Some(match self.what {
            What::LinkDown(at) => FaultKind::LinkDown { link: link(at) },
            What::LinkHeal(at) => FaultKind::LinkHeal { link: link(at) },
            What::NodeDown(at) => FaultKind::NodeDown { node: node(at) },
            What::NodeUp(at) => FaultKind::NodeUp { node: node(at) },
            What::HealAll => FaultKind::HealAll,
            What::Restart(at) => {
                FaultKind::NodeRestart { node: node(at), down_for: self.lasts.unwrap_or(RESTART) }
            }
            What::Loss((at, side), probability) => {
                FaultKind::Loss { link: link(at), direction: direction(side), probability }
            }
            What::Duplication((at, side), probability) => {
                FaultKind::Duplication { link: link(at), direction: direction(side), probability }
            }
            What::Corruption((at, side), bit_error_rate, deliver) => {
                FaultKind::Corruption { link: link(at), direction: direction(side), bit_error_rate, deliver }
            }
            What::Reordering((at, side), probability, extra) => {
                FaultKind::Reordering { link: link(at), direction: direction(side), probability, extra }
            }
            What::Delay((at, side), extra, jitter) => {
                FaultKind::Delay { link: link(at), direction: direction(side), extra, jitter }
            }
            What::Rate((at, side), rate) => {
                FaultKind::RateLimit { link: link(at), direction: direction(side), rate }
            }
            _ => return None,
        })
    }
}

impl Testbed {
    /// Adds the events of a description. Flows that an event begins send nothing before it.
    pub(super) fn add_events(&mut self, events: &[EventSpec]) {
        let (streams, from) = (Streams::new(self.description().seed), self.now());
        self.schedule = Schedule::of(events, streams, from);
        for flow in Schedule::begun_by_events(events, |name| self.meant(name)) {
            self.set_sending(flow, false);
        }
    }

    /// Refuses events about flows that there are none of: which pairs of nodes have demands is known when they are
    /// built.
    pub(super) fn check_flows(&self, events: &[EventSpec]) -> Result<(), Diagnostic> {
        let mut known = BTreeSet::new();
        for (index, event) in events.iter().enumerate() {
            let (key, name) = match event.what() {
                What::Start(flow) => ("start", flow),
                What::Stop(flow) => ("stop", flow),
                _ => continue,
            };
            if known.contains(&name) {
                continue;
            }
            if self.meant(&name).is_empty() {
                let hint = self.flow_like(&name);
                let unknown = EventProblem::NoFlow { name: name.to_string(), hint };
                return Err(Diagnostic::new(unknown).at(key).at(index).at("events"));
            }
            known.insert(name);
        }
        Ok(())
    }

    /// Which name of a flow, or of demands, may have been meant by one that nothing has.
    fn flow_like(&self, name: &str) -> String {
        let flows = self.flows.iter().enumerate().filter(|(flow, _)| !self.demands.has(*flow));
        let flows = flows.take(SAID_MAX).map(|(_, flow)| &*flow.spec.name);
        near(name, flows.chain(self.demands.names()))
    }

    /// An event as users write it, for this network.
    pub fn read_event(&self, value: &Value) -> Result<EventSpec, Diagnostic> {
        let mut event = <EventSpec as base::describe::Describe>::read(value)?;
        let description = self.description();
        let known = |name: &str| match self.meant(name).is_empty() {
            true => Err(self.flow_like(name)),
            false => Ok(()),
        };
        event.resolve(&description.names, &description.ends, &self.network, &known)?;
        Ok(event)
    }

    /// Adds an event to a network that runs: what happens once is still to come.
    pub fn add_event(&mut self, event: &EventSpec) -> Result<(), NetworkError> {
        let now = self.now();
        if let Some(at) = event.at.filter(|at| *at < now && !self.is_live()) {
            let passed = EventProblem::Passed { at: shown(at), now: shown(now) };
            return Err(Diagnostic::new(passed).at("at").into());
        }
        self.check_heal(event)?;
        event.check_start(|name| self.meant(name).iter().map(|flow| self.flows[*flow].spec.start).min())?;
        self.schedule.add(event, Streams::new(self.description().seed), now);
        Ok(())
    }

    /// Refuses to heal what nothing has happened to, and nothing is going to before.
    fn check_heal(&self, event: &EventSpec) -> Result<(), Diagnostic> {
        let last = event.last();
        let planned =
            |heal: &What| self.schedule.items.iter().any(|item| item.first <= last && heal.heals(&item.what));
        let node = |place: usize| self.node_name(place).to_string();
        let ends = |link: usize| self.links().get(link).map_or([0, 0], |link| link.ends()).map(node);
        event.check_heal(|heal| planned(heal) || self.is_harmed(heal), node, ends)
    }

    /// Is what an event would heal down, or has anything been done to it?
    fn is_harmed(&self, heal: &What) -> bool {
        let (mut done, world) = (self.actions().map(|done| &done.target), self.world());
        match *heal {
            What::LinkHeal(link) => {
                let known = self.links().get(link);
                known.is_some_and(|link| !world.link_is_up(link.id).unwrap_or(true))
                    || done.any(|target| matches!(target, Target::Link(of, _) if *of == link))
            }
            What::NodeUp(node) => {
                !world.node_is_up(NodeId(node as u32)).unwrap_or(true)
                    || done.any(|target| matches!(target, Target::Node(of) if *of == node))
            }
            What::HealAll => done.any(|target| matches!(target, Target::Link(..) | Target::Node(_))),
            _ => false,
        }
    }

    /// The flows that a name means: one of its own, or demands ([`DemandsSpec::has`]).
    fn meant(&self, name: &str) -> Vec<usize> {
        if let Some(flow) = self.flows.iter().position(|flow| flow.spec.name == name) {
            return vec![flow];
        }
        let class_of = |flow: usize| self.demands.class_of(flow).and_then(|class| self.demands.class(class));
        let is_meant = |flow: &usize| {
            let Some((class, _)) = class_of(*flow) else { return false };
            let spec = &self.flows[*flow].spec;
            let ends = [spec.from, spec.to].map(|end| self.node_name(end));
            name == demands::ALL
                || class == Some(name)
                || name.strip_prefix(ends[0]).and_then(|rest| rest.strip_prefix('-')) == Some(ends[1])
        };
        (0..self.flows.len()).filter(is_meant).collect()
    }

    /// Runs to a time, and carries out what is due on the way ([`Network::run_until`]).
    pub fn run_until(&mut self, until: Time) -> Result<(), NetworkError> {
        while let Some(at) = self.schedule.next().filter(|at| *at <= until) {
            let at = at.max(self.world().now());
            self.network.advance(at)?;
            self.carry_out()?;
        }
        self.network.run_until(until)
    }

    /// The same without an audit ([`Network::advance`]).
    pub fn advance(&mut self, until: Time) -> Result<(), NetworkError> {
        while let Some(at) = self.schedule.next().filter(|at| *at <= until) {
            let at = at.max(self.world().now());
            self.network.advance(at)?;
            self.carry_out()?;
        }
        self.network.advance(until)
    }

    /// Runs towards a time, and carries out what is due on the way ([`Network::run_some`]).
    pub fn run_some(&mut self, until: Time, events: u64) -> Result<bool, NetworkError> {
        let Some(at) = self.schedule.next().filter(|at| *at <= until) else {
            return self.network.run_some(until, events);
        };
        let at = at.max(self.world().now());
        if self.network.run_some(at, events)? {
            self.carry_out()?;
        }
        Ok(false)
    }

    /// Does what is due by now, in order.
    fn carry_out(&mut self) -> Result<(), NetworkError> {
        let now = self.world().now();
        while let Some(deed) = self.schedule.pop(now) {
            self.do_deed(&deed)?;
        }
        Ok(())
    }

    fn do_deed(&mut self, deed: &Deed) -> Result<(), NetworkError> {
        let links = self.network.links();
        if let Some(kind) = deed.fault(|place| links.get(place).map_or(LinkId(0), |link| link.id)) {
            // What is down does not restart.
            let is_down = |node: usize| self.world().node_is_down(NodeId(node as u32)).unwrap_or(false);
            if matches!(deed.what, What::Restart(node) if is_down(node)) {
                return Ok(());
            }
            // A node of another process restarts there. If it goes down, its links here go with it.
            if matches!(deed.what, What::Restart(node) if !self.is_local(node)) {
                if deed.begins {
                    let fault = Fault { until: deed.until, ..Fault::new(self.now(), kind) };
                    self.network.note_fault(&fault);
                }
                return Ok(());
            }
            return match deed.begins {
                true => self.network.fault_marked(self.now(), kind, deed.until, deed.mark),
                false => self.network.end_fault(self.now(), kind, Some(deed.mark)),
            };
        }
        match (&deed.what, deed.begins) {
            (What::Flap(lsp), true) => {
                self.order(lsp, "tear", deed)?;
                if deed.until.is_none() { self.order(lsp, "signal", deed) } else { Ok(()) }
            }
            (What::Tear(lsp), true) | (What::Signal(lsp), false) => self.order(lsp, "tear", deed),
            (What::Signal(lsp), true) | (What::Tear(lsp) | What::Flap(lsp), false) => {
                self.order(lsp, "signal", deed)
            }
            (What::Start(flow), begins) => {
                self.switch(flow, begins, deed);
                Ok(())
            }
            (What::Stop(flow), begins) => {
                self.switch(flow, !begins, deed);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Gives a command to LSPs that begin here. What ends by itself is no action of its own.
    fn order(&mut self, lsp: &Name, what: &'static str, deed: &Deed) -> Result<(), NetworkError> {
        if deed.begins {
            self.note_deed(what, Target::Lsp(lsp.to_string()), deed);
        }
        let Some(group) = self.find_lsp(lsp) else { return Ok(()) };
        let from = self.lsps()[group].spec.from;
        if self.is_local(from) { self.network.order_lsps(self.now(), group, what, None) } else { Ok(()) }
    }

    /// Lets a flow, or demands, send, or not. An end leaves those alone that another event has begun something with.
    fn switch(&mut self, name: &Name, sends: bool, deed: &Deed) {
        if deed.begins {
            let what = if sends { "start" } else { "stop" };
            self.note_deed(what, Target::Flow(name.to_string()), deed);
        }
        for flow in self.meant(name) {
            let latest = self.schedule.flows.entry(flow).or_insert(deed.mark);
            if deed.begins {
                *latest = deed.mark;
            }
            if *latest == deed.mark {
                self.set_sending(flow, sends);
            }
        }
    }

    fn note_deed(&mut self, what: &'static str, target: Target, deed: &Deed) {
        let at = self.now().max(deed.at);
        self.network.note(Action { until: deed.until, ..Action::new(at, what, target) });
    }

    fn set_sending(&mut self, flow: usize, sends: bool) {
        let now = self.now();
        let Some((from, source)) = self.flows.get(flow).map(|flow| (flow.spec.from, flow.source)) else {
            return;
        };
        if let Some(instrument) = self.instrument_mut(from) {
            match sends {
                true => instrument.generator_mut().resume(source, now),
                false => instrument.generator_mut().pause(source),
            }
        }
    }
}
