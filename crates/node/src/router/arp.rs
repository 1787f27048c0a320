//! ARP (RFC 826) on the ports of a router.

use super::{Router, Waiting};
use crate::neighbors::{Due, arp_frame};
use base::device::DropReason;
use base::plane::TableOp;
use base::{Frame, MacAddr, PortId, Time};
use core::net::Ipv4Addr;
use forwarding::icmp::IcmpError;
use wire::{arp, ethernet};

impl Router {
    pub(super) fn handle_arp(&mut self, now: Time, port: PortId, frame: &Frame) {
        let bytes = frame.to_vec();
        let payload = bytes.get(ethernet::HEADER_LEN..).unwrap_or_default();
        let parsed = arp::Packet::new_checked(payload).and_then(|packet| arp::Repr::parse(&packet));
        let Ok(repr) = parsed else {
            self.drops.count(DropReason::Malformed);
            return;
        };
        let Some(setup) = self.config.ports.get(port.index()).copied() else { return };
        let for_us = repr.target_ip == setup.address;
        // RFC 826: learn from those who ask for us; update what is known from anybody.
        if for_us || self.neighbors.contains(port, repr.sender_ip) {
            self.learn(now, port, repr.sender_ip, repr.sender_mac);
        }
        if for_us && repr.operation == arp::Operation::REQUEST {
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

    fn learn(&mut self, now: Time, port: PortId, gateway: Ipv4Addr, mac: MacAddr) {
        if mac.is_group() || gateway.is_unspecified() {
            self.drops.count(DropReason::Malformed);
            return;
        }
        let (news, waiting) = self.neighbors.learn(port, gateway, mac);
        if news {
            self.write(&[TableOp::AdjacencySet { port, gateway, mac }]);
        }
        for item in waiting {
            match item {
                Waiting::Transit(ingress, frame) => self.forward_again(now, ingress, frame),
                Waiting::Own(frame, via) => self.send(now, frame, via),
            }
        }
    }

    /// Lets something wait until the neighbour's Ethernet address is known, and asks for it.
    pub(super) fn wait_for(&mut self, now: Time, port: PortId, gateway: Ipv4Addr, item: Waiting) {
        match self.neighbors.wait(now, port, gateway, item) {
            Ok(true) => self.ask(now, port, gateway),
            Ok(false) => {}
            Err(_) => self.drops.count(DropReason::NoAdjacency),
        }
    }

    fn ask(&mut self, now: Time, port: PortId, gateway: Ipv4Addr) {
        let Some(setup) = self.config.ports.get(port.index()).copied() else { return };
        let request = arp::Repr {
            operation: arp::Operation::REQUEST,
            sender_mac: setup.mac,
            sender_ip: setup.address,
            target_mac: MacAddr::default(),
            target_ip: gateway,
        };
        self.send_arp(now, port, &request);
    }

    fn send_arp(&mut self, now: Time, port: PortId, repr: &arp::Repr) {
        let frame = arp_frame(repr);
        self.driver.forwarding_mut().count_tx(port, &frame);
        self.transmit(now, port, frame);
    }

    pub(super) fn neighbors_due(&mut self, now: Time) {
        for due in self.neighbors.due(now) {
            match due {
                Due::Ask(port, gateway) => self.ask(now, port, gateway),
                Due::GiveUp(waiting, reason) => {
                    for item in waiting {
                        self.drops.count(reason);
                        if let Waiting::Transit(port, frame) = item {
                            // RFC 1812, 5.2.7.1: the last router says that the host can't be reached.
                            self.send_icmp_error(now, port, &frame, IcmpError::HostUnreachable);
                        }
                    }
                }
            }
        }
    }
}
