//! An IP host: an address, ARP and a default route at each of its ports, and ICMP; nothing is forwarded.
//!
//! With several ports it is a strong host as it sends (RFC 1122, 3.3.4.2): a packet leaves by the port whose address
//! is its source. It takes a packet to any of its addresses, whichever port it came by.

use crate::echo;
use crate::host_tcp::HostTcp;
use crate::membership::{Membership, Memberships, Question, Report};
use crate::neighbors::{Due, Learned, Neighbors, arp_frame};
use crate::probing::Probing;
use crate::trouble::about;
use base::Limiter;
use base::device::{DropCounters, DropReason};
use base::plane::{Prefix, group_mac, group_mac6};
use base::{Command, Device, Event, Frame, MacAddr, Output, PortId, Span, Time};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use forwarding::icmp::{IcmpError, icmp_error};
use std::collections::VecDeque;
use wire::{arp, ethernet, icmp, igmp, ipv4};

/// ICMP errors that a host sends each second, and at once (RFC 1812, 4.3.2.8, which is for routers; RFC 1122 leaves
/// it open).
const ERRORS: (u32, u32) = (1_000, 1_000);
/// Time to live of what a host answers.
const TTL: u8 = 64;

/// How a host is set up: its ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostConfig {
    /// Its ports, by number. What it sends of its own accord, and not in answer, it sends by the first.
    pub ports: Vec<HostPort>,
    /// The groups that it wants.
    pub groups: Vec<Membership>,
}

/// How a port of a host is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostPort {
    /// Source of the frames that the host sends by the port.
    pub mac: MacAddr,
    /// Address on the link; the host answers ARP and pings for it.
    pub address: Ipv4Addr,
    /// Length of the prefix of its network.
    pub prefix_len: u8,
    /// Where everything goes that is not in its network.
    pub gateway: Ipv4Addr,
    /// Its IPv6 address; the port speaks no IPv6 if absent.
    pub ipv6: Option<HostAddress6>,
    /// Longest packet that its programs send by it, in bytes: TCP makes segments by it.
    pub mtu: u32,
}

/// An IPv6 address of a port of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostAddress6 {
    /// Address on the link, beside the link-local one that the port makes itself.
    pub address: Ipv6Addr,
    /// Length of the prefix of its network, in bits.
    pub prefix_len: u8,
    /// Where everything goes that is not in its network.
    pub gateway: Ipv6Addr,
    /// Is it used only after a look whether somebody has it (RFC 4862, 5.4)?
    pub dad: bool,
}

impl HostConfig {
    /// The port that has an address.
    pub fn port_of(&self, address: Ipv4Addr) -> Option<PortId> {
        let place = self.ports.iter().position(|port| port.address == address)?;
        u16::try_from(place).ok().map(PortId)
    }

    /// A port by its number.
    #[inline]
    pub fn port(&self, port: PortId) -> Option<&HostPort> {
        self.ports.get(port.index())
    }
}

impl HostPort {
    /// The neighbour that packets to an address go to (RFC 1122, 3.3.1.1).
    pub fn next_hop(&self, to: Ipv4Addr) -> Ipv4Addr {
        if Prefix::new(self.address, self.prefix_len).contains(to) { to } else { self.gateway }
    }

    /// The neighbour that packets to an address of either family go to; none if the port does not speak that family.
    pub fn neighbor_towards(&self, to: IpAddr) -> Option<IpAddr> {
        match to {
            IpAddr::V4(to) => Some(self.next_hop(to).into()),
            IpAddr::V6(to) => Some(self.ipv6?.next_hop(to).into()),
        }
    }
}

/// The host.
///
/// A [`Device`]; whoever builds more upon it gives it what is not for itself to handle, drains it, and sends by
/// [`Host::send_ip`], by [`Host::send_frame`], or with the Ethernet address that [`Host::neighbor_mac`] says.
#[derive(Debug)]
pub struct Host {
    config: HostConfig,
    pub(crate) neighbors: Neighbors<Frame>,
    pub(crate) outputs: VecDeque<Output>,
    pub(crate) drops: DropCounters,
    pub(crate) errors: Limiter,
    /// Which ports are up.
    up: Vec<bool>,
    pub(crate) ident: u16,
    /// TCP, where a program wants it.
    pub(crate) tcp: Option<Box<HostTcp>>,
    /// What ports know of their IPv6 addresses, where they look whether these are free.
    pub(crate) probing: Vec<Option<Probing>>,
    memberships: Memberships<Ipv4Addr>,
    pub(crate) memberships6: Memberships<Ipv6Addr>,
    /// Why the frame that is being handled is discarded, once that is so.
    discarded: Option<DropReason>,
}

impl Host {
    /// A host whose ports are up.
    pub fn new(config: HostConfig) -> Host {
        let mut host = Host {
            up: vec![true; config.ports.len()],
            probing: vec![None; config.ports.len()],
            memberships: Memberships::new(&config.groups, |address| match address {
                IpAddr::V4(address) => Some(address),
                IpAddr::V6(_) => None,
            }),
            memberships6: Memberships::new(&config.groups, |address| match address {
                IpAddr::V4(_) => None,
                IpAddr::V6(address) => Some(address),
            }),
            config,
            neighbors: Neighbors::default(),
            outputs: VecDeque::new(),
            drops: DropCounters::default(),
            errors: Limiter::new(ERRORS.0, ERRORS.1),
            ident: 0,
            tcp: None,
            discarded: None,
        };
        let ports = (0..host.config.ports.len()).map(|port| PortId(port as u16));
        ports.for_each(|port| host.memberships.begin(Time::ZERO, port));
        host.begin6(Time::ZERO);
        host
    }

    /// How it was set up.
    pub fn config(&self) -> &HostConfig {
        &self.config
    }
    /// Frames that the host discarded, by reason.
    pub fn drops(&self) -> &DropCounters {
        &self.drops
    }
    /// Neighbours whose Ethernet address is known, with the port that they are on.
    pub fn neighbors(&self) -> impl Iterator<Item = (PortId, IpAddr, MacAddr)> {
        self.neighbors.iter()
    }
    /// The Ethernet address that packets to `to` go to by a port, if it is known.
    pub fn neighbor_mac(&self, port: PortId, to: impl Into<IpAddr>) -> Option<MacAddr> {
        let own = self.config.port(port)?;
        match to.into() {
            to if to.is_multicast() => Some(mac_of(to)),
            to => self.neighbors.get(port, own.neighbor_towards(to)?),
        }
    }

    /// Sends an IP packet by the port that its source address is of; it waits until the neighbour's Ethernet address
    /// is known.
    pub fn send_ip(&mut self, now: Time, packet: &[u8]) {
        let mut bytes = vec![0; ethernet::HEADER_LEN];
        bytes.extend_from_slice(packet);
        let frame = Frame::from_bytes(&bytes);
        let address = |at: usize| Some(Ipv4Addr::from(*packet.get(at..)?.first_chunk::<4>()?));
        let by = address(12).and_then(|src| self.config.port_of(src)).unwrap_or(PortId(0));
        match (address(16), self.config.port(by)) {
            (Some(to), Some(port)) => self.send_to(now, by, port.next_hop(to).into(), frame),
            _ => self.drops.count(DropReason::Truncated),
        }
    }

    /// Sends a frame with an IP packet to `to` by a port, and writes its Ethernet header; it waits as one of
    /// [`Host::send_ip`] does.
    pub fn send_frame(&mut self, now: Time, port: PortId, to: IpAddr, mut frame: Frame) {
        if let Some(own) = self.config.port(port).filter(|_| to.is_multicast()) {
            let header = ethernet::Repr::untagged(mac_of(to), own.mac, ethertype_of(to));
            header.emit(frame.header_mut());
            return self.transmit(now, port, frame);
        }
        match self.config.port(port).and_then(|own| own.neighbor_towards(to)) {
            Some(neighbor) => self.send_to(now, port, neighbor, frame),
            None => self.lose(port, frame, DropReason::PortDown),
        }
    }

    /// Can a port be used?
    pub(crate) fn is_up(&self, port: PortId) -> bool {
        self.up.get(port.index()) == Some(&true)
    }

    /// Discards the frame that is being handled.
    pub(crate) fn discard(&mut self, reason: DropReason) {
        self.drops.count(reason);
        self.discarded = Some(reason);
    }

    /// Discards a frame that was to leave by a port.
    fn lose(&mut self, port: PortId, frame: Frame, reason: DropReason) {
        self.drops.count(reason);
        self.outputs.push_back(Output::Discard { port, frame, reason });
    }

    pub(crate) fn send_to(&mut self, now: Time, port: PortId, neighbor: IpAddr, mut frame: Frame) {
        let own = self.config.port(port).filter(|_| self.up[port.index()]);
        let Some(own) = own else {
            return self.lose(port, frame, DropReason::PortDown);
        };
        match self.neighbors.get(port, neighbor) {
            Some(mac) => {
                let header = ethernet::Repr::untagged(mac, own.mac, ethertype_of(neighbor));
                header.emit(frame.header_mut());
                self.transmit(now, port, frame);
            }
            None => {
                let bytes = frame.len();
                match self.neighbors.wait(now, port, neighbor, frame, bytes) {
                    Ok(true) => self.ask(now, port, neighbor, None),
                    Ok(false) => {}
                    Err(frame) => self.lose(port, frame, DropReason::NoAdjacency),
                }
            }
        }
    }

    pub(crate) fn transmit(&mut self, now: Time, port: PortId, frame: Frame) {
        self.outputs.push_back(Output::Transmit { port, frame, ready: now });
    }

    fn send_arp(&mut self, now: Time, port: PortId, operation: arp::Operation, target: (MacAddr, Ipv4Addr)) {
        let Some(own) = self.config.port(port) else { return };
        let repr = arp::Repr {
            operation,
            sender_mac: own.mac,
            sender_ip: own.address,
            target_mac: target.0,
            target_ip: target.1,
        };
        self.transmit(now, port, arp_frame(&repr));
    }

    /// Asks at a port who has an address, if that is neither known nor asked, for someone without a packet that would
    /// wait for it; that one asks again if nobody answers in time.
    pub fn expect(&mut self, now: Time, port: PortId, neighbor: impl Into<IpAddr>) {
        let neighbor = neighbor.into();
        if self.up.get(port.index()) == Some(&true) && self.neighbors.expect(now, port, neighbor) {
            self.ask(now, port, neighbor, None);
        }
    }

    /// Asks everybody, or only who was known to have the address.
    fn ask(&mut self, now: Time, port: PortId, neighbor: IpAddr, known: Option<MacAddr>) {
        match neighbor {
            IpAddr::V4(neighbor) => {
                self.send_arp(now, port, arp::Operation::REQUEST, (known.unwrap_or_default(), neighbor));
            }
            IpAddr::V6(neighbor) => self.ask6(now, port, neighbor, known),
        }
    }

    fn handle_arp(&mut self, now: Time, port: PortId, payload: &[u8]) {
        let parsed = arp::Packet::new_checked(payload).and_then(|packet| arp::Repr::parse(&packet));
        let valid = parsed.ok().filter(|arp| !arp.sender_mac.is_group() && !arp.sender_ip.is_unspecified());
        let Some(repr) = valid else {
            self.discard(DropReason::Malformed);
            return;
        };
        // RFC 826: learn from those who ask for us; update what is known from anybody.
        let for_us = self.config.port(port).is_some_and(|own| own.address == repr.target_ip);
        let sender = repr.sender_ip.into();
        if for_us || self.neighbors.contains(port, sender) {
            self.learn(now, port, sender, repr.sender_mac, for_us);
        }
        if for_us && repr.operation == arp::Operation::REQUEST {
            self.send_arp(now, port, arp::Operation::REPLY, (repr.sender_mac, repr.sender_ip));
        }
    }

    /// A neighbour's Ethernet address is known: what waited for it is sent.
    pub(crate) fn learn(&mut self, now: Time, port: PortId, neighbor: IpAddr, mac: MacAddr, heard: bool) {
        if let Learned::News(waiting) = self.neighbors.learn(now, port, neighbor, mac, heard) {
            waiting.into_iter().for_each(|frame| self.send_to(now, port, neighbor, frame));
        }
    }

    fn handle_ip(&mut self, now: Time, port: PortId, frame: &Frame, payload: &[u8]) {
        let Ok(ip) = ipv4::Packet::new_checked(payload) else {
            self.discard(DropReason::Malformed);
            return;
        };
        if ip.verify_checksum().is_err() {
            self.discard(DropReason::BadChecksum);
            return;
        }
        if ip.dst().is_multicast() {
            return self.handle_group(now, port, &ip);
        }
        if self.config.port_of(ip.dst()).is_none() {
            // RFC 1122, 3.2.1.3: a host discards what is not addressed to it.
            self.discard(DropReason::NotForUs);
            return;
        }
        if ip.fragment_offset() != 0 || ip.more_fragments() {
            // Nothing that this host listens to comes in fragments.
            self.discard(DropReason::NoListener);
            return;
        }
        match ip.protocol() {
            ipv4::Protocol::ICMP => self.handle_icmp(now, [ip.src(), ip.dst()], ip.payload()),
            ipv4::Protocol::TCP => {
                let ends = (ip.src().into(), ip.dst().into());
                // A kernel's checksum may be still to be made.
                let segment = (ip.payload(), frame.offload().is_some());
                if !self.hear_segment(now, port, ends, ip.ttl(), segment) {
                    self.refuse(now, frame, ip.dst(), IcmpError::ProtocolUnreachable);
                }
            }
            ipv4::Protocol::UDP => self.refuse(now, frame, ip.dst(), IcmpError::PortUnreachable),
            _ => self.refuse(now, frame, ip.dst(), IcmpError::ProtocolUnreachable),
        }
    }

    /// A packet to a group: questions of routers are answered; nobody here listens to anything else, and no error is
    /// told (RFC 1122, 3.2.2).
    fn handle_group(&mut self, now: Time, port: PortId, ip: &ipv4::Packet<&[u8]>) {
        let is_known = ip.dst() == igmp::ALL_SYSTEMS || self.memberships.takes(ip.dst(), ip.src());
        if !is_known && ip.protocol().0 != igmp::PROTOCOL {
            return self.discard(DropReason::NotForUs);
        }
        let query = (ip.protocol().0 == igmp::PROTOCOL).then(|| igmp::Repr::parse(ip.payload()));
        match (query, self.config.port(port).map(|own| own.address)) {
            (Some(Ok(igmp::Repr::Query { max_resp_ds, group, v3 })), Some(own)) => {
                let group = (!group.is_unspecified()).then_some(group);
                let within = Span::from_ms(100 * i64::from(max_resp_ds.max(1)));
                let question = Question { group, within, is_older: v3.is_none() };
                self.memberships.hear(now, port, own.to_bits(), &question);
            }
            (Some(Ok(_)), Some(_)) => {}
            (Some(Err(_)), _) => self.discard(DropReason::Malformed),
            _ => self.discard(DropReason::NoListener),
        }
    }

    /// The groups that the host wants.
    pub fn groups(&self) -> &[Membership] {
        &self.config.groups
    }

    /// Says which groups the host wants, where that is due (RFC 3376, 4: TTL 1, and the Router Alert option).
    fn report_groups(&mut self, now: Time) {
        self.report_groups6(now);
        for (port, report) in self.memberships.poll(now) {
            let (dst, report) = match report {
                Report::Older(group) => (group, igmp::Repr::ReportV2 { group }),
                Report::Records(records) => (igmp::ALL_V3_ROUTERS, igmp::Repr::ReportV3 { records }),
            };
            let Some(own) = self.config.port(port).filter(|_| self.up[port.index()]).copied() else {
                continue;
            };
            self.ident = self.ident.wrapping_add(1);
            let payload = report.emit();
            let repr = ipv4::Repr {
                src: own.address,
                dst,
                protocol: ipv4::Protocol(igmp::PROTOCOL),
                ttl: 1,
                dscp: base::Dscp::CS6,
                ecn: 0,
                ident: self.ident,
                dont_fragment: false,
                more_fragments: false,
                fragment_offset: 0,
                payload_len: payload.len() as u16,
                options: ipv4::Options::ROUTER_ALERT,
            };
            let mut bytes = vec![0; ethernet::HEADER_LEN + repr.buffer_len()];
            let header = ethernet::Repr::untagged(group_mac(dst), own.mac, ethernet::EtherType::IPV4);
            header.emit(&mut bytes);
            repr.emit(&mut bytes[ethernet::HEADER_LEN..]);
            bytes.extend(payload);
            self.transmit(now, port, Frame::from_bytes(&bytes));
        }
    }

    /// RFC 1122, 3.2.2.1: a host says so when nobody listens.
    fn refuse(&mut self, now: Time, frame: &Frame, asked: Ipv4Addr, error: IcmpError) {
        self.discard(DropReason::NoListener);
        let packet = icmp_error(frame, error, asked);
        if let Some(packet) = packet.filter(|_| self.errors.take(now)) {
            self.send_ip(now, &packet);
        }
    }

    /// Takes an ICMP message from `from` to one of the own addresses, `own`.
    fn handle_icmp(&mut self, now: Time, [from, own]: [Ipv4Addr; 2], payload: &[u8]) {
        let parsed = icmp::Packet::new_checked(payload);
        let Some(message) = parsed.as_ref().ok().and_then(|packet| icmp::Repr::parse(packet).ok()) else {
            self.discard(DropReason::Malformed);
            return;
        };
        match message {
            icmp::Repr::EchoRequest { ident, sequence, data } => {
                // RFC 1122, 3.2.2.6: from the address that was asked.
                self.send_icmp(now, [own, from], TTL, &icmp::Repr::EchoReply { ident, sequence, data });
            }
            other if self.hear_trouble(now, about(&other)) => {}
            other => match Some(other).filter(echo::is_about_ping).and_then(|m| echo::answer(from, &m)) {
                Some(event) => self.outputs.push_back(Output::Event(event)),
                None => self.discard(DropReason::NoListener),
            },
        }
    }

    fn send_icmp(&mut self, now: Time, [src, dst]: [Ipv4Addr; 2], ttl: u8, message: &icmp::Repr<'_>) {
        self.ident = self.ident.wrapping_add(1);
        let packet = echo::packet(src, dst, ttl, self.ident, message);
        self.send_ip(now, &packet);
    }

    fn port_changed(&mut self, now: Time, port: PortId, up: bool) {
        match self.up.get_mut(port.index()) {
            Some(state) if *state != up => *state = up,
            _ => return,
        }
        if !up {
            let (_, lost) = self.neighbors.forget_port(port);
            lost.into_iter().for_each(|frame| self.lose(port, frame, DropReason::PortDown));
        }
        self.begin_link6(now, port, up);
        if up {
            self.memberships.begin(now, port);
            self.report_groups(now);
        }
        let port = port.0;
        let event = if up { Event::PortUp { port } } else { Event::PortDown { port } };
        self.outputs.push_back(Output::Event(event));
    }
}

impl Host {
    /// Begins anew: what waited for a neighbour is lost.
    fn restart(&mut self, now: Time) {
        let mut fresh = Host::new(self.config.clone());
        fresh.begin6(now);
        fresh.tcp = self.tcp.take();
        if let Some(tcp) = &mut fresh.tcp {
            tcp.restart();
        }
        for port in (0..self.config.ports.len()).map(|port| PortId(port as u16)) {
            let waited = self.neighbors.forget_port(port).1.into_iter();
            let reason = DropReason::NodeDown;
            fresh.outputs.extend(waited.map(|frame| Output::Discard { port, frame, reason }));
        }
        *self = fresh;
    }

    fn handle_frame(&mut self, now: Time, port: PortId, frame: &Frame) {
        let bytes = frame.to_vec();
        let dst = bytes.first_chunk::<6>().map(|mac| MacAddr(*mac));
        let own = self.config.port(port).map(|own| own.mac);
        let to_group = dst.is_some_and(|dst| dst.0[..2] == [0x33, 0x33]) && self.interface6(port).is_some();
        let to_group = to_group || dst.is_some_and(|dst| dst.0[..3] == [0x01, 0x00, 0x5e]);
        if !to_group && dst.is_some_and(|dst| Some(dst) != own && dst != MacAddr::BROADCAST) {
            self.discard(DropReason::NotForUs);
            return;
        }
        let payload = bytes.get(ethernet::HEADER_LEN..).unwrap_or_default();
        match bytes.get(12..14) {
            Some([0x08, 0x06]) => self.handle_arp(now, port, payload),
            Some([0x08, 0x00]) => self.handle_ip(now, port, frame, payload),
            Some([0x86, 0xdd]) if self.interface6(port).is_some() => {
                self.handle_ipv6(now, port, frame, payload)
            }
            Some(_) => self.discard(DropReason::UnknownProtocol),
            None => self.discard(DropReason::Truncated),
        }
    }
}

/// The Ethernet address of a group of either family.
const fn mac_of(group: IpAddr) -> MacAddr {
    match group {
        IpAddr::V4(group) => group_mac(group),
        IpAddr::V6(group) => group_mac6(group),
    }
}

const fn ethertype_of(to: IpAddr) -> ethernet::EtherType {
    match to {
        IpAddr::V4(_) => ethernet::EtherType::IPV4,
        IpAddr::V6(_) => ethernet::EtherType::IPV6,
    }
}

impl Device for Host {
    fn handle_packet(&mut self, now: Time, port: PortId, frame: Frame) {
        self.handle_frame(now, port, &frame);
        if let Some(reason) = self.discarded.take() {
            self.outputs.push_back(Output::Discard { port, frame, reason });
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.report_groups(now);
        self.wake_tcp(now);
        for due in self.neighbors.due(now) {
            match due {
                Due::Ask(port, neighbor, known) => self.ask(now, port, neighbor, known),
                Due::Gone(..) => {}
                Due::Wake(port) => self.wake6(now, port),
                Due::GiveUp(port, waiting, reason) => {
                    waiting.into_iter().for_each(|frame| self.lose(port, frame, reason));
                }
            }
        }
    }

    fn handle_command(&mut self, now: Time, command: Command) {
        match command {
            Command::PortUp(port) => self.port_changed(now, port, true),
            Command::PortDown(port) => self.port_changed(now, port, false),
            Command::Probe { to: IpAddr::V6(to), ttl, sequence } => self.send_echo6(now, to, ttl, sequence),
            Command::Probe { to: IpAddr::V4(to), ttl, sequence } => {
                if let Some(src) = self.config.ports.first().map(|first| first.address) {
                    self.send_icmp(now, [src, to], ttl, &echo::request(sequence));
                }
            }
            Command::Restart => self.restart(now),
            _ => {}
        }
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        let tcp = self.tcp.as_ref().and_then(|tcp| tcp.next());
        let [groups, groups6] = [self.memberships.next(), self.memberships6.next()];
        Time::earliest([self.neighbors.next(), groups, groups6, tcp])
    }

    fn show_held(&self, see: &mut dyn FnMut(&Frame)) {
        self.neighbors.items().for_each(see);
    }
}

#[cfg(test)]
#[path = "host_tests.rs"]
mod tests;
