//! LDP (RFC 5036): labels for the routes of a router, given to all neighbours unasked, kept whether they are used or
//! not, and each by itself (downstream unsolicited, liberal retention, independent control).
//!
//! - `discovery`: neighbours are found and lost, and sessions begun (2.4, 2.5.2)
//! - [`session`]: the state machine of sessions (2.5.4); `receive`: what comes by them, and what is answered (3.5)
//! - `labels`: which prefixes have a label, entries of tables, and who is told (3.5.7 to 3.5.11, A)
//! - [`section`]: the settings that users write; `shown`: its tables
//!
//! What one call makes up leaves when it returns: messages share PDUs, and writes of tables share a batch. A label is
//! told when its entry is in force, and free again when its entry is gone and everybody has released it.

mod discovery;
mod labels;
mod receive;
pub mod section;
pub mod session;
mod shown;
#[cfg(test)]
mod tests;

use crate::machine::{Chart, State};
use crate::protocol::{Arrival, Change, Context, Known, Listen, Output, Protocol, Topic, UNKNOWN_KIND};
use crate::services::sessions::{Options, SessionEvent, SessionId, SessionOutput};
use base::describe::SectionDecl;
use base::plane::{Ack, Batch, IpPrefix, Prefix, TransactionId};
use base::{PortId, ProtocolId, ProtocolType, ProtocolValue, Span, Time};
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use discovery::{Adjacency, Peer};
use labels::{Known as KnownFec, Waiting};
use serde::Serialize;
use session::{Session, SessionState};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use wire::ldp::{ALL_ROUTERS, Header, LdpId, Message, PORT, kind};

/// The machines of LDP, for the documentation.
pub const CHARTS: &[Chart] = &[SessionState::CHART];

/// How good its entries are among those for the packets of a prefix: behind a tunnel that a user asked for.
pub const PREFERENCE: u8 = 100;
/// A session whose end has said nothing for so long before it is established is given up.
const INITIALIZATION: Span = Span::from_secs(15);

/// What LDP tells the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// Labels are exchanged with a neighbour from now on.
    LdpSessionUp {
        /// The neighbour's router id.
        router_id: Ipv4Addr,
    },
    /// No labels are exchanged any more.
    LdpSessionDown {
        /// The neighbour's router id.
        router_id: Ipv4Addr,
        /// Why it ended, as one of the status codes of RFC 5036, 3.9, or what became of the connection.
        why: String,
    },
    /// A neighbour's session did not come to be.
    LdpRefused {
        /// The other end of the connection.
        remote: Ipv4Addr,
        /// What was said, by the neighbour or to it.
        why: String,
    },
}

impl ProtocolType for Event {
    const PROTOCOL: ProtocolId = Ldp::ID;
}

/// Which prefixes get a label.
pub use section::LdpPrefixes;

/// How a router speaks LDP.
#[derive(Clone, Debug)]
pub struct Config {
    /// From a Hello to the next.
    pub hello: Span,
    /// Seconds without a Hello until a neighbour is gone.
    pub hold_s: u16,
    /// Seconds without a PDU until a session is.
    pub keepalive_s: u16,
    /// Which prefixes get a label.
    pub prefixes: LdpPrefixes,
    /// Is the time to live of sessions checked (RFC 6720)?
    pub gtsm: bool,
    /// The ports that it speaks on.
    pub ports: BTreeSet<PortId>,
}

/// A speaker of LDP.
#[derive(Debug)]
pub struct Ldp {
    router_id: Ipv4Addr,
    config: Config,
    /// When the next Hello is due.
    hello_due: Time,
    /// Routers that are heard, by port and label space.
    adjacencies: BTreeMap<(PortId, LdpId), Adjacency>,
    /// What is kept of a router beyond its sessions.
    peers: BTreeMap<LdpId, Peer>,
    sessions: BTreeMap<SessionId, Session>,
    fecs: BTreeMap<Prefix, KnownFec>,
    /// Writes of tables, and what waits for them.
    writes: Waiting,
    waiting: BTreeMap<u64, Waiting>,
    transaction: u64,
    groups: u32,
    /// Hellos that were malformed or of nobody who is meant.
    pub(crate) ignored: u64,
    /// Writes that the tables refused.
    pub(crate) refused: u64,
    hellos: u32,
    is_started: bool,
    outputs: VecDeque<Output>,
}

impl Ldp {
    /// The name of LDP among protocols.
    pub const ID: ProtocolId = ProtocolId::new("ldp");

    /// LDP among the protocols that there are.
    pub const KNOWN: Known = Known {
        id: Ldp::ID,
        kind_name: Ldp::name_of,
        views: shown::VIEWS,
        section: Some(SectionDecl::of::<section::LdpSpec>(
            "LDP (RFC 5036): true, or how. It gives labels to the router's routes.",
        )),
    };

    /// A speaker that knows nothing yet.
    pub fn new(router_id: Ipv4Addr, config: Config) -> Ldp {
        Ldp {
            router_id,
            config,
            hello_due: Time::ZERO,
            adjacencies: BTreeMap::new(),
            peers: BTreeMap::new(),
            sessions: BTreeMap::new(),
            fecs: BTreeMap::new(),
            writes: Waiting::default(),
            waiting: BTreeMap::new(),
            transaction: 0,
            groups: 0,
            ignored: 0,
            refused: 0,
            hellos: 0,
            is_started: false,
            outputs: VecDeque::new(),
        }
    }

    /// Its label space.
    fn id(&self) -> LdpId {
        LdpId::platform(self.router_id)
    }

    fn name_of(number: u8) -> &'static str {
        let known = number.checked_sub(1).and_then(|place| kind::ALL.get(usize::from(place)));
        known.map_or(UNKNOWN_KIND, |(_, name)| name)
    }

    /// All sessions, those that are not established included.
    pub fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.sessions.values()
    }

    fn event(&mut self, event: Event) {
        self.outputs.push_back(Output::Event(base::Event::Protocol(ProtocolValue::new(event))));
    }

    fn start(&mut self, now: Time, context: &mut Context<'_>) {
        self.is_started = true;
        self.hello_due = now;
        // Every route counts, so every route has to stand in the table.
        context.services.rib.use_every_route();
        let all: Vec<Prefix> = context.services.rib.active().map(|(prefix, _)| prefix).collect();
        all.into_iter().for_each(|prefix| self.update(context, prefix));
    }

    /// Sends what the call has made up.
    fn settle(&mut self, now: Time) {
        if !self.writes.ops.is_empty() {
            self.transaction += 1;
            let mut waiting = core::mem::take(&mut self.writes);
            let ops = core::mem::take(&mut waiting.ops);
            self.waiting.insert(self.transaction, waiting);
            let transaction = TransactionId(self.transaction);
            self.outputs.push_back(Output::Tables(Batch { transaction, ops, barrier: false }));
        }
        let own = self.id();
        for session in self.sessions.values_mut().filter(|session| !session.outbox.is_empty()) {
            Ldp::send(own, now, session, &mut self.outputs);
        }
    }

    /// Sends what waits in a session.
    fn send(own: LdpId, now: Time, session: &mut Session, to: &mut VecDeque<Output>) {
        let all: Vec<Message> = core::mem::take(&mut session.outbox);
        for pdu in wire::ldp::pdus(own, &all, session.max_pdu) {
            to.push_back(Output::Session(session.id, SessionOutput::Send(pdu)));
        }
        if session.keepalive > Span::ZERO {
            // Three may be lost in time.
            session.speak = now + Span(session.keepalive.0 / 3);
        }
    }
}

impl Protocol for Ldp {
    fn id(&self) -> ProtocolId {
        Ldp::ID
    }

    fn listens(&self) -> Vec<Listen> {
        vec![Listen::UdpPort(PORT), Listen::Group(ALL_ROUTERS), Listen::TcpPort(PORT)]
    }

    fn subscribes(&self) -> Vec<Topic> {
        vec![Topic::Interfaces, Topic::Routes]
    }

    fn speaks_on(&self, port: PortId) -> bool {
        self.config.ports.contains(&port)
    }

    fn kind_of(&self, bytes: &[u8]) -> u8 {
        let first = bytes.get(10..12).and_then(|kind| kind.try_into().ok()).map_or(0, u16::from_be_bytes);
        kind::ALL.iter().position(|(kind, _)| *kind == first).map_or(0, |place| place as u8 + 1)
    }

    fn kind_name(&self, kind: u8) -> &'static str {
        Ldp::name_of(kind)
    }

    fn state_count(&self) -> usize {
        self.fecs.len()
    }

    fn accepts(&self, local: SocketAddr, remote: SocketAddr) -> Option<Options> {
        // RFC 5036, 2.5.2: the end with the greater address connects.
        let IpAddr::V4(from) = remote.ip() else { return None };
        (local.ip() < remote.ip()).then(|| self.options(from))
    }

    fn message_len(&self, stream: &[u8]) -> Option<usize> {
        Header::message_len(stream)
    }

    fn handle_message(&mut self, now: Time, context: &mut Context<'_>, arrival: &Arrival, bytes: &[u8]) {
        if !self.is_started {
            self.start(now, context);
        }
        if let Arrival::Ip(ip) = arrival {
            self.hear(now, context, ip, bytes);
        }
        self.settle(now);
    }

    fn handle_session(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        session: SessionId,
        event: SessionEvent<'_>,
    ) {
        match event {
            SessionEvent::Connected => self.connected(now, session),
            SessionEvent::Accepted { remote, .. } => self.accepted(now, session, remote),
            SessionEvent::Received(pdu) => self.receive(now, context, session, pdu),
            SessionEvent::Writable => {}
            SessionEvent::PeerClosed => {
                self.lose(now, context, session, "connection closed");
                self.outputs.push_back(Output::Session(session, SessionOutput::Close));
            }
            SessionEvent::Closed(why) => self.lose(now, context, session, discovery::ended(why)),
        }
        self.settle(now);
    }

    fn handle_timeout(&mut self, now: Time, context: &mut Context<'_>) {
        if !self.is_started {
            self.start(now, context);
        }
        self.discover(now, context);
        self.session_timers(now, context);
        self.settle(now);
    }

    fn handle_command(&mut self, _: Time, _: &mut Context<'_>, _: &ProtocolValue) -> bool {
        false
    }

    fn handle_ack(&mut self, now: Time, context: &mut Context<'_>, ack: &Ack) {
        self.written(context, ack);
        self.settle(now);
    }

    fn handle_change(&mut self, now: Time, context: &mut Context<'_>, change: &Change) {
        if *change == Change::Restart {
            *self = Ldp::new(self.router_id, self.config.clone());
            return;
        }
        if !self.is_started {
            return;
        }
        match *change {
            Change::Interface { port: Some(port), up, .. } => self.interface(now, context, port, up),
            Change::Route(IpPrefix::V4(prefix)) => {
                self.update(context, prefix);
                self.connect_all(now, context);
            }
            Change::Interface { .. }
            | Change::Route(IpPrefix::V6(_))
            | Change::Bandwidth { .. }
            | Change::Restart => {}
        }
        self.settle(now);
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        let adjacencies = self.adjacencies.values().map(|one| one.expires).min();
        let sessions = self.sessions.values().map(|one| one.expires.min(one.speak)).min();
        let due = Time::earliest([Some(self.hello_due), adjacencies, sessions]);
        if self.is_started { due } else { Some(Time::ZERO) }
    }
}
