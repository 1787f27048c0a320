//! What a router has of a point-to-multipoint LSP, and what follows from it (RFC 6388, 2.4).

use super::Multipoint;
use super::states::{LabelState, LabelStep};
use super::writes::Made;
use crate::ldp::Ldp;
use crate::machine::State;
use crate::services::distribution::PeerKey;
use crate::services::{LabelSpace, Services};
use base::plane::{LabelStack, NextHop, Nhlfe, ReplicationId, TableOp, TcSource, TtlModel};
use base::{Label, Time};
use core::net::IpAddr;
use std::collections::BTreeMap;
use wire::ldp::{AnyLabel, Body, Fec, P2mp};

/// A label of this router, and whom it is for.
#[derive(Debug)]
pub struct Own {
    /// The upstream LSR when it was given.
    pub upstream: PeerKey,
    /// With what packets come.
    pub label: Label,
    /// What has become of it.
    pub state: LabelState,
}

/// Entries of the tables for an LSP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entries {
    /// What is done with packets that come with the label of this router; the root has none.
    pub label: Option<(Label, Nhlfe)>,
    /// What copies packets; a router with one way out, which is not the root, needs none.
    pub list: Option<(ReplicationId, Vec<Nhlfe>)>,
}

impl Entries {
    /// Where packets go by them.
    pub(super) fn ways(&self, is_root: bool) -> &[Nhlfe] {
        let copies = self.list.as_ref().map(|(list, ways)| (*list, &ways[..]));
        match (&self.label, copies) {
            (None, Some((_, ways))) if is_root => ways,
            (None, _) => &[],
            (Some((_, nhlfe)), copies) => match (nhlfe.next_hop, copies) {
                (NextHop::Replicate(of), Some((list, ways))) if of == list => ways,
                (NextHop::Replicate(_), _) => &[],
                _ => core::slice::from_ref(nhlfe),
            },
        }
    }
}

/// A point-to-multipoint LSP at a router.
#[derive(Debug, Default)]
pub struct Tree {
    /// What people call it, where a user has named it: at the root and at leaves.
    pub name: Option<String>,
    /// Does it end here, whether it goes on or not?
    pub is_leaf: bool,
    /// Labels that neighbours have given. That of the upstream LSR is kept, and not used (RFC 6388, 2.4.1.4).
    pub given: BTreeMap<PeerKey, Label>,
    /// The label of this router; the root has none.
    pub own: Option<Own>,
    /// Labels before, whose release is awaited.
    pub(in crate::ldp) withdrawn: Vec<Own>,
    /// Where packets go.
    pub branches: Vec<Nhlfe>,
    /// Ways that the tables did not take: those that were in force go on, and these are tried again later.
    pub(super) left_out: Vec<Nhlfe>,
    /// There was no label, or the tables took no way at all: nobody is served until the LSP is tried again.
    pub(super) is_out: bool,
    /// When that is, of either.
    pub(super) again: Option<Time>,
    /// Its label does not fit the messages that the upstream LSR takes.
    pub(super) is_too_long: bool,
    /// The number of its list, once it has had one.
    pub(super) number: Option<ReplicationId>,
    /// Its entries as they were written.
    pub(super) written: Entries,
    /// Its entries as the tables have them, by the answers so far.
    pub(super) in_force: Entries,
    /// Writes without an answer.
    pub(super) unanswered: u32,
}

pub(super) fn entry(push: LabelStack, next_hop: NextHop) -> Nhlfe {
    Nhlfe { push, next_hop, ttl: TtlModel::Uniform, tc: TcSource::Copy }
}

pub(super) fn replicate(list: ReplicationId) -> Nhlfe {
    entry(LabelStack::EMPTY, NextHop::Replicate(list))
}

/// Is it an address of this router?
pub(super) fn is_own(services: &Services, address: IpAddr) -> bool {
    services.interfaces.iter().any(|(_, one)| one.addresses.iter().any(|own| own.address == address))
}

impl Tree {
    /// Is nothing known of it any more?
    fn is_empty(&self) -> bool {
        let Tree { is_leaf, given, own, withdrawn, in_force, written, unanswered, .. } = self;
        let is_written = *in_force != Entries::default() || *written != Entries::default() || *unanswered > 0;
        !is_leaf && given.is_empty() && own.is_none() && withdrawn.is_empty() && !is_written
    }

    /// The list that copies its packets, as it was written.
    pub(in crate::ldp) fn list(&self) -> Option<ReplicationId> {
        self.written.list.as_ref().map(|(list, _)| *list)
    }
}

impl Multipoint {
    /// Takes a step; one that there is not is counted, and changes nothing.
    pub(super) fn step(faults: &mut u64, state: &mut LabelState, step: LabelStep) {
        match state.next(step) {
            Some(next) => *state = next,
            None => {
                debug_assert!(false, "a label that is {state:?} takes no step {step:?}");
                *faults += 1;
            }
        }
    }

    /// Brings the tables, and what the upstream LSR was told, to what the LSP is now.
    pub(super) fn update(&mut self, services: &mut Services, lsp: &P2mp) {
        if !self.trees.contains_key(lsp) {
            return;
        }
        if is_own(services, lsp.root) {
            let branches = self.branches(services, lsp, None);
            self.feed(services, lsp, branches);
        } else {
            let upstream = self.upstream_of(services, lsp);
            let branches = self.branches(services, lsp, upstream);
            let upstream = upstream.filter(|key| !branches.is_empty() && self.can_be_told(*key, lsp));
            self.serve(services, lsp, upstream, branches);
        }
        self.sweep(lsp);
    }

    /// Where packets go: to what is below the label if this router is a leaf, and to all neighbours that have given a
    /// label, but never back to the upstream LSR (RFC 6388, 2.4.1.4 and 4). Ways that the tables did not take are left
    /// out, until there is room because others go, or they are tried again.
    fn branches(&mut self, services: &Services, lsp: &P2mp, upstream: Option<PeerKey>) -> Vec<Nhlfe> {
        let Some(tree) = self.trees.get(lsp).filter(|tree| !tree.is_out) else { return Vec::new() };
        let below = tree.is_leaf.then(|| entry(LabelStack::EMPTY, NextHop::Local));
        let onward = tree.given.iter().filter(|(key, _)| Some(**key) != upstream);
        let ways = onward.filter_map(|(key, label)| {
            let (port, gateway) = self.link_to(services, *key)?;
            let next_hop = NextHop::Via { port, gateway: IpAddr::V4(gateway) };
            Some(entry(LabelStack::one(*label), next_hop))
        });
        let mut all: Vec<Nhlfe> = below.into_iter().chain(ways).collect();
        let Some(tree) = self.trees.get_mut(lsp).filter(|tree| !tree.left_out.is_empty()) else { return all };
        if tree.branches.iter().any(|way| !all.contains(way)) {
            tree.left_out.clear();
        } else {
            all.retain(|way| !tree.left_out.contains(way));
        }
        all
    }

    /// Has packets of the upstream LSR copied to these branches; without one nobody is to send any.
    fn serve(
        &mut self,
        services: &mut Services,
        lsp: &P2mp,
        upstream: Option<PeerKey>,
        branches: Vec<Nhlfe>,
    ) {
        let own = self.trees.get(lsp).and_then(|tree| tree.own.as_ref());
        if own.is_some_and(|own| Some(own.upstream) != upstream) {
            // RFC 6388, 2.4.3: the label before is removed before the new one is added, in one batch.
            self.take_back(lsp, LabelStep::TakenBack);
        }
        let Some(tree) = self.trees.get_mut(lsp) else { return };
        let Some(upstream) = upstream else {
            tree.branches.clear();
            return self.write_list(services, lsp, None);
        };
        if tree.own.is_none() {
            // RFC 6388, 2.4: of the label space of the whole router; the last hop but one pops nothing.
            let Some(label) = services.labels.allocate(LabelSpace::Platform, Ldp::ID) else {
                return self.lack(services, lsp);
            };
            tree.own = Some(Own { upstream, label, state: LabelState::Writing });
        }
        let label = tree.own.as_ref().map(|own| own.label);
        tree.branches.clone_from(&branches);
        let to = match branches[..] {
            [one] => one,
            _ => {
                self.write_list(services, lsp, Some(branches));
                let list = self.trees.get(lsp).and_then(Tree::list);
                return self.write_label(lsp, label.zip(list.map(replicate)));
            }
        };
        // Nothing may lead to a list that goes.
        self.write_label(lsp, label.map(|label| (label, to)));
        self.write_list(services, lsp, None);
    }

    /// There is no label: the LSP is tried again later.
    fn lack(&mut self, services: &mut Services, lsp: &P2mp) {
        self.writes.lacking.push(lsp.clone());
        if let Some(tree) = self.trees.get_mut(lsp) {
            tree.is_out = true;
            tree.branches.clear();
            self.write_list(services, lsp, None);
        }
    }

    /// The label of this router means nothing any more: its entry goes, and who was told it is told so.
    pub(super) fn take_back(&mut self, lsp: &P2mp, why: LabelStep) {
        let Some(tree) = self.trees.get_mut(lsp) else { return };
        let Some(mut own) = tree.own.take() else { return };
        Multipoint::step(&mut self.faults, &mut own.state, why);
        let label = own.label;
        if own.state == LabelState::Withdrawn {
            let (fec, label) = (Fec::P2mp(lsp.clone()), Some(AnyLabel::Generic(label)));
            self.said.push_back((own.upstream, Body::Withdraw { fec, label }));
            tree.withdrawn.push(own);
        } else {
            self.writes.free.push(label);
        }
        self.write(lsp, Made::Label(None), TableOp::IlmRemove { label });
    }

    /// A neighbour has no session any more: what it gave is gone, and what it was told is free.
    pub(super) fn forget(&mut self, lsp: &P2mp, key: PeerKey) {
        self.take_given(lsp, key);
        let Some(tree) = self.trees.get_mut(lsp) else { return };
        for mut own in tree.withdrawn.extract_if(.., |own| own.upstream == key) {
            Multipoint::step(&mut self.faults, &mut own.state, LabelStep::PeerLost);
            self.writes.free.push(own.label);
        }
        if tree.own.as_ref().is_some_and(|own| own.upstream == key) {
            self.take_back(lsp, LabelStep::PeerLost);
        }
    }

    /// Forgets an LSP of which nothing is left.
    pub(super) fn sweep(&mut self, lsp: &P2mp) {
        if self.trees.get(lsp).is_some_and(Tree::is_empty) && !self.roots.contains_key(lsp) {
            self.try_again(lsp, None);
            self.trees.remove(lsp);
        }
    }
}
