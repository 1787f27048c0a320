//! Detours that come together, with their LSP or with each other (RFC 4090, 7.1 and 8.1).
//!
//! What is merged is one block of state: one Path goes on, and a Resv goes back to each router that a Path came from.
//! Detours under a sender of their own are merged where they go on along the same route (7.1.1), else they are LSPs
//! like others. Those that have the sender of their LSP (6.1.2), which routers here do not send, are merged where they
//! have the same next hop (7.1.2); where they have another, they can't be told from their LSP, and are refused.

use super::super::Rsvp;
use super::super::counters::Discard;
use super::super::error::{Problem, passed_on};
use super::super::explicit_route::{self, Step};
use super::super::lsp::{Lsp, Rare, SenderKey, SessionKey};
use super::super::outbox::Sending;
use super::super::path::{View, path_handle};
use super::super::record_route;
use super::super::transport::{Arrival, Handle, Neighbor};
use super::detour_way::host;
use super::merge::{BACKUPS_MAX, Merged, asks};
use base::{Rate, Time};
use core::net::Ipv4Addr;
use wire::rsvp::error_code::{self, routing};
use wire::rsvp::{Detour, Message, Object, Path, PathErr, SenderDescriptor, Unknown, class};

/// PLR_ID and Avoid_Node_ID of each detour that is one with the others (RFC 4090, 4.2.1).
pub(super) type Pairs = Vec<(Ipv4Addr, Ipv4Addr)>;

/// What becomes of a Path that may be one of a detour.
pub(super) enum Merging {
    /// It is an LSP like others.
    Alone,
    /// It is one with this LSP.
    Into(u32),
    /// It is the one that goes on; the detour that this block has been is merged into it.
    Over(u32),
    /// No Path can stand for it and for those that it would be one with.
    Refused,
}

/// Whether an object is the DETOUR that is understood here.
fn is_detour(object: &Unknown) -> bool {
    object.class == class::DETOUR && object.c_type == Detour::C_TYPE_IPV4
}

/// The routers that a Path names: those of its route, and the egress as its session does.
fn route_of(path: &Path) -> Vec<Ipv4Addr> {
    let egress = SessionKey::of(&path.session).map(|session| session.end_point);
    path.ero.iter().flatten().filter_map(host).chain(egress).collect()
}

fn pairs_of(objects: &[Unknown]) -> Pairs {
    let pairs = objects.iter().filter(|object| is_detour(object)).flat_map(|object| match object.read() {
        Object::Detour(Detour::Ipv4(pairs)) => pairs,
        _ => Vec::new(),
    });
    pairs.collect()
}

/// RFC 4090, 8.1: the Path that goes on for several detours has the pairs of all of them; those of one that is torn
/// down are left out (7.1.3).
pub(in crate::rsvp) fn combine(rare: &Rare, now: Time, objects: &mut Vec<Unknown>) {
    if rare.backups.is_empty() || !objects.iter().any(is_detour) {
        return;
    }
    let own = if rare.is_cut_off { Vec::new() } else { pairs_of(objects) };
    let alive = rare.backups.iter().filter(|merged| merged.expires > now);
    let mut pairs: Pairs = own.into_iter().chain(alive.flat_map(|merged| merged.pairs.clone())).collect();
    pairs.sort_unstable();
    pairs.dedup();
    if !pairs.is_empty() {
        objects.retain(|object| !is_detour(object));
        objects.extend(Unknown::of(&Object::Detour(Detour::Ipv4(pairs))));
    }
}

impl Lsp {
    /// The detours that it is, if it is any and not an LSP of its own.
    pub(super) fn pairs(&self) -> Pairs {
        self.rare.as_ref().map(|rare| pairs_of(&rare.path_unknown)).unwrap_or_default()
    }
}

impl Rsvp {
    /// Takes DETOUR out of a Path; no pairs if it has none. Nothing if the Path is refused because of it.
    pub(in crate::rsvp) fn take_detour(&mut self, arrival: &Arrival, path: &mut Path) -> Option<Pairs> {
        let all: Vec<Unknown> = path.common.unknown.extract_if(.., |object| is_detour(object)).collect();
        let [object] = &all[..] else {
            if all.is_empty() {
                return Some(Vec::new());
            }
            // There can be more than one pair in one, not more than one in a Path (4.2).
            self.refuse_detour(arrival, path, Problem::c_type(class::DETOUR, Detour::C_TYPE_IPV4));
            return None;
        };
        let pairs = pairs_of(core::slice::from_ref(object));
        if pairs.is_empty() {
            // One that can't be read is one that is not supported (4.2), so that the router learns it that begins it.
            self.refuse_detour(arrival, path, Problem::c_type(class::DETOUR, Detour::C_TYPE_IPV4));
            return None;
        }
        if object.data.len() > self.config.limits.opaque_bytes {
            self.refuse_detour(arrival, path, Problem::Error(error_code::RSVP_SYSTEM, 0));
            return None;
        }
        Some(pairs)
    }

    /// Answers a Path of a detour that is not taken.
    pub(super) fn refuse_detour(&mut self, arrival: &Arrival, path: &Path, why: Problem) {
        let Problem::Error(code, value) = why else { return };
        let is_malformed = code == error_code::UNKNOWN_C_TYPE;
        self.counters.discard(if is_malformed { Discard::Malformed } else { Discard::Refused });
        let sender = SenderDescriptor {
            sender_template: path.sender_template,
            sender_tspec: Some(path.sender_tspec),
            adspec: path.adspec.clone(),
            rro: path.rro.clone(),
        };
        self.originate_path_err(arrival.from, path.session, sender, None, (code, value));
    }

    /// Does an LSP come to a router further down that one of these detours avoids?
    fn touches(&mut self, index: u32, avoided: &Pairs) -> bool {
        let Some(lsp) = self.store.get(index) else { return false };
        let recorded = lsp.rare.as_ref().and_then(|rare| rare.resv_rro.as_deref());
        let by_ero = lsp.ero.outgoing().unwrap_or_default();
        let route = recorded.map(record_route::addresses).unwrap_or_default();
        // Whatever address of the egress is recorded, the session may have another (4.2.1).
        let route = route.into_iter().chain(by_ero.iter().filter_map(host)).chain([lsp.session.end_point]);
        let route = route.collect();
        self.comes_to(route, avoided)
    }

    /// Is a router among these addresses that one of these detours avoids?
    fn comes_to(&mut self, route: Vec<Ipv4Addr>, avoided: &Pairs) -> bool {
        let (links, engineering) = (&self.links, &mut self.services.engineering);
        let mut router = |address: Ipv4Addr| engineering.router_of(address).unwrap_or(address);
        let route: Vec<Ipv4Addr> = route.into_iter().map(&mut router).collect();
        let avoided = avoided.iter().map(|(_, avoid)| *avoid).filter(|avoid| !links.is_own(*avoid));
        avoided.into_iter().any(|avoid| route.contains(&router(avoid)))
    }

    /// Where a Path goes on to; nothing where it ends or can't go on.
    fn way_of(&mut self, path: &Path, session: &SessionKey) -> Result<Option<Neighbor>, u16> {
        let hops = path.ero.as_deref().unwrap_or_default();
        let setup_priority = path.session_attribute.as_ref().map_or(7, |a| a.setup_priority.min(7));
        let (links, rib) = (&self.links, &self.services.rib);
        let view = View { links, rib, bandwidth: Rate(0), setup_priority, expanded: None };
        match explicit_route::select(hops, false, session.end_point, &view)? {
            Step::Egress => Ok(None),
            Step::Forward { hop, .. } => Ok(Some(hop)),
        }
    }

    /// What a Path with this DETOUR, or without one, is to an LSP that has its very sender and came from elsewhere
    /// (RFC 4090, 7.1.2).
    fn merging_by_path(
        &mut self,
        index: u32,
        path: &Path,
        pairs: &Pairs,
        session: &SessionKey,
        from: Neighbor,
    ) -> Merging {
        let Some(lsp) = self.store.get(index).filter(|lsp| lsp.prev_hop != from) else {
            return Merging::Alone;
        };
        let (own, next_hop, rate) = (lsp.pairs(), lsp.next_hop, lsp.requested_rate());
        if pairs.is_empty() || asks(path) {
            // 1: that of the protected LSP is chosen.
            return if own.is_empty() { Merging::Alone } else { Merging::Over(index) };
        }
        if self.way_of(path, session) != Ok(next_hop) {
            return Merging::Refused;
        }
        let is_choice = !own.is_empty() && !self.comes_to(route_of(path), &own);
        if !self.touches(index, pairs) {
            // 3: a local decision. The one that asks for more goes on, so that it is reserved for all.
            let is_more = Rate::from_bytes_per_s(path.sender_tspec.0.rate) > rate;
            return if is_choice && is_more { Merging::Over(index) } else { Merging::Into(index) };
        }
        // 2: that which comes to a router that others avoid is not the one that goes on.
        if is_choice { Merging::Over(index) } else { Merging::Refused }
    }

    /// What becomes of a Path with this DETOUR, if it has one.
    pub(super) fn merging(
        &mut self,
        path: &Path,
        pairs: &Pairs,
        (session, sender): (&SessionKey, &SenderKey),
        from: Neighbor,
    ) -> Merging {
        let Some(first) = self.store.first(session).filter(|_| !self.links.is_own(sender.address)) else {
            return Merging::Alone;
        };
        if let Some(index) = self.store.find_from(Some(first), sender) {
            let found = self.merging_by_path(index, path, pairs, session, from);
            let is_one = matches!(found, Merging::Into(_) | Merging::Over(_));
            return if is_one && self.differs_in_cells(index, from) { Merging::Refused } else { found };
        }
        if asks(path) {
            return Merging::Alone;
        }
        // 7.1.1: only what goes on along the same route can be merged.
        let Some(index) = self.joins(path, first, sender, !pairs.is_empty()) else { return Merging::Alone };
        let is_wrong = self.store.get(index).is_some_and(Lsp::wants_protection) && self.touches(index, pairs);
        let is_wrong = is_wrong || self.differs_in_cells(index, from);
        if is_wrong { Merging::Refused } else { Merging::Into(index) }
    }

    /// Does one of two links by which an LSP comes have channels as labels? Then what serves on one of them does not on
    /// the other.
    fn differs_in_cells(&self, index: u32, from: Neighbor) -> bool {
        let own = self.store.get(index).map(|lsp| lsp.prev_hop.port);
        own.is_some_and(|own| {
            own != from.port && [own, from.port].into_iter().any(|port| self.cells_at(port).is_some())
        })
    }

    /// A detour is the Path that goes on no longer: the block becomes another's, and it is merged into that, with the
    /// detours that were merged into it. Those that have another next hop, or avoid what that Path comes to, are
    /// refused (RFC 4090, 7.1.2).
    pub(in crate::rsvp) fn give_way(&mut self, index: u32, to: Neighbor, path: &Path, step: Option<&Step>) {
        // What was said of the block by its number is not about another's.
        self.transport.unbind(Handle(path_handle(index)));
        let Some(lsp) = self.store.get_mut(index) else { return };
        let pairs = lsp.pairs();
        let (session, sender, from, tspec) = (lsp.session, lsp.sender, lsp.prev_hop, lsp.tspec);
        let (plr, lih, expires) = (from.address, lsp.lih, lsp.path_expires);
        let next_hop = lsp.next_hop;
        let is_alive = !core::mem::take(&mut lsp.rare_mut().is_cut_off);
        let mut all = core::mem::take(&mut lsp.rare_mut().backups);
        all.retain(|known| known.sender != sender || known.from != Some(to));
        if is_alive {
            all.push(Merged { sender, plr, from: Some(from), lih, expires, pairs, tspec });
        }
        let is_same = match step {
            None => true,
            Some(Step::Egress) => next_hop.is_none(),
            Some(Step::Forward { hop, .. }) => next_hop == Some(*hop),
        };
        let (kept, refused): (Vec<Merged>, Vec<Merged>) =
            all.into_iter().partition(|merged| is_same && !self.comes_to(route_of(path), &merged.pairs));
        for merged in refused {
            let sender = SenderDescriptor {
                sender_tspec: Some(merged.tspec),
                ..SenderDescriptor::of(merged.sender.to_wire())
            };
            if let (Some(from), Problem::Error(code, value)) = (merged.from, Rsvp::UNMERGEABLE) {
                self.counters.discard(Discard::Refused);
                self.originate_path_err(from, session.to_wire(), sender, None, (code, value));
            }
        }
        if kept.len() > BACKUPS_MAX {
            self.counters.discard(Discard::Limit);
        }
        if let Some(lsp) = self.store.get_mut(index) {
            lsp.rare_mut().backups = kept.into_iter().take(BACKUPS_MAX).collect();
        }
    }

    /// Something else is merged into a detour than before: the Path that goes on says so (RFC 4090, 7.1.3).
    pub(super) fn tell_pairs(&mut self, index: u32) {
        if self.store.get(index).is_some_and(|lsp| !lsp.pairs().is_empty() && lsp.next_hop.is_some()) {
            self.send_path(index, Sending::Trigger);
        }
    }

    /// Routers that merged detours come from are gone: nothing refreshes these any more. Was the LSP there for their
    /// sake only, so that it has gone, too?
    pub(in crate::rsvp) fn unmerge_beyond(&mut self, index: u32, gone: &impl Fn(Neighbor) -> bool) -> bool {
        let merged = self.store.get(index).and_then(|lsp| lsp.rare.as_ref()).map(|rare| &rare.backups);
        let lost = merged.into_iter().flatten().filter(|merged| merged.from.is_some_and(gone));
        let mut is_over = false;
        for (sender, from) in lost.map(|merged| (merged.sender, merged.from)).collect::<Vec<_>>() {
            is_over |= self.unmerge_one(index, &sender, from);
        }
        is_over
    }

    /// Detours whose Paths have stopped are no part of a block any more (soft state). Were there any?
    pub(in crate::rsvp) fn has_silent_detours(&mut self, index: u32) -> bool {
        let now = self.now;
        let Some(rare) = self.store.get_mut(index).and_then(|lsp| lsp.rare.as_mut()) else { return false };
        let before = rare.backups.len();
        rare.backups.retain(|merged| merged.expires > now);
        rare.backups.len() != before
    }

    /// An error that is sent on towards the ingress goes to the detours that are merged into the LSP, too.
    pub(in crate::rsvp) fn pass_on_merged(&mut self, arrival: &Arrival, index: u32, error: &PathErr) {
        let Some(rare) = self.store.get(index).and_then(|lsp| lsp.rare.as_ref()) else { return };
        let merged: Vec<(SenderKey, Neighbor)> =
            rare.backups.iter().filter_map(|merged| Some((merged.sender, merged.from?))).collect();
        if error.error_spec.code == error_code::NOTIFY {
            return;
        }
        for (sender, to) in merged {
            let mut each = PathErr { common: passed_on(error.common.clone()), ..error.clone() };
            if let Some(descriptor) = &mut each.sender {
                descriptor.sender_template = sender.to_wire();
            }
            self.pass_on(arrival, to, &mut Message::PathErr(each));
        }
    }

    /// The error of a detour for which no merged Path can be made (RFC 4090, 7.1.2).
    pub(super) const UNMERGEABLE: Problem = Problem::routing(routing::NO_ROUTE);
}
