//! Join/Prune messages (RFC 7761, 4.9.5).

use super::address::{group, put_group, put_source, put_unicast, source, unicast};
use super::{HEADER_LEN, LAYER};
use crate::error::{Error, need};
use core::net::IpAddr;
use serde::{Deserialize, Serialize};

/// A Join/Prune: for one neighbour, and seen by all on the link.
///
/// ```text
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |        Upstream Neighbor Address (Encoded-Unicast format)     |
/// |  Reserved     | Num groups    |          Holdtime             |
/// |         Multicast Group Address 1 (Encoded-Group format)      |
/// |   Number of Joined Sources    |   Number of Pruned Sources    |
/// |        Joined Source Address 1 (Encoded-Source format)        |
/// |                             ...                               |
/// |        Pruned Source Address n (Encoded-Source format)        |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinPrune {
    /// The neighbour that it is for.
    pub upstream: IpAddr,
    /// Seconds that what is joined is kept.
    pub holdtime_s: u16,
    /// The groups; 255 at most.
    pub groups: Vec<GroupSet>,
}

/// What is joined and pruned of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupSet {
    /// The group.
    pub group: IpAddr,
    /// What is wanted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<SourceEntry>,
    /// What is wanted no more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pruned: Vec<SourceEntry>,
}

/// A source of a group, or all of them (RFC 7761, 4.9.5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceEntry {
    /// The source; the rendezvous point if all sources are meant.
    pub source: IpAddr,
    /// The sparse bit, which version 2 always sets.
    pub sparse: bool,
    /// Are all sources meant: (*,G)?
    pub wildcard: bool,
    /// Is it about the tree from the rendezvous point: (*,G) or (S,G,rpt)?
    pub rpt: bool,
}

impl SourceEntry {
    /// Bytes of an entry with an IPv4 address.
    pub const LEN: usize = 8;

    /// The source-specific tree of a sender: (S,G).
    pub const fn of(source: IpAddr) -> SourceEntry {
        SourceEntry { source, sparse: true, wildcard: false, rpt: false }
    }

    fn parse(bytes: &[u8], at: &mut usize) -> Result<SourceEntry, Error> {
        let (source, [sparse, wildcard, rpt]) = source(bytes, at)?;
        Ok(SourceEntry { source, sparse, wildcard, rpt })
    }

    fn emit(&self, out: &mut Vec<u8>) {
        put_source(self.source, [self.sparse, self.wildcard, self.rpt], out);
    }
}

impl GroupSet {
    /// Bytes of a set with an IPv4 group and no sources.
    pub const LEN: usize = 12;
}

impl JoinPrune {
    /// Bytes of a message for an IPv4 neighbour without groups.
    pub const LEN: usize = HEADER_LEN + 10;
    /// Groups in one message at most.
    pub const GROUPS_MAX: usize = u8::MAX as usize;

    pub(super) fn parse(bytes: &[u8]) -> Result<JoinPrune, Error> {
        let mut at = HEADER_LEN;
        let upstream = unicast(bytes, &mut at)?;
        need(LAYER, at + 4, bytes.len())?;
        let count = bytes[at + 1];
        let holdtime_s = u16::from_be_bytes([bytes[at + 2], bytes[at + 3]]);
        at += 4;
        let mut groups = Vec::new();
        for _ in 0..count {
            let group = group(bytes, &mut at)?;
            need(LAYER, at + 4, bytes.len())?;
            let counts = [at, at + 2].map(|at| u16::from_be_bytes([bytes[at], bytes[at + 1]]));
            at += 4;
            let [joined, pruned] = counts.map(|count| {
                (0..count).map(|_| SourceEntry::parse(bytes, &mut at)).collect::<Result<Vec<_>, Error>>()
            });
            groups.push(GroupSet { group, joined: joined?, pruned: pruned? });
        }
        Ok(JoinPrune { upstream, holdtime_s, groups })
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        put_unicast(self.upstream, out);
        let count = self.groups.len().min(JoinPrune::GROUPS_MAX);
        out.extend([0, count as u8]);
        out.extend(self.holdtime_s.to_be_bytes());
        for set in &self.groups[..count] {
            put_group(set.group, out);
            out.extend((set.joined.len() as u16).to_be_bytes());
            out.extend((set.pruned.len() as u16).to_be_bytes());
            set.joined.iter().chain(&set.pruned).for_each(|entry| entry.emit(out));
        }
    }
}
