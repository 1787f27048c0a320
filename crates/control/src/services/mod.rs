//! What the protocols of a node share.
//!
//! - [`Interfaces`]: where packets come in and leave; `connected`: the routes that follow from them
//! - [`rib`]: the routing tables, one for each family, with routes of several sources; [`RouteWrites`]: how the
//!   forwarding plane follows them
//! - [`Avoided`]: links by which packets are not to go yet
//! - [`bandwidth`]: what is left to be reserved
//! - [`te`]: what is known of links beyond their costs, and paths by it
//! - [`Shortcuts`]: ways that routes can take through tunnels
//! - [`liveness`]: whether packets reach other nodes
//! - [`labels`]: labels, by space, in blocks to those who ask; [`bindings`]: which entry the packets of an FEC take
//! - [`Labelled`]: packets that get a label for a far router, and go there by LSPs
//! - [`Multicast`]: groups, who wants them and where their packets go
//! - `membership`: who wants which groups on links, for protocols that hear it from hosts (IGMP, MLD)
//! - [`distribution`]: labels for routes, for protocols that carry them
//! - [`label_vcs`]: labels that are channels of ATM
//! - [`policy`]: which routes pass from one place to another, and what is changed of them
//! - [`sessions`]: TCP connections and UDP datagrams
//!
//! Look-ups and allocations answer at once. What a change means to others is queued in the service, and told to those
//! who subscribed after the call that made it has returned: see [`ControlPlane`](crate::ControlPlane).

mod avoided;
pub mod bandwidth;
pub mod bindings;
pub mod bootstrap;
mod connected;
pub mod distribution;
mod groups;
mod interfaces;
pub mod label_vcs;
mod labelled;
pub mod labels;
pub mod liveness;
pub(crate) mod membership;
mod multicast;
pub mod policy;
pub mod rib;
pub mod sessions;
mod shortcuts;
pub mod te;

pub use avoided::{Avoidance, Avoided};
pub use bandwidth::{Bandwidth, Unreserved};
pub use bindings::{After, Binder, Bindings, Bound};
pub use bootstrap::Bootstrap;
pub use groups::{FIRST_OF_PROTECTION, FIRST_OF_TUNNELS, RouteWrites};
pub use interfaces::{
    Attached, Beyond, CellLabels, Interface, InterfaceAddress, InterfaceId, InterfaceKind, Interfaces,
    Switching,
};
pub(crate) use labelled::ways_to;
pub use labelled::{Beneath, Incoming, Labelled};
pub use labels::{LabelSpace, Labels, Limits};
pub use liveness::{
    COMES_BACK, Excused, Liveness, Pace, PingSpec, Verdict, WatchSpec, WatchedLsp, WatchedPath, Watcher, Way,
};
pub use multicast::Multicast;
pub use rib::{Carrier, Hops, Rib, Route, RouteHop, RoutePrefix, Source};
pub use sessions::Sessions;
pub use shortcuts::Shortcuts;
pub use te::Engineering;

use base::plane::Prefix6;
use base::{Label, PortId, Streams};
use core::net::Ipv4Addr;

/// The services of one node.
#[derive(Debug)]
pub struct Services {
    /// The node and its interfaces.
    pub interfaces: Interfaces,
    /// Routes of all protocols, and the best to each prefix.
    pub rib: Rib,
    /// Its routes of IPv6; a node that has no IPv6 address and is told none has none.
    pub rib6: Rib<Prefix6>,
    /// Which labels are taken, and by whom.
    pub labels: Labels,
    /// Which entries the packets of FECs take.
    pub bindings: Bindings,
    /// Packets that go to far routers below labels of theirs.
    pub labelled: Labelled,
    /// What is left of the bandwidth that may be reserved.
    pub bandwidth: Bandwidth,
    /// Links that are to be avoided.
    pub avoided: Avoided,
    /// What is known of links beyond their costs, and paths by it.
    pub engineering: Engineering,
    /// Ways that routes can take through tunnels.
    pub shortcuts: Shortcuts,
    /// Which other nodes packets reach.
    pub liveness: Liveness,
    /// LSPs that are verified for who watches them.
    pub bootstrap: Bootstrap,
    /// Groups: who wants them, and where their packets go.
    pub multicast: Multicast,
    /// Random streams of the run; a protocol names its own after the node.
    pub streams: Streams,
    /// TCP connections, and UDP datagrams that the tables route.
    pub sessions: Sessions,
}

impl Services {
    /// The services of a node with these interfaces, which hands out labels of a range, as it starts: connected routes
    /// are in.
    pub fn new(interfaces: Interfaces, (first, last): (Label, Label), streams: Streams) -> Services {
        let (rib, rib6) = connected::tables(&interfaces);
        Services { rib, rib6, ..Services::bare(interfaces, Labels::new(first, last), streams) }
    }

    /// Services of no node: without interfaces, routes and labels.
    pub fn none() -> Services {
        let interfaces = Interfaces::new(String::new(), Ipv4Addr::UNSPECIFIED, Vec::new());
        Services::bare(interfaces, Labels::new(Label::MAX, Label::FIRST_UNRESERVED), Streams::new(0))
    }

    /// Services that know of nothing yet, not even of connected routes.
    fn bare(interfaces: Interfaces, labels: Labels, streams: Streams) -> Services {
        let sessions = Sessions::new(&interfaces.node, streams);
        Services {
            interfaces,
            rib: Rib::default(),
            rib6: Rib::default(),
            labels,
            bindings: Bindings::default(),
            labelled: Labelled::default(),
            bandwidth: Bandwidth::default(),
            avoided: Avoided::default(),
            engineering: Engineering::default(),
            shortcuts: Shortcuts::default(),
            liveness: Liveness::default(),
            bootstrap: Bootstrap::default(),
            multicast: Multicast::default(),
            streams,
            sessions,
        }
    }

    /// A port can be used from now on, or can't: its connected routes come back, or are gone.
    pub(crate) fn port_changed(&mut self, port: PortId, up: bool) {
        let Services { interfaces, rib, rib6, .. } = self;
        interfaces.set_up(InterfaceId::of(port), up);
        connected::port_changed(interfaces, rib, rib6, port);
    }

    /// The node restarts: what was configured is left, what was learnt and handed out is not.
    pub(crate) fn restart(&mut self) {
        self.interfaces.restart();
        self.labelled.restart(&mut self.rib, &mut self.rib6);
        self.rib.forget_learnt();
        self.rib6.forget_learnt();
        self.labels.restart();
        self.bindings.restart();
        self.bandwidth.restart();
        self.avoided.restart();
        self.engineering.restart();
        self.shortcuts = Shortcuts::default();
        self.liveness.restart();
        self.bootstrap.restart();
        self.multicast.restart();
        self.sessions.restart();
    }
}
