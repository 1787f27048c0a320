//! Adjacencies: one for each neighbour that a table entry or an Ethernet address is known for.

use base::plane::PortConfig;
use base::{MacAddr, Map, PortId};
use core::net::Ipv4Addr;

/// May frames be sent to the neighbour?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    /// Its Ethernet address is not known.
    Unresolved,
    /// Its Ethernet address is known and its port is up: frames can leave.
    Ready,
    /// The port is down: nothing leaves, whether the Ethernet address is known or not.
    Down,
}

/// A neighbour: everything that the egress needs, in half a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Adjacency {
    /// Destination and source address of the Ethernet header.
    pub(crate) addresses: [u8; 12],
    /// The longest packet (Ethernet payload) that the port takes.
    pub(crate) mtu: u32,
    pub(crate) port: PortId,
    pub(crate) state: State,
    /// Is the Ethernet address known?
    known: bool,
    gateway: Ipv4Addr,
    /// Table entries that use it.
    uses: u32,
}

impl Adjacency {
    pub(crate) fn gateway(&self) -> Ipv4Addr {
        self.gateway
    }
    pub(crate) fn mac(&self) -> Option<MacAddr> {
        let [a, b, c, d, e, f, ..] = self.addresses;
        self.known.then_some(MacAddr([a, b, c, d, e, f]))
    }
    pub(crate) fn uses(&self) -> u32 {
        self.uses
    }
    fn configure(&mut self, config: &PortConfig) {
        self.addresses[6..].copy_from_slice(&config.mac.0);
        self.mtu = config.mtu;
        self.state = match (config.up, self.known) {
            (false, _) => State::Down,
            (true, true) => State::Ready,
            (true, false) => State::Unresolved,
        };
    }
}

/// All neighbours of a node, interned by port and address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Adjacencies {
    slots: Vec<Adjacency>,
    free: Vec<u32>,
    by_key: Map<(PortId, Ipv4Addr), u32>,
}

impl Adjacencies {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.by_key.len()
    }

    /// The adjacency at `index`, which a table entry holds.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<&Adjacency> {
        self.slots.get(index as usize)
    }

    /// Where the adjacency with a neighbour is, if there is one.
    #[inline]
    pub(crate) fn find(&self, port: PortId, gateway: Ipv4Addr) -> Option<u32> {
        self.by_key.get(&(port, gateway)).copied()
    }

    fn intern(&mut self, port: PortId, gateway: Ipv4Addr, config: &PortConfig) -> u32 {
        if let Some(index) = self.find(port, gateway) {
            return index;
        }
        let mut new = Adjacency {
            addresses: [0; 12],
            mtu: 0,
            port,
            state: State::Unresolved,
            known: false,
            gateway,
            uses: 0,
        };
        new.configure(config);
        let index = match self.free.pop() {
            Some(index) => {
                self.slots[index as usize] = new;
                index
            }
            None => {
                self.slots.push(new);
                (self.slots.len() - 1) as u32
            }
        };
        self.by_key.insert((port, gateway), index);
        index
    }

    fn collect(&mut self, index: u32) {
        let a = &self.slots[index as usize];
        if a.uses == 0 && !a.known {
            self.by_key.remove(&(a.port, a.gateway));
            self.free.push(index);
        }
    }

    /// The adjacency with a neighbour, for one more table entry.
    pub(crate) fn acquire(&mut self, port: PortId, gateway: Ipv4Addr, config: &PortConfig) -> u32 {
        let index = self.intern(port, gateway, config);
        self.slots[index as usize].uses += 1;
        index
    }

    /// One table entry less uses it.
    pub(crate) fn release(&mut self, index: u32) {
        if let Some(a) = self.slots.get_mut(index as usize) {
            a.uses = a.uses.saturating_sub(1);
            self.collect(index);
        }
    }

    /// The neighbour's Ethernet address is known now.
    pub(crate) fn resolve(&mut self, port: PortId, gateway: Ipv4Addr, mac: MacAddr, config: &PortConfig) {
        let index = self.intern(port, gateway, config);
        let a = &mut self.slots[index as usize];
        a.addresses[..6].copy_from_slice(&mac.0);
        a.known = true;
        a.configure(config);
    }

    /// The neighbour's Ethernet address is not known any more. Returns whether it was.
    pub(crate) fn forget(&mut self, port: PortId, gateway: Ipv4Addr, config: &PortConfig) -> bool {
        let Some(index) = self.find(port, gateway) else { return false };
        let a = &mut self.slots[index as usize];
        let known = core::mem::replace(&mut a.known, false);
        a.addresses[..6].fill(0);
        a.configure(config);
        self.collect(index);
        known
    }

    /// A port's configuration changed.
    pub(crate) fn port_changed(&mut self, port: PortId, config: &PortConfig) {
        self.slots.iter_mut().filter(|a| a.port == port).for_each(|a| a.configure(config));
    }

    /// All that are in use, in order of creation.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Adjacency> {
        self.slots.iter().filter(|a| a.uses > 0 || a.known)
    }
}
