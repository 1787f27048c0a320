//! What is known of a neighbour, and its state machine (RFC 2328, 10).

use crate::machine;
use base::Time;
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use wire::ospf::{LsaHeader, LsaKey, LsaKind};

machine! {
    /// Each step is one of RFC 2328, 10.3. What depends on the network or on a database is decided before: the event
    /// says which way it went.
    machine "A neighbour";
    /// How far it has come with a neighbour.
    pub enum NeighborState {
        /// Nothing was heard of it lately.
        Down,
        /// It is heard, and does not say that it hears this router.
        Init,
        /// Both hear each other, and are not to be adjacent.
        TwoWay,
        /// They agree on who is master, and on a first sequence number.
        ExStart,
        /// They describe their databases to each other.
        Exchange,
        /// What is missing is asked for.
        Loading,
        /// The databases are the same.
        Full,
    }
    /// What happens to a neighbour.
    pub enum NeighborEvent {
        /// A Hello came, whatever it says: the neighbour is alive.
        Hello,
        /// Its Hello names this router, and they are not to be adjacent.
        Heard,
        /// Its Hello names this router, and they are to be adjacent.
        HeardAdjacent,
        /// Master and sequence number are agreed on.
        Negotiated,
        /// Both databases are described, and something is missing.
        Described,
        /// All that was asked for has come.
        Loaded,
        /// They are to be adjacent now.
        Wanted,
        /// They are to be adjacent no more.
        Unwanted,
        /// The exchange went wrong: a sequence number, a flag, or a request for what is not there.
        Mismatch,
        /// Its Hello no longer names this router.
        OneWay,
        /// It was silent for too long, or its link is down.
        Gone,
    }
    begins { Down }
    steps {
        Down: Hello => Init;
        Init: Hello | OneWay => Init, Heard => TwoWay, HeardAdjacent => ExStart, Gone => Down;
        TwoWay: Hello | Heard | Unwanted => TwoWay, Wanted => ExStart, OneWay => Init, Gone => Down;
        ExStart: Hello | Wanted => ExStart, Negotiated => Exchange, Unwanted => TwoWay, OneWay => Init, Gone => Down;
        Exchange: Hello | Wanted => Exchange, Described => Loading, Loaded => Full, Mismatch => ExStart,
            Unwanted => TwoWay, OneWay => Init, Gone => Down;
        Loading: Hello | Wanted => Loading, Loaded => Full, Mismatch => ExStart, Unwanted => TwoWay, OneWay => Init,
            Gone => Down;
        Full: Hello | Wanted => Full, Mismatch => ExStart, Unwanted => TwoWay, OneWay => Init, Gone => Down;
    }
}

impl NeighborState {
    /// As tables have it.
    pub const fn word(self) -> &'static str {
        match self {
            NeighborState::Down => "down",
            NeighborState::Init => "init",
            NeighborState::TwoWay => "two-way",
            NeighborState::ExStart => "exstart",
            NeighborState::Exchange => "exchange",
            NeighborState::Loading => "loading",
            NeighborState::Full => "full",
        }
    }

    /// Is something described, asked for or flooded to it: is it in state Exchange or greater?
    pub const fn is_flooded(self) -> bool {
        self as u8 >= NeighborState::Exchange as u8
    }

    /// Is an exchange going on, so that instances of age MaxAge have to stay (RFC 2328, 14)?
    pub const fn is_exchanging(self) -> bool {
        matches!(self, NeighborState::Exchange | NeighborState::Loading)
    }

    /// Do both hear each other?
    pub const fn is_two_way(self) -> bool {
        self as u8 >= NeighborState::TwoWay as u8
    }
}

/// Another router that is heard on an interface (RFC 2328, 10).
#[derive(Clone, Debug)]
pub struct Neighbor {
    /// How far it has come with it.
    pub state: NeighborState,
    /// By its Hello; the same for all of its interfaces.
    pub router_id: Ipv4Addr,
    /// The source of its packets.
    pub address: Ipv4Addr,
    /// How much it wants to be the designated router.
    pub priority: u8,
    /// What it takes for the designated router.
    pub designated: Ipv4Addr,
    /// What it takes for the backup.
    pub backup: Ipv4Addr,
    /// When it has been silent for too long.
    pub expires: Time,
    /// Sequence number of its last packet with a digest.
    pub sequence: Option<u32>,
    /// Is this router the master of the exchange?
    pub is_master: bool,
    /// Sequence number of the exchange.
    pub dd_sequence: u32,
    /// Length of the longest IP packet that it takes, by its last description; 0 if it has not said that.
    pub mtu: u16,
    /// Does it take opaque advertisements, by the options of its descriptions (RFC 5250, 3.1)?
    pub is_opaque: bool,
    /// Flags, options and sequence number of its last description.
    pub dd_received: Option<(u8, u8, u32)>,
    /// The last description that was sent, to be sent again, and whether more follow.
    pub dd_sent: Option<(Vec<u8>, bool)>,
    /// What is left to be described.
    pub summary: VecDeque<LsaHeader>,
    /// What it has that is newer than what is here.
    pub requests: BTreeMap<LsaKey, LsaHeader>,
    /// What it was asked for and has not sent.
    pub asked: Vec<LsaKey>,
    /// By which the databases say what it was sent and has not acknowledged, as long as something is flooded to it.
    pub(super) number: Option<u8>,
    /// The same as a list, if there was no number left.
    pub(super) unacknowledged: BTreeSet<LsaKey>,
    /// When the master of an exchange sends its last description again, or the slave gives the exchange up.
    pub dd_due: Option<Time>,
    /// When the last request is sent again.
    pub request_due: Option<Time>,
    /// When what it has not acknowledged is sent again.
    pub retransmit_due: Option<Time>,
    /// Since when it is in its state.
    pub since: Time,
}

impl Neighbor {
    pub(super) fn new(router_id: Ipv4Addr, address: Ipv4Addr, now: Time) -> Neighbor {
        Neighbor {
            state: NeighborState::Down,
            router_id,
            address,
            priority: 0,
            designated: Ipv4Addr::UNSPECIFIED,
            backup: Ipv4Addr::UNSPECIFIED,
            expires: Time::MAX,
            sequence: None,
            is_master: false,
            // RFC 2328, 10.8: unique, as the time of day is.
            dd_sequence: (now.0 / 1_000_000_000) as u32,
            mtu: 0,
            is_opaque: false,
            dd_received: None,
            dd_sent: None,
            summary: VecDeque::new(),
            requests: BTreeMap::new(),
            asked: Vec::new(),
            number: None,
            unacknowledged: BTreeSet::new(),
            dd_due: None,
            request_due: None,
            retransmit_due: None,
            since: now,
        }
    }

    /// Forgets the lists of an exchange, and the number.
    pub(super) fn clear(&mut self) -> Option<u8> {
        self.summary.clear();
        self.requests.clear();
        self.asked.clear();
        self.unacknowledged.clear();
        (self.dd_received, self.dd_sent) = (None, None);
        (self.dd_due, self.request_due, self.retransmit_due) = (None, None, None);
        self.number.take()
    }

    /// Are advertisements of this type in its database, as far as it knows of the type?
    pub(super) fn takes(&self, kind: LsaKind) -> bool {
        self.is_opaque || !kind.is_opaque()
    }

    /// When something is due for it.
    pub(super) fn due(&self) -> Time {
        let rest = Time::earliest([self.dd_due, self.request_due, self.retransmit_due]);
        rest.map_or(self.expires, |rest| rest.min(self.expires))
    }
}
