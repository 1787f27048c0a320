//! Parameters of messages, as they are shown to users.

use crate::error::{Error, Reason};
use crate::hex::Hex;
use crate::ldp::atm::{AtmLabel, Counts};
use crate::ldp::tlv::{Addresses, AnyLabel, Fec, Found, Tlv, tlv_type};
use crate::ldp::{LAYER, LdpId, P2mp, Status, status};
use base::Label;
use base::plane::IpPrefix;
use core::fmt::{self, Write};
use core::net::{IpAddr, Ipv4Addr};
use serde::{Deserialize, Serialize};

/// A parameter (RFC 5036, 3.3). Serialises with its name under `parameter`, beside its fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "parameter", rename_all = "kebab-case")]
pub enum LdpParameter {
    /// Whose packets (3.4.1).
    Fec {
        /// The elements in their order.
        elements: Vec<LdpFec>,
    },
    /// A label of MPLS (3.4.2.1).
    GenericLabel {
        /// 0 to 1,048,575.
        label: u32,
    },
    /// A label of an ATM link (3.4.2.2).
    AtmLabel {
        /// What counts: 0 both, 1 the path alone, 2 the channel alone.
        #[serde(default)]
        v_bits: u8,
        /// Virtual path, 0 to 4,095.
        vpi: u16,
        /// Virtual channel.
        vci: u16,
    },
    /// Addresses of the sender (3.4.3).
    AddressList {
        /// All of one family.
        addresses: Vec<IpAddr>,
    },
    /// Routers on the way (3.4.4).
    HopCount {
        /// Their number; zero if nobody knows.
        hops: u8,
    },
    /// Those routers (3.4.5).
    PathVector {
        /// Their identifiers.
        routers: Vec<Ipv4Addr>,
    },
    /// What happened (3.4.6).
    Status {
        /// The 30 bits of status data.
        status: u32,
        /// What they mean. Not read when encoding.
        #[serde(default, skip_deserializing, skip_serializing_if = "Option::is_none")]
        meaning: Option<String>,
        /// Does it end the session?
        #[serde(default)]
        fatal: bool,
        /// Is it to be passed on?
        #[serde(default)]
        forward: bool,
        /// The message that it is about, or zero.
        #[serde(default)]
        message_id: u32,
        /// The type of that message, or zero.
        #[serde(default)]
        message_type: u16,
    },
    /// What a Hello says (3.5.2).
    CommonHello {
        /// Seconds for which the sender remembers the receiver.
        hold_s: u16,
        /// Is it for a router that may be further away?
        #[serde(default)]
        targeted: bool,
        /// Is the receiver to answer by targeted Hellos?
        #[serde(default)]
        request_targeted: bool,
        /// Does the sender check the time to live in the session (RFC 6720, 2.1)?
        #[serde(default)]
        gtsm: bool,
    },
    /// The sender's end of the session, of IPv4 or IPv6 (3.5.2).
    TransportAddress {
        /// The address.
        address: IpAddr,
    },
    /// A number that changes with the sender's configuration (3.5.2).
    ConfigurationSequence {
        /// The number.
        number: u32,
    },
    /// How the session is to be (3.5.3).
    CommonSession {
        /// The version of LDP.
        version: u16,
        /// Seconds between two PDUs at most.
        keepalive_s: u16,
        /// Are labels given only to who asks for them?
        #[serde(default)]
        on_demand: bool,
        /// Are loops looked for by path vectors?
        #[serde(default)]
        loop_detection: bool,
        /// The longest path vector.
        path_vector_limit: u8,
        /// The longest PDU in bytes; up to 255 it is 4,096.
        max_pdu: u16,
        /// Router id of the receiver.
        receiver: Ipv4Addr,
        /// Its label space.
        #[serde(default)]
        receiver_label_space: u16,
    },
    /// The number of the request that the message is about (3.5.7).
    LabelRequestId {
        /// The number.
        id: u32,
    },
    /// Any other, or one that would not be the same if it were written again.
    Other {
        /// Its type, in 14 bits.
        kind: u16,
        /// May it be left out by who does not know it?
        #[serde(default)]
        optional: bool,
        /// Is it to be passed on by who does not know it?
        #[serde(default)]
        forward: bool,
        /// Its value, in hexadecimal.
        value: Hex,
    },
}

/// An element of an FEC (RFC 5036, 3.4.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LdpFec {
    /// All FECs that a label is bound to, or all there are.
    Wildcard,
    /// Packets to a prefix.
    Prefix(IpPrefix),
    /// All prefixes of an address family, by its number (RFC 5918, 6).
    AllPrefixes(u16),
    /// A point-to-multipoint LSP (RFC 6388, 2.2).
    P2mp {
        /// Address of the root.
        root: IpAddr,
        /// What the root tells its LSPs apart by.
        opaque: Hex,
    },
    /// All point-to-multipoint LSPs of an address family, by its number (RFC 6388, 9).
    AllP2mp(u16),
}

impl LdpParameter {
    /// Reads a parameter of a type, the two bits in front included. What can't be read or would be written otherwise
    /// stays as it is.
    pub(super) fn read(field: u16, value: &[u8]) -> LdpParameter {
        let (optional, forward) = (field & 1 << 15 != 0, field & 1 << 14 != 0);
        let kind = field & 0x3fff;
        let as_it_is = || LdpParameter::Other { kind, optional, forward, value: value.into() };
        let Some(parameter) = LdpParameter::explained(kind, value) else { return as_it_is() };
        let mut again = Vec::new();
        let is_same = parameter.emit(&mut again).is_ok()
            && again
                .split_at_checked(4)
                .is_some_and(|(head, rest)| head[..2] == field.to_be_bytes() && rest == value);
        if is_same { parameter } else { as_it_is() }
    }

    fn explained(kind: u16, value: &[u8]) -> Option<LdpParameter> {
        let found = Found { kind, value, at: 0 };
        let word = || value.try_into().ok().map(u32::from_be_bytes);
        Some(match kind {
            tlv_type::FEC => {
                let elements = Fec::read(&found).ok()?.into_iter().map(LdpFec::from).collect();
                LdpParameter::Fec { elements }
            }
            tlv_type::GENERIC_LABEL => LdpParameter::GenericLabel { label: word()? },
            tlv_type::ATM_LABEL => {
                let AtmLabel { counts, vpi, vci } = AtmLabel::from_word(word()?);
                LdpParameter::AtmLabel { v_bits: counts as u8, vpi, vci }
            }
            tlv_type::ADDRESS_LIST => {
                let addresses = match Addresses::read(&found).ok()? {
                    Addresses::V4(all) => all.into_iter().map(IpAddr::V4).collect(),
                    Addresses::V6(all) => all.into_iter().map(IpAddr::V6).collect(),
                };
                LdpParameter::AddressList { addresses }
            }
            tlv_type::HOP_COUNT => LdpParameter::HopCount { hops: *value.first()? },
            tlv_type::PATH_VECTOR => {
                let routers = value.as_chunks::<4>().0.iter().map(|&router| Ipv4Addr::from(router)).collect();
                LdpParameter::PathVector { routers }
            }
            tlv_type::STATUS => {
                let (&code, rest) = value.split_first_chunk::<4>()?;
                let (&message_id, rest) = rest.split_first_chunk::<4>()?;
                let code = u32::from_be_bytes(code);
                LdpParameter::Status {
                    status: code & !(status::FATAL | status::FORWARD),
                    meaning: Status::of(code).map(|status| status.words().to_owned()),
                    fatal: code & status::FATAL != 0,
                    forward: code & status::FORWARD != 0,
                    message_id: u32::from_be_bytes(message_id),
                    message_type: u16::from_be_bytes(rest.try_into().ok()?),
                }
            }
            tlv_type::COMMON_HELLO => {
                let [h, i, flags, _]: [u8; 4] = value.try_into().ok()?;
                let bit = |place: u8| flags >> place & 1 == 1;
                let hold_s = u16::from_be_bytes([h, i]);
                LdpParameter::CommonHello { hold_s, targeted: bit(7), request_targeted: bit(6), gtsm: bit(5) }
            }
            tlv_type::IPV4_TRANSPORT => {
                LdpParameter::TransportAddress { address: <[u8; 4]>::try_from(value).ok()?.into() }
            }
            tlv_type::IPV6_TRANSPORT => {
                LdpParameter::TransportAddress { address: <[u8; 16]>::try_from(value).ok()?.into() }
            }
            tlv_type::CONFIGURATION_SEQUENCE => LdpParameter::ConfigurationSequence { number: word()? },
            tlv_type::COMMON_SESSION => {
                let &[v, e, k, a, flags, path_vector_limit, m, x, ref receiver @ ..] =
                    value.first_chunk::<14>()?;
                let receiver = LdpId::read(*receiver);
                LdpParameter::CommonSession {
                    version: u16::from_be_bytes([v, e]),
                    keepalive_s: u16::from_be_bytes([k, a]),
                    on_demand: flags & 0x80 != 0,
                    loop_detection: flags & 0x40 != 0,
                    path_vector_limit,
                    max_pdu: u16::from_be_bytes([m, x]),
                    receiver: receiver.router,
                    receiver_label_space: receiver.space,
                }
            }
            tlv_type::LABEL_REQUEST_ID => LdpParameter::LabelRequestId { id: word()? },
            _ => return None,
        })
    }

    /// Writes the parameter. Its length is what was written: the caller puts it where it belongs.
    pub(super) fn emit(&self, to: &mut Vec<u8>) -> Result<(), Error> {
        let mut plain = |kind: u16, value: &[u8]| {
            to.extend(kind.to_be_bytes());
            to.extend([0, 0]);
            to.extend(value);
        };
        match self {
            LdpParameter::Fec { elements } => {
                let mut value = Vec::new();
                elements.iter().for_each(|element| Fec::from(element.clone()).emit(&mut value));
                plain(tlv_type::FEC, &value);
            }
            LdpParameter::GenericLabel { label } => {
                let out_of_range =
                    Reason::OutOfRange { field: "label", found: u64::from(*label), min: 0, max: 0xf_ffff };
                let label = Label::new(*label).ok_or(Error::new(LAYER, 0, out_of_range))?;
                AnyLabel::Generic(label).emit(to);
            }
            &LdpParameter::AtmLabel { v_bits, vpi, vci } => {
                let counts = match v_bits {
                    0 => Counts::Both,
                    1 => Counts::Vpi,
                    2 => Counts::Vci,
                    3 => Counts::Unknown,
                    _ => return Err(Error::invalid(LAYER, 0, "v_bits are 0 to 3")),
                };
                if vpi > 0xfff {
                    return Err(Error::invalid(LAYER, 0, "a vpi is 0 to 4095"));
                }
                AnyLabel::Atm(AtmLabel { counts, vpi, vci }.word()).emit(to);
            }
            LdpParameter::AddressList { addresses } => {
                let v4 = addresses.iter().map(|a| if let IpAddr::V4(a) = a { Some(*a) } else { None });
                let v6 = addresses.iter().map(|a| if let IpAddr::V6(a) = a { Some(*a) } else { None });
                let all = v4.collect::<Option<Vec<_>>>().map(Addresses::V4);
                let all = all.or_else(|| v6.collect::<Option<Vec<_>>>().map(Addresses::V6));
                let mixed = Error::invalid(LAYER, 0, "the addresses of a list are of one family");
                all.ok_or(mixed)?.emit(to);
            }
            LdpParameter::HopCount { hops } => plain(tlv_type::HOP_COUNT, &[*hops]),
            LdpParameter::PathVector { routers } => {
                let value: Vec<u8> = routers.iter().flat_map(Ipv4Addr::octets).collect();
                plain(tlv_type::PATH_VECTOR, &value);
            }
            LdpParameter::Status { status, fatal, forward, message_id, message_type, .. } => {
                if status & (status::FATAL | status::FORWARD) != 0 {
                    return Err(Error::invalid(LAYER, 0, "status data has 30 bits"));
                }
                let fatal = if *fatal { status::FATAL } else { 0 };
                let forward = if *forward { status::FORWARD } else { 0 };
                let words = [(status | fatal | forward).to_be_bytes(), message_id.to_be_bytes()].concat();
                plain(tlv_type::STATUS, &[&words[..], &message_type.to_be_bytes()].concat());
            }
            LdpParameter::CommonHello { hold_s, targeted, request_targeted, gtsm } => {
                let bits = [(*targeted, 7), (*request_targeted, 6), (*gtsm, 5)];
                let flags = bits.iter().fold(0u8, |all, (is_set, place)| all | u8::from(*is_set) << place);
                let [h, i] = hold_s.to_be_bytes();
                plain(tlv_type::COMMON_HELLO, &[h, i, flags, 0]);
            }
            LdpParameter::TransportAddress { address: IpAddr::V4(address) } => {
                plain(tlv_type::IPV4_TRANSPORT, &address.octets());
            }
            LdpParameter::TransportAddress { address: IpAddr::V6(address) } => {
                plain(tlv_type::IPV6_TRANSPORT, &address.octets());
            }
            LdpParameter::ConfigurationSequence { number } => {
                plain(tlv_type::CONFIGURATION_SEQUENCE, &number.to_be_bytes());
            }
            LdpParameter::CommonSession {
                version,
                keepalive_s,
                on_demand,
                loop_detection,
                path_vector_limit,
                max_pdu,
                receiver,
                receiver_label_space,
            } => {
                let flags = u8::from(*on_demand) << 7 | u8::from(*loop_detection) << 6;
                let mut value = Vec::new();
                value.extend(version.to_be_bytes());
                value.extend(keepalive_s.to_be_bytes());
                value.extend([flags, *path_vector_limit]);
                value.extend(max_pdu.to_be_bytes());
                LdpId { router: *receiver, space: *receiver_label_space }.emit(&mut value);
                plain(tlv_type::COMMON_SESSION, &value);
            }
            LdpParameter::LabelRequestId { id } => plain(tlv_type::LABEL_REQUEST_ID, &id.to_be_bytes()),
            LdpParameter::Other { kind, optional, forward, value } => {
                if *kind > 0x3fff {
                    return Err(Error::invalid(LAYER, 0, "the type of a parameter has 14 bits"));
                }
                let (is_optional, is_forwarded) = (*optional, *forward);
                Tlv { is_optional, is_forwarded, kind: *kind, value: value.clone() }.emit(to);
            }
        }
        Ok(())
    }

    /// What a line has room for.
    pub(super) fn summarise(&self, out: &mut String) -> fmt::Result {
        match self {
            LdpParameter::Fec { elements } => {
                elements.iter().try_for_each(|element| write!(out, " {element}"))
            }
            LdpParameter::GenericLabel { label } => write!(out, " label {label}"),
            LdpParameter::AtmLabel { vpi, vci, .. } => write!(out, " channel {vpi}/{vci}"),
            LdpParameter::AddressList { addresses } => {
                addresses.iter().try_for_each(|address| write!(out, " {address}"))
            }
            LdpParameter::HopCount { hops } => write!(out, " hops {hops}"),
            LdpParameter::Status { status, meaning, .. } => match meaning {
                Some(words) => write!(out, ": {words}"),
                None => write!(out, ": status {status:#x}"),
            },
            LdpParameter::CommonHello { hold_s, targeted, .. } => {
                write!(out, " hold {hold_s} s{}", if *targeted { ", targeted" } else { "" })
            }
            LdpParameter::CommonSession { keepalive_s, .. } => write!(out, " keepalive {keepalive_s} s"),
            _ => Ok(()),
        }
    }
}

impl From<Fec> for LdpFec {
    fn from(fec: Fec) -> LdpFec {
        match fec {
            Fec::Wildcard => LdpFec::Wildcard,
            Fec::Prefix(prefix) => LdpFec::Prefix(prefix),
            Fec::AllPrefixes(family) => LdpFec::AllPrefixes(family),
            Fec::P2mp(P2mp { root, opaque }) => LdpFec::P2mp { root, opaque },
            Fec::AllP2mp(family) => LdpFec::AllP2mp(family),
        }
    }
}

impl From<LdpFec> for Fec {
    fn from(fec: LdpFec) -> Fec {
        match fec {
            LdpFec::Wildcard => Fec::Wildcard,
            LdpFec::Prefix(prefix) => Fec::Prefix(prefix),
            LdpFec::AllPrefixes(family) => Fec::AllPrefixes(family),
            LdpFec::P2mp { root, opaque } => Fec::P2mp(P2mp { root, opaque }),
            LdpFec::AllP2mp(family) => Fec::AllP2mp(family),
        }
    }
}

impl fmt::Display for LdpFec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LdpFec::Wildcard => f.write_str("all"),
            LdpFec::Prefix(prefix) => prefix.fmt(f),
            LdpFec::AllPrefixes(_) => f.write_str("all prefixes"),
            LdpFec::P2mp { root, .. } => write!(f, "tree of {root}"),
            LdpFec::AllP2mp(_) => f.write_str("all trees"),
        }
    }
}
