//! What a program does.

use base::{Span, Time};
use node::sessions::Options;

/// What is sent over a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// As much as goes.
    Bulk {
        /// Bytes that each sender sends on each connection; without a number until it stops.
        bytes: Option<u64>,
        /// Does the server send, too?
        both: bool,
    },
    /// A request, an answer, and the next request.
    Exchange {
        /// Bytes of a request.
        request: u64,
        /// Bytes of an answer.
        response: u64,
        /// How many there are on each connection; without a number until it stops.
        transactions: Option<u64>,
    },
}

/// A program at one end of the connections of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// The flow, by its place among those of TCP.
    pub flow: u32,
    /// What it does.
    pub work: Work,
    /// Bytes that it writes at a time, if it sends in bulk.
    pub message: u32,
    /// When connections are begun.
    pub start: Time,
    /// When nothing more is written, and connections are closed.
    pub stop: Option<Time>,
    /// How TCP behaves at this end.
    pub options: Options,
    /// Width of the bins of time in which it is watched, until there are too many.
    pub bin: Span,
}
