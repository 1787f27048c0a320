//! Paths that a router computes (RFC 3209, 2.2 and 4.3.4.1): those of tunnels without an explicit route, and what lies
//! between it and a loose hop.
//!
//! A head end whose node knows of traffic engineering asks it for a path, and signals that as strict hops. What a link
//! on it has refused or failed is avoided for a while, so that the next attempt takes another way. A path is looked for
//! again when one of its links is announced no more, by time, when the database changes, and by command; a better one
//! is taken over by make before break.

use super::Rsvp;
use super::alternatives::Alternative;
use super::command::{PathRequest, ReservationStyle, TunnelSpec};
use super::faults::Fault;
use super::head::Loss;
use super::standby::Standby;
use super::states::{StandbyState, TunnelState};
use super::tunnel::Tunnel;
use crate::services::te::{Affinities, Constraints, Distrust, Held, NoPath, TeHop, TePath};
use base::{Rate, Span, Time};
use core::net::Ipv4Addr;
use wire::rsvp::error_code::{self, routing};
use wire::rsvp::{EroHop, EroSubobject};

/// Attempts of a round: each avoids the link at which the last one failed.
pub(super) const ATTEMPTS: usize = 8;
/// From a change of the database to the search for better paths: what belongs to one event has come by then.
pub(super) const SETTLE: Span = Span::from_secs(1);
/// The same of tunnels that have no LSP.
const SOON: Span = Span::from_ms(100);

/// What a head end keeps of a tunnel whose path it computes.
#[derive(Clone, Debug, Default)]
pub(super) struct Computed {
    /// The path of the LSP that carries traffic.
    pub active: Vec<TeHop>,
    /// The path of the LSP that is being set up.
    pub candidate: Vec<TeHop>,
    /// There was no path when it was looked for last.
    pub is_without: bool,
    /// When a better one is looked for.
    pub check_at: Option<Time>,
    /// The best paths as they were looked for last, in the order in which they are tried; none if only one is wanted.
    pub alternatives: Vec<Alternative>,
    /// These are of this round of attempts.
    pub is_searched: bool,
    /// A path that has just failed at an unknown place.
    pub last: Vec<TeHop>,
    /// The LSP that stands by.
    pub standby: Standby,
}

impl Tunnel {
    /// Does the head end compute its path?
    pub(super) fn is_computed(&self) -> bool {
        self.computed.is_some() && self.spec.routes.is_empty()
    }

    /// Ends the round: there is nothing else to try now.
    pub(super) fn exhaust(&mut self) {
        self.tried = self.routes();
    }

    /// The candidate carries traffic now.
    pub(super) fn take_path(&mut self, now: Time) {
        let path = self.spec.path.as_ref();
        // What had failed may come back without a word of links, as where BFD has noticed it.
        let again = path.into_iter().flat_map(|path| [path.reoptimise, path.revert_after]).flatten().min();
        if let Some(computed) = &mut self.computed {
            computed.active = core::mem::take(&mut computed.candidate);
            computed.check_at = again.map(|again| now + again);
        }
    }

    /// What a new LSP of the tunnel asks of its path; `held` is what it shares with the one that carries traffic.
    fn constraints(&self, held: Rate) -> Constraints {
        let spec = &self.spec;
        let path: PathRequest = spec.path.as_deref().cloned().unwrap_or_default();
        // Without an LSP that shares, nothing is held.
        let sharing = self.computed.iter().filter(|_| self.active.is_some() && shares(spec));
        let standby = |computed: &'_ Computed| computed.standby.state == StandbyState::Ready;
        let links = sharing.flat_map(|computed| {
            let reserved = if standby(computed) { &computed.standby.way[..] } else { &[] };
            computed.active.iter().chain(reserved).map(|hop| hop.near)
        });
        Constraints {
            bandwidth: signalled(spec.bandwidth),
            priority: spec.setup_priority.min(7),
            metric: path.metric,
            affinities: path.affinities,
            hop_limit: path.hop_limit,
            exclude_srlgs: path.exclude_srlgs,
            exclude: path.exclude,
            held: Held {
                rate: held,
                priority: spec.holding_priority.min(7),
                links: links.collect(),
                replaced: None,
            },
            ..Constraints::default()
        }
    }
}

/// A rate as messages and advertisements say it.
pub(super) fn signalled(rate: Rate) -> Rate {
    Rate::from_bytes_per_s(rate.as_bytes_per_s())
}

/// Only LSPs in shared-explicit style share what they reserve (RFC 3209, 2.5).
fn shares(spec: &TunnelSpec) -> bool {
    spec.style == ReservationStyle::SharedExplicit
}

impl Rsvp {
    /// A path for the next LSP of a tunnel. Nothing if its hops are to find the way: traffic engineering knows nothing
    /// of its end, and nobody asked for a computed path.
    pub(super) fn find_path(&mut self, index: u32) -> Result<Option<TePath>, NoPath> {
        let held = self.held_by(index);
        let Some(tunnel) = self.tunnels.get_mut(index) else {
            self.counters.faults.note(Fault::NoTunnel);
            return Ok(None);
        };
        let (to, is_wanted) = (tunnel.spec.to, tunnel.spec.path.is_some());
        if let Some(computed) = &mut tunnel.computed {
            (computed.is_without, computed.candidate) = (false, Vec::new());
        }
        let engineering = &mut self.services.engineering;
        if !is_wanted && (engineering.is_empty() || engineering.router_of(to).is_none()) {
            return Ok(None);
        }
        let constraints = tunnel.constraints(held);
        let found = self.next_path(index, &constraints);
        let Some(tunnel) = self.tunnels.get_mut(index) else { return Ok(None) };
        let computed = tunnel.computed.get_or_insert_default();
        computed.is_without = found.is_err();
        computed.candidate = found.as_ref().map_or_else(|_| Vec::new(), |path| path.hops.clone());
        found.map(Some)
    }

    /// What a new LSP of a tunnel asks of its path.
    pub(super) fn constraints_of(&self, index: u32) -> Option<Constraints> {
        let held = self.held_by(index);
        Some(self.tunnels.get(index)?.constraints(held))
    }

    /// What a new LSP of a tunnel shares with the one that carries traffic.
    fn held_by(&self, index: u32) -> Rate {
        let tunnel = self.tunnels.get(index).filter(|tunnel| shares(&tunnel.spec));
        let active = tunnel.and_then(|tunnel| self.store.get(tunnel.active?));
        active.map_or(Rate(0), super::lsp::Lsp::requested_rate)
    }

    /// The first link of a path that was just found does not take the LSP.
    pub(super) fn distrust_first(&mut self, way: &[TeHop], spec: &TunnelSpec, code: u8) {
        if let Some(first) = way.first() {
            self.services.engineering.distrust(
                self.now,
                first.near,
                distrust(code, spec.setup_priority, spec.bandwidth),
            );
        }
    }

    /// An LSP failed: the link where it did is avoided from now on. Was it found?
    pub(super) fn blame(&mut self, index: u32, lsp: u32, why: Loss) -> bool {
        let (router_id, now) = (self.config.router_id, self.now);
        let Some(tunnel) = self.tunnels.get(index) else { return false };
        let Some(computed) = tunnel.computed.as_deref() else { return false };
        let way = match Some(lsp) {
            lsp if lsp == tunnel.candidate => &computed.candidate,
            lsp if lsp == tunnel.active => &computed.active,
            lsp if lsp == computed.standby.lsp => &computed.standby.way,
            // It carried traffic before: nobody minds.
            _ => return false,
        };
        let engineering = &mut self.services.engineering;
        let (place, code) = match why {
            Loss::PortDown => (Some(0), error_code::ROUTING),
            Loss::Error { node, code, value } => {
                let router = engineering.router_of(node);
                let at = way.iter().position(|hop| Some(hop.router) == router);
                let is_head =
                    node == router_id || (router.is_some() && router == engineering.router_of(router_id));
                // Who finds itself in no hop, or is the last, blames the link by which the Path came.
                let is_before = (code, value) == (error_code::ROUTING, routing::BAD_INITIAL_SUBOBJECT)
                    || at.is_some_and(|at| at + 1 == way.len());
                let place = match at {
                    Some(at) if is_before => Some(at),
                    Some(at) => Some(at + 1),
                    None => is_head.then_some(0),
                };
                (place, code)
            }
            Loss::Unheard | Loss::Unanswered | Loss::Misled(_) => return self.avoid_all(index),
            Loss::Torn | Loss::TimedOut | Loss::NotSetUp | Loss::TablesFull => (None, 0),
        };
        let Some(hop) = place.and_then(|place| way.get(place)) else { return false };
        engineering.distrust(
            now,
            hop.near,
            distrust(code, tunnel.spec.setup_priority, tunnel.spec.bandwidth),
        );
        true
    }

    /// Packets are lost somewhere on the path of the LSP that carries traffic: all of its links are avoided if there is
    /// another path without them; else a new LSP may take the same links, with other labels.
    fn avoid_all(&mut self, index: u32) -> bool {
        let (router_id, now) = (self.config.router_id, self.now);
        let held = self.held_by(index);
        let Some(tunnel) = self.tunnels.get(index) else { return false };
        let links: Vec<Ipv4Addr> =
            tunnel.computed.iter().flat_map(|computed| &computed.active).map(|hop| hop.near).collect();
        let mut constraints = tunnel.constraints(held);
        constraints.exclude.extend(&links);
        let engineering = &mut self.services.engineering;
        if engineering.path(now, router_id, tunnel.spec.to, &constraints).is_ok() {
            links.into_iter().for_each(|link| engineering.distrust(now, link, Distrust::Failed));
        }
        true
    }

    /// Something else is known of links: tunnels without an LSP try again, those whose path is broken at once take
    /// another way, and those that want the best path look for it soon.
    pub(super) fn engineering_changed(&mut self, is_lost: bool) {
        let (router_id, now) = (self.config.router_id, self.now);
        for index in self.tunnels.by_priority() {
            self.standby_hears(index, is_lost);
            let Some(tunnel) = self.tunnels.get_mut(index).filter(|tunnel| tunnel.is_computed()) else {
                continue;
            };
            let asked = tunnel.spec.path.as_deref();
            let (follows, reverts) = asked.map_or((false, None), |path| (path.follow, path.revert_after));
            let Some(computed) = tunnel.computed.as_deref_mut() else { continue };
            match tunnel.state {
                TunnelState::Down if computed.is_without && tunnel.retry_at < Time::MAX => {
                    // What changes while a network comes up is no failure of the tunnel.
                    tunnel.failures = tunnel.failures.saturating_sub(1);
                    tunnel.retry_at = tunnel.retry_at.min(now + SOON);
                }
                TunnelState::Up
                    if is_lost && !self.services.engineering.is_whole(router_id, &computed.active) =>
                {
                    // The same news may have broken the standby.
                    let is_standby_whole =
                        self.services.engineering.is_whole(router_id, &computed.standby.way);
                    tunnel.begin_round();
                    tunnel.failures = 0;
                    if !is_standby_whole || !self.promote(index) {
                        self.signal(index);
                    }
                }
                _ if follows && tunnel.state.has_active() => {
                    let at = now + SETTLE;
                    computed.check_at = Some(computed.check_at.map_or(at, |known| known.min(at)));
                }
                // Each change begins the wait anew.
                _ if let Some(wait) = reverts
                    && tunnel.state.has_active() =>
                {
                    computed.check_at = Some(now + wait);
                }
                _ => continue,
            }
            self.arm_tunnel(index);
        }
    }

    /// Looks for a better path, and has the traffic move there.
    pub(super) fn reconsider(&mut self, index: u32) {
        let (router_id, now) = (self.config.router_id, self.now);
        let held = self.held_by(index);
        let Some(tunnel) = self.tunnels.get_mut(index).filter(|tunnel| tunnel.is_computed()) else { return };
        let asked = tunnel.spec.path.as_ref();
        let (again, follows) =
            asked.map_or((None, false), |path| (path.reoptimise, path.follow || path.revert_after.is_some()));
        let reverts = asked.and_then(|path| path.revert_after);
        let constraints = tunnel.constraints(held);
        let Some(computed) = tunnel.computed.as_deref_mut() else { return };
        computed.check_at = again.map(|again| now + again);
        if let Some(wait) = reverts
            && let Some(trusted) = self.services.engineering.trusted_at(now)
        {
            // The best path may be one that is left out for the time being.
            let at = trusted.max(now + wait);
            computed.check_at = Some(computed.check_at.map_or(at, |known| known.min(at)));
        }
        if tunnel.state != TunnelState::Up {
            if follows && tunnel.state.has_active() {
                computed.check_at = Some(now + SETTLE);
            }
            return;
        }
        let Some(path) = self.first_path(index, &constraints) else { return };
        self.exchange_with_standby(index, &constraints, &path);
        let computed = self.tunnels.get(index).and_then(|tunnel| tunnel.computed.as_deref());
        let active = computed.map_or_else(Vec::new, |computed| computed.active.clone());
        let engineering = &mut self.services.engineering;
        let cost = engineering.cost_of(now, router_id, &active, &constraints).filter(|_| !active.is_empty());
        let is_better = cost.is_none_or(|(cost, _)| {
            let [new, old] = [&path.hops, &active].map(|hops| self.is_alone(index, &constraints, hops));
            (new, path.cost, path.hops.len()) < (old, cost, active.len())
        });
        if is_better && let Some(tunnel) = self.tunnels.get_mut(index) {
            tunnel.begin_round();
            tunnel.failures = 0;
            self.signal(index);
        }
    }

    /// Is the LSP that carries a tunnel's traffic what the tunnel asks for, but perhaps not on the best path?
    pub(super) fn is_satisfied(&self, index: u32) -> bool {
        let tunnel = self.tunnels.get(index).filter(|tunnel| tunnel.is_computed());
        // One that is led around a failure is to be moved, however good its path was.
        let tunnel = tunnel.filter(|tunnel| tunnel.repaired.is_none() || tunnel.repaired != tunnel.active);
        let active = tunnel.and_then(|tunnel| Some((tunnel, self.store.get(tunnel.active?)?)));
        active.is_some_and(|(tunnel, lsp)| {
            let spec = &tunnel.spec;
            let asked = (signalled(spec.bandwidth), spec.setup_priority.min(7), spec.holding_priority.min(7));
            (lsp.requested_rate(), lsp.setup_priority, lsp.holding_priority) == asked
        })
    }

    /// Strict hops to the loose one that a route comes to next, or to the end of the tunnel where the route ends before
    /// it (RFC 3209, 4.3.4.1); absent if traffic engineering has nothing to say of it, empty if there is no path.
    pub(super) fn expand(
        &mut self,
        hops: &[EroHop],
        end_point: Ipv4Addr,
        (bandwidth, priority): (Rate, u8),
        affinities: Option<wire::rsvp::Affinities>,
    ) -> Option<Vec<Ipv4Addr>> {
        if self.services.engineering.is_empty() {
            return None;
        }
        let consumed = hops.iter().take_while(|hop| self.links.is_self(&hop.node)).count();
        let to = match hops.get(consumed) {
            Some(&EroHop { loose: true, node: EroSubobject::Ipv4 { address, prefix_length: 32 } }) => address,
            None if consumed > 0 && !self.links.is_own(end_point) => end_point,
            _ => return None,
        };
        let affinities = affinities.map_or_else(Affinities::default, |all| Affinities {
            exclude_any: all.exclude_any,
            include_any: all.include_any,
            include_all: all.include_all,
        });
        // What the route comes to later is not on the way: it would come back there.
        let later = hops.iter().skip(consumed + 1).filter_map(|hop| match hop.node {
            EroSubobject::Ipv4 { address, prefix_length: 32 } => Some(address),
            _ => None,
        });
        let (router_id, engineering) = (self.config.router_id, &mut self.services.engineering);
        let ends = [router_id, to].map(|address| engineering.router_of(address));
        let later = later.chain([end_point]).filter_map(|address| engineering.router_of(address));
        let exclude = later.filter(|router| !ends.contains(&Some(*router))).collect();
        let constraints = Constraints { bandwidth, priority, affinities, exclude, ..Constraints::default() };
        let path = engineering.path(self.now, router_id, to, &constraints);
        match path {
            Ok(path) => Some(path.hops.iter().map(|hop| hop.far).collect()),
            Err(NoPath::Unknown(_)) => None,
            Err(_) => Some(Vec::new()),
        }
    }
}

/// What an error says of the link where it was found, to an LSP of this setup priority and bandwidth.
pub(super) fn distrust(code: u8, priority: u8, bandwidth: Rate) -> Distrust {
    match code {
        error_code::ADMISSION | error_code::POLICY => {
            Distrust::Refused { priority: priority.min(7), rate: signalled(bandwidth) }
        }
        _ => Distrust::Failed,
    }
}
