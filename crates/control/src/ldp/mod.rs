//! LDP (RFC 5036): labels for the routes of a router.
//!
//! - `discovery`: neighbours are found and lost, and sessions begun (2.4, 2.5.2)
//! - `extended`: the same with routers further away (2.4.2); `sync`: when a link has all labels (RFC 5443, 5919)
//! - [`session`]: the state machine of sessions (2.5.4); `receive`: what comes by them, and what is answered (3.5)
//! - [`multipoint`]: LSPs with several ends (RFC 6388)
//! - `cells`: links of ATM, on which labels are channels (RFC 3035)
//! - `restart`: forwarding goes on while a neighbour restarts, or LDP here (RFC 3478)
//! - `liveness`: those that are heard are watched (RFC 5882)
//! - `said`: what is said of labels (3.5.7 to 3.5.11); which there are, and who is told, is for
//!   [`distribution`](crate::services::distribution) to know (A)
//! - [`section`]: the settings that users write; `shown`: its tables
//!
//! What one call makes up leaves when it returns: messages share PDUs, and writes of tables share a batch.

mod cells;
mod discovery;
mod extended;
mod liveness;
pub mod multipoint;
mod receive;
mod restart;
mod said;
pub mod section;
pub mod session;
mod shown;
mod sync;
#[cfg(test)]
mod tests;

use crate::inquiry::{Fec, FecMapping};
use crate::machine::{Chart, State};
use crate::protocol::{Arrival, Change, Context, Known, Listen, Output, Protocol, Topic, UNKNOWN_KIND};
use crate::services::distribution::{
    Cause, Distribution, LabelAdvertisement, LabelControl, LabelRetention, Settings,
};
use crate::services::label_vcs::{LabelVcs, VcState};
use crate::services::sessions::{Key, Options, SessionEvent, SessionId, SessionOutput};
use crate::services::{CellLabels, Excused, Pace, Services};
use base::describe::SectionDecl;
use base::plane::{Ack, IpPrefix, Prefix};
use base::queue::take_first;
use base::{PortId, ProtocolId, ProtocolType, ProtocolValue, Span, Time};
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use discovery::{Adjacency, Peer};
use multipoint::Multipoint;
use multipoint::states::LabelState;
use restart::Graceful;
use serde::Serialize;
use session::{Session, SessionState};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use wire::ldp::{ALL_ROUTERS, Header, LdpId, Message, P2mp, PORT, Status, kind};

/// The machines of LDP, for the documentation.
pub const CHARTS: &[Chart] = &[SessionState::CHART, VcState::CHART, LabelState::CHART];

/// How good its entries are among those for the packets of a prefix: behind a tunnel that a user asked for.
pub const PREFERENCE: u8 = 100;
/// The number of its first group of next hops with labels: behind those of users and of routes.
const FIRST_GROUP: u32 = 3 << 30;
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
pub use crate::services::distribution::LdpPrefixes;

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
    /// When a label is given (RFC 5036, 2.6.1).
    pub control: LabelControl,
    /// Who gets labels (RFC 5036, 2.6.3).
    pub advertise: LabelAdvertisement,
    /// Which labels of others are kept (RFC 5036, 2.6.2).
    pub retention: LabelRetention,
    /// Are loops looked for by path vectors (RFC 5036, 2.8)?
    pub loop_detection: bool,
    /// Routers on a way at most.
    pub hops_max: u8,
    /// Does it take part in point-to-multipoint LSPs (RFC 6388)?
    pub p2mp: bool,
    /// Do prefixes beyond this network get labels?
    pub beyond: bool,
    /// Routers further away that sessions are wanted with (RFC 5036, 2.4.2).
    pub targets: Vec<Ipv4Addr>,
    /// Are others taken that want one?
    pub accept_targeted: bool,
    /// Are links avoided until all labels are known there (RFC 5443)?
    pub igp_sync: bool,
    /// How long it takes to tell labels, with a neighbour that does not say when it has.
    pub igp_sync_delay: Span,
    /// What sessions are signed with (RFC 5036, 2.9).
    pub key: Option<Key>,
    /// Is the time to live of sessions checked (RFC 6720)?
    pub gtsm: bool,
    /// The ports that it speaks on.
    pub ports: BTreeSet<PortId>,
    /// Those of them on whose links labels are channels of ATM (RFC 3035), and which.
    pub cells: BTreeMap<PortId, CellLabels>,
    /// Does forwarding go on while LDP restarts, here or at a neighbour (RFC 3478)?
    pub graceful: Option<Graceful>,
    /// Have those watched that are heard (RFC 5882), and how closely.
    pub bfd: Option<Pace>,
    /// Have LSPs watched that begin here (RFC 5884), and how closely.
    pub lsp_watch: Option<Pace>,
}

impl Config {
    fn settings(&self, router_id: Ipv4Addr) -> Settings {
        Settings {
            owner: Ldp::ID,
            preference: PREFERENCE,
            first_group: FIRST_GROUP,
            router_id,
            control: self.control,
            // Where all labels are channels, nobody is told one unasked.
            advertise: match self.ports.iter().all(|port| self.cells.contains_key(port)) {
                true if !self.cells.is_empty() => LabelAdvertisement::OnDemand,
                _ => self.advertise,
            },
            retention: self.retention,
            loop_detection: self.loop_detection,
            hops_max: self.hops_max,
            prefixes: self.prefixes,
            beyond: self.beyond,
            ports: self.ports.clone(),
            cells: self.cells.keys().copied().collect(),
        }
    }
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
    /// Routers further away that are heard.
    targeted: BTreeMap<LdpId, Adjacency>,
    /// When the next targeted Hellos are due.
    reach_due: Time,
    /// What is kept of a router beyond its sessions.
    peers: BTreeMap<LdpId, Peer>,
    sessions: BTreeMap<SessionId, Session>,
    labels: Distribution,
    /// LSPs with several ends.
    multipoint: Multipoint,
    /// Labels that are channels, of a router with links of ATM.
    vcs: Option<LabelVcs>,
    /// Entries from before a restart that are not confirmed by then go (RFC 3478, 3.1).
    holding_until: Option<Time>,
    /// Labels of neighbours that seem to restart go then, if they were not given again (RFC 3478, 3.3).
    stale_until: BTreeMap<LdpId, Time>,
    /// Neighbours that are not heard while they restart, or since LDP has restarted here, by port and label space: they
    /// are watched on (RFC 5882, 4.3).
    bridged: BTreeMap<(PortId, LdpId), Ipv4Addr>,
    /// Neighbours that have not answered BFD since a restart of theirs, or of LDP here.
    excused: Excused<(PortId, LdpId)>,
    /// Neighbours that have had a session since the node or LDP has started.
    met: BTreeSet<LdpId>,
    /// Hellos that were malformed or of nobody who is meant.
    pub(crate) ignored: u64,
    /// What was malformed in sessions, by reason: what it was answered by, and how often.
    malformed: BTreeMap<&'static str, (Status, u64)>,
    hellos: u32,
    is_started: bool,
    /// Others than before may have to be watched.
    is_watch_due: bool,
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
            labels: Distribution::new(config.settings(router_id)),
            multipoint: Multipoint::new(config.ports.clone()),
            vcs: config.label_vcs(router_id),
            router_id,
            config,
            hello_due: Time::ZERO,
            adjacencies: BTreeMap::new(),
            targeted: BTreeMap::new(),
            reach_due: Time::ZERO,
            peers: BTreeMap::new(),
            sessions: BTreeMap::new(),
            holding_until: None,
            stale_until: BTreeMap::new(),
            bridged: BTreeMap::new(),
            excused: Excused::default(),
            met: BTreeSet::new(),
            ignored: 0,
            malformed: BTreeMap::new(),
            hellos: 0,
            is_started: false,
            is_watch_due: false,
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
        self.look_again(now, context);
        // Every route counts, so every route has to stand in the table.
        context.services.rib.use_every_route();
        let all: Vec<Prefix> = context.services.rib.active().map(|(prefix, _)| prefix).collect();
        all.into_iter().for_each(|prefix| self.labels.update(now, context.services, prefix, Cause::Route));
        self.multipoint.start(context.services);
        self.begin_cells(now, context);
    }

    /// Sends what the call has made up.
    fn settle(&mut self, now: Time, context: &mut Context<'_>) {
        self.excuse_no_more(now, context);
        self.synchronise(context);
        self.tell_labels(now, context);
        self.tell_trees();
        self.outputs.extend(self.labels.poll_batch().map(Output::Tables));
        self.outputs.extend(self.multipoint.poll_batch(now).map(Output::Tables));
        self.outputs.extend(self.vcs.as_mut().and_then(LabelVcs::poll_batch).map(Output::Tables));
        for session in self.sessions.values_mut().filter(|session| !session.outbox.is_empty()) {
            Ldp::send(now, session, &mut self.outputs);
        }
    }

    /// Sends what waits in a session.
    fn send(now: Time, session: &mut Session, to: &mut VecDeque<Output>) {
        let all: Vec<Message> = core::mem::take(&mut session.outbox);
        for pdu in wire::ldp::pdus(session.own, &all, session.max_pdu) {
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
        let liveness = self.config.bfd.or(self.config.lsp_watch).map(|_| Topic::Liveness);
        [Topic::Interfaces, Topic::Routes, Topic::Groups].into_iter().chain(liveness).collect()
    }

    fn restarts_alone(&self) -> bool {
        true
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
        self.labels.fec_count() + self.multipoint.count()
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
        self.settle(now, context);
        self.watch(context);
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
        self.settle(now, context);
        self.watch(context);
    }

    fn handle_timeout(&mut self, now: Time, context: &mut Context<'_>) {
        if !self.is_started {
            self.start(now, context);
        }
        self.discover(now, context);
        self.reach_out(now, context);
        self.session_timers(now, context);
        self.complete_due(now);
        self.restarts_due(now, context);
        self.labels.retry(now, context.services);
        self.multipoint.retry(now, context.services);
        self.vcs.iter_mut().for_each(|vcs| vcs.retry(now, context.services));
        self.settle(now, context);
        self.watch(context);
    }

    fn handle_command(&mut self, now: Time, context: &mut Context<'_>, command: &ProtocolValue) -> bool {
        let Some(command) = command.read::<multipoint::command::Command>() else { return false };
        self.command(context, &command);
        self.settle(now, context);
        true
    }

    fn handle_ack(&mut self, now: Time, context: &mut Context<'_>, ack: &Ack) {
        match &mut self.vcs {
            _ if Multipoint::is_about(ack) => self.multipoint.written(now, context.services, ack),
            Some(vcs) if LabelVcs::is_about(ack) => vcs.written(context.services, ack),
            _ => self.labels.written(now, context.services, ack),
        }
        self.settle(now, context);
    }

    fn handle_change(&mut self, now: Time, context: &mut Context<'_>, change: &Change) {
        if *change == Change::Restart {
            let multipoint = self.multipoint.anew();
            *self = Ldp { multipoint, ..Ldp::new(self.router_id, self.config.clone()) };
            return;
        }
        if *change == Change::RestartAlone {
            self.multipoint.restart(context.services);
            return self.begin_anew(now);
        }
        if !self.is_started {
            return;
        }
        match *change {
            Change::Interface { port: Some(port), up, .. } => self.interface(now, context, port, up),
            Change::Route(IpPrefix::V4(prefix)) => {
                self.labels.update(now, context.services, prefix, Cause::Route);
                self.vcs.iter_mut().for_each(|vcs| vcs.route_changed(context.services, prefix));
                self.multipoint.route_changed(context.services, prefix);
                self.connect_all(now, context);
            }
            Change::Group(key) => self.multipoint.wanted(context.services, key),
            Change::Liveness { path, is_alive } => match path.lsp() {
                Some(lsp) => self.on_lsp(context, lsp, is_alive),
                None if !is_alive => self.on_dead(now, context, path),
                None => {}
            },
            _ => {}
        }
        self.settle(now, context);
        self.watch(context);
    }

    fn mapping(&self, services: &Services, fec: &Fec) -> Option<FecMapping> {
        if let Fec::LdpP2mp { root, opaque } = fec {
            return self.multipoint.mapping(&P2mp { root: *root, opaque: opaque.clone() });
        }
        let (Fec::LdpIpv4 { prefix, length } | Fec::GenericIpv4 { prefix, length }) = *fec else {
            return None;
        };
        self.labels.mapping(services, Prefix::new(prefix, length))
    }

    fn carrier(&self, to: Ipv4Addr, _: u64) -> Option<Fec> {
        Some(Fec::LdpIpv4 { prefix: to, length: 32 })
    }

    fn poll_output(&mut self) -> Option<Output> {
        take_first(&mut self.outputs)
    }

    fn poll_timeout(&self) -> Option<Time> {
        let adjacencies = self.adjacencies.values().map(|one| one.expires).min();
        let sessions = self.sessions.values().map(|one| one.expires.min(one.speak)).min();
        let (retry, far) = (self.labels.poll_timeout(), self.reach_timeout());
        let complete = self.complete_timeout();
        let kept = self.restarts_timeout();
        let excused = self.excused.timeout();
        let again = self.vcs.as_ref().and_then(LabelVcs::poll_timeout);
        let due = Time::earliest([Some(self.hello_due), adjacencies, sessions, retry, far, complete]);
        let due = Time::earliest([due, kept, excused, again, self.multipoint.poll_timeout()]);
        if self.is_started { due } else { Some(Time::ZERO) }
    }
}
