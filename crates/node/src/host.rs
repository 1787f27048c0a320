//! An IP host: one port, one address, ARP, ICMP and a default route; nothing is forwarded.

use crate::echo;
use crate::limiter::Limiter;
use crate::neighbors::{Due, Learned, Neighbors, arp_frame};
use base::device::{DropCounters, DropReason};
use base::plane::Prefix;
use base::{Command, Device, Event, Frame, MacAddr, Output, PortId, Time};
use core::net::Ipv4Addr;
use forwarding::icmp::{IcmpError, icmp_error};
use std::collections::VecDeque;
use wire::{arp, ethernet, icmp, ipv4};

const PORT: PortId = PortId(0);
/// ICMP errors that a host sends each second, and at once (RFC 1812, 4.3.2.8, which is for routers; RFC 1122 leaves it open).
const ERRORS: (u32, u32) = (1_000, 1_000);
/// Time to live of what a host answers.
const TTL: u8 = 64;

/// How a host is set up.
#[derive(Clone, Copy, Debug)]
pub struct HostConfig {
    /// Its Ethernet address.
    pub mac: MacAddr,
    /// Its IP address.
    pub address: Ipv4Addr,
    /// Length of the prefix of its network.
    pub prefix_len: u8,
    /// Where everything goes that is not in its network.
    pub gateway: Ipv4Addr,
}

impl HostConfig {
    /// The neighbour that packets to an address go to (RFC 1122, 3.3.1.1).
    pub fn next_hop(&self, to: Ipv4Addr) -> Ipv4Addr {
        if Prefix::new(self.address, self.prefix_len).contains(to) { to } else { self.gateway }
    }
}

/// The host.
///
/// A [`Device`]; whoever builds more upon it gives it what is not for itself to handle, drains it, and sends by [`Host::send_ip`] or
/// with the Ethernet address that [`Host::neighbor_mac`] says.
#[derive(Debug)]
pub struct Host {
    config: HostConfig,
    neighbors: Neighbors<Frame>,
    outputs: VecDeque<Output>,
    drops: DropCounters,
    errors: Limiter,
    up: bool,
    ident: u16,
}

impl Host {
    /// A host whose port is up.
    pub fn new(config: HostConfig) -> Host {
        Host {
            config,
            neighbors: Neighbors::default(),
            outputs: VecDeque::new(),
            drops: DropCounters::default(),
            errors: Limiter::new(ERRORS.0, ERRORS.1),
            up: true,
            ident: 0,
        }
    }

    /// How it was set up.
    pub fn config(&self) -> &HostConfig {
        &self.config
    }
    /// Frames discarded.
    pub fn drops(&self) -> &DropCounters {
        &self.drops
    }
    /// All known neighbours.
    pub fn neighbors(&self) -> impl Iterator<Item = (PortId, Ipv4Addr, MacAddr)> {
        self.neighbors.iter()
    }
    /// The Ethernet address that packets to `to` go to, if it is known.
    pub fn neighbor_mac(&self, to: Ipv4Addr) -> Option<MacAddr> {
        self.neighbors.get(PORT, self.config.next_hop(to))
    }

    /// Sends an IP packet; it waits until the neighbour's Ethernet address is known.
    pub fn send_ip(&mut self, now: Time, packet: &[u8]) {
        let mut bytes = vec![0; ethernet::HEADER_LEN];
        bytes.extend_from_slice(packet);
        let frame = Frame::from_bytes(&bytes);
        let to = packet.get(16..20).and_then(|b| b.first_chunk::<4>()).copied().map(Ipv4Addr::from);
        match to {
            Some(to) => self.send_to(now, self.config.next_hop(to), frame),
            None => self.drops.count(DropReason::Truncated),
        }
    }

    fn send_to(&mut self, now: Time, neighbor: Ipv4Addr, mut frame: Frame) {
        if !self.up {
            self.drops.count(DropReason::PortDown);
            return;
        }
        match self.neighbors.get(PORT, neighbor) {
            Some(mac) => {
                let header = ethernet::Repr::untagged(mac, self.config.mac, ethernet::EtherType::IPV4);
                header.emit(frame.header_mut());
                self.transmit(now, frame);
            }
            None => {
                let bytes = frame.len();
                match self.neighbors.wait(now, PORT, neighbor, frame, bytes) {
                    Ok(true) => self.ask(now, neighbor, None),
                    Ok(false) => {}
                    Err(_) => self.drops.count(DropReason::NoAdjacency),
                }
            }
        }
    }

    fn transmit(&mut self, now: Time, frame: Frame) {
        self.outputs.push_back(Output::Transmit { port: PORT, frame, ready: now });
    }

    fn arp(&self, operation: arp::Operation, target_mac: MacAddr, target_ip: Ipv4Addr) -> arp::Repr {
        let (sender_mac, sender_ip) = (self.config.mac, self.config.address);
        arp::Repr { operation, sender_mac, sender_ip, target_mac, target_ip }
    }

    /// Asks who has an address, for someone without a packet that would wait for it; that one asks again if nobody answers.
    pub fn expect(&mut self, now: Time, neighbor: Ipv4Addr) {
        self.ask(now, neighbor, None);
    }

    /// Asks everybody, or only who was known to have the address.
    fn ask(&mut self, now: Time, neighbor: Ipv4Addr, known: Option<MacAddr>) {
        let request = self.arp(arp::Operation::REQUEST, known.unwrap_or_default(), neighbor);
        self.transmit(now, arp_frame(&request));
    }

    fn handle_arp(&mut self, now: Time, payload: &[u8]) {
        let parsed = arp::Packet::new_checked(payload).and_then(|packet| arp::Repr::parse(&packet));
        let valid = parsed.ok().filter(|arp| !arp.sender_mac.is_group() && !arp.sender_ip.is_unspecified());
        let Some(repr) = valid else {
            self.drops.count(DropReason::Malformed);
            return;
        };
        // RFC 826: learn from those who ask for us; update what is known from anybody.
        let for_us = repr.target_ip == self.config.address;
        if for_us || self.neighbors.contains(PORT, repr.sender_ip) {
            let learned = self.neighbors.learn(now, PORT, repr.sender_ip, repr.sender_mac, for_us);
            if let Learned::News(waiting) = learned {
                waiting.into_iter().for_each(|frame| self.send_to(now, repr.sender_ip, frame));
            }
        }
        if for_us && repr.operation == arp::Operation::REQUEST {
            let reply = self.arp(arp::Operation::REPLY, repr.sender_mac, repr.sender_ip);
            self.transmit(now, arp_frame(&reply));
        }
    }

    fn handle_ip(&mut self, now: Time, frame: &Frame, payload: &[u8]) {
        let Ok(ip) = ipv4::Packet::new_checked(payload) else {
            self.drops.count(DropReason::Malformed);
            return;
        };
        if ip.verify_checksum().is_err() {
            self.drops.count(DropReason::BadChecksum);
            return;
        }
        if ip.dst() != self.config.address {
            // RFC 1122, 3.2.1.3: a host discards what is not addressed to it.
            self.drops.count(DropReason::NotForUs);
            return;
        }
        if ip.fragment_offset() != 0 || ip.more_fragments() {
            // Nothing that this host listens to comes in fragments.
            self.drops.count(DropReason::NoListener);
            return;
        }
        match ip.protocol() {
            ipv4::Protocol::ICMP => self.handle_icmp(now, ip.src(), ip.payload()),
            ipv4::Protocol::UDP => self.refuse(now, frame, IcmpError::PortUnreachable),
            _ => self.refuse(now, frame, IcmpError::ProtocolUnreachable),
        }
    }

    /// RFC 1122, 3.2.2.1: a host says so when nobody listens.
    fn refuse(&mut self, now: Time, frame: &Frame, error: IcmpError) {
        self.drops.count(DropReason::NoListener);
        let packet = icmp_error(frame, error, self.config.address);
        if let Some(packet) = packet.filter(|_| self.errors.take(now)) {
            self.send_ip(now, &packet);
        }
    }

    fn handle_icmp(&mut self, now: Time, src: Ipv4Addr, payload: &[u8]) {
        let parsed = icmp::Packet::new_checked(payload);
        let Some(message) = parsed.as_ref().ok().and_then(|packet| icmp::Repr::parse(packet).ok()) else {
            self.drops.count(DropReason::Malformed);
            return;
        };
        match message {
            icmp::Repr::EchoRequest { ident, sequence, data } => {
                self.send_icmp(now, src, TTL, &icmp::Repr::EchoReply { ident, sequence, data });
            }
            other => match Some(other).filter(echo::is_about_ping).and_then(|m| echo::answer(src, &m)) {
                Some(event) => self.outputs.push_back(Output::Event(event)),
                None => self.drops.count(DropReason::NoListener),
            },
        }
    }

    fn send_icmp(&mut self, now: Time, dst: Ipv4Addr, ttl: u8, message: &icmp::Repr<'_>) {
        self.ident = self.ident.wrapping_add(1);
        let packet = echo::packet(self.config.address, dst, ttl, self.ident, message);
        self.send_ip(now, &packet);
    }

    fn port_changed(&mut self, up: bool) {
        if self.up == up {
            return;
        }
        self.up = up;
        if !up {
            let (_, lost) = self.neighbors.forget_port(PORT);
            lost.iter().for_each(|_| self.drops.count(DropReason::PortDown));
        }
        let port = PORT.0;
        let event = if up { Event::PortUp { port } } else { Event::PortDown { port } };
        self.outputs.push_back(Output::Event(event));
    }
}

impl Device for Host {
    fn handle_packet(&mut self, now: Time, _: PortId, frame: Frame) {
        let bytes = frame.to_vec();
        let dst = bytes.first_chunk::<6>().map(|mac| MacAddr(*mac));
        if dst.is_some_and(|dst| dst != self.config.mac && dst != MacAddr::BROADCAST) {
            self.drops.count(DropReason::NotForUs);
            return;
        }
        let payload = bytes.get(ethernet::HEADER_LEN..).unwrap_or_default();
        match bytes.get(12..14) {
            Some([0x08, 0x06]) => self.handle_arp(now, payload),
            Some([0x08, 0x00]) => self.handle_ip(now, &frame, payload),
            Some(_) => self.drops.count(DropReason::UnknownProtocol),
            None => self.drops.count(DropReason::Truncated),
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        for due in self.neighbors.due(now) {
            match due {
                Due::Ask(_, neighbor, known) => self.ask(now, neighbor, known),
                Due::Gone(..) => {}
                Due::GiveUp(waiting, reason) => waiting.iter().for_each(|_| self.drops.count(reason)),
            }
        }
    }

    fn handle_command(&mut self, now: Time, command: Command) {
        match command {
            Command::PortUp(_) => self.port_changed(true),
            Command::PortDown(_) => self.port_changed(false),
            Command::Probe { to, ttl, sequence } => self.send_icmp(now, to, ttl, &echo::request(sequence)),
            Command::Restart => *self = Host::new(self.config),
            _ => {}
        }
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.neighbors.next()
    }
}

#[cfg(test)]
#[path = "host_tests.rs"]
mod tests;
