//! Synchronisation with who finds routes (RFC 5443): a link is to be avoided as long as not all labels are known by it.

use super::Ldp;
use super::session::Session;
use crate::protocol::Context;
use crate::services::Avoidance;
use crate::services::sessions::SessionId;
use base::{PortId, Span, Time};
use wire::ldp::Capabilities;

/// What this router can do beyond RFC 5036.
pub(super) const CAPABILITIES: Capabilities = Capabilities {
    dynamic: Some(true),
    typed_wildcard: Some(true),
    unrecognized_notification: Some(true),
    p2mp: None,
};
/// A neighbour that can say so has not said for so long that it has told all labels, and has told none: it has (RFC
/// 5919, 4.1).
const END_OF_LIB: Span = Span::from_secs(60);

impl Ldp {
    /// Are all labels of all routers known that are heard by a port, and is there one?
    fn is_synchronised(&self, port: PortId) -> bool {
        // Forwarding goes on while LDP restarts (RFC 3478), so that nothing has to be avoided.
        if self.holding_until.is_some() || self.labels.away().values().any(|one| one.ports.contains(&port)) {
            return true;
        }
        let mut all = self.adjacencies.keys().filter(|(at, _)| *at == port).map(|(_, id)| *id).peekable();
        let is_ready = |session: &Session| session.is_operational() && session.is_complete;
        all.peek().is_some()
            && all.all(|id| self.sessions.values().any(|one| one.peer == Some(id) && is_ready(one)))
    }

    /// Says which links are to be avoided.
    pub(super) fn synchronise(&mut self, context: &mut Context<'_>) {
        if !self.config.igp_sync {
            return;
        }
        for port in &self.config.ports {
            let is_ready = self.is_synchronised(*port);
            context.services.avoided.set(Ldp::ID, *port, (!is_ready).then_some(Avoidance::Unready));
        }
    }

    /// A session is established: all labels are known when the neighbour says so, or after some time.
    pub(super) fn await_labels(&mut self, now: Time, id: SessionId) {
        let delay = self.config.igp_sync_delay;
        if let Some(session) = self.sessions.get_mut(&id) {
            let says = session.capabilities.unrecognized_notification == Some(true);
            session.complete_at = now + if says { END_OF_LIB } else { delay };
        }
    }

    /// The neighbour has told a label: it may tell more (RFC 5919, 4.1).
    pub(super) fn await_more(&mut self, now: Time, id: SessionId) {
        let session = self.sessions.get_mut(&id).filter(|session| !session.is_complete);
        if let Some(session) =
            session.filter(|session| session.capabilities.unrecognized_notification == Some(true))
        {
            session.complete_at = now + END_OF_LIB;
        }
    }

    /// The neighbour has told all labels.
    pub(super) fn is_complete(&mut self, now: Time, context: &mut Context<'_>, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.is_complete = true;
        if let Some(peer) = session.peer.filter(|_| session.is_operational()) {
            // RFC 5919, 5.2: what it has not given again by now is gone.
            self.drop_stale(now, context, peer);
        }
    }

    /// Sessions by which nothing more is waited for.
    pub(super) fn complete_due(&mut self, now: Time) {
        let due = |session: &&mut Session| session.is_operational() && session.complete_at <= now;
        self.sessions.values_mut().filter(due).for_each(|session| session.is_complete = true);
    }

    /// When the next session is one of these.
    pub(super) fn complete_timeout(&self) -> Option<Time> {
        if !self.config.igp_sync {
            return None;
        }
        let waits = |session: &&Session| session.is_operational() && !session.is_complete;
        self.sessions.values().filter(waits).map(|session| session.complete_at).min()
    }

    /// A neighbour can do something else than before (RFC 5561, 7). What may stand in an Initialization message only
    /// does not count (RFC 5561, 9, and RFC 5918, 5).
    pub(super) fn capable(&mut self, id: SessionId, said: Capabilities) {
        if let (Some(session), Some(is_on)) = (self.sessions.get_mut(&id), said.unrecognized_notification) {
            session.capabilities.unrecognized_notification = Some(is_on);
        }
    }
}
