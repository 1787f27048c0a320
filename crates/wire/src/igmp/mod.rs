//! IGMP: which groups the hosts of a link want. Versions 1 and 2 (RFC 2236) and 3 (RFC 3376).

mod code;
#[cfg(test)]
mod tests;

pub use crate::membership::{Record, RecordKind};
pub use code::{of_code, to_code};

use crate::checksum;
use crate::error::{Error, Reason, need};
use crate::membership::{self, Address};
use core::net::Ipv4Addr;

pub(crate) const LAYER: &str = "igmp";
/// Number of the IP protocol.
pub const PROTOCOL: u8 = 2;
/// All hosts of a link: general queries go there.
pub const ALL_SYSTEMS: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 1);
/// All routers of a link: leaves of version 2 go there.
pub const ALL_ROUTERS: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 2);
/// All routers that speak version 3: its reports go there (RFC 3376, 4.2.14).
pub const ALL_V3_ROUTERS: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 22);

/// Bytes of a message of version 2, and of what each message begins with.
pub const HEADER_LEN: usize = 8;

/// Each constant is a type of message.
pub mod kind {
    /// Query, of all versions.
    pub const QUERY: u8 = 0x11;
    /// Report of version 1.
    pub const REPORT_V1: u8 = 0x12;
    /// Report of version 2.
    pub const REPORT_V2: u8 = 0x16;
    /// Leave of version 2.
    pub const LEAVE: u8 = 0x17;
    /// Report of version 3.
    pub const REPORT_V3: u8 = 0x22;
}

/// What only queries of version 3 say.
pub type QueryV3 = membership::Details<Ipv4Addr>;

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repr {
    /// Who wants which groups?
    Query {
        /// The time in which hosts are to answer, in tenths of a second; 0 says version 1.
        max_resp_ds: u16,
        /// The group that is asked about; all if it is 0.0.0.0.
        group: Ipv4Addr,
        /// What version 3 adds; absent in versions 1 and 2.
        v3: Option<QueryV3>,
    },
    /// A host wants a group, says version 1.
    ReportV1 {
        /// Which.
        group: Ipv4Addr,
    },
    /// A host wants a group, says version 2.
    ReportV2 {
        /// Which.
        group: Ipv4Addr,
    },
    /// A host leaves a group, says version 2.
    Leave {
        /// Which.
        group: Ipv4Addr,
    },
    /// What a host wants, says version 3.
    ReportV3 {
        /// A record for each group.
        records: Vec<Record>,
    },
}

/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |      Type     | Max Resp Code |           Checksum            |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                         Group Address                         |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// | Resv  |S| QRV |     QQIC      |     Number of Sources (N)     |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
impl Repr {
    /// Reads a message and checks its checksum, which covers all bytes (RFC 3376, 4.1.2).
    pub fn parse(bytes: &[u8]) -> Result<Repr, Error> {
        need(LAYER, HEADER_LEN, bytes.len())?;
        let found = u16::from_be_bytes([bytes[2], bytes[3]]);
        if checksum::sum(bytes) != 0xffff {
            let computed = !checksum::combine(&[checksum::sum(&bytes[..2]), checksum::sum(&bytes[4..])]);
            return Err(Error::new(LAYER, 2, Reason::Checksum { found, computed }));
        }
        let group = Ipv4Addr::read(bytes, 4);
        let known = |group: Ipv4Addr| match group.is_multicast() {
            true => Ok(group),
            false => Err(Error::invalid(LAYER, 4, "the address is no group")),
        };
        match bytes[0] {
            kind::QUERY => Repr::parse_query(bytes, group),
            kind::REPORT_V1 => Ok(Repr::ReportV1 { group: known(group)? }),
            kind::REPORT_V2 => Ok(Repr::ReportV2 { group: known(group)? }),
            kind::LEAVE => Ok(Repr::Leave { group: known(group)? }),
            kind::REPORT_V3 => Ok(Repr::ReportV3 { records: membership::parse_records(LAYER, bytes)? }),
            other => {
                let (min, max) = (kind::QUERY.into(), kind::REPORT_V3.into());
                Err(Error::new(LAYER, 0, Reason::OutOfRange { field: "type", found: other.into(), min, max }))
            }
        }
    }

    fn parse_query(bytes: &[u8], group: Ipv4Addr) -> Result<Repr, Error> {
        if !group.is_unspecified() && !group.is_multicast() {
            return Err(Error::invalid(LAYER, 4, "the address is no group"));
        }
        // RFC 3376, 7.1: the length tells the versions apart; what lies between is silently ignored.
        if bytes.len() == HEADER_LEN {
            return Ok(Repr::Query { max_resp_ds: bytes[1].into(), group, v3: None });
        }
        let v3 = QueryV3::parse(LAYER, bytes, HEADER_LEN)?;
        Ok(Repr::Query { max_resp_ds: of_code(bytes[1]), group, v3: Some(v3) })
    }

    /// The bytes of the message, with its checksum.
    pub fn emit(&self) -> Vec<u8> {
        let mut out = vec![0; HEADER_LEN];
        let group = match self {
            Repr::Query { max_resp_ds, group, v3 } => {
                out[0] = kind::QUERY;
                out[1] = match v3 {
                    Some(_) => to_code(*max_resp_ds),
                    None => u8::try_from(*max_resp_ds).unwrap_or(u8::MAX),
                };
                if let Some(v3) = v3 {
                    v3.append_to(&mut out);
                }
                *group
            }
            Repr::ReportV1 { group } => {
                out[0] = kind::REPORT_V1;
                *group
            }
            Repr::ReportV2 { group } => {
                out[0] = kind::REPORT_V2;
                *group
            }
            Repr::Leave { group } => {
                out[0] = kind::LEAVE;
                *group
            }
            Repr::ReportV3 { records } => {
                out[0] = kind::REPORT_V3;
                membership::append_records(records, &mut out);
                // Two reserved bytes, and the number of records.
                Ipv4Addr::from_bits(records.len() as u32 & 0xffff)
            }
        };
        out[4..8].copy_from_slice(&group.octets());
        let sum = !checksum::sum(&out);
        out[2..4].copy_from_slice(&sum.to_be_bytes());
        out
    }
}
