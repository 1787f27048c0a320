//! Next hops by index: an adjacency for each neighbour that an entry or an Ethernet address is known for, and groups.

use crate::port::Ports;
use base::plane::{GroupId, PortConfig, group_mac, group_mac6};
use base::{MacAddr, Map, PortId};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::collections::BTreeMap;

/// What the fast path may do with a next hop. Whether its port is up stands in the port's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    /// The neighbour's Ethernet address is not known.
    Unresolved,
    /// The neighbour's Ethernet address is known: frames can leave if the port is up.
    Ready,
    /// A group whose members put no label on: a flow's hash chooses.
    Balanced,
    /// A group of any other kind: the general way chooses.
    Several,
}

/// The Ethernet address of a gateway that is a group: nobody has to be asked for it.
fn mac_of_group(gateway: IpAddr) -> Option<MacAddr> {
    match gateway {
        IpAddr::V4(group) => group.is_multicast().then(|| group_mac(group)),
        IpAddr::V6(group) => group.is_multicast().then(|| group_mac6(group)),
    }
}

/// No group.
const NO_GROUP: u32 = u32::MAX;

/// A next hop as the fast path reads it, in half a cache line: a neighbour, or a group. A group of one member that puts
/// no label on looks like that member, so that a single and a protected next hop are one to the fast path.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Adjacency {
    /// Destination and source address of the Ethernet header.
    pub(crate) addresses: [u8; 12],
    pub(crate) port: PortId,
    pub(crate) state: State,
    /// Of a group its place among the groups.
    group: u32,
}

const _: () = assert!(size_of::<Adjacency>() == 32);

impl Adjacency {
    /// The place of the group that this next hop is, if it is one.
    #[inline]
    pub(crate) fn group(&self) -> Option<u32> {
        (self.group != NO_GROUP).then_some(self.group)
    }
}

/// What no packet in transit needs of a next hop.
#[derive(Clone, Debug)]
struct Held {
    /// The neighbour's address; of a group without meaning.
    gateway: IpAddr,
    /// Entries and members of groups that use it.
    uses: u32,
    /// Next hops of groups that look like this neighbour.
    followers: Vec<u32>,
}

/// A neighbour, for people to look at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neighbour {
    pub(crate) port: PortId,
    pub(crate) gateway: IpAddr,
    pub(crate) mac: Option<MacAddr>,
    pub(crate) uses: u32,
}

/// All next hops of a node; neighbours are interned by port and address.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Adjacencies {
    slots: Vec<Adjacency>,
    held: Vec<Held>,
    free: Vec<u32>,
    by_v4: Map<(PortId, Ipv4Addr), u32>,
    by_v6: Map<(PortId, Ipv6Addr), u32>,
    by_group: BTreeMap<GroupId, u32>,
}

impl Adjacencies {
    /// How many neighbours there are.
    pub(crate) fn len(&self) -> usize {
        self.by_v4.len() + self.by_v6.len()
    }

    /// How many groups there are.
    pub(crate) fn groups(&self) -> usize {
        self.by_group.len()
    }

    /// The next hop at `index`, which an entry holds.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<&Adjacency> {
        self.slots.get(index as usize)
    }

    /// The address of the neighbour at `index`.
    pub(crate) fn gateway(&self, index: u32) -> IpAddr {
        self.held.get(index as usize).map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |held| held.gateway)
    }

    /// Where the adjacency with a neighbour is, if there is one.
    #[inline]
    pub(crate) fn find(&self, port: PortId, gateway: IpAddr) -> Option<u32> {
        match gateway {
            IpAddr::V4(gateway) => self.by_v4.get(&(port, gateway)).copied(),
            IpAddr::V6(gateway) => self.by_v6.get(&(port, gateway)).copied(),
        }
    }

    /// All groups, in order of their numbers.
    pub(crate) fn group_ids(&self) -> impl Iterator<Item = (GroupId, u32)> {
        self.by_group.iter().map(|(id, index)| (*id, *index))
    }

    /// Where a group is among the next hops, if there is such a group.
    pub(crate) fn find_group(&self, group: GroupId) -> Option<u32> {
        self.by_group.get(&group).copied()
    }

    /// The neighbour's Ethernet address, if it is known.
    pub(crate) fn mac(&self, index: u32) -> Option<MacAddr> {
        let a = self.get(index).filter(|a| a.state == State::Ready)?;
        let [a, b, c, d, e, f, ..] = a.addresses;
        Some(MacAddr([a, b, c, d, e, f]))
    }

    fn put(&mut self, slot: Adjacency, gateway: IpAddr) -> u32 {
        let held = Held { gateway, uses: 0, followers: Vec::new() };
        match self.free.pop() {
            Some(index) => {
                self.slots[index as usize] = slot;
                self.held[index as usize] = held;
                index
            }
            None => {
                self.slots.push(slot);
                self.held.push(held);
                (self.slots.len() - 1) as u32
            }
        }
    }

    fn intern(&mut self, port: PortId, gateway: IpAddr, config: &PortConfig) -> u32 {
        if let Some(index) = self.find(port, gateway) {
            return index;
        }
        let mut slot = Adjacency { addresses: [0; 12], port, state: State::Unresolved, group: NO_GROUP };
        slot.addresses[6..].copy_from_slice(&config.mac.0);
        if let Some(mac) = mac_of_group(gateway) {
            slot.addresses[..6].copy_from_slice(&mac.0);
            slot.state = State::Ready;
        }
        let index = self.put(slot, gateway);
        match gateway {
            IpAddr::V4(gateway) => self.by_v4.insert((port, gateway), index),
            IpAddr::V6(gateway) => self.by_v6.insert((port, gateway), index),
        };
        index
    }

    fn collect(&mut self, index: u32) {
        let Adjacency { port, state, group, .. } = self.slots[index as usize];
        let gateway = self.held[index as usize].gateway;
        let is_known = state != State::Unresolved && !gateway.is_multicast();
        if self.held[index as usize].uses > 0 || is_known || group != NO_GROUP {
            return;
        }
        match gateway {
            IpAddr::V4(gateway) => self.by_v4.remove(&(port, gateway)),
            IpAddr::V6(gateway) => self.by_v6.remove(&(port, gateway)),
        };
        self.free.push(index);
    }

    /// The adjacency with a neighbour, for one more user.
    pub(crate) fn acquire(&mut self, port: PortId, gateway: IpAddr, config: &PortConfig) -> u32 {
        let index = self.intern(port, gateway, config);
        self.held[index as usize].uses += 1;
        index
    }

    /// The next hop of a group, for one more entry; nothing if there is no such group.
    pub(crate) fn acquire_group(&mut self, group: GroupId) -> Option<u32> {
        let index = self.find_group(group)?;
        self.held[index as usize].uses += 1;
        Some(index)
    }

    /// One user less has it.
    pub(crate) fn release(&mut self, index: u32) {
        if let Some(held) = self.held.get_mut(index as usize) {
            held.uses = held.uses.saturating_sub(1);
            self.collect(index);
        }
    }

    /// The neighbour's Ethernet address is known now.
    pub(crate) fn resolve(&mut self, port: PortId, gateway: IpAddr, mac: MacAddr, config: &PortConfig) {
        let index = self.intern(port, gateway, config);
        let a = &mut self.slots[index as usize];
        a.addresses[..6].copy_from_slice(&mac.0);
        a.state = State::Ready;
        self.tell_followers(index);
    }

    /// The neighbour's Ethernet address is not known any more. Returns whether it was.
    pub(crate) fn forget(&mut self, port: PortId, gateway: IpAddr) -> bool {
        let Some(index) = self.find(port, gateway) else { return false };
        let a = &mut self.slots[index as usize];
        let known = core::mem::replace(&mut a.state, State::Unresolved) == State::Ready;
        a.addresses[..6].fill(0);
        self.tell_followers(index);
        self.collect(index);
        known
    }

    /// A port has another Ethernet address.
    pub(crate) fn source_changed(&mut self, port: PortId, mac: MacAddr) {
        let on_port =
            |a: &&mut Adjacency| a.port == port && a.state != State::Balanced && a.state != State::Several;
        self.slots.iter_mut().filter(on_port).for_each(|a| a.addresses[6..].copy_from_slice(&mac.0));
    }

    /// A next hop for a new group, which nobody uses yet and whose members are yet to be said.
    pub(crate) fn add_group(&mut self, group: GroupId, place: u32) -> u32 {
        let none = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        let slot = Adjacency { addresses: [0; 12], port: PortId(0), state: State::Several, group: place };
        let index = self.put(slot, none);
        self.by_group.insert(group, index);
        index
    }

    /// Makes the next hop of a group look like a neighbour, or like a group.
    pub(crate) fn show_group(&mut self, index: u32, shown: Result<u32, State>) {
        match shown {
            Ok(neighbour) => {
                self.held[neighbour as usize].followers.push(index);
                self.tell_followers(neighbour);
            }
            Err(state) => self.slots[index as usize].state = state,
        }
    }

    /// The next hop of a group looks like this neighbour no more.
    pub(crate) fn unfollow(&mut self, neighbour: u32, index: u32) {
        self.held[neighbour as usize].followers.retain(|follower| *follower != index);
    }

    fn tell_followers(&mut self, index: u32) {
        let Adjacency { addresses, port, state, .. } = self.slots[index as usize];
        for place in 0..self.held[index as usize].followers.len() {
            let follower = self.held[index as usize].followers[place];
            let slot = &mut self.slots[follower as usize];
            (slot.addresses, slot.port, slot.state) = (addresses, port, state);
        }
    }

    /// Forgets a group and returns its place among the groups. An error if entries use it.
    pub(crate) fn remove_group(&mut self, group: GroupId) -> Option<Result<u32, ()>> {
        let index = self.find_group(group)?;
        if self.held[index as usize].uses > 0 {
            return Some(Err(()));
        }
        self.by_group.remove(&group);
        self.free.push(index);
        let place = core::mem::replace(&mut self.slots[index as usize].group, NO_GROUP);
        self.slots[index as usize].state = State::Unresolved;
        Some(Ok(place))
    }

    /// How many entries use the next hop at `index`.
    pub(crate) fn uses(&self, index: u32) -> u32 {
        self.held.get(index as usize).map_or(0, |held| held.uses)
    }

    /// All neighbours that are in use or whose Ethernet address is known, in order of creation.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Neighbour> {
        let all = self.slots.iter().zip(&self.held).enumerate();
        let there =
            all.filter(|(_, (a, held))| a.group == NO_GROUP && (held.uses > 0 || a.state == State::Ready));
        there.map(|(index, (a, held))| Neighbour {
            port: a.port,
            gateway: held.gateway,
            mac: self.mac(index as u32),
            uses: held.uses,
        })
    }

    /// Can packets leave by the neighbour at `index`, as far as its port is concerned?
    #[inline]
    pub(crate) fn is_up(&self, index: u32, ports: &Ports) -> bool {
        self.get(index).is_some_and(|a| ports.is_up(a.port))
    }
}
