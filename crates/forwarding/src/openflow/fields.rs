//! What of a packet can be matched, as words of 64 bits. Fields that no packet has at the same time share their place:
//! addresses of IPv4, ARP and IPv6, ports and types of ICMP, addresses of ARP and neighbour discovery. That is sound
//! because each of them needs its protocol to be matched exactly.

use wire::openflow::v1_3::OxmField;

/// Words of [`Fields`].
pub const WORDS: usize = 16;

/// Values of all fields of a packet, or which of their bits count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fields(pub [u64; WORDS]);

/// The word that has the lower bits of a field, and where they begin there. A field of 128 bits has the next word, too.
#[inline(always)]
const fn place(field: OxmField) -> (usize, u32) {
    use OxmField::*;
    match field {
        InPort => (0, 0),
        InPhyPort => (0, 32),
        Metadata => (1, 0),
        TunnelId => (2, 0),
        EthDst => (3, 0),
        VlanVid => (3, 48),
        EthSrc => (4, 0),
        EthType => (4, 48),
        MplsLabel => (5, 0),
        MplsTc => (5, 20),
        MplsBos => (5, 23),
        VlanPcp => (5, 24),
        PbbIsid => (5, 32),
        Ipv4Src | ArpSpa | Ipv6Src => (6, 0),
        Ipv4Dst | ArpTpa | Ipv6Dst => (8, 0),
        Ipv6Flabel => (10, 0),
        IpProto => (10, 32),
        IpDscp => (10, 40),
        IpEcn => (10, 48),
        TcpSrc | UdpSrc | SctpSrc | Icmpv4Type | Icmpv6Type => (11, 0),
        TcpDst | UdpDst | SctpDst | Icmpv4Code | Icmpv6Code => (11, 16),
        Ipv6Exthdr => (11, 32),
        ArpOp => (11, 48),
        ArpSha | Ipv6NdSll => (12, 0),
        ArpTha | Ipv6NdTll => (13, 0),
        Ipv6NdTarget => (14, 0),
    }
}

impl Fields {
    /// No field, or no bit of any.
    pub const NONE: Fields = Fields([0; WORDS]);

    /// The value of a field.
    #[inline(always)]
    pub const fn get(&self, field: OxmField) -> u128 {
        let (word, shift) = place(field);
        let mut value = self.0[word] as u128;
        if field.bits() > 64 {
            value |= (self.0[word + 1] as u128) << 64;
        }
        value >> shift & field.ones()
    }

    /// Gives a field a value; bits that the field does not have are left out.
    #[inline(always)]
    pub const fn set(&mut self, field: OxmField, value: u128) {
        let (word, shift) = place(field);
        let (value, ones) = (value & field.ones(), field.ones());
        self.0[word] = self.0[word] & !((ones as u64) << shift) | (value as u64) << shift;
        if field.bits() > 64 {
            self.0[word + 1] = (value >> 64) as u64;
        }
    }

    /// Only bits that are set in `mask`.
    #[must_use]
    pub fn masked(&self, mask: &Fields) -> Fields {
        Fields(core::array::from_fn(|word| self.0[word] & mask.0[word]))
    }

    /// Is every bit of `other` set here?
    pub fn contains(&self, other: &Fields) -> bool {
        self.0.iter().zip(&other.0).all(|(own, other)| own & other == *other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_one_packet_do_not_overlap() {
        use OxmField::*;
        // The longest packet of each kind that shares places.
        let kinds = [
            [Ipv4Src, Ipv4Dst, IpProto, IpDscp, IpEcn, TcpSrc, TcpDst].as_slice(),
            &[
                Ipv6Src,
                Ipv6Dst,
                Ipv6Flabel,
                Ipv6Exthdr,
                IpProto,
                Icmpv6Type,
                Icmpv6Code,
                Ipv6NdTarget,
                Ipv6NdSll,
            ],
            &[ArpOp, ArpSpa, ArpTpa, ArpSha, ArpTha],
        ];
        let always = [
            InPort, InPhyPort, Metadata, TunnelId, EthDst, EthSrc, EthType, VlanVid, VlanPcp, MplsLabel,
            MplsTc, MplsBos, PbbIsid,
        ];
        for kind in kinds {
            let mut taken = Fields::NONE;
            for field in always.iter().chain(kind) {
                let mut one = Fields::NONE;
                one.set(*field, u128::MAX);
                assert_eq!(one.get(*field), field.ones(), "{field:?}");
                assert_eq!(taken.masked(&one), Fields::NONE, "{field:?}");
                taken.set(*field, u128::MAX);
            }
        }
    }
}
