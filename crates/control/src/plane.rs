//! The control plane of a node: its services, its protocols, and the control processor in front of them.

use crate::cost::{Cost, Costs};
use crate::messages::{MessageBin, Messages};
use crate::owner::Owner;
use crate::processor::{Processor, Queue};
use crate::protocol::{
    Arrival, Change, Context, Direction, Listen, LlcMessage, Message, Protocol, Setup, Topic,
};
use crate::services::sessions::{
    Heard, Packet, Pending, Segment, SessionEvent, SessionId, SessionOutput, Trouble,
};
use crate::services::{Interface, InterfaceId, Route, RouteWrites, Services, Source};
use crate::unheard::{Unheard, UnheardCounters};
use base::plane::{Ack, Batch, NextHop, Prefix, TableOp, TransactionId};
use base::{Event, PortId, ProtocolId, ProtocolValue, Span, Time};
use core::any::Any;
use core::net::{IpAddr, Ipv4Addr};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

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

/// What a control plane wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Send a message, and give its memory back by [`ControlPlane::recycle`].
    Message(Owner, Message),
    /// Send a message in a frame with an LLC header.
    Llc(LlcMessage),
    /// Send a TCP segment or a UDP datagram by the tables.
    Packet(Packet),
    /// Write a route or a group of next hops, or take one out.
    Route(TableOp),
    /// Write tables, and hand the driver's answer to [`ControlPlane::handle_ack`].
    Tables(Batch),
    /// An event for the user.
    Event(Event),
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
    groups: BTreeSet<(Owner, Listen)>,
    unheard: UnheardCounters,
    processor: Processor<Waiting>,
}

/// Who listens to what. IP protocols are looked up for every message: by their number.
#[derive(Debug)]
struct Listeners {
    /// By number, with the Router Alert option and without.
    ip: Box<[[Option<Owner>; 2]; 256]>,
    others: BTreeMap<Listen, Owner>,
}

impl Default for Listeners {
    fn default() -> Self {
        Listeners { ip: Box::new([[None; 2]; 256]), others: BTreeMap::new() }
    }
}

impl Listeners {
    fn get(&self, listen: Listen) -> Option<Owner> {
        match listen {
            Listen::IpProtocol(number) => self.ip[usize::from(number)][0],
            Listen::RouterAlert(number) => self.ip[usize::from(number)][1],
            other => self.others.get(&other).copied(),
        }
    }

    /// The one that listened before.
    fn insert(&mut self, listen: Listen, owner: Owner) -> Option<Owner> {
        match listen {
            Listen::IpProtocol(number) => self.ip[usize::from(number)][0].replace(owner),
            Listen::RouterAlert(number) => self.ip[usize::from(number)][1].replace(owner),
            other => self.others.insert(other, owner),
        }
    }
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
            Speaker { topics: protocol.subscribes(), protocol, costs, messages: Messages::default() }
        };
        let speakers: Vec<Speaker> = protocols.iter().map(|setup| speaker(setup.as_ref())).collect();
        let (mut listeners, mut groups) = (Listeners::default(), BTreeSet::new());
        for (owner, speaker) in (0u8..).map(Owner).zip(&speakers) {
            for listen in speaker.protocol.listens() {
                if listen.is_shared() {
                    groups.insert((owner, listen));
                    continue;
                }
                match listen {
                    Listen::TcpPort(port) => services.sessions.listen(port, owner),
                    Listen::UdpPort(port) => services.sessions.reserve(port),
                    _ => {}
                }
                let before = listeners.insert(listen, owner);
                assert!(before.is_none(), "{} listens to {listen:?}, as another does", speaker.protocol.id());
            }
        }
        let processor = Processor::new(queue_messages, alert_queue_messages);
        let unheard = UnheardCounters::default();
        let routes = RouteWrites::default();
        let services = Box::new(services);
        let mut plane = ControlPlane { services, routes, speakers, listeners, groups, unheard, processor };
        // There is nobody yet who would have to be told of what there is from the beginning.
        plane.write_routes();
        plane
    }

    /// The protocol that listens to what is named.
    pub fn listener(&self, listen: Listen) -> Option<Owner> {
        let bound = || match listen {
            Listen::UdpPort(port) => self.services.sessions.bound_by(port),
            _ => None,
        };
        self.listeners.get(listen).or_else(bound)
    }

    /// The protocol that listens to what is named and to the group that it was sent to.
    pub fn group_listener(&self, listen: Listen, group: Ipv4Addr) -> Option<Owner> {
        let joined = |owner: &Owner| {
            [Listen::Group(group), Listen::EveryGroup].iter().any(|&all| self.groups.contains(&(*owner, all)))
        };
        self.listener(listen).filter(joined)
    }

    /// Does a protocol listen to frames with an LLC header?
    pub fn listens_to_llc(&self) -> bool {
        self.listeners.others.keys().any(|listen| matches!(listen, Listen::Llc(_)))
    }

    /// Counts what reached the node and nobody listens to.
    pub fn count_unheard(&mut self, what: Unheard) {
        self.unheard.count(what);
    }

    /// What reached the node and nobody listened to.
    pub fn unheard(&self) -> &UnheardCounters {
        &self.unheard
    }

    /// Puts a message in the queue of the control processor: the bytes from `start` to `end` of a frame.
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
        if !speaker.protocol.speaks_on(arrival.port()) {
            self.unheard.count(Unheard::NotSpoken);
            return Offered::NotSpoken;
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
        self.processor.start(now, |waiting| {
            let speaker = speakers.get(usize::from(waiting.owner.0));
            let cost =
                speaker.and_then(|speaker| speaker.costs.get(usize::from(waiting.kind)).zip(Some(speaker)));
            cost.map_or(Span::ZERO, |(cost, speaker)| cost.span(speaker.protocol.state_count()))
        });
        let waiting = self.processor.finish(now)?;
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

    /// Hands a message of a session to its protocol, behind what happened to the session before.
    fn handle_received(&mut self, now: Time, session: SessionId, waiting: &Waiting) {
        while self.tell(now) {}
        if self.services.sessions.is_open(session) {
            let event = SessionEvent::Received(waiting.message());
            self.call(waiting.owner, |protocol, context| {
                protocol.handle_session(now, context, session, event)
            });
        }
        self.services.sessions.handled(session);
    }

    /// Puts what sessions have received in the queue of the control processor, a message of each at a time. What finds
    /// no room there stays where it is: the other end's window closes.
    fn offer_received(&mut self, now: Time) {
        self.services.sessions.flush(now);
        while self.processor.has_room(Queue::Local)
            && let Some((owner, session)) = self.services.sessions.poll_readable()
        {
            let Some(speaker) = self.speakers.get_mut(usize::from(owner.0)) else { continue };
            let protocol = &*speaker.protocol;
            let message = self.services.sessions.take_message(session, |stream| protocol.message_len(stream));
            let Some(frame) = message else { continue };
            let kind = speaker.protocol.kind_of(&frame);
            speaker.messages.count(now, Direction::Received, kind);
            let end = frame.len();
            let waiting = Waiting { owner, kind, from: From::Session(session), frame, start: 0, end };
            // There is room.
            let _ = self.processor.offer(Queue::Local, waiting);
        }
    }

    /// Tells a protocol the next thing that happened to a session of it: was there any?
    fn tell(&mut self, now: Time) -> bool {
        let Some((owner, session, pending)) = self.services.sessions.poll_event() else { return false };
        let event = match pending {
            Pending::Connected => SessionEvent::Connected,
            Pending::Accepted { local, remote } => SessionEvent::Accepted { local, remote },
            Pending::Writable => SessionEvent::Writable,
            Pending::PeerClosed => SessionEvent::PeerClosed,
            Pending::Closed(why) => SessionEvent::Closed(why),
        };
        self.call(owner, |protocol, context| protocol.handle_session(now, context, session, event));
        self.tell_changes(now);
        true
    }

    /// Takes a TCP segment that was addressed to the node. What it brings for protocols waits for the control
    /// processor.
    pub fn handle_segment(&mut self, now: Time, segment: &Segment<'_>) -> Heard {
        let speakers = &self.speakers;
        let heard = self.services.sessions.segment(now, segment, |owner, local, remote| {
            speakers.get(usize::from(owner.0)).and_then(|speaker| speaker.protocol.accepts(local, remote))
        });
        self.offer_received(now);
        heard
    }

    /// Takes note of an ICMP error about a TCP segment from this node, whose first eight bytes are quoted: was it one
    /// that the node has sent?
    pub fn handle_trouble(
        &mut self,
        now: Time,
        (local, remote): (IpAddr, IpAddr),
        quote: &[u8],
        what: Trouble,
    ) -> bool {
        self.services.sessions.trouble(now, (local, remote), quote, what)
    }

    /// Does the node have TCP: has a protocol listened or connected?
    pub fn has_tcp(&self) -> bool {
        self.services.sessions.has_tcp()
    }

    fn call(&mut self, owner: Owner, what: impl FnOnce(&mut dyn Protocol, &mut Context<'_>)) {
        if let Some(speaker) = self.speakers.get_mut(usize::from(owner.0)) {
            what(&mut *speaker.protocol, &mut Context { services: &mut self.services, owner });
        }
    }

    fn each(&mut self, mut what: impl FnMut(&mut dyn Protocol, &mut Context<'_>)) {
        for (owner, speaker) in (0u8..).map(Owner).zip(&mut self.speakers) {
            what(&mut *speaker.protocol, &mut Context { services: &mut self.services, owner });
        }
    }

    /// Lets the protocols do what is due. The control processor is served apart from it.
    pub fn handle_timeout(&mut self, now: Time) {
        self.services.sessions.handle_timeout(now);
        self.each(|protocol, context| {
            if protocol.poll_timeout().is_some_and(|due| due <= now) {
                protocol.handle_timeout(now, context);
            }
        });
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

    /// Tells protocols what has changed since the last call, what that changes in turn behind it.
    fn tell_changes(&mut self, now: Time) {
        loop {
            let mut changes = VecDeque::new();
            while let Some(id) = self.services.interfaces.poll_change() {
                let interface = self.services.interfaces.get(id);
                let (port, up) = (interface.and_then(Interface::port), interface.is_some_and(|i| i.up));
                changes.push_back((Topic::Interfaces, Change::Interface { interface: id, port, up }));
            }
            while let Some(prefix) = self.write_route() {
                changes.push_back((Topic::Routes, Change::Route(prefix)));
            }
            if changes.is_empty() {
                return;
            }
            for (topic, change) in changes {
                for (owner, speaker) in (0u8..).map(Owner).zip(&mut self.speakers) {
                    if speaker.topics.contains(&topic) {
                        let mut context = Context { services: &mut self.services, owner };
                        speaker.protocol.handle_change(now, &mut context, &change);
                    }
                }
            }
        }
    }

    /// Has the next route that changed written: its prefix.
    fn write_route(&mut self) -> Option<Prefix> {
        let prefix = self.services.rib.poll_change()?;
        self.routes.follow(&self.services.rib, prefix);
        Some(prefix)
    }

    fn write_routes(&mut self) {
        while self.write_route().is_some() {}
    }

    /// A route to be written. They come before what protocols want done.
    pub fn poll_route(&mut self) -> Option<TableOp> {
        self.routes.poll()
    }

    /// A port can be used from now on, or can't.
    pub fn port_changed(&mut self, now: Time, port: PortId, up: bool) {
        self.services.interfaces.set_up(InterfaceId::of(port), up);
        self.tell_changes(now);
    }

    /// The node restarts: what waits and what was learnt is lost, and each protocol begins anew with what was
    /// configured. All routes are written again.
    pub fn restart(&mut self, now: Time) {
        self.processor.clear();
        self.services.restart();
        while self.services.rib.poll_change().is_some() {}
        self.routes.again(&self.services.rib);
        self.each(|protocol, context| protocol.handle_change(now, context, &Change::Restart));
        self.tell_changes(now);
    }

    /// Takes the driver's answer to a batch of table writes.
    pub fn handle_ack(&mut self, now: Time, mut ack: Ack) {
        let owner = Owner((ack.transaction.0 >> OWNER_SHIFT) as u8);
        ack.transaction = TransactionId(ack.transaction.0 & !(u64::MAX << OWNER_SHIFT));
        self.call(owner, |protocol, context| protocol.handle_ack(now, context, &ack));
        self.tell_changes(now);
    }

    /// What is to be done next; nothing when all protocols are drained.
    pub fn poll_output(&mut self, now: Time) -> Option<Output> {
        loop {
            if let Some(output) = self.protocol_output(now) {
                return Some(output);
            }
            self.services.sessions.flush(now);
            if let Some(packet) = self.services.sessions.poll_packet() {
                return Some(Output::Packet(packet));
            }
            if !self.tell(now) {
                return None;
            }
        }
    }

    /// The next output of a protocol that is for the node; what protocols do with sessions is done.
    fn protocol_output(&mut self, now: Time) -> Option<Output> {
        use crate::protocol::Output as Wanted;
        if let Some(op) = self.poll_route() {
            return Some(Output::Route(op));
        }
        let mut place = 0;
        while let Some(speaker) = self.speakers.get_mut(place) {
            let owner = Owner(place as u8);
            return Some(match speaker.protocol.poll_output() {
                None => {
                    place += 1;
                    continue;
                }
                Some(Wanted::Session(session, output)) => {
                    if let SessionOutput::Send(bytes) = &output {
                        speaker.messages.count(now, Direction::Sent, speaker.protocol.kind_of(bytes));
                    }
                    self.services.sessions.handle_output(owner, session, output);
                    continue;
                }
                Some(Wanted::Message(message)) => {
                    speaker.count(now, message.port, Direction::Sent, &message.bytes);
                    Output::Message(owner, message)
                }
                Some(Wanted::Llc(message)) => {
                    speaker.count(now, message.port, Direction::Sent, &message.bytes);
                    Output::Llc(message)
                }
                Some(Wanted::Tables(mut batch)) => {
                    batch.transaction.0 |= u64::from(owner.0) << OWNER_SHIFT;
                    Output::Tables(batch)
                }
                Some(Wanted::Event(event)) => Output::Event(event),
            });
        }
        None
    }

    /// Takes the memory of a message that has been sent, to use it again.
    pub fn recycle(&mut self, owner: Owner, bytes: Vec<u8>) {
        if let Some(speaker) = self.speakers.get_mut(usize::from(owner.0)) {
            speaker.protocol.recycle(bytes);
        }
    }

    /// When to call [`ControlPlane::handle_timeout`] or [`ControlPlane::serve`]: never later than the next thing due.
    pub fn poll_timeout(&self) -> Option<Time> {
        let due = self.speakers.iter().filter_map(|speaker| speaker.protocol.poll_timeout()).min();
        [due, self.processor.next(), self.services.sessions.poll_timeout()].into_iter().flatten().min()
    }

    /// What all protocols share, to be looked at.
    pub fn services(&self) -> &Services {
        &self.services
    }

    /// The name of a protocol.
    pub fn name_of(&self, owner: Owner) -> Option<ProtocolId> {
        self.speakers.get(usize::from(owner.0)).map(|speaker| speaker.protocol.id())
    }

    /// A protocol by its name, to be looked at; nothing if this node does not speak it.
    pub fn speaker(&self, id: ProtocolId) -> Option<&dyn Protocol> {
        let mut all = self.speakers.iter().map(|speaker| &*speaker.protocol);
        all.find(|protocol| protocol.id() == id)
    }

    /// The protocol of a type, to be looked at; nothing if this node does not speak it.
    pub fn protocol<P: Protocol>(&self) -> Option<&P> {
        self.speakers.iter().find_map(|speaker| (&*speaker.protocol as &dyn Any).downcast_ref())
    }

    /// The protocol of a type, to change what it keeps for tables.
    pub fn protocol_mut<P: Protocol>(&mut self) -> Option<&mut P> {
        let any = |speaker| -> &mut dyn Any { &mut *Speaker::protocol_mut(speaker) };
        self.speakers.iter_mut().find_map(|speaker| any(speaker).downcast_mut())
    }

    /// Messages over time, those of one protocol after those of another: each with the name of its kind.
    pub fn messages(&self) -> impl Iterator<Item = (MessageBin, &'static str)> {
        self.speakers.iter().flat_map(|speaker| {
            speaker.messages.iter().map(|bin| (bin, speaker.protocol.kind_name(bin.kind)))
        })
    }

    /// Forgets the counts of messages from before a time.
    pub fn forget_messages(&mut self, before: Time) {
        self.speakers.iter_mut().for_each(|speaker| speaker.messages.forget_before(before));
    }

    /// The control processor, to be looked at: the most messages that ever waited, and the seconds that it was busy.
    pub fn processor_load(&self) -> (usize, f64) {
        (self.processor.peak(), self.processor.busy().as_secs_f64())
    }

    /// How many states the protocols hold, all together.
    pub fn state_count(&self) -> usize {
        self.speakers.iter().map(|speaker| speaker.protocol.state_count()).sum()
    }

    /// Messages that wait for the control processor.
    pub fn waiting(&self) -> usize {
        self.processor.waiting()
    }
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
