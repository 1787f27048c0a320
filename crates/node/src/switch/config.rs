//! How a switch is set up.

use base::{MacAddr, Rate, Span};
use core::net::IpAddr;
use forwarding::Seed;
use forwarding::queue::spec::MarkedClass;
use wire::openflow::Version;

/// How a switch is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchConfig {
    /// What its controllers know it by.
    pub datapath_id: u64,
    /// What its owner calls it.
    pub name: String,
    /// Versions of OpenFlow that it speaks.
    pub versions: Vec<Version>,
    /// Its controllers.
    pub controllers: Vec<Controller>,
    /// What it does without a controller.
    pub fail: FailMode,
    /// How many flow tables it has, at least one.
    pub tables: u8,
    /// Entries that each of them has room for.
    pub max_entries: usize,
    /// Packets that it keeps for controllers.
    pub buffers: u32,
    /// After how long it asks a silent controller whether it is there; never if absent.
    pub probe: Option<Span>,
    /// Its ports, of which the first has number 1.
    pub ports: Vec<SwitchPort>,
    /// What its hashes begin with.
    pub seed: Seed,
}

/// A port of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchPort {
    /// Its name, of which controllers see 15 bytes.
    pub name: String,
    /// Its Ethernet address.
    pub address: MacAddr,
    /// The rate of its link.
    pub rate: Option<Rate>,
    /// The queues that actions can choose, by their numbers: classes of the queue disciplines that stand there, to
    /// which packets with this number as their mark go.
    pub queues: Vec<MarkedClass>,
}

/// How a switch and a controller come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controller {
    /// The switch connects to this address and TCP port.
    Connect(IpAddr, u16),
    /// The switch listens at this address, or at all, and TCP port.
    Listen(Option<IpAddr>, u16),
}

/// What a switch does while no controller is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailMode {
    /// Its entries stay as they are, and packets without one are dropped.
    Secure,
    /// It forwards all packets as a switch that learns addresses.
    Standalone,
}
