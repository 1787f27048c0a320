//! Groups: who wants them here, and where their packets go.
//!
//! Protocols of hosts (IGMP) and users note which ports want a group. Protocols of trees (CBT, PIM) are told, bring the
//! packets here, and say how they leave again: from which way of arrival by which branches. A group is so bound to
//! whatever tree brings it: the branches of one may push labels and those of another not.

use base::plane::{GroupKey, Incoming, Nhlfe, ReplicationId, TableOp};
use base::{PortId, ProtocolId};
use core::net::IpAddr;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Where packets of a group go that arrive in one way, and who says so.
#[derive(Clone, Debug)]
struct Way {
    owner: ProtocolId,
    list: ReplicationId,
    branches: Vec<Nhlfe>,
}

/// The groups of a node.
#[derive(Clone, Debug, Default)]
pub struct Multicast {
    wanted: BTreeMap<GroupKey, BTreeSet<(PortId, ProtocolId)>>,
    ways: BTreeMap<(GroupKey, Incoming), Way>,
    /// The number of the next list; numbers are not used again, so that no late write hits another's list.
    made: u32,
    ops: VecDeque<TableOp>,
    /// Keys that others want than before; nobody has been told yet.
    changed: VecDeque<GroupKey>,
    /// Packets that came by a port that they are sent to; nobody has been told yet.
    wrong: VecDeque<(GroupKey, PortId)>,
}

impl Multicast {
    /// A port wants packets that `key` takes, or does so no more, says `owner`.
    pub fn want(&mut self, key: GroupKey, port: PortId, owner: ProtocolId, wanted: bool) {
        let ports = self.wanted.entry(key).or_default();
        let is_new = if wanted { ports.insert((port, owner)) } else { ports.remove(&(port, owner)) };
        if ports.is_empty() {
            self.wanted.remove(&key);
        }
        if is_new {
            self.changed.push_back(key);
        }
    }

    /// The ports that want just this: (S,G), or (*,G).
    pub fn wanted(&self, key: GroupKey) -> Vec<PortId> {
        let ports = self.wanted.get(&key).into_iter().flatten();
        let mut ports: Vec<PortId> = ports.map(|(port, _)| *port).collect();
        ports.dedup();
        ports
    }

    /// The ports that want any packets of a group.
    pub fn wanting(&self, group: IpAddr) -> Vec<PortId> {
        let keys = self.wanted.iter().filter(|(key, _)| key.group == group);
        let ports: BTreeSet<PortId> =
            keys.flat_map(|(_, ports)| ports.iter().map(|(port, _)| *port)).collect();
        ports.into_iter().collect()
    }

    /// All that is wanted: key, port, and who says so.
    pub fn all_wanted(&self) -> impl Iterator<Item = (GroupKey, PortId, ProtocolId)> {
        self.wanted.iter().flat_map(|(key, ports)| ports.iter().map(|(port, owner)| (*key, *port, *owner)))
    }

    /// A number for a list of a protocol's own, of packets with labels.
    pub fn list(&mut self) -> ReplicationId {
        self.made += 1;
        ReplicationId(self.made)
    }

    /// Has packets of `key` that arrive in a way leave by these branches; none takes the entry out. Returns false if
    /// another protocol has said where they go.
    pub fn set(
        &mut self,
        owner: ProtocolId,
        (key, incoming): (GroupKey, Incoming),
        branches: Vec<Nhlfe>,
    ) -> bool {
        match self.ways.get_mut(&(key, incoming)) {
            Some(way) if way.owner != owner => false,
            Some(_) if branches.is_empty() => {
                if let Some(way) = self.ways.remove(&(key, incoming)) {
                    self.ops.push_back(TableOp::MulticastRemove { key, incoming });
                    self.ops.push_back(TableOp::ReplicationRemove { list: way.list });
                }
                true
            }
            Some(way) => {
                if way.branches != branches {
                    self.ops.push_back(set_list(way.list, &branches));
                    way.branches = branches;
                }
                true
            }
            None if branches.is_empty() => true,
            None => {
                let list = self.list();
                self.ops.push_back(set_list(list, &branches));
                self.ops.push_back(TableOp::MulticastSet { key, incoming, list });
                self.ways.insert((key, incoming), Way { owner, list, branches });
                true
            }
        }
    }

    /// The ways of a protocol: key and way of arrival.
    pub fn ways(&self, owner: ProtocolId) -> Vec<(GroupKey, Incoming)> {
        self.ways.iter().filter(|(_, way)| way.owner == owner).map(|(key, _)| *key).collect()
    }

    /// Every way with its owner and its branches.
    pub fn all_ways(&self) -> impl Iterator<Item = (GroupKey, Incoming, ProtocolId, &[Nhlfe])> {
        self.ways.iter().map(|((key, incoming), way)| (*key, *incoming, way.owner, &way.branches[..]))
    }

    /// Has a threshold written for what leaves by a port.
    pub fn set_threshold(&mut self, port: PortId, ttl: u8) {
        self.ops.push_back(TableOp::MulticastThreshold { port, ttl });
    }

    /// The tables are empty, and nothing is known any more.
    pub(crate) fn restart(&mut self) {
        *self = Multicast { made: self.made, ..Multicast::default() };
    }

    /// A packet of `key` came by a port that such packets are sent to.
    pub fn note_wrong(&mut self, key: GroupKey, port: PortId) {
        self.wrong.push_back((key, port));
    }

    /// Is anybody to be told, or anything to be written?
    #[inline]
    pub(crate) fn is_changed(&self) -> bool {
        !self.changed.is_empty() || !self.ops.is_empty() || !self.wrong.is_empty()
    }

    /// A packet that came by a port that it is sent to.
    pub(crate) fn poll_wrong(&mut self) -> Option<(GroupKey, PortId)> {
        self.wrong.pop_front()
    }

    /// A key that others want than before.
    pub(crate) fn poll_change(&mut self) -> Option<GroupKey> {
        self.changed.pop_front()
    }

    /// What is to be written.
    pub(crate) fn poll_op(&mut self) -> Option<TableOp> {
        self.ops.pop_front()
    }
}

fn set_list(list: ReplicationId, branches: &[Nhlfe]) -> TableOp {
    TableOp::ReplicationSet { list, branches: branches.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::plane::{LabelStack, NextHop, TcSource, TtlModel};

    const CBT: ProtocolId = ProtocolId::new("cbt");
    const IGMP: ProtocolId = ProtocolId::new("igmp");

    #[test]
    fn wants_are_told_once_and_ways_are_written() {
        let key = GroupKey { group: [239, 1, 1, 1].into(), source: None };
        let mut groups = Multicast::default();
        groups.want(key, PortId(1), IGMP, true);
        groups.want(key, PortId(1), IGMP, true);
        groups.want(key, PortId(1), CBT, true);
        assert_eq!(core::iter::from_fn(|| groups.poll_change()).count(), 2);
        assert_eq!((groups.wanted(key), groups.wanting(key.group)), (vec![PortId(1)], vec![PortId(1)]));
        let branch = Nhlfe {
            push: LabelStack::EMPTY,
            next_hop: NextHop::Via { port: PortId(1), gateway: key.group },
            ttl: TtlModel::Uniform,
            tc: TcSource::Copy,
        };
        let way = (key, Incoming::Port(PortId(0)));
        assert!(groups.set(CBT, way, vec![branch]) && groups.set(CBT, way, vec![branch]));
        assert!(!groups.set(IGMP, way, vec![branch]), "another has it");
        assert_eq!(core::iter::from_fn(|| groups.poll_op()).count(), 2);
        assert!(groups.set(CBT, way, Vec::new()) && groups.ways(CBT).is_empty());
        let list = ReplicationId(1);
        let gone = [TableOp::MulticastRemove { key, incoming: way.1 }, TableOp::ReplicationRemove { list }];
        assert_eq!(core::iter::from_fn(|| groups.poll_op()).collect::<Vec<_>>(), gone);
    }
}
