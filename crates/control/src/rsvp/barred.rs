//! Tunnels whose filters drop packets as long as there is no LSP: what is meant for such a tunnel takes no other way,
//! neither before it is first up nor after it has failed.
//!
//! The entries are those that lead into the tunnel, in the same order; each is replaced in one step when an LSP is
//! there or gone, so that no packet slips through in between.

use super::Rsvp;
use super::command::{TunnelSpec, WhenDown};
use super::faults::Fault;
use super::ftn::{Entry, entry, flows};
use base::Label;
use base::plane::{NextHop, Nhlfe, TableOp};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The entries that drop packets.
pub(super) fn entries(barred: Option<&TunnelSpec>, sequence: u64) -> BTreeSet<Entry> {
    barred.into_iter().flat_map(|spec| flows(spec, sequence)).map(entry).collect()
}

impl Rsvp {
    /// Has the filters of a tunnel drop packets if it has no LSP and that is asked for, and not otherwise. Entries on
    /// their way to an LSP are left alone until they have arrived.
    pub(super) fn bar(&mut self, index: u32) {
        let Some(tunnel) = self.tunnels.get_mut(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        if tunnel.active.is_none() && tunnel.state.is_mapping() {
            return;
        }
        let is_barred = tunnel.active.is_none() && tunnel.spec.when_down == WhenDown::Drop;
        let wanted = is_barred.then(|| Arc::clone(&tunnel.spec));
        let (before, sequence) = (core::mem::replace(&mut tunnel.barred, wanted.clone()), tunnel.sequence);
        let filters = |spec: &Option<Arc<TunnelSpec>>| spec.as_ref().map(|spec| spec.filters.clone());
        if filters(&before) == filters(&wanted) {
            return;
        }
        // What an LSP carries now takes the place of what was barred.
        let mut kept = entries(wanted.as_deref(), sequence);
        let carried = tunnel.carried.iter().flat_map(|spec| flows(spec, sequence));
        kept.extend(carried.map(entry));
        let gone =
            before.iter().flat_map(|spec| flows(spec, sequence)).filter(|fec| !kept.contains(&entry(*fec)));
        let gone = gone.map(|fec| TableOp::FtnRemove { fec });
        let nhlfe =
            Nhlfe { next_hop: NextHop::Discard, ..self.nhlfe(Label::IMPLICIT_NULL, None, self.config.tc) };
        let barred = wanted.iter().flat_map(|spec| flows(spec, sequence));
        let ops = barred.map(|fec| TableOp::FtnSet { fec, nhlfe }).chain(gone).collect();
        self.write_ftn(ops);
    }

    /// The user does not want the tunnel any more: its filters drop nothing from now on.
    pub(super) fn unbar(&mut self, index: u32) {
        let Some(tunnel) = self.tunnels.get_mut(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        if tunnel.spec.when_down == WhenDown::Drop {
            tunnel.spec = Arc::new(TunnelSpec { when_down: WhenDown::Route, ..(*tunnel.spec).clone() });
        }
        self.bar(index);
    }
}
