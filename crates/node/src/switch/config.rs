//! How a switch is set up.

use base::{MacAddr, Rate, Span};
use core::fmt;
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
    /// What it shows its controllers over TLS, and knows them by; absent if none of them is over TLS.
    pub tls: Option<TlsFiles>,
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
    Connect(Transport, IpAddr, u16),
    /// The switch listens at this address, or at all, and TCP port.
    Listen(Transport, Option<IpAddr>, u16),
}

impl Controller {
    /// What messages are carried over.
    pub fn transport(self) -> Transport {
        match self {
            Controller::Connect(transport, ..) | Controller::Listen(transport, ..) => transport,
        }
    }
}

/// As Open vSwitch writes it: `tcp:10.9.0.2:6653`, `ptcp:6653`, `ssl:10.9.0.2:6653`, `pssl:6653`.
impl fmt::Display for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.transport() {
            Transport::Tcp => "tcp",
            Transport::Tls => "ssl",
        };
        match self {
            Controller::Connect(_, address, port) => write!(f, "{name}:{address}:{port}"),
            Controller::Listen(_, None, port) => write!(f, "p{name}:{port}"),
            Controller::Listen(_, Some(address), port) => write!(f, "p{name}:{port}:{address}"),
        }
    }
}

/// What messages are carried over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP alone.
    Tcp,
    /// TLS over TCP.
    Tls,
}

/// Files in PEM form by which a switch and its controllers know each other over TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The private key of the switch.
    pub private_key: String,
    /// Its certificate; those of authorities between it and what controllers trust may follow.
    pub certificate: String,
    /// Certificates of the authorities, one of which has signed the certificate of each controller.
    pub ca_cert: String,
}

/// What a switch does while no controller is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailMode {
    /// Its entries stay as they are, and packets without one are dropped.
    Secure,
    /// It forwards all packets as a switch that learns addresses.
    Standalone,
}
