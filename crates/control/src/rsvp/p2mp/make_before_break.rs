//! Another LSP for a tunnel whose leaves are reached: make before break (RFC 4875, 14.1; RFC 3209, 2.5 and 4.6.4).
//!
//! All leaves are signalled once more, with another LSP id. In SE style both LSPs share what they reserve on links that
//! they have in common. When all leaves are up that the old LSP reaches, the list that copies packets at the root gets
//! the branches of the new one, by one write; the old one goes when that is acknowledged and what was on its way has
//! had time to arrive. If such a leaf can't be had, the new LSP is given up, and tried again later.

use super::command::{P2mpSpec, TreeShape};
use super::compute::{SOON, asked_routes};
use super::here;
use super::root::{Root, RootLeaf};
use super::states::{FeedEvent, LeafEvent, LeafState, RootEvent, RootState};
use super::tree::{Feed, Tree};
use crate::rsvp::Rsvp;
use crate::rsvp::command::PathRequest;
use crate::rsvp::computed::SETTLE;
use crate::rsvp::event::Event;
use crate::rsvp::faults::Fault;
use crate::rsvp::tables::Purpose;
use crate::services::te::TeHop;
use base::Time;
use base::plane::{ReplicationId, TableOp};
use core::net::Ipv4Addr;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is to take the place of the LSP that carries a tunnel's traffic.
#[derive(Debug)]
pub(super) struct Change {
    /// The tunnel as the user wants it.
    pub wanted: Arc<P2mpSpec>,
    /// The LSP that is being signalled.
    pub candidate: Option<u32>,
    /// LSPs that carried the traffic before.
    pub retiring: Vec<u32>,
    /// The LSP id of the last one that was given up.
    latest: u16,
    /// Attempts in a row that failed.
    failures: u32,
    retry_at: Time,
    /// When a better tree is looked for.
    check_at: Time,
}

impl Change {
    pub(super) fn new(wanted: &Arc<P2mpSpec>) -> Change {
        Change {
            wanted: Arc::clone(wanted),
            candidate: None,
            retiring: Vec::new(),
            latest: 0,
            failures: 0,
            retry_at: Time::MAX,
            check_at: Time::MAX,
        }
    }

    pub(super) fn deadline(&self) -> Time {
        self.retry_at.min(self.check_at)
    }

    /// A better tree is looked for as often as the user wants it.
    pub(super) fn check_again(&mut self, now: Time) {
        let path = &self.wanted.path;
        let again = [path.reoptimise, path.revert_after].into_iter().flatten().min();
        self.check_at = again.map_or(Time::MAX, |again| now + again);
    }

    /// Something else is known of links.
    pub(super) fn hear(&mut self, now: Time) {
        if self.retry_at < Time::MAX {
            // What changes while a network comes up is no failure of the tunnel.
            self.failures = self.failures.saturating_sub(1);
            self.retry_at = self.retry_at.min(now + SOON);
        }
        let path = &self.wanted.path;
        if path.follow {
            self.check_at = self.check_at.min(now + SETTLE);
        } else if let Some(wait) = path.revert_after {
            // Each change begins the wait anew.
            self.check_at = now + wait;
        }
    }
}

/// Can an LSP that was signalled as `before` be one of a tunnel as `wanted`, if its leaves are changed?
fn is_alike(before: &P2mpSpec, wanted: &P2mpSpec) -> bool {
    let path = PathRequest {
        reoptimise: before.path.reoptimise,
        follow: before.path.follow,
        revert_after: before.path.revert_after,
        ..wanted.path.clone()
    };
    let same = P2mpSpec { leaves: before.leaves.clone(), path, ..wanted.clone() };
    carrying(&same, before) == *before
}

/// An LSP that is signalled as `spec`, and carries what `wanted` says.
fn carrying(spec: &P2mpSpec, wanted: &P2mpSpec) -> P2mpSpec {
    P2mpSpec {
        groups: wanted.groups.clone(),
        carries: wanted.carries.clone(),
        filters: wanted.filters.clone(),
        watch: wanted.watch,
        retry_first: wanted.retry_first,
        retry_max: wanted.retry_max,
        ..spec.clone()
    }
}

impl Rsvp {
    /// Changes a tunnel. Other leaves are grafted and pruned, and what it carries is mapped. All else, and another way
    /// of a leaf that is reached, takes another LSP.
    pub(super) fn p2mp_change(&mut self, index: u32, wanted: &Arc<P2mpSpec>) {
        let now = self.now;
        let Some(root) = self.p2mp.roots.get_mut(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        root.change.wanted = Arc::clone(wanted);
        root.change.failures = 0;
        root.change.check_again(now);
        let before = Arc::clone(&root.spec);
        let route = |spec: &P2mpSpec, leaf: Ipv4Addr| {
            let known = spec.leaves.iter().find(|known| known.address == leaf);
            known.map(|known| known.route.clone())
        };
        let is_up = |leaf: &RootLeaf| leaf.state == LeafState::Up;
        let is_reached = root.leaves.values().any(is_up);
        let is_moved = |leaf: &Ipv4Addr| {
            let route = route(wanted, *leaf).map(|wanted| Some(wanted) != route(&before, *leaf));
            route == Some(true)
        };
        let is_same = is_alike(&before, wanted);
        let any_moved = root.leaves.iter().any(|(leaf, state)| is_up(state) && is_moved(leaf));
        // Two styles can't stand beside each other in one session (RFC 2205, 2.4): break before make.
        let makes = (!is_same || any_moved) && is_reached && before.style == wanted.style;
        let is_anew = !is_same && !makes;
        let stays = |leaf: &Ipv4Addr, state: &RootLeaf| {
            !is_anew && route(wanted, *leaf).is_some() && (!is_moved(leaf) || makes && is_up(state))
        };
        let gone: BTreeSet<Ipv4Addr> =
            root.leaves.iter().filter(|(leaf, state)| !stays(leaf, state)).map(|(leaf, _)| *leaf).collect();
        root.spec = if makes {
            let mut kept = carrying(&before, wanted);
            kept.leaves.clone_from(&wanted.leaves);
            for leaf in &mut kept.leaves {
                if root.leaves.get(&leaf.address).is_some_and(is_up) {
                    leaf.route = route(&before, leaf.address).unwrap_or_default();
                }
            }
            Arc::new(kept)
        } else {
            Arc::clone(wanted)
        };
        if !self.p2mp_keeps_candidate(index, makes) {
            self.p2mp_drop_candidate(index);
        }
        self.p2mp_withdraw(index, &gone, LeafEvent::Withdrawn);
        if is_anew {
            self.p2mp_drop_others(index);
        }
        let lsp_id = self.p2mp_next_lsp_id(index);
        let Some(root) = self.p2mp.roots.get_mut(index) else { return };
        root.leaves.retain(|leaf, _| !gone.contains(leaf));
        if let Some(lsp_id) = lsp_id.filter(|_| is_anew) {
            // Bandwidth and the like are the same for all of an LSP.
            root.lsp_id = lsp_id;
        }
        let new = wanted.leaves.iter().map(|leaf| leaf.address);
        let new: BTreeSet<Ipv4Addr> = new.filter(|leaf| !root.leaves.contains_key(leaf)).collect();
        root.leaves.extend(new.iter().map(|leaf| (*leaf, RootLeaf::new())));
        let is_made = root.change.candidate.is_some();
        self.p2mp_carry(index);
        self.p2mp_signal(index, &new);
        if makes && !is_made {
            self.p2mp_make(index);
        }
        self.p2mp_arm_root(index);
    }

    /// Is the LSP that is being signalled what is wanted now? Then it goes on.
    fn p2mp_keeps_candidate(&mut self, index: u32, makes: bool) -> bool {
        let Some(change) = self.p2mp.roots.get(index).map(|root| &root.change) else { return false };
        let (wanted, candidate) = (Arc::clone(&change.wanted), change.candidate);
        let Some(made) = candidate.and_then(|made| self.p2mp.roots.get_mut(made)) else { return false };
        let keeps = makes && made.spec.leaves == wanted.leaves && is_alike(&made.spec, &wanted);
        if keeps {
            made.spec = wanted;
        }
        keeps
    }

    /// An LSP id of a tunnel that none of its LSPs has.
    fn p2mp_next_lsp_id(&self, index: u32) -> Option<u16> {
        let root = self.p2mp.roots.get(index)?;
        let others = root.change.candidate.iter().chain(&root.change.retiring);
        let taken: BTreeSet<u16> =
            others.filter_map(|&other| self.p2mp.roots.get(other)).map(|other| other.lsp_id).collect();
        // Of one that was given up, state may still be somewhere.
        let last = taken.iter().copied().chain([root.lsp_id, root.change.latest]).max().unwrap_or(0);
        let mut next = last.wrapping_add(1).max(1);
        while next == root.lsp_id || taken.contains(&next) {
            next = next.wrapping_add(1).max(1);
        }
        Some(next)
    }

    /// Signals another LSP as the user wants it.
    fn p2mp_make(&mut self, index: u32) {
        let Some(lsp_id) = self.p2mp_next_lsp_id(index) else { return };
        let Some(other) = self.p2mp_plan(index, lsp_id) else { return };
        let Some(root) = self.p2mp.roots.get_mut(index) else { return };
        (root.change.candidate, root.change.retry_at) = (Some(other), Time::MAX);
        let leaves = root.change.wanted.leaves.iter().map(|leaf| leaf.address).collect();
        self.p2mp_signal(other, &leaves);
        self.p2mp.changing.insert(index);
    }

    /// Another LSP, of which nothing is signalled yet.
    fn p2mp_plan(&mut self, index: u32, lsp_id: u16) -> Option<u32> {
        let root = self.p2mp.roots.get(index)?;
        let other = Root::new(&root.change.wanted, root.sequence, lsp_id);
        Some(self.p2mp.roots.insert(Root { state: RootState::Making, of: Some(index), ..other }))
    }

    /// Leaves have come up, or can't be had: the new LSP takes over if it reaches all that the old one reaches, and is
    /// given up if one of them is out of reach.
    pub(super) fn p2mp_weigh(&mut self, index: u32) {
        let Some(root) = self.p2mp.roots.get(index) else { return };
        let Some(other) = root.change.candidate else { return };
        let Some(made) = self.p2mp.roots.get(other) else { return };
        let reached = root.leaves.iter().filter(|(_, leaf)| leaf.state == LeafState::Up);
        let missing: Vec<_> = reached
            .filter_map(|(leaf, _)| Some((leaf, made.leaves.get(leaf)?)))
            .filter(|(_, leaf)| leaf.state != LeafState::Up)
            .collect();
        let lost = missing.iter().find(|(_, leaf)| leaf.state == LeafState::Down);
        if let Some((leaf, state)) = lost {
            let why = state.problem.clone().unwrap_or_default();
            let reason = format!("{leaf} can't be had: {why}");
            return self.p2mp_abandon(index, reason);
        }
        if missing.is_empty() {
            self.p2mp_move(index, other);
        }
    }

    /// Gives the new LSP up; the traffic stays where it is. Another attempt comes later.
    fn p2mp_abandon(&mut self, index: u32, reason: String) {
        self.p2mp_drop_candidate(index);
        let Some(root) = self.p2mp.roots.get_mut(index) else { return };
        root.change.failures = root.change.failures.saturating_add(1);
        let (failures, lsp_id) = (root.change.failures, root.lsp_id);
        let spec = Arc::clone(&root.change.wanted);
        let at = self.now + self.backoff(spec.retry_first, spec.retry_max, failures);
        if let Some(root) = self.p2mp.roots.get_mut(index) {
            root.change.retry_at = at;
        }
        self.event(Event::TreeStays { tunnel: spec.id(), lsp_id, reason });
        self.p2mp_arm_root(index);
    }

    /// The timer of a tunnel went off.
    pub(super) fn p2mp_change_timeout(&mut self, index: u32) {
        let now = self.now;
        let Some(root) = self.p2mp.roots.get_mut(index).filter(|root| root.of.is_none()) else { return };
        if root.change.retry_at <= now {
            self.p2mp_make(index);
        }
        if self.p2mp.roots.get(index).is_some_and(|root| root.change.check_at <= now) {
            self.p2mp_reconsider(index);
        }
        self.p2mp_arm_root(index);
    }

    /// Moves the traffic of a tunnel to the LSP that was made for it.
    fn p2mp_move(&mut self, index: u32, other: u32) {
        let linger = self.now + self.config.linger;
        self.p2mp_step_root(index, RootEvent::Replaced);
        self.p2mp_step_root(other, RootEvent::Moved);
        self.p2mp_exchange(index, other);
        let (Some(new), Some(old)) = (self.p2mp.roots.get(index), self.p2mp.roots.get(other)) else { return };
        let (id, from_lsp, to_lsp) = (new.spec.id(), old.lsp_id, new.lsp_id);
        let is_up = |leaf: &RootLeaf| leaf.state == LeafState::Up;
        let news = new.leaves.iter().filter(|(_, leaf)| is_up(leaf)).map(|(leaf, _)| *leaf);
        let news: Vec<Ipv4Addr> = news.filter(|leaf| !old.leaves.get(leaf).is_some_and(is_up)).collect();
        let lists = old.list.zip(new.list);
        if let Some(root) = self.p2mp.roots.get_mut(index) {
            root.spec = Arc::clone(&root.change.wanted);
            (root.change.candidate, root.change.failures, root.change.retry_at) = (None, 0, Time::MAX);
            root.change.retiring.push(other);
        }
        match lists {
            // Who follows entries of the tunnel finds the list where it was.
            Some((kept, spare)) => self.p2mp_take_list(index, other, kept, spare),
            None => self.p2mp.roots.get_mut(other).into_iter().for_each(|old| old.gone_at = linger),
        }
        self.event(Event::TreeRerouted { tunnel: id, from_lsp, to_lsp });
        for leaf in news {
            self.event(Event::LeafUp { tunnel: id, leaf });
        }
        self.p2mp_carry(index);
        self.p2mp_arm_root(other);
        self.p2mp_arm_root(index);
    }

    fn p2mp_step_root(&mut self, index: u32, event: RootEvent) {
        let Some(root) = self.p2mp.roots.get_mut(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        self.counters.faults.step(&mut root.state, event);
    }

    /// One LSP stands for the tunnel in the place of another.
    fn p2mp_exchange(&mut self, index: u32, other: u32) {
        let Some(made) = self.p2mp.roots.get_mut(other) else { return };
        let spec = Arc::clone(&made.spec);
        let made = (made.state, made.lsp_id, made.tree, core::mem::take(&mut made.leaves), made.list);
        let Some(root) = self.p2mp.roots.get_mut(index) else { return };
        let before = core::mem::replace(&mut root.spec, spec);
        let mut leaves = core::mem::replace(&mut root.leaves, made.3);
        let (state, lsp_id, tree, list) = (root.state, root.lsp_id, root.tree, root.list);
        (root.state, root.lsp_id, root.tree, root.list) = (made.0, made.1, made.2, made.4);
        if let Some(root) = self.p2mp.roots.get_mut(other) {
            (root.state, root.lsp_id, root.tree, root.list) = (state, lsp_id, tree, list);
            (root.spec, root.gone_at) = (before, Time::MAX);
            core::mem::swap(&mut root.leaves, &mut leaves);
        }
        for (tree, root) in [(made.2, index), (tree, other)] {
            // A tree that has no leaf any more may have left its place to another one.
            let is_its = |tree: &&mut Tree| [Some(index), Some(other)].contains(&tree.root);
            let tree = tree.and_then(|tree| self.p2mp.trees.get_mut(tree)).filter(is_its);
            tree.into_iter().for_each(|tree| tree.root = Some(root));
        }
    }

    /// The list that copies the packets of a tunnel gets the branches of the LSP that stands for it, in one write; the
    /// other LSP has none from now on, and `spare` is not needed any more.
    fn p2mp_take_list(&mut self, index: u32, other: u32, kept: ReplicationId, spare: ReplicationId) {
        let from = here(self.config.router_id);
        let Some(new) = self.p2mp.roots.get(index).and_then(|root| root.tree) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let feed = self.p2mp.trees.get(new).and_then(|tree| tree.feeds.get(&from));
        let Some(branches) = feed.map(|feed| feed.branches.clone()) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let ops = vec![
            TableOp::ReplicationSet { list: kept, branches: branches.into() },
            TableOp::ReplicationRemove { list: spare },
        ];
        let purpose = Purpose::Feed { tree: new, generation: self.p2mp.trees.generation(new), from };
        let transaction = self.write(ops, true, purpose);
        if let Some(feed) = self.p2mp.trees.get_mut(new).and_then(|tree| tree.feeds.get_mut(&from)) {
            self.counters.faults.step(&mut feed.state, FeedEvent::Fed);
            feed.transaction = transaction;
        }
        self.p2mp_pass_list(other, index, kept);
    }

    /// What an LSP is copied to at its root.
    fn p2mp_own_feed(&mut self, index: u32) -> Option<&mut Feed> {
        let here = here(self.config.router_id);
        let tree = self.p2mp.roots.get(index)?.tree?;
        let tree = self.p2mp.trees.get_mut(tree).filter(|tree| tree.root == Some(index))?;
        tree.feeds.get_mut(&here)
    }

    /// A list is that of another LSP now.
    fn p2mp_pass_list(&mut self, from: u32, to: u32, list: ReplicationId) {
        for (root, list) in [(from, None), (to, Some(list))] {
            self.p2mp.roots.get_mut(root).into_iter().for_each(|root| root.list = list);
            self.p2mp_own_feed(root).into_iter().for_each(|feed| feed.list = list);
        }
    }

    /// The tables send a tunnel's traffic along the LSP that stands for it: those of before go when what is on its way
    /// has had time to arrive.
    pub(super) fn p2mp_moved_away(&mut self, index: u32) {
        let gone_at = self.now + self.config.linger;
        let retiring = self.p2mp.roots.get(index).map(|root| root.change.retiring.clone());
        for other in retiring.into_iter().flatten() {
            if let Some(root) = self.p2mp.roots.get_mut(other).filter(|root| root.gone_at == Time::MAX) {
                root.gone_at = gone_at;
                self.p2mp_arm_root(other);
            }
        }
    }

    /// The tables did not take the branches of an LSP. Has its tunnel just been moved there? Then it stays where it
    /// was.
    pub(super) fn p2mp_stay(&mut self, index: u32) -> bool {
        let Some(root) = self.p2mp.roots.get(index) else { return false };
        let is_last = |other: &&u32| self.p2mp.roots.get(**other).is_some_and(|old| old.gone_at == Time::MAX);
        let Some(other) = root.change.retiring.iter().find(is_last).copied() else { return false };
        let Some(kept) = root.list else { return false };
        self.p2mp_step_root(index, RootEvent::Refused);
        self.p2mp_step_root(other, RootEvent::Stayed);
        self.p2mp_exchange(index, other);
        if let Some(root) = self.p2mp.roots.get_mut(index) {
            root.change.retiring.retain(|known| *known != other);
            root.change.candidate = Some(other);
            root.spec = Arc::new(carrying(&root.spec, &root.change.wanted));
        }
        // What was refused has changed nothing: the list copies to the branches of before.
        self.p2mp_pass_list(other, index, kept);
        if self.p2mp_own_feed(index).is_none() {
            // They have just gone.
            self.p2mp.roots.get_mut(index).into_iter().for_each(|root| root.list = None);
            self.write(vec![TableOp::ReplicationRemove { list: kept }], true, Purpose::Nothing);
        }
        self.p2mp_carry(index);
        self.p2mp_abandon(index, "the forwarding tables have no room".into());
        if let Some(tree) = self.p2mp.roots.get(index).and_then(|root| root.tree) {
            // They may be others by now.
            self.p2mp_settle(tree);
        }
        true
    }

    /// The time of an LSP that carried traffic before is over.
    pub(super) fn p2mp_retire(&mut self, other: u32) {
        let Some(root) = self.p2mp.roots.get(other) else { return };
        if root.gone_at > self.now {
            return self.p2mp_arm_root(other);
        }
        if let Some(root) = root.of.and_then(|of| self.p2mp.roots.get_mut(of)) {
            root.change.retiring.retain(|known| *known != other);
        }
        self.p2mp_discard(other);
    }

    /// Tears an LSP down that does not stand for its tunnel.
    fn p2mp_discard(&mut self, other: u32) {
        let leaves = self.p2mp.roots.get(other).map(|root| root.leaves.keys().copied().collect());
        self.p2mp_withdraw(other, &leaves.unwrap_or_default(), LeafEvent::Withdrawn);
        if let Some(mut root) = self.p2mp.roots.remove(other) {
            root.alarm.cancel(&mut self.wheel);
        }
    }

    fn p2mp_drop_candidate(&mut self, index: u32) {
        let Some(root) = self.p2mp.roots.get_mut(index) else { return };
        root.change.retry_at = Time::MAX;
        if let Some(candidate) = root.change.candidate.take() {
            let lsp_id = self.p2mp.roots.get(candidate).map_or(0, |root| root.lsp_id);
            if let Some(root) = self.p2mp.roots.get_mut(index) {
                root.change.latest = lsp_id;
            }
            self.p2mp_discard(candidate);
        }
    }

    /// Tears all LSPs of a tunnel down but the one that carries its traffic.
    pub(super) fn p2mp_drop_others(&mut self, index: u32) {
        self.p2mp_drop_candidate(index);
        let Some(root) = self.p2mp.roots.get_mut(index) else { return };
        for other in core::mem::take(&mut root.change.retiring) {
            self.p2mp_discard(other);
        }
    }

    /// Looks for a better tree, and has the traffic move there.
    fn p2mp_reconsider(&mut self, index: u32) {
        let now = self.now;
        let Some(root) = self.p2mp.roots.get_mut(index) else { return };
        root.change.check_again(now);
        if root.change.candidate.is_some() && root.change.wanted.path.follow {
            // The ways of the one that is being made were looked for before the news.
            root.change.check_at = now + SETTLE;
        }
        if root.change.candidate.is_some() || root.change.retry_at < Time::MAX {
            return;
        }
        let up = root.leaves.iter().filter(|(_, leaf)| leaf.state == LeafState::Up && !leaf.way.is_empty());
        let known: Vec<(Ipv4Addr, Vec<TeHop>)> = up.map(|(leaf, at)| (*leaf, at.way.clone())).collect();
        if known.is_empty() {
            return;
        }
        let Some(plan) = self.p2mp_plan(index, 0) else { return };
        let Some(spec) = self.p2mp.roots.get(plan).map(|plan| Arc::clone(&plan.spec)) else { return };
        let routes = asked_routes(&spec);
        let mut found = Vec::new();
        for (leaf, _) in &known {
            let asked = routes.get(leaf).copied();
            let Ok((_, way)) = self.p2mp_find(plan, *leaf, asked) else { break };
            found.push(way.clone());
            let leaf = self.p2mp.roots.get_mut(plan).and_then(|plan| plan.leaves.get_mut(leaf));
            leaf.into_iter().for_each(|leaf| leaf.way.clone_from(&way));
        }
        let known: Vec<Vec<TeHop>> = known.into_iter().map(|(_, way)| way).collect();
        let is_whole = found.len() == known.len();
        let [new, old] = [&found, &known].map(|ways| self.p2mp_cost(plan, ways));
        self.p2mp.roots.remove(plan);
        let is_better = new.is_some_and(|new| old.is_none_or(|old| new < old));
        if is_whole && is_better {
            self.p2mp_make(index);
        }
    }

    /// What a tree costs, and how many links it takes: each way by itself, or each link once, as its shape counts.
    /// Nothing if it does not do what is asked.
    fn p2mp_cost(&mut self, plan: u32, ways: &[Vec<TeHop>]) -> Option<(u64, usize)> {
        let (router_id, now) = (self.config.router_id, self.now);
        let shape = self.p2mp.roots.get(plan)?.spec.shape;
        let links = ways.iter().flatten().map(|hop| hop.near).collect();
        let constraints = self.p2mp_constraints(plan, links);
        let engineering = &mut self.services.engineering;
        let mut taken: BTreeSet<Ipv4Addr> = BTreeSet::new();
        let mut sum = (0, 0);
        for way in ways {
            let (cost, _) = engineering.cost_of(now, router_id, way, &constraints)?;
            // Ways that have parted do not meet again: those links are new that come behind the last known one.
            let shared = match shape {
                TreeShape::Shortest => 0,
                TreeShape::Cheapest => way.iter().take_while(|hop| taken.contains(&hop.near)).count(),
            };
            let (before, _) = engineering.cost_of(now, router_id, &way[..shared], &constraints)?;
            taken.extend(way.iter().map(|hop| hop.near));
            sum = (sum.0 + cost - before, sum.1 + way.len() - shared);
        }
        Some(sum)
    }
}
