//! Messages between the ports, the control plane and the tables.

use super::Router;
use super::listening::LLC;
use base::device::DropReason;
use base::plane::{TransactionId, group_mac};
use base::{Body, Frame, MacAddr, Output, PortId, Time};
use control::owner::Owner;
use control::plane::{self, Offered};
use control::protocol::{Arrival, LlcMessage, Message, Over};
use control::services::sessions::Packet;
use core::net::{IpAddr, Ipv4Addr};
use wire::{ethernet, ipv4, mpls, udp};

/// How many signalling frames' memory is kept, and the longest that is.
const SPARE_MAX: usize = 64;
const SPARE_BYTES: usize = 4096;

/// Labels at most in front of a packet of this router that a protocol sends along an LSP.
const LABELS_MAX: usize = 6;

/// What of an IP header is not the same in all packets of this router.
pub(super) struct Header {
    pub(super) src: Ipv4Addr,
    pub(super) dst: Ipv4Addr,
    pub(super) ttl: u8,
    pub(super) dscp: base::Dscp,
    pub(super) dont_fragment: bool,
    pub(super) options: ipv4::Options,
}

impl Router {
    /// The bytes of a frame, in memory of an earlier one.
    pub(super) fn bytes_of(&mut self, frame: &Frame) -> Vec<u8> {
        let mut bytes = self.spare.pop().unwrap_or_default();
        frame.write_to(&mut bytes);
        if let Some(offload) = frame.offload() {
            forwarding::offload::finish_checksum(&mut bytes, &offload);
        }
        bytes
    }

    /// Keeps memory that [`Router::bytes_of`] gave.
    pub(super) fn recycle(&mut self, mut bytes: Vec<u8>) {
        if self.spare.len() < SPARE_MAX && bytes.capacity() <= SPARE_BYTES {
            bytes.clear();
            self.spare.push(bytes);
        }
    }

    /// Offers a message to the control plane: the bytes from start to end of a frame.
    pub(super) fn offer(
        &mut self,
        now: Time,
        owner: Owner,
        arrival: Arrival,
        frame: Vec<u8>,
        part: (usize, usize),
    ) {
        let port = arrival.port();
        match self.control.offer(now, owner, arrival, frame, part) {
            Offered::Waits => self.deliver(port),
            Offered::NotSpoken => return self.drop_received(port, DropReason::NoListener),
            Offered::QueueFull => self.drop_received(port, DropReason::ControlQueueFull),
        }
        self.process(now);
    }

    /// Lets the control processor work up to `now`.
    pub(super) fn process(&mut self, now: Time) {
        while let Some(frame) = self.control.serve(now) {
            self.recycle(frame);
            self.settle(now);
        }
    }

    /// Carries messages between control plane, forwarding plane and ports until all are quiet.
    pub(super) fn settle(&mut self, now: Time) {
        loop {
            while let Some(output) = self.control.poll_output(now) {
                match output {
                    plane::Output::Message(owner, message) => self.send_message(now, owner, message),
                    plane::Output::Message6(owner, message) => self.send_message6(now, owner, *message),
                    plane::Output::Lsp(message) => self.send_lsp_message(now, *message),
                    plane::Output::Inquire(owner, inquiry) => self.inquire(now, owner, &inquiry),
                    plane::Output::Llc(message) => self.send_llc(now, &message),
                    plane::Output::Packet(packet) => self.send_packet(now, packet),
                    plane::Output::Route(op) => self.write(now, vec![*op]),
                    plane::Output::Tables(batch) => self.write_now(now, batch),
                    plane::Output::Event(event) => self.outputs.push_back(Output::Event(event)),
                }
            }
            match self.plane.poll_ack(now) {
                Some(ack) if ack.transaction.owner() == TransactionId::NODE => {}
                Some(ack) => self.control.handle_ack(now, ack),
                None => return self.notice(now),
            }
        }
    }

    fn send_message(&mut self, now: Time, owner: Owner, message: Message) {
        let Message { port, next, src, dst, over, ttl, router_alert, bytes } = message;
        let options = if router_alert { ipv4::Options::ROUTER_ALERT } else { ipv4::Options::NONE };
        let header = Header { src, dst, ttl, dscp: base::Dscp::CS6, dont_fragment: false, options };
        let frame = self.packet(header, over, &bytes, &[]);
        self.control.recycle(owner, bytes);
        if dst.is_multicast() || dst.is_broadcast() {
            let mac = if dst.is_broadcast() { MacAddr::BROADCAST } else { group_mac(dst) };
            self.send_to_group(now, port, (mac, ethernet::EtherType::IPV4), frame);
        } else {
            self.send(now, frame, next.map(|gateway| (port, gateway.into())));
        }
    }

    /// Sends a TCP segment or a UDP datagram of a session. A segment is not to be fragmented: the path's MTU is learnt
    /// instead (RFC 1191).
    fn send_packet(&mut self, now: Time, packet: Packet) {
        let Packet { src, dst, ttl, dscp, over, bytes } = packet;
        let (src, dst) = match (src, dst, over) {
            (IpAddr::V4(src), IpAddr::V4(dst), _) => (src, dst),
            (IpAddr::V6(src), IpAddr::V6(dst), _) => {
                return self.send_packet6(now, (src, dst), (ttl, dscp), over, &bytes);
            }
            _ => return self.own.count(DropReason::NoRoute),
        };
        let dont_fragment = matches!(over, Over::Ip(_));
        let header = Header { src, dst, ttl, dscp, dont_fragment, options: ipv4::Options::NONE };
        let frame = self.packet(header, over, &bytes, &[]);
        self.send(now, frame, None);
    }

    /// An IP packet of this router behind these entries of a label stack, the top first, with room for Ethernet in
    /// front. If there are labels, the EtherType is there.
    pub(super) fn packet(&mut self, header: Header, over: Over, bytes: &[u8], stack: &[u32]) -> Frame {
        self.ident = self.ident.wrapping_add(1);
        let Header { src, dst, ttl, dscp, dont_fragment, options } = header;
        let (protocol, above) = match over {
            Over::Ip(number) => (ipv4::Protocol(number), 0),
            Over::Udp { .. } => (ipv4::Protocol::UDP, udp::HEADER_LEN),
        };
        let ip = ipv4::Repr {
            src,
            dst,
            protocol,
            ttl,
            dscp,
            ecn: 0,
            ident: self.ident,
            dont_fragment,
            more_fragments: false,
            fragment_offset: 0,
            payload_len: (above + bytes.len()) as u16,
            options,
        };
        let labels = stack.len().min(LABELS_MAX);
        let start = ethernet::HEADER_LEN + labels * mpls::ENTRY_LEN;
        let len = start + ip.buffer_len();
        let mut header = [0; ethernet::HEADER_LEN + LABELS_MAX * mpls::ENTRY_LEN + 60];
        if labels > 0 {
            header[12..14].copy_from_slice(&ethernet::EtherType::MPLS.0.to_be_bytes());
        }
        let room = header[ethernet::HEADER_LEN..start].chunks_exact_mut(mpls::ENTRY_LEN);
        room.zip(stack).for_each(|(room, word)| room.copy_from_slice(&word.to_be_bytes()));
        ip.emit(&mut header[start..len]);
        let body = match over {
            Over::Ip(_) => Body::owned(bytes),
            Over::Udp { src: from, dst: to } => {
                let mut whole = self.spare.pop().unwrap_or_default();
                write_datagram((src, dst), (from, to), bytes, &mut whole);
                let body = Body::owned(&whole[..]);
                self.recycle(whole);
                body
            }
        };
        Frame::new(&header[..len], body)
    }

    /// Sends a frame with room for Ethernet in front to a group on the link of a port.
    pub(super) fn send_to_group(
        &mut self,
        now: Time,
        port: PortId,
        (dst, ethertype): (MacAddr, ethernet::EtherType),
        mut frame: Frame,
    ) {
        let Some(setup) = self.config.ports.get(port.index()) else { return };
        if !self.up[port.index()] {
            return self.own.count(DropReason::PortDown);
        }
        let header = ethernet::Repr::untagged(dst, setup.mac, ethertype);
        header.emit(&mut frame.header_mut()[..ethernet::HEADER_LEN]);
        self.send_frame(now, port, frame);
    }

    /// Sends a frame of this router as it is.
    pub(super) fn send_frame(&mut self, now: Time, port: PortId, frame: Frame) {
        self.plane.forwarding_mut().count_tx(port, &frame);
        self.originated += 1;
        self.transmit(now, port, frame);
    }

    fn send_llc(&mut self, now: Time, message: &LlcMessage) {
        let LlcMessage { port, dst, sap, bytes } = message;
        let Some(setup) = self.config.ports.get(port.index()) else { return };
        if !self.up[port.index()] {
            return self.own.count(DropReason::PortDown);
        }
        let len = (LLC + bytes.len()) as u16;
        let mut frame = vec![0; ethernet::HEADER_LEN];
        ethernet::Repr::untagged(*dst, setup.mac, ethernet::EtherType(len)).emit(&mut frame);
        frame.extend_from_slice(&[*sap, *sap, UNNUMBERED]);
        frame.extend_from_slice(bytes);
        self.send_frame(now, *port, Frame::from_bytes(&frame));
    }
}

/// The control byte of unnumbered information (IEEE 802.2, 5.4.3).
const UNNUMBERED: u8 = 3;

/// A UDP datagram with its checksum, from address to address and from port to port.
pub(super) fn datagram<A: wire::checksum::Addresses>(
    ends: (A, A),
    ports: (u16, u16),
    bytes: &[u8],
) -> Vec<u8> {
    let mut out = Vec::with_capacity(udp::HEADER_LEN + bytes.len());
    write_datagram(ends, ports, bytes, &mut out);
    out
}

/// The same, written into memory that has nothing in it.
fn write_datagram<A: wire::checksum::Addresses>(
    (src, dst): (A, A),
    ports: (u16, u16),
    bytes: &[u8],
    out: &mut Vec<u8>,
) {
    out.resize(udp::HEADER_LEN, 0);
    out.extend_from_slice(bytes);
    let mut packet = udp::Packet::new_unchecked(out);
    packet.set_src_port(ports.0);
    packet.set_dst_port(ports.1);
    packet.set_length((udp::HEADER_LEN + bytes.len()) as u16);
    packet.fill_checksum(src, dst);
}
