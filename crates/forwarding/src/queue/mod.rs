//! Queue disciplines: what waits at an egress port, in which order it leaves, and what is dropped.
//!
//! - [`spec`]: a tree of disciplines as the user describes it
//! - [`Tree`]: a tree that runs: [`Tree::offer`], [`Tree::take`]
//! - [`Discipline`]: what every node of a tree is
//! - [`classify`]: which class takes a packet
//! - [`counters`]: what every queue counts, and what must always be true of it
//!
//! # How a discipline works
//!
//! A discipline never looks at a clock: `now` comes with the [`Context`], and never goes back. [`Discipline::enqueue`] takes a packet or
//! gives it (or others that it would rather lose) to [`Context::drop`]. [`Discipline::dequeue`] returns the packet that is to be
//! sent now; one that holds packets back says with [`Context::wake_at`] when it may send. A parent asks its children in the same way.
//!
//! Every packet that was ever given to a queue has left it, was dropped with a reason, or is in it: [`counters`] counts all three, and
//! [`Tree::audit`] compares.

pub mod accounting;
pub mod classify;
pub mod counters;
mod fifo;
pub mod spec;
mod tree;

pub use accounting::Accounting;
pub use counters::{QueueCounters, QueueRow};
pub use spec::{SpecError, TreeSpec};
pub use tree::{Facts, Take, Totals, Tree};

use base::device::{DropCounters, DropReason};
use base::random::Stream;
use base::{Frame, Time};
use core::fmt::Debug;
use rand::RngExt;
use spec::QueueSpec;

/// A frame in a queue.
#[derive(Debug)]
pub struct Packet {
    /// The frame.
    pub frame: Frame,
    /// Bytes that it counts for, by the tree's [`Accounting`].
    pub len: u32,
    /// When it entered the tree.
    pub entered: Time,
}

/// What a discipline may use while it works, and whom it tells.
#[derive(Debug)]
pub struct Context<'a> {
    /// The time.
    pub now: Time,
    /// The earliest time at which something that is held back may be sent.
    pub wake: Time,
    random: &'a mut Stream,
    dropped: &'a mut Dropped,
}

/// What a tree has dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Packets, by reason.
    pub packets: DropCounters,
    /// Bytes that they counted for.
    pub bytes: u64,
    /// Bytes that they would have taken on a wire.
    pub wire_bytes: u64,
}

impl<'a> Context<'a> {
    /// At `now`.
    pub fn new(now: Time, random: &'a mut Stream, dropped: &'a mut Dropped) -> Context<'a> {
        Context { now, wake: Time::MAX, random, dropped }
    }

    /// Something that is held back may be sent at `at`.
    #[inline]
    pub fn wake_at(&mut self, at: Time) {
        self.wake = self.wake.min(at);
    }

    /// The packet is dropped. Whoever drops it counts it in its own [`QueueCounters`], too.
    #[inline]
    pub fn drop(&mut self, packet: Packet, reason: DropReason) {
        self.dropped.packets.count(reason);
        self.dropped.bytes += u64::from(packet.len);
        self.dropped.wire_bytes += u64::from(packet.frame.wire_len());
    }

    /// A number from 0 (included) to 1 (excluded).
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        self.random.random()
    }

    /// 32 random bits.
    #[inline]
    pub fn bits(&mut self) -> u32 {
        self.random.random()
    }
}

/// Packets and bytes that wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// How many packets.
    pub packets: u64,
    /// Bytes that they count for.
    pub bytes: u64,
}

/// A queue, or a scheduler of queues.
pub trait Discipline: Debug + Send {
    /// Takes a packet, or drops it; others may have to go for it. Returns whether it is queued.
    fn enqueue(&mut self, packet: Packet, cx: &mut Context<'_>) -> bool;

    /// The packet that is sent now. Nothing if there is none or all are held back; then [`Context::wake_at`] has been told until when.
    fn dequeue(&mut self, cx: &mut Context<'_>) -> Option<Packet>;

    /// The bytes that the packet counts for which [`Discipline::dequeue`] would return now. That packet is settled by it: until it is
    /// taken, nothing else is returned, whatever is enqueued meanwhile.
    fn peek(&mut self, cx: &mut Context<'_>) -> Option<u32>;

    /// What waits, held back or not.
    fn backlog(&self) -> Backlog;

    /// Drops all that waits.
    fn clear(&mut self, cx: &mut Context<'_>, reason: DropReason);

    /// Adds a row for itself, called `path`, and rows for all below it, called `path/CLASS` and so on.
    fn report(&self, path: &str, now: Time, rows: &mut Vec<QueueRow>);

    /// Keeps a series of its backlog from now on, in bins of `bin`, and so do all below it.
    fn watch(&mut self, bin: base::Span);
}

/// Makes a discipline. `path` names it in errors.
pub fn build(spec: &QueueSpec, facts: &Facts, path: &str) -> Result<Box<dyn Discipline>, SpecError> {
    match spec {
        QueueSpec::Pfifo(spec) => Ok(Box::new(fifo::Fifo::packets(spec, path)?)),
        QueueSpec::Bfifo(spec) => Ok(Box::new(fifo::Fifo::bytes(spec, path)?)),
        _ => {
            let _ = facts;
            Err(SpecError::new(path, format!("{}: not there yet", spec.name())))
        }
    }
}
