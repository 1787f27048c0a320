//! What a link counted, and the check that nothing got lost without a reason.

use base::LinkId;
use base::device::{DropCounters, DropReason};

/// One direction of a link, from the egress queue of the sending port to the far end. Bytes are those on the wire
/// (without preamble and gap).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectionCounters {
    /// Frames that the port took, whether or not they have left yet; of a port with queue disciplines, those to which
    /// they gave their turn.
    pub sent_frames: u64,
    /// Bytes on the wire of the sent frames.
    pub sent_bytes: u64,
    /// Frames that reached the device at the far end.
    pub received_frames: u64,
    /// Bytes on the wire of the received frames.
    pub received_bytes: u64,
    /// Second copies of frames that a fault made, on top of the frames sent.
    pub duplicated: u64,
    /// Frames that wait in queue disciplines, and don't count as sent yet.
    pub queued: u64,
    /// Frames queued (in queue disciplines, too) or on their way.
    pub in_flight: u64,
    /// Bytes of frames whose first bit has not left yet, those in queue disciplines included.
    pub waiting_bytes: u64,
    /// The most bytes that ever waited.
    pub waiting_bytes_max: u64,
    /// Frames dropped, by reason: refused by the port ([`DropReason::BufferFull`], [`DropReason::PortDown`]) or
    /// dropped by its queue disciplines, or lost behind it.
    pub drops: DropCounters,
    /// Those of them that waited for queue disciplines or that these refused, for whatever reason; they don't count
    /// as sent.
    pub queue_drops: DropCounters,
}

impl DirectionCounters {
    /// Frames that the port refused, or that were dropped out of queue disciplines; they don't count as sent.
    pub fn refused(&self) -> u64 {
        let by_port = |reason| self.drops.get(reason) - self.queue_drops.get(reason);
        by_port(DropReason::BufferFull) + by_port(DropReason::PortDown) + self.queue_drops.total()
    }
    /// Frames that were handed to the port: sent, refused, or still in queue disciplines.
    pub fn offered(&self) -> u64 {
        self.sent_frames + self.refused() + self.queued
    }
    /// Frames lost after the port had taken them.
    pub fn lost(&self) -> u64 {
        self.drops.total() - self.refused()
    }
    /// Conservation: frames sent, duplicated and waiting to be sent were received, lost, or are in flight.
    pub fn balanced(&self) -> bool {
        self.sent_frames + self.queued + self.duplicated
            == self.received_frames + self.lost() + self.in_flight
    }
}

/// What should be true of one direction of a link and is not: the engine, or a queue discipline, is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imbalance {
    /// The link whose counters of one direction do not add up.
    pub link: LinkId,
    /// Counters of the direction that does not add up.
    pub counters: DirectionCounters,
    /// What is wrong with its queues.
    pub queues: Vec<String>,
}

/// Counters of a port, for what it sends and what it receives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// The direction that leads away from the port: what its device sends.
    pub egress: DirectionCounters,
    /// The direction that leads to the port: what its device receives.
    pub ingress: DirectionCounters,
}
