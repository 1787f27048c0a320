//! What users write of PIM at a router.

use super::Pim;
use crate::protocol::{Protocol, Setup};
use crate::services::Services;
use base::Span;
use base::describe::Section;
use base::diagnostic::Diagnostic;
use base::plane::Prefix;
use core::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

base::problems! {
    /// Problems of the settings of PIM.
    pub enum PimProblem {
        /// Addresses that are no groups.
        NoGroups { range: String } is OutOfRange, "pim-no-groups", "range={range}: groups are addresses of 224.0.1.0 to 239.255.255.255, and 232.0.0.0/8 is set aside for named senders";
        /// What is joined would be forgotten while a Prune waits (RFC 7761, 4.9.5).
        ShortHold { hold: String, wait: String } is Conflict, "pim-short-hold", "join_interval: what is joined holds 3.5 times as long, {hold}, and that has to be longer than the {wait} that a Prune waits (propagation_delay and override_interval)";
    }
}

base::record! {
    /// PIM for source-specific groups: trees from named senders along the routes to them.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PimSpec called "Pim" {
        /// The groups: others are not forwarded by PIM.
        pub range: Prefix = Prefix::new(Ipv4Addr::new(232, 0, 0, 0), 8);
        /// Time between two Hellos; a router that is not heard for 3.5 times as long is gone.
        pub hello_interval: Span = Span::from_secs(30), in 1_000_000_000_000..=18_000_000_000_000_000;
        /// Time between two Joins for the same tree; it is left by who does not hear one for 3.5 times as long.
        pub join_interval: Span = Span::from_secs(60), in 1_000_000_000_000..=18_000_000_000_000_000;
        /// The router with the greatest speaks for the hosts of a link; of equal ones that with the greatest address.
        pub dr_priority: u32 = 1;
        /// How long a message is under way on a link at most.
        pub propagation_delay: Span = Span::from_ms(500), in 1_000_000_000..=32_767_000_000_000;
        /// Routers that answer a Prune of another on the link do so at a random time within this.
        pub override_interval: Span = Span::from_ms(2_500), in 1_000_000_000..=65_535_000_000_000;
        /// Does a router not send a Join that it has just heard from another on the link? All routers of a link have to
        /// say `false`, or they do.
        pub join_suppression: bool = true;
    }
    check PimSpec::check;
    read by switch;
}

impl PimSpec {
    fn check(&self) -> Result<(), Diagnostic> {
        let first = self.range.address();
        if !first.is_multicast() || self.range.len() < 4 || base::plane::is_link_local_group(first.into()) {
            let range = self.range.to_string();
            return Err(Diagnostic::new(PimProblem::NoGroups { range }).at("range").on_key());
        }
        let (hold, wait) =
            (three_and_a_half(self.join_interval), self.propagation_delay + self.override_interval);
        if hold > wait {
            return Ok(());
        }
        let [hold, wait] = [hold, wait].map(|span| format!("{} s", span.as_secs_f64()));
        Err(Diagnostic::new(PimProblem::ShortHold { hold, wait }).at("join_interval").on_key())
    }

    /// Seconds until a router that is not heard is gone (RFC 7761, 4.11).
    pub(super) fn hello_holdtime_s(&self) -> u16 {
        seconds(three_and_a_half(self.hello_interval))
    }

    /// Seconds until what is joined is forgotten (RFC 7761, 4.11).
    pub(super) fn join_holdtime_s(&self) -> u16 {
        seconds(three_and_a_half(self.join_interval))
    }

    /// Is a group in the range of named senders?
    pub(super) fn takes(&self, group: Ipv4Addr) -> bool {
        self.range.contains(group) && !base::plane::is_link_local_group(group.into())
    }
}

fn three_and_a_half(span: Span) -> Span {
    Span(span.0 / 2 * 7)
}

/// Whole seconds, at least as long.
fn seconds(span: Span) -> u16 {
    u16::try_from((span.0 + 999_999_999_999) / 1_000_000_000_000).unwrap_or(u16::MAX - 1)
}

impl Section<dyn Setup> for PimSpec {
    fn setup(&self) -> Arc<dyn Setup> {
        Arc::new(self.clone())
    }
}

impl Setup for PimSpec {
    fn protocol(&self, services: &Services) -> Box<dyn Protocol> {
        let random = services.streams.stream(&format!("{}/pim", services.interfaces.node));
        Box::new(Pim::new(self.clone(), services, random))
    }

    fn brings(&self, group: IpAddr) -> Option<bool> {
        Some(matches!(group, IpAddr::V4(group) if self.takes(group)))
    }

    fn needs_sources(&self) -> bool {
        true
    }
}
