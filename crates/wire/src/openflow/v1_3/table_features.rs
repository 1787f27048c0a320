//! What tables can do, or are to do.

use super::Fault;
use crate::openflow::fields::{align, set_len};
use crate::openflow::macros::sized;
use crate::openflow::{Field, Malformed, Name, Reader, Rest};
use serde::{Deserialize, Serialize};

sized! {
    /// What a table can do.
    TableFeatures {
        [length];
        /// Its number.
        table: u8, pad 5;
        /// Its name.
        name: Name<32>;
        /// Bits of the metadata that entries can match.
        metadata_match: u64;
        /// Bits of the metadata that entries can write.
        metadata_write: u64;
        /// Nothing that is not deprecated.
        config: u32;
        /// Entries that have room.
        max_entries: u32;
        /// Everything else.
        properties: Vec<TableProperty>;
    }
}

/// A list of what a table can do, by its type (OFPTFPT): instructions 0, next tables 2, written actions 4, applied
/// actions 6, matches 8, wildcards 10, fields set by written actions 12, by applied actions 14. For each but matches
/// and wildcards the next odd number is for packets that no other entry matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableProperty {
    /// Its type.
    pub kind: u16,
    /// What it lists.
    pub list: List,
}

/// What a property lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum List {
    /// Types of instructions or actions.
    Types(Vec<Offer>),
    /// Numbers of tables.
    Tables(Vec<u8>),
    /// Headers of OXM TLVs.
    Fields(Vec<u32>),
    /// What an experimenter says.
    Experimenter {
        /// The experimenter.
        experimenter: u32,
        /// Its type, which the experimenter defines.
        kind: u32,
        /// What the experimenter says it is.
        data: Rest,
    },
}

/// A type of instruction or action, with what an experimenter says of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// The type.
    pub kind: u16,
    /// The experimenter and its data, behind the length.
    pub data: Rest,
}

impl Field for Offer {
    fn read(from: &mut Reader<'_>) -> Result<Offer, Malformed> {
        let (start, kind, len) = (from.at(), u16::read(from)?, u16::read(from)?);
        let mut part = from.split_from(start, len.into())?;
        Ok(Offer { kind, data: Rest::read(&mut part)? })
    }
    fn write(&self, to: &mut Vec<u8>) {
        let start = to.len();
        self.kind.write(to);
        to.extend([0, 0]);
        self.data.write(to);
        set_len(to, start, start + 2);
    }
}

impl Field for TableProperty {
    fn read(from: &mut Reader<'_>) -> Result<TableProperty, Malformed> {
        let mut head = from.or(Fault::TableFeaturesBadLen.numbers());
        let (start, kind, len) = (head.at(), u16::read(&mut head)?, usize::from(u16::read(&mut head)?));
        let mut part = head.split_from(start, len)?;
        // The length leaves out the zeros behind the property.
        head.take(len.next_multiple_of(8) - len)?;
        from.take(head.at() - start)?;
        let list = match kind {
            0 | 1 | 4..=7 => List::Types(Vec::read(&mut part)?),
            2 | 3 => List::Tables(Vec::read(&mut part)?),
            8 | 10 | 12..=15 => List::Fields(Vec::read(&mut part)?),
            0xfffe | 0xffff => List::Experimenter {
                experimenter: u32::read(&mut part)?,
                kind: u32::read(&mut part)?,
                data: Rest::read(&mut part)?,
            },
            _ => return Err(Fault::TableFeaturesBadType.at(start, "a type of property that is not known")),
        };
        Ok(TableProperty { kind, list })
    }
    fn write(&self, to: &mut Vec<u8>) {
        let start = to.len();
        self.kind.write(to);
        to.extend([0, 0]);
        match &self.list {
            List::Types(all) => all.write(to),
            List::Tables(all) => all.write(to),
            List::Fields(all) => all.write(to),
            List::Experimenter { experimenter, kind, data } => {
                experimenter.write(to);
                kind.write(to);
                data.write(to);
            }
        }
        set_len(to, start, start + 2);
        align(to, start);
    }
}
