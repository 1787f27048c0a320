//! Greet, a made-up protocol: an example for developers of what a new protocol takes, run by tests under both clocks.
//!
//! Routers say Hello to a group on every link, and answer a Hello of somebody new with a Welcome. A neighbour gets a
//! label of this router, which it is told over a TCP connection: the one with the smaller router id connects. A route
//! leads to the neighbour's router id by the link, and what comes with the label that the neighbour was given ends
//! here.
//!
//! - [`section`](Section): the settings that users write, `greet: {}`
//! - `neighbor`: what is known of a neighbour, as a state machine
//! - `shown`: its table

mod neighbor;
mod section;
mod shown;
#[cfg(test)]
mod tests;

pub use neighbor::State;
pub use section::GreetSpec;

use crate::protocol::{
    Arrival, Change, Context, Known, Listen, Message, Output, Over, Protocol, Setup, Topic, UNKNOWN_KIND,
};
use crate::services::sessions::{Connect, Options, SessionEvent, SessionId, SessionOutput};
use crate::services::{LabelSpace, Route, Services, Source};
use base::describe::SectionDecl;
use base::plane::{
    Ack, Batch, LabelStack, NextHop, Nhlfe, Prefix, TableOp, TcSource, TransactionId, TtlModel,
};
use base::{Label, PortId, ProtocolId, ProtocolType, ProtocolValue, Span, Time};
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use neighbor::{Action, Neighbor, Seen};
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};
use wire::greet::{GROUP, Kind, LEN, PORT, Repr};

/// How good its routes are: worse than those of any routing protocol.
const PREFERENCE: u8 = 250;

/// What greet tells the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A neighbour is heard that was not known.
    GreetMet {
        /// The router id that the neighbour sends in its hellos.
        router_id: Ipv4Addr,
    },
    /// A neighbour was not heard for as long as it had said, or its link is down.
    GreetLost {
        /// The router id of the neighbour that is gone.
        router_id: Ipv4Addr,
    },
}

impl ProtocolType for Event {
    const PROTOCOL: ProtocolId = Greet::ID;
}

/// A speaker of greet.
#[derive(Debug)]
pub struct Greet {
    router_id: Ipv4Addr,
    spec: GreetSpec,
    /// When the next Hello is due.
    due: Time,
    neighbors: BTreeMap<Ipv4Addr, Neighbor>,
    sessions: BTreeMap<SessionId, Option<Ipv4Addr>>,
    /// Labels that are free when their entries have gone, by transaction.
    leaving: BTreeMap<u64, Label>,
    transaction: u64,
    /// Messages that could not be read.
    malformed: u64,
    outputs: VecDeque<Output>,
}

impl Greet {
    /// The name of greet among protocols.
    pub const ID: ProtocolId = ProtocolId::new("greet");

    /// Greet among the protocols that there are.
    pub const KNOWN: Known = Known {
        id: Greet::ID,
        kind_name: Greet::name_of,
        views: shown::VIEWS,
        section: Some(SectionDecl::of::<GreetSpec>("Greet, a made-up protocol: an example for developers.")),
    };

    fn new(router_id: Ipv4Addr, spec: GreetSpec) -> Greet {
        Greet {
            router_id,
            spec,
            due: Time::ZERO,
            neighbors: BTreeMap::new(),
            sessions: BTreeMap::new(),
            leaving: BTreeMap::new(),
            transaction: 0,
            malformed: 0,
            outputs: VecDeque::new(),
        }
    }

    fn name_of(kind: u8) -> &'static str {
        Kind::of(kind).map_or(UNKNOWN_KIND, Kind::name)
    }

    fn repr(&self, kind: Kind, label: Option<Label>) -> Vec<u8> {
        let hold = Span(self.spec.interval.0.saturating_mul(i64::from(self.spec.missed) + 1));
        let hold_ms = u16::try_from(hold.0 / 1_000_000_000).unwrap_or(u16::MAX).max(1);
        Repr { kind, hold_ms, router_id: self.router_id, label }.emit().to_vec()
    }

    fn say(&mut self, services: &Services, port: PortId, dst: Ipv4Addr, kind: Kind) {
        let Some((src, _)) = services.interfaces.of_port(port).and_then(|interface| interface.ipv4()) else {
            return;
        };
        let next = (!dst.is_multicast()).then_some(dst);
        let bytes = self.repr(kind, None);
        let over = Over::Udp { src: PORT, dst: PORT };
        let message = Message { port, next, src, dst, over, ttl: 1, router_alert: false, bytes };
        self.outputs.push_back(Output::Message(message));
    }

    fn event(&mut self, event: Event) {
        self.outputs.push_back(Output::Event(base::Event::Protocol(ProtocolValue::new(event))));
    }

    fn write(&mut self, op: TableOp) -> u64 {
        self.transaction += 1;
        let transaction = TransactionId(self.transaction);
        self.outputs.push_back(Output::Tables(Batch { transaction, ops: vec![op], barrier: false }));
        self.transaction
    }

    /// Something was seen of a neighbour: does what its state machine says.
    fn seen(&mut self, now: Time, context: &mut Context<'_>, router_id: Ipv4Addr, seen: Seen) {
        let Some(neighbor) = self.neighbors.get_mut(&router_id) else { return };
        for action in neighbor.step(seen) {
            match action {
                Action::Meet => self.meet(now, context, router_id),
                Action::Tell => self.tell(router_id),
                Action::Forget => self.forget(context, router_id),
            }
        }
    }

    fn meet(&mut self, now: Time, context: &mut Context<'_>, router_id: Ipv4Addr) {
        let label = context.services.labels.allocate(LabelSpace::Platform, Greet::ID);
        let Some(neighbor) = self.neighbors.get_mut(&router_id) else { return };
        neighbor.label = label;
        let (port, address) = (neighbor.port, neighbor.address);
        let next_hop = NextHop::Via { port, gateway: address.into() };
        let route = Route::direct(Source::Protocol(Greet::ID), PREFERENCE, next_hop);
        context.services.rib.set(Prefix::host(router_id), route);
        if let Some(label) = label {
            let (ttl, tc) = (TtlModel::Uniform, TcSource::Copy);
            let nhlfe = Nhlfe { push: LabelStack::EMPTY, next_hop: NextHop::Local, ttl, tc };
            self.write(TableOp::IlmSet { label, nhlfe });
        }
        self.event(Event::GreetMet { router_id });
        self.say(context.services, port, address, Kind::Welcome);
        if self.router_id < router_id {
            let to = SocketAddr::new(IpAddr::V4(address), PORT);
            let connect = Connect { from: None, port: None, to, options: Options::default() };
            if let Ok(session) = context.connect(now, connect) {
                self.sessions.insert(session, Some(router_id));
                if let Some(neighbor) = self.neighbors.get_mut(&router_id) {
                    neighbor.session = Some(session);
                }
            }
        }
    }

    /// Tells a neighbour its label, over the session with it.
    fn tell(&mut self, router_id: Ipv4Addr) {
        let known = self.neighbors.get(&router_id).and_then(|neighbor| neighbor.session.zip(neighbor.label));
        if let Some((session, label)) = known {
            let bytes = self.repr(Kind::Label, Some(label));
            self.outputs.push_back(Output::Session(session, SessionOutput::Send(bytes)));
        }
    }

    fn forget(&mut self, context: &mut Context<'_>, router_id: Ipv4Addr) {
        let Some(neighbor) = self.neighbors.remove(&router_id) else { return };
        context.services.rib.remove(Prefix::host(router_id), Source::Protocol(Greet::ID));
        if let Some(label) = neighbor.label {
            let transaction = self.write(TableOp::IlmRemove { label });
            self.leaving.insert(transaction, label);
        }
        if let Some(session) = neighbor.session
            && self.sessions.remove(&session).is_some()
        {
            self.outputs.push_back(Output::Session(session, SessionOutput::Abort));
        }
        self.event(Event::GreetLost { router_id });
    }

    /// A message that was read: from a link, or of a session.
    fn hear(&mut self, now: Time, context: &mut Context<'_>, repr: Repr, from: Option<(PortId, Ipv4Addr)>) {
        if repr.router_id == self.router_id {
            return;
        }
        if let Some((port, address)) = from {
            let neighbor = self.neighbors.entry(repr.router_id);
            let neighbor = neighbor.or_insert_with(|| Neighbor::new(port, address));
            neighbor.expires = now + Span(i64::from(repr.hold_ms) * 1_000_000_000);
        }
        if let Some(neighbor) = self.neighbors.get_mut(&repr.router_id) {
            neighbor.given = repr.label.or(neighbor.given);
        }
        let seen = if repr.label.is_some() { Seen::Label } else { Seen::Hello };
        self.seen(now, context, repr.router_id, seen);
    }
}

impl Protocol for Greet {
    fn id(&self) -> ProtocolId {
        Greet::ID
    }

    fn listens(&self) -> Vec<Listen> {
        vec![Listen::UdpPort(PORT), Listen::Group(GROUP), Listen::TcpPort(PORT)]
    }

    fn subscribes(&self) -> Vec<Topic> {
        vec![Topic::Interfaces]
    }

    fn speaks_on(&self, _: PortId) -> bool {
        true
    }

    fn kind_of(&self, bytes: &[u8]) -> u8 {
        bytes.get(1).copied().unwrap_or(0)
    }

    fn kind_name(&self, kind: u8) -> &'static str {
        Greet::name_of(kind)
    }

    fn state_count(&self) -> usize {
        self.neighbors.len()
    }

    fn accepts(&self, _: SocketAddr, _: SocketAddr) -> Option<Options> {
        Some(Options::default())
    }

    fn message_len(&self, stream: &[u8]) -> Option<usize> {
        (stream.len() >= LEN).then_some(LEN)
    }

    fn handle_message(&mut self, now: Time, context: &mut Context<'_>, arrival: &Arrival, bytes: &[u8]) {
        let Arrival::Ip(ip) = arrival else { return };
        match Repr::parse(bytes) {
            Ok(repr) => self.hear(now, context, repr, Some((ip.port, ip.src))),
            Err(_) => self.malformed += 1,
        }
    }

    fn handle_session(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        session: SessionId,
        event: SessionEvent<'_>,
    ) {
        match event {
            SessionEvent::Connected => {
                if let Some(Some(router_id)) = self.sessions.get(&session).copied() {
                    self.seen(now, context, router_id, Seen::Session);
                }
            }
            SessionEvent::Accepted { remote, .. } => {
                let of = |neighbor: &Neighbor| IpAddr::V4(neighbor.address) == remote.ip();
                let known = self.neighbors.iter_mut().find(|(_, neighbor)| of(neighbor));
                let router_id = known.map(|(router_id, neighbor)| {
                    neighbor.session = Some(session);
                    *router_id
                });
                self.sessions.insert(session, router_id);
                match router_id {
                    Some(router_id) => self.seen(now, context, router_id, Seen::Session),
                    // Nobody who was heard: it may try again when it was.
                    None => self.outputs.push_back(Output::Session(session, SessionOutput::Abort)),
                }
            }
            SessionEvent::Received(bytes) => match Repr::parse(bytes) {
                Ok(repr) => self.hear(now, context, repr, None),
                Err(_) => self.malformed += 1,
            },
            SessionEvent::Writable => {}
            SessionEvent::PeerClosed => {
                self.outputs.push_back(Output::Session(session, SessionOutput::Close));
            }
            SessionEvent::Closed(_) => {
                if let Some(Some(router_id)) = self.sessions.remove(&session)
                    && self.neighbors.get(&router_id).is_some_and(|n| n.session == Some(session))
                {
                    self.seen(now, context, router_id, Seen::Closed);
                }
            }
        }
    }

    fn handle_timeout(&mut self, now: Time, context: &mut Context<'_>) {
        let silent = self.neighbors.iter().filter(|(_, neighbor)| neighbor.expires <= now);
        for router_id in silent.map(|(router_id, _)| *router_id).collect::<Vec<_>>() {
            self.seen(now, context, router_id, Seen::Silence);
        }
        if self.due <= now {
            self.due = now + self.spec.interval;
            let ports = context.services.interfaces.ports().filter(|(_, interface)| interface.up);
            for port in ports.map(|(port, _)| port).collect::<Vec<_>>() {
                self.say(context.services, port, GROUP, Kind::Hello);
            }
        }
    }

    fn handle_command(&mut self, _: Time, _: &mut Context<'_>, _: &ProtocolValue) -> bool {
        false
    }

    fn handle_ack(&mut self, _: Time, context: &mut Context<'_>, ack: &Ack) {
        if let Some(label) = self.leaving.remove(&ack.transaction.0) {
            context.services.labels.release(LabelSpace::Platform, Greet::ID, label);
        }
    }

    fn handle_change(&mut self, now: Time, context: &mut Context<'_>, change: &Change) {
        match *change {
            Change::Interface { port: Some(port), up: false, .. } => {
                let there = self.neighbors.iter().filter(|(_, neighbor)| neighbor.port == port);
                for router_id in there.map(|(router_id, _)| *router_id).collect::<Vec<_>>() {
                    self.seen(now, context, router_id, Seen::Silence);
                }
            }
            Change::Restart => *self = Greet::new(self.router_id, self.spec.clone()),
            _ => {}
        }
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        let expires = self.neighbors.values().map(|neighbor| neighbor.expires).min();
        Some(expires.map_or(self.due, |expires| expires.min(self.due)))
    }
}

impl Setup for GreetSpec {
    fn protocol(&self, services: &Services) -> Box<dyn Protocol> {
        Box::new(Greet::new(services.interfaces.router_id, self.clone()))
    }
}
