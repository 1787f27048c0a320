//! Areas: how each is treated, which of them this router is in, and what is flooded there (RFC 2328, 3).

use super::database::Scope;
use super::interface::{Interface, InterfaceConfig, InterfaceName, InterfaceState};
use super::{Config, Ospf};
use base::Span;
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
        /// No routes from outside but those of its own boundary routers, which its border routers pass on to all
        /// others: an area that is not so stubby (RFC 3101).
        Nssa = "nssa",
    }
    default Normal;
}

base::words! {
    /// When a border router passes routes of boundary routers inside on (RFC 3101, 3.1: NSSATranslatorRole).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Translator {
        /// If it has the greatest router id among the border routers that nobody told to do it always.
        Candidate = "candidate",
        /// Always.
        Always = "always",
    }
    default Candidate;
}

/// Networks outside that an area's boundary routers announce, as all others see them (RFC 3101, 2.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsideRange {
    /// All of them are in it.
    pub prefix: Prefix,
    /// Do others hear of it?
    pub advertise: bool,
    /// The number that others see with it.
    pub tag: u32,
}

/// What is said of an area whose boundary routers announce networks outside to it alone (RFC 3101, D).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NssaConfig {
    /// Is this border router to pass on what they announce?
    pub translator: Translator,
    /// So long a border router goes on to do so when another one is to do it.
    pub stability: Span,
    /// Is the metric of the default route more than any cost inside (type 2)?
    pub is_default_type2: bool,
    /// Networks that are passed on as one, or not at all.
    pub ranges: Vec<OutsideRange>,
}

/// What RFC 3101, D has.
const NSSA: NssaConfig = NssaConfig {
    translator: Translator::Candidate,
    stability: Span::from_secs(40),
    is_default_type2: false,
    ranges: Vec::new(),
};

impl Default for NssaConfig {
    fn default() -> NssaConfig {
        NSSA
    }
}

impl NssaConfig {
    /// The range that a network is in; the closest if there are several.
    pub(super) fn range_of(&self, prefix: Prefix) -> Option<&OutsideRange> {
        let around = |range: &&OutsideRange| {
            range.prefix.len() <= prefix.len() && range.prefix.contains(prefix.address())
        };
        self.ranges.iter().filter(around).max_by_key(|range| range.prefix.len())
    }
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
    /// Into a stub area, or one that is not so stubby: announce networks of other areas, too, not the default route
    /// alone.
    pub summaries: bool,
    /// What the default route into one of these costs.
    pub default_cost: u32,
    /// Its networks as other areas see them.
    pub ranges: Vec<AreaRange>,
    /// What holds if it is not so stubby.
    pub nssa: NssaConfig,
}

impl Default for AreaConfig {
    fn default() -> AreaConfig {
        USUAL.clone()
    }
}

/// How an area is treated of which nobody says anything.
static USUAL: AreaConfig =
    AreaConfig { kind: AreaKind::Normal, summaries: true, default_cost: 1, ranges: Vec::new(), nssa: NSSA };

impl AreaConfig {
    /// The options of packets in it (RFC 2328, 3.6; RFC 3101, A).
    pub(super) const fn options(&self) -> u8 {
        match self.kind {
            AreaKind::Normal => options::E,
            AreaKind::Stub => 0,
            AreaKind::Nssa => options::NP,
        }
    }

    /// Those of its advertisements; of networks outside more is said there (RFC 2328, 12.1.2).
    pub(super) const fn advertised_options(&self) -> u8 {
        self.options() & options::E
    }

    /// What keeps this router from being a neighbour there of one with these options, if anything (RFC 2328, 10.5).
    pub(super) fn disagrees(&self, theirs: u8) -> Option<String> {
        // RFC 3101, A: both bits have to be the same.
        let kind = |own: u8| match (own & options::E != 0, own & options::NP != 0) {
            (true, false) => "no stub",
            (false, false) => "a stub",
            (false, true) => "not so stubby",
            (true, true) => "no stub and not so stubby at once",
        };
        let (there, here) = (kind(theirs), kind(self.options()));
        (there != here).then(|| format!("its area is {there}, and here it is {here}"))
    }

    /// Are advertisements of this type kept in it? Of opaque ones [`Config::takes`] says so.
    pub(super) const fn takes(&self, kind: LsaKind) -> bool {
        match kind.0 {
            1..=4 => true,
            5 => matches!(self.kind, AreaKind::Normal),
            7 => matches!(self.kind, AreaKind::Nssa),
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
    pub(super) fn is_eligible(&self, interface: &Interface, scope: Scope) -> bool {
        match (scope, interface.config.area) {
            (Scope::Area(area), own) => own == Some(area),
            // RFC 2328, 15: the area that a virtual link leads through has them already.
            (Scope::As, Some(area)) => {
                !interface.name.is_virtual() && self.area(area).takes(LsaKind::EXTERNAL)
            }
            (Scope::As, None) => false,
        }
    }

    /// What of an interface's area is in its neighbours' databases.
    pub(super) fn scopes_of(&self, interface: &Interface) -> Vec<Scope> {
        let Some(area) = interface.config.area else { return Vec::new() };
        let both = [Scope::Area(area), Scope::As].into_iter();
        both.filter(|scope| self.is_eligible(interface, *scope)).collect()
    }
}

impl Ospf {
    /// The areas in which an interface of this router can be used; the port beside the router is in none by itself.
    pub fn active_areas(&self) -> BTreeSet<Ipv4Addr> {
        let usable = self.interfaces.values().filter(|one| one.state != InterfaceState::Down);
        usable.filter_map(|one| one.config.area).collect()
    }

    /// Those of them that are not so stubby.
    pub(super) fn active_nssas(&self) -> Vec<Ipv4Addr> {
        let is_nssa = |area: &Ipv4Addr| self.config.area(*area).kind == AreaKind::Nssa;
        self.active_areas().into_iter().filter(is_nssa).collect()
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

    /// The area that packets by an interface are of.
    pub(super) fn area_at(&self, name: InterfaceName) -> Ipv4Addr {
        self.interfaces.get(&name).map_or(self.config.area, |one| self.config.area_by(&one.config))
    }

    /// Whose summaries lead to other areas: those of the only area, or of the backbone at a border (RFC 2328, 16.2).
    pub(super) fn examined(&self) -> Ipv4Addr {
        if self.is_border() { BACKBONE } else { self.home() }
    }
}
