//! The standby of a tunnel: an LSP along a disjoint path that is set up beside the one that carries traffic, and takes
//! over when that one fails (protection end to end, of the whole LSP; RFC 4090 leads around single links instead).
//!
//! It is another LSP of the same tunnel, with an LSP id of its own. In shared-explicit style both share what they
//! reserve where they meet again (RFC 3209, 2.5), but for risks they do not meet. Nothing is mapped to it as long as it
//! stands by, unless both carry each packet (`permanent_bridge`).

use super::Rsvp;
use super::computed::ATTEMPTS;
use super::event::Event;
use super::faults::Fault;
use super::head::Loss;
use super::ingress::Unstarted;
use super::states::{ResvEvent, StandbyEvent, StandbyState, TunnelEvent, TunnelState};
use super::tunnel::Tunnel;
use crate::services::te::{Constraints, NoPath, TeHop, TePath};
use base::{Span, Time};

/// From a change of the database to the search for a path: what belongs to one event has come by then.
const SOON: Span = Span::from_ms(100);

/// What a head end keeps of a standby.
#[derive(Clone, Debug)]
pub(super) struct Standby {
    pub state: StandbyState,
    pub lsp: Option<u32>,
    pub way: Vec<TeHop>,
    /// When it is given up without a Resv.
    pub give_up_at: Time,
    /// When a path is looked for again.
    pub retry_at: Time,
    /// Attempts since the last success or pause.
    attempts: usize,
    /// Pauses in a row.
    failures: u32,
    /// There was no path when it was looked for last.
    is_without: bool,
}

impl Default for Standby {
    fn default() -> Standby {
        Standby {
            state: StandbyState::Absent,
            lsp: None,
            way: Vec::new(),
            give_up_at: Time::MAX,
            retry_at: Time::MAX,
            attempts: 0,
            failures: 0,
            is_without: false,
        }
    }
}

impl Standby {
    /// When something is to be done.
    pub(super) fn deadline(&self) -> Time {
        self.give_up_at.min(self.retry_at)
    }
}

impl Tunnel {
    /// Is this its standby?
    pub(super) fn is_standby(&self, lsp: u32) -> bool {
        self.computed.as_ref().is_some_and(|computed| computed.standby.lsp == Some(lsp))
    }

    fn standby_mut(&mut self) -> Option<&mut Standby> {
        self.computed.as_mut().map(|computed| &mut computed.standby)
    }
}

impl Rsvp {
    /// Has a standby set up for a tunnel that wants one and has none that is disjoint from the LSP that carries
    /// traffic.
    pub(super) fn stand_by(&mut self, index: u32) {
        let router_id = self.config.router_id;
        loop {
            let tunnel = self.tunnels.get(index).filter(|tunnel| tunnel.state.has_active());
            if tunnel.is_some_and(|tunnel| tunnel.state.has_candidate()) {
                return self.standby_waits(index);
            }
            let wanted =
                tunnel.and_then(|tunnel| Some((tunnel.wanted_standby()?, tunnel.computed.as_ref()?)));
            // A path that was left to the routing tables has no links from which another could be disjoint.
            let Some((what, computed)) = wanted.filter(|(_, computed)| !computed.active.is_empty()) else {
                return;
            };
            let engineering = &mut self.services.engineering;
            let apart = engineering.apart(&computed.active, what);
            if computed.standby.lsp.is_some() {
                let way = &computed.standby.way;
                let reason = match (engineering.is_apart(way, &apart), engineering.is_whole(router_id, way)) {
                    (true, true) => return,
                    (false, _) => "its path is not disjoint any more",
                    (true, false) => "a link of its path is announced no more",
                };
                self.drop_standby(index, reason);
                continue;
            }
            let Some(constraints) = self.constraints_of(index) else { return };
            match self.standby_path(index, Constraints { apart, ..constraints }) {
                Err(why) => return self.standby_without(index, &why),
                Ok(path) => {
                    if self.signal_standby(index, path) {
                        return;
                    }
                }
            }
        }
    }

    /// The traffic is about to move: where the standby may be is looked at afterwards.
    fn standby_waits(&mut self, index: u32) {
        let at = self.now + Span::from_secs(1);
        let tunnel = self.tunnels.get_mut(index).filter(|tunnel| tunnel.wanted_standby().is_some());
        if let Some(standby) = tunnel.and_then(Tunnel::standby_mut).filter(|standby| standby.lsp.is_none()) {
            standby.retry_at = standby.retry_at.min(at);
            self.arm_tunnel(index);
        }
    }

    fn standby_path(&mut self, index: u32, constraints: Constraints) -> Result<TePath, NoPath> {
        let (router_id, now) = (self.config.router_id, self.now);
        let to = self.tunnels.get(index).map_or(router_id, |tunnel| tunnel.spec.to);
        self.services.engineering.path(now, router_id, to, &constraints)
    }

    /// Sends its Path. Is there nothing more to do now?
    fn signal_standby(&mut self, index: u32, path: TePath) -> bool {
        let way = path.hops.clone();
        let (lsp_id, started) = self.launch(index, Some(path));
        let give_up_at = self.now + self.config.setup_timeout;
        let node = self.config.router_id;
        let Some(tunnel) = self.tunnels.get_mut(index) else {
            self.counters.faults.note(Fault::NoTunnel);
            return true;
        };
        let id = tunnel.id();
        let Some(standby) = tunnel.standby_mut() else { return true };
        match started {
            Ok(lsp) => {
                self.counters.faults.step(&mut standby.state, StandbyEvent::Signalled);
                (standby.lsp, standby.way, standby.is_without) = (Some(lsp), way, false);
                (standby.give_up_at, standby.retry_at) = (give_up_at, Time::MAX);
                self.arm_tunnel(index);
                true
            }
            Err(Unstarted::Error(code, value)) => {
                standby.attempts += 1;
                let is_over = standby.attempts >= ATTEMPTS;
                self.event(Event::LspError { tunnel: id, lsp_id, node, code, value });
                if is_over {
                    self.rest_standby(index);
                }
                is_over
            }
            Err(Unstarted::NoPath(why)) => {
                self.standby_without(index, &why);
                true
            }
        }
    }

    /// There is no path for it: that is told once, and tried again later.
    fn standby_without(&mut self, index: u32, why: &NoPath) {
        let Some(tunnel) = self.tunnels.get_mut(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        let id = tunnel.id();
        let known = tunnel.standby_mut().map(|one| core::mem::replace(&mut one.is_without, true));
        if known == Some(false) {
            self.event(Event::LspStandbyNoPath { tunnel: id, reason: why.to_string() });
        }
        self.rest_standby(index);
    }

    /// Waits before the next attempt, as tunnels do.
    fn rest_standby(&mut self, index: u32) {
        let Some(tunnel) = self.tunnels.get_mut(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        let spec = tunnel.spec.clone();
        let Some(standby) = tunnel.standby_mut() else { return };
        standby.attempts = 0;
        standby.failures = standby.failures.saturating_add(1);
        let failures = standby.failures;
        let is_over = spec.retry_limit.is_some_and(|limit| failures > limit);
        let at = if is_over { Time::MAX } else { self.now + self.wait(&spec, failures) };
        if let Some(standby) = self.tunnels.get_mut(index).and_then(Tunnel::standby_mut) {
            standby.retry_at = at;
        }
        self.arm_tunnel(index);
    }

    /// A Resv has come for the standby.
    pub(super) fn standby_reserved(&mut self, index: u32, lsp: u32) {
        let Some(tunnel) = self.tunnels.get_mut(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        let id = tunnel.id();
        let Some(standby) = tunnel.standby_mut() else { return };
        let is_new = standby.state == StandbyState::Signalling;
        self.counters.faults.step(&mut standby.state, StandbyEvent::Reserved);
        (standby.give_up_at, standby.attempts, standby.failures) = (Time::MAX, 0, 0);
        let Some(state) = self.store.get_mut(lsp) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        // It carries nothing yet, so there is nothing to be written.
        self.counters.faults.step(&mut state.resv, ResvEvent::Written);
        let lsp_id = state.sender.lsp_id;
        if let Some(receiver) = state.rare.as_mut().and_then(|rare| rare.confirm.take()) {
            self.confirm(lsp, receiver);
        }
        if is_new {
            self.event(Event::LspStandbyUp { tunnel: id, lsp_id });
        }
        self.bridge_changed(index);
        self.watch_lsp(index);
        self.arm_tunnel(index);
    }

    /// Gives the standby up that there is.
    pub(super) fn drop_standby(&mut self, index: u32, reason: &str) {
        self.end_standby(index, StandbyEvent::Withdrawn, reason);
    }

    fn end_standby(&mut self, index: u32, event: StandbyEvent, reason: &str) {
        let Some(tunnel) = self.tunnels.get_mut(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        let id = tunnel.id();
        let Some(standby) = tunnel.standby_mut() else { return };
        (standby.give_up_at, standby.retry_at) = (Time::MAX, Time::MAX);
        let Some(lsp) = standby.lsp.take() else { return };
        let was_ready = standby.state == StandbyState::Ready;
        standby.way.clear();
        self.counters.faults.step(&mut standby.state, event);
        if let Some(lsp_id) = self.store.get(lsp).filter(|_| was_ready).map(|lsp| lsp.sender.lsp_id) {
            self.event(Event::LspStandbyDown { tunnel: id, lsp_id, reason: reason.into() });
        }
        self.bridge_changed(index);
        self.watch_lsp(index);
        self.tear_down(lsp);
        self.arm_tunnel(index);
    }

    /// The standby has to go. If it was found where it failed, another path is tried at once.
    pub(super) fn standby_lost(&mut self, index: u32, why: &Loss, is_blamed: bool) {
        self.end_standby(index, StandbyEvent::Failed, &why.describe());
        let Some(standby) = self.tunnels.get_mut(index).and_then(Tunnel::standby_mut) else { return };
        standby.attempts += 1;
        if is_blamed && standby.attempts < ATTEMPTS {
            self.stand_by(index);
        } else {
            self.rest_standby(index);
        }
    }

    /// The LSP that carries traffic fails, or is led around a failure: its standby takes over, as far as it has come.
    /// Is there one?
    pub(super) fn promote(&mut self, index: u32) -> bool {
        let Some(tunnel) = self.tunnels.get(index) else { return false };
        let state = tunnel.computed.as_ref().map_or(StandbyState::Absent, |computed| computed.standby.state);
        match (tunnel.state, state) {
            (TunnelState::Up | TunnelState::Down, StandbyState::Signalling | StandbyState::Ready) => {}
            // What is ready is faster than what is being set up.
            (TunnelState::Rerouting, StandbyState::Ready) => self.abandon_candidate(index),
            _ => return false,
        }
        let give_up_at = self.now + self.config.setup_timeout;
        let Some(tunnel) = self.tunnels.get_mut(index) else { return false };
        tunnel.begin_round();
        tunnel.failures = 0;
        let Some(computed) = tunnel.computed.as_deref_mut() else { return false };
        let standby = &mut computed.standby;
        self.counters.faults.step(&mut standby.state, StandbyEvent::Promoted);
        computed.candidate = core::mem::take(&mut standby.way);
        tunnel.candidate = standby.lsp.take();
        (standby.give_up_at, standby.retry_at) = (Time::MAX, Time::MAX);
        tunnel.give_up_at = give_up_at;
        self.counters.faults.step(&mut tunnel.state, TunnelEvent::Signalled);
        if let (StandbyState::Ready, Some(lsp)) = (state, tunnel.candidate) {
            self.head_install(lsp);
        }
        self.arm_tunnel(index);
        true
    }

    /// Of two LSPs that both carry the packets, either can be led along the best path, and counts as the one that
    /// carries traffic alone then. It is the one that is there already, else the one on the worse path, unless the
    /// other one is in the way. The end sees an LSP come in the place of that one. Nothing is signalled here, and no
    /// packet takes another way.
    pub(super) fn exchange_with_standby(&mut self, index: u32, constraints: &Constraints, best: &TePath) {
        let (router_id, now) = (self.config.router_id, self.now);
        let ready = self.tunnels.get(index).filter(|tunnel| tunnel.is_one_plus_one());
        let Some((tunnel, standby)) = ready.and_then(|tunnel| Some((tunnel, tunnel.ready_standby()?))) else {
            return;
        };
        let (Some(computed), Some(what)) = (tunnel.computed.as_deref(), tunnel.wanted_standby()) else {
            return;
        };
        let (active, other) = (&computed.active, &computed.standby.way);
        if *active == best.hops {
            return;
        }
        let engineering = &mut self.services.engineering;
        let is_clear = [active, other].map(|left| {
            let apart = engineering.apart(left, what);
            engineering.is_apart(&best.hops, &apart)
        });
        let mut cost = |way: &[TeHop]| {
            let cost = engineering.cost_of(now, router_id, way, constraints);
            cost.map_or(u64::MAX, |(cost, _)| cost)
        };
        let is_other = match is_clear {
            [true, false] => true,
            [false, true] => false,
            _ => cost(other) > cost(active),
        };
        if *other != best.hops && !is_other {
            return;
        }
        let Some(tunnel) = self.tunnels.get_mut(index) else { return };
        let before = tunnel.active.replace(standby);
        if let Some(computed) = tunnel.computed.as_deref_mut() {
            core::mem::swap(&mut computed.active, &mut computed.standby.way);
            computed.standby.lsp = before;
        }
        self.bridge_changed(index);
        self.watch_lsp(index);
    }

    /// Something else is known of links: a standby that is broken is replaced, one that is missing is tried again.
    pub(super) fn standby_hears(&mut self, index: u32, is_lost: bool) {
        let (router_id, at) = (self.config.router_id, self.now + SOON);
        let Some(tunnel) = self.tunnels.get_mut(index).filter(|tunnel| tunnel.wanted_standby().is_some())
        else {
            return;
        };
        let Some(standby) = tunnel.standby_mut() else { return };
        let is_due = match standby.lsp {
            None => true,
            Some(_) => is_lost && !self.services.engineering.is_whole(router_id, &standby.way),
        };
        if is_due {
            standby.retry_at = standby.retry_at.min(at);
            self.arm_tunnel(index);
        }
    }

    /// The timer of a tunnel went off: is something due of its standby?
    pub(super) fn standby_timeout(&mut self, index: u32) {
        let now = self.now;
        let Some(standby) = self.tunnels.get_mut(index).and_then(Tunnel::standby_mut) else { return };
        let late = standby.lsp.filter(|_| standby.give_up_at <= now);
        let is_due = standby.retry_at <= now;
        if standby.give_up_at <= now {
            standby.give_up_at = Time::MAX;
        }
        if is_due {
            standby.retry_at = Time::MAX;
        }
        if let Some(lsp) = late {
            self.lose(lsp, Loss::NotSetUp);
        }
        if is_due {
            self.stand_by(index);
        }
    }
}
