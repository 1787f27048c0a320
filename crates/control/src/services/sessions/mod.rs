//! TCP connections and UDP datagrams of a node, for its protocols.
//!
//! A protocol listens to a TCP port by [`Listen::TcpPort`](crate::protocol::Listen), or begins a connection by
//! [`Sessions::connect`]. What happens to a connection comes as a [`SessionEvent`]; what it does with one goes as a
//! [`SessionOutput`]. Each connection is an instance of smoltcp of its own, behind one table of the ends of all
//! connections, so that a segment costs the same with one connection or ten thousand; their timers stand in one timing
//! wheel. Nothing here reads a clock: `now` is always an argument. Ephemeral ports and initial sequence numbers are
//! drawn from named random streams of the run.
//!
//! The order in which [`ControlPlane`](crate::ControlPlane) drives it: [`Sessions::segment`],
//! [`Sessions::handle_timeout`] or what protocols do; then [`Sessions::flush`]; then [`Sessions::poll_packet`],
//! [`Sessions::poll_event`] and [`Sessions::poll_readable`] until none gives anything.
//!
//! A host has no control plane: its applications use sessions as programs use sockets, by [`Sessions::open`],
//! [`Sessions::write`] and [`Sessions::read`] (`sockets`). Nothing waits for a control processor there.

mod connection;
mod datagrams;
mod device;
mod measures;
mod offers;
mod segments;
mod sockets;
mod types;

pub use measures::{Measured, RoundTrips};
pub use segments::{Segment, Trouble};
pub use sockets::Ran;
pub use types::{
    Closed, Congestion, Connect, Datagram, Heard, Key, Options, Packet, Pending, Refusal, SessionCounters,
    SessionEvent, SessionId, SessionOutput, SessionRow, State,
};

use super::Interfaces;
use crate::owner::Owner;
use base::plane::{IpPrefix, Prefix, Prefix6};
use base::queue::take_first;
use base::{Map, Streams, Time, Wheel};
use connection::{Connection, Ends, Fed};
use core::net::{IpAddr, SocketAddr};
use rand::RngExt;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Sessions that a node has at most: memory is always bounded.
const SESSIONS_MAX: usize = 65_536;
/// Connections that wait at most for the end of their handshake, at the end that accepts.
const HALF_OPEN_MAX: usize = 1_024;
/// Ports for connections that a node begins (RFC 6335, 6).
const EPHEMERAL: core::ops::RangeInclusive<u16> = 49_152..=65_535;

/// A place for a connection: names of those that were here before have another generation.
#[derive(Debug, Default)]
struct Slot {
    generation: u32,
    connection: Option<Box<Connection>>,
}

/// The sessions of a node.
#[derive(Debug)]
pub struct Sessions {
    slots: Vec<Slot>,
    free: Vec<u32>,
    by_ends: Map<Ends, u32>,
    /// TCP ports that protocols listen to.
    listeners: BTreeMap<u16, Owner>,
    /// UDP ports that protocols listen to as long as the node runs.
    listened: BTreeSet<u16>,
    /// UDP ports that protocols have bound.
    bound: BTreeMap<u16, Owner>,
    /// Connections that are being accepted.
    half_open: usize,
    /// Has a protocol listened or connected?
    has_tcp: bool,
    wheel: Wheel<SessionId>,
    /// Connections that have something to do.
    dirty: VecDeque<SessionId>,
    readable: VecDeque<SessionId>,
    /// Connections that instruments look at and that something has happened to.
    ran: VecDeque<(SessionId, Ran)>,
    events: VecDeque<(Owner, SessionId, Pending)>,
    packets: VecDeque<Packet>,
    ports: base::random::Stream,
    sequence_numbers: base::random::Stream,
}

impl Sessions {
    /// No sessions yet, at the node of a name.
    pub fn new(node: &str, streams: Streams) -> Sessions {
        Sessions {
            slots: Vec::new(),
            free: Vec::new(),
            by_ends: Map::new(),
            listeners: BTreeMap::new(),
            listened: BTreeSet::new(),
            bound: BTreeMap::new(),
            half_open: 0,
            has_tcp: false,
            wheel: Wheel::new(),
            dirty: VecDeque::new(),
            readable: VecDeque::new(),
            ran: VecDeque::new(),
            events: VecDeque::new(),
            packets: VecDeque::new(),
            ports: streams.stream(&format!("{node}/sessions/ports")),
            sequence_numbers: streams.stream(&format!("{node}/sessions/sequence-numbers")),
        }
    }

    /// Connections to a TCP port belong to a protocol from now on.
    pub fn listen(&mut self, port: u16, owner: Owner) {
        self.listeners.insert(port, owner);
        self.has_tcp = true;
    }

    /// Nobody binds a UDP port from now on: a protocol listens to it.
    pub(crate) fn reserve(&mut self, port: u16) {
        self.listened.insert(port);
    }

    /// Does the node have TCP: has a protocol listened or connected? What reaches a node without is answered as by a
    /// node that has never heard of TCP.
    pub fn has_tcp(&self) -> bool {
        self.has_tcp
    }

    fn get(&self, id: SessionId) -> Option<&Connection> {
        let slot = self.slots.get(id.index as usize)?;
        slot.connection.as_deref().filter(|_| slot.generation == id.generation)
    }

    fn get_mut(&mut self, id: SessionId) -> Option<&mut Connection> {
        let slot = self.slots.get_mut(id.index as usize)?;
        slot.connection.as_deref_mut().filter(|_| slot.generation == id.generation)
    }

    fn id_at(&self, index: u32) -> SessionId {
        SessionId { index, generation: self.slots[index as usize].generation }
    }

    /// Begins a connection. What comes of it is told by [`SessionEvent::Connected`] or [`SessionEvent::Closed`].
    pub(crate) fn connect(
        &mut self,
        now: Time,
        owner: Owner,
        interfaces: &Interfaces,
        connect: Connect,
    ) -> Result<SessionId, Refusal> {
        let Connect { from, port, to, options } = connect;
        let from = from.or_else(|| source(interfaces, to.ip())).ok_or(Refusal::Address)?;
        let other = to.ip() != from && !is_own(interfaces, to.ip()) && is_single(to.ip());
        if !other || to.port() == 0 || from.is_ipv4() != to.ip().is_ipv4() {
            return Err(Refusal::Address);
        }
        if self.by_ends.len() >= SESSIONS_MAX {
            return Err(Refusal::Sessions);
        }
        self.has_tcp = true;
        let port = port.map_or_else(|| self.ephemeral(from, to), Ok)?;
        let ends = Ends { local: SocketAddr::new(from, port), remote: to };
        if self.by_ends.contains_key(&ends) {
            return Err(Refusal::Ports);
        }
        let mtu = mtu_towards(interfaces, to.ip());
        let seed = self.sequence_numbers.random();
        let connection =
            Connection::connecting(owner, ends, options, mtu, seed, now).ok_or(Refusal::Address)?;
        Ok(self.insert(connection))
    }

    /// A port that no connection between these has: RFC 6056, 3.3.1.
    fn ephemeral(&mut self, from: IpAddr, remote: SocketAddr) -> Result<u16, Refusal> {
        let start = self.ports.random_range(EPHEMERAL);
        let mut all = (start..=*EPHEMERAL.end()).chain(*EPHEMERAL.start()..start);
        let is_free = |port: &u16| {
            let ends = Ends { local: SocketAddr::new(from, *port), remote };
            !self.by_ends.contains_key(&ends) && !self.listeners.contains_key(port)
        };
        all.find(is_free).ok_or(Refusal::Ports)
    }

    fn insert(&mut self, connection: Connection) -> SessionId {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            (self.slots.len() - 1) as u32
        });
        self.by_ends.insert(connection.ends, index);
        self.half_open += usize::from(connection.is_half_open());
        self.slots[index as usize].connection = Some(Box::new(connection));
        let id = self.id_at(index);
        self.touch(id);
        id
    }

    fn remove(&mut self, id: SessionId) {
        let Some(connection) = self.get_mut(id) else { return };
        let (ends, timer, half_open) = (connection.ends, connection.timer, connection.is_half_open());
        if let Some((timer, _)) = timer {
            self.wheel.cancel(timer);
        }
        self.half_open -= usize::from(half_open);
        self.by_ends.remove(&ends);
        let slot = &mut self.slots[id.index as usize];
        slot.connection = None;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(id.index);
    }

    /// Notes that a connection has something to do.
    fn touch(&mut self, id: SessionId) {
        if let Some(connection) = self.get_mut(id)
            && !core::mem::replace(&mut connection.dirty, true)
        {
            self.dirty.push_back(id);
        }
    }

    /// Does what a protocol wants with a session of its own; another's is left alone.
    pub(crate) fn handle_output(&mut self, owner: Owner, id: SessionId, output: SessionOutput) {
        let Some(connection) = self.get_mut(id).filter(|connection| connection.owner == owner) else {
            return;
        };
        match output {
            SessionOutput::Send(bytes) => connection.send(&bytes),
            SessionOutput::Close => connection.close(),
            SessionOutput::Abort => connection.abort(),
        }
        self.touch(id);
    }

    /// Bytes given to be sent that have found no room in TCP's buffer yet; 0 for a session that is gone. When none are
    /// left, [`SessionEvent::Writable`] says so.
    pub fn unsent(&self, id: SessionId) -> usize {
        self.get(id).map_or(0, Connection::unsent)
    }

    /// The session as tables have it, as long as it lasts.
    pub fn row(&self, id: SessionId) -> Option<SessionRow> {
        self.get(id).map(Connection::row)
    }

    /// All connections, those that are ending included.
    pub fn rows(&self) -> impl Iterator<Item = SessionRow> {
        self.slots.iter().filter_map(|slot| slot.connection.as_deref()).map(Connection::row)
    }

    /// The connection to this end that was begun last.
    #[cfg(test)]
    pub(crate) fn latest_to(&self, remote: SocketAddr) -> Option<SessionId> {
        let is_it = |slot: &Slot| slot.connection.as_ref().is_some_and(|one| one.ends.remote == remote);
        self.slots.iter().rposition(is_it).map(|index| self.id_at(index as u32))
    }

    /// How many connections there are.
    pub fn len(&self) -> usize {
        self.by_ends.len()
    }

    /// Is there no connection?
    pub fn is_empty(&self) -> bool {
        self.by_ends.is_empty()
    }

    /// Lets connections do what is due.
    pub fn handle_timeout(&mut self, now: Time) {
        while let Some((_, id)) = self.wheel.pop(now) {
            if let Some(connection) = self.get_mut(id) {
                connection.timer = None;
                self.touch(id);
            }
        }
    }

    /// When to call [`Sessions::handle_timeout`]: never later than the next thing due, perhaps earlier.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.wheel.next()
    }

    /// Lets connections do what protocols or timers gave them to do.
    pub fn flush(&mut self, now: Time) {
        while let Some(id) = take_first(&mut self.dirty) {
            self.run(now, id, None);
        }
    }

    /// Runs one connection, and takes what comes out of it.
    fn run(&mut self, now: Time, id: SessionId, fed: Option<Fed>) {
        let Sessions { slots, events, packets, wheel, readable, ran, half_open, .. } = self;
        let Some(slot) = slots.get_mut(id.index as usize).filter(|slot| slot.generation == id.generation)
        else {
            return;
        };
        let Some(connection) = slot.connection.as_deref_mut() else { return };
        connection.dirty = false;
        let was_half_open = connection.is_half_open();
        let owner = connection.owner;
        connection.run(now, fed, &mut |pending| events.push_back((owner, id, pending)));
        *half_open -= usize::from(was_half_open && !connection.is_half_open());
        let (src, dst) = (connection.ends.local.ip(), connection.ends.remote.ip());
        let Options { ttl, dscp, .. } = connection.options;
        while let Some(bytes) = connection.take_segment(now) {
            let over = crate::protocol::Over::Ip(wire::ipv4::Protocol::TCP.0);
            packets.push_back(Packet { src, dst, ttl, dscp, over, bytes });
        }
        if let Some(measured) = connection.measured() {
            ran.push_back((id, Ran { counters: connection.counters, measured }));
        } else if connection.is_readable() {
            readable.push_back(id);
        }
        if connection.is_gone() {
            return self.remove(id);
        }
        let due = connection.due(now);
        if due != connection.timer.map(|(_, at)| at) {
            if let Some((timer, _)) = connection.timer.take() {
                wheel.cancel(timer);
            }
            connection.timer = due.map(|at| (wheel.schedule(at, id), at));
        }
    }

    /// Is there nothing to be done, sent or told?
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        let nobody = self.dirty.is_empty() && self.readable.is_empty();
        nobody && self.events.is_empty() && self.packets.is_empty()
    }

    /// The next packet to be sent.
    pub fn poll_packet(&mut self) -> Option<Packet> {
        take_first(&mut self.packets)
    }

    /// What is to be told next: to which protocol, and of which session.
    pub fn poll_event(&mut self) -> Option<(Owner, SessionId, Pending)> {
        take_first(&mut self.events)
    }

    /// The next session that has received something.
    pub(crate) fn poll_readable(&mut self) -> Option<(Owner, SessionId)> {
        loop {
            let id = take_first(&mut self.readable)?;
            if let Some(connection) = self.get(id).filter(|connection| connection.is_readable()) {
                return Some((connection.owner, id));
            }
        }
    }

    /// The next message of a session, divided by `len`. Until [`Sessions::handled`] it has no other.
    pub(crate) fn take_message(
        &mut self,
        id: SessionId,
        len: impl Fn(&[u8]) -> Option<usize>,
    ) -> Option<Vec<u8>> {
        let connection = self.get_mut(id)?;
        let message = connection.next_message(len);
        connection.offered = message.is_some();
        // What was read makes room: the window has opened.
        self.touch(id);
        message
    }

    /// The message of a session that was taken last has been handled: is the session still there?
    pub(crate) fn handled(&mut self, id: SessionId) {
        if let Some(connection) = self.get_mut(id) {
            connection.offered = false;
            self.touch(id);
        }
    }

    /// Does the session still tell its protocol anything?
    pub(crate) fn is_open(&self, id: SessionId) -> bool {
        self.get(id).is_some_and(|connection| !connection.is_closed())
    }

    /// A protocol alone restarts: its connections are reset, as a system does whose programme ends, and it is told
    /// nothing more of them. Ports that it has bound are free.
    pub(crate) fn reset_all(&mut self, now: Time, owner: Owner) {
        let own = |slot: &Slot| slot.connection.as_ref().is_some_and(|one| one.owner == owner);
        let all = (0..).zip(&self.slots).filter(|(_, slot)| own(slot));
        for id in all.map(|(index, _)| self.id_at(index)).collect::<Vec<SessionId>>() {
            if let Some(connection) = self.get_mut(id) {
                connection.abort();
            }
            self.run(now, id, None);
            self.remove(id);
        }
        self.events.retain(|(of, ..)| *of != owner);
        self.bound.retain(|_, of| *of != owner);
    }

    /// The node restarts: all connections are lost without a word, as are ports that were bound. What is listened to is
    /// configuration.
    pub fn restart(&mut self) {
        for index in 0..self.slots.len() {
            let id = self.id_at(index as u32);
            self.remove(id);
        }
        self.bound.clear();
        self.dirty.clear();
        self.readable.clear();
        self.ran.clear();
        self.events.clear();
        self.packets.clear();
    }
}

/// Is this the address of a single node, as far as it can be told from the address?
fn is_single(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            !v4.is_multicast() && !v4.is_broadcast() && !v4.is_unspecified() && !v4.is_loopback()
        }
        IpAddr::V6(v6) => !v6.is_multicast() && !v6.is_unspecified() && !v6.is_loopback(),
    }
}

fn is_own(interfaces: &Interfaces, address: IpAddr) -> bool {
    interfaces.iter().any(|(_, interface)| interface.addresses.iter().any(|own| own.address == address))
}

/// The interface on whose link an address is, and the node's own address there.
fn towards(interfaces: &Interfaces, address: IpAddr) -> Option<(&super::Interface, IpAddr)> {
    let is_beyond = |own: IpAddr, len: u8| match own {
        IpAddr::V4(own) => IpPrefix::V4(Prefix::new(own, len)).contains(address),
        IpAddr::V6(own) => IpPrefix::V6(Prefix6::new(own, len)).contains(address),
    };
    interfaces.ports().find_map(|(_, interface)| {
        let own = interface.addresses.iter().find(|own| is_beyond(own.address, own.prefix_len))?;
        Some((interface, own.address))
    })
}

/// The address that this node uses towards another: that of the link which both are on, or else the router id, and of
/// IPv6 that of the loopback or of the first port that has one.
fn source(interfaces: &Interfaces, to: IpAddr) -> Option<IpAddr> {
    towards(interfaces, to).map(|(_, own)| own).or_else(|| interfaces.source_to(to))
}

/// The longest packet towards an address: that of the link which both are on, or else the least of all links.
fn mtu_towards(interfaces: &Interfaces, to: IpAddr) -> u32 {
    let least = || interfaces.ports().map(|(_, i)| i.mtu).min().unwrap_or(1_500);
    towards(interfaces, to).map_or_else(least, |(i, _)| i.mtu)
}
