//! TDP, the Tag Distribution Protocol: the dialect of tag switching that LDP came from. It was an Internet-Draft and
//! never an RFC; [`wire::tdp::form`] says which of its bytes are known, and how.
//!
//! - [`session`]: the states of sessions; `speak`: Hellos, connections, and what comes by them
//! - [`section`]: the settings that users write; `shown`: its tables
//!
//! Which prefixes have a tag, and who is told, is for [`distribution`](crate::services::distribution) to know, as for
//! LDP: tags are given unasked, without waiting for others, and all are kept. Here are no requests and no
//! notifications, because their bytes are not known.

pub mod section;
pub mod session;
mod shown;
mod speak;
#[cfg(test)]
mod tests;

use crate::inquiry::{Fec, FecMapping};
use crate::machine::{Chart, State};
use crate::protocol::{Arrival, Change, Context, Known, Listen, Output, Protocol, Topic, UNKNOWN_KIND};
use crate::services::Services;
use crate::services::distribution::{
    Cause, Distribution, LabelAdvertisement, LabelControl, LabelRetention, LdpPrefixes, Settings,
};
use crate::services::sessions::{Options, SessionEvent, SessionId, SessionOutput};
use base::describe::SectionDecl;
use base::plane::{Ack, IpPrefix, Prefix};
use base::{PortId, ProtocolId, ProtocolValue, Span, Time};
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use session::{Session, SessionState};
use speak::Adjacency;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use wire::tdp::{TdpId, form, message_len};

/// The machines of TDP, for the documentation.
pub const CHARTS: &[Chart] = &[SessionState::CHART];

/// How good its entries are among those for the packets of a prefix: behind those of LDP.
pub const PREFERENCE: u8 = 101;
/// The number of its first group of next hops with labels: behind those of LDP.
const FIRST_GROUP: u32 = 7 << 29;

/// How a router speaks TDP.
#[derive(Clone, Debug)]
pub struct Config {
    /// From a Hello to the next.
    pub hello: Span,
    /// Which prefixes get a tag.
    pub prefixes: LdpPrefixes,
    /// The ports that it speaks on.
    pub ports: BTreeSet<PortId>,
}

/// A speaker of TDP.
#[derive(Debug)]
pub struct Tdp {
    router_id: Ipv4Addr,
    config: Config,
    hello_due: Time,
    /// Routers that are heard, by port and tag space.
    adjacencies: BTreeMap<(PortId, TdpId), Adjacency>,
    sessions: BTreeMap<SessionId, Session>,
    labels: Distribution,
    /// Hellos and elements that were malformed, not known, or of nobody who is meant.
    pub(crate) ignored: u64,
    is_started: bool,
    outputs: VecDeque<Output>,
}

impl Tdp {
    /// The name of TDP among protocols.
    pub const ID: ProtocolId = ProtocolId::new("tdp");

    /// TDP among the protocols that there are.
    pub const KNOWN: Known = Known {
        id: Tdp::ID,
        kind_name: Tdp::name_of,
        views: shown::VIEWS,
        section: Some(SectionDecl::of::<section::TdpSpec>(
            "TDP, the tag-switching dialect that LDP came from: true, or how. It gives labels to the router's routes.",
        )),
    };

    /// A speaker that knows nothing yet.
    pub fn new(router_id: Ipv4Addr, config: Config) -> Tdp {
        let settings = Settings {
            owner: Tdp::ID,
            preference: PREFERENCE,
            first_group: FIRST_GROUP,
            router_id,
            control: LabelControl::Independent,
            advertise: LabelAdvertisement::Unsolicited,
            retention: LabelRetention::Liberal,
            loop_detection: false,
            hops_max: u8::MAX,
            prefixes: config.prefixes,
            beyond: false,
            ports: config.ports.clone(),
            cells: Default::default(),
        };
        Tdp {
            router_id,
            config,
            hello_due: Time::ZERO,
            adjacencies: BTreeMap::new(),
            sessions: BTreeMap::new(),
            labels: Distribution::new(settings),
            ignored: 0,
            is_started: false,
            outputs: VecDeque::new(),
        }
    }

    fn name_of(number: u8) -> &'static str {
        let known = number.checked_sub(1).and_then(|place| form::ELEMENTS.get(usize::from(place)));
        known.map_or(UNKNOWN_KIND, |known| known.name)
    }

    /// Its tag space.
    const fn id(&self) -> TdpId {
        (self.router_id, 0)
    }

    /// All sessions, those that are not established included.
    pub fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.sessions.values()
    }

    /// The tags that it distributes, and those of others.
    pub const fn labels(&self) -> &Distribution {
        &self.labels
    }

    fn start(&mut self, now: Time, context: &mut Context<'_>) {
        self.is_started = true;
        self.hello_due = now;
        // Every route counts, so every route has to stand in the table.
        context.services.rib.use_every_route();
        let all: Vec<Prefix> = context.services.rib.active().map(|(prefix, _)| prefix).collect();
        all.into_iter().for_each(|prefix| self.labels.update(now, context.services, prefix, Cause::Route));
    }

    /// Sends what the call has made up.
    fn settle(&mut self, now: Time) {
        self.tell_labels();
        self.outputs.extend(self.labels.poll_batch().map(Output::Tables));
        let own = self.id();
        for session in self.sessions.values_mut().filter(|session| !session.outbox.is_empty()) {
            let all = core::mem::take(&mut session.outbox);
            let pdu = wire::tdp::pdu(own, &all);
            self.outputs.push_back(Output::Session(session.id, SessionOutput::Send(pdu)));
            if session.hold > Span::ZERO {
                // A word at every third of the hold time (remembered).
                session.speak = now + Span(session.hold.0 / 3);
            }
        }
    }
}

impl Protocol for Tdp {
    fn id(&self) -> ProtocolId {
        Tdp::ID
    }

    fn listens(&self) -> Vec<Listen> {
        // Hellos go to the broadcast address.
        vec![Listen::UdpPort(form::PORT), Listen::EveryGroup, Listen::TcpPort(form::PORT)]
    }

    fn subscribes(&self) -> Vec<Topic> {
        vec![Topic::Interfaces, Topic::Routes]
    }

    fn speaks_on(&self, port: PortId) -> bool {
        self.config.ports.contains(&port)
    }

    fn kind_of(&self, bytes: &[u8]) -> u8 {
        let first = bytes.get(12..14).and_then(|kind| kind.try_into().ok()).map_or(0, u16::from_be_bytes);
        let place = form::ELEMENTS.iter().position(|known| known.kind == first);
        place.map_or(0, |place| place as u8 + 1)
    }

    fn kind_name(&self, kind: u8) -> &'static str {
        Tdp::name_of(kind)
    }

    fn state_count(&self) -> usize {
        self.labels.fec_count()
    }

    fn accepts(&self, local: SocketAddr, remote: SocketAddr) -> Option<Options> {
        // The router with the lower address waits (observed).
        (local.ip() < remote.ip()).then(Options::default)
    }

    fn message_len(&self, stream: &[u8]) -> Option<usize> {
        message_len(stream)
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
            SessionEvent::Connected => self.opened(now, session),
            SessionEvent::Accepted { remote, .. } => {
                if let IpAddr::V4(remote) = remote.ip() {
                    self.sessions.insert(session, Session::new(session, false, remote, None));
                    self.opened(now, session);
                }
            }
            SessionEvent::Received(pdu) => self.receive(now, context, session, pdu),
            SessionEvent::Writable => {}
            SessionEvent::PeerClosed => self.end(now, context, session),
            SessionEvent::Closed(_) => self.forget(now, context, session),
        }
        self.settle(now);
    }

    fn handle_timeout(&mut self, now: Time, context: &mut Context<'_>) {
        if !self.is_started {
            self.start(now, context);
        }
        self.discover(now, context);
        self.session_timers(now, context);
        self.labels.retry(now, context.services);
        self.settle(now);
    }

    fn handle_command(&mut self, _: Time, _: &mut Context<'_>, _: &ProtocolValue) -> bool {
        false
    }

    fn handle_ack(&mut self, now: Time, context: &mut Context<'_>, ack: &Ack) {
        self.labels.written(now, context.services, ack);
        self.settle(now);
    }

    fn handle_change(&mut self, now: Time, context: &mut Context<'_>, change: &Change) {
        if *change == Change::Restart {
            *self = Tdp::new(self.router_id, self.config.clone());
            return;
        }
        if !self.is_started {
            return;
        }
        match *change {
            Change::Interface { port: Some(port), up, .. } => self.interface(now, context, port, up),
            Change::Route(IpPrefix::V4(prefix)) => {
                self.labels.update(now, context.services, prefix, Cause::Route);
                self.connect_all(now, context);
            }
            _ => {}
        }
        self.settle(now);
    }

    fn mapping(&self, services: &Services, fec: &Fec) -> Option<FecMapping> {
        let Fec::GenericIpv4 { prefix, length } = *fec else { return None };
        self.labels.mapping(services, Prefix::new(prefix, length))
    }

    fn carrier(&self, to: Ipv4Addr, _: u64) -> Option<Fec> {
        Some(Fec::GenericIpv4 { prefix: to, length: 32 })
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        let adjacencies = self.adjacencies.values().map(|one| one.expires).min();
        let sessions = self.sessions.values().map(|one| one.expires.min(one.speak)).min();
        let due = Time::earliest([Some(self.hello_due), adjacencies, sessions, self.labels.poll_timeout()]);
        if self.is_started { due } else { Some(Time::ZERO) }
    }
}
