//! What tests LSPs: datagrams to 127/8, or to ::ffff:127/104, that leave one, or whose time to live is over on it, and
//! those that are sent along one (RFC 8029, 4.3 and 4.4; RFC 5884, 7).

use super::arrival::Ipv4Arrival;
use super::signalling::Header;
use super::signalling6::{Header6, packet6};
use super::{Router, Waiting};
use base::device::DropReason;
use base::plane::{LabelStack, Nhlfe, TableOp};
use base::{Frame, Label, PortId, Time};
use control::inquiry::Inquiry;
use control::owner::Owner;
use control::protocol::{Arrival, LspArrival, LspMessage};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::ops::Range;
use forwarding::punt::{ip_offset, labels_of};
use forwarding::{PuntReason, is_mapped_loopback};
use wire::{ethernet, ipv4, ipv6, mpls, udp};

/// The entries of the label stack of a frame that has so many.
fn words_of(frame: &[u8], labels: u8) -> Vec<u32> {
    let stack = frame.get(ethernet::HEADER_LEN..ip_offset(labels)).unwrap_or_default();
    let (words, _) = stack.as_chunks::<{ mpls::ENTRY_LEN }>();
    words.iter().map(|word| u32::from_be_bytes(*word)).collect()
}

impl Router {
    /// Takes a frame that would go no further, if it is a datagram to 127/8, or to ::ffff:127/104, that a protocol
    /// listens to.
    pub(super) fn take_lsp_message(
        &mut self,
        now: Time,
        port: PortId,
        frame: &Frame,
        labels: u8,
        reason: PuntReason,
    ) -> bool {
        let at = ip_offset(labels);
        if self.is_ipv6(frame, labels) {
            let ip = frame.header().get(at..).and_then(|ip| ip.first_chunk::<{ ipv6::HEADER_LEN }>());
            let destination = ip.and_then(|ip| ip.last_chunk::<16>()).map(|octets| Ipv6Addr::from(*octets));
            let is_meant = destination.is_some_and(is_mapped_loopback);
            return is_meant && self.take_lsp_message6(now, port, frame, labels);
        }
        let ip = frame.header().get(at..).and_then(|ip| ip.first_chunk::<20>());
        let is_meant = |ip: &[u8; 20]| {
            ip[0] >> 4 == 4
                && ipv4::Protocol(ip[9]) == ipv4::Protocol::UDP
                && Ipv4Addr::new(ip[16], ip[17], ip[18], ip[19]).is_loopback()
        };
        if !ip.is_some_and(is_meant) {
            return false;
        }
        let Some(arrival) = self.read_ipv4(port, frame, labels, reason) else { return true };
        if self.lsp_listener(&arrival).is_none() {
            self.recycle(arrival.frame);
            return false;
        }
        self.handle_lsp_message(now, labels, arrival);
        true
    }

    fn lsp_listener(&self, arrival: &Ipv4Arrival) -> Option<Owner> {
        let is_whole = !arrival.is_fragment && arrival.protocol == ipv4::Protocol::UDP;
        let datagram = udp::Packet::new_checked(arrival.payload()).ok().filter(|_| is_whole)?;
        self.control.lsp_listener(datagram.dst_port())
    }

    /// The same of an IPv6 packet.
    pub(super) fn take_lsp_message6(&mut self, now: Time, port: PortId, frame: &Frame, labels: u8) -> bool {
        let bytes = self.bytes_of(frame);
        let at = ip_offset(labels);
        let found = self.lsp_datagram6(bytes.get(at..).unwrap_or_default());
        let Some((owner, ip, upper, payload)) = found else {
            self.recycle(bytes);
            return false;
        };
        let words = words_of(&bytes, labels);
        let (what, part) = ((port, ip, upper), at + payload.start..at + payload.end);
        self.signal6(now, owner, what, bytes, part, |ip| LspArrival::new(ip, &words).map(Arrival::Lsp6));
        true
    }

    /// Who listens to the datagram in an IPv6 packet to ::ffff:127/104, what the header says, and where it is.
    fn lsp_datagram6(&self, packet: &[u8]) -> Option<(Owner, ipv6::Repr, ipv6::Upper, Range<usize>)> {
        let packet = ipv6::Packet::new_checked(packet).ok()?;
        let ip = ipv6::Repr::parse(&packet).ok().filter(|ip| is_mapped_loopback(ip.dst))?;
        let upper = ipv6::upper(packet.next_header(), packet.payload()).ok()?;
        if upper.protocol != ipv6::Protocol::UDP || upper.fragment.is_some() {
            return None;
        }
        let payload = packet.payload().get(upper.offset..)?;
        let owner = self.control.lsp_listener6(udp::Packet::new_checked(payload).ok()?.dst_port())?;
        let start = ipv6::HEADER_LEN + upper.offset;
        Some((owner, ip, upper, start..start + payload.len()))
    }

    /// A packet to 127/8 that came with so many labels. What nobody listens to has no business outside a host (RFC
    /// 1122, 3.2.1.3).
    pub(super) fn handle_lsp_message(&mut self, now: Time, labels: u8, arrival: Ipv4Arrival) {
        let port = arrival.ip.port;
        let Some(owner) = self.lsp_listener(&arrival) else {
            return self.drop_received(port, DropReason::Malformed);
        };
        let words = words_of(&arrival.frame, labels);
        self.signal_as(now, owner, arrival, |ip| LspArrival::new(ip, &words).map(Arrival::Lsp));
    }

    /// Tells a protocol what is done with labels; the control plane says what is bound to FECs.
    pub(super) fn inquire(&mut self, now: Time, owner: Owner, inquiry: &Inquiry) {
        let labels = inquiry.labels.iter().map(|label| self.forwarding().label_use(*label)).collect();
        self.control.answer(now, owner, inquiry, labels);
    }

    /// Sends a message along an LSP.
    pub(super) fn send_lsp_message(&mut self, now: Time, message: LspMessage) {
        let LspMessage { port, gateway, stack, src, dst, over, ttl, router_alert, bytes } = message;
        let dscp = base::Dscp::CS6;
        let frame = match (src, dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => {
                let options = if router_alert { ipv4::Options::ROUTER_ALERT } else { ipv4::Options::NONE };
                let header = Header { src, dst, ttl, dscp, dont_fragment: true, options };
                self.packet(header, over, &bytes, &stack)
            }
            (IpAddr::V6(src), IpAddr::V6(dst)) if self.forwarding().has_ipv6() => {
                let router_alert = router_alert.then_some(ipv6::extension::ALERT_MPLS_OAM);
                let header = Header6 { src, dst, hop_limit: ttl, dscp, router_alert };
                packet6(&header, over, &bytes, &stack)
            }
            _ => return self.own.count(DropReason::NoRoute),
        };
        self.send_labelled(now, port, gateway, frame);
    }

    /// Sends a frame with room for Ethernet in front, behind which its labels stand, to a neighbour.
    pub(super) fn send_labelled(&mut self, now: Time, port: PortId, gateway: IpAddr, mut frame: Frame) {
        let Some(setup) = self.config.ports.get(port.index()) else {
            return self.own.count(DropReason::NoRoute);
        };
        if !self.up[port.index()] {
            return self.own.count(DropReason::PortDown);
        }
        if frame.len() - ethernet::HEADER_LEN as u32 > setup.mtu {
            return self.own.count(DropReason::TooBig);
        }
        let Some(dst) = self.neighbors.get(port, gateway) else {
            return self.wait_for(now, port, gateway, Waiting::Labelled(port, gateway, frame));
        };
        // The EtherType of what has no label was left to us: the first half byte of the packet says which it is.
        let first = frame.header().get(ethernet::HEADER_LEN).map_or(0, |first| first >> 4);
        let ethertype = match (labels_of(&frame), first) {
            (0, 6) => ethernet::EtherType::IPV6,
            (0, _) => ethernet::EtherType::IPV4,
            _ => ethernet::EtherType::MPLS,
        };
        ethernet::Repr::untagged(dst, setup.mac, ethertype)
            .emit(&mut frame.header_mut()[..ethernet::HEADER_LEN]);
        self.send_frame(now, port, frame);
    }

    /// Writes another label into the entry of an incoming one, or takes it out; no protocol is told.
    pub(super) fn corrupt(&mut self, now: Time, label: Label, out: Option<Label>) {
        let Some(row) = self.forwarding().ilm_row(label) else { return };
        let op = match out {
            Some(out) => {
                let nhlfe = Nhlfe { push: LabelStack::one(out), ..row.nhlfe };
                TableOp::IlmSet { label, nhlfe }
            }
            None => TableOp::IlmRemove { label },
        };
        self.write(now, vec![op]);
    }
}
