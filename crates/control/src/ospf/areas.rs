//! Areas: how each is treated, which of them this router is in, and what is flooded there (RFC 2328, 3).

use super::database::Scope;
use super::interface::{Interface, InterfaceConfig, InterfaceState};
use super::{Config, Ospf};
use base::PortId;
use base::plane::Prefix;
use core::net::Ipv4Addr;
use std::collections::BTreeSet;
use wire::ospf::{LsaKind, options};

/// The area that joins all others (RFC 2328, 3.1).
pub const BACKBONE: Ipv4Addr = Ipv4Addr::UNSPECIFIED;

base::words! {
    /// What comes into an area from outside. All of its routers have to say the same.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum AreaKind {
        /// Everything.
        Normal = "normal",
        /// No routes from outside: its border routers announce a default route (RFC 2328, 3.6).
        Stub = "stub",
    }
    default Normal;
}

/// Networks of an area that are announced to other areas as one, or not at all (RFC 2328, 3.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AreaRange {
    /// All of them are in it.
    pub prefix: Prefix,
    /// Do other areas hear of it?
    pub advertise: bool,
    /// What it costs to get there; that of the farthest network if absent.
    pub cost: Option<u32>,
}

/// How an area is treated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AreaConfig {
    /// What comes in from outside.
    pub kind: AreaKind,
    /// Into a stub area: announce networks of other areas, too, not the default route alone.
    pub summaries: bool,
    /// What the default route into a stub area costs.
    pub default_cost: u32,
    /// Its networks as other areas see them.
    pub ranges: Vec<AreaRange>,
}

impl Default for AreaConfig {
    fn default() -> AreaConfig {
        AreaConfig { kind: AreaKind::Normal, summaries: true, default_cost: 1, ranges: Vec::new() }
    }
}

/// How an area is treated of which nobody says anything.
static USUAL: AreaConfig =
    AreaConfig { kind: AreaKind::Normal, summaries: true, default_cost: 1, ranges: Vec::new() };

impl AreaConfig {
    /// The options of packets and advertisements in it (RFC 2328, 3.6 and 12.1.2).
    pub(super) const fn options(&self) -> u8 {
        match self.kind {
            AreaKind::Normal => options::E,
            AreaKind::Stub => 0,
        }
    }

    /// What keeps this router from being a neighbour there of one with these options, if anything (RFC 2328, 10.5).
    pub(super) fn disagrees(&self, theirs: u8) -> Option<String> {
        let kind = |takes_externals: bool| if takes_externals { "no stub" } else { "a stub" };
        let (there, here) = (theirs & options::E != 0, self.options() & options::E != 0);
        (there != here).then(|| format!("its area is {}, and here it is {}", kind(there), kind(here)))
    }

    /// Are advertisements of this type kept in it? Of opaque ones [`Config::takes`] says so.
    pub(super) const fn takes(&self, kind: LsaKind) -> bool {
        match kind.0 {
            1..=4 => true,
            5 => matches!(self.kind, AreaKind::Normal),
            _ => false,
        }
    }

    /// The range that a network of it is in; the closest if there are several.
    pub(super) fn range_of(&self, prefix: Prefix) -> Option<&AreaRange> {
        let around = |range: &&AreaRange| {
            range.prefix.len() <= prefix.len() && range.prefix.contains(prefix.address())
        };
        self.ranges.iter().filter(around).max_by_key(|range| range.prefix.len())
    }
}

impl Config {
    /// How an area is treated.
    pub(super) fn area(&self, area: Ipv4Addr) -> &AreaConfig {
        self.areas.get(&area).unwrap_or(&USUAL)
    }

    /// The area that packets by an interface are of.
    pub(super) fn area_by(&self, interface: &InterfaceConfig) -> Ipv4Addr {
        interface.area.unwrap_or(self.area)
    }

    /// Is what is flooded so far flooded by an interface (RFC 2328, 13.3)?
    pub(super) fn is_eligible(&self, interface: &InterfaceConfig, scope: Scope) -> bool {
        match (scope, interface.area) {
            (Scope::Area(area), own) => own == Some(area),
            (Scope::As, Some(area)) => self.area(area).takes(LsaKind::EXTERNAL),
            (Scope::As, None) => false,
        }
    }

    /// What of an interface's area is in its neighbours' databases.
    pub(super) fn scopes_of(&self, interface: &InterfaceConfig) -> Vec<Scope> {
        let Some(area) = interface.area else { return Vec::new() };
        let outside = self.area(area).takes(LsaKind::EXTERNAL).then_some(Scope::As);
        core::iter::once(Scope::Area(area)).chain(outside).collect()
    }
}

impl Ospf {
    /// The areas in which an interface of this router can be used; the port beside the router is in none by itself.
    pub fn active_areas(&self) -> BTreeSet<Ipv4Addr> {
        let usable = self.interfaces.values().filter(|one| one.state != InterfaceState::Down);
        usable.filter_map(|one| one.config.area).collect()
    }

    /// Is it a border router: in several areas, whether the backbone is one of them or not (RFC 2328, 12.4.1)?
    pub fn is_border(&self) -> bool {
        self.active_areas().len() > 1
    }

    /// All areas that it has something to say in.
    pub(super) fn areas(&self) -> BTreeSet<Ipv4Addr> {
        let configured = self.interfaces.values().filter_map(|one| one.config.area);
        configured.chain([self.home()]).collect()
    }

    /// The area that its own addresses are in: the one that was asked for, or the first in which it can be reached.
    pub fn home(&self) -> Ipv4Addr {
        let active = self.active_areas();
        match active.first() {
            Some(first) if !active.contains(&self.config.area) => *first,
            _ => self.config.area,
        }
    }

    /// The area that an interface is in.
    pub(super) fn area_of(&self, interface: &Interface) -> Ipv4Addr {
        interface.config.area.unwrap_or_else(|| self.home())
    }

    /// The area that packets by a port are of.
    pub(super) fn area_at(&self, port: PortId) -> Ipv4Addr {
        self.interfaces.get(&port).map_or(self.config.area, |one| self.config.area_by(&one.config))
    }

    /// Whose summaries lead to other areas: those of the only area, or of the backbone at a border (RFC 2328, 16.2).
    pub(super) fn transit(&self) -> Ipv4Addr {
        if self.is_border() { BACKBONE } else { self.home() }
    }
}
