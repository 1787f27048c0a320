//! Ports: how they are configured, and what went through them.

use base::plane::PortConfig;
use base::{MacAddr, PortId};

/// Frames that went through a port. Bytes are those of Ethernet frames, with padding and frame check sequence. A
/// frame that a kernel left to be cut is one frame, and its bytes are those of all frames that it becomes on a wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Frames that arrived, those that were dropped or punted afterwards included.
    pub rx_packets: u64,
    /// Bytes of those frames.
    pub rx_bytes: u64,
    /// Frames handed to the egress queue.
    pub tx_packets: u64,
    /// Bytes handed to the egress queue.
    pub tx_bytes: u64,
}

/// What the fast path keeps of a port.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    pub(crate) config: PortConfig,
    /// The address as [`mac_key`] makes it, to be compared with the start of a frame at once.
    pub(crate) key: u64,
    /// The same if frames for this port may take the short way through it; else [`NO_KEY`].
    pub(crate) short: u64,
    pub(crate) counters: PortCounters,
}

/// No address's key, whose lowest 16 bits are zero.
pub(crate) const NO_KEY: u64 = u64::MAX;

impl Port {
    /// Says whether frames may take the short way if the port is up.
    pub(crate) fn set_short(&mut self, short: bool) {
        self.short = if short && self.config.up { self.key } else { NO_KEY };
    }
}

/// All ports, by id.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ports(Vec<Option<Port>>);

/// The six bytes of an address in the upper 48 bits, first byte lowest.
#[inline]
pub(crate) const fn mac_key(mac: MacAddr) -> u64 {
    let m = mac.0;
    u64::from_le_bytes([0, 0, m[0], m[1], m[2], m[3], m[4], m[5]])
}

impl Ports {
    /// Whether frames may take the short way is yet to be said.
    pub(crate) fn set(&mut self, id: PortId, config: PortConfig) {
        if self.0.len() <= id.index() {
            self.0.resize(id.index() + 1, None);
        }
        let key = mac_key(config.mac);
        match &mut self.0[id.index()] {
            Some(port) => (port.config, port.key) = (config, key),
            empty => *empty = Some(Port { config, key, short: NO_KEY, counters: PortCounters::default() }),
        }
    }

    #[inline]
    pub(crate) fn get(&self, id: PortId) -> Option<&Port> {
        self.0.get(id.index())?.as_ref()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: PortId) -> Option<&mut Port> {
        self.0.get_mut(id.index())?.as_mut()
    }

    /// Counts a frame of `bytes` that is handed to the egress of `id`.
    #[inline]
    pub(crate) fn count_tx(&mut self, id: PortId, bytes: u64) {
        if let Some(port) = self.get_mut(id) {
            port.counters.tx_packets += 1;
            port.counters.tx_bytes += bytes;
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (PortId, &Port)> {
        self.0.iter().enumerate().filter_map(|(i, p)| Some((PortId(i as u16), p.as_ref()?)))
    }
}
