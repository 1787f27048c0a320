//! Path messages: checking, storing and sending them on (RFC 2205, 3.1.3; RFC 3209, 4).

use super::advert::Advert;
use super::cells;
use super::counters::Discard;
use super::diffserv;
use super::error::{Problem, counted_as, unknown_object};
use super::explicit_route::{self, Step, Topology};
use super::faults::Fault;
use super::link::Links;
use super::lsp::{Lsp, Role, SenderKey, SessionKey};
use super::outbox::{Sending, ipv4};
use super::protection::Joined;
use super::record_route;
use super::route::Ero;
use super::states::{PathEvent, PathState, ResvEvent, ResvState};
use super::transport::{Arrival, Handle, Neighbor};
use super::{EgressLabel, Rsvp};
use crate::services::Rib;
use base::Rate;
use base::plane::NextHop;
use core::net::{IpAddr, Ipv4Addr};
use wire::rsvp::error_code::{self, routing};
use wire::rsvp::{Detour, EroHop, EroSubobject, Object, Path, SenderDescriptor, Unknown};

/// What the selection of a next hop looks at.
pub(super) struct View<'a> {
    pub links: &'a Links,
    pub rib: &'a Rib,
    pub bandwidth: Rate,
    pub setup_priority: u8,
    /// What is known of the way to the loose hop that comes next: see [`Rsvp::expand`].
    pub expanded: Option<Vec<Ipv4Addr>>,
}

impl Topology for View<'_> {
    #[inline]
    fn is_self(&self, node: &EroSubobject) -> bool {
        self.links.is_self(node)
    }
    fn adjacent(&self, node: &EroSubobject) -> Option<Neighbor> {
        self.links.adjacent(node, self.bandwidth, self.setup_priority)
    }
    fn route(&self, to: Ipv4Addr) -> Option<(Neighbor, bool)> {
        match self.rib.first_hop(to)? {
            (prefix, NextHop::Via { port, gateway: IpAddr::V4(gateway) }) => {
                // Gateway 0.0.0.0 is a connected network: the destination is the neighbour.
                let address = if gateway.is_unspecified() { to } else { gateway };
                Some((self.links.hop(port, address)?, prefix.len() == 32))
            }
            _ => None,
        }
    }
    fn expanded(&self) -> Option<&[Ipv4Addr]> {
        self.expanded.as_deref()
    }
    fn may_be(&self, hop: Neighbor, node: &EroSubobject) -> bool {
        let known = self.links.get(hop.port).and_then(|link| link.interface.neighbor_id);
        known.is_none_or(|id| node.contains(id))
    }
}

impl Rsvp {
    pub(super) fn handle_path(&mut self, arrival: &Arrival, path: &mut Path) {
        let Some(detour) = self.take_detour(arrival, path) else { return };
        let over = match self.merge_path(arrival, path, &detour) {
            Joined::Done => return,
            Joined::Over(index) => Some(index),
            Joined::Alone => None,
        };
        // What is known of it is kept like an object that is sent on unexamined.
        let detour =
            Unknown::of(&Object::Detour(Detour::Ipv4(detour))).filter(|object| !object.data.is_empty());
        let keys = SessionKey::of(&path.session).zip(SenderKey::of(&path.sender_template));
        let existing = keys.and_then(|(session, sender)| self.store.find(&session, &sender));
        if let Some(index) = existing {
            self.hurry(index);
        }
        let known_classes = diffserv::check_path(self.config.diffserv.as_ref(), path);
        let checked = match keys {
            _ if known_classes.is_err() => known_classes.map(|()| None),
            Some((session, _)) => self.check_path(arrival, path, &session, existing),
            // RFC 2205, 3.10: a C-Type that this router does not serve.
            None => Err(Problem::unserved_session(&path.session)),
        };
        if existing.is_some_and(|index| self.is_overtaken(arrival, path_handle(index))) {
            return;
        }
        let step = match checked {
            Ok(step) => step,
            Err(Problem::Silent(why)) => {
                self.counters.discard(why);
                return;
            }
            Err(Problem::Error(code, value)) => {
                self.counters.discard(counted_as(&path.common.unknown));
                let unreadable = (code, value) == (error_code::ROUTING, routing::BAD_EXPLICIT_ROUTE);
                let hops = path.ero.as_deref().filter(|_| unreadable).unwrap_or_default();
                let ero = explicit_route::not_known(hops, |node| self.links.is_self(node));
                let sender = SenderDescriptor {
                    sender_template: path.sender_template,
                    sender_tspec: Some(path.sender_tspec),
                    adspec: path.adspec.take(),
                    rro: path.rro.take(),
                };
                self.originate_path_err(arrival.from, path.session, sender, ero, (code, value));
                return;
            }
        };
        let Some((session, sender)) = keys else {
            return self.counters.faults.note(Fault::Incomplete);
        };
        let index = match existing {
            Some(index) => index,
            None => self.store.insert(Lsp::new(session, sender, PathState::New, arrival.from)),
        };
        let mut changed = existing.is_none();
        if let Some(index) = over {
            self.give_way(index, arrival.from, path, step.as_ref());
        }
        if let Some(step) = step {
            changed |= self.reroute(index, step);
        }
        let before = self.store.get(index).map(|lsp| self.classes(lsp));
        changed |= self.store_path(index, arrival, path, detour);
        if existing.is_some() && self.store.get(index).map(|lsp| self.classes(lsp)) != before {
            self.classes_changed(index);
        }
        if let Some(id) = arrival.id {
            self.transport.bind(id, Handle(path_handle(index)));
        }
        if changed {
            self.wish_may_change(index);
        }
        self.take_up_label(index);
        self.after_path(index, changed, existing.is_none());
    }

    /// All that can be wrong with a Path. Gives the next step where it has to be found anew.
    fn check_path(
        &mut self,
        arrival: &Arrival,
        path: &Path,
        session: &SessionKey,
        existing: Option<u32>,
    ) -> Result<Option<Step>, Problem> {
        self.check_sender(arrival, path)?;
        let known = existing.and_then(|index| self.store.get(index));
        self.check_limits(path, session, existing.is_none())?;
        if let Some(lsp) = known {
            let way = lsp.role() == Role::Egress
                || lsp.is_diverted()
                || lsp.next_hop.is_some_and(|hop| self.links.is_up(hop.port));
            if way && lsp.ero.is_same(path.ero.as_deref()) {
                return Ok(None);
            }
        }
        let reserved = known.is_some_and(Lsp::is_reserved);
        let unlabelled = known.is_none_or(|lsp| lsp.in_label.is_none());
        let bandwidth = Rate::from_bytes_per_s(path.sender_tspec.0.rate);
        let setup = path.session_attribute.as_ref().map_or(7, |attribute| attribute.setup_priority.min(7));
        let hops: &[EroHop] = path.ero.as_deref().unwrap_or_default();
        let affinities = path.session_attribute.as_ref().and_then(|attribute| attribute.affinities);
        let expanded = self.expand(hops, session.end_point, (bandwidth, setup), affinities);
        let (links, rib) = (&self.links, &self.services.rib);
        let view = View { links, rib, bandwidth, setup_priority: setup, expanded };
        let step = explicit_route::select(hops, false, session.end_point, &view).map_err(Problem::routing)?;
        if let Step::Forward { hop, .. } = &step {
            if arrival.ip.ttl <= 1 {
                return Err(Problem::Silent(Discard::TtlExpired));
            }
            if !reserved && !self.is_admissible(session, hop.port, bandwidth, setup) {
                self.note_refusal(hop.port);
                return Err(Problem::Error(error_code::ADMISSION, error_code::admission::BANDWIDTH));
            }
        }
        // The nulls that an egress may ask for are no labels of its own.
        let by_cells = self.cells_at(arrival.from.port).is_some();
        let null = step == Step::Egress && self.config.egress_label != EgressLabel::Real && !by_cells;
        if !null && unlabelled && self.no_label_is_left(arrival.from.port) {
            return Err(Problem::routing(routing::LABEL_ALLOCATION));
        }
        Ok(Some(step))
    }

    /// What can be wrong with a Path whatever it signals: with its sender, its way so far, and its label request.
    pub(super) fn check_sender(&self, arrival: &Arrival, path: &Path) -> Result<(), Problem> {
        unknown_object(&path.common.unknown, self.config.diffserv.is_some())?;
        // A Path that this router sent, now or in an earlier life, has come back.
        let ingress = ipv4(path.sender_template.source()).is_some_and(|source| self.links.is_own(source));
        if ingress || self.links.is_own(arrival.from.address) {
            return Err(Problem::routing(routing::LOOP));
        }
        // RFC 2205, 3.8: the TTL is smaller than it was sent if a router in between does not speak RSVP.
        if arrival.ip.ttl != arrival.send_ttl {
            return Err(Problem::routing(routing::NON_RSVP_ROUTER));
        }
        match path.label_request {
            Some(request) => self.check_label_request(arrival.from.port, request)?,
            None => return Err(Problem::Silent(Discard::Malformed)),
        }
        if !path.sender_tspec.0.is_sound() {
            let value = error_code::traffic_control::BAD_TSPEC;
            return Err(Problem::Error(error_code::TRAFFIC_CONTROL, value));
        }
        if record_route::has_loop(path.rro.as_deref(), &self.links) {
            return Err(Problem::routing(routing::LOOP));
        }
        Ok(())
    }

    pub(super) fn check_limits(&self, path: &Path, session: &SessionKey, new: bool) -> Result<(), Problem> {
        let limits = &self.config.limits;
        // RFC 3209, 4.3.4.1, 1: a route has a first subobject.
        let hops = path.ero.as_ref().map_or(1, Vec::len);
        if hops == 0 || hops > limits.route_hops {
            return Err(Problem::routing(routing::BAD_EXPLICIT_ROUTE));
        }
        let full = new
            && (self.store.len() >= limits.lsps
                || self.store.session(session).count() >= limits.lsps_per_session);
        if full {
            return Err(Problem::Error(error_code::RSVP_SYSTEM, 0));
        }
        self.check_room(path)
    }

    /// Is what a Path says beside its LSP no longer than is kept?
    pub(super) fn check_room(&self, path: &Path) -> Result<(), Problem> {
        let limits = &self.config.limits;
        let opaque = path.common.unknown.iter().map(|object| object.data.len());
        let services = path.adspec.iter().flat_map(|adspec| &adspec.others);
        let opaque = opaque.chain(services.map(|service| service.data.len()));
        let opaque: usize = opaque.chain(path.policy_data.iter().map(Vec::len)).sum();
        let recorded = path.rro.as_ref().map_or(0, Vec::len);
        if recorded > 2 * limits.route_hops || opaque > limits.opaque_bytes {
            return Err(Problem::Error(error_code::RSVP_SYSTEM, 0));
        }
        Ok(())
    }

    /// Takes the way that was found; gives up what lay on another one. Has anything changed?
    pub(super) fn reroute(&mut self, index: u32, step: Step) -> bool {
        let (event, next_hop, consumed, inserted) = match step {
            Step::Egress => (PathEvent::Terminated, None, 0, Vec::new()),
            Step::Forward { hop, consumed, inserted } => {
                (PathEvent::Forwarded, Some(hop), consumed, inserted)
            }
        };
        let Some(lsp) = self.store.get(index) else {
            self.counters.faults.note(Fault::NoLsp);
            return false;
        };
        let ends = event == PathEvent::Terminated;
        let moved = (lsp.role() == Role::Egress, lsp.next_hop) != (ends, next_hop);
        if moved {
            self.send_path_tear(index);
            self.unprotect(index);
            if !ends {
                self.suspend_reservation(index);
            } else {
                self.send_resv_tear(index);
                self.drop_reservation(index);
            }
        }
        if let Some(lsp) = self.store.get_mut(index) {
            self.counters.faults.step(&mut lsp.path, event);
            lsp.next_hop = next_hop;
            lsp.ero.advance(consumed, &inserted);
        }
        moved
    }

    /// Keeps what the Path says. Has anything changed that the next hop, or the previous one, must be told at once?
    fn store_path(
        &mut self,
        index: u32,
        arrival: &Arrival,
        path: &mut Path,
        detour: Option<Unknown>,
    ) -> bool {
        let now = self.now;
        let lifetime = self.lifetime(path.time_values.refresh_ms);
        let attribute = path.session_attribute.take();
        let (setup, holding) =
            attribute.as_ref().map_or((7, 7), |a| (a.setup_priority.min(7), a.holding_priority.min(7)));
        let Some(lsp) = self.store.get(index) else {
            self.counters.faults.note(Fault::NoLsp);
            return false;
        };
        let priorities = (lsp.setup_priority, lsp.holding_priority) != (setup, holding);
        if priorities {
            self.set_priorities(index, setup, holding);
        }
        if self.comes_by_other_cells(index, arrival.from.port) {
            self.give_up_label(index);
        }
        let Some(lsp) = self.store.get_mut(index) else {
            self.counters.faults.note(Fault::NoLsp);
            return false;
        };
        let mut changed = priorities;
        Rsvp::reconnected(lsp);
        lsp.path_period_ms = path.time_values.refresh_ms;
        lsp.path_expires = now + lifetime;
        lsp.ttl = arrival.ip.ttl.saturating_sub(1);
        if (lsp.prev_hop, lsp.lih) != (arrival.from, path.hop.lih) {
            // The Resv has to go elsewhere from now on.
            (lsp.prev_hop, lsp.lih) = (arrival.from, path.hop.lih);
            self.counters.faults.step(&mut lsp.resv, ResvEvent::Unannounced);
            changed = true;
        }
        if lsp.tspec != path.sender_tspec {
            lsp.set_tspec(path.sender_tspec);
            changed = true;
        }
        if !lsp.ero.is_same(path.ero.as_deref()) {
            let mut ero = Ero::new(path.ero.as_deref());
            ero.continue_as(&lsp.ero);
            lsp.ero = ero;
            changed = true;
        }
        let affinities = attribute.as_ref().and_then(|a| a.affinities);
        let flags = attribute.as_ref().map_or(0, |a| a.flags);
        lsp.has_attribute = attribute.is_some();
        let name = attribute.map_or_else(Vec::new, |a| a.name);
        if lsp.attribute_flags != flags || *lsp.name != *name {
            lsp.attribute_flags = flags;
            lsp.name = name.into_boxed_slice();
            changed = true;
        }
        let adspec = Advert::from(path.adspec.take());
        if lsp.adspec != adspec {
            lsp.adspec = adspec;
            changed = true;
        }
        let forwarded = path.common.unknown.drain(..).filter(super::error::is_forwarded);
        let forwarded: Vec<_> = forwarded.chain(detour).collect();
        let asked = cells::asked(path.label_request);
        let plain = path.rro.is_none()
            && asked.is_none()
            && affinities.is_none()
            && path.diffserv.is_none()
            && forwarded.is_empty()
            && path.policy_data.is_empty();
        if plain && lsp.rare.is_none() {
            return changed;
        }
        let rare = lsp.rare_mut();
        rare.asked = asked;
        let same = rare.path_rro == path.rro
            && rare.affinities == affinities
            && rare.diffserv == path.diffserv
            && rare.path_unknown == forwarded
            && rare.path_policy == path.policy_data;
        if !same {
            rare.path_rro = path.rro.take();
            rare.affinities = affinities;
            rare.diffserv = path.diffserv.take();
            rare.path_unknown = forwarded;
            rare.path_policy = std::mem::take(&mut path.policy_data);
        }
        changed || !same
    }

    /// Sends the Path on, or answers it.
    fn after_path(&mut self, index: u32, changed: bool, new: bool) {
        let Some(lsp) = self.store.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        if lsp.role() == Role::Egress {
            if changed {
                self.egress_reserve(index);
            }
        } else if changed {
            self.send_path(index, Sending::Trigger);
        }
        // An egress without a label has given the LSP up.
        let Some(lsp) = self.store.get(index) else { return };
        // The previous hop has changed, or lost what it knew: tell it again.
        let tell = lsp.resv == ResvState::Installed;
        if tell && !new {
            self.send_resv(index, Sending::Trigger);
        }
        self.arm(index);
    }
}

/// The handle of an LSP's path state.
pub(super) const fn path_handle(index: u32) -> u32 {
    index << 1
}
