//! ARP (RFC 826) on the ports of a router: questions and answers, and the defence of the router's own addresses (RFC
//! 5227).
//!
//! A router answers for the address of the port and for no other: there is no proxy ARP.

use super::{Router, Waiting};
use crate::neighbors::{Due, Learned, arp_frame};
use base::device::DropReason;
use base::plane::{Prefix, TableOp};
use base::{Frame, MacAddr, PortId, Span, Time};
use core::net::{IpAddr, Ipv4Addr};
use forwarding::icmp::IcmpError;
use wire::{arp, ethernet};

/// An address is defended once in this time at most (RFC 5227, 1.1: DEFEND_INTERVAL).
const DEFEND_INTERVAL: Span = Span::from_secs(10);

impl Router {
    pub(super) fn handle_arp(&mut self, now: Time, port: PortId, frame: &Frame) {
        let bytes = frame.to_vec();
        let payload = bytes.get(ethernet::HEADER_LEN..).unwrap_or_default();
        let parsed = arp::Packet::new_checked(payload).and_then(|packet| arp::Repr::parse(&packet));
        let Ok(repr) = parsed else { return self.drop_received(port, DropReason::Malformed) };
        let Some(setup) = self.config.ports.get(port.index()).copied() else {
            return self.drop_received(port, DropReason::NotForUs);
        };
        if repr.sender_mac.is_group() || repr.sender_mac == MacAddr::default() {
            return self.drop_received(port, DropReason::Malformed);
        }
        if repr.sender_ip == setup.address {
            self.handle_conflict(now, port, &repr);
            return self.deliver(port);
        }
        let for_us = repr.target_ip == setup.address;
        let asks = repr.operation == arp::Operation::REQUEST;
        // RFC 5227, 2.1.1: who asks without an address of its own is looking for one, and there is nothing to learn.
        let probe = repr.sender_ip.is_unspecified();
        if !probe && self.neighbors.contains(port, repr.sender_ip.into()) {
            // RFC 826: what is known is updated from anybody; so does gratuitous ARP.
            self.learn(now, port, repr.sender_ip.into(), repr.sender_mac, false);
        } else if !probe && for_us && self.may_be_neighbor(port, repr.sender_ip) {
            self.learn(now, port, repr.sender_ip.into(), repr.sender_mac, true);
        } else if !for_us {
            return self.drop_received(port, DropReason::NotForUs);
        }
        self.deliver(port);
        if for_us && asks {
            let reply = arp::Repr {
                operation: arp::Operation::REPLY,
                sender_mac: setup.mac,
                sender_ip: setup.address,
                target_mac: repr.sender_mac,
                target_ip: repr.sender_ip,
            };
            self.send_arp(now, port, &reply);
        }
    }

    /// May a host with this address be on the link?
    fn may_be_neighbor(&self, port: PortId, address: Ipv4Addr) -> bool {
        let Some(setup) = self.config.ports.get(port.index()) else { return false };
        let on_link = Prefix::new(setup.address, setup.prefix_len).contains(address);
        setup.neighbor == Some(address) || (on_link && self.forwarding().is_single_host(address))
    }

    /// Somebody uses the address of this port. The router keeps it, and says so (RFC 5227, 2.4 (c)).
    fn handle_conflict(&mut self, now: Time, port: PortId, repr: &arp::Repr) {
        let (Some(setup), Some(quiet_until)) =
            (self.config.ports.get(port.index()), self.defended.get_mut(port.index()))
        else {
            return;
        };
        if repr.sender_mac == setup.mac || *quiet_until > now {
            return;
        }
        *quiet_until = now + DEFEND_INTERVAL;
        let announcement = arp::Repr {
            operation: arp::Operation::REQUEST,
            sender_mac: setup.mac,
            sender_ip: setup.address,
            target_mac: MacAddr::default(),
            target_ip: setup.address,
        };
        self.send_arp(now, port, &announcement);
    }

    pub(super) fn learn(&mut self, now: Time, port: PortId, gateway: IpAddr, mac: MacAddr, heard: bool) {
        if let Learned::News(waiting) = self.neighbors.learn(now, port, gateway, mac, heard) {
            self.write(now, vec![TableOp::AdjacencySet { port, gateway, mac }]);
            waiting.into_iter().for_each(|item| self.go_on(now, item));
        }
    }

    fn go_on(&mut self, now: Time, item: Waiting) {
        match item {
            Waiting::Transit(ingress, frame) => self.forward_again(now, ingress, frame),
            Waiting::Along(ingress, frame) => self.send_along(now, ingress, frame),
            Waiting::Own(frame, via) => self.send(now, frame, via),
            Waiting::Labelled(port, gateway, frame) => self.send_labelled(now, port, gateway, frame),
            Waiting::Copy(ingress, frame, branch) => self.send_copy(now, ingress, frame, branch),
        }
    }

    /// Lets something wait until the neighbour's Ethernet address is known, and asks for it.
    pub(super) fn wait_for(&mut self, now: Time, port: PortId, gateway: IpAddr, item: Waiting) {
        let bytes = item.frame().len();
        match self.neighbors.wait(now, port, gateway, item, bytes) {
            Ok(true) => self.ask(now, port, gateway, None),
            Ok(false) => {}
            Err(item) => self.drop_waiting(item, DropReason::NoAdjacency),
        }
    }

    pub(super) fn drop_waiting(&mut self, item: Waiting, reason: DropReason) {
        match item {
            Waiting::Transit(port, frame) | Waiting::Copy(port, frame, _) => self.lose(port, frame, reason),
            Waiting::Own(..) | Waiting::Along(..) | Waiting::Labelled(..) => self.own.count(reason),
        }
    }

    /// Asks for a neighbour: everybody, or only who was known to be it.
    fn ask(&mut self, now: Time, port: PortId, gateway: IpAddr, known: Option<MacAddr>) {
        let gateway = match gateway {
            IpAddr::V4(gateway) => gateway,
            IpAddr::V6(gateway) => return self.ask6(now, port, gateway, known),
        };
        let Some(setup) = self.config.ports.get(port.index()).copied() else { return };
        let request = arp::Repr {
            operation: arp::Operation::REQUEST,
            sender_mac: setup.mac,
            sender_ip: setup.address,
            target_mac: known.unwrap_or_default(),
            target_ip: gateway,
        };
        self.send_arp(now, port, &request);
    }

    fn send_arp(&mut self, now: Time, port: PortId, repr: &arp::Repr) {
        let frame = arp_frame(repr);
        self.plane.forwarding_mut().count_tx(port, &frame);
        self.originated += 1;
        self.transmit(now, port, frame);
    }

    pub(super) fn neighbors_due(&mut self, now: Time) {
        if self.neighbors.next().is_none_or(|at| at > now) {
            return;
        }
        for due in self.neighbors.due(now) {
            match due {
                Due::Ask(port, gateway, known) => self.ask(now, port, gateway, known),
                Due::Wake(port) => self.wake6(now, port),
                Due::Gone(port, gateway) => {
                    self.write(now, vec![TableOp::AdjacencyRemove { port, gateway }]);
                }
                Due::GiveUp(_, waiting, reason) => {
                    for item in waiting {
                        if let Waiting::Transit(port, frame) | Waiting::Copy(port, frame, _) = &item {
                            // RFC 1812, 5.2.7.1; RFC 4861, 7.2.2: the last router says that the host can't be reached.
                            self.report(now, *port, frame, IcmpError::HostUnreachable);
                        }
                        self.drop_waiting(item, reason);
                    }
                }
            }
        }
    }
}
