//! BGP-4 (RFC 4271): routes between and within autonomous systems, of IPv4 and of IPv6 (RFC 4760).
//!
//! - [`session`]: the state machine of connections (8.2); `peer` and `peers`: neighbours, how connections
//!   begin and end
//! - `liveness`: neighbours are watched (RFC 5882); `lsps`: and LSPs (RFC 5884)
//! - `labels`: labels of destinations (RFC 8277), IPv6 over a core of IPv4 (RFC 4798); `several`: several of one
//!   destination; `fec`: what is bound to one
//! - `restart`: routes of neighbours that restart are kept (RFC 4724); `restarting`: those of this router while it
//!   restarts itself
//! - `table`: what is known of prefixes; `sets`: what is said of routes; `next_hops`: what it costs to get there
//! - `path_ids`: numbers by which several paths are told (RFC 7911)
//! - `routes`: what neighbours have told and what of it is taken (9.1); [`decision`]: which of several routes that is
//!   (9.1.2.2); `told`: what neighbours are told (9.2)
//! - [`section`]: the settings that users write; `mesh`: those of a full mesh; `shown`: its tables
//!
//! Sets of attributes that are equal are one in memory, whoever told them. Routes stand in the routing table of the
//! node with their next hops as addresses, and follow the routes to those without anybody's doing.

pub mod decision;
mod fec;
mod labels;
mod liveness;
mod lsps;
mod mesh;
mod next_hops;
mod path_ids;
mod peer;
mod peers;
mod restart;
mod restarting;
mod routes;
pub mod section;
pub mod session;
mod sets;
mod several;
mod shown;
mod table;
#[cfg(test)]
mod tests;
mod told;

use crate::inquiry::{Fec, FecMapping};
use crate::machine::Chart;
use crate::machine::State as _;
use crate::protocol::{Arrival, Change, Context, Known, Listen, Output, Protocol, Topic, UNKNOWN_KIND};
use crate::services::policy::PolicyRule;
use crate::services::sessions::{Key, Options, SessionEvent, SessionId, SessionOutput};
use crate::services::{Excused, Pace, Services};
use base::describe::SectionDecl;
use base::plane::{Ack, IpPrefix};
use base::random::{Rng as _, Stream};
use base::{Label, PortId, ProtocolId, ProtocolType, ProtocolValue, Span, Time};
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use fec::Bound;
pub use lsps::LspWatch;
use lsps::Lsps;
use next_hops::NextHops;
use path_ids::PathIds;
pub use peer::Peer;
pub use restarting::Graceful;
use restarting::Restarted;
pub use section::Imported;
use serde::Serialize;
use session::SessionState;
pub use sets::Set;
use sets::Sets;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use table::Prefixes;
use wire::bgp::{Family, HEADER_LEN, PORT, kind, message_len};

/// The machines of BGP, for the documentation.
pub const CHARTS: &[Chart] = &[SessionState::CHART];

/// How good routes are that neighbours of other ASes have told: before those of OSPF.
pub const EXTERNAL_PREFERENCE: u8 = 20;
/// How good routes are that neighbours of the same AS have told: behind those of OSPF.
pub const INTERNAL_PREFERENCE: u8 = 200;

/// After so long with all of its sessions nothing of a router's routes comes right by itself.
const CALM: Span = Span::from_secs(30);

/// What BGP tells the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// Routes are exchanged with a neighbour from now on.
    BgpSessionUp {
        /// The neighbour's address.
        address: IpAddr,
        /// Its AS.
        asn: u32,
    },
    /// No routes are exchanged any more.
    BgpSessionDown {
        /// The neighbour's address.
        address: IpAddr,
        /// Its AS.
        asn: u32,
        /// Why it ended: what was said, or what became of the connection.
        why: String,
    },
}

impl ProtocolType for Event {
    const PROTOCOL: ProtocolId = Bgp::ID;
}

/// How a neighbour is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerConfig {
    /// Its name, if it is a node at the other end of a link; else its address.
    pub name: String,
    /// Its address.
    pub address: IpAddr,
    /// Its AS.
    pub asn: u32,
    /// Is it a client of this router, which is a reflector then (RFC 4456)?
    pub client: bool,
    /// Is it told this router as the next hop of what comes from other ASes?
    pub next_hop_self: bool,
    /// Which of its routes are taken (RFC 8212).
    pub import: Passing,
    /// Which routes it is told (RFC 8212).
    pub export: Passing,
    /// What its session is signed with (RFC 2385).
    pub key: Option<Key>,
    /// Seconds without a message until it is given up; zero is never.
    pub hold_s: u16,
    /// How many routes are taken of it; with more the session ends (RFC 4271, 6.7).
    pub maximum_prefixes: Option<usize>,
    /// Between two rounds of UPDATEs to it (RFC 4271, 9.2.1.1).
    pub interval: Span,
    /// Have it watched while there is a session (RFC 5882), and how closely.
    pub bfd: Option<Pace>,
    /// How many hops away it is at most, if its packets are checked for that (RFC 5082); 1 is right beside.
    pub hops: Option<u8>,
    /// Families of which routes are exchanged with it, if it wants that, too (RFC 4760, 8).
    pub families: Vec<Family>,
    /// Are several paths to a destination taken from it, if it tells them (RFC 7911)?
    pub takes_paths: bool,
    /// How many of the best paths it is told, if it takes several (RFC 7911); absent: one, without a number.
    pub told_paths: Option<usize>,
}

/// Which routes pass between a router and a neighbour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Passing {
    /// None of them.
    None,
    /// All of them, as they are.
    All,
    /// Those that pass rules, as these change them.
    By(Arc<[PolicyRule]>),
}

impl Passing {
    /// May any pass?
    pub fn is_any(&self) -> bool {
        *self != Passing::None
    }
}

/// How a router speaks BGP.
#[derive(Clone, Debug)]
pub struct Config {
    /// Its AS.
    pub asn: u32,
    /// Number of its cluster, if it is a reflector (RFC 4456, 7).
    pub cluster_id: Ipv4Addr,
    /// Destinations that it tells as its own.
    pub networks: BTreeSet<IpPrefix>,
    /// Whose routes it tells as its own: those that pass rules, or all of them if there is no rule.
    pub redistribute: Vec<(Imported, Arc<[PolicyRule]>)>,
    /// Its neighbours.
    pub peers: Vec<PeerConfig>,
    /// From an attempt to connect to the next.
    pub connect_retry: Span,
    /// Are routes of neighbours kept that restart and go on forwarding (RFC 4724)?
    pub keeps_routes: bool,
    /// Does this router go on forwarding while BGP restarts here (RFC 4724, 4.1), and how; absent: it does not.
    pub graceful: Option<Graceful>,
    /// Which LSPs are watched that begin here (RFC 5884); absent: none.
    pub lsp_watch: Option<LspWatch>,
}

/// A speaker of BGP.
#[derive(Debug)]
pub struct Bgp {
    router_id: Ipv4Addr,
    config: Config,
    peers: Vec<Peer>,
    /// What is said of routes.
    sets: Sets,
    /// What neighbours have told, what of it is taken, and what others were told.
    prefixes: Prefixes,
    /// Labels by which neighbours reach destinations through this router (RFC 8277).
    labels: BTreeMap<IpPrefix, Label>,
    /// The numbers by which neighbours are told several paths: of those who have told them, and by which number there.
    path_ids: PathIds,
    /// How many prefixes have a route that is taken.
    taken: usize,
    is_started: bool,
    /// What timers vary by.
    random: Stream,
    /// What is left from before a restart of BGP, until routes are chosen.
    restarted: Option<Restarted>,
    /// Are labels kept that nobody has been told since a restart of BGP?
    keeps_labels: bool,
    /// What was bound to destinations before that restart, for as long.
    bound_before: BTreeMap<IpPrefix, Bound>,
    /// LSPs that are watched.
    lsps: Lsps,
    /// Neighbours, by their place, that have not answered BFD since a restart of theirs, or of BGP here.
    excused: Excused<usize>,
    /// Other neighbours or LSPs than before may have to be watched.
    is_watch_due: bool,
    outputs: VecDeque<Output>,
}

impl Bgp {
    /// The name of BGP among protocols.
    pub const ID: ProtocolId = ProtocolId::new("bgp");

    /// BGP among the protocols that there are.
    pub const KNOWN: Known = Known {
        id: Bgp::ID,
        kind_name: Bgp::name_of,
        views: shown::VIEWS,
        section: Some(SectionDecl::of::<section::BgpSpec>(
            "BGP-4 (RFC 4271): its AS, its neighbours, and what it tells them.",
        )),
    };

    /// A speaker that knows nothing yet.
    pub fn new(router_id: Ipv4Addr, config: Config, random: Stream) -> Bgp {
        let peers = config.peers.iter().cloned().map(Peer::new).collect();
        Bgp {
            router_id,
            config,
            peers,
            sets: Sets::default(),
            prefixes: Prefixes::default(),
            labels: BTreeMap::new(),
            path_ids: PathIds::default(),
            taken: 0,
            is_started: false,
            random,
            restarted: None,
            keeps_labels: false,
            bound_before: BTreeMap::new(),
            lsps: Lsps::default(),
            excused: Excused::default(),
            is_watch_due: false,
            outputs: VecDeque::new(),
        }
    }

    fn name_of(number: u8) -> &'static str {
        kind::ALL.iter().find(|(known, _)| *known == number).map_or(UNKNOWN_KIND, |(_, name)| name)
    }

    /// Its neighbours, in the order in which they are written.
    pub fn peers(&self) -> &[Peer] {
        &self.peers
    }

    /// How the TCP of a connection with a neighbour behaves.
    fn options(peer: &PeerConfig) -> Options {
        let timeout = Some(Span::from_secs(i64::from(peer.hold_s.max(30))));
        let usual = Options { timeout, nagle: false, key: peer.key, ..Options::default() };
        match peer.hops {
            // RFC 5082, 3: what is sent with 255 has that less one for each router on its way.
            Some(hops) => Options { ttl: u8::MAX, ttl_min: u8::MAX - (hops - 1), ..usual },
            None => usual,
        }
    }

    /// A time as it varies: three quarters of it at least (RFC 4271, 10).
    fn jittered(&mut self, span: Span) -> Span {
        let quarter = i128::from(span.0 / 4);
        let more = (quarter * i128::from(self.random.next_u32())) >> 32;
        Span(span.0 - quarter as i64 + more as i64)
    }

    fn event(&mut self, event: Event) {
        self.outputs.push_back(Output::Event(base::Event::Protocol(ProtocolValue::new(event))));
    }

    fn start(&mut self, now: Time, context: &mut Context<'_>) {
        self.is_started = true;
        self.look_again(now, context);
        let Services { rib, rib6, .. } = &mut **context.services;
        rib.use_every_route();
        rib6.use_every_route();
        let all = rib.active().map(|(prefix, _)| IpPrefix::V4(prefix));
        let all = all.chain(rib6.active().map(|(prefix, _)| IpPrefix::V6(prefix)));
        let all: BTreeSet<IpPrefix> = all.chain(self.config.networks.iter().copied()).collect();
        all.into_iter().for_each(|prefix| self.originate(context, prefix));
    }

    /// Chooses routes after a restart if it is time, and tells neighbours what is due.
    fn settle(&mut self, now: Time, context: &mut Context<'_>) {
        self.choose_due(now, context);
        self.excuse_no_more(now, context);
        (0..self.peers.len()).for_each(|place| self.tell(now, context, place));
        self.tidy_labels(context);
    }
}

impl Protocol for Bgp {
    fn id(&self) -> ProtocolId {
        Bgp::ID
    }

    fn listens(&self) -> Vec<Listen> {
        vec![Listen::TcpPort(PORT)]
    }

    fn subscribes(&self) -> Vec<Topic> {
        let watches =
            self.config.lsp_watch.is_some() || self.config.peers.iter().any(|peer| peer.bfd.is_some());
        let liveness = watches.then_some(Topic::Liveness);
        [Topic::Interfaces, Topic::Routes].into_iter().chain(liveness).collect()
    }

    fn restarts_alone(&self) -> bool {
        true
    }

    fn speaks_on(&self, _: PortId) -> bool {
        true
    }

    fn kind_of(&self, bytes: &[u8]) -> u8 {
        bytes.get(HEADER_LEN - 1).copied().filter(|kind| Bgp::name_of(*kind) != UNKNOWN_KIND).unwrap_or(0)
    }

    fn kind_name(&self, kind: u8) -> &'static str {
        Bgp::name_of(kind)
    }

    fn state_count(&self) -> usize {
        self.taken
    }

    fn complaints(&self, now: Time) -> Vec<String> {
        // One that is down holds nothing back: it may never come.
        let is_calm = |peer: &Peer| peer.established().is_none_or(|one| one.since + CALM <= now);
        if !self.peers.iter().all(is_calm) {
            return Vec::new();
        }
        let unwatched = self.lsps.lacks_ipv6.then(|| {
            "LSPs to destinations of IPv6 are not watched: the router has no IPv6 address that their ends could answer \
             to ('ipv6' gives it one)"
                .to_owned()
        });
        let all: Vec<String> = self.sets.hops.never_reached().map(|one| one.to_string()).collect();
        let (some, more) =
            (all.iter().take(3).cloned().collect::<Vec<_>>().join(", "), all.len().saturating_sub(3));
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let (hops, them) = if all.len() > 1 { ("next hops", "them") } else { ("next hop", "it") };
        let clause = format!(
            "no route leads to the {hops} {some}{more}: routes by {them} are not used (another protocol has to \
             announce {them}, or next_hop_self has to be set)"
        );
        let unreached = (!all.is_empty()).then_some(clause);
        unreached.into_iter().chain(unwatched).collect()
    }

    fn accepts(&self, _: SocketAddr, remote: SocketAddr) -> Option<Options> {
        let known = self.peers.iter().find(|peer| peer.config.address == remote.ip());
        known.map(|peer| Bgp::options(&peer.config))
    }

    fn message_len(&self, stream: &[u8]) -> Option<usize> {
        message_len(stream)
    }

    fn handle_message(&mut self, _: Time, _: &mut Context<'_>, _: &Arrival, _: &[u8]) {}

    fn handle_session(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        session: SessionId,
        event: SessionEvent<'_>,
    ) {
        match event {
            SessionEvent::Connected => self.opened(now, session),
            SessionEvent::Accepted { remote, .. } => self.taken(now, context, session, remote),
            SessionEvent::Received(message) => self.receive(now, context, session, message),
            SessionEvent::Writable => {}
            SessionEvent::PeerClosed => {
                self.fail(now, context, session, "the neighbour closed the connection");
                self.outputs.push_back(Output::Session(session, SessionOutput::Close));
            }
            SessionEvent::Closed(why) => self.closed(now, context, session, why),
        }
        self.settle(now, context);
        self.watch(context);
    }

    fn handle_timeout(&mut self, now: Time, context: &mut Context<'_>) {
        if !self.is_started {
            self.start(now, context);
        }
        self.timers(now, context);
        self.settle(now, context);
        self.watch(context);
    }

    fn handle_command(&mut self, _: Time, _: &mut Context<'_>, _: &ProtocolValue) -> bool {
        false
    }

    fn handle_ack(&mut self, _: Time, _: &mut Context<'_>, _: &Ack) {}

    fn handle_change(&mut self, now: Time, context: &mut Context<'_>, change: &Change) {
        if *change == Change::Restart {
            *self = Bgp::new(self.router_id, self.config.clone(), self.random.clone());
            return;
        }
        if *change == Change::RestartAlone {
            return self.begin_anew(now, context);
        }
        if !self.is_started {
            return;
        }
        match *change {
            Change::Interface { port: Some(port), up, .. } => self.interface(now, context, port, up),
            Change::Route(prefix) => {
                self.route_changed(context, prefix);
                self.reached(now, context, prefix);
            }
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
        self.fec_mapping(services, fec)
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        if !self.is_started {
            return Some(Time::ZERO);
        }
        let peers = self.peers.iter().filter_map(Peer::due);
        peers.chain(self.deferral_timeout()).chain(self.excused.timeout()).min()
    }
}
