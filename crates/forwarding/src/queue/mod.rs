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
//! A discipline never looks at a clock: `now` comes with the [`Context`], and never goes back.
//! [`Discipline::enqueue`] takes a packet or gives it (or others that it would rather lose) to [`Context::drop`].
//! [`Discipline::dequeue`] returns the packet that is to be sent now; one that holds packets back says with
//! [`Context::wake_at`] when it may send. A parent asks its children in the same way.
//!
//! Every packet that was ever given to a queue has left it, was dropped with a reason, or is in it: [`counters`]
//! counts all three, and [`Tree::audit`] compares. A discipline with others below it asks them through an [`Inner`],
//! which counts what they drop, too.

pub mod accounting;
mod advice;
mod bits;
pub mod bucket;
mod cbq;
pub(crate) mod check;
pub mod classify;
mod cost;
pub mod counters;
mod drr;
pub mod ecn;
mod fifo;
mod fq_codel;
mod gred;
mod held;
mod hierarchy;
mod htb;
mod inner;
mod inputs;
mod parking;
mod prio;
pub mod problem;
#[cfg(test)]
mod properties;
pub mod red;
pub mod spec;
mod tbf;
#[cfg(test)]
pub(crate) mod testing;
mod tree;

pub use accounting::Accounting;
pub use advice::{Around, Longest, marks_of, warnings, warnings_at};
pub use counters::{QueueCounters, QueueRow};
pub use held::Held;
pub use inner::Inner;
pub use inputs::Input;
pub use problem::QueueProblem;
pub use spec::TreeSpec;
pub use tree::{Facts, Take, Totals, Tree};

use base::device::{DropCounters, DropReason};
use base::diagnostic::Diagnostic;
use base::frame::Framing;
use base::random::Stream;
use base::{Frame, LossBook, Time};
use core::fmt::Debug;
use rand::RngExt;
use spec::QueueSpec;

/// A frame in a queue.
#[derive(Debug)]
pub struct Packet {
    /// As it will leave: labels are on already.
    pub frame: Frame,
    /// Bytes that it counts for, by the tree's [`Accounting`].
    pub len: u32,
    /// When it entered the tree.
    pub entered: Time,
}

/// What a discipline may use while it works, and where it reports drops and times.
#[derive(Debug)]
pub struct Context<'a> {
    /// Time of the call, since the start of the run; it never goes back.
    pub now: Time,
    /// The earliest time at which something that is held back may be sent.
    pub wake: Time,
    random: &'a mut Stream,
    dropped: &'a mut Dropped,
    losses: &'a mut LossBook,
}

/// What a tree has dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Number of packets, by reason.
    pub packets: DropCounters,
    /// Bytes that they counted for.
    pub bytes: u64,
    /// Bytes that they would have taken on a wire.
    pub wire_bytes: u64,
    /// How long packets are on the port's wire.
    framing: Framing,
    /// Those of the present call, for the disciplines above.
    recent: Vec<Loss>,
}

/// A packet that was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Bytes that it counted for.
    pub len: u32,
    /// When it entered the tree.
    pub entered: Time,
    /// Why it was dropped.
    pub reason: DropReason,
}

impl<'a> Context<'a> {
    /// For one call of a tree at `now`.
    pub fn new(
        now: Time,
        random: &'a mut Stream,
        dropped: &'a mut Dropped,
        losses: &'a mut LossBook,
    ) -> Context<'a> {
        dropped.recent.clear();
        Context { now, wake: Time::MAX, random, dropped, losses }
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
        self.dropped.wire_bytes += u64::from(self.dropped.framing.of(&packet.frame));
        self.dropped.recent.push(Loss { len: packet.len, entered: packet.entered, reason });
        self.losses.lost(self.now, &packet.frame, reason);
    }

    /// How many packets have been dropped since the tree was called. See [`Context::lost_since`].
    #[inline]
    pub fn losses(&self) -> usize {
        self.dropped.recent.len()
    }

    /// What has been dropped since [`Context::losses`] was `before`.
    #[inline]
    pub fn lost_since(&self, before: usize) -> &[Loss] {
        self.dropped.recent.get(before..).unwrap_or_default()
    }

    /// Asks something below, and returns until when that is held back instead of passing it on.
    #[inline]
    pub fn ask<T>(&mut self, below: impl FnOnce(&mut Context<'a>) -> T) -> (T, Time) {
        let outer = core::mem::replace(&mut self.wake, Time::MAX);
        let answer = below(self);
        (answer, core::mem::replace(&mut self.wake, outer))
    }

    /// A number from 0 (included) to 1 (excluded).
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        self.random.random()
    }

    /// 32 random bits from the tree's own stream.
    #[inline]
    pub fn bits(&mut self) -> u32 {
        self.random.random()
    }
}

/// Packets and bytes that wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Number of packets.
    pub packets: u64,
    /// Bytes that they count for.
    pub bytes: u64,
}

/// A queue, or a scheduler of queues.
pub trait Discipline: Debug + Send {
    /// Takes a packet, or drops it; others may have to go for it. Returns whether it is queued.
    fn enqueue(&mut self, packet: Packet, cx: &mut Context<'_>) -> bool;

    /// The packet that is sent now. Nothing if there is none or all are held back; then [`Context::wake_at`] has been
    /// told until when.
    fn dequeue(&mut self, cx: &mut Context<'_>) -> Option<Packet>;

    /// The bytes that the packet counts for which [`Discipline::dequeue`] would return now. Called next, and at the
    /// same time, that returns this very packet. Later it may be another: a more urgent one may have come.
    fn peek(&mut self, cx: &mut Context<'_>) -> Option<u32>;

    /// What waits, held back or not.
    fn backlog(&self) -> Backlog;

    /// Drops all packets that wait, each counted with `reason`.
    fn clear(&mut self, cx: &mut Context<'_>, reason: DropReason);

    /// Adds a row for itself, called `path`, and rows for all below it, called `path/CLASS` and so on.
    fn report(&self, path: &str, now: Time, rows: &mut Vec<QueueRow>);

    /// Shows each packet that waits, in any order.
    fn show_held(&self, see: &mut dyn FnMut(&Frame));

    /// Keeps a series of its backlog from now on, in bins of `bin`, and so do all below it.
    fn watch(&mut self, bin: base::Span);
}

/// Makes a discipline. Errors have their place within the discipline.
pub fn build(spec: &QueueSpec, facts: &Facts) -> Result<Box<dyn Discipline>, Diagnostic> {
    match spec {
        QueueSpec::Pfifo(spec) => Ok(Box::new(fifo::Fifo::packets(spec))),
        QueueSpec::Bfifo(spec) => Ok(Box::new(fifo::Fifo::bytes(spec))),
        QueueSpec::Tbf(spec) => Ok(Box::new(tbf::Tbf::new(spec, facts)?)),
        QueueSpec::Prio(spec) => Ok(Box::new(prio::Prio::new(spec, facts)?)),
        QueueSpec::Red(spec) => Ok(Box::new(red::Red::new(spec, facts)?)),
        QueueSpec::Gred(spec) => Ok(Box::new(gred::Gred::new(spec, facts)?)),
        QueueSpec::Cbq(spec) => Ok(Box::new(cbq::Cbq::new(spec, facts)?)),
        QueueSpec::Htb(spec) => Ok(Box::new(htb::Htb::new(spec, facts)?)),
        QueueSpec::Drr(spec) => Ok(Box::new(drr::Drr::new(spec, facts)?)),
        QueueSpec::FqCodel(spec) => Ok(Box::new(fq_codel::FqCodel::new(spec, facts))),
    }
}
