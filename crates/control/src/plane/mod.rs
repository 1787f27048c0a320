//! The control plane of a node: its services, its protocols, and the control processor in front of them.
//!
//! - `listeners`: who listens to what; `sessions`: what TCP brings; `output`: what is to be done next
//! - `restarts`: the node restarts, or one protocol does
//! - `look`: what tables and tests look at

mod listeners;
mod look;
mod output;
mod restarts;
mod sessions;

pub use output::Output;

use crate::cost::{Cost, Costs};
use crate::messages::Messages;
use crate::owner::Owner;
use crate::processor::{Processor, Queue};
use crate::protocol::{Arrival, Change, Context, Direction, Listen, Protocol, Setup, Topic};
use crate::services::sessions::SessionId;
use crate::services::{Bindings, Interface, Rib, Route, RoutePrefix, RouteWrites, Services, Source};
use crate::unheard::{Unheard, UnheardCounters};
use base::plane::{Ack, GroupKey, IpPrefix, NextHop, Prefix, Prefix6, TableOp, TransactionId, Unwritten};
use base::queue::take_first;
use base::{PortId, ProtocolValue, Span, Time};
use core::net::IpAddr;
use listeners::{Groups, Listeners};
use std::collections::VecDeque;
use std::sync::Arc;

/// Where the place of a protocol stands in the transaction of its batches: above the number that it chose.
const OWNER_SHIFT: u32 = 56;

/// How a control plane is set up, its protocols apart.
#[derive(Debug)]
pub struct Config {
    /// What all protocols share.
    pub services: Services,
    /// What messages cost the control processor.
    pub costs: Costs,
    /// Messages addressed to the node that wait at most; 262,144 if absent.
    pub queue_messages: Option<u32>,
    /// Messages with the Router Alert option that wait at most; 262,144 if absent.
    pub alert_queue_messages: Option<u32>,
}

/// What became of a message that was offered to the control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// It waits for the control processor.
    Waits,
    /// The protocol that listens to it does not speak on the port that it came by.
    NotSpoken,
    /// Too many wait already: it is lost.
    QueueFull,
}

/// How a message came.
#[derive(Clone, Copy, Debug)]
enum From {
    Packet(Arrival),
    Session(SessionId),
}

/// A message on its way to the control processor.
#[derive(Debug)]
struct Waiting {
    owner: Owner,
    /// As the protocol numbers kinds of messages.
    kind: u8,
    from: From,
    /// The frame that it came in, and which part of it the message is.
    frame: Vec<u8>,
    start: usize,
    end: usize,
}

impl Waiting {
    fn message(&self) -> &[u8] {
        self.frame.get(self.start..self.end).unwrap_or_default()
    }
}

/// A protocol, and what is kept of its messages.
#[derive(Debug)]
struct Speaker {
    protocol: Box<dyn Protocol>,
    /// What it is told of.
    topics: Vec<Topic>,
    /// By kind of message; empty if none costs anything.
    costs: Vec<Cost>,
    messages: Messages,
    /// Do its messages not wait for the control processor?
    is_of_forwarding: bool,
    /// It restarts alone, and is back at this time.
    down_until: Option<Time>,
    /// Its next timeout, as it was when it had no more output.
    due: Option<Time>,
}

/// Protocols that something was said to since they had no more output: those that are asked. A bit for each place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Awake(u128);

impl Awake {
    const ALL: Awake = Awake(u128::MAX);

    fn insert(&mut self, owner: Owner) {
        self.0 |= 1 << owner.0;
    }

    fn remove(&mut self, place: usize) {
        self.0 &= !(1 << place);
    }

    fn contains(self, place: usize) -> bool {
        self.0 >> place & 1 == 1
    }

    /// The place of the first one; beyond all places if there is none.
    fn first(self) -> usize {
        self.0.trailing_zeros() as usize
    }
}

/// The control plane of a node: an array of protocols and what they share.
///
/// Give it what happens by [`ControlPlane::offer`] and the `handle_*` methods. After each of them, and after each
/// message that [`ControlPlane::serve`] has handled, drain [`ControlPlane::poll_output`] until it returns nothing, then
/// read [`ControlPlane::poll_timeout`]. Protocols are asked in the order of the array.
#[derive(Debug)]
pub struct ControlPlane {
    services: Box<Services>,
    /// Routes to be written.
    routes: RouteWrites,
    speakers: Vec<Speaker>,
    listeners: Listeners,
    /// Groups that protocols listen to, [`Listen::EveryGroup`] among them.
    groups: Groups,
    unheard: UnheardCounters,
    processor: Processor<Waiting>,
    /// Messages that do not wait for it, because their protocol is part of the forwarding plane.
    direct: VecDeque<Waiting>,
    awake: Awake,
    /// Nothing happened since there was no output: nobody has to be asked again.
    quiet: bool,
}

impl ControlPlane {
    /// A control plane that speaks these protocols.
    ///
    /// # Panics
    /// If two protocols listen to the same, or there are more than 128: the array is written by a programmer.
    pub fn new(config: Config, protocols: &[impl AsRef<dyn Setup>]) -> ControlPlane {
        assert!(protocols.len() <= 128, "{} protocols at one node", protocols.len());
        let Config { mut services, costs, queue_messages, alert_queue_messages } = config;
        let speaker = |setup: &dyn Setup| {
            let protocol = setup.protocol(&services);
            let mut costs = costs.of(protocol.id(), |kind| protocol.kind_name(kind));
            if costs.iter().all(|cost| *cost == Cost::default()) {
                costs.clear();
            }
            Speaker {
                topics: protocol.subscribes(),
                is_of_forwarding: protocol.is_of_forwarding(),
                protocol,
                costs,
                messages: Messages::default(),
                down_until: None,
                due: None,
            }
        };
        let speakers: Vec<Speaker> = protocols.iter().map(|setup| speaker(setup.as_ref())).collect();
        let (mut listeners, mut groups) = (Listeners::default(), Groups::default());
        for (owner, speaker) in (0u8..).map(Owner).zip(&speakers) {
            for listen in speaker.protocol.listens() {
                if listen.is_shared() {
                    groups.insert(owner, listen);
                    continue;
                }
                match listen {
                    Listen::TcpPort(port) => services.sessions.listen(port, owner),
                    Listen::UdpPort(port) | Listen::UdpPort6(port) => services.sessions.reserve(port),
                    _ => {}
                }
                let before = listeners.insert(listen, owner);
                assert!(before.is_none(), "{} listens to {listen:?}, as another does", speaker.protocol.id());
            }
        }
        if speakers.iter().any(|speaker| speaker.topics.contains(&Topic::Bandwidth)) {
            services.bandwidth.watch();
        }
        if speakers.iter().any(|speaker| speaker.topics.contains(&Topic::Engineering)) {
            services.engineering.watch();
        }
        let processor = Processor::new(queue_messages, alert_queue_messages);
        let unheard = UnheardCounters::default();
        let routes = RouteWrites::default();
        let services = Box::new(services);
        let awake = Awake::ALL;
        let mut plane = ControlPlane {
            services,
            routes,
            speakers,
            listeners,
            groups,
            unheard,
            processor,
            direct: VecDeque::new(),
            awake,
            quiet: false,
        };
        // There is nobody yet who would have to be told of what there is from the beginning.
        plane.write_routes(|_| {});
        plane
    }

    /// Counts what reached the node and nobody listens to.
    pub fn count_unheard(&mut self, what: Unheard) {
        self.unheard.count(what);
    }

    /// What reached the node and nobody listened to.
    pub fn unheard(&self) -> &UnheardCounters {
        &self.unheard
    }

    /// Puts a message in the queue of the control processor, unless its protocol is part of the forwarding plane: the
    /// bytes from `start` to `end` of a frame.
    pub fn offer(
        &mut self,
        now: Time,
        owner: Owner,
        arrival: Arrival,
        frame: Vec<u8>,
        (start, end): (usize, usize),
    ) -> Offered {
        let Some(speaker) = self.speakers.get_mut(usize::from(owner.0)) else { return Offered::NotSpoken };
        let message = frame.get(start..end).unwrap_or_default();
        let kind = speaker.count(now, arrival.port(), Direction::Received, message);
        let waiting = Waiting { owner, kind, from: From::Packet(arrival), frame, start, end };
        if speaker.down_until.is_some() || !speaker.protocol.speaks_on(arrival.port()) {
            self.unheard.count(Unheard::NotSpoken);
            return Offered::NotSpoken;
        }
        if speaker.is_of_forwarding {
            self.direct.push_back(waiting);
            return Offered::Waits;
        }
        let alert = matches!(arrival, Arrival::Ip(ip) if ip.router_alert);
        let queue = if alert { Queue::Alert } else { Queue::Local };
        match self.processor.offer(queue, waiting) {
            Ok(()) => Offered::Waits,
            Err(_) => Offered::QueueFull,
        }
    }

    /// Lets the control processor work up to `now`, until it has handled one message: the memory of the frame that it
    /// came in. Nothing if there is none, or it takes longer.
    pub fn serve(&mut self, now: Time) -> Option<Vec<u8>> {
        let speakers = &self.speakers;
        let serve = || {
            self.processor.serve(now, |waiting| {
                let speaker = speakers.get(usize::from(waiting.owner.0));
                let cost = speaker
                    .and_then(|speaker| speaker.costs.get(usize::from(waiting.kind)).zip(Some(speaker)));
                cost.map_or(Span::ZERO, |(cost, speaker)| cost.span(speaker.protocol.state_count()))
            })
        };
        let waiting = take_first(&mut self.direct).or_else(serve)?;
        match waiting.from {
            From::Packet(arrival) => self.call(waiting.owner, |protocol, context| {
                protocol.handle_message(now, context, &arrival, waiting.message());
            }),
            From::Session(session) => self.handle_received(now, session, &waiting),
        }
        self.offer_received(now);
        self.tell_changes(now);
        Some(waiting.frame)
    }

    fn call(&mut self, owner: Owner, what: impl FnOnce(&mut dyn Protocol, &mut Context<'_>)) {
        self.quiet = false;
        self.awake.insert(owner);
        let speaker = self.speakers.get_mut(usize::from(owner.0));
        if let Some(speaker) = speaker.filter(|speaker| speaker.down_until.is_none()) {
            what(&mut *speaker.protocol, &mut Context { services: &mut self.services, owner });
        }
    }

    fn each(&mut self, mut what: impl FnMut(&mut dyn Protocol, &mut Context<'_>)) {
        self.quiet = false;
        self.awake = Awake::ALL;
        let all = (0u8..).map(Owner).zip(&mut self.speakers);
        for (owner, speaker) in all.filter(|(_, speaker)| speaker.down_until.is_none()) {
            what(&mut *speaker.protocol, &mut Context { services: &mut self.services, owner });
        }
    }

    /// Lets the protocols do what is due. The control processor is served apart from it.
    pub fn handle_timeout(&mut self, now: Time) {
        self.services.sessions.handle_timeout(now);
        self.end_restarts(now);
        self.quiet = false;
        for place in 0..self.speakers.len() {
            if self.due(place).is_some_and(|due| due <= now) {
                self.call(Owner(place as u8), |protocol, context| protocol.handle_timeout(now, context));
            }
        }
        self.tell_changes(now);
    }

    /// The next timeout of a protocol, or when it is back.
    fn due(&self, place: usize) -> Option<Time> {
        let speaker = &self.speakers[place];
        if speaker.down_until.is_some() || self.awake.contains(place) {
            return speaker.down_until.or_else(|| speaker.protocol.poll_timeout());
        }
        debug_assert_eq!(
            speaker.due,
            speaker.protocol.poll_timeout(),
            "{} changed unasked",
            speaker.protocol.id()
        );
        speaker.due
    }

    /// A packet to a group has come by a port that packets of `key` are sent to: protocols of trees are told.
    pub fn handle_wrong_interface(&mut self, now: Time, key: GroupKey, port: PortId) {
        self.services.multicast.note_wrong(key, port);
        self.tell_changes(now);
    }

    /// Hands a command to the protocol that it is meant for. One that nobody knows is counted.
    pub fn handle_command(&mut self, now: Time, command: &ProtocolValue) {
        let meant = |speaker: &Speaker| speaker.protocol.id() == command.protocol();
        let owner = (0u8..)
            .map(Owner)
            .zip(&self.speakers)
            .find(|(_, speaker)| meant(speaker))
            .map(|(owner, _)| owner);
        let mut known = false;
        if let Some(owner) = owner {
            self.call(owner, |protocol, context| known = protocol.handle_command(now, context, command));
        }
        if !known {
            self.unheard.count(Unheard::Command);
        }
        self.tell_changes(now);
    }

    /// Gives the node a static route, in place of the one that the prefix had, or takes it away.
    pub fn set_static(&mut self, now: Time, prefix: Prefix, next_hop: Option<NextHop>) {
        match next_hop {
            Some(next_hop) => self.services.rib.set(prefix, Route::fixed(next_hop)),
            None => drop(self.services.rib.remove(prefix, Source::Static)),
        }
        self.tell_changes(now);
    }

    /// Gives a node that has just been made the static routes of a source. The tables are given the same source:
    /// nothing is written.
    pub fn set_unwritten(&mut self, source: Arc<dyn Unwritten>) {
        self.services.rib.set_unwritten(source);
    }

    /// The same for IPv6.
    pub fn set_unwritten6(&mut self, source: Arc<dyn Unwritten<Prefix6>>) {
        self.services.rib6.set_unwritten(source);
    }

    /// Gives the node a static route of IPv6, or takes it away.
    pub fn set_static6(&mut self, now: Time, prefix: Prefix6, next_hop: Option<NextHop>) {
        match next_hop {
            Some(next_hop) => self.services.rib6.set(prefix, Route::fixed(next_hop)),
            None => drop(self.services.rib6.remove(prefix, Source::Static)),
        }
        self.tell_changes(now);
    }

    /// Tells protocols what has changed since the last call, what that changes in turn behind it.
    #[inline]
    fn tell_changes(&mut self, now: Time) {
        let Services { interfaces, rib, rib6, bandwidth, bindings, .. } = &*self.services;
        let Services { avoided, engineering, shortcuts, liveness, bootstrap, labelled, multicast, .. } =
            &*self.services;
        let is_routed =
            rib.is_changed() || rib6.is_changed() || bindings.is_changed() || labelled.is_changed();
        let is_routed = is_routed || multicast.is_changed();
        let is_watched = liveness.is_changed() || bootstrap.is_changed();
        let is_reached = interfaces.is_changed() || is_watched || avoided.is_changed();
        let is_reserved = bandwidth.is_changed() || engineering.is_changed() || shortcuts.is_changed();
        if is_routed || is_reached || is_reserved {
            self.tell_each(now);
        }
    }

    fn tell_each(&mut self, now: Time) {
        self.quiet = false;
        loop {
            let mut changes = VecDeque::new();
            while let Some(id) = self.services.interfaces.poll_change() {
                let interface = self.services.interfaces.get(id);
                let (port, up) = (interface.and_then(Interface::port), interface.is_some_and(|i| i.up));
                changes.push_back((Topic::Interfaces, Change::Interface { interface: id, port, up }));
            }
            self.write_routes(|prefix| changes.push_back((Topic::Routes, Change::Route(prefix))));
            while let Some((port, is_refused)) = self.services.bandwidth.poll_change() {
                changes.push_back((Topic::Bandwidth, Change::Bandwidth { port, is_refused }));
            }
            while let Some(port) = self.services.avoided.poll_change() {
                changes.push_back((Topic::Avoided, Change::Avoided { port }));
            }
            if let Some(is_lost) = self.services.engineering.poll_change() {
                changes.push_back((Topic::Engineering, Change::Engineering { is_lost }));
            }
            if self.services.shortcuts.poll_change() {
                changes.push_back((Topic::Shortcuts, Change::Shortcuts));
            }
            while let Some(path) = self.services.liveness.poll_asked() {
                changes.push_back((Topic::Watching, Change::Watching(path)));
            }
            while let Some(op) = self.services.multicast.poll_op() {
                self.routes.push(op);
            }
            while let Some(key) = self.services.multicast.poll_change() {
                changes.push_back((Topic::Groups, Change::Group(key)));
            }
            while let Some((key, port)) = self.services.multicast.poll_wrong() {
                changes.push_back((Topic::Groups, Change::WrongInterface { key, port }));
            }
            while let Some((path, is_alive)) = self.services.liveness.poll_change() {
                changes.push_back((Topic::Liveness, Change::Liveness { path, is_alive }));
            }
            while let Some(lsp) = self.services.bootstrap.poll_asked() {
                changes.push_back((Topic::Verifying, Change::Verifying(lsp)));
            }
            if self.services.bootstrap.poll_offered() {
                changes.push_back((Topic::Offered, Change::Offered));
            }
            if changes.is_empty() {
                return;
            }
            for (topic, change) in changes {
                for (owner, speaker) in (0u8..).map(Owner).zip(&mut self.speakers) {
                    if speaker.topics.contains(&topic) && speaker.down_until.is_none() {
                        self.awake.insert(owner);
                        let mut context = Context { services: &mut self.services, owner };
                        speaker.protocol.handle_change(now, &mut context, &change);
                    }
                }
            }
        }
    }

    /// Has written what changed of routes, and tells their prefixes. Groups of gateways follow before the routes that
    /// use them, and go behind them.
    fn write_routes(&mut self, mut told: impl FnMut(IpPrefix)) {
        let (services, routes) = (&mut *self.services, &mut self.routes);
        let mut gone: Vec<IpAddr> = Vec::new();
        loop {
            if services.bindings.is_changed() {
                while services.bindings.poll_change().is_some() {}
                routes.follow_gateways(&services.rib, &services.bindings);
                routes.follow_gateways(&services.rib6, &services.bindings);
                services.labelled.follow_all();
            }
            let (labelled, bindings) = (&mut services.labelled, &services.bindings);
            let mut moved = |gateway: IpAddr| labelled.follow(gateway);
            write_family(&mut services.rib, bindings, routes, &mut gone, &mut told, &mut moved);
            write_family(&mut services.rib6, bindings, routes, &mut gone, &mut told, &mut moved);
            if !services.labelled.is_changed() {
                break;
            }
            // What this binds, others follow.
            services.write_labelled(routes);
        }
        gone.into_iter().for_each(|gateway| routes.forget_gateway(gateway));
        if routes.has_gateways() || services.labelled.is_used() {
            services.bindings.watch();
        }
    }

    /// A route to be written. They come before what protocols want done.
    pub fn poll_route(&mut self) -> Option<TableOp> {
        self.routes.poll()
    }

    /// A port can be used from now on, or can't.
    pub fn port_changed(&mut self, now: Time, port: PortId, up: bool) {
        self.services.port_changed(port, up);
        self.tell_changes(now);
    }

    /// Takes the driver's answer to a batch of table writes.
    pub fn handle_ack(&mut self, now: Time, mut ack: Ack) {
        let owner = Owner((ack.transaction.0 >> OWNER_SHIFT) as u8);
        ack.transaction = TransactionId(ack.transaction.0 & !(u64::MAX << OWNER_SHIFT));
        self.call(owner, |protocol, context| protocol.handle_ack(now, context, &ack));
        self.tell_changes(now);
    }

    /// Takes the memory of a message that has been sent, to use it again.
    pub fn recycle(&mut self, owner: Owner, bytes: Vec<u8>) {
        if let Some(speaker) = self.speakers.get_mut(usize::from(owner.0)) {
            speaker.protocol.recycle(bytes);
        }
    }

    /// When to call [`ControlPlane::handle_timeout`] or [`ControlPlane::serve`]: never later than the next thing due.
    pub fn poll_timeout(&self) -> Option<Time> {
        let own = Time::earliest([self.processor.next(), self.services.sessions.poll_timeout()]);
        (0..self.speakers.len()).fold(own, |due, place| Time::earliest([due, self.due(place)]))
    }
}

/// Has written what changed of the routes of a family; `gone` are gateways that no route names any more.
fn write_family<P: RoutePrefix>(
    rib: &mut Rib<P>,
    bindings: &Bindings,
    routes: &mut RouteWrites,
    gone: &mut Vec<IpAddr>,
    told: &mut impl FnMut(IpPrefix),
    moved: &mut impl FnMut(IpAddr),
) {
    while let Some(gateway) = rib.poll_gateway() {
        moved(gateway.into());
        match rib.has_gateway(gateway) {
            true => routes.follow_gateway(rib, bindings, gateway),
            false => gone.push(gateway.into()),
        }
    }
    while let Some(prefix) = rib.poll_change() {
        routes.follow(rib, bindings, prefix);
        told(prefix.into());
    }
    while let Some(prefix) = rib.poll_revalued() {
        told(prefix.into());
    }
    gone.dedup();
}

impl Speaker {
    fn protocol_mut(&mut self) -> &mut dyn Protocol {
        &mut *self.protocol
    }

    /// Counts a message, and lets the protocol take note of it: what kind it is.
    fn count(&mut self, now: Time, port: PortId, direction: Direction, bytes: &[u8]) -> u8 {
        let kind = self.protocol.kind_of(bytes);
        self.messages.count(now, direction, kind);
        self.protocol.note(now, port, direction, bytes);
        kind
    }
}
