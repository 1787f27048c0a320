//! What is known of a neighbour's labels.

use super::loops::Attributes;
use super::{Cause, Distribution, LabelAdvertisement, Say};
use crate::services::Services;
use base::plane::{NextHop, Prefix};
use base::{Dense, Label, PortId, Time};
use core::net::{IpAddr, Ipv4Addr};
use std::collections::{BTreeMap, BTreeSet};

/// A neighbour's label space: its router id, and the number of the space.
pub type PeerKey = (Ipv4Addr, u16);

/// A request of a neighbour that waits for an answer.
#[derive(Clone, Debug)]
pub struct Pending {
    /// The prefix that a label is wanted for.
    pub prefix: Prefix,
    /// The neighbour's number for it.
    pub number: u32,
    pub(super) attributes: Attributes,
}

/// A request of this router that waits for an answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked {
    /// Its number, once it was sent.
    pub number: Option<u32>,
    /// Was it taken back?
    pub is_aborted: bool,
}

/// A neighbour with which labels are exchanged.
#[derive(Debug, Default)]
pub struct Peer {
    /// Do both tell labels only to who asks (RFC 5036, 3.5.3)?
    pub on_demand: bool,
    /// Its addresses (RFC 5036, 2.7).
    pub addresses: BTreeSet<Ipv4Addr>,
    /// Links on which it is heard: its labels are for these.
    pub ports: BTreeSet<PortId>,
    /// Labels that it has given.
    pub given: Dense<Prefix, Label>,
    /// What it said of their ways, where it said anything.
    pub attributes: BTreeMap<Prefix, Attributes>,
    /// Labels that it was given.
    pub sent: Dense<Prefix, Label>,
    /// What it has asked for.
    pub requests: Vec<Pending>,
    /// What it was asked for.
    pub asked: BTreeMap<Prefix, Asked>,
    /// Labels that it released unasked: it is told none of these prefixes until it asks (RFC 5036, A.1.4, note 1).
    pub(super) declined: BTreeSet<Prefix>,
    /// Prefixes whose labels of it were released because it was no next hop.
    pub(super) let_go: BTreeSet<Prefix>,
    /// It has no label left: nothing is asked of it until it says that it has (RFC 5036, 3.5.8.1). What was to be
    /// asked.
    pub(super) postponed: Option<BTreeSet<Prefix>>,
    /// Was it told that there is no label left?
    pub(super) was_refused: bool,
    /// Was it told that it has been told all labels?
    pub(super) is_complete: bool,
    /// Labels that it gave before its session was lost, and has not given since (RFC 3478, 3.3).
    pub stale: BTreeSet<Prefix>,
    /// Addresses that it had said before, and has not said since.
    pub(super) stale_addresses: BTreeSet<Ipv4Addr>,
    /// Labels and requests of it that went in a circle.
    pub loops: u64,
}

impl Peer {
    /// Does a next hop lead to it?
    pub(super) fn is_at(&self, hop: &NextHop) -> bool {
        match hop {
            NextHop::Via { port, gateway: IpAddr::V4(gateway) } => {
                self.ports.contains(port) && self.addresses.contains(gateway)
            }
            _ => false,
        }
    }

    /// Is it on one of these links?
    pub(super) fn is_on(&self, links: &BTreeSet<PortId>) -> bool {
        !links.is_empty() && self.ports.iter().any(|port| links.contains(port))
    }

    /// Forgets a label that it gave.
    pub(super) fn forget(&mut self, prefix: Prefix) -> Option<Label> {
        self.attributes.remove(&prefix);
        self.stale.remove(&prefix);
        self.given.remove(&prefix)
    }
}

impl Distribution {
    /// Labels are exchanged with a neighbour from now on: unless it is to ask, it is told those that there are.
    pub fn begin(
        &mut self,
        now: Time,
        services: &mut Services,
        key: PeerKey,
        on_demand: bool,
        ports: BTreeSet<PortId>,
    ) {
        let peer = Peer { on_demand, ports, ..Peer::default() };
        let peer = self.come_back(key, peer);
        self.peers.insert(key, peer);
        self.retries.retain(|(of, _), _| *of != key);
        // A router that gives labels on demand has none yet for who is told all.
        if !on_demand && self.settings.advertise == LabelAdvertisement::OnDemand {
            let all: Vec<Prefix> = services.rib.active().map(|(prefix, _)| prefix).collect();
            all.into_iter().for_each(|prefix| self.update(now, services, prefix, Cause::Neighbor));
        }
        for prefix in self.fecs().map(|(prefix, _)| prefix).collect::<Vec<_>>() {
            self.tell(prefix, Some(key));
        }
        self.complete();
    }

    /// No labels are exchanged any more: it has none of this router, and this router none of it.
    pub fn end(&mut self, now: Time, services: &mut Services, key: PeerKey) {
        let Some(peer) = self.peers.remove(&key) else { return };
        self.said.retain(|(to, _)| *to != key);
        self.retries.retain(|(of, _), _| *of != key);
        let labels = [&peer.given, &peer.sent];
        let mut concerned: BTreeSet<Prefix> = labels.into_iter().flat_map(Dense::ordered_keys).collect();
        concerned.extend(peer.requests.iter().map(|one| one.prefix));
        for prefix in self.fecs.keys_where(|known| !known.old.is_empty()) {
            let Some(known) = self.fecs.get_mut(&prefix) else { continue };
            known.old.iter_mut().for_each(|(_, who)| {
                who.remove(&key);
            });
            concerned.insert(prefix);
        }
        concerned.into_iter().for_each(|prefix| self.update(now, services, prefix, Cause::Lost));
    }

    /// The links on which a neighbour is heard are these.
    pub fn heard_on(&mut self, now: Time, services: &mut Services, key: PeerKey, ports: BTreeSet<PortId>) {
        let Some(peer) = self.peers.get_mut(&key).filter(|peer| peer.ports != ports) else { return };
        // Hellos may take a while to come back by every link.
        let kept = if peer.stale.is_empty() { BTreeSet::new() } else { core::mem::take(&mut peer.ports) };
        peer.ports = ports.into_iter().chain(kept).collect();
        self.update_by(now, services, key, |_| true);
    }

    /// A neighbour has addresses, or has them no more.
    pub fn addresses(
        &mut self,
        now: Time,
        services: &mut Services,
        key: PeerKey,
        list: &[Ipv4Addr],
        is_new: bool,
    ) {
        let Some(peer) = self.peers.get_mut(&key) else { return };
        for address in list {
            match is_new {
                true => {
                    peer.stale_addresses.remove(address);
                    peer.addresses.insert(*address)
                }
                false => peer.addresses.remove(address),
            };
        }
        self.update_by(now, services, key, |gateway| list.contains(&gateway));
    }

    /// Looks again at prefixes for which the neighbour has given a label, and at those that lead to an address.
    pub(super) fn update_by(
        &mut self,
        now: Time,
        services: &mut Services,
        key: PeerKey,
        is_concerned: impl Fn(Ipv4Addr) -> bool,
    ) {
        let Some(peer) = self.peers.get(&key) else { return };
        let mut all: BTreeSet<Prefix> = peer.given.ordered_keys().into_iter().collect();
        if peer.on_demand || !self.is_liberal() {
            let leads = |hop: &NextHop| match hop {
                NextHop::Via { gateway: IpAddr::V4(gateway), .. } => is_concerned(*gateway),
                _ => false,
            };
            let active = services.rib.active().filter(|(_, hops)| hops.iter().any(leads));
            all.extend(active.map(|(prefix, _)| prefix));
        }
        all.into_iter().for_each(|prefix| self.update(now, services, prefix, Cause::Neighbor));
    }

    pub(super) fn is_liberal(&self) -> bool {
        self.settings.retention == super::LabelRetention::Liberal
    }

    /// The neighbours that next hops lead to, in the order of the hops.
    pub(super) fn next_peers(&self, hops: &[NextHop]) -> Vec<PeerKey> {
        let mut all: Vec<PeerKey> = hops.iter().filter_map(|hop| self.peer_at(hop)).collect();
        all.dedup();
        all
    }

    /// The neighbour at a next hop; of several the first.
    fn peer_at(&self, hop: &NextHop) -> Option<PeerKey> {
        self.peers.iter().find(|(_, peer)| peer.is_at(hop)).map(|(key, _)| *key)
    }

    /// Is a neighbour among [`Distribution::next_peers`]?
    pub(super) fn is_next(&self, key: PeerKey, hops: &[NextHop]) -> bool {
        let Some(peer) = self.peers.get(&key) else { return false };
        hops.iter().any(|hop| peer.is_at(hop) && self.peer_at(hop) == Some(key))
    }

    pub(super) fn say(&mut self, key: PeerKey, say: Say) {
        self.said.push_back((key, say));
    }
}
