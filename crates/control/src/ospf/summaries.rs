//! What a border router says of each area in the others (RFC 2328, 12.4.3): networks, ranges of networks, boundary
//! routers, and a default route into stub areas.

use super::Ospf;
use super::areas::{AreaConfig, AreaKind, BACKBONE};
use super::database::{Place, Scope};
use super::routes::{Path, PathKind};
use base::Time;
use base::plane::Prefix;
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet};
use wire::Hex;
use wire::ospf::{LS_INFINITY, LsaBody, LsaKey, LsaKind, Summary};

/// The mask of a prefix.
pub(super) fn mask_of(prefix: Prefix) -> Ipv4Addr {
    super::interface::mask_of(prefix.len())
}

/// The last address of a prefix.
pub(super) fn last_of(prefix: Prefix) -> Ipv4Addr {
    Ipv4Addr::from_bits(prefix.address().to_bits() | !mask_of(prefix).to_bits())
}

/// A link state id for each prefix: its address, or its last one if a prefix that is less specific has the same address
/// (RFC 2328, E). Of a single address that is also that of a network nothing can be said.
pub(super) fn ids<'a, T>(
    prefixes: impl IntoIterator<Item = (&'a Prefix, T)>,
) -> BTreeMap<Ipv4Addr, (Prefix, T)> {
    let mut ids = BTreeMap::new();
    // In their order the less specific of two prefixes with one address comes first.
    for (prefix, what) in prefixes {
        let id = if ids.contains_key(&prefix.address()) { last_of(*prefix) } else { prefix.address() };
        ids.entry(id).or_insert((*prefix, what));
    }
    ids
}

impl Ospf {
    /// The ranges of areas in which there is a network (RFC 2328, 11.1).
    pub(super) fn active_ranges(&self) -> BTreeSet<Prefix> {
        if !self.is_border() || self.config.areas.values().all(|area| area.ranges.is_empty()) {
            return BTreeSet::new();
        }
        let of_area = |(area, tree): (&Ipv4Addr, &super::tree::Tree)| {
            let treated = self.config.area(*area);
            let ranges = tree.networks().filter_map(|prefix| treated.range_of(prefix));
            ranges.map(|range| range.prefix).collect::<Vec<_>>()
        };
        self.trees.iter().flat_map(of_area).collect()
    }

    /// Says in each area what is true now of the others.
    pub(super) fn announce(&mut self, now: Time) {
        let mut wanted = BTreeMap::new();
        if self.is_border() {
            for area in self.active_areas() {
                self.summarise_into(area, &mut wanted);
            }
        }
        self.claim(now, wanted, |kind| matches!(kind, LsaKind::SUMMARY_NETWORK | LsaKind::SUMMARY_ROUTER));
        self.originate_due(now);
        self.flush_floods(now);
    }

    /// What is said in an area of the others.
    fn summarise_into(&self, area: Ipv4Addr, to: &mut BTreeMap<Place, LsaBody>) {
        let treated = self.config.area(area);
        let mut put = |kind, id, mask, metric| {
            let key = LsaKey { kind, id, router: self.router_id };
            let body = LsaBody::Summary(Summary { mask, metric, tos: Hex::default() });
            to.insert((Scope::Area(area), key), body);
        };
        for (id, (prefix, metric)) in ids(&self.networks_for(area, treated)) {
            put(LsaKind::SUMMARY_NETWORK, id, mask_of(prefix), *metric);
        }
        if treated.kind != AreaKind::Normal {
            return;
        }
        for (router, boundary) in &self.boundaries {
            let is_told = boundary.area != area && !self.leads_into(area, &boundary.way.1);
            if is_told && boundary.way.0 < LS_INFINITY {
                put(LsaKind::SUMMARY_ROUTER, *router, Ipv4Addr::UNSPECIFIED, boundary.way.0);
            }
        }
    }

    /// Networks of other areas that an area hears of, with what they cost.
    fn networks_for(&self, area: Ipv4Addr, treated: &AreaConfig) -> BTreeMap<Prefix, u32> {
        let mut networks: BTreeMap<Prefix, u32> = BTreeMap::new();
        let is_told = treated.kind == AreaKind::Normal || treated.summaries;
        let is_of_others = |path: &Path| path.area.is_some_and(|own| own != area);
        let told = self
            .table
            .iter()
            .filter(|(_, path)| is_told && is_of_others(path) && !self.leads_into(area, &path.hops));
        for (prefix, path) in told {
            let Path { kind, area: Some(from), cost, .. } = path else { continue };
            // RFC 2328, 12.4.3: who sends what is of others through an area has to know each network of the backbone.
            let is_whole = *from == BACKBONE && self.transit_areas.contains(&area);
            let range = self.config.area(*from).range_of(*prefix).filter(|_| !is_whole);
            match (kind, range) {
                (PathKind::IntraArea, Some(range)) if range.advertise => {
                    // The farthest of its networks counts.
                    let known = networks.entry(range.prefix).or_insert(0);
                    *known = range.cost.unwrap_or((*known).max(*cost));
                }
                (PathKind::IntraArea, Some(_)) => {}
                (PathKind::IntraArea | PathKind::InterArea, _) => {
                    networks.insert(*prefix, *cost);
                }
                (PathKind::External1 | PathKind::External2 | PathKind::Discard, _) => {}
            }
        }
        // RFC 3101, 2.7: with summaries the default route is no summary there.
        let is_default = match treated.kind {
            AreaKind::Normal => false,
            AreaKind::Stub => true,
            AreaKind::Nssa => !treated.summaries,
        };
        if is_default {
            networks.insert(Prefix::new(Ipv4Addr::UNSPECIFIED, 0), treated.default_cost);
        }
        networks.retain(|_, cost| *cost < LS_INFINITY);
        networks
    }
}
