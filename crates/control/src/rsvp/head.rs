//! Tunnels at their head end: setting LSPs up, moving traffic, trying again (RFC 3209, 2.5).
//!
//! Traffic moves by one batch that replaces the tunnel's FTN entries; the old LSP goes only after that batch is
//! acknowledged and what was on its way has had time to arrive.

use super::command::{TunnelId, TunnelSpec};
use super::error::words;
use super::event::Event;
use super::faults::Fault;
use super::ingress::Unstarted;
use super::lsp::{Lsp, Role};
use super::outbox::Sending;
use super::states::{PathEvent, TunnelEvent};
use super::tables::Purpose;
use super::tunnel::Tunnel;
use super::{Rsvp, Timer};
use base::{Span, Time};
use core::net::Ipv4Addr;
use std::sync::Arc;
use wire::rsvp::error_code::{self, notify};

/// Why an LSP has to go, as its head end sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// An error was reported.
    Error { node: Ipv4Addr, code: u8, value: u16 },
    /// The reservation was torn down.
    Torn,
    /// The reservation was not refreshed.
    TimedOut,
    /// No Resv came within the setup timeout.
    NotSetUp,
    /// The port to the next hop is down.
    PortDown,
    /// The tables took no entry for it.
    TablesFull,
    /// BFD says that packets do not come out at its end, or do not come back (RFC 5884).
    Unheard,
    /// LSP ping says so (RFC 8029).
    Unanswered,
    /// LSP ping says that packets come out somewhere else (RFC 8029, RFC 5884, 4), in the words of a return code.
    Misled(&'static str),
}

impl Loss {
    pub(super) fn describe(self) -> String {
        match self {
            Loss::Error { node, code, value } => format!("{} at {node}", words((code, value))),
            Loss::Torn => "the reservation was torn down".into(),
            Loss::TimedOut => "the reservation was not refreshed".into(),
            Loss::NotSetUp => "no reservation came in time".into(),
            Loss::PortDown => "the port to the next hop is down".into(),
            Loss::Unheard => "its end is not heard any more (BFD)".into(),
            Loss::Unanswered => "its end does not answer any more (LSP ping)".into(),
            Loss::Misled(words) => format!("it does not end where it is to end (LSP ping: {words})"),
            Loss::TablesFull => "the forwarding tables have no room".into(),
        }
    }
}

/// An LSP of a tunnel that starts here, to be dealt with when the state is consistent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lost {
    lsp: u32,
    generation: u32,
    why: Loss,
}

impl Rsvp {
    /// Notes that an LSP has to go.
    pub(super) fn lose(&mut self, lsp: u32, why: Loss) {
        let generation = self.store.generation(lsp);
        self.lost.push_back(Lost { lsp, generation, why });
    }

    /// Deals with the LSPs that have to go.
    pub(super) fn settle(&mut self) {
        while let Some(lost) = self.lost.pop_front() {
            if self.store.generation(lost.lsp) == lost.generation && self.store.get(lost.lsp).is_some() {
                self.lsp_lost(lost.lsp, lost.why);
            }
        }
        self.end_groups();
        if self.p2mp_is_unsettled() {
            self.p2mp_settle_roots();
        }
    }

    /// Sets a tunnel up, or changes it.
    pub(super) fn tunnel_set(&mut self, spec: &Arc<TunnelSpec>) {
        let id = TunnelId { to: spec.to, id: spec.tunnel_id };
        self.tunnel_model(self.config.router_id, id, spec.diffserv.and_then(|lsp| lsp.model()));
        let Some(index) = self.tunnels.find(id) else {
            let first = self.restarts.wrapping_mul(4096).wrapping_add(1);
            let index = self.tunnels.insert(Tunnel::new(Arc::clone(spec), first));
            if spec.autoroute {
                self.services.shortcuts.add(spec.to);
            }
            self.guard(index);
            self.bar(index);
            self.signal(index);
            return;
        };
        let Some(tunnel) = self.tunnels.get_mut(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        let before = std::mem::replace(&mut tunnel.spec, Arc::clone(spec));
        self.guard(index);
        match (before.autoroute, spec.autoroute) {
            (false, true) => self.services.shortcuts.add(spec.to),
            (true, false) => self.services.shortcuts.remove(spec.to),
            _ => {}
        }
        let same_lsp = TunnelSpec {
            carries: spec.carries.clone(),
            carries6: spec.carries6.clone(),
            classed: spec.classed.clone(),
            filters: spec.filters.clone(),
            when_down: spec.when_down,
            retry_limit: spec.retry_limit,
            retry_first: spec.retry_first,
            retry_max: spec.retry_max,
            watch: spec.watch,
            ..(*before).clone()
        } == **spec;
        self.watch_lsp(index);
        if same_lsp {
            self.carry(index);
            self.bar(index);
            return;
        }
        self.abandon_candidate(index);
        self.drop_standby(index, "the tunnel is changed");
        if before.style != spec.style {
            // Two styles can't stand beside each other in one session (RFC 2205, 2.4): break before make.
            self.drop_active(index, "the reservation style changes");
            self.drop_retiring(index);
        }
        if let Some(tunnel) = self.tunnels.get_mut(index) {
            tunnel.begin_round();
            tunnel.failures = 0;
        }
        self.bar(index);
        self.signal(index);
    }

    /// Tears a tunnel down and forgets it.
    pub(super) fn tunnel_remove(&mut self, id: TunnelId) {
        // One that is not there need not be removed.
        let Some(index) = self.tunnels.find(id) else { return };
        self.unbar(index);
        self.abandon_candidate(index);
        self.drop_standby(index, "removed");
        self.drop_active(index, "removed");
        self.drop_retiring(index);
        self.unguard(index);
        let removed = self.tunnels.remove(index);
        if let Some(tunnel) = removed.as_ref().filter(|tunnel| tunnel.spec.autoroute) {
            self.services.shortcuts.remove(id.to);
            self.write(vec![Rsvp::unlead(tunnel.sequence)], true, Purpose::Nothing);
        }
        if let Some(timer) = removed.and_then(|tunnel| tunnel.timer) {
            self.wheel.cancel(timer);
        }
        self.tunnel_model(self.config.router_id, id, None);
    }

    /// Signals a new LSP along the preferred route; the old one stays until that is up.
    pub(super) fn tunnel_reoptimise(&mut self, id: TunnelId) {
        // One that is not there has no route.
        let Some(index) = self.tunnels.find(id) else { return };
        let Some(tunnel) = self.tunnels.get_mut(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        if tunnel.state.has_candidate() {
            return;
        }
        tunnel.begin_round();
        tunnel.failures = 0;
        self.signal(index);
    }

    /// Tries the routes from the current one on, until one can be signalled; pauses when none is left.
    pub(super) fn signal(&mut self, index: u32) {
        while let Some(tunnel) = self.tunnels.get(index).filter(|tunnel| tunnel.tried < tunnel.routes()) {
            let id = tunnel.id();
            let (lsp_id, started) = self.start(index);
            match started {
                Ok(lsp) => {
                    let give_up_at = self.now + self.config.setup_timeout;
                    if let Some(tunnel) = self.tunnels.get_mut(index) {
                        self.counters.faults.step(&mut tunnel.state, TunnelEvent::Signalled);
                        tunnel.candidate = Some(lsp);
                        tunnel.give_up_at = give_up_at;
                    }
                    self.arm_tunnel(index);
                    return;
                }
                Err(Unstarted::Error(code, value)) => {
                    let node = self.config.router_id;
                    self.event(Event::LspError { tunnel: id, lsp_id, node, code, value });
                    if let Some(tunnel) = self.tunnels.get_mut(index) {
                        tunnel.next_route();
                    }
                }
                Err(Unstarted::NoPath(why)) => {
                    self.event(Event::LspNoPath { tunnel: id, reason: why.to_string() });
                    if let Some(tunnel) = self.tunnels.get_mut(index) {
                        tunnel.exhaust();
                    }
                }
            }
        }
        self.pause(index);
    }

    /// Waits before the next round: twice as long each time, and up to a quarter less or more.
    fn pause(&mut self, index: u32) {
        let Some(tunnel) = self.tunnels.get_mut(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        tunnel.failures = tunnel.failures.saturating_add(1);
        tunnel.give_up_at = Time::MAX;
        let spec = &tunnel.spec;
        if spec.retry_limit.is_some_and(|limit| tunnel.failures > limit) {
            tunnel.retry_at = Time::MAX;
            self.arm_tunnel(index);
            return;
        }
        let (spec, failures) = (spec.clone(), tunnel.failures);
        let at = self.now + self.wait(&spec, failures);
        if let Some(tunnel) = self.tunnels.get_mut(index) {
            tunnel.retry_at = at;
        }
        self.arm_tunnel(index);
    }

    /// How long a tunnel waits after so many failures in a row.
    pub(super) fn wait(&mut self, spec: &TunnelSpec, failures: u32) -> Span {
        self.backoff(spec.retry_first, spec.retry_max, failures)
    }

    /// Twice as long after each failure in a row, up to a bound.
    pub(super) fn backoff(&mut self, first: Span, most: Span, failures: u32) -> Span {
        let doublings = failures.saturating_sub(1).min(40);
        let wait = first.0.max(1).saturating_mul(1 << doublings).min(most.0.max(1));
        if self.config.jitter { self.jittered(Span(wait / 2), 1.5) } else { Span(wait) }
    }

    pub(super) fn tunnel_of(&self, lsp: u32) -> Option<u32> {
        let is_its = |lsp: &&Lsp| lsp.role() == Role::Head && lsp.detour_of().is_none();
        let session = self.store.get(lsp).filter(is_its)?.session;
        self.tunnels.find(TunnelId { to: session.end_point, id: session.tunnel_id })
    }

    /// Sends a PathTear and forgets the LSP.
    pub(super) fn tear_down(&mut self, lsp: u32) {
        self.send_path_tear(lsp);
        self.remove_lsp(lsp, PathEvent::Withdrawn);
    }

    /// Tears the LSPs down that carried traffic before.
    fn drop_retiring(&mut self, index: u32) {
        let retiring = self.tunnels.get_mut(index).map(|tunnel| std::mem::take(&mut tunnel.retiring));
        for (_, lsp) in retiring.unwrap_or_default() {
            self.tear_down(lsp);
        }
    }

    /// The recorded route did not fit: the Path goes on without it (RFC 3209, 4.4.3).
    pub(super) fn stop_recording(&mut self, lsp: u32) {
        let recorded = self.store.get_mut(lsp).and_then(|lsp| lsp.rare.as_mut()?.path_rro.take());
        if recorded.is_some() {
            self.send_path(lsp, Sending::Trigger);
        }
    }

    /// An LSP that starts here has to go.
    fn lsp_lost(&mut self, lsp: u32, why: Loss) {
        if let Some(protected) = self.store.get(lsp).and_then(Lsp::detour_of) {
            return self.detour_lost(protected, lsp, why);
        }
        let Some(index) = self.tunnel_of(lsp) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        let lsp_id = self.store.get(lsp).map_or(0, |lsp| lsp.sender.lsp_id);
        let Some(tunnel) = self.tunnels.get_mut(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        let id = tunnel.id();
        if let Loss::Error { node, code: error_code::NOTIFY, value: notify::LOCALLY_REPAIRED } = why {
            return self.lsp_repaired(index, lsp, node);
        }
        if let Loss::Error { node, code, value } = why {
            self.event(Event::LspError { tunnel: id, lsp_id, node, code, value });
            // A notification changes nothing (RFC 3209, 7.3).
            if code == error_code::NOTIFY {
                if value == error_code::notify::RRO_TOO_LARGE {
                    self.stop_recording(lsp);
                }
                return;
            }
        }
        let is_blamed = self.blame(index, lsp, why);
        let Some(tunnel) = self.tunnels.get_mut(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        if tunnel.candidate == Some(lsp) {
            if !tunnel.state.has_active() && !matches!(why, Loss::Error { .. }) {
                self.event(Event::LspDown { tunnel: id, lsp_id, reason: why.describe() });
            }
            self.abandon_candidate(index);
            if !self.tunnels.get(index).is_some_and(|tunnel| tunnel.state.has_active()) && self.promote(index)
            {
                return;
            }
            if let Some(tunnel) = self.tunnels.get_mut(index) {
                tunnel.next_route();
                // Another search would find the same path again.
                if tunnel.is_computed() && !is_blamed && tunnel.k() == 1 {
                    tunnel.exhaust();
                }
            }
            self.signal(index);
        } else if tunnel.active == Some(lsp) {
            self.active_lost(index, lsp, why, is_blamed);
        } else if tunnel.is_standby(lsp) {
            self.standby_lost(index, &why, is_blamed);
        } else {
            tunnel.retiring.retain(|entry| entry.1 != lsp);
            self.bridge_changed(index);
            self.tear_down(lsp);
        }
    }

    /// The LSP that carries traffic has to go: the standby takes over, or the next route is tried.
    fn active_lost(&mut self, index: u32, lsp: u32, why: Loss, is_blamed: bool) {
        // Its entries are replaced before they would be taken out.
        self.promote(index);
        let Some(tunnel) = self.tunnels.get_mut(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        if tunnel.active != Some(lsp) {
            // Nothing had to be written: the traffic has moved.
            tunnel.retiring.retain(|entry| entry.1 != lsp);
            self.bridge_changed(index);
            return self.tear_down(lsp);
        }
        self.drop_active(index, &why.describe());
        let Some(tunnel) = self.tunnels.get_mut(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        if tunnel.state.has_candidate() {
            return;
        }
        // The route that just failed is not the first to be tried.
        tunnel.begin_round();
        tunnel.route = tunnel.active_route.min(tunnel.routes() - 1);
        tunnel.next_route();
        if tunnel.is_computed() && tunnel.k() > 1 {
            tunnel.tried = 0;
            if let Some(computed) = tunnel.computed.as_mut().filter(|_| !is_blamed) {
                let failed = core::mem::take(&mut computed.active);
                computed.put_last(failed);
            }
        }
        self.signal(index);
    }

    /// A router leads an LSP around a failure: traffic flows, and a better way is looked for (RFC 4090, 6.5.2, global
    /// reversion).
    fn lsp_repaired(&mut self, index: u32, lsp: u32, node: Ipv4Addr) {
        let lsp_id = self.store.get(lsp).map_or(0, |lsp| lsp.sender.lsp_id);
        let Some(id) = self.tunnels.get(index).map(|tunnel| tunnel.id()) else { return };
        self.event(Event::LspRepaired { tunnel: id, lsp_id, node });
        let why = Loss::Error { node, code: error_code::NOTIFY, value: notify::LOCALLY_REPAIRED };
        self.blame(index, lsp, why);
        let Some(tunnel) = self.tunnels.get_mut(index).filter(|tunnel| tunnel.active == Some(lsp)) else {
            return;
        };
        tunnel.repaired = Some(lsp);
        if self.promote(index) {
            return;
        }
        let Some(tunnel) = self.tunnels.get_mut(index).filter(|tunnel| !tunnel.state.has_candidate()) else {
            return;
        };
        tunnel.begin_round();
        tunnel.failures = 0;
        if !tunnel.is_computed() {
            // The route that just failed is not the first to be tried.
            tunnel.route = tunnel.active_route.min(tunnel.routes() - 1);
            tunnel.next_route();
            tunnel.tried = 0;
        }
        if tunnel.has_one_way() {
            // It leads over what has failed: it is tried again later, when that may be back.
            return self.pause(index);
        }
        self.signal(index);
    }

    /// The timer of a tunnel went off.
    pub(super) fn tunnel_timeout(&mut self, index: u32) {
        let now = self.now;
        let Some(tunnel) = self.tunnels.get_mut(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        tunnel.timer = None;
        tunnel.timer_at = Time::MAX;
        let gone: Vec<u32> = tunnel.retiring.iter().filter(|e| e.0 <= now).map(|e| e.1).collect();
        tunnel.retiring.retain(|entry| entry.0 > now);
        if tunnel.give_up_at <= now {
            tunnel.give_up_at = Time::MAX;
            if let Some(candidate) = tunnel.candidate {
                self.lose(candidate, Loss::NotSetUp);
            }
        }
        self.bridge_changed(index);
        for lsp in gone {
            self.tear_down(lsp);
        }
        self.standby_timeout(index);
        let is_satisfied = self.is_satisfied(index);
        let due = self
            .tunnels
            .get_mut(index)
            .filter(|tunnel| tunnel.retry_at <= now && !tunnel.state.has_candidate());
        if let Some(tunnel) = due {
            tunnel.begin_round();
            if is_satisfied {
                tunnel.failures = 0;
                self.reconsider(index);
            } else {
                self.signal(index);
            }
        }
        let check = self.tunnels.get(index).and_then(|tunnel| tunnel.computed.as_ref()?.check_at);
        if check.is_some_and(|at| at <= now) {
            self.reconsider(index);
        }
        self.arm_tunnel(index);
    }

    pub(super) fn arm_tunnel(&mut self, index: u32) {
        let Some(tunnel) = self.tunnels.get_mut(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        let deadline = tunnel.deadline();
        if deadline == tunnel.timer_at {
            return;
        }
        if let Some(timer) = tunnel.timer.take() {
            self.wheel.cancel(timer);
        }
        tunnel.timer_at = deadline;
        if deadline < Time::MAX {
            tunnel.timer = Some(self.wheel.schedule(deadline, Timer::Tunnel(index)));
        }
    }
}
