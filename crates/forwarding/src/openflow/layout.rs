//! Where the headers of a frame are, and what its fields are.
//!
//! Tags of VLANs are looked behind, whatever their number; behind a label stack, and behind the tag of provider
//! backbone bridging, nothing is. A fragment of IP has no ports, not even the first of a packet, since others of its
//! flow have none: that is what Open vSwitch does, too.

use super::Fields;
use wire::openflow::v1_3::{OxmField, VLAN_PRESENT};

/// The EtherType of frames that have a length in its place and say no type behind it, as version 1.0 defines it.
const NOT_A_TYPE: u16 = 0x05ff;
/// EtherTypes.
pub(super) mod kinds {
    pub(crate) const IPV4: u16 = 0x0800;
    pub(crate) const ARP: u16 = 0x0806;
    pub(crate) const VLAN: u16 = 0x8100;
    pub(crate) const SERVICE_VLAN: u16 = 0x88a8;
    pub(crate) const IPV6: u16 = 0x86dd;
    pub(crate) const MPLS: u16 = 0x8847;
    pub(crate) const MPLS_MULTICAST: u16 = 0x8848;
    pub(crate) const PBB: u16 = 0x88e7;
}
/// Protocols of IP.
pub(super) mod protocols {
    pub(crate) const ICMP: u8 = 1;
    pub(crate) const TCP: u8 = 6;
    pub(crate) const UDP: u8 = 17;
    pub(crate) const ICMPV6: u8 = 58;
    pub(crate) const SCTP: u8 = 132;
}

/// Bytes of a tag, and of a label stack entry.
pub(super) const TAG: usize = 4;

/// A header of the network layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Network {
    Ipv4,
    Ipv6,
    Arp,
}

/// Where headers are, in bytes from the first of the frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    /// The EtherType behind all tags.
    pub(super) kind_at: usize,
    /// Its value.
    pub(super) kind: u16,
    /// Is there a VLAN tag behind the addresses?
    pub(super) is_tagged: bool,
    /// What the tag of provider backbone bridging has behind its EtherType.
    pub(super) pbb: Option<usize>,
    /// The top label stack entry.
    pub(super) mpls: Option<usize>,
    pub(super) network: Option<(Network, usize)>,
    /// The byte of IP, or of its last extension header, that names the protocol behind it.
    pub(super) protocol_at: Option<usize>,
    /// The protocol that IP names last, and where its header is; of a packet's first fragment, too.
    pub(super) transport: Option<(u8, usize)>,
    /// Is it a fragment of IP?
    pub(super) is_fragment: bool,
    /// Addresses in the options of neighbour discovery: of the source, of the target.
    pub(super) link_addresses: [Option<usize>; 2],
}

/// Bytes of a frame's beginning. What is asked for beyond them is missing, and that is noted.
struct Bytes<'a> {
    bytes: &'a [u8],
    is_short: bool,
}

impl Bytes<'_> {
    #[inline(always)]
    fn number(&mut self, at: usize, len: usize) -> Option<u128> {
        match self.bytes.get(at..at + len) {
            Some(bytes) => Some(bytes.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte))),
            None => {
                self.is_short = true;
                None
            }
        }
    }
    #[inline(always)]
    fn byte(&mut self, at: usize) -> Option<u8> {
        self.number(at, 1).map(|number| number as u8)
    }
    #[inline(always)]
    fn two(&mut self, at: usize) -> Option<u16> {
        self.number(at, 2).map(|number| number as u16)
    }
}

/// Reads the beginning of a frame into fields and a layout that say nothing yet. The result says whether more bytes of
/// it would have told more.
#[inline]
pub(super) fn read(bytes: &[u8], fields: &mut Fields, layout: &mut Layout) -> bool {
    let mut from = Bytes { bytes, is_short: false };
    let _ = ethernet(&mut from, fields, layout);
    from.is_short
}

/// Nothing where the frame ends too early; what has been found until then counts.
fn ethernet(from: &mut Bytes<'_>, fields: &mut Fields, layout: &mut Layout) -> Option<()> {
    use OxmField::*;
    fields.set(EthDst, from.number(0, 6)?);
    fields.set(EthSrc, from.number(6, 6)?);
    let (mut at, mut kind) = (12, from.two(12)?);
    while matches!(kind, kinds::VLAN | kinds::SERVICE_VLAN) {
        let (Some(tag), Some(next)) = (from.two(at + 2), from.two(at + TAG)) else { break };
        if !layout.is_tagged {
            fields.set(VlanVid, (VLAN_PRESENT | tag & 0xfff).into());
            fields.set(VlanPcp, (tag >> 13).into());
            layout.is_tagged = true;
        }
        (at, kind) = (at + TAG, next);
    }
    (layout.kind_at, layout.kind) = (at, kind);
    let mut behind = at + 2;
    if kind < 0x600 {
        // IEEE 802.2 with the header that names an EtherType (RFC 1042).
        let is_snap = from.number(behind, 6) == Some(0xaaaa_0300_0000);
        layout.kind = if is_snap { from.two(behind + 6)? } else { NOT_A_TYPE };
        behind += 8;
    }
    fields.set(EthType, layout.kind.into());
    match layout.kind {
        kinds::PBB => {
            fields.set(PbbIsid, from.number(behind + 1, 3)?);
            layout.pbb = Some(behind);
        }
        kinds::MPLS | kinds::MPLS_MULTICAST => {
            let entry = from.number(behind, 4)?;
            fields.set(MplsLabel, entry >> 12);
            fields.set(MplsTc, entry >> 9);
            fields.set(MplsBos, entry >> 8);
            layout.mpls = Some(behind);
        }
        kinds::ARP => arp(from, fields, layout, behind)?,
        kinds::IPV4 => ipv4(from, fields, layout, behind)?,
        kinds::IPV6 => ipv6(from, fields, layout, behind)?,
        _ => {}
    }
    Some(())
}

fn arp(from: &mut Bytes<'_>, fields: &mut Fields, layout: &mut Layout, at: usize) -> Option<()> {
    use OxmField::*;
    // Of Ethernet and IPv4, with their lengths (RFC 826).
    if from.number(at, 6)? != 0x0001_0800_0604 {
        return None;
    }
    from.number(at, 28)?;
    layout.network = Some((Network::Arp, at));
    for (field, offset, len) in
        [(ArpOp, 6, 2), (ArpSha, 8, 6), (ArpSpa, 14, 4), (ArpTha, 18, 6), (ArpTpa, 24, 4)]
    {
        fields.set(field, from.number(at + offset, len)?);
    }
    Some(())
}

fn ipv4(from: &mut Bytes<'_>, fields: &mut Fields, layout: &mut Layout, at: usize) -> Option<()> {
    use OxmField::*;
    let first = from.byte(at)?;
    from.number(at, 20)?;
    let header_len = usize::from(first & 15) * 4;
    if first >> 4 != 4 || header_len < 20 {
        return None;
    }
    layout.network = Some((Network::Ipv4, at));
    let (tos, protocol) = (from.byte(at + 1)?, from.byte(at + 9)?);
    fields.set(IpDscp, (tos >> 2).into());
    fields.set(IpEcn, (tos & 3).into());
    fields.set(IpProto, protocol.into());
    layout.protocol_at = Some(at + 9);
    fields.set(Ipv4Src, from.number(at + 12, 4)?);
    fields.set(Ipv4Dst, from.number(at + 16, 4)?);
    // More fragments, and the fragment offset (RFC 791, 3.1).
    let fragment = from.two(at + 6)? & 0x3fff;
    layout.is_fragment = fragment != 0;
    if fragment & 0x1fff == 0 {
        transport(from, fields, layout, protocol, at + header_len)?;
    }
    Some(())
}

/// Bits of the field that says which extension headers a packet has (OFPIEH in 1.3).
mod extensions {
    pub(super) const NO_NEXT: u16 = 1 << 0;
    pub(super) const ESP: u16 = 1 << 1;
    pub(super) const AUTH: u16 = 1 << 2;
    pub(super) const DEST: u16 = 1 << 3;
    pub(super) const FRAG: u16 = 1 << 4;
    pub(super) const ROUTER: u16 = 1 << 5;
    pub(super) const HOP: u16 = 1 << 6;
    pub(super) const REPEATED: u16 = 1 << 7;
    pub(super) const UNSEQUENCED: u16 = 1 << 8;
}

fn ipv6(from: &mut Bytes<'_>, fields: &mut Fields, layout: &mut Layout, at: usize) -> Option<()> {
    use OxmField::*;
    let first = from.number(at, 4)?;
    from.number(at, 40)?;
    if first >> 28 != 6 {
        return None;
    }
    layout.network = Some((Network::Ipv6, at));
    layout.protocol_at = Some(at + 6);
    fields.set(IpDscp, first >> 22);
    fields.set(IpEcn, first >> 20);
    fields.set(Ipv6Flabel, first);
    fields.set(Ipv6Src, from.number(at + 8, 16)?);
    fields.set(Ipv6Dst, from.number(at + 24, 16)?);
    let (mut next, mut header, mut seen, mut is_first) = (from.byte(at + 6)?, at + 40, 0u16, true);
    // The order that RFC 8200, 4.1 recommends; destination options may stand twice.
    let mut rank = 0;
    loop {
        let (bit, place) = match next {
            0 => (extensions::HOP, 1),
            60 => (extensions::DEST, if seen & extensions::ROUTER == 0 { 2 } else { 6 }),
            43 => (extensions::ROUTER, 3),
            44 => (extensions::FRAG, 4),
            51 => (extensions::AUTH, 5),
            50 => (extensions::ESP, 7),
            59 => (extensions::NO_NEXT, 8),
            _ => break,
        };
        if seen & bit != 0 && !(next == 60 && place == 6) {
            seen |= extensions::REPEATED;
        }
        if place < rank {
            seen |= extensions::UNSEQUENCED;
        }
        (seen, rank) = (seen | bit, rank.max(place));
        if matches!(next, 50 | 59) {
            break;
        }
        fields.set(IpProto, next.into());
        fields.set(Ipv6Exthdr, seen.into());
        let len = match next {
            44 => {
                let fragment = from.two(header + 2)?;
                layout.is_fragment |= fragment & 0xfff9 != 0;
                is_first &= fragment & 0xfff8 == 0;
                8
            }
            51 => (usize::from(from.byte(header + 1)?) + 2) * 4,
            _ => (usize::from(from.byte(header + 1)?) + 1) * 8,
        };
        next = from.byte(header)?;
        layout.protocol_at = Some(header);
        header += len;
        if !is_first {
            break;
        }
    }
    fields.set(IpProto, next.into());
    fields.set(Ipv6Exthdr, seen.into());
    if is_first && !matches!(next, 50 | 59) {
        transport(from, fields, layout, next, header)?;
    }
    Some(())
}

fn transport(
    from: &mut Bytes<'_>,
    fields: &mut Fields,
    layout: &mut Layout,
    protocol: u8,
    at: usize,
) -> Option<()> {
    use OxmField::*;
    let is_icmp = match (protocol, layout.network) {
        (protocols::ICMP, Some((Network::Ipv4, _))) | (protocols::ICMPV6, Some((Network::Ipv6, _))) => true,
        (protocols::TCP | protocols::UDP | protocols::SCTP, _) => false,
        _ => return Some(()),
    };
    let len = if is_icmp { 1 } else { 2 };
    let (first, second) = (from.number(at, len)?, from.number(at + len, len)?);
    layout.transport = Some((protocol, at));
    if layout.is_fragment {
        return Some(());
    }
    fields.set(TcpSrc, first);
    fields.set(TcpDst, second);
    if protocol == protocols::ICMPV6 && matches!(first, 135 | 136) && second == 0 {
        fields.set(Ipv6NdTarget, from.number(at + 8, 16)?);
        let mut option = at + 24;
        // Options end with the packet; there is no more than a few of them (RFC 4861, 4.6).
        let end = at.saturating_add(128);
        while option < end && option < from.bytes.len() {
            let (kind, len) = (from.byte(option)?, usize::from(from.byte(option + 1)?) * 8);
            let wanted = [(1, Ipv6NdSll, 135), (2, Ipv6NdTll, 136)];
            for (place, (number, field, message)) in wanted.into_iter().enumerate() {
                if kind == number && len == 8 && first == message {
                    fields.set(field, from.number(option + 2, 6)?);
                    layout.link_addresses[place] = Some(option + 2);
                }
            }
            if len == 0 {
                break;
            }
            option += len;
        }
        from.is_short |= option < end && option >= from.bytes.len();
    }
    Some(())
}
