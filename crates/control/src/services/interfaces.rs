//! The interfaces of a node, as all protocols see them.

use base::{PortId, Rate};
use core::net::Ipv4Addr;

/// An interface of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The node's port; one interface for each port.
    pub port: PortId,
    /// The node's own address on it.
    pub address: Ipv4Addr,
    /// Length of the prefix of the link.
    pub prefix_len: u8,
    /// The neighbour's address, if there is just one.
    pub neighbor: Option<Ipv4Addr>,
    /// The neighbour's router id, if it is known.
    pub neighbor_id: Option<Ipv4Addr>,
    /// Longest IP packet that the link takes, in bytes.
    pub mtu: u32,
    /// Bandwidth that LSPs may reserve in the direction out of this node; absent where nobody signals.
    pub reservable: Option<Rate>,
    /// Can it be used?
    pub up: bool,
}

/// A node's name, its router id and its interfaces.
#[derive(Clone, Debug)]
pub struct Interfaces {
    /// Name of the node: it names the node's random streams.
    pub node: String,
    /// Router id: a loopback address that is always reachable.
    pub router_id: Ipv4Addr,
    /// One for each port, in their order.
    all: Vec<Interface>,
}

impl Interfaces {
    /// Those of a node, one for each port in their order.
    pub fn new(node: String, router_id: Ipv4Addr, all: Vec<Interface>) -> Interfaces {
        Interfaces { node, router_id, all }
    }

    /// The interface of a port.
    pub fn get(&self, port: PortId) -> Option<&Interface> {
        self.all.get(port.index())
    }

    /// All of them, in the order of the ports.
    pub fn iter(&self) -> impl Iterator<Item = &Interface> {
        self.all.iter()
    }

    /// Notes whether a port can be used.
    pub(crate) fn set_up(&mut self, port: PortId, up: bool) {
        if let Some(interface) = self.all.get_mut(port.index()) {
            interface.up = up;
        }
    }
}
