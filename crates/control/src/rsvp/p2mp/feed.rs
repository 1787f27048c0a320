//! What the tables do with packets of a tree: one label for each previous hop, and copies for all that want them.

use super::remerge::{Way, merge};
use super::states::{FeedEvent, FeedState};
use super::tree::Feed;
use super::{here, path_in};
use crate::rsvp::Rsvp;
use crate::rsvp::faults::Fault;
use crate::rsvp::outbox::Sending;
use crate::rsvp::tables::Purpose;
use crate::rsvp::transport::Neighbor;
use base::plane::{LabelStack, NextHop, Nhlfe, TableOp};
use std::collections::{BTreeMap, BTreeSet};
use wire::rsvp::error_code::{self, routing};

impl Rsvp {
    /// The previous hops of a tree, but for those of `without`, each with where its leaves want packets, the first that
    /// came first.
    fn p2mp_ways(&self, tree: u32, without: &BTreeSet<Neighbor>) -> Vec<Way> {
        let Some(tree) = self.p2mp.trees.get(tree) else { return Vec::new() };
        let mut ways: BTreeMap<Neighbor, (u64, Way)> = BTreeMap::new();
        for sub in self.p2mp.subs_of(tree) {
            let way =
                Way { from: sub.prev_hop, outs: BTreeMap::new(), leaves: BTreeSet::new(), is_dropped: false };
            let (order, way) = ways.entry(sub.prev_hop).or_insert((sub.order, way));
            *order = sub.order.min(*order);
            if sub.ends_here {
                way.outs.entry(None).or_default();
            }
        }
        for branch in self.p2mp.branches_of(tree) {
            let Some(reserved) = &branch.reserved else { continue };
            let from = self.p2mp.subs.get(branch.sub).map(|sub| sub.prev_hop);
            if let Some((_, way)) = from.and_then(|from| ways.get_mut(&from)) {
                way.outs.entry(Some(branch.to)).or_default().insert(reserved.label);
            }
        }
        ways.retain(|from, (_, way)| !way.outs.is_empty() && !without.contains(from));
        if ways.len() > 1 {
            // Leaves count only where ways meet again: of a single one they are not looked at, since there may be many.
            for sub in self.p2mp.subs_of(tree) {
                if let Some((_, way)) = ways.get_mut(&sub.prev_hop) {
                    way.leaves.extend(sub.leaves.keys());
                }
            }
        }
        let mut all: Vec<_> = ways.into_values().collect();
        all.sort_unstable_by_key(|(order, _)| *order);
        merge(all.into_iter().map(|(_, way)| way).collect())
    }

    /// Brings the tables to what the tree is now.
    pub(super) fn p2mp_feed(&mut self, tree: u32) {
        self.p2mp_feed_but(tree, BTreeSet::new());
    }

    /// As [`Rsvp::p2mp_feed`], but previous hops of `without` get no label this time: there was none, or no room for
    /// its entry.
    fn p2mp_feed_but(&mut self, tree: u32, mut without: BTreeSet<Neighbor>) {
        self.p2mp_protect(tree);
        // What has no label takes its reservations with it, which others may have been fed: they are looked at again.
        while self.p2mp_is_wanted(tree)
            && let Some(from) = self.p2mp_feed_once(tree, &without)
        {
            without.insert(from);
            self.p2mp_unfed(tree, from, (error_code::ROUTING, routing::LABEL_ALLOCATION));
        }
        self.p2mp_note_leaf(tree);
    }

    /// Do leaves want packets of a tree, or did they? Path state that has just come has no reservation yet.
    fn p2mp_is_wanted(&self, tree: u32) -> bool {
        self.p2mp.trees.get(tree).is_some_and(|tree| {
            !tree.feeds.is_empty()
                || self.p2mp.subs_of(tree).any(|sub| sub.ends_here)
                || self.p2mp.branches_of(tree).any(|branch| branch.reserved.is_some())
        })
    }

    /// Feeds all previous hops, up to the first for which there is no label: that one is given back.
    fn p2mp_feed_once(&mut self, tree: u32, without: &BTreeSet<Neighbor>) -> Option<Neighbor> {
        let ways = self.p2mp_ways(tree, without);
        let root = here(self.config.router_id);
        let is_wanted = |from: &Neighbor| ways.iter().any(|way| way.from == *from);
        let fed = self.p2mp.trees.get(tree).into_iter().flat_map(|tree| tree.feeds.keys());
        let starved: Vec<Neighbor> = fed.filter(|from| !is_wanted(from)).copied().collect();
        starved.into_iter().for_each(|from| self.p2mp_starve(tree, from));
        for Way { from, outs, is_dropped, .. } in ways {
            let mut branches = Vec::with_capacity(outs.len());
            // They come last, so that the numbers of copies that leave now do not depend on them.
            let mut further = Vec::new();
            for (out, labels) in outs {
                match out {
                    // The label ends here, and what is below it is looked at.
                    None => branches.push(self.nhlfe(base::Label::IMPLICIT_NULL, None, self.config.tc)),
                    Some(to) => {
                        for label in labels {
                            let plain = self.nhlfe(label, Some(to), self.config.tc);
                            let (first, others) = self.p2mp_protected(tree, to, label, plain);
                            branches.push(first);
                            further.extend(others);
                        }
                    }
                }
            }
            branches.extend(further);
            if from == root {
                self.p2mp_feed_root(tree, from, branches);
            } else if !self.p2mp_feed_label(tree, from, branches, is_dropped) {
                return Some(from);
            }
        }
        None
    }

    /// What a previous hop sends is replicated to these branches from now on, or dropped. Is there a label for it?
    fn p2mp_feed_label(&mut self, tree: u32, from: Neighbor, branches: Vec<Nhlfe>, is_dropped: bool) -> bool {
        let known = self.p2mp.trees.get(tree).and_then(|tree| tree.feeds.get(&from));
        if known.is_some_and(|feed| feed.branches == branches && feed.is_dropped == is_dropped) {
            return true;
        }
        let mut list = known.and_then(|feed| feed.list);
        let label = match known.and_then(|feed| feed.label) {
            Some(label) => label,
            None => match self.take_label() {
                Some(label) => label,
                None => return false,
            },
        };
        let several = branches.len() > 1;
        let old = list.filter(|_| !several);
        let mut ops = Vec::with_capacity(2);
        let nhlfe = match (&branches[..], is_dropped) {
            (_, true) | ([], _) => Nhlfe {
                push: LabelStack::EMPTY,
                next_hop: NextHop::Discard,
                ttl: self.config.ttl,
                tc: self.config.tc,
            },
            (&[one], _) => one,
            (many, _) => {
                let is_new = list.is_none();
                let list = *list.get_or_insert_with(|| self.services.multicast.list());
                ops.push(TableOp::ReplicationSet { list, branches: many.into() });
                let all = self.replicate(list);
                if !is_new {
                    // The entry names the list already.
                    self.p2mp_write_feed(tree, from, label, (ops, Some(list)), branches, is_dropped);
                    return true;
                }
                all
            }
        };
        ops.push(TableOp::IlmSet { label, nhlfe });
        if let Some(old) = old {
            ops.push(TableOp::ReplicationRemove { list: old });
            list = None;
        }
        self.p2mp_write_feed(tree, from, label, (ops, list), branches, is_dropped);
        true
    }

    /// The entry that has packets replicated.
    pub(in crate::rsvp) fn replicate(&self, list: base::plane::ReplicationId) -> Nhlfe {
        Nhlfe {
            push: LabelStack::EMPTY,
            next_hop: NextHop::Replicate(list),
            ttl: self.config.ttl,
            tc: self.config.tc,
        }
    }

    fn p2mp_write_feed(
        &mut self,
        tree: u32,
        from: Neighbor,
        label: base::Label,
        (ops, list): (Vec<TableOp>, Option<base::plane::ReplicationId>),
        branches: Vec<Nhlfe>,
        is_dropped: bool,
    ) {
        let purpose = Purpose::Feed { tree, generation: self.p2mp.trees.generation(tree), from };
        let transaction = self.write(ops, true, purpose);
        let Some(state) = self.p2mp.trees.get_mut(tree) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let feed = state.feeds.entry(from).or_insert_with(Feed::new);
        self.counters.faults.step(&mut feed.state, FeedEvent::Fed);
        feed.transaction = transaction;
        feed.label = Some(label);
        (feed.list, feed.branches, feed.is_dropped) = (list, branches, is_dropped);
    }

    /// Nobody wants what a previous hop sends: its label is free when the entry is gone.
    pub(super) fn p2mp_starve(&mut self, tree: u32, from: Neighbor) {
        let Some(state) = self.p2mp.trees.get_mut(tree) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let Some(mut feed) = state.feeds.remove(&from) else { return };
        self.counters.faults.step(&mut feed.state, FeedEvent::Emptied);
        if from == here(self.config.router_id) {
            return self.p2mp_unfeed_root(tree, feed.list);
        }
        let Some(label) = feed.label else { return self.counters.faults.note(Fault::Incomplete) };
        let mut ops = vec![TableOp::IlmRemove { label }];
        ops.extend(feed.list.map(|list| TableOp::ReplicationRemove { list }));
        self.write(ops, true, Purpose::Release(None, label));
    }

    /// A write of a tree's entry is acknowledged.
    pub(in crate::rsvp) fn p2mp_acknowledged(
        &mut self,
        tree: u32,
        generation: u32,
        from: Neighbor,
        (transaction, is_done): (u64, bool),
    ) {
        if self.p2mp.trees.generation(tree) != generation {
            return;
        }
        let Some(state) = self.p2mp.trees.get_mut(tree) else { return };
        let (root, subs) = (state.root, state.subs.clone());
        let Some(feed) = state.feeds.get_mut(&from).filter(|feed| feed.transaction == transaction) else {
            return;
        };
        if is_done {
            self.counters.faults.step(&mut feed.state, FeedEvent::Written);
        } else if root.is_some_and(|root| self.p2mp_stay(root)) {
            return;
        } else {
            // A label that can't be put in the tables is as good as none.
            self.p2mp_starve(tree, from);
            self.p2mp_unfed(tree, from, (error_code::ROUTING, routing::LABEL_ALLOCATION));
            self.p2mp_feed_but(tree, BTreeSet::from([from]));
            return self.p2mp_answer_all(tree);
        }
        root.into_iter().for_each(|root| self.p2mp_moved_away(root));
        for sub in subs {
            if self.p2mp.subs.get(sub).is_some_and(|sub| sub.prev_hop == from) {
                self.p2mp_answer(sub, Sending::Refresh);
            }
        }
    }

    /// There is no label for what a previous hop would send: its leaves can't be had, and it is told so.
    fn p2mp_unfed(&mut self, tree: u32, from: Neighbor, problem: (u8, u16)) {
        let subs = self.p2mp.sub_indices(tree);
        for sub in subs {
            let Some(state) = self.p2mp.subs.get(sub).filter(|sub| sub.prev_hop == from) else { continue };
            let leaves: Vec<_> = state.leaves.keys().copied().collect();
            self.p2mp_problem(sub, &leaves, problem);
            self.p2mp_send_last_tear(sub);
            // The next refresh is to come in full: it asks for a label again.
            self.transport.unbind(path_in(sub));
        }
    }

    /// Is the label in force by which a previous hop sends packets?
    pub(super) fn p2mp_is_fed(&self, tree: u32, from: Neighbor) -> Option<base::Label> {
        let feed = self.p2mp.trees.get(tree)?.feeds.get(&from)?;
        feed.label.filter(|_| feed.state == FeedState::InForce)
    }
}
