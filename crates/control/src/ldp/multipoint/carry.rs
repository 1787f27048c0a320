//! Traffic of point-to-multipoint LSPs: what is mapped to the list that copies it at the root, and groups at leaves.

use super::command::TreeSpec;
use super::tree::{entry, is_own, replicate};
use super::writes::Made;
use super::{Multipoint, Tree};
use crate::ldp::Ldp;
use crate::services::{After, Binder, Pace, Services, WatchedLsp};
use base::plane::{
    Fec, GroupKey, Incoming, IpPrefix, LabelStack, NextHop, Nhlfe, Prefix, ReplicationId, TableOp,
};
use core::net::IpAddr;
use std::collections::BTreeSet;
use std::sync::Arc;
use wire::ldp::P2mp;

/// How good entries of these LSPs are among those for the packets of a prefix: a user asked for them, as for tunnels of
/// RSVP-TE, which come before.
const PREFERENCE: u8 = 8;
/// Filters of an LSP have as many bits of their order.
const FILTER_BITS: u32 = 20;
/// Filters of these LSPs come behind those of all LSPs of RSVP-TE.
const FIRST: u64 = 1 << 41;

/// An LSP at its root.
#[derive(Debug)]
pub(super) struct Root {
    spec: Arc<TreeSpec>,
    /// Declared as this number.
    sequence: u64,
    /// What is mapped to its list.
    carried: Option<Arc<TreeSpec>>,
    /// The tables did not take all of that: it is mapped again.
    is_uncarried: bool,
}

impl Root {
    fn new(spec: &Arc<TreeSpec>, sequence: u64) -> Root {
        Root { spec: Arc::clone(spec), sequence, carried: None, is_uncarried: false }
    }

    /// As it is when nothing is signalled.
    pub(super) fn anew(&self) -> Root {
        Root::new(&self.spec, self.sequence)
    }
}

/// What the filters of an LSP take.
fn flows(spec: &TreeSpec, sequence: u64) -> impl Iterator<Item = Fec> {
    let flow = move |(at, &filter)| Fec::Flow { order: (FIRST | sequence) << FILTER_BITS | at, filter };
    (0..1u64 << FILTER_BITS).zip(&spec.filters).map(flow)
}

impl Multipoint {
    /// An LSP begins here, and these packets take it.
    pub(in crate::ldp) fn set_root(&mut self, services: &mut Services, spec: &Arc<TreeSpec>) {
        let lsp = P2mp::generic(services.interfaces.router_id.into(), spec.lsp_id);
        self.trees.entry(lsp.clone()).or_default().name = Some(spec.name.clone());
        match self.roots.get_mut(&lsp) {
            Some(root) => root.spec = Arc::clone(spec),
            None => {
                self.declared += 1;
                self.roots.insert(lsp.clone(), Root::new(spec, self.declared));
            }
        }
        self.update(services, &lsp);
        self.carry(services, &lsp, self.trees.get(&lsp).and_then(Tree::list));
    }

    /// LSPs that begin here whose ends are to watch the root, and how closely.
    pub(in crate::ldp) fn watched(&self) -> impl Iterator<Item = (WatchedLsp, Pace)> + '_ {
        self.roots.iter().filter_map(|(lsp, root)| {
            let IpAddr::V4(address) = lsp.root else { return None };
            let watched = WatchedLsp::LdpP2mp { root: address, lsp_id: root.spec.lsp_id };
            Some((watched, root.spec.watch?))
        })
    }

    /// Packets of an LSP that begins here are copied to these branches from now on (RFC 6388, 2.4.1.5).
    pub(super) fn feed(&mut self, services: &mut Services, lsp: &P2mp, branches: Vec<Nhlfe>) {
        let is_said = self.roots.contains_key(lsp);
        let Some(tree) = self.trees.get_mut(lsp) else { return };
        tree.branches.clone_from(&branches);
        // If nobody has said what takes it, there is nothing to be copied.
        let branches = Some(branches).filter(|branches| is_said && !branches.is_empty());
        if tree.written.list.as_ref().map(|(_, ways)| ways) == branches.as_ref() && !self.is_uncarried(lsp) {
            return;
        }
        if branches.is_none() {
            // Nothing may lead to a list that goes.
            self.carry(services, lsp, None);
            return self.write_list(services, lsp, None);
        }
        self.write_list(services, lsp, branches);
        self.carry(services, lsp, self.trees.get(lsp).and_then(Tree::list));
    }

    /// The tables have not taken everything that is mapped to an LSP.
    pub(super) fn not_carried(&mut self, lsp: &P2mp) {
        if let Some(root) = self.roots.get_mut(lsp) {
            root.is_uncarried = true;
        }
    }

    /// Is it to be mapped again?
    pub(super) fn is_uncarried(&self, lsp: &P2mp) -> bool {
        self.roots.get(lsp).is_some_and(|root| root.is_uncarried)
    }

    /// Brings what is mapped to what the LSP is to carry now by its list.
    fn carry(&mut self, services: &mut Services, lsp: &P2mp, list: Option<ReplicationId>) {
        let Some(root) = self.roots.get_mut(lsp) else { return };
        let wanted = list.map(|_| Arc::clone(&root.spec));
        let sequence = root.sequence;
        let carried = core::mem::replace(&mut root.carried, wanted.clone());
        let is_again = core::mem::take(&mut root.is_uncarried);
        let binder = Binder { preference: PREFERENCE, owner: Ldp::ID, rank: sequence };
        let ops = &mut self.writes.ops;
        let mut groups = BTreeSet::new();
        if let Some(carried) = &carried {
            let kept: &[Prefix] = wanted.as_ref().map_or(&[], |wanted| &wanted.carries);
            for prefix in carried.carries.iter().filter(|prefix| !kept.contains(prefix)) {
                let fec = Fec::Prefix(*prefix);
                match services.bindings.withdraw(IpPrefix::V4(*prefix), binder) {
                    After::Absent | After::Same => {}
                    After::Next(nhlfe) => ops.push(TableOp::FtnSet { fec, nhlfe }),
                    After::Nothing => ops.push(TableOp::FtnRemove { fec }),
                }
            }
            let kept: Vec<Fec> = wanted.iter().flat_map(|wanted| flows(wanted, sequence)).collect();
            let gone = flows(carried, sequence).filter(|fec| !kept.contains(fec));
            ops.extend(gone.map(|fec| TableOp::FtnRemove { fec }));
            groups.extend(carried.groups.iter().copied());
        }
        if let (Some(wanted), Some(list)) = (&wanted, list) {
            let nhlfe = replicate(list);
            let is_same = carried.as_ref().is_some_and(|carried| {
                carried.carries == wanted.carries && carried.filters == wanted.filters
            });
            if !is_same || is_again {
                let mut bind =
                    |prefix: &&Prefix| services.bindings.bind(IpPrefix::V4(**prefix), binder, nhlfe).in_force;
                let prefixes = wanted.carries.iter().filter(&mut bind).map(|prefix| Fec::Prefix(*prefix));
                for fec in prefixes.chain(flows(wanted, sequence)) {
                    self.write(lsp, Made::Carried, TableOp::FtnSet { fec, nhlfe });
                }
            }
            groups.extend(wanted.groups.iter().copied());
        }
        groups.into_iter().for_each(|key| self.carry_group(services, key));
    }

    /// Packets of a group that come from hosts, by ports on which no LDP is spoken, leave by the branches of all LSPs
    /// that carry it.
    fn carry_group(&self, services: &mut Services, key: GroupKey) {
        let carry = |root: &Root| root.carried.as_ref().is_some_and(|carried| carried.groups.contains(&key));
        let carrying = self.roots.iter().filter(|(_, root)| carry(root));
        let trees = carrying.filter_map(|(lsp, _)| self.trees.get(lsp));
        let branches: Vec<Nhlfe> = trees.flat_map(|tree| tree.branches.iter().copied()).collect();
        let ports: Vec<_> = services.interfaces.ports().map(|(port, _)| port).collect();
        for port in ports.into_iter().filter(|port| !self.ports.contains(port)) {
            services.multicast.set(Ldp::ID, (key, Incoming::Port(port)), branches.clone());
        }
    }

    /// LDP begins: groups that are wanted already are told to nobody.
    pub(in crate::ldp) fn start(&self, services: &mut Services) {
        let keys: BTreeSet<GroupKey> = services.multicast.all_wanted().map(|(key, _, _)| key).collect();
        keys.into_iter().for_each(|key| self.wanted(services, key));
    }

    /// This router is a leaf of an LSP from now on, or no more (RFC 6388, 2.4.1.3 and 2.4.2.1).
    pub(in crate::ldp) fn set_leaf(&mut self, services: &mut Services, lsp: &P2mp, name: Option<String>) {
        if is_own(services, lsp.root) {
            return;
        }
        let was_leaf = self.is_leaf();
        if let Some(name) = name {
            let tree = self.trees.entry(lsp.clone()).or_default();
            (tree.name, tree.is_leaf) = (Some(name), true);
        } else if let Some(tree) = self.trees.get_mut(lsp) {
            (tree.name, tree.is_leaf) = (None, false);
        }
        self.update(services, lsp);
        if was_leaf != self.is_leaf() {
            let wanted = services.multicast.all_wanted().map(|(key, _, _)| key);
            let known = services.multicast.ways(Ldp::ID).into_iter();
            let below = known.filter(|(_, incoming)| *incoming == Incoming::Label).map(|(key, _)| key);
            let keys: BTreeSet<GroupKey> = wanted.chain(below).collect();
            keys.into_iter().for_each(|key| self.wanted(services, key));
        }
    }

    fn is_leaf(&self) -> bool {
        self.trees.values().any(|tree| tree.is_leaf)
    }

    /// Other ports than before want packets of a group: what comes off an LSP goes there.
    pub(in crate::ldp) fn wanted(&self, services: &mut Services, key: GroupKey) {
        let ports = if self.is_leaf() { services.multicast.wanted(key) } else { Vec::new() };
        let branch = |port| {
            let gateway: IpAddr = key.group;
            entry(LabelStack::EMPTY, NextHop::Via { port, gateway })
        };
        let branches = ports.into_iter().map(branch).collect();
        // Another tree may bring the group to this router: it has the way then.
        services.multicast.set(Ldp::ID, (key, Incoming::Label), branches);
    }
}
