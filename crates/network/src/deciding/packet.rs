//! The packet whose way is asked for: what users say of it, and its bytes.

use crate::problem::RunProblem;
use base::describe::Protocol;
use base::diagnostic::Diagnostic;
use base::flow::{FlowFilter, FlowKey};
use base::flow_spec::FilterProblem;
use base::{Dscp, Label};
use core::net::IpAddr;
use wire::checksum;
use wire::ethernet::EtherType;

base::record! {
    /// A packet whose way is asked for; nothing is sent.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PacketSpec {
        /// Where it goes: an address, or a node by its name.
        pub to: String;
        /// Its source, said alike.
        pub src: Option<String>, absent "the node where it begins";
        /// IP protocol: tcp, udp, icmp and so on, or its number.
        pub protocol: Option<Protocol>, absent "icmp";
        /// Source port.
        pub src_port: Option<u16>, absent "0";
        /// Destination port.
        pub dst_port: Option<u16>, absent "0";
        /// Code point, by name or number.
        pub dscp: Option<Dscp>, absent "0";
        /// Labels that it comes with, outermost first: as it comes from another router.
        pub labels: Vec<u32> = Vec::new(), absent "none";
    }
    check PacketSpec::check;
}

/// The time to live with which it begins: that of packets of hosts.
const TTL: u8 = 64;
/// ICMP, unless something else is said.
const ICMP: u8 = 1;

impl PacketSpec {
    /// Refuses ports of packets that have none.
    fn check(&self) -> Result<(), Diagnostic> {
        if let Some((place, label)) =
            self.labels.iter().enumerate().find(|(_, one)| **one > Label::MAX.value())
        {
            return Err(Diagnostic::new(RunProblem::NoLabel { label: *label }).at(place).at("labels"));
        }
        if self.src_port.or(self.dst_port).is_none() {
            return Ok(());
        }
        match self.protocol {
            None => Err(FilterProblem::PortsWithoutProtocol {}.into()),
            Some(Protocol(protocol)) if !FlowFilter::WITH_PORTS.contains(&protocol) => {
                Err(Diagnostic::new(FilterProblem::NoPorts { protocol }).at("protocol"))
            }
            Some(_) => Ok(()),
        }
    }

    /// The same between two addresses of one family.
    pub fn between(&self, src: IpAddr, dst: IpAddr) -> FlowKey {
        let protocol = self.protocol.map_or(ICMP, |protocol| protocol.0);
        let has_ports = FlowFilter::WITH_PORTS.contains(&protocol);
        let ports = (self.src_port.unwrap_or(0), self.dst_port.unwrap_or(0));
        FlowKey { src, dst, protocol, ports: has_ports.then_some(ports), dscp: self.dscp.unwrap_or_default() }
    }
}

/// The Ethernet frame of a packet of a flow below labels, the outermost first, with room for addresses in front. What
/// lies behind the IP header are its ports, and zeros; the class in the labels is the upper half of the code point.
pub fn frame(flow: &FlowKey, labels: &[u32]) -> Vec<u8> {
    let (from, to) = flow.ports.unwrap_or_default();
    let mut payload = [0; 20];
    payload[..2].copy_from_slice(&from.to_be_bytes());
    payload[2..4].copy_from_slice(&to.to_be_bytes());
    let class = flow.dscp.value() << 2;
    let mut bytes = vec![0; 12];
    match (flow.src, flow.dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            bytes.extend([0x08, 0x00]);
            let mut ip = [0; 20];
            (ip[0], ip[1], ip[3]) = (0x45, class, 20 + payload.len() as u8);
            (ip[8], ip[9]) = (TTL, flow.protocol);
            ip[12..16].copy_from_slice(&src.octets());
            ip[16..].copy_from_slice(&dst.octets());
            let check = !checksum::sum(&ip);
            ip[10..12].copy_from_slice(&check.to_be_bytes());
            bytes.extend(ip);
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            bytes.extend([0x86, 0xdd, 0x60 | class >> 4, class << 4, 0, 0, 0, payload.len() as u8]);
            bytes.extend([flow.protocol, TTL]);
            bytes.extend(src.octets());
            bytes.extend(dst.octets());
        }
        _ => debug_assert!(false, "both addresses are of one family"),
    }
    bytes.extend(payload);
    if let Some(bottom) = labels.len().checked_sub(1) {
        let class = u32::from(flow.dscp.value()) >> 3;
        let word = |(place, label): (usize, &u32)| {
            label << 12 | class << 9 | u32::from(place == bottom) << 8 | u32::from(TTL)
        };
        let stack = labels.iter().enumerate().map(word).flat_map(u32::to_be_bytes);
        bytes.splice(12..14, EtherType::MPLS.0.to_be_bytes().into_iter().chain(stack));
    }
    bytes
}
