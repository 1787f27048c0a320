//! Where packets go next: neighbours, and groups of them that share packets or each get a copy.
//!
//! Nothing here depends on the address family: an IPv4 route, an IPv6 route and a label may name the same group.

use super::{LabelStack, Nhlfe};
use crate::ids::PortId;
use crate::label::Label;
use core::net::IpAddr;
use serde::{Deserialize, Serialize};

/// Names a group of next hops within one forwarding plane; whoever writes the tables chooses the number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GroupId(pub u32);

/// Names a replication list within one forwarding plane; whoever writes the tables chooses the number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ReplicationId(pub u32);

/// Names a selector within one forwarding plane; whoever writes the tables chooses the number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SelectorId(pub u32);

/// Where a packet goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NextHop {
    /// To the neighbour `gateway` beyond `port`. The tables keep one adjacency (with its Ethernet address) for all
    /// entries with the same port and gateway.
    Via {
        /// By which the packet leaves.
        port: PortId,
        /// The neighbour's address on it, of either family; the unspecified one (0.0.0.0 or ::) stands for a connected
        /// network, on which the destination itself is the neighbour.
        gateway: IpAddr,
    },
    /// By one member of a group: the packets of one flow by the same, as long as it can be used.
    Group(GroupId),
    /// By the backup of a group's member, and only while the member's own port can't be used: else there is no copy.
    /// For branches of a replication list alone. So one failure of a port has several copies made in the place of the
    /// one that left by it, as where the routers behind the next one are led to by a bypass each (RFC 4875, 15.1.2).
    Standby(GroupId),
    /// By every branch of a replication list, a copy each.
    Replicate(ReplicationId),
    /// To this node: what is left is looked at again (the next label, or the IP header).
    Local,
    /// To this node if no label is left: the IP header is looked at again. A label that is left was given by another
    /// router and means nothing here (RFC 3031, 3.22): the packet is dropped and counted as
    /// [`DropReason::LabelBelow`](crate::device::DropReason::LabelBelow).
    Unlabelled,
    /// Nowhere: the packet is dropped and counted as [`DropReason::Discard`](crate::device::DropReason::Discard).
    Discard,
    /// To this node if the label is the one that the selector takes packets of now. Labels of several LSPs that carry
    /// the same packets name one selector. A packet with another of them is dropped and counted as
    /// [`DropReason::Unselected`](crate::device::DropReason::Unselected), unless it is for the node alone: what is sent
    /// to 127/8, or to the same below ::ffff/96, tests the LSP.
    Selected(SelectorId),
}

/// One way out: a neighbour, and what is put on for the way there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Leg {
    /// Labels put on above those of the entry, the last of them outermost: those of an LSP to the far end of the leg.
    /// Their TC is that of what lies below; their TTL follows the TTL model of the entry.
    #[serde(default)]
    pub labels: LabelStack,
    /// By which packets leave.
    pub port: PortId,
    /// The neighbour's address on that port; not the unspecified one.
    pub gateway: IpAddr,
}

/// What is taken in the place of a leg that can't be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Backup {
    /// The way: to a merge point, it puts the label of the LSP there on.
    pub leg: Leg,
    /// The label that takes the place of the outermost one of the entry, where the far end of the backup knows the
    /// packet by another label than the far end of the leg does (RFC 4090, 3.2); implicit null takes that one off.
    /// Absent where both far ends are the same router.
    #[serde(default)]
    pub swap: Option<Label>,
}

impl From<Leg> for Backup {
    fn from(leg: Leg) -> Backup {
        Backup { leg, swap: None }
    }
}

/// A member of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Member {
    /// What packets take while its port is up.
    pub leg: Leg,
    /// What they take while that port is down and this one's is up; the other members take them if absent.
    #[serde(default)]
    pub backup: Option<Backup>,
}

/// The most members of a group. The time to choose one grows with their number.
pub const MEMBERS_MAX: usize = 64;

/// Branches of a replication list: what is done with each copy. None of them replicates again.
pub type Branches = Box<[Nhlfe]>;
