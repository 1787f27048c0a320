//! Fields of matches: type, value and mask, as OXM TLVs.

use super::Fault;
use crate::hex::Hex;
use crate::openflow::{Field, Malformed, Reader};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The class of fields that the specification defines.
const BASIC: u16 = 0x8000;
/// Bytes in front of a value.
pub(super) const OXM_HEADER_LEN: usize = 4;

macro_rules! oxm_fields {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $word:literal, $bits:literal $(, $mask:ident)?;)*) => {
        /// A field that can be matched.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum OxmField { $($(#[$doc])* $name = $number),* }

        impl OxmField {
            /// All that the specification defines, in the order of their numbers.
            pub const ALL: &'static [OxmField] = &[$(OxmField::$name),*];

            /// Its name in the specification, in lower case.
            pub const fn word(self) -> &'static str {
                match self { $(OxmField::$name => $word),* }
            }

            /// Bits that it has; they are the lower ones of the bytes that it takes.
            #[inline(always)]
            pub const fn bits(self) -> u32 {
                match self { $(OxmField::$name => $bits),* }
            }

            /// May a mask say which bits of it are looked at?
            pub const fn has_mask(self) -> bool {
                match self { $(OxmField::$name => false $(|| oxm_fields!(@$mask))?),* }
            }
        }
    };
    (@mask) => { true };
}

oxm_fields! {
    /// The port of ingress, which may be logical.
    InPort = 0, "in_port", 32;
    /// The physical port of ingress.
    InPhyPort = 1, "in_phy_port", 32;
    /// What tables before have written.
    Metadata = 2, "metadata", 64, mask;
    /// The Ethernet destination.
    EthDst = 3, "eth_dst", 48, mask;
    /// The Ethernet source.
    EthSrc = 4, "eth_src", 48, mask;
    /// The EtherType behind VLAN tags.
    EthType = 5, "eth_type", 16;
    /// The VLAN, with a bit that says that there is a tag.
    VlanVid = 6, "vlan_vid", 13, mask;
    /// The priority in the outermost tag.
    VlanPcp = 7, "vlan_pcp", 3;
    /// The DSCP.
    IpDscp = 8, "ip_dscp", 6;
    /// The bits of explicit congestion notification.
    IpEcn = 9, "ip_ecn", 2;
    /// The protocol of IPv4 or IPv6.
    IpProto = 10, "ip_proto", 8;
    /// The IPv4 source.
    Ipv4Src = 11, "ipv4_src", 32, mask;
    /// The IPv4 destination.
    Ipv4Dst = 12, "ipv4_dst", 32, mask;
    /// The source port of TCP.
    TcpSrc = 13, "tcp_src", 16;
    /// The destination port of TCP.
    TcpDst = 14, "tcp_dst", 16;
    /// The source port of UDP.
    UdpSrc = 15, "udp_src", 16;
    /// The destination port of UDP.
    UdpDst = 16, "udp_dst", 16;
    /// The source port of SCTP.
    SctpSrc = 17, "sctp_src", 16;
    /// The destination port of SCTP.
    SctpDst = 18, "sctp_dst", 16;
    /// The type of ICMP.
    Icmpv4Type = 19, "icmpv4_type", 8;
    /// The code of ICMP.
    Icmpv4Code = 20, "icmpv4_code", 8;
    /// The operation of ARP.
    ArpOp = 21, "arp_op", 16;
    /// The IPv4 address of ARP's sender.
    ArpSpa = 22, "arp_spa", 32, mask;
    /// The IPv4 address of ARP's target.
    ArpTpa = 23, "arp_tpa", 32, mask;
    /// The Ethernet address of ARP's sender.
    ArpSha = 24, "arp_sha", 48, mask;
    /// The Ethernet address of ARP's target.
    ArpTha = 25, "arp_tha", 48, mask;
    /// The IPv6 source.
    Ipv6Src = 26, "ipv6_src", 128, mask;
    /// The IPv6 destination.
    Ipv6Dst = 27, "ipv6_dst", 128, mask;
    /// The flow label of IPv6.
    Ipv6Flabel = 28, "ipv6_flabel", 20, mask;
    /// The type of ICMPv6.
    Icmpv6Type = 29, "icmpv6_type", 8;
    /// The code of ICMPv6.
    Icmpv6Code = 30, "icmpv6_code", 8;
    /// The target of neighbour discovery.
    Ipv6NdTarget = 31, "ipv6_nd_target", 128;
    /// The source link-layer address of neighbour discovery.
    Ipv6NdSll = 32, "ipv6_nd_sll", 48;
    /// The target link-layer address of neighbour discovery.
    Ipv6NdTll = 33, "ipv6_nd_tll", 48;
    /// The label of the top entry.
    MplsLabel = 34, "mpls_label", 20;
    /// Its traffic class.
    MplsTc = 35, "mpls_tc", 3;
    /// Is it the bottom of the stack?
    MplsBos = 36, "mpls_bos", 1;
    /// The service of provider backbone bridging.
    PbbIsid = 37, "pbb_isid", 24, mask;
    /// The tunnel of a logical port.
    TunnelId = 38, "tunnel_id", 64, mask;
    /// Which extension headers IPv6 has.
    Ipv6Exthdr = 39, "ipv6_exthdr", 9, mask;
}

impl OxmField {
    /// Bytes of a value: labels and flow labels take four, though three would do.
    pub const fn value_len(self) -> usize {
        if self.bits() == 20 { 4 } else { self.bits().div_ceil(8) as usize }
    }

    /// The field with this name.
    pub fn named(word: &str) -> Option<OxmField> {
        OxmField::ALL.iter().copied().find(|field| field.word() == word)
    }

    /// All bits that it has.
    #[inline(always)]
    pub const fn ones(self) -> u128 {
        u128::MAX >> (128 - self.bits())
    }
}

/// A field with a value, and perhaps a mask: only bits are looked at that are set in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Oxm {
    /// Which field.
    pub field: OxmField,
    /// Its value.
    pub value: u128,
    /// Which bits of it count; all without a mask.
    pub mask: Option<u128>,
}

/// The errors of the place that a field stands in: a match, or an action that sets it.
pub(super) struct Errors {
    pub(super) field: Fault,
    pub(super) len: Fault,
    pub(super) value: Fault,
    pub(super) mask: Fault,
}

impl Oxm {
    /// A field that has to have a value.
    pub const fn exact(field: OxmField, value: u128) -> Oxm {
        Oxm { field, value, mask: None }
    }

    /// Bytes of it on the wire.
    pub const fn buffer_len(&self) -> usize {
        OXM_HEADER_LEN + self.field.value_len() * (1 + self.mask.is_some() as usize)
    }

    pub(super) fn parse(from: &mut Reader<'_>, errors: &Errors) -> Result<Oxm, Malformed> {
        let at = from.at();
        let mut from_here = from.or(errors.len.numbers());
        let (class, kind, len) =
            (u16::read(&mut from_here)?, u8::read(&mut from_here)?, u8::read(&mut from_here)?);
        let mut part = from_here.split(len.into())?;
        from.take(part.at() + part.len() - at)?;
        let known = OxmField::ALL.get(usize::from(kind >> 1)).filter(|_| class == BASIC);
        let &field = known.ok_or(errors.field.at(at, "a field that is not known"))?;
        let has_mask = kind & 1 != 0;
        if has_mask && !field.has_mask() {
            return Err(errors.mask.at(at, "a mask of a field that has none"));
        }
        if usize::from(len) != field.value_len() * (1 + usize::from(has_mask)) {
            return Err(errors.len.at(at, "a length that the field does not have"));
        }
        let mut number = || {
            part.take(field.value_len())
                .map(|all| all.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte)))
        };
        let value = number()?;
        let mask = if has_mask { Some(number()?) } else { None };
        if value & !field.ones() != 0 || mask.is_some_and(|mask| mask & !field.ones() != 0) {
            return Err(errors.value.at(at, "a value with more bits than the field has"));
        }
        Ok(Oxm { field, value, mask })
    }

    pub(super) fn emit(&self, to: &mut Vec<u8>) {
        BASIC.write(to);
        ((self.field as u8) << 1 | u8::from(self.mask.is_some())).write(to);
        ((self.buffer_len() - OXM_HEADER_LEN) as u8).write(to);
        for number in [Some(self.value), self.mask].into_iter().flatten() {
            to.extend(&number.to_be_bytes()[16 - self.field.value_len()..]);
        }
    }
}

/// How a field is written down: its name, and its value and mask in hexadecimal.
#[derive(Serialize, Deserialize)]
struct Written {
    field: String,
    value: Hex,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mask: Option<Hex>,
}

impl Serialize for Oxm {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let hex = |number: u128| Hex(number.to_be_bytes()[16 - self.field.value_len()..].to_vec());
        let (field, value) = (self.field.word().to_owned(), hex(self.value));
        Written { field, value, mask: self.mask.map(hex) }.serialize(s)
    }
}

impl<'de> Deserialize<'de> for Oxm {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Oxm, D::Error> {
        use serde::de::Error;
        let written = Written::deserialize(d)?;
        let field = OxmField::named(&written.field).ok_or_else(|| {
            D::Error::custom(format!("'{}' is not a field of OpenFlow matches", written.field))
        })?;
        let number = |hex: &Hex| {
            let number = hex.0.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte));
            let fits = hex.0.len() == field.value_len() && number & !field.ones() == 0;
            let wrong =
                || format!("{} has {} bits in {} bytes", written.field, field.bits(), field.value_len());
            if fits { Ok(number) } else { Err(D::Error::custom(wrong())) }
        };
        if written.mask.is_some() && !field.has_mask() {
            return Err(D::Error::custom(format!("{} has no mask", written.field)));
        }
        let mask = written.mask.as_ref().map(number).transpose()?;
        Ok(Oxm { field, value: number(&written.value)?, mask })
    }
}
