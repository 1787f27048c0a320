//! Sessions between the node's segments, the control processor and the protocols.

use super::{ControlPlane, From, Waiting};
use crate::processor::Queue;
use crate::protocol::Direction;
use crate::services::sessions::{Heard, Pending, Segment, SessionEvent, SessionId, Trouble};
use base::Time;
use core::net::IpAddr;

impl ControlPlane {
    /// Hands a message of a session to its protocol, behind what happened to the session before.
    pub(super) fn handle_received(&mut self, now: Time, session: SessionId, waiting: &Waiting) {
        while self.tell(now) {}
        if self.services.sessions.is_open(session) {
            let event = SessionEvent::Received(waiting.message());
            self.call(waiting.owner, |protocol, context| {
                protocol.handle_session(now, context, session, event)
            });
        }
        self.services.sessions.handled(session);
    }

    /// Puts what sessions have received in the queue of the control processor, a message of each at a time. What finds
    /// no room there stays where it is: the other end's window closes.
    pub(super) fn offer_received(&mut self, now: Time) {
        if self.services.sessions.is_quiet() {
            return;
        }
        self.quiet = false;
        self.services.sessions.flush(now);
        while self.processor.has_room(Queue::Local)
            && let Some((owner, session)) = self.services.sessions.poll_readable()
        {
            let Some(speaker) = self.speakers.get_mut(usize::from(owner.0)) else { continue };
            let protocol = &*speaker.protocol;
            let message = self.services.sessions.take_message(session, |stream| protocol.message_len(stream));
            let Some(frame) = message else { continue };
            let kind = speaker.protocol.kind_of(&frame);
            speaker.messages.count(now, Direction::Received, kind);
            let end = frame.len();
            let waiting = Waiting { owner, kind, from: From::Session(session), frame, start: 0, end };
            // There is room.
            let _ = self.processor.offer(Queue::Local, waiting);
        }
    }

    /// Tells a protocol the next thing that happened to a session of it: was there any?
    pub(super) fn tell(&mut self, now: Time) -> bool {
        let Some((owner, session, pending)) = self.services.sessions.poll_event() else { return false };
        let event = match pending {
            Pending::Connected => SessionEvent::Connected,
            Pending::Accepted { local, remote } => SessionEvent::Accepted { local, remote },
            Pending::Writable => SessionEvent::Writable,
            Pending::PeerClosed => SessionEvent::PeerClosed,
            Pending::Closed(why) => SessionEvent::Closed(why),
        };
        self.call(owner, |protocol, context| protocol.handle_session(now, context, session, event));
        self.tell_changes(now);
        true
    }

    /// Takes a TCP segment that was addressed to the node. What it brings for protocols waits for the control
    /// processor.
    pub fn handle_segment(&mut self, now: Time, segment: &Segment<'_>) -> Heard {
        self.quiet = false;
        let speakers = &self.speakers;
        let heard = self.services.sessions.segment(now, segment, |owner, local, remote| {
            let speaker = speakers.get(usize::from(owner.0)).filter(|speaker| speaker.down_until.is_none());
            speaker.and_then(|speaker| speaker.protocol.accepts(local, remote))
        });
        self.offer_received(now);
        heard
    }

    /// Takes note of an ICMP error about a TCP segment from this node, whose first eight bytes are quoted: was it one
    /// that the node has sent?
    pub fn handle_trouble(
        &mut self,
        now: Time,
        (local, remote): (IpAddr, IpAddr),
        quote: &[u8],
        what: Trouble,
    ) -> bool {
        self.quiet = false;
        self.services.sessions.trouble(now, (local, remote), quote, what)
    }

    /// Does the node have TCP: has a protocol listened or connected?
    pub fn has_tcp(&self) -> bool {
        self.services.sessions.has_tcp()
    }
}
