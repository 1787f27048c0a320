//! What a user (or the engine, for the state of links) tells a device.

use crate::ids::PortId;
use crate::label::Label;
use crate::plane::{GroupId, Member, NextHop, Prefix, Prefix6};
use crate::protocol::ProtocolId;
use crate::protocol_value::ProtocolValue;
use crate::time::Span;
use core::net::IpAddr;
use serde::{Deserialize, Serialize};

/// What a queue or a class of a port has counted since it was made. Bytes are those that its tree accounts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueCount {
    /// Its place in the tree: `root`, `root/gold` and so on.
    pub path: String,
    /// Packets that were sent.
    pub sent_packets: u64,
    /// Bytes of them.
    pub sent_bytes: u64,
    /// Packets that were dropped, on arrival or out of the queue.
    pub dropped_packets: u64,
}

/// An order to a device: it comes from a user, from a programme, or from the engine when a link changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// The port can be used from now on.
    PortUp(PortId),
    /// The port can't be used from now on.
    PortDown(PortId),
    /// Makes a group of next hops for static routes, or gives it other members.
    GroupSet {
        /// What routes name it by, as [`NextHop::Group`].
        group: GroupId,
        /// 1 to [`MEMBERS_MAX`](crate::plane::MEMBERS_MAX), equal among each other.
        members: Box<[Member]>,
    },
    /// Puts a static route in.
    RouteSet {
        /// Destinations that take the route.
        prefix: Prefix,
        /// Where packets go; it replaces the static route that the prefix had.
        next_hop: NextHop,
    },
    /// Takes a static route out.
    RouteRemove {
        /// Destinations that take the route.
        prefix: Prefix,
    },
    /// Puts a static IPv6 route in.
    Route6Set {
        /// Destinations that take the route.
        prefix: Prefix6,
        /// Where packets go; it replaces the static route that the prefix had.
        next_hop: NextHop,
    },
    /// Takes a static IPv6 route out.
    Route6Remove {
        /// Destinations that take the route.
        prefix: Prefix6,
    },
    /// Writes another label into the entry of an incoming label, or takes the entry out, and tells no protocol: a fault
    /// of the forwarding plane that the control plane does not see.
    LabelFault {
        /// The label with which packets come.
        label: Label,
        /// The label with which they leave, by the same way; without one, there is no entry any more.
        out: Option<Label>,
    },
    /// Something that only one protocol of the node understands.
    Protocol(ProtocolValue),
    /// Pings, or traces the route to, an address.
    Probe {
        /// Address that is pinged, of either family.
        to: IpAddr,
        /// Time to live of the request.
        ttl: u8,
        /// Distinguishes this probe from others.
        sequence: u16,
    },
    /// Restarts the device: all state is lost; what was configured is done again.
    Restart,
    /// Restarts one control protocol of a router: it forgets what it has learnt and is silent for a while, and its
    /// connections are reset. Tables of the forwarding plane stay as they are; what becomes of the protocol's entries,
    /// it decides when it is back.
    RestartProtocol {
        /// The protocol, which has to be one that can be restarted alone.
        protocol: ProtocolId,
        /// For how long it is silent.
        down_for: Span,
    },
    /// What the queues of a port have counted, since the device has asked ([`Output::AskQueue`]).
    ///
    /// [`Output::AskQueue`]: crate::Output::AskQueue
    QueueCounted {
        /// The port.
        port: PortId,
        /// Every queue and class at it; nothing if it has no queue disciplines.
        queues: Box<[QueueCount]>,
    },
    /// Begins the programme that a test device was made with.
    Start,
    /// Ends the programme of a test device.
    Stop,
}
