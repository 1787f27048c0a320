//! What users write of MLD at a router.

use super::Mld;
use crate::protocol::{Protocol, Setup};
use crate::services::Services;
use crate::services::membership::Timing;
use base::Span;
use base::describe::{Name, Section};
use base::diagnostic::{At, Diagnostic};
use base::plane::GroupKey;
use core::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

base::problems! {
    /// Problems of the settings of MLD.
    pub enum MldProblem {
        /// Hosts would still be answering when they are asked again (RFC 3810, 9.3).
        SlowAnswers { response: String, interval: String } is Conflict, "mld-slow-answers", "response_interval={response} has to be below query_interval={interval}";
        /// No group, or one that no router forwards.
        NoGroup { group: String } is OutOfRange, "mld-no-group", "{group}: a group of IPv6 of scope 3 or more is needed, such as ff3e::1, for those below are never forwarded";
        /// Nobody sends from there.
        NoSource { source: String } is OutOfRange, "mld-no-source", "{source}: the address of a host is needed";
        /// It is said already.
        StaticTwice { group: String } is Conflict, "mld-static-twice", "group {group} is there twice";
    }
}

base::record! {
    /// A group of IPv6 that is wanted on a link whatever hosts there say.
    #[derive(Clone, Debug, PartialEq)]
    pub struct MldStaticSpec called "MldStatic" {
        /// The group.
        pub group: Ipv6Addr;
        /// Only packets from this address are wanted.
        pub source: Option<Ipv6Addr>, absent "all of the group are";
    }
}

base::record! {
    /// MLD on the links to hosts and on shared segments: who wants which groups of IPv6.
    #[derive(Clone, Debug, PartialEq)]
    pub struct MldSpec called "Mld" {
        /// Version that it asks in: 1, or 2, which takes answers of version 1, too.
        pub version: u8 = 2, in 1..=2;
        /// Time between two general queries.
        pub query_interval: Span = Span::from_secs(125), in 1_000_000_000..=31_744_000_000_000_000;
        /// Time in which hosts answer them.
        pub response_interval: Span = Span::from_secs(10), in 1_000_000_000..=8_387_584_000_000_000;
        /// Time between two queries about a group that somebody has left, in which hosts answer.
        pub last_listener_interval: Span = Span::from_secs(1), in 1_000_000_000..=8_387_584_000_000_000;
        /// So many messages are sent where one may get lost.
        pub robustness: u8 = 2, in 1..=7;
        /// Groups whose packets go out on a link as long as it is up, though no host reports them, by the node at the
        /// other end.
        pub static_groups: Vec<(Name, Vec<MldStaticSpec>)> = Vec::new();
    }
    check MldSpec::check;
    read by switch;
}

impl MldSpec {
    fn check(&self) -> Result<(), Diagnostic> {
        for (node, all) in &self.static_groups {
            for (place, one) in all.iter().enumerate() {
                one.check(&all[..place]).at(place).at(&**node).at("static_groups")?;
            }
        }
        if self.response_interval < self.query_interval {
            return Ok(());
        }
        let s = |span: Span| format!("{} s", span.as_secs_f64());
        let (response, interval) = (s(self.response_interval), s(self.query_interval));
        Err(Diagnostic::new(MldProblem::SlowAnswers { response, interval }).at("response_interval").on_key())
    }

    /// The groups that are wanted on the link to a node whatever hosts say.
    pub(super) fn static_groups(&self, node: &str) -> impl Iterator<Item = &MldStaticSpec> {
        self.static_groups.iter().filter(move |(name, _)| **name == *node).flat_map(|(_, all)| all)
    }

    pub(super) fn timing(&self) -> Timing {
        Timing {
            robustness: self.robustness,
            query_interval: self.query_interval,
            response_interval: self.response_interval,
            last_listener_interval: self.last_listener_interval,
        }
    }
}

impl MldStaticSpec {
    fn check(&self, before: &[MldStaticSpec]) -> Result<(), Diagnostic> {
        let group = self.group.to_string();
        if !self.group.is_multicast() || base::plane::is_link_local_group(self.group.into()) {
            return Err(MldProblem::NoGroup { group }.into()).at("group");
        }
        let is_host = |source: Ipv6Addr| {
            !source.is_multicast()
                && !source.is_unspecified()
                && !source.is_loopback()
                && !source.is_unicast_link_local()
        };
        if let Some(source) = self.source.filter(|source| !is_host(*source)) {
            return Err(MldProblem::NoSource { source: source.to_string() }.into()).at("source");
        }
        if before.contains(self) {
            return Err(MldProblem::StaticTwice { group }.into());
        }
        Ok(())
    }

    /// As the service of groups has it.
    pub(super) fn key(&self) -> GroupKey {
        GroupKey { group: self.group.into(), source: self.source.map(Into::into) }
    }
}

impl Section<dyn Setup> for MldSpec {
    fn setup(&self) -> Arc<dyn Setup> {
        Arc::new(self.clone())
    }
}

impl Setup for MldSpec {
    fn hears_hosts(&self, group: IpAddr) -> bool {
        group.is_ipv6()
    }

    fn hears_sources(&self, group: IpAddr) -> bool {
        group.is_ipv6() && (self.version == 2 || !self.static_groups.is_empty())
    }

    fn protocol(&self, services: &Services) -> Box<dyn Protocol> {
        Box::new(Mld::new(self.clone(), services))
    }

    fn neighbors(&self) -> (&'static str, Vec<&str>) {
        ("static_groups", self.static_groups.iter().map(|(node, _)| &**node).collect())
    }
}
