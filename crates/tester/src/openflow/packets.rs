//! Test packets, and the entries that they match.

use super::settings::Settings;
use base::{Dscp, MacAddr, Time};
use core::net::Ipv4Addr;
use wire::openflow::v1_0::{Match, VLAN_NONE};
use wire::openflow::v1_3::{self, Oxm, OxmField};
use wire::{ethernet, ipv4, udp};

/// Addresses of test packets, from a block that is set aside for tests of devices (RFC 2544, C.2.2).
const FROM: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
const TO: Ipv4Addr = Ipv4Addr::new(198, 19, 0, 1);
/// Their Ethernet addresses, which are nobody's.
const MACS: [MacAddr; 2] = [MacAddr([2, 0x54, 0, 0, 0, 1]), MacAddr([2, 0x54, 0, 0, 0, 2])];
/// The UDP port that they come from.
const SRC_PORT: u16 = 9;
/// What a stamp begins with.
const MAGIC: [u8; 4] = *b"2pOF";
/// Where a stamp begins.
const STAMP: usize = ethernet::HEADER_LEN + ipv4::MIN_HEADER_LEN + udp::HEADER_LEN;
/// Bytes of a stamp: what it begins with, what the packet is of, its number, and when it was sent.
const STAMP_LEN: usize = 4 + 4 + 8 + 8;
/// The shortest packet that has room for a stamp.
pub const SIZE_MIN: u32 = (STAMP + STAMP_LEN) as u32;

/// What a packet says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The entry that it is for, from 0.
    pub entry: u32,
    /// Its number among the packets of the test.
    pub number: u64,
    /// When it was sent.
    pub sent: Time,
}

/// The addresses that only packets of an entry have: two bytes of the destination, and the UDP port.
fn own(entry: u32) -> (Ipv4Addr, u16) {
    let high = Ipv4Addr::from_bits(TO.to_bits() + ((entry >> 15) << 8));
    (high, 0x8000 | (entry & 0x7fff) as u16)
}

/// The packet of an entry.
pub fn packet(settings: &Settings, stamp: Stamp) -> Vec<u8> {
    let len = settings.size.max(SIZE_MIN) as usize;
    let mut bytes = vec![0; len];
    let (dst, port) = own(stamp.entry);
    ethernet::Repr::untagged(MACS[1], MACS[0], ethernet::EtherType::IPV4).emit(&mut bytes);
    let payload_len = (len - ethernet::HEADER_LEN - ipv4::MIN_HEADER_LEN) as u16;
    let ip = ipv4::Repr {
        src: FROM,
        dst,
        protocol: ipv4::Protocol::UDP,
        ttl: 64,
        dscp: Dscp::default(),
        ecn: 0,
        ident: 0,
        dont_fragment: true,
        more_fragments: false,
        fragment_offset: 0,
        payload_len,
        options: ipv4::Options::NONE,
    };
    ip.emit(&mut bytes[ethernet::HEADER_LEN..]);
    let at = ethernet::HEADER_LEN + ipv4::MIN_HEADER_LEN;
    // Without a checksum (RFC 768), as a generator in hardware does it.
    bytes[at..at + 2].copy_from_slice(&SRC_PORT.to_be_bytes());
    bytes[at + 2..at + 4].copy_from_slice(&port.to_be_bytes());
    bytes[at + 4..at + 6].copy_from_slice(&payload_len.to_be_bytes());
    bytes[STAMP..STAMP + 4].copy_from_slice(&MAGIC);
    bytes[STAMP + 4..STAMP + 8].copy_from_slice(&stamp.entry.to_be_bytes());
    bytes[STAMP + 8..STAMP + 16].copy_from_slice(&stamp.number.to_be_bytes());
    bytes[STAMP + 16..STAMP + 24].copy_from_slice(&stamp.sent.0.to_be_bytes());
    bytes
}

/// The same without a stamp: a packet between two stamped ones.
pub fn filler(settings: &Settings, entry: u32) -> Vec<u8> {
    let mut bytes = packet(settings, Stamp { entry, number: 0, sent: Time::ZERO });
    bytes[STAMP..STAMP + STAMP_LEN].fill(0);
    bytes
}

/// What a packet says of itself, if it is one of these.
pub fn stamp(bytes: &[u8]) -> Option<Stamp> {
    let stamp = bytes.get(STAMP..STAMP + STAMP_LEN)?;
    if stamp[..4] != MAGIC {
        return None;
    }
    let word = |at: usize| stamp.get(at..)?.first_chunk::<8>().map(|bytes| u64::from_be_bytes(*bytes));
    let entry = u32::from_be_bytes(*stamp.get(4..)?.first_chunk()?);
    Some(Stamp { entry, number: word(8)?, sent: Time(word(16)?) })
}

/// The match of an entry in version 1.0: every field, as packets that come in by a port have it.
pub fn exact_1_0(entry: u32, in_port: u16) -> Match {
    let (nw_dst, tp_dst) = own(entry);
    Match {
        wildcards: 0,
        in_port,
        dl_src: MACS[0],
        dl_dst: MACS[1],
        dl_vlan: VLAN_NONE,
        dl_vlan_pcp: 0,
        dl_type: ethernet::EtherType::IPV4.0,
        nw_tos: 0,
        nw_proto: ipv4::Protocol::UDP.0,
        nw_src: FROM,
        nw_dst,
        tp_src: SRC_PORT,
        tp_dst,
    }
}

/// The same in version 1.3: the same fields, each after those that it needs.
pub fn exact_1_3(entry: u32, in_port: u16) -> v1_3::Match {
    let (dst, port) = own(entry);
    let address = |mac: MacAddr| mac.0.iter().fold(0u128, |sum, byte| sum << 8 | u128::from(*byte));
    let fields = [
        (OxmField::InPort, in_port.into()),
        (OxmField::EthDst, address(MACS[1])),
        (OxmField::EthSrc, address(MACS[0])),
        (OxmField::EthType, ethernet::EtherType::IPV4.0.into()),
        (OxmField::VlanVid, 0),
        (OxmField::IpDscp, 0),
        (OxmField::IpProto, ipv4::Protocol::UDP.0.into()),
        (OxmField::Ipv4Src, FROM.to_bits().into()),
        (OxmField::Ipv4Dst, dst.to_bits().into()),
        (OxmField::UdpSrc, SRC_PORT.into()),
        (OxmField::UdpDst, port.into()),
    ];
    v1_3::Match { fields: fields.map(|(field, value)| Oxm::exact(field, value)).into() }
}
