//! Entries of label VCs, and labels that are free again.

use super::up::VcStep;
use super::{LabelVcs, space};
use crate::services::Services;
use crate::services::distribution::{Refusal, Say};
use base::plane::{Ack, Batch, CircuitTo, TableOp, TransactionId};
use base::{Label, PortId};
use std::collections::BTreeMap;

/// What a batch of label VCs has in its number, so that its answer is told from those to others of the same protocol.
const MARK: u64 = 1 << 55;

/// Writes that have been made up, and what is to be done when they are in force.
#[derive(Debug, Default)]
struct Waiting {
    ops: Vec<TableOp>,
    /// Label VCs to tell, by the place of their entry among the writes.
    tell: Vec<(u32, u32)>,
    /// Labels that are free, of these ports.
    free: Vec<(PortId, Label)>,
}

/// Writes that are made up, and those that wait for an answer.
#[derive(Debug, Default)]
pub(super) struct Writes {
    now: Waiting,
    waiting: BTreeMap<u64, Waiting>,
    transaction: u64,
    /// Writes that the tables refused.
    refused: u64,
}

impl Writes {
    /// Has an entry written, and the label VC told of it if `tells`.
    pub fn set(&mut self, id: u32, port: PortId, label: Label, to: CircuitTo, tells: bool) {
        if tells {
            self.now.tell.push((self.now.ops.len() as u32, id));
        }
        self.now.ops.push(TableOp::CircuitSet { port, label, to });
    }

    /// Has an entry taken out.
    pub fn remove(&mut self, port: PortId, label: Label) {
        self.now.ops.push(TableOp::CircuitRemove { port, label });
    }

    /// A label is free when all that was written before is in force.
    pub fn free(&mut self, port: PortId, label: Label) {
        self.now.free.push((port, label));
    }
}

impl LabelVcs {
    /// What is to be written. A batch of nothing asks when those before it are in force.
    pub fn poll_batch(&mut self) -> Option<Batch> {
        let writes = &mut self.writes;
        if writes.now.ops.is_empty() && writes.now.free.is_empty() {
            return None;
        }
        writes.transaction += 1;
        let mut waiting = core::mem::take(&mut writes.now);
        let ops = core::mem::take(&mut waiting.ops);
        let transaction = TransactionId(writes.transaction | MARK);
        writes.waiting.insert(transaction.0, waiting);
        Some(Batch { transaction, ops, barrier: false })
    }

    /// Is an answer about a batch of label VCs?
    pub const fn is_about(ack: &Ack) -> bool {
        ack.transaction.0 & MARK != 0
    }

    /// Takes the answer to a batch.
    pub fn written(&mut self, services: &mut Services, ack: &Ack) {
        let Some(waiting) = self.writes.waiting.remove(&ack.transaction.0) else { return };
        self.writes.refused += ack.failed.len() as u64;
        let failed = |place: u32| ack.failed.iter().any(|(of, _)| *of == place);
        for (place, id) in waiting.tell {
            let Some(up) = self.ups.get_mut(&id).filter(|up| up.to.is_some()) else { continue };
            if failed(place) {
                // Nothing is there that would have to be taken out.
                up.to = None;
                self.give_up(id, Refusal::NoLabels);
                continue;
            }
            up.step(VcStep::Written);
            self.tell(id);
        }
        let is_freed = !waiting.free.is_empty();
        for (port, label) in waiting.free {
            services.labels.release(space(port), self.settings.owner, label);
        }
        if is_freed {
            self.tell_available(services);
        }
    }

    /// Tells neighbours that were refused a label of their links that there are some again (RFC 5036, A.1.13).
    fn tell_available(&mut self, services: &Services) {
        let owner = self.settings.owner;
        for (key, link) in self.links.iter_mut().filter(|(_, link)| link.was_refused) {
            if !services.labels.is_exhausted(space(link.port), owner) {
                link.was_refused = false;
                self.said.push_back((*key, Say::LabelsAvailable, None));
            }
        }
    }

    /// There are labels behind this router again, or of its own: who was refused for want of them may ask again.
    pub fn labels_available_beyond(&mut self) {
        for (key, link) in self.links.iter_mut().filter(|(_, link)| link.was_refused_beyond) {
            link.was_refused_beyond = false;
            self.said.push_back((*key, Say::LabelsAvailable, None));
        }
    }
}
