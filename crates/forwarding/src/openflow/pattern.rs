//! Values and masks of fields, as matches of both versions say them.

use super::Fields;
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
            if is_exact(wildcards::NW_PROTO) && matches!(matching.nw_proto, 1 | 6 | 17) {
                exact(wildcards::TP_SRC, TcpSrc, matching.tp_src.into());
                exact(wildcards::TP_DST, TcpDst, matching.tp_dst.into());
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
