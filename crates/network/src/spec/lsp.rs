//! LSPs as users write them.

use super::path::PathSpec;
use super::problem::NetworkProblem;
use super::protection::{ProtectionMethod, ProtectionSpec};
use super::reference::{HopSpec, NodeRef};
use crate::description;
use base::describe::{Name, Several};
use base::diagnostic::Diagnostic;
use base::flow_spec::FilterSpec;
use base::plane::{IpPrefix, Prefix, Prefix6};
use base::{LspDiffServ, PhbSet, Rate, Span};
use control::rsvp::command::{ReservationStyle, WhenDown};
use control::services::{PingSpec, WatchSpec};

base::record! {
    /// A label-switched path from one router to another, or a group of them that differ only by number.
    #[derive(Clone, Debug, PartialEq)]
    pub struct LspSpec {
        /// Its name; in a group each has its number behind, from 1 on.
        pub name: Name;
        /// Router where it begins.
        pub from: NodeRef;
        /// Router where it ends.
        pub to: NodeRef;
        /// How many alike.
        pub count: u32 = 1, in 1..=1_000_000;
        /// Routers after the first, each the next one on the way; NODE:INTERFACE if links are parallel.
        pub route: Vec<HopSpec> = Vec::new(), absent "the head end computes a path if it knows of traffic engineering, else routers decide hop by hop";
        /// Route that is tried when the other fails.
        pub fallback: Vec<HopSpec> = Vec::new(), absent "none";
        /// Other routers may be between those of the routes.
        pub loose: bool = false;
        /// Take the shortest path as explicit route, after those that are said.
        pub shortest: bool = false;
        /// What is asked of a computed path (OSPF with `te`).
        pub path: Option<PathSpec>, absent "one is computed all the same where it can be";
        /// Have routers lead it around links, or routers, that fail (RFC 4090).
        pub protection: Option<ProtectionSpec>, absent "it is not protected";
        /// It is a bypass tunnel, which LSPs with `protection` take that leave its first router by this link, when that
        /// fails: the router at the far end, or NODE:INTERFACE if links are parallel. It ends there, or at the router
        /// after that on their way.
        pub bypass: Option<HopSpec>, absent "it is none";
        /// Bandwidth to reserve for each.
        pub bandwidth: Rate = Rate(0);
        /// Destinations whose packets take it, one prefix or several.
        pub carries: Option<Several<IpPrefix>>, absent "its test packets only";
        /// Routes to what lies behind its end, by all shortest paths of OSPF (with `te`), lead through it.
        pub autoroute: bool = false;
        /// Packets that take it wherever they go.
        pub filters: Vec<FilterSpec> = Vec::new();
        /// What becomes of the packets of `filters` while it is down: they go by `route`, or the head end has them
        /// `drop`ped.
        pub when_down: WhenDown = WhenDown::Route;
        /// Have it watched by BFD (RFC 5884): true, or how closely. One whose end is not heard any more fails as after
        /// an error. Both ends have to be routers here, or speak BFD.
        pub bfd: WatchSpec, absent "false";
        /// Have it watched by LSP ping alone (RFC 8029): true, or how closely. One whose end does not answer any more,
        /// or that ends somewhere else, fails as after an error. Its end has to be a router that answers LSP ping, and
        /// that need not speak BFD.
        pub lsp_ping: PingSpec, absent "false";
        /// Per-hop behaviours whose packets take it on their way to `carries`.
        pub classes: Option<PhbSet>, absent "all";
        /// `e-lsp`, `l-lsp AF1`, or more of it (RFC 3270).
        pub diffserv: Option<LspDiffServ>, absent "nothing is signalled of classes";
        /// Setup priority (RFC 3209, 4.7): 0 is the highest.
        pub setup_priority: u8 = 7, in 0..=7;
        /// Holding priority: 0 is the highest.
        pub holding_priority: Option<u8>, in 0..=7, absent "the setup priority";
        /// Reservation style.
        pub style: ReservationStyle = ReservationStyle::SharedExplicit;
        /// Record the route (RFC 3209, 4.4).
        pub record_route: bool = true;
        /// Record the labels, too.
        pub record_labels: bool = false;
        /// Time before the first retry after a failure; it doubles with each up to `retry_max`.
        pub retry_first: Span = Span::from_secs(1);
        /// Longest time between retries.
        pub retry_max: Span = Span::from_secs(60);
        /// How many retries.
        pub retry_limit: Option<u32>, absent "without limit";
        /// Signal it at once; an edge leaves it to its programme.
        pub signal: bool = true;
    }
    check LspSpec::check;
}

/// A route whose names lead somewhere, as it is built.
pub fn lowered_route(route: &[HopSpec]) -> Vec<description::HopSpec> {
    let hop = |hop: &HopSpec| match hop {
        HopSpec::Node(node) => description::HopSpec::Node(node.index()),
        HopSpec::Interface(end) => description::HopSpec::Node(end.node.index()),
        HopSpec::Link(link) => description::HopSpec::Link { link: *link },
    };
    route.iter().map(hop).collect()
}

impl LspSpec {
    /// Its holding priority, said or not.
    pub fn holding_priority(&self) -> u8 {
        self.holding_priority.unwrap_or(self.setup_priority)
    }

    /// The explicit routes in order of preference.
    pub fn routes(&self) -> impl Iterator<Item = &[HopSpec]> {
        [&self.route[..], &self.fallback[..]].into_iter().filter(|route| !route.is_empty())
    }

    /// The prefixes whose packets take it.
    pub fn carries(&self) -> &[IpPrefix] {
        self.carries.as_ref().map_or(&[], |several| &several.0)
    }

    /// Those of them that are of IPv4, and of IPv6.
    fn carries_by_family(&self) -> (Vec<Prefix>, Vec<Prefix6>) {
        let (mut v4, mut v6) = (Vec::new(), Vec::new());
        for prefix in self.carries() {
            match *prefix {
                IpPrefix::V4(prefix) => v4.push(prefix),
                IpPrefix::V6(prefix) => v6.push(prefix),
            }
        }
        (v4, v6)
    }

    /// The group as it is built; its names lead somewhere.
    pub fn lowered(&self) -> description::LspSpec {
        let (carries, carries6) = self.carries_by_family();
        let path = self.path.as_ref().map(PathSpec::lowered);
        let path = match self.protection {
            Some(asked) => asked.of_path(path),
            None => path,
        };
        description::LspSpec {
            name: self.name.to_string(),
            from: self.from.index(),
            to: self.to.index(),
            count: self.count,
            routes: self.routes().map(lowered_route).collect(),
            loose: self.loose,
            shortest: self.shortest,
            path,
            protection: self.protection.and_then(ProtectionSpec::lowered),
            bypass: self.bypass.as_ref().and_then(|hop| lowered_route(core::slice::from_ref(hop)).pop()),
            bandwidth: self.bandwidth,
            setup_priority: self.setup_priority,
            holding_priority: self.holding_priority(),
            style: self.style,
            record_route: self.record_route,
            record_labels: self.record_labels,
            retry_first: self.retry_first,
            retry_max: self.retry_max,
            retry_limit: self.retry_limit,
            auto: self.signal,
            carries,
            carries6,
            autoroute: self.autoroute,
            classes: self.classes,
            diffserv: self.diffserv,
            filters: self.filters.iter().map(|filter| (*filter).into()).collect(),
            when_down: self.when_down,
            watch: self.lsp_ping.or_bfd(self.bfd.0),
        }
    }

    /// What can be seen without the rest of the network.
    fn check(&self) -> Result<(), Diagnostic> {
        if self.from.name == self.to.name {
            return Err(NetworkProblem::LspWithoutWay { node: self.to.name.to_string() }.into());
        }
        self.lsp_ping.check_alone("bfd", self.bfd.0)?;
        if self.bypass.is_some() && self.protection.is_some() {
            return Err(Diagnostic::new(NetworkProblem::ProtectedBypass {}).at("bypass"));
        }
        if self.bypass.is_some() && self.count > 1 {
            return Err(Diagnostic::new(NetworkProblem::ManyBypasses { count: self.count }).at("bypass"));
        }
        let route = [
            ("route", !self.route.is_empty()),
            ("fallback", !self.fallback.is_empty()),
            ("shortest", self.shortest),
        ];
        if let (true, Some((route, _))) = (
            self.protection.is_some_and(ProtectionSpec::is_end_to_end),
            route.into_iter().find(|(_, said)| *said),
        ) {
            let beside = NetworkProblem::RouteBeside { key: "method", route };
            return Err(Diagnostic::new(beside).at("method").at("protection"));
        }
        if self.autoroute && self.protection.is_some_and(|asked| asked.method == ProtectionMethod::OnePlusOne)
        {
            return Err(Diagnostic::new(NetworkProblem::AutorouteTwice {}).at("autoroute"));
        }
        let several = self.path.as_ref().and_then(PathSpec::of_several);
        if let (Some(key), Some((route, _))) = (several, route.into_iter().find(|(_, said)| *said)) {
            let beside = NetworkProblem::RouteBeside { key, route };
            return Err(Diagnostic::new(beside).at(key).at("path"));
        }
        let (setup, holding) = (self.setup_priority, self.holding_priority());
        // RFC 3209, 4.7.3: the setup priority should never be higher than the holding priority.
        if holding > setup {
            let weak = NetworkProblem::WeakHolding { setup, holding };
            return Err(Diagnostic::new(weak).at("holding_priority"));
        }
        let carries = !self.carries().is_empty();
        if self.classes.is_some() && !carries {
            return Err(Diagnostic::new(NetworkProblem::ClassesOfNothing {}).at("classes"));
        }
        if self.classes.is_some() && self.carries().iter().any(|prefix| matches!(prefix, IpPrefix::V6(_))) {
            return Err(Diagnostic::new(NetworkProblem::ClassesOfIpv6 {}).at("classes"));
        }
        if self.when_down == WhenDown::Drop && self.filters.is_empty() {
            return Err(Diagnostic::new(NetworkProblem::DropsNothing {}).at("when_down"));
        }
        if self.count > 1 && (carries || !self.filters.is_empty()) {
            let key = if carries { "carries" } else { "filters" };
            let shared = NetworkProblem::GroupCarries { count: self.count, key: key.into() };
            return Err(Diagnostic::new(shared).at(key));
        }
        Ok(())
    }
}
