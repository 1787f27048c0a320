//! Traffic of a P2MP tunnel: what is mapped to the list that copies it to the branches at the root.

use super::command::P2mpSpec;
use super::root::Root;
use super::states::{FeedEvent, RootState};
use super::tree::Feed;
use crate::rsvp::Rsvp;
use crate::rsvp::faults::Fault;
use crate::rsvp::ftn::FILTER_BITS;
use crate::rsvp::tables::Purpose;
use crate::rsvp::transport::Neighbor;
use base::plane::{Fec, Incoming, IpPrefix, Nhlfe, Prefix, TableOp};
use std::sync::Arc;

/// What the filters of a tunnel take.
fn flows(spec: &P2mpSpec, sequence: u64) -> impl Iterator<Item = Fec> {
    let flow = move |(at, &filter)| Fec::Flow { order: sequence << FILTER_BITS | at, filter };
    (0..1u64 << FILTER_BITS).zip(&spec.filters).map(flow)
}

impl Rsvp {
    /// Packets of a tunnel are copied to these branches from now on.
    pub(super) fn p2mp_feed_root(&mut self, tree: u32, from: Neighbor, branches: Vec<Nhlfe>) {
        let Some(state) = self.p2mp.trees.get(tree) else { return self.counters.faults.note(Fault::NoLsp) };
        let Some(index) = state.root else { return self.counters.faults.note(Fault::NoTunnel) };
        let known = state.feeds.get(&from);
        if known.is_some_and(|feed| feed.branches == branches) {
            return;
        }
        if self.p2mp.roots.get(index).is_some_and(|root| root.state == RootState::Retiring) {
            // Nothing is copied to it any more.
            return;
        }
        let list = known.and_then(|feed| feed.list).unwrap_or_else(|| self.services.multicast.list());
        let ops = vec![TableOp::ReplicationSet { list, branches: branches.clone().into() }];
        let purpose = Purpose::Feed { tree, generation: self.p2mp.trees.generation(tree), from };
        let transaction = self.write(ops, true, purpose);
        if let Some(state) = self.p2mp.trees.get_mut(tree) {
            let feed = state.feeds.entry(from).or_insert_with(Feed::new);
            self.counters.faults.step(&mut feed.state, FeedEvent::Fed);
            (feed.transaction, feed.list, feed.branches) = (transaction, Some(list), branches);
        }
        if let Some(root) = self.p2mp.roots.get_mut(index) {
            root.list = Some(list);
        }
        self.p2mp_carry(index);
    }

    /// No branch of a tunnel is left: its packets go as they would without it.
    pub(super) fn p2mp_unfeed_root(&mut self, tree: u32, list: Option<base::plane::ReplicationId>) {
        let Some(index) = self.p2mp.trees.get(tree).and_then(|tree| tree.root) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        if let Some(root) = self.p2mp.roots.get_mut(index) {
            root.list = None;
        }
        self.p2mp_carry(index);
        if let Some(list) = list {
            self.write(vec![TableOp::ReplicationRemove { list }], true, Purpose::Nothing);
        }
    }

    /// Brings what is mapped to what the tunnel is to carry now.
    pub(super) fn p2mp_carry(&mut self, index: u32) {
        if self.p2mp.roots.get(index).is_some_and(|root| root.of.is_some()) {
            return;
        }
        self.p2mp_watch(index);
        let Some(root) = self.p2mp.roots.get_mut(index) else { return };
        let wanted = root.list.map(|_| Arc::clone(&root.spec));
        let (sequence, list) = (root.sequence, root.list);
        let carried = core::mem::replace(&mut root.carried, wanted.clone());
        let mut ops = Vec::new();
        if let Some(carried) = &carried {
            let kept: &[Prefix] = wanted.as_ref().map_or(&[], |wanted| &wanted.carries);
            for prefix in carried.carries.iter().filter(|prefix| !kept.contains(prefix)) {
                ops.extend(self.unbind(IpPrefix::V4(*prefix), sequence));
            }
            let kept: Vec<Fec> = wanted.iter().flat_map(|wanted| flows(wanted, sequence)).collect();
            ops.extend(
                flows(carried, sequence)
                    .filter(|fec| !kept.contains(fec))
                    .map(|fec| TableOp::FtnRemove { fec }),
            );
            for key in &carried.groups {
                if wanted.as_ref().is_none_or(|wanted| !wanted.groups.contains(key)) {
                    self.p2mp_group(*key);
                }
            }
        }
        let same = carried.as_ref().zip(wanted.as_ref()).is_some_and(|(carried, wanted)| {
            carried.carries == wanted.carries && carried.filters == wanted.filters
        });
        if let (Some(wanted), Some(list)) = (&wanted, list) {
            let nhlfe = self.replicate(list);
            if !same {
                for prefix in &wanted.carries {
                    if self.bind(IpPrefix::V4(*prefix), sequence, nhlfe) {
                        ops.push(TableOp::FtnSet { fec: Fec::Prefix(*prefix), nhlfe });
                    }
                }
                ops.extend(flows(wanted, sequence).map(|fec| TableOp::FtnSet { fec, nhlfe }));
            }
            for key in &wanted.groups {
                self.p2mp_group(*key);
            }
        }
        self.write_ftn(ops);
    }

    /// Packets of a group that come from hosts, by ports that speak no RSVP, leave by the branches of all tunnels that
    /// carry it.
    fn p2mp_group(&mut self, key: base::plane::GroupKey) {
        let carry = |root: &&Root| root.carried.as_ref().is_some_and(|carried| carried.groups.contains(&key));
        let trees = self.p2mp.by_id.values().filter_map(|&root| self.p2mp.roots.get(root)).filter(carry);
        let feeds = trees.filter_map(|root| self.p2mp.trees.get(root.tree?)?.feeds.values().next());
        let branches: Vec<Nhlfe> = feeds.flat_map(|feed| feed.branches.iter().copied()).collect();
        let ports: Vec<_> = self.services.interfaces.ports().map(|(port, _)| port).collect();
        for port in ports.into_iter().filter(|port| self.links.get(*port).is_none()) {
            let way = (key, Incoming::Port(port));
            self.services.multicast.set(Rsvp::ID, way, branches.clone());
        }
    }
}
