//! Protocols of a node as users write them: among the node's own fields a section for each, under its name. What may
//! stand there, each protocol says.

use base::ProtocolId;
use base::describe::{
    Describe, Field, Named, Record, RecordSchema, Schema, Schemas, SectionDecl, Value, Was, wrong_type,
};
use base::diagnostic::{At, Diagnostic};
use control::protocol::Setup;
use core::any::Any;
use std::sync::Arc;

/// A protocol that a node speaks.
#[derive(Clone, Debug)]
pub struct Spoken {
    /// Which one.
    pub protocol: ProtocolId,
    /// The settings as they could have been written.
    value: Value,
    /// How the node is set up with them.
    pub setup: Arc<dyn Setup>,
}

impl Spoken {
    /// Its settings, if it is the protocol whose settings are of this type.
    pub(crate) fn settings<T: Any>(&self) -> Option<&T> {
        let setup: &dyn Any = &*self.setup;
        setup.downcast_ref()
    }

    /// The same with another setup.
    pub(crate) fn with_setup(&self, setup: Arc<dyn Setup>) -> Spoken {
        Spoken { setup, ..self.clone() }
    }
}

/// What a node is to speak besides what its other fields say.
#[derive(Clone, Debug, Default)]
pub struct Protocols(Vec<Spoken>);

/// The sections that there are.
fn sections() -> impl Iterator<Item = (&'static str, SectionDecl<dyn Setup>)> {
    control::PROTOCOLS.iter().filter_map(|known| Some((known.id.name(), known.section?)))
}

impl Protocols {
    /// How the node is set up to speak each, in the order of the protocols that there are.
    pub fn setups(&self) -> impl Iterator<Item = Arc<dyn Setup>> {
        self.0.iter().map(|spoken| spoken.setup.clone())
    }

    /// Each of them, in that order.
    pub fn spoken(&self) -> impl Iterator<Item = &Spoken> {
        self.0.iter()
    }

    /// Does one of them tell the node of links, so that it can compute paths?
    pub fn know_links(&self) -> bool {
        self.0.iter().any(|spoken| spoken.setup.knows_links())
    }

    /// Does one of them find IPv4 routes?
    pub fn find_routes(&self) -> bool {
        self.0.iter().any(|spoken| spoken.setup.finds_routes())
    }
}

/// They are the same if the same was written.
impl PartialEq for Protocols {
    fn eq(&self, other: &Protocols) -> bool {
        self.write() == other.write()
    }
}

impl Record for Protocols {
    fn keys() -> Vec<&'static str> {
        sections().map(|(name, _)| name).collect()
    }

    fn was() -> Vec<Was> {
        sections().map(|(name, _)| (None, name)).collect()
    }

    fn read_record(value: &Value, _: &str) -> Result<Protocols, Diagnostic> {
        let Value::Map(entries) = value else { return Err(wrong_type(value, "a mapping")) };
        let mut all = Vec::new();
        for known in control::PROTOCOLS {
            let given = entries.iter().find(|(key, _)| *key == known.id.name());
            let spoken = given.filter(|(_, value)| !matches!(value, Value::Null | Value::Bool(false)));
            if let (Some((key, value)), Some(section)) = (spoken, known.section) {
                let (value, setup) = (section.read)(value).at(key.as_str())?;
                all.push(Spoken { protocol: known.id, value, setup });
            }
        }
        Ok(Protocols(all))
    }

    fn record_schema(known: &mut Schemas) -> RecordSchema {
        let field = |(key, section): (&'static str, SectionDecl<dyn Setup>)| Field {
            key,
            meaning: section.meaning.into(),
            schema: (section.schema)(known),
            is_required: false,
            default: None,
            absent: Some("not spoken"),
        };
        let fields = sections().map(field).collect();
        let meaning = "Protocols that a router speaks besides RSVP-TE, each with its settings.".into();
        RecordSchema { meaning, fields, short: Vec::new(), flat: None }
    }
}

impl Describe for Protocols {
    fn read(value: &Value) -> Result<Protocols, Diagnostic> {
        Protocols::read_record(value, "")
    }

    fn write(&self) -> Value {
        let entry = |spoken: &Spoken| (spoken.protocol.name().to_string(), spoken.value.clone());
        Value::Map(self.0.iter().map(entry).collect())
    }

    fn schema(known: &mut Schemas) -> Schema {
        known.named("Protocols", |known| Named::Record(Protocols::record_schema(known)))
    }
}
