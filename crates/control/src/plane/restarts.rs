//! Restarts: of the node, which loses all that it has learnt, and of one protocol, while the rest goes on.

use super::ControlPlane;
use crate::owner::Owner;
use crate::protocol::{Change, Context};
use crate::services::Services;
use crate::unheard::Unheard;
use base::{ProtocolId, Span, Time};

impl ControlPlane {
    /// The node restarts: what waits and what was learnt is lost, and each protocol begins anew with what was
    /// configured. All routes are written again.
    pub fn restart(&mut self, now: Time) {
        self.quiet = false;
        self.processor.clear();
        self.direct.clear();
        self.services.restart();
        let Services { rib, rib6, bindings, .. } = &mut *self.services;
        rib.forget_changes();
        rib6.forget_changes();
        self.routes.again(rib, rib6, bindings);
        self.speakers.iter_mut().for_each(|speaker| speaker.down_until = None);
        self.each(|protocol, context| protocol.handle_change(now, context, &Change::Restart));
        self.tell_changes(now);
    }

    /// One protocol restarts: it is silent for a while, and its connections are reset at once. What it has written
    /// stands. A protocol that is not spoken, or cannot be restarted alone, is counted as a command that nobody knows.
    pub fn restart_protocol(&mut self, now: Time, protocol: ProtocolId, down_for: Span) {
        let can = |id, alone| id == protocol && alone;
        let at = self
            .speakers
            .iter()
            .position(|speaker| can(speaker.protocol.id(), speaker.protocol.restarts_alone()));
        let Some(at) = at else { return self.unheard.count(Unheard::Command) };
        self.quiet = false;
        self.services.sessions.reset_all(now, Owner(at as u8));
        self.speakers[at].down_until = Some(now + down_for);
        self.end_restarts(now);
    }

    /// Protocols that were silent for as long as they were to be begin anew.
    pub(super) fn end_restarts(&mut self, now: Time) {
        let is_over = |down: Option<Time>| down.is_some_and(|until| until <= now);
        if !self.speakers.iter().any(|speaker| is_over(speaker.down_until)) {
            return;
        }
        self.quiet = false;
        for (owner, speaker) in (0u8..).map(Owner).zip(&mut self.speakers) {
            if is_over(speaker.down_until) {
                speaker.down_until = None;
                self.awake.insert(owner);
                let mut context = Context { services: &mut self.services, owner };
                speaker.protocol.handle_change(now, &mut context, &Change::RestartAlone);
            }
        }
        self.tell_changes(now);
    }
}
