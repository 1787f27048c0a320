//! The TLVs of a message (RFC 8029, 3; RFC 5884, 6.1; RFC 6425, 3).

use super::fec::Fec;
use super::mapping::{Mapping, Received};
use super::{LAYER, TLV_HEADER_LEN};
use crate::error::{Error, Reason, need};
use crate::hex::Hex;
use core::net::IpAddr;
use serde::{Deserialize, Serialize};

/// The types of TLVs that are read.
const TARGET_FEC_STACK: u16 = 1;
const PAD: u16 = 3;
const VENDOR: u16 = 5;
const INTERFACE_AND_LABEL_STACK: u16 = 7;
const ERRORED_TLVS: u16 = 9;
const REPLY_TOS: u16 = 10;
const P2MP_RESPONDER: u16 = 11;
const ECHO_JITTER: u16 = 12;
const BFD_DISCRIMINATOR: u16 = 15;
const DOWNSTREAM_DETAILED_MAPPING: u16 = 20;

/// Part of a message, by its name under `tlv`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "tlv", rename_all = "kebab-case")]
pub enum Tlv {
    /// What the label stack that is tested stands for, the top first.
    TargetFecStack {
        /// One for each label.
        fecs: Vec<Fec>,
    },
    /// What makes the message longer (RFC 8029, 3.5).
    Pad {
        /// 1: the reply has none; 2: the reply has the same.
        action: u8,
        /// What follows; it means nothing.
        rest: Hex,
    },
    /// Whose the private values in the message are (RFC 8029, 3.6).
    Vendor {
        /// Enterprise number, as IANA assigns them.
        number: u32,
    },
    /// How the request came to who replies (RFC 8029, 3.7).
    InterfaceAndLabelStack(Received),
    /// What was not understood, or is wrong (RFC 8029, 3.8).
    ErroredTlvs {
        /// The TLVs in question, as they came.
        errored: Vec<RawTlv>,
    },
    /// How the reply is to be marked (RFC 8029, 3.9).
    ReplyTos {
        /// The byte of the IP header.
        tos: u8,
    },
    /// Who is to reply of the routers of an LSP with several ends (RFC 6425, 3.2).
    P2mpResponder {
        /// The first counts; without one it is as if the TLV were not there.
        responders: Vec<Responder>,
    },
    /// Replies wait for a random time, so that not all come at once (RFC 6425, 3.3).
    EchoJitter {
        /// The longest that they wait, in ms.
        jitter_ms: u32,
    },
    /// The session of BFD that is to run over the LSP (RFC 5884, 6.1).
    BfdDiscriminator {
        /// Its number at the sender.
        discriminator: u32,
    },
    /// A way on from who replies, or the way by which a request is to come (RFC 8029, 3.4).
    DownstreamDetailedMapping(Mapping),
    /// A TLV of a type that is not read here, or one whose value is none of its type.
    Other {
        /// Its type (RFC 8029, 3).
        #[serde(rename = "type")]
        kind: u16,
        /// Its value, without padding.
        value: Hex,
    },
}

/// Who is to reply (RFC 6425, 3.2), by its name under `responder`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "responder", rename_all = "kebab-case")]
pub enum Responder {
    /// Routers on the way to this end of the LSP, and it.
    Egress {
        /// Its address.
        address: IpAddr,
    },
    /// The router that has this address, wherever it is on the LSP.
    Node {
        /// The address.
        address: IpAddr,
    },
    /// A sub-TLV of a type that is not read here, or one whose value is no address.
    Other {
        /// Its type.
        #[serde(rename = "type")]
        kind: u16,
        /// Its value, without padding.
        value: Hex,
    },
}

impl Responder {
    /// Is the sub-type one that is read here?
    pub const fn is_known(kind: u16) -> bool {
        matches!(kind, 1..=4)
    }

    fn read(kind: u16, value: &[u8]) -> Responder {
        let (four, six) = (<[u8; 4]>::try_from(value).ok(), <[u8; 16]>::try_from(value).ok());
        let (four, six) = (four.map(IpAddr::from), six.map(IpAddr::from));
        let known = match kind {
            1 => four.map(|address| Responder::Egress { address }),
            2 => six.map(|address| Responder::Egress { address }),
            3 => four.map(|address| Responder::Node { address }),
            4 => six.map(|address| Responder::Node { address }),
            _ => None,
        };
        known.unwrap_or_else(|| Responder::Other { kind, value: value.into() })
    }

    fn value(&self) -> (u16, Vec<u8>) {
        let of = |address: &IpAddr, four: u16| match address {
            IpAddr::V4(address) => (four, address.octets().to_vec()),
            IpAddr::V6(address) => (four + 1, address.octets().to_vec()),
        };
        match self {
            Responder::Egress { address } => of(address, 1),
            Responder::Node { address } => of(address, 3),
            Responder::Other { kind, value } => (*kind, value.0.clone()),
        }
    }
}

/// A TLV that is not looked into.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawTlv {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: u16,
    /// Its value, without padding.
    pub value: Hex,
}

impl Tlv {
    /// Is the type one that is read here?
    pub const fn is_known(kind: u16) -> bool {
        let is_of_fixed = matches!(kind, TARGET_FEC_STACK | PAD | VENDOR | REPLY_TOS | BFD_DISCRIMINATOR);
        let is_of_lists =
            matches!(kind, INTERFACE_AND_LABEL_STACK | ERRORED_TLVS | DOWNSTREAM_DETAILED_MAPPING);
        is_of_fixed || is_of_lists || matches!(kind, P2MP_RESPONDER | ECHO_JITTER)
    }

    /// The type of what Downstream Detailed Mapping has replaced (RFC 8029, 3.4).
    pub const DOWNSTREAM_MAPPING: u16 = 2;

    /// The TLV as its type and value, for an answer that repeats it.
    pub fn raw(&self) -> Result<RawTlv, Error> {
        let (kind, value) = self.value()?;
        Ok(RawTlv { kind, value: Hex(value) })
    }

    /// What a TLV says; what must be zero is not looked at.
    pub(super) fn read(kind: u16, value: &[u8]) -> Tlv {
        Tlv::known(kind, value).unwrap_or_else(|| Tlv::Other { kind, value: value.into() })
    }

    /// The same, if it can be written again as it is; else it is shown as it is.
    pub(super) fn read_exactly(kind: u16, value: &[u8]) -> Tlv {
        let read = Tlv::read(kind, value);
        match read.value() {
            Ok((_, again)) if again == value => read,
            _ => Tlv::Other { kind, value: value.into() },
        }
    }

    /// What a TLV says, if its type and what it holds have names.
    fn known(kind: u16, value: &[u8]) -> Option<Tlv> {
        let raw = |(kind, value): (u16, &[u8])| RawTlv { kind, value: value.into() };
        Some(match (kind, value) {
            (TARGET_FEC_STACK, _) => {
                let fecs = parts(value).ok()?.into_iter().map(|(kind, value)| Fec::read(kind, value));
                Tlv::TargetFecStack { fecs: fecs.collect() }
            }
            (PAD, [action, rest @ ..]) => Tlv::Pad { action: *action, rest: rest.into() },
            (VENDOR, &[a, b, c, d]) => Tlv::Vendor { number: u32::from_be_bytes([a, b, c, d]) },
            (INTERFACE_AND_LABEL_STACK, _) => Tlv::InterfaceAndLabelStack(Received::read(value)?),
            (ERRORED_TLVS, _) => {
                Tlv::ErroredTlvs { errored: parts(value).ok()?.into_iter().map(raw).collect() }
            }
            (REPLY_TOS, &[tos, _, _, _]) => Tlv::ReplyTos { tos },
            (P2MP_RESPONDER, _) => {
                let all = parts(value).ok()?.into_iter().map(|(kind, value)| Responder::read(kind, value));
                Tlv::P2mpResponder { responders: all.collect() }
            }
            (ECHO_JITTER, &[a, b, c, d]) => Tlv::EchoJitter { jitter_ms: u32::from_be_bytes([a, b, c, d]) },
            (BFD_DISCRIMINATOR, &[a, b, c, d]) => {
                Tlv::BfdDiscriminator { discriminator: u32::from_be_bytes([a, b, c, d]) }
            }
            (DOWNSTREAM_DETAILED_MAPPING, _) => Tlv::DownstreamDetailedMapping(Mapping::read(value)?),
            _ => return None,
        })
    }

    fn value(&self) -> Result<(u16, Vec<u8>), Error> {
        let mut value = Vec::new();
        Ok(match self {
            Tlv::TargetFecStack { fecs } => {
                for fec in fecs {
                    let (kind, bytes) = fec.value();
                    append(&mut value, kind, &bytes)?;
                }
                (TARGET_FEC_STACK, value)
            }
            Tlv::Pad { action, rest } => (PAD, [&[*action][..], &rest.0].concat()),
            Tlv::Vendor { number } => (VENDOR, number.to_be_bytes().to_vec()),
            Tlv::InterfaceAndLabelStack(received) => (INTERFACE_AND_LABEL_STACK, received.value()),
            Tlv::ErroredTlvs { errored } => {
                errored.iter().try_for_each(|one| append(&mut value, one.kind, &one.value.0))?;
                (ERRORED_TLVS, value)
            }
            Tlv::ReplyTos { tos } => (REPLY_TOS, vec![*tos, 0, 0, 0]),
            Tlv::P2mpResponder { responders } => {
                for responder in responders {
                    let (kind, bytes) = responder.value();
                    append(&mut value, kind, &bytes)?;
                }
                (P2MP_RESPONDER, value)
            }
            Tlv::EchoJitter { jitter_ms } => (ECHO_JITTER, jitter_ms.to_be_bytes().to_vec()),
            Tlv::BfdDiscriminator { discriminator } => {
                (BFD_DISCRIMINATOR, discriminator.to_be_bytes().to_vec())
            }
            Tlv::DownstreamDetailedMapping(mapping) => (DOWNSTREAM_DETAILED_MAPPING, mapping.value()?),
            Tlv::Other { kind, value } => (*kind, value.0.clone()),
        })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        let (kind, value) = self.value()?;
        append(out, kind, &value)
    }
}

/// TLVs one behind the other, each with its type and its value without padding.
pub(super) fn parts(data: &[u8]) -> Result<Vec<(u16, &[u8])>, Error> {
    let mut parts = Vec::new();
    let mut at = 0;
    while at < data.len() {
        let rest = &data[at..];
        need(LAYER, TLV_HEADER_LEN, rest.len()).map_err(|error| error.at(at))?;
        let kind = u16::from_be_bytes([rest[0], rest[1]]);
        let len = usize::from(u16::from_be_bytes([rest[2], rest[3]]));
        let padded = TLV_HEADER_LEN + len.next_multiple_of(4);
        let Some(value) = rest.get(TLV_HEADER_LEN..TLV_HEADER_LEN + len).filter(|_| padded <= rest.len())
        else {
            let (found, max) = (len as u64, rest.len().saturating_sub(TLV_HEADER_LEN) as u64);
            let reason = Reason::OutOfRange { field: "TLV length", found, min: 0, max };
            return Err(Error::new(LAYER, at + 2, reason));
        };
        parts.push((kind, value));
        at += padded;
    }
    Ok(parts)
}

pub(super) fn append(out: &mut Vec<u8>, kind: u16, value: &[u8]) -> Result<(), Error> {
    let max = u16::MAX;
    let len = u16::try_from(value.len()).map_err(|_| {
        let reason =
            Reason::OutOfRange { field: "TLV length", found: value.len() as u64, min: 0, max: max.into() };
        Error::new(LAYER, 0, reason)
    })?;
    out.extend(kind.to_be_bytes());
    out.extend(len.to_be_bytes());
    out.extend(value);
    out.resize(out.len() + (value.len().next_multiple_of(4) - value.len()), 0);
    Ok(())
}
