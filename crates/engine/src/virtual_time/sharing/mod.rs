//! One network worked on by several threads, to the same byte.
//!
//! Devices are shared out among worlds (see `partition`), each with a thread of its own. All work in rounds: a frame
//! takes at least the *lookahead* from one world to another, so that from the time at which the first of them has
//! something to do, each may go on by itself for as long (conservative simulation: Chandy and Misra 1979, with the
//! bounded lag of Lubachevsky 1989). After a round, frames that have begun to leave for another world are handed to
//! it, and all learn when the next thing happens.
//!
//! No result depends on which world has which device, nor on how many there are: a device sees what it would see
//! otherwise, and what is reported is put into the order in which one thread would have reported it ([`Turn`]).
//!
//! What concerns more than one device is done by one thread, with all devices in one place: faults, captures, frames
//! that come from outside.

mod exchange;
mod partition;
mod rounds;
mod split;
mod stretch;
mod sync;
mod trial;

use super::World;
use super::keys::Due;
use base::{Span, Time};
use core::fmt;
use partition::Partition;
use rounds::Failure;
pub use trial::Stopwatch;
use trial::Trial;

/// Fewer events than this for each thread between two exchanges, and threads wait for each other more than they work.
pub const LEAST_EVENTS: u64 = 150;

/// So many events are looked at before it is decided whether threads pay.
const TRIAL: u64 = 20_000;

/// When a turn comes among all that is done in a network. Things are done in turn: each is the first that can be done.
/// So one that only became possible at its time by something else comes after that, whatever its own place would be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn {
    at: Time,
    of_device: bool,
    what: u64,
}

impl Turn {
    /// That of something that was asked for after `number` others.
    pub fn of_task(at: Time, number: u64) -> Turn {
        Turn { at, of_device: false, what: number }
    }
}

/// How many threads a network may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadsFor {
    /// So many at most; one is the caller's.
    pub most: usize,
    /// Fewer events than this for each thread between two exchanges, and one thread does all. [`LEAST_EVENTS`] is
    /// about where threads begin to pay; none means that they share the work wherever they can.
    pub least_events: u64,
}

impl ThreadsFor {
    /// Up to so many, where they pay.
    pub fn most(most: usize) -> ThreadsFor {
        ThreadsFor { most, least_events: LEAST_EVENTS }
    }
}

/// How many threads have worked on a network at last, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Shared {
    /// One, since no more were asked for.
    #[default]
    NotAsked,
    /// One: nothing has been done yet that would tell whether more would pay.
    Unknown,
    /// One: frames are captured, or come from outside, which is done in the order of time.
    Watched,
    /// One: the devices can't be parted, since all are joined by links without delay or with faults on them.
    Whole,
    /// One: links between parts of the network are so short that so few events would lie between two exchanges, for
    /// each thread.
    TooShort {
        /// No frame takes less than this from one part to another.
        lookahead: Span,
        /// Events of each thread between two exchanges.
        events: f64,
    },
    /// One: others were tried, and were not worth their processors.
    Tried {
        /// How many.
        threads: usize,
        /// Their speed, of that of one.
        gain: f64,
    },
    /// One: the system gave no more.
    NotStarted {
        /// So many would have paid.
        threads: usize,
    },
    /// So many.
    Several {
        /// How many.
        threads: usize,
        /// No frame takes less than this from one part to another.
        lookahead: Span,
        /// In a trial, their speed, of that of half as many.
        gain: Option<f64>,
    },
}

impl Shared {
    /// How many threads that is.
    pub fn count(&self) -> usize {
        if let Shared::Several { threads, .. } = self { *threads } else { 1 }
    }

    /// Were more asked for than one, and is it known why there was only one?
    pub fn is_refused(&self) -> bool {
        !matches!(self, Shared::NotAsked | Shared::Unknown | Shared::Several { .. })
    }
}

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = |span: &Span| format!("{:.1} us", span.0 as f64 / 1e6);
        match self {
            Shared::NotAsked => write!(f, "one thread"),
            Shared::Unknown => {
                write!(f, "one thread: too little has happened to tell whether more would pay")
            }
            Shared::Watched => {
                write!(
                    f,
                    "one thread: frames are captured or come from outside, which goes by the order of time"
                )
            }
            Shared::Whole => {
                write!(
                    f,
                    "one thread: links without delay, or with faults or a medium of their own, join all devices"
                )
            }
            Shared::TooShort { lookahead, events } => write!(
                f,
                "one thread: links between parts of the network take {}, in which each thread would have {events:.0} \
                 events to do; more pay from about {LEAST_EVENTS} on",
                micros(lookahead)
            ),
            Shared::NotStarted { threads } => write!(f, "one thread: the system did not start {threads}"),
            Shared::Tried { threads, gain } => {
                write!(f, "one thread: {threads} were tried, and had {gain:.2} times the speed of one")
            }
            Shared::Several { threads, lookahead, gain } => {
                write!(f, "{threads} threads, which exchange frames every {}", micros(lookahead))?;
                let half = if *threads == 2 { "one" } else { "half as many" };
                gain.map_or(Ok(()), |gain| write!(f, "; tried, they had {gain:.2} times the speed of {half}"))
            }
        }
    }
}

/// What a network knows of its threads.
#[derive(Debug, Default)]
pub(super) struct Sharing {
    asked: Option<ThreadsFor>,
    /// Which number of them pays is found by trying.
    trial: Option<Box<Trial>>,
    told: Shared,
    /// Of a world that has a part of a network: its lanes that lead to others, and to which.
    leaving: Vec<(u32, u16)>,
    /// How the devices were shared out last, and how much they had done then.
    partition: Option<Partition>,
    /// For how many threads that was, and for how many worlds at most.
    parted_for: usize,
    /// No frame took less than this between the worlds of the last stretch.
    lookahead: Span,
    /// So many worlds there were.
    worked: usize,
    done: Vec<u64>,
    /// Events in how much time, when that was looked at last.
    density: Option<(u64, u64)>,
    /// When that look began, and how many events there had been by then.
    since: (Time, u64),
    /// What is to be reported of devices that failed beside the one that was reported: the first last.
    failures: Vec<Failure>,
    /// Owners of devices, for tests.
    owners: Option<Vec<u16>>,
}

impl World {
    /// Lets several threads work on the network from now on. Results are the same.
    pub fn set_threads(&mut self, threads: ThreadsFor) {
        if self.sharing.asked == Some(threads) && self.sharing.trial.is_none() {
            return;
        }
        self.sharing.trial = None;
        self.have_threads(threads);
    }

    /// Lets as many threads work on the network from now on as pay, but for so many at most. That is found by trying,
    /// while it runs. Results are the same, whatever the stopwatch says.
    pub fn try_threads(&mut self, most: usize, stopwatch: Stopwatch) {
        if self.sharing.trial.as_ref().is_some_and(|trial| trial.most == most) {
            return;
        }
        self.sharing.trial = (most > 1).then(|| Box::new(Trial::new(most, stopwatch)));
        self.have_threads(ThreadsFor::most(most));
    }

    fn have_threads(&mut self, threads: ThreadsFor) {
        self.sharing.asked = (threads.most > 1).then_some(threads);
        self.sharing.told = if threads.most > 1 { Shared::Unknown } else { Shared::NotAsked };
        self.sharing.partition = None;
    }

    /// Shares devices out as told, instead of evenly: the world of each device, from zero on, with none left out. It
    /// is ignored where these can't be parted.
    pub fn set_owners(&mut self, owners: Option<Vec<u16>>) {
        self.sharing.owners = owners;
        self.sharing.partition = None;
    }

    /// How many threads have worked on the network at last, and why not more.
    pub fn threads(&self) -> Shared {
        self.sharing.told
    }

    /// This is done now, by the general path.
    pub(super) fn begin_turn(&mut self, due: Due) {
        let process = self.processes.owner_of(due);
        let (at, what) = self.processes.turn(process, self.now, due);
        self.doing = Turn { at, of_device: true, what };
    }
}
