//! What a tester of OpenFlow switches does.

use base::{Rate, Span};
use wire::openflow::Version;

base::words! {
    /// Which messages or packets are sent, and what is measured of them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Test {
        /// Packets without an entry, which come back in PACKET_INs.
        PacketIn = "packet-in",
        /// Packets of an entry that sends them to the controller.
        PacketInAction = "packet-in-action",
        /// Packets that the controller gives to the switch in PACKET_OUTs.
        PacketOut = "packet-out",
        /// Echo requests to the switch.
        Control = "control",
        /// Packets of one entry that forwards them.
        Data = "data",
        /// From the first segment with additions to the first packet that leaves by the last of the entries.
        FlowAdd = "flow-add",
        /// The same with changes of entries that are there.
        FlowMod = "flow-mod",
        /// The same as additions, of entries that go by themselves after a time.
        FlowExpiry = "flow-expiry",
        /// Packets of one entry that forwards them, and questions what it has counted.
        Statistics = "statistics",
    }
    default PacketIn;
}

base::words! {
    /// The version of OpenFlow that the tester speaks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Spoken {
        /// That of the study.
        V1_0 = "1.0",
        /// The later one: packets without an entry come by an entry for them.
        V1_3 = "1.3",
    }
    default V1_0;
}

impl Spoken {
    /// The version as messages have it.
    pub const fn version(self) -> Version {
        match self {
            Spoken::V1_0 => Version::V1_0,
            Spoken::V1_3 => Version::V1_3,
        }
    }
}

/// A test, and what it is done with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Which messages or packets are sent.
    pub test: Test,
    /// The version of its messages.
    pub version: Spoken,
    /// The rate that sets the time between two packets; see [`Settings::gap`].
    pub rate: Rate,
    /// Length of a packet, in bytes, without its frame check sequence.
    pub size: u32,
    /// One packet of so many is stamped.
    pub every: u32,
    /// Are those between them sent, too? Only [`Test::Data`] can.
    pub fill: bool,
    /// How long packets are sent.
    pub duration: Span,
    /// Entries that are added or changed at once.
    pub flows: u32,
    /// From the first packet of the stream to the first addition or change, and between later ones and what came
    /// before, at least.
    pub wait: Span,
    /// From a packet of the stream to the additions or changes that begin with it.
    pub lead: Span,
    /// Gives each entry a probe of its own once the last one works.
    pub confirm: bool,
    /// In test [`Test::FlowExpiry`]: seconds after which entries go (hard timeout).
    pub timeout: u16,
    /// Numbers of the switch's ports that the tester's two are at.
    pub ports: [u16; 2],
}

impl Settings {
    /// Time between two packets, in the study's words size x 8,000,000 / (rate in Mbit/s x 1024 x 1024) microseconds.
    pub fn gap(&self) -> Span {
        let bits_ps = u128::from(self.size) * 8 * 1_000_000 * 1_000_000_000_000;
        Span((bits_ps / (u128::from(self.rate.0.max(1)) * 1024 * 1024)) as i64)
    }

    /// Time between two stamped packets; where it is longer than a span can be, the second is never sent.
    pub fn interval(&self) -> Span {
        Span(self.gap().0.max(1).saturating_mul(i64::from(self.every.max(1))))
    }
}
