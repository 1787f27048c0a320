//! What users write of something that a node can be set up with, such as a protocol: declared in its folder, and read
//! wherever nodes are described.

use super::{Describe, Schema, Schemas, Value};
use crate::diagnostic::Diagnostic;
use std::sync::Arc;

/// The settings of one kind at one node, as users write them. `S` is what a node of any kind is set up by, such as
/// `dyn control::Setup` for protocols.
pub trait Section<S: ?Sized>: Describe {
    /// How a node with these settings is set up.
    fn setup(&self) -> Arc<S>;
}

/// What was read: the same with defaults filled in, and how a node is set up with it.
pub type ReadSection<S> = (Value, Arc<S>);

/// The section of one kind: part of what is known of it.
#[derive(Debug)]
pub struct SectionDecl<S: ?Sized + 'static> {
    /// What it is about: a sentence for users.
    pub meaning: &'static str,
    /// Reads it: what could have been written to the same effect, and how the node is set up.
    pub read: fn(&Value) -> Result<ReadSection<S>, Diagnostic>,
    /// What may be written.
    pub schema: fn(&mut Schemas) -> Schema,
}

// Derived, both would ask the same of `S`.
impl<S: ?Sized> Clone for SectionDecl<S> {
    fn clone(&self) -> SectionDecl<S> {
        *self
    }
}
impl<S: ?Sized> Copy for SectionDecl<S> {}

impl<S: ?Sized> SectionDecl<S> {
    /// A section whose settings are a `T`.
    pub const fn of<T: Section<S>>(meaning: &'static str) -> SectionDecl<S> {
        SectionDecl {
            meaning,
            read: |value| T::read(value).map(|section| (section.write(), section.setup())),
            schema: T::schema,
        }
    }
}
