//! IPv6 packets for this router, and errors about those of others (RFC 8200, RFC 4443).

use super::Router;
use super::config::Address6;
use super::signalling6::listen;
use crate::discovery::{self, HOP_LIMIT, Heard, Own};
use crate::trouble::about6;
use base::device::DropReason;
use base::plane::NextHop;
use base::{Frame, MacAddr, Output, PortId, Time};
use control::protocol::Arrival;
use control::unheard::Unheard;
use core::net::Ipv6Addr;
use forwarding::icmp::along_lsp;
use forwarding::icmpv6::{Icmpv6Error, icmpv6_error};
use forwarding::punt::ip_offset;
use forwarding::{is_mapped_loopback, is_single_node};
use wire::{ethernet, icmpv6, ipv6, nd, tcp};

impl Router {
    /// Is the packet behind `labels` one of IPv6, and does this router know such?
    pub(super) fn is_ipv6(&self, frame: &Frame, labels: u8) -> bool {
        self.forwarding().has_ipv6() && frame.header().get(ip_offset(labels)).is_some_and(|b| b >> 4 == 6)
    }

    /// The port's addresses, if it has one of IPv6 and may use it.
    pub(super) fn own6(&self, port: PortId) -> Option<Own> {
        self.interface6(port).filter(|_| self.is_usable6(port))
    }

    /// The port's addresses, if it has one of IPv6.
    pub(super) fn interface6(&self, port: PortId) -> Option<Own> {
        let setup = self.config.ports.get(port.index())?;
        let Address6 { address, .. } = setup.ipv6?;
        Some(Own { mac: setup.mac, address, router: true })
    }

    /// The address from which this router speaks of what has come by a port: that of the port, else the loopback
    /// address, else that of the first port that has one (RFC 4443, 2.2).
    fn source6(&self, port: PortId) -> Option<Ipv6Addr> {
        let ports = || (0..self.config.ports.len()).map(|index| PortId(index as u16));
        let first = || ports().find_map(|port| self.own6(port)).map(|own| own.address);
        self.own6(port).map(|own| own.address).or(self.config.ipv6).or_else(first)
    }

    pub(super) fn handle_local6(&mut self, now: Time, port: PortId, frame: &Frame, labels: u8) {
        let bytes = self.bytes_of(frame);
        let at = ip_offset(labels);
        let packet = bytes.get(at..).unwrap_or_default();
        let read = ipv6::Packet::new_checked(packet).and_then(|packet| {
            let upper = ipv6::upper(packet.next_header(), packet.payload())?;
            Ok((ipv6::Repr::parse(&packet)?, upper, packet))
        });
        let Ok((ip, upper, packet)) = read else { return self.drop_received(port, DropReason::Malformed) };
        if is_mapped_loopback(ip.dst) {
            if !self.take_lsp_message6(now, port, frame, labels) {
                self.drop_received(port, DropReason::Malformed);
            }
            return self.recycle(bytes);
        }
        let group = ip.dst.is_multicast();
        let own = self.interface6(port).filter(|_| labels == 0);
        let is_for_node = !group || own.is_some_and(|own| own.is_in(ip.dst));
        let is_fragment = upper.fragment.is_some_and(|fragment| fragment.more || fragment.offset != 0);
        if group && (own.is_none() || (is_fragment && !is_for_node)) {
            return self.drop_unheard(port, Unheard::Group);
        }
        let is_tentative = if group { !self.is_usable6(port) } else { self.is_tentative(ip.dst) };
        if is_tentative && upper.protocol != ipv6::Protocol::ICMPV6 {
            return self.drop_received(port, DropReason::NotForUs);
        }
        if is_fragment {
            return self.drop_unheard(port, Unheard::Fragment);
        }
        let payload = packet.payload().get(upper.offset..).unwrap_or_default();
        // RFC 3810, 5.2.13: what a node reports that has no address yet is nothing to a router.
        let is_heard = upper.protocol != ipv6::Protocol::ICMPV6 || !ip.src.is_unspecified();
        let listen = listen(upper.protocol, payload).filter(|_| is_heard);
        let listener = listen.and_then(|listen| match group {
            true => self.control.group_listener6(listen, ip.dst),
            false => self.control.listener(listen),
        });
        if let Some(owner) = listener {
            let start = at + ipv6::HEADER_LEN + upper.offset;
            let part = start..start + payload.len();
            return self.signal6(now, owner, (port, ip, upper), bytes, part, |ip| Some(Arrival::Ip6(ip)));
        }
        if !is_for_node {
            return self.drop_unheard(port, Unheard::Group);
        }
        match upper.protocol {
            ipv6::Protocol::TCP if self.control.has_tcp() && !ip.dst.is_multicast() => {
                self.handle_segment6(now, port, &ip, payload);
            }
            ipv6::Protocol::ICMPV6 => {
                let from =
                    frame.header().get(6..12).and_then(|mac| mac.first_chunk::<6>()).map(|mac| MacAddr(*mac));
                self.handle_icmpv6(now, port, &ip, from.filter(|_| labels == 0), payload);
            }
            ipv6::Protocol::NO_NEXT_HEADER => self.deliver(port),
            ipv6::Protocol::UDP => {
                self.drop_unheard(port, Unheard::UdpPort);
                self.send_icmpv6_error(now, port, frame, Icmpv6Error::PortUnreachable);
            }
            other => {
                let tcp = other == ipv6::Protocol::TCP;
                self.drop_unheard(port, if tcp { Unheard::TcpPort } else { Unheard::IpProtocol });
                let pointer = pointer_to_upper(&ip, packet.payload());
                self.send_icmpv6_error(now, port, frame, Icmpv6Error::UnknownNextHeader { pointer });
            }
        }
        self.recycle(bytes);
    }

    /// Takes a packet to a group with the Router Alert option out of the stream, if a protocol listens to such whatever
    /// the group. Others go on.
    pub(super) fn intercept6(&mut self, now: Time, port: PortId, frame: &Frame, labels: u8) -> bool {
        let bytes = self.bytes_of(frame);
        let packet = ipv6::Packet::new_checked(bytes.get(ip_offset(labels)..).unwrap_or_default());
        let heard = packet.is_ok_and(|packet| {
            let upper = ipv6::upper(packet.next_header(), packet.payload()).ok();
            let payload = |upper: &ipv6::Upper| packet.payload().get(upper.offset..).unwrap_or_default();
            let listen = upper.and_then(|upper| listen(upper.protocol, payload(&upper)));
            let is_for = |listen| self.control.group_listener6(listen, packet.dst()).is_some();
            packet.dst().is_multicast() && labels == 0 && listen.is_some_and(is_for)
        });
        self.recycle(bytes);
        if heard {
            self.handle_local6(now, port, frame, labels);
        }
        heard
    }

    /// A TCP segment for a node that has TCP.
    fn handle_segment6(&mut self, now: Time, port: PortId, ip: &ipv6::Repr, bytes: &[u8]) {
        let Ok(segment) = tcp::Packet::new_checked(bytes) else {
            return self.drop_received(port, DropReason::Malformed);
        };
        if segment.verify_checksum(ip.src.into(), ip.dst.into()).is_err() {
            return self.drop_received(port, DropReason::BadChecksum);
        }
        if !is_single_node(ip.src) {
            return self.drop_received(port, DropReason::Malformed);
        }
        self.offer_segment(now, port, (ip.src.into(), ip.dst.into()), ip.hop_limit, bytes);
        self.process(now);
    }

    /// An ICMPv6 error about a packet that this node sent to another: does it mean anything to a protocol?
    fn handle_trouble6(&mut self, now: Time, message: &icmpv6::Repr<'_>) -> bool {
        about6(message)
            .is_some_and(|about| self.control.handle_trouble(now, about.ends, about.segment, about.what))
    }

    /// Takes an ICMPv6 message, from the Ethernet address `mac` if it came without labels.
    fn handle_icmpv6(
        &mut self,
        now: Time,
        port: PortId,
        ip: &ipv6::Repr,
        mac: Option<MacAddr>,
        payload: &[u8],
    ) {
        let packet = icmpv6::Packet::new_checked(payload);
        let message = packet.as_ref().map_err(|e| *e).and_then(|p| icmpv6::Repr::parse(p, ip.src, ip.dst));
        match message {
            Err(_) => self.drop_received(port, DropReason::Malformed),
            Ok(icmpv6::Repr::Discovery(message)) => self.handle_discovery(now, port, ip, mac, &message),
            Ok(_) if self.is_tentative(ip.dst) || (ip.dst.is_multicast() && self.own6(port).is_none()) => {
                self.drop_received(port, DropReason::NotForUs);
            }
            Ok(icmpv6::Repr::EchoRequest { ident, sequence, data }) => {
                if !is_single_node(ip.src) {
                    return self.drop_received(port, DropReason::Malformed);
                }
                if !self.echoes.take(now) {
                    return self.drop_received(port, DropReason::RateLimited);
                }
                // RFC 4443, 4.2: from the address that was asked; of a group, from one of the interface.
                let own = self.own6(port).map_or(ip.dst, |own| own.towards(ip.src));
                let src = if ip.dst.is_multicast() { own } else { ip.dst };
                let reply = icmpv6::Repr::EchoReply { ident, sequence, data };
                self.deliver(port);
                self.send_icmpv6(now, port, src, ip.src, HOP_LIMIT, &reply);
            }
            Ok(other) if self.handle_trouble6(now, &other) => {
                self.deliver(port);
                self.process(now);
            }
            Ok(other) => match discovery::answer(ip.src, &other) {
                Some(event) if self.is_asked(&event) => {
                    self.deliver(port);
                    self.outputs.push_back(Output::Event(event));
                }
                _ => self.drop_unheard(port, Unheard::Icmp),
            },
        }
    }

    fn handle_discovery(
        &mut self,
        now: Time,
        port: PortId,
        ip: &ipv6::Repr,
        from: Option<MacAddr>,
        message: &nd::Repr<'_>,
    ) {
        let Some((own, from)) = self.interface6(port).zip(from) else {
            return self.drop_received(port, DropReason::NotForUs);
        };
        let heard = discovery::hear(&own, ip, message);
        if heard.is_ok() && !self.is_usable6(port) {
            self.deliver(port);
            return self.hear_of_addresses(now, port, &own, ip.src, message);
        }
        match heard {
            Err(_) => self.drop_received(port, DropReason::Malformed),
            Ok(Heard::Solicited { asker }) if self.solicited(now, port, asker) => self.deliver(port),
            Ok(Heard::Solicited { .. }) => self.drop_unheard(port, Unheard::Icmp),
            Ok(Heard::Nothing) => self.drop_unheard(port, Unheard::Icmp),
            Ok(Heard::Asked { target, asker }) => {
                self.deliver(port);
                if let Some((address, Some(mac))) = asker
                    && self.may_be_neighbor6(port, address)
                {
                    // RFC 4861, 7.2.3.
                    self.learn(now, port, address.into(), mac, true);
                }
                let asker = asker.map(|(address, mac)| (address, mac.unwrap_or(from)));
                self.send_frame(now, port, own.answer(target, asker));
            }
            Ok(Heard::Told { neighbor, mac, replaces }) => {
                let known = self.neighbors.get(port, neighbor.into());
                // RFC 4861, 7.2.5: one that was not asked for is not kept; one that is known stays, unless it is
                // replaced.
                let mac = match (known, mac) {
                    _ if !self.neighbors.contains(port, neighbor.into()) => None,
                    (Some(known), Some(mac)) if known != mac && !replaces => None,
                    (known, mac) => mac.or(known),
                };
                match mac {
                    Some(mac) => {
                        self.deliver(port);
                        self.learn(now, port, neighbor.into(), mac, false);
                    }
                    None => self.drop_unheard(port, Unheard::Icmp),
                }
            }
        }
    }

    /// May a node with this address be on the link?
    pub(super) fn may_be_neighbor6(&self, port: PortId, address: Ipv6Addr) -> bool {
        let Some(Address6 { address: own, prefix_len, .. }) =
            self.config.ports.get(port.index()).and_then(|p| p.ipv6)
        else {
            return false;
        };
        let on_link = base::plane::Prefix6::new(own, prefix_len).contains(address);
        is_single_node(address) && (on_link || address.is_unicast_link_local())
    }

    /// Asks for a neighbour: everybody, or only who was known to be it.
    pub(super) fn ask6(&mut self, now: Time, port: PortId, neighbor: Ipv6Addr, known: Option<MacAddr>) {
        if let Some(own) = self.own6(port) {
            self.send_frame(now, port, own.ask(neighbor, known));
        }
    }

    /// Sends an ICMPv6 echo request to `to`, by the router's own tables.
    pub(super) fn send_echo6(&mut self, now: Time, to: Ipv6Addr, hop_limit: u8, sequence: u16) {
        let out = self.forwarding().route_local6(to).and_then(|nhlfe| match nhlfe.next_hop {
            NextHop::Via { port, .. } => Some(port),
            _ => None,
        });
        // From the loopback address, if there is one; else from the port that it leaves by.
        let Some(src) = self.config.ipv6.or_else(|| self.source6(out?)) else {
            return self.own.count(DropReason::NoRoute);
        };
        let asked = self.asked.entry(sequence).or_default();
        *asked = asked.saturating_add(1);
        self.send_icmpv6(now, out.unwrap_or(PortId(0)), src, to, hop_limit, &discovery::request(sequence));
    }

    /// Sends an ICMPv6 message; to a link-local address by the port that it is for.
    fn send_icmpv6(
        &mut self,
        now: Time,
        port: PortId,
        src: Ipv6Addr,
        dst: Ipv6Addr,
        hop_limit: u8,
        message: &icmpv6::Repr<'_>,
    ) {
        let packet = discovery::packet(src, dst, hop_limit, message);
        self.send_ipv6(now, port, dst, &packet);
    }

    pub(super) fn send_ipv6(&mut self, now: Time, port: PortId, dst: Ipv6Addr, packet: &[u8]) {
        let mut bytes = vec![0; ethernet::HEADER_LEN];
        bytes.extend_from_slice(packet);
        let via = dst.is_unicast_link_local().then_some((port, dst.into()));
        self.send(now, Frame::from_bytes(&bytes), via);
    }

    /// Reports an error to the sender of a packet, as [`Router::send_icmp_error`] does for IPv4. A router without an
    /// IPv6 address says nothing.
    pub(super) fn send_icmpv6_error(&mut self, now: Time, port: PortId, frame: &Frame, error: Icmpv6Error) {
        let Some(source) = self.source6(port) else { return };
        let Some(packet) = icmpv6_error(frame, error, source) else { return };
        let Some(dst) = packet.get(24..40).and_then(|b| b.first_chunk::<16>()).map(|b| Ipv6Addr::from(*b))
        else {
            return;
        };
        let known = self.forwarding().route_local6(dst);
        if known.is_some_and(|nhlfe| nhlfe.next_hop == NextHop::Local) && !self.is_own_loop(port) {
            // From outside, with an address of ours.
            return;
        }
        // RFC 4443, 2.4 (f).
        if !self.errors.take(now) {
            self.own.count(DropReason::RateLimited);
            return;
        }
        match along_lsp(frame, &packet) {
            Some(labelled) if known.is_none() => self.send_along(now, port, labelled),
            _ => self.send_ipv6(now, port, dst, &packet),
        }
    }
}

/// Where the number stands that names what the extension headers of a packet lead to, from the start of the IPv6
/// header.
fn pointer_to_upper(ip: &ipv6::Repr, payload: &[u8]) -> u32 {
    /// Where the IPv6 header has it.
    const NEXT_HEADER: u32 = 6;
    let headers = ipv6::Headers::new(ip.next_header, payload).map_while(Result::ok);
    headers.last().map_or(NEXT_HEADER, |last| (ipv6::HEADER_LEN + last.offset) as u32)
}
