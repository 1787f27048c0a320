//! Path messages for several leaves: checking, routing each leaf, and putting it into a branch (RFC 4875, 5.2).

use super::states::SubEvent;
use super::tree::{Attributes, Branch};
use super::{P2mpKey, Remerge, SubKey, TreeKey, keys, path_in};
use crate::rsvp::Rsvp;
use crate::rsvp::counters::Discard;
use crate::rsvp::error::{Problem, counted_as};
use crate::rsvp::explicit_route::{self, Step};
use crate::rsvp::faults::Fault;
use crate::rsvp::outbox::{Sending, ipv4};
use crate::rsvp::path::View;
use crate::rsvp::transport::{Arrival, Neighbor};
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet};
use wire::rsvp::error_code::{self, routing};
use wire::rsvp::sub_lsp::expand;
use wire::rsvp::{EroHop, LabelRequest, Path, SenderDescriptor, Unknown, class};

/// A leaf with its route from here on, and where that leads.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub route: Vec<EroHop>,
    /// The neighbour, and the route as it goes on there; absent if the leaf is here.
    pub to: Option<(Neighbor, Vec<EroHop>)>,
}

/// Leaves that can't be had, by what is wrong.
pub(super) type Refused = BTreeMap<(u8, u16), Vec<Ipv4Addr>>;

/// Objects of a list of leaves.
const fn is_listed(object: &Unknown) -> bool {
    matches!(
        object.class,
        class::S2L_SUB_LSP | class::SECONDARY_EXPLICIT_ROUTE | class::SECONDARY_RECORD_ROUTE
    )
}

/// LSP_REQUIRED_ATTRIBUTES (RFC 5420, 5.1), which is understood only as far as it asks for what there is not.
const LSP_REQUIRED_ATTRIBUTES: u8 = 67;

/// Is LSP integrity required: bit 3 of the Attributes Flags TLV (RFC 4875, 5.2.4)?
fn requires_integrity(unknown: &[Unknown]) -> bool {
    let flags = |object: &Unknown| match *object.data {
        // A TLV has its type and its length with this head, in bytes; the flags of type 1 begin with bit 0.
        [0, 1, _, _, flags, ..] => flags & 0x10 != 0,
        _ => false,
    };
    unknown.iter().any(|object| object.class == LSP_REQUIRED_ATTRIBUTES && flags(object))
}

impl Rsvp {
    pub(in crate::rsvp) fn p2mp_path(&mut self, arrival: &Arrival, path: &mut Path) {
        let Ok(listed) = path.common.sub_lsps() else {
            self.counters.discard(Discard::Malformed);
            // RFC 2205, 3.10.
            let is_other =
                |object: &&Unknown| object.class == class::S2L_SUB_LSP && !matches!(object.c_type, 1 | 2);
            if let Some(object) = path.common.unknown.iter().find(is_other) {
                let value = u16::from_be_bytes([object.class, object.c_type]);
                self.p2mp_path_err(arrival.from, path, &[], (error_code::UNKNOWN_C_TYPE, value));
            }
            return;
        };
        let leaves: Vec<Ipv4Addr> = listed.iter().filter_map(|said| ipv4(said.leaf)).collect();
        path.common.unknown.retain(|object| !is_listed(object));
        let checked = match P2mpKey::of(&path.session).zip(keys(&path.sender_template)) {
            None => Err(Problem::unserved_session(&path.session)),
            // RFC 4875, 5.1: without a leaf there is nothing to signal. Leaves of IPv6 don't go with this session.
            Some(_) if leaves.len() != listed.len() || leaves.is_empty() => {
                Err(Problem::Silent(Discard::Malformed))
            }
            Some((session, (sender, sub))) => self
                .p2mp_check(arrival, path)
                .map(|attributes| (TreeKey { session, sender }, sub, attributes)),
        };
        let joined = P2mpKey::of(&path.session)
            .zip(keys(&path.sender_template))
            .and_then(|(session, said)| Some((self.p2mp_joined(session, said.0, path, &leaves)?, said)));
        if let Some((tree, said)) = joined {
            return self.p2mp_join(arrival, path, tree, said, &listed);
        }
        let (key, sub_key, attributes) = match checked {
            Ok(checked) => checked,
            Err(Problem::Silent(why)) => return self.counters.discard(why),
            Err(Problem::Error(code, value)) => {
                self.counters.discard(counted_as(&path.common.unknown));
                return self.p2mp_path_err(arrival.from, path, &leaves, (code, value));
            }
        };
        let tree = self.p2mp.tree(&key);
        let sub = tree.and_then(|tree| self.p2mp.sub(tree, sub_key, arrival.from));
        if sub.is_some_and(|sub| self.is_overtaken(arrival, path_in(sub).0)) {
            return;
        }
        let full = self.p2mp_is_full(sub, leaves.len()).then_some((error_code::RSVP_SYSTEM, 0));
        if let Some(problem) = full.or_else(|| self.p2mp_mismatch(tree, sub, arrival.from, &attributes)) {
            self.counters.discard(Discard::Refused);
            return self.p2mp_path_err(arrival.from, path, &leaves, problem);
        }
        if path.ero.is_none() && listed.iter().any(|leaf| leaf.explicit_route.is_some()) {
            // RFC 4875, 5.2.2: with secondary routes there is a route of the first leaf.
            self.counters.discard(Discard::Refused);
            let problem = (error_code::ROUTING, routing::BAD_EXPLICIT_ROUTE);
            return self.p2mp_path_err(arrival.from, path, &leaves, problem);
        }
        let ero = path.ero.clone().unwrap_or_default();
        let routes =
            expand(&ero, &listed, self.config.limits.route_hops, |hop| self.links.is_self(&hop.node));
        let (placed, mut refused) = self.p2mp_route(&key, sub, routes, &attributes, arrival.ip.ttl);
        // RFC 4875, 18.1: which of several ways a leaf has is known by the other path state of the LSP.
        let others = tree.map_or_else(Vec::new, |tree| self.p2mp_met(tree, sub, arrival.from, &placed));
        if !others.is_empty() && self.config.p2mp_remerge == Remerge::Refuse {
            self.counters.discard(Discard::Refused);
            let named: Vec<Ipv4Addr> = leaves.iter().chain(others.iter().take(3)).copied().collect();
            let problem = (error_code::ROUTING, routing::RE_MERGE);
            return self.p2mp_path_err(arrival.from, path, &named, problem);
        }
        if let Some(sub) = sub
            && placed.is_empty()
        {
            // RFC 2205, 3.1.6: the previous hop has a label for leaves that are no more.
            self.p2mp_send_last_tear(sub);
            self.p2mp_end_sub(sub, SubEvent::Torn);
            tree.into_iter().for_each(|tree| self.p2mp_settle(tree));
        } else if !placed.is_empty() {
            let tree = tree.unwrap_or_else(|| self.p2mp_tree(key, attributes.clone()));
            let sub = sub.unwrap_or_else(|| self.p2mp_sub(tree, sub_key, arrival.from));
            let has_moved = self.p2mp_moved(tree, sub, sub_key, &placed);
            let news = self.p2mp_store(sub, arrival, path, attributes);
            if let Some(id) = arrival.id {
                self.transport.bind(id, path_in(sub));
                if !refused.is_empty() {
                    // The next refresh is to come in full: what is refused is asked for again by it.
                    self.transport.unbind(path_in(sub));
                }
            }
            self.p2mp_place(sub, placed, news);
            self.p2mp_feed(tree);
            if has_moved {
                self.p2mp_answer_all(tree);
            } else {
                self.p2mp_answer(sub, Sending::Refresh);
            }
            self.p2mp_arm_sub(sub);
        }
        // RFC 4875, 5.2.2: an error about the leaves that are not to be had; the others are not impacted.
        while let Some((problem, leaves)) = refused.pop_first() {
            self.counters.discard(Discard::Refused);
            self.p2mp_path_err(arrival.from, path, &leaves, problem);
        }
    }

    /// All that can be wrong with a Path as a whole.
    fn p2mp_check(&self, arrival: &Arrival, path: &Path) -> Result<Attributes, Problem> {
        if requires_integrity(&path.common.unknown) {
            // RFC 4875, 5.2.4.
            return Err(Problem::routing(routing::UNSUPPORTED_LSP_INTEGRITY));
        }
        self.check_sender(arrival, path)?;
        if matches!(path.label_request, Some(LabelRequest::Atm { .. })) {
            // Trees have labels of the whole platform.
            return Err(Problem::c_type(class::LABEL_REQUEST, 2));
        }
        if path.diffserv.is_some() {
            // RFC 3270, 5.3: PHBs are signalled for point-to-point LSPs only.
            return Err(Problem::Error(error_code::UNKNOWN_CLASS, u16::from_be_bytes([class::DIFFSERV, 1])));
        }
        let limits = &self.config.limits;
        if path.ero.as_ref().is_some_and(|hops| hops.is_empty() || hops.len() > limits.route_hops) {
            return Err(Problem::routing(routing::BAD_EXPLICIT_ROUTE));
        }
        self.check_room(path)?;
        Ok(Attributes {
            tspec: path.sender_tspec,
            session_attribute: path.session_attribute.clone(),
            l3pid: LabelRequest::IPV4,
        })
    }

    /// Is there no room for a Path with so many leaves? What is there is refreshed, however little room there is. Each
    /// leaf counts as an LSP with one end does.
    fn p2mp_is_full(&self, sub: Option<u32>, leaves: usize) -> bool {
        let there = sub.and_then(|sub| self.p2mp.subs.get(sub)).map_or(0, |sub| sub.leaves.len());
        let more = leaves.saturating_sub(there);
        more > 0 && self.p2mp.s2ls + self.store.len() + more > self.config.limits.lsps
    }

    /// RFC 4875, 5.2.1 and 18.1.1: all Paths of a P2MP LSP say the same of it, but for their leaves.
    fn p2mp_mismatch(
        &self,
        tree: Option<u32>,
        sub: Option<u32>,
        from: Neighbor,
        attributes: &Attributes,
    ) -> Option<(u8, u16)> {
        let tree = self.p2mp.trees.get(tree?)?;
        let alone = tree.subs.iter().all(|&index| Some(index) == sub);
        let same = tree.attributes == *attributes;
        // A previous hop that says something else from now on says it in one Path after the other.
        let all_from = |index: &u32| self.p2mp.subs.get(*index).is_some_and(|sub| sub.prev_hop == from);
        (!same && !alone && !tree.subs.iter().all(all_from))
            .then_some((error_code::ROUTING, routing::RE_MERGE_MISMATCH))
    }

    /// Finds the next hop of each leaf, of which some keep the one that they have.
    pub(super) fn p2mp_route(
        &mut self,
        key: &TreeKey,
        sub: Option<u32>,
        routes: Vec<(std::net::IpAddr, Result<Vec<EroHop>, wire::rsvp::sub_lsp::Orphan>)>,
        attributes: &Attributes,
        ttl: u8,
    ) -> (BTreeMap<Ipv4Addr, Placed>, Refused) {
        let (mut placed, mut refused) = (BTreeMap::new(), Refused::new());
        for (leaf, route) in routes {
            let Some(leaf) = ipv4(leaf).filter(|leaf| !placed.contains_key(leaf)) else { continue };
            let found = match route {
                Err(_) => Err((error_code::ROUTING, routing::BAD_EXPLICIT_ROUTE)),
                Ok(route) => match sub.and_then(|sub| self.p2mp_kept(sub, leaf, &route)) {
                    Some(to) => Ok(Placed { route, to }),
                    None => self.p2mp_step(key, leaf, route, false, attributes, ttl),
                },
            };
            match found {
                Ok(found) => drop(placed.insert(leaf, found)),
                Err(problem) => refused.entry(problem).or_default().push(leaf),
            }
        }
        (placed, refused)
    }

    /// The way of a leaf that has one already, by the same route.
    fn p2mp_kept(
        &self,
        sub: u32,
        leaf: Ipv4Addr,
        route: &[EroHop],
    ) -> Option<Option<(Neighbor, Vec<EroHop>)>> {
        let at = self.p2mp.subs.get(sub)?.leaves.get(&leaf).filter(|at| at.route == route)?;
        let Some(branch) = at.branch else { return Some(None) };
        let stays = |branch: &&Branch| {
            self.links.is_up(branch.to.port) || self.p2mp_is_diverted(branch.tree, branch.to)
        };
        let branch = self.p2mp.branches.get(branch).filter(stays)?;
        Some(Some((branch.to, branch.routes.get(&leaf)?.clone())))
    }

    /// The next hop of one leaf; `head` says that the route does not begin with this router.
    pub(super) fn p2mp_step(
        &mut self,
        key: &TreeKey,
        leaf: Ipv4Addr,
        route: Vec<EroHop>,
        head: bool,
        attributes: &Attributes,
        ttl: u8,
    ) -> Result<Placed, (u8, u16)> {
        if route.len() > self.config.limits.route_hops {
            return Err((error_code::ROUTING, routing::BAD_EXPLICIT_ROUTE));
        }
        let (bandwidth, (setup_priority, _)) = (attributes.rate(), attributes.priorities());
        let affinities = attributes.session_attribute.as_ref().and_then(|said| said.affinities);
        let expanded = self.expand(&route, leaf, (bandwidth, setup_priority), affinities);
        let (links, rib) = (&self.links, &self.services.rib);
        let view = View { links, rib, bandwidth, setup_priority, expanded };
        let step = explicit_route::select(&route, head, leaf, &view);
        let Step::Forward { hop, consumed, inserted } = step.map_err(|value| (error_code::ROUTING, value))?
        else {
            return Ok(Placed { route, to: None });
        };
        if ttl <= 1 {
            return Err((error_code::ROUTING, routing::LOOP));
        }
        if !self.p2mp_is_admissible(key, hop.port, (bandwidth, attributes.style()), setup_priority) {
            self.note_refusal(hop.port);
            return Err((error_code::ADMISSION, error_code::admission::BANDWIDTH));
        }
        let rest = route.get(usize::from(consumed)..).unwrap_or_default();
        let rest = inserted.into_iter().map(EroHop::strict).chain(rest.iter().cloned()).collect();
        Ok(Placed { route, to: Some((hop, rest)) })
    }

    /// RFC 4875, 18.1: a leaf of the same sub-group that comes by another way has been rerouted: it leaves the old one.
    /// Is there any?
    fn p2mp_moved(&mut self, tree: u32, sub: u32, key: SubKey, placed: &BTreeMap<Ipv4Addr, Placed>) -> bool {
        let mut has_moved = false;
        let subs = self.p2mp.sub_indices(tree);
        for old in subs.into_iter().filter(|&old| old != sub) {
            let Some(state) = self.p2mp.subs.get(old).filter(|old| old.key == key) else { continue };
            let stay: BTreeSet<Ipv4Addr> =
                state.leaves.keys().filter(|leaf| !placed.contains_key(leaf)).copied().collect();
            if stay.is_empty() {
                has_moved = true;
                self.p2mp_send_last_tear(old);
                self.p2mp_end_sub(old, SubEvent::PreviousHopLost);
            } else if stay.len() < state.leaves.len() {
                has_moved = true;
                self.p2mp_keep(old, |leaf| stay.contains(&leaf));
            }
        }
        has_moved
    }

    /// Keeps what the Path says beside its leaves. Is it anything new that goes on?
    fn p2mp_store(&mut self, sub: u32, arrival: &Arrival, path: &mut Path, attributes: Attributes) -> bool {
        let expires = self.now + self.lifetime(path.time_values.refresh_ms);
        let Some(state) = self.p2mp.subs.get_mut(sub) else {
            self.counters.faults.note(Fault::NoLsp);
            return false;
        };
        (state.period_ms, state.expires) = (path.time_values.refresh_ms, expires);
        state.is_cut_off = false;
        (state.lih, state.ttl) = (path.hop.lih, arrival.ip.ttl.saturating_sub(1));
        let unknown: Vec<_> =
            path.common.unknown.iter().filter(|o| crate::rsvp::error::is_forwarded(o)).cloned().collect();
        let mut news = state.rro != path.rro
            || state.adspec != path.adspec
            || state.unknown != unknown
            || state.policy != path.policy_data;
        state.rro.clone_from(&path.rro);
        state.adspec.clone_from(&path.adspec);
        state.policy.clone_from(&path.policy_data);
        state.unknown = unknown;
        let (index, tree) = (sub, state.tree);
        if self.p2mp_attributed(tree, attributes) {
            news = true;
            // The branches of the other sub-groups say it, too: no Path that comes for those brings anything new.
            let all = self.p2mp.trees.get(tree).map(|tree| tree.branches.clone()).unwrap_or_default();
            for branch in all {
                if self.p2mp.branches.get(branch).is_some_and(|branch| branch.sub != index) {
                    self.p2mp_send_path(branch, Sending::Trigger);
                }
            }
        }
        news
    }

    /// Takes what Paths say of a tree now. What links account for goes to another holding priority with it. Is it
    /// anything new?
    fn p2mp_attributed(&mut self, tree: u32, attributes: Attributes) -> bool {
        let Some(state) = self.p2mp.trees.get(tree).filter(|tree| tree.attributes != attributes) else {
            return false;
        };
        let session = state.key.session;
        let branches = self.p2mp.branches_of(state);
        let ports: BTreeSet<base::PortId> = branches.map(|branch| branch.to.port).collect();
        let before: Vec<_> = ports.into_iter().map(|port| (port, self.p2mp_share(session, port))).collect();
        if let Some(state) = self.p2mp.trees.get_mut(tree) {
            state.attributes = attributes;
        }
        for (port, before) in before {
            self.p2mp_account(session, port, &before);
        }
        true
    }

    /// Answers a Path about some of its leaves.
    pub(super) fn p2mp_path_err(
        &mut self,
        to: Neighbor,
        path: &Path,
        leaves: &[Ipv4Addr],
        problem: (u8, u16),
    ) {
        let sender = SenderDescriptor {
            sender_template: path.sender_template,
            sender_tspec: Some(path.sender_tspec),
            adspec: path.adspec.clone(),
            rro: None,
        };
        self.p2mp_error(to, path.session, sender, leaves, problem);
    }
}
