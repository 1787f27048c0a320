//! What users write of core-based trees at a router.

use super::Cbt;
use crate::protocol::{Protocol, Setup};
use crate::services::Services;
use base::Span;
use base::describe::Section;
use base::diagnostic::{Diagnostic, Step};
use core::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

base::problems! {
    /// Problems of the settings of core-based trees.
    pub enum CbtProblem {
        /// An address that is no group, or one of a single link.
        NoGroup { group: String } is OutOfRange, "cbt-no-group", "{group} is no group that routers forward: those are 224.0.1.0 to 239.255.255.255";
        /// A group that has two cores.
        GroupTwice { group: String } is Conflict, "cbt-group-twice", "group {group} stands in the list already: it has one core";
        /// A core that is a group itself, or no address of a router.
        NoCore { core: String, group: String } is OutOfRange, "cbt-no-core", "core={core} of group {group}: a router's address is needed";
    }
}

base::record! {
    /// A group and the core of its tree.
    #[derive(Clone, Debug, PartialEq)]
    pub struct CbtGroupSpec called "CbtGroup" {
        /// The group.
        pub group: Ipv4Addr;
        /// An address of the core, the router that the tree grows from: all routers of the tree have to say the same.
        pub core: Ipv4Addr;
    }
}

base::record! {
    /// Core-based trees: label-switched, and the same for all senders of a group.
    #[derive(Clone, Debug, PartialEq)]
    pub struct CbtSpec called "Cbt" {
        /// The groups, each with its core.
        pub groups: Vec<CbtGroupSpec> = Vec::new();
        /// Do routers hand out labels along the tree, so that only its edges look at IP headers?
        pub labels: bool = true;
        /// Time between two messages by which a child asks for its parent.
        pub echo_interval: Span = Span::from_secs(60), in 1_000_000_000..=3_600_000_000_000_000;
        /// A join is repeated after so long.
        pub retransmit_interval: Span = Span::from_secs(5), in 1_000_000_000..=3_600_000_000_000_000;
    }
    check CbtSpec::check;
}

impl CbtSpec {
    fn check(&self) -> Result<(), Diagnostic> {
        for (place, spec) in self.groups.iter().enumerate() {
            let CbtGroupSpec { group, core } = *spec;
            let is_local = base::plane::is_link_local_group(group.into());
            let (name, core_name) = (group.to_string(), core.to_string());
            let before = self.groups.iter().take(place).any(|other| other.group == group);
            let problem: Diagnostic = if !group.is_multicast() || is_local {
                Diagnostic::new(CbtProblem::NoGroup { group: name }).at("group")
            } else if core.is_multicast() || core.is_unspecified() || core.is_broadcast() {
                Diagnostic::new(CbtProblem::NoCore { core: core_name, group: name }).at("core")
            } else if before {
                Diagnostic::new(CbtProblem::GroupTwice { group: name }).at("group")
            } else {
                continue;
            };
            return Err(problem.at(Step::Index(place)).at("groups"));
        }
        Ok(())
    }

    /// A parent that does not answer for so long is gone (RFC 2189, 6: GROUP_EXPIRE_TIME).
    pub(super) fn expire_time(&self) -> Span {
        Span(self.echo_interval.0 / 2 * 3)
    }

    /// So long a join may take (RFC 2189, 6: JOIN_TIMEOUT).
    pub(super) fn join_timeout(&self) -> Span {
        Span(self.retransmit_interval.0 / 2 * 7)
    }
}

impl Section<dyn Setup> for CbtSpec {
    fn setup(&self) -> Arc<dyn Setup> {
        Arc::new(self.clone())
    }
}

impl Setup for CbtSpec {
    fn protocol(&self, services: &Services) -> Box<dyn Protocol> {
        Box::new(Cbt::new(self.clone(), services))
    }

    fn brings(&self, group: IpAddr) -> Option<bool> {
        Some(self.groups.iter().any(|known| IpAddr::V4(known.group) == group))
    }
}
