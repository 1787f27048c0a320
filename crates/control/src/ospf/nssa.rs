//! Areas that are not so stubby (RFC 3101): their boundary routers announce networks outside to the area alone, and one
//! of the border routers passes them on to all others.

use super::Ospf;
use super::areas::{AreaKind, Translator};
use super::database::Scope;
use super::routes::Rank;
use super::summaries::mask_of;
use super::tree::prefix_of;
use base::Time;
use base::plane::Prefix;
use core::net::Ipv4Addr;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use wire::Hex;
use wire::ospf::{External, LsaBody, LsaKey, LsaKind, MAX_AGE, options, router_flags};

/// All networks.
fn everything() -> Prefix {
    Prefix::new(Ipv4Addr::UNSPECIFIED, 0)
}

/// A network outside as it is passed on, and the rank of the path there.
type Passed = (Rank, External);

/// Does this border router pass on what the boundary routers of an area announce (RFC 3101, 3.1:
/// NSSATranslatorState)?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Translating {
    /// It is told to do so, or was elected.
    Yes,
    /// Another one was elected: until then it goes on.
    Until(Time),
}

impl super::Config {
    /// Is this router to pass on what boundary routers of an area announce, whoever else does?
    pub(super) fn is_translating_always(&self, area: Ipv4Addr) -> bool {
        let treated = self.area(area);
        treated.kind == AreaKind::Nssa && treated.nssa.translator == Translator::Always
    }
}

impl Ospf {
    /// Is a default route that is announced to an area nothing for this router (RFC 3101, 2.5, step 3)?
    pub(super) fn is_ignored_default(&self, area: Ipv4Addr, key: &LsaKey, external: &External) -> bool {
        let is_default = prefix_of(key.id, external.mask) == Some(everything());
        let is_passed_on = self
            .databases
            .get(Scope::Area(area), key)
            .is_some_and(|known| known.header().options & options::NP != 0);
        is_default && self.is_border() && (!is_passed_on || !self.config.area(area).summaries)
    }

    /// Sees of which areas this router passes networks outside on: the border router that is told to do so, or the one
    /// with the greatest router id (RFC 3101, 3.1).
    pub(super) fn elect_translators(&mut self, now: Time) {
        let areas = if self.is_border() { self.active_nssas() } else { Vec::new() };
        let before = self.translating.clone();
        self.translating.retain(|area, _| areas.contains(area));
        for &area in &areas {
            let is_elected = self.config.is_translating_always(area) || self.is_greatest_at(now, area);
            let until = now + self.config.area(area).nssa.stability;
            match (self.translating.entry(area), is_elected) {
                (Entry::Vacant(free), true) => {
                    free.insert(Translating::Yes);
                }
                (Entry::Vacant(_), false) => {}
                (Entry::Occupied(mut known), true) => *known.get_mut() = Translating::Yes,
                (Entry::Occupied(mut known), false) => {
                    if let Translating::Yes = known.get() {
                        known.insert(Translating::Until(until));
                    }
                }
            }
        }
        // What is passed on follows from the routes, too.
        if !areas.is_empty() || before != self.translating {
            self.is_import_due = true;
        }
    }

    /// Is there no other border router that is reached both through the area and through the rest of the AS, and passes
    /// networks on always or has a greater router id?
    fn is_greatest_at(&self, now: Time, area: Ipv4Addr) -> bool {
        let (Some(tree), Some(database)) = (self.trees.get(&area), self.databases.of(Scope::Area(area)))
        else {
            return true;
        };
        let is_before = |router: &Ipv4Addr| {
            let key = LsaKey { kind: LsaKind::ROUTER, id: *router, router: *router };
            let known = database.get(&key).filter(|known| known.age(now) < MAX_AGE);
            let is_always = known.is_some_and(|known| match known.body() {
                LsaBody::Router(router) => router.flags & router_flags::NT != 0,
                _ => false,
            });
            is_always || *router > self.router_id
        };
        !tree.borders.keys().any(|router| self.boundaries.contains_key(router) && is_before(router))
    }

    /// When another border router has taken over for good.
    pub(super) fn translators_due(&self) -> Option<Time> {
        let until = |one: &Translating| match one {
            Translating::Yes => None,
            Translating::Until(at) => Some(*at),
        };
        self.translating.values().filter_map(until).min()
    }

    /// Stops to pass on what another border router has taken over.
    pub(super) fn translators_timeout(&mut self, now: Time) {
        let before = self.translating.len();
        self.translating.retain(|_, one| !matches!(one, Translating::Until(at) if *at <= now));
        self.is_import_due |= self.translating.len() != before;
    }

    /// What a boundary router says to an area that is not so stubby, and a border router of a way to all others.
    pub(super) fn outside_for(&self, area: Ipv4Addr) -> BTreeMap<Prefix, External> {
        // RFC 3101, 2.4: what border routers say to all themselves is not to be passed on by others.
        let forwarding = match self.is_border() {
            true => Some(Ipv4Addr::UNSPECIFIED),
            false => self.forwarding_address(area),
        };
        let mut said = forwarding.map_or_else(BTreeMap::new, |address| self.imported_by(address));
        let treated = self.config.area(area);
        if self.is_border() && treated.summaries {
            let default = External {
                mask: Ipv4Addr::UNSPECIFIED,
                type2: treated.nssa.is_default_type2,
                metric: treated.default_cost,
                forwarding: Ipv4Addr::UNSPECIFIED,
                tag: 0,
                tos: Hex::default(),
            };
            said.insert(everything(), default);
        }
        said
    }

    /// The own address of an area to which packets for networks outside are sent: one that is reached as long as the
    /// router is, or else that of a link (RFC 3101, 2.3).
    fn forwarding_address(&self, area: Ipv4Addr) -> Option<Ipv4Addr> {
        if self.home() == area {
            return Some(self.loopback);
        }
        let link = self.usable(area).min_by_key(|one| (one.is_transit(), one.name));
        link.map(|interface| interface.address)
    }

    /// What is said of networks outside to all areas that take it: what this router imports, and what it passes on.
    pub(super) fn outside_for_all(&self, now: Time) -> BTreeMap<Prefix, External> {
        let areas = self.active_areas();
        let takes = |area: &Ipv4Addr| self.config.area(*area).takes(LsaKind::EXTERNAL);
        if !areas.is_empty() && !areas.iter().any(takes) {
            return BTreeMap::new();
        }
        let mut said = self.imported_by(Ipv4Addr::UNSPECIFIED);
        for (prefix, external) in self.translating.keys().flat_map(|area| self.translated(now, *area)) {
            said.entry(prefix).or_insert(external);
        }
        said
    }

    /// What an area's boundary routers announce, as others are to see it (RFC 3101, 3.2).
    fn translated(&self, now: Time, area: Ipv4Addr) -> BTreeMap<Prefix, External> {
        let treated = &self.config.area(area).nssa;
        let (mut alone, mut ranges): (BTreeMap<Prefix, Passed>, BTreeMap<Prefix, Vec<Passed>>) =
            Default::default();
        for (prefix, passed) in self.translatable(now, area) {
            match treated.range_of(prefix) {
                None => drop(alone.insert(prefix, passed)),
                Some(range) if range.advertise => {
                    // A range that is one network and no more is that network.
                    if range.prefix == prefix {
                        alone.insert(prefix, passed.clone());
                    }
                    ranges.entry(range.prefix).or_default().push(passed);
                }
                Some(_) => {}
            }
        }
        for (prefix, all) in ranges {
            if all.len() == 1 && alone.contains_key(&prefix) {
                continue;
            }
            // RFC 3101, 3.2, step 3: the farthest counts, and with type 2 one more.
            let type2 = all.iter().any(|(_, external)| external.type2);
            let cost = |(rank, external): &Passed| match external.type2 {
                true => external.metric + 1,
                false => rank.3,
            };
            let metric = all.iter().filter(|(_, one)| one.type2 == type2).map(cost).max().unwrap_or(0);
            let tag = treated.ranges.iter().find(|range| range.prefix == prefix).map_or(0, |range| range.tag);
            let (mask, forwarding, tos) = (mask_of(prefix), Ipv4Addr::UNSPECIFIED, Hex::default());
            let whole = External { mask, type2, metric, forwarding, tag, tos };
            alone.insert(prefix, ((0, 0, 0, 0), whole));
        }
        alone.retain(|prefix, (_, external)| !self.is_passed_on_by_greater(now, *prefix, external));
        alone.into_iter().map(|(prefix, (_, external))| (prefix, external)).collect()
    }

    /// Networks of an area's boundary routers that are to be passed on: of each the advertisement that its route
    /// follows.
    fn translatable(&self, now: Time, area: Ipv4Addr) -> BTreeMap<Prefix, Passed> {
        let mut found: BTreeMap<Prefix, Passed> = BTreeMap::new();
        let scope = Scope::Area(area);
        let Some(database) = self.databases.of(scope) else { return found };
        for instance in database.iter().filter(|one| one.key().kind == LsaKind::NSSA) {
            let (key, LsaBody::External(external)) = (instance.key(), instance.body()) else { continue };
            // RFC 3101, 3.2, step 1.
            let is_meant =
                instance.header().options & options::NP != 0 && !external.forwarding.is_unspecified();
            if !is_meant || instance.age(now) >= MAX_AGE {
                continue;
            }
            let Some(prefix) = prefix_of(key.id, external.mask) else { continue };
            let Some((rank, path)) = self.path_by(scope, &key, external) else { continue };
            let is_installed = self
                .table
                .get(&prefix)
                .is_some_and(|known| (known.kind, known.cost) == (path.kind, path.cost));
            if is_installed && found.get(&prefix).is_none_or(|(known, _)| rank < *known) {
                found.insert(prefix, (rank, external.clone()));
            }
        }
        found
    }

    /// Does a border router with a greater router id say the same already (RFC 3101, 3.2, step 2)?
    fn is_passed_on_by_greater(&self, now: Time, prefix: Prefix, external: &External) -> bool {
        let Some(database) = self.databases.of(Scope::As).filter(|_| !external.forwarding.is_unspecified())
        else {
            return false;
        };
        let ends = (prefix.address(), super::summaries::last_of(prefix));
        let same = |body: &LsaBody| match body {
            LsaBody::External(other) => {
                let what = |one: &External| (one.mask, one.type2, one.metric, one.forwarding);
                what(other) == what(external)
            }
            _ => false,
        };
        let mut others = database.among(now, LsaKind::EXTERNAL, ends);
        others.any(|(key, body)| {
            key.router > self.router_id && same(body) && self.boundaries.contains_key(&key.router)
        })
    }
}
