//! Hellos, connections, and what comes by them.

use super::Tdp;
use super::session::{Session, SessionState, SessionStep};
use crate::machine::State;
use crate::protocol::{Context, IpArrival, Message, Output, Over};
use crate::services::Services;
use crate::services::distribution::{Attributes, Mapped, Meant, Say};
use crate::services::sessions::{Connect, Options, SessionId, SessionOutput};
use base::{PortId, Span, Time};
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::collections::BTreeSet;
use wire::tdp::{Binding, Element, Hello, TdpId, form};

/// Seconds of a Hello's hold time (observed).
const HELLO_HOLD: u8 = 15;
/// Seconds of a session's hold time (observed).
const SESSION_HOLD: u16 = 180;
/// A session that does not come to be is given up after this. (The draft's time is not known.)
const OPENING: Span = Span::from_secs(15);

/// A router that is heard on a link.
#[derive(Clone, Copy, Debug)]
pub struct Adjacency {
    /// Its end of a session.
    pub transport: Ipv4Addr,
    /// When it is gone if nothing is heard of it until then.
    pub expires: Time,
}

impl Tdp {
    /// Sends Hellos, and forgets who was not heard.
    pub(super) fn discover(&mut self, now: Time, context: &mut Context<'_>) {
        if self.hello_due <= now {
            self.hello_due = now + self.config.hello;
            for port in self.config.ports.clone() {
                self.greet(context.services, port);
            }
            self.connect_all(now, context);
        }
        let silent = self.adjacencies.iter().filter(|(_, one)| one.expires <= now);
        for key in silent.map(|(key, _)| *key).collect::<Vec<_>>() {
            self.part(now, context, key);
        }
    }

    fn greet(&mut self, services: &Services, port: PortId) {
        let Some(interface) = services.interfaces.of_port(port).filter(|interface| interface.up) else {
            return;
        };
        let Some((src, _)) = interface.ipv4() else { return };
        // What the number means is not known; it does not change as long as nothing does.
        let hello = Hello { id: self.id(), number: 0, hold_s: HELLO_HOLD, transport: self.router_id };
        let over = Over::Udp { src: form::PORT, dst: form::PORT };
        let (dst, bytes) = (Ipv4Addr::BROADCAST, hello.emit());
        let message = Message { port, next: None, src, dst, over, ttl: 1, router_alert: false, bytes };
        self.outputs.push_back(Output::Message(message));
    }

    /// Takes a datagram. What is malformed is left out without a word.
    pub(super) fn hear(&mut self, now: Time, context: &mut Context<'_>, ip: &IpArrival, bytes: &[u8]) {
        let Some(hello) = Hello::parse(bytes).ok().filter(|hello| hello.id.0 != self.router_id) else {
            self.ignored += 1;
            return;
        };
        let expires = now + Span::from_secs(i64::from(hello.hold_s));
        let adjacency = Adjacency { transport: hello.transport, expires };
        if self.adjacencies.insert((ip.port, hello.id), adjacency).is_none() {
            self.links(now, context, hello.id);
        }
        self.connect(now, context, hello.id);
    }

    /// The links on which a router is heard are others than before.
    fn links(&mut self, now: Time, context: &mut Context<'_>, id: TdpId) {
        let ports = self.ports_of(id);
        self.labels.heard_on(now, context.services, id, ports);
    }

    fn ports_of(&self, id: TdpId) -> BTreeSet<PortId> {
        self.adjacencies.keys().filter(|(_, known)| *known == id).map(|(port, _)| *port).collect()
    }

    /// A router is heard no more on a link. With the last one its session ends.
    fn part(&mut self, now: Time, context: &mut Context<'_>, key: (PortId, TdpId)) {
        self.adjacencies.remove(&key);
        self.links(now, context, key.1);
        if self.ports_of(key.1).is_empty() {
            let of = self.sessions.values().filter(|session| session.peer == Some(key.1));
            for id in of.map(|session| session.id).collect::<Vec<_>>() {
                self.end(now, context, id);
            }
        }
    }

    /// A port can be used, or can't.
    pub(super) fn interface(&mut self, now: Time, context: &mut Context<'_>, port: PortId, up: bool) {
        if !self.config.ports.contains(&port) {
            return;
        }
        if up {
            return self.greet(context.services, port);
        }
        let there = self.adjacencies.keys().filter(|(at, _)| *at == port);
        for key in there.copied().collect::<Vec<_>>() {
            self.part(now, context, key);
        }
    }

    /// Begins the connections that can be begun.
    pub(super) fn connect_all(&mut self, now: Time, context: &mut Context<'_>) {
        let all: BTreeSet<TdpId> = self.adjacencies.keys().map(|(_, id)| *id).collect();
        all.into_iter().for_each(|id| self.connect(now, context, id));
    }

    /// The router with the higher address connects to the identifier of the other (observed).
    fn connect(&mut self, now: Time, context: &mut Context<'_>, id: TdpId) {
        let known = self.adjacencies.iter().find(|((_, other), _)| *other == id);
        let Some(transport) = known.map(|(_, one)| one.transport) else { return };
        let is_there = self.sessions.values().any(|session| session.peer == Some(id));
        if is_there || self.router_id <= transport || context.services.rib.lookup(transport).is_none() {
            return;
        }
        let to = SocketAddr::new(IpAddr::V4(transport), form::PORT);
        let from = Some(IpAddr::V4(self.router_id));
        let connect = Connect { from, port: None, to, options: Options::default() };
        if let Ok(session) = context.connect(now, connect) {
            self.sessions.insert(session, Session::new(session, true, transport, Some(id)));
        }
    }

    /// A connection is there: both ends say how they want the session (observed).
    pub(super) fn opened(&mut self, now: Time, id: SessionId) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.step(now, SessionStep::Connected);
            session.expires = now + OPENING;
            session.outbox.push(Element::Open { hold_s: SESSION_HOLD });
        }
    }

    /// What sessions are due to do: say something, or end.
    pub(super) fn session_timers(&mut self, now: Time, context: &mut Context<'_>) {
        let due = self.sessions.values().filter(|session| session.expires <= now);
        for id in due.map(|session| session.id).collect::<Vec<_>>() {
            self.end(now, context, id);
        }
        for session in self.sessions.values_mut().filter(|session| session.speak <= now) {
            session.outbox.push(Element::KeepAlive);
        }
    }

    /// Takes a PDU of a session. What makes no sense ends it: no notification is known that would say so.
    pub(super) fn receive(&mut self, now: Time, context: &mut Context<'_>, id: SessionId, pdu: &[u8]) {
        let Ok((from, elements)) = wire::tdp::parse(pdu) else {
            self.ignored += 1;
            return self.end(now, context, id);
        };
        let is_heard = self.adjacencies.keys().any(|(_, known)| *known == from);
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if !is_heard || session.peer.is_some_and(|peer| peer != from) {
            return self.end(now, context, id);
        }
        session.peer = Some(from);
        if session.hold > Span::ZERO {
            session.expires = now + session.hold;
        }
        for element in elements {
            if !self.take(now, context, id, from, element) {
                return self.end(now, context, id);
            }
        }
    }

    /// Takes an element. Does it make sense now?
    fn take(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        id: SessionId,
        from: TdpId,
        element: Element,
    ) -> bool {
        let Some(session) = self.sessions.get_mut(&id) else { return false };
        let is_operational = session.state == SessionState::Operational;
        let services = &mut **context.services;
        match element {
            Element::Open { hold_s } => {
                if hold_s == 0 || !session.step(now, SessionStep::Open) {
                    return false;
                }
                session.hold = Span::from_secs(i64::from(hold_s.min(SESSION_HOLD)));
                session.expires = now + session.hold;
                session.outbox.push(Element::KeepAlive);
            }
            Element::KeepAlive => {
                if !session.step(now, SessionStep::KeepAlive) {
                    return false;
                }
                if !is_operational {
                    self.establish(now, context, id, from);
                }
            }
            Element::Unknown { .. } => self.ignored += 1,
            _ if !is_operational => return false,
            Element::Address(list) => self.labels.addresses(now, services, from, &list, true),
            Element::Bind { bindings, .. } => {
                for Binding { label, prefix } in bindings {
                    let (request, attributes) = (None, Attributes::default());
                    self.labels.mapped(now, services, from, Mapped { prefix, label, request, attributes });
                }
            }
            Element::Withdraw { bindings } => {
                for Binding { label, prefix } in &bindings {
                    let meant = Meant { prefix: Some(*prefix), label: Some(*label) };
                    self.labels.withdrawn(now, services, from, meant);
                }
                if let Some(session) = self.sessions.get_mut(&id) {
                    session.outbox.push(Element::Release { bindings });
                }
            }
            Element::Release { bindings } => {
                for Binding { label, prefix } in bindings {
                    let meant = Meant { prefix: Some(prefix), label: Some(label) };
                    self.labels.released(now, services, from, meant, false);
                }
            }
        }
        true
    }

    /// A session is established: this router tells its addresses and its tags (observed).
    fn establish(&mut self, now: Time, context: &mut Context<'_>, id: SessionId, from: TdpId) {
        let older = self.sessions.values().filter(|one| one.peer == Some(from) && one.id != id);
        for older in older.map(|one| one.id).collect::<Vec<_>>() {
            self.end(now, context, older);
        }
        let ports = &self.config.ports;
        let of = context.services.interfaces.ports().filter(|(port, one)| one.up && ports.contains(port));
        let own = of.filter_map(|(_, one)| Some(one.ipv4()?.0));
        let all = core::iter::once(self.router_id).chain(own).collect();
        if let Some(session) = self.sessions.get_mut(&id) {
            session.outbox.push(Element::Address(all));
        }
        let ports = self.ports_of(from);
        self.labels.begin(now, context.services, from, false, ports);
    }

    /// Puts into sessions what is to be said of tags. Tags that are told one behind the other share a Bind.
    pub(super) fn tell_labels(&mut self) {
        while let Some((key, say)) = self.labels.poll_say() {
            let mut all = self.sessions.values_mut();
            let session = all.find(|one| one.state == SessionState::Operational && one.peer == Some(key));
            let Some(session) = session else { continue };
            let one = |prefix, label| vec![Binding { label, prefix }];
            match say {
                Say::Map { prefix, label, .. } => match session.outbox.last_mut() {
                    Some(Element::Bind { bindings, .. }) => bindings.push(Binding { label, prefix }),
                    _ => session.outbox.push(Element::Bind { request: 0, bindings: one(prefix, label) }),
                },
                Say::Withdraw { prefix, label } => {
                    session.outbox.push(Element::Withdraw { bindings: one(prefix, label) });
                }
                Say::Release { prefix, label, .. } => {
                    session.outbox.push(Element::Release { bindings: one(prefix, label) });
                }
                // Nobody is asked, so nothing is taken back or refused.
                Say::Request { .. }
                | Say::Abort { .. }
                | Say::Refuse { .. }
                | Say::LabelsAvailable
                | Say::Complete => {}
            }
        }
    }

    /// Ends a session, without a word: the connection says it.
    pub(super) fn end(&mut self, now: Time, context: &mut Context<'_>, id: SessionId) {
        self.forget(now, context, id);
        self.outputs.push_back(Output::Session(id, SessionOutput::Close));
    }

    /// Forgets a session and all that was learnt by it.
    pub(super) fn forget(&mut self, now: Time, context: &mut Context<'_>, id: SessionId) {
        let Some(session) = self.sessions.remove(&id) else { return };
        if session.state == SessionState::Operational
            && let Some(peer) = session.peer
        {
            self.labels.end(now, context.services, peer);
        }
    }
}

impl Session {
    /// Takes a step; false where there is none.
    fn step(&mut self, now: Time, step: SessionStep) -> bool {
        let next = self.state.next(step);
        if let Some(next) = next.filter(|next| *next != self.state) {
            (self.state, self.since) = (next, now);
        }
        next.is_some()
    }
}
