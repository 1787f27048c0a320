//! RSVP-TE as one protocol of a control plane.

use super::signals::SignalRecord;
use super::{Config, Interface, Rsvp};
use crate::inquiry::{Fec, FecMapping};
use crate::protocol::{
    Arrival, Change, Context, Direction, Known, Listen, Output, Protocol, Setup, Topic, UNKNOWN_KIND,
};
use crate::services::Services;
use base::plane::Ack;
use base::{PortId, ProtocolId, ProtocolValue, Time};
use core::net::Ipv4Addr;
use wire::rsvp::MessageType;

/// Its IP protocol number (RFC 2205, 3.1).
pub(super) const IP_PROTOCOL: u8 = 46;

impl Setup for Config {
    /// Speaks on the interfaces where bandwidth can be reserved; they, the name of the node, its router id and its
    /// random streams are those of the node, whatever this configuration says.
    fn protocol(&self, services: &Services) -> Box<dyn Protocol> {
        let interface = |i: &crate::services::Interface| {
            let (address, prefix_len) = i.ipv4()?;
            Some(Interface {
                port: i.port()?,
                address,
                prefix_len,
                neighbor: i.neighbor,
                neighbor_id: i.neighbor_id,
                reservable: i.reservable?,
                mtu: i.mtu,
            })
        };
        Box::new(Rsvp::new(Config {
            name: services.interfaces.node.clone(),
            router_id: services.interfaces.router_id,
            interfaces: services.interfaces.ports().filter_map(|(_, i)| interface(i)).collect(),
            streams: services.streams,
            ..self.clone()
        }))
    }

    fn watches(&self) -> bool {
        self.bfd.is_some()
    }
}

impl Rsvp {
    /// The name of RSVP-TE among protocols.
    pub const ID: ProtocolId = ProtocolId::new("rsvp-te");

    /// RSVP-TE among the protocols that there are.
    pub const KNOWN: Known =
        Known { id: Rsvp::ID, kind_name: Rsvp::type_name, views: super::shown::VIEWS, section: None };

    /// Has the services of the node in hand for the length of a call.
    fn with<T>(&mut self, context: &mut Context<'_>, call: impl FnOnce(&mut Rsvp) -> T) -> T {
        core::mem::swap(&mut self.services, context.services);
        let done = call(self);
        core::mem::swap(&mut self.services, context.services);
        done
    }

    /// Keeps the last `limit` messages from now on.
    pub fn keep_signals(&mut self, limit: usize) {
        self.signals.keep(limit);
    }

    /// The messages that are kept, and how many are not any more.
    pub fn signals(&self) -> (impl Iterator<Item = &SignalRecord>, u64) {
        (self.signals.iter(), self.signals.forgotten())
    }

    /// The name of a message type (RFC 2205, 3.1.1).
    pub fn type_name(kind: u8) -> &'static str {
        MessageType::of(kind).map_or(UNKNOWN_KIND, MessageType::name)
    }
}

impl Protocol for Rsvp {
    fn id(&self) -> ProtocolId {
        Rsvp::ID
    }

    /// What is addressed to this node, and what the Router Alert option marks, whatever its destination (RFC 2205,
    /// 3.11.3): sessions may be groups.
    fn listens(&self) -> Vec<Listen> {
        vec![Listen::IpProtocol(IP_PROTOCOL), Listen::RouterAlert(IP_PROTOCOL), Listen::EveryGroup]
    }

    fn subscribes(&self) -> Vec<Topic> {
        vec![
            Topic::Interfaces,
            Topic::Avoided,
            Topic::Engineering,
            Topic::Shortcuts,
            Topic::Liveness,
            Topic::Groups,
        ]
    }

    fn speaks_on(&self, port: PortId) -> bool {
        self.links.get(port).is_some()
    }

    /// The message type (RFC 2205, 3.1.1).
    fn kind_of(&self, bytes: &[u8]) -> u8 {
        bytes.get(1).copied().unwrap_or(0)
    }

    fn kind_name(&self, kind: u8) -> &'static str {
        Rsvp::type_name(kind)
    }

    fn state_count(&self) -> usize {
        Rsvp::state_count(self)
    }

    fn note(&mut self, now: Time, port: PortId, direction: Direction, bytes: &[u8]) {
        self.signals.note(now, port, direction, bytes);
    }

    fn handle_message(&mut self, now: Time, context: &mut Context<'_>, arrival: &Arrival, bytes: &[u8]) {
        if let Arrival::Ip(arrival) = arrival {
            self.with(context, |rsvp| rsvp.handle_message(now, arrival, bytes));
        }
    }

    fn handle_timeout(&mut self, now: Time, context: &mut Context<'_>) {
        self.with(context, |rsvp| rsvp.handle_timeout(now));
    }

    fn handle_command(&mut self, now: Time, context: &mut Context<'_>, command: &ProtocolValue) -> bool {
        let known = command.read();
        if let Some(command) = &known {
            self.with(context, |rsvp| rsvp.handle_command(now, command));
        }
        known.is_some()
    }

    fn handle_ack(&mut self, now: Time, context: &mut Context<'_>, ack: &Ack) {
        self.with(context, |rsvp| rsvp.handle_ack(now, ack));
    }

    fn handle_change(&mut self, now: Time, context: &mut Context<'_>, change: &Change) {
        self.with(context, |rsvp| rsvp.handle_change(now, change));
    }

    fn mapping(&self, _: &Services, fec: &Fec) -> Option<FecMapping> {
        self.fec_mapping(fec)
    }

    fn carrier(&self, _: Ipv4Addr, rank: u64) -> Option<Fec> {
        self.carrier_by(rank)
    }

    fn poll_output(&mut self) -> Option<Output> {
        Rsvp::poll_output(self)
    }

    fn recycle(&mut self, bytes: Vec<u8>) {
        self.transport.recycle(bytes);
    }

    fn poll_timeout(&self) -> Option<Time> {
        Rsvp::poll_timeout(self)
    }
}
