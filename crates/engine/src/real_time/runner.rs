//! The loop: what is due happens, frames come in and go out, then sleep until the next of these.

use super::Lateness;
use super::attached_port::AttachedPort;
use crate::error::EngineError;
use crate::external::{Clock, ExternalCounters, ExternalPort, News, PortError};
use crate::virtual_time::{Progress, Punted, World};
use base::device::DropReason;
use base::{Command, Frame, NodeId, PortId, Span, Time};
use std::collections::VecDeque;
use std::os::fd::RawFd;

/// Frames taken from an interface at once.
const BURST: usize = 256;
/// Events of the world between two looks at the interfaces, at the most.
const EVENTS: u64 = 4096;
/// Events of the world between two looks at the clock.
const SOME: u64 = 64;
/// So long the world has its way: then the interfaces are looked at, however much is left to be done. So long devices
/// handle what came in: then what is due goes first, however much waits.
const TURN: Span = Span::from_us(500);
/// So long they handle it between two turns of a world that is behind.
const SHARE: Span = Span::from_us(100);
/// Frames of an interface that wait to be handled, at the most.
const WAITING: usize = 16_384;
/// The same of those that are urgent, of all interfaces together.
const URGENT: usize = 4096;
/// Frames taken at once for a device that is recorded while the world is behind: it handles them at once.
const RECORDED: usize = 32;
/// Time between two looks at whether an interface is up, if nothing is said of it.
const LOOK: Span = Span::from_ms(50);
/// Time between two looks for news of interfaces in a run that does not sleep.
const NEWS: Span = Span::from_us(500);
/// Time between two attempts to send what an interface did not take.
const RETRY: Span = Span::from_us(50);
/// Time between two questions of a run that does not sleep whether it is to come back.
const ASK: Span = Span::from_us(100);
/// The longest time to sleep in one go; a run that waits longer goes back to sleep.
const SLEEP: Span = Span::from_secs(3600);

/// What the one who watches a run wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// The run goes on.
    Continue,
    /// The run returns to its caller; it can be continued.
    Stop,
}

/// Whether an interface can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortState {
    /// It can be used.
    Up,
    /// It is switched off, or has no other end.
    Down,
    /// It does not exist any more. It is looked for now and then.
    Gone,
}

/// A change of an interface: it went up, down or away, or came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortChange {
    /// When that was noticed.
    pub at: Time,
    /// The device whose port it is.
    pub node: NodeId,
    /// The port that is attached to the interface.
    pub port: PortId,
    /// The interface's name, as it was when it was opened.
    pub name: String,
    /// State of the interface from then on.
    pub state: PortState,
}

/// State, counters and lateness of an attached port.
#[derive(Clone, Debug)]
pub struct PortView<'a> {
    /// The device whose port it is.
    pub node: NodeId,
    /// The port that is attached to the interface.
    pub port: PortId,
    /// The interface's name, as it was when it was opened.
    pub name: &'a str,
    /// Whether the interface can be used, as far as that is known.
    pub state: PortState,
    /// What the interface took and gave since it was opened.
    pub counters: ExternalCounters,
    /// Frames dropped because the interface was down or took none for long.
    pub dropped: u64,
    /// How much later than due frames were handed to the interface.
    pub lateness: &'a Lateness,
}

/// Keeps the calling thread on one processor.
pub fn pin(cpu: usize) -> std::io::Result<()> {
    // SAFETY: the set of processors is of integers, for which zero is a value, and lives through the call; a number
    // that it has no room for is ignored.
    let result = unsafe {
        let mut set: libc::cpu_set_t = core::mem::zeroed();
        if cpu < libc::CPU_SETSIZE as usize {
            libc::CPU_SET(cpu, &mut set);
        }
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set)
    };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Was something due so long before `now` that frames are handled as of when they came?
fn is_late(world: &World, now: Time) -> bool {
    world.next_event().is_some_and(|due| due + TURN < now)
}

/// How far a round came.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Done {
    /// The world has not reached the time.
    Behind,
    /// It has, but more frames may wait to come in.
    Due,
    /// There is nothing left to do.
    All,
}

/// Drives a world by the clock, and carries frames between its ports and interfaces.
///
/// - build: [`Runner::new`], [`Runner::attach`], [`Runner::hear`], [`Runner::wake_on`], [`Runner::set_busy`]
/// - run: [`Runner::run_until`]
/// - look: [`Runner::ports`], [`Runner::take_changes`], [`Runner::lateness`]
pub struct Runner {
    clock: Clock,
    ports: Vec<AttachedPort>,
    frames: Vec<Frame>,
    punted: Vec<Punted>,
    /// Frames that keep links and sessions alive, while the world is behind, when they came, and the number of their
    /// port: they are handled in their order among what is due, so that nobody is missed who was heard in time.
    urgent: VecDeque<(Time, usize, Frame)>,
    /// The number of the port whose frames are handled next, and of the one that is looked at first while the world is
    /// behind.
    next: usize,
    first: usize,
    /// When the interfaces were looked at last.
    looked: Time,
    fds: Vec<libc::pollfd>,
    news: Vec<News>,
    /// When news are looked for, whether or not the run has slept until there were some.
    news_at: Time,
    wake: Option<RawFd>,
    busy: bool,
    look: Time,
    /// Time between two looks at whether an interface is up, without news of it.
    look_after: Span,
    /// When it was last asked whether the run is to come back.
    asked: Time,
    lateness: Lateness,
    changes: Vec<PortChange>,
}

impl Runner {
    /// Nothing is attached yet.
    pub fn new(clock: Clock) -> Runner {
        Runner {
            clock,
            ports: Vec::new(),
            frames: Vec::new(),
            punted: Vec::new(),
            urgent: VecDeque::new(),
            next: 0,
            first: 0,
            looked: Time::ZERO,
            fds: Vec::new(),
            news: Vec::new(),
            news_at: Time::ZERO,
            wake: None,
            busy: false,
            look: Time::ZERO,
            look_after: LOOK,
            asked: Time::ZERO,
            lateness: Lateness::default(),
            changes: Vec::new(),
        }
    }

    /// The clock that drives the run.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Takes another clock, before anything has run.
    pub fn set_clock(&mut self, clock: Clock) {
        self.clock = clock;
    }

    /// Puts an interface in the place of what is beyond a device's port.
    pub fn attach(
        &mut self,
        world: &mut World,
        node: NodeId,
        port: PortId,
        external: Box<dyn ExternalPort>,
    ) -> Result<(), EngineError> {
        world.attach_external(node, port)?;
        self.ports.push(AttachedPort::new(node, port, external));
        Ok(())
    }

    /// Looks at the interfaces as soon as there are news of them, too.
    pub fn hear(&mut self, news: News) {
        self.news.push(news);
    }

    /// How long it takes to notice that an interface went up or down of which there are no news: 50 ms unless said
    /// otherwise.
    pub fn set_look(&mut self, after: Span) {
        self.look_after = after;
    }

    /// Lets a run come back when this descriptor is readable.
    pub fn wake_on(&mut self, fd: Option<RawFd>) {
        self.wake = fd;
    }

    /// Looks for frames and events all the time instead of sleeping.
    pub fn set_busy(&mut self, busy: bool) {
        self.busy = busy;
    }

    /// How much later than due the events of the world happened: the first one each time that there were some.
    pub fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// Forgets how late anything was.
    pub fn clear_lateness(&mut self) {
        self.lateness.clear();
        self.ports.iter_mut().for_each(AttachedPort::clear_lateness);
    }

    /// All attached ports, in the order in which they were attached.
    pub fn ports(&self) -> impl Iterator<Item = PortView<'_>> {
        self.ports.iter().map(AttachedPort::view)
    }

    /// Interfaces that went up, down or away since the last call.
    pub fn take_changes(&mut self) -> Vec<PortChange> {
        core::mem::take(&mut self.changes)
    }

    /// Runs until the clock says `until`. `watch` is asked after each round, with the time that it reached; it may
    /// change the world, and end the run.
    pub fn run_until(
        &mut self,
        world: &mut World,
        until: Time,
        watch: &mut dyn FnMut(&mut World, Time) -> Control,
    ) -> Result<(), EngineError> {
        // SAFETY: it takes integers alone. Without, the kernel adds 50 microseconds to each sleep of this thread.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
        loop {
            let now = self.clock.now().min(until).max(world.now());
            let done = self.round(world, now, until)?;
            let reached = world.now();
            let stop = watch(world, reached) == Control::Stop;
            // Frames may come in faster than they can be handled: that must not keep anybody waiting.
            if stop || (done != Done::Behind && now >= until) {
                return Ok(());
            }
            let wanted = if done == Done::All { self.rest(world, until) } else { self.is_wanted() };
            if wanted {
                return Ok(());
            }
        }
    }

    /// Everything that there is to do at `now`, or a part of it.
    fn round(&mut self, world: &mut World, now: Time, until: Time) -> Result<Done, EngineError> {
        if let Some(due) = world.next_event().filter(|due| *due < now) {
            self.lateness.record(now - due);
        }
        if now >= self.news_at {
            self.news_at = now + NEWS;
            // All are taken, so that none wakes the run again.
            for news in &self.news {
                if news.take() {
                    self.look = now;
                }
            }
        }
        if now >= self.look {
            self.look = now + self.look_after;
            self.look_at_ports(world, now)?;
        }
        if is_late(world, now) {
            self.look_behind(world, now)?;
        }
        if self.work(world, now)? == Progress::More {
            self.handle(world, SHARE)?;
            self.flush(world)?;
            return Ok(Done::Behind);
        }
        let mut more = false;
        for index in 0..self.ports.len() {
            more |= self.receive(world, index, Some(until))?;
        }
        self.looked = now;
        if !self.urgent.is_empty() {
            // The process lost its processor since the clock was read: the next round begins by what is late.
            self.sort_urgent(0);
            self.flush(world)?;
            return Ok(Done::Behind);
        }
        more |= self.handle(world, TURN)?;
        // What came in may be due to leave at once.
        let reached = self.work(world, now.max(world.now()))? != Progress::More;
        self.flush(world)?;
        Ok(match (reached, more) {
            (false, _) => Done::Behind,
            (true, true) => Done::Due,
            (true, false) => Done::All,
        })
    }

    /// Frames come in while the world is behind: what only passes through does not wait for what is late.
    fn look_behind(&mut self, world: &mut World, now: Time) -> Result<(), EngineError> {
        let end = self.clock.now() + TURN;
        let (before, count) = (self.urgent.len(), self.ports.len());
        for _ in 0..count {
            let index = self.first % count;
            self.first = index + 1;
            self.receive(world, index, None)?;
            if self.clock.now() >= end {
                break;
            }
        }
        self.sort_urgent(before);
        self.looked = now;
        Ok(())
    }

    /// Some of the urgent frames after the first so many came before others of another port that were taken sooner.
    fn sort_urgent(&mut self, before: usize) {
        self.urgent.make_contiguous()[before..].sort_by_key(|(at, ..)| *at);
    }

    /// Does what is due at `until`, or a part of it.
    fn work(&mut self, world: &mut World, until: Time) -> Result<Progress, EngineError> {
        let end = self.clock.now() + TURN;
        let mut turns = EVENTS / SOME;
        while turns > 0 {
            let next = self.urgent.front().map_or(until, |(at, ..)| until.min(*at).max(world.now()));
            if world.step(next, SOME)? == Progress::More {
                turns -= 1;
            } else {
                let Some((_, index, frame)) = self.urgent.pop_front() else { return Ok(Progress::Reached) };
                let AttachedPort { node, port, .. } = self.ports[index];
                world.hand(node, port, frame)?;
            }
            if self.clock.now() >= end {
                break;
            }
        }
        Ok(Progress::More)
    }

    /// Frames come in: those that pass through leave, others wait. Says whether there may be more. The world goes to
    /// what the clock says, `until` at most, or else it is late.
    fn receive(&mut self, world: &mut World, index: usize, until: Option<Time>) -> Result<bool, EngineError> {
        let AttachedPort { node, port, external, state, .. } = &mut self.ports[index];
        if *state == PortState::Gone {
            return Ok(false);
        }
        let most = if until.is_none() && world.is_recorded(*node) { RECORDED } else { BURST };
        match external.receive(&self.clock, &mut self.frames, most) {
            Ok(0) => return Ok(false),
            Ok(_) => {}
            Err(error) => return self.failed(world, index, error).map(|()| false),
        }
        let (node, port) = (*node, *port);
        let more = self.frames.len() >= most;
        let now = self.clock.now();
        let until = until.filter(|until| !is_late(world, now.min(*until)));
        if let Some(until) = until {
            // They may have come after the time that this round began at: what a device takes for them begins no
            // sooner than that.
            world.step(now.min(until).max(world.now()), EVENTS)?;
        }
        self.punted.clear();
        world.pass(node, port, &mut self.frames, &mut self.punted)?;
        for Punted { frame, is_urgent } in self.punted.drain(..) {
            let waiting = &mut self.ports[index].punted;
            if is_urgent && until.is_some() {
                world.hand(node, port, frame)?;
            } else if is_urgent && self.urgent.len() < URGENT {
                // The kernel may have noted when it came.
                let at = frame.arrived().unwrap_or(self.looked).min(now);
                self.urgent.push_back((at, index, frame));
            } else if !is_urgent && waiting.len() < WAITING {
                waiting.push_back(frame);
            } else {
                world.lost_waiting(node, port, frame, DropReason::ControlQueueFull);
            }
        }
        Ok(more)
    }

    /// Devices handle what came in, for so long, one frame of each interface after the other. Says whether there is
    /// more.
    fn handle(&mut self, world: &mut World, time: Span) -> Result<bool, EngineError> {
        let (end, count) = (self.clock.now() + time, self.ports.len());
        let mut idle = 0;
        while idle < count {
            let index = self.next % count;
            self.next = index + 1;
            let AttachedPort { node, port, punted, .. } = &mut self.ports[index];
            let Some(frame) = punted.pop_front() else {
                idle += 1;
                continue;
            };
            idle = 0;
            world.hand(*node, *port, frame)?;
            if self.clock.now() >= end {
                return Ok(self.ports.iter().any(|port| !port.punted.is_empty()));
            }
        }
        Ok(false)
    }

    /// Frames go out, as many as interfaces take.
    fn flush(&mut self, world: &mut World) -> Result<(), EngineError> {
        for index in 0..self.ports.len() {
            let attached = &mut self.ports[index];
            while let Some((due, frame)) = world.leave(attached.node, attached.port) {
                if let Some((frame, reason)) = attached.push(due, frame) {
                    world.lost_outside(attached.node, attached.port, frame, reason);
                }
            }
            if !attached.has_unsent() {
                continue;
            }
            if let Err(error) = attached.send(&self.clock) {
                self.failed(world, index, error)?;
            }
        }
        Ok(())
    }

    fn look_at_ports(&mut self, world: &mut World, now: Time) -> Result<(), EngineError> {
        for index in 0..self.ports.len() {
            match self.ports[index].look(now) {
                Ok(state) => self.become_so(world, index, state, now)?,
                Err(error) => self.failed(world, index, error)?,
            }
        }
        Ok(())
    }

    /// A port that failed is gone, unless it is for the user to hear why not.
    fn failed(&mut self, world: &mut World, index: usize, error: PortError) -> Result<(), EngineError> {
        match error {
            PortError::Gone { .. } => self.become_so(world, index, PortState::Gone, world.now()),
            other => Err(EngineError::Port(other)),
        }
    }

    fn become_so(
        &mut self,
        world: &mut World,
        index: usize,
        state: PortState,
        at: Time,
    ) -> Result<(), EngineError> {
        let attached = &mut self.ports[index];
        if attached.state == state {
            return Ok(());
        }
        let (was, gone) = attached.become_so(state);
        for frame in gone {
            world.lost_outside(attached.node, attached.port, frame, DropReason::LinkDown);
        }
        let (node, port, name) = (attached.node, attached.port, attached.external.name().to_string());
        self.changes.push(PortChange { at, node, port, name, state });
        if (state == PortState::Up) == (was == PortState::Up) {
            return Ok(());
        }
        let command = if state == PortState::Up { Command::PortUp(port) } else { Command::PortDown(port) };
        world.command(at.max(world.now()), node, command)
    }

    /// Sleeps until something is to be done. Says whether somebody wants the run to come back.
    fn rest(&mut self, world: &World, until: Time) -> bool {
        if self.busy {
            return self.is_wanted();
        }
        let mut wait = until.min(self.clock.now() + SLEEP);
        if !self.ports.is_empty() {
            wait = wait.min(self.look);
        }
        wait = world.next_event().map_or(wait, |next| wait.min(next));
        if self.ports.iter().any(AttachedPort::has_unsent) {
            wait = wait.min(self.clock.now() + RETRY);
        }
        let left = wait - self.clock.now();
        if left <= Span::ZERO && self.wake.is_none() {
            return false;
        }
        self.fds.clear();
        let there = self.ports.iter().filter(|port| port.state != PortState::Gone);
        let fds = self.news.iter().map(News::poll_fd);
        let fds = fds.chain(there.map(|port| port.external.poll_fd())).chain(self.wake);
        self.fds.extend(fds.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 }));
        let ns = left.0.max(0) / 1000;
        let time = libc::timespec { tv_sec: ns / 1_000_000_000, tv_nsec: ns % 1_000_000_000 };
        // SAFETY: the structures live through the call, and as many are there as the count says.
        unsafe {
            libc::ppoll(self.fds.as_mut_ptr(), self.fds.len() as libc::nfds_t, &time, core::ptr::null())
        };
        if self.fds.iter().take(self.news.len()).any(|fd| fd.revents != 0) {
            self.news_at = Time::ZERO;
        }
        self.wake.is_some() && self.fds.last().is_some_and(|fd| fd.revents != 0)
    }

    /// Does somebody want the run to come back? A run that does not sleep asks now and then, since asking takes
    /// longer than looking for frames.
    fn is_wanted(&mut self) -> bool {
        let Some(fd) = self.wake else { return false };
        let now = self.clock.now();
        if now < self.asked + ASK {
            return false;
        }
        self.asked = now;
        let mut fd = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: one structure that lives through the call.
        unsafe { libc::poll(&mut fd, 1, 0) > 0 }
    }
}
