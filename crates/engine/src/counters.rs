//! What a link counted, and the check that nothing got lost without a reason.

use base::device::{DropCounters, DropReason};

/// One direction of a link, from the egress queue of the sending port to the far end. Bytes are those on the wire
/// (without preamble and gap).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectionCounters {
    /// Frames that the port took, whether or not they have left yet.
    pub sent_frames: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Frames that reached the device at the far end.
    pub received_frames: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Copies made by a fault.
    pub duplicated: u64,
    /// Frames queued or on their way.
    pub in_flight: u64,
    /// Bytes of frames whose first bit has not left yet.
    pub waiting_bytes: u64,
    /// The most bytes that ever waited.
    pub waiting_bytes_max: u64,
    /// Frames dropped, by reason: refused by the port ([`DropReason::BufferFull`], [`DropReason::PortDown`]) or
    /// lost behind it.
    pub drops: DropCounters,
}

impl DirectionCounters {
    /// Frames that the port refused; they don't count as sent.
    pub fn refused(&self) -> u64 {
        self.drops.get(DropReason::BufferFull) + self.drops.get(DropReason::PortDown)
    }
    /// Frames lost after the port had taken them.
    pub fn lost(&self) -> u64 {
        self.drops.total() - self.refused()
    }
    /// Conservation: sent and duplicated frames were received, lost, or are in flight.
    pub fn balanced(&self) -> bool {
        self.sent_frames + self.duplicated == self.received_frames + self.lost() + self.in_flight
    }
}

/// Both directions of a port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// What it sends.
    pub egress: DirectionCounters,
    /// What is sent to it.
    pub ingress: DirectionCounters,
}
