//! What the forwarding plane does not forward by itself.

use super::signalling::Signal;
use super::{Router, Waiting};
use crate::echo;
use base::device::DropReason;
use base::{Frame, Output, PortId, Time};
use core::net::Ipv4Addr;
use forwarding::icmp::{IcmpError, along_lsp, icmp_error};
use forwarding::punt::ip_offset;
use forwarding::{PuntReason, fragment};
use wire::{ethernet, icmp, ipv4};

impl Router {
    pub(super) fn handle_exception(&mut self, now: Time, port: PortId, frame: Frame, reason: PuntReason) {
        match reason {
            PuntReason::Arp => self.handle_arp(now, port, &frame),
            PuntReason::Local { labels } => self.handle_local(now, port, &frame, labels),
            PuntReason::RouterAlert { labels } | PuntReason::Options { labels } => {
                if !self.intercept(now, port, &frame, labels) {
                    self.forward_again(now, port, frame);
                }
            }
            PuntReason::TtlExpired { .. } => {
                self.drops.count(DropReason::TtlExpired);
                self.send_icmp_error(now, port, &frame, IcmpError::TimeExceeded);
            }
            PuntReason::TooBig { mtu, .. } => match fragment::fragment(&frame, mtu) {
                Ok(fragments) => fragments.into_iter().for_each(|f| self.forward_again(now, port, f)),
                Err(reason) => {
                    self.drops.count(reason);
                    if reason == DropReason::TooBig {
                        self.send_icmp_error(now, port, &frame, IcmpError::FragmentationNeeded { mtu });
                    }
                }
            },
            PuntReason::NoAdjacency { port: out, gateway } => {
                self.wait_for(now, out, gateway, Waiting::Transit(port, frame));
            }
            PuntReason::NoRoute { .. } => {
                self.drops.count(DropReason::NoRoute);
                self.send_icmp_error(now, port, &frame, IcmpError::NetworkUnreachable);
            }
        }
    }

    /// What became of a packet of this router that could not be sent at once.
    pub(super) fn send_exception(
        &mut self,
        now: Time,
        frame: Frame,
        via: Option<(PortId, Ipv4Addr)>,
        reason: PuntReason,
    ) {
        match reason {
            PuntReason::NoAdjacency { port, gateway } => {
                self.wait_for(now, port, gateway, Waiting::Own(frame, via));
            }
            PuntReason::TooBig { mtu, .. } => match fragment::fragment(&frame, mtu) {
                Ok(fragments) => fragments.into_iter().for_each(|f| self.send(now, f, via)),
                Err(reason) => self.drops.count(reason),
            },
            PuntReason::Local { .. } => self.handle_local(now, PortId(u16::MAX), &frame, 0),
            _ => self.drops.count(DropReason::NoRoute),
        }
    }

    /// Reports an error to the sender of a packet; along the LSP if the packet had labels (RFC 3032, 2.3.2).
    pub(super) fn send_icmp_error(&mut self, now: Time, port: PortId, frame: &Frame, error: IcmpError) {
        let source = self.config.ports.get(port.index()).map_or(self.config.router_id, |p| p.address);
        let Some(packet) = icmp_error(frame, error, source) else { return };
        let dst = packet.get(16..20).and_then(|b| b.first_chunk::<4>()).copied().map(Ipv4Addr::from);
        let known = dst.and_then(|dst| self.forwarding().route_local(dst)).is_some();
        match along_lsp(frame, &packet) {
            Some(labelled) if !known => self.forward_again(now, port, labelled),
            _ => self.send_ip(now, &packet, None),
        }
    }

    /// Sends an IP packet of this router.
    pub(super) fn send_ip(&mut self, now: Time, packet: &[u8], via: Option<(PortId, Ipv4Addr)>) {
        let mut bytes = vec![0; ethernet::HEADER_LEN];
        bytes.extend_from_slice(packet);
        self.send(now, Frame::from_bytes(&bytes), via);
    }

    /// Takes an RSVP packet out of the stream, whatever its destination (RFC 2205, 3.11.3). Other packets with the option go on
    /// unless they are for this router.
    fn intercept(&mut self, now: Time, port: PortId, frame: &Frame, labels: u8) -> bool {
        let bytes = self.bytes_of(frame);
        let Ok(ip) = ipv4::Packet::new_checked(bytes.get(ip_offset(labels)..).unwrap_or_default()) else {
            self.drops.count(DropReason::Malformed);
            return true;
        };
        let (protocol, dst) = (ip.protocol(), ip.dst());
        if protocol == ipv4::Protocol::RSVP {
            if let Some(signal) = Signal::new(port, bytes, ip_offset(labels)) {
                self.signal(now, signal);
            }
            return true;
        }
        self.recycle(bytes);
        let local = self.forwarding().route_local(dst).map(|n| n.next_hop);
        if local == Some(base::plane::NextHop::Local) {
            self.handle_local(now, port, frame, labels);
            return true;
        }
        false
    }

    fn handle_local(&mut self, now: Time, port: PortId, frame: &Frame, labels: u8) {
        let bytes = self.bytes_of(frame);
        let Ok(ip) = ipv4::Packet::new_checked(bytes.get(ip_offset(labels)..).unwrap_or_default()) else {
            self.drops.count(DropReason::Malformed);
            return;
        };
        if ip.fragment_offset() != 0 || ip.more_fragments() {
            // Nothing that this router listens to comes in fragments.
            self.drops.count(DropReason::NoListener);
            return;
        }
        match ip.protocol() {
            ipv4::Protocol::RSVP => {
                if let Some(signal) = Signal::new(port, bytes, ip_offset(labels)) {
                    self.signal(now, signal);
                }
            }
            ipv4::Protocol::ICMP => self.handle_icmp(now, ip.src(), ip.dst(), ip.payload()),
            ipv4::Protocol::UDP => {
                self.drops.count(DropReason::NoListener);
                self.send_icmp_error(now, port, frame, IcmpError::PortUnreachable);
            }
            _ => {
                self.drops.count(DropReason::NoListener);
                self.send_icmp_error(now, port, frame, IcmpError::ProtocolUnreachable);
            }
        }
    }

    fn handle_icmp(&mut self, now: Time, src: Ipv4Addr, dst: Ipv4Addr, payload: &[u8]) {
        let parsed = icmp::Packet::new_checked(payload);
        let Some(message) = parsed.as_ref().ok().and_then(|packet| icmp::Repr::parse(packet).ok()) else {
            self.drops.count(DropReason::Malformed);
            return;
        };
        match message {
            icmp::Repr::EchoRequest { ident, sequence, data } => {
                let echo = icmp::Repr::EchoReply { ident, sequence, data };
                // RFC 1122, 3.2.2.6: the source of the reply is the destination of the request.
                let from = if dst.is_broadcast() || dst.is_multicast() { self.config.router_id } else { dst };
                self.send_icmp(now, from, src, 64, &echo);
            }
            other => match echo::answer(src, &other) {
                Some(event) => self.outputs.push_back(Output::Event(event)),
                None => self.drops.count(DropReason::NoListener),
            },
        }
    }

    /// Pings an address.
    pub(super) fn send_echo(&mut self, now: Time, to: Ipv4Addr, ttl: u8, sequence: u16) {
        self.send_icmp(now, self.config.router_id, to, ttl, &echo::request(sequence));
    }

    fn send_icmp(&mut self, now: Time, src: Ipv4Addr, dst: Ipv4Addr, ttl: u8, message: &icmp::Repr<'_>) {
        self.ident = self.ident.wrapping_add(1);
        let packet = echo::packet(src, dst, ttl, self.ident, message);
        self.send_ip(now, &packet, None);
    }
}
