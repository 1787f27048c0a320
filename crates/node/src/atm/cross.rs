//! A channel that a switch passes on: its traffic is policed, and packets are dropped whole where cells find no room.

use super::config::{Cross, Service};
use super::gcra::Gcra;
use super::output::Output;
use base::device::{DropCounters, DropReason};
use base::{Frame, Time};
use wire::atm::{Header, aal5};

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
    /// Is the channel a label, so that the table may change?
    pub of_label: bool,
    /// Is it in the table?
    pub is_used: bool,
    /// With VC merge, the cells of a packet that has come in part.
    held: Option<Vec<Frame>>,
}

/// What became of the cells of a channel or a path.
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
        Crossing {
            config,
            policer: Gcra::of(&config.traffic),
            packet: Packet::default(),
            counters: CrossCounters::default(),
            of_label: false,
            is_used: true,
            held: None,
        }
    }

    /// That of a channel which is a label.
    pub fn of_label(config: Cross, merges: bool) -> Crossing {
        Crossing { of_label: true, held: merges.then(Vec::new), ..Crossing::new(config) }
    }

    /// The channel is a label for another way. The rest of a packet of which cells have left by the way before is
    /// dropped.
    pub fn set(&mut self, config: Cross, merges: bool) {
        self.packet = match self.packet {
            Packet::Between => Packet::Between,
            Packet::Passing | Packet::Refused | Packet::Cut => Packet::Refused,
        };
        (self.config, self.is_used) = (config, true);
        self.held = merges.then(Vec::new);
    }

    /// Do the cells of a packet leave together?
    pub fn merges(&self) -> bool {
        self.held.is_some()
    }

    /// Keeps a cell of a packet until its last one has come.
    pub fn hold(&mut self, cell: Frame) {
        self.held.get_or_insert_default().push(cell);
        self.packet = Packet::Passing;
    }

    /// How many cells are kept so.
    pub fn held(&self) -> usize {
        self.held.as_ref().map_or(0, Vec::len)
    }

    /// Shows them.
    pub fn show_held(&self, see: &mut dyn FnMut(&Frame)) {
        self.held.iter().flatten().for_each(see);
    }

    /// Gives the cells back that are kept; whether they leave together is for the caller to say.
    pub fn take_held(&mut self) -> Vec<Frame> {
        self.held.as_mut().map(core::mem::take).unwrap_or_default()
    }

    /// The same, and counts them as dropped.
    pub fn drop_held(&mut self, reason: DropReason) -> Vec<Frame> {
        let held = self.take_held();
        self.counters.dropped.add(reason, held.len() as u64);
        held
    }

    /// Is a packet of which cells are kept too long for any receiver? Its rest is dropped.
    pub fn is_too_long(&self) -> bool {
        self.held() >= aal5::cells_for(aal5::PAYLOAD_MAX)
    }

    /// Drops what follows of a packet, its last cell too.
    pub fn refuse_rest(&mut self) {
        self.packet = Packet::Refused;
    }

    /// The port took so many cells that were kept, or none of them.
    pub fn left(&mut self, cells: usize, taken: bool) {
        match taken {
            true => self.counters.passed += cells as u64,
            false => self.counters.refused += cells as u64,
        }
        self.packet = Packet::Between;
    }

    /// Forgets what it was in the middle of.
    pub fn restart(&mut self) -> Vec<Frame> {
        self.packet = Packet::default();
        if let Some(policer) = &mut self.policer {
            policer.restart();
        }
        self.drop_held(DropReason::NodeDown)
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
        let is_plain = epd_cells.is_none() && !self.of_label;
        if self.config.traffic.service == Service::Cbr || !header.pti.is_user() || is_plain {
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
