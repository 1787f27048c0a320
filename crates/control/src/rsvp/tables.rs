//! The plane boundary: one batch of table writes for each event, and what its acknowledgement sets in motion.
//!
//! A Resv goes upstream only after the entry that its label stands for is in force; a label is free again only after
//! its entry is gone.

use super::Rsvp;
use super::cells::ByCells;
use super::faults::Fault;
use super::lsp::{Lsp, Role};
use super::outbox::Sending;
use super::states::{ResvEvent, ResvState};
use super::transport::Neighbor;
use crate::protocol::Output;
use crate::services::{After, Binder, InterfaceId, LabelSpace};
use base::plane::{
    Ack, Batch, Fec, IpPrefix, LabelStack, NextHop, Nhlfe, TableError, TableOp, TcSource, TransactionId,
};
use base::{Label, Map, PortId};
use wire::rsvp::error_code::{self, routing};

/// What a batch was for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    /// The ILM entry of an LSP, with its generation.
    Install(u32, u32),
    /// A label to be released: a channel of the link at a port, or one of the platform.
    Release(Option<PortId>, Label),
    /// Traffic of a tunnel moves to an LSP, with the generations of both.
    Move { tunnel: u32, tunnel_generation: u32, lsp: u32, lsp_generation: u32 },
    /// What packets of a point-to-multipoint LSP are copied to, by the previous hop that they come from, with the
    /// generation of the LSP.
    Feed { tree: u32, generation: u32, from: Neighbor },
    /// Nothing depends on it.
    Nothing,
}

/// How good a binding to an LSP is, among those of all protocols: better than one to a label of LDP, as with most
/// vendors.
const PREFERENCE: u8 = 7;

const fn binder(sequence: u64) -> Binder {
    Binder { preference: PREFERENCE, owner: Rsvp::ID, rank: sequence }
}

/// Batches on their way.
#[derive(Debug, Default)]
pub(super) struct Tables {
    next: u64,
    pending: Map<u64, Purpose>,
}

impl Tables {
    /// Batches that have not been acknowledged.
    pub(super) fn pending(&self) -> usize {
        self.pending.len()
    }
    /// Forgets what was on its way; its acknowledgements mean nothing any more.
    pub(super) fn forget(&mut self) {
        self.pending.clear();
    }
}

/// How much of the services of the node is RSVP-TE's.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Labels handed out and not given back.
    pub labels: usize,
    /// Bindings of prefixes to LSPs.
    pub bindings: usize,
}

impl Rsvp {
    /// A label of the platform-wide space, if there is one.
    pub(super) fn take_label(&mut self) -> Option<Label> {
        let label = self.services.labels.allocate(LabelSpace::Platform, Rsvp::ID)?;
        self.held.labels += 1;
        Some(label)
    }

    /// Gives a label back, once nothing stands for it in the tables.
    fn give_label(&mut self, port: Option<PortId>, label: Label) {
        let space = port.map_or(LabelSpace::Platform, |port| LabelSpace::Interface(InterfaceId::of(port)));
        let ours = self.services.labels.release(space, Rsvp::ID, label);
        debug_assert!(ours, "{label} was given back twice");
        self.held.labels -= usize::from(ours);
    }

    /// The tunnel declared as number `sequence` carries a prefix by an entry. Is that the one in force?
    pub(super) fn bind(&mut self, prefix: IpPrefix, sequence: u64, nhlfe: Nhlfe) -> bool {
        let bound = self.services.bindings.bind(prefix, binder(sequence), nhlfe);
        self.held.bindings += usize::from(bound.new);
        bound.in_force
    }

    /// That tunnel does not carry the prefix any more: the write that this takes, if it takes one.
    pub(super) fn unbind(&mut self, prefix: IpPrefix, sequence: u64) -> Option<TableOp> {
        let after = self.services.bindings.withdraw(prefix, binder(sequence));
        self.held.bindings -= usize::from(after != After::Absent);
        let fec = match prefix {
            IpPrefix::V4(prefix) => Fec::Prefix(prefix),
            IpPrefix::V6(prefix) => Fec::Prefix6(prefix),
        };
        match after {
            After::Absent | After::Same => None,
            After::Next(nhlfe) => Some(TableOp::FtnSet { fec, nhlfe }),
            After::Nothing => Some(TableOp::FtnRemove { fec }),
        }
    }

    /// Has a batch carried out. Returns its transaction.
    pub(super) fn write(&mut self, ops: Vec<TableOp>, barrier: bool, purpose: Purpose) -> u64 {
        self.tables.next += 1;
        let transaction = self.tables.next;
        self.tables.pending.insert(transaction, purpose);
        let batch = Batch { transaction: TransactionId(transaction), ops, barrier };
        self.outputs.push_back(Output::Tables(batch));
        transaction
    }

    /// The entry that puts the label of an LSP on, unless it is implicit null, and sends to its next hop.
    pub(super) fn nhlfe_of(&self, lsp: &Lsp) -> Nhlfe {
        self.protected(lsp, self.nhlfe(lsp.out_label, lsp.next_hop, self.classes(lsp)))
    }

    /// The entry that puts `label` on, unless it is implicit null, and sends to `hop`.
    pub(super) fn nhlfe(&self, label: Label, hop: Option<Neighbor>, tc: TcSource) -> Nhlfe {
        let push = if hop.is_none() || label == Label::IMPLICIT_NULL {
            LabelStack::EMPTY
        } else {
            LabelStack::one(label)
        };
        let next_hop =
            hop.map_or(NextHop::Local, |hop| NextHop::Via { port: hop.port, gateway: hop.address.into() });
        Nhlfe { push, next_hop, ttl: self.config.ttl, tc }
    }

    /// Puts the entry of an LSP's reservation in the tables, or changes it in one step.
    pub(super) fn install(&mut self, index: u32) {
        let Some(lsp) = self.store.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        if lsp.role() == Role::Head {
            match lsp.detour_of() {
                Some(protected) => self.detour_reserved(protected, index),
                None => self.head_install(index),
            }
            return;
        }
        match lsp.in_label {
            Some(label) if !label.is_reserved() => {
                let Some(entries) = self.entries(index, label) else {
                    return self.install_failed(index, (error_code::ROUTING, routing::LABEL_ALLOCATION));
                };
                let purpose = Purpose::Install(index, self.store.generation(index));
                let transaction = self.write(entries, false, purpose);
                if let Some(lsp) = self.store.get_mut(index) {
                    lsp.transaction = transaction;
                }
            }
            // The nulls need no entry.
            _ => self.installed(index),
        }
    }

    /// An LSP can't be entered into the tables.
    fn install_failed(&mut self, index: u32, (code, value): (u8, u16)) {
        self.path_problem(index, code, value);
        self.send_resv_tear(index);
        self.drop_reservation(index);
    }

    /// Sends what comes with the label of an LSP nowhere, for the time being.
    pub(super) fn park(&mut self, index: u32, label: Label) {
        let nhlfe =
            Nhlfe { next_hop: NextHop::Discard, ..self.nhlfe(Label::IMPLICIT_NULL, None, self.config.tc) };
        let op = match self.store.get(index).and_then(Lsp::by_cells) {
            // Nobody puts its cells together here: the channel leads nowhere until it is written again.
            Some(ByCells { port, beside: None }) => TableOp::CircuitRemove { port, label },
            Some(ByCells { beside: Some(label), .. }) => TableOp::IlmSet { label, nhlfe },
            None => TableOp::IlmSet { label, nhlfe },
        };
        self.write(vec![op], true, Purpose::Nothing);
    }

    /// Takes the entry of an LSP out of the tables; its label is free when that is done.
    pub(super) fn uninstall(&mut self, index: u32) {
        self.selector_leave(index);
        let Some(lsp) = self.store.get_mut(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let installed = lsp.resv.is_installed();
        let is_parked = matches!(lsp.resv, ResvState::Parked | ResvState::Suspended);
        self.counters.faults.step(&mut lsp.resv, ResvEvent::Released);
        lsp.transaction = 0;
        let label = lsp.in_label.take().filter(|label| !label.is_reserved());
        let session = lsp.session;
        let by_cells = lsp.rare.as_mut().and_then(|rare| rare.by_cells.take());
        match (label, by_cells) {
            // Parked, see there: the channel has no entry any more.
            (Some(label), Some(ByCells { port, beside: None })) if is_parked => {
                self.give_label(Some(port), label);
            }
            (Some(label), Some(ByCells { port, .. })) => {
                let gone = TableOp::CircuitRemove { port, label };
                self.write(vec![gone], !installed, Purpose::Release(Some(port), label));
            }
            _ => {}
        }
        // Of what comes as cells the entry of packets is another one.
        let entry = if by_cells.is_some() { by_cells.and_then(|cells| cells.beside) } else { label };
        if let Some(label) = entry {
            self.write(vec![TableOp::IlmRemove { label }], !installed, Purpose::Release(None, label));
            self.selector_end(&session);
        }
    }

    /// The entry of an LSP is in force: the previous hop may have its label.
    fn installed(&mut self, index: u32) {
        let Some(lsp) = self.store.get_mut(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let before = lsp.resv;
        self.counters.faults.step(&mut lsp.resv, ResvEvent::Written);
        // What is in force and known already needs no Resv.
        if before != ResvState::Announced {
            self.send_resv(index, Sending::Trigger);
        }
    }

    pub(super) fn table_ack(&mut self, ack: &Ack) {
        match self.tables.pending.remove(&ack.transaction.0) {
            Some(Purpose::Install(index, generation)) => {
                let current = |lsp: &Lsp| lsp.transaction == ack.transaction.0;
                if self.store.generation(index) != generation || !self.store.get(index).is_some_and(current) {
                    return;
                }
                if ack.failed.is_empty() {
                    self.installed(index);
                } else {
                    // A label that can't be put in the tables is as good as none.
                    let (code, value) = match ack.failed.first() {
                        // RFC 3270, 5.3.
                        Some((_, TableError::NoContext)) => {
                            (error_code::DIFFSERV, error_code::diffserv::CONTEXT_ALLOCATION)
                        }
                        _ => (error_code::ROUTING, routing::LABEL_ALLOCATION),
                    };
                    self.install_failed(index, (code, value));
                }
            }
            Some(Purpose::Release(port, label)) => self.give_label(port, label),
            Some(Purpose::Feed { tree, generation, from }) => {
                self.p2mp_acknowledged(tree, generation, from, (ack.transaction.0, ack.failed.is_empty()));
            }
            Some(Purpose::Move { tunnel, tunnel_generation, lsp, lsp_generation }) => {
                if self.tunnels.generation(tunnel) == tunnel_generation
                    && self.store.generation(lsp) == lsp_generation
                {
                    self.moved(tunnel, lsp, ack.transaction.0, ack.failed.is_empty());
                }
            }
            Some(Purpose::Nothing) | None => {}
        }
    }
}
