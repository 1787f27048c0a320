//! Random frames with few values in them, so that entries which are made for one match others, too; and the fields that
//! each of them has.

use super::dice::Dice;
use super::subject::PORTS;
use core::net::{Ipv4Addr, Ipv6Addr};
use wire::checksum;
use wire::openflow::v1_3::{OxmField, VLAN_PRESENT};

/// What is behind Ethernet, tags and labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Network {
    Ipv4 { src: Ipv4Addr, dst: Ipv4Addr, fragment: u16 },
    Ipv6 { src: Ipv6Addr, dst: Ipv6Addr, label: u32 },
    Arp { operation: u16, spa: Ipv4Addr, tpa: Ipv4Addr, sha: u64, tha: u64 },
    Other(u16),
}

/// What is behind IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Ports { protocol: u8, src: u16, dst: u16 },
    Icmp { kind: u8, code: u8 },
    Solicitation { target: u128, source: u64 },
    Other(u8),
}

/// A frame, and by which port it comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    pub port: u32,
    pub dst: u64,
    pub src: u64,
    /// Tags, the outermost first: type and content.
    pub tags: Vec<(u16, u16)>,
    /// Label stack entries, the top first, without the bit of the last.
    pub labels: Vec<u32>,
    pub network: Network,
    pub dscp: u8,
    pub ecn: u8,
    pub ttl: u8,
    pub transport: Transport,
    /// How many bytes of payload follow the last header.
    pub payload: u8,
}

const ICMP: u8 = 1;
const UDP: u8 = 17;
const SCTP: u8 = 132;
const ICMPV6: u8 = 58;

fn ipv4(dice: &mut Dice) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, dice.below(2) as u8, dice.pick(&[1, 2, 3, 130]))
}

fn ipv6(dice: &mut Dice) -> Ipv6Addr {
    Ipv6Addr::new(0x2001, 0xdb8, 0, dice.below(2) as u16, 0, 0, 0, dice.pick(&[1, 2, 0x8003]))
}

pub fn mac(dice: &mut Dice) -> u64 {
    dice.pick(&[0x0200_0000_0001, 0x0200_0000_0002, 0x0200_0000_0103, 0x0200_0000_0001, 0x0300_0000_0004])
}

impl Packet {
    pub fn random(dice: &mut Dice) -> Packet {
        let network = match dice.below(10) {
            0..=3 => {
                let fragment = if dice.chance(8) { dice.pick(&[0x2000, 0x2003, 0x0005]) } else { 0x4000 };
                Network::Ipv4 { src: ipv4(dice), dst: ipv4(dice), fragment }
            }
            4..=6 => Network::Ipv6 { src: ipv6(dice), dst: ipv6(dice), label: dice.pick(&[0, 7, 0x8_0001]) },
            7..=8 => {
                let (spa, tpa) = (ipv4(dice), ipv4(dice));
                let operation = dice.pick(&[1, 2]);
                Network::Arp { operation, spa, tpa, sha: mac(dice), tha: mac(dice) }
            }
            _ => Network::Other(dice.pick(&[0x88b5, 0x88b6])),
        };
        let is_v6 = matches!(network, Network::Ipv6 { .. });
        let transport = match dice.below(8) {
            0..=4 => {
                let protocol = dice.pick(&[6, UDP, SCTP]);
                Transport::Ports { protocol, src: dice.pick(&[1, 2, 80]), dst: dice.pick(&[1, 2, 443]) }
            }
            5 => Transport::Icmp {
                kind: dice.pick(if is_v6 { &[128, 129] } else { &[0, 8] }),
                code: dice.pick(&[0, 1]),
            },
            6 if is_v6 => Transport::Solicitation { target: ipv6(dice).to_bits(), source: mac(dice) },
            _ => Transport::Other(dice.pick(&[47, 89])),
        };
        // See `later-fragments`.
        let network = match (network, transport) {
            (Network::Ipv4 { src, dst, fragment }, Transport::Ports { .. }) if fragment & 0x1fff != 0 => {
                Network::Ipv4 { src, dst, fragment: 0x2000 }
            }
            (network, _) => network,
        };
        let tags = match dice.below(10) {
            0..=5 => 0,
            6..=8 => 1,
            _ => 2,
        };
        let tag = |dice: &mut Dice| (0x8100, dice.pick(&[0, 1, 2]) << 13 | dice.pick(&[1, 2, 3]));
        Packet {
            port: 1 + dice.below(PORTS as u64) as u32,
            dst: mac(dice),
            src: mac(dice) & !(1 << 40),
            tags: (0..tags).map(|_| tag(dice)).collect(),
            labels: (0..[0, 0, 0, 0, 1, 1, 2, 3][dice.below(8) as usize])
                .map(|_| {
                    dice.pick(&[16, 17, 1000]) << 12 | dice.pick(&[0, 3]) << 9 | dice.pick(&[1u32, 2, 64])
                })
                .collect(),
            network,
            // Classes whose lower bits are zero: a label of Open vSwitch takes those (difference `first-label`).
            dscp: dice.pick(&[0, 8, 40]),
            ecn: dice.pick(&[0, 1]),
            ttl: dice.pick(&[1, 2, 64, 64]),
            transport,
            payload: dice.pick(&[0, 7, 40]),
        }
    }

    fn kind(&self) -> u16 {
        match (&self.network, self.labels.is_empty()) {
            (_, false) => 0x8847,
            (Network::Ipv4 { .. }, _) => 0x0800,
            (Network::Ipv6 { .. }, _) => 0x86dd,
            (Network::Arp { .. }, _) => 0x0806,
            (Network::Other(kind), _) => *kind,
        }
    }

    fn protocol(&self) -> u8 {
        match self.transport {
            Transport::Ports { protocol, .. } | Transport::Other(protocol) => protocol,
            Transport::Icmp { .. } if matches!(self.network, Network::Ipv6 { .. }) => ICMPV6,
            Transport::Icmp { .. } => ICMP,
            Transport::Solicitation { .. } => ICMPV6,
        }
    }

    /// The fields that it has, in the order of their numbers, whatever each of them needs before it.
    pub fn fields(&self) -> Vec<(OxmField, u128)> {
        use OxmField::*;
        let mut fields: Vec<(OxmField, u128)> = vec![
            (InPort, self.port.into()),
            (Metadata, 0),
            (EthDst, self.dst.into()),
            (EthSrc, self.src.into()),
            (EthType, self.kind().into()),
        ];
        match self.tags.first() {
            Some((_, tag)) => {
                fields.push((VlanVid, (tag & 0xfff | VLAN_PRESENT).into()));
                fields.push((VlanPcp, (tag >> 13).into()));
            }
            None => fields.push((VlanVid, 0)),
        }
        if let Some(top) = self.labels.first() {
            let is_last = self.labels.len() == 1;
            fields.extend([
                (MplsLabel, (top >> 12).into()),
                (MplsTc, (top >> 9 & 7).into()),
                (MplsBos, is_last.into()),
            ]);
            return fields;
        }
        let ip = [(IpDscp, self.dscp.into()), (IpEcn, self.ecn.into()), (IpProto, self.protocol().into())];
        match &self.network {
            Network::Ipv4 { src, dst, .. } => {
                fields.extend(ip);
                fields.extend([(Ipv4Src, src.to_bits().into()), (Ipv4Dst, dst.to_bits().into())]);
                fields.extend(self.transport_fields());
            }
            Network::Ipv6 { src, dst, label } => {
                fields.extend(ip);
                let (transport, discovery): (Vec<_>, Vec<_>) =
                    self.transport_fields().into_iter().partition(|(field, _)| *field < Icmpv6Type);
                fields.extend(transport);
                fields.extend([
                    (Ipv6Src, src.to_bits()),
                    (Ipv6Dst, dst.to_bits()),
                    (Ipv6Flabel, (*label).into()),
                ]);
                fields.extend(discovery);
            }
            Network::Arp { operation, spa, tpa, sha, tha } => fields.extend([
                (ArpOp, (*operation).into()),
                (ArpSpa, spa.to_bits().into()),
                (ArpTpa, tpa.to_bits().into()),
                (ArpSha, (*sha).into()),
                (ArpTha, (*tha).into()),
            ]),
            Network::Other(_) => {}
        }
        fields
    }

    fn transport_fields(&self) -> Vec<(OxmField, u128)> {
        use OxmField::*;
        let is_v6 = matches!(self.network, Network::Ipv6 { .. });
        match self.transport {
            Transport::Ports { protocol, src, dst } => {
                let [a, b] = match protocol {
                    UDP => [UdpSrc, UdpDst],
                    SCTP => [SctpSrc, SctpDst],
                    _ => [TcpSrc, TcpDst],
                };
                vec![(a, src.into()), (b, dst.into())]
            }
            Transport::Icmp { kind, code } if is_v6 => {
                vec![(Icmpv6Type, kind.into()), (Icmpv6Code, code.into())]
            }
            Transport::Icmp { kind, code } => vec![(Icmpv4Type, kind.into()), (Icmpv4Code, code.into())],
            Transport::Solicitation { target, source } => {
                vec![(Icmpv6Type, 135), (Icmpv6Code, 0), (Ipv6NdTarget, target), (Ipv6NdSll, source.into())]
            }
            Transport::Other(_) => Vec::new(),
        }
    }

    fn transport_bytes(&self, pseudo_header: impl Fn(u32) -> u16) -> Vec<u8> {
        let payload = (0..self.payload).map(|byte| byte ^ 0x5a);
        let (mut bytes, checksum_at) = match self.transport {
            Transport::Ports { protocol: 6, src, dst } => {
                let mut tcp = [src.to_be_bytes(), dst.to_be_bytes()].concat();
                tcp.extend([0, 0, 0, 9, 0, 0, 0, 0, 0x50, 0x10, 0x10, 0, 0, 0, 0, 0]);
                (tcp, Some(16))
            }
            Transport::Ports { protocol: UDP, src, dst } => {
                let len = 8 + u16::from(self.payload);
                ([src.to_be_bytes(), dst.to_be_bytes(), len.to_be_bytes(), [0; 2]].concat(), Some(6))
            }
            Transport::Ports { src, dst, .. } => {
                let mut sctp = [src.to_be_bytes(), dst.to_be_bytes()].concat();
                sctp.extend([0, 0, 0, 7, 0, 0, 0, 0]);
                (sctp, None)
            }
            Transport::Icmp { kind, code } => (vec![kind, code, 0, 0, 0, 1, 0, 2], Some(2)),
            Transport::Solicitation { target, source } => {
                let mut bytes = vec![135, 0, 0, 0, 0, 0, 0, 0];
                bytes.extend(target.to_be_bytes());
                bytes.extend([1, 1]);
                bytes.extend(&source.to_be_bytes()[2..]);
                (bytes, Some(2))
            }
            Transport::Other(_) => (vec![0; 8], None),
        };
        if !matches!(self.transport, Transport::Solicitation { .. }) {
            bytes.extend(payload);
        }
        if matches!(self.transport, Transport::Ports { protocol: SCTP, .. }) {
            let crc = crc32c(&bytes);
            bytes[8..12].copy_from_slice(&crc.to_le_bytes());
        }
        if let Some(at) = checksum_at {
            let is_icmp = self.protocol() == ICMP;
            let pseudo = if is_icmp { 0 } else { pseudo_header(bytes.len() as u32) };
            let sum = !checksum::combine(&[pseudo, checksum::sum(&bytes)]);
            // A UDP checksum of zero says that there is none: some frames have none.
            let is_left_out = self.protocol() == UDP && self.payload == 7 && !self.is_v6();
            let sum = if is_left_out {
                0
            } else if sum == 0 {
                0xffff
            } else {
                sum
            };
            bytes[at..at + 2].copy_from_slice(&sum.to_be_bytes());
        }
        bytes
    }

    fn is_v6(&self) -> bool {
        matches!(self.network, Network::Ipv6 { .. })
    }

    /// Its bytes as Ethernet carries them, without frame check sequence.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = [&self.dst.to_be_bytes()[2..], &self.src.to_be_bytes()[2..]].concat();
        for (kind, tag) in &self.tags {
            bytes.extend(kind.to_be_bytes());
            bytes.extend(tag.to_be_bytes());
        }
        bytes.extend(self.kind().to_be_bytes());
        for (place, entry) in self.labels.iter().enumerate() {
            let is_last = place + 1 == self.labels.len();
            bytes.extend((entry & !0x100 | u32::from(is_last) << 8).to_be_bytes());
        }
        let tos = self.dscp << 2 | self.ecn;
        match &self.network {
            Network::Ipv4 { src, dst, fragment } => {
                let pseudo = |len| checksum::pseudo_header(*src, *dst, self.protocol(), len);
                let behind = self.transport_bytes(pseudo);
                let mut header = vec![0x45, tos];
                header.extend((20 + behind.len() as u16).to_be_bytes());
                header.extend([0, 1]);
                header.extend(fragment.to_be_bytes());
                header.extend([self.ttl, self.protocol(), 0, 0]);
                header.extend(src.octets());
                header.extend(dst.octets());
                let sum = !checksum::sum(&header);
                header[10..12].copy_from_slice(&sum.to_be_bytes());
                bytes.extend(header);
                bytes.extend(behind);
            }
            Network::Ipv6 { src, dst, label } => {
                let pseudo = |len| checksum::pseudo_header_v6(*src, *dst, self.protocol(), len);
                let behind = self.transport_bytes(pseudo);
                bytes.extend((6 << 28 | u32::from(tos) << 20 | label).to_be_bytes());
                bytes.extend((behind.len() as u16).to_be_bytes());
                bytes.extend([self.protocol(), self.ttl]);
                bytes.extend(src.octets());
                bytes.extend(dst.octets());
                bytes.extend(behind);
            }
            Network::Arp { operation, spa, tpa, sha, tha } => {
                bytes.extend([0, 1, 8, 0, 6, 4]);
                bytes.extend(operation.to_be_bytes());
                bytes.extend(&sha.to_be_bytes()[2..]);
                bytes.extend(spa.octets());
                bytes.extend(&tha.to_be_bytes()[2..]);
                bytes.extend(tpa.octets());
            }
            Network::Other(_) => bytes.extend([0xa5; 20]),
        }
        bytes
    }
}

/// The checksum of SCTP (RFC 9260, appendix A).
fn crc32c(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
        }
    }
    !crc
}
