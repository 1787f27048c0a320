//! Setting fields of a packet.

use super::layout::{Network, kinds, protocols};
use super::packet::Packet;
use wire::openflow::v1_3::OxmField;

impl Packet {
    /// Sets a field that the frame has; one that it does not have is left alone. A VLAN or its priority makes a tag
    /// where there is none, and ports are those of whatever protocol has them: version 1.0 has it so, and version 1.3
    /// asks for the protocol before it lets a field be set.
    pub(super) fn set(&mut self, field: OxmField, value: u128) {
        use OxmField::*;
        if self.is_stale {
            self.read();
        }
        let bytes = value.to_be_bytes();
        let last = |len: usize| &bytes[16 - len..];
        match field {
            EthDst => self.put(0, last(6)),
            EthSrc => self.put(6, last(6)),
            EthType => self.put(self.layout.kind_at, last(2)),
            VlanVid | VlanPcp => {
                if !self.layout.is_tagged {
                    self.push_vlan(kinds::VLAN);
                }
                let tag = self.two(14);
                let tag = match field {
                    VlanVid => tag & 0xf000 | value as u16 & 0xfff,
                    _ => tag & 0x1fff | (value as u16 & 7) << 13,
                };
                self.put(14, &tag.to_be_bytes());
            }
            MplsLabel | MplsTc | MplsBos => self.set_label_entry(field, value as u32),
            PbbIsid => {
                if let Some(at) = self.layout.pbb {
                    self.put(at + 1, last(3));
                }
            }
            TunnelId => self.fields.set(TunnelId, value),
            ArpOp | ArpSpa | ArpTpa | ArpSha | ArpTha => {
                let (offset, len) = match field {
                    ArpOp => (6, 2),
                    ArpSha => (8, 6),
                    ArpSpa => (14, 4),
                    ArpTha => (18, 6),
                    _ => (24, 4),
                };
                if let Some((Network::Arp, at)) = self.layout.network {
                    self.put(at + offset, last(len));
                }
            }
            IpDscp | IpEcn | IpProto | Ipv4Src | Ipv4Dst | Ipv6Src | Ipv6Dst | Ipv6Flabel => {
                self.set_network(field, value);
            }
            TcpSrc | UdpSrc | SctpSrc | TcpDst | UdpDst | SctpDst => {
                let place = usize::from(matches!(field, TcpDst | UdpDst | SctpDst)) * 2;
                match self.layout.transport {
                    Some((protocols::TCP | protocols::UDP, at)) => {
                        self.replace(at + place, last(2), &[self.transport_checksum()]);
                    }
                    Some((protocols::SCTP, at)) => {
                        self.put(at + place, last(2));
                        self.sum_sctp(at);
                    }
                    _ => {}
                }
            }
            Icmpv4Type | Icmpv4Code | Icmpv6Type | Icmpv6Code => {
                if let Some((protocols::ICMP | protocols::ICMPV6, at)) = self.layout.transport {
                    let old = self.two(at);
                    let is_type = matches!(field, Icmpv4Type | Icmpv6Type);
                    let new = if is_type {
                        old & 0xff | (value as u16) << 8
                    } else {
                        old & 0xff00 | value as u16 & 0xff
                    };
                    self.replace(at, &new.to_be_bytes(), &[self.transport_checksum()]);
                }
            }
            Ipv6NdTarget | Ipv6NdSll | Ipv6NdTll => {
                let at = match field {
                    Ipv6NdTarget if self.fields.get(Ipv6NdTarget) == 0 => None,
                    Ipv6NdTarget => self.layout.transport.map(|(_, at)| at + 8),
                    Ipv6NdSll => self.layout.link_addresses[0],
                    _ => self.layout.link_addresses[1],
                };
                if let Some(at) = at {
                    self.replace(at, last(field.value_len()), &[self.transport_checksum()]);
                }
            }
            // No version lets these be set.
            InPort | InPhyPort | Metadata | Ipv6Exthdr => {}
        }
    }

    fn set_network(&mut self, field: OxmField, value: u128) {
        use OxmField::*;
        let bytes = value.to_be_bytes();
        match (self.layout.network, field) {
            (Some((Network::Ipv4, at)), Ipv4Src | Ipv4Dst) => {
                let place = at + if field == Ipv4Src { 12 } else { 16 };
                self.replace(place, &bytes[12..], &[Some(at + 10), self.pseudo_header_checksum()]);
            }
            (Some((Network::Ipv4, at)), IpDscp | IpEcn) => {
                let old = self.two(at);
                let new = match field {
                    IpDscp => old & 0xff03 | (value as u16 & 63) << 2,
                    _ => old & 0xfffc | value as u16 & 3,
                };
                self.replace(at, &new.to_be_bytes(), &[Some(at + 10)]);
            }
            // It is in the pseudo header of the transport layer, too (RFC 9293, 3.1; RFC 8200, 8.1).
            (Some((network @ (Network::Ipv4 | Network::Ipv6), at)), IpProto) => {
                let own = Some(at + 10).filter(|_| network == Network::Ipv4);
                if let Some(place) = self.layout.protocol_at {
                    self.replace(place, &[value as u8], &[own, self.pseudo_header_checksum()]);
                    self.read();
                }
            }
            (Some((Network::Ipv6, at)), Ipv6Src | Ipv6Dst) => {
                let place = at + if field == Ipv6Src { 8 } else { 24 };
                self.replace(place, &bytes, &[self.pseudo_header_checksum()]);
            }
            (Some((Network::Ipv6, at)), IpDscp | IpEcn | Ipv6Flabel) => {
                let old = u32::from(self.two(at)) << 16 | u32::from(self.two(at + 2));
                let (ones, shift) = match field {
                    IpDscp => (0x3f, 22),
                    IpEcn => (3, 20),
                    _ => (0xf_ffff, 0),
                };
                let new = old & !(ones << shift) | (value as u32 & ones) << shift;
                self.put(at, &new.to_be_bytes());
            }
            _ => {}
        }
    }

    fn set_label_entry(&mut self, field: OxmField, value: u32) {
        let Some(at) = self.layout.mpls else { return };
        let (ones, shift) = match field {
            OxmField::MplsLabel => (0xf_ffff, 12),
            OxmField::MplsTc => (7, 9),
            _ => (1, 8),
        };
        let new = self.entry(at) & !(ones << shift) | (value & ones) << shift;
        self.put(at, &new.to_be_bytes());
    }

    /// A label stack entry.
    pub(super) fn entry(&self, at: usize) -> u32 {
        u32::from(self.two(at)) << 16 | u32::from(self.two(at + 2))
    }

    /// Writes the checksum of SCTP anew (RFC 9260, appendix A): a CRC over all of it with zeros in its place.
    fn sum_sctp(&mut self, at: usize) {
        let all = self.frame.to_vec();
        let end = match self.layout.network {
            Some((Network::Ipv4, ip)) => ip + usize::from(self.two(ip + 2)),
            Some((Network::Ipv6, ip)) => ip + 40 + usize::from(self.two(ip + 4)),
            _ => return,
        };
        let Some(sctp) = all.get(at..end.min(all.len())).filter(|sctp| sctp.len() >= 12) else { return };
        let mut crc = u32::MAX;
        for (place, byte) in sctp.iter().enumerate() {
            crc ^= u32::from(if (8..12).contains(&place) { 0 } else { *byte });
            for _ in 0..8 {
                crc = if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
            }
        }
        self.put(at + 8, &(!crc).to_le_bytes());
    }
}
