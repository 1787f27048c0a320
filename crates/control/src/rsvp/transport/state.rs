//! The transport itself: what it holds, and the neighbours that it knows.

use super::codec::Spare;
use super::config::{Config, HelloConfig, Interface, RefreshReduction};
use super::counters::{Audit, Counters};
use super::hello;
use super::integrity::Keyring;
use super::message_id::{Bindings, Own};
use super::neighbor::Peer;
use super::retransmit::Copies;
use super::types::{Datagram, Neighbor, NeighborView};
use base::random::Stream;
use base::{Map, PortId, Span, Time, Wheel};
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;
use wire::rsvp::Packet;

/// TTL of hop-by-hop messages that the transport makes itself.
pub(super) const TTL: u8 = 255;

/// Neighbours on one port that are remembered at most.
const PORT_NEIGHBORS_MAX: usize = 64;

/// Refresh reduction as configured, with what follows from it.
pub(super) struct Reduction {
    pub(super) config: RefreshReduction,
    /// Time from each transmission of a message to the next.
    pub(super) intervals: Vec<Span>,
}

/// RSVP's transport: everything between typed messages and IP packets.
///
/// - Down: [`Transport::send`], [`Transport::refresh`], [`Transport::forget`], [`Transport::acknowledge`].
/// - Up: [`Transport::receive`], [`Transport::bind`], [`Transport::out_of_order`], [`Transport::unbind`],
///   [`Transport::retire`].
/// - Ports and neighbours: [`Transport::port_up`], [`Transport::port_down`], [`Transport::track`],
///   [`Transport::untrack`], [`Transport::forget_neighbor`], [`Transport::restart`].
/// - Time: [`Transport::handle_timeout`], [`Transport::poll_timeout`].
///
/// After any of them call [`Transport::poll_output`] until it returns nothing, then [`Transport::poll_timeout`].
pub struct Transport {
    pub(super) router: Ipv4Addr,
    pub(super) interfaces: Vec<Interface>,
    pub(super) reduction: Option<Reduction>,
    pub(super) hello: Option<HelloConfig>,
    /// Our instance for neighbours that ask although Hello is not configured; chosen when the first one does.
    pub(super) instance: Option<u32>,
    pub(super) keyring: Keyring,
    /// Is any port's traffic signed?
    pub(super) signs: bool,
    pub(super) random: Stream,
    neighbors_max: usize,
    /// Neighbours remembered, by port.
    met: BTreeMap<PortId, usize>,
    index: Map<Neighbor, u32>,
    pub(super) peers: Vec<Peer>,
    /// Places of neighbours that were forgotten.
    pub(super) vacant: Vec<u32>,
    pub(super) own: Own,
    pub(super) bindings: Bindings,
    pub(super) copies: Copies,
    pub(super) wheel: Wheel<u32>,
    /// Neighbours whose messages are bundled until the output is polled.
    pub(super) immediate: VecDeque<u32>,
    pub(super) output: VecDeque<Datagram>,
    /// Memory of messages that have been sent.
    pub(super) spare: Spare,
    /// Ports that can't be used.
    pub(super) down: Vec<PortId>,
    pub(super) counters: Counters,
    pub(super) now: Time,
}

impl Transport {
    /// A transport that knows no neighbour.
    pub fn new(config: Config) -> Transport {
        let mut random = config.random;
        let own = Own::new(&mut random);
        Transport {
            router: config.router,
            interfaces: config.interfaces,
            reduction: config
                .refresh_reduction
                .map(|config| Reduction { intervals: config.intervals(), config }),
            hello: config.hello,
            instance: None,
            keyring: Keyring::new(&config.integrity, config.calendar_ns),
            signs: !config.integrity.is_empty(),
            random,
            neighbors_max: config.neighbors_max,
            met: BTreeMap::new(),
            index: Map::new(),
            peers: Vec::new(),
            vacant: Vec::new(),
            own,
            bindings: Bindings::new(),
            copies: Copies::default(),
            wheel: Wheel::new(),
            immediate: VecDeque::new(),
            output: VecDeque::new(),
            spare: Spare::default(),
            down: Vec::new(),
            counters: Counters::default(),
            now: Time::ZERO,
        }
    }

    /// What happened so far.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// What is held now.
    pub fn audit(&self) -> Audit {
        let sum = |count: fn(&Peer) -> usize| self.peers.iter().map(count).sum();
        Audit {
            neighbors: self.remembered(),
            hellos: sum(|peer| usize::from(peer.hello.is_some())),
            outgoing: self.own.states.len(),
            incoming: self.bindings.len(),
            identifiers: self.own.len(),
            copies: self.copies.len(),
            acks: sum(|peer| peer.acks.len()),
            summary_ids: sum(|peer| peer.summaries.len()),
            bundle_bytes: sum(|peer| peer.buffer.len()),
            datagrams: self.output.len(),
            timers: sum(|peer| usize::from(peer.timer.is_some() && peer.hello.is_none())),
        }
    }

    /// The neighbours, in the order in which they were met; one that is new has the place of one that was forgotten.
    pub fn neighbors(&self) -> impl Iterator<Item = NeighborView> {
        self.peers.iter().filter(|peer| !peer.is_vacant).map(|peer| NeighborView {
            neighbor: peer.neighbor,
            capable: peer.is_capable(),
            hello_up: peer.hello.as_ref().map(hello::Session::is_up),
            awaiting_ack: peer.schedule.len(),
        })
    }

    /// How many neighbours are remembered.
    fn remembered(&self) -> usize {
        self.peers.len() - self.vacant.len()
    }

    /// The flags of our common headers (RFC 2961, 2).
    pub(super) const fn flags(&self) -> u8 {
        if self.reduction.is_some() { Packet::REFRESH_REDUCTION_CAPABLE } else { 0 }
    }

    /// Our address on a port.
    pub(super) fn address(&self, port: PortId) -> Ipv4Addr {
        let found = self.interfaces.iter().find(|interface| interface.port == port);
        found.map_or(self.router, |interface| interface.address)
    }

    /// Is anything remembered of neighbours?
    pub(super) const fn tracks(&self) -> bool {
        self.reduction.is_some() || self.hello.is_some()
    }

    /// Index of the neighbour; nothing if it is not remembered.
    pub(super) fn find(&self, neighbor: Neighbor) -> Option<u32> {
        self.index.get(&neighbor).copied()
    }

    /// Index of the neighbour, which is remembered from now on; nothing if there are too many.
    pub(super) fn peer(&mut self, neighbor: Neighbor) -> Option<u32> {
        if let Some(peer) = self.find(neighbor) {
            return Some(peer);
        }
        // A link can't crowd the others out.
        let beyond = self.met.get(&neighbor.port).copied().unwrap_or(0);
        if self.remembered() >= self.neighbors_max || beyond >= PORT_NEIGHBORS_MAX {
            self.counters.neighbors_full += 1;
            return None;
        }
        self.met.insert(neighbor.port, beyond + 1);
        let capable = self.reduction.as_ref().is_some_and(|r| r.config.assume_capable);
        let limit = self.reduction.as_ref().map_or(1, |r| r.intervals.len());
        let mut entry = Peer::new(neighbor, self.address(neighbor.port), capable, limit);
        entry.used = self.now;
        let peer = match self.vacant.pop() {
            Some(peer) => {
                let place = &mut self.peers[peer as usize];
                // What was of the one before is not of this one.
                (entry.generation, entry.session) = (place.generation + 1, place.session + 1);
                *place = entry;
                peer
            }
            None => {
                self.peers.push(entry);
                self.peers.len() as u32 - 1
            }
        };
        self.index.insert(neighbor, peer);
        Some(peer)
    }

    /// Forgets a neighbour on which no state of the LSP layer depends, unless something is under way with it.
    pub fn forget_neighbor(&mut self, neighbor: Neighbor) {
        let Some(peer) = self.find(neighbor) else { return };
        let entry = &self.peers[peer as usize];
        if entry.schedule.len() > 0 || self.own.is_of(peer) || self.bindings.is_of(peer) {
            return;
        }
        if let Some((_, timer)) = entry.timer {
            self.wheel.cancel(timer);
        }
        let (generation, session) = (entry.generation, entry.session);
        self.peers[peer as usize] =
            Peer { is_vacant: true, generation, session, ..Peer::new(neighbor, entry.local, false, 1) };
        self.vacant.push(peer);
        self.immediate.retain(|waiting| *waiting != peer);
        self.index.remove(&neighbor);
        if let Some(met) = self.met.get_mut(&neighbor.port) {
            *met -= 1;
        }
    }

    /// Starts to exchange Hellos with a neighbour, if Hello is configured. Sending to it does the same.
    pub fn track(&mut self, now: Time, neighbor: Neighbor) {
        self.now = now;
        if self.hello.is_some()
            && let Some(peer) = self.peer(neighbor)
        {
            self.greet(peer);
            self.rearm(peer);
        }
    }

    /// Stops to send Hellos to a neighbour.
    pub fn untrack(&mut self, neighbor: Neighbor) {
        if let Some(peer) = self.find(neighbor) {
            self.peers[peer as usize].hello = None;
            self.rearm(peer);
        }
    }

    pub(super) fn greet(&mut self, peer: u32) {
        if let Some(config) = &self.hello
            && !self.down.contains(&self.peers[peer as usize].neighbor.port)
        {
            let hello = &mut self.peers[peer as usize].hello;
            if hello.is_none() {
                *hello = Some(hello::Session::new(self.now, config, &mut self.random));
            }
        }
    }

    pub(super) fn forget_neighbors(&mut self) {
        self.met.clear();
        self.index = Map::new();
        self.peers.clear();
        self.vacant.clear();
        self.immediate.clear();
        self.output.clear();
        self.wheel = Wheel::new();
    }
}
