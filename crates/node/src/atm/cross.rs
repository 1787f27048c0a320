//! A channel that a switch passes on: its traffic is policed, and packets are dropped whole where cells find no room.

use super::config::{Cross, Service};
use super::gcra::Gcra;
use super::output::Output;
use base::device::{DropCounters, DropReason};
use base::{Serialiser, Time};
use wire::atm::{CELL_LEN, Header};

/// What is done with the rest of a packet of AAL5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packet {
    /// The next cell begins one.
    #[default]
    Between,
    /// Some of its cells have passed, and the others may.
    Passing,
    /// Its cells are dropped, the last one too: none of it has passed.
    Refused,
    /// Its cells are dropped, but for the last one, which tells the receiver that the next cell begins another.
    Cut,
}

/// A channel that is switched.
#[derive(Debug)]
pub struct Crossing {
    pub config: Cross,
    policer: Option<Gcra>,
    packet: Packet,
    pub counters: CrossCounters,
}

/// What became of the cells of a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrossCounters {
    /// Cells that came by it, whatever became of them.
    pub received: u64,
    /// Cells that the port took.
    pub passed: u64,
    /// Cells that were dropped before they came to the port: it counts itself what it does not take.
    pub dropped: DropCounters,
    /// Cells that the port did not take.
    pub refused: u64,
}

impl Crossing {
    pub fn new(config: Cross) -> Crossing {
        let traffic = config.traffic;
        let policer = traffic
            .peak
            .zip(traffic.tolerance)
            .map(|(peak, tolerance)| Gcra::new(Serialiser::new(peak, 0).span(CELL_LEN as u32), tolerance));
        Crossing { config, policer, packet: Packet::default(), counters: CrossCounters::default() }
    }

    /// Forgets what it was in the middle of.
    pub fn restart(&mut self) {
        self.packet = Packet::default();
        if let Some(policer) = &mut self.policer {
            policer.restart();
        }
    }

    /// May a cell go to the port? A refusal is counted.
    pub fn admit(
        &mut self,
        now: Time,
        header: Header,
        output: &Output,
        epd_cells: Option<u32>,
    ) -> Result<(), DropReason> {
        self.counters.received += 1;
        if self.policer.as_mut().is_some_and(|policer| !policer.conforms(now)) {
            return Err(self.drop(DropReason::Policed, header));
        }
        if self.config.traffic.service == Service::Cbr || !header.pti.is_user() || epd_cells.is_none() {
            return Ok(());
        }
        let is_full = || epd_cells.is_some_and(|most| output.waiting(now, Service::Ubr) >= u64::from(most));
        match self.packet {
            Packet::Between if is_full() => Err(self.drop(DropReason::EarlyPacketDiscard, header)),
            Packet::Refused => Err(self.drop(DropReason::EarlyPacketDiscard, header)),
            Packet::Cut if !header.pti.is_last() => Err(self.drop(DropReason::PartialPacket, header)),
            Packet::Between | Packet::Passing | Packet::Cut => Ok(()),
        }
    }

    /// The port took a cell.
    pub fn passed(&mut self, header: Header) {
        self.counters.passed += 1;
        if header.pti.is_user() {
            self.packet = if header.pti.is_last() { Packet::Between } else { Packet::Passing };
        }
    }

    /// A cell is dropped before it comes to the port.
    pub fn drop(&mut self, reason: DropReason, header: Header) -> DropReason {
        self.counters.dropped.count(reason);
        self.miss(header);
        reason
    }

    /// The port did not take a cell.
    pub fn refused(&mut self, header: Header) {
        self.counters.refused += 1;
        self.miss(header);
    }

    /// A cell is gone: of its packet only the end is of use, and that only to separate what has passed of it from the
    /// next.
    fn miss(&mut self, header: Header) {
        if header.pti.is_user() {
            self.packet = match self.packet {
                _ if header.pti.is_last() => Packet::Between,
                Packet::Between | Packet::Refused => Packet::Refused,
                Packet::Passing | Packet::Cut => Packet::Cut,
            };
        }
    }
}
