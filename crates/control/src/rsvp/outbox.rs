//! Messages on their way out: addresses, TTL and delivery.

use super::lsp::Hop;
use super::{Output, Rsvp};
use core::net::Ipv4Addr;
use std::net::IpAddr;
use wire::rsvp::{Message, Packet, RsvpHop, TimeValues};

/// Where a message came from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// The RSVP neighbour: the address in its RSVP_HOP, or the IP source.
    pub from: Hop,
    /// IP source.
    pub src: Ipv4Addr,
    /// IP TTL on arrival.
    pub ttl: u8,
    /// The TTL that it was sent with (RFC 2205, 3.8).
    pub send_ttl: u8,
}

/// How a message is to be delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    /// New or changed state of this LSP.
    Trigger(u32),
    /// Repeats what the last trigger said.
    Refresh(u32),
    /// A tear or an error.
    Reliable,
    /// Once.
    Plain,
}

/// The address in RSVP_HOP, if the message has one.
pub(super) fn sender_of(message: &Message) -> Option<Ipv4Addr> {
    let hop = match message {
        Message::Path(m) => &m.hop,
        Message::Resv(m) => &m.hop,
        Message::ResvErr(m) => &m.hop,
        Message::PathTear(m) => &m.hop,
        Message::ResvTear(m) => &m.hop,
        _ => return None,
    };
    ipv4(hop.address)
}

pub(super) const fn ipv4(address: IpAddr) -> Option<Ipv4Addr> {
    match address {
        IpAddr::V4(address) => Some(address),
        IpAddr::V6(_) => None,
    }
}

impl Rsvp {
    /// RSVP_HOP with this router's address on the port that a message leaves by.
    pub(super) fn own_hop(&self, to: Hop, lih: u32) -> RsvpHop {
        let address = self.links.address(to.port).unwrap_or(self.config.router_id);
        RsvpHop { address: IpAddr::V4(address), lih }
    }

    /// TIME_VALUES of this router.
    pub(super) fn time_values(&self) -> TimeValues {
        let ms = self.config.refresh_period.0 / 1_000_000_000;
        TimeValues { refresh_ms: u32::try_from(ms).unwrap_or(u32::MAX).max(1) }
    }

    /// Sends a message to a neighbour (RFC 2205, 3.1: all but Path, PathTear and ResvConf).
    pub(super) fn send_to_neighbor(&mut self, to: Hop, message: Message, delivery: Delivery) {
        let src = self.links.address(to.port).unwrap_or(self.config.router_id);
        let ttl = self.config.message_ttl;
        self.send(to, (src, to.address), ttl, false, message, delivery);
    }

    /// Sends a message that is addressed to the far end and picked up by every router on its way (RFC 2113).
    pub(super) fn send_end_to_end(
        &mut self,
        to: Hop,
        ends: (Ipv4Addr, Ipv4Addr),
        ttl: u8,
        message: Message,
        delivery: Delivery,
    ) {
        self.send(to, ends, ttl, true, message, delivery);
    }

    fn send(
        &mut self,
        to: Hop,
        (src, dst): (Ipv4Addr, Ipv4Addr),
        ttl: u8,
        router_alert: bool,
        message: Message,
        _delivery: Delivery,
    ) {
        if !self.links.is_up(to.port) {
            return;
        }
        let kind = message.message_type();
        let mut bytes = Vec::with_capacity(256);
        match Packet::new(ttl, message).emit(&mut bytes) {
            Ok(()) => {
                self.counters.sent(kind);
                let next = Some(to.address);
                self.outputs.push_back(Output::Transmit {
                    port: to.port,
                    next,
                    src,
                    dst,
                    ttl,
                    router_alert,
                    message: bytes,
                });
            }
            Err(_) => self.counters.unsendable += 1,
        }
    }
}
