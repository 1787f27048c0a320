//! What an ATM switch is set up with.

use base::{MacAddr, PortId, Rate, Span};
use core::net::Ipv4Addr;
use wire::atm::{Encapsulation, Format};

/// What is agreed about the cells of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Service {
    /// Constant bit rate: its cells leave before others.
    Cbr,
    /// Unspecified bit rate: its cells get what is left.
    Ubr,
}

impl Service {
    /// Both, in the order in which their cells leave.
    pub const ALL: [Service; 2] = [Service::Cbr, Service::Ubr];

    /// How users write it.
    pub const fn name(self) -> &'static str {
        match self {
            Service::Cbr => "cbr",
            Service::Ubr => "ubr",
        }
    }
}

/// A virtual channel at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Channel {
    /// The port, which carries cells.
    pub port: PortId,
    /// Virtual path, 0 to 4,095.
    pub vpi: u16,
    /// Virtual channel within it, 0 to 65,535.
    pub vci: u16,
}

/// A virtual path at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path {
    /// The port, which carries cells.
    pub port: PortId,
    /// Its number, 0 to 4,095.
    pub vpi: u16,
}

/// How much comes and goes by a channel or a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// What is agreed about its cells.
    pub service: Service,
    /// The rate of its cells in bits per second, 424 for each; that of the port if absent.
    pub peak: Option<Rate>,
    /// Cells that come earlier than this beside the peak rate are dropped; none are if absent. An end drops only those
    /// that it does not send at that rate itself.
    pub tolerance: Option<Span>,
}

/// Cells that come by a channel leave by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cross {
    /// By which they come.
    pub from: Channel,
    /// By which they leave.
    pub to: Channel,
    /// How much of them there is.
    pub traffic: Traffic,
}

/// Cells that come by a path leave by another, whatever their channel: that stays what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathCross {
    /// By which they come.
    pub from: Path,
    /// By which they leave.
    pub to: Path,
    /// How much of them there is.
    pub traffic: Traffic,
}

/// A station of IP at an end of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Station {
    /// Its Ethernet address, which is on no wire.
    pub mac: MacAddr,
    /// Its address on the circuit.
    pub address: Ipv4Addr,
}

/// How an end knows who is at the other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Map {
    /// By configuration: [`EndConfig::peer`].
    Static,
    /// It asks (InATMARP, RFC 2390).
    Learned,
}

/// An end of a circuit: where packets become cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndConfig {
    /// By which its cells come and leave.
    pub channel: Channel,
    /// How much of them there is.
    pub traffic: Traffic,
    /// Do its cells leave at the peak rate, if there is one? Otherwise they leave as they come.
    pub shaped: bool,
    /// What stands in front of a packet.
    pub encapsulation: Encapsulation,
    /// The longest packet, in bytes.
    pub mtu: u16,
    /// The station at this end.
    pub own: Station,
    /// The one at the other end.
    pub peer: Station,
    /// How its address is known here.
    pub map: Map,
}

/// How channels are labels at a port (RFC 3035).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LabelConfig {
    /// The first virtual path with labels: labels count from its first channel.
    pub first: u16,
    /// What stands in front of a labelled packet: a shim or nothing.
    pub encapsulation: Encapsulation,
}

/// A port of a switch, which has either cells or packets on its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortConfig {
    /// It carries cells, to another switch.
    Cells {
        /// How fast; zero sends in no time.
        rate: Rate,
        /// Is that the rate at which its cells leave, one by one, by a faster link? It is the end of a path then.
        is_shaped: bool,
        /// How much faster its clock runs, in parts per billion.
        clock_ppb: i64,
        /// Which headers its cells have.
        format: Format,
        /// How many cells of UBR wait in front of it at most, instead of what the switch has.
        ubr_cells: Option<u32>,
        /// How channels are labels, if they are.
        labels: Option<LabelConfig>,
    },
    /// Packets come and go, of an end of a circuit.
    Packets(EndConfig),
    /// It is not of the switch.
    None,
}

/// Ports and table of an ATM switch, and how many cells wait at each port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtmConfig {
    /// Its ports in their order.
    pub ports: Vec<PortConfig>,
    /// Its table: which channels it switches, one way each.
    pub crosses: Vec<Cross>,
    /// The same of paths that it switches as a whole. Nobody else has a channel of one.
    pub paths: Vec<PathCross>,
    /// How many cells of CBR wait at a port at most.
    pub cbr_cells: u32,
    /// The same of UBR.
    pub ubr_cells: u32,
    /// From so many waiting cells on no packet of UBR is begun; cells are dropped one by one if absent.
    pub epd_cells: Option<u32>,
}
