//! A message as a layer of a tree. Field names are what users see in Python and JSON.

use super::{GroupSet, LAYER, Repr, SourceEntry, checksum_of, header};
use crate::error::Error;
use core::fmt::{self, Write};
use serde::{Deserialize, Serialize};

/// A PIM message with its header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pim {
    /// What it says, by its kind.
    #[serde(flatten)]
    pub message: Repr,
    /// The message's checksum; left out: the right one.
    pub checksum: Option<u16>,
    /// What the checksum should be, if it is not that. Not read when encoding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correct_checksum: Option<u16>,
}

impl Pim {
    /// Reads a message. What can't be written again as it is, is refused.
    pub(crate) fn read(data: &[u8]) -> Result<Pim, Error> {
        let kind = header(data)?;
        let (found, correct) = (u16::from_be_bytes([data[2], data[3]]), checksum_of(kind, data));
        let layer = Pim {
            message: Repr::body(kind, data)?,
            checksum: Some(found),
            correct_checksum: (found != correct).then_some(correct),
        };
        match layer.write() == data {
            true => Ok(layer),
            false => Err(Error::invalid(LAYER, 1, "a field that must be zero is not")),
        }
    }

    /// The message as it is on the wire.
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut bytes = self.message.emit();
        if let Some(checksum) = self.checksum {
            bytes[2..4].copy_from_slice(&checksum.to_be_bytes());
        }
        bytes
    }

    /// Its part of a line.
    pub(crate) fn summarise(&self, out: &mut String) -> fmt::Result {
        write!(out, "PIM {}", super::name(self.message.kind()).unwrap_or_default())?;
        match &self.message {
            Repr::Hello(hello) => {
                hello.holdtime_s().map_or(Ok(()), |s| write!(out, ", holdtime {s} s"))?;
                hello.dr_priority().map_or(Ok(()), |priority| write!(out, ", priority {priority}"))?;
                hello.generation_id().map_or(Ok(()), |id| write!(out, ", generation {id:#010x}"))
            }
            Repr::JoinPrune(message) => {
                write!(out, " for {}, holdtime {} s", message.upstream, message.holdtime_s)?;
                message.groups.iter().try_for_each(|set| summarise_set(set, out))
            }
            Repr::Assert(assert) => {
                write!(out, " ({}, {})", assert.source, assert.group)?;
                match assert.is_cancel() {
                    true => out.write_str(", cancelled"),
                    false => write!(out, ", preference {} metric {}", assert.preference, assert.metric),
                }
            }
            Repr::Other { .. } => Ok(()),
        }
    }
}

fn summarise_set(set: &GroupSet, out: &mut String) -> fmt::Result {
    let mut all = |word: &str, entries: &[SourceEntry]| {
        entries.iter().try_for_each(|entry| {
            let name = match (entry.wildcard, entry.rpt) {
                (true, _) => "*".to_string(),
                (false, _) => entry.source.to_string(),
            };
            let rpt = if entry.rpt && !entry.wildcard { ", rpt" } else { "" };
            write!(out, ", {word} ({name}, {}{rpt})", set.group)
        })
    };
    all("join", &set.joined)?;
    all("prune", &set.pruned)
}
