//! TCP of a host: segments between its ports and the sessions that programs have there.
//!
//! A host has TCP as soon as somebody wants it ([`Host::begin_tcp`]); one without answers segments as a node that has
//! never heard of TCP.

use crate::host::Host;
use crate::trouble::About;
use base::device::DropReason;
use base::{Frame, PortId, Streams, Time};
use control::owner::Owner;
use control::services::sessions::{Heard, Options, Packet, Refusal, Segment, SessionId, Sessions};
use core::net::{IpAddr, Ipv6Addr, SocketAddr};
use forwarding::is_single_node;
use std::collections::BTreeMap;
use wire::{ethernet, ipv4, ipv6, tcp};

/// The sessions of a host, and which ports programs listen to.
#[derive(Debug)]
pub(crate) struct HostTcp {
    sessions: Sessions,
    /// How connections behave that come to a port.
    listening: BTreeMap<u16, Options>,
}

impl HostTcp {
    /// The host begins anew: connections are gone, and programs are asked again. Ports and sequence numbers go on in
    /// their streams, so that a new connection is not taken for one from before.
    pub(crate) fn restart(&mut self) {
        self.sessions.restart();
        self.listening.clear();
    }

    pub(crate) fn next(&self) -> Option<Time> {
        self.sessions.poll_timeout()
    }
}

impl Host {
    /// The host, whose name is this one, has TCP from now on; its ports and sequence numbers are drawn from `streams`.
    pub fn begin_tcp(&mut self, name: &str, streams: Streams) {
        if self.tcp.is_none() {
            let tcp = HostTcp { sessions: Sessions::new(name, streams), listening: BTreeMap::new() };
            self.tcp = Some(Box::new(tcp));
        }
    }

    /// A program takes connections to a port, which behave like this.
    pub fn listen_tcp(&mut self, port: u16, options: Options) {
        if let Some(tcp) = &mut self.tcp {
            tcp.sessions.listen(port, Owner::default());
            tcp.listening.insert(port, options);
        }
    }

    /// A program begins a connection by a port of the host. Nothing is sent before [`Host::run_tcp`].
    pub fn connect_tcp(
        &mut self,
        now: Time,
        by: PortId,
        to: SocketAddr,
        options: Options,
    ) -> Result<SessionId, Refusal> {
        let port = self.config().port(by).copied().ok_or(Refusal::Address)?;
        let from = match to {
            SocketAddr::V4(_) => Some(IpAddr::V4(port.address)),
            // Also while others are asked whether they have it: until then what is sent is dropped, and sent again.
            SocketAddr::V6(_) => self.interface6(by).map(|own| own.address.into()),
        };
        let from = from.ok_or(Refusal::Address)?;
        let tcp = self.tcp.as_mut().ok_or(Refusal::Address)?;
        tcp.sessions.open(now, (from, to), port.mtu, options)
    }

    /// Sessions of the host's programs, if it has TCP.
    pub fn sessions(&self) -> Option<&Sessions> {
        self.tcp.as_deref().map(|tcp| &tcp.sessions)
    }

    /// The same, to be written to and read from.
    pub fn sessions_mut(&mut self) -> Option<&mut Sessions> {
        self.tcp.as_deref_mut().map(|tcp| &mut tcp.sessions)
    }

    /// Lets sessions do what programs gave them to do, and sends what comes out of that.
    pub fn run_tcp(&mut self, now: Time) {
        let Some(mut tcp) = self.tcp.take() else { return };
        tcp.sessions.flush(now);
        while let Some(packet) = tcp.sessions.poll_packet() {
            self.send_segment(now, &packet);
        }
        self.tcp = Some(tcp);
    }

    /// Lets sessions do what is due.
    pub(crate) fn wake_tcp(&mut self, now: Time) {
        if let Some(tcp) = self.tcp.as_mut().filter(|tcp| tcp.next().is_some_and(|at| at <= now)) {
            tcp.sessions.handle_timeout(now);
            self.run_tcp(now);
        }
    }

    /// Takes a packet with a segment to this host. Returns false, and does nothing, on a host without TCP.
    pub(crate) fn hear_segment(
        &mut self,
        now: Time,
        port: PortId,
        (src, dst): (IpAddr, IpAddr),
        ttl: u8,
        (bytes, verified): (&[u8], bool),
    ) -> bool {
        if self.tcp.is_none() {
            return false;
        }
        let mtu = self.config().port(port).map_or(u32::from(u16::MAX), |port| port.mtu);
        if tcp::Packet::new_checked(bytes).is_err() {
            self.discard(DropReason::Malformed);
            return true;
        }
        if !verified && tcp::Packet::new_unchecked(bytes).verify_checksum(src, dst).is_err() {
            self.discard(DropReason::BadChecksum);
            return true;
        }
        // RFC 9293, 3.9.2.3: a segment from a group or a broadcast address is discarded.
        let single = match src {
            IpAddr::V4(src) => !src.is_multicast() && !src.is_broadcast() && !src.is_unspecified(),
            IpAddr::V6(src) => is_single_node(src),
        };
        let Some(tcp) = self.tcp.as_mut().filter(|_| single) else {
            self.discard(DropReason::Malformed);
            return true;
        };
        let HostTcp { sessions, listening, .. } = &mut **tcp;
        let segment = Segment { src, dst, ttl, mtu, bytes };
        let heard = sessions.segment(now, &segment, |_, local, _| listening.get(&local.port()).copied());
        match heard {
            Heard::Taken => {}
            Heard::Nobody | Heard::Unsigned | Heard::Ttl => self.discard(DropReason::NoListener),
            Heard::Full => self.discard(DropReason::ControlQueueFull),
        }
        self.run_tcp(now);
        true
    }

    /// An ICMP error about a segment: was it one that this host has sent?
    pub(crate) fn hear_trouble(&mut self, now: Time, about: Option<About<'_>>) -> bool {
        let Some((tcp, about)) = self.tcp.as_mut().zip(about) else { return false };
        let own = tcp.sessions.trouble(now, about.ends, about.segment, about.what);
        self.run_tcp(now);
        own
    }

    /// Sends a segment by the port that its source address is of; it waits until the neighbour's address is known.
    fn send_segment(&mut self, now: Time, packet: &Packet) {
        let mut bytes = vec![0; ethernet::HEADER_LEN];
        let by = match (packet.src, packet.dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => {
                self.ident = self.ident.wrapping_add(1);
                let ip = ipv4::Repr {
                    src,
                    dst,
                    protocol: ipv4::Protocol::TCP,
                    ttl: packet.ttl,
                    dscp: packet.dscp,
                    ecn: 0,
                    ident: self.ident,
                    // RFC 1191, 3: so that a link which is too narrow says so.
                    dont_fragment: true,
                    more_fragments: false,
                    fragment_offset: 0,
                    payload_len: packet.bytes.len() as u16,
                    options: ipv4::Options::NONE,
                };
                bytes.resize(ethernet::HEADER_LEN + ip.buffer_len(), 0);
                ip.emit(&mut bytes[ethernet::HEADER_LEN..]);
                self.config().port_of(src)
            }
            (IpAddr::V6(src), IpAddr::V6(dst)) => {
                let ip = ipv6::Repr {
                    src,
                    dst,
                    next_header: ipv6::Protocol::TCP,
                    hop_limit: packet.ttl,
                    dscp: packet.dscp,
                    ecn: 0,
                    flow_label: flow_label(src, dst, &packet.bytes),
                    payload_len: packet.bytes.len() as u16,
                };
                bytes.resize(ethernet::HEADER_LEN + ip.buffer_len(), 0);
                ip.emit(&mut bytes[ethernet::HEADER_LEN..]);
                self.port_of6(src)
            }
            _ => None,
        };
        let Some(by) = by else { return self.drops.count(DropReason::PortDown) };
        bytes.extend_from_slice(&packet.bytes);
        self.send_frame(now, by, packet.dst, Frame::from_bytes(&bytes));
    }
}

/// The flow label of a connection's packets: the same for all of them, and others for other connections (RFC 6437, 3).
fn flow_label(src: Ipv6Addr, dst: Ipv6Addr, segment: &[u8]) -> u32 {
    let ports = segment.get(..4).unwrap_or_default();
    let all: Vec<u8> = src.octets().into_iter().chain(dst.octets()).chain(ports.iter().copied()).collect();
    (base::random::fnv1a(&all) as u32 & 0xf_ffff).max(1)
}
