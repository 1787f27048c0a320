//! The interfaces of a node, as all protocols see them. An interface is not a port: loopbacks and tunnels are some,
//! too.

use base::plane::{ChannelRange, Prefix, Prefix6};
use base::{PortId, Rate};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::collections::{BTreeMap, VecDeque};

/// Identifies an interface at its node. Those of ports have the ports' numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InterfaceId(pub u32);

impl InterfaceId {
    /// The interface of a port.
    pub const fn of(port: PortId) -> InterfaceId {
        InterfaceId(port.0 as u32)
    }
}

/// What an interface is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterfaceKind {
    /// A port, which leads to a link.
    Port(PortId),
    /// No way out: its addresses can be reached as long as the node can.
    Loopback,
    /// A way through other interfaces, such as an LSP.
    Tunnel,
}

/// An address of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceAddress {
    /// The node's own address.
    pub address: IpAddr,
    /// Length of the prefix that those beyond the interface share with it.
    pub prefix_len: u8,
}

/// An interface of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Whether a port, a loopback or another kind of interface.
    pub kind: InterfaceKind,
    /// The node's own addresses on it, of both families; the first of a family is the source of what leaves by it.
    pub addresses: Vec<InterfaceAddress>,
    /// The IPv6 address that it has made itself for its link alone (RFC 4862, 5.3), if it has IPv6.
    pub link_local: Option<Ipv6Addr>,
    /// The neighbour's address, if there is just one.
    pub neighbor: Option<Ipv4Addr>,
    /// The neighbour's router id, if it is known.
    pub neighbor_id: Option<Ipv4Addr>,
    /// Longest IP packet that it takes, in bytes.
    pub mtu: u32,
    /// What a path by it costs, for protocols that compare paths.
    pub cost: u64,
    /// Bandwidth that LSPs may reserve in the direction out of this node; absent where nobody signals.
    pub reservable: Option<Rate>,
    /// Can it be used?
    pub up: bool,
}

impl InterfaceAddress {
    /// Is another address in its network?
    pub fn is_beside(&self, other: IpAddr) -> bool {
        match (self.address, other) {
            (IpAddr::V4(own), IpAddr::V4(other)) => Prefix::new(own, self.prefix_len).contains(other),
            (IpAddr::V6(own), IpAddr::V6(other)) => Prefix6::new(own, self.prefix_len).contains(other),
            _ => false,
        }
    }
}

impl Interface {
    /// The first IPv4 address, with the length of its prefix.
    pub fn ipv4(&self) -> Option<(Ipv4Addr, u8)> {
        self.addresses.iter().find_map(|own| match own.address {
            IpAddr::V4(address) => Some((address, own.prefix_len)),
            IpAddr::V6(_) => None,
        })
    }

    /// The first IPv6 address that was given, with the length of its prefix.
    pub fn ipv6(&self) -> Option<(Ipv6Addr, u8)> {
        self.addresses.iter().find_map(|own| match own.address {
            IpAddr::V4(_) => None,
            IpAddr::V6(address) => Some((address, own.prefix_len)),
        })
    }

    /// The port, if it is one.
    pub const fn port(&self) -> Option<PortId> {
        match self.kind {
            InterfaceKind::Port(port) => Some(port),
            InterfaceKind::Loopback | InterfaceKind::Tunnel => None,
        }
    }
}

/// What is at the other end of the link of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Beyond {
    /// One node, which may speak routing protocols.
    #[default]
    Router,
    /// A shared segment with any number of nodes.
    Segment,
    /// A host: it speaks no routing protocol.
    Host,
    /// What measures: it speaks nothing.
    Instrument,
}

/// What a port is attached to, for protocols that have settings by neighbour.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attached {
    /// Name of the node at the other end; empty if users know no name of it.
    pub node: String,
    /// What it is.
    pub beyond: Beyond,
    /// Address of that node which it announces to nobody, though packets to it go by this port.
    pub silent: Option<Ipv4Addr>,
    /// Bits a second of the link; zero if it has no limit.
    pub rate: Rate,
    /// If labels are channels of the link (RFC 3035): which.
    pub cells: Option<CellLabels>,
}

/// How labels of a link of ATM are given (RFC 3035).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellLabels {
    /// Channels that may be labels, both ways.
    pub range: ChannelRange,
    /// Does a virtual path join both ends, so that labels are channels within it alone (RFC 3035, 7.2)? The other end
    /// may know it by another number.
    pub is_path: bool,
    /// Is a channel a label in one direction alone (RFC 5036, 3.5.3)?
    pub is_unidirectional: bool,
    /// What the node does with cells that come by it.
    pub switching: Switching,
}

/// What a node does with cells of labelled packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switching {
    /// It puts packets together: an edge of the network of cells.
    Packets,
    /// It passes cells on, those of each way in by a channel of their own.
    Cells,
    /// It passes cells on, and merges ways to the same end (VC merge).
    MergedCells,
}

/// A node's name, its router id and its interfaces.
#[derive(Clone, Debug)]
pub struct Interfaces {
    /// Name of the node: it names the node's random streams.
    pub node: String,
    /// Router id: a loopback address that is always reachable.
    pub router_id: Ipv4Addr,
    all: BTreeMap<InterfaceId, Interface>,
    /// What ports are attached to, as far as anybody has said.
    attached: BTreeMap<PortId, Attached>,
    /// The number of the next one that is neither a port nor there from the beginning.
    next: u32,
    /// Those that can be used now and could not before, or the other way round; nobody has been told yet.
    changed: VecDeque<InterfaceId>,
}

impl Interfaces {
    /// Those of a node: one for each port, in their order, and behind them a loopback with the router id.
    pub fn new(node: String, router_id: Ipv4Addr, ports: Vec<Interface>) -> Interfaces {
        let mut all: BTreeMap<_, _> = (0..).map(InterfaceId).zip(ports).collect();
        let loopback = InterfaceId(all.len() as u32);
        all.insert(
            loopback,
            Interface {
                kind: InterfaceKind::Loopback,
                addresses: vec![InterfaceAddress { address: IpAddr::V4(router_id), prefix_len: 32 }],
                link_local: None,
                neighbor: None,
                neighbor_id: None,
                mtu: u32::from(u16::MAX),
                cost: 0,
                reservable: None,
                up: true,
            },
        );
        let (next, attached, changed) = (loopback.0 + 1, BTreeMap::new(), VecDeque::new());
        Interfaces { node, router_id, next, all, attached, changed }
    }

    /// The same where ports, in their order, are attached to something.
    #[must_use]
    pub fn with_attached(mut self, attached: impl IntoIterator<Item = Attached>) -> Interfaces {
        self.attached = (0..).map(PortId).zip(attached).collect();
        self
    }

    /// What a port is attached to; nothing if nobody has said.
    pub fn attached(&self, port: PortId) -> Option<&Attached> {
        self.attached.get(&port)
    }

    /// The same with an IPv6 address on the loopback, which is always reachable, too.
    #[must_use]
    pub fn with_loopback6(mut self, address: Ipv6Addr) -> Interfaces {
        let loopback = self.all.values_mut().find(|interface| interface.kind == InterfaceKind::Loopback);
        if let Some(loopback) = loopback {
            loopback.addresses.push(InterfaceAddress { address: address.into(), prefix_len: 128 });
        }
        self
    }

    /// IPv6 addresses of loopbacks.
    pub fn loopbacks6(&self) -> impl Iterator<Item = Ipv6Addr> {
        let loopbacks = self.all.values().filter(|interface| interface.kind == InterfaceKind::Loopback);
        loopbacks.flat_map(|interface| &interface.addresses).filter_map(|own| match own.address {
            IpAddr::V4(_) => None,
            IpAddr::V6(address) => Some(address),
        })
    }

    /// The address that this node speaks from to others of a family: its router id; or the IPv6 address of its
    /// loopback, else the first of a port, and nothing if it has none.
    pub fn source_to(&self, family_of: IpAddr) -> Option<IpAddr> {
        if family_of.is_ipv4() {
            return Some(self.router_id.into());
        }
        let of_port = || self.ports().find_map(|(_, interface)| interface.ipv6()).map(|own| own.0);
        self.loopbacks6().next().or_else(of_port).map(IpAddr::V6)
    }

    /// An interface by its number.
    pub fn get(&self, id: InterfaceId) -> Option<&Interface> {
        self.all.get(&id)
    }

    /// The interface of a port.
    pub fn of_port(&self, port: PortId) -> Option<&Interface> {
        self.get(InterfaceId::of(port)).filter(|interface| interface.port() == Some(port))
    }

    /// All of them: ports, the loopback, then those that were added, in that order.
    pub fn iter(&self) -> impl Iterator<Item = (InterfaceId, &Interface)> {
        self.all.iter().map(|(&id, interface)| (id, interface))
    }

    /// The interfaces of ports, in the order of the ports.
    pub fn ports(&self) -> impl Iterator<Item = (PortId, &Interface)> {
        self.all.values().filter_map(|interface| Some((interface.port()?, interface)))
    }

    /// Adds an interface that is no port, such as a tunnel.
    pub fn add(&mut self, interface: Interface) -> InterfaceId {
        let id = InterfaceId(self.next);
        self.next += 1;
        self.all.insert(id, interface);
        self.changed.push_back(id);
        id
    }

    /// Takes an interface away that was added.
    pub fn remove(&mut self, id: InterfaceId) -> Option<Interface> {
        let added = self.all.get(&id).is_some_and(|interface| interface.kind == InterfaceKind::Tunnel);
        let removed = if added { self.all.remove(&id) } else { None };
        if removed.is_some() {
            self.changed.push_back(id);
        }
        removed
    }

    /// Notes whether an interface can be used.
    pub fn set_up(&mut self, id: InterfaceId, up: bool) {
        if let Some(interface) = self.all.get_mut(&id).filter(|interface| interface.up != up) {
            interface.up = up;
            self.changed.push_back(id);
        }
    }

    /// What was added has gone with the protocol that added it: the node restarts.
    pub(crate) fn restart(&mut self) {
        self.all.retain(|_, interface| interface.kind != InterfaceKind::Tunnel);
        self.changed.clear();
    }

    /// Is anybody to be told of a change?
    #[inline]
    pub(crate) fn is_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// An interface that changed, in the order of the changes.
    pub(crate) fn poll_change(&mut self) -> Option<InterfaceId> {
        self.changed.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_not_a_port() {
        let address = |text: &str| InterfaceAddress { address: text.parse().expect("one"), prefix_len: 64 };
        let some = |kind| Interface {
            kind,
            addresses: vec![address("2001:db8::1"), address("10.0.0.1"), address("10.0.0.2")],
            link_local: None,
            neighbor: None,
            neighbor_id: None,
            mtu: 1500,
            cost: 7,
            reservable: None,
            up: true,
        };
        let ports = vec![some(InterfaceKind::Port(PortId(0))), some(InterfaceKind::Port(PortId(1)))];
        let mut all = Interfaces::new("n".into(), Ipv4Addr::LOCALHOST, ports);
        let loopback = InterfaceId(2);
        assert_eq!(all.get(loopback).and_then(Interface::ipv4), Some((Ipv4Addr::LOCALHOST, 32)));
        assert_eq!((all.of_port(PortId(2)), all.ports().count()), (None, 2), "the loopback is no port");
        assert_eq!(all.of_port(PortId(1)).and_then(Interface::ipv4), Some(([10, 0, 0, 1].into(), 64)));
        let first6 = "2001:db8::1".parse().expect("an address");
        assert_eq!(all.of_port(PortId(1)).and_then(Interface::ipv6), Some((first6, 64)));
        let tunnel = all.add(some(InterfaceKind::Tunnel));
        all.set_up(tunnel, false);
        all.set_up(tunnel, false);
        all.set_up(InterfaceId::of(PortId(1)), false);
        assert!(
            all.remove(loopback).is_none() && all.remove(tunnel).is_some() && all.remove(tunnel).is_none()
        );
        let told: Vec<_> = core::iter::from_fn(|| all.poll_change()).collect();
        assert_eq!(told, [tunnel, tunnel, InterfaceId(1), tunnel]);
        assert_ne!(all.add(some(InterfaceKind::Tunnel)), tunnel, "a number is not used again");
        all.restart();
        assert_eq!((all.iter().count(), all.poll_change()), (3, None));
    }
}
