//! Matches: fields, and what each needs that stands before it.

use super::Fault;
use super::oxm::{Errors, Oxm, OxmField};
use crate::openflow::fields::align;
use crate::openflow::{Field, Malformed, Reader};
use serde::{Deserialize, Serialize};

/// The type of matches that consist of OXM TLVs; the other one is deprecated.
const OXM: u16 = 1;
/// Bytes in front of the fields.
const HEADER_LEN: usize = 4;
/// The bit of a VLAN that says that there is a tag.
pub const VLAN_PRESENT: u16 = 0x1000;

const ERRORS: Errors =
    Errors { field: Fault::BadField, len: Fault::BadMatchLen, value: Fault::BadValue, mask: Fault::BadMask };

/// Which packets are meant: those that all fields match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Match {
    /// The fields, in their order on the wire.
    pub fields: Vec<Oxm>,
}

impl Match {
    /// The exact value that a field has to have, if it is named without a mask.
    fn exact(&self, field: OxmField) -> Option<u128> {
        let found = self.fields.iter().find(|oxm| oxm.field == field)?;
        found.mask.is_none().then_some(found.value)
    }

    /// Is all there that `field` needs? What is needed stands before what needs it.
    pub fn allows(&self, field: OxmField) -> bool {
        use OxmField::*;
        let eth = |types: &[u128]| self.exact(EthType).is_some_and(|found| types.contains(&found));
        let ip = |number| self.exact(IpProto) == Some(number);
        match field {
            InPort | Metadata | EthDst | EthSrc | EthType | VlanVid | TunnelId => true,
            InPhyPort => self.exact(InPort).is_some(),
            VlanPcp => self.fields.iter().any(|oxm| {
                let tagged = u128::from(VLAN_PRESENT);
                oxm.field == VlanVid
                    && oxm.value & tagged != 0
                    && oxm.mask.is_none_or(|mask| mask & tagged != 0)
            }),
            IpDscp | IpEcn | IpProto => eth(&[0x0800, 0x86dd]),
            Ipv4Src | Ipv4Dst => eth(&[0x0800]),
            TcpSrc | TcpDst => ip(6),
            UdpSrc | UdpDst => ip(17),
            SctpSrc | SctpDst => ip(132),
            Icmpv4Type | Icmpv4Code => ip(1) && eth(&[0x0800]),
            ArpOp | ArpSpa | ArpTpa | ArpSha | ArpTha => eth(&[0x0806]),
            Ipv6Src | Ipv6Dst | Ipv6Flabel | Ipv6Exthdr => eth(&[0x86dd]),
            Icmpv6Type | Icmpv6Code => ip(58) && eth(&[0x86dd]),
            Ipv6NdTarget => matches!(self.exact(Icmpv6Type), Some(135 | 136)),
            Ipv6NdSll => self.exact(Icmpv6Type) == Some(135),
            Ipv6NdTll => self.exact(Icmpv6Type) == Some(136),
            MplsLabel | MplsTc | MplsBos => eth(&[0x8847, 0x8848]),
            PbbIsid => eth(&[0x88e7]),
        }
    }
}

impl Field for Match {
    fn read(from: &mut Reader<'_>) -> Result<Match, Malformed> {
        let mut head = from.or(Fault::BadMatchLen.numbers());
        let (start, kind, len) = (head.at(), u16::read(&mut head)?, usize::from(u16::read(&mut head)?));
        if kind != OXM {
            return Err(Fault::BadMatchType.at(start, "a match that does not consist of OXM TLVs"));
        }
        let mut part = head.split_from(start, len)?;
        head.take(len.next_multiple_of(8) - len)?;
        from.take(head.at() - start)?;
        let mut read = Match::default();
        while !part.is_empty() {
            let at = part.at();
            let oxm = Oxm::parse(&mut part, &ERRORS)?;
            // Bits that the mask leaves out are zero.
            if oxm.mask.is_some_and(|mask| oxm.value & !mask != 0) {
                return Err(Fault::BadWildcards.at(at, "a bit that is set where the mask has none"));
            }
            if read.fields.iter().any(|known| known.field == oxm.field) {
                return Err(Fault::DupField.at(at, "a field that is there already"));
            }
            if !read.allows(oxm.field) {
                return Err(Fault::BadPrereq.at(at, "a field that needs another before it"));
            }
            read.fields.push(oxm);
        }
        Ok(read)
    }

    fn write(&self, to: &mut Vec<u8>) {
        let start = to.len();
        let len = HEADER_LEN + self.fields.iter().map(Oxm::buffer_len).sum::<usize>();
        OXM.write(to);
        u16::try_from(len).unwrap_or(u16::MAX).write(to);
        self.fields.iter().for_each(|oxm| oxm.emit(to));
        align(to, start);
    }
}

/// The field that an action sets: without a mask, and zeros behind it up to a multiple of eight bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Setting(pub Oxm);

const SET_ERRORS: Errors = Errors {
    field: Fault::BadSetType,
    len: Fault::BadSetLen,
    value: Fault::BadSetArgument,
    mask: Fault::BadSetArgument,
};

impl Field for Setting {
    fn read(from: &mut Reader<'_>) -> Result<Setting, Malformed> {
        let at = from.at();
        let oxm = Oxm::parse(from, &SET_ERRORS)?;
        if oxm.mask.is_some() {
            return Err(Fault::BadSetArgument.at(at, "a mask in an action that sets a field"));
        }
        // These are no fields of the packet that could be set.
        if matches!(
            oxm.field,
            OxmField::InPort | OxmField::InPhyPort | OxmField::Metadata | OxmField::Ipv6Exthdr
        ) {
            return Err(Fault::BadSetType.at(at, "a field that can't be set"));
        }
        if from.len() >= 8 {
            return Err(Fault::BadSetLen.at(at, "an action that is longer than its field"));
        }
        from.rest();
        Ok(Setting(oxm))
    }
    fn write(&self, to: &mut Vec<u8>) {
        let start = to.len() - HEADER_LEN;
        self.0.emit(to);
        align(to, start);
    }
}
