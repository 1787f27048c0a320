//! What IGMP and MLD have in common: records of reports, and what queries of their newest versions add. The two differ
//! in the length of addresses only (RFC 3376, 4.1 and 4.2; RFC 3810, 5.1 and 5.2).

use crate::error::{Error, need};
use crate::igmp::{of_code, to_code};
use core::fmt::Debug;
use core::net::{Ipv4Addr, Ipv6Addr};
use serde::{Deserialize, Serialize};

/// An address of a group or of a source, of IPv4 or of IPv6.
pub trait Address: Copy + Eq + Debug {
    /// Bytes of the address.
    const LEN: usize;
    /// No address.
    const UNSPECIFIED: Self;
    /// The address at a place; no address if it is not there.
    fn read(bytes: &[u8], at: usize) -> Self;
    /// Writes it behind what is there.
    fn append_to(self, out: &mut Vec<u8>);
    /// Is it the address of a group?
    fn is_group(self) -> bool;
}

impl Address for Ipv4Addr {
    const LEN: usize = 4;
    const UNSPECIFIED: Ipv4Addr = Ipv4Addr::UNSPECIFIED;
    fn read(bytes: &[u8], at: usize) -> Ipv4Addr {
        let octets = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>());
        octets.map_or(Ipv4Addr::UNSPECIFIED, |octets| Ipv4Addr::from(*octets))
    }
    fn append_to(self, out: &mut Vec<u8>) {
        out.extend(self.octets());
    }
    fn is_group(self) -> bool {
        self.is_multicast()
    }
}

impl Address for Ipv6Addr {
    const LEN: usize = 16;
    const UNSPECIFIED: Ipv6Addr = Ipv6Addr::UNSPECIFIED;
    fn read(bytes: &[u8], at: usize) -> Ipv6Addr {
        let octets = bytes.get(at..).and_then(|rest| rest.first_chunk::<16>());
        octets.map_or(Ipv6Addr::UNSPECIFIED, |octets| Ipv6Addr::from(*octets))
    }
    fn append_to(self, out: &mut Vec<u8>) {
        out.extend(self.octets());
    }
    fn is_group(self) -> bool {
        self.is_multicast()
    }
}

/// What only queries say that can name sources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Details<A> {
    /// Routers that hear it are not to lower their timers (S flag).
    pub suppress: bool,
    /// The querier's robustness variable, 0 to 7.
    pub robustness: u8,
    /// The querier's query interval, in seconds.
    pub interval_s: u16,
    /// The sources that are asked about; none in other queries than group-and-source-specific ones.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<A>,
}

/// Bytes of the details of a query without sources.
const DETAILS_LEN: usize = 4;

/// ```text
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// | Resv  |S| QRV |     QQIC      |     Number of Sources (N)     |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                       Source Address [i]                      |
/// ```
impl<A: Address> Details<A> {
    /// Reads them at a place.
    pub(crate) fn parse(layer: &'static str, bytes: &[u8], at: usize) -> Result<Details<A>, Error> {
        let from = at + DETAILS_LEN;
        need(layer, from, bytes.len())?;
        let count = usize::from(u16::from_be_bytes([bytes[at + 2], bytes[at + 3]]));
        need(layer, from + A::LEN * count, bytes.len())?;
        Ok(Details {
            suppress: bytes[at] & 8 != 0,
            robustness: bytes[at] & 7,
            interval_s: of_code(bytes[at + 1]),
            sources: (0..count).map(|place| A::read(bytes, from + A::LEN * place)).collect(),
        })
    }

    /// Writes them behind what is there.
    pub(crate) fn append_to(&self, out: &mut Vec<u8>) {
        out.extend([u8::from(self.suppress) << 3 | self.robustness.min(7), to_code(self.interval_s)]);
        out.extend((self.sources.len() as u16).to_be_bytes());
        self.sources.iter().for_each(|source| source.append_to(out));
    }
}

/// What a record says of a group and its sources (RFC 3376, 4.2.12; RFC 3810, 5.2.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordKind {
    /// These sources are wanted.
    IsInclude,
    /// All but these are wanted.
    IsExclude,
    /// From now on these are wanted, and before it was all but some.
    ToInclude,
    /// From now on all but these are wanted, and before it was only some.
    ToExclude,
    /// These are wanted, too.
    Allow,
    /// These are wanted no more.
    Block,
}

impl RecordKind {
    const ALL: [RecordKind; 6] = [
        RecordKind::IsInclude,
        RecordKind::IsExclude,
        RecordKind::ToInclude,
        RecordKind::ToExclude,
        RecordKind::Allow,
        RecordKind::Block,
    ];
}

/// What a report says of one group.
///
/// ```text
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |  Record Type  |  Aux Data Len |     Number of Sources (N)     |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                       Multicast Address                       |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                       Source Address [i]                      |
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record<A = Ipv4Addr> {
    /// Whether its sources are wanted or all others are, and whether that is so, or is new.
    pub kind: RecordKind,
    /// The group's address.
    pub group: A,
    /// Addresses of senders; none, and all others wanted, is a wish for all.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<A>,
}

/// Bytes of a report in front of its records; the last two say how many there are.
const REPORT_LEN: usize = 8;
/// Bytes of a record in front of its addresses.
const RECORD_LEN: usize = 4;

/// The records of a report, from whose first byte on `bytes` are.
pub(crate) fn parse_records<A: Address>(layer: &'static str, bytes: &[u8]) -> Result<Vec<Record<A>>, Error> {
    need(layer, REPORT_LEN, bytes.len())?;
    let count = u16::from_be_bytes([bytes[6], bytes[7]]);
    let mut at = REPORT_LEN;
    let mut records = Vec::new();
    for _ in 0..count {
        let from = at + RECORD_LEN + A::LEN;
        need(layer, from, bytes.len())?;
        let sources = usize::from(u16::from_be_bytes([bytes[at + 2], bytes[at + 3]]));
        let end = from + A::LEN * sources + 4 * usize::from(bytes[at + 1]);
        need(layer, end, bytes.len())?;
        let kind = usize::from(bytes[at]).checked_sub(1).and_then(|place| RecordKind::ALL.get(place));
        let group = A::read(bytes, at + RECORD_LEN);
        match kind {
            Some(kind) if group.is_group() => records.push(Record {
                kind: *kind,
                group,
                sources: (0..sources).map(|place| A::read(bytes, from + A::LEN * place)).collect(),
            }),
            Some(_) => return Err(Error::invalid(layer, at + RECORD_LEN, "the address is no group")),
            // RFC 3376, 4.2.12, and RFC 3810, 5.2.12: records of unrecognized types are silently ignored.
            None => {}
        }
        at = end;
    }
    Ok(records)
}

/// Writes records behind what is there.
pub(crate) fn append_records<A: Address>(records: &[Record<A>], out: &mut Vec<u8>) {
    for record in records {
        let kind = RecordKind::ALL.iter().position(|kind| *kind == record.kind).unwrap_or(0) as u8 + 1;
        out.extend([kind, 0]);
        out.extend((record.sources.len() as u16).to_be_bytes());
        record.group.append_to(out);
        record.sources.iter().for_each(|source| source.append_to(out));
    }
}
