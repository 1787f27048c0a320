//! The root of point-to-multipoint LSPs: leaves are grafted, pruned, and tried again when they fail.

use super::command::{P2mpId, P2mpSpec, Signalling};
use super::compute::asked_routes;
use super::loss::Loss;
use super::make_before_break::Change;
use super::path::Placed;
use super::states::{LeafEvent, LeafState, RootState, SubEvent};
use super::tree::Attributes;
use super::{Alarm, P2mpKey, SubKey, TreeKey, here};
use crate::rsvp::command::ReservationStyle;
use crate::rsvp::computed::distrust;
use crate::rsvp::error::words;
use crate::rsvp::event::Event;
use crate::rsvp::faults::Fault;
use crate::rsvp::ingress::adspec;
use crate::rsvp::lsp::SenderKey;
use crate::rsvp::{Rsvp, Timer};
use crate::services::WatchedPath;
use crate::services::te::TeHop;
use base::plane::ReplicationId;
use base::{Rate, Time};
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use wire::rsvp::error_code::{self, routing};
use wire::rsvp::{
    Adspec, Affinities, FastReroute, LabelRequest, Object, SenderTspec, SessionAttribute, TokenBucket,
    Unknown,
};

/// A leaf of a tunnel.
#[derive(Clone, Debug)]
pub(super) struct RootLeaf {
    pub state: LeafState,
    /// The path, where it was computed.
    pub way: Vec<TeHop>,
    /// The sub-group that it is signalled in.
    pub sub: Option<u32>,
    /// Attempts that failed since it was up last.
    pub failures: u32,
    pub retry_at: Time,
    /// When an attempt without an answer has failed.
    pub give_up_at: Time,
    /// What was wrong last, in words.
    pub problem: Option<String>,
}

impl RootLeaf {
    pub(super) const fn new() -> RootLeaf {
        RootLeaf {
            state: LeafState::Down,
            way: Vec::new(),
            sub: None,
            failures: 0,
            retry_at: Time::MAX,
            give_up_at: Time::MAX,
            problem: None,
        }
    }
}

/// An LSP of a tunnel at its root: the one that carries the traffic stands for the tunnel, others are made to take its
/// place, or have made room for it.
#[derive(Debug)]
pub(super) struct Root {
    /// As which it is signalled. What it carries is as the user wants it.
    pub spec: Arc<P2mpSpec>,
    pub state: RootState,
    /// Declared as this number.
    pub sequence: u64,
    pub lsp_id: u16,
    pub tree: Option<u32>,
    pub leaves: BTreeMap<Ipv4Addr, RootLeaf>,
    /// The list that copies its packets, while there is one.
    pub list: Option<ReplicationId>,
    /// What is mapped to the list.
    pub carried: Option<Arc<P2mpSpec>>,
    /// The LSP as BFD is to watch it.
    pub watched: Option<WatchedPath>,
    pub alarm: Alarm,
    /// The LSP that stands for the tunnel; absent for that one itself.
    pub of: Option<u32>,
    /// Of the one that stands for the tunnel: what is to take its place.
    pub change: Change,
    /// Of one that carried the traffic before: when it goes. [`Time::MAX`] until the tables send the traffic elsewhere.
    pub gone_at: Time,
}

impl Root {
    pub(super) fn new(spec: &Arc<P2mpSpec>, sequence: u64, lsp_id: u16) -> Root {
        Root {
            spec: Arc::clone(spec),
            state: RootState::Carrying,
            sequence,
            lsp_id,
            tree: None,
            leaves: spec.leaves.iter().map(|leaf| (leaf.address, RootLeaf::new())).collect(),
            list: None,
            carried: None,
            watched: None,
            alarm: Alarm::default(),
            of: None,
            change: Change::new(spec),
            gone_at: Time::MAX,
        }
    }
}

/// FAST_REROUTE of Paths of a tunnel that asks for protection: facility backup, with the bandwidth of the tree.
fn asked_protection(spec: &P2mpSpec) -> Option<Unknown> {
    spec.protection?;
    let wanted = spec.path.affinities;
    Unknown::of(&Object::FastReroute(FastReroute {
        setup_priority: spec.setup_priority.min(7),
        holding_priority: spec.holding_priority.min(7),
        hop_limit: u8::MAX,
        flags: FastReroute::FACILITY,
        bandwidth: spec.bandwidth.as_bytes_per_s(),
        include_any: wanted.include_any,
        exclude_any: wanted.exclude_any,
        include_all: Some(wanted.include_all),
    }))
}

impl Rsvp {
    /// Sets a tunnel up, or changes it.
    pub(in crate::rsvp) fn p2mp_set(&mut self, spec: &Arc<P2mpSpec>) {
        let id = spec.id();
        let Some(&index) = self.p2mp.by_id.get(&id) else {
            self.p2mp.declared += 1;
            let first = self.restarts.wrapping_mul(4096).wrapping_add(1);
            // Behind all tunnels with one end.
            let mut root = Root::new(spec, 1 << 40 | self.p2mp.declared, first);
            root.change.check_again(self.now);
            let index = self.p2mp.roots.insert(root);
            self.p2mp.by_id.insert(id, index);
            return self.p2mp_signal(index, &spec.leaves.iter().map(|leaf| leaf.address).collect());
        };
        self.p2mp_change(index, spec);
    }

    /// Tears a tunnel down and forgets it.
    pub(in crate::rsvp) fn p2mp_remove(&mut self, id: P2mpId) {
        let Some(index) = self.p2mp.by_id.remove(&id) else { return };
        self.p2mp_drop_others(index);
        let leaves = self.p2mp.roots.get(index).map(|root| root.leaves.keys().copied().collect());
        self.p2mp_withdraw(index, &leaves.unwrap_or_default(), LeafEvent::Withdrawn);
        if let Some(mut root) = self.p2mp.roots.remove(index) {
            root.alarm.cancel(&mut self.wheel);
        }
    }

    /// What all Paths of a tunnel say.
    fn p2mp_attributes(&self, spec: &P2mpSpec) -> Attributes {
        let asked = spec.path.affinities;
        let mut flags = 0;
        if spec.style == ReservationStyle::SharedExplicit {
            flags |= SessionAttribute::SE_STYLE;
        }
        if let Some(asked) = spec.protection {
            // RFC 4090, 5.
            flags |= SessionAttribute::LOCAL_PROTECTION | SessionAttribute::LABEL_RECORDING;
            flags |= if asked.node { SessionAttribute::NODE_PROTECTION } else { 0 };
            flags |= if asked.bandwidth { SessionAttribute::BANDWIDTH_PROTECTION } else { 0 };
        }
        let mtus = self.links.iter().map(|link| link.interface.mtu);
        let name = spec.name.as_bytes();
        Attributes {
            tspec: SenderTspec(TokenBucket::constant(
                spec.bandwidth.as_bytes_per_s(),
                mtus.min().unwrap_or(1500),
            )),
            session_attribute: Some(SessionAttribute {
                affinities: (!asked.is_empty()).then_some(Affinities {
                    exclude_any: asked.exclude_any,
                    include_any: asked.include_any,
                    include_all: asked.include_all,
                }),
                setup_priority: spec.setup_priority.min(7),
                holding_priority: spec.holding_priority.min(7),
                flags,
                name: name.get(..name.len().min(255)).unwrap_or_default().to_vec(),
            }),
            l3pid: LabelRequest::IPV4,
        }
    }

    /// ADSPEC of Paths that begin here, as those of tunnels with one end have it (RFC 2210, 3.3).
    fn p2mp_adspec(&self) -> Option<Adspec> {
        let links = || self.links.iter().map(|link| link.interface);
        let reservable = links().map(|link| link.reservable).max().unwrap_or(Rate(0));
        let mtu = links().map(|link| link.mtu).max().unwrap_or(1500);
        self.config.adspec.then(|| adspec(reservable, mtu))
    }

    /// Signals leaves that are down.
    pub(super) fn p2mp_signal(&mut self, index: u32, leaves: &BTreeSet<Ipv4Addr>) {
        let Some(root) = self.p2mp.roots.get(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        let (spec, lsp_id, router_id) = (Arc::clone(&root.spec), root.lsp_id, self.config.router_id);
        let is_made = root.state == RootState::Making;
        let mut again = BTreeSet::new();
        let key = TreeKey {
            session: P2mpKey { p2mp_id: spec.p2mp_id, tunnel_id: spec.tunnel_id, extended: router_id },
            sender: SenderKey { address: router_id, lsp_id },
        };
        let attributes = self.p2mp_attributes(&spec);
        let mut placed: BTreeMap<Ipv4Addr, Placed> = BTreeMap::new();
        let ttl = self.config.message_ttl;
        let routes = asked_routes(&spec);
        for &leaf in leaves {
            let found = match self.p2mp_find(index, leaf, routes.get(&leaf).copied()) {
                Ok((route, way)) => {
                    let step = self.p2mp_step(&key, leaf, route, true, &attributes, ttl);
                    match step {
                        Ok(Placed { to: None, .. }) => {
                            Err((words((error_code::ROUTING, routing::LOOP)), None))
                        }
                        Ok(found) => Ok((found, way)),
                        Err(problem) => Err((words(problem), way.first().map(|hop| (hop.near, problem.0)))),
                    }
                }
                Err(why) => Err((why.to_string(), None)),
            };
            match found {
                Ok((found, way)) => {
                    placed.insert(leaf, found);
                    if let Some(state) = self.p2mp.roots.get_mut(index).and_then(|r| r.leaves.get_mut(&leaf))
                    {
                        state.way = way;
                    }
                }
                Err((problem, blamed)) => {
                    if let Some((near, code)) = blamed {
                        let why = distrust(code, spec.setup_priority, spec.bandwidth);
                        self.services.engineering.distrust(self.now, near, why);
                    }
                    if self.p2mp_fail(index, leaf, problem, blamed.is_some()) && is_made {
                        again.insert(leaf);
                    }
                }
            }
        }
        self.p2mp_signal_placed(index, key, attributes, placed);
        if !again.is_empty() {
            // Another way is looked for at once: one that is to take the place of another has no time.
            self.p2mp_signal(index, &again);
        }
    }

    /// Signals leaves whose ways have been found.
    fn p2mp_signal_placed(
        &mut self,
        index: u32,
        key: TreeKey,
        attributes: Attributes,
        placed: BTreeMap<Ipv4Addr, Placed>,
    ) {
        let Some(root) = self.p2mp.roots.get(index).filter(|_| !placed.is_empty()) else {
            return self.p2mp_arm_root(index);
        };
        let (spec, router_id) = (Arc::clone(&root.spec), self.config.router_id);
        let tree = self.p2mp.tree(&key).unwrap_or_else(|| self.p2mp_tree(key, attributes));
        if let (Some(tree), Some(root)) = (self.p2mp.trees.get_mut(tree), self.p2mp.roots.get_mut(index)) {
            tree.root = Some(index);
            root.tree = self.p2mp.index.get(&key).copied();
        }
        // RFC 4875, 5.3 and 10.1: what is added goes in a Path of its own, so that the others are not signalled again.
        let groups: Vec<BTreeMap<Ipv4Addr, Placed>> = match spec.signalling {
            Signalling::Together => vec![placed],
            Signalling::Separate => {
                placed.into_iter().map(|(leaf, placed)| BTreeMap::from([(leaf, placed)])).collect()
            }
        };
        let give_up_at = self.now + self.config.setup_timeout;
        let protection = asked_protection(&spec);
        for group in groups {
            let sub_key = SubKey { originator: router_id, id: self.p2mp.take_id(tree) };
            let sub = self.p2mp_sub(tree, sub_key, here(router_id));
            let adspec = self.p2mp_adspec();
            if let Some(state) = self.p2mp.subs.get_mut(sub) {
                state.rro = (spec.record_route || spec.protection.is_some()).then(Vec::new);
                state.unknown = protection.iter().cloned().collect();
                state.adspec = adspec;
            }
            for leaf in group.keys() {
                let root = self.p2mp.roots.get_mut(index);
                let Some(state) = root.and_then(|root| root.leaves.get_mut(leaf)) else { continue };
                self.counters.faults.step(&mut state.state, LeafEvent::Signalled);
                (state.sub, state.retry_at, state.give_up_at) = (Some(sub), Time::MAX, give_up_at);
            }
            self.p2mp_place(sub, group, false);
        }
        self.p2mp_arm_root(index);
    }

    /// Takes leaves out of their sub-groups, which are pruned, or torn down if none is left (RFC 4875, 7.2).
    pub(super) fn p2mp_withdraw(&mut self, index: u32, leaves: &BTreeSet<Ipv4Addr>, why: LeafEvent) {
        let Some(root) = self.p2mp.roots.get_mut(index) else { return };
        let (tree, id, is_alone) = (root.tree, root.spec.id(), root.of.is_none());
        let (mut subs, mut pruned) = (BTreeSet::new(), Vec::new());
        for leaf in leaves {
            let Some(state) = root.leaves.get_mut(leaf) else { continue };
            if state.state == LeafState::Up && why == LeafEvent::Withdrawn && is_alone {
                pruned.push(*leaf);
            }
            self.counters.faults.step(&mut state.state, why);
            state.way.clear();
            subs.extend(state.sub.take());
        }
        for &sub in &subs {
            let all = |sub: &super::tree::Sub| sub.leaves.keys().all(|leaf| leaves.contains(leaf));
            if self.p2mp.subs.get(sub).is_some_and(all) {
                self.p2mp_end_sub(sub, SubEvent::Torn);
            } else {
                self.p2mp_keep(sub, |other| !leaves.contains(&other));
            }
        }
        if let (Some(tree), false) = (tree, subs.is_empty()) {
            if self.p2mp.trees.get(tree).is_some_and(|tree| tree.root == Some(index)) {
                self.p2mp_settle(tree);
            } else if let Some(root) = self.p2mp.roots.get_mut(index) {
                root.tree = None;
            }
        }
        for leaf in pruned {
            self.event(Event::LeafDown { tunnel: id, leaf, reason: "it was pruned".into() });
        }
    }

    /// The timer of a tunnel went off.
    pub(in crate::rsvp) fn p2mp_root_timeout(&mut self, index: u32) {
        let now = self.now;
        let Some(root) = self.p2mp.roots.get_mut(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        root.alarm = Alarm::default();
        if root.state == RootState::Retiring {
            return self.p2mp_retire(index);
        }
        let late: Vec<Ipv4Addr> =
            root.leaves.iter().filter(|(_, leaf)| leaf.give_up_at <= now).map(|(leaf, _)| *leaf).collect();
        let due: BTreeSet<Ipv4Addr> =
            root.leaves.iter().filter(|(_, leaf)| leaf.retry_at <= now).map(|(leaf, _)| *leaf).collect();
        self.p2mp_lost(index, &late, Loss::NotSetUp);
        self.p2mp_mourn();
        if due.is_empty() {
            self.p2mp_arm_root(index);
        } else {
            self.p2mp_signal(index, &due);
        }
        self.p2mp_change_timeout(index);
    }

    pub(super) fn p2mp_arm_root(&mut self, index: u32) {
        let Some(root) = self.p2mp.roots.get_mut(index) else { return };
        let deadline = match root.state {
            RootState::Retiring => root.gone_at,
            RootState::Making | RootState::Carrying => {
                let times = root.leaves.values().map(|leaf| leaf.retry_at.min(leaf.give_up_at));
                let times = times.min().unwrap_or(Time::MAX);
                if root.of.is_none() { times.min(root.change.deadline()) } else { times }
            }
        };
        root.alarm.set(&mut self.wheel, deadline, Timer::P2mp(index));
    }

    /// All P2MP state is gone with a restart; what is configured begins anew.
    pub(in crate::rsvp) fn p2mp_restart(&mut self) {
        let roots = self.p2mp.by_id.values().filter_map(|&root| self.p2mp.roots.get(root));
        let mut specs: Vec<(u64, Arc<P2mpSpec>)> =
            roots.map(|root| (root.sequence, Arc::clone(&root.change.wanted))).collect();
        specs.sort_by_key(|(sequence, _)| *sequence);
        let is_up = |leaf: &RootLeaf| leaf.state == LeafState::Up;
        let lost: Vec<_> = specs
            .iter()
            .filter_map(|(_, spec)| self.p2mp.roots.get(*self.p2mp.by_id.get(&spec.id())?))
            .flat_map(|root| {
                let up = root.leaves.iter().filter(|(_, leaf)| is_up(leaf));
                up.map(|(leaf, _)| (root.spec.id(), *leaf))
            })
            .collect();
        for (tunnel, leaf) in lost {
            self.event(Event::LeafDown { tunnel, leaf, reason: "the node restarted".into() });
        }
        self.p2mp = super::P2mp::default();
        self.p2mp_losses.clear();
        for (_, spec) in specs {
            self.p2mp_set(&spec);
        }
    }
}
