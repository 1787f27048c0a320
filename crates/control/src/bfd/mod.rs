//! BFD, bidirectional forwarding detection (RFC 5880): does what a node sends get through to another, and back?
//!
//! - [`states`]: the state machine of a session (6.8.6); [`session`]: its variables, what it takes, says and when
//! - `authentication`: passwords and digests (6.7)
//! - [`section`]: the settings that users write; `shown`: its tables
//!
//! Sessions exist because other protocols have paths watched ([`Liveness`](crate::services::Liveness)): of a single hop
//! (RFC 5881) or of several (RFC 5883), over IPv4. Protocols that want the same path share its session (RFC 5882, 4.4).
//! There are no echos, and this router never asks for demand mode itself.

mod authentication;
pub mod section;
pub mod session;
mod shown;
pub mod states;
#[cfg(test)]
mod tests;

pub use authentication::Key;

use crate::machine::Chart;
use crate::machine::State as _;
use crate::protocol::{
    Arrival, Change, Context, IpArrival, Known, Listen, Message, Output, Over, Protocol, Topic, UNKNOWN_KIND,
};
use crate::services::sessions::Datagram;
use crate::services::{Pace, Services, Verdict, WatchedPath};
use base::describe::SectionDecl;
use base::plane::Ack;
use base::random::{Rng as _, Stream};
use base::{Dscp, PortId, ProtocolId, ProtocolType, ProtocolValue, Span, Time};
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use serde::Serialize;
use session::{Session, Terms};
use states::SessionState;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use wire::bfd::{Diag, MULTIHOP_PORT, PORT, Repr, TTL};

/// The machines of BFD, for the documentation.
pub const CHARTS: &[Chart] = &[SessionState::CHART];

/// The kind of all of its messages.
const CONTROL: u8 = 1;

/// What BFD tells the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A neighbour and this router hear each other.
    BfdUp {
        /// The neighbour's address.
        address: Ipv4Addr,
        /// The port that it is right behind; absent if routers may lie between.
        port: Option<PortId>,
    },
    /// A session was up, and is not any more.
    BfdDown {
        /// The neighbour's address.
        address: Ipv4Addr,
        /// The port that it is right behind; absent if routers may lie between.
        port: Option<PortId>,
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
        /// It has come by another port than that of its session.
        OtherPort = "other-port",
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
    }
}

/// How a router speaks BFD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// By which a session goes of whose clients nobody says anything else.
    pub terms: Terms,
    /// How packets are authenticated.
    pub key: Option<Key>,
    /// Are sessions kept down, without anybody taking that for a failure?
    pub is_shut: bool,
}

/// Packets that were not taken for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Discarded {
    packets: u64,
    /// Who sent the last of them.
    from: Ipv4Addr,
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
    /// When which session has something to do.
    agenda: BTreeSet<(Time, u32)>,
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
            agenda: BTreeSet::new(),
            discards: BTreeMap::new(),
            outputs: VecDeque::new(),
        }
    }

    fn name_of(kind: u8) -> &'static str {
        if kind == CONTROL { "Control" } else { UNKNOWN_KIND }
    }

    /// Its sessions, by path.
    pub fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.by_path.values().filter_map(|number| self.sessions.get(number))
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
        let clients: Vec<_> = context.services.liveness.clients(path).collect();
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
        path.port.is_none_or(of_port)
    }

    /// Begins a session: its number, a random one that no other has (RFC 5880, 6.8.1).
    fn begin(&mut self, now: Time, context: &mut Context<'_>, path: WatchedPath, terms: Terms) -> u32 {
        let Services { interfaces, streams, .. } = &**context.services;
        let at = path.port.map_or_else(|| path.local.to_string(), |port| format!("port {}", port.0));
        let name = format!("{}/bfd/{}/{at}/{}", interfaces.node, self.restarts, path.remote);
        let mut random: Stream = streams.stream(&name);
        let number = loop {
            let number = random.next_u32();
            if number != 0 && !self.sessions.contains_key(&number) {
                break number;
            }
        };
        // RFC 5881, 4: of its own, as long as there are enough.
        let source = context.bind(None).unwrap_or(*wire::bfd::SOURCE_PORTS.start());
        let key = self.config.key.clone();
        self.sessions.insert(number, Session::new(now, path, (source, number), terms, key, random));
        self.by_path.insert(path, number);
        number
    }

    /// Does something with a session; then sends what it has to say, and notes what became of it.
    fn touch(&mut self, now: Time, context: &mut Context<'_>, number: u32, what: impl FnOnce(&mut Session)) {
        let Some(session) = self.sessions.get_mut(&number) else { return };
        let (before, verdict) = (session.state, session.verdict);
        what(session);
        let path = session.path;
        if session.ends.is_some_and(|ends| ends <= now) {
            let (planned, source) = (session.planned, session.source);
            self.agenda.remove(&(planned.unwrap_or(now), number));
            self.sessions.remove(&number);
            self.by_path.remove(&path);
            context.release(source);
            return;
        }
        while let Some(bytes) = session.poll_packet(now) {
            send(context, &mut self.outputs, path, session.source, bytes);
        }
        let due = session.due();
        if due != session.planned {
            if let Some(planned) = core::mem::replace(&mut session.planned, due) {
                self.agenda.remove(&(planned, number));
            }
            self.agenda.extend(due.map(|due| (due, number)));
        }
        if session.verdict != verdict || session.verdict == Verdict::Alive {
            context.services.liveness.found(path, session.verdict);
        }
        let (address, port) = (path.remote, path.port);
        let event = match (before, session.state) {
            (SessionState::Up, SessionState::Up) => None,
            (SessionState::Up, _) => Some(Event::BfdDown { address, port, why: session.diag.name() }),
            (_, SessionState::Up) => Some(Event::BfdUp { address, port }),
            _ => None,
        };
        let event = event.map(|event| Output::Event(base::Event::Protocol(ProtocolValue::new(event))));
        self.outputs.extend(event);
    }

    /// The session that a packet is for, or why there is none (RFC 5880, 6.8.6).
    fn select(&self, context: &Context<'_>, ip: &IpArrival, packet: &Repr) -> Result<u32, Discard> {
        let is_multihop = matches!(ip.over, Over::Udp { dst: MULTIHOP_PORT, .. });
        if packet.your_discriminator != 0 {
            let path = self.sessions.get(&packet.your_discriminator).ok_or(Discard::NoSession)?.path;
            // RFC 5881, 3: a session is bound to its interface; whatever the source says (6).
            return match path.port {
                None if is_multihop => Ok(packet.your_discriminator),
                Some(port) if !is_multihop && port == ip.port => Ok(packet.your_discriminator),
                _ => Err(Discard::OtherPort),
            };
        }
        if is_multihop {
            // RFC 5883, 4.1: one session between two addresses.
            let path = WatchedPath { port: None, local: ip.dst, remote: ip.src };
            return self.by_path.get(&path).copied().ok_or(Discard::NoSession);
        }
        let mut here = self.by_path.iter().filter(|(path, _)| path.port == Some(ip.port));
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
        ip: &IpArrival,
        bytes: &[u8],
    ) -> Result<(), Discard> {
        // RFC 5881, 5: what has not this time to live has passed a router.
        if matches!(ip.over, Over::Udp { dst: PORT, .. }) && ip.ttl != TTL {
            return Err(Discard::Ttl);
        }
        let packet = Repr::parse(bytes).map_err(|_| Discard::Malformed)?;
        let number = self.select(context, ip, &packet)?;
        let whole = bytes.get(..packet.buffer_len()).unwrap_or(bytes);
        let mut taken = Ok(());
        self.touch(now, context, number, |session| taken = session.receive(now, &packet, whole));
        taken
    }

    /// A port can be used, or can't.
    fn interface(&mut self, now: Time, context: &mut Context<'_>, port: PortId, up: bool) {
        let there = self.by_path.iter().filter(|(path, _)| path.port == Some(port));
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

/// Sends a packet: by the port of a single hop (RFC 5881, 6), or by the tables.
fn send(
    context: &mut Context<'_>,
    outputs: &mut VecDeque<Output>,
    path: WatchedPath,
    source: u16,
    bytes: Vec<u8>,
) {
    let WatchedPath { port, local, remote } = path;
    if let Some(port) = port {
        let (src, dst, next) = (local, remote, Some(remote));
        let over = Over::Udp { src: source, dst: PORT };
        let message = Message { port, next, src, dst, over, ttl: TTL, router_alert: false, bytes };
        outputs.push_back(Output::Message(message));
        return;
    }
    let to = SocketAddr::new(IpAddr::V4(remote), MULTIHOP_PORT);
    let from = Some(IpAddr::V4(local));
    let datagram = Datagram { from, port: source, to, ttl: TTL, dscp: Dscp::CS6, bytes };
    // An address that can't be sent to is one that nobody answers from.
    let _ = context.send_datagram(datagram);
}

impl Protocol for Bfd {
    fn id(&self) -> ProtocolId {
        Bfd::ID
    }

    fn listens(&self) -> Vec<Listen> {
        vec![Listen::UdpPort(PORT), Listen::UdpPort(MULTIHOP_PORT)]
    }

    fn subscribes(&self) -> Vec<Topic> {
        vec![Topic::Interfaces, Topic::Watching]
    }

    fn speaks_on(&self, _: PortId) -> bool {
        true
    }

    fn kind_of(&self, _: &[u8]) -> u8 {
        CONTROL
    }

    fn kind_name(&self, kind: u8) -> &'static str {
        Bfd::name_of(kind)
    }

    fn state_count(&self) -> usize {
        self.sessions.len()
    }

    fn handle_message(&mut self, now: Time, context: &mut Context<'_>, arrival: &Arrival, bytes: &[u8]) {
        let Arrival::Ip(ip) = arrival else { return };
        if let Err(why) = self.take(now, context, ip, bytes) {
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
    }

    fn handle_command(&mut self, _: Time, _: &mut Context<'_>, _: &ProtocolValue) -> bool {
        false
    }

    fn handle_ack(&mut self, _: Time, _: &mut Context<'_>, _: &Ack) {}

    fn handle_change(&mut self, now: Time, context: &mut Context<'_>, change: &Change) {
        match *change {
            Change::Watching(path) => self.watching(now, context, path),
            Change::Interface { port: Some(port), up, .. } => self.interface(now, context, port, up),
            Change::Restart => {
                let restarts = self.restarts.wrapping_add(1);
                *self = Bfd { restarts, ..Bfd::new(self.config.clone()) };
            }
            _ => {}
        }
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.agenda.first().map(|(due, _)| *due)
    }
}
