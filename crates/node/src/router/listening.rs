//! What comes for this router itself: to the protocol that listens to it, to ICMP, or to nobody.

use super::Router;
use super::arrival::Ipv4Arrival;
use crate::trouble::about;
use base::device::DropReason;
use base::{Frame, MacAddr, PortId, Time};
use control::owner::Owner;
use control::protocol::{Arrival, IpArrival, Listen, LlcArrival, Over};
use control::services::sessions::{Heard, Segment};
use control::unheard::Unheard;
use core::net::IpAddr;
use core::ops::Range;
use forwarding::PuntReason;
use forwarding::icmp::IcmpError;
use forwarding::punt::{ip_offset, labels_of};
use wire::{ethernet, icmp, ipv4, ipv6, tcp, udp};

/// Bytes of an LLC header for unnumbered information (IEEE 802.2, 3.2): two service access points and a control byte.
pub(super) const LLC: usize = 3;

impl Router {
    /// Counts a received packet that nobody listens to.
    pub(super) fn drop_unheard(&mut self, port: PortId, what: Unheard) {
        self.control.count_unheard(what);
        self.drop_received(port, DropReason::NoListener);
    }

    pub(super) fn handle_local(&mut self, now: Time, port: PortId, frame: &Frame, labels: u8) {
        if self.is_ipv6(frame, labels) {
            return self.handle_local6(now, port, frame, labels);
        }
        if let Some(arrival) = self.read_ipv4(port, frame, labels, PuntReason::Local { labels }) {
            if arrival.ip.dst.is_loopback() {
                return self.handle_lsp_message(now, labels, arrival);
            }
            self.handle_ipv4(now, frame, arrival);
        }
    }

    /// Is a received frame, whatever labels it has, for a protocol that keeps links or sessions alive?
    pub(super) fn is_for_urgent(&self, frame: &Frame) -> bool {
        let (frame, labels) = (frame.header(), labels_of(frame));
        let ethertype =
            frame.get(12..14).and_then(|kind| kind.first_chunk()).map(|kind| u16::from_be_bytes(*kind));
        let is_ip = |kind| [ethernet::EtherType::IPV4, ethernet::EtherType::IPV6].contains(&kind);
        if labels == 0 && !ethertype.is_some_and(|kind| is_ip(ethernet::EtherType(kind))) {
            return false;
        }
        let ip = frame.get(ip_offset(labels)..).unwrap_or_default();
        let (protocol, header) = match ip {
            // A later fragment begins with anything.
            [first, _, _, _, _, _, high, low, _, protocol, ..] if first >> 4 == 4 => {
                if (high & 0x1f, *low) != (0, 0) {
                    return false;
                }
                (*protocol, usize::from(first & 0xf) * 4)
            }
            [first, _, _, _, _, _, next, ..] if first >> 4 == 6 => (*next, ipv6::HEADER_LEN),
            _ => return false,
        };
        let port = ip.get(header + 2..header + 4).and_then(|port| port.first_chunk());
        ipv4::Protocol(protocol) == ipv4::Protocol::UDP
            && port.is_some_and(|port| self.control.is_urgent(u16::from_be_bytes(*port)))
    }

    /// An IPv4 packet that is for this router; `frame` is what it came in.
    pub(super) fn handle_ipv4(&mut self, now: Time, frame: &Frame, arrival: Ipv4Arrival) {
        let IpArrival { port, src, dst, .. } = arrival.ip;
        if arrival.is_fragment {
            return self.drop_unheard(port, Unheard::Fragment);
        }
        // RFC 1812, 5.3.5, and RFC 2644: a broadcast to one of our links ends here, wherever it came from.
        let group = dst.is_multicast() || self.forwarding().is_broadcast(dst);
        let protocol = arrival.protocol;
        if protocol == ipv4::Protocol::TCP && !group && self.control.has_tcp() {
            return self.handle_segment(now, arrival);
        }
        let listen = match protocol {
            ipv4::Protocol::UDP => match udp::Packet::new_checked(arrival.payload()) {
                Ok(udp) => Some(Listen::UdpPort(udp.dst_port())),
                Err(_) => None,
            },
            ipv4::Protocol(number) => Some(Listen::IpProtocol(number)),
        };
        let listener = listen.and_then(|listen| {
            if group { self.control.group_listener(listen, dst) } else { self.control.listener(listen) }
        });
        if let Some(owner) = listener {
            return self.signal(now, owner, arrival);
        }
        match protocol {
            // RFC 1122, 3.2.2.6; RFC 1812, 4.3.3.6: an echo request to a group may be, and here is, discarded.
            _ if group => self.drop_unheard(port, Unheard::Group),
            ipv4::Protocol::ICMP => self.handle_icmp(now, port, src, dst, arrival.payload()),
            ipv4::Protocol::UDP => {
                self.drop_unheard(port, Unheard::UdpPort);
                self.send_icmp_error(now, port, frame, IcmpError::PortUnreachable);
            }
            other => {
                let tcp = other == ipv4::Protocol::TCP;
                self.drop_unheard(port, if tcp { Unheard::TcpPort } else { Unheard::IpProtocol });
                self.send_icmp_error(now, port, frame, IcmpError::ProtocolUnreachable);
            }
        }
    }

    /// A packet that carries a TCP segment, for a node that has TCP.
    fn handle_segment(&mut self, now: Time, arrival: Ipv4Arrival) {
        let IpArrival { port, src, dst, ttl, .. } = arrival.ip;
        let bytes = arrival.payload();
        if tcp::Packet::new_checked(bytes).is_err() {
            return self.drop_received(port, DropReason::Malformed);
        }
        if tcp::Packet::new_unchecked(bytes).verify_checksum(src.into(), dst.into()).is_err() {
            return self.drop_received(port, DropReason::BadChecksum);
        }
        if !self.forwarding().is_single_host(src) {
            // RFC 9293, 3.9.2.3: a segment from a group or a broadcast address is discarded.
            return self.drop_received(port, DropReason::Malformed);
        }
        self.offer_segment(now, port, (src.into(), dst.into()), ttl, bytes);
        self.recycle(arrival.frame);
        self.process(now);
    }

    /// Offers a segment to the sessions of the control plane.
    pub(super) fn offer_segment(
        &mut self,
        now: Time,
        port: PortId,
        (src, dst): (IpAddr, IpAddr),
        ttl: u8,
        bytes: &[u8],
    ) {
        let mtu = self.config.ports.get(port.index()).map_or(ipv4::MAX_TOTAL_LEN as u32, |setup| setup.mtu);
        let segment = Segment { src, dst, ttl, mtu, bytes };
        match self.control.handle_segment(now, &segment) {
            Heard::Taken => self.deliver(port),
            Heard::Nobody => self.drop_unheard(port, Unheard::TcpPort),
            Heard::Unsigned => self.drop_unheard(port, Unheard::Unsigned),
            Heard::Ttl => self.drop_unheard(port, Unheard::Ttl),
            Heard::Full => self.drop_received(port, DropReason::ControlQueueFull),
        }
    }

    /// An ICMP error about a packet that this node sent to another: does it mean anything to a protocol?
    pub(super) fn handle_trouble(&mut self, now: Time, message: &icmp::Repr<'_>) -> bool {
        about(message)
            .is_some_and(|about| self.control.handle_trouble(now, about.ends, about.segment, about.what))
    }

    /// Hands the message that an IP packet carries to the protocol that listens to it.
    pub(super) fn signal(&mut self, now: Time, owner: Owner, arrival: Ipv4Arrival) {
        self.signal_as(now, owner, arrival, |ip| Some(Arrival::Ip(ip)));
    }

    /// The same, where the protocol is told more than the IP header says; what can't be told is malformed.
    pub(super) fn signal_as(
        &mut self,
        now: Time,
        owner: Owner,
        arrival: Ipv4Arrival,
        told: impl FnOnce(IpArrival) -> Option<Arrival>,
    ) {
        let Range { mut start, mut end } = arrival.payload.clone();
        let mut ip = arrival.ip;
        if arrival.protocol == ipv4::Protocol::UDP {
            let Ok(datagram) = udp::Packet::new_checked(arrival.payload()) else {
                return self.drop_received(ip.port, DropReason::Malformed);
            };
            if datagram.verify_checksum(ip.src, ip.dst).is_err() {
                return self.drop_received(ip.port, DropReason::BadChecksum);
            }
            ip.over = Over::Udp { src: datagram.src_port(), dst: datagram.dst_port() };
            end = start + usize::from(datagram.length());
            start += udp::HEADER_LEN;
        }
        match told(ip) {
            Some(told) => self.offer(now, owner, told, arrival.frame, (start, end)),
            None => self.drop_received(ip.port, DropReason::StackDepth),
        }
    }

    /// A frame with a length in the place of an EtherType: what follows is LLC (IEEE 802.3, 3.2.6).
    pub(super) fn handle_llc(&mut self, now: Time, port: PortId, frame: &Frame) {
        let bytes = self.bytes_of(frame);
        let Some((header, rest)) = bytes.split_first_chunk::<{ ethernet::HEADER_LEN }>() else {
            return self.drop_received(port, DropReason::Truncated);
        };
        let [a, b, c, d, e, f, g, h, i, j, k, l, high, low] = *header;
        let len = usize::from(u16::from_be_bytes([high, low]));
        let Some([sap, _, _, ..]) = rest.get(..len) else {
            return self.drop_received(port, DropReason::Truncated);
        };
        let Some(owner) = self.control.listener(Listen::Llc(*sap)) else {
            return self.drop_unheard(port, Unheard::Llc);
        };
        let (src, dst) = (MacAddr([g, h, i, j, k, l]), MacAddr([a, b, c, d, e, f]));
        let arrival = Arrival::Llc(LlcArrival { port, src, dst, sap: *sap });
        self.offer(now, owner, arrival, bytes, (ethernet::HEADER_LEN + LLC, ethernet::HEADER_LEN + len));
    }
}
