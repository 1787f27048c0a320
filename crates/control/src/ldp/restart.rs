//! Restarts while forwarding goes on (RFC 3478): of LDP here (3.1), and of neighbours (3.3).

use super::Ldp;
use super::said::key_of;
use super::session::Session;
use crate::protocol::Context;
use crate::services::label_vcs::LabelVcs;
use crate::services::sessions::SessionId;
use base::{Span, Time};
use wire::ldp::{FtSession, LdpId};

/// How long what is kept over restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Graceful {
    /// FT Reconnect Timeout: neighbours wait so long for a new session.
    pub reconnect: Span,
    /// MPLS Forwarding State Holding timer: entries from before a restart stay so long.
    pub hold: Span,
    /// Neighbor Liveness Timer: a new session is waited for so long at most.
    pub liveness: Span,
    /// Maximum Recovery Time: labels from before a neighbour's restart stay so long at most.
    pub recovery_max: Span,
}

fn milliseconds(span: Span) -> u32 {
    u32::try_from(span.0 / Span::from_ms(1).0).unwrap_or(u32::MAX)
}

fn span(milliseconds: u32) -> Span {
    Span::from_ms(i64::from(milliseconds))
}

impl Ldp {
    /// What an Initialization message says of restarts (RFC 3478, 2).
    pub(super) fn ft_session(&self, now: Time, to: LdpId) -> Option<FtSession> {
        let graceful = self.config.graceful?;
        let recovery = match self.holding_until {
            // RFC 3478, 3.1: what is left of the timer.
            Some(until) => until - now,
            // Only the session was lost, so that all labels mean what they meant. A router that has lost its entries
            // has met nobody.
            None if self.met.contains(&to) => graceful.hold,
            None => Span::ZERO,
        };
        let (reconnect_ms, recovery_ms) = (milliseconds(graceful.reconnect), milliseconds(recovery));
        Some(FtSession { learns: true, reconnect_ms, recovery_ms })
    }

    /// How long the labels of a session are kept when it ends; nothing if they are not. RFC 3478 is about labels that
    /// are told unasked (1).
    pub(super) fn keeps_for(&self, session: &Session) -> Option<Span> {
        let (graceful, restart) = (self.config.graceful?, session.restart?);
        let time = span(restart.reconnect_ms).min(graceful.liveness);
        (session.was_operational && !session.on_demand && time > Span::ZERO).then_some(time)
    }

    /// Are the labels of a neighbour kept when its session ends?
    pub(super) fn is_kept(&self, id: LdpId) -> bool {
        let of = |session: &&Session| session.peer == Some(id);
        self.sessions.values().filter(of).any(|session| self.keeps_for(session).is_some())
    }

    /// The session with a neighbour is lost: its labels stay for a while (RFC 3478, 3.3).
    pub(super) fn keep(&mut self, now: Time, context: &mut Context<'_>, peer: LdpId, time: Span) {
        self.labels.suspend(now, context.services, key_of(peer));
        self.stale_until.insert(peer, now + time);
    }

    /// A neighbour has a session again: labels that it gave before stay for a while, if it has kept its entries (RFC
    /// 3478, 3.3).
    pub(super) fn resume(&mut self, now: Time, context: &mut Context<'_>, id: SessionId, peer: LdpId) {
        self.met.insert(peer);
        let restart = self.sessions.get(&id).and_then(|session| session.restart);
        let recovery = restart.map_or(Span::ZERO, |restart| span(restart.recovery_ms));
        if let (Some(graceful), Some(restart)) = (self.config.graceful, restart) {
            // RFC 3478, 3.3: a label that is free is not used again for the sum of both.
            self.labels.rest_for(span(restart.reconnect_ms) + recovery.max(Span::ZERO));
            if recovery > Span::ZERO && self.stale_until.contains_key(&peer) {
                self.stale_until.insert(peer, now + recovery.min(graceful.recovery_max));
                return;
            }
        }
        self.drop_stale(now, context, peer);
    }

    /// What a neighbour gave before its restart and not since is gone.
    pub(super) fn drop_stale(&mut self, now: Time, context: &mut Context<'_>, peer: LdpId) {
        if self.stale_until.remove(&peer).is_some() {
            self.bridged.retain(|(_, id), _| *id != peer);
            self.is_watch_due = true;
            let ports = self.ports_of(peer);
            self.labels.drop_stale(now, context.services, key_of(peer), ports);
        }
    }

    /// LDP has restarted, and nothing else of the node: what it was told is forgotten, entries are as they were.
    pub(super) fn begin_anew(&mut self, now: Time) {
        let fresh = Ldp::new(self.router_id, self.config.clone());
        let before = core::mem::replace(self, fresh);
        self.labels = before.labels;
        self.labels.restart();
        self.multipoint = before.multipoint;
        self.vcs = before.vcs;
        self.vcs.iter_mut().for_each(LabelVcs::restart);
        let hold = self.config.graceful.map_or(Span::ZERO, |graceful| graceful.hold);
        self.holding_until = Some(now + hold);
        self.bridged = before.bridged;
        self.bridged.extend(before.adjacencies.into_iter().map(|(key, adjacency)| (key, adjacency.address)));
    }

    /// Drops what was kept for long enough.
    pub(super) fn restarts_due(&mut self, now: Time, context: &mut Context<'_>) {
        if self.holding_until.is_some_and(|until| until <= now) {
            self.holding_until = None;
            self.bridged.retain(|(_, id), _| self.stale_until.contains_key(id));
            self.is_watch_due = true;
            self.labels.end_restart(now, context.services);
        }
        let due = self.stale_until.iter().filter(|(_, until)| **until <= now).map(|(id, _)| *id);
        due.collect::<Vec<_>>().into_iter().for_each(|id| self.drop_stale(now, context, id));
    }

    /// When something was kept for long enough.
    pub(super) fn restarts_timeout(&self) -> Option<Time> {
        Time::earliest([self.holding_until, self.stale_until.values().min().copied()])
    }
}
