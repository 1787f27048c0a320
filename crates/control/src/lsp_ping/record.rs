//! What is kept of a request that was sent here.

use base::Time;
use core::net::{IpAddr, Ipv4Addr};
use wire::lsp_ping::{Mapping, Received};

/// A way on, as a router says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// The next router.
    pub to: IpAddr,
    /// The labels that packets leave with, the top first; 3 is implicit null.
    pub labels: Vec<u32>,
}

impl From<&Mapping> for Way {
    fn from(mapping: &Mapping) -> Way {
        let labels = mapping.labels().unwrap_or_default();
        Way { to: mapping.place.address(), labels: labels.iter().map(|label| label.label).collect() }
    }
}

/// A reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// When it came.
    pub at: Time,
    /// Who sent it.
    pub from: IpAddr,
    /// The return code, that of the first way if the header refers to ways.
    pub code: u8,
    /// The depth in the label stack that the code is about; 0 if it is about none.
    pub depth: u8,
    /// The ways on.
    pub ways: Vec<Way>,
    /// How the request came there, if that is said.
    pub received: Option<Received>,
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A reply may come.
    Waits,
    /// None came in time.
    Silent,
    /// Nobody is to reply.
    Unasked,
    /// It was not sent: nothing here says where packets of the FEC go, or they have to be of IPv6, and no address of
    /// this router is.
    NoWay,
    /// A reply came.
    Answered(Answer),
}

/// A request, and what became of it; of several replies each has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The number of the command.
    pub number: u32,
    /// What was put on the LSP, for people.
    pub fec: String,
    /// The end of an LSP with several that this is about: it has replied as one, or that something is wrong, or not.
    pub end: Option<Ipv4Addr>,
    /// Its time to live in the label stack.
    pub ttl: u8,
    /// Its sequence number; it tells the requests of a command.
    pub sequence: u32,
    /// When it was sent.
    pub sent: Time,
    /// The labels that it was sent with, the top first; none if copies leave with different ones.
    pub labels: Vec<u32>,
    /// What became of it.
    pub outcome: Outcome,
}

impl Record {
    /// Is it of this request of a command?
    pub(super) fn is_of(&self, number: u32, sequence: u32) -> bool {
        (self.number, self.sequence) == (number, sequence)
    }
}
