//! OSPF version 2 (RFC 2328): a router of one area or a border router of several, on links between two and on broadcast
//! networks.
//!
//! - [`neighbor`], [`interface`], [`delay`]: the state machines, and the election of the designated router;
//!   `interfaces`: how they are found
//! - `receive`: which packets are taken (8.2, D.5); `hello`: neighbours are found and lost (9.5, 10.5)
//! - `exchange`: databases are described, and what is missing is asked for (10.6 to 10.9)
//! - `flood`: new instances are spread, acknowledged and sent again (13)
//! - [`areas`]: which areas the router is in, and what is flooded there (3); [`content`]: what advertisements say;
//!   [`database`]: instances and their ages; `unacknowledged`: who has not acknowledged them
//! - `liveness`: neighbours are watched (RFC 5882)
//! - `originate`: this router's own instances (12.4), refreshed and flushed (14); `summaries`: those of a border
//!   router; [`outside`]: those of a boundary router;
//!   `nssa`: those of and for areas that are not so stubby (RFC 3101);
//!   [`te`]: traffic engineering (RFC 3630), and what is kept of it for who computes paths
//! - [`graph`]: an area as vertices and edges; [`spf`]: shortest paths through it, and `respf`: after some edges have
//!   changed; `radix`: their queue; `hops`: sets of next hops
//! - `networks`: what the paths lead to; `tree`: all of that for an area; [`routes`]: what follows for the routing
//!   table (16), and `following`: how it gets that; `virtual_links`: how pieces of the backbone are joined, and ways
//!   through other areas (15, 16.3)
//! - [`keys`]: keys that take over from each other (D.3); `event`: what it tells the user
//! - [`section`], [`auth_section`], [`virtual_section`]: the settings that users write; `shown`: its tables
//!
//! What one call makes up leaves when it returns: instances that are flooded share packets. Opaque advertisements are
//! asked for where there is traffic engineering (RFC 5250).

pub mod areas;
pub mod auth_section;
pub mod content;
pub mod database;
pub mod delay;
mod event;
mod exchange;
mod flood;
mod following;
pub mod graph;
mod hello;
mod hops;
pub mod interface;
mod interfaces;
pub mod keys;
mod liveness;
pub mod neighbor;
mod networks;
mod nssa;
mod originate;
pub mod outside;
mod radix;
mod receive;
mod respf;
pub mod routes;
pub mod section;
mod sequences;
mod shown;
pub mod spf;
mod summaries;
pub mod te;
#[cfg(test)]
mod tests;
mod tree;
mod unacknowledged;
mod virtual_links;
pub mod virtual_section;

pub use event::Event;

use crate::machine::{Chart, State};
use crate::protocol::{
    Arrival, Change, Context, Known, Listen, Message, Output, Over, Protocol, Setup, Topic, UNKNOWN_KIND,
};
use crate::services::Services;
use areas::AreaConfig;
use base::describe::SectionDecl;
use base::plane::{Ack, IpPrefix, Prefix};
use base::queue::take_first;
use base::{PortId, ProtocolId, ProtocolValue, Span, Time};
use core::net::Ipv4Addr;
use database::{Databases, Place};
use delay::{Delay, DelayConfig, DelayState};
use interface::{Interface, InterfaceConfig, InterfaceName, InterfaceState, VirtualLink};
use interfaces::Interfaces;
use neighbor::NeighborState;
use outside::Redistribution;
use routes::{Boundary, Changes, Path};
use sequences::Sequences;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use tree::Tree;
use unacknowledged::Unacknowledged;
use wire::ospf::{ALL_D_ROUTERS, ALL_SPF_ROUTERS, Body, Kind, LsaBody};

/// The machines of OSPF, for the documentation.
pub const CHARTS: &[Chart] = &[InterfaceState::CHART, NeighborState::CHART, DelayState::CHART];

/// The number of OSPF among IP protocols.
pub const IP_PROTOCOL: u8 = 89;
/// How good its routes are, beside those of other protocols.
pub const PREFERENCE: u8 = 110;
/// A router makes a new instance of its own at most so often (RFC 2328, B).
const MIN_LS_INTERVAL: Span = Span::from_secs(5);
/// A new instance is taken from a neighbour at most so often (RFC 2328, B).
const MIN_LS_ARRIVAL: Span = Span::from_secs(1);
/// Own instances are made again when they are so old, in seconds (RFC 2328, B).
const LS_REFRESH_TIME: u16 = 1800;
/// So many routers a packet passes on a virtual link: no way is longer.
const VIRTUAL_TTL: u8 = 255;
/// From an instance to its delayed acknowledgement: less than until it is sent again (RFC 2328, 13.5).
const ACK_DELAY: Span = Span::from_secs(1);

/// How a router speaks OSPF.
#[derive(Clone, Debug)]
pub struct Config {
    /// The area of the router's own address, if the router can be reached there.
    pub area: Ipv4Addr,
    /// How areas are treated, if not as usual.
    pub areas: BTreeMap<Ipv4Addr, AreaConfig>,
    /// The number that neighbours know it by; the router's own if absent.
    pub router_id: Option<Ipv4Addr>,
    /// Announce that nothing is to go through the router (RFC 6987).
    pub stub_router: bool,
    /// Announce links to traffic engineering, and ask for opaque advertisements (RFC 3630, RFC 5250).
    pub te: bool,
    /// Ask for opaque advertisements and flood them, though nothing here uses them (RFC 5250).
    pub opaque: bool,
    /// How computations are delayed.
    pub delay: DelayConfig,
    /// The ports that it speaks on or announces, and how.
    pub interfaces: BTreeMap<PortId, InterfaceConfig>,
    /// Virtual links, and how they are treated: in the backbone, as links between two. What they cost is found out.
    pub virtual_links: BTreeMap<VirtualLink, InterfaceConfig>,
    /// Routes of others that it announces as networks outside.
    pub redistribute: Vec<Redistribution>,
    /// Addresses right beyond ports that nobody else announces (RFC 2328, C.7).
    pub hosts: Vec<(Ipv4Addr, PortId)>,
}

impl Default for Config {
    /// In the backbone, on no port.
    fn default() -> Config {
        Config {
            area: areas::BACKBONE,
            areas: BTreeMap::new(),
            router_id: None,
            stub_router: false,
            te: false,
            opaque: false,
            delay: DelayConfig::default(),
            interfaces: BTreeMap::new(),
            virtual_links: BTreeMap::new(),
            redistribute: Vec::new(),
            hosts: Vec::new(),
        }
    }
}

/// A speaker of OSPF.
#[derive(Debug)]
pub struct Ospf {
    router_id: Ipv4Addr,
    /// The node's own address, which can be reached as long as the node can.
    loopback: Ipv4Addr,
    config: Config,
    interfaces: Interfaces,
    databases: Databases,
    unacknowledged: Unacknowledged,
    corrected: flood::Corrected,
    /// What this router has to say.
    own: BTreeMap<Place, LsaBody>,
    /// When it has said it last.
    made: BTreeMap<Place, Time>,
    /// Under which number each of it was known last.
    sequences: Sequences,
    /// When it is to say it again.
    pending: BTreeMap<Place, Time>,
    /// When another router has last seemed to have its router id.
    contested: Option<Time>,
    /// An election may be due at an interface.
    has_elections: bool,
    /// Something may have to be flooded by an interface.
    has_floods: bool,
    /// What it has to say may be something else now.
    is_stale: bool,
    /// Interfaces, adjacent neighbours or their addresses are others than paths were computed with.
    is_reach_other: bool,
    /// What is said of links beyond their costs.
    engineering: te::Engineering,
    delay: Delay,
    /// Neighbours of whose requests one was answered by somebody else.
    answered: Vec<hello::At>,
    /// Areas of which it passes networks outside on.
    translating: BTreeMap<Ipv4Addr, nssa::Translating>,
    /// Networks outside that it announces.
    imported: BTreeMap<Prefix, Redistribution>,
    /// They may be others than what was announced.
    is_import_due: bool,
    /// Other neighbours than before may have to be watched.
    is_watch_due: bool,
    /// What is to be computed when it is time.
    changes: Changes,
    /// The paths inside each area.
    trees: BTreeMap<Ipv4Addr, Tree>,
    /// The ways to routers that lead out of the AS.
    boundaries: BTreeMap<Ipv4Addr, Boundary>,
    /// Ranges of areas in which there is a network.
    ranges: BTreeSet<Prefix>,
    /// Was it a border router, and whose summaries led to other areas?
    view: Option<(bool, Ipv4Addr)>,
    /// Areas through which it may send what neither begins nor ends there.
    transit_areas: BTreeSet<Ipv4Addr>,
    /// The best paths to all destinations; the routing table is given those that lead away.
    table: BTreeMap<Prefix, Path>,
    computations: u64,
    partial: u64,
    searches_of_a_part: u64,
    /// When paths were computed last, and when a route was another then.
    computed: [Option<Time>; 2],
    sequence: u32,
    is_started: bool,
    outputs: VecDeque<Output>,
}

impl Ospf {
    /// The name of OSPF among protocols.
    pub const ID: ProtocolId = ProtocolId::new("ospf");

    /// OSPF among the protocols that there are.
    pub const KNOWN: Known = Known {
        id: Ospf::ID,
        kind_name: Ospf::name_of,
        views: shown::VIEWS,
        section: Some(SectionDecl::of::<section::OspfSpec>(
            "OSPF version 2 (RFC 2328): true, or how. It finds the router's routes.",
        )),
    };

    /// A speaker that knows nothing yet, at a node with this loopback address. It takes up interfaces when it is first
    /// called.
    pub fn new(loopback: Ipv4Addr, config: Config) -> Ospf {
        Ospf {
            router_id: config.router_id.unwrap_or(loopback),
            loopback,
            delay: Delay::new(config.delay),
            config,
            interfaces: Interfaces::default(),
            databases: Databases::default(),
            unacknowledged: Unacknowledged::default(),
            corrected: flood::Corrected::default(),
            own: BTreeMap::new(),
            made: BTreeMap::new(),
            sequences: Sequences::default(),
            pending: BTreeMap::new(),
            contested: None,
            has_elections: false,
            has_floods: false,
            is_stale: true,
            is_reach_other: false,
            engineering: te::Engineering::default(),
            answered: Vec::new(),
            translating: BTreeMap::new(),
            imported: BTreeMap::new(),
            is_import_due: false,
            is_watch_due: false,
            changes: Changes { all: true, ..Changes::default() },
            trees: BTreeMap::new(),
            boundaries: BTreeMap::new(),
            ranges: BTreeSet::new(),
            view: None,
            transit_areas: BTreeSet::new(),
            table: BTreeMap::new(),
            computations: 0,
            partial: 0,
            searches_of_a_part: 0,
            computed: [None; 2],
            sequence: 0,
            is_started: false,
            outputs: VecDeque::new(),
        }
    }

    /// By which others mean this router; in point-to-point links and advertisements.
    pub fn router_id(&self) -> Ipv4Addr {
        self.router_id
    }

    /// Its interfaces with their neighbours.
    pub fn interfaces(&self) -> impl Iterator<Item = &Interface> {
        self.interfaces.values()
    }

    /// What it knows of its areas.
    pub fn databases(&self) -> &Databases {
        &self.databases
    }

    /// The best paths to all destinations, its own addresses among them.
    pub fn table(&self) -> &BTreeMap<Prefix, Path> {
        &self.table
    }

    /// How often it has computed paths, and how often of these no tree of an area.
    pub fn computations(&self) -> (u64, u64) {
        (self.computations, self.partial)
    }

    /// How often it has searched only that part of an area's tree which a change touches.
    pub fn searches_of_a_part(&self) -> u64 {
        self.searches_of_a_part
    }

    /// When another router has last seemed to have this one's router id.
    pub fn contested(&self) -> Option<Time> {
        self.contested
    }

    /// When it has computed paths last, and when the routing table was last given another route.
    pub fn computed(&self) -> [Option<Time>; 2] {
        self.computed
    }

    fn name_of(kind: u8) -> &'static str {
        Kind::of(kind).map_or(UNKNOWN_KIND, Kind::name)
    }

    /// Takes up the interfaces that can be used.
    fn start(&mut self, now: Time, context: &Context<'_>) {
        self.is_started = true;
        for (port, known) in context.services.interfaces.ports() {
            let (Some(config), Some(address)) = (self.config.interfaces.get(&port), known.ipv4()) else {
                continue;
            };
            let mut interface = Interface::new(InterfaceName::Port(port), address, known.mtu, config.clone());
            interface.towards =
                context.services.interfaces.attached(port).map_or_else(String::new, |at| at.node.clone());
            interface.is_avoided = context.services.avoided.is(port);
            interface.keys = interface.key_state(now);
            self.interfaces.insert(interface);
            if known.up {
                self.raise(now, InterfaceName::Port(port));
            }
        }
        for (link, config) in &self.config.virtual_links {
            let mut interface = Interface::virtual_link(*link, config.clone());
            interface.keys = interface.key_state(now);
            self.interfaces.insert(interface);
        }
        self.start_engineering(context);
        if self.is_boundary() {
            let known: Vec<Prefix> = context.services.rib.iter().map(|(prefix, ..)| prefix).collect();
            known.into_iter().for_each(|prefix| self.import(context, prefix));
        }
    }

    fn event(&mut self, event: Event) {
        self.outputs.push_back(Output::Event(base::Event::Protocol(ProtocolValue::new(event))));
    }

    /// Sends a packet by an interface, without checksum and authentication yet.
    fn send(&mut self, now: Time, by: InterfaceName, dst: Ipv4Addr, packet: Result<Vec<u8>, wire::Error>) {
        let (Some(interface), Ok(mut bytes)) = (self.interfaces.get(&by), packet) else { return };
        // RFC 2328, A.1: what goes by a virtual link passes routers, and the routing table says which.
        let (port, ttl) = match by {
            InterfaceName::Port(port) => (port, 1),
            InterfaceName::Virtual(_) => (self.port_of(interface.address).unwrap_or(PortId(0)), VIRTUAL_TTL),
        };
        // RFC 2328, D.3: it never goes back, over restarts too.
        self.sequence = self.sequence.max((now.0 / base::time::PS_PER_S) as u32);
        interface.config.auth.sending(now).auth.seal(&mut bytes, self.sequence);
        let next = (!dst.is_multicast() && !by.is_virtual()).then_some(dst);
        let (src, over) = (interface.address, Over::Ip(IP_PROTOCOL));
        let message = Message { port, next, src, dst, over, ttl, router_alert: false, bytes };
        self.outputs.push_back(Output::Message(message));
    }

    fn say(&mut self, now: Time, by: InterfaceName, dst: Ipv4Addr, body: &Body) {
        let packet = body.packet(self.router_id, self.area_at(by));
        self.send(now, by, dst, packet);
    }

    /// What is left to do when something has happened.
    fn settle(&mut self, now: Time) {
        if core::mem::take(&mut self.has_elections) {
            let due = self.interfaces.values().filter(|interface| interface.is_election_due);
            for name in due.map(|interface| interface.name).collect::<Vec<_>>() {
                self.elect(now, name);
            }
        }
        for at in core::mem::take(&mut self.answered) {
            self.after_requests(now, at);
        }
        if core::mem::take(&mut self.is_stale) {
            self.changes.all = true;
            self.is_import_due |= !self.active_nssas().is_empty();
            self.renew(now);
            self.announce_links(now);
        }
        if core::mem::take(&mut self.is_import_due) {
            self.announce_outside(now);
        }
        self.originate_due(now);
        self.flush_floods(now);
        self.sweep(now);
        // What comes back before this router was allowed to say that it was gone is told by no advertisement.
        if self.is_reach_other && self.pending.is_empty() {
            self.is_reach_other = false;
            if !self.delay.is_under_way() {
                self.delay.change(now);
            }
        }
    }
}

impl Protocol for Ospf {
    fn id(&self) -> ProtocolId {
        Ospf::ID
    }

    fn listens(&self) -> Vec<Listen> {
        vec![Listen::IpProtocol(IP_PROTOCOL), Listen::Group(ALL_SPF_ROUTERS), Listen::Group(ALL_D_ROUTERS)]
    }

    fn subscribes(&self) -> Vec<Topic> {
        let routes = self.is_boundary().then_some(Topic::Routes);
        let bandwidth = self.config.te.then_some(Topic::Bandwidth);
        let shortcuts = self.config.te.then_some(Topic::Shortcuts);
        let mut all = self.config.interfaces.values().chain(self.config.virtual_links.values());
        let is_watched = all.any(|one| one.bfd.is_some());
        let liveness = is_watched.then_some(Topic::Liveness);
        let asked = [routes, bandwidth, shortcuts, liveness].into_iter().flatten();
        [Topic::Interfaces, Topic::Avoided].into_iter().chain(asked).collect()
    }

    fn speaks_on(&self, port: PortId) -> bool {
        // A message needs its interface, which has the same configuration: nothing else has to be fetched from memory.
        let known = self.interfaces.get(&InterfaceName::Port(port)).map(|interface| &interface.config);
        known.or_else(|| self.config.interfaces.get(&port)).is_some_and(|config| !config.passive)
    }

    fn kind_of(&self, bytes: &[u8]) -> u8 {
        bytes.get(1).copied().unwrap_or(0)
    }

    fn kind_name(&self, kind: u8) -> &'static str {
        Ospf::name_of(kind)
    }

    fn state_count(&self) -> usize {
        self.databases.len()
    }

    fn handle_message(&mut self, now: Time, context: &mut Context<'_>, arrival: &Arrival, bytes: &[u8]) {
        if !self.is_started {
            self.start(now, context);
        }
        if let Arrival::Ip(ip) = arrival {
            self.receive(now, ip, bytes);
        }
        self.settle(now);
        self.tell_engineering(now, context);
        self.watch(context);
    }

    fn handle_timeout(&mut self, now: Time, context: &mut Context<'_>) {
        if !self.is_started {
            self.start(now, context);
        }
        for place in 0..self.interfaces.len() {
            self.interface_due(now, self.interfaces.name_at(place));
        }
        self.age(now);
        self.translators_timeout(now);
        self.engineering_timeout(now, context);
        self.settle(now);
        self.tell_engineering(now, context);
        if self.delay.is_due(now) {
            self.compute(now, context);
            let is_other = self.config.te && self.note_reachability();
            self.tell_engineering(now, context);
            if is_other {
                self.look_for_tails(now, context);
            }
        }
        self.watch(context);
    }

    fn handle_command(&mut self, _: Time, _: &mut Context<'_>, _: &ProtocolValue) -> bool {
        false
    }

    fn handle_ack(&mut self, _: Time, _: &mut Context<'_>, _: &Ack) {}

    fn handle_change(&mut self, now: Time, context: &mut Context<'_>, change: &Change) {
        match *change {
            Change::Interface { port: Some(port), up, .. } if self.is_started => {
                if up {
                    self.raise(now, InterfaceName::Port(port));
                } else {
                    self.lower(now, InterfaceName::Port(port));
                }
                self.settle(now);
            }
            // What is outside is announced all at once, when all changes of this moment are known.
            Change::Route(IpPrefix::V4(prefix)) if self.is_started => self.import(context, prefix),
            Change::Bandwidth { port, is_refused } if self.is_started => {
                self.on_bandwidth(now, context, port, is_refused);
                self.settle(now);
            }
            // RFC 5443, 2: the link costs as much as can be while labels are missing there.
            Change::Avoided { port } if self.is_started => {
                let is_avoided = context.services.avoided.is(port);
                if let Some(interface) = self.interfaces.get_mut(&InterfaceName::Port(port)) {
                    interface.is_avoided = is_avoided;
                    self.is_stale = true;
                }
                self.settle(now);
            }
            Change::Shortcuts if self.is_started => self.look_for_tails(now, context),
            Change::Liveness { path, is_alive: false } if self.is_started => {
                self.on_dead(now, path);
                self.settle(now);
            }
            Change::Restart => *self = Ospf::new(self.loopback, self.config.clone()),
            _ => {}
        }
        self.tell_engineering(now, context);
        self.watch(context);
    }

    fn poll_output(&mut self) -> Option<Output> {
        take_first(&mut self.outputs)
    }

    fn poll_timeout(&self) -> Option<Time> {
        if !self.is_started {
            return Some(Time::ZERO);
        }
        if self.is_import_due {
            return Some(Time::ZERO);
        }
        let interfaces = self.interfaces.values().filter_map(Interface::due).min();
        let others = Time::earliest([self.engineering_due(), self.translators_due()]);
        Time::earliest([interfaces, self.own_due(), self.databases.due(), self.delay.due(), others])
    }
}

impl Setup for Config {
    fn protocol(&self, services: &Services) -> Box<dyn Protocol> {
        Box::new(Ospf::new(services.interfaces.router_id, self.clone()))
    }
}
