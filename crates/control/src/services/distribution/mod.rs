//! Labels for the routes of a router, whatever protocol carries them: which prefixes have a label, the entries of
//! tables that follow from labels and routes, who is told, and who is asked (RFC 5036, 2.6, 2.8 and A).
//!
//! A speaker ([`Speaker`](Distribution)) owns one of these and has the sessions, the bytes and the timers of its
//! protocol. It says what came by a session, and sends what [`Distribution::poll_say`] gives it.
//!
//! - `peer`: what is known of a neighbour's labels ([`Peer`])
//! - `fecs`: which prefixes have a label, and their entries (3.5.7, 3.5.10)
//! - `exchange`: labels that come, are taken back and given back (A.1.2, A.1.4, A.1.5)
//! - `asked`: what is bound to a prefix, for whoever tests LSPs
//! - `watched`: LSPs whose end is not heard any more (RFC 5884)
//! - `requests`: labels on demand (A.1.1, A.1.3, A.1.8 to A.1.13)
//! - `restart`: labels and entries that outlive a session, or the speaker itself (RFC 3478)
//! - `loops`: hop counts and path vectors (2.8)
//!
//! A label is told when its entry is in force. One that is taken back means "look at what is below" until all who were
//! told it have released it; then its entry is removed, and when that is done the label is free.

mod asked;
mod exchange;
mod fecs;
mod loops;
mod peer;
mod requests;
mod restart;
#[cfg(test)]
mod tests;
mod watched;

pub use exchange::{Mapped, Meant};
pub use fecs::{Binding, KnownFec};
pub use loops::Attributes;
pub(crate) use loops::increment;
pub use peer::{Peer, PeerKey};

use base::plane::{Batch, Prefix, TableOp, TransactionId};
use base::queue::take_first;
use base::{Dense, Label, PortId, ProtocolId, Span, Time};
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

base::words! {
    /// When a router gives a label for a prefix (RFC 5036, 2.6.1).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum LabelControl {
        /// As soon as it has a route.
        Independent = "independent",
        /// When the next router on the way has given it one, or when it is the last.
        Ordered = "ordered",
    }
    default Independent;
}

base::words! {
    /// Who gets labels (RFC 5036, 2.6.3).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum LabelAdvertisement {
        /// All neighbours, unasked.
        Unsolicited = "unsolicited",
        /// Who asks for one. Where the other end of a session says `unsolicited`, both are told all labels.
        OnDemand = "on-demand",
    }
    default Unsolicited;
}

base::words! {
    /// Which labels of neighbours are kept (RFC 5036, 2.6.2).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum LabelRetention {
        /// All.
        Liberal = "liberal",
        /// Those of neighbours that are next hops.
        Conservative = "conservative",
    }
    default Liberal;
}

base::words! {
    /// Which prefixes get a label.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum LdpPrefixes {
        /// Single addresses: those of routers.
        Loopbacks = "loopbacks",
        /// All that there are routes to, with networks right beside the router.
        All = "all",
    }
    default All;
}

/// How a router distributes labels.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The protocol that carries them: it owns labels and bindings.
    pub owner: ProtocolId,
    /// How good its entries are among those for the packets of a prefix.
    pub preference: u8,
    /// The number of its first group of next hops. It has 2^29 of them.
    pub first_group: u32,
    /// The router, as path vectors name it.
    pub router_id: Ipv4Addr,
    /// When a label is given.
    pub control: LabelControl,
    /// Who gets labels.
    pub advertise: LabelAdvertisement,
    /// Which labels of others are kept.
    pub retention: LabelRetention,
    /// Are loops looked for by path vectors?
    pub loop_detection: bool,
    /// Routers on a way at most: the limit of hop counts and of path vectors.
    pub hops_max: u8,
    /// Which prefixes get a label.
    pub prefixes: LdpPrefixes,
    /// Do prefixes get a label that are beyond a router further away than a neighbour, as those that BGP finds?
    pub beyond: bool,
    /// The ports that the protocol is spoken on.
    pub ports: BTreeSet<PortId>,
    /// Those of them on whose links labels are channels of ATM: labels of neighbours there are kept as long as they are
    /// next hops (RFC 3035, 8).
    pub cells: BTreeSet<PortId>,
}

/// Why a request gets no label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no route to the very prefix.
    NoRoute,
    /// The request went in a circle.
    Loop,
    /// No label is left.
    NoLabels,
}

/// What a neighbour is to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Say {
    /// A label for a prefix.
    Map {
        /// The prefix that it is for.
        prefix: Prefix,
        /// The label; implicit null where packets are to come without one.
        label: Label,
        /// The request that it answers.
        request: Option<u32>,
        /// Hop count and path vector.
        attributes: Attributes,
    },
    /// A label is wanted. The speaker says by which number with [`Distribution::number_request`].
    Request {
        /// The prefix that it is for.
        prefix: Prefix,
        /// Hop count and path vector.
        attributes: Attributes,
    },
    /// A label means nothing any more.
    Withdraw {
        /// The prefix that it was for.
        prefix: Prefix,
        /// The label that was told.
        label: Label,
    },
    /// A label is not needed.
    Release {
        /// The prefix that it was for.
        prefix: Prefix,
        /// The label that the neighbour has given.
        label: Label,
        /// Is it because the label's way is a circle?
        is_loop: bool,
    },
    /// A request is taken back.
    Abort {
        /// For what it was.
        prefix: Prefix,
        /// Its number.
        request: u32,
    },
    /// A request gets no label.
    Refuse {
        /// Its number.
        request: u32,
        /// Why.
        why: Refusal,
    },
    /// There are labels again.
    LabelsAvailable,
    /// All labels that there are have been told (RFC 5919, 4).
    Complete,
}

/// Why a prefix is looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Its route is new, or its next hops are others.
    Route,
    /// What is known of neighbours: labels, addresses, links.
    Neighbor,
    /// A label that was used is one no more.
    Lost,
    /// A request that was put off is due.
    Retry,
}

/// Writes that have been made up, and what is to be done when they are in force.
#[derive(Debug, Default)]
struct Waiting {
    ops: Vec<TableOp>,
    /// Labels to tell, by the place of their entry among the writes.
    tell: Vec<(u32, Prefix, Label)>,
    /// Labels that are free.
    free: Vec<Label>,
}

/// The labels of a router for its routes.
#[derive(Debug)]
pub struct Distribution {
    settings: Settings,
    peers: BTreeMap<PeerKey, Peer>,
    /// Requests that are made again, and when.
    retries: BTreeMap<(PeerKey, Prefix), Time>,
    /// Each in memory of its own, so that the table stays small that prefixes are looked for in.
    fecs: Dense<Prefix, Box<KnownFec>>,
    /// Prefixes for which no label was left.
    lacking: BTreeSet<Prefix>,
    /// LSPs whose end is not heard any more.
    dead: BTreeSet<Prefix>,
    /// Do packets leave by other neighbours or labels than when that was asked last?
    is_moved: bool,
    /// Writes of tables, and what waits for them.
    writes: Waiting,
    /// Those that were handed on, by transaction: most are answered in their order.
    waiting: VecDeque<(u64, Waiting)>,
    /// Neighbours without a session whose labels are kept, as they seem to restart (RFC 3478, 3.3).
    away: BTreeMap<PeerKey, Peer>,
    /// Prefixes whose entries are from before a restart of the speaker, and were not confirmed since (RFC 3478, 3.1).
    stale: BTreeSet<Prefix>,
    /// For so long a label that is free rests before it is used again (RFC 3478, 3.3).
    rest: Span,
    /// Labels that rest, and until when.
    resting: VecDeque<(Time, Label)>,
    transaction: u64,
    groups: u32,
    /// Writes that the tables refused.
    pub refused: u64,
    said: VecDeque<(PeerKey, Say)>,
    /// Memory that ways are found out in.
    spare: fecs::Ways,
}

impl Distribution {
    /// One that knows nothing yet.
    pub fn new(settings: Settings) -> Distribution {
        Distribution {
            settings,
            peers: BTreeMap::new(),
            retries: BTreeMap::new(),
            fecs: Dense::default(),
            lacking: BTreeSet::new(),
            dead: BTreeSet::new(),
            is_moved: false,
            writes: Waiting::default(),
            waiting: VecDeque::new(),
            away: BTreeMap::new(),
            stale: BTreeSet::new(),
            rest: Span::ZERO,
            resting: VecDeque::new(),
            transaction: 0,
            groups: 0,
            refused: 0,
            said: VecDeque::new(),
            spare: fecs::Ways::default(),
        }
    }

    /// How labels are distributed.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What is known of a neighbour's labels; nothing without a session.
    pub fn peer(&self, key: PeerKey) -> Option<&Peer> {
        self.peers.get(&key)
    }

    /// All neighbours with which labels are exchanged.
    pub fn peers(&self) -> impl Iterator<Item = (PeerKey, &Peer)> {
        self.peers.iter().map(|(key, peer)| (*key, peer))
    }

    /// Prefixes that have a label, or had one that is not yet free.
    pub fn fecs(&self) -> impl Iterator<Item = (Prefix, &KnownFec)> {
        self.fecs.iter().map(|(prefix, known)| (prefix, &**known))
    }

    /// How many these are.
    pub fn fec_count(&self) -> usize {
        self.fecs.len()
    }

    /// What is known of a prefix that has a label.
    pub fn fec(&self, prefix: Prefix) -> Option<&KnownFec> {
        self.fecs.get(&prefix).map(|known| &**known)
    }

    /// What a neighbour is to be told next.
    pub fn poll_say(&mut self) -> Option<(PeerKey, Say)> {
        take_first(&mut self.said)
    }

    /// What is to be written.
    pub fn poll_batch(&mut self) -> Option<Batch> {
        if self.writes.ops.is_empty() {
            return None;
        }
        self.transaction += 1;
        let mut waiting = core::mem::take(&mut self.writes);
        let ops = core::mem::take(&mut waiting.ops);
        self.waiting.push_back((self.transaction, waiting));
        Some(Batch { transaction: TransactionId(self.transaction), ops, barrier: false })
    }

    /// When a request that was put off is due, or a label has rested.
    pub fn poll_timeout(&self) -> Option<Time> {
        let retry = self.retries.values().min().copied();
        Time::earliest([retry, self.resting.front().map(|(until, _)| *until)])
    }
}
