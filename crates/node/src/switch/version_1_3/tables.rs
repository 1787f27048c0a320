//! What tables can do, as version 1.3 asks for it.

use super::multipart::ACTIONS;
use crate::switch::Switch;
use wire::openflow::v1_3::{List, Offer, OxmField, TableFeatures, TableProperty};
use wire::openflow::{Name, Rest};

/// Types of properties (OFPTFPT), without those for entries that nothing else matches: they are the same.
mod kinds {
    pub(super) const INSTRUCTIONS: u16 = 0;
    pub(super) const NEXT_TABLES: u16 = 2;
    pub(super) const WRITE_ACTIONS: u16 = 4;
    pub(super) const APPLY_ACTIONS: u16 = 6;
    pub(super) const MATCH: u16 = 8;
    pub(super) const WILDCARDS: u16 = 10;
    pub(super) const WRITE_SET_FIELDS: u16 = 12;
    pub(super) const APPLY_SET_FIELDS: u16 = 14;
}

/// The class of fields that the specification defines, as headers of fields have it.
const BASIC: u32 = 0x8000 << 16;

/// The header of a field, with the length of its value, and of its mask if it may have one.
fn header(field: OxmField, masked: bool) -> u32 {
    let masked = masked && field.has_mask();
    let len = field.value_len() * (1 + usize::from(masked));
    BASIC | (field as u32) << 9 | u32::from(masked) << 8 | len as u32
}

fn offers(kinds: impl IntoIterator<Item = u16>) -> List {
    List::Types(kinds.into_iter().map(|kind| Offer { kind, data: Rest::default() }).collect())
}

impl Switch {
    /// Every table can do everything; it goes on to any table behind it.
    pub(super) fn table_features(&self) -> Vec<TableFeatures> {
        let count = self.datapath.tables.len() as u8;
        let all = |masked: bool| OxmField::ALL.iter().map(|field| header(*field, masked)).collect();
        let is_settable = |field: &&OxmField| {
            use OxmField::{InPhyPort, InPort, Ipv6Exthdr, Metadata};
            !matches!(field, InPort | InPhyPort | Metadata | Ipv6Exthdr)
        };
        let settable: Vec<u32> =
            OxmField::ALL.iter().filter(is_settable).map(|field| header(*field, false)).collect();
        let of_table = |table: u8| {
            // A type of instruction: go to a table, metadata, write, apply, clear, meter.
            let instructions = (1..=6).filter(|kind| *kind != 1 || table + 1 < count);
            let property = |kind, list| TableProperty { kind, list };
            TableFeatures {
                table,
                name: Name::new(&format!("table{table}")),
                metadata_match: u64::MAX,
                metadata_write: u64::MAX,
                config: 0,
                max_entries: u32::try_from(self.config.max_entries).unwrap_or(u32::MAX),
                properties: vec![
                    property(kinds::INSTRUCTIONS, offers(instructions)),
                    property(kinds::NEXT_TABLES, List::Tables((table + 1..count).collect())),
                    property(kinds::WRITE_ACTIONS, offers(ACTIONS)),
                    property(kinds::APPLY_ACTIONS, offers(ACTIONS)),
                    property(kinds::MATCH, List::Fields(all(true))),
                    property(kinds::WILDCARDS, List::Fields(all(false))),
                    property(kinds::WRITE_SET_FIELDS, List::Fields(settable.clone())),
                    property(kinds::APPLY_SET_FIELDS, List::Fields(settable.clone())),
                ],
            }
        };
        (0..count).map(of_table).collect()
    }
}
