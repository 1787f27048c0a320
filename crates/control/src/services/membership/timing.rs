//! How often is asked, and how long an answer holds.

use base::Span;

/// The settings of a router's questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timing {
    /// So many messages are sent where one may get lost.
    pub robustness: u8,
    /// Time between two general queries.
    pub query_interval: Span,
    /// Time in which hosts answer them.
    pub response_interval: Span,
    /// Time between two queries about what somebody has left, in which hosts answer.
    pub last_listener_interval: Span,
}

impl Timing {
    fn times(&self, span: Span) -> Span {
        Span(span.0.saturating_mul(i64::from(self.robustness)))
    }

    /// How long an answer holds (RFC 3376, 8.4; RFC 3810, 9.4).
    pub(crate) fn listening_interval(&self) -> Span {
        self.times(self.query_interval) + self.response_interval
    }

    /// After so long without a query of the other querier it is gone (RFC 3376, 8.5; RFC 3810, 9.5).
    pub(crate) fn other_querier_interval(&self) -> Span {
        self.times(self.query_interval) + Span(self.response_interval.0 / 2)
    }

    /// Time until what is asked about in the end is forgotten (RFC 3376, 8.10; RFC 3810, 9.10).
    pub(crate) fn last_listener_time(&self) -> Span {
        self.times(self.last_listener_interval)
    }
}
