//! Messages on their way out: addresses, TTL and delivery.

use super::counters::Discard;
use super::event::Event;
use super::p2mp;
use super::speaker::IP_PROTOCOL;
use super::transport::{self, Arrival, Delivery, Envelope, Handle, Incoming, Neighbor, Transport};
use super::unreadable::Unreadable;
use super::{Config, Rsvp};
use crate::protocol::{self, IpArrival, Output, Over};
use base::{PortId, Time};
use core::net::Ipv4Addr;
use std::net::IpAddr;
use wire::rsvp::reply::Reply;
use wire::rsvp::{Message, RsvpHop, TimeValues};

/// How much of a Path or Resv is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sending {
    /// All: it says something new.
    Trigger,
    /// A summary will do, if the neighbour takes them.
    Refresh,
    /// All, although it says nothing new.
    Full,
}

impl Sending {
    pub(super) const fn delivery(self, handle: u32) -> Delivery {
        match self {
            Sending::Trigger => Delivery::Trigger(Handle(handle)),
            Sending::Refresh | Sending::Full => Delivery::Refresh(Handle(handle)),
        }
    }
}

/// The address, if it is one of IPv4.
pub(super) const fn ipv4(address: IpAddr) -> Option<Ipv4Addr> {
    match address {
        IpAddr::V4(address) => Some(address),
        IpAddr::V6(_) => None,
    }
}

impl Rsvp {
    /// RSVP_HOP with this router's address on the port that a message leaves by.
    pub(super) fn own_hop(&self, to: Neighbor, lih: u32) -> RsvpHop {
        let address = self.links.address(to.port).unwrap_or(self.config.router_id);
        RsvpHop { address: IpAddr::V4(address), lih }
    }

    /// TIME_VALUES of this router.
    pub(super) fn time_values(&self) -> TimeValues {
        let ms = self.config.refresh_period.0 / 1_000_000_000;
        TimeValues { refresh_ms: u32::try_from(ms).unwrap_or(u32::MAX).max(1) }
    }

    /// Sends a message to a neighbour (RFC 2205, 3.1: all but Path, PathTear and ResvConf).
    pub(super) fn send_to_neighbor(&mut self, to: Neighbor, message: &mut Message, delivery: Delivery) {
        let src = self.links.address(to.port).unwrap_or(self.config.router_id);
        let ttl = self.config.message_ttl;
        self.send(to, (src, to.address), ttl, false, message, delivery);
    }

    /// Passes a message on to the next neighbour, which ends when it goes in circles; without a TTL that is left, no
    /// more.
    pub(super) fn pass_on(&mut self, arrival: &Arrival, to: Neighbor, message: &mut Message) {
        let src = self.links.address(to.port).unwrap_or(self.config.router_id);
        if arrival.ip.ttl > 1 {
            self.send(to, (src, to.address), arrival.ip.ttl - 1, false, message, Delivery::Reliable);
        } else {
            self.counters.discard(Discard::TtlExpired);
        }
    }

    /// Sends a message that is addressed to the far end and picked up by every router on its way (RFC 2113).
    pub(super) fn send_end_to_end(
        &mut self,
        to: Neighbor,
        ends: (Ipv4Addr, Ipv4Addr),
        ttl: u8,
        message: &mut Message,
        delivery: Delivery,
    ) {
        self.send(to, ends, ttl, true, message, delivery);
    }

    fn send(
        &mut self,
        to: Neighbor,
        (src, dst): (Ipv4Addr, Ipv4Addr),
        ttl: u8,
        router_alert: bool,
        message: &mut Message,
        delivery: Delivery,
    ) {
        if self.links.is_up(to.port) {
            self.counters.sent(message.message_type());
            let envelope = Envelope { src, dst, ttl, router_alert };
            self.transport.send(self.now, to, envelope, message, delivery);
        }
    }

    /// Does a summary take the place of a refresh message (RFC 2961, 5)?
    pub(super) fn summarised(&mut self, to: Neighbor, sending: Sending, handle: u32) -> bool {
        sending == Sending::Refresh && self.transport.refresh(self.now, to, Handle(handle))
    }

    /// The next message of the transport, if there is one.
    pub(super) fn poll_transport(&mut self) -> Option<Output> {
        let datagram = self.transport.poll_output()?;
        let Envelope { src, dst, ttl, router_alert } = datagram.envelope;
        let (port, next, bytes) = (datagram.port, datagram.next, datagram.bytes);
        let over = Over::Ip(IP_PROTOCOL);
        Some(Output::Message(protocol::Message { port, next, src, dst, over, ttl, router_alert, bytes }))
    }

    /// Takes what the transport has for the LSPs. `bytes` are what came in, if anything did.
    pub(super) fn take_in(&mut self, incoming: Incoming, bytes: Option<&[u8]>) {
        match incoming {
            Incoming::Message(arrival, message) => self.dispatch(&arrival, message),
            Incoming::Refreshed(Handle(handle)) if p2mp::is_handle(handle) => self.p2mp_refreshed(handle),
            Incoming::SendFull(Handle(handle)) if p2mp::is_handle(handle) => self.p2mp_send_full(handle),
            Incoming::Refreshed(Handle(handle)) if handle & 1 == 0 => self.path_refreshed(handle >> 1),
            Incoming::Refreshed(Handle(handle)) => self.resv_refreshed(handle >> 1),
            Incoming::SendFull(Handle(handle)) => self.send_full(handle),
            Incoming::NeighborUp(neighbor) => self.event(Event::NeighborUp { neighbor: neighbor.address }),
            Incoming::NeighborDown { neighbor, restarted } => {
                self.event(Event::NeighborDown { neighbor: neighbor.address, restarted });
                self.lost_beyond(|hop| hop == neighbor);
            }
            Incoming::Silent(neighbor) => self.neighbor_silent(neighbor),
            // The state is refreshed again in its time.
            Incoming::Lost { .. } => self.counters.unacknowledged += 1,
            Incoming::Malformed { ip: IpArrival { port, src, .. }, begins, reason, error } => {
                self.counters.discard(Discard::Malformed);
                self.unreadable.push(Unreadable { at: self.now, port, src, reason, error });
                let node = IpAddr::V4(self.config.router_id);
                // RFC 2205, 3.10: answered, if the message says enough of itself.
                let message = bytes.and_then(|bytes| bytes.get(begins..));
                let reply = message.zip(error).and_then(|(message, error)| Reply::to(message, &error, node));
                if let Some(reply) = reply.filter(|_| self.links.is_up(port)) {
                    self.reply(port, reply);
                }
            }
        }
    }

    /// Is the message older than what its sender said last of the same state (RFC 2961, 4.5)? Then it is not followed.
    pub(super) fn is_overtaken(&mut self, arrival: &Arrival, handle: u32) -> bool {
        let overtaken = arrival.id.is_some_and(|id| self.transport.out_of_order(id, Handle(handle)));
        if overtaken {
            self.counters.discard(Discard::OutOfOrder);
        }
        overtaken
    }

    /// A neighbour has lost what it was sent. A message of the same Bundle may have torn down what that was about.
    fn send_full(&mut self, handle: u32) {
        let index = handle >> 1;
        if self.store.get(index).is_none() {
            return;
        }
        if handle & 1 == 0 {
            self.send_path(index, Sending::Full);
        } else {
            self.send_resv(index, Sending::Full);
        }
    }

    fn reply(&mut self, port: PortId, reply: Reply) {
        // Neighbours have addresses of IPv4; what says otherwise gets no answer.
        let Some(address) = ipv4(reply.to.address) else { return };
        let to = Neighbor { port, address };
        let mut message = reply.message;
        if let Message::ResvErr(error) = &mut message {
            error.hop = self.own_hop(to, reply.to.lih);
        }
        if let Message::PathErr(wire::rsvp::PathErr { error_spec, .. })
        | Message::ResvErr(wire::rsvp::ResvErr { error_spec, .. }) = &message
        {
            self.counters.error_sent(error_spec.code, error_spec.value);
        }
        self.send_to_neighbor(to, &mut message, Delivery::Reliable);
    }
}

/// The transport of a speaker.
pub(super) fn transport(config: &Config) -> Transport {
    let interface = |i: &super::Interface| transport::Interface { port: i.port, address: i.address };
    // A summary that waits for longer than a refresh period would come after the state that it refreshes has expired.
    let waits_max = config.refresh_period.mul_f64(0.1);
    let reduction = config.refresh_reduction.map(|asked| transport::RefreshReduction {
        summary_delay: asked.summary_delay.min(waits_max),
        ..asked
    });
    let mut transport = Transport::new(transport::Config {
        router: config.router_id,
        interfaces: config.interfaces.iter().map(interface).collect(),
        refresh_reduction: reduction,
        hello: config.hello,
        integrity: config.integrity.clone(),
        calendar_ns: config.calendar_ns,
        neighbors_max: config.limits.neighbors,
        random: config.streams.stream(&format!("{}/rsvp/transport", config.name)),
    });
    track(&mut transport, config, Time::ZERO);
    transport
}

/// Starts the Hellos with the neighbours that are known.
pub(super) fn track(transport: &mut Transport, config: &Config, now: Time) {
    if config.hello.is_some() {
        for interface in &config.interfaces {
            if let Some(address) = interface.neighbor {
                transport.track(now, Neighbor { port: interface.port, address });
            }
        }
    }
}
