//! What the forwarding plane does not forward by itself.

use super::{Router, Waiting};
use crate::echo;
use base::device::DropReason;
use base::plane::{GroupKey, NextHop};
use base::{Event, Frame, Output, PortId, Time};
use control::protocol::Listen;
use control::unheard::Unheard;
use core::net::{IpAddr, Ipv4Addr};
use forwarding::icmp::{IcmpError, along_lsp, icmp_error};
use forwarding::icmpv6::Icmpv6Error;
use forwarding::punt::labels_of;
use forwarding::{Exception, PuntReason, fragment};
use wire::{ethernet, icmp};

/// ICMP errors that a router sends each second, and at once (RFC 1812, 4.3.2.8).
pub(super) const ERRORS: (u32, u32) = (1_000, 1_000);
/// Echo requests that a router answers each second, and at once.
pub(super) const ECHOES: (u32, u32) = (20_000, 20_000);
/// The port of what this router sends to itself.
const SELF: PortId = PortId(u16::MAX);

impl Router {
    /// Counts the received frame that is being handled as discarded; what this router sends to itself was never
    /// received. [`Router::handle_exception`] tells whose frame it was.
    pub(super) fn drop_received(&mut self, port: PortId, reason: DropReason) {
        if port == SELF {
            self.own.count(reason);
        } else {
            self.drops.count(reason);
            self.discarded = Some(reason);
        }
    }

    /// Discards a frame in transit that was received by a port.
    pub(super) fn lose(&mut self, port: PortId, frame: Frame, reason: DropReason) {
        self.drops.count(reason);
        self.outputs.push_back(Output::Discard { port, frame, reason });
    }

    /// Counts a received frame that has reached its end here.
    pub(super) fn deliver(&mut self, port: PortId) {
        self.delivered += u64::from(port != SELF);
    }

    pub(super) fn handle_exception(&mut self, now: Time, port: PortId, frame: Frame, reason: PuntReason) {
        match reason {
            PuntReason::Arp => self.handle_arp(now, port, &frame),
            PuntReason::Llc => self.handle_llc(now, port, &frame),
            PuntReason::Local { labels } => self.handle_local(now, port, &frame, labels),
            PuntReason::RouterAlert { labels } | PuntReason::Options { labels } => {
                let is_taken = match self.is_ipv6(&frame, labels) {
                    true => self.intercept6(now, port, &frame, labels),
                    false => self.intercept(now, port, &frame, labels, reason),
                };
                if !is_taken {
                    return self.forward_again(now, port, frame);
                }
            }
            PuntReason::TtlExpired { labels } | PuntReason::UnknownLabel { labels }
                if self.take_lsp_message(now, port, &frame, labels, reason) => {}
            PuntReason::TtlExpired { .. } => {
                self.drop_received(port, DropReason::TtlExpired);
                self.report(now, port, &frame, IcmpError::TimeExceeded);
            }
            PuntReason::UnknownLabel { .. } => self.drop_received(port, DropReason::UnknownLabel),
            PuntReason::TooBig { mtu, labels } if self.is_ipv6(&frame, labels) => {
                // RFC 8200, 5: only its source may cut a packet.
                self.drop_received(port, DropReason::TooBig);
                self.report(now, port, &frame, IcmpError::FragmentationNeeded { mtu });
            }
            PuntReason::TooBig { mtu, .. } => match fragment::fragment(&frame, mtu) {
                Ok(fragments) => {
                    self.fragments += fragments.len().saturating_sub(1) as u64;
                    return fragments.into_iter().for_each(|f| self.forward_again(now, port, f));
                }
                Err(reason) => {
                    self.drop_received(port, reason);
                    if reason == DropReason::TooBig {
                        self.send_icmp_error(now, port, &frame, IcmpError::FragmentationNeeded { mtu });
                    }
                }
            },
            PuntReason::NoAdjacency { port: out, gateway } => {
                return self.wait_for(now, out, gateway, Waiting::Transit(port, frame));
            }
            PuntReason::Replicate { branches } => return self.replicate(now, port, frame, branches),
            PuntReason::WrongInterface => self.handle_wrong_interface(now, port, &frame),
            PuntReason::NoRoute { .. } => {
                self.drop_received(port, DropReason::NoRoute);
                self.report(now, port, &frame, IcmpError::NetworkUnreachable);
            }
        }
        if let Some(reason) = self.discarded.take() {
            self.outputs.push_back(Output::Discard { port, frame, reason });
        }
    }

    /// A packet to a group that another router has sent to a port which this router sends it to, too.
    fn handle_wrong_interface(&mut self, now: Time, port: PortId, frame: &Frame) {
        self.drop_received(port, DropReason::WrongInterface);
        let header = frame.header().get(ethernet::HEADER_LEN..).unwrap_or_default();
        let Some([.., a, b, c, d, e, f, g, h]) = header.first_chunk::<20>() else { return };
        if header[0] >> 4 == 4 {
            let key = GroupKey { group: [*e, *f, *g, *h].into(), source: Some([*a, *b, *c, *d].into()) };
            self.control.handle_wrong_interface(now, key, port);
            self.settle(now);
        }
    }

    /// What became of a packet of this router that could not be sent at once.
    pub(super) fn send_exception(
        &mut self,
        now: Time,
        frame: Frame,
        via: Option<(PortId, IpAddr)>,
        reason: PuntReason,
    ) {
        match reason {
            PuntReason::NoAdjacency { port, gateway } => {
                self.wait_for(now, port, gateway, Waiting::Own(frame, via));
            }
            PuntReason::TooBig { mtu, .. } => match fragment::fragment(&frame, mtu) {
                Ok(fragments) => fragments.into_iter().for_each(|f| self.send(now, f, via)),
                Err(reason) => self.own.count(reason),
            },
            PuntReason::Local { .. } => self.handle_local(now, SELF, &frame, 0),
            _ => self.own.count(DropReason::NoRoute),
        }
    }

    /// Reports an error to the sender of a packet of either family: what it is called there.
    pub(super) fn report(&mut self, now: Time, port: PortId, frame: &Frame, error: IcmpError) {
        if !self.is_ipv6(frame, labels_of(frame)) {
            return self.send_icmp_error(now, port, frame, error);
        }
        let error = match error {
            IcmpError::TimeExceeded => Icmpv6Error::TimeExceeded,
            IcmpError::FragmentationNeeded { mtu } => Icmpv6Error::PacketTooBig { mtu },
            IcmpError::NetworkUnreachable => Icmpv6Error::NoRoute,
            IcmpError::HostUnreachable | IcmpError::ProtocolUnreachable => Icmpv6Error::AddressUnreachable,
            IcmpError::PortUnreachable => Icmpv6Error::PortUnreachable,
        };
        self.send_icmpv6_error(now, port, frame, error);
    }

    /// Is what came by this port from this router itself?
    pub(super) fn is_own_loop(&self, port: PortId) -> bool {
        port == SELF
    }

    /// Reports an error to the sender of a packet; along the LSP if the packet had labels (RFC 3032, 2.3.2). The
    /// source is the address of the port that the packet came by: traceroute shows the way that packets take.
    pub(super) fn send_icmp_error(&mut self, now: Time, port: PortId, frame: &Frame, error: IcmpError) {
        let source = self.config.ports.get(port.index()).map_or(self.config.router_id, |p| p.address);
        let Some(packet) = icmp_error(frame, error, source) else { return };
        let dst = packet.get(16..20).and_then(|b| b.first_chunk::<4>()).copied().map(Ipv4Addr::from);
        // RFC 1812, 4.3.2.7: never to an address that is not one host's, as only the tables know it.
        let Some(dst) = dst.filter(|dst| self.forwarding().is_single_host(*dst)) else { return };
        let known = self.forwarding().route_local(dst);
        if known.is_some_and(|nhlfe| nhlfe.next_hop == NextHop::Local) && port != SELF {
            // From outside, with an address of ours.
            return;
        }
        if !self.errors.take(now) {
            self.own.count(DropReason::RateLimited);
            return;
        }
        match along_lsp(frame, &packet) {
            Some(labelled) if known.is_none() => self.send_along(now, port, labelled),
            _ => self.send_ip(now, &packet, None),
        }
    }

    /// Sends an ICMP error on along the LSP of the packet that it is about.
    pub(super) fn send_along(&mut self, now: Time, port: PortId, mut frame: Frame) {
        match self.plane.forwarding_mut().forward_own(port, &mut frame) {
            Ok(port) => {
                self.originated += 1;
                let ready = self.pipeline.ready(now, frame.wire_len());
                self.outputs.push_back(Output::Transmit { port, frame, ready });
            }
            Err(Exception::Drop(reason)) => self.own.count(reason),
            Err(Exception::Punt(PuntReason::NoAdjacency { port: out, gateway })) => {
                self.wait_for(now, out, gateway, Waiting::Along(port, frame));
            }
            Err(Exception::Punt(PuntReason::TooBig { .. })) => self.own.count(DropReason::TooBig),
            Err(Exception::Punt(_)) => self.own.count(DropReason::NoRoute),
        }
    }

    /// Sends an IP packet of this router.
    pub(super) fn send_ip(&mut self, now: Time, packet: &[u8], via: Option<(PortId, Ipv4Addr)>) {
        let mut bytes = vec![0; ethernet::HEADER_LEN];
        bytes.extend_from_slice(packet);
        self.send(now, Frame::from_bytes(&bytes), via.map(|(port, gateway)| (port, gateway.into())));
    }

    /// Takes a packet with the option out of the stream, whatever its destination, if a protocol listens to such.
    /// Others go on unless they are for this router.
    fn intercept(&mut self, now: Time, port: PortId, frame: &Frame, labels: u8, reason: PuntReason) -> bool {
        let Some(arrival) = self.read_ipv4(port, frame, labels, reason) else { return true };
        if let Some(owner) = self.control.listener(Listen::RouterAlert(arrival.protocol.0)) {
            self.signal(now, owner, arrival);
            return true;
        }
        let local = self.forwarding().route_local(arrival.ip.dst).map(|n| n.next_hop);
        if local == Some(NextHop::Local) {
            self.handle_ipv4(now, frame, arrival);
            return true;
        }
        self.recycle(arrival.frame);
        false
    }

    pub(super) fn handle_icmp(
        &mut self,
        now: Time,
        port: PortId,
        src: Ipv4Addr,
        dst: Ipv4Addr,
        payload: &[u8],
    ) {
        let parsed = icmp::Packet::new_checked(payload);
        let Some(message) = parsed.as_ref().ok().and_then(|packet| icmp::Repr::parse(packet).ok()) else {
            return self.drop_received(port, DropReason::Malformed);
        };
        match message {
            icmp::Repr::EchoRequest { ident, sequence, data } => {
                if !self.forwarding().is_single_host(src) {
                    // RFC 1812, 5.3.7: nobody to answer.
                    return self.drop_received(port, DropReason::Malformed);
                }
                if !self.echoes.take(now) {
                    return self.drop_received(port, DropReason::RateLimited);
                }
                let echo = icmp::Repr::EchoReply { ident, sequence, data };
                // RFC 1122, 3.2.2.6: the source of the reply is the destination of the request.
                self.send_icmp(now, dst, src, 64, &echo);
            }
            other if self.handle_trouble(now, &other) => {}
            other => match Some(other).filter(echo::is_about_ping).and_then(|m| echo::answer(src, &m)) {
                Some(event) if self.is_asked(&event) => self.outputs.push_back(Output::Event(event)),
                // About what the router never sent.
                _ => return self.drop_unheard(port, Unheard::Icmp),
            },
        }
        self.deliver(port);
    }

    /// Is the event an answer to a ping that has none yet?
    pub(super) fn is_asked(&mut self, event: &Event) -> bool {
        let Event::ProbeReply { sequence, .. } = event else { return false };
        let Some(asked) = self.asked.get_mut(sequence) else { return false };
        *asked -= 1;
        if *asked == 0 {
            self.asked.remove(sequence);
        }
        true
    }

    /// Sends an ICMP echo request to `to`, by the router's own tables.
    pub(super) fn send_echo(&mut self, now: Time, to: Ipv4Addr, ttl: u8, sequence: u16) {
        let asked = self.asked.entry(sequence).or_default();
        *asked = asked.saturating_add(1);
        self.send_icmp(now, self.config.router_id, to, ttl, &echo::request(sequence));
    }

    fn send_icmp(&mut self, now: Time, src: Ipv4Addr, dst: Ipv4Addr, ttl: u8, message: &icmp::Repr<'_>) {
        self.ident = self.ident.wrapping_add(1);
        let packet = echo::packet(src, dst, ttl, self.ident, message);
        self.send_ip(now, &packet, None);
    }
}
