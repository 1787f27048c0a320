//! RSVP-TE (RFC 2205, RFC 3209): label-switching and label-edge router.
//!
//! [`Rsvp`] is a sans-I/O state machine. What belongs together lives together:
//!
//! - state: `lsp` (PSB and RSB side by side), `store`, `link`; how far each has come, as tables: `states`
//! - messages: `path`, `path_send`, `resv`, `resv_send`, `tear`, `error`, `outbox`
//! - decisions, as pure as they can be: `explicit_route`, `record_route`, `admission`
//! - soft state: `refresh`; link failures and restarts: `failure`; neighbours that are watched: `liveness`
//! - fast reroute: [`protection`]
//! - point-to-multipoint LSPs, which have state of their own: `p2mp`
//! - below the LSPs: [`transport`]
//! - tunnels at their head end: `head`, `ingress`, `autoroute`, `ftn`; their paths: `computed`, `alternatives`,
//!   `standby`; each packet over two LSPs, and what their end takes: `permanent_bridge`, `selector`; what is taken from
//!   the services, and the plane boundary: `tables`
//! - what users say and are told: [`command`], `event`
//! - what can be seen from outside: `views`, `counters`, `faults`, `unreadable`, `signals`, `audit`, and as tables
//!   `shown`, `shown_paths`
//! - the contract of protocols: `speaker`

mod admission;
mod advert;
mod alternatives;
mod audit;
mod autoroute;
mod barred;
mod cells;
pub mod command;
mod computed;
mod config;
mod counters;
mod diffserv;
mod error;
mod event;
mod explicit_route;
mod failure;
mod faults;
mod fec;
mod ftn;
mod head;
mod ingress;
mod link;
mod liveness;
mod lsp;
mod outbox;
mod p2mp;
mod path;
mod path_send;
mod permanent_bridge;
mod protection;
mod record_route;
mod refresh;
mod resv;
mod resv_send;
mod route;
mod selector;
mod selector_shown;
mod shown;
mod shown_paths;
mod signals;
mod slab;
mod speaker;
mod standby;
mod states;
mod store;
mod tables;
mod tear;
#[cfg(test)]
mod tests;
pub mod transport;
mod tunnel;
mod unreadable;
mod views;

pub use audit::Audit;
pub use command::Command;
pub use config::{Config, EgressLabel, Interface, Limits};
pub use counters::{Counters, Discard};
pub use event::Event;
pub use faults::{Fault, Faults};
pub use lsp::{Role, SenderKey, SessionKey};
pub use p2mp::{Leaf, LeafRoute, P2mpId, P2mpSpec, Remerge, Signalling, TreeShape};
pub use protection::{Bypass, ProtectionConfig, ProtectionRequest};
pub use signals::SignalRecord;
pub(crate) use states::CHARTS;
pub use unreadable::Unreadable;
pub use views::{LinkView, LspView, SelectorView, TunnelView};

use crate::protocol::{Change, IpArrival, Output};
use crate::services::Services;
use base::plane::{Ack, Prefix, SelectorId, TunnelModel};
use base::random::Stream;
use base::{PortId, Time, Wheel};
use link::Links;
use protection::Protections;
use selector::Selector;
use signals::Signals;
use std::collections::{BTreeMap, VecDeque};
use store::Store;
use tables::{Held, Tables};
use transport::{Arrival, Incoming, Transport};
use tunnel::Tunnels;
use unreadable::UnreadableLog;
use wire::rsvp::{Message, Session};

/// Timers of the speaker: one for each block of state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    Lsp(u32),
    Tunnel(u32),
    /// LSPs are signalled along a link again.
    Restore(PortId),
    /// Some more of the LSPs are signalled around a failure, or back along a link, or else choose their backup.
    Turn {
        choosing: bool,
    },
    /// Bypass tunnels that nobody uses are looked for.
    Sweep,
    /// LSPs that have less protection than they ask for are looked at again.
    Protect,
    /// The detour of an LSP was not answered in time, or is tried again.
    Detour(u32),
    /// Path state of a sub-group of a point-to-multipoint LSP.
    Sub(u32),
    /// What of it goes on to one neighbour.
    Branch(u32),
    /// A point-to-multipoint tunnel that begins here.
    P2mp(u32),
    /// The working LSP of a tunnel that ends here is taken again.
    Selector(SelectorId),
}

/// An RSVP-TE speaker.
///
/// Give it what happens by the `handle_*` methods, with a time that never goes back; after each of them drain
/// [`Rsvp::poll_output`] until it returns nothing, then read [`Rsvp::poll_timeout`]. [`Rsvp::lsps`], [`Rsvp::tunnels`],
/// [`Rsvp::links`], [`Rsvp::counters`] and [`Rsvp::audit`] only look.
pub struct Rsvp {
    config: Config,
    now: Time,
    store: Store,
    links: Links,
    /// The services of the node, in hand for the length of a call; between calls, those of no node.
    services: Box<Services>,
    tables: Tables,
    tunnels: Tunnels,
    protections: Protections,
    p2mp: p2mp::P2mp,
    /// Leaves that roots have to react to: done last, when all state is consistent.
    p2mp_losses: p2mp::Lost,
    /// How much of the services is ours.
    held: Held,
    /// Tunnelling models of tunnels whose LSPs have one of their own, by session; they outlive a restart, as all that
    /// is configured.
    models: BTreeMap<SessionKey, TunnelModel>,
    /// Tunnels that end here whose LSPs carry the same packets, by session; which these are outlives a restart.
    selectors: BTreeMap<SessionKey, Selector>,
    /// Numbers of selectors that have been given.
    selector_ids: u32,
    wheel: Wheel<Timer>,
    transport: Transport,
    /// What the transport has for the LSPs; empty between calls.
    incoming: Vec<Incoming>,
    random: Stream,
    /// Destinations whose routes lead through a tunnel: the one that was declared as this number.
    autorouted: BTreeMap<Prefix, u64>,
    /// LSPs whose head end has to react, with their generation: done last, when all state is consistent.
    lost: VecDeque<head::Lost>,
    outputs: VecDeque<Output>,
    counters: Counters,
    unreadable: UnreadableLog,
    /// For people: nothing depends on it.
    signals: Signals,
    restarts: u16,
    /// Have neighbours been watched since the start?
    is_watching: bool,
    /// The next LSP id, where tunnels have different ones.
    lsp_ids: u16,
}

impl Rsvp {
    /// A speaker without tunnels, all its ports up.
    pub fn new(config: Config) -> Rsvp {
        Rsvp {
            now: Time::ZERO,
            store: Store::default(),
            links: Links::new(config.router_id, &config.interfaces),
            services: Box::new(Services::none()),
            tables: Tables::default(),
            tunnels: Tunnels::default(),
            protections: Protections::default(),
            p2mp: p2mp::P2mp::default(),
            p2mp_losses: p2mp::Lost::default(),
            held: Held::default(),
            models: BTreeMap::new(),
            selectors: BTreeMap::new(),
            selector_ids: 0,
            autorouted: BTreeMap::new(),
            wheel: Wheel::new(),
            transport: outbox::transport(&config),
            incoming: Vec::new(),
            random: config.streams.stream(&format!("{}/rsvp", config.name)),
            lost: VecDeque::new(),
            outputs: VecDeque::new(),
            counters: Counters::default(),
            unreadable: UnreadableLog::default(),
            signals: Signals::default(),
            restarts: 0,
            is_watching: false,
            lsp_ids: 1,
            config,
        }
    }

    /// How it was set up.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// Takes an RSVP message: the bytes after the IP header.
    pub fn handle_message(&mut self, now: Time, arrival: &IpArrival, bytes: &[u8]) {
        self.now = now;
        if !self.links.is_up(arrival.port) {
            self.counters.discard(Discard::NotAnInterface);
            return;
        }
        let mut incoming = std::mem::take(&mut self.incoming);
        self.transport.receive(now, arrival, bytes, &mut incoming);
        for each in incoming.drain(..) {
            self.take_in(each, Some(bytes));
        }
        self.incoming = incoming;
        self.settle();
    }

    /// Hands a message to whoever it is for.
    fn dispatch(&mut self, arrival: &Arrival, mut message: Box<Message>) {
        self.counters.received(message.message_type());
        // The two that come most, and the longest, stay where they are.
        match &mut *message {
            Message::Path(path) if !path.session.is_p2mp() => return self.handle_path(arrival, path),
            Message::Resv(resv) if !resv.session.is_p2mp() => return self.handle_resv(arrival, resv),
            _ => {}
        }
        if message.session().is_some_and(Session::is_p2mp) {
            return self.p2mp_dispatch(arrival, message);
        }
        match *message {
            Message::PathErr(error) => self.handle_path_err(arrival, error),
            Message::ResvErr(error) => self.handle_resv_err(arrival, error),
            Message::PathTear(tear) => self.handle_path_tear(arrival, tear),
            Message::ResvTear(tear) => self.handle_resv_tear(arrival, tear),
            Message::ResvConf(confirmation) => self.handle_resv_conf(arrival, confirmation),
            _ => self.counters.discard(Discard::UnexpectedType),
        }
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Time) {
        self.now = now;
        self.watch();
        let mut incoming = std::mem::take(&mut self.incoming);
        self.transport.handle_timeout(now, &mut incoming);
        for each in incoming.drain(..) {
            self.take_in(each, None);
            self.settle();
        }
        self.incoming = incoming;
        while let Some((_, timer)) = self.wheel.pop(now) {
            match timer {
                Timer::Lsp(index) => self.lsp_timeout(index),
                Timer::Tunnel(index) => self.tunnel_timeout(index),
                Timer::Restore(port) => self.restore(port),
                Timer::Turn { choosing } => self.next_turn(choosing),
                Timer::Sweep => self.sweep(),
                Timer::Protect => self.protect_all(),
                Timer::Detour(index) => self.detour_timeout(index),
                Timer::Sub(index) => self.p2mp_sub_timeout(index),
                Timer::Branch(index) => self.p2mp_branch_timeout(index),
                Timer::Selector(id) => self.selector_timeout(id),
                Timer::P2mp(index) => self.p2mp_root_timeout(index),
            }
            self.settle();
        }
    }

    /// When to call [`Rsvp::handle_timeout`]: never later than the next thing due, perhaps earlier.
    pub fn poll_timeout(&self) -> Option<Time> {
        let watch = self.is_watch_due().then_some(self.now);
        Time::earliest([self.wheel.next(), self.transport.poll_timeout(), watch])
    }

    /// Carries out a command.
    pub fn handle_command(&mut self, now: Time, command: &Command) {
        self.now = now;
        match command {
            Command::TunnelSet(spec) => self.tunnel_set(spec),
            Command::TunnelRemove(id) => self.tunnel_remove(*id),
            Command::TunnelReoptimise(id) => self.tunnel_reoptimise(*id),
            Command::P2mpSet(spec) => self.p2mp_set(spec),
            Command::P2mpRemove(id) => self.p2mp_remove(*id),
            Command::Selector { from, tunnel, selector } => self.selector_set(*from, *tunnel, *selector),
            Command::TunnelModel { from, tunnel, model } => self.tunnel_model(*from, *tunnel, *model),
        }
        self.settle();
    }

    /// Takes note of what changed around the speaker.
    pub fn handle_change(&mut self, now: Time, change: &Change) {
        self.now = now;
        match *change {
            Change::Interface { port: Some(port), up: true, .. } => self.port_up(port),
            Change::Interface { port: Some(port), up: false, .. } => self.port_down(port),
            Change::Liveness { path, is_alive: false } => self.on_dead(path),
            Change::Liveness { path, is_alive: true } => self.on_alive(path),
            Change::Avoided { port } => self.on_avoided(port),
            Change::Engineering { is_lost } => {
                self.engineering_changed(is_lost);
                self.protect_later();
                self.p2mp_engineering_changed(is_lost);
            }
            Change::Group(key) => self.p2mp_wanted(key),
            Change::Shortcuts => self.autoroute(),
            Change::Restart => self.restart(),
            // LSPs leave by ports, and are routed anew when their state is refreshed.
            _ => {}
        }
        self.settle();
    }

    /// Takes the driver's answer to a batch of table writes.
    pub fn handle_ack(&mut self, now: Time, ack: &Ack) {
        self.now = now;
        self.table_ack(ack);
        self.settle();
    }

    /// What is to be done next; nothing when the speaker is drained.
    pub fn poll_output(&mut self) -> Option<Output> {
        match self.outputs.pop_front() {
            None => self.poll_transport(),
            output => output,
        }
    }

    /// Counters of messages and errors.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Counters of what lies below: retransmissions, acknowledgements, bundles, summaries, Hellos, INTEGRITY.
    pub const fn transport_counters(&self) -> &transport::Counters {
        self.transport.counters()
    }

    /// The last messages that were discarded because of their bytes, oldest first.
    pub fn unreadable(&self) -> impl Iterator<Item = &Unreadable> {
        self.unreadable.iter()
    }

    /// Invariants that did not hold, here or in the transport.
    pub fn faults(&self) -> Faults {
        let mut all = self.counters.faults;
        all += self.transport.counters().faults;
        all
    }

    /// The neighbours that the transport knows.
    pub fn neighbors(&self) -> impl Iterator<Item = transport::NeighborView> {
        self.transport.neighbors()
    }

    fn event(&mut self, event: Event) {
        self.outputs.push_back(Output::Event(event.into()));
    }
}

impl core::fmt::Debug for Rsvp {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let id = self.config.router_id;
        f.debug_struct("Rsvp").field("router_id", &id).field("audit", &self.audit()).finish_non_exhaustive()
    }
}
