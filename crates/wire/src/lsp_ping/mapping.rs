//! What a router says of the way on, and of how a request came to it (RFC 8029, 3.4 and 3.7).

use super::fec::Fec;
use super::tlv::{append, parts};
use crate::error::Error;
use crate::hex::Hex;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use serde::{Deserialize, Serialize};

/// The types of sub-TLVs.
const MULTIPATH: u16 = 1;
const LABEL_STACK: u16 = 2;
const FEC_CHANGE: u16 = 3;

/// Who asks knows neither the next router nor the labels (RFC 8029, 3.4): nothing is to be verified.
pub const ALL_ROUTERS: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 2);

/// A router and its interface, by their addresses' type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "numbering", rename_all = "kebab-case")]
pub enum Place {
    /// An interface with an IPv4 address.
    Ipv4 {
        /// The router: its id, or the address of the interface.
        address: Ipv4Addr,
        /// The interface.
        interface: Ipv4Addr,
    },
    /// An interface without one, by its index.
    Ipv4Unnumbered {
        /// The router.
        address: Ipv4Addr,
        /// The index; 0 if it is not known.
        index: u32,
    },
    /// An interface with an IPv6 address.
    Ipv6 {
        /// The router.
        address: Ipv6Addr,
        /// The interface.
        interface: Ipv6Addr,
    },
    /// An interface by its index, of a router with an IPv6 address.
    Ipv6Unnumbered {
        /// The router.
        address: Ipv6Addr,
        /// The index; 0 if it is not known.
        index: u32,
    },
}

impl Place {
    /// The router.
    pub fn address(&self) -> IpAddr {
        match *self {
            Place::Ipv4 { address, .. } | Place::Ipv4Unnumbered { address, .. } => address.into(),
            Place::Ipv6 { address, .. } | Place::Ipv6Unnumbered { address, .. } => address.into(),
        }
    }

    /// The addresses after an address type, and what follows them.
    fn read(kind: u8, bytes: &[u8]) -> Option<(Place, &[u8])> {
        let v4 = |bytes: &[u8; 4]| Ipv4Addr::from(*bytes);
        let v6 = |bytes: &[u8; 16]| Ipv6Addr::from(*bytes);
        Some(match kind {
            1 => {
                let (address, rest) = bytes.split_first_chunk()?;
                let (interface, rest) = rest.split_first_chunk()?;
                (Place::Ipv4 { address: v4(address), interface: v4(interface) }, rest)
            }
            2 => {
                let (address, rest) = bytes.split_first_chunk()?;
                let (index, rest) = rest.split_first_chunk()?;
                (Place::Ipv4Unnumbered { address: v4(address), index: u32::from_be_bytes(*index) }, rest)
            }
            3 => {
                let (address, rest) = bytes.split_first_chunk()?;
                let (interface, rest) = rest.split_first_chunk()?;
                (Place::Ipv6 { address: v6(address), interface: v6(interface) }, rest)
            }
            4 => {
                let (address, rest) = bytes.split_first_chunk()?;
                let (index, rest) = rest.split_first_chunk()?;
                (Place::Ipv6Unnumbered { address: v6(address), index: u32::from_be_bytes(*index) }, rest)
            }
            _ => return None,
        })
    }

    const fn kind(&self) -> u8 {
        match self {
            Place::Ipv4 { .. } => 1,
            Place::Ipv4Unnumbered { .. } => 2,
            Place::Ipv6 { .. } => 3,
            Place::Ipv6Unnumbered { .. } => 4,
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Place::Ipv4 { address, interface } => {
                out.extend(address.octets());
                out.extend(interface.octets());
            }
            Place::Ipv4Unnumbered { address, index } => {
                out.extend(address.octets());
                out.extend(index.to_be_bytes());
            }
            Place::Ipv6 { address, interface } => {
                out.extend(address.octets());
                out.extend(interface.octets());
            }
            Place::Ipv6Unnumbered { address, index } => {
                out.extend(address.octets());
                out.extend(index.to_be_bytes());
            }
        }
    }
}

/// One way on from a router, or the way by which a request is to come (RFC 8029, 3.4).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |               MTU             | Address Type  |    DS Flags   |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |             Downstream Address (4 or 16 octets)               |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |         Downstream Interface Address (4 or 16 octets)         |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |  Return Code  | Return Subcode|        Sub-TLV Length         |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mapping {
    /// Longest frame of MPLS, labels included, that fits on the interface, in bytes.
    pub mtu: u16,
    /// Bits: 1 treat it as no IP packet, 2 say by which interface it came and with which labels.
    #[serde(default)]
    pub flags: u8,
    /// The next router and its interface.
    pub place: Place,
    /// What became of the request on this way.
    #[serde(default)]
    pub return_code: u8,
    /// The depth in the label stack that the return code is about.
    #[serde(default)]
    pub return_subcode: u8,
    /// What else it says, in order.
    #[serde(default)]
    pub parts: Vec<MappingPart>,
}

/// Part of a mapping, by its name under `part`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "kebab-case")]
pub enum MappingPart {
    /// Addresses or labels by which packets take this way (RFC 8029, 3.4.1.1).
    Multipath {
        /// How they are written; 0: whatever they are, packets take this way.
        kind: u8,
        /// The addresses or labels.
        information: Hex,
    },
    /// The labels that packets have on this way, the top first (RFC 8029, 3.4.1.2).
    Labels {
        /// Implicit null is among them.
        labels: Vec<MappedLabel>,
    },
    /// The stack of FECs is another on this way (RFC 8029, 3.4.1.3).
    FecChange(FecChange),
    /// A part of a type that is not read here.
    Other {
        /// Its type (RFC 8029, 3.4.1).
        #[serde(rename = "type")]
        kind: u16,
        /// Its value, without padding.
        value: Hex,
    },
}

/// A change of the stack of FECs (RFC 8029, 3.4.1.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FecChange {
    /// 1 puts one on, 2 takes one off.
    pub operation: u8,
    /// Who has given its label, if that is said.
    pub peer: Option<IpAddr>,
    /// The FEC, if it is said.
    pub fec: Option<Fec>,
}

impl FecChange {
    /// The operation that puts a FEC on.
    pub const PUSH: u8 = 1;
    /// The operation that takes one off.
    pub const POP: u8 = 2;
}

/// A label of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappedLabel {
    /// The label.
    pub label: u32,
    /// Its traffic class.
    #[serde(default)]
    pub tc: u8,
    /// Is it the last of the stack?
    #[serde(default)]
    pub bottom: bool,
    /// What announced it: 0 is not known, 1 nothing, 2 BGP, 3 LDP, 4 RSVP-TE.
    pub protocol: u8,
}

/// How a request came to a router (RFC 8029, 3.7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Received {
    /// The router and its interface.
    pub place: Place,
    /// Entries of the label stack as they came, the top first: label, traffic class, bottom and time to live.
    pub stack: Vec<u32>,
}

impl MappedLabel {
    fn of(bytes: [u8; 4]) -> MappedLabel {
        let word = u32::from_be_bytes(bytes);
        MappedLabel {
            label: word >> 12,
            tc: (word >> 9 & 7) as u8,
            bottom: word >> 8 & 1 == 1,
            protocol: bytes[3],
        }
    }

    fn bytes(self) -> [u8; 4] {
        let MappedLabel { label, tc, bottom, protocol } = self;
        let word = (label & 0xf_ffff) << 12 | u32::from(tc & 7) << 9 | u32::from(bottom) << 8;
        (word | u32::from(protocol)).to_be_bytes()
    }
}

impl FecChange {
    fn read(value: &[u8]) -> Option<FecChange> {
        let (&[operation, kind, length, _], rest) = value.split_first_chunk::<4>()?;
        let (peer, rest) = match kind {
            0 => (None, rest),
            1 => {
                let (bytes, rest) = rest.split_first_chunk::<4>()?;
                (Some(IpAddr::from(*bytes)), rest)
            }
            2 => {
                let (bytes, rest) = rest.split_first_chunk::<16>()?;
                (Some(IpAddr::from(*bytes)), rest)
            }
            _ => return None,
        };
        let fec = match rest.get(..usize::from(length))? {
            [] => None,
            bytes => {
                let [(kind, value)] = parts(bytes).ok()?[..] else { return None };
                Some(Fec::read(kind, value))
            }
        };
        Some(FecChange { operation, peer, fec })
    }

    fn value(&self) -> Result<Vec<u8>, Error> {
        let mut fec = Vec::new();
        if let Some(one) = &self.fec {
            let (kind, value) = one.value();
            append(&mut fec, kind, &value)?;
        }
        let kind = match self.peer {
            None => 0,
            Some(IpAddr::V4(_)) => 1,
            Some(IpAddr::V6(_)) => 2,
        };
        // What is longer than the field can say is not written: no FEC that is read here is.
        let length = u8::try_from(fec.len()).unwrap_or(0);
        let mut value = vec![self.operation, kind, length, 0];
        match self.peer {
            None => {}
            Some(IpAddr::V4(peer)) => value.extend(peer.octets()),
            Some(IpAddr::V6(peer)) => value.extend(peer.octets()),
        }
        value.extend(fec.get(..usize::from(length)).unwrap_or_default());
        Ok(value)
    }
}

impl MappingPart {
    fn read(kind: u16, value: &[u8]) -> MappingPart {
        let known = match kind {
            MULTIPATH => value.split_first_chunk::<4>().and_then(|(&[kind, high, low, _], rest)| {
                let length = usize::from(u16::from_be_bytes([high, low]));
                let information = rest.get(..length)?.into();
                Some(MappingPart::Multipath { kind, information })
            }),
            LABEL_STACK if value.len().is_multiple_of(4) => {
                let (labels, _) = value.as_chunks::<4>();
                let labels = labels.iter().map(|bytes| MappedLabel::of(*bytes)).collect();
                Some(MappingPart::Labels { labels })
            }
            FEC_CHANGE => FecChange::read(value).map(MappingPart::FecChange),
            _ => None,
        };
        known.unwrap_or_else(|| MappingPart::Other { kind, value: value.into() })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        match self {
            MappingPart::Multipath { kind, information } => {
                let length = u16::try_from(information.0.len()).unwrap_or(u16::MAX).to_be_bytes();
                let value = [&[*kind, length[0], length[1], 0][..], &information.0].concat();
                append(out, MULTIPATH, &value)
            }
            MappingPart::Labels { labels } => {
                let bytes: Vec<u8> = labels.iter().flat_map(|label| label.bytes()).collect();
                append(out, LABEL_STACK, &bytes)
            }
            MappingPart::FecChange(change) => append(out, FEC_CHANGE, &change.value()?),
            MappingPart::Other { kind, value } => append(out, *kind, &value.0),
        }
    }
}

impl Mapping {
    /// The mapping in a value; nothing if it is none.
    pub(super) fn read(value: &[u8]) -> Option<Mapping> {
        let (&[mtu_high, mtu_low, kind, flags], rest) = value.split_first_chunk::<4>()?;
        let (place, rest) = Place::read(kind, rest)?;
        let (&[return_code, return_subcode, high, low], rest) = rest.split_first_chunk::<4>()?;
        if rest.len() != usize::from(u16::from_be_bytes([high, low])) {
            return None;
        }
        let parts = parts(rest).ok()?.into_iter().map(|(kind, value)| MappingPart::read(kind, value));
        Some(Mapping {
            mtu: u16::from_be_bytes([mtu_high, mtu_low]),
            flags,
            place,
            return_code,
            return_subcode,
            parts: parts.collect(),
        })
    }

    pub(super) fn value(&self) -> Result<Vec<u8>, Error> {
        let mut rest = Vec::new();
        self.parts.iter().try_for_each(|part| part.write(&mut rest))?;
        let mut value = self.mtu.to_be_bytes().to_vec();
        value.extend([self.place.kind(), self.flags]);
        self.place.write(&mut value);
        value.extend([self.return_code, self.return_subcode]);
        // What is longer than a TLV is refused where that is written.
        value.extend(u16::try_from(rest.len()).unwrap_or(u16::MAX).to_be_bytes());
        value.extend(rest);
        Ok(value)
    }

    /// The labels that packets have on this way, the top first, if they are said.
    pub fn labels(&self) -> Option<&[MappedLabel]> {
        self.parts.iter().find_map(|part| match part {
            MappingPart::Labels { labels } => Some(&labels[..]),
            _ => None,
        })
    }

    /// Changes of the stack of FECs, in order.
    pub fn changes(&self) -> impl Iterator<Item = &FecChange> {
        self.parts.iter().filter_map(|part| match part {
            MappingPart::FecChange(change) => Some(change),
            _ => None,
        })
    }
}

impl Received {
    /// What a value says; nothing if it is something else.
    pub(super) fn read(value: &[u8]) -> Option<Received> {
        let (&[kind, ..], rest) = value.split_first_chunk::<4>()?;
        let (place, rest) = Place::read(kind, rest)?;
        let (stack, rest) = rest.as_chunks::<4>();
        rest.is_empty().then_some(())?;
        Some(Received { place, stack: stack.iter().map(|entry| u32::from_be_bytes(*entry)).collect() })
    }

    pub(super) fn value(&self) -> Vec<u8> {
        let mut value = vec![self.place.kind(), 0, 0, 0];
        self.place.write(&mut value);
        value.extend(self.stack.iter().flat_map(|entry| entry.to_be_bytes()));
        value
    }
}
