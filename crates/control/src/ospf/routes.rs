//! What the databases mean for the routing table (RFC 2328, 11 and 16): paths inside areas, to other areas, and
//! outside. After a change only that is computed which can be another (RFC 2328, 13.2, 16.5 and 16.6).

use super::areas::{AreaKind, BACKBONE};
use super::database::Scope;
use super::hops::{Hop, Hops};
use super::tree::{Way, enter, join, prefix_of};
use super::{Ospf, PREFERENCE};
use crate::protocol::Context;
use crate::services::{Hops as RouteHops, Route, RouteHop, Source};
use base::Time;
use base::plane::{NextHop, Prefix};
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use wire::ospf::{External, LS_INFINITY, LsaBody, LsaKey, LsaKind};

/// Kinds of paths; one that stands before another is preferred to it (RFC 2328, 11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathKind {
    /// Inside an area that this router is in.
    IntraArea,
    /// To another area, by a border router.
    InterArea,
    /// Out of the AS, with a metric that is added to the cost of the way inside.
    External1,
    /// Out of the AS, with a metric that is more than any cost inside.
    External2,
    /// Nowhere: an own range, of which no network is closer (RFC 2328, 11.1).
    Discard,
}

impl PathKind {
    /// As tables have it.
    pub const fn word(self) -> &'static str {
        match self {
            PathKind::IntraArea => "intra-area",
            PathKind::InterArea => "inter-area",
            PathKind::External1 => "external-1",
            PathKind::External2 => "external-2",
            PathKind::Discard => "discard",
        }
    }

    pub(super) const fn is_external(self) -> bool {
        matches!(self, PathKind::External1 | PathKind::External2)
    }
}

/// The best paths to a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// What kind of path each of them is.
    pub kind: PathKind,
    /// Whose advertisements have led to it; absent for what is outside.
    pub area: Option<Ipv4Addr>,
    /// What it costs; of type 2 the metric outside.
    pub cost: u32,
    /// Where packets leave; none if the destination is this router, or nowhere.
    pub hops: Arc<[Hop]>,
    /// The number that a boundary router gave what is outside.
    pub tag: u32,
}

impl Path {
    fn new(kind: PathKind, area: Ipv4Addr, (cost, hops): Way) -> Path {
        Path { kind, area: Some(area), cost, hops, tag: 0 }
    }

    /// Its route in the routing table; what this router is itself connected to needs none.
    pub(super) fn route(&self) -> Option<Route> {
        let direct =
            |hop: &Hop| RouteHop::Direct(NextHop::Via { port: hop.port, gateway: hop.gateway.into() });
        let hops = match self.routed()? {
            [] => RouteHops::One(RouteHop::Direct(NextHop::Discard)),
            [only] => RouteHops::One(direct(only)),
            several => several.iter().map(direct).collect::<Vec<_>>().into(),
        };
        let (source, preference) = (Source::Protocol(Ospf::ID), PREFERENCE);
        Some(Route { source, preference, metric: self.cost, tag: self.tag, hops })
    }

    /// The next hops of its route; none if it discards.
    fn routed(&self) -> Option<&[Hop]> {
        let is_own = self.hops.is_empty() || self.hops.iter().any(|hop| hop.gateway.is_unspecified());
        match self.kind {
            PathKind::Discard => Some(&[]),
            _ if is_own => None,
            _ => Some(&self.hops),
        }
    }

    /// What distinguishes its route from those of other paths to the same destination.
    pub(super) fn in_short(&self) -> Option<(u32, u32, &[Hop])> {
        self.routed().map(|hops| (self.cost, self.tag, hops))
    }
}

/// The preferred way to a router that leads out of the AS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Boundary {
    /// Whose advertisements have led to it.
    pub area: Ipv4Addr,
    /// Is it in that area itself?
    pub is_intra: bool,
    pub way: Way,
}

impl Boundary {
    /// Ways inside an area that is not the backbone are preferred, whatever they cost (RFC 2328, 16.4.1).
    const fn class(is_intra: bool, area: Ipv4Addr) -> u8 {
        if is_intra && area.to_bits() != BACKBONE.to_bits() { 0 } else { 1 }
    }

    /// RFC 2328, 16.4, step 3: the least comes first.
    fn rank(&self) -> (u8, u32, std::cmp::Reverse<Ipv4Addr>) {
        (Boundary::class(self.is_intra, self.area), self.way.0, std::cmp::Reverse(self.area))
    }
}

/// How good a path to a network outside is: the least is the best.
pub(super) type Rank = (u8, u32, u8, u32);

/// What has to be computed anew.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes {
    /// All paths inside areas, since something is another at this router itself.
    pub all: bool,
    /// The paths inside these areas, after these advertisements have changed.
    pub trees: BTreeMap<Ipv4Addr, BTreeSet<LsaKey>>,
    /// Networks of other areas.
    pub networks: BTreeSet<Prefix>,
    /// The ways to boundary routers of other areas.
    pub boundaries: bool,
    /// Networks outside.
    pub outside: BTreeSet<Prefix>,
}

/// All addresses.
const ALL: (Ipv4Addr, Ipv4Addr) = (Ipv4Addr::UNSPECIFIED, Ipv4Addr::BROADCAST);

/// The first and the last address of a prefix.
fn ends(prefix: Prefix) -> (Ipv4Addr, Ipv4Addr) {
    (prefix.address(), super::summaries::last_of(prefix))
}

impl Ospf {
    /// Are summaries of an area examined: those that lead to other areas (RFC 2328, 16.2), or past them (16.3)?
    fn is_examined(&self, area: Ipv4Addr) -> bool {
        area == self.examined() || self.transit_areas.contains(&area)
    }

    /// An advertisement is another, or no more: what follows from it is to be computed (RFC 2328, 13.2).
    pub(super) fn note(&mut self, now: Time, scope: Scope, key: LsaKey, body: &LsaBody) {
        let is_own = key.router == self.router_id;
        self.note_engineering((scope, key));
        match (key.kind, body) {
            (LsaKind::ROUTER | LsaKind::NETWORK, _) => {
                if let Some(area) = scope.area() {
                    self.changes.trees.entry(area).or_default().insert(key);
                }
            }
            // RFC 2328, 16.2, step 2, and 16.4, step 2: nothing follows from what this router says of others.
            _ if is_own => return,
            (LsaKind::SUMMARY_NETWORK | LsaKind::SUMMARY_ROUTER, _)
                if !scope.area().is_some_and(|area| self.is_examined(area)) =>
            {
                return;
            }
            (LsaKind::SUMMARY_NETWORK, LsaBody::Summary(summary)) => {
                self.changes.networks.extend(prefix_of(key.id, summary.mask));
            }
            (LsaKind::SUMMARY_ROUTER, _) => self.changes.boundaries = true,
            (LsaKind::EXTERNAL | LsaKind::NSSA, LsaBody::External(external)) => {
                self.changes.outside.extend(prefix_of(key.id, external.mask));
            }
            _ => return,
        }
        self.delay.change(now);
    }

    /// Computes what has changed, has the routing table follow, and announces it to other areas.
    pub(super) fn compute(&mut self, now: Time, context: &mut Context<'_>) {
        if self.config.te {
            self.find_tails(context);
        }
        let changes = core::mem::take(&mut self.changes);
        self.is_reach_other = false;
        self.computations += 1;
        self.partial += u64::from(!changes.all && changes.trees.is_empty());
        let (inside, outside) = self.concerned(now, changes);
        let mut following = self.put_inside(now, &inside, !outside.is_empty());
        self.put_outside(now, &outside, &inside, &mut following);
        self.computed[0] = Some(now);
        if following.tell(&mut context.services.rib) {
            self.computed[1] = Some(now);
        }
        if self.config.te {
            self.tell_behind(context);
        }
        self.elect_translators(now);
        self.announce(now);
        self.follow_virtual_links(now);
    }

    /// Has the trees follow, and says which prefixes are to be looked at: those of the AS, and those which may be
    /// outside.
    fn concerned(&mut self, now: Time, changes: Changes) -> (Vec<Prefix>, Vec<Prefix>) {
        let mut inside: Vec<Prefix> = changes.networks.into_iter().collect();
        // Areas of which the ways to border or boundary routers are others.
        let mut others: Vec<Ipv4Addr> = Vec::new();
        let (mut routers, mut is_nssa_other) = (changes.boundaries, false);
        let areas = self.areas();
        let gone: Vec<Ipv4Addr> = self.trees.keys().filter(|area| !areas.contains(area)).copied().collect();
        for area in gone {
            inside
                .extend(self.trees.remove(&area).iter().flat_map(|tree| tree.networks().collect::<Vec<_>>()));
            routers = true;
        }
        let none = BTreeSet::new();
        for area in areas {
            let keys = changes.trees.get(&area);
            if changes.all || keys.is_some() || !self.trees.contains_key(&area) {
                let delta = self.follow(now, area, keys.unwrap_or(&none), changes.all);
                self.searches_of_a_part += u64::from(delta.is_part);
                inside.extend(delta.networks);
                routers |= delta.routers;
                is_nssa_other |= delta.routers && self.config.area(area).kind == AreaKind::Nssa;
                if delta.routers {
                    others.push(area);
                }
            }
        }
        let view = Some((self.is_border(), self.examined()));
        let transit = self.find_transit_areas();
        let is_view_other = core::mem::replace(&mut self.view, view) != view;
        if core::mem::replace(&mut self.transit_areas, transit) != self.transit_areas || is_view_other {
            (routers, is_nssa_other) = (true, true);
            others = self.trees.keys().copied().collect();
            inside.extend(self.table.keys());
        }
        for area in others.into_iter().filter(|area| self.is_examined(*area)) {
            let all = self.databases.of(Scope::Area(area));
            let all = all.into_iter().flat_map(|all| all.among(now, LsaKind::SUMMARY_NETWORK, ALL));
            inside.extend(all.filter_map(|(key, body)| match body {
                LsaBody::Summary(one) => prefix_of(key.id, one.mask),
                _ => None,
            }));
        }
        let ranges = self.active_ranges();
        inside.extend(self.ranges.symmetric_difference(&ranges));
        self.ranges = ranges;
        inside.sort_unstable();
        inside.dedup();
        let mut is_all = false;
        if routers {
            let new = self.boundaries(now);
            is_all = new != self.boundaries;
            self.boundaries = new;
        }
        is_all |= is_nssa_other;
        // RFC 2328, 16.5: outside, what goes by way of a network that is another, and what may take its place.
        let is_by = |forwarding: Ipv4Addr| {
            let is_in = |len| inside.binary_search(&Prefix::new(forwarding, len)).is_ok();
            !forwarding.is_unspecified() && !inside.is_empty() && (0..=32).any(is_in)
        };
        let all = self.all_outside(now).filter(|(_, external)| is_all || is_by(external.forwarding));
        let mut outside: Vec<Prefix> = changes.outside.into_iter().chain(all.map(|one| one.0)).collect();
        if changes.all {
            // Nobody announces any more what an area had said that this router has left.
            let known = self.table.iter().filter(|(_, path)| path.kind.is_external());
            outside.extend(known.map(|(prefix, _)| *prefix));
        }
        if self.outside_scopes().any(|scope| self.databases.of(scope).is_some()) {
            outside.extend(&inside);
        }
        outside.sort_unstable();
        outside.dedup();
        (inside, outside)
    }

    /// All networks outside that anybody announces.
    fn all_outside(&self, now: Time) -> impl Iterator<Item = (Prefix, &External)> {
        let all = self.outside_scopes().filter_map(|scope| self.databases.of(scope));
        let bodies = all.flat_map(move |all| {
            let external = all.among(now, LsaKind::EXTERNAL, ALL);
            external.chain(all.among(now, LsaKind::NSSA, ALL))
        });
        bodies.filter_map(|(key, body)| match body {
            LsaBody::External(external) => Some((prefix_of(key.id, external.mask)?, external)),
            _ => None,
        })
    }

    /// The best path to a network of the AS, by the best way inside an area if there is one.
    pub(super) fn internal(
        &self,
        now: Time,
        prefix: Prefix,
        inside: Option<(Ipv4Addr, Way)>,
    ) -> Option<Path> {
        let is_meant = |key: &LsaKey, mask| prefix_of(key.id, mask) == Some(prefix);
        let of_backbone = |area, way| match area {
            BACKBONE => self.past_transit_areas(now, way, LsaKind::SUMMARY_NETWORK, ends(prefix), is_meant),
            _ => Some(way),
        };
        if let Some((area, way)) = inside {
            let way = of_backbone(area, way)?;
            return Some(Path::new(PathKind::IntraArea, area, way));
        }
        if self.ranges.contains(&prefix) {
            return Some(Path {
                kind: PathKind::Discard,
                area: None,
                cost: 0,
                hops: Hops::default(),
                tag: 0,
            });
        }
        let area = self.examined();
        let way = self.by_summaries(now, area, LsaKind::SUMMARY_NETWORK, ends(prefix), is_meant)?;
        Some(Path::new(PathKind::InterArea, area, of_backbone(area, way)?))
    }

    /// The best way by border routers of an area (RFC 2328, 16.2 and 16.3), by those summaries of a type and a range
    /// that are meant.
    pub(super) fn by_summaries(
        &self,
        now: Time,
        area: Ipv4Addr,
        kind: LsaKind,
        ids: (Ipv4Addr, Ipv4Addr),
        is_meant: impl Fn(&LsaKey, Ipv4Addr) -> bool,
    ) -> Option<Way> {
        let (database, tree) = (self.databases.of(Scope::Area(area))?, self.trees.get(&area)?);
        let mut best = BTreeMap::new();
        for (key, body) in database.among(now, kind, ids) {
            let LsaBody::Summary(summary) = body else { continue };
            if summary.metric >= LS_INFINITY || key.router == self.router_id || !is_meant(&key, summary.mask)
            {
                continue;
            }
            if let Some((cost, hops)) = tree.borders.get(&key.router) {
                enter(&mut best, (), cost.saturating_add(summary.metric), hops);
            }
        }
        best.remove(&())
    }

    /// The ways to all routers that lead out of the AS: inside each area, and by summaries.
    fn boundaries(&self, now: Time) -> BTreeMap<Ipv4Addr, Boundary> {
        let mut found: BTreeMap<Ipv4Addr, Boundary> = BTreeMap::new();
        let mut offer = |router: Ipv4Addr, boundary: Boundary| {
            if found.get(&router).is_none_or(|known| boundary.rank() < known.rank()) {
                found.insert(router, boundary);
            }
        };
        // RFC 3101, 2.5, step 3: those of areas that are not so stubby are meant by advertisements there only.
        let takes = |area: &Ipv4Addr| self.config.area(*area).takes(LsaKind::EXTERNAL);
        let of_backbone = |area, router: Ipv4Addr, way| match area {
            BACKBONE => {
                let ids = (router, router);
                self.past_transit_areas(now, way, LsaKind::SUMMARY_ROUTER, ids, |_, _| true)
            }
            _ => Some(way),
        };
        for (area, tree) in self.trees.iter().filter(|(area, _)| takes(area)) {
            for (router, way) in &tree.boundaries {
                let Some(way) = of_backbone(*area, *router, way.clone()) else { continue };
                offer(*router, Boundary { area: *area, is_intra: true, way });
            }
        }
        let area = self.examined();
        let Some(database) = self.databases.of(Scope::Area(area)) else { return found };
        let routers: BTreeSet<Ipv4Addr> =
            database.among(now, LsaKind::SUMMARY_ROUTER, ALL).map(|(key, _)| key.id).collect();
        for router in routers {
            // RFC 2328, 16.2, step 6: inside the area a way comes first.
            let is_inside = self.trees.get(&area).is_some_and(|tree| tree.boundaries.contains_key(&router));
            if is_inside || router == self.router_id {
                continue;
            }
            let way = self.by_summaries(now, area, LsaKind::SUMMARY_ROUTER, (router, router), |_, _| true);
            if let Some(way) = way.and_then(|way| of_backbone(area, router, way)) {
                offer(router, Boundary { area, is_intra: false, way });
            }
        }
        found
    }

    /// Where advertisements of networks outside are: those for all, and those of areas that are not so stubby.
    fn outside_scopes(&self) -> impl Iterator<Item = Scope> {
        core::iter::once(Scope::As).chain(self.active_nssas().into_iter().map(Scope::Area))
    }

    /// The best path to a network outside (RFC 2328, 16.4; RFC 3101, 2.5).
    pub(super) fn external(&self, now: Time, prefix: Prefix) -> Option<Path> {
        let mut best: Option<(Rank, Path)> = None;
        for scope in self.outside_scopes() {
            let Some(database) = self.databases.of(scope) else { continue };
            let kind = if scope == Scope::As { LsaKind::EXTERNAL } else { LsaKind::NSSA };
            for (key, body) in database.among(now, kind, ends(prefix)) {
                let LsaBody::External(external) = body else { continue };
                if prefix_of(key.id, external.mask) != Some(prefix) {
                    continue;
                }
                let Some((rank, found)) = self.path_by(scope, &key, external) else { continue };
                match &mut best {
                    Some((known, _)) if rank > *known => {}
                    Some((known, path)) if rank == *known => join(&mut path.hops, &found.hops),
                    best => *best = Some((rank, found)),
                }
            }
        }
        best.map(|(_, path)| path)
    }

    /// The path that an advertisement of a network outside leads to, and how good it is.
    pub(super) fn path_by(&self, scope: Scope, key: &LsaKey, external: &External) -> Option<(Rank, Path)> {
        let External { type2, metric, forwarding, tag, .. } = external;
        if *metric >= LS_INFINITY || key.router == self.router_id {
            return None;
        }
        let boundary = match scope {
            Scope::As => {
                let boundary = self.boundaries.get(&key.router)?;
                (Boundary::class(boundary.is_intra, boundary.area), boundary.way.clone())
            }
            Scope::Area(area) => {
                if self.is_ignored_default(area, key, external) {
                    return None;
                }
                let way = self.trees.get(&area)?.boundaries.get(&key.router)?;
                (Boundary::class(true, area), way.clone())
            }
        };
        let (class, (near, hops)) = match forwarding.is_unspecified() {
            true => boundary,
            false => self.towards(scope, *forwarding)?,
        };
        // RFC 2328, 16.4, step 6: type 1 before type 2, the metric outside, kinds of ways inside, and their cost.
        let sum = near.saturating_add(*metric);
        let (kind, cost, rank) = match *type2 {
            false => (PathKind::External1, sum, (0, 0, class, sum)),
            true => (PathKind::External2, *metric, (1, *metric, class, near)),
        };
        Some((rank, Path { kind, area: None, cost, hops, tag: *tag }))
    }

    /// The way to a forwarding address inside the AS, and its class (RFC 2328, 16.4.1). What is announced to an area
    /// alone is there (RFC 3101, 2.5, step 3).
    fn towards(&self, scope: Scope, address: Ipv4Addr) -> Option<(u8, Way)> {
        let known = (0..=32).rev().filter_map(|len| self.table.get(&Prefix::new(address, len)));
        let path = known.into_iter().find(|path| !path.kind.is_external())?;
        let is_there = match scope {
            Scope::As => true,
            Scope::Area(area) => path.kind == PathKind::IntraArea && path.area == Some(area),
        };
        if path.kind == PathKind::Discard || path.hops.is_empty() || !is_there {
            return None;
        }
        // On a network that this router is connected to, the address itself is the next hop.
        let through = |hop: &Hop| match hop.gateway.is_unspecified() {
            true => Hop { gateway: address, ..*hop },
            false => *hop,
        };
        let class = Boundary::class(path.kind == PathKind::IntraArea, path.area.unwrap_or(BACKBONE));
        Some((class, (path.cost, path.hops.iter().map(through).collect())))
    }
}
