//! The plane boundary: all that control and forwarding say to each other.
//!
//! Control sends a [`Batch`] of table operations with a transaction id; a driver carries it out and answers with an
//! [`Ack`] (later, if writing a table takes time). Packets are punted up and sent out, and both sides can be brought
//! together again. What a driver is stands in crate `forwarding`. Nothing else crosses.

mod circuit;
mod ip_prefix;
mod label_use;
mod multicast;
mod next_hop;
mod prefix;
mod prefix6;
mod stack;
mod table;
mod unwritten;

pub use crate::diffserv::{Encaps, LspClasses, TcMap, TunnelModel};
pub use circuit::{ChannelRange, CircuitTo};
pub use ip_prefix::IpPrefix;
pub use label_use::LabelUse;
pub use multicast::{
    GroupKey, Incoming, group_mac, group_mac6, is_label_mac, is_link_local_group, label_mac,
};
pub use next_hop::{Backup, Branches, GroupId, Leg, MEMBERS_MAX, Member, NextHop, ReplicationId, SelectorId};
pub use prefix::Prefix;
pub use prefix6::Prefix6;
pub use stack::LabelStack;
pub use table::Table;
pub use unwritten::Unwritten;

use crate::flow::FlowFilter;
use crate::ids::{MacAddr, PortId};
use crate::label::{Label, TrafficClass};
use crate::phb::PhbSet;
use core::net::IpAddr;
use serde::{Deserialize, Serialize};

/// Names a batch of table operations, so that its acknowledgement can be told from others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TransactionId(pub u64);

impl TransactionId {
    /// The owner of what a node writes by itself: its ports, neighbours, addresses and configured routes.
    pub const NODE: u8 = u8::MAX;

    const NUMBER_BITS: u32 = 56;

    /// The number that an owner gave a batch (its lower 56 bits), told from the same number of other owners.
    pub const fn of(owner: u8, number: u64) -> TransactionId {
        TransactionId((owner as u64) << Self::NUMBER_BITS | number & (u64::MAX >> 8))
    }
    /// Whose batch it is: the place of a protocol among those of its node, or [`TransactionId::NODE`].
    pub const fn owner(self) -> u8 {
        (self.0 >> Self::NUMBER_BITS) as u8
    }
}

crate::words! {
    /// How the time to live moves between a label and what is below it (RFC 3443).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum TtlModel {
        /// The LSP is as many hops as it has: TTL is copied at push and at pop (RFC 3443, 3.1).
        Uniform = "uniform",
        /// The LSP is one hop: a new TTL at push, the inner one decremented at pop (RFC 3443, 3.2).
        Pipe = "pipe",
        /// As pipe, with penultimate-hop popping (RFC 3443, 3.3).
        ShortPipe = "short-pipe",
    }
    default Uniform;
}

/// Where TC of pushed labels comes from, and what TC of the label means by which a packet comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TcSource {
    /// From the label below, or the precedence bits of the IP header.
    #[default]
    Copy,
    /// The same TC for every packet, whatever it came with.
    Set(TrafficClass),
    /// By the packet's PHB, as the LSP maps it; the same mapping gives the PHB of a packet whose label is taken
    /// off (RFC 3270).
    DiffServ(LspClasses),
}

/// Next-hop label forwarding entry (RFC 3031, 3.10): what to do with the label stack, and where to send the packet.
///
/// In the ILM the topmost label is taken off first, then `push` is put on: nothing pops, one label swaps, more swap
/// and push.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Nhlfe {
    /// Labels to put on; the last of them is outermost. Implicit null is never among them.
    pub push: LabelStack,
    /// Where the packet goes with its new labels.
    pub next_hop: NextHop,
    /// How TTL of the labels and of what they carry depend on each other (RFC 3443).
    pub ttl: TtlModel,
    /// Which TC the labels in `push` get.
    pub tc: TcSource,
}

/// A forwarding equivalence class (RFC 3031, 2.1): which packets an FTN entry takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fec {
    /// Packets to a destination prefix; the longest match wins, against routes too.
    Prefix(Prefix),
    /// IPv6 packets to a destination prefix; the longest match wins, against routes too. An LSP that is set up by IPv4
    /// carries them below the label IPv6 explicit null (RFC 4798, 3).
    Prefix6(Prefix6),
    /// Packets to a destination prefix that have one of these PHBs (RFC 3270, 2.4). The longest match among all
    /// prefixes wins first; the packets of a prefix that none of these entries takes follow its [`Fec::Prefix`], or
    /// its route.
    ClassPrefix {
        /// Destinations, whatever the PHB; several entries may share one prefix.
        prefix: Prefix,
        /// The PHBs; without meaning where an entry is removed.
        classes: PhbSet,
        /// The entry's name within the prefix, and its place: the lowest of those that take a packet wins.
        order: u64,
    },
    /// Packets that a filter takes; looked at before prefixes and routes, but not for packets to this node and to hosts
    /// on its own links.
    Flow {
        /// The entry's name, and its place: the lowest of those that take a packet wins.
        order: u64,
        /// Which packets; without meaning where an entry is removed.
        filter: FlowFilter,
    },
}

/// What the forwarding plane must know of one of its ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortConfig {
    /// The port's own Ethernet address.
    pub mac: MacAddr,
    /// The longest packet (Ethernet payload) that it takes, in bytes.
    pub mtu: u32,
    /// May frames leave by it?
    pub up: bool,
}

/// One change of a table. Setting what exists replaces it in one step, so that no packet finds it missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableOp {
    /// Configures a port, or changes how it is configured.
    PortSet {
        /// A port of this device; [`TableError::NoPort`] if there is none of that number.
        port: PortId,
        /// Replaces the whole configuration that the port had.
        config: PortConfig,
    },
    /// Says whether what lies beyond a port answers. While it does not, the members of groups on the port give way to
    /// their backups, or to other members, as if the port were down. Packets that have no other way, and those of the
    /// node itself, such as find out whether the far end is back, still leave.
    PortTrust {
        /// A port of this device; [`TableError::NoPort`] if there is none of that number.
        port: PortId,
        /// Does the far end answer? It is taken to until this is said.
        trusted: bool,
    },
    /// Puts an entry in the incoming label map.
    IlmSet {
        /// The outermost label of packets that come to this node; not a reserved one.
        label: Label,
        /// What to do with it.
        nhlfe: Nhlfe,
    },
    /// Takes an entry out of the incoming label map.
    IlmRemove {
        /// The outermost label of packets that come to this node; not a reserved one.
        label: Label,
    },
    /// Says where what comes by a channel of ATM goes that is a label of its port (RFC 3035).
    CircuitSet {
        /// The port, which carries cells.
        port: PortId,
        /// The label that the channel is there.
        label: Label,
        /// Where it goes.
        to: CircuitTo,
    },
    /// Has cells of a channel dropped again.
    CircuitRemove {
        /// The port, which carries cells.
        port: PortId,
        /// The label that the channel is there.
        label: Label,
    },
    /// Says how many hops an LSP is long that begins with a channel: packets that enter it there lose as many of their
    /// time to live (RFC 3035, 10).
    CircuitHops {
        /// The port, which carries cells.
        port: PortId,
        /// The label that the channel is there.
        label: Label,
        /// The hops; absent or zero if nobody knows, and a packet loses one.
        hops: Option<u8>,
    },
    /// Maps a forwarding equivalence class to an LSP.
    FtnSet {
        /// What the packets of the entry have in common.
        fec: Fec,
        /// What to do with them.
        nhlfe: Nhlfe,
    },
    /// Takes the mapping away; the route, if there is one, is used again.
    FtnRemove {
        /// What the packets of the entry have in common.
        fec: Fec,
    },
    /// Puts a route in the FIB.
    RouteSet {
        /// Destinations that take the route; of several prefixes the longest that fits.
        prefix: Prefix,
        /// Where to.
        next_hop: NextHop,
    },
    /// Takes a route out of the FIB.
    RouteRemove {
        /// Destinations that take the route; of several prefixes the longest that fits.
        prefix: Prefix,
    },
    /// Puts an IPv6 route in the FIB. The first one makes a node forward IPv6: without any it drops what comes.
    Route6Set {
        /// Destinations that take the route; of several prefixes the longest that fits.
        prefix: Prefix6,
        /// Where to.
        next_hop: NextHop,
    },
    /// Takes an IPv6 route out of the FIB.
    Route6Remove {
        /// Destinations that take the route; of several prefixes the longest that fits.
        prefix: Prefix6,
    },
    /// Makes a group of next hops, or gives one other members. Flows of members that stay stay where they are.
    GroupSet {
        /// The group, which entries name by [`NextHop::Group`].
        group: GroupId,
        /// 1 to [`MEMBERS_MAX`], none of them twice; their order does not count.
        members: Box<[Member]>,
    },
    /// Forgets a group; [`TableError::InUse`] if an entry names it.
    GroupRemove {
        /// As it was set.
        group: GroupId,
    },
    /// Makes a replication list, or gives one other branches. Without branches it drops what comes.
    ReplicationSet {
        /// The list, which entries name by [`NextHop::Replicate`].
        list: ReplicationId,
        /// What is done with each copy: labels put on, and where it goes. At the end of an LSP that goes on as well one
        /// of them is [`NextHop::Local`].
        branches: Branches,
    },
    /// Forgets a replication list; [`TableError::InUse`] if an entry names it.
    ReplicationRemove {
        /// As it was set.
        list: ReplicationId,
    },
    /// Makes a selector, or has it take the packets of another label, in one step.
    SelectorSet {
        /// The selector, which entries of the incoming label map name by [`NextHop::Selected`].
        selector: SelectorId,
        /// The label of which packets are taken; none if absent.
        label: Option<Label>,
    },
    /// Forgets a selector; [`TableError::InUse`] if an entry names it.
    SelectorRemove {
        /// As it was set.
        selector: SelectorId,
    },
    /// Has packets to a group that arrive one way leave by the branches of a list. Those that arrive in no way which
    /// an entry of the group names fail the check of the reverse path.
    MulticastSet {
        /// Which packets.
        key: GroupKey,
        /// How they have to arrive; a group may have an entry for each way.
        incoming: Incoming,
        /// Where the copies go. What leaves without a label has the group itself as gateway.
        list: ReplicationId,
    },
    /// Takes such an entry out.
    MulticastRemove {
        /// Which packets.
        key: GroupKey,
        /// How they had to arrive.
        incoming: Incoming,
    },
    /// Lets only packets to groups leave by a port whose time to live on arrival is above a threshold.
    MulticastThreshold {
        /// The port by which they leave.
        port: PortId,
        /// The threshold; 0 lets all leave.
        ttl: u8,
    },
    /// Tells a neighbour's Ethernet address.
    AdjacencySet {
        /// The port that the neighbour is on.
        port: PortId,
        /// Address of the neighbour on that port.
        gateway: IpAddr,
        /// Ethernet address that frames to it get as destination.
        mac: MacAddr,
    },
    /// Forgets a neighbour's Ethernet address.
    AdjacencyRemove {
        /// The port that the neighbour was on.
        port: PortId,
        /// Address of the neighbour on that port.
        gateway: IpAddr,
    },
}

/// Operations that are carried out in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Comes back in the acknowledgement.
    pub transaction: TransactionId,
    /// Carried out in this order; one that fails does not stop the rest.
    pub ops: Vec<TableOp>,
    /// Wait for all earlier batches to be acknowledged first.
    pub barrier: bool,
}

/// The driver's answer to a [`Batch`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ack {
    /// Number of the batch that is answered, as its sender chose it.
    pub transaction: TransactionId,
    /// The operations that failed, by their place in the batch; the others are in force.
    pub failed: Vec<(u32, TableError)>,
}

/// Why a table operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum TableError {
    /// The table has no room.
    #[error("the table is full")]
    Full,
    /// There is no room for what an LSP knows of PHBs (its DiffServ context: RFC 3270, 2.5).
    #[error("there is no room for another DiffServ context")]
    NoContext,
    /// There is no such entry.
    #[error("there is no such entry")]
    NoEntry,
    /// There is no such port.
    #[error("there is no such port")]
    NoPort,
    /// A reserved label can't be bound (RFC 3032, 2.1).
    #[error("a reserved label can't be bound")]
    ReservedLabel,
    /// A filter that can take no packet.
    #[error("the filter can take no packet")]
    Filter,
    /// There is no such group of next hops, or no such replication list.
    #[error("there is no such group of next hops")]
    NoGroup,
    /// A group without members, with too many, with one twice, or with one on a connected network.
    #[error("a group has 1 to {MEMBERS_MAX} members, each a different neighbour")]
    Group,
    /// An entry for a group whose address is none, or whose source is none or of the other family.
    #[error("an entry for a group has a multicast address and a source of its family")]
    NotAGroup,
    /// A branch that replicates again.
    #[error("a branch of a replication list can't replicate")]
    Nested,
    /// The device refused the write, for a reason of its own.
    #[error("the device refused the write")]
    Refused,
    /// There is no such selector, or an entry that can't have one names it: a selector is of labels.
    #[error("there is no such selector")]
    NoSelector,
    /// Entries name it: they have to go first.
    #[error("entries still use it")]
    InUse,
}
