//! What a user tells the root of point-to-multipoint LSPs.

use crate::rsvp::ProtectionRequest;
use crate::rsvp::command::{PathRequest, ReservationStyle, RouteHop};
use crate::services::Pace;
use base::flow::FlowFilter;
use base::plane::{GroupKey, Prefix};
use base::{Rate, Span};
use core::net::Ipv4Addr;
use serde::{Deserialize, Serialize};

base::words! {
    /// How the leaves of a P2MP LSP are spread over Path messages (RFC 4875, 5.2.1).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Signalling {
        /// Leaves that are signalled at once share a Path, with compressed routes, as far as they fit.
        Together = "together",
        /// Each leaf has a Path of its own.
        Separate = "separate",
    }
    default Together;
}

base::words! {
    /// Which tree the root computes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum TreeShape {
        /// The best path to each leaf.
        Shortest = "shortest",
        /// Each leaf in turn joins by what costs least beyond the tree so far: fewer links, longer ways.
        Cheapest = "cheapest",
    }
    default Shortest;
}

/// The explicit route to a leaf, without the root itself.
pub type LeafRoute = Vec<RouteHop>;

/// A leaf of a P2MP LSP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leaf {
    /// Its address (its router id).
    pub address: Ipv4Addr,
    /// The root computes the route if it is empty, or the routing tables decide hop by hop.
    pub route: LeafRoute,
}

/// A point-to-multipoint tunnel as its root is asked for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct P2mpSpec {
    /// What people call it.
    pub name: String,
    /// P2MP ID, unique at the root (RFC 4875, 19.1.1).
    pub p2mp_id: u32,
    /// Tunnel ID, which tells tunnels with one root and P2MP ID apart (RFC 4875, 19.1.1).
    pub tunnel_id: u16,
    /// The leaves, each once.
    pub leaves: Vec<Leaf>,
    /// How they are spread over Path messages.
    pub signalling: Signalling,
    /// Which tree is computed.
    pub shape: TreeShape,
    /// What is asked of computed paths.
    pub path: PathRequest,
    /// What every link of the tree is asked to reserve.
    pub bandwidth: Rate,
    /// Setup priority, 0 the most urgent (RFC 3209, 4.7).
    pub setup_priority: u8,
    /// Holding priority, 0 the most tenacious.
    pub holding_priority: u8,
    /// Which reservation style leaves are asked for.
    pub style: ReservationStyle,
    /// Record the route to each leaf (RFC 4875, 6.3); always done for a tree that is to be protected.
    pub record_route: bool,
    /// What is asked of routers on the way for the case that something fails (RFC 4875, 15); nothing for a tree that
    /// is not protected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protection: Option<ProtectionRequest>,
    /// Groups whose packets go to all leaves.
    pub groups: Vec<GroupKey>,
    /// Destinations whose packets go to all leaves.
    pub carries: Vec<Prefix>,
    /// Packets that go to all leaves, whatever their destination's route.
    pub filters: Vec<FlowFilter>,
    /// Have its ends watch the root by BFD (RFC 8562), so closely.
    pub watch: Option<Pace>,
    /// Time before a leaf is tried again; it doubles up to `retry_max`.
    pub retry_first: Span,
    /// Bound of the time between retries.
    pub retry_max: Span,
}

/// Identifies a P2MP tunnel at its root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct P2mpId {
    /// As in [`P2mpSpec::p2mp_id`].
    pub p2mp_id: u32,
    /// As in [`P2mpSpec::tunnel_id`].
    pub tunnel_id: u16,
}

impl P2mpSpec {
    /// What tells it from the other tunnels of its root.
    pub const fn id(&self) -> P2mpId {
        P2mpId { p2mp_id: self.p2mp_id, tunnel_id: self.tunnel_id }
    }
}
