//! Interfaces and the bandwidth that is reserved on them.

use super::config::Interface;
use super::slab::NIL;
use super::transport::Neighbor;
use base::plane::Prefix;
use base::{Map, PortId, Rate};
use core::net::Ipv4Addr;
use wire::rsvp::EroSubobject;

/// Bandwidth by holding priority, 0 the most tenacious.
pub(super) type ByPriority = [u64; 8];

/// All of it together; what is asked for may be beyond any measure.
pub(super) fn sum<'a>(held: impl IntoIterator<Item = &'a u64>) -> u64 {
    held.into_iter().fold(0, |sum, held| sum.saturating_add(*held))
}

fn exchange(held: &mut ByPriority, before: &ByPriority, after: &ByPriority) {
    for ((held, before), after) in held.iter_mut().zip(before).zip(after) {
        *held = held.saturating_add(*after).saturating_sub(*before);
    }
}

/// What watches whether anybody answers at the other end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watch {
    /// A session with the neighbour (RFC 5880).
    Bfd,
    /// Probes of the link, whoever the neighbour is.
    Probes,
}

impl Watch {
    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// An interface and the bandwidth reserved on it, in the direction out of this router.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub interface: Interface,
    pub up: bool,
    /// A bit for each watch that does not hear the other end any more.
    silent: u8,
    /// Bandwidth reserved at each holding priority, bits per second.
    pub reserved: ByPriority,
    /// What of it P2MP LSPs have, who give way to nobody.
    pub trees: ByPriority,
    /// The LSP that took bandwidth last at each holding priority; the others follow by `link_next`.
    pub holders: [u32; 8],
}

impl Link {
    fn new(interface: Interface) -> Link {
        Link { interface, up: true, silent: 0, reserved: [0; 8], trees: [0; 8], holders: [NIL; 8] }
    }
    /// Can LSPs be signalled by it?
    pub(super) const fn leads_on(&self) -> bool {
        self.up && !self.is_silent()
    }
    /// Is the other end not heard any more? No new LSP is sent there then.
    pub(super) const fn is_silent(&self) -> bool {
        self.silent != 0
    }
    /// Does this watch not hear it?
    pub(super) const fn is_silent_to(&self, watch: Watch) -> bool {
        self.silent & watch.bit() != 0
    }
    /// Notes whether a watch hears the other end.
    pub(super) const fn set_silent(&mut self, watch: Watch, silent: bool) {
        self.silent &= !watch.bit();
        self.silent |= if silent { watch.bit() } else { 0 };
    }
    /// Nothing is known any more of who is heard.
    pub(super) const fn forget_watches(&mut self) {
        self.silent = 0;
    }
    /// All that is reserved.
    pub(super) fn total(&self) -> u64 {
        sum(&self.reserved)
    }
    /// What an LSP of this setup priority could get, by preemption if need be (RFC 3209, 4.7.3).
    pub(super) fn available(&self, setup_priority: u8) -> u64 {
        let stronger = usize::from(setup_priority.min(7)) + 1;
        let held = sum(self.reserved.iter().take(stronger));
        let held = held.saturating_add(sum(self.trees.iter().skip(stronger)));
        self.interface.reservable.0.saturating_sub(held)
    }
    /// Replaces one share of the link by another.
    pub(super) fn exchange(&mut self, before: &ByPriority, after: &ByPriority) {
        exchange(&mut self.reserved, before, after);
    }
    /// As [`Link::exchange`], of a P2MP LSP.
    pub(super) fn exchange_tree(&mut self, before: &ByPriority, after: &ByPriority) {
        exchange(&mut self.trees, before, after);
    }
    /// The subnet of the link.
    pub(super) fn subnet(&self) -> Prefix {
        Prefix::new(self.interface.address, self.interface.prefix_len)
    }
}

/// The interfaces of a router.
#[derive(Clone, Debug, Default)]
pub(super) struct Links {
    by_port: Vec<Option<Link>>,
    /// The router's own addresses.
    addresses: Vec<Ipv4Addr>,
    own: Map<u32, ()>,
    /// One bit for the end of each of them: most of the others are told apart by it, without a look-up. All hops of an
    /// explicit route and of a recorded one are looked at.
    ends: u64,
}

impl Links {
    pub(super) fn new(router_id: Ipv4Addr, interfaces: &[Interface]) -> Links {
        let mut links = Links::default();
        links.addresses.push(router_id);
        for interface in interfaces {
            let index = interface.port.index();
            if links.by_port.len() <= index {
                links.by_port.resize(index + 1, None);
            }
            links.by_port[index] = Some(Link::new(*interface));
            links.addresses.push(interface.address);
        }
        for &address in &links.addresses {
            links.own.insert(address.to_bits(), ());
            links.ends |= Links::end(address);
        }
        links
    }

    pub(super) fn get(&self, port: PortId) -> Option<&Link> {
        self.by_port.get(port.index())?.as_ref()
    }
    pub(super) fn get_mut(&mut self, port: PortId) -> Option<&mut Link> {
        self.by_port.get_mut(port.index())?.as_mut()
    }
    pub(super) fn iter(&self) -> impl Iterator<Item = &Link> {
        self.by_port.iter().flatten()
    }
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Link> {
        self.by_port.iter_mut().flatten()
    }
    /// The router's own address on a port.
    pub(super) fn address(&self, port: PortId) -> Option<Ipv4Addr> {
        self.get(port).map(|link| link.interface.address)
    }
    pub(super) fn is_up(&self, port: PortId) -> bool {
        self.get(port).is_some_and(|link| link.up)
    }
    /// Notes whether a watch hears a neighbour, if it is the only one on its link. Is it?
    pub(super) fn set_silent(&mut self, neighbor: Neighbor, watch: Watch, silent: bool) -> bool {
        let link = self.get_mut(neighbor.port);
        let only = link.filter(|link| link.interface.neighbor == Some(neighbor.address));
        only.map(|link| link.set_silent(watch, silent)).is_some()
    }

    /// Is it one of the router's own addresses?
    #[inline]
    pub(super) fn is_own(&self, address: Ipv4Addr) -> bool {
        self.ends & Links::end(address) != 0 && self.own.contains_key(&address.to_bits())
    }
    /// The bit of the last six bits of an address.
    const fn end(address: Ipv4Addr) -> u64 {
        1 << (address.to_bits() & 63)
    }
    /// Does the abstract node contain the router?
    #[inline]
    pub(super) fn is_self(&self, node: &EroSubobject) -> bool {
        match *node {
            EroSubobject::Ipv4 { address, prefix_length: 32 } => self.is_own(address),
            _ => self.addresses.iter().any(|&address| node.contains(address)),
        }
    }

    /// Can LSPs be signalled by a port?
    fn leads_on(&self, port: PortId) -> bool {
        self.get(port).is_some_and(Link::leads_on)
    }

    /// The neighbour that has an address in the abstract node, or whose link does: over the first link that leads on
    /// and still has this much bandwidth at this priority, else over the first that leads on.
    pub(super) fn adjacent(
        &self,
        node: &EroSubobject,
        bandwidth: Rate,
        setup_priority: u8,
    ) -> Option<Neighbor> {
        let mut first = None;
        for link in self.iter().filter(|link| link.leads_on()) {
            let Some(address) = neighbor_in(link, node) else { continue };
            let hop = Neighbor { port: link.interface.port, address };
            if link.available(setup_priority) >= bandwidth.0 {
                return Some(hop);
            }
            first = first.or(Some(hop));
        }
        first
    }

    /// The neighbour to send to for a packet to `gateway` by `port`.
    pub(super) fn hop(&self, port: PortId, gateway: Ipv4Addr) -> Option<Neighbor> {
        self.leads_on(port).then_some(Neighbor { port, address: gateway })
    }
}

fn neighbor_in(link: &Link, node: &EroSubobject) -> Option<Ipv4Addr> {
    let interface = &link.interface;
    if let Some(neighbor) = interface.neighbor {
        let known = node.contains(neighbor) || interface.neighbor_id.is_some_and(|id| node.contains(id));
        return known.then_some(neighbor);
    }
    // A link with many neighbours: the one that the route names.
    match *node {
        EroSubobject::Ipv4 { address, prefix_length: 32 }
            if link.subnet().contains(address) && address != interface.address =>
        {
            Some(address)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_links_fill_up_one_after_the_other() {
        let ip = |d| Ipv4Addr::new(10, 0, 0, d);
        let interface = |port: u16, address, neighbor| Interface {
            port: PortId(port),
            address: ip(address),
            neighbor: Some(ip(neighbor)),
            neighbor_id: Some(ip(100)),
            reservable: Rate(100),
            ..Interface::default()
        };
        let mut links = Links::new(ip(200), &[interface(0, 1, 2), interface(1, 5, 6)]);
        let node = EroSubobject::Ipv4 { address: ip(100), prefix_length: 32 };
        let port = |links: &Links, rate| links.adjacent(&node, Rate(rate), 7).map(|hop| hop.port.0);
        assert_eq!(port(&links, 60), Some(0));
        links.get_mut(PortId(0)).expect("a link").reserved[7] = 60;
        assert_eq!(port(&links, 60), Some(1));
        assert_eq!(port(&links, 160), Some(0), "no link has it: the first, which will say so");
        links.get_mut(PortId(0)).expect("a link").up = false;
        assert_eq!(port(&links, 160), Some(1));
        assert!(links.is_self(&EroSubobject::Ipv4 { address: ip(0), prefix_length: 30 }));
    }
}
