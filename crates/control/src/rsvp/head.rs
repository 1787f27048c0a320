//! Tunnels at their head end: setting LSPs up, moving traffic, trying again (RFC 3209, 2.5).
//!
//! Traffic moves by one batch that replaces the tunnel's FTN entries; the old LSP goes only after that batch is
//! acknowledged and what was on its way has had time to arrive.

use super::explicit_route::{self, Step};
use super::lsp::{Hop, Lsp, Role, SenderKey, SessionKey};
use super::outbox::Sending;
use super::path::View;
use super::record_route;
use super::route::Ero;
use super::tables::Purpose;
use super::tunnel::Tunnel;
use super::{Rsvp, Timer};
use base::command::{ReservationStyle, TunnelId, TunnelSpec};
use base::plane::{Fec, TableOp};
use base::{Event, PortId, Span, Time};
use core::net::Ipv4Addr;
use wire::rsvp::{Adspec, General, SenderTspec, SessionAttribute, TokenBucket, error_code};

/// Why an LSP has to go, as its head end sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// An error was reported.
    Error { node: Ipv4Addr, code: u8, value: u16 },
    /// The reservation was torn down.
    Torn,
    /// The reservation was not refreshed.
    TimedOut,
    /// No Resv came.
    NotSetUp,
    /// The port to the next hop is down.
    PortDown,
    /// The tables took no entry for it.
    TablesFull,
}

impl Loss {
    fn describe(self) -> String {
        match self {
            Loss::Error { node, code, value } => format!("{} at {node}", error_code::describe(code, value)),
            Loss::Torn => "the reservation was torn down".into(),
            Loss::TimedOut => "the reservation was not refreshed".into(),
            Loss::NotSetUp => "no reservation came in time".into(),
            Loss::PortDown => "the port to the next hop is down".into(),
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
    }

    /// Sets a tunnel up, or changes it.
    pub(super) fn tunnel_set(&mut self, spec: &TunnelSpec) {
        let id = TunnelId { to: spec.to, id: spec.tunnel_id };
        let Some(index) = self.tunnels.find(id) else {
            let first = self.restarts.wrapping_mul(4096).wrapping_add(1);
            let index = self.tunnels.insert(Tunnel::new(spec.clone(), first));
            self.signal(index);
            return;
        };
        let Some(tunnel) = self.tunnels.get_mut(index) else { return };
        let before = std::mem::replace(&mut tunnel.spec, spec.clone());
        let same_lsp = TunnelSpec {
            carries: spec.carries.clone(),
            retry_limit: spec.retry_limit,
            retry_first: spec.retry_first,
            retry_max: spec.retry_max,
            ..before.clone()
        } == *spec;
        if same_lsp {
            if before.carries != spec.carries {
                self.carry(index);
            }
            return;
        }
        self.abandon_candidate(index);
        if before.style != spec.style {
            // Two styles can't stand beside each other in one session (RFC 2205, 2.4): break before make.
            self.drop_active(index, "the reservation style changes");
            self.drop_retiring(index);
        }
        if let Some(tunnel) = self.tunnels.get_mut(index) {
            tunnel.begin_round();
            tunnel.failures = 0;
        }
        self.signal(index);
    }

    /// Tears a tunnel down and forgets it.
    pub(super) fn tunnel_remove(&mut self, id: TunnelId) {
        let Some(index) = self.tunnels.find(id) else { return };
        self.abandon_candidate(index);
        self.drop_active(index, "removed");
        self.drop_retiring(index);
        if let Some(timer) = self.tunnels.remove(index).and_then(|tunnel| tunnel.timer) {
            self.wheel.cancel(timer);
        }
    }

    /// Signals a new LSP along the preferred route; the old one stays until that is up.
    pub(super) fn tunnel_reoptimise(&mut self, id: TunnelId) {
        let Some(index) = self.tunnels.find(id) else { return };
        let Some(tunnel) = self.tunnels.get_mut(index).filter(|tunnel| tunnel.candidate.is_none()) else {
            return;
        };
        tunnel.begin_round();
        tunnel.failures = 0;
        self.signal(index);
    }

    /// Tries the routes from the current one on, until one can be signalled; pauses when none is left.
    fn signal(&mut self, index: u32) {
        while let Some(tunnel) = self.tunnels.get(index).filter(|tunnel| tunnel.tried < tunnel.routes()) {
            let id = tunnel.id();
            let (lsp_id, started) = self.start(index);
            match started {
                Ok(lsp) => {
                    let give_up_at = self.now + self.config.setup_timeout;
                    if let Some(tunnel) = self.tunnels.get_mut(index) {
                        tunnel.candidate = Some(lsp);
                        tunnel.give_up_at = give_up_at;
                    }
                    self.arm_tunnel(index);
                    return;
                }
                Err((code, value)) => {
                    let node = self.config.router_id;
                    self.event(Event::LspError { tunnel: id, lsp_id, node, code, value });
                    if let Some(tunnel) = self.tunnels.get_mut(index) {
                        tunnel.next_route();
                    }
                }
            }
        }
        self.pause(index);
    }

    /// Waits before the next round: twice as long each time, and up to a quarter less or more.
    fn pause(&mut self, index: u32) {
        let Some(tunnel) = self.tunnels.get_mut(index) else { return };
        tunnel.failures = tunnel.failures.saturating_add(1);
        tunnel.give_up_at = Time::MAX;
        let spec = &tunnel.spec;
        if spec.retry_limit.is_some_and(|limit| tunnel.failures > limit) {
            tunnel.retry_at = Time::MAX;
            self.arm_tunnel(index);
            return;
        }
        let doublings = (tunnel.failures - 1).min(40);
        let wait =
            spec.retry_first.0.max(1).saturating_mul(1 << doublings.min(62)).min(spec.retry_max.0.max(1));
        let wait = if self.config.jitter { self.jittered(Span(wait / 2), 1.5) } else { Span(wait) };
        let at = self.now + wait;
        if let Some(tunnel) = self.tunnels.get_mut(index) {
            tunnel.retry_at = at;
        }
        self.arm_tunnel(index);
    }

    /// Makes the state of a new LSP along the tunnel's current route, and sends its Path.
    fn start(&mut self, index: u32) -> (u16, Result<u32, (u8, u16)>) {
        let router_id = self.config.router_id;
        let Some(tunnel) = self.tunnels.get(index) else { return (0, Err((error_code::RSVP_SYSTEM, 0))) };
        let spec = tunnel.spec.clone();
        let session = SessionKey { end_point: spec.to, tunnel_id: spec.tunnel_id, extended: router_id };
        let route = spec.routes.get(tunnel.route).map(Vec::as_slice).unwrap_or_default();
        let mut ero = Ero::of_command(route);
        // Not zero, and not in use.
        let mut lsp_id = tunnel.next_lsp_id.max(1);
        while self.store.find(&session, &SenderKey { address: router_id, lsp_id }).is_some() {
            lsp_id = lsp_id.wrapping_add(1).max(1);
        }
        if let Some(tunnel) = self.tunnels.get_mut(index) {
            tunnel.next_lsp_id = lsp_id.wrapping_add(1);
        }
        if self.store.len() >= self.config.limits.lsps {
            return (lsp_id, Err((error_code::RSVP_SYSTEM, 0)));
        }
        let view = View {
            links: &self.links,
            rib: &self.rib,
            bandwidth: spec.bandwidth,
            setup_priority: spec.setup_priority.min(7),
        };
        let hops = ero.hops().unwrap_or_default();
        let step = explicit_route::select(&hops, true, spec.to, &view);
        let hop = match step {
            Ok(Step::Forward { hop, consumed, inserted }) => {
                ero.advance(consumed, inserted);
                hop
            }
            Ok(Step::Egress) => return (lsp_id, Err((error_code::ROUTING, error_code::routing::NO_ROUTE))),
            Err(value) => return (lsp_id, Err((error_code::ROUTING, value))),
        };
        if !self.is_admissible(&session, hop.port, spec.bandwidth, spec.setup_priority) {
            return (lsp_id, Err((error_code::ADMISSION, error_code::admission::BANDWIDTH)));
        }
        let mut lsp = self.new_lsp(&spec, session, lsp_id, hop);
        lsp.ero = ero;
        let lsp = self.store.insert(lsp);
        self.send_path(lsp, Sending::Trigger);
        (lsp_id, Ok(lsp))
    }

    fn new_lsp(&self, spec: &TunnelSpec, session: SessionKey, lsp_id: u16, hop: Hop) -> Lsp {
        let router_id = self.config.router_id;
        let here = Hop { port: PortId(u16::MAX), address: router_id };
        let mut lsp = Lsp::new(session, SenderKey { address: router_id, lsp_id }, Role::Head, here);
        let (mtu, reservable) = self
            .links
            .get(hop.port)
            .map_or((1500, spec.bandwidth), |l| (l.interface.mtu, l.interface.reservable));
        lsp.next_hop = Some(hop);
        lsp.ttl = self.config.message_ttl;
        (lsp.setup_priority, lsp.holding_priority) =
            (spec.setup_priority.min(7), spec.holding_priority.min(7));
        lsp.has_attribute = true;
        if spec.style == ReservationStyle::SharedExplicit {
            lsp.attribute_flags |= SessionAttribute::SE_STYLE;
        }
        if spec.record_labels {
            lsp.attribute_flags |= SessionAttribute::LABEL_RECORDING;
        }
        let name = spec.name.as_bytes();
        lsp.name = name.get(..name.len().min(255)).unwrap_or_default().into();
        lsp.tspec = SenderTspec(TokenBucket::constant(spec.bandwidth.as_bytes_per_s(), mtu));
        if spec.record_route || spec.record_labels {
            lsp.rare_mut().path_rro = Some(Vec::new());
        }
        if self.config.adspec {
            let general = General {
                break_bit: false,
                hops: 0,
                bandwidth: reservable.as_bytes_per_s(),
                latency_us: u32::MAX,
                mtu,
                ..General::default()
            };
            let adspec = Adspec { general, guaranteed: None, controlled_load: None, others: Vec::new() };
            lsp.rare_mut().adspec = Some(adspec);
        }
        lsp
    }

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
    fn carry(&mut self, index: u32) {
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

    fn tunnel_of(&self, lsp: u32) -> Option<u32> {
        let session = self.store.get(lsp).filter(|lsp| lsp.role == Role::Head)?.session;
        self.tunnels.find(TunnelId { to: session.end_point, id: session.tunnel_id })
    }

    /// Sends a PathTear and forgets the LSP.
    fn tear_down(&mut self, lsp: u32) {
        self.send_path_tear(lsp);
        self.remove_lsp(lsp);
    }

    /// Gives the attempt up that is under way.
    fn abandon_candidate(&mut self, index: u32) {
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
    fn drop_active(&mut self, index: u32, reason: &str) {
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

    /// Tears the LSPs down that carried traffic before.
    fn drop_retiring(&mut self, index: u32) {
        let retiring = self.tunnels.get_mut(index).map(|tunnel| std::mem::take(&mut tunnel.retiring));
        for (_, lsp) in retiring.unwrap_or_default() {
            self.tear_down(lsp);
        }
    }

    /// An LSP that starts here has to go.
    fn lsp_lost(&mut self, lsp: u32, why: Loss) {
        let Some(index) = self.tunnel_of(lsp) else { return };
        let lsp_id = self.store.get(lsp).map_or(0, |lsp| lsp.sender.lsp_id);
        let Some(tunnel) = self.tunnels.get_mut(index) else { return };
        let id = tunnel.id();
        if let Loss::Error { node, code, value } = why {
            self.event(Event::LspError { tunnel: id, lsp_id, node, code, value });
            // A notification changes nothing (RFC 3209, 7.3).
            if code == error_code::NOTIFY {
                return;
            }
        }
        let Some(tunnel) = self.tunnels.get_mut(index) else { return };
        if tunnel.candidate == Some(lsp) {
            if tunnel.active.is_none() && !matches!(why, Loss::Error { .. }) {
                self.event(Event::LspDown { tunnel: id, lsp_id, reason: why.describe() });
            }
            self.abandon_candidate(index);
            if let Some(tunnel) = self.tunnels.get_mut(index) {
                tunnel.next_route();
            }
            self.signal(index);
        } else if tunnel.active == Some(lsp) {
            self.drop_active(index, &why.describe());
            let Some(tunnel) = self.tunnels.get_mut(index) else { return };
            if tunnel.candidate.is_none() {
                // The route that just failed is not the first to be tried.
                tunnel.begin_round();
                tunnel.route = tunnel.active_route.min(tunnel.routes() - 1);
                tunnel.next_route();
                self.signal(index);
            }
        } else {
            tunnel.retiring.retain(|entry| entry.1 != lsp);
            self.tear_down(lsp);
        }
    }

    /// The timer of a tunnel went off.
    pub(super) fn tunnel_timeout(&mut self, index: u32) {
        let now = self.now;
        let Some(tunnel) = self.tunnels.get_mut(index) else { return };
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
        for lsp in gone {
            self.tear_down(lsp);
        }
        let due =
            self.tunnels.get_mut(index).filter(|tunnel| tunnel.retry_at <= now && tunnel.candidate.is_none());
        if let Some(tunnel) = due {
            tunnel.begin_round();
            self.signal(index);
        }
        self.arm_tunnel(index);
    }

    fn arm_tunnel(&mut self, index: u32) {
        let Some(tunnel) = self.tunnels.get_mut(index) else { return };
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
