//! Matches.

use crate::openflow::macros::layout;
use base::MacAddr;
use core::net::Ipv4Addr;

/// Bits of `wildcards`: fields that are not looked at.
pub mod wildcards {
    /// The port of ingress.
    pub const IN_PORT: u32 = 1 << 0;
    /// The VLAN.
    pub const DL_VLAN: u32 = 1 << 1;
    /// The Ethernet source.
    pub const DL_SRC: u32 = 1 << 2;
    /// The Ethernet destination.
    pub const DL_DST: u32 = 1 << 3;
    /// The EtherType.
    pub const DL_TYPE: u32 = 1 << 4;
    /// The protocol of IPv4, or the operation of ARP.
    pub const NW_PROTO: u32 = 1 << 5;
    /// The source port, or the type of ICMP.
    pub const TP_SRC: u32 = 1 << 6;
    /// The destination port, or the code of ICMP.
    pub const TP_DST: u32 = 1 << 7;
    /// Where the number of bits of the IPv4 source begins that are not looked at; six bits, 32 and more are all.
    pub const NW_SRC_SHIFT: u32 = 8;
    /// Where that of the destination begins.
    pub const NW_DST_SHIFT: u32 = 14;
    /// The priority in the VLAN tag.
    pub const DL_VLAN_PCP: u32 = 1 << 20;
    /// The DSCP.
    pub const NW_TOS: u32 = 1 << 21;
    /// Everything.
    pub const ALL: u32 = (1 << 22) - 1;
}

/// The VLAN of packets without a tag.
pub const VLAN_NONE: u16 = 0xffff;

layout! {
    /// Which packets are meant.
    Match {
        /// What is not looked at.
        wildcards: u32;
        /// The port of ingress.
        in_port: u16;
        /// The Ethernet source.
        dl_src: MacAddr;
        /// The Ethernet destination.
        dl_dst: MacAddr;
        /// The VLAN, or [`VLAN_NONE`].
        dl_vlan: u16;
        /// The priority in the tag.
        dl_vlan_pcp: u8, pad 1;
        /// The EtherType.
        dl_type: u16;
        /// The octet that has the DSCP in its upper six bits.
        nw_tos: u8;
        /// The protocol of IPv4, or the lower octet of the operation of ARP.
        nw_proto: u8, pad 2;
        /// The IPv4 source.
        nw_src: Ipv4Addr;
        /// The IPv4 destination.
        nw_dst: Ipv4Addr;
        /// The source port, or the type of ICMP.
        tp_src: u16;
        /// The destination port, or the code of ICMP.
        tp_dst: u16;
    }
}

impl Match {
    /// Every packet.
    pub const ANY: Match = Match {
        wildcards: wildcards::ALL,
        in_port: 0,
        dl_src: MacAddr([0; 6]),
        dl_dst: MacAddr([0; 6]),
        dl_vlan: 0,
        dl_vlan_pcp: 0,
        dl_type: 0,
        nw_tos: 0,
        nw_proto: 0,
        nw_src: Ipv4Addr::UNSPECIFIED,
        nw_dst: Ipv4Addr::UNSPECIFIED,
        tp_src: 0,
        tp_dst: 0,
    };
}
