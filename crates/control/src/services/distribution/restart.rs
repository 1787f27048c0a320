//! Restarts without loss of packets (RFC 3478): labels of a neighbour outlive its session for a while, and this
//! router's own labels and entries outlive the speaker.
//!
//! A speaker that restarts knows which prefix each of its entries is for, as RFC 3478, 3.1.1, has it where every prefix
//! has a label of its own. So an entry is confirmed when a next hop gives a label for that prefix, and the prefix keeps
//! the label with which packets come.

use super::fecs::Used;
use super::{Binding, Cause, Distribution, KnownFec, LabelControl, Peer, PeerKey};
use crate::services::{LabelSpace, Services};
use base::plane::Prefix;
use base::{Label, PortId, Span, Time};
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

impl Distribution {
    /// The speaker has restarted and begins anew; the tables are as they were. What it had written is stale.
    pub fn restart(&mut self) {
        let mut next = Distribution::new(self.settings.clone());
        (next.transaction, next.groups, next.refused) = (self.transaction, self.groups, self.refused);
        (next.rest, next.resting) = (self.rest, core::mem::take(&mut self.resting));
        // Answers to what is under way do not come any more: writes are carried out in their order, so that what is
        // written from now on comes behind them.
        let under_way = core::mem::take(&mut self.waiting).into_iter().map(|(_, one)| one);
        let writes = core::mem::take(&mut self.writes);
        next.writes.ops = writes.ops;
        next.writes.free = under_way.flat_map(|one| one.free).chain(writes.free).collect();
        next.fecs = core::mem::take(&mut self.fecs);
        next.fecs.each(|known| {
            if let Some(Binding::Label { is_written, .. }) = &mut known.binding {
                *is_written = true;
            }
            // Nobody has a session by which these could be released.
            known.old.iter_mut().for_each(|(_, who)| who.clear());
        });
        next.stale = next.fecs().map(|(prefix, _)| prefix).collect();
        *self = next;
    }

    /// Time is up: entries from before the restart that nobody has confirmed go (RFC 3478, 3.1).
    pub fn end_restart(&mut self, now: Time, services: &mut Services) {
        for prefix in core::mem::take(&mut self.stale) {
            self.update(now, services, prefix, Cause::Lost);
        }
        self.complete();
    }

    /// How many prefixes have entries from before a restart that were not confirmed yet.
    pub fn stale(&self) -> usize {
        self.stale.len()
    }

    /// The label with which packets of a prefix left by a next hop before the restart, if that was not confirmed yet.
    pub(super) fn preserved(&self, prefix: Prefix, port: PortId, gateway: Ipv4Addr) -> Option<Label> {
        let known: &KnownFec = self.stale.get(&prefix).and_then(|prefix| self.fecs.get(prefix))?;
        known.used.iter().find(|used| (used.0, used.1) == (port, gateway)).map(|used| used.2)
    }

    /// Packets do not get to a next hop any more: they do not go there by labels from before the restart either.
    pub fn forget_preserved(&mut self, now: Time, services: &mut Services, port: PortId, gateway: Ipv4Addr) {
        let is_that = |used: &Used| (used.0, used.1) == (port, gateway);
        for prefix in self.stale.iter().copied().collect::<Vec<_>>() {
            let Some(known) = self.fecs.get_mut(&prefix).filter(|known| known.used.iter().any(is_that))
            else {
                continue;
            };
            if known.used.iter().all(is_that) {
                // As when time is up.
                self.stale.remove(&prefix);
                self.update(now, services, prefix, Cause::Lost);
            } else {
                known.used = known.used.iter().copied().filter(|used| !is_that(used)).collect();
                self.is_moved = true;
                self.write(services, prefix);
                self.update(now, services, prefix, Cause::Neighbor);
            }
        }
        self.complete();
    }

    /// The entries of a prefix are confirmed if they can be. Is its label to be told only now?
    pub(super) fn confirm(&mut self, prefix: Prefix, can_be: bool) -> bool {
        if self.stale.is_empty() || !can_be {
            return false;
        }
        let had_to_wait = self.awaits_next(prefix);
        self.stale.remove(&prefix);
        had_to_wait
    }

    /// Is a label known from before the restart, and not to be told until the next hop has given one (RFC 5036,
    /// 2.6.1.2)?
    pub(super) fn awaits_next(&self, prefix: Prefix) -> bool {
        self.settings.control == LabelControl::Ordered && self.stale.contains(&prefix)
    }

    /// What is known of a neighbour, with or without a session.
    pub(super) fn known(&self, key: PeerKey) -> Option<&Peer> {
        self.peers.get(&key).or_else(|| self.away.get(&key))
    }

    /// The session with a neighbour is lost, and it seems to restart: its labels are kept, as stale ones (RFC 3478,
    /// 3.3). What it was told, it knows no more.
    pub fn suspend(&mut self, now: Time, services: &mut Services, key: PeerKey) {
        let Some(peer) = self.peers.get_mut(&key) else { return };
        let away = Peer {
            addresses: peer.addresses.clone(),
            ports: peer.ports.clone(),
            stale: peer.given.ordered_keys().into_iter().collect(),
            given: core::mem::take(&mut peer.given),
            attributes: core::mem::take(&mut peer.attributes),
            ..Peer::default()
        };
        self.away.insert(key, away);
        self.end(now, services, key);
    }

    /// Keeps what was known of a neighbour that has a session again (RFC 3478, 3.3).
    pub(super) fn come_back(&mut self, key: PeerKey, mut peer: Peer) -> Peer {
        if let Some(away) = self.away.remove(&key) {
            peer.ports.extend(away.ports);
            peer.stale_addresses = away.addresses.clone();
            let Peer { addresses, given, attributes, stale, .. } = away;
            peer = Peer { addresses, given, attributes, stale, ..peer };
        }
        peer
    }

    /// What a neighbour has not told again is gone, whether it has a session or not; it is heard on these links.
    pub fn drop_stale(&mut self, now: Time, services: &mut Services, key: PeerKey, ports: BTreeSet<PortId>) {
        let away = self.away.remove(&key);
        let mut gone: BTreeSet<Prefix> = away.map(|peer| peer.stale).unwrap_or_default();
        if let Some(peer) = self.peers.get_mut(&key) {
            let stale = core::mem::take(&mut peer.stale);
            for prefix in &stale {
                peer.forget(*prefix);
            }
            gone.extend(stale);
            let addresses = core::mem::take(&mut peer.stale_addresses);
            let is_changed = peer.ports != ports || !addresses.is_empty();
            peer.addresses.retain(|address| !addresses.contains(address));
            peer.ports = ports;
            if is_changed {
                self.update_by(now, services, key, |_| true);
            }
        }
        gone.into_iter().for_each(|prefix| self.update(now, services, prefix, Cause::Lost));
    }

    /// A neighbour that may restart can't be reached by a link any more: its labels are not for that link, be they kept
    /// or given.
    pub fn part_at(&mut self, now: Time, services: &mut Services, key: PeerKey, port: PortId) {
        let both = [self.peers.get_mut(&key), self.away.get_mut(&key)].into_iter().flatten();
        let gone = both.filter_map(|peer| peer.ports.remove(&port).then(|| peer.given.ordered_keys()));
        let gone: BTreeSet<Prefix> = gone.flatten().collect();
        gone.into_iter().for_each(|prefix| self.update(now, services, prefix, Cause::Neighbor));
    }

    /// How many labels are kept of neighbours whose sessions were lost and that have not given them since.
    pub fn stale_of(&self, key: PeerKey) -> usize {
        self.known(key).map_or(0, |peer| peer.stale.len())
    }

    /// Neighbours without a session whose labels are kept.
    pub fn away(&self) -> &BTreeMap<PeerKey, Peer> {
        &self.away
    }

    /// A neighbour may go on sending with a label for so long after the session was lost: labels that are free rest at
    /// least so long (RFC 3478, 3.3).
    pub fn rest_for(&mut self, rest: Span) {
        self.rest = self.rest.max(rest);
    }

    /// Entries of labels are gone: the labels are free, perhaps after a rest. Can any be used again now?
    pub(super) fn release(&mut self, now: Time, services: &mut Services, free: Vec<Label>) -> bool {
        if self.rest > Span::ZERO {
            let until = now + self.rest;
            self.resting.extend(free.into_iter().map(|label| (until, label)));
            return false;
        }
        let is_any = !free.is_empty();
        for label in free {
            services.labels.release(LabelSpace::Platform, self.settings.owner, label);
        }
        is_any
    }

    /// Labels that have rested are free.
    pub(super) fn end_rests(&mut self, now: Time, services: &mut Services) {
        let before = self.resting.len();
        while let Some((_, label)) = self.resting.pop_front_if(|(until, _)| *until <= now) {
            services.labels.release(LabelSpace::Platform, self.settings.owner, label);
        }
        if self.resting.len() < before {
            self.labels_freed(now, services);
        }
    }

    /// Labels that rest before they are used again.
    pub fn resting(&self) -> &VecDeque<(Time, Label)> {
        &self.resting
    }
}
