//! Who listens to what.

use super::ControlPlane;
use crate::owner::Owner;
use crate::protocol::Listen;
use core::net::{Ipv4Addr, Ipv6Addr};
use std::collections::{BTreeMap, BTreeSet};

/// Who listens to what. IP protocols are looked up for every message: by their number.
#[derive(Debug)]
pub(super) struct Listeners {
    /// By number, with the Router Alert option and without.
    ip: Box<[[Option<Owner>; 2]; 256]>,
    others: BTreeMap<Listen, Owner>,
}

impl Default for Listeners {
    fn default() -> Self {
        Listeners { ip: Box::new([[None; 2]; 256]), others: BTreeMap::new() }
    }
}

impl Listeners {
    pub(super) fn get(&self, listen: Listen) -> Option<Owner> {
        match listen {
            Listen::IpProtocol(number) => self.ip[usize::from(number)][0],
            Listen::RouterAlert(number) => self.ip[usize::from(number)][1],
            other => self.others.get(&other).copied(),
        }
    }

    /// The one that listened before.
    pub(super) fn insert(&mut self, listen: Listen, owner: Owner) -> Option<Owner> {
        match listen {
            Listen::IpProtocol(number) => self.ip[usize::from(number)][0].replace(owner),
            Listen::RouterAlert(number) => self.ip[usize::from(number)][1].replace(owner),
            other => self.others.insert(other, owner),
        }
    }
}

/// Which protocols listen to groups. Those of IPv4 are looked up for every message to one.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// Groups of IPv4 in their order, with a bit for each protocol.
    v4: Vec<(Ipv4Addr, u128)>,
    /// Protocols that listen to all of them, a bit for each.
    every: u128,
    others: BTreeSet<(Owner, Listen)>,
}

impl Groups {
    pub(super) fn insert(&mut self, owner: Owner, listen: Listen) {
        let bit = 1 << owner.0;
        match listen {
            Listen::EveryGroup => self.every |= bit,
            Listen::Group(group) => match self.v4.binary_search_by_key(&group, |(known, _)| *known) {
                Ok(place) => self.v4[place].1 |= bit,
                Err(place) => self.v4.insert(place, (group, bit)),
            },
            other => {
                self.others.insert((owner, other));
            }
        }
    }

    fn is_heard(&self, owner: Owner, group: Ipv4Addr) -> bool {
        let known = self.v4.binary_search_by_key(&group, |(known, _)| *known);
        let all = self.every | known.map_or(0, |place| self.v4[place].1);
        all >> owner.0 & 1 == 1
    }

    fn contains(&self, owner: Owner, listen: Listen) -> bool {
        self.others.contains(&(owner, listen))
    }
}

impl ControlPlane {
    /// The protocol that listens to what is named.
    pub fn listener(&self, listen: Listen) -> Option<Owner> {
        let bound = || match listen {
            Listen::UdpPort(port) | Listen::UdpPort6(port) => self.services.sessions.bound_by(port),
            _ => None,
        };
        self.listeners.get(listen).or_else(bound)
    }

    /// Does what is sent to a UDP port keep a link or a session alive?
    pub fn is_urgent(&self, port: u16) -> bool {
        let owner = self.listeners.get(Listen::UdpPort(port));
        let speaker = owner.and_then(|owner| self.speakers.get(usize::from(owner.0)));
        speaker.is_some_and(|speaker| speaker.protocol.is_urgent())
    }

    /// The protocol that listens to what is named and to the group that it was sent to.
    pub fn group_listener(&self, listen: Listen, group: Ipv4Addr) -> Option<Owner> {
        self.listener(listen).filter(|owner| self.groups.is_heard(*owner, group))
    }

    /// The protocol that listens to a UDP port, and to what is sent to 127/8.
    pub fn lsp_listener(&self, port: u16) -> Option<Owner> {
        let owner = self.listener(Listen::UdpPort(port))?;
        self.groups.contains(owner, Listen::Loopback).then_some(owner)
    }

    /// The same of IPv6: to ::ffff:127/104.
    pub fn lsp_listener6(&self, port: u16) -> Option<Owner> {
        let owner = self.listener(Listen::UdpPort6(port))?;
        self.groups.contains(owner, Listen::Loopback).then_some(owner)
    }

    /// The protocol that listens to something of IPv6 that was sent to a group.
    pub fn group_listener6(&self, listen: Listen, group: Ipv6Addr) -> Option<Owner> {
        let hears = |owner: Owner| {
            let all = [Listen::EveryGroup6, Listen::Group6(group)];
            all.into_iter().any(|listen| self.groups.contains(owner, listen))
        };
        self.listener(listen).filter(|owner| hears(*owner))
    }

    /// Does a protocol listen to frames with an LLC header?
    pub fn listens_to_llc(&self) -> bool {
        self.listeners.others.keys().any(|listen| matches!(listen, Listen::Llc(_)))
    }
}
