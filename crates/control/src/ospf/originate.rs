//! What this router says of itself: its advertisements are made, refreshed and flushed (RFC 2328, 12.4, 13.4 and 14).

use super::areas::AreaKind;
use super::database::{Instance, Place, Scope};
use super::interface::{Interface, InterfaceState};
use super::neighbor::NeighborState;
use super::{Event, MIN_LS_INTERVAL, Ospf};
use base::Time;
use core::net::Ipv4Addr;
use std::collections::BTreeMap;
use wire::ospf::{
    INITIAL_SEQUENCE, Lsa, LsaBody, LsaHeader, LsaKey, LsaKind, MAX_AGE, MAX_SEQUENCE, Network, Router,
    RouterLink, link, options, router_flags,
};

/// If an advertisement under this router's id is newer than its own so often, another router has the id, too. What it
/// said itself before it began anew comes once.
const CONTESTED: u32 = 3;

/// The cost of a link by which nothing is to go through a router (RFC 6987, 3), or not yet (RFC 5443, 2).
const MAX_LINK_METRIC: u16 = 0xffff;

impl Interface {
    /// Is this router adjacent to the designated router, or is it that and has neighbours (RFC 2328, 12.4.1.2)?
    pub(super) fn is_transit(&self) -> bool {
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
            let is_avoided = (is_stub || self.is_avoided) && kind != link::STUB;
            let metric = if is_avoided { MAX_LINK_METRIC } else { self.config.cost };
            to.push(RouterLink { id, data, kind, metric, tos: Vec::new() });
        };
        match self.state {
            InterfaceState::Down => {}
            InterfaceState::PointToPoint => {
                let full = self.neighbors.values().filter(|one| one.state == NeighborState::Full);
                // RFC 2328, 12.4.1.3: a virtual link has no network.
                let is_virtual = self.name.is_virtual();
                let kind = if is_virtual { link::VIRTUAL } else { link::POINT_TO_POINT };
                full.for_each(|neighbor| push(kind, neighbor.router_id, self.address));
                if !is_virtual {
                    push(link::STUB, self.network(), self.mask());
                }
            }
            _ if self.is_transit() => push(link::TRANSIT, self.designated, self.address),
            _ => push(link::STUB, self.network(), self.mask()),
        }
    }
}

impl Ospf {
    /// Addresses of an area that are this router's own or right beside it, and what they cost: its loopback address,
    /// and hosts that are attached to it, as long as they can be reached (RFC 2328, 12.4.1).
    pub(super) fn hosts(&self, area: Ipv4Addr) -> Vec<(Ipv4Addr, u16)> {
        let own = (self.home() == area).then_some((self.loopback, 0));
        let beside = self.config.hosts.iter().filter_map(|(host, port)| {
            let interface = self.usable(area).find(|one| one.name.port() == Some(*port))?;
            Some((*host, interface.config.cost))
        });
        own.into_iter().chain(beside).collect()
    }

    /// What this router has to say of itself and of the networks that it is designated to speak for.
    fn wanted(&self) -> BTreeMap<Place, LsaBody> {
        let mut wanted = BTreeMap::new();
        let border = if self.is_border() { router_flags::B } else { 0 };
        for area in self.areas() {
            // RFC 2328, 12.4.1: a stub area has no boundary routers. RFC 3101, 3.1: border routers of areas that are
            // not so stubby are some everywhere else.
            let kind = self.config.area(area).kind;
            let is_boundary = self.is_boundary() || (self.is_border() && !self.active_nssas().is_empty());
            let is_boundary = is_boundary && kind != AreaKind::Stub;
            let mut flags = border | if is_boundary { router_flags::E } else { 0 };
            if self.is_border() && self.config.is_translating_always(area) {
                flags |= router_flags::NT;
            }
            if self.is_end_through(area) {
                flags |= router_flags::V;
            }
            let mut put = |kind, id, body| {
                wanted.insert((Scope::Area(area), LsaKey { kind, id, router: self.router_id }), body);
            };
            let mut links = Vec::new();
            self.usable(area).for_each(|interface| interface.links(self.config.stub_router, &mut links));
            let host = |(id, metric)| RouterLink {
                id,
                data: Ipv4Addr::BROADCAST,
                kind: link::STUB,
                metric,
                tos: Vec::new(),
            };
            links.extend(self.hosts(area).into_iter().map(host));
            put(LsaKind::ROUTER, self.router_id, LsaBody::Router(Router { flags, links }));
            let speaks = self.usable(area).filter(|one| one.state == InterfaceState::Dr && one.is_transit());
            for interface in speaks {
                let full = interface.neighbors.values().filter(|one| one.state == NeighborState::Full);
                let mut routers = vec![self.router_id];
                routers.extend(full.map(|neighbor| neighbor.router_id));
                let body = LsaBody::Network(Network { mask: interface.mask(), routers });
                put(LsaKind::NETWORK, interface.address, body);
            }
        }
        wanted
    }

    /// What this router has to say of itself may be something else now.
    pub(super) fn renew(&mut self, now: Time) {
        let wanted = self.wanted();
        self.claim(now, wanted, |kind| matches!(kind, LsaKind::ROUTER | LsaKind::NETWORK));
    }

    /// From now on this is all that this router has to say by advertisements of some types: new instances are made of
    /// what has changed, and what is true no more is flushed.
    pub(super) fn claim(
        &mut self,
        now: Time,
        wanted: BTreeMap<Place, LsaBody>,
        is_meant: impl Fn(LsaKind) -> bool,
    ) {
        let before = self.own.iter().filter(|((_, key), _)| is_meant(key.kind));
        let gone = before.filter(|(place, _)| !wanted.contains_key(*place));
        for place in gone.map(|(place, _)| *place).collect::<Vec<_>>() {
            self.own.remove(&place);
            self.pending.remove(&place);
            self.flush(now, place);
        }
        for (place, body) in wanted {
            if self.own.get(&place) != Some(&body) {
                self.own.insert(place, body);
                self.schedule(now, place);
            }
        }
    }

    /// Has an own advertisement made again, as soon as the interval allows (RFC 2328, 12.4).
    pub(super) fn schedule(&mut self, now: Time, place: Place) {
        let earliest = self.made.get(&place).map_or(now, |made| *made + MIN_LS_INTERVAL);
        self.pending.entry(place).or_insert(earliest.max(now));
    }

    /// Takes an advertisement back before its time (RFC 2328, 14.1).
    fn flush(&mut self, now: Time, (scope, key): Place) {
        if self.databases.get(scope, &key).is_none_or(|known| known.age(now) >= MAX_AGE) {
            return;
        }
        if let Some(old) = self.databases.of_mut(scope).aged(&key, now) {
            self.note(now, scope, key, old.body());
            self.flood(now, scope, &old, None);
        }
    }

    /// Makes the instances that are due.
    pub(super) fn originate_due(&mut self, now: Time) {
        let due = self.pending.iter().filter(|(_, at)| **at <= now);
        for place in due.map(|(place, _)| *place).collect::<Vec<_>>() {
            self.pending.remove(&place);
            self.originate(now, place);
        }
    }

    /// Makes a new instance of an own advertisement.
    fn originate(&mut self, now: Time, (scope, key): Place) {
        let Some(body) = self.own.get(&(scope, key)).cloned() else { return };
        let last = self.databases.get(scope, &key).map(|known| (known.header().sequence, known.age(now)));
        let sequence = match last {
            // RFC 2328, 12.1.6: the last one is flushed first. When it is gone, it begins again.
            Some((MAX_SEQUENCE, age)) => {
                return if age < MAX_AGE {
                    self.flush(now, (scope, key))
                };
            }
            Some((sequence, _)) => sequence + 1,
            // It has been taken back and is forgotten here; others may have it still.
            None => match self.sequences.last(&(scope, key)) {
                Some(last) if last < MAX_SEQUENCE => last + 1,
                _ => INITIAL_SEQUENCE,
            },
        };
        let (checksum, correct_checksum) = (None, None);
        let mut options = scope.area().map_or(options::E, |area| self.config.area(area).advertised_options());
        // RFC 3101, 2.3 and 2.4: what is to be passed on has a forwarding address, and only that has one here.
        if let LsaBody::External(external) = &body
            && key.kind == LsaKind::NSSA
            && !external.forwarding.is_unspecified()
        {
            options |= wire::ospf::options::NP;
        }
        let lsa = Lsa { age: 0, options, key, sequence, checksum, correct_checksum, body };
        let instance = lsa.write().ok().and_then(|bytes| Instance::read(&bytes, now, false));
        let Some(instance) = instance else { return };
        self.made.insert((scope, key), now);
        self.sequences.made((scope, key), sequence, now);
        self.install(now, scope, instance, None);
    }

    /// A neighbour has flooded what this router said once (RFC 2328, 13.4): it is said again, or taken back.
    pub(super) fn hear_of_oneself(&mut self, now: Time, scope: Scope, header: &LsaHeader) {
        let key = header.key;
        let is_own_network = key.kind == LsaKind::NETWORK
            && self.interfaces.values().any(|interface| interface.address == key.id);
        if key.router != self.router_id && !is_own_network {
            return;
        }
        if key.router == self.router_id {
            let heard = self.sequences.heard((scope, key), header.sequence, now);
            if heard == CONTESTED {
                self.event(Event::OspfIdContested { router_id: self.router_id });
            }
            if heard >= CONTESTED {
                self.contested = Some(now);
            }
        }
        if self.own.contains_key(&(scope, key)) {
            self.schedule(now, (scope, key));
        } else {
            self.flush(now, (scope, key));
        }
    }

    /// Refreshes own instances, and has those of others go that are too old.
    pub(super) fn age(&mut self, now: Time) {
        for scope in self.databases.scopes() {
            while let Some(key) = self.databases.of_mut(scope).refresh(now) {
                if self.own.contains_key(&(scope, key)) {
                    self.schedule(now, (scope, key));
                }
            }
            while let Some(old) = self.databases.of_mut(scope).expire(now) {
                self.note(now, scope, old.key(), old.body());
                self.flood(now, scope, &old, None);
            }
        }
    }

    /// When an own instance is due.
    pub(super) fn own_due(&self) -> Option<Time> {
        self.pending.values().min().copied()
    }
}
