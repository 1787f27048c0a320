//! Parameters (RFC 5036, 3.3 and 3.4): as they are on the wire, and those that several messages have as values.

use super::p2mp::{P2MP, P2mp};
use super::{Malformed, Status};
use crate::hex::Hex;
use base::Label;
use base::plane::{IpPrefix, Prefix, Prefix6};
use core::net::{Ipv4Addr, Ipv6Addr};

/// Types of parameters (RFC 5036, 3.8), without the two bits in front.
pub mod tlv_type {
    /// FEC (3.4.1).
    pub const FEC: u16 = 0x0100;
    /// Address List (3.4.3).
    pub const ADDRESS_LIST: u16 = 0x0101;
    /// Hop Count (3.4.4).
    pub const HOP_COUNT: u16 = 0x0103;
    /// Path Vector (3.4.5).
    pub const PATH_VECTOR: u16 = 0x0104;
    /// Generic Label (3.4.2.1).
    pub const GENERIC_LABEL: u16 = 0x0200;
    /// ATM Label (3.4.2.2).
    pub const ATM_LABEL: u16 = 0x0201;
    /// Frame Relay Label (3.4.2.3).
    pub const FRAME_RELAY_LABEL: u16 = 0x0202;
    /// Status (3.4.6).
    pub const STATUS: u16 = 0x0300;
    /// Extended Status (3.5.1).
    pub const EXTENDED_STATUS: u16 = 0x0301;
    /// Returned PDU (3.5.1).
    pub const RETURNED_PDU: u16 = 0x0302;
    /// Returned Message (3.5.1).
    pub const RETURNED_MESSAGE: u16 = 0x0303;
    /// Returned TLVs (RFC 5561, 8).
    pub const RETURNED_TLVS: u16 = 0x0304;
    /// Common Hello Parameters (3.5.2).
    pub const COMMON_HELLO: u16 = 0x0400;
    /// IPv4 Transport Address (3.5.2).
    pub const IPV4_TRANSPORT: u16 = 0x0401;
    /// Configuration Sequence Number (3.5.2).
    pub const CONFIGURATION_SEQUENCE: u16 = 0x0402;
    /// IPv6 Transport Address (3.5.2).
    pub const IPV6_TRANSPORT: u16 = 0x0403;
    /// Common Session Parameters (3.5.3).
    pub const COMMON_SESSION: u16 = 0x0500;
    /// ATM Session Parameters (3.5.3).
    pub const ATM_SESSION: u16 = 0x0501;
    /// Frame Relay Session Parameters (3.5.3).
    pub const FRAME_RELAY_SESSION: u16 = 0x0502;
    /// FT Session (RFC 3478, 2).
    pub const FT_SESSION: u16 = 0x0503;
    /// Dynamic Capability Announcement (RFC 5561, 9).
    pub const DYNAMIC_CAPABILITY: u16 = 0x0506;
    /// P2MP Capability (RFC 6388, 2.1).
    pub const P2MP_CAPABILITY: u16 = 0x0508;
    /// Typed Wildcard FEC Capability (RFC 5918, 5).
    pub const TYPED_WILDCARD_CAPABILITY: u16 = 0x050b;
    /// Unrecognized Notification Capability (RFC 5919, 3).
    pub const UNRECOGNIZED_NOTIFICATION: u16 = 0x0603;
    /// Label Request Message ID (3.5.7).
    pub const LABEL_REQUEST_ID: u16 = 0x0600;

    /// PW Status, of pseudowires (RFC 8077, 6.3.2). Nothing follows from it here; freeRtr puts it beside labels of
    /// point-to-multipoint LSPs, without the bit that lets who does not know it leave it out.
    pub const PW_STATUS: u16 = 0x096a;

    /// Is a type known?
    pub const fn is_known(kind: u16) -> bool {
        matches!(
            kind,
            FEC | ADDRESS_LIST
                | HOP_COUNT..=PATH_VECTOR
                | GENERIC_LABEL..=FRAME_RELAY_LABEL
                | STATUS..=RETURNED_TLVS
                | COMMON_HELLO..=IPV6_TRANSPORT
                | COMMON_SESSION..=FT_SESSION
                | DYNAMIC_CAPABILITY
                | P2MP_CAPABILITY
                | TYPED_WILDCARD_CAPABILITY
                | UNRECOGNIZED_NOTIFICATION
                | LABEL_REQUEST_ID
                | PW_STATUS
        )
    }
}

/// The bit of a type that lets who does not know it leave it out.
const UNKNOWN: u16 = 1 << 15;
/// The bit of a type that asks who does not know it to pass it on.
const FORWARD: u16 = 1 << 14;
/// The number of IPv4 and of IPv6 among address families.
pub(super) const FAMILIES: [u16; 2] = [1, 2];

/// A parameter as it is on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tlv {
    /// May it be left out by who does not know it?
    pub is_optional: bool,
    /// Is it to be passed on by who does not know it?
    pub is_forwarded: bool,
    /// What it is, in 14 bits.
    pub kind: u16,
    /// Its value.
    pub value: Hex,
}

impl Tlv {
    /// Writes it.
    pub(super) fn emit(&self, to: &mut Vec<u8>) {
        let bits = [(self.is_optional, UNKNOWN), (self.is_forwarded, FORWARD)];
        let flags = bits.into_iter().filter(|(is_set, _)| *is_set).fold(0, |all, (_, bit)| all | bit);
        emit(to, self.kind | flags, &self.value.0);
    }
}

/// Writes a parameter.
pub(super) fn emit(to: &mut Vec<u8>, kind: u16, value: &[u8]) {
    emit_as(to, kind, |to| to.extend_from_slice(value));
}

/// Writes a parameter whose value is written by a call.
pub(super) fn emit_as(to: &mut Vec<u8>, kind: u16, value: impl FnOnce(&mut Vec<u8>)) {
    let [k, i] = kind.to_be_bytes();
    to.extend_from_slice(&[k, i, 0, 0]);
    let begin = to.len();
    value(to);
    let len = u16::try_from(to.len() - begin).unwrap_or(u16::MAX);
    to[begin - 2..begin].copy_from_slice(&len.to_be_bytes());
}

/// A parameter that was found: its type, its value, and where that begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'a> {
    pub kind: u16,
    pub value: &'a [u8],
    pub at: usize,
}

impl<'a> Found<'a> {
    pub(super) fn malformed(&self, clause: &'static str) -> Malformed {
        Malformed::new(Status::MalformedTlvValue, self.at, clause)
    }

    /// The value of a parameter that has just so many bytes.
    pub(super) fn exactly<const N: usize>(&self, clause: &'static str) -> Result<[u8; N], Malformed> {
        self.value.try_into().map_err(|_| self.malformed(clause))
    }
}

/// Divides what is behind the number of a message into parameters: those that are known, and those that are not and may
/// be left out (RFC 5036, 3.5.1.2.2).
pub(super) fn split(bytes: &[u8]) -> Result<(Vec<Found<'_>>, Vec<Tlv>), Malformed> {
    let (mut known, mut unknown, mut at) = (Vec::new(), Vec::new(), 0);
    while at < bytes.len() {
        let short = |clause| Malformed::new(Status::BadTlvLength, 8 + at, clause);
        let Some(&[t, u, l, m]) = bytes[at..].first_chunk::<4>() else {
            return Err(short("a parameter that ends before its length"));
        };
        let (field, len) = (u16::from_be_bytes([t, u]), usize::from(u16::from_be_bytes([l, m])));
        let Some(value) = bytes.get(at + 4..at + 4 + len) else {
            return Err(short("a parameter beyond its message"));
        };
        let kind = field & !(UNKNOWN | FORWARD);
        if tlv_type::is_known(kind) {
            known.push(Found { kind, value, at: 8 + at + 4 });
        } else if field & UNKNOWN == 0 {
            return Err(Malformed::new(Status::UnknownTlv, 8 + at, "a parameter that is not known"));
        } else {
            let is_forwarded = field & FORWARD != 0;
            unknown.push(Tlv { is_optional: true, is_forwarded, kind, value: value.into() });
        }
        at += 4 + len;
    }
    Ok((known, unknown))
}

/// The whole parameter that begins at a byte of a PDU, if it is all there.
pub fn tlv_at(pdu: &[u8], at: usize) -> Option<&[u8]> {
    let from = pdu.get(at..)?;
    let &[_, _, l, m] = from.first_chunk::<4>()?;
    from.get(..4 + usize::from(u16::from_be_bytes([l, m])))
}

/// An element of an FEC (RFC 5036, 3.4.1).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fec {
    /// All FECs that a label is bound to, or all there are.
    Wildcard,
    /// Packets to a prefix.
    Prefix(IpPrefix),
    /// All prefixes of an address family, by its number (RFC 5918, 6).
    AllPrefixes(u16),
    /// A point-to-multipoint LSP (RFC 6388, 2.2).
    P2mp(P2mp),
    /// All point-to-multipoint LSPs whose roots have addresses of a family, by its number (RFC 6388, 9).
    AllP2mp(u16),
}

/// The type of prefixes among FEC elements.
const PREFIX: u8 = 2;

impl Fec {
    pub(super) fn emit(&self, to: &mut Vec<u8>) {
        let mut put = |family: u16, len: u8, address: &[u8]| {
            let [f, g] = family.to_be_bytes();
            to.extend_from_slice(&[PREFIX, f, g, len]);
            to.extend_from_slice(&address[..usize::from(len).div_ceil(8)]);
        };
        match self {
            Fec::Wildcard => to.push(1),
            Fec::AllPrefixes(family) | Fec::AllP2mp(family) => {
                // RFC 5918, 6, and RFC 6388, 9: typed, of which type, two bytes of family.
                let of = if matches!(self, Fec::AllP2mp(_)) { P2MP } else { PREFIX };
                let [f, g] = family.to_be_bytes();
                to.extend_from_slice(&[5, of, 2, f, g]);
            }
            Fec::P2mp(lsp) => lsp.emit(to),
            Fec::Prefix(IpPrefix::V4(prefix)) => put(1, prefix.len(), &prefix.address().octets()),
            Fec::Prefix(IpPrefix::V6(prefix)) => put(2, prefix.len(), &prefix.address().octets()),
        }
    }

    /// The elements of an FEC. What is behind the last bit of a prefix does not count.
    pub(super) fn read(found: &Found<'_>) -> Result<Vec<Fec>, Malformed> {
        let (mut all, mut rest) = (Vec::new(), found.value);
        while let [kind, behind @ ..] = rest {
            let at = found.at + found.value.len() - rest.len();
            rest = match *kind {
                1 => {
                    all.push(Fec::Wildcard);
                    behind
                }
                PREFIX => {
                    let Some((&[f, g, len], behind)) = behind.split_first_chunk::<3>() else {
                        return Err(found.malformed("an FEC element that ends before its prefix"));
                    };
                    let most = match u16::from_be_bytes([f, g]) {
                        1 => 32,
                        2 => 128,
                        _ => {
                            let status = Status::UnsupportedAddressFamily;
                            return Err(Malformed::new(status, at, "a prefix of a family that is not known"));
                        }
                    };
                    if len > most {
                        return Err(found.malformed("a prefix that is longer than an address"));
                    }
                    let Some((bits, behind)) = behind.split_at_checked(usize::from(len).div_ceil(8)) else {
                        return Err(found.malformed("a prefix beyond its FEC"));
                    };
                    let mut octets = [0; 16];
                    octets.iter_mut().zip(bits).for_each(|(to, from)| *to = *from);
                    let [a, b, c, d, ..] = octets;
                    all.push(Fec::Prefix(match most {
                        32 => IpPrefix::V4(Prefix::new(Ipv4Addr::new(a, b, c, d), len)),
                        _ => IpPrefix::V6(Prefix6::new(Ipv6Addr::from(octets), len)),
                    }));
                    behind
                }
                5 => {
                    let Some((&[of, len], behind)) = behind.split_first_chunk::<2>() else {
                        return Err(found.malformed("a typed wildcard that ends before its type"));
                    };
                    let Some((said, behind)) = behind.split_at_checked(usize::from(len)) else {
                        return Err(found.malformed("a typed wildcard beyond its FEC"));
                    };
                    if ![PREFIX, P2MP].contains(&of) {
                        let clause = "a typed wildcard of an FEC element that is not known";
                        return Err(Malformed::new(Status::UnknownFec, at, clause));
                    }
                    let Ok(family) = <[u8; 2]>::try_from(said) else {
                        return Err(
                            found.malformed("a typed wildcard of such elements has two bytes of family")
                        );
                    };
                    let family = u16::from_be_bytes(family);
                    all.push(if of == P2MP { Fec::AllP2mp(family) } else { Fec::AllPrefixes(family) });
                    behind
                }
                P2MP => {
                    let (lsp, behind) = P2mp::read(found, at, behind)?;
                    all.push(Fec::P2mp(lsp));
                    behind
                }
                _ => return Err(Malformed::new(Status::UnknownFec, at, "an FEC element that is not known")),
            };
        }
        // RFC 5918, 4: beside a typed wildcard other elements do not count.
        if let Some(typed) = all.iter().find(|fec| matches!(fec, Fec::AllPrefixes(_) | Fec::AllP2mp(_))) {
            return Ok(vec![typed.clone()]);
        }
        match &all[..] {
            [] => Err(found.malformed("an FEC without elements")),
            [_] => Ok(all),
            several if several.contains(&Fec::Wildcard) => {
                Err(found.malformed("a wildcard beside other FEC elements"))
            }
            // RFC 6388, 2.2: it is the only one.
            several if several.iter().any(|fec| matches!(fec, Fec::P2mp(_))) => {
                Err(found.malformed("a P2MP element beside other FEC elements"))
            }
            _ => Ok(all),
        }
    }
}

/// A label of one of the kinds of links that there are (RFC 5036, 3.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnyLabel {
    /// A label of MPLS.
    Generic(Label),
    /// V-bits, VPI and VCI of an ATM link, as they are on the wire.
    Atm(u32),
    /// Length and DLCI of a Frame Relay link, as they are on the wire.
    FrameRelay(u32),
}

impl AnyLabel {
    pub(super) fn emit(self, to: &mut Vec<u8>) {
        let (kind, value) = match self {
            AnyLabel::Generic(label) => (tlv_type::GENERIC_LABEL, label.value()),
            AnyLabel::Atm(value) => (tlv_type::ATM_LABEL, value),
            AnyLabel::FrameRelay(value) => (tlv_type::FRAME_RELAY_LABEL, value),
        };
        emit(to, kind, &value.to_be_bytes());
    }

    pub(super) fn read(found: &Found<'_>) -> Result<AnyLabel, Malformed> {
        let value = u32::from_be_bytes(found.exactly("a label has four bytes")?);
        match found.kind {
            tlv_type::ATM_LABEL => Ok(AnyLabel::Atm(value)),
            tlv_type::FRAME_RELAY_LABEL => Ok(AnyLabel::FrameRelay(value)),
            _ => match Label::new(value) {
                Some(label) => Ok(AnyLabel::Generic(label)),
                None => Err(found.malformed("a label of more than 20 bits")),
            },
        }
    }
}

/// Addresses of one family (RFC 5036, 3.4.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// Of IPv4.
    V4(Vec<Ipv4Addr>),
    /// Of IPv6.
    V6(Vec<Ipv6Addr>),
}

impl Addresses {
    pub(super) fn emit(&self, to: &mut Vec<u8>) {
        let mut value = Vec::new();
        match self {
            Addresses::V4(all) => {
                value.extend(FAMILIES[0].to_be_bytes());
                all.iter().for_each(|address| value.extend(address.octets()));
            }
            Addresses::V6(all) => {
                value.extend(FAMILIES[1].to_be_bytes());
                all.iter().for_each(|address| value.extend(address.octets()));
            }
        }
        emit(to, tlv_type::ADDRESS_LIST, &value);
    }

    pub(super) fn read(found: &Found<'_>) -> Result<Addresses, Malformed> {
        let Some((family, all)) = found.value.split_first_chunk::<2>() else {
            return Err(found.malformed("an address list without a family"));
        };
        let whole = |size: usize| match all.len().is_multiple_of(size) {
            true => Ok(all),
            false => Err(found.malformed("an address list that ends within an address")),
        };
        match u16::from_be_bytes(*family) {
            1 => Ok(Addresses::V4(
                whole(4)?.as_chunks::<4>().0.iter().map(|one| Ipv4Addr::from(*one)).collect(),
            )),
            2 => Ok(Addresses::V6(
                whole(16)?.as_chunks::<16>().0.iter().map(|one| Ipv6Addr::from(*one)).collect(),
            )),
            _ => {
                let clause = "addresses of a family that is not known";
                Err(Malformed::new(Status::UnsupportedAddressFamily, found.at, clause))
            }
        }
    }
}
