//! Explicit teardown in both directions, and giving back what state held (RFC 2205, 3.1.5 and 3.1.6).

use super::Rsvp;
use super::counters::Discard;
use super::error::passed_on;
use super::faults::Fault;
use super::head::Loss;
use super::lsp::{Role, SenderKey, SessionKey};
use super::outbox::Sending;
use super::path::path_handle;
use super::path_send::through;
use super::resv::resv_handle;
use super::slab::NIL;
use super::states::{PathEvent, ResvEvent, ResvState};
use super::transport::{Arrival, Delivery, Handle};
use base::{Rate, Time};
use wire::rsvp::{Common, Message, PathTear, ResvTear, SenderDescriptor, Style};

impl Rsvp {
    pub(super) fn handle_path_tear(&mut self, arrival: &Arrival, tear: PathTear) {
        let keys = SessionKey::of(&tear.session)
            .zip(tear.sender.as_ref().and_then(|sender| SenderKey::of(&sender.sender_template)));
        let found = keys.and_then(|(session, sender)| self.store.find(&session, &sender));
        if let Some(index) = found {
            self.hurry(index);
        }
        let Some((index, lsp)) = found.and_then(|index| Some((index, self.store.get(index)?))) else {
            if !keys.is_some_and(|(session, sender)| self.unmerge(&session, &sender, arrival.from)) {
                self.counters.discard(Discard::NoState);
            }
            return;
        };
        // Only from where the Path came (RFC 2205, 3.1.5).
        if lsp.role() == Role::Head || lsp.prev_hop != arrival.from {
            // A detour by the path-specific method has the sender of its LSP (RFC 4090, 6.1.2).
            if !keys.is_some_and(|(session, sender)| self.unmerge(&session, &sender, arrival.from)) {
                self.counters.discard(Discard::WrongHop);
            }
            return;
        }
        if self.is_overtaken(arrival, path_handle(index)) {
            return;
        }
        if let Some(lsp) = self.store.get_mut(index) {
            lsp.ttl = arrival.ip.ttl.saturating_sub(1);
        }
        self.transport.retire(Handle(path_handle(index)));
        // RFC 4090, 7.1.3: not as long as a backup is merged into it.
        if self.goes_on_merged(index) {
            return;
        }
        self.forward_path_tear(index, passed_on(tear.common), tear.sender);
        self.remove_lsp(index, PathEvent::Torn);
    }

    pub(super) fn handle_resv_tear(&mut self, arrival: &Arrival, tear: ResvTear) {
        let Some(session) = SessionKey::of(&tear.session) else {
            self.counters.discard(Discard::NotAnLspTunnel);
            return;
        };
        for filter in &tear.filters {
            let found = SenderKey::of(filter).and_then(|sender| self.store.find(&session, &sender));
            if let Some(index) = found {
                self.hurry(index);
            }
            let Some((index, lsp)) = found.and_then(|index| Some((index, self.store.get(index)?))) else {
                let sender = SenderKey::of(filter);
                if !sender.is_some_and(|sender| self.tear_from_around(&session, &sender)) {
                    self.counters.discard(Discard::NoState);
                }
                continue;
            };
            if lsp.is_diverted() {
                // RFC 4090, 6.3.2: what the failing path does is nobody's concern upstream.
                self.counters.discard(Discard::WrongHop);
            } else if lsp.next_hop != Some(arrival.from) {
                self.counters.discard(Discard::WrongHop);
            } else if lsp.is_reserved() && lsp.style != Some(tear.style) {
                // RFC 2205, 3.1.6: what is torn down matches the STYLE, too.
                self.counters.discard(Discard::NoState);
            } else if lsp.is_reserved() && !self.is_overtaken(arrival, resv_handle(index)) {
                self.transport.retire(Handle(resv_handle(index)));
                self.reservation_lost(index, Loss::Torn);
            }
        }
    }

    /// The reservation of an LSP has gone: gives back what it held, and tells whoever comes before.
    pub(super) fn reservation_lost(&mut self, index: u32, why: Loss) {
        // RFC 4090, 6.3.2: nobody further up learns it as long as a detour is up, which takes the traffic.
        if self.store.get(index).is_some_and(|lsp| !lsp.is_diverted() && self.is_detourable(lsp)) {
            self.divert(index);
            return self.restore_after(index);
        }
        match self.store.get(index).map(|lsp| lsp.role()) {
            Some(Role::Head) => self.lose(index, why),
            Some(_) => {
                self.send_resv_tear(index);
                self.drop_reservation(index);
            }
            None => self.counters.faults.note(Fault::NoLsp),
        }
    }

    /// Sends a PathTear to the next hop: the path state is gone.
    pub(super) fn send_path_tear(&mut self, index: u32) {
        let Some(lsp) = self.store.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        // Receivers ignore what describes the traffic (RFC 2205, 3.1.5), but some drop a PathTear that does not say as
        // much as its Path did.
        let link = lsp.next_hop.and_then(|hop| self.links.get(hop.port));
        let adspec = lsp.adspec.to_wire().zip(link).map(|(adspec, link)| through(adspec, &link.interface));
        let sender = SenderDescriptor {
            sender_template: lsp.sender.to_wire(),
            sender_tspec: Some(lsp.tspec),
            adspec,
            rro: None,
        };
        self.forward_path_tear(index, Common::default(), Some(sender));
    }

    /// Passes a PathTear on with what it came with (RFC 2205, 3.1.5 and 3.10).
    fn forward_path_tear(&mut self, index: u32, common: Common, sender: Option<SenderDescriptor>) {
        let Some(lsp) = self.store.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        // At the egress, and without a way on, there is nobody to tell.
        let Some(hop) = lsp.next_hop else { return };
        if lsp.is_diverted() {
            let has_detour = lsp.has_detour();
            // RFC 4090, 6.4.3.
            self.send_tear_around(index);
            // Beside a detour, which has a PathTear of its own, the LSP is torn down where it was (6.3.2).
            if !has_detour && !self.is_reverting(index) {
                return;
            }
        }
        let Some(lsp) = self.store.get(index) else { return };
        let (ends, ttl) = ((lsp.sender.address, lsp.session.end_point), lsp.ttl);
        let tear = PathTear {
            common,
            session: lsp.session.to_wire(),
            hop: self.own_hop(hop, u32::from(hop.port.0)),
            sender,
        };
        if ttl > 0 {
            self.send_end_to_end(hop, ends, ttl, &mut Message::PathTear(tear), Delivery::Reliable);
        }
    }

    /// Sends a ResvTear to the previous hop, if it knew of the reservation: it is gone.
    pub(super) fn send_resv_tear(&mut self, index: u32) {
        let Some(lsp) = self.store.get_mut(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let has_backups = lsp.rare.as_ref().is_some_and(|rare| !rare.backups.is_empty());
        let announced = lsp.resv.is_announced();
        if announced {
            self.counters.faults.step(&mut lsp.resv, ResvEvent::Unannounced);
        }
        if has_backups {
            self.send_resv_tear_around(index);
        }
        let Some(lsp) = self.store.get(index).filter(|_| announced) else { return };
        // A reservation that is parked has no style any more; the previous hop lets it expire.
        let Some(style) = lsp.style else { return };
        let (session, sender, hop, lih) = (lsp.session, lsp.sender, lsp.prev_hop, lsp.lih);
        let tear = ResvTear {
            common: wire::rsvp::Common::default(),
            session: session.to_wire(),
            hop: self.own_hop(hop, lih),
            scope: None,
            style,
            filters: vec![sender.to_wire()],
        };
        self.send_to_neighbor(hop, &mut Message::ResvTear(tear), Delivery::Reliable);
    }

    /// Gives back label, table entry and bandwidth of a reservation. Sends no message.
    pub(super) fn drop_reservation(&mut self, index: u32) {
        let Some(lsp) = self.store.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        if !lsp.is_reserved() && lsp.in_label.is_none() {
            return;
        }
        let session = lsp.session;
        let alone = lsp.next == NIL && self.store.first(&session) == Some(index);
        let shared = !alone && lsp.style == Some(Style::SharedExplicit);
        let hop = lsp.prev_hop;
        let merged = if shared { self.merged_rate(index) } else { Rate(0) };
        self.unreserve(index);
        self.unprotect(index);
        self.uninstall(index);
        self.forget_reservation(index);
        if let Some(lsp) = self.store.get_mut(index) {
            lsp.resv_expires = Time::MAX;
            lsp.resv_refresh_at = Time::MAX;
            if let Some(rare) = &mut lsp.rare {
                rare.resv_rro = None;
                rare.resv_unknown = Vec::new();
                rare.resv_policy = Vec::new();
                rare.confirm = None;
            }
        }
        // What the others of a shared reservation ask for together may be less now (RFC 2205, 2.2).
        if shared {
            let left = self.store.session(&session).find(|&i| {
                self.store.get(i).is_some_and(|lsp| lsp.resv == ResvState::Announced && lsp.prev_hop == hop)
            });
            if let Some(left) = left.filter(|&left| self.merged_rate(left) != merged) {
                self.send_resv(left, Sending::Trigger);
            }
        }
    }

    /// The next hop changes: bandwidth and entry on the old way go, but the label that the previous hop knows stays,
    /// until a Resv comes along the new way (RFC 2205, 3.6).
    pub(super) fn suspend_reservation(&mut self, index: u32) {
        let Some(lsp) = self.store.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        if !lsp.is_reserved() {
            return;
        }
        let label = lsp.in_label.filter(|label| !label.is_reserved());
        self.unprotect(index);
        self.unreserve(index);
        self.transport.unbind(Handle(resv_handle(index)));
        if let Some(label) = label {
            self.park(index, label);
        }
        if let Some(lsp) = self.store.get_mut(index) {
            self.counters.faults.step(&mut lsp.resv, ResvEvent::Rerouted);
            lsp.transaction = 0;
            (lsp.resv_expires, lsp.resv_refresh_at) = (Time::MAX, Time::MAX);
        }
    }

    /// Gives back all that an LSP has here: its path state is gone. Sends no message.
    pub(super) fn remove_lsp(&mut self, index: u32, why: PathEvent) {
        self.drop_reservation(index);
        match self.store.get_mut(index) {
            Some(lsp) => self.counters.faults.step(&mut lsp.path, why),
            None => self.counters.faults.note(Fault::NoLsp),
        }
        self.forget_path(index);
        if let Some(timer) = self.store.get_mut(index).and_then(|lsp| lsp.timer.take()) {
            self.wheel.cancel(timer);
        }
        self.store.remove(index);
    }

    /// Nothing about the reservation is retransmitted, summarised or expected any more.
    fn forget_reservation(&mut self, index: u32) {
        self.transport.forget(Handle(resv_handle(index)));
        self.transport.unbind(Handle(resv_handle(index)));
    }

    /// Nothing about the path state is expected any more.
    fn forget_path(&mut self, index: u32) {
        self.forget_outgoing_path(index);
        self.transport.unbind(Handle(path_handle(index)));
    }

    /// Nothing about the path state is retransmitted or summarised any more.
    pub(super) fn forget_outgoing_path(&mut self, index: u32) {
        self.transport.forget(Handle(path_handle(index)));
    }
}
