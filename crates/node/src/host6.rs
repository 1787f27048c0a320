//! IPv6 of a host: neighbour discovery, echo, groups (MLD), and errors about what nobody listens to.

use crate::discovery::{self, HOP_LIMIT, Heard, Own};
use crate::host::{Host, HostAddress6};
use crate::membership::{Question, Report};
use crate::probing::{Action, Probing, Seen, conflict};
use crate::trouble::about6;
use base::device::DropReason;
use base::plane::Prefix6;
use base::{Event, Frame, MacAddr, Output, PortId, Span, Time};
use core::net::Ipv6Addr;
use forwarding::icmpv6::{Icmpv6Error, icmpv6_error};
use forwarding::is_single_node;
use wire::{ethernet, icmpv6, ipv6, mld, nd, udp};

impl HostAddress6 {
    /// The neighbour that packets to an address go to (RFC 4861, 5.2).
    pub fn next_hop(&self, to: Ipv6Addr) -> Ipv6Addr {
        let on_link = to.is_unicast_link_local() || Prefix6::new(self.address, self.prefix_len).contains(to);
        if on_link { to } else { self.gateway }
    }
}

impl Host {
    /// The port's addresses, if it has one of IPv6 and may use it.
    pub(crate) fn own6(&self, port: PortId) -> Option<Own> {
        self.interface6(port).filter(|_| self.is_usable6(port))
    }

    /// The port's addresses, if it has one of IPv6.
    pub(crate) fn interface6(&self, port: PortId) -> Option<Own> {
        let own = self.config().port(port)?;
        Some(Own { mac: own.mac, address: own.ipv6?.address, router: false })
    }

    /// Looks whether the addresses of all ports are free that are told to.
    pub(crate) fn begin6(&mut self, now: Time) {
        (0..self.config().ports.len()).for_each(|index| self.begin_link6(now, PortId(index as u16), true));
    }

    /// The same of a port that has come up; one that went down stops.
    pub(crate) fn begin_link6(&mut self, now: Time, port: PortId, up: bool) {
        let Some(own) = self.config().port(port) else { return };
        let Some(HostAddress6 { dad, .. }) = own.ipv6 else { return };
        if dad {
            let probing = if up { Probing::new(now, own.mac) } else { Probing::DOWN };
            self.neighbors.wake(port, probing.next);
            self.probing[port.index()] = Some(probing);
        }
        if up && !dad {
            self.memberships6.begin(now, port);
        }
    }

    /// Does what is due on a port.
    pub(crate) fn wake6(&mut self, now: Time, port: PortId) {
        let Some(own) = self.interface6(port) else { return };
        let Some(probing) = self.probing[port.index()].as_mut() else { return };
        let action = probing.step(now, Seen::Time);
        self.neighbors.wake(port, probing.next);
        if action == Some(Action::Ask) {
            for target in [own.link_local(), own.address] {
                self.transmit(now, port, own.probe(target));
            }
        }
        if action.is_some() && self.is_usable6(port) {
            // RFC 3810, 5.2.13: groups are reported when there is an address to report them from.
            self.memberships6.begin(now, port);
        }
    }

    /// May the port's addresses be used?
    fn is_usable6(&self, port: PortId) -> bool {
        self.probing.get(port.index()).and_then(Option::as_ref).is_none_or(Probing::is_free)
    }

    /// A message came for a port that may not use its addresses: does it say that somebody has one?
    fn hear_of_addresses(
        &mut self,
        now: Time,
        port: PortId,
        own: &Own,
        src: Ipv6Addr,
        message: &nd::Repr<'_>,
    ) {
        let Some(probing) = self.probing.get_mut(port.index()).and_then(Option::as_mut) else { return };
        if let Some(address) = conflict(own, src, message)
            && probing.step(now, Seen::Other) == Some(Action::Tell)
        {
            self.neighbors.wake(port, None);
            self.outputs.push_back(Output::Event(Event::AddressTaken { port: port.0, address }));
        }
    }

    /// The port that has an IPv6 address.
    pub(crate) fn port_of6(&self, address: Ipv6Addr) -> Option<PortId> {
        let ports = (0..self.config().ports.len()).map(|port| PortId(port as u16));
        ports.into_iter().find(|port| self.own6(*port).is_some_and(|own| own.has(address)))
    }

    pub(crate) fn ask6(&mut self, now: Time, port: PortId, neighbor: Ipv6Addr, known: Option<MacAddr>) {
        if let Some(own) = self.own6(port) {
            self.transmit(now, port, own.ask(neighbor, known));
        }
    }

    pub(crate) fn handle_ipv6(&mut self, now: Time, port: PortId, frame: &Frame, payload: &[u8]) {
        let read = ipv6::Packet::new_checked(payload).and_then(|packet| {
            let upper = ipv6::upper(packet.next_header(), packet.payload())?;
            Ok((ipv6::Repr::parse(&packet)?, upper, packet))
        });
        let Ok((ip, upper, packet)) = read else { return self.discard(DropReason::Malformed) };
        let own = self.interface6(port).filter(|_| ip.dst.is_multicast());
        let in_group = own.is_some_and(|own| own.is_in(ip.dst) || self.memberships6.wants(ip.dst));
        if in_group && !self.is_usable6(port) && upper.protocol != ipv6::Protocol::ICMPV6 {
            return self.discard(DropReason::NotForUs);
        }
        if !in_group && self.port_of6(ip.dst).is_none() {
            return self.discard(DropReason::NotForUs);
        }
        if upper.fragment.is_some_and(|fragment| fragment.more || fragment.offset != 0) {
            return self.discard(DropReason::NoListener);
        }
        let rest = packet.payload().get(upper.offset..).unwrap_or_default();
        match upper.protocol {
            ipv6::Protocol::ICMPV6
                if rest.first().is_some_and(|first| icmpv6::Type(*first).is_listener()) =>
            {
                self.handle_listener(now, port, &ip, upper.router_alert, rest);
            }
            ipv6::Protocol::ICMPV6 => {
                let from = frame.header().get(6..12).and_then(|mac| mac.first_chunk::<6>());
                self.handle_icmpv6(
                    now,
                    port,
                    &ip,
                    from.map_or(MacAddr::default(), |mac| MacAddr(*mac)),
                    rest,
                );
            }
            ipv6::Protocol::NO_NEXT_HEADER => {}
            ipv6::Protocol::TCP if self.tcp.is_some() && !in_group => {
                let segment = (rest, frame.offload().is_some());
                self.hear_segment(now, port, (ip.src.into(), ip.dst.into()), ip.hop_limit, segment);
            }
            // RFC 8200, 8.1: what has a wrong checksum, or none, is discarded; a kernel's may be still to be made.
            ipv6::Protocol::UDP if frame.offload().is_none() && !is_sound(rest, &ip) => {
                self.discard(DropReason::BadChecksum)
            }
            ipv6::Protocol::UDP => self.refuse6(now, port, frame, ip.dst, Icmpv6Error::PortUnreachable),
            // RFC 8200, 4: where the number stands that is not known here.
            _ if upper.offset == 0 => {
                self.refuse6(now, port, frame, ip.dst, Icmpv6Error::UnknownNextHeader { pointer: 6 });
            }
            _ => self.discard(DropReason::NoListener),
        }
    }

    /// A message of MLD: questions of routers are answered, if they are from this link (RFC 3810, 6.2).
    fn handle_listener(
        &mut self,
        now: Time,
        port: PortId,
        ip: &ipv6::Repr,
        router_alert: bool,
        bytes: &[u8],
    ) {
        let is_of_link = ip.src.is_unicast_link_local() && ip.hop_limit == 1 && router_alert;
        match (mld::Repr::parse(bytes, ip.src, ip.dst), self.own6(port)) {
            (Ok(mld::Repr::Query { max_resp_ms, group, v2 }), Some(own)) if is_of_link => {
                let group = (!group.is_unspecified()).then_some(group);
                let within = Span::from_ms(i64::from(max_resp_ms.max(1)));
                let question = Question { group, within, is_older: v2.is_none() };
                self.memberships6.hear(now, port, own.link_local().to_bits() as u32, &question);
            }
            (Ok(_), Some(_)) if is_of_link => self.discard(DropReason::NoListener),
            (Ok(_), None) => self.discard(DropReason::NotForUs),
            _ => self.discard(DropReason::Malformed),
        }
    }

    /// Says which groups of IPv6 the host wants, where that is due (RFC 3810, 5: from a link-local address, hop limit
    /// 1, and the Router Alert option).
    pub(crate) fn report_groups6(&mut self, now: Time) {
        for (port, report) in self.memberships6.poll(now) {
            let Some(own) = self.own6(port).filter(|_| self.is_up(port)) else { continue };
            let (dst, report) = match report {
                Report::Older(group) => (group, mld::Repr::ReportV1 { group }),
                Report::Records(records) => (mld::ALL_V2_ROUTERS, mld::Repr::ReportV2 { records }),
            };
            let src = own.link_local();
            let alert = ipv6::extension::router_alert(ipv6::Protocol::ICMPV6, mld::ROUTER_ALERT);
            let payload = [&alert[..], &report.emit(src, dst)].concat();
            let next = ipv6::Protocol::HOP_BY_HOP;
            let repr = ipv6::Repr { hop_limit: 1, ..ipv6::Repr::new(src, dst, next, payload.len() as u16) };
            let mut bytes = vec![0; ethernet::HEADER_LEN + repr.buffer_len()];
            let header = ethernet::Repr::untagged(nd::group_mac(dst), own.mac, ethernet::EtherType::IPV6);
            header.emit(&mut bytes);
            repr.emit(&mut bytes[ethernet::HEADER_LEN..]);
            bytes.extend(payload);
            self.transmit(now, port, Frame::from_bytes(&bytes));
        }
    }

    fn refuse6(&mut self, now: Time, port: PortId, frame: &Frame, asked: Ipv6Addr, error: Icmpv6Error) {
        self.discard(DropReason::NoListener);
        let Some(packet) = icmpv6_error(frame, error, asked) else { return };
        if self.errors.take(now) {
            self.send_ipv6(now, port, &packet);
        }
    }

    fn handle_icmpv6(&mut self, now: Time, port: PortId, ip: &ipv6::Repr, from: MacAddr, payload: &[u8]) {
        let packet = icmpv6::Packet::new_checked(payload);
        let message = packet.as_ref().map_err(|e| *e).and_then(|p| icmpv6::Repr::parse(p, ip.src, ip.dst));
        match message {
            Err(_) => self.discard(DropReason::Malformed),
            Ok(icmpv6::Repr::Discovery(message)) => self.handle_discovery(now, port, ip, from, &message),
            Ok(_) if ip.dst.is_multicast() && !self.is_usable6(port) => self.discard(DropReason::NotForUs),
            Ok(icmpv6::Repr::EchoRequest { ident, sequence, data }) if is_single_node(ip.src) => {
                let own = self.own6(port).map_or(ip.dst, |own| own.towards(ip.src));
                let src = if ip.dst.is_multicast() { own } else { ip.dst };
                let reply = icmpv6::Repr::EchoReply { ident, sequence, data };
                self.send_ipv6(now, port, &discovery::packet(src, ip.src, HOP_LIMIT, &reply));
            }
            Ok(other) if self.hear_trouble(now, about6(&other)) => {}
            Ok(other) => match discovery::answer(ip.src, &other) {
                Some(event) => self.outputs.push_back(Output::Event(event)),
                None => self.discard(DropReason::NoListener),
            },
        }
    }

    fn handle_discovery(
        &mut self,
        now: Time,
        port: PortId,
        ip: &ipv6::Repr,
        from: MacAddr,
        message: &nd::Repr<'_>,
    ) {
        let Some(own) = self.interface6(port) else { return self.discard(DropReason::NotForUs) };
        let heard = discovery::hear(&own, ip, message);
        if heard.is_ok() && !self.is_usable6(port) {
            return self.hear_of_addresses(now, port, &own, ip.src, message);
        }
        match heard {
            Err(_) => self.discard(DropReason::Malformed),
            Ok(Heard::Nothing | Heard::Solicited { .. }) => self.discard(DropReason::NoListener),
            Ok(Heard::Asked { target, asker }) => {
                if let Some((address, Some(mac))) = asker {
                    self.learn(now, port, address.into(), mac, true);
                }
                let asker = asker.map(|(address, mac)| (address, mac.unwrap_or(from)));
                self.transmit(now, port, own.answer(target, asker));
            }
            Ok(Heard::Told { neighbor, mac, replaces }) => {
                let known = self.neighbors.get(port, neighbor.into());
                let kept = known.filter(|known| !replaces && mac != Some(*known)).is_some();
                match mac.or(known).filter(|_| !kept && self.neighbors.contains(port, neighbor.into())) {
                    Some(mac) => self.learn(now, port, neighbor.into(), mac, false),
                    None => self.discard(DropReason::NoListener),
                }
            }
        }
    }

    /// Sends an IPv6 packet by the port that its source address is of; to a link-local address by `port`.
    fn send_ipv6(&mut self, now: Time, port: PortId, packet: &[u8]) {
        let Ok(view) = ipv6::Packet::new_checked(packet) else {
            return self.drops.count(DropReason::Truncated);
        };
        let (src, to) = (view.src(), view.dst());
        let port = if to.is_unicast_link_local() { port } else { self.port_of6(src).unwrap_or(port) };
        let Some(own) = self.config().port(port).and_then(|port| port.ipv6) else {
            return self.drops.count(DropReason::PortDown);
        };
        let mut bytes = vec![0; ethernet::HEADER_LEN];
        bytes.extend_from_slice(packet);
        self.send_to(now, port, own.next_hop(to).into(), Frame::from_bytes(&bytes));
    }

    /// Pings an address from the first port that has one of IPv6.
    pub(crate) fn send_echo6(&mut self, now: Time, to: Ipv6Addr, hop_limit: u8, sequence: u16) {
        let ports = (0..self.config().ports.len()).map(|port| PortId(port as u16));
        let Some((port, own)) = ports.into_iter().find_map(|port| Some((port, self.own6(port)?))) else {
            return self.drops.count(DropReason::PortDown);
        };
        let message = discovery::request(sequence);
        self.send_ipv6(now, port, &discovery::packet(own.towards(to), to, hop_limit, &message));
    }
}

/// Is the datagram as long as it says, with the checksum that it should have?
fn is_sound(datagram: &[u8], ip: &ipv6::Repr) -> bool {
    udp::Packet::new_checked(datagram).is_ok_and(|datagram| datagram.verify_checksum(ip.src, ip.dst).is_ok())
}
