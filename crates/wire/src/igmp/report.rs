//! Group records of reports of version 3 (RFC 3376, 4.2).

use super::{HEADER_LEN, LAYER, address};
use crate::error::{Error, need};
use core::net::Ipv4Addr;

/// What a record says of a group and its sources (RFC 3376, 4.2.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// A group record.
///
/// ```text
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |  Record Type  |  Aux Data Len |     Number of Sources (N)     |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                       Multicast Address                       |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                       Source Address [i]                      |
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// What it says.
    pub kind: RecordKind,
    /// Of which group.
    pub group: Ipv4Addr,
    /// The sources.
    pub sources: Vec<Ipv4Addr>,
}

/// Bytes of a record without sources.
const RECORD_LEN: usize = 8;

pub(super) fn parse(bytes: &[u8]) -> Result<Vec<Record>, Error> {
    let count = u16::from_be_bytes([bytes[6], bytes[7]]);
    let mut at = HEADER_LEN;
    let mut records = Vec::new();
    for _ in 0..count {
        need(LAYER, at + RECORD_LEN, bytes.len())?;
        let sources = usize::from(u16::from_be_bytes([bytes[at + 2], bytes[at + 3]]));
        let end = at + RECORD_LEN + 4 * (sources + usize::from(bytes[at + 1]));
        need(LAYER, end, bytes.len())?;
        let kind = usize::from(bytes[at]).checked_sub(1).and_then(|place| RecordKind::ALL.get(place));
        let group = address(bytes, at + 4);
        match kind {
            Some(kind) if group.is_multicast() => records.push(Record {
                kind: *kind,
                group,
                sources: (0..sources).map(|place| address(bytes, at + RECORD_LEN + 4 * place)).collect(),
            }),
            Some(_) => return Err(Error::invalid(LAYER, at + 4, "the address is no group")),
            // RFC 3376, 4.2.12: records of unrecognized types are silently ignored.
            None => {}
        }
        at = end;
    }
    Ok(records)
}

pub(super) fn emit(records: &[Record], out: &mut Vec<u8>) {
    for record in records {
        let kind = RecordKind::ALL.iter().position(|kind| *kind == record.kind).unwrap_or(0) as u8 + 1;
        out.extend([kind, 0]);
        out.extend((record.sources.len() as u16).to_be_bytes());
        out.extend(record.group.octets());
        record.sources.iter().for_each(|source| out.extend(source.octets()));
    }
}
