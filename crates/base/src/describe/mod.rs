//! Descriptions: types that are declared once and can be read from what a user wrote, written back, and described to
//! editors, Python and the documentation.
//!
//! - [`Value`]: what a user wrote, from YAML, JSON or Python
//! - [`Describe`]: a type that reads itself from a [`Value`]; errors are [`Diagnostic`]s with their path
//! - [`record!`](crate::record), [`choice!`](crate::choice), [`words!`](crate::words): declare such types, each field
//!   once: type, default,
//!   range, meaning, what its absence means, and the name that it had before
//! - [`Schemas`]: what all of them look like, for generators
//! - [`Section`]: the settings of one kind of protocol or driver at a node, declared in its folder
//! - [`quantity`]: times, rates and sizes with their units
//!
//! Why not `serde`: its errors are sentences, it buffers tagged values and so forgets where they stood, and it knows
//! neither ranges nor units nor meanings. See `docs/decisions/0021-one-description.md`.

mod ends;
mod fields;
mod lead;
mod name;
mod near;
mod primitive;
mod problem;
pub mod quantity;
mod record;
mod schema;
mod section;
mod several;
mod value;

pub use ends::{AtEnds, NamedOr};
pub use fields::{Fields, Ranged, Was, parted, unknown_field, within};
pub use lead::{lead, lead_to};
pub use name::{ClassName, Key, Name, named};
pub use near::{listed, near};
pub use problem::DescribeProblem;
pub use problem::{malformed, unknown_word, wrong_type};
pub use quantity::Size;
pub use record::{named_of, tag_of, unknown_tag};
pub use schema::{Choice, Field, Named, RecordSchema, Schema, Schemas, Variant, Word, meaning};
pub use section::{ReadSection, Section, SectionDecl};
pub use several::{Dscps, LabelRange, PortRange, Protocol, SetProblem, Several, refuse_twice};
pub use value::{Value, deserialize};

/// For the macros of this module.
#[doc(hidden)]
pub use serde;

use crate::diagnostic::Diagnostic;

/// A type that a user describes.
pub trait Describe: Sized {
    /// Reads it from what was written.
    fn read(value: &Value) -> Result<Self, Diagnostic>;

    /// What could have been written to the same effect, with defaults filled in.
    fn write(&self) -> Value;

    /// What may be written. Types with a name enter themselves among `known` and are referred to by it.
    fn schema(known: &mut Schemas) -> Schema;

    /// The value where nothing was written, if it may be left out without a default being given.
    fn absent() -> Option<Self> {
        None
    }

    /// Something that could stand there, for errors about what is missing.
    fn example() -> Option<&'static str> {
        None
    }
}

/// A [`Describe`] that is a mapping with known keys.
pub trait Record: Describe {
    /// Keys that it knows, those of records beside it included.
    fn keys() -> Vec<&'static str> {
        Vec::new()
    }

    /// Former names of its fields.
    fn was() -> Vec<Was> {
        Vec::new()
    }

    /// Reads it from a mapping in which key `tag` belongs to somebody else; an empty tag is none.
    fn read_record(value: &Value, tag: &str) -> Result<Self, Diagnostic>;

    /// Its own fields, for generators.
    fn record_schema(known: &mut Schemas) -> RecordSchema;
}

#[cfg(test)]
mod tests;
