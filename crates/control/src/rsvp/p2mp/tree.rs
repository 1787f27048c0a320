//! What a router has of a point-to-multipoint LSP.

use super::around::Around;
use super::shares::Guarded;
use super::states::{BranchState, FeedState, SubState};
use super::{Alarm, SubKey, TreeKey};
use crate::rsvp::transport::Neighbor;
use base::plane::{Nhlfe, ReplicationId};
use base::{Label, Rate, Time};
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use wire::rsvp::{Adspec, EroHop, Flowspec, RroSubobject, SenderTspec, SessionAttribute, Style, Unknown};

/// What all Paths of a P2MP LSP say alike (RFC 4875, 5.2.1).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Attributes {
    pub tspec: SenderTspec,
    pub session_attribute: Option<SessionAttribute>,
    pub l3pid: u16,
}

impl Attributes {
    /// Setup and holding priority.
    pub(super) fn priorities(&self) -> (u8, u8) {
        self.session_attribute
            .as_ref()
            .map_or((7, 7), |said| (said.setup_priority.min(7), said.holding_priority.min(7)))
    }
    /// Bandwidth that the sender asks for.
    pub(super) fn rate(&self) -> Rate {
        Rate::from_bytes_per_s(self.tspec.0.rate)
    }
    /// The style that an egress is asked for.
    pub(super) fn style(&self) -> Style {
        let flags = self.session_attribute.as_ref().map_or(0, |said| said.flags);
        if flags & SessionAttribute::SE_STYLE != 0 { Style::SharedExplicit } else { Style::FixedFilter }
    }
    /// Are labels recorded, too?
    pub(super) fn records_labels(&self) -> bool {
        self.session_attribute
            .as_ref()
            .is_some_and(|said| said.flags & SessionAttribute::LABEL_RECORDING != 0)
    }
}

/// A P2MP LSP as this router knows it: who sends it packets, and where they go.
#[derive(Debug)]
pub(super) struct Tree {
    pub key: TreeKey,
    pub attributes: Attributes,
    /// Path state, in the order in which it came.
    pub subs: Vec<u32>,
    pub branches: Vec<u32>,
    /// By the neighbour that packets come from: the previous hop; at the root this router itself.
    pub feeds: BTreeMap<Neighbor, Feed>,
    /// The tunnel, at its root.
    pub root: Option<u32>,
    /// How its ways to neighbours are protected (RFC 4875, 15).
    pub protections: BTreeMap<Neighbor, Guarded>,
    /// What comes around failures to this router, the merge point.
    pub around: Vec<Around>,
    /// It is known that this router is a leaf.
    pub is_leaf: bool,
}

/// A label that a previous hop may send packets with, and what the tables do with them.
#[derive(Debug)]
pub(super) struct Feed {
    pub state: FeedState,
    /// Absent at the root.
    pub label: Option<Label>,
    /// Latest table write: acknowledgements of earlier ones say nothing any more.
    pub transaction: u64,
    /// The replication list, where there is one.
    pub list: Option<ReplicationId>,
    /// What was written last.
    pub branches: Vec<Nhlfe>,
    /// Another previous hop brings the same packets, and what comes by this one is dropped (RFC 4875, 18.1.1).
    pub is_dropped: bool,
}

impl Feed {
    pub(super) const fn new() -> Feed {
        Feed {
            state: FeedState::Absent,
            label: None,
            transaction: 0,
            list: None,
            branches: Vec::new(),
            is_dropped: false,
        }
    }
}

/// Path state of a sub-group.
#[derive(Debug)]
pub(super) struct Sub {
    pub tree: u32,
    pub key: SubKey,
    pub state: SubState,
    /// At the root, this router itself.
    pub prev_hop: Neighbor,
    /// The previous hop's logical interface handle.
    pub lih: u32,
    /// Send_TTL of Paths that go on.
    pub ttl: u8,
    pub leaves: BTreeMap<Ipv4Addr, LeafAt>,
    /// One of the leaves is this router.
    pub ends_here: bool,
    /// Smaller for path state that came earlier.
    pub order: u64,
    /// RECORD_ROUTE as it came; empty at the root; absent if the route is not recorded.
    pub rro: Option<Vec<RroSubobject>>,
    pub adspec: Option<Adspec>,
    /// Objects to be forwarded unexamined (RFC 2205, 3.10), and policy data.
    pub unknown: Vec<Unknown>,
    pub policy: Vec<Vec<u8>>,
    /// Leaves that the previous hop was told of, in order.
    pub announced: Vec<Ipv4Addr>,
    /// What the previous hop was told of all of them.
    pub announced_as: Option<(Flowspec, Style)>,
    /// The previous hop is gone, and it lives on for the sake of who may lead it around (RFC 4090, 7.2).
    pub is_cut_off: bool,
    /// Routes may have been recorded since that the previous hop has not been told of.
    pub is_rerecorded: bool,
    /// The receiver that waits for a ResvConf.
    pub confirm: Option<IpAddr>,
    /// The leaves of the Resv that asked for it.
    pub asked: Vec<Ipv4Addr>,
    pub period_ms: u32,
    pub expires: Time,
    /// When the latest Resv went to the previous hop.
    pub resv_sent_at: Time,
    pub resv_refresh_at: Time,
    pub alarm: Alarm,
}

/// A leaf of a sub-group: the way on to it.
#[derive(Clone, Debug)]
pub(super) struct LeafAt {
    /// The explicit route as it came, from this router on; empty if each router finds the way.
    pub route: Vec<EroHop>,
    /// The branch by which its Path goes on; absent if it ends here.
    pub branch: Option<u32>,
}

/// What of a sub-group goes on to one neighbour.
#[derive(Debug)]
pub(super) struct Branch {
    pub tree: u32,
    pub sub: u32,
    /// What the neighbour knows the sub-group by.
    pub key: SubKey,
    pub to: Neighbor,
    /// What merge points know it by, once it has been led around a failure: several branches have the same key with
    /// different neighbours, and may come to one merge point.
    pub around: Vec<Known>,
    pub state: BranchState,
    /// The explicit route to each leaf as it goes on.
    pub routes: BTreeMap<Ipv4Addr, Vec<EroHop>>,
    pub reserved: Option<Reserved>,
    /// A Resv has come by the link that is back, while packets still go through the bypass.
    pub is_back: bool,
    pub path_refresh_at: Time,
    pub alarm: Alarm,
}

/// What a merge point knows of a branch that is led around a failure to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// The bypass that it is led through, among the tunnels.
    pub bypass: u32,
    pub key: SubKey,
    /// Until when it counts as reserved there; a Resv of the merge point refreshes it.
    pub expires: Time,
    /// The merge point as its latest Resv named it, with its logical interface handle.
    pub answered_by: Option<(Ipv4Addr, u32)>,
}

/// The route to a leaf as it was recorded, if it was.
pub(super) type Recorded = Option<Vec<RroSubobject>>;

/// The reservation of a branch.
#[derive(Clone, Debug)]
pub(super) struct Reserved {
    pub label: Label,
    pub style: Style,
    pub flowspec: Flowspec,
    /// The leaves that it names, each with its route as it was recorded.
    pub leaves: BTreeMap<Ipv4Addr, Recorded>,
    /// Receivers that wait for a ResvConf, the latest last.
    pub confirm: Vec<Waiting>,
    pub period_ms: u32,
    pub expires: Time,
}

/// A receiver that waits for a ResvConf (RFC 2205, 3.1.9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    pub receiver: IpAddr,
    /// The leaves of the Resv that asked for it: they are to be confirmed.
    pub leaves: BTreeSet<Ipv4Addr>,
}

/// The most receivers behind a branch that wait for a ResvConf.
const WAITING: usize = 64;

impl Reserved {
    /// A receiver asks for a ResvConf for these leaves. Of too many, who asked first is forgotten.
    pub(super) fn wait(&mut self, receiver: IpAddr, leaves: BTreeSet<Ipv4Addr>) {
        self.confirm.retain(|waiting| waiting.receiver != receiver);
        self.confirm.push(Waiting { receiver, leaves });
        if self.confirm.len() > WAITING {
            self.confirm.remove(0);
        }
    }
}

impl Branch {
    /// Is the way to a leaf reserved?
    pub(super) fn has(&self, leaf: Ipv4Addr) -> bool {
        self.reserved.as_ref().is_some_and(|reserved| reserved.leaves.contains_key(&leaf))
    }
    pub(super) fn deadline(&self) -> Time {
        self.path_refresh_at.min(self.reserved.as_ref().map_or(Time::MAX, |reserved| reserved.expires))
    }
}

impl Sub {
    pub(super) fn deadline(&self) -> Time {
        self.expires.min(self.resv_refresh_at)
    }
}
