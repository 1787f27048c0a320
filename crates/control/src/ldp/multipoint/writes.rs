//! Entries of tables for point-to-multipoint LSPs, and labels that are free again.

use super::states::{LabelState, LabelStep};
use super::tree::{Entries, is_own};
use super::{Multipoint, Tree};
use crate::ldp::Ldp;
use crate::services::{LabelSpace, Services};
use base::plane::{Ack, Batch, Nhlfe, ReplicationId, TableOp, TransactionId};
use base::{Label, Span, Time};
use std::collections::{BTreeMap, BTreeSet};
use wire::ldp::{AnyLabel, Body, Fec, P2mp};

/// What a batch of these LSPs has in its number, so that its answer is told from those to others of LDP.
const MARK: u64 = 1 << 54;
/// An LSP without a label, or without room for its entry, is tried again after this time.
const RETRY: Span = Span::from_secs(15);

/// What a write makes of the entries of an LSP when it is in force.
#[derive(Debug)]
pub(super) enum Made {
    /// What is done with packets that come with its label.
    Label(Option<(Label, Nhlfe)>),
    /// What copies packets.
    List(Option<(ReplicationId, Vec<Nhlfe>)>),
    /// Packets at the root take it.
    Carried,
}

impl Made {
    fn apply(&self, to: &mut Entries) {
        match self {
            Made::Label(label) => to.label = *label,
            Made::List(list) => to.list.clone_from(list),
            Made::Carried => {}
        }
    }
}

/// Writes that have been made up, and what is to be done when they are in force.
#[derive(Debug, Default)]
struct Waiting {
    /// What they make of LSPs, by their places among the writes.
    sets: Vec<(u32, P2mp, Made)>,
    /// Labels that are free.
    free: Vec<Label>,
}

/// Writes that are made up, and those that wait for an answer.
#[derive(Debug, Default)]
pub(super) struct Writes {
    pub ops: Vec<TableOp>,
    sets: Vec<(u32, P2mp, Made)>,
    /// Labels that are free when what was written before is in force.
    pub free: Vec<Label>,
    /// LSPs for which there was no label just now.
    pub lacking: Vec<P2mp>,
    waiting: BTreeMap<u64, Waiting>,
    transaction: u64,
    /// Writes that the tables refused.
    pub refused: u64,
}

impl Multipoint {
    /// Has something written for an LSP.
    pub(super) fn write(&mut self, lsp: &P2mp, made: Made, op: TableOp) {
        let Some(tree) = self.trees.get_mut(lsp) else { return };
        made.apply(&mut tree.written);
        tree.unanswered += 1;
        self.writes.sets.push((self.writes.ops.len() as u32, lsp.clone(), made));
        self.writes.ops.push(op);
    }

    /// Has packets with a label go there, if they do not.
    pub(super) fn write_label(&mut self, lsp: &P2mp, to: Option<(Label, Nhlfe)>) {
        let is_new = |tree: &Tree| tree.written.label != to;
        if let Some((label, nhlfe)) = to.filter(|_| self.trees.get(lsp).is_some_and(is_new)) {
            self.write(lsp, Made::Label(to), TableOp::IlmSet { label, nhlfe });
        }
    }

    /// Has packets copied to these ways, or not any more.
    pub(super) fn write_list(&mut self, services: &mut Services, lsp: &P2mp, ways: Option<Vec<Nhlfe>>) {
        let known = self.trees.get(lsp).and_then(|tree| tree.written.list.as_ref());
        match (known, ways) {
            (None, None) => {}
            (Some((_, known)), Some(ways)) if *known == ways => {}
            (Some((list, _)), None) => {
                let list = *list;
                self.write(lsp, Made::List(None), TableOp::ReplicationRemove { list });
            }
            (_, Some(ways)) => {
                let Some(tree) = self.trees.get_mut(lsp) else { return };
                // Always the same: the tables may refuse to take out one that was to go, without an answer so far.
                let list = *tree.number.get_or_insert_with(|| services.multicast.list());
                let branches = ways.clone().into();
                self.write(lsp, Made::List(Some((list, ways))), TableOp::ReplicationSet { list, branches });
            }
        }
    }

    /// What is to be written. A batch of nothing asks when those before it are in force.
    pub(in crate::ldp) fn poll_batch(&mut self, now: Time) -> Option<Batch> {
        for lsp in core::mem::take(&mut self.writes.lacking) {
            self.try_again(&lsp, Some(now + RETRY));
        }
        let writes = &mut self.writes;
        if writes.ops.is_empty() && writes.free.is_empty() {
            return None;
        }
        writes.transaction += 1;
        let transaction = TransactionId(writes.transaction | MARK);
        let (sets, free) = (core::mem::take(&mut writes.sets), core::mem::take(&mut writes.free));
        writes.waiting.insert(transaction.0, Waiting { sets, free });
        Some(Batch { transaction, ops: core::mem::take(&mut writes.ops), barrier: false })
    }

    /// Is an answer about a batch of these LSPs?
    pub(in crate::ldp) const fn is_about(ack: &Ack) -> bool {
        ack.transaction.0 & MARK != 0
    }

    /// Takes the answer to a batch.
    pub(in crate::ldp) fn written(&mut self, now: Time, services: &mut Services, ack: &Ack) {
        let Some(waiting) = self.writes.waiting.remove(&ack.transaction.0) else { return };
        self.writes.refused += ack.failed.len() as u64;
        for label in waiting.free {
            let held = services.labels.release(LabelSpace::Platform, Ldp::ID, label);
            debug_assert!(held, "label {label} of a point-to-multipoint LSP was free already");
        }
        let failed: BTreeSet<u32> = ack.failed.iter().map(|(place, _)| *place).collect();
        let mut answered = BTreeSet::new();
        for (place, lsp, made) in waiting.sets {
            let Some(tree) = self.trees.get_mut(&lsp) else { continue };
            tree.unanswered = tree.unanswered.saturating_sub(1);
            match (failed.contains(&place), made) {
                (false, made) => made.apply(&mut tree.in_force),
                (true, Made::Carried) => self.not_carried(&lsp),
                (true, _) => {}
            }
            answered.insert(lsp);
        }
        for lsp in answered {
            self.tell(&lsp);
            let tree = self.trees.get(&lsp).filter(|tree| tree.unanswered == 0);
            match tree.map(|tree| tree.in_force == tree.written) {
                Some(false) => self.refused(now, services, &lsp),
                Some(true) if self.is_uncarried(&lsp) => self.try_again(&lsp, Some(now + RETRY)),
                Some(true) => self.sweep(&lsp),
                None => {}
            }
        }
    }

    /// The tables have not taken all that was written for an LSP. What is in force stays; of what is new the latter
    /// half is left out for a while, and the rest tried at once. Where nothing new is left to be left out, ways that
    /// must not be taken any more are in force, or none at all: then the LSP is taken out.
    fn refused(&mut self, now: Time, services: &mut Services, lsp: &P2mp) {
        let is_root = is_own(services, lsp.root);
        let Some(tree) = self.trees.get_mut(lsp) else { return };
        tree.written = tree.in_force.clone();
        let ways = tree.in_force.ways(is_root);
        let new: Vec<Nhlfe> = tree.branches.iter().filter(|way| !ways.contains(way)).copied().collect();
        let was_out = tree.is_out;
        match &new[..] {
            [] => tree.is_out = true,
            [_] if ways.is_empty() => tree.is_out = true,
            new => tree.left_out.extend(&new[new.len() / 2..]),
        }
        if tree.is_out {
            // A label without its entry is as good as none.
            self.take_back(lsp, LabelStep::Failed);
        }
        self.try_again(lsp, Some(now + RETRY));
        if !was_out {
            self.update(services, lsp);
        }
    }

    /// When an LSP is tried again that lacks something; nothing if it does not any more.
    pub(super) fn try_again(&mut self, lsp: &P2mp, at: Option<Time>) {
        let Some(tree) = self.trees.get_mut(lsp) else { return };
        if let Some(before) = core::mem::replace(&mut tree.again, at) {
            self.lacking.remove(&(before, lsp.clone()));
        }
        self.lacking.extend(at.map(|at| (at, lsp.clone())));
    }

    /// The entry of the label is in force: the upstream LSR is told it, if it was not yet (RFC 6388, 2.4.1.3 and
    /// 2.4.1.4).
    fn tell(&mut self, lsp: &P2mp) {
        let Some(tree) = self.trees.get_mut(lsp) else { return };
        let in_force = tree.in_force.label.map(|(label, _)| label);
        let own = tree.own.as_mut().filter(|own| Some(own.label) == in_force);
        if let Some(own) = own.filter(|own| own.state == LabelState::Writing) {
            Multipoint::step(&mut self.faults, &mut own.state, LabelStep::Written);
            self.said.push_back((own.upstream, map(lsp, own.label, None)));
        }
    }
}

/// A label for an LSP, as an answer to a request if there was one.
pub(super) fn map(lsp: &P2mp, label: Label, request: Option<u32>) -> Body {
    let (fecs, label) = (vec![Fec::P2mp(lsp.clone())], AnyLabel::Generic(label));
    Body::Mapping { fecs, label, request, hops: None, path: None }
}
