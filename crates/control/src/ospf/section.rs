//! What users write of OSPF at a router, and what follows from it for each of its ports.

use super::areas::{AreaConfig, AreaKind, AreaRange, BACKBONE, NssaConfig, OutsideRange, Translator};
use super::auth_section::OspfAuthSpec;
use super::delay::DelayConfig;
use super::interface::{InterfaceConfig, NetworkType};
use super::keys::Keys;
use super::outside::{Imported, Redistribution};
use super::te::Attributes;
use super::virtual_section::OspfVirtualLinkSpec;
use super::{Config, Ospf};
use crate::protocol::{Agreement, Join, Protocol, Setup};
use crate::services::policy::PolicyRule;
use crate::services::{Attached, Beyond, Interface, Services, WatchSpec};
use base::describe::{Describe, Name, Schema, Schemas, Section, Value, malformed};
use base::diagnostic::{At, Diagnostic};
use base::plane::Prefix;
use base::{Rate, Span};
use core::net::Ipv4Addr;
use std::sync::Arc;

base::problems! {
    /// Problems of the settings of OSPF.
    pub enum OspfProblem {
        /// A time that Hellos cannot say.
        NotWhole { value: String } is OutOfRange, "ospf-not-whole", "{value}: OSPF counts it in whole seconds";
        /// A neighbour that is lost before its next Hello.
        DeadTooShort { dead: String, hello: String } is Conflict, "ospf-dead-too-short", "dead_interval={dead} has to be above hello_interval={hello}";
        /// Quiet that begins before all of one failure is known.
        HoldDownTooShort { hold_down: String, learn: String } is Conflict, "ospf-hold-down-too-short", "hold_down={hold_down} has to be above learn={learn} (RFC 8405, 3)";
        /// A backbone without routes from outside.
        StubBackbone { kind: &'static str } is Conflict, "ospf-stub-backbone", "kind={kind}: the backbone, area 0, carries what the others hear of each other";
        /// An area whose routers would reach no other area.
        NormalWithoutSummaries {} is Conflict, "ospf-normal-without-summaries", "summaries=false: only an area of kind stub or nssa has a default route in their place";
        /// Settings of an area whose boundary routers announce networks outside to it alone.
        NoNssa { kind: &'static str } is Conflict, "ospf-no-nssa", "kind={kind}: only an area of kind nssa has 'nssa'";
        /// An area that is described twice.
        AreaTwice { area: String } is Conflict, "ospf-area-twice", "area {area} stands in the list already";
        /// A rule that asks or sets what only routes of BGP have.
        RuleOfBgp { what: String } is Conflict, "ospf-rule-of-bgp", "{what} means nothing in OSPF: rules here ask for 'prefixes' and 'tag', and set 'set_metric' and 'set_tag'";
    }
}

base::record! {
    /// How computations of paths are delayed after changes (RFC 8405).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct OspfSpfSpec called "OspfSpf" {
        /// From a change to the computation when all was quiet: INITIAL_SPF_DELAY.
        pub initial: Span = DelayConfig::default().initial, in 0..=9_000_000_000_000_000_000;
        /// The same while what belongs to one failure may still come: SHORT_SPF_DELAY.
        pub short: Span = DelayConfig::default().short, in 0..=9_000_000_000_000_000_000;
        /// The same while changes go on: LONG_SPF_DELAY.
        pub long: Span = DelayConfig::default().long, in 0..=9_000_000_000_000_000_000;
        /// So long it takes until all is known that belongs to one failure: TIME_TO_LEARN_INTERVAL.
        pub learn: Span = DelayConfig::default().learn, in 0..=9_000_000_000_000_000_000;
        /// So long nothing changes until all is quiet again: HOLDDOWN_INTERVAL.
        pub hold_down: Span = DelayConfig::default().hold_down, in 0..=9_000_000_000_000_000_000;
    }
    check OspfSpfSpec::check;
}

impl Default for OspfSpfSpec {
    fn default() -> OspfSpfSpec {
        let DelayConfig { initial, short, long, learn, hold_down } = DelayConfig::default();
        OspfSpfSpec { initial, short, long, learn, hold_down }
    }
}

impl OspfSpfSpec {
    fn check(&self) -> Result<(), Diagnostic> {
        if self.hold_down > self.learn {
            return Ok(());
        }
        let shown = |span: Span| span.write().as_text().unwrap_or_default().to_string();
        let (hold_down, learn) = (shown(self.hold_down), shown(self.learn));
        Err(Diagnostic::new(OspfProblem::HoldDownTooShort { hold_down, learn }).at("hold_down"))
    }

    fn config(&self) -> DelayConfig {
        let OspfSpfSpec { initial, short, long, learn, hold_down } = *self;
        DelayConfig { initial, short, long, learn, hold_down }
    }
}

/// The number of an area: as a number, or written like an IPv4 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area(pub Ipv4Addr);

/// What the number of an area is like.
const AREA: &str = "the number of an area such as 0 or 0.0.0.1";

impl Describe for Area {
    fn read(value: &Value) -> Result<Area, Diagnostic> {
        match value {
            Value::Int(number) => {
                let number = u32::try_from(*number).map_err(|_| malformed(value, AREA))?;
                Ok(Area(Ipv4Addr::from_bits(number)))
            }
            Value::Text(text) => text.parse().map(Area).map_err(|_| malformed(value, AREA)),
            _ => Err(malformed(value, AREA)),
        }
    }
    fn write(&self) -> Value {
        self.0.to_string().into()
    }
    fn schema(known: &mut Schemas) -> Schema {
        let text = Schema::Text { form: AREA, pattern: None };
        Schema::OneOf(vec![u32::schema(known), text])
    }
    fn example() -> Option<&'static str> {
        Some("0")
    }
}

base::record! {
    /// Networks of an area that border routers announce to other areas as one, or not at all (RFC 2328, 3.5). Packets
    /// to it for which no closer route is known are dropped.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct OspfRangeSpec called "OspfRange" {
        /// All of the networks are in it.
        pub prefix: Prefix;
        /// Say it to other areas; with false they do not hear of its networks.
        pub advertise: bool = true;
        /// What it costs to get there.
        pub cost: Option<u32>, in 0..=16_777_214, absent "what the farthest of its networks costs";
    }
}

base::record! {
    /// Routes that a boundary router announces as networks outside (RFC 2328, 12.4.4).
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct OspfImportSpec called "OspfRedistribution" {
        /// Whose routes.
        pub from: Imported = Imported::Static;
        /// What it costs to go there from the boundary router on.
        pub metric: u32 = 20, in 0..=16_777_214;
        /// 1: the metric is added to the cost of the way to the boundary router; 2: it is more than any cost inside.
        pub metric_type: u8 = 2, in 1..=2;
        /// A number for other boundary routers; OSPF itself does not use it.
        pub tag: u32 = 0, in 0..=4_294_967_295;
        /// Which of them, and what is changed; without a rule, all of them. Rules may ask for `prefixes` and for the
        /// `tag` that the source gave, and set `set_metric` and `set_tag`.
        pub rules: Vec<PolicyRule> = Vec::new();
    }
    check OspfImportSpec::check;
}

impl OspfImportSpec {
    fn check(&self) -> Result<(), Diagnostic> {
        for (place, rule) in self.rules.iter().enumerate() {
            if let Some(what) = rule.of_bgp().next() {
                let problem = Diagnostic::new(OspfProblem::RuleOfBgp { what: what.into() });
                return Err(problem.at(what).at(place).at("rules"));
            }
        }
        Ok(())
    }

    fn config(&self) -> Redistribution {
        Redistribution {
            from: self.from,
            rules: self.rules.clone().into(),
            metric: self.metric,
            is_type2: self.metric_type == 2,
            tag: self.tag,
        }
    }
}

base::record! {
    /// Networks outside that boundary routers of an area announce, as its border routers pass them on: as one, or not
    /// at all (RFC 3101, 2.2).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct OspfOutsideRangeSpec called "OspfOutsideRange" {
        /// All of the networks are in it.
        pub prefix: Prefix;
        /// Pass it on; with false nobody else hears of its networks.
        pub advertise: bool = true;
        /// A number for other boundary routers.
        pub tag: u32 = 0, in 0..=4_294_967_295;
    }
}

base::record! {
    /// What border routers of an area do that is not so stubby (RFC 3101, D).
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct OspfNssaSpec called "OspfNssa" {
        /// When this one passes on what boundary routers of the area announce.
        pub translator: Translator = Translator::Candidate;
        /// So long it goes on to do so when another one is to do it.
        pub stability: Span = NssaConfig::default().stability, in 0..=9_000_000_000_000_000_000;
        /// What the metric of the default route is: of type 1 or 2.
        pub default_metric_type: u8 = 1, in 1..=2;
        /// Networks outside that are passed on as one, or not at all.
        pub ranges: Vec<OspfOutsideRangeSpec> = Vec::new();
    }
}

impl OspfNssaSpec {
    fn config(&self) -> NssaConfig {
        let range = |one: &OspfOutsideRangeSpec| OutsideRange {
            prefix: one.prefix,
            advertise: one.advertise,
            tag: one.tag,
        };
        NssaConfig {
            translator: self.translator,
            stability: self.stability,
            is_default_type2: self.default_metric_type == 2,
            ranges: self.ranges.iter().map(range).collect(),
        }
    }
}

base::record! {
    /// How an area is treated. All of its routers have to say the same `kind`, and its border routers the rest.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct OspfAreaSpec called "OspfArea" {
        /// Which one it is.
        pub area: Area;
        /// What comes in from outside.
        pub kind: AreaKind = AreaKind::Normal;
        /// Into an area of kind stub or nssa: networks of other areas, too, not the default route alone.
        pub summaries: bool = true;
        /// What the default route costs that border routers announce into an area of kind stub or nssa.
        pub default_cost: u32 = 1, in 0..=16_777_214;
        /// Its networks as other areas see them.
        pub ranges: Vec<OspfRangeSpec> = Vec::new();
        /// What border routers of an area of kind nssa do there.
        pub nssa: Option<OspfNssaSpec>, absent "as RFC 3101 has it";
    }
    check OspfAreaSpec::check;
}

impl OspfAreaSpec {
    fn check(&self) -> Result<(), Diagnostic> {
        let kind = self.kind.word();
        match (self.kind, self.area.0, self.summaries) {
            (AreaKind::Stub | AreaKind::Nssa, BACKBONE, _) => {
                Err(Diagnostic::new(OspfProblem::StubBackbone { kind }).at("kind"))
            }
            (AreaKind::Normal | AreaKind::Stub, ..) if self.nssa.is_some() => {
                Err(Diagnostic::new(OspfProblem::NoNssa { kind }).at("nssa").on_key())
            }
            (AreaKind::Normal, _, false) => {
                Err(Diagnostic::new(OspfProblem::NormalWithoutSummaries {}).at("summaries"))
            }
            _ => Ok(()),
        }
    }

    fn config(&self) -> AreaConfig {
        let range =
            |one: &OspfRangeSpec| AreaRange { prefix: one.prefix, advertise: one.advertise, cost: one.cost };
        AreaConfig {
            kind: self.kind,
            summaries: self.summaries,
            default_cost: self.default_cost,
            ranges: self.ranges.iter().map(range).collect(),
            nssa: self.nssa.as_ref().map_or_else(NssaConfig::default, OspfNssaSpec::config),
        }
    }
}

base::record! {
    /// OSPF on a link of a router. What is absent is as for all of its links.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct OspfPortSpec called "OspfInterface" {
        /// Its area. The backbone, which joins all others, is area 0.
        pub area: Option<Area>, absent "0; of a link, that of the router";
        /// What it costs to send by it.
        pub cost: Option<u16>, in 1..=65_535, absent "the 'metric' of the link, or what the reference bandwidth makes of its rate";
        /// From a Hello to the next, in whole seconds.
        pub hello_interval: Option<Span>, in 1_000_000_000_000..=65_535_000_000_000_000, absent "10 s";
        /// A neighbour that is silent for so long is gone; in whole seconds.
        pub dead_interval: Option<Span>, in 1_000_000_000_000..=4_000_000_000_000_000_000, absent "four Hellos";
        /// How much it wants to be the designated router of a broadcast network; with 0 it never is.
        pub priority: Option<u8>, in 0..=255, absent "1";
        /// What a link is.
        pub network: Option<NetworkType>, absent "broadcast at a bridge, else point-to-point";
        /// Announce the link, but send and hear nothing.
        pub passive: Option<bool>, absent "towards hosts";
        /// How packets are authenticated.
        pub authentication: Option<OspfAuthSpec>, absent "not at all";
        /// After so long is sent again what was not acknowledged.
        pub retransmit_interval: Option<Span>, in 1_000_000_000_000..=3_600_000_000_000_000, absent "5 s";
        /// So much advertisements age when they are sent, in whole seconds.
        pub transmit_delay: Option<Span>, in 1_000_000_000_000..=3_600_000_000_000_000, absent "1 s";
        /// What it costs to traffic engineering.
        pub te_metric: Option<u32>, in 0..=4_294_967_295, absent "its 'cost'";
        /// Administrative groups that it belongs to (RFC 3630, 2.5.9): a bit for each, group 0 the lowest.
        pub te_groups: Option<u32>, in 0..=4_294_967_295, absent "none";
        /// Shared risk link groups (RFC 4203): links of one may fail together.
        pub srlgs: Vec<u32> = Vec::new();
        /// Have neighbours watched by BFD (RFC 5882): true, or how closely. One that does not answer any more is lost
        /// at once.
        pub bfd: Option<WatchSpec>, absent "false";
    }
    check OspfPortSpec::check;
}

/// What both ends of a link have to agree on first.
const AREA_OF_LINK: &str = "area";

/// From a Hello to the next where nobody says anything (RFC 2328, C.3).
const HELLO: Span = Span::from_secs(10);

/// Seconds of a time that is whole ones.
fn seconds(span: Span) -> u32 {
    u32::try_from(span.0 / Span::from_secs(1).0).unwrap_or(u32::MAX)
}

impl OspfPortSpec {
    pub(super) fn check(&self) -> Result<(), Diagnostic> {
        let times = [
            ("hello_interval", self.hello_interval),
            ("dead_interval", self.dead_interval),
            ("transmit_delay", self.transmit_delay),
        ];
        for (key, span) in times {
            if let Some(span) = span.filter(|span| span.0 % Span::from_secs(1).0 != 0) {
                return Err(OspfProblem::NotWhole { value: span.write().shown() }.into()).at(key);
            }
        }
        Ok(())
    }

    /// Is a neighbour there long enough to say Hello again?
    pub(super) fn check_dead(&self) -> Result<(), Diagnostic> {
        let hello = self.hello_interval.unwrap_or(HELLO);
        let shown = |span: Span| span.write().as_text().unwrap_or_default().to_string();
        match self.dead_interval {
            Some(dead) if dead <= hello => {
                let short = OspfProblem::DeadTooShort { dead: shown(dead), hello: shown(hello) };
                Err(Diagnostic::new(short).at("dead_interval").on_key())
            }
            _ => Ok(()),
        }
    }

    /// Settings with the times and the authentication that are said, and those of others where nothing is said.
    pub(super) fn timed(&self, usual: InterfaceConfig) -> InterfaceConfig {
        let hello = seconds(self.hello_interval.unwrap_or(HELLO));
        InterfaceConfig {
            hello_s: u16::try_from(hello).unwrap_or(u16::MAX),
            dead_s: self.dead_interval.map_or(hello.saturating_mul(4), seconds),
            retransmit: self.retransmit_interval.unwrap_or(usual.retransmit),
            transmit_delay_s: self.transmit_delay.map_or(usual.transmit_delay_s, |span| seconds(span) as u16),
            auth: self.authentication.as_ref().map_or_else(Keys::default, OspfAuthSpec::keys),
            ..usual
        }
    }

    /// The same where what is absent is as in another.
    fn over(&self, usual: &OspfPortSpec) -> OspfPortSpec {
        // Who says how often Hellos come means four of them, whatever is usual.
        let dead =
            self.dead_interval.or_else(|| usual.dead_interval.filter(|_| self.hello_interval.is_none()));
        OspfPortSpec {
            area: self.area.or(usual.area),
            cost: self.cost.or(usual.cost),
            hello_interval: self.hello_interval.or(usual.hello_interval),
            dead_interval: dead,
            priority: self.priority.or(usual.priority),
            network: self.network.or(usual.network),
            passive: self.passive.or(usual.passive),
            authentication: self.authentication.clone().or_else(|| usual.authentication.clone()),
            retransmit_interval: self.retransmit_interval.or(usual.retransmit_interval),
            transmit_delay: self.transmit_delay.or(usual.transmit_delay),
            te_metric: self.te_metric.or(usual.te_metric),
            te_groups: self.te_groups.or(usual.te_groups),
            srlgs: if self.srlgs.is_empty() { usual.srlgs.clone() } else { self.srlgs.clone() },
            bfd: self.bfd.or(usual.bfd),
        }
    }
}

base::record! {
    /// OSPF version 2 (RFC 2328): true, or how. A router that speaks it has no routes by shortest paths
    /// but those that it finds. What is said here of links holds for all of its links.
    #[derive(Clone, Debug, PartialEq)]
    pub struct OspfSpec called "Ospf" {
        /// How areas are treated, if not as usual.
        pub areas: Vec<OspfAreaSpec> = Vec::new();
        /// The number that neighbours know the router by.
        pub router_id: Option<Ipv4Addr>, absent "its loopback address";
        /// A link costs this divided by its rate, and 1 at least.
        pub reference_bandwidth: Option<Rate>, in 1..=1_000_000_000_000_000_000, absent "links cost their 'metric'";
        /// Announce that nothing is to go through the router (RFC 6987): others take it only where there is no other
        /// way.
        pub stub_router: bool = false;
        /// Announce what may be reserved on links and what is left of it, and keep what others announce (RFC 3630).
        /// All routers of an area have to, or at least take opaque advertisements, or what lies behind the others is
        /// not heard of.
        pub te: bool = false;
        /// Take opaque advertisements, such as those of `te`, and flood them, though this router has no use for them
        /// (RFC 5250, RFC 3630, 1). With `te` it does so in any case.
        pub opaque: bool = false;
        /// How computations of paths are delayed.
        pub spf: OspfSpfSpec = OspfSpfSpec::default();
        /// Routes of others that it announces as networks outside: it is a boundary router then.
        pub redistribute: Vec<OspfImportSpec> = Vec::new();
        /// Ways through other areas that join it to routers of the backbone.
        pub virtual_links: Vec<OspfVirtualLinkSpec> = Vec::new();
        /// Settings for single links, by the node at the other end.
        pub interfaces: Vec<(Name, OspfPortSpec)> = Vec::new();
    }
    beside {
        /// What holds for all links.
        pub usual: OspfPortSpec
    }
    check OspfSpec::check;
    read by switch;
}

impl OspfSpec {
    fn check(&self) -> Result<(), Diagnostic> {
        self.usual.check_dead()?;
        for (place, one) in self.areas.iter().enumerate() {
            let is_twice = self.areas[..place].iter().any(|other| other.area == one.area);
            if is_twice {
                let twice = OspfProblem::AreaTwice { area: one.area.0.to_string() };
                return Err(twice.into()).at("area").at(place).at("areas");
            }
        }
        for (node, own) in &self.interfaces {
            own.over(&self.usual).check_dead().at(&**node).at("interfaces")?;
        }
        self.check_virtual_links()
    }

    /// The area of the router, and of all links of which nothing else is said.
    fn area(&self) -> Ipv4Addr {
        self.usual.area.map_or(BACKBONE, |area| area.0)
    }

    /// The area of a link, by the node at its other end.
    pub(super) fn area_towards(&self, node: &str) -> Ipv4Addr {
        let own = self.interfaces.iter().find(|(name, _)| **name == *node);
        own.and_then(|(_, own)| own.area).map_or_else(|| self.area(), |area| area.0)
    }

    /// What of an area comes in from outside.
    pub(super) fn kind_of(&self, area: Ipv4Addr) -> AreaKind {
        self.areas.iter().find(|one| one.area.0 == area).map_or(AreaKind::Normal, |one| one.kind)
    }

    /// The settings of a port.
    fn at(&self, attached: &Attached) -> OspfPortSpec {
        let own = self.interfaces.iter().find(|(node, _)| **node == *attached.node);
        own.map_or_else(|| self.usual.clone(), |(_, own)| own.over(&self.usual))
    }

    /// Is a port announced, and no more? What measures hears nothing in any case, and no host unless somebody says so.
    fn is_passive(said: &OspfPortSpec, attached: &Attached) -> bool {
        match attached.beyond {
            Beyond::Instrument => true,
            Beyond::Host => said.passive.unwrap_or(true),
            Beyond::Router | Beyond::Segment => said.passive.unwrap_or(false),
        }
    }

    /// What it costs to send by a port, which may be more than messages can say.
    fn cost_asked(&self, said: &OspfPortSpec, attached: &Attached, metric: u64) -> u64 {
        let cost = match (said.cost, self.reference_bandwidth) {
            (Some(cost), _) => cost.into(),
            (None, Some(reference)) if attached.rate.0 > 0 => reference.0 / attached.rate.0,
            (None, Some(_)) => 1,
            (None, None) => metric,
        };
        cost.max(1)
    }

    fn interface(&self, attached: &Attached, metric: u64) -> InterfaceConfig {
        let said = self.at(attached);
        let timed = said.timed(InterfaceConfig::default());
        InterfaceConfig {
            area: match attached.beyond {
                Beyond::Instrument => None,
                Beyond::Router | Beyond::Segment | Beyond::Host => {
                    Some(said.area.map_or_else(|| self.area(), |area| area.0))
                }
            },
            network: said.network.unwrap_or(match attached.beyond {
                Beyond::Segment => NetworkType::Broadcast,
                Beyond::Router | Beyond::Host | Beyond::Instrument => NetworkType::PointToPoint,
            }),
            passive: OspfSpec::is_passive(&said, attached),
            cost: u16::try_from(self.cost_asked(&said, attached, metric)).unwrap_or(u16::MAX),
            priority: said.priority.unwrap_or(timed.priority),
            te: Attributes { metric: said.te_metric, groups: said.te_groups.unwrap_or(0), srlgs: said.srlgs },
            bfd: said.bfd.and_then(|said| said.0),
            ..timed
        }
    }
}

impl Setup for OspfSpec {
    fn protocol(&self, services: &Services) -> Box<dyn Protocol> {
        let known = &services.interfaces;
        let attached = |port| known.attached(port).cloned().unwrap_or_default();
        let of = |interface: &Interface, attached: &Attached| self.interface(attached, interface.cost);
        let interfaces = known.ports().map(|(port, one)| (port, of(one, &attached(port)))).collect();
        let beside = known.ports().filter_map(|(port, _)| Some((attached(port).silent?, port)));
        let config = Config {
            area: self.area(),
            areas: self.areas.iter().map(|one| (one.area.0, one.config())).collect(),
            redistribute: self.redistribute.iter().map(OspfImportSpec::config).collect(),
            router_id: self.router_id,
            stub_router: self.stub_router,
            te: self.te,
            opaque: self.opaque,
            delay: self.spf.config(),
            interfaces,
            virtual_links: self.virtual_links.iter().filter_map(OspfVirtualLinkSpec::config).collect(),
            hosts: beside.collect(),
        };
        Box::new(Ospf::new(known.router_id, config))
    }

    fn finds_routes(&self) -> bool {
        true
    }

    fn knows_links(&self) -> bool {
        self.te
    }

    fn watches(&self) -> bool {
        let own = self.interfaces.iter().map(|(_, own)| own.bfd);
        let links = self.virtual_links.iter().map(|link| link.bfd);
        let mut all = own.chain(links).chain([self.usual.bfd]).flatten();
        all.any(|bfd| bfd.0.is_some())
    }

    fn watches_at(&self, attached: &Attached) -> bool {
        let config = self.interface(attached, 1);
        config.bfd.is_some() && !config.passive
    }

    fn watches_afar(&self) -> Vec<&str> {
        let watched = self.virtual_links.iter().filter(|link| link.bfd.is_some_and(|bfd| bfd.0.is_some()));
        watched.map(|link| &*link.router).collect()
    }

    fn neighbors(&self) -> (&'static str, Vec<&str>) {
        ("interfaces", self.interfaces.iter().map(|(node, _)| &**node).collect())
    }

    fn router_id(&self) -> Option<Ipv4Addr> {
        self.router_id
    }

    fn joins(&self) -> (&'static str, Vec<Join<'_>>) {
        ("virtual_links", self.virtual_joins())
    }

    fn check_links(&self, nodes: &[&str]) -> Result<(), Diagnostic> {
        self.check_areas(nodes)
    }

    fn with_router_ids(&self, id_of: &dyn Fn(&str) -> Option<Ipv4Addr>) -> Option<Arc<dyn Setup>> {
        (!self.virtual_links.is_empty()).then(|| Arc::new(self.with_ids(id_of)) as Arc<dyn Setup>)
    }

    fn cost(&self, attached: &Attached, metric: u64) -> Option<u64> {
        Some(u64::from(self.interface(attached, metric).cost))
    }

    fn cost_cut(&self, attached: &Attached, metric: u64) -> Option<(u64, u64)> {
        let (asked, most) = (self.cost_asked(&self.at(attached), attached, metric), u64::from(u16::MAX));
        // What measures hears of no cost.
        (asked > most && attached.beyond != Beyond::Instrument).then_some((asked, most))
    }

    fn center(&self) -> Option<(&'static str, String)> {
        Some((AREA_OF_LINK, BACKBONE.to_string()))
    }

    fn agreements(&self, attached: &Attached, mtu: u32) -> Option<Vec<Agreement>> {
        let config = self.interface(attached, 1);
        if config.passive {
            return None;
        }
        let area = config.area.unwrap_or_else(|| self.area());
        let agree = Agreement::open;
        let mut all = vec![
            agree(AREA_OF_LINK, area.to_string()),
            agree("kind of area", self.kind_of(area).word().to_string()),
            agree("hello interval", format!("{} s", config.hello_s)),
            agree("dead interval", format!("{} s", config.dead_s)),
            agree("kind of network", config.network.word().to_string()),
            agree("MTU", format!("{mtu} bytes")),
        ];
        let said = self.at(attached).authentication.unwrap_or_default();
        all.extend(said.agreements(["authentication", "secret of the key"]));
        Some(all)
    }
}

impl Section<dyn Setup> for OspfSpec {
    fn setup(&self) -> Arc<dyn Setup> {
        Arc::new(self.clone())
    }
}
