//! IPv6 messages between the ports and the protocols.

use super::Router;
use super::signalling::datagram;
use base::device::DropReason;
use base::{Dscp, Frame, PortId, Time};
use control::owner::Owner;
use control::protocol::{Arrival, Ip6Arrival, Listen, Message6, Over};
use core::net::Ipv6Addr;
use core::ops::Range;
use forwarding::is_single_node;
use wire::{ethernet, ipv6, nd, udp};

/// What a protocol has to listen to, to be given the packet; nothing for what is the node's own affair.
pub(super) fn listen(protocol: ipv6::Protocol, payload: &[u8]) -> Option<Listen> {
    match protocol {
        ipv6::Protocol::TCP | ipv6::Protocol::NO_NEXT_HEADER => None,
        ipv6::Protocol::ICMPV6 => payload.first().map(|icmp_type| Listen::Icmpv6(*icmp_type)),
        ipv6::Protocol::UDP => Some(Listen::UdpPort6(udp::Packet::new_checked(payload).ok()?.dst_port())),
        ipv6::Protocol(number) => Some(Listen::IpProtocol6(number)),
    }
}

/// What of an IPv6 header is not the same in all packets of this router.
pub(super) struct Header6 {
    pub(super) src: Ipv6Addr,
    pub(super) dst: Ipv6Addr,
    pub(super) hop_limit: u8,
    pub(super) dscp: Dscp,
    /// The value of the Router Alert option, if it is there.
    pub(super) router_alert: Option<u16>,
}

/// An IPv6 packet of this router behind these entries of a label stack, the top first, with room for Ethernet in front.
/// If there are labels, the EtherType is there.
pub(super) fn packet6(header: &Header6, over: Over, bytes: &[u8], stack: &[u32]) -> Frame {
    let Header6 { src, dst, hop_limit, dscp, router_alert } = *header;
    let mut packet = vec![0; ethernet::HEADER_LEN];
    if !stack.is_empty() {
        packet[12..14].copy_from_slice(&ethernet::EtherType::MPLS.0.to_be_bytes());
    }
    stack.iter().for_each(|word| packet.extend(word.to_be_bytes()));
    let start = packet.len();
    packet.resize(start + ipv6::HEADER_LEN, 0);
    let upper = match over {
        Over::Ip(number) => ipv6::Protocol(number),
        Over::Udp { .. } => ipv6::Protocol::UDP,
    };
    let alert = router_alert.map(|value| ipv6::extension::router_alert(upper, value));
    packet.extend(alert.iter().flatten());
    match over {
        Over::Ip(_) => packet.extend_from_slice(bytes),
        Over::Udp { src: from, dst: to } => packet.extend(datagram((src, dst), (from, to), bytes)),
    }
    let next = if alert.is_some() { ipv6::Protocol::HOP_BY_HOP } else { upper };
    let len = (packet.len() - start - ipv6::HEADER_LEN) as u16;
    let ip = ipv6::Repr { hop_limit, dscp, ..ipv6::Repr::new(src, dst, next, len) };
    ip.emit(&mut packet[start..]);
    Frame::from_bytes(&packet)
}

impl Router {
    /// Hands the message that an IPv6 packet carries to the protocol that listens to it; `told` is what the protocol is
    /// told of its headers, and what can't be told is malformed.
    pub(super) fn signal6(
        &mut self,
        now: Time,
        owner: Owner,
        (port, ip, upper): (PortId, ipv6::Repr, ipv6::Upper),
        frame: Vec<u8>,
        Range { mut start, mut end }: Range<usize>,
        told: impl FnOnce(Ip6Arrival) -> Option<Arrival>,
    ) {
        if !is_single_node(ip.src) {
            // RFC 4291, 2.5.2 and 2.7: neither no address nor a group is anybody's to answer.
            return self.drop_received(port, DropReason::Malformed);
        }
        let mut over = Over::Ip(upper.protocol.0);
        if upper.protocol == ipv6::Protocol::UDP {
            let Ok(datagram) = udp::Packet::new_checked(frame.get(start..end).unwrap_or_default()) else {
                return self.drop_received(port, DropReason::Malformed);
            };
            // RFC 8200, 8.1: one without a checksum is discarded, too.
            if datagram.verify_checksum(ip.src, ip.dst).is_err() {
                return self.drop_received(port, DropReason::BadChecksum);
            }
            over = Over::Udp { src: datagram.src_port(), dst: datagram.dst_port() };
            end = start + usize::from(datagram.length());
            start += udp::HEADER_LEN;
        }
        let (router_alert, hop_limit) = (upper.router_alert, ip.hop_limit);
        let arrival = Ip6Arrival { port, src: ip.src, dst: ip.dst, hop_limit, router_alert, over };
        match told(arrival) {
            Some(told) => self.offer(now, owner, told, frame, (start, end)),
            None => self.drop_received(port, DropReason::StackDepth),
        }
    }

    pub(super) fn send_message6(&mut self, now: Time, owner: Owner, message: Message6) {
        let Message6 { port, next, src, dst, over, hop_limit, router_alert, bytes } = message;
        let header = Header6 { src, dst, hop_limit, dscp: Dscp::CS6, router_alert };
        let frame = packet6(&header, over, &bytes, &[]);
        self.control.recycle(owner, bytes);
        let on_link = dst.is_multicast() || dst.is_unicast_link_local() || next.is_some();
        if !self.forwarding().has_ipv6() || (on_link && self.own6(port).is_none()) || self.is_tentative(src) {
            return self.own.count(DropReason::NoRoute);
        }
        if !dst.is_multicast() {
            let via = next.or(Some(dst).filter(Ipv6Addr::is_unicast_link_local));
            return self.send(now, frame, via.map(|gateway| (port, gateway.into())));
        }
        let mtu = self.config.ports.get(port.index()).map_or(0, |setup| setup.mtu);
        if frame.len() > mtu + ethernet::HEADER_LEN as u32 {
            return self.own.count(DropReason::TooBig);
        }
        self.send_to_group(now, port, (nd::group_mac(dst), ethernet::EtherType::IPV6), frame);
    }

    /// Sends a TCP segment or a UDP datagram of a session. No router on its way may cut it: the path's MTU is learnt
    /// (RFC 8201).
    pub(super) fn send_packet6(
        &mut self,
        now: Time,
        ends: (Ipv6Addr, Ipv6Addr),
        (hop_limit, dscp): (u8, Dscp),
        over: Over,
        bytes: &[u8],
    ) {
        if self.is_tentative(ends.0) {
            return self.own.count(DropReason::NoRoute);
        }
        let header = Header6 { src: ends.0, dst: ends.1, hop_limit, dscp, router_alert: None };
        let frame = packet6(&header, over, bytes, &[]);
        let via = ends.1.is_unicast_link_local().then_some((PortId(0), ends.1.into()));
        self.send(now, frame, via);
    }
}
