//! Flow tables of an OpenFlow switch: entries with priorities and masks, and the search for the one that a packet has.
//!
//! - [`fields`](Fields): what of a packet can be matched, as words of a fixed place; [`pattern`](Pattern): values and
//!   masks over them, read from matches of both versions
//! - [`classifier`](Classifier): which of many patterns a packet has, by tuple-space search
//! - [`cache`]: the answer of that search for packets that look the same
//! - [`entry`](Entry), [`filter`](Filter): what a table holds, and which of it a change or a question is about
//! - [`table`](FlowTable): adding, changing, deleting, expiring and counting
//! - [`groups`](GroupTable), [`meters`](MeterTable): what entries share
//! - `layout`, `packet`: where the headers of a frame are, what its fields are, and how bytes and checksums change;
//!   `set_field`, `headers`: what actions change
//! - `actions`: what is done with a packet; `normal`: forwarding without a controller
//! - [`datapath`](Datapath): all of it together, with ports: [`Datapath::process`] moves packets
//!
//! Drain order: after time has passed, [`FlowTable::expire`] is called at [`FlowTable::next_timeout`]; what it and
//! [`FlowTable::delete`] give back is what a controller may have to be told.

mod actions;
mod cache;
mod classifier;
mod datapath;
mod entry;
mod fields;
mod filter;
mod groups;
mod headers;
mod lanes;
mod layout;
mod meters;
mod normal;
mod packet;
mod pattern;
#[cfg(test)]
mod pipeline_model;
#[cfg(test)]
mod pipeline_tests;
mod ports;
mod set_field;
mod shared;
mod table;
#[cfg(test)]
mod tests;

pub use actions::DEFAULT_QUEUE;
pub use classifier::Classifier;
pub use datapath::{Datapath, Fragments, Leaving};
pub use entry::{Entry, Removed};
pub use fields::{Fields, WORDS};
pub use filter::Filter;
pub use groups::{GROUP_ACTIONS_MAX, GROUPS_MAX, Group, GroupTable};
pub use meters::{BANDS_MAX, METERS_MAX, Meter, MeterTable, Metered};
pub use pattern::Pattern;
pub use ports::{PortSetting, Ports, port_config};
pub use table::{Added, FlowTable, NewEntry, Refusal};
