//! Random messages for tests: every part of a message says how a random one of it is made.

use super::v1_0;
use super::v1_3::{
    Buckets, FlowFlags, List, Match, MeterFlags, Offer, Oxm, OxmField, PacketOut, Setting, TableProperty,
    flow_flags, meter_flags,
};
use super::{Element, Hello, Name, Rest};
use base::MacAddr;
use core::net::Ipv4Addr;

/// Numbers that follow from a seed (splitmix64).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.roll() % end as u64) as usize
    }
}

/// What tests can make a random one of.
pub(crate) trait Sample: Sized {
    fn sample(dice: &mut Dice) -> Self;
}

macro_rules! integers {
    ($($type:ident)*) => { $(impl Sample for $type {
        fn sample(dice: &mut Dice) -> $type {
            dice.roll() as $type
        }
    })* };
}
integers!(u8 u16 u32 u64);

impl Sample for bool {
    fn sample(dice: &mut Dice) -> bool {
        dice.below(2) == 1
    }
}

impl Sample for MacAddr {
    fn sample(dice: &mut Dice) -> MacAddr {
        MacAddr(Sample::sample(dice))
    }
}

impl Sample for Ipv4Addr {
    fn sample(dice: &mut Dice) -> Ipv4Addr {
        Ipv4Addr::from_bits(Sample::sample(dice))
    }
}

impl<T: Sample> Sample for Vec<T> {
    fn sample(dice: &mut Dice) -> Vec<T> {
        (0..dice.below(4)).map(|_| T::sample(dice)).collect()
    }
}

impl<T: Sample + Copy + Default, const N: usize> Sample for [T; N] {
    fn sample(dice: &mut Dice) -> [T; N] {
        [(); N].map(|()| T::sample(dice))
    }
}

/// Whole multiples of eight bytes, because some stand where nothing else fits.
impl Sample for Rest {
    fn sample(dice: &mut Dice) -> Rest {
        Rest::from(&(0..dice.below(4)).flat_map(|_| dice.roll().to_be_bytes()).collect::<Vec<u8>>()[..])
    }
}

impl<const N: usize> Sample for Name<N> {
    fn sample(dice: &mut Dice) -> Name<N> {
        Name((0..dice.below(N)).map(|_| char::from(b'a' + dice.below(26) as u8)).collect())
    }
}

impl Sample for Hello {
    fn sample(dice: &mut Dice) -> Hello {
        Hello { elements: Sample::sample(dice) }
    }
}

impl Sample for Element {
    fn sample(dice: &mut Dice) -> Element {
        match dice.below(2) {
            0 => Element::Versions(Sample::sample(dice)),
            _ => Element::Other { kind: 2, data: Rest::from(&[7; 15][..dice.below(16)]) },
        }
    }
}

impl Sample for v1_0::PacketOut {
    fn sample(dice: &mut Dice) -> v1_0::PacketOut {
        let (buffer_id, in_port) = Sample::sample(dice);
        v1_0::PacketOut { buffer_id, in_port, actions: Sample::sample(dice), data: Sample::sample(dice) }
    }
}

impl Sample for PacketOut {
    fn sample(dice: &mut Dice) -> PacketOut {
        let (buffer_id, in_port) = Sample::sample(dice);
        PacketOut { buffer_id, in_port, actions: Sample::sample(dice), data: Sample::sample(dice) }
    }
}

impl<A: Sample, B: Sample> Sample for (A, B) {
    fn sample(dice: &mut Dice) -> (A, B) {
        (A::sample(dice), B::sample(dice))
    }
}

impl Sample for FlowFlags {
    fn sample(dice: &mut Dice) -> FlowFlags {
        FlowFlags(u16::sample(dice) & flow_flags::ALL)
    }
}

impl Sample for MeterFlags {
    fn sample(dice: &mut Dice) -> MeterFlags {
        MeterFlags(u16::sample(dice) & meter_flags::ALL)
    }
}

impl Sample for Buckets {
    fn sample(dice: &mut Dice) -> Buckets {
        Buckets(Sample::sample(dice))
    }
}

fn oxm(field: OxmField, dice: &mut Dice) -> Oxm {
    let number = |dice: &mut Dice| (u128::from(dice.roll()) << 64 | u128::from(dice.roll())) & field.ones();
    let mask = (field.has_mask() && dice.below(2) == 1).then(|| number(dice));
    Oxm { field, value: number(dice) & mask.unwrap_or(u128::MAX), mask }
}

impl Sample for Setting {
    fn sample(dice: &mut Dice) -> Setting {
        let all: Vec<OxmField> = OxmField::ALL[3..39].to_vec();
        let field = all[dice.below(all.len())];
        Setting(Oxm { mask: None, ..oxm(field, dice) })
    }
}

impl Sample for Match {
    /// Fields whose prerequisites are there, in front of them.
    fn sample(dice: &mut Dice) -> Match {
        use OxmField::*;
        type Needed<'a> = &'a [(OxmField, u128)];
        let fixed: &[(Needed<'_>, &[OxmField])] = &[
            (&[], &[InPort, Metadata, EthDst, EthSrc, EthType, TunnelId]),
            (&[(InPort, 1)], &[InPhyPort]),
            (&[(VlanVid, 0x1064)], &[VlanPcp]),
            (&[(EthType, 0x800)], &[IpDscp, IpEcn, IpProto, Ipv4Src, Ipv4Dst]),
            (&[(EthType, 0x800), (IpProto, 6)], &[TcpSrc, TcpDst]),
            (
                &[(EthType, 0x86dd), (IpProto, 17)],
                &[UdpSrc, UdpDst, Ipv6Src, Ipv6Dst, Ipv6Flabel, Ipv6Exthdr],
            ),
            (&[(EthType, 0x800), (IpProto, 132)], &[SctpSrc, SctpDst]),
            (&[(EthType, 0x800), (IpProto, 1)], &[Icmpv4Type, Icmpv4Code]),
            (&[(EthType, 0x806)], &[ArpOp, ArpSpa, ArpTpa, ArpSha, ArpTha]),
            (&[(EthType, 0x86dd), (IpProto, 58)], &[Icmpv6Type, Icmpv6Code]),
            (&[(EthType, 0x86dd), (IpProto, 58), (Icmpv6Type, 135)], &[Ipv6NdTarget, Ipv6NdSll]),
            (&[(EthType, 0x86dd), (IpProto, 58), (Icmpv6Type, 136)], &[Ipv6NdTll]),
            (&[(EthType, 0x8847)], &[MplsLabel, MplsTc, MplsBos]),
            (&[(EthType, 0x88e7)], &[PbbIsid]),
        ];
        let (before, after) = fixed[dice.below(fixed.len())];
        let mut fields: Vec<Oxm> = before.iter().map(|(field, value)| Oxm::exact(*field, *value)).collect();
        fields.extend(after.iter().filter(|_| dice.0 & 1 == 0).map(|field| Oxm::exact(*field, 0)));
        for oxm_ in fields.iter_mut().skip(before.len()) {
            *oxm_ = oxm(oxm_.field, dice);
        }
        Match { fields }
    }
}

impl Sample for Offer {
    fn sample(dice: &mut Dice) -> Offer {
        Offer { kind: Sample::sample(dice), data: Sample::sample(dice) }
    }
}

impl Sample for TableProperty {
    fn sample(dice: &mut Dice) -> TableProperty {
        let experimenter = |dice: &mut Dice| List::Experimenter {
            experimenter: Sample::sample(dice),
            kind: Sample::sample(dice),
            data: Sample::sample(dice),
        };
        let (kind, list) = match dice.below(4) {
            0 => (4, List::Types(Sample::sample(dice))),
            1 => (2, List::Tables(Sample::sample(dice))),
            2 => (13, List::Fields(Sample::sample(dice))),
            _ => (0xffff, experimenter(dice)),
        };
        TableProperty { kind, list }
    }
}
