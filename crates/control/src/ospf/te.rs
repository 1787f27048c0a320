//! Traffic engineering (RFC 3630): what this router says of its links beyond their costs, and when it says it again.

use super::database::{Place, Scope};
use super::interface::{Interface, InterfaceState};
use super::neighbor::NeighborState;
use super::routes::PathKind;
use super::{Config, Ospf};
use crate::protocol::Context;
use crate::services::Unreserved;
use crate::services::te::{TeKey, Towards};
use base::{PortId, Rate, Span, Time};
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet};
use wire::ospf::te::{OPAQUE_TYPE, Te, TeLink, link_type};
use wire::ospf::{LsaBody, LsaKey, LsaKind, MAX_AGE, Router, link};

/// Percentages of the bandwidth of a link: when what is reserved comes to one of them, or falls below it, the link is
/// announced again. They lie close together where little is left.
const THRESHOLDS: [u64; 14] = [15, 30, 45, 60, 75, 80, 85, 90, 95, 96, 97, 98, 99, 100];
/// A change that reaches none of them is announced after so long.
const PERIOD: Span = Span::from_secs(180);

/// What traffic engineering is told of a link, by users.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// What the link costs to traffic engineering; its cost if absent.
    pub metric: Option<u32>,
    /// Administrative groups, one a bit.
    pub groups: u32,
    /// Shared risk link groups (RFC 4203, 1.3).
    pub srlgs: Vec<u32>,
}

/// The bandwidth of the link of a port.
#[derive(Clone, Copy, Debug)]
struct Capacity {
    /// Absent if it has no limit.
    maximum: Option<Rate>,
    reservable: Rate,
    /// What was announced last.
    said: Unreserved,
}

/// What is said of links beyond their costs.
#[derive(Debug, Default)]
pub(super) struct Engineering {
    links: BTreeMap<PortId, Capacity>,
    /// When changes are announced that were too small for it at once.
    due: Option<Time>,
    /// Ends of tunnels that routes may take: their addresses, by router id.
    pub tails: BTreeMap<Ipv4Addr, Ipv4Addr>,
    /// Advertisements that say something else than the database of the node has of them.
    news: BTreeSet<Place>,
    /// Advertisements that say the address of a router: could the router be reached when the database was told?
    addresses: BTreeMap<Place, bool>,
}

/// What a router says that its end of a link costs.
fn igp_metric(router: &Router, local: Ipv4Addr) -> Option<u32> {
    let is_it = |one: &&wire::ospf::RouterLink| one.kind != link::STUB && one.data == local;
    router.links.iter().find(is_it).map(|one| one.metric.into())
}

/// A link as the node's database has it. What is not said of its bandwidth cannot be reserved.
fn known(said: &TeLink, igp_metric: Option<u32>) -> crate::services::te::TeLink {
    let rates = said.unreserved.unwrap_or_default();
    crate::services::te::TeLink {
        towards: match said.kind {
            link_type::MULTI_ACCESS => Towards::Network(said.id),
            _ => Towards::Router(said.id),
        },
        local: said.local.first().copied().unwrap_or(Ipv4Addr::UNSPECIFIED),
        // RFC 3630, 2.5.4: a link with several neighbours names none, or says 0.0.0.0.
        remote: said.remote.first().copied().filter(|remote| !remote.is_unspecified()),
        te_metric: said.metric,
        igp_metric,
        reservable: Rate::from_bytes_per_s(said.reservable.unwrap_or(0.0)),
        unreserved: rates.map(Rate::from_bytes_per_s),
        groups: said.groups.unwrap_or(0),
        srlgs: said.srlgs.clone(),
    }
}

/// A rate in the unit of the advertisements.
fn bytes_per_s(rate: Rate) -> f32 {
    (rate.0 as f64 / 8.0) as f32
}

/// Does what is left differ so much that it is announced?
fn is_crossing(reservable: Rate, before: &Unreserved, after: &Unreserved) -> bool {
    let used = |left: &Rate| u128::from(reservable.0.saturating_sub(left.0)) * 100;
    let whole = u128::from(reservable.0);
    let is_other = |before: u128, after: u128| {
        let reached = |used: u128, percent: u64| used >= u128::from(percent) * whole;
        THRESHOLDS.iter().any(|&percent| reached(before, percent) != reached(after, percent))
    };
    before.iter().zip(after).any(|(before, after)| is_other(used(before), used(after)))
}

impl Config {
    /// Are opaque advertisements asked for, and flooded (RFC 5250, 3.1)?
    pub(super) fn is_opaque(&self) -> bool {
        self.te || self.opaque
    }

    /// Are advertisements of this type kept in an area? Opaque ones of a single link are read by nobody here.
    pub(super) fn takes(&self, area: Ipv4Addr, kind: LsaKind) -> bool {
        match kind {
            LsaKind::OPAQUE_AREA => self.is_opaque(),
            LsaKind::OPAQUE_AS => self.is_opaque() && self.area(area).takes(LsaKind::EXTERNAL),
            _ => self.area(area).takes(kind),
        }
    }
}

impl Interface {
    /// What of a link follows from its neighbours: nothing without one that is adjacent.
    fn engineered(&self) -> Option<TeLink> {
        let local = vec![self.address];
        match self.state {
            InterfaceState::Down => None,
            InterfaceState::PointToPoint => {
                let full = self.neighbors.values().find(|one| one.state == NeighborState::Full)?;
                let (kind, remote) = (link_type::POINT_TO_POINT, vec![full.address]);
                Some(TeLink { kind, id: full.router_id, local, remote, ..TeLink::default() })
            }
            // RFC 3630, 2.5.4: a link with several neighbours names none.
            _ if self.is_transit() => {
                let (kind, id) = (link_type::MULTI_ACCESS, self.designated);
                Some(TeLink { kind, id, local, ..TeLink::default() })
            }
            _ => None,
        }
    }
}

impl Ospf {
    /// Takes note of the bandwidth of all links.
    pub(super) fn start_engineering(&mut self, context: &Context<'_>) {
        if !self.config.te {
            return;
        }
        let services = &context.services;
        for (port, known) in services.interfaces.ports() {
            let rate = services.interfaces.attached(port).map_or(Rate(0), |attached| attached.rate);
            // Where nobody signals nothing can be reserved.
            let reservable = known.reservable.unwrap_or(Rate(0));
            let said = services.bandwidth.left(port).unwrap_or([reservable; 8]);
            let capacity = Capacity { maximum: (rate.0 > 0).then_some(rate), reservable, said };
            self.engineering.links.insert(port, capacity);
        }
    }

    /// Bandwidth was reserved, given back or refused on a port. The link is announced again if a threshold is reached,
    /// and when something was refused: who asked for it knew less than is true.
    pub(super) fn on_bandwidth(&mut self, now: Time, context: &Context<'_>, port: PortId, is_refused: bool) {
        let Some(link) = self.engineering.links.get_mut(&port) else { return };
        let left = context.services.bandwidth.left(port).unwrap_or(link.said);
        if left == link.said {
            return;
        }
        if is_refused || is_crossing(link.reservable, &link.said, &left) {
            link.said = left;
            self.announce_links(now);
        } else {
            self.engineering.due.get_or_insert(now + PERIOD);
        }
    }

    /// Tunnels that routes may take end elsewhere now, perhaps: then what lies behind them is computed.
    pub(super) fn look_for_tails(&mut self, now: Time, context: &mut Context<'_>) {
        if self.find_tails(context) {
            self.delay.change(now);
        }
    }

    /// Finds the routers at which tunnels end that routes may take. Are they others than before?
    pub(super) fn find_tails(&mut self, context: &mut Context<'_>) -> bool {
        let services = &mut **context.services;
        let mut tails = BTreeMap::new();
        for address in services.shortcuts.tails() {
            tails.extend(services.engineering.router_of(address).map(|router| (router, address)));
        }
        tails.remove(&self.router_id);
        let is_other = self.engineering.tails != tails;
        self.engineering.tails = tails;
        self.changes.all |= is_other;
        is_other
    }

    /// Says what lies behind the ends of tunnels: networks of the areas, by all of their shortest paths.
    pub(super) fn tell_behind(&self, context: &mut Context<'_>) {
        let mut behind = BTreeMap::new();
        for (prefix, path) in self.table.iter().filter(|_| !self.engineering.tails.is_empty()) {
            let area = path.area.filter(|_| path.kind == PathKind::IntraArea && !path.hops.is_empty());
            let tree = area.and_then(|area| self.trees.get(&area));
            let router = tree.and_then(|tree| tree.behind.get(prefix)?.1);
            let tail = router.and_then(|router| self.engineering.tails.get(&router));
            behind.extend(tail.map(|tail| (*prefix, *tail)));
        }
        context.services.shortcuts.set_behind(behind);
    }

    /// An advertisement says something else than before, or is one no more.
    pub(super) fn note_engineering(&mut self, place: Place) {
        let is_said = self.config.te && (Te::is_meant(&place.1) || place.1.kind == LsaKind::ROUTER);
        if is_said {
            self.engineering.news.insert(place);
        }
    }

    /// Does a path inside an area lead to a router? Until paths are computed none does, but to this router itself.
    fn is_reachable(&self, area: Ipv4Addr, router: Ipv4Addr) -> bool {
        router == self.router_id || self.trees.get(&area).is_some_and(|tree| tree.is_reachable(router))
    }

    /// Takes note of routers that can be reached now and could not before, or the other way round (RFC 5250, 5): what
    /// they say of their addresses counts from now on, or does not any more. Are there any?
    pub(super) fn note_reachability(&mut self) -> bool {
        let is_other = |((scope, key), was): (&Place, &bool)| {
            scope.area().is_some_and(|area| self.is_reachable(area, key.router) != *was)
        };
        let others = self.engineering.addresses.iter().filter(|&one| is_other(one));
        let others: Vec<Place> = others.map(|(place, _)| *place).collect();
        let is_any = !others.is_empty();
        self.engineering.news.extend(others);
        is_any
    }

    /// Has the database of the node follow what advertisements say now.
    pub(super) fn tell_engineering(&mut self, now: Time, context: &mut Context<'_>) {
        let owner = context.owner;
        let to = &mut context.services.engineering;
        for (scope, key) in core::mem::take(&mut self.engineering.news) {
            let Some(area) = scope.area() else { continue };
            let valid = |key| self.databases.get(scope, key).filter(|one| one.age(now) < MAX_AGE);
            let own = LsaKey { kind: LsaKind::ROUTER, id: key.router, router: key.router };
            let router = valid(&own).and_then(|one| match one.body() {
                LsaBody::Router(router) => Some(router),
                _ => None,
            });
            let metric = |local| router.and_then(|router| igp_metric(router, local));
            if key.kind == LsaKind::ROUTER {
                let links = to.links_of(owner, area.to_bits(), key.router);
                let changed = links.filter_map(|(key, link)| {
                    let igp_metric = metric(link.local);
                    let is_other = igp_metric != link.igp_metric;
                    is_other.then(|| (key, crate::services::te::TeLink { igp_metric, ..link.clone() }))
                });
                changed.collect::<Vec<_>>().into_iter().for_each(|(key, link)| to.set_link(key, link));
                continue;
            }
            let said = valid(&key).map_or(Vec::new(), |one| match one.body() {
                LsaBody::Other { bytes } => Te::parse(&bytes.0).unwrap_or_default(),
                _ => Vec::new(),
            });
            let name = TeKey { owner, area: area.to_bits(), router: key.router, number: key.id.to_bits() };
            let (mut link, mut address) = (None, None);
            for te in said {
                match te {
                    Te::Link(said) => link = link.or(Some(said)),
                    Te::RouterAddress(said) => address = address.or(Some(said)),
                }
            }
            // RFC 3630, 2.4.2: an advertisement describes one link.
            match link {
                Some(link) => {
                    let local = link.local.first().copied().unwrap_or(Ipv4Addr::UNSPECIFIED);
                    to.set_link(name, known(&link, metric(local)));
                }
                None => to.remove_link(&name),
            }
            // RFC 5250, 3.1: what a router says that cannot be reached is not used. Links need no more than what the
            // database asks of them: that both of their ends announce them.
            let is_reachable = self.is_reachable(area, key.router);
            to.set_address(name, address.filter(|_| is_reachable));
            match address {
                Some(_) => self.engineering.addresses.insert((scope, key), is_reachable),
                None => self.engineering.addresses.remove(&(scope, key)),
            };
        }
    }

    /// When small changes are announced.
    pub(super) fn engineering_due(&self) -> Option<Time> {
        self.engineering.due
    }

    /// Announces small changes if it is time.
    pub(super) fn engineering_timeout(&mut self, now: Time, context: &Context<'_>) {
        if self.engineering.due.is_none_or(|due| due > now) {
            return;
        }
        self.engineering.due = None;
        for (port, link) in &mut self.engineering.links {
            link.said = context.services.bandwidth.left(*port).unwrap_or(link.said);
        }
        self.announce_links(now);
    }

    /// Says of each link what is true now; in each area of the links that are in it.
    pub(super) fn announce_links(&mut self, now: Time) {
        if !self.config.te {
            return;
        }
        let mut wanted: BTreeMap<Place, LsaBody> = BTreeMap::new();
        for area in self.active_areas() {
            let mut put = |instance: u32, te: Te| {
                let id = Ipv4Addr::from_bits(u32::from(OPAQUE_TYPE) << 24 | instance);
                let key = LsaKey { kind: LsaKind::OPAQUE_AREA, id, router: self.router_id };
                wanted.insert((Scope::Area(area), key), LsaBody::Other { bytes: te.write()[..].into() });
            };
            // RFC 3630, 2.4.1: in exactly one advertisement, apart from those of links.
            put(0, Te::RouterAddress(self.loopback));
            for interface in self.usable(area) {
                let Some(port) = interface.name.port() else { continue };
                let (attributes, capacity) = (&interface.config.te, self.engineering.links.get(&port));
                let (Some(link), Some(capacity)) = (interface.engineered(), capacity) else { continue };
                let link = TeLink {
                    metric: Some(attributes.metric.unwrap_or_else(|| interface.config.cost.into())),
                    maximum: capacity.maximum.map(bytes_per_s),
                    reservable: Some(bytes_per_s(capacity.reservable)),
                    unreserved: Some(capacity.said.map(bytes_per_s)),
                    groups: Some(attributes.groups),
                    srlgs: attributes.srlgs.clone(),
                    ..link
                };
                put(u32::from(port.0) + 1, Te::Link(link));
            }
        }
        self.claim(now, wanted, |kind| kind == LsaKind::OPAQUE_AREA);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_announced_again_when_a_threshold_is_reached() {
        let whole = Rate(1000);
        let left = |used: u64| [Rate(1000 - used); 8];
        let is = |before, after| is_crossing(whole, &left(before), &left(after));
        assert!(is(0, 150) && is(149, 150) && is(990, 1000) && is(0, 1000));
        assert!(!is(0, 149) && !is(150, 299) && !is(1000, 1000) && !is(0, 0));
        assert!(is(1000, 0) && is(150, 149) && is(1000, 999) && is(160, 0));
        assert!(!is(149, 0) && !is(299, 151));
        // One priority is enough.
        let mut one = left(0);
        one[7] = Rate(0);
        assert!(is_crossing(whole, &left(0), &one));
        assert!(!is_crossing(Rate(0), &[Rate(0); 8], &[Rate(0); 8]));
    }
}
