//! Protocols of a node as users write them: a section for each, under its name. What may stand there, each protocol
//! says.

use base::ProtocolId;
use base::describe::{
    Describe, Field, Named, RecordSchema, Schema, Schemas, SectionDecl, Value, unknown_field, wrong_type,
};
use base::diagnostic::{At, Diagnostic};
use control::protocol::Setup;
use std::sync::Arc;

/// What a node is to speak besides what its other fields say.
#[derive(Clone, Debug, Default)]
pub struct Protocols(Vec<(ProtocolId, Value, Arc<dyn Setup>)>);

/// The sections that there are.
fn sections() -> impl Iterator<Item = (&'static str, SectionDecl<dyn Setup>)> {
    control::PROTOCOLS.iter().filter_map(|known| Some((known.id.name(), known.section?)))
}

impl Protocols {
    /// How the node is set up to speak each, in the order of the protocols that there are.
    pub fn setups(&self) -> impl Iterator<Item = Arc<dyn Setup>> {
        self.0.iter().map(|(_, _, setup)| setup.clone())
    }
}

/// They are the same if the same was written.
impl PartialEq for Protocols {
    fn eq(&self, other: &Protocols) -> bool {
        self.write() == other.write()
    }
}

impl Describe for Protocols {
    fn read(value: &Value) -> Result<Protocols, Diagnostic> {
        let Value::Map(entries) = value else { return Err(wrong_type(value, "a mapping")) };
        let known: Vec<&str> = sections().map(|(name, _)| name).collect();
        if let Some((key, _)) = entries.iter().find(|(key, _)| !known.contains(&key.as_str())) {
            return Err(unknown_field(key, &known, &[]));
        }
        let mut all = Vec::new();
        for known in control::PROTOCOLS {
            let given = entries.iter().find(|(key, _)| *key == known.id.name());
            if let (Some((key, value)), Some(section)) = (given, known.section) {
                let (value, setup) = (section.read)(value).at(key.as_str())?;
                all.push((known.id, value, setup));
            }
        }
        Ok(Protocols(all))
    }

    fn write(&self) -> Value {
        let entry = |(id, value, _): &(ProtocolId, Value, _)| (id.name().to_string(), value.clone());
        Value::Map(self.0.iter().map(entry).collect())
    }

    fn schema(known: &mut Schemas) -> Schema {
        known.named("Protocols", |known| {
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
            Named::Record(RecordSchema { meaning, fields, short: Vec::new(), flat: None })
        })
    }

    fn absent() -> Option<Protocols> {
        Some(Protocols::default())
    }
}
