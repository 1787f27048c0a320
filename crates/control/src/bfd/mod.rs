//! BFD, bidirectional forwarding detection (RFC 5880): does what a node sends get through to another, and back?
//!
//! - [`states`]: the state machine of a session (6.8.6); [`session`]: its variables, what it takes, says and when
//! - `authentication`: passwords and digests (6.7)
//! - `output`: how packets leave; `lsp`: sessions over LSPs, which begin with LSP ping (RFC 5884)
//! - `multipoint`: sessions with several receivers, over LSPs with several ends (RFC 8562)
//! - [`section`]: the settings that users write; `shown`: its tables
//!
//! Sessions exist because other protocols have paths watched ([`Liveness`](crate::services::Liveness)): of a single hop
//! (RFC 5881), of several (RFC 5883), or over an LSP (RFC 5884). Protocols that want the same path share its session
//! (RFC 5882, 4.4). There are no echos, and this router never asks for demand mode itself.

mod authentication;
mod lsp;
mod multipoint;
mod output;
pub mod section;
pub mod session;
mod shown;
pub mod states;
#[cfg(test)]
mod tests;

pub use authentication::Key;

use crate::inquiry::Findings;
use crate::machine::Chart;
use crate::machine::State as _;
use crate::protocol::{
    Arrival, Change, Context, Known, Listen, LspArrival, Output, Over, Protocol, Topic, UNKNOWN_KIND,
};
use crate::services::{Pace, Services, Verdict, WatchedLsp, WatchedPath, Way};
use base::describe::SectionDecl;
use base::plane::Ack;
use base::random::{Rng as _, Stream};
use base::{Label, PortId, ProtocolId, ProtocolType, ProtocolValue, Span, Time};
use core::net::IpAddr;
use multipoint::Multipoint;
use serde::Serialize;
use session::{Role, Session, Terms};
use states::{HeadState, SessionState, TailState};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use wire::bfd::{Diag, MULTIHOP_PORT, PORT, Repr, TTL};

/// The machines of BFD, for the documentation.
pub const CHARTS: &[Chart] = &[SessionState::CHART, HeadState::CHART, TailState::CHART];

/// The kind of all of its messages.
const CONTROL: u8 = 1;

/// What BFD tells the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A neighbour and this router hear each other.
    BfdUp {
        /// The neighbour's address.
        address: IpAddr,
        /// The port that it is right behind; absent if routers may lie between.
        port: Option<PortId>,
        /// The LSP that packets take there, if they take one.
        #[serde(skip_serializing_if = "Option::is_none")]
        lsp: Option<String>,
    },
    /// A session was up, and is not any more.
    BfdDown {
        /// The neighbour's address.
        address: IpAddr,
        /// The port that it is right behind; absent if routers may lie between.
        port: Option<PortId>,
        /// The LSP that packets take there, if they take one.
        #[serde(skip_serializing_if = "Option::is_none")]
        lsp: Option<String>,
        /// Why, in the words of RFC 5880, 4.1.
        why: &'static str,
    },
}

impl ProtocolType for Event {
    const PROTOCOL: ProtocolId = Bfd::ID;
}

base::words! {
    /// Why a packet was not taken.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Discard {
        /// Its bytes are not those of a packet (RFC 5880, 6.8.6).
        Malformed = "malformed",
        /// It has passed a router, by its time to live (RFC 5881, 5).
        Ttl = "ttl",
        /// Nobody wants the neighbour watched, or it means a session that there is not.
        NoSession = "no-session",
        /// It has come by another port than that of its session, or on no LSP though its session is of one.
        OtherPort = "other-port",
        /// It means a session over an LSP, and is not of whom that was begun with (RFC 5884, 7).
        OtherEnd = "other-end",
        /// It is authenticated, and the session is not.
        Authenticated = "authenticated",
        /// It is not authenticated, and the session is.
        Unauthenticated = "unauthenticated",
        /// It is authenticated in another way.
        WrongType = "wrong-type",
        /// Its password or its digest is not that of the key.
        WrongKey = "wrong-key",
        /// Its sequence number is not among those that may come next.
        Replayed = "replayed",
        /// It goes to several receivers, and has not come by an LSP (RFC 8562, 8).
        Multipoint = "multipoint",
        /// It would begin a session, and there are as many as there may be (RFC 8562, 8).
        Limit = "limit",
    }
}

/// How a router speaks BFD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// By which a session goes of whose clients nobody says anything else.
    pub terms: Terms,
    /// Head ends of LSPs that end here may not ask for packets more often than so, in microseconds.
    pub least_us: u32,
    /// How packets are authenticated.
    pub key: Option<Key>,
    /// Is it part of the forwarding plane, so that it goes on while protocols restart (bit C)?
    pub is_independent: bool,
    /// Are sessions kept down, without anybody taking that for a failure?
    pub is_shut: bool,
}

/// Packets that were not taken for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Discarded {
    packets: u64,
    /// Who sent the last of them.
    from: IpAddr,
}

/// What the headers of a packet said.
#[derive(Clone, Copy, Debug)]
struct Heard {
    port: PortId,
    src: IpAddr,
    dst: IpAddr,
    ttl: u8,
    /// Destination port of UDP.
    to: u16,
    /// Was it sent to 127/8, or to ::ffff:127/104?
    is_on_lsp: bool,
    /// The label that it came with, the innermost if there were several: those above are of what carries the LSP.
    label: Option<Label>,
}

impl Heard {
    fn of(arrival: &Arrival) -> Option<Heard> {
        let to = |over: Over| match over {
            Over::Udp { dst, .. } => Some(dst),
            Over::Ip(_) => None,
        };
        let label = match arrival {
            Arrival::Lsp(lsp) => lsp.stack().last().copied(),
            Arrival::Lsp6(lsp) => lsp.stack().last().copied(),
            _ => None,
        };
        let label = label.map(|word| Label::truncate(word >> 12));
        match *arrival {
            Arrival::Ip(ip) | Arrival::Lsp(LspArrival { ip, .. }) => Some(Heard {
                port: ip.port,
                src: ip.src.into(),
                dst: ip.dst.into(),
                ttl: ip.ttl,
                to: to(ip.over)?,
                is_on_lsp: matches!(arrival, Arrival::Lsp(_)),
                label,
            }),
            Arrival::Ip6(ip) | Arrival::Lsp6(LspArrival { ip, .. }) => Some(Heard {
                port: ip.port,
                src: ip.src.into(),
                dst: ip.dst.into(),
                ttl: ip.hop_limit,
                to: to(ip.over)?,
                is_on_lsp: matches!(arrival, Arrival::Lsp6(_)),
                label,
            }),
            Arrival::Llc(_) => None,
        }
    }
}

/// A speaker of BFD.
#[derive(Debug)]
pub struct Bfd {
    config: Config,
    /// How often it has restarted: its numbers are others each time.
    restarts: u32,
    /// By bfd.LocalDiscr.
    sessions: BTreeMap<u32, Session>,
    by_path: BTreeMap<WatchedPath, u32>,
    multipoint: Multipoint,
    /// When which session has something to do.
    agenda: BTreeSet<(Time, u32)>,
    /// Packets that leave when the node has said what is bound to their LSP, and the sessions that they are of.
    inquiries: BTreeMap<u64, (u32, Vec<u8>)>,
    inquired: u64,
    discards: BTreeMap<&'static str, Discarded>,
    outputs: VecDeque<Output>,
}

impl Bfd {
    /// The name of BFD among protocols.
    pub const ID: ProtocolId = ProtocolId::new("bfd");

    /// BFD among the protocols that there are.
    pub const KNOWN: Known = Known {
        id: Bfd::ID,
        kind_name: Bfd::name_of,
        views: shown::VIEWS,
        section: Some(SectionDecl::of::<section::BfdSpec>(
            "BFD (RFC 5880): true, or how closely it watches the neighbours of protocols with 'bfd'.",
        )),
    };

    /// A speaker without sessions.
    pub fn new(config: Config) -> Bfd {
        Bfd {
            config,
            restarts: 0,
            sessions: BTreeMap::new(),
            by_path: BTreeMap::new(),
            multipoint: Multipoint::default(),
            agenda: BTreeSet::new(),
            inquiries: BTreeMap::new(),
            inquired: 0,
            discards: BTreeMap::new(),
            outputs: VecDeque::new(),
        }
    }

    fn name_of(kind: u8) -> &'static str {
        if kind == CONTROL { "Control" } else { UNKNOWN_KIND }
    }

    /// Its sessions, by path; then those of LSPs that end here, by number.
    pub fn sessions(&self) -> impl Iterator<Item = &Session> {
        let wanted = self.by_path.values().filter_map(|number| self.sessions.get(number));
        wanted.chain(self.sessions.values().filter(|session| matches!(session.role, Role::Tail { .. })))
    }

    /// The terms that the most demanding of those who want a path watched asks for (RFC 5882, 4.1).
    fn terms(&self, clients: &[(ProtocolId, Pace)]) -> Terms {
        let usual = self.config.terms;
        let of = |pace: &Pace| {
            let asked = pace.interval.map(section::microseconds);
            Terms {
                send_us: asked.unwrap_or(usual.send_us),
                receive_us: asked.unwrap_or(usual.receive_us),
                multiplier: pace.multiplier.unwrap_or(usual.multiplier),
            }
        };
        let detection =
            |terms: &Terms| (u64::from(terms.send_us) * u64::from(terms.multiplier), terms.send_us);
        clients.iter().map(|(_, pace)| of(pace)).min_by_key(detection).unwrap_or(usual)
    }

    /// Those who want a path watched are others than before.
    fn watching(&mut self, now: Time, context: &mut Context<'_>, path: WatchedPath) {
        let all = context.services.liveness.clients(path);
        let clients: Vec<_> = all.filter(|(_, pace)| pace.is_of_bfd()).collect();
        let terms = self.terms(&clients);
        let known = self.by_path.get(&path).copied();
        let names: Vec<_> = clients.iter().map(|(client, _)| *client).collect();
        if clients.is_empty() {
            if let Some(number) = known {
                self.touch(now, context, number, |session| {
                    session.clients = names;
                    // What is known to be dead stays so for the neighbour (RFC 5880, 6.8.1); what works is shut down.
                    if session.state != SessionState::Down {
                        session.disable(now, Diag::ADMIN_DOWN);
                    }
                    // RFC 5880, 6.8.16: long enough for the neighbour to hear of it, though single packets are lost.
                    let slow = session.interval().max(Span::from_secs(1));
                    session.ends = Some(now + Span(slow.0 * i64::from(session.terms.multiplier)));
                });
            }
            return;
        }
        let number = match known {
            Some(number) => number,
            None => self.begin(now, context, path, terms),
        };
        let is_shut = self.config.is_shut;
        let is_usable = Bfd::is_usable(context.services, path);
        self.touch(now, context, number, |session| {
            (session.ends, session.clients) = (None, names);
            session.set_terms(now, terms);
            match (is_shut, is_usable) {
                (true, _) => session.disable(now, Diag::ADMIN_DOWN),
                (false, false) => session.disable(now, Diag::PATH_DOWN),
                (false, true) => session.enable(now),
            }
        });
    }

    fn is_usable(services: &Services, path: WatchedPath) -> bool {
        let of_port = |port| services.interfaces.of_port(port).is_some_and(|interface| interface.up);
        path.port().is_none_or(of_port)
    }

    /// Begins a session of a path that is watched.
    fn begin(&mut self, now: Time, context: &mut Context<'_>, path: WatchedPath, terms: Terms) -> u32 {
        let at = match path.way {
            Way::Hop(port) => format!("port {}", port.0),
            Way::Routed => path.local.to_string(),
            Way::Lsp(lsp) | Way::End(lsp) => lsp.to_string(),
        };
        let mut random = self.stream(context, &format!("{at}/{}", path.remote));
        let role = match path.way {
            Way::Lsp(_) => Role::Head { destination: lsp::destination(path.local, &mut random) },
            Way::Hop(_) | Way::Routed | Way::End(_) => Role::Beside,
        };
        let number = self.open(now, context, (path, role), terms, random);
        self.by_path.insert(path, number);
        number
    }

    /// The random numbers of a session.
    fn stream(&self, context: &Context<'_>, of: &str) -> Stream {
        let Services { interfaces, streams, .. } = &**context.services;
        streams.stream(&format!("{}/bfd/{}/{of}", interfaces.node, self.restarts))
    }

    /// A number of a session that no other has.
    fn number(&self, random: &mut Stream) -> u32 {
        loop {
            let number = random.next_u32();
            if number != 0 && !self.sessions.contains_key(&number) && !self.multipoint.has(number) {
                return number;
            }
        }
    }

    /// Opens a session: its number is a random one that no other has (RFC 5880, 6.8.1).
    fn open(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        of: (WatchedPath, Role),
        terms: Terms,
        mut random: Stream,
    ) -> u32 {
        let number = self.number(&mut random);
        // RFC 5881, 4: of its own, as long as there are enough.
        let source = context.bind(None).unwrap_or(*wire::bfd::SOURCE_PORTS.start());
        let key = self.config.key.clone();
        let mut session = Session::new(now, of, (source, number), terms, key, random);
        session.independent = self.config.is_independent;
        self.sessions.insert(number, session);
        number
    }

    /// Does something with a session; then sends what it has to say, and notes what became of it.
    fn touch(&mut self, now: Time, context: &mut Context<'_>, number: u32, what: impl FnOnce(&mut Session)) {
        let Some(session) = self.sessions.get_mut(&number) else { return };
        let (before, verdict) = (session.state, session.verdict);
        what(session);
        let path = session.path;
        if session.ends.is_some_and(|ends| ends <= now) {
            return self.close(context, number);
        }
        let packets: Vec<_> = core::iter::from_fn(|| session.poll_packet(now)).collect();
        let due = session.due();
        if due != session.planned {
            if let Some(planned) = core::mem::replace(&mut session.planned, due) {
                self.agenda.remove(&(planned, number));
            }
            self.agenda.extend(due.map(|due| (due, number)));
        }
        // Nobody here has asked for a session of an LSP that ends here.
        let is_asked = !matches!(session.role, Role::Tail { .. });
        if is_asked && (session.verdict != verdict || session.verdict == Verdict::Alive) {
            let liveness = &mut context.services.liveness;
            if session.independent {
                liveness.set_independent(path, session.is_independent());
            }
            liveness.found(path, session.verdict);
        }
        if let Role::Tail { fec, .. } = &session.role
            && let Some(end) = WatchedLsp::of_rsvp(fec).and_then(WatchedPath::end)
            && let Some(verdict) = session.verdict_at_end()
        {
            context.services.liveness.found(end, verdict);
        }
        let (address, port) = (path.remote, path.port());
        let lsp = || session.fec().map(|fec| fec.to_string());
        let event = match (before, session.state) {
            (SessionState::Up, SessionState::Up) => None,
            (SessionState::Up, _) => {
                Some(Event::BfdDown { address, port, lsp: lsp(), why: session.diag.name() })
            }
            (_, SessionState::Up) => Some(Event::BfdUp { address, port, lsp: lsp() }),
            _ => None,
        };
        let event = event.map(|event| Output::Event(base::Event::Protocol(ProtocolValue::new(event))));
        packets.into_iter().for_each(|bytes| self.send(context, number, bytes));
        self.outputs.extend(event);
        self.verify(context, number);
    }

    /// Forgets a session.
    fn close(&mut self, context: &mut Context<'_>, number: u32) {
        let Some(session) = self.sessions.remove(&number) else { return };
        if let Some(planned) = session.planned {
            self.agenda.remove(&(planned, number));
        }
        if let Some(lsp) = session.path.lsp() {
            context.services.bootstrap.forget(lsp);
        }
        if !matches!(session.role, Role::Tail { .. }) {
            self.by_path.remove(&session.path);
        }
        context.release(session.source);
    }

    /// The session that a packet is for, or why there is none (RFC 5880, 6.8.6).
    fn select(&self, context: &Context<'_>, ip: &Heard, packet: &Repr) -> Result<u32, Discard> {
        let is_multihop = ip.to == MULTIHOP_PORT;
        if packet.your_discriminator != 0 {
            let number = packet.your_discriminator;
            let session = self.sessions.get(&number).ok_or(Discard::NoSession)?;
            // RFC 5881, 3: a session is bound to its interface; whatever the source says (6). RFC 5884, 7: one over an
            // LSP is spoken to on the LSP, and answers by way of the tables.
            let is_its_way = match (&session.role, session.path.way) {
                (Role::Tail { .. }, _) => ip.is_on_lsp && !is_multihop,
                (Role::Head { .. }, _) | (Role::Beside, Way::Routed | Way::Lsp(_) | Way::End(_)) => {
                    is_multihop && !ip.is_on_lsp
                }
                (Role::Beside, Way::Hop(port)) => !is_multihop && !ip.is_on_lsp && port == ip.port,
            };
            return if is_its_way { Ok(number) } else { Err(Discard::OtherPort) };
        }
        if ip.is_on_lsp {
            // RFC 5884, 5: the session is told by its number alone.
            return Err(Discard::NoSession);
        }
        if is_multihop {
            // RFC 5883, 4.1: one session between two addresses.
            let path = WatchedPath { way: Way::Routed, local: ip.dst, remote: ip.src };
            return self.by_path.get(&path).copied().ok_or(Discard::NoSession);
        }
        let is_here =
            |path: &WatchedPath| path.port() == Some(ip.port) && path.remote.is_ipv4() == ip.src.is_ipv4();
        let mut here = self.by_path.iter().filter(|(path, _)| is_here(path));
        let exact = here.clone().find(|(path, _)| path.remote == ip.src);
        // RFC 5881, 6: on a link between two the source does not tell which session it is.
        let is_between_two =
            context.services.interfaces.of_port(ip.port).is_some_and(|i| i.neighbor.is_some());
        let found = exact.or_else(|| here.next().filter(|_| is_between_two));
        found.map(|(_, number)| *number).ok_or(Discard::NoSession)
    }

    /// The session that takes a packet.
    fn take(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        ip: &Heard,
        bytes: &[u8],
    ) -> Result<(), Discard> {
        // RFC 5881, 5: what has not this time to live has passed a router. On an LSP it is 1 (RFC 5884, 7).
        if ip.to == PORT && !ip.is_on_lsp && ip.ttl != TTL {
            return Err(Discard::Ttl);
        }
        let packet = Repr::parse(bytes).map_err(|_| Discard::Malformed)?;
        let whole = bytes.get(..packet.buffer_len()).unwrap_or(bytes);
        if packet.multipoint {
            return self.take_one(now, ip, &packet, whole);
        }
        let number = self.select(context, ip, &packet)?;
        let peer = (ip.src, packet.my_discriminator);
        if self.sessions.get(&number).is_some_and(|session| session.peer.is_some_and(|known| known != peer)) {
            return Err(Discard::OtherEnd);
        }
        let mut taken = Ok(());
        let least_us = self.config.least_us;
        self.touch(now, context, number, |session| {
            taken = session.receive(now, &packet, whole);
            let is_bound = session.role != Role::Beside && session.state == SessionState::Up;
            session.peer = is_bound.then_some(peer);
            if is_bound && matches!(session.role, Role::Tail { .. }) {
                // Who asked for the session says how often, if the settings here do not.
                let us = session.remote.send_us.max(least_us);
                session.set_terms(now, Terms { send_us: us, receive_us: us, ..session.terms });
                session.ends = None;
            }
        });
        taken
    }

    /// A port can be used, or can't.
    fn interface(&mut self, now: Time, context: &mut Context<'_>, port: PortId, up: bool) {
        let there = self.by_path.iter().filter(|(path, _)| path.port() == Some(port));
        for number in there.map(|(_, number)| *number).collect::<Vec<_>>() {
            let is_shut = self.config.is_shut;
            self.touch(now, context, number, |session| match up {
                true if !is_shut && session.ends.is_none() => session.enable(now),
                true => {}
                // RFC 5880, 6.8.16.
                false => session.disable(now, Diag::PATH_DOWN),
            });
        }
    }
}

impl Protocol for Bfd {
    fn id(&self) -> ProtocolId {
        Bfd::ID
    }

    fn listens(&self) -> Vec<Listen> {
        let ports = [PORT, MULTIHOP_PORT];
        let both = |port| [Listen::UdpPort(port), Listen::UdpPort6(port)];
        ports.into_iter().flat_map(both).chain([Listen::Loopback]).collect()
    }

    fn subscribes(&self) -> Vec<Topic> {
        vec![Topic::Interfaces, Topic::Watching, Topic::Offered]
    }

    fn speaks_on(&self, _: PortId) -> bool {
        true
    }

    fn is_of_forwarding(&self) -> bool {
        self.config.is_independent
    }

    fn is_urgent(&self) -> bool {
        true
    }

    fn kind_of(&self, _: &[u8]) -> u8 {
        CONTROL
    }

    fn kind_name(&self, kind: u8) -> &'static str {
        Bfd::name_of(kind)
    }

    fn state_count(&self) -> usize {
        self.sessions.len() + self.multipoint.count()
    }

    fn handle_message(&mut self, now: Time, context: &mut Context<'_>, arrival: &Arrival, bytes: &[u8]) {
        let Some(ip) = Heard::of(arrival) else { return };
        if let Err(why) = self.take(now, context, &ip, bytes) {
            let count = self.discards.entry(why.word()).or_insert(Discarded { packets: 0, from: ip.src });
            (count.packets, count.from) = (count.packets + 1, ip.src);
        }
    }

    fn handle_timeout(&mut self, now: Time, context: &mut Context<'_>) {
        while let Some(&(due, number)) = self.agenda.first()
            && due <= now
        {
            self.touch(now, context, number, |session| session.expire(now));
            if self.agenda.first() == Some(&(due, number)) {
                debug_assert!(false, "session {number} has nothing to do at {due:?}");
                self.agenda.pop_first();
            }
        }
        self.several_due(now, context);
    }

    fn handle_command(&mut self, _: Time, _: &mut Context<'_>, _: &ProtocolValue) -> bool {
        false
    }

    fn handle_ack(&mut self, _: Time, _: &mut Context<'_>, _: &Ack) {}

    fn handle_change(&mut self, now: Time, context: &mut Context<'_>, change: &Change) {
        match *change {
            Change::Watching(path) if path.lsp().is_some_and(|lsp| lsp.fec().has_several_ends()) => {
                self.watching_several(now, context, path);
            }
            // The head end asks for sessions over an LSP.
            Change::Watching(path) if matches!(path.way, Way::End(_)) => {}
            Change::Watching(path) => self.watching(now, context, path),
            Change::Offered => self.offered(now, context),
            Change::Interface { port: Some(port), up, .. } => self.interface(now, context, port, up),
            Change::Restart => {
                let restarts = self.restarts.wrapping_add(1);
                *self = Bfd { restarts, ..Bfd::new(self.config.clone()) };
            }
            _ => {}
        }
    }

    fn handle_findings(&mut self, _: Time, context: &mut Context<'_>, findings: Findings) {
        self.found(context, findings);
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        Time::earliest([self.agenda.first().map(|(due, _)| *due), self.multipoint.due()])
    }
}
