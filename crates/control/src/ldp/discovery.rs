//! Neighbours are found by Hellos and lost without them (RFC 5036, 2.4 and 3.5.2), and sessions with them are begun
//! (2.5.2) and end.

use super::said::key_of;
use super::session::{Session, SessionState, SessionStep};
use super::sync::CAPABILITIES;
use super::{Event, INITIALIZATION, Ldp, cells};
use crate::machine::State;
use crate::protocol::{Context, IpArrival, Message, Output, Over};
use crate::services::Services;
use crate::services::distribution::LabelAdvertisement;
use crate::services::sessions::{Closed, Connect, Options, SessionId, SessionOutput};
use base::{PortId, Span, Time};
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::collections::BTreeSet;
use wire::ldp::{
    ALL_ROUTERS, Addresses, Body, Capabilities, DEFAULT_MAX_PDU, Header, Hello, Initialization, LdpId,
    Notice, PORT, Status, VERSION,
};

/// Seconds of a hold time that is given as the usual one (RFC 5036, 3.5.2).
const USUAL_HOLD: u16 = 15;
/// A hold time without end (RFC 5036, 3.5.2).
pub(super) const FOR_EVER: u16 = u16::MAX;
/// A connection after a refused Initialization waits so long at least (RFC 5036, 2.5.3).
const BACKOFF_LEAST: Span = Span::from_secs(15);
/// Waiting grows up to this (RFC 5036, 2.5.3).
const BACKOFF_MOST: Span = Span::from_secs(120);

/// A router that is heard on a link.
#[derive(Clone, Debug)]
pub struct Adjacency {
    /// The source of its Hellos.
    pub address: Ipv4Addr,
    /// Its end of a session.
    pub transport: Ipv4Addr,
    /// Seconds without a Hello until it is gone: the smaller of what both have said.
    pub hold_s: u16,
    /// When that is.
    pub expires: Time,
    /// Does it check the time to live (RFC 6720)?
    pub gtsm: bool,
    /// Does it want targeted Hellos (RFC 5036, 3.5.2)?
    pub wants_answer: bool,
}

/// What is kept of a router beyond its sessions.
#[derive(Clone, Debug, Default)]
pub struct Peer {
    /// How long the next connection waits if this one is refused.
    pub backoff: Span,
    /// No connection is begun before.
    pub retry: Time,
    /// Its configuration as it numbers it.
    pub configuration: Option<u32>,
}

/// How a connection ended, in words.
pub(super) fn ended(why: Closed) -> &'static str {
    match why {
        Closed::Done => "connection closed",
        Closed::Reset => "connection reset",
        Closed::Refused => "connection refused",
        Closed::TimedOut => "connection timed out",
    }
}

impl Ldp {
    /// How TCP to an address behaves: RFC 6720, 2.3.
    pub(super) fn options(&self, remote: Ipv4Addr) -> Options {
        let gtsm = self.adjacencies.values().any(|one| one.transport == remote && one.gtsm);
        let ttl_min = if gtsm && self.config.gtsm { 255 } else { 0 };
        let timeout = Some(Span::from_secs(i64::from(self.config.keepalive_s.max(30))));
        Options { ttl: 255, ttl_min, timeout, key: self.config.key, ..Options::default() }
    }

    /// Sends Hellos, and forgets who was not heard.
    pub(super) fn discover(&mut self, now: Time, context: &mut Context<'_>) {
        if self.hello_due <= now {
            self.hello_due = now + self.hello_interval();
            for port in self.config.ports.iter().copied().collect::<Vec<_>>() {
                self.greet(context.services, port);
            }
        }
        let silent = self.adjacencies.iter().filter(|(_, one)| one.expires <= now);
        for key in silent.map(|(key, _)| *key).collect::<Vec<_>>() {
            self.part(now, context, key);
        }
    }

    /// The time between two Hellos: as configured, or a third of the shortest hold time that a neighbour goes by if
    /// that is less (RFC 5036, 3.5.2).
    fn hello_interval(&self) -> Span {
        let holds = self.adjacencies.values().map(|one| one.hold_s).filter(|hold| *hold != FOR_EVER);
        let third = holds.min().map(|hold| Span::from_ms(i64::from(hold) * 1000 / 3));
        third.map_or(self.config.hello, |third| third.min(self.config.hello))
    }

    fn greet(&mut self, services: &Services, port: PortId) {
        let Some(interface) = services.interfaces.of_port(port).filter(|interface| interface.up) else {
            return;
        };
        let Some((src, _)) = interface.ipv4() else { return };
        let hello = Hello {
            hold_s: self.config.hold_s,
            is_targeted: false,
            wants_targeted: false,
            gtsm: self.config.gtsm,
            transport: Some(self.router_id),
            transport6: None,
            configuration: None,
        };
        self.hellos = self.hellos.wrapping_add(1).max(1);
        let hello = wire::ldp::Message::new(self.hellos, Body::Hello(hello));
        for bytes in wire::ldp::pdus(self.id_at(port), [&hello], DEFAULT_MAX_PDU) {
            let (dst, over) = (ALL_ROUTERS, Over::Udp { src: PORT, dst: PORT });
            let message = Message { port, next: None, src, dst, over, ttl: 1, router_alert: false, bytes };
            self.outputs.push_back(Output::Message(message));
        }
    }

    /// Takes a datagram. What is malformed is left out without a word (RFC 5036, 3.5.1.2.1), and so is what is not for
    /// this router.
    pub(super) fn hear(&mut self, now: Time, context: &mut Context<'_>, ip: &IpArrival, bytes: &[u8]) {
        let read = || {
            let header = Header::parse(bytes, DEFAULT_MAX_PDU).ok()?;
            let raw = wire::ldp::messages(bytes, header).next()?.ok()?;
            match wire::ldp::Message::parse(&raw).ok()??.body {
                Body::Hello(hello) => Some((header.id, hello)),
                _ => None,
            }
        };
        let Some((id, hello)) = read().filter(|(id, hello)| self.may_be_heard(ip, *id, hello)) else {
            self.ignored += 1;
            return;
        };
        let has_moved = if hello.is_targeted {
            if !self.hear_far(now, context, ip, id, &hello) {
                self.ignored += 1;
                return;
            }
            false
        } else if ip.dst == ALL_ROUTERS {
            self.hear_near(now, ip, id, &hello)
        } else {
            self.ignored += 1;
            return;
        };
        let peer = self.peers.entry(id).or_default();
        if core::mem::replace(&mut peer.configuration, hello.configuration) != hello.configuration {
            // RFC 5036, 3.5.2.1: somebody has configured it anew.
            (peer.backoff, peer.retry) = (Span::ZERO, Time::ZERO);
        }
        self.is_watch_due |= has_moved;
        if has_moved {
            // Labels of a session that there is may lead by this link, too.
            self.update_links(now, context, id);
            self.update_tree_links(context.services, id);
        }
        self.connect(now, context, id);
    }

    /// Takes a Hello of a link (RFC 5036, 2.4.1). Is the router new there, or has it another address?
    fn hear_near(&mut self, now: Time, ip: &IpArrival, id: LdpId, hello: &Hello) -> bool {
        let usual = |hold: u16| if hold == 0 { USUAL_HOLD } else { hold };
        let hold_s = usual(hello.hold_s).min(usual(self.config.hold_s));
        let expires = match hold_s {
            FOR_EVER => Time::MAX,
            seconds => now + Span::from_secs(i64::from(seconds)),
        };
        let transport = hello.transport.unwrap_or(ip.src);
        let (address, gtsm, wants_answer) = (ip.src, hello.gtsm, false);
        let adjacency = Adjacency { address, transport, hold_s, expires, gtsm, wants_answer };
        self.bridged.remove(&(ip.port, id));
        let before = self.adjacencies.insert((ip.port, id), adjacency);
        self.hello_due = self.hello_due.min(now + self.hello_interval());
        before.is_none_or(|before| before.address != address)
    }

    /// A port can be used, or can't: its neighbours, and addresses that others know.
    pub(super) fn interface(&mut self, now: Time, context: &mut Context<'_>, port: PortId, up: bool) {
        if !self.config.ports.contains(&port) {
            return;
        }
        if up {
            self.greet(context.services, port);
        } else {
            let there = self.adjacencies.keys().filter(|(at, _)| *at == port);
            for key in there.copied().collect::<Vec<_>>() {
                self.part(now, context, key);
            }
        }
        let interface = context.services.interfaces.of_port(port);
        if let Some((address, _)) = interface.and_then(crate::services::Interface::ipv4) {
            let list = Addresses::V4(vec![address]);
            let body = if up { Body::Address(list) } else { Body::AddressWithdraw(list) };
            let all = self.sessions.values_mut().filter(|session| session.is_operational());
            all.for_each(|session| session.say(body.clone()));
        }
    }

    /// The links on which a router is heard.
    pub(super) fn ports_of(&self, peer: LdpId) -> BTreeSet<PortId> {
        self.adjacencies.keys().filter(|(_, id)| *id == peer).map(|(port, _)| *port).collect()
    }

    /// A router is heard no more on a link.
    pub(super) fn part(&mut self, now: Time, context: &mut Context<'_>, key: (PortId, LdpId)) {
        let adjacency = self.adjacencies.remove(&key);
        self.is_watch_due = true;
        self.update_tree_links(context.services, key.1);
        if self.is_heard(key.1) || !self.is_kept(key.1) {
            self.update_links(now, context, key.1);
        }
        self.part_from(now, context, key.1);
        if let Some(adjacency) = adjacency {
            self.bridge(key, adjacency.address);
        }
    }

    /// A router is heard less than before: if it is not heard any more, its session ends (RFC 5036, 2.5.5).
    pub(super) fn part_from(&mut self, now: Time, context: &mut Context<'_>, id: LdpId) {
        if self.is_heard(id) {
            return;
        }
        self.peers.remove(&id);
        let of = |session: &&Session| session.peer == Some(id);
        for id in self.sessions.values().filter(of).map(|session| session.id).collect::<Vec<_>>() {
            self.end(
                now,
                context,
                id,
                SessionStep::Timeout,
                Body::notify(Notice::new(Status::HoldTimerExpired)),
            );
        }
    }

    /// Begins the connections that can be begun.
    pub(super) fn connect_all(&mut self, now: Time, context: &mut Context<'_>) {
        let is_due = |(_, peer): &(&LdpId, &Peer)| peer.retry <= now;
        let alone = self.peers.iter().filter(is_due).filter(|(id, _)| !self.has_session(**id));
        for id in alone.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.connect(now, context, id);
        }
    }

    /// Is there a session with a router, or its beginning?
    fn has_session(&self, id: LdpId) -> bool {
        self.sessions.values().any(|session| session.peer == Some(id))
    }

    /// Begins a connection to a router that has none, if this end is to (RFC 5036, 2.5.2).
    fn connect(&mut self, now: Time, context: &mut Context<'_>, id: LdpId) {
        if self.has_session(id) {
            return;
        }
        let (Some(transport), Some(peer)) = (self.transport_of(id), self.peers.get(&id)) else { return };
        if self.router_id <= transport || peer.retry > now {
            return;
        }
        if context.services.rib.lookup(transport).is_none() {
            return;
        }
        let (from, to) = (Some(IpAddr::V4(self.router_id)), SocketAddr::new(IpAddr::V4(transport), PORT));
        let connect = Connect { from, port: None, to, options: self.options(transport) };
        if let Ok(session) = context.connect(now, connect) {
            let session = Session::new(session, true, transport, self.own_for(id), Some(id));
            self.sessions.insert(session.id, session);
        }
    }

    /// This router's connection is there: it says how it wants the session.
    pub(super) fn connected(&mut self, now: Time, id: SessionId) {
        let Some(peer) = self.sessions.get(&id).and_then(|session| session.peer) else { return };
        let initialization = self.initialization(now, peer);
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.step(now, SessionStep::Connected);
        session.expires = now + INITIALIZATION;
        session.say(initialization);
        session.step(now, SessionStep::InitSent);
    }

    /// Another router's connection is there: it speaks first.
    pub(super) fn accepted(&mut self, now: Time, id: SessionId, remote: SocketAddr) {
        let IpAddr::V4(remote) = remote.ip() else { return };
        let mut session = Session::new(id, false, remote, self.id(), None);
        session.step(now, SessionStep::Connected);
        session.expires = now + INITIALIZATION;
        self.sessions.insert(id, session);
    }

    /// What sessions are due to do: say something, or end.
    pub(super) fn session_timers(&mut self, now: Time, context: &mut Context<'_>) {
        let due = self.sessions.values().filter(|session| session.expires <= now);
        for id in due.map(|session| session.id).collect::<Vec<_>>() {
            let said = Body::notify(Notice::new(Status::KeepAliveTimerExpired));
            self.end(now, context, id, SessionStep::Timeout, said);
        }
        for session in self.sessions.values_mut().filter(|session| session.speak <= now) {
            session.say(Body::KeepAlive);
        }
    }

    /// Ends a session with a Notification (RFC 5036, 3.5.1.1).
    pub(super) fn end(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        id: SessionId,
        step: SessionStep,
        said: Body,
    ) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let status = match said {
            Body::Notification { notice, .. } => Status::of(notice.code),
            _ => None,
        };
        if session.state != SessionState::NonExistent {
            session.say(said);
            Ldp::send(now, session, &mut self.outputs);
            session.step(now, step);
        }
        let words = status.map_or("an unknown status", Status::words);
        self.forget(now, context, id, words);
        self.outputs.push_back(Output::Session(id, SessionOutput::Close));
    }

    /// The connection of a session has ended.
    pub(super) fn lose(&mut self, now: Time, context: &mut Context<'_>, id: SessionId, why: &str) {
        if let Some(session) = self.sessions.get_mut(&id).filter(|one| one.state != SessionState::NonExistent)
        {
            session.step(now, SessionStep::Ended);
        }
        self.forget(now, context, id, why);
    }

    /// Forgets a session and all that was learnt by it.
    fn forget(&mut self, now: Time, context: &mut Context<'_>, id: SessionId, why: &str) {
        let Some(session) = self.sessions.remove(&id) else { return };
        let was_operational = session.was_operational;
        let why = why.to_string();
        match session.peer.filter(|_| was_operational) {
            Some(peer) => self.event(Event::LdpSessionDown { router_id: peer.router, why }),
            None => {
                // RFC 5036, 2.5.3: 15 s at least, and then ever longer, up to two minutes.
                let peer =
                    session.peer.filter(|_| session.was_refused).and_then(|peer| self.peers.get_mut(&peer));
                if let Some(peer) = peer {
                    peer.backoff = Span(peer.backoff.0 * 2).clamp(BACKOFF_LEAST, BACKOFF_MOST);
                    peer.retry = now + peer.backoff;
                }
                self.event(Event::LdpRefused { remote: session.remote, why });
            }
        }
        if let Some(peer) = session.peer.filter(|_| was_operational) {
            // RFC 3478 is about prefixes: LSPs with several ends are not kept.
            self.multipoint.end(context.services, key_of(peer));
            match self.keeps_for(&session) {
                Some(time) => self.keep(now, context, peer, time),
                None => {
                    self.labels.end(now, context.services, key_of(peer));
                    self.vcs.iter_mut().for_each(|vcs| vcs.end(context.services, key_of(peer)));
                }
            }
        }
    }

    /// How this router wants a session (RFC 5036, 3.5.3).
    pub(super) fn initialization(&self, now: Time, receiver: LdpId) -> Body {
        let (config, cells) = (&self.config, self.cells_of(receiver));
        Body::Initialization(Initialization {
            version: VERSION,
            keepalive_s: config.keepalive_s,
            // RFC 3035, 8: labels that are channels are given on demand.
            on_demand: cells.is_some() || config.advertise == LabelAdvertisement::OnDemand,
            loop_detection: config.loop_detection,
            // RFC 5036, 3.5.3: zero without loop detection.
            path_limit: if config.loop_detection { config.hops_max } else { 0 },
            max_pdu: DEFAULT_MAX_PDU,
            receiver,
            atm: cells.map(|(_, cells)| cells::session_of(&cells).emit()),
            frame_relay: None,
            // RFC 3478, 1: it is about labels that are told unasked.
            restart: self.ft_session(now, receiver).filter(|_| cells.is_none()),
            capabilities: Capabilities { p2mp: self.takes_trees(receiver).then_some(true), ..CAPABILITIES },
        })
    }
}

impl Session {
    /// Takes a step; false where there is none.
    pub(super) fn step(&mut self, now: Time, step: SessionStep) -> bool {
        match self.state.next(step) {
            Some(next) => {
                if next != self.state {
                    (self.state, self.since) = (next, now);
                }
                true
            }
            None => false,
        }
    }
}
