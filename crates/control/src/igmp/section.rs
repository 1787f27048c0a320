//! What users write of IGMP at a router.

use super::Igmp;
use crate::protocol::{Protocol, Setup};
use crate::services::Services;
use base::Span;
use base::describe::Section;
use base::diagnostic::{At, Diagnostic};
use std::sync::Arc;

base::problems! {
    /// Problems of the settings of IGMP.
    pub enum IgmpProblem {
        /// Hosts would still be answering when they are asked again (RFC 3376, 8.3).
        SlowAnswers { response: String, interval: String } is Conflict, "igmp-slow-answers", "response_interval={response} has to be below query_interval={interval}";
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
    }
    check IgmpSpec::check;
    read by switch;
}

impl IgmpSpec {
    fn check(&self) -> Result<(), Diagnostic> {
        if self.response_interval < self.query_interval {
            return Ok(());
        }
        let s = |span: Span| format!("{} s", span.as_secs_f64());
        let (response, interval) = (s(self.response_interval), s(self.query_interval));
        Err(IgmpProblem::SlowAnswers { response, interval }.into()).at("response_interval")
    }

    fn times(&self, span: Span) -> Span {
        Span(span.0.saturating_mul(i64::from(self.robustness)))
    }

    /// How long an answer holds (RFC 3376, 8.4).
    pub(super) fn membership_interval(&self) -> Span {
        self.times(self.query_interval) + self.response_interval
    }

    /// After so long without a query of the other querier it is gone (RFC 3376, 8.5).
    pub(super) fn other_querier_interval(&self) -> Span {
        self.times(self.query_interval) + Span(self.response_interval.0 / 2)
    }

    /// Time until what is asked about in the end is forgotten (RFC 3376, 8.10).
    pub(super) fn last_member_time(&self) -> Span {
        self.times(self.last_member_interval)
    }
}

impl Section<dyn Setup> for IgmpSpec {
    fn setup(&self) -> Arc<dyn Setup> {
        Arc::new(self.clone())
    }
}

impl Setup for IgmpSpec {
    fn protocol(&self, services: &Services) -> Box<dyn Protocol> {
        Box::new(Igmp::new(self.clone(), services))
    }
}
