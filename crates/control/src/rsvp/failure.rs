//! Ports that go down and come up, neighbours that vanish, and the restart of this router.

use super::Rsvp;
use super::counters::Discard;
use super::event::Event;
use super::explicit_route::{self, Step};
use super::faults::Fault;
use super::head::Loss;
use super::lsp::{Lsp, Role};
use super::outbox::{self, Sending};
use super::path::View;
use super::protection::Protections;
use super::protection::turns::Turn;
use super::slab::NIL;
use super::states::PathEvent;
use super::store::Store;
use super::tables::Held;
use super::transport::Neighbor;
use super::tunnel::Tunnels;
use base::{PortId, Wheel};
use std::collections::{BTreeMap, BTreeSet};
use wire::rsvp::error_code;

impl Rsvp {
    pub(super) fn port_up(&mut self, port: PortId) {
        self.end_waiting(port);
        if let Some(link) = self.links.get_mut(port) {
            link.up = true;
        }
        self.transport.port_up(self.now, port);
        self.restore_later(port);
    }

    /// The port can't be used: what lies beyond it is gone.
    pub(super) fn port_down(&mut self, port: PortId) {
        if let Some(link) = self.links.get_mut(port) {
            link.up = false;
        }
        self.transport.port_down(self.now, port);
        self.not_restored(port);
        self.lost_beyond(|hop| hop.port == port);
    }

    /// Gives up all state that depends on neighbours that are gone.
    ///
    /// Path state from there is torn down towards the egress, reservations from there towards the ingress; the
    /// ingress is told by a PathErr, unless the routing table knows another way (RFC 2205, 3.6).
    pub(super) fn lost_beyond(&mut self, gone: impl Fn(Neighbor) -> bool) {
        let mut diverted = BTreeMap::new();
        self.detour_beyond(&gone, &mut diverted);
        for index in self.store.indices() {
            if self.unmerge_beyond(index, &gone) {
                continue;
            }
            // A detour goes with its LSP.
            let Some(lsp) = self.store.get(index) else { continue };
            let (from, to) =
                (lsp.role() != Role::Head && gone(lsp.prev_hop), lsp.next_hop.filter(|hop| gone(*hop)));
            if from && !self.holds(index) && !self.goes_on_merged(index) {
                self.send_path_tear(index);
                self.remove_lsp(index, PathEvent::PreviousHopLost);
                continue;
            }
            let Some(hop) = to else { continue };
            // No write has led the packets there of one that chooses its backup only now.
            let is_late = self.chooses_now(index);
            let Some(lsp) = self.store.get(index) else { continue };
            let (chosen, head) =
                (lsp.protection().and_then(|protection| protection.chosen), lsp.role() == Role::Head);
            if self.is_repairable(lsp) && !lsp.is_diverted() {
                *diverted.entry((chosen.map(|chosen| chosen.bypass), hop.port)).or_insert(0) += 1;
                // Otherwise its packets go on to whoever is gone until its own entries are written.
                if self.is_gone(hop.port) && !lsp.has_detour() && !is_late {
                    self.in_turn(index, Turn::Around(hop.port));
                    continue;
                }
            }
            self.lose_beyond(index, head);
        }
        self.first_turn();
        self.p2mp_lost_beyond(&gone, &mut diverted);
        self.tell_diverted(&diverted);
        // A neighbour that restarts is there again, without a port that comes up.
        let ports: BTreeSet<PortId> = diverted.into_keys().map(|(_, port)| port).collect();
        for port in ports {
            if self.links.get(port).is_some_and(|link| link.leads_on()) {
                self.restore_later(port);
            }
        }
    }

    /// The next hop of an LSP is gone: it is led around that, or lost.
    pub(super) fn lose_beyond(&mut self, index: u32, is_head: bool) {
        self.chooses_now(index);
        let Some(lsp) = self.store.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        if self.is_repairable(lsp) {
            self.divert(index);
        } else if lsp.is_diverted() {
            self.undivertible(index);
        } else if is_head {
            self.lose(index, Loss::PortDown);
        } else {
            self.repair(index);
        }
    }

    /// An LSP without a backup that can be used, and which waits to choose another, chooses it. Does it get one?
    pub(super) fn chooses_now(&mut self, index: u32) -> bool {
        let lacks = |rsvp: &Rsvp| rsvp.store.get(index).is_some_and(|lsp| !rsvp.is_repairable(lsp));
        self.is_choosing(index) && lacks(self) && self.protect(index)
    }

    /// A neighbour was not heard for long: it is forgotten, unless it was configured or some state depends on it.
    pub(super) fn neighbor_silent(&mut self, neighbor: Neighbor) {
        let Neighbor { port, address } = neighbor;
        let mut known = self.config.interfaces.iter();
        let is_configured = known.any(|at| at.port == port && at.neighbor == Some(address));
        if !is_configured && !self.depends_on(neighbor) {
            self.transport.forget_neighbor(neighbor);
        }
    }

    /// Does any LSP come from a neighbour, or go to it?
    fn depends_on(&self, neighbor: Neighbor) -> bool {
        let is_its = |index| {
            let is_merged = |lsp: &Lsp| {
                let mut merged = lsp.rare.iter().flat_map(|rare| &rare.backups);
                merged.any(|merged| merged.from == Some(neighbor))
            };
            let is_hop =
                |lsp: &Lsp| lsp.prev_hop == neighbor || lsp.next_hop == Some(neighbor) || is_merged(lsp);
            self.store.get(index).is_some_and(is_hop)
        };
        self.store.indices().into_iter().any(is_its) || self.p2mp_depends_on(neighbor)
    }

    /// The next hop of an LSP is gone: another one, or none.
    pub(super) fn repair(&mut self, index: u32) {
        let Some(lsp) = self.store.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let (gone, end_point) = (lsp.next_hop, lsp.session.end_point);
        let hops = lsp.ero.hops().unwrap_or_default();
        let (bandwidth, setup_priority) = (lsp.requested_rate(), lsp.setup_priority);
        let affinities = lsp.rare.as_ref().and_then(|rare| rare.affinities);
        let expanded = self.expand(&hops, end_point, (bandwidth, setup_priority), affinities);
        let (links, rib) = (&self.links, &self.services.rib);
        let view = View { links, rib, bandwidth, setup_priority, expanded };
        match explicit_route::select(&hops, false, end_point, &view) {
            Ok(Step::Forward { hop, consumed, inserted }) if Some(hop) != gone => {
                self.reroute(index, Step::Forward { hop, consumed, inserted });
                self.send_path(index, Sending::Trigger);
            }
            _ => {
                self.no_route(index);
                self.send_resv_tear(index);
                self.drop_reservation(index);
                self.forget_outgoing_path(index);
                if let Some(lsp) = self.store.get_mut(index) {
                    self.counters.faults.step(&mut lsp.path, PathEvent::NextHopLost);
                    lsp.next_hop = None;
                    lsp.path_refresh_at = base::Time::MAX;
                }
            }
        }
        self.arm(index);
    }

    /// A Path refreshes an LSP that has no way on. Is there one now? If not, the ingress is told why.
    pub(super) fn resume(&mut self, index: u32) -> bool {
        let Some(lsp) = self.store.get(index) else {
            self.counters.faults.note(Fault::NoLsp);
            return false;
        };
        let session = lsp.session;
        let hops = lsp.ero.hops().unwrap_or_default();
        let (bandwidth, setup_priority) = (lsp.requested_rate(), lsp.setup_priority);
        let affinities = lsp.rare.as_ref().and_then(|rare| rare.affinities);
        let expanded = self.expand(&hops, session.end_point, (bandwidth, setup_priority), affinities);
        let (links, rib) = (&self.links, &self.services.rib);
        let view = View { links, rib, bandwidth, setup_priority, expanded };
        let found = match explicit_route::select(&hops, false, session.end_point, &view) {
            Ok(Step::Forward { hop, .. })
                if !self.is_admissible(&session, hop.port, bandwidth, setup_priority) =>
            {
                self.note_refusal(hop.port);
                Err((error_code::ADMISSION, error_code::admission::BANDWIDTH))
            }
            found => found.map_err(|value| (error_code::ROUTING, value)),
        };
        match found {
            Ok(step) => {
                self.reroute(index, step);
                self.send_path(index, Sending::Trigger);
                true
            }
            Err((code, value)) => {
                self.counters.discard(Discard::Refused);
                self.path_problem(index, code, value);
                false
            }
        }
    }

    /// All state is lost; what was configured is done again. The forwarding tables are the node's to clear.
    pub(super) fn restart(&mut self) {
        let mut specs: Vec<_> = self.tunnels.iter().map(|(_, t)| (t.sequence, t.spec.clone())).collect();
        specs.sort_by_key(|(sequence, _)| *sequence);
        let down: Vec<Event> = self
            .tunnels
            .iter()
            .filter_map(|(_, tunnel)| {
                let lsp_id = self.store.get(tunnel.active?)?.sender.lsp_id;
                let reason = "the node restarted".into();
                Some(Event::LspDown { tunnel: tunnel.id(), lsp_id, reason })
            })
            .collect();
        self.store = Store::default();
        self.tunnels = Tunnels::default();
        self.held = Held::default();
        self.protections = Protections::default();
        self.autorouted.clear();
        self.wheel = Wheel::new();
        self.tables.forget();
        self.selectors_restart();
        self.lost.clear();
        self.outputs.retain(|output| matches!(output, crate::protocol::Output::Event(_)));
        self.transport.restart(self.now);
        outbox::track(&mut self.transport, &self.config, self.now);
        for link in self.links.iter_mut() {
            (link.reserved, link.trees) = ([0; 8], [0; 8]);
            link.holders = [NIL; 8];
            link.forget_watches();
        }
        // LSP ids of another range: the old ones may still be known along the way.
        self.restarts = self.restarts.wrapping_add(1);
        self.is_watching = false;
        down.into_iter().for_each(|event| self.event(event));
        for (_, spec) in specs {
            self.tunnel_set(&spec);
        }
        self.p2mp_restart();
    }
}
