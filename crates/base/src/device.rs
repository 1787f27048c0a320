//! The one contract: what every device does under both clocks.
//!
//! Drain a device in this order after each input: [`Device::poll_output`] until it returns nothing, then read
//! [`Device::poll_timeout`] once. `now` never goes back. A device does no I/O, reads no clock and draws randomness
//! only from streams that it was given.

use crate::command::Command;
use crate::event::Event;
use crate::frame::Frame;
use crate::ids::PortId;
use crate::time::Time;
use core::any::Any;
use serde::{Deserialize, Serialize};

/// What the forwarding plane decided on a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The frame, rewritten, leaves by `port`, and its first bit not before `ready`.
    Transmit {
        /// By which it leaves; its queue decides when.
        port: PortId,
        /// When the device is done with it.
        ready: Time,
    },
    /// The frame is unchanged and needs more than a table: give it to [`Device::handle_packet`].
    Punt,
    /// The frame is unchanged and leaves in copies: give it to [`Device::handle_packet`], after which they wait in
    /// [`Device::poll_output`]. To whoever runs a device it is as [`Verdict::Punt`].
    Replicate,
    /// The frame is discarded.
    Drop(DropReason),
    /// The frame has reached its end: the device took from it what it wanted.
    Consume,
}

const _: () = assert!(size_of::<Verdict>() == 16);

macro_rules! drop_reasons {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Why a frame was discarded.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum DropReason {
            $($(#[$doc])* $name,)*
        }

        impl DropReason {
            /// Every reason, in order.
            pub const ALL: &[DropReason] = &[$(DropReason::$name,)*];
        }
    };
}

drop_reasons! {
    /// Not for this port's Ethernet address.
    NotForUs,
    /// Too short for the headers that it announces.
    Truncated,
    /// An EtherType, version or protocol that nothing here understands.
    UnknownProtocol,
    /// A header with an impossible field.
    Malformed,
    /// A checksum that does not match.
    BadChecksum,
    /// No entry in the incoming label map.
    UnknownLabel,
    /// A reserved label in a place where it has no meaning (RFC 3032, 2.1).
    ReservedLabel,
    /// More labels than can be pushed or popped.
    StackDepth,
    /// Time to live is over.
    TtlExpired,
    /// No route to the destination.
    NoRoute,
    /// The route says to discard.
    Discard,
    /// The next hop's Ethernet address is not known, and too many frames wait for it or nobody answered.
    NoAdjacency,
    /// Longer than the egress port takes, and not to be fragmented.
    TooBig,
    /// The egress port is down.
    PortDown,
    /// The egress buffer is full.
    BufferFull,
    /// Random early detection chose it (RED, between its thresholds).
    EarlyDrop,
    /// Random early detection dropped it since the average queue is beyond its upper threshold.
    AverageQueue,
    /// CoDel dropped it: packets have waited for too long.
    Sojourn,
    /// No class of the egress queue takes it.
    NoClass,
    /// Longer than a token bucket is deep: it could never be sent.
    BeyondBurst,
    /// A policer dropped it.
    Policed,
    /// Its PHB has no place in the LSP that it would take (RFC 3270, 3.4).
    NoPhb,
    /// The queue to the control processor is full.
    ControlQueueFull,
    /// Exceeds a rate limit on exceptions.
    RateLimited,
    /// The link went down while the frame was queued or on its way.
    LinkDown,
    /// Lost by a fault that the user put on the link.
    LinkLoss,
    /// Corrupted on the link: the frame check sequence does not match.
    LinkCorruption,
    /// The device was restarting.
    NodeDown,
    /// For this device, and nobody here wants it.
    NoListener,
    /// A bridge keeps it on the link that it came by: its destination is there, or is a group of one link alone.
    Filtered,
    /// A test packet that reached a sink which does not expect its flow.
    Misdelivered,
    /// To a group, and it came by another way than from its source (the check of the reverse path).
    WrongInterface,
    /// A cell whose header is wrong beyond repair.
    HeaderError,
    /// A cell of a virtual channel or path that nobody has.
    UnknownVc,
    /// A cell of a packet that was not begun, since too many cells wait (early packet discard).
    EarlyPacketDiscard,
    /// A cell of a packet of which another cell was dropped already.
    PartialPacket,
    /// The check of a PDU of AAL5 does not match: cells of it are wrong, or missing.
    PduCrc,
    /// A PDU of AAL5 whose length does not fit its cells, or that is longer than the receiver takes.
    PduLength,
    /// A label of another router lies below one that has no label of the next router (RFC 3031, 3.22).
    LabelBelow,
    /// A copy that came by an LSP of which the selector of its tunnel takes none now: its twin has come by the other.
    Unselected,
}

/// Drops counted by reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropCounters([u64; DropReason::ALL.len()]);

impl Default for DropCounters {
    fn default() -> DropCounters {
        DropCounters([0; DropReason::ALL.len()])
    }
}

impl DropCounters {
    /// Counts one drop for this reason.
    #[inline]
    pub fn count(&mut self, reason: DropReason) {
        self.0[reason as usize] += 1;
    }
    /// Counts `count` drops of the same reason.
    pub fn add(&mut self, reason: DropReason, count: u64) {
        self.0[reason as usize] += count;
    }
    /// How many there were for `reason`.
    pub fn get(&self, reason: DropReason) -> u64 {
        self.0[reason as usize]
    }
    /// All reasons that occurred, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (DropReason, u64)> {
        DropReason::ALL.iter().map(|&r| (r, self.get(r))).filter(|e| e.1 > 0)
    }
    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &DropCounters) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a += b);
    }
    /// The sum over all reasons.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// What a device wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Send `frame` by `port`; its first bit leaves at `ready` or later.
    Transmit {
        /// By which it leaves; its queue decides when.
        port: PortId,
        /// With its Ethernet header, as it goes on the wire.
        frame: Frame,
        /// When the device is done with it; a time that has passed means now.
        ready: Time,
    },
    /// Something that happened, for the user's table of events.
    Event(Event),
    /// A frame that the device had taken has ended here. The device has counted it; this tells whose it was.
    Discard {
        /// By which it came; of a frame that the device itself was to send, by which it would have left.
        port: PortId,
        /// The frame as the device held it.
        frame: Frame,
        /// Why it was discarded.
        reason: DropReason,
    },
    /// The device has made more frames of one that it got: it leaves in copies.
    Copied {
        /// By which it came.
        port: PortId,
        /// One of the copies.
        frame: Frame,
        /// How many frames there are now beyond the one that came.
        copies: u32,
    },
    /// What have the queues of a port counted? Whoever runs the device answers at once, by [`Command::QueueCounted`].
    AskQueue {
        /// The port.
        port: PortId,
    },
}

/// A frame that a device sends of its own accord.
#[derive(Clone, Debug, PartialEq)]
pub struct Departure {
    /// When it is handed to the port; its first bit leaves then or, if the port is busy, later.
    pub at: Time,
    /// By which it leaves, if its queue takes it.
    pub port: PortId,
    /// With its Ethernet header, as it goes on the wire.
    pub frame: Frame,
    /// What [`Device::poll_timeout`] returns now.
    pub next: Option<Time>,
}

/// A router, switch, host, source, sink or probe.
pub trait Device: Any + Send {
    /// The fast path: decides on a batch of frames that arrived by `port` at `now` (the last bit of the last of them).
    ///
    /// `verdicts` is as long as `frames`. The device counts what it drops, and whoever runs it keeps whose frame that
    /// was: no [`Output::Discard`] follows such a verdict. A frame that is punted or to be replicated is unchanged. The
    /// default is a device without a forwarding plane.
    ///
    /// Unless it punts or replicates, this changes neither what [`Device::poll_output`] has to say nor what
    /// [`Device::poll_timeout`] returns: a runner asks for them only after such a verdict.
    #[inline]
    fn forward_batch(&mut self, now: Time, port: PortId, frames: &mut [Frame], verdicts: &mut [Verdict]) {
        let _ = (now, port, frames);
        verdicts.fill(Verdict::Punt);
    }

    /// The same of a batch of one, as events of the virtual clock bring.
    #[inline]
    fn forward_one(&mut self, now: Time, port: PortId, frame: &mut Frame) -> Verdict {
        let mut verdict = [Verdict::Punt];
        self.forward_batch(now, port, core::slice::from_mut(frame), &mut verdict);
        verdict[0]
    }

    /// Takes a frame that the fast path punted or did not replicate itself; `now` is the arrival of its last bit.
    fn handle_packet(&mut self, now: Time, port: PortId, frame: Frame);

    /// Does a frame that was punted keep a link or a session alive? In real time, where frames wait for the processor,
    /// it waits behind no other. The default is a device that knows none such.
    fn is_urgent(&self, frame: &Frame) -> bool {
        let _ = frame;
        false
    }

    /// Does what is due at `now`. Harmless when nothing is.
    fn handle_timeout(&mut self, now: Time);

    /// Carries out a user's or the engine's command.
    fn handle_command(&mut self, now: Time, command: Command);

    /// The fast path of sources: the next frame that the device sends of its own accord, if sending it is all that is
    /// due before `before`.
    ///
    /// It does what [`Device::handle_timeout`] at the time of the departure would have done, for a device that is
    /// drained. Nothing says that there is no such frame, or that it is not alone; then call `handle_timeout`. The
    /// default is a device without sources.
    #[inline]
    fn poll_departure(&mut self, before: Time) -> Option<Departure> {
        let _ = before;
        None
    }

    /// What the device wants done next; nothing when it is drained.
    fn poll_output(&mut self) -> Option<Output>;

    /// When to call [`Device::handle_timeout`]: never later than the next thing due, perhaps earlier.
    fn poll_timeout(&self) -> Option<Time>;

    /// Shows each frame that the device has taken and holds: those that wait for a neighbour's Ethernet address, say.
    /// The default is a device that holds none.
    fn show_held(&self, see: &mut dyn FnMut(&Frame)) {
        let _ = see;
    }
}
