//! The virtual clock: a network of devices and links, run by an event queue that jumps from event to event.
//!
//! # Order of events
//!
//! What happens at the same picosecond happens in this order, which is part of the contract:
//!
//! 1. commands, faults and injected frames, in the order in which they were asked for;
//! 2. what is due at ports with queue disciplines ([`crate::egress`]): each port by itself, before a frame is handed to
//!    it at that time;
//! 3. arrivals, by the global number of the receiving port (ports are numbered as links are made: link `l` has the
//!    ports `2 l` at its first end and `2 l + 1` at its second), then in order of arrival; a frame that a fault
//!    delayed or copied comes after one that arrives undisturbed;
//! 4. timeouts of devices, by node.
//!
//! # What a device sees
//!
//! `now` of `forward_batch` and `handle_packet` is the arrival of the last bit (store and forward). After every input
//! but a fast-path verdict or departure the device is drained: `poll_output` until it has nothing, then
//! `poll_timeout` once.

mod access;
mod agenda;
mod begun;
mod build;
mod external;
mod faults;
mod general;
mod hand;
mod keys;
mod late;
mod losses;
mod outage;
mod process;
mod queues;
mod run;
mod sharing;
mod taps;
mod window;

use crate::capture::form::Form;
use crate::capture::tap::Tap;
use crate::digest::Digest;
use crate::error::EngineError;
use crate::impair::Impairments;
use crate::lane::Lane;
use crate::queue::Place;
use crate::record::Recorder;
use agenda::Agenda;
use base::device::DropCounters;
use base::losses::Keeping;
use base::{Command, Device, Event, LossBook, NodeId, Streams, Time};
use begun::Begun;
use external::ExternalEnd;
pub(crate) use external::Punted;
use late::LateFrames;
pub use losses::{LossPlace, LossesAt};
use outage::Outage;
use process::Processes;
use queues::Queues;
pub use sharing::{Shared, Stopwatch, ThreadsFor};
use sharing::{Sharing, Turn};
use std::collections::VecDeque;

/// An event that a device reported to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRecord {
    /// The time at which it was reported.
    pub at: Time,
    /// The device that reported it.
    pub node: NodeId,
    /// What the device reported.
    pub event: Event,
}

/// How far a bounded run came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The time asked for is reached.
    Reached,
    /// The number of events asked for has happened; call again to go on.
    More,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeState {
    Up,
    /// It is down and comes up again. Its links are up.
    Restarting,
    /// It is down until it is told to come up, and so are its links.
    Down,
    /// It panicked or let no time pass, and is not called any more.
    Failed,
    /// Another world works on it: this is a place holder.
    Elsewhere,
}

/// What every frame needs lies in one cache line.
#[repr(C, align(64))]
struct Node {
    device: Box<dyn Device>,
    /// The lane that each port sends into.
    ports: Vec<u32>,
    recorder: Option<Box<Recorder>>,
    /// When the device asked to be called next; the largest time if it did not.
    timeout: Time,
    /// Where that is kept.
    place: Place,
    name: String,
    state: NodeState,
    /// Frames sent to ports that it does not have.
    stray_frames: u64,
    /// Commands given while it was down.
    deferred: VecDeque<Command>,
    /// How often it went down.
    restarts: u32,
    /// It is among those that the user had a hand in.
    touched: bool,
}

/// What belongs to a port and its lane, and is seldom needed.
#[derive(Default)]
struct PortState {
    drops: DropCounters,
    /// Faults that act on single frames, once there was one.
    impairments: Option<Box<Impairments>>,
    /// What faults did to frames. It is apart from the digest of what was sent, because the devices at the two ends
    /// of a lane may be at different times.
    fates: Digest,
    /// Frames and bytes whose arrival took the general path, and those of them (and copies) that the device got.
    attended: (u64, u64),
    delivered: (u64, u64),
    /// Frames delayed or copied by a fault that have not arrived yet.
    late: u64,
    duplicated: u64,
    /// What captures show of the link's frames, unless that follows from its medium.
    form: Form,
    /// Captures of what the port sends, and of what arrives at the other end.
    out_taps: Vec<u32>,
    in_taps: Vec<u32>,
    /// The device believes that the port is down.
    told_down: bool,
    /// How often the link went up or down.
    changes: u32,
    /// Whose frames ended in the port's device, of those that came by the port or were to leave by it.
    device_losses: LossBook,
    /// The far end, if it is not in this world.
    external: Option<Box<ExternalEnd>>,
}

/// A network in virtual time.
///
/// - build: [`World::add_device`], [`World::add_link`], [`World::set_queue`]
/// - ask: [`World::command`], [`World::inject`], [`World::fault`]
/// - run: [`World::run_until`], or [`World::step`] to come back every so many events
/// - watch: [`World::capture`], [`World::record`]
/// - look: [`World::device`], [`World::drain_events`], [`World::port_counters`], [`World::digest`], [`World::audit`]
/// - account: [`World::keep_losses`], [`World::losses`], [`World::show_held`]
///
/// Several networks in one process know nothing of each other. The same seed and the same calls give the same bytes.
pub struct World {
    streams: Streams,
    /// The time of the event that is being done. Events of different devices are not always done in order.
    now: Time,
    /// The latest that this has been: the time that the user sees.
    ahead: Time,
    nodes: Vec<Node>,
    /// Two for each link: lane `g` carries what port `g` sends, and ends at port `g ^ 1`.
    lanes: Vec<Lane>,
    ports: Vec<PortState>,
    /// Why each link is down.
    outages: Vec<Outage>,
    begun: Begun,
    /// How many faults were asked for that end by themselves.
    timed_faults: u64,
    /// What each device has to do, but for what follows.
    processes: Processes,
    /// Devices or links have come since they were found.
    unfound: bool,
    agenda: Agenda,
    late: LateFrames,
    queues: Queues,
    /// When the next thing is due that was asked for, or a late frame.
    next_task: Time,
    /// Events of all devices are to be done in order of time.
    in_step: bool,
    taps: Vec<Option<Tap>>,
    /// A capture has all it was to have, or failed.
    tap_over: bool,
    events: Vec<EventRecord>,
    /// Devices that the user had a hand in since they were drained last.
    touched: VecDeque<NodeId>,
    /// The device that is being called, for the report when it panics.
    running: NodeId,
    /// The last timeout: when, of which device, and how many in a row.
    spinning: (Time, NodeId, u32),
    events_done: u64,
    /// How losses are kept, if they are.
    keeping: Option<Keeping>,
    /// In whose turn each event was reported, while several worlds share a network.
    turns: Option<Vec<Turn>>,
    /// The turn that it is, but for what the fast path does.
    doing: Turn,
    sharing: Box<Sharing>,
}

impl World {
    /// An empty network at time zero, all of whose randomness comes from `seed`.
    pub fn new(seed: u64) -> World {
        World {
            streams: Streams::new(seed),
            now: Time::ZERO,
            ahead: Time::ZERO,
            nodes: Vec::new(),
            lanes: Vec::new(),
            ports: Vec::new(),
            outages: Vec::new(),
            begun: Begun::default(),
            timed_faults: 0,
            processes: Processes::default(),
            unfound: false,
            agenda: Agenda::default(),
            late: LateFrames::default(),
            queues: Queues::new(),
            next_task: Time::MAX,
            in_step: false,
            taps: Vec::new(),
            tap_over: false,
            events: Vec::new(),
            touched: VecDeque::new(),
            running: NodeId(0),
            spinning: (Time::ZERO, NodeId(0), 0),
            events_done: 0,
            keeping: None,
            turns: None,
            doing: Turn::default(),
            sharing: Box::default(),
        }
    }

    /// The named random streams of this run, for devices that need some.
    pub fn streams(&self) -> Streams {
        self.streams
    }

    /// The time that it is: what the last run was asked to reach, or that of the event it stopped at.
    #[allow(clippy::misnamed_getters, reason = "the time of a single event is not for users")]
    pub fn now(&self) -> Time {
        self.ahead
    }

    /// How many events have happened: arrivals, timeouts, commands, faults.
    pub fn events_done(&self) -> u64 {
        self.events_done
    }

    fn check_node(&self, node: NodeId) -> Result<usize, EngineError> {
        if node.index() < self.nodes.len() {
            Ok(node.index())
        } else {
            Err(EngineError::UnknownNode { node, count: self.nodes.len() })
        }
    }
}
