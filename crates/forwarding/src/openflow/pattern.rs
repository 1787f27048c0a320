//! Values and masks of fields, as matches of both versions say them.

use super::Fields;
use base::MacAddr;
use wire::openflow::v1_0::{self, wildcards};
use wire::openflow::v1_3::{self, OxmField, VLAN_PRESENT};

/// Which packets are meant: those that have the bits of `value` where `mask` has ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// The bits; zero where the mask has none.
    pub value: Fields,
    /// Which bits count.
    pub mask: Fields,
}

impl Pattern {
    /// Every packet.
    pub const ANY: Pattern = Pattern { value: Fields::NONE, mask: Fields::NONE };

    /// Adds what a field has to be, where `mask` has ones.
    pub fn set(&mut self, field: OxmField, value: u128, mask: u128) {
        self.value.set(field, value & mask);
        self.mask.set(field, mask);
    }

    /// Is it that of a packet?
    pub fn matches(&self, packet: &Fields) -> bool {
        (0..packet.0.len()).all(|word| (packet.0[word] ^ self.value.0[word]) & self.mask.0[word] == 0)
    }

    /// Has every packet of `other` this pattern, too?
    pub fn covers(&self, other: &Pattern) -> bool {
        other.mask.contains(&self.mask) && self.matches(&other.value)
    }

    /// Can a packet have both?
    pub fn overlaps(&self, other: &Pattern) -> bool {
        let both = self.mask.masked(&other.mask);
        self.value.masked(&both) == other.value.masked(&both)
    }
}

/// The fields in the order of their numbers, which puts each behind those that it needs.
impl From<&Pattern> for v1_3::Match {
    fn from(pattern: &Pattern) -> v1_3::Match {
        let mut matching = v1_3::Match::default();
        for &field in OxmField::ALL {
            let (mask, value) = (pattern.mask.get(field), pattern.value.get(field));
            // Fields that no packet has at the same time share their place: what stands before says which it is.
            if mask != 0 && matching.allows(field) {
                matching.fields.push(v1_3::Oxm {
                    field,
                    value,
                    mask: (mask != field.ones()).then_some(mask),
                });
            }
        }
        matching
    }
}

/// What version 1.0 can't say is left out: fields that it does not have, and masks of others than IPv4 addresses.
impl From<&Pattern> for v1_0::Match {
    fn from(pattern: &Pattern) -> v1_0::Match {
        use OxmField::*;
        let mut matching = v1_0::Match::ANY;
        let mut cleared = 0;
        let mut exact = |bit: u32, field: OxmField| {
            let is_exact = pattern.mask.get(field) == field.ones();
            if is_exact {
                cleared |= bit;
            }
            if is_exact { pattern.value.get(field) } else { 0 }
        };
        let address = |value: u128| {
            let [.., a, b, c, d, e, f] = value.to_be_bytes();
            MacAddr([a, b, c, d, e, f])
        };
        // The lower bits of a number that stands for something else are the same in both versions.
        matching.in_port = exact(wildcards::IN_PORT, InPort) as u16;
        matching.dl_src = address(exact(wildcards::DL_SRC, EthSrc));
        matching.dl_dst = address(exact(wildcards::DL_DST, EthDst));
        matching.dl_type = exact(wildcards::DL_TYPE, EthType) as u16;
        let vlan = exact(wildcards::DL_VLAN, VlanVid) as u16;
        matching.dl_vlan_pcp = exact(wildcards::DL_VLAN_PCP, VlanPcp) as u8;
        match matching.dl_type {
            0x0800 => {
                matching.nw_tos = (exact(wildcards::NW_TOS, IpDscp) as u8) << 2;
                matching.nw_proto = exact(wildcards::NW_PROTO, IpProto) as u8;
                let ports = match matching.nw_proto {
                    1 => Some([Icmpv4Type, Icmpv4Code]),
                    6 | 17 => Some([TcpSrc, TcpDst]),
                    _ => None,
                };
                if let Some([src, dst]) = ports {
                    matching.tp_src = exact(wildcards::TP_SRC, src) as u16;
                    matching.tp_dst = exact(wildcards::TP_DST, dst) as u16;
                }
            }
            0x0806 => matching.nw_proto = exact(wildcards::NW_PROTO, ArpOp) as u8,
            _ => {}
        }
        matching.wildcards &= !cleared;
        if matching.wildcards & wildcards::DL_VLAN == 0 {
            let has_tag = vlan & VLAN_PRESENT != 0;
            matching.dl_vlan = if has_tag { vlan & 0xfff } else { v1_0::VLAN_NONE };
        }
        if matches!(matching.dl_type, 0x0800 | 0x0806) {
            let places = [(Ipv4Src, wildcards::NW_SRC_SHIFT), (Ipv4Dst, wildcards::NW_DST_SHIFT)];
            for (field, shift) in places {
                let mask = pattern.mask.get(field) as u32;
                let ignored = mask.trailing_zeros().min(32);
                if mask == u32::MAX.checked_shl(ignored).unwrap_or(0) {
                    matching.wildcards = matching.wildcards & !(63 << shift) | ignored << shift;
                    let value = core::net::Ipv4Addr::from_bits(pattern.value.get(field) as u32);
                    match field {
                        Ipv4Src => matching.nw_src = value,
                        _ => matching.nw_dst = value,
                    }
                }
            }
        }
        matching
    }
}

impl From<&v1_3::Match> for Pattern {
    fn from(matching: &v1_3::Match) -> Pattern {
        let mut pattern = Pattern::ANY;
        for oxm in &matching.fields {
            pattern.set(oxm.field, oxm.value, oxm.mask.unwrap_or(u128::MAX));
        }
        pattern
    }
}

/// A field is left out where the fields that it depends on do not say what it is, as if its wildcard were set.
impl From<&v1_0::Match> for Pattern {
    fn from(matching: &v1_0::Match) -> Pattern {
        use OxmField::*;
        let mut pattern = Pattern::ANY;
        let is_exact = |bit: u32| matching.wildcards & bit == 0;
        let mut exact = |bit: u32, field: OxmField, value: u128| {
            if is_exact(bit) {
                pattern.set(field, value, u128::MAX);
            }
        };
        let address = |bytes: [u8; 6]| bytes.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte));
        exact(wildcards::IN_PORT, InPort, wide_port(matching.in_port).into());
        exact(wildcards::DL_SRC, EthSrc, address(matching.dl_src.0));
        exact(wildcards::DL_DST, EthDst, address(matching.dl_dst.0));
        exact(wildcards::DL_TYPE, EthType, matching.dl_type.into());
        let has_tag = matching.dl_vlan != v1_0::VLAN_NONE;
        let vlan = if has_tag { VLAN_PRESENT | matching.dl_vlan & 0xfff } else { 0 };
        exact(wildcards::DL_VLAN, VlanVid, vlan.into());
        if has_tag || !is_exact(wildcards::DL_VLAN) {
            exact(wildcards::DL_VLAN_PCP, VlanPcp, matching.dl_vlan_pcp.into());
        }
        let ethertype = if is_exact(wildcards::DL_TYPE) { matching.dl_type } else { 0 };
        let (is_ip, is_arp) = (ethertype == 0x0800, ethertype == 0x0806);
        if is_ip {
            exact(wildcards::NW_PROTO, IpProto, matching.nw_proto.into());
            exact(wildcards::NW_TOS, IpDscp, (matching.nw_tos >> 2).into());
            let ports = match matching.nw_proto {
                1 => Some([Icmpv4Type, Icmpv4Code]),
                6 | 17 => Some([TcpSrc, TcpDst]),
                _ => None,
            };
            if let Some([src, dst]) = ports.filter(|_| is_exact(wildcards::NW_PROTO)) {
                exact(wildcards::TP_SRC, src, matching.tp_src.into());
                exact(wildcards::TP_DST, dst, matching.tp_dst.into());
            }
        } else if is_arp {
            exact(wildcards::NW_PROTO, ArpOp, matching.nw_proto.into());
        }
        // A frame without a tag has zero as its priority, which is that of frames with a tag, too.
        if is_exact(wildcards::DL_VLAN_PCP) && !is_exact(wildcards::DL_VLAN) {
            pattern.set(VlanVid, VLAN_PRESENT.into(), VLAN_PRESENT.into());
        }
        if is_ip || is_arp {
            // The number of lower bits that are not looked at; 32 and more are all.
            let prefix = |shift: u32| match matching.wildcards >> shift & 63 {
                ignored @ 0..=31 => u128::from(u32::MAX << ignored),
                _ => 0,
            };
            pattern.set(Ipv4Src, matching.nw_src.to_bits().into(), prefix(wildcards::NW_SRC_SHIFT));
            pattern.set(Ipv4Dst, matching.nw_dst.to_bits().into(), prefix(wildcards::NW_DST_SHIFT));
        }
        pattern
    }
}

/// The number of a port of version 1.0 in 32 bits: those that stand for something else keep their meaning.
fn wide_port(port: u16) -> u32 {
    if port > v1_0::ports::MAX { u32::from(port) | 0xffff_0000 } else { port.into() }
}
