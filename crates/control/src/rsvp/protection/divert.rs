//! The point of local repair while a next hop can't be reached, and on the way back (RFC 4090, 6.4.3 and 6.5).
//!
//! Packets have gone through the bypass since the port went down, by the backup of their group. What is done here is
//! signalling, and entries that lead into the bypass by themselves: when the port is back, what lies beyond it may not
//! know the LSP any more.

use super::super::event::Event;
use super::super::faults::Fault;
use super::super::head::Loss;
use super::super::lsp::{Lsp, Role};
use super::super::outbox::Sending;
use super::super::resv::resv_handle;
use super::super::states::{ProtectionEvent, ProtectionState};
use super::super::tables::Purpose;
use super::super::transport::{Handle, Neighbor};
use super::super::{Rsvp, Timer};
use super::Chosen;
use super::select::{Candidate, End, Wish};
use super::turns::Turn;
use base::plane::TableOp;
use base::{PortId, Time};
use std::collections::BTreeMap;
use wire::rsvp::error_code::{self, notify};

impl Rsvp {
    /// Can the LSP go on through a bypass or its detour, now that its next hop is gone?
    pub(in crate::rsvp) fn is_repairable(&self, lsp: &Lsp) -> bool {
        let Some(protection) = lsp.protection() else { return false };
        protection.chosen.is_some_and(|chosen| self.bypass_leg(chosen.bypass).is_some())
            || protection.detour.is_some_and(|taken| self.detour_leg(taken).is_some())
    }

    /// LSPs whose next hop is gone take their detours, before anything else is written: each waits for the writes
    /// before its own. Counts them as [`Rsvp::tell_diverted`] tells them.
    pub(in crate::rsvp) fn detour_beyond(
        &mut self,
        gone: &impl Fn(Neighbor) -> bool,
        diverted: &mut BTreeMap<(Option<u32>, PortId), u32>,
    ) {
        for index in self.store.indices() {
            let is_meant = |lsp: &&Lsp| lsp.has_detour() && !lsp.is_diverted() && self.is_repairable(lsp);
            let hop = self.store.get(index).filter(is_meant).and_then(|lsp| lsp.next_hop);
            if let Some(hop) = hop.filter(|hop| gone(*hop)) {
                *diverted.entry((None, hop.port)).or_insert(0) += 1;
                self.divert(index);
            }
        }
    }

    /// The next hop of an LSP that has a backup is gone: its Paths take the bypass, and its head end is told. A detour
    /// has Paths of its own.
    pub(in crate::rsvp) fn divert(&mut self, index: u32) {
        let period = self.store.get(index).map_or(0, |lsp| lsp.resv_period_ms);
        let expires = self.now + self.lifetime(period);
        let Some(lsp) = self.store.get_mut(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let has_detour = lsp.has_detour();
        // Until the merge point answers, as if the reservation had just been refreshed. That of a detour stands for it.
        lsp.resv_expires = if has_detour { Time::MAX } else { expires };
        let head = lsp.role() == Role::Head;
        let was_diverted = lsp.is_diverted();
        if let Some(protection) = lsp.rare.as_mut().and_then(|rare| rare.protection.as_mut()) {
            self.counters.faults.step(&mut protection.state, ProtectionEvent::Failed);
        }
        if was_diverted {
            return;
        }
        self.forget_outgoing_path(index);
        self.transport.unbind(Handle(resv_handle(index)));
        self.install(index);
        self.send_path(index, Sending::Trigger);
        if !head && self.store.get(index).is_some_and(|lsp| lsp.resv.is_announced()) {
            self.send_resv(index, Sending::Trigger);
        }
        // RFC 4090, 6.5.1.
        self.path_problem(index, error_code::NOTIFY, notify::LOCALLY_REPAIRED);
        self.arm(index);
    }

    /// The bypass of a diverted LSP is gone: it takes another, or is lost.
    pub(super) fn divert_again(&mut self, index: u32) {
        let Some(lsp) = self.store.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let (node, bandwidth, rate) = lsp.wanted_protection();
        let old = lsp.protection().and_then(|protection| protection.chosen);
        let same_end = old.and_then(|old| self.instead(old, Wish { node, bandwidth, rate }, &[old.bypass]));
        match same_end.or_else(|| self.candidate(lsp)) {
            Some(found) => {
                self.take(index, Some(found));
                self.install(index);
                self.send_path(index, Sending::Trigger);
            }
            None => self.undivertible(index),
        }
    }

    /// Another bypass to the merge point of one that is gone, and none of those that are used already: the label there
    /// is the same. Recorded routes begin behind the failure by now, and do not say where it lies.
    pub(in crate::rsvp) fn instead(&self, old: Chosen, wish: Wish, used: &[u32]) -> Option<Candidate> {
        let end = self.tunnels.get(old.bypass).map(|tunnel| tunnel.spec.to)?;
        let same = End::Labelled { swap: old.swap, node: old.node };
        self.best(old.hop, wish, None, |bypass| match used.contains(&bypass) {
            false if self.is_at_end(bypass, end) => same,
            _ => End::Elsewhere,
        })
    }

    /// Nothing leads around the failure any more.
    pub(in crate::rsvp) fn undivertible(&mut self, index: u32) {
        // A detour is taken, too, when the reservation was given up further down: nothing is wrong with the link then.
        let is_there = |lsp: &Lsp| lsp.next_hop.is_some_and(|hop| self.links.is_up(hop.port));
        let was_torn = self.store.get(index).is_some_and(|lsp| lsp.has_detour() && is_there(lsp));
        self.unprotect(index);
        if was_torn {
            return self.reservation_lost(index, Loss::Torn);
        }
        match self.store.get(index).map(|lsp| lsp.role()) {
            Some(Role::Head) => self.lose(index, Loss::PortDown),
            Some(_) => self.repair(index),
            None => self.counters.faults.note(Fault::NoLsp),
        }
    }

    /// Tells the user how many LSPs took which bypass, or their detours.
    pub(in crate::rsvp) fn tell_diverted(&mut self, diverted: &BTreeMap<(Option<u32>, PortId), u32>) {
        for ((bypass, port), lsps) in diverted {
            let name =
                bypass.and_then(|bypass| self.tunnels.get(bypass)).map(|tunnel| tunnel.spec.name.clone());
            self.event(Event::LspsDiverted { bypass: name, port: *port, lsps: *lsps });
        }
    }

    /// The far end of a link does not answer, though the port is up: the tables have all groups on it take their
    /// backups, by one write. Ports without any are left as they are.
    pub(in crate::rsvp) fn distrust_port(&mut self, port: PortId) {
        let is_backed = self.protections.groups.keys().any(|(hop, ..)| hop.port == port);
        if is_backed && self.protections.distrusted.insert(port, ()).is_none() {
            self.write(vec![TableOp::PortTrust { port, trusted: false }], false, Purpose::Nothing);
        }
    }

    /// It answers again.
    pub(in crate::rsvp) fn trust_port(&mut self, port: PortId) {
        if self.protections.distrusted.remove(&port).is_some() {
            self.write(vec![TableOp::PortTrust { port, trusted: true }], true, Purpose::Nothing);
        }
        self.restore_later(port);
    }

    /// A link is back: LSPs that it led are signalled along it again when it has stayed for a while, if the settings
    /// say so.
    pub(in crate::rsvp) fn restore_later(&mut self, port: PortId) {
        let Some(after) = self.config.protection.reversion else { return };
        if self.links.get(port).is_some_and(|link| link.is_silent()) {
            return;
        }
        let is_diverted = |lsp: &Lsp| lsp.is_diverted() && lsp.next_hop.is_some_and(|hop| hop.port == port);
        if self.store.iter().any(|(_, lsp)| is_diverted(lsp)) || self.p2mp_is_diverted_from(port) {
            self.not_restored(port);
            let timer = self.wheel.schedule(self.now + after, Timer::Restore(port));
            self.protections.restoring.insert(port, timer);
        }
    }

    /// A link that was back is gone again, or is dealt with.
    pub(in crate::rsvp) fn not_restored(&mut self, port: PortId) {
        if let Some(timer) = self.protections.restoring.remove(&port) {
            self.wheel.cancel(timer);
        }
    }

    /// A link has been back for long enough: Paths go along it again, and through the bypass as before.
    pub(in crate::rsvp) fn restore(&mut self, port: PortId) {
        self.protections.restoring.remove(&port);
        let is_meant = |lsp: &Lsp| lsp.is_diverted() && lsp.next_hop.is_some_and(|hop| hop.port == port);
        let meant: Vec<u32> =
            self.store.iter().filter(|(_, lsp)| is_meant(lsp)).map(|(index, _)| index).collect();
        for index in meant {
            self.in_turn(index, Turn::Back(port));
        }
        self.first_turn();
        self.p2mp_restore(port);
    }

    /// The LSP is signalled along a link that is back, and through its bypass as before.
    pub(super) fn go_back(&mut self, index: u32, port: PortId) {
        let is_gone = self.is_gone(port);
        let Some(lsp) = self.store.get_mut(index).filter(|_| !is_gone) else { return };
        let is_meant = lsp.is_diverted() && lsp.next_hop.is_some_and(|hop| hop.port == port);
        let protection = lsp.rare.as_mut().and_then(|rare| rare.protection.as_mut());
        let Some(protection) = protection.filter(|_| is_meant) else { return };
        self.counters.faults.step(&mut protection.state, ProtectionEvent::Restored);
        self.send_path(index, Sending::Trigger);
    }

    /// A Resv came by the link that was back: the LSP takes it again. Was it waited for?
    pub(in crate::rsvp) fn revert(&mut self, index: u32) -> bool {
        let reverting = |lsp: &Lsp| lsp.protection().is_some_and(|p| p.state == ProtectionState::Reverting);
        if !self.store.get(index).is_some_and(reverting) {
            return false;
        }
        self.send_tear_around(index);
        let Some(lsp) = self.store.get_mut(index) else { return false };
        if let Some(protection) = lsp.rare.as_mut().and_then(|rare| rare.protection.as_mut()) {
            self.counters.faults.step(&mut protection.state, ProtectionEvent::Reverted);
        }
        true
    }

    /// Does an LSP wait for a Resv by the link that is back, so that Paths go along it as well?
    pub(in crate::rsvp) fn is_reverting(&self, index: u32) -> bool {
        let lsp = self.store.get(index);
        lsp.is_some_and(|lsp| lsp.protection().is_some_and(|p| p.state == ProtectionState::Reverting))
    }
}
