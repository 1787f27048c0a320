//! What users write of virtual links, and what follows from it.

use super::areas::{AreaKind, BACKBONE};
use super::auth_section::OspfAuthSpec;
use super::interface::{InterfaceConfig, NetworkType, VirtualLink};
use super::section::{Area, OspfPortSpec, OspfSpec};
use crate::protocol::{Agreement, Join};
use crate::services::WatchSpec;
use base::Span;
use base::diagnostic::Diagnostic;
use core::net::Ipv4Addr;
use std::collections::BTreeSet;

base::problems! {
    /// Problems of virtual links.
    pub enum VirtualLinkProblem {
        /// One that leads through what it is to join.
        Backbone {} is Conflict, "ospf-virtual-backbone", "a virtual link belongs to the backbone, area 0, and leads through another area";
        /// One through an area that does not hear of everything.
        Stub { area: String, kind: &'static str } is Conflict, "ospf-virtual-stub", "area {area} is of kind {kind}: no virtual link leads through it, since its routers do not know all networks (RFC 2328, 15)";
        /// One that stands there twice.
        Twice { area: String, router: String } is Conflict, "ospf-virtual-twice", "a virtual link to {router} through area {area} stands in the list already";
        /// One through an area that the router is not in.
        NotInArea { area: String, own: String } is Conflict, "ospf-virtual-not-in-area", "none of its links is in area {area}, which the virtual link leads through (its links are in {own})";
        /// One at a router of one area.
        NoBorder { area: String } is Conflict, "ospf-virtual-no-border", "all of its links are in area {area}: a virtual link joins border routers, which have links in another area, too (RFC 2328, 15)";
    }
}

base::record! {
    /// A virtual link (RFC 2328, 15): it joins a piece of the backbone, or a border router without a link there, to the
    /// rest, through another area. Both ends have to say it, and the same of it. What it costs follows from the way
    /// through the area.
    #[derive(Clone, Debug, PartialEq)]
    pub struct OspfVirtualLinkSpec called "OspfVirtualLink" {
        /// The area that it leads through: both ends have links there. It is of kind normal, and not the backbone.
        pub area: Area;
        /// Its other end, a border router: the name of the node, or its router id.
        pub router: String;
        /// From a Hello to the next, in whole seconds.
        pub hello_interval: Option<Span>, in 1_000_000_000_000..=65_535_000_000_000_000, absent "10 s";
        /// The other end is gone if it is silent for so long; in whole seconds.
        pub dead_interval: Option<Span>, in 1_000_000_000_000..=4_000_000_000_000_000_000, absent "four Hellos";
        /// How packets are authenticated.
        pub authentication: Option<OspfAuthSpec>, absent "not at all";
        /// After so long is sent again what was not acknowledged: longer than a packet takes there and back.
        pub retransmit_interval: Option<Span>, in 1_000_000_000_000..=3_600_000_000_000_000, absent "5 s";
        /// So much advertisements age when they are sent, in whole seconds.
        pub transmit_delay: Option<Span>, in 1_000_000_000_000..=3_600_000_000_000_000, absent "1 s";
        /// Have the other end watched by BFD over any number of routers (RFC 5883): true, or how closely. If it does
        /// not answer any more, it is lost at once.
        pub bfd: Option<WatchSpec>, absent "false";
    }
    check OspfVirtualLinkSpec::check;
}

impl OspfVirtualLinkSpec {
    fn check(&self) -> Result<(), Diagnostic> {
        let said = self.as_of_port();
        said.check()?;
        said.check_dead()?;
        match self.area.0 {
            BACKBONE => Err(Diagnostic::new(VirtualLinkProblem::Backbone {}).at("area")),
            _ => Ok(()),
        }
    }

    /// What is said of it as if it was said of a port.
    fn as_of_port(&self) -> OspfPortSpec {
        OspfPortSpec {
            area: Some(Area(BACKBONE)),
            network: Some(NetworkType::PointToPoint),
            hello_interval: self.hello_interval,
            dead_interval: self.dead_interval,
            authentication: self.authentication.clone(),
            retransmit_interval: self.retransmit_interval,
            transmit_delay: self.transmit_delay,
            ..OspfPortSpec::default()
        }
    }

    /// How it is treated, by the router id of its other end; nothing if that is not known.
    pub(super) fn config(&self) -> Option<(VirtualLink, InterfaceConfig)> {
        let link = VirtualLink { area: self.area.0, router: self.router.parse().ok()? };
        let bfd = self.bfd.and_then(|said| said.0);
        let usual = InterfaceConfig { area: Some(BACKBONE), bfd, ..InterfaceConfig::default() };
        Some((link, self.as_of_port().timed(usual)))
    }

    fn join(&self) -> Join<'_> {
        let config = self.as_of_port().timed(InterfaceConfig::default());
        let agree = Agreement::open;
        let mut wants = vec![
            agree("hello interval of the virtual link", format!("{} s", config.hello_s)),
            agree("dead interval of the virtual link", format!("{} s", config.dead_s)),
        ];
        let said = self.authentication.clone().unwrap_or_default();
        wants.extend(
            said.agreements(["authentication of the virtual link", "secret of the key of the virtual link"]),
        );
        Join { router: &self.router, region: self.area.0.to_string(), wants }
    }
}

impl OspfSpec {
    /// Is each virtual link one, as far as this router's settings say?
    pub(super) fn check_virtual_links(&self) -> Result<(), Diagnostic> {
        for (place, one) in self.virtual_links.iter().enumerate() {
            let (area, kind) = (one.area.0, self.kind_of(one.area.0));
            let is_same =
                |other: &OspfVirtualLinkSpec| (other.area, &other.router) == (one.area, &one.router);
            let problem = if kind != AreaKind::Normal {
                VirtualLinkProblem::Stub { area: area.to_string(), kind: kind.word() }
            } else if self.virtual_links[..place].iter().any(is_same) {
                VirtualLinkProblem::Twice { area: area.to_string(), router: one.router.clone() }
            } else {
                continue;
            };
            return Err(Diagnostic::new(problem).at("area").at(place).at("virtual_links"));
        }
        Ok(())
    }

    /// Is each of them one, with links to these nodes?
    pub(super) fn check_areas(&self, nodes: &[&str]) -> Result<(), Diagnostic> {
        let areas: BTreeSet<Ipv4Addr> = nodes.iter().map(|node| self.area_towards(node)).collect();
        for (place, one) in self.virtual_links.iter().enumerate() {
            let area = one.area.0.to_string();
            let problem = if !areas.contains(&one.area.0) {
                let own: Vec<String> = areas.iter().map(|area| format!("area {area}")).collect();
                let own = if own.is_empty() { "none, it has no link".to_string() } else { own.join(" and ") };
                VirtualLinkProblem::NotInArea { area, own }
            } else if areas.len() < 2 {
                VirtualLinkProblem::NoBorder { area }
            } else {
                continue;
            };
            return Err(Diagnostic::new(problem).at("area").at(place).at("virtual_links"));
        }
        Ok(())
    }

    /// The routers that virtual links lead to.
    pub(super) fn virtual_joins(&self) -> Vec<Join<'_>> {
        self.virtual_links.iter().map(OspfVirtualLinkSpec::join).collect()
    }

    /// The same with router ids in place of names.
    pub(super) fn with_ids(&self, id_of: &dyn Fn(&str) -> Option<Ipv4Addr>) -> OspfSpec {
        let mut same = self.clone();
        for link in &mut same.virtual_links {
            if let Some(id) = id_of(&link.router) {
                link.router = id.to_string();
            }
        }
        same
    }
}
