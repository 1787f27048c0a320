//! The driver that writes the forwarding tables of a node, as users write it: its name, or its name with settings. What
//! these are, each driver says.

use base::describe::{
    Describe, Field, Named, RecordSchema, Schema, Schemas, Value, Word, unknown_field, unknown_word,
    wrong_type,
};
use base::diagnostic::{At, Diagnostic};
use forwarding::driver::{DRIVERS, Known, Setup};
use std::sync::Arc;

/// A driver that there is, with its settings.
#[derive(Clone, Debug)]
pub struct TableDriver {
    name: &'static str,
    settings: Value,
    setup: Arc<dyn Setup>,
}

impl TableDriver {
    /// How the node's driver is made.
    pub fn setup(&self) -> Arc<dyn Setup> {
        self.setup.clone()
    }

    fn of(known: &Known, settings: &Value) -> Result<TableDriver, Diagnostic> {
        let (settings, setup) = (known.section.read)(settings)?;
        Ok(TableDriver { name: known.name, settings, setup })
    }
}

/// They are the same if the same was written.
impl PartialEq for TableDriver {
    fn eq(&self, other: &TableDriver) -> bool {
        self.write() == other.write()
    }
}

fn names() -> Vec<&'static str> {
    DRIVERS.iter().map(|known| known.name).collect()
}

fn known(name: &str) -> Option<&'static Known> {
    DRIVERS.iter().find(|known| known.name == name)
}

impl Describe for TableDriver {
    fn read(value: &Value) -> Result<TableDriver, Diagnostic> {
        match value {
            Value::Text(name) => {
                let known = known(name).ok_or_else(|| unknown_word(value, &names()))?;
                TableDriver::of(known, &Value::Map(Vec::new()))
            }
            Value::Map(entries) => {
                let read = |(name, settings): &(String, Value)| {
                    let known = known(name).ok_or_else(|| unknown_field(name, &names(), &[]))?;
                    TableDriver::of(known, settings).at(name.as_str())
                };
                let mut drivers = entries.iter().map(read).collect::<Result<Vec<_>, Diagnostic>>()?;
                let one = drivers.pop().filter(|_| drivers.is_empty());
                one.ok_or_else(|| wrong_type(value, "a mapping with the name of one driver"))
            }
            _ => Err(wrong_type(value, "the name of a driver, or a mapping with its settings under it")),
        }
    }

    fn write(&self) -> Value {
        Value::Map(vec![(self.name.to_string(), self.settings.clone())])
    }

    fn schema(schemas: &mut Schemas) -> Schema {
        schemas.named("TableDriver", |schemas| {
            let field = |known: &Known| Field {
                key: known.name,
                meaning: known.section.meaning.into(),
                schema: (known.section.schema)(schemas),
                is_required: false,
                default: None,
                absent: Some("another driver"),
            };
            let fields = DRIVERS.iter().map(field).collect();
            let word = |known: &Known| Word { word: known.name, meaning: known.section.meaning.into() };
            let short = vec![Schema::Words(DRIVERS.iter().map(word).collect())];
            let meaning =
                "The driver that writes a router's forwarding tables: one of these, or its name alone."
                    .into();
            Named::Record(RecordSchema { meaning, fields, short, flat: None })
        })
    }
}
