//! Traffic of a tunnel: mapped to its LSP, moved to another in one step, taken off (RFC 3209, 2.5).

use super::Rsvp;
use super::head::Loss;
use super::record_route;
use super::tables::Purpose;
use base::plane::{Fec, TableOp};
use base::{Event, Time};

impl Rsvp {
    /// The reservation of an LSP of a tunnel is there, or its label has changed: writes the FTN.
    pub(super) fn head_install(&mut self, lsp: u32) {
        let Some(index) = self.tunnel_of(lsp) else { return };
        let Some(tunnel) = self.tunnels.get(index) else { return };
        if tunnel.candidate == Some(lsp) {
            let ops = self.ftn_ops(lsp, &tunnel.spec.carries.clone());
            if ops.is_empty() {
                self.moved(index, lsp, 0, true);
                return;
            }
            let purpose = Purpose::Move {
                tunnel: index,
                tunnel_generation: self.tunnels.generation(index),
                lsp,
                lsp_generation: self.store.generation(lsp),
            };
            // Two writes of one entry must not overtake each other.
            let transaction = self.write(ops, true, purpose);
            if let Some(tunnel) = self.tunnels.get_mut(index) {
                tunnel.moving = Some(transaction);
            }
        } else if tunnel.active == Some(lsp) && tunnel.moving.is_none() {
            let ops = self.ftn_ops(lsp, &tunnel.carried.clone());
            self.write_ftn(ops);
        }
    }

    fn ftn_ops(&self, lsp: u32, prefixes: &[base::plane::Prefix]) -> Vec<TableOp> {
        let Some(lsp) = self.store.get(lsp) else { return Vec::new() };
        let nhlfe = self.nhlfe(lsp.out_label, lsp.next_hop);
        prefixes.iter().map(|&prefix| TableOp::FtnSet { fec: Fec::Prefix(prefix), nhlfe }).collect()
    }

    fn write_ftn(&mut self, ops: Vec<TableOp>) {
        if !ops.is_empty() {
            self.write(ops, true, Purpose::Nothing);
        }
    }

    /// The tables send the tunnel's traffic along its new LSP, or could not be written.
    pub(super) fn moved(&mut self, index: u32, lsp: u32, transaction: u64, success: bool) {
        let linger = self.now + self.config.linger;
        let Some(tunnel) = self.tunnels.get_mut(index) else { return };
        if tunnel.candidate != Some(lsp) || (transaction != 0 && tunnel.moving != Some(transaction)) {
            return;
        }
        if !success {
            self.lose(lsp, Loss::TablesFull);
            return;
        }
        tunnel.moving = None;
        tunnel.candidate = None;
        tunnel.give_up_at = Time::MAX;
        tunnel.failures = 0;
        tunnel.active_route = tunnel.route;
        let before = tunnel.active.replace(lsp);
        if let Some(before) = before {
            tunnel.retiring.push((linger, before));
        }
        let id = tunnel.id();
        let stale: Vec<_> =
            tunnel.carried.iter().copied().filter(|prefix| !tunnel.spec.carries.contains(prefix)).collect();
        tunnel.carried.clone_from(&tunnel.spec.carries);
        self.write_ftn(
            stale.into_iter().map(|prefix| TableOp::FtnRemove { fec: Fec::Prefix(prefix) }).collect(),
        );
        let Some(state) = self.store.get_mut(lsp) else { return };
        state.installed = true;
        let (lsp_id, label) = (state.sender.lsp_id, state.out_label);
        let recorded = state.rare.as_ref().and_then(|rare| rare.resv_rro.as_deref());
        let route = recorded.map(record_route::addresses).unwrap_or_default();
        let confirm = state.rare.as_mut().and_then(|rare| rare.confirm.take());
        match before.and_then(|before| self.store.get(before)).map(|before| before.sender.lsp_id) {
            Some(from_lsp) => self.event(Event::LspRerouted { tunnel: id, from_lsp, to_lsp: lsp_id }),
            None => self.event(Event::LspUp { tunnel: id, lsp_id, label, route }),
        }
        if let Some(receiver) = confirm {
            self.confirm(lsp, receiver);
        }
        self.arm_tunnel(index);
    }

    /// What the tunnel carries has changed.
    pub(super) fn carry(&mut self, index: u32) {
        let Some(tunnel) = self.tunnels.get(index) else { return };
        let Some(active) = tunnel.active else { return };
        let wanted = tunnel.spec.carries.clone();
        let stale = tunnel.carried.iter().filter(|prefix| !wanted.contains(prefix));
        let mut ops: Vec<TableOp> =
            stale.map(|&prefix| TableOp::FtnRemove { fec: Fec::Prefix(prefix) }).collect();
        ops.extend(self.ftn_ops(active, &wanted));
        self.write_ftn(ops);
        if let Some(tunnel) = self.tunnels.get_mut(index) {
            tunnel.carried = wanted;
        }
    }

    /// Gives the attempt up that is under way.
    pub(super) fn abandon_candidate(&mut self, index: u32) {
        let Some(tunnel) = self.tunnels.get_mut(index) else { return };
        let (candidate, moving) = (tunnel.candidate.take(), tunnel.moving.take());
        tunnel.give_up_at = Time::MAX;
        let (active, carried, carries) = (tunnel.active, tunnel.carried.clone(), tunnel.spec.carries.clone());
        if moving.is_some() {
            // The entries may point to the candidate by now.
            let gone = carries.iter().filter(|prefix| active.is_none() || !carried.contains(prefix));
            let mut ops: Vec<TableOp> =
                gone.map(|&prefix| TableOp::FtnRemove { fec: Fec::Prefix(prefix) }).collect();
            ops.extend(active.map(|active| self.ftn_ops(active, &carried)).unwrap_or_default());
            self.write_ftn(ops);
        }
        if let Some(candidate) = candidate {
            self.tear_down(candidate);
        }
    }

    /// Takes traffic off the active LSP and tears it down.
    pub(super) fn drop_active(&mut self, index: u32, reason: &str) {
        let Some(tunnel) = self.tunnels.get_mut(index) else { return };
        let Some(lsp) = tunnel.active.take() else { return };
        let id = tunnel.id();
        let carried = std::mem::take(&mut tunnel.carried);
        // Entries on their way to a new LSP are left to it.
        if tunnel.moving.is_none() {
            self.write_ftn(
                carried.into_iter().map(|prefix| TableOp::FtnRemove { fec: Fec::Prefix(prefix) }).collect(),
            );
        } else {
            tunnel.carried = carried;
        }
        let lsp_id = self.store.get(lsp).map_or(0, |lsp| lsp.sender.lsp_id);
        self.event(Event::LspDown { tunnel: id, lsp_id, reason: reason.into() });
        self.tear_down(lsp);
    }
}
