//! Detours at the point of local repair (RFC 4090, 6.3): set up, tried again, taken, given back.
//!
//! A detour is an LSP that begins here: it has the session and the LSP id of the LSP that it is for, and another sender
//! (6.1.1). Its messages go to nobody further up (6.3.2); what becomes of it is told here.

use super::super::error::words;
use super::super::faults::Fault;
use super::super::head::Loss;
use super::super::lsp::{Lsp, Role, SenderKey};
use super::super::outbox::Sending;
use super::super::states::{DetourEvent, DetourState, PathState, ProtectionEvent};
use super::super::transport::Neighbor;
use super::super::{Rsvp, Timer};
use super::detour_way::{Found, Wanted};
use super::select::ASKING;
use super::{Protection, Taken};
use crate::services::te::TeHop;
use base::plane::{LabelStack, Leg};
use base::{Label, PortId, Rate, Span, TimerId};
use core::net::Ipv4Addr;
use wire::rsvp::error_code::{self, notify};
use wire::rsvp::{Detour as Pairs, Object, SenderTspec, TokenBucket, Unknown, class};

/// Before an LSP without a detour is given the next attempt; twice as long each time, up to `RETRY_MAX`.
const RETRY_FIRST: Span = Span::from_secs(1);
const RETRY_MAX: Span = Span::from_secs(30);

/// What a router has of the detour of an LSP, and the attempts to get one.
#[derive(Debug)]
pub(super) struct Detour {
    pub state: DetourState,
    pub wanted: Wanted,
    /// Its place among the LSPs; absent while there is none.
    pub lsp: Option<u32>,
    /// What it leads around and has reserved, as soon as that is up.
    pub taken: Option<Taken>,
    /// Its links up to the merge point.
    pub way: Vec<TeHop>,
    /// It has been up, or tried, under this address.
    address: Option<Ipv4Addr>,
    /// Attempts without success in a row.
    pub failures: u32,
    timer: Option<TimerId>,
    /// Why there is none, in words for people.
    pub lacks: Option<String>,
}

impl Rsvp {
    /// The way into a detour that has a reservation, if the port is up: the label that its first hop gave, unless it is
    /// implicit null.
    pub(in crate::rsvp) fn detour_leg(&self, taken: Taken) -> Option<Leg> {
        let lsp = self.store.get(taken.lsp)?;
        let hop = lsp.next_hop.filter(|hop| lsp.is_reserved() && self.links.is_up(hop.port))?;
        let labels = match lsp.out_label {
            Label::IMPLICIT_NULL => LabelStack::EMPTY,
            label => LabelStack::one(label),
        };
        Some(Leg { labels, port: hop.port, gateway: hop.address.into() })
    }

    /// Could an LSP go on through its detour now?
    pub(in crate::rsvp) fn is_detourable(&self, lsp: &Lsp) -> bool {
        let taken = lsp.protection().and_then(|protection| protection.detour);
        taken.is_some_and(|taken| self.detour_leg(taken).is_some())
    }

    /// An LSP with a reservation asks for a detour: it gets one, another one if it is to lead around something else
    /// (RFC 4090, 6.3). Did it have one before that is gone now?
    pub(super) fn seek_detour(&mut self, index: u32) -> bool {
        let Some(wanted) = self.wanted_detour(index) else { return false };
        if self.protections.detours.get(&index).is_some_and(|detour| detour.wanted == wanted) {
            return false;
        }
        let address = self.protections.detours.get(&index).and_then(|detour| detour.address);
        let had = self.give_detour_up(index);
        let detour = Detour {
            state: DetourState::Waiting,
            wanted,
            lsp: None,
            taken: None,
            way: Vec::new(),
            address,
            failures: 0,
            timer: None,
            lacks: None,
        };
        self.protections.detours.insert(index, detour);
        self.try_detour(index);
        had
    }

    /// An LSP is to have no detour, or another one. Did it have one?
    pub(super) fn give_detour_up(&mut self, index: u32) -> bool {
        let had = self.store.get(index).is_some_and(Lsp::has_detour);
        self.drop_detour(index);
        if had {
            self.set_taken(index, None, ProtectionEvent::Withdrawn);
        }
        had
    }

    /// The Path of an LSP says something else than before: it may want another detour, or none any more.
    pub(in crate::rsvp) fn wish_may_change(&mut self, index: u32) {
        let has_one = self.protections.detours.contains_key(&index);
        if self.store.get(index).is_some_and(|lsp| has_one || lsp.wants_detour()) {
            self.protect_again(index);
        }
    }

    /// Has a detour as much bandwidth as was asked for? It may be one with others that have less (RFC 4090, 7.1.2).
    pub(super) fn is_guaranteed(&self, taken: Taken) -> bool {
        let has_all = |lsp: &Lsp| lsp.reserved_rate() >= lsp.requested_rate();
        taken.bandwidth && self.store.get(taken.lsp).is_some_and(has_all)
    }

    /// Looks for a way, and signals a detour along it; waits if there is none.
    fn try_detour(&mut self, index: u32) {
        match self.find_detour(index) {
            Ok(found) => self.signal_detour(index, found),
            Err(why) => self.detour_waits(index, why.to_string()),
        }
    }

    /// Something else is known of links: LSPs that wait for a detour are looked at.
    pub(super) fn try_detours(&mut self) {
        let waiting = self.protections.detours.iter().filter(|(_, d)| d.state == DetourState::Waiting);
        for index in waiting.map(|(index, _)| *index).collect::<Vec<u32>>() {
            self.stop_waiting(index);
            self.try_detour(index);
        }
    }

    /// RFC 4090, 6.2: what can't be brought up is tried again later.
    fn detour_waits(&mut self, index: u32, why: String) {
        let Some(detour) = self.protections.detours.get_mut(&index) else { return };
        let doublings = detour.failures.min(10);
        detour.failures = detour.failures.saturating_add(1);
        detour.lacks = Some(why);
        let wait = Span((RETRY_FIRST.0 << doublings).min(RETRY_MAX.0));
        let wait = if self.config.jitter { self.jittered(Span(wait.0 / 2), 1.5) } else { wait };
        self.wait_for_detour(index, wait);
    }

    fn wait_for_detour(&mut self, index: u32, wait: Span) {
        self.stop_waiting(index);
        if let Some(detour) = self.protections.detours.get_mut(&index) {
            detour.timer = Some(self.wheel.schedule(self.now + wait, Timer::Detour(index)));
        }
    }

    fn stop_waiting(&mut self, index: u32) {
        let timer = self.protections.detours.get_mut(&index).and_then(|detour| detour.timer.take());
        if let Some(timer) = timer {
            self.wheel.cancel(timer);
        }
    }

    /// An attempt was not answered, or it is time for the next one.
    pub(in crate::rsvp) fn detour_timeout(&mut self, index: u32) {
        let Some(detour) = self.protections.detours.get_mut(&index) else { return };
        detour.timer = None;
        match (detour.state, detour.lsp) {
            (DetourState::Signalled, Some(lsp)) => self.lose(lsp, Loss::NotSetUp),
            _ => self.try_detour(index),
        }
    }

    /// An address of this router that is not the sender of the LSP, nor of an LSP that is being torn down: after each
    /// attempt another one, where there are several (RFC 4090, 6.1.1 and 6.3.1).
    fn detour_address(&self, lsp: &Lsp, out: PortId, last: Option<Ipv4Addr>) -> Option<Ipv4Addr> {
        let all = self.links.address(out).into_iter().chain(self.links.iter().map(|l| l.interface.address));
        let is_free = |address: &Ipv4Addr| {
            let sender = SenderKey { address: *address, lsp_id: lsp.sender.lsp_id };
            *address != lsp.sender.address && self.store.find(&lsp.session, &sender).is_none()
        };
        let free: Vec<Ipv4Addr> = all.chain([self.config.router_id]).filter(is_free).collect();
        free.iter().find(|address| Some(**address) != last).or(free.first()).copied()
    }

    /// Sends the first Path of a detour, made from that of its LSP (RFC 4090, 6.3).
    fn signal_detour(&mut self, index: u32, found: Found) {
        let last = self.protections.detours.get(&index).and_then(|detour| detour.address);
        let Some(lsp) = self.store.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let address = self.detour_address(lsp, found.hop.port, last);
        let is_full = self.store.len() >= self.config.limits.lsps;
        let (Some(address), Some(avoid), false) = (address, lsp.next_hop, is_full) else {
            return self.detour_waits(index, words((error_code::RSVP_SYSTEM, 0)));
        };
        let detour = self.detour_block(lsp, index, address, avoid, &found);
        let at = self.store.insert(detour);
        if let Some(detour) = self.protections.detours.get_mut(&index) {
            let (node, bandwidth) = (found.node, found.bandwidth);
            self.counters.faults.step(&mut detour.state, DetourEvent::Signalled);
            (detour.lsp, detour.address, detour.lacks) = (Some(at), Some(address), None);
            (detour.taken, detour.way) = (Some(Taken { lsp: at, node, bandwidth }), found.way);
        }
        self.wait_for_detour(index, self.config.setup_timeout);
        self.send_path(at, Sending::Trigger);
    }

    fn detour_block(&self, lsp: &Lsp, index: u32, plr: Ipv4Addr, avoid: Neighbor, found: &Found) -> Lsp {
        let here = Neighbor { port: PortId(u16::MAX), address: self.config.router_id };
        let sender = SenderKey { address: plr, lsp_id: lsp.sender.lsp_id };
        let mut detour = Lsp::new(lsp.session, sender, PathState::Ingress, here);
        detour.next_hop = Some(found.hop);
        detour.ttl = self.config.message_ttl;
        (detour.setup_priority, detour.holding_priority) = found.priorities;
        (detour.has_attribute, detour.attribute_flags) = (true, lsp.attribute_flags & !ASKING);
        (detour.l3pid, detour.name, detour.adspec) = (lsp.l3pid, lsp.name.clone(), lsp.adspec.clone());
        detour.ero = found.ero.clone();
        detour.tspec = if found.rate == lsp.requested_rate() {
            lsp.tspec
        } else {
            SenderTspec(TokenBucket::constant(found.rate.as_bytes_per_s(), lsp.tspec.0.max_packet))
        };
        let rare = detour.rare_mut();
        rare.detour_of = Some(index);
        rare.affinities = found.affinities;
        if let Some(own) = lsp.rare.as_deref() {
            // The route is recorded anew: routers on the way of the LSP may be on that of the detour, too (6.3.2).
            rare.path_rro = own.path_rro.as_ref().map(|_| Vec::new());
            rare.diffserv.clone_from(&own.diffserv);
            rare.path_policy.clone_from(&own.path_policy);
            let kept = own.path_unknown.iter().filter(|object| object.class != class::FAST_REROUTE);
            rare.path_unknown = kept.cloned().collect();
        }
        let pairs = Object::Detour(Pairs::Ipv4(vec![(plr, avoid.address)]));
        rare.path_unknown.extend(Unknown::of(&pairs));
        detour
    }

    /// The reservation of a detour is there, or its label has changed.
    pub(in crate::rsvp) fn detour_reserved(&mut self, index: u32, lsp: u32) {
        self.stop_waiting(index);
        let Some(detour) = self.protections.detours.get_mut(&index).filter(|d| d.lsp == Some(lsp)) else {
            return self.counters.faults.note(Fault::Incomplete);
        };
        self.counters.faults.step(&mut detour.state, DetourEvent::Reserved);
        detour.failures = 0;
        let taken = detour.taken;
        if self.store.get(index).is_some_and(Lsp::is_diverted) {
            self.install(index);
        } else {
            self.set_taken(index, taken, ProtectionEvent::Chosen);
            self.announce(index);
        }
    }

    fn set_taken(&mut self, index: u32, taken: Option<Taken>, event: ProtectionEvent) {
        let Some(lsp) = self.store.get_mut(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let protection = lsp.rare_mut().protection.get_or_insert(Protection::NONE);
        protection.detour = taken;
        self.counters.faults.step(&mut protection.state, event);
    }

    /// Tells the routers before this one of the flags in the recorded route (RFC 4090, 6).
    pub(in crate::rsvp) fn announce(&mut self, index: u32) {
        let is_known = |lsp: &Lsp| lsp.role() != Role::Head && lsp.resv.is_announced();
        if self.store.get(index).is_some_and(is_known) {
            self.send_resv(index, Sending::Trigger);
        }
    }

    /// A detour has to go: the LSP that it carries goes with it; one that it stands by for gets another.
    pub(in crate::rsvp) fn detour_lost(&mut self, index: u32, lsp: u32, why: Loss) {
        if let Loss::Error { code: error_code::NOTIFY, value, .. } = why {
            if value == notify::RRO_TOO_LARGE {
                self.stop_recording(lsp);
            }
            return;
        }
        self.blame_detour(index, why);
        self.tear_down(lsp);
        let Some(detour) = self.protections.detours.get_mut(&index).filter(|d| d.lsp == Some(lsp)) else {
            return self.counters.faults.note(Fault::Incomplete);
        };
        (detour.lsp, detour.taken, detour.way) = (None, None, Vec::new());
        self.counters.faults.step(&mut detour.state, DetourEvent::Lost);
        let Some(protected) = self.store.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        if protected.is_diverted() {
            return self.undivertible(index);
        }
        if protected.has_detour() {
            self.set_taken(index, None, ProtectionEvent::Withdrawn);
            self.announce(index);
        }
        self.detour_waits(index, why.describe());
    }

    /// An LSP has no detour any more, and waits for none.
    pub(super) fn drop_detour(&mut self, index: u32) {
        self.stop_waiting(index);
        let lsp = self.protections.detours.remove(&index).and_then(|detour| detour.lsp);
        if let Some(lsp) = lsp {
            self.tear_down(lsp);
        }
    }

    /// A reservation was given up further down, though the link is there: after a while it is asked for again.
    pub(in crate::rsvp) fn restore_after(&mut self, index: u32) {
        let port = self.store.get(index).and_then(|lsp| lsp.next_hop).map(|hop| hop.port);
        if let Some(port) = port.filter(|port| self.links.is_up(*port)) {
            self.restore_later(port);
        }
    }

    /// What a detour has reserved.
    pub(super) fn detour_rate(&self, lsp: Option<u32>) -> Rate {
        lsp.and_then(|lsp| self.store.get(lsp)).map_or(Rate(0), Lsp::reserved_rate)
    }
}
