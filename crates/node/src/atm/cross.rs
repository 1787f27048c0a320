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
    /// Its cells pass.
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
    /// Cells that came.
    pub received: u64,
    /// Cells that the port took.
    pub passed: u64,
    /// Cells that were dropped.
    pub dropped: DropCounters,
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
        let last = header.pti.is_last();
        let next = |passing| if last { Packet::Between } else { passing };
        match self.packet {
            Packet::Between => {
                let waiting = output.waiting(now, Service::Ubr);
                if epd_cells.is_some_and(|most| waiting >= u64::from(most)) {
                    self.packet = next(Packet::Refused);
                    return Err(self.count(DropReason::EarlyPacketDiscard));
                }
                self.packet = next(Packet::Passing);
                Ok(())
            }
            Packet::Passing => {
                self.packet = next(Packet::Passing);
                Ok(())
            }
            Packet::Refused => {
                self.packet = next(Packet::Refused);
                Err(self.count(DropReason::EarlyPacketDiscard))
            }
            Packet::Cut if last => {
                self.packet = Packet::Between;
                Ok(())
            }
            Packet::Cut => Err(self.count(DropReason::PartialPacket)),
        }
    }

    /// The port had no room for a cell, or it is no good: of its packet only the end is of use.
    pub fn drop(&mut self, reason: DropReason, header: Header) -> DropReason {
        if header.pti.is_user() {
            self.packet = match self.packet {
                _ if header.pti.is_last() => Packet::Between,
                Packet::Refused => Packet::Refused,
                _ => Packet::Cut,
            };
        }
        self.count(reason)
    }

    fn count(&mut self, reason: DropReason) -> DropReason {
        self.counters.dropped.count(reason);
        reason
    }
}
