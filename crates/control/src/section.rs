//! What users write of a protocol at a node: declared in the protocol's folder, and read wherever nodes are described.

use crate::protocol::Setup;
use base::describe::{Describe, Schema, Schemas, Value};
use base::diagnostic::Diagnostic;
use std::sync::Arc;

/// The settings of a protocol at one node, as users write them.
pub trait Section: Describe {
    /// How a node with these settings speaks the protocol.
    fn setup(&self) -> Arc<dyn Setup>;
}

/// What was read: the same with defaults filled in, and how a node is set up with it.
pub type Read = (Value, Arc<dyn Setup>);

/// The section of a protocol, under its name: part of [`Known`](crate::protocol::Known).
#[derive(Clone, Copy, Debug)]
pub struct SectionDecl {
    /// What it is about: a sentence for users.
    pub meaning: &'static str,
    /// Reads it: what could have been written to the same effect, and how the node is set up.
    pub read: fn(&Value) -> Result<Read, Diagnostic>,
    /// What may be written.
    pub schema: fn(&mut Schemas) -> Schema,
}

impl SectionDecl {
    /// A section of this type.
    pub const fn of<S: Section>(meaning: &'static str) -> SectionDecl {
        SectionDecl {
            meaning,
            read: |value| S::read(value).map(|section| (section.write(), section.setup())),
            schema: S::schema,
        }
    }
}
