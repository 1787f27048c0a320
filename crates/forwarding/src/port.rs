//! Ports: how they are configured, whether they can be used, and what went through them.

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

/// What the fast path keeps of a port, in one cache line. Whether a port can be used stands here and nowhere else: all
/// adjacencies, groups and entries behind it share it.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Port {
    pub(crate) counters: PortCounters,
    /// The address as [`mac_key`] makes it, to be compared with the start of a frame at once; [`NO_KEY`] if there is no
    /// such port.
    pub(crate) key: u64,
    /// The same if frames for this port may take the short way through it; else [`NO_KEY`].
    pub(crate) short: u64,
    /// The longest packet that may leave now: the MTU, or 0 while the port is down. One comparison with it says both.
    pub(crate) room: u32,
    mtu: u32,
    mac: MacAddr,
    pub(crate) up: bool,
    /// Does what lies beyond answer?
    pub(crate) trusted: bool,
}

const _: () = assert!(size_of::<Port>() == 64);

/// The bit in the first byte of an Ethernet address that says that it is a group's.
const GROUP: u8 = 1;

/// No address's key, whose lowest 16 bits are zero.
pub(crate) const NO_KEY: u64 = u64::MAX;

impl Port {
    const ABSENT: Port = Port {
        counters: PortCounters { rx_packets: 0, rx_bytes: 0, tx_packets: 0, tx_bytes: 0 },
        key: NO_KEY,
        short: NO_KEY,
        room: 0,
        mac: MacAddr([0; 6]),
        mtu: 0,
        up: false,
        trusted: true,
    };

    /// Says whether frames may take the short way if the port is up. Those for the address of a group never do.
    pub(crate) fn set_short(&mut self, short: bool) {
        let is_group = self.mac.0[0] & GROUP != 0;
        self.short = if short && self.up && !is_group { self.key } else { NO_KEY };
    }

    /// As it was configured.
    pub(crate) const fn config(&self) -> PortConfig {
        PortConfig { mac: self.mac, mtu: self.mtu, up: self.up }
    }

    /// Do members of groups on it take packets?
    #[inline]
    pub(crate) fn is_usable(&self) -> bool {
        self.up && self.trusted
    }

    /// Has the fast path see what the configuration says.
    fn settle(&mut self) {
        self.room = if self.is_usable() { self.mtu } else { 0 };
    }

    /// Counts a frame of `bytes` that is handed to the egress.
    #[inline(always)]
    pub(crate) fn count_tx(&mut self, bytes: u64) {
        self.counters.tx_packets += 1;
        self.counters.tx_bytes += bytes;
    }

    fn is_there(&self) -> bool {
        self.key != NO_KEY
    }
}

/// All ports, by id.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ports(Vec<Port>);

/// The six bytes of an address in the upper 48 bits, first byte lowest.
#[inline]
pub(crate) const fn mac_key(mac: MacAddr) -> u64 {
    let m = mac.0;
    u64::from_le_bytes([0, 0, m[0], m[1], m[2], m[3], m[4], m[5]])
}

impl Ports {
    /// Whether frames may take the short way is yet to be said. Returns whether the Ethernet address is another than
    /// before.
    pub(crate) fn set(&mut self, id: PortId, config: PortConfig) -> bool {
        if self.0.len() <= id.index() {
            self.0.resize(id.index() + 1, Port::ABSENT);
        }
        let port = &mut self.0[id.index()];
        if !port.is_there() {
            port.counters = PortCounters::default();
        }
        let key = mac_key(config.mac);
        let moved = port.key != key;
        port.key = key;
        (port.mac, port.mtu, port.up) = (config.mac, config.mtu, config.up);
        port.settle();
        moved
    }

    /// Says whether what lies beyond a port answers; nothing if there is no such port.
    pub(crate) fn trust(&mut self, id: PortId, trusted: bool) -> Option<()> {
        let port = self.0.get_mut(id.index()).filter(|port| port.is_there())?;
        port.trusted = trusted;
        port.settle();
        Some(())
    }

    #[inline]
    pub(crate) fn get(&self, id: PortId) -> Option<&Port> {
        self.0.get(id.index()).filter(|port| port.is_there())
    }

    /// Can frames leave by the port?
    #[inline]
    pub(crate) fn is_up(&self, id: PortId) -> bool {
        self.0.get(id.index()).is_some_and(Port::is_usable)
    }

    /// The record of a port, which may be one that is not there: then no address is its key, and nothing fits through.
    #[inline(always)]
    pub(crate) fn record(&mut self, id: PortId) -> Option<&mut Port> {
        self.0.get_mut(id.index())
    }

    /// Counts a frame of `bytes` that is handed to the egress of `id`.
    #[inline]
    pub(crate) fn count_tx(&mut self, id: PortId, bytes: u64) {
        if let Some(port) = self.record(id) {
            port.count_tx(bytes);
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (PortId, &Port)> {
        self.0.iter().enumerate().filter(|(_, port)| port.is_there()).map(|(i, p)| (PortId(i as u16), p))
    }
}
