//! MLD: which groups of IPv6 the listeners of a link want. Versions 1 (RFC 3810, 8) and 2 (RFC 3810), as messages of
//! ICMPv6.
//!
//! Each message is sent with hop limit 1 and the Router Alert option with value [`ROUTER_ALERT`] (RFC 3810, 5; RFC
//! 2711, 2.1).

mod code;
#[cfg(test)]
mod tests;

pub use crate::membership::{Record, RecordKind};
pub use code::{of_code, to_code};

use crate::error::{Error, Reason, need};
use crate::icmpv6::{Packet, Type};
use crate::membership::{self, Address};
use core::net::Ipv6Addr;
use serde::{Deserialize, Serialize};

const LAYER: &str = "mld";
/// What the Router Alert option says of these messages (RFC 2711, 2.1).
pub const ROUTER_ALERT: u16 = 0;
/// All routers that speak version 2: its reports go there (RFC 3810, 5.2.14).
pub const ALL_V2_ROUTERS: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0x16);

/// Bytes of a message of version 1.
pub const V1_LEN: usize = 24;
/// Bytes of a report of version 2 in front of its records.
const REPORT_LEN: usize = 8;
/// Where the group stands.
const GROUP: usize = 8;

/// What only queries of version 2 say.
pub type QueryV2 = membership::Details<Ipv6Addr>;

/// A message. People see its name under `listener`, beside its fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "listener", rename_all = "kebab-case")]
pub enum Repr {
    /// Who listens to which groups?
    Query {
        /// The time in which listeners are to answer, in milliseconds.
        max_resp_ms: u32,
        /// The group that is asked about; all if it is `::`.
        group: Ipv6Addr,
        /// What version 2 adds; absent in version 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        v2: Option<QueryV2>,
    },
    /// A host wants a group, says version 1.
    ReportV1 {
        /// The group that it is about.
        group: Ipv6Addr,
    },
    /// A host leaves a group, says version 1.
    Done {
        /// The group that it is about.
        group: Ipv6Addr,
    },
    /// What a host wants, says version 2.
    ReportV2 {
        /// A record for each group.
        records: Vec<Record<Ipv6Addr>>,
    },
}

/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |     Type      |      Code     |           Checksum            |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |    Maximum Response Code      |           Reserved            |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                 Multicast Address (16 bytes)                  |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// | Resv  |S| QRV |     QQIC      |     Number of Sources (N)     |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
impl Repr {
    /// Reads a message between these addresses; its checksum must be right (RFC 3810, 5.1.2 and 5.2.2).
    pub fn parse(bytes: &[u8], src: Ipv6Addr, dst: Ipv6Addr) -> Result<Repr, Error> {
        Packet::new_checked(bytes)?.verify_checksum(src, dst)?;
        Repr::parse_unverified(bytes)
    }

    /// Reads a message whatever its checksum. What follows it is ignored (RFC 3810, 5.1.12 and 5.2.11).
    pub fn parse_unverified(bytes: &[u8]) -> Result<Repr, Error> {
        let icmp_type = Packet::new_checked(bytes)?.icmp_type();
        match icmp_type {
            Type::LISTENER_QUERY => Repr::parse_query(bytes),
            Type::LISTENER_REPORT_V1 => Ok(Repr::ReportV1 { group: group_of(bytes)? }),
            Type::LISTENER_DONE => Ok(Repr::Done { group: group_of(bytes)? }),
            Type::LISTENER_REPORT_V2 => {
                Ok(Repr::ReportV2 { records: membership::parse_records(LAYER, bytes)? })
            }
            Type(other) => {
                let (min, max) = (Type::LISTENER_QUERY.0.into(), Type::LISTENER_REPORT_V2.0.into());
                Err(Error::new(LAYER, 0, Reason::OutOfRange { field: "type", found: other.into(), min, max }))
            }
        }
    }

    fn parse_query(bytes: &[u8]) -> Result<Repr, Error> {
        need(LAYER, V1_LEN, bytes.len())?;
        let group = Ipv6Addr::read(bytes, GROUP);
        if !group.is_unspecified() {
            group_of(bytes)?;
        }
        let code = u16::from_be_bytes([bytes[4], bytes[5]]);
        // RFC 3810, 8.1: the length tells the versions apart; what lies between is silently ignored.
        if bytes.len() == V1_LEN {
            return Ok(Repr::Query { max_resp_ms: code.into(), group, v2: None });
        }
        let v2 = QueryV2::parse(LAYER, bytes, V1_LEN)?;
        Ok(Repr::Query { max_resp_ms: of_code(code), group, v2: Some(v2) })
    }

    /// The type that the message has among those of ICMPv6.
    pub const fn icmp_type(&self) -> Type {
        match self {
            Repr::Query { .. } => Type::LISTENER_QUERY,
            Repr::ReportV1 { .. } => Type::LISTENER_REPORT_V1,
            Repr::Done { .. } => Type::LISTENER_DONE,
            Repr::ReportV2 { .. } => Type::LISTENER_REPORT_V2,
        }
    }

    /// The bytes of the message, with its checksum between these addresses.
    pub fn emit(&self, src: Ipv6Addr, dst: Ipv6Addr) -> Vec<u8> {
        let mut out = vec![0; REPORT_LEN];
        match self {
            Repr::Query { max_resp_ms, group, v2 } => {
                let code = match v2 {
                    Some(_) => to_code(*max_resp_ms),
                    None => u16::try_from(*max_resp_ms).unwrap_or(u16::MAX),
                };
                out[4..6].copy_from_slice(&code.to_be_bytes());
                group.append_to(&mut out);
                if let Some(v2) = v2 {
                    v2.append_to(&mut out);
                }
            }
            Repr::ReportV1 { group } | Repr::Done { group } => group.append_to(&mut out),
            Repr::ReportV2 { records } => {
                out[6..8].copy_from_slice(&(records.len() as u16).to_be_bytes());
                membership::append_records(records, &mut out);
            }
        }
        let mut packet = Packet::new_unchecked(&mut out);
        packet.set_type(self.icmp_type(), 0);
        packet.fill_checksum(src, dst);
        out
    }
}

/// The group of a message, which has to be one.
fn group_of(bytes: &[u8]) -> Result<Ipv6Addr, Error> {
    need(LAYER, V1_LEN, bytes.len())?;
    let group = Ipv6Addr::read(bytes, GROUP);
    match group.is_multicast() {
        true => Ok(group),
        false => Err(Error::invalid(LAYER, GROUP, "the address is no group")),
    }
}
