//! Entries of tables for point-to-multipoint LSPs, and labels that are free again.

use super::Multipoint;
use super::states::{LabelState, LabelStep};
use crate::ldp::Ldp;
use crate::services::{LabelSpace, Services};
use base::plane::{Ack, Batch, TableOp, TransactionId};
use base::{Label, Span, Time};
use std::collections::BTreeMap;
use wire::ldp::{AnyLabel, Body, Fec, P2mp};

/// What a batch of these LSPs has in its number, so that its answer is told from those to others of LDP.
const MARK: u64 = 1 << 54;
/// An LSP without a label, or without room for its entry, is tried again after this time.
const RETRY: Span = Span::from_secs(15);

/// Writes that have been made up, and what is to be done when they are in force.
#[derive(Debug, Default)]
struct Waiting {
    /// Entries of labels, by their places among the writes.
    sets: Vec<(u32, P2mp, Label)>,
    /// Labels that are free.
    free: Vec<Label>,
}

/// Writes that are made up, and those that wait for an answer.
#[derive(Debug, Default)]
pub(super) struct Writes {
    pub ops: Vec<TableOp>,
    sets: Vec<(u32, P2mp, Label)>,
    /// Labels that are free when what was written before is in force.
    pub free: Vec<Label>,
    /// LSPs for which there was no label just now.
    pub lacking: Vec<P2mp>,
    waiting: BTreeMap<u64, Waiting>,
    transaction: u64,
    /// Writes that the tables refused.
    pub refused: u64,
}

impl Writes {
    /// Has something written that packets of a label need.
    pub fn set(&mut self, lsp: &P2mp, label: Label, op: TableOp) {
        self.sets.push((self.ops.len() as u32, lsp.clone(), label));
        self.ops.push(op);
    }
}

impl Multipoint {
    /// What is to be written. A batch of nothing asks when those before it are in force.
    pub(in crate::ldp) fn poll_batch(&mut self, now: Time) -> Option<Batch> {
        let writes = &mut self.writes;
        self.lacking.extend(writes.lacking.drain(..).map(|lsp| (lsp, now + RETRY)));
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
        let failed = |place: u32| ack.failed.iter().any(|(of, _)| *of == place);
        let (lost, set): (Vec<_>, Vec<_>) = waiting.sets.into_iter().partition(|(place, ..)| failed(*place));
        for (_, lsp, label) in lost {
            // A label without its entry is as good as none.
            if self.owns(&lsp, label) {
                self.take_back(&lsp, LabelStep::Failed);
                self.lacking.insert(lsp.clone(), now + RETRY);
                self.update(services, &lsp);
            }
        }
        for (_, lsp, label) in set {
            if self.owns(&lsp, label) {
                self.tell(&lsp);
            }
        }
    }

    fn owns(&self, lsp: &P2mp, label: Label) -> bool {
        let own = self.trees.get(lsp).and_then(|tree| tree.own.as_ref());
        own.is_some_and(|own| own.label == label)
    }

    /// The entry of the label is in force: the upstream LSR is told it, if it was not yet (RFC 6388, 2.4.1.3 and
    /// 2.4.1.4).
    fn tell(&mut self, lsp: &P2mp) {
        let own = self.trees.get_mut(lsp).and_then(|tree| tree.own.as_mut());
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
