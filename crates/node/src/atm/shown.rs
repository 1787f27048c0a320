//! What a switch shows of its ports, channels and ends.

use super::config::{Cross, EndConfig, PathCross};
use super::cross::CrossCounters;
use super::end::EndCounters;
use super::output::OutputCounters;
use super::{AtmSwitch, Port};
use base::PortId;

/// Cells that came by a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// All of them, those with wrong headers and frames that were no cells included.
    pub cells: u64,
    /// Those of channels that nobody has.
    pub unknown: u64,
    /// Frames that were no cells.
    pub refused: u64,
}

/// A port that carries cells.
#[derive(Clone, Debug)]
pub struct PortShown<'a> {
    /// Its number, in the order of the switch's links.
    pub port: PortId,
    /// What came by it.
    pub input: Input,
    /// Cells whose header was put right, and those whose header was wrong beyond repair.
    pub headers: (u64, u64),
    /// What was to leave.
    pub output: &'a OutputCounters,
    /// Cells that wait here now.
    pub held: u64,
}

/// A channel that is switched.
#[derive(Clone, Copy, Debug)]
pub struct CrossShown<'a> {
    /// As it was configured.
    pub config: &'a Cross,
    /// What became of its cells.
    pub counters: &'a CrossCounters,
    /// Is it in the table? A channel that is no label any more is shown with what was counted.
    pub is_used: bool,
    /// Cells that wait for the last one of their packet (VC merge).
    pub held: u64,
}

/// A path that is switched as a whole.
#[derive(Clone, Copy, Debug)]
pub struct PathShown<'a> {
    /// As it was configured.
    pub config: &'a PathCross,
    /// What became of its cells.
    pub counters: &'a CrossCounters,
}

/// An end of a circuit.
#[derive(Clone, Copy, Debug)]
pub struct EndShown<'a> {
    /// The port of its station.
    pub port: PortId,
    /// As it was configured.
    pub config: &'a EndConfig,
    /// What became of packets and cells.
    pub counters: &'a EndCounters,
    /// Cells that wait for their turn.
    pub waiting_cells: u64,
}

impl AtmSwitch {
    fn numbered(&self) -> impl Iterator<Item = (PortId, &Port)> {
        self.ports.iter().enumerate().map(|(number, port)| (PortId(number as u16), port))
    }

    /// Ports that carry cells, in their order.
    pub fn cell_ports(&self) -> impl Iterator<Item = PortShown<'_>> {
        self.numbered().filter_map(|(port, found)| match found {
            Port::Cells(found) => Some(PortShown {
                port,
                input: found.input,
                headers: (found.receiver.corrected, found.receiver.dropped),
                output: &found.output.counters,
                held: found.output.held(),
            }),
            Port::Packets(_) | Port::None => None,
        })
    }

    /// Channels that are switched, in the order of the configuration.
    pub fn crosses(&self) -> impl Iterator<Item = CrossShown<'_>> {
        self.crossings.iter().map(|found| CrossShown {
            config: &found.config,
            counters: &found.counters,
            is_used: found.is_used,
            held: found.held() as u64,
        })
    }

    /// Paths that are switched as a whole, in the order of the configuration.
    pub fn paths(&self) -> impl Iterator<Item = PathShown<'_>> {
        self.paths.iter().map(|found| PathShown { config: &found.config, counters: &found.counters })
    }

    /// Ends of circuits, in the order of their ports.
    pub fn ends(&self) -> impl Iterator<Item = EndShown<'_>> {
        self.numbered().filter_map(|(port, found)| match found {
            Port::Packets(end) => Some(EndShown {
                port,
                config: &end.config,
                counters: &end.counters,
                waiting_cells: end.waiting_cells(),
            }),
            Port::Cells(_) | Port::None => None,
        })
    }
}
