//! What is known of one neighbour, and when it needs attention next.

use super::super::states::ReductionState;
use super::bundle::Buffer;
use super::hello;
use super::message_id::{Advertised, History, Standing};
use super::retransmit::{Copies, Schedule};
use super::summary::{Acks, Summaries};
use super::tombstone::Tombstones;
use super::types::Neighbor;
use base::{Time, TimerId};
use std::net::Ipv4Addr;

/// What the transport remembers of one RSVP neighbour: an address on a port.
pub(super) struct Peer {
    pub(super) neighbor: Neighbor,
    /// Our address on its port.
    pub(super) local: Ipv4Addr,
    /// It was forgotten: the place is for another one.
    pub(super) is_vacant: bool,
    /// When it was heard last, or sent anything but Hellos.
    pub(super) used: Time,
    /// What it takes of RFC 2961.
    pub(super) reduction: ReductionState,
    /// The epoch of its identifiers and which of them were received.
    pub(super) epoch: Option<(u32, History)>,
    /// What it tore down lately.
    pub(super) tombstones: Tombstones,
    /// Counts its epochs: bindings of earlier ones are void.
    pub(super) generation: u32,
    /// Counts the times that it lost our state: acknowledgements of earlier ones are void.
    pub(super) session: u32,
    /// Where to go on telling the LSP layer what the neighbour has lost, and when.
    pub(super) resync: Option<(u32, Time)>,
    /// When copies are sent again.
    pub(super) schedule: Schedule,
    /// Acknowledgements to be sent.
    pub(super) acks: Acks,
    /// Messages to be bundled.
    pub(super) buffer: Buffer,
    /// Identifiers to be refreshed.
    pub(super) summaries: Summaries,
    /// Hellos, if they are exchanged.
    pub(super) hello: Option<hello::Session>,
    /// The timer in the wheel.
    pub(super) timer: Option<(Time, TimerId)>,
}

impl Peer {
    pub(super) fn new(neighbor: Neighbor, local: Ipv4Addr, capable: bool, limit: usize) -> Peer {
        Peer {
            neighbor,
            local,
            is_vacant: false,
            used: Time::ZERO,
            reduction: if capable { ReductionState::Capable } else { ReductionState::Plain },
            epoch: None,
            tombstones: Tombstones::default(),
            generation: 0,
            session: 0,
            resync: None,
            schedule: Schedule::new(limit),
            acks: Acks::default(),
            buffer: Buffer::default(),
            summaries: Summaries::default(),
            hello: None,
            timer: None,
        }
    }
    /// Does it take the messages and objects of RFC 2961?
    pub(super) const fn is_capable(&self) -> bool {
        matches!(self.reduction, ReductionState::Capable)
    }
    /// Does it hold this state, as far as we know?
    pub(super) fn holds(&self, state: &Advertised) -> bool {
        state.standing == Standing::Acknowledged && state.session == self.session
    }
    /// When it needs attention.
    pub(super) fn next(&self, copies: &Copies) -> Option<Time> {
        let hello = self.hello.as_ref().map(hello::Session::next);
        let resync = self.resync.map(|(_, at)| at);
        let sends = earlier(earlier(self.acks.next(), self.buffer.next()), self.summaries.next());
        earlier(earlier(self.schedule.next(copies), sends), earlier(resync, hello))
    }
}

/// The earlier of two times, where there may be none. It is asked for with every message.
#[inline]
fn earlier(a: Option<Time>, b: Option<Time>) -> Option<Time> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
