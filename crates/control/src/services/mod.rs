//! What the protocols of a node share.
//!
//! - [`Interfaces`]: where packets come in and leave
//! - [`rib`]: the routing table, with routes of several sources; [`RouteWrites`]: how the forwarding plane follows it
//! - [`labels`]: labels, by space, in blocks to those who ask; [`bindings`]: which entry the packets of an FEC take
//! - [`sessions`]: TCP connections and UDP datagrams
//!
//! Look-ups and allocations answer at once. What a change means to others is queued in the service, and told to those
//! who subscribed after the call that made it has returned: see [`ControlPlane`](crate::ControlPlane).

pub mod bindings;
mod groups;
mod interfaces;
pub mod labels;
pub mod rib;
pub mod sessions;

pub use bindings::{After, Binder, Bindings, Bound};
pub use groups::RouteWrites;
pub use interfaces::{Interface, InterfaceAddress, InterfaceId, InterfaceKind, Interfaces};
pub use labels::{LabelSpace, Labels};
pub use rib::{Hops, Rib, Route, RouteHop, Source};
pub use sessions::Sessions;

use base::plane::{NextHop, Prefix};
use base::{Label, Streams};
use core::net::{IpAddr, Ipv4Addr};

/// The services of one node.
#[derive(Debug)]
pub struct Services {
    /// The node and its interfaces.
    pub interfaces: Interfaces,
    /// Its routes.
    pub rib: Rib,
    /// Its labels.
    pub labels: Labels,
    /// Which entries the packets of FECs take.
    pub bindings: Bindings,
    /// Random streams of the run; a protocol names its own after the node.
    pub streams: Streams,
    /// TCP connections, and UDP datagrams that the tables route.
    pub sessions: Sessions,
}

impl Services {
    /// The services of a node with these interfaces, which hands out labels of a range, as it starts: connected routes
    /// are in.
    pub fn new(interfaces: Interfaces, (first, last): (Label, Label), streams: Streams) -> Services {
        let mut rib = Rib::default();
        rib.set(Prefix::host(interfaces.router_id), Route::connected(NextHop::Local));
        for (port, interface) in interfaces.ports() {
            for own in &interface.addresses {
                let IpAddr::V4(address) = own.address else { continue };
                let next_hop = NextHop::Via { port, gateway: Ipv4Addr::UNSPECIFIED.into() };
                rib.set(Prefix::new(address, own.prefix_len), Route::connected(next_hop));
                rib.set(Prefix::host(address), Route::connected(NextHop::Local));
            }
        }
        let (labels, sessions) = (Labels::new(first, last), Sessions::new(&interfaces.node, streams));
        Services { interfaces, rib, labels, bindings: Bindings::default(), streams, sessions }
    }

    /// Services of no node: without interfaces, routes and labels.
    pub fn none() -> Services {
        let interfaces = Interfaces::new(String::new(), Ipv4Addr::UNSPECIFIED, Vec::new());
        let (labels, streams) = (Labels::new(Label::MAX, Label::FIRST_UNRESERVED), Streams::new(0));
        let (rib, bindings, sessions) = (Rib::default(), Bindings::default(), Sessions::new("", streams));
        Services { interfaces, rib, labels, bindings, streams, sessions }
    }

    /// The node restarts: what was configured is left, what was learnt and handed out is not.
    pub(crate) fn restart(&mut self) {
        self.interfaces.restart();
        self.rib.forget_learnt();
        self.labels.restart();
        self.bindings.restart();
        self.sessions.restart();
    }
}
