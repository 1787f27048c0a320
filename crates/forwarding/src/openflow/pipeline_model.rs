//! What tests compare the datapath with.

use super::Fields;
use core::net::{Ipv4Addr, Ipv6Addr};
use wire::checksum;
use wire::openflow::v1_3::{Action, OxmField};

/// A packet as a list of headers, which is written anew after each change: the slow way to do what actions do.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Model {
    pub(super) dst: [u8; 6],
    pub(super) src: [u8; 6],
    pub(super) tags: Vec<(u16, u16)>,
    /// Label stack entries, the top first.
    pub(super) labels: Vec<u32>,
    pub(super) network: Network,
    pub(super) dscp: u8,
    pub(super) ecn: u8,
    pub(super) ttl: u8,
    pub(super) protocol: u8,
    pub(super) ports: (u16, u16),
    pub(super) payload: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Network {
    V4(Ipv4Addr, Ipv4Addr),
    V6(Ipv6Addr, Ipv6Addr, u32),
}

impl Model {
    pub(super) fn kind(&self) -> u16 {
        match self.network {
            Network::V4(..) => 0x0800,
            Network::V6(..) => 0x86dd,
        }
    }

    pub(super) fn transport(&self) -> Vec<u8> {
        let mut bytes = [self.ports.0.to_be_bytes(), self.ports.1.to_be_bytes()].concat();
        let place = match self.protocol {
            6 => {
                bytes.extend([0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 1, 0, 0, 0, 0, 0]);
                16
            }
            _ => {
                bytes.extend(((8 + self.payload.len()) as u16).to_be_bytes());
                bytes.extend([0, 0]);
                6
            }
        };
        bytes.extend(&self.payload);
        let len = bytes.len() as u32;
        let pseudo = match self.network {
            Network::V4(src, dst) => checksum::pseudo_header(src, dst, self.protocol, len),
            Network::V6(src, dst, _) => checksum::pseudo_header_v6(src, dst, self.protocol, len),
        };
        let sum = match !checksum::combine(&[pseudo, checksum::sum(&bytes)]) {
            0 if self.protocol == 17 => 0xffff,
            sum => sum,
        };
        bytes[place..place + 2].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = [self.dst, self.src].concat();
        for (kind, tag) in &self.tags {
            bytes.extend([kind.to_be_bytes(), tag.to_be_bytes()].concat());
        }
        let kind = if self.labels.is_empty() { self.kind() } else { 0x8847 };
        bytes.extend(kind.to_be_bytes());
        self.labels.iter().for_each(|entry| bytes.extend(entry.to_be_bytes()));
        let transport = self.transport();
        let tos = self.dscp << 2 | self.ecn;
        match self.network {
            Network::V4(src, dst) => {
                let mut ip = vec![0x45, tos];
                ip.extend((20 + transport.len() as u16).to_be_bytes());
                ip.extend([0, 7, 0, 0, self.ttl, self.protocol, 0, 0]);
                ip.extend(src.octets());
                ip.extend(dst.octets());
                let sum = !checksum::sum(&ip);
                ip[10..12].copy_from_slice(&sum.to_be_bytes());
                bytes.extend(ip);
            }
            Network::V6(src, dst, label) => {
                bytes.extend((6 << 28 | u32::from(tos) << 20 | label).to_be_bytes());
                bytes.extend((transport.len() as u16).to_be_bytes());
                bytes.extend([self.protocol, self.ttl]);
                bytes.extend(src.octets());
                bytes.extend(dst.octets());
            }
        }
        bytes.extend(transport);
        bytes
    }

    /// Every field by its definition.
    pub(super) fn fields(&self, in_port: u32) -> Fields {
        use OxmField::*;
        let number = |bytes: &[u8]| bytes.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte));
        let mut all = vec![
            (InPort, in_port.into()),
            (InPhyPort, in_port.into()),
            (EthDst, number(&self.dst)),
            (EthSrc, number(&self.src)),
        ];
        if let Some((_, tag)) = self.tags.first() {
            all.extend([(VlanVid, u128::from(tag & 0xfff | 0x1000)), (VlanPcp, u128::from(tag >> 13))]);
        }
        if let Some(entry) = self.labels.first() {
            let entry = u128::from(*entry);
            all.extend([
                (EthType, 0x8847),
                (MplsLabel, entry >> 12),
                (MplsTc, entry >> 9),
                (MplsBos, entry >> 8),
            ]);
        } else {
            all.extend([
                (EthType, self.kind().into()),
                (IpDscp, self.dscp.into()),
                (IpEcn, self.ecn.into()),
                (IpProto, self.protocol.into()),
                (TcpSrc, self.ports.0.into()),
                (TcpDst, self.ports.1.into()),
            ]);
            match self.network {
                Network::V4(src, dst) => {
                    all.extend([(Ipv4Src, src.to_bits().into()), (Ipv4Dst, dst.to_bits().into())])
                }
                Network::V6(src, dst, label) => all.extend([
                    (Ipv6Src, src.to_bits()),
                    (Ipv6Dst, dst.to_bits()),
                    (Ipv6Flabel, label.into()),
                ]),
            }
        }
        let mut fields = Fields::NONE;
        all.into_iter().for_each(|(field, value)| fields.set(field, value));
        fields
    }

    /// Does an action; false if a TTL is over.
    pub(super) fn act(&mut self, action: &Action) -> bool {
        use OxmField::*;
        let is_open = self.labels.is_empty();
        match action {
            Action::PushVlan { ethertype } => {
                let tag = self.tags.first().map_or(0, |tag| tag.1);
                self.tags.insert(0, (*ethertype, tag));
            }
            Action::PopVlan => drop(self.tags.drain(..self.tags.len().min(1))),
            Action::PushMpls { .. } => {
                let ttl = u32::from(self.ttl);
                let entry = self.labels.first().map_or(0x100 | ttl, |entry| entry & !0x100);
                self.labels.insert(0, entry);
            }
            Action::PopMpls { .. } => drop(self.labels.drain(..self.labels.len().min(1))),
            Action::SetMplsTtl { ttl } => {
                if let Some(entry) = self.labels.first_mut() {
                    *entry = *entry & !0xff | u32::from(*ttl);
                }
            }
            Action::DecMplsTtl => match self.labels.first_mut() {
                Some(entry) if *entry & 0xff < 2 => return false,
                Some(entry) => *entry -= 1,
                None => {}
            },
            Action::SetNwTtl { ttl } if is_open => self.ttl = *ttl,
            Action::DecNwTtl if is_open && self.ttl < 2 => return false,
            Action::DecNwTtl if is_open => self.ttl -= 1,
            Action::CopyTtlOut | Action::CopyTtlIn if is_open => {}
            Action::CopyTtlOut => {
                let inner = self.labels.get(1).map_or(u32::from(self.ttl), |entry| entry & 0xff);
                self.labels[0] = self.labels[0] & !0xff | inner;
            }
            Action::CopyTtlIn => {
                let outer = self.labels[0] & 0xff;
                match self.labels.get_mut(1) {
                    Some(entry) => *entry = *entry & !0xff | outer,
                    None => self.ttl = outer as u8,
                }
            }
            Action::SetField { set } => {
                let value = set.0.value;
                let [.., a, b, c, d, e, f] = value.to_be_bytes();
                let address = [a, b, c, d, e, f];
                match set.0.field {
                    EthDst => self.dst = address,
                    EthSrc => self.src = address,
                    VlanVid | VlanPcp => {
                        if self.tags.is_empty() {
                            self.tags.push((0x8100, 0));
                        }
                        let tag = &mut self.tags[0].1;
                        *tag = match set.0.field {
                            VlanVid => *tag & 0xf000 | value as u16 & 0xfff,
                            _ => *tag & 0x1fff | (value as u16) << 13,
                        };
                    }
                    MplsLabel if !is_open => self.labels[0] = self.labels[0] & 0xfff | (value as u32) << 12,
                    MplsTc if !is_open => self.labels[0] = self.labels[0] & !0xe00 | (value as u32) << 9,
                    IpDscp if is_open => self.dscp = value as u8,
                    IpEcn if is_open => self.ecn = value as u8,
                    TcpSrc if is_open => self.ports.0 = value as u16,
                    UdpDst if is_open => self.ports.1 = value as u16,
                    field if is_open => match (&mut self.network, field) {
                        (Network::V4(src, _), Ipv4Src) => *src = Ipv4Addr::from_bits(value as u32),
                        (Network::V4(_, dst), Ipv4Dst) => *dst = Ipv4Addr::from_bits(value as u32),
                        (Network::V6(src, ..), Ipv6Src) => *src = Ipv6Addr::from_bits(value),
                        (Network::V6(_, dst, _), Ipv6Dst) => *dst = Ipv6Addr::from_bits(value),
                        (Network::V6(_, _, label), Ipv6Flabel) => *label = value as u32,
                        _ => {}
                    },
                    _ => {}
                }
            }
            _ => {}
        }
        true
    }
}
