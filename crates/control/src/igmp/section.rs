//! What users write of IGMP at a router.

use super::Igmp;
use crate::protocol::{Protocol, Setup};
use crate::services::Services;
use crate::services::membership::Timing;
use base::Span;
use base::describe::{Name, Section};
use base::diagnostic::{At, Diagnostic};
use base::plane::GroupKey;
use core::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

base::problems! {
    /// Problems of the settings of IGMP.
    pub enum IgmpProblem {
        /// Hosts would still be answering when they are asked again (RFC 3376, 8.3).
        SlowAnswers { response: String, interval: String } is Conflict, "igmp-slow-answers", "response_interval={response} has to be below query_interval={interval}";
        /// No group, or one that no router forwards.
        NoGroup { group: String } is OutOfRange, "igmp-no-group", "{group}: an address of 224.0.1.0 to 239.255.255.255 is needed, for those below are never forwarded";
        /// Nobody sends from there.
        NoSource { source: String } is OutOfRange, "igmp-no-source", "{source}: the address of a host is needed";
        /// It is said already.
        StaticTwice { group: String } is Conflict, "igmp-static-twice", "group {group} is there twice";
    }
}

base::record! {
    /// A group that is wanted on a link whatever hosts there say.
    #[derive(Clone, Debug, PartialEq)]
    pub struct IgmpStaticSpec called "IgmpStatic" {
        /// The group.
        pub group: Ipv4Addr;
        /// Only packets from this address are wanted.
        pub source: Option<Ipv4Addr>, absent "all of the group are";
    }
}

base::record! {
    /// IGMP on the links to hosts and on shared segments: who wants which groups.
    #[derive(Clone, Debug, PartialEq)]
    pub struct IgmpSpec called "Igmp" {
        /// Version that it asks in: 2, or 3, which takes answers of version 2, too.
        pub version: u8 = 3, in 2..=3;
        /// Time between two general queries.
        pub query_interval: Span = Span::from_secs(125), in 1_000_000_000..=31_744_000_000_000_000;
        /// Time in which hosts answer them.
        pub response_interval: Span = Span::from_secs(10), in 100_000_000_000..=3_174_400_000_000_000;
        /// Time between two queries about a group that somebody has left, in which hosts answer.
        pub last_member_interval: Span = Span::from_secs(1), in 100_000_000_000..=3_174_400_000_000_000;
        /// So many messages are sent where one may get lost.
        pub robustness: u8 = 2, in 1..=7;
        /// Groups whose packets go out on a link as long as it is up, though no host reports them, by the node at the
        /// other end.
        pub static_groups: Vec<(Name, Vec<IgmpStaticSpec>)> = Vec::new();
    }
    check IgmpSpec::check;
    read by switch;
}

impl IgmpSpec {
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
        Err(Diagnostic::new(IgmpProblem::SlowAnswers { response, interval }).at("response_interval").on_key())
    }

    /// The groups that are wanted on the link to a node whatever hosts say.
    pub(super) fn static_groups(&self, node: &str) -> impl Iterator<Item = &IgmpStaticSpec> {
        self.static_groups.iter().filter(move |(name, _)| **name == *node).flat_map(|(_, all)| all)
    }

    pub(super) fn timing(&self) -> Timing {
        Timing {
            robustness: self.robustness,
            query_interval: self.query_interval,
            response_interval: self.response_interval,
            last_listener_interval: self.last_member_interval,
        }
    }
}

impl IgmpStaticSpec {
    fn check(&self, before: &[IgmpStaticSpec]) -> Result<(), Diagnostic> {
        let group = self.group.to_string();
        if !self.group.is_multicast() || base::plane::is_link_local_group(self.group.into()) {
            return Err(IgmpProblem::NoGroup { group }.into()).at("group");
        }
        let is_host = |source: Ipv4Addr| {
            !source.is_multicast()
                && !source.is_unspecified()
                && !source.is_broadcast()
                && !source.is_loopback()
        };
        if let Some(source) = self.source.filter(|source| !is_host(*source)) {
            return Err(IgmpProblem::NoSource { source: source.to_string() }.into()).at("source");
        }
        if before.contains(self) {
            return Err(IgmpProblem::StaticTwice { group }.into());
        }
        Ok(())
    }

    /// As the service of groups has it.
    pub(super) fn key(&self) -> GroupKey {
        GroupKey { group: self.group.into(), source: self.source.map(Into::into) }
    }
}

impl Section<dyn Setup> for IgmpSpec {
    fn setup(&self) -> Arc<dyn Setup> {
        Arc::new(self.clone())
    }
}

impl Setup for IgmpSpec {
    fn hears_hosts(&self, group: IpAddr) -> bool {
        group.is_ipv4()
    }

    fn hears_sources(&self, group: IpAddr) -> bool {
        group.is_ipv4() && (self.version == 3 || !self.static_groups.is_empty())
    }

    fn protocol(&self, services: &Services) -> Box<dyn Protocol> {
        Box::new(Igmp::new(self.clone(), services))
    }

    fn neighbors(&self) -> (&'static str, Vec<&str>) {
        ("static_groups", self.static_groups.iter().map(|(node, _)| &**node).collect())
    }
}
