//! The ports of a datapath, as its tables see them.

use std::collections::BTreeMap;

/// Bits of a port's configuration: OFPPC, with the same values in both versions. NO_STP, NO_RECV_STP and NO_FLOOD are
/// of version 1.0 only.
pub mod port_config {
    /// It is administratively down.
    pub const PORT_DOWN: u32 = 1 << 0;
    /// No spanning tree.
    pub const NO_STP: u32 = 1 << 1;
    /// What comes in is dropped, but not frames of a spanning tree. In version 1.3 those are, too: [`widened`] adds the
    /// bit that says so.
    pub const NO_RECV: u32 = 1 << 2;
    /// Frames of a spanning tree that come in are dropped.
    pub const NO_RECV_STP: u32 = 1 << 3;
    /// It is left out when a frame is flooded.
    pub const NO_FLOOD: u32 = 1 << 4;
    /// Nothing is sent.
    pub const NO_FWD: u32 = 1 << 5;
    /// What comes in and has no entry does not go to a controller.
    pub const NO_PACKET_IN: u32 = 1 << 6;
    /// Those of version 1.0.
    pub const V1_0: u32 = 0x7f;
    /// Those of version 1.3.
    pub const V1_3: u32 = PORT_DOWN | NO_RECV | NO_FWD | NO_PACKET_IN;

    /// Bits of version 1.3 as those that do the same.
    pub const fn widened(bits: u32) -> u32 {
        if bits & NO_RECV != 0 { bits | NO_RECV_STP } else { bits }
    }
}

/// A port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortSetting {
    /// Bits of [`port_config`].
    pub config: u32,
    /// Has it a link that is up?
    pub is_up: bool,
}

impl PortSetting {
    /// Can it send?
    pub fn is_live(&self) -> bool {
        self.is_up && self.config & port_config::PORT_DOWN == 0
    }

    /// Does it send what it is given?
    pub fn sends(&self) -> bool {
        self.is_live() && self.config & port_config::NO_FWD == 0
    }

    /// Does it take what comes in, of a spanning tree or of anything else?
    pub fn receives(&self, is_of_spanning_tree: bool) -> bool {
        let refused = if is_of_spanning_tree { port_config::NO_RECV_STP } else { port_config::NO_RECV };
        self.config & (port_config::PORT_DOWN | refused) == 0
    }
}

/// All ports of a datapath by their numbers.
pub type Ports = BTreeMap<u32, PortSetting>;
