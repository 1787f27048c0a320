//! The tables as plain values, in a defined order, for people and programs to look at.

use crate::classed::ClassList;
use crate::entry::{Entry, Kind};
use crate::fib::Known;
use crate::port::PortCounters;
use crate::tables::Forwarding;
use base::device::DropCounters;
use base::flow::FlowFilter;
use base::plane::{
    GroupId, GroupKey, Incoming, Member, NextHop, Nhlfe, PortConfig, Prefix, Prefix6, ReplicationId,
    SelectorId,
};
use base::{Label, MacAddr, PhbSet, PortId};
use core::net::IpAddr;

/// A bound label. Packets and bytes are those received with it, whatever became of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IlmRow {
    /// Outermost label of the packets that the entry takes.
    pub label: Label,
    /// What is done with the packets, in the words of the control plane.
    pub nhlfe: Nhlfe,
    /// Packets received with the label.
    pub packets: u64,
    /// Bytes of their frames as received.
    pub bytes: u64,
}

/// A prefix that is mapped to an LSP, or packets of some PHBs to it that are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FtnRow<P = Prefix> {
    /// Destinations that the entry takes, unless a longer prefix does.
    pub prefix: P,
    /// The PHBs, and the place among the entries of the prefix; all packets that no such entry takes if absent.
    pub classes: Option<(u64, PhbSet)>,
    /// What is done with the packets, in the words of the control plane.
    pub nhlfe: Nhlfe,
    /// Packets that left by this entry.
    pub packets: u64,
    /// Bytes of their frames as sent, labels included.
    pub bytes: u64,
}

/// A filter that is mapped to an LSP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterRow {
    /// Its place among the filters; the lowest that takes a packet wins.
    pub order: u64,
    /// Takes packets that match all of its fields.
    pub filter: FlowFilter,
    /// What is done with the packets, in the words of the control plane.
    pub nhlfe: Nhlfe,
    /// Packets that left by this entry.
    pub packets: u64,
    /// Bytes of their frames as sent, labels included.
    pub bytes: u64,
}

/// A route: destinations without a label to push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FibRow<P = Prefix> {
    /// Destinations that the entry takes, unless a longer prefix does.
    pub prefix: P,
    /// Where packets go next.
    pub next_hop: NextHop,
    /// Is there a mapping of the same prefix to an LSP, so that the route is not used?
    pub hidden: bool,
    /// Packets that left by this entry.
    pub packets: u64,
    /// Bytes of their frames as sent.
    pub bytes: u64,
}

/// A neighbour beyond a port, or a connected network as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdjacencyRow {
    /// Number of the port at this device.
    pub port: PortId,
    /// The neighbour's address; the unspecified one for a connected network.
    pub gateway: IpAddr,
    /// The neighbour's Ethernet address, if it is known.
    pub mac: Option<MacAddr>,
    /// Table entries, and members of groups, that use it.
    pub uses: u32,
}

/// A member of a group of next hops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupRow {
    /// The group, as its writer named it.
    pub group: GroupId,
    /// Neighbour and outer labels, and what is taken while they can't be.
    pub member: Member,
    /// Entries that name the group.
    pub uses: u32,
}

/// A branch of a replication list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchRow {
    /// The list, as its writer named it.
    pub list: ReplicationId,
    /// What is done with the copy, in the words of the control plane.
    pub nhlfe: Nhlfe,
    /// Copies that left by this branch.
    pub packets: u64,
    /// Bytes of their frames as sent, labels included.
    pub bytes: u64,
}

/// An entry for a group: packets that arrive in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MulticastRow {
    /// Which packets it takes.
    pub key: GroupKey,
    /// How they have to arrive.
    pub incoming: Incoming,
    /// The list whose branches they leave by.
    pub list: ReplicationId,
    /// Packets that arrived so.
    pub packets: u64,
    /// Bytes of their frames as received.
    pub bytes: u64,
}

/// A port, how it is configured, and what went through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRow {
    /// Number of the port at this device.
    pub port: PortId,
    /// As the control plane configured it last.
    pub config: PortConfig,
    /// Does what lies beyond it answer, as far as control has said? Members of groups on it give way otherwise.
    pub trusted: bool,
    /// What went through it.
    pub counters: PortCounters,
}

impl Forwarding {
    /// All ILM entries, sorted by label.
    pub fn ilm(&self) -> impl Iterator<Item = IlmRow> {
        self.ilm.iter().map(|(label, e)| IlmRow {
            label,
            nhlfe: self.nhlfe(e),
            packets: e.packets,
            bytes: e.bytes,
        })
    }

    /// The ILM entry of `label`, if it is bound.
    pub fn ilm_row(&self, label: Label) -> Option<IlmRow> {
        let e = self.ilm.get(label.value()).filter(|e| e.kind != Kind::Empty)?;
        Some(IlmRow { label, nhlfe: self.nhlfe(e), packets: e.packets, bytes: e.bytes })
    }

    /// Does an LSP end here with `label`?
    #[inline]
    pub fn is_local(&self, label: Label) -> bool {
        self.ilm.get(label.value()).is_some_and(|e| matches!(e.kind, Kind::Local | Kind::Selected))
    }

    /// Selectors in the order of their numbers, each with the label of which it takes packets.
    pub fn selectors(&self) -> impl Iterator<Item = (SelectorId, Option<Label>)> {
        self.selectors.iter()
    }

    /// How many labels are bound.
    pub fn ilm_len(&self) -> usize {
        self.ilm.len()
    }

    /// Prefixes mapped to LSPs, by prefix, those for some PHBs first.
    pub fn ftn(&self) -> impl Iterator<Item = FtnRow> {
        let row = |prefix, classes, e: &Entry| FtnRow {
            prefix,
            classes,
            nhlfe: self.nhlfe(e),
            packets: e.packets,
            bytes: e.bytes,
        };
        self.prefixes_counted().flat_map(move |(prefix, known)| {
            let list = self.fib.class_list(known.classed).into_iter().flat_map(ClassList::iter);
            let classed = list.map(move |c| row(prefix, Some((c.order, c.classes)), &c.entry));
            let plain = (known.ftn.kind != Kind::Empty).then(|| row(prefix, None, &known.ftn));
            classed.chain(plain)
        })
    }

    /// Filters mapped to LSPs, in the order in which they are looked at.
    pub fn filters(&self) -> impl Iterator<Item = FilterRow> {
        self.filters.iter().map(|f| FilterRow {
            order: f.order,
            filter: f.filter,
            nhlfe: self.nhlfe(&f.entry),
            packets: f.entry.packets,
            bytes: f.entry.bytes,
        })
    }

    /// All prefixes, sorted, with all that they have to count.
    fn prefixes_counted(&self) -> impl Iterator<Item = (Prefix, Known)> {
        let counted = self.recent.counted();
        self.fib.places().filter_map(move |(prefix, place)| {
            let mut known = *self.fib.get(place)?;
            if let Some(counted) = counted.get(&place) {
                known.active_mut().count_all(*counted);
            }
            Some((prefix, known))
        })
    }

    /// Routes, sorted by prefix.
    pub fn fib(&self) -> impl Iterator<Item = FibRow> {
        let routes = self.prefixes_counted().filter(|(_, known)| known.route.kind != Kind::Empty);
        routes.map(|(prefix, known)| FibRow {
            prefix,
            next_hop: self.nhlfe(&known.route).next_hop,
            hidden: known.ftn.kind != Kind::Empty,
            packets: known.route.packets,
            bytes: known.route.bytes,
        })
    }

    /// IPv6 routes, sorted by prefix.
    pub fn fib6(&self) -> impl Iterator<Item = FibRow<Prefix6>> {
        let all = self.fib6.iter().flat_map(|fib| fib.iter());
        all.filter(|(_, known)| known.route.kind != Kind::Empty).map(|(prefix, known)| FibRow {
            prefix,
            next_hop: self.nhlfe(&known.route).next_hop,
            hidden: known.ftn.kind != Kind::Empty,
            packets: known.route.packets,
            bytes: known.route.bytes,
        })
    }

    /// IPv6 prefixes mapped to LSPs, by prefix.
    pub fn ftn6(&self) -> impl Iterator<Item = FtnRow<Prefix6>> {
        let all = self.fib6.iter().flat_map(|fib| fib.iter());
        all.filter(|(_, known)| known.ftn.kind != Kind::Empty).map(|(prefix, known)| FtnRow {
            prefix,
            classes: None,
            nhlfe: self.nhlfe(&known.ftn),
            packets: known.ftn.packets,
            bytes: known.ftn.bytes,
        })
    }

    /// Neighbours that an entry uses or whose Ethernet address is known.
    pub fn adjacencies(&self) -> impl Iterator<Item = AdjacencyRow> {
        self.adjacencies.iter().map(|a| AdjacencyRow {
            port: a.port,
            gateway: a.gateway,
            mac: a.mac,
            uses: a.uses,
        })
    }

    /// Members of all groups of next hops: groups by number, the members of each in the order in which they were given.
    pub fn groups(&self) -> impl Iterator<Item = GroupRow> {
        self.adjacencies.group_ids().flat_map(|(group, index)| {
            let uses = self.adjacencies.uses(index);
            self.members_of(index).into_iter().map(move |member| GroupRow { group, member, uses })
        })
    }

    /// Branches of all replication lists: lists by number, branches in order.
    pub fn replications(&self) -> impl Iterator<Item = BranchRow> {
        self.lists.iter().flat_map(move |(list, branches)| {
            let row =
                move |e: &Entry| BranchRow { list, nhlfe: self.nhlfe(e), packets: e.packets, bytes: e.bytes };
            branches.iter().map(row)
        })
    }

    /// Entries for groups: in order of their keys.
    pub fn multicast(&self) -> impl Iterator<Item = MulticastRow> {
        self.multicast.iter().flat_map(|groups| groups.iter()).map(|(key, incoming, entry)| MulticastRow {
            key,
            incoming,
            list: self.lists.id(entry.next_hop).unwrap_or_default(),
            packets: entry.packets,
            bytes: entry.bytes,
        })
    }

    /// Ports by which packets to groups leave only if their time to live is above a threshold, and that.
    pub fn thresholds(&self) -> impl Iterator<Item = (PortId, u8)> {
        self.multicast.iter().flat_map(|groups| groups.thresholds())
    }

    /// The Ethernet address of a neighbour, if it is known.
    pub fn neighbour_mac(&self, port: PortId, gateway: IpAddr) -> Option<MacAddr> {
        self.adjacencies.mac(self.adjacencies.find(port, gateway)?)
    }

    /// Ports, sorted by number.
    pub fn ports(&self) -> impl Iterator<Item = PortRow> {
        self.ports.iter().map(|(port, p)| PortRow {
            port,
            config: p.config(),
            trusted: p.trusted,
            counters: p.counters,
        })
    }

    /// What went through one port.
    pub fn port_counters(&self, port: PortId) -> PortCounters {
        self.ports.get(port).map(|p| p.counters).unwrap_or_default()
    }

    /// How one port is configured.
    pub fn port(&self, port: PortId) -> Option<PortConfig> {
        Some(self.ports.get(port)?.config())
    }

    /// Do members of groups on a port take packets: is it up, and does what lies beyond answer?
    pub fn is_usable(&self, port: PortId) -> bool {
        self.ports.is_up(port)
    }

    /// Counts a frame that the node sends by itself and that no table was asked for (ARP).
    pub fn count_tx(&mut self, port: PortId, frame: &base::Frame) {
        self.ports.count_tx(port, u64::from(frame.wire_len()));
    }

    /// Frames discarded, by reason.
    pub fn drops(&self) -> &DropCounters {
        &self.drops
    }
}
