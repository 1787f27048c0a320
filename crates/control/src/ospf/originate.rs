//! What this router says of itself: its advertisements are made, refreshed and flushed (RFC 2328, 12.4, 13.4 and 14).

use super::database::Instance;
use super::interface::{Interface, InterfaceState};
use super::neighbor::NeighborState;
use super::{LS_REFRESH_TIME, MIN_LS_INTERVAL, OPTIONS, Ospf};
use base::{Span, Time};
use core::net::Ipv4Addr;
use std::collections::BTreeMap;
use wire::ospf::{
    INITIAL_SEQUENCE, Lsa, LsaBody, LsaHeader, LsaKey, LsaKind, MAX_AGE, MAX_SEQUENCE, Network, Router,
    RouterLink, link,
};

/// The cost of a link by which nothing is to go through a router (RFC 6987, 3).
const MAX_LINK_METRIC: u16 = 0xffff;

impl Interface {
    /// Is this router adjacent to the designated router, or is it that and has neighbours (RFC 2328, 12.4.1.2)?
    fn is_transit(&self) -> bool {
        match self.state {
            InterfaceState::Dr => self.count(NeighborState::Full) > 0,
            InterfaceState::DrOther | InterfaceState::Backup => self
                .neighbors
                .values()
                .any(|one| one.address == self.designated && one.state == NeighborState::Full),
            InterfaceState::Down | InterfaceState::Waiting | InterfaceState::PointToPoint => false,
        }
    }

    /// Its links in the router's advertisement; of a stub router nothing is to go through (RFC 6987, 2).
    fn links(&self, is_stub: bool, to: &mut Vec<RouterLink>) {
        let mut push = |kind, id, data| {
            let metric = if is_stub && kind != link::STUB { MAX_LINK_METRIC } else { self.config.cost };
            to.push(RouterLink { id, data, kind, metric, tos: Vec::new() });
        };
        match self.state {
            InterfaceState::Down => {}
            InterfaceState::PointToPoint => {
                let full = self.neighbors.values().filter(|one| one.state == NeighborState::Full);
                full.for_each(|neighbor| push(link::POINT_TO_POINT, neighbor.router_id, self.address));
                push(link::STUB, self.network(), self.mask());
            }
            _ if self.is_transit() => push(link::TRANSIT, self.designated, self.address),
            _ => push(link::STUB, self.network(), self.mask()),
        }
    }
}

impl Ospf {
    fn own_key(&self, kind: LsaKind, id: Ipv4Addr) -> LsaKey {
        LsaKey { kind, id, router: self.router_id }
    }

    /// What this router has to say.
    fn wanted(&self) -> BTreeMap<LsaKey, LsaBody> {
        let mut links = Vec::new();
        let is_stub = self.config.stub_router;
        self.interfaces.values().for_each(|interface| interface.links(is_stub, &mut links));
        let host = |id, metric| {
            let data = Ipv4Addr::BROADCAST;
            RouterLink { id, data, kind: link::STUB, metric, tos: Vec::new() }
        };
        links.push(host(self.loopback, 0));
        // RFC 2328, 12.4.1: hosts that are attached to the router, as long as they can be reached.
        let beside = self.config.hosts.iter().filter_map(|(host, port)| {
            let interface = self.interfaces.get(port).filter(|one| one.state != InterfaceState::Down)?;
            Some((*host, interface.config.cost))
        });
        links.extend(beside.map(|(id, cost)| host(id, cost)));
        let router = LsaBody::Router(Router { flags: 0, links });
        let mut wanted = BTreeMap::from([(self.own_key(LsaKind::ROUTER, self.router_id), router)]);
        let speaks =
            self.interfaces.values().filter(|one| one.state == InterfaceState::Dr && one.is_transit());
        for interface in speaks {
            let full = interface.neighbors.values().filter(|one| one.state == NeighborState::Full);
            let mut routers = vec![self.router_id];
            routers.extend(full.map(|neighbor| neighbor.router_id));
            let body = LsaBody::Network(Network { mask: interface.mask(), routers });
            wanted.insert(self.own_key(LsaKind::NETWORK, interface.address), body);
        }
        wanted
    }

    /// What this router has to say may be something else now: new instances are made of what has changed, and what is
    /// true no more is flushed.
    pub(super) fn renew(&mut self, now: Time) {
        let wanted = self.wanted();
        let before = core::mem::replace(&mut self.own, wanted);
        for key in before.keys().filter(|key| !self.own.contains_key(key)).copied().collect::<Vec<_>>() {
            self.pending.remove(&key);
            self.flush(now, &key);
        }
        let changed = self.own.iter().filter(|(key, body)| before.get(key) != Some(body));
        for key in changed.map(|(key, _)| *key).collect::<Vec<_>>() {
            self.schedule(now, key);
        }
    }

    /// Has an own advertisement made again, as soon as the interval allows (RFC 2328, 12.4).
    pub(super) fn schedule(&mut self, now: Time, key: LsaKey) {
        let earliest = self.made.get(&key).map_or(now, |made| *made + MIN_LS_INTERVAL);
        self.pending.entry(key).or_insert(earliest.max(now));
    }

    /// Takes an advertisement back before its time (RFC 2328, 14.1).
    fn flush(&mut self, now: Time, key: &LsaKey) {
        if self.database.get(key).is_none_or(|known| known.age(now) >= MAX_AGE) {
            return;
        }
        if let Some(old) = self.database.aged(key, now) {
            self.delay.change(now);
            self.flood(now, &old, None);
        }
    }

    /// Makes the instances that are due.
    pub(super) fn originate_due(&mut self, now: Time) {
        let due = self.pending.iter().filter(|(_, at)| **at <= now);
        for key in due.map(|(key, _)| *key).collect::<Vec<_>>() {
            self.pending.remove(&key);
            self.originate(now, key);
        }
    }

    /// Makes a new instance of an own advertisement.
    fn originate(&mut self, now: Time, key: LsaKey) {
        let Some(body) = self.own.get(&key).cloned() else { return };
        let last = self.database.get(&key).map(|known| (known.header.sequence, known.age(now)));
        let sequence = match last {
            // RFC 2328, 12.1.6: the last one is flushed first. When it is gone, it begins again.
            Some((MAX_SEQUENCE, age)) => {
                return if age < MAX_AGE {
                    self.flush(now, &key)
                };
            }
            Some((sequence, _)) => sequence + 1,
            None => INITIAL_SEQUENCE,
        };
        let (checksum, correct_checksum) = (None, None);
        let lsa = Lsa { age: 0, options: OPTIONS, key, sequence, checksum, correct_checksum, body };
        let instance = lsa.write().ok().and_then(|bytes| Instance::read(&bytes, now, false));
        let Some(instance) = instance else { return };
        self.made.insert(key, now);
        self.install(now, instance, None);
    }

    /// A neighbour has flooded what this router said once (RFC 2328, 13.4): it is said again, or taken back.
    pub(super) fn hear_of_oneself(&mut self, now: Time, header: &LsaHeader) {
        let key = header.key;
        let is_own_network = key.kind == LsaKind::NETWORK
            && self.interfaces.values().any(|interface| interface.address == key.id);
        if key.router != self.router_id && !is_own_network {
            return;
        }
        if self.own.contains_key(&key) {
            self.schedule(now, key);
        } else {
            self.flush(now, &key);
        }
    }

    /// Refreshes own instances, and has those of others go that are too old.
    pub(super) fn age(&mut self, now: Time) {
        let is_due = |key: &&LsaKey| {
            self.database.get(key).is_some_and(|known| (LS_REFRESH_TIME..MAX_AGE).contains(&known.age(now)))
        };
        for key in self.own.keys().filter(is_due).copied().collect::<Vec<_>>() {
            self.schedule(now, key);
        }
        while let Some(old) = self.database.expire(now) {
            self.delay.change(now);
            self.flood(now, &old, None);
        }
    }

    /// When an own instance is due.
    pub(super) fn own_due(&self) -> Option<Time> {
        let refresh = |key: &LsaKey| {
            let known = self.database.get(key).filter(|_| !self.pending.contains_key(key))?;
            let rest = LS_REFRESH_TIME.saturating_sub(known.header.age);
            (known.header.age < MAX_AGE).then(|| known.installed + Span::from_secs(rest.into()))
        };
        let refreshed = self.own.keys().filter_map(refresh).min();
        Time::earliest([refreshed, self.pending.values().min().copied()])
    }
}
