//! A path that a switch passes on as a whole: it looks at no channel within, and so knows of no packets.

use super::AtmSwitch;
use super::config::PathCross;
use super::cross::CrossCounters;
use super::forward::Fate;
use super::gcra::Gcra;
use super::output::Offered;
use super::ways::Way;
use super::{Path, Port};
use base::device::DropReason;
use base::{Frame, Time};
use wire::atm::Header;

/// A path that is switched.
#[derive(Debug)]
pub struct PathCrossing {
    pub config: PathCross,
    policer: Option<Gcra>,
    pub counters: CrossCounters,
}

impl PathCrossing {
    pub fn new(config: PathCross) -> PathCrossing {
        PathCrossing { config, policer: Gcra::of(&config.traffic), counters: CrossCounters::default() }
    }

    /// Forgets the cells that it has seen.
    pub fn restart(&mut self) {
        if let Some(policer) = &mut self.policer {
            policer.restart();
        }
    }

    /// May a cell go to the port? A refusal is counted.
    fn admit(&mut self, now: Time) -> Result<(), DropReason> {
        self.counters.received += 1;
        if self.policer.as_mut().is_some_and(|policer| !policer.conforms(now)) {
            self.counters.dropped.count(DropReason::Policed);
            return Err(DropReason::Policed);
        }
        Ok(())
    }
}

impl AtmSwitch {
    pub(super) fn enter_path(&mut self, path: Path, place: usize) {
        if let Some(Port::Cells(port)) = self.ports.get_mut(path.port.index()) {
            port.ways.enter_path(path.vpi, Way::Path(place as u32));
        }
    }

    /// Passes a cell on by its new path.
    pub(super) fn pass_path(&mut self, now: Time, place: usize, header: Header, frame: &mut Frame) -> Fate {
        let crossing = &mut self.paths[place];
        let (to, service) = (crossing.config.to, crossing.config.traffic.service);
        if let Err(reason) = crossing.admit(now) {
            return Fate::Dropped(reason);
        }
        let Some(Port::Cells(out)) = self.ports.get_mut(to.port.index()) else {
            crossing.counters.dropped.count(DropReason::UnknownVc);
            return Fate::Dropped(DropReason::UnknownVc);
        };
        // Generic flow control is between the two ends of a link alone.
        let new = Header { gfc: 0, vpi: to.vpi, ..header }.emit(out.format);
        if let Some(bytes) = frame.header_mut().first_chunk_mut() {
            *bytes = new;
        }
        match out.output.offer(now, service) {
            Offered::Leaves => {
                crossing.counters.passed += 1;
                Fate::Leaves(to.port)
            }
            Offered::Waits => {
                crossing.counters.passed += 1;
                out.output.hold(core::mem::replace(frame, Frame::from_bytes(&[])), service);
                self.agenda.set(to.port, out.output.due());
                Fate::Kept
            }
            Offered::Dropped(reason) => {
                crossing.counters.refused += 1;
                Fate::Dropped(reason)
            }
        }
    }
}
