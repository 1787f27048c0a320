//! The hidden port beside every router, where test packets begin and end (decision 0009): where it is, and what stands
//! there if nobody measures.

use crate::addressing;
use base::device::{DropCounters, DropReason};
use base::{Command, Device, Frame, MacAddr, Output, PortId, Time};
use core::net::{Ipv4Addr, Ipv6Addr};
use node::discovery::{Heard, Own, hear_frame};
use node::neighbors::arp_frame;
use std::collections::VecDeque;
use wire::{arp, ethernet};

/// Where a hidden port is.
#[derive(Clone, Copy, Debug)]
pub struct BesideConfig {
    /// Its Ethernet address, that ARP answers with.
    pub mac: MacAddr,
    /// Its IPv4 address on the link.
    pub address: Ipv4Addr,
    /// The router beside it.
    pub gateway: Ipv4Addr,
    /// The same of IPv6: its address, and the router's; absent where the router has no IPv6.
    pub ipv6: Option<(Ipv6Addr, Ipv6Addr)>,
}

impl BesideConfig {
    /// The port beside the router at `node`, with an Ethernet address.
    pub(crate) fn of(node: usize, mac: MacAddr, has_ipv6: bool) -> BesideConfig {
        let address = addressing::probe(node);
        let ipv6 = has_ipv6.then(|| (addressing::probe6(node), addressing::beside6(node)));
        BesideConfig { mac, address, gateway: Ipv4Addr::from_bits(address.to_bits() + 1), ipv6 }
    }

    /// Its addresses as neighbour discovery has them, if it has one of IPv6.
    pub fn own6(&self) -> Option<Own> {
        self.ipv6.map(|(address, _)| Own { mac: self.mac, address, router: false })
    }
}

/// Makes the device that stands beside a router.
pub type MakeBeside = fn(BesideConfig) -> Box<dyn Device>;

/// What stands there if nobody measures: test packets come to their end as they would at an instrument.
pub fn quiet(config: BesideConfig) -> Box<dyn Device> {
    Box::new(QuietPort { config, outputs: VecDeque::new(), drops: DropCounters::default() })
}

/// It answers ARP for every address but the router's, so that the router sends test packets there, and neighbour
/// discovery for its own; it discards all else that comes.
#[derive(Debug)]
pub struct QuietPort {
    config: BesideConfig,
    outputs: VecDeque<Output>,
    drops: DropCounters,
}

impl QuietPort {
    /// Frames discarded.
    pub fn drops(&self) -> &DropCounters {
        &self.drops
    }

    fn answer(&mut self, now: Time, bytes: &[u8]) -> Option<()> {
        let packet = arp::Packet::new_checked(bytes.get(ethernet::HEADER_LEN..)?).ok()?;
        let asked = arp::Repr::parse(&packet).ok()?;
        if asked.operation == arp::Operation::REQUEST && asked.target_ip != self.config.gateway {
            let answer = arp::Repr {
                operation: arp::Operation::REPLY,
                sender_mac: self.config.mac,
                sender_ip: asked.target_ip,
                target_mac: asked.sender_mac,
                target_ip: asked.sender_ip,
            };
            let frame = arp_frame(&answer);
            self.outputs.push_back(Output::Transmit { port: PortId(0), frame, ready: now });
        }
        Some(())
    }

    fn answer6(&mut self, now: Time, bytes: &[u8]) -> Option<()> {
        let own = self.config.own6()?;
        let Heard::Asked { target, asker: Some((asker, Some(mac))) } = hear_frame(&own, bytes)? else {
            return None;
        };
        let frame = own.answer(target, Some((asker, mac)));
        self.outputs.push_back(Output::Transmit { port: PortId(0), frame, ready: now });
        Some(())
    }
}

impl Device for QuietPort {
    fn handle_packet(&mut self, now: Time, port: PortId, frame: Frame) {
        let bytes = frame.to_vec();
        let answered = match bytes.get(12..14) {
            Some([0x08, 0x06]) => self.answer(now, &bytes),
            Some([0x86, 0xdd]) => self.answer6(now, &bytes),
            _ => None,
        };
        if answered.is_none() {
            let reason = DropReason::NoListener;
            self.drops.count(reason);
            self.outputs.push_back(Output::Discard { port, frame, reason });
        }
    }

    fn handle_timeout(&mut self, _: Time) {}

    fn handle_command(&mut self, _: Time, _: Command) {}

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        None
    }
}
